"""What ``hfl-plan flip`` says: every change of the answer, or a map of the best topology over two inputs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from hflbounds.topology import Topology, all_topologies
from planner.decide.breakpoints import Line
from planner.decide.phase_diagram import OUTSIDE, Outside, Phase, source
from planner.decide.sensitivity import Change, Flips
from planner.decide.settings import Setting
from planner.io.listings import Listing, listing
from planner.io.wording import (
    counted,
    in_terms_of,
    join,
    join_with_limit,
    names_or,
    one_of,
    percent,
    share,
    target_option,
    times,
    title,
)
from planner.io.wording import names as join_names
from planner.report.document import COLUMNS as WIDE
from planner.report.document import Cell, Column, Document, Figure, Section, Sentences, Table, numeric
from planner.report.page import amounts, brief, page, shortened_to, unserved_in
from planner.report.render.table import first_that_fits
from planner.scenario.units import format_amount, format_break_even

SHOWN, FEWEST = 9, 3  # changes on a page: at most, and where it has many other lines
AROUND = 3  # numbers between which the lead is a toss-up, on a page
INSIDE = 2  # changes of order inside a toss-up, on a page
MOST = 3  # of those that are best in some cells, how many the verdict names
COLORS = ("blue", "yellow", "green", "red", "magenta", "cyan")  # of topologies, in the order of their declaration
SIGNS: dict[Outside, str] = {"not reached": ".", "met at the start": "0", "says nothing": "?"}
METHODS = {
    "solved": "Solved exactly, so nothing is missed",
    "counted": "Every whole number of the range looked at",
    "enclosed": "Enclosed between the values at the ends of intervals",
    "looked at": "Sampled: a change between two samples may be missed",
}
WORDS = Column("parameter"), Column("now"), Column("break-even"), Column("beyond it"), Column("method")
COLUMNS = (*WORDS[:3], *numeric("away"), *WORDS[3:])
DETAILS = (*COLUMNS, *numeric("rounds", "time", "traffic", "toss-up from", "beaten from", "bounds equal at"))


def document(answer: Flips) -> Document:
    """Lay every change of the answer out, the nearest first."""
    rows, lines = (tuple(in_terms_of(answer.metric, one) for one in some) for some in (answer.rows, answer.flip.lines))
    answer = answer.replaced(rows=rows, flip=answer.flip.replaced(lines=lines))
    tossed, on, sections = _differ(answer), answer.words(answer.verdict.on), tuple(_sections(answer))

    def laid(shown: int) -> Document:
        rows, tables = answer.rows[:shown], []
        for columns, most in ((COLUMNS, 3), (COLUMNS, 2), (COLUMNS[:-1], 2)):
            cells = tuple(_row(answer, row, tossed, most)[: len(columns)] for row in rows)
            tables.append(Table(columns, cells, label="Changes", indent=2, apart=False))
        table = next((one for one in tables if one.width() <= WIDE), tables[-1])
        own: dict[str, Any] = {"label": lambda case: f"{on} {case.value}", "facts": _facts(answer, shown)}
        own["without"] = ("Assumed", "Changes") if rows else ()  # the table says them
        return page(answer, [table] if rows else [], sections, kind="Changes", **own)

    return first_that_fits(laid(shown) for shown in range(SHOWN, FEWEST - 1, -1))


def _differ(answer: Flips) -> bool:
    """Whether all topologies are algorithms of their own, as where a tier has several children."""
    return all(known.value != 1 for name, known in answer.scenario.items() if name in ("G", "M"))


def _row(answer: Flips, row: Change, tossed: bool, most: int = 4) -> tuple[str, ...]:
    """Cells of a change; beyond it so many topologies are named at most, where ``tossed`` several as a toss-up."""
    now = row.now if isinstance(row.now, str) else format_amount(row.now, row.unit)
    beyond = one_of(row.best_beyond, most) if row.best_beyond else "target not reached"
    beyond = unserved_in(answer, beyond, row.parameter, row.break_even)
    beyond += " alone" * row.alone
    if tossed and row.method == "setting" and len(row.best_beyond) > 1:
        beyond = f"toss-up, {beyond.removesuffix(' topologies')}"
    elif row.best_beyond[1:] and row.best_beyond[0] in answer.flip.first:
        beyond = f"toss-up with {one_of(row.best_beyond[1:], most)}"
    elif row.best_beyond and not (row.alone or row.method == "setting"):
        beyond += f" lead{'s' * (len(row.best_beyond) == 1)}"  # and may be in a toss-up there too
    at = _from(row, row.break_even)
    if row.last is not None:
        ends = dict.fromkeys(format_break_even(end, row.unit) for end in sorted((row.break_even, row.last)))
        at = f"{'from' if len(ends) > 1 else '='} {' to '.join(ends)}"
    return answer.words(row.parameter), f"{now}{'?' * row.assumed}", at, _away(row) or "-", beyond, row.method


def _away(row: Change) -> str:
    """How far a change is; empty where no factor says."""
    return "" if row.distance is None else times(math.exp(abs(row.distance)))


def _from(row: Change, at: float | int | str) -> str:
    """Where a change is: ``< 545 kbit/s``, ``>= 20``, or another word."""
    if isinstance(at, str):
        return at
    sign = ">" if at > float(row.now) else "<"
    return f"{sign}{'=' * isinstance(at, int)} {format_break_even(at, row.unit)}"


def _facts(answer: Flips, shown: int) -> Iterator[tuple[str, str]]:
    yield from _inside(answer)
    if left := answer.rows[shown:]:
        near = [answer.words(row.parameter) for row in left if _away(row) and _away(row) == _away(answer.rows[0])]
        also = f", {', '.join(near)} as near" if near else ""
        yield "More", f"{counted(len(left), 'change')}{also}: --explain break-even"
    if tossed := _tossed(answer):
        yield "Toss-up", f"around break-evens: {tossed}"
    if still := _unchanged(answer):
        which = ", ".join(answer.words(line.parameter) for line in still)
        which = which if len(still) <= 3 else counted(len(still), f"{'other ' * bool(answer.rows)}parameter")
        first = "" if len(answer.flip.first) < 2 else "no topology outside the toss-up leads "
        yield "No change", f"{first}within 1000x (counts 100x): {which}"
    yield from _held(answer)
    if (moved := answer.flip.with_sigma) and any(row.parameter == "sigma" for row in answer.rows):
        yield "Sigma", f"moves {join_with_limit(moved)} with it, which are multiples of it"
    if apart := _in_proportion(answer):
        yield "Links", f"{join(apart)}: the uplink, with the downlink in proportion"
    yield from shortened_to("Limits", list(_limits(answer)))


def _in_proportion(answer: Flips) -> list[str]:
    """Links that are followed both ways at once, and have two rates."""
    both = (line.parameter.removesuffix("rate") for line in answer.flip.lines if line.parameter.endswith(".rate"))
    rates = {link: [answer.scenario[f"{link}{part}"].value for part in ("up", "down")] for link in both}
    return [answer.words(f"{link}rate") for link, (up, down) in rates.items() if up != down]


def _limits(answer: Flips) -> Iterator[str]:
    for why, names in _unmoved(answer).items():
        which = ", ".join(names) if len(names) <= 3 else f"{len(names)} parameters"
        yield f"{which} not followed: {why}"
    if sampled := [answer.words(line.parameter) for line in answer.flip.lines if line.method == "looked at"]:
        verb = "is" if len(sampled) == 1 else "are"
        which = join_with_limit(sampled, 2 if answer.tier_names else 6)
        yield f"{which} {verb} sampled: a change between two samples may be missed"
    if answer.flip.predictor == "pilot":
        yield "R and the target are followed to 100 times the rounds of the pilot"


def _tossed(answer: Flips) -> str:
    """Between which values the present best and the next are a toss-up, on the way to each change and beyond it."""
    found = []
    for row in sorted(answer.rows, key=lambda row: math.inf if row.turned is None else abs(row.turned)):
        if row.toss_up is None:
            continue
        both = sorted(end for end in (row.toss_up, row.tossed) if end is not None)
        ends = dict.fromkeys(format_break_even(end, row.unit) for end in both)
        where = _from(row, row.toss_up) if row.tossed is None else " to ".join(ends)
        found.append(f"{answer.words(row.parameter)} {where}")
    more = f"; {len(found) - AROUND} more: --explain break-even" if len(found) > AROUND else ""
    return ", ".join(found[:AROUND]) + more


def _inside(answer: Flips) -> Iterator[tuple[str, str]]:
    """Say which of a toss-up is predicted to be first, and where another of it is, the nearest of these first."""
    if answer.verdict.status == "best" or len(answer.flip.first) < 2:
        return
    leader, found = answer.flip.first[0], list[tuple[float, str]]()
    for line in answer.flip.lines:
        for side in (-1, 1):
            away = [s for s in line.stretches if (s.low > line.now if side > 0 else s.high < line.now)][::side]
            beyond = next((s for s in away if s.topologies and leader not in s.topologies), None)
            if beyond is None or not set(beyond.topologies) <= set(answer.flip.first):
                continue
            at = beyond.low if side > 0 else beyond.high
            near = abs(math.log(at / line.now)) if at > 0 and line.now > 0 else math.inf
            where = f"{'above' if side > 0 else 'below'} {format_break_even(at, line.unit)}"
            if isinstance(at, int):
                where = f"{at:,} or {'more' if side > 0 else 'less'}"
            if beyond is not away[-1]:  # others follow
                ends = dict.fromkeys(format_break_even(end, line.unit) for end in (beyond.low, beyond.high))
                where = " to ".join(ends)
            found.append((near, f"{names_or(beyond.topologies)} with {answer.words(line.parameter)} {where}"))
    if found:
        most = INSIDE if len(answer.rows) < SHOWN - 2 else 1  # a page has 25 lines
        nearest = [words for _, words in sorted(found)[:most]]
        more = f"; {len(found) - most} more: --explain stretches" if len(found) > most else ""
        yield "Toss-up", f"{title(leader)} leads as it is; {', '.join(nearest)}{more}"


def _held(answer: Flips) -> Iterator[tuple[str, str]]:
    """Say which inputs are followed to the present target, and which move it; nothing where it is a number."""
    held, moving = answer.flip.held, answer.flip.moving
    if answer.tier_names:  # the names of all are many words
        held, moving = (held and ("counts",)), (moving[:1] and ("sigma and deviations",))
    aim = None if answer.target is None else answer.target.value
    typed = f"{aim:.3g}" if answer.metric == "accuracy" or aim is None else target_option(aim)
    value = "its present value" if aim is None else f"{typed}, as now"
    one = [len(some) == 1 and not answer.tier_names for some in (held, moving)]
    said = [f"{', '.join(held)} {'is' if one[0] else 'are'} followed at {value}"] * bool(held)
    said += [f"{', '.join(moving)} move{'s' * one[1]} it"] * bool(moving)
    if held:
        yield "Target", "; ".join(said)


def _unchanged(answer: Flips) -> list[Line]:
    changed = {row.parameter for row in answer.rows}
    return [line for line in answer.flip.lines if line.parameter not in changed]


def _unmoved(answer: Flips) -> dict[str, list[str]]:
    """The inputs that were not followed, by reason."""
    by: dict[str, list[str]] = {}
    for name, why in answer.flip.unmoved.items():
        by.setdefault(why, []).append(answer.words(name))
    return by


def _sections(answer: Flips) -> Iterator[Section]:
    rows = tuple((*_row(answer, row, _differ(answer)), *_amounts(row)) for row in answer.rows)
    whole = Table(DETAILS, rows, label="Changes, nearest first", indent=2, apart=False)
    filled = [i for i, column in enumerate(zip(*whole.texts(), strict=True)) if {*column} != {"-"}]
    none = Sentences("No input has one in the range that was looked at: --explain unchanged.", indent=2)
    yield Section("break-even", "Break-even points", (whole.of(filled) if rows else none,))
    still = "No change along" if len(answer.flip.first) < 2 else "No topology outside the toss-up leads along"
    ties = f"Ranges in which a topology is best, or within {percent(answer.flip.resolution)} of it"
    texts = {
        ("stretches", ties): _stretches(answer),
        ("unchanged", still): (
            f"{answer.words(n.parameter)}: {format_amount(n.low, n.unit)} to {format_amount(n.high, n.unit)}"
            f"{', though ties change within' * (len(n.stretches) > 1)}"
            for n in _unchanged(answer)
        ),
        ("settings", "Other settings"): (_setting(one, answer) for one in answer.flip.settings),
        ("limits", "How each parameter was followed"): _methods(answer),
        ("warnings", "Warnings"): (one.text for one in answer.warnings),
    }
    for (id_, heading), said in texts.items():
        yield Section.said(id_, heading, said)


def _amounts(row: Change) -> tuple[Cell, ...]:
    ends = (None if at is None else format_amount(at, row.unit) for at in (row.toss_up, row.beaten))
    return *amounts(row), *ends, None if row.crossing is None else f"{row.crossing:.4g}"


def _stretches(answer: Flips) -> Iterator[str]:
    """Lines with more than one stretch, in words."""
    if all(len(line.stretches) < 2 for line in answer.flip.lines):
        yield "The same topologies are best along the whole range of every input that was followed."
    for line in answer.flip.lines:
        if len(line.stretches) > 1:
            parts = [
                f"{join_names(s.topologies) if s.topologies else 'target not reached'} "
                + " to ".join(dict.fromkeys(format_amount(end, line.unit) for end in (s.low, s.high)))
                for s in line.stretches
            ]
            yield f"{answer.words(line.parameter)}: {'; '.join(parts)}"


def _setting(one: Setting, answer: Flips) -> str:
    change = f"{answer.words(one.parameter)} {one.other} in place of {one.now}: "
    if not one.best:
        return change + "the target is not reached"
    best = "the best stays" if set(one.best) == set(answer.flip.first) else names_or(one.best)
    best = unserved_in(answer, best, one.parameter, one.other)
    return f"{change}{best}; rounds, time, traffic: {', '.join(amounts(one))}"


def _methods(answer: Flips) -> Iterator[str]:
    """How each input was followed, and what that vouches for."""
    order = list(METHODS)
    ways = dict.fromkeys((line.method, line.note) for line in answer.flip.lines)
    for method, note in sorted(ways, key=lambda way: order.index(way[0])):
        there = [line for line in answer.flip.lines if (line.method, line.note) == (method, note)]
        widest = max(line.unseen for line in there)
        words = METHODS[method]
        if method == "enclosed":
            words += (
                f": a change of the tie for best that lasts over {widest:.2g} of the value cannot hide"
                if widest
                else ": no change of the tie for best can hide"
            )
        if method == "looked at":
            words += f"; the widest step is {widest:.2g} of the value ({note})"
        yield f"{words}: {', '.join(answer.words(line.parameter) for line in there)}."
    for why, names in _unmoved(answer).items():
        yield f"Not followed, {why}: {', '.join(names)}."


def letters(tied: Sequence[str]) -> str:
    """The first letter of every tier's pattern, such as SR; a star for a tier in which those that tie differ."""
    tiers = zip(*(Topology.parse(topology).patterns for topology in tied), strict=True)
    return "".join(tier[0].id[0].upper() if len(set(tier)) == 1 else "*" for tier in tiers)


