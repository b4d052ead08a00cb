"""Fleets by list: every client with its group, its samples, its speed, its link and whether it comes.

A CSV has the columns ``client`` and ``group``, nested groups as in ``north/edge 3``, and of ``samples``, ``step_time``,
``link`` and ``availability`` those that are known; an empty field is what the scenario says of all. A column ``node``
is for `hfl-plan network`. Columns may come in any order, clients too: those of a group run in the order of the file.
The same by group are the tables of ``[[fleet.groups]]``. Wrong places are named as file:line:field.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import ScenarioError
from planner.io.csv_rows import CsvTable, Floats, Ids, Indices
from planner.io.wording import counted

if TYPE_CHECKING:
    from planner.data.label_counts import LabelCounts

COLUMNS: Final = ("samples", "step_time", "link", "availability")
NOTHING: Final[Mapping[str, Any]] = {"samples": math.nan, "step_time": math.nan, "link": "", "availability": math.nan}
"""What stands for a field that is empty."""
LARGEST_FLEET: Final = 250_000  # clients of a list
DEEPEST: Final = 7  # names in the path of a group


@dataclass(frozen=True, eq=False)
class Listed:
    """A fleet client by client, those of a group next to each other; equal contents compare equal."""

    source: str  # what the list is called in messages
    clients: tuple[str, ...]  # names
    groups: tuple[str, ...]  # paths of the groups, such as ``north/edge 3``, in the order in which they first come
    sizes: tuple[Indices, ...]  # children of every node above each tier, top first; the last are clients of the groups
    samples: Floats | None = None  # of every client; None where nobody said
    # mean time of a local step of every client [s]; NaN for what the scenario says; None for all
    step_time: Floats | None = None
    link: tuple[str, ...] | None = None  # preset of every client's link; "" for what the scenario says; None for all
    availability: Floats | None = None  # probability that a client that is asked completes its turn; as ``step_time``
    placed: bool = False  # whether the file has a column ``node``, which is for `hfl-plan network` and ``--sites``
    named: bool = False  # whether clients have the names of a file

    @property
    def depth(self) -> int:
        """Number of tiers."""
        return len(self.sizes)

    @property
    def weights(self) -> Literal["samples", "equal"]:
        """What clients count by, where nobody said."""
        return "equal" if self.samples is None else "samples"

    @property
    def nodes(self) -> tuple[int, ...]:
        """Nodes of every tier, top first; the last are clients."""
        return tuple(int(one.sum()) for one in self.sizes)

    def of_all(self, column: str) -> bool:
        """Whether a column says something of every client."""
        told = getattr(self, column)
        return told is not None and not any(one == "" or one != one for one in told)

    @cached_property
    def digest(self) -> str:
        """Of the contents, but not of names."""
        parts = [*self.sizes, *(one for one in (self.samples, self.step_time, self.availability) if one is not None)]
        told = hashlib.blake2b(repr((self.link, [one.shape for one in parts])).encode(), digest_size=16)
        for part in parts:
            told.update(part.tobytes())
        return told.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Listed) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def read_fleet(path: Path, readers: Mapping[str, Callable[[Any, str], Any]]) -> Listed:
    """Read a fleet client by client.

    What reads a field, by column, is given its text and what it is called in a refusal.
    """
    table = CsvTable(path)
    table.need("client", way_out="Write client,group and a line for each client")
    table.need("group", way_out="Write the group of every client, nested ones as north/edge 3")
    headings = ("client", "group", *COLUMNS, "node")  # `hfl-plan network` reads the last
    table.only(headings, f"in a fleet (known are {', '.join(headings)})", "Remove it")
    told = [name for name in COLUMNS if name in table]
    known: dict[str, dict[str, Any]] = {name: {} for name in told}
    clients, groups, paths = Ids(), Ids(), dict[str, tuple[str, ...]]()
    group_of: list[int] = []
    columns: dict[str, list[Any]] = {name: [] for name in told}
    for row in table.rows("client"):
        client = clients.once(row, "client", "a client")
        if len(clients) > LARGEST_FLEET:
            row.refuse(
                f"the list has more than {LARGEST_FLEET:,} clients",
                "Say clients that are alike by group, [[fleet.groups]] with clients = 5000, or list a sample",
            )
        path_ = row["group"]
        if path_ not in groups.index:
            if not path_:
                row.refuse(f"client {client!a:.60} has no group", "Write its group", "group")
            try:
                paths[path_] = _names(path_)
            except ValueError as error:
                row.refuse(str(error), "Write names as in north/edge 3", "group")
            first = next(iter(paths))
            if len(paths[path_]) != len(paths[first]):
                row.refuse(
                    f"the group {path_!a:.60} is {counted(len(paths[path_]), 'name')} deep, and {first!a:.60} on line "
                    f"{groups.lines[0]} is {counted(len(paths[first]), 'name')}",
                    "Give every client a path of as many names",
                    "group",
                )
        group_of.append(groups.add(path_, row)[0])
        for name in told:
            text = row.plain(name)
            if text not in known[name]:
                where = f"{path}:{row.line}:{table.place(name) + 1}: {name}"
                known[name][text] = readers[name](text, where) if text else NOTHING[name]
            columns[name].append(known[name][text])
    if "samples" in told and (lost := [i for i, number in enumerate(columns["samples"]) if math.isnan(number)]):
        i = lost[0]
        table.refuse(
            f"client {clients.names[i]!a:.60} has no samples, and others have",
            "Write them for every client, or leave the column out",
            "samples",
            clients.lines[i],
        )
    found = _arranged(str(path), clients.names, [paths[name] for name in groups.names], group_of, columns)
    return replace(found, placed="node" in table, named=True)


def by_groups(rows: Sequence[Mapping[str, Any]], field: str) -> Listed:
    """Make a fleet of groups of clients that are alike.

    The rows are the tables of ``[[fleet.groups]]``, read.

    Raises:
        ScenarioError: For names that come twice, or lie deeper than others.
    """
    paths: list[tuple[str, ...]] = []
    for i, row in enumerate(rows, 1):
        at = f"{field}[{i}]"
        if "clients" not in row:
            raise ScenarioError(f"{at}.clients: is missing. Say how many clients the group has.", code="E003")
        name = row.get("name") or f"group {i}"
        try:
            paths.append(_names(name))
        except ValueError as error:
            raise ScenarioError(f"{at}.name: {error}. Write names as in north/edge 3.") from None
        if paths[-1] in paths[:-1]:
            raise ScenarioError(f"{at}.name: {name!a:.60} is the name of group {paths.index(paths[-1]) + 1} too.")
        if len(paths[-1]) != len(paths[0]):
            raise ScenarioError(
                f"{at}.name: {name!a:.60} is {counted(len(paths[-1]), 'name')} deep, and {'/'.join(paths[0])!a:.60} is "
                f"{counted(len(paths[0]), 'name')}. Give every group a path of as many names."
            )
    counts = [row["clients"] for row in rows]
    if sum(counts) > LARGEST_FLEET:
        raise ScenarioError(f"{field}: {sum(counts):,} clients in all are more than {LARGEST_FLEET:,}.", code="E004")
    told = [name for name in COLUMNS if any(name in row for row in rows)]
    if "samples" in told and (lost := [i for i, row in enumerate(rows, 1) if "samples" not in row]):
        raise ScenarioError(
            f"{field}[{lost[0]}].samples: is missing, and others have it. Write it for every group.", code="E003"
        )
    group_of = [g for g, count in enumerate(counts) for _ in range(count)]
    columns = {name: [rows[g].get(name, NOTHING[name]) for g in group_of] for name in told}
    names = [f"client{g}-{i}" for g, count in enumerate(counts, 1) for i in range(1, count + 1)]
    return _arranged(field, names, paths, group_of, columns)


def by_sizes(source: str, sizes: Sequence[Sequence[int]], samples: ArrayLike | None = None) -> Listed:
    """Make a fleet of nodes without names.

    ``sizes`` are the children of every node above each tier, top first; they fit.
    """
    children = tuple(np.asarray(one, dtype=np.int64) for one in sizes)
    groups = tuple(f"group {i}" for i in range(1, len(children[-1]) + 1))
    clients = tuple(f"client {i}" for i in range(1, int(children[-1].sum()) + 1))
    return Listed(source, clients, groups, children, None if samples is None else np.asarray(samples, dtype=np.float64))


def by_power(source: str, counts: Sequence[int], exponent: float, seed: int) -> Listed:
    """Make a fleet of groups of one size whose samples follow a power law.

    The client of rank i has ``i**-exponent`` of the samples of the first; the seed is of the order in which ranks are
    dealt.

    Raises:
        ScenarioError: For more clients than a list may have.
    """
    nodes = [1]
    for count in counts:
        nodes.append(nodes[-1] * count)
    if nodes[-1] > LARGEST_FLEET:
        raise ScenarioError(f"{source}: {nodes[-1]:,} clients in all are more than {LARGEST_FLEET:,}.", code="E004")
    ranks = np.random.default_rng(seed).permutation(nodes[-1]) + 1.0
    return by_sizes(source, [[count] * above for count, above in zip(counts, nodes, strict=False)], ranks**-exponent)


def of_counts(table: LabelCounts, *, samples: bool) -> Listed:
    """Take the fleet of a table of label counts, clients and groups in the order of the file.

    With ``samples`` clients count by the sums of their counts.

    Raises:
        ScenarioError: For more clients than a list may have.
    """
    if len(table.clients) > LARGEST_FLEET:
        raise ScenarioError(
            f"{table.source}: {len(table.clients):,} clients are more than the {LARGEST_FLEET:,} of a fleet by list. "
            "Give --groups and --clients-per-group, the means, or a sample of the clients."
        )
    depth = len(table.above) + 1
    rows = np.argsort(table.lines, kind="stable")
    groups = list(dict.fromkeys(table.group_of[rows].tolist()))  # in the order of the file
    place = {group: i for i, group in enumerate(groups)}
    paths = [tuple(table.groups[g].split("/")) if depth > 1 else (table.groups[g],) for g in groups]
    if wrong := [path for path in paths if len(path) != depth]:
        raise ScenarioError(
            f"{table.source}: the group {'/'.join(wrong[0])!a:.60} has a slash in a name, which separates tiers. "
            "Rename it."
        )
    group_of = [place[g] for g in table.group_of[rows].tolist()]
    columns = {"samples": table.counts.sum(axis=1)[rows]} if samples else {}
    return _arranged(table.source, [table.clients[i] for i in rows], paths, group_of, columns)


def _names(path: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in path.split("/"))
    if not all(names) or not path.isprintable() or len(path) > 200:
        raise ValueError(f"{path!a:.60} is not a path of names")
    if len(names) > DEEPEST:
        raise ValueError(f"{path!a:.60} is {len(names)} names deep, and at most {DEEPEST} are read")
    return names


def _arranged(
    source: str,
    clients: Sequence[str],
    paths: Sequence[tuple[str, ...]],
    group_of: Sequence[int],
    columns: Mapping[str, Sequence[Any]],
) -> Listed:
    """Put nodes below one parent next to each other, each in the order in which it first comes."""
    first: dict[tuple[str, ...], int] = {}
    for path in paths:
        for depth in range(1, len(path) + 1):
            first.setdefault(path[:depth], len(first))
    order = sorted(range(len(paths)), key=lambda g: [first[paths[g][:d]] for d in range(1, len(paths[g]) + 1)])
    at = np.argsort(order)[np.asarray(group_of, dtype=np.int64)]
    row = np.argsort(at, kind="stable")
    arranged, sizes = [paths[g] for g in order], []
    for depth in range(len(paths[0])):
        nodes = list(dict.fromkeys(path[: depth + 1] for path in arranged))
        above = {path: i for i, path in enumerate(dict.fromkeys(node[:depth] for node in nodes))}
        sizes.append(np.bincount([above[node[:depth]] for node in nodes], minlength=len(above)))
    sizes.append(np.bincount(at, minlength=len(paths)))
    numbers = {name: np.asarray(columns[name], dtype=np.float64)[row] for name in columns if name != "link"}
    links = tuple(columns["link"][i] for i in row) if "link" in columns else ()
    names, groups = tuple(clients[i] for i in row), tuple("/".join(path) for path in arranged)
    children = tuple(one.astype(np.int64) for one in sizes)
    samples, step_time, comes = (numbers.get(name) for name in ("samples", "step_time", "availability"))
    return Listed(source, names, groups, children, samples, step_time, links if any(links) else None, comes)
