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
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from planner.data.label_counts import LabelCounts

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Weighting = Literal["groups", "clients", "samples"]
Counts = Literal["sample", "all"]
WEIGHTINGS, COUNTS = get_args(Weighting), get_args(Counts)

LEVEL = 0.95
DRAWS = (40, 1000)  # least and most
DRAWS_SMALL = 200  # where an answer is wanted at once
CELLS = 10**8  # clients times labels times draws
LENGTHS = 2.0  # how far lengths of class gradients may differ in the stated sensitivity


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval; None where there is no number, ``inf`` where no end."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Spread:
    """Both squared deviations of one grouping.

    Attributes:
        zeta2, delta2: as the counts stand.
        zeta2_noise, delta2_noise: what counting adds to them on average.
        of_clients: what every client adds to ``zeta2``, without the noise; sums to ``zeta2 - zeta2_noise``.
        of_groups: what every group adds to ``delta2``, likewise.
    """

    zeta2: float
    delta2: float
    zeta2_noise: float
    delta2_noise: float
    of_clients: Floats
    of_groups: Floats

    @property
    def kept(self) -> float:
        """How much of a client's counted distance from the whole is its own, and not noise: from 0 to 1."""
        whole = self.zeta2 + self.delta2
        return min(max(1 - (self.zeta2_noise + self.delta2_noise) / whole, 0.0), 1.0) if whole else 0.0

    def if_chosen(self) -> tuple[float, float]:
        """Both squared deviations to expect where the groups were chosen by the counts.

        Then nothing is known of the noise but what the spread of clients says: a client's shares are expected at
        the fraction `kept` of their counted distance, with that fraction of the counted variance around it.
        """
        delta2 = self.kept**2 * self.delta2 + self.kept * self.delta2_noise
        net = self.zeta2 - self.zeta2_noise + self.delta2 - self.delta2_noise
        return max(net - delta2, 0.0), delta2


@dataclass(frozen=True)
class Measured:
    """What label counts say.

    Attributes:
        plain: without the noise of counting taken out.
        zeta2, delta2, ratio: with it taken out, and their intervals.
        lengths: the ratio's range where lengths of class gradients differ by up to a factor `LENGTHS`; None where a
            Gram matrix says what they are.
        draws: of the bootstrap.
        chosen: whether the groups were chosen by these very counts.
    """

    plain: Spread
    zeta2: Interval
    delta2: Interval
    ratio: Interval
    lengths: tuple[float, float] | None
    draws: int
    chosen: bool = False


def weights(table: LabelCounts, weighting: Weighting) -> tuple[Floats, Floats]:
    """Weight of every client in its group, and of every group; both sum to 1.

    ``groups`` is the objective of the theorems: the mean over groups of the mean over their clients. ``clients``
    counts every client the same, ``samples`` every sample.
    """
    mass = table.counts.sum(axis=1) if weighting == "samples" else np.ones(len(table.clients))
    whole = np.bincount(table.group_of, weights=mass, minlength=len(table.groups))
    shares = np.full(len(whole), 1 / len(whole)) if weighting == "groups" else whole / whole.sum()
    return mass / whole[table.group_of], shares


def noise(counts: Floats, gram: Floats | None = None) -> Floats:
    """Every client's unbiased estimate of ``E |p^ - p|^2``, the variance of its shares.

    Of a single sample nothing can be said of its variance: there it is 0.
    """
    sizes = counts.sum(axis=1)
    shares = counts / sizes[:, None]
    if gram is None:
        inner = 1 - (shares**2).sum(axis=1)
    else:
        inner = shares @ np.diag(gram) - ((shares @ gram) * shares).sum(axis=1)
    result: Floats = np.where(sizes > 1, np.maximum(inner, 0) / np.maximum(sizes - 1, 1), 0.0)
    return result


def root(gram: Floats) -> Floats:
    """A matrix ``B`` with ``gram = B B'``."""
    values, vectors = np.linalg.eigh(gram)
    result: Floats = vectors * np.sqrt(np.maximum(values, 0))
    return result


def spread(points: Floats, variances: Floats, group_of: Indices, within: Floats, between: Floats) -> Spread:
    """Both deviations of points in groups.

    Args:
        points: of clients, such that squared distances are those of gradients.
        variances: of the points, by client.
        group_of: every client's group.
        within: weight of every client in its group.
        between: weight of every group.
    """
    means = _means(points, group_of, within, len(between))
    apart = ((points - means[group_of]) ** 2).sum(axis=1)
    from_all = ((means - between @ means) ** 2).sum(axis=1)
    group_noise = np.bincount(group_of, weights=within**2 * variances, minlength=len(between))
    client_part = variances * (1 - 2 * within) + group_noise[group_of]
    group_part = group_noise * (1 - 2 * between) + between**2 @ group_noise
    mass = between[group_of] * within
    return Spread(
        zeta2=float(mass @ apart),
        delta2=float(between @ from_all),
        zeta2_noise=float(mass @ client_part),
        delta2_noise=float(between @ group_part),
        of_clients=mass * (apart - client_part),
        of_groups=between * (from_all - group_part),
    )


