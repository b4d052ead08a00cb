"""The parametric bootstrap of both deviations of a large table, from sums over groups in place of every count.

Of a draw of all counts the two squared deviations need, of each group, the weighted mean of its clients' shares and two
weighted sums of their squared lengths ``s = |q|^2``. They are sums over many clients and samples, so they are drawn
from the normal distribution that has their means and covariances, which are exact: for ``n`` samples with shares ``p``,

    cov(q) = (diag p - p p')/n,    E s = |p|^2 + (1 - |p|^2)/n,
    cov(q_i, s) = 2 (n - 1)/n^2 (p_i^2 - p_i |p|^2),
    var s = (n - 1)/n^3 (4 (n - 2) (sum p^3 - |p|^4) + 2 (|p|^2 - |p|^4)),

the last two from ``n (n q^2 - 1)`` counted in ordered pairs of samples with one label. The mean of squares stays what
it is, and so does their spread; what is lost is the skewness of a group's sums, of order one over the root of its
samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.io.csv_rows import Floats, Indices

PRODUCTS = 2 * 10**9  # of numbers, in all draws together
JITTER = 1e-10
BLOCK = 1 << 20  # counts of clients that are worked on at once


@dataclass(frozen=True)
class Drawn:
    """What draws of all counts say."""

    centre: Floats  # squared length of the mean of all, shape (draws,)
    groups: Floats  # mean squared length of the means of groups, shape (draws,)
    # mean squared length of the shares of clients, with the noise within groups taken out, shape (draws,)
    clients: Floats
    noise: Floats  # of the squared deviation of groups, shape (draws,)


def affordable(groups: int, labels: int) -> int:
    """How many draws of so many groups and labels take a second or two."""
    return PRODUCTS // (groups * (labels + 2) ** 2)


def draw(
    points: Floats,
    sizes: Floats,
    group_of: Indices,
    shares: Sequence[Floats],
    rng: np.random.Generator,
    number: int,
    moved: tuple[Floats, float] | None = None,
) -> Drawn:
    """Draw the statistics of a table again and again.

    Counts are drawn from ``points``, label shares by client. ``shares`` are weights of every group, and of every client
    in its group. ``moved`` are means of the groups to draw about in place of their own, and a factor on how far draws
    are from them.
    """
    between, within = shares
    draws, labels = number, points.shape[1]
    centre = np.zeros((draws, labels))
    groups, clients, noise = np.zeros(draws), np.zeros(draws), np.zeros(draws)
    order = np.argsort(group_of, kind="stable")
    for group, mine in enumerate(np.split(order, np.cumsum(np.bincount(group_of))[:-1])):
        weight = between[group]
        mean, spread = moments(points, mine, sizes, within, weight)
        apart = rng.standard_normal((draws, len(mean))) @ spread.T
        sums = mean + apart
        means = sums[:, :-2] if moved is None else moved[0][group] + moved[1] * apart[:, :-2]
        centre += weight * means
        groups += weight * (means**2).sum(axis=1)
        clients += sums[:, -2]
        noise += sums[:, -1]
    return Drawn((centre**2).sum(axis=1), groups, clients, noise)


def moments(points: Floats, mine: Indices, sizes: Floats, within: Floats, weight: float) -> tuple[Floats, Floats]:
    """Mean of a group's sums, and a root of their covariance.

    The sums are the mean shares; the part of the group in the squares of clients, their noise taken out; and in the
    noise of the squares of groups. ``mine`` are the clients of the group, and ``within`` their weights in it.
    """
    labels = points.shape[1]
    mean, cov = np.zeros(labels + 2), np.zeros((labels + 2, labels + 2))
    step = max(BLOCK // labels, 1)
    for some in (mine[i : i + step] for i in range(0, len(mine), step)):
        p, n, w = points[some], sizes[some], within[some]
        length = np.einsum("ij,ij->i", p, p)
        squared = p * p
        cubes = np.einsum("ij,ij->i", squared, p)
        known = np.where(n > 1, 1 / np.maximum(n - 1, 1), 0.0)  # of a single sample nothing is said of its noise
        # The noise of a client is (1 - s)/(n - 1): what is taken out of its square, and of its group's.
        of_clients, of_groups = weight * w * (1 - w) * known, weight * (1 - weight) * w**2 * known
        scales = np.stack([weight * w + of_clients, -of_groups])
        mean[:-2] += w @ p
        mean[-2:] += scales @ (length + (1 - length) / n) + [-of_clients.sum(), of_groups.sum()]
        scaled = p * (w / np.sqrt(n))[:, None]
        cov[:-2, :-2] += np.diag(w**2 / n @ p) - scaled.T @ scaled
        by = scales * w * 2 * (n - 1) / n**2
        joint = by @ squared - (by * length) @ p
        cov[-2:, :-2] += joint
        cov[:-2, -2:] += joint.T
        variance = (n - 1) / n**3 * (4 * (n - 2) * (cubes - length**2) + 2 * (length - length**2))
        cov[-2:, -2:] += (scales * variance) @ scales.T
    return mean, _root(cov)


def _root(cov: Floats) -> Floats:
    """A matrix ``B`` with ``cov = B B'``, all but a share `JITTER`: shares sum to 1, so that it has no inverse."""
    scale = np.sqrt(np.maximum(np.diag(cov), 0.0))
    safe = np.where(scale > 0, scale, 1.0)
    return np.asarray(scale[:, None] * np.linalg.cholesky(cov / safe[:, None] / safe + JITTER * np.eye(len(cov))))
