"""Transfers that share a rate."""

import dataclasses

import numpy as np
import pytest
from cost_oracle import (
    TOPOLOGIES,
    Simulator,
    cases,
    compute_times,
    derandomized,
    factors,
    few_draws,
    latencies,
    rates,
    round_draws,
    simulate,
    spec,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cost import stragglers as drawing
from planner.cost.patterns.star import SCHEDULE, makespan
from planner.cost.spec import levels
from planner.cost.stragglers import play
from planner.scenario.network import Compute, Link, Network, Straggler


def test_oracle_shares_a_rate():
    # Three uploads of 2 bits at 1 bit/s in all, released at 0, 1 and 5 s. From 1 s two of them share: the
    # first, with 1 bit left, ends at 3 s; the second then has 1 bit left and ends at 4 s; the third runs
    # alone from 5 s to 7 s.
    ends = []

    def upload(release):
        yield ("wait", release)
        yield ("send", 2.0, [("link", 1.0)])
        ends.append(simulator.now)

    def everything():
        yield ("join", [upload(c) for c in (0.0, 1.0, 5.0)])

    simulator = Simulator()
    assert simulator.run(everything()) == 7.0
    assert ends == pytest.approx([3.0, 4.0, 7.0])


OUT_OF_STEP = (
    cases(
        network=st.builds(
            Network.two_tier,
            tiers=st.just(1),
            client_link=st.builds(
                Link,
                up=rates,
                down=rates,
                latency=latencies,
                sharing=st.just("per-server"),
                hop=st.sampled_from(["relayed", "direct"]),
            ),
        ),
        largest=3,
    ),
    st.sampled_from(["star-star", "star-ring"]),
)


@settings(derandomized, max_examples=30)
@given(*OUT_OF_STEP)
@few_draws()
def test_one_server_shared_by_groups_out_of_step(case, topology):
    """The one case without a closed form, drawn more often than chance would."""
    drawn = round_draws(topology, seed=1, **case)
    for i, times in enumerate(compute_times(case, 1, 4).tolist()):
        expected = simulate(topology, times, case["network"], 8 * case["model_bytes"])
        assert drawn[i] == pytest.approx(expected, rel=1e-8)  # rings that share a link amplify rounding


@pytest.mark.slow
@settings(derandomized, max_examples=100)
@given(*OUT_OF_STEP)
def test_one_server_shared_by_groups_out_of_step_in_many_cases(case, topology):
    test_one_server_shared_by_groups_out_of_step.hypothesis.inner_test(case, topology)


@pytest.mark.parametrize("star_low", [True, False])
@pytest.mark.parametrize("hop", ["relayed", "direct"])
@pytest.mark.parametrize("shape", [(6, 5, 4), (3, 8, 3)])
def test_one_server_shared_by_many_groups_in_80_digits(star_low, hop, shape):
    """Rings that share a link are chaotic: 1e-15 on the compute times may be 1e-3 on the end.

    In double precision two correct programs drift apart; with enough digits they have to agree.
    """
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(0)
    network = Network.two_tier(1, Link(1.3, 0.7, 0.3, "per-server", hop))
    with mpmath.workdps(80):
        drawn = np.sort(rng.lognormal(size=shape)) if star_low else rng.lognormal(size=shape)
        times = [[[mpmath.mpf(t) for t in group] for group in group_round] for group_round in drawn.tolist()]
        bits = mpmath.mpf(2)
        topology = "star-star" if star_low else "star-ring"
        P, G, M = shape
        top, low = levels(spec(topology, G=G, M=M, P=P, K=1, network=network, compute=Compute(1.0), model_bytes=0.25))
        line = low.wire._replace(down=bits / mpmath.mpf(0.7), up=bits / mpmath.mpf(1.3), latency=mpmath.mpf(0.3))
        expected = simulate(topology, times, network, bits)
        found = play((top, low._replace(wire=line)), np.array([times], dtype=object))
        assert abs(found / expected - 1) < mpmath.mpf(10) ** -50


@settings(derandomized, max_examples=60)
@given(st.lists(st.floats(0, 10), min_size=1, max_size=8), st.floats(0.01, 5))
def test_makespan_of_shared_transfers(releases, transfer):
    def upload(release):
        yield ("wait", release)
        yield ("send", transfer, [("link", 1.0)])

    def everything():
        yield ("join", [upload(c) for c in releases])

    found = makespan(SCHEDULE.digest(np.array(releases), together=True), 1.0, transfer)
    assert float(found) == pytest.approx(Simulator().run(everything()), rel=1e-9)


@settings(derandomized, max_examples=50)
@given(cases(), st.sampled_from(TOPOLOGIES))
@few_draws()
def test_sharing_slows_the_schedule_and_dilution_bounds_it(case, topology):
    network = case["network"]
    alone = Network.two_tier(
        network.tiers,
        dataclasses.replace(network.client_link, sharing="per-client"),
        dataclasses.replace(network.server_link, sharing="per-client"),
    )
    schedule = round_draws(topology, **case)
    diluted = round_draws(topology, method="diluted", **case)[: schedule.size]
    unshared = round_draws(topology, **{**case, "network": alone})[: schedule.size]
    assert (schedule <= diluted * (1 + 1e-12)).all()
    assert (schedule >= unshared * (1 - 1e-12)).all()


@pytest.mark.parametrize("straggler", [Straggler("exponential", 1.0), Straggler("lognormal", 0.5)], ids=str)
def test_a_condensed_digest_decides_every_pass(straggler):
    times = factors(straggler, 3, 2, 1, 2, 3, 5000)
    digest = SCHEDULE.digest(times, together=True)
    condensed = SCHEDULE.condense(digest)
    assert condensed.shape[:-1] == (2, 1, 2, 3, 2)
    assert condensed.shape[-1] <= 64
    for transfer in np.geomspace(1e-8, 1e8, 81):
        assert (makespan(condensed, 0.7, transfer) == makespan(digest, 0.7, transfer)).all()


def test_large_shared_stars_are_the_same_condensed_and_streamed(monkeypatch):
    arguments = {"G": 2, "M": 80_000, "P": 2, "network": Network((Link(1e6, 1e6), Link(1e6, 2e6, 0.1, "per-server")))}
    arguments |= {"compute": Compute(1.0, Straggler("exponential", 1.0)), "model_bytes": 10.0}
    condensed = [round_draws("star-star", K=K, **arguments) for K in (1, 7)]
    monkeypatch.setattr(drawing, "_CACHED_SAMPLES", 0)
    drawing.durations.cache_clear()
    assert [one.tolist() for one in condensed] == [round_draws("star-star", K=K, **arguments).tolist() for K in (1, 7)]
