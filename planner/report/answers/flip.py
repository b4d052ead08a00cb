"""What ``hfl-plan flip`` says: every change of the answer, or a map of the best topology over two inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hflbounds.topology import Topology, all_topologies
from planner.decide.explain import BY
from planner.decide.phase_diagram import OUTSIDE, Outside, Phase, source
from planner.decide.sensitivity import Alternative, Beyond, Flips, Line, name_of, names
from planner.io.wording import names as join_names
from planner.report.document import Block, Cell, Column, Document, Figure, Heading, Items, Paragraph, Table
from planner.scenario.units import format_amount, format_duration, format_size

COLORS = ("blue", "yellow", "green", "red", "magenta", "cyan")  # of topologies, in the order of their declaration
SIGNS: dict[Outside, str] = {"not reached": ".", "met at the start": "0", "says nothing": "?"}
METHODS = {
    "solved": "Solved exactly, so nothing is missed",
    "counted": "Every whole number of the range looked at",
    "enclosed": "Enclosed between the values at the ends of intervals",
    "looked at": "Looked at here and there; what comes and goes between two values is missed",
}
CHANGES = (
    Column("now"),
    Column("change at"),
    Column("first there"),
    Column("rounds", "count", left=True),
    Column("time", "duration", left=True),
    Column("traffic", "size", left=True),
    Column("alone from"),
    Column("distance"),
    Column("how"),
)


def document(answer: Flips) -> Document:
    """Say every change of the answer, the nearest first."""
    records = tuple(_record(line, side) for line, side in _changed(answer))
    return Document(answer.title, tuple(_blocks(answer)), answer.to_json(), records, "Changes of the answer")


def _blocks(answer: Flips) -> Iterator[Block]:
    depth = Topology.parse(answer.among[0]).depth
    among = "" if set(answer.among) == set(all_topologies(depth)) else f" among {join_names(answer.among)}"
    spent = _spent(answer.rounds, answer.seconds, answer.bytes)
    yield Paragraph(f"{join_names(answer.first)} first by {BY[answer.objective]}{among}: {spent}.", "bold")
    if changed := _changed(answer):
        rows = tuple(_row(line, side) for line, side in changed)
        yield Table(CHANGES, rows, "What comes first instead, nearest change first", indent=2)
    else:
        yield Heading("No change of any input followed, alone and in its range, puts another first.")
    yield Items("Who stays within the resolution of the best, along each input", tuple(_stretches(answer)))
    yield Items("Nothing changes the first place along", tuple(filter(None, [_unchanged(answer)])))
    yield Items("Other words in the scenario", tuple(_alternative(a, answer) for a in answer.alternatives))
    yield Items("How sure that is", (*_methods(answer), *_unmoved(answer)))
    yield Items("Warnings", answer.warnings)


def _changed(answer: Flips) -> list[tuple[Line, Beyond]]:
    """Changes, the nearest first; those from 0, which no ratio measures, last."""
    found = [(line, side) for line in answer.lines for side in (line.below, line.above) if side]
    return sorted(found, key=lambda pair: abs(pair[1].distance) if pair[1].distance is not None else 1e9)


def _row(line: Line, side: Beyond) -> tuple[Cell, ...]:
    return (
        f"{name_of(line.parameter)} {format_amount(line.value, line.unit)}",
        side.words.removeprefix(name_of(line.parameter)).strip(),
        names(side.to),
        side.rounds,
        side.seconds,
        side.bytes,
        None if side.clear is None else format_amount(side.clear, line.unit),
        "from 0" if side.distance is None else f"{side.distance:+.3g}",
        ("exact" if side.exact else "found")
        + ("" if side.crossing is None else f"; bounds equal at {side.crossing:.4g}"),
    )


def _record(line: Line, side: Beyond) -> Mapping[str, Any]:
    told = side.to_json()
    del told["words"]
    return {"parameter": line.parameter, "value": line.value, "unit": line.unit, **told, "to": " ".join(side.to)}


def _stretches(answer: Flips) -> list[str]:
    """Lines with more than one stretch, in words."""
    said = []
    for line in answer.lines:
        if len(line.stretches) < 2:
            continue
        parts = [
            f"{names(s.topologies)} {format_amount(s.low, line.unit)} to {format_amount(s.high, line.unit)}"
            for s in line.stretches
        ]
        said.append(f"{name_of(line.parameter)}: {'; '.join(parts)}")
    return said


def _unchanged(answer: Flips) -> str:
    still = [line for line in answer.lines if line.below is None and line.above is None]
    return ", ".join(
        f"{name_of(line.parameter)} ({format_amount(line.low, line.unit)} to {format_amount(line.high, line.unit)})"
        for line in still
    )


def _alternative(other: Alternative, answer: Flips) -> str:
    change = f"{name_of(other.parameter)} {other.other} in place of {other.value}: "
    if not other.first:
        return change + "the target is not reached"
    if set(other.first) == set(answer.first):
        verdict = "the answer stays"
    elif other.flips:
        verdict = f"{join_names(other.first)} first"
    else:
        verdict = f"{join_names(other.first)} tie" if len(other.first) > 1 else f"{names(other.first)} alone"
    return f"{change}{verdict}; {_spent(other.rounds, other.seconds, other.bytes)}"


def _methods(answer: Flips) -> list[str]:
    """How each input was followed, and what that vouches for."""
    said = []
    order = list(METHODS)
    for road, note in sorted(
        dict.fromkeys((line.road, line.note) for line in answer.lines), key=lambda way: order.index(way[0])
    ):
        there = [line for line in answer.lines if (line.road, line.note) == (road, note)]
        widest = max(line.unseen for line in there)
        words = METHODS[road]
        if road == "enclosed":
            words += (
                f": a change of who ties for the first place that lasts over {widest:.2g} of the value cannot hide"
                if widest
                else ": no change of who ties for the first place can hide"
            )
        if road == "looked at":
            words += f"; the widest step is {widest:.2g} of the value ({note})"
        said.append(f"{words}: {', '.join(name_of(line.parameter) for line in there)}.")
    return said


def _unmoved(answer: Flips) -> list[str]:
    by: dict[str, list[str]] = {}
    for name, why in answer.unmoved.items():
        by.setdefault(why, []).append(name_of(name))
    return [f"Not followed, {why}: {', '.join(inputs)}." for why, inputs in by.items()]


def _spent(rounds: int | None, seconds: float | None, traffic: float | None) -> str:
    return ", ".join(
        (
            "no finite rounds" if rounds is None else f"{rounds:,} rounds",
            "no finite time" if seconds is None else format_duration(seconds),
            "no finite traffic" if traffic is None else format_size(traffic),
        )
    )


# ---------------------------------------------------------------- maps
def letters(tied: Sequence[str]) -> str:
    """The first letter of every tier's pattern, such as SR; a star for a tier in which those that tie differ."""
    tiers = zip(*(Topology.parse(topology).patterns for topology in tied), strict=True)
    return "".join(tier[0].id[0].upper() if len(set(tier)) == 1 else "*" for tier in tiers)


