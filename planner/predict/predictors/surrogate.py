"""Rounds from runs: the scenario is simulated on problems of several kinds that have its constants.

The runs are short, at most `MOST_ROUNDS` global rounds, and say how many times the rounds of Star-Star each topology
takes to what Star-Star reaches. By what they show of these ratios the rounds of the typical predictor are corrected, at
any target; other numbers of the same scenario (draws of its constants, flips) keep the correction. It needs numpy
alone, and some seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hflbounds.topology import Topology, all_topologies
from planner.errors import NoAnswerError
from planner.predict.envelopes import constants_of
from planner.predict.predictors import typical
from planner.predict.predictors.base import Predictor, report_progress

if TYPE_CHECKING:
    from planner.harness.ensemble import Ensemble
    from planner.predict.question import Question

LONGEST_CHAIN = 1_500  # local steps in a round of a ring that are simulated
MOST_ROUNDS, FEWEST_ROUNDS = 60, 12
STEPS = 12_000  # local steps one after the other of a simulation, unless its fewest rounds have more
PROBLEMS = 6
RATES = 0.1 * 1.6 ** np.arange(14.0)  # effective, times L: 0.1 to 45
KINDS = ((0.03, 0.0), (0.003, 1.5))  # flattest curvature, and how far out in flat directions the start is


@lru_cache(maxsize=64)
def corrections(
    trees: tuple[Topology, ...], K: int, constants: tuple[tuple[str, float], ...], seed: int
) -> tuple[float, ...]:
    """What runs make of the typical predictor's rounds relative to Star-Star's: factors, by topology.

    The trees have the same numbers, ``constants`` are those of the problem by symbol; ``seed`` is of problems, noise,
    orders and draws.

    Raises:
        NoAnswerError: If a round is too long to be simulated, or the tree has another depth than two.
    """
    from planner.harness.ensemble import rounds_to, squared_gradients_of

    told = dict(constants)
    top = trees[0]
    if top.depth != 2:
        raise NoAnswerError(
            f"--predictor surrogate: it simulates trees of two tiers, and this one has {top.depth}. "
            "Use --predictor typical."
        )
    if top.uneven:
        raise NoAnswerError(
            "--predictor surrogate: it simulates groups that are alike, and the list has others. "
            "Use --predictor spectrum."
        )
    chain = top.work(K)
    if chain > LONGEST_CHAIN:
        raise NoAnswerError(
            f"--predictor surrogate: a round of rings has {chain:,} local steps one after the other, and at most "
            f"{LONGEST_CHAIN:,} are simulated. Use --predictor typical, or a smaller fleet of the same shape."
        )
    rounds = max(FEWEST_ROUNDS, min(MOST_ROUNDS, STEPS // chain))
    reference = max(1, round(0.6 * rounds))
    first = next(iter(all_topologies(top.depth).values()))  # of the first pattern in every tier
    in_stars = (replace(tier, pattern=one.pattern) for tier, one in zip(top.tiers, first.tiers, strict=True))
    star = Topology(tuple(in_stars))
    every = tuple(dict.fromkeys((star, *(tree.same_algorithm() for tree in trees))))  # with one child they are one
    logs = np.zeros((1, len(trees)))
    if len(every) > 1:
        made = _problems(top.tiers[0].size, top.tiers[1].size, constants, seed)
        logs = np.zeros((len(made), len(trees)))
        found: dict[Topology, list[float]] = {}
        targets: list[float] | None = None
        for place, tree in enumerate(every):  # Star-Star first: what it reaches is the target of all
            runs = squared_gradients_of(
                made,
                tree,
                RATES / told["L"],
                rounds if targets else reference,
                K=K,
                seed=seed,
                until=targets,
                progress=lambda share, before=place: report_progress((before + share) / len(every)),  # type: ignore[misc]
            )
            if targets is None:
                means = [np.cumsum(squared[:-1].mean(-1), axis=0)[reference - 1] / reference for squared in runs]
                targets = [float(np.nanmin(mean)) for mean in means]
            found[tree] = [
                float(rounds_to(squared, np.array([target]))[0][0])
                for squared, target in zip(runs, targets, strict=True)
            ]
        for column, tree in zip(logs.T, trees, strict=True):
            both = zip(found[tree.same_algorithm()], found[star], strict=True)
            column[:] = [math.log(count / of_stars) for count, of_stars in both]
    fleets = {tree: typical.Fleet(tree, K, typical.FADE) for tree in (star, *trees)}
    goal = fleets[star].reached(float(reference), told)
    expected = [math.log(float(fleets[tree].rounds_to(goal, told)) / reference) for tree in trees]
    # Runs that did not get there say no more than that it takes longer: they correct upwards or not at all.
    longer = np.maximum(math.log(rounds / reference), expected)
    return tuple(float(x) for x in np.exp(np.mean(np.where(np.isinf(logs), longer, logs), axis=0) - expected))


@lru_cache(maxsize=4)
def _problems(G: int, M: int, constants: tuple[tuple[str, float], ...], seed: int) -> tuple[Ensemble, ...]:
    """Problems of all kinds with these constants, whatever the order of rings."""
    from planner.harness.ensemble import FAMILIES, ensemble

    shape: dict[str, Any] = {"G": G, "M": M, **dict(constants)}
    return tuple(
        ensemble(family, **shape, flattest=flattest, tail=tail, problems=PROBLEMS, seed=seed)
        for family in FAMILIES
        for flattest, tail in KINDS
    )


class _Surrogate(Predictor):
    id = "surrogate"
    says = "that runs on problems with these constants took"
    monotone = True
    shows_progress = True

    def start(self, values: Mapping[str, Any], metric: str = "gradient") -> Any:
        return typical.PREDICTOR.start(values, metric)

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
        trees = tuple(question.sized(name) for name in question.topologies)
        constants = tuple((name, float(question.values[name])) for name in constants_of(question.depth))
        found = corrections(trees, int(question.values["K"]), constants, question.seed)
        return found[tuple(question.topologies).index(topology)]


PREDICTOR = _Surrogate()
