"""Hybrid hierarchical FL with overlapping coverage: Lemmas 1, 3 and 4, Corollaries 1 and 2, Theorem 1, (28)-(30).

The paper's constants depend on E, G, H, Gamma, sigma and the clients' shares, and on no coverage: what overlap
changes is in `own_hhfl`. Theorem 1 is here twice, with the denominator that its proof supports and with the one
that is printed. Only a text copy of the paper was read.
"""

from hflbounds.core.assumptions import (
    CLOCK,
    EDGE_ROUNDS,
    FALLING_STEP,
    GRADIENT_NORM,
    LOCAL_STEP,
    NOISE_OF_SHARES,
    OPTIMA_APART,
    SCHEDULE,
    STEP_OF_THE_RUN,
    STRONGLY_CONVEX,
    Assumption,
)
from hflbounds.core.bound import Bound, End, Paper, Step
from hflbounds.core.expression import Expr, add, maximum, raised, special
from hflbounds.core.metrics import (
    CLIENT_DRIFT,
    COMPUTING_TIME,
    DISTANCE_CONSTANT,
    LOSS_GAP,
    MEAN_GRADIENT_NOISE,
    NEXT_DISTANCE,
    NEXT_DISTANCE_AFTER_AGGREGATION,
    STEP_ERROR,
    TRAINING_TIME,
    TRANSMISSION_TIME,
    Metric,
)
from hflbounds.core.quantities import (
    CD,
    T_CES,
    T_ECS,
    Delta0,
    Delta_t,
    E,
    Gamma,
    Ge,
    H,
    L,
    M,
    N,
    T,
    V_t,
    alpha,
    beta_lr,
    bits,
    cycles,
    eta,
    hertz,
    mu,
    p2,
    sigma,
    t,
)
from hflbounds.coverage import from_arrays

paper = Paper(
    key="liu2026",
    title="Hybrid Hierarchical Federated Learning over 5G/NextG Wireless Networking",
    authors="Liu, Xue, Xu, Liu and Lu",
    year=2026,
    version="v1",
    where="arXiv:2604.09680",
    notation={
        **{"Ge": "G", "eta": r"\eta_t", "beta_lr": r"\beta", "p2": r"\sum_{i=1}^Kp_i^2"},
        "V_t": r"\mathbb{E}\|g_t-\bar g^t\|^2",
        "CD": r"\mathbb{E}\sum_{i=1}^Kp_i\|\bar w^t-w_i^t\|^2",
    },
)
EQUAL_SHARES = {"p2": 1 / (N * M)}  # N servers with M clients each, unless shares are given
TOGETHER = (EDGE_ROUNDS, STRONGLY_CONVEX, OPTIMA_APART, NOISE_OF_SHARES)
CONVERGES = (beta_lr * mu > 1, alpha >= E, alpha >= 4 * L * beta_lr)

# ---------------------------------------------------------------- Lemma 1, eq. (22), and Corollary 1, eq. (23)
SMALL_STEP = eta <= 1 / (4 * L)


def _next(contraction: Expr, drift: Expr) -> dict[str, Expr]:
    return {
        "contraction": contraction,
        "noise": eta**2 * V_t,
        "heterogeneity": 6 * L * eta**2 * Gamma,
        "drift": drift,
    }


def _one_step(label: str, title: str, place: str, metric: Metric, because: str, extra: tuple[Assumption, ...]) -> Bound:
    largest = (CONVERGES[-1].lhs - CONVERGES[-1].rhs).subs({beta_lr: eta * alpha})
    return Bound(
        id=f"liu2026.{label}",
        title=f"HHFL, distance to the optimum after a local step{title}",
        source=paper.at(place),
        bounds=metric,
        terms=_next((1 - eta * mu) * Delta_t, 2 * CD),
        requires=(SMALL_STEP,),
        assumes=(*extra, STRONGLY_CONVEX, OPTIMA_APART, LOCAL_STEP),
        status="proved",
        constants="explicit",
        grows_with=(Delta_t, V_t, Gamma, CD, L),
        shrinks_with=(mu,),
        # What (F_i(w_i) - F_i*) is multiplied with, 4 L eta^2 - 2 eta, is at most 0, and convexity bounds that below.
        steps=(Step(because, _next(Delta_t - eta * mu * Delta_t, CD + 2 * eta * CD / (2 * eta))),),
        kind="lemma",
        ends=(End("the largest step of Theorem 1, beta/alpha, is one by the theorem's own condition", largest),),
    )


