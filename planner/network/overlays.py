"""Overlays for gossip: who sends to whom in each round, how long a round lasts, how fast models come together.

All nodes work at the same time, send their models to the neighbours that the overlay gives them, and begin the next
round when all that they hear of has arrived. A round then takes the `cycle_time` in the long run, and no less than the
`longest_sending`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hflbounds.mixing import Fixed
from planner.network.hops import Transfers
from planner.network.matcha import Matcha, matcha
from planner.network.tours import shortest_tour
from planner.network.underlay import Floats, Indices, Linked

Links = NDArray[np.bool_]
DRAWS: Final = 1000  # of MATCHA's rounds
BUDGET: Final = 0.5  # of MATCHA: mean share of the matchings that are active
WIDEST: Final = 16  # neighbours that limited trees may have, beside those without a limit
NAMES: Final = {"ring": "Ring", "tree": "Spanning tree", "delta-tree": "delta-MBST", "matcha": "MATCHA, budget 0.5"}


@dataclass(frozen=True, eq=False)
class Overlay:
    """An overlay and what a round of it costs."""

    id: str  # A key of `NAMES`
    cycle: float  # time of a round in the long run [s]; of MATCHA the mean over draws
    models: float  # models sent in a round, in the mean
    consensus_ratio: float  # largest expected share of the distance to the mean model that a round leaves
    gap: float = 0.0  # share by which the ring may be longer than the shortest; 0 for others


def gossip(transfers: Transfers, nodes: Indices, work: Floats, *, seed: int = 0) -> Iterator[Overlay]:
    """Price every overlay of some nodes.

    ``nodes`` are the places of nodes, ``work`` is the time of their local steps [s].
    """
    yield ring(transfers, nodes, work, seed=seed)
    yield _gossip("tree", transfers, nodes, work, spanning_tree(pairwise(transfers, nodes, work)))
    yield delta_tree(transfers, nodes, work)
    yield of_matchings(transfers, nodes, work, seed=seed)


def pairwise(transfers: Transfers, nodes: Indices, work: Floats) -> Floats:
    """Weights of links for spanning trees [s]: work and a transfer alone, in the mean of both directions."""
    one_way = work[:, None] + transfers.hops(nodes, nodes)
    return np.asarray((one_way + one_way.T) / 2)


def cycle_time(weights: Floats) -> float:
    """Largest mean weight of a circuit [s], by Karp's theorem; ``-inf`` where there is none.

    A node begins its next step when all that it hears of has arrived, so that its k-th step begins at ``t(k) = max over
    j of t_j(k-1) + w_ji``, which grows by this number a step (Baccelli and others, Synchronization and Linearity, 1992;
    Karp, Discrete Mathematics 23, 1978). Of the weights ``[i, j]`` is the delay from i to j, ``-inf`` where i sends j
    nothing; the diagonal is a node's own work.

    >>> two = np.array([[1.0, 3.0], [5.0, 1.0]])
    >>> cycle_time(two)
    4.0
    """
    n = len(weights)
    longest = np.zeros((n + 1, n))
    for k in range(1, n + 1):
        longest[k] = (longest[k - 1][:, None] + weights).max(axis=0)
    left = np.arange(n, 0, -1)[:, None]
    with np.errstate(invalid="ignore"):
        means = (longest[n] - longest[:n]) / left
    means[~np.isfinite(longest[:n])] = np.inf
    reached = np.isfinite(longest[n])
    return float(means.min(axis=0)[reached].max()) if reached.any() else float("-inf")


def delays(transfers: Transfers, nodes: Indices, work: Floats, sends: Links) -> Floats:
    """Delays of an overlay [s], ``-inf`` where nothing is sent: access is shared by a node's transfers."""
    out, into = np.maximum(sends.sum(axis=1), 1), np.maximum(sends.sum(axis=0), 1)
    hops = work[:, None] + transfers.hops(nodes, nodes, out, into)
    found = np.where(sends, hops, -np.inf)
    np.fill_diagonal(found, work)
    return np.asarray(found)


def longest_sending(transfers: Transfers, nodes: Indices, sends: Links) -> float:
    """Longest time for which the models of one round keep a link or an access busy [s]: no round is shorter.

    The mean of a circuit may be, as fast neighbours make up for a slow one; models of several rounds would then be on
    one link at a time, each at its full rate.
    """
    network, apart = transfers.network, sends & (nodes[:, None] != nodes[None, :])
    if not apart.any():
        return 0.0
    sent, got = sends.sum(axis=1) / network.up[nodes], sends.sum(axis=0) / network.down[nodes]
    slowest = np.maximum(np.maximum(sent[:, None], got[None, :]), network.slowest(nodes, nodes))
    return float(transfers.bits * slowest[apart].max())


def ring(transfers: Transfers, nodes: Indices, work: Floats, *, seed: int = 0) -> Overlay:
    """A directed ring, by the shortest tour."""
    n = len(nodes)
    tour = shortest_tour(work[:, None] + transfers.hops(nodes, nodes), seed=seed)
    sends = np.zeros((n, n), dtype=bool)
    sends[tour.order, np.roll(tour.order, -1)] = n > 1
    return _gossip("ring", transfers, nodes, work, sends, gap=tour.gap)


