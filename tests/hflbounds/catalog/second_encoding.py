"""A second encoding of every Zhou et al. (ICLR 2026) bound, typed from the paper, as plain arithmetic.

It shares no code and no reading with the catalogue: each expression below was typed from the paper's own
text, topology by topology, with nothing factored out between topologies, so that the two encodings can be
held against each other at 50 digits. The equation or the appendix line stands beside each expression. The
two `hflbounds.*` bounds are the project's own theorem, typed from its statement (fixed and random order).

Printed slips are encoded corrected, and only these:

* caps 1/sqrt(30 L) and 1/sqrt(60 L) of Theorem 1 read 1/(sqrt(30) L) and 1/(sqrt(60) L), as D.3 and E.1-E.3
  print them (units);
* Lemma 2 with the exponents of S1 and S2 exchanged, so that the first-order terms are zeta^2/S2 and
  delta^2/S1, as Theorem 2 and F.2-F.5 print them;
* Theorem 2's effective steps are P K, P S2 K, S1 P K and S1 P S2 K times eta, as F.2-F.5 prove, not the
  theorem's PMK, GPK and GPMK;
* E.3's c2 has 1/2 (printed 5/2); F.4's and F.5's c2 is not defined through itself; F.5's c1 has L^2, and its
  c2 has eta^2 (printed eta^3);
* F.2's last explicit line is printed without constants: they are those of the recursion just above it;
* Table 5's row Star-Ring (F) is not used: the fixed-order rate is Corollary 1's (16).

Numbers may be int, Fraction, float or mpmath.mpf. Integers and Fractions alone stay exact wherever no root
occurs; otherwise everything is computed in mpmath at the precision in force (mpmath.mp.dps).
"""

from collections.abc import Callable
from fractions import Fraction
from numbers import Rational
from typing import Any, NamedTuple

import mpmath

Num = Any  # Fraction or mpmath.mpf, the same for all numbers of one call


def _cbrt(x: Num) -> Num:
    """The real cube root of a number that is not negative."""
    return mpmath.cbrt(x)


def _sqrt(x: Num) -> Num:
    """The square root."""
    return mpmath.sqrt(x)


def _mpf(x: Any) -> Any:
    """The number in mpmath at the precision in force; a Fraction is divided there, not in floating point."""
    if isinstance(x, Rational):
        return mpmath.mpf(int(x.numerator)) / int(x.denominator)
    return mpmath.mpf(x)


def _smallest_positive_root(*coefficients: int) -> Any:
    """The smallest positive root of a real polynomial, the highest power first."""
    roots = mpmath.polyroots(list(coefficients), maxsteps=500, extraprec=2 * mpmath.mp.prec)
    return min(mpmath.re(r) for r in roots if abs(mpmath.im(r)) < mpmath.mpf("1e-10") and mpmath.re(r) > 0)


# ---------------------------------------------------------------------------------------------------------
# Theorem 1: full participation, fixed order, constants hidden. Equations (4)-(7).


def _thm1_star_star(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """Theorem 1, Star-Star, equation (4)."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * sigma**2 / (P**2 * K)
        + L**2 * eta_eff**2 * sigma**2 / (P * M * K)
        + L**2 * eta_eff**2 * zeta**2 / P**2
        + L**2 * eta_eff**2 * delta**2
    )


def _thm1_star_ring(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """Theorem 1, Star-Ring, equation (5)."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * sigma**2 / (P * M * K)
        + L**2 * eta_eff**2 * zeta**2 / P**2
        + L**2 * eta_eff**2 * delta**2
    )


def _thm1_ring_star(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """Theorem 1, Ring-Star, equation (6)."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * sigma**2 / (G**2 * P**2 * K)
        + L**2 * eta_eff**2 * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2)
        + L**2 * eta_eff**2 * delta**2
    )


def _thm1_ring_ring(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """Theorem 1, Ring-Ring, equation (7)."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2)
        + L**2 * eta_eff**2 * delta**2
    )


# ---------------------------------------------------------------------------------------------------------
# Corollary 1: the rate of Theorem 1. Equation (14) with T from (15)-(18).


