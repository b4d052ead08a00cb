"""A global round as it is to be timed, and what each of its tiers is then made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from hflbounds.topology import Topology, tier_symbols
from planner.cost.patterns import FloatArray, Schedule, schedules
from planner.cost.wires import FREE, Transfers, Wire, wire
from planner.errors import PlannerError
from planner.scenario.fields import CostMethod
from planner.scenario.members import Members
from planner.scenario.network import Compute, Network

_LARGEST_COUNT: Final = 10**12  # sizes, passes, K: products stay far inside double precision's range


class CostError(PlannerError, ValueError):
    """A round that cannot be timed; the message names the argument, the fact and the way out."""

    kind = "E028"


@dataclass(frozen=True)
class RoundSpec:
    """One global round, as it is to be timed.

    Raises:
        CostError: If a count is out of range.
    """

    topology: Topology  # with the sizes of its tiers; where some are drawn, only as many take part
    K: int  # local steps per client and pass of its server
    network: Network  # who talks to whom, and how fast; one link per tier
    compute: Compute  # how long the work takes
    model_bytes: float  # size of what one transfer carries [bytes]
    method: CostMethod = "schedule"  # ``schedule``, ``formula`` or ``diluted``; see `planner.cost.round`
    seed: int = 0  # seed of the draws of compute times
    members: Members | None = None  # what a list says of each client; the children are those of the topology
    slowdowns: tuple[float, ...] = ()  # of the parts of the fleet below the top, by which all they do takes longer

    def __post_init__(self) -> None:
        tiers, counts = self.topology.tiers, list[tuple[str, int]]()
        for tier, symbols in zip(tiers, tier_symbols(len(tiers)), strict=True):
            counts += [(symbols.size, tier.taking_part), (symbols.passes or "passes", tier.passes)]
        for name, count in (*counts, ("K", self.K)):
            if not 1 <= count <= _LARGEST_COUNT:
                raise CostError(f"{name}: {count!r} is not a whole number from 1 to {_LARGEST_COUNT:g}.")

    @property
    def stretch(self) -> float:
        """How many times as long a round takes with slow parts: a star waits for the slowest, a ring for each."""
        if not self.slowdowns:
            return 1.0
        top = next((tier for tier in self.topology.tiers if tier.taking_part > 1), self.topology.tiers[-1])
        together = top.pattern.side_by_side(top.taking_part) > 1
        return max(self.slowdowns) if together else sum(self.slowdowns) / len(self.slowdowns)

    @property
    def work(self) -> float:
        """Mean time of a client's local steps in one pass [s]."""
        return self.K * self.compute.step_time


class Level(NamedTuple):
    """One tier, as it is timed."""

    schedule: Schedule  # of its pattern
    n: int  # children of a node that take part in a pass
    turns: int  # of them that work one after the other
    active: int  # that work at the same time
    passes: int  # in a call of the node
    wire: Wire  # to the children
    sharers: int  # transfers at the same time on what they share, if all move in step
    together: bool  # whether these wait for one another in a shared rate, and are not merely diluted

    @property
    def transfers(self) -> Transfers:
        """Time on the links, when all move in step."""
        return self.schedule.transfers(self.wire, self.sharers)

    @property
    def free(self) -> bool:
        """Whether nothing travels."""
        return self.wire is FREE

    @property
    def drifts(self) -> bool:
        """Whether children of several nodes share a rate, so that passes get out of step if durations differ."""
        return self.together and self.sharers > self.active

    def in_step(self, child: float) -> float:
        """Duration of a call [s] if all children take ``child`` [s]."""
        turn, ends = self.transfers
        return self.passes * (ends + self.turns * (turn + child))

    def lasts(self, digest: FloatArray, scale: float = 1.0) -> FloatArray:
        """Duration of passes [s] from the digest of what, times ``scale``, are the children's durations."""
        if self.together:
            return self.schedule.meet(digest, scale, self.wire, self.sharers)
        turn, ends = self.transfers
        return ends + self.turns * turn + scale * digest


def levels(spec: RoundSpec) -> tuple[Level, ...]:
    """Every tier, top first.

    Raises:
        CostError: If a pattern has no schedule.
    """
    found: list[Level] = []
    above = 1  # nodes at work at the same time on one machine
    for tier, link in zip(spec.topology.tiers, spec.network.links, strict=True):
        pattern, n = tier.pattern, tier.taking_part
        if pattern.id not in schedules():
            fact = f"the pattern {pattern.id} has no schedule"
            raise CostError(f"topology: {fact}. Declare one in planner.cost.patterns.")
        active = pattern.side_by_side(n)
        shared = spec.method == "schedule" and link is not None and link.sharing == "per-server"
        sharers = active * above if shared or spec.method == "diluted" else 1
        one = schedules()[pattern.id]
        line = wire(link, spec.model_bytes)
        found.append(Level(one, n, pattern.chain(n), active, tier.passes, line, sharers, shared and sharers > 1))
        above = active * above if link is None else 1
    return tuple(found)


def in_step(tiers: tuple[Level, ...], child: float) -> float:
    """Duration of a round [s] whose calls of the lowest tier's children all take ``child`` [s]."""
    for level in reversed(tiers):
        child = level.in_step(child)
    return child
