"""A round of a tree of servers and clients on a network, hop by hop.

A star sends to all its children at the same time, and waits for the last. A ring passes the model on from its server
to the first child, from child to child, and back: straight, by the network's way between them. Hops are `Transfers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from planner.errors import ScenarioError
from planner.network.hops import Transfers, away
from planner.network.sites import Sites
from planner.network.tours import CLIMBS, KICKS, Tour, shortest_tour
from planner.network.underlay import Floats, Indices


@dataclass(frozen=True, slots=True)
class Leg:
    """A part of what a round waits for."""

    a: int  # a, b: places; the same for work
    b: int
    seconds: float  # how long
    times: int = 1  # how often in a round, one after the other
    client: int | None = None  # whose work it is; None for transfers


class Star:
    """What one pass over the children of a server takes, all at the same time."""

    ordered = False

    def lasts(
        self, transfers: Transfers, server: int, places: Indices, stays: Floats, beside: int
    ) -> tuple[float, list[list[Leg]]]:
        """Seconds of a pass, and the legs that it waits for, by child; children that it does not wait for have none.

        That is the slowest child's way there and back. ``beside`` counts the transfers of other stars that use the
        access of the server's place at the same time.
        """
        down, up = transfers.from_server(server, places, beside), transfers.to_server(server, places, beside)
        times = down + stays + up
        last = int(times.argmax())
        legs: list[list[Leg]] = [[] for _ in places]
        place = int(places[last])
        legs[last] = [Leg(server, place, float(down[last])), Leg(place, server, float(up[last]))]
        return float(times[last]), legs

    def at_each(
        self, transfers: Transfers, candidates: Indices, places: Indices, stays: Floats, tour: Indices
    ) -> Floats:
        """Seconds of a pass from each of some places for the server: the slowest child's way."""
        way = (transfers.from_server(v, places) + stays + transfers.to_server(v, places) for v in candidates.tolist())
        return np.array([each.max() for each in way])


class Ring:
    """The same, one child after the other, in the order given."""

    ordered = True

    def lasts(
        self, transfers: Transfers, server: int, places: Indices, stays: Floats, beside: int
    ) -> tuple[float, list[list[Leg]]]:
        """All hops and all stays."""
        way = np.concatenate([[server], places, [server]])
        hops = one_by_one(transfers, way)
        legs = [[Leg(int(a), int(b), float(t))] for a, b, t in zip(way[:-2], way[1:-1], hops, strict=False)]
        legs[-1].append(Leg(int(way[-2]), server, float(hops[-1])))
        return float(hops.sum() + stays.sum()), legs

    def at_each(
        self, transfers: Transfers, candidates: Indices, places: Indices, stays: Floats, tour: Indices
    ) -> Floats:
        """The tour of the children, an order of theirs, with the server put in where it costs least."""
        order = places[tour]
        after = np.roll(order, -1)
        to, from_ = transfers.hops(order, candidates), transfers.hops(candidates, after)
        own = one_by_one(transfers, np.append(order, order[0]))
        more = to.T + from_ - (own if len(order) > 1 else np.zeros(1))[None, :]
        return np.asarray(more.min(axis=1) + (own.sum() if len(order) > 1 else 0.0) + stays.sum())


Pass = Star | Ring
PASSES: Final[Mapping[str, Pass]] = MappingProxyType({"star": Star(), "ring": Ring()})


def one_by_one(transfers: Transfers, way: Indices) -> Floats:
    """Seconds of each hop of a way."""
    if len(way) > 64:  # a matrix of all pairs has no use here
        return np.array([transfers.hops(way[i : i + 1], way[i + 1 : i + 2])[0, 0] for i in range(len(way) - 1)])
    return np.asarray(np.diagonal(transfers.hops(way[:-1], way[1:])))


@dataclass(frozen=True, eq=False)
class Layout:
    """Where servers stand, and in which order rings run."""

    server: int  # place of the top server
    group_servers: Indices | None  # place of each group's server; None where clients talk to the top server
    # clients of each group, in their order; of all clients where there are no groups' servers
    orders: tuple[Indices, ...]
    group_order: Indices  # groups in their order


@dataclass(frozen=True, eq=False)
class Round:
    """A round of a layout."""

    seconds: float  # its duration
    legs: tuple[Leg, ...]  # what it waits for
    # seconds that each group takes, with the way to the top server and back; in the order of the fleet
    by_group: Floats


def round_of(sites: Sites, transfers: Transfers, patterns: Sequence[str], layout: Layout, passes: int = 1) -> Round:
    """Time a round.

    Patterns are of the tiers, top first: one where all clients talk to the top server, two with group servers.

    Raises:
        ScenarioError: For other depths or patterns.
    """
    kinds, ends = checked(patterns), layout.group_servers
    if len(kinds) == 1:  # the top server is that of one group, at no distance
        kinds, ends, passes = [PASSES["star"], *kinds], np.array([layout.server]), 1
    assert ends is not None  # noqa: S101 - a layout of two tiers has them
    stays = np.zeros(len(ends))
    inner: list[list[Leg]] = []
    crowd = beside(sites, patterns, layout)
    for g, order in enumerate(layout.orders):
        one, parts = kinds[1].lasts(transfers, int(ends[g]), sites.at[order], sites.work[order], int(crowd[g]))
        stays[g] = passes * one
        inner.append([])
        for part, client in zip(parts, order.tolist(), strict=True):
            if part:  # with the work of the clients that it waits for
                place = int(sites.at[client])
                inner[g] += [replace(leg, times=passes) for leg in part]
                inner[g].append(Leg(place, place, float(sites.work[client]), passes, client))
    at = layout.group_order
    seconds, parts = kinds[0].lasts(transfers, layout.server, ends[at], stays[at], 0)
    legs = [leg for part, g in zip(parts, at, strict=True) if part for leg in (*part, *inner[g])]
    if not kinds[0].ordered:
        stays = stays + transfers.from_server(layout.server, ends) + transfers.to_server(layout.server, ends)
    return Round(seconds, tuple(legs), stays)


def beside(sites: Sites, patterns: Sequence[str], layout: Layout) -> Indices:
    """Transfers of other groups at the place of each group's server, where stars work at the same time below a star."""
    if tuple(patterns) != ("star", "star") or layout.group_servers is None:
        return np.zeros(len(sites.groups), dtype=np.intp)
    ends = layout.group_servers
    own = np.array([away(int(end), sites.at[order]) for end, order in zip(ends, layout.orders, strict=True)])
    here = np.bincount(ends, weights=own)
    return np.asarray(here[ends] - own, dtype=np.intp)


def checked(patterns: Sequence[str]) -> list[Pass]:
    """The passes of a topology of one or two tiers."""
    if len(patterns) not in (1, 2) or any(one not in PASSES for one in patterns):
        raise ScenarioError(
            f"--tiers: {'/'.join(patterns)!a:.60} is no tree of one or two tiers of {' and '.join(PASSES)}. "
            "Write star/ring.",
            code="E044",
        )
    return [PASSES[one] for one in patterns]


def ring_order(
    transfers: Transfers, server: int, places: Indices, *, seed: int = 0, kicks: int = KICKS, climbs: int = CLIMBS
) -> tuple[Indices, Tour]:
    """The best order of a ring's children from its server; the tour has the server first."""
    way = np.concatenate([[server], places])
    tour = shortest_tour(transfers.hops(way, way), seed=seed, kicks=kicks, climbs=climbs)
    return np.array(tour.order[1:], dtype=np.intp) - 1, tour
