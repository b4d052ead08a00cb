"""What other families say of a fleet, beside a recommendation: numbers of other quantities, with the reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from planner.data.coverage import read_layout
from planner.data.pilot import Beside
from planner.decide.recommendation import InCase, Other, Recommendation, Row
from planner.errors import NoAnswerError, ScenarioError
from planner.families.hga import question as hga
from planner.families.hhfl import question as hhfl
from planner.families.hsl import question as hsl
from planner.families.raced import rows_of
from planner.io.answers import Caution, Quantity
from planner.predict.question import ask, ceil_rounds, with_default_order
from planner.scenario.resolve import Scenario, Spoken

LEFT_OUT = {  # the fleet, which each family has its own way to say; a target of one quantity is none of another
    *("fleet.clients", "fleet.groups", "fleet.clients_per_group", "fleet.groups_per_round", "fleet.clients_per_round"),
    *("problem.target", "fleet.order", "plan.objective"),
}
ELSEWHERE = {"rounds_from": "another quantity"}  # than that of the table


def compared(
    answer: Recommendation, scenario: Scenario, config: Path | None, said: Spoken, told: Mapping[str, str | None]
) -> Recommendation:
    """Answer for the families that were told what they need, beside the recommendation for a scenario.

    Of what is ``told``, ``coverage`` is a file or layout for HHFL, ``edges`` are those of a round in all, for HSL, and
    ``region_times`` is the time of a task of each group, for HGA-FL; others may be missing or None.

    Raises:
        ScenarioError: Where what is told contradicts the fleet.
    """
    if scenario.divisions:
        raise ScenarioError("--coverage, --edges, --region-times: give --groups too, as they are about a fixed fleet.")
    if told.get("region_times") is not None and scenario.pilot is not None and scenario.pilot.fleet.slowdowns:
        raise ScenarioError("--region-times: the regions have the speeds that they had in the pilot. Leave it out.")
    own = {key: value for key, value in said.items() if key not in LEFT_OUT}
    others = {other.id: other for other in answer.recommend.others}
    rows = answer.rows
    for id_, option, asked in ASKED:
        if (text := told.get(option)) is not None and id_ in others:
            try:
                found = asked(text, scenario, config, own)
            except NoAnswerError as error:  # of one method; all others have their answer
                found = {"why": f"its bound says nothing here: {str(error).partition('. ')[0]}", **ELSEWHERE}
            if found.pop("_comparable", False):
                rows = (*rows, _row(others.pop(id_), answer, found))
            elif others[id_].rounds is not None:  # as a pilot raced it, which no bound takes the place of
                others[id_] = others[id_].replaced(why=f"{others[id_].why}; {found['why']}")
            else:
                others[id_] = others[id_].replaced(**found)
    warnings, verdict = answer.warnings, answer.verdict
    if told.get("region_times") is not None:
        text = (
            "The topologies are timed by links and --step-time, and do not wait for --region-times. They are HGA-FL's "
            "alone, which --explain methods has. Slow groups of a list count in both: [[fleet.groups]] with step_time. "
            "`hfl-plan async` asks whether to wait."
        )
        warnings = (Caution(text=text), *warnings)
        out = "This leaves --region-times out; [[fleet.groups]] with step_time would count."
        verdict = verdict.replaced(text=f"{out} {verdict.text}")
    kept = answer.recommend.replaced(others=tuple(others.values()))
    return answer.replaced(verdict=verdict, rows=rows, warnings=warnings, recommend=kept)


def _row(other: Other, answer: Recommendation, found: dict[str, Any]) -> Row:
    """A row of its own for what a pilot raced to the same target."""
    rounds = Quantity(found["rounds"], found["rounds_from"])
    seconds, traffic = (Quantity(found[key]) for key in ("time_seconds", "traffic_bytes"))  # of links that are modelled
    first = answer.rows[0]
    pairs = {"rounds": (rounds, first.rounds), "time": (seconds, first.time_seconds)}
    pairs["traffic"] = traffic, first.traffic_bytes
    own, best = pairs.get(answer.objective, (rounds, None))
    return Row(
        id=other.id,
        title=other.title,
        baseline=True,
        rounds=rounds,
        time_seconds=seconds,
        traffic_bytes=traffic,
        ratio=Quantity(own / best) if best else None,
        cases=_cases(answer, seconds),
        round_seconds=found["round_seconds"],
        rounds_from=found["rounds_from"],
    )


def _cases(answer: Recommendation, seconds: Quantity) -> tuple[InCase, ...]:
    """The time in each case of link sharing: it is worked out for clients with links of their own."""
    found = []
    for value in answer.open_cases:
        best = next(
            case.time_seconds for row in answer.rows for case in row.cases if (case.value, case.rank) == (value, 1)
        )
        known = value == "per-client"
        ratio = Quantity(seconds / best) if known and best else None
        found.append(InCase(value=value, time_seconds=float(seconds) if known else None, ratio=ratio))
    return tuple(found)


def _hhfl(coverage: str, scenario: Scenario, config: Path | None, said: Spoken) -> dict[str, Any]:
    groups, fleet = scenario.number("G"), scenario.number("G") * scenario.number("M")
    steps = {"fleet.local_steps": ("-K", "K"), "fleet.group_rounds": ("-P", "P")}
    said = {**said, **{key: (option, f"{scenario.number(name):.0f}") for key, (option, name) in steps.items()}}
    clients, servers = read_layout(coverage).links.shape
    if servers != groups or clients != fleet:
        raise ScenarioError(
            f"--coverage: {coverage!s:.80} has {clients} clients and {servers} servers, and the scenario "
            f"{fleet:.0f} clients in {groups:.0f} groups. Make them agree, or ask `hfl-plan overlap` alone.",
            code="E002",
        )
    objective = scenario.objective if scenario.objective in ("time", "traffic") else "airtime"
    found = hhfl.solve(hhfl.pose(coverage, config, said, objective=objective))
    task, hybrid, other = found.question.task, found.hybrid, ""
    if (task.E, task.Ge) != (hhfl.ASSUMED, hhfl.ASSUMED):
        alone = {key: (option, str(hhfl.ASSUMED)) for key, (option, _) in steps.items()}
        there = hhfl.solve(hhfl.pose(coverage, config, {**said, **alone}, objective=objective))
        other = f", {there.best.said} with {hhfl.ASSUMED} of each, as `overlap` alone assumes"
    why = (
        f"by the bound, {found.best.said} for {objective} at E = {task.E} and Ge = {task.Ge} (-K and "
        f"-P){other}. One server for each client needs {found.apart.rounds:,} rounds to the same loss. The bound is on "
        "the loss of strongly convex problems"
    )
    known = {**_amounts(hybrid.rounds, hybrid, why), "round_seconds": hybrid.seconds_per_round}
    return _measured(known, hybrid.round_bytes, coverage, scenario)


def _measured(found: dict[str, Any], each: float, coverage: str, scenario: Scenario) -> dict[str, Any]:
    """With the rounds of a pilot in the place of those to a target of another quantity, where HHFL raced there."""
    one = None if scenario.pilot is None else scenario.pilot.runner("hhfl")
    if not isinstance(one, Beside):
        return found
    if any(slower != 1 for slower in scenario.pilot.fleet.slowdowns or ()):  # type: ignore[union-attr]
        return {**found, "why": f"{found['why']}; the pilot's regions differ in speed, which is not timed for it"}
    if one.options.get("coverage") != rows_of(coverage):
        return {**found, "why": f"{found['why']}; the pilot has another coverage"}
    question = ask(with_default_order(scenario))
    rounds = question.predictor.beside(question, "hhfl")
    if rounds is None or not math.isfinite(rounds):
        return found
    count, seconds = ceil_rounds(rounds), found["round_seconds"]
    amounts = {"rounds": count, "time_seconds": count * seconds, "traffic_bytes": count * each}
    whence = "measured" if question.predictor.raced(question, "hhfl") else "predicted"
    return {**amounts, "round_seconds": seconds, "_comparable": True, "rounds_from": whence}


def _hsl(edges: str, scenario: Scenario, config: Path | None, said: Spoken) -> dict[str, Any]:
    nodes = f"{scenario.number('G') * scenario.number('M'):.0f}"
    found = hsl.solve(hsl.pose({"nodes": nodes, "edges": edges}, config, said))
    why = (
        f"{found.hubs.budgets}: to the mean squared gradient at the nodes' own models by a reconstructed theorem, and "
        f"its own target ({found.question.setting.target:.3g})"
    )
    return _amounts(found.hubs.rounds, found.hubs, why)


def _hga(region_times: str, scenario: Scenario, config: Path | None, said: Spoken) -> dict[str, Any]:
    found = hga.solve(scenario, hga.Settings(region_times))
    why = f"its bound has a floor from heterogeneity, and its own target ({found.question.target:.3g})"
    if (best := found.proved) is None:
        return {"why": f"{why}, which is below it", **ELSEWHERE}
    return _amounts(best.steps, best, f"buffer of {best.size} of {found.regions}, steps of the top server; {why}")


def _amounts(rounds: float | None, row: Any, why: str) -> dict[str, Any]:
    count = None if rounds is None else round(rounds)
    return {"rounds": count, "time_seconds": row.seconds, "traffic_bytes": row.bytes, "why": why, **ELSEWHERE}


ASKED: tuple[tuple[str, str, Callable[[str, Scenario, Path | None, Spoken], dict[str, Any]]], ...] = (
    ("hhfl", "coverage", _hhfl),
    ("hsl", "edges", _hsl),
    ("hga-fl", "region_times", _hga),
)
