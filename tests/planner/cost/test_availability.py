"""Survival against every up/down pattern of tiny fleets in fractions, against simulation, and at its limits."""

from __future__ import annotations

import doctest
import itertools
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from test_cli import ROOT, run
from test_docs import printed

import planner
from hflbounds.topology import Topology, all_topologies, two_tier
from planner.cost.chances import at_least, mean_if_at_least
from planner.cost.reliability import attend, everyone
from planner.cost.round import CostError, RoundSpec, round_cost
from planner.decide import participation
from planner.decide.rank import recommend
from planner.decide.recommendation import Recommendation
from planner.errors import NoAnswerError, ScenarioError
from planner.predict.question import ask
from planner.scenario.availability import Availability
from planner.scenario.network import Compute, Link, Network, Straggler
from planner.scenario.resolve import load

TOPOLOGIES = tuple(all_topologies(2))
MODEL = 1e6  # bytes, so a transfer is 8e6/rate seconds
NETWORK = Network.two_tier(
    2, Link(up=4e6, down=16e6, latency=0.25, hop="relayed"), Link(up=8e6, down=32e6, latency=0.125, hop="direct")
)
COMPUTE = Compute(step_time=0.5)


def attended(topology: str, availability: Availability, network: Network = NETWORK, compute: Compute = COMPUTE, **n):
    counts = {"G": 2, "M": 2, "P": 1, **n}
    return attend(RoundSpec(two_tier(topology, **counts), 2, network, compute, MODEL), availability)


