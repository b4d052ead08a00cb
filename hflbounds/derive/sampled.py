"""The project's own proof for sampled rounds, step by step, over every draw of small hierarchies.

Proof: docs/theory/partial-drift.md. Chain weights of the S1 groups and S2 clients that take part are those of full
participation; who stands at which place is drawn. Laws: one draw of clients for all groups and group rounds
(common), one for each group (independent), one for each group and group round (fresh).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from hflbounds.catalog import own_drift
from hflbounds.catalog.own import TOPOLOGIES
from hflbounds.derive import Finding, Line
from hflbounds.derive.finite_sums import chain_weights, iterates
from hflbounds.derive.proofs import exact
from hflbounds.derive.zhou2026 import ONE, holds
from hflbounds.topology import Topology

LAWS = ("common", "independent", "fresh")
CASES = (  # G, M, S1, S2, P, K
    (3, 3, 2, 2, 1, 2),
    (2, 3, 2, 2, 2, 1),
    (3, 4, 2, 3, 1, 1),
    (3, 2, 3, 1, 2, 1),
    (2, 3, 1, 2, 2, 2),
    (4, 2, 2, 2, 1, 2),
)
Case = tuple[int, int, int, int, int, int]


def draws(law: str, case: Case) -> Iterator[tuple[Sequence[int], list[list[Sequence[int]]]]]:
    """The groups drawn, in order, and for each place and group round the clients drawn, in order."""
    n_g, n_m, s1, s2, n_p, _ = case
    clients = list(permutations(range(n_m), s2))
    keys = {"common": 1, "independent": s1, "fresh": s1 * n_p}[law]
    if len(clients) ** keys > 1500:  # too many: only as many as two passes draw
        return
    for groups in permutations(range(n_g), s1):
        for chosen in product(clients, repeat=keys):
            steps = {"common": (0, 0), "independent": (1, 0), "fresh": (n_p, 1)}[law]
            yield groups, [[chosen[a * steps[0] + p * steps[1]] for p in range(n_p)] for a in range(s1)]


def gaps(case: Case, alike: bool) -> tuple[list[list[int]], list[int]]:
    """Whole numbers: gaps of clients to their group, of sum zero; and of groups to the mean, of sum zero.

    Alike: client m has the same gap in every group, which is the worst a common draw can meet.
    """
    n_g, n_m = case[:2]
    rng = np.random.default_rng(n_g * 10 + n_m)
    rows = rng.integers(-6, 7, (n_g, n_m)) * (1 if alike else 1 + np.arange(n_g)[:, None])
    if alike:
        rows[:] = rows[0] + np.arange(n_m)
    rows = n_m * rows - rows.sum(axis=1, keepdims=True)
    tops = rng.integers(-6, 7, n_g) + np.arange(n_g)
    return rows.tolist(), (n_g * tops - tops.sum()).tolist()


@cache
def _gram(topology: str, case: Case) -> NDArray[np.int64]:
    """Of each two places, the sum over iterates of the products of their weights, times s2^2."""
    _, _, s1, s2, n_p, n_k = case
    numbers = {"G": s1, "M": s2, "P": n_p, "K": n_k}
    index = {place: i for i, place in enumerate(product(range(s1), range(n_p), range(s2)))}
    rows = np.zeros((len(list(iterates(numbers))), len(index)), dtype=np.int64)
    for at, row in enumerate(chain_weights(topology, numbers).values()):
        for (a, p, b, _), weight in row.items():
            rows[at, index[a, p, b]] += int(s2 * weight)
    return rows.T @ rows


@cache
def _drawn(law: str, case: Case, alike: bool) -> tuple[NDArray[np.int64], ...]:
    """Of every draw, the gap of who stands at each place: to its group, and of its group."""
    _, _, s1, s2, n_p, _ = case
    places = list(product(range(s1), range(n_p), range(s2)))
    lower, upper = gaps(case, alike)
    low, up = [], []
    for groups, clients in draws(law, case):
        low.append([lower[groups[a]][clients[a][p][b]] for a, p, b in places])
        up.append([upper[groups[a]] for a, _, _ in places])
    return np.array(low, dtype=np.int64), np.array(up, dtype=np.int64)


def drawn_sums(
    topology: str, law: str, case: Case, alike: bool
) -> tuple[Fraction, Fraction, Fraction, Fraction] | None:
    """Expected sums over iterates of the squared intra- and inter-group pieces, and zeta^2 and delta^2."""
    n_g, n_m, _, s2, _, _ = case
    gram = _gram(topology, case)
    lower, upper = gaps(case, alike)
    found = _drawn(law, case, alike)
    if not len(found[0]):
        return None
    sums = [Fraction(int(((y @ gram) * y).sum()), len(y) * s2**2) for y in found]
    zeta2 = Fraction(sum(x**2 for row in lower for x in row), n_g * n_m)
    delta2 = Fraction(sum(x**2 for x in upper), n_g)
    return sums[0], sums[1], zeta2, delta2


def _pieces(topology: str, law: str) -> Finding:
    """Both pieces are at most the finite sums of the proof, in every law and for gaps alike and not."""
    looked = 0
    for case, alike in product(CASES, (False, True)):
        found = drawn_sums(topology, law, case, alike)
        if found is None:
            continue
        looked += 1
        n_g, n_m, s1, s2, n_p, n_k = case
        numbers = {**ONE, "S1": Fraction(s1), "S2": Fraction(s2), "P": Fraction(n_p), "K": Fraction(n_k)}
        squares = {n: exact(e, numbers) for n, e in own_drift.mean_squares(topology, "partial").items()}
        samples = s1 * n_p * s2 * n_k
        intra = sum(value for name, value in squares.items() if "intra" in name)
        if found[0] > samples * intra * found[2] or found[1] > samples * squares["inter_drift"] * found[3]:
            return holds(False, law, {"G": n_g, "M": n_m, "S1": s1, "S2": s2, "P": n_p, "K": n_k})
    return holds(looked >= 4, f"{looked} cases, every draw, exact")


def exact_intra(topology: str, case: Case) -> Fraction:
    """Mean over iterates for one draw common to all and gaps alike, from section 3 of the proof, zeta = 1."""
    _, n_m, s1, s2, n_p, n_k = case
    top, low = Topology.parse(topology).patterns
    shrunk = Fraction(n_m - s2, n_m - 1)
    total, count = Fraction(0), 0
    for a, p, b, k in product(range(s1 if top.ordered else 1), range(n_p), range(s2), range(n_k)):
        passes = p + a * n_p
        if not low.ordered:
            share = shrunk / s2
            total += (1 - share) * k**2 + share * (k + passes * n_k) ** 2
        else:
            here = b * n_k + k
            prefix = n_k**2 * Fraction(b * (n_m - b), n_m - 1) + k**2 - Fraction(2 * n_k * k * b, n_m - 1)
            total += prefix + 2 * passes * n_k * here * shrunk + passes**2 * n_k**2 * s2 * shrunk
        count += 1
    return total / count


def _equality(topology: str) -> Finding:
    for case in CASES:
        found = drawn_sums(topology, "common", case, alike=True)
        assert found is not None  # noqa: S101 - a common draw is never too many
        _, _, s1, s2, n_p, n_k = case
        if found[0] != s1 * n_p * s2 * n_k * exact_intra(topology, case) * found[2]:
            return holds(
                False, "common draw", dict(zip(("G", "M", "S1", "S2", "P", "K"), map(float, case), strict=True))
            )
    return holds(True, f"{len(CASES)} cases, every draw: equality")


def _samples_without_replacement() -> Finding:
    """E|W|^2 = s (n-s)/(n-1) rho^2, and given the set, a prefix of its drawn order has mean (j/s) W."""
    for n in range(2, 6):
        vector = [Fraction(n * x * x - sum(y * y for y in range(n))) for x in range(n)]
        square = sum(x**2 for x in vector) / n
        for s in range(1, n + 1):
            drawn = list(permutations(vector, s))
            mean = sum(sum(d) ** 2 for d in drawn) / len(drawn)
            if mean != Fraction(s * (n - s), n - 1) * square:
                return holds(False, "samples", {"n": n, "s": s})
            for j in range(s + 1):
                cross = sum(sum(d[:j]) * sum(d) for d in drawn) / len(drawn)
                if cross != Fraction(j, s) * mean:
                    return holds(False, "prefixes", {"n": n, "s": s, "j": j})
    return holds(True, "every ordered draw from 2 to 5 vectors, exact")


LINES = (
    Line(
        id="hflbounds.sampled.moments",
        place="docs/theory/partial-drift.md, Lemma D",
        claim="second moments of samples without replacement, and of their prefixes given the set",
        check=_samples_without_replacement,
    ),
    *(
        Line(
            id=f"hflbounds.sampled.{law}.{topology}",
            place="docs/theory/partial-drift.md, section 3",
            claim=f"intra- and inter-group pieces of the drift are at most the finite sums, {law} draws",
            check=partial(_pieces, topology, law),
        )
        for topology, law in product(TOPOLOGIES, LAWS)
    ),
    *(
        Line(
            id=f"hflbounds.sampled.equality.{topology}",
            place="docs/theory/partial-drift.md, section 3",
            claim="a common draw attains the intra-group sum before the factor (M-S2)/(M-1) is dropped",
            check=partial(_equality, topology),
        )
        for topology in TOPOLOGIES
    ),
)
