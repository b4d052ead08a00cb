"""The nearest value of each input at which a topology outside the first tie comes first, all else fixed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hflbounds.evaluate.compare import SAME
from planner.cost.round import CostError
from planner.decide.parameters import DRAWN, RATIO, Input, inputs, is_drawn, is_quick, largest_drawn, size_drawn
from planner.decide.recommendation import Flip
from planner.predict.question import Question
from planner.scenario.fields import LARGEST_COUNT
from planner.scenario.resolve import Scenario

SCANNED = 16  # points in each direction,
SCANNED_SLOWLY = 5  # and of counts, where each takes milliseconds
REACH = 1e3  # inputs are looked at from 1/REACH to REACH times their value,
REACH_OF_COUNTS = 1e2  # and counts, whose compute times must be drawn anew, less far
SECTIONS = 12  # into which an interval with a change is cut
LEFT_OUT = (RATIO, "R", *DRAWN)  # `hfl-plan flip` follows them too
Totals = Callable[[Any], Any]


@dataclass(frozen=True)
class Axis:
    """One input that is moved.

    Attributes:
        input: which.
        totals: the objective of each topology, in the order of the question, at many values of the input:
            shape (topologies, values).
    """

    input: Input
    totals: Totals


def flips(question: Question, scenario: Scenario, first: Sequence[str]) -> tuple[tuple[Flip, ...], str]:
    """The nearest flip below and above for every input looked at, nearest first; and what was looked at, in words.

    Without stragglers the seconds of a round are affine in a link's or the compute time's number (or in one over
    it), and the rounds do not depend on it: where that holds, crossings are solved for. Elsewhere a few values on
    either side are looked at, up to a factor `REACH` (counts: `REACH_OF_COUNTS`), and the first change is bracketed;
    a change that comes and goes between two of them is missed.

    Args:
        question: what was asked.
        scenario: says what decides, and which numbers follow others.
        first: the first tie group.
    """
    objective = scenario.objective
    if set(first) == set(question.topologies):
        return (), "all topologies tie"
    if objective == "rounds" and _ring_ring_by_proof(question) and "ring-ring" in first:
        return (), "with these constants and one cap for all, Ring-Ring's bound is never the larger, by proof"
    drawn = is_drawn(question)
    if drawn and objective == "time" and size_drawn(question) > largest_drawn(question):
        return (), "not looked at: the fleet is too large to draw its compute times again and again"
    found: list[Flip] = []
    axes = list(_axes(question, scenario))
    for axis in axes:
        for side in (-1, 1):
            with suppress(CostError):  # a fleet or a model that cannot be timed lies beyond what is looked at
                flip = _solve(axis, side, question, first) if axis.input.timed and not drawn else None
                flip = flip or _search(axis, side, question, first)
                if flip:
                    found.append(flip)
    names = ", ".join(axis.input.name for axis in axes)
    looked = f"one input at a time, by up to a factor {REACH:g} (counts {REACH_OF_COUNTS:g}): {names}"
    return tuple(sorted(found, key=lambda flip: abs(np.log(float(flip.at) / float(flip.from_))))), looked


def _ring_ring_by_proof(question: Question) -> bool:
    """Whether all bounds share their constants and their cap, so that their order is that of their drift terms."""
    if not is_quick(question):
        return False
    first = next(iter(question.bounds.values()))
    shared = first.status == "own" or first.constants == "hidden"
    return first.chain is not None and shared and (question.cap != "own" or first.constants == "explicit")


def _solve(axis: Axis, side: int, question: Question, first: Sequence[str]) -> Flip | None:
    """The nearest crossing, where every total is affine in the input or in one over it."""
    topologies = tuple(question.topologies)
    leaders = [topologies.index(t) for t in first]
    for power in (1, -1):
        at = axis.input.value * np.array([0.5, 1.0, 3.0]) ** power
        x, totals = at**power, axis.totals(at)
        others = [i for i in range(len(topologies)) if i not in leaders and np.isfinite(totals[i]).all()]
        totals = np.where(np.isfinite(totals), totals, 0.0)
        slope = (totals[:, 2] - totals[:, 0]) / (x[2] - x[0])
        base = totals[:, 0] - slope * x[0]
        if np.any(np.abs(base + slope * x[1] - totals[:, 1]) > 1e-12 * totals[:, 1]):
            continue
        crossings = []
        for i in leaders:
            for j in others:
                if slope[i] != slope[j]:
                    crossing = (base[j] - base[i]) / (slope[i] - slope[j])
                    if crossing > 0:
                        crossings.append(float(crossing**power))
        beyond = sorted((c for c in crossings if 1 < (c / axis.input.value) ** side <= REACH), key=lambda c: side * c)
        for value in beyond:
            just = value * (1 + side * 1e-9)
            there = axis.totals(np.array([just]))[:, 0]
            there = np.where(np.isfinite(there), there, 0.0)
            affine = base + slope * just**power  # a rate may stop being the bottleneck on the way
            if np.any(np.abs(affine - there) > 1e-9 * there):
                return None
            if there[others].min() < there[leaders].min():
                return _flip(axis, value, topologies[min(others, key=lambda i: there[i])], exact=True)
        return None
    return None


def _axes(question: Question, scenario: Scenario) -> Iterator[Axis]:
    # A preset or concentrations state both deviations in sigmas: there sigma cannot move alone.
    alone = scenario.known["zeta"].origin == "given" or scenario.known["delta"].origin == "given"
    for name, each in inputs(question, scenario.objective).items():
        if each.value > 0 and name not in LEFT_OUT and (alone or name != "sigma"):
            yield Axis(each, partial(each.totals, question, scenario.objective, tuple(question.topologies)))


def _search(axis: Axis, side: int, question: Question, first: Sequence[str]) -> Flip | None:
    """The first scanned value on one side at which another topology leads, then brought near by bisection."""
    topologies = tuple(question.topologies)
    leaders = [topologies.index(t) for t in first]
    others = [i for i in range(len(topologies)) if i not in leaders]
    reach = REACH_OF_COUNTS if axis.input.whole else REACH
    scanned = SCANNED_SLOWLY if axis.input.whole and not is_quick(question) else SCANNED
    grid = axis.input.value * reach ** (side * np.arange(1, scanned + 1) / scanned)
    if axis.input.whole:
        grid = np.unique(np.clip(np.round(grid), 1, LARGEST_COUNT))[::side]
        grid = grid[(grid - axis.input.value) * side > 0]
        if is_drawn(question):
            grid = grid[grid / axis.input.value * size_drawn(question) <= 10 * largest_drawn(question)]
    if not len(grid):
        return None

    def overtaken(at: Any) -> Any:
        totals = axis.totals(at)
        return totals[others].min(axis=0) < totals[leaders].min(axis=0) * (1 - SAME)

    changed = np.flatnonzero(overtaken(grid))
    if not len(changed):
        return None
    inside, outside = (axis.input.value if changed[0] == 0 else grid[changed[0] - 1]), grid[changed[0]]
    sections = 3 if scanned < SCANNED else SECTIONS
    while abs(outside / inside - 1) > 1e-4:
        between = np.geomspace(inside, outside, sections + 1)[1:-1]
        if axis.input.whole:
            between = np.unique(np.round(between))[::side]
            between = between[(between != inside) & (between != outside)]
        if not len(between):
            break
        over = overtaken(between)
        k = int(over.argmax()) if over.any() else len(between)
        inside, outside = [inside, *between][k], [*between, outside][k]
    best = topologies[int(axis.totals(np.array([outside]))[:, 0].argmin())]
    return _flip(axis, float(outside), best, exact=False)


def _flip(axis: Axis, at: float, to: str, *, exact: bool) -> Flip:
    before, after = (int(axis.input.value), int(at)) if axis.input.whole else (axis.input.value, at)
    return Flip(parameter=axis.input.name, from_=before, at=after, to=to, unit=axis.input.unit, exact=exact)
