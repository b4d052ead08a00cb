"""Seconds against bytes to the target: what is worth having, and what something else beats in both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hflbounds.topology import all_topologies
from planner.decide import tuning
from planner.decide.rank import recommend
from planner.errors import NoAnswerError
from planner.io.wording import title
from planner.plot import COLUMN, FAINT, Rows, figure, looks, plain, posed, positive, round_ticks, style
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration, format_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("topology", "setting", "rounds", "seconds", "bytes")
NEAR = 0.15  # of the length of an axis: points of the front so near to the first of a bunch are named with it
SECONDS = (*(10.0**n for n in range(-6, 2)), 60.0, 600.0, 3600.0, 21600.0, *(86400 * 10.0**n for n in range(12)))


@dataclass(frozen=True)
class Point:
    """One way to the target."""

    topology: str  # or another family
    setting: str  # what tells it from others of that topology: ``G = 4``, ``K = 5``
    rounds: float  # to the target
    seconds: float  # to the target
    bytes: float  # to the target


def of_scenario(scenario: Scenario) -> tuple[Figure, Rows, str]:
    """The picture of a scenario: every topology with all group rounds and local steps that `tuning` looks at.

    Where the groups are free, their best topology in every division instead, with the P and K that are given.

    Raises:
        NoAnswerError: if nothing reaches the target.
    """
    if scenario.divisions:
        found = [
            Point(d.topology or "", f"G = {d.groups}", d.rounds or 0, d.seconds or 0, d.bytes or 0)
            for d in recommend(scenario).divisions
            if d.topology and d.rounds and d.seconds and d.bytes
        ]
    else:
        question = tuning.with_one_target(posed(scenario)[1])
        found = [
            Point(c.topology, f"P = {c.P}, K = {c.K}", c.rounds, c.seconds, c.bytes)
            for c in tuning.choices(question, tuning.GROUP_ROUNDS, tuning.LADDER, question.topologies)
        ]
    if not found:
        raise NoAnswerError(
            "no topology reaches the target, whatever P and K are. Give a looser --target, or more --rounds."
        )
    drawn, rows = draw(found)
    best = [p for p, row in zip(found, rows, strict=True) if row["on_front"]]
    said = "; ".join(
        f"{title(p.topology)}, {p.setting}, {p.rounds:,.0f} rounds, {format_duration(p.seconds)}, "
        f"{format_size(p.bytes)}"
        for p in sorted(best, key=lambda p: p.seconds)
    )
    return drawn, rows, f"Time against traffic to the target, both logarithmic. Nothing beats in both: {said}."


def of_rows(rows: Sequence[Mapping[str, str]], number: Mapping[str, Sequence[float]]) -> tuple[Figure, Rows, str]:
    """The picture of a table with the columns `COLUMNS`.

    Raises:
        ScenarioError: for numbers that a logarithmic axis cannot show.
    """
    positive(number)
    counts = zip(number["rounds"], number["seconds"], number["bytes"], strict=True)
    found = [Point(row["topology"], row["setting"], *three) for row, three in zip(rows, counts, strict=True)]
    return *draw(found), f"Time against traffic of {len(found)} ways to the target, both logarithmic."


@style()
def draw(points: Sequence[Point]) -> tuple[Figure, Rows]:
    """Draw the points; those that nothing beats in both are filled, joined and named."""
    from matplotlib.lines import Line2D

    drawn, axes = figure(COLUMN, 3.2)
    axes.set(xscale="log", yscale="log", xlabel="time to the target", ylabel="traffic to the target")
    seen = looks(sorted({p.topology for p in points}, key=[*all_topologies(2), *(p.topology for p in points)].index))
    best = _front(points)
    line = sorted({(p.seconds, p.bytes) for p, on in zip(points, best, strict=True) if on})
    axes.step(*zip(*line, strict=True), where="post", color=FAINT, linewidth=0.8, zorder=2)
    for name, look in seen.items():
        for filled in (False, True):
            mine = [p for p, on in zip(points, best, strict=True) if p.topology == name and on == filled]
            face, size, order = (look.color, 6, 3) if filled else ("none", 2.5, 1)
            marks: Any = {"marker": look.marker, "color": look.color, "markerfacecolor": face, "markersize": size}
            across_up = [p.seconds for p in mine], [p.bytes for p in mine]
            axes.plot(*across_up, linestyle="", **marks, markeredgewidth=0.5, zorder=order)
    for point, setting in _named(points, best):
        at: Any = {"xytext": (6, -9), "textcoords": "offset points"}
        axes.annotate(plain(setting), (point.seconds, point.bytes), size=6, **at)
    _span(axes.xaxis, [p.seconds for p in points])
    round_ticks(axes.xaxis, format_duration, SECONDS)
    _span(axes.yaxis, [p.bytes for p in points])
    round_ticks(axes.yaxis, format_size)
    keys = [Line2D([], [], linestyle="", marker=k.marker, color=k.color, label=k.title) for k in seen.values()]
    drawn.legend(handles=keys, loc="outside lower center", ncols=2)
    return drawn, [{**asdict(p), "on_front": on} for p, on in zip(points, best, strict=True)]


def _front(points: Sequence[Point]) -> list[bool]:
    """Of every point, whether none is better in time or traffic and no worse in the other."""
    least, on = math.inf, set()
    for seconds, traffic in sorted({(p.seconds, p.bytes) for p in points}):
        if traffic < least:
            on.add((seconds, traffic))
            least = traffic
    return [(p.seconds, p.bytes) in on for p in points]


def _named(points: Sequence[Point], best: Sequence[bool]) -> list[tuple[Point, str]]:
    """The last point of every bunch on the front, and the settings from the bunch's first to there."""
    values = {name: [getattr(p, name) for p in points] for name in ("seconds", "bytes")}
    span = {name: math.log(max(numbers) / min(numbers)) or 1.0 for name, numbers in values.items()}
    bunches: list[list[Point]] = []
    for point in sorted((p for p, on in zip(points, best, strict=True) if on), key=lambda p: p.seconds):
        first = bunches[-1][0] if bunches else None
        if first and all(abs(math.log(getattr(point, n) / getattr(first, n))) < NEAR * span[n] for n in span):
            bunches[-1].append(point)
        else:
            bunches.append([point])
    return [(b[-1], b[0].setting if len(b) == 1 else f"{b[0].setting} to {b[-1].setting}") for b in bunches]


def _span(axis: Any, values: Sequence[float]) -> None:
    """Limits with some room on either side."""
    least, most = min(values), max(values)
    room = max((most / least) ** 0.08, 1.15)
    axis.axes.set(**{f"{axis.axis_name}lim": (least / room, most * room)})
