"""Inequalities inside the early version's proof: Lemma 1, Lemma 2 with Table 6, and the two displays that use them.

Lemma 2 and Table 6 are as they are printed, also where Star-Star loses its M (erratum D6); its displays in Phi_1 and
Phi_2 are written out. The copy that was read has lost the hats of some zetas, which are put back as the pattern of the
other rows and the last displays of C.2 have them.
"""

from fractions import Fraction

from hflbounds.catalog import own_drift
from hflbounds.catalog.zhou2025 import (
    CHAIN,
    DRIFT,
    IN_LEMMA_2,
    LOST_M,
    TOPOLOGIES,
    WEIGHT_OF_A_ROUND,
    Terms,
    paper,
    samples,
)
from hflbounds.catalog.zhou2026_lemmas import COEFFICIENT, DROPPED, lengths
from hflbounds.core.assumptions import FIXED_ORDER, INTER, INTRA, NOISE, ONE_ROUND, ROUNDS, SMOOTH
from hflbounds.core.bound import Bound, Step
from hflbounds.core.expression import Expr, add
from hflbounds.core.metrics import ROUND_DRIFT, ROUND_PROGRESS, SMALLEST_SQUARED_GRADIENT
from hflbounds.core.quantities import A, E_r, G, K, L, M, P, R, delta, eta, eta_eff, grad, sigma, zeta

ONE = (SMOOTH, NOISE, INTRA, INTER, ONE_ROUND, FIXED_ORDER)


def _lemma_1(topology: str) -> Terms:
    """As it is printed, in the raw step and the coefficient of the topology."""
    factor, step = COEFFICIENT[topology], eta_eff / CHAIN[topology]
    return {
        "descent": -factor * samples * step * grad**2 / 2,
        "noise": L * factor**2 * samples * step**2 * sigma**2,
        "drift": L**2 * factor * step * E_r / 2,
    }


lemma1 = Bound(
    id="zhou2025.lemma1",
    title="progress of one round, full participation, early version",
    source=paper.at("Appendix C, Lemma 1"),
    bounds=ROUND_PROGRESS,
    terms={
        "descent": -eta_eff * grad**2 / 2,
        "noise": L * eta_eff**2 * sigma**2 / samples,
        "drift": L**2 * eta_eff * E_r / (2 * samples),
    },
    requires=(eta_eff <= 1 / (2 * L),),
    assumes=(SMOOTH, NOISE, ONE_ROUND, FIXED_ORDER),
    status="proved",
    constants="explicit",
    grows_with=(sigma, E_r),
    shrinks_with=(grad,),
    steps=tuple(Step(f"as it is printed for {t}: its coefficient and the raw step", _lemma_1(t)) for t in TOPOLOGIES),
    noted=(WEIGHT_OF_A_ROUND,),
    kind="lemma",
    signed=True,
    ends=(DROPPED,),
)

# ---------------------------------------------------------------- Lemma 2 and Table 6
PRINTED = {topology: dict(drift.pieces) for topology, drift in DRIFT.items()}
PRINTED["star-star"]["inter_drift"] = G * P**3 * K**3 * delta**2  # without the M of C.2
LONGEST: dict[str, Expr] = {  # Phi_1 without its number and the squared step
    "star-star": G * P**3 * K**3,
    "star-ring": G * P**3 * M**3 * K**3,
    "ring-star": G**3 * P**3 * M * K**3,
    "ring-ring": G**3 * P**3 * M**3 * K**3,
}


def phi(topology: str) -> tuple[Expr, Terms]:
    """Phi_1, and Phi_2 term by term, as Table 6 has them."""
    number = DRIFT[topology].printed
    return number * eta**2 * LONGEST[topology], {n: number * eta**2 * part for n, part in PRINTED[topology].items()}


def _by_lengths(topology: str) -> Terms:
    """Lemma 2 again, from how far each index of a chain reaches: samples times lengths, and times their squares."""
    parts = lengths(topology, G, M)
    noise = {i: n / (M if i != "k" and "m" not in parts else 1) * sigma**2 for i, n in parts.items()}
    reach = {i: n**2 for i, n in parts.items()}
    if topology == "star-star":  # the printed M that is lost
        reach["p"] = reach["p"] / M
    counted = [
        *noise.values(),
        *(reach[i] * zeta**2 for i in parts if i in "km"),
        *(n * delta**2 for n in reach.values()),
    ]
    number = DRIFT[topology].printed * eta**2 * samples
    last = (*parts,)[-1]
    found = {name: number * size for name, size in zip(PRINTED[topology], counted, strict=True)}
    return {**found, "gradient": number * reach[last] * grad**2}


