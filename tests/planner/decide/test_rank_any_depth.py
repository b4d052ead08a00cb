"""Trees of any depth, from a scenario to an answer."""

from __future__ import annotations

import math

import pytest

import planner
from hflbounds.topology import all_topologies
from planner.errors import ScenarioError

FAST = {"settings": {"plan.draws": 0}}


def test_three_tiers_rank_every_topology_of_their_depth() -> None:
    answer = planner.recommend(tiers="4/5/20", heterogeneity="0.5/1/2", **FAST)
    assert {row.topology for row in answer.ranking} == set(all_topologies(3))
    assert all(row.rounds_guaranteed is None for row in answer.ranking)
    assert any("no bound of the catalogue" in warning for warning in answer.warnings)
    reference = next(row for row in answer.ranking if row.topology == "star-star-star")
    assert reference.rounds == 1000  # the target is what it reaches in the default horizon
    assert "Bounds: none of the catalogue covers these trees" in str(answer)


def test_a_tier_of_one_child_is_as_if_it_were_not_there() -> None:
    """With one child a tier has no pattern: trees that differ only there are one algorithm."""
    answer = planner.recommend(tiers="4/1/5", heterogeneity="1/1/1", **FAST)
    rounds = {row.topology: row.rounds for row in answer.ranking}
    for topology in all_topologies(3):
        top, _, low = topology.split("-")
        assert rounds[topology] == rounds[f"{top}-star-{low}"] == rounds[f"{top}-ring-{low}"]


def test_one_topology_may_be_named() -> None:
    answer = planner.recommend(tiers="ring:2/star:3/ring:4", heterogeneity="both", **FAST)
    assert [row.topology for row in answer.ranking] == ["ring-star-ring"]


def test_what_is_left_out_of_deep_trees_is_counted() -> None:
    answer = planner.recommend(tiers="2/2/2/2/2/2/2", heterogeneity="both", **FAST)
    assert len(answer.ranking) == 64
    assert any("Of 128 topologies of 7 tiers 64 are ranked" in warning for warning in answer.warnings)


def test_draws_of_three_tiers_move_every_deviation() -> None:
    answer = planner.recommend(tiers="3/4/5", heterogeneity="0.5:2/1/0.5:2", settings={"plan.draws": 256})
    assert answer.uncertainty is not None
    assert {"delta1", "delta3"} <= {drawn.name for drawn in answer.uncertainty.inputs.drawn}
    assert answer.uncertainty.constants.of == 0
    assert math.isclose(sum(s.value for s in answer.uncertainty.inputs.p_best.values()), 1, abs_tol=1e-9)


def test_bounds_of_three_tiers_are_refused_with_the_way_out() -> None:
    with pytest.raises(ScenarioError, match="this tree has 3"):
        planner.recommend(tiers="4/5/20", predictor="bound")
