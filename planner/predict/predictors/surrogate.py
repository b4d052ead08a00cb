"""Rounds from runs: the scenario is simulated on problems of several kinds that have its constants.

The runs are short, at most `MOST_ROUNDS` global rounds, and say how many times the rounds of Star-Star each topology
takes to what Star-Star reaches. By what they show of these ratios the rounds of the typical predictor are corrected, at
any target; other numbers of the same scenario (draws of its constants, flips) keep the correction. It needs numpy
alone, and some seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hflbounds.topology import two_tier
from planner.errors import NoAnswerError
from planner.predict.predictors import typical
from planner.predict.predictors.base import Predictor, report_progress

if TYPE_CHECKING:
    from planner.predict.question import Question

LONGEST_CHAIN = 1_500  # local steps in a round of a ring that are simulated
MOST_ROUNDS, FEWEST_ROUNDS = 60, 12
STEPS = 12_000  # local steps one after the other of a simulation, unless its fewest rounds have more
PROBLEMS = 6
RATES = 0.1 * 1.6 ** np.arange(14.0)  # effective, times L: 0.1 to 45
KINDS = ((0.03, 0.0), (0.003, 1.5))  # flattest curvature, and how far out in flat directions the start is


@lru_cache(maxsize=64)
def corrections(
    topologies: tuple[str, ...], values: tuple[tuple[str, float], ...], order: str, seed: int
) -> tuple[float, ...]:
    """What the runs make of the typical predictor's rounds relative to Star-Star's: factors, by topology.

    Raises:
        NoAnswerError: if a round is too long to be simulated.
    """
    from validation.ensemble import FAMILIES, ensemble, rounds_to, squared_gradients

    told = dict(values)
    chain = int(told["S1"] * told["S2"] * told["P"] * told["K"])
    if chain > LONGEST_CHAIN:
        raise NoAnswerError(
            f"--predictor surrogate: a round of Ring-Ring has {chain:,} local steps one after the other, and at most "
            f"{LONGEST_CHAIN:,} are simulated. Use --predictor typical, or a smaller fleet of the same shape."
        )
    rounds = max(FEWEST_ROUNDS, min(MOST_ROUNDS, STEPS // chain))
    reference = max(1, round(0.6 * rounds))
    counts: dict[str, Any] = {name: int(told[name]) for name in ("G", "M", "P", "S1", "S2")}
    shape: dict[str, Any] = {"G": int(told["G"]), "M": int(told["M"])}
    shape |= {name: told[name] for name in ("L", "A", "sigma", "zeta", "delta")}
    logs = []
    runs = [(family, kind) for family in FAMILIES for kind in KINDS]
    for number, (family, (flattest, tail)) in enumerate(runs):
        made = ensemble(family, **shape, flattest=flattest, tail=tail, problems=PROBLEMS, seed=seed)
        found: dict[str, float] = {}
        target = np.zeros(1)
        for place, topology in enumerate(("star-star", *(t for t in topologies if t != "star-star"))):
            tree = two_tier(topology, **counts, order=order)  # type: ignore[arg-type]
            squared = squared_gradients(made, tree, RATES / told["L"], rounds, K=int(told["K"]), seed=seed)
            if topology == "star-star":
                mean = np.cumsum(squared[:-1].mean(-1), axis=0)[reference - 1] / reference
                target = np.array([np.nanmin(mean)])
            found[topology] = float(rounds_to(squared, target)[0][0])
            report_progress((number + (place + 1) / max(4, len(topologies))) / len(runs))
        logs.append([math.log(found[t] / found["star-star"]) for t in topologies])
    constants = {name: told[name] for name in typical.CONSTANTS}
    fleets = {
        t: typical.Fleet(t, tuple(int(told[n]) for n in typical.COUNTS), order, typical.FADES["gradient"])
        for t in ("star-star", *topologies)
    }
    goal = typical.reached(fleets["star-star"], float(reference), constants)
    expected = [math.log(float(typical.rounds_to(fleets[t], goal, constants)) / reference) for t in topologies]
    # Runs that did not get there say no more than that it takes longer: they correct upwards or not at all.
    longer = np.maximum(math.log(rounds / reference), expected)
    return tuple(float(x) for x in np.exp(np.mean(np.where(np.isinf(logs), longer, logs), axis=0) - expected))


class _Surrogate(Predictor):
    id = "surrogate"
    says = "that runs on problems with these constants took"
    monotone = True
    shows_progress = True

    def start(self, values: Mapping[str, Any]) -> Any:
        return typical.PREDICTOR.start(values)

    def reached(self, question: Question, topology: str, rounds: Any, values: Mapping[str, Any]) -> Any:
        factor = self._factor(question, topology)
        return typical.PREDICTOR.reached(question, topology, np.asarray(rounds, dtype=float) / factor, values)

    def rounds_to(self, question: Question, topology: str, target: Any, values: Mapping[str, Any]) -> Any:
        found = typical.PREDICTOR.rounds_to(question, topology, target, values)
        corrected = np.maximum(found * self._factor(question, topology), 1.0)
        return np.where(found > 1, corrected, 1.0)[()]  # what the start meets is not a matter of runs

    def rate(self, question: Question, topology: str, rounds: float) -> float | None:
        return typical.PREDICTOR.rate(question, topology, rounds)

    def _factor(self, question: Question, topology: str) -> float:
        names = tuple(question.topologies)
        base = tuple(sorted((name, float(value)) for name, value in question.values.items()))
        return corrections(names, base, question.order, question.seed)[names.index(topology)]


PREDICTOR = _Surrogate()
