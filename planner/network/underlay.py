"""Places joined by links, and what one transfer between any two of them meets on its way.

Three kinds of knowledge, one question. `Linked` knows the links: transfers between places that no link joins go over
several, by the shortest path. `Pairs` has measurements from end to end, and routes nothing. `Cities` has coordinates
and a model of latency. All answer `Underlay.between`: the latency and the seconds per bit from some places to others.

Latencies are in seconds, rates in bit/s, distances in kilometres.
"""

from __future__ import annotations

import heapq
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.errors import ScenarioError
from planner.io.text import suggest
from planner.scenario.units import parse_duration

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
FEW = 256  # places of a network that keeps what is between all of them as tables
KEPT = 4096  # servers with their children, of a network

EARTH = 6371.0088  # mean radius [km]
MAX_PLACES = 20_000
MAX_ROUTED = 3_000  # places between which shortest paths are searched


@dataclass(frozen=True, slots=True)
class LatencyModel:
    """Latency from distance: so much for each kilometre of the way, and so much for each transfer."""

    per_km: float  # [s/km]
    fixed: float  # [s], once a transfer, however many links it takes

    @classmethod
    def parse(cls, text: str) -> LatencyModel:
        """Read ``0.0085ms/km+4ms``.

        Raises:
            ScenarioError: If it is something else.
        """
        name = "--latency-model"
        found = re.fullmatch(r"\s*([^+/]{1,30})/km\s*(?:\+(.{1,30}))?", text[:80])
        if found is None:
            raise ScenarioError(f"{name}: {text!a:.60} is no model of latency. Write 0.0085ms/km+4ms.")
        per_km = parse_duration(found[1].strip(), field=name)
        fixed = parse_duration(found[2].strip(), field=name) if found[2] else 0.0
        return cls(float(per_km), float(fixed))

    def __str__(self) -> str:
        return f"{self.per_km * 1e3:g} ms/km + {self.fixed * 1e3:g} ms"


LATENCY = LatencyModel(8.5e-6, 4e-3)
"""Marfoq and others, NeurIPS 2020, Appendix: 0.0085 ms a kilometre and 4 ms a transfer."""


class Hops(NamedTuple):
    """Transfers from some places (rows) to others (columns), without what the places' own access limits."""

    latency: Floats  # until the first bit arrives [s]; 0 from a place to itself
    per_bit: Floats  # seconds that each bit takes on the way; 0 from a place to itself


@dataclass(frozen=True, eq=False, kw_only=True)
class Underlay(ABC):
    """Places, what their own access allows, and what joins them."""

    name: str  # of the network
    places: tuple[str, ...]  # their names
    up: Floats  # up, down: access of every place [bit/s]; infinite where nothing limits it
    down: Floats
    notes: tuple[str, ...] = ()  # what was measured, and what was filled in by which rule

    @abstractmethod
    def between(self, rows: Indices, columns: Indices) -> Hops:
        """Transfers from each of some places to each of others."""

    def slowest(self, rows: Indices, columns: Indices) -> Floats:
        """Seconds for which each bit keeps the slowest link of the way busy."""
        return self.between(rows, columns).per_bit

    def index(self, place: str, where: str) -> int:
        """The number of a place.

        Raises:
            ScenarioError: If there is none of this name; with one that is much like it.
        """
        try:
            return self.places.index(place)
        except ValueError:
            some = ", ".join(self.places[:4]) + (" ..." if len(self.places) > 4 else "")
            hint = suggest(place, self.places)
            raise ScenarioError(
                f"{where}: {place!a:.60} is not a place of {self.name} ({some}). {hint or 'Check the name.'}"
            ) from None


@dataclass(frozen=True, eq=False, kw_only=True)
class Cities(Underlay):
    """Places on the globe: the latency of the great circle by a model, one bandwidth for every pair."""

    at: Floats  # latitude and longitude [degrees], of shape (places, 2)
    model: LatencyModel  # of latency
    bandwidth: float  # between any two places [bit/s]

    def between(self, rows: Indices, columns: Indices) -> Hops:
        """Great circles."""
        apart = np.asarray(rows)[:, None] != np.asarray(columns)[None, :]
        km = great_circle(self.at[rows], self.at[columns])
        return Hops((self.model.per_km * km + self.model.fixed) * apart, apart / self.bandwidth)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs(Underlay):
    """Measurements from end to end, which need not be the same both ways."""

    latency: Floats  # latency, bandwidth: of shape (places, places)
    bandwidth: Floats

    def between(self, rows: Indices, columns: Indices) -> Hops:
        """Look them up."""
        apart = np.asarray(rows)[:, None] != np.asarray(columns)[None, :]
        at = np.ix_(rows, columns)
        return Hops(self.latency[at] * apart, np.where(apart, 1 / np.where(apart, self.bandwidth[at], 1), 0))


