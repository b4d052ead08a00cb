"""What a single tier takes to the same target, and which other methods would have to be asked for.

Federated averaging and sequential federated learning are the case of one group of everybody, whose heterogeneity is
all inside: the same predictor, the same problem class and the same target, so that their rounds, seconds and bytes
stand in one table with those of two tiers, as baselines. The other families are about other quantities or other
networks. They are not run here and not in the table; what each would need, and the command that answers for it, is said
instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from hflbounds.topology import all_topologies, branches, tier_symbols
from planner.cost.round import CostError, RoundCost
from planner.predict.question import Question, ceil_rounds
from planner.scenario.fields import Objective
from planner.scenario.footprint import Rates
from planner.scenario.members import Members
from planner.scenario.network import Network

SINGLE = {"fedavg": ("star", "FedAvg, 1 tier"), "sfl": ("ring", "Sequential")}
# as an earlier pilot measured it, or Ring-Ring; it is predicted in an order that mixes groups
BY_GROUP = "Seq. by group"
Origin = Literal["measured", "predicted", "bound"]
NOT_RACED, RACES = "it did not race in the pilot", ("hfl-plan", "pilot", "--systems", "trees,one-tier")
OTHERS = (
    (
        "hhfl",
        "HHFL (overlapping servers)",
        "needs who hears whom, and bounds the distance to the optimum of strongly convex losses",
        ("hfl-plan", "overlap"),
    ),
    (
        "hsl",
        "HSL (hubs, no trusted cloud)",
        "needs nodes and edge budgets, and bounds the mean squared gradient at the nodes' own models",
        ("hfl-plan", "hubs"),
    ),
    (
        "hga-fl",
        "HGA-FL (asynchronous regions)",
        "needs how fast each region is, and its bound has a floor from heterogeneity",
        ("hfl-plan", "async"),
    ),
)


def called(name: str) -> str:
    """Write the title of a baseline as a sentence has it: without its tier, and in full.

    >>> called("FedAvg, 1 tier"), called("Seq. by group")
    ('FedAvg', 'Sequential by group')
    """
    return name.partition(",")[0].replace("Seq.", "Sequential")


def unserved(text: str, parameter: str, other: object, passes: object) -> str:
    """Add what a star of stars is where a change leaves group servers out, and nothing else tells groups apart.

    >>> unserved("it is Star-Star", "tiers", "1", 1), unserved("it is Star-Star", "tiers", "1", 2)
    ('it is Star-Star (FedAvg)', 'it is Star-Star')
    """
    alone = (parameter, other, passes) == ("tiers", "1", 1)
    return text.replace("Star-Star", f"Star-Star ({called(SINGLE['fedavg'][1])})") if alone else text


@dataclass(frozen=True)
class Baseline:
    """A single tier to the same target."""

    id: str  # id, title: of the method
    title: str
    question: Question | None = None  # about one tier; None where it cannot be asked
    topology: str = ""  # id there
    rounds: float = math.inf  # to the target; ``inf`` where it is not reached
    rounds_from: Origin = "predicted"  # where they come from
    why: str = ""  # why a number is missing
    argv: tuple[str, ...] = ()  # of the command that would measure it
    # the same as its rounds are timed: in groups, which keep the link that their clients share; None where it is alone
    grouped: Question | None = None

    def on(self, network: Network) -> tuple[Question, str]:
        """What its rounds are timed by with the client link of this network, and the id of its topology there."""
        assert self.question is not None  # noqa: S101 - only those that can be asked are
        own = self.question.availability is not None and network.client_link.sharing == "per-client"  # one quorum
        if self.grouped is None or own:
            return self.question.varied(network=network.alone(self.question.depth)), self.topology
        return self.grouped.varied(network=network.alone(self.grouped.depth)), self.grouped.reference

    def round_cost(self, question: Question) -> RoundCost:
        """What one round takes with the client link, the compute and the model of a question."""
        timed, topology = self.on(question.network)
        return timed.varied(compute=question.compute, model_bytes=question.model_bytes).of_a_round(topology)

    def amount(self, objective: Objective, network: Network, rates: Rates | None = None) -> float:
        """What it takes of an objective to the target, also by other rates; ``inf`` where not known or reached."""
        if self.question is None or not math.isfinite(self.rounds):
            return math.inf
        timed, topology = self.on(network)
        timed = timed if rates is None else timed.varied(rates=rates)
        return ceil_rounds(self.rounds) * timed.price(topology, objective)


def beside(question: Question) -> tuple[Baseline, ...]:
    """The baselines that stand in a table beside its topologies."""
    return tuple(one for one in baselines(question) if one.topology not in question.topologies or question.depth > 1)


def baselines(question: Question) -> tuple[Baseline, ...]:
    """Federated averaging and sequential learning of everybody, to the target of a question."""
    alone = single_tier(question)
    found = []
    for key, (pattern, name) in SINGLE.items():
        name = BY_GROUP if pattern == "ring" and question.predictor.by_group() else name
        topology = next((id_ for id_ in alone.topologies if id_ in (pattern, f"star-{pattern}")), None)
        if topology is None:
            found.append(Baseline(key, name, why="no bound covers one tier"))
            continue
        measured = question.predictor.beside(question, key)
        if measured is None and question.predictor.measured:
            found.append(Baseline(key, name, why=NOT_RACED, argv=RACES))
            continue
        try:
            alone.of_a_round(topology)
        except CostError as error:
            found.append(Baseline(key, name, why=str(error)))
            continue
        whence: Origin = "bound" if question.predictor.guarantees else "predicted"
        whence = "measured" if question.predictor.raced(question, key) else whence
        rounds = float(alone.rounds()[topology]) if measured is None else measured
        rounds = rounds if rounds <= question.allowed else math.inf
        grouped = _by_group(question, alone) if pattern == "star" else None
        found.append(Baseline(key, name, alone, topology, rounds, whence, grouped=grouped))
    return tuple(found)


def _by_group(question: Question, alone: Question) -> Question | None:
    """A star of everybody as its rounds are timed: in groups, which keep the link that their clients share.

    Nothing is lost to servers in between, of which there are none. None where a round is timed in another way.
    """
    if question.network.timer is not None or question.cost == "diluted":
        return None
    passes = {one.passes: 1.0 for one in question.symbols if one.passes}
    values, members = dict(question.values), question.members
    groups, clients = values.get("G", 1.0), question.clients
    if members is None and question.depth == 2 and not question.partial and clients % groups:
        sizes = [int(clients // groups) + (group < clients % groups) for group in range(int(groups))]
        members = Members(branches([[len(sizes)], sizes]), everyone=(True, True))
        values |= dict.fromkeys(("M", "S2"), float(sizes[0]))
    stars, tree = next(iter(all_topologies(question.depth).items()))
    return replace(
        alone,
        topologies={stars: tree},
        values={**values, **passes, "K": alone.values["K"]},
        bounds={},
        members=members,
        availability=question.availability,
    )


def _taking_part(question: Question) -> float:
    """Clients of a round; small groups of a list have fewer than are drawn of the others."""
    if question.members is not None:
        return float(question.sized(question.reference).taking_part)
    return prod(question.values[one.drawn] for one in question.symbols)


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
        tier.size: question.clients,
        tier.drawn: _taking_part(question) if question.partial else question.clients,
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
        horizon=None if question.target is None else question.horizon,
        network=question.network.alone(depth),
        members=None if question.members is None else question.members.as_one_group(depth),
    )
