"""Heterogeneity between groups hurts more than as much heterogeneity within them."""

from __future__ import annotations

from hflbounds.catalog.zhou2026 import TOPOLOGIES
from validation.claims import Claim, Judgement, Plan, Size, overall
from validation.regimes import QUANTITY, Regime, bound, foretold, measure, note, row, two_tier
from validation.statistics import Prediction

BOUND = "zhou2026.cor1"


def _plan(size: Size) -> Plan:
    amounts = [(30, 1.0), (30, 3.0)] if size == "quick" else [(30, 0.3), (30, 1.0), (30, 3.0), (100, 1.0)]
    pairs = [(Regime(delta=x, rounds=r), Regime(zeta=x, rounds=r)) for r, x in amounts]
    found = yield from measure(
        [regime for pair in pairs for regime in pair], {t: two_tier(t) for t in TOPOLOGIES}, size
    )
    rows = tuple(
        row(
            f"{topology}, R = {inter.rounds}",
            f"zeta = {intra.zeta:g} sigma alone / delta = {inter.delta:g} sigma alone",
            found[intra, topology],
            found[inter, topology],
            predicted(inter, intra, topology),
        )
        for topology in TOPOLOGIES
        for inter, intra in pairs
    )
    return Judgement(overall(rows), rows, note(rows, found.values(), size))


def predicted(inter: Regime, intra: Regime, topology: str) -> Prediction:
    """What Corollary 1 says of the ratio; where it makes no difference, that the claim's one is not excluded."""
    told = foretold(bound(BOUND, topology, intra), bound(BOUND, topology, inter))
    return "not larger" if told == "tie" else told


CLAIMS = (
    Claim(
        id="inter-hurts-more",
        source="zhou2026, Section 2.4 (the fundamental bottleneck) and Section 3.3",
        statement="Inter-group heterogeneity costs no less than as much intra-group heterogeneity, and more under "
        "ring tops.",
        prediction=f"{BOUND} with zeta alone against delta alone; at P = 1 they are the same under star tops",
        quantity=QUANTITY,
        plan=_plan,
    ),
)
