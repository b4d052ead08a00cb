"""From label counts to the two deviations a bound needs, under pure label shift.

A client's loss is ``F_c = sum_y p_c(y) F_y`` where all clients share the loss ``F_y`` of each label, so gradient
differences are combinations of class gradients: ``|grad F_c - grad F_d|^2 = (p_c - p_d)' Gram (p_c - p_d)`` with the
matrix of inner products of class gradients. Without that matrix, class gradients are taken to be orthogonal and
equally long; that leaves one factor open, which the ratio of the two deviations does not need.

Counts are a sample, which makes clients look more different than they are. The estimators here are unbiased for
the clients the counts were drawn from; docs/measuring.md derives them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from planner.data import resampling
from planner.data.label_counts import LabelCounts

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Weighting = Literal["groups", "clients", "samples"]
Counts = Literal["sample", "all"]
WEIGHTINGS, COUNTS = get_args(Weighting), get_args(Counts)

LEVEL = 0.95
DRAWS = (40, 1000)  # least and most
CELLS = 10**8  # clients times labels times draws
SOON, SOON_LEAST = 10**6, 200  # clients times labels times draws where an answer is wanted at once, and the least draws
IN_CACHE = 2**14  # clients times labels of draws that are worked out together
NEGLIGIBLE = 1e-13  # of a square: rounding
LITERAL = 20_000  # clients times labels up to which every count is drawn again
LARGE_GROUP = 5  # clients in the mean from which sums over a group are as good as normal
AT_ONCE = 1024  # clients whose shares are worked out together: more leave the cache, and take memory
LENGTHS = 2.0  # how far lengths of class gradients may differ in the stated sensitivity


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval; None where there is no number, ``inf`` where no end."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Spread:
    """The squared deviation of every tier of one grouping, top first."""

    squares: tuple[float, ...]  # as the counts stand
    noises: tuple[float, ...]  # what counting adds to them on average
    parts: tuple[Floats, ...]  # what every node adds to the square of its tier, without the noise

    @property
    def zeta2(self) -> float:
        """Of clients in their groups, as the counts stand."""
        return self.squares[-1]

    @property
    def delta2(self) -> float:
        """Of the groups of the top tier, as the counts stand."""
        return self.squares[0]

    @property
    def net(self) -> tuple[float, ...]:
        """Squares without the noise; below rounding and below 0 they are 0."""
        pairs = ((square, square - noise) for square, noise in zip(self.squares, self.noises, strict=True))
        return tuple(net if net > NEGLIGIBLE * square else 0.0 for square, net in pairs)

    @property
    def kept(self) -> float:
        """How much of a client's counted distance from the whole is its own, and not noise: from 0 to 1."""
        whole = sum(self.squares)
        return min(max(1 - sum(self.noises) / whole, 0.0), 1.0) if whole else 0.0

    def if_chosen(self) -> tuple[float, float]:
        """Both squared deviations, ``(zeta^2, delta^2)``, to expect where the groups were chosen by the counts.

        Then nothing is known of the noise but what the spread of clients says: a client's shares are expected at
        the fraction `kept` of their counted distance, with that fraction of the counted variance around it.
        """
        delta2 = self.kept**2 * self.delta2 + self.kept * self.noises[0]
        return max(sum(self.squares) - sum(self.noises) - delta2, 0.0), delta2


@dataclass(frozen=True)
class Measured:
    """What label counts say."""

    plain: Spread  # without the noise of counting taken out
    tiers: tuple[Interval, ...]  # squared deviation of every tier, top first, with it taken out, and their intervals
    ratio: Interval  # of two tiers, that of the lower over that of the upper; None for any other number
    # the ratio's range where lengths of class gradients differ by up to a factor `LENGTHS`; None where a Gram matrix
    # says what they are
    lengths: tuple[float, float] | None
    draws: int  # of the bootstrap
    chosen: bool = False  # whether the groups were chosen by these very counts

    @property
    def zeta2(self) -> Interval:
        """Of clients in their groups."""
        return self.tiers[-1]

    @property
    def delta2(self) -> Interval:
        """Of the groups of the top tier."""
        return self.tiers[0]


def weights(table: LabelCounts, weighting: Weighting) -> tuple[Floats, ...]:
    """Weight of every node among the children of its parent, by tier, top first; they sum to 1.

    ``groups`` is the objective of the theorems: at every node the mean over its children. ``clients`` counts every
    client the same, ``samples`` every sample.
    """
    mass: Floats = table.counts.sum(axis=1) if weighting == "samples" else np.ones(len(table.clients))
    found: list[Floats] = []
    for parents in reversed(table.parents):
        whole: Floats = np.bincount(parents, weights=mass).astype(np.float64)
        found.append(mass / whole[parents])
        mass = np.ones(len(whole)) if weighting == "groups" else whole
    return tuple(reversed(found))


