"""Formulas as exact data: declared once, then evaluated, differentiated, measured in units and typeset.

Importing sympy costs several times what a whole recommendation may, so a bound is declared in this small
language of sums, products, rational powers, powers of a formula by a formula, maxima, choices and a few named
functions, and `to_sympy` hands it to sympy when algebra is wanted.
Nothing is simplified: what is printed in a paper stays as it is printed. Numbers are exact rationals,
never floats. Equal expressions are the same object, so ``is`` compares formulas and shared parts are
computed once.

Nothing here parses text, so no user's string can become a formula.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, ClassVar, cast
from weakref import WeakValueDictionary

import numpy as np

from hflbounds.core import functions
from hflbounds.topology.patterns import sine

if TYPE_CHECKING:
    import sympy as sp

Exact = int | Fraction
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
ROOTS = {HALF: "sqrt", THIRD: "cbrt"}


class Expr:
    """A formula in the symbols of `hflbounds.core.quantities`; build it with ``+ - * / **`` and `sqrt`, `cbrt`."""

    __slots__ = ("__weakref__", "_symbols", "key")
    _interned: ClassVar[WeakValueDictionary[tuple[Any, ...], Expr]] = WeakValueDictionary()

    key: tuple[Any, ...]
    _symbols: frozenset[Symbol]

    def __new__(cls, *key: Any) -> Expr:  # noqa: D102 - see the class
        full = (cls, *key)
        found = Expr._interned.get(full)
        if found is None:
            found = object.__new__(cls)
            found.key = key
            Expr._interned[full] = found
        return found

    @property
    def args(self) -> tuple[Expr, ...]:
        """The parts this expression is made of; empty for numbers and symbols."""
        return ()

    def __add__(self, other: Expr | Exact) -> Expr:
        return add(self, other)

    def __radd__(self, other: Expr | Exact) -> Expr:
        return add(other, self)

    def __sub__(self, other: Expr | Exact) -> Expr:
        return add(self, mul(-1, other))

    def __rsub__(self, other: Expr | Exact) -> Expr:
        return add(other, mul(-1, self))

    def __neg__(self) -> Expr:
        return mul(-1, self)

    def __mul__(self, other: Expr | Exact) -> Expr:
        return mul(self, other)

    def __rmul__(self, other: Expr | Exact) -> Expr:
        return mul(other, self)

    def __truediv__(self, other: Expr | Exact) -> Expr:
        return mul(self, power(other, -1))

    def __rtruediv__(self, other: Expr | Exact) -> Expr:
        return mul(other, power(self, -1))

    def __pow__(self, exponent: Exact) -> Expr:
        return power(self, exponent)

    def __le__(self, other: Expr | Exact) -> Relation:
        return Relation(self, "<=", as_expr(other))

    def __lt__(self, other: Expr | Exact) -> Relation:
        return Relation(self, "<", as_expr(other))

    def __ge__(self, other: Expr | Exact) -> Relation:
        return Relation(self, ">=", as_expr(other))

    def __gt__(self, other: Expr | Exact) -> Relation:
        return Relation(self, ">", as_expr(other))

    def __str__(self) -> str:
        return _write(self, {})

    def __repr__(self) -> str:
        return f"<{self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self.key)

    def text(self, names: Mapping[Expr, str]) -> str:
        """As `str`, with names for some of its parts."""
        return _write(self, names)

    def walk(self) -> Iterator[Expr]:
        """This expression and everything inside it, outermost first."""
        ahead: list[Expr] = [self]
        while ahead:
            part = ahead.pop()
            yield part
            ahead += part.args[::-1]

    @property
    def symbols(self) -> frozenset[Symbol]:
        """Every symbol that occurs."""
        try:
            return self._symbols
        except AttributeError:
            own = {self} if isinstance(self, Symbol) else ()
            self._symbols = frozenset[Symbol](own).union(*(part.symbols for part in self.args))
            return self._symbols

    def subs(self, replacements: Mapping[Symbol, Expr | Exact]) -> Expr:
        """The same formula with symbols replaced by formulas; for derivations, never for evaluation."""
        known: dict[Expr, Expr] = {symbol: as_expr(formula) for symbol, formula in replacements.items()}

        def replaced(part: Expr) -> Expr:
            if not part.args:
                return known.get(part, part)
            found = known.get(part)
            if found is None:
                args = tuple(map(replaced, part.args))
                if isinstance(part, Sum | Product):
                    found = add(*args) if isinstance(part, Sum) else mul(*args)
                else:
                    found = power(args[0], part.exponent) if isinstance(part, Power) else part._rebuilt(args)
                known[part] = found
            return found

        return replaced(self)

    def _rebuilt(self, args: tuple[Expr, ...]) -> Expr:
        """The same kind of node over other parts; for the kinds that are not arithmetic."""
        raise NotImplementedError(type(self).__name__)

    def diff(self, symbol: Symbol) -> Expr:
        """The partial derivative."""
        if self is symbol:
            return as_expr(1)
        if symbol not in self.symbols:
            return as_expr(0)
        if isinstance(self, Sum):
            return add(*(part.diff(symbol) for part in self.args))
        if isinstance(self, Product):
            parts = self.args
            moved = [i for i, part in enumerate(parts) if symbol in part.symbols]
            return add(*(mul(*parts[:i], parts[i].diff(symbol), *parts[i + 1 :]) for i in moved))
        if isinstance(self, Power):
            return mul(self.exponent, power(self.base, self.exponent - 1), self.base.diff(symbol))
        raise TypeError(f"{self} is not differentiated: no step size stands inside such a formula")

    def factor_out(self, symbol: Symbol) -> tuple[Fraction, Expr] | None:
        """``(n, rest)`` with this expression equal to ``symbol**n * rest`` and ``rest`` free of the symbol.

        None where the symbol occurs inside a sum, so that no such split exists.
        """
        if symbol not in self.symbols:
            return Fraction(0), self
        if self is symbol:
            return Fraction(1), as_expr(1)
        if isinstance(self, Product):
            parts = [part.factor_out(symbol) for part in self.args]
            if any(part is None for part in parts):
                return None
            known = cast(list[tuple[Fraction, Expr]], parts)
            return sum((n for n, _ in known), Fraction(0)), mul(*(rest for _, rest in known))
        if isinstance(self, Power):
            inner = self.base.factor_out(symbol)
            if inner is None:
                return None
            return inner[0] * self.exponent, power(inner[1], self.exponent)
        return None

    def value(self, numbers: Mapping[str, float]) -> float:
        """The value at one point, without compiling; for formulas that are looked at once.

        Raises:
            KeyError: naming a symbol without a number.
        """
        if isinstance(self, Number):
            return float(self.exact)
        if isinstance(self, Symbol):
            return numbers[self.name]
        if isinstance(self, Power):
            return float(self.base.value(numbers) ** float(self.exponent))
        parts = [part.value(numbers) for part in self.args]
        if isinstance(self, Sum | Product):
            return sum(parts) if isinstance(self, Sum) else math.prod(parts)
        return float(self._of(parts))

    def _of(self, parts: list[Any]) -> Any:
        """The value from the values of the parts; for the kinds that are not arithmetic."""
        raise NotImplementedError(type(self).__name__)

    def log10(self, numbers: Mapping[str, float]) -> tuple[int, float]:
        """Sign and decimal logarithm of the value, where the value itself may be beyond float64.

        Returns:
            ``(sign, log10 of the absolute value)``, with ``(0, -inf)`` for zero.

        Raises:
            KeyError: naming a symbol without a number.
        """
        return _log10(self, numbers)

    def monomial(self) -> tuple[Fraction, dict[Symbol, Fraction]] | None:
        """The rational coefficient and the exponents of a single product of symbols, or None."""
        exponents: dict[Symbol, Fraction] = {}
        rest: Expr = self
        for symbol in sorted(self.symbols, key=str):
            split = rest.factor_out(symbol)
            if split is None:
                return None
            exponents[symbol], rest = split
        value = _rational(rest)
        return None if value is None else (value, exponents)

    def dimension(self, dim: Mapping[str, tuple[int, int]]) -> tuple[Fraction, Fraction]:
        """Exponents of (loss, length).

        Raises:
            DimensionError: if unlike things are added.
        """
        if isinstance(self, Symbol):
            return Fraction(dim[self.name][0]), Fraction(dim[self.name][1])
        if isinstance(self, Power):
            loss, length = self.base.dimension(dim)
            return loss * self.exponent, length * self.exponent
        parts = [part.dimension(dim) for part in self.args]
        if isinstance(self, Raised | Special):
            if any(any(part) for part in parts):
                raise DimensionError(f"{self} takes pure numbers, not {[tuple(map(str, p)) for p in parts]}")
            return Fraction(0), Fraction(0)
        if isinstance(self, Choice):
            if parts[0] != parts[1]:
                raise DimensionError(f"{self} compares unlike things")
            # A zero has every dimension.
            parts = [p for p, arg in zip(parts[2:], self.args[2:], strict=True) if not _is(arg, 0)] or parts[2:3]
        if isinstance(self, Product):
            return sum((p[0] for p in parts), Fraction(0)), sum((p[1] for p in parts), Fraction(0))
        if len(set(parts)) > 1:
            verb = "adds" if isinstance(self, Sum) else "mixes"
            raise DimensionError(f"{self} {verb} quantities of dimensions {[tuple(map(str, p)) for p in parts]}")
        return parts[0] if parts else (Fraction(0), Fraction(0))

    def to_sympy(self) -> sp.Expr:
        """The same formula for sympy, with the domains of its symbols."""
        import sympy as sp

        if isinstance(self, Number):
            return sp.Rational(self.exact.numerator, self.exact.denominator)
        if isinstance(self, Symbol):
            return sp.Symbol(self.name, **self.assumptions)
        if isinstance(self, Power):
            return sp.Pow(self.base.to_sympy(), sp.Rational(*self.exponent.as_integer_ratio()))
        parts = [part.to_sympy() for part in self.args]
        if isinstance(self, Sum | Product):
            return sp.Add(*parts) if isinstance(self, Sum) else sp.Mul(*parts)
        if isinstance(self, Raised):
            return sp.Pow(*parts)
        if isinstance(self, Maximum):
            return sp.Max(*parts)
        if isinstance(self, Choice):
            relation = {"<=": sp.Le, "<": sp.Lt, ">=": sp.Ge, ">": sp.Gt}[self.op](parts[0], parts[1])
            return sp.Piecewise((parts[2], relation), (parts[3], True))
        if cast(Special, self).name == "sine":
            return sp.sin(sp.pi / (2 * parts[0]))
        return sp.Function(cast(Special, self).name)(*parts)


class Number(Expr):
    """An exact rational."""

    __slots__ = ()

    @property
    def exact(self) -> Fraction:
        """The number itself."""
        return cast(Fraction, self.key[0])


class Symbol(Expr):
    """A declared quantity; `hflbounds.core.quantities` makes these, nobody else."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The keyword argument this symbol stands for."""
        return cast(str, self.key[0])

    @property
    def assumptions(self) -> dict[str, bool]:
        """What sympy may assume of it."""
        return dict(self.key[1])


