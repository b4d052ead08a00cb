"""Finite sums over the local iterates of one round: chain weights, the appendices' displayed sums, brute force.

Everything is divided by the number N of local iterates, so a "mean" here is a sum over iterates over N. Formulas are
polynomials in the counts; the same sums by literal loops are in `looped` and `chain_weights`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

import sympy as sp

from hflbounds.catalog.own import CHAIN
from hflbounds.catalog.own_drift import PARTIAL_CHAIN
from hflbounds.core.expression import Expr, Number, Power, Product, Sum, Symbol, add, as_expr
from hflbounds.core.quantities import S1, S2, G, K, M, P
from hflbounds.derive.proofs import exact, nonnegative
from hflbounds.topology import Topology

PIECES = ("noise", "intra", "inter", "gradient")
Index = tuple[int, int, int, int]  # group, group round, client, local step


def mean_index(n: Expr) -> Expr:
    """Mean of ``i`` over ``i = 0..n-1``."""
    return (n - 1) / 2


def mean_square(n: Expr) -> Expr:
    """Mean of ``i**2`` over ``i = 0..n-1``."""
    return (n - 1) * (2 * n - 1) / 6


def mean_times_prefix(n: Expr) -> Expr:
    """Mean of ``i (i-1)`` over ``i = 1..n``: a place times the number of places before it."""
    return (n**2 - 1) / 3


def heaviest_place(n: Expr) -> Expr:
    """Sum of ``i`` over ``i = 2..n``: how often the first place is counted by all prefixes, each times its place."""
    return (n**2 + n - 2) / 2


COUNTS = (G, M, P, K, S1, S2)
Exponents = tuple[int, ...]


def monomials(expression: Expr) -> dict[Exponents, Fraction]:
    """Coefficients by the exponents of `COUNTS`, which may be negative: of sums, products and whole powers.

    Raises:
        TypeError: for anything else, and for one over a sum.
    """
    if isinstance(expression, Number):
        return {(0,) * len(COUNTS): expression.exact}
    if isinstance(expression, Symbol) and expression in COUNTS:
        return {tuple(int(expression is count) for count in COUNTS): Fraction(1)}
    found: dict[Exponents, Fraction] = {}
    if isinstance(expression, Sum):
        for part in expression.args:
            for exponents, coefficient in monomials(part).items():
                found[exponents] = found.get(exponents, Fraction(0)) + coefficient
        return found
    if isinstance(expression, Product):
        found = monomials(as_expr(1))
        for part in expression.args:
            found = _times(found, monomials(part))
        return found
    if isinstance(expression, Power) and expression.exponent.denominator == 1:
        base, times = monomials(expression.base), int(expression.exponent)
        if times < 0:
            if len(base) != 1:
                raise TypeError(f"{expression} is one over a sum")
            ((exponents, coefficient),) = base.items()
            base, times = {tuple(-e for e in exponents): 1 / coefficient}, -times
        found = monomials(as_expr(1))
        for _ in range(times):
            found = _times(found, base)
        return found
    raise TypeError(f"{expression} is not a polynomial in the counts")


def _times(left: dict[Exponents, Fraction], right: dict[Exponents, Fraction]) -> dict[Exponents, Fraction]:
    found: dict[Exponents, Fraction] = {}
    for (a, x), (b, y) in product(left.items(), right.items()):
        exponents = tuple(i + j for i, j in zip(a, b, strict=True))
        found[exponents] = found.get(exponents, Fraction(0)) + x * y
    return found


def is_at_most(small: Expr, large: Expr) -> bool:
    """Whether a certificate shows ``small <= large`` for all counts of at least 1, which may divide."""
    terms = {exponents: c for exponents, c in monomials(large - small).items() if c}
    if not terms:
        return True
    lowest = [min(column) for column in zip(*terms, strict=True)]
    counts = [count.to_sympy() for count in COUNTS]
    cleared = sp.Add(
        *(
            sp.Rational(c.numerator, c.denominator)
            * sp.Mul(*(n ** (e - low) for n, e, low in zip(counts, exponents, lowest, strict=True)))
            for exponents, c in terms.items()
        )
    )
    return nonnegative(cleared, sorted(cleared.free_symbols, key=str))


def displayed(topology: str, shuffled: bool = False) -> dict[str, Expr]:
    """Exact means of the displayed per-iterate inequalities of Appendices D and E, in the worst case for the data.

    A place in a ring is counted from 1 and includes its own client or group, as printed. In fixed order the worst
    case puts all of the gap at the first place; in drawn order it is the mean over places, and the factor m or g
    in front of the prefix is not there.
    """
    top, low = Topology.parse(topology).patterns
    spread = 1 if low.ordered else M
    pass_ = K * M if low.ordered else K
    group = P * pass_
    noise, reach, gradient = [mean_index(K)], [mean_square(K)], [mean_square(K)]
    intra = [mean_square(K)]
    if low.ordered:
        noise.append(K * (M + 1) / 2)
        reach.append(K**2 * mean_times_prefix(M))
        gradient.append(K**2 * mean_times_prefix(M))
        intra.append(K**2 * (mean_index(M) if shuffled else heaviest_place(M)))
    noise.append(pass_ * mean_index(P) / spread)
    reach.append(pass_**2 * mean_square(P))
    gradient.append(pass_**2 * mean_square(P))
    if top.ordered:
        noise.append(group * (G + 1) / (2 * spread))
        reach.append(group**2 * (mean_index(G) if shuffled else heaviest_place(G)))
        gradient.append(group**2 * mean_times_prefix(G))
    return dict(zip(PIECES, (add(*noise), add(*intra), add(*reach), add(*gradient)), strict=True))


def looped(topology: str, counts: Mapping[str, int], shuffled: bool = False) -> dict[str, Fraction]:
    """The same means by literal loops over the displays."""
    top, low = Topology.parse(topology).patterns
    n_g, n_m, n_p, n_k = (counts[name] for name in "GMPK")
    star = not low.ordered
    pass_ = n_k if star else n_k * n_m
    noise, shared, gradient = 0, 0, 0  # noise, and that of which each client has its share
    clients = dict.fromkeys(product(range(n_g), range(n_m)), 0)
    groups = dict.fromkeys(range(n_g), 0)
    for g, p, m, k in product(range(n_g), range(n_p), range(n_m), range(n_k)):
        for _ in range(k):
            clients[g, m] += k
            groups[g] += k
            gradient += k
        noise += k
        if low.ordered:
            place = m + 1
            noise += place * n_k
            for before in range(m):
                clients[g, before] += n_k * n_k * (1 if shuffled else place)
                groups[g] += place * n_k * n_k
                gradient += place * n_k * n_k
        shared += p * pass_
        for _ in range(p):
            groups[g] += p * pass_ * pass_
            gradient += p * pass_ * pass_
        if top.ordered:
            place, group = g + 1, n_p * pass_
            shared += place * group
            for before in range(g):
                groups[before] += group * group * (1 if shuffled else place)
                gradient += place * group * group
    samples = n_g * n_p * n_m * n_k
    by_client, by_group = list(clients.values()), list(groups.values())
    worst_client = sum(by_client) if shuffled else max(by_client) * len(by_client)
    worst_group = sum(by_group) if shuffled else max(by_group) * len(by_group)
    sums = (noise + Fraction(shared, n_m if star else 1), *map(Fraction, (worst_client, worst_group, gradient)))
    return {piece: total / samples for piece, total in zip(PIECES, sums, strict=True)}


def recursion(topology: str, partial: bool = False) -> Expr:
    """Largest column sum of the displayed smoothness terms: how often one iterate's drift is counted."""
    top, low = Topology.parse(topology).patterns
    groups, clients = (S1, S2) if partial else (G, M)
    pass_ = K * clients if low.ordered else K
    group = P * pass_
    found = [K * (K - 1) / 2]
    if low.ordered:
        found.append(K**2 * heaviest_place(clients))
    found.append(pass_**2 * P * (P - 1) / 2)
    if top.ordered:
        found.append(group**2 * heaviest_place(groups))
    return add(*found)


