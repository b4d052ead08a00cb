"""Progress of one round after the drift has been put in: the displays before 'Let c_2 = ...' of Appendices D, E and F.

Each is typed in the raw step, as the appendices have it, and the audit puts it together again from Lemma 1 or 2 and the
drift of `zhou2026_lemmas`. What a display prints otherwise is an erratum of it. F.3 has no such display and goes
straight to the mean over the rounds, from which its recursion is taken.
"""

from fractions import Fraction

from hflbounds.catalog import own_drift, zhou2026
from hflbounds.catalog.zhou2026 import F2_CONSTANT, F5_CONSTANTS, TOPOLOGIES, Terms, paper
from hflbounds.catalog.zhou2026_lemmas import (
    LAWS,
    PLACES,
    drift,
    drift_partial,
    drift_shuffle,
    lemma1,
    lemma2,
    printed_drift,
)
from hflbounds.core.assumptions import INTER, INTRA, NOISE, ONE_ROUND, SMOOTH
from hflbounds.core.bound import Bound, End, Erratum, Step
from hflbounds.core.expression import Expr
from hflbounds.core.metrics import ROUND_PROGRESS
from hflbounds.core.quantities import S1, S2, E_r, G, K, L, M, P, delta, eta, eta_eff, grad, sigma, zeta

half, third = Fraction(1, 2), Fraction(15, 2)
most = Fraction(45, 2)
C1 = {
    label: {t: 1 / (1 - printed_drift(t, label).recursion) for t in TOPOLOGIES}
    for label in ("drift", "drift-shuffle", "drift-partial")
}


def _full(topology: str, label: str) -> Terms:
    """D.2-D.5 and, where a drawn order saves a power of M or G, E.1-E.4."""
    c1 = C1[label][topology]
    clients = M**2 if label == "drift-shuffle" else M**3
    groups = G**2 if label == "drift-shuffle" else G**3
    part = c1 * eta**3 * L**2
    return {
        "star-star": {
            "descent": -eta * P * K * (half - 10 * c1 * eta**2 * L**2 * P**2 * K**2) * grad**2,
            "noise": eta**2 * L * P * K * sigma**2 / (G * M),
            "local_noise_drift": 5 * part * P * K**2 * sigma**2,
            "noise_drift": 5 * part * P**2 * K**2 * sigma**2 / M,
            "intra_drift": 5 * part * P * K**3 * zeta**2,
            "inter_drift": 10 * part * P**3 * K**3 * delta**2,
        },
        "star-ring": {
            "descent": -eta * P * M * K * (half - most * c1 * eta**2 * L**2 * P**2 * M**2 * K**2) * grad**2,
            "noise": eta**2 * L * P * M * K * sigma**2 / G,
            "noise_drift": most * part * P**2 * M**2 * K**2 * sigma**2,
            "intra_drift": 15 * part * P * clients * K**3 * zeta**2,
            "inter_drift": most * part * P**3 * M**3 * K**3 * delta**2,
        },
        "ring-star": {
            "descent": -eta * G * P * K * (half - most * c1 * eta**2 * L**2 * G**2 * P**2 * K**2) * grad**2,
            "noise": eta**2 * L * G * P * K * sigma**2 / M,
            "local_noise_drift": third * part * G * P * K**2 * sigma**2,
            "noise_drift": 15 * part * G**2 * P**2 * K**2 * sigma**2 / M,
            "intra_drift": third * part * G * P * K**3 * zeta**2,
            "inter_drift": most * part * groups * P**3 * K**3 * delta**2,
        },
        "ring-ring": {
            "descent": -eta * G * P * M * K * (half - 40 * c1 * (eta * L * G * P * M * K) ** 2) * grad**2,
            "noise": eta**2 * L * G * P * M * K * sigma**2,
            "noise_drift": 40 * part * G**2 * P**2 * M**2 * K**2 * sigma**2,  # with the square of G of erratum B2
            "intra_drift": 20 * part * G * P * clients * K**3 * zeta**2,
            "inter_drift": 40 * part * groups * P**3 * M**3 * K**3 * delta**2,
        },
    }[topology]