class Sum(Expr):
    """A sum, in the order in which it was written."""

    __slots__ = ()

    @property
    def args(self) -> tuple[Expr, ...]:
        """The summands."""
        return self.key


class Product(Expr):
    """A product, in the order in which it was written."""

    __slots__ = ()

    @property
    def args(self) -> tuple[Expr, ...]:
        """The factors."""
        return self.key


class Power(Expr):
    """A rational power."""

    __slots__ = ()

    @property
    def base(self) -> Expr:
        """What is raised."""
        return cast(Expr, self.key[0])

    @property
    def exponent(self) -> Fraction:
        """To which power."""
        return cast(Fraction, self.key[1])

    @property
    def args(self) -> tuple[Expr, ...]:
        """The base."""
        return (self.base,)


class Raised(Expr):
    """A positive formula to the power of another, such as ``4**G``; `Power` is for numbers as exponents."""

    __slots__ = ()

    @property
    def args(self) -> tuple[Expr, ...]:
        """Base and exponent."""
        return self.key

    def _rebuilt(self, args: tuple[Expr, ...]) -> Expr:
        return raised(*args)

    def _of(self, parts: list[Any]) -> Any:
        return parts[0] ** parts[1]


class Maximum(Expr):
    """The largest of some formulas."""

    __slots__ = ()

    @property
    def args(self) -> tuple[Expr, ...]:
        """The formulas."""
        return self.key

    def _rebuilt(self, args: tuple[Expr, ...]) -> Expr:
        return maximum(*args)

    def _of(self, parts: list[Any]) -> Any:
        return max(parts)


