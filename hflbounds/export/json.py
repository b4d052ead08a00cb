"""JSON: a bound as data, its formulas as trees that `read` turns back into the same expressions.

Nothing here evaluates text. `read` knows seven kinds of node and the names of the vocabulary, and refuses the rest.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hflbounds.core.bound import Erratum
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
    add,
    choice,
    maximum,
    mul,
    raised,
    special,
)
from hflbounds.core.functions import SCALAR
from hflbounds.core.quantities import ABOUT, SYMBOLS
from hflbounds.errors import FormatError
from hflbounds.typeset import markup, wording
from hflbounds.typeset.statement import Statement, Style

SUFFIX = ".json"
TAKES = ("notation", "letters", "values")
SCHEMA = "hfl-plan/bounds/1"
DEEP, MANY, DIGITS, DIGITS_IN_ALL = 100, 20_000, 60, 4_000
SIGNS = ("<=", "<", ">=", ">")


def render(statements: Sequence[Statement], style: Style) -> str:
    """One document with all bounds."""
    document = {"schema": SCHEMA, "bounds": [describe(statement) for statement in statements]}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def describe(statement: Statement) -> dict[str, Any]:
    """A bound as data."""
    bound = statement.bound
    paper = bound.source.paper
    whole = f"{statement.left} {statement.sign} {' '.join(statement.lines(math.inf))}"
    value = statement.value
    return {
        "id": bound.id,
        "title": bound.title,
        "kind": bound.kind,
        "status": bound.status,
        "basis": bound.basis,
        "constants": bound.constants,
        "signed": bound.signed,
        "source": {
            "paper": paper.key,
            "title": paper.title,
            "authors": paper.authors,
            "year": paper.year,
            "version": paper.version,
            "where": paper.where,
            "place": bound.source.place,
        },
        "bounds": {
            "id": bound.bounds.id,
            "meaning": bound.bounds.meaning,
            "dim": list(bound.bounds.dim),
            "latex": statement.left,
        },
        "statement": {"text": markup.unicode(whole), "latex": whole, "mathml": markup.mathml(whole, display=True)},
        "terms": [
            {"name": name, "expression": expression(term), **_shown(statement.terms[name])}
            for name, term in bound.terms.items()
        ],
        "where": [
            {"name": name, "expression": expression(part), **_shown(statement.tex(part, {}))}
            for name, part in bound.where.items()
        ],
        "requires": [
            {"lhs": expression(c.lhs), "sign": c.op, "rhs": expression(c.rhs), **_shown(statement.tex(c, {}))}
            for c in bound.requires
        ],
        "assumes": [
            {"id": assumption.id, "statement": said}
            for assumption, said in zip(bound.assumes, statement.assumptions, strict=True)
        ],
        "quantities": {
            name: {
                "meaning": wording.sentence(meaning, wording.line, markup.unicode),
                "domain": ABOUT[name].domain,
                "dim": list(ABOUT[name].dim),
                "latex": tex,
                "value": statement.numbers.get(name),
            }
            for name, tex, meaning in statement.symbols
        },
        "defaults": {name: expression(part) for name, part in bound.defaults.items()},
        "chain": None if bound.chain is None else expression(bound.chain),
        "common_cap": None if bound.common_cap is None else expression(bound.common_cap),
        "errata": [_erratum(statement, erratum) for erratum in bound.errata],
        "value": None if value is None else value.total,
        "log10": None if value is None else value.log10,
        "term_values": None if value is None or not value.terms else dict(value.terms),
    }


def _shown(tex: str) -> dict[str, str]:
    return {"text": markup.unicode(tex), "latex": tex, "mathml": markup.mathml(tex)}


def _erratum(statement: Statement, erratum: Erratum) -> dict[str, Any]:
    return {
        "id": erratum.id,
        "gravity": erratum.gravity,
        "place": erratum.place,
        "printed": statement.side(erratum.printed),
        "supported": statement.side(erratum.proved),
        "because": erratum.because,
        "effect": erratum.effect,
        "artefact": erratum.artefact,
    }


def expression(formula: Expr) -> dict[str, Any]:
    """A formula as a tree.

    >>> from hflbounds.core.quantities import L
    >>> expression(L / 2)
    {'product': [{'number': '1/2'}, {'symbol': 'L'}]}
    """
    if isinstance(formula, Number):
        return {"number": str(formula.exact)}
    if isinstance(formula, Symbol):
        return {"symbol": formula.name}
    if isinstance(formula, Power):
        return {"power": expression(formula.base), "exponent": str(formula.exponent)}
    args = [expression(part) for part in formula.args]
    for kind, node in (("sum", Sum), ("product", Product), ("raised", Raised), ("maximum", Maximum)):
        if isinstance(formula, node):
            return {kind: args}
    if isinstance(formula, Choice):
        return {"choice": args, "sign": formula.op}
    if isinstance(formula, Special):
        return {"function": formula.name, "arguments": args}
    raise FormatError(f"{type(formula).__name__} has no place in JSON")


@dataclass(frozen=True, slots=True)
class Exported:
    """What a document holds of one bound: its formulas, by the names they have in the bound.

    Attributes:
        terms, where, defaults: formulas by name.
        requires: the conditions.
        chain, common_cap: None where the bound has none.
        values: the numbers that the document was written with.
        data: the entry as it stands in the document, with its words.
    """

    terms: Mapping[str, Expr]
    where: Mapping[str, Expr]
    defaults: Mapping[str, Expr]
    requires: tuple[Relation, ...]
    chain: Expr | None
    common_cap: Expr | None
    values: Mapping[str, float]
    data: Mapping[str, Any]


def read(source: Any) -> Any:
    """What was written: of a tree the formula, of a whole document its bounds.

    Args:
        source: the tree that `expression` gives, or the document that `render` gives; as text, or parsed.

    Returns:
        for a tree, the same object that `expression` was given; for a document, an `Exported` for each id.

    Raises:
        FormatError: for anything else.
    """
    if isinstance(source, str | bytes):
        try:
            source = json.loads(source)
        except (ValueError, RecursionError):
            raise FormatError(f"{source!r:.60} is no JSON") from None
    if not isinstance(source, dict) or "schema" not in source:
        return _formula(source)
    if source["schema"] != SCHEMA or not isinstance(source.get("bounds"), list):
        raise FormatError(f"a document of the schema {source['schema']!r:.40} is not read; {SCHEMA} is")
    try:
        return {entry["id"]: _entry(entry) for entry in source["bounds"]}
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"an entry of the document is not as it was written: {error}") from None


def _entry(entry: dict[str, Any]) -> Exported:
    def formulas(parts: Any) -> dict[str, Expr]:
        return {part["name"]: _formula(part["expression"]) for part in parts}

    return Exported(
        terms=formulas(entry["terms"]),
        where=formulas(entry["where"]),
        defaults={name: _formula(tree) for name, tree in entry["defaults"].items()},
        requires=tuple(read_relation(tree) for tree in entry["requires"]),
        chain=None if entry["chain"] is None else _formula(entry["chain"]),
        common_cap=None if entry["common_cap"] is None else _formula(entry["common_cap"]),
        values={name: about["value"] for name, about in entry["quantities"].items() if about["value"] is not None},
        data=entry,
    )


def _formula(tree: Any) -> Expr:
    left, digits = [MANY], [DIGITS_IN_ALL]

    def rational(text: Any) -> Fraction:
        number = _rational(text)
        digits[0] -= len(text)
        if digits[0] < 0:
            raise FormatError(f"a formula with more than {DIGITS_IN_ALL} digits in all is not read")
        return number

    def node(part: Any, deep: int) -> Expr:
        left[0] -= 1
        if deep > DEEP or left[0] < 0:
            raise FormatError(f"a formula of more than {MANY} parts, or {DEEP} deep, is not read")
        if not isinstance(part, dict):
            raise FormatError(f"{part!r:.60} is not a part of a formula")

        def parts(of: Any, least: int, most: int = MANY) -> list[Expr]:
            if not isinstance(of, list) or not least <= len(of) <= most:
                raise FormatError(f"{of!r:.60} is not a list of {least} parts{' or more' * (most > least)}")
            return [node(inner, deep + 1) for inner in of]

        match part:
            case {"number": text, **rest} if not rest:
                return Number(rational(text))
            case {"symbol": str(name), **rest} if not rest and name in ABOUT:
                return SYMBOLS[name]
            case {"power": base, "exponent": text, **rest} if not rest:
                return _power(node(base, deep + 1), Number(rational(text)))
            case {"sum": args, **rest} if not rest:
                return add(*parts(args, 2))
            case {"product": args, **rest} if not rest:
                return mul(*parts(args, 2))
            case {"raised": args, **rest} if not rest:
                return _power(*parts(args, 2, 2))
            case {"maximum": args, **rest} if not rest:
                return maximum(*parts(args, 1))
            case {"choice": args, "sign": str(sign), **rest} if not rest and sign in SIGNS:
                lhs, rhs, then, otherwise = parts(args, 4, 4)
                return choice(Relation(lhs, sign, rhs), then, otherwise)
            case {"function": str(name), "arguments": args, **rest} if not rest and name in SCALAR:
                count = len(inspect.signature(SCALAR[name]).parameters)
                return special(name, *parts(args, count, count))
        raise FormatError(f"{part!r:.60} is not a part of a formula")

    return node(tree, 0)


def _power(base: Expr, exponent: Expr) -> Expr:
    if isinstance(base, Number) and isinstance(exponent, Number) and base.exact == 0 > exponent.exact:
        raise FormatError(f"a power {exponent} of 0 divides by zero")
    return raised(base, exponent)


def read_relation(tree: Any) -> Relation:
    """The condition of one entry of ``requires``.

    Raises:
        FormatError: for anything that `render` does not write.
    """
    if not isinstance(tree, dict) or tree.get("sign") not in SIGNS:
        raise FormatError(f"{tree!r:.60} is not a condition")
    return Relation(_formula(tree.get("lhs")), tree["sign"], _formula(tree.get("rhs")))


def _rational(text: Any) -> Fraction:
    if not isinstance(text, str) or not re.fullmatch(rf"-?[0-9]{{1,{DIGITS}}}(/[0-9]{{1,{DIGITS}}})?", text):
        raise FormatError(f"{text!r:.60} is not a rational number")
    above, _, below = text.partition("/")
    if below and not int(below):
        raise FormatError(f"{text!r:.60} divides by zero")
    return Fraction(int(above), int(below or 1))
