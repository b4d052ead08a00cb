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

from fractions import Fraction

import mpmath
from typed_formulas import Formula, Num, Table, cbrt, evaluate, half, letters_of, sqrt

G, M, S1, S2, P, K, R, L, A, sigma, zeta, delta, eta_eff = letters_of("G M S1 S2 P K R L A sigma zeta delta eta_eff")
TABLE = Table()
value = TABLE.value


def _smallest_positive_root(*coefficients: int) -> Formula:
    """The smallest positive root of a real polynomial, the highest power first."""

    def find(*coefficients: int) -> Num:
        roots = mpmath.polyroots(list(coefficients), maxsteps=500, extraprec=2 * mpmath.mp.prec)
        return min(mpmath.re(r) for r in roots if abs(mpmath.im(r)) < mpmath.mpf("1e-10") and mpmath.re(r) > 0)

    return Formula(find, *coefficients, root=True)


# Theorem 1: full participation, fixed order, constants hidden. Equations (4)-(7).
TABLE["zhou2026.thm1.star-star"] = (  # Theorem 1, Star-Star, equation (4)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * sigma**2 / (P**2 * K),
    L**2 * eta_eff**2 * sigma**2 / (P * M * K),
    L**2 * eta_eff**2 * zeta**2 / P**2,
    L**2 * eta_eff**2 * delta**2,
)
TABLE["zhou2026.thm1.star-ring"] = (  # Theorem 1, Star-Ring, equation (5)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * sigma**2 / (P * M * K),
    L**2 * eta_eff**2 * zeta**2 / P**2,
    L**2 * eta_eff**2 * delta**2,
)
TABLE["zhou2026.thm1.ring-star"] = (  # Theorem 1, Ring-Star, equation (6)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * sigma**2 / (G**2 * P**2 * K),
    L**2 * eta_eff**2 * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2),
    L**2 * eta_eff**2 * delta**2,
)
TABLE["zhou2026.thm1.ring-ring"] = (  # Theorem 1, Ring-Ring, equation (7)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2),
    L**2 * eta_eff**2 * delta**2,
)