def delta_tree(transfers: Transfers, nodes: Indices, work: Floats) -> Overlay:
    """The tree of least cycle time among those of bounded degree and the path through the cube of the least tree.

    For each degree that a node may have, Prim's algorithm with that limit; for two, a path in which neighbours are at
    most three links of the least spanning tree apart (Marfoq and others, NeurIPS 2020, Algorithm 1 and Appendix E).
    """
    alone = pairwise(transfers, nodes, work)
    tried = [path_in_cube(spanning_tree(alone))]
    limits = {*range(2, min(len(nodes), WIDEST + 1)), max(len(nodes) - 1, 2)}
    tried += [found for most in sorted(limits) if (found := spanning_tree(alone, most)) is not None]
    priced = [_gossip("delta-tree", transfers, nodes, work, sends) for sends in tried]
    return min(priced, key=lambda one: one.cycle)


def of_matchings(transfers: Transfers, nodes: Indices, work: Floats, *, seed: int = 0) -> Overlay:
    """MATCHA on the links of the underlay that join two nodes, or on all pairs: the mean cycle over draws."""
    links = joined(transfers, nodes)
    found: Matcha = matcha(links, BUDGET)
    rng, slowest = np.random.default_rng(seed), []
    for active in rng.random((DRAWS, len(found.matchings))) < found.chances:
        sends = np.zeros(links.shape, dtype=bool)
        for matching in found.matchings[active]:
            sends |= matching
        slowest.append(float(delays(transfers, nodes, work, sends).max()))
    models = float((found.chances * found.matchings.sum(axis=(1, 2))).sum())
    return Overlay("matcha", float(np.mean(slowest)), models, found.consensus_ratio)


def joined(transfers: Transfers, nodes: Indices) -> Links:
    """Pairs of nodes that a link of the underlay joins, both ways; all pairs where these leave the nodes in pieces."""
    n, network = len(nodes), transfers.network
    found = np.zeros((n, n), dtype=bool)
    if isinstance(network, Linked) and len(np.unique(nodes)) == n:
        at = {int(place): i for i, place in enumerate(nodes)}
        for a, b in network.ends.tolist():
            if a in at and b in at:
                found[at[a], at[b]] = found[at[b], at[a]] = True
    in_one_piece = spanning_tree(np.where(found, 0.0, np.inf)) is not None
    return found if in_one_piece else ~np.eye(n, dtype=bool)


def _gossip(
    kind: str, transfers: Transfers, nodes: Indices, work: Floats, sends: Links | None, gap: float = 0.0
) -> Overlay:
    assert sends is not None  # noqa: S101 - only a limit on degrees leaves none
    cycle = max(cycle_time(delays(transfers, nodes, work, sends)), longest_sending(transfers, nodes, sends))
    ratio = Fixed(weights(sends)).consensus_ratio().value
    return Overlay(kind, cycle, float(sends.sum()), ratio, gap)


def weights(sends: Links) -> Floats:
    """Weights of the average that each node makes of its own model and those it hears; rows and columns sum to 1.

    By degrees where neighbours hear each other (Metropolis and Hastings), halves in a directed ring.

    Raises:
        ValueError: For other directed overlays, whose columns would not sum to 1.
    """
    heard = sends.T
    if (sends == sends.T).all():
        degree = sends.sum(axis=0)
        found = np.where(sends, 1 / (1 + np.maximum(degree[:, None], degree[None, :])), 0.0)
    elif (sends.sum(axis=0) == 1).all() and (sends.sum(axis=1) == 1).all():
        found = heard / 2
    else:
        raise ValueError("weights: directed overlays are rings here")
    np.fill_diagonal(found, 1 - found.sum(axis=1))
    return np.asarray(found, dtype=np.float64)


def spanning_tree(costs: Floats, most: int | None = None) -> Links | None:
    """Prim's spanning tree, in which no node has more than so many neighbours; None where that leaves no tree."""
    n = len(costs)
    found, degree = np.zeros((n, n), dtype=bool), np.zeros(n, dtype=np.intp)
    inside = np.zeros(n, dtype=bool)
    inside[0] = True
    limit = n if most is None else most
    for _ in range(n - 1):
        open_ = inside & (degree < limit)
        ways = np.where(open_[:, None] & ~inside[None, :], costs, np.inf)
        a, b = divmod(int(ways.argmin()), n)
        if not np.isfinite(ways[a, b]):
            return None
        found[a, b] = found[b, a] = inside[b] = True
        degree[[a, b]] += 1
    return found


def path_in_cube(tree: Links | None) -> Links:
    """A path through all nodes whose neighbours are at most three links of a tree apart (Sekanina, 1960)."""
    assert tree is not None  # noqa: S101 - without a limit there is always one
    follow = [np.flatnonzero(row).tolist() for row in tree]
    parent, order = {0: -1}, [0]
    for node in order:
        for child in follow[node]:
            if child != parent[node]:
                parent[child] = node
                order.append(child)
    # From each node a path of its subtree that begins at it and ends at a child of it (or at itself).
    paths: dict[int, list[int]] = {}
    for node in reversed(order):
        path = [node]
        for child in (c for c in follow[node] if c != parent[node]):
            path += paths[child][::-1]  # begins at a child of the child, ends at the child
        paths[node] = path
    found = np.zeros(tree.shape, dtype=bool)
    path = paths[0]
    found[path[:-1], path[1:]] = found[path[1:], path[:-1]] = True
    return found