def _partial(topology: str) -> Terms:
    """F.2-F.5, with the 5/2 of Lemma 2 throughout (erratum B6) and a c_2 without itself (B7)."""
    c1 = C1["drift-partial"][topology]
    first, part = Fraction(5, 2) * eta**2 * L, c1 * eta**3 * L**2
    chain = zhou2026.PARTIAL_CHAIN[topology]
    number = {"star-star": 20, "star-ring": 45, "ring-star": 45, "ring-ring": 80}[topology]
    # The displays have these two in one bracket, which is zero inside the range.
    descent = -eta * chain * (half - Fraction(5, 2) * eta * L * chain) * grad**2
    gradient = eta * chain * number * c1 * eta**2 * L**2 * chain**2 * grad**2
    rest: dict[str, Terms] = {
        "star-star": {
            "noise": first * P * K * sigma**2 / (S1 * S2),
            "client_sampling": first * P**2 * K**2 * zeta**2 / S2,
            "group_sampling": first * P**2 * K**2 * delta**2 / S1,
            "local_noise_drift": 10 * part * P * K**2 * sigma**2,
            "noise_drift": 10 * part * P**2 * K**2 * sigma**2 / S2,
            "intra_drift": 10 * part * P * K**3 * zeta**2,
            "sampled_intra_drift": 10 * part * P**3 * K**3 * zeta**2 / S2,
            "inter_drift": 20 * part * P**3 * K**3 * delta**2,
        },
        "star-ring": {
            "noise": first * P * S2 * K * sigma**2 / S1,
            "client_sampling": first * P**2 * S2 * K**2 * zeta**2,
            "group_sampling": first * P**2 * S2**2 * K**2 * delta**2 / S1,
            "noise_drift": 45 * part * P**2 * S2**2 * K**2 * sigma**2,
            "sampled_intra_drift": 45 * part * P**3 * S2**2 * K**3 * zeta**2,
            "inter_drift": 45 * part * P**3 * S2**3 * K**3 * delta**2,
        },
        "ring-star": {
            "noise": first * S1 * P * K * sigma**2 / S2,
            "client_sampling": first * S1**2 * P**2 * K**2 * zeta**2 / S2,
            "group_sampling": first * S1 * P**2 * K**2 * delta**2,
            "local_noise_drift": 15 * part * S1 * P * K**2 * sigma**2,
            "noise_drift": 30 * part * S1**2 * P**2 * K**2 * sigma**2 / S2,
            "intra_drift": 15 * part * S1 * P * K**3 * zeta**2,
            "sampled_intra_drift": 30 * part * S1**3 * P**3 * K**3 * zeta**2 / S2,
            "inter_drift": 45 * part * S1**2 * P**3 * K**3 * delta**2,
        },
        "ring-ring": {
            "noise": first * S1 * P * S2 * K * sigma**2,
            "client_sampling": first * S1**2 * P**2 * S2 * K**2 * zeta**2,
            "group_sampling": first * S1 * P**2 * S2**2 * K**2 * delta**2,
            "noise_drift": 80 * part * S1**2 * P**2 * S2**2 * K**2 * sigma**2,
            "sampled_intra_drift": 80 * part * S1**3 * P**3 * S2**2 * K**3 * zeta**2,
            "inter_drift": 80 * part * S1**2 * P**3 * S2**3 * K**3 * delta**2,
        },
    }
    return {"descent": descent, "gradient_drift": gradient, **rest[topology]}


def _composed(lemma: Bound, put_in: Bound, chain: Expr, apart: bool) -> Terms:
    """Lemma 1 or 2 in the raw step, its drift replaced term by term; ``apart`` from the descent or in one with it."""
    start = {name: term.subs({eta_eff: eta * chain}) for name, term in lemma.terms.items()}
    weight = start.pop("drift") / E_r
    for name, term in put_in.terms.items():
        if name == "gradient" and apart:
            start["gradient_drift"] = weight * term
        elif name == "gradient":
            start["descent"] = start["descent"] + weight * term
        else:
            start[name] = weight * term
    return start


def _recursion(label: str, topology: str) -> Bound:
    index, partial = TOPOLOGIES.index(topology), label == "drift-partial"
    put_in = {"drift": drift, "drift-shuffle": drift_shuffle, "drift-partial": drift_partial}[label][index]
    lemma = lemma2 if partial else lemma1
    chain = (zhou2026.PARTIAL_CHAIN if partial else zhou2026.CHAIN)[topology]
    in_a_row = own_drift.steps_in_a_row(topology, *((S1, S2) if partial else (G, M)))
    small = eta <= 1 / ((5 if partial else 2) * L * chain)
    known: tuple[Erratum, ...] = ()
    if partial:
        known = {"star-star": (F2_CONSTANT,), "ring-ring": (F5_CONSTANTS,)}.get(topology, ())
    place = PLACES[label][index]
    return Bound(
        id=f"zhou2026.{label.replace('drift', 'recursion')}.{topology}",
        title=f"{topology}, progress of one round by the constants of the problem, {LAWS[label].id}",
        source=paper.at(
            "Appendix F.3, by the display after 'Let c_2 = ...'"
            if (partial and topology == "star-ring")
            else f"Appendix {place}, the display before 'Let c_2 = ...'"
        ),
        bounds=ROUND_PROGRESS,
        terms=_partial(topology) if partial else _full(topology, label),
        requires=(*put_in.requires, small),
        ends=(*put_in.ends, *(End(end.because, end.room.subs({eta_eff: eta * in_a_row})) for end in lemma.ends)),
        assumes=(SMOOTH, NOISE, INTRA, INTER, ONE_ROUND, LAWS[label]),
        status="proved",
        constants="explicit",
        where={"c_1": C1[label][topology]},
        grows_with=(sigma, zeta, delta),
        steps=(
            Step(
                f"Lemma {2 if partial else 1} with the drift of {place}", _composed(lemma, put_in, chain, apart=partial)
            ),
        ),
        noted=known,
        kind="lemma",
        signed=True,
    )


recursion = tuple(_recursion("drift", topology) for topology in TOPOLOGIES)
recursion_shuffle = tuple(_recursion("drift-shuffle", topology) for topology in TOPOLOGIES)
recursion_partial = tuple(_recursion("drift-partial", topology) for topology in TOPOLOGIES)