def noise(counts: Floats, gram: Floats | None = None) -> Floats:
    """Every client's unbiased estimate of ``E |p^ - p|^2``, the variance of its shares.

    Of a single sample nothing can be said of its variance: there it is 0.
    """
    sizes = counts.sum(axis=-1)
    if gram is None:
        inner = 1 - np.einsum("...ij,...ij->...i", counts, counts) / sizes**2
    else:
        shares = counts / sizes[..., None]
        inner = shares @ np.diag(gram) - ((shares @ gram) * shares).sum(axis=-1)
    return np.where(sizes > 1, np.maximum(inner, 0) / np.maximum(sizes - 1, 1), 0.0)


def root(gram: Floats) -> Floats:
    """A matrix ``B`` with ``gram = B B'``."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def spread(points: Floats, variances: Floats, group_of: Indices, mass: Floats) -> Spread:
    """Both deviations of points in groups of one tier, as of `nested_spread`; ``mass`` weighs every client."""
    whole = np.bincount(group_of, weights=mass).astype(np.float64)
    within, between = mass / whole[group_of], whole / whole.sum()
    return nested_spread(points, variances, (np.zeros(len(between), dtype=np.int64), group_of), (between, within))


def nested_spread(points: Floats, variances: Floats, parents: Sequence[Indices], shares: Sequence[Floats]) -> Spread:
    """The deviations of points of clients in nested groups; squared distances are those of gradients.

    Variances are of the points. By tier, top first, every node has a parent and a share, its weight among the parent's
    children; clients are the nodes of the last.
    """
    squares, noises, parts = _by_tier(points, variances, parents, shares)
    return Spread(tuple(squares.tolist()), tuple(noises.tolist()), parts)


def _by_tier(
    points: Floats, variances: Floats, parents: Sequence[Indices], shares: Sequence[Floats]
) -> tuple[Floats, Floats, tuple[Floats, ...]]:
    """Squares, noises and parts of a `Spread`; points and variances may have an axis of draws in front."""
    masses = [shares[0]]
    for above, own in zip(parents[1:], shares[1:], strict=True):
        masses.append(masses[-1][above] * own)
    found: list[tuple[Floats, Floats, Floats]] = []
    for above, own, mass in zip(reversed(parents), reversed(shares), reversed(masses), strict=True):
        means = means_of(points, above, own)
        apart = np.empty(points.shape[:-1])
        for some in _blocks(mass):
            from_mean = means[..., above[some], :] - points[..., some, :]
            apart[..., some] = np.einsum("...ij,...ij->...i", from_mean, from_mean)
        noise_above = means_of(variances[..., None], above, own**2)[..., 0]
        part = variances * (1 - 2 * own) + noise_above[..., above]
        found.insert(0, (apart @ mass, part @ mass, mass * (apart - part)))
        points, variances = means, noise_above
    squares, noises, parts = zip(*found, strict=True)
    return np.stack(squares), np.stack(noises), parts


def usual(table: LabelCounts) -> Weighting:
    """The weighting where none was asked for: of clients where groups are unequal, which theorems do not cover."""
    return "clients" if table.uneven else "groups"


def soon(table: LabelCounts) -> int:
    """How many draws an answer waits for: of few counts as many as `measure` makes by itself."""
    return min(max(SOON // table.counts.size, SOON_LEAST), DRAWS[1])


def measure(  # reason: given and chosen groups, each drawn literally and by sums, share what was measured
    table: LabelCounts,
    *,
    gram: Floats | None = None,
    weighting: Weighting = "groups",
    counts: Counts = "sample",
    chosen: bool | None = None,
    seed: int = 0,
    draws: int | None = None,
) -> Measured:
    """The squared deviation of every tier, and what counting leaves uncertain of them; of two tiers their ratio too.

    The clients and groups are those of the fleet and stay; their samples are drawn again (a parametric bootstrap),
    from shares pulled together so that their deviations are the estimated ones and not the inflated ones that
    the counts show. Beyond `LITERAL` counts, in groups of one tier and `LARGE_GROUP` clients, sums over groups are
    drawn in their place (`planner.data.resampling`). Where the counts are ``all`` there is, no noise is taken out and
    nothing is uncertain.

    Groups that were chosen by these very counts, as `hfl-plan group` does, are alike in their noise too, and the
    estimate for given groups would be too small. Such groups may show themselves by being more alike than counting
    allows. `Spread.if_chosen` then says what to expect.

    ``gram`` are inner products of class gradients; ``chosen`` is None for whether the counts are known to have chosen
    the groups, or it looks so; ``draws`` of the bootstrap are by default as many as a minute allows, and never more.
    """
    shares, parents, turn = weights(table, weighting), table.parents, None if gram is None else root(gram)
    sizes = table.counts.sum(axis=1)

    def turned(points: Floats) -> Floats:
        return points if turn is None else points @ turn

    seen = table.shares()
    found = nested_spread(
        turned(seen), noise(table.counts, gram) if counts == "sample" else np.zeros(len(seen)), parents, shares
    )
    two = len(parents) == 2
    lengths = _lengths(table, seen, shares[1], shares[0], counts) if two and turn is None else None
    if counts == "all":
        exact = tuple(Interval(square, square, square) for square in found.squares)
        ratio = _ratio(found.squares)
        return Measured(found, exact, Interval(ratio, ratio, ratio), lengths, 0)
    if chosen is None:
        chosen = two and (table.chosen or too_alike(table, found))
    affordable, large = max(CELLS // table.counts.size, DRAWS[0]), False
    if two and turn is None and table.counts.size > LITERAL and len(sizes) >= LARGE_GROUP * len(table.groups):
        by_groups = resampling.affordable(len(table.groups), table.counts.shape[1])
        large, affordable = by_groups >= DRAWS[0], max(by_groups, affordable)
    draws = int(min(affordable, DRAWS[1] if draws is None else draws))
    rng = np.random.default_rng(seed)
    if chosen:
        lengths = None
        zeta2, delta2 = found.if_chosen()
        squares: tuple[float, ...] = (delta2, zeta2)
        centre = nodes_of(seen, parents, shares)[0]
        likely = centre + found.kept * (seen - centre)

        def at_once() -> tuple[Floats, Floats]:
            moved = means_of(likely, table.group_of, shares[1]), math.sqrt(found.kept)
            sums = resampling.draw(seen, sizes, table.group_of, shares, rng, draws, moved)
            apart = sums.groups - sums.centre
            return apart, np.maximum(sum(squares) - apart, 0.0)

        def draw(number: int) -> Floats:
            again = rng.multinomial(sizes.astype(np.int64), seen, (number, len(seen))) / sizes[:, None]
            moved = turned(likely + math.sqrt(found.kept) * (again - seen))
            (apart, _), *_ = _by_tier(moved, np.zeros(moved.shape[:-1]), parents, shares)
            return np.stack((apart, np.maximum(sum(squares) - apart, 0.0)), axis=1)

    else:
        squares, pulled = found.net, _pulled(seen, parents, shares, found)

        def at_once() -> tuple[Floats, Floats]:
            sums = resampling.draw(pulled, sizes, table.group_of, shares, rng, draws)
            delta2 = np.maximum(sums.groups - sums.centre - sums.noise, 0.0)
            return delta2, np.maximum(sums.clients - sums.groups, 0.0)

        def draw(number: int) -> Floats:
            again = rng.multinomial(sizes.astype(np.int64), pulled, (number, len(pulled))).astype(float)
            points = turned(again / sizes[:, None])
            apart, noises, _ = _by_tier(points, noise(again, gram), parents, shares)
            return np.where(apart - noises > NEGLIGIBLE * apart, apart - noises, 0.0).T

    if large:
        sample = np.stack(at_once(), axis=1)
    else:
        together = max(1, IN_CACHE // table.counts.size)
        sample = np.concatenate([draw(min(together, draws - i)) for i in range(0, draws, together)])
    ratios = np.array([math.nan if (ratio := _ratio(row)) is None else ratio for row in sample.tolist()])
    return Measured(
        found,
        tuple(_interval(square, sample[:, tier]) for tier, square in enumerate(squares)),
        _interval(_ratio(squares), ratios),
        lengths,
        draws,
        chosen,
    )


def means_of(points: Floats, parents: Indices, weight: Floats) -> Floats:
    """Weighted sums of the points of every parent, shape (..., parents, columns)."""
    count = int(parents.max()) + 1
    if len(parents) * count <= 10**6:  # quicker than adding up node by node
        member: Floats = (parents == np.arange(count)[:, None]) * weight
        return member @ points
    if points.ndim > 2:
        return np.stack([means_of(one, parents, weight) for one in points])
    return np.stack([np.bincount(parents, weights=weight * column, minlength=count) for column in points.T], axis=1)


def nodes_of(points: Floats, parents: Sequence[Indices], shares: Sequence[Floats]) -> list[Floats]:
    """The means of the nodes of every tier from the root; those of the clients, the last, are the points."""
    nodes = [points]
    for above, own in zip(reversed(parents), reversed(shares), strict=True):
        nodes.insert(0, means_of(nodes[0], above, own))
    return nodes


def too_alike(table: LabelCounts, found: Spread) -> bool:
    """Whether groups differ so much less than their noise that one of 10,000 would if nobody had chosen them.

    The noise of ``delta2`` is a sum of squares with at least as many degrees of freedom as one label less than
    there are, in effect, for each group but one; such a sum falls below a share by the square of a normal one.
    """
    if len(table.groups) == 1:
        return False
    labels = (table.counts.sum(axis=0) / table.counts.sum()) ** 2
    freedom = (len(table.groups) - 1) * max(1 / labels.sum() - 1, 1.0)
    least = max(1 - 2 / (9 * freedom) - 3.72 * math.sqrt(2 / (9 * freedom)), 0.0) ** 3  # Wilson and Hilferty
    return bool(found.delta2 < least * found.noises[0])


def _ratio(squares: Sequence[float]) -> float | None:
    """Of two tiers, ``zeta^2 / delta^2``; None where both are 0, and for any other number of tiers."""
    if len(squares) != 2 or max(squares) < 1e-14:
        return None
    delta2, zeta2 = squares
    return zeta2 / delta2 if delta2 >= 1e-14 else math.inf


def _pulled(points: Floats, parents: Sequence[Indices], shares: Sequence[Floats], found: Spread) -> Floats:
    """Label shares with the estimated deviations: every node is pulled to the one above it. Overwrites ``points``."""
    nodes = nodes_of(points, parents, shares)
    pulled = nodes[0]
    for square, net, parent, above, own in zip(found.squares, found.net, parents, nodes, nodes[1:], strict=False):
        factor = math.sqrt(net / square) if square else 1.0
        base, pulled = pulled - factor * above, np.multiply(own, factor, out=own if own is points else None)
        for some in _blocks(own):
            pulled[some] += base[parent[some]]
    np.maximum(pulled, 0, out=pulled)
    pulled /= pulled.sum(axis=1, keepdims=True)
    return pulled


def _blocks(points: Floats) -> Iterator[slice]:
    """Rows a few at a time, so that nothing as large as the table is made."""
    return (slice(i, i + AT_ONCE) for i in range(0, len(points), AT_ONCE))


def _interval(value: float | None, sample: Floats) -> Interval:
    """The central share `LEVEL` of draws; from few draws, by their logarithms' standard deviation."""
    sample = sample[~np.isnan(sample)]
    if value is None or len(sample) < 2:
        return Interval(value, None, None)
    tail = (1 - LEVEL) / 2
    if len(sample) >= 400 or not (sample > 0).all() or not np.isfinite(sample).all() or not 0 < value < math.inf:
        low, high = np.quantile(sample, [tail, 1 - tail], method="inverted_cdf")
        return Interval(value, float(low), float(high))
    width = math.exp(1.96 * float(np.log(sample).std(ddof=1)))
    return Interval(value, value / width, value * width)


