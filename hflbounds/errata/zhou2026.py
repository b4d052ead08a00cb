"""Unified analyses, camera ready: what the proofs, the tables and the prose print otherwise than they support.

The letters A, B and C stand for statements, lines of proofs, and claims of the text. Errata that one bound
carries alone (A1-A5, B1, B6, B7) are declared beside it in `hflbounds.catalog.zhou2026`. Every number of a
demonstration is computed, from the catalogue's bounds or on an instance small enough to be counted out.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from math import sqrt as root
from typing import Any, Literal

from hflbounds.core.bound import Erratum, Evidence
from hflbounds.core.expression import cbrt, choice, sqrt
from hflbounds.core.quantities import S1, S2, A, E_r, G, K, L, M, P, R, delta, eta, eta_eff, grad, sigma, zeta
from hflbounds.registry import get

DEFAULT: dict[str, Any] = {
    **{"G": 10, "M": 10, "P": 1, "K": 2, "R": 5000},
    **{"L": 1, "A": 2.3, "sigma": 1, "zeta": 0.5, "delta": 0.5},
}
NUMBERS = "G = M = 10, P = 1, K = 2, R = 5000, L = 1, A = 2.3, sigma = 1, zeta = delta = 0.5"


def _of(*names: str, **others: float) -> dict[str, float]:
    """The default numbers of some quantities, and others."""
    return {name: DEFAULT[name] for name in names} | others


def _tuned(name: str, **changed: Any) -> float:
    """A bound at its best step wherever that is, at the default numbers but for those given."""
    return float(get(f"zhou2026.{name}").tuned(cap="none", **(DEFAULT | changed)).value)


def _evidence(
    instance: str, printed: float | Fraction, found: float | Fraction, relation: Literal["<=", "=="] = "<="
) -> Evidence:
    return Evidence(instance, float(printed), float(found), relation)


def _steps(counts: Iterable[int]) -> int:
    """How often the innermost line of nested loops runs, so the length of a sum of ones."""
    return sum(1 for _ in product(*map(range, counts)))


# ---------------------------------------------------------------- A: statements
def _a7() -> Evidence:
    """Gradient descent on 15 x^2, to which all four algorithms come down without noise and heterogeneity."""
    steep, step, rounds, x = 30, Fraction(1, 10), 20, Fraction(1)
    start, squares = steep * x**2 / 2, Fraction(0)
    for _ in range(rounds):
        squares += (steep * x) ** 2 / rounds
        x -= step * steep * x
    known = {**DEFAULT, "R": rounds, "A": float(start), "sigma": 0, "zeta": 0, "delta": 0, "eta_eff": 0.1}
    printed = get("zhou2026.thm1.ring-ring")(**known)
    return _evidence("F(x) = 15 x^2 and L = 1, which Assumptions 2-4 allow, x = 1, 20 rounds", printed, float(squares))


NOISE_SHARE = L * eta_eff
A_ENTRIES = (
    Erratum(
        id="zhou2026.A6",
        place="Theorem 2, eqs. (8)-(13), the first-order terms in zeta and delta",
        printed=NOISE_SHARE * zeta**2 / S2 + NOISE_SHARE * delta**2 / S1,
        proved=NOISE_SHARE * zeta**2 / S2 * choice(M <= 1, 0, (M - S2) / (M - 1))
        + NOISE_SHARE * delta**2 / S1 * choice(G <= 1, 0, (G - S1) / (G - 1)),
        because="a draw without replacement has these factors, so that with everybody sampled the terms vanish and "
        "random order, Appendix E, remains; where groups draw their clients independently, zeta^2/(S1 S2) is enough",
        effect="valid but loose: with everybody sampled, 0.01048 in place of 0.00443 for Ring-Ring at the default "
        "numbers; the share of the terms that differ shrinks, and the sign with which zeta enters the choice between "
        "Star-Ring and Ring-Star is the opposite of Theorem 1's",
        gravity="loose",
        witness=_of("G", "M", "L", "zeta", "delta", S1=10, S2=10, eta_eff=0.04),
        concerns=("zhou2026.thm2", "zhou2026.thm2-proof", "zhou2026.cor2"),
    ),
    Erratum(
        id="zhou2026.A7",
        place="Theorems 1 and 2, 'Under Assumptions 2-4'; F.1, Lemma 2, 'Let Assumptions 1, 2 hold'",
        printed="Assumptions 2-4 for the theorems; Assumptions 1 and 2 for Lemma 2, whose right-hand side has "
        r"$\zeta^2$ and $\delta^2$",
        proved="Assumptions 1-4 for the theorems and for Lemma 2, and noise that is independent between clients",
        because="L is the constant of Assumption 1, zeta and delta are those of Assumptions 4 and 3; and the variance "
        r"$\sigma^2/(GPMK)$ of an average needs noise without correlation, which no assumption states",
        effect="none on values",
        gravity="note",
        demonstrate=_a7,
        concerns=("zhou2026.lemma2", "zhou2026.thm1", "zhou2026.thm2"),
    ),
    Erratum(
        id="zhou2026.A8",
        place="Table 1, footnote 2",
        printed=sqrt(L) * sigma / sqrt(M * K * R),
        proved=sqrt(L) * sigma / sqrt(G * K * R),
        because="with P = M = 1 the rate of Star-Star has G in this place; the M of the footnote is FedAvg's number "
        "of clients, which is G there, while the same sentence sets M = 1",
        effect=r"none on the rate; whoever inserts M = 1 loses $\sqrt G$",
        witness={"L": 1, "sigma": 1, "G": 100, "M": 1, "K": 2, "R": 5000},
        concerns=("zhou2026.cor1.star-star",),
    ),
)


# ---------------------------------------------------------------- B: lines of proofs
def _b4() -> Evidence:
    """Two local steps of one client: the inner product of the gradient and the update, and its printed form."""
    x, step, count, c0 = Fraction(1), Fraction(1, 4), 2, 1
    iterates = [x]
    for _ in range(count):
        iterates.append(iterates[-1] - step * iterates[-1])
    differences = sum((seen - x for seen in iterates[:count]), Fraction(0))
    printed = -step * c0 * count * x**2 + step * c0 * count * x * c0 * differences
    return _evidence(
        "Ring-Ring, F(x) = x^2/2, G = M = P = 1, K = 2, eta = 1/4, x = 1", printed, x * (iterates[-1] - x), "=="
    )


def _b8() -> Evidence:
    p, s2, k, K, S2 = 1, 2, 1, 2, 3
    printed = _steps((k,)) + 2 * Fraction(_steps((p, S2, K)), S2)
    found = _steps((k,)) + _steps((s2 - 1, K)) + _steps((p, S2, K))
    return _evidence("constant gradients, S2 = 3, K = 2, p = 1, s2 = 2, k = 1, in local steps", printed, found, "==")


def _b9() -> Evidence:
    P, S2, K = 2, 3, 2
    printed = _steps((1, K)) + _steps((1, P, S2, K))
    return _evidence("F.5 at the first iterate of a round, P = 2, S2 = 3, K = 2, in local steps", printed, 0, "==")


def _b10() -> Evidence:
    S1, P, S2, K = 1, 1, 3, 2
    cells = product(range(1, S1 + 1), range(P), range(1, S2 + 1), range(K))
    found = sum(15 * (K**2 + p**2 * K**2 + s1**2 * p**2 * K**2) * s2**2 for s1, p, s2, _ in cells)
    printed = 45 * S1**2 * P**3 * S2 * K**3
    return _evidence("the display summed, and the line that sums it; S1 = P = 1, S2 = 3, K = 2", printed, found)


def _b11() -> Evidence:
    s2, K = 22, 1
    return _evidence(
        "equal clients with a constant gradient of norm 1, eta = 1, p = k = 0, K = 1, s1 = 1, s2 = 22",
        20 * (s2 - 1) * K**2,
        _steps((s2 - 1, K)) ** 2,
    )


def _b12() -> Evidence:
    G, P, M, K = 2, 1, 1, 1
    found = printed = 0
    for g, p, m, k in product(range(1, G + 1), range(P), range(1, M + 1), range(K)):
        earlier = _steps((g - 1, P, M, K))
        found += (k + _steps((m - 1, K)) + _steps((p, M, K)) + earlier) ** 2
        printed += 20 * (k * k + m * K * _steps((m - 1, K)) + p * M * K * _steps((p, M, K)) + p * M * K * earlier)
    return _evidence("a constant gradient of norm 1, eta = 1, G = 2, P = M = K = 1: the drift", printed, found)


def _b13() -> Evidence:
    p, m, K = 0, 2, 2
    return _evidence(
        "D.3, a constant gradient of norm 1, eta = 1, p = k = 0, m = 2, K = 2",
        15 * m * K * _steps((p, m - 1, K)),
        5 * _steps((m - 1, K)) ** 2,
    )


def _b14() -> Evidence:
    M, P, K = 2, 2, 1  # clients v = +1, -1 in one group, so that every squared gap is 1
    kept = dropped = 0
    for p, m, k in product(range(P), range(1, M + 1), range(K)):
        kept += 15 * (k * k + m * K * _steps((m - 1, K)))
        dropped += 15 * p * M * K * _steps((p, M, K))
    return _evidence("D.3, one group of clients v = +1, -1, P = 2, K = 1, eta = 1, summed", kept, kept + dropped)


def _b15() -> Evidence:
    fixed, shuffled = (get(f"zhou2026.{name}.star-ring").split(**DEFAULT) for name in ("cor1", "shuffle-rate"))
    return _evidence(
        "Star-Ring, second-order noise term, a factor M inside the cube root",
        fixed["noise_drift"] / DEFAULT["M"] ** (1 / 3),
        shuffled["noise_drift"],
        "==",
    )


def _b16() -> Evidence:
    size, band, groups, rounds = 8e8, 1e9, 10, 5000
    found = 2 * size / (band / groups)
    return _evidence(
        "8e8 bits, a server of 1e9 bit/s shared by G = 10 links, R = 5000 rounds",
        2 * size * groups / rounds,
        found,
        "==",
    )


def _b18() -> Evidence:
    k, zeta2, delta2 = 3, 0, 1
    return _evidence(
        "groups F = +x, -x of equal clients, eta = 1, k = 3", 15 * k**2 * zeta2, _steps((k,)) ** 2 * delta2
    )


def _b20() -> Evidence:
    p, s2, S2, K = 1, 1, 6, 1
    printed = 15 * (s2**2 + p**2 * s2**2) * K**2
    return _evidence(
        "groups F = +x, -x of equal clients, eta = 1, p = 1, s2 = 1, k = 0, S2 = 6, K = 1", printed, (p * S2 * K) ** 2
    )


def _b21() -> Evidence:
    step, p, K, x = Fraction(1, 2), 1, 8, Fraction(1)
    moved: Fraction = x * (1 + step) ** (p * K) - x
    printed = 10 * step**2 * p**2 * K**2 * x**2
    return _evidence("F.2, F(x) = -x^2/2, eta = 1/2, K = 8, p = 1, k = 0, x = 1", printed, moved**2)


def _b22() -> Evidence:
    p, K, clients = 1, 1, (1, -1)
    S2 = len(clients)
    literal = sum(Fraction(_steps((p, S2, K)) * v, S2) ** 2 for v in clients) / S2
    printed = Fraction(p**2 * K**2, S2)
    return _evidence("one group of clients v = +1, -1, S2 = 2, K = 1, p = 1: the intra-group term", printed, literal)


def _b23() -> Evidence:
    k = 3
    return _evidence(
        "F(x) = x with noise of variance 1, eta = 1, k = 3: the first group of terms, then the second", 0, 20 * k
    )


def _b24() -> Evidence:
    return _evidence("F(x) = x, eta = 1/100, after one local step: the displacement", 1, -Fraction(1, 100), "==")


def _b25() -> Evidence:
    """The first group has F = x^2/2, the second F = 0; what the second inherits is the drift of the first."""
    step, x, K = Fraction(1, 4), Fraction(1), 2
    seen = [x * (1 - step) ** k for k in range(K)]
    inherited = 5 * step**2 * sum(y - x for y in seen) ** 2
    return _evidence(
        "D.4, M = P = 1, K = 2, eta = 1/4, x = 1, F_1 = x^2/2 and F_2 = 0, at the start of g = 2", 0, inherited
    )


def _b28() -> Evidence:
    s1, P, S2, K = 22, 1, 1, 1
    return _evidence(
        "equal groups of clients v = +1, -1, one common draw, eta = 1, S2 = P = K = 1, s1 = 22, k = 0",
        20 * (s1 - 1) * P**2 * S2 * K**2,
        _steps((s1 - 1, P, S2, K)) ** 2,
    )


C1_RING = 1 / (1 - 20 * (L * eta * G * P * M * K) ** 2)
B_ENTRIES = (
    Erratum(
        id="zhou2026.B2",
        place="D.5 and E.4, the recursion before 'Let c2 = ...', second-order noise term",
        printed=40 * C1_RING * eta**3 * L**2 * G * P**2 * M**2 * K**2 * sigma**2,
        proved=40 * C1_RING * eta**3 * L**2 * G**2 * P**2 * M**2 * K**2 * sigma**2,
        because="half of L^2 eta times the drift's noise term has G^2, and so has the line after it, multiplied back",
        effect="a factor G on one term of that line only; coded from that line, it can change the order of Ring-Star "
        "and Ring-Ring",
        witness=_of("G", "M", "P", "K", "L", "sigma", eta=0.0002),
        concerns=(
            *("zhou2026.thm1-proof.ring-ring", "zhou2026.shuffle-proof.ring-ring"),
            *("zhou2026.recursion.ring-ring", "zhou2026.recursion-shuffle.ring-ring"),
        ),
    ),
    Erratum(
        id="zhou2026.B3",
        place="D.3 and E.2, the second bound on E_r, last gradient term",
        printed=15 * eta**2 * P**2 * M**2 * K**2 * grad**2,
        proved=15 * eta**2 * G * P**3 * M**3 * K**3 * grad**2,
        because="the display above it sums (p M K)^2 over g, p, m and k; the line after it has 45 G P^3 M^3 K^3",
        effect="on that line only",
        gravity="step",
        witness=_of("G", "M", "K", P=3, eta=0.001, grad=1),
        concerns=("zhou2026.drift.star-ring", "zhou2026.drift-shuffle.star-ring"),
    ),
    Erratum(
        id="zhou2026.B4",
        place="D.1, the inner product with the update, from its last equality on; F.1 likewise",
        printed=r"$-\eta c_0 GMPK\,\|\nabla F\|^2 + \eta c_0 GMPK\langle\nabla F, c_0\sum(\nabla F_{g,m}(x_{g,p,m,k}) "
        r"- \nabla F_{g,m}(x))\rangle$, then $\tfrac12\eta c_0 GMPK\,\|c_0\sum(\cdot)\|^2$",
        proved=r"$-\eta c_0 GMPK\,\|\nabla F\|^2 - \eta c_0 GMPK\langle\nabla F, \tfrac1{GPMK}\sum(\nabla F_{g,m}"
        r"(x_{g,p,m,k}) - \nabla F_{g,m}(x))\rangle$, then $\tfrac12\eta c_0 GMPK\,\|\tfrac1{GPMK}\sum(\cdot)\|^2$",
        because="the sum carries the sign of the update, and its front factor leaves 1/(GPMK), not c0",
        effect="none: the last line, and Lemma 1, follow from the supported form",
        gravity="step",
        demonstrate=_b4,
        concerns=("zhou2026.lemma1", "zhou2026.lemma2"),
    ),
    Erratum(
        id="zhou2026.B5",
        place="F.1, the squared update, second line; D.1, the line that defines the update",
        printed=Fraction(5, 2) * L * grad**2,
        proved=Fraction(5, 2) * L * eta**2 * grad**2,
        because="the line has no eta^2, unlike those around it, and so another dimension. Besides, the third line "
        "subtracts a gradient from itself and the fourth has the whole gap of a client to the average, where the "
        "bounds after them take the gap to the group and that of the group; and D.1 writes R for r",
        effect="none: the display after it is right",
        witness={"L": 1, "eta": 0.01, "grad": 1},
        concerns=("zhou2026.lemma1", "zhou2026.lemma2"),
        artefact=True,
    ),
    Erratum(
        id="zhou2026.B8",
        place="F.3, the first display",
        printed=r"$\sum_{k'<k} + \sum_{p'<p}\frac1{S_2}\sum_{s_2}\sum_{k'} + \sum_{p'<p}\frac1{S_2}\sum_{s_2}"
        r"\sum_{k'}$ of the gradients",
        proved=r"$\sum_{k'<k} + \sum_{s_2'<s_2}\sum_{k'} + \sum_{p'<p}\sum_{s_2'}\sum_{k'}$ of the gradients",
        because="clients of a ring start where the one before stopped, so nothing is averaged; one sum stands twice",
        effect="none: the displays after it have the sums of a ring",
        demonstrate=_b8,
        concerns=("zhou2026.drift-partial.star-ring",),
    ),
    Erratum(
        id="zhou2026.B9",
        place="F.3-F.5, sums over earlier clients and groups",
        printed=r"$\sum_{s_2'=1}^{s_2}$, $\sum_{s_1'=1}^{s_1}$; in F.4 also $\sum_{k'=0}^{k-1}$ for earlier groups, in "
        r"F.3 once $\sum_{s_2=1}^{S_2}$ for earlier clients",
        proved=r"$\sum_{s_2'=1}^{s_2-1}$, $\sum_{s_1'=1}^{s_1-1}$, $\sum_{k'=0}^{K-1}$",
        because="a client that has not yet stepped adds nothing, and earlier groups have finished all their steps",
        effect="at most a factor 2 on a line; none on the sums after it",
        demonstrate=_b9,
        concerns=(
            "zhou2026.drift-partial.star-ring",
            "zhou2026.drift-partial.ring-star",
            "zhou2026.drift-partial.ring-ring",
        ),
    ),
    Erratum(
        id="zhou2026.B10",
        place="F.4, the last lines of the bound on one iterate",
        printed=r"$15\eta^2K^2\delta^2(s_2^2 + p^2s_2^2 + s_1^2p^2s_2^2)$; $\tfrac1{s_2}$ and $s_1^2p^2$ with "
        r"$\zeta^2$; $s_1^2p^2$ with $\|\nabla F\|^2$",
        proved=r"$15\eta^2\delta^2(k^2 + p^2K^2 + (s_1-1)P^2K^2)$; $\tfrac1{S_2}$ and $(s_1-1)^2P^2$ with $\zeta^2$; "
        r"$(s_1-1)^2P^2$ with $\|\nabla F\|^2$",
        because="clients of a star do not wait for each other, and an earlier group has done P rounds; the printed "
        "terms also sum to more than the line that sums them",
        effect="none: the sum is right for the supported form",
        gravity="step",
        demonstrate=_b10,
        concerns=("zhou2026.drift-partial.ring-star",),
    ),
    Erratum(
        id="zhou2026.B11",
        place="F.5, the last lines of the bound on one iterate, and the first bound on E_r",
        printed=r"$20\eta^2(s_2-1)K^2\delta^2$; $20\eta^2(s_2-1)K^2\|\nabla F\|^2$; "
        r"$20\tilde\eta^2(s_1-1)P^2S_2^2K^2\|\nabla F\|^2$; $20\eta^2L^2p\sum$; $c_1$ beside the recursive term",
        proved=r"$20\eta^2(s_2-1)^2K^2\delta^2$; $20\eta^2(s_2-1)^2K^2\|\nabla F\|^2$; "
        r"$20\eta^2(s_1-1)^2P^2S_2^2K^2\|\nabla F\|^2$; $20\eta^2L^2pS_2K\sum$; $c_1$ in place of it",
        because="what points in one direction adds up; a group's own clients share their group's gap",
        effect="none: the sums after it have the powers of the supported form",
        gravity="step",
        demonstrate=_b11,
        concerns=("zhou2026.drift-partial.ring-ring",),
    ),
    Erratum(
        id="zhou2026.B12",
        place="E.4, the bound on E_r before its terms are summed",
        printed=r"$mk\sum_{k'}$, $K\sum_{m'}$ and $gPMK\sum_{g'}$ of $\delta$'s gaps; $pMK\sum_{g'}\|\nabla F\|^2$",
        proved=r"$k\sum_{k'}$, $mK\sum_{m'}$ and $PMK\sum_{g'}$ of $\delta$'s gaps; $gPMK\sum_{g'}\|\nabla F\|^2$",
        because="the bounds of the single terms above it have these factors, and so do the sums below; a p in front "
        "makes the last term vanish for P = 1",
        effect="none: the sums below are right",
        gravity="step",
        demonstrate=_b12,
        concerns=("zhou2026.drift-shuffle.ring-ring",),
    ),
    Erratum(
        id="zhou2026.B13",
        place="D.3, D.5 and E.4, the bounds of the fourth and fifth term; D.5, the bound on E_r",
        printed=r"$mK\sum_{p'<p}\sum_{m'<m}\sum_{k'}\|\nabla F\|^2$; $pMK\sum\|\nabla F_{g'}-\nabla F\|^2$ with no "
        r"$g'$ in the sum; $gpMK\sum_{g'}\|\nabla F\|^2$",
        proved=r"$mK\sum_{m'<m}\sum_{k'}\|\nabla F\|^2$; $pMK\sum\|\nabla F_g-\nabla F\|^2$; "
        r"$gPMK\sum_{g'}\|\nabla F\|^2$",
        because="the second part of the fifth term has no sum over p, and in the first group round an empty one "
        "bounds nothing",
        effect="none: the sums after them are right",
        gravity="step",
        demonstrate=_b13,
        concerns=("zhou2026.drift.star-ring", "zhou2026.drift.ring-ring", "zhou2026.drift-shuffle.ring-ring"),
        artefact=True,
    ),
    Erratum(
        id="zhou2026.B14",
        place="D.3-D.5, E.2-E.4, the third term, and the bound on E_r",
        printed=r"a bound of the third term with $pMK\sum_{p'}\sum_{m'}\|\nabla F_{g,m'}-\nabla F_g\|^2$, or its like "
        "for a star and for earlier groups, then a bound on E_r without it",
        proved="the third term has no such part, because the gaps of all clients of a group add up to zero",
        because="D.2 says that full cycles vanish, the later sections do not; once they do, the split has one or two "
        "parts fewer, and 10, 5 and 10 in place of 15, 15 and 20 would do for this term",
        effect="none: the bound on E_r holds, and could be smaller",
        gravity="step",
        demonstrate=_b14,
        concerns=("zhou2026.drift", "zhou2026.drift-shuffle"),
    ),
    Erratum(
        id="zhou2026.B15",
        place="Appendix E, introduction",
        printed="additional factors G and M in the denominators of the heterogeneity and variance terms; a strictly "
        "tighter bound",
        proved="additional factors in the heterogeneity terms of the rings only; the variance terms are those of fixed "
        "order, and Star-Star is unchanged",
        because="E.1-E.4 end with the noise terms of D.2-D.5; the one row of Table 5 that differs is the misprint A3",
        effect="none on the bounds",
        gravity="claim",
        demonstrate=_b15,
        concerns=("zhou2026.shuffle", "zhou2026.shuffle-rate"),
    ),
    Erratum(
        id="zhou2026.B16",
        place="Appendix A.2, the time of Star-Star under shared bandwidth",
        printed=r"$2SG/R$, with rates $r_{m-1\to m,g}\sim R_g/M$",
        proved=r"$2SG/B$ with $B$ the server's total bandwidth, and rates of the links of a star",
        because="R counts the global rounds in the same formula, so that the term is a number of bits and not a time; "
        "and links from one client to the next belong to a ring",
        effect="on the time of a round, by the ratio of a bandwidth to a number of rounds, if R is inserted",
        demonstrate=_b16,
    ),
    Erratum(
        id="zhou2026.B17",
        place="F.4, the first bound on E_r; F.5, the same in the bound with c1",
        printed=45 * eta**2 * S1**2 * P**2 * K**2 * E_r,
        proved=45 * L**2 * eta**2 * S1**2 * P**2 * K**2 * E_r,
        because="the smoothness that makes this term of the second part of the split carries L^2; c1 in F.4 has it",
        effect="none in F.4; in F.5 the constant after it lacks L^2 too (B7)",
        witness={"L": 2, "eta": 0.001, "S1": 5, "P": 1, "K": 2, "E_r": 1},
        concerns=("zhou2026.drift-partial.ring-star", "zhou2026.drift-partial.ring-ring"),
        artefact=True,
    ),
    Erratum(
        id="zhou2026.B18",
        place="F.3, the bound on one iterate, first inter-group term",
        printed=r"$15\eta^2k^2\zeta_2^2$",
        proved=r"$15\eta^2k^2\delta^2$",
        because=r"it bounds the squared sum of $\nabla F_{\pi_1(s_1)}-\nabla F$ over k steps; no $\zeta_2$ is defined",
        effect="none: the sum after it has delta^2",
        demonstrate=_b18,
        concerns=("zhou2026.drift-partial.star-ring",),
        artefact=True,
    ),
    Erratum(
        id="zhou2026.B19",
        place="F.3, between the constants c1 and c2",
        printed=r"no recursion for $F(x^{(r+1)})-F(x^{(r)})$, and an average $\frac1R\sum_{k=0}^{R-1}$",
        proved=r"$-\eta PS_2K(\tfrac12-\tfrac52\eta LPS_2K-45c_1\eta^2L^2P^2S_2^2K^2)\|\nabla F\|^2 + \dots$, as F.2, "
        r"F.4 and F.5 have it, and $\frac1R\sum_{r=0}^{R-1}$",
        because="c2 is the inverse of the bracket of that line",
        effect="none: the average after it is what the line gives",
        gravity="note",
        concerns=("zhou2026.thm2-proof.star-ring",),
        artefact=True,
    ),
    Erratum(
        id="zhou2026.B20",
        place="F.3, the bound on one iterate, terms of earlier group rounds",
        printed=r"$15\eta^2L^2ps_2K\sum$ and $15\eta^2p^2s_2^2K^2\delta^2$",
        proved=r"$15\eta^2L^2pS_2K\sum$ and $15\eta^2p^2S_2^2K^2\delta^2$",
        because="in an earlier group round all S2 clients have stepped; the gradient term beside them has S2",
        effect="none: the sum after it is right for S2",
        gravity="step",
        demonstrate=_b20,
        concerns=("zhou2026.drift-partial.star-ring",),
        artefact=True,
    ),
    Erratum(
        id="zhou2026.B21",
        place="F.2 and F.3, the bound on one iterate, drift of earlier rounds and clients",
        printed=r"$\sum_{p'<p}\frac1{S_2}\sum_{s_2'}\sum_{k'=0}^{k-1}$; $\sum_{s_2'}\sum_{k'=0}^{k-1}$",
        proved=r"$\sum_{p'<p}\frac1{S_2}\sum_{s_2'}\sum_{k'=0}^{K-1}$; $\sum_{s_2'}\sum_{k'=0}^{K-1}$",
        because="what was done earlier was done to the end; at k = 0 the printed sums are empty",
        effect="none: the sum after it counts all K steps",
        gravity="step",
        demonstrate=_b21,
        concerns=("zhou2026.drift-partial.star-star", "zhou2026.drift-partial.star-ring"),
        artefact=True,
    ),
    Erratum(
        id="zhou2026.B22",
        place=r"F.2, the split, terms with $\sum_{s_2'}$; F.5, subtracted gradients of the second group",
        printed=r"$\frac1{S_2}\sum_{s_2'}(\nabla F_{\pi_1(s_1),\pi_2(s_2)}-\nabla F_{\pi_1(s_1)})$",
        proved=r"$\frac1{S_2}\sum_{s_2'}(\nabla F_{\pi_1(s_1),\pi_2(s_2')}-\nabla F_{\pi_1(s_1)})$",
        because=r"an average over $s_2'$ of a term without $s_2'$ is that term, whose square is not reduced by S2",
        effect="none: the bound after it, with 1/S2, is that of the supported form",
        demonstrate=_b22,
        concerns=("zhou2026.drift-partial.star-star", "zhou2026.drift-partial.ring-ring"),
        artefact=True,
    ),
    Erratum(
        id="zhou2026.B23",
        place="F.5, the split of one iterate",
        printed=r"$\le$ before each of the second to fifth group of four terms; the last noise term stands twice",
        proved="a sum of all five groups, each term once",
        because="a group of terms without noise does not bound the noise",
        effect="none: the bound after it is that of the sum",
        demonstrate=_b23,
        concerns=("zhou2026.drift-partial.ring-ring",),
        artefact=True,
    ),
    Erratum(
        id="zhou2026.B24",
        place="D.2-D.5 and E.1-E.4, the first display",
        printed=r"$x_{g,p,m,k}-x = \sum g_{g,p',m',k'}$",
        proved=r"$x_{g,p,m,k}-x = -\eta\sum g_{g,p',m',k'}$",
        because="a displacement is not a gradient; the next display has eta^2, and F.2-F.5 have the factor",
        effect="none",
        demonstrate=_b24,
        concerns=("zhou2026.drift", "zhou2026.drift-shuffle"),
    ),
    Erratum(
        id="zhou2026.B25",
        place="D.4, D.5 and E.3, bounds of the terms of earlier groups; D.3, D.5, E.2 and E.4, of earlier clients",
        printed=r"$\sum_{g'<g}\|\nabla F_{g,m'}(x_{g,p',m',k'})-\nabla F_{g,m'}(x)\|^2$; $x_{g,p',m',k'}$ with no "
        r"$p'$ in the sum; $\sum_{m=1}^M\sum_{k=0}^{K-1}$ of terms in $m'$ and $k'$",
        proved=r"$\sum_{g'<g}\|\nabla F_{g',m'}(x_{g',p',m',k'})-\nabla F_{g',m'}(x)\|^2$; $x_{g,p,m',k'}$; "
        r"$\sum_{m'=1}^M\sum_{k'=0}^{K-1}$",
        because="what a group inherits is the drift of the groups before it, not its own; the introduction of "
        "Appendix E has the gaps of clients, too, where it sums over groups",
        effect="none: the sums after them are over all groups and clients",
        demonstrate=_b25,
        concerns=("zhou2026.drift", "zhou2026.drift-shuffle"),
        artefact=True,
    ),
    Erratum(
        id="zhou2026.B26",
        place="Theorem 2, Star-Ring, against F.3",
        printed=eta_eff <= 1 / (15 * L),
        proved=eta_eff <= 1 / (45 * L),
        because="the proof ends with 1/(45 L); its constant is 12 at the printed cap and 2.4 at its own: both stand",
        effect="a factor 3 on the largest step; it can change the order of topologies where the cap binds",
        witness={"L": 1, "eta_eff": 1 / 30},
        concerns=("zhou2026.thm2.star-ring",),
    ),
    Erratum(
        id="zhou2026.B27",
        place="Theorem 2, Star-Star; F.2, the line that bounds eta_eff",
        printed=eta_eff <= 1 / (10 * L),
        proved=eta_eff < 1 / (10 * L),
        because="c2 = 1/(1/2 - 5 v/2 - 20 c1 v^2), v = L eta_eff, is infinite at v = 1/10, so the proof has no "
        "constant there, as in Theorem 1 (A2); those of the other three are 12, 12 and 8 at the printed caps",
        effect="none on values inside the cap",
        gravity="step",
        witness={"L": 1, "eta_eff": 0.1},
        concerns=("zhou2026.thm2.star-star",),
    ),
    Erratum(
        id="zhou2026.B28",
        place="F.5, the bound on one iterate, intra-group terms",
        printed=r"$20\eta^2\zeta^2(\dots + (s_1-1)P^2S_2K^2)$, summed to $S_1^3P^3S_2^2K^3\zeta^2$",
        proved=r"$(s_1-1)^2P^2S_2K^2$ for one draw of clients common to all groups, with the printed sum; or "
        r"$(s_1-1)P^2S_2K^2$ for independent draws, with the sum $S_1^2P^3S_2^2K^3\zeta^2$",
        because="Appendix F draws one permutation of clients for all groups, and then the gaps of equal groups add up",
        effect="none for a common draw; for independent ones the term could be divided by S1",
        gravity="step",
        demonstrate=_b28,
        concerns=("zhou2026.drift-partial.ring-ring",),
    ),
)


# ---------------------------------------------------------------- C: claims of the text
def _c1() -> Evidence:
    narrow, wide = (_tuned("thm1.star-star", delta=d) - _tuned("thm1.ring-star", delta=d) for d in (0, 4))
    return _evidence("Star-Star minus Ring-Star, each at its best step, delta = 0, then delta = 4", wide, narrow)


def _c2() -> Evidence:
    star, ring = (get(f"zhou2026.cor2.{t}").split(**DEFAULT, S1=5, S2=5) for t in ("star-ring", "ring-ring"))
    return _evidence(
        "first-order zeta term, S1 = S2 = 5: Star-Ring's with a factor S1 below, and Ring-Ring's",
        star["client_sampling"] / root(5),
        ring["client_sampling"],
    )


def _c3() -> Evidence:
    terms = get("zhou2026.cor1.ring-ring").split(**(DEFAULT | {"R": 1e8}))
    return _evidence("Ring-Ring, R = 1e8: the delta term, and the noise term", terms["inter_drift"], terms["noise"])


def _c4() -> Evidence:
    star, ring = (_tuned(f"thm1.{t}-star", M=1, zeta=0) for t in ("star", "ring"))
    return _evidence("M = 1, so that the lower tier is one client: Star-Star, then Ring-Star", star, ring, "==")


def _grouped(groups: int, clients: int = 100) -> dict[str, float]:
    """Groups drawn at random out of clients whose gaps have a mean square of 1: expected zeta^2 and delta^2."""
    inter = Fraction(groups - 1, clients - 1)
    return {"G": groups, "M": clients // groups, "zeta": root(1 - inter), "delta": root(inter)}


def _c5() -> Evidence:
    five, hundred = (_tuned("thm1.ring-star", **_grouped(g)) for g in (5, 100))
    return _evidence("Ring-Star, 100 clients grouped at random, H = 1, fixed order: G = 5, then G = 100", five, hundred)


def _c6() -> Evidence:
    mixed, alike = (_tuned("thm1.ring-star", G=2, M=2, zeta=z, delta=d) for z, d in ((1, 0), (0, 1)))
    return _evidence(
        "clients +1, +1, -1, -1 in two groups, Ring-Star: complementary, then like with like", mixed, alike
    )


TABLE_2 = {"star-star": 74.20, "star-ring": 72.53}  # CINIC-10, ResNet-18, Non-IID between and IID within groups


def _c7() -> Evidence:
    return _evidence(
        "accuracy on CINIC-10, Non-IID between groups: Star-Ring, then Star-Star",
        TABLE_2["star-ring"],
        TABLE_2["star-star"],
    )


RAW_RATES = {"star-star": 1.0, "star-ring": 0.2, "ring-star": 0.2, "ring-ring": 0.05}  # Appendix B.1, CIFAR-10


def _c8() -> Evidence:
    used = {t: rate * get(f"zhou2026.thm1.{t}").chain_length(**DEFAULT) for t, rate in RAW_RATES.items()}
    return _evidence(
        "effective rates of the tuned raw ones: Star-Star's, then Ring-Ring's",
        used["star-star"],
        used["ring-ring"],
        "==",
    )


def _c9() -> Evidence:
    star, ring = (_tuned(f"thm1-proof.{t}") for t in ("star-star", "ring-ring"))
    return _evidence(f"constants of the proofs, {NUMBERS}: Star-Star, then Ring-Ring", star, ring)


C10 = {"M": 40, "zeta": 0, "delta": 0, "R": 1e6}


def _c10() -> Evidence:
    theorem, corollary = (
        [get(f"zhou2026.{name}.{t}").tuned(cap="none", **(DEFAULT | C10)).value for t in ("star-ring", "ring-star")]
        for name in ("thm1", "cor1")
    )
    return _evidence(
        "G = 10, P = 1, M = 40, K = 2, zeta = delta = 0, R = 1e6: Ring-Star over Star-Ring, theorem and rate",
        theorem[1] / theorem[0],
        corollary[1] / corollary[0],
    )


def _c11() -> Evidence:
    top, low, rounds = (3, 1), (1, 3), 2
    printed = max(top) + rounds * max(low)
    found = max(a + rounds * b for a, b in zip(top, low, strict=True))
    return _evidence(
        "two groups, top links 3 and 1, group rounds of 1 and 3, P = 2: the time of a round", printed, found, "=="
    )


_rate_noise = sqrt(L * A * sigma**2) / sqrt(G * P * M * K * R)
_rate_gap = L * A / R
_second = cbrt(L**2 * A**2 * sigma**2) / cbrt(G * P * M * K * R**2)
C_ENTRIES = (
    Erratum(
        id="zhou2026.C1",
        place="Section 2.4, first principle, (i)",
        printed="the gap between ring and star at the top widens as inter-group divergence grows",
        proved="in Theorem 1 the gap at one step does not depend on delta, and at the best steps it shrinks",
        because=r"$\delta^2$ has the coefficient $L^2\tilde\eta^2$ in all four, so the tuned gap changes by "
        r"$L^2(\tilde\eta_{SS}^2-\tilde\eta_{RS}^2) \le 0$ per unit of $\delta^2$; with random order, where "
        "a ring at the top divides delta^2, both gaps grow; with partial participation the one of Star-Ring and "
        "Ring-Ring grows, the one of Star-Star and Ring-Star shrinks at the best steps",
        effect="none on the order, which delta cannot change in Theorem 1; the differences shrink",
        gravity="claim",
        demonstrate=_c1,
        concerns=("zhou2026.thm1",),
    ),
    Erratum(
        id="zhou2026.C2",
        place="Section 2.4, first principle",
        printed="under partial participation a ring at the top has S1 in the denominators of the intra-group terms",
        proved=r"the terms $L\tilde\eta\zeta^2/S_2$ and $L^2\tilde\eta^2\zeta^2/S_2$ are those of a star; only "
        r"Ring-Star's $\zeta^2/(S_1^2P^2)$ has S1",
        because="eqs. (10) and (13) have the same terms in zeta",
        effect="none on the bounds",
        gravity="claim",
        demonstrate=_c2,
        concerns=("zhou2026.thm2", "zhou2026.cor2"),
    ),
    Erratum(
        id="zhou2026.C3",
        place="Section 2.4, second principle",
        printed=r"the term in delta dominates, because it decays slowly, as $R^{-2/3}$",
        proved=r"the noise term decays more slowly, as $R^{-1/2}$; the term in delta is the larger one only for "
        r"$R < LA\delta^4(GPMK)^3/\sigma^6$",
        because="the two terms of Corollary 1 cross there: at 1.15 million rounds for the default numbers",
        effect="which term to reduce; none on the bounds",
        gravity="claim",
        demonstrate=_c3,
        concerns=("zhou2026.cor1",),
    ),
    Erratum(
        id="zhou2026.C4",
        place="Section 2.4, first principle, (ii); Section 2.3, 'Effective Learning Rate'",
        printed="Ring-Star and Star-Star differ only in the lower tier; the effective rate incorporates R",
        proved="they differ only in the top tier; the effective rate has no R in it",
        because="the names say the top tier first; and the rate counts the local steps of one round",
        effect="none on the bounds",
        gravity="claim",
        demonstrate=_c4,
        concerns=("zhou2026.thm1",),
    ),
    Erratum(
        id="zhou2026.C5",
        place="Section 2.4, third principle; Section 3.4, (2)",
        printed="Ring-Star improves with more and smaller groups, up to one client in each",
        proved=r"in Theorem 1, with N clients grouped at random, it is best near $G = (2N)^{1/3}$; the claim holds for "
        "random order",
        because=r"$\delta^2 = H^2\frac{G-1}{N-1}$ and $\zeta^2 = H^2\frac{N-G}{N-1}$ then, and "
        r"$\zeta^2/G^2+\delta^2$ is smallest where $G^3+G = 2N$",
        effect="twice the bound at G = 100 of that at G = 5 for the default noise, 2.3 times for a tenth of it",
        gravity="claim",
        demonstrate=_c5,
        concerns=("zhou2026.thm1.ring-star",),
    ),
    Erratum(
        id="zhou2026.C6",
        place="Section 3.3, last paragraph, against Section 2.4, second principle",
        printed="group clients by the similarity of their data",
        proved="group clients with complementary data, as Section 2.4 says",
        because=r"$\zeta^2+\delta^2$ is fixed by the clients, and grouping like with like moves all of it into delta",
        effect="the larger bound of the two for every topology whose zeta term is divided",
        gravity="claim",
        demonstrate=_c6,
        concerns=("zhou2026.thm1",),
    ),
    Erratum(
        id="zhou2026.C7",
        place="Sections 2.4, 3.2 and 3.3, against Table 2",
        printed="Star-Star is worst in every heterogeneity setting; inter-group heterogeneity hurts more than "
        "intra-group",
        proved="Star-Star is worst in 19 of the 20 rows of Table 2; inter-group heterogeneity hurts more in 14 of its "
        "20 columns",
        because="on CINIC-10, Non-IID between groups, Star-Ring has 72.53 and Star-Star 74.20; the six other columns "
        "are two of VGG-9, two of SST-2 and the Star-Star columns of ResNet-18 on CIFAR-10 and of Fashion-MNIST",
        effect="none on the bounds; the table has one number per cell and no spread",
        gravity="claim",
        demonstrate=_c7,
    ),
    Erratum(
        id="zhou2026.C8",
        place="Section 3.1, and Appendix B.1, the tuned learning rates",
        printed="the pattern of the tuned raw rates, 1, 0.2, 0.2 and 0.05, aligns with the theory",
        proved="their order does; their sizes do not: at one effective rate they would be 1, 0.1, 0.1 and 0.01",
        because="times the local steps chained in a round they are 2, 4, 4 and 10, five times as large for "
        "Ring-Ring as for Star-Star; and the caps of Theorem 1 allow all four only for L at most 0.01",
        effect="none on the bounds; a recommendation at a capped step is about smaller steps than the experiments'",
        gravity="note",
        demonstrate=_c8,
        concerns=("zhou2026.thm1",),
    ),
    Erratum(
        id="zhou2026.C9",
        place="Section 2.4, first principle, against the constants of D.2-D.5",
        printed="a ring at the top has the smaller bound",
        proved="with the constants that are proved, Ring-Ring is not first at G = M = 10, P = 1, K = 2 in fixed order; "
        "the ranking is that of the terms without their constants",
        because="delta^2 carries 10, 22.5, 22.5 and 40, as many as the proof splits the drift into pieces; "
        "hflbounds.sharp has the same constants for all four, and the ranking",
        effect="the order of topologies, if proved constants are compared",
        gravity="claim",
        demonstrate=_c9,
        concerns=("zhou2026.thm1-proof",),
    ),
    Erratum(
        id="zhou2026.C10",
        place="Section 2.4, first principle, where Corollaries 1 and 2 are what is compared",
        printed="the rates of Corollary 1 order the topologies",
        proved="the theorem at its best step orders them; a sum of cube roots is within a constant of it, and can "
        "order Star-Ring and Ring-Star the other way",
        because="Ring-Star has one term more, and the cube root of a sum is less than the sum of the cube roots",
        effect="the order of Star-Ring and Ring-Star, for example at M = 40",
        gravity="claim",
        demonstrate=_c10,
        concerns=("zhou2026.cor1",),
    ),
    Erratum(
        id="zhou2026.C11",
        place="Appendix A.2, eq. (24) with Table 3, a star at the top",
        printed=r"$T = R(\max_g a_g + P\max_g b_g)$, with $a_g$ the time of a top link and $b_g$ of a group round",
        proved=r"$T = R\max_g(a_g + Pb_g)$, of which it is an upper bound",
        because="the server waits for the slowest group, and the group that is slowest in its links need not be the "
        "one that is slowest in its rounds; the two agree where it is",
        effect="on the time of a round with a star at the top only, so it favours rings",
        gravity="claim",
        demonstrate=_c11,
    ),
    Erratum(
        id="zhou2026.C12",
        place="Corollary 1, eqs. (17) and (18), and Table 1, the second-order noise term with GPMK",
        printed=_rate_gap + _rate_noise + _second,
        proved=4 * _rate_gap / 3 + 5 * _rate_noise / 3,
        because="the term is the geometric mean of the gap and twice the first-order noise term, so at most one third "
        "of the one and two thirds of the other",
        effect="none but a constant: the term can be left out of Ring-Star's and Ring-Ring's rate",
        gravity="loose",
        witness=_of("G", "M", "P", "K", "R", "L", "A", "sigma"),
        concerns=("zhou2026.cor1.ring-star", "zhou2026.cor1.ring-ring"),
    ),
)

ERRATA: tuple[Erratum, ...] = (*A_ENTRIES, *B_ENTRIES, *C_ENTRIES)
