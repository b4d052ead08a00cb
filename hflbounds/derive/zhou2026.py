"""Finite sums and drift of the unified analysis: from the chain weights of the algorithms to the appendices' E_r."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations, product

from hflbounds.catalog import own, own_drift
from hflbounds.catalog.own import CHAIN, TOPOLOGIES
from hflbounds.catalog.zhou2026 import PARTIAL_RECURSION, RECURSION
from hflbounds.catalog.zhou2026_lemmas import PLACES, lengths, printed_drift
from hflbounds.core.expression import Expr, add, as_expr
from hflbounds.core.quantities import S1, S2, G, K, M, P, grad
from hflbounds.derive import Finding, Line
from hflbounds.derive.finite_sums import (
    PIECES,
    chain_length,
    chain_weights,
    displayed,
    displayed_partial,
    is_at_most,
    iterates,
    looped,
    recursion,
)
from hflbounds.derive.proofs import exact, first_violation, identical

GRID = dict.fromkeys("GMPK", (1, 2, 3))
LETTER = {"noise": "sigma", "intra": "zeta", "inter": "delta", "gradient": "grad"}
ONE = dict.fromkeys(("eta", "sigma", "zeta", "delta", "grad"), Fraction(1))


def holds(truth: bool, evidence: str, witness: Mapping[str, float | str] | None = None) -> Finding:
    """A finding of a check that is either right or wrong."""
    if truth:
        return Finding(verdict="holds", evidence=evidence)
    if witness is not None:
        return Finding(verdict="fails", evidence=evidence, witness=witness)
    return Finding(verdict="cannot tell", evidence=f"not shown: {evidence}")


def pieces_of(terms: Mapping[str, Expr]) -> dict[str, Expr]:
    """Coefficients of sigma^2, zeta^2, delta^2 of a table, with the letter put to 1, terms of one letter added."""
    found: dict[str, list[Expr]] = {piece: [] for piece in PIECES}
    for term in terms.values():
        for piece, letter in LETTER.items():
            symbol = next((s for s in term.symbols if s.name == letter), None)
            if symbol is not None:
                found[piece].append(term.subs({symbol: as_expr(1)}))
    return {piece: add(*parts) for piece, parts in found.items()}


def merged(topology: str, label: str) -> dict[str, Expr]:
    """The last line of a drift proof over N, by letters: what the tables of the catalogue hold."""
    table = printed_drift(topology, label)
    samples = S1 * P * S2 * K if label == "drift-partial" else G * P * M * K
    found = pieces_of({**table.terms, "gradient": table.gradient * grad**2})
    return {piece: part / samples for piece, part in found.items()}


# D.2-D.5, 'Substitute these terms into E_r', second inequality, over 5 n eta^2: noise, intra, inter, gradient.
RAW: dict[str, tuple[Expr, Expr, Expr, Expr]] = {
    "star-star": (
        G * P * M * K**2 + G * P**2 * K**2,
        G * P * M * K**3,
        G * P * M * K**3 + G * P**3 * M * K**3,
        G * P * M * K**3 + G * P**3 * M * K**3,
    ),
    "star-ring": (
        G * P * M * K**2 + G * P * M**2 * K**2 + G * P**2 * M**2 * K**2,
        G * P * M * K**3 + G * P * M**3 * K**3,
        G * P * M * K**3 + G * P * M**3 * K**3 + G * P**3 * M**3 * K**3,
        G * P * M * K**3 + G * P * M**3 * K**3 + P**2 * M**2 * K**2,
    ),
    "ring-star": (
        G * P * M * K**2 + G * P**2 * K**2 + G**2 * P**2 * K**2,
        G * P * M * K**3,
        G * P * M * K**3 + G * P**3 * M * K**3 + G**3 * P**3 * M * K**3,
        G * P * M * K**3 + G * P**3 * M * K**3 + G**3 * P**3 * M * K**3,
    ),
    "ring-ring": (
        G * P * M * K**2 + G * P * M**2 * K**2 + G * P**2 * M**2 * K**2 + G**2 * P**2 * M**2 * K**2,
        G * P * M * K**3 + G * P * M**3 * K**3,
        G * P * M * K**3 + G * P * M**3 * K**3 + G * P**3 * M**3 * K**3 + G**3 * P**3 * M**3 * K**3,
        G * P * M * K**3 + G * P * M**3 * K**3 + G * P**3 * M**3 * K**3 + G**3 * P**3 * M**3 * K**3,
    ),
}
RAW_SHUFFLE: dict[str, dict[str, Expr]] = {  # what E.2-E.4 print instead
    "star-star": {},
    "star-ring": {"intra": G * P * M * K**3 + G * P * M**2 * K**3},
    "ring-star": {"inter": G * P * M * K**3 + G * P**3 * M * K**3 + G**2 * P**3 * M * K**3},
    "ring-ring": {
        "intra": G * P * M * K**3 + G * P * M**2 * K**3,
        "inter": G * P * M * K**3 + G * P * M**3 * K**3 + G * P**3 * M**3 * K**3 + G**2 * P**3 * M**3 * K**3,
    },
}


def raw(topology: str, label: str) -> dict[str, Expr]:
    """The line before the last of a drift proof over 5 n eta^2 N."""
    printed = dict(zip(PIECES, RAW[topology], strict=True))
    printed |= RAW_SHUFFLE[topology] if label == "drift-shuffle" else {}
    return {piece: part / (G * P * M * K) for piece, part in printed.items()}


def jensen(topology: str) -> int:
    """How many squares Jensen's inequality makes of one: 5 pieces, each split again by index."""
    return 5 * len(lengths(topology, G, M))


