"""What `hfl-plan flip` answers, as data: how far every input is from another answer, and what comes first beyond."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from hflbounds.errors import HflBoundsError
from hflbounds.evaluate.compare import SAME, crossings
from planner.cost.round import CostError
from planner.decide import breakpoints as changes
from planner.decide import participation
from planner.decide.parameters import (
    Input,
    Perturbed,
    counts_drawn,
    input_name,
    inputs,
    is_drawn,
    is_quick,
    largest_drawn,
    ratios,
    size_drawn,
)
from planner.decide.uncertainty import agreement
from planner.errors import NoAnswerError, ScenarioError
from planner.io.answers import Kept, KnownValue, Text
from planner.io.parts import Part, field
from planner.io.version import version
from planner.io.wording import names as join_names
from planner.io.wording import title
from planner.predict.question import Question, ask, ceil_rounds, with_default_order
from planner.scenario.fields import CLOCKED, CostMethod, Objective
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_amount

TITLES = {
    "client_link.up": "uplink",
    "client_link.down": "downlink",
    "client_link.latency": "latency",
    "server_link.up": "server uplink",
    "server_link.down": "server downlink",
    "server_link.latency": "server latency",
    "model_size": "model size",
    "step_time": "step time",
}
MANY = 8  # topologies of a deep tree that break-even points are looked for among: the best ones, and the reference
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Flip:
    """The nearest value of one input, all others fixed, at which another topology is best.

    Attributes:
        parameter, unit: Of the input.
        now, at: Its value, and the value at which that happens.
        to: Which topology.
        exact: Whether it comes from a closed form, and not from a search.
    """

    parameter: str
    now: float | int
    at: float | int
    to: str
    unit: str
    exact: bool


class Beyond(Part):
    """The nearest change on one side."""

    at: float | int = field("the first value at which a topology outside the first tie comes first")
    before: float | int = field("the last value seen without it; `at` itself where it is solved")
    words: str = field("such as: uplink > 34 Mbit/s")
    distance: float | None = field("ln(at / value), negative below; null where the value or `at` is 0")
    to: tuple[str, ...] = field("who comes first there; empty where the target is not reached")
    clear: float | int | None = field("from where on none of the first tie is within the resolution")
    exact: bool = field("solved, or every whole number looked at; not searched")
    crossing: float | None = field("where the two bounds are equal at every step, in closed form")
    rounds: int | None = field("of the new first one, there")
    seconds: float | None
    bytes: float | None


class Stretch(Part):
    """A stretch of an input over which the same topologies stay within the resolution of the best."""

    low: float | int
    high: float | int
    topologies: tuple[str, ...] = field("empty where the target is not reached")


class Line(Part):
    """What lies along one input."""

    parameter: str
    value: float | int
    unit: str
    low: float | int = field("the range: from")
    high: float | int = field("the range: to")
    road: changes.Method = field("how the range was followed")
    unseen: float = field("relative width of the widest interval in which a change could hide")
    note: str = field("why it was only looked at, where it was")
    below: Beyond | None
    above: Beyond | None
    stretches: tuple[Stretch, ...] = field("over the whole range, upwards")


class Alternative(Part):
    """Another word in place of one of the scenario's."""

    parameter: str
    value: str
    other: str
    first: tuple[str, ...] = field("the first tie then; empty where the target is not reached")
    flips: bool = field("whether it has none of the present first tie")
    rounds: int | None = field("of the first then")
    seconds: float | None
    bytes: float | None


class Flips(Kept):
    """Every change of the answer, along every input. Nearest first."""

    schema: Literal["hfl-plan/flip/1"] = "hfl-plan/flip/1"
    version: str
    title: str
    scenario: dict[str, KnownValue]
    objective: Objective
    bounds: str
    predictor: str = field("whose rounds are meant")
    cost: CostMethod
    resolution: float
    seed: int
    among: tuple[str, ...] = field("the topologies that compete")
    first: tuple[str, ...] = field("the first tie now")
    rounds: int | None = field("of the first")
    seconds: float | None
    bytes: float | None
    lines: tuple[Line, ...]
    alternatives: tuple[Alternative, ...]
    unmoved: dict[str, str] = field("inputs that were not followed, and why")
    warnings: tuple[Text, ...]


