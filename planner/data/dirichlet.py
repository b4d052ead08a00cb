"""Dirichlet concentrations of label counts, within and between groups, by maximum likelihood.

The model is that of ``dirichlet:intra=...,inter=...``: the label shares of a group are drawn around the overall
ones, ``pi_g ~ Dirichlet(C * inter * q)``, those of a client around its group's,
``p_gi ~ Dirichlet(C * intra * pi_g)``, and its samples from them, for ``C`` labels. Concentrations are per label.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from planner.data.label_shift import Floats, Indices, Interval

FLAT = 4.0  # standard error of a logarithm at which the counts decide nothing
LEAST, MOST = 1e-6, 1e7  # total concentrations beyond which counts tell no difference
PSI = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760)  # of x**-2, x**-4 ...


def digamma(x: Floats) -> Floats:
    """Derivative of the logarithm of the gamma function, for positive numbers.

    The recurrence ``psi(x) = psi(x + 1) - 1 / x`` up to 8 and more, then the asymptotic series; within 1e-12 of
    ``1 + |psi(x)|``.
    """
    shifted = x + 8
    square = 1 / shifted**2
    series = np.zeros_like(shifted)
    for factor in reversed(PSI):
        series = (series + factor) * square
    ends = x * (x + 7)  # of eight numbers in pairs from both ends: every pair has the sum 2 x + 7
    near, far = ends * (ends + 6), (ends + 10) * (ends + 12)
    down = (2 * x + 7) * (((2 * ends + 6) * far + (2 * ends + 22) * near) / (near * far))
    return np.log(shifted) - 1 / (2 * shifted) + series - down


def concentrations(counts: Floats, group_of: Indices, *, adjusted: bool = True) -> tuple[Interval | None, ...]:
    """Concentrations within groups and between them; None where no group has two clients, or there are no two groups.

    They are per label: 0 where every member has a single label, infinite where they do not differ beyond counting. The
    intervals, 95 %, are by the curvature of the likelihood; there are none at either end of the range.

    Within: the likelihood of counts over the common concentration and every group's shares; the shares take degrees of
    freedom from it, so by default their information is taken out of it (Cox and Reid's adjusted profile). Between: the
    same likelihood of the groups' samples, counted as the independent ones they are worth.

    Counts are clients by labels, every row with a sample. What is not ``adjusted`` is the plain maximum, which with few
    clients in a group is too large.
    """
    labels = int((counts > 0).any(axis=0).sum())
    groups = int(group_of.max()) + 1
    intra: Interval | None = None
    sizes = counts.sum(axis=1)
    worth = sizes  # in independent samples of the group's shares: those of a client are alike
    if np.bincount(group_of).max() > 1:
        total, error = _fit(counts, group_of, adjusted)
        intra = _per_label(total, error, labels)
        worth = sizes if math.isinf(total) else sizes * (1 + total) / (sizes + total)
    if groups == 1:
        return intra, None
    pooled = np.zeros((groups, counts.shape[1]))
    np.add.at(pooled, group_of, counts * (worth / sizes)[:, None])
    total, error = _fit(pooled, np.zeros(groups, dtype=np.int64), adjusted)
    return intra, _per_label(total, error, labels)


def _per_label(total: float, error: float, labels: int) -> Interval:
    if not LEAST * 1.001 < total < MOST or error > FLAT:
        return Interval(0.0 if total < 1 else math.inf, None, None)
    spread = math.exp(1.96 * error)
    return Interval(total / labels, total / labels / spread, total / labels * spread)


def _fit(counts: Floats, group_of: Indices, adjusted: bool) -> tuple[float, float]:
    """The total concentration, and the standard error of the logarithm of the total.

    Shares are improved by Minka's fixed point, which never lowers the likelihood, and the total by Newton steps on
    its logarithm, kept inside a bracket; in turn, until the total stands still.
    """
    groups = int(group_of.max()) + 1
    rows, columns = np.nonzero(counts)
    number, row_group = counts[rows, columns], group_of[rows]
    sizes = counts.sum(axis=1)
    cell = row_group * counts.shape[1] + columns
    pooled = np.bincount(cell, weights=number / sizes[rows], minlength=groups * counts.shape[1]).astype(np.float64)
    shares = pooled.reshape(groups, -1)
    shares = shares / shares.sum(axis=1, keepdims=True)
    present = np.count_nonzero(shares, axis=1)
    distinct, repeats = np.unique(sizes, return_counts=True)
    pair = np.unique(np.stack([group_of.astype(float), sizes]), axis=1, return_counts=True)

    def score(log_total: float) -> float:
        """Derivative of the (adjusted) likelihood over the logarithm of the total."""
        total = math.exp(log_total)
        part: Floats = shares[row_group, columns]
        inner = float((part * (digamma(number + total * part) - digamma(total * part))).sum())
        outer = float((repeats * (digamma(distinct + total) - digamma(np.array(total)))).sum())
        slope = total * (inner - outer)
        if adjusted:
            (group, size), times = pair
            worth = np.bincount(group.astype(int), times * size * (1 + total) / (size + total), groups)
            grows = np.bincount(group.astype(int), times * size * (size - 1) / (size + total) ** 2, groups)
            slope -= total * float(((present - 1) / 2 * grows / worth).sum())
        return slope

    log_total, error = math.log(counts.shape[1]), math.inf
    for _ in range(500):
        before, old = log_total, shares
        log_total, error = _root(score, log_total)
        total = math.exp(log_total)
        part: Floats = shares[row_group, columns]
        weight = part * (digamma(number + total * part) - digamma(total * part))
        shares = np.bincount(cell, weights=weight, minlength=shares.size).reshape(shares.shape)
        shares = np.maximum(shares, 1e-300 * (old > 0))
        shares /= shares.sum(axis=1, keepdims=True)
        if abs(log_total - before) < 1e-7 and np.abs(shares - old).max() < 1e-7:
            break
    total = math.exp(log_total)
    return (math.inf if total > MOST * 0.999 else total), error


def _root(score: Callable[[float], float], start: float) -> tuple[float, float]:
    """Where a score falls through 0, or the end of the range it points to; and the standard error there."""
    low, high = math.log(LEAST), math.log(MOST)
    x = min(max(start, low), high)
    step = 1e-4
    for _ in range(100):
        here = score(x)
        slope = (score(x + step) - here) / step
        low, high = (x, high) if here > 0 else (low, x)
        newton = x - here / slope if slope < 0 else math.inf
        following = newton if low < newton < high else (low + high) / 2
        if abs(following - x) < 1e-8:
            x = following
            break
        x = following
    curvature = (score(x) - score(x + step)) / step
    if min(x - math.log(LEAST), math.log(MOST) - x) < 1e-3:
        x = math.log(LEAST) if x < 0 else math.log(MOST)
    return x, 1 / math.sqrt(curvature) if curvature > 0 else math.inf
