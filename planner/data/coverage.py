"""Which client is under which edge servers, read from a layout in words or from CSV.

Two forms of CSV are read, told apart by the header. Wide: ``client`` and a column of 0 and 1 for each server. Pairs:
``client,server``, a line for each link, perhaps with ``airtime``: what a model over this link takes, in units of a
plain transfer. In both, a column ``home`` may name the one server that the client has where nothing overlaps. Wrong
places are named as file:line:field.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hflbounds.coverage import ring, triangle
from hflbounds.errors import DomainError
from planner.data.homes import balanced, by_name
from planner.errors import ScenarioError
from planner.io.csv_rows import LARGEST_TABLE, Cells, CsvTable, Ids, Row

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

LARGEST_AIRTIME = 1e6  # and its inverse: of a link, in plain transfers
TOO_MANY = "clients times servers", "Take a part of the network"
WAY = (
    "Write a CSV file, rows such as 110;011, or a layout. In ring:3,19,4,1 there are 3 servers of 19 clients, 4 also "
    "under the next, 1 under all. In triangle:14,4,1 of 3 servers 14 clients are alone, 4 under two, 1 under all"
)


@dataclass(frozen=True, eq=False)
class Layout:
    """Clients, servers, and the links between them."""

    source: str  # what it is called in messages
    clients: tuple[str, ...]  # clients, servers: names
    servers: tuple[str, ...]
    # of shape (clients, servers): of one model over a link, in plain transfers; 0 where there is no link
    airtime: Floats
    home: Indices  # the index of the one server each client has in HFL
    home_given: bool  # whether the input says so; else they are `balanced`
    warnings: tuple[str, ...] = ()  # what was left out
    listed: tuple[tuple[str, ...], tuple[str, ...]] | None = None  # clients and servers as they came, where sorted

    @cached_property
    def links(self) -> NDArray[np.bool_]:
        """Of shape (clients, servers)."""
        return np.asarray(self.airtime > 0)

    @property
    def homes_open(self) -> bool:
        """Whether homes were chosen where there was a choice."""
        return not self.home_given and bool((self.links.sum(axis=1) > 1).any())

    @property
    def sorted(self) -> Layout:
        """The same by names, so that nothing depends on the order of rows, sums and ties included."""
        rows, columns = by_name(self.clients), by_name(self.servers)
        return replace(self._taken(rows, columns), listed=self.listed or (self.clients, self.servers))

    @property
    def as_listed(self) -> Layout:
        """The same in the order of the input."""
        if self.listed is None:
            return self
        rows, columns = (
            np.array([index[name] for name in names if name in index], dtype=np.int64)
            for names, there in zip(self.listed, (self.clients, self.servers), strict=True)
            for index in [{name: i for i, name in enumerate(there)}]
        )
        return replace(self._taken(rows, columns), listed=None)

    def _taken(self, rows: Indices, columns: Indices) -> Layout:
        return replace(
            self,
            clients=tuple(self.clients[i] for i in rows),
            servers=tuple(self.servers[n] for n in columns),
            airtime=self.airtime[np.ix_(rows, columns)],
            home=np.argsort(columns)[self.home[rows]],
        )

    @cached_property
    def known(self) -> dict[Hashable, Any]:
        """What others have worked out of it, to look up."""
        return {}

    def without(self, dropped: NDArray[np.bool_]) -> Layout:
        """The same with fewer links."""
        return replace(self, airtime=np.where(dropped, 0.0, self.airtime))

    @cached_property
    def apart(self) -> Layout:
        """Every client under its home server alone; servers that nobody calls home are left out."""
        alone = np.zeros_like(self.airtime)
        rows = np.arange(len(self.home))
        alone[rows, self.home] = self.airtime[rows, self.home]
        kept = np.unique(self.home)
        servers = tuple(self.servers[n] for n in kept)
        return replace(self, servers=servers, airtime=alone[:, kept], home=np.searchsorted(kept, self.home))


def read_layout(text: str) -> Layout:
    """Read a layout, a path or words.

    Words are ``ring:SERVERS,CLIENTS,SHARED[,EVERYWHERE]``, ``triangle:ALONE,PAIRS,TRIPLES``, or rows of 0 and 1 with
    semicolons between.
    """
    said = text.strip()
    if said.startswith("ring:"):
        return _ring(said)
    if said.startswith("triangle:"):
        return _triangle(said)
    if re.fullmatch(r"[01]+(;[01]+)*", said) and not Path(said).exists():
        return _rows(said)
    if said.lower().endswith(".csv") or Path(said).is_file():
        return _file(Path(said))
    raise ScenarioError(f"{said!a:.80} is no coverage. {WAY}.")


def _ring(said: str) -> Layout:
    numbers = re.fullmatch(r"ring:(\d{1,6}),(\d{1,6}),(\d{1,6})(?:,(\d{1,6}))?", said)
    if numbers is None:
        raise ScenarioError(f"{said!a:.80} is no ring of servers. {WAY}.")
    servers, clients, shared, everywhere = (int(number or 0) for number in numbers.groups())
    if shared + everywhere > clients:
        raise ScenarioError(
            f"{said!a}: {shared + everywhere} of the {clients} clients of a server overlap. Let at most {clients}.",
            code="E004",
        )
    if servers * servers * clients > LARGEST_TABLE:
        raise ScenarioError(
            f"{said!a}: clients times servers exceed {LARGEST_TABLE}. Take a part of the network.", code="E004"
        )
    try:
        found = ring(servers, clients, shared).reshape(servers, clients, servers)
    except DomainError as error:
        raise ScenarioError(f"{said!a}: {error}. Give at least one server and one client.") from None
    found[:, shared : shared + everywhere] = 1
    return _plain(said, found.reshape(-1, servers), np.repeat(np.arange(servers), clients))


def _triangle(said: str) -> Layout:
    """Three servers, and clients under two of them shared out evenly: the layout of liu2026, Section V-A."""
    numbers = re.fullmatch(r"triangle:(\d{1,6}),(\d{1,6}),(\d{1,6})", said)
    alone, pairs, triples = (int(number) for number in numbers.groups()) if numbers else (0, 0, 0)
    if numbers is None or not alone + pairs + triples:
        raise ScenarioError(f"{said!a:.80} is no triangle of servers with clients. {WAY}.")
    return _plain(said, triangle(alone, pairs, triples), np.repeat(np.arange(3), alone + pairs + triples))


def _rows(said: str) -> Layout:
    rows = said.split(";")
    for i, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise ScenarioError(
                f"{said!a:.80}: row {i} has {len(row)} servers, and the first has {len(rows[0])}. "
                "Write a 0 or 1 for every server."
            )
        if "1" not in row:
            raise ScenarioError(f"{said!a:.80}: client {i} is under no server. Put it under one, or leave its row out.")
    return _plain(said, np.array([[float(digit) for digit in row] for row in rows]), None)


def _plain(source: str, airtime: Floats, home: Indices | None) -> Layout:
    clients, servers = airtime.shape
    names = tuple(f"c{i + 1}" for i in range(clients)), tuple(f"s{n + 1}" for n in range(servers))
    return _checked(source, *names, airtime, home)


def _file(path: Path) -> Layout:
    table = CsvTable(path)
    each = "Write client,server with a line for each pair, or client and a column of 0 and 1 for each server"
    table.need("client", way_out=each)
    members = _Members("home" in table)
    servers, airtime = (_pairs if "server" in table else _wide)(table, members)
    homes = members.homes(table, servers, airtime)
    return _checked(str(path), tuple(members.clients.names), tuple(servers), airtime, homes)


def _wide(table: CsvTable, members: _Members) -> tuple[list[str], Floats]:
    servers = [name for name in table.header if name not in ("client", "home")]
    if not servers:
        table.refuse("there is no column of a server", "Add one for each, or write client,server pairs")
    cells = []
    for row in table.rows("client"):
        members.add(row)
        cells.append([_mark(row, name) for name in servers])
        if not any(cells[-1]):
            row.refuse(_homeless(row), "Put it under one, or leave the line out")
        if len(cells) * len(servers) > LARGEST_TABLE:
            row.refuse(f"{TOO_MANY[0]} exceed {LARGEST_TABLE}", TOO_MANY[1])
    return servers, np.array(cells, dtype=np.float64)


def _homeless(row: Row) -> str:
    return f"client {row['client']!a:.60} is under no server"


def _mark(row: Row, server: str) -> float:
    text = row[server]
    if text not in ("0", "1"):
        fact = f"{text!a:.40} in column {server!a:.40} is not 0 or 1" if text else "there is no 0 or 1"
        hint = {"": "Write 0 where the server does not reach the client", "1.0": "Write 1", "0.0": "Write 0"}
        way = "After client there is a column for each server: write 1 where it reaches the client, else 0"
        row.refuse(fact, hint.get(text, way), server)
    return float(text)


def _pairs(table: CsvTable, members: _Members) -> tuple[list[str], Floats]:
    table.only(
        ("client", "server", "airtime", "home"),
        "here",
        "Known beside client and server are airtime and home; with a column for each server, leave server out",
    )
    servers = Ids()
    cells = Cells(members.clients, servers, ("client", "server", TOO_MANY[0]), ("Keep one line", TOO_MANY[1]))
    for row in table.rows("link"):
        i = members.add(row, again=True)
        if not row["server"]:
            row.refuse(_homeless(row), "Name the server, or leave the line out", "server")
        cells.put(row, i, servers.add(row.name("server", "a server"), row)[0], _airtime(row))
    return servers.names, cells.array()


def _airtime(row: Row) -> float:
    if "airtime" not in row.table:
        return 1.0
    value = row.number("airtime", "an airtime")
    if not 1 / LARGEST_AIRTIME <= value <= LARGEST_AIRTIME:
        rule = f"Write plain transfers, from {1 / LARGEST_AIRTIME:g} to {LARGEST_AIRTIME:g}; without a link, no line"
        row.refuse(f"{row['airtime']!a:.40} is not an airtime", rule, "airtime")
    return value


class _Members:
    """Clients and their homes, as lines come in."""

    def __init__(self, with_homes: bool) -> None:
        self.clients = Ids()
        self.named: list[str] | None = [] if with_homes else None

    def add(self, row: Row, *, again: bool = False) -> int:
        """The index of a row's client, which may come again where a row is a link."""
        client = row.name("client", "a client")
        home = "" if self.named is None else row["home"]
        i, new = self.clients.add(client, row)
        if new:
            if self.named is not None:
                self.named.append(home)
        elif not again:
            self.clients.refuse(i, row, "client", "a client")
        elif self.named is not None and home != self.named[i]:
            fact = f"the home of client {client!a:.60} is {home!a:.60} here, and {self.named[i]!a:.60} before"
            row.refuse(fact, "Write one home", "home")
        return i

    def homes(self, table: CsvTable, servers: list[str], airtime: Floats) -> Indices | None:
        """Indices of the homes, where the table has them."""
        if self.named is None:
            return None
        known = {name: n for n, name in enumerate(servers)}
        for i, name in enumerate(self.named):
            if name not in known or not airtime[i, known[name]]:
                fact = f"{name!a:.60} is no server of client {self.clients.names[i]!a:.60}"
                way_out = "Name one of its servers as home, or leave the column out"
                table.refuse(fact, way_out, "home", self.clients.lines[i])
        return np.array([known[name] for name in self.named], dtype=np.int64)


def _checked(
    source: str, clients: tuple[str, ...], servers: tuple[str, ...], airtime: Floats, home: Indices | None
) -> Layout:
    kept = np.flatnonzero((airtime > 0).any(axis=0))
    warnings = []
    if len(kept) < len(servers):
        idle = [servers[n] for n in range(len(servers)) if n not in set(kept.tolist())]
        more = f" and {len(idle) - 3} more" if len(idle) > 3 else ""
        verb = "reaches" if len(idle) == 1 else "reach"
        told = ", ".join(f"{name!a:.40}" for name in idle[:3])
        warnings.append(f"{told}{more} {verb} no client: without clients a server changes nothing, and is left out.")
    airtime, servers = airtime[:, kept], tuple(servers[n] for n in kept)
    if home is not None:
        return Layout(source, clients, servers, airtime, np.searchsorted(kept, home), True, tuple(warnings))
    rows, columns = by_name(clients), by_name(servers)
    chosen, best = balanced(airtime[np.ix_(rows, columns)])
    if not best:
        warnings.append("Homes are balanced one client at a time, as there are many: a column home would say them.")
    return Layout(source, clients, servers, airtime, columns[chosen][np.argsort(rows)], False, tuple(warnings))
