"""Seconds against bytes to the target: what is worth having, and what something else beats in both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from hflbounds.topology import all_topologies, tier_symbols
from planner.decide import tuning
from planner.decide.rank import recommend
from planner.errors import NoAnswerError
from planner.io.wording import title
from planner.plot import COLUMN, FAINT, INK, Drawing, Picture, figure, looks, plain, posed, positive, round_ticks, style
from planner.plot.lettering import heading, in_short, name_points
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration, format_size

COLUMNS = ("topology", "setting", "rounds", "seconds", "bytes")
SECONDS = (*(10.0**n for n in range(-6, 2)), 60.0, 600.0, 3600.0, 21600.0, *(86400 * 10.0**n for n in range(12)))


@dataclass(frozen=True)
class Point:
    """One way to the target."""

    topology: str  # or another family
    setting: str  # what tells it from others of that topology: ``G = 4``, ``K = 5``
    rounds: float  # to the target
    seconds: float  # to the target
    bytes: float  # to the target


def of_scenario(scenario: Scenario) -> Picture:
    """The picture of a scenario: every topology with all group rounds and local steps that `tuning` looks at.

    Where the groups are free, their best topology in every division instead, with the P and K that are given.

    Raises:
        NoAnswerError: if nothing reaches the target.
    """
    if scenario.divisions:
        found = [
            Point(d.best or "", f"G = {d.groups}", d.rounds or 0, d.time_seconds or 0, d.traffic_bytes or 0)
            for d in recommend(scenario).recommend.divisions
            if d.best and d.rounds and d.time_seconds and d.traffic_bytes
        ]
    else:
        tuning.without_pilot(scenario, "this picture")
        question = tuning.with_one_target(posed(scenario)[1])
        every = tuning.choices(question, *tuning.usual(question), question.topologies, tuning.on_record(question))
        found = [
            Point(c.topology, f"{c.passes} = {c.P}, K = {c.K}", c.rounds, c.amount("time"), c.amount("traffic"))
            for c in every
        ]
    if not found:
        raise NoAnswerError(
            "no topology reaches the target, whatever P and K are. Give a looser --target, or more --rounds.",
            code="N003",
        )
    steps = " and ".join(symbol for symbol in (tier_symbols(scenario.depth)[-1].passes, "K") if symbol)
    tried = "any G" if scenario.divisions else f"any {steps}"
    drawn, rows = draw(found, f"{in_short(scenario, steps=False)}; {tried}", "Predicted: ")
    best = [p for p, row in zip(found, rows, strict=True) if row["on_front"]]
    said = "; ".join(
        f"{title(p.topology)}, {p.setting}, {p.rounds:,.0f} rounds, {format_duration(p.seconds)}, "
        f"{format_size(p.bytes)}"
        for p in sorted(best, key=lambda p: p.seconds)
    )
    return drawn, rows, f"Time against traffic to the target, both logarithmic. Nothing beats in both: {said}."


def of_rows(rows: Sequence[Mapping[str, Any]]) -> Picture:
    """The picture of a table with the columns `COLUMNS`.

    Raises:
        ScenarioError: for numbers that a logarithmic axis cannot show.
    """
    positive(rows, COLUMNS[2:])
    found = [Point(**row) for row in rows]
    return *draw(found), f"Time against traffic of {len(found)} ways to the target, both logarithmic."


@style()
def draw(points: Sequence[Point], about: str = "", said: str = "") -> Drawing:
    """Draw the best points large and by name, and all others as a faint cloud.

    Named are the best of every topology in time, and the ends of the front: what nothing beats in both.
    """
    drawn, axes = figure(COLUMN, 3.0)
    axes.set(xscale="log", yscale="log", xlabel="time to the target", ylabel="traffic to the target")
    seen = looks(sorted({p.topology for p in points}, key=[*all_topologies(2), *(p.topology for p in points)].index))
    best = _front(points)
    front = sorted((p for p, on in zip(points, best, strict=True) if on), key=lambda p: p.seconds)
    fastest = [min((p for p in points if p.topology == name), key=lambda p: (p.seconds, p.bytes)) for name in seen]
    named = list(dict.fromkeys([front[0], front[-1], *fastest]))
    for name, look in seen.items():
        if mine := [(p.seconds, p.bytes) for p in points if p.topology == name and p not in named]:
            axes.plot(
                *zip(*mine, strict=True), linestyle="", marker=".", color=look.color, markersize=2, alpha=0.35, zorder=1
            )
    axes.step([p.seconds for p in front], [p.bytes for p in front], where="post", color=FAINT, linewidth=0.8, zorder=2)
    for point in named:
        look = seen[point.topology]
        face = look.color if point in front else "white"
        axes.plot([point.seconds], [point.bytes], marker=look.marker, color=look.color, markerfacecolor=face, zorder=4)
    _span(axes.xaxis, [p.seconds for p in points])
    round_ticks(axes.xaxis, format_duration, SECONDS)
    _span(axes.yaxis, [p.bytes for p in points])
    round_ticks(axes.yaxis, format_size)
    least, lightest = front[0], front[-1]
    message = f"{said}{seen[least.topology].title} is fastest, in {format_duration(least.seconds)}"
    if lightest.topology != least.topology:
        message += f"; {seen[lightest.topology].title} sends least, {format_size(lightest.bytes)}"
    elif lightest != least:
        message += f", and sends least, {format_size(lightest.bytes)}"
    else:
        message += ", and sends least"
    heading(drawn, message, about)
    labels = [
        (p.seconds, p.bytes, seen[p.topology].title + f"\n{plain(p.setting)}" * bool(p.setting), INK) for p in named
    ]
    steps = [(x, y) for p, q in pairwise(front) for x, y in ((p.seconds, p.bytes), (q.seconds, p.bytes))]
    name_points(axes, labels, [tuple(zip(*steps, strict=True))] if steps else [])
    return drawn, [{**asdict(p), "on_front": on} for p, on in zip(points, best, strict=True)]


def _front(points: Sequence[Point]) -> list[bool]:
    """Of every point, whether none is better in time or traffic and no worse in the other."""
    least, on = math.inf, set()
    for seconds, traffic in sorted({(p.seconds, p.bytes) for p in points}):
        if traffic < least:
            on.add((seconds, traffic))
            least = traffic
    return [(p.seconds, p.bytes) in on for p in points]


def _span(axis: Any, values: Sequence[float]) -> None:
    """Limits with some room on either side."""
    least, most = min(values), max(values)
    room = max((most / least) ** 0.08, 1.15)
    axis.axes.set(**{f"{axis.axis_name}lim": (least / room, most * room)})