@pytest.fixture(autouse=True)
def _nothing_is_varied(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for flips takes most of an answer's time; one test does it, and those of the page print whole answers."""
    if not any(words in request.node.name for words in ("flips", "the_page_shows")):
        monkeypatch.setattr("planner.decide.rank.nearest_flips", lambda *_: ((), ""))


# ---------------------------------------------------------------- every pattern


@dataclass
class Seen:
    """What one pattern of who comes leads to; all of it in numbers that a float has exactly."""

    done: bool
    seconds: float  # of the rates above, multiples of 1/16
    on_clients: int
    on_servers: int
    groups: int
    clients: float  # mean over one or two group rounds of the groups that complete, summed over those


def walk(topology, G, M, P, servers, clients, policy, network, detect, quorum=None) -> Seen:
    """One global round, step by step: ``servers[g]`` and ``clients[g][p][m]`` say who comes."""
    ring_top, ring_low = topology.startswith("ring") and G > 1, topology.endswith("ring") and M > 1
    low, top = network.client_link, network.server_link
    work = 1.0  # two steps of half a second

    def times(link: Link, ring: bool, endpoints: int) -> tuple[float, float, float]:
        """First download, one hop, last upload."""
        n = endpoints if link.sharing == "per-server" and not ring else 1
        down, up, late = n * 8 * MODEL / link.down, n * 8 * MODEL / link.up, link.latency
        return down + late, (max(down, up) + late if link.hop == "direct" else down + up + 2 * late), up + late

    down, hop, up = times(low, ring_low, M)
    top_down, top_hop, top_up = times(top, ring_top, G)
    usual = hop + work if ring_low else down + work + up
    patience = 2 * usual if detect is None else detect
    least_clients = 1 if quorum is None or policy == "skip" else max(1, math.ceil(quorum * M))
    least_groups = 1 if quorum is None or policy == "skip" else max(1, math.ceil(quorum * G))
    on_clients = on_servers = came_groups = 0
    came_clients = 0.0
    stays: list[float] = []
    broken = False

    for g in range(G):
        on_servers += 1  # the model goes to the group server
        if not servers[g]:
            stays.append(patience)
            if ring_top and policy == "fail":
                broken = True
                break
            continue
        stay, completed, anybody, total = 0.0, True, False, 0
        for p in range(P):
            here = clients[g][p]
            if not ring_low:
                on_clients += M + sum(here)
                full = down + work + up
                stay += full if all(here) else patience if M == 1 else max(full, patience)
                total += sum(here)
                anybody |= any(here)
                if policy == "fail" and sum(here) < least_clients:
                    completed = False
                    break
                continue
            for came in here:
                on_clients += 1
                if came:
                    stay += hop + work
                    total, anybody = total + 1, True
                    on_clients += low.hop == "relayed"
                else:
                    stay += patience
                    if policy == "fail":
                        completed = False
                        break
            if not completed:
                break
            stay += down + up - hop
            on_clients += low.hop == "direct" and any(here)
        completed &= anybody
        stays.append(stay)
        if completed:
            came_groups += 1
            came_clients += total / P
            on_servers += not ring_top or top.hop == "relayed"
        elif ring_top and policy == "fail":
            broken = True
            break
    if not ring_top:
        done = came_groups >= least_groups
        return Seen(done, top_down + max(stays) + top_up, on_clients, on_servers, came_groups, came_clients)
    done = not broken and came_groups > 0
    present = top_hop * sum(servers[: len(stays)])
    ends = top_down + top_up - top_hop if policy == "skip" or done else 0.0
    on_servers += done and top.hop == "direct"
    return Seen(done, present + sum(stays) + ends, on_clients, on_servers, came_groups, came_clients)


def expected(topology, G, M, P, a, s, policy, network, detect=None, quorum=None) -> dict[str, Fraction]:
    """Over all patterns, of which those with as many servers and clients are as likely."""
    sums = dict.fromkeys(("survival", "seconds", "on_clients", "on_servers", "groups", "clients"), Fraction(0))
    alike = [dict.fromkeys(sums, 0.0) for _ in range((G + 1) * (G * P * M + 1))]
    bits = [(False, True) if s < 1 else (True,)] * G + [(False, True) if a < 1 else (True,)] * (G * P * M)
    for pattern in itertools.product(*bits):
        servers, rest = pattern[:G], pattern[G:]
        clients = [[rest[(g * P + p) * M : (g * P + p + 1) * M] for p in range(P)] for g in range(G)]
        seen = walk(topology, G, M, P, servers, clients, policy, network, detect, quorum)
        here = alike[sum(servers) * (G * P * M + 1) + sum(rest)]
        for name in ("seconds", "on_clients", "on_servers"):
            here[name] += getattr(seen, name)
        if seen.done:
            here["survival"] += 1
            here["groups"] += seen.groups
            here["clients"] += seen.clients
    for which, here in enumerate(alike):
        up, came = divmod(which, G * P * M + 1)
        weight = s**up * (1 - s) ** (G - up) * a**came * (1 - a) ** (G * P * M - came)
        for name, total in here.items():
            sums[name] += weight * Fraction(total)
    return sums


SHAPES = [(2, 2, 1), (2, 2, 2), (3, 2, 1), (2, 3, 1), (1, 3, 2), (3, 1, 2), (1, 1, 1)]
DIRECT = Network.two_tier(
    2, Link(up=4e6, down=16e6, latency=0.25, hop="direct"), Link(up=8e6, down=32e6, hop="relayed")
)
SHARED = Network.two_tier(2, Link(4e6, 16e6, 0.25, sharing="per-server"), Link(8e6, 32e6, 0.125, sharing="per-server"))


@pytest.mark.parametrize(
    ("topology", "policy", "shape"),
    [  # every topology and policy with half of the shapes, and every shape with half of them
        pytest.param(topology, policy, shape, marks=pytest.mark.slow if (i + j + k) % 2 else ())
        for k, shape in enumerate(SHAPES)
        for j, topology in enumerate(TOPOLOGIES)
        for i, policy in enumerate(("fail", "skip"))
    ],
    ids=str,
)
def test_every_pattern_of_who_comes(topology: str, policy: str, shape: tuple[int, int, int]) -> None:
    G, M, P = shape
    a, s = Fraction(4, 5), Fraction(9, 10)
    for network, detect in ((NETWORK, None), (DIRECT, 3), (SHARED, 40)):
        wanted = expected(topology, G, M, P, a, s, policy, network, detect)
        best = expected(topology, G, M, P, Fraction(1), Fraction(1), policy, network, detect)
        settings = Availability(client=0.8, server=0.9, policy=policy, detect=detect)
        found = attended(topology, settings, network, G=G, M=M, P=P)
        survival = wanted["survival"]
        assert found.survival == pytest.approx(float(survival), rel=1e-12)
        assert found.groups == pytest.approx(float(wanted["groups"] / survival), rel=1e-12)
        assert found.clients == pytest.approx(float(wanted["clients"] / wanted["groups"]), rel=1e-12)
        assert found.slower == pytest.approx(float(wanted["seconds"] / survival / best["seconds"]), rel=1e-12)
        for name in ("on_clients", "on_servers"):
            ratio = dict(zip(("on_servers", "on_clients"), found.traffic, strict=True))[name]
            assert ratio == pytest.approx(float(wanted[name] / survival / best[name]), rel=1e-12)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_quorum_over_every_pattern(topology: str) -> None:
    for quorum in (Fraction(1, 2), Fraction(2, 3), Fraction(1)):
        wanted = expected(topology, 3, 2, 1, Fraction(4, 5), Fraction(1), "fail", NETWORK, None, quorum)
        found = attended(topology, Availability(client=0.8, quorum=float(quorum)), G=3)
        assert found.survival == pytest.approx(float(wanted["survival"]), rel=1e-12)
        assert found.groups == pytest.approx(float(wanted["groups"] / wanted["survival"]), rel=1e-12)
        assert found.clients == pytest.approx(float(wanted["clients"] / wanted["groups"]), rel=1e-12)


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("network", [NETWORK, DIRECT, SHARED])
def test_the_walk_takes_the_seconds_and_bytes_that_a_round_costs(topology: str, network: Network) -> None:
    """The oracle at its own limit: where everyone comes it is the schedule of `planner.cost.round`."""
    everyone = expected(topology, 3, 2, 1, Fraction(1), Fraction(1), "fail", network)
    cost = round_cost(RoundSpec(two_tier(topology, G=3, M=2), 2, network, COMPUTE, MODEL))
    assert float(everyone["seconds"]) == pytest.approx(cost.seconds, rel=1e-12)
    assert tuple(float(everyone[name]) * MODEL for name in ("on_servers", "on_clients")) == cost.bytes_by_tier


# ---------------------------------------------------------------- numbers and limits


@pytest.mark.parametrize(
    ("G", "M", "client", "wanted"),
    [
        (1, 300, Fraction(99, 100), "0.0490"),
        (1, 300, Fraction(999, 1000), "0.7407"),
        (1, 25, Fraction(99, 100), "0.7778"),
        (12, 25, Fraction(9, 10), "0.00000000000001874"),
        (12, 25, Fraction(99, 100), "0.0490"),
    ],
)
def test_ring_passes_survive_by_the_power_of_their_turns(G: int, M: int, client: Fraction, wanted: str) -> None:
    """product F7: 0.049 and 0.741 for 300 clients, 0.778 for 25, 1.9e-14 at 90 %."""
    found = attended("ring-ring", Availability(client=float(client)), G=G, M=M)
    assert found.survival == pytest.approx(float(client ** (G * M)), rel=1e-12)
    assert found.survival == pytest.approx(float(wanted), rel=1e-3)
    assert found.feasible == (found.survival >= 0.01)


def test_binomial_tails_are_sums_of_exact_fractions() -> None:
    for n, p in ((1, Fraction(1, 3)), (7, Fraction(9, 10)), (40, Fraction(99, 100)), (40, Fraction(1, 50))):
        weights = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        for k in range(n + 1):
            assert at_least(n, float(p), k) == pytest.approx(float(sum(weights[k:])), rel=1e-10)
            mean = sum(j * w for j, w in enumerate(weights) if j >= k) / sum(weights[k:])
            assert mean_if_at_least(n, float(p), k) == pytest.approx(float(mean), rel=1e-10)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_where_everyone_comes_a_round_is_the_round_it_was(topology: str) -> None:
    for policy in ("fail", "skip", "timeout"):
        found = attended(topology, Availability(policy=policy), G=5, M=7, P=3)
        assert (found.survival, found.groups, found.clients) == (1.0, 5.0, 7.0)
        assert found.slower == pytest.approx(1, rel=1e-14)
        assert found.traffic == (1.0, 1.0)


def test_a_ring_survives_failures_at_work_with_the_exponential_of_its_whole_pass() -> None:
    """Star or ring: a turn of x seconds survives with exp(-x/mtbf), so a pass of M turns with exp(-M x/mtbf)."""
    hop = 8e6 / 16e6 + 8e6 / 4e6 + 2 * 0.25 + 2 * 0.5
    found = attended("ring-ring", Availability(mtbf=1000.0), G=3, M=4, P=2)
    assert found.survival == pytest.approx(math.exp(-3 * 4 * 2 * hop / 1000), rel=1e-12)


def test_a_wait_for_those_who_stay_away_matches_a_simulation() -> None:
    """The mean of the slowest of 12 groups, drawn 40 000 times; no pattern can be enumerated at this size."""
    rng = np.random.default_rng(5)
    G, M, P, a, detect = 12, 25, 2, 0.95, 20.0
    hop = 8e6 / 16e6 + 8e6 / 4e6 + 2 * 0.25 + 1.0
    top = 8e6 / 8e6 + 8e6 / 32e6 + 2 * 0.125
    skip = attended("star-ring", Availability(client=a, policy="skip", detect=detect), G=G, M=M, P=P)
    missing = rng.binomial(P * M, 1 - a, (40_000, G))
    drawn = top + P * M * hop + (missing * (detect - hop)).max(axis=1)
    assert skip.slower * (top + P * M * hop) == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 200)

    fail = attended("star-ring", Availability(client=a, detect=detect), G=G, M=M, P=P)
    turns = np.minimum(rng.geometric(1 - a, (40_000, G)) - 1, P * M)
    stay = turns * hop + np.where(turns < P * M, detect, 0.0)
    survived = (turns == P * M).any(axis=1)
    drawn = top + stay.max(axis=1)
    assert fail.survival == pytest.approx(survived.mean(), abs=0.01)
    per_completed = drawn.mean() / fail.survival
    assert fail.slower * (top + P * M * hop) == pytest.approx(per_completed, abs=4 * drawn.std() / 200 / fail.survival)


