"""Unified analyses for hierarchical federated learning: Theorems 1 and 2, Appendices D, E and F.

Each statement is typed as it is printed; the drift bounds of the appendices are typed a second time, in the
raw learning rate as the proofs have them, and the audit derives the statements from them. Where what is
printed and what the proof supports differ, the entry says what the proof supports and its errata say what is
printed. Only a text copy of the paper was read: errata that may be recognition errors say so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from hflbounds.catalog import own, own_drift
from hflbounds.core.assumptions import (
    FIXED_ORDER,
    INTER,
    INTRA,
    NOISE,
    PARTIAL,
    RANDOM_ORDER,
    ROUNDS,
    SMOOTH,
    Assumption,
)
from hflbounds.core.bound import Bound, Constants, Erratum, Paper, Source, Status, Step
from hflbounds.core.expression import Expr, Relation, cbrt, sqrt
from hflbounds.core.metrics import MEAN_SQUARED_GRADIENT
from hflbounds.core.quantities import S1, S2, A, G, K, L, M, P, R, delta, eta, eta_eff, sigma, zeta
from hflbounds.evaluate.tuning import lemma_image

paper = Paper(
    key="zhou2026",
    title="Unified Analyses for Hierarchical Federated Learning: Topology Selection under Data Heterogeneity",
    authors="Zhou, Li and Lyu",
    year=2026,
    version="camera ready",
)
Terms = dict[str, Expr]
TOPOLOGIES = own.TOPOLOGIES

start = A / (eta_eff * R)
gap = L * A / R

# ---------------------------------------------------------------- Theorem 1, eqs. (4)-(7)
noise = L * eta_eff * sigma**2 / (G * P * M * K)
CHAIN = own.CHAIN  # eta_eff = PK eta, PMK eta, GPK eta, GPMK eta
CAP = {
    "star-star": eta_eff <= 1 / (sqrt(30) * L),
    "star-ring": eta_eff <= 1 / (sqrt(60) * L),
    "ring-star": eta_eff <= 1 / (sqrt(60) * L),
    "ring-ring": eta_eff <= 1 / (10 * L),
}
THEOREM_1: dict[str, Terms] = {
    "star-star": {
        "start": start,
        "noise": noise,
        "local_noise_drift": L**2 * eta_eff**2 * sigma**2 / (P**2 * K),
        "noise_drift": L**2 * eta_eff**2 * sigma**2 / (P * M * K),
        "intra_drift": L**2 * eta_eff**2 * zeta**2 / P**2,
        "inter_drift": L**2 * eta_eff**2 * delta**2,
    },
    "star-ring": {
        "start": start,
        "noise": noise,
        "noise_drift": L**2 * eta_eff**2 * sigma**2 / (P * M * K),
        "intra_drift": L**2 * eta_eff**2 * zeta**2 / P**2,
        "inter_drift": L**2 * eta_eff**2 * delta**2,
    },
    "ring-star": {
        "start": start,
        "noise": noise,
        "local_noise_drift": L**2 * eta_eff**2 * sigma**2 / (G**2 * P**2 * K),
        "noise_drift": L**2 * eta_eff**2 * sigma**2 / (G * P * M * K),
        "intra_drift": L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2),
        "inter_drift": L**2 * eta_eff**2 * delta**2,
    },
    "ring-ring": {
        "start": start,
        "noise": noise,
        "noise_drift": L**2 * eta_eff**2 * sigma**2 / (G * P * M * K),
        "intra_drift": L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2),
        "inter_drift": L**2 * eta_eff**2 * delta**2,
    },
}
# Appendix E, last display of each subsection: what random order changes.
SHUFFLE: dict[str, Terms] = {
    "star-star": {},
    "star-ring": {"intra_drift": L**2 * eta_eff**2 * zeta**2 / (P**2 * M)},
    "ring-star": {"inter_drift": L**2 * eta_eff**2 * delta**2 / G},
    "ring-ring": {
        "intra_drift": L**2 * eta_eff**2 * zeta**2 / (G**2 * P**2 * M),
        "inter_drift": L**2 * eta_eff**2 * delta**2 / G,
    },
}

# ---------------------------------------------------------------- Corollary 1, eqs. (14)-(18)
rate_noise = sqrt(L * sigma**2 * A) / sqrt(G * P * M * K * R)
COROLLARY_1: dict[str, Terms] = {
    "star-star": {
        "start": gap,
        "noise": rate_noise,
        "local_noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(P**2 * K * R**2),
        "noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(P * M * K * R**2),
        "intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(P**2 * R**2),
        "inter_drift": cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
    },
    "star-ring": {
        "start": gap,
        "noise": rate_noise,
        "noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(P * M * K * R**2),
        "intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(P**2 * R**2),
        "inter_drift": cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
    },
    "ring-star": {
        "start": gap,
        "noise": rate_noise,
        "local_noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(G**2 * P**2 * K * R**2),
        "noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(G * P * M * K * R**2),
        "intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(G**2 * P**2 * R**2),
        "inter_drift": cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
    },
    "ring-ring": {
        "start": gap,
        "noise": rate_noise,
        "noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(G * P * M * K * R**2),
        "intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(G**2 * P**2 * R**2),
        "inter_drift": cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
    },
}
# Table 5, rows (S), and the last display of E.2-E.4.
SHUFFLE_RATE: dict[str, Terms] = {
    "star-star": {},
    "star-ring": {"intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(P**2 * M * R**2)},
    "ring-star": {"inter_drift": cbrt(L**2 * A**2 * delta**2) / cbrt(G * R**2)},
    "ring-ring": {
        "intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(G**2 * P**2 * M * R**2),
        "inter_drift": cbrt(L**2 * A**2 * delta**2) / cbrt(G * R**2),
    },
}

# ---------------------------------------------------------------- Theorem 2, eqs. (8)-(13)
sampled: Terms = {
    "start": start,
    "noise": L * eta_eff * sigma**2 / (S1 * P * S2 * K),
    "client_sampling": L * eta_eff * zeta**2 / S2,
    "group_sampling": L * eta_eff * delta**2 / S1,
}
PARTIAL_CHAIN = {"star-star": P * K, "star-ring": P * S2 * K, "ring-star": S1 * P * K, "ring-ring": S1 * P * S2 * K}
PARTIAL_CAP = {
    "star-star": eta_eff <= 1 / (10 * L),
    "star-ring": eta_eff <= 1 / (15 * L),
    "ring-star": eta_eff <= 1 / (15 * L),
    "ring-ring": eta_eff <= 1 / (20 * L),
}
THEOREM_2: dict[str, Terms] = {
    "star-star": {
        **sampled,
        "local_noise_drift": L**2 * eta_eff**2 * sigma**2 / (P**2 * K),
        "noise_drift": L**2 * eta_eff**2 * sigma**2 / (P * S2 * K),
        "intra_drift": L**2 * eta_eff**2 * zeta**2 / P**2,
        "sampled_intra_drift": L**2 * eta_eff**2 * zeta**2 / S2,
        "inter_drift": L**2 * eta_eff**2 * delta**2,
    },
    "star-ring": {
        **sampled,
        "noise_drift": L**2 * eta_eff**2 * sigma**2 / (P * S2 * K),
        "sampled_intra_drift": L**2 * eta_eff**2 * zeta**2 / S2,
        "inter_drift": L**2 * eta_eff**2 * delta**2,
    },
    "ring-star": {
        **sampled,
        "local_noise_drift": L**2 * eta_eff**2 * sigma**2 / (S1**2 * P**2 * K),
        "noise_drift": L**2 * eta_eff**2 * sigma**2 / (S1 * P * S2 * K),
        "intra_drift": L**2 * eta_eff**2 * zeta**2 / (S1**2 * P**2),
        "sampled_intra_drift": L**2 * eta_eff**2 * zeta**2 / S2,
        "inter_drift": L**2 * eta_eff**2 * delta**2 / S1,
    },
    "ring-ring": {
        **sampled,
        "noise_drift": L**2 * eta_eff**2 * sigma**2 / (S1 * P * S2 * K),
        "sampled_intra_drift": L**2 * eta_eff**2 * zeta**2 / S2,
        "inter_drift": L**2 * eta_eff**2 * delta**2 / S1,
    },
}

# ---------------------------------------------------------------- Corollary 2, eqs. (19)-(23)
rate_sampled: Terms = {
    "start": gap,
    "noise": sqrt(L * A * sigma**2) / sqrt(S1 * P * S2 * K * R),
    "client_sampling": sqrt(L * A * zeta**2) / sqrt(S2 * R),
    "group_sampling": sqrt(L * A * delta**2) / sqrt(S1 * R),
}
COROLLARY_2: dict[str, Terms] = {
    "star-star": {
        **rate_sampled,
        "local_noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(P**2 * K * R**2),
        "noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(P * S2 * K * R**2),
        "intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(P**2 * R**2),
        "sampled_intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(S2 * R**2),
        "inter_drift": cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
    },
    "star-ring": {
        **rate_sampled,
        "noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(P * S2 * K * R**2),
        "sampled_intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(S2 * R**2),
        "inter_drift": cbrt(L**2 * A**2 * delta**2) / cbrt(R**2),
    },
    "ring-star": {
        **rate_sampled,
        "local_noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(S1**2 * P**2 * K * R**2),
        "noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(S1 * P * S2 * K * R**2),
        "intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(S1**2 * P**2 * R**2),
        "sampled_intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(S2 * R**2),
        "inter_drift": cbrt(L**2 * A**2 * delta**2) / cbrt(S1 * R**2),
    },
    "ring-ring": {
        **rate_sampled,
        "noise_drift": cbrt(L**2 * A**2 * sigma**2) / cbrt(S1 * P * S2 * K * R**2),
        "sampled_intra_drift": cbrt(L**2 * A**2 * zeta**2) / cbrt(S2 * R**2),
        "inter_drift": cbrt(L**2 * A**2 * delta**2) / cbrt(S1 * R**2),
    },
}

# ---------------------------------------------------------------- the proofs' explicit constants
# Appendices D and E: multipliers of the terms after the first two, in the order of Theorem 1, with
# c1 = 1/(1 - B u), c2 = 1/(1/2 - a c1 u), u = (L eta_eff)^2.
MULTIPLIERS: dict[str, tuple[int | Fraction, ...]] = {
    "star-star": (5, 5, 5, 10),
    "star-ring": (Fraction(45, 2), 15, Fraction(45, 2)),
    "ring-star": (Fraction(15, 2), 15, Fraction(15, 2), Fraction(45, 2)),
    "ring-ring": (40, 20, 40),
}
RECURSION = {"star-star": 10, "star-ring": 15, "ring-star": 15, "ring-ring": 20}  # B
GRADIENT: dict[str, int | Fraction] = {
    "star-star": 10,
    "star-ring": Fraction(45, 2),
    "ring-star": Fraction(45, 2),
    "ring-ring": 40,
}  # a
# Appendix F: c2 = 1/(1/2 - (5/2) v - B c1 u), v = L eta_eff, and 5/2 on every first-order term.
PARTIAL_MULTIPLIERS: dict[str, tuple[int, ...]] = {
    "star-star": (10, 10, 10, 10, 20),
    "star-ring": (45, 45, 45),
    "ring-star": (15, 30, 15, 30, 45),
    "ring-ring": (80, 80, 80),
}
PARTIAL_RECURSION = {"star-star": 20, "star-ring": 45, "ring-star": 45, "ring-ring": 80}
v = L * eta_eff
u = v**2


@dataclass(frozen=True)
class Drift:
    """The appendix's bound on the drift E_r, divided by ``c1 eta**2``, in the raw learning rate.

    Attributes:
        recursion: coefficient of E_r on its own right-hand side, ``1 - 1/c1``.
        terms: coefficients of sigma^2, zeta^2, delta^2 by the names of the theorem's terms.
        gradient: coefficient of the squared gradient.
    """

    recursion: Expr
    terms: Terms
    gradient: Expr


# D.2-D.5, the display after "Let c1 = ...".
DRIFT = {
    "star-star": Drift(
        10 * L**2 * P**2 * K**2 * eta**2,
        {
            "local_noise_drift": 10 * G * P * M * K**2 * sigma**2,
            "noise_drift": 10 * G * P**2 * K**2 * sigma**2,
            "intra_drift": 10 * G * P * M * K**3 * zeta**2,
            "inter_drift": 20 * G * P**3 * M * K**3 * delta**2,
        },
        20 * G * P**3 * M * K**3,
    ),
    "star-ring": Drift(
        15 * L**2 * P**2 * M**2 * K**2 * eta**2,
        {
            "noise_drift": 45 * G * P**2 * M**2 * K**2 * sigma**2,
            "intra_drift": 30 * G * P * M**3 * K**3 * zeta**2,
            "inter_drift": 45 * G * P**3 * M**3 * K**3 * delta**2,
        },
        45 * G * P**3 * M**3 * K**3,
    ),
    "ring-star": Drift(
        15 * L**2 * G**2 * P**2 * K**2 * eta**2,
        {
            "local_noise_drift": 15 * G * P * M * K**2 * sigma**2,
            "noise_drift": 30 * G**2 * P**2 * K**2 * sigma**2,
            "intra_drift": 15 * G * P * M * K**3 * zeta**2,
            "inter_drift": 45 * G**3 * P**3 * M * K**3 * delta**2,
        },
        45 * G**3 * P**3 * M * K**3,
    ),
    "ring-ring": Drift(
        20 * L**2 * G**2 * P**2 * M**2 * K**2 * eta**2,
        {
            "noise_drift": 80 * G**2 * P**2 * M**2 * K**2 * sigma**2,
            "intra_drift": 40 * G * P * M**3 * K**3 * zeta**2,
            "inter_drift": 80 * G**3 * P**3 * M**3 * K**3 * delta**2,
        },
        80 * G**3 * P**3 * M**3 * K**3,
    ),
}
# E.1-E.4: what random order changes there.
DRIFT_SHUFFLE: dict[str, Terms] = {
    "star-star": {},
    "star-ring": {"intra_drift": 30 * G * P * M**2 * K**3 * zeta**2},
    "ring-star": {"inter_drift": 45 * G**2 * P**3 * M * K**3 * delta**2},
    "ring-ring": {
        "intra_drift": 40 * G * P * M**2 * K**3 * zeta**2,
        "inter_drift": 80 * G**2 * P**3 * M**3 * K**3 * delta**2,
    },
}
# F.2-F.5.
DRIFT_PARTIAL = {
    "star-star": Drift(
        20 * eta**2 * L**2 * P**2 * K**2,
        {
            "local_noise_drift": 10 * S1 * P * S2 * K**2 * sigma**2,
            "noise_drift": 10 * S1 * P**2 * K**2 * sigma**2,
            "intra_drift": 10 * S1 * P * S2 * K**3 * zeta**2,
            "sampled_intra_drift": 10 * S1 * P**3 * K**3 * zeta**2,
            "inter_drift": 20 * S1 * P**3 * S2 * K**3 * delta**2,
        },
        20 * S1 * P**3 * S2 * K**3,
    ),
    "star-ring": Drift(
        45 * eta**2 * L**2 * P**2 * S2**2 * K**2,
        {
            "noise_drift": 45 * S1 * P**2 * S2**2 * K**2 * sigma**2,
            "sampled_intra_drift": 45 * S1 * P**3 * S2**2 * K**3 * zeta**2,
            "inter_drift": 45 * S1 * P**3 * S2**3 * K**3 * delta**2,
        },
        45 * S1 * P**3 * S2**3 * K**3,
    ),
    "ring-star": Drift(
        45 * eta**2 * L**2 * S1**2 * P**2 * K**2,
        {
            "local_noise_drift": 15 * S1 * P * S2 * K**2 * sigma**2,
            "noise_drift": 30 * S1**2 * P**2 * K**2 * sigma**2,
            "intra_drift": 15 * S1 * P * S2 * K**3 * zeta**2,
            "sampled_intra_drift": 30 * S1**3 * P**3 * K**3 * zeta**2,
            "inter_drift": 45 * S1**2 * P**3 * S2 * K**3 * delta**2,
        },
        45 * S1**3 * P**3 * S2 * K**3,
    ),
    "ring-ring": Drift(
        80 * eta**2 * L**2 * S1**2 * P**2 * S2**2 * K**2,
        {
            "noise_drift": 80 * S1**2 * P**2 * S2**2 * K**2 * sigma**2,
            "sampled_intra_drift": 80 * S1**3 * P**3 * S2**2 * K**3 * zeta**2,
            "inter_drift": 80 * S1**2 * P**3 * S2**3 * K**3 * delta**2,
        },
        80 * S1**3 * P**3 * S2**3 * K**3,
    ),
}


def from_lemma_1(topology: str, drift: Drift) -> Terms:
    """D.1: half the mean squared gradient <= A/(eta_eff R) + L eta_eff sigma^2/N + (L^2 / 2N) E_r."""
    raw = {eta: eta_eff / CHAIN[topology]}
    samples = G * P * M * K
    c1 = 1 / (1 - drift.recursion)
    share = L**2 * c1 * eta**2 / (2 * samples)
    c2 = 1 / (Fraction(1, 2) - share * drift.gradient)
    terms = {
        "start": c2 * A / (eta * CHAIN[topology] * R),
        "noise": c2 * L * eta * CHAIN[topology] * sigma**2 / samples,
        **{name: c2 * share * piece for name, piece in drift.terms.items()},
    }
    return {name: term.subs(raw) for name, term in terms.items()}


def from_lemma_2(topology: str, drift: Drift) -> Terms:
    """F.1 with the exponents of S1 and S2 in its heterogeneity terms exchanged (erratum A4)."""
    chain, samples = PARTIAL_CHAIN[topology], S1 * P * S2 * K
    raw = {eta: eta_eff / chain}
    c0 = chain / samples
    c1 = 1 / (1 - drift.recursion)
    share = L**2 * c1 * eta**2 / samples
    c2 = 1 / (Fraction(1, 2) - 5 * eta * L * c0 * samples / 2 - share * drift.gradient)
    first = 5 * eta * L * c0 / (2 * samples)
    terms = {
        "start": c2 * A / (eta * chain * R),
        "noise": c2 * first * samples * sigma**2,
        "client_sampling": c2 * first * S1**2 * P**2 * S2 * K**2 * zeta**2,
        "group_sampling": c2 * first * S1 * P**2 * S2**2 * K**2 * delta**2,
        **{name: c2 * share * piece for name, piece in drift.terms.items()},
    }
    return {name: term.subs(raw) for name, term in terms.items()}


def _constants(topology: str) -> tuple[Expr, Expr]:
    c1 = 1 / (1 - RECURSION[topology] * u)
    return c1, 1 / (Fraction(1, 2) - GRADIENT[topology] * c1 * u)


def partial_constants(topology: str) -> tuple[Expr, Expr]:
    """c_1 and c_2 of Appendix F."""
    c1 = 1 / (1 - PARTIAL_RECURSION[topology] * u)
    return c1, 1 / (Fraction(1, 2) - 5 * v / 2 - PARTIAL_RECURSION[topology] * c1 * u)


def explicit(theorem: Terms, multipliers: tuple[int | Fraction, ...], topology: str) -> Terms:
    """The last display before eta_eff is set in D.2-D.5, from the terms of Theorem 1."""
    c1, c2 = _constants(topology)
    drift = list(theorem.items())[2:]
    return {name: c2 * theorem[name] for name in ("start", "noise")} | {
        name: c1 * c2 * number * term for number, (name, term) in zip(multipliers, drift, strict=True)
    }


def explicit_partial(topology: str) -> Terms:
    """The same of F.2-F.5, with Lemma 2 as corrected."""
    c1, c2 = partial_constants(topology)
    theorem = THEOREM_2[topology]
    drift = list(theorem.items())[len(sampled) :]
    first_order = {name: 5 * c2 * theorem[name] / 2 for name in sampled if name != "start"}
    return {"start": c2 * theorem["start"], **first_order} | {
        name: number * c1 * c2 * term for number, (name, term) in zip(PARTIAL_MULTIPLIERS[topology], drift, strict=True)
    }


def _pole(topology: str) -> tuple[Relation, ...]:
    """Where c1 and c2 are positive: the printed cap, without equality (erratum A2)."""
    cap = CAP[topology]
    return (eta_eff < cap.rhs,)


def _partial_pole(topology: str) -> tuple[Relation, ...]:
    b = PARTIAL_RECURSION[topology]
    return (eta_eff < 1 / (sqrt(b) * L), 2 * b * u < (1 - 5 * v) * (1 - b * u))


# ---------------------------------------------------------------- errata of what is encoded here
def _cap_in_root(topology: str, number: int) -> Erratum:
    return Erratum(
        id=f"zhou2026.A1.{topology}",
        place="Theorem 1, eqs. (4)-(6); D.2, D.4",
        printed=eta_eff <= 1 / sqrt(number * L),
        proved=CAP[topology],
        because="a step size has the dimension of 1/L, and c1 and c2 depend on L^2 eta_eff^2; "
        "D.3 and E.1-E.3 print the root of the number alone",
        witness={"L": 20, "eta_eff": 0.02},
        effect="a factor sqrt(L) on the largest step; where caps bind, the order of topologies changes",
        artefact=True,
    )


def _cap_is_pole(topology: str) -> Erratum:
    return Erratum(
        id=f"zhou2026.A2.{topology}",
        gravity="step",
        place="Theorem 1; D.2-D.5, E.1-E.4, the line that bounds eta_eff",
        printed=CAP[topology],
        proved=_pole(topology)[0],
        because="c2 is infinite at exactly the printed cap, so the printed proof gives no constant there; "
        "the statement itself holds, by hflbounds.sharp, with c2 at most 2.13",
        witness={"L": 1, "eta_eff": _POLE_AT[topology]},
        effect="none on values inside the cap",
    )


_POLE_AT = {"star-star": 1 / 30**0.5, "star-ring": 1 / 60**0.5, "ring-star": 1 / 60**0.5, "ring-ring": 0.1}
TABLE_5 = Erratum(
    id="zhou2026.A3",
    gravity="refuted",
    place="Appendix E, Table 5, row Star-Ring (F)",
    printed=cbrt(L**2 * A**2 * sigma**2) / cbrt(P * K * R**2) + cbrt(L**2 * A**2 * zeta**2) / cbrt(P**2 * M * R**2),
    proved=cbrt(L**2 * A**2 * sigma**2) / cbrt(P * M * K * R**2) + cbrt(L**2 * A**2 * zeta**2) / cbrt(P**2 * R**2),
    because="eqs. (5), (16) and D.3 give the other form; for fixed order the printed dependence of the "
    "intra-group term on M fails on quadratics",
    witness={"L": 1, "A": 2.3, "R": 5000, "P": 10, "M": 10, "K": 2, "sigma": 1, "zeta": 0.5},
    effect="M^(1/3) on two terms; can place Star-Ring above Star-Star",
)
LEMMA_2 = Erratum(
    id="zhou2026.A4",
    gravity="refuted",
    place="F.1, Lemma 2, statement and proof",
    printed=S1 * P**2 * S2**2 * K**2 * zeta**2 + S1**2 * P**2 * S2 * K**2 * delta**2,
    proved=S1**2 * P**2 * S2 * K**2 * zeta**2 + S1 * P**2 * S2**2 * K**2 * delta**2,
    because="with all clients of a group alike the group draw varies the sum by S1 S2^2 delta^2; "
    "F.2-F.5 and Theorem 2 use this form",
    witness={"S1": 1, "S2": 10, "P": 1, "K": 1, "zeta": 0, "delta": 1},
    effect="S2/S1 on the first-order heterogeneity terms, the same for all four topologies",
)


def _partial_step(topology: str, printed: Expr) -> Erratum:
    return Erratum(
        id=f"zhou2026.A5.{topology}",
        place="Theorem 2, the line that defines eta_eff",
        printed=printed * eta,
        proved=PARTIAL_CHAIN[topology] * eta,
        because="the update of a round has S1 groups and S2 clients in it, as F.3-F.5 say",
        witness={"G": 10, "M": 10, "P": 1, "K": 2, "S1": 5, "S2": 5, "eta": 0.01},
        effect="a factor on the raw learning rate; none at a tuned effective one",
    )


E3_CONSTANT = Erratum(
    id="zhou2026.B1",
    place="E.3, the line 'Let c2 = ...'",
    printed=1 / (Fraction(5, 2) - 45 * u / (2 * (1 - 15 * u))),
    proved=1 / (Fraction(1, 2) - 45 * u / (2 * (1 - 15 * u))),
    because="the line above it, and D.4, have 1/2",
    witness={"L": 1, "eta_eff": 0.04},
    effect="the bound at least 5 times too small, without limit towards the cap; can change the order of topologies",
    artefact=True,
)


F2_CONSTANT = Erratum(
    id="zhou2026.B6",
    place="F.2, the recursion before 'Let c2 = ...'",
    printed=1 / (Fraction(1, 2) - v / 2 - 20 * u / (1 - 20 * u)),
    proved=1 / (Fraction(1, 2) - 5 * v / 2 - 20 * u / (1 - 20 * u)),
    because="Lemma 2, and the definition of c2 two lines later, have 5/2",
    witness={"L": 1, "eta_eff": 0.04},
    effect="on that line only",
    artefact=True,
)
F5_CONSTANTS = Erratum(
    id="zhou2026.B7",
    place="F.5, 'Let c1 = ...'; F.4 and F.5 also define c2 through itself, and F.5 with the cube of the step",
    printed=1 / (1 - 80 * eta**2 * S1**2 * P**2 * S2**2 * K**2),
    proved=1 / (1 - 80 * L**2 * eta**2 * S1**2 * P**2 * S2**2 * K**2),
    because="a pure number must not change with the units of the loss; F.2-F.4 have L^2",
    witness={"L": 2, "eta": 0.001, "S1": 5, "P": 1, "S2": 5, "K": 2},
    effect="wrong unless L = 1",
    artefact=True,
)


# ---------------------------------------------------------------- the catalogue's entries
def _entry(  # reason: what differs between the statements of the paper
    label: str,
    topology: str,
    title: str,
    source: Source,
    terms: Mapping[str, Expr],
    order: Assumption,
    *,
    constants: Constants,
    status: Status,
    requires: tuple[Relation, ...] = (),
    steps: tuple[Step, ...] = (),
    errata: tuple[Erratum, ...] = (),
) -> Bound:
    sampled_rounds = order is PARTIAL
    c1, c2 = (partial_constants if sampled_rounds else _constants)(topology)
    counts = (S1, S2) if sampled_rounds else (G, M)
    with_step = bool(requires)
    return Bound(
        id=f"zhou2026.{label}.{topology}",
        title=f"{topology}, {title}",
        source=source,
        bounds=MEAN_SQUARED_GRADIENT,
        terms=terms,
        requires=requires,
        assumes=(SMOOTH, NOISE, INTRA, INTER, ROUNDS, order),
        status=status,
        constants=constants,
        where={"c_1": c1, "c_2": c2} if constants == "explicit" else {},
        chain=(PARTIAL_CHAIN if sampled_rounds else CHAIN)[topology] if with_step else None,
        common_cap=(1 / (20 * L) if sampled_rounds else 1 / (4 * L)) if with_step else None,
        grows_with=(A, L, sigma, zeta, delta),
        shrinks_with=(*counts, P, K, R),
        steps=steps,
        noted=errata,
        kind="theorem" if with_step else "rate",
    )


def _full(topology: str, shuffled: bool) -> tuple[Bound, ...]:
    """Theorem, rate and explicit form of one topology with every client in every round."""
    label, rate, proof = ("shuffle", "shuffle-rate", "shuffle-proof") if shuffled else ("thm1", "cor1", "thm1-proof")
    section = ("E.1", "E.2", "E.3", "E.4") if shuffled else ("D.2", "D.3", "D.4", "D.5")
    index = TOPOLOGIES.index(topology)
    order = RANDOM_ORDER if shuffled else FIXED_ORDER
    words = "random order, full participation" if shuffled else "fixed order, full participation"
    theorem = THEOREM_1[topology] | (SHUFFLE[topology] if shuffled else {})
    tuned = COROLLARY_1[topology] | (SHUFFLE_RATE[topology] if shuffled else {})
    drift = DRIFT[topology]
    if shuffled:
        drift = Drift(drift.recursion, drift.terms | DRIFT_SHUFFLE[topology], drift.gradient)
    derive = partial(from_lemma_1, topology, drift)
    ours = (own.sharp_shuffle if shuffled else own.sharp)[index].expression
    number = {"star-star": 30, "star-ring": 60, "ring-star": 60}.get(topology)
    literal = (_cap_in_root(topology, number),) if number and not shuffled else ()
    misprint = (E3_CONSTANT,) if shuffled and topology == "ring-star" else ()
    table = (TABLE_5,) if topology == "star-ring" and not shuffled else ()
    return (
        _entry(
            label,
            topology,
            words,
            paper.at(f"Appendix {section[index]}" if shuffled else f"Theorem 1, eq. ({4 + index})"),
            theorem,
            order,
            constants="hidden",
            status="proved",
            requires=(CAP[topology],),
            steps=(
                Step(f"Lemma 1 with the drift of {section[index]}, numbers dropped", derive, "same but numbers"),
                Step("the project's own theorem, whose constants are explicit", ours, "at most", factor=3),
            ),
            errata=(*literal, _cap_is_pole(topology)),
        ),
        _entry(
            rate,
            topology,
            f"{words}, rate at the tuned step",
            paper.at(
                f"Appendix E, Table 5, and {section[index]}" if shuffled else f"Corollary 1, eqs. (14), ({15 + index})"
            ),
            tuned,
            order,
            constants="hidden",
            status="proved",
            steps=(Step("the tuning lemma, term by term", lambda: lemma_image(theorem)),),
            errata=table,
        ),
        _entry(
            proof,
            topology,
            f"{words}, constants of the proof",
            paper.at(f"Appendix {section[index]}, last display before eta_eff is set"),
            explicit(theorem, MULTIPLIERS[topology], topology),
            order,
            constants="explicit",
            status="proved",
            requires=_pole(topology),
            steps=(
                Step(f"Lemma 1 with the drift of {section[index]}", derive),
                Step("the project's own theorem, which is smaller everywhere", ours, "at most"),
            ),
            errata=misprint,
        ),
    )


def _partial(topology: str) -> tuple[Bound, ...]:
    """Theorem 2, Corollary 2 and the explicit form of one topology."""
    index = TOPOLOGIES.index(topology)
    equations = ("(8)-(9)", "(10)", "(11)-(12)", "(13)")[index]
    section = ("F.2", "F.3", "F.4", "F.5")[index]
    derive = partial(from_lemma_2, topology, DRIFT_PARTIAL[topology])
    ours = own_drift.sharp_partial[index].expression
    printed_step = {"star-ring": P * M * K, "ring-star": G * P * K, "ring-ring": G * P * M * K}
    wrong_step = (_partial_step(topology, printed_step[topology]),) if topology in printed_step else ()
    return (
        _entry(
            "thm2",
            topology,
            "partial participation",
            paper.at(f"Theorem 2, eqs. {equations}"),
            THEOREM_2[topology],
            PARTIAL,
            constants="hidden",
            status="proved",
            requires=(PARTIAL_CAP[topology],),
            steps=(
                Step(f"Lemma 2, corrected, with the drift of {section}, numbers dropped", derive, "same but numbers"),
                Step("the project's own theorem for sampled rounds", ours, "at most", factor=12),
            ),
            errata=wrong_step,
        ),
        _entry(
            "cor2",
            topology,
            "partial participation, rate at the tuned step",
            paper.at(f"Corollary 2, eqs. (19), ({20 + index})"),
            COROLLARY_2[topology],
            PARTIAL,
            constants="hidden",
            status="proved",
            steps=(Step("the tuning lemma, term by term", lambda: lemma_image(THEOREM_2[topology])),),
        ),
        _entry(
            "thm2-proof",
            topology,
            "partial participation, constants of the proof",
            paper.at(f"Appendix {section}, with Lemma 2 as corrected"),
            explicit_partial(topology),
            PARTIAL,
            constants="explicit",
            status="proved",
            requires=_partial_pole(topology),
            steps=(
                Step(f"Lemma 2, corrected, with the drift of {section}", derive),
                Step("the project's own theorem for sampled rounds, smaller everywhere", ours, "at most"),
            ),
            errata=(LEMMA_2, *{"star-star": (F2_CONSTANT,), "ring-ring": (F5_CONSTANTS,)}.get(topology, ())),
        ),
    )


fixed_order = tuple(bound for topology in TOPOLOGIES for bound in _full(topology, shuffled=False))
random_order = tuple(bound for topology in TOPOLOGIES for bound in _full(topology, shuffled=True))
partial_participation = tuple(bound for topology in TOPOLOGIES for bound in _partial(topology))