# ---------------------------------------------------------------- b1: exact sum <= raw line <= merged line
def _raw_line(topology: str, label: str, piece: str) -> Finding:
    sums, line = displayed(topology, label == "drift-shuffle")[piece], raw(topology, label)[piece]
    if is_at_most(sums * G * P * M * K, line * G * P * M * K):
        return holds(True, "every coefficient of the difference is nonnegative with the counts written as 1 + n")
    bad = first_violation(lambda **n: exact(sums, n) <= exact(line, n), GRID)
    return holds(bad is None, "grid of the counts 1 to 3", bad)


def _merged_line(topology: str, label: str, piece: str) -> Finding:
    last = merged(topology, label)[piece]
    sums = jensen(topology) * displayed(topology, label == "drift-shuffle")[piece]
    unit = G * P * M * K
    return holds(is_at_most(sums * unit, last * unit), "certificate: nonnegative coefficients")


def _b1() -> list[Line]:
    found = []
    for (label, sections), (index, topology), piece in product(list(PLACES.items())[:2], enumerate(TOPOLOGIES), PIECES):
        wrong = topology == "star-ring" and piece == "gradient"
        name = f"{label}.{topology}.{piece}"
        found.append(
            Line(
                id=f"zhou2026.b1.raw.{name}",
                place=f"{sections[index]}, 'Substitute these terms into E_r', second inequality",
                claim=f"the {piece} part: the exact sum of the display is at most the printed sum of products",
                check=partial(_raw_line, topology, label, piece),
                expected="fails" if wrong else "holds",
                erratum="zhou2026.B3" if wrong else None,
            )
        )
        found.append(
            Line(
                id=f"zhou2026.b1.merged.{name}",
                place=f"{sections[index]}, the display after 'Let c_1 = ...'",
                claim=f"the {piece} part: 5 times the number of parts, times the exact sum, is at most the last line",
                check=partial(_merged_line, topology, label, piece),
            )
        )
    return found


# ---------------------------------------------------------------- b2: the recursion
def _recursion(topology: str, sampled: bool) -> Finding:
    chain = (own_drift.PARTIAL_CHAIN if sampled else CHAIN)[topology]
    column = recursion(topology, sampled)
    number = (PARTIAL_RECURSION if sampled else RECURSION)[topology]
    good = is_at_most(jensen(topology) * column, number * chain**2)
    return holds(good, "certificate: 5 times the parts, times the largest column sum, is at most the coefficient")


