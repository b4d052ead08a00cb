"""A scenario on a network: rounds as the places, the ways between them and the best servers and orders make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from hflbounds.topology import Topology
from planner.decide.recommendation import OnNetwork, Recommendation
from planner.errors import ScenarioError
from planner.families.sited.question import Question, Wanted, pose
from planner.io.answers import Waiting, Without
from planner.network.bottlenecks import left_out, upgrades
from planner.network.hops import Transfers
from planner.network.placement import best_layout
from planner.network.sites import Sites
from planner.network.trees import PASSES, Layout, beside, one_by_one
from planner.network.underlay import Floats, Indices
from planner.scenario.network import Compute, Link, Network
from planner.scenario.resolve import Known, Scenario, Spoken

UNIT = 1e9  # bits by which the slope of a hop is found: hops are affine in the size of a model


@dataclass(frozen=True, eq=False)
class _Pass:
    """What a pass over some children takes: seconds at no bits, seconds per bit, and each child's local steps."""

    ordered: bool
    latency: Floats
    per_bit: Floats

    def seconds(self, bits: float, stays: Floats) -> float:
        """Of a pass whose children stay so long."""
        hops = self.latency + bits * self.per_bit
        return float(hops.sum() + stays.sum()) if self.ordered else float((hops + stays).max())


@dataclass(frozen=True, eq=False)
class Timing:
    """Times rounds of a fleet on a network at the best placement for the scenario's model and steps."""

    question: Question  # the fleet, with the servers that are kept
    placed: Mapping[tuple[str, ...], Layout] = field(default_factory=dict)  # of trees, by patterns, where it is known
    _trees: dict[tuple[tuple[str, ...], int], tuple[tuple[_Pass, ...], Layout]] = field(default_factory=dict)

    def __call__(self, topology: Topology, K: int, compute: Compute, model_bytes: float) -> float:
        """Seconds of a round; a tree with one group is the whole fleet below one server.

        Raises:
            ScenarioError: For a tree of other sizes than the fleet's.
        """
        tiers = topology.tiers
        alone = len(tiers) == 1 or tiers[0].taking_part == 1
        patterns = tuple(tier.pattern.id for tier in (tiers[-1:] if alone else tiers))
        if len(patterns) == 2 and tiers[0].taking_part != len(self.question.sites.groups):
            raise ScenarioError("network: counts are those of --sites. Change the file.")
        passes = tiers[-1].passes
        parts, layout = self._tree(patterns, passes)
        steps = self.question.scenario.compute.step_time * self.question.scenario.number("K")
        scale = K * compute.step_time / steps if steps else 0.0
        work, bits = self.question.sites.work * scale, 8 * model_bytes
        groups = zip(parts[1:], layout.orders, strict=True)
        stays = np.array([passes * part.seconds(bits, work[order]) for part, order in groups])
        return parts[0].seconds(bits, stays[layout.group_order])

    def layout(self, patterns: tuple[str, ...], passes: int) -> Layout:
        """Servers and orders of a tree."""
        return self._tree(patterns, passes)[1]

    def _tree(self, patterns: tuple[str, ...], passes: int) -> tuple[tuple[_Pass, ...], Layout]:
        if (patterns, passes) not in self._trees:
            question = self.question
            fleet = question.sites if len(patterns) == 2 else question.sites.together()
            layout = self.placed.get(patterns) or best_layout(
                fleet, question.transfers, patterns, passes, server=question.server,
                group_servers=question.group_servers if len(patterns) == 2 else None, seed=question.scenario.seed,
            ).layout  # fmt: skip
            self._trees[patterns, passes] = _passes(fleet, question.transfers, patterns, layout), layout
        return self._trees[patterns, passes]


def _passes(fleet: Sites, transfers: Transfers, patterns: tuple[str, ...], layout: Layout) -> tuple[_Pass, ...]:
    """The passes of a tree, top first, then group by group."""
    crowd, ends = beside(fleet, patterns, layout).tolist(), layout.group_servers
    if ends is None:  # the top server is that of one group, at no distance
        patterns, ends = ("star", *patterns), np.array([layout.server])
    groups = (
        _pass(transfers, patterns[1], int(end), fleet.at[order], others)
        for end, order, others in zip(ends, layout.orders, crowd, strict=True)
    )
    return (_pass(transfers, patterns[0], layout.server, ends[layout.group_order]), *groups)


