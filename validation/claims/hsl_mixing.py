"""What a round of mixing does to the models: measured in training against the exact factors, and against beta."""

from __future__ import annotations

import math
from typing import Literal

from validation.claims import Claim, Judgement, Plan, Size, overall, row
from validation.claims.hsl_setting import Epidemic, Hubs, problem_of
from validation.experiment import Cell
from validation.statistics import Prediction

Measured = Literal["consensus_after", "mean_move"]
QUICK = (Hubs(40, 5, 12, 2, 2), Hubs(40, 8, 5, 2, 1), Epidemic(40, 4), Epidemic(40, 1))
FULL = (
    *QUICK,
    Hubs(100, 10, 15, 5, 2),
    Hubs(100, 20, 5, 3, 1),
    Epidemic(100, 4),
    Hubs(10, 3, 3, 1, 1),
    Epidemic(10, 2),
)


def _plan(size: Size, measured: Measured, against: Literal["exact", "beta"], predicted: Prediction) -> Plan:
    rounds, seeds = (200, 40) if size == "quick" else (400, 100)
    at = tuple(range(1, rounds + 1))
    cells = {
        what: Cell(problem_of(what.nodes, 1.0), what.algorithm("mean"), (0.1,) * seeds, tuple(range(seeds)), rounds, at)
        for what in (QUICK if size == "quick" else FULL)
    }
    traces = yield tuple(cells.values())
    rows = []
    for what, cell in cells.items():
        trace = traces[cell]
        ratios = (trace.values[measured] / trace.values["consensus_before"]).mean(1).tolist()
        known = what.exact()["consensus_distance" if measured == "consensus_after" else "mean_deviation"]
        factor = float(known) if against == "exact" else what.beta()
        rows.append(row(what, f"measured / {factor:.4g}", ratios, [factor] * seeds, predicted))
    furthest = max(rows, key=lambda one: abs(math.log(one.ratio.estimate)))
    note = f"Furthest from 1: {furthest.ratio} for {furthest.setting}. Means over {rounds} rounds of {seeds} runs."
    return Judgement(overall(rows), tuple(rows), note)


def _claim(
    name: str,
    statement: str,
    source: str,
    prediction: str,
    measured: Measured,
    against: Literal["exact", "beta"],
    told: Prediction,
) -> Claim:
    quantity = "consensus distance after mixing" if measured == "consensus_after" else "squared move of the mean model"
    return Claim(
        id=name,
        source=source,
        statement=statement,
        prediction=prediction,
        quantity=f"{quantity}, over the consensus distance before, mean over rounds",
        plan=lambda size: _plan(size, measured, against, told),
        metric="distance",
        alone="it is of the distance between models, not of what they are good for",
    )


OWN = "hflbounds, docs/theory/hsl-mixing.md"
CLAIMS = (
    _claim(
        "hsl-consensus-exact",
        "Mixing multiplies the consensus distance by the exact factor about the mean after it.",
        OWN,
        "hflbounds.hsl-exact and hflbounds.push-exact, consensus_distance: equal",
        "consensus_after",
        "exact",
        "tie",
    ),
    _claim(
        "hsl-consensus-beta",
        "The consensus distance ratio is at most beta.",
        "sharma2025, Lemma A.2 and Section 4.2",
        "sharma2025.beta and devos2023.beta-local: not larger",
        "consensus_after",
        "beta",
        "not larger",
    ),
    _claim(
        "hsl-mean-move",
        "A round of mixing moves the mean model by the exact mean deviation.",
        OWN,
        "hflbounds.hsl-exact and hflbounds.push-exact, mean_deviation: equal",
        "mean_move",
        "exact",
        "tie",
    ),
)
