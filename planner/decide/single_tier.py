"""Beyond two tiers: what a single tier takes to the same target, and which other families would have to be asked for.

Federated averaging and sequential federated learning are the case of one group of everybody, whose heterogeneity is
all inside: the same theorem, the same problem class and the same target, so that their rounds, seconds and bytes stand
in one list with those of two tiers. The other families are about other quantities or other networks. They are not
ranked with these; what each would need, and the command that answers for it, is said instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from hflbounds.topology import all_topologies, tier_symbols
from planner.cost.round import CostError
from planner.decide.recommendation import Family
from planner.predict.question import Question, ceil_rounds
from planner.scenario.network import Network
from planner.scenario.resolve import Scenario

SINGLE = {"fedavg": ("star", "FedAvg, one tier"), "sfl": ("ring", "Sequential FL, one tier")}
AMOUNTS = {"rounds": "rounds", "time": "seconds", "bytes": "bytes"}  # by objective, the number that decides
OTHERS = (
    (
        "hhfl",
        "HHFL (overlapping servers)",
        "needs who hears whom, and bounds the distance to the optimum of strongly convex losses",
        "hfl-plan overlap",
    ),
    (
        "hsl",
        "HSL (hubs, no trusted cloud)",
        "needs nodes and edge budgets, and bounds the mean over the nodes' own models",
        "hfl-plan hubs",
    ),
    (
        "hga-fl",
        "HGA-FL (asynchronous regions)",
        "needs how fast each region is, and its bound has a floor from heterogeneity",
        "hfl-plan async",
    ),
)


def families(question: Question, scenario: Scenario, best: str) -> tuple[Family, ...]:
    """The best topology of several tiers and the single tiers to one target, best first; then what is not comparable.

    Args:
        question: what was asked.
        scenario: says what decides.
        best: the topology that comes first.
    """
    depth = question.depth
    ranked = [_row(question, best, best, "two tiers" if depth == 2 else f"{depth} tiers")] if depth > 1 else []
    alone = single_tier(question)
    for key, (pattern, title) in SINGLE.items():
        topology = next((id_ for id_ in alone.topologies if id_ in (pattern, f"star-{pattern}")), None)
        if topology is None:
            ranked.append(Family(id=key, title=title, comparable=False, why="no bound covers one tier"))
            continue
        try:
            ranked.append(_row(alone, topology, key, title))
        except CostError as error:
            ranked.append(Family(id=key, title=title, comparable=False, why=str(error)))
    by = AMOUNTS[scenario.objective]
    ranked.sort(key=lambda row: math.inf if getattr(row, by) is None else getattr(row, by))
    others = [
        Family(id=key, title=title, comparable=False, why=why, command=command) for key, title, why, command in OTHERS
    ]
    return (*ranked, *others)


def single_tier(question: Question) -> Question:
    """Ask about the same fleet, problem and target without servers in between: one exchange a round.

    What is proved of two tiers is asked for one group of everybody; other trees become one tier.
    """
    values, symbols = question.values, question.symbols
    depth = 2 if question.depth == 2 else 1
    *above, tier = tier_symbols(depth)
    own = {letter for one in symbols for letter in (one.size, one.drawn, one.passes, one.deviation)}
    counts = {letter: 1.0 for one in above for letter in (one.size, one.drawn)} | {one.deviation: 0.0 for one in above}
    counts |= {one.passes: 1.0 for one in (*above, tier) if one.passes}
    counts |= {
        tier.size: prod(values[one.size] for one in symbols),
        tier.drawn: prod(values[one.drawn] for one in symbols),
        tier.deviation: math.hypot(*(values[one.deviation] for one in symbols)),
        "K": prod(values[one.passes] for one in symbols if one.passes) * values["K"],
    }
    among = {**(question.topologies if depth == question.depth else {}), **all_topologies(depth)}
    return replace(
        question,
        topologies={
            id_: tree for id_, tree in among.items() if not question.predictor.guarantees or id_ in question.bounds
        },
        values={letter: value for letter, value in values.items() if letter not in own} | counts,
        bounds=question.bounds if depth == question.depth else {},
        target=float(question.goal()),
        share=None,
        horizon=None,
        network=Network((*(None for _ in above), question.network.client_link)),
    )


def _row(question: Question, topology: str, key: str, title: str) -> Family:
    rounds = float(question.rounds()[topology])
    cost = question.of_a_round(topology)
    if not math.isfinite(rounds):
        return Family(id=key, title=title, comparable=True, why="the target is not reached")
    count = ceil_rounds(rounds)
    seconds, traffic = count * cost.seconds, count * cost.bytes
    return Family(
        id=key,
        title=title,
        comparable=True,
        rounds=count,
        seconds=seconds if math.isfinite(seconds) else None,
        bytes=traffic if math.isfinite(traffic) else None,
        why="the target is met before the first round" if count == 0 else "",
    )


def about(found: Sequence[Family], scenario: Scenario) -> list[str]:
    """That a single tier would be better than the best of more, where it is by more than ties."""
    by = AMOUNTS[scenario.objective]
    compared = [f for f in found if f.comparable and getattr(f, by)]
    tiers = [f for f in compared if f.id not in SINGLE]
    if not tiers or compared[0].id not in SINGLE:
        return []
    one, best = getattr(compared[0], by), getattr(tiers[0], by)
    if best <= one * (1 + scenario.resolution):
        return []
    word = {"rounds": "rounds", "time": "time", "bytes": "traffic"}[scenario.objective]
    without = "group servers" if scenario.depth == 2 else "servers in between"
    return [f"Without {without} {compared[0].title}, would take {one / best:.2g} times the {word}: see below."]
