"""What liu2026 prints otherwise than it proves, with exact runs of the algorithm where they decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction as Q
from itertools import islice

from hflbounds.catalog.liu2026 import Z_PRINTED, Z, longest
from hflbounds.core.bound import Erratum, Evidence
from hflbounds.core.expression import raised
from hflbounds.core.quantities import E, Ge, alpha

Vector = tuple[Q, ...]
Weights = Sequence[Sequence[Q]]  # of each client, for each server

SEPARATE: Weights = ((Q(1), Q(0)), (Q(1), Q(0)), (Q(0), Q(1)), (Q(0), Q(1)))
ONE_BRIDGE: Weights = ((Q(1, 2), Q(1, 2)), *SEPARATE[1:])
MIDDLE_IN_BOTH: Weights = ((Q(1), Q(0)), (Q(1, 2), Q(1, 2)), (Q(0), Q(1)))


def mean(p: Vector, w: Vector) -> Q:
    """The clients' weighted mean."""
    return sum((share * model for share, model in zip(p, w, strict=True)), Q(0))


def spread(p: Vector, w: Vector, around: Vector | None = None) -> Q:
    """Weighted mean squared distance of the clients' models to their mean, or to other models."""
    centre = (mean(p, w),) * len(w) if around is None else around
    return mean(p, tuple((a - b) ** 2 for a, b in zip(w, centre, strict=True)))


def edge_round(weights: Weights, p: Vector, w: Vector) -> Vector:
    """(9), (10) and (7): servers average their clients, and clients their servers."""
    servers = []
    for column in zip(*weights, strict=True):
        sent = [(share * weight, model) for share, weight, model in zip(p, column, w, strict=True) if weight]
        servers.append(sum((a * b for a, b in sent), Q(0)) / sum(a for a, _ in sent))
    return tuple(sum((a * b for a, b in zip(row, servers, strict=True) if a), Q(0)) for row in weights)


def run(
    weights: Weights, p: Vector, optima: Vector, rounds: tuple[int, int], beta: Q, offset: Q
) -> Iterator[tuple[int, Vector, Vector]]:
    """Algorithm 1 on ``F_i = (w - c_i)^2 / 2`` from their common optimum, exactly.

    Args:
        weights: of each client for each server.
        p: the clients' shares.
        optima: ``c_i``.
        rounds: ``(E, G)``.
        beta: of the schedule ``beta/(t + offset)``.
        offset: of the schedule.

    Yields:
        ``(t, v, w)`` for t = 1, 2, ...: the clients' models after that local step, before and after aggregation.
    """
    local, edge = rounds
    w = (mean(p, optima),) * len(p)
    t = 0
    while True:
        v = tuple(model - beta / (t + offset) * (model - c) for model, c in zip(w, optima, strict=True))
        t += 1
        w = v
        if t % (local * edge) == 0:
            w = (mean(p, v),) * len(p)
        elif t % local == 0:
            w = edge_round(weights, p, v)
        yield t, v, w


def plus_one() -> Evidence:
    """Clients with F_i = w^2/2 started at the optimum: the exact second moment of the run against (27)."""
    beta, offset, noise, moment, steps = Q(11, 10), Q(22, 5), Q(1), Q(0), 100
    for t in range(steps):
        eta = beta / (t + offset)
        moment = (1 - eta) ** 2 * moment + eta**2 * noise
    printed = beta**2 * noise / (beta + 1) / (steps + offset)
    return Evidence(
        "F_i = w^2/2, E = G = 1, beta mu = 1.1, alpha = 4.4, start at the optimum, variance 1 of the mean gradient: "
        "E F(w) - F* after 100 steps",
        float(printed) / 2,
        float(moment) / 2,
    )


