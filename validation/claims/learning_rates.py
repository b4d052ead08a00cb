"""The raw learning rates that suit the topologies: largest for Star-Star, smallest for Ring-Ring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hflbounds import get
from hflbounds.catalog.zhou2026 import TOPOLOGIES
from validation.claims import Claim, Judgement, Plan, Row, Size, overall
from validation.engine import ValidationError
from validation.experiment import make_algorithm
from validation.regimes import PROBLEMS, SHAPE, Measured, Regime, foretold, note, protocol, row, two_tier
from validation.statistics import Prediction
from validation.tuning import cell, read

BOUND = "zhou2026.thm1"
MARGIN = 0.5  # of the ratio of two rates: the paper's own grid has steps of 2 to 5
LADDER = tuple(2 ** (i / 2) for i in range(-12, 11))  # effective rates times L
PAIRS = (("star-ring", "star-star"), ("ring-star", "star-ring"), ("ring-ring", "ring-star"))


def _plan(size: Size) -> Plan:
    regimes = [Regime(), Regime(zeta=1.0, delta=1.0)]
    if size == "full":
        regimes += [Regime(delta=3.0), Regime(zeta=3.0)]
    parts = {topology: two_tier(topology) for topology in TOPOLOGIES}
    cells = {
        (regime, seed, topology): cell(
            regime.problem(seed), told, protocol(regime.rounds, size), LADDER, protocol(regime.rounds, size).scoring
        )
        for regime in regimes
        for seed in PROBLEMS[size]
        for topology, told in parts.items()
    }
    traces = yield tuple(cells.values())
    rows: list[Row] = []
    effective: list[Measured] = []
    for regime in regimes:
        raw: dict[str, Measured] = {}
        for topology, told in parts.items():
            chain = make_algorithm(told).local_steps_per_round()
            best = [
                best_rates(
                    LADDER, read(traces[cells[regime, seed, topology]], protocol(regime.rounds, size), len(LADDER))
                )
                for seed in PROBLEMS[size]
            ]
            middle = tuple(float(np.exp(np.log(rates).mean())) for rates in best)
            values = tuple(best[0].tolist()) if len(best) == 1 else middle
            raw[topology] = Measured(tuple(x / chain for x in values), middle)
        effective += raw.values()
        for above, below in PAIRS:
            told_ratio = predicted(regime, above, below)
            rows.append(row(regime, f"{above} / {below}", raw[above], raw[below], told_ratio, MARGIN))
    return Judgement(overall(rows), tuple(rows), note(rows, effective, size))


def best_rates(rates: Sequence[float], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The best rate of every seed, between the rates of a ladder by a parabola in logarithms.

    Args:
        rates: in geometric progression.
        values: of shape (rates, seeds); infinite where a run diverged.

    Raises:
        ValidationError: if a best rate is at the end of the ladder.
    """
    at = values.argmin(axis=0)
    if at.min() == 0 or at.max() == len(rates) - 1:
        raise ValidationError("a best rate is at the end of the ladder of rates: the ladder must reach further.")
    seeds = np.arange(values.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        left, middle, right = (np.log(values[at + i, seeds]) for i in (-1, 0, 1))
        shift = (left - right) / (2 * (left - 2 * middle + right))
    shift = np.where(np.isfinite(shift), shift, 0.0)
    best: NDArray[np.float64] = np.asarray(rates)[at] * (rates[1] / rates[0]) ** shift
    return best


def predicted(regime: Regime, above: str, below: str) -> Prediction:
    """What the best steps of Theorem 1 say of the ratio of raw rates."""
    scenario = {**SHAPE, **regime.constants}
    return foretold(raw_step(above, scenario), raw_step(below, scenario), margin=MARGIN)


def raw_step(topology: str, scenario: Mapping[str, float]) -> float:
    """The raw rate at which Theorem 1 is smallest, under the common cap."""
    return float(get(f"{BOUND}.{topology}").tuned(**scenario, cap="common").eta)


CLAIMS = (
    Claim(
        id="raw-rates",
        source="zhou2026, Section 3.1 and Appendix B.1",
        statement="Tuned raw learning rates fall from Star-Star over Star-Ring and Ring-Star, which are alike, to "
        "Ring-Ring.",
        prediction=f"{BOUND}: the raw rates of its best steps under one cap; alike is within a factor of 0.5 to 1.5",
        quantity="the raw rate with the smallest mean squared gradient over the rounds, seed by seed",
        plan=_plan,
    ),
)
