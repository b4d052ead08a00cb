"""A single tier of everybody: the same whatever tree the clients came from."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

import planner
from hflbounds.topology import all_topologies
from planner.decide.single_tier import single_tier
from planner.io.wording import times, two
from planner.predict.question import Question, ask
from planner.scenario.network import Network
from planner.scenario.resolve import load

pytestmark = pytest.mark.usefixtures("unflipped", "few_draws")


def two_tiers() -> Question:
    said = {"fleet.groups": 10, "fleet.clients_per_group": 12, "fleet.group_rounds": 3, "fleet.clients_per_round": 4}
    said |= {"problem.smoothness": 1, "problem.sigma": 1, "problem.heterogeneity": "zeta=1,delta=1"}
    return ask(load(None, {key: (key, value) for key, value in said.items()} | {"plan.seed": ("--seed", 0)}))


def three_tiers(two: Question) -> Question:
    """The same clients, steps and variances below one server more."""
    v = {letter: two.values[letter] for letter in ("K", "L", "A", "sigma")}
    v |= {"n1": 5.0, "S1": 5.0, "delta1": 0.6, "n2": 2.0, "S2": 2.0, "P2": 1.0, "delta2": 0.8}
    v |= {"n3": 12.0, "S3": 4.0, "P3": 3.0, "delta3": 1.0}
    assert math.hypot(0.6, 0.8) == pytest.approx(two.values["delta"])
    assert two.values["zeta"] == 1.0
    links = (two.network.server_link, two.network.server_link, two.network.client_link)
    target = float(two.goal())
    trees = all_topologies(3)
    return replace(two, topologies=trees, bounds={}, values=v, target=target, horizon=None, network=Network(links))


def test_a_single_tier_is_the_same_below_any_servers() -> None:
    two = two_tiers()
    grouped, one = single_tier(two), single_tier(three_tiers(two))
    assert list(one.topologies) == ["star", "ring"]
    assert one.values == pytest.approx(
        {"K": 6.0, "L": 1.0, "A": 2.3, "sigma": 1.0, "n1": 120.0, "S1": 40.0, "delta1": math.sqrt(2)}
    )
    for pattern in one.topologies:
        same = f"star-{pattern}"
        assert one.rounds()[pattern] == pytest.approx(float(grouped.rounds()[same]), rel=1e-9)
        here, there = one.of_a_round(pattern), grouped.of_a_round(same)
        assert (here.seconds, here.bytes) == pytest.approx((there.seconds, there.bytes))


@pytest.mark.usefixtures("unflipped")
def test_small_groups_of_a_list_send_whom_they_have(tmp_path: Path) -> None:
    """As many as are drawn of the others were counted there too, more than there are of everybody."""
    sizes, drawn = {"x/a": 2, "x/b": 1, "y/c": 1, "z/d": 1, "z/e": 3}, 2
    clients = [f"{group[2]}{i},{group}" for group, size in sizes.items() for i in range(size)]
    (tmp_path / "fleet.csv").write_text("\n".join(["client,group", *clients]) + "\n")
    tiers = [{}, {}, {"drawn": drawn}]
    scenario = planner.load_scenario(config={"fleet": {"list": str(tmp_path / "fleet.csv"), "tiers": tiers}})
    alone = single_tier(ask(scenario))
    assert (alone.values["n1"], alone.values["S1"]) == (8, sum(min(size, drawn) for size in sizes.values()))
    answer = planner.recommend(scenario)  # was refused
    assert {"fedavg", "sfl"} <= {row.id for row in answer.rows}


@pytest.mark.parametrize(("up", "latency", "size"), [("2Mbit/s", "40ms", "45MB"), ("1Gbit/s", "5s", "10kB")])
def test_a_chain_of_clients_is_also_timed_over_slower_links_of_servers(up: str, latency: str, size: str) -> None:
    """By rate or by latency; and where another single tier is the one advised. Oracle: one tier on those links."""
    own = {"up": "1Gbit/s", "down": "1Gbit/s", "latency": "1ms", "hop": "relayed"}
    far = {"up": up, "down": up, "latency": latency}
    links = (far, own | {"latency": "5ms"}, own | {"sharing": "per-client"})
    tiers = [{"count": n, "deviation": 0.05, "link": link} for n, link in zip((4, 5, 20), links, strict=True)]
    told = {"fleet": {"local_steps": 1, "tiers": tiers}, "problem": {"sigma": 5, "rounds": 500}}
    told |= {"model": {"size": size}, "compute": {"step_time": "1ms"}, "plan": {"objective": "time", "draws": 0}}
    answer = planner.recommend(told)
    sequential, best = answer.row("sfl"), answer.ranking[0]
    through = own | {"up": up, "down": up, "latency": f"{1 + 5 + (40 if latency == '40ms' else 5000)}ms"}
    alone = planner.recommend(
        told | {"fleet": {"local_steps": 1, "tiers": [{"count": 400, "deviation": 0.05, "link": through}]}}
    )
    seconds = sequential.rounds * alone.row("ring").round_seconds
    assert sequential.time_seconds < best.time_seconds < seconds
    assert sequential.through == pytest.approx(seconds / best.time_seconds, rel=1e-6)
    page = str(answer)
    assert f"{times(sequential.ratio)}-{two(seconds / best.time_seconds)}x" in page and "own to servers' links" in page


@pytest.mark.parametrize("objective", ["money", "energy"])
def test_what_clients_send_over_servers_links_is_paid_there_too(objective: str) -> None:
    """FedAvg was advised at a fifth of the money, by clients' own links alone. By hand, of 8 clients at 15 servers."""
    told = {
        "groups": 15,
        "clients_per_group": 8,
        "model_size": "500MB",
        "step_time": "0.5s",
        "link_sharing": "per-client",
    }
    told |= {"client_link": "lan", "server_uplink": "100Mbit/s", "server_downlink": "100Mbit/s", "objective": objective}
    prices = {"footprint.device_hour": 2.5, "network.server_link.price": 0.09}
    powers = {"footprint.training_power": "300W", "footprint.idle_power": "100W"}
    powers |= {"network.server_link.energy": "0.05kWh/GB"}
    answer = planner.recommend(**told, settings=prices if objective == "money" else powers)
    fedavg, best = answer.row("fedavg"), answer.ranking[0]
    steps, rounds = 2 * 0.5, float(fedavg.rounds)
    seconds = 8 * 2 * 500e6 * 8 / 100e6 + steps  # of a round
    gigabytes = 120 * 2 * 0.5
    money = 120 * 2.5 * seconds / 3600 + 0.09 * gigabytes
    joules = 120 * (100 * seconds + 200 * steps) + 0.05 * 3.6e6 * gigabytes
    whole, least = (money, best.money) if objective == "money" else (joules, best.energy_joules)
    baseline = answer.verdict.baseline
    assert baseline is not None and not baseline.advised
    assert baseline.through == pytest.approx(rounds * whole / least, rel=0.01)
    assert f" reach the top, {times(baseline.through)} over servers' links." in answer.verdict.text


