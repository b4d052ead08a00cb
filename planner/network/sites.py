"""Clients and where they are: a fleet on a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from planner.errors import ScenarioError
from planner.io.csv_rows import CsvTable, Ids, Row
from planner.network.read import parsed
from planner.network.underlay import Floats, Indices, Underlay
from planner.scenario.units import parse_duration

MAX_CLIENTS: Final = 20_000
COLUMNS: Final = ("client", "group", "node", "samples", "step_time")


@dataclass(frozen=True, eq=False)
class Sites:
    """Clients, their places and groups."""

    clients: tuple[str, ...]  # names
    at: Indices  # place of each client, by its number in the network
    group: Indices  # group of each client; all 0 where there are none
    groups: tuple[str, ...]  # names of the groups, one or more
    samples: Floats  # of each client
    work: Floats  # time of each client's local steps in a pass [s]

    def members(self, group: int) -> Indices:
        """Clients of a group, in the order given."""
        return np.flatnonzero(self.group == group)

    def without(self, client: int) -> Sites:
        """The same fleet without a client; a group that is left empty goes too."""
        left = np.delete(np.arange(len(self.clients)), client)
        kept, group = np.unique(self.group[left], return_inverse=True)
        clients, groups = tuple(self.clients[i] for i in left), tuple(self.groups[g] for g in kept)
        return Sites(clients, self.at[left], group.astype(np.intp), groups, self.samples[left], self.work[left])

    def together(self) -> Sites:
        """The same clients in one group."""
        return replace(self, group=np.zeros_like(self.group), groups=("all",))


def everywhere(network: Underlay) -> Sites:
    """A client at every place, all in one group, and nothing known of their work."""
    n = len(network.places)
    return Sites(network.places, np.arange(n), np.zeros(n, dtype=np.intp), ("all",), np.ones(n), np.full(n, np.nan))


def read_sites(path: Path, network: Underlay) -> Sites:
    """Read a fleet: ``client`` and any of ``group``, ``node``, ``samples``, ``step_time``.

    Without ``node`` a client is at the place of its own name. The work is that of one local step, NaN where no
    ``step_time`` says it.
    """
    table, ids, groups = CsvTable(path), Ids(), Ids()
    table.need("client", way_out="Write client,group,node and a line for each client")
    table.only(COLUMNS, "for a fleet on a network", f"Keep {', '.join(COLUMNS)}")
    index = {name: i for i, name in enumerate(network.places)}
    found: list[tuple[int, int, float, float]] = []
    for row in table.rows("client"):
        name = ids.once(row, "client", "a client")
        if len(ids) > MAX_CLIENTS:
            row.refuse(f"there are over {MAX_CLIENTS:,} clients", "Join clients that are near each other", "client")
        place = _place(row, index, network, "node" if "node" in table and row["node"] else "client")
        if "group" in table and not row["group"]:
            row.refuse(f"client {name!a:.60} has no group", "Write its group", "group")
        own = groups.add(row.name("group", "a group"), row)[0] if "group" in table else 0
        samples = row.number("samples", "a number of samples") if "samples" in table else 1.0
        told = "step_time" in table and row["step_time"]
        found.append((place, own, samples, parsed(parse_duration)(row, "step_time") if told else np.nan))
    at, group, each, work = map(np.array, zip(*found, strict=True))
    return Sites(tuple(ids.names), at, group, tuple(groups.names) or ("all",), each, work)


def _place(row: Row, index: dict[str, int], network: Underlay, column: str) -> int:
    if row[column] in index:
        return index[row[column]]
    try:
        return network.index(row[column], f"{row.table.path}:{row.line}:{row.table.place(column) + 1}")
    except ScenarioError as error:
        hint = " Or give the column node." if column == "client" else ""
        raise ScenarioError(f"{error}{hint}") from None


def read_places(path: Path, network: Underlay, groups: Sequence[str]) -> Indices:
    """Read where the servers of groups stand: ``group,node``."""
    table = CsvTable(path)
    table.need("group", "node")
    index, found, ids = {name: i for i, name in enumerate(network.places)}, {}, Ids()
    for row in table.rows():
        name = ids.once(row, "group", "a group")
        if name not in groups:
            row.refuse(f"no client is of group {name!a:.60}", "Check the name", "group")
        found[name] = _place(row, index, network, "node")
    if left := [name for name in groups if name not in found]:
        table.refuse(f"group {left[0]!a:.60} has no server", "Add its line")
    return np.array([found[name] for name in groups])