# Corollary 1: the rate of Theorem 1. Equation (14) with T from (15)-(18).
TABLE["zhou2026.cor1.star-star"] = (  # Corollary 1, Star-Star, equations (14) and (15)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(G * P * M * K * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(P**2 * K * R**2),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(P * M * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(P**2 * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)
TABLE["zhou2026.cor1.star-ring"] = (  # Corollary 1, Star-Ring, equations (14) and (16)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(G * P * M * K * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(P * M * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(P**2 * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)
TABLE["zhou2026.cor1.ring-star"] = (  # Corollary 1, Ring-Star, equations (14) and (17)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(G * P * M * K * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(G**2 * P**2 * K * R**2),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(G * P * M * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(G**2 * P**2 * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)
TABLE["zhou2026.cor1.ring-ring"] = (  # Corollary 1, Ring-Ring, equations (14) and (18)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(G * P * M * K * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(G * P * M * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(G**2 * P**2 * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)

# Theorem 1 with the constants of its proof: the last explicit lines of D.2-D.5, in the raw step eta.
eta = eta_eff / (P * K)
c1 = 1 / (1 - 10 * L**2 * P**2 * K**2 * eta**2)
c2 = 1 / (half - 10 * c1 * eta**2 * L**2 * P**2 * K**2)
TABLE["zhou2026.thm1-proof.star-star"] = (  # D.2: c1, c2 and the line after "Let c2 =", Star-Star
    c2 * A / (eta * R * P * K),
    c2 * eta * L / (G * M) * sigma**2,
    5 * c1 * c2 * eta**2 * L**2 * K * sigma**2,
    5 * c1 * c2 * eta**2 * L**2 * P * K / M * sigma**2,
    5 * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2,
    10 * c1 * c2 * eta**2 * L**2 * P**2 * K**2 * delta**2,
)
eta = eta_eff / (P * M * K)
c1 = 1 / (1 - 15 * L**2 * P**2 * M**2 * K**2 * eta**2)
c2 = 1 / (half - 45 * half * c1 * eta**2 * L**2 * P**2 * M**2 * K**2)
TABLE["zhou2026.thm1-proof.star-ring"] = (  # D.3: c1, c2 and the line after "Let c2 =", Star-Ring
    c2 * A / (eta * R * P * M * K),
    c2 * eta * L / G * sigma**2,
    45 * half * c1 * c2 * eta**2 * L**2 * P * M * K * sigma**2,
    15 * c1 * c2 * eta**2 * L**2 * M**2 * K**2 * zeta**2,
    45 * half * c1 * c2 * eta**2 * L**2 * P**2 * M**2 * K**2 * delta**2,
)
eta = eta_eff / (G * P * K)
c1 = 1 / (1 - 15 * L**2 * G**2 * P**2 * K**2 * eta**2)
c2 = 1 / (half - 45 * half * c1 * eta**2 * L**2 * G**2 * P**2 * K**2)
TABLE["zhou2026.thm1-proof.ring-star"] = (  # D.4: c1, c2 and the line after "Let c2 =", Ring-Star
    c2 * A / (eta * R * G * P * K),
    c2 * eta * L / M * sigma**2,
    15 * half * c1 * c2 * eta**2 * L**2 * K * sigma**2,
    15 * c1 * c2 * eta**2 * L**2 * G * P * K / M * sigma**2,
    15 * half * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2,
    45 * half * c1 * c2 * eta**2 * L**2 * G**2 * P**2 * K**2 * delta**2,
)
eta = eta_eff / (G * P * M * K)
c1 = 1 / (1 - 20 * L**2 * G**2 * P**2 * M**2 * K**2 * eta**2)
c2 = 1 / (half - 40 * c1 * eta**2 * L**2 * G**2 * P**2 * M**2 * K**2)
TABLE["zhou2026.thm1-proof.ring-ring"] = (  # D.5: c1, c2 and the line after "Let c2 =", Ring-Ring
    c2 * A / (eta * R * G * P * M * K),
    c2 * eta * L * sigma**2,
    40 * c1 * c2 * eta**2 * L**2 * G * P * M * K * sigma**2,
    20 * c1 * c2 * eta**2 * L**2 * M**2 * K**2 * zeta**2,
    40 * c1 * c2 * eta**2 * L**2 * G**2 * P**2 * M**2 * K**2 * delta**2,
)

# Appendix E: full participation, random order (a shuffle every round), constants hidden. E.1-E.4.
TABLE["zhou2026.shuffle.star-star"] = (  # E.1, the bound after "Let eta~ = eta PK", Star-Star
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * sigma**2 / (P**2 * K),
    L**2 * eta_eff**2 * sigma**2 / (P * M * K),
    L**2 * eta_eff**2 * zeta**2 / P**2,
    L**2 * eta_eff**2 * delta**2,
)
TABLE["zhou2026.shuffle.star-ring"] = (  # E.2, the bound after "Let eta~ = eta PMK", Star-Ring
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * sigma**2 / (P * M * K),
    L**2 * eta_eff**2 * zeta**2 / (P**2 * M),
    L**2 * eta_eff**2 * delta**2,
)
TABLE["zhou2026.shuffle.ring-star"] = (  # E.3, the bound after "Let eta~ = eta GPK", Ring-Star
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * sigma**2 / (G**2 * P**2 * K),
    L**2 * eta_eff**2 * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2),
    L**2 * eta_eff**2 * delta**2 / G,
)
TABLE["zhou2026.shuffle.ring-ring"] = (  # E.4, the bound after "Let eta~ = eta GPMK", Ring-Ring
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2 * M),
    L**2 * eta_eff**2 * delta**2 / G,
)

# Appendix E: its rates, the last display of E.1-E.4 (the same as Table 5's rows marked S).
TABLE["zhou2026.shuffle-rate.star-star"] = (  # E.1, last display, and Table 5, Star-Star(S)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(G * P * M * K * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(P**2 * K * R**2),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(P * M * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(P**2 * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)
TABLE["zhou2026.shuffle-rate.star-ring"] = (  # E.2, last display, and Table 5, Star-Ring(S)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(G * P * M * K * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(P * M * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(P**2 * M * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)
TABLE["zhou2026.shuffle-rate.ring-star"] = (  # E.3, last display, and Table 5, Ring-Star(S)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(G * P * M * K * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(G**2 * P**2 * K * R**2),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(G * P * M * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(G**2 * P**2 * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(G * R**2),
)
TABLE["zhou2026.shuffle-rate.ring-ring"] = (  # E.4, last display, and Table 5, Ring-Ring(S)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(G * P * M * K * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(G * P * M * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(G**2 * P**2 * M * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(G * R**2),
)

# Appendix E with its constants: the last explicit lines of E.1-E.4, in the raw step eta.
eta = eta_eff / (P * K)
c1 = 1 / (1 - 10 * L**2 * P**2 * K**2 * eta**2)
c2 = 1 / (half - 10 * c1 * eta**2 * L**2 * P**2 * K**2)
TABLE["zhou2026.shuffle-proof.star-star"] = (  # E.1: c1, c2 and the line after "Let c2 =", Star-Star
    c2 * A / (eta * R * P * K),
    c2 * eta * L / (G * M) * sigma**2,
    5 * c1 * c2 * eta**2 * L**2 * K * sigma**2,
    5 * c1 * c2 * eta**2 * L**2 * P * K / M * sigma**2,
    5 * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2,
    10 * c1 * c2 * eta**2 * L**2 * P**2 * K**2 * delta**2,
)
eta = eta_eff / (P * M * K)
c1 = 1 / (1 - 15 * L**2 * P**2 * M**2 * K**2 * eta**2)
c2 = 1 / (half - 45 * half * c1 * eta**2 * L**2 * P**2 * M**2 * K**2)
TABLE["zhou2026.shuffle-proof.star-ring"] = (  # E.2: c1, c2 and the line after "Let c2 =", Star-Ring
    c2 * A / (eta * R * P * M * K),
    c2 * eta * L / G * sigma**2,
    45 * half * c1 * c2 * eta**2 * L**2 * P * M * K * sigma**2,
    15 * c1 * c2 * eta**2 * L**2 * M * K**2 * zeta**2,
    45 * half * c1 * c2 * eta**2 * L**2 * P**2 * M**2 * K**2 * delta**2,
)
# E.3: c1, c2 (1/2 where 5/2 is printed) and the line after "Let c2 =", Ring-Star.
eta = eta_eff / (G * P * K)
c1 = 1 / (1 - 15 * L**2 * G**2 * P**2 * K**2 * eta**2)
c2 = 1 / (half - 45 * half * c1 * eta**2 * L**2 * G**2 * P**2 * K**2)
TABLE["zhou2026.shuffle-proof.ring-star"] = (
    c2 * A / (eta * R * G * P * K),
    c2 * eta * L / M * sigma**2,
    15 * half * c1 * c2 * eta**2 * L**2 * K * sigma**2,
    15 * c1 * c2 * eta**2 * L**2 * G * P * K / M * sigma**2,
    15 * half * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2,
    45 * half * c1 * c2 * eta**2 * L**2 * G * P**2 * K**2 * delta**2,
)
eta = eta_eff / (G * P * M * K)
c1 = 1 / (1 - 20 * L**2 * G**2 * P**2 * M**2 * K**2 * eta**2)
c2 = 1 / (half - 40 * c1 * eta**2 * L**2 * G**2 * P**2 * M**2 * K**2)
TABLE["zhou2026.shuffle-proof.ring-ring"] = (  # E.4: c1, c2 and the line after "Let c2 =", Ring-Ring
    c2 * A / (eta * R * G * P * M * K),
    c2 * eta * L * sigma**2,
    40 * c1 * c2 * eta**2 * L**2 * G * P * M * K * sigma**2,
    20 * c1 * c2 * eta**2 * L**2 * M * K**2 * zeta**2,
    40 * c1 * c2 * eta**2 * L**2 * G * P**2 * M**2 * K**2 * delta**2,
)

# Theorem 2: partial participation, constants hidden. Equations (8)-(13).
TABLE["zhou2026.thm2.star-star"] = (  # Theorem 2, Star-Star, equations (8) and (9)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (S1 * P * S2 * K),
    L * eta_eff * zeta**2 / S2,
    L * eta_eff * delta**2 / S1,
    L**2 * eta_eff**2 * sigma**2 / (P**2 * K),
    L**2 * eta_eff**2 * sigma**2 / (P * S2 * K),
    L**2 * eta_eff**2 * zeta**2 / P**2,
    L**2 * eta_eff**2 * zeta**2 / S2,
    L**2 * eta_eff**2 * delta**2,
)
TABLE["zhou2026.thm2.star-ring"] = (  # Theorem 2, Star-Ring, equation (10)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (S1 * P * S2 * K),
    L * eta_eff * zeta**2 / S2,
    L * eta_eff * delta**2 / S1,
    L**2 * eta_eff**2 * sigma**2 / (P * S2 * K),
    L**2 * eta_eff**2 * zeta**2 / S2,
    L**2 * eta_eff**2 * delta**2,
)
TABLE["zhou2026.thm2.ring-star"] = (  # Theorem 2, Ring-Star, equations (11) and (12)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (S1 * P * S2 * K),
    L * eta_eff * zeta**2 / S2,
    L * eta_eff * delta**2 / S1,
    L**2 * eta_eff**2 * sigma**2 / (S1**2 * P**2 * K),
    L**2 * eta_eff**2 * sigma**2 / (S1 * P * S2 * K),
    L**2 * eta_eff**2 * zeta**2 / (S1**2 * P**2),
    L**2 * eta_eff**2 * zeta**2 / S2,
    L**2 * eta_eff**2 * delta**2 / S1,
)
TABLE["zhou2026.thm2.ring-ring"] = (  # Theorem 2, Ring-Ring, equation (13)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (S1 * P * S2 * K),
    L * eta_eff * zeta**2 / S2,
    L * eta_eff * delta**2 / S1,
    L**2 * eta_eff**2 * sigma**2 / (S1 * P * S2 * K),
    L**2 * eta_eff**2 * zeta**2 / S2,
    L**2 * eta_eff**2 * delta**2 / S1,
)

# Corollary 2: the rate of Theorem 2. Equation (19) with T from (20)-(23).
TABLE["zhou2026.cor2.star-star"] = (  # Corollary 2, Star-Star, equations (19) and (20)
    L * A / R,
    sqrt(L * A * sigma**2) / sqrt(S1 * P * S2 * K * R),
    sqrt(L * A * zeta**2) / sqrt(S2 * R),
    sqrt(L * A * delta**2) / sqrt(S1 * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(P**2 * K * R**2),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(P * S2 * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(P**2 * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(S2 * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)
TABLE["zhou2026.cor2.star-ring"] = (  # Corollary 2, Star-Ring, equations (19) and (21)
    L * A / R,
    sqrt(L * A * sigma**2) / sqrt(S1 * P * S2 * K * R),
    sqrt(L * A * zeta**2) / sqrt(S2 * R),
    sqrt(L * A * delta**2) / sqrt(S1 * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(P * S2 * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(S2 * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)
TABLE["zhou2026.cor2.ring-star"] = (  # Corollary 2, Ring-Star, equations (19) and (22)
    L * A / R,
    sqrt(L * A * sigma**2) / sqrt(S1 * P * S2 * K * R),
    sqrt(L * A * zeta**2) / sqrt(S2 * R),
    sqrt(L * A * delta**2) / sqrt(S1 * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(S1**2 * P**2 * K * R**2),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(S1 * P * S2 * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(S1**2 * P**2 * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(S2 * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(S1 * R**2),
)
TABLE["zhou2026.cor2.ring-ring"] = (  # Corollary 2, Ring-Ring, equations (19) and (23)
    L * A / R,
    sqrt(L * A * sigma**2) / sqrt(S1 * P * S2 * K * R),
    sqrt(L * A * zeta**2) / sqrt(S2 * R),
    sqrt(L * A * delta**2) / sqrt(S1 * R),
    cbrt(L**2 * A**2 * sigma**2) / cbrt(S1 * P * S2 * K * R**2),
    cbrt(L**2 * A**2 * zeta**2) / cbrt(S2 * R**2),
    cbrt(L**2 * A**2 * delta**2) / cbrt(S1 * R**2),
)

# Theorem 2 with the constants of its proof: the last explicit lines of F.2-F.5, in the raw step eta.
# F.2: c1, c2 as printed; the constants are those of the recursion, divided by eta P K, Star-Star.
eta = eta_eff / (P * K)
c1 = 1 / (1 - 20 * eta**2 * L**2 * P**2 * K**2)
c2 = 1 / (half - 5 * half * eta * L * P * K - 20 * c1 * eta**2 * L**2 * P**2 * K**2)
TABLE["zhou2026.thm2-proof.star-star"] = (
    c2 * A / (eta * R * P * K),
    5 * half * c2 * eta * L / (S1 * S2) * sigma**2,
    10 * c1 * c2 * eta**2 * L**2 * K * sigma**2,
    10 * c1 * c2 * eta**2 * L**2 * P / S2 * K * sigma**2,
    5 * half * c2 * eta * L * P / S2 * K * zeta**2,
    10 * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2,
    10 * c1 * c2 * eta**2 * L**2 * P**2 / S2 * K**2 * zeta**2,
    5 * half * c2 * eta * L / S1 * P * K * delta**2,
    20 * c1 * c2 * eta**2 * L**2 * P**2 * K**2 * delta**2,
)
eta = eta_eff / (P * S2 * K)
c1 = 1 / (1 - 45 * eta**2 * L**2 * P**2 * S2**2 * K**2)
c2 = 1 / (half - 5 * half * eta * L * P * S2 * K - 45 * c1 * eta**2 * L**2 * P**2 * S2**2 * K**2)
TABLE["zhou2026.thm2-proof.star-ring"] = (  # F.3: c1, c2 and the line after "Let c2 =", Star-Ring
    c2 * A / (eta * R * P * S2 * K),
    5 * half * c2 * eta * L / S1 * sigma**2,
    45 * c1 * c2 * eta**2 * L**2 * P * S2 * K * sigma**2,
    5 * half * c2 * eta * L * P * K * zeta**2,
    45 * c1 * c2 * eta**2 * L**2 * P**2 * S2 * K**2 * zeta**2,
    5 * half * c2 * eta * L / S1 * P * S2 * K * delta**2,
    45 * c1 * c2 * eta**2 * L**2 * P**2 * S2**2 * K**2 * delta**2,
)
# F.4: c1, c2 (without the c2 printed inside it) and the line after "Let c2 =", Ring-Star.
eta = eta_eff / (S1 * P * K)
c1 = 1 / (1 - 45 * eta**2 * L**2 * S1**2 * P**2 * K**2)
c2 = 1 / (half - 5 * half * eta * L * S1 * P * K - 45 * c1 * eta**2 * L**2 * S1**2 * P**2 * K**2)
TABLE["zhou2026.thm2-proof.ring-star"] = (
    c2 * A / (eta * R * S1 * P * K),
    5 * half * c2 * eta * L / S2 * sigma**2,
    15 * c1 * c2 * eta**2 * L**2 * K * sigma**2,
    30 * c1 * c2 * eta**2 * L**2 * S1 * P / S2 * K * sigma**2,
    5 * half * c2 * eta * L * S1 * P / S2 * K * zeta**2,
    15 * c1 * c2 * eta**2 * L**2 * K**2 * zeta**2,
    30 * c1 * c2 * eta**2 * L**2 * S1**2 * P**2 / S2 * K**2 * zeta**2,
    5 * half * c2 * eta * L * P * K * delta**2,
    45 * c1 * c2 * eta**2 * L**2 * S1 * P**2 * K**2 * delta**2,
)
# F.5: c1 (with L^2), c2 (eta^2, no c2 inside it) and the line after "Let c2 =", Ring-Ring.
eta = eta_eff / (S1 * P * S2 * K)
c1 = 1 / (1 - 80 * eta**2 * L**2 * S1**2 * P**2 * S2**2 * K**2)
c2 = 1 / (half - 5 * half * eta * L * S1 * P * S2 * K - 80 * c1 * eta**2 * L**2 * S1**2 * P**2 * S2**2 * K**2)
TABLE["zhou2026.thm2-proof.ring-ring"] = (
    c2 * A / (eta * R * S1 * P * S2 * K),
    5 * half * c2 * eta * L * sigma**2,
    80 * c1 * c2 * eta**2 * L**2 * S1 * P * S2 * K * sigma**2,
    5 * half * c2 * eta * L * S1 * P * K * zeta**2,
    80 * c1 * c2 * eta**2 * L**2 * S1**2 * P**2 * S2 * K**2 * zeta**2,
    5 * half * c2 * eta * L * P * S2 * K * delta**2,
    80 * c1 * c2 * eta**2 * L**2 * S1 * P**2 * S2**2 * K**2 * delta**2,
)

# The project's own theorem, fixed order: u = L^2 eta~^2 < 0.24, c1 = 1/(1 - 5u/2), c2 = 1/(1/2 - 5 c1 u/6).
u = L**2 * eta_eff**2
c1 = 1 / (1 - 5 * u / 2)
c2 = 1 / (half - 5 * c1 * u / 6)
q = 5 * (sigma**2 / (P**2 * K) + sigma**2 / (P * M * K)) / 4 + 5 * (zeta**2 / P**2 + delta**2) / 6
# The project's theorem, fixed order, with q_SS
TABLE["hflbounds.sharp.star-star"] = (
    c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q),
)
u = L**2 * eta_eff**2
c1 = 1 / (1 - 5 * u / 2)
c2 = 1 / (half - 5 * c1 * u / 6)
q = 5 * sigma**2 / (4 * P * M * K) + 5 * zeta**2 / (12 * P**2) + 5 * delta**2 / 6
# The project's theorem, fixed order, with q_SR
TABLE["hflbounds.sharp.star-ring"] = (
    c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q),
)
u = L**2 * eta_eff**2
c1 = 1 / (1 - 5 * u / 2)
c2 = 1 / (half - 5 * c1 * u / 6)
q = (
    5 * (sigma**2 / (G**2 * P**2 * K) + sigma**2 / (G * P * M * K)) / 4
    + 5 * zeta**2 / (6 * G**2 * P**2)
    + 5 * delta**2 / 12
)
# The project's theorem, fixed order, with q_RS
TABLE["hflbounds.sharp.ring-star"] = (
    c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q),
)
u = L**2 * eta_eff**2
c1 = 1 / (1 - 5 * u / 2)
c2 = 1 / (half - 5 * c1 * u / 6)
q = 5 * sigma**2 / (4 * G * P * M * K) + 5 * (zeta**2 / (G**2 * P**2) + delta**2) / 12
# The project's theorem, fixed order, with q_RR
TABLE["hflbounds.sharp.ring-ring"] = (
    c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q),
)

# The project's own theorem, random order (M, G >= 2): 5/12 zeta^2 -> 5/8 zeta^2/M where the low tier is a
# ring, 5/12 delta^2 -> 5/8 delta^2/G where the top tier is a ring.
# The project's theorem, random order, Star-Star: no ring, hence the fixed-order q_SS.
u = L**2 * eta_eff**2
c1 = 1 / (1 - 5 * u / 2)
c2 = 1 / (half - 5 * c1 * u / 6)
q = 5 * (sigma**2 / (P**2 * K) + sigma**2 / (P * M * K)) / 4 + 5 * (zeta**2 / P**2 + delta**2) / 6
TABLE["hflbounds.sharp-shuffle.star-star"] = (
    c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q),
)
u = L**2 * eta_eff**2
c1 = 1 / (1 - 5 * u / 2)
c2 = 1 / (half - 5 * c1 * u / 6)
q = 5 * sigma**2 / (4 * P * M * K) + 5 * zeta**2 / (8 * M * P**2) + 5 * delta**2 / 6
# The project's theorem, random order, Star-Ring: 5/8 zeta^2/(M P^2)
TABLE["hflbounds.sharp-shuffle.star-ring"] = (
    c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q),
)
u = L**2 * eta_eff**2
c1 = 1 / (1 - 5 * u / 2)
c2 = 1 / (half - 5 * c1 * u / 6)
q = (
    5 * (sigma**2 / (G**2 * P**2 * K) + sigma**2 / (G * P * M * K)) / 4
    + 5 * zeta**2 / (6 * G**2 * P**2)
    + 5 * delta**2 / (8 * G)
)
# The project's theorem, random order, Ring-Star: 5/8 delta^2/G
TABLE["hflbounds.sharp-shuffle.ring-star"] = (
    c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q),
)
# The project's theorem, random order, Ring-Ring: 5/8 zeta^2/(M G^2 P^2) and 5/8 delta^2/G.
u = L**2 * eta_eff**2
c1 = 1 / (1 - 5 * u / 2)
c2 = 1 / (half - 5 * c1 * u / 6)
q = 5 * sigma**2 / (4 * G * P * M * K) + 5 * zeta**2 / (8 * M * G**2 * P**2) + 5 * delta**2 / (8 * G)
TABLE["hflbounds.sharp-shuffle.ring-ring"] = (
    c2 * (A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * P * M * K) + c1 * L**2 * eta_eff**2 * q),
)

# The largest admissible effective step, bound by bound.

_CAPS: dict[str, Formula] = {
    # Theorem 1, the line above (4): 1/sqrt(30 L) printed, corrected for units.
    "zhou2026.thm1.star-star": 1 / (sqrt(30) * L),
    # Theorem 1, the line above (5): 1/sqrt(60 L) printed, corrected as D.3 prints it.
    "zhou2026.thm1.star-ring": 1 / (sqrt(60) * L),
    # Theorem 1, the line above (6): 1/sqrt(60 L) printed, corrected for units.
    "zhou2026.thm1.ring-star": 1 / (sqrt(60) * L),
    "zhou2026.thm1.ring-ring": 1 / (10 * L),  # Theorem 1, the line above (7)
    "zhou2026.thm1-proof.star-star": sqrt(Fraction(1, 30)) / L,  # D.2: (1 - 10u)/2 = 10u, hence u = L^2 eta~^2 = 1/30
    "zhou2026.thm1-proof.star-ring": sqrt(Fraction(1, 60)) / L,  # D.3: (1 - 15u)/2 = 45u/2, hence u = 1/60
    "zhou2026.thm1-proof.ring-star": sqrt(Fraction(1, 60)) / L,  # D.4: (1 - 15u)/2 = 45u/2, hence u = 1/60
    "zhou2026.thm1-proof.ring-ring": 1 / (10 * L),  # D.5: (1 - 20u)/2 = 40u, hence u = 1/100
    "zhou2026.shuffle.star-star": 1 / (sqrt(30) * L),  # E.1, "Let eta~ = eta PK, and eta~ <="
    "zhou2026.shuffle.star-ring": 1 / (sqrt(60) * L),  # E.2, "Let eta~ = eta PMK, and eta~ <="
    "zhou2026.shuffle.ring-star": 1 / (sqrt(60) * L),  # E.3, "Let eta~ = eta GPK, and eta~ <="
    "zhou2026.shuffle.ring-ring": 1 / (10 * L),  # E.4, "Let eta~ = eta GPMK, and eta~ <="
    "zhou2026.shuffle-proof.star-star": sqrt(Fraction(1, 30)) / L,  # E.1: (1 - 10u)/2 = 10u, hence u = 1/30
    "zhou2026.shuffle-proof.star-ring": sqrt(Fraction(1, 60)) / L,  # E.2: (1 - 15u)/2 = 45u/2, hence u = 1/60
    "zhou2026.shuffle-proof.ring-star": sqrt(Fraction(1, 60)) / L,  # E.3: (1 - 15u)/2 = 45u/2, hence u = 1/60
    "zhou2026.shuffle-proof.ring-ring": 1 / (10 * L),  # E.4: (1 - 20u)/2 = 40u, hence u = 1/100
    "zhou2026.thm2.star-star": 1 / (10 * L),  # Theorem 2, the line above (8)
    "zhou2026.thm2.star-ring": 1 / (15 * L),  # Theorem 2, the line above (10); F.3 prints 1/(45 L)
    "zhou2026.thm2.ring-star": 1 / (15 * L),  # Theorem 2, the line above (11)
    "zhou2026.thm2.ring-ring": 1 / (20 * L),  # Theorem 2, the line above (13)
    # F.2, x = L eta~: (1 - 5x)(1 - 20x^2)/2 = 20x^2, that is 100x^3 - 60x^2 - 5x + 1 = 0, hence x = 1/10.
    "zhou2026.thm2-proof.star-star": 1 / (10 * L),
    # F.3, x = L eta~: (1 - 5x)(1 - 45x^2)/2 = 45x^2, that is 225x^3 - 135x^2 - 5x + 1 = 0.
    "zhou2026.thm2-proof.star-ring": _smallest_positive_root(225, -135, -5, 1) / L,
    # F.4, x = L eta~: (1 - 5x)(1 - 45x^2)/2 = 45x^2, that is 225x^3 - 135x^2 - 5x + 1 = 0.
    "zhou2026.thm2-proof.ring-star": _smallest_positive_root(225, -135, -5, 1) / L,
    # F.5, x = L eta~: (1 - 5x)(1 - 80x^2)/2 = 80x^2, that is 400x^3 - 240x^2 - 5x + 1 = 0.
    "zhou2026.thm2-proof.ring-ring": _smallest_positive_root(400, -240, -5, 1) / L,
    # The project's theorem: (1 - 5u/2)/2 = 5u/6, hence u = L^2 eta~^2 = 6/25 = 0.24, for every topology.
    **{name: sqrt(6) / (5 * L) for name in TABLE if name.startswith("hflbounds.sharp")},
}

# The effective steps. Full participation: Theorem 1 (the lines above (4)-(7)), again in D.2-D.5 and E.1-E.4.
# Partial: F.2-F.5 (the lines "Let eta~ ="), which correct Theorem 2's own.


_RAW = {
    "star-star": eta_eff / (P * K),  # Theorem 1, D.2, E.1: eta~ = P K eta
    "star-ring": eta_eff / (P * M * K),  # Theorem 1, D.3, E.2: eta~ = P M K eta
    "ring-star": eta_eff / (G * P * K),  # Theorem 1, D.4, E.3: eta~ = G P K eta
    "ring-ring": eta_eff / (G * P * M * K),  # Theorem 1, D.5, E.4: eta~ = G P M K eta
}
_RAW_PARTIAL = {
    "star-star": eta_eff / (P * K),  # F.2: eta~ = eta P K
    "star-ring": eta_eff / (P * S2 * K),  # F.3: eta~ = eta P S2 K (Theorem 2 prints P M K eta)
    "ring-star": eta_eff / (S1 * P * K),  # F.4: eta~ = eta S1 P K (Theorem 2 prints G P K eta)
    "ring-ring": eta_eff / (S1 * P * S2 * K),  # F.5: eta~ = eta S1 P S2 K (Theorem 2 prints G P M K eta)
}
BOUND_IDS = tuple(TABLE)


def cap(bound_id: str, **numbers: Num) -> Num | None:
    """The largest admissible effective step: as stated, or the pole of c2 where the constants are explicit.

    Args:
        bound_id: one of `BOUND_IDS`.
        **numbers: L is used; the others are ignored.

    Returns:
        A Fraction or an mpmath.mpf as for `value`; None for a rate, which has no step.
    """
    return evaluate((_CAPS[bound_id],), **numbers)[0] if bound_id in _CAPS else None


def raw_step(bound_id: str, eta_eff: Num, **numbers: Num) -> Num | None:
    """The learning rate eta that one client uses, from the effective step.

    Args:
        bound_id: one of `BOUND_IDS`.
        eta_eff: the effective step.
        **numbers: the letters among G M P K S1 S2 that the bound's effective step has (others are ignored).

    Returns:
        A Fraction or an mpmath.mpf as for `value`; None for a rate, which has no step.
    """
    if bound_id not in _CAPS:
        return None
    _, label, topology = bound_id.split(".")
    raw = (_RAW_PARTIAL if label.startswith("thm2") else _RAW)[topology]
    return evaluate((raw,), eta_eff=eta_eff, **numbers)[0]
