"""The nearest value of each input at which a topology outside the first tie comes first, all else fixed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hflbounds.compare import SAME
from planner.cost import CostError
from planner.prediction import Question
from planner.recommendation import Flip
from planner.scenario import Scenario
from planner.scenario_file import LARGEST_COUNT, Objective

SCANNED = 16  # points in each direction
REACH = 1e3  # inputs are looked at from 1/REACH to REACH times their value,
REACH_OF_COUNTS = 1e2  # and counts, whose compute times must be drawn anew, less far
LARGEST_DRAWN = 2_000  # clients times group rounds; beyond it random compute times are not drawn again to look around
LARGEST_PLAYED = 200  # the same where one server is shared by all, and a round is played event by event
COUNTS = ("G", "M", "P", "K")
DEVIATIONS = ("sigma", "zeta", "delta")
Totals = Callable[[Any], Any]


@dataclass(frozen=True)
class Axis:
    """One input that may be moved.

    Attributes:
        name: as in the scenario.
        value: now.
        totals: the objective of each topology, in the order of the question, at many values of the input:
            shape (topologies, values).
        unit: of the value.
        whole: whether the input counts things.
    """

    name: str
    value: float
    totals: Totals
    unit: str = ""
    whole: bool = False


def flips(question: Question, scenario: Scenario, first: Sequence[str]) -> tuple[tuple[Flip, ...], str]:
    """The nearest flip below and above for every input looked at, nearest first; and what was looked at, in words.

    Without stragglers the seconds of a round are affine in a link's or the compute time's number (or in one over
    it), and the rounds do not depend on it: where that holds, crossings are solved for. Elsewhere `SCANNED` values on
    either side are looked at, up to a factor `REACH` (counts: `REACH_OF_COUNTS`), and the first change is bracketed;
    a change that comes and goes between two of them is missed.

    Args:
        question: what was asked.
        scenario: says what decides, and which numbers follow others.
        first: the first tie group.
    """
    objective = scenario.objective
    if set(first) == set(question.bounds):
        return (), "all topologies tie"
    if objective == "rounds" and _ring_ring_by_proof(question) and "ring-ring" in first:
        return (), "with these constants and one cap for all, Ring-Ring's bound is never the larger, by proof"
    drawn = question.compute.straggler.kind != "none"
    if drawn and objective == "time" and _size(question) > _largest(question):
        return (), "not looked at: the fleet is too large to draw its compute times again and again"
    found: list[Flip] = []
    axes = list(_axes(question, scenario))
    for axis in axes:
        for side in (-1, 1):
            with suppress(CostError):  # a fleet or a model that cannot be timed lies beyond what is looked at
                flip = _solve(axis, side, question, first) if axis.unit and not drawn else None
                flip = flip or _search(axis, side, question, first)
                if flip:
                    found.append(flip)
    names = ", ".join(axis.name for axis in axes)
    looked = f"one input at a time, by up to a factor {REACH:g} (counts {REACH_OF_COUNTS:g}): {names}"
    return tuple(sorted(found, key=lambda flip: abs(np.log(float(flip.at) / float(flip.from_))))), looked


def _ring_ring_by_proof(question: Question) -> bool:
    """Whether all bounds share their constants and their cap, so that their order is that of their drift terms."""
    first = next(iter(question.bounds.values()))
    shared = first.status == "own" or first.constants == "hidden"
    return first.chain is not None and shared and (question.cap != "own" or first.constants == "explicit")


def _solve(axis: Axis, side: int, question: Question, first: Sequence[str]) -> Flip | None:
    """The nearest crossing, where every total is affine in the input or in one over it."""
    topologies = tuple(question.bounds)
    leaders = [topologies.index(t) for t in first]
    for power in (1, -1):
        at = axis.value * np.array([0.5, 1.0, 3.0]) ** power
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
        beyond = sorted((c for c in crossings if 1 < (c / axis.value) ** side <= REACH), key=lambda c: side * c)
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
    objective = scenario.objective
    topologies = tuple(question.bounds)
    prices = {t: question.price(t, objective) for t in topologies}

    def at_these_prices(rounds: dict[str, Any]) -> Any:
        return np.stack([rounds[t] * prices[t] for t in topologies])

    # A preset or concentrations state both deviations in sigmas: there sigma cannot move alone.
    alone = scenario.known["zeta"].origin == "given" or scenario.known["delta"].origin == "given"
    for name in DEVIATIONS if alone else DEVIATIONS[1:]:
        if question.values[name] > 0:
            yield Axis(name, question.values[name], _vary(name, question, at_these_prices))
    if question.target is not None:
        moved: Totals = lambda at: at_these_prices(replace(question, target=at, share=None).rounds())  # noqa: E731
        yield Axis("target", question.target, moved)
    for name in COUNTS:
        yield Axis(name, question.values[name], _recount(name, question, objective), whole=True)
    if objective != "time":
        return  # traffic is proportional to the model, and rounds cost nothing: no link changes their order

    rounds = np.array([[float(n)] for n in question.rounds().values()])

    def by_setting(change: Callable[[float], Question]) -> Totals:
        def totals(at: Any) -> Any:
            questions = [change(float(x)) for x in np.atleast_1d(at)]
            return rounds * np.array([[q.price(t, objective) for t in topologies] for q in questions]).T

        return totals

    sized = by_setting(lambda x: question.varied(model_bytes=x))
    yield Axis("model_size", question.model_bytes, sized, "bytes")
    if question.compute.step_time > 0:
        slower = by_setting(lambda x: question.varied(compute=replace(question.compute, step_time=x)))
        yield Axis("step_time", question.compute.step_time, slower, "s")
    tiers = ("client_link", "server_link") if question.network.tiers == 2 else ("client_link",)
    for tier in tiers:
        for part, unit in (("up", "bit/s"), ("down", "bit/s"), ("latency", "s")):
            value = getattr(getattr(question.network, tier), part)
            if value > 0:
                yield Axis(f"{tier}.{part}", value, by_setting(_relink(question, tier, part)), unit)


def _vary(name: str, question: Question, price: Totals) -> Totals:
    return lambda at: price(question.rounds(**{name: at}))


def _recount(name: str, question: Question, objective: Objective) -> Totals:
    def totals(at: Any) -> Any:
        changes = [question.with_counts(**{name: int(n)}) for n in np.atleast_1d(at)]
        keys = {key for change in changes for key in change}
        arrays = {key: np.array([c.get(key, question.values[key]) for c in changes]) for key in keys}
        rounds = np.stack(list(question.rounds(**arrays).values()))
        # Topologies inside: those of one fleet share its draws of compute times.
        return rounds * np.array([[question.price(t, objective, **c) for t in question.bounds] for c in changes]).T

    return totals


def _relink(question: Question, tier: str, part: str) -> Callable[[float], Question]:
    def changed(value: float) -> Question:
        link = replace(getattr(question.network, tier), **{part: value})
        return question.varied(network=replace(question.network, **{tier: link}))

    return changed


def _search(axis: Axis, side: int, question: Question, first: Sequence[str]) -> Flip | None:
    """The first scanned value on one side at which another topology leads, then brought near by bisection."""
    topologies = tuple(question.bounds)
    leaders = [topologies.index(t) for t in first]
    others = [i for i in range(len(topologies)) if i not in leaders]
    reach = REACH_OF_COUNTS if axis.whole else REACH
    grid = axis.value * reach ** (side * np.arange(1, SCANNED + 1) / SCANNED)
    if axis.whole:
        grid = np.unique(np.clip(np.round(grid), 1, LARGEST_COUNT))[::side]
        grid = grid[(grid - axis.value) * side > 0]
        if question.compute.straggler.kind != "none":
            grid = grid[grid / axis.value * _size(question) <= 10 * _largest(question)]
    if not len(grid):
        return None

    def overtaken(at: Any) -> Any:
        totals = axis.totals(at)
        return totals[others].min(axis=0) < totals[leaders].min(axis=0) * (1 - SAME)

    changed = np.flatnonzero(overtaken(grid))
    if not len(changed):
        return None
    inside, outside = (axis.value if changed[0] == 0 else grid[changed[0] - 1]), grid[changed[0]]
    while abs(outside / inside - 1) > 1e-4:
        middle = np.round((inside + outside) / 2) if axis.whole else np.sqrt(inside * outside)
        if middle in (inside, outside):
            break
        if overtaken(np.array([middle]))[0]:
            outside = middle
        else:
            inside = middle
    best = topologies[int(axis.totals(np.array([outside]))[:, 0].argmin())]
    return _flip(axis, float(outside), best, exact=False)


def _largest(question: Question) -> float:
    played = question.network.tiers == 1 and question.network.client_link.sharing == "per-server"
    return LARGEST_PLAYED if played else LARGEST_DRAWN


def _size(question: Question) -> float:
    return question.values["S1"] * question.values["S2"] * question.values["P"]


def _flip(axis: Axis, at: float, to: str, *, exact: bool) -> Flip:
    before, after = (int(axis.value), int(at)) if axis.whole else (axis.value, at)
    return Flip(parameter=axis.name, from_=before, at=after, to=to, unit=axis.unit, exact=exact)
