"""Exact expectations of a round of mixing, and the theorem they go into: this project's own.

Statements and proofs: docs/theory/hsl-mixing.md. The factors of `sharma2025` and `devos2023` are exact about the
average before a stage; the consensus distance is about the average after it, and the difference is the move of the
average, which those papers bound apart. Both parts are exact here.
"""

from fractions import Fraction

from hflbounds.catalog.sharma2025 import (
    BUDGET,
    WHOLE_H,
    beta_hh,
    beta_hs,
    beta_sh,
    convergence_terms,
    mean_inverse_count,
    order_steps,
    order_terms,
    push_factor,
    tuning_steps,
)
from hflbounds.core.assumptions import CLIENT_GAP, HUBS, MIXED, NOISE, PUSH, SMOOTH, SPOKES
from hflbounds.core.bound import Bound, Paper, Step
from hflbounds.core.expression import Expr, choice, maximum, special, sqrt
from hflbounds.core.metrics import MEAN_SQUARED_GRADIENT_AT_NODES, MIXING_SPREAD
from hflbounds.core.quantities import A, H, L, T, b_hh, b_hs, b_sh, beta_mix, kappa, n_h, n_s, s, sigma

paper = Paper(
    key="hflbounds",
    title="Mixing by hubs and spokes, exactly",
    authors="The hfl-plan developers",
    year=2026,
    version="docs/theory/hsl-mixing.md",
)


def overlap(n: Expr, b: Expr) -> Expr:
    """Mean of the sum of w_ik w_jk over k for two nodes of push gossip."""
    return choice(b >= n - 1, 1 / n, special("overlap", n, b))


def own_mean_ratio(n: Expr, b: Expr) -> Expr:
    """Consensus distance after push gossip over that before: squared weights less overlap; 0 where all hear all."""
    return choice(b >= n - 1, 0, mean_inverse_count(n, b) - special("overlap", n, b))


def move(n: Expr, b: Expr) -> Expr:
    """Squared move of the average in push gossip, over the consensus distance before; the same as ``delta_hh``."""
    excess = mean_inverse_count(n, b) + (n - 1) * special("overlap", n, b) - 1
    return choice(b >= n - 1, 0, choice(b <= 0, 0, maximum(0, excess) / (n - 1)))


# Of one hub: what its squared weights, and those it shares with another hub, exceed those of two independent draws by.
gap = choice(n_s <= 1, 0, 1 / b_hs - 1 / n_s)
ratio = choice(n_h <= 1, 1, own_mean_ratio(n_h, b_hh))
common = choice(n_h <= 1, 0, overlap(n_h, b_hh))
after = gap * ratio * (1 / b_sh - 1 / n_h)
# n_s/(n_s - 1) turns sums of squared weights into squared distances.
scale = choice(n_s <= 1, 1, n_s / (n_s - 1))

# The same stage by stage, as the lemmas have it.
delta_hh = choice(b_hh >= n_h - 1, 0, (beta_hh + n_h * special("overlap", n_h, b_hh) - 1) / n_h)
CD_1 = (1 - 1 / n_h) * beta_hs
CD_2 = CD_1 * (beta_hh - delta_hh)
STAGES: dict[str, Expr] = {
    "consensus_distance": CD_2 * beta_sh * (1 - 1 / n_s),
    "mean_deviation": beta_hs / n_h + CD_1 * delta_hh + CD_2 * beta_sh / n_s,
}

hsl_exact = Bound(
    id="hflbounds.hsl-exact",
    title="Hubs and Spokes Learning, exact expectations of a round",
    source=paper.at("Theorem 2"),
    bounds=MIXING_SPREAD,
    terms={"consensus_distance": after, "mean_deviation": scale * (gap * (common + ratio / n_h) + after / n_s)},
    requires=(BUDGET,),
    assumes=(HUBS,),
    status="own",
    constants="explicit",
    kind="quantity",
    equality=True,
    shrinks_with=(b_hs, b_sh),
    steps=(Step("stage by stage, each about the average before it", STAGES),),
)
push_exact = Bound(
    id="hflbounds.push-exact",
    title="push gossip (EL-Local), exact expectations of a round",
    source=paper.at("Theorem 1"),
    bounds=MIXING_SPREAD,
    terms={"consensus_distance": own_mean_ratio(n_s, s), "mean_deviation": move(n_s, s)},
    requires=(s <= n_s - 1,),
    assumes=(PUSH,),
    status="own",
    constants="explicit",
    kind="quantity",
    equality=True,
    shrinks_with=(s,),
    steps=(Step("their sum is the factor about the average before", push_factor(n_s, s)),),
)

# 1/(step L) at least 2 for the descent, and at least sqrt(20 C) for Lemma A.4: nothing is asked of beta but beta < 1.
least = L * maximum(2, sqrt(20 * beta_mix * (1 + 3 * beta_mix)) / (1 - beta_mix))
any_gossip = Bound(
    id="hflbounds.gossip",
    title="any gossip with the factors beta and kappa, at the tuned step, explicit constants",
    source=paper.at("Theorem 3"),
    bounds=MEAN_SQUARED_GRADIENT_AT_NODES,
    terms={**convergence_terms(beta_mix, kappa), "start": 4 * A * least / T},
    requires=(beta_mix < 1,),
    assumes=(SMOOTH, NOISE, CLIENT_GAP, SPOKES, MIXED),
    status="own",
    constants="explicit",
    kind="rate",
    defaults=WHOLE_H,
    grows_with=(A, L, sigma, H, beta_mix, kappa),
    shrinks_with=(T,),
    steps=tuning_steps(beta_mix, kappa, least),
)
any_gossip_order = Bound(
    id="hflbounds.gossip-order",
    title="any gossip with the factors beta and kappa, at the tuned step, order form",
    source=paper.at("Theorem 3"),
    bounds=MEAN_SQUARED_GRADIENT_AT_NODES,
    terms=order_terms(beta_mix, kappa),
    requires=(beta_mix <= Fraction(9, 10),),
    assumes=(SMOOTH, NOISE, CLIENT_GAP, SPOKES, MIXED),
    status="own",
    constants="hidden",
    kind="rate",
    defaults=WHOLE_H,
    grows_with=(A, L, sigma, H, beta_mix, kappa),
    shrinks_with=(n_s, T),
    # at beta = 9/10: 8 sqrt(15 + 20 C) < 654, 4 sqrt(20 C) < 327 and 8 cbrt(10 C/beta) < 125
    steps=order_steps(beta_mix, kappa, any_gossip.expression, 654),
)