def map_document(found: Phase) -> Listing:
    """Say which topology is best over two inputs."""
    by, (x, y) = found.objective, (found.x, found.y)
    says = f"Best topology by {by}, over {x.words} (across) and {y.words} ({source(found)})"
    upwards = range(len(y.values))
    rows = tuple(
        (format_amount(y.values[i], y.unit), tuple(_cell(found, i, j) for j in range(len(x.values))))
        for i in reversed(upwards)
    )
    at = _at(found)
    here = None if at is None else (len(upwards) - 1 - at[0], at[1])
    figure = Figure(says, rows, tuple(format_amount(value, x.unit) for value in x.values), here)
    cells = Counter(tied for row in found.tied for tied in row)
    parts = [f"{one_of(tied) or 'none'} in {share(n / cells.total())}" for tied, n in cells.most_common(MOST)]
    parts[0] = parts[0] + " of the cells" if len(cells) > 1 else f"{one_of(next(iter(cells))) or 'none'} in all cells"
    answer = listing("flip-map", f"{says}: {', '.join(parts)}.", found.to_json(), found.rows())
    return brief(answer, [figure, *map(Sentences, _legend(found))], kind="Map of the best topology")


def _legend(found: Phase) -> list[str]:
    named: dict[str, list[str]] = {}
    for ties in sorted({t for row in found.tied for t in row if t}, key=lambda t: (len(t), letters(t))):
        named.setdefault(letters(ties), []).append(join_names(ties))
    said = [", ".join(f"{sign} {who[0] if len(who) == 1 else 'several'}" for sign, who in named.items())]
    said[0] += f"; a star: both, within {percent(found.resolution)}." if any("*" in sign for sign in named) else "."
    present = {reason for row in found.outside for reason in row if reason}
    for reason, words in OUTSIDE.items():
        if reason in present:
            said.append(f"{_mark(SIGNS[reason], found) if reason in SIGNS else 'small letters'}: {words}.")
    there = "which lies outside"
    if at := _at(found):
        i, j = at
        there = f"in the cell of {_place(found, found.x.values[j], found.y.values[i])}"
        there += f": {join_names(found.tied[i][j])}" if found.tied[i][j] else ""
    here = f"[{' ' * (len(_mark('S', found)) - 2)}]"
    said.append(f"{here} the scenario: {_place(found, found.x.now, found.y.now)}, {there}.")
    return [*said, "Cells are by prediction alone: what its error leaves open is not marked."]


