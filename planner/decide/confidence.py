"""How much to make of an answer: the level that its margin, its draws and the measured record allow."""

from __future__ import annotations

from collections.abc import Mapping

from planner.decide.recommendation import Confidence, Level

FACTOR = 3.0  # a number that nobody gave is taken to be known within this factor, either way


def judge(totals: Mapping[str, float], tied: list[str], p_best: Mapping[str, float], doubted: bool) -> Confidence:
    """The confidence in the first tie group: weak for a small margin, an unstable winner or a doubted predictor.

    Args:
        totals: the objective of every topology that has one, best first.
        tied: the topologies of the first tie group.
        p_best: share of draws in which each is first; empty where none were made.
        doubted: whether measured orders contradict this predictor here.
    """
    best = next(iter(totals.values()))
    others = [value for topology, value in totals.items() if topology not in tied]
    margin = others[0] / best - 1 if others and best > 0 else None
    share = p_best.get(next(iter(totals)))
    weak = doubted or (margin is not None and margin < 0.1) or (share is not None and share < 0.8)
    level: Level = "tie" if len(tied) > 1 else "weak" if weak else "fair"
    return Confidence(level=level, p_best=share, margin=margin)