def _lengths(
    table: LabelCounts, shares: Floats, within: Floats, between: Floats, counts: Counts
) -> tuple[float, float] | None:
    """The extremes of the ratio over orthogonal class gradients whose lengths differ by up to `LENGTHS`.

    The ratio is one of sums over labels with the squared lengths as weights, so it is extreme where the labels of
    the largest ratios of their own have the largest weight and all others the smallest, or the other way round.
    """
    sizes = table.counts.sum(axis=1)
    means = means_of(shares, table.group_of, within)
    mass = between[table.group_of] * within
    zeta2, delta2 = np.zeros(len(means.T)), between @ (means - between @ means) ** 2
    for j, own in enumerate(shares.T):  # a label at a time: nothing as large as the table is made
        zeta2[j] = mass @ (means[table.group_of, j] - own) ** 2
        if counts == "sample":
            single = own * (1 - own) * (sizes > 1) / np.maximum(sizes - 1, 1)
            zeta2[j] -= (mass * (1 - within)) @ single
            delta2[j] -= (between * (1 - between)) @ np.bincount(table.group_of, weights=within**2 * single)
    zeta2, delta2 = np.maximum(zeta2, 0), np.maximum(delta2, 0)
    if not delta2.sum() or not zeta2.sum():
        return None
    order = np.argsort(zeta2 / np.maximum(delta2, 1e-300))
    largest = LENGTHS**2
    ends = []
    for ranked in (order, order[::-1]):
        z, d = zeta2[ranked], delta2[ranked]
        more_z = np.concatenate([[0.0], np.cumsum(z)]) * (largest - 1) + z.sum()
        more_d = np.concatenate([[0.0], np.cumsum(d)]) * (largest - 1) + d.sum()
        ends.append(more_z / more_d)
    return float(ends[0].min()), float(ends[1].max())
