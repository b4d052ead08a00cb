"""Label counts of clients and their groups, read from CSV; wrong places are named as file:line:field.

Two forms are read, told apart by the header. Wide: ``client,group`` and one column for each label. Long:
``client,group,label,count``, where a pair of client and label that does not occur counts 0. Columns may come in
any order, and ``group`` may be missing where clients are about to be grouped. In place of ``group``, the columns left
of ``client`` name nested groups, those of the top tier first: ``region,edge,client`` and the labels.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

import numpy as np

from planner.errors import ScenarioError
from planner.io import frames
from planner.io.csv_rows import DECIMAL_COMMA, LARGEST_TABLE, Cells, CsvTable, Floats, Ids, Indices, Row, near
from planner.io.text import NUMBER

LARGEST_COUNT = 10**12  # samples of a client with a label: products stay far inside double precision
PLAIN = re.compile(r"[0-9]{1,12}(?:,[0-9]{1,12})+")  # counts that need no closer look
THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+")  # what a comma may separate where it is no decimal one
SEPARATED = re.compile(r"[0-9]{1,3}(?:([,_ '])[0-9]{3})(?:\1[0-9]{3})*(?:\.[0-9]*)?")  # thousands apart, by one mark
DOTTED = re.compile(r"[0-9]{1,3}\.[0-9]{3}")  # a thousand, or one, between semicolons
LONG = ("label", "count")
PARTITIONS = ("partition id", "partition_id", "partition")  # first columns of tables of flwr-datasets, in any case
TOTALS = {"samples", "sample", "numsamples", "nsamples", "n", "total", "totals", "sum", "size"}
"""What a column of totals is called, without capitals, spaces and underscores."""
ONE = "all"  # the group of clients that have none there
HEADER = "Write the header client,group,<label>,... or client,group,label,count"


@dataclass(frozen=True)
class LabelCounts:
    """How many samples of each label every client has."""

    source: str  # what the file is called in messages
    clients: tuple[str, ...]  # ids, sorted, so that nothing depends on the order of a file
    labels: tuple[str, ...]  # sorted
    counts: Floats  # clients by labels
    # names of the groups that clients are in, sorted; of nested ones the whole path, such as ``north/e1``; empty where
    # the file has no groups
    groups: tuple[str, ...]
    group_of: Indices  # the index of every client's group; empty where the file has no groups
    lines: tuple[int, ...]  # where every client first occurs
    columns: tuple[int, ...] = ()  # the place of every label in the order of the file
    warnings: tuple[str, ...] = ()  # what was left out
    # of every tier above the groups, top first, the index of every group's ancestor there
    above: tuple[Indices, ...] = ()
    tiers: tuple[str, ...] = ("group", "client")  # what the tiers are called, top first, clients last
    chosen: bool = False  # whether it is known that these counts chose the groups

    @property
    def sizes(self) -> Indices:
        """Clients of every group."""
        return np.bincount(self.group_of, minlength=len(self.groups))

    @property
    def parents(self) -> tuple[Indices, ...]:
        """The index of every node's parent, of each tier from the top: first of the children of the root, all 0."""
        found, over = [], np.zeros(len(self.groups), dtype=np.int64)
        for at in (*self.above, np.arange(len(self.groups))):
            found.append(over[np.unique(at, return_index=True)[1]])
            over = at
        return (*found, self.group_of)

    @property
    def uneven(self) -> bool:
        """Whether nodes of one tier have unequal numbers of children."""
        return any(np.ptp(np.bincount(tier)) > 0 for tier in self.parents)

    def shares(self) -> Floats:
        """Label shares of every client."""
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))


