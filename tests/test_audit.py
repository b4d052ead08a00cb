"""The audit passes on the catalogue, and fails on misprints planted in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hflbounds import Bound, Step, catalogue, families
from hflbounds.audit import AuditError, audit, check_cap_is_the_pole_of_the_proof, checks_of, draw, identities_of
from hflbounds.errors import DeclarationError
from hflbounds.expression import (
    DimensionError,
    Expr,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    Symbol,
    add,
    mul,
    power,
)
from hflbounds.quantities import S1, S2, G, K, M, P, R, delta, eta_eff, sigma, zeta

SWAPS = {G: M, M: G, P: K, K: P, S1: S2, S2: S1, sigma: zeta, zeta: delta, delta: sigma, R: P}


def test_every_check_passes_on_everything_found_and_looked_at_something() -> None:
    verdicts = list(audit(catalogue().values()))
    assert not [v for v in verdicts if v.failure]
    assert all(v.facts for v in verdicts)
    assert len(verdicts) >= sum(len(checks_of(bound)) for bound in catalogue().values())


def test_a_check_with_nothing_to_check_fails() -> None:
    bound = catalogue()["zhou2026.thm2.ring-ring"]
    verdicts = {v.check: v for v in audit([replace(bound, steps=(), grows_with=(), shrinks_with=())])}
    assert verdicts["steps"].failure == "there was nothing to check"
    assert verdicts["monotone"].failure == "there was nothing to check"
    assert "order" not in verdicts  # one topology alone owes nothing to the others


def test_families_with_shared_constants_owe_every_identity_and_the_others_what_they_can() -> None:
    """An identity that would compare nothing is not run, rather than passed."""
    found: dict[str, set[str]] = {}
    for verdict in audit(catalogue().values()):
        if len(families().get(verdict.subject, ())) == 4:
            found.setdefault(verdict.subject, set()).add(verdict.check)
    always = {"scaling", "many_rounds"}
    cap = {"cap_is_the_pole_of_the_proof"}
    for name, checks in found.items():
        owed = always if name.endswith("-proof") else always | {"one_group", "one_client", "order"}
        if families()[name][0].kind == "lemma":
            owed = {"scaling"}
        assert checks - cap == owed, name
    assert sum(bool(checks & cap) for checks in found.values()) == 2


def test_a_bound_derived_from_itself_fails() -> None:
    bound = catalogue()["zhou2026.thm2.ring-ring"]
    copied = replace(bound, status="proved", steps=(Step("because", bound.terms),))
    verdicts = {v.check: v for v in audit([copied])}
    assert "from itself" in (verdicts["steps"].failure or "")


def test_a_vacuous_bound_fails() -> None:
    bound = catalogue()["zhou2026.thm1.star-star"]
    impossible = replace(bound, requires=(*bound.requires, eta_eff > 1000 / bound.requires[0].rhs))
    with pytest.raises((AuditError, DimensionError), match="vacuous"):
        draw(impossible)


def mutants_of(expression: Expr) -> Iterator[tuple[str, Expr]]:
    """Every expression that differs from this one by one slip of the pen."""
    if isinstance(expression, Number):
        for other in (expression.exact * 2, expression.exact + 1, -expression.exact):
            yield f"{expression} -> {other}", Number(Fraction(other))
    elif isinstance(expression, Symbol):
        if expression in SWAPS:
            yield f"{expression} -> {SWAPS[expression]}", SWAPS[expression]
        yield f"{expression} -> {expression}**2", expression**2
    elif isinstance(expression, Power):
        for exponent in (expression.exponent + 1, expression.exponent - 1, -expression.exponent):
            yield f"{expression}: exponent {exponent}", power(expression.base, exponent)
        for what, base in mutants_of(expression.base):
            yield what, power(base, expression.exponent)
    elif isinstance(expression, Sum | Product):
        build = add if isinstance(expression, Sum) else mul
        parts = expression.args
        for i, part in enumerate(parts):
            if not isinstance(part, Number):
                yield f"{part} lost", build(*parts[:i], *parts[i + 1 :])
            for what, changed in mutants_of(part):
                yield what, build(*parts[:i], changed, *parts[i + 1 :])


def misprints(bound: Bound) -> Iterator[tuple[str, Bound | None]]:
    """Bounds with one planted misprint: a coefficient, a power, a symbol, a term, a condition.

    None where the misprint cannot even be declared, because no assumption introduces its letter.
    """
    for name, term in bound.terms.items():
        for number in (2, Fraction(1, 2)):
            yield f"{name}: times {number}", _with(bound, name, number * term)
        for what, changed in mutants_of(term):
            yield f"{name}: {what}", _with(bound, name, changed)
        if len(bound.terms) > 1:
            yield f"{name} lost", _changed(bound, terms={n: t for n, t in bound.terms.items() if n != name})
    for i, condition in enumerate(bound.requires):
        others = bound.requires[:i], bound.requires[i + 1 :]
        turned = Relation(condition.rhs, condition.op, condition.lhs)
        yield f"{condition} turned round", _changed(bound, requires=(*others[0], turned, *others[1]))
        yield f"{condition} lost", _changed(bound, requires=(*others[0], *others[1]))
        for what, changed in mutants_of(condition.rhs):
            moved = Relation(condition.lhs, condition.op, changed)
            yield f"{condition}: {what}", _changed(bound, requires=(*others[0], moved, *others[1]))


def _with(bound: Bound, name: str, term: Expr) -> Bound | None:
    return _changed(bound, terms={**bound.terms, name: term})


def _changed(bound: Bound, **changes: Any) -> Bound | None:
    try:
        return replace(bound, **changes)
    except DeclarationError:
        return None


def caught(bound: Bound, original: Bound) -> str | None:
    """The check that sees the misprint, or None."""
    for check in checks_of(original):
        name = check.__name__.removeprefix("check_")
        try:
            if not check(bound) and name not in original.breaks:
                return name
            if name in original.breaks:
                return f"{name} passes"
        except (AuditError, ArithmeticError, ValueError, TypeError, KeyError) as failure:
            if name not in original.breaks:
                return f"{name}: {failure}"
    if original.topology is None:
        return None
    family = {str(b.topology): b for b in families()[original.family]} | {original.topology: bound}
    for identity in identities_of(family):
        name = identity.__name__.removeprefix("check_")
        broken = any(name in member.breaks for member in family.values())
        try:
            identity(family)
        except (AuditError, ArithmeticError, ValueError, KeyError):
            if not broken:
                return name
        else:
            if broken:
                return f"{name} passes"
    other = families().get(f"{original.family}-proof")
    if other and original.family in ("zhou2026.thm1", "zhou2026.shuffle"):
        try:
            check_cap_is_the_pole_of_the_proof((family, {str(b.topology): b for b in other}))
        except AuditError:
            return "cap"
    return None


def equivalent(bound: Bound, original: Bound) -> bool:
    """Whether the 'misprint' says the same: then there is nothing to catch."""
    if bound.terms.keys() != original.terms.keys() or bound.requires != original.requires:
        return False
    if not {*bound.needs} <= {*original.needs}:
        return False
    points = draw(original, 20)
    return bool(np.allclose(bound(**points), original(**points), rtol=1e-12, atol=0))


def plant(bounds: list[Bound]) -> tuple[int, int, list[str]]:
    """How many misprints were planted and caught, and which survived."""
    planted, seen, survivors = 0, 0, []
    for original in bounds:
        for what, wrong in misprints(original):
            with suppress(ArithmeticError, ValueError):
                if wrong is not None and equivalent(wrong, original):
                    continue
            planted += 1
            if wrong is None or caught(wrong, original):
                seen += 1
            else:
                survivors.append(f"{original.id}: {what}")
    return planted, seen, survivors


SAMPLE = (
    "zhou2026.thm1.ring-star",
    "zhou2026.cor1.star-star",
    "zhou2026.shuffle.ring-ring",
    "zhou2026.thm2.ring-star",
    "zhou2026.cor2.star-ring",
    "hflbounds.sharp.star-ring",
)


def test_at_least_95_percent_of_planted_misprints_are_caught() -> None:
    planted, seen, survivors = plant([catalogue()[name] for name in SAMPLE])
    assert planted > 300
    assert seen >= 0.95 * planted, "\n".join(survivors)


@pytest.mark.slow
def test_misprints_planted_in_the_whole_catalogue() -> None:
    planted, seen, survivors = plant(list(catalogue().values()))
    print(f"\n{seen} of {planted} planted misprints caught; survivors:")
    print("\n".join(survivors))
    assert planted > 10_000
    assert seen >= 0.95 * planted
