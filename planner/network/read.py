"""Networks from files: lists of links, matrices of measurements, coordinates, GML and GraphML.

What a file does not say is filled in only by a rule that the user gave, and `Underlay.notes` keeps which numbers these
are. Refusals name file, line and field, the fact and the way out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.errors import PlannerError, ScenarioError
from planner.io.csv_rows import CsvTable, Floats, Ids, Row
from planner.io.text import capped
from planner.io.wording import counted, join_with_limit
from planner.network.underlay import LATENCY, MAX_PLACES, MAX_ROUTED, Cities, LatencyModel, Linked, Pairs, Underlay
from planner.scenario.units import format_rate, parse_duration, parse_rate

MAX_LINKS: Final = 200_000
LARGEST_GRAPH: Final = 1 << 24  # bytes of GML or GraphML
KM: Final = 4e4  # longest distance that is read
GRAPHS: Final = (".gml", ".graphml")
Network = TypeVar("Network", bound=Underlay)


@dataclass(frozen=True, slots=True)
class Filling:
    """Rules for what a file does not say; None refuses what is missing."""

    bandwidth: float | None = None  # of a link without one [bit/s]
    model: LatencyModel | None = None  # latency of a link that has a distance alone, and what a transfer takes beside
    up: float | None = None  # up, down: access of places without their own [bit/s]
    down: float | None = None
    detour: bool = False  # whether pairs that were not measured take the best way over others
    stored: bool = False  # as of `Linked`


class _Quantity(NamedTuple):
    """A number of a link or a place: columns that may have it, each with its way to read."""

    noun: str
    columns: dict[str, Callable[[Row, str], float]]


def read(path: Path, filling: Filling | None = None, *, beside: Path | None = None) -> Underlay:
    """Read a network from a file, by what it looks like.

    ``beside`` is a matrix of bandwidths, for one of latencies.
    """
    rules = filling or Filling()
    if path.suffix.lower() in GRAPHS:
        return _read_graph(path, rules)
    table = CsvTable(path)
    if "lat" in table or "latitude" in table:
        return _read_cities(table, rules)
    if table.header[0] in MATRICES:
        return _read_matrices(table, None if beside is None else CsvTable(beside), rules)
    if "a" in table and "b" in table:
        return read_links(path, rules)
    table.refuse(
        f"the header {','.join(table.header)!a:.60} is of no network",
        "Write a list of links a,b,latency_ms,bandwidth_mbit; a matrix latency_ms,<place>,...; or node,lat,lon",
    )


def _scaled(factor: float, noun: str, most: float, *, positive: bool) -> Callable[[Row, str], float]:
    def found(row: Row, column: str) -> float:
        value = row.number(column, noun)
        if positive and value == 0:
            row.refuse(f"{noun} is zero", "Write a number above 0, or remove the link", column)
        if value > most:
            row.refuse(f"{value:g} is more than {noun} can be ({most:g})", "Check the unit", column)
        return value * factor

    return found


def parsed(read: Callable[..., float]) -> Callable[[Row, str], float]:
    """Read a field with its unit; refusals name file, line and field."""

    def found(row: Row, column: str) -> float:
        try:
            return float(read(row[column], field=f"{row.table.path}:{row.line}:{row.table.place(column) + 1}"))
        except PlannerError as error:
            raise ScenarioError(str(error)) from None

    return found


DISTANCE: Final = _Quantity("distance", {"distance_km": _scaled(1.0, "a distance", KM, positive=False)})
DELAY: Final = _Quantity(
    "latency", {"latency_ms": _scaled(1e-3, "a latency", 1e7, positive=False), "latency": parsed(parse_duration)}
)


def _rates(name: str) -> _Quantity:
    return _Quantity(
        name, {f"{name}_mbit": _scaled(1e6, f"{name} in Mbit/s", 1e12, positive=True), name: parsed(parse_rate)}
    )


BANDWIDTH: Final = _rates("bandwidth")
RATES: Final = {way: _rates(way) for way in ("up", "down")}
MATRICES: Final = {"latency_ms": DELAY, "distance_km": DISTANCE, "bandwidth_mbit": BANDWIDTH}


def _column(table: CsvTable, quantity: _Quantity) -> str | None:
    """The column of a quantity; None where there is none."""
    found = [name for name in quantity.columns if name in table]
    if len(found) > 1:
        table.refuse(f"columns {found[0]} and {found[1]} both say the {quantity.noun}", "Keep one", found[1])
    return found[0] if found else None


def _of(row: Row, quantity: _Quantity, column: str | None) -> float | None:
    return None if column is None or not row[column] else quantity.columns[column](row, column)


def read_links(path: Path, filling: Filling, *, name: str | None = None) -> Linked:
    """Read a list of links: ``a,b`` and any of ``distance_km``, ``latency_ms``, ``bandwidth_mbit``; both ways the same.

    A column ``directed`` of 0 and 1 says which lines are of one direction only.
    """
    table = CsvTable(path)
    table.need("a", "b", way_out="Write a list of links with the columns a,b,latency_ms,bandwidth_mbit")
    links = _Links(str(path), filling)
    columns = [(quantity, _column(table, quantity)) for quantity in (DISTANCE, DELAY, BANDWIDTH)]
    known = ("a", "b", "directed", *(column for _, column in columns if column))
    table.only(known, "in a list of links", "Remove it, or see docs/networks.md for those that have")
    for row in table.rows("link"):
        ends = row.name("a", "a place"), row.name("b", "a place")
        numbers = [_of(row, quantity, column) for quantity, column in columns]
        directed = "directed" in table and row["directed"] == "1"
        links.add(ends, numbers, place=f"line {row.line}", refuse=row.refuse, directed=directed)
    return links.underlay(name or path.stem)


class _Links:
    """Links as they come, one line after the other."""

    def __init__(self, source: str, filling: Filling) -> None:
        self.source, self.filling = source, filling
        self.places: dict[str, int] = {}
        self.links: list[tuple[tuple[int, int], float, float]] = []  # ends, latency and bandwidth
        self.lines: dict[tuple[int, int], str] = {}
        self.filled: dict[str, int] = {"latency": 0, "bandwidth": 0}
        self.count = 0

    def add(
        self, ends: tuple[str, str], numbers: Sequence[float | None], *, place: str,
        refuse: Callable[[str, str], NoReturn], directed: bool,
    ) -> None:  # fmt: skip
        """Add a link, both ways unless ``directed``; its numbers are distance [km], latency [s] and bandwidth."""
        (a, b), (km, delay, bandwidth) = ends, numbers
        if a == b:
            refuse(f"a link joins {a!a:.60} with itself", "Remove the line")
        i, j = (self.places.setdefault(name, len(self.places)) for name in (a, b))
        ways = ((i, j),) if directed else ((i, j), (j, i))
        for way in ways:
            if way in self.lines:
                first = self.lines[way]
                refuse(f"the link from {a!a:.60} to {b!a:.60} comes twice, first in {first}", "Keep one of the two")
            self.lines[way] = place
        if self.count >= MAX_LINKS or len(self.places) > MAX_ROUTED:
            many = f"over {MAX_LINKS:,} links" if self.count >= MAX_LINKS else f"over {MAX_ROUTED:,} places"
            refuse(f"there are {many}", "Join places that are near each other, or give coordinates (node,lat,lon)")
        model = self.filling.model
        if delay is None:
            if km is None:
                refuse("the link has neither latency nor distance", "Write latency_ms or distance_km")
            delay = (model or LATENCY).per_km * km
            self.filled["latency"] += 1
        if bandwidth is None:
            if self.filling.bandwidth is None:
                refuse("the link has no bandwidth", "Write bandwidth_mbit, or fill in with --bandwidth 1Gbit/s")
            bandwidth = self.filling.bandwidth
            self.filled["bandwidth"] += 1
        self.count += 1
        self.links += ((way, delay, bandwidth) for way in ways)

    def underlay(self, name: str) -> Linked:
        """The network, if it is in one piece."""
        places, filling = tuple(self.places), self.filling
        by_distance = self.filled["latency"] > 0
        model = filling.model or LATENCY
        up, down, note = _access(len(places), filling)
        ends, latency, bandwidth = zip(*self.links, strict=True)
        found = Linked(
            name=name,
            places=places,
            up=up,
            down=down,
            ends=np.array(ends, dtype=np.intp),
            latency=np.array(latency),
            bandwidth=np.array(bandwidth),
            fixed=model.fixed if by_distance or filling.model else 0.0,
            stored=filling.stored,
            notes=(
                _note("latency", self.count, self.filled["latency"], f"by {model}"),
                _note("bandwidth", self.count, self.filled["bandwidth"], f"taken to be {_rate(filling.bandwidth)}"),
                note,
            ),
        )
        _in_one_piece(found, self.source)
        return found


def _in_one_piece(network: Linked, source: str) -> None:
    """Refuse a network with places that others cannot reach."""
    for ends, how in ((network.ends, "reached from"), (network.ends[:, ::-1], "heard at")):
        latencies, _, _ = replace(network, ends=ends).tree(0)
        left = [network.places[i] for i in np.flatnonzero(np.isinf(latencies))]
        if left:
            raise ScenarioError(
                f"{source}: the network is in pieces: {join_with_limit(left)} cannot be {how} {network.places[0]}. "
                "Add a link between the pieces, or remove those places."
            )


def _note(noun: str, count: int, filled: int, rule: str) -> str:
    """Say what was given and what was filled in."""
    if not filled:
        return f"The {noun} of all {counted(count, 'link')} was given."
    return f"The {noun} of {filled:,} of {counted(count, 'link')} is filled in, {rule}."


def _rate(value: float | None) -> str:
    return "not limited" if value is None or np.isinf(value) else format_rate(value)


def _access(n: int, filling: Filling) -> tuple[Floats, Floats, str]:
    """Access of all places, and what to say of it."""
    up, down = np.full(n, filling.up or np.inf), np.full(n, filling.down or np.inf)
    return up, down, _about_access(up, down, np.zeros(n, dtype=bool))


def _about_access(up: Floats, down: Floats, given: NDArray[np.bool_]) -> str:
    """Say of how many places the access was given, and what that of the others is taken to be."""
    told, n = int(given.sum()), len(given)
    said = f"The access of {'all ' * (told == n)}{told:,} {f'of {n:,} ' * (told < n)}places was given."
    rates = set(zip(up[~given].tolist(), down[~given].tolist(), strict=True))
    if len(rates) != 1:  # no others, or others with rates of their own
        return said
    ((one, other),) = rates
    limited = np.isfinite([one, other]).any()
    others = "the others" if told else "all places" if limited else "places"
    rest = (
        f"Access of {others} is taken to be {_rate(one)} up, {_rate(other)} down (--up, --down)."
        if limited
        else f"Nothing limits the access of {others}."
    )
    return f"{said} {rest}" if told else rest


def _read_cities(table: CsvTable, filling: Filling) -> Cities:
    """Read ``node,lat,lon`` and perhaps the access of places."""
    table.need("node", way_out="Write the columns node,lat,lon")
    lat, lon = (next((name for name in (short, long) if name in table), short) for short, long in COORDINATES)
    table.need(lat, lon)
    ids, at = Ids(), []
    for row in table.rows():
        ids.once(row, "node", "a place")
        if len(ids) > MAX_PLACES:
            row.refuse(f"there are over {MAX_PLACES:,} places", "Join places that are near each other")
        at.append([_degrees(row, lat, 90), _degrees(row, lon, 180)])
    if len(at) < 2:
        table.refuse("there are fewer than two places", "Write a line for each")
    if filling.bandwidth is None:
        way = "--bandwidth 100Mbit/s, or a list of links a,b,latency_ms,bandwidth_mbit"
        table.refuse("coordinates say no bandwidth", f"Give that of every pair: {way}")
    model = filling.model or LATENCY
    up, down, note = _access(len(at), filling)
    said = (
        f"Latency is by great circles and {model}, for all pairs of {len(at):,} places.",
        f"The bandwidth of all pairs is taken to be {_rate(filling.bandwidth)}.",
        note,
    )
    found = Cities(
        name=table.path.stem, places=tuple(ids.names), up=up, down=down, at=np.array(at), model=model,
        bandwidth=filling.bandwidth, notes=said,
    )  # fmt: skip
    own = any(name in table for quantity in RATES.values() for name in quantity.columns)
    return with_places(found, table.path) if own else found


COORDINATES: Final = (("lat", "latitude"), ("lon", "longitude"))


def _degrees(row: Row, column: str, most: float) -> float:
    value = row.number(column, "an angle in degrees", signed=True)
    if abs(value) > most:
        row.refuse(f"{value:g} is off the globe", f"Write {column} from -{most:g} to {most:g}", column)
    return value


def with_places(network: Network, path: Path) -> Network:
    """Give places their access: a CSV of ``node`` with ``up_mbit`` and ``down_mbit``; others keep what they have."""
    table, ids = CsvTable(path), Ids()
    table.need("node")
    columns = {way: _column(table, quantity) for way, quantity in RATES.items()}
    if not any(columns.values()):
        table.refuse("there is no column of rates", "Add up_mbit and down_mbit")
    found, given = {"up": network.up.copy(), "down": network.down.copy()}, np.zeros(len(network.places), dtype=bool)
    for row in table.rows():
        i = network.index(ids.once(row, "node", "a place"), f"{path}:{row.line}")
        for way, column in columns.items():
            if (value := _of(row, RATES[way], column)) is not None:
                found[way][i], given[i] = value, True
    note = _about_access(found["up"], found["down"], given)
    return replace(network, up=found["up"], down=found["down"], notes=(*network.notes[:-1], note))


def _read_matrices(table: CsvTable, other: CsvTable | None, filling: Filling) -> Pairs:
    """Read one matrix of latencies or distances, and one of bandwidths."""
    tables = [table, *([other] if other else [])]
    found: dict[str, tuple[CsvTable, Floats]] = {}
    for one in tables:
        if one.header[0] not in MATRICES:
            one.refuse(f"{one.header[0]!a:.40} is no quantity", f"Name the first column {' or '.join(MATRICES)}", 0)
        noun = MATRICES[one.header[0]].noun
        if noun in found:
            one.refuse(f"both matrices are of the {noun}", "Give one of latencies and one of bandwidths", 0)
        found[noun] = one, _matrix(one, tables[0].header[1:])
    names, n = tuple(table.header[1:]), len(table.header) - 1
    model = filling.model or LATENCY
    if "latency" in found:
        delay, said = found["latency"][1], "Latency was given for all pairs"
    elif "distance" in found:
        km = found["distance"][1]
        delay, said = model.per_km * km + model.fixed, f"Latency is by distance and {model}"
    else:
        table.refuse("there is no matrix of latencies", "Give one: latency_ms,<place>,...")
    if "bandwidth" in found:
        rates = found["bandwidth"][1]
        rate_note = "Bandwidth was given for all pairs"
    elif filling.bandwidth is None:
        table.refuse(
            "there are no bandwidths", "Give a matrix with --bandwidths FILE, or --bandwidth 100Mbit/s for all"
        )
    else:
        rates = np.where(np.eye(n, dtype=bool), np.nan, filling.bandwidth)
        rate_note = f"The bandwidth of all pairs is taken to be {_rate(filling.bandwidth)}"
    missing = (np.isnan(delay) | np.isnan(rates)) & ~np.eye(n, dtype=bool)
    up, down, note = _access(n, filling)
    notes = [f"{said}, except {missing.sum():,} of {n * (n - 1):,}." if missing.any() else f"{said}.", f"{rate_note}."]
    if missing.any():
        a, b = np.argwhere(missing)[0]
        if not filling.detour:
            table.refuse(
                f"from {names[a]!a:.60} to {names[b]!a:.60} nothing was measured",
                "Measure it, or let it go over other places with --fill detour",
                line=table.first + 1 + int(a),
            )
        delay, rates = _detours(delay, rates, missing, names, str(table.path))
        notes.append("Pairs that were not measured take the way of least latency over others, at its least bandwidth.")
    return Pairs(
        name=table.path.stem, places=names, up=up, down=down, latency=np.nan_to_num(delay), notes=(*notes, note),
        bandwidth=np.where(np.eye(n, dtype=bool), np.inf, rates),
    )  # fmt: skip


def _matrix(table: CsvTable, names: Sequence[str]) -> Floats:
    """Read a matrix, with NaN where a field is empty; the diagonal is not looked at."""
    quantity, n = MATRICES[table.header[0]], len(names)
    if n < 2 or n > MAX_ROUTED:
        table.refuse(f"there are {counted(n, 'place')}", f"Give from 2 to {MAX_ROUTED:,}")
    if set(table.header[1:]) != set(names):
        odd = next(name for name in table.header[1:] if name not in names)
        table.refuse(f"place {odd!a:.60} is not in the other matrix", "Name the same places in both", odd)
    found = np.full((n, n), np.nan)
    index = {name: i for i, name in enumerate(names)}
    seen = Ids()
    for row in table.rows():
        name = seen.once(row, 0, "a place")
        if name not in index:
            row.refuse(f"place {name!a:.60} has no column", "Give the same places as rows and columns", 0)
        for other in names:
            if other != name and row[other]:
                found[index[name], index[other]] = quantity.columns[table.header[0]](row, other)
    if left := [name for name in names if name not in seen.index]:
        table.refuse(f"place {left[0]!a:.60} has a column and no row", "Add the row")
    return found


def _detours(delay: Floats, rates: Floats, missing: Any, names: Sequence[str], source: str) -> tuple[Floats, Floats]:
    """Fill pairs that were not measured by the way of least latency over those that were."""
    pairs = np.argwhere(~missing & ~np.eye(len(names), dtype=bool))
    n = len(names)
    through = Linked(
        name=source, places=tuple(names), up=np.ones(n), down=np.ones(n), ends=pairs,
        latency=delay[tuple(pairs.T)], bandwidth=rates[tuple(pairs.T)],
    )  # fmt: skip
    _in_one_piece(through, source)
    every = np.arange(n)
    far, slow = through.between(every, every)
    with np.errstate(divide="ignore"):
        return np.where(missing, far, delay), np.where(missing, 1 / slow, rates)


def _read_graph(path: Path, filling: Filling) -> Linked:
    """Read GML or GraphML by networkx: ``distance`` [km] or ``latency`` [ms], ``bandwidth`` or ``capacity`` [bit/s]."""
    raw = capped(path, LARGEST_GRAPH, ". Write a list of links as CSV.")
    if re.search(rb"<!(DOCTYPE|ENTITY)", raw, re.IGNORECASE):
        raise ScenarioError(f"{path}: declares entities, which no network needs. Remove the DOCTYPE.")
    try:
        import networkx
    except ImportError:
        from hflbounds.extras import install

        raise ScenarioError(
            f"{path}: GML and GraphML are read by networkx. Install it with `{install('networks')}`, "
            "or write a list of links as CSV."
        ) from None
    try:
        graph: Any = (
            networkx.parse_gml(raw.decode("utf-8")) if path.suffix.lower() == ".gml"
            else networkx.parse_graphml(raw.decode("utf-8"))
        )  # fmt: skip
    except Exception as error:  # whatever a parser of somebody else raises
        why = " ".join(str(error).split())[:120]
        raise ScenarioError(f"{path}: is not {path.suffix[1:].upper()}: {why}. Write a list of links as CSV.") from None
    links = _Links(str(path), filling)
    for i, (a, b, data) in enumerate(graph.edges(data=True), 1):
        _add_edge(links, path, i, (str(a), str(b)), data, bool(graph.is_directed()))
    if not links.links:
        raise ScenarioError(f"{path}: there are no edges. Write a network.")
    return links.underlay(path.stem)


def _add_edge(links: _Links, path: Path, i: int, ends: tuple[str, str], data: Any, directed: bool) -> None:
    def refuse(fact: str, way_out: str) -> NoReturn:
        raise ScenarioError(f"{path}: edge {i} ({ends[0]!a:.40} to {ends[1]!a:.40}): {fact}. {way_out}.")

    def number(names: Iterable[str], factor: float, least: float) -> float | None:
        for name in names:
            if name in data:
                value = data[name]
                if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= 1e21:
                    refuse(f"{name} {value!r:.40} is no number it can be", f"Write one from {least:g}")
                return float(value) * factor
        return None

    km, delay = number(("distance", "distance_km"), 1.0, 0), number(("latency", "latency_ms"), 1e-3, 0)
    numbers = km, delay, number(("bandwidth", "capacity"), 1.0, 1e-6)
    links.add(ends, numbers, place=f"edge {i}", refuse=refuse, directed=directed)
