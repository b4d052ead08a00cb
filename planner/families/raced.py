"""Systems that race beside the trees of a pilot: which algorithm each is on a fleet, and what it needs to be run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from planner.data.coverage import Layout, read_layout
from planner.decide.tuning import whole_numbers
from planner.errors import ScenarioError
from planner.families.hga import question as hga
from planner.families.hsl import question as hsl
from planner.harness.pilot import Fleet, Racer
from planner.io.wording import counted

TREES, HGA = "trees", "hga"
FEDASYNC = {"eta_g": 0.6, "damping": 0.5}  # usual values: the share of a model that arrives, and how that falls if late
DYN = 2.0  # FedDyn's coefficient inside a region of HGA-FL, the largest of xie2024


@dataclass(frozen=True, slots=True)
class Asked:
    """Systems of a race.

    Raises:
        ScenarioError: For a system there is not, or that lacks what it needs.
    """

    systems: tuple[str, ...] = (TREES,)  # of the trees and those of ``BESIDE``
    # A file or a layout in words, for HHFL; its clients are those of the hook, group by group
    coverage: str | None = None
    edges: int | None = None  # models that go over an edge in a round, in all, for HSL and gossip
    slowdowns: str | None = None  # how many times as long each region takes, for HGA-FL
    speed_ratio: str | None = None  # or the last over the first
    # updates of regions in a step of an asynchronous server, 1,2,3; None for half of them, and more for FedBuff
    buffer: str | None = None

    def __post_init__(self) -> None:
        if unknown := [name for name in self.systems if name not in (TREES, *BESIDE)]:
            raise ScenarioError(f"--systems: {unknown[0]!a:.40} is no system. Known are {', '.join((TREES, *BESIDE))}.")
        if TREES not in self.systems:
            whole = ",".join((TREES, *self.systems))
            raise ScenarioError(f"--systems: rounds are told relative to those of trees. Write --systems {whole}.")
        missing = [self.slowdowns, self.speed_ratio].count(None)
        if HGA in self.systems and missing != 1:
            said = "nothing says how slow the regions are" if missing else "--slowdowns and --speed-ratio say the same"
            raise ScenarioError(f"--systems hga: {said}. Give one of --slowdowns 1,1.2,8 and --speed-ratio 8.")
        for option, given, users, needed in (
            ("coverage", self.coverage, ("hhfl",), True),
            ("edges", self.edges, ("hsl", "gossip"), True),
            ("slowdowns", self.slowdowns, (HGA,), False),
            ("speed-ratio", self.speed_ratio, (HGA,), False),
            ("buffer", self.buffer, (HGA,), False),
        ):
            asking = [name for name in users if name in self.systems]
            if asking and given is None and needed:
                raise ScenarioError(f"--systems {asking[0]}: needs --{option}. Give it, or leave {asking[0]} out.")
            if given is not None and not asking:
                raise ScenarioError(f"--{option}: is for --systems {' or '.join(users)}. Name one, or leave it out.")

    def racers(self, fleet: Fleet) -> tuple[Racer, ...]:
        """Say what races on a fleet.

        Raises:
            ScenarioError: Where a system does not fit it.
        """
        asked = [system for name, system in BESIDE.items() if name in self.systems]
        return tuple(racer for system in asked for racer in system.racers(self, fleet))

    def left_out(self) -> list[str]:
        """What was not run, in words."""
        return [system.words for name, system in BESIDE.items() if name not in self.systems]


def _one_tier(_asked: Asked, fleet: Fleet) -> Iterator[Racer]:
    """All clients at one server, with as many local steps as they take in a round of the tree."""
    options: dict[str, Any] = {"clients": fleet.clients, "K": fleet.local_steps * prod(fleet.passes)}
    if fleet.taking_part < fleet.clients:
        options["S"] = fleet.taking_part
        _counted_alike(fleet, "one-tier", "--drawn")
    order = {"order": "shuffled" if fleet.order == "fixed" else fleet.order}  # as it is predicted: mixing groups
    weights = {} if fleet.samples is None else {"weights": ",".join(map(str, fleet.samples))}
    yield Racer("fedavg", "one-tier", "FedAvg, one tier", "fedavg", {**options, **weights})
    yield Racer("sfl", "one-tier", "Sequential FL, one tier", "sequential", {**options, **order})


def _hhfl(asked: Asked, fleet: Fleet) -> Iterator[Racer]:
    _everybody(fleet, "hhfl")
    layout = read_layout(str(asked.coverage))
    links = layout.links
    if len(links) != fleet.clients:
        raise ScenarioError(
            f"--coverage: {asked.coverage!s:.80} has {len(links)} clients, and {fleet.clients} race. Give the "
            f"coverage of {fleet.clients}, or a hook that returns as many clients as the file has.",
            code="E002",
        )
    if len(fleet.sizes) == 2:
        at_home(layout, fleet.sizes[1])
    options = {"coverage": rows_of(str(asked.coverage)), "E": fleet.local_steps, "Ge": prod(fleet.passes)}
    yield Racer("hhfl", "hhfl", f"HHFL, {links.shape[1]} servers", "hhfl", options)


def at_home(layout: Layout, groups: Sequence[int]) -> Layout:
    """The same with the groups of a fleet, told by their sizes, as the clients of each server where nothing overlaps.

    Raises:
        ScenarioError: Where that is not so: then a star of stars is no HFL of this coverage.
    """
    servers = len(layout.servers)
    if servers != len(groups):
        raise ScenarioError(
            f"--coverage: {layout.source!s:.80} has {counted(servers, 'server')}, and the clients that race are in "
            f"{counted(len(groups), 'group')}: HHFL is compared with one server for each group, which is Star-Star. "
            "Make them agree.",
            code="E002",
        )
    homes = np.repeat(np.arange(servers), groups)
    lost = np.flatnonzero(~layout.links[np.arange(len(homes)), homes])
    if len(lost):
        client, server = int(lost[0]), int(homes[lost[0]])
        raise ScenarioError(
            f"--coverage: client {client + 1}, {layout.clients[client]!a:.40}, is in group {server + 1}, and server "
            f"{server + 1}, {layout.servers[server]!a:.40}, does not reach it. List clients group by group, as "
            "the hook returns them, and servers in the order of the groups.",
            code="E002",
        )
    return replace(layout, home=homes, home_given=True)


def rows_of(coverage: str) -> str:
    """A coverage as a row of 0 and 1 for each client, ``110;011``."""
    links = read_layout(coverage).links.tolist()
    return ";".join("".join("1" if link else "0" for link in row) for row in links)


def _hsl(asked: Asked, fleet: Fleet) -> Iterator[Racer]:
    """The budgets that the theorem puts first at so many edges."""
    _everybody(fleet, "hsl")
    found = hsl.solve(hsl.pose({"nodes": f"{fleet.clients}", "edges": f"{asked.edges}"}, None, {})).budgets
    edges = found.edges(fleet.clients)
    options = {"n_s": fleet.clients, **asdict(found), **_steps(fleet)}
    yield Racer("hsl", "hsl", f"HSL, {found.n_h} hubs, {edges} edges", "hsl", options, at_nodes=True)


def _gossip(asked: Asked, fleet: Fleet) -> Iterator[Racer]:
    """As many edges as there are: each node sends to so many others, and links that are drawn."""
    _everybody(fleet, "gossip")
    n, edges = fleet.clients, int(asked.edges or 0)
    if n < 2 or not n <= edges <= n * (n - 1):
        raise ScenarioError(f"--edges: {edges} are not from {n} to {n * (n - 1)}, what {n} nodes can use in gossip.")
    each = edges // n
    options = {"n": n, "s": each, **_steps(fleet)}
    yield Racer("el-local", "gossip", f"EL-Local, {each * n} edges", "el-local", options, at_nodes=True)
    random = {"n": n, "probability": edges / (n * (n - 1)), **_steps(fleet)}
    yield Racer("erdos-renyi", "gossip", f"Erdos-Renyi, {edges} edges", "erdos-renyi", random, at_nodes=True)


def _hga(asked: Asked, fleet: Fleet) -> Iterator[Racer]:
    """Groups as regions, at servers that do not wait, and at one that does; caches are empty at first."""
    _everybody(fleet, HGA)
    if len(fleet.sizes) != 2 or len(set(fleet.sizes[-1])) > 1:
        raise ScenarioError("--systems hga: regions are groups of one size, in two tiers. Leave hga out.")
    [regions], clients = fleet.sizes[0], fleet.sizes[1][0]
    if regions < 2:
        raise ScenarioError("--systems hga: one group is no regions that differ in speed. Leave hga out.")
    half = (regions + 1) // 2
    sizes = whole_numbers("--buffer", asked.buffer, {half})
    if sizes[-1] > regions:
        raise ScenarioError(f"--buffer: {sizes[-1]} is not from 1 to the {regions} regions.", code="E004")
    main = half if half in sizes else sizes[0]  # whose ids are the rules' own
    of_fedbuff = hga.some_buffers(regions) if asked.buffer is None else sizes  # one rule, as each buffer takes its time
    option, text = ("--speed-ratio", asked.speed_ratio) if asked.slowdowns is None else ("--slowdowns", asked.slowdowns)
    slowdowns = tuple(hga.factors(option, str(text), regions))
    shared: dict[str, Any] = {"M": regions, "N": clients, "R_sub": prod(fleet.passes), "E": fleet.local_steps}
    shared["slowdowns"] = ",".join(map(repr, slowdowns))
    for rule, title, options, buffers in (
        ("hga-fl", "HGA-FL", {"cache": "zero", "alpha": DYN}, sizes),
        ("fedbuff", "FedBuff", {}, of_fedbuff),
        ("ca2fl", "CA2FL", {"cache": "zero"}, sizes),
    ):
        for size in buffers:
            id_ = rule if size == main else f"{rule}-{size}"
            options_of = {**shared, "K_buf": size, **options}
            yield Racer(id_, HGA, f"{title}, buffer {size} of {regions}", rule, options_of, slowdowns=slowdowns)
    yield Racer("fedasync", HGA, "FedAsync", "fedasync", {**shared, "K_buf": 1, **FEDASYNC}, slowdowns=slowdowns)
    yield Racer("synchronous", HGA, "Synchronous mean", "synchronous", shared, slowdowns=slowdowns)


def _steps(fleet: Fleet) -> dict[str, Any]:
    return {"K": fleet.local_steps * prod(fleet.passes), "judged": "nodes"}


def _everybody(fleet: Fleet, name: str) -> None:
    if fleet.taking_part < fleet.clients:
        raise ScenarioError(f"--systems {name}: everybody takes part in it. Leave --drawn out.")
    _counted_alike(fleet, name, f"--systems {name}")


def _counted_alike(fleet: Fleet, name: str, other: str) -> None:
    if fleet.samples is not None:
        raise ScenarioError(f"--weights samples: {name} counts clients alike here. Leave it or {other} out.")


class System(NamedTuple):
    """A system that may race beside the trees."""

    words: str  # what it is, and how to ask for it
    racers: Callable[[Asked, Fleet], Iterator[Racer]]


BESIDE: Mapping[str, System] = {
    "one-tier": System("FedAvg and sequential learning (--systems trees,one-tier)", _one_tier),
    "hhfl": System("HHFL (hhfl, with --coverage FILE)", _hhfl),
    "hsl": System("HSL (hsl, with --edges N)", _hsl),
    "gossip": System("gossip (gossip, with --edges N)", _gossip),
    HGA: System("HGA-FL, FedBuff and FedAsync (hga, with --slowdowns 1,1,2,5 or --speed-ratio 8)", _hga),
}


def read(systems: str, edges: str | None = None, **others: str | None) -> Asked:
    """Read what was asked for; the others are as `Asked` has them."""
    if edges is not None and not (edges.strip().isdecimal() and 0 < int(edges) <= 10**9):
        raise ScenarioError(f"--edges: {edges!a:.40} is no count of models sent in a round.")
    words: Sequence[str] = [word.strip().lower() for word in systems.split(",") if word.strip()]
    models = None if edges is None else int(edges)
    return Asked(tuple(dict.fromkeys(words)), edges=models, **others)
