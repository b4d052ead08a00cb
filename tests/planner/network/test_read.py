"""Networks from files: what they say, what is filled in and said so, and what is refused at its place."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import ScenarioError
from planner.network import underlay
from planner.network.hops import Transfers
from planner.network.presets import load, preset, titles
from planner.network.read import Filling, read, with_places
from planner.network.underlay import LatencyModel, Linked, Underlay, great_circle

TRIANGLE = "a,b,latency_ms,bandwidth_mbit\nOslo,Bergen,5,100\nBergen,Tromso,9,50\n"
ALL = np.arange(3)


def written(tmp_path: Path, text: str, name: str = "net.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def hops_between(network):
    """Seconds of a megabit between all places."""
    every = np.arange(len(network.places))
    return Transfers(network, 1e6).hops(every, every)


def test_a_transfer_goes_over_links_and_the_slowest_decides(tmp_path: Path) -> None:
    network = read(written(tmp_path, TRIANGLE))
    assert network.places == ("Oslo", "Bergen", "Tromso")
    assert isinstance(network, Linked)
    assert network.ends[network.links_between(0, 2)].tolist() == [[0, 1], [1, 2]]
    hop = hops_between(network)
    assert hop[0, 2] == pytest.approx(0.014 + 1e6 / 50e6)
    assert hop[0, 0] == 0
    stored = read(written(tmp_path, TRIANGLE), Filling(stored=True))
    assert hops_between(stored)[0, 2] == pytest.approx(0.014 + 1e6 / 50e6 + 1e6 / 100e6)
    limited = replace(network, up=np.full(3, 1e6), down=np.full(3, 2e6))
    assert Transfers(limited, 1e6).hops(ALL, ALL, out=3, into=4)[0, 2] == pytest.approx(0.014 + max(3.0, 2.0))


def test_transfers_that_meet_share_a_link(tmp_path: Path) -> None:
    """A server in Oslo and two nodes behind one link: the last is done when the link has carried both."""
    transfers = Transfers(read(written(tmp_path, TRIANGLE)), 1e6)
    down = transfers.from_server(0, np.array([1, 2]))
    assert down == pytest.approx([0.005 + 2e6 / 100e6, 0.014 + max(2e6 / 100e6, 1e6 / 50e6)])
    alone = read(written(tmp_path, TRIANGLE), Filling(stored=True))  # where each place receives all before it sends
    assert Transfers(alone, 1e6).from_server(0, np.array([1, 2])) == pytest.approx([0.015, 0.044])


@given(st.integers(0, 10**6))
def test_shortest_paths_are_those_that_networkx_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    graph = nx.random_labeled_tree(n, seed=seed) if n > 1 else nx.empty_graph(1)
    graph.add_edges_from(rng.integers(0, n, (n, 2)).tolist())
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    for edge in graph.edges:
        graph.edges[edge]["latency"] = float(rng.random())
    ends = np.array([way for edge in graph.edges for way in (edge, edge[::-1])])
    latency = np.array([graph.edges[tuple(way)]["latency"] for way in ends.tolist()])
    every = np.arange(n)
    network = Linked(
        name="", places=tuple(map(str, every)), up=np.ones(n), down=np.ones(n), ends=ends, latency=latency,
        bandwidth=rng.random(len(ends)) + 0.5,
    )  # fmt: skip
    found = network.between(every, every)
    with mock.patch.object(underlay, "FEW", 0):  # as in large networks, which keep no table of all
        for one, other in zip(found, network.between(every, every), strict=True):
            np.testing.assert_array_equal(one, other)
    for a, others in nx.all_pairs_dijkstra_path_length(graph, weight="latency"):
        assert found.latency[a] == pytest.approx([others[b] for b in range(n)])
        for b in range(n):
            links = network.links_between(a, b)
            path = [a, *network.ends[links, 1].tolist()]
            assert path[-1] == b
            assert sum(graph.edges[step]["latency"] for step in pairwise(path)) == pytest.approx(found.latency[a, b])
            slowest = max((1 / network.bandwidth[link] for link in links), default=0.0)
            assert found.per_bit[a, b] == pytest.approx(slowest)


def test_what_is_measured_and_what_is_filled_in_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,distance_km,bandwidth_mbit\nA,B,100,\nB,C,200,30\n")
    network = read(path, Filling(bandwidth=1e9, model=LatencyModel(1e-5, 2e-3), up=1e8))
    assert network.notes[0] == "The latency of 2 of 2 links is filled in, by 0.01 ms/km + 2 ms."
    assert network.notes[1] == "The bandwidth of 1 of 2 links is filled in, taken to be 1.0 Gbit/s."
    assert "100 Mbit/s up, not limited down" in network.notes[2]
    assert network.between(ALL, ALL).latency[0, 2] == pytest.approx(300e-5 + 2e-3)  # once a transfer


def test_the_presets_are_read_and_known_by_name() -> None:
    assert list(titles()) == ["gaia", "aws-na", "geant", "exodus", "ebone"]
    assert load("geant").places[0] == "NL"
    with pytest.raises(ScenarioError, match=r"'gaint' is not a network \(gaia, .*Did you mean geant"):
        load("gaint")
    with pytest.raises(ScenarioError, match=r"no\.csv: cannot be read"):
        load("no.csv")


def test_great_circles_are_those_of_the_globe() -> None:
    poles = np.array([[90.0, 0.0], [-90.0, 0.0], [0.0, 0.0], [0.0, 180.0], [0.0, 90.0]])
    quarter = 6371.0088 * math.pi / 2
    assert great_circle(poles[:1], poles)[0] == pytest.approx([0, 2 * quarter, quarter, quarter, quarter])
    assert great_circle(poles[2:3], poles)[0] == pytest.approx([quarter, quarter, 0, 2 * quarter, quarter])


def test_cities_have_latency_by_distance(tmp_path: Path) -> None:
    path = written(tmp_path, "node,lat,lon,up_mbit\nOslo,59.91,10.75,20\nBergen,60.39,5.32,\n")
    network = read(path, Filling(bandwidth=1e8, model=LatencyModel(1e-5, 1e-3), up=5e6))
    assert network.up.tolist() == [20e6, 5e6]
    km = 305.0  # Oslo to Bergen in a straight line, as atlases have it
    assert network.between(ALL[:2], ALL[:2]).latency[0, 1] == pytest.approx(km * 1e-5 + 1e-3, rel=0.01)


def test_matrices_are_measurements_that_may_differ_by_direction(tmp_path: Path) -> None:
    latency = written(tmp_path, "latency_ms,A,B,C\nA,0,5,7\nB,6,0,8\nC,7,8,\n")
    rates = written(tmp_path, "bandwidth_mbit,C,A,B\nA,10,,40\nB,20,30,\nC,,10,20\n", "rates.csv")
    network = read(latency, beside=rates)
    hops = hops_between(network)
    assert hops[0, 1] == pytest.approx(0.005 + 1 / 40)
    assert hops[1, 0] == pytest.approx(0.006 + 1 / 30)
    assert hops[0, 2] == pytest.approx(0.007 + 1 / 10)
    missing = written(tmp_path, "latency_ms,A,B,C\nA,0,5,\nB,6,0,8\nC,7,8,0\n", "missing.csv")
    with pytest.raises(ScenarioError, match=r"missing\.csv:2: from 'A' to 'C' nothing was measured\. .*--fill detour"):
        read(missing, beside=rates)
    filled = read(missing, Filling(detour=True), beside=rates)
    assert hops_between(filled)[0, 2] == pytest.approx(0.013 + 1 / 20)  # over B, at its least bandwidth
    assert any("over others" in note for note in filled.notes)


def test_access_of_places_is_given_beside(tmp_path: Path) -> None:
    network = with_places(read(written(tmp_path, TRIANGLE)), written(tmp_path, "node,up_mbit\nBergen,2\n", "n.csv"))
    assert network.up.tolist() == [math.inf, 2e6, math.inf]
    with pytest.raises(ScenarioError, match=r"n\.csv:2: 'Berge' is not a place of net .*Did you mean Bergen\?"):
        with_places(network, written(tmp_path, "node,up_mbit\nBerge,2\n", "n.csv"))


def test_what_access_is_taken_to_be_is_the_last_note(tmp_path: Path) -> None:
    def said(network: Underlay, rows: str = "") -> str:
        rates = written(tmp_path, "node,up_mbit,down_mbit\n" + rows, "n.csv")
        return (with_places(network, rates) if rows else network).notes[-1]

    free = read(written(tmp_path, TRIANGLE))
    some = "The access of 1 of 3 places was given."
    every = "".join(f"{place},2,3\n" for place in free.places)
    assert said(free) == "Nothing limits the access of places."
    assert said(free, "Bergen,2,3\n") == f"{some} Nothing limits the access of the others."
    assert said(free, every) == "The access of all 3 places was given."
    taken = "is taken to be 20 Mbit/s up, not limited down (--up, --down)."
    limited = read(written(tmp_path, TRIANGLE), Filling(up=2e7))
    assert said(limited) == f"Access of all places {taken}"
    assert said(limited, "Bergen,2,3\n") == f"{some} Access of the others {taken}"
    cities = written(tmp_path, "node,lat,lon,up_mbit\nParis,49,2,\nRome,42,12,5\n")
    assert said(read(cities, Filling(up=2e7, bandwidth=1e9))).endswith(f"Access of the others {taken}")


@pytest.mark.parametrize("suffix", ["gml", "graphml"])
def test_graphs_of_others_are_read_by_networkx(tmp_path: Path, suffix: str) -> None:
    graph = nx.Graph()
    graph.add_edge("A", "B", distance=100.0, capacity=1e8)
    graph.add_edge("B", "C", latency=3.0, bandwidth=2e8)
    path = tmp_path / f"net.{suffix}"
    getattr(nx, f"write_{suffix}")(graph, path)
    hops = hops_between(read(path, Filling(model=LatencyModel(1e-5, 0.0))))
    assert hops[0, 2] == pytest.approx(0.001 + 0.003 + 0.01)


BAD = {
    "no link": ("a,b,latency_ms,bandwidth_mbit\n", r":1: there is a header, and no link below it\. Add a line"),
    "pieces": (
        "a,b,latency_ms,bandwidth_mbit\nA,B,1,1\nC,D,1,1\n",
        r"pieces: C and D cannot be reached from A\. Add",
    ),
    "one way": (
        "a,b,latency_ms,bandwidth_mbit,directed\nA,B,1,1,1\nB,C,1,1,\n",
        r"in pieces: B and C cannot be heard at A",
    ),
    "itself": ("a,b,latency_ms,bandwidth_mbit\nA,A,1,1\n", r":2: a link joins 'A' with itself"),
    "twice": (
        "a,b,latency_ms,bandwidth_mbit\nA,B,1,1\nB,A,1,1\n",
        r":3: the link from 'B' to 'A' comes twice, first in line 2\. Keep one",
    ),
    "negative": ("a,b,latency_ms,bandwidth_mbit\nA,B,-1,1\n", r":2:3: '-1' in column 'latency_ms' is not a latency"),
    "rate below zero": ("a,b,latency_ms,bandwidth_mbit\nA,B,1,-5\n", r":2:4: '-5' in column .* is not bandwidth"),
    "rate of zero": ("a,b,latency_ms,bandwidth_mbit\nA,B,1,0\n", r":2:4: bandwidth in Mbit/s is zero"),
    "no rate": ("a,b,latency_ms\nA,B,1\n", r":2: the link has no bandwidth\. .*--bandwidth 1Gbit/s"),
    "no latency": ("a,b,bandwidth_mbit\nA,B,1\n", r":2: the link has neither latency nor distance"),
    "units": ("a,b,latency,bandwidth\nA,B,5,1Gbit/s\n", r"net\.csv:2:3: '5' has no unit"),
    "far": ("a,b,distance_km,bandwidth_mbit\nA,B,50000,1\n", r"50000 is more than a distance can be"),
    "columns": ("a,b,latency_ms,latency,bandwidth_mbit\nA,B,1,1ms,1\n", r":1:4: columns latency_ms and latency both"),
    "unknown": ("a,b,latency_ms,bandwidth_mbit,mtu\nA,B,1,1,1\n", r":1:5: column 'mtu' has no meaning in a list"),
    "nothing": ("x,y\n1,2\n", r":1: the header 'x,y' is of no network\. Write a list of links a,b"),
    "off the globe": ("node,lat,lon\nA,91,0\nB,1,1\n", r":2:2: 91 is off the globe\. Write lat from -90 to 90"),
    "place twice": ("node,lat,lon\nA,1,0\nA,1,1\n", r":3:1: place 'A' is on line 2 already"),
    "no bandwidth": ("node,lat,lon\nA,1,0\nB,1,1\n", r":1: coordinates say no bandwidth\. .*--bandwidth"),
    "one place": ("node,lat,lon\nA,1,0\n", r"fewer than two places"),
    "no row": ("latency_ms,A,B\nA,,1\n", r":1: place 'B' has a column and no row"),
    "no column": ("latency_ms,A,B\nA,,1\nC,1,1\n", r":3:1: place 'C' has no column"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_network_is_refused_at_its_place(tmp_path: Path, name: str) -> None:
    text, says = BAD[name]
    with pytest.raises(ScenarioError, match=says) as refused:
        read(written(tmp_path, text))
    assert str(refused.value).startswith(str(tmp_path / "net.csv"))


@pytest.mark.parametrize("text", ["4ms", "x/km", "1ms/km+", "1m/km+4ms", "1ms/km+4"])
def test_what_is_no_model_of_latency_is_refused(text: str) -> None:
    with pytest.raises(Exception, match="--latency-model"):
        LatencyModel.parse(text)
    assert str(LatencyModel.parse("0.0085ms/km+4ms")) == "0.0085 ms/km + 4 ms"


def test_far_more_links_than_may_be_are_refused_where_they_pass_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner.network.read.MAX_LINKS", 20_000)
    lines = "".join(f"p{i % 2000},q{i // 2000},1,1\n" for i in range(10**5))
    path = written(tmp_path, "a,b,latency_ms,bandwidth_mbit\n" + lines)
    with pytest.raises(ScenarioError, match=r"net\.csv:20002: there are over 20,000 links.*Join places"):
        read(path)


def test_graphs_with_entities_or_nonsense_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "b">]><graphml>&a;</graphml>'
    with pytest.raises(ScenarioError, match="declares entities"):
        read(written(tmp_path, bomb, "n.graphml"))
    with pytest.raises(ScenarioError, match="is not GML"):
        read(written(tmp_path, "hello", "n.gml"))
    bad = 'graph [ node [ id 0 label "A" ] node [ id 1 label "B" ] edge [ source 0 target 1 latency -3 ] ]'
    with pytest.raises(ScenarioError, match=r"edge 1 \('A' to 'B'\): latency -3 is no number it can be"):
        read(written(tmp_path, bad, "n.gml"))


def test_a_preset_takes_other_rules() -> None:
    usual, slow = preset("gaia"), preset("gaia", Filling(bandwidth=1e8, up=1e7))
    assert (usual.bandwidth[0], usual.up[0]) == (1e9, 1e10)
    assert (slow.bandwidth[0], slow.up[0], slow.down[0]) == (1e8, 1e7, 1e10)


def test_the_rate_that_cities_share_is_one_part_of_a_round(plan, tmp_path: Path) -> None:
    """It stood once for every pair of places, with a share of the round each."""
    cities = written(tmp_path, "node,lat,lon\na,52.5,13.4\nb,48.1,11.6\nc,50.9,6.9\nd,53.5,10.0\n", "cities.csv")
    sites = written(tmp_path, "client,group,node\nc1,g1,a\nc2,g1,b\nc3,g2,c\nc4,g2,d\n", "sites.csv")
    words = ("network", "links", str(cities), "--fleet", str(sites), "--bandwidth", "50Mbit/s")
    code, out, _ = plan(*words, "--tiers", "star/star", "--model-size", "45MB")
    assert code == 0
    (row,) = (line for line in out.splitlines() if line.strip().startswith("ways between all places"))
    assert re.search(r"99 % +49 % +99 %$", row)  # in use, saved by twice the rate, and by any