def flip(
    scenario: Scenario,
    among: Sequence[str] = (),
    only: Sequence[str] = (),
    progress: Progress = lambda _: None,
) -> Flips:
    """Follow every input to every change of the answer.

    Args:
        scenario: with known groups.
        among: topologies that compete; empty for all.
        only: names of inputs to follow; empty for all.
        progress: is told the name of each input before it is followed.

    Raises:
        ScenarioError: for a free number of groups, an unknown topology or input.
        NoAnswerError: if no topology reaches the target.
    """
    scenario, question, competing = posed(scenario, among)
    objective = scenario.objective
    now = totals_of(question, objective, competing)
    resolution = resolution_of(question, scenario)
    first = first_tie(now, resolution)
    if not first:
        raise NoAnswerError(
            "no topology reaches the target, so there is no answer that could change. "
            "`hfl-plan recommend` says what it would take."
        )
    followed, unmoved = _followed(question, objective, only)
    lines = []
    for each in followed:
        progress(each.name)
        found = changes.along(each, question, objective, competing, first, resolution)
        lines.append(_line(found, question, objective, first))
    lines.sort(key=_nearness)
    return Flips(
        version=version(),
        title=scenario.title,
        scenario=known_values(scenario),
        objective=objective,
        bounds=question.family,
        predictor=question.predictor.id,
        cost=scenario.cost,
        resolution=resolution,
        seed=scenario.seed,
        among=competing,
        first=first,
        **costs(Perturbed(question), first[0]),
        lines=tuple(lines),
        alternatives=() if only else tuple(_alternatives(question, scenario, competing, first)),
        unmoved=unmoved,
        warnings=scenario.warnings,
    )


def nearest_flips(question: Question, scenario: Scenario, first: Sequence[str]) -> tuple[tuple[Flip, ...], str]:
    """Find the nearest flip below and above for every input, quickly, nearest first; and say what was looked at.

    Args:
        question: What was asked.
        scenario: Says what decides, and which numbers follow others.
        first: The first tie group.
    """
    objective = scenario.objective
    if set(first) == set(question.topologies):
        return (), "all topologies tie"
    if objective == "rounds" and (least := _least_by_proof(question)) in first:
        return (), f"with these constants and one cap for all, {title(least)}'s bound is never the larger, by proof"
    if objective in CLOCKED and is_drawn(question) and size_drawn(question) > largest_drawn(question):
        return (), "not looked at: the fleet is too large to draw its compute times again and again"
    few, among = _nearest(question, objective)
    left_out = ("R", *ratios(question), *counts_drawn(question))  # `flip` follows them too
    looked = {name: each for name, each in inputs(few, objective).items() if name not in left_out}
    found = [
        Flip(
            parameter=name,
            now=_number(each, each.value),
            at=_number(each, change.at),
            to=change.to[0],
            unit=each.unit,
            exact=solved,
        )
        for name, each in looked.items()
        for change, solved in changes.nearest(each, few, objective, [t for t in first if t in few.topologies])
    ]
    found.sort(key=lambda flip: abs(math.log(float(flip.at) / float(flip.now))) if flip.now else math.inf)
    far = f"by up to a factor {changes.REACH:g} (counts {changes.REACH_OF_COUNTS:g}; from 0 what is 0)"
    return tuple(found), f"one input at a time, {far}{among}: {', '.join(looked)}"


def _nearest(question: Question, objective: Objective) -> tuple[Question, str]:
    """The question with the best topologies alone where there are many; and words that say so."""
    if len(question.topologies) <= MANY:
        return question, ""
    rounds = question.rounds()
    order = sorted(question.topologies, key=lambda t: float(rounds[t]) * question.price(t, objective))
    kept = {*order[:MANY], question.reference}
    few = {t: tree for t, tree in question.topologies.items() if t in kept}
    return replace(question, topologies=few), f", among the best {MANY} of {len(order)} topologies"


def _least_by_proof(question: Question) -> str:
    """The topology whose bound is never the larger, where all bounds share their constants and their cap; else ""."""
    bound = next(iter(question.bounds.values()), None)
    if not is_quick(question) or bound is None or bound.chain is None or len(question.symbols) != 2:
        return ""
    shared = (bound.status == "own" or bound.constants == "hidden") and "order" not in bound.breaks
    if not shared or (question.cap == "own" and bound.constants != "explicit"):
        return ""
    return next((t for t, tree in question.topologies.items() if all(p.ordered for p in tree.patterns)), "")


