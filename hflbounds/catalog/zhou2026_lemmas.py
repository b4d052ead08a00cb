"""Inequalities inside the proofs of the unified analysis: Lemmas 1 and 2, and the drift bounds of Appendices D-F.

The lemmas are in the effective step, in which their topology-dependent coefficient cancels; the drift bounds are in
the raw one, as the appendices have them.
"""

from collections.abc import Mapping

from hflbounds.catalog import own_drift, zhou2026
from hflbounds.catalog.zhou2026 import DRIFT, DRIFT_PARTIAL, DRIFT_SHUFFLE, TOPOLOGIES, Drift, Terms, paper
from hflbounds.core.assumptions import (
    FIXED_ORDER,
    INDEPENDENT_DRAWS,
    INTER,
    INTRA,
    NOISE,
    ONE_ROUND,
    PARTIAL,
    RANDOM_ORDER,
    SMOOTH,
)
from hflbounds.core.bound import Bound, End, Status, Step
from hflbounds.core.expression import Expr, add, as_expr, choice, sqrt
from hflbounds.core.metrics import ROUND_DRIFT, ROUND_PROGRESS
from hflbounds.core.quantities import S1, S2, E_r, G, K, L, M, P, delta, eta, eta_eff, grad, sigma, zeta
from hflbounds.topology import Topology

# ---------------------------------------------------------------- Lemmas 1 and 2
COEFFICIENT = {  # c_0, by the topologies
    "star-star": 1 / (G * M),
    "star-ring": 1 / G,
    "ring-star": 1 / M,
    "ring-ring": as_expr(1),
}


def _lemma_1_as_printed(topology: str) -> Terms:
    """D.1, in the raw step and c_0."""
    c0, step = COEFFICIENT[topology], eta_eff / zhou2026.CHAIN[topology]
    return {
        "descent": -step * c0 * G * M * P * K * grad**2 / 2,
        "noise": step**2 * L * c0**2 * G * M * P * K * sigma**2,
        "drift": step * L**2 * c0 * E_r / 2,
    }


def _lemma_2_as_printed(topology: str, groups: int, clients: int) -> Terms:
    """F.1, in the raw step and c_0, with the powers of S1 and S2 that stand at zeta; at delta they are exchanged."""
    c0 = COEFFICIENT[topology].subs({G: S1, M: S2})
    step = eta_eff / zhou2026.PARTIAL_CHAIN[topology]
    part = 5 * step**2 * L * c0**2 / 2
    return {
        "descent": -step * c0 * S1 * S2 * P * K * (1 - 5 * step * L * c0 * S1 * S2 * P * K) * grad**2 / 2,
        "noise": part * S1 * S2 * P * K * sigma**2,
        "client_sampling": part * S1**groups * P**2 * S2**clients * K**2 * zeta**2,
        "group_sampling": part * S1**clients * P**2 * S2**groups * K**2 * delta**2,
        "drift": step * L**2 * c0 * E_r,
    }


def _without(population: Expr, drawn: Expr) -> Expr:
    """``(n - s)/(n - 1)``: what drawing without replacement does to a variance; 0 where there is one to draw."""
    return choice(population <= 1, 0, (population - drawn) / (population - 1))


def _of_a_mean(population: Expr, drawn: Expr) -> Expr:
    """Variance of the mean of a sample, over that of the population, by another road."""
    return choice(population <= 1, 0, population / (population - 1) * (1 / drawn - 1 / population))


sampled_samples = S1 * P * S2 * K
first = 5 * L * eta_eff**2 / 2
LEMMA_2: Terms = {
    "descent": -eta_eff * (1 - 5 * L * eta_eff) * grad**2 / 2,
    "noise": first * sigma**2 / sampled_samples,
    "client_sampling": first * zeta**2 / S2,
    "group_sampling": first * delta**2 / S1,
    "drift": L**2 * eta_eff * E_r / sampled_samples,
}

DROPPED = End(
    "the squared mean of the clients' gradients drops out: L/2 of the squared step has it twice, as noise is split off",
    eta_eff / 2 - 2 * (L / 2) * eta_eff**2,
)
DESCENDS = End(
    "the gradient's own term is a descent, less its fifth of the squared step",
    eta_eff / 2 - 5 * (L / 2) * eta_eff**2,
)