def closer(local: int = 5) -> Evidence:
    """The first inequality of (A.17) at the second edge round, with a client under both servers."""
    p = (Q(1, 5), Q(3, 5), Q(1, 5))
    beta, offset = Q(11, 10), max(Q(local), Q(22, 5))
    known = list(islice(run(MIDDLE_IN_BOTH, p, (Q(1), Q(0), Q(-1)), (local, 4), beta, offset), 2 * local))
    (_, _, before), (_, v, w) = known[local - 1], known[-1]
    return Evidence(
        f"three clients with optima 1, 0, -1 and shares 1/5, 3/5, 1/5, the middle one under both servers, E = {local}, "
        "second edge round: sum of p_i |w_i - v_i|^2 against that with w_i an edge round earlier",
        float(spread(p, before, v)),
        float(spread(p, w, v)),
    )


def bridge() -> Evidence:
    """Peak drift with and without one overlapping client; the servers' data differ, but less than the clients'."""
    p = (Q(1, 4),) * 4
    optima = (Q(21, 20), Q(-19, 20), Q(19, 20), Q(-21, 20))
    apart, linked = (
        max(spread(p, w) for _, _, w in islice(run(weights, p, optima, (1, 2), Q(11, 10), Q(22, 5)), 2))
        for weights in (SEPARATE, ONE_BRIDGE)
    )
    return Evidence(
        "four clients with optima 1.05, -0.95 under one server and 0.95, -1.05 under the other, E = 1, G = 2: "
        "peak drift with the first client under both, against that of HFL",
        float(apart),
        float(linked),
    )


def gap_over_servers() -> Evidence:
    """57 clients with equal shares and minima 0.9, and 3 servers; F* = 1."""
    minimum, clients, servers = Q(9, 10), 57, 3
    literal, meant = (1 - sum((minimum / clients for _ in range(count)), Q(0)) for count in (servers, clients))
    return Evidence(
        "57 equal clients, 3 servers, F* = 1 and F_k* = 0.9: Gamma", float(literal), float(meant), relation="=="
    )


def row_sum() -> Evidence:
    """(17) with the same i inside and outside: the coefficients of client 1 among three, the middle one shared."""
    p = (Q(1, 5), Q(3, 5), Q(1, 5))
    load = p[0] + p[1] / 2
    literal = sum((p[0] / load for _ in (0, 1)), Q(0))  # C_1 has two members, and i is client 1 for both
    return Evidence(
        "sum of client 1's coefficients in (17), read literally, where Lemma 2 needs 1", 1.0, float(literal), "=="
    )