@dataclass(frozen=True, eq=False, kw_only=True)
class Linked(Underlay):
    """Links that carry what passes over them: a transfer takes the path of least latency, of equals the shortest."""

    ends: Indices  # places that each link leads from and to, of shape (links, 2); one for each direction
    latency: Floats  # latency, bandwidth: of each link
    bandwidth: Floats
    fixed: float = 0.0  # what each transfer takes beside the latency of its links [s]
    # whether every place on the way receives a whole model before it sends it on; the seconds per bit of the links then
    # add up, and else the slowest link decides, and transfers at the same time share the links on which they meet
    stored: bool = False
    # shortest paths from the places that were asked about
    _trees: dict[int, tuple[Floats, Floats, Indices]] = field(init=False, default_factory=dict)
    _crowds: dict[tuple[int, tuple[int, ...], bool], Hops] = field(init=False, default_factory=dict)  # asked about

    def between(self, rows: Indices, columns: Indices) -> Hops:
        """Shortest paths."""
        at = np.asarray(rows)[:, None], np.asarray(columns)[None, :]
        if len(self.places) <= FEW:
            every_latency, every_per_bit, searched = self._every
            for a in at[0][~searched[at[0]]].tolist():
                every_latency[a], every_per_bit[a], searched[a] = *self.tree(a)[:2], True
            latency, per_bit = every_latency[at], every_per_bit[at]
        else:
            latency, per_bit = np.empty((len(rows), len(columns))), np.empty((len(rows), len(columns)))
            for i, a in enumerate(at[0].ravel().tolist()):
                far, slow, _ = self.tree(a)
                latency[i], per_bit[i] = far[columns], slow[columns]
        return Hops(latency + self.fixed * (at[0] != at[1]), per_bit)

    @cached_property
    def _every(self) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Latencies and seconds per bit between all places, and from which of them paths were searched."""
        n = len(self.places)
        return np.zeros((n, n)), np.zeros((n, n)), np.zeros(n, dtype=np.bool_)

    def crowded(self, server: int, children: tuple[int, ...], down: bool) -> Hops:
        """Transfers to or from children at the same time, each link shared equally until its last one is done.

        Of shape (children,), where no place on the way stores the whole model.
        """
        key = server, children, down
        if key not in self._crowds:
            if len(self._crowds) == KEPT:
                self._crowds.clear()
            self._crowds[key] = self._crowd(*key)
        return self._crowds[key]

    def _crowd(self, server: int, children: tuple[int, ...], down: bool) -> Hops:
        ways = [self.links_between(server, c) if down else self.links_between(c, server) for c in children]
        busy = np.bincount([x for way in ways for x in way] or [0], minlength=len(self.bandwidth)) / self.bandwidth
        slowest = np.array([max((busy[x] for x in way), default=0.0) for way in ways])
        rows, columns = (np.array(one) for one in (([server], children) if down else (children, [server])))
        return Hops(self.between(rows, columns).latency.ravel(), slowest)

    def slowest(self, rows: Indices, columns: Indices) -> Floats:
        """That of the path; of a way that stores the whole model at each place, that of its slowest link."""
        if not self.stored:
            return super().slowest(rows, columns)
        ways = [[self.links_between(a, b) for b in np.asarray(columns).tolist()] for a in np.asarray(rows).tolist()]
        return np.array([[max((1 / self.bandwidth[link] for link in way), default=0.0) for way in row] for row in ways])

    def links_between(self, a: int, b: int) -> list[int]:
        """Links on the shortest path."""
        arriving, found = self.tree(a)[2], []
        while b != a:
            found.append(int(arriving[b]))
            b = int(self.ends[arriving[b], 0])
        return found[::-1]

    def tree(self, a: int) -> tuple[Floats, Floats, Indices]:
        """Shortest paths from a place: latencies, seconds per bit, and the link by which each other place is reached.

        The order is by latency, then by the number of links, then by the place met first: the same on every run.
        """
        if a not in self._trees:
            self._trees[a] = self._searched(a)
        return self._trees[a]

    def _searched(self, a: int) -> tuple[Floats, Floats, Indices]:
        n = len(self.places)
        best = [(math.inf, 0)] * n
        best[a] = (0.0, 0)
        slow, arriving, done = np.zeros(n), np.full(n, -1, dtype=np.intp), [False] * n
        heap: list[tuple[float, int, int]] = [(0.0, 0, a)]
        while heap:
            far, links, here = heapq.heappop(heap)
            if done[here]:
                continue
            done[here] = True
            for link, there in self._leaving[here]:
                reach = (far + float(self.latency[link]), links + 1)
                if reach < best[there] and not done[there]:
                    best[there] = reach
                    own = 1 / float(self.bandwidth[link])
                    slow[there] = slow[here] + own if self.stored else max(slow[here], own)
                    arriving[there] = link
                    heapq.heappush(heap, (*reach, there))
        return np.array([far for far, _ in best]), slow, arriving

    @cached_property
    def _leaving(self) -> Sequence[Sequence[tuple[int, int]]]:
        """Links that leave each place, and where they lead."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.places]
        for link, (a, b) in enumerate(self.ends.tolist()):
            found[a].append((link, b))
        return found


def great_circle(a: Floats, b: Floats) -> Floats:
    """Distances on the globe [km] from places (rows) to others (columns); latitudes and longitudes in degrees.

    >>> round(float(great_circle(np.array([[52.37403, 4.88969]]), np.array([[50.85045, 4.34878]]))[0, 0]), 1)
    173.5
    """
    first, second = np.radians(a)[:, None, :], np.radians(b)[None, :, :]
    north, east = np.moveaxis(first - second, -1, 0)
    across = np.sin(north / 2) ** 2 + np.cos(first[..., 0]) * np.cos(second[..., 0]) * np.sin(east / 2) ** 2
    return np.asarray(2 * EARTH * np.arcsin(np.sqrt(np.minimum(across, 1))))
