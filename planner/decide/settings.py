"""Other words for the settings of a scenario, and which topology is best with each."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from planner.cost.round import CostError
from planner.decide.parameters import Perturbed, moved_by
from planner.decide.recommendation import SHARING
from planner.decide.verdict import standing
from planner.io.answers import Quantity, Sensitivity
from planner.io.parts import Part, field
from planner.io.wording import counted, times
from planner.predict.question import Question, ask, ceil_rounds
from planner.scenario.fields import CLOCKED, CostMethod, Objective, OnFailure
from planner.scenario.resolve import Scenario

Word = tuple[str, str, str, Question, Objective]
"""Of a setting: parameter, word now, another word, the question with it, the objective."""


DETECT, TIMEOUT = "availability.detect", "availability.timeout"
POLICY, ON_FAILURE = "availability.policy", "on_failure"  # among what is known, and as it is asked for
OTHER_TURNS = (1.0, 6.0)  # after which a device may be given up too; before one, those are that come
FAIL_OR_SKIP: frozenset[OnFailure] = frozenset({"fail", "skip"})  # what a ring does where a device stays away
WORTH = 1.2  # ratio of times of the best from which on it is worth a question which of them is meant


class Setting(Part):
    """Another word in place of one of the scenario's."""

    parameter: str
    now: str
    other: str
    best: tuple[str, ...] = field("the first tie then; empty where the target is not reached")
    flips: bool = field(
        "whether another tie decides: none of the present one, one alone, or another first; of open link sharing and "
        "failures, any"
    )
    rounds: Quantity | None = field("of the first then", default=None)
    time_seconds: Quantity | None = None
    traffic_bytes: Quantity | None = None


def with_other_words(
    words: Iterable[Word], scenario: Scenario, among: Sequence[str], first: Sequence[str]
) -> Iterator[Setting]:
    """The verdict with every other word in place of one of the scenario's."""
    for parameter, now, other, moved, objective in words:
        try:
            if math.isinf(moved.price(moved.reference, objective)):  # no price is known of it then
                continue
            there = standing(moved, scenario, objective)
            then = there.undecided(among) if there.totals else ()
            spent = costs(Perturbed(moved), next(iter(then), None))
        except CostError:
            continue
        turned = not set(then) & set(first) or (len(then) == 1) != (len(first) == 1) or then[0] not in first
        if parameter.endswith(".sharing") and is_open(parameter, scenario):
            turned = set(then) != set(first) if parameter == SHARING else turned or first[0] not in then
        elif parameter == ON_FAILURE and is_open(POLICY, scenario):
            turned = set(then) != set(first)
        yield Setting(parameter=parameter, now=now, other=other, best=then, flips=turned, **spent)


def other_words(question: Question, scenario: Scenario) -> Iterator[Word]:
    """List every other word for a setting of a scenario."""
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
    if (comes := question.availability) is not None and comes.policy in FAIL_OR_SKIP:
        (policy,) = FAIL_OR_SKIP - {comes.policy}
        instead = replace(comes, policy=policy, quorum=None)
        yield ON_FAILURE, comes.policy, policy, replace(question, availability=instead), objective
    if question.availability is not None and question.partly_available and is_assumed(DETECT, scenario):
        now = in_turns(question.availability.patience)
        for turns in OTHER_TURNS:
            instead = replace(question.availability, patience=turns)
            yield DETECT, now, in_turns(turns), replace(question, availability=instead), objective
    methods: tuple[CostMethod, ...] = ("schedule", "formula", "diluted")
    for method in methods:
        if method != scenario.cost:
            yield "cost", scenario.cost, method, question.varied(cost=method), objective
    if could_be_controlled(question, scenario):
        yield "scatter", f"{question.scatter:g}", "0", question.varied(scatter=0.0), objective
    if not scenario.partial and scenario.bounds is None and scenario.pilot is None:  # a pilot is of one order
        order: Literal["fixed", "random"] = "random" if scenario.order == "fixed" else "fixed"
        yield "order", scenario.order, order, ask(replace(scenario, order=order)), objective


def asks_policy(
    question: Question, scenario: Scenario, among: Collection[str], changes: Iterable[Sensitivity], held: str = ""
) -> str | None:
    """Ask what a round does without a device, which nobody said, and what it saves; None where it changes nothing.

    It is asked where it changes the verdict, which another line says, or the least time of some topologies with what is
    ``held``.
    """
    comes, asked = question.availability, "Does a round go on without a device?"
    if comes is None or not question.partly_available or not is_assumed(POLICY, scenario):
        return None
    if any(one.parameter == ON_FAILURE for one in changes):
        return asked
    if scenario.objective not in CLOCKED:
        return None
    policies = get_args(OnFailure) if is_assumed(DETECT, scenario) else FAIL_OR_SKIP  # a timeout is another wait
    every = {one: replace(question, availability=replace(comes, policy=one, quorum=None)) for one in policies}
    costly = {one: [costs(Perturbed(there), t)["time_seconds"] for t in among] for one, there in every.items()}
    taken = {
        one: min(known) for one, times_ in costly.items() if (known := [float(t) for t in times_ if t is not None])
    }
    least = min(taken, key=lambda one: taken[one], default=comes.policy)
    if not max(taken.values(), default=0) > WORTH * taken.get(least, 0):
        return None
    saves = taken[least] / taken.get(comes.policy, taken[least])
    which = "the best" if len(among) > 1 else "it"
    return f"{asked} With {least} {which} takes {times(saves)} the time{held}" if saves < 1 else asked


def in_turns(number: float) -> str:
    """Write how many usual turns of a client a device is waited for."""
    return counted(int(number), "turn")


def could_be_controlled(question: Question, scenario: Scenario) -> bool:
    """Whether all constants of theorems are given, and all that is open is whether noise is theirs too."""
    constants = ("sigma", "L", "A", *(tier.deviation for tier in question.symbols))
    given = all(scenario.known[name].origin == "given" for name in constants)
    return given and question.metric != "gradient" and is_assumed("scatter", scenario)


def costs(moved: Perturbed, topology: str | None) -> dict[str, Quantity | None]:
    """Rounds, time and traffic of a topology, by name; None what is not finite, and everything without a topology."""
    found: dict[str, Quantity | None] = dict.fromkeys(("rounds", "time_seconds", "traffic_bytes"))
    rounds = math.inf if topology is None else float(np.asarray(moved.rounds()[topology]).item())
    if topology is None or not math.isfinite(rounds):
        return found
    found["rounds"] = count = Quantity(ceil_rounds(rounds))
    try:
        round_ = moved.question.of_a_round(topology, **{n: float(v) for n, v in moved.changes.items()})
    except CostError:
        return found
    return found | {"time_seconds": Quantity(count * round_.seconds), "traffic_bytes": Quantity(count * round_.bytes)}


def is_open(parameter: str, scenario: Scenario) -> bool:
    """Whether nobody gave a parameter itself, also where a preset that was given says how clients share their link."""
    of_a_preset = parameter.endswith(".sharing") and scenario.known[parameter].origin == "derived"
    return of_a_preset or is_assumed(parameter, scenario)


def is_assumed(parameter: str, scenario: Scenario) -> bool:
    """Whether nobody gave a parameter."""
    known = [scenario.known.get(name) for name in moved_by(parameter)]
    return all(one is not None and one.origin == "default" for one in known)
