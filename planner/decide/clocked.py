"""Systems whose server does not wait, where they raced in a pilot: the time to the target, which has no rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.io.wording import join, times
from planner.predict.question import Question
from planner.scenario.fields import Objective
from planner.scenario.network import Network

FASTER = 0.9  # times what waiting takes, below which answers say not to wait
BUFFER = ", buffer "  # between the name of a rule and how many updates a step takes: ``FedBuff, buffer 2 of 4``


@dataclass(frozen=True)
class Clocked:
    """A server that steps by its regions' clock."""

    id: str  # id, title: of the system
    title: str
    question: Question
    tasks: float  # time to the target, in tasks of a region of slowdown 1; ``inf`` where it is not reached
    deliveries: float  # models that regions have delivered by then

    @property
    def rule(self) -> str:
        """Name of what its server does with the updates that it has, without the buffer."""
        return self.title.partition(BUFFER)[0]

    @property
    def buffer(self) -> int:
        """Updates of a step, as its title has them; 0 where it is not one of several."""
        return int(self.title.partition(BUFFER)[2].partition(" ")[0] or 0)

    @property
    def waits(self) -> bool:
        """Whether the server waits for all regions, as the synchronous one that raced beside the others does."""
        return self.id == "synchronous"

    def amount(self, objective: Objective, network: Network) -> float:
        """What it takes of an objective to the target; ``inf`` where that is not reached, or has no such number."""
        seconds, traffic = task(self.question.varied(network=network))
        return {"time": self.tasks * seconds, "traffic": self.deliveries * traffic}.get(objective, math.inf)


def clocked(question: Question) -> tuple[Clocked, ...]:
    """Every such system of the question's pilot, to its target."""
    return tuple(
        Clocked(id_, title, question, tasks, deliveries)
        for id_, title, tasks, deliveries in question.predictor.clocked(question)
    )


def about(question: Question) -> list[str]:
    """Say how long rounds take where regions differ in speed."""
    slowdowns = question.slowdowns
    if max(slowdowns, default=1.0) == 1 == min(slowdowns, default=1.0):
        return []
    whose = "the scenario's time of a task" if question.members is None else "the time of a task of a mean region"
    each = join([f"{one:.3g}" for one in slowdowns])
    return [
        f"Regions take {each} times {whose}, as in the pilot. A round takes "
        f"{times(max(slowdowns))} as long with a star of regions, "
        f"{times(sum(slowdowns) / len(slowdowns))} with a ring."
    ]


def task(question: Question, rounds: int | None = None, **counts: float) -> tuple[float, float]:
    """Time and traffic of one region's task by the scenario's network, with other rounds inside where said."""
    alone = question.varied(slowdowns=())
    cost = alone.of_a_round("star-star", S1=1, P=question.values["P"] if rounds is None else rounds, **counts)
    return cost.seconds, cost.bytes


def tasks(question: Question, rounds: int | None = None) -> list[tuple[float, float]]:
    """Time and traffic of a task of every region: those of a list have their own clients, speeds and links."""
    everyone = question.members
    if everyone is None:
        return [task(question, rounds)] * int(question.values["G"])
    return [
        task(question.varied(members=everyone.part(region)), rounds, G=1, M=int(clients), S2=int(clients))
        for region, clients in enumerate(everyone.children[1].sizes)
    ]


def differ_in_speed(question: Question) -> bool:
    """Whether tasks of regions take longer or shorter, by clients, speeds and links of a list."""
    if question.members is None or question.depth != 2:
        return False
    seconds = [own for own, _ in tasks(question)]
    return max(seconds) > min(seconds) * (1 + 1e-9)
