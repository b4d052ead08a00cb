"""What other proofs say: the order of topologies under every admissible family of bounds."""

from __future__ import annotations

import math
from dataclasses import replace

from hflbounds import family
from hflbounds.evaluate.compare import ties
from planner.decide.recommendation import ConstantSet, ConstantUncertainty
from planner.predict.predictors import SQUARED_GRADIENT, chosen
from planner.predict.question import ask
from planner.scenario.resolve import Scenario

ADMISSIBLE = {  # families of bounds whose every topology is proved, by who takes part and the order of rings
    "fixed": ("hflbounds.exact", "hflbounds.sharp", "zhou2026.thm1", "zhou2026.thm1-proof", "zhou2026.cor1"),
    "random": (
        *("hflbounds.exact-random", "hflbounds.sharp-shuffle"),
        *("zhou2026.shuffle", "zhou2026.shuffle-proof", "zhou2026.shuffle-rate"),
    ),
    "partial": (
        "hflbounds.exact-partial",
        "hflbounds.sharp-partial",
        "zhou2026.thm2",
        "zhou2026.thm2-proof",
        "zhou2026.cor2",
    ),
}  # a list, because looking through the whole catalogue takes longer than an answer


def constant_sets(scenario: Scenario, topology: str, target: float | None) -> ConstantUncertainty:
    """The order of topologies under every admissible family of bounds, each with its own target where none was given.

    First places of ``topology`` are counted. The target is a squared gradient, as no bound is about another quantity.
    """
    sets = []
    whose, metric = chosen(scenario.predictor, scenario.metric)
    proved = whose.quantity(metric) is SQUARED_GRADIENT and scenario.depth == 2
    covered = ADMISSIBLE["partial" if scenario.partial else scenario.order] if proved else ()
    for family_id in covered:
        stepless = next(iter(family(family_id))).chain is None
        cap = None if stepless else scenario.cap
        question = ask(replace(scenario, bounds=family_id, cap=cap, predictor="bound", metric="gradient"))
        if not question.bounds:
            continue
        if target is not None:  # a share of the start is one of the predictor's, and the sets are asked for the same
            question = question.varied(target=target, share=None)
        totals = {
            t: float(n) * question.price(t, scenario.objective)
            for t, n in question.rounds().items()
            if math.isfinite(float(n))
        }
        order = sorted(totals, key=lambda t: totals[t])
        numbers = ties([totals[t] for t in order], scenario.resolution)
        first = tuple(t for t, number in zip(order, numbers, strict=True) if number == 1)
        constants = question.constants
        sets.append(
            ConstantSet(bounds=family_id, constants=constants, cap=question.cap, first=first, order=tuple(order))
        )
    first_in, reached = sum(topology in s.first for s in sets), sum(bool(s.first) for s in sets)
    return ConstantUncertainty(sets=tuple(sets), topology=topology, first_in=first_in, of=reached)
