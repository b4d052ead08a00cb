"""A ring of the clients of a group needs no more rounds than a star of them."""

from __future__ import annotations

from validation.claims import Claim, Plan, Size
from validation.regimes import QUANTITY, Regime, bound, compared, foretold, grid
from validation.statistics import Prediction

PAIRS = (("star-ring", "star-star"), ("ring-ring", "ring-star"))
BOUND = "zhou2026.cor1"


def _plan(size: Size) -> Plan:
    return (yield from compared(grid(size), PAIRS, predicted, size))


def predicted(regime: Regime, ring: str, star: str) -> Prediction:
    """What Corollary 1 says of the ratio."""
    return foretold(bound(BOUND, ring, regime), bound(BOUND, star, regime), weak=True)


CLAIMS = (
    Claim(
        id="ring-low",
        source="zhou2026, Section 2.4 and Corollary 1",
        statement="Per global round, groups that are rings of clients do no worse than groups that are stars.",
        prediction=f"{BOUND}, at the tuned step",
        quantity=QUANTITY,
        plan=_plan,
    ),
)
