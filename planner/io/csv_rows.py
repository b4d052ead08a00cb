"""Rows of CSV files with a header: read bounded in size and refused at a place named as file:line:field, and written.

Columns may come in any order. Ids are text: ``001`` and ``1`` are two names, and so is ``NA``. Spaces around a field
are dropped, blank lines skipped.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from planner.errors import ScenarioError
from planner.io.text import LONGEST, NUMBER, capped, suggest

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
LARGEST_FILE = 1 << 28  # bytes
LARGEST_TABLE = 2 * 10**7  # rows times columns of numbers
LARGEST_NAME = 200  # characters of an id
SHOWN = 5  # headings that a refusal lists
DECIMAL_COMMA = re.compile(r"([+-]?[0-9]+),([0-9]+)")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # begins what a spreadsheet would run


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table, with its number in the file; columns are named by their heading or their index."""

    table: CsvTable
    line: int
    fields: list[str]

    def __getitem__(self, column: str | int) -> str:
        """The text of a field, without spaces around it."""
        return self.fields[self.table.place(column)].strip()

    def refuse(self, fact: str, way_out: str, column: str | int | None = None) -> NoReturn:
        """Refuse this line, or the field in a column."""
        self.table.refuse(fact, way_out, column, self.line)

    def name(self, column: str | int, noun: str) -> str:
        """The id in a field."""
        name = self[column]
        if not name:
            self.refuse(f"{noun} has no name", "Write its id", column)
        if len(name) > LARGEST_NAME or not name.isprintable():
            self.refuse(f"{name!a:.40} is not a name of {noun}", f"Use up to {LARGEST_NAME} printable ones", column)
        return name

    def plain(self, column: str | int) -> str:
        """The text of a field, perhaps with a unit, where a decimal comma between semicolons is a point."""
        text = self[column]
        halves = DECIMAL_COMMA.match(text) if self.table.separator == ";" else None
        if halves is None or (unit := text[halves.end() :]).startswith((",", ".")):
            return text
        if len(halves[2]) == 3 and halves[1].strip("+-0"):
            way = f"Write {halves[1]}{halves[2]}{unit} or {float(f'{halves[1]}.{halves[2]}'):g}{unit}"
            self.refuse(f"{text!a:.40} may be a thousand or one", way, column)
        return f"{halves[1]}.{halves[2]}{unit}"

    def number(self, column: str | int, noun: str, *, signed: bool = False) -> float:
        """The finite number in a field; from 0, unless it may be signed."""
        text = self.plain(column)
        value = float(text) if len(text) <= LONGEST and NUMBER.fullmatch(text) else float("nan")
        if not abs(value) <= 1e100 or (value < 0 and not signed):
            rule = "a number up to 1e100" if signed else "a number from 0 to 1e100"
            heading = self.table.header[self.table.place(column)]
            self.refuse(f"{text!a:.40} in column {heading!a:.40} is not {noun}", f"Write {rule}", column)
        return value