def map_document(found: Phase) -> Document:
    """Say which topology is best over two inputs."""
    by, (x, y) = BY[found.objective], (found.x, found.y)
    says = f"Who comes first by {by}, over {name_of(x.parameter)} and {name_of(y.parameter)} ({source(found)})"
    upwards = range(len(y.values))
    rows = tuple(
        (format_amount(y.values[i], y.unit), tuple(_cell(found, i, j) for j in range(len(x.values))))
        for i in reversed(upwards)
    )
    i, j = _nearest(y.values, y.now), _nearest(x.values, x.now)
    here = None if i is None or j is None else (len(upwards) - 1 - i, j)
    figure = Figure(says, rows, tuple(format_amount(value, x.unit) for value in x.values), here)
    blocks: list[Block] = [Paragraph(says, "bold"), figure, *map(Paragraph, _legend(found))]
    return Document("", tuple(blocks), found.to_json(), tuple(found.rows()), "Map of the best topology")


def _legend(found: Phase) -> list[str]:
    named: dict[str, list[str]] = {}
    for ties in sorted({t for row in found.tied for t in row if t}, key=lambda t: (len(t), letters(t))):
        named.setdefault(letters(ties), []).append(join_names(ties))
    said = [", ".join(f"{sign} {who[0] if len(who) == 1 else 'several'}" for sign, who in named.items())]
    said[0] += f"; a star: both, within {found.resolution:.2g}." if any("*" in sign for sign in named) else "."
    present = {reason for row in found.outside for reason in row if reason}
    for reason, words in OUTSIDE.items():
        if reason in present:
            said.append(f"{_mark(SIGNS[reason], found) if reason in SIGNS else 'small letters'}: {words}.")
    now = ", ".join(f"{name_of(axis.parameter)} {format_amount(axis.now, axis.unit)}" for axis in (found.x, found.y))
    return [*said, f"[] the scenario: {now}."]


def _mark(sign: str, found: Phase) -> str:
    """A sign as wide as every mark: one letter for each tier, and two at least."""
    wide = max(2, Topology.parse(found.among[0]).depth)
    return sign.ljust(wide) if sign.isalpha() or "*" in sign else sign * wide


def _cell(found: Phase, i: int, j: int) -> tuple[str, str]:
    """A mark, and its colour."""
    first, reason = found.first[i][j], found.outside[i][j]
    if first is None or reason in SIGNS:
        return _mark(SIGNS[reason or "not reached"], found), "dim"
    tied = found.tied[i][j]
    shown = _mark(letters(tied), found)
    order = list(all_topologies(Topology.parse(first).depth))
    color = COLORS[order.index(first) % len(COLORS)]
    return shown.lower() if reason else shown, color if len(tied) == 1 else ""


def _nearest(values: Sequence[float], now: float) -> int | None:
    """The cell a value falls into; None where it lies beyond them."""
    if not values[0] <= now <= values[-1]:
        return None
    return min(range(len(values)), key=lambda k: abs(values[k] - now) / values[k])
