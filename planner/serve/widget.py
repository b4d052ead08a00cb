"""Sliders in a notebook: the page's controls over a scenario as ipywidgets, and below them the answer they give."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any, Final

from hflbounds.extras import install
from planner.errors import NoAnswerError, PlannerError
from planner.io import frames
from planner.runs.manifest import told
from planner.scenario.resolve import spoken
from planner.scenario.units import format_amount, parse_duration, parse_rate, parse_size
from planner.scenario.values import Scenario
from planner.serve import scenario as written
from planner.serve.answer import answer
from planner.serve.controls import OF_FLEET, OF_TIER, Control

Tables = dict[str, Any]
Stop = tuple[str, Any]  # of a slider: its text, and what a scenario takes for it

DECADE: Final = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
"""Stops of a slider in a decade, about equal ratios apart."""
UNITS: Final = {"rate": "bit/s", "size": "bytes", "duration": "s", "share": "share"}
SHARING: Final = (("not known", ""), ("each its own", "per-client"), ("shared", "per-server"))
OBJECTIVES: Final = (("least time", "time"), ("fewest rounds", "rounds"), ("least traffic", "traffic"))
SPLITS: Final = (
    ("not known", ""),
    ("not at all", "iid"),
    ("inside groups", "intra"),
    ("between groups", "inter"),
    ("both", "both"),
)


class WhatIf:
    """Sliders over a scenario, and the answer that follows them.

    Attributes:
        tables: The scenario as tables, as it now is.
        controls: The widgets, by the key that each writes.
        shown: HTML widget with the answer, or with the reason why there is none.
        box: All of it, one widget.
    """

    def __init__(self, tables: Mapping[str, Any]) -> None:
        """Build the widgets and ask once.

        Raises:
            NoAnswerError: If ipywidgets is not installed, or no topology reaches the target.
        """
        try:
            import ipywidgets
        except ImportError:
            raise NoAnswerError(
                f"the sliders need ipywidgets, which is not installed.\nInstall it: {install('notebook')}", code="N004"
            ) from None
        self.tables: Tables = copy.deepcopy(dict(tables))
        self.tables.setdefault("plan", {}).setdefault("objective", "time")
        self.controls: dict[str, Any] = {}
        self.shown = ipywidgets.HTML()
        self._widgets = ipywidgets
        found = answer(self.tables)
        questions = [self._choice(*one) for one in self._questions()]
        groups = [self._widgets.VBox(questions)]
        for title, sliders in self._sliders():
            made = [self._slider(path, label, control, found["known"][path]) for path, label, control in sliders]
            groups.append(self._widgets.VBox([ipywidgets.HTML(f"<b>{escape(title)}</b>"), *made]))
        self.box = ipywidgets.VBox([*groups, self.shown])
        self.shown.value = _page(found)

    @property
    def scenario(self) -> Scenario:
        """The scenario as it now is, for every function of `planner`.

        Raises:
            ScenarioError: Where the sliders contradict each other.
        """
        return written.load(self.tables)

    def toml(self) -> str:
        """Return the scenario as it now is, as the text of a file."""
        return written.written(self.tables)

    def _repr_mimebundle_(self, **asked: Any) -> Any:
        return self.box._repr_mimebundle_(**asked)

    def _questions(self) -> Iterator[tuple[str, str, Sequence[Stop]]]:
        """Yield key, label and choices of what is no number."""
        tiers = self.tables["fleet"]["tiers"]
        yield f"fleet.tiers[{len(tiers)}].link.sharing", "links of clients", SHARING
        yield "plan.objective", "objective", OBJECTIVES
        said = get(self.tables, "problem.heterogeneity")  # a choice can show a word or nothing
        if (said is None or said in dict(SPLITS).values()) and not any("deviation" in tier for tier in tiers):
            yield "problem.heterogeneity", "data differ", SPLITS

    def _sliders(self) -> Iterator[tuple[str, list[tuple[str, str, Control]]]]:
        """Yield the title of every group of sliders, and path, label and control of each."""
        tiers = self.tables["fleet"]["tiers"]
        numbers = any("deviation" in tier for tier in tiers)
        for i, tier in enumerate(tiers, 1):
            fitting = [one for one in OF_TIER if (one.key != "passes" or i > 1) and (one.key != "deviation" or numbers)]
            title = str(tier.get("name", f"tier {i}"))
            yield title, [(f"fleet.tiers[{i}].{one.key}", one.label, one) for one in fitting]
        yield "model and work", [(one.key, one.label, one) for one in OF_FLEET]

    def _choice(self, key: str, label: str, choices: Sequence[Stop]) -> Any:
        now = get(self.tables, key)
        value = now if now in [value for _, value in choices] else choices[0][1]
        return self._made(self._widgets.Dropdown, key, label, options=list(choices), value=value)

    def _slider(self, path: str, label: str, control: Control, known: Mapping[str, Any]) -> Any:
        stops = stops_of(control)
        now = (known["text"], get(self.tables, path))
        if known["text"] not in [text for text, _ in stops] and known["value"] is not None:
            at = sum(amount(control, value) < known["value"] for _, value in stops)
            stops.insert(at, now)
        texts = [text for text, _ in stops]
        index = texts.index(known["text"]) if known["text"] in texts else 0
        return self._made(self._widgets.SelectionSlider, path, label, options=stops, index=index)

    def _made(self, kind: Callable[..., Any], key: str, label: str, **options: Any) -> Any:
        wide = {"style": {"description_width": "11em"}, "layout": self._widgets.Layout(width="32em")}
        self.controls[key] = made = kind(**options, description=label, **wide)
        made.observe(partial(self._moved, key), names="value")
        return made

    def _moved(self, key: str, change: Mapping[str, Any]) -> None:
        """Write what a control now says, and ask again; what cannot be meant is said and kept."""
        put(self.tables, key, change["new"] if change["new"] != "" else None)
        try:
            self.shown.value = _page(answer(self.tables))
        except PlannerError as error:
            self.shown.value = f'<p role="alert"><b>No answer.</b> {escape(str(error))}</p>'


def what_if(config: Any, settings: Mapping[str, Any], options: Mapping[str, Any]) -> WhatIf:
    """Make sliders over a scenario that is a file, tables or keywords, as `planner.recommend` takes them.

    Raises:
        TypeError: For a keyword there is not.
        NoAnswerError: If ipywidgets is not installed, or no topology reaches the target.
    """
    with frames.held() as holder:
        tables = told(*spoken(config, settings, options, holder))
        return WhatIf(written.with_tiers(tables, written.load(tables)))


def stops_of(control: Control) -> list[Stop]:
    """List the places of a slider: text, and what a scenario takes."""
    if control.kind == "share":
        return [(f"{percent} %", f"{percent}%") for percent in range(round(100 * control.low), 101)]
    values = [step * 10.0**power for power in range(-4, 11) for step in DECADE]
    values = [value for value in values if control.low * (1 - 1e-9) <= value <= control.high * (1 + 1e-9)]
    if control.kind in ("count", "number"):
        whole: Callable[[float], float] = round if control.kind == "count" else lambda value: float(f"{value:.2g}")
        found: list[Stop] = [(format_amount(value), value) for value in sorted({whole(value) for value in values})]
    else:
        texts = [format_amount(float(f"{value:.2g}"), UNITS[control.kind]) for value in values]
        found = [(text, text) for text in texts]
    nothing = format_amount(0.0, UNITS.get(control.kind, ""))
    return [*([(nothing, nothing if control.kind == "duration" else 0)] if control.zero else []), *found]


def amount(control: Control, value: Any) -> float:
    """Read what a stop writes, in SI units."""
    if not isinstance(value, str):
        return float(value)
    readers: dict[str, Callable[..., Any]] = {"rate": parse_rate, "size": parse_size, "duration": parse_duration}
    return float(readers[control.kind](value)) if control.kind in readers else float(value.rstrip(" %")) / 100


def get(tables: Any, path: str) -> Any:
    """Return the value at ``fleet.tiers[2].link.up``; None for nothing."""
    for step in _steps(path):
        try:
            tables = tables[step]
        except (KeyError, IndexError, TypeError):
            return None
    return tables


def put(tables: Any, path: str, value: Any) -> None:
    """Write a value at a path; None takes it away."""
    *way, last = _steps(path)
    for step in way:
        tables = tables[step] if isinstance(step, int) else tables.setdefault(step, {})
    if value is None:
        tables.pop(last, None)
    else:
        tables[last] = value


def _steps(path: str) -> list[Any]:
    return [int(number) - 1 if number else word for word, number in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)]


def _page(found: Mapping[str, Any]) -> str:
    """Write the answer: verdict, target, table, command."""
    several = len(found["cases"]) > 1
    times = [f", {case['words']}" for case in found["cases"]] if several else [""]
    heads = ["topology", *(f"{name}{of}" for of in times for name in ("time", "vs best")), "rounds", "traffic"]
    lines = [f"<p><b>{escape(found['verdict'])}</b></p>", *(f"<p>{escape(line)}</p>" for line in found["lines"])]
    lines.append(f"<p>{escape(found['target'])}</p><table><tr>")
    lines += [f"<th>{escape(head)}</th>" for head in heads]
    for row in found["rows"]:
        text, mark = row["text"], ("<b>", "</b>") if any(row["best"]) else ("", "")
        timed = [cell for pair in zip(text["time"], text["ratio"], strict=True) for cell in pair]
        cells = [f"{mark[0]}{escape(row['title'])}{mark[1]}", *map(escape, (*timed, text["rounds"], text["traffic"]))]
        lines.append("</tr><tr>" + "".join(f"<td>{cell}</td>" for cell in cells))
    lines.append("</tr></table>")
    lines += [f"<p>{escape(warning)}</p>" for warning in found["warnings"]]
    return "".join([*lines, f"<p><code>{escape(found['command'])}</code></p>"])