# ---------------------------------------------------------------- stragglers and timeouts


@pytest.mark.parametrize("straggler", [Straggler("exponential", 0.8), Straggler("lognormal", 1.2)], ids=str)
@pytest.mark.parametrize("topology", ["ring-ring", "ring-star"])
def test_a_timeout_over_drawn_compute_times(topology: str, straggler: Straggler) -> None:
    """100 000 group rounds: who is in time, and how long the round lasts; one group, and hardly any top tier."""
    rng = np.random.default_rng(11)
    M, client, transfer, timeout = 6, 0.9, 3.0, 4.2  # transfers of both tiers take 3 s in a star and in a ring
    network = Network.two_tier(2, NETWORK.client_link, Link(1e15, 1e15))
    if straggler.kind == "exponential":
        factor = 1 - straggler.cv + straggler.cv * rng.standard_exponential((100_000, M))
    else:
        spread = math.sqrt(math.log1p(straggler.cv**2))
        factor = np.exp(spread * rng.standard_normal((100_000, M)) - spread**2 / 2)
    turn = transfer + factor  # two steps of half a second
    there = (rng.random((100_000, M)) < client) & (turn <= timeout)
    spent = np.where(there, turn, timeout)
    lasts = spent.max(axis=1) if topology == "ring-star" else spent.sum(axis=1)
    settings = Availability(client=client, policy="timeout", timeout=timeout)
    found = attended(topology, settings, network, Compute(0.5, straggler), G=1, M=M)
    assert found.client == pytest.approx(there.mean(), abs=0.004)
    assert found.cut_off == pytest.approx((turn > timeout).mean(), abs=0.004)
    usual = transfer + factor
    base = usual.max(axis=1) if topology == "ring-star" else usual.sum(axis=1)
    assert found.slower * found.survival == pytest.approx(lasts.mean() / base.mean(), rel=0.006)


@pytest.mark.parametrize(("detect", "client"), [(None, 0.9), (40.0, 0.9), (3600.0, 0.1)])
def test_stars_wait_for_the_missing_as_long_as_is_said_where_compute_times_vary(
    detect: float | None, client: float
) -> None:
    """3000 rounds of five stars of eight: the longest of their stays, each pass as long as its last or a wait."""
    rng = np.random.default_rng(5)
    P, spread = 2, math.sqrt(math.log1p(0.25))
    turn = 3.0 + np.exp(spread * rng.standard_normal((3000, 5, P, 8)) - spread**2 / 2)
    wait = 2 * (3.0 + 1.0) if detect is None else detect
    stays = np.where(rng.random(turn.shape) < client, turn, wait).max(axis=3).sum(axis=2)
    base = turn.max(axis=3).sum(axis=2).max(axis=1)
    network = Network.two_tier(2, NETWORK.client_link, Link(1e15, 1e15))
    settings = Availability(client=client, policy="skip", detect=detect)
    found = attended("star-star", settings, network, Compute(0.5, Straggler("lognormal", 0.5)), G=5, M=8, P=P)
    # four standard deviations of such a mean over seeds
    assert found.slower == pytest.approx(stays.max(axis=1).mean() / base.mean(), rel=0.01)