def measure(
    table: LabelCounts,
    *,
    gram: Floats | None = None,
    weighting: Weighting = "groups",
    counts: Counts = "sample",
    chosen: bool | None = None,
    seed: int = 0,
    draws: int | None = None,
) -> Measured:
    """Both squared deviations, their ratio, and what counting leaves uncertain of them.

    The clients and groups are those of the fleet and stay; their samples are drawn again (a parametric bootstrap),
    from shares pulled together so that their deviations are the estimated ones and not the inflated ones that
    the counts show. Where the counts are ``all`` there is, no noise is taken out and nothing is uncertain.

    Groups that were chosen by these very counts, as `hfl-plan group` does, are alike in their noise too, and the
    estimate for given groups would be too small. Such groups may show themselves by being more alike than counting
    allows. `Spread.if_chosen` then says what to expect.

    Args:
        table: with groups.
        gram: inner products of class gradients.
        weighting: of clients and groups.
        counts: ``sample`` of what the clients have, or ``all`` of it.
        chosen: whether the groups were chosen by these counts; None for whether they look so.
        seed: of the bootstrap.
        draws: of the bootstrap; by default as many as a minute allows, and never more than that.
    """
    within, between = weights(table, weighting)
    turn = None if gram is None else root(gram)

    def of(numbers: Floats, points: Floats | None = None) -> Spread:
        shares = numbers / numbers.sum(axis=1, keepdims=True) if points is None else points
        variances = noise(numbers, gram) if counts == "sample" else np.zeros(len(numbers))
        return spread(shares if turn is None else shares @ turn, variances, table.group_of, within, between)

    found = of(table.counts)
    lengths = None if turn is not None else _lengths(table, within, between, counts)
    if counts == "all":
        zeta2, delta2 = found.zeta2, found.delta2
        exact = [Interval(value, value, value) for value in (zeta2, delta2, _ratio(zeta2, delta2))]
        return Measured(found, exact[0], exact[1], exact[2], lengths, 0)
    if chosen is None:
        chosen = too_alike(table, found)
    affordable = max(CELLS // table.counts.size, DRAWS[0])
    draws = int(min(affordable, DRAWS[1] if draws is None else draws))
    rng = np.random.default_rng(seed)
    sizes = table.counts.sum(axis=1).astype(np.int64)
    shares = table.shares()
    if chosen:
        lengths = None
        zeta2, delta2 = found.if_chosen()
        kept = found.kept
        centre = between @ _means(shares, table.group_of, within, len(between))
        likely = centre + kept * (shares - centre)

        def draw() -> tuple[float, float]:
            again = rng.multinomial(sizes, shares) / sizes[:, None]
            apart = of(table.counts, likely + math.sqrt(kept) * (again - shares)).delta2
            return max(zeta2 + delta2 - apart, 0.0), apart

    else:
        zeta2, delta2 = _net(found)
        pulled = _pulled(table, within, between, found)

        def draw() -> tuple[float, float]:
            return _net(of(rng.multinomial(sizes, pulled).astype(float)))

    sample = np.array([draw() for _ in range(draws)])
    ratios = np.array([_number(_ratio(z, d)) for z, d in sample])
    return Measured(
        found,
        _interval(zeta2, sample[:, 0]),
        _interval(delta2, sample[:, 1]),
        _interval(_ratio(zeta2, delta2), ratios),
        lengths,
        draws,
        chosen,
    )


def _means(points: Floats, group_of: Indices, within: Floats, groups: int) -> Floats:
    if len(points) * groups <= 10**6:  # quicker than adding up client by client
        member: Floats = (group_of == np.arange(groups)[:, None]) * within
        return member @ points
    means = np.zeros((groups, points.shape[1]))
    np.add.at(means, group_of, points * within[:, None])
    return means


def _net(found: Spread) -> tuple[float, float]:
    """Deviations without the noise; below rounding and below 0 they are 0."""
    zeta2, delta2 = found.zeta2 - found.zeta2_noise, found.delta2 - found.delta2_noise
    return (zeta2 if zeta2 > 1e-13 * found.zeta2 else 0.0), (delta2 if delta2 > 1e-13 * found.delta2 else 0.0)


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
    return bool(found.delta2 < least * found.delta2_noise)


def _ratio(zeta2: float, delta2: float) -> float | None:
    """None where both are 0."""
    if delta2 < 1e-14:
        return math.inf if zeta2 >= 1e-14 else None
    return zeta2 / delta2


def _number(ratio: float | None) -> float:
    return math.nan if ratio is None else ratio


def _pulled(table: LabelCounts, within: Floats, between: Floats, found: Spread) -> Floats:
    """Shares with the estimated deviations: clients pulled to their group, groups to the whole."""
    zeta2, delta2 = _net(found)
    inner = math.sqrt(zeta2 / found.zeta2) if found.zeta2 else 1.0
    outer = math.sqrt(delta2 / found.delta2) if found.delta2 else 1.0
    shares = table.shares()
    means = _means(shares, table.group_of, within, len(between))
    whole = between @ means
    pulled = whole + outer * (means - whole)[table.group_of] + inner * (shares - means[table.group_of])
    pulled = np.maximum(pulled, 0)
    result: Floats = pulled / pulled.sum(axis=1, keepdims=True)
    return result


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


def _lengths(table: LabelCounts, within: Floats, between: Floats, counts: Counts) -> tuple[float, float] | None:
    """The extremes of the ratio over orthogonal class gradients whose lengths differ by up to `LENGTHS`.

    The ratio is one of sums over labels with the squared lengths as weights, so it is extreme where the labels of
    the largest ratios of their own have the largest weight and all others the smallest, or the other way round.
    """
    shares = table.shares()
    sizes = table.counts.sum(axis=1)
    means = _means(shares, table.group_of, within, len(between))
    mass = between[table.group_of] * within
    zeta2 = mass @ (shares - means[table.group_of]) ** 2
    delta2 = between @ (means - between @ means) ** 2
    if counts == "sample":
        single = shares * (1 - shares) / np.maximum(sizes - 1, 1)[:, None] * (sizes > 1)[:, None]
        of_group = _means(single, table.group_of, within**2, len(between))
        zeta2 = zeta2 - (mass * (1 - within)) @ single
        delta2 = delta2 - (between * (1 - between)) @ of_group
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