lemma1 = Bound(
    id="zhou2026.lemma1",
    title="progress of one round, full participation, fixed or random order",
    source=paper.at("D.1, Lemma 1"),
    bounds=ROUND_PROGRESS,
    terms={
        "descent": -eta_eff * grad**2 / 2,
        "noise": L * eta_eff**2 * sigma**2 / (G * P * M * K),
        "drift": L**2 * eta_eff * E_r / (2 * G * P * M * K),
    },
    requires=(eta_eff <= 1 / (2 * L),),
    assumes=(SMOOTH, NOISE, ONE_ROUND, FIXED_ORDER),
    status="proved",
    constants="explicit",
    grows_with=(sigma, E_r),
    shrinks_with=(grad,),
    steps=tuple(Step(f"as D.1 prints it for {t}: c_0 and the raw step", _lemma_1_as_printed(t)) for t in TOPOLOGIES),
    kind="lemma",
    signed=True,
    ends=(DROPPED,),
)


def _lemma_2(
    label: str, title: str, terms: Mapping[str, Expr], status: Status, steps: tuple[Step, ...], independent: bool
) -> Bound:
    return Bound(
        id=f"zhou2026.{label}",
        title=f"progress of one round, partial participation, {title}",
        source=paper.at("F.1, Lemma 2"),
        bounds=ROUND_PROGRESS,
        terms=terms,
        requires=(eta_eff <= 1 / (5 * L),),
        assumes=(SMOOTH, NOISE, INTRA, INTER, ONE_ROUND, INDEPENDENT_DRAWS if independent else PARTIAL),
        status=status,
        constants="explicit",
        grows_with=(sigma, zeta, delta, E_r),
        steps=steps,
        kind="lemma",
        signed=True,
        ends=(DESCENDS,),
    )


lemma2 = _lemma_2(
    "lemma2",
    "any joint law of the client draws, as its proof supports it",
    LEMMA_2,
    "proved",
    tuple(
        Step(f"as F.1 prints it for {t}, with the powers of S1 and S2 exchanged", _lemma_2_as_printed(t, 2, 1))
        for t in TOPOLOGIES
    ),
    independent=False,
)
lemma2_independent = _lemma_2(
    "lemma2-independent",
    "client draws independent across groups",
    LEMMA_2
    | {
        "client_sampling": first * _without(M, S2) * zeta**2 / (S1 * S2),
        "group_sampling": first * _without(G, S1) * delta**2 / S1,
    },
    "proved",
    (
        Step(
            "variances of the means of samples drawn without replacement",
            LEMMA_2
            | {
                "client_sampling": first * _of_a_mean(M, S2) * zeta**2 / S1,
                "group_sampling": first * _of_a_mean(G, S1) * delta**2,
            },
        ),
    ),
    independent=True,
)
lemma2_printed = _lemma_2(
    "lemma2-printed",
    "as printed",
    LEMMA_2 | {"client_sampling": first * zeta**2 / S1, "group_sampling": first * delta**2 / S2},
    "refuted",
    tuple(Step(f"as F.1 prints it for {t}", _lemma_2_as_printed(t, 1, 2)) for t in TOPOLOGIES),
    independent=False,
)

# ---------------------------------------------------------------- the drift of a round, D.2-D.5, E.1-E.4, F.2-F.5
PLACES = {
    "drift": ("D.2", "D.3", "D.4", "D.5"),
    "drift-shuffle": ("E.1", "E.2", "E.3", "E.4"),
    "drift-partial": ("F.2", "F.3", "F.4", "F.5"),
}
LAWS = {"drift": FIXED_ORDER, "drift-shuffle": RANDOM_ORDER, "drift-partial": PARTIAL}


def lengths(topology: str, groups: Expr, clients: Expr) -> dict[str, Expr]:
    """The pieces into which the appendices split a chain, each at its full length in local steps, by its index."""
    top, low = Topology.parse(topology).patterns
    ring = clients if low.ordered else 1
    found: dict[str, Expr] = {"k": K}
    if low.ordered:
        found["m"] = clients * K
    found["p"] = P * ring * K
    if top.ordered:
        found["g"] = groups * P * ring * K
    return found


