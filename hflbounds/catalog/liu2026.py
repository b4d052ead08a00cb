"""Hybrid hierarchical FL with overlapping coverage: Lemmas 3 and 4, Corollary 2 and Theorem 1.

The paper's constants depend on E, G, H, Gamma, sigma and the clients' shares, and on no coverage: what overlap
changes is in `own_hhfl`. Theorem 1 is here twice, with the denominator that its proof supports and with the one
that is printed. Only a text copy of the paper was read.
"""

from hflbounds.core.assumptions import (
    EDGE_ROUNDS,
    FALLING_STEP,
    GRADIENT_NORM,
    NOISE_OF_SHARES,
    OPTIMA_APART,
    SCHEDULE,
    STRONGLY_CONVEX,
)
from hflbounds.core.bound import Bound, Paper, Step
from hflbounds.core.expression import Expr, add, maximum, raised
from hflbounds.core.metrics import CLIENT_DRIFT, DISTANCE_CONSTANT, LOSS_GAP, MEAN_GRADIENT_NOISE, STEP_ERROR
from hflbounds.core.quantities import Delta0, E, Gamma, Ge, H, L, M, N, alpha, beta_lr, eta, mu, p2, sigma, t
from hflbounds.coverage import from_arrays

paper = Paper(
    key="liu2026",
    title="Hybrid Hierarchical Federated Learning over 5G/NextG Wireless Networking",
    authors="Liu, Xue, Xu, Liu and Lu",
    year=2026,
    version="v1",
    where="arXiv:2604.09680",
    notation={"Ge": "G", "eta": r"\eta_t", "beta_lr": r"\beta", "p2": r"\sum_{i=1}^Kp_i^2"},
)
EQUAL_SHARES = {"p2": 1 / (N * M)}  # N servers with M clients each, unless shares are given
TOGETHER = (EDGE_ROUNDS, STRONGLY_CONVEX, OPTIMA_APART, NOISE_OF_SHARES)
CONVERGES = (beta_lr * mu > 1, alpha >= E, alpha >= 4 * L * beta_lr)

# ---------------------------------------------------------------- Lemma 3, eq. (24), and Appendix B
longest = (Ge * E - 1) + E**2 * (Ge - 1)
DRIFT: Expr = eta**2 * raised(4, Ge) * H**2 * (Ge * E + Ge - 2) * longest
# (A.11): so many increments; (A.14) and (A.17): local steps and edge rounds, each at eta_T0 <= 2^G eta_t.
increments = (Ge * E - 1) + (Ge - 1)
largest_step = raised(2, Ge) * eta
APPENDIX_B: Expr = increments * ((Ge * E - 1) * (largest_step * H) ** 2 + (Ge - 1) * (E * largest_step * H) ** 2)

lemma3 = Bound(
    id="liu2026.lemma3",
    title="HHFL, drift of the clients from their mean, as published",
    source=paper.at("Lemma 3, eq. (24)"),
    bounds=CLIENT_DRIFT,
    terms={"drift": DRIFT},
    requires=(),
    assumes=(EDGE_ROUNDS, FALLING_STEP, GRADIENT_NORM),
    status="proved",
    constants="explicit",
    grows_with=(E, Ge, H, eta),
    steps=(Step("(A.11) with the local steps of (A.14) and the edge rounds of (A.17)", APPENDIX_B),),
    kind="lemma",
)

# ---------------------------------------------------------------- Lemma 4, eq. (25)
lemma4 = Bound(
    id="liu2026.lemma4",
    title="HHFL, noise of the mean stochastic gradient",
    source=paper.at("Lemma 4, eq. (25)"),
    bounds=MEAN_GRADIENT_NOISE,
    terms={"noise": p2 * sigma**2},
    requires=(),
    assumes=(NOISE_OF_SHARES,),
    status="proved",
    constants="explicit",
    grows_with=(sigma, p2),
    steps=(Step("variance of a mean of 1/p2 equal independent clients", sigma**2 / (1 / p2)),),
    kind="lemma",
    defaults=EQUAL_SHARES,
    prepare=from_arrays,
)

# ---------------------------------------------------------------- Corollary 2, eq. (26)
STEP_TERMS: dict[str, Expr] = {
    "noise": p2 * sigma**2,
    "heterogeneity": 6 * L * Gamma,
    "drift": raised(2, 2 * Ge + 1) * H**2 * (Ge * E + Ge - 2) * longest,
}
X = add(*STEP_TERMS.values())