def _lemma_2(topology: str) -> Bound:
    first, second = phi(topology)
    before = DRIFT[topology].before
    lost = topology == "star-star"
    _, ours = own_drift.exact_drift(topology, "fixed")
    counted = {name: before * eta**2 * part for name, part in PRINTED[topology].items()}
    return Bound(
        id=f"zhou2025.lemma2.{topology}",
        title=f"{topology}, drift of a round, early version: Phi_1 of the squared gradient and the terms of Phi_2",
        source=paper.at(f"Lemma 2, {topology}, and Table 6"),
        bounds=ROUND_DRIFT,
        terms={**second, "gradient": first * grad**2},
        requires=(eta <= 1 / (12 * L * CHAIN[topology]),),
        assumes=ONE,
        status="refuted" if lost else "proved",
        constants="explicit",
        grows_with=(eta, sigma, zeta, delta, grad),
        steps=(
            Step("samples of a round, times the lengths of the chain's pieces", _by_lengths(topology)),
            Step(
                f"five Jensen terms and the pieces of a chain, {before}, before the recursion is solved for the drift",
                {**counted, "gradient": before * eta**2 * LONGEST[topology] * grad**2},
                "at most",
            ),
            *(
                ()
                if lost
                else (
                    Step("the project's own drift, five pieces and exact finite sums", add(*ours.values()), "at most"),
                )
            ),
        ),
        noted=IN_LEMMA_2[topology],
        kind="lemma",
    )


lemma2 = tuple(_lemma_2(topology) for topology in TOPOLOGIES)


# ---------------------------------------------------------------- C.2, in Phi_1 and Phi_2
def _effective(formula: Expr, topology: str) -> Expr:
    return formula.subs({eta: eta_eff / CHAIN[topology]})


def _recursion(topology: str) -> Bound:
    first, second = (phi(topology)[0], add(*phi(topology)[1].values()))
    share = (samples - L**2 * _effective(first, topology)) / (2 * samples)
    drift = lemma1.terms["drift"]
    inserted = drift.subs({E_r: _effective(first * grad**2, topology)})
    return Bound(
        id=f"zhou2025.recursion.{topology}",
        title=f"{topology}, progress of one round by the constants of the problem, early version",
        source=paper.at("Appendix C.2, second display, with Table 6"),
        bounds=ROUND_PROGRESS,
        terms={
            "descent": -eta_eff * share * grad**2,
            "noise": L * eta_eff**2 * sigma**2 / samples,
            "drift": L**2 * eta_eff * _effective(second, topology) / (2 * samples),
        },
        requires=(eta_eff <= 1 / (12 * L),),
        assumes=ONE,
        status="printed" if topology == "star-star" else "proved",
        constants="explicit",
        where={r"\Phi_2": _effective(second, topology)},
        grows_with=(sigma, zeta, delta),
        shrinks_with=(grad,),
        steps=(
            Step(
                "Lemma 1 with Lemma 2, before the topologies are unified",
                {
                    "descent": _lemma_1(topology)["descent"] + inserted,
                    "noise": _lemma_1(topology)["noise"],
                    "drift": drift.subs({E_r: _effective(second, topology)}),
                },
            ),
        ),
        noted=(LOST_M,) if topology == "star-star" else (),
        kind="lemma",
        signed=True,
    )


recursion = tuple(_recursion(topology) for topology in TOPOLOGIES)


def _smallest(topology: str) -> Bound:
    first, second = (phi(topology)[0], add(*phi(topology)[1].values()))
    left = Fraction(1, 2) - L**2 * _effective(first, topology) / (2 * samples)
    one_round = recursion[TOPOLOGIES.index(topology)]
    given_up = -one_round.terms["descent"] / grad**2
    return Bound(
        id=f"zhou2025.smallest-gradient.{topology}",
        title=f"{topology}, smallest gradient of R rounds, before 5/12 is used, early version",
        source=paper.at("Appendix C.2, the display before 'With eta~ <= 1/(12L)', with Table 6"),
        bounds=SMALLEST_SQUARED_GRADIENT,
        terms={
            "start": A / (left * eta_eff * R),
            "noise": L * eta_eff * sigma**2 / (samples * left),
            "drift": L**2 * _effective(second, topology) / (2 * samples * left),
        },
        requires=(eta_eff <= 1 / (12 * L),),
        assumes=(SMOOTH, NOISE, INTRA, INTER, ROUNDS, FIXED_ORDER),
        status="printed" if topology == "star-star" else "proved",
        constants="explicit",
        where={r"\Phi_2": _effective(second, topology)},
        grows_with=(A, L, sigma, zeta, delta),
        shrinks_with=(R,),
        steps=(
            Step(
                "the recursion, summed over R rounds and divided by what it takes off the squared gradient",
                {
                    "start": A / (given_up * R),
                    "noise": one_round.terms["noise"] / given_up,
                    "drift": one_round.terms["drift"] / given_up,
                },
            ),
        ),
        noted=(LOST_M,) if topology == "star-star" else (),
        kind="lemma",
    )


smallest_gradient = tuple(_smallest(topology) for topology in TOPOLOGIES)
