"""More groups or more clients per round help, each against its own kind of heterogeneity."""

from __future__ import annotations

from hflbounds.catalog.zhou2026 import TOPOLOGIES
from validation.claims import Claim, Judgement, Plan, Size, overall
from validation.regimes import QUANTITY, Regime, bound, foretold, measure, note, row, two_tier
from validation.statistics import Prediction

BOUND = "zhou2026.cor2"
FEW, GROUPS, CLIENTS = (5, 5), (10, 5), (5, 10)  # S1 and S2


def _plan(size: Size) -> Plan:
    regimes = [Regime(zeta=3.0), Regime(delta=3.0)]
    if size == "full":
        regimes += [Regime(), Regime(zeta=1.0), Regime(delta=1.0), Regime(zeta=1.0, delta=1.0)]
    topologies = ("star-star", "ring-ring") if size == "quick" else TOPOLOGIES
    algorithms = {(t, s): two_tier(t, S1=s[0], S2=s[1]) for t in topologies for s in (FEW, GROUPS, CLIENTS)}
    found = yield from measure(regimes, algorithms, size)
    rows = tuple(
        row(
            regime,
            f"{topology}: {'S1 = {}, S2 = {}'.format(*more)} / {'S1 = {}, S2 = {}'.format(*less)}",
            found[regime, (topology, more)],
            found[regime, (topology, less)],
            predicted(regime, topology, more, less),
        )
        for regime in regimes
        for topology in topologies
        for more, less in ((GROUPS, FEW), (CLIENTS, FEW), (GROUPS, CLIENTS))
    )
    return Judgement(overall(rows), rows, note(rows, found.values(), size))


def predicted(regime: Regime, topology: str, more: tuple[int, int], less: tuple[int, int]) -> Prediction:
    """What Corollary 2 says of the ratio."""
    above, below = (bound(BOUND, topology, regime, S1=S1, S2=S2) for S1, S2 in (more, less))
    return foretold(above, below)


CLAIMS = (
    Claim(
        id="participation",
        source="zhou2026, Theorem 2, Corollary 2 and Section 2.4",
        statement="More groups or more clients per round need fewer rounds: groups help more against inter-group, "
        "clients more against intra-group heterogeneity.",
        prediction=f"{BOUND} at both samplings; Theorem 2 under its cap says less than 1 % either way",
        quantity=QUANTITY,
        plan=_plan,
    ),
)
