"""A global round of a tree whose nodes differ, coordinate by coordinate: unequal groups, unequal data, by shares.

As `hflbounds.tilted.affine_round` for orders shuffled once, with these additions. A child counts ``p_c`` for its node's
loss; the tilts of a tier are drawn with one variance for all children and centred by shares in every node, so that
their mean square over the tree is the tier's. In a star a child's result counts by its share, in a ring every child
works alike: where what a round counts (`Topology.counted`) is not what the loss counts (`Topology.meant`), a part of
the tilts does not cancel, stays from round to round, and does not fall with the learning rate. Exact but for two
means: children of one ring whose maps differ stand at random places of a ring of their geometric mean, and the mean of
those of a node's children who are drawn is taken by shares that add up to 1 on average. Where more than `MOST` kinds
of nodes are in a tier, those with nearly as many children are taken as one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from hflbounds.topology import Children, LinearMap, Tier, Topology

Array = npt.NDArray[np.float64]
MOST: Final = 32  # kinds of nodes of a tier


class Kind(NamedTuple):
    """What one call of a node does; nodes of one kind are alike.

    Attributes:
        map: Of a deviation.
        inside: Sum of the weights of the local steps in the result.
        noise: Of the squares of these weights, for unit noise.
        kept: Of one unit of every tier's squared heterogeneity below, clients first, what stays from round to round.
        both: All of it.
        miscounted: The part of what stays that comes of counts, not of places: a round counts a child otherwise than
            the loss does.
    """

    map: LinearMap
    inside: Any
    noise: Any
    kept: tuple[Any, ...] = ()
    both: tuple[Any, ...] = ()
    miscounted: tuple[Any, ...] = ()


class Kin(NamedTuple):
    """The children of a node by their kinds: how many, and sums over them of their shares less the mean share.

    Attributes:
        number: Of children of each kind.
        first: Sums of what shares exceed one over the number of children.
        second: Of the squares of that.
        cubes: Of the cubes of the shares.
        chains: Local steps that a child of each kind chains, for one of a client.
        kinds: Of the children, by number.
    """

    number: Array
    first: Array
    second: Array
    cubes: Array
    chains: Array
    kinds: npt.NDArray[np.int64]

    @property
    def shares(self) -> Array:
        """Sums of the shares."""
        return np.asarray(self.number / self.number.sum() + self.first)

    @property
    def weights(self) -> Array:
        """What a child of each kind counts in a mean, over its share (`Topology.weights`)."""
        return np.asarray(1 / self.chains / (self.shares / self.chains).sum())

    def chained(self, tier: Tier) -> float:
        """Local steps that their node chains."""
        if tier.pattern.by_share:
            return float(tier.passes / (self.shares / self.chains).sum())
        n = float(self.number.sum())
        return float(tier.passes * (self.number @ self.chains) * min(tier.drawn or n, n) / n)

    @property
    def squares(self) -> Array:
        """Sums of the squared shares."""
        n = self.number.sum()
        return np.asarray(self.second + 2 * self.first / n + self.number / n**2)


class Family(NamedTuple):
    """The nodes above one tier, by kind.

    Attributes:
        tier: The tier.
        kin: The children of each kind of node, by the kinds of the tier below; the root alone is of one kind.
        spread: One less the mean over nodes of the sum of squared shares: what centring leaves of a tilt's variance.
    """

    tier: Tier
    kin: tuple[Kin, ...]
    spread: float


@lru_cache(maxsize=64)
def families(topology: Topology) -> tuple[Family, ...]:
    """Sort the nodes of a tree by what is below them, clients' nodes first and the root last.

    Args:
        topology: With the children of every node.
    """
    tiers = [(tier, tier.children) for tier in topology.tiers if tier.children is not None]
    masses = [np.ones(1)]
    for _, children in tiers:
        masses.append(masses[-1][children.parents] * children.shares)
    found, kind_of, chains = [], np.zeros(topology.clients, dtype=np.int64), np.ones(1)
    for level in range(topology.depth - 1, -1, -1):
        tier, children = tiers[level]
        spread = 1 - float(masses[level] @ children.concentration)
        above = tiers[level - 1] if level else None
        counts = np.ones(1) if above is None or not above[0].pattern.by_share else above[1].shares ** 2
        kin, kind_of = _kin(children, kind_of, chains, np.broadcast_to(counts, len(children.sizes)))
        chains = np.array([one.chained(tier) for one in kin])
        found.append(Family(tier, kin, spread))
    return tuple(found)


def uneven_round(topology: Topology, K: int, step: Array) -> Kind:
    """Compose the local steps of a round.

    Args:
        topology: With the children of every node.
        K: Local steps of a client.
        step: Raw learning rate times the curvature, above 0 and below 2.
    """
    steps = LinearMap.of_step(step).repeated(K)
    kinds = [Kind(steps.map, steps.total, steps.squares)]
    for tier, kin, spread in families(topology):
        kinds = [_called(tier, kinds, one, spread) for one in kin]
    return kinds[0]


def _kin(
    children: Children, kind_of: npt.NDArray[np.int64], chains: Array, counts: Array
) -> tuple[tuple[Kin, ...], npt.NDArray[np.int64]]:
    """Families of children that differ, and which each node has; those merged are means weighted by ``counts``."""
    parents, excess, kinds = children.parents, children.shares - 1 / children.sizes[children.parents], len(chains)
    table = np.zeros((len(children.sizes), 4, kinds))
    for i, part in enumerate((np.ones_like(excess), excess, excess**2, children.shares**3)):
        np.add.at(table[:, i], (parents, kind_of), part)
    flat = table.reshape(len(table), -1)
    for keys in (flat, table[:, 0], _bins(children.sizes)[:, None]):
        _, of = np.unique(keys, axis=0, return_inverse=True)
        of = of.reshape(-1)
        if of.max() < MOST:
            break
    whole = np.bincount(of, weights=counts)
    rows = np.stack([np.bincount(of, weights=counts * column) / whole for column in flat.T], axis=1)
    found = []
    for row in rows.reshape(-1, 4, kinds):
        there = row[0] > 0
        number, first, second, cubes = row[:, there]
        number = number * (max(round(number.sum()), 1) / number.sum())  # of merged ones a mean
        found.append(Kin(number, first, second, cubes, chains[there], np.flatnonzero(there)))
    return tuple(found), of


def _bins(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Sizes as so many steps of equal ratios."""
    ratio = max(np.log(sizes.max() / sizes.min()) / (MOST - 1), 1e-9)
    return np.asarray(np.round(np.log(sizes / sizes.min()) / ratio), dtype=np.int64)


