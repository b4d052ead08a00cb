"""A second encoding of the bounds that `second_encoding.py` does not have, typed apart as plain arithmetic.

Each entry below was typed from the text of its paper, or from the statement of this project's own results, and
shares no code and no reading with the catalogue. It has the summands of the right-hand side, so that a sum with
negative parts has a size to compare rounding with. What is printed is typed as it is printed, slips included, for
the ids that say so (`liu2026.*-printed`, `zhou2026.lemma2-printed`, all of `xie2024.*`); a tail that the text copy
lost is noted where it is filled in.

Letters are those of `hflbounds.core.quantities`: zeta within groups and delta between them (the early version of the
unified analysis prints zeta-hat and zeta), Ge edge rounds, beta_lr the numerator of a step schedule. An O(.) or a
`\\lesssim` is read with the constant 1 on every summand.

Numbers may be int, Fraction, float or mpmath.mpf. Where all are rational and no root is taken the value is an exact
Fraction; what counts alone decide (mixing factors, overlaps, finite sums) is exact in any case.
"""

import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from itertools import product
from math import comb, lcm
from typing import Any

import mpmath
from typed_formulas import (
    Formula,
    Num,
    Table,
    alone,
    cbrt,
    counted,
    half,
    largest,
    letters_of,
    sine,
    sqrt,
    to_mpf,
    whole,
)

G, M, S1, S2, P, K, R, T, L, A, sigma, zeta, delta = letters_of("G M S1 S2 P K R T L A sigma zeta delta")
eta_eff, eta, grad, E_r, H, CD, beta_mix, kappa = letters_of("eta_eff eta grad E_r H CD beta_mix kappa")
Delta_t, V_t, cycles, hertz, bits, T_CES, T_ECS = letters_of("Delta_t V_t cycles hertz bits T_CES T_ECS")
E, Ge, p2, Gamma, beta_lr, mu, alpha, Delta0, t, lambda2 = letters_of("E Ge p2 Gamma beta_lr mu alpha Delta0 t lambda2")
n_s, n_h, b_hs, b_hh, b_sh, s = letters_of("n_s n_h b_hs b_hh b_sh s")
(lam,) = letters_of("lam")
(delta_H,) = letters_of("delta_H")
R_sub, K_buf, alpha_dyn, eta_g, eta_sub = letters_of("R_sub K_buf alpha_dyn eta_g eta_sub")
Gamma_max, zeta_max, sigma_s, sigma_g = letters_of("Gamma_max zeta_max sigma_s sigma_g")
tau_max, moved = letters_of("tau_max moved")
TABLE = Table()
value, summands, letters = TABLE.value, TABLE.summands, TABLE.letters

# zhou2025: the early version of the unified analysis. Theorem 1, equations (5)-(8).
TABLE["zhou2025.thm1.star-star"] = (  # Equation (5)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (P * M * K),
    L * eta_eff * sigma**2 / (P**2 * K**2),
    L**2 * eta_eff**2 * zeta**2 / P**2,
    L**2 * eta_eff**2 * delta**2,
)
TABLE["zhou2025.thm1.star-ring"] = (  # Equation (6)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (P * M * K),
    L**2 * eta_eff**2 * zeta**2 / P**2,
    L**2 * eta_eff**2 * delta**2,
)
TABLE["zhou2025.thm1.ring-star"] = (  # Equation (7)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * sigma**2 / (G**2 * P**2 * K**2),
    L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2),
    L**2 * eta_eff**2 * delta**2,
)
TABLE["zhou2025.thm1.ring-ring"] = (  # Equation (8)
    A / (eta_eff * R),
    L * eta_eff * sigma**2 / (G * P * M * K),
    L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2),
    L**2 * eta_eff**2 * delta**2,
)
# Corollary 1, equations (9)-(12).
TABLE["zhou2025.cor1.star-star"] = (  # Equation (9)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(P * M * K * R),
    sqrt(L * sigma**2 * A) / sqrt(P**2 * K**2 * R),
    cbrt(L**2 * A**2 * zeta**2) / (cbrt(P**2) * cbrt(R**2)),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)
TABLE["zhou2025.cor1.star-ring"] = (  # Equation (10)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(P * M * K * R),
    cbrt(L**2 * A**2 * zeta**2) / (cbrt(P**2) * cbrt(R**2)),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)
TABLE["zhou2025.cor1.ring-star"] = (  # Equation (11)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(G * P * M * K * R),
    sqrt(L * sigma**2 * A) / sqrt(G**2 * P**2 * K**2 * R),
    cbrt(L**2 * A**2 * zeta**2) / (cbrt(G**2) * cbrt(P**2) * cbrt(R**2)),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)
TABLE["zhou2025.cor1.ring-ring"] = (  # Equation (12)
    L * A / R,
    sqrt(L * sigma**2 * A) / sqrt(G * P * M * K * R),
    cbrt(L**2 * A**2 * zeta**2) / (cbrt(G**2) * cbrt(P**2) * cbrt(R**2)),
    cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
)
# Appendix C.2, the four displays after "With eta~ <= 1/(12L)".
TABLE["zhou2025.thm1-proof.star-star"] = (  # C.2, Star-Star
    12 * L * eta_eff * sigma**2 / (5 * G * P * M * K),
    12 * L**2 * eta_eff**2 * sigma**2 / (P**2 * K**2),
    12 * L**2 * eta_eff**2 * sigma**2 / (P * M * K),
    12 * L**2 * eta_eff**2 * zeta**2 / P**2,
    12 * L**2 * eta_eff**2 * delta**2 / P**2,
    12 * L**2 * eta_eff**2 * delta**2,
    12 * A / (5 * eta_eff * R),
)
# C.2, Star-Ring; after the noise the text copy breaks off, and Table 6's Phi_2 says what must follow.
TABLE["zhou2025.thm1-proof.star-ring"] = (
    18 * L * eta_eff * sigma**2 / (5 * G * P * M * K),
    18 * L**2 * eta_eff**2 * sigma**2 / (P**2 * M**2 * K),
    18 * L**2 * eta_eff**2 * sigma**2 / (P**2 * M * K),
    18 * L**2 * eta_eff**2 * sigma**2 / (P * M * K),
    18 * L**2 * eta_eff**2 * zeta**2 / (P**2 * M**2),
    18 * L**2 * eta_eff**2 * zeta**2 / P**2,
    18 * L**2 * eta_eff**2 * delta**2 / (P**2 * M**2),
    18 * L**2 * eta_eff**2 * delta**2 / P**2,
    18 * L**2 * eta_eff**2 * delta**2,
    18 * A / (5 * eta_eff * R),
)
TABLE["zhou2025.thm1-proof.ring-star"] = (  # C.2, Ring-Star
    18 * L * eta_eff * sigma**2 / (5 * G * P * M * K),
    18 * L**2 * eta_eff**2 * sigma**2 / (G**2 * P**2 * K**2),
    18 * L**2 * eta_eff**2 * sigma**2 / (G**2 * P * M * K),
    18 * L**2 * eta_eff**2 * sigma**2 / (G * P * M * K),
    18 * L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2),
    18 * L**2 * eta_eff**2 * delta**2 / (G**2 * P**2),
    18 * L**2 * eta_eff**2 * delta**2 / G**2,
    18 * L**2 * eta_eff**2 * delta**2,
    18 * A / (5 * eta_eff * R),
)
TABLE["zhou2025.thm1-proof.ring-ring"] = (  # C.2, Ring-Ring
    24 * L * eta_eff * sigma**2 / (5 * G * P * M * K),
    24 * L**2 * eta_eff**2 * sigma**2 / (G**2 * P**2 * M**2 * K),
    24 * L**2 * eta_eff**2 * sigma**2 / (G**2 * P**2 * M * K),
    24 * L**2 * eta_eff**2 * sigma**2 / (G**2 * P * M * K),
    24 * L**2 * eta_eff**2 * sigma**2 / (G * P * M * K),
    24 * L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2 * M**2),
    24 * L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2),
    24 * L**2 * eta_eff**2 * delta**2 / (G**2 * P**2 * M**2),
    24 * L**2 * eta_eff**2 * delta**2 / (G**2 * P**2),
    24 * L**2 * eta_eff**2 * delta**2 / G**2,
    24 * L**2 * eta_eff**2 * delta**2,
    24 * A / (5 * eta_eff * R),
)

# Lemma 1, with K GPMK eta = eta_eff (the script K of the page, which the copy has as another K).
TABLE["zhou2025.lemma1"] = (
    -eta_eff * grad**2 / 2,
    L * eta_eff**2 * sigma**2 / (G * P * M * K),
    L**2 * eta_eff * E_r / (2 * G * P * M * K),
)
# Lemma 2, in the raw step; hats that the copy lost are put back. Star-Star's last two have no M there.
PIECES = {
    "star-star": (
        (11 * G * P * M * K**2, 11 * G * P**2 * K**2),
        (11 * G * P * M * K**3,),
        (11 * G * P * M * K**3, 11 * G * P**3 * K**3),
        11 * G * P**3 * K**3,
    ),
    "star-ring": (
        (16 * G * P * M * K**2, 16 * G * P * M**2 * K**2, 16 * G * P**2 * M**2 * K**2),
        (16 * G * P * M * K**3, 16 * G * P * M**3 * K**3),
        (16 * G * P * M * K**3, 16 * G * P * M**3 * K**3, 16 * G * P**3 * M**3 * K**3),
        16 * G * P**3 * M**3 * K**3,
    ),
    "ring-star": (
        (16 * G * P * M * K**2, 16 * G * P**2 * K**2, 16 * G**2 * P**2 * K**2),
        (16 * G * P * M * K**3,),
        (16 * G * P * M * K**3, 16 * G * P**3 * M * K**3, 16 * G**3 * P**3 * M * K**3),
        16 * G**3 * P**3 * M * K**3,
    ),
    "ring-ring": (
        (21 * G * P * M * K**2, 21 * G * P * M**2 * K**2, 21 * G * P**2 * M**2 * K**2, 21 * G**2 * P**2 * M**2 * K**2),
        (21 * G * P * M * K**3, 21 * G * P * M**3 * K**3),
        (
            21 * G * P * M * K**3,
            21 * G * P * M**3 * K**3,
            21 * G * P**3 * M**3 * K**3,
            21 * G**3 * P**3 * M**3 * K**3,
        ),
        21 * G**3 * P**3 * M**3 * K**3,
    ),
}
STEPS = {"star-star": P * K, "star-ring": P * M * K, "ring-star": G * P * K, "ring-ring": G * P * M * K}
for name, (noisy, inside, between, longest) in PIECES.items():
    squares = [(n, sigma**2) for n in noisy] + [(n, zeta**2) for n in inside] + [(n, delta**2) for n in between]
    TABLE[f"zhou2025.lemma2.{name}"] = (
        *(n * eta**2 * square for n, square in squares),
        longest * eta**2 * grad**2,
    )
    # C.2, second display and the one before "With eta~ <= 1/(12L)", with Phi_1 and Phi_2 at eta = eta_eff/(K GPMK)
    raw = eta_eff / STEPS[name]
    phi_1, phi_2 = longest * raw**2, [n * raw**2 * square for n, square in squares]
    rest = half - L**2 * phi_1 / (2 * G * P * M * K)
    TABLE[f"zhou2025.recursion.{name}"] = (
        -eta_eff * rest * grad**2,
        L * eta_eff**2 / (G * P * M * K) * sigma**2,
        *(L**2 * eta_eff * part / (2 * G * P * M * K) for part in phi_2),
    )
    TABLE[f"zhou2025.smallest-gradient.{name}"] = (
        A / (rest * eta_eff * R),
        L * eta_eff / (G * P * M * K * rest) * sigma**2,
        *(L**2 * part / (2 * G * P * M * K * rest) for part in phi_2),
    )

