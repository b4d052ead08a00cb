"""The order of the four topologies, as bounds predict it, against the order that runs have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from hflbounds import get
from hflbounds.catalog.zhou2026 import TOPOLOGIES
from hflbounds.evaluate.tuning import Cap
from validation.claims import Claim, Judgement, Plan, Row, Size
from validation.regimes import PROBLEMS, QUANTITY, SHAPE, Regime, grid, measure, row, two_tier
from validation.statistics import CHANCE, judge_agreement, pooled_kendall, regret

PREDICTORS: Mapping[str, tuple[str, Cap]] = {
    "sharp": ("hflbounds.sharp", "common"),
    "thm1-common-cap": ("zhou2026.thm1", "common"),
    "thm1-own-caps": ("zhou2026.thm1", "own"),
    "cor1": ("zhou2026.cor1", "own"),
}
PARTS: Mapping[str, Callable[[Regime], bool]] = {
    "all regimes": lambda regime: True,
    "delta at most 0.3 sigma": lambda regime: regime.delta <= 0.3,
    "delta at least sigma": lambda regime: regime.delta >= 1,
}


def _plan(family: str, cap: Cap, size: Size) -> Plan:
    regimes = grid(size)
    found = yield from measure(regimes, {t: two_tier(t) for t in TOPOLOGIES}, size)
    rows: list[Row] = []
    for name, among in PARTS.items():
        chosen = [regime for regime in regimes if among(regime)]
        told = [predicted(family, cap, regime) for regime in chosen]
        values = [np.array([found[regime, t].values for t in TOPOLOGIES]) for regime in chosen]
        tau = pooled_kendall(told, values)
        where = f"{name} ({len(chosen)})"
        rows.append(
            Row(where, "Kendall's tau with the measured order", tau, "agrees", judge_agreement(tau), "tau", CHANCE)
        )
    costs = []
    for regime in regimes:
        scores = predicted(family, cap, regime)
        means = [math.exp(float(np.log(found[regime, t].values).mean())) for t in TOPOLOGIES]
        costs.append(regret(means, scores.index(min(scores))))
        best = TOPOLOGIES[scores.index(min(scores))]
        if best != "star-star":
            pair = found[regime, best], found[regime, "star-star"]
            rows.append(row(regime, f"the predicted best, {best} / star-star", *pair, "not larger"))
    said = "Tau is the mean over regimes, its interval over regimes and seeds; the verdict is that of all regimes. "
    said += f"Following the prediction costs {np.mean(costs):.1%} on average and {max(costs):.1%} at worst "
    said += "over the best topology of each regime"
    said += "; one problem per regime." if len(PROBLEMS[size]) == 1 else f"; {len(PROBLEMS[size])} problems per regime."
    return Judgement(rows[0].verdict, tuple(rows), said)


def predicted(family: str, cap: Cap, regime: Regime) -> list[float]:
    """A score for each topology, smaller for fewer rounds."""
    scenario = {**SHAPE, **regime.constants}
    return [float(get(f"{family}.{t}").tuned(**scenario, cap=cap).value) for t in TOPOLOGIES]


CLAIMS = tuple(
    Claim(
        id=f"order-{name}",
        source="zhou2026, Theorem 1 and Corollary 1" if family.startswith("zhou") else "hflbounds.sharp",
        statement=f"The order of the four topologies under {family}"
        f"{f', {cap} cap,' if family.endswith(('sharp', 'thm1')) else ''} is the order that runs have.",
        prediction=f"{family}, each topology at its best step" if name != "cor1" else f"{family}, at the tuned step",
        quantity=f"Kendall's tau over regimes of the {QUANTITY}",
        plan=partial(_plan, family, cap),
    )
    for name, (family, cap) in PREDICTORS.items()
)
