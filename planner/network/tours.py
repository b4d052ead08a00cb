"""The shortest closed tour through some places: exact for few, else a good one with a certified gap.

Costs may differ by direction. Few places are solved by the dynamic programme of Held and Karp (1962). More start from
farthest insertion, take the best 2-opt or Or-opt move until none improves, and are kicked by double bridges. The bound
is that of Held and Karp (1970): the least 1-tree, with the multipliers of the nodes raised step by step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from planner.network.underlay import Floats, Indices

EXACT = 13  # places up to which the dynamic programme is run
SHORT = 64  # places of a tour that is kept
KICKS = 100
CLIMBS = 120  # steps of the bound
SEGMENT = 3  # places that an Or-opt move takes along


@dataclass(frozen=True)
class Tour:
    """A closed tour."""

    order: tuple[int, ...]  # places in the order in which they are visited; the first is 0
    length: float  # sum of its costs, with the way back
    bound: float  # no tour is shorter

    @property
    def gap(self) -> float:
        """Share by which it may be longer than the shortest."""
        return self.length / self.bound - 1 if self.bound > 0 else (0.0 if self.length == 0 else np.inf)


def tour_length(costs: Floats, order: Indices | tuple[int, ...]) -> float:
    """Length of a closed tour."""
    at = np.asarray(order, dtype=np.intp)
    return float(costs[at, np.roll(at, -1)].sum())


def shortest_tour(costs: Floats, *, seed: int = 0, kicks: int = KICKS, climbs: int = CLIMBS) -> Tour:
    """Find a short closed tour through all places.

    ``costs[i, j]`` is from i to j, 0 or more. Where the dynamic programme is too large so many kicks are tried, and the
    bound climbs so many steps. Short ones are kept: a ring is asked for again with every number of passes.
    """
    if len(costs) > SHORT:
        return _shortest(costs, seed, kicks, climbs)
    return _known(np.ascontiguousarray(costs, dtype=np.float64).tobytes(), len(costs), seed, kicks, climbs)


@lru_cache(maxsize=512)
def _known(costs: bytes, n: int, seed: int, kicks: int, climbs: int) -> Tour:
    return _shortest(np.frombuffer(costs).reshape(n, n), seed, kicks, climbs)


def _shortest(costs: Floats, seed: int, kicks: int, climbs: int) -> Tour:
    n = len(costs)
    if n <= EXACT:
        order = _exact(costs)
        length = tour_length(costs, order)
        return Tour(tuple(order.tolist()), length, length)
    found = _kicked(costs, _improved(costs, _inserted(costs)), np.random.default_rng(seed), kicks)
    length = tour_length(costs, found)
    bound = min(length, one_tree_bound(np.minimum(costs, costs.T), length, climbs))
    found = np.roll(found, -int(np.flatnonzero(found == 0)[0]))
    return Tour(tuple(found.tolist()), length, bound)


def _exact(costs: Floats) -> Indices:
    """The shortest tour by dynamic programming over sets of places."""
    m = len(costs) - 1
    if m <= 1:
        return np.arange(m + 1)
    inner = costs[1:, 1:].copy()
    np.fill_diagonal(inner, np.inf)
    best = np.full((1 << m, m), np.inf)  # of a set and its last place
    before = np.zeros((1 << m, m), dtype=np.intp)
    best[1 << np.arange(m), np.arange(m)] = costs[0, 1:]
    bits = 1 << np.arange(m)
    for members in range(1, 1 << m):
        new = np.flatnonzero(~members & bits)
        if not len(new) or not np.isfinite(best[members]).any():
            continue
        ways = best[members][:, None] + inner[:, new]
        last = ways.argmin(axis=0)
        into = members | bits[new]
        best[into, new] = ways[last, np.arange(len(new))]
        before[into, new] = last
    members = (1 << m) - 1
    last = int((best[members] + costs[1:, 0]).argmin())
    order = []
    while members:
        order.append(last + 1)
        members, last = members & ~(1 << last), int(before[members, last])
    return np.array([0, *order[::-1]])


def _inserted(costs: Floats) -> Indices:
    """Insert the place that is farthest from the tour where it costs least, until none is left."""
    n = len(costs)
    both = np.minimum(costs, costs.T)
    order = np.array([0])
    far = both[0].copy()
    far[0] = -np.inf
    for _ in range(n - 1):
        new = int(far.argmax())
        after = np.roll(order, -1)
        at = int((costs[order, new] + costs[new, after] - np.where(order != after, costs[order, after], 0.0)).argmin())
        order = np.insert(order, at + 1, new)
        far = np.minimum(far, both[new])
        far[order] = -np.inf
    return order


def _improved(costs: Floats, order: Indices) -> Indices:
    """Take the best move until none improves."""
    n = len(order)
    least = 1e-12 * max(1.0, float(np.abs(costs[np.isfinite(costs)]).max()))
    for _ in range(50 * n):
        d = costs[np.ix_(order, order)]
        reversal, i, j = _reversal(d)
        moved, start, size, after, turned = _move(d)
        if min(reversal, moved) >= -least:
            break
        if reversal <= moved:
            order = np.concatenate([order[: i + 1], order[i + 1 : j + 1][::-1], order[j + 1 :]])
        else:
            segment, rest = order[start : start + size], np.delete(order, np.s_[start : start + size])
            at = after + 1 if after < start else after + 1 - size
            order = np.concatenate([rest[:at], segment[::-1] if turned else segment, rest[at:]])
    return order


def _reversal(d: Floats) -> tuple[float, int, int]:
    """What the best 2-opt move changes, and the places before and at the end of what it turns round."""
    n = len(d)
    step = np.arange(n)
    on = (step + 1) % n
    ahead, back = d[step, on], d[on, step]
    forth = np.concatenate([[0.0], np.cumsum(ahead)[:-1]])
    turned = np.concatenate([[0.0], np.cumsum(back)[:-1]])
    inside = (turned - forth)[None, :] - (turned - forth)[on][:, None]
    change = d + d[np.ix_(on, on)] - ahead[:, None] - ahead[None, :] + inside
    change[np.tri(n, k=1, dtype=bool)] = np.inf  # j > i + 1
    best = int(change.argmin())
    return float(change.flat[best]), best // n, best % n


def _move(d: Floats) -> tuple[float, int, int, int, bool]:
    """What the best Or-opt move changes; the first place and the size of what it moves, behind which place, and how."""
    n = len(d)
    step = np.arange(n)
    on = (step + 1) % n
    ahead = d[step, on]
    found: tuple[float, int, int, int, bool] = (np.inf, 0, 1, 0, False)
    for size in range(1, min(SEGMENT, n - 3) + 1):
        start = np.arange(1, n - size + 1)
        end = start + size - 1
        after_end = (end + 1) % n
        out = d[start - 1, after_end] - d[start - 1, start] - d[end, after_end]
        own = np.zeros(len(start))
        for k in range(size - 1):
            own += d[start + k + 1, start + k] - d[start + k, start + k + 1]
        kept = d[:, start].T + d[end][:, on] - ahead[None, :]
        turned = d[:, end].T + d[start][:, on] - ahead[None, :] + own[:, None]
        within = (step[None, :] >= start[:, None] - 1) & (step[None, :] <= end[:, None])
        for how, change in ((False, kept), (True, turned)):
            change = np.where(within, np.inf, change + out[:, None])
            best = int(change.argmin())
            if change.flat[best] < found[0]:
                found = float(change.flat[best]), int(start[best // n]), size, best % n, how
    return found


def _kicked(costs: Floats, order: Indices, rng: np.random.Generator, kicks: int) -> Indices:
    """Swap two neighbouring stretches, improve, and keep what is not longer."""
    n, length = len(order), tour_length(costs, order)
    for _ in range(kicks):
        start = int(rng.integers(n))
        a, b, c = np.sort(rng.choice(np.arange(1, min(n, 50)), 3, replace=False))
        turned = np.roll(order, -start)
        tried = _improved(costs, np.concatenate([turned[:a], turned[b:c], turned[a:b], turned[c:]]))
        if (new := tour_length(costs, tried)) <= length:
            order, length = tried, new
    return order


def one_tree_bound(costs: Floats, upper: float, climbs: int = CLIMBS) -> float:
    """Bound all closed tours from below, where costs are the same both ways.

    A tour is a spanning tree of all places but one, with two more links of that place. Its cost does not change
    relative to other tours when each place is charged a number twice, so that every choice of these gives a bound.
    ``climbs`` are steps of subgradient ascent; ``upper``, the length of some tour, sets their size.
    """
    near = np.partition(costs + np.where(np.eye(len(costs), dtype=bool), np.inf, 0.0), 1, axis=1)[:, :2].sum(axis=1)
    first = np.roll(np.arange(len(costs)), -int(near.argmax()))  # the place that is left out of the tree: a lonely one
    costs = costs[np.ix_(first, first)]
    charge, best, scale = np.zeros(len(costs)), 0.0, 2.0
    waited = 0
    for _ in range(climbs):
        value, degree = _one_tree(costs + charge[:, None] + charge[None, :])
        value -= 2 * float(charge.sum())
        if value > best + 1e-9 * abs(best):
            best, waited = value, 0
        else:
            waited += 1
            if waited >= 5:
                scale, waited = scale * 0.6, 0
        slope = degree - 2
        if not slope.any() or upper - value <= 1e-12 * upper:
            return max(best, value)
        charge += scale * max(upper - value, 1e-9 * upper) / float(slope @ slope) * slope
    return best


def _one_tree(costs: Floats) -> tuple[float, Floats]:
    """The least 1-tree: its cost, and the degrees of its nodes."""
    n = len(costs)
    degree = np.zeros(n)
    near, parent, inside = costs[1].copy(), np.ones(n, dtype=np.intp), np.zeros(n, dtype=bool)
    inside[[0, 1]] = True
    near[inside] = np.inf
    total = 0.0
    for _ in range(n - 2):
        new = int(near.argmin())
        total += near[new]
        degree[new] += 1
        degree[parent[new]] += 1
        inside[new] = True
        near[new] = np.inf
        row = costs[new]
        closer = (row < near) & ~inside
        near[closer], parent[closer] = row[closer], new
    two = np.argpartition(costs[0, 1:], 1)[:2] + 1
    degree[two] += 1
    degree[0] += 2
    return total + float(costs[0, two].sum()), degree
