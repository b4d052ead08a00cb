"""Rounds, seconds and bytes where devices do not always come: partial participation that nobody chose.

Rounds stay completed global rounds, and each costs what completing one takes, broken ones included. What it adds to
the rounds that only S of the n who were asked take part is an approximation: who comes is no draw of anybody's, and
both predictors know of draws of a fixed number. S is the expected number. Between whole numbers a predictor that
`mixes` them has rounds with either, in that share; of others the logarithms of rounds are interpolated.

Both predictors know of a draw of S of n, of which S = n is a case, with rings in random order: the rounds are
multiplied by the ratio of their own for S to those for n. For a guarantee these are those of the theorem on draws.

Nothing is added where everyone comes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hflbounds import Bound, family
from hflbounds.exact import LAWS, Law, lettered_bound
from hflbounds.topology import Topology
from planner.cost.reliability import LEAST, Attendance, attend
from planner.cost.round import RoundCost
from planner.predict import memory

if TYPE_CHECKING:
    from planner.predict.question import Question

OWN_BOUNDS = {kind: f"hflbounds.{label}" for kind, (label, _) in LAWS.items()}
NEARLY = 1 - 1e-4  # of those asked, who are as good as all


def own_bounds(kind: Law, topologies: Mapping[str, Topology]) -> Mapping[str, Bound]:
    """The project's own theorem for topologies of one depth, by their ids: those of the catalogue for two tiers."""
    if all(topology.depth == 2 for topology in topologies.values()):
        found = {str(bound.topology): bound for bound in family(OWN_BOUNDS[kind])}
        return {id_: found[id_] for id_ in topologies}
    return {id_: lettered_bound(topology, kind) for id_, topology in topologies.items()}


def attendance(question: Question, topology: str, **changes: Any) -> Attendance:
    """What becomes of a round of a topology, also for changed counts."""
    assert question.availability is not None  # noqa: S101 - asked only where devices may stay away
    if question.members is not None:  # by groups of the mean size
        question = replace(question, members=None)
    return attend(question.round_spec(topology, **changes), question.availability)


def taking_part(question: Question, there: Attendance) -> tuple[float, ...]:
    """Expected children in a completed pass of every tier, top first."""
    return (there.groups, there.clients)[-question.depth :]


def lacks(question: Question, there: Attendance) -> bool:
    """Whether fewer take part than were asked."""
    asked = (question.values[tier.drawn] for tier in question.symbols)
    return any(some < of * NEARLY for some, of in zip(taking_part(question, there), asked, strict=True))


def rounds(question: Question, **changes: Any) -> dict[str, Any]:
    """Completed global rounds to the target; ``inf`` also where too few of those begun survive."""
    moved: tuple[Any, ...] = (*question.values.values(), question.target, question.horizon)
    if changes or any(np.ndim(value) for value in moved):
        return _rounds(question, **changes)
    known = {t: attendance(question, t) for t in question.topologies}
    there = ((t, a.survival >= LEAST, *taking_part(question, a)) for t, a in known.items())
    key = memory.key_of(replace(question, availability=None), {"": tuple(there)})
    if (found := memory.remembered(key)) is None:
        found = _rounds(question)
        memory.keep(key, found)
    return found


def _rounds(question: Question, **changes: Any) -> dict[str, Any]:
    found = replace(question, availability=None).rounds(**changes)
    values = question.moved(changes)
    drawn = [tier.drawn for tier in question.symbols]
    names = [*drawn, *(tier.passes for tier in question.symbols if tier.passes), "K"]
    counts = np.broadcast_arrays(*(np.asarray(values[name], dtype=np.float64) for name in names))
    each = list(zip(*(c.flat for c in counts), strict=True))  # often all the same
    goal = question.goal(**changes)
    for topology, bare in found.items():
        known = {some: attendance(question, topology, **dict(zip(names, some, strict=True))) for some in set(each)}
        there = [known[some] for some in each]
        come = np.array([taking_part(question, a) for a in there]).T.reshape(len(drawn), *counts[0].shape)
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
    drawn = [tier.drawn for tier in question.symbols]
    everyone = [values[name] for name in drawn]
    mixes = question.predictor.mixes
    sides = [list(_whole_numbers(some, of, mixes)) for some, of in zip(come, everyone, strict=True)]
    corners = [[number for number, _ in corner] for corner in itertools.product(*sides)]
    shares = [math.prod(share for _, share in corner) for corner in itertools.product(*sides)]
    asked = [*corners, everyone]
    shape = np.broadcast_shapes(np.shape(goal), *(np.shape(value) for value in values.values()))
    stacked = {  # in one call, which costs little more than the first of them
        name: np.stack([np.broadcast_to(one, shape) for one in column])
        for name, column in zip(drawn, zip(*asked, strict=True), strict=True)
    }
    in_draws, values = replace(question, availability=None, order="random"), {**values, **stacked}
    key = memory.key_of(in_draws, {**values, topology: goal})  # a clock that is moved has the same whole numbers
    if (known := memory.remembered(key)) is None:
        if question.predictor.guarantees:
            (bound,) = own_bounds("partial", {topology: question.topologies[topology]}).values()
            found = bound.rounds_to(goal, cap="own", **values)
        else:
            found = question.predictor.rounds_to(in_draws, topology, goal, values)
        memory.keep(key, known := {topology: found})
    needed = np.asarray(known[topology])
    with np.errstate(divide="ignore", invalid="ignore"):
        there = np.exp(sum(share * np.log(n) for share, n in zip(shares, needed, strict=False)))
        full = needed[len(corners)]
        finite = np.isfinite(there) & np.isfinite(full) & (full > 0)
        return np.maximum(np.where(finite, there, 1.0) / np.where(finite, full, 1.0), 1.0)


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


def _whole_numbers(expected: Any, most: Any, mixes: bool) -> Iterator[tuple[Any, Any]]:
    """The whole numbers on either side, and the share of each; the expected one where a predictor mixes them itself."""
    if mixes:
        yield np.clip(expected, 1, most), 1.0
        return
    low = np.clip(np.floor(expected + 1e-9), 1, most)
    part = np.clip(expected - low, 0.0, 1.0)
    yield low, 1 - part
    if np.any(part > 0):
        yield np.minimum(low + 1, most), part