def read_counts(path: Path, *, grouped: bool = True, skip_empty: bool = False) -> LabelCounts:
    """Read a table of label counts.

    A ``grouped`` table must have a column of groups; ``skip_empty`` leaves out clients without samples, and refuses
    none.
    """
    table = CsvTable(path)
    if "client" not in table and table.header[0].casefold() in PARTITIONS:
        return _of_partitions(table, grouped, skip_empty)
    long = all(name in table for name in LONG)
    table.need("client", way_out=HEADER)
    tiers = _tiers(table)
    if any(name in LONG for name in tiers) and long:
        tiers = ()
    if grouped and not tiers:
        way = "let `hfl-plan group` make groups, or `hfl-plan recommend --clients N` search for their number"
        table.refuse(table.lacks("group"), f"{HEADER}, {way}")
    labels = [i for i, name in enumerate(table.header) if name not in ("client", *tiers)]
    if not labels:
        table.refuse("there is no column of label counts", HEADER)
    if long:
        table.only(("client", *tiers, *LONG), "beside label and count", "Remove it")
    members = _Members(tiers)
    if long:
        return _checked(table, members, *_long(table, members), skip_empty)
    names, counts, left_out = _without_total(table, members, *_wide(table, labels, members))
    found = _checked(table, members, names, counts, skip_empty)
    return replace(found, warnings=(*left_out, *found.warnings))


def _of_partitions(table: CsvTable, grouped: bool, skip_empty: bool) -> LabelCounts:
    """A table as `flwr_datasets.metrics.compute_counts` makes it: partition ids, then a column for each label."""
    table.call(table.header[0], "client")
    if len(table.header) == 1:
        table.refuse("there is no column of label counts", HEADER)
    members = _Members(())
    names, counts = _wide(table, range(1, len(table.header)), members)
    found = _checked(table, members, names, counts, skip_empty)
    if not grouped:
        return found
    said = f"No groups: all {len(found.clients)} partitions are taken for one. `hfl-plan group` makes groups."
    at = np.zeros(len(found.clients), dtype=np.int64)
    return replace(found, groups=(ONE,), group_of=at, tiers=("group", "client"), warnings=(*found.warnings, said))