def _cor1_star_star(G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num) -> Num:
    """Corollary 1, Star-Star, equations (14) and (15)."""
    return (
        L * A / R
        + _sqrt(L * sigma**2 * A) / _sqrt(G * P * M * K * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(P**2 * K * R**2)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(P * M * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(P**2 * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(R**2)
    )


def _cor1_star_ring(G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num) -> Num:
    """Corollary 1, Star-Ring, equations (14) and (16)."""
    return (
        L * A / R
        + _sqrt(L * sigma**2 * A) / _sqrt(G * P * M * K * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(P * M * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(P**2 * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(R**2)
    )


def _cor1_ring_star(G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num) -> Num:
    """Corollary 1, Ring-Star, equations (14) and (17)."""
    return (
        L * A / R
        + _sqrt(L * sigma**2 * A) / _sqrt(G * P * M * K * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(G**2 * P**2 * K * R**2)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(G * P * M * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(G**2 * P**2 * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(R**2)
    )


def _cor1_ring_ring(G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num) -> Num:
    """Corollary 1, Ring-Ring, equations (14) and (18)."""
    return (
        L * A / R
        + _sqrt(L * sigma**2 * A) / _sqrt(G * P * M * K * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(G * P * M * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(G**2 * P**2 * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(R**2)
    )


# ---------------------------------------------------------------------------------------------------------
# Theorem 1 with the constants of its proof: the last explicit lines of D.2-D.5, in the raw step eta.


def _thm1_proof_star_star(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """D.2: c1, c2 and the line after "Let c2 =", Star-Star."""
    eta = eta_eff / (P * K)
    c1 = 1 / (1 - 10 * L**2 * P**2 * K**2 * eta**2)
    c2 = 1 / (half - 10 * c1 * eta**2 * L**2 * P**2 * K**2)
    return (
        c2 * A / (eta * R * P * K)
        + c2 * eta * L / (G * M) * sigma**2
        + 5 * c1 * c2 * eta**2 * L**2 * K * sigma**2
        + 5 * c1 * c2 * eta**2 * L**2 * P * K / M * sigma**2
        + 5 * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2
        + 10 * c1 * c2 * eta**2 * L**2 * P**2 * K**2 * delta**2
    )


def _thm1_proof_star_ring(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """D.3: c1, c2 and the line after "Let c2 =", Star-Ring."""
    eta = eta_eff / (P * M * K)
    c1 = 1 / (1 - 15 * L**2 * P**2 * M**2 * K**2 * eta**2)
    c2 = 1 / (half - 45 * half * c1 * eta**2 * L**2 * P**2 * M**2 * K**2)
    return (
        c2 * A / (eta * R * P * M * K)
        + c2 * eta * L / G * sigma**2
        + 45 * half * c1 * c2 * eta**2 * L**2 * P * M * K * sigma**2
        + 15 * c1 * c2 * eta**2 * L**2 * M**2 * K**2 * zeta**2
        + 45 * half * c1 * c2 * eta**2 * L**2 * P**2 * M**2 * K**2 * delta**2
    )


def _thm1_proof_ring_star(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """D.4: c1, c2 and the line after "Let c2 =", Ring-Star."""
    eta = eta_eff / (G * P * K)
    c1 = 1 / (1 - 15 * L**2 * G**2 * P**2 * K**2 * eta**2)
    c2 = 1 / (half - 45 * half * c1 * eta**2 * L**2 * G**2 * P**2 * K**2)
    return (
        c2 * A / (eta * R * G * P * K)
        + c2 * eta * L / M * sigma**2
        + 15 * half * c1 * c2 * eta**2 * L**2 * K * sigma**2
        + 15 * c1 * c2 * eta**2 * L**2 * G * P * K / M * sigma**2
        + 15 * half * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2
        + 45 * half * c1 * c2 * eta**2 * L**2 * G**2 * P**2 * K**2 * delta**2
    )


def _thm1_proof_ring_ring(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """D.5: c1, c2 and the line after "Let c2 =", Ring-Ring."""
    eta = eta_eff / (G * P * M * K)
    c1 = 1 / (1 - 20 * L**2 * G**2 * P**2 * M**2 * K**2 * eta**2)
    c2 = 1 / (half - 40 * c1 * eta**2 * L**2 * G**2 * P**2 * M**2 * K**2)
    return (
        c2 * A / (eta * R * G * P * M * K)
        + c2 * eta * L * sigma**2
        + 40 * c1 * c2 * eta**2 * L**2 * G * P * M * K * sigma**2
        + 20 * c1 * c2 * eta**2 * L**2 * M**2 * K**2 * zeta**2
        + 40 * c1 * c2 * eta**2 * L**2 * G**2 * P**2 * M**2 * K**2 * delta**2
    )


# ---------------------------------------------------------------------------------------------------------
# Appendix E: full participation, random order (a shuffle every round), constants hidden. E.1-E.4.


def _shuffle_star_star(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """E.1, the bound after "Let eta~ = eta PK", Star-Star."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * sigma**2 / (P**2 * K)
        + L**2 * eta_eff**2 * sigma**2 / (P * M * K)
        + L**2 * eta_eff**2 * zeta**2 / P**2
        + L**2 * eta_eff**2 * delta**2
    )


def _shuffle_star_ring(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """E.2, the bound after "Let eta~ = eta PMK", Star-Ring."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * sigma**2 / (P * M * K)
        + L**2 * eta_eff**2 * zeta**2 / (P**2 * M)
        + L**2 * eta_eff**2 * delta**2
    )


def _shuffle_ring_star(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """E.3, the bound after "Let eta~ = eta GPK", Ring-Star."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * sigma**2 / (G**2 * P**2 * K)
        + L**2 * eta_eff**2 * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2)
        + L**2 * eta_eff**2 * delta**2 / G
    )


def _shuffle_ring_ring(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """E.4, the bound after "Let eta~ = eta GPMK", Ring-Ring."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * sigma**2 / (G * P * M * K)
        + L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2 * M)
        + L**2 * eta_eff**2 * delta**2 / G
    )


# ---------------------------------------------------------------------------------------------------------
# Appendix E: its rates, the last display of E.1-E.4 (the same as Table 5's rows marked S).


def _shuffle_rate_star_star(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num
) -> Num:
    """E.1, last display, and Table 5, Star-Star(S)."""
    return (
        L * A / R
        + _sqrt(L * sigma**2 * A) / _sqrt(G * P * M * K * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(P**2 * K * R**2)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(P * M * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(P**2 * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(R**2)
    )


def _shuffle_rate_star_ring(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num
) -> Num:
    """E.2, last display, and Table 5, Star-Ring(S)."""
    return (
        L * A / R
        + _sqrt(L * sigma**2 * A) / _sqrt(G * P * M * K * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(P * M * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(P**2 * M * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(R**2)
    )


def _shuffle_rate_ring_star(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num
) -> Num:
    """E.3, last display, and Table 5, Ring-Star(S)."""
    return (
        L * A / R
        + _sqrt(L * sigma**2 * A) / _sqrt(G * P * M * K * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(G**2 * P**2 * K * R**2)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(G * P * M * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(G**2 * P**2 * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(G * R**2)
    )


def _shuffle_rate_ring_ring(
    G: Num, M: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num
) -> Num:
    """E.4, last display, and Table 5, Ring-Ring(S)."""
    return (
        L * A / R
        + _sqrt(L * sigma**2 * A) / _sqrt(G * P * M * K * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(G * P * M * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(G**2 * P**2 * M * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(G * R**2)
    )


# ---------------------------------------------------------------------------------------------------------
# Appendix E with its constants: the last explicit lines of E.1-E.4, in the raw step eta.


def _shuffle_proof_star_star(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """E.1: c1, c2 and the line after "Let c2 =", Star-Star."""
    eta = eta_eff / (P * K)
    c1 = 1 / (1 - 10 * L**2 * P**2 * K**2 * eta**2)
    c2 = 1 / (half - 10 * c1 * eta**2 * L**2 * P**2 * K**2)
    return (
        c2 * A / (eta * R * P * K)
        + c2 * eta * L / (G * M) * sigma**2
        + 5 * c1 * c2 * eta**2 * L**2 * K * sigma**2
        + 5 * c1 * c2 * eta**2 * L**2 * P * K / M * sigma**2
        + 5 * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2
        + 10 * c1 * c2 * eta**2 * L**2 * P**2 * K**2 * delta**2
    )


def _shuffle_proof_star_ring(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """E.2: c1, c2 and the line after "Let c2 =", Star-Ring."""
    eta = eta_eff / (P * M * K)
    c1 = 1 / (1 - 15 * L**2 * P**2 * M**2 * K**2 * eta**2)
    c2 = 1 / (half - 45 * half * c1 * eta**2 * L**2 * P**2 * M**2 * K**2)
    return (
        c2 * A / (eta * R * P * M * K)
        + c2 * eta * L / G * sigma**2
        + 45 * half * c1 * c2 * eta**2 * L**2 * P * M * K * sigma**2
        + 15 * c1 * c2 * eta**2 * L**2 * M * K**2 * zeta**2
        + 45 * half * c1 * c2 * eta**2 * L**2 * P**2 * M**2 * K**2 * delta**2
    )


def _shuffle_proof_ring_star(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """E.3: c1, c2 (1/2 where 5/2 is printed) and the line after "Let c2 =", Ring-Star."""
    eta = eta_eff / (G * P * K)
    c1 = 1 / (1 - 15 * L**2 * G**2 * P**2 * K**2 * eta**2)
    c2 = 1 / (half - 45 * half * c1 * eta**2 * L**2 * G**2 * P**2 * K**2)
    return (
        c2 * A / (eta * R * G * P * K)
        + c2 * eta * L / M * sigma**2
        + 15 * half * c1 * c2 * eta**2 * L**2 * K * sigma**2
        + 15 * c1 * c2 * eta**2 * L**2 * G * P * K / M * sigma**2
        + 15 * half * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2
        + 45 * half * c1 * c2 * eta**2 * L**2 * G * P**2 * K**2 * delta**2
    )


def _shuffle_proof_ring_ring(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """E.4: c1, c2 and the line after "Let c2 =", Ring-Ring."""
    eta = eta_eff / (G * P * M * K)
    c1 = 1 / (1 - 20 * L**2 * G**2 * P**2 * M**2 * K**2 * eta**2)
    c2 = 1 / (half - 40 * c1 * eta**2 * L**2 * G**2 * P**2 * M**2 * K**2)
    return (
        c2 * A / (eta * R * G * P * M * K)
        + c2 * eta * L * sigma**2
        + 40 * c1 * c2 * eta**2 * L**2 * G * P * M * K * sigma**2
        + 20 * c1 * c2 * eta**2 * L**2 * M * K**2 * zeta**2
        + 40 * c1 * c2 * eta**2 * L**2 * G * P**2 * M**2 * K**2 * delta**2
    )


# ---------------------------------------------------------------------------------------------------------
# Theorem 2: partial participation, constants hidden. Equations (8)-(13).


def _thm2_star_star(
    S1: Num, S2: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """Theorem 2, Star-Star, equations (8) and (9)."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (S1 * P * S2 * K)
        + L * eta_eff * zeta**2 / S2
        + L * eta_eff * delta**2 / S1
        + L**2 * eta_eff**2 * sigma**2 / (P**2 * K)
        + L**2 * eta_eff**2 * sigma**2 / (P * S2 * K)
        + L**2 * eta_eff**2 * zeta**2 / P**2
        + L**2 * eta_eff**2 * zeta**2 / S2
        + L**2 * eta_eff**2 * delta**2
    )


def _thm2_star_ring(
    S1: Num, S2: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """Theorem 2, Star-Ring, equation (10)."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (S1 * P * S2 * K)
        + L * eta_eff * zeta**2 / S2
        + L * eta_eff * delta**2 / S1
        + L**2 * eta_eff**2 * sigma**2 / (P * S2 * K)
        + L**2 * eta_eff**2 * zeta**2 / S2
        + L**2 * eta_eff**2 * delta**2
    )


def _thm2_ring_star(
    S1: Num, S2: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """Theorem 2, Ring-Star, equations (11) and (12)."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (S1 * P * S2 * K)
        + L * eta_eff * zeta**2 / S2
        + L * eta_eff * delta**2 / S1
        + L**2 * eta_eff**2 * sigma**2 / (S1**2 * P**2 * K)
        + L**2 * eta_eff**2 * sigma**2 / (S1 * P * S2 * K)
        + L**2 * eta_eff**2 * zeta**2 / (S1**2 * P**2)
        + L**2 * eta_eff**2 * zeta**2 / S2
        + L**2 * eta_eff**2 * delta**2 / S1
    )


def _thm2_ring_ring(
    S1: Num, S2: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num, eta_eff: Num
) -> Num:
    """Theorem 2, Ring-Ring, equation (13)."""
    return (
        A / (eta_eff * R)
        + L * eta_eff * sigma**2 / (S1 * P * S2 * K)
        + L * eta_eff * zeta**2 / S2
        + L * eta_eff * delta**2 / S1
        + L**2 * eta_eff**2 * sigma**2 / (S1 * P * S2 * K)
        + L**2 * eta_eff**2 * zeta**2 / S2
        + L**2 * eta_eff**2 * delta**2 / S1
    )


# ---------------------------------------------------------------------------------------------------------
# Corollary 2: the rate of Theorem 2. Equation (19) with T from (20)-(23).


def _cor2_star_star(S1: Num, S2: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num) -> Num:
    """Corollary 2, Star-Star, equations (19) and (20)."""
    return (
        L * A / R
        + _sqrt(L * A * sigma**2) / _sqrt(S1 * P * S2 * K * R)
        + _sqrt(L * A * zeta**2) / _sqrt(S2 * R)
        + _sqrt(L * A * delta**2) / _sqrt(S1 * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(P**2 * K * R**2)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(P * S2 * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(P**2 * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(S2 * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(R**2)
    )


def _cor2_star_ring(S1: Num, S2: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num) -> Num:
    """Corollary 2, Star-Ring, equations (19) and (21)."""
    return (
        L * A / R
        + _sqrt(L * A * sigma**2) / _sqrt(S1 * P * S2 * K * R)
        + _sqrt(L * A * zeta**2) / _sqrt(S2 * R)
        + _sqrt(L * A * delta**2) / _sqrt(S1 * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(P * S2 * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(S2 * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(R**2)
    )


def _cor2_ring_star(S1: Num, S2: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num) -> Num:
    """Corollary 2, Ring-Star, equations (19) and (22)."""
    return (
        L * A / R
        + _sqrt(L * A * sigma**2) / _sqrt(S1 * P * S2 * K * R)
        + _sqrt(L * A * zeta**2) / _sqrt(S2 * R)
        + _sqrt(L * A * delta**2) / _sqrt(S1 * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(S1**2 * P**2 * K * R**2)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(S1 * P * S2 * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(S1**2 * P**2 * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(S2 * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(S1 * R**2)
    )


def _cor2_ring_ring(S1: Num, S2: Num, P: Num, K: Num, R: Num, L: Num, A: Num, sigma: Num, zeta: Num, delta: Num) -> Num:
    """Corollary 2, Ring-Ring, equations (19) and (23)."""
    return (
        L * A / R
        + _sqrt(L * A * sigma**2) / _sqrt(S1 * P * S2 * K * R)
        + _sqrt(L * A * zeta**2) / _sqrt(S2 * R)
        + _sqrt(L * A * delta**2) / _sqrt(S1 * R)
        + _cbrt(L**2 * A**2 * sigma**2) / _cbrt(S1 * P * S2 * K * R**2)
        + _cbrt(L**2 * A**2 * zeta**2) / _cbrt(S2 * R**2)
        + _cbrt(L**2 * A**2 * delta**2) / _cbrt(S1 * R**2)
    )


# ---------------------------------------------------------------------------------------------------------
# Theorem 2 with the constants of its proof: the last explicit lines of F.2-F.5, in the raw step eta.


def _thm2_proof_star_star(
    half: Num,
    S1: Num,
    S2: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """F.2: c1, c2 as printed; the constants are those of the recursion, divided by eta P K, Star-Star."""
    eta = eta_eff / (P * K)
    c1 = 1 / (1 - 20 * eta**2 * L**2 * P**2 * K**2)
    c2 = 1 / (half - 5 * half * eta * L * P * K - 20 * c1 * eta**2 * L**2 * P**2 * K**2)
    return (
        c2 * A / (eta * R * P * K)
        + 5 * half * c2 * eta * L / (S1 * S2) * sigma**2
        + 10 * c1 * c2 * eta**2 * L**2 * K * sigma**2
        + 10 * c1 * c2 * eta**2 * L**2 * P / S2 * K * sigma**2
        + 5 * half * c2 * eta * L * P / S2 * K * zeta**2
        + 10 * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2
        + 10 * c1 * c2 * eta**2 * L**2 * P**2 / S2 * K**2 * zeta**2
        + 5 * half * c2 * eta * L / S1 * P * K * delta**2
        + 20 * c1 * c2 * eta**2 * L**2 * P**2 * K**2 * delta**2
    )


def _thm2_proof_star_ring(
    half: Num,
    S1: Num,
    S2: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """F.3: c1, c2 and the line after "Let c2 =", Star-Ring."""
    eta = eta_eff / (P * S2 * K)
    c1 = 1 / (1 - 45 * eta**2 * L**2 * P**2 * S2**2 * K**2)
    c2 = 1 / (half - 5 * half * eta * L * P * S2 * K - 45 * c1 * eta**2 * L**2 * P**2 * S2**2 * K**2)
    return (
        c2 * A / (eta * R * P * S2 * K)
        + 5 * half * c2 * eta * L / S1 * sigma**2
        + 45 * c1 * c2 * eta**2 * L**2 * P * S2 * K * sigma**2
        + 5 * half * c2 * eta * L * P * K * zeta**2
        + 45 * c1 * c2 * eta**2 * L**2 * P**2 * S2 * K**2 * zeta**2
        + 5 * half * c2 * eta * L / S1 * P * S2 * K * delta**2
        + 45 * c1 * c2 * eta**2 * L**2 * P**2 * S2**2 * K**2 * delta**2
    )


def _thm2_proof_ring_star(
    half: Num,
    S1: Num,
    S2: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """F.4: c1, c2 (without the c2 printed inside it) and the line after "Let c2 =", Ring-Star."""
    eta = eta_eff / (S1 * P * K)
    c1 = 1 / (1 - 45 * eta**2 * L**2 * S1**2 * P**2 * K**2)
    c2 = 1 / (half - 5 * half * eta * L * S1 * P * K - 45 * c1 * eta**2 * L**2 * S1**2 * P**2 * K**2)
    return (
        c2 * A / (eta * R * S1 * P * K)
        + 5 * half * c2 * eta * L / S2 * sigma**2
        + 15 * c1 * c2 * eta**2 * L**2 * K * sigma**2
        + 30 * c1 * c2 * eta**2 * L**2 * S1 * P / S2 * K * sigma**2
        + 5 * half * c2 * eta * L * S1 * P / S2 * K * zeta**2
        + 15 * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2
        + 30 * c1 * c2 * eta**2 * L**2 * S1**2 * P**2 / S2 * K**2 * zeta**2
        + 5 * half * c2 * eta * L * P * K * delta**2
        + 45 * c1 * c2 * eta**2 * L**2 * S1 * P**2 * K**2 * delta**2
    )


def _thm2_proof_ring_ring(
    half: Num,
    S1: Num,
    S2: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """F.5: c1 (with L^2), c2 (eta^2, no c2 inside it) and the line after "Let c2 =", Ring-Ring."""
    eta = eta_eff / (S1 * P * S2 * K)
    c1 = 1 / (1 - 80 * eta**2 * L**2 * S1**2 * P**2 * S2**2 * K**2)
    c2 = 1 / (half - 5 * half * eta * L * S1 * P * S2 * K - 80 * c1 * eta**2 * L**2 * S1**2 * P**2 * S2**2 * K**2)
    return (
        c2 * A / (eta * R * S1 * P * S2 * K)
        + 5 * half * c2 * eta * L * sigma**2
        + 80 * c1 * c2 * eta**2 * L**2 * S1 * P * S2 * K * sigma**2
        + 5 * half * c2 * eta * L * S1 * P * K * zeta**2
        + 80 * c1 * c2 * eta**2 * L**2 * S1**2 * P**2 * S2 * K**2 * zeta**2
        + 5 * half * c2 * eta * L * P * S2 * K * delta**2
        + 80 * c1 * c2 * eta**2 * L**2 * S1 * P**2 * S2**2 * K**2 * delta**2
    )


# ---------------------------------------------------------------------------------------------------------
# The project's own theorem, fixed order: u = L^2 eta~^2 < 0.24, c1 = 1/(1 - 5u/2), c2 = 1/(1/2 - 5 c1 u/6).


def _sharp_star_star(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """The project's theorem, fixed order, with q_SS."""
    u = L**2 * eta_eff**2
    c1 = 1 / (1 - 5 * u / 2)
    c2 = 1 / (half - 5 * c1 * u / 6)
    q = 5 * (sigma**2 / (P**2 * K) + sigma**2 / (P * M * K)) / 4 + 5 * (zeta**2 / P**2 + delta**2) / 6
    return c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q)


def _sharp_star_ring(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """The project's theorem, fixed order, with q_SR."""
    u = L**2 * eta_eff**2
    c1 = 1 / (1 - 5 * u / 2)
    c2 = 1 / (half - 5 * c1 * u / 6)
    q = 5 * sigma**2 / (4 * P * M * K) + 5 * zeta**2 / (12 * P**2) + 5 * delta**2 / 6
    return c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q)


def _sharp_ring_star(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """The project's theorem, fixed order, with q_RS."""
    u = L**2 * eta_eff**2
    c1 = 1 / (1 - 5 * u / 2)
    c2 = 1 / (half - 5 * c1 * u / 6)
    q = (
        5 * (sigma**2 / (G**2 * P**2 * K) + sigma**2 / (G * P * M * K)) / 4
        + 5 * zeta**2 / (6 * G**2 * P**2)
        + 5 * delta**2 / 12
    )
    return c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q)


def _sharp_ring_ring(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """The project's theorem, fixed order, with q_RR."""
    u = L**2 * eta_eff**2
    c1 = 1 / (1 - 5 * u / 2)
    c2 = 1 / (half - 5 * c1 * u / 6)
    q = 5 * sigma**2 / (4 * G * P * M * K) + 5 * (zeta**2 / (G**2 * P**2) + delta**2) / 12
    return c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q)


# ---------------------------------------------------------------------------------------------------------
# The project's own theorem, random order (M, G >= 2): 5/12 zeta^2 -> 5/8 zeta^2/M where the low tier is a
# ring, 5/12 delta^2 -> 5/8 delta^2/G where the top tier is a ring.


def _sharp_shuffle_star_star(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """The project's theorem, random order, Star-Star: no ring, hence the fixed-order q_SS."""
    u = L**2 * eta_eff**2
    c1 = 1 / (1 - 5 * u / 2)
    c2 = 1 / (half - 5 * c1 * u / 6)
    q = 5 * (sigma**2 / (P**2 * K) + sigma**2 / (P * M * K)) / 4 + 5 * (zeta**2 / P**2 + delta**2) / 6
    return c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q)


def _sharp_shuffle_star_ring(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """The project's theorem, random order, Star-Ring: 5/8 zeta^2/(M P^2)."""
    u = L**2 * eta_eff**2
    c1 = 1 / (1 - 5 * u / 2)
    c2 = 1 / (half - 5 * c1 * u / 6)
    q = 5 * sigma**2 / (4 * P * M * K) + 5 * zeta**2 / (8 * M * P**2) + 5 * delta**2 / 6
    return c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q)


def _sharp_shuffle_ring_star(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """The project's theorem, random order, Ring-Star: 5/8 delta^2/G."""
    u = L**2 * eta_eff**2
    c1 = 1 / (1 - 5 * u / 2)
    c2 = 1 / (half - 5 * c1 * u / 6)
    q = (
        5 * (sigma**2 / (G**2 * P**2 * K) + sigma**2 / (G * P * M * K)) / 4
        + 5 * zeta**2 / (6 * G**2 * P**2)
        + 5 * delta**2 / (8 * G)
    )
    return c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q)


def _sharp_shuffle_ring_ring(
    half: Num,
    G: Num,
    M: Num,
    P: Num,
    K: Num,
    R: Num,
    L: Num,
    A: Num,
    sigma: Num,
    zeta: Num,
    delta: Num,
    eta_eff: Num,
) -> Num:
    """The project's theorem, random order, Ring-Ring: 5/8 zeta^2/(M G^2 P^2) and 5/8 delta^2/G."""
    u = L**2 * eta_eff**2
    c1 = 1 / (1 - 5 * u / 2)
    c2 = 1 / (half - 5 * c1 * u / 6)
    q = 5 * sigma**2 / (4 * G * P * M * K) + 5 * zeta**2 / (8 * M * G**2 * P**2) + 5 * delta**2 / (8 * G)
    return c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q)


# ---------------------------------------------------------------------------------------------------------
# The largest admissible effective step, bound by bound.

_CAPS: dict[str, Callable[[Any], Any]] = {
    # Theorem 1, the line above (4): 1/sqrt(30 L) printed, corrected for units.
    "zhou2026.thm1.star-star": lambda L: 1 / (_sqrt(30) * _mpf(L)),
    # Theorem 1, the line above (5): 1/sqrt(60 L) printed, corrected as D.3 prints it.
    "zhou2026.thm1.star-ring": lambda L: 1 / (_sqrt(60) * _mpf(L)),
    # Theorem 1, the line above (6): 1/sqrt(60 L) printed, corrected for units.
    "zhou2026.thm1.ring-star": lambda L: 1 / (_sqrt(60) * _mpf(L)),
    # Theorem 1, the line above (7).
    "zhou2026.thm1.ring-ring": lambda L: 1 / (10 * L),
    # D.2: (1 - 10u)/2 = 10u, hence u = L^2 eta~^2 = 1/30.
    "zhou2026.thm1-proof.star-star": lambda L: _sqrt(_mpf(1) / 30) / _mpf(L),
    # D.3: (1 - 15u)/2 = 45u/2, hence u = 1/60.
    "zhou2026.thm1-proof.star-ring": lambda L: _sqrt(_mpf(1) / 60) / _mpf(L),
    # D.4: (1 - 15u)/2 = 45u/2, hence u = 1/60.
    "zhou2026.thm1-proof.ring-star": lambda L: _sqrt(_mpf(1) / 60) / _mpf(L),
    # D.5: (1 - 20u)/2 = 40u, hence u = 1/100.
    "zhou2026.thm1-proof.ring-ring": lambda L: 1 / (10 * L),
    # E.1, "Let eta~ = eta PK, and eta~ <=".
    "zhou2026.shuffle.star-star": lambda L: 1 / (_sqrt(30) * _mpf(L)),
    # E.2, "Let eta~ = eta PMK, and eta~ <=".
    "zhou2026.shuffle.star-ring": lambda L: 1 / (_sqrt(60) * _mpf(L)),
    # E.3, "Let eta~ = eta GPK, and eta~ <=".
    "zhou2026.shuffle.ring-star": lambda L: 1 / (_sqrt(60) * _mpf(L)),
    # E.4, "Let eta~ = eta GPMK, and eta~ <=".
    "zhou2026.shuffle.ring-ring": lambda L: 1 / (10 * L),
    # E.1: (1 - 10u)/2 = 10u, hence u = 1/30.
    "zhou2026.shuffle-proof.star-star": lambda L: _sqrt(_mpf(1) / 30) / _mpf(L),
    # E.2: (1 - 15u)/2 = 45u/2, hence u = 1/60.
    "zhou2026.shuffle-proof.star-ring": lambda L: _sqrt(_mpf(1) / 60) / _mpf(L),
    # E.3: (1 - 15u)/2 = 45u/2, hence u = 1/60.
    "zhou2026.shuffle-proof.ring-star": lambda L: _sqrt(_mpf(1) / 60) / _mpf(L),
    # E.4: (1 - 20u)/2 = 40u, hence u = 1/100.
    "zhou2026.shuffle-proof.ring-ring": lambda L: 1 / (10 * L),
    # Theorem 2, the line above (8).
    "zhou2026.thm2.star-star": lambda L: 1 / (10 * L),
    # Theorem 2, the line above (10); F.3 prints 1/(45 L).
    "zhou2026.thm2.star-ring": lambda L: 1 / (15 * L),
    # Theorem 2, the line above (11).
    "zhou2026.thm2.ring-star": lambda L: 1 / (15 * L),
    # Theorem 2, the line above (13).
    "zhou2026.thm2.ring-ring": lambda L: 1 / (20 * L),
    # F.2, x = L eta~: (1 - 5x)(1 - 20x^2)/2 = 20x^2, that is 100x^3 - 60x^2 - 5x + 1 = 0, hence x = 1/10.
    "zhou2026.thm2-proof.star-star": lambda L: 1 / (10 * L),
    # F.3, x = L eta~: (1 - 5x)(1 - 45x^2)/2 = 45x^2, that is 225x^3 - 135x^2 - 5x + 1 = 0.
    "zhou2026.thm2-proof.star-ring": lambda L: _smallest_positive_root(225, -135, -5, 1) / _mpf(L),
    # F.4, x = L eta~: (1 - 5x)(1 - 45x^2)/2 = 45x^2, that is 225x^3 - 135x^2 - 5x + 1 = 0.
    "zhou2026.thm2-proof.ring-star": lambda L: _smallest_positive_root(225, -135, -5, 1) / _mpf(L),
    # F.5, x = L eta~: (1 - 5x)(1 - 80x^2)/2 = 80x^2, that is 400x^3 - 240x^2 - 5x + 1 = 0.
    "zhou2026.thm2-proof.ring-ring": lambda L: _smallest_positive_root(400, -240, -5, 1) / _mpf(L),
    # The project's theorem: (1 - 5u/2)/2 = 5u/6, hence u = L^2 eta~^2 = 6/25 = 0.24, for every topology.
    "hflbounds.sharp.star-star": lambda L: _sqrt(_mpf(6)) / (5 * _mpf(L)),
    "hflbounds.sharp.star-ring": lambda L: _sqrt(_mpf(6)) / (5 * _mpf(L)),
    "hflbounds.sharp.ring-star": lambda L: _sqrt(_mpf(6)) / (5 * _mpf(L)),
    "hflbounds.sharp.ring-ring": lambda L: _sqrt(_mpf(6)) / (5 * _mpf(L)),
    "hflbounds.sharp-shuffle.star-star": lambda L: _sqrt(_mpf(6)) / (5 * _mpf(L)),
    "hflbounds.sharp-shuffle.star-ring": lambda L: _sqrt(_mpf(6)) / (5 * _mpf(L)),
    "hflbounds.sharp-shuffle.ring-star": lambda L: _sqrt(_mpf(6)) / (5 * _mpf(L)),
    "hflbounds.sharp-shuffle.ring-ring": lambda L: _sqrt(_mpf(6)) / (5 * _mpf(L)),
}

# ---------------------------------------------------------------------------------------------------------
# The effective steps. Full participation: Theorem 1 (the lines above (4)-(7)), again in D.2-D.5 and E.1-E.4.
# Partial: F.2-F.5 (the lines "Let eta~ ="), which correct Theorem 2's own.


def _raw_full_star_star(eta_eff: Num, n: dict[str, Num]) -> Num:
    """Theorem 1, D.2, E.1: eta~ = P K eta."""
    return eta_eff / (n["P"] * n["K"])


def _raw_full_star_ring(eta_eff: Num, n: dict[str, Num]) -> Num:
    """Theorem 1, D.3, E.2: eta~ = P M K eta."""
    return eta_eff / (n["P"] * n["M"] * n["K"])


def _raw_full_ring_star(eta_eff: Num, n: dict[str, Num]) -> Num:
    """Theorem 1, D.4, E.3: eta~ = G P K eta."""
    return eta_eff / (n["G"] * n["P"] * n["K"])


def _raw_full_ring_ring(eta_eff: Num, n: dict[str, Num]) -> Num:
    """Theorem 1, D.5, E.4: eta~ = G P M K eta."""
    return eta_eff / (n["G"] * n["P"] * n["M"] * n["K"])


def _raw_partial_star_star(eta_eff: Num, n: dict[str, Num]) -> Num:
    """F.2: eta~ = eta P K."""
    return eta_eff / (n["P"] * n["K"])


def _raw_partial_star_ring(eta_eff: Num, n: dict[str, Num]) -> Num:
    """F.3: eta~ = eta P S2 K (Theorem 2 prints P M K eta)."""
    return eta_eff / (n["P"] * n["S2"] * n["K"])


def _raw_partial_ring_star(eta_eff: Num, n: dict[str, Num]) -> Num:
    """F.4: eta~ = eta S1 P K (Theorem 2 prints G P K eta)."""
    return eta_eff / (n["S1"] * n["P"] * n["K"])


def _raw_partial_ring_ring(eta_eff: Num, n: dict[str, Num]) -> Num:
    """F.5: eta~ = eta S1 P S2 K (Theorem 2 prints G P M K eta)."""
    return eta_eff / (n["S1"] * n["P"] * n["S2"] * n["K"])


# ---------------------------------------------------------------------------------------------------------
# Dispatch.


class _Entry(NamedTuple):
    """What is known of one bound: its value, its letters, and its raw step (None for a rate)."""

    expression: Callable[..., Num]
    letters: tuple[str, ...]
    raw: Callable[[Num, dict[str, Num]], Num] | None


_FULL_RATE = ("G", "M", "P", "K", "R", "L", "A", "sigma", "zeta", "delta")
_FULL = ("G", "M", "P", "K", "R", "L", "A", "sigma", "zeta", "delta", "eta_eff")
_FULL_PROOF = ("half", "G", "M", "P", "K", "R", "L", "A", "sigma", "zeta", "delta", "eta_eff")
_PART_RATE = ("S1", "S2", "P", "K", "R", "L", "A", "sigma", "zeta", "delta")
_PART = ("S1", "S2", "P", "K", "R", "L", "A", "sigma", "zeta", "delta", "eta_eff")
_PART_PROOF = ("half", "S1", "S2", "P", "K", "R", "L", "A", "sigma", "zeta", "delta", "eta_eff")

_ENTRIES: dict[str, _Entry] = {
    "zhou2026.thm1.star-star": _Entry(_thm1_star_star, _FULL, _raw_full_star_star),
    "zhou2026.thm1.star-ring": _Entry(_thm1_star_ring, _FULL, _raw_full_star_ring),
    "zhou2026.thm1.ring-star": _Entry(_thm1_ring_star, _FULL, _raw_full_ring_star),
    "zhou2026.thm1.ring-ring": _Entry(_thm1_ring_ring, _FULL, _raw_full_ring_ring),
    "zhou2026.cor1.star-star": _Entry(_cor1_star_star, _FULL_RATE, None),
    "zhou2026.cor1.star-ring": _Entry(_cor1_star_ring, _FULL_RATE, None),
    "zhou2026.cor1.ring-star": _Entry(_cor1_ring_star, _FULL_RATE, None),
    "zhou2026.cor1.ring-ring": _Entry(_cor1_ring_ring, _FULL_RATE, None),
    "zhou2026.thm1-proof.star-star": _Entry(_thm1_proof_star_star, _FULL_PROOF, _raw_full_star_star),
    "zhou2026.thm1-proof.star-ring": _Entry(_thm1_proof_star_ring, _FULL_PROOF, _raw_full_star_ring),
    "zhou2026.thm1-proof.ring-star": _Entry(_thm1_proof_ring_star, _FULL_PROOF, _raw_full_ring_star),
    "zhou2026.thm1-proof.ring-ring": _Entry(_thm1_proof_ring_ring, _FULL_PROOF, _raw_full_ring_ring),
    "zhou2026.shuffle.star-star": _Entry(_shuffle_star_star, _FULL, _raw_full_star_star),
    "zhou2026.shuffle.star-ring": _Entry(_shuffle_star_ring, _FULL, _raw_full_star_ring),
    "zhou2026.shuffle.ring-star": _Entry(_shuffle_ring_star, _FULL, _raw_full_ring_star),
    "zhou2026.shuffle.ring-ring": _Entry(_shuffle_ring_ring, _FULL, _raw_full_ring_ring),
    "zhou2026.shuffle-rate.star-star": _Entry(_shuffle_rate_star_star, _FULL_RATE, None),
    "zhou2026.shuffle-rate.star-ring": _Entry(_shuffle_rate_star_ring, _FULL_RATE, None),
    "zhou2026.shuffle-rate.ring-star": _Entry(_shuffle_rate_ring_star, _FULL_RATE, None),
    "zhou2026.shuffle-rate.ring-ring": _Entry(_shuffle_rate_ring_ring, _FULL_RATE, None),
    "zhou2026.shuffle-proof.star-star": _Entry(_shuffle_proof_star_star, _FULL_PROOF, _raw_full_star_star),
    "zhou2026.shuffle-proof.star-ring": _Entry(_shuffle_proof_star_ring, _FULL_PROOF, _raw_full_star_ring),
    "zhou2026.shuffle-proof.ring-star": _Entry(_shuffle_proof_ring_star, _FULL_PROOF, _raw_full_ring_star),
    "zhou2026.shuffle-proof.ring-ring": _Entry(_shuffle_proof_ring_ring, _FULL_PROOF, _raw_full_ring_ring),
    "zhou2026.thm2.star-star": _Entry(_thm2_star_star, _PART, _raw_partial_star_star),
    "zhou2026.thm2.star-ring": _Entry(_thm2_star_ring, _PART, _raw_partial_star_ring),
    "zhou2026.thm2.ring-star": _Entry(_thm2_ring_star, _PART, _raw_partial_ring_star),
    "zhou2026.thm2.ring-ring": _Entry(_thm2_ring_ring, _PART, _raw_partial_ring_ring),
    "zhou2026.cor2.star-star": _Entry(_cor2_star_star, _PART_RATE, None),
    "zhou2026.cor2.star-ring": _Entry(_cor2_star_ring, _PART_RATE, None),
    "zhou2026.cor2.ring-star": _Entry(_cor2_ring_star, _PART_RATE, None),
    "zhou2026.cor2.ring-ring": _Entry(_cor2_ring_ring, _PART_RATE, None),
    "zhou2026.thm2-proof.star-star": _Entry(_thm2_proof_star_star, _PART_PROOF, _raw_partial_star_star),
    "zhou2026.thm2-proof.star-ring": _Entry(_thm2_proof_star_ring, _PART_PROOF, _raw_partial_star_ring),
    "zhou2026.thm2-proof.ring-star": _Entry(_thm2_proof_ring_star, _PART_PROOF, _raw_partial_ring_star),
    "zhou2026.thm2-proof.ring-ring": _Entry(_thm2_proof_ring_ring, _PART_PROOF, _raw_partial_ring_ring),
    "hflbounds.sharp.star-star": _Entry(_sharp_star_star, _FULL_PROOF, _raw_full_star_star),
    "hflbounds.sharp.star-ring": _Entry(_sharp_star_ring, _FULL_PROOF, _raw_full_star_ring),
    "hflbounds.sharp.ring-star": _Entry(_sharp_ring_star, _FULL_PROOF, _raw_full_ring_star),
    "hflbounds.sharp.ring-ring": _Entry(_sharp_ring_ring, _FULL_PROOF, _raw_full_ring_ring),
    "hflbounds.sharp-shuffle.star-star": _Entry(_sharp_shuffle_star_star, _FULL_PROOF, _raw_full_star_star),
    "hflbounds.sharp-shuffle.star-ring": _Entry(_sharp_shuffle_star_ring, _FULL_PROOF, _raw_full_star_ring),
    "hflbounds.sharp-shuffle.ring-star": _Entry(_sharp_shuffle_ring_star, _FULL_PROOF, _raw_full_ring_star),
    "hflbounds.sharp-shuffle.ring-ring": _Entry(_sharp_shuffle_ring_ring, _FULL_PROOF, _raw_full_ring_ring),
}

BOUND_IDS: tuple[str, ...] = tuple(_ENTRIES)


def _common(numbers: dict[str, Any], roots: bool = False) -> dict[str, Num]:
    """All numbers in one type: Fractions when all are rational and no root is taken, else mpmath.mpf."""
    if not roots and all(isinstance(x, Rational) for x in numbers.values()):
        return {k: Fraction(int(x.numerator), int(x.denominator)) for k, x in numbers.items()}
    return {k: _mpf(x) for k, x in numbers.items()}


def value(bound_id: str, **numbers: Any) -> Num:
    """The bound at a point; a `\\lesssim` or an O(.) is read with the constant 1 on every term.

    Args:
        bound_id: `<key>.<label>.<topology>`, one of `BOUND_IDS`.
        **numbers: G M P K R S1 S2 L A sigma zeta delta eta_eff, as far as the bound has them (others are
            ignored); sigma, zeta and delta are standard deviations, zeta within groups, delta between them.

    Returns:
        A Fraction when every number used is rational and no root occurs, otherwise an mpmath.mpf.
    """
    entry = _ENTRIES[bound_id]
    given = {"half": Fraction(1, 2), **numbers}
    return entry.expression(**_common({k: given[k] for k in entry.letters}, roots=entry.raw is None))


def cap(bound_id: str, **numbers: Any) -> Num | None:
    """The largest admissible effective step: as stated, or the pole of c2 where the constants are explicit.

    Args:
        bound_id: one of `BOUND_IDS`.
        **numbers: L is used; the others are ignored.

    Returns:
        A Fraction or an mpmath.mpf as for `value`; None for a rate, which has no step.
    """
    if _ENTRIES[bound_id].raw is None:
        return None
    return _CAPS[bound_id](_common({"L": numbers["L"]})["L"])


def raw_step(bound_id: str, eta_eff: Any, **numbers: Any) -> Num | None:
    """The learning rate eta that one client uses, from the effective step.

    Args:
        bound_id: one of `BOUND_IDS`.
        eta_eff: the effective step.
        **numbers: the letters among G M P K S1 S2 that the bound's effective step has (others are ignored).

    Returns:
        A Fraction or an mpmath.mpf as for `value`; None for a rate, which has no step.
    """
    raw = _ENTRIES[bound_id].raw
    if raw is None:
        return None
    n = _common({"eta_eff": eta_eff, **{k: numbers[k] for k in ("G", "M", "P", "K", "S1", "S2") if k in numbers}})
    return raw(n["eta_eff"], n)