def _b2() -> list[Line]:
    return [
        Line(
            id=f"zhou2026.b2.{'partial' if sampled else 'full'}.{topology}",
            place=f"{PLACES['drift-partial' if sampled else 'drift'][index]}, 'Let c_1 = ...'",
            claim="the drift stands on its own right-hand side with at most the printed coefficient",
            check=partial(_recursion, topology, sampled),
        )
        for sampled in (False, True)
        for index, topology in enumerate(TOPOLOGIES)
    ]


# ---------------------------------------------------------------- b3: brute force
def _loops(topology: str) -> Finding:
    for shuffled in (False, True):
        formulas = displayed(topology, shuffled)
        for counts in product((1, 2, 3), repeat=4):
            numbers = dict(zip("GMPK", counts, strict=True))
            found = looped(topology, numbers, shuffled)
            if any(exact(formulas[piece], numbers) != found[piece] for piece in PIECES):
                return holds(False, "loops", {name: float(n) for name, n in numbers.items()})
    return holds(True, "81 hierarchies, fixed and random order, four sums each: equal to the loops")


def _chains(topology: str) -> Finding:
    """The five sums of the project's own drift against the weights, with gaps that attain the worst case or not."""
    for counts in product((1, 2), (1, 2, 3), (1, 2), (1, 2)):
        numbers = dict(zip("GMPK", counts, strict=True))
        weights = chain_weights(topology, numbers)
        length, samples = chain_length(topology, numbers), len(weights)
        squares = {n: exact(e, {**numbers, **ONE}) for n, e in own_drift.mean_squares(topology, "fixed").items()}
        noise = sum(w**2 for row in weights.values() for w in row.values())
        position = {s: sum(row.values()) for s, row in weights.items()}
        gradient = sum(j**2 for j in position.values())
        gaps = {g: Fraction(1 if 2 * g < numbers["G"] else -1) for g in range(numbers["G"])}
        inter = sum(sum(w * gaps[i[0]] for i, w in row.items()) ** 2 for row in weights.values())
        good = [
            noise == samples * sum(value for name, value in squares.items() if "noise" in name),
            gradient == samples * squares["gradient"],
            numbers["G"] == 1 or inter <= samples * squares["inter_drift"],
            sorted(position.values()) == sorted(Fraction(j) for j in range(length) for _ in range(samples // length)),
        ]
        for i in iterates(numbers):
            column = sum(position[s] * row.get(i, 0) for s, row in weights.items())
            good.append(2 * column == length * (length - 1) - position[i] * (position[i] + 1))
        if not all(good):
            return holds(False, "chain weights", {name: float(n) for name, n in numbers.items()})
    return holds(True, "24 hierarchies, weights of every gradient in every iterate: equal")


def _b3() -> list[Line]:
    loops = [
        Line(
            id=f"zhou2026.b3.{topology}",
            place="D.2-D.5, E.1-E.4, the displays summed over iterates",
            claim="the closed forms of the exact sums are what literal loops give",
            check=partial(_loops, topology),
        )
        for topology in TOPOLOGIES
    ]
    chains = [
        Line(
            id=f"hflbounds.b3.{topology}",
            place="docs/theory/sharp-bound.md, sections 2 and 4",
            claim="noise, gradient, position and column sums of the chain weights have the stated closed forms",
            check=partial(_chains, topology),
        )
        for topology in TOPOLOGIES
    ]
    return loops + chains


# ---------------------------------------------------------------- b4, b5: prefixes of zero-sum vectors
def _zero_sum(rng: random.Random, n: int) -> list[Fraction]:
    drawn = [Fraction(rng.randint(-9, 9)) for _ in range(n)]
    mean = sum(drawn, Fraction(0)) / n
    return [x - mean for x in drawn]


def _prefixes_fixed() -> Finding:
    rng = random.Random(4)  # noqa: S311 - not a secret
    for n in range(2, 8):
        two_valued = {j: [Fraction(n - j)] * j + [Fraction(-j)] * (n - j) for j in range(1, n)}
        for j in range(1, n):
            for vector in [_zero_sum(rng, n) for _ in range(40)] + [two_valued[j]]:
                square = sum(x**2 for x in vector) / n
                if sum(vector[:j]) ** 2 > j * (n - j) * square:
                    return holds(False, "random vectors", {"n": n, "j": j})
            if sum(two_valued[j][:j]) ** 2 != j * (n - j) * sum(x**2 for x in two_valued[j]) / n:
                return holds(False, "two-valued vectors do not attain it", {"n": n, "j": j})
    # The proof: (1-t)^2 j + t^2 (n-j), t = j/n, times n, is j (n-j).
    share = G / (G + M)
    cauchy = ((1 - share) ** 2 * G + share**2 * M) * (G + M)
    return holds(identical(cauchy, G * M), "identity of the Cauchy-Schwarz step, and two-valued vectors attain it")


def _prefixes_random() -> Finding:
    rng = random.Random(5)  # noqa: S311 - not a secret
    for n in range(2, 7):
        vector = _zero_sum(rng, n)
        square = sum(x**2 for x in vector) / n
        orders = list(permutations(vector))
        for j in range(1, n):
            mean = sum(sum(order[:j]) ** 2 for order in orders) / len(orders)
            if not mean == Fraction(j * (n - j), n - 1) * square <= j * square:
                return holds(False, "permutations", {"n": n, "j": j})
    return holds(True, "every permutation of 2 to 6 vectors, exact: equality")


# ---------------------------------------------------------------- b6: partial participation
def _partial_sum(topology: str, piece: str) -> Finding:
    sums, last = displayed_partial(topology)[piece], merged(topology, "drift-partial")[piece]
    unit = S1 * P * S2 * K
    good = is_at_most(jensen(topology) * sums * unit, last * unit)
    return holds(good, "certificate: nonnegative coefficients")


def _display_f4() -> Finding:
    """F.4 prints 15 eta^2 (K^2 s_2^2 + ...) delta^2 for one iterate; F.4's own sum has 45 S_1^2 P^3 S_2 K^3."""
    last = merged("ring-star", "drift-partial")["inter"]
    first = K**2 * (S2 + 1) * (2 * S2 + 1) / 6
    bad = first_violation(
        lambda **n: 15 * exact(first, n) <= exact(last, n), {"S1": (1,), "P": (1,), "K": (1,), "S2": (1, 2, 3, 4)}
    )
    return holds(bad is None, "its first part alone, summed, against the printed sum", bad)


def _display_f5() -> Finding:
    """F.5 prints 20 eta^2 (s_2 - 1) K^2 |grad F|^2 for the squared sum over the s_2 - 1 clients before."""
    bad = first_violation(lambda **n: (n["s2"] - 1) ** 2 <= n["s2"] - 1, {"s2": (1, 2, 3, 4)})
    return holds(bad is None, "the square of a prefix sum of one and the same vector", bad)


def _display_f5_intra() -> Finding:
    """F.5 prints 20 eta^2 (s_1 - 1) P^2 S_2 K^2 zeta^2; with one draw for all groups and like gaps W is the same."""
    bad = first_violation(lambda **n: (n["s1"] - 1) ** 2 <= n["s1"] - 1, {"s1": (1, 2, 3, 4)})
    return holds(bad is None, "the square of a sum of one and the same W over the groups before", bad)


def _display_f3() -> Finding:
    """F.3 prints 15 eta^2 p^2 s_2^2 K^2 delta^2, s_2 the own place, for p complete passes of S_2 clients."""
    bad = first_violation(lambda **n: n["S2"] <= n["s2"], {"s2": (1, 2, 3), "S2": (3,)})
    return holds(bad is None, "p complete passes have p S_2 K steps, wherever the own place is", bad)


def _own_leading(topology: str, order: str) -> Finding:
    """The exact means of the project's own proof against what its theorems keep of them."""
    table = own_drift.LEADING if order == "partial" else _LEADING[order]
    exact_means = pieces_of({n: e for n, e in own_drift.mean_squares(topology, order).items() if n != "gradient"})
    kept = pieces_of(table[topology])
    good = all(is_at_most(exact_means[piece], kept[piece]) for piece in PIECES[:3])
    return holds(good, "certificate: nonnegative coefficients, three sums")


_LEADING = {
    "fixed": own.MEAN_SQUARES,
    "random": {t: squares | own.MEAN_SQUARES_IN_RANDOM_ORDER[t] for t, squares in own.MEAN_SQUARES.items()},
}


def _own_against_printed(topology: str, order: str) -> Finding:
    """The project's own sums against the printed last lines, both over eta^2 and N."""
    label = {"fixed": "drift", "random": "drift-shuffle", "partial": "drift-partial"}[order]
    ours, theirs = pieces_of(own_drift.mean_squares(topology, order)), merged(topology, label)
    unit = S1 * P * S2 * K if order == "partial" else G * P * M * K
    good = all(is_at_most(5 * ours[piece] * unit, theirs[piece] * unit) for piece in PIECES)
    return holds(good, "certificate: nonnegative coefficients, four sums")


def _b6() -> list[Line]:
    sums = [
        Line(
            id=f"zhou2026.b6.{topology}.{piece}",
            place=f"{PLACES['drift-partial'][index]}, the sum over iterates",
            claim=f"the {piece} part: the display as its sum needs it, summed exactly, is at most the printed sum",
            check=partial(_partial_sum, topology, piece),
        )
        for (index, topology), piece in product(enumerate(TOPOLOGIES), PIECES)
    ]
    literal: Sequence[tuple[str, Callable[[], Finding], str]] = (
        ("star-ring.inter", _display_f3, "zhou2026.B20"),
        ("ring-star.inter", _display_f4, "zhou2026.B10"),
        ("ring-ring.intra", _display_f5_intra, "zhou2026.B28"),
        ("ring-ring.gradient", _display_f5, "zhou2026.B11"),
    )
    displays = [
        Line(
            id=f"zhou2026.b6.display.{name}",
            place="F.3, F.4 and F.5, the bound on one iterate",
            claim="the display, read literally, is what its sum needs",
            check=check,
            expected="fails",
            erratum=erratum,
        )
        for name, check, erratum in literal
    ]
    leading = [
        Line(
            id=f"hflbounds.b6.{what}.{order}.{topology}",
            place="docs/theory/sharp-bound.md, section 4; docs/theory/partial-drift.md, section 3",
            claim=claim,
            check=partial(check, topology, order),
        )
        for what, claim, check in (
            ("leading", "the exact finite sums are at most what the theorem keeps of them", _own_leading),
            ("printed", "five times the exact finite sums are at most the appendix's bound", _own_against_printed),
        )
        for order, topology in product(("fixed", "random", "partial"), TOPOLOGIES)
        # In random order the theorem keeps (n+1)/n as 3/2, so two in each ring; section 5 of the tests says so.
        if not (what == "leading" and order == "random")
    ]
    return sums + displays + leading


LINES = (
    *_b1(),
    *_b2(),
    *_b3(),
    Line(
        id="zhou2026.b4",
        place="docs/theory/sharp-bound.md, Lemma B",
        claim=r"$\|v_1+\dots+v_j\|^2\le j(n-j)\rho^2$ for vectors of sum zero and mean square $\rho^2$, and no less",
        check=_prefixes_fixed,
    ),
    Line(
        id="zhou2026.b5",
        place="Appendix E, the paragraph before E.1; docs/theory/sharp-bound.md, Lemma B",
        claim=r"in random order the mean of it is $\frac{j(n-j)}{n-1}\rho^2\le j\rho^2$",
        check=_prefixes_random,
    ),
    *_b6(),
)