# Rates of other papers as Table 1 quotes them: the camera ready's (A and constants omitted there) ...
TABLE["koloskova2020.fedavg"] = (  # Camera ready, Table 1, PFL
    sqrt(L) * sigma / sqrt(M * K * R),
    cbrt(L) ** 2 * cbrt(sigma) ** 2 / cbrt(K * R**2),
    cbrt(L) ** 2 * cbrt(delta) ** 2 / cbrt(R**2),
)
TABLE["li2023.sfl"] = (  # Camera ready, Table 1, SFL
    sqrt(L) * sigma / sqrt(M * K * R),
    cbrt(L) ** 2 * cbrt(sigma) ** 2 / cbrt(M * K * R**2),
    cbrt(L) ** 2 * cbrt(delta) ** 2 / cbrt(R**2),
)
TABLE["wang2022.hsgd"] = (  # Camera ready, Table 1, second row of Star-Star
    sqrt(L) * sigma / sqrt(G * P * M * K * R),
    cbrt(L) ** 2 * cbrt(sigma) ** 2 / cbrt(P**2 * K * R**2),
    cbrt(L) ** 2 * cbrt(sigma) ** 2 / cbrt(P * M * K * R**2),
    cbrt(L) ** 2 * cbrt(zeta) ** 2 / cbrt(P**2 * R**2),
    cbrt(L) ** 2 * cbrt(delta) ** 2 / cbrt(R**2),
)
# ... and the early version's.
TABLE["wang2022.hsgd-early"] = (  # Early version, Table 1, footnote 1; its zeta is between groups, its zeta-hat within
    L * A / R,
    sqrt(L * A * sigma**2 / (K * P * M * G * R)),
    sqrt(L * A * sigma / R * sqrt(M / (K * P))),
    cbrt(L * A * delta / R) ** 2,
    cbrt(L * A * zeta / (P * R)) ** 2,
)
TABLE["liu2022.qsgd"] = (  # Early version, Table 1, footnote 2
    L * A / sqrt(P * K * R),
    sigma**2 / (M * R),
    sigma**2 / (P * R),
    1 / sqrt(P * K * R) * sigma**2 / (G * M),
)
TABLE["jiang2024.hfl"] = (  # Early version, Table 1, footnote 3
    L * A / sqrt(G * P * M * K * R),
    L * sigma**2 / sqrt(G * P * M * K * R),
    zeta**2 / (K**2 * R),
    delta**2 / (K**2 * R),
    delta**2 / R,
)

# Orders in prose: camera ready, end of Section 1 (two papers, one order); liu2026, IV-B1.
TABLE["lee2020.star-ring-order"] = (1 / sqrt(R),)
TABLE["yan2025.ring-star-order"] = (1 / sqrt(R),)
TABLE["stich2018.sgd-order"] = (1 / sqrt(t), sigma**2 / sqrt(t))

# zhou2026, D.1: Lemma 1, with eta c0 GPMK = eta_eff, so that eta^2 c0^2 GPMK = eta_eff^2/(GPMK), and
# eta c0 = eta_eff/(GPMK). F.1: Lemma 2 likewise with S1 and S2.
TABLE["zhou2026.lemma1"] = (  # Lemma 1
    -(eta_eff / 2) * grad**2,
    L * eta_eff**2 * sigma**2 / (G * M * P * K),
    L**2 * eta_eff * E_r / (2 * G * M * P * K),
)
TABLE["zhou2026.lemma2"] = (  # Lemma 2 as F.2-F.5 use it: clients' heterogeneity over S2, groups' over S1
    -eta_eff / 2 * grad**2,
    5 * L * eta_eff**2 / 2 * grad**2,
    5 * L * eta_eff**2 * sigma**2 / (2 * S1 * S2 * P * K),
    5 * L * eta_eff**2 * zeta**2 / (2 * S2),
    5 * L * eta_eff**2 * delta**2 / (2 * S1),
    L**2 * eta_eff * E_r / (S1 * S2 * P * K),
)
# Lemma 2 with clients drawn apart in every group, and the variances of draws without replacement.
TABLE["zhou2026.lemma2-independent"] = (
    -eta_eff / 2 * grad**2,
    5 * L * eta_eff**2 / 2 * grad**2,
    5 * L * eta_eff**2 * sigma**2 / (2 * S1 * S2 * P * K),
    5 * L * eta_eff**2 * zeta**2 * (M - S2) / (2 * S1 * S2 * (M - 1)),
    5 * L * eta_eff**2 * delta**2 * (G - S1) / (2 * S1 * (G - 1)),
    L**2 * eta_eff * E_r / (S1 * S2 * P * K),
)
c0_eta = eta_eff / (S1 * S2 * P * K)
TABLE["zhou2026.lemma2-printed"] = (  # Lemma 2 as printed: S1 P^2 S2^2 K^2 zeta^2 and S1^2 P^2 S2 K^2 delta^2
    -eta_eff / 2 * grad**2,
    5 * L * eta_eff**2 / 2 * grad**2,
    5 * L * c0_eta**2 * S1 * S2 * P * K * sigma**2 / 2,
    5 * L * c0_eta**2 * S1 * P**2 * S2**2 * K**2 * zeta**2 / 2,
    5 * L * c0_eta**2 * S1**2 * P**2 * S2 * K**2 * delta**2 / 2,
    L**2 * c0_eta * E_r,
)
# Drift, in the raw step: the lines after "Let c1 =" of D.2-D.5 ...
c1 = 1 / (1 - 10 * L**2 * P**2 * K**2 * eta**2)
TABLE["zhou2026.drift.star-star"] = (  # D.2
    10 * c1 * eta**2 * G * P * M * K**2 * sigma**2,
    10 * c1 * eta**2 * G * P**2 * K**2 * sigma**2,
    10 * c1 * eta**2 * G * P * M * K**3 * zeta**2,
    20 * c1 * eta**2 * G * P**3 * M * K**3 * delta**2,
    20 * c1 * eta**2 * G * P**3 * M * K**3 * grad**2,
)
c1 = 1 / (1 - 15 * L**2 * P**2 * M**2 * K**2 * eta**2)
TABLE["zhou2026.drift.star-ring"] = (  # D.3
    45 * c1 * eta**2 * G * P**2 * M**2 * K**2 * sigma**2,
    30 * c1 * eta**2 * G * P * M**3 * K**3 * zeta**2,
    45 * c1 * eta**2 * G * P**3 * M**3 * K**3 * delta**2,
    45 * c1 * eta**2 * G * P**3 * M**3 * K**3 * grad**2,
)
c1 = 1 / (1 - 15 * L**2 * G**2 * P**2 * K**2 * eta**2)
TABLE["zhou2026.drift.ring-star"] = (  # D.4
    15 * c1 * eta**2 * G * P * M * K**2 * sigma**2,
    30 * c1 * eta**2 * G**2 * P**2 * K**2 * sigma**2,
    15 * c1 * eta**2 * G * P * M * K**3 * zeta**2,
    45 * c1 * eta**2 * G**3 * P**3 * M * K**3 * delta**2,
    45 * c1 * eta**2 * G**3 * P**3 * M * K**3 * grad**2,
)
c1 = 1 / (1 - 20 * L**2 * G**2 * P**2 * M**2 * K**2 * eta**2)
TABLE["zhou2026.drift.ring-ring"] = (  # D.5
    80 * c1 * eta**2 * G**2 * P**2 * M**2 * K**2 * sigma**2,
    40 * c1 * eta**2 * G * P * M**3 * K**3 * zeta**2,
    80 * c1 * eta**2 * G**3 * P**3 * M**3 * K**3 * delta**2,
    80 * c1 * eta**2 * G**3 * P**3 * M**3 * K**3 * grad**2,
)
# ... of E.1-E.4 ...
c1 = 1 / (1 - 10 * L**2 * P**2 * K**2 * eta**2)
TABLE["zhou2026.drift-shuffle.star-star"] = (  # E.1
    10 * c1 * eta**2 * G * P * M * K**2 * sigma**2,
    10 * c1 * eta**2 * G * P**2 * K**2 * sigma**2,
    10 * c1 * eta**2 * G * P * M * K**3 * zeta**2,
    20 * c1 * eta**2 * G * P**3 * M * K**3 * delta**2,
    20 * c1 * eta**2 * G * P**3 * M * K**3 * grad**2,
)
c1 = 1 / (1 - 15 * L**2 * P**2 * M**2 * K**2 * eta**2)
TABLE["zhou2026.drift-shuffle.star-ring"] = (  # E.2
    45 * c1 * eta**2 * G * P**2 * M**2 * K**2 * sigma**2,
    30 * c1 * eta**2 * G * P * M**2 * K**3 * zeta**2,
    45 * c1 * eta**2 * G * P**3 * M**3 * K**3 * delta**2,
    45 * c1 * eta**2 * G * P**3 * M**3 * K**3 * grad**2,
)
c1 = 1 / (1 - 15 * L**2 * G**2 * P**2 * K**2 * eta**2)
TABLE["zhou2026.drift-shuffle.ring-star"] = (  # E.3
    15 * c1 * eta**2 * G * P * M * K**2 * sigma**2,
    30 * c1 * eta**2 * G**2 * P**2 * K**2 * sigma**2,
    15 * c1 * eta**2 * G * P * M * K**3 * zeta**2,
    45 * c1 * eta**2 * G**2 * P**3 * M * K**3 * delta**2,
    45 * c1 * eta**2 * G**3 * P**3 * M * K**3 * grad**2,
)
c1 = 1 / (1 - 20 * L**2 * G**2 * P**2 * M**2 * K**2 * eta**2)
TABLE["zhou2026.drift-shuffle.ring-ring"] = (  # E.4
    80 * c1 * eta**2 * G**2 * P**2 * M**2 * K**2 * sigma**2,
    40 * c1 * eta**2 * G * P * M**2 * K**3 * zeta**2,
    80 * c1 * eta**2 * G**2 * P**3 * M**3 * K**3 * delta**2,
    80 * c1 * eta**2 * G**3 * P**3 * M**3 * K**3 * grad**2,
)
# ... and of F.2-F.5.
c1 = 1 / (1 - 20 * eta**2 * L**2 * P**2 * K**2)
TABLE["zhou2026.drift-partial.star-star"] = (  # F.2
    10 * c1 * eta**2 * S1 * P * S2 * K**2 * sigma**2,
    10 * c1 * eta**2 * S1 * P**2 * K**2 * sigma**2,
    10 * c1 * eta**2 * S1 * P * S2 * K**3 * zeta**2,
    10 * c1 * eta**2 * S1 * P**3 * K**3 * zeta**2,
    20 * c1 * eta**2 * S1 * P**3 * S2 * K**3 * delta**2,
    20 * c1 * eta**2 * S1 * P**3 * S2 * K**3 * grad**2,
)
c1 = 1 / (1 - 45 * eta**2 * L**2 * P**2 * S2**2 * K**2)
TABLE["zhou2026.drift-partial.star-ring"] = (  # F.3
    45 * c1 * eta**2 * S1 * P**2 * S2**2 * K**2 * sigma**2,
    45 * c1 * eta**2 * S1 * P**3 * S2**2 * K**3 * zeta**2,
    45 * c1 * eta**2 * S1 * P**3 * S2**3 * K**3 * delta**2,
    45 * c1 * eta**2 * S1 * P**3 * S2**3 * K**3 * grad**2,
)
c1 = 1 / (1 - 45 * eta**2 * L**2 * S1**2 * P**2 * K**2)
TABLE["zhou2026.drift-partial.ring-star"] = (  # F.4
    15 * c1 * eta**2 * S1 * P * S2 * K**2 * sigma**2,
    30 * c1 * eta**2 * S1**2 * P**2 * K**2 * sigma**2,
    15 * c1 * eta**2 * S1 * P * S2 * K**3 * zeta**2,
    30 * c1 * eta**2 * S1**3 * P**3 * K**3 * zeta**2,
    45 * c1 * eta**2 * S1**2 * P**3 * S2 * K**3 * delta**2,
    45 * c1 * eta**2 * S1**3 * P**3 * S2 * K**3 * grad**2,
)
c1 = 1 / (1 - 80 * eta**2 * L**2 * S1**2 * P**2 * S2**2 * K**2)
TABLE["zhou2026.drift-partial.ring-ring"] = (  # F.5; c1 with the L^2 that the display omits
    80 * c1 * eta**2 * S1**2 * P**2 * S2**2 * K**2 * sigma**2,
    80 * c1 * eta**2 * S1**3 * P**3 * S2**2 * K**3 * zeta**2,
    80 * c1 * eta**2 * S1**2 * P**3 * S2**3 * K**3 * delta**2,
    80 * c1 * eta**2 * S1**3 * P**3 * S2**3 * K**3 * grad**2,
)
# The displays after "After substituting E_r into ...": D.2-D.5, and E.1-E.4 with a power less of M or G.
for name, cubes in (("recursion", True), ("recursion-shuffle", False)):
    c1 = 1 / (1 - 10 * L**2 * P**2 * K**2 * eta**2)
    TABLE[f"zhou2026.{name}.star-star"] = (
        -eta * P * K * (half - 10 * c1 * eta**2 * L**2 * P**2 * K**2) * grad**2,
        eta**2 * L * P * K / (G * M) * sigma**2,
        5 * c1 * eta**3 * L**2 * P * K**2 * sigma**2,
        5 * c1 * eta**3 * L**2 * P**2 * K**2 / M * sigma**2,
        5 * c1 * eta**3 * L**2 * P * K**3 * zeta**2,
        10 * c1 * eta**3 * L**2 * P**3 * K**3 * delta**2,
    )
    c1 = 1 / (1 - 15 * L**2 * P**2 * M**2 * K**2 * eta**2)
    TABLE[f"zhou2026.{name}.star-ring"] = (
        -eta * M * P * K * (half - 45 * half * c1 * eta**2 * L**2 * P**2 * M**2 * K**2) * grad**2,
        eta**2 * L * P * M * K / G * sigma**2,
        45 * half * c1 * eta**3 * L**2 * P**2 * M**2 * K**2 * sigma**2,
        15 * c1 * eta**3 * L**2 * P * (M**3 if cubes else M**2) * K**3 * zeta**2,
        45 * half * c1 * eta**3 * L**2 * P**3 * M**3 * K**3 * delta**2,
    )
    c1 = 1 / (1 - 15 * L**2 * G**2 * P**2 * K**2 * eta**2)
    TABLE[f"zhou2026.{name}.ring-star"] = (
        -eta * G * P * K * (half - 45 * half * c1 * eta**2 * L**2 * G**2 * P**2 * K**2) * grad**2,
        eta**2 * L * G * P * K / M * sigma**2,
        15 * half * c1 * eta**3 * L**2 * G * P * K**2 * sigma**2,
        15 * c1 * eta**3 * L**2 * G**2 * P**2 * K**2 / M * sigma**2,
        15 * half * c1 * eta**3 * L**2 * G * P * K**3 * zeta**2,
        45 * half * c1 * eta**3 * L**2 * (G**3 if cubes else G**2) * P**3 * K**3 * delta**2,
    )
    c1 = 1 / (1 - 20 * L**2 * G**2 * P**2 * M**2 * K**2 * eta**2)
    TABLE[f"zhou2026.{name}.ring-ring"] = (  # the noise of second order with G^2, where the page has G
        -eta * G * P * M * K * (half - 40 * c1 * eta**2 * L**2 * G**2 * P**2 * M**2 * K**2) * grad**2,
        eta**2 * L * G * P * M * K * sigma**2,
        40 * c1 * eta**3 * L**2 * G**2 * P**2 * M**2 * K**2 * sigma**2,
        20 * c1 * eta**3 * L**2 * G * P * (M**3 if cubes else M**2) * K**3 * zeta**2,
        40 * c1 * eta**3 * L**2 * (G**3 if cubes else G**2) * P**3 * M**3 * K**3 * delta**2,
    )