lemma1 = _one_step(
    "lemma1",
    " and before aggregation",
    "Lemma 1, eq. (22)",
    NEXT_DISTANCE,
    "the square, expanded; drift from Young's inequality twice, as the audit's lines derive it",
    (),
)
cor1 = _one_step(
    "cor1",
    ", aggregated or not",
    "Corollary 1, eq. (23)",
    NEXT_DISTANCE_AFTER_AGGREGATION,
    "Lemma 1, as aggregation keeps the weighted mean (Lemma 2)",
    (EDGE_ROUNDS,),
)

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

cor2 = Bound(
    id="liu2026.cor2",
    title="HHFL, distance to the optimum after a local step, by the constants of the run",
    source=paper.at("Corollary 2, eq. (26)"),
    bounds=NEXT_DISTANCE_AFTER_AGGREGATION,
    terms={"contraction": (1 - eta * mu) * Delta_t, **{name: eta**2 * term for name, term in STEP_TERMS.items()}},
    requires=(SMALL_STEP,),
    assumes=(*TOGETHER, GRADIENT_NORM, FALLING_STEP, STEP_OF_THE_RUN),
    status="proved",
    constants="explicit",
    where={"X": X},
    grows_with=(Delta_t, E, Ge, sigma, p2, L, Gamma, H),
    shrinks_with=(mu,),
    steps=(
        Step(
            "Corollary 1 with Lemma 4 and twice the drift of Appendix B",
            {
                "contraction": Delta_t - eta * mu * Delta_t,
                "noise": eta**2 * sigma**2 / (1 / p2),
                "heterogeneity": 6 * L * Gamma * eta**2,
                "drift": 2 * APPENDIX_B,
            },
        ),
    ),
    kind="lemma",
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

# ---------------------------------------------------------------- time, eqs. (28)-(30)
COMPUTING = cycles * bits / hertz * T
TO_CLIENTS = special("ceiling", T / E) * T_CES
TO_CLOUD = special("ceiling", T / (E * Ge)) * T_ECS


def _time(label: str, title: str, number: int, metric: Metric, terms: dict[str, Expr], again: dict[str, Expr]) -> Bound:
    return Bound(
        id=f"liu2026.{label}",
        title=f"HHFL and HFL, {title} of T local steps",
        source=paper.at(f"Section IV-B2, eq. ({number})"),
        bounds=metric,
        terms=terms,
        requires=(),
        assumes=(EDGE_ROUNDS, CLOCK),
        status="printed",
        constants="explicit",
        grows_with=tuple(s for s in (T, cycles, bits, T_CES, T_ECS) if s in add(*terms.values()).symbols),
        shrinks_with=tuple(s for s in (hertz, E, Ge) if s in add(*terms.values()).symbols),
        steps=(Step("by rounds that are begun, and by seconds of a step", again),),
        kind="quantity",
        equality=True,
    )


# As printed: a round that is begun is counted in full, also where T stops before its exchange of models.
_exchanges = {"to_clients": T_CES * special("ceiling", (T / E)), "to_cloud": T_ECS * special("ceiling", (T / E / Ge))}
_computing = {"computing": T / (hertz / bits) * cycles}
computing_time = _time("computing-time", "computing time", 28, COMPUTING_TIME, {"computing": COMPUTING}, _computing)
transmission_time = _time(
    "transmission-time",
    "transmission time",
    29,
    TRANSMISSION_TIME,
    {"to_clients": TO_CLIENTS, "to_cloud": TO_CLOUD},
    _exchanges,
)
overall_time = _time(
    "overall-time",
    "time",
    30,
    TRAINING_TIME,
    {"computing": COMPUTING, "to_clients": TO_CLIENTS, "to_cloud": TO_CLOUD},
    _computing | _exchanges,
)
