"""`recommend --network`: rounds hop by hop, however steps and models are moved, and what they wait for."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_cli import ROOT

import planner
from hflbounds import Tier, Topology
from planner.families.sited.question import Wanted, pose
from planner.families.sited.timed import on_network
from planner.network.trees import round_of
from planner.predict.question import ask
from planner.scenario.network import Compute

pytestmark = pytest.mark.usefixtures("few_draws")

EXAMPLE = ROOT / "examples"
SITES = EXAMPLE / "consortium.csv"
CONFIG = EXAMPLE / "consortium.toml"


@pytest.mark.parametrize("tiers", [("star", "star"), ("star", "ring"), ("ring", "star"), ("ring", "ring")])
@pytest.mark.parametrize(
    ("K", "step", "size"), [(10, 0.05, 45e6), pytest.param(3, 0.7, 1e6, marks=pytest.mark.slow), (1, 0.0, 4e8)]
)
def test_moved_steps_and_models_are_timed_hop_by_hop(tiers: tuple[str, str], K: int, step: float, size: float) -> None:
    question = pose(Wanted("geant", fleet=SITES, up="100Mbit/s", down="1Gbit/s"), CONFIG, {})
    timing = on_network(question).network.timer
    tree = Topology((Tier(tiers[0], size=3), Tier(tiers[1], size=20, passes=2)))
    found = timing(tree, K, Compute(step), size)
    fleet = replace(question.sites, work=np.full(31, K * step))
    sized = replace(question.transfers, bits=8 * size)
    assert found == pytest.approx(round_of(fleet, sized, tiers, timing.layout(tiers, 2), 2).seconds, rel=1e-9)
    alone = Topology((Tier("star", size=1), Tier(tiers[1], size=31)))
    together = replace(fleet.together(), work=fleet.work)
    expected = round_of(together, sized, tiers[1:], timing.layout(tiers[1:], 1)).seconds
    assert timing(alone, K, Compute(step), size) == pytest.approx(expected, rel=1e-9)
    twice = Topology((Tier("star", size=1), Tier(tiers[1], size=31, passes=2)))
    assert timing(twice, K, Compute(step), size) == pytest.approx(2 * expected, rel=1e-9)


def test_a_question_on_a_network_costs_what_its_round_takes() -> None:
    question = pose(Wanted("geant", fleet=SITES, up="100Mbit/s"), CONFIG, {})
    scenario = on_network(question)
    timing = scenario.network.timer
    asked = ask(scenario)
    for topology in asked.topologies:
        patterns = tuple(topology.split("-"))
        expected = round_of(question.sites, question.transfers, patterns, timing.layout(patterns, 2), 2).seconds
        assert asked.of_a_round(topology).seconds == pytest.approx(expected, rel=1e-9)
    assert asked.network.named == {}  # links of a tier are no inputs that could be moved
    links = [known for name, known in scenario.known.items() if name.startswith(("client_link", "server_link"))]
    assert {(known.value, known.origin) for known in links} == {(None, "derived")}


@pytest.mark.parametrize(("rate", "unlimited"), [(None, True), ("100Mbit/s", False)])
def test_access_that_nothing_limits_is_assumed(tmp_path: Path, rate: str | None, unlimited: bool) -> None:
    network, fleet = tmp_path / "net.csv", tmp_path / "fleet.csv"
    network.write_text("a,b,latency_ms,bandwidth_mbit\nA,B,5,100\nB,C,6,200\nC,D,3,50\n")
    fleet.write_text("client,group,node\n" + "".join(f"c{i},g{i % 2},{'ABCD'[i]}\n" for i in range(4)))
    answer = planner.recommend(
        network=str(network), sites=str(fleet), uplink=rate, downlink=rate, settings={"plan.draws": 0}
    )
    assert any((one.key, one.value) == ("access", "unlimited") for one in answer.assumptions) == unlimited
    assert ("access of places unlimited?" in str(answer)) == unlimited


@pytest.mark.usefixtures("unflipped", "asked_once")
def test_recommend_on_a_network_ranks_by_its_rounds_and_says_what_they_wait_for(plan) -> None:
    words = ("recommend", "--network", "geant", "--sites", str(SITES), "-c", str(CONFIG), "--uplink", "100Mbit/s")
    code, out, err = plan(*words, "--set", "plan.draws=0", "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    here = answer["recommend"]["network"]
    assert here["network"] == "geant"
    assert here["topology"] == answer["verdict"]["best"][0]
    assert set(here["group_servers"]) == {"north", "west", "central"}
    assert here["waits"][0]["saves"] >= here["waits"][-1]["saves"] >= 0
    assert sum(one["samples"] for one in here["without"]) == pytest.approx(1)
    assert answer["scenario"]["network"]["value"] == "geant"
    code, out, err = plan(*words, "--set", "plan.draws=0", "--explain", "links")
    assert (code, err) == (0, "")
    assert here["waits"][0]["what"] in out
    assert f"top at {here['server']}" in out


def test_what_a_network_needs_is_asked_for(plan, tmp_path: Path) -> None:
    flat = tmp_path / "flat.csv"
    flat.write_text("client\nNL\nBE\n")
    for words, says in {
        ("--network", "geant"): "--network: the places of clients are missing\n  help: Give --sites",
        ("--network", "geant", "--fleet", str(SITES)): "help: Give the list as --sites in place of --fleet, with the",
        ("--network", "geant", "--sites", str(SITES), "--fleet", str(SITES)): "--fleet: --sites lists the clients",
        ("--sites", str(SITES)): "Give --network geant",
        ("--network", "geant", "--sites", str(flat)): "--sites: the fleet has no groups",
        ("--network", "geant", "--sites", str(SITES), "-G", "4"): "the fleet says how many there are",
        ("--network", "geant", "--sites", str(SITES), "--availability", "0.9"): "take no account of availability",
        (
            "--network",
            "geant",
            "--sites",
            str(SITES),
            "--set",
            "network.client_link.payload=8bit",
        ): "what compression saves is known of trees alone",
        (
            "--network",
            "geant",
            "--sites",
            str(SITES),
            "--clients-per-round",
            "3",
        ): "take no account of groups or clients",
        ("--network", "geant", "--sites", str(SITES), "--save", str(tmp_path / "r.json")): "--save: a run that is kept",
    }.items():
        code, out, err = plan("recommend", *words)
        assert (code, out) == (2, "")
        assert says in err


def test_links_without_a_bandwidth_are_filled_in_as_by_the_command_of_places(plan, tmp_path: Path) -> None:
    """`network place --bandwidth` priced a network that `recommend --network` refused."""
    bare, whole, sites, config = (tmp_path / name for name in ("bare.csv", "whole.csv", "sites.csv", "c.toml"))
    bare.write_text("a,b,latency_ms\nA,B,5\nB,C,6\nC,D,3\n")
    whole.write_text("a,b,latency_ms,bandwidth_mbit\nA,B,5,100\nB,C,6,100\nC,D,3,100\n")
    sites.write_text("client,group,node\n" + "".join(f"c{i},g{i // 2},{'ABCD'[i]}\n" for i in range(4)))
    code, _, err = plan("recommend", "--network", str(bare), "--sites", str(sites))
    assert code == 2 and "help: Write bandwidth_mbit, or fill in with --bandwidth 1Gbit/s" in err
    config.write_text(f'[network]\nsource = "{bare}"\nsites = "{sites}"\nbandwidth = "100Mbit/s"\n')
    said = ((config, {}), (None, {"network": str(bare), "bandwidth": "100Mbit/s"}), (None, {"network": str(whole)}))
    found = [
        planner.recommend(file, details=False, **(words and {**words, "sites": str(sites)})).rows
        for file, words in said
    ]
    assert found[0] == found[1] == found[2]
    words = ("--fleet", str(sites), "--bandwidth", "100Mbit/s", "--layout", str(tmp_path / "placed.csv"))
    code, out, _ = plan("network", "place", str(bare), *words, "--json")
    assert json.loads(out)["next"][0]["argv"][-2:] == ["--bandwidth", "100Mbit/s"]
    assert plan(*json.loads(out)["next"][0]["argv"][1:], "--set", "plan.draws=0", "-q")[0] == 0
    code, _, err = plan("recommend", "-G", "2", "-M", "2", "--bandwidth", "1Gbit/s")
    assert code == 2 and "--bandwidth: is of places of a network" in err


@pytest.mark.usefixtures("untossed")
def test_a_scenario_file_can_name_the_network(plan, tmp_path: Path) -> None:
    file = tmp_path / "on_geant.toml"
    said = f'[network]\nsource = "geant"\nsites = "{SITES}"\n[network.client_link]\nup = "100Mbit/s"\n'
    file.write_text(CONFIG.read_text() + said + "[plan]\ndraws = 0\n")
    asked = {"network": "geant", "sites": str(SITES), "uplink": "100Mbit/s", "settings": {"plan.draws": 0}}
    by_file, by_words = (
        planner.recommend(scenario, details=False)
        for scenario in (planner.load_scenario(file), planner.load_scenario(CONFIG, **asked))
    )
    assert by_file.rows == by_words.rows
    assert by_file.rows != planner.recommend(CONFIG, details=False, settings={"plan.draws": 0}).rows
    code, out, err = plan("flip", "-c", str(file), "--parameter", "model_size", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["title"] == "A hospital consortium in three regions"
    code, out, err = plan("tune", "-c", str(file), "-K", "10", "-P", "2", "--json")
    assert (code, err) == (0, "")
    first = min(by_file.ranking, key=lambda row: float(row.time_seconds or math.inf))
    assert f'"topology": "{first.id}"' in out
    code, out, err = plan("export", str(file), "-o", str(tmp_path / "x"))
    assert (code, out) == (2, "")
    assert "network.source: rounds on a network are timed by recommend, flip and tune" in err
    file.write_text(file.read_text().replace('"geant"', "7"))
    code, out, err = plan("recommend", "-c", str(file))
    assert (code, out) == (2, "")
    assert "network.source: 7 names no file" in err


def test_a_table_is_shown_once_and_the_whole_of_a_cut_one_beside_it(plan) -> None:
    """All details repeated the tables of the page below their captions."""
    short, long = (
        plan("network", *what, "geant", "--explain")[1] for what in (("place", "--tiers", "ring"), ("links",))
    )
    assert short.count("Sequential  NL or any") == 1
    heads = [line for line in long.splitlines() if "what the round waits for" in line]
    assert len(heads) == 2 and "\nUpgrades\n" in long  # some rows, and all


def test_what_gains_nothing_and_what_is_the_server_is_not_compared(plan, tmp_path: Path) -> None:
    """A share of 0 % was advised, and the server's time was 1x that of a server."""
    (tmp_path / "three.csv").write_text("latency_ms,A,B,C\nA,0,10,20\nB,10,0,5\nC,20,5,0\n")
    words = (str(tmp_path / "three.csv"), "--bandwidth", "100Mbit/s", "--model-size", "10MB")
    # all rings of three places are one, there and back
    assert plan("network", "order", *words)[1].startswith("Keep the orders as listed: they are as short as the best.")
    assert plan("network", "overlays", *words)[1].startswith("Least expected time: FedAvg, 1 tier. The shortest round")