# F.2-F.5: the displayed means per iterate under sampling, with places that include their own, as the sums need them.
def displayed_partial(topology: str) -> dict[str, Expr]:
    """Exact means of the per-iterate inequalities of Appendix F, in the reading that its sums support."""
    top, low = Topology.parse(topology).patterns
    spread = S2 if not low.ordered else 1
    pass_ = K if not low.ordered else K * S2
    group = P * pass_
    noise, intra, reach, gradient = [mean_index(K)], [mean_square(K)], [mean_square(K)], [mean_square(K)]
    if low.ordered:
        noise.append(K * (S2 + 1) / 2)
        intra.append(K**2 * (S2 + 1) / 2)
        reach.append(K**2 * (S2 + 1) * (2 * S2 + 1) / 6)
        gradient.append(K**2 * (S2 + 1) * (2 * S2 + 1) / 6)
    noise.append(pass_ * mean_index(P) / spread)
    intra.append(pass_**2 * mean_square(P) / S2)
    reach.append(pass_**2 * mean_square(P))
    gradient.append(pass_**2 * mean_square(P))
    if top.ordered:
        noise.append(group * (S1 + 1) / (2 * spread))
        intra.append(group**2 * (S1 + 1) * (2 * S1 + 1) / (6 * S2))
        reach.append(group**2 * (S1 + 1) / 2)
        gradient.append(group**2 * (S1 + 1) * (2 * S1 + 1) / 6)
    return dict(zip(PIECES, (add(*noise), add(*intra), add(*reach), add(*gradient)), strict=True))


# ---------------------------------------------------------------- the algorithms themselves
def iterates(counts: Mapping[str, int]) -> Iterator[Index]:
    """Every local iterate of a round, in the order of the listings."""
    yield from product(*(range(counts[name]) for name in "GPMK"))


def chain_weights(topology: str, counts: Mapping[str, int]) -> dict[Index, dict[Index, Fraction]]:
    """With which weight every gradient of a round stands in every local iterate, groups and clients in order."""
    top, low = Topology.parse(topology).patterns
    share = Fraction(1, counts["M"]) if not low.ordered else Fraction(1)
    found: dict[Index, dict[Index, Fraction]] = {}
    for g, p, m, k in iterates(counts):
        row: dict[Index, Fraction] = {}
        for i in iterates(counts):
            g_i, p_i, m_i, k_i = i
            if (g_i, p_i) == (g, p):
                before = m_i == m and k_i < k
                weight = Fraction(before or (low.ordered and m_i < m))
            else:
                earlier = g_i == g and p_i < p
                weight = share * (earlier or (top.ordered and g_i < g))
            if weight:
                row[i] = weight
        found[g, p, m, k] = row
    return found


def chain_length(topology: str, counts: Mapping[str, int]) -> int:
    """T: local steps on the chain from one global model to the next."""
    return int(exact((CHAIN if "G" in counts else PARTIAL_CHAIN)[topology], counts))
