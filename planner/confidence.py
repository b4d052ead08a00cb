"""How sure the answer is about its inputs: the constants nobody gave are drawn, and the winners counted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hflbounds.compare import SAME
from planner.prediction import Question
from planner.recommendation import Confidence, Level
from planner.scenario import Scenario
from planner.scenario_file import Objective

DRAWS = 256
FACTOR = 3.0  # a constant that nobody gave is taken to be known within this factor, either way
UNKNOWN = ("sigma", "zeta", "delta", "A")  # L only enters as L * A, so one factor stands for both


def shares(question: Question, scenario: Scenario, objective: Objective) -> dict[str, float]:
    """Share of draws in which no other topology is better; ties count for everyone in them.

    Each constant that the user did not give is multiplied by a factor drawn log-uniformly from 1/`FACTOR` to
    `FACTOR`; the ones that were given stay. Where a file says how zeta and delta compare, they have one such factor
    in common, and their ratio varies by its own error. This says nothing about the bound itself being a good
    predictor: that is the evidence's part.
    """
    rng = np.random.default_rng(question.seed)
    changes = {
        name: question.values[name] * np.exp(rng.uniform(-np.log(FACTOR), np.log(FACTOR), DRAWS))
        for name in UNKNOWN
        if question.values[name] > 0 and not _given(scenario, name)
    }
    error = scenario.ratio_error
    if error is not None and "zeta" in changes and "delta" in changes:
        common = changes["zeta"] / question.values["zeta"]
        apart = np.exp(rng.normal(0, error, DRAWS) / 2)
        changes |= {name: question.values[name] * common * by for name, by in (("zeta", apart), ("delta", 1 / apart))}
    if not changes:
        changes = {"A": np.array([question.values["A"]])}
    prices = {t: question.price(t, objective) for t in question.bounds}
    rounds = question.rounds(**changes)
    totals = np.stack([rounds[t] * prices[t] for t in question.bounds])
    least = totals.min(axis=0)
    best = np.isfinite(least) & (totals <= least * (1 + SAME))
    return {t: float(best[i].mean()) for i, t in enumerate(question.bounds)}


def _given(scenario: Scenario, name: str) -> bool:
    names = ("A", "L") if name == "A" else (name,)
    return all(scenario.known[n].origin == "given" for n in names)


def level(tied: bool, p_best: float | None, margin: float | None, doubted: bool) -> Level:
    """``tie``; ``weak`` for a small margin, an unstable winner or a doubted predictor; else ``fair``."""
    if tied:
        return "tie"
    small = margin is not None and margin < 0.1
    unstable = p_best is not None and p_best < 0.8
    return "weak" if small or unstable or doubted else "fair"


def judge(totals: Mapping[str, float], tied: list[str], p_best: Mapping[str, float], doubted: bool) -> Confidence:
    """The confidence in the first tie group.

    Args:
        totals: the objective of every topology that has one, best first.
        tied: the topologies of the first tie group.
        p_best: as of `shares`.
        doubted: whether measured orders contradict this predictor here.
    """
    best = next(iter(totals.values()))
    others = [value for topology, value in totals.items() if topology not in tied]
    margin = others[0] / best - 1 if others and best > 0 else None
    first = next(iter(totals))
    return Confidence(level=level(len(tied) > 1, p_best[first], margin, doubted), p_best=p_best[first], margin=margin)