def test_slower_devices_shorten_no_wait_where_transfers_that_share_a_link_overlap_work() -> None:
    network = Network.two_tier(2, replace(NETWORK.client_link, sharing="per-server"), Link(1e15, 1e15))
    settings = Availability(client=0.1, policy="skip", detect=3600.0)
    for step in (0.1, 5.0, 20.0):
        compute = Compute(step, Straggler("lognormal", 0.5))
        spec = RoundSpec(two_tier("star-star", G=2, M=25, P=2), 2, network, compute, MODEL)
        assert round_cost(spec).seconds * attend(spec, settings).slower == pytest.approx(7200, rel=1e-3)


def test_the_timeout_chosen_costs_the_fewest_seconds_per_client_that_comes() -> None:
    straggler = Straggler("lognormal", 2.0)
    rng = np.random.default_rng(3)
    spread = math.sqrt(math.log1p(4.0))
    turn = 3.0 + 30 * np.exp(spread * rng.standard_normal((20_000, 8)) - spread**2 / 2)
    compute = Compute(15.0, straggler)
    for topology in ("ring-ring", "ring-star"):
        found = attended(topology, Availability(policy="timeout"), compute=compute, G=1, M=8)

        def price(timeout: float, star: bool = topology == "ring-star") -> float:
            spent = np.minimum(turn, timeout)
            lasts = spent.max(axis=1) if star else spent.sum(axis=1)
            return float(lasts.mean() / (turn <= timeout).sum(axis=1).mean())

        assert found.timeout is not None
        best = min(price(t) for t in np.geomspace(3.5, 3000, 150))
        assert price(found.timeout) <= 1.01 * best
        assert 0 < found.cut_off < 0.9
        assert found.slower < 1  # seconds saved; what it costs is in the rounds


def test_without_stragglers_nobody_is_cut_off_and_a_missing_one_costs_one_turn() -> None:
    found = attended("ring-ring", Availability(client=0.9, policy="timeout"), G=1, M=10)
    assert found.cut_off == 0
    assert found.timeout == pytest.approx(4.0)  # 0.5 s down, 2 s up, twice 0.25 s, 1 s of work
    assert found.slower * found.survival == pytest.approx(1, rel=1e-12)


# ---------------------------------------------------------------- answers

FLEET = {"fleet.groups": "12", "fleet.clients_per_group": "25", "problem.heterogeneity": "both", "plan.draws": "0"}
BY_ROUNDS = {"plan__objective": "rounds"}


def answer(**more: str) -> Recommendation:
    """By keys of the file with dots as double underscores."""
    given = {**FLEET, **{key.replace("__", "."): value for key, value in more.items()}}
    return recommend(load(options={key: (key, value) for key, value in given.items()}))


def rows(result: Recommendation):
    return {row.id: row for row in result.ranking}


def test_full_availability_is_the_answer_there_was_bit_for_bit() -> None:
    for more in ({}, {"network__client_link__up": "20Mbit/s"}, {"compute__straggler": "lognormal:0.4"}):
        bare, given = answer(**more).to_json(), answer(**more, availability__client="100%").to_json()
        for row, before in zip(given["rows"], bare["rows"], strict=True):
            assert (row.pop("p_complete"), row.pop("feasible")) == (1.0, True)
            assert row.pop("participation")["clients"] == (300 if row["baseline"] else 25)
            assert {before.pop(key) for key in ("p_complete", "feasible", "participation")} == {None}
            for case, was in zip(row["cases"], before["cases"], strict=True):  # of sharing
                assert (case.pop("p_complete"), was.pop("p_complete")) in ((1.0, None), (None, None))
                assert (case.pop("feasible"), was.pop("feasible")) in ((True, None), (None, None))
        given["scenario"] = {k: v for k, v in given["scenario"].items() if not k.startswith("availability.")}
        bare["warnings"] = [w for w in bare["warnings"] if "Say how often clients come" not in w["text"]]
        given["assumptions"] = [one for one in given["assumptions"] if not one["key"].startswith("availability.")]
        assert given == bare


def test_rounds_are_ranked_and_shown_as_begun() -> None:
    """Fewer completed rounds may be more that were begun; one that breaks is begun anew, baselines' as well."""
    found = planner.recommend(
        groups=6, clients_per_group=9, heterogeneity="inter", availability="95%", objective="rounds"
    )
    begun = {row.id: row.rounds / row.p_complete for row in found.rows}
    assert begun["sfl"] == pytest.approx(float(found.rows[-1].rounds) / 0.95**54)
    best = found.ranking[0]
    for row in found.rows:
        assert float(row.ratio) == pytest.approx(begun[row.id] / begun[best.id])
    ring = next(row for row in found.ranking if row.id == "ring-ring")
    assert (ring.rounds < best.rounds, begun["ring-ring"] > 5 * begun[best.id]) == (True, True)
    assert "rounds begun" in str(found)
    assert found.verdict.baseline is None


def test_rows_without_availability_have_no_word_of_it() -> None:
    assert {(row.p_complete, row.feasible, row.participation) for row in answer().rows} == {(None, None, None)}


