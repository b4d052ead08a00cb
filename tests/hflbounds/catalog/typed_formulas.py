"""Formulas that are typed once as arithmetic of letters and done later, in exact fractions or in mpmath.

No code is shared with the catalogue. A formula repeats the operations in the order typed, on numbers of one type:
Fractions where every number is rational and no root occurs, otherwise mpmath.mpf at the precision in force.
"""

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from numbers import Rational
from typing import Any, NamedTuple

import mpmath

Num = Any  # Fraction or mpmath.mpf, the same for all numbers of one call


class Formula:
    """A function of the letters in it; its parts are formulas and whole numbers.

    Attributes:
        letters: their names, as they occur.
        roots: whether a root is taken.
    """

    def __init__(self, function: Callable[..., Any], *parts: Any, letter: str = "", root: bool = False) -> None:
        self.function, self.parts, self.letter = function, parts, letter
        inner = [part for part in parts if isinstance(part, Formula)]
        self.letters: dict[str, None] = {letter: None} if letter not in ("", "half") else {}
        for part in inner:
            self.letters |= part.letters
        self.roots = root or any(part.roots for part in inner)

    def __neg__(self) -> "Formula":
        return Formula(operator.neg, self)


for _name in ("add", "sub", "mul", "truediv", "pow"):
    _does = getattr(operator, _name)
    setattr(Formula, f"__{_name}__", lambda x, y, does=_does: Formula(does, x, y))
    setattr(Formula, f"__r{_name}__", lambda x, y, does=_does: Formula(does, y, x))


def letters_of(names: str) -> tuple[Formula, ...]:
    """A formula for each letter."""
    return tuple(Formula(operator.pos, letter=name) for name in names.split())


half = Formula(operator.pos, letter="half")  # in the type of the numbers, of which it is none


def to_mpf(x: Any) -> Any:
    """The number in mpmath at the precision in force; a Fraction is divided there, not in floating point."""
    if isinstance(x, Rational):
        return mpmath.mpf(int(x.numerator)) / int(x.denominator)
    return mpmath.mpf(x)


def sqrt(x: Any) -> Formula:
    """The square root."""
    return Formula(lambda x: mpmath.sqrt(to_mpf(x)), x, root=True)


def cbrt(x: Any) -> Formula:
    """The real cube root of a number that is not negative."""
    return Formula(lambda x: mpmath.cbrt(to_mpf(x)), x, root=True)


def sine(x: Any) -> Formula:
    """The sine of pi/2 over a number."""
    return Formula(lambda x: mpmath.sin(mpmath.pi / (2 * to_mpf(x))), x, root=True)


def alone(n: Any, x: Any) -> Formula:
    """The second number, and 0 where the first is 1."""
    return Formula(lambda n, x: x * 0 if n == 1 else x, n, x)


def largest(*parts: Any) -> Formula:
    """The largest of some numbers."""
    return Formula(max, *parts)


def whole(x: Formula) -> Formula:
    """A count, as the whole number that an exponent must be."""
    return Formula(int, x)


def counted(function: Callable[..., Fraction], *counts: Formula) -> Formula:
    """An exact function of whole numbers, in the type of the first."""

    def count(*values: Num) -> Num:
        assert all(x == int(x) for x in values)
        exact = function(*map(int, values))
        return exact if isinstance(values[0], Rational) else to_mpf(exact)

    return Formula(count, *counts)


def in_one_type(numbers: dict[str, Any], roots: bool = False) -> dict[str, Num]:
    """All numbers in one type: Fractions when all are rational and no root is taken, else mpmath.mpf."""
    if not roots and all(isinstance(x, Rational) for x in numbers.values()):
        return {k: Fraction(int(x.numerator), int(x.denominator)) for k, x in numbers.items()}
    return {k: to_mpf(x) for k, x in numbers.items()}


class Program(NamedTuple):
    """Formulas as operations one after the other, each part once, on the places of what is worked out before."""

    letters: tuple[str, ...]  # the first places
    numbers: tuple[Any, ...]  # the places after these
    steps: tuple[tuple[Callable[..., Any], tuple[int, ...]], ...]
    results: tuple[int, ...]  # places of the formulas
    roots: bool

    @classmethod
    @cache
    def of(cls, formulas: tuple[Formula, ...]) -> "Program":
        """Order the parts of some formulas, as they are first met."""
        letters = tuple({name: None for formula in formulas for name in formula.letters} | {"half": None})
        numbers, inner = list[Any](), dict[int, Formula]()

        def visit(one: Formula) -> None:
            if one.letter or id(one) in inner:
                return
            for part in one.parts:
                if isinstance(part, Formula):
                    visit(part)
            numbers.extend(part for part in one.parts if not isinstance(part, Formula))
            inner[id(one)] = one

        for formula in formulas:
            visit(formula)
        constants = iter(range(len(letters), len(letters) + len(numbers)))
        first = len(letters) + len(numbers)
        places = {key: first + i for i, key in enumerate(inner)}

        def place(part: Any) -> int:
            if not isinstance(part, Formula):
                return next(constants)
            return letters.index(part.letter) if part.letter else places[id(part)]

        steps = tuple((one.function, tuple(map(place, one.parts))) for one in inner.values())
        roots = any(formula.roots for formula in formulas)
        return cls(letters, tuple(numbers), steps, tuple(map(place, formulas)), roots)


def evaluate(formulas: tuple[Formula, ...], **numbers: Any) -> tuple[Num, ...]:
    """The values at a point; numbers that no formula has are ignored."""
    program = Program.of(formulas)
    given = {name: Fraction(1, 2) if name == "half" else numbers[name] for name in program.letters}
    at = [*in_one_type(given, roots=program.roots).values(), *program.numbers]
    for function, places in program.steps:
        at.append(function(*[at[place] for place in places]))
    return tuple(at[place] for place in program.results)


class Table(dict[str, tuple[Formula, ...]]):
    """The summands of each bound's right-hand side, by id."""

    def __setitem__(self, bound_id: str, summands: tuple[Formula, ...]) -> None:
        """Enter the summands of one bound, once."""
        assert bound_id not in self
        super().__setitem__(bound_id, summands)

    def summands(self, bound_id: str, **numbers: Any) -> tuple[Num, ...]:
        """The summands of the bound at a point; arguments as of `value`."""
        return evaluate(self[bound_id], **numbers)

    def value(self, bound_id: str, **numbers: Any) -> Num:
        """The bound at a point; a `\\lesssim` or an O(.) is read with the constant 1 on every term.

        Args:
            bound_id: one of the table.
            **numbers: by the names of `letters`; others are ignored.

        Returns:
            A Fraction where every number used is rational and no root occurs, otherwise an mpmath.mpf.
        """
        first, *rest = self.summands(bound_id, **numbers)
        return sum(rest, start=first)

    def letters(self, bound_id: str) -> tuple[str, ...]:
        """The numbers that `value` takes of a bound."""
        return tuple({name: None for formula in self[bound_id] for name in formula.letters})
