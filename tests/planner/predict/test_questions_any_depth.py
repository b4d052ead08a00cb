"""Questions about trees of any depth: what they are about, and that what is known of two tiers alone is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hflbounds.exact import exact_bound
from hflbounds.topology import tier_symbols
from planner.errors import NoAnswerError, ScenarioError
from planner.predict.envelopes import constants_of
from planner.predict.evidence import orderings, predictor_record
from planner.predict.predictors import typical
from planner.predict.question import Question, ask, quantities
from planner.scenario.resolve import load


def asked(tree: str, **more: object) -> Question:
    options: dict[str, Any] = {
        "network.tiers": tree,
        "plan.metric": "gradient",
        "plan.predictor": "typical",
        **{key.replace("__", "."): value for key, value in more.items()},
    }
    return ask(load(options={key: (key, value) for key, value in options.items()}))


def test_two_tiers_have_the_letters_of_the_papers() -> None:
    assert quantities(2) == ("G", "M", "P", "K", "S1", "S2", "L", "A", "sigma", "zeta", "delta")
    assert quantities(3)[:6] == ("n1", "n2", "n3", "P2", "P3", "K")
    assert quantities(3)[-3:] == ("delta3", "delta2", "delta1")


@pytest.mark.parametrize(
    ("tree", "depth", "count"),
    [("star:7", 1, 1), ("4/5/3", 3, 8), ("2/3/2/2", 4, 16), ("ring:4/star:5/ring:20", 3, 1)],
)
def test_every_topology_of_a_depth_is_predicted_and_timed(tree: str, depth: int, count: int) -> None:
    question = asked(tree)
    assert (question.depth, len(question.topologies)) == (depth, count)
    assert question.symbols == tier_symbols(depth)
    assert question.bounds.keys() == question.topologies.keys()
    found = question.rounds()
    assert found[question.reference] == pytest.approx(question.horizon, rel=1e-6)  # whose reach is the target
    for topology, rounds in found.items():
        constants = {name: question.values[name] for name in constants_of(depth)}
        fleet = typical.Fleet(question.sized(topology), int(question.values["K"]), typical.FADE)
        assert float(rounds) == pytest.approx(float(fleet.rounds_to(question.goal(), constants)), rel=1e-12)
        best = question.best_bound(topology, 10)
        assert best is not None
        assert best.bound.id.startswith("hflbounds.exact.")
        cost = question.of_a_round(topology)
        assert cost.seconds > 0
        assert len(cost.bytes_by_tier) == depth


def test_arrays_of_a_deeper_trees_numbers_are_the_scalars_one_by_one() -> None:
    question = asked("3/4/2")
    sizes = {"n2": [2.0, 5.0], "S2": [2.0, 5.0], "delta2": [0.3, 2.0]}
    many = question.rounds(**{name: np.array(values) for name, values in sizes.items()})
    for i in range(2):
        one = question.rounds(**{name: values[i] for name, values in sizes.items()})
        for topology in question.topologies:
            assert float(many[topology][i]) == pytest.approx(float(one[topology]), rel=1e-9)


def test_a_tier_of_one_child_makes_topologies_equivalent() -> None:
    question = asked("3/1/2")
    assert question.equivalent_topologies("ring-star-star") == ["ring-star-star", "ring-ring-star"]
    rounds = question.rounds()
    for topology in question.topologies:
        for other in question.equivalent_topologies(topology):
            assert rounds[topology] == rounds[other]


def test_what_is_on_record_is_of_two_tiers() -> None:
    deep, flat = asked("4/5/3"), asked("4/5")
    assert predictor_record.of(deep) is None
    assert predictor_record.of(flat) is not None
    assert orderings.not_covered(flat) == []
    (said,) = orderings.not_covered(deep)
    assert "3 tiers" in said


@pytest.mark.parametrize(("metric", "factor"), [("loss", 2.14), ("accuracy", 2.24)])
@pytest.mark.parametrize(
    ("heterogeneity", "right"), [("inter", {"loss": (29, 36), "accuracy": (28, 36)}),
                                 ("0.1/5/0.5", {"loss": (39, 45), "accuracy": (35, 45)})],
)  # fmt: skip
def test_three_tiers_have_races_on_record_and_their_factor(
    metric: str, factor: float, heterogeneity: str, right: dict[str, tuple[int, int]]
) -> None:
    """As docs/real-data.md counts them; of four tiers, of one curvature and by gradient there are none."""
    told = {"plan__metric": metric, "plan__predictor": "spectrum", "problem__heterogeneity": heterogeneity}
    question = asked("4/5/3", **told)
    options = {key.replace("__", "."): value for key, value in {"network.tiers": "4/5/3", **told}.items()}
    scenario = load(options={key: (key, value) for key, value in options.items()})
    (found,) = orderings.records(question, scenario, None)
    assert (found.right, found.of) == right[metric] and not found.weak
    assert predictor_record.unproven_factor(question) == factor
    assert orderings.not_covered(question)[0].startswith(f"A lead of less than {factor:.2g}x is a toss-up.")
    (large,) = orderings.records(asked("4/5/400", **told), scenario, None)
    assert large.weak == "no measured run had 400 children in tier 3, 10 at most"
    del told["problem__heterogeneity"]
    for other in (asked("4/5/3/2", **told), asked("4/5/3", problem__curvature_scatter="0", **told), asked("4/5/3")):
        assert not predictor_record.of_depth(other)
        assert "No run on record had such trees" in orderings.not_covered(other)[0]


def test_the_guarantee_of_a_deeper_tree_is_that_of_the_theorem_for_it() -> None:
    """By the number for each tree, which is computed apart from the statements that the planner tunes."""
    question = asked("4/5/3", plan__predictor="bound")
    v, goal = question.values, float(question.goal())
    deltas = [v["delta1"], v["delta2"], v["delta3"]]
    found = question.rounds()
    assert len(found) == 8
    for topology, rounds in found.items():
        tree = question.sized(topology)
        for count, meets in ((rounds, True), (rounds - 1, False)):
            if count >= 1:
                best = exact_bound(tree, K=int(v["K"]), R=count, L=v["L"], A=v["A"], sigma=v["sigma"], deltas=deltas)
                assert (best <= goal * (1 + 1e-9)) is meets, topology


def test_bounds_and_simulations_of_deeper_trees_are_refused_with_the_way_out() -> None:
    with pytest.raises(ScenarioError, match=r"two tiers, and this tree has 3\. Use hflbounds\.exact"):
        asked("4/5/3", plan__bounds="hflbounds.sharp")
    assert asked("4/5/3", plan__bounds="hflbounds.exact").family == "hflbounds.exact"
    with pytest.raises(NoAnswerError, match=r"this one has 3\. Use --predictor typical"):
        asked("4/5/3", plan__predictor="surrogate").rounds()