def test_a_ring_that_cannot_survive_is_refused_with_the_number() -> None:
    result = answer(availability__client="90%")
    ring = rows(result)["ring-ring"]
    assert (ring.feasible, ring.rounds, ring.time_seconds, ring.traffic_bytes) == (False, None, None, None)
    assert ring.p_complete == pytest.approx(float(Fraction(9, 10) ** 300))
    assert "1.87e-14" in ring.why
    assert "300 turns in a row" in ring.why
    assert ring.rank == 4
    assert "ring-ring" not in result.recommended
    assert any("1.87e-14" in warning for warning in (one.text for one in result.warnings))
    assert all(row.feasible for t, row in rows(result).items() if t != "ring-ring")


def test_seconds_and_bytes_are_rounds_times_what_completing_one_takes() -> None:
    result = answer(availability__client="99%", network__client_link__up="20Mbit/s")
    bare = rows(answer(network__client_link__up="20Mbit/s"))
    for topology, row in rows(result).items():
        assert row.time_seconds == pytest.approx(row.rounds * row.round_seconds)
        assert row.traffic_bytes == pytest.approx(row.rounds * row.round_bytes)
        assert row.rounds >= bare[topology].rounds
        assert row.participation.rounds_begun == pytest.approx(row.rounds / row.p_complete)
    ring = rows(result)["ring-ring"]
    assert ring.rounds == bare["ring-ring"].rounds  # whoever completes it, all have taken part
    # In a pass of n turns 1 - a^n out of 1 - a are begun; those that break wait twice a turn.
    turns = (1 - 0.99**300) / 0.01
    assert ring.round_seconds / bare["ring-ring"].round_seconds == pytest.approx(
        turns * (0.99 + 2 * 0.01) / 300 / 0.99**300, rel=0.01
    )


def test_by_rounds_those_begun_decide() -> None:
    """At 99.7 % a Ring-Ring round survives in 4 of 10 cases: it leads by completed rounds, and not by those begun."""
    result = answer(availability__client="99.7%", **BY_ROUNDS)
    assert result.objective == "rounds"
    found = rows(result)
    assert found["ring-ring"].rounds <= found["ring-star"].rounds
    assert found["ring-ring"].rank > found["ring-star"].rank


def test_fewer_participants_never_take_fewer_rounds_and_noise_alone_follows_their_number() -> None:
    before: dict[str, int] = {}
    for client in ("100%", "99.9%", "99%", "95%", "80%", "50%"):
        found = rows(answer(availability__client=client, availability__policy="skip"))
        for topology, row in found.items():
            assert row.feasible
            assert row.rounds >= before.get(topology, 0)
            before[topology] = row.rounds
    noisy = {"problem__heterogeneity": "iid", "problem__sigma": "30", "problem__rounds": "100000"}
    half = rows(answer(**noisy, availability__client="50%", availability__policy="skip"))["star-star"]
    whole = rows(answer(**noisy))["star-star"]
    assert half.rounds / whole.rounds == pytest.approx(2, rel=0.12)  # noise over the number of gradients


def test_a_hair_off_everyone_changes_the_answer_by_a_hair() -> None:
    long = {"problem__rounds": "1000"}  # against which a whole round is a hair
    bare = rows(answer(**long))
    for topology, row in rows(answer(availability__client="99.9999%", availability__policy="skip", **long)).items():
        assert row.rounds == pytest.approx(bare[topology].rounds, rel=2e-3)
        assert row.time_seconds == pytest.approx(bare[topology].time_seconds, rel=2e-2)


def test_skipping_rescues_the_ring_and_says_what_it_stands_on() -> None:
    result = answer(availability__client="90%", availability__policy="skip")
    ring = rows(result)["ring-ring"]
    assert ring.feasible
    assert ring.participation.clients == pytest.approx(22.5)
    assert any("approximation" in warning for warning in (one.text for one in result.warnings))
    [absent] = [one for one in result.assumptions if one.key == "availability.detect"]
    assert absent.value == "2 turns"


def test_a_timeout_that_cuts_warns_of_the_fast_and_one_that_nobody_meets_has_no_answer() -> None:
    slow = {"compute__straggler": "lognormal:2", "compute__step_time": "30s", "availability__policy": "timeout"}
    result = answer(**slow)
    assert any("biased towards the fast" in warning for warning in (one.text for one in result.warnings))
    with pytest.raises(NoAnswerError, match=r"no client finishes within the timeout of 1\.0 s: a turn takes"):
        answer(availability__timeout="1s")


def test_a_timeout_that_nobody_gave_is_shown_among_what_is_assumed(unflipped: None) -> None:
    """It looked free: no page said that it is one usual turn, after which a star has waited for nobody."""
    links = {"uplink": "10Mbit/s", "downlink": "50Mbit/s", "latency": "100ms", "link_sharing": "per-client"}
    turn = {"model_size": "20MB", "local_steps": 10, "step_time": "0.2s"}
    found = planner.recommend(
        G=3, M=4, availability="95%", on_failure="timeout", **links, **turn, settings={"plan.draws": 0}
    )
    assert "longest turn waited for 21.4 s?" in str(found)  # 3.2 s down, 16 s up, twice 0.1 s, 10 steps of 0.2 s
    assert re.search(r"longest turn waited for +21.4 s +default", found.explain("assumed"))


def test_no_topology_that_survives_is_no_answer_with_the_number() -> None:
    with pytest.raises(NoAnswerError, match=r"no topology survives\. .*probability"):
        answer(availability__client="50%", availability__quorum="100%")