class Choice(Expr):
    """One formula where a condition holds, another where not; for the 0/0 of a definition, not for bounds."""

    __slots__ = ()

    @property
    def op(self) -> str:
        """The sign of the condition."""
        return cast(str, self.key[0])

    @property
    def args(self) -> tuple[Expr, ...]:
        """Both sides of the condition, then the two formulas."""
        return self.key[1:]

    def _rebuilt(self, args: tuple[Expr, ...]) -> Expr:
        return Choice(self.op, *args)

    def value(self, numbers: Mapping[str, float]) -> float:
        """As of any formula; what is not chosen is not looked at."""
        lhs, rhs, then, otherwise = self.args
        chosen = Relation.TESTS[self.op](lhs.value(numbers), rhs.value(numbers))
        return (then if chosen else otherwise).value(numbers)


class Special(Expr):
    """A named function of `hflbounds.core.functions`."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Its name there."""
        return cast(str, self.key[0])

    @property
    def args(self) -> tuple[Expr, ...]:
        """Its arguments."""
        return self.key[1:]

    def _rebuilt(self, args: tuple[Expr, ...]) -> Expr:
        return Special(self.name, *args)

    def _of(self, parts: list[Any]) -> Any:
        return functions.SCALAR[self.name](*parts)


class Relation:
    """A condition such as ``eta_eff <= 1 / (10 * L)``."""

    __slots__ = ("lhs", "op", "rhs")

    TESTS: ClassVar[dict[str, Callable[[Any, Any], Any]]] = {
        "<=": np.less_equal,
        "<": np.less,
        ">=": np.greater_equal,
        ">": np.greater,
    }

    ORDERS: ClassVar[dict[str, Callable[[Any, Any], bool]]] = {  # the same of anything that has an order
        "<=": operator.le,
        "<": operator.lt,
        ">=": operator.ge,
        ">": operator.gt,
    }

    def __init__(self, lhs: Expr, op: str, rhs: Expr) -> None:
        self.lhs, self.op, self.rhs = lhs, op, rhs

    def __str__(self) -> str:
        return f"{self.lhs} {self.op} {self.rhs}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Relation) and (self.lhs, self.op, self.rhs) == (other.lhs, other.op, other.rhs)

    def __hash__(self) -> int:
        return hash((self.lhs, self.op, self.rhs))

    def __bool__(self) -> bool:
        raise TypeError(f"the condition {self} has no truth value before numbers are put in")

    @property
    def strict(self) -> bool:
        """Whether equality is excluded."""
        return "=" not in self.op

    @property
    def symbols(self) -> frozenset[Symbol]:
        """Every symbol on either side."""
        return self.lhs.symbols | self.rhs.symbols

    def holds(self, lhs: Any, rhs: Any) -> Any:
        """Truth for the values of the two sides, elementwise."""
        return self.TESTS[self.op](lhs, rhs)


