"""Fleets by list: time and traffic of a round, node by node, against the short form and rounds added up by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cost_oracle import draws

from hflbounds.topology import Topology, branches
from planner.cost.footprint import footprint
from planner.cost.round import CostError, RoundSpec, round_cost
from planner.scenario.footprint import Coefficient
from planner.scenario.members import Members
from planner.scenario.network import Compute, Link, Network, Straggler

SIZES = [[4, 2, 7], [2, 1, 5, 3]]
STEP, K, BYTES = 0.1, 3, 45e6
SERVER = Link(50e6, 60e6, 0.02, "per-client", "direct")
LINKS = (
    Link(20e6, 100e6, 0.01, hop="relayed"),
    Link(200e6, 80e6, 0.002, hop="direct"),
    Link(9e6, 30e6, 0.03, hop="direct"),
)
WORDS = ["/".join(both) for both in itertools.product(("star", "ring"), repeat=2)]


def listed(words: str, sizes: list[int], dice: np.random.Generator, **how: Any) -> tuple[Topology, Members]:
    clients = sum(sizes)
    children = branches([[len(sizes)], sizes], dice.uniform(1, 9, clients))
    pace = dice.uniform(0.5, 2, clients)
    link_of = dice.integers(-1, 2, clients)
    members = Members(children, (True, True), pace / pace.mean(), LINKS[1:], link_of)
    return Topology.parse(words).sized((1, 1), children=children, **how), members


def hop(own: Link, following: Link) -> float:
    if "relayed" in (own.hop, following.hop):
        return 8 * BYTES * (1 / own.up + 1 / following.down) + own.latency + following.latency
    return 8 * BYTES * max(1 / own.up, 1 / following.down) + (own.latency + following.latency) / 2


def exchange(link: Link, other: Link | None = None) -> float:
    last = other or link
    return 8 * BYTES * (1 / link.down + 1 / last.up) + link.latency + last.latency


def by_hand(words: str, sizes: list[int], members: Members, passes: int) -> float:
    """Seconds of a round, client by client."""
    top, low = words.split("/")
    every = (*LINKS[1:], LINKS[0])
    groups, first = [], 0
    for size in sizes:
        links = [every[members.link_of[c]] for c in range(first, first + size)]
        work = [K * STEP * members.pace[c] for c in range(first, first + size)]
        if low == "star":
            once = max(w + exchange(link) for w, link in zip(work, links, strict=True))
        else:
            once = sum(work) + exchange(links[0], links[-1]) + sum(map(hop, links, links[1:]))
        groups.append(passes * once)
        first += size
    if top == "star":
        return max(groups) + exchange(SERVER)
    return sum(groups) + exchange(SERVER) + (len(sizes) - 1) * hop(SERVER, SERVER)


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("passes", [1, 2])
def test_a_star_waits_for_its_slowest_and_a_ring_for_all(words: str, passes: int) -> None:
    for seed, sizes in enumerate(SIZES):
        tree, members = listed(words, sizes, np.random.default_rng(seed), passes=(1, passes))
        spec = RoundSpec(tree, K, Network((SERVER, LINKS[0])), Compute(STEP), BYTES, members=members)
        assert round_cost(spec).seconds == pytest.approx(by_hand(words, sizes, members, passes), rel=1e-12)
        slow = Compute(STEP, Straggler("lognormal", 1e-7))  # the same by draws
        drawn = draws(RoundSpec(tree, K, spec.network, slow, BYTES, members=members))
        assert drawn == pytest.approx(by_hand(words, sizes, members, passes), rel=1e-5)


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("tiers", [1, 2])
@pytest.mark.parametrize("method", ["schedule", "formula", "diluted"])
@pytest.mark.parametrize("drawn", [(None, None), (2, 3)])
@pytest.mark.parametrize("own", [False, True])
def test_a_list_of_equal_groups_costs_what_the_short_form_does(
    words: str, tiers: int, method: Any, drawn: tuple[int | None, int | None], own: bool
) -> None:
    G, M = 4, 5
    children = branches([[G], [M] * G])
    for sharing, direct in itertools.product(("per-client", "per-server"), ("direct", "relayed")):
        if own and sharing == "per-server":
            continue
        client = Link(20e6, 100e6, 0.01, sharing, direct)  # type: ignore[arg-type]
        server = Link(50e6, 60e6, 0.02, sharing, direct)  # type: ignore[arg-type]
        network, compute = Network.two_tier(tiers, client, server), Compute(STEP)
        plain = Topology.parse(words)
        short = plain.sized((drawn[0] or G, drawn[1] or M), passes=(1, 2))
        tree = plain.sized((G, M), passes=(1, 2), drawn=drawn, children=children)
        link_of = np.arange(G * M) % 2 - 1 if own else None
        members = Members(children, (True, True), None, (client,) if own else (), link_of)
        one = round_cost(RoundSpec(short, K, network, compute, BYTES, method))
        other = round_cost(RoundSpec(tree, K, network, compute, BYTES, method, members=members))
        assert other.seconds == pytest.approx(one.seconds, rel=1e-12)
        assert other.bytes_by_tier == pytest.approx(one.bytes_by_tier, rel=1e-12)


def test_the_mean_over_who_is_drawn_is_that_over_all_subsets() -> None:
    sizes, words = [4, 2, 3], "star/star"
    tree, members = listed(words, sizes, np.random.default_rng(3), drawn=(2, None))
    spec = RoundSpec(tree, K, Network((SERVER, LINKS[0])), Compute(STEP), BYTES, members=members)
    found = round_cost(spec)
    groups = []
    for g in range(3):
        first = sum(sizes[:g])
        part = Members(members.children, (True,) * 2, members.pace[first:], members.links, members.link_of[first:])
        groups.append(by_hand(words, sizes[g : g + 1], part, 1))
    mean = np.mean([max(pair) for pair in itertools.combinations(groups, 2)])
    assert found.standard_error > 0
    assert abs(found.seconds - mean) < 5 * found.standard_error
    assert found.bytes_by_tier == pytest.approx((2 * 2 * BYTES, 2 * BYTES * 2 / 3 * sum(sizes)))


@pytest.mark.parametrize("words", WORDS)
def test_random_times_of_equal_groups_in_a_list_are_those_of_the_short_form(words: str) -> None:
    children = branches([[2], [3, 3]])
    how = (K, Network((SERVER, LINKS[0])), Compute(10.0, Straggler("exponential", 0.8)), BYTES)
    one = round_cost(RoundSpec(Topology.parse(words).sized((2, 3)), *how))
    tree = Topology.parse(words).sized((1, 1), children=children)
    other = round_cost(RoundSpec(tree, *how, seed=1, members=Members(children, (True, True))))
    apart = abs(one.seconds - other.seconds)
    assert apart < 5 * np.hypot(one.standard_error, other.standard_error) < 0.08 * one.seconds


def test_what_is_drawn_at_once_counts_group_rounds_where_times_vary_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, members = listed("star/star", [4, 2, 3], np.random.default_rng(3), drawn=(2, None), passes=(1, 3))
    network = Network((SERVER, LINKS[0]))
    monkeypatch.setattr("planner.cost.uneven._LARGEST", 9)  # clients
    round_cost(RoundSpec(tree, K, network, Compute(STEP), BYTES, members=members))
    with pytest.raises(CostError, match="27 compute times of a round"):
        random = Compute(STEP, Straggler("exponential", 0.5))
        round_cost(RoundSpec(tree, K, network, random, BYTES, members=members))


@pytest.mark.parametrize(("words", "times"), [("star/star", 4), ("ring/star", 2)])
def test_slow_parts_are_those_of_the_first_tier_with_several(words: str, times: float) -> None:
    """A star waits for the slowest, a ring for each; a node of one part has none of them."""
    for above in ("", "star/", "ring/"):
        sizes = (*([1] if above else []), 3, 5)
        tree = Topology.parse(above + words).sized(sizes)
        network = Network((*([None] if above else []), SERVER, LINKS[0]))
        one = RoundSpec(tree, K, network, Compute(STEP), BYTES)
        slow = replace(one, slowdowns=(1.0, 1.0, 4.0))
        assert round_cost(slow).seconds == pytest.approx(times * round_cost(one).seconds, rel=1e-12)


def test_clients_that_share_their_servers_rate_wait_for_one_another() -> None:
    """Downloads end together; uploads of 1 s each begin at 1, 1.2 and 2 s on one link, and of 1.1 s alone elsewhere."""
    link = Link(8 * BYTES, 8 * BYTES * 1e9, 0.0, "per-server")
    children = branches([[2], [3, 1]])
    pace = np.array([1.0, 1.2, 2.0, 1.1])
    members = Members(children, (True, True), pace / pace.mean())
    tree = Topology.parse("star/star").sized((1, 1), children=children)
    spec = RoundSpec(tree, 1, Network((None, link)), Compute(float(pace.mean())), BYTES, members=members)
    assert round_cost(spec).seconds == pytest.approx(2 + 4, rel=1e-6)  # no servers: all four share, at the most
    own = RoundSpec(tree, 1, Network((LINKS[1], link)), Compute(float(pace.mean())), BYTES, members=members)
    assert round_cost(own).seconds == pytest.approx(1 + 3 + exchange(LINKS[1]), rel=1e-6)


def test_traffic_counts_each_hop_by_its_own_link() -> None:
    children = branches([[1], [4]])
    members = Members(children, (True, True), None, LINKS[1:2], np.array([-1, 0, 0, 0]))
    tree = Topology.parse("star/ring").sized((1, 1), children=children)
    spec = RoundSpec(tree, 1, Network((None, LINKS[0])), Compute(STEP), BYTES, members=members)
    relayed, direct = 2 * 4, 4 + 1
    assert round_cost(spec).bytes == pytest.approx(BYTES * (relayed / 4 + 3 * direct / 4))


def test_devices_of_a_list_are_as_long_on_air_as_those_of_the_short_form() -> None:
    watts = [Coefficient(one, one, one) for one in (2.0, 0.5, 1.0)]
    rates = {"training_power": watts[0], "idle_power": watts[1], "radio_power": watts[2]}
    for words, drawn in itertools.product(WORDS, [(None, None), (2, 3)]):
        plain, network = Topology.parse(words), Network((SERVER, LINKS[1]))
        tree = plain.sized((4, 5), passes=(1, 2), drawn=drawn, children=branches([[4], [5] * 4]))
        short = plain.sized((drawn[0] or 4, drawn[1] or 5), passes=(1, 2))
        one, other = (RoundSpec(t, K, network, Compute(STEP), BYTES) for t in (short, tree))
        a, b = footprint(one, round_cost(one), rates), footprint(other, round_cost(other), rates)
        assert {k: v.value for k, v in b.joules.items()} == pytest.approx({k: v.value for k, v in a.joules.items()})
