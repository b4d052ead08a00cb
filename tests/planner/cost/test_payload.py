"""Compressed models: time and traffic are those of smaller models, or of other rates, which are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import planner
from hflbounds.topology import all_topologies
from planner.cost.round import RoundSpec, round_cost
from planner.io.wording import title
from planner.predict.question import ask
from planner.scenario.network import Compute, Link, Network, Straggler


def spec(topology: str, *, size: float = 6e6, straggler: Any = None, **link: Any) -> RoundSpec:
    one = Link(**{"up": 3e6, "down": 9e6, "latency": 0.05, **link})
    compute = Compute(0.7, straggler or Straggler())
    tree = all_topologies(2)[topology].sized((3, 4), passes=(1, 2))
    return RoundSpec(tree, 3, Network((replace(one, latency=0.2), one)), compute, size)


@pytest.mark.parametrize("topology", all_topologies(2))
@pytest.mark.parametrize("hop", ["direct", "relayed"])
@pytest.mark.parametrize("sharing", ["per-client", "per-server"])
@pytest.mark.parametrize("straggler", [None, Straggler("lognormal", 0.4)])
def test_a_ratio_both_ways_is_a_smaller_model(topology: str, hop: str, sharing: str, straggler: Any) -> None:
    same = {"hop": hop, "sharing": sharing, "straggler": straggler}
    packed = round_cost(spec(topology, payload_up=0.25, payload_down=0.25, **same))
    smaller = round_cost(spec(topology, size=1.5e6, **same))
    assert packed.seconds == pytest.approx(smaller.seconds, rel=1e-12)
    assert packed.bytes_by_tier == pytest.approx(smaller.bytes_by_tier, rel=1e-12)


@pytest.mark.parametrize("topology", all_topologies(2))
@pytest.mark.parametrize("sharing", ["per-client", "per-server"])
@pytest.mark.parametrize("straggler", [None, Straggler("lognormal", 0.4)])
def test_a_ratio_one_way_is_a_faster_link_that_way(topology: str, sharing: str, straggler: Any) -> None:
    same = {"sharing": sharing, "straggler": straggler, "hop": "relayed"}
    packed = round_cost(spec(topology, payload_up=0.02, payload_down=0.5, **same))
    faster = round_cost(spec(topology, up=3e6 / 0.02, down=9e6 / 0.5, **same))
    assert packed.seconds == pytest.approx(faster.seconds, rel=1e-12)
    # Relayed, every call is a model down and one up: 3 groups, 3 x 2 x 4 clients.
    assert packed.bytes_by_tier == pytest.approx([3 * 0.52 * 6e6, 24 * 0.52 * 6e6], rel=1e-12)


def test_a_direct_hop_is_packed_by_its_sender() -> None:
    cost = round_cost(spec("ring-ring", payload_up=0.1, payload_down=0.5, hop="direct"))
    bits, work = 8 * 6e6, 3 * 0.7
    down, hop, up = 0.5 * bits / 9e6, 0.1 * bits / 3e6, 0.1 * bits / 3e6

    def ring(n: int, child: float, latency: float) -> float:
        return down + up + 2 * latency + (n - 1) * (hop + latency) + n * child

    group = 2 * ring(4, work, 0.05)
    assert cost.seconds == pytest.approx(ring(3, group, 0.2), rel=1e-12)
    assert cost.bytes_by_tier == pytest.approx([(0.5 + 3 * 0.1) * 6e6, 6 * (0.5 + 4 * 0.1) * 6e6], rel=1e-12)


@pytest.mark.parametrize(
    ("said", "up", "down"),
    [
        ("8bit", 0.25, 0.25),
        ("top-1%", 0.02, 0.02),
        ("0.3", 0.3, 0.3),
        (0.3, 0.3, 0.3),
        ("top-1% / 8bit", 0.02, 0.25),
        ("1/4bit", 1.0, 0.125),
    ],
)
def test_what_is_written_is_read(said: Any, up: float, down: float) -> None:
    link = planner.load_scenario(G=2, M=2, payload=said).network.client_link
    assert (link.payload_up, link.payload_down) == pytest.approx((up, down))


@pytest.mark.parametrize(
    "said", ["0", "33bit", "top-51%", "top-1", "1.5", "8bit/8bit/8bit", "", "1e-3", "-1", True, "8 bits"]
)
def test_what_is_no_compression_is_refused(said: Any) -> None:
    with pytest.raises(planner.ScenarioError, match=r"payload.*Write 8bit, top-1%"):
        planner.load_scenario(G=2, M=2, payload=said)


def test_rounds_stay_and_the_answer_says_so() -> None:
    fleet = {"G": 3, "M": 4, "uplink": "2Mbit/s", "settings": {"plan.draws": 0}}
    whole, packed = (planner.recommend(**fleet, **more) for more in ({}, {"payload": "8bit"}))
    assert [packed.row(row.id).rounds for row in whole.rows] == [row.rounds for row in whole.rows]
    assert packed.row("star-star").time_seconds < whole.row("star-star").time_seconds
    assert "what compression adds to them is not predicted" in packed.warnings[0].text
    assert "what compression adds to them" in " ".join(str(packed).split())  # not cut off
    assert not any("ompress" in w.text for w in whole.warnings)
    assert ask(planner.load_scenario(**fleet, payload="8bit")).of_a_round("star-star").bytes_by_tier[-1] == (
        pytest.approx(whole.row("star-star").round_bytes_by_tier[-1] / 4, rel=1e-12)
    )


@pytest.mark.parametrize(("objective", "key"), [("time", "round_seconds"), ("traffic", "round_bytes")])
def test_the_break_even_of_compression_is_that_of_two_answers(objective: Any, key: str) -> None:
    fleet = {"G": 3, "M": 4, "objective": objective, "settings": {"plan.draws": 0}}
    whole, packed = (planner.recommend(**fleet, **more) for more in ({}, {"payload": "top-2%/4bit"}))
    best = packed.rows[0].id
    factor = getattr(whole.row(best), key) / getattr(packed.row(best), key)
    assert factor > 1.5
    own = ", with own links," if objective == "time" else ""
    said = f"compression pays until it makes the rounds of {title(best)} {factor:.2g} times as many."
    assert packed.warnings[1].text == f"By {objective}{own} {said}"


@pytest.mark.usefixtures("unflipped")
def test_the_break_even_of_compression_is_of_the_links_that_it_names() -> None:
    fleet = {"G": 10, "M": 10, "heterogeneity": "inter", "payload": "8bit", "settings": {"plan.draws": 0}}
    unknown, own, shared = (
        planner.recommend(**fleet, objective="time", **more).warnings[1].text
        for more in ({}, {"link_sharing": "per-client"}, {"link_sharing": "per-server"})
    )
    assert unknown.replace(", with own links,", "") == own != unknown
    assert own != shared


@pytest.mark.parametrize("free", ["footprint.device_hour", "network.client_link.price"])
def test_compression_does_not_pay_where_nothing_costs_anything(free: str) -> None:
    fleet: dict[str, Any] = {"G": 3, "M": 4, "objective": "money", "payload": "8bit"}
    answer = planner.recommend(**fleet, settings={free: 0, "plan.draws": 0})
    assert all(row.money == 0 for row in answer.ranking)
    assert not any("compression pays" in one.text for one in answer.warnings)


def test_compression_of_links_that_carry_nothing_is_not_spoken_of() -> None:
    servers = {"network.server_link.payload": "8bit", "network.tiers": 1, "plan.draws": 0}
    scenario = planner.load_scenario(G=3, M=4, settings=servers)
    assert scenario.network.whole
    assert not any("ompress" in text for text in scenario.warnings)


def test_a_list_of_equal_groups_is_the_fleet_without_one(tmp_path: Any) -> None:
    file = tmp_path / "fleet.csv"
    rows = [f"c{i},g{i % 3},{1 + i}" for i in range(12)]
    file.write_text("\n".join(["client,group,samples", *rows]) + "\n")
    same = {"payload": "top-1%/8bit", "hop": "direct", "settings": {"plan.draws": 0}}
    listed, plain = (ask(planner.load_scenario(**fleet, **same)) for fleet in ({"fleet": str(file)}, {"G": 3, "M": 4}))
    for topology in plain.topologies:
        one, other = (question.of_a_round(topology) for question in (listed, plain))
        assert one.seconds == pytest.approx(other.seconds, rel=1e-12)
        assert one.bytes_by_tier == pytest.approx(other.bytes_by_tier, rel=1e-12)


def test_clients_with_links_of_their_own_are_not_compressed(tmp_path: Any) -> None:
    file = tmp_path / "fleet.csv"
    file.write_text("client,group,link\na,x,5g\nb,x,4g\nc,y,4g\nd,y,4g\n")
    with pytest.raises(planner.ScenarioError, match="links of their own"):
        planner.load_scenario(fleet=str(file), payload="8bit")