# F.2 (whose 1/2 before eta L PK should be 5/2), F.4, F.5; F.3 shows the mean over rounds, times eta PS2K/c2 here.
c1 = 1 / (1 - 20 * eta**2 * L**2 * P**2 * K**2)
TABLE["zhou2026.recursion-partial.star-star"] = (
    -eta * P * K * (half - 5 * half * eta * L * P * K - 20 * c1 * eta**2 * L**2 * P**2 * K**2) * grad**2,
    5 * half * eta**2 * L / S1 * P / S2 * K * sigma**2,
    10 * c1 * eta**3 * L**2 * P * K**2 * sigma**2,
    10 * c1 * eta**3 * L**2 * P**2 / S2 * K**2 * sigma**2,
    5 * half * eta**2 * L * P**2 / S2 * K**2 * zeta**2,
    10 * c1 * eta**3 * L**2 * P * K**3 * zeta**2,
    10 * c1 * eta**3 * L**2 * P**3 / S2 * K**3 * zeta**2,
    5 * half * eta**2 * L / S1 * P**2 * K**2 * delta**2,
    20 * c1 * eta**3 * L**2 * P**3 * K**3 * delta**2,
)
c1 = 1 / (1 - 45 * eta**2 * L**2 * P**2 * S2**2 * K**2)
rise = eta * P * S2 * K
TABLE["zhou2026.recursion-partial.star-ring"] = (
    -rise * (half - 5 * half * eta * L * P * S2 * K - 45 * c1 * eta**2 * L**2 * P**2 * S2**2 * K**2) * grad**2,
    rise * 5 * half * eta * L / S1 * sigma**2,
    rise * 45 * c1 * eta**2 * L**2 * P * S2 * K * sigma**2,
    rise * 5 * half * eta * L * P * K * zeta**2,
    rise * 45 * c1 * eta**2 * L**2 * P**2 * S2 * K**2 * zeta**2,
    rise * 5 * half * eta * L / S1 * P * S2 * K * delta**2,
    rise * 45 * c1 * eta**2 * L**2 * P**2 * S2**2 * K**2 * delta**2,
)
c1 = 1 / (1 - 45 * eta**2 * L**2 * S1**2 * P**2 * K**2)
TABLE["zhou2026.recursion-partial.ring-star"] = (
    -eta
    * S1
    * P
    * K
    * (half - 5 * half * eta * L * S1 * P * K - 45 * c1 * eta**2 * L**2 * S1**2 * P**2 * K**2)
    * grad**2,
    5 * half * eta**2 * L * S1 * P / S2 * K * sigma**2,
    15 * c1 * eta**3 * L**2 * S1 * P * K**2 * sigma**2,
    30 * c1 * eta**3 * L**2 * S1**2 * P**2 / S2 * K**2 * sigma**2,
    5 * half * eta**2 * L * S1**2 * P**2 / S2 * K**2 * zeta**2,
    15 * c1 * eta**3 * L**2 * S1 * P * K**3 * zeta**2,
    30 * c1 * eta**3 * L**2 * S1**3 * P**3 / S2 * K**3 * zeta**2,
    5 * half * eta**2 * L * S1 * P**2 * K**2 * delta**2,
    45 * c1 * eta**3 * L**2 * S1**2 * P**3 * K**3 * delta**2,
)
c1 = 1 / (1 - 80 * eta**2 * L**2 * S1**2 * P**2 * S2**2 * K**2)  # with the L^2 that the page omits
rise = eta * S1 * P * S2 * K
TABLE["zhou2026.recursion-partial.ring-ring"] = (
    -rise * (half - 5 * half * L * rise - 80 * c1 * L**2 * rise**2) * grad**2,
    5 * half * eta**2 * L * S1 * P * S2 * K * sigma**2,
    80 * c1 * eta**3 * L**2 * S1**2 * P**2 * S2**2 * K**2 * sigma**2,
    5 * half * eta**2 * L * S1**2 * P**2 * S2 * K**2 * zeta**2,
    80 * c1 * eta**3 * L**2 * S1**3 * P**3 * S2**2 * K**3 * zeta**2,
    5 * half * eta**2 * L * S1 * P**2 * S2**2 * K**2 * delta**2,
    80 * c1 * eta**3 * L**2 * S1**2 * P**3 * S2**3 * K**3 * delta**2,
)
# This project's drift: five pieces with the same constant, each summed sample by sample over a round's chains
# (docs/theory/sharp-bound.md, sections 2-4; docs/theory/partial-drift.md).

Sums = tuple[Fraction, Fraction, Fraction, Fraction]


@cache
def _full_sums(top: str, low: str, order: str, G: int, P: int, M: int, K: int) -> Sums:
    """Coefficients of sigma^2, zeta^2, delta^2 and grad^2, by walking through the samples of a round.

    A sample's chain holds its own k steps, those of the clients before it (ring), the group's earlier group rounds
    and the groups before (ring). Zero-sum vectors between two prefixes are bounded by convexity, a prefix of j of n
    by j(n-j) in a fixed order and by j(n-j)/(n-1) in a random one.
    """

    def prefix(j: int, n: int) -> Fraction:
        return Fraction(j * (n - j), 1 if order == "fixed" else n - 1)

    per_round = M * K if low == "ring" else K
    per_group = P * per_round
    noise = intra = inter = gradient = Fraction(0)
    for a in range(1, G + 1):
        for p in range(P):
            for b in range(1, M + 1):
                for k in range(K):
                    inside = k + ((b - 1) * K if low == "ring" else 0) + p * per_round
                    length = inside + ((a - 1) * per_group if top == "ring" else 0)
                    gradient += length**2
                    if low == "ring":
                        noise += length
                        share = Fraction(k, K)
                        intra += K**2 * ((1 - share) * prefix(b - 1, M) + share * prefix(b, M))
                    else:
                        noise += k + Fraction(length - k, M)
                        intra += k**2
                    if top == "ring":
                        share = Fraction(inside, per_group)
                        inter += per_group**2 * ((1 - share) * prefix(a - 1, G) + share * prefix(a, G))
                    else:
                        inter += length**2
    return noise, intra, inter, gradient