class DimensionError(ValueError):
    """Quantities of different dimensions were added."""


def as_expr(value: Expr | Exact) -> Expr:
    """An expression from a number that is exact.

    Raises:
        TypeError: for floats, which are not exact, and for anything else.
    """
    if isinstance(value, Expr):
        return value
    if type(value) is int:
        return _whole(value)
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return Number(Fraction(value))
    raise TypeError(f"{value!r} is not exact: write whole numbers and Fractions in a formula")


@lru_cache(maxsize=256)
def _whole(value: int) -> Number:
    """A whole number: most of those in formulas are few, and hashing a fraction takes long."""
    return Number(Fraction(value))


def add(*parts: Expr | Exact) -> Expr:
    """A sum; zeros are left out, nothing else is simplified."""
    kept: list[Expr] = []
    for part in map(as_expr, parts):
        kept.extend(part.args if isinstance(part, Sum) else () if _is(part, 0) else (part,))
    return as_expr(0) if not kept else kept[0] if len(kept) == 1 else Sum(*kept)


def mul(*parts: Expr | Exact) -> Expr:
    """A product; its pure number is gathered in front, a zero makes it zero, nothing else is simplified."""
    one = number = _whole(1)
    kept = list[Expr]()
    for part in map(as_expr, parts):
        for factor in part.args if isinstance(part, Product) else (part,):
            if not isinstance(factor, Number):
                kept.append(factor)
            elif number is one:
                number = factor
            else:
                number = Number(number.exact * factor.exact)
    if not number.exact:
        return number
    if number is not one:
        kept.insert(0, number)
    return as_expr(1) if not kept else kept[0] if len(kept) == 1 else Product(*kept)


