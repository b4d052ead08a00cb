"""For a terminal; and the same without colours, 80 columns wide, for pipes."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from planner.report.document import COLUMNS, Block, Document, Facts, Figure, Heading, Table

WIDEST = 10_000  # columns of a figure
STEERING = dict.fromkeys(map(ord, "\a\b\v\f\r"))  # a terminal obeys them
SUFFIX = ".txt"


def render(document: Document, *, width: int, color: bool) -> str:
    """The blocks for a terminal of this width; in a pipe (no colour asked for) of 80 columns."""
    if color:
        from planner.report import terminal

        return terminal.render(document, width=width)
    texts = [document.title] if document.title else []
    for block in document.blocks:
        texts.extend(_texts(block))
    return "\n".join(line.rstrip() for text in texts for line in _lines(text)) + "\n"


def _texts(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        for part in () if block.detail else block.fitted(COLUMNS):
            yield from _heading(part.heading) if part.apart else ()
            yield from (" " * part.indent + line for line in _grid(part))
    elif isinstance(block, Figure):
        yield from ("".join(text for text, _ in line) for line in block.lines(WIDEST))
    elif isinstance(block, Facts):
        yield from [""] * (block.apart and bool(block.entries))
        yield from (label + text for label, text in block.lines())
    elif isinstance(block, Heading):
        yield from _heading(block.text)
    else:
        yield from block.lines()


def _heading(text: str) -> Iterator[str]:
    yield ""
    if text:
        yield from textwrap.wrap(text, COLUMNS) if len(text) > COLUMNS else [text]


def _grid(table: Table) -> Iterator[str]:
    """Columns side by side, each as wide as its widest cell."""
    rows = [[_lines(cell) for cell in row] for row in ([column.name for column in table.columns], *table.texts())]
    widths = [max(_width(line) for cell in column for line in cell) for column in zip(*rows, strict=True)]
    if table.above:
        yield table.headings_above(widths)
    for row in rows:
        for line in zip_longest(*row, fillvalue=""):
            yield "  ".join(_aligned(line, widths, [column.right for column in table.columns]))


def _aligned(line: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> Iterator[str]:
    for text, width, to_the_right in zip(line, widths, right, strict=True):
        blanks = " " * (width - _width(text))
        yield blanks + text if to_the_right else text + blanks


def _lines(text: str) -> list[str]:
    """The lines of a text; an empty one has one."""
    return [_untabbed(line) for line in text.translate(STEERING).split("\n")]


def _untabbed(line: str) -> str:
    first, *others = line.split("\t")
    for other in others:
        first += " " * (8 - _width(first) % 8) + other
    return first


def _width(text: str) -> int:
    """Columns of a terminal that a text takes: wide letters take two, marks on another letter none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
