"""Rings in an order drawn afresh each round do no worse than rings in a fixed order."""

from __future__ import annotations

from validation.claims import Claim, Judgement, Plan, Size, overall
from validation.regimes import QUANTITY, Regime, bound, foretold, measure, note, row, two_tier
from validation.statistics import Prediction

RANDOM, FIXED = "zhou2026.shuffle-rate", "zhou2026.cor1"
RINGS = ("star-ring", "ring-star", "ring-ring")


def _plan(size: Size) -> Plan:
    regimes = [Regime(zeta=z, delta=d) for z, d in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.0, 3.0))]
    if size == "full":
        regimes += [Regime(zeta=3.0), Regime(zeta=1.0, delta=3.0)]
        regimes += [Regime(zeta=z, delta=d, rounds=100) for z, d in ((0.0, 0.0), (0.0, 1.0))]
    algorithms = {(t, "fixed"): two_tier(t) for t in RINGS} | {
        (t, "random"): two_tier(t, order="random") for t in RINGS
    }
    found = yield from measure(regimes, algorithms, size)
    rows = tuple(
        row(
            regime,
            f"{topology}: random / fixed order",
            found[regime, (topology, "random")],
            found[regime, (topology, "fixed")],
            predicted(regime, topology),
        )
        for regime in regimes
        for topology in RINGS
    )
    return Judgement(overall(rows), rows, note(rows, found.values(), size))


def predicted(regime: Regime, topology: str) -> Prediction:
    """What the rates of Table 5 say of the ratio."""
    return foretold(bound(RANDOM, topology, regime), bound(FIXED, topology, regime), weak=True)


CLAIMS = (
    Claim(
        id="random-order",
        source="zhou2026, Appendix E and Table 5",
        statement="A random order of rings, drawn each round, does no worse than a fixed one.",
        prediction=f"{RANDOM} against {FIXED}",
        quantity=QUANTITY,
        plan=_plan,
    ),
)
