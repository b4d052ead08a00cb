"""What trees and overlays take on a network: placements, orders, what a round waits for, groupings by both aims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from planner.data import grouping, grouping_rules
from planner.data.label_counts import read_counts
from planner.decide.regrouping import Grouped, Kind
from planner.decide.single_tier import SINGLE, single_tier
from planner.decide.verdict import is_close, standing
from planner.errors import NoAnswerError, ScenarioError
from planner.families.hsl.model import Learning, reached_by_server, rounds_of_gossip
from planner.families.sited.question import Question, framed
from planner.families.sited.timed import timed
from planner.io.answers import Waiting, Without
from planner.io.progress import progress
from planner.io.wording import title
from planner.network import overlays
from planner.network.bottlenecks import left_out, upgrades
from planner.network.placement import Placed, as_good, best_layout, kept
from planner.network.sites import Sites
from planner.network.tours import tour_length
from planner.network.trees import PASSES, Layout, ring_order, round_of
from planner.network.underlay import Indices
from planner.predict.question import ask, ceil_rounds, with_default_order
from planner.scenario.resolve import Spoken

MOST_NODES: Final = 200  # of overlays: their spectra and trees take n^3 and more


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree on the network."""

    patterns: tuple[str, ...]  # of its tiers, top first
    title: str  # as people write it
    rounds: float  # predicted to the common target
    best: Placed  # the best placement
    given: float | None  # seconds of a round of what is kept, rings in the order of the fleet; None where nothing is
    as_good: Indices  # other places of the top server whose round is as long, but for the resolution

    @property
    def total(self) -> float:
        """Seconds to the target."""
        return self.rounds * self.best.round.seconds

    @property
    def saves(self) -> float | None:
        """Share of a round that the best placement saves."""
        return None if self.given is None else 1 - self.best.round.seconds / self.given


def trees(question: Question) -> list[Tree]:
    """Every tree at its best placement, by the time to the common target, the least first.

    Raises:
        NoAnswerError: If none reaches it.
    """
    counts, transfers, passes, found = rounds(question), question.transfers, question.passes, list[Tree]()
    for patterns in question.trees:
        name = title("-".join(patterns)) if len(patterns) > 1 else dict(SINGLE.values())[patterns[0]]
        progress(name)
        fleet = fleet_of(question, patterns)
        best = best_layout(
            fleet, transfers, patterns, passes, seed=question.scenario.seed,
            progress=lambda text, name=name: progress(f"{name}: {text}"),  # type: ignore[misc]
        )  # fmt: skip
        given = _given(question, fleet, patterns)
        seconds = None if given is None else round_of(fleet, transfers, patterns, given, passes).seconds
        others = as_good(fleet, transfers, patterns, best, question.scenario.resolution)
        found.append(Tree(patterns, name, counts["-".join(patterns)], best, seconds, others))
    found = [one for one in found if math.isfinite(one.total)]
    if not found:
        raise NoAnswerError("no topology reaches the target. Give a looser one.", code="N003")
    return sorted(found, key=lambda one: one.total)


def close(question: Question, first: Tree, other: Tree) -> bool:
    """Whether a tree ties with one that takes less, within the resolution or the error of two predictions."""
    patterns = {*first.patterns, *other.patterns}
    one = not any(PASSES[pattern].ordered for pattern in patterns) and first.rounds == other.rounds
    return is_close(question.asked, other.total / first.total, question.scenario.resolution, one=one)


def undecided(question: Question, found: Sequence[Tree]) -> list[Tree]:
    """The first of some trees, and those that predictions of rounds cannot tell from it.

    Trees with groups tie with the best of these as `recommend` judges them; that and one tier, where they are `close`.
    """
    level = [one for one in found if one is found[0] or close(question, found[0], one)]
    grouped = {"-".join(one.patterns): one for one in found if len(one.patterns) == 2}
    if len(grouped) < 2:
        return level
    scenario = timed(question, {one.patterns: one.best.layout for one in grouped.values()})
    told = standing(ask(with_default_order(scenario)), scenario, "time").undecided(grouped)
    ties = told if grouped[told[0]] in level else ()
    return [one for one in found if ("-".join(one.patterns) in ties if len(one.patterns) == 2 else one in level)]


def fleet_of(question: Question, patterns: tuple[str, ...]) -> Sites:
    """The fleet as a tree has it."""
    return question.sites if len(patterns) == 2 else question.of_one_tier()


