"""The nearest value of each input at which a topology outside the first tie comes first, all else fixed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hflbounds.compare import SAME, crossings
from hflbounds.errors import ComparisonError
from planner.prediction import Question
from planner.recommendation import Flip
from planner.scenario import LARGEST_COUNT, Objective

SCANNED = 16  # points in each direction
REACH = 1e3  # inputs are looked at from 1/REACH to REACH times their value,
REACH_OF_COUNTS = 1e2  # and counts, whose compute times must be drawn anew, less far
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


def flips(question: Question, objective: Objective, first: Sequence[str]) -> tuple[Flip, ...]:
    """The nearest flip below and above for every input that the objective depends on, nearest first.

    Where only rounds count and the bounds share their constants and their cap, crossings of the bounds are
    roots of polynomials and none is missed. Elsewhere `SCANNED` values on either side are looked at, up to a
    factor `REACH` (counts: `REACH_OF_COUNTS`), and the first change is bracketed; a change that comes and goes
    between two of them is missed.

    Args:
        question: what was asked.
        objective: what decides.
        first: the first tie group.
    """
    if set(first) == set(question.bounds):
        return ()
    found = _closed_form(question, first) if objective == "rounds" else None
    if found is None:
        sides = ((axis, side) for axis in _axes(question, objective) for side in (-1, 1))
        found = [flip for axis, side in sides if (flip := _search(axis, side, question, first))]
    return tuple(sorted(found, key=lambda flip: abs(np.log(float(flip.at) / float(flip.from_)))))


def _closed_form(question: Question, first: Sequence[str]) -> list[Flip] | None:
    """Flips of the order at a common step; None where the constants or the caps differ."""
    bounds = question.bounds
    if question.cap == "own" and next(iter(bounds.values())).constants == "hidden":
        return None  # each topology has a cap of its own
    found: list[Flip] = []
    for name in (*COUNTS, *DEVIATIONS):
        value, whole = question.values[name], name in COUNTS
        if value <= 0:
            continue
        try:
            roots = {
                root
                for leader in first
                for other in bounds
                if other not in first
                for root in crossings(bounds[leader], bounds[other], name, **question.values)
            }
        except ComparisonError:
            return None
        beyond = [_beyond(root, value, whole) for root in roots]
        for side in (-1, 1):
            reach = sorted((x for x in beyond if 1 < (x / value) ** side <= REACH), key=lambda x: side * x)
            for at in reach:
                best = _best_at(question, name, at)
                if best not in first:
                    found.append(_flip(Axis(name, value, _never, whole=whole), at, best, exact=True))
                    break
    return found


def _never(at: Any) -> Any:
    raise AssertionError("a closed form has no totals to search")


def _beyond(root: float, value: float, whole: bool) -> float:
    """The first value on the far side of a crossing, as seen from ``value``."""
    if not whole:
        return root * (1 + 1e-9 if root > value else 1 - 1e-9)
    return float(np.floor(root) + 1 if root > value else max(1.0, np.ceil(root) - 1))


def _best_at(question: Question, name: str, at: float) -> str:
    """The topology with the smallest bound; the constants are shared, so any number of rounds will do."""
    changes = question.with_counts(**{name: int(at)}) if name in COUNTS else {name: at}
    values = {**question.values, **changes, "R": question.horizon or 1000.0}
    tuned = {t: b.tuned(cap=question.cap, **values).value for t, b in question.bounds.items()}
    return min(tuned, key=lambda t: float(tuned[t]))


def _axes(question: Question, objective: Objective) -> Iterator[Axis]:
    topologies = tuple(question.bounds)
    prices = {t: question.price(t, objective) for t in topologies}

    def at_these_prices(rounds: dict[str, Any]) -> Any:
        return np.stack([rounds[t] * prices[t] for t in topologies])

    for name in DEVIATIONS:
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


def _flip(axis: Axis, at: float, to: str, *, exact: bool) -> Flip:
    before, after = (int(axis.value), int(at)) if axis.whole else (axis.value, at)
    return Flip(parameter=axis.name, from_=before, at=after, to=to, unit=axis.unit, exact=exact)
