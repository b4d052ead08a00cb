"""Ring-Star for many small groups, Star-Ring for few large ones, with the clients fixed."""

from __future__ import annotations

import math
from functools import cache

from validation.claims import Claim, Judgement, Plan, Size, overall
from validation.experiment import make_problem
from validation.problems.controlled import Controlled, spread_of
from validation.regimes import PROBLEMS, QUANTITY, Regime, bound, foretold, measure, note, row, two_tier
from validation.statistics import Prediction

BOUND = "zhou2026.cor1"
CLIENTS = 100
TOPOLOGIES = ("ring-star", "star-ring")
Case = tuple[str, int]  # topology and number of groups


def _plan(size: Size) -> Plan:
    levels = (0.0, 3.0) if size == "quick" else (0.0, 0.3, 1.0, 3.0)
    counts = (1, 5, 20, 100) if size == "quick" else (1, 5, 10, 20, 100)
    regimes = [Regime(delta=x, grouped=False) for x in levels]
    algorithms = {(t, g): two_tier(t, G=g, M=CLIENTS // g) for t in TOPOLOGIES for g in counts}
    found = yield from measure(regimes, algorithms, size)
    at_each: list[tuple[Case, Case]] = [(("ring-star", g), ("star-ring", g)) for g in counts]
    ends: list[tuple[Case, Case]] = [(("ring-star", 20), ("ring-star", 5)), (("star-ring", 5), ("star-ring", 20))]
    rows = tuple(
        row(
            regime,
            f"{above[0]}, G = {above[1]} / {below[0]}, G = {below[1]}",
            found[regime, above],
            found[regime, below],
            predicted(regime, above, below, size),
        )
        for regime in regimes
        for above, below in at_each + ends
    )
    said = note(rows, found.values(), size)
    return Judgement(overall(rows), rows, said + " Groups are made without regard to what clients hold.")


@cache
def regrouped(regime: Regime, groups: int, seed: int) -> tuple[float, float]:
    """Intra- and inter-group heterogeneity of a problem whose clients are put into this many groups."""
    problem = make_problem(regime.problem(seed))
    assert isinstance(problem, Controlled)  # noqa: S101
    a, v = (part.reshape(groups, CLIENTS // groups, -1) for part in (problem.a, problem.v))
    means = [part.mean(1, keepdim=True) for part in (a, v)]
    within = spread_of(a - means[0], v - means[1])
    between = spread_of(*(mean - mean.mean(0, keepdim=True) for mean in means))
    return math.sqrt(within), math.sqrt(between)


def predicted(regime: Regime, above: Case, below: Case, size: Size) -> Prediction:
    """What Corollary 1 says of the ratio, with the heterogeneity that the groupings have."""

    def value(topology: str, groups: int) -> float:
        known = [regrouped(regime, groups, seed) for seed in PROBLEMS[size]]
        zeta, delta = (math.sqrt(sum(x**2 for x in kind) / len(kind)) for kind in zip(*known, strict=True))
        return bound(BOUND, topology, regime, G=groups, M=CLIENTS // groups, zeta=zeta, delta=delta)

    return foretold(value(*above), value(*below))


CLAIMS = (
    Claim(
        id="many-or-few-groups",
        source="zhou2026, Section 2.4 (Topology-Structure Compatibility) and Section 3.4",
        statement="With the clients fixed, Ring-Star wins with many small groups and gains by more of them; "
        "Star-Ring wins with few large ones and gains by fewer.",
        prediction=f"{BOUND} at G groups of 100/G clients, with zeta and delta of that grouping",
        quantity=QUANTITY,
        plan=_plan,
    ),
)