def _given(question: Question, fleet: Sites, patterns: tuple[str, ...]) -> Layout | None:
    """What is kept, with rings in the order of the fleet: of two tiers only where both are given, or the top alone."""
    if question.server is None:
        return None
    ends = question.group_servers
    if len(patterns) == 2 and ends is None:
        placed = best_layout(fleet, question.transfers, patterns, question.passes, server=question.server)
        ends = placed.layout.group_servers
    return kept(fleet, patterns, question.server, ends)


def rounds(question: Question) -> dict[str, float]:
    """Predicted whole rounds of every tree to one target, by its patterns."""
    found = {topology: float(count) for topology, count in question.asked.rounds().items()} if question.grouped else {}
    alone = single_tier(question.asked).rounds()
    for pattern in ("star", "ring"):
        found[pattern] = float(next(count for id_, count in alone.items() if id_ in (pattern, f"star-{pattern}")))
    return {tree: ceil_rounds(count) if math.isfinite(count) else count for tree, count in found.items()}


@dataclass(frozen=True, eq=False)
class Ordered:
    """A ring and its best order."""

    ring: str  # name of the group
    server: str  # place that it starts from and returns to
    order: list[str]  # names in the best order
    seconds_given: float  # on the way in the order of the fleet
    seconds_best: float  # on the way in the best order
    gap: float  # share by which that may be longer than the shortest


def orders(question: Question) -> list[Ordered]:
    """Every ring's best order from its server, kept or best."""
    fleet, places, transfers = question.sites, question.network.places, question.transfers
    patterns = ("star", "ring") if question.grouped else ("ring",)
    given = _given(question, fleet, patterns)
    layout = given or best_layout(fleet, transfers, patterns, question.passes, progress=progress).layout
    ends = np.array([layout.server]) if layout.group_servers is None else layout.group_servers
    found = []
    for g, name in enumerate(fleet.groups):
        members = fleet.members(g)
        order, tour = ring_order(transfers, int(ends[g]), fleet.at[members], seed=question.scenario.seed)
        way = np.concatenate([[ends[g]], fleet.at[members]])
        listed = tour_length(transfers.hops(way, way), np.arange(len(way)))
        names = [fleet.clients[i] for i in members[order]]
        found.append(Ordered(name, places[ends[g]], names, listed, tour.length, float(tour.gap)))
    return found


@dataclass(frozen=True, eq=False)
class Waits:
    """What the round of a tree waits for."""

    tree: Tree  # which, at the placement that is timed
    level: list[Tree]  # that, and those that predictions of rounds cannot tell from it
    seconds: float  # of its round
    layout: Layout  # that placement
    upgrades: list[Waiting]  # what is in use, by what twice as fast would save
    left_out: list[Without]  # rounds without a client, by what they save
    by_group: dict[str, float]  # seconds of each group


def waits(question: Question) -> Waits:
    """What decides the round of the best tree: of what is kept, where something is."""
    found = trees(question)
    best = found[0]
    fleet = fleet_of(question, best.patterns)
    layout = _given(question, fleet, best.patterns) or best.best.layout
    asked = fleet, question.transfers, best.patterns, layout, question.passes
    timed = round_of(*asked)
    by_group = dict(zip(fleet.groups, timed.by_group.tolist(), strict=True))
    return Waits(best, undecided(question, found), timed.seconds, layout, upgrades(*asked), left_out(*asked), by_group)


@dataclass(frozen=True)
class Plan:
    """A tree or an overlay, against a server that averages all."""

    name: str  # as people write it
    seconds: float  # of a round
    rounds: float  # over those of the server
    by: str  # what says the rounds: ``theorem`` or the id of a predictor
    models: float  # models sent in a round
    level: bool = False  # of trees: whether it is the best of them, or predictions of rounds cannot tell it from that
    consensus_ratio: float | None = None  # what a round leaves of the distance to the mean; None for trees
    gap: float = 0.0  # share by which a ring may be longer than the shortest

    @property
    def time(self) -> float:
        """To the target, in seconds for each round of the server."""
        return self.seconds * self.rounds


