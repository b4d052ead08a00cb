"""This project's own bounds on the drift of a round, as exact finite sums, and its theorem for sampled rounds.

Full participation: docs/theory/sharp-bound.md, section 4, before lower powers are dropped. Sampling of groups and
clients: docs/theory/partial-drift.md. Every drift is split into the same five pieces in all four topologies, and is
zero where an algorithm does not drift: Star-Star with one group round of one local step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from hflbounds.catalog import own
from hflbounds.core.assumptions import (
    FIXED_ORDER,
    INTER,
    INTRA,
    NOISE,
    ONE_ROUND,
    PARTIAL,
    RANDOM_ORDER,
    ROUNDS,
    SMOOTH,
    Assumption,
)
from hflbounds.core.bound import Bound, Paper, Step
from hflbounds.core.expression import Expr, add, as_expr, sqrt
from hflbounds.core.metrics import MEAN_SQUARED_GRADIENT, ROUND_DRIFT
from hflbounds.core.quantities import S1, S2, A, G, K, L, M, P, R, delta, eta, eta_eff, grad, sigma, zeta
from hflbounds.topology import Topology

paper = Paper(
    key="hflbounds",
    title="Drift under sampling, and the sampled round",
    authors="The hfl-plan developers",
    year=2026,
    version="docs/theory/partial-drift.md",
)
Terms = dict[str, Expr]
SAMPLED = {G: S1, M: S2}
PARTIAL_CHAIN = {topology: chain.subs(SAMPLED) for topology, chain in own.CHAIN.items()}


def _squares(n: Expr) -> Expr:
    """Mean of ``j**2`` over ``j = 0..n-1``."""
    return (n - 1) * (2 * n - 1) / 6


@dataclass(frozen=True, slots=True)
class Digit:
    """One index of a chain position, uniform on ``0..count-1``, and how far one of its steps reaches."""

    count: Expr
    unit: Expr


def steps_in_a_row(topology: str, groups: Expr = G, clients: Expr = M) -> Expr:
    """Local steps that a round chains, from what each pattern chains of its children."""
    top, low = Topology.parse(topology).patterns
    return as_expr(top.chain(groups) * P * low.chain(clients) * K)


def digits(topology: str, groups: Expr, clients: Expr) -> list[Digit]:
    """The chain position of an iterate: ``J = k + [(b-1) K] + p B_0 + [(a-1) B]``, brackets in rings only."""
    top, low = Topology.parse(topology).patterns
    pass_ = clients * K if low.ordered else K
    found = [Digit(K, as_expr(1))]
    if low.ordered:
        found.append(Digit(clients, K))
    found.append(Digit(P, pass_))
    if top.ordered:
        found.append(Digit(groups, P * pass_))
    return found


def mean_position(parts: list[Digit]) -> Expr:
    """Mean of J: digit by digit."""
    return add(*((part.count - 1) * part.unit / 2 for part in parts))


def mean_squared_position(parts: list[Digit]) -> Expr:
    """Mean of J squared: the digits are independent, so their variances add up."""
    return add(*((part.count**2 - 1) * part.unit**2 / 12 for part in parts)) + mean_position(parts) ** 2


def mean_squares(topology: str, order: str) -> Terms:
    """Mean over the local iterates of each squared piece, in squared local steps, before powers are dropped.

    Args:
        topology: top tier first.
        order: ``fixed``, ``random`` or ``partial``.
    """
    chain = (PARTIAL_CHAIN if order == "partial" else own.CHAIN)[topology]
    top, low = Topology.parse(topology).patterns
    clients = S2 if order == "partial" else M
    found: Terms = {}
    if not low.ordered:
        found["local_noise_drift"] = (K - 1) * sigma**2 / 2
        found["noise_drift"] = (chain - K) * sigma**2 / (2 * clients)
    else:
        found["noise_drift"] = (chain - 1) * sigma**2 / 2
    if order == "partial":
        if not low.ordered:
            found["intra_drift"] = (1 - 1 / S2) * _squares(K) * zeta**2
            found["sampled_intra_drift"] = _squares(chain) * zeta**2 / S2
        else:
            passes = chain / (S2 * K)
            inside = K**2 * (S2 - 1) / 2 + _squares(K)
            across = K * (passes - 1) * (K * S2 - 1) / 2
            found["sampled_intra_drift"] = (inside + across + K**2 * S2 * _squares(passes)) * zeta**2
        block = chain / S1
        ring = block**2 * (S1 - 1) / 2 + _squares(block)
    else:
        shrunk = {"fixed": M**2 - 1, "random": M + 1}[order]
        found["intra_drift"] = (_squares(K) if not low.ordered else K**2 * shrunk / 6) * zeta**2
        ring = chain**2 / G**2 * {"fixed": G**2 - 1, "random": G + 1}[order] / 6
    found["inter_drift"] = (_squares(chain) if not top.ordered else ring) * delta**2
    found["gradient"] = _squares(chain) * grad**2
    return found


def _prefixes(n: Expr, order: str) -> Expr:
    """Mean over places of the squared prefixes of a zero-sum vector, from ``j (n-j)`` and, if drawn, ``/(n-1)``."""
    linear, square = n * (n - 1) / 2, (n - 1) * n * (2 * n - 1) / 6
    total = n * linear - square
    return total / n if order == "fixed" else total / (n * (n - 1))


def _by_digits(topology: str, order: str) -> Terms:
    """The same means by another road: from the digits of the chain position."""
    top, low = Topology.parse(topology).patterns
    groups, clients = (S1, S2) if order == "partial" else (G, M)
    parts = digits(topology, groups, clients)
    local, rest = parts[:1], parts[1:]
    found: Terms = {}
    if not low.ordered:
        found["local_noise_drift"] = mean_position(local) * sigma**2
        found["noise_drift"] = mean_position(rest) * sigma**2 / clients
    else:
        found["noise_drift"] = mean_position(parts) * sigma**2
    below, above = (parts[:-1], parts[-1]) if top.ordered else (parts, None)
    if order == "partial":
        squared = mean_squared_position(parts) * zeta**2 / S2
        if not low.ordered:
            found["intra_drift"] = mean_squared_position(local) * (S2 - 1) / S2 * zeta**2
            found["sampled_intra_drift"] = squared
        else:  # the whole position over S2, and what the order inside one pass adds to it
            one_pass = parts[:2]
            inside = K**2 * mean_position([Digit(S2, K)]) / K + mean_squared_position(local)
            found["sampled_intra_drift"] = squared + (inside - mean_squared_position(one_pass) / S2) * zeta**2
        ring = None if above is None else above.unit * mean_position([above]) + mean_squared_position(below)
    else:
        inside = mean_squared_position(local) if not low.ordered else K**2 * _prefixes(M, order)
        found["intra_drift"] = inside * zeta**2
        ring = None if above is None else above.unit**2 * _prefixes(G, order)
    found["inter_drift"] = (mean_squared_position(parts) if ring is None else ring) * delta**2
    found["gradient"] = mean_squared_position(parts) * grad**2
    return found


def exact_drift(topology: str, order: str) -> tuple[Expr, Terms]:
    """What the drift stands in itself with, and the terms of its bound.

    Args:
        topology: top tier first.
        order: ``fixed``, ``random`` or ``partial``.
    """
    chain = (PARTIAL_CHAIN if order == "partial" else own.CHAIN)[topology]
    recursion = 5 * L**2 * eta**2 * chain * (chain - 1) / 2
    return recursion, _with_samples(recursion, mean_squares(topology, order), order)


def _with_samples(recursion: Expr, squares: Mapping[str, Expr], order: str) -> Terms:
    samples = S1 * P * S2 * K if order == "partial" else G * P * M * K
    return {name: 5 * eta**2 * samples * square / (1 - recursion) for name, square in squares.items()}


def _drift(label: str, order: str, topology: str) -> Bound:
    recursion, terms = exact_drift(topology, order)
    law = {"fixed": FIXED_ORDER, "random": RANDOM_ORDER, "partial": PARTIAL}[order]
    place = "section 3" if order == "partial" else "docs/theory/sharp-bound.md, section 4, third column of the table"
    return Bound(
        id=f"hflbounds.{label}.{topology}",
        title=f"{topology}, drift of a round, exact finite sums, {order if order != 'partial' else 'sampled'} order",
        source=paper.at(place),
        bounds=ROUND_DRIFT,
        terms=terms,
        requires=(recursion < 1,),
        assumes=(SMOOTH, NOISE, INTRA, INTER, ONE_ROUND, law),
        status="own",
        constants="explicit",
        where={"c_1": 1 / (1 - recursion)},
        grows_with=(eta, L, sigma, zeta, delta, grad),
        steps=(
            Step(
                "the digits of a chain position are independent and uniform",
                _with_samples(recursion, _by_digits(topology, order), order),
            ),
        ),
        kind="lemma",
    )


drift = tuple(_drift("drift", "fixed", topology) for topology in own.TOPOLOGIES)
drift_shuffle = tuple(_drift("drift-shuffle", "random", topology) for topology in own.TOPOLOGIES)
drift_partial = tuple(_drift("drift-partial", "partial", topology) for topology in own.TOPOLOGIES)

# ---------------------------------------------------------------- the theorem for sampled rounds
v = L * eta_eff
u = v**2
c1 = 1 / (1 - 5 * u / 2)
c2 = 1 / (Fraction(1, 2) - 5 * v / 2 - 5 * c1 * u / 3)

FIRST: Terms = {"noise": sigma**2 / (S1 * P * S2 * K), "client_sampling": zeta**2 / S2, "group_sampling": delta**2 / S1}
RING_OF_GROUPS = (5 / (2 * S1) - 5 / (6 * S1**2)) * delta**2
SECOND: dict[str, Terms] = {
    "star-star": {
        "local_noise_drift": 5 * sigma**2 / (2 * P**2 * K),
        "noise_drift": 5 * sigma**2 / (2 * P * S2 * K),
        "intra_drift": 5 * (1 - 1 / S2) * zeta**2 / (3 * P**2),
        "sampled_intra_drift": 5 * zeta**2 / (3 * S2),
        "inter_drift": 5 * delta**2 / 3,
    },
    "star-ring": {
        "noise_drift": 5 * sigma**2 / (2 * P * S2 * K),
        "sampled_intra_drift": (5 / (3 * S2) + 5 * (S2 - 1) / (6 * P**2 * S2**2)) * zeta**2,
        "inter_drift": 5 * delta**2 / 3,
    },
    "ring-star": {
        "local_noise_drift": 5 * sigma**2 / (2 * S1**2 * P**2 * K),
        "noise_drift": 5 * sigma**2 / (2 * S1 * P * S2 * K),
        "intra_drift": 5 * (1 - 1 / S2) * zeta**2 / (3 * S1**2 * P**2),
        "sampled_intra_drift": 5 * zeta**2 / (3 * S2),
        "inter_drift": RING_OF_GROUPS,
    },
    "ring-ring": {
        "noise_drift": 5 * sigma**2 / (2 * S1 * P * S2 * K),
        "sampled_intra_drift": (5 / (3 * S2) + 5 * (S2 - 1) / (6 * S1**2 * P**2 * S2**2)) * zeta**2,
        "inter_drift": RING_OF_GROUPS,
    },
}
# Another road: mean squares of the pieces at leading order, in squared local steps, as the finite sums leave them.
LEADING: dict[str, Terms] = {
    "star-star": {
        "local_noise_drift": K * sigma**2 / 2,
        "noise_drift": P * K * sigma**2 / (2 * S2),
        "intra_drift": K**2 * (S2 - 1) * zeta**2 / (3 * S2),
        "sampled_intra_drift": P**2 * K**2 * zeta**2 / (3 * S2),
        "inter_drift": P**2 * K**2 * delta**2 / 3,
    },
    "star-ring": {
        "noise_drift": P * S2 * K * sigma**2 / 2,
        "sampled_intra_drift": K**2 * (2 * P**2 * S2 + S2 - 1) * zeta**2 / 6,
        "inter_drift": P**2 * S2**2 * K**2 * delta**2 / 3,
    },
    "ring-star": {
        "local_noise_drift": K * sigma**2 / 2,
        "noise_drift": S1 * P * K * sigma**2 / (2 * S2),
        "intra_drift": K**2 * (S2 - 1) * zeta**2 / (3 * S2),
        "sampled_intra_drift": S1**2 * P**2 * K**2 * zeta**2 / (3 * S2),
        "inter_drift": P**2 * K**2 * (3 * S1 - 1) * delta**2 / 6,
    },
    "ring-ring": {
        "noise_drift": S1 * P * S2 * K * sigma**2 / 2,
        "sampled_intra_drift": K**2 * (2 * S1**2 * P**2 * S2 + S2 - 1) * zeta**2 / 6,
        "inter_drift": P**2 * S2**2 * K**2 * (3 * S1 - 1) * delta**2 / 6,
    },
}


def _sampled_theorem(topology: str) -> Bound:
    step = eta_eff / PARTIAL_CHAIN[topology]
    start = {"start": c2 * A / (eta_eff * R)}
    first = {name: 5 * c2 * L * eta_eff * q / 2 for name, q in FIRST.items()}
    law: tuple[Assumption, ...] = (SMOOTH, NOISE, INTRA, INTER, ROUNDS, PARTIAL)
    return Bound(
        id=f"hflbounds.sharp-partial.{topology}",
        title=f"{topology}, partial participation, shared explicit constants",
        source=paper.at(f"Theorem, {topology}"),
        bounds=MEAN_SQUARED_GRADIENT,
        terms=start | first | {name: c1 * c2 * u * q for name, q in SECOND[topology].items()},
        requires=(eta_eff < sqrt(Fraction(2, 5)) / L, 10 * u / 3 < (1 - 5 * v) * (1 - 5 * u / 2)),
        assumes=law,
        status="own",
        constants="explicit",
        where={"c_1": c1, "c_2": c2},
        chain=PARTIAL_CHAIN[topology],
        common_cap=1 / (20 * L),
        grows_with=(A, L, sigma, zeta, delta),
        shrinks_with=(S1, S2, P, K, R),
        steps=(
            Step(
                "Lemma 2 with five pieces of the sampled drift, finite sums at leading order",
                start
                | first
                | {name: 5 * c1 * c2 * L**2 * step**2 * square for name, square in LEADING[topology].items()},
            ),
        ),
    )


sharp_partial = tuple(_sampled_theorem(topology) for topology in own.TOPOLOGIES)
