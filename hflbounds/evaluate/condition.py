"""When is one bound smaller than another, at one common step: the exact condition, where algebra settles it.

Every quantity is at least 0 and every count at least 1. A polynomial in what they exceed this by, all of whose
coefficients are positive, is positive; so is the sign of a difference found, after what it is known to be a multiple of
has been divided out. Where that leaves a polynomial of both signs, the condition is that its positive part is below
its negative part.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from math import lcm
from typing import TYPE_CHECKING, Any, Literal

from hflbounds.core.bound import Bound
from hflbounds.core.expression import Expr, Maximum, Power, Product, Raised, Relation, Special, Sum, add, mul
from hflbounds.core.quantities import ABOUT, eta_eff

if TYPE_CHECKING:
    import sympy as sp

Settled = Literal["first", "second", "equal", "depends", "open"]
Road = Literal["difference", "powers", "terms", ""]
BEYOND = (Maximum, Raised, Special)  # kinds of formulas whose order is no matter of polynomials
LARGEST = 4000  # summands of an expanded polynomial; more are not looked at
POINTS = 12  # at which an expression of both signs is seen to be one
DEVIATIONS = ("sigma", "zeta", "delta", "H", "sigma_s", "sigma_g", "Gamma", "Delta0")
"""Quantities by which a condition is split first, so that counts stay together."""


@dataclass(frozen=True)
class Condition:
    """When the first of two bounds is the smaller one, at every step that both allow.

    Attributes:
        smaller: ``first`` or ``second``, whatever the quantities are; ``equal``; ``depends``, on whether
            ``left < right``; or ``open``, where algebra settles nothing.
        left: smaller than ``right`` exactly where the first bound is the smaller one; None unless it depends.
        right: see ``left``.
        equal_where: factors of the difference that can vanish, where one bound is never the larger one.
        road: how it was found: from the sign of the ``difference``, from that of ``powers`` of the two sides, or
            ``terms`` by terms of one name.
    """

    smaller: Settled
    left: sp.Expr | None = None
    right: sp.Expr | None = None
    equal_where: tuple[sp.Expr, ...] = ()
    road: Road = ""

    @property
    def symbols(self) -> frozenset[str]:
        """Names of the quantities that it depends on."""
        sides = (self.left, self.right) if self.left is not None and self.right is not None else ()
        return frozenset(symbol.name for side in sides for symbol in side.free_symbols)


@dataclass(frozen=True)
class Threshold:
    """The one value of a quantity at which the order of two bounds changes.

    Attributes:
        below: whether the first bound is the smaller one below it, or above it.
        power: of the quantity that is compared.
        value: with that power of the quantity; it is positive where there is a change at all.
        under: denominator of ``value`` where it can be 0: then the order is that of both sides times it. Else 1.
    """

    below: bool
    power: int
    value: sp.Expr
    under: sp.Expr | int = 1

    @property
    def root(self) -> sp.Expr:
        """The value of the quantity itself."""
        import sympy as sp

        return sp.powdenest(sp.root(self.value, self.power), force=True)

    def as_data(self) -> dict[str, int | str | None]:
        """The threshold for programs."""
        side, zero = "below" if self.below else "above", None if self.under == 1 else str(self.under)
        return {"first_is_smaller": side, "power": self.power, "value": str(self.value), "no_value_where_zero": zero}


def condition(a: Bound, b: Bound, values: Mapping[str, float] | None = None) -> Condition:
    """When ``a`` is smaller than ``b``, at one common step.

    Args:
        a: the first bound.
        b: the second, of the same metric.
        values: numbers of quantities, put in before it is looked at; all or some.
    """
    left, right = differing(a, b)
    if not left and not right:
        return Condition("equal")
    beyond = any(isinstance(part, BEYOND) for t in (*left, *right) for part in t.walk())
    if beyond and not len(left) == len(right) == 1:
        return Condition("open")
    signs = _Signs(a, b, values or {})
    if beyond:
        return Condition(_from_parts(left[0], right[0], signs), road="terms")
    found = _from_difference(signs.put(left), signs.put(right), signs)
    if found.smaller == "open" and len(left) == len(right) == 1:
        found = _from_powers(left[0], right[0], signs)
    return _termwise(a, b, signs) if found.smaller == "open" else found


def threshold(found: Condition, name: str, a: Bound, b: Bound) -> Threshold | None:
    """The value of one quantity at which a condition turns, where only one power of it occurs."""
    import sympy as sp

    if found.left is None or found.right is None or name not in found.symbols:
        return None
    difference = sp.expand(found.left - found.right)
    symbol = next(s for s in difference.free_symbols if s.name == name)
    if not difference.is_polynomial(symbol):
        return None
    powers = [(degree[0], coefficient) for degree, coefficient in sp.Poly(difference, symbol).terms()]
    if len(powers) != 2:
        return None
    (high, above), (low, below) = powers
    signs = _Signs(a, b, {})
    sign = signs.of(above)
    if not sign:
        return None
    value = sp.factor(sp.cancel(-below / above))
    under = sp.fraction(value)[1]
    under = 1 if signs.strictly(under) else under * signs.of_product(under)
    return Threshold(sign > 0, high - low, _without_sign(value), under)


def _without_sign(product: sp.Expr) -> sp.Expr:
    """The same with a minus in front taken into a sum, ``25 - 6 P`` for ``-(6 P - 25)``."""
    import sympy as sp

    parts = list(sp.Mul.make_args(product))
    at = next((i for i, part in enumerate(parts) if part.is_Add), None)
    if at is None or not product.could_extract_minus_sign():
        return product
    return sp.Mul(-1, *parts[:at], sp.expand(-parts[at]), *parts[at + 1 :])


def differing(a: Bound, b: Bound) -> tuple[list[Expr], list[Expr]]:
    """The terms of either bound that the other has not."""
    one, other = list(a.terms.values()), list(b.terms.values())
    for term in a.terms.values():
        if term in other:
            one.remove(term)
            other.remove(term)
    return one, other


def _from_difference(left: sp.Expr, right: sp.Expr, signs: _Signs) -> Condition:
    import sympy as sp

    if (left - right).has(sp.Piecewise, sp.Max, sp.core.function.AppliedUndef):
        return Condition("open")
    above, below = sp.fraction(sp.together(left - right))
    if sp.expand(above) == 0:
        return Condition("equal")
    under = signs.of_product(below)
    if not under or not _is_polynomial(above):
        return Condition("open")
    number, factors = sp.factor_list(above)
    known = int(sp.sign(number)) * under
    zeros, unknown = [], []
    for factor, exponent in factors:
        sign = signs.of(factor)
        if sign:
            known *= sign**exponent
            if not signs.strictly(factor):
                zeros.append(factor * sign)
        elif exponent % 2:
            unknown.append(factor)
        else:
            zeros.append(factor)
    if not unknown:
        return Condition("first" if known < 0 else "second", equal_where=tuple(zeros), road="difference")
    rest = sp.expand(sp.Mul(*unknown) * known)
    positive, negative = signs.sides(rest)
    if 0 in (positive, negative):
        return Condition("first" if positive == 0 else "second", equal_where=(*zeros, *unknown), road="difference")
    return Condition("depends", positive, negative, tuple(zeros), "difference")


def _from_powers(left: Expr, right: Expr, signs: _Signs) -> Condition:
    """From one term against one, as roots of the same kind of formula have the order of these formulas."""
    exponents = [part.exponent.denominator for t in (left, right) for part in _factors(t) if isinstance(part, Power)]
    common = reduce(lcm, exponents, 1)
    if common == 1:
        return Condition("open")
    found = _from_difference(signs.put([_raised(left, common)]), signs.put([_raised(right, common)]), signs)
    return Condition(found.smaller, found.left, found.right, found.equal_where, "powers")


def _raised(term: Expr, times: int) -> Expr:
    """A product to a whole power, root by root, so that what stands in roots becomes polynomial."""
    result: Expr = add(1)
    for part in _factors(term):
        result = result * (part.base ** (part.exponent * times) if isinstance(part, Power) else part**times)
    return result


def _factors(term: Expr) -> tuple[Expr, ...]:
    return term.args if isinstance(term, Product) else (term,)


def _from_parts(left: Expr, right: Expr, signs: _Signs) -> Settled:
    """From what two products do not share, and argument by argument where that is a maximum."""
    shared = [part for part in _factors(left) if part in _factors(right) and signs.not_negative(part)]
    one, other = ([part for part in _factors(term) if part not in shared] for term in (left, right))
    if len(one) == len(other) == 1 and isinstance(one[0], Maximum) and isinstance(other[0], Maximum):
        pairs = zip(one[0].args, other[0].args, strict=False)
        orders = {_from_parts(*pair, signs) for pair in pairs if pair[0] != pair[1]}
        return orders.pop() if len(orders) == 1 and len(one[0].args) == len(other[0].args) else "open"
    if any(isinstance(part, BEYOND) for factor in (*one, *other) for part in factor.walk()):
        return "open"
    found = _from_difference(signs.put([mul(*one)]), signs.put([mul(*other)]), signs)
    return "open" if found.smaller == "depends" else found.smaller


def _termwise(a: Bound, b: Bound, signs: _Signs) -> Condition:
    """From terms of one name, where they all have one order; a name that the other lacks is 0 there."""
    orders, zeros = set(), []
    for name in dict.fromkeys([*a.terms, *b.terms]):
        left, right = a.terms.get(name), b.terms.get(name)
        if left is right:
            continue
        if left is None or right is None:
            orders.add("second" if right is None else "first")
            continue
        found = _from_difference(signs.put([left]), signs.put([right]), signs)
        found = _from_powers(left, right, signs) if found.smaller == "open" else found
        if found.smaller != "equal":
            orders.add(found.smaller)
            zeros.append(found.equal_where)
    if len(orders) != 1 or orders & {"open", "depends"} or a.signed or b.signed:
        return Condition("open")
    (smaller,) = orders
    return Condition(smaller, equal_where=zeros[0] if len(zeros) == 1 else (), road="terms")  # type: ignore[arg-type]


def _is_polynomial(expression: sp.Expr) -> bool:
    return bool(expression.is_polynomial(*expression.free_symbols))


class _Signs:
    """Signs of rational functions over what the quantities of two bounds may be, with some of them given."""

    def __init__(self, a: Bound, b: Bound, values: Mapping[str, float]) -> None:
        import sympy as sp

        self.given = {
            name: sp.Integer(int(number)) if number == int(number) else sp.Rational(repr(number))
            for name, number in ((name, float(number)) for name, number in values.items())
        }
        self.cap = self._smallest_cap(a, b)
        self.cap_symbols = frozenset() if self.cap is None else self.cap.free_symbols
        self.known: dict[sp.Expr, int] = {}
        for relation in dict.fromkeys((*a.requires, *b.requires)):
            self._learn(relation)

    def put(self, terms: Iterable[Expr]) -> sp.Expr:
        """The sum of terms, with the numbers that are given."""
        import sympy as sp

        total = sp.Add(*(term.to_sympy() for term in terms))
        return total.subs({s: self.given[s.name] for s in total.free_symbols if s.name in self.given})

    def of(self, expression: sp.Expr) -> int:
        """Its sign wherever the bounds are about, 0 allowed; 0 where it is not known to have one."""
        if expression not in self.known:
            seen = filter(None, self._seen(expression))
            first = next(seen, 0)
            mixed = any(found != first for found in seen)
            self.known[expression] = 0 if mixed else _common_sign(self._expanded(expression))
        return self.known[expression]

    def of_product(self, expression: sp.Expr) -> int:
        """Its sign, factor by factor; 0 where one of them is not known to have one."""
        import sympy as sp

        if not _is_polynomial(expression):
            return self.of(expression)
        number, factors = sp.factor_list(expression)
        return int(sp.sign(number) * math.prod(self.of(factor) ** exponent for factor, exponent in factors))

    def not_negative(self, formula: Expr) -> bool:
        """Whether a sum or product is known to be at least 0, part by part where it has exponentials."""
        if not any(isinstance(part, BEYOND) for part in formula.walk()):
            return self.of_product(self.put([formula])) == 1
        parts = isinstance(formula, Sum | Product) and all(map(self.not_negative, formula.args))
        return isinstance(formula, Raised) or parts

    def _learn(self, condition: Relation) -> None:
        """Note the sign that a condition gives to what its sides differ by, where that is one factor."""
        import sympy as sp

        low, high = (condition.lhs, condition.rhs) if condition.op.startswith("<") else (condition.rhs, condition.lhs)
        above, below = sp.fraction(sp.together(self.put([high]) - self.put([low])))
        if _is_polynomial(above) and above.free_symbols and (under := self.of(below)):
            number, factors = sp.factor_list(above)
            if len(factors) == 1 and factors[0][1] == 1:
                self.known[factors[0][0]] = int(sp.sign(number)) * under

    def _seen(self, expression: sp.Expr) -> Iterator[int]:
        """Its signs at a few points, so that what has none is not expanded."""
        import sympy as sp

        symbols = {s.name: s for s in expression.free_symbols}
        for seed in range(POINTS):
            rng = random.Random(seed)  # noqa: S311 - points to look at
            point: dict[str, sp.Rational] = {}  # exact, as rounding gives what is zero at a point a sign
            names = sorted({*symbols, *(s.name for s in self.cap_symbols)})
            for name in sorted(names, key=lambda n: ABOUT[n].at_most is None):
                count = ABOUT[name].domain in ("count", "whole")
                drawn = float(rng.choice((1, 2, 3, 10, 60))) if count else 10 ** rng.uniform(-2, 2)
                drawn = _short(rng.random() if ABOUT[name].domain == "share" else drawn)
                point[name] = max(drawn, point.get(name, drawn))
                most = ABOUT[name].at_most
                if most is not None:
                    point[most] = point[name] * rng.choice((1, 4))
            if eta_eff.name in symbols and self.cap is not None:
                cap = self.cap.xreplace({s: point[s.name] for s in self.cap_symbols})
                point[eta_eff.name] = _short(0.99 * float(cap) * rng.random())
            value = expression.xreplace({s: point[name] for name, s in symbols.items()})
            yield int(sp.sign(value)) if value.is_number and value.is_real else 0

    def strictly(self, expression: sp.Expr) -> bool:
        """Whether an expression with a sign vanishes nowhere, where positive quantities are positive."""
        above = self._expanded(expression)
        if above is None:
            return False
        may_be_zero = [i for i, symbol in enumerate(above.ring.symbols) if not symbol.is_positive]
        return any(not any(powers[i] for i in may_be_zero) for powers in above.itermonoms())

    def sides(self, polynomial: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        """Two sums with positive terms whose difference it is, with as much in one piece as has one sign."""
        import sympy as sp

        sign = self.of(polynomial)
        if sign:
            whole = sp.factor(sign * polynomial)
            return (whole, sp.Integer(0)) if sign > 0 else (sp.Integer(0), whole)
        symbols = sorted(polynomial.free_symbols, key=lambda s: (s.name not in DEVIATIONS, list(ABOUT).index(s.name)))
        splits: dict[sp.Symbol, list[sp.Expr]] = {}
        for symbol in symbols:
            parts = [c * symbol ** degree[0] for degree, c in sp.Poly(polynomial, symbol).terms()]
            splits |= {symbol: parts} if len(parts) > 1 else {}
            if splits and symbol.name in DEVIATIONS:
                break
        first, *_ = splits
        few = sorted(splits, key=lambda s: len(splits[s]))
        clean = next((s for s in few if all(map(self.of, splits[s]))), first) if first.name not in DEVIATIONS else first
        chosen = splits[clean]
        pairs = [self.sides(part) for part in chosen]
        return sp.Add(*(pair[0] for pair in pairs)), sp.Add(*(pair[1] for pair in pairs))

    def _expanded(self, expression: sp.Expr) -> Any:
        """The numerator as a polynomial in what quantities exceed their least values by; None where it is none.

        Its denominator is a product of what is positive.
        """
        import sympy as sp

        put: dict[Any, Any] = {}
        symbols = {s.name: s for s in expression.free_symbols}
        if eta_eff.name in symbols and self.cap is not None:
            # Below the cap: the cap over 1 + w. Other symbols of the cap come in with it.
            expression = expression.subs(symbols[eta_eff.name], self.cap / (1 + sp.Symbol("w", nonnegative=True)))
            symbols = {s.name: s for s in expression.free_symbols if s.name != "w"}
        for name in sorted(symbols, key=lambda n: ABOUT[n].at_most is None):  # the lower of a pair first
            about, symbol = ABOUT[name], symbols[name]
            if about.domain == "share":
                put[symbol] = 1 / (1 + sp.Symbol(f"{name}_less", nonnegative=True))
            elif about.domain == "count":
                put.setdefault(symbol, 1 + sp.Symbol(f"{name}_more", nonnegative=True))
            if about.at_most in symbols and about.domain != "share":
                least = put.get(symbol, symbol)
                put[symbols[about.at_most]] = least + sp.Symbol(f"{about.at_most}_over_{name}", nonnegative=True)
        above, below = sp.fraction(sp.together(expression.subs(put, simultaneous=True)))
        return _polynomial(above) if _common_sign(_polynomial(below)) == 1 else None

    def _smallest_cap(self, a: Bound, b: Bound) -> sp.Expr | None:
        """The smaller of the caps on the step, where they are multiples of each other; else one of them."""
        import sympy as sp

        caps = [self.put([c.rhs]) for x in (a, b) for c in x.requires if c.lhs is eta_eff and c.op in ("<=", "<")]
        if not caps:
            return None
        smallest = caps[0]
        for cap in caps[1:]:
            ratio = sp.simplify(cap / smallest)
            if ratio.is_number and ratio < 1:
                smallest = cap
        return smallest


def _short(number: float) -> sp.Rational:
    """A fraction of three digits near a number."""
    import sympy as sp

    return sp.Rational(f"{number:.3g}")


def _polynomial(expression: sp.Expr) -> Any:
    """The expression as an element of a ring of polynomials, multiplied out there; None where it is none."""
    import sympy as sp

    if not _is_polynomial(expression):
        return None
    symbols = sorted(expression.free_symbols, key=str) or [sp.Symbol("w", nonnegative=True)]
    roots = {p: sp.Dummy() for p in expression.atoms(sp.Pow) if p.base.is_Integer and not p.exp.is_Integer}
    ring, *_ = sp.ring([*symbols, *roots.values()], sp.QQ)
    found = ring.from_expr(expression.xreplace(roots))
    if not roots:
        return found
    parts: dict[tuple[int, ...], sp.Expr] = {}  # roots of numbers are multiplied out as symbols, and put in
    for powers, number in found.iterterms():
        own, of_roots = powers[: len(symbols)], powers[len(symbols) :]
        term = sp.Mul(sp.QQ.to_sympy(number), *(root**power for root, power in zip(roots, of_roots, strict=True)))
        parts[own] = parts.get(own, sp.Integer(0)) + term
    return sp.ring(symbols, sp.EX)[0].from_dict({powers: sp.EX.from_sympy(c) for powers, c in parts.items() if c != 0})


def _common_sign(polynomial: Any) -> int:
    """The sign that all coefficients have; 0 where they differ, are too many, or there are none."""
    if not polynomial or len(polynomial) > LARGEST:
        return 0
    of, first = polynomial.ring.domain, polynomial.LC
    if of.is_QQ:
        return (1 if first > 0 else -1) * all((c > 0) == (first > 0) for c in polynomial.itercoeffs())
    numbers = [of.to_sympy(c) for c in polynomial.itercoeffs()]
    if all(c.is_positive for c in numbers):
        return 1
    return -1 if all(c.is_negative for c in numbers) else 0


__all__ = ["Condition", "Threshold", "condition", "differing", "threshold"]
