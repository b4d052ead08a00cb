"""Gradient correction: what stars would take where a second vector in every transfer can be afforded.

MTGC sends a correction with every model, and by its printed rate neither zeta nor delta enters. At best it restores
what clients that are alike would do: so the rounds said here are those that the predictor expects of stars without
heterogeneity, and the round is timed with two vectors in every transfer. Nothing is run, and nothing is ranked by it.
"""

from __future__ import annotations

import math
from dataclasses import replace

from planner.cost.round import CostError
from planner.decide.recommendation import Corrected
from planner.predict.question import Question, ceil_rounds

BOUND = "fang2024.mtgc"
VECTORS = 2  # of a model's size in every transfer: the model and its correction


def corrected(question: Question) -> Corrected | None:
    """What a tree of stars takes with gradient correction; None where there is none, or not everybody takes part."""
    stars = [id_ for id_, tree in question.topologies.items() if not any(one.ordered for one in tree.patterns)]
    deviations = [one.deviation for one in question.symbols if question.values[one.deviation] > 0]
    if not stars or not deviations or question.partial or question.availability is not None:
        return None
    alike = replace(
        question,
        topologies={stars[0]: question.topologies[stars[0]]},
        values={**question.values, **dict.fromkeys((one.deviation for one in question.symbols), 0.0)},
        model_bytes=VECTORS * question.model_bytes,
        target=float(question.goal()),
        share=None,
        horizon=None,
    )
    try:
        rounds, cost = float(alike.rounds()[stars[0]]), alike.of_a_round(stars[0])
    except CostError:
        return None
    if not math.isfinite(rounds):
        return None
    count = ceil_rounds(rounds)
    return Corrected(
        id=stars[0],
        bound_id=BOUND,
        vectors=VECTORS,
        rounds=count,
        time_seconds=count * cost.seconds,
        traffic_bytes=count * cost.bytes,
        round_seconds=cost.seconds,
        round_bytes=cost.bytes,
        rounds_from=f"the predictor {question.predictor.id}, of clients that are alike; not run",
    )
