"""Blocks of a document as HTML of a report, which has no style of its own in any element."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from types import MappingProxyType

from planner.report.document import Amount, Block, Cell, Column, Facts, Figure, Heading, Table

BARS = frozenset(("time", "traffic", "airtime", "energy", "carbon", "money", "cost"))  # columns that have them
NONE: Mapping[str, str] = MappingProxyType({})
ASKED = re.compile(r"--explain ([a-z-]+)")
BAR = (
    '<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
    '<rect width="{:.3g}" height="1"/></svg>'
)
WIDE = 200  # columns of a figure


def html(
    blocks: Iterable[Block], title: str = "Answer", sections: Mapping[str, str] = NONE, level: int = 2
) -> Iterator[str]:
    """Write blocks below a heading of a level.

    In a text ``--explain ID`` is what a terminal is asked: in its place stands a link to that of the ``sections``,
    headings by id.

    The ``title`` of the blocks, or else the last heading in them, is what a table without a caption is called to those
    who do not see where it stands.
    """
    for block in blocks:
        if isinstance(block, Table):
            yield from _table(block, title)
        elif isinstance(block, Figure):
            yield from _figure(block)
        elif isinstance(block, Facts):
            named = [f"<dt>{escape(label)}</dt><dd>{_linked(text, sections)}</dd>" for label, text in block.entries]
            yield from ("<dl>", *named, "</dl>") if named else ()
        elif isinstance(block, Heading):
            title = block.text
            yield f"<h{level + 1}>{escape(block.text)}</h{level + 1}>"
        elif block.text.strip():
            kind = f' class="{block.style}"' if block.style else ""
            yield f"<p{kind}>{_linked(block.text, sections)}</p>"


def _linked(text: str, sections: Mapping[str, str]) -> str:
    """Escape a text; where it asks for a section of the report, link to it."""

    def link(found: re.Match[str]) -> str:
        heading = sections.get(found[1])
        return found[0] if heading is None else f'see <a href="#{found[1]}">{escape(heading)}</a>'

    return ASKED.sub(link, escape(text.strip()))


def _figure(block: Figure) -> Iterator[str]:
    yield f'<pre role="img" aria-label="{escape(block.alternative)}" class="figure">'
    for line in block.lines(WIDE):
        spans = ((escape(text), "".join(re.findall("[a-z]+", style))) for text, style in line)
        yield "".join(f'<span class="{style}">{text}</span>' if style else text for text, style in spans)
    yield "</pre>"


def _table(table: Table, title: str) -> Iterator[str]:
    """A table whose columns can be sorted, with a bar in each cell of an amount."""
    caption = table.heading or table.label
    named = escape(caption or title)
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{named}"><table>'
    yield f"<caption>{escape(caption)}</caption>" if caption else ""
    yield "<thead>"
    if table.above:
        places = [place for place, _ in table.above]
        wide = places[1] - places[0] if len(places) > 1 else len(table.columns)  # all groups are as wide as the first
        ends = [*places[1:], min(places[-1] + wide, len(table.columns))]
        yield f'<tr><td colspan="{places[0]}"></td>' if places[0] else "<tr>"
        for (place, text), end in zip(table.above, ends, strict=True):
            yield f'<th scope="colgroup" colspan="{end - place}">{escape(text)}</th>'
        left = len(table.columns) - ends[-1]
        yield f'<td colspan="{left}"></td></tr>' if left else "</tr>"
    names = [f'<th scope="col"{_side(column)}>{escape(column.name)}</th>' for column in table.columns]
    yield f"<tr>{''.join(names)}</tr></thead>"
    yield "<tbody>"
    largest = [_largest(table, i) for i in range(len(table.columns))]
    for i, (row, texts) in enumerate(zip(table.rows, table.texts(), strict=True)):
        cells = zip(table.columns, row, texts, largest, strict=True)
        written = "".join(_cell(*cell, first=k == 0) for k, cell in enumerate(cells))
        yield f'<tr class="best">{written}</tr>' if i in table.best else f"<tr>{written}</tr>"
    yield "</tbody></table></div>"


def _cell(column: Column, cell: Cell, text: str, largest: float, *, first: bool) -> str:
    number = _number(cell)
    sort = "" if number is None else f' data-n="{number!r}"'
    bar = BAR.format(100 * number / largest) if largest > 0 and number is not None and number >= 0 else ""
    tag = 'th scope="row"' if first else "td"
    return f"<{tag}{_side(column)}{sort}>{escape(text)}{bar}</{tag[:2]}>"


def _side(column: Column) -> str:
    return ' class="n"' if column.right else ""


def _number(cell: Cell) -> float | None:
    """The number of a cell, by which rows are sorted."""
    if isinstance(cell, Amount):
        return cell.number
    return float(cell) if isinstance(cell, int | float) else None


def _largest(table: Table, place: int) -> float:
    """Of a column that has bars; 0 for others."""
    column = table.columns[place]
    if column.name not in BARS and column.kind not in ("duration", "size"):
        return 0.0
    found = [number for row in table.rows if (number := _number(row[place])) is not None]
    return max(found, default=0.0) if len(found) > 1 else 0.0