def posed(scenario: Scenario, among: Sequence[str]) -> tuple[Scenario, Question, tuple[str, ...]]:
    """The scenario with its order of rings, what it asks, and the topologies that compete: those of ``among``, or all.

    Raises:
        ScenarioError: where counts are yet to be searched for, for an unknown topology, or fewer than two.
        NoAnswerError: where no topology survives.
    """
    if scenario.divisions:
        raise ScenarioError(
            "flip: the number of groups is free here, so there is no one answer to start from. "
            "Give --groups and --clients-per-group, such as those `hfl-plan recommend` finds."
        )
    scenario = with_default_order(scenario)
    question = ask(scenario)
    participation.check(question)
    for name in among:
        if name not in question.topologies:
            raise ScenarioError(f"--among: {name!a:.40} is not one of {', '.join(question.topologies)}.")
    kept = tuple(t for t in question.topologies if t in among or not among)
    if len(kept) < 2:
        raise ScenarioError("--among: one topology has nothing to change places with. Name two or more.")
    return scenario, question, kept


def known_values(scenario: Scenario) -> dict[str, KnownValue]:
    """What is known, as an answer shows it."""
    return {
        name: KnownValue(value=k.value, origin=k.origin, unit=k.unit, source=k.note, reading=k.reading)
        for name, k in scenario.known.items()
    }


def totals_of(question: Question, objective: Objective, among: Sequence[str]) -> dict[str, float]:
    """The objective of each topology; ``inf`` where it does not reach the target."""
    rounds = question.rounds()
    return {
        t: float(rounds[t]) * question.price(t, objective) if math.isfinite(float(rounds[t])) else math.inf
        for t in among
    }


def first_tie(totals: dict[str, float], resolution: float) -> tuple[str, ...]:
    """Those within the resolution of the best, the best first; none where the target is not reached."""
    best = min(totals.values())
    if not math.isfinite(best):
        return ()
    tied = [t for t, total in totals.items() if total <= best * (1 + max(resolution, SAME))]
    return tuple(sorted(tied, key=lambda t: totals[t]))


def resolution_of(question: Question, scenario: Scenario) -> float:
    """The relative difference below which `recommend` says that topologies tie here."""
    totals = {t: float(n) * question.price(t, scenario.objective) for t, n in question.rounds().items()}
    finite = {t: n for t, n in totals.items() if math.isfinite(n)}
    return agreement(question, scenario, scenario.objective, finite).resolution


def costs(moved: Perturbed, topology: str | None) -> dict[str, Any]:
    """Rounds, seconds and bytes of a topology, by name; None what is not finite, and everything without a topology."""
    found: dict[str, Any] = {"rounds": None, "seconds": None, "bytes": None}
    rounds = math.inf if topology is None else float(np.asarray(moved.rounds()[topology]).item())
    if topology is None or not math.isfinite(rounds):
        return found
    found["rounds"] = count = ceil_rounds(rounds)
    try:
        round_ = moved.question.of_a_round(topology, **{n: float(v) for n, v in moved.changes.items()})
    except CostError:
        return found
    return found | {"seconds": count * round_.seconds, "bytes": count * round_.bytes}


def name_of(parameter: str) -> str:
    """An input as people write it."""
    return TITLES.get(parameter, parameter)


def _followed(question: Question, objective: Objective, only: Sequence[str]) -> tuple[list[Input], dict[str, str]]:
    """The inputs to follow, and why others are not."""
    found = inputs(question, objective)
    every = {**found, **inputs(question, "time")}
    only = [input_name(name) for name in only]
    unknown = [name for name in only if name not in every]
    if unknown:
        raise ScenarioError(f"--parameter: {unknown[0]!a:.40} is not one of {', '.join(every)}.")
    unmoved = {}
    if objective not in CLOCKED and not question.partly_available:
        why = "changes no count of rounds" if objective == "rounds" else "changes no order of traffic"
        unmoved = {name: why for name in every if name not in found}
    if objective in CLOCKED and is_drawn(question) and size_drawn(question) > largest_drawn(question):
        why = "the fleet is too large to draw its compute times again and again; ask with --straggler none"
        unmoved = {name: why for name, each in found.items() if each.timed or each.whole}
    kept = [each for name, each in found.items() if name not in unmoved and (not only or name in only)]
    return kept, {name: why for name, why in unmoved.items() if not only or name in only}


def _line(found: changes.Line, question: Question, objective: Objective, first: Sequence[str]) -> Line:
    each = found.input
    sides = {
        side: _beyond(change, found, question, objective, first)
        for side, change in (("below", found.below), ("above", found.above))
    }
    return Line(
        parameter=each.name,
        value=_number(each, each.value),
        unit=each.unit,
        low=_number(each, found.low),
        high=_number(each, found.high),
        road=found.method,
        unseen=found.unseen,
        note=found.grid,
        stretches=tuple(
            Stretch(low=_number(each, s.low), high=_number(each, s.high), topologies=s.topologies) for s in found.stages
        ),
        **sides,
    )


