"""Proofs of single lines: exact identities and sign certificates, in rational arithmetic only."""

from __future__ import annotations

import itertools
import operator
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce

import sympy as sp
from sympy.polys.polyerrors import CoercionFailed
from sympy.polys.rings import PolyRing

from hflbounds.core.expression import Choice, Expr, Maximum, Number, Power, Product, Relation, Special, Sum, Symbol

_TWO: dict[type[Expr], Callable[[Fraction, Fraction], Fraction]] = {Sum: operator.add, Product: operator.mul}
POINTS = 4  # at which two functions are compared


class IrrationalError(ArithmeticError):
    """A root of these numbers is not rational."""


def exact(expression: Expr, numbers: Mapping[str, Fraction | int]) -> Fraction:
    """The value in rational numbers.

    Raises:
        IrrationalError: if a root is not rational there, and for named functions.
        KeyError: naming a symbol without a number.
    """
    if isinstance(expression, Number):
        return expression.exact
    if isinstance(expression, Symbol):
        number = numbers[expression.name]
        return number if type(number) is Fraction else Fraction(number)
    if isinstance(expression, Sum | Product):
        return reduce(_TWO[type(expression)], (exact(part, numbers) for part in expression.args))
    if isinstance(expression, Power):
        return rational_power(exact(expression.base, numbers), expression.exponent)
    if isinstance(expression, Maximum):
        return max(exact(part, numbers) for part in expression.args)
    if isinstance(expression, Choice):
        lhs, rhs, then, otherwise = expression.args
        holds = Relation.ORDERS[expression.op](exact(lhs, numbers), exact(rhs, numbers))
        return exact(then if holds else otherwise, numbers)
    if isinstance(expression, Special):
        raise IrrationalError(f"{expression} is a function, and is not evaluated exactly")
    base, exponent = (exact(part, numbers) for part in expression.args)
    return rational_power(base, exponent)


def rational_power(base: Fraction, exponent: Fraction) -> Fraction:
    """A rational power that is itself rational.

    Raises:
        IrrationalError: if it is not.
    """
    if exponent.denominator != 1:
        base = Fraction(_root(base.numerator, exponent.denominator), _root(base.denominator, exponent.denominator))
    return base**exponent.numerator


def _root(value: int, degree: int) -> int:
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**degree < value else (low, middle)
    if low**degree != value:
        raise IrrationalError(f"{value} has no whole root of degree {degree}")
    return low


def identical(left: Expr, right: Expr) -> bool:
    """Whether two rational functions (with roots of single products) are equal.

    They are compared exactly at random points with coordinates ``(p/q)**6``, so that square and cube roots of
    products stay rational. By the lemma of Schwartz and Zippel two different functions of total degree d agree
    at one such point with probability below ``d / 2**20``.
    """
    rng = random.Random(0)  # noqa: S311 - not a secret
    names = sorted({symbol.name for symbol in left.symbols | right.symbols})
    compared = 0
    for _ in range(20 * POINTS):
        numbers = {name: Fraction(rng.getrandbits(20) + 1, rng.randrange(1, 8)) ** 6 for name in names}
        try:
            if exact(left, numbers) != exact(right, numbers):
                return False
        except ZeroDivisionError:
            continue
        compared += 1
        if compared == POINTS:
            return True
    raise ArithmeticError("no point at which both sides are defined")


def nonnegative(
    polynomial: sp.Expr, at_least_one: Iterable[sp.Symbol], at_least_zero: Iterable[sp.Symbol] = ()
) -> bool:
    """Whether a polynomial has only nonnegative coefficients after every count is written as 1 plus something.

    True proves that it is nonnegative where the counts are at least 1 and the others at least 0. False proves
    nothing.
    """
    counts = tuple(at_least_one)
    symbols = (*counts, *at_least_zero)
    if not symbols:
        return bool(sp.expand(polynomial) >= 0)
    try:  # rational coefficients: in their own ring, which takes a tenth of the time
        ring = PolyRing(symbols, sp.QQ)
        shifted = ring.from_expr(sp.sympify(polynomial)).compose([(ring(n), ring(n) + 1) for n in counts])
        return all(coefficient >= 0 for coefficient in shifted.values())
    except (ValueError, CoercionFailed):
        moved = sp.expand(polynomial.subs({n: n + 1 for n in counts}, simultaneous=True))
        return all(coefficient >= 0 for coefficient in sp.Poly(moved, *symbols).coeffs())


def first_violation(
    holds: Callable[..., bool], grids: Mapping[str, Sequence[int | Fraction]]
) -> dict[str, float | str] | None:
    """The first point of a grid at which a statement is false, or None."""
    for point in itertools.product(*grids.values()):
        numbers = dict(zip(grids, point, strict=True))
        if not holds(**numbers):
            return {name: float(value) for name, value in numbers.items()}
    return None
