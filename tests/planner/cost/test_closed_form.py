"""Rounds without stragglers, against hand arithmetic, the papers and the simulated schedule."""

import dataclasses
import math
import tracemalloc

import numpy as np
import pytest
from cost_oracle import (
    LAN,
    METHODS,
    TOPOLOGIES,
    assert_close,
    cases,
    compute_times,
    derandomized,
    few_draws,
    phones,
    rates,
    round_cost,
    round_draws,
    simulate,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from hflbounds.topology import TopologyError
from planner.cost.round import CostError
from planner.scenario.network import Compute, Link, Network, Straggler


def test_oracle_by_hand_with_two_groups_of_two():
    # S = 1 bit, every rate 1 bit/s, nothing shared, no latency, P = 1; clients need 1 and 3, 2 and 5 s.
    link = Link(1.0, 1.0, hop="direct")
    network = Network.two_tier(2, link, link)
    times = [[[1.0, 3.0], [2.0, 5.0]]]
    # star-star: 1 + max(1 + 3 + 1, 1 + 5 + 1) + 1
    assert simulate("star-star", times, network, 1.0) == 9.0
    # star-ring: 1 + max(1 + 1 + 1 + 3 + 1, 1 + 2 + 1 + 5 + 1) + 1
    assert simulate("star-ring", times, network, 1.0) == 12.0
    # ring-star: 1 + 5 + 1 + 7 + 1
    assert simulate("ring-star", times, network, 1.0) == 15.0
    # ring-ring: 1 + 7 + 1 + 10 + 1
    assert simulate("ring-ring", times, network, 1.0) == 20.0


@settings(derandomized, max_examples=80)
@given(cases(straggler=st.just(Straggler())), st.sampled_from(TOPOLOGIES))
def test_closed_form_is_the_simulated_schedule(case, topology):
    times = np.full((case["P"], case["G"], case["M"]), case["K"] * case["compute"].step_time).tolist()
    expected = simulate(topology, times, case["network"], 8 * case["model_bytes"])
    result = round_cost(topology, **case)
    assert result.seconds == pytest.approx(expected, rel=1e-10)
    assert (result.standard_error, result.draws) == (0.0, 0)


def table_3(topology, times, up, down, S, dilution_low=1, dilution_top=1):
    """T_inter + sum_p T_intra,p with S [bit], rates [bit/s], direct hops, no latency, tau_g = 0."""
    rounds, groups, clients = len(times), len(times[0]), len(times[0][0])
    top, low = topology.split("-")
    hop = S / min(up, down)

    def star(values, n):
        return max(S / (down / n) + tau + S / (up / n) for tau in values)

    def ring(values):
        return S / down + sum(values) + (len(values) - 1) * hop + S / up

    def intra(p, g):
        values = times[p][g]
        return star(values, dilution_low) if low == "star" else ring(values)

    reduce = max if top == "star" else sum
    taus = [0.0] * groups
    inter = star(taus, dilution_top) if top == "star" else ring(taus)
    assert clients > 0
    return inter + sum(reduce(intra(p, g) for g in range(groups)) for p in range(rounds))


@settings(derandomized, max_examples=60)
@given(
    cases(
        network=st.builds(
            lambda up, down: Network.two_tier(2, Link(up, down, hop="direct"), Link(up, down, hop="direct")),
            rates,
            rates,
        )
    ),
    st.sampled_from(TOPOLOGIES),
)
@few_draws()
def test_formula_and_dilution_are_table_3(case, topology):
    link, S = case["network"].client_link, 8 * case["model_bytes"]
    low = case["M"] if topology.endswith("star") else 1
    top = case["G"] if topology.startswith("star") else 1
    drawn = {method: round_draws(topology, seed=5, method=method, **case) for method in ("formula", "diluted")}
    for i, times in enumerate(compute_times(case, 5, 3).tolist()):
        ideal = table_3(topology, times, link.up, link.down, S)
        diluted = table_3(topology, times, link.up, link.down, S, low, top)
        assert drawn["formula"][i] == pytest.approx(ideal, rel=1e-12)
        assert drawn["diluted"][i] == pytest.approx(diluted, rel=1e-12)


def test_worked_example_of_the_counterexamples_section_8():
    # S = 1 bit, r = 1 bit/s in both tiers, tau = 1 s, tau_g = 0, P = K = 1, G = M = 10
    link = Link(1.0, 1.0, hop="direct")
    arguments = {
        "G": 10,
        "M": 10,
        "P": 1,
        "K": 1,
        "network": Network.two_tier(2, link, link),
        "compute": Compute(1.0),
        "model_bytes": 0.125,
    }
    ideal = [round_cost(t, method="formula", **arguments).seconds for t in TOPOLOGIES]
    diluted = [round_cost(t, method="diluted", **arguments).seconds for t in TOPOLOGIES]
    # SS 2 + 3; SR 2 + (10 + 11); RS 11 + 10 * 3; RR 11 + 10 * 21
    assert ideal == [5.0, 23.0, 41.0, 221.0]
    # SS 20 + 21; SR 20 + 21; RS 11 + 10 * 21; RR as before
    assert diluted == [41.0, 41.0, 221.0, 221.0]


@settings(derandomized, max_examples=60)
@given(cases(straggler=st.just(Straggler()), largest=50), st.sampled_from(TOPOLOGIES))
def test_methods_agree_when_everything_is_homogeneous(case, topology):
    network = case["network"]
    for sharing, method in (("per-client", "formula"), ("per-server", "diluted")):
        same = Network.two_tier(
            network.tiers,
            dataclasses.replace(network.client_link, sharing=sharing),
            dataclasses.replace(network.server_link, sharing=sharing),
        )
        schedule = round_cost(topology, **{**case, "network": same}).seconds
        assert schedule == round_cost(topology, method=method, **{**case, "network": same}).seconds


@settings(derandomized, max_examples=60)
@given(st.floats(0.05, 20), st.floats(0.05, 20), st.integers(2, 40), st.integers(1, 5))
def test_ring_beats_diluted_star_iff_the_transfer_is_longer_than_the_work(transfer, tau, M, P):
    """Formula sheet F24, low tier: 2 M S/r + tau against (M + 1) S/r + M tau, that is S/r against tau."""
    if math.isclose(transfer, tau, rel_tol=1e-6):
        return
    link = Link(1.0, 1.0, sharing="per-server", hop="direct")
    for top in ("star", "ring"):
        star, ring = (
            round_cost(
                f"{top}-{low}",
                G=3,
                M=M,
                P=P,
                K=1,
                network=Network.two_tier(2, link, link),
                compute=Compute(tau),
                model_bytes=transfer / 8,
            ).seconds
            for low in ("star", "ring")
        )
        assert (ring < star) == (transfer > tau)


@settings(derandomized, max_examples=60)
@given(st.floats(0.05, 500), st.integers(2, 40), st.integers(1, 5))
def test_ring_top_beats_diluted_star_top_iff_a_transfer_is_longer_than_a_turn(transfer, G, P):
    """Formula sheet F24, top tier: S/r_top against P T_low."""
    # low tier: M = 4 clients, S/r = 1 s, tau = 2 s, ideal star: T_low = 1 + 2 + 1
    turn = P * 4.0
    if math.isclose(transfer, turn, rel_tol=1e-6):
        return
    low = Link(1.0, 1.0)
    top = Link(1 / transfer, 1 / transfer, sharing="per-server", hop="direct")
    star, ring = (
        round_cost(
            f"{tier}-star",
            G=G,
            M=4,
            P=P,
            K=1,
            network=Network.two_tier(2, low, top),
            compute=Compute(2.0),
            model_bytes=0.125,
        ).seconds
        for tier in ("star", "ring")
    )
    assert (ring < star) == (transfer > turn)


def test_flagship_seconds():
    """Product note F5: 54, 1134, 545, 13507 s; 1086, 1134, 12931, 13507 s where the uplink is shared."""
    # S = 358.4 Mbit: up 17.92 s, down 3.584 s, work 1 s; backhaul 0.3584 s each way.
    # Low star 22.504, low relayed ring 25 * 22.504 = 562.6; diluted low star 25 * 21.504 + 1 = 538.6.
    # Top star shared by 12: 24 * 0.3584 = 8.6016; direct top ring 13 * 0.3584 = 4.6592.
    alone = [8.6016 + 2 * 22.504, 8.6016 + 2 * 562.6, 4.6592 + 24 * 22.504, 4.6592 + 24 * 562.6]
    shared = [8.6016 + 2 * 538.6, 8.6016 + 2 * 562.6, 4.6592 + 24 * 538.6, 4.6592 + 24 * 562.6]
    assert [round(t) for t in alone] == [54, 1134, 545, 13507]
    assert [round(t) for t in shared] == [1086, 1134, 12931, 13507]
    for sharing, expected in (("per-client", alone), ("per-server", shared)):
        found = [round_cost(t, **phones(sharing)).seconds for t in TOPOLOGIES]
        assert found == pytest.approx(expected, rel=1e-12)


@settings(derandomized, max_examples=20)
@given(cases(), st.sampled_from(METHODS))
@few_draws()
def test_a_tier_of_one_is_star_and_ring(case, method):
    def draws(topology, **change):
        return round_draws(topology, method=method, **{**case, **change})

    for low in ("star", "ring"):
        assert_close(draws(f"star-{low}", G=1), draws(f"ring-{low}", G=1))
    for top in ("star", "ring"):
        assert_close(draws(f"{top}-star", M=1), draws(f"{top}-ring", M=1))


@pytest.mark.slow
@settings(derandomized, max_examples=60)
@given(cases(), st.sampled_from(METHODS))
def test_a_tier_of_one_is_star_and_ring_in_many_cases(case, method):
    test_a_tier_of_one_is_star_and_ring.hypothesis.inner_test(case, method)


@settings(derandomized, max_examples=20)
@given(cases(), st.sampled_from(TOPOLOGIES), st.sampled_from(METHODS), st.sampled_from([0.125, 3.0, 1e6]))
def test_units_are_homogeneous(case, topology, method, scale):
    """All times scaled, the round is scaled; bits and rates scaled together, nothing changes."""
    before = round_cost(topology, method=method, **case)
    compute, network = case["compute"], case["network"]

    def change(link, rate, latency):
        return dataclasses.replace(link, up=link.up * rate, down=link.down * rate, latency=link.latency * latency)

    slower = dataclasses.replace(compute, step_time=compute.step_time * scale)
    links = [change(link, 1.0, scale) for link in (network.client_link, network.server_link)]
    after = round_cost(
        topology,
        method=method,
        **{
            **case,
            "model_bytes": case["model_bytes"] * scale,
            "compute": slower,
            "network": Network.two_tier(network.tiers, *links),
        },
    )
    assert after.seconds == pytest.approx(before.seconds * scale, rel=1e-9)
    assert after.standard_error == pytest.approx(before.standard_error * scale, rel=1e-6, abs=1e-12)
    assert after.bytes == pytest.approx(before.bytes * scale, rel=1e-12)

    links = [change(link, scale, 1.0) for link in (network.client_link, network.server_link)]
    same = round_cost(
        topology,
        method=method,
        **{**case, "model_bytes": case["model_bytes"] * scale, "network": Network.two_tier(network.tiers, *links)},
    )
    assert same.seconds == pytest.approx(before.seconds, rel=1e-9)


@pytest.mark.slow
@settings(derandomized, max_examples=60)
@given(cases(), st.sampled_from(TOPOLOGIES), st.sampled_from(METHODS), st.sampled_from([0.125, 3.0, 1e6]))
def test_units_are_homogeneous_in_many_cases(case, topology, method, scale):
    test_units_are_homogeneous.hypothesis.inner_test(case, topology, method, scale)


@settings(derandomized, max_examples=60)
@given(cases(), st.sampled_from(TOPOLOGIES), st.sampled_from(METHODS))
@few_draws()
def test_more_of_anything_takes_longer(case, topology, method):
    """In every draw, thanks to common random numbers."""
    network = case["network"]
    if network.tiers == 1 and method == "schedule":
        # Groups that drift apart in the queue of one server may gain from a delay, as jobs on machines do.
        network = Network.two_tier(2, network.client_link, network.server_link)
        case = {**case, "network": network}

    def draws(**change):
        return round_draws(topology, method=method, **{**case, **change})

    before = draws()
    slack = 1 - 1e-12
    assert (draws(model_bytes=2 * case["model_bytes"]) >= before * slack).all()
    assert (draws(K=case["K"] + 1) >= before * slack).all()
    for change in ({"latency": 5.0}, {"up": 0.5}, {"down": 0.5}):
        low = dataclasses.replace(network.client_link, **change)
        top = dataclasses.replace(network.server_link, **change)
        assert (draws(network=Network.two_tier(network.tiers, low, network.server_link)) >= before * slack).all()
        assert (draws(network=Network.two_tier(network.tiers, network.client_link, top)) >= before * slack).all()


def test_relayed_hops_cost_two_latencies_and_direct_ones_the_slower_direction():
    # M = 3, one group, S = 8 bit, up 2, down 4 bit/s, latency 0.25 s, work 1 s.
    # down 2 + 0.25, up 4 + 0.25, three works; two hops of max(2, 4) + 0.25 direct, 2 + 4 + 0.5 relayed.
    arguments = {"G": 1, "M": 3, "P": 1, "K": 1, "compute": Compute(1.0), "model_bytes": 1.0}
    direct = Network.two_tier(1, Link(2.0, 4.0, 0.25, hop="direct"))
    relayed = Network.two_tier(1, Link(2.0, 4.0, 0.25, hop="relayed"))
    assert round_cost("ring-ring", network=direct, **arguments).seconds == 2.25 + 4.25 + 3 + 2 * 4.25
    assert round_cost("ring-ring", network=relayed, **arguments).seconds == 2.25 + 4.25 + 3 + 2 * 6.5


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("tiers", [1, 2])
def test_a_thousand_million_clients_without_memory(topology, tiers):
    link = Link(20e6, 100e6, 0.01, "per-server")
    tracemalloc.start()
    result = round_cost(
        topology,
        G=10**4,
        M=10**5,
        P=3,
        K=5,
        network=Network.two_tier(tiers, link, link),
        compute=Compute(0.2),
        model_bytes=44.8e6,
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert math.isfinite(result.seconds)
    assert peak < 100_000


def test_largest_counts_stay_finite():
    link = Link(1e-3, 1e-3, 1e3, "per-server")
    arguments = {"G": 10**12, "M": 10**12, "P": 10**12, "K": 10**12}
    for topology in TOPOLOGIES:
        result = round_cost(
            topology, network=Network.two_tier(2, link, link), compute=Compute(1e6), model_bytes=1e24, **arguments
        )
        assert math.isfinite(result.seconds)
        assert math.isfinite(result.bytes)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"topology": "rin-star"}, ["topology", "'rin'", "Did you mean ring?"]),
        ({"topology": "mesh-star"}, ["Known are star, ring"]),
        ({"topology": "star-star-ring"}, ["sizes: 2 numbers for 3 tiers"]),
        ({"G": 0}, ["size: 0", "1 or more"]),
        ({"M": -1}, ["size: -1"]),
        ({"K": 0}, ["K: 0"]),
        ({"G": 10**30}, ["G:", "to 1e+12"]),
        ({"M": math.nan}, ["size: nan"]),
    ],
)
def test_bad_arguments(change, parts):
    arguments = {"topology": "star-star", "G": 2, "M": 2, "P": 1, "K": 1, "model_bytes": 1.0, **change}
    topology = arguments.pop("topology")
    for function in (round_cost, round_draws):
        with pytest.raises((CostError, TopologyError)) as caught:
            function(topology, network=LAN, compute=Compute(1.0), **arguments)
        message = str(caught.value)
        for part in parts:
            assert part in message


def test_a_round_that_never_ends():
    slow = Network.two_tier(1, Link(1e-300, 1e-300))
    with pytest.raises(CostError, match="Check the rates"):
        round_cost("star-star", G=1, M=1, P=1, K=1, network=slow, compute=Compute(1.0), model_bytes=1e20)