def power(base: Expr | Exact, exponent: Exact) -> Expr:
    """A rational power of anything positive."""
    if isinstance(exponent, bool) or not isinstance(exponent, int | Fraction):
        raise TypeError(f"the exponent {exponent!r} is not exact: write a whole number or a Fraction")
    base = as_expr(base)
    if exponent.denominator == 1:
        if exponent == 0:
            return as_expr(1)
        if exponent == 1:
            return base
        if exponent == -1 and isinstance(base, Number):
            return Number(1 / base.exact)
        exponent = _whole(int(exponent)).exact
    return base if _is(base, 1) else Power(base, exponent)


def sqrt(value: Expr | Exact) -> Expr:
    """The square root."""
    return power(value, HALF)


def cbrt(value: Expr | Exact) -> Expr:
    """The cube root."""
    return power(value, THIRD)


def raised(base: Expr | Exact, exponent: Expr | Exact) -> Expr:
    """A positive formula to the power of another."""
    base, exponent = as_expr(base), as_expr(exponent)
    if isinstance(exponent, Number):
        return power(base, exponent.exact)
    return Raised(base, exponent)


def maximum(*parts: Expr | Exact) -> Expr:
    """The largest of some formulas.

    >>> from hflbounds.core.quantities import G, M
    >>> maximum(G, 2 * M)
    <maximum(G, 2*M)>
    """
    kept = tuple(map(as_expr, parts))
    return kept[0] if len(kept) == 1 else Maximum(*kept)


def choice(condition: Relation, then: Expr | Exact, otherwise: Expr | Exact) -> Expr:
    """``then`` where the condition holds, ``otherwise`` where not.

    >>> from hflbounds.core.quantities import G
    >>> choice(G <= 1, 0, 1 / (G - 1))
    <choose(G <= 1, 0, 1/(G - 1))>
    """
    return Choice(condition.op, condition.lhs, condition.rhs, as_expr(then), as_expr(otherwise))


def special(name: str, *args: Expr | Exact) -> Expr:
    """A function of `hflbounds.core.functions`, by its name there.

    Raises:
        KeyError: if there is none.
    """
    if name not in functions.SCALAR:
        raise KeyError(f"no function is called {name!r}; known are {', '.join(functions.SCALAR)}")
    return Special(name, *map(as_expr, args))


@sine.register
def _exact_sine(parts: Expr | Fraction) -> Expr:
    """As a formula, which is exact."""
    return special("sine", parts)