def _called(tier: Tier, kinds: list[Kind], kin: Kin, spread: float) -> Kind:
    """Compose the passes of a node over its children."""
    pattern, kinds = tier.pattern, [kinds[k] for k in kin.kinds]
    n = round(float(kin.number.sum()))
    part = n if tier.drawn is None else min(tier.drawn, n)
    shares = kin.shares * kin.weights if pattern.by_share else kin.number / n
    call = pattern.mean([kind.map for kind in kinds], shares)
    # What a child's call counts beside its place in the pass, over its share or in itself; and the sum of the squares.
    counts, each = (kin.weights, n**2 * kin.squares) if pattern.by_share else (np.ones_like(kin.number), kin.number)
    leans = [pattern.lean(call, kind.map, part) for kind in kinds]
    weights = [count * mean for count, (mean, _) in zip(counts, leans, strict=True)]
    squares = [number * count**2 * one for number, count, (_, one) in zip(each, counts, leans, strict=True)]
    in_mean = [number * one**2 for number, one in zip(each, weights, strict=True)]
    pass_ = pattern.compose(call, part)
    passes = pass_.map.repeated(tier.passes)
    again = passes.total**2
    drawn = part < n or (pattern.ordered and tier.order == "random")
    once, square = pass_.total / n, pass_.squares / n  # of a child's weight: mean, and mean square
    fixed = once**2 if drawn else square
    depth = len(kinds[0].both)
    stay = in_mean if drawn else squares
    kept, miscounted = (
        [_sum(stay, [one[j] for one in parts]) * fixed * again for j in range(depth)]
        for parts in ([kind.kept for kind in kinds], [kind.miscounted for kind in kinds])
    )
    both = [_sum(squares, [kind.both[j] for kind in kinds]) * square * again for j in range(depth)]
    inside = [weight * kind.inside for weight, kind in zip(weights, kinds, strict=True)]
    whole = _sum(n * kin.shares if pattern.by_share else kin.number, inside)
    stays, varies = np.zeros_like(again), np.zeros_like(again)
    if n > 1 and spread > 1e-12:
        stays, varies = _gap(pattern.by_share, kin, inside, whole, n)
        stays = again * once**2 * stays / spread
        varies = again * (pattern.uneven(call, part)[0] + pass_.total**2 * (1 / part - 1 / n)) * varies / spread
    return Kind(
        passes.map,
        once * whole * passes.total,
        _sum(squares, [kind.noise for kind in kinds]) * square * passes.squares,
        (*kept, stays if drawn else stays + varies),
        (*both, stays + varies),
        (*miscounted, stays),
    )


def _gap(by_share: bool, kin: Kin, inside: list[Any], whole: Any, n: int) -> tuple[Any, Any]:
    """What unit tilts of the children add: by what each counts in the mean, and per unit variance of their weights.

    With ``x`` what a child counts but for its weight ``r`` in a pass, of mean square deviation ``D``, the tilts, which
    are centred by the shares ``p``, add ``sum (r x - p sum r x)^2``. In the mean over the children's places that is
    ``r^2 sum (x - p X)^2 + D/(n-1) [(1-1/n) sum x^2 - 2 (sum p x^2 - X sum p x/n) + sum p^2 (sum x^2 - X^2/n)]``, with
    ``X = sum x``.
    """
    shares, squares = kin.shares, kin.squares
    if by_share:
        stays = _sum(squares, [(n * own - whole) ** 2 for own in inside])
        x2, px, px2 = (
            _sum(weights, parts)
            for weights, parts in (
                (n**2 * squares, [own**2 for own in inside]),
                (n * squares, inside),
                (n**2 * kin.cubes, [own**2 for own in inside]),
            )
        )
    else:
        off = [own - whole / n for own in inside]
        stays = _sum(kin.number, [one**2 for one in off]) + kin.second.sum() * whole**2
        stays = stays - 2 * whole * _sum(kin.first, off)
        x2, px, px2 = (
            _sum(weights, parts)
            for weights, parts in (
                (kin.number, [own**2 for own in inside]),
                (shares, inside),
                (shares, [own**2 for own in inside]),
            )
        )
    varies = (1 - 1 / n) * x2 - 2 * (px2 - whole * px / n) + squares.sum() * (x2 - whole**2 / n)
    return np.maximum(stays, 0.0), np.maximum(varies, 0.0) / (n - 1)


def _sum(weights: Any, parts: list[Any]) -> Any:
    """Sum of arrays by weights."""
    total = weights[0] * parts[0]
    for weight, part in zip(weights[1:], parts[1:], strict=True):
        total = total + weight * part
    return total
