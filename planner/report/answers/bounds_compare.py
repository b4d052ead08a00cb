"""What ``hfl-plan bounds compare|plot`` answers, from ids and options."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from hflbounds import figure
from hflbounds.comparable import listed
from hflbounds.comparison import Comparison, compare
from hflbounds.errors import ComparisonError, ConditionError, DomainError
from hflbounds.evaluate.tuning import Cap
from planner import plot as pictures
from planner.errors import NoAnswerError, ScenarioError
from planner.io import text
from planner.report.answers import bound_options as options
from planner.report.document import Block, Column, Document, Items, Note, Paragraph, Table

COMPARE_SCHEMA = "hfl-plan/bounds-compare/1"
PLOT_SCHEMA = "hfl-plan/bounds-plot/1"
CAPS = ("own", "none", "common")
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
) -> Document:
    """When one bound is smaller than another.

    Args:
        first: id of a bound.
        second: id of another.
        over: quantity that is moved.
        span: its range, ``0.1:10``.
        settings: numbers, as ``name=value``.
        tuned: whether to insist on each at its own best step.
        cap: on that step.
        assume_both: whether hypotheses and meanings may differ.

    Raises:
        UnknownBoundError: for an id that there is not, naming the nearest.
        ScenarioError: for options that cannot be meant, and bounds that have no common order.
        NoAnswerError: where a bound says nothing at the numbers given.
    """
    a, b = (options.bound_named(name) for name in (first, second))
    values = options.numbers(settings)
    options.heeded(values, (a, b))
    if span is not None and over is None:
        raise ScenarioError("--range: it is of the quantity of --over. Name that too.")
    asked: dict[str, Any] = {"range": None if span is None else _span(span), "cap": _cap(cap)}
    with _refusals():
        found = compare(a, b, over=over, tuned=tuned or None, assume_both=assume_both, **asked, **values)
    data = {"schema": COMPARE_SCHEMA, **found.as_data(), "rows": found.rows()}
    return Document("", tuple(_blocks(found)), data, _records(found), kind=f"{a.id} against {b.id}")


def _blocks(found: Comparison) -> list[Block]:
    first, *others = found.sentences()
    blocks: list[Block] = [Paragraph(first, "bold"), *map(Paragraph, others)]
    inequality = found.inequality()
    if inequality:
        column = Column("the first is smaller exactly where", wraps=True)
        blocks.append(Table((column,), ((options.formula(inequality),),), "Condition"))
    rows_ = found.rows()
    if rows_:
        over, one, other, ratio = rows_[0]
        columns = (Column(over, "number"), Column(one, "number"), Column(other, "number"), Column(ratio, "number"))
        cells = tuple(tuple(_six(row[name]) for name in (over, one, other, ratio)) for row in rows_)
        best = frozenset(i for i, row in enumerate(rows_) if row[over] in found.crossings)
        label = "each at its best step" if found.tuned else "at the step given"
        blocks.append(Table(columns, cells, label=label, best=best))
        blocks += _silent(cells)
    if found.crossings:
        blocks.append(Note("The order changes at " + listed([f"{x:.10g}" for x in found.crossings]) + "."))
    return [*blocks, Items("Assumptions and sources", found.notes)]


def _records(found: Comparison) -> tuple[dict[str, Any], ...]:
    rows = found.rows()
    if rows:
        return tuple(rows)
    data = found.as_data()
    there = data["value"] or {"first": None, "second": None}
    common = data["at_a_common_step"]
    return (
        {
            **{"first": data["first"], "second": data["second"], "smaller": common["smaller"]},
            **{"left": common["left"], "right": common["right"]},
            **{"value_of_first": there["first"], "value_of_second": there["second"]},
        },
    )


def plotted(
    ids: Sequence[str],
    over: str,
    span: str | None,
    settings: Sequence[str],
    output: Path,
    *,
    cap: str = "own",
    force: bool = False,
) -> Document:
    """Draw bounds against a quantity, and write the picture and its numbers.

    Args:
        ids: of bounds or families.
        over: quantity on the horizontal axis.
        span: its range.
        settings: numbers, as ``name=value``.
        output: FILE.svg, .pdf or .png.
        cap: on the step.
        force: whether to overwrite.

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
    asked: dict[str, Any] = {"range": None if span is None else _span(span), "cap": _cap(cap)}
    with _refusals():
        found = figure.curves(bounds, over, **asked, **values)
    with pictures.style():
        drawn = found.figure
        picture, numbers = pictures.save(drawn, output, found.rows, says=found.says, force=force)
    data = {
        "schema": PLOT_SCHEMA,
        "bounds": list(found.y),
        "metric": bounds[0].bounds.id,
        "over": over,
        "range": [found.line.low, found.line.high],
        "tuned": found.line.tuned,
        "values": dict(found.line.values),
        "crossings": [{"first": a, "second": b, over: x, "value": y} for a, b, x, y in found.crossings],
        "picture": str(picture),
        "data": str(numbers),
        "says": found.says,
    }
    written = Note(f"Written: {picture} and its numbers, {numbers}")
    table = _table(found)
    shown = (Paragraph(found.says), table, *_silent(table.rows), written)
    return Document("", shown, data, tuple(found.rows), kind="Bounds")


def _silent(cells: Sequence[Sequence[Any]]) -> list[Block]:
    """Why a table has empty cells."""
    if not any(cell is None for row in cells for cell in row):
        return []
    return [Note("Without a number: the conditions of the bound do not hold there; mostly the step is too large.")]


def _table(found: figure.Curves) -> Table:
    """Some of the points."""
    every = max(1, (len(found.x) - 1) // (SHOWN - 1))
    columns = (Column(found.line.over, "number"), *(Column(id_, "number") for id_ in found.y))
    rows = [
        (_six(float(found.x[i])), *(_six(float(values[i])) for values in found.y.values()))
        for i in range(0, len(found.x), every)
    ]
    return Table(columns, tuple(rows), label="bounds")


def _six(number: float | str | None) -> str | None:
    """A number to six digits; nothing for what is none."""
    return None if number is None or number != number else f"{number:.6g}" if isinstance(number, float) else number


def _cap(given: str) -> Cap:
    if re.fullmatch(r"[a-z]+", given):
        return cast(Cap, text.one_of(given, CAPS, "--cap"))
    return text.number(given, "--cap")


def _span(given: str) -> tuple[float, float]:
    low, sign, high = given.partition(":")
    if not sign:
        raise ScenarioError(f"--range: {given!a:.40} is not a range. Write 0.1:10.", code="E024")
    return text.number(low.strip(), "--range", zero=True), text.number(high.strip(), "--range")


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """What comparisons raise, as what the command line says."""
    try:
        yield
    except ConditionError as error:
        raise NoAnswerError(f"{error}.") from None
    except (ComparisonError, DomainError, TypeError) as error:
        raise ScenarioError(f"{str(error).rstrip('.')}.", code="E042") from None
