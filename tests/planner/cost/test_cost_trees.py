"""Trees of any depth: by hand, against the simulated schedule, and against the trees that they are equal to."""

import dataclasses
from unittest import mock

import numpy as np
import pytest
from cost_oracle import (
    METHODS,
    derandomized,
    draws,
    factors,
    few_draws,
    latencies,
    links,
    rates,
    simulate,
    stragglers,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from hflbounds.topology import Tier, Topology, patterns
from planner.cost import stragglers as drawing
from planner.cost.patterns import schedules
from planner.cost.round import CostError, RoundSpec, round_cost
from planner.cost.spec import levels
from planner.scenario.network import Compute, Link, Network, Straggler

NONE = Straggler()
maybe_links = st.one_of(st.none(), links)
hops = st.sampled_from(["relayed", "direct"])
shared_links = st.builds(Link, up=rates, down=rates, latency=latencies, sharing=st.just("per-server"), hop=hops)


@st.composite
def trees(draw, depths=(1, 2, 3, 4), straggler=stragglers, link=links, above=maybe_links, largest=72):
    """A round of a tree with at most ``largest`` compute times."""
    tiers, left = [], largest
    depth = draw(st.sampled_from(depths))
    for _ in range(depth):
        size = draw(st.integers(1, min(3, left)))
        passes = draw(st.integers(1, min(2, left // size)))
        left //= size * passes
        tiers.append(Tier(draw(st.sampled_from(list(patterns()))), size, passes=passes))
    return RoundSpec(
        Topology(tuple(tiers)),
        K=draw(st.integers(1, 3)),
        network=Network((*(draw(above) for _ in tiers[1:]), draw(link))),
        compute=Compute(draw(st.sampled_from([0.1, 1.0, 4.0])), draw(straggler)),
        model_bytes=draw(st.sampled_from([0.125, 0.5, 2.0])),
    )


def shape(spec):
    tiers = spec.topology.tiers
    return (*(tier.passes for tier in tiers), *(tier.size for tier in tiers))


def simulated(spec, times):
    return simulate(spec.topology, times, spec.network, 8 * spec.model_bytes)


def changed(spec, **change):
    return dataclasses.replace(spec, **change)


def test_every_pattern_has_a_schedule():
    assert schedules().keys() == patterns().keys()


# ---------------------------------------------------------------------------------------------------------
# By hand

LINE = Link(1.0, 1.0, hop="direct")


@pytest.mark.parametrize(
    ("words", "sizes", "passes", "seconds", "traffic"),
    [
        # one model takes 1 s, local work 2 s
        ("star", (3,), (1,), 4, (6,)),
        ("ring", (3,), (2,), 2 * (1 + 3 * 2 + 2 * 1 + 1), (2 * 4,)),
        # lowest star: 1 + 2 + 1 = 4, twice; ring of three: 1 + 3 * 8 + 2 + 1 = 28; star: 1 + 28 + 1
        ("star-ring-star", (2, 3, 4), (1, 1, 2), 30, (4, 2 * 4, 6 * 2 * 8)),
        # lowest ring of four: 1 + 8 + 3 + 1 = 13; star: 15, twice; ring of two: 1 + 60 + 1 + 1
        ("ring-star-ring", (2, 3, 4), (1, 2, 1), 63, (3, 2 * 2 * 6, 2 * 2 * 3 * 5)),
        # ring of two: 1 + 4 + 1 + 1 = 7; each of the rings above: 1 + 14 + 1 + 1 = 17; then 1 + 34 + 1 + 1 = 37; twice
        ("ring-ring-ring", (2, 2, 2), (2, 1, 1), 2 * 37, (2 * 3, 2 * 2 * 3, 2 * 4 * 3)),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_rounds_by_hand(words, sizes, passes, seconds, traffic, method):
    tree = Topology.parse(words).sized(sizes, passes=passes)
    spec = RoundSpec(tree, 4, Network((LINE,) * len(sizes)), Compute(0.5), 0.125, method)
    if method == "diluted":  # a star's rate is divided by its endpoints
        sharers = [size if word == "star" else 1 for word, size in zip(words.split("-"), sizes, strict=True)]
        spec = changed(spec, network=Network(tuple(Link(n, n, hop="direct") for n in sharers)))
    found = round_cost(spec)
    assert found.seconds == seconds
    assert found.bytes_by_tier == tuple(0.125 * models for models in traffic)
    assert found.bytes == sum(found.bytes_by_tier)


def test_what_shares_a_server_is_what_works_at_the_same_time_below_it():
    """A region of 2 logical sites of 3 logical halls of 4 machines: those at work at the same time share its rate."""
    shared = Link(1.0, 1.0, sharing="per-server", hop="direct")
    network = Network((LINE, None, None, shared))

    def seconds(words):
        tree = Topology.parse(words).sized((5, 2, 3, 4))
        return round_cost(RoundSpec(tree, 4, network, Compute(0.5), 0.125)).seconds

    assert seconds("star-star-star-star") == 2 + 24 * 2 + 2
    assert seconds("star-star-ring-star") == 2 + 3 * (8 * 2 + 2)
    assert seconds("star-ring-ring-star") == 2 + 6 * (4 * 2 + 2)
    assert seconds("star-ring-star-ring") == 2 + 2 * (3 * 2 + 4 * 2 + 3 * 3)  # three rings hop at a third of the rate
    assert seconds("ring-star-star-star") == 2 + 4 + 5 * (24 * 2 + 2)


def test_the_formula_adds_up_tiers_and_the_slowest_of_each_pass():
    """Three tiers of stars, all links a second: 2 + p2 * 2 + sum over passes of 2 + the slowest of all clients."""
    tree = Topology.parse("star-star-star").sized((2, 3, 2), passes=(1, 2, 3))
    compute = Compute(1.0, Straggler("exponential", 0.7))
    spec = RoundSpec(tree, 1, Network((LINE,) * 3), compute, 0.125, "formula", seed=4)
    slowest = factors(compute.straggler, 4, 8, *shape(spec)).max(axis=(-3, -2, -1)).reshape(8, -1)
    np.testing.assert_allclose(draws(spec)[:8], 2 + 2 * 2 + (2 + slowest).sum(axis=1), rtol=1e-13)


# ---------------------------------------------------------------------------------------------------------
# Against the simulated schedule


@settings(derandomized, max_examples=50)
@given(trees())
@few_draws()
def test_schedules_are_simulated_in_every_draw(spec):
    drawn = draws(spec)
    times = spec.K * spec.compute.step_time * factors(spec.compute.straggler, 0, 2, *shape(spec))
    for found, one in zip(drawn, times, strict=False):
        assert found == pytest.approx(simulated(spec, one), rel=1e-8)  # rings that share a link amplify rounding


@pytest.mark.slow
@settings(derandomized, max_examples=150)
@given(trees())
def test_many_schedules_are_simulated_in_every_draw(spec):
    test_schedules_are_simulated_in_every_draw.hypothesis.inner_test(spec)


@settings(derandomized, max_examples=50)
@given(trees(link=shared_links, above=st.sampled_from([None, None, LINE, Link(2.0, 1.0, 0.5, "per-server")])))
def test_logical_tiers_that_share_a_server_are_simulated_in_every_draw(spec):
    test_schedules_are_simulated_in_every_draw.hypothesis.inner_test(spec)


@pytest.mark.slow
@settings(derandomized, max_examples=400)
@given(trees(link=shared_links, above=st.sampled_from([None, None, LINE, Link(2.0, 1.0, 0.5, "per-server")])))
def test_many_logical_tiers_that_share_a_server_are_simulated_in_every_draw(spec):
    test_schedules_are_simulated_in_every_draw.hypothesis.inner_test(spec)


@settings(derandomized, max_examples=80)
@given(trees(straggler=st.just(NONE)))
def test_the_closed_form_is_the_simulated_schedule(spec):
    times = np.full(shape(spec), spec.K * spec.compute.step_time)
    assert round_cost(spec).seconds == pytest.approx(simulated(spec, times), rel=1e-10)


@settings(derandomized, max_examples=60)
@given(trees(), st.sampled_from(METHODS))
@few_draws()
def test_draws_that_do_not_vary_are_the_closed_form(spec, method):
    spec = changed(spec, method=method)
    exact = round_cost(changed(spec, compute=changed(spec.compute, straggler=NONE))).seconds
    with mock.patch.object(drawing, "factors", lambda rng, shape, straggler: np.ones(shape)):
        np.testing.assert_allclose(draws(spec), exact, rtol=1e-10)


@settings(derandomized, max_examples=60)
@given(trees(depths=(3, 4)))
@few_draws()
def test_the_formula_bounds_the_unshared_schedule_and_dilution_the_shared_one(spec):
    schedule, diluted = draws(spec), draws(changed(spec, method="diluted"))
    assert (schedule <= diluted[: schedule.size] * (1 + 1e-12)).all()
    alone = [None if link is None else dataclasses.replace(link, sharing="per-client") for link in spec.network.links]
    spec = changed(spec, network=Network(tuple(alone)))
    assert (draws(spec) <= draws(changed(spec, method="formula")) * (1 + 1e-12)).all()


# ---------------------------------------------------------------------------------------------------------
# Trees that are the same


@settings(derandomized, max_examples=80)
@given(trees(), st.sampled_from(METHODS), st.integers(0, 4), st.sampled_from(list(patterns())))
@few_draws()
def test_a_node_of_one_child_without_a_link_changes_nothing(spec, method, at, word):
    spec = changed(spec, method=method)
    tiers, lines = spec.topology.tiers, spec.network.links
    at = min(at, len(tiers))
    one = changed(
        spec,
        topology=Topology((*tiers[:at], Tier(word, 1), *tiers[at:])),
        network=Network((*lines[:at], None, *lines[at:])),
    )
    before, after = round_cost(spec), round_cost(one)
    drifts = any(level.drifts for level in levels(spec))
    assert after.seconds == pytest.approx(before.seconds, rel=1e-4 if drifts else 1e-12)
    assert (after.bytes, after.draws) == (before.bytes, before.draws)


@settings(derandomized, max_examples=60)
@given(trees(), st.sampled_from(METHODS), st.data())
@few_draws()
def test_a_tier_of_one_child_has_no_pattern(spec, method, data):
    tiers = list(spec.topology.tiers)
    at = data.draw(st.integers(0, len(tiers) - 1))
    found = []
    for word in patterns():
        tiers[at] = Tier(word, 1, passes=tiers[at].passes)
        found.append(draws(changed(spec, topology=Topology(tuple(tiers)), method=method)))
    few = min(map(len, found))  # where one is played event by event
    np.testing.assert_allclose(found[0][:few], found[1][:few], rtol=1e-9)


@settings(derandomized, max_examples=60)
@given(trees(depths=(1, 2, 3), straggler=st.just(NONE)), st.integers(1, 3), st.integers(1, 3))
def test_logical_stars_of_a_star_are_one_star(spec, outer, passes):
    tiers, lines = spec.topology.tiers, spec.network.links
    low = Tier("star", tiers[0].size)
    split = Topology((Tier("star", outer, passes=passes), low, *tiers[1:]))
    joined = Topology((Tier("star", outer * low.size, passes=passes), *tiers[1:]))
    left = round_cost(changed(spec, topology=split, network=Network((None, *lines))))
    right = round_cost(changed(spec, topology=joined))
    assert left.seconds == pytest.approx(right.seconds, rel=1e-12)
    assert left.bytes == right.bytes


@settings(derandomized, max_examples=60)
@given(trees(straggler=st.just(NONE)))
def test_drawn_children_cost_what_as_many_children_cost(spec):
    tiers = tuple(dataclasses.replace(tier, size=tier.size + 5, drawn=tier.size) for tier in spec.topology.tiers)
    assert dataclasses.replace(round_cost(changed(spec, topology=Topology(tiers)))) == round_cost(spec)


def test_deep_trees_of_the_largest_counts_stay_finite():
    link = Link(1e-3, 1e-3, 1e3, "per-server")
    for word in patterns():
        tree = Topology.parse(" ".join([word] * 8)).sized((10**12,) * 8, passes=(1, *(10**12,) * 7))
        found = round_cost(RoundSpec(tree, 10**12, Network((link,) * 8), Compute(1e6), 1e24))
        assert np.isfinite(found.seconds)
        assert np.isfinite(found.bytes)
        assert found.bytes_by_tier[0] == pytest.approx(2e12 * 1e24)


def test_too_many_compute_times_in_a_deep_tree_are_refused():
    tree = Topology.parse("star-star-star").sized((300, 300, 300))
    compute = Compute(1.0, Straggler("lognormal", 1.0))
    with pytest.raises(CostError, match="27000000 compute times of a round are too many"):
        draws(RoundSpec(tree, 1, Network((LINE,) * 3), compute, 1.0))
