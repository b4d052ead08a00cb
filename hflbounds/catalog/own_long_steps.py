"""This project's own bounds between the two: steps up to 1/L within a round, on losses that are not quadratic.

Statement and proof: docs/theory/long-steps.md. Theorems for any clients cap the effective step at O(1/L). Where
clients are alike, or their gaps change slowly, the local steps of a ring are steps of plain SGD.
"""

from fractions import Fraction

from hflbounds.catalog import own, own_drift
from hflbounds.core.assumptions import (
    CONVEX,
    FIXED_ORDER,
    INTER,
    INTRA,
    LIKE_CLIENTS,
    NOISE,
    ROUNDS,
    SLOW_GAPS,
    SMOOTH,
)
from hflbounds.core.bound import Bound, End, Paper, Step
from hflbounds.core.expression import Expr, add, as_expr, sqrt
from hflbounds.core.metrics import MEAN_SQUARED_GRADIENT_OF_STEPS, MEAN_SQUARED_GRADIENT_OF_STEPS_LESS_GAPS
from hflbounds.core.quantities import A, G, K, L, M, P, R, delta, delta_H, eta_eff, sigma, zeta
from hflbounds.topology import Topology

paper = Paper(
    key="hflbounds",
    title="Long steps on clients that are nearly alike",
    authors="The hfl-plan developers",
    year=2026,
    version="docs/theory/long-steps.md",
)
Terms = dict[str, Expr]

# Mean squared distance of the models that are trained side by side to their mean, over eta^2 sigma^2; rings of rings
# train one model.
SPREAD: dict[str, Expr] = {
    "star-star": (1 - 1 / G) * (P * K - 1) / 2 + (1 - 1 / M) * (K - 1) / (2 * G),
    "star-ring": (1 - 1 / G) * (P * M * K - 1) / 2,
    "ring-star": (1 - 1 / M) * (K - 1) / 2,
}


def spread_by_pairs(topology: str) -> Expr:
    """The same from where two models of one position part: half of what their noise adds up to since."""
    patterns = Topology.parse(topology).patterns
    chains = [K * P * (M if patterns[1].ordered else 1), as_expr(K)]
    together, found = as_expr(1), []
    for pattern, size, chain in zip(patterns, (G, M), chains, strict=True):
        if not pattern.ordered:
            found.append(together * (size - 1) / size * (chain - 1) / 2)
            together = together / size
    return add(*found)


def _like(topology: str, spread: Expr | None, samples: Expr) -> Terms:
    chain = own.CHAIN[topology]
    found = {"start": 2 * A / (eta_eff * R), "noise": L * eta_eff * sigma**2 / samples}
    if spread is not None:
        found["spread"] = L**2 * eta_eff**2 * sigma**2 * spread / chain**2
    return found


def _identical(topology: str) -> Bound:
    chain = own.CHAIN[topology]
    return Bound(
        id=f"hflbounds.identical.{topology}",
        title=f"{topology}, clients that are alike, steps up to 1/L",
        source=paper.at(f"Theorem 1, {topology}"),
        bounds=MEAN_SQUARED_GRADIENT_OF_STEPS,
        terms=_like(topology, SPREAD.get(topology), G * P * M * K),
        requires=(eta_eff <= chain / L,),
        ends=(End("a local step of plain SGD is at most 1/L", 1 - L * eta_eff / own_drift.steps_in_a_row(topology)),),
        assumes=(SMOOTH, LIKE_CLIENTS, *((CONVEX,) if topology in SPREAD else ()), NOISE, ROUNDS, FIXED_ORDER),
        status="own",
        constants="explicit",
        chain=chain,
        common_cap=P * K / L,
        grows_with=(A, L, sigma),
        shrinks_with=(R,),
        steps=(
            Step(
                "plain SGD with the noise of all models, and where two models part",
                _like(topology, spread_by_pairs(topology) if topology in SPREAD else None, K * P * M * G),
            ),
        ),
    )


identical = tuple(_identical(topology) for topology in own.TOPOLOGIES)

# ---------------------------------------------------------------- gaps that change slowly, in a ring of rings
T = G * P * M * K
OFFSET = (sqrt(1 - 1 / G**2) * delta + sqrt(1 - 1 / M**2) * zeta / (G * P)) ** 2 / 6


def _slow(offset: Expr) -> Terms:
    return {
        "start": 2 * A / (eta_eff * R),
        "noise": L * eta_eff * sigma**2 / T,
        "slow_noise": 3 * delta_H**2 * eta_eff**2 * sigma**2 * (T - 1) / T**2,
        "gaps": 2 * (L**2 + 3 * delta_H**2) * eta_eff**2 * offset,
    }


# Prefixes of a round of gaps that add up to zero: B^2 (n^2 - 1)/6 at each tier, B the chain of a child.
PREFIXES = (
    (sqrt(Fraction(1, 6)) * (P * M * K) * sqrt(G**2 - 1) * delta + sqrt(Fraction(1, 6)) * K * sqrt(M**2 - 1) * zeta) / T
) ** 2

second_order = Bound(
    id="hflbounds.second-order.ring-ring",
    title="ring-ring, fixed order, gaps that change slowly, steps up to 1/(2L)",
    source=paper.at("Theorem 2, ring-ring"),
    bounds=MEAN_SQUARED_GRADIENT_OF_STEPS_LESS_GAPS,
    terms=_slow(OFFSET),
    requires=(eta_eff <= T / (2 * L), eta_eff <= 1 / (sqrt(6) * delta_H)),
    assumes=(SMOOTH, SLOW_GAPS, NOISE, INTRA, INTER, ROUNDS, FIXED_ORDER),
    status="own",
    constants="explicit",
    chain=T,
    common_cap=P * K / (2 * L),
    grows_with=(A, L, sigma, zeta, delta, delta_H),
    shrinks_with=(R,),
    steps=(Step("prefixes of gaps, tier by tier", _slow(PREFIXES)),),
)
