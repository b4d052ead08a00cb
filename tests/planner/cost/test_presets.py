"""Settings of links, networks and stragglers."""

import dataclasses

import pytest

import planner
from planner.scenario.network import (
    PRESETS,
    Link,
    Network,
    NetworkError,
    link_names,
    link_preset,
    parse_straggler,
)


@pytest.mark.parametrize(
    ("build", "parts"),
    [
        (lambda: parse_straggler("exponential:1.5"), ["1.5", "lognormal:1.5"]),
        (lambda: parse_straggler("lognormal:11"), ["11.0", "10"]),
        (lambda: parse_straggler("lognormal:1e999"), ["straggler.cv"]),
        (lambda: parse_straggler("exponential"), ["exponential:0.5"]),
        (lambda: parse_straggler("exponential:"), ["exponential:0.5"]),
        (lambda: parse_straggler("exponential:nan"), ["exponential:0.5"]),
        (lambda: parse_straggler("exponential:1_0"), ["exponential:0.5"]),
        (lambda: parse_straggler("exponential:1e"), ["is not a number"]),
        (lambda: parse_straggler("exponential:-0.5"), ["straggler.cv"]),
        (lambda: parse_straggler("exponential:2"), ["lognormal:2"]),
        (lambda: parse_straggler("exponentail:0.5"), ["Did you mean exponential?"]),
        (lambda: parse_straggler("none:0.5"), ["takes no number"]),
        (lambda: parse_straggler("lognormal:" + "1" * 100), ["write none"]),
        (lambda: parse_straggler(0.5, field="--straggler"), ["--straggler"]),
        (lambda: link_preset("WiFi"), ["Did you mean wifi?"]),
        (lambda: link_preset("carrier pigeon", field="--uplink"), ["--uplink", "lan, datacenter"]),
    ],
)
def test_bad_networks(build, parts):
    with pytest.raises(NetworkError) as caught:
        build()
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("text", ["none", "exponential:0.5", "lognormal:0.3", "lognormal:1e-05"])
def test_stragglers_read_back(text):
    assert str(parse_straggler(text)) == text


def test_presets_are_complete_and_say_where_they_come_from():
    assert list(PRESETS) == ["lan", "datacenter", "wifi", "5g", "4g", "broadband", "wan"]
    for name, preset in PRESETS.items():
        assert preset.name == name
        assert link_preset(name) is preset
        assert preset.link.up <= preset.link.down
        assert 0 < preset.link.latency < 0.1
        assert "Rates: " in preset.source
        assert "Latency" in preset.source
        assert "project's choice" in preset.source  # none of them is sourced in every number
    # the numbers that are quoted, once more
    assert (PRESETS["5g"].link.down, PRESETS["5g"].link.up) == (100e6, 50e6)
    assert (PRESETS["broadband"].link.down, PRESETS["broadband"].link.up) == (100e6, 20e6)
    assert (PRESETS["4g"].link.down, PRESETS["4g"].link.up) == (27.33e6, 8.63e6)
    with pytest.raises(TypeError):
        PRESETS["lan"] = PRESETS["wan"]


def test_settings_are_frozen():
    link = Link(1.0, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        link.up = 2.0


def test_links_have_names_and_are_changed_by_them():
    low, top = Link(1.0, 2.0), Link(3.0, 4.0)
    network = Network((None, top, low))
    assert list(network.named.items()) == [("client_link", low), ("server_link", top)]
    assert link_names(4) == ("link1", "link2", "server_link", "client_link")
    assert (link_names(1), network.tiers) == (("client_link",), 2)
    assert network.with_link("server_link", up=9.0).links == (None, Link(9.0, 4.0), low)


def test_servers_come_and_go_with_their_link():
    low, top = Link(1.0, 2.0), Link(3.0, 4.0)
    with_servers, without = Network.two_tier(2, low, top), Network.two_tier(1, low, top)
    assert (with_servers.tiers, without.tiers) == (2, 1)
    assert with_servers.with_servers(False) == without
    assert without.with_servers(True) == with_servers
    assert with_servers.server_link is without.server_link is top


@pytest.mark.parametrize(
    ("option", "rate", "key"),
    [("--client-link", "5:20Mbit/s", "client_link.up"), ("--server-link", "1Gbit/s", "server_link.up")],
)
def test_a_rate_in_place_of_a_preset_is_refused_with_what_takes_it(option: str, rate: str, key: str) -> None:
    """The help named the code alone."""
    with pytest.raises(NetworkError, match="is not a link preset") as refused:
        link_preset(rate, field=option)
    way, written = str(refused.value).rstrip(".").rpartition("given as --")[2].split()
    found = planner.recommend(G=3, M=4, settings={"plan.draws": 0}, **{way.replace("-", "_"): written})
    assert found.scenario[key].origin == "given"
    with pytest.raises(NetworkError, match="Did you mean 5g"):
        link_preset("5G", field=option)
