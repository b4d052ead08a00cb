"""LaTeX of a formula, in the order in which it is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import cast

from hflbounds.core.expression import (
    Choice,
    Expr,
    Maximum,
    Number,
    Power,
    Product,
    Raised,
    Relation,
    Special,
    Sum,
    Symbol,
    as_expr,
    mul,
    power,
)
from hflbounds.core.quantities import ABOUT

SIGNS = {"<=": r"\le", "<": "<", ">=": r"\ge", ">": ">"}
ROOT = Fraction(1, 2)
NUMBERED = re.compile(r"[A-Za-z]_(\{\d+\}|\d)")  # a constant with a number, such as c_1
NOTHING: Mapping[str, str] = MappingProxyType({})
NO_NUMBERS: Mapping[str, float] = MappingProxyType({})


def latex(
    formula: Expr | Relation,
    names: Mapping[Expr, str] = MappingProxyType({}),
    letters: Mapping[str, str] = NOTHING,
    numbers: Mapping[str, float] = NO_NUMBERS,
) -> str:
    r"""LaTeX for mathematics mode, which pdflatex with amsmath and KaTeX both read.

    Args:
        formula: an expression or a condition.
        names: LaTeX for parts that have a name of their own, such as ``c_1``.
        letters: LaTeX, or a number, to write in place of a symbol's own LaTeX, by the symbol's name.
        numbers: of symbols, by name: choices that they decide are made, and factors of 1 and summands of 0 left out.

    >>> from hflbounds.core.quantities import L, P, eta_eff, zeta
    >>> latex(5 * L**2 * eta_eff**2 * zeta**2 / (12 * P**2))
    '\\frac{5 L^{2} \\tilde\\eta^{2} \\zeta^{2}}{12 P^{2}}'
    >>> latex(L * P**2, letters={"L": "0.5", "P": "10"})
    '0.5 \\cdot 10^{2}'
    >>> latex(3 * L + zeta * (P - 1), letters={"P": "1"}, numbers={"P": 1.0})
    '3 L'
    """
    return _written(formula, tuple(names.items()), tuple(letters.items()), tuple(numbers.items()))


def settled(formula: Expr | Relation, numbers: Mapping[str, float]) -> float | None:
    """The value of a formula, or of a condition whether it holds, where numbers decide it; else None."""
    if not formula.symbols or not all(symbol.name in numbers for symbol in formula.symbols):
        return None
    try:
        if isinstance(formula, Relation):
            return bool(formula.holds(formula.lhs.value(numbers), formula.rhs.value(numbers)))
        return formula.value(numbers)
    except ArithmeticError:
        return None


@lru_cache(maxsize=8192)  # formats and their parts ask for the terms of a bound again and again
def _written(
    formula: Expr | Relation,
    names: tuple[tuple[Expr, str], ...],
    letters: tuple[tuple[str, str], ...],
    numbers: tuple[tuple[str, float], ...],
) -> str:
    return _Writer(dict(names), dict(letters), dict(numbers)).write(formula)


def in_a_sum(terms: list[str]) -> str:
    """Terms one after the other, with the sign of each.

    >>> in_a_sum(["a", "-b", "c"])
    'a - b + c'
    """
    return terms[0] + "".join(f" - {t[1:].lstrip()}" if t.startswith("-") else f" + {t}" for t in terms[1:])


class _Writer:
    def __init__(self, names: Mapping[Expr, str], letters: Mapping[str, str], numbers: Mapping[str, float]) -> None:
        self.names, self.letters, self.numbers = names, letters, numbers

    def _is(self, part: Expr, value: int) -> bool:
        """Whether numbers make a part without a name of its own 0, or 1."""
        return bool(self.numbers) and part not in self.names and settled(part, self.numbers) == value

    def _chosen(self, part: Expr) -> Expr:
        """What numbers choose where a part without a name of its own is a choice that they decide; else the part."""
        if not isinstance(part, Choice) or part in self.names:
            return part
        lhs, rhs, then, otherwise = part.args
        holds = settled(Relation(lhs, part.op, rhs), self.numbers)
        return part if holds is None else self._chosen(then if holds else otherwise)

    def write(self, formula: Expr | Relation) -> str:
        if isinstance(formula, Relation):
            return f"{self.write(formula.lhs)} {SIGNS[formula.op]} {self.write(formula.rhs)}"
        if formula in self.names:
            return self.names[formula]
        if isinstance(formula, Number):
            return _number(formula.exact)
        if isinstance(formula, Symbol):
            return self._letter(formula)
        if isinstance(formula, Sum):
            left = [self._chosen(part) for part in formula.args if not self._is(part, 0)]
            if self.numbers:
                left = [part for part in left if self.write(part) != "0"]
            first, *others = left or [as_expr(0)]
            shown = (rf"\left({self.write(p)}\right)" if isinstance(p, Sum) else self.write(p) for p in others)
            return in_a_sum([self.write(first), *shown])
        if isinstance(formula, Power):
            return self._power(formula.base, formula.exponent)
        if isinstance(formula, Product):
            return self._product(formula)
        if isinstance(formula, Raised):
            base, exponent = formula.args
            return f"{self._base(base)}^{{{self.write(exponent)}}}"
        if (chosen := self._chosen(formula)) is not formula:
            return self.write(chosen)
        parts = [self.write(part) for part in formula.args]
        if isinstance(formula, Maximum):
            return rf"\max\left\{{{', '.join(parts)}\right\}}"
        if isinstance(formula, Choice):
            lhs, rhs, then, otherwise = parts
            when = rf"{then} & \text{{if }} {lhs} {SIGNS[formula.op]} {rhs}"
            return rf"\begin{{cases}} {when} \\ {otherwise} & \text{{otherwise}} \end{{cases}}"
        name = cast(Special, formula).name.replace("_", "")
        if name == "geometric":
            return rf"\sum_{{k=1}}^{{{parts[1]}}} {self._base(formula.args[0])}^k"
        if name == "sine":
            return rf"\sin\left(\frac{{\pi}}{{{self.write(2 * formula.args[0])}}}\right)"
        return rf"\operatorname{{{name}}}\left({', '.join(parts)}\right)"

    def _letter(self, symbol: Symbol) -> str:
        text = self.letters.get(symbol.name, ABOUT[symbol.name].latex)
        # A style would go on to the end of the formula.
        return f"{{{text}}}" if text.startswith(r"\textstyle") else text

    def _power(self, base: Expr, exponent: Fraction) -> str:
        if exponent < 0:
            return rf"\frac{{1}}{{{self.write(power(base, -exponent))}}}"
        if exponent == ROOT:
            return rf"\sqrt{{{self.write(base)}}}"
        if isinstance(base, Power) and base not in self.names:  # R^{2/3}, and no root of a square
            return self._power(base.base, base.exponent * exponent)
        return f"{self._base(base)}^{{{exponent}}}"

    def _base(self, base: Expr) -> str:
        base = self._chosen(base)
        shown = self.write(base)
        bare = isinstance(base, Symbol) or (isinstance(base, Number) and shown.isdigit()) or base in self.names
        return shown if bare and not _is_compound(shown) else rf"\left({shown}\right)"

    def _folded(self, formula: Product) -> list[Expr]:
        """The factors, with those that together have a name of their own back in one piece."""
        parts = list(formula.args)
        for known in self.names:
            if not isinstance(known, Product) or known is formula:
                continue
            number, *wanted = known.args if isinstance(known.args[0], Number) else (as_expr(1), *known.args)
            own, *rest = parts if isinstance(parts[0], Number) else (as_expr(1), *parts)
            if any(rest.count(part) < wanted.count(part) for part in wanted):
                continue
            at = rest.index(wanted[0])
            for part in wanted:
                rest.remove(part)
            quotient = mul(own, power(number, -1))
            parts = [*([] if quotient is as_expr(1) else [quotient]), *rest[:at], known, *rest[at:]]
        return parts

    def _product(self, formula: Product) -> str:
        above: list[Expr] = []
        below: list[Expr] = []
        sign = ""
        factors = [self._chosen(part) for part in self._folded(formula)]
        if any(self._is(part, 0) for part in factors):
            return "0"
        for part in factors:
            if isinstance(part, Number):
                sign = "-" if part.exact < 0 else ""
                above.append(as_expr(abs(part.exact.numerator)))
                below.append(as_expr(part.exact.denominator))
            elif isinstance(part, Power) and part.exponent < 0 and part not in self.names:
                inner = power(part.base, -part.exponent)
                flat = isinstance(inner, Product) and inner not in self.names
                below.extend(self._folded(cast(Product, inner)) if flat else (inner,))
            else:
                above.append(part)
        one = as_expr(1)
        above, below = ([p for p in side if p is not one and not self._is(p, 1)] for side in (above, below))
        if all(above.count(part) >= below.count(part) for part in below):
            for part in below:  # S_1 P, and no fraction of S_1 P S_2 K over S_2 K
                above.remove(part)
            below = []
        top, under = self._factors(above), self._factors(below)
        if sign and not below and len(above) == 1 and isinstance(above[0], Sum) and above[0] not in self.names:
            top = rf"\left({top}\right)"
        return rf"{sign}\frac{{{top}}}{{{under}}}" if below else f"{sign}{top}"

    def _factors(self, parts: list[Expr]) -> str:
        text = ""
        for part in sorted(parts, key=self._place) or [as_expr(1)]:
            shown = self.write(part)
            added = isinstance(part, Sum) and part not in self.names
            if len(parts) > 1 and (added or (isinstance(part, Symbol | Product) and _is_added(shown))):
                shown = rf"\left({shown}\right)"
            # Two numbers side by side would be read as one.
            text += (r" \cdot " if text and shown[0].isdigit() else " " if text else "") + shown
        return text

    def _place(self, part: Expr) -> int:
        """Numbers, constants such as ``c_1``, all else, and roots: a factor after a root looks as if below it."""
        if isinstance(part, Number):
            return 0
        if part in self.names:
            constant = NUMBERED.fullmatch(self.names[part])
            return 3 if constant is None else 2 if constant[0].startswith("Q") else 1
        return 4 if isinstance(part, Power) and part.exponent == ROOT else 3


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _flat(text: str) -> str:
    """What stands outside of all braces and bars."""
    flat = re.sub(r"\\\|.*\\\|$", "x", text)
    while (inner := re.sub(r"\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]", "x", flat)) != flat:
        flat = inner
    return flat


def _is_added(text: str) -> bool:
    """Whether what stands for a letter needs brackets beside another factor."""
    return bool(re.search(r"[+\-]", _flat(text))) or r"\sum" in text


def _is_compound(text: str) -> bool:
    """Whether what stands for a letter needs brackets under an exponent."""
    return _is_added(text) or bool(re.search(r"\^|\\times", _flat(text)))