@pytest.mark.usefixtures("unflipped", "unrated")
def test_without_servers_clients_of_a_group_still_share_its_link() -> None:
    """By hand: 16 models of 25 MB down at 100 Mbit/s and up at 12, in seven groups at once, and 4 steps of 0.1 s."""
    fleet = {"groups": 7, "clients_per_group": 16, "local_steps": 4, "model_size": "25MB", "uplink": "12Mbit/s"}
    answer = planner.recommend(**fleet, heterogeneity="intra", link_sharing="per-server")
    one, stars = (next(row for row in answer.rows if row.id == id_) for id_ in ("fedavg", "star-star"))
    group = 16 * 25e6 * 8 * (1 / 12e6 + 1 / 100e6) + 0.4
    assert one.round_seconds == pytest.approx(group, rel=1e-3)
    assert stars.round_seconds == pytest.approx(group + 2 * 25e6 * 8 / 100e6, rel=1e-2)  # and over links of servers
    own = planner.recommend(**fleet, heterogeneity="intra", link_sharing="per-client").row("fedavg")
    assert own.round_seconds == pytest.approx(group / 16, rel=3e-2)
    assert float(one.traffic_bytes) == pytest.approx(float(own.traffic_bytes), rel=1e-12)
    assert float(one.traffic_bytes) == pytest.approx(2 * 112 * 25e6 * float(one.rounds), rel=1e-12)
    late = planner.recommend(**fleet, heterogeneity="intra", link_sharing="per-server", availability="95%")
    one, stars = (float(late.row(name).time_seconds) for name in ("fedavg", "star-star"))
    assert one == pytest.approx(stars, rel=0.05)  # it was nine times as long: 112 turns on one link


def test_links_of_servers_that_are_not_there_are_no_assumption_and_no_input() -> None:
    fleet = {"groups": 4, "clients_per_group": 5, "link_sharing": "per-client", "tiers": 1}
    answer = planner.recommend(**fleet, details=False)
    assert not [one.key for one in answer.assumptions if one.key.startswith("server_link")]
    given = planner.recommend(**fleet, server_link="datacenter", details=False)  # a preset was ignored in silence
    assert [one.text for one in given.warnings if "others are unused" in one.text]
    assert [float(row.time_seconds) for row in given.rows] == [float(row.time_seconds) for row in answer.rows]


@pytest.mark.parametrize("fleet", [{"G": 10, "M": 10, "uplink": "20Mbit/s"}, {"tiers": "4/5/20"}])
def test_the_light_answer_names_one_tier_as_the_full_one_does(fleet: dict) -> None:
    """It was silent on FedAvg, where the full answer said that it takes less."""
    asked = planner.load_scenario(**fleet, settings={"plan.draws": 0})
    light, full = (planner.recommend(asked, details=details) for details in (False, True))
    rows = [
        {row.id: (row.rounds, row.time_seconds, row.traffic_bytes, row.ratio) for row in one.rows if row.baseline}
        for one in (light, full)
    ]
    assert rows[0] == rows[1] and rows[0].keys() == {"fedavg", "sfl"}
    assert light.verdict.baseline is not None and light.verdict.baseline.id == "fedavg"
    assert "FedAvg takes " in light.verdict.text