class CsvTable:
    """A CSV file, separated as its header is; ``first`` is the line of that."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = io.TextIOWrapper(io.BytesIO(_text(path)), "utf-8-sig", newline="")
        self.separator = separator_of(next((line for line in text if line.strip()), ""))
        text.seek(0)
        self._reader = csv.reader(text, delimiter=self.separator, strict=True)
        first = next(self._lines(), None)
        if first is not None and ",".join(first[1]) == "sep=,":  # tells Excel what separates
            first = next(self._lines(), None)
        if first is None:
            raise ScenarioError(
                f"{path}: is empty. Write a header with the names of the columns, and a line for each row.", code="E032"
            )
        self.first, fields = first
        self.header = [name.strip() for name in fields]
        self._places: dict[str, int] = {}
        if self.header[0].startswith("{"):
            self.refuse("this is JSON, and no table", "Give a CSV file, such as `hfl-plan group` writes by --output")
        if len(self.header) == 1 and "|" in self.header[0]:
            self.refuse("fields are separated by bars", "Save the file with commas", 0)
        for i, name in enumerate(self.header):
            if not name or not name.isprintable() or len(name) > LARGEST_NAME:
                self.refuse(f"{name!a:.60} is not a name of a column", "Name every column", i)
            if name in self._places:
                self.refuse(f"column {name!a:.60} comes twice, also as field {self._places[name] + 1}", "Rename one", i)
            self._places[name] = i

    def __contains__(self, column: str) -> bool:
        """Whether there is a column of this heading."""
        return column in self._places

    def call(self, column: str, name: str) -> None:
        """Read a column under another name."""
        self._places[name] = self._places[column]

    def place(self, column: str | int) -> int:
        """The index of a column."""
        return column if isinstance(column, int) else self._places[column]

    def refuse(self, fact: str, way_out: str, column: str | int | None = None, line: int | None = None) -> NoReturn:
        """Refuse a line, by default the header, or the field of a column in it: place, fact and way out."""
        at = self.first if line is None else line
        field = "" if column is None else f":{self.place(column) + 1}"
        raise ScenarioError(f"{self.path}:{at}{field}: {fact}. {way_out}.", code="E032" if line is None else "E033")

    def need(self, *columns: str, way_out: str = "Add it") -> None:
        """Refuse a header without one of these columns."""
        for column in columns:
            if column not in self:
                self.refuse(self.lacks(column), way_out)

    def lacks(self, column: str) -> str:
        """Say that there is no such column, with a heading that is much like it, else with those that there are."""
        others = f" among {', '.join(f'{name!a:.40}' for name in self.header[:SHOWN])}"
        others += " ..." * (len(self.header) > SHOWN)
        return f"there is no column {column!a:.60}{near(column, self.header) or others}"

    def only(self, known: tuple[str, ...], reason: str, way_out: str) -> None:
        """Refuse a header with a column of another heading."""
        for i, name in enumerate(self.header):
            if name not in known:
                meant = suggest(name, {*known} - {*self.header})
                way = f"{meant} Else {way_out[0].lower()}{way_out[1:]}" if meant else way_out
                self.refuse(f"column {name!a:.60} has no meaning {reason}", way, i)

    def rows(self, noun: str = "") -> Iterator[Row]:
        """The lines below the header; where each is a ``noun``, a table without any is refused."""
        line = 0
        for line, fields in self._lines():
            row = Row(self, line, fields)
            if len(fields) != len(self.header):
                hint = "Give every line a field for each column"
                if len(fields) > len(self.header) and any(re.fullmatch(r"[0-9]{3}", f.strip()) for f in fields[1:]):
                    hint += ", and write 1000 and not 1,000"
                fact = f"there are {len(fields)} fields, and {len(self.header)} columns in the header"
                row.refuse(fact, hint, min(len(fields), len(self.header)))
            yield row
        if noun and not line:
            self.refuse(f"there is a header, and no {noun} below it", f"Add a line for each {noun}")

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        try:
            for fields in self._reader:
                if fields and any(field.strip() for field in fields):
                    yield self._reader.line_num, fields
        except csv.Error as error:
            self.refuse(f"is not CSV: {error}", "Save it as CSV again", line=self._reader.line_num)


class Ids:
    """Names in the order in which they first come, such as those of clients and servers, and the lines where."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = list(names)
        self.index = {name: i for i, name in enumerate(self.names)}
        self.lines: list[int] = []

    def __len__(self) -> int:
        """How many there are."""
        return len(self.names)

    def add(self, name: str, row: Row) -> tuple[int, bool]:
        """The index of a name, and whether it is new."""
        if name in self.index:
            return self.index[name], False
        self.index[name] = len(self.names)
        self.names.append(name)
        self.lines.append(row.line)
        return len(self.names) - 1, True

    def once(self, row: Row, column: str | int, noun: str) -> str:
        """The name in a field, that of a ``noun`` that comes on no other line."""
        name = row.name(column, noun)
        i, new = self.add(name, row)
        if not new:
            self.refuse(i, row, column, noun)
        return name

    def refuse(self, i: int, row: Row, column: str | int, noun: str) -> NoReturn:
        """Refuse a row whose name in a column, of index ``i``, is on another line."""
        what = f"{noun.partition(' ')[2]} {self.names[i]!a:.60}"
        row.refuse(f"{what} is on line {self.lines[i]} already", "Keep one line", column)


@dataclass(eq=False)
class Cells:
    """Numbers of pairs that come in any order, each once; pairs that do not come are 0."""

    rows: Ids  # rows, columns: names of the two sides, which may still grow
    columns: Ids
    nouns: tuple[str, str, str]  # of a row, of a column, and of both: ``client``, ``server``, ``clients times servers``
    ways_out: tuple[str, str]  # from a pair that comes twice, and from too many of them
    values: dict[tuple[int, int], float] = field(default_factory=dict, init=False)

    def put(self, row: Row, i: int, j: int, value: float, column: str | int | None = None) -> None:
        """Set the number of a pair that a row gives; refusals name the column."""
        if (i, j) in self.values:
            pair = f"{self.nouns[0]} {self.rows.names[i]!a:.60} and {self.nouns[1]} {self.columns.names[j]!a:.60}"
            row.refuse(f"{pair} come twice", self.ways_out[0], column)
        self.values[i, j] = value
        if len(self.rows) * len(self.columns) > LARGEST_TABLE:
            row.refuse(f"{self.nouns[2]} exceed {LARGEST_TABLE}", self.ways_out[1])

    def array(self) -> Floats:
        """All pairs, of shape (rows, columns)."""
        found = np.zeros((len(self.rows), len(self.columns)))
        if self.values:
            at = np.array(list(self.values))
            found[at[:, 0], at[:, 1]] = list(self.values.values())
        return found


def separator_of(header: str) -> str:
    """What separates the fields of a file: a comma, or a semicolon or tab where its header has none."""
    return next((mark for mark in (",", ";", "\t") if mark in header), ",")


def near(name: str, header: list[str]) -> str:
    """A question whether a heading like it is meant, or nothing."""
    found = difflib.get_close_matches(name, [column.lower() for column in header], n=1, cutoff=0.75)
    if not found:
        return ""
    written = next(column for column in header if column.lower() == found[0])
    return f" (is {written!a:.40} it?)"


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Write rows, of which the first is the header, as the text of a CSV file."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _text(path: Path) -> bytes:
    raw = capped(path, LARGEST_FILE, ". Merge rare labels, or write the wide form.")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ScenarioError(f"{path}:1: is UTF-16 text. Save it as UTF-8.", code="E031")
    at = raw.find(b"\0")
    if at >= 0:
        line = raw.count(b"\n", 0, at) + 1
        raise ScenarioError(f"{path}:{line}: has a NUL byte, so it is no text. Check the path.", code="E031")
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            f"{path}:{line}: is not UTF-8 text (byte {error.start}). Save it as UTF-8.", code="E031"
        ) from None
    return raw
