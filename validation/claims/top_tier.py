"""The top tier decides more than the low tier, and what inter-group heterogeneity does to the gap."""

from __future__ import annotations

from validation.claims import Claim, Judgement, Plan, Row, Size, overall
from validation.regimes import QUANTITY, Measured, Regime, bound, compared, foretold, grid, measure, note, row, two_tier
from validation.statistics import Prediction

BOUND = "zhou2026.cor1"
PAIRS = (("ring-star", "star-star"), ("ring-ring", "star-ring"))


def _tiers(size: Size) -> Plan:
    return (yield from compared(grid(size), (("ring-star", "star-ring"),), predicted, size))


def predicted(regime: Regime, above: str, below: str) -> Prediction:
    """What Corollary 1 says of the ratio."""
    return foretold(bound(BOUND, above, regime), bound(BOUND, below, regime))


def _gap(size: Size) -> Plan:
    algorithms = {topology: two_tier(topology) for pair in PAIRS for topology in pair}
    regimes = grid(size)
    found = yield from measure(regimes, algorithms, size)
    rows: list[Row] = []
    beyond: list[Row] = []
    for regime in regimes:
        none = Regime(zeta=regime.zeta, rounds=regime.rounds)
        if regime == none:
            continue
        for ring, star in PAIRS:
            beyond.append(row(regime, f"{ring} / {star}", found[regime, ring], found[regime, star], "tie"))
            rows.append(
                row(
                    f"{regime}",
                    f"({ring} / {star}) / the same at delta = 0",
                    gap(found[regime, ring], found[regime, star]),
                    gap(found[none, ring], found[none, star]),
                    gap_predicted(regime, ring, star),
                )
            )
    said = note(rows, found.values(), size)
    turned = sum(r.ratio.low > 1 for r in beyond)
    said += f" In {turned} of {len(beyond)} of them it turns round: the ring needs more."
    return Judgement(overall(rows), tuple(rows), said)


def gap(ring: Measured, star: Measured) -> Measured:
    """The ratio of ring to star, value by value."""
    return Measured(tuple(a / b for a, b in zip(ring.values, star.values, strict=True)), ring.rates + star.rates)


def gap_predicted(regime: Regime, ring: str, star: str) -> Prediction:
    """What Corollary 1 says of the ratio of ring to star, against the same without inter-group heterogeneity."""
    none = Regime(zeta=regime.zeta, rounds=regime.rounds)
    here, there = (bound(BOUND, ring, where) / bound(BOUND, star, where) for where in (regime, none))
    return foretold(here, there)


CLAIMS = (
    Claim(
        id="top-tier-decides",
        source="zhou2026, Section 2.4, Top-Tier Dominance (ii)",
        statement="A ring at the top alone gains more than a ring at the bottom alone: Ring-Star beats Star-Ring.",
        prediction=f"{BOUND}, Ring-Star against Star-Ring with 10 groups of 10",
        quantity=QUANTITY,
        plan=_tiers,
    ),
    Claim(
        id="gap-with-delta",
        source="zhou2026, Corollary 1; Section 2.4 (i) says in words that the gap widens",
        statement="The gap between ring and star tops closes as inter-group heterogeneity grows: a term that is equal "
        "for all comes to dominate.",
        prediction=f"{BOUND}: ratio of ring to star top at delta, over that ratio at delta = 0; larger is closing",
        quantity=QUANTITY + "; ratio of ratios",
        plan=_gap,
    ),
)
