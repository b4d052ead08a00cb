"""A pilot: what a short race of topologies on a user's own model and data measured, as JSON that others may read."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from planner.errors import ScenarioError
from planner.io.json_documents import loaded, written
from planner.io.parts import Part, Rule, field
from planner.io.wording import shape

DIGITS = 7  # significant ones that are kept of every number
Metric = Literal["loss", "accuracy"]
Status = Literal["best", "toss-up", "too-short", "constant", "no-progress", "diverged"]
Count = Annotated[int, Rule(ge=1, le=10**9)]
Counts = Annotated[list[Count], Rule(min_length=1, max_length=8)]
Positive = Annotated[float, Rule(gt=0, le=1e12)]
FromZero = Annotated[int, Rule(ge=0)]
Number = float | None  # null where a run has diverged, or a target was not reached


class Interval(Part):
    """A number and its interval over seeds; null where one seed gives none."""

    value: float
    low: Number = None
    high: Number = None


class Software(Part):
    """What ran it."""

    hfl_plan: str
    torch: str


class Problem(Part):
    """What was trained."""

    name: Annotated[str, Rule(max_length=200)] = field("of the hook or the data set")
    proxy: bool = field("whether label counts were laid on another data set", default=False)
    digest: Annotated[str, Rule(max_length=64)] = field("of the data and the first model")
    clients: Count
    samples: Count
    parameters: Count
    tested: FromZero = field("samples of the test; 0 without one")


class Fleet(Part):
    """Who takes part, top tier first."""

    sizes: Counts = field("children of a node, of the largest where they differ")
    drawn: Counts
    passes: Counts
    local_steps: Count
    batch: Count
    order: Literal["fixed", "random"]
    children: Annotated[list[list[Count]], Rule(max_length=8)] | None = field(
        "of every node above each tier; null where nodes are alike", default=None
    )
    samples: list[Count] | None = field(
        "of every client, which it counts by; null where clients count alike", default=None
    )
    slowdowns: list[Positive] | None = field(
        "how many times as long each region takes, by `--slowdowns`; null where none was told", default=None
    )

    @property
    def nodes(self) -> list[list[int]]:
        """Children of every node above each tier, top first."""
        above = itertools.accumulate([1, *self.sizes[:-1]], operator.mul)
        return self.children or [[size] * many for size, many in zip(self.sizes, above, strict=True)]

    @property
    def shape(self) -> str:
        """Children of a node of every tier in words, such as ``3 x 4 to 20``."""
        return shape(self.nodes)


class Tried(Part):
    """A rate that was tried, on the tuning seeds."""

    rate: Annotated[float, Rule(gt=0)] = field("raw")
    rounds: Count
    value: Number = field("of the metric at the end; null where it diverged")


class Runner(Part):
    """A topology of the race."""

    id: Annotated[str, Rule(max_length=100)]
    alike: list[str] = field("topologies that are the same algorithm in this fleet")
    chain: Count | Positive = field(
        "local steps that a round chains, a mean where nodes differ: effective over raw rate"
    )
    rate: Number = field("best raw rate; null where none was found")
    good_rates: tuple[float, float] | None = field("raw rates that are nearly as good")
    inside: bool = field("whether the best rate lies inside those tried")
    tried: list[Tried]
    loss: list[list[Number]] = field("by seed of the comparison, after 0, 1 ... rounds")
    accuracy: list[list[Number]] = field("the same on the test; empty without one")
    envelope: list[float] = field(
        "the metric after 0, 1 ... rounds, smoothed, the best so far. Half is of the tuning seed, at the best rate for "
        "each; half is the mean over the seeds of the comparison. There a rate that is good early counts by how much "
        "better it was on the tuning seed. That of the reference is no better than at its end. Empty where the "
        "topologies were not compared"
    )
    final: Interval | None = field("of the metric after the last round, of both halves")
    rates: list[float] = field(
        "raw, of the tuning seed's half of `envelope`: the best after 0, 1 ... rounds. Empty in earlier pilots, and of "
        "servers that do not wait",
        default_factory=list,
    )


class Beside(Runner):
    """A system that is no tree of the fleet, and raced beside the trees."""

    family: Annotated[str, Rule(max_length=40)] = field("one-tier, hhfl, hsl, gossip or hga")
    title: Annotated[str, Rule(max_length=200)]
    options: dict[str, str | int | float] = field("of the algorithm")
    at_nodes: bool = field("whether curves are the mean over the nodes' own models")
    times: list[float] = field(
        "of every number of its curves, in tasks of a region of slowdown 1: after each step of its server. Empty where "
        "curves are after 0, 1 ... rounds. With times a rate counts that was good early by how much better it made the "
        "reference",
        default_factory=list,
    )

    @property
    def by_group(self) -> bool:
        """Whether it is one chain of all clients that goes through group after group, as earlier pilots raced it."""
        return self.id == "sfl" and "S" not in self.options and self.options.get("order", "fixed") == "fixed"

    @property
    def deliveries(self) -> int:
        """Updates of regions in a step of the server."""
        return int(self.options["M" if self.id == "synchronous" else "K_buf"])


class Target(Part):
    """What the reference has after some rounds, and what others need to get there."""

    reference_rounds: Count
    value: float
    rounds: dict[str, Number] = field(
        "by topology, at the pace of its last round where it did not get there; null without any gain"
    )
    ratios: dict[str, Interval | None] = field(
        "rounds over the reference's own to this value, by topology; the interval is for one training with other noise"
    )
    beside: dict[str, Number] = field("the rounds of systems beside the trees", default_factory=dict)
    beside_ratios: dict[str, Interval | None] = field("their ratios", default_factory=dict)
    times: dict[str, Interval | None] = field(
        "the time of systems whose server does not wait, in tasks of a region of slowdown 1", default_factory=dict
    )

    def of(self, runner: str) -> tuple[Number, Interval | None]:
        """Rounds of a runner, and their ratio."""
        return (self.rounds | self.beside).get(runner), (self.ratios | self.beside_ratios).get(runner)


class Verdict(Part):
    """What the race says."""

    status: Status
    best: list[str] = field("ids: one, or those that are level; the leader where it is too early to tell")
    since: int | None = field("the first round from which it has led to the end", default=None)
    ahead: tuple[str, ...] = field("systems beside the trees that have less left than the best tree", default=())
    lead: Interval | None = field("of the first of a toss-up over the second, by the metric at the end", default=None)
    ratio: Interval | None = field("rounds of the second to where the first ends, over the first's", default=None)


class Cut(Part):
    """What the budget took."""

    what: Literal["rounds", "seeds", "refinement", "race"]
    wanted: int
    done: int


class Seeds(Part):
    """What was random: rates are chosen on some seeds, topologies compared on others."""

    asked: FromZero
    tuning: list[FromZero]
    compared: list[FromZero]


class Pilot(Part):
    """A race, with all that another program needs of it."""

    schema_: Literal["hfl-plan/pilot/1"] = field(default="hfl-plan/pilot/1", key="schema")
    software: Software
    problem: Problem
    fleet: Fleet
    metric: Metric
    rounds: FromZero = field("that the topologies were compared over; 0 where they were not")
    smoothing: Count = field(
        "rounds that curves are averaged over, as many before one as after it: fewer near both ends"
    )
    level: Annotated[float, Rule(gt=0, lt=1)] = field("of the intervals")
    seeds: Seeds
    start: float = field("the metric before the first round")
    reference: str
    topologies: Annotated[list[Runner], Rule(min_length=1)]
    beside: tuple[Beside, ...] = field(
        "systems that are no trees of the fleet; they have no part in `verdict.best`", default=()
    )
    targets: list[Target]
    verdict: Verdict
    cut: list[Cut]
    notes: list[str]

    def text(self) -> str:
        """The file."""
        return written(self.to_json(), DIGITS)

    def runner(self, topology: str) -> Runner | None:
        """The runner that a topology is, or is the same algorithm as, or a system beside; None where it did not run."""
        return next((one for one in (*self.topologies, *self.beside) if topology in (one.id, *one.alike)), None)


def read_pilot(path: Path) -> Pilot:
    """Read a pilot; curves of other lengths than the race has, unknown topologies, children of no tree are refused."""
    way = "Write a pilot with `hfl-plan pilot HOOK.py -o pilot.json`."
    pilot = loaded(path, Pilot, "pilot", way)
    for one in (*pilot.topologies, *pilot.beside):
        curves_of: tuple[Sequence[Sequence[Number]], ...] = (one.loss, one.accuracy, [one.envelope], [one.rates])
        for name, curves in zip(("loss", "accuracy", "envelope", "rates"), curves_of, strict=True):
            times = one.times if isinstance(one, Beside) else []
            if any(len(curve) != (len(times) or pilot.rounds + 1) for curve in curves if curve):
                what = f"{len(times)} times" if times else f"{pilot.rounds} rounds"
                raise ScenarioError(f"{path}: {one.id}: {name}: a curve has not {what}. {way}")
    nodes = 1
    for tier in pilot.fleet.children or ():
        if len(tier) != nodes:
            raise ScenarioError(f"{path}: fleet.children: {len(tier)} sizes for {nodes} nodes. {way}")
        nodes = sum(tier)
    if pilot.fleet.children is not None and list(map(max, pilot.fleet.children)) != pilot.fleet.sizes:
        raise ScenarioError(f"{path}: fleet.children: the largest are not those of fleet.sizes. {way}")
    if pilot.fleet.samples is not None and (pilot.fleet.children is None or len(pilot.fleet.samples) != nodes):
        raise ScenarioError(f"{path}: fleet.samples: {len(pilot.fleet.samples)} numbers for other clients. {way}")
    if pilot.reference not in [one.id for one in pilot.topologies]:
        raise ScenarioError(f"{path}: reference: {pilot.reference!a:.40} did not race. {way}")
    return pilot
