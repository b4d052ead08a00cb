"""The hypotheses theorems are proved under, declared once, so that two bounds can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hflbounds.core import quantities as q
from hflbounds.core.expression import Symbol


@dataclass(frozen=True, slots=True)
class Assumption:
    """One hypothesis, and the quantities it brings into a formula.

    Attributes:
        id: short name.
        statement: in words, formulas between dollars.
        introduces: quantities that a formula may have under it.
        about: the ``problem`` (losses, noise, heterogeneity), or the ``protocol`` that is run on it; bounds for
            different protocols can be compared on one problem, and not the other way round.
        losses: the class of losses that it confines to, in words; empty where it is about something else.
        convex: whether it has losses convex, or their sum.
    """

    id: str
    statement: str
    introduces: tuple[Symbol, ...] = ()
    about: Literal["problem", "protocol"] = "problem"
    losses: str = ""
    convex: bool = False


SMOOTH = Assumption(
    "smooth", r"every client loss $F_{g,m}$ is $L$-smooth, and $F$ is bounded below", (q.L, q.A), losses="smooth losses"
)
NOISE = Assumption(
    "noise",
    r"stochastic gradients are unbiased with variance at most $\sigma^2$, "
    r"and independent across clients and steps given the past",
    (q.sigma,),
)
INTER = Assumption(
    "inter-group heterogeneity", r"$\frac1G\sum_g\|\nabla F_g(x)-\nabla F(x)\|^2\le\delta^2$ for all $x$", (q.delta,)
)
INTRA = Assumption(
    "intra-group heterogeneity",
    r"$\frac1{GM}\sum_{g,m}\|\nabla F_{g,m}(x)-\nabla F_g(x)\|^2\le\zeta^2$ for all $x$, "
    r"as the average over groups of per-group constants $\zeta_g^2$",
    (q.zeta,),
)
ROUNDS = Assumption(
    "rounds",
    r"$R$ global rounds of $P$ group rounds of $K$ local steps at one constant learning rate",
    (q.P, q.K, q.R, q.eta_eff),
    about="protocol",
)
FIXED_ORDER = Assumption(
    "full participation, fixed order",
    r"all $M$ clients of all $G$ groups take part in every round, rings in one fixed order",
    (q.G, q.M),
    about="protocol",
)
RANDOM_ORDER = Assumption(
    "full participation, random order",
    r"all $M$ clients of all $G$ groups take part in every round, rings in an order drawn afresh each round",
    (q.G, q.M),
    about="protocol",
)
PARTIAL = Assumption(
    "partial participation",
    r"each round draws $S_1$ of the groups and $S_2$ of the clients of each, without replacement, "
    r"and rings run in the order drawn",
    (q.S1, q.S2),
    about="protocol",
)

WEIGHT = Assumption("weight", r"$\lambda$ is any number above 0 and at most 1", (q.lam,), about="protocol")
ONE_STEP = Assumption(
    "rounds of one step",
    r"in each of $R$ rounds all $M$ clients of all $G$ groups compute one stochastic gradient at the same model, which "
    r"moves along their mean at one constant learning rate",
    (q.G, q.M, q.R, q.eta_eff),
    about="protocol",
)
UNIFORM_DRAWS = Assumption(
    "partial participation, uniform draws",
    r"in each pass a uniform set of $S_1$ of the $G$ groups takes part, and given these a uniform set of $S_2$ of the "
    r"$M$ clients of each; given all sets, the order within a pass is uniform. Draws of different passes may depend on "
    r"each other in any way",
    (q.G, q.M, q.S1, q.S2),
    about="protocol",
)

# ---------------------------------------------------------------- losses that differ by a tilt, or not at all
TILTED = Assumption(
    "losses that differ by a tilt",
    r"all clients' losses are quadratic with one Hessian, of eigenvalues in $(0,L]$, so that their gradients differ by "
    r"constants, and training starts at squared distance at most $\Delta_0$ to the optimum",
    (q.L, q.Delta0),
    losses="quadratic losses with one Hessian, which differ by a tilt",
)
NOISE_BY_DIRECTION = Assumption(
    "noise of one covariance",
    r"stochastic gradients are unbiased, independent across clients and steps given the past, with covariances at most "
    r"one matrix of trace at most $\sigma^2$",
    (q.sigma,),
)
SLOW_GAPS = Assumption(
    "gaps that change slowly",
    r"the gap $\nabla F_{g,m}-\nabla F$ of every client is $\delta_H$-Lipschitz; with two derivatives, no Hessian is "
    r"farther than $\delta_H$ from that of $F$",
    (q.delta_H,),
    losses="gaps between clients that change slowly",
)
ONE_DRAW = Assumption(
    "one draw a round",
    r"the order of a node's children is drawn once for each global round, independently for all nodes",
    about="protocol",
)

# ---------------------------------------------------------------- HSL and Epidemic Learning
SPOKES = Assumption(
    "spokes",
    r"$T$ rounds of one step at one constant learning rate at each of $n_s$ spokes, then mixing",
    (q.n_s, q.T, q.eta),
    about="protocol",
)
HUBS = Assumption(
    "hubs",
    r"every round each of $n_h$ hubs averages $b_{hs}$ spokes drawn without replacement, sends the average to "
    r"$b_{hh}$ other hubs and averages what it holds, and each spoke averages $b_{sh}$ hubs; all draws are fresh, "
    r"uniform and independent",
    (q.n_s, q.n_h, q.b_hs, q.b_hh, q.b_sh),
    about="protocol",
)
PUSH = Assumption(
    "push gossip",
    r"every round each of $n_s$ nodes sends its model to $s$ others, drawn freshly and uniformly without replacement, "
    r"and averages its own with what it receives",
    (q.n_s, q.s),
    about="protocol",
)
REGULAR = Assumption(
    "regular gossip",
    r"every round a random graph in which each of $n_s$ nodes sends to $s$ others and receives from $s$ others, "
    r"of a law that does not change when nodes are renamed; each node averages its own model with what it receives",
    (q.n_s, q.s),
    about="protocol",
)
CLIENT_GAP = Assumption(
    "client heterogeneity",
    r"$\frac1{n_s}\sum_i\|\nabla F_i(x)-\nabla F(x)\|^2\le H^2$ for all $x$; with groups of equal size "
    r"$H^2=\zeta^2+\delta^2$",
    (q.H,),
)
MIXED = Assumption(
    "mixing factors",
    r"mixing is independent of the past, keeps the average in expectation, multiplies the consensus distance by at "
    r"most $\beta$ in expectation, and moves the average by at most $\kappa$ times the consensus distance before it",
    (q.beta_mix, q.kappa),
    about="protocol",
)
SPREAD = Assumption(
    "spread",
    r"the expected consensus distance is at most $\mathrm{CD}$ in every round, before and after the local step",
    (q.CD,),
    about="protocol",
)

# ---------------------------------------------------------------- HGA-FL (xie2024)
SUB_CENTERS_SMOOTH = Assumption(
    "smooth sub-centers",
    r"every sub-center's loss $F_j$ is $L$-smooth, and their mean $F$ is bounded below",
    (q.L, q.A),
    losses="smooth losses",
)
SUB_CENTERS_NOISE = Assumption(
    "noise of sub-centers",
    r"a sub-center's stochastic gradient is unbiased with variance at most $\sigma_s^2$, "
    r"and independent across sub-centers and steps given the past, of the times of arrival too",
    (q.sigma_s,),
)
SUB_CENTERS_DIVERSITY = Assumption(
    "diversity of sub-centers",
    r"$\|\nabla F_j(w)-\nabla F(w)\|\le\sigma_{g,j}$ for all $w$, with $\frac1M\sum_j\sigma_{g,j}^2\le\sigma_g^2$",
    (q.sigma_g,),
)
SUB_CENTERS = Assumption(
    "sub-centers",
    r"$M$ sub-centers, each of which runs $R_s$ rounds from a model it received; "
    r"a global step uses a buffer of $K_b$ different ones",
    (q.M, q.K_buf, q.R_sub),
    about="protocol",
)
SUB_CENTERS_STEP = Assumption(
    "gradient steps inside a sub-center",
    r"a round is one stochastic gradient step at the rate $\eta_s$",
    (q.eta_sub,),
    about="protocol",
)
SUB_CENTERS_FEDDYN = Assumption(
    "FedDyn inside a sub-center",
    r"a round is one of FedDyn with coefficient $\alpha$, treated as a gradient step at the rate "
    r"$\hat\eta_s=\sqrt{2+2L^2}/\alpha$",
    (q.alpha_dyn,),
    about="protocol",
)
SUB_CENTERS_START = Assumption(
    "one gradient at the start",
    r"$\|\nabla F\|$ at the model a sub-center began with is the same for all that are summed",
    (q.grad,),
    about="protocol",
)
ASYNCHRONOUS = Assumption(
    "asynchronous server",
    r"$T$ global steps at the rate $\eta_g$; an update in the buffer is at most $\Gamma_{\max}$ global steps old, "
    r"and one in the cache at most $\zeta_{\max}$",
    (q.eta_g, q.Gamma_max, q.zeta_max, q.T),
    about="protocol",
)

DELAYED = Assumption(
    "a delayed model",
    r"a model is at most $\tau_{\max}$ global steps old, one in the buffer at most $\Gamma_{\max}$ "
    r"and one in the cache at most $\zeta_{\max}$",
    (q.tau_max, q.Gamma_max, q.zeta_max, q.moved),
)

# ---------------------------------------------------------------- HHFL (liu2026)
STRONGLY_CONVEX = Assumption(
    "smooth and strongly convex",
    r"every client loss $F_i$ is $L$-smooth and $\mu$-strongly convex, and $F=\sum_ip_iF_i$",
    (q.L, q.mu),
    losses="smooth and strongly convex losses",
    convex=True,
)
OPTIMA_APART = Assumption("optima apart", r"$F^\star-\sum_ip_iF_i^\star\le\Gamma$, summed over the clients", (q.Gamma,))
NOISE_OF_SHARES = Assumption(
    "noise of weighted clients",
    r"stochastic gradients are unbiased, with variance at most $\sigma_i^2$ at client $i$, "
    r"and independent across clients and steps given the past; "
    r"$\sigma^2=\sum_ip_i^2\sigma_i^2/\sum_ip_i^2$, or the largest of them",
    (q.sigma, q.p2),
)
GRADIENT_NORM = Assumption(
    "bounded gradients along the run",
    r"$\mathbb{E}\|g_i^t\|^2\le H^2$ for the stochastic gradients met in the run; "
    r"on the whole space no strongly convex loss has such a bound",
    (q.H,),
)
DISAGREEMENT = Assumption(
    "disagreement of gradients along the run",
    r"$\mathbb{E}\sum_ip_i\|g_i^t-\bar g^t\|^2\le H^2$ for the stochastic gradients met in the run, "
    r"which a bound on their norms implies",
    (q.H,),
)
TWO_LEVELS = Assumption(
    "disagreement along the run, on two levels",
    r"of $\nabla F_i(w_i^t)$ the part that one edge round erases has mean square at most $\zeta^2$, and the part that "
    r"it passes on at most $\delta^2$, weighted by $p_i$; with one server for each client "
    r"these are the gaps inside servers and between them",
    (q.zeta, q.delta),
)
EDGE_ROUNDS = Assumption(
    "edge and cloud rounds",
    r"$E$ local steps in an edge round, in which servers average their clients and clients their servers, and "
    r"$G_e$ edge rounds in a cloud round, which averages everything; any coverage",
    (q.E, q.Ge),
    about="protocol",
)
LOCAL_STEP = Assumption(
    "one local step",
    r"all clients take a local step at the learning rate $\eta$, with unbiased gradients whose weighted mean has the "
    r"variance $V_t$; their weighted mean model is $\Delta_t$ from the optimum and they are $\mathrm{CD}$ from it, "
    r"in mean squares",
    (q.eta, q.Delta_t, q.V_t, q.CD),
    about="protocol",
)
STEP_OF_THE_RUN = Assumption(
    "a step of the run",
    r"a local step at the learning rate $\eta$, from a weighted mean model that is $\Delta_t$ from the optimum in mean "
    r"square",
    (q.eta, q.Delta_t),
    about="protocol",
)
CLOCK = Assumption(
    "times that do not overlap",
    r"$T$ local steps of $b_0$ bits at $c$ cycles a bit and $f$ cycles a second; exchanges of models take "
    r"$T_{\mathrm{CES}}$ and $T_{\mathrm{ECS}}$ seconds, averaging takes none, and nothing happens at the same time",
    (q.T, q.cycles, q.hertz, q.bits, q.T_CES, q.T_ECS),
    about="protocol",
)
FALLING_STEP = Assumption(
    "falling step",
    r"the learning rate $\eta=\eta_t$ does not grow, and $\eta_t\le2\eta_{t+E}$",
    (q.eta,),
    about="protocol",
)
SCHEDULE = Assumption(
    "schedule",
    r"$\eta_t=\beta/(t+\alpha)$ at local step $t$ of every client, from models at squared distance $\Delta_0$ "
    r"to the optimum",
    (q.beta_lr, q.alpha, q.t, q.eta, q.Delta0),
    about="protocol",
)
MIXING_OF_COVERAGE = Assumption(
    "mixing of the coverage",
    r"$\lambda_2$ is the second largest eigenvalue of the edge-round operator of the coverage; "
    r"1 where no overlap links all servers",
    (q.lambda2,),
    about="protocol",
)

# ---------------------------------------------------------------- inside the unified analysis (zhou2026)
ONE_ROUND = Assumption(
    "one round",
    r"one global round of $P$ group rounds of $K$ local steps at one learning rate, $\eta$ raw and $\tilde\eta$ "
    r"effective, from an iterate with a given gradient and with a given drift $\mathcal{E}_r$",
    (q.P, q.K, q.eta, q.eta_eff, q.grad, q.E_r),
    about="protocol",
)
INDEPENDENT_DRAWS = Assumption(
    "partial participation, independent client draws",
    r"each round draws $S_1$ of the $G$ groups, and in each of them $S_2$ of its $M$ clients, without replacement; "
    r"the draws of clients are independent across groups, and rings run in the order drawn",
    (q.G, q.M, q.S1, q.S2),
    about="protocol",
)

# ---------------------------------------------------------------- rates that Table 1 attributes to other papers
ONE_TIER = Assumption(
    "one tier",
    r"$R$ rounds of $K$ local steps at one constant learning rate, and $M$ is the number of all clients",
    (q.M, q.K, q.R),
    about="protocol",
)
CLIENTS = Assumption(
    "client heterogeneity",
    r"$\frac1M\sum_m\|\nabla F_m(x)-\nabla F(x)\|^2\le\delta^2$ for all $x$, over all $M$ clients",
    (q.delta,),
)
ROUNDS_ALONE = Assumption("rounds", r"$R$ global rounds", (q.R,))
STEPS_ALONE = Assumption("steps", r"$t$ local steps", (q.t,))
LIKE_CLIENTS = Assumption("like clients", r"every client has the same loss $F$", losses="one loss for all clients")
WORKERS = Assumption(
    "a part of the clients",
    r"some of the $M$ clients of each of $G$ groups take part in a round",
    (q.G, q.M),
    about="protocol",
)

# ---------------------------------------------------------------- baselines and lower bounds of other papers
SAMPLED_CLIENTS = Assumption(
    "sampled clients", r"each round draws $S_2$ of the $M$ clients without replacement", (q.M, q.S2), about="protocol"
)
RAW_STEP = Assumption("raw step", r"the learning rate of a local step is $\eta$ throughout", (q.eta,), about="protocol")
CLIENT_DIVERSITY = Assumption(
    "diversity of clients",
    r"$\frac1M\sum_m\|\nabla F_m(x)-\nabla F(x)\|^2\le\sigma_g^2$ for all $x$, over all clients",
    (q.sigma_g,),
)
CLIENT_GRADIENTS = Assumption("bounded gradients", r"$\|\nabla F_m(x)\|\le H$ for every client and all $x$", (q.H,))
BUFFERED = Assumption(
    "buffered server",
    r"$T$ global steps at the rate $\eta_g$; an update is $K$ local steps of a client at the rate $\eta$, and one in "
    r"the buffer is at most $\Gamma_{\max}$ global steps old; every client is as likely to be in it",
    (q.T, q.eta_g, q.K, q.eta, q.Gamma_max),
    about="protocol",
)
ANY_METHOD = Assumption(
    "any method",
    r"any method that sees $GPMKR$ stochastic gradients, however it uses them; the problem may be as large as it likes",
    (q.G, q.P, q.M, q.K, q.R),
    about="protocol",
)
CONVEX = Assumption(
    "convex", r"every client loss is $L$-smooth and convex", (q.L,), losses="smooth and convex losses", convex=True
)
DISTANCE = Assumption("distance", r"the squared distance of the first model to a minimiser is $\Delta_0$", (q.Delta0,))
OPTIMUM_GAP = Assumption(
    "client heterogeneity at the optimum",
    r"$\frac1M\sum_m\|\nabla F_m(x^\star)\|^2\le\delta^2$ at a minimiser $x^\star$ of $F$",
    (q.delta,),
)
PASSES = Assumption(
    "passes",
    r"$R$ passes over $M$ components, one gradient step each, at any constant learning rate",
    (q.M, q.R),
    about="protocol",
)
CYCLIC = Assumption("cyclic order", r"every pass has the same order", about="protocol")
RESHUFFLED = Assumption("reshuffled order", r"the order is drawn afresh for every pass", about="protocol")
STRONGLY_CONVEX_SUM = Assumption(
    "strongly convex sum",
    r"$F$ is $\mu$-strongly convex, every component is smooth, and its gradients are at most $\delta$ "
    r"near the minimiser",
    (q.mu, q.delta),
    losses="smooth losses with a strongly convex sum",
    convex=True,
)
