"""A ring at the top needs no more rounds than a star, whatever the heterogeneity between groups."""

from __future__ import annotations

from validation.claims import Claim, Plan, Size
from validation.regimes import QUANTITY, Regime, bound, compared, foretold, grid
from validation.statistics import Prediction

PAIRS = (("ring-star", "star-star"), ("ring-ring", "star-ring"))
BOUND = "hflbounds.sharp"


def _plan(size: Size) -> Plan:
    return (yield from compared(grid(size), PAIRS, predicted, size))


def predicted(regime: Regime, ring: str, star: str) -> Prediction:
    """What the bounds say of the ratio, both tuned under one cap."""
    return foretold(bound(BOUND, ring, regime), bound(BOUND, star, regime), weak=True)


CLAIMS = (
    Claim(
        id="ring-top",
        source="zhou2026, Section 2.4 and Corollary 1; hflbounds.sharp",
        statement="Per global round, a ring of groups does no worse than a star of groups.",
        prediction=f"{BOUND}, each topology at its best step under one cap",
        quantity=QUANTITY,
        plan=_plan,
    ),
)
