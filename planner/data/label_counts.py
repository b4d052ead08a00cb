"""Label counts of clients and their groups, read from CSV; wrong places are named as file:line:field.

Two forms are read, told apart by the header. Wide: ``client,group`` and one column for each label. Long:
``client,group,label,count``, where a pair of client and label that does not occur counts 0. Columns may come in
any order, and ``group`` may be missing where clients are about to be grouped. Ids and labels are text: ``001`` and
``1`` are two clients, ``NA`` is a name. Spaces around a field are dropped, blank lines skipped.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from planner.errors import ScenarioError
from planner.io.text_files import capped

LARGEST_FILE = 1 << 28  # bytes
LARGEST_COUNT = 10**12  # samples of a client with a label: products stay far inside double precision
LARGEST_TABLE = 2 * 10**7  # clients times labels
LARGEST_NAME = 200  # characters of an id
LONG = ("label", "count")
NUMBER = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class LabelCounts:
    """How many samples of each label every client has.

    Attributes:
        source: what the file is called in messages.
        clients: ids, sorted, so that nothing depends on the order of a file.
        labels: sorted.
        counts: clients by labels.
        groups: names, sorted; empty where the file has no groups.
        group_of: the index of every client's group; empty where the file has no groups.
        lines: where every client first occurs.
        columns: the place of every label in the order of the file.
        warnings: what was left out.
    """

    source: str
    clients: tuple[str, ...]
    labels: tuple[str, ...]
    counts: Floats
    groups: tuple[str, ...]
    group_of: Indices
    lines: tuple[int, ...]
    columns: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def sizes(self) -> Indices:
        """Clients of every group."""
        return np.bincount(self.group_of, minlength=len(self.groups))

    def shares(self) -> Floats:
        """Label shares of every client."""
        shares: Floats = self.counts / self.counts.sum(axis=1, keepdims=True)
        return shares


def read_counts(path: Path, *, grouped: bool = True, skip_empty: bool = False) -> LabelCounts:
    """Read a table of label counts.

    Args:
        path: of the file.
        grouped: whether it must have a column of groups.
        skip_empty: leave out clients without samples, in place of refusing them.

    Raises:
        ScenarioError: naming the place, the fact and the way out.
    """
    table = _Table(path)
    places = {name: table.header.index(name) for name in ("client", "group", *LONG) if name in table.header}
    long = all(name in places for name in LONG)
    _need(table, places, "client")
    if grouped and "group" not in places:
        table.refuse(
            1, "there is no column 'group'" + _near("group", table.header), "Add one, or let `hfl-plan group` make them"
        )
    if not long and len(table.header) == len(places.keys() & {"client", "group"}):
        table.refuse(1, "there is no column of label counts", "Add one for each label, or the columns label and count")
    known = {"client", "group", *LONG} if long else set()
    for i, name in enumerate(table.header):
        if long and name not in known:
            table.refuse(1, f"column {name!a:.60} has no meaning beside label and count", "Remove it", i)
    found = _long(table, places) if long else _wide(table, places)
    return _checked(found, skip_empty)


def read_pairs(path: Path, clients: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
    """Pairs of clients that must, or must not, share a group: columns ``client,other,rule``.

    Returns:
        by ``must`` and ``cannot``, pairs of indices.

    Raises:
        ScenarioError: naming the place, the fact and the way out.
    """
    table = _Table(path)
    places: dict[str, int] = {
        name: table.header.index(name) for name in ("client", "other", "rule") if name in table.header
    }
    for name in ("client", "other", "rule"):
        _need(table, places, name, "Write client,other,rule, with must or cannot as the rule")
    index = {client: i for i, client in enumerate(clients)}
    found: dict[str, list[tuple[int, int]]] = {"must": [], "cannot": []}
    for line, row in table.rows():
        pair = []
        for name in ("client", "other"):
            client = row[places[name]].strip()
            if client not in index:
                table.refuse(line, f"no client {client!a:.60} has label counts", "Check the id", places[name])
            pair.append(index[client])
        rule = row[places["rule"]].strip()
        if rule not in found:
            table.refuse(line, f"{rule!a:.60} is no rule", "Write must or cannot", places["rule"])
        if pair[0] == pair[1]:
            table.refuse(line, f"client {clients[pair[0]]!a:.60} is paired with itself", "Remove the line")
        found[rule].append((pair[0], pair[1]))
    return found


def read_costs(path: Path, clients: Sequence[str]) -> tuple[tuple[str, ...], Floats]:
    """What it costs to serve a client from a server: ``client`` and a column for each, or ``client,server,cost``.

    Returns:
        the servers, sorted, and clients by servers.

    Raises:
        ScenarioError: naming the place, the fact and the way out.
    """
    table = _Table(path)
    index = {client: i for i, client in enumerate(clients)}
    places: dict[str, int] = {
        name: table.header.index(name) for name in ("client", "server", "cost") if name in table.header
    }
    _need(table, places, "client")
    long = "server" in places and "cost" in places
    servers = [] if long else [name for name in table.header if name != "client"]
    known = {server: j for j, server in enumerate(servers)}
    cells: dict[tuple[int, int], float] = {}
    for line, row in table.rows():
        client = row[places["client"]].strip()
        if client not in index:
            table.refuse(line, f"no client {client!a:.60} has label counts", "Check the id", places["client"])
        if long:
            server = table.name(line, row, places["server"], "a server")
            if server not in known:
                known[server] = len(servers)
                servers.append(server)
            entries = [(known[server], places["cost"])]
        else:
            entries = [(known[name], i) for i, name in enumerate(table.header) if name != "client"]
        for j, place in entries:
            if (index[client], j) in cells:
                table.refuse(line, f"client {client!a:.60} and server {servers[j]!a:.60} come twice", "Keep one", place)
            cells[index[client], j] = table.number(line, row, place, "a cost")
        if len(servers) * len(clients) > LARGEST_TABLE:
            table.refuse(line, f"clients times servers exceed {LARGEST_TABLE}", "Leave out servers that are far away")
    if len(cells) < len(clients) * len(servers) or not servers:
        missing = next(((i, j) for i in range(len(clients)) for j in range(len(servers)) if (i, j) not in cells), None)
        if missing is None:
            table.refuse(1, "there are no servers", "Add a column for each, or the columns server and cost")
        client, server = clients[missing[0]], servers[missing[1]]
        raise ScenarioError(f"{path}: no cost of client {client!a:.60} at server {server!a:.60}. Add the line.")
    costs = np.empty((len(clients), len(servers)))
    for (i, j), cost in cells.items():
        costs[i, j] = cost
    order = sorted(range(len(servers)), key=servers.__getitem__)
    return tuple(servers[j] for j in order), costs[:, order]


def read_gram(path: Path, labels: Sequence[str]) -> Floats:
    """Inner products of class gradients: a header ``label,<label>...`` and a line for each label.

    Raises:
        ScenarioError: naming the place, the fact and the way out; also if the matrix is none of inner products.
    """
    table = _Table(path)
    places = {name: i for i, name in enumerate(table.header)}
    _need(table, places, "label", "Start the header with label, then one column for each label")
    for label in labels:
        _need(table, places, label, "The file has one row and one column for each label of the counts")
    index = {label: i for i, label in enumerate(labels)}
    gram = np.full((len(labels), len(labels)), np.nan)
    for line, row in table.rows():
        label = row[places["label"]].strip()
        if label not in index:
            table.refuse(line, f"the counts have no label {label!a:.60}", "Remove the line", places["label"])
        if not np.isnan(gram[index[label]]).all():
            table.refuse(line, f"label {label!a:.60} comes twice", "Keep one line", places["label"])
        gram[index[label]] = [
            table.number(line, row, places[other], "an inner product", signed=True) for other in labels
        ]
    lost = [label for label in labels if np.isnan(gram[index[label]]).all()]
    if lost:
        raise ScenarioError(f"{path}: there is no line of label {lost[0]!a:.60}. Add it.")
    largest = float(np.abs(gram).max())
    uneven = np.argwhere(np.abs(gram - gram.T) > 1e-6 * largest)
    if len(uneven):
        a, b = (labels[i] for i in uneven[0])
        raise ScenarioError(
            f"{path}: {a!a:.60} with {b!a:.60} differs from {b!a:.60} with {a!a:.60}. Give a symmetric one."
        )
    gram = (gram + gram.T) / 2
    if not largest or np.linalg.eigvalsh(gram)[0] < -1e-6 * largest * len(labels):
        raise ScenarioError(f"{path}: no gradients have these inner products: an eigenvalue is negative, or all are 0.")
    found: Floats = gram
    return found


# ---------------------------------------------------------------- the two forms


@dataclass
class _Found:
    table: _Table
    clients: list[str]
    labels: list[str]
    group_names: list[str]
    group_of: list[int]
    lines: list[int]
    counts: Floats


def _wide(table: _Table, places: dict[str, int]) -> _Found:
    columns = [i for i, name in enumerate(table.header) if name not in ("client", "group")]
    labels = [table.header[i] for i in columns]
    members = _Members(table, places)
    numbers = array("d")
    for line, row in table.rows():
        members.add(line, row)
        numbers.extend(table.count(line, row, i) for i in columns)
        if len(numbers) > LARGEST_TABLE:
            table.refuse(line, f"clients times labels exceed {LARGEST_TABLE}", "Merge rare labels")
    counts = np.array(numbers).reshape(-1, len(labels)) if numbers else np.zeros((0, len(labels)))
    return members.found(labels, counts)


def _long(table: _Table, places: dict[str, int]) -> _Found:
    members = _Members(table, places)
    labels: dict[str, int] = {}
    cells: dict[tuple[int, int], float] = {}
    for line, row in table.rows():
        i = members.add(line, row, again=True)
        label = table.name(line, row, places["label"], "a label")
        j = labels.setdefault(label, len(labels))
        if (i, j) in cells:
            table.refuse(
                line, f"client {members.clients[i]!a:.60} and label {label!a:.60} come twice", "Add their counts up"
            )
        cells[i, j] = table.count(line, row, places["count"])
        if len(members.clients) * len(labels) > LARGEST_TABLE:
            table.refuse(line, f"clients times labels exceed {LARGEST_TABLE}", "Merge rare labels")
    counts = np.zeros((len(members.clients), len(labels)))
    if cells:
        at = np.array(list(cells))
        counts[at[:, 0], at[:, 1]] = list(cells.values())
    return members.found(list(labels), counts)


class _Members:
    """Clients and their groups, as lines come in."""

    def __init__(self, table: _Table, places: dict[str, int]) -> None:
        self.table, self.client, self.group = table, places["client"], places.get("group")
        self.clients: list[str] = []
        self.lines: list[int] = []
        self.group_of: list[int] = []
        self.index: dict[str, int] = {}
        self.groups: dict[str, int] = {}

    def add(self, line: int, row: list[str], *, again: bool = False) -> int:
        client = self.table.name(line, row, self.client, "a client")
        group = 0
        if self.group is not None:
            name = self.table.name(line, row, self.group, "a group")
            group = self.groups.setdefault(name, len(self.groups))
        if client not in self.index:
            self.index[client] = len(self.clients)
            self.clients.append(client)
            self.lines.append(line)
            self.group_of.append(group)
            return len(self.clients) - 1
        i = self.index[client]
        if self.group is not None and self.group_of[i] != group:
            names = list(self.groups)
            self.table.refuse(
                line,
                f"client {client!a:.60} is in group {names[group]!a:.60} here, and in {names[self.group_of[i]]!a:.60} "
                f"on line {self.lines[i]}",
                "Put it into one; of overlapping groups, see `hfl-plan bounds show hflbounds.hhfl-spectral`",
                self.group,
            )
        if not again:
            self.table.refuse(
                line, f"client {client!a:.60} is on line {self.lines[i]} already", "Keep one line", self.client
            )
        return i

    def found(self, labels: list[str], counts: Floats) -> _Found:
        named = list(self.groups) if self.group is not None else []
        return _Found(self.table, self.clients, labels, named, self.group_of, self.lines, counts)


def _checked(found: _Found, skip_empty: bool) -> LabelCounts:
    table, counts, warnings = found.table, found.counts, []
    keep = counts.sum(axis=1) > 0
    if not found.clients:
        raise ScenarioError(f"{table.path}:1: there is a header, and no client below it. Add a line for each client.")
    empty = [i for i in range(len(keep)) if not keep[i]]
    if empty and not skip_empty:
        first = empty[0]
        more = f", and so do {len(empty) - 1} more" if len(empty) > 1 else ""
        table.refuse(
            found.lines[first],
            f"client {found.clients[first]!a:.60} has no samples{more}",
            "Remove the line; `hfl-plan measure` and `group` leave such clients out with --skip-empty",
        )
    groups_of = np.array(found.group_of, dtype=np.int64)
    if empty:
        kept = set(groups_of[keep].tolist())
        lost = [name for g, name in enumerate(found.group_names) if g not in kept]
        if lost:
            raise ScenarioError(
                f"{table.path}: no client of group {lost[0]!a:.60} has samples. Remove the group, or add its counts."
            )
        warnings.append(f"{len(empty)} of {len(keep)} clients have no samples and are left out.")
    if (counts > 0).any(axis=0).sum() < 2:
        raise ScenarioError(
            f"{table.path}: all samples have one label, so label counts do not tell clients apart. "
            "Use finer labels, or give numbers: --heterogeneity zeta=0.5,delta=2."
        )
    warnings += _looks_odd(found)
    rows = sorted(np.flatnonzero(keep).tolist(), key=found.clients.__getitem__)
    columns = sorted(range(len(found.labels)), key=found.labels.__getitem__)
    groups = sorted(range(len(found.group_names)), key=found.group_names.__getitem__)
    number = np.argsort(groups)
    return LabelCounts(
        source=str(table.path),
        clients=tuple(found.clients[i] for i in rows),
        labels=tuple(found.labels[j] for j in columns),
        counts=counts[np.ix_(rows, columns)],
        groups=tuple(found.group_names[g] for g in groups),
        group_of=number[groups_of[rows]] if groups else np.zeros(0, dtype=np.int64),
        lines=tuple(found.lines[i] for i in rows),
        columns=tuple(columns),
        warnings=tuple(warnings),
    )


def _looks_odd(found: _Found) -> list[str]:
    """What a spreadsheet may have left in a table, and that would count as data: sums, and names in two spellings."""
    counts, odd = found.counts, []
    whole = counts.sum()
    if counts.shape[1] > 2:
        for j in np.flatnonzero(2 * counts.sum(axis=0) == whole):
            if np.array_equal(2 * counts[:, j], counts.sum(axis=1)):
                name = found.labels[j]
                odd.append(f"Label {name!a:.60} is the sum of all others in every row: remove a column of totals.")
    if len(counts) > 2:
        for i in np.flatnonzero(2 * counts.sum(axis=1) == whole):
            if np.array_equal(2 * counts[i], counts.sum(axis=0)):
                odd.append(f"Client {found.clients[i]!a:.60} is the sum of all others: remove a row of totals.")
    spelled: dict[str, str] = {}
    for name in found.group_names:
        other = spelled.setdefault(name.casefold(), name)
        if other != name:
            odd.append(f"Groups {other!a:.60} and {name!a:.60} differ in capitals alone, and are taken for two.")
    return odd


# ---------------------------------------------------------------- text to fields


class _Table:
    """A CSV file with a header, and refusals that name places in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
        first = next(self._rows(), None)
        if first is None:
            raise ScenarioError(f"{path}: is empty. Write a header such as client,group,cat,dog and a line per client.")
        self.header = [name.strip() for name in first[1]]
        line = first[0]
        self.first = line
        if len(self.header) == 1:
            for mark, word in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
                if mark in self.header[0]:
                    self.refuse(line, f"fields are separated by {word}", "Save the file with commas", 0)
        seen: dict[str, int] = {}
        for i, name in enumerate(self.header):
            if not name or not name.isprintable() or len(name) > LARGEST_NAME:
                self.refuse(line, f"{name!a:.60} is not a name of a column", "Name every column", i)
            if name in seen:
                self.refuse(line, f"column {name!a:.60} comes twice, also as field {seen[name] + 1}", "Rename one", i)
            seen[name] = i

    def refuse(self, line: int, fact: str, way_out: str, field: int | None = None) -> NoReturn:
        place = f"{self.path}:{line}" if field is None else f"{self.path}:{line}:{field + 1}"
        raise ScenarioError(f"{place}: {fact}. {way_out}.")

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        try:
            for row in self._reader:
                if row and any(field.strip() for field in row):
                    yield self._reader.line_num, row
        except csv.Error as error:
            self.refuse(self._reader.line_num, f"is not CSV: {error}", "Save it as CSV again")

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        for line, row in self._rows():
            if len(row) != len(self.header):
                hint = "Give every line a field for each column"
                if len(row) > len(self.header) and any(re.fullmatch(r"[0-9]{3}", field.strip()) for field in row[1:]):
                    hint += ", and write 1000 and not 1,000"
                self.refuse(
                    line,
                    f"there are {len(row)} fields, and {len(self.header)} columns in the header",
                    hint,
                    min(len(row), len(self.header)),
                )
            yield line, row

    def name(self, line: int, row: list[str], place: int, noun: str) -> str:
        name = row[place].strip()
        if not name:
            self.refuse(line, f"{noun} has no name", "Write its id", place)
        if len(name) > LARGEST_NAME or not name.isprintable():
            self.refuse(
                line, f"{name!a:.40} is not a name of {noun}", f"Use up to {LARGEST_NAME} printable ones", place
            )
        return name

    def count(self, line: int, row: list[str], place: int) -> int:
        text = row[place].strip()
        if text.isascii() and text.isdigit() and len(text) <= 13:
            number = int(text)
            if number <= LARGEST_COUNT:
                return number
        column = f"in column {self.header[place]!a:.40}"
        rule = f"Counts are whole numbers from 0 to {LARGEST_COUNT}"
        if "group" not in self.header and _near("group", [self.header[place]]):
            rule = f"Call the column 'group' if it is that. {rule}"
        if not text:
            self.refuse(line, f"nothing stands {column}", f"{rule}; write 0 for none", place)
        plain = text.replace(",", "").replace("_", "").replace(" ", "").replace("'", "")
        if NUMBER.fullmatch(plain) and (value := float(plain)) == int(min(max(value, -1e15), 1e15)) >= 0:
            rule += f"; write {int(value)}" if value <= LARGEST_COUNT else ""
        fact = f"{text!a:.40} {column} is negative" if text.startswith("-") else f"{text!a:.40} {column} is no count"
        self.refuse(line, fact, rule, place)

    def number(self, line: int, row: list[str], place: int, noun: str, *, signed: bool = False) -> float:
        text = row[place].strip()
        value = float(text) if NUMBER.fullmatch(text) else float("nan")
        if not abs(value) <= 1e100 or (value < 0 and not signed):
            rule = "a number up to 1e100" if signed else "a number from 0 to 1e100"
            self.refuse(
                line, f"{text!a:.40} in column {self.header[place]!a:.40} is not {noun}", f"Write {rule}", place
            )
        return value


def _need(table: _Table, places: dict[str, int], name: str, way_out: str = "Add it") -> None:
    if name not in places:
        table.refuse(table.first, f"there is no column {name!a:.60}{_near(name, table.header)}", way_out)


def _near(name: str, header: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, [column.lower() for column in header], n=1, cutoff=0.75)
    if not near:
        return ""
    written = next(column for column in header if column.lower() == near[0])
    return f" (is {written!a:.40} it?)"


def _text(path: Path) -> str:
    raw = capped(path, LARGEST_FILE, ". Merge rare labels, or write the wide form.")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ScenarioError(f"{path}:1: is UTF-16 text. Save it as UTF-8.")
    at = raw.find(b"\0")
    if at >= 0:
        line = raw.count(b"\n", 0, at) + 1
        raise ScenarioError(f"{path}:{line}: has a NUL byte, so it is no text. Check the path.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ScenarioError(f"{path}:{line}: is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from None
