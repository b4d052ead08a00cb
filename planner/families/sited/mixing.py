"""Rounds of gossip over an overlay, against a server's: one theorem for both.

Theorem 3 of docs/theory/hsl-mixing.md with a mixing that keeps the mean (kappa = 0), whose consensus ratio is beta, and
the largest step that the proof allows at this beta. A server is beta = 0.
"""

from __future__ import annotations

import math

from planner.families.hsl.model import Learning, first_round


def rounds(learning: Learning, beta: float, target: float, step: float | None = None) -> float:
    """Rounds until the theorem's bound meets a target, infinite where beta is 1.

    ``beta`` is the largest expected share of the distance to the mean that a round leaves. The target is a mean squared
    gradient over rounds and nodes. ``step`` is ``lambda`` of the largest step, ``1 / (lambda L)``; by default the least
    that the proof allows.
    """
    if beta >= 1:
        return math.inf
    c = beta * (1 + 3 * beta) / (1 - beta) ** 2
    largest = max(2.0, math.sqrt(20 * c)) if step is None else step
    spread = learning.sigma**2 + learning.H**2
    return float(
        first_round(
            4 * largest * learning.L * learning.A,
            8 * math.sqrt(learning.L * learning.A * learning.sigma**2 / learning.n),
            8 * (10 * c * learning.L**2 * learning.A**2 * spread) ** (1 / 3),
            target,
        )
    )