def test_one_line_names_the_availability_that_a_recommended_ring_needs() -> None:
    """0.9^(1/300) = 0.99964886, rounded up."""
    options = {key: (key, value) for key, value in FLEET.items()}
    scenario = load(options=options)
    question = ask(scenario)
    (line,) = participation.about(question, scenario, ("ring-ring", "ring-star"))
    assert "300 turns" in line
    assert "99.965 %" in line
    assert 0.99965**300 >= 0.9 > 0.99964**300
    assert "25 turns" in participation.about(question, scenario, ("star-ring", "star-star"))[0]
    assert participation.about(question, scenario, ("star-star", "ring-star")) == []
    assert not any(
        "Say how often" in w
        for w in (one.text for one in answer(fleet__groups="2", fleet__clients_per_group="3").warnings)
    )


def test_divisions_are_searched_with_availability() -> None:
    given = {"fleet.clients": "64", "problem.heterogeneity": "both", "network.client_link.up": "20Mbit/s"}
    given |= {"network.client_link.latency": "200ms", "availability.client": "97%", "plan.draws": "0"}
    result = recommend(load(options={key: (key, value) for key, value in given.items()}))
    assert all(row.p_complete is not None for row in result.ranking)
    found = {d.groups: d.time_seconds for d in result.recommend.divisions if d.time_seconds is not None}
    taken = found[int(result.scenario["G"].value)]  # the fewest groups of those that cannot be told from the fastest
    assert result.ranking[0].time_seconds == pytest.approx(taken, rel=0.03)
    assert min(found.values()) <= taken < 1.2 * min(found.values())


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "value", ["0", "-0.5", "1.2", "99", "150%", "0%", "nan", "inf", "often", "", "1e-99", True, [0.9]]
)
def test_what_is_no_probability_is_refused(value: object) -> None:
    with pytest.raises(ScenarioError, match="--availability"):
        load(options={"fleet.groups": ("G", 2), "availability.client": ("--availability", value)})


@pytest.mark.parametrize(("text", "value"), [("99.9%", 0.999), ("0.99", 0.99), ("1", 1.0), (1, 1.0), (0.5, 0.5)])
def test_what_is_one_is_read_exactly(text: object, value: float) -> None:
    options = {"fleet.groups": ("G", 2), "fleet.clients_per_group": ("M", 2), "availability.client": ("a", text)}
    scenario = load(options=options)
    assert scenario.availability is not None
    assert scenario.availability.client == value
    assert scenario.known["availability.client"].origin == "given"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"availability__client": "99"}, r"Write 99% or 0\.99\."),
        ({"availability__policy": "skp"}, "Did you mean skip?"),
        ({"availability__policy": "skip", "availability__timeout": "9s"}, "no device is cut off"),
        ({"availability__policy": "timeout", "availability__detect": "9s"}, "given up after the timeout"),
        ({"availability__policy": "skip", "availability__quorum": "80%"}, "the devices that are there"),
        ({"availability__policy": "skip"}, r"no effect where every device comes\. Give --availability"),
        ({"availability__detect": "10min"}, "no effect where every device comes"),
        ({"availability__server": "99%", "network__tiers": "1"}, "no group servers"),
        ({"availability__timeout": "0s"}, "zero"),
        ({"availability__mtbf": "-3h"}, "negative"),
        ({"availability__clients": "99%"}, "Did you mean client?"),
    ],
)
def test_contradictions_are_refused(more: dict[str, str], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        answer(**more)


def test_the_command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    base = ["recommend", "--G", "12", "--M", "25", "--heterogeneity", "both", "--set", "plan.draws=0"]
    code, out, err = run(*base, "--availability", "90%", "--json", capsys=capsys, monkeypatch=monkeypatch)
    assert (code, err) == (0, "")
    data = json.loads(out)
    found = {row["id"]: row for row in data["rows"]}
    assert found["ring-ring"]["feasible"] is False
    assert found["ring-ring"]["rounds"] is None
    assert found["star-star"]["p_complete"] == 1.0
    assert data["scenario"]["availability.client"]["reading"] == "90%"
    words = ("--availability", "50%", "--set", "availability.quorum=100%")
    code, out, err = run(*base, *words, capsys=capsys, monkeypatch=monkeypatch)
    assert (code, out) == (1, "")
    assert err.startswith("no answer[N008]: no topology survives")
    code, out, err = run(*base, "--availability", "99", capsys=capsys, monkeypatch=monkeypatch)
    assert (code, out) == (2, "")
    assert "Write 99% or 0.99." in err


SLOW = {"groups": 10, "clients_per_group": 10, "heterogeneity": "inter", "uplink": "5Mbit/s", "objective": "time"}
SLOW |= {"link_sharing": "per-client", "availability": "95%", "on_failure": "skip"}


@pytest.mark.usefixtures("settings_alone")
def test_how_long_an_absent_device_is_waited_for_is_assumed() -> None:
    """It stood in a warning alone. Hours are affine in it, so that two given times say what six turns take."""
    [six] = [
        one
        for one in planner.flip(**SLOW, settings={"plan.draws": 0}).flip.settings
        if (one.parameter, one.other) == ("availability.detect", "6 turns")
    ]

    def hours(detect: str | None = None) -> float:
        more = {} if detect is None else {"availability.detect": detect}
        found = planner.recommend(**SLOW, settings={"plan.draws": 0} | more)
        assert ("wait for an absent device 2 turns?" in " ".join(str(found).split())) == (detect is None)
        return float(found.row(six.best[0]).time_seconds)

    usual, one, two = hours(), hours("200s"), hours("300s")
    two_turns = 200 + 100 * (usual - one) / (two - one)
    assert six.time_seconds == pytest.approx(one + (3 * two_turns - 200) * (two - one) / 100, rel=1e-3)


@pytest.mark.usefixtures("settings_alone")
def test_turns_are_given_as_an_answer_names_them() -> None:
    """The change that an answer lists is that of the same command with what it names."""
    words = SLOW | {"model_size": "10MB"}
    there = planner.flip(**words, settings={"plan.draws": 0}).flip.settings
    named = [one for one in there if one.parameter == "availability.detect"]
    assert {one.other for one in named} == {"1 turn", "6 turns"}
    for one in named:
        given = planner.recommend(**words, settings={"plan.draws": 0, "availability.detect": one.other})
        assert float(given.row(one.best[0]).time_seconds) == pytest.approx(one.time_seconds, rel=1e-9)
    usual, told = (
        planner.recommend(**words, settings={"plan.draws": 0} | more)
        for more in ({}, {"availability.detect": "2 turns"})
    )
    assert [row.time_seconds for row in told.rows] == [row.time_seconds for row in usual.rows]


@pytest.mark.parametrize("wrong", ["0.5 turns", "2000 turns", "1..2 turns", "two turns", "turns"])
def test_other_turns_are_refused(wrong: str) -> None:
    with pytest.raises(planner.PlannerError, match=r"availability\.detect"):
        planner.recommend(**SLOW, settings={"availability.detect": wrong})


def consoles() -> list[tuple[str, list[str]]]:
    """Every command that the page shows, with the lines below it."""
    text = (ROOT / "docs" / "availability.md").read_text()
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL):
        for line in block.strip("\n").splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(line)
    return found


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("command", "shown"), consoles())
def test_the_page_shows_what_is_printed(
    command: str,
    shown: list[str],
    every: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    moved_alone: Any,
    set_alone: Any,
) -> None:
    """Of changes those that the page has are looked for, or, slowly, all."""
    if not every:
        moved_alone("zeta")
        set_alone("client_link.sharing", "cost")
    monkeypatch.chdir(ROOT)
    _, out, err = printed(command, shown, capsys, monkeypatch)
    real = iter((out + err).splitlines())
    for line in shown:
        if line != "...":
            start = line.removesuffix("…").rstrip()
            assert any(r == start or (line.endswith("…") and r.startswith(start)) for r in real), line


