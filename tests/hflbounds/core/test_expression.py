"""The expression language against sympy: random trees are built twice, once in each, side by side.

What is expected of an expression is computed from the sympy twin (built by sympy's own operators, never by
`to_sympy`), at random rational points and in thirty digits where numbers are compared.
"""

import copy
import gc
import math
import operator
import pickle
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from test_catalogue import read_latex

from hflbounds.core import quantities
from hflbounds.core.expression import (
    DimensionError,
    Expr,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    add,
    as_expr,
    cbrt,
    compile_along,
    compile_many,
    mul,
    power,
    sqrt,
)
from hflbounds.core.quantities import ABOUT, A, G, K, L, M, P, delta, eta_eff, sigma, zeta
from hflbounds.typeset.formulas import latex

Twin = tuple[Expr, Any]  # the same formula, in both languages
SYMBOLS = (G, M, P, K, L, A, sigma, zeta, delta, eta_eff)
TWINS = {s: sp.Symbol(s.name, positive=True) for s in SYMBOLS}  # a point with positive numbers is used throughout
DIMENSIONS = {name: about.dim for name, about in ABOUT.items()}
quickly = settings(
    derandomize=True,
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

fractions = st.builds(Fraction, st.integers(1, 9), st.integers(1, 7))
exponents = st.sampled_from([Fraction(n) for n in (-3, -2, -1, 2, 3)] + [Fraction(1, 2), Fraction(-1, 2)])
exponents |= st.sampled_from([Fraction(1, 3), Fraction(-2, 3), Fraction(3, 2), Fraction(2, 5), Fraction(-3, 4)])


def rational(number: Fraction | int) -> Any:
    return sp.Rational(Fraction(number).numerator, Fraction(number).denominator)


def twice(operation: Callable[..., Any], *parts: Twin) -> Twin:
    """One operator applied in both languages."""
    return operation(*(ours for ours, _ in parts)), operation(*(theirs for _, theirs in parts))


def raised(base: Twin, exponent: Fraction) -> Twin:
    return base[0] ** exponent, base[1] ** rational(exponent)


def leaves(symbols: tuple[Any, ...] = SYMBOLS) -> st.SearchStrategy[Twin]:
    numbers = fractions.map(lambda n: (as_expr(n), rational(n)))
    return st.sampled_from(symbols).map(lambda s: (s, TWINS[s])) | numbers


def grow(children: st.SearchStrategy[Twin]) -> st.SearchStrategy[Twin]:
    """Sums, products, quotients and rational powers of positive things: positive again."""
    pair = st.tuples(children, children)
    return st.one_of(
        pair.map(lambda p: twice(operator.add, *p)),
        pair.map(lambda p: twice(operator.mul, *p)),
        pair.map(lambda p: twice(operator.truediv, *p)),
        st.tuples(children, exponents).map(lambda p: raised(*p)),
        st.tuples(children, fractions).map(lambda p: (p[0][0] * p[1], p[0][1] * rational(p[1]))),
    )


positive_trees = st.recursive(leaves(), grow, max_leaves=8)


def with_differences(trees: st.SearchStrategy[Twin]) -> st.SearchStrategy[Twin]:
    """Differences and negatives outside, so that no root is taken of a negative number."""
    pair = st.tuples(trees, trees)
    return st.one_of(
        pair.map(lambda p: twice(operator.sub, *p)),
        trees.map(lambda t: twice(operator.neg, t)),
        st.tuples(pair, st.sampled_from([-2, -1, 2, 3])).map(
            lambda p: raised(twice(operator.sub, *p[0]), Fraction(p[1]))
        ),
        st.tuples(trees, trees, trees).map(lambda t: (t[0][0] * (t[1][0] - t[2][0]), t[0][1] * (t[1][1] - t[2][1]))),
        trees.map(lambda t: (1 - t[0], 1 - t[1])),
        trees.map(lambda t: (Fraction(3, 2) - t[0], sp.Rational(3, 2) - t[1])),
    )


trees = positive_trees | with_differences(positive_trees)
monomials = st.recursive(
    leaves(),
    lambda children: st.one_of(
        st.tuples(children, children).map(lambda p: twice(operator.mul, *p)),
        st.tuples(children, children).map(lambda p: twice(operator.truediv, *p)),
        st.tuples(children, st.sampled_from([-2, -1, 2, 3])).map(lambda p: raised(p[0], Fraction(p[1]))),
    ),
    max_leaves=8,
)


def some_point(seed: int) -> dict[str, Fraction]:
    rng = random.Random(seed)
    return {s.name: Fraction(rng.randint(1, 40), rng.randint(1, 40)) for s in SYMBOLS}


def at(theirs: Any, point: dict[str, Fraction]) -> Any:
    """Thirty digits of the sympy twin at a point, or None where it divides by zero."""
    value = theirs.xreplace({s: rational(point[s.name]) for s in theirs.free_symbols})
    value = sp.N(value, 30, maxn=400)
    return None if value.has(sp.zoo, sp.nan, sp.oo) or abs(value) > 10**200 else value


def same(found: Any, theirs: Any, seed: int = 0) -> bool:
    """Whether two sympy expressions agree at three random points to 25 digits; no division by zero."""
    assume(not theirs.has(sp.zoo, sp.nan))
    for i in range(3):
        point = some_point(seed + i)
        one, other = at(found, point), at(theirs, point)
        assume(other is not None)
        if one is None:
            return False
        if abs(one - other) > sp.Float("1e-25") * max(abs(other), sp.Float("1e-12")):
            return False
    return True


def from_ours(ours: Expr) -> Any:
    """`to_sympy` with positive symbols, so that it can be compared with a twin."""
    found = ours.to_sympy()
    return found.xreplace({s: sp.Symbol(s.name, positive=True) for s in found.free_symbols})


# ------------------------------------------------------------------------------------- random trees


@quickly
@given(trees)
def test_to_sympy(tree: Twin) -> None:
    ours, theirs = tree
    assert same(from_ours(ours), theirs)


def signed(ours: Expr, point: dict[str, float]) -> float:
    """The value by way of sympy, cancellation and all."""
    return float(from_ours(ours).xreplace({TWINS[s]: rational(Fraction(point[s.name])) for s in SYMBOLS}))


def magnitude(ours: Expr, point: dict[str, float]) -> float:
    """The value with every minus a plus: what rounding errors of a sum are measured against."""
    if isinstance(ours, Number):
        return abs(float(ours.exact))
    if isinstance(ours, Power):
        below = abs(signed(ours.base, point)) if ours.exponent < 0 else magnitude(ours.base, point)
        return below ** float(ours.exponent)
    parts = [magnitude(part, point) for part in ours.args]
    if isinstance(ours, Sum):
        return math.fsum(parts)
    return math.prod(parts) if isinstance(ours, Product) else point[str(ours)]


def well_conditioned(ours: Expr, point: dict[str, float]) -> bool:
    """Within float64, and without a quotient by a difference that all but cancels: that magnifies rounding."""
    for part in ours.walk():
        quotient = isinstance(part, Power) and part.exponent < 0 and isinstance(part.base, Sum)
        if quotient and abs(signed(part.base, point)) < 1e-2 * magnitude(part.base, point):
            return False
    return 1e-200 < magnitude(ours, point) < 1e200


@quickly
@given(trees, st.integers(0, 2**32))
def test_value_and_compiled_value(tree: Twin, seed: int) -> None:
    ours, theirs = tree
    point = some_point(seed)
    expected = at(theirs, point)
    assume(expected is not None)
    floats = {name: float(number) for name, number in point.items()}
    assume(well_conditioned(ours, floats))
    scale = magnitude(ours, floats)
    arguments = tuple(sorted(ours.symbols, key=str))
    scalar, array = compile_many(arguments, (ours,))
    numbers = [floats[s.name] for s in arguments]
    values = [ours.value(floats), scalar(*numbers)[0], array(*map(np.float64, numbers))[0]]
    values.append(np.ravel(array(*(np.full(3, n) for n in numbers))[0])[-1])
    for value in values:
        # some tens of roundings, powers up to 3 of sums: 1e-12 of the sum without cancellation
        assert abs(float(value) - float(expected)) <= 1e-12 * max(scale, abs(float(expected)))


@quickly
@given(trees, st.sampled_from(SYMBOLS))
def test_diff(tree: Twin, symbol: Any) -> None:
    ours, theirs = tree
    assume(not theirs.has(sp.zoo, sp.nan))  # sympy differentiates 1/(G - G) to zero
    assert same(from_ours(ours.diff(symbol)), sp.diff(theirs, TWINS[symbol]))


@quickly
@given(trees, st.sampled_from(SYMBOLS), positive_trees)
def test_subs(tree: Twin, symbol: Any, other: Twin) -> None:
    ours, theirs = tree
    assert same(from_ours(ours.subs({symbol: other[0]})), theirs.xreplace({TWINS[symbol]: other[1]}))
    assert ours.subs({}) is ours


@quickly
@given(trees)
def test_symbols_and_walk(tree: Twin) -> None:
    ours, theirs = tree
    names = {s.name for s in ours.symbols}
    assert names >= {s.name for s in theirs.free_symbols}  # sympy may have cancelled some
    walked = list(ours.walk())
    assert walked[0] is ours
    assert {part.name for part in walked if part in set(SYMBOLS)} == names


@quickly
@given(monomials)
def test_monomial(tree: Twin) -> None:
    ours, theirs = tree
    found = ours.monomial()
    assert found is not None
    coefficient, exponents = found
    assert isinstance(coefficient, Fraction)
    assert set(exponents) == set(ours.symbols)
    wanted, powers = theirs.as_coeff_Mul()
    bases = powers.as_powers_dict()
    assert rational(coefficient) == wanted
    assert {TWINS[s]: rational(n) for s, n in exponents.items() if n} == {b: n for b, n in bases.items() if b != 1}


@quickly
@given(monomials, monomials)
def test_a_sum_is_no_monomial(one: Twin, other: Twin) -> None:
    total = one[0] + other[0]
    assume(isinstance(total, Sum) and total.symbols)
    assert total.monomial() is None


@quickly
@given(trees, st.sampled_from(SYMBOLS))
def test_factor_out(tree: Twin, symbol: Any) -> None:
    ours, theirs = tree
    split = ours.factor_out(symbol)
    inside_a_sum = any(isinstance(part, Sum) and symbol in part.symbols for part in ours.walk())
    assert (split is None) is inside_a_sum
    if split is None:
        return
    n, rest = split
    assert symbol not in rest.symbols
    assert same(TWINS[symbol] ** rational(n) * from_ours(rest), theirs)
    if symbol not in ours.symbols:
        assert (n, rest) == (0, ours)


@st.composite
def homogeneous(draw: st.DrawFn) -> tuple[Expr, tuple[Fraction, Fraction]]:
    """A sum of terms of one dimension, and the dimension, counted by hand while it is put together."""
    first: Expr = as_expr(1)
    loss, length = Fraction(0), Fraction(0)
    for _ in range(draw(st.integers(1, 4))):
        symbol = draw(st.sampled_from(SYMBOLS))
        exponent = draw(exponents)
        first = first * symbol**exponent
        loss += exponent * DIMENSIONS[symbol.name][0]
        length += exponent * DIMENSIONS[symbol.name][1]
    # each of these has the dimension of a plain number
    neutral = draw(st.lists(st.sampled_from([G, M * K, L * eta_eff, sigma / zeta, 1 + L * eta_eff, A * L / delta**2])))
    total = first
    for factor in neutral:
        total = total + draw(fractions) * first * factor if draw(st.booleans()) else total * factor
    outer = draw(exponents)
    return total**outer, (loss * outer, length * outer)


@quickly
@given(homogeneous())
def test_dimension(case: tuple[Expr, tuple[Fraction, Fraction]]) -> None:
    ours, wanted = case
    assert ours.dimension(DIMENSIONS) == wanted


@quickly
@given(homogeneous(), st.sampled_from([L, A, sigma, eta_eff]))
def test_unlike_things_are_not_added(case: tuple[Expr, tuple[Fraction, Fraction]], symbol: Any) -> None:
    ours, dimension = case
    assume(dimension != DIMENSIONS[symbol.name])
    for wrong in (ours + symbol, sqrt(symbol + ours), G / (ours - 3 * symbol)):
        with pytest.raises(DimensionError, match="adds quantities of dimensions"):
            wrong.dimension(DIMENSIONS)


@quickly
@given(trees)
def test_dimension_is_how_a_value_scales(tree: Twin) -> None:
    """Where a dimension is found, other units of loss and length change the value by its powers."""
    ours, theirs = tree
    try:
        loss, length = ours.dimension(DIMENSIONS)
    except DimensionError:
        return
    s, t = sp.Integer(7), sp.Integer(3)
    scaled = theirs.xreplace(
        {TWINS[q]: TWINS[q] * s ** DIMENSIONS[q.name][0] * t ** DIMENSIONS[q.name][1] for q in SYMBOLS}
    )
    assert same(scaled, theirs * s ** rational(loss) * t ** rational(length))


NAMES = {"sqrt": sp.sqrt, "cbrt": lambda x: x ** sp.Rational(1, 3), **{s.name: TWINS[s] for s in SYMBOLS}}


def read(text: str) -> Any:
    """The text of a formula, read by Python's own precedence, with whole numbers exact."""
    exact = "".join(f"Integer({part})" if part.isdigit() else part for part in split_numbers(text))
    return eval(exact, {"__builtins__": {}}, {**NAMES, "Integer": sp.Integer})  # noqa: S307 - text of this package


def split_numbers(text: str) -> list[str]:
    """Runs of digits that stand alone, and what is between them."""
    parts: list[str] = []
    for i, character in enumerate(text):
        goes_on = bool(parts) and (
            (parts[-1].isdigit() and character.isdigit())
            or (not parts[-1].isdigit() and (not character.isdigit() or text[i - 1].isalnum() or text[i - 1] == "_"))
        )
        if goes_on:
            parts[-1] += character
        else:
            parts.append(character)
    return parts


@quickly
@given(trees)
def test_text_says_what_is_computed(tree: Twin) -> None:
    """`str` is shown in errors; read back with Python's precedence it is the same formula."""
    ours, theirs = tree
    assert same(sp.sympify(read(str(ours))), theirs)


@quickly
@given(trees, st.integers(0, 2**32))
def test_latex_is_read_back_as_the_same_formula(tree: Twin, seed: int) -> None:
    """By the reader of test_catalogue, which knows fractions, roots, powers and brackets, and nothing of this code."""
    ours, theirs = tree
    point = some_point(seed)
    expected = at(theirs, point)
    assume(expected is not None)
    floats = {name: float(number) for name, number in point.items()}
    assume(well_conditioned(ours, floats))
    found = read_latex(latex(ours), {ABOUT[name].latex: number for name, number in floats.items()})
    assert abs(found - float(expected)) <= 1e-12 * max(magnitude(ours, floats), abs(float(expected)))


@pytest.mark.parametrize(
    ("ours", "text"),
    [
        (5 * L**2 * eta_eff**2 * zeta**2 / (12 * P**2), "5*L**2*eta_eff**2*zeta**2/(12*P**2)"),
        (1 / (sqrt(60) * L), "1/(sqrt(60)*L)"),
        (G - M - (K - P), "G - M + -1*(K - P)"),
        ((G**2) ** 3, "(G**2)**3"),
        ((G**2) ** Fraction(1, 5), "(G**2)**(1/5)"),
        (2 / (G / M), "2/(G/M)"),
        (-G, "-G"),
        (Fraction(-1, 2) * G, "-G/2"),
    ],
    ids=str,
)
def test_text(ours: Expr, text: str) -> None:
    """Typed by hand; another text will do if Python reads it as the same formula."""
    assert sp.simplify(sp.sympify(read(str(ours))) - sp.sympify(read(text))) == 0


# -------------------------------------------------------------------------------------- shared parts


class Counted:
    """A number that counts the operations done with it."""

    done: list[str]

    def __init__(self, value: float, done: list[str]) -> None:
        self.value, self.done = value, done

    def _with(self, name: str, other: Any, operation: Callable[[float, float], float]) -> "Counted":
        number = other.value if isinstance(other, Counted) else other
        self.done.append(name)
        return Counted(operation(self.value, number), self.done)

    def __add__(self, other: Any) -> "Counted":
        return self._with("+", other, lambda x, y: x + y)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Counted":
        return self._with("-", other, lambda x, y: x - y)

    def __rsub__(self, other: Any) -> "Counted":
        return self._with("-", other, lambda x, y: y - x)

    def __mul__(self, other: Any) -> "Counted":
        return self._with("*", other, lambda x, y: x * y)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Counted":
        return self._with("/", other, lambda x, y: x / y)

    def __rtruediv__(self, other: Any) -> "Counted":
        return self._with("/", other, lambda x, y: y / x)

    def __pow__(self, other: Any) -> "Counted":
        return self._with("**", other, lambda x, y: x**y)

    def sqrt(self) -> "Counted":
        """numpy calls this for objects."""
        self.done.append("sqrt")
        return Counted(math.sqrt(self.value), self.done)


def counted(expressions: tuple[Expr, ...], numbers: dict[str, float]) -> tuple[list[float], list[str]]:
    """The values and the operations that computing them took."""
    arguments = tuple(sorted(frozenset().union(*(e.symbols for e in expressions)), key=str))
    done: list[str] = []
    function = compile_many(arguments, expressions)[1]
    values = function(*(Counted(numbers[s.name], done) for s in arguments))
    return [value.value for value in values], done


def test_shared_parts_are_computed_once() -> None:
    numbers = {"G": 3.0, "M": 5.0, "K": 7.0}
    shared = G + M
    values, done = counted((shared * K, shared / K, shared**2), numbers)
    assert values == [56.0, 8 / 7, 64.0]
    assert done.count("+") == 1
    deep = sqrt(shared) / (1 + sqrt(shared))
    values, done = counted((deep * K, deep**3), numbers)
    expected = math.sqrt(8) / (1 + math.sqrt(8))
    assert values == pytest.approx([7 * expected, expected**3], rel=1e-15)
    assert done.count("sqrt") == 1
    assert done.count("/") == 1


def test_a_base_that_a_power_repeats_is_computed_once() -> None:
    values, done = counted((1 / (1 - G * M) ** 2,), {"G": 3.0, "M": 5.0})
    assert values == [1 / 196]
    assert done.count("-") == 1


@quickly
@given(st.lists(positive_trees, min_size=1, max_size=3), st.integers(0, 1000))
def test_compiling_together_or_alone_is_the_same(several: list[Twin], seed: int) -> None:
    """Sharing parts with other formulas changes no value: against sympy, formula by formula."""
    ours = [tree[0] for tree in several]
    together = (*ours, ours[0] * ours[-1], 1 / (ours[0] + ours[-1]), (ours[0] + 1) ** 2)
    theirs = [tree[1] for tree in several]
    expected = (*theirs, theirs[0] * theirs[-1], 1 / (theirs[0] + theirs[-1]), (theirs[0] + 1) ** 2)
    point = some_point(seed)
    floats = {name: float(number) for name, number in point.items()}
    arguments = tuple(sorted(frozenset().union(*(e.symbols for e in together)), key=str))
    wanted = [at(e, point) for e in expected]
    assume(all(w is not None and abs(w) > sp.Float("1e-200") for w in wanted))
    for i, function in enumerate(compile_many(arguments, together)):
        found = [function(*(floats[s.name] for s in arguments))]
        for moved in arguments:  # nor does working out first what is free of one argument
            others = tuple(s for s in arguments if s is not moved)
            along = compile_along(moved, others, together)[i](*(floats[s.name] for s in others))
            found.append(along(floats[moved.name]))
        for values in found:
            assert [float(v) for v in values] == pytest.approx([float(w) for w in wanted], rel=1e-12)


def test_nothing_to_compile() -> None:
    assert compile_many((), ())[0]() == ()
    assert compile_many((G,), ())[1](2.0) == ()
    assert compile_many((), (as_expr(Fraction(3, 4)),))[0]() == (0.75,)


# ------------------------------------------------------------------------------------- exact numbers

INEXACT = [0.5, 2.0, np.float64(2), float("nan"), 1j, Decimal(2), "2", None, True, np.True_]


@pytest.mark.parametrize("value", INEXACT, ids=repr)
@pytest.mark.parametrize(
    "operation",
    [operator.add, operator.sub, operator.mul, operator.truediv, operator.le, operator.lt, operator.ge, operator.gt],
    ids=lambda f: f.__name__,
)
def test_what_is_not_exact_is_refused(operation: Callable[[Any, Any], Any], value: Any) -> None:
    with pytest.raises(TypeError):
        operation(G, value)


@pytest.mark.parametrize("value", INEXACT, ids=repr)
@pytest.mark.parametrize("function", [as_expr, sqrt, cbrt, add, mul, lambda x: add(G, x), lambda x: mul(x, G)])
def test_functions_refuse_what_is_not_exact(function: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(TypeError):
        function(value)


@pytest.mark.parametrize("value", INEXACT, ids=repr)
def test_powers_refuse_what_is_not_exact(value: Any) -> None:
    with pytest.raises(TypeError):
        power(value, 2)
    with pytest.raises(TypeError):
        power(G, value)


@pytest.mark.parametrize("value", [0.5, 2.0, 1j, "2", None], ids=repr)
@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_reflected_operators_refuse_what_is_not_exact(operation: Callable[[Any, Any], Any], value: Any) -> None:
    with pytest.raises(TypeError):
        operation(value, G)


def test_exact_numbers_stay_exact() -> None:
    third = G * Fraction(1, 3) * 3
    assert third is G
    assert (Fraction(1, 3) + G - Fraction(1, 3)).value({"G": 5.0}) == pytest.approx(5.0, rel=1e-15)
    assert as_expr(10**40) * Fraction(1, 10**40) is as_expr(1)
    assert 0 * G is as_expr(0)
    assert G + 0 is G
    assert G**0 is as_expr(1)
    assert G**1 is G
    assert 1 / as_expr(Fraction(2, 3)) is as_expr(Fraction(3, 2))
    with pytest.raises(ZeroDivisionError):
        1 / as_expr(0)


def test_nothing_is_simplified() -> None:
    """As it is printed, so it stays."""
    assert G / G is not as_expr(1)
    assert (G / G).monomial() == (Fraction(1), {G: Fraction(0)})
    assert G * M is not M * G
    assert str(G + M - G) == "G + M - G"
    assert isinstance(sqrt(G**2), Power)


# ------------------------------------------------------------------------------------------- identity


def test_equal_expressions_are_one_object() -> None:
    def build() -> Expr:
        return sqrt(5 * L**2 * eta_eff**2 / (12 * P**2)) + (1 - L) ** 3

    one = build()
    assert build() is one
    assert one == build()
    assert hash(one) == hash(build())
    assert 5 * L is not 6 * L
    assert pickle.loads(pickle.dumps(one)) is one  # noqa: S301 - our own
    assert copy.copy(one) is one
    assert copy.deepcopy(one) is one
    assert {one: 1}[build()] == 1


def test_expressions_nobody_holds_are_forgotten() -> None:
    gc.collect()
    before = len(Expr._interned)
    many = [G + Fraction(i, 7919) for i in range(1, 2001)]
    assert len(Expr._interned) >= before + len(many)
    del many
    gc.collect()
    assert len(Expr._interned) <= before + 5


def test_numbers_of_one_value_are_one_object() -> None:
    assert as_expr(2) is as_expr(Fraction(4, 2))
    assert as_expr(2) is not as_expr(-2)
    assert as_expr(Fraction(1, 2)).value({}) == 0.5


# ------------------------------------------------------------------------------------------ relations


@pytest.mark.parametrize(
    ("relation", "op", "strict"),
    [
        (eta_eff <= 1 / (10 * L), "<=", False),
        (eta_eff < 1 / (10 * L), "<", True),
        (eta_eff >= 1 / (10 * L), ">=", False),
        (eta_eff > 1 / (10 * L), ">", True),
    ],
    ids=lambda x: str(x),
)
def test_relations(relation: Relation, op: str, strict: bool) -> None:
    assert (relation.op, relation.strict) == (op, strict)
    assert str(relation) == f"eta_eff {op} 1/(10*L)"
    assert relation.symbols == {eta_eff, L}
    below, equal, above = (relation.holds(x, 1.0) for x in (0.5, 1.0, 2.0))
    assert (bool(below), bool(equal), bool(above)) == ("<" in op, "=" in op, ">" in op)
    assert relation.holds(np.array([0.5, 1.0, 2.0]), 1.0).tolist() == ["<" in op, "=" in op, ">" in op]
    assert not relation.holds(math.nan, 1.0)


def test_a_relation_has_no_truth_value() -> None:
    """So that a chain of comparisons, or a condition in an if, cannot quietly be one of its halves."""
    relation = eta_eff <= 1 / L
    for use in (
        lambda: bool(relation),
        lambda: 1 if relation else 0,
        lambda: relation and relation,
        lambda: not relation,
        lambda: 1 / (20 * L) <= eta_eff <= 1 / (10 * L),
        lambda: max(G, M),
        lambda: sorted([G, M]),
    ):
        with pytest.raises(TypeError, match="no truth value"):
            use()


def test_numbers_on_the_left_of_a_relation() -> None:
    relation = 1 < G  # noqa: SIM300 - the point
    assert str(relation) == "G > 1"
    assert str(Fraction(1, 2) >= G) == "G <= (1/2)"


def test_the_vocabulary_is_declared_once() -> None:
    for name, about in ABOUT.items():
        symbol = quantities.SYMBOLS[name]
        assert symbol.name == name
        assert about.meaning
        assert about.latex
        assert 0 < about.typical[0] < about.typical[1]
        known = {"count": {"integer", "positive"}, "whole": {"integer", "nonnegative"}, "share": {"nonnegative"}}
        assert symbol.assumptions == dict.fromkeys(known.get(about.domain, {about.domain}), True)