def _pass(transfers: Transfers, pattern: str, server: int, places: Indices, others: int = 0) -> _Pass:
    def at(bits: float) -> Floats:
        sized = replace(transfers, bits=bits)
        if PASSES[pattern].ordered:
            return one_by_one(sized, np.concatenate([[server], places, [server]]))
        return np.asarray(sized.from_server(server, places, others) + sized.to_server(server, places, others))

    nothing = at(0.0)
    return _Pass(PASSES[pattern].ordered, nothing, (at(UNIT) - nothing) / UNIT)


def on_network(question: Question) -> Scenario:
    """The scenario whose rounds are those on the network, timed by a `Timing`.

    Raises:
        ScenarioError: For a fleet without groups.
    """
    if not question.grouped:
        raise ScenarioError("--sites: the fleet has no groups. Add the column group, or ask `hfl-plan network place`.")
    scenario = question.scenario
    for fact, is_there in {  # what a round hop by hop takes no account of
        "availability": scenario.availability is not None,
        "groups or clients drawn each round": scenario.partial,
        "a fleet beside --sites": scenario.members is not None,
    }.items():
        if is_there:
            raise ScenarioError(
                f"--network: rounds on a network take no account of {fact}. Leave one of the two out.", code="E002"
            )
    return timed(question)


def timed(question: Question, placed: Mapping[tuple[str, ...], Layout] | None = None) -> Scenario:
    """Return the scenario with rounds as on the network, of trees as ``placed`` where that is known."""
    scenario, network = question.scenario, question.network
    up, down = (float(np.median(getattr(network, way)[question.sites.at])) for way in ("up", "down"))
    link = Link(min(up, 1e21), min(down, 1e21), hop="direct")
    there = [name for name in scenario.known if name.startswith(("client_link", "server_link"))]
    nothing = Known(None, "derived", note=f"as of {network.name}")
    known = {**scenario.known, **dict.fromkeys(there, nothing)}
    known["network"] = Known(network.name, "given", note=" ".join(network.notes))
    if up == down == np.inf:
        known["access"] = Known("unlimited", "default", note="--uplink, --downlink")
    return replace(
        scenario, network=Network((link, link), timer=Timing(question, placed or {})), known=known,
        warnings=(
            *(said for said in scenario.warnings if not said.startswith("Time and traffic stand on")),
            *question.simplified,
        ),
    )  # fmt: skip


def asked(wanted: Wanted, config: Path | None, said: Spoken) -> Scenario:
    """Read a scenario on a network."""
    listed = said["fleet.list"][0] if "fleet.list" in said else ""
    if wanted.fleet is None:
        way = "--sites FILE with client,group,node"
        if listed:
            way = f"the list as --sites in place of {listed}, with the place of each client in a column node"
        raise ScenarioError(f"--network: the places of clients are missing. Give {way}.", code="E003")
    if listed:
        raise ScenarioError(f"{listed}: --sites lists the clients. Leave {listed} out.", code="E002")
    return on_network(pose(wanted, config, said))


def waited(scenario: Scenario, topology: str) -> tuple[list[Waiting], list[Without], Layout]:
    """Say of a scenario on a network what a round waits for, takes without each client, and where servers are."""
    timing = scenario.network.timer
    assert isinstance(timing, Timing)  # noqa: S101 - as documented
    question, patterns = timing.question, tuple(topology.split("-"))
    layout = timing.layout(patterns, question.passes)
    parts = question.sites, question.transfers, patterns, layout, question.passes
    return upgrades(*parts), left_out(*parts), layout


def with_links(answer: Recommendation, scenario: Scenario) -> Recommendation:
    """Say beside a recommendation on a network what the round of its best topology waits for."""
    timing = scenario.network.timer
    assert isinstance(timing, Timing)  # noqa: S101 - as documented
    question, best = timing.question, answer.recommended[0]
    faster, without, layout = waited(scenario, best)
    names, ends = question.network.places, layout.group_servers
    where = {} if ends is None else dict(zip(question.sites.groups, (names[end] for end in ends), strict=True))
    found = OnNetwork(
        network=question.network.name,
        notes=question.network.notes,
        topology=best,
        server=names[layout.server],
        group_servers=where,
        waits=tuple(faster),
        without=tuple(without),
    )
    return answer.replaced(recommend=answer.recommend.replaced(network=found))
