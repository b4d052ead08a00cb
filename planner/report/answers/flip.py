"""What ``hfl-plan flip`` prints: every change of the answer, or a map of who comes first."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hflbounds.topology import all_topologies
from planner.decide.explain import BY
from planner.decide.parameters import NICKNAMES
from planner.decide.phase_diagram import OUTSIDE, Outside, Phase, phase, source
from planner.decide.sensitivity import Alternative, Beyond, Flips, Line, flip, name_of, names
from planner.io.wording import names as join_names
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_amount, format_duration, format_size

PLAIN = 10_000  # columns; where nobody looks, nothing is wrapped
COLORS = {"star-star": "blue", "star-ring": "yellow", "ring-star": "green", "ring-ring": "red"}
SIGNS: dict[Outside, str] = {"not reached": "..", "met at the start": "00", "says nothing": "??"}
TICKS = 5
ROADS = {
    "solved": "Solved exactly, so nothing is missed",
    "counted": "Every whole number of the range looked at",
    "enclosed": "Enclosed between the values at the ends of intervals",
    "looked at": "Looked at here and there; what comes and goes between two values is missed",
}


@dataclass(frozen=True)
class Look:
    """How an answer is printed.

    Attributes:
        width: columns of the terminal.
        color: whether it has colours; without it nothing is wrapped.
        as_json: one JSON document instead.
    """

    width: int
    color: bool
    as_json: bool

    def console(self) -> tuple[Console, io.StringIO]:
        """A console, and what it writes to."""
        stream = io.StringIO()
        console = Console(
            file=stream,
            width=max(40, self.width) if self.color else PLAIN,
            force_terminal=self.color,
            no_color=not self.color,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )
        return console, stream


def flips(scenario: Scenario, among: Sequence[str], only: Sequence[str], look: Look) -> str:
    """Every change of the answer.

    Raises:
        ScenarioError: for a free number of groups, an unknown topology or input.
        NoAnswerError: if no topology reaches the target.
    """
    wanted = [NICKNAMES.get(name, name) for name in (n.removeprefix("network.") for n in only)]
    with _Progress() as told:
        answer = flip(scenario, among, wanted, told)
    if look.as_json:
        return json.dumps(answer.to_json(), indent=2, allow_nan=False) + "\n"
    return _flips(answer, look)


def mapped(
    scenario: Scenario,
    among: Sequence[str],
    asked: str,
    cells: int | None,
    output: Path | None,
    force: bool,
    look: Look,
) -> str:
    """A map of who comes first over two inputs, and its picture where one is asked for.

    Raises:
        ScenarioError: for inputs that cannot be moved so, or a picture that may not be written.
        NoAnswerError: if it cannot be.
    """
    if output is not None:
        from planner import plot as pictures

        pictures.checked(output, force)
    found = phase(scenario, asked, among, cells)
    if output is not None:
        from planner.plot import phase as picture

        drawn, rows = picture.draw(found)
        for path in pictures.save(drawn, output, rows, says=picture.says(found), force=force):
            sys.stderr.write(f"hfl-plan: wrote {path}\n")
    if look.as_json:
        return json.dumps(found.to_json(), indent=2, allow_nan=False) + "\n"
    return _map(found, look)


# ---------------------------------------------------------------- changes
def _flips(answer: Flips, look: Look) -> str:
    console, stream = look.console()
    if answer.title:
        console.print(Text(answer.title, style="bold"))
    among = "" if set(answer.among) == set(all_topologies(2)) else f" among {join_names(answer.among)}"
    spent = _spent(answer.rounds, answer.seconds, answer.bytes)
    console.print(Text(f"{join_names(answer.first)} first by {BY[answer.objective]}{among}: {spent}.", style="bold"))
    changed = [(line, side) for line in answer.lines for side in (line.below, line.above) if side]
    changed.sort(key=lambda pair: abs(pair[1].distance) if pair[1].distance is not None else 1e9)
    console.print()
    if changed:
        console.print(Text("What comes first instead, nearest change first", style="bold"))
        console.print(Padding(_table(changed), (0, 0, 0, 2)))
    else:
        console.print(
            Text("No change of any input followed, alone and in its range, puts another first.", style="bold")
        )
    _list(console, "Who stays within the resolution of the best, along each input", _stretches(answer))
    _list(console, "Nothing changes the first place along", [_unchanged(answer)] if _unchanged(answer) else [])
    _list(console, "Other words in the scenario", [_alternative(a, answer) for a in answer.alternatives])
    _list(console, "How sure that is", [*_roads(answer), *_unmoved(answer)])
    _list(console, "Warnings", answer.warnings)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _table(changed: Sequence[tuple[Line, Beyond]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("now", "change at", "first there", "rounds", "time", "traffic", "alone from", "distance", "how"):
        table.add_column(heading, no_wrap=True, justify="left")
    for line, side in changed:
        clear = "-" if side.clear is None else format_amount(side.clear, line.unit)
        how = "exact" if side.exact else "found"
        if side.crossing is not None:
            how += f"; bounds equal at {side.crossing:.4g}"
        table.add_row(
            Text(f"{name_of(line.parameter)} {format_amount(line.value, line.unit)}"),
            Text(side.words.removeprefix(name_of(line.parameter)).strip()),
            Text(names(side.to)),
            "-" if side.rounds is None else f"{side.rounds:,}",
            "-" if side.seconds is None else format_duration(side.seconds),
            "-" if side.bytes is None else format_size(side.bytes),
            clear,
            "from 0" if side.distance is None else f"{side.distance:+.3g}",
            how,
        )
    return table


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


def _roads(answer: Flips) -> list[str]:
    """How each input was followed, and what that vouches for."""
    said = []
    order = list(ROADS)
    for road, note in sorted(
        dict.fromkeys((line.road, line.note) for line in answer.lines), key=lambda way: order.index(way[0])
    ):
        there = [line for line in answer.lines if (line.road, line.note) == (road, note)]
        widest = max(line.unseen for line in there)
        words = ROADS[road]
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


def _list(console: Console, heading: str, sentences: Sequence[str]) -> None:
    if sentences:
        console.print()
        console.print(Text(heading, style="bold"))
        for sentence in sentences:
            console.print(Padding(Text(sentence), (0, 0, 0, 2)))


# ---------------------------------------------------------------- maps
def letters(tied: Sequence[str]) -> str:
    """Two letters, SS, SR, RS, RR; a star for a tier in which those that tie differ."""
    tiers = zip(*(topology.split("-") for topology in tied), strict=True)
    return "".join(tier[0][0].upper() if len(set(tier)) == 1 else "*" for tier in tiers)


def _map(found: Phase, look: Look) -> str:
    console, stream = look.console()
    x, y = found.x, found.y
    by = BY[found.objective]
    console.print(
        Text(
            f"Who comes first by {by}, over {name_of(x.parameter)} and {name_of(y.parameter)} ({source(found)})",
            style="bold",
        )
    )
    labels = [format_amount(value, y.unit) for value in y.values]
    wide = max(map(len, labels))
    fitting = max(2, ((look.width if look.color else PLAIN) - wide - 2) // 2)
    columns = _thinned(len(x.values), fitting)
    here = _nearest(y.values, y.now), _nearest([x.values[j] for j in columns], x.now)
    for i in reversed(range(len(y.values))):
        row = Text(f"{labels[i]:>{wide}} ")
        for place, j in enumerate(columns):
            row.append(*_cell(found, i, j, at_scenario=(i, place) == here))
        console.print(row)
    axis = ""
    for place in sorted({round(k * (len(columns) - 1) / (TICKS - 1)) for k in range(TICKS)}):
        if 2 * place >= len(axis) + bool(axis):  # else its text would run into the one before
            axis = axis.ljust(2 * place) + format_amount(x.values[columns[place]], x.unit)
    console.print(Text(" " * (wide + 1) + axis))
    named: dict[str, list[str]] = {}
    for ties in sorted({t for row in found.tied for t in row if t}, key=lambda t: (len(t), letters(t))):
        named.setdefault(letters(ties), []).append(join_names(ties))
    said = [", ".join(f"{sign} {who[0] if len(who) == 1 else 'several'}" for sign, who in named.items())]
    said[0] += f"; a star: both, within {found.resolution:.2g}." if any("*" in sign for sign in named) else "."
    present = {reason for row in found.outside for reason in row if reason}
    said += [
        f"{SIGNS.get(reason, 'small letters')}: {words}." for reason, words in OUTSIDE.items() if reason in present
    ]
    said.append(f"[] the scenario: {_now(found)}.")
    for sentence in said:
        console.print(Text(sentence))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _cell(found: Phase, i: int, j: int, *, at_scenario: bool) -> tuple[str, str]:
    """Two letters, and their style."""
    first, reason = found.first[i][j], found.outside[i][j]
    if at_scenario:
        return "[]", "reverse"
    if first is None or reason in SIGNS:
        return SIGNS[reason or "not reached"], "dim"
    tied = found.tied[i][j]
    shown = letters(tied)
    return shown.lower() if reason else shown, COLORS[first] if len(tied) == 1 else ""


def _now(found: Phase) -> str:
    return ", ".join(f"{name_of(axis.parameter)} {format_amount(axis.now, axis.unit)}" for axis in (found.x, found.y))


def _nearest(values: Sequence[float], now: float) -> int | None:
    """The cell a value falls into; None where it lies beyond them."""
    if not values[0] <= now <= values[-1]:
        return None
    return min(range(len(values)), key=lambda k: abs(values[k] - now) / values[k])


def _thinned(count: int, most: int) -> list[int]:
    """So many of the columns, evenly."""
    if count <= most:
        return list(range(count))
    return sorted({round(k * (count - 1) / (most - 1)) for k in range(most)})


class _Progress:
    """Names what is followed, on a terminal alone."""

    def __init__(self) -> None:
        self.shown = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Callable[[str], None]:
        return self.say

    def say(self, name: str) -> None:
        if self.shown:
            sys.stderr.write(f"\r\x1b[Kfollowing {name_of(name)} ...")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
