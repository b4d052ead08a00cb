"""The cycle time of a synchronous gossip: the largest mean weight of a circuit (max-plus algebra)."""

from __future__ import annotations

import numpy as np

from planner.network.underlay import Floats


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
