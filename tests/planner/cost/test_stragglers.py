"""Rounds over draws of compute times."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from cost_oracle import (
    LAN,
    TOPOLOGIES,
    assert_close,
    cases,
    compute_times,
    derandomized,
    few_draws,
    round_cost,
    round_draws,
    simulate,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cost import stragglers as drawing
from planner.cost.patterns.star import SCHEDULE, makespan
from planner.cost.round import CostError
from planner.scenario.network import Compute, Link, Network, Straggler


@settings(derandomized, max_examples=50)
@given(cases(), st.sampled_from(TOPOLOGIES), st.integers(0, 3))
@few_draws()
def test_schedule_is_the_simulated_schedule_in_every_draw(case, topology, seed):
    drawn = round_draws(topology, seed=seed, **case)
    for i, times in enumerate(compute_times(case, seed, 3).tolist()):
        expected = simulate(topology, times, case["network"], 8 * case["model_bytes"])
        assert drawn[i] == pytest.approx(expected, rel=1e-8)  # rings that share a link amplify rounding


@pytest.mark.slow
@settings(derandomized, max_examples=150)
@given(cases(), st.sampled_from(TOPOLOGIES), st.integers(0, 3))
def test_many_schedules_are_the_simulated_schedule_in_every_draw(case, topology, seed):
    test_schedule_is_the_simulated_schedule_in_every_draw.hypothesis.inner_test(case, topology, seed)


@settings(derandomized, max_examples=60)
@given(cases(), st.sampled_from(TOPOLOGIES))
@few_draws()
def test_formula_is_an_upper_bound_of_an_unshared_schedule(case, topology):
    network = case["network"]
    alone = Network.two_tier(
        network.tiers,
        dataclasses.replace(network.client_link, sharing="per-client"),
        dataclasses.replace(network.server_link, sharing="per-client"),
    )
    case = {**case, "network": alone}
    schedule = round_draws(topology, **case)
    formula = round_draws(topology, method="formula", **case)
    assert (schedule <= formula * (1 + 1e-12)).all()
    if topology.startswith("ring"):  # groups one after the other: nothing to bound
        assert_close(schedule, formula)


def test_formula_is_not_the_schedule():
    """Errata C11: max_g a_g + P max_g b_g is above max_g (a_g + P b_g) once the slowest group changes."""
    link = Link(8.0, 8.0)
    arguments = {
        "G": 10,
        "M": 10,
        "P": 5,
        "K": 1,
        "network": Network.two_tier(2, link, link),
        "compute": Compute(10.0, Straggler("exponential", 1.0)),
        "model_bytes": 1.0,
    }
    schedule = round_draws("star-star", **arguments)
    formula = round_draws("star-star", method="formula", **arguments)
    assert (schedule < formula).all()
    assert (formula / schedule).max() > 1.3


def test_factors_have_mean_1_and_the_asked_variation():
    for straggler in (Straggler("exponential", 0.5), Straggler("lognormal", 0.3)):
        drawn = next(drawing._blocks(100, straggler, 3))
        assert drawn.size == 100_000
        # standard error of the mean of 1e5 is cv / 316; of the deviation, below 3 cv / 316 for both kinds
        assert drawn.mean() == pytest.approx(1.0, abs=4 * straggler.cv / 316)
        assert drawn.std() == pytest.approx(straggler.cv, abs=12 * straggler.cv / 316)
        assert drawn.min() >= (1 - straggler.cv if straggler.kind == "exponential" else 0)


def test_a_ring_of_rings_costs_its_mean():
    """All work is in a row, so that the mean over stragglers is the time without them."""
    arguments = {"G": 5, "M": 6, "P": 2, "K": 3, "network": LAN, "model_bytes": 1.0}
    for straggler in (Straggler("exponential", 1.0), Straggler("lognormal", 0.5)):
        exact = round_cost("ring-ring", compute=Compute(2.0), **arguments).seconds
        drawn = round_cost("ring-ring", compute=Compute(2.0, straggler), **arguments)
        assert abs(drawn.seconds - exact) <= 4 * drawn.standard_error
        # 60 independent works of 6 s: deviation of the sum 6 cv sqrt(60), of the mean over sqrt(draws) less
        deviation = 6 * straggler.cv * math.sqrt(60 / drawn.draws)
        assert drawn.standard_error == pytest.approx(deviation, rel=0.1)


def test_the_slowest_of_exponential_clients_is_a_harmonic_number():
    # E max of M exponentials = H_M = 1 + 1/2 + ... + 1/M; G = P = 1, S/r = 1 s, four transfers, work 2 s
    M, cv = 8, 0.6
    harmonic = sum(1 / m for m in range(1, M + 1))
    expected = 4.0 + 2.0 * (1 - cv + cv * harmonic)
    found = round_cost(
        "star-star",
        G=1,
        M=M,
        P=1,
        K=1,
        network=LAN,
        compute=Compute(2.0, Straggler("exponential", cv)),
        model_bytes=1.0,
    )
    assert abs(found.seconds - expected) <= 4 * found.standard_error
    assert found.draws == 12_500
    assert 0 < found.standard_error < 0.02


def test_draws_are_seeded_and_common():
    arguments = {"G": 4, "M": 5, "P": 2, "K": 1, "network": LAN, "model_bytes": 1.0}

    def draws(topology="ring-ring", cv=0.5, seed=0, **change):
        compute = Compute(1.0, Straggler("exponential", cv))
        return round_draws(topology, compute=compute, seed=seed, **{**arguments, **change})

    assert (draws() == draws()).all()
    assert (draws(seed=1) != draws()).any()
    # the same unit draws, scaled: the factor is 1 - cv + cv E, so that a ring of rings is affine in cv
    assert_close(draws(cv=0.5), (draws(cv=0.25) + draws(cv=0.75)) / 2)
    # the same draws in every topology: the two ends are driven by the same compute times
    assert np.corrcoef(draws("ring-star"), draws("ring-ring"))[0, 1] > 0.5
    # and under another network
    fast = Network.two_tier(2, Link(80.0, 80.0), Link(80.0, 80.0))
    assert np.ptp(draws() - draws(network=fast)) < 1e-9


def test_large_rounds_are_drawn_one_draw_at_a_time_and_alike(monkeypatch):
    # 25 * 50 * 10 = 12 500 compute times: 8 draws either way, of the same stream
    arguments = {"G": 25, "M": 50, "P": 10, "K": 1, "model_bytes": 1.0}
    compute = Compute(1.0, Straggler("lognormal", 0.4))
    for sharing, topology in itertools.product(("per-client", "per-server"), TOPOLOGIES):
        link = Link(8.0, 8.0, sharing=sharing)
        network = Network.two_tier(2, link, link)
        kept = round_draws(topology, network=network, compute=compute, **arguments)
        with monkeypatch.context() as patch:
            patch.setattr(drawing, "_CACHED_SAMPLES", 0)
            drawing.durations.cache_clear()
            drawing._unit.cache_clear()
            streamed = round_draws(topology, network=network, compute=compute, **arguments)
        assert kept.size == streamed.size == 8
        assert_close(kept, streamed)


def test_the_summary_is_of_the_draws():
    arguments = {
        "G": 4,
        "M": 5,
        "P": 2,
        "K": 1,
        "network": LAN,
        "compute": Compute(1.0, Straggler("lognormal", 0.4)),
        "model_bytes": 1.0,
    }
    result, drawn = round_cost("star-ring", **arguments), round_draws("star-ring", **arguments)
    assert result.draws == drawn.size == 2500  # 100 000 / (4 * 5 * 2)
    assert result.seconds == pytest.approx(drawn.mean(), rel=1e-12)
    # by the definition of the standard error of a mean
    spread = math.sqrt(sum((t - result.seconds) ** 2 for t in drawn.tolist()) / 2499)
    assert result.standard_error == pytest.approx(spread / 50, rel=1e-9)


def test_only_small_digests_are_kept():
    drawing._digested.cache_clear()
    shared = Link(8.0, 8.0, sharing="per-server")
    arguments = {"M": 2, "P": 1, "K": 1, "network": Network((shared, shared)), "model_bytes": 1.0}
    arguments["compute"] = Compute(1.0, Straggler("exponential", 0.4))
    round_cost("star-star", G=50_000, **arguments)
    assert drawing._digested.cache_info().currsize == 0  # 8 draws of 100 000 with their order would be 13 MB
    round_cost("star-star", G=25_000, **arguments)
    assert drawing._digested.cache_info().currsize == 1


def test_no_variation_is_exact():
    arguments = {"G": 4, "M": 5, "P": 2, "K": 1, "network": LAN, "model_bytes": 1.0}
    exact = round_cost("star-star", compute=Compute(1.0), **arguments)
    assert exact.draws == 0
    assert round_cost("star-star", compute=Compute(1.0, Straggler("lognormal", 0.0)), **arguments) == exact
    idle = Compute(0.0, Straggler("lognormal", 0.5))
    assert round_cost("star-star", compute=idle, **arguments).draws == 0
    assert round_draws("star-star", compute=Compute(1.0), **arguments).tolist() == [exact.seconds]


def test_too_many_compute_times():
    straggler = Compute(1.0, Straggler("exponential", 0.5))
    with pytest.raises(CostError, match="20000002 compute times") as caught:
        round_cost("star-star", G=10_000_001, M=2, P=1, K=1, network=LAN, compute=straggler, model_bytes=1.0)
    assert "straggler kind none" in str(caught.value)
    one = Network.two_tier(1, Link(1.0, 1.0, sharing="per-server"))
    with pytest.raises(CostError, match="diluted"):
        round_cost("star-ring", G=1000, M=101, P=1, K=1, network=one, compute=straggler, model_bytes=1.0)


def test_condensed_passes_of_any_arrangement_end_when_the_whole_do() -> None:
    """Releases sorted and sent one after the other, over two axes of passes."""
    times = np.random.default_rng(5).exponential(size=(3, 4, 200))
    digest = SCHEDULE.digest(times, together=True)
    condensed = SCHEDULE.condense(digest)
    assert condensed.shape[:3] == digest.shape[:3] and condensed.shape[-1] < 200
    for transfer in (1e-3, 0.02, 1.0):
        ends = np.zeros((3, 4))
        for release in np.moveaxis(np.sort(2 * times, axis=-1), -1, 0):
            ends = np.maximum(ends, release) + transfer
        assert makespan(condensed, 2.0, transfer) == pytest.approx(ends)
