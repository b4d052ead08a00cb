"""Where a toss-up begins and ends along an input, as `recommend` would judge it there."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache

from planner.decide.breakpoints import NEAR_ZERO, last_true
from planner.decide.parameters import Input, deviations, moved_by, ratios
from planner.decide.verdict import Standing, algorithms, standing

LOOKS = 8  # values before a break-even at which it is looked for: what is told may end, and come back
WIDTH = 1e-3  # relative width of the interval in which a toss-up is found to begin, and to end: pages have three digits
STRIDE = 2.0  # a factor: so far apart are the values at which its end is looked for
STRIDES = 6  # on either side of the present value, where one of a toss-up of now gets ahead
SMALLEST = 2  # leads at which one has to be named still for there to be no toss-up between
GROWN = 1.25  # by how much a lead has to grow before it is looked at whether it decides
Undecided = Callable[[float], tuple[str, ...]]
"""The algorithms of which one is the best as far as can be told, best first, at a value; none with nothing to tell."""


def undecided_along(each: Input, here: Standing, competing: Collection[str]) -> Undecided:
    """Judge the topologies that compete at other values of an input; what was judged is kept."""
    own = tuple(deviations(here.question))
    # numbers are given of all deviations
    moved = own if each.name in (*own, *ratios(here.question)) else moved_by(each.name)
    known = {name: here.scenario.known[name] for name in moved if name in here.scenario.known}
    given = {n: replace(of, origin="given", spread=None) for n, of in known.items() if of.origin != "given"}
    scenario = replace(here.scenario, known={**here.scenario.known, **given})  # another value is one somebody gives

    @cache
    def told(value: float) -> tuple[str, ...]:
        there = each.moved(here.question, value)
        if not any(0 < rounds < math.inf for rounds in there.rounds().values()):  # out of reach, or met at the start
            return ()
        return algorithms(there, standing(there, scenario, here.objective).undecided(competing))

    return told


def begins(told: Undecided, each: Input, even: float, first: tuple[str, ...]) -> float | int | None:
    """From where on, before a break-even, the first alone is no longer told; None where it is told up to there.

    It is the nearest of those seen at so many values, as errors on record differ from place to place.
    """
    if len(first) != 1:
        return None
    near = each.value
    for far in _towards(each, even):
        if told(far) != first:
            found = last_true(lambda value: told(value) == first, each, far, WIDTH, near)
            return None if found == even else each.number(found)
        near = far
    return None


def _towards(each: Input, even: float) -> Iterator[float]:
    """Values from the present one to a break-even, evenly by their logarithms, or all; at last this itself."""
    now = each.value
    near = now or even * NEAR_ZERO
    yield from _all(each, now, even)
    for i in range(1, LOOKS if even and not each.looks else 1):
        far = near * (even / near) ** (i / LOOKS)
        far = float(round(far)) if each.whole else far
        if far not in (now, even):
            yield far
    yield even


def _all(each: Input, near: float, end: float) -> list[float]:
    """Values of which every one is looked at between two, from the one to the other; none without such."""
    return sorted((x for x in each.looks if min(near, end) < x < max(near, end)), key=lambda x: abs(x - near))


def turned(
    told: Undecided, each: Input, leads: Callable[[Sequence[float]], Sequence[float]], side: int, now: tuple[str, ...]
) -> tuple[float | int, float | int | None, tuple[str, ...]] | None:
    """From where to where, on one side, one of a toss-up is named alone, or one that is named is in a toss-up.

    With what is told there. The end is None where it is so at all values looked at. ``leads`` are those of the first
    over the second at values: it is looked only where the lead has grown, or shrunk, unless every value is.
    """
    if bool(told(each.value)[1:]) != bool(now[1:]):
        return None  # as it is to know the value, and not another one
    start = each.value or each.scale * STRIDE ** -(STRIDES // 2)
    values = [start * STRIDE ** (side * k) for k in range(1, STRIDES + 1)] if each.value or side > 0 else []
    values = [min(max(x, each.least), each.most) for x in values]  # what is told may end before the range does
    values = list(dict.fromkeys(float(round(x)) if each.whole else x for x in values))
    values = _all(each, each.value, (each.least, each.most)[side > 0]) if each.looks else values
    values = [x for x in values if x != each.value and (x >= 1 or not each.whole)]
    values += [0.0] * (side < 0 and not each.power and each.value > 0)  # everyone comes
    near, most = each.value, leads([each.value])[0]
    ahead = leads(values) if values else ()
    small = sorted(pair for pair in zip(ahead, values, strict=True) if pair[0] * GROWN < most)[:SMALLEST]
    if len(now) == 1 and not each.looks and not any(told(at)[1:] for _, at in small):
        return None  # as where the lead is smallest one is named still
    for far, lead in zip(values, ahead, strict=True):
        if far and not each.looks and not (lead > most * GROWN if now[1:] else lead * GROWN < most):
            continue
        found = told(far)
        if found and bool(found[1:]) != bool(now[1:]):

            def so(value: float, found: tuple[str, ...] = found) -> bool:
                return len(told(value)) > 1 if found[1:] else told(value) == found

            at = last_true(lambda value: not so(value), each, far, WIDTH, near)
            also = list(itertools.takewhile(so, values[(place := values.index(far)) :]))
            if place + len(also) == len(values):
                return each.number(at), None, told(at)
            end = last_true(lambda value: not so(value), each, also[-1], WIDTH, values[place + len(also)])
            return each.number(at), each.number(end), told(at)
        near, most = far, lead
    return None


def ends(told: Undecided, each: Input, end: float, even: float, first: tuple[str, ...]) -> float | int | None:
    """From where on, beyond a break-even, none of the first tie is in the toss-up; None where that is not seen."""
    up = even > each.value
    near, looks = even, iter(_all(each, even, end))
    while near > 0 and near != end:
        far = next(looks, end) if each.looks else min(near * STRIDE, end) if up else max(near / STRIDE, end)
        far = float(round(far)) if each.whole else far
        found = told(far)
        if found and not {*first} & {*found}:
            return each.number(
                last_true(lambda value: bool({*first} & {*told(value)}) or not told(value), each, far, WIDTH, near)
            )
        if not found or found[0] in first:  # out of reach, or the first leads again
            return None
        near = far
    return None