def test_the_table_of_the_page_is_what_its_lines_print() -> None:
    (block,) = re.findall(r"```pycon\n(.*?)```", (ROOT / "docs" / "availability.md").read_text(), flags=re.DOTALL)
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(block, {}, "availability", None, 0))
    assert (runner.tries, runner.failures) == (1, 0)


@pytest.mark.parametrize("policy", ["fail", "skip"])
@pytest.mark.parametrize("word", ["star", "ring"])
def test_one_tier_is_one_group_of_everybody(word: str, policy: str) -> None:
    """Against two tiers with a single group and no link above it, and every pattern of three clients in fractions."""
    settings = Availability(client=0.8, policy=policy, detect=3)
    spec = RoundSpec(Topology.parse(word).sized((3,)), 2, Network((DIRECT.client_link,)), COMPUTE, MODEL)
    found = attend(spec, settings)
    two = attended(f"star-{word}", settings, Network((None, DIRECT.client_link)), G=1, M=3)
    assert found == replace(two, traffic=two.traffic[1:])
    one, late = Fraction(4, 5), Fraction(1, 5)
    survival = one**3 if (word, policy) == ("ring", "fail") else 1 - late**3
    assert found.survival == pytest.approx(float(survival), rel=1e-12)
    everyone = attend(spec, Availability())
    assert (everyone.slower, everyone.traffic) == (1.0, (1.0,))


def test_a_long_stay_under_a_quorum_of_all_ends_where_one_does_not_come() -> None:
    """100 group rounds of which each has all 3 clients with probability q: a geometric law, summed term by term."""
    found = attended("star-star", Availability(client=0.99, quorum=1.0, detect=9), G=1, M=3, P=100)
    q, top = 0.99**3, 8e6 / 8e6 + 8e6 / 32e6 + 2 * 0.125
    turn = 8e6 / 16e6 + 8e6 / 4e6 + 2 * 0.25 + 1.0
    stay = sum(q**k * (1 - q) * (k * turn + 9) for k in range(100)) + q**100 * 100 * turn
    assert found.survival == pytest.approx(q**100, rel=1e-12)
    assert found.slower == pytest.approx((top + stay) / (top + 100 * turn) / q**100, rel=1e-12)


def test_more_than_two_tiers_are_refused_with_the_way_out() -> None:
    tree = Topology.parse("star-ring-star").sized((2, 2, 2))
    spec = RoundSpec(tree, 1, Network((NETWORK.client_link,) * 3), COMPUTE, MODEL)
    with pytest.raises(CostError, match=r"for at most two tiers.* --groups 4 --clients-per-group 2"):
        attend(spec, Availability(client=0.9))


def test_a_hundred_rounds_begun_for_one_completed_are_a_plan_and_no_more() -> None:
    assert replace(everyone(2, 3), survival=1 / 100).feasible
    assert not replace(everyone(2, 3), survival=1 / 101).feasible


slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("topology", "sizes", "scatter", "coming", "off"),
    [
        ("star-star", (2, 3), 0.0, 0.9, 0.15),
        ("star-star", (2, 3), 1.25, 0.8, 0.15),
        pytest.param("star-star", (4, 2), 0.0, 0.95, 0.15, marks=slow),
        pytest.param("star-star", (6, 3), 0.0, 0.99, 0.15, marks=slow),
        pytest.param("star-star", (4, 2), 1.25, 0.9, 0.15, marks=slow),
        pytest.param("star-star", (4, 2), 1.25, 0.8, 0.25, marks=slow),
        pytest.param("star-ring", (4, 2), 1.25, 0.95, 0.15, marks=slow),
        pytest.param("star-ring", (3, 4), 0.0, 0.8, 0.25, marks=slow),
        pytest.param("ring-star", (3, 4), 0.0, 0.95, 0.15, marks=slow),
        pytest.param("ring-star", (4, 2), 1.25, 0.8, 0.25, marks=slow),
        pytest.param("ring-ring", (3, 4), 1.25, 0.95, 0.15, marks=slow),
        pytest.param("ring-ring", (4, 2), 1.25, 0.8, 0.25, marks=slow),
    ],
)
def test_rounds_from_which_devices_stay_away_are_those_of_runs(
    topology: str, sizes: tuple[int, int], scatter: float, coming: float, off: float
) -> None:
    """Interpolated logarithms of rounds of whole numbers gave 2.0 in place of 4.3 in the first case."""
    steps = 5 if sizes == (6, 3) else 2
    told = {
        "fleet.groups": sizes[0], "fleet.clients_per_group": sizes[1], "fleet.local_steps": steps,
        "problem.heterogeneity": "both", "problem.rounds": 100, "problem.curvature_scatter": scatter,
        "fleet.order": "random",
    }  # fmt: skip
    here, there = (
        ask(load(None, {key: ("", str(value)) for key, value in {**told, **more}.items()}))
        for more in ({}, {"availability.client": coming, "availability.policy": "skip"})
    )
    goal = float(here.goal())
    draws = 32 if sizes == (2, 3) else 128  # with few the best of all rates and rounds is so by chance
    runs = [ran(topology, sizes, steps, here.values, goal, scatter, share, draws) for share in (coming, 1.0)]
    factor, usual = (float(question.rounds()[topology]) for question in (there, here))
    of_runs, of_usual = (float(np.interp(-math.log(goal), -np.log(one), np.arange(len(one)))) for one in runs)
    assert factor / usual == pytest.approx(of_runs / of_usual, rel=off)


def ran(
    topology: str,
    sizes: tuple[int, int],
    steps: int,
    values: Mapping[str, Any],
    goal: float,
    scatter: float,
    coming: float,
    draws: int,
) -> npt.NDArray[np.float64]:
    """Mean loss of literal runs at the best of some rates, round by round to a goal, on the spectrum assumed.

    Who does not come is skipped; rings go in random order, drawn for each pass.
    """
    rng, wide = np.random.default_rng(3), 32
    top_is_ring, group_is_ring = (pattern == "ring" for pattern in topology.split("-"))
    turns = (sizes[0] if top_is_ring else 1) * (sizes[1] if group_is_ring else 1)
    decades, power = (4.0, 0.0) if scatter else (2.25, -0.75)
    L, A, sigma, zeta, delta = (float(values[name]) for name in ("L", "A", "sigma", "zeta", "delta"))
    h = L * 10 ** np.linspace(-decades, 0, wide)
    gap = A * h**power / (h**power).sum()
    rates = np.geomspace((0.1 if scatter else 0.02) / turns, 1.6, 14)[:, None, None, None] / L
    tilts = []
    for shape, axis, deviation in (((draws, *sizes, wide), 2, zeta), ((draws, sizes[0], 1, wide), 1, delta)):
        one = rng.normal(size=shape)
        one -= one.mean(axis, keepdims=True)
        tilts.append(one * deviation / np.sqrt(wide * np.square(one).mean((1, 2, 3), keepdims=True)))
    tilt, each = tilts[0] + tilts[1], np.arange(draws)[:, None]

    def taught(model: Any, groups: Any, clients: Any) -> Any:
        """After local steps of one or more clients of each draw; shape (rates, draws, clients, coordinates)."""
        for _ in range(steps):
            seen = h * (1 + scatter * rng.normal(size=(*np.shape(clients), wide))) if scatter else h
            noise = rng.normal(size=(*np.shape(clients), wide)) * sigma / math.sqrt(wide)
            model = model - rates * (seen * model + tilt[each, groups, clients] + noise)
        return model

    def of_group(model: Any, group: Any, here: Any) -> Any:
        """One pass of a group of each draw, of those of its clients who are here."""
        if not group_is_ring:
            weights = here / np.maximum(here.sum(1, keepdims=True), 1)
            clients = np.broadcast_to(np.arange(sizes[1]), here.shape)
            mean = np.einsum("dm,rdmw->rdw", weights, taught(model[:, :, None], group, clients))
            return np.where(here.any(1)[:, None], mean, model)
        for one in rng.random(here.shape).argsort(1).T:
            there = taught(model[:, :, None], group, one[:, None])[:, :, 0]
            model = np.where(here[each, one[:, None]], there, model)
        return model

    model, found = np.broadcast_to(np.sqrt(2 * gap / h), (len(rates), draws, wide)), [A]
    while min(found) > goal:
        assert len(found) < 500
        present = rng.random((draws, *sizes)) < coming
        while not (some := present.any((1, 2))).all():
            present[~some] = rng.random((int((~some).sum()), *sizes)) < coming
        weights, after = present.any(2) / present.any(2).sum(1, keepdims=True), []
        for group in rng.random((draws, sizes[0])).argsort(1).T[:, :, None]:
            after.append(
                of_group(model, group, present[each[:, 0], group[:, 0]]) * (top_is_ring or weights[each, group])
            )
            model = after[-1] if top_is_ring else model
        model = after[-1] if top_is_ring else sum(after)
        with np.errstate(over="ignore", invalid="ignore"):
            found.append(float(np.nanmin((h * model**2 / 2).sum(-1).mean(-1))))
    return np.minimum.accumulate(found)
