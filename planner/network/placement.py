"""Where servers stand best, and in which order rings run best: the least time of a round."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from planner.network.hops import Transfers
from planner.network.sites import Sites
from planner.network.tours import Tour, shortest_tour
from planner.network.trees import PASSES, Layout, Round, checked, ring_order, round_of
from planner.network.underlay import Floats, Indices

MANY: Final = 500  # places beyond which only those of clients and of medoids are tried for servers
ALL: Final = 1_000  # placements of few servers that are all timed
SWEEPS: Final = 3  # over the groups
FEW_GROUPS: Final = 12  # of which each is moved
NEAREST: Final = 12  # places that are tried for each
TRIED: Final = 5  # places of the top server that are timed hop by hop
SHORT: Final = 8  # clients of a ring up to which its tour is solved from each place for its server
FEW: Final = 2_000  # clients in all up to which every ring is searched for long


@dataclass(frozen=True, eq=False)
class Placed:
    """A layout and its round."""

    layout: Layout  # servers and orders
    round: Round  # its round
    gap: float  # share by which the tours of rings may be longer than the shortest, the worst of them; 0 without rings
    # whether no servers at the places that were tried make a shorter round, by trying all or by a bound that counts no
    # transfers beside others; never claimed of two tiers with rings
    exact: bool


def best_layout(  # reason: what is placed, what is kept, how it is searched
    sites: Sites,
    transfers: Transfers,
    patterns: Sequence[str],
    passes: int = 1,
    *,
    server: int | None = None,
    group_servers: Indices | None = None,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Placed:
    """Find the places and orders of the shortest round.

    Patterns are of the tiers, top first. A server that is given is kept.
    """
    return _Search(sites, transfers, tuple(patterns), passes, seed, progress).run(server, group_servers)


def as_good(sites: Sites, transfers: Transfers, patterns: Sequence[str], placed: Placed, slack: float) -> Indices:
    """Other places of the top server with a round that is at most the share ``slack`` longer, the shortest first.

    Servers of groups stay; in a ring of the top tier the order stays too, but begins at the server. Better servers of
    groups may make more places as good.
    """
    layout, kind = placed.layout, checked(patterns)[0]
    if layout.group_servers is None:
        order = layout.orders[0]
        places, stays = sites.at[order], sites.work[order]
    else:
        ends = layout.group_servers
        places, stays = ends[layout.group_order], placed.round.by_group[layout.group_order]
        if not kind.ordered:
            stays = stays - transfers.from_server(layout.server, places) - transfers.to_server(layout.server, places)
    tried = _tops(transfers, places)
    seconds = kind.at_each(transfers, tried, places, stays, np.arange(len(places)))
    found = seconds.argsort(kind="stable")
    near = (seconds[found] <= placed.round.seconds * (1 + slack)) & (tried[found] != layout.server)
    return np.asarray(tried[found][near])


@dataclass(frozen=True, eq=False)
class _Search:
    sites: Sites
    transfers: Transfers
    patterns: tuple[str, ...]
    passes: int
    seed: int
    progress: Callable[[str], None]

    def run(self, server: int | None, group_servers: Indices | None) -> Placed:
        """Place servers tier by tier, from the clients up."""
        kinds = checked(self.patterns)
        if len(kinds) == 1:
            return self._alone(server)
        every = [self.sites.members(g) for g in range(len(self.sites.groups))]
        tours = [self._tour(self.sites.at[members], kinds[1].ordered) for members in every]
        options, prices, n = [], [], len(self.transfers.network.places)
        for g, members in enumerate(every):
            self.progress(f"group {g + 1} of {len(every)}")
            places = self.sites.at[members]
            tried = np.arange(n) if n <= MANY else np.unique(places)  # of very many, those of its clients
            if group_servers is not None:
                tried = np.array([group_servers[g]])
            work = self.sites.work[members]
            options.append(tried)
            if kinds[1].ordered and len(places) <= SHORT and len(tried) * len(every) <= MANY:
                tour_lengths = [ring_order(self.transfers, int(v), places)[1].length for v in tried]
                price = np.array(tour_lengths) + work.sum()
            else:
                price = kinds[1].at_each(self.transfers, tried, places, work, tours[g])
            prices.append(self.passes * price)
        at = np.array([tried[price.argmin()] for tried, price in zip(options, prices, strict=True)])
        tops = np.array([server]) if server is not None else _tops(self.transfers, at)
        if kinds[0].ordered:
            some = tops[:: max(1, len(tops) // TRIED)]
            starts = [at, *(chosen for _, chosen in self._below(some, options, prices, 1))]
            rings = [self._around(tops, start, options, prices) for start in starts]
            _, top, at, group_order, top_tour = min(rings, key=lambda ring: ring[0])
            return self._finished([(top, at, group_order)], top_tour)
        # With one transfer at a time and with all at once: the truth lies between, as servers at one place need none.
        alone, crowded = (
            sorted(
                zip(self._below(tops, options, prices, crowd), tops.tolist(), strict=True), key=lambda end: end[0][0]
            )
            for crowd in (1, len(every))
        )
        least = alone[0][0][0]
        groups = np.arange(len(every))
        whole = not kinds[1].ordered and math.prod(map(len, options), start=len(tops)) <= ALL
        if whole:
            layouts = [(int(v), np.array(each), groups) for v in tops for each in product(*options)]
            return replace(self._finished(layouts, None), exact=True)
        ends = (*alone[:TRIED], *crowded[:TRIED])
        found = self._finished([(v, chosen, groups) for (_, chosen), v in ends], None)
        if group_servers is None and not kinds[1].ordered:
            found = self._moved(found, options, prices)
        return replace(found, exact=not kinds[1].ordered and found.round.seconds <= least * (1 + 1e-9))

    def _moved(self, found: Placed, options: list[Indices], prices: list[Floats]) -> Placed:
        """Move servers of groups one by one while rounds get shorter; of many groups, those that share a place."""
        for _ in range(SWEEPS):
            before = found.round.seconds
            for g in range(len(options)):
                ends = found.layout.group_servers
                if ends is None or (len(options) > FEW_GROUPS and np.count_nonzero(ends == ends[g]) < 2):
                    continue
                for place in options[g][prices[g].argsort()[:NEAREST]]:
                    moved = ends.copy()
                    moved[g] = place
                    layout = replace(found.layout, group_servers=moved)
                    timed = round_of(self.sites, self.transfers, self.patterns, layout, self.passes)
                    if timed.seconds < found.round.seconds * (1 - 1e-12):
                        found, ends = replace(found, layout=layout, round=timed), moved
            if found.round.seconds >= before:
                break
        return found

    def _alone(self, server: int | None) -> Placed:
        """One tier: all clients and the top server."""
        sites, kind = self.sites.together(), checked(self.patterns)[0]
        tour = self._tour(sites.at, kind.ordered)
        tried = np.array([server]) if server is not None else _tops(self.transfers, sites.at)
        prices = kind.at_each(self.transfers, tried, sites.at, sites.work, tour)
        top = int(tried[prices.argmin()])
        order, gap = self._ordered(top, sites.at, kind.ordered)
        layout = Layout(top, None, (order,), np.zeros(1, dtype=np.intp))
        found = round_of(sites, self.transfers, self.patterns, layout)
        return Placed(layout, found, gap, not kind.ordered)

    def _below(
        self, tops: Indices, options: list[Indices], prices: list[Floats], crowd: int
    ) -> list[tuple[float, Indices]]:
        """The slowest group from each top server, every group with the place of its server that is best then."""
        slowest, chosen = np.zeros(len(tops)), []
        for tried, price in zip(options, prices, strict=True):
            there = self.transfers.hops(tops, tried, out=crowd)
            whole = price + there + self.transfers.hops(tried, tops, into=crowd).T
            chosen.append(tried[whole.argmin(axis=1)])
            slowest = np.maximum(slowest, whole.min(axis=1))
        return list(zip(slowest.tolist(), np.stack(chosen, axis=1), strict=True))

    def _around(
        self, tops: Indices, at: Indices, options: list[Indices], prices: list[Floats]
    ) -> tuple[float, int, Indices, Indices, Tour]:
        """A ring of groups: tours and places by turns, until the round gets no shorter."""
        best: tuple[float, int, Indices, Indices, Tour] | None = None
        at = at.copy()
        for _ in range(10):
            tour = self._tour(at, True)
            top_prices = PASSES["ring"].at_each(self.transfers, tops, at, np.zeros(len(at)), tour)
            top = int(tops[top_prices.argmin()])
            group_order, whole = self._order(top, at)
            order = at[group_order]
            way = np.concatenate([[top], order, [top]])
            stays = sum(float(p[t == a].min()) for t, p, a in zip(options, prices, at, strict=True))
            total = whole.length + stays
            if best is not None and total >= best[0] * (1 - 1e-12):
                break
            best = total, top, at.copy(), group_order, whole
            for k, g in enumerate(group_order.tolist()):
                around = self.transfers.hops(way[k : k + 1], options[g])[0]
                around = around + self.transfers.hops(options[g], way[k + 2 : k + 3])[:, 0] + prices[g]
                at[g] = way[k + 1] = options[g][around.argmin()]
        assert best is not None  # noqa: S101 - the first turn sets it
        return best

    def _finished(self, ends: list[tuple[int, Indices, Indices]], top_tour: Tour | None) -> Placed:
        """Order the rings of some placements and time them hop by hop; the shortest round."""
        inner = checked(self.patterns)[1].ordered
        found: list[Placed] = []
        for top, at, group_order in ends:
            orders, gaps = [], [top_tour.gap if top_tour else 0.0]
            for g in range(len(self.sites.groups)):
                members = self.sites.members(g)
                order, gap = self._ordered(int(at[g]), self.sites.at[members], inner)
                orders.append(members[order])
                gaps.append(gap)
            layout = Layout(top, at, tuple(orders), group_order)
            timed = round_of(self.sites, self.transfers, self.patterns, layout, self.passes)
            found.append(Placed(layout, timed, max(gaps), False))
            if inner and len(found) == 2:  # tours take long, and the first are the best by their price
                break
        return min(found, key=lambda one: one.round.seconds)

    def _ordered(self, server: int, places: Indices, ordered: bool) -> tuple[Indices, float]:
        """The order of a pass's children, and its gap."""
        if not ordered:
            return np.arange(len(places)), 0.0
        order, tour = self._order(server, places)
        return order, tour.gap

    def _order(self, server: int, places: Indices) -> tuple[Indices, Tour]:
        long = len(self.sites.clients) <= FEW
        effort = {} if long else {"kicks": 0, "climbs": 30}
        return ring_order(self.transfers, server, places, seed=self.seed, **effort)

    def _tour(self, places: Indices, ordered: bool) -> Indices:
        """A tour of the children alone, which tells where a server costs least."""
        if not ordered:
            return np.arange(len(places))
        return np.array(shortest_tour(self.transfers.hops(places, places), seed=self.seed, kicks=0, climbs=0).order)


def _tops(transfers: Transfers, below: Indices) -> Indices:
    """Places that are tried for the top server: all, or a spread of those below where there are very many."""
    n = len(transfers.network.places)
    if n <= MANY:
        return np.arange(n)
    some = np.unique(below)
    return some if len(some) <= MANY else some[np.linspace(0, len(some) - 1, MANY).astype(np.intp)]


def kept(sites: Sites, patterns: Sequence[str], server: int, group_servers: Indices | None) -> Layout:
    """The layout that is given: rings in the order of the fleet."""
    if len(patterns) == 1:
        return Layout(server, None, (np.arange(len(sites.clients)),), np.zeros(1, dtype=np.intp))
    orders = tuple(sites.members(g) for g in range(len(sites.groups)))
    return Layout(server, group_servers, orders, np.arange(len(sites.groups)))