def _mark(sign: str, found: Phase) -> str:
    """A sign as wide as every mark: one letter for each tier, and two at least."""
    wide = max(2, Topology.parse(found.among[0]).depth)
    return sign.ljust(wide) if sign.isalpha() or "*" in sign else sign * wide


def _cell(found: Phase, i: int, j: int) -> tuple[str, str]:
    first, reason = found.first[i][j], found.outside[i][j]
    if first is None or reason in SIGNS:
        return _mark(SIGNS[reason or "not reached"], found), "dim"
    tied = found.tied[i][j]
    shown = _mark(letters(tied), found)
    order = list(all_topologies(Topology.parse(first).depth))
    color = COLORS[order.index(first) % len(COLORS)]
    return shown.lower() if reason else shown, color if len(tied) == 1 else ""


def _place(found: Phase, x: float, y: float) -> str:
    """Values of the two inputs in words."""
    each = ((found.x, x), (found.y, y))
    return ", ".join(f"{axis.words} {format_amount(value, axis.unit)}" for axis, value in each)


def _at(found: Phase) -> tuple[int, int] | None:
    """The cell nearest to the scenario by ratio, upwards and across; None where it lies beyond them."""
    cell = []
    for axis in (found.y, found.x):
        if not axis.values[0] <= axis.now <= axis.values[-1]:
            return None
        apart = [max(value / axis.now, axis.now / value) for value in axis.values]
        cell.append(apart.index(min(apart)))
    return cell[0], cell[1]
