"""What ``hfl-plan bounds compare|plot`` answers, from ids and options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hflbounds import figure
from hflbounds.comparable import listed
from hflbounds.comparison import Comparison, compare
from planner import plot as pictures
from planner.errors import ScenarioError
from planner.io import text
from planner.io.listings import Listing, listing
from planner.io.progress import progress
from planner.report.answers import bound_options as options
from planner.report.document import Block, Column, Section, Sentences, Table, numeric
from planner.report.page import brief

COMMON = ("smaller", "left", "right")  # at a common step
CONDITION = 78  # letters of a condition on a page
CAPS = ("own", "none", "common")
LARGEST = 1e100  # of a number; algebra with larger ones takes minutes
SHOWN = 9  # values of the quantity in the table of a plot


def compared(
    first: str,
    second: str,
    over: str | None,
    span: str | None,
    settings: Sequence[str],
    *,
    tuned: bool = False,
    cap: str = "own",
    assume_both: bool = False,
) -> Listing:
    """When one bound is smaller than another.

    Raises:
        UnknownBoundError: for an id that there is not, naming the nearest.
        ScenarioError: for options that cannot be meant, and bounds that have no common order.
        NoAnswerError: where a bound says nothing at the numbers given.
    """
    a, b = (options.bound_named(name) for name in (first, second))
    values = options.numbers(settings)
    options.heeded(values, (a, b))
    if huge := [name for name, value in values.items() if isinstance(value, float) and value > LARGEST]:
        raise ScenarioError(f"--set: {huge[0]} is above {LARGEST:g}. Give a smaller number.", code="E021")
    if span is not None and over is None:
        raise ScenarioError("--range: it is of the quantity of --over. Name that too.")
    asked = _asked(span, cap)
    progress("looking for the exact condition")
    with options.refusals("--over", over, (a, b), values):
        found = compare(a, b, over=over, tuned=tuned or None, assume_both=assume_both, **asked, **values)
    return _page(found)


def _page(found: Comparison) -> Listing:
    first, *others = found.sentences()
    cells = found.rows()
    names = [*cells[0]] if cells else []
    over = names[:1]
    rows = [dict(zip(("id", "first", "second", "ratio"), row.values(), strict=True)) for row in cells]
    following = options.following(found.lacking)
    answer = listing("bounds-compare", first, found.as_data(), rows, warnings=found.notes, next=following)
    blocks: list[Block] = [Sentences(text) for text in others]
    if cells:
        columns = numeric(*over, "first", "second", "first/second")
        best = frozenset(i for i, row in enumerate(cells) if row[names[0]] in found.crossings)
        shown = tuple(tuple(_six(value) for value in row.values()) for row in cells)
        label = "each at its best step" if found.tuned else "at the step given"
        blocks.append(Table(columns, shown, label=label, best=best, indent=2))
        blocks += _silent(shown)
    tex = found.inequality() or found.equality()
    inequality = options.formula(tex) if tex else ""
    what = "the first is smaller exactly where" if found.inequality() else "the two are equal only where"
    condition = Table((Column(what),), ((inequality,),), indent=2, apart=False)
    short = [condition] * (0 < len(inequality) <= CONDITION)
    long = [("Condition", f"{what}: --explain condition")] * (len(inequality) > CONDITION)
    facts = [("First", found.first.id), ("Second", found.second.id)] * bool(cells or inequality) + long
    facts += [("Crossings", listed([f"{x:.10g}" for x in found.crossings]))] * bool(found.crossings)
    whole = Section("condition", "Condition", (condition,) * bool(inequality))
    return brief(answer, [*short, *blocks], facts=facts, sections=[whole], records=_records(found), kind="Bounds")


def _records(found: Comparison) -> tuple[dict[str, Any], ...]:
    if rows := found.rows():
        return tuple(rows)
    data = found.as_data()
    there, common = data["value"] or {"first": None, "second": None}, data["at_a_common_step"]
    own = {"value_of_first": there["first"], "value_of_second": there["second"]}
    return ({**{name: data[name] for name in ("first", "second")}, **{n: common[n] for n in COMMON}, **own},)


def plotted(
    ids: Sequence[str], over: str, span: str | None, settings: Sequence[str], output: Path, *, cap: str, force: bool
) -> Listing:
    """Draw bounds against a quantity, and write the picture and its numbers.

    Raises:
        UnknownBoundError: for an id that there is not, naming the nearest.
        ScenarioError: for options that cannot be meant, and bounds that have no common axis.
        NoAnswerError: if matplotlib is not installed, no bound applies, or a file cannot be written.
    """
    if not ids:
        raise ScenarioError("bounds plot: name one or more ids, or a family.")
    bounds = options.bounds_named(ids)
    values = options.numbers(settings)
    options.heeded(values, bounds)
    pictures.checked(output, force)
    asked = _asked(span, cap)
    with options.refusals("--over", over, bounds, values):
        found = figure.curves(bounds, over, **asked, **values)
    with pictures.style():
        picture, numbers = pictures.save(found.figure, output, found.rows, says=found.says, force=force)
    own = {
        "bounds": list(found.y),
        "metric": bounds[0].bounds.id,
        "over": over,
        "range": [found.line.low, found.line.high],
        "tuned": found.line.tuned,
        "values": dict(found.line.values),
        "crossings": [{"first": a, "second": b, over: x, "value": y} for a, b, x, y in found.crossings],
        "picture": str(picture),
        "data": str(numbers),
    }
    table = _table(found)
    answer = listing("bounds-plot", found.says, own, found.rows)
    facts = [("Written", f"{picture} and its numbers, {numbers}")]
    return brief(answer, [table, *_silent(table.rows)], facts=facts, kind="Bounds")


def _silent(cells: Sequence[Sequence[Any]]) -> list[Block]:
    """Why a table has empty cells."""
    if not any(cell is None for row in cells for cell in row):
        return []
    return [Sentences("Without a number: the conditions of the bound do not hold there; mostly the step is too large.")]


def _table(found: figure.Curves) -> Table:
    """Some of the points."""
    every = max(1, (len(found.x) - 1) // (SHOWN - 1))
    rows = [
        (_six(float(found.x[i])), *(_six(float(values[i])) for values in found.y.values()))
        for i in range(0, len(found.x), every)
    ]
    return Table(numeric(found.line.over, *found.y), tuple(rows), label="bounds")


def _six(number: float | str | None) -> str | None:
    """A number to six digits; nothing for what is none."""
    return None if number is None or number != number else f"{number:.6g}" if isinstance(number, float) else number


def _asked(span: str | None, cap: str) -> dict[str, Any]:
    """Read the ``range`` and the ``cap`` of a comparison or a picture."""
    ends = None
    if span is not None:
        low, sign, high = span.partition(":")
        if not sign:
            raise ScenarioError(f"--range: {span!a:.40} is not a range. Write 0.1:10.", code="E024")
        ends = text.number(low.strip(), "--range", zero=True), text.number(high.strip(), "--range")
    word = re.fullmatch(r"[a-z]+", cap) is not None
    return {"range": ends, "cap": text.one_of(cap, CAPS, "--cap") if word else text.number(cap, "--cap")}