def unmerged(topology: str, label: str) -> Terms:
    """The line before the last of each drift proof: 5 pieces, split again by index, every sum at its longest.

    Where a chain is split into n parts Jensen's inequality gives 5 n on each. Averages over a star divide the noise
    of their clients by their number; zero-sum gaps of complete passes vanish under full participation; a drawn
    order leaves one power of the length of a prefix, and so does a sample.
    """
    partial, shuffled = label == "drift-partial", label == "drift-shuffle"
    groups, clients = (S1, S2) if partial else (G, M)
    _, low = Topology.parse(topology).patterns
    parts = lengths(topology, groups, clients)
    jensen = 5 * len(parts) * eta**2 * groups * P * clients * K
    found: Terms = {}
    if not low.ordered:
        found["local_noise_drift"] = jensen * K * sigma**2
        found["noise_drift"] = jensen * add(*(parts[i] / clients for i in parts if i != "k")) * sigma**2
    else:
        found["noise_drift"] = jensen * add(*parts.values()) * sigma**2
    inside = add(*(n**2 / (clients if shuffled and i == "m" else 1) for i, n in parts.items() if i in "km"))
    if not partial:
        found["intra_drift"] = jensen * inside * zeta**2
    elif not low.ordered:
        found["intra_drift"] = jensen * K**2 * zeta**2
        found["sampled_intra_drift"] = jensen * add(*(parts[i] ** 2 / clients for i in parts if i != "k")) * zeta**2
    else:
        drawn = add(*(n**2 / clients for i, n in parts.items() if i != "k"))
        found["sampled_intra_drift"] = jensen * (K**2 + drawn) * zeta**2
    reach = {i: n**2 / (groups if i == "g" and (shuffled or partial) else 1) for i, n in parts.items()}
    found["inter_drift"] = jensen * add(*reach.values()) * delta**2
    found["gradient"] = jensen * add(*(n**2 for n in parts.values())) * grad**2
    return found


def printed_drift(topology: str, label: str) -> Drift:
    """The tables of the theorems' file."""
    if label == "drift-partial":
        return DRIFT_PARTIAL[topology]
    full = DRIFT[topology]
    return full if label == "drift" else Drift(full.recursion, full.terms | DRIFT_SHUFFLE[topology], full.gradient)


def _drift(label: str, topology: str) -> Bound:
    table = printed_drift(topology, label)
    place = PLACES[label][TOPOLOGIES.index(topology)]
    c1 = 1 / (1 - table.recursion)
    order = {"drift": "fixed", "drift-shuffle": "random", "drift-partial": "partial"}[label]
    _, ours = own_drift.exact_drift(topology, order)
    chain = (zhou2026.PARTIAL_CHAIN if label == "drift-partial" else zhou2026.CHAIN)[topology]
    number = (zhou2026.PARTIAL_RECURSION if label == "drift-partial" else zhou2026.RECURSION)[topology]
    return Bound(
        id=f"zhou2026.{label}.{topology}",
        title=f"{topology}, drift of a round, {LAWS[label].id}",
        source=paper.at(f"Appendix {place}, the display after 'Let c_1 = ...'"),
        bounds=ROUND_DRIFT,
        terms={
            **{name: c1 * eta**2 * piece for name, piece in table.terms.items()},
            "gradient": c1 * eta**2 * table.gradient * grad**2,
        },
        requires=(eta < 1 / (sqrt(number) * L * chain),),
        ends=(End("c_1 is finite and positive: the drift is less than all of itself", 1 - table.recursion),),
        assumes=(SMOOTH, NOISE, INTRA, INTER, ONE_ROUND, LAWS[label]),
        status="proved",
        constants="explicit",
        where={"c_1": c1},
        grows_with=(eta, L, sigma, zeta, delta, grad),
        steps=(
            Step(
                "five pieces, split by index, every sum at its longest",
                {name: c1 * piece for name, piece in unmerged(topology, label).items()},
                "at most",
            ),
            Step("the project's own drift, five pieces and exact finite sums", add(*ours.values()), "at most"),
        ),
        kind="lemma",
    )


drift = tuple(_drift("drift", topology) for topology in TOPOLOGIES)
drift_shuffle = tuple(_drift("drift-shuffle", topology) for topology in TOPOLOGIES)
drift_partial = tuple(_drift("drift-partial", topology) for topology in TOPOLOGIES)
