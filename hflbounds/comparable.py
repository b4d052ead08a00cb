"""Whether bounds can be compared: one metric, one kind of constants, one problem, one meaning of every quantity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hflbounds.core.assumptions import WEIGHT
from hflbounds.core.bound import Bound
from hflbounds.core.evaluation import bind
from hflbounds.core.quantities import ABOUT
from hflbounds.errors import ComparisonError, DomainError
from hflbounds.evaluate.along import range_of
from hflbounds.registry import catalogue
from hflbounds.typeset import meanings

NAMED = 3  # bounds that a refusal names as a way out


def matched(a: Bound, b: Bound, assume_both: bool = False) -> tuple[str, ...]:
    """See that two bounds are about one thing, and say what the comparison stands on.

    Raises:
        ComparisonError: naming what differs and the way out.
    """
    if a.bounds is not b.bounds:
        raise ComparisonError(
            f"{a.id} bounds the {a.bounds.id}, {b.id} the {b.bounds.id}: there is no common order. {_instead(a, b)}"
        )
    if a.constants != b.constants:
        raise ComparisonError(
            f"{a.id} has {a.constants} constants, {b.id} {b.constants} ones: there is no common measure. "
            f"{_instead(b, a)}"
        )
    notes = []
    both = "To take the same number for both, add --assume-both (assume_both=True)."
    for name in (n for n in a.needs if n in b.needs):
        said = [meanings.meaning(bound, name, own_letters=True) for bound in (a, b)]
        if said[0] != said[1]:
            told = f"{name} is {said[0]!r} in {a.id}, and {said[1]!r} in {b.id}"
            if not assume_both:
                raise ComparisonError(f"{told}. {both}")
            notes.append(f"{told}; one number is taken for both.")
    mine, theirs = ({x.statement: x.id for x in bound.assumes if x.about == "problem"} for bound in (a, b))
    only = [
        {said: id_ for said, id_ in one.items() if said not in other} for one, other in ((mine, theirs), (theirs, mine))
    ]
    if all(only) and not assume_both:
        each = (f"{bound.id} alone assumes {listed(own.values())}" for bound, own in zip((a, b), only, strict=True))
        raise ComparisonError(
            f"{'; '.join(each)}. To compare for problems that satisfy both, add --assume-both (assume_both=True)."
        )
    for bound, own in zip((a, b), only, strict=True):
        if own:
            notes.append(f"For problems that satisfy what {bound.id} alone assumes: {listed(own.values())}.")
    runs = [[x.id for x in bound.assumes if x.about == "protocol" and x is not WEIGHT] for bound in (a, b)]
    if runs[0] != runs[1]:
        apart = [listed(x for x in one if x not in other) or "nothing else" for one, other in (runs, runs[::-1])]
        notes.append(
            "Protocols differ, so the one with the smaller bound need not be the better one. "
            f"{a.id} is about {apart[0]}; {b.id} about {apart[1]}."
        )
    if a.constants == "hidden":
        notes.append("Both hold up to a factor that the sources do not state; the two are taken to be equal.")
    refuted = [bound.id for bound in (a, b) if bound.status == "refuted"]
    notes += [f"{id_} is refuted: a counterexample to what is printed is known." for id_ in refuted]
    return tuple(notes)


def _instead(a: Bound, b: Bound) -> str:
    """What can be compared with ``a``, the nearest to ``b`` first, then the family of ``a``, as a sentence."""
    family = a.id.rpartition(".")[0]

    def near(x: Bound) -> tuple[bool, ...]:
        of_b = x.source.paper == b.source.paper
        own = x.id.rpartition(".")[0] == family
        here = b.topology is not None and x.topology == b.topology
        return of_b and here, here, of_b, own, x.source.paper == a.source.paper, x.assumes == b.assumes

    def kind(x: Bound) -> tuple[object, ...]:
        return x.bounds, x.constants, {"S1", "S2"} & {*x.needs}  # one participation, as another is no way out

    alike = [x for x in catalogue().values() if x is not a and kind(x) == kind(a)]
    found = [x.id for x in sorted(alike, key=near, reverse=True) if _can(a, x)][:NAMED]
    if not found:
        return f"No other bound is about what {a.id} is; see `hfl-plan bounds show {a.id}`."
    return f"Compare {a.id} with {' or '.join(found)}."


def _can(a: Bound, b: Bound) -> bool:
    """Whether two bounds of one metric can be compared as they are."""
    try:
        matched(a, b)
    except ComparisonError:
        return False
    return True


def numbers_of(bounds: Sequence[Bound], over: str | None, values: Mapping[str, Any]) -> dict[str, float]:
    """The values given, completed by the bounds and checked, without what none of them has.

    Args:
        bounds: that are compared.
        over: the quantity that is moved, if any.
        values: as of a call, each one number.

    Raises:
        TypeError: for a name that stands in none of them, is moved and given, or is given as an array.
        DomainError: for a number its quantity cannot be.
    """
    owner = " against ".join(bound.id for bound in bounds) if len(bounds) < NAMED else f"these {len(bounds)} bounds"
    known = dict(values)
    for bound in bounds:  # what arrays are made into; defaults are each bound's own, and stay with it
        known = {**(bound.prepare(values) if bound.prepare is not None else {}), **known}
    if over is not None:
        if over not in ABOUT or not any(over in bound.needs for bound in bounds):
            names = [n for n in ABOUT if any(n in bound.needs for bound in bounds)]
            raise TypeError(f"{owner}: {over!r} stands in none; known are {', '.join(names)}")
        if known.get(over) is not None:
            raise TypeError(f"{owner}: {over} is moved and given. Leave out one of the two")
    wanted = [n for n in ABOUT if any(n in bound.needs for bound in bounds) and known.get(n) is not None]
    found = bind(owner, wanted, known)
    if arrays := [name for name, number in found.items() if np.ndim(number)]:
        raise TypeError(f"{owner}: {arrays[0]} must be one number, not an array; move it with over={arrays[0]!r}")
    return {name: float(number) for name, number in found.items()}


def missing(bounds: Sequence[Bound], known: Iterable[str]) -> list[str]:
    """Quantities that a call of some bound would lack, where those with these names are given.

    Where one follows from others that are lacking, it is these.
    """
    given = {*known}
    lacking = set()
    for bound in bounds:
        for name in {*bound.needs} - given:
            lacking |= {s.name for s in bound.defaults[name].symbols} - given if name in bound.defaults else {name}
    return [name for name in ABOUT if name in lacking]


def range_asked(
    over: str, bounds: Sequence[Bound], values: Mapping[str, float], asked: tuple[float, float] | None
) -> tuple[float, float]:
    """The range of a quantity that is asked for, checked; or the one that is looked at by default.

    Raises:
        DomainError: for an end that the quantity cannot be, and for a range without a length.
    """
    if asked is None:
        return range_of(over, bounds, values)
    low, high = asked
    for end in (low, high):
        bind("the range", (over,), {over: end})
    if not low < high:
        raise DomainError(f"the range of {over} must begin below its end, not {low:g} to {high:g}")
    return float(low), float(high)


def listed(names: Iterable[str]) -> str:
    """Words with commas, and an ``and`` before the last."""
    each = list(names)
    return f"{', '.join(each[:-1])} and {each[-1]}" if len(each) > 1 else "".join(each)
