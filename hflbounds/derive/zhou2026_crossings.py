"""Where the topologies of the unified analysis cross, and where its explicit bounds have their best step."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import partial

from hflbounds.catalog import own, zhou2026
from hflbounds.catalog.zhou2026 import THEOREM_1, THEOREM_2, TOPOLOGIES
from hflbounds.core.expression import Expr, add, as_expr
from hflbounds.core.quantities import S1, S2, A, G, K, L, M, P, R, delta, eta_eff, sigma, zeta
from hflbounds.derive import Finding, Line
from hflbounds.derive.finite_sums import is_at_most
from hflbounds.derive.proofs import identical
from hflbounds.derive.zhou2026 import holds
from hflbounds.derive.zhou2026_theorems import line_at, proof_constants, quadratic, unit_constants


def _difference(better: Expr, worse: Expr, expected: Expr) -> Finding:
    """Whether ``worse - better`` is what it is said to be."""
    return holds(identical(worse - better, expected), "identity")


def _ordered(better: Expr, worse: Expr, expected: Expr) -> Finding:
    """The same, and that the part of each letter is not negative."""
    for letter in (sigma, zeta, delta):
        alone = {other: as_expr(int(other is letter)) for other in (sigma, zeta, delta)}
        if not is_at_most(as_expr(0), expected.subs(alone)):
            return holds(False, f"certificate for {letter}")
    return _difference(better, worse, expected)


def _cleared(left: Expr, right: Expr, factor: Expr) -> Finding:
    return holds(identical(factor * left, right), "identity")


Q1, QS = unit_constants(False), unit_constants(True)
X1, XS = proof_constants(False), proof_constants(True)
Q2 = {t: quadratic(THEOREM_2[t], 4) for t in TOPOLOGIES}
OWN = {t: add(*own.DRIFT[t].values()) for t in TOPOLOGIES}
OWN_S = {t: add(*(own.DRIFT[t] | own.IN_RANDOM_ORDER[t]).values()) for t in TOPOLOGIES}
s2, z2, d2 = sigma**2, zeta**2, delta**2
CLEAR = G**2 * P**2 * M * K
# F15-F20: Ring-Star is better than Star-Ring iff this is positive; it is (q_SR - q_RS) times the factor.
RING_STAR_FIRST: dict[str, tuple[dict[str, Expr], Expr, Expr]] = {
    "F15": (Q1, CLEAR, (P * G * (G - 1) - M) * s2 + M * K * (G**2 - 1) * z2),
    "F16": (X1, 2 * CLEAR / 15, (3 * G**2 * P - 2 * G * P - M) * s2 + M * K * (2 * G**2 - 1) * z2),
    "F17": (OWN, 12 * CLEAR / 5, 3 * (G * P * (G - 1) - M) * s2 + (G**2 - 2) * M * K * z2 + G**2 * P**2 * M * K * d2),
    "F18": (QS, CLEAR, (P * G * (G - 1) - M) * s2 + K * (G**2 - M) * z2 + G * (G - 1) * P**2 * M * K * d2),
    "F19": (
        XS,
        2 * CLEAR / 15,
        (3 * G**2 * P - 2 * G * P - M) * s2 + K * (2 * G**2 - M) * z2 + 3 * G * (G - 1) * P**2 * M * K * d2,
    ),
    "F20": (
        Q2,
        S1**2 * P**2 * S2 * K,
        (P * S1 * (S1 - 1) - S2) * s2 - S2 * K * z2 + S1 * (S1 - 1) * P**2 * S2 * K * d2,
    ),
    "sharp-random": (
        OWN_S,
        24 * CLEAR / 5,
        (6 * G * P * (G - 1) - 6 * M) * s2 + (3 * G**2 - 4 * M) * K * z2 + (4 * G - 3) * G * P**2 * M * K * d2,
    ),
}
# F14 and the lines under F20: worse minus better.
DIFFERENCES: dict[str, tuple[dict[str, Expr], str, str, Expr]] = {
    "F14.low.star": (Q1, "star-star", "star-ring", s2 / (P**2 * K)),
    "F14.low.ring": (Q1, "ring-star", "ring-ring", s2 / (G**2 * P**2 * K)),
    "F14.top.star": (
        Q1,
        "star-star",
        "ring-star",
        (1 - 1 / G**2) * (s2 / (P**2 * K) + z2 / P**2) + (1 - 1 / G) * s2 / (P * M * K),
    ),
    "F14.top.ring": (Q1, "star-ring", "ring-ring", (1 - 1 / G) * s2 / (P * M * K) + (1 - 1 / G**2) * z2 / P**2),
    "random.low.star": (QS, "star-star", "star-ring", s2 / (P**2 * K) + z2 / P**2 * (1 - 1 / M)),
    "random.low.ring": (QS, "ring-star", "ring-ring", s2 / (G**2 * P**2 * K) + z2 / (G**2 * P**2) * (1 - 1 / M)),
    "partial.low.star": (Q2, "star-star", "star-ring", s2 / (P**2 * K) + z2 / P**2),
    "partial.low.ring": (Q2, "ring-star", "ring-ring", (s2 / (P**2 * K) + z2 / P**2) / S1**2),
    "partial.top.ring": (Q2, "star-ring", "ring-ring", (1 - 1 / S1) * (s2 / (P * S2 * K) + d2)),
}
half = Fraction(1, 2)
# F21: printed multipliers at a vanishing step; the first is better iff the difference is positive.
PRINTED_FIRST: dict[str, tuple[str, str, Expr]] = {
    "star-ring before star-star": (
        "star-star",
        "star-ring",
        s2 * (5 / (P**2 * K) - 35 * half / (P * M * K)) - 10 * z2 / P**2 - 25 * half * d2,
    ),
    "ring-star before star-star": (
        "star-star",
        "ring-star",
        s2 * ((5 - 15 * half / G**2) / (P**2 * K) + (5 - 15 / G) / (P * M * K))
        + z2 / P**2 * (5 - 15 * half / G**2)
        - 25 * half * d2,
    ),
    "ring-ring before star-ring": (
        "star-ring",
        "ring-ring",
        s2 / (P * M * K) * (45 * half - 40 / G) + z2 / P**2 * (15 - 20 / G**2) - 35 * half * d2,
    ),
    "ring-ring before ring-star": (
        "ring-star",
        "ring-ring",
        15 * half * s2 / (G**2 * P**2 * K)
        - 25 * s2 / (G * P * M * K)
        - 25 * half * z2 / (G**2 * P**2)
        - 35 * half * d2,
    ),
    "ring-ring before star-star": (
        "star-star",
        "ring-ring",
        s2 * (5 / (P**2 * K) + (5 - 40 / G) / (P * M * K)) + z2 / P**2 * (5 - 20 / G**2) - 30 * d2,
    ),
}


def _grouping() -> Finding:
    """F22: N clients in G groups at random, delta^2 = (G-1)/(N-1), zeta^2 = (N-G)/(N-1): best whole G by counting."""
    for n in (64, 100, 360):
        values = {g: Fraction(n - g, n - 1) / g**2 + Fraction(g - 1, n - 1) for g in range(1, n + 1)}
        best = min(values, key=lambda g: values[g])
        # the derivative of (n-g)/g^2 + g vanishes where g^3 + g = 2 n
        near = min(range(1, n), key=lambda g: abs(g**3 + g - 2 * n))
        shuffled = [Fraction(n - g, n - 1) / g**2 + Fraction(g - 1, n - 1) / g for g in range(1, n + 1)]
        falls = all(later < earlier for earlier, later in itertools.pairwise(shuffled))
        if abs(best - near) > 1 or not falls:
            return holds(False, "counting", {"clients": n, "best": best})
    return holds(True, "every number of groups of 64, 100 and 360 clients, exact")


def _closed_form(topology: str) -> Finding:
    """F13: the explicit bound is 2 [(1 - B u)(a/e + b e) + q e^2]/(1 - u/u_s), with u_s = 1/(B + 2a)."""
    b, gradient = zhou2026.RECURSION[topology], zhou2026.GRADIENT[topology]
    u = L**2 * eta_eff**2
    stated = zhou2026.explicit(THEOREM_1[topology], zhou2026.MULTIPLIERS[topology], topology)
    first = A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K)
    second = X1[topology] * u
    closed = 2 * ((1 - b * u) * first + second) / (1 - u * (b + 2 * gradient))
    return holds(identical(add(*stated.values()), closed), "identity")


def _sextic() -> Finding:
    """F13: where the derivative of 2 N(e)/(1 - e^2/s) vanishes, with a, b, q and B L^2 for letters.

    e^2 (N' D - N D') with N = (1 - B e^2)(a/e + b e) + q e^2 and D = 1 - e^2/s, both typed out.
    """
    e, a, b, q, big, s = eta_eff, A, sigma, zeta, K, delta
    numerator = a / e + (b - big * a) * e - big * b * e**3 + q * e**2
    slope = -a / e**2 + (b - big * a) - 3 * big * b * e**2 + 2 * q * e
    left = e**2 * (slope * (1 - e**2 / s) + numerator * 2 * e / s)
    right = (
        -a
        + (b - big * a + 3 * a / s) * e**2
        + 2 * q * e**3
        + ((b - big * a) / s - 3 * big * b) * e**4
        + big * b / s * e**6
    )
    product_form = (1 - big * e**2) * (a / e + b * e) + q * e**2
    return holds(identical(left, right) and identical(numerator, product_form), "identities")


def _ranked_by_rate() -> Finding:
    """G=10, P=1, M=40, K=2, no heterogeneity, many rounds: the tuned theorem against the sum of roots."""
    case = {"G": 10, "P": 1, "M": 40, "K": 2, "sigma": 1, "zeta": 0, "delta": 0, "L": 1, "A": 2.3, "R": 1e6}
    tuned, rates = {}, {}
    for index, topology in enumerate(TOPOLOGIES):
        theorem, rate = zhou2026.fixed_order[3 * index], zhou2026.fixed_order[3 * index + 1]
        tuned[topology], rates[topology] = float(theorem.tuned(cap="none", **case).value), float(rate(**case))
    agree = (tuned["ring-star"] < tuned["star-ring"]) == (rates["ring-star"] < rates["star-ring"])
    witness = {f"{what} {t}": v[t] for what, v in (("theorem", tuned), ("rate", rates)) for t in TOPOLOGIES[1:3]}
    return holds(agree, "tuned values", dict(witness))


def _lines() -> list[Line]:
    found = []
    for name, (q, factor, criterion) in RING_STAR_FIRST.items():
        check = partial(_cleared, q["star-ring"] - q["ring-star"], criterion, factor)
        claim = "Ring-Star is better than Star-Ring at one step if and only if the criterion is positive"
        found.append(line_at(f"h1.{name}", "Theorems 1 and 2, Appendices D and E", claim, check))
    for name, (q, worse, better, gap) in DIFFERENCES.items():
        claim = f"{worse} exceeds {better} by the stated amount, which is not negative"
        found.append(line_at(f"h1.{name}", "Theorems 1 and 2", claim, partial(_ordered, q[better], q[worse], gap)))
    for name, (worse, better, gap) in PRINTED_FIRST.items():
        claim = f"{name} for small steps, by the proofs' multipliers, if and only if the stated form is positive"
        check = partial(_difference, X1[better], X1[worse], gap)
        found.append(line_at(f"h1.F21.{name.replace(' ', '-')}", "Appendix D", claim, check))
    claim = (
        "clients grouped at random, P = 1: heterogeneity in fixed-order Ring-Star is least near the root of "
        "G^3 + G = 2N, and in random order falls up to one client in each group"
    )
    found.append(line_at("h1.F22", "Section 3.4", claim, _grouping))
    for t in TOPOLOGIES:
        claim = "the explicit bound is one quotient, with the pole at the printed cap"
        found.append(line_at(f"h2.{t}", "Appendix D", claim, partial(_closed_form, t)))
    stationary = "the best step of the explicit bound is a root of a polynomial of degree 6"
    found.append(line_at("h2.sextic", "Appendix D", stationary, _sextic))
    claim = "Corollary 1 ranks Star-Ring and Ring-Star as Theorem 1 does"
    found.append(line_at("h3", "Corollary 1", claim, _ranked_by_rate, "fails", "zhou2026.C10"))
    return found


LINES = tuple(_lines())