def read_pairs(path: Path, clients: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
    """Pairs of indices of clients that ``must``, or ``cannot``, share a group: columns ``client,other,rule``."""
    table = CsvTable(path)
    table.need("client", "other", "rule", way_out="Write client,other,rule, with must or cannot as the rule")
    index = {client: i for i, client in enumerate(clients)}
    found: dict[str, list[tuple[int, int]]] = {"must": [], "cannot": []}
    for row in table.rows():
        for name in ("client", "other"):
            if row[name] not in index:
                row.refuse(f"no client {row[name]!a:.60} has label counts", "Check the id", name)
        if row["rule"] not in found:
            row.refuse(f"{row['rule']!a:.60} is no rule", "Write must or cannot", "rule")
        if row["client"] == row["other"]:
            row.refuse(f"client {row['client']!a:.60} is paired with itself", "Remove the line")
        found[row["rule"]].append((index[row["client"]], index[row["other"]]))
    return found


def read_costs(path: Path, clients: Sequence[str]) -> tuple[tuple[str, ...], Floats]:
    """Servers, sorted, and what it costs to serve every client from each.

    Columns are ``client`` and one for each server, or ``client,server,cost``.
    """
    table, ids = CsvTable(path), Ids(clients)
    table.need("client", way_out="Write the header client,<server>,... or client,server,cost")
    long = "server" in table and "cost" in table
    servers = Ids(() if long else (name for name in table.header if name != "client"))
    cells = Cells(ids, servers, ("client", "server", "clients times servers"), ("Keep one", "Take a part of the fleet"))
    for row in table.rows():
        if row["client"] not in ids.index:
            row.refuse(f"no client {row['client']!a:.60} has label counts", "Check the id", "client")
        if long:
            entries = [(servers.add(row.name("server", "a server"), row)[0], "cost")]
        else:
            entries = list(enumerate(servers.names))
        for j, column in entries:
            cells.put(row, ids.index[row["client"]], j, row.number(column, "a cost"), column)
    if not len(servers):
        table.refuse("there are no servers", "Add a column for each, or the columns server and cost")
    places = np.ndindex(len(ids), len(servers))
    if (lost := next((place for place in places if place not in cells.values), None)) is not None:
        client, server = ids.names[lost[0]], servers.names[lost[1]]
        raise ScenarioError(f"{path}: no cost of client {client!a:.60} at server {server!a:.60}. Add the line.")
    order = sorted(range(len(servers)), key=servers.names.__getitem__)
    return tuple(servers.names[j] for j in order), cells.array()[:, order]


def read_gram(path: Path, labels: Sequence[str]) -> Floats:
    """Inner products of class gradients: a header ``label,<label>...`` and a line for each label.

    Raises:
        ScenarioError: naming the place, the fact and the way out; also if the matrix is none of inner products.
    """
    try:
        table = CsvTable(path)
    except ScenarioError as error:
        if error.code != "E030":
            raise
        raise ScenarioError(f"{error} `hfl-plan estimate HOOK.py --gram {path}` writes one.") from None
    table.need("label", way_out="Start the header with label, then one column for each label")
    some = f"{', '.join(labels[:3])}{' ...' * (len(labels) > 3)}"
    table.need(*labels, way_out=f"Write the labels of the counts there, {some:.80}, each in place of its class")
    found: dict[str, list[float]] = {}
    seen = Ids()
    for row in table.rows():
        if row["label"] not in labels:
            row.refuse(f"the counts have no label {row['label']!a:.60}", "Remove the line", "label")
        label = seen.once(row, "label", "a label")
        found[label] = [row.number(other, "an inner product", signed=True) for other in labels]
    if lost := [label for label in labels if label not in found]:
        raise ScenarioError(f"{path}: there is no line of label {lost[0]!a:.60}. Add it.")
    gram: Floats = np.array([found[label] for label in labels])
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
    return gram


def read_members(path: Path) -> dict[str, tuple[str, ...]]:
    """Read which groups clients are in, top first, from a table of clients; other columns are left alone."""
    table = CsvTable(path)
    table.need("client")
    members = _Members(_tiers(table))
    for row in table.rows():
        members.add(row, again=all(name in table for name in LONG))
    groups = list(members.groups)
    return {client: groups[at] for client, at in zip(members.clients.names, members.group_of, strict=True)}


def _tiers(table: CsvTable) -> tuple[str, ...]:
    """Columns that name groups: ``group``, or those left of ``client``."""
    return ("group",) if "group" in table else tuple(table.header[: table.place("client")])


class _Members:
    """Clients and the groups that they are in, as lines come in."""

    def __init__(self, tiers: tuple[str, ...]) -> None:
        self.tiers, self.clients = tiers, Ids()  # columns that name groups, top first; and ids
        self.groups: dict[tuple[str, ...], int] = {}  # the index of each group, by its names from the top
        self.group_of: list[int] = []  # the index of every client's group

    def add(self, row: Row, *, again: bool = False) -> int:
        """The index of the client of a line, which may come on others, if it is always in one group."""
        i, new = self.clients.add(row.name("client", "a client"), row)
        path = tuple(row.name(tier, f"a {tier}") for tier in self.tiers)
        group = self.groups.setdefault(path, len(self.groups))
        if new:
            self.group_of.append(group)
            return i
        client, line = self.clients.names[i], self.clients.lines[i]
        if self.group_of[i] != group:
            there = list(self.groups)[self.group_of[i]]
            tier = next(k for k, name in enumerate(path) if name != there[k])
            fact = f"client {client!a:.60} is in {self.tiers[tier]} {path[tier]!a:.60} here, and in {there[tier]!a:.60}"
            way = "Put it into one; of overlapping groups, see `hfl-plan overlap --help`"
            row.refuse(f"{fact} on line {line}", way, self.tiers[tier])
        if not again:
            self.clients.refuse(i, row, "client", "a client")
        return i


def _wide(table: CsvTable, columns: Sequence[int], members: _Members) -> tuple[list[str], Floats]:
    numbers, pick = array("d"), itemgetter(*columns)
    for row in table.rows("client"):
        members.add(row)
        together = ",".join(pick(row.fields)) if len(columns) > 1 else ""
        if PLAIN.fullmatch(together) and together.count(",") == len(columns) - 1:
            numbers.frombytes(np.fromstring(together, dtype=np.int64, sep=",").astype(np.float64).tobytes())
        else:
            numbers.extend(_count(row, i) for i in columns)
        if len(numbers) > LARGEST_TABLE:
            row.refuse(f"clients times labels exceed {LARGEST_TABLE}", "Merge rare labels")
    return [table.header[i] for i in columns], np.frombuffer(numbers).reshape(-1, len(columns))


def _without_total(
    table: CsvTable, members: _Members, labels: list[str], counts: Floats
) -> tuple[list[str], Floats, tuple[str, ...]]:
    """Leave out a column that is called a total and is one, and say so; refuse one that is not."""
    letters = sum(len(label) == 1 for label in labels) > 1  # of which n is one
    called = (re.sub(r"[ _.-]", "", label).casefold() for label in labels)
    places = [i for i, word in enumerate(called) if word in TOTALS and not (word == "n" and letters)]
    if len(places) != 1 or len(labels) < 2 or not len(counts):
        return labels, counts, ()
    at, others = places[0], np.delete(counts, places[0], axis=1)
    sums, heading = others.sum(axis=1), f"column {labels[at]!a:.40}"
    if (wrong := np.flatnonzero(sums != counts[:, at])).size:
        i = int(wrong[0])
        fact = (
            f"{heading} is called a total, and is {counts[i, at]:,.0f} in line {members.clients.lines[i]}, where the "
            f"labels add up to {sums[i]:,.0f}"
        )
        table.refuse(fact, "Remove it, add the labels that are missing, or rename it if it is a label", labels[at])
    said = f"The {heading} is the sum of all labels, and was left out."
    return [label for i, label in enumerate(labels) if i != at], others, (said,)


def _long(table: CsvTable, members: _Members) -> tuple[list[str], Floats]:
    labels = Ids()
    nouns = ("client", "label", "clients times labels")
    cells = Cells(members.clients, labels, nouns, ("Add their counts up", "Merge rare labels"))
    for row in table.rows("client"):
        i = members.add(row, again=True)
        j, _ = labels.add(row.name("label", "a label"), row)
        cells.put(row, i, j, _count(row, table.place("count")))
    return labels.names, cells.array()


def _count(row: Row, place: int) -> int:
    text, heading = row[place], row.table.header[place]
    plain = text.removesuffix(".0")  # as data frames write whole numbers beside one that is missing
    if plain.isascii() and plain.isdigit() and len(plain) <= 13 and int(plain) <= LARGEST_COUNT:
        return int(plain)
    column = f"in column {heading!a:.40}"
    rule = f"Counts are whole numbers from 0 to {LARGEST_COUNT}"
    if "group" not in row.table and near("group", [heading]):
        rule = f"Call the column 'group' if it is that. {rule}"
    if not text:
        row.refuse(f"nothing stands {column}", f"{rule}; write 0 for none", place)
    fact = f"{text!a:.40} {column} {'is negative' if text.startswith('-') else 'is no count'}"
    if (halves := DECIMAL_COMMA.fullmatch(text)) and not (THOUSANDS.fullmatch(text) and row.table.separator == ","):
        if len(halves[2]) == 3:
            rule += f"; write {halves[1]}{halves[2]} or {halves[1]}: it may be a thousand or one"
        elif halves[2].strip("0"):
            fact += f": {halves[1]}.{halves[2]} is no whole number" * (not text.startswith("-"))
        elif row.table.separator == ";" and text[0].isdigit() and len(halves[1]) <= 12:
            return int(halves[1])
        else:
            rule += f"; write {halves[1]}"
        row.refuse(fact, rule, place)
    plain = re.sub(r"[,_ ']", "", text) if SEPARATED.fullmatch(text) else text
    if NUMBER.fullmatch(plain) and (value := float(plain)) == int(min(max(value, -1e15), 1e15)) >= 0:
        either = f"{plain.replace('.', '')} or " * (row.table.separator == ";" and bool(DOTTED.fullmatch(plain)))
        rule += f"; write {either}{int(value)}" if value <= LARGEST_COUNT else ""
    row.refuse(fact, rule, place)


def _checked(table: CsvTable, members: _Members, labels: list[str], counts: Floats, skip_empty: bool) -> LabelCounts:
    clients, lines, warnings = members.clients.names, members.clients.lines, []
    kept = counts.sum(axis=1) > 0
    group_of = np.array(members.group_of, dtype=np.int64)
    if not kept.all():
        lost = int((~kept).sum())
        if not skip_empty:
            first = int(kept.argmin())
            fact = f"client {clients[first]!a:.60} has no samples" + (
                f", and so do {lost - 1} more" if lost > 1 else ""
            )
            way = "Remove the line; `hfl-plan measure` and `group` leave such clients out with --skip-empty"
            table.refuse(fact, way, line=lines[first])
        empty = set(range(len(members.groups))) - set(group_of[kept].tolist())
        if empty:
            raise ScenarioError(
                f"{table.path}: no client of {members.tiers[-1]} {list(members.groups)[min(empty)][-1]!a:.60} has "
                "samples. Remove the group, or add its counts."
            )
        warnings.append(f"{lost} of {len(kept)} clients have no samples and are left out.")
    if (counts > 0).any(axis=0).sum() < 2:
        raise ScenarioError(
            f"{table.path}: all samples have one label, so label counts do not tell clients apart. "
            "Use finer labels, or give numbers: --heterogeneity zeta=0.5,delta=2."
        )
    paths = sorted(members.groups) if members.tiers else []
    warnings += _looks_odd(clients, labels, ["/".join(path) for path in members.groups if path], counts)
    rows = sorted(np.flatnonzero(kept).tolist(), key=clients.__getitem__)
    columns = sorted(range(len(labels)), key=labels.__getitem__)
    number = np.argsort([members.groups[path] for path in paths])
    above = []
    for tier in range(1, len(members.tiers)):
        index = {path: i for i, path in enumerate(dict.fromkeys(path[:tier] for path in paths))}
        above.append(np.array([index[path[:tier]] for path in paths], dtype=np.int64))
    return LabelCounts(
        source=str(table.path),
        clients=tuple(clients[i] for i in rows),
        labels=tuple(labels[j] for j in columns),
        counts=counts[np.ix_(rows, columns)],
        groups=tuple("/".join(path) for path in paths),
        group_of=number[group_of[rows]] if paths else np.zeros(0, dtype=np.int64),
        lines=tuple(lines[i] for i in rows),
        columns=tuple(columns),
        warnings=tuple(warnings),
        above=tuple(above),
        tiers=(*members.tiers, "client"),
        chosen=frames.chosen(table.path),
    )


def _looks_odd(clients: Sequence[str], labels: Sequence[str], groups: Sequence[str], counts: Floats) -> list[str]:
    """What a spreadsheet may have left in a table, and that would count as data: sums, and names in two spellings."""
    odd, whole = [], counts.sum()
    for noun, names, table in (("Label", labels, counts.T), ("Client", clients, counts)):
        for i in np.flatnonzero(2 * table.sum(axis=1) == whole).tolist() if len(table) > 2 else ():
            if np.array_equal(2 * table[i], table.sum(axis=0)):
                rows, part = (" in every row", "column") if noun == "Label" else ("", "row")
                odd.append(f"{noun} {names[i]!a:.60} is the sum of all others{rows}: remove a {part} of totals.")
    spelled: dict[str, str] = {}
    for name in groups:
        other = spelled.setdefault(name.casefold(), name)
        if other != name:
            odd.append(f"Groups {other!a:.60} and {name!a:.60} differ in capitals alone, and are taken for two.")
    return odd