def exponent() -> Evidence:
    """E = alpha = 5, six steps into a cloud round: the squared ratio of the learning rates against 4 to the power."""
    local, offset, t = 5, Q(5), 6
    power = -(-(t - 1) // local)
    ratio = (t + offset) / offset
    return Evidence("E = alpha = 5, t - T0 = 6: (eta_T0/eta_t)^2 against the power of 4", 4.0**power, float(ratio**2))


def gradient_far_away() -> Evidence:
    """F = mu w^2/2 at distance 2 H/mu from its optimum."""
    mu, h = Q(1, 10), Q(1)
    return Evidence("F = mu w^2/2 at w = 2 H/mu: |F'|^2 against H^2", float(h**2), float((mu * (2 * h / mu)) ** 2))


def first_step() -> Evidence:
    """One step from the optimum of F = w^2/2: full gradients stay there, stochastic ones do not."""
    eta, variance = Q(1, 4), Q(1)
    return Evidence(
        "F_i = w^2/2, one step of 1/4 from the optimum, variance 1 of the mean gradient: squared distance",
        0.0,
        float(eta**2 * variance),
        relation="==",
    )


ERRATA = (
    Erratum(
        id="liu2026.H1",
        place="Theorem 1, eq. (27), and Appendix E for Z'",
        printed=Z_PRINTED,
        proved=Z,
        because="Appendix D writes beta mu - 1 three times, and its induction needs it: with beta mu + 1 the bracket "
        "of (A.22) is beta^2 X (2x + 1)/((beta mu + 1)(x + 1)) > 0, and a run with exact second moment exceeds (27) "
        "for every beta mu between 1 and 2",
        effect="Z is (beta mu - 1)/(beta mu + 1) of what it must be, a third at beta mu = 2 and 1/21 at 1.1; the best "
        "beta appears to be the smallest allowed instead of 2/mu",
        gravity="refuted",
        witness={
            "beta_lr": 2.0,
            "mu": 1.0,
            "L": 1.0,
            "alpha": 8.0,
            "E": 2.0,
            "Ge": 2.0,
            "sigma": 1.0,
            "p2": 0.1,
            "Gamma": 1.0,
            "H": 1.0,
            "Delta0": 1.0,
        },
        demonstrate=plus_one,
        concerns=("liu2026.thm1", "liu2026.thm1-printed", "liu2026.z", "liu2026.z-printed"),
    ),
    Erratum(
        id="liu2026.H2",
        place="Appendix B, first inequality of (A.17)",
        printed=r"$\sum_ip_i\|w_i^{t'}-v_i^{t'}\|^2\le\sum_ip_i\|w_i^{t'-E}-v_i^{t'}\|^2$ after an edge aggregation",
        proved=r"the same for one server per client; in general only "
        r"$\sum_ip_i\|w_i^{t'}-\bar w^{t'}\|^2\le\lambda_2^2\sum_ip_i\|v_i^{t'}-\bar v^{t'}\|^2$",
        because="a mean over disjoint groups is the nearest point that is constant on them, but the mean of the "
        "overlapping servers' means is no nearest point",
        effect="none on Lemma 3, which holds with a smaller constant by another proof; the printed proof has a gap "
        "where there is overlap",
        gravity="step",
        demonstrate=closer,
        concerns=("liu2026.lemma3",),
    ),
    Erratum(
        id="liu2026.H3",
        place="Lemma 3, eq. (24)",
        printed=raised(4, Ge) * (Ge * E + Ge - 2) * longest,
        proved=((alpha + Ge * E - 1) / alpha) ** 2 * (Ge * E - 1) ** 2,
        because="an edge round does not move clients apart, so the drift is at most the sum of the steps since the "
        "last cloud round",
        effect="3555328 against 1129 at E = G = 5 and alpha = 60; the choice of E and G by the printed X is one of "
        "this factor",
        gravity="loose",
        witness={"E": 5.0, "Ge": 5.0, "alpha": 60.0},
        concerns=("liu2026.lemma3", "liu2026.x", "liu2026.z", "liu2026.thm1"),
    ),
    Erratum(
        id="liu2026.H4",
        place="Lemma 3, eq. (24), and X in Corollary 2 and Theorem 1",
        printed=raised(4, Ge),
        proved=((alpha + Ge * E - 1) / alpha) ** 2,
        because="with the schedule beta/(t + alpha) and alpha >= E the squared ratio of two learning rates of one "
        "cloud round is at most (1 + (G E - 1)/alpha)^2 <= (G + 1 - 1/E)^2 <= 4^G",
        effect="a penalty exponential in G where the schedule has none: 1048576 against 3.3 at G = 10, E = 5, "
        "alpha = 60",
        gravity="loose",
        witness={"E": 5.0, "Ge": 10.0, "alpha": 60.0},
        concerns=("liu2026.lemma3", "liu2026.x", "liu2026.z", "liu2026.thm1"),
    ),
    Erratum(
        id="liu2026.H5",
        place="Remark 5 and the last paragraph of Appendix E",
        printed="Z' > Z: HFL has the larger drift, and so the slower convergence, where the servers' data differ",
        proved="Lemma 3 holds word for word with one server for each client, so the bounds of HFL and HHFL are the "
        "same; hflbounds.hhfl-drift is largest for HFL, as a bound",
        because="X contains no set of servers, and a comparison of two upper bounds says nothing of what they bound: "
        "an overlapping client can also unbalance servers whose data were alike",
        effect="the published bound cannot rank HHFL and HFL",
        gravity="claim",
        demonstrate=bridge,
        concerns=("liu2026",),
    ),
    Erratum(
        id="liu2026.H6",
        place="Lemma 1, Corollary 2, Theorem 1 and (A.19)",
        printed=r"$\Gamma=F^\star-\sum_{k=1}^Np_kF_k^\star$, with N edge servers",
        proved=r"$\Gamma=F^\star-\sum_{k=1}^Kp_kF_k^\star$, with K clients, as in Appendix E",
        because="the p_k are the clients' shares, and only their sum over all clients is 1",
        effect="a Gamma that does not vanish for equal data: 0.953 instead of 0.1 in the instance",
        demonstrate=gap_over_servers,
        concerns=("liu2026.x", "liu2026.z", "liu2026.thm1", "liu2026.thm1-printed"),
    ),
    Erratum(
        id="liu2026.H7",
        place="(9), (17), (18) and (A.1)",
        printed=r"$w_i=\frac1{|S_i|}\sum_{n\in S_i}\sum_{i\in C_n}\frac1{\lozenge_n}\frac{p_i}{|S_i|}v_i$, and $v_i^j$ "
        "in (A.1)",
        proved=r"$w_i=\frac1{|S_i|}\sum_{n\in S_i}\sum_{j\in C_n}\frac1{\lozenge_n}\frac{p_j}{|S_j|}v_j$, and $v_i^t$",
        because="the outer client's index is used again for the server's clients; read literally the coefficients do "
        "not sum to 1, which Lemma 2 needs",
        effect="on programs that follow the letter",
        demonstrate=row_sum,
        concerns=("liu2026",),
        artefact=True,
    ),
    Erratum(
        id="liu2026.H8",
        place="(A.14) and (A.17)",
        printed=r"$\eta_{T_0}^2\le\eta_t^24^{\lceil(t-T_0-1)/E\rceil}$",
        proved=r"$\eta_{T_0}^2\le\eta_t^24^{\lceil(t-T_0)/E\rceil}$",
        because="the rate halves at most once in E steps, and there are t - T0 of them",
        effect="none: the final power G is right",
        gravity="step",
        demonstrate=exponent,
        concerns=("liu2026.lemma3",),
    ),
    Erratum(
        id="liu2026.H9",
        place="Assumptions 2 and 4",
        printed="squared gradients uniformly bounded by H^2, together with strong convexity",
        proved="H^2 bounds the gradients met in the run, and depends on E, G, the schedule and the coverage",
        because="the gradient of a strongly convex loss is at least mu times the distance to its optimum",
        effect="H is no free input: it must be measured, or bounded, for each configuration",
        demonstrate=gradient_far_away,
        concerns=("liu2026",),
    ),
    Erratum(
        id="liu2026.H10",
        place="Algorithm 1, (8) and (12)",
        printed=r"local steps with the full gradient $\nabla F_i(w_i)$",
        proved=r"local steps with a stochastic gradient $\nabla F_i(w_i,\xi_i)$, as in Assumptions 3 and 4",
        because="with full gradients Lemma 4 bounds nothing",
        effect="the noise term of X belongs to the algorithm that is analysed, not to the one that is printed",
        demonstrate=first_step,
        concerns=("liu2026",),
    ),
    Erratum(
        id="liu2026.H11",
        place="Theorem 1",
        printed=r"$\eta_0\le\min\{1/\mu,1/(4L)\}$ and $\alpha\ge E$",
        proved=r"$\alpha\ge\max(E,4L\beta)$, which exceeds $4L/\mu$",
        because="mu <= L makes 1/mu idle, and eta_0 = beta/alpha makes the rest a condition on alpha",
        effect="none; on programs that choose alpha",
        gravity="note",
        concerns=("liu2026.thm1", "liu2026.thm1-printed"),
    ),
    Erratum(
        id="liu2026.H12",
        place="Appendix F",
        printed=r"$1<R<\sum_i|S_i|/K$",
        proved=r"$1\le R\le\sum_i|S_i|/K$",
        because="without overlap all three are 1",
        effect="none",
        gravity="note",
        concerns=("liu2026",),
    ),
    Erratum(
        id="liu2026.H13",
        place="Section V-A",
        printed=r"$T_{CES}/T_{SGD}=10$ with $T_{SGD}$ the time of E local steps, also where E is swept",
        proved="a transmission takes as long however many local steps precede it",
        because="by (28) and (29) the one is proportional to E and the other is not",
        effect="on wall clock times of a sweep over E: the transmissions to edge servers in T steps cost the same "
        "whatever E, as if rarer ones saved nothing",
        gravity="note",
        concerns=("liu2026",),
    ),
)
