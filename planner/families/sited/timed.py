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
from planner.network.placement import best_layout
from planner.network.sites import Sites
from planner.network.trees import Layout, round_of
from planner.scenario.network import Compute, Link, Network
from planner.scenario.resolve import Known, Scenario, Spoken


@dataclass(frozen=True, eq=False)
class Timing:
    """Times rounds of a fleet on a network at the best placement for the scenario's model and steps."""

    question: Question  # the fleet, with the servers that are kept
    placed: Mapping[tuple[str, ...], Layout] = field(default_factory=dict)  # of trees, by patterns, where it is known
    _layouts: dict[tuple[tuple[str, ...], int], Layout] = field(default_factory=dict)

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
        passes, sites, layout = tiers[-1].passes, self._fleet(patterns), self.layout(patterns, tiers[-1].passes)
        steps = self.question.scenario.compute.step_time * self.question.scenario.number("K")
        fleet = replace(sites, work=sites.work * (K * compute.step_time / steps if steps else 0.0))
        transfers = replace(self.question.transfers, bits=8 * model_bytes)
        seconds = round_of(fleet, transfers, patterns, layout, passes).seconds
        return passes * seconds if len(patterns) == 1 else seconds

    def layout(self, patterns: tuple[str, ...], passes: int) -> Layout:
        """Servers and orders of a tree."""
        if (patterns, passes) not in self._layouts:
            question = self.question
            self._layouts[patterns, passes] = self.placed.get(patterns) or best_layout(
                self._fleet(patterns), question.transfers, patterns, passes, server=question.server,
                group_servers=question.group_servers if len(patterns) == 2 else None, seed=question.scenario.seed,
            ).layout  # fmt: skip
        return self._layouts[patterns, passes]

    def _fleet(self, patterns: tuple[str, ...]) -> Sites:
        return self.question.sites if len(patterns) == 2 else self.question.sites.together()


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