@cache
def _partial_sums(top: str, low: str, S1: int, P: int, S2: int, K: int) -> Sums:
    """The same for drawn groups and clients: sums of squared weights, client by client and group by group.

    Clients keep their places in all groups of a round, so that a client's weight adds up over the groups before.
    """
    per_round = S2 * K if low == "ring" else K
    per_group = P * per_round
    noise = intra = inter = gradient = Fraction(0)
    for a in range(1, S1 + 1):
        for p in range(P):
            for b in range(1, S2 + 1):
                for k in range(K):
                    inside = k + ((b - 1) * K if low == "ring" else 0) + p * per_round
                    earlier = (a - 1 if top == "ring" else 0) * per_group
                    rounds_before = p + (a - 1 if top == "ring" else 0) * P
                    gradient += (inside + earlier) ** 2
                    noise += inside + earlier if low == "ring" else k + Fraction(inside + earlier - k, S2)
                    for client in range(1, S2 + 1):
                        weight = rounds_before * K if low == "ring" else Fraction(rounds_before * K, S2)
                        weight += K if low == "ring" and client < b else 0
                        weight += k if client == b else 0
                        intra += weight**2
                    inter += inside**2 + (earlier // per_group) * per_group**2
    return noise, intra, inter, gradient


def _drift(sums: Callable[..., Sums], *counts: Formula, chain: Formula) -> tuple[Formula, ...]:
    c1 = 1 / (1 - 5 * L**2 * eta**2 * chain * (chain - 1) / 2)
    squares = enumerate((sigma**2, zeta**2, delta**2, grad**2))
    return tuple(5 * c1 * eta**2 * counted(lambda *n, i=i: sums(*n)[i], *counts) * square for i, square in squares)


for _top, _low in product(("star", "ring"), repeat=2):
    _chain = P * K * (G if _top == "ring" else 1) * (M if _low == "ring" else 1)
    for _label, _order in (("drift", "fixed"), ("drift-shuffle", "random")):
        _sums = partial(_full_sums, _top, _low, _order)
        TABLE[f"hflbounds.{_label}.{_top}-{_low}"] = _drift(_sums, G, P, M, K, chain=_chain)
    _chain = P * K * (S1 if _top == "ring" else 1) * (S2 if _low == "ring" else 1)
    _sums = partial(_partial_sums, _top, _low)
    TABLE[f"hflbounds.drift-partial.{_top}-{_low}"] = _drift(_sums, S1, P, S2, K, chain=_chain)


# Partial participation with those constants: Lemma 2 (L^2 eta E_r/(S1 P S2 K), twice Lemma 1's) after the sums'
# leading order, so that every 5/4 and 5/6 of the full theorem is doubled.
u = L**2 * eta_eff**2
c1 = 1 / (1 - 5 * L**2 * eta_eff**2 / 2)
c2 = 2 / (1 - 5 * L * eta_eff - 10 * c1 * L**2 * eta_eff**2 / 3)
TABLE["hflbounds.sharp-partial.star-star"] = (  # A client has weight k + J/S2 in place of its k
    c2 * A / (eta_eff * R),
    5 * c2 * L * eta_eff * sigma**2 / (2 * S1 * P * S2 * K),
    5 * c2 * L * eta_eff * zeta**2 / (2 * S2),
    5 * c2 * L * eta_eff * delta**2 / (2 * S1),
    5 * c1 * c2 * u * sigma**2 / (2 * P**2 * K),
    5 * c1 * c2 * u * sigma**2 / (2 * P * S2 * K),
    5 * c1 * c2 * u * zeta**2 * (1 - 1 / S2) / (3 * P**2),
    5 * c1 * c2 * u * zeta**2 / (3 * S2),
    5 * c1 * c2 * u * delta**2 / 3,
)
TABLE["hflbounds.sharp-partial.star-ring"] = (  # Clients of a ring differ by K in weight within a pass
    c2 * A / (eta_eff * R),
    5 * c2 * L * eta_eff * sigma**2 / (2 * S1 * P * S2 * K),
    5 * c2 * L * eta_eff * zeta**2 / (2 * S2),
    5 * c2 * L * eta_eff * delta**2 / (2 * S1),
    5 * c1 * c2 * u * sigma**2 / (2 * P * S2 * K),
    5 * c1 * c2 * u * zeta**2 / (3 * S2),
    5 * c1 * c2 * u * zeta**2 * (1 - 1 / S2) / (6 * P**2 * S2),
    5 * c1 * c2 * u * delta**2 / 3,
)
# Star-Star's clients with S1 P group rounds; a - 1 whole groups and a part of the next.
TABLE["hflbounds.sharp-partial.ring-star"] = (
    c2 * A / (eta_eff * R),
    5 * c2 * L * eta_eff * sigma**2 / (2 * S1 * P * S2 * K),
    5 * c2 * L * eta_eff * zeta**2 / (2 * S2),
    5 * c2 * L * eta_eff * delta**2 / (2 * S1),
    5 * c1 * c2 * u * sigma**2 / (2 * S1**2 * P**2 * K),
    5 * c1 * c2 * u * sigma**2 / (2 * S1 * P * S2 * K),
    5 * c1 * c2 * u * zeta**2 * (1 - 1 / S2) / (3 * S1**2 * P**2),
    5 * c1 * c2 * u * zeta**2 / (3 * S2),
    5 * c1 * c2 * u * delta**2 * ((S1 - 1) / (2 * S1**2) + 1 / (3 * S1**2)),
)
# Star-Ring's clients with S1 P group rounds; a - 1 whole groups and a part of the next.
TABLE["hflbounds.sharp-partial.ring-ring"] = (
    c2 * A / (eta_eff * R),
    5 * c2 * L * eta_eff * sigma**2 / (2 * S1 * P * S2 * K),
    5 * c2 * L * eta_eff * zeta**2 / (2 * S2),
    5 * c2 * L * eta_eff * delta**2 / (2 * S1),
    5 * c1 * c2 * u * sigma**2 / (2 * S1 * P * S2 * K),
    5 * c1 * c2 * u * zeta**2 / (3 * S2),
    5 * c1 * c2 * u * zeta**2 * (1 - 1 / S2) / (6 * S1**2 * P**2 * S2),
    5 * c1 * c2 * u * delta**2 * ((S1 - 1) / (2 * S1**2) + 1 / (3 * S1**2)),
)

# liu2026 (HHFL): equations (22)-(30). (22) bounds v, (23) w, with one right-hand side.
for name in ("lemma1", "cor1"):
    TABLE[f"liu2026.{name}"] = ((1 - eta * mu) * Delta_t, eta**2 * V_t, 6 * L * eta**2 * Gamma, 2 * CD)
x = (  # X of Corollary 2
    p2 * sigma**2
    + 6 * L * Gamma
    + 2 ** (2 * whole(Ge) + 1) * H**2 * (Ge * E + Ge - 2) * ((Ge * E - 1) + E**2 * (Ge - 1))
)
TABLE["liu2026.lemma3"] = (
    eta**2 * 4 ** whole(Ge) * H**2 * (Ge * E + Ge - 2) * ((Ge * E - 1) + E**2 * (Ge - 1)),
)  # (24)
TABLE["liu2026.lemma4"] = (p2 * sigma**2,)  # (25), the same noise at every client
TABLE["liu2026.x"] = (x,)  # Below (26)
TABLE["liu2026.cor2"] = ((1 - eta * mu) * Delta_t, eta**2 * x)  # (26)
TABLE["liu2026.z"] = (largest(beta_lr**2 * x / (beta_lr * mu - 1), Delta0 * alpha),)  # Appendix D: beta mu - 1
TABLE["liu2026.z-printed"] = (largest(beta_lr**2 * x / (beta_lr * mu + 1), Delta0 * alpha),)  # Below (27): beta mu + 1
# (27) with Appendix D's beta mu - 1
TABLE["liu2026.thm1"] = (L / 2 * largest(beta_lr**2 * x / (beta_lr * mu - 1), Delta0 * alpha) / (t + alpha),)
# (27) with the beta mu + 1 printed below it
TABLE["liu2026.thm1-printed"] = (L / 2 * largest(beta_lr**2 * x / (beta_lr * mu + 1), Delta0 * alpha) / (t + alpha),)


def _up(x: Num) -> Num:
    """The whole number at or next above x."""
    return -(-x // 1)


computing = cycles * bits / hertz * T
edge_exchanges, cloud_exchanges = Formula(_up, T / E), Formula(_up, T / (E * Ge))
TABLE["liu2026.computing-time"] = (computing,)  # (28)
TABLE["liu2026.transmission-time"] = (edge_exchanges * T_CES, cloud_exchanges * T_ECS)  # (29)
TABLE["liu2026.overall-time"] = (computing, edge_exchanges * T_CES, cloud_exchanges * T_ECS)  # (30)
# This project's bounds for HHFL: the drift for a coverage with second eigenvalue lambda2, and what follows.


def geometric(x: Num, n: Num) -> Num:
    """x + x^2 + ... + x^n."""
    return sum((x**k for k in range(1, int(n) + 1)), start=0 * x)


edge_weight = (E - 1) + E * Formula(geometric, lambda2, Ge - 1)  # c(lambda) = (E-1) + E sum_{k=1}^{Ge-1} lambda^k
rho = 1 + (Ge * E - 1) / alpha
# The drift of any coverage: eta_t^2 rho^2 c(lambda2)^2 H^2
TABLE["hflbounds.hhfl-drift"] = (eta**2 * (1 + (Ge * E - 1) / alpha) ** 2 * edge_weight**2 * H**2,)
x = p2 * sigma**2 + 6 * L * Gamma + 2 * rho**2 * edge_weight**2 * H**2
# (L/2) Z_topo/(t + alpha), X_topo with 2 rho^2 c(lambda2)^2 H^2
TABLE["hflbounds.hhfl-spectral"] = (L / 2 * largest(beta_lr**2 * x / (beta_lr * mu - 1), Delta0 * alpha) / (t + alpha),)
x = p2 * sigma**2 + 6 * L * Gamma + 2 * rho**2 * (Ge * E - 1) ** 2 * H**2
# The same with the drift of any coverage at all, 2 rho^2 (Ge E - 1)^2 H^2
TABLE["hflbounds.hhfl-any-coverage"] = (
    L / 2 * largest(beta_lr**2 * x / (beta_lr * mu - 1), Delta0 * alpha) / (t + alpha),
)
# Gradients whose part zeta an edge round erases and whose part delta it passes on; noise adds up in squares.
#
# The two parts are orthogonal, what an edge round erases builds up over E - 1 steps at most, and noise s steps ago
# has passed the same edge rounds, so that its square carries lambda2^2 for each; the noise and the rest of a
# chain add up as lengths.
gradients = (E - 1) ** 2 * zeta**2 + edge_weight**2 * delta**2
noise = ((E - 1) + E * Formula(geometric, lambda2**2, Ge - 1)) * sigma**2
x = p2 * sigma**2 + 6 * L * Gamma + 2 * rho**2 * (sqrt(gradients) + sqrt(noise)) ** 2
TABLE["hflbounds.hhfl-two-level"] = (
    L / 2 * largest(beta_lr**2 * x / (beta_lr * mu - 1), Delta0 * alpha) / (t + alpha),
)

# sharma2025 (HSL) and devos2023 (Epidemic Learning). The displays are lost in the text copy: the mixing factors
# are the expectations its proofs describe, by counting.


def _pull_factor(nodes: int, degree: int) -> Fraction:
    """Averages of `degree` of `nodes` vectors drawn without replacement: (1/b)(1 - (b-1)/(n-1)); 0 for one node."""
    if nodes == 1:
        return Fraction(0)
    return Fraction(1, degree) * (1 - Fraction(degree - 1, nodes - 1))


@cache
def _push_factor(nodes: int, degree: int) -> Fraction:
    """Gossip by pushing: (1/b)(1 - (1 - b/(n-1))^n) - 1/(n-1); 0 for one node, 1 where nobody sends.

    Typed as the expectation it comes from, E[(n-1-D)/((D+1)(n-1))] over a binomial in-degree D of n - 1 senders.
    """
    if nodes == 1:
        return Fraction(0)
    m, common = nodes - 1, lcm(*range(1, nodes + 1))
    weighted = sum(
        comb(m, d) * degree**d * (m - degree) ** (m - d) * (m - d) * (common // (d + 1)) for d in range(nodes)
    )
    return Fraction(weighted, common * m**nodes)


@cache
def overlap(nodes: Num, degree: Num) -> Fraction:
    """E sum_k w_ik w_jk of two different nodes i and j, where each of n nodes pushes to b others, exactly.

    Of the n - 2 others, x reach both i and j, y only i and z only j (a trinomial draw); besides, i may reach j and j
    may reach i. Equal weights 1/(1 + in-degree) then make the sum (x + both ways)/((1 + D_i)(1 + D_j)).
    """
    n, b = int(nodes), int(degree)
    if n < 2 or b < 1:
        return Fraction(0)
    others = n - 2
    unit = max((n - 1) * (n - 2), 1)  # all probabilities are whole multiples of 1/unit
    both, only = b * (b - 1), b * (n - 1 - b)
    none = (unit - both - 2 * only) if others else 0
    common = lcm(*range(1, n + 1)) ** 2
    total = Fraction(0)
    for i_to_j in (0, 1):
        for j_to_i in (0, 1):
            p = Fraction(b, n - 1)
            chance = (p if i_to_j else 1 - p) * (p if j_to_i else 1 - p)
            if not chance:
                continue
            weighted = 0
            for x in range(others + 1):
                shared = x + i_to_j + j_to_i
                if not shared or (x and not both):
                    continue
                for y in range(others - x + 1):
                    if y and not only:
                        break
                    ways = comb(others, x) * comb(others - x, y) * both**x * only**y
                    for z in range(others - x - y + 1):
                        rest = others - x - y - z
                        if (z and not only) or (rest and not none):
                            continue
                        count = ways * comb(others - x - y, z) * only**z * none**rest
                        weighted += count * shared * (common // ((1 + x + y + j_to_i) * (1 + x + z + i_to_j)))
            total += chance * Fraction(weighted, common * unit**others)
    return total


def _sq(n):
    """The mean of j^2 over 0..n-1."""
    return (n - 1) * (2 * n - 1) / 6


def _any_depth(top: str, low: str, law: str):
    """Statement (1) of the sheet on trees of any depth, at a weight, for two tiers of which the lower has P passes."""
    s1, s2 = (S1, S2) if law == "partial" else (G, M)
    b2 = K
    b1 = P * (s2 if low == "ring" else 1) * b2
    T = (s1 if top == "ring" else 1) * b1
    N = K * s1 * P * s2
    low_share = 1 if low == "ring" else 1 / s2  # lambda_2
    nu = (K - 1) / 2 + low_share * (s2 if low == "ring" else 1) * b2 * (P - 1) / 2
    if low == "ring":
        nu = nu + b2 * (s2 - 1) / 2
    if top == "ring":
        nu = nu + low_share * b1 * (s1 - 1) / 2
    nu = nu / T**2
    phi = _sq(T) / T**2
    chi = alone(T, 1 / (2 * T * sine(2 * T - 1)))
    omega, beta = [], []
    for pattern, n, S, B in ((top, G, s1, b1), (low, M, s2, b2)):
        beta.append(alone(n, (n - S) / ((n - 1 + _one(n)) * S)) if law == "partial" else 0)
        if law == "partial":
            if pattern == "star":
                e = tau = _sq(B)
            else:
                tau = _sq(S * B)
                e = (n * ((S - 1) * B**2 / 2 + _sq(B)) - tau) / (n - 1 + _one(n))
            found = e + beta[-1] * (_sq(T) - tau)
        elif pattern == "star":
            found = _sq(B)
        elif law == "fixed":
            found = B**2 / (4 * sine(n) ** 2) - (B**2 - 1) / 6
        else:  # S = n in the row of the draws
            found = (n * ((n - 1) * B**2 / 2 + _sq(B)) - _sq(n * B)) / (n - 1 + _one(n))
        omega.append(alone(n, found) / T**2)
    fixed = [law == "fixed" and pattern == "ring" for pattern in (top, low)]
    gaps = [sqrt(w) * d for w, d in zip(omega, (delta, zeta), strict=True)]
    h2 = omega[0] * delta**2  # h_1: the same at a ring in fixed order and elsewhere
    h2 = (gaps[0] + gaps[1]) ** 2 if fixed[1] else h2 + omega[1] * zeta**2
    p = sum((gap for gap, ring in zip(gaps, fixed, strict=True) if ring), start=0)
    xi = sigma**2 / N + beta[0] * delta**2 + beta[1] * zeta**2
    v = L * eta_eff
    g = (v / (1 - chi * v)) ** 2
    kappa = (1 - v) / lam + v
    a = 2 - v - (1 - v) * lam - kappa * g * phi
    b = kappa * g * sqrt(phi) * p
    c = 2 * A / (eta_eff * R) + v * (1 + lam * v / (1 - v)) * xi + kappa * g * (nu * sigma**2 + h2)
    return (((b + sqrt(b**2 + a * c)) / a) ** 2,)


def _one(n):
    """1 where a number is 1, to keep what is not used from dividing by nothing."""
    return Formula(lambda n: n * (1 if n == 1 else 0), n)


for _law, _label in (("fixed", "exact"), ("random", "exact-random"), ("partial", "exact-partial")):
    for _top, _low in product(("star", "ring"), repeat=2):
        TABLE[f"hflbounds.{_label}.{_top}-{_low}"] = _any_depth(_top, _low, _law)
# Its consequence (iii): K = 1, full stars, P = 1, as the weight falls to 0
TABLE["hflbounds.minibatch-sgd"] = (1 / (2 - L * eta_eff) * (2 * A / (eta_eff * R) + L * eta_eff * sigma**2 / (G * M)),)


def _tilted(top: str, low: str, law: str):
    """The corollary of the sheet on tilts, from the chains: raw step eta, chains B_1 and B_2 of a tier's children."""
    s1, s2 = (S1, S2) if law == "partial" else (G, M)
    b2 = K
    b1 = b2 * P * (s2 if low == "ring" else 1)
    T = b1 * (s1 if top == "ring" else 1)
    N = K * P * s1 * s2
    step = eta_eff / T
    v = L * step
    spread = 1 + v  # of 1/(2 (2 - v)), times 4
    start = 7 * Delta0 / (76 * T * step * R)
    noise = step * T * spread / 4 * sigma**2 / N
    if law == "fixed":
        rings_above = G if top == "ring" else 1
        reach = 0
        if top == "ring":
            reach = reach + delta * sqrt(b1 * (G - 1))
        if low == "ring":
            reach = reach + zeta * sqrt(b2 * (M - 1) * rings_above)
        if top == low == "star":
            return (start, noise)
        return (start, noise, step * spread / 4 * reach**2, 2 * sqrt(start) * reach * sqrt(step) * (1 + v / 2) / 2)
    models_above = s1 if top == "star" else 1
    found = [start, noise]
    for pattern, n, S, B, side, gap, above in (
        (top, G, s1, b1, 1, delta, T),
        (low, M, s2, b2, models_above, zeta, T / s1),
    ):
        if law == "partial":  # who is left out; then the order of those drawn
            found.append(alone(n, (n - S) / ((n - 1 + _one(n)) * S)) * above * step * spread / 4 * gap**2)
        if pattern == "ring":
            order = n * (S - 1) / (S * (n - 1 + _one(n))) if law == "partial" else 1
            found.append(alone(n, order * B * step * spread / 4 * gap**2 / side))
    return tuple(found)


for _law, _label in (("fixed", "tilt"), ("random", "tilt-random"), ("partial", "tilt-partial")):
    for _top, _low in product(("star", "ring"), repeat=2):
        TABLE[f"hflbounds.{_label}.{_top}-{_low}"] = _tilted(_top, _low, _law)

# The sheet on long steps, Theorem 1: 2A/(eta T R) + L eta sigma^2/m + L^2 V, m models, V their mean squared spread
_eta_ss, _eta_sr, _eta_rs, _eta_rr = (
    eta_eff / (P * K), eta_eff / (P * M * K), eta_eff / (G * P * K), eta_eff / (G * P * M * K)
)  # fmt: skip
TABLE["hflbounds.identical.star-star"] = (
    2 * A / (_eta_ss * P * K * R),
    L * _eta_ss * sigma**2 / (G * M),
    L**2 * _eta_ss**2 * sigma**2 * (G - 1) * (P * K - 1) / (2 * G),
    L**2 * _eta_ss**2 * sigma**2 * (M - 1) * (K - 1) / (2 * G * M),
)
TABLE["hflbounds.identical.star-ring"] = (
    2 * A / (_eta_sr * P * M * K * R),
    L * _eta_sr * sigma**2 / G,
    L**2 * _eta_sr**2 * sigma**2 * (G - 1) * (P * M * K - 1) / (2 * G),
)
TABLE["hflbounds.identical.ring-star"] = (
    2 * A / (_eta_rs * G * P * K * R),
    L * _eta_rs * sigma**2 / M,
    L**2 * _eta_rs**2 * sigma**2 * (M - 1) * (K - 1) / (2 * M),
)
TABLE["hflbounds.identical.ring-ring"] = (2 * A / (_eta_rr * G * P * M * K * R), L * _eta_rr * sigma**2)
# Theorem 2: prefixes of gaps in a fixed ring are at most B^2 (n^2 - 1)/6 in mean square
_prefix = P * M * K * sqrt((G**2 - 1) / 6) * delta + K * sqrt((M**2 - 1) / 6) * zeta
TABLE["hflbounds.second-order.ring-ring"] = (
    2 * A / (_eta_rr * G * P * M * K * R),
    L * _eta_rr * sigma**2,
    3 * delta_H**2 * _eta_rr**2 * (G * P * M * K - 1) * sigma**2,
    (2 * L**2 + 6 * delta_H**2) * _eta_rr**2 * _prefix**2,
)


@cache
def _hsl(n_s: int, n_h: int, b_hs: int, b_hh: int, b_sh: int) -> tuple[Fraction, ...]:
    """The product of the three factors, and Lemma A.3's three stages: hubs move by 1/n_h, spokes by 1/n_s."""
    hs, hh, sh = _pull_factor(n_s, b_hs), _push_factor(n_h, b_hh), _pull_factor(n_h, b_sh)
    return hs * hh * sh, hs / n_h, hs * hh / n_h, hs * hh * sh / n_s


@cache
def _hsl_exact(s: int, h: int, hs: int, hh: int, sh: int) -> tuple[Fraction, Fraction]:
    factor_hs, factor_hh, factor_sh = _pull_factor(s, hs), _push_factor(h, hh), _pull_factor(h, sh)
    moved = (factor_hh + h * overlap(h, hh) - 1) / h  # how far gossip moves the hubs' average
    first = (1 - Fraction(1, h)) * factor_hs
    second = first * (factor_hh - moved)
    third = second * factor_sh * (1 - Fraction(1, s))
    return third, factor_hs / h + first * moved + second * factor_sh / s


def _push_moved(n: int, d: int) -> Fraction:
    return (_push_factor(n, d) + n * overlap(n, d) - 1) / n


def _before_tuning(beta, kappa, n, T, L, A, sigma, H, eta):
    """The sum of Lemma A.5 over the rounds, before the step is chosen."""
    C = beta * (1 + 3 * beta) / (1 - beta) ** 2
    S = sigma**2 + H**2
    return (
        4 * A / (eta * T),
        4 * L * eta * sigma**2 / n,
        4 * L * eta * kappa * (15 + 20 * C) * S,
        40 * L**2 * C * eta**2 * S,
    )


def _after_tuning(beta, kappa, n, T, L, A, sigma, H, inverse_cap=20):
    """The same at the best of its three steps; the last summand is 4 A/(T eta_max)."""
    C = beta * (1 + 3 * beta) / (1 - beta) ** 2
    S = sigma**2 + H**2
    B1 = sigma**2 / n + kappa * (15 + 20 * C) * S
    return (
        8 * sqrt(L * A * B1 / T),
        8 * cbrt(10 * C * L**2 * A**2 * S / T**2),
        4 * inverse_cap * L * A / T,
    )


def _in_order(beta, kappa, n, T, L, A, sigma, H):
    """Theorem 4.4 with every constant 1."""
    S = sigma**2 + H**2
    return (
        sqrt(L * A * (sigma**2 / n + kappa * S) / T),
        cbrt(beta * L**2 * A**2 * S / T**2),
        L * A / T,
    )


SIZES = (n_s, n_h, b_hs, b_hh, b_sh)
beta_hsl = counted(lambda *n: _hsl(*n)[0], *SIZES)
kappa_hsl = counted(lambda *n: sum(_hsl(*n)[1:], Fraction(0)), *SIZES)
beta_local = counted(_push_factor, n_s, s)
beta_oracle = counted(lambda n, d: _pull_factor(n, d + 1), n_s, s)
TABLE["sharma2025.beta-hs"] = (counted(_pull_factor, n_s, b_hs),)  # Lemma A.2(1)
TABLE["sharma2025.beta-hh"] = (counted(_push_factor, n_h, b_hh),)  # Lemma A.2(2)
TABLE["sharma2025.beta-sh"] = (counted(_pull_factor, n_h, b_sh),)  # Lemma A.2(3)
TABLE["sharma2025.beta"] = (beta_hsl,)  # Lemma A.2(4)
TABLE["sharma2025.kappa"] = tuple(counted(lambda *n, i=i: _hsl(*n)[i], *SIZES) for i in (1, 2, 3))  # Lemma A.3
for name, factor, counts in (  # Lemma A.3, item by item, over the consensus distance before its stage
    ("spokes-to-hubs", lambda spokes, hubs, sent: _pull_factor(spokes, sent) / hubs, (n_s, n_h, b_hs)),
    ("hub-gossip", lambda hubs, sent: _push_factor(hubs, sent) / hubs, (n_h, b_hh)),
    ("hubs-to-spokes", lambda spokes, hubs, read: _pull_factor(hubs, read) / spokes, (n_s, n_h, b_sh)),
):
    TABLE[f"sharma2025.lemma-a3.{name}"] = (counted(factor, *counts),)
# Exact expectations of a round, in units of the spokes' consensus distance before mixing
TABLE["hflbounds.hsl-exact"] = tuple(counted(lambda *n, i=i: _hsl_exact(*n)[i], *SIZES) for i in (0, 1))
TABLE["hflbounds.push-exact"] = (  # The same of one stage of gossip by pushing
    counted(lambda n, d: _push_factor(n, d) - _push_moved(n, d), n_s, s),
    counted(_push_moved, n_s, s),
)
# Any beta and kappa: the step may be at most 1/(2L) and 1/(L sqrt(20 C))
C = beta_mix * (1 + 3 * beta_mix) / (1 - beta_mix) ** 2
widest = largest(2, sqrt(20 * C))
TABLE["hflbounds.gossip"] = _after_tuning(beta_mix, kappa, n_s, T, L, A, sigma, H, inverse_cap=widest)
TABLE["hflbounds.gossip-order"] = _in_order(beta_mix, kappa, n_s, T, L, A, sigma, H)
# Appendix B, (9), and Theorem 4.4, with the constants of its reconstruction; then in order
TABLE["sharma2025.thm4-4-step"] = _before_tuning(beta_hsl, kappa_hsl, n_s, T, L, A, sigma, H, eta)
TABLE["sharma2025.thm4-4"] = _after_tuning(beta_hsl, kappa_hsl, n_s, T, L, A, sigma, H)
TABLE["sharma2025.thm4-4-order"] = _in_order(beta_hsl, kappa_hsl, n_s, T, L, A, sigma, H)
TABLE["devos2023.beta-local"] = (beta_local,)  # EL-Local: each node pushes to s others
# EL-Oracle: each node averages its own model and those of s others, (1/(s+1))(1 - s/(n-1))
TABLE["devos2023.beta-oracle"] = (beta_oracle,)
# Theorem 4.4's constants with one stage of gossip among n nodes: kappa = beta/n
TABLE["devos2023.el-local"] = _after_tuning(beta_local, beta_local / n_s, n_s, T, L, A, sigma, H)
TABLE["devos2023.el-local-order"] = _in_order(beta_local, beta_local / n_s, n_s, T, L, A, sigma, H)
# The same where every node is also in s averages, so that the mean stays: kappa = 0
TABLE["devos2023.el-oracle"] = _after_tuning(beta_oracle, 0, n_s, T, L, A, sigma, H)
TABLE["devos2023.el-oracle-order"] = _in_order(beta_oracle, 0, n_s, T, L, A, sigma, H)
# Lemma A.4(1): E_X <= 20 C gamma^2 (sigma^2 + H^2)
TABLE["sharma2025.lemma-a4"] = (20 * beta_mix * (1 + 3 * beta_mix) / (1 - beta_mix) ** 2 * eta**2 * (sigma**2 + H**2),)
TABLE["sharma2025.lemma-a4-gradients"] = (  # Lemma A.4(2): E_G <= 15 (sigma^2 + H^2)
    15 * sigma**2,
    15 * H**2,
)
# Lemma A.5, averaged over the rounds, where no consensus distance exceeds CD; 1/(2 n^2) of all pairs is CD.
TABLE["sharma2025.lemma-a5"] = (
    2 * A / (eta * T),
    L**2 * CD,
    2 * L * eta * sigma**2 / n_s,
    2 * L * kappa * CD / eta,
)

# xie2024 (HGA-FL), supplement: equations (36), (38)-(41), (63), (69)-(71), as printed.
TABLE["xie2024.prop1"] = ((2 + 2 * L**2) / alpha_dyn**2,)  # (36)
TABLE["xie2024.staleness"] = (tau_max * moved,)  # (42)
TABLE["xie2024.eq44"] = (Gamma_max * moved,)  # (44)
TABLE["xie2024.eq45"] = (zeta_max * moved,)  # (45)
TABLE["xie2024.eq38"] = (  # (38)
    5 * R_sub * eta_sub**2 * (sigma_s**2 + 6 * R_sub * (M / K_buf) * sigma_g**2),
    30 * R_sub**2 * eta_sub**2 * grad**2,
)
TABLE["xie2024.eq39"] = (  # (39)
    5 * R_sub * eta_sub**2 * (sigma_s**2 + 6 * R_sub * sigma_g**2),
    30 * R_sub**2 * eta_sub**2 * grad**2,
)
TABLE["xie2024.eq40"] = (  # (40)
    15 * K_buf * R_sub**3 * L**3 * eta_sub**2 * (sigma_s**2 + 6 * R_sub * (M / K_buf) * sigma_g**2),
    (90 * K_buf * R_sub**4 * L**2 * eta_sub**2 + 3 * K_buf * R_sub**2) * grad**2,
    3 * M * R_sub**2 * sigma_g**2,
)
TABLE["xie2024.eq41"] = (  # (41)
    15 * M * R_sub**3 * L**3 * eta_sub**2 * (sigma_s**2 + 6 * R_sub * sigma_g**2),
    (90 * M * R_sub**4 * L**2 * eta_sub**2 + 3 * M * R_sub**2) * grad**2,
    3 * M * R_sub**2 * sigma_g**2,
)
# (40) from (38): three parts, R times the sum over rounds of L^2 times a squared distance.
TABLE["xie2024.eq40-corrected"] = (
    3 * K_buf * R_sub**2 * L**2 * 5 * R_sub * eta_sub**2 * (sigma_s**2 + 6 * R_sub * (M / K_buf) * sigma_g**2),
    3 * K_buf * R_sub**2 * L**2 * 30 * R_sub**2 * eta_sub**2 * grad**2,
    3 * K_buf * R_sub**2 * grad**2,
    3 * M * R_sub**2 * sigma_g**2,
)
TABLE["xie2024.eq41-corrected"] = (  # (41) from (39) likewise
    3 * M * R_sub**2 * L**2 * 5 * R_sub * eta_sub**2 * (sigma_s**2 + 6 * R_sub * sigma_g**2),
    3 * M * R_sub**2 * L**2 * 30 * R_sub**2 * eta_sub**2 * grad**2,
    3 * M * R_sub**2 * grad**2,
    3 * M * R_sub**2 * sigma_g**2,
)
e = sqrt((2 + 2 * L**2) / alpha_dyn**2)
outer = 90 * R_sub**4 * L**2 * e**2 + 3 * R_sub**2
TABLE["xie2024.eq63"] = (  # (63), with eta^_s^2 = (2 + 2 L^2)/alpha^2
    -eta_g * e * R_sub / 2,
    10 * eta_g * e * R_sub * L**2 * 30 * R_sub**2 * e**2,
    5 * 2 * eta_g * e * R_sub * L**2 * eta_g**2 * e**2 * (4 * Gamma_max**2 + zeta_max**2) * outer,
    5 * L * eta_g**2 * e**2 * R_sub / (2 * R_sub) * outer,
    -5 * eta_g * e / (2 * R_sub) * outer,
)


C = sqrt(2 + 2 * L**2)
B = 5 * K_buf + (24 * M + 6 * K_buf) * R_sub
S = 4 * Gamma_max**2 + zeta_max**2
TABLE["xie2024.thm1"] = (  # (69)
    2 * alpha_dyn / (C * eta_g * R_sub * T) * A,
    5 * R_sub * L**2 * (4 - 3 * L) * B * C**2 / (alpha_dyn**2 * K_buf) * sigma_s**2,
    60 * R_sub**3 * L**5 * eta_g**2 * S * B * C**4 / (alpha_dyn**4 * K_buf) * sigma_s**2,
    15 * R_sub**2 * L**4 * eta_g * B * C**3 / (alpha_dyn**3 * K_buf) * sigma_s**2,
    12 * R_sub**2 * L**2 * eta_g**2 * S * (4 * M + K_buf) * C**2 / (alpha_dyn**2 * K_buf) * sigma_g**2,
    3 * R_sub * L * eta_g * (4 * M + K_buf) * C / (alpha_dyn * K_buf) * sigma_g**2,
)


B = 5 * K_buf + (24 * M + 6 * K_buf) * R_sub
S = 4 * Gamma_max**2 + zeta_max**2
TABLE["xie2024.cor1"] = (  # (70)
    2 / (sqrt(T) * sqrt(K_buf * R_sub)) * A,
    5 * R_sub * L**2 * K_buf * (4 - 3 * L) * sigma_s**2 * B / (K_buf * R_sub),
    60 * R_sub**3 * L**5 / T * K_buf**2 * S * sigma_s**2 * B / (K_buf * R_sub**2),
    15 * R_sub**2 * L**4 / sqrt(T) * K_buf * sqrt(K_buf) * sigma_s**2 * B / (K_buf * R_sub * sqrt(R_sub)),
    12 * R_sub**2 * L**2 / T * K_buf * S * sigma_g**2 * (4 * M + K_buf) / (K_buf * R_sub),
    3 * R_sub * L / sqrt(T) * sqrt(K_buf) * sigma_g**2 * (4 * M + K_buf) / (K_buf * sqrt(R_sub)),
)
# (71), each O(.) with what is printed inside it, but for the fourth, where the copy's root reaches over B sigma_s^2.
B = 5 * K_buf + (24 * M + 6 * K_buf) * R_sub
S = 4 * Gamma_max**2 + zeta_max**2
TABLE["xie2024.rate"] = (
    A / sqrt(T * K_buf * R_sub),
    60 * R_sub * L**5 * S * K_buf * B * sigma_s**2 / T,
    12 * R_sub * L**2 * S * (4 * M + K_buf) * sigma_g**2 / T,
    15 * L**4 * sqrt(K_buf * R_sub) * B * sigma_s**2 / sqrt(T),
    3 * sqrt(R_sub) * L * (4 * M + K_buf) * sigma_g**2 / sqrt(T * K_buf),
)
TABLE["xie2024.rate-printed"] = (  # (71) as the copy has it, root over KR B sigma_s^2
    A / sqrt(T * K_buf * R_sub),
    60 * R_sub * L**5 * S * K_buf * B * sigma_s**2 / T,
    12 * R_sub * L**2 * S * (4 * M + K_buf) * sigma_g**2 / T,
    15 * L**4 * sqrt(K_buf * R_sub * B * sigma_s**2) / sqrt(T),
    3 * sqrt(R_sub) * L * (4 * M + K_buf) * sigma_g**2 / sqrt(T * K_buf),
)


def _repaired_conditions(L, R_sub, M, K_buf, eta_g, Gamma_max, zeta_max, eta_sub):
    """The three quantities that its conditions bound: R L eta, the drift of a step, and the margin m."""
    a = eta_g * eta_sub * R_sub
    return (
        8 * R_sub * L * eta_sub,
        L * a * (1 + zeta_max) + 12 * (2 * Gamma_max**2 + zeta_max**2) * L**2 * a**2,
        1 - 360 * R_sub**2 * L**2 * eta_sub**2 * (2 * M / K_buf + zeta_max + 1),
    )


a = eta_g * eta_sub * R_sub
n2 = 2 * (4 / K_buf + 1 / M) * sigma_s**2 / R_sub
d_b = 5 * R_sub * eta_sub**2 * (sigma_s**2 + 6 * R_sub * (M / K_buf) * sigma_g**2)
d_c = 5 * R_sub * eta_sub**2 * (sigma_s**2 + 6 * R_sub * sigma_g**2)
m = _repaired_conditions(L, R_sub, M, K_buf, eta_g, Gamma_max, zeta_max, eta_sub)[2]
TABLE["hflbounds.hga-repaired"] = (  # This project's bound for HGA-FL, with the sub-centers' own step
    2 * A / (a * T) / m,
    8 * (M - K_buf) / K_buf * sigma_g**2 / m,
    12 * L**2 * (2 * d_b + d_c) / m,
    2 * L * a * (1 + zeta_max) * n2 / m,
    L * zeta_max * a * sigma_s**2 / R_sub / m,
    24 * (2 * Gamma_max**2 + zeta_max**2) * L**2 * a**2 * n2 / m,
)

# Lower bounds of this project, typed from the statement in docs/theory/lower-bounds.md: w times a floor, and the start.


def _lower(
    star_inter: Any, star_intra: Any, *, T: Any, inter: Any = None, intra: Any = None, order: str = "fixed"
) -> tuple[Any, ...]:
    """Summands: start, noise, within groups, between groups.

    Args:
        star_inter: local steps of one call of a group, where groups are a star; None for a ring.
        star_intra: local steps of one call of a client, where clients are a star; None for a ring.
        T: local steps of a round.
        inter: local steps of one pass of the ring of groups.
        intra: local steps of one pass of a ring of clients.
        order: of the rings.
    """
    u = L * eta_eff
    share = 2 * u * R / (1 + 2 * u * R)
    found = [2 * L * A / (1 + 2 * u * R), share * u * sigma**2 / (2 * G * P * M * K)]
    for steps, pass_, count, gap in ((star_intra, intra, M, zeta), (star_inter, inter, G, delta)):
        if steps is not None:  # (1 - 1/B)^2 (1 - 1/n) (v B/T)^2/5
            found.append(share * (1 - 1 / steps) ** 2 * (1 - 1 / count) * (u * steps / T) ** 2 * gap**2 / 5)
        elif order == "fixed":  # (1 - 1/n^2) (v n B/T)^2/13
            found.append(share * (1 - 1 / count**2) * (u * pass_ / T) ** 2 * gap**2 / 13)
    return tuple(found)


for _label, _order in (("lower", "fixed"), ("lower-random", "random")):
    TABLE[f"hflbounds.{_label}.star-star"] = _lower(P * K, K, T=P * K, order=_order)
    TABLE[f"hflbounds.{_label}.star-ring"] = _lower(P * M * K, None, T=P * M * K, intra=M * K, order=_order)
    TABLE[f"hflbounds.{_label}.ring-star"] = _lower(None, K, T=G * P * K, inter=G * P * K, order=_order)
    TABLE[f"hflbounds.{_label}.ring-ring"] = _lower(
        None, None, T=G * P * M * K, inter=G * P * M * K, intra=M * K, order=_order
    )

# What a planner compares with, and lower bounds of others: the orders by which these papers are quoted.
n_all = G * M  # of clients, in the letters of Wang et al.
TABLE["karimireddy2020.scaffold"] = (  # sigma sqrt(beta F)/sqrt(S K R) + (N/S)^(2/3) beta F/R
    cbrt((M / S2) ** 2) * L * A / R,
    sigma * sqrt(L * A / (S2 * K * R)),
)
TABLE["fang2024.mtgc"] = (L * A / R, sigma * sqrt(L * A / (R * P * K * n_all)))  # T = R, E = P, H = K, N = G M
TABLE["wang2022.hsgd-own-form"] = (  # global period P K, local period K, gamma = eta, T = R P K
    A / (eta * (R * P * K)),
    eta * L * sigma**2 / n_all,
    eta**2 * L**2 * (G - 1) / n_all * (P * K) * sigma**2,
    eta**2 * L**2 * (n_all - G) / n_all * K * sigma**2,
    eta**2 * L**2 * (P * K) ** 2 * delta**2,
    eta**2 * L**2 * K**2 * zeta**2,
)
TABLE["nguyen2022.fedbuff"] = (  # alpha(Q) = Q eta, beta(Q) = Q eta^2, tau_max
    A / (eta_g * (K * eta) * T),
    L * eta_g * (K * eta**2) / (K * eta) * sigma**2,
    *(L**2 * K * (K * eta**2) * (eta_g**2 * Gamma_max**2 + 1) * square**2 for square in (sigma, sigma_g, H)),
)
TABLE["arjevani2023.stochastic"] = (sqrt(sigma**2 * L * A / (R * n_all * P * K)),)
TABLE["patel2024.local-sgd"] = (  # B^2 = Delta0
    L * Delta0 / R,
    cbrt(L * sigma**2 * Delta0**2) / (cbrt(K) * cbrt(R**2)),
    sigma * sqrt(Delta0 / (M * K * R)),
    cbrt(L * delta**2 * Delta0**2) / cbrt(R**2),
)
TABLE["safran2020.cyclic"] = (delta**2 / mu / R**2,)
TABLE["safran2020.reshuffled"] = (delta**2 / mu / (M * R) ** 2, delta**2 / mu / (M * R**3))

# sharp-bound.md, theorem in random order, with 5/12 (n+1)/n for the 5/8 of the other family; n in a ring.
u = (L * eta_eff) ** 2
c1 = 1 / (1 - 5 * half * u)
c2 = 1 / (half - 5 * c1 * u / 6)
drawn_clients, drawn_groups = 5 * (M + 1) * zeta**2 / (12 * M * M), 5 * (G + 1) * delta**2 / (12 * G * G)
own_noise, mean_noise = 5 * half * half * sigma**2 / (P**2 * K), 5 * half * half * sigma**2 / (P * M * K)
for name, pieces in {
    "star-star": (own_noise, mean_noise, 5 * zeta**2 / (6 * P**2), 5 * delta**2 / 6),
    "star-ring": (mean_noise, drawn_clients / P**2, 5 * delta**2 / 6),
    "ring-star": (own_noise / G**2, mean_noise / G, 5 * zeta**2 / (6 * G**2 * P**2), drawn_groups),
    "ring-ring": (mean_noise / G, drawn_clients / (G * P) ** 2, drawn_groups),
}.items():
    TABLE[f"hflbounds.sharp-shuffle-finite.{name}"] = (
        c2 * A / (eta_eff * R),
        c2 * L * eta_eff * sigma**2 / (G * P * M * K),
        *(c2 * c1 * L**2 * eta_eff**2 * piece for piece in pieces),
    )

# Dispatch.

BOUND_IDS = tuple(TABLE)
UNLIKE_256 = tuple(x for x in range(1, 4096) if x != 256)


def _floor(x: Any, bits: int = 40) -> Fraction:
    """A short binary fraction at most x, and above zero where x is: one that float64 holds exactly."""
    shift = bits
    while x > 0 and int(x * 2**shift) < 2**20:
        shift += 8
    return Fraction(int(x * 2**shift) >> max(int(x * 2**shift).bit_length() - 40, 0)) * Fraction(
        2 ** max(int(x * 2**shift).bit_length() - 40, 0), 2**shift
    )


def point(bound_id: str, rng: random.Random) -> dict[str, Fraction]:
    """An admissible point: all counts different, L not 1, every condition of the statement met with room.

    Every number is a short binary fraction, so that float64 holds it exactly.
    """
    numbers = {
        name: Fraction(rng.randint(1, 4095), 256) for name in ("A", "sigma", "zeta", "delta", "grad", "E_r", "H")
    }
    numbers["L"] = Fraction(rng.choice(UNLIKE_256), rng.choice([64, 256, 1024]))
    if numbers["L"] == 1:
        numbers["L"] = Fraction(3, 4)
    paper = bound_id.partition(".")[0]
    own = bound_id.partition(".")[2]
    if paper in ("liu2026", "stich2018") or own.startswith("hhfl"):
        numbers |= _hhfl_point(numbers, rng)
        if own in ("lemma1", "cor1", "cor2"):  # steps up to 1/(4L)
            numbers["eta"] = _floor(1 / (4 * numbers["L"]) * _share(rng))
    elif paper in ("sharma2025", "devos2023") or own.startswith(("hsl", "push", "gossip")):
        numbers |= _hsl_point(numbers, rng)
        if own == "push-exact":  # summed sender by sender
            numbers["n_s"] = Fraction(rng.randint(11, 24))
    elif paper == "xie2024" or own.startswith("hga"):
        numbers |= _hga_point(bound_id, numbers, rng)
    else:
        numbers |= _unified_point(bound_id, numbers, rng)
    return {letter: Fraction(numbers[letter]) for letter in letters(bound_id)}


def _share(rng: random.Random) -> Fraction:
    """How much of a limit a point uses up."""
    return rng.choice([Fraction(1, 2**8), Fraction(1, 4), Fraction(1, 2), Fraction(7, 8)])


def _unified_point(bound_id: str, numbers: dict[str, Fraction], rng: random.Random) -> dict[str, Any]:
    """Groups and clients; the step under its cap."""
    if bound_id.startswith("hflbounds.drift"):  # summed sample by sample
        s1, s2, group_rounds, local_steps = groups, clients, *_ = rng.sample(range(2, 7), 4)
    else:
        s1, groups, s2, clients = rng.choice([(3, 8, 5, 20), (4, 25, 13, 17), (7, 9, 2, 60), (12, 90, 11, 70)])
        group_rounds, local_steps = rng.sample([1, 6, 10, 14, 15, 27, 33], 2)
    found: dict[str, Any] = {"G": groups, "M": clients, "S1": s1, "S2": s2, "P": group_rounds, "K": local_steps}
    found["R"] = rng.randint(100, 10**6)
    found["lam"] = Fraction(rng.randint(8, 64), 64)
    limit = 1 / ((12 if bound_id.startswith("zhou2025") else 8 if "sharp" in bound_id else 5) * numbers["L"])
    found["eta_eff"] = _floor(limit * _share(rng))
    if "lower" in bound_id:  # what the rounds end at is no more than 2 L A, whichever the topology
        ends = numbers["sigma"] ** 2 + numbers["zeta"] ** 2 + numbers["delta"] ** 2
        found["A"] = _floor(ends / numbers["L"]) * rng.choice([Fraction(1, 4), 1, 8])
    if bound_id.startswith(("patel2024", "safran2020", "nguyen2022")):
        found |= {"mu": Fraction(rng.randint(1, 4095), 4096), "Delta0": Fraction(rng.randint(1, 4095), 64)}
        found |= {"mu": found["mu"] * numbers["L"]}
        found |= {"eta_g": Fraction(rng.randint(1, 4095), 4096), "sigma_g": Fraction(rng.randint(1, 4095), 512)}
        found |= {"T": rng.randint(100, 10**6), "Gamma_max": rng.randint(1, 30)}
    # 1/sqrt(20), 1/sqrt(80) of full and partial participation at most; the chain as the topology has it
    top, _, low = bound_id.rpartition(".")[2].partition("-")
    partial = "partial" in bound_id
    chain = group_rounds * local_steps
    chain *= (s1 if partial else groups) if top == "ring" else 1
    chain *= (s2 if partial else clients) if low == "ring" else 1
    least = 12 if bound_id.startswith("zhou2025") else 9 if partial else 5
    if "identical" in bound_id:
        found["eta_eff"] = _floor(chain / numbers["L"] * _share(rng))
    if "second-order" in bound_id:
        found["delta_H"] = _floor(numbers["L"] / (chain * rng.choice([1, 1, 4])))  # the two caps in turn
        found["eta_eff"] = _floor(min(chain / (2 * numbers["L"]), Fraction(2, 5) / found["delta_H"]) * _share(rng))
    if "tilt" in bound_id:  # the raw step up to 1/L
        found["eta_eff"] = _floor(chain / numbers["L"] * _share(rng))
        found["Delta0"] = Fraction(rng.randint(1, 4095), 64)
    found["eta"] = _floor(Fraction(1, least) / (numbers["L"] * chain) * _share(rng))
    return found


def _hhfl_point(numbers: dict[str, Fraction], rng: random.Random) -> dict[str, Any]:
    """A schedule with beta mu > 1, alpha >= max(E, 4 L beta); overlaps from none to full, and next to none."""
    local, edge = rng.sample([1, 2, 3, 4, 5, 6, 8, 10, 15], 2)
    mu = _floor(numbers["L"] * Fraction(rng.randint(1, 255), 256))
    beta = _floor(Fraction(rng.choice([5, 6, 8, 11, 40]), 4) / mu, bits=60)
    alpha = Fraction(int(max(local, 4 * numbers["L"] * beta)) + rng.randint(1, 50))
    lambdas = [Fraction(0), Fraction(1), Fraction(1, 2**20), 1 - Fraction(1, 2**20), 1 - Fraction(1, 2**44)]
    lambdas += [Fraction(rng.randint(1, 4095), 4096) for _ in range(5)]
    return {
        **{"E": local, "Ge": edge, "mu": mu, "beta_lr": beta, "alpha": alpha, "lambda2": rng.choice(lambdas)},
        **{"t": rng.randint(10, 10**6), "p2": Fraction(rng.randint(1, 1023), 4096)},
        **{
            "Gamma": Fraction(rng.randint(1, 4095), 1024),
            "Delta0": Fraction(rng.randint(1, 4095), 64) * 2 ** rng.choice([0, 70]),
        },
        "eta": beta / 2 ** rng.randint(8, 16),
        **{name: Fraction(rng.randint(1, 4095), 256) for name in ("Delta_t", "V_t", "CD", "T_CES", "T_ECS", "cycles")},
        **{
            "hertz": 10**6 * rng.randint(1, 4095),
            "bits": Fraction(rng.randint(1, 10**6)),
            "T": rng.randint(201, 10**6),
        },
    }


def _hsl_point(numbers: dict[str, Fraction], rng: random.Random) -> dict[str, Any]:
    """Spokes, hubs and budgets, all different: b_hs <= n_s, b_hh < n_h, b_sh <= n_h."""
    spokes = rng.randint(40, 200)
    hubs = rng.randint(6, 17)
    b_hh, b_sh = rng.sample(range(1, hubs - 1), 2)
    b_hs = rng.randint(18, spokes - 1)
    factor = Fraction(rng.randint(1, 600), 1024)
    return {
        **{"n_s": spokes, "n_h": hubs, "b_hs": b_hs, "b_hh": b_hh, "b_sh": b_sh, "s": rng.randint(1, 9)},
        **{"T": rng.randint(201, 10**6), "beta_mix": factor, "kappa": Fraction(rng.randint(1, 999), 8192)},
        "CD": Fraction(rng.randint(1, 4095), 1024),
        "eta": _floor(1 / (20 * numbers["L"]) * _share(rng)),
    }


def _hga_point(bound_id: str, numbers: dict[str, Fraction], rng: random.Random) -> dict[str, Any]:
    """Sub-centers and delays; (67), (68) and the conditions of this project's bound met with room."""
    buffer, rounds, late, cached, centers = rng.sample(range(2, 21), 5)
    buffer, centers = sorted((buffer, centers))
    late, cached = sorted((late, cached))
    if bound_id in ("xie2024.cor1", "xie2024.rate", "xie2024.rate-printed"):
        numbers["L"] = _floor(_share(rng) / (25 * buffer * rounds))  # 600 K R L^2 <= 1
    L = numbers["L"]
    S = 4 * late**2 + cached**2
    alpha = Fraction(
        int(25 * to_mpf(L) * rounds * mpmath.sqrt(2 + 2 * to_mpf(L) ** 2) / to_mpf(_share(rng))) + 1 + int(20 * L)
    )
    if bound_id == "xie2024.prop1":
        alpha = Fraction(rng.randint(1024, 16384), 1024)
    eta_g = _floor(5 * mpmath.sqrt(6) * (mpmath.sqrt(16 * S + 1) - 1) / (4 * S) * to_mpf(_share(rng)))
    eta_sub = _floor(1 / (8 * rounds * L) * _share(rng))
    if bound_id == "hflbounds.hga-repaired":
        eta_g = _floor(_share(rng))
        eta_sub = _floor(1 / (8 * rounds * L))
        conditions = _repaired_conditions(L, rounds, centers, Fraction(buffer), eta_g, late, cached, eta_sub)
        while conditions[0] > 1 or conditions[1] > Fraction(7, 16) or conditions[2] < Fraction(1, 16):
            eta_sub /= 2
            conditions = _repaired_conditions(L, rounds, centers, Fraction(buffer), eta_g, late, cached, eta_sub)
        eta_sub *= rng.choice([Fraction(1), Fraction(3, 4), Fraction(1, 64)])
    noise = {name: Fraction(rng.randint(1, 4095), 512) for name in ("sigma_s", "sigma_g")}
    return {
        **{"K_buf": buffer, "R_sub": rounds, "Gamma_max": late, "zeta_max": cached, "M": centers, **noise},
        **{"tau_max": rng.randint(2, 40), "moved": Fraction(rng.randint(1, 4095), 512)},
        **{"L": L, "alpha_dyn": alpha, "eta_g": eta_g, "eta_sub": eta_sub, "T": rng.randint(100, 10**6)},
    }
