"""For a terminal: as wide as it is, in bold and in colours; and the same without them, 80 columns wide, for pipes."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from planner.report.document import COLUMNS, Block, Document, Facts, Figure, Heading, Table

LINES, WORDS = 25, 220  # of a page
LEAST, LOW = 40, 10  # columns of a terminal, and lines of a figure, at least
STEERING = dict.fromkeys(map(ord, "\a\b\v\f\r"))  # a terminal obeys them
ANSI = {"bold": 1, "dim": 2, "reverse": 7, "red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}
ANSI["warning"] = ANSI["yellow"]
SUFFIX = ".txt"

Line = Sequence[tuple[str, str]]
"""Texts side by side, each with its style."""


def render(document: Document, *, width: int, color: bool) -> str:
    """The blocks for a terminal of this width; in a pipe (no colour asked for) of 80 columns."""
    lines: list[Line] = [[(title, "bold")]] if (title := document.answer.title) else []
    terminal = max(LEAST, width) if color else None
    others = sum(len(list(_lines_of(one, terminal))) for one in document.blocks if not isinstance(one, Figure))
    for block in document.blocks:
        lines.extend(_lines_of(block, terminal, max(LINES - bool(title) - others, LOW)))
    return "\n".join(text for line in lines for text in _written(line, color)) + "\n"


def first_that_fits(pages: Iterable[Document]) -> Document:
    """Return the first of several pages of an answer with no more lines and words than one may have, or the last."""
    for found in pages:
        text = render(found, width=COLUMNS, color=False)
        if text.count("\n") <= LINES and len(text.split()) <= WORDS:
            return found
    return found


def _lines_of(block: Block, terminal: int | None, high: int = LINES) -> Iterator[Line]:
    """A block as lines, for a terminal so wide, None for a pipe; a figure on so many lines, others on all theirs."""
    if isinstance(block, Table):
        whole = block if terminal is None else _spared(block, terminal - block.indent)
        for part in () if block.detail else whole.fitted(terminal or COLUMNS):
            yield from _heading(part.heading) if part.apart else ()
            yield from ([(" " * part.indent + text, style)] for text, style in _grid(part))
    elif isinstance(block, Figure):
        yield from block.lines(terminal or COLUMNS, high)
    elif isinstance(block, Facts):
        yield from ([(label, "dim" if block.strong else ""), (text, "")] for label, text in block.lines())
    elif isinstance(block, Heading):
        yield from _heading(block.text)
    else:
        yield from ([(text, block.style)] for text in block.lines())


def _heading(text: str) -> Iterator[Line]:
    yield [("", "")]
    if text:
        yield from ([(line, "bold")] for line in (textwrap.wrap(text, COLUMNS) if len(text) > COLUMNS else [text]))


def _spared(table: Table, width: int) -> Table:
    """The columns that fit: whole columns go, the least needed first, all of a name together."""
    names = [column.name for column in table.columns]
    widths = [max(map(len, texts)) + 2 for texts in zip(names, *table.texts(), strict=True)]
    kept = list(range(len(names)))
    for name in table.spared:
        if sum(widths[i] for i in kept) > width:
            kept = [i for i in kept if names[i] != name]
    return replace(table.of(kept), above=tuple((sum(i < place for i in kept), text) for place, text in table.above))


def _grid(table: Table) -> Iterator[tuple[str, str]]:
    """Columns side by side, each as wide as its widest cell: lines, and their styles."""
    rows = [[_lines(cell) for cell in row] for row in ([column.name for column in table.columns], *table.texts())]
    widths = [max(_width(line) for cell in column for line in cell) for column in zip(*rows, strict=True)]
    if table.above:  # names of groups, each over the first of its columns
        above = ""
        for place, text in table.above:
            above = above.ljust(sum(width + 2 for width in widths[:place])) + text
        yield above, "dim"
    for number, row in enumerate(rows, -1):
        style = "dim" if number < 0 else "bold" if number in table.best else ""
        for line in zip_longest(*row, fillvalue=""):
            cells = []
            for text, width, column in zip(line, widths, table.columns, strict=True):
                blanks = " " * (width - _width(text))
                cells.append(blanks + text if column.right else text + blanks)
            yield "  ".join(cells), style


def _written(line: Line, color: bool) -> Iterator[str]:
    """A line with its styles, or without; a text of several lines stands alone in one."""
    whole = "".join(text for text, _ in line)
    if not color or len(line) == 1:
        style = line[0][1] if color else ""
        yield from (_styled(text.rstrip(), style) for text in _lines(whole))
    else:
        left, told = len(whole.rstrip()), ""
        for text, style in line:
            told += _styled(text[: max(left, 0)].translate(STEERING), style)
            left -= len(text)
        yield told


def _styled(text: str, style: str) -> str:
    return f"\x1b[{ANSI[style]}m{text}\x1b[0m" if text and style else text


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
