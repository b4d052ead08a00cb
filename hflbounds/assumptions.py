"""The hypotheses theorems are proved under, declared once, so that two bounds can be compared."""

from __future__ import annotations

from dataclasses import dataclass

from hflbounds.expression import Symbol
from hflbounds.quantities import S1, S2, A, G, K, L, M, P, R, delta, eta_eff, sigma, zeta


@dataclass(frozen=True, slots=True)
class Assumption:
    """One hypothesis, and the quantities it brings into a formula."""

    id: str
    statement: str  # LaTeX
    introduces: tuple[Symbol, ...] = ()


SMOOTH = Assumption("smooth", r"every client loss $F_{g,m}$ is $L$-smooth, and $F$ is bounded below", introduces=(L, A))
NOISE = Assumption(
    "noise",
    r"stochastic gradients are unbiased with variance at most $\sigma^2$, "
    r"and independent across clients and steps given the past",
    introduces=(sigma,),
)
INTER = Assumption(
    "inter-group heterogeneity",
    r"$\frac1G\sum_g\|\nabla F_g(x)-\nabla F(x)\|^2\le\delta^2$ for all $x$",
    introduces=(delta,),
)
INTRA = Assumption(
    "intra-group heterogeneity",
    r"$\frac1{GM}\sum_{g,m}\|\nabla F_{g,m}(x)-\nabla F_g(x)\|^2\le\zeta^2$ for all $x$, "
    r"as the average over groups of per-group constants $\zeta_g^2$",
    introduces=(zeta,),
)
ROUNDS = Assumption(
    "rounds",
    r"$R$ global rounds of $P$ group rounds of $K$ local steps at one constant learning rate",
    introduces=(P, K, R, eta_eff),
)
FIXED_ORDER = Assumption(
    "full participation, fixed order",
    r"all $M$ clients of all $G$ groups take part in every round, rings in one fixed order",
    introduces=(G, M),
)
RANDOM_ORDER = Assumption(
    "full participation, random order",
    r"all $M$ clients of all $G$ groups take part in every round, rings in an order drawn afresh each round",
    introduces=(G, M),
)
PARTIAL = Assumption(
    "partial participation",
    r"each round draws $S_1$ of the groups and $S_2$ of the clients of each, without replacement, "
    r"and rings run in the order drawn",
    introduces=(S1, S2),
)
