"""The audit passes on the catalogue, and fails on misprints planted in it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import second_conditions
import second_encoding as second
import second_encoding_others as others
from test_catalogue import points as unified_points

from hflbounds import Bound, Step, catalogue, families
from hflbounds.audit.checks import (
    AuditError,
    Verdict,
    audit,
    check_cap_is_the_pole_of_the_proof,
    check_ends,
    check_least_counts,
    check_quoted,
    checks_of,
    draw,
    identities_of,
)
from hflbounds.core import quantities
from hflbounds.core.expression import (
    Choice,
    DimensionError,
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
    maximum,
    mul,
    power,
    raised,
)
from hflbounds.core.quantities import eta_eff
from hflbounds.errors import DeclarationError

# Each letter with one that a slip of the pen might put in its place.
TAKEN_FOR = {
    **{"G": "M", "M": "G", "P": "K", "K": "P", "R": "P", "S1": "S2", "S2": "S1", "T": "R_sub", "t": "alpha"},
    **{"sigma": "zeta", "zeta": "delta", "delta": "sigma", "sigma_s": "sigma_g", "sigma_g": "sigma_s", "H": "sigma"},
    **{"E": "Ge", "Ge": "E", "N": "M", "mu": "L", "Gamma": "A", "alpha": "t", "beta_lr": "eta", "lambda2": "p2"},
    **{"n_s": "n_h", "n_h": "n_s", "b_hs": "b_sh", "b_sh": "b_hs", "b_hh": "b_hs", "s": "n_s", "beta_mix": "kappa"},
    **{"kappa": "beta_mix", "K_buf": "R_sub", "R_sub": "K_buf", "Gamma_max": "zeta_max", "zeta_max": "Gamma_max"},
}
SWAPS = {getattr(quantities, one): getattr(quantities, other) for one, other in TAKEN_FOR.items()}


def test_every_check_passes_on_everything_found_and_looked_at_something(verdicts: tuple[Verdict, ...]) -> None:
    assert not [v for v in verdicts if v.failure]
    assert all(v.facts for v in verdicts)
    assert len(verdicts) >= sum(len(checks_of(bound)) for bound in catalogue().values())


def test_a_check_with_nothing_to_check_fails() -> None:
    bound = catalogue()["zhou2026.thm2.ring-ring"]
    verdicts = {v.check: v for v in audit([replace(bound, steps=(), grows_with=(), shrinks_with=())])}
    assert verdicts["steps"].failure == "there was nothing to check"
    assert verdicts["monotone"].failure == "there was nothing to check"
    assert "order" not in verdicts  # one topology alone owes nothing to the others


def test_families_with_shared_constants_owe_every_identity_and_the_others_what_they_can(
    verdicts: tuple[Verdict, ...],
) -> None:
    """An identity that would compare nothing is not run, rather than passed."""
    found: dict[str, set[str]] = {}
    for verdict in verdicts:
        if len(families().get(verdict.subject, ())) == 4:
            found.setdefault(verdict.subject, set()).add(verdict.check)
    always = {"scaling", "many_rounds"}
    cap = {"cap_is_the_pole_of_the_proof"}
    for name, checks in found.items():
        owed = always if name.endswith("-proof") else always | {"one_group", "one_client", "order"}
        if families()[name][0].kind == "lemma":
            owed = {"scaling"}
        if families()[name][0].is_lower:  # with few local steps a star drifts less than a ring
            owed = always | {"one_group", "one_client"}
        if name.startswith(("hflbounds.tilt", "hflbounds.identical")):  # not of the mean squared gradient over rounds
            owed = {"scaling", "one_group", "one_client"}
        assert checks - cap == owed, name
    assert sum(bool(checks & cap) for checks in found.values()) == 2


def test_a_bound_derived_from_itself_fails() -> None:
    bound = catalogue()["zhou2026.thm2.ring-ring"]
    copied = replace(bound, status="proved", steps=(Step("because", bound.terms),))
    verdicts = {v.check: v for v in audit([copied])}
    assert "from itself" in (verdicts["steps"].failure or "")


def test_a_condition_that_does_not_end_where_its_proof_does_fails() -> None:
    lemma = catalogue()["zhou2025.lemma1"]
    assert check_ends(lemma) == 1
    for wrong in (eta_eff <= Fraction(number, 2000) / quantities.L for number in (999, 1001)):
        with pytest.raises(AuditError, match="does not end where it must"):
            check_ends(replace(lemma, requires=(wrong,)))
    with pytest.raises(AuditError, match="has 0 conditions, and the proof needs 1"):
        check_ends(replace(lemma, requires=()))


def test_a_quantity_that_is_not_finite_at_the_least_counts_fails() -> None:
    alone = catalogue()["sharma2025.beta-hh"]
    assert check_least_counts(alone)
    (term,) = alone.terms.values()
    general = term.args[-1].args[-1]  # without its cases for one hub, and for hubs that send nothing
    with pytest.raises(AuditError, match="at the least b_hh"):
        check_least_counts(replace(alone, terms={"factor": general}))


def test_what_an_erratum_quotes_is_what_is_stated() -> None:
    order = catalogue()["stich2018.sgd-order"]
    assert check_quoted(order)
    for wrong in (order.terms["start"] * 2, order.terms["start"] ** 2):
        with pytest.raises(AuditError, match="quotes"):
            check_quoted(replace(order, terms={**order.terms, "start": wrong}))


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
    else:
        parts = expression.args
        for i, part in enumerate(parts):
            for what, changed in mutants_of(part):
                if isinstance(expression, Special) and isinstance(changed, Power):
                    continue  # a squared count of nodes is summed over for hours
                yield what, _again(expression, (*parts[:i], changed, *parts[i + 1 :]))
        if isinstance(expression, Maximum):
            for i, part in enumerate(parts):
                yield f"{part} lost from a maximum", maximum(*parts[:i], *parts[i + 1 :])


def _again(node: Expr, parts: tuple[Expr, ...]) -> Expr:
    if isinstance(node, Raised):
        return raised(*parts)
    if isinstance(node, Maximum):
        return maximum(*parts)
    return Choice(node.op, *parts) if isinstance(node, Choice) else Special(node.name, *parts)


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


@cache
def typed_twice(bound_id: str) -> tuple[tuple[dict[str, float], float], ...]:
    """Points, and what the second encoding gives there."""
    if bound_id in second.BOUND_IDS:
        points = unified_points(bound_id)[:3]
        return tuple(({n: float(x) for n, x in p.items()}, float(second.value(bound_id, **p))) for p in points)
    drawn = [others.point(bound_id, random.Random(seed)) for seed in range(15)]
    return tuple(({n: float(x) for n, x in p.items()}, float(others.value(bound_id, **p))) for p in drawn)


@cache
def conditions_typed_twice(bound_id: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Points as arrays, and whether the second encoding says that the statement applies there."""
    bound, rng = catalogue()[bound_id], random.Random(bound_id)
    rows, truth = [], []
    for i in range(200):
        if bound_id in second.BOUND_IDS:
            points = unified_points(bound_id)
            point = points[i % len(points)]
            cap = second.cap(bound_id, **point)
            row = {name: float(x) for name, x in point.items()}
            if cap is not None:
                share = rng.choice([0.3, 0.9, 0.999, 1.001, 1.05, 1.5, 3])
                row["eta_eff"] = float(cap) * share
                truth.append(share < 1)
            else:
                truth.append(True)
        else:
            point = others.point(bound_id, rng)
            rest = {n: rng.uniform(0.1, 4) for n in bound.needs if n not in point}
            row = second_conditions.shaken({**rest, **point}, rng)
            if i % 2:
                row = second_conditions.at_the_edge(bound_id, row, rng)
            truth.append(second_conditions.applies(bound_id, row))
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}, np.array(truth)