def plans(question: Question) -> list[Plan]:
    """Trees of this project and overlays for gossip, by time to the target, the least first.

    Raises:
        ScenarioError: Where there are too many nodes.
    """
    sites, scenario = question.sites, question.scenario
    if len(sites.clients) > MOST_NODES:
        raise ScenarioError(
            f"--fleet: overlays are looked at for up to {MOST_NODES} nodes, and there are {len(sites.clients):,}. "
            "Take a part of the fleet."
        )
    fedavg, there = rounds(question)["star"], trees(question)
    level, by = undecided(question, there), question.asked.predictor.id
    found = [
        Plan(one.title, one.best.round.seconds, one.rounds / fedavg, by, _models(question, one), one in level)
        for one in there
    ]
    learning = Learning(
        len(sites.clients), scenario.number("L"), scenario.number("A"), scenario.number("sigma"),
        math.hypot(scenario.number("zeta"), scenario.number("delta")),
    )  # fmt: skip
    target = reached_by_server(learning, float(scenario.known["R"].value or 200))
    server = rounds_of_gossip(learning, 0.0, target)
    work = question.of_one_tier().work
    for one in overlays.gossip(question.transfers, sites.at, work, seed=scenario.seed):
        progress(overlays.NAMES[one.id])
        ratio = rounds_of_gossip(learning, one.consensus_ratio, target) / server
        found.append(
            Plan(overlays.NAMES[one.id], one.cycle, ratio, "theorem", one.models, False, one.consensus_ratio, one.gap)
        )
    return sorted(found, key=lambda plan: plan.time)


def _models(question: Question, tree: Tree) -> float:
    """Models that go from place to place in a round: stars send down and up, rings once more than children."""

    def of(pattern: str, children: int) -> int:
        return 2 * children if pattern == "star" else children + 1

    if len(tree.patterns) == 1:
        return of(tree.patterns[0], len(question.sites.clients))
    sizes = np.bincount(question.sites.group)
    inner = sum(of(tree.patterns[1], int(size)) for size in sizes)
    return of(tree.patterns[0], len(sizes)) + question.passes * inner


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups on the front of heterogeneity and time."""

    kind: str  # ``present`` or ``new``
    delta2: float  # squared deviation between groups, of label shares
    best: Tree  # that takes least, with its rounds
    group_of: Indices  # group of each client of the fleet


def regrouped(question: Question, counts: Path | None, config: Path | None, said: Spoken) -> list[Grouping]:
    """Groups that are alike, groups that are near, and those between, each at its best placement.

    The number of groups stays; the label counts are of the same clients.

    Raises:
        ScenarioError: If clients differ, or there are no groups or counts.
    """
    sites = question.sites
    if counts is None:
        raise ScenarioError("--counts: groups by both aims need label counts. Give --counts COUNTS.csv.")
    if not question.grouped:
        raise ScenarioError(
            "--counts: the number of groups is that of a fleet, and none is given. Give --fleet FLEET.csv with columns "
            "client, group and node."
        )
    table = read_counts(counts, grouped=False)
    if set(table.clients) != set(sites.clients):
        odd = sorted(set(table.clients) ^ set(sites.clients))[0]
        only = "here" if odd in table.clients else "in the fleet"
        raise ScenarioError(f"--counts: client {odd!a:.60} is {only} alone. Give fleet and counts the same clients.")
    shares = table.shares()[[table.clients.index(name) for name in sites.clients]]
    sizes = np.bincount(sites.group)
    placed = best_layout(sites, question.transfers, ("star", "star"), question.passes).layout.group_servers
    assert placed is not None  # noqa: S101 - two tiers have them
    there = question.transfers.hops(sites.at, placed) + question.transfers.hops(placed, sites.at).T
    problem, unit = grouping_rules.pose(
        shares, np.ones(len(shares)), len(sizes), int(sizes.min()), int(sizes.max()), costs=there, names=sites.clients
    )
    found: list[Grouping] = []
    fronts = [state.group_of[unit] for state in grouping.front(problem, question.scenario.seed)]
    every: list[tuple[Kind, Indices]] = [("present", sites.group), *(("new", group) for group in fronts)]
    for kind, group in every:
        state = grouping.State(problem, np.asarray(group))
        delta2 = state.deviation()
        zeta2 = float((problem.points**2).sum() / problem.whole) - delta2
        sizes_now = np.bincount(group).tolist()
        deviations = Grouped(kind, zeta2, delta2, False, shares.shape[1], sizes_now)
        heterogeneity = deviations.heterogeneity(str(counts))
        own = {**said, "problem.heterogeneity": ("--counts", heterogeneity)}
        scenario = framed(config, own, question.sites)
        best = trees(question.regrouped(np.asarray(group, dtype=np.intp), scenario))[0]
        found.append(Grouping(kind, delta2, best, group))
    return sorted(found, key=lambda one: (one.best.total, one.delta2))
