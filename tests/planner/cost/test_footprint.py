"""Energy, carbon and money of a round: against a timeline of every device, and against sums made by hand."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product
from typing import Any

import pytest

import planner
from hflbounds.topology import all_topologies
from planner.cost.footprint import footprint
from planner.cost.round import RoundSpec, round_cost
from planner.predict.question import ask
from planner.scenario.footprint import PRESETS, Coefficient
from planner.scenario.network import Compute, Link, Network

WATTS = {"training": 5.0, "radio": 2.0, "waiting": 0.5}


def exactly(value: float) -> Coefficient:
    return Coefficient(value, value, value)


class Timeline:
    """Every device of an unshared network, second by second: when it trains, and when it sends or receives."""

    def __init__(self, spec: RoundSpec) -> None:
        self.spec, self.busy = spec, {state: defaultdict(float) for state in ("training", "radio")}
        self.end = self.call((), 0.0)

    def sends(self, link: Link, way: str, child: tuple[int, ...]) -> float:
        took = 8 * self.spec.model_bytes / getattr(link, way)
        if len(child) == self.spec.topology.depth:
            self.busy["radio"][child] += took
        return took + link.latency

    def hops(self, link: Link, one: tuple[int, ...], other: tuple[int, ...]) -> float:
        if link.hop == "relayed":
            return self.sends(link, "up", one) + self.sends(link, "down", other)
        took = 8 * self.spec.model_bytes / min(link.up, link.down)
        if len(one) == self.spec.topology.depth:
            self.busy["radio"][one] += took
            self.busy["radio"][other] += took
        return took + link.latency

    def call(self, place: tuple[int, ...], at: float) -> float:
        spec = self.spec
        if len(place) == spec.topology.depth:
            self.busy["training"][place] += spec.K * spec.compute.step_time
            return at + spec.K * spec.compute.step_time
        tier, link = spec.topology.tiers[len(place)], spec.network.links[len(place)]
        children = [(*place, i) for i in range(tier.taking_part)]
        for _ in range(tier.passes):
            if tier.pattern.id == "star":
                ends = []
                for child in children:
                    end = self.call(child, at + (self.sends(link, "down", child) if link else 0.0))
                    ends.append(end + (self.sends(link, "up", child) if link else 0.0))
                at = max(ends)
            else:
                at += self.sends(link, "down", children[0]) if link else 0.0
                for before, child in zip([None, *children], children, strict=False):
                    at += self.hops(link, before, child) if link and before else 0.0
                    at = self.call(child, at)
                at += self.sends(link, "up", children[-1]) if link else 0.0
        return at

    def joules(self) -> dict[str, float]:
        clients = product(*(range(tier.taking_part) for tier in self.spec.topology.tiers))
        every = list(clients)
        train, air = (sum(self.busy[state][place] for place in every) for state in ("training", "radio"))
        wait = sum(self.end - self.busy["training"][p] - self.busy["radio"][p] for p in every)
        return {"training": train * 5.0, "radio": air * 2.0, "waiting": wait * 0.5}


@pytest.mark.parametrize("hop", ["direct", "relayed"])
@pytest.mark.parametrize(
    ("topology", "servers"), [*product(all_topologies(2), (True, False)), *((t, True) for t in all_topologies(3))]
)
def test_parts_are_those_of_a_timeline(topology: str, servers: bool, hop: Any) -> None:
    depth = topology.count("-") + 1
    shape = ((3, 4), (1, 2)) if depth == 2 else ((2, 3, 2), (1, 2, 3))
    tree = all_topologies(depth)[topology].sized(shape[0], passes=shape[1])
    client, server = Link(3e6, 9e6, 0.05, "per-client", hop), Link(20e6, 50e6, 0.2, "per-client", hop)
    above = (server,) * (depth - 1) if servers else (None,) * (depth - 1)
    spec = RoundSpec(tree, 3, Network((*above, client)), Compute(0.7), 2e6)
    cost, timeline = round_cost(spec), Timeline(spec)
    assert cost.seconds == pytest.approx(timeline.end, rel=1e-12)
    powers = {"training_power": exactly(5.0), "radio_power": exactly(2.0), "idle_power": exactly(0.5)}
    found = footprint(spec, cost, powers)
    assert {part: one.value for part, one in found.joules.items()} == pytest.approx(timeline.joules(), rel=1e-12)
    assert found.unknown == ("network",)


def scenario(example: str, **settings: Any) -> Any:
    return ask(planner.load_scenario(f"examples/{example}.toml", settings=settings))


def within(found: Coefficient | None, low: float, value: float, high: float) -> None:
    assert found is not None
    assert (found.low, found.value, found.high) == pytest.approx((low, value, high), rel=1e-9)


def test_hospitals_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """32 hospitals and 4 centres, 124 MB down and up: 72 transfers over lines of 0.03 to 0.06 kWh/GB."""
    question = scenario("hospitals", **{"footprint.grid": "france", "footprint.kwh": 0.25})
    found = question.of_a_round("star-star").footprint
    gigabytes = 72 * 0.124
    within(found.energy, gigabytes * 0.03 * 3.6e6, gigabytes * 0.05 * 3.6e6, gigabytes * 0.06 * 3.6e6)
    within(found.carbon, gigabytes * 0.03 * 0.056, gigabytes * 0.05 * 0.056, gigabytes * 0.06 * 0.056)
    assert found.unknown == ("training", "waiting")  # no device was named
    assert found.money is None  # electricity has a price, and no power is known


def test_phones_by_hand() -> None:
    """Phones at 3 W and 7.5 W, 0.01 an hour: 4G up and down at the rates of the preset."""
    question = scenario(
        "phones", **{"footprint.device": "phone", "footprint.grid": "world", "footprint.device_hour": 0.01}
    )
    values, size, link = question.values, question.model_bytes, question.network.client_link
    clients = values["S1"] * values["S2"] * values["P"]
    work = clients * values["K"] * question.compute.step_time
    air = clients * 8 * size * (1 / link.up + 1 / link.down)
    found = question.of_a_round("star-star").footprint
    assert found.joules["training"].value == pytest.approx(3 * work, rel=1e-12)
    assert found.joules["radio"].value == pytest.approx(7.5 * air, rel=1e-12)
    assert "waiting" not in found.joules
    assert "waiting" in found.unknown
    hours = values["S1"] * values["S2"] * question.of_a_round("star-star").seconds / 3600
    within(found.money, *[0.01 * hours] * 3)


def test_cell_site_by_hand() -> None:
    """60 of 240 devices, boards of 5.1 W at work and 2.3 W else: 10 of a cell share 75 Mbit/s up, 300 Mbit/s down."""
    question = scenario("cell_site", **{"footprint.device": "raspberry-pi-4", "footprint.grid": "germany"})
    found = question.of_a_round("star-star").footprint
    bits, work = 8 * 5.9e6, 60 * 10 * 0.03
    air = 10 * bits / 300e6 + 10 * bits / 75e6 + 2 * 0.004
    rest = 60 * (air + 2 * bits / 1e9 + 2 * 0.00025)  # all wait while models travel; a board says nothing of its radio
    gigabytes = 60 * 2 * 0.0059
    joules = {
        "training": [work * watts for watts in (4.7, 5.1, 6.3)],
        "waiting": [rest * watts for watts in (2.2, 2.3, 3.0)],
        "network": [gigabytes * kwh * 3.6e6 for kwh in (0.0104, 0.06, 0.12)],
    }
    for part, limits in joules.items():
        within(found.joules[part], *limits)
    total = [sum(limits) for limits in zip(*joules.values(), strict=True)]
    within(found.energy, *total)
    within(found.carbon, *(one * 0.381 / 3.6e6 for one in total))
    assert found.unknown == ("network",)  # of the cables of the site


def test_waiting_devices_cost_more_in_a_ring() -> None:
    """Of one work and one traffic, a ring of 8 keeps 7 waiting: all that it takes more is idle power."""
    settings = {"footprint.training_power": "250W", "footprint.idle_power": "60W", "fleet.order": "fixed"}
    question = scenario("hospitals", **settings, **{"compute.straggler": "none", "network.client_link.hop": "relayed"})
    star, ring = (question.of_a_round(t).footprint for t in ("star-star", "star-ring"))
    assert star.joules["training"] == ring.joules["training"] == exactly(32 * 20 * 0.35 * 250)
    more = (question.of_a_round("star-ring").seconds - question.of_a_round("star-star").seconds) * 32 * 60
    assert ring.joules["waiting"].value - star.joules["waiting"].value == pytest.approx(more, rel=1e-12)


def test_limits_of_a_number_reach_the_result() -> None:
    found = scenario(
        "hospitals", **{"network.client_link.energy": "0.02:0.08kWh/GB", "network.server_link.energy": "0kWh/GB"}
    )
    energy = found.of_a_round("star-star").footprint.energy
    within(energy, *(64 * 0.124 * rate * 3.6e6 for rate in (0.02, 0.04, 0.08)))


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"footprint.device": "phon"}, "Did you mean phone"),
        ({"footprint.grid": "mars"}, "is not a grid preset"),
        ({"footprint.training_power": "5"}, "has no unit"),
        ({"footprint.training_power": "5kWh"}, "is an energy, and a power is wanted"),
        ({"footprint.carbon": "-5g/kWh"}, "is negative"),
        ({"network.client_link.price": -1}, "price"),
        ({"network.client_link.price": "0.05EUR/GB"}, "no price per GB. Write 0.05/GB, without a currency"),
        ({"footprint.kwh": "0.3/h"}, "no price per kWh"),
    ],
)
def test_what_is_no_number_of_it_is_refused(settings: dict, wanted: str) -> None:
    with pytest.raises(planner.ScenarioError, match=wanted):
        planner.load_scenario(G=2, M=2, settings=settings)


def test_a_price_may_have_the_unit_that_it_is_for() -> None:
    for key, unit in (("network.client_link.price", "GB"), ("footprint.device_hour", "h"), ("footprint.kwh", "kWh")):
        bare, with_unit = (planner.load_scenario(G=2, M=2, settings={key: text}) for text in (0.5, f"0.5/{unit}"))
        assert with_unit.rates == bare.rates is not None


def test_nobody_asked_nothing_is_said() -> None:
    plain = planner.load_scenario("examples/hospitals.toml")
    assert plain.rates is None
    assert ask(plain).of_a_round("star-star").footprint is None


def test_every_preset_has_a_source_and_a_range_around_its_value() -> None:
    for kind, rows in PRESETS.items():
        for name, preset in rows.items():
            assert len(preset.source) > 40, (kind, name)
            for one in preset.numbers.values():
                assert 0 < one.low <= one.value <= one.high < math.inf, (kind, name)