def _beyond(
    change: changes.Change | None, found: changes.Line, question: Question, objective: Objective, first: Sequence[str]
) -> Beyond | None:
    if change is None:
        return None
    each = found.input
    at = _number(each, change.at)
    side = 1 if change.at > each.value else -1
    exact = found.method in ("solved", "counted")
    just = change.at * (1 + side * 1e-9) if found.method == "solved" else change.at
    sign = (">" if side > 0 else "<") + ("=" if each.whole or each.name == "R" else "")
    return Beyond(
        at=at,
        before=_number(each, change.before),
        words=f"{name_of(each.name)} {sign} {format_amount(float(at), each.unit)}",
        distance=math.log(change.at / each.value) if each.value > 0 and change.at > 0 else None,
        to=change.to,
        clear=None if change.clear is None else _number(each, change.clear),
        exact=exact,
        crossing=_crossing(each, change, question, objective, first),
        **costs(each.apply(Perturbed(question), just), next(iter(change.to), None)),
    )


def _crossing(
    each: Input, change: changes.Change, question: Question, objective: Objective, first: Sequence[str]
) -> float | None:
    """Where the bound of the first and that of the next are equal at every common step, between now and the change."""
    if objective != "rounds" or not is_quick(question) or each.name not in question.values:
        return None
    bound, other = question.bounds.get(first[0]), question.bounds.get(change.to[0]) if change.to else None
    if bound is None or other is None or (question.cap == "own" and question.hidden):  # then the caps differ too
        return None
    try:
        found = crossings(bound, other, each.name, **question.values)
    except HflBoundsError:  # their constants differ, or the difference is no polynomial
        return None
    low, high = sorted((each.value, change.at))
    return next((x for x in found if low <= x <= high), None)


def _number(each: Input, value: float) -> float | int:
    return round(value) if each.whole or each.name == "R" else value


def _nearness(line: Line) -> tuple[float, str]:
    """The nearest change; where the input is 0 now, no ratio says how near it is."""
    near = [abs(side.distance) if side.distance is not None else 1e9 for side in (line.below, line.above) if side]
    return min(near, default=math.inf), line.parameter


def _alternatives(
    question: Question, scenario: Scenario, among: Sequence[str], first: Sequence[str]
) -> Iterator[Alternative]:
    """The answer with every other word in place of one of the scenario's."""
    for parameter, value, other, moved, objective in _words(question, scenario):
        try:
            totals = totals_of(moved, objective, among)
            then = first_tie(totals, scenario.resolution)
            spent = costs(Perturbed(moved), next(iter(then), None))
        except CostError:
            continue
        yield Alternative(
            parameter=parameter,
            value=value,
            other=other,
            first=then,
            flips=not set(then) & set(first),
            **spent,
        )


def _words(question: Question, scenario: Scenario) -> Iterator[tuple[str, str, str, Question, Objective]]:
    """Parameter, word now, another word, the question with it, the objective."""
    objective, network = scenario.objective, question.network
    objectives: tuple[Objective, ...] = ("rounds", "time", "traffic")
    for other in objectives:
        if other != objective:
            yield "objective", objective, other, question, other
    for tier, link in network.named.items():
        for part, words in (("sharing", ("per-client", "per-server")), ("hop", ("direct", "relayed"))):
            for word in words:
                if word != getattr(link, part):
                    changed = network.with_link(tier, **{part: word})
                    yield f"{tier}.{part}", getattr(link, part), word, question.varied(network=changed), objective
    if question.depth == 2 and network.server_link is not None:
        changed = network.with_servers(network.tiers == 1)
        yield "tiers", str(network.tiers), str(changed.tiers), question.varied(network=changed), objective
    methods: tuple[CostMethod, ...] = ("schedule", "formula", "diluted")
    for method in methods:
        if method != scenario.cost:
            yield "cost", scenario.cost, method, question.varied(cost=method), objective
    if not scenario.partial and scenario.bounds is None and scenario.pilot is None:  # a pilot is of one order
        order: Literal["fixed", "random"] = "random" if scenario.order == "fixed" else "fixed"
        yield "order", scenario.order, order, ask(replace(scenario, order=order)), objective


def names(topologies: Sequence[str]) -> str:
    """``Ring-Star and Ring-Ring``, or that nobody gets there."""
    return join_names(topologies) if topologies else "target not reached"
