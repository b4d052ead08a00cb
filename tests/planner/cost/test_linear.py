"""The time of a round as a sum: what the schedule says at links that the sum was not made from, or no sum at all."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hflbounds.topology import Topology
from planner.cost.linear import terms
from planner.cost.round import RoundCost, round_cost
from planner.cost.spec import RoundSpec
from planner.scenario.network import Compute, Link, Network, Straggler, link_names

rate = st.floats(1e4, 1e10)
links = st.builds(
    Link,
    rate,
    rate,
    st.floats(0, 2),
    st.sampled_from(["per-client", "per-server"]),
    st.sampled_from(["direct", "relayed"]),
)


@st.composite
def rounds(draw: st.DrawFn) -> RoundSpec:
    depth = draw(st.integers(1, 3))
    tree = Topology.parse("/".join(draw(st.sampled_from(["star", "ring"])) for _ in range(depth)))
    sizes = tuple(draw(st.integers(1, 6)) for _ in range(depth))
    passes = (1, *(draw(st.integers(1, 3)) for _ in range(depth - 1)))
    sized = tree.sized(sizes, drawn=(None,) * depth, passes=passes, order="fixed")
    network = Network(tuple(draw(links) for _ in range(depth)))
    method = draw(st.sampled_from(["schedule", "formula", "diluted"]))
    return RoundSpec(sized, draw(st.integers(1, 9)), network, Compute(draw(st.floats(0, 3))), 1e6, method)


def total(spec: RoundSpec, found: dict[str, float]) -> float:
    """The sum, typed from the statement."""
    seconds = found.get("step_time", 0.0) * spec.compute.step_time
    for name, link in zip(link_names(len(spec.network.links)), spec.network.links, strict=True):
        assert link is not None
        up, down = 8 * spec.model_bytes / link.up, 8 * spec.model_bytes / link.down
        seconds += found.get(f"{name}.up", 0) * up + found.get(f"{name}.down", 0) * down
        seconds += found.get(f"{name}.slower", 0) * max(up, down) + found.get(f"{name}.latency", 0) * link.latency
    return seconds


@given(rounds())
def test_a_sum_is_the_time_of_the_schedule(spec: RoundSpec) -> None:
    found = terms(spec)
    if found is not None:
        assert total(spec, found) == pytest.approx(round_cost(spec).seconds, rel=1e-8)


@pytest.mark.parametrize("topology", ["star/star", "star/ring", "ring/star", "ring/ring"])
@pytest.mark.parametrize("sharing", ["per-client", "per-server"])
def test_two_tiers_of_like_clients_have_one(topology: str, sharing: str) -> None:
    link = Link(2e7, 1e8, 0.01, sharing)  # type: ignore[arg-type]
    sized = Topology.parse(topology).sized((3, 4), drawn=(None, None), passes=(1, 2), order="fixed")
    found = terms(RoundSpec(sized, 5, Network((Link(1e9, 1e9, 0.005), link)), Compute(0.2), 4.5e7))
    assert found is not None
    top, low = sized.patterns
    chained = 2 * (3 if top.ordered else 1) * (4 if low.ordered else 1)  # turns of a client, one after the other
    at_once = (4 if sharing == "per-server" and not low.ordered else 1) * chained
    assert found["client_link.up"] == found["client_link.down"] == at_once
    assert found["step_time"] == 5 * chained


def test_where_times_are_drawn_there_is_none() -> None:
    sized = Topology.parse("star/star").sized((3, 4), drawn=(None, None), passes=(1, 1), order="fixed")
    spec = RoundSpec(sized, 5, Network((Link(1e9, 1e9), Link(2e7, 1e8))), Compute(0.2), 4.5e7)
    assert terms(spec) is not None
    assert terms(replace(spec, compute=Compute(0.2, Straggler("lognormal", 0.5)))) is None


@pytest.mark.parametrize("bent", [1.0, 1e-6])
def test_a_time_that_is_no_sum_has_none(bent: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schedule of somebody else may wait for the later of two; here in full, or in one part of a million."""
    sized = Topology.parse("star/star").sized((3, 4), drawn=(None, None), passes=(1, 1), order="fixed")
    spec = RoundSpec(sized, 5, Network((Link(1e9, 1e9), Link(2e7, 1e8))), Compute(0.2), 4.5e7)

    def waits(one: RoundSpec) -> RoundCost:
        low = one.network.named["client_link"]
        work, up = one.compute.step_time, 8 * one.model_bytes / low.up
        return replace(round_cost(one), seconds=work + up + bent * max(work, up))

    assert terms(spec) is not None
    monkeypatch.setattr("planner.cost.linear.round_cost", waits)
    assert terms(spec) is None


def test_a_network_that_is_timed_hop_by_hop_is_exact_and_has_no_sum() -> None:
    sized = Topology.parse("star/star").sized((3, 4), drawn=(None, None), passes=(1, 1), order="fixed")
    network = Network((Link(1e9, 1e9), Link(2e7, 1e8)), timer=lambda tree, K, compute, size: K * compute.step_time + 6)
    spec = RoundSpec(sized, 5, network, Compute(0.2), 4.5e7)
    found = round_cost(spec)
    assert (found.seconds, found.standard_error, found.draws) == (7.0, 0.0, 0)
    assert terms(spec) is None


def test_coefficients_are_numbers() -> None:
    sized = Topology.parse("ring").sized((7,), drawn=(None,), passes=(1,), order="fixed")
    found = terms(RoundSpec(sized, 2, Network((Link(1e6, 1e6, 0.1, hop="direct"),)), Compute(0.0), 1e3))
    assert found is not None and all(map(math.isfinite, found.values()))
    assert found == {"client_link.up": 1, "client_link.down": 1, "client_link.slower": 6, "client_link.latency": 8,
                     "step_time": 14}  # fmt: skip
