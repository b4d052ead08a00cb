"""A fleet on a network as a question: files, a scenario and what is kept in, one value out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np

from hflbounds.topology import Topology
from planner.errors import ScenarioError
from planner.families.framing import Frame
from planner.io.text import one_of
from planner.network.hops import Transfers
from planner.network.presets import load
from planner.network.read import Filling
from planner.network.sites import Sites, everywhere, read_places, read_sites
from planner.network.trees import PASSES
from planner.network.underlay import Indices, LatencyModel, Underlay
from planner.predict.question import Question as Asked
from planner.predict.question import ask, with_default_order
from planner.scenario.resolve import Scenario, Spoken
from planner.scenario.sections import mean_step
from planner.scenario.units import parse_rate

USED: Final = ("model_size", "step_time", "K", "P", "R", "zeta", "delta", "sigma", "L", "A")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A fleet on a network as written; None for what was not said."""

    source: str  # file or name of the network
    bandwidths: Path | None = None  # matrix of bandwidths beside one of latencies
    access: Path | None = None  # file of the access of places
    fleet: Path | None = None  # file of the clients
    server: str | None = None  # place that is kept for the top server
    group_servers: Path | None = None  # file of the places that are kept for groups' servers
    tiers: str | None = None  # patterns, such as ``star/ring``
    bandwidth: str | None = None  # bandwidth, latency_model, up, down: rules for what the network does not say
    latency_model: str | None = None
    up: str | None = None
    down: str | None = None
    fill: str | None = None  # ``detour`` to let pairs that were not measured go over others
    routing: str = "direct"  # ``direct``, or ``stored`` where every place on the way receives the whole model first

    def filling(self) -> Filling:
        """The rules, read."""
        if self.fill not in (None, "detour"):
            raise ScenarioError(f"--fill: {self.fill!a:.40} is no rule. Write detour, or leave it out.")
        one_of(self.routing, ("direct", "stored"), "--routing")
        model = None if self.latency_model is None else LatencyModel.parse(self.latency_model)
        return Filling(
            bandwidth=_rate(self.bandwidth, "--bandwidth"),
            model=model,
            up=_rate(self.up, "--up"),
            down=_rate(self.down, "--down"),
            detour=self.fill is not None,
            stored=self.routing == "stored",
        )


@dataclass(frozen=True, eq=False)
class Question:
    """A fleet on a network, and the problem that it is to learn."""

    network: Underlay  # with what was filled in
    sites: Sites  # clients, their places and groups
    transfers: Transfers  # of the model
    scenario: Scenario  # every number with its origin
    patterns: tuple[str, ...] | None  # of the tiers that are asked about; None for all
    server: int | None  # server, group_servers: places that are kept; None where the best are looked for
    group_servers: Indices | None
    step: float  # time of a local step of a client whose own is not listed [s]

    @property
    def passes(self) -> int:
        """Of a group's server over its clients in a round."""
        return int(self.scenario.number("P"))

    @property
    def grouped(self) -> bool:
        """Whether there are groups at all."""
        return len(self.sites.groups) > 1

    @property
    def trees(self) -> list[tuple[str, ...]]:
        """Patterns of the trees that are priced, top first: those asked about, or all of one and of two tiers."""
        if self.patterns is not None:
            return [self.patterns]
        return [tree for depth in ((2, 1) if self.grouped else (1,)) for tree in product(PASSES, repeat=depth)]

    @property
    def simplified(self) -> Iterator[str]:
        """What rounds and trees do not see of the fleet, in sentences."""
        sizes, samples = np.ptp(np.bincount(self.sites.group)), np.ptp(self.sites.samples)
        if samples or (self.grouped and sizes):
            yield (
                f"Rounds are predicted for {'equal groups whose ' * self.grouped}clients "
                f"{'that ' * (not self.grouped)}count alike. `hfl-plan recommend --fleet` predicts them for groups and "
                "samples as listed, where rings may stall."
            )
        places, there = np.unique(self.sites.at, return_counts=True)
        if (np.isfinite(self.network.up[places]) & (there > 1)).any():
            yield "Each client at a place has its access alone. Where they share it, a star of them takes longer."
        if any("/" in group for group in self.sites.groups):
            yield "Trees on a network have two tiers at most: a group is its whole path, such as north/edge 3."

    @cached_property
    def asked(self) -> Asked:
        """The question of rounds, which knows groups of their mean size."""
        return ask(with_default_order(self.scenario))

    def of_one_tier(self) -> Sites:
        """The fleet below one server, whose clients work as long in a round as below two."""
        whole = self.sites.together()
        return replace(whole, work=whole.work * self.passes)

    def regrouped(self, group: Indices, scenario: Scenario) -> Question:
        """The same fleet in other groups, with the heterogeneity of these."""
        return replace(self, sites=replace(self.sites, group=group), scenario=scenario, group_servers=None)


def pose(wanted: Wanted, config: Path | None, said: Spoken) -> Question:
    """Read a question; where nothing else is said, rates of clients' links are the access of places."""
    links = Frame(config, said).section("network").get("client_link")
    written = links if isinstance(links, dict) else {}
    up, down = (said.get(f"network.client_link.{way}", ("", written.get(way)))[1] for way in ("up", "down"))
    wanted = replace(wanted, up=wanted.up or up, down=wanted.down or down)
    network = load(wanted.source, wanted.filling(), beside=wanted.bandwidths, access=wanted.access)
    sites = everywhere(network) if wanted.fleet is None else read_sites(wanted.fleet, network)
    scenario = framed(config, said, sites)
    if scenario.compute.straggler.kind != "none":
        raise ScenarioError("--straggler: rounds on a network are those of clients at their mean. Leave it out.")
    step, local = float(scenario.compute.step_time), int(scenario.number("K"))
    unlisted = np.isnan(sites.work)
    own = np.where(unlisted, step, sites.work)
    sites = replace(sites, work=local * own)
    if wanted.fleet is not None and not unlisted.all():
        known = mean_step(own, wanted.fleet.name)
        compute = replace(scenario.compute, step_time=float(own.mean()))
        scenario = replace(scenario, compute=compute, known={**scenario.known, "step_time": known})
    patterns = None if wanted.tiers is None else tuple(one.id for one in Topology.parse(wanted.tiers).patterns)
    if patterns and len(patterns) == 2 and len(sites.groups) < 2:
        raise ScenarioError(
            f"--tiers: {wanted.tiers!a:.40} has groups, and the fleet has none. Add the column group to --fleet."
        )
    server = None if wanted.server is None else network.index(wanted.server, "--server")
    ends = None
    if wanted.group_servers is not None:
        if len(sites.groups) < 2:
            raise ScenarioError("--group-servers: the fleet has no groups. Add the column group to --fleet.")
        ends = read_places(wanted.group_servers, network, sites.groups)
    bits = 8 * scenario.number("model_size")
    return Question(network, sites, Transfers(network, bits), scenario, patterns, server, ends, step)


def framed(config: Path | None, said: Spoken, sites: Sites) -> Scenario:
    """Read the scenario of a fleet, whose groups have their mean size."""
    mean = max(1, round(len(sites.clients) / len(sites.groups)))
    return Frame(config, said).scenario(
        "--fleet", len(sites.groups), mean, "the fleet says how many there are", sited=True
    )


def _rate(text: str | None, option: str) -> float | None:
    return None if text is None else float(parse_rate(text, field=option))