x = Bound(
    id="liu2026.x",
    title="HHFL, what a step adds to the squared distance to the optimum",
    source=paper.at("Corollary 2, eq. (26), with the sum over the clients"),
    bounds=STEP_ERROR,
    terms=STEP_TERMS,
    requires=(),
    assumes=(*TOGETHER, GRADIENT_NORM),
    status="proved",
    constants="explicit",
    grows_with=(E, Ge, sigma, p2, L, Gamma, H),
    steps=(
        Step(
            "(A.19): Lemma 4, Lemma 1's 6 L Gamma, and twice Lemma 3 at learning rate 1",
            {"noise": sigma**2 / (1 / p2), "heterogeneity": 6 * L * Gamma, "drift": 2 * APPENDIX_B.subs({eta: 1})},
        ),
    ),
    kind="quantity",
    equality=True,
    defaults=EQUAL_SHARES,
    prepare=from_arrays,
)


# ---------------------------------------------------------------- Theorem 1, eq. (27)
def smallest_z(step_error: Expr) -> Expr:
    """Z of the proof: the least z that keeps ``Delta_t <= z/(t + alpha)`` through the recursion (26)."""
    return maximum(beta_lr**2 * step_error / (beta_lr * mu - 1), Delta0 * alpha)


def by_induction(step_error: Expr) -> Expr:
    """Z again: the bracket of (A.22), ``z (x/(x+1) - beta mu) + beta^2 X``, is at most 0 for every x as x grows."""
    return maximum(beta_lr * step_error / ((beta_lr * mu - 1) / beta_lr), Delta0 * alpha)


def loss_gap(constant: Expr) -> Expr:
    """(A.24): smoothness turns the squared distance into a loss."""
    return L * constant / (2 * (t + alpha))


def of_last_step(step_error: Expr) -> Expr:
    """The bound again, by the learning rate it ends with."""
    last = beta_lr / (t + alpha)
    return L / 2 * maximum(last * step_error / ((beta_lr * mu - 1) / beta_lr), last * Delta0 * alpha / beta_lr)


Z, Z_PRINTED = smallest_z(X), maximum(beta_lr**2 * X / (beta_lr * mu + 1), Delta0 * alpha)

z = Bound(
    id="liu2026.z",
    title="HHFL, constant of the decay, as proved",
    source=paper.at("Appendix D, before (A.21)"),
    bounds=DISTANCE_CONSTANT,
    terms={"distance": Z},
    requires=CONVERGES,
    assumes=(*TOGETHER, GRADIENT_NORM, SCHEDULE),
    status="proved",
    constants="explicit",
    grows_with=(E, Ge, sigma, p2, L, Gamma, H, Delta0),
    shrinks_with=(mu,),
    steps=(Step("the induction bracket (A.22) in its limit", by_induction(X)),),
    kind="quantity",
    defaults=EQUAL_SHARES,
    prepare=from_arrays,
)
z_printed = Bound(
    id="liu2026.z-printed",
    title="HHFL, constant of the decay, as printed",
    source=paper.at("Theorem 1"),
    bounds=DISTANCE_CONSTANT,
    terms={"distance": Z_PRINTED},
    requires=CONVERGES,
    assumes=(*TOGETHER, GRADIENT_NORM, SCHEDULE),
    status="refuted",
    constants="explicit",
    kind="quantity",
    defaults=EQUAL_SHARES,
    prepare=from_arrays,
)
thm1 = Bound(
    id="liu2026.thm1",
    title="HHFL, strongly convex, falling step, as proved",
    source=paper.at("Theorem 1, eq. (27), with the Z of Appendix D"),
    bounds=LOSS_GAP,
    terms={"distance": loss_gap(Z)},
    requires=CONVERGES,
    assumes=(*TOGETHER, GRADIENT_NORM, SCHEDULE),
    status="proved",
    constants="explicit",
    where={"X": X, "Z": Z},
    grows_with=(E, Ge, sigma, p2, L, Gamma, H, Delta0),
    shrinks_with=(mu, t),
    steps=(
        Step("(A.24) with the induction bracket in its limit, by the last learning rate", of_last_step(X)),
        Step(
            "this project's drift of any coverage, which is smaller everywhere",
            of_last_step(p2 * sigma**2 + 6 * L * Gamma + 2 * ((1 + (Ge * E - 1) / alpha) * (Ge * E - 1) * H) ** 2),
            "at most",
        ),
    ),
    defaults=EQUAL_SHARES,
    prepare=from_arrays,
)
thm1_printed = Bound(
    id="liu2026.thm1-printed",
    title="HHFL, strongly convex, falling step, as printed",
    source=paper.at("Theorem 1, eq. (27)"),
    bounds=LOSS_GAP,
    terms={"distance": loss_gap(Z_PRINTED)},
    requires=CONVERGES,
    assumes=(*TOGETHER, GRADIENT_NORM, SCHEDULE),
    status="refuted",
    constants="explicit",
    where={"X": X, "Z": Z_PRINTED},
    grows_with=(E, Ge, sigma, p2, L, Gamma, H, Delta0),
    shrinks_with=(mu, t),
    defaults=EQUAL_SHARES,
    prepare=from_arrays,
)
