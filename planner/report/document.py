"""An answer as blocks: what is said, and in which order. The formats of `planner.report.render` decide how it looks.

>>> table = Table((Column("topology"), Column("time", "duration")), (("Star-Star", 5400.0), ("Ring-Ring", None)))
>>> table.texts()
[('Star-Star', '1 h 30 min'), ('Ring-Ring', '-')]
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from planner.io.answers import Answer
from planner.io.wording import percent
from planner.scenario.units import format_duration, format_rate, format_size


class Typeset(str):
    """Text for people that has LaTeX of its own, as a formula has."""

    __slots__ = ("latex",)
    latex: str

    def __new__(cls, text: str, latex: str) -> Typeset:
        """Keep the text as a string, and its LaTeX beside it."""
        made = super().__new__(cls, text)
        made.latex = latex
        return made


class Amount(str):
    """Text of a number, which formats that sort rows or draw bars read."""

    __slots__ = ("number",)
    number: float

    def __new__(cls, text: str, number: float) -> Amount:
        """Keep the text as a string, and its number beside it."""
        made = super().__new__(cls, text)
        made.number = float(number)
        return made


Cell = str | float | None
Kind = Literal["text", "count", "number", "share", "duration", "size", "rate"]
Style = Literal["", "bold", "dim", "warning"]

TEXTS: Mapping[Kind, Callable[[Any], str]] = {
    "text": str,
    "count": "{:,}".format,
    "number": "{:.3g}".format,
    "share": percent,
    "duration": format_duration,
    "size": format_size,
    "rate": format_rate,
}


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of what follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Sentences:
    """Text that is broken into lines at `COLUMNS`."""

    text: str
    style: Style = ""
    indent: int = 0

    def lines(self) -> list[str]:
        """Break the text into lines; a line of its own stays one, and a number its per cent."""
        blanks = " " * self.indent
        return [
            line.replace("\xa0%", " %")
            for part in self.text.replace(" %", "\xa0%").split("\n")
            for line in textwrap.wrap(part, COLUMNS, initial_indent=blanks, subsequent_indent=blanks, **UNBROKEN)
            or [""]
        ]


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with a text each, which hangs beside them; a label that is empty goes on with the one before."""

    entries: tuple[tuple[str, str], ...]  # labels and texts
    indent: int = 0  # blanks before each label
    strong: bool = True  # whether the labels stand out

    def lines(self) -> list[tuple[str, str]]:
        """Break the entries into lines: label, padded, and text."""
        width = max((len(label) for label, _ in self.entries), default=0) + 2
        found = []
        for label, text in self.entries:
            left = " " * self.indent + label.ljust(width)
            for part in text.split("\n"):
                for line in textwrap.wrap(part, max(COLUMNS - len(left), 20), **UNBROKEN) or [""]:
                    found.append((left, line))
                    left = " " * len(left)
        return found


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; cells that are texts already, such as ``10 Mbit/s``, stay as they are."""

    name: str
    kind: Kind = "text"  # of cells, in SI units; text is aligned to the left, everything else to the right
    left: bool = False  # whether it is aligned to the left whatever it holds

    @property
    def right(self) -> bool:
        """Whether the cells are aligned to the right."""
        return self.kind != "text" and not self.left

    def text(self, cell: Cell) -> str:
        """Write a cell for people; a dash where there is nothing."""
        if cell is None:
            return "-"
        return cell if isinstance(cell, str) else TEXTS[self.kind](cell)


def typed(kind: Kind, *names: str) -> tuple[Column, ...]:
    """Return columns of one kind."""
    return tuple(Column(name, kind) for name in names)


numeric = partial(typed, "number")  # mostly of numbers that are written already


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of typed columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    heading: str = ""  # above the table
    label: str = ""  # says what the table shows where there is no heading, for formats that need a caption
    best: frozenset[int] = frozenset()  # rows that stand out
    spared: tuple[str, ...] = ()  # columns that go where a terminal is too narrow, the least needed first
    indent: int = 0  # blanks before each line in a terminal
    detail: bool = False  # whether a terminal leaves it out
    above: tuple[tuple[int, str], ...] = ()  # over the headings, names of groups of columns: first column, text
    apart: bool = True  # whether an empty line comes before

    def headings(self) -> list[str]:
        """Name each column, with the name of its group where there is one: for formats with one line of headings."""
        names, places = [column.name for column in self.columns], [*(p for p, _ in self.above), len(self.columns)]
        for (place, group), end in zip(self.above, places[1:], strict=True):
            names[place:end] = [f"{name}, {group}".strip(", ") for name in names[place:end]]
        return names

    def width(self) -> int:
        """Count the columns of a terminal that it takes, 2 between two of its own."""
        cells = zip([column.name for column in self.columns], *self.texts(), strict=True)
        return self.indent + sum(max(map(len, column)) + 2 for column in cells) - 2

    def fitted(self, most: int) -> Iterator[Table]:
        """Break the widest columns of sentences into lines, or the columns into tables, where it is too wide."""
        over = self.width() - most
        texts = [self.headings(), *self.texts()]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)] if self.columns else []
        wordy = [i for i, c in enumerate(self.columns) if not c.right and any(" " in row[i] for row in texts[1:])]
        share = {i: widths[i] for i in wordy}
        for _ in range(over if wordy else 0):
            share[max(wordy, key=share.__getitem__)] -= 1
        if over <= 0 or self.above or len(self.columns) < 2:
            yield self
        elif wordy and all(share[i] >= min(NARROWEST, widths[i]) for i in wordy):
            cells = [[*row] for row in texts]
            for row, i in itertools.product(cells, wordy):
                if share[i] < widths[i]:
                    whole = re.sub(r"\[[^\]]*\]", lambda found: found[0].replace(" ", "\xa0"), row[i])  # an interval
                    row[i] = "\n".join(textwrap.wrap(whole, share[i], break_on_hyphens=False)).replace("\xa0", " ")
            columns = [replace(c, name=name) for c, name in zip(self.columns, cells[0], strict=True)]
            yield replace(self, columns=tuple(columns), rows=tuple(map(tuple, cells[1:])))
        else:
            kept, room = [0], most - self.indent - widths[0]
            for i in range(1, len(widths)):
                if widths[i] + 2 > room and len(kept) > 1:
                    break
                kept.append(i)
                room -= widths[i] + 2
            left = [0, *range(kept[-1] + 1, len(widths))]
            yield self.of(kept)
            yield from replace(self.of(left), heading="", apart=True).fitted(most) if len(left) > 1 else ()

    def of(self, places: Sequence[int]) -> Table:
        """Return the table of some of the columns."""
        rows = tuple(tuple(row[i] for i in places) for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in places), rows=rows)

    def texts(self) -> list[tuple[str, ...]]:
        """Write all cells for people."""
        return [tuple(c.text(cell) for c, cell in zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Figure:
    """A grid of marks of one width over two axes, drawn with letters."""

    alternative: str  # what it shows, in words
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]  # from the top: label, and mark and colour of every cell
    ticks: tuple[str, ...]  # labels of the columns
    here: tuple[int, int] | None = None  # row and column of the cell of the scenario; None where it lies outside

    def lines(self, width: int, high: int = 1000) -> list[list[tuple[str, str]]]:
        """Draw as many rows and columns as fit, as lines of texts and their colours; ``reverse`` marks ``here``."""
        margin, wide = max(len(label) for label, _ in self.rows), len(self.rows[0][1][0][0])
        own_row, own = self.here or (None, None)
        room = width - margin - 2 - max(0, len(self.ticks[-1]) - wide)  # the last label begins below its column
        kept = thinned(len(self.ticks), max(2, room // wide), own)
        scenario = (f"[{' ' * (wide - 2)}]", "reverse")
        lines = [
            [
                (f"{self.rows[i][0]:>{margin}} ", ""),
                *(scenario if (i, k) == self.here else self.rows[i][1][k] for k in kept),
            ]
            for i in thinned(len(self.rows), max(2, high - 1), own_row)
        ]
        axis, ends, last = "", 0, len(kept) - 1
        for place in thinned(len(kept), len(kept) if len(kept) <= 2 * TICKS else TICKS):
            at, label = wide * place, self.ticks[kept[place]]
            # else its text would run into the one before, or into the last
            if at >= len(axis) + bool(axis) and (place in (0, last) or at + len(label) < wide * last):
                axis, ends = axis.ljust(at) + label, place
        if ends < last:
            axis = " to ".join(self.ticks[kept[end]] for end in (0, last))
        return [*lines, [(" " * (margin + 1) + axis, "")]]


NARROWEST = 10  # columns of a terminal that sentences are broken at
TICKS = 5  # labels of columns that are shown
COLUMNS = 80  # of a page, on whatever it is shown
UNBROKEN: Any = {"break_long_words": False, "break_on_hyphens": False}
Block = Heading | Sentences | Facts | Table | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """Details that are shown when they are asked for."""

    id: str  # word to ask for it: ``--explain ID``
    heading: str  # above it
    blocks: tuple[Block, ...]  # for people

    @classmethod
    def said(cls, id_: str, heading: str, texts: Iterable[str]) -> Section:
        """Make a section of sentences."""
        return cls(id_, heading, tuple(Sentences(text, indent=2) for text in texts))


@dataclass(frozen=True, slots=True)
class Document:
    """An answer, laid out for people."""

    answer: Answer
    blocks: tuple[Block, ...]
    kind: str = "Answer"  # what it is where the scenario has no title
    sections: tuple[Section, ...] = ()  # details, in their order
    lines: Sequence[Mapping[str, Any]] | None = None  # for a spreadsheet, in place of the records of the answer

    @property
    def name(self) -> str:
        """What is written above it."""
        return self.answer.title or self.kind

    @property
    def table(self) -> Table:
        """The first table; an empty one where there is none."""
        return next((block for block in self.blocks if isinstance(block, Table)), Table((), ()))


def thinned(count: int, most: int, kept: int | None = None) -> list[int]:
    """Return so many of the indices at most, evenly, both ends among them; ``kept`` takes the place of the nearest."""
    if count <= most:
        return list(range(count))
    found = sorted({round(k * (count - 1) / max(most - 1, 1)) for k in range(most)})
    near = None if kept is None else min(found, key=lambda k: abs(k - kept))
    return [kept if kept is not None and k == near else k for k in found]