def differs_from_the_second_encoding(wrong: Bound, original: Bound) -> bool:
    if wrong.requires != original.requires:
        points, truth = conditions_typed_twice(original.id)
        try:
            return bool(np.any(wrong.applies(**{n: points[n] for n in wrong.needs}) != truth))
        except (ArithmeticError, KeyError, TypeError, ValueError):
            return True
    for point, typed in typed_twice(original.id):
        size = sum(abs(term.value(point)) for term in original.terms.values())
        try:
            if not abs(wrong.expression.value(point) - typed) <= 1e-9 * size:
                return True
        except (ArithmeticError, KeyError, TypeError):
            return True
    return False


@dataclass
class Planted:
    """How many misprints were planted, how many the audit saw, how many only the second encoding, and the rest."""

    count: int = 0
    by_audit: int = 0
    by_second_encoding: int = 0
    survivors: list[str] = field(default_factory=list)


def plant(bounds: list[Bound], share: float = 1.0) -> Planted:
    """Plant a share of all misprints, drawn, as kinds of them come in turn."""
    found = Planted()
    for original in bounds:
        draw = random.Random(original.id)
        for what, wrong in (planted for planted in misprints(original) if draw.random() < share):
            with suppress(ArithmeticError, ValueError):
                if wrong is not None and equivalent(wrong, original):
                    continue
            found.count += 1
            with np.errstate(divide="ignore", invalid="ignore"):  # a condition that is wrong may divide by 0
                seen = wrong is None or caught(wrong, original)
            if seen:
                found.by_audit += 1
            elif differs_from_the_second_encoding(wrong, original):
                found.by_second_encoding += 1
            else:
                found.survivors.append(f"{original.id}: {what}")
    return found


SAMPLE = (
    "zhou2026.thm1.ring-star",
    "zhou2026.cor1.star-star",
    "zhou2026.shuffle.ring-ring",
    "zhou2026.thm2.ring-star",
    "zhou2026.cor2.star-ring",
    "hflbounds.sharp.star-ring",
)


def test_at_least_95_percent_of_planted_misprints_are_caught() -> None:
    """Of a twelfth; the slow test below plants all, in every bound."""
    found = plant([catalogue()[name] for name in SAMPLE], share=1 / 12)
    assert found.count > 75
    assert found.by_audit >= 0.95 * found.count, "\n".join(found.survivors)


@pytest.mark.slow
@pytest.mark.parametrize("family", dict.fromkeys(bound.family for bound in catalogue().values()))
def test_misprints_planted_in_the_whole_catalogue(family: str) -> None:
    """Some forty thousand."""
    found = plant(list(families()[family]))
    print(f"{family}: {found.count} misprints, the audit sees {found.by_audit},", end=" ")
    print(f"only the second encoding {found.by_second_encoding}, neither {len(found.survivors)}:")
    print("\n".join(found.survivors))
    assert found.count
    assert found.by_audit + found.by_second_encoding >= 0.95 * found.count
