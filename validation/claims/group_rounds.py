"""More group rounds help more than more local steps, at as many local steps in all."""

from __future__ import annotations

from hflbounds.catalog.zhou2026 import TOPOLOGIES
from validation.claims import Claim, Judgement, Plan, Size, overall
from validation.regimes import QUANTITY, Regime, bound, foretold, measure, note, row, two_tier
from validation.statistics import Prediction

BOUND = "zhou2026.cor1"


def _plan(size: Size) -> Plan:
    regimes = [Regime(), Regime(zeta=1.0, delta=1.0)]
    if size == "full":
        regimes += [Regime(zeta=3.0), Regime(delta=3.0)]
    splits = [((2, 2), (1, 4))] if size == "quick" else [((2, 2), (1, 4)), ((5, 2), (1, 10))]
    algorithms = {(t, P, K): two_tier(t, P=P, K=K) for t in TOPOLOGIES for split in splits for P, K in split}
    found = yield from measure(regimes, algorithms, size)
    rows = tuple(
        row(
            regime,
            f"{topology}: P = {more[0]}, K = {more[1]} / P = {less[0]}, K = {less[1]}",
            found[regime, (topology, *more)],
            found[regime, (topology, *less)],
            predicted(regime, topology, more, less),
        )
        for regime in regimes
        for topology in TOPOLOGIES
        for more, less in splits
    )
    return Judgement(overall(rows), rows, note(rows, found.values(), size))


def predicted(regime: Regime, topology: str, more: tuple[int, int], less: tuple[int, int]) -> Prediction:
    """What Corollary 1 says of the ratio."""
    above, below = (bound(BOUND, topology, regime, P=P, K=K) for P, K in (more, less))
    return foretold(above, below)


CLAIMS = (
    Claim(
        id="group-rounds",
        source="zhou2026, Appendix B.3",
        statement="At equal P K, more group rounds P gain more than more local steps K.",
        prediction=f"{BOUND} at both splits of P K",
        quantity=QUANTITY,
        plan=_plan,
    ),
)
