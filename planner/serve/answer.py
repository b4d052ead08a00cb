"""What the page shows of a scenario: the verdict, a case for each value of an unknown that decides, and the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.decide import breakpoints, sensitivity
from planner.decide.parameters import LARGEST_DRAWN, inputs, is_drawn, size_drawn
from planner.decide.rank import recommend
from planner.decide.recommendation import SHARING, Row
from planner.decide.verdict import standing, without_servers
from planner.errors import PlannerError, ScenarioError
from planner.io.answers import Verdict
from planner.io.wording import CASES, duration, names, times
from planner.plot import looks
from planner.predict.question import ask, with_default_order
from planner.report.page import about, count, in_words, size
from planner.scenario.units import format_amount
from planner.scenario.values import Scenario
from planner.serve import scenario as written
from planner.serve.controls import symbols

Data = dict[str, Any]


def answer(tables: Mapping[str, Any]) -> Data:
    """Rank the topologies of a page's scenario by the light path, with cases and baselines.

    Raises:
        NoAnswerError: If no topology reaches the target.
    """
    scenario = _read(tables)
    found = recommend(scenario, details=False, cases=True)
    cases = found.verdict.cases if found.verdict.on == SHARING else (found.verdict,)
    paths = symbols(scenario.depth)
    return {
        "verdict": found.verdict.text,
        "lines": list(_lines(cases, scenario)),
        "target": in_words(found),
        "cases": [{"value": case.value, "words": CASES.get(case.value, ""), "best": list(case.best)} for case in cases],
        "rows": [_row(row, cases) for row in found.rows],
        "known": {path: _known(scenario, symbol) for path, symbol in paths.items()},
        "colors": {name: look.color for name, look in looks([row.id for row in found.ranking][:8]).items()},
        "warnings": [one.text for one in found.warnings],
        "toml": written.written(tables),
        "command": written.command(tables),
    }


def _lines(cases: Sequence[Verdict], scenario: Scenario) -> Iterator[str]:
    """The verdict of every case, and the baseline that takes less; a verdict without cases says both itself."""
    for case in cases if len(cases) > 1 else ():
        beside = without_servers(case.baseline, scenario, scenario.objective) if case.baseline else ""
        yield f"{CASES[case.value].capitalize()}: {case.text}. {beside}".rstrip()


def _row(row: Row, cases: Sequence[Verdict]) -> Data:
    """A row with the time and the ratio of every case."""
    by_case = [next((one for one in row.cases if one.value == case.value), row) for case in cases]
    return {
        "id": row.id,
        "title": row.title,
        "rounds": None if row.rounds is None else float(row.rounds),
        "seconds": [None if one.time_seconds is None else float(one.time_seconds) for one in by_case],
        "bytes": None if row.traffic_bytes is None else float(row.traffic_bytes),
        "best": [row.id in case.best for case in cases],
        "text": {
            "time": ["-" if one.time_seconds is None else f"~{duration(one.time_seconds)}" for one in by_case],
            "ratio": [times(one.ratio) for one in by_case],
            "rounds": "-" if row.rounds is None else about(count(row.rounds), row.rounds),
            "traffic": "-" if row.traffic_bytes is None else f"~{size(row.traffic_bytes)}",
        },
        "why": row.why,
    }


def flips(tables: Mapping[str, Any], path: str) -> Data:
    """Find where the best topology changes along one control: ``below`` and ``above``, or null.

    Raises:
        ScenarioError: For what is no scenario, or a control there is not.
        NoAnswerError: If no topology reaches the target.
    """
    scenario = _read(tables)
    paths = symbols(scenario.depth)
    if path not in paths:
        raise ScenarioError(f"{path!a:.60} is not a control of the page. Known are {', '.join(paths)}.")
    scenario, question, _ = sensitivity.posed(scenario, ())
    here = standing(question, scenario, scenario.objective)
    first = here.best
    moved = inputs(question, scenario.objective).get(paths[path])
    sides: Data = {"below": None, "above": None}
    if moved is not None and first:
        for change, _ in breakpoints.nearest(moved, question, scenario.objective, first):
            side = "above" if change.at > moved.value else "below"
            words = f"{names(change.to)} {side} {format_amount(float(change.at), moved.unit)}"
            sides[side] = {"at": float(change.at), "to": list(change.to), "text": words}
    return {"path": path, **sides}


def _read(tables: Mapping[str, Any]) -> Scenario:
    """Read a scenario; refuse compute times of so many clients that drawing them takes longer than anybody waits."""
    scenario = written.load(tables)
    question = ask(with_default_order(scenario))
    if is_drawn(question) and size_drawn(question) > LARGEST_DRAWN:
        raise ScenarioError(
            f"compute.straggler: the times of {size_drawn(question):,.0f} clients take long to draw. "
            "Write none on the page, or use `hfl-plan recommend`."
        )
    return scenario


def _known(scenario: Scenario, symbol: str) -> Data:
    known = scenario.known.get(symbol)
    if known is None:  # everybody always comes, or a tier has no such number
        text = "100 %" if symbol.startswith("availability") else "-"
        return {"value": 1.0, "origin": "default", "text": text, "unit": ""}
    shown = known.value if isinstance(known.value, int | float) else None
    return {"value": shown, "origin": known.origin, "text": format_amount(known.value, known.unit), "unit": known.unit}


def refused(error: PlannerError) -> Data:
    """Say why there is no answer, and at which control."""
    text = str(error)
    key = text.partition(":")[0] if ":" in text else ""
    return {"error": {"text": text, "key": key if " " not in key else ""}}
