"""Rounds, seconds and bytes where devices do not always come: partial participation that nobody chose.

Rounds stay completed global rounds, and each costs what completing one takes, broken ones included. What it adds to
the rounds that only S of the n who were asked take part is an approximation: who comes is no draw of anybody's, and
both predictors know of draws of a fixed number. S is the expected number, between whole numbers linearly.

* A model of runs draws S of n: its rounds are multiplied by its own ratio of S to n, both with rings in random order.
* A bound on draws is loose where nearly all are drawn, so it is not taken as it stands. For the noise of fewer
  gradients the rounds are multiplied by ``N(S)/N(n)``, where N are those that `hflbounds.sharp-partial` needs without
  heterogeneity. The mean of those who come strays from that of all by ``(n - S)/(n - 1)`` of what it would if they were
  drawn from very many: the rounds that this bound needs with the deviations scaled by the root of that factor, less
  N(S), are added. Where only some of the fleet are asked in the first place, it is the ratio of S to n.

Nothing is added where everyone comes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hflbounds import Bound, family
from planner.cost.reliability import LEAST, Attendance, attend
from planner.cost.round import RoundCost

if TYPE_CHECKING:
    from planner.predict.question import Question

OWN_BOUNDS = {"fixed": "hflbounds.sharp", "random": "hflbounds.sharp-shuffle", "partial": "hflbounds.sharp-partial"}
NEARLY = 1 - 1e-4  # of those asked, who are as good as all


def attendance(question: Question, topology: str, **changes: Any) -> Attendance:
    """What becomes of a round of a topology, also for changed counts."""
    assert question.availability is not None  # noqa: S101 - asked only where devices may stay away
    return attend(question.round_spec(topology, **changes), question.availability)


def taking_part(there: Attendance) -> tuple[float, ...]:
    """Expected children in a completed pass of every tier, top first."""
    return there.groups, there.clients


def lacks(question: Question, there: Attendance) -> bool:
    """Whether fewer take part than were asked."""
    asked = (question.values[tier.drawn] for tier in question.symbols)
    return any(some < of * NEARLY for some, of in zip(taking_part(there), asked, strict=True))


def rounds(question: Question, **changes: Any) -> dict[str, Any]:
    """Completed global rounds to the target; ``inf`` also where too few of those begun survive."""
    moved: tuple[Any, ...] = (*question.values.values(), question.target, question.horizon)
    if changes or any(np.ndim(value) for value in moved):
        return _rounds(question, **changes)
    there = ((t, a.survival >= LEAST, *taking_part(a)) for t in question.topologies for a in [attendance(question, t)])
    key = (
        tuple((name, float(value)) for name, value in question.values.items()),
        tuple(None if n is None else float(n) for n in (question.target, question.share, question.horizon)),
        (question.cap, question.order, question.predictor.id, question.metric, question.seed, question.partial),
        question.family,
        tuple(there),
    )
    return dict(_rounds_of(_Case(key, question)))


@dataclass(frozen=True)
class _Case:
    """A question by all that its rounds depend on; those that differ by a link or a clock have them in common."""

    key: tuple[Any, ...]
    question: Question = field(compare=False)


@lru_cache(maxsize=4096)
def _rounds_of(case: _Case) -> dict[str, Any]:
    return _rounds(case.question)


def _rounds(question: Question, **changes: Any) -> dict[str, Any]:
    found = replace(question, availability=None).rounds(**changes)
    values = {**question.values, **changes}
    drawn = [tier.drawn for tier in question.symbols]
    names = [*drawn, *(tier.passes for tier in question.symbols if tier.passes), "K"]
    counts = np.broadcast_arrays(*(np.asarray(values[name], dtype=np.float64) for name in names))
    goal = question.goal(**changes)
    for topology, bare in found.items():
        there = [
            attendance(question, topology, **dict(zip(names, each, strict=True)))
            for each in zip(*(c.flat for c in counts), strict=True)
        ]
        come = np.array([taking_part(a) for a in there]).T.reshape(len(drawn), *counts[0].shape)
        feasible = np.array([a.survival for a in there]).reshape(counts[0].shape) >= LEAST
        asked = [values[name] for name in drawn]
        lacking = feasible & np.any([some < of for some, of in zip(come, asked, strict=True)], axis=0)
        needed = np.asarray(bare, dtype=np.float64)
        if lacking.any():
            present = [np.where(lacking, some, of) for some, of in zip(come, asked, strict=True)]
            needed = np.where(lacking, np.ceil(bare * _dearer(question, topology, present, goal, values) - 1e-9), bare)
        found[topology] = np.where(feasible & (needed <= question.allowed), needed, np.inf)[()]
    return found


def _dearer(question: Question, topology: str, come: list[Any], goal: Any, values: dict[str, Any]) -> Any:
    """Factor on the rounds where so many take part of those who were asked; see the module."""
    drawn, deviation = ([getattr(tier, name) for tier in question.symbols] for name in ("drawn", "deviation"))
    everyone, apart = ([values[name] for name in names] for names in (drawn, deviation))
    sides = [list(_whole_numbers(some, of)) for some, of in zip(come, everyone, strict=True)]
    corners = [[number for number, _ in corner] for corner in itertools.product(*sides)]
    shares = [math.prod(share for _, share in corner) for corner in itertools.product(*sides)]
    alike = [0.0] * len(apart)
    ratio = not question.predictor.guarantees or question.partial
    if ratio:
        asked = [[*corner, *apart] for corner in corners] + [[*everyone, *apart]]
    else:
        straying = [gap * _finite(some, of) for gap, some, of in zip(apart, come, everyone, strict=True)]
        asked = [[*corner, *straying] for corner in corners] + [[*everyone, *alike]]
        asked += [[*corner, *alike] for corner in corners]
    shape = np.broadcast_shapes(np.shape(goal), *(np.shape(value) for value in values.values()))
    stacked = {  # in one call, which costs little more than the first of them
        name: np.stack([np.broadcast_to(one, shape) for one in column])
        for name, column in zip((*drawn, *deviation), zip(*asked, strict=True), strict=True)
    }
    if question.predictor.guarantees:
        found = _bounds(OWN_BOUNDS["partial"])[topology].rounds_to(goal, cap="own", **{**values, **stacked})
    else:
        found = question.predictor.rounds_to(replace(question, order="random"), topology, goal, {**values, **stacked})
    needed = np.asarray(found)
    with np.errstate(invalid="ignore"):
        there = sum(share * n for share, n in zip(shares, needed, strict=False))
        full = needed[len(corners)]
        if not ratio:
            quiet = sum(share * n for share, n in zip(shares, needed[len(corners) + 1 :], strict=True))
            own = _bounds(OWN_BOUNDS[question.order])[topology]
            without, full = full, np.asarray(own.rounds_to(goal, cap="own", **values))
            there = full * quiet / without + (there - quiet)
        known = np.isfinite(there) & np.isfinite(full) & (full > 0)
        return np.maximum(np.where(known, there, 1.0) / np.where(known, full, 1.0), 1.0)


def _bounds(family_id: str) -> Mapping[str, Bound]:
    return {bound.topology: bound for bound in family(family_id) if bound.topology}


def of_a_round(question: Question, topology: str, cost: RoundCost, **changes: Any) -> RoundCost:
    """Correct the cost of a round to which everyone comes: per completed global round, unless hardly any is."""
    there = attendance(question, topology, **changes)
    if not there.feasible:
        return cost
    traffic = tuple(size * more for size, more in zip(cost.bytes_by_tier, there.traffic, strict=True))
    seconds, error = cost.seconds * there.slower, cost.standard_error * there.slower
    return replace(cost, seconds=seconds, standard_error=error, bytes=sum(traffic), bytes_by_tier=traffic)


def begun(question: Question, topology: str, **changes: Any) -> float:
    """Global rounds begun for one that is completed; 1 where hardly any is."""
    there = attendance(question, topology, **changes)
    return 1 / there.survival if there.feasible else 1.0


def _whole_numbers(expected: Any, most: Any) -> Iterator[tuple[Any, Any]]:
    """The whole numbers on either side, and the share of each."""
    low = np.clip(np.floor(expected + 1e-9), 1, most)
    part = np.clip(expected - low, 0.0, 1.0)
    yield low, 1 - part
    if np.any(part > 0):
        yield np.minimum(low + 1, most), part


def _finite(some: Any, of: Any) -> Any:
    """Root of the finite-population factor ``(n - S)/(n - 1)``: how far a mean of S of n strays, against S of many."""
    return np.sqrt(np.clip((of - some) / np.maximum(of - 1.0, 1.0), 0.0, 1.0))
