"""HSL line by line: the mixing factors by counting every draw, the lemmas and the theorem as exact algebra.

The displayed formulas are missing from the copy that was read, so the lines are those of the reconstruction in
docs/theory/hsl-mixing.md, in the order of the paper's appendix.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from hflbounds.catalog import sharma2025
from hflbounds.core import functions
from hflbounds.core.expression import Expr, sqrt
from hflbounds.core.quantities import CD, A, H, K, L, T, beta_mix, eta, kappa, n_s, sigma
from hflbounds.derive import Finding, Line
from hflbounds.derive.proofs import exact, identical, nonnegative

Counts = NDArray[np.int64]
Q = Fraction


# ---------------------------------------------------------------- every draw of a stage, in whole numbers
def all_averages(rows: int, n: int, b: int) -> tuple[Counts, int]:
    """Every way in which each of ``rows`` nodes averages b of n: weights times the number returned."""
    single = np.array([[int(k in drawn) for k in range(n)] for drawn in itertools.combinations(range(n), b)])
    picks = itertools.product(range(len(single)), repeat=rows)
    return single[np.array(list(picks))], b


@lru_cache(maxsize=16)
def all_pushes(n: int, b: int) -> tuple[Counts, int]:
    """Every way in which each of n nodes sends to b others: weights times the number returned."""
    ways = [list(itertools.combinations([i for i in range(n) if i != k], b)) for k in range(n)]
    heard = np.zeros((math.prod(map(len, ways)), n, n), dtype=np.int64)
    for row, sent in enumerate(itertools.product(*ways)):
        for sender, receivers in enumerate(sent):
            heard[row, receivers, sender] = 1
        heard[row, range(n), range(n)] = 1
    scale = math.lcm(*range(1, n + 1))
    heard *= scale // heard.sum(axis=2, keepdims=True)
    heard.flags.writeable = False
    return heard, scale


def all_rounds(spokes: int, hubs: int, b_hs: int, b_hh: int, b_sh: int) -> tuple[Counts, int]:
    """Every round of HSL."""
    collect, gossip, pull = all_averages(hubs, spokes, b_hs), all_pushes(hubs, b_hh), all_averages(spokes, hubs, b_sh)
    found = pull[0][:, None, None] @ gossip[0][None, :, None] @ collect[0][None, None]
    return found.reshape(-1, spokes, spokes), pull[1] * gossip[1] * collect[1]


def spread_of(draws: tuple[Counts, int]) -> tuple[Fraction, Fraction]:
    """Squared distance to the average before, and squared move of the average, over the consensus distance before.

    Raises:
        ArithmeticError: if they depend on the models, or the average is not kept in expectation.
    """
    weights, scale = draws
    count, rows, n = weights.shape
    total = weights.sum(axis=1)
    if len(set(total.sum(axis=0).tolist())) != 1:
        raise ArithmeticError("the average is not kept in expectation")
    found = []
    for squares, over in (
        (np.einsum("zik,zil->kl", weights, weights), rows),
        (np.einsum("zk,zl->kl", total, total), rows**2),
    ):
        inside, outside = set(np.diag(squares).tolist()), set(squares[~np.eye(n, dtype=bool)].tolist())
        if len(inside) != 1 or len(outside) > 1:
            raise ArithmeticError("the factor depends on the models")
        both = inside.pop() - (outside.pop() if outside else 0)
        found.append(Q(n * both, count * over * scale**2) if n > 1 else Q(0))
    return found[0], found[1]


def overlap_of(draws: tuple[Counts, int]) -> Fraction:
    """Mean of the sum of w_0k w_1k over k."""
    weights, scale = draws
    return Q(int((weights[:, 0] * weights[:, 1]).sum()), len(weights) * scale**2)


DRAWS = [(rows, n, b) for n in (1, 2, 3, 4, 5) for b in range(1, n + 1) for rows in (1, 2, 3)]
PUSHES = [(n, b) for n in (1, 2, 3, 4, 5) for b in range(n)]
ROUNDS = [(3, 2, 2, 1, 1), (3, 2, 1, 0, 1), (3, 3, 1, 1, 2), (4, 2, 2, 1, 1), (3, 3, 2, 2, 1), (4, 3, 2, 1, 1)]
ROUND_NAMES = ("n_s", "n_h", "b_hs", "b_hh", "b_sh")


def _counted(cases: Iterator[tuple[str, object, object]]) -> Finding:
    """Holds where every pair is equal."""
    count = 0
    for what, left, right in cases:
        if left != right:
            return Finding(verdict="fails", evidence="every draw counted", witness={"case": what, "found": str(left)})
        count += 1
    return Finding(verdict="holds", evidence=f"every draw counted, in whole numbers: {count} cases, equality")


def _averages(formula: Expr, node: str, of: str) -> Callable[[], Finding]:
    def check() -> Finding:
        return _counted(
            (f"{rows} of {n}, {b}", spread_of(all_averages(rows, n, b))[0], exact(formula, {of: n, node: b}))
            for rows, n, b in DRAWS
        )

    return check


def _average_kept() -> Finding:
    def cases() -> Iterator[tuple[str, object, object]]:
        for weights, scale in (
            *(all_averages(*draw) for draw in DRAWS),
            *(all_pushes(*push) for push in PUSHES),
            *(all_rounds(*numbers) for numbers in ROUNDS),
        ):
            count, rows, n = weights.shape
            for column in weights.sum(axis=(0, 1)).tolist():
                yield str((rows, n)), Q(column, count * rows * scale), Q(1, n)

    return _counted(cases())


def _pushes() -> Finding:
    return _counted(
        (f"{n}, {b}", spread_of(all_pushes(n, b))[0], exact(sharma2025.beta_hh, {"n_h": n, "b_hh": b}))
        for n, b in PUSHES
    )


def _move_of_averages() -> Finding:
    return _counted(
        (f"{rows} of {n}, {b}", move, about / rows)
        for rows, n, b in DRAWS
        for about, move in (spread_of(all_averages(rows, n, b)),)
    )


def _move_of_pushes() -> Finding:
    for n, b in PUSHES:
        about, move = spread_of(all_pushes(n, b))
        if not move <= about / n:
            return Finding(
                verdict="fails", evidence="every draw counted", witness={"n": n, "b": b, "move": float(move)}
            )
    return Finding(verdict="holds", evidence=f"every draw counted, in whole numbers: {len(PUSHES)} cases, no violation")


def _move_of_pushes_exactly() -> Finding:
    for n, b in PUSHES[1:]:
        draws = all_pushes(n, b)
        about, move = spread_of(draws)
        shared = overlap_of(draws)
        if move != (about + n * shared - 1) / n or abs(functions.overlap(n, b) - shared) > 1e-14:
            return Finding(verdict="fails", evidence="every draw counted", witness={"n": n, "b": b})
    return Finding(verdict="holds", evidence="every draw counted; the overlap integral agrees to 1e-14")


def _whole_rounds() -> Finding:
    """The sum of the three moves, and the product of the three factors, against a whole round."""

    def cases() -> Iterator[tuple[str, object, object]]:
        for numbers in ROUNDS:
            spokes, hubs, b_hs, b_hh, b_sh = numbers
            about, move = spread_of(all_rounds(*numbers))
            stages = (all_averages(hubs, spokes, b_hs), all_pushes(hubs, b_hh), all_averages(spokes, hubs, b_sh))
            left, moved = Q(1), Q(0)  # consensus distance so far; moves so far
            for stage in stages:
                here, shift = spread_of(stage)
                moved += left * shift
                left *= here - shift
            yield f"{numbers}, the average", move, moved
            yield f"{numbers}, the distance", about - move, left

    return _counted(cases())


def _bounded_by_the_product() -> Finding:
    for numbers in ROUNDS:
        about, move = spread_of(all_rounds(*numbers))
        at = dict(zip(ROUND_NAMES, numbers, strict=True))
        beta, sums = exact(sharma2025.beta, at), exact(sharma2025.kappa_hsl, at)
        if not (about - move <= beta and move <= sums):
            return Finding(verdict="fails", evidence="every round counted", witness={"round": str(numbers)})
    return Finding(verdict="holds", evidence=f"every round counted, in whole numbers: {len(ROUNDS)} configurations")


# ---------------------------------------------------------------- the lemmas, as algebra
def _identity(left: Expr, right: Expr) -> Callable[[], Finding]:
    def check() -> Finding:
        if identical(left, right):
            return Finding(verdict="holds", evidence="identity of rational functions, at random rational points")
        return Finding(verdict="fails", evidence="not an identity", witness={"left": str(left), "right": str(right)})

    return check


def _jensen() -> Finding:
    """The gap n (a_1^2 + ... + a_n^2) - (a_1 + ... + a_n)^2 is a sum of squares, for the numbers of pieces used."""
    for n in (2, 5):
        a = sp.symbols(f"a:{n}")
        squares = sum((x - y) ** 2 for x, y in itertools.combinations(a, 2))
        if sp.expand(n * sum(x**2 for x in a) - sum(a) ** 2 - squares) != 0:
            return Finding(verdict="fails", evidence="not a sum of squares", witness={"n": n})
    return Finding(verdict="holds", evidence="the difference is a sum of squares: identity, for 2 and 5 pieces")


def _decomposition() -> Finding:
    for n in (2, 3, 4, 5):
        x = sp.symbols(f"x:{n}")
        mean = sum(x) / n
        pairs = sum((a - b) ** 2 for a, b in itertools.product(x, x)) / n**2
        if sp.expand(pairs - 2 * sum((a - mean) ** 2 for a in x) / n) != 0:
            return Finding(verdict="fails", evidence="not an identity", witness={"n": n})
    return Finding(verdict="holds", evidence="polynomial identity for 2 to 5 vectors, one coordinate at a time")


def _descent() -> Finding:
    """eta/2 - L eta^2 at eta = 1/(2 L + u)."""
    u, smooth = sp.symbols("u L", positive=True)
    step = 1 / (2 * smooth + u)
    left = sp.numer(sp.together(step / 2 - smooth * step**2))
    if nonnegative(sp.expand(left), (), (u, smooth)):
        return Finding(verdict="holds", evidence="nonnegative coefficients in u where eta = 1/(2 L + u)")
    return Finding(verdict="cannot tell", evidence="a coefficient is negative")


ABOVE_E = Q(2718281829, 10**9)  # a rational above e
SUP = 1 - 1 / ABOVE_E  # and so above 1 - 1/e


def _supremum() -> Finding:
    """beta_hh <= 1 - 1/e: decreasing in b; and at b = 1 by a series, whose one number is checked here."""
    # At b = 1, x = 1/(n - 1): beta = 1 - (1 - x)^(1/x + 1) - x with (1 - x)^(1/x + 1) = exp(-1 - y). As y/x has only
    # nonnegative coefficients in x, y/x <= its value at x = 1/2, which is below e; so 1 - exp(-y) <= y <= e x.
    half = sum(Q(1, 2) ** k * (Q(1, k) + Q(1, k + 1)) for k in range(1, 60)) + Q(1, 2) ** 58
    if not 2 * half < Q(27, 10):
        return Finding(verdict="fails", evidence="series", witness={"y/x at 1/2": float(2 * half)})
    for n in range(2, 41):
        values = [exact(sharma2025.beta_hh, {"n_h": n, "b_hh": b}) for b in range(1, n)]
        falls = all(later < earlier for earlier, later in itertools.pairwise(values))
        grows = all(exact(sharma2025.beta_hh, {"n_h": n + 1, "b_hh": b}) > v for b, v in enumerate(values, 1))
        if not (falls and grows and values[0] < SUP):
            return Finding(verdict="fails", evidence="exact grid", witness={"n": n})
    return Finding(
        verdict="holds", evidence="a series with nonnegative coefficients, and an exact grid: n to 40, every b"
    )


def _small_enough() -> Finding:
    """20 C (1/20)^2 < 1 at a rational above 1 - 1/e, and C grows."""
    b = sp.Symbol("b")
    grows = sp.cancel(sp.diff(b * (1 + 3 * b) / (1 - b) ** 2, b) - (1 + 7 * b) / (1 - b) ** 3) == 0
    largest = exact(sharma2025.unrolled(beta_mix), {"beta_mix": SUP})
    if grows and 20 * largest < 400:
        return Finding(
            verdict="holds", evidence=f"C grows, C' = (1 + 7 beta)/(1 - beta)^3, and C <= {float(largest):.4f} < 20"
        )
    return Finding(verdict="fails", evidence="exact value", witness={"C": float(largest)})


S = sharma2025.spread
C = sharma2025.unrolled(beta_mix)
young = (1 - beta_mix) / (4 * beta_mix)
recursion_gain = C * (1 - beta_mix) * eta**2
step_form = sharma2025.step_terms(beta_mix, kappa)
chain_form = sharma2025.lemma_steps(beta_mix, kappa)


def _total(terms: dict[str, Expr]) -> Expr:
    first, *others = terms.values()
    for term in others:
        first = first + term
    return first


def _line(name: str, place: str, claim: str, check: Callable[[], Finding]) -> Line:
    return Line(id=f"sharma2025.{name}", place=place, claim=claim, check=check)


LINES = (
    _line("A.1.average", "Lemma A.1", "every stage keeps the average in expectation", _average_kept),
    _line(
        "A.2.spokes-to-hubs",
        "Lemma A.2, item 1",
        "the distance of the hubs to the spokes' average is the factor times the consensus distance, for any models",
        _averages(sharma2025.beta_hs, "b_hs", "n_s"),
    ),
    _line(
        "A.2.hub-gossip", "Lemma A.2, item 2; eq. (19)", "the same for push gossip with its in-degree average", _pushes
    ),
    _line(
        "A.2.hubs-to-spokes",
        "Lemma A.2, item 3; eq. (21)",
        "the same for spokes that average hubs",
        _averages(sharma2025.beta_sh, "b_sh", "n_h"),
    ),
    _line(
        "A.2.product",
        "Lemma A.2, item 4",
        "a round is bounded by the product, its move by the sum of A.3",
        _bounded_by_the_product,
    ),
    _line(
        "A.3.averages",
        "Lemma A.3, items 1 and 3",
        "the average of m independent averages moves by the factor over m",
        _move_of_averages,
    ),
    _line(
        "A.3.hub-gossip",
        "Lemma A.3, item 2",
        "push gossip moves the average by at most the factor over n_h",
        _move_of_pushes,
    ),
    _line(
        "A.3.hub-gossip-exact",
        "docs/theory/hsl-mixing.md, Theorem 1",
        "push gossip moves the average by exactly (beta + n overlap - 1)/n",
        _move_of_pushes_exactly,
    ),
    _line(
        "A.3.sum",
        "Appendix B, before eq. (6)",
        "the moves of the three stages add up, without a factor 3, and the exact ratios multiply",
        _whole_rounds,
    ),
    _line("A.6", "Lemma A.6", r"$\frac1{n^2}\sum_{ij}\|x_i-x_j\|^2=\frac2n\sum_i\|x_i-\bar x\|^2$", _decomposition),
    _line(
        "A.4.jensen",
        "Appendix D.4, before eq. (31)",
        "the square of a sum of n is at most n times the sum of squares",
        _jensen,
    ),
    _line(
        "A.4.gradients-split",
        "eqs. (31)-(36)",
        "noise twice, drift to the average twice and heterogeneity at the average make 10 S + 5 L^2 E_X",
        # per pair: sigma^2 twice, L^2 times both distances to the average, and 2 H^2 for two clients at the average
        _identity(5 * (2 * sigma**2 + 2 * L**2 * CD + 2 * H**2), 10 * S + 5 * L**2 * (2 * CD)),
    ),
    _line(
        "A.4.half-step-models",
        "eqs. (37)-(40), Young's inequality with c = (1 - beta)/(4 beta)",
        "(1 + c) beta = (1 + 3 beta)/4",
        _identity((1 + young) * beta_mix, (1 + 3 * beta_mix) / 4),
    ),
    _line(
        "A.4.half-step-gradients",
        "eqs. (37)-(40), the same",
        "(1 + 1/c) beta = C (1 - beta)",
        _identity((1 + 1 / young) * beta_mix, C * (1 - beta_mix)),
    ),
    _line(
        "A.4.contraction",
        "Appendix D.4, where Remark C.1 is used",
        "at 20 C eta^2 L^2 = 1 the factor of E_X becomes (1 + beta)/2; it is smaller at smaller steps",
        _identity((1 + 3 * beta_mix) / 4 + 5 * L**2 * C * (1 - beta_mix) * (1 / (20 * C * L**2)), (1 + beta_mix) / 2),
    ),
    _line(
        "A.4.models",
        "Lemma A.4, item 1",
        "the recursion unrolled from equal models gives 20 C eta^2 S",
        _identity(recursion_gain * 10 * S / (1 - (1 + beta_mix) / 2), 20 * C * eta**2 * S),
    ),
    _line(
        "A.4.gradients",
        "Lemma A.4, item 2",
        "5 L^2 times that is 5 S at 20 C eta^2 L^2 = 1, so E_G <= 15 S",
        _identity(5 * L**2 * 20 * C * (1 / (20 * C * L**2)) * S, 5 * S),
    ),
    _line("A.5.descent", "eqs. (41)-(45)", "eta/2 - L eta^2 is nonnegative at eta <= 1/(2 L)", _descent),
    _line(
        "A.5.rearranged",
        "Lemma A.5",
        "the descent inequality times two over the step",
        _identity(
            (2 / eta) * (A / T + (eta / 2) * L**2 * CD + L * eta**2 * sigma**2 / n_s + L * kappa * CD),
            _total(dict(sharma2025.lemma_a5.terms)),
        ),
    ),
    _line(
        "C.1.supremum",
        "Remark C.1",
        "the factor of hub gossip falls in b, grows in n_h and is below 1 - 1/e",
        _supremum,
    ),
    _line("C.1.step", "Theorem 4.4, the step 1/(20 L)", "20 C (1 - 1/e) (1/20)^2 < 1", _small_enough),
    _line(
        "B.half-way",
        "eq. (7)",
        "half of 2 E_X + 2 eta^2 E_G is eta^2 S (15 + 20 C)",
        _identity((2 * 20 * C * eta**2 * S + 2 * eta**2 * 15 * S) / 2, eta**2 * S * (15 + 20 * C)),
    ),
    _line(
        "B.before-the-step",
        "eq. (9)",
        "Lemmas A.4 and A.5 in the split at the average give the bound before the step is chosen",
        _identity(_total(chain_form), _total(step_form)),
    ),
    _line(
        "B.linear",
        "eq. (11), the step that balances a/step and b step",
        "a/step + b step = 2 sqrt(a b) at step = sqrt(a/b); with a = 4 A/T and b = 4 L B_1 this is 8 sqrt(L A B_1/T)",
        _identity(4 * A / T / sqrt(A / (T * L * K)) + 4 * L * K * sqrt(A / (T * L * K)), 8 * sqrt(L * A * K / T)),
    ),
    _line(
        "B.quadratic",
        "eq. (11), the step that balances a/step and q step^2",
        "with a = 4 A/T and q = 40 L^2 C S both are 4 (10 C L^2 A^2 S/T^2)^(1/3)",
        # the cubes of both sides, with q = 40 K: (a/step)^3 = a^2 q and (q step^2)^3 = a^2 q
        _identity((4 * A / T) ** 3 / (A / (10 * K * T)), 64 * 10 * K * A**2 / T**2),
    ),
)
