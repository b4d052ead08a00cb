"""LaTeX of a formula, in the order in which it is written."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import cast

from hflbounds.expression import Expr, Number, Power, Product, Relation, Sum, Symbol, as_expr, mul, power
from hflbounds.quantities import ABOUT

SIGNS = {"<=": r"\le", "<": "<", ">=": r"\ge", ">": ">"}


def latex(formula: Expr | Relation, names: Mapping[Expr, str] = MappingProxyType({})) -> str:
    r"""LaTeX for mathematics mode; KaTeX and mathtext read it too.

    Args:
        formula: an expression or a condition.
        names: LaTeX for parts that have a name of their own, such as ``c_1``.

    >>> from hflbounds.quantities import L, P, eta_eff, zeta
    >>> latex(5 * L**2 * eta_eff**2 * zeta**2 / (12 * P**2))
    '\\frac{5 L^{2} \\tilde\\eta^{2} \\zeta^{2}}{12 P^{2}}'
    """
    if isinstance(formula, Relation):
        return f"{latex(formula.lhs, names)} {SIGNS[formula.op]} {latex(formula.rhs, names)}"
    if formula in names:
        return names[formula]
    if isinstance(formula, Number):
        return _number(formula.exact)
    if isinstance(formula, Symbol):
        return ABOUT[formula.name].latex
    if isinstance(formula, Sum):
        text = latex(formula.args[0], names)
        for part in formula.args[1:]:
            shown = latex(part, names)
            text += f" - {shown[1:]}" if shown.startswith("-") else f" + {shown}"
        return text
    if isinstance(formula, Power):
        return _power(formula.base, formula.exponent, names)
    return _product(cast(Product, formula), names)


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _power(base: Expr, exponent: Fraction, names: Mapping[Expr, str]) -> str:
    if exponent < 0:
        return rf"\frac{{1}}{{{latex(power(base, -exponent), names)}}}"
    if exponent.numerator == 1 and exponent.denominator in (2, 3):
        degree = "" if exponent.denominator == 2 else f"[{exponent.denominator}]"
        return rf"\sqrt{degree}{{{latex(base, names)}}}"
    shown = latex(base, names)
    if not isinstance(base, Symbol):
        shown = rf"\left({shown}\right)"
    return f"{shown}^{{{exponent}}}"


def _product(formula: Product, names: Mapping[Expr, str]) -> str:
    above: list[Expr] = []
    below: list[Expr] = []
    sign = ""
    for part in formula.args:
        if isinstance(part, Number):
            sign = "-" if part.exact < 0 else ""
            above.append(as_expr(abs(part.exact.numerator)))
            below.append(as_expr(part.exact.denominator))
        elif isinstance(part, Power) and part.exponent < 0 and part not in names:
            inner = power(part.base, -part.exponent)
            below.extend(inner.args if isinstance(inner, Product) else (inner,))
        else:
            above.append(part)
    top, under = (_factors(mul(*side), names) for side in (above, below))
    if sign and under == "1" and isinstance(mul(*above), Sum):
        top = rf"\left({top}\right)"
    return f"{sign}{top}" if under == "1" else rf"{sign}\frac{{{top}}}{{{under}}}"


def _factors(side: Expr, names: Mapping[Expr, str]) -> str:
    parts = side.args if isinstance(side, Product) else (side,)
    alone = len(parts) == 1
    return " ".join(
        rf"\left({latex(part, names)}\right)" if isinstance(part, Sum) and not alone else latex(part, names)
        for part in parts
    )