@lru_cache(maxsize=4096)
def compile_many(
    arguments: tuple[Symbol, ...], expressions: tuple[Expr, ...]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """One function of the arguments that returns the tuple of values, compiled once.

    Parts that occur more than once are computed once. The text that is compiled is written here from
    declared names and rational numbers alone.

    Returns:
        the function for Python floats, and the same for arrays of one shape (or scalars).
    """
    return _compiled([a.name for a in arguments], {}, expressions)


@lru_cache(maxsize=1024)
def compile_along(
    variable: Symbol, others: tuple[Symbol, ...], expressions: tuple[Expr, ...]
) -> tuple[Callable[..., Callable[[Any], Any]], Callable[..., Callable[[Any], Any]]]:
    """As `compile_many`, for many values of one argument: what is free of it is worked out once.

    Returns:
        a function of the others that returns a function of the variable: for floats, and for arrays.
    """
    fixed: dict[Expr, str] = {}
    for expression in expressions:
        _name_fixed(expression, variable, fixed)
    firsts = compile_many(others, tuple(fixed))
    formulas = _compiled([variable.name, *fixed.values()], fixed, expressions)

    def both(first: Callable[..., Any], formula: Callable[..., Any]) -> Callable[..., Callable[[Any], Any]]:
        def prepared(*values: Any) -> Callable[[Any], Any]:
            known = first(*values)
            return lambda x: formula(x, *known)

        return prepared

    return both(firsts[0], formulas[0]), both(firsts[1], formulas[1])


def _name_fixed(expression: Expr, variable: Symbol, fixed: dict[Expr, str]) -> None:
    """Name the largest parts that are free of the variable; a product still divides by what it divided by."""
    if expression in fixed or isinstance(expression, Number):
        return
    if isinstance(expression, Power) and expression.exponent < 0:
        _name_fixed(expression.base, variable, fixed)
    elif variable not in expression.symbols:
        fixed[expression] = f"_{len(fixed)}"
    else:
        for part in expression.args:
            _name_fixed(part, variable, fixed)


def _compiled(
    arguments: list[str], named: Mapping[Expr, str], expressions: tuple[Expr, ...]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions of `compile_many`, where some parts have a name already."""
    names: dict[Expr, str] = dict(named)
    counts: dict[Expr, int] = {}
    for expression in expressions:
        _count(expression, names, counts)
    lines: list[str] = []
    for expression in expressions:
        _name_shared(expression, counts, names, lines)
    values = ", ".join(_write(e, names) for e in expressions)
    comma = "," if expressions else ""
    body = "".join(f"    {line}\n" for line in lines) + f"    return ({values}{comma})\n"
    text = f"def formula({', '.join(arguments)}):\n{body}"
    code = compile(text, "<hflbounds formula>", "exec")
    made = []
    for known in (functions.FOR_FLOATS, functions.FOR_ARRAYS):
        scope: dict[str, Any] = dict(known)
        exec(code, scope)  # noqa: S102 - our own text, see above
        made.append(scope["formula"])
    return made[0], made[1]


def _count(expression: Expr, known: Mapping[Expr, str], counts: dict[Expr, int]) -> None:
    counts[expression] = counts.get(expression, 0) + 1
    if counts[expression] == 1 and expression not in known:
        for part in expression.args:
            _count(part, known, counts)


def _name_shared(expression: Expr, counts: dict[Expr, int], names: dict[Expr, str], lines: list[str]) -> None:
    """Give a local name to whatever is used twice."""
    if expression in names or not expression.args:
        return
    for part in expression.args:
        _name_shared(part, counts, names, lines)
    if counts[expression] > 1:
        text = _write(expression, names)
        names[expression] = f"_{len(names)}"
        lines.append(f"{names[expression]} = {text}")


def _write(expression: Expr, names: Mapping[Expr, str]) -> str:
    """Python text of a formula, with local names for the parts that have one."""
    if expression in names:
        return names[expression]
    if isinstance(expression, Number):
        text = str(expression.exact)
        return text if expression.exact >= 0 and "/" not in text else f"({text})"
    if isinstance(expression, Symbol):
        return expression.name
    if isinstance(expression, Sum):
        first, *others = expression.args
        text = _write(first, names)
        for part in others:
            negated = _negated(part) if part not in names else None
            text += f" + {_write(part, names)}" if negated is None else f" - {_subtrahend(negated, names)}"
        return text
    if isinstance(expression, Power):
        return _write_power(expression.base, expression.exponent, names)
    if isinstance(expression, Raised):
        return "**".join(f"({_write(part, names)})" for part in expression.args)
    if isinstance(expression, Maximum):
        return f"maximum({', '.join(_write(part, names) for part in expression.args)})"
    if isinstance(expression, Choice):
        lhs, rhs, then, otherwise = (_write(part, names) for part in expression.args)
        return f"choose({lhs} {expression.op} {rhs}, {then}, {otherwise})"
    if isinstance(expression, Special):
        return f"{expression.name}({', '.join(_write(part, names) for part in expression.args)})"
    above, below = [], []
    for part in expression.args:
        inverted = isinstance(part, Power) and part.exponent < 0 and part not in names
        if isinstance(part, Number) and part.exact.denominator != 1 and part not in names:
            above.append(as_expr(part.exact.numerator))
            below.append(as_expr(part.exact.denominator))
        elif inverted:
            base = cast(Power, part)
            inner = power(base.base, -base.exponent)
            below.extend(inner.args if isinstance(inner, Product) and inner not in names else (inner,))
        else:
            above.append(part)
    shown = [part for part in above if not _is(part, 1)]
    top = "*".join(_atom(part, names) for part in shown) or "1"
    if not below:
        return top
    under = "*".join(_atom(part, names) for part in below)
    return f"{top}/{under}" if len(below) == 1 else f"{top}/({under})"


def _write_power(base: Expr, exponent: Fraction, names: Mapping[Expr, str]) -> str:
    if exponent < 0:
        return f"1/{_atom(power(base, -exponent), names)}"
    root = ROOTS.get(Fraction(1, exponent.denominator))
    if root is not None:
        inner = f"{root}({_write(base, names)})"
        return inner if exponent.numerator == 1 else f"{inner}**{exponent.numerator}"
    text = _atom(base, names)
    if isinstance(base, Power) and base not in names:
        text = f"({text})"  # ** binds to the right
    return f"{text}**{exponent}" if exponent.denominator == 1 else f"{text}**({exponent})"


def _subtrahend(expression: Expr, names: Mapping[Expr, str]) -> str:
    text = _write(expression, names)
    return f"({text})" if isinstance(expression, Sum) and expression not in names else text


def _atom(expression: Expr, names: Mapping[Expr, str]) -> str:
    text = _write(expression, names)
    bare = expression in names or isinstance(expression, Symbol | Number)
    return text if bare or (isinstance(expression, Power) and expression.exponent > 0) else f"({text})"


def _negated(expression: Expr) -> Expr | None:
    if isinstance(expression, Number) and expression.exact < 0:
        return Number(-expression.exact)
    if isinstance(expression, Product):
        first, *others = expression.args
        if isinstance(first, Number) and first.exact < 0:
            return mul(-first.exact, *others)
    return None


def _is(expression: Expr, value: int) -> bool:
    return expression is _whole(value)  # equal expressions are the same object


def _rational(expression: Expr) -> Fraction | None:
    """The value of an expression without symbols, where it is rational."""
    if isinstance(expression, Number):
        return expression.exact
    parts = [_rational(part) for part in expression.args]
    if any(part is None for part in parts):
        return None
    known = cast(list[Fraction], parts)
    if isinstance(expression, Sum):
        return sum(known, Fraction(0))
    if isinstance(expression, Product):
        return reduce(lambda x, y: x * y, known, Fraction(1))
    if isinstance(expression, Power) and expression.exponent.denominator == 1:
        return known[0] ** int(expression.exponent)
    return None


def _log10(expression: Expr, numbers: Mapping[str, float]) -> tuple[int, float]:
    if isinstance(expression, Product):
        parts = [_log10(part, numbers) for part in expression.args]
        sign = math.prod(sign for sign, _ in parts)
        return (sign, sum(size for _, size in parts)) if sign else (0, -math.inf)
    if isinstance(expression, Sum):
        parts = [p for p in (_log10(part, numbers) for part in expression.args) if p[0]]
        if not parts:
            return 0, -math.inf
        top = max(size for _, size in parts)
        total = math.fsum(sign * 10.0 ** (size - top) for sign, size in parts)
        return (0, -math.inf) if total == 0 else (1 if total > 0 else -1, top + math.log10(abs(total)))
    if isinstance(expression, Power):
        sign, size = _log10(expression.base, numbers)
        exponent = expression.exponent
        if sign == 0:
            return (0, -math.inf) if exponent > 0 else (1, math.inf)
        odd = exponent.denominator == 1 and exponent.numerator % 2 == 1
        return (sign if odd else 1), size * float(exponent)
    if isinstance(expression, Raised):
        sign, size = _log10(expression.args[0], numbers)
        times = expression.args[1].value(numbers)
        return (sign, size * times) if sign else ((1, 0.0) if times == 0 else (0, -math.inf))
    if isinstance(expression, Maximum):
        parts = [_log10(part, numbers) for part in expression.args]
        return max(parts, key=lambda part: (part[0], part[0] * part[1] if part[0] else 0.0))
    if isinstance(expression, Choice):
        lhs, rhs, then, otherwise = expression.args
        holds = Relation.TESTS[expression.op](lhs.value(numbers), rhs.value(numbers))
        return _log10(then if holds else otherwise, numbers)
    value = expression.value(numbers)
    return (0, -math.inf) if value == 0 else (1 if value > 0 else -1, math.log10(abs(value)))
