"""liu2026 line by line: Lemma 1 to Theorem 1, and this project's own drift lemma for any coverage."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction as Q
from functools import cache

from hflbounds.catalog import liu2026
from hflbounds.core.functions import geometric
from hflbounds.core.quantities import E, Ge, H, alpha, beta_lr, t
from hflbounds.derive import Finding, Line
from hflbounds.derive.proofs import exact, first_violation, identical, nonnegative
from hflbounds.errata.liu2026 import SEPARATE, Weights, closer, edge_round, exponent, mean, run, spread

SMALL = {"clients": 4, "servers": 3}


def _held(evidence: str, good: bool = True) -> Finding:
    return Finding(verdict="holds" if good else "cannot tell", evidence=evidence)


def _on_grid(evidence: str, holds: Callable[..., bool], **grids: list[int | Q]) -> Finding:
    witness = first_violation(holds, grids)
    return _held(evidence) if witness is None else Finding(verdict="fails", evidence=evidence, witness=witness)


def _coverages() -> Iterator[tuple[Weights, tuple[Q, ...]]]:
    """Every coverage of up to four clients by up to three servers, with equal and with unequal shares."""
    for clients in range(1, SMALL["clients"] + 1):
        p = tuple(Q(2 * i + 1, clients**2) for i in range(clients))
        for servers in range(1, SMALL["servers"] + 1):
            rows = [row for row in itertools.product((0, 1), repeat=servers) if any(row)]
            for links in itertools.combinations_with_replacement(rows, clients):
                if all(any(column) for column in zip(*links, strict=True)):
                    weights = tuple(tuple(Q(link, sum(row)) for link in row) for row in links)
                    yield weights, p
                    yield weights, (Q(1, clients),) * clients


EVERY = f"every coverage of up to {SMALL['clients']} clients by up to {SMALL['servers']} servers, exactly"


@cache  # two lines ask for those of every coverage
def _columns(weights: Weights, p: tuple[Q, ...]) -> list[tuple[Q, ...]]:
    """Columns of the edge-round operator."""
    size = range(len(p))
    return [edge_round(weights, p, tuple(Q(i == j) for i in size)) for j in size]


# ---------------------------------------------------------------- Lemma 1, (22), which is Li et al. (2019), Lemma 1
def _noise_apart() -> Finding:
    import sympy as sp

    a, n, step = sp.symbols("a n eta", real=True)
    either = ((a - step * n) ** 2 + (a + step * n) ** 2) / 2
    return _held(
        "the cross term has mean zero: identity for noise n or -n", sp.expand(either - a**2 - step**2 * n**2) == 0
    )


def _gradient_by_gap() -> Finding:
    import sympy as sp

    g, smooth = sp.symbols("g L", positive=True)
    lowest = -g * (g / smooth) + smooth / 2 * (g / smooth) ** 2  # F(w - g/L) - F(w), at most, and at least F* - F(w)
    return _held(
        "smoothness from w to w - g/L, where g is the gradient: identity",
        sp.cancel(lowest + g**2 / (2 * smooth)) == 0,
    )


def _young() -> Finding:
    import sympy as sp

    d, g, step = sp.symbols("d g eta", positive=True)
    over = step * (d**2 / step + step * g**2)  # against -2 eta <d, g> of any two vectors: a square is left
    square = sp.expand(over + 2 * step * d * g - (d + step * g) ** 2) == 0
    return _held("the two sides differ by a square: identity", square)


def _collected() -> Finding:
    """With c = L eta = 1/(4 (1 + q)), and e >= 0 what convexity leaves over: the right side less the left."""
    import sympy as sp

    step, q, spread, gap, apart, left = sp.symbols("eta q D Phi Gamma e", nonnegative=True)
    c = 1 / (4 * (1 + q))
    losses = apart + gap - c * (gap + apart) - spread / (2 * step) + left  # sum of p_i (F_i(w_i) - F_i*), at least
    before = spread + 4 * c * step * losses - 2 * step * (losses - apart)
    after = 2 * spread + 6 * c * step * apart
    over = sp.expand(sp.cancel((after - before) * 8 * (1 + q) ** 2))
    good = nonnegative(over, (), (step, q, spread, gap, apart, left))
    return _held("all coefficients are nonnegative where L eta <= 1/4", good)


def _lemma_1() -> Finding:
    """Quadratics of three clients, at rational points: both sides of (22) without noise, exactly."""

    def holds(a: Q, b: Q, x: Q, y: Q, share: Q) -> bool:
        curvature, optima, models = (Q(1), a, b), (Q(0), Q(1), Q(-2)), (x, y, Q(1))
        p = (share, (1 - share) / 3, 2 * (1 - share) / 3)
        bent = sum(q * c for q, c in zip(p, curvature, strict=True))
        best = sum((q * c * o for q, c, o in zip(p, curvature, optima, strict=True)), Q(0)) / bent
        apart = sum((q * c * (best - o) ** 2 / 2 for q, c, o in zip(p, curvature, optima, strict=True)), Q(0))
        centre = mean(p, models)
        slope = sum((q * c * (w - o) for q, c, w, o in zip(p, curvature, models, optima, strict=True)), Q(0))
        smooth, bowl = max(curvature), min(curvature)
        steps = (1 / (4 * smooth), 1 / (40 * smooth))
        return all(
            (centre - step * slope - best) ** 2
            <= (1 - step * bowl) * (centre - best) ** 2 + 6 * smooth * step**2 * apart + 2 * spread(p, models)
            for step in steps
        )

    values: list[int | Q] = [Q(-3), Q(-1, 2), Q(0), Q(2)]
    return _on_grid(
        "quadratics of three clients, exactly, at two steps",
        holds,
        a=[Q(1, 10), Q(1), Q(3)],
        b=[Q(1, 2), Q(2), Q(10)],
        x=values,
        y=values,
        share=[Q(1, 10), Q(1, 2), Q(9, 10)],
    )


# ---------------------------------------------------------------- Lemma 2
def _lemma_2() -> Finding:
    for weights, p in _coverages():
        columns = _columns(weights, p)
        if any(mean(p, column) != share for column, share in zip(columns, p, strict=True)):
            return Finding(verdict="fails", evidence=EVERY, witness={"shares": str(p), "weights": str(weights)})
        if any(sum(row) != 1 for row in zip(*columns, strict=True)):
            return Finding(verdict="fails", evidence=EVERY, witness={"shares": str(p), "weights": str(weights)})
    return _held(f"{EVERY}: W has row sums 1 and keeps the weighted mean")


# ---------------------------------------------------------------- Lemma 3
def _centred() -> Finding:
    import sympy as sp

    w, p, x = sp.symbols("w:4"), sp.symbols("p:3"), sp.Symbol("x")
    shares = (*p, 1 - sum(p))
    centre = sum(a * b for a, b in zip(shares, w, strict=True))
    around = [sum(a * (b - c) ** 2 for a, b in zip(shares, w, strict=True)) for c in (x, centre)]
    good = sp.expand(around[0] - around[1] - (x - centre) ** 2) == 0
    return _held("the two sides differ by the square of (mean - x): identity for four clients", good)


def _increments() -> Finding:
    return _on_grid(
        "all E, G up to 8 and all steps of a cloud round",
        lambda E, G, t: t >= G * E or t + t // E <= (G * E - 1) + (G - 1),
        E=[*range(1, 9)],
        G=[*range(1, 9)],
        t=[*range(64)],
    )


def _exponent() -> Finding:
    found = exponent()
    return Finding(
        verdict="fails" if found.contradicts else "holds",
        evidence="the squared ratio of two learning rates, exactly",
        witness={
            "E": 5,
            "alpha": 5,
            "t - T0": 6,
            "squared ratio": found.found,
            "4^ceil((t - T0 - 1)/E)": found.printed,
        },
    )


def _exponent_meant() -> Finding:
    return _on_grid(
        "alpha from E to 4 E and t - T0 up to 40, exactly; each E steps at most double alpha + t",
        lambda E, part, t: (1 + Q(t) / (part * E)) ** 2 <= 4 ** (-(-t // E)),
        E=[*range(1, 9)],
        part=[Q(1), Q(3, 2), Q(4)],
        t=[*range(41)],
    )


def _closer() -> Finding:
    found = closer()
    return Finding(
        verdict="fails" if found.contradicts else "holds",
        evidence="an exact run of the algorithm, the second edge round",
        witness={"instance": found.instance, "left": found.found, "right": found.printed},
    )


def _closer_apart() -> Finding:
    """A point that is constant on the groups cannot be nearer than their means: Pythagoras, checked on runs."""
    p, optima = (Q(1, 10), Q(2, 5), Q(1, 5), Q(3, 10)), (Q(2), Q(0), Q(-1), Q(-3))
    for local in (1, 2, 3, 5):
        known = list(itertools.islice(run(SEPARATE, p, optima, (local, 4), Q(11, 10), Q(22, 5)), 4 * local - 1))
        for i in range(2 * local - 1, 4 * local - 1, local):
            _, v, w = known[i]
            before = known[i - local][2]
            if spread(p, before, v) != spread(p, w, v) + spread(p, before, w):
                return _held("Pythagoras does not hold", good=False)
    return _held("the right side is the left one plus the distance between w now and then, exactly in runs")


def _adds_up() -> Finding:
    rounds = (Ge * E - 1) + (Ge - 1)
    return _held(
        "identity of rational functions",
        identical(rounds * (Ge * E - 1) + rounds * E**2 * (Ge - 1), (Ge * E + Ge - 2) * liu2026.longest),
    )


def _statement() -> Finding:
    e, g = E.to_sympy(), Ge.to_sympy()
    difference = (g * e + g - 2) * (g * e - 1 + e**2 * (g - 1)) - (g * e - 1) ** 2
    return _held(
        "with E and G written as 1 plus something, the difference has no negative coefficient",
        nonnegative(difference, (e, g)),
    )


def _ratio() -> Finding:
    first = beta_lr / (t + alpha)
    last = beta_lr / (t + Ge * E - 1 + alpha)
    good = identical(first / last, 1 + (Ge * E - 1) / (t + alpha))
    bernoulli = all(edge + 1 <= 2**edge for edge in range(1, 64))  # and 2**G doubles while G + 1 grows by 1
    return _held("identity; alpha >= E makes it G + 1 - 1/E at most, and G + 1 <= 2^G by induction", good and bernoulli)


def _halves() -> Finding:
    now, later = beta_lr / (t + alpha), beta_lr / (t + E + alpha)
    return _held(
        "identity, and the right side is positive for alpha >= E",
        identical(2 * later - now, beta_lr * (t + alpha - E) / ((t + E + alpha) * (t + alpha))),
    )


# ---------------------------------------------------------------- Lemma 4, Corollary 2
def _lemma_4() -> Finding:
    p, sizes = (Q(1, 10), Q(2, 5), Q(1, 5), Q(3, 10)), (Q(1), Q(2), Q(1, 2), Q(3))
    outcomes = itertools.product((-1, 1), repeat=4)
    moment = sum(mean(p, tuple(s * a for s, a in zip(signs, sizes, strict=True))) ** 2 for signs in outcomes) / Q(16)
    return _held(
        "all 16 outcomes of four independent signs with deviations 1, 2, 1/2, 3: equality",
        moment == sum((share * size) ** 2 for share, size in zip(p, sizes, strict=True)),
    )


def _corollary_2() -> Finding:
    terms = liu2026.STEP_TERMS
    whole: dict[str, int | Q] = {"E": 3, "H": Q(2, 7)}
    good = all(
        exact(terms["drift"], {**whole, "Ge": edge}) == 2 * exact(liu2026.DRIFT, {**whole, "Ge": edge, "eta": 1})
        for edge in range(1, 40)
    )
    return _held("2^(2G+1) = 2 * 4^G for G up to 39, exactly", good)


def _fedavg() -> Finding:
    return _held("identity in E and H", identical(liu2026.STEP_TERMS["drift"].subs({Ge: 1}), 8 * (E - 1) ** 2 * H**2))


# ---------------------------------------------------------------- Theorem 1
def _bracket(sign: int) -> Finding:
    import sympy as sp

    b, x, gain = sp.symbols("b x X", positive=True)  # beta mu, t + alpha, beta^2 X
    bracket = gain / (b + sign) * (x / (x + 1) - b) + gain
    if sign > 0:
        positive = sp.cancel(bracket - gain * (2 * x + 1) / ((b + 1) * (x + 1))) == 0
        return Finding(
            verdict="fails" if positive else "cannot tell",
            evidence="the bracket is beta^2 X (2x + 1)/((beta mu + 1)(x + 1)), positive everywhere",
            witness={"beta mu": 2, "x": 8, "beta^2 X": 1, "bracket": float(bracket.subs({b: 2, x: 8, gain: 1}))},
        )
    negative = sp.cancel(bracket + gain / ((b - 1) * (x + 1))) == 0
    falls = sp.cancel((x / (x + 1) - b) - (-(b - 1) - 1 / (x + 1))) == 0  # a larger Z makes it smaller still
    return _held("the bracket is -beta^2 X/((beta mu - 1)(x + 1)), and falls as Z grows", negative and falls)


# ---------------------------------------------------------------- this project's drift lemma
def _adjoint() -> Finding:
    for weights, p in _coverages():
        columns = _columns(weights, p)
        for i, j in itertools.combinations(range(len(p)), 2):
            if p[i] * columns[j][i] != p[j] * columns[i][j]:
                return _held("W is not self-adjoint", good=False)
        loads = [sum(a * b for a, b in zip(p, column, strict=True)) for column in zip(*weights, strict=True)]
        for x in itertools.islice(itertools.product((-1, 0, 2), repeat=len(p)), 1, 40, 13):
            through = [
                sum(share * a * b for share, a, b in zip(p, column, x, strict=True))
                for column in zip(*weights, strict=True)
            ]
            form = mean(p, tuple(Q(a) * b for a, b in zip(x, edge_round(weights, p, tuple(map(Q, x))), strict=True)))
            if form != sum(a**2 / load for a, load in zip(through, loads, strict=True)):
                return _held("the form is no sum of squares", good=False)
    return _held(f"{EVERY}: p_i W_ij = p_j W_ji, and <x, W x>_p is a sum of squares over the servers")


def _window(local: int, edge: int, upto: int) -> list[int]:
    """How many steps of a cloud round have passed through 0, 1, 2, ... edge rounds when ``upto`` are done."""
    counts = [0] * edge
    for step in range(upto):
        counts[upto // local - step // local] += 1
    return counts


def _weights_of_steps() -> Finding:
    def holds(E: int, G: int, t: int) -> bool:
        if t >= G * E:
            return True
        most = [E - 1] + [E] * (G - 1)
        found = _window(E, G, t)
        return all(a <= b for a, b in zip(found, most, strict=True)) and (t < G * E - 1 or found == most)

    return _on_grid(
        "all E, G up to 7: at each step at most E - 1 steps unmixed and E for each power, all of them at the last",
        holds,
        E=[*range(1, 8)],
        G=[*range(1, 8)],
        t=[*range(49)],
    )


def _ends() -> Finding:
    good = all(
        (local - 1) + local * geometric(1, edge - 1) == edge * local - 1
        and (local - 1) + local * geometric(0, edge - 1) == local - 1
        and math.isclose(
            geometric(45 / 57, edge - 1), float(sum(Q(45, 57) ** k for k in range(1, edge))), rel_tol=1e-14
        )
        for local in range(1, 12)
        for edge in range(1, 12)
    )
    return _held("c(1) = G E - 1 and c(0) = E - 1 for E, G up to 11, and c(45/57) against exact sums", good)


def _layout() -> Finding:
    """14 clients alone under each of three servers, 4 under each pair, 3 under all."""
    alone = [tuple(Q(n == server) for n in range(3)) for server in range(3) for _ in range(14)]
    pairs = [tuple(Q(n != server, 2) for n in range(3)) for server in range(3) for _ in range(4)]
    weights = [*alone, *pairs, *[(Q(1, 3),) * 3] * 3]
    p = (Q(1, len(weights)),) * len(weights)
    by_server = [
        [sum(share * row[n] * row[m] for share, row in zip(p, weights, strict=True)) * 3 for m in range(3)]
        for n in range(3)
    ]
    links = sum(1 for row in weights for weight in row if weight)
    same, other = by_server[0][0], by_server[0][1]
    symmetric = all(by_server[n][m] == (same if n == m else other) for n in range(3) for m in range(3))
    good = symmetric and (len(weights), links, same - other) == (57, 75, Q(45, 57))
    return _held("57 clients, 75 links; the servers' matrix has equal entries off its diagonal: 45/57 twice", good)


LINES = (
    Line(
        id="liu2026.lemma1.noise",
        place="Lemma 1, eq. (22)",
        claim=r"$\mathbb E\|\bar v-w^\star\|^2=\mathbb E\|\bar w-w^\star-\eta\bar g\|^2+\eta^2\mathbb E\|g-\bar g\|^2$",
        check=_noise_apart,
    ),
    Line(
        id="liu2026.lemma1.gradient",
        place="Lemma 1, eq. (22)",
        claim=r"$\|\nabla F_i(w)\|^2\le2L(F_i(w)-F_i^\star)$",
        check=_gradient_by_gap,
    ),
    Line(
        id="liu2026.lemma1.young",
        place="Lemma 1, eq. (22)",
        claim=r"$-2\eta\langle\bar w-w_i,g_i\rangle\le\|\bar w-w_i\|^2+\eta^2\|g_i\|^2$",
        check=_young,
    ),
    Line(
        id="liu2026.lemma1.mean",
        place="Lemma 1, eq. (22)",
        claim=r"$\sum_ip_i\|w_i-w^\star\|^2\ge\|\bar w-w^\star\|^2$",
        check=_centred,
    ),
    Line(
        id="liu2026.lemma1.collected",
        place="Lemma 1, eq. (22)",
        claim=r"what is left, $D+4L\eta^2\sum_ip_i(F_i(w_i)-F_i^\star)-2\eta\sum_ip_i(F_i(w_i)-F_i(w^\star))$, "
        r"is at most $2D+6L\eta^2\Gamma$, with the losses at $w_i$ bounded from those at $\bar w$ by convexity",
        check=_collected,
    ),
    Line(
        id="liu2026.lemma1.statement",
        place="Lemma 1, eq. (22)",
        claim="the lemma, on instances",
        check=_lemma_1,
    ),
    Line(
        id="liu2026.lemma2",
        place="Lemma 2, Appendix A",
        claim=r"an edge round keeps the mean, $\bar v^t=\bar w^t$, for every coverage",
        check=_lemma_2,
    ),
    Line(
        id="liu2026.lemma3.centred",
        place="(A.6)",
        claim=r"$\sum_ip_i\|w_i-\bar w\|^2\le\sum_ip_i\|w_i-x\|^2$",
        check=_centred,
    ),
    Line(
        id="liu2026.lemma3.increments",
        place="(A.11)",
        claim=r"$(t-T_0)+\lfloor(t-T_0)/E\rfloor\le GE+G-2$",
        check=_increments,
    ),
    Line(
        id="liu2026.lemma3.exponent",
        place="(A.14), (A.17)",
        claim=r"$\eta_{T_0}^2\le4^{\lceil(t-T_0-1)/E\rceil}\eta_t^2$",
        check=_exponent,
        expected="fails",
        erratum="liu2026.H8",
    ),
    Line(
        id="liu2026.lemma3.exponent-meant",
        place="(A.14), (A.17), with all t - T0 steps",
        claim=r"$\eta_{T_0}^2\le4^{\lceil(t-T_0)/E\rceil}\eta_t^2$",
        check=_exponent_meant,
    ),
    Line(
        id="liu2026.lemma3.closer",
        place="(A.17), first inequality",
        claim=r"$\sum_ip_i\|w_i^{t'}-v_i^{t'}\|^2\le\sum_ip_i\|w_i^{t'-E}-v_i^{t'}\|^2$",
        check=_closer,
        expected="fails",
        erratum="liu2026.H2",
    ),
    Line(
        id="liu2026.lemma3.closer-apart",
        place="(A.17), first inequality, with one server for each client",
        claim=r"$\sum_ip_i\|w_i^{t'}-v_i^{t'}\|^2\le\sum_ip_i\|w_i^{t'-E}-v_i^{t'}\|^2$",
        check=_closer_apart,
    ),
    Line(id="liu2026.lemma3.sum", place="(A.18)", claim="(A.15) and (A.17) add up to (24)", check=_adds_up),
    Line(
        id="liu2026.lemma3.statement",
        place="Lemma 3, eq. (24)",
        claim=r"$(GE-1)^2\le(GE+G-2)[(GE-1)+E^2(G-1)]$, so that the lemma follows from this project's",
        check=_statement,
    ),
    Line(
        id="liu2026.lemma4",
        place="Lemma 4, eq. (25)",
        claim=r"$\mathbb E\|g-\bar g\|^2=\sum_ip_i^2\sigma_i^2$ for independent noise of these variances",
        check=_lemma_4,
    ),
    Line(id="liu2026.cor2", place="Corollary 2, (A.19)", claim="the drift in X is twice Lemma 3's", check=_corollary_2),
    Line(
        id="liu2026.cor2.fedavg",
        place="Corollary 2 with G = 1",
        claim=r"the drift in X is FedAvg's $8(E-1)^2H^2$",
        check=_fedavg,
    ),
    Line(
        id="liu2026.thm1.halves",
        place="Appendix D, second sentence",
        claim=r"$\alpha\ge E$ gives $\eta_t\le2\eta_{t+E}$",
        check=_halves,
    ),
    Line(
        id="liu2026.thm1.plus",
        place="Theorem 1, with (A.22)",
        claim=r"$Z=\beta^2X/(\beta\mu+1)$ keeps $\Delta_t\le Z/(t+\alpha)$",
        check=lambda: _bracket(1),
        expected="fails",
        erratum="liu2026.H1",
    ),
    Line(
        id="liu2026.thm1.minus",
        place="Appendix D, (A.22)",
        claim=r"$Z\ge\beta^2X/(\beta\mu-1)$ keeps $\Delta_t\le Z/(t+\alpha)$",
        check=lambda: _bracket(-1),
    ),
    Line(
        id="hflbounds.hhfl.adjoint",
        place="docs/theory/hhfl-overlap.md, section 2",
        claim=r"W is self-adjoint and positive semidefinite in $\langle\cdot,\cdot\rangle_p$",
        check=_adjoint,
    ),
    Line(
        id="hflbounds.hhfl.weights-of-steps",
        place="docs/theory/hhfl-overlap.md, section 3",
        claim=r"the weights of the steps of a cloud round add up to at most $c(\lambda_2)$",
        check=_weights_of_steps,
    ),
    Line(
        id="hflbounds.hhfl.ends",
        place="docs/theory/hhfl-overlap.md, section 3",
        claim=r"$c(1)=GE-1$, $c(0)=E-1$, and the sum in between is the geometric one",
        check=_ends,
    ),
    Line(
        id="hflbounds.hhfl.ratio",
        place="docs/theory/hhfl-overlap.md, section 3",
        claim=r"$\eta_{T_0}/\eta_t\le1+(GE-1)/\alpha\le2^G$ within a cloud round",
        check=_ratio,
    ),
    Line(
        id="hflbounds.hhfl.layout",
        place="liu2026, Section V-A, and docs/theory/hhfl-overlap.md, section 6",
        claim=r"57 clients, 15 of them under several of three servers: $\lambda_2=45/57$",
        check=_layout,
    ),
)
