"""Trees of any depth, from a scenario to an answer."""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path

import pytest

import planner
from hflbounds.exact import exact_bound
from hflbounds.topology import Topology, all_topologies
from planner.decide.rank import recommend
from planner.decide.recommendation import Recommendation
from planner.decide.steps_and_rates import Wanted, tuned
from planner.errors import ScenarioError
from planner.scenario.fields import ROUNDS
from planner.scenario.resolve import load

# What would change an answer is looked at in no test here.
pytestmark = pytest.mark.usefixtures("unflipped", "few_draws")
FAST = {"settings": {"plan.draws": 0}}


def test_three_tiers_rank_every_topology_of_their_depth() -> None:
    answer = planner.recommend(tiers="4/5/20", heterogeneity="0.5/1/2", **FAST)
    assert {row.id for row in answer.ranking} == set(all_topologies(3))
    reference = next(row for row in answer.ranking if row.id == "star-star-star")
    assert reference.rounds == ROUNDS  # the target is what it reaches in the default horizon


def test_rounds_of_three_tiers_are_guaranteed_by_the_theorem_for_trees() -> None:
    answer = planner.recommend(tiers="4/5/20", heterogeneity="0.5/1/2", target=0.05, metric="gradient", **FAST)
    told = {symbol: answer.scenario[symbol].value for symbol in ("K", "L", "A", "sigma")}
    for row in answer.ranking:
        tree = all_topologies(3)[row.id].sized((4, 5, 20))

        def guaranteed(rounds: float, tree: Topology = tree) -> float:
            return float(exact_bound(tree, **told, R=rounds, deltas=(0.5, 1, 2)))

        assert row.rounds_guaranteed is not None
        assert guaranteed(row.rounds_guaranteed) <= 0.05 * (1 + 1e-6)
        assert guaranteed(row.rounds_guaranteed - 1) > 0.05 * (1 - 1e-6)


def test_a_tier_of_one_child_is_as_if_it_were_not_there() -> None:
    """With one child a tier has no pattern: trees that differ only there are one algorithm."""
    answer = planner.recommend(tiers="4/1/5", heterogeneity="1/1/1", **FAST)
    rounds = {row.id: row.rounds for row in answer.ranking}
    for topology in all_topologies(3):
        top, _, low = topology.split("-")
        assert rounds[topology] == rounds[f"{top}-star-{low}"] == rounds[f"{top}-ring-{low}"]


def test_one_topology_may_be_named() -> None:
    answer = planner.recommend(tiers="ring:2/star:3/ring:4", heterogeneity="both", **FAST)
    assert [row.id for row in answer.ranking] == ["ring-star-ring"]
    said = " ".join(one.text for one in answer.warnings)  # it has no lead over another
    assert "lead" not in said and f"were predicted within a factor {factor_of_three_tiers():.2g}." in said


@pytest.mark.slow
def test_what_is_left_out_of_deep_trees_is_counted() -> None:
    answer = planner.recommend(tiers="2/2/2/2/2/2/2", heterogeneity="both", **FAST)
    assert len(answer.ranking) == 64
    assert any("Of 128 topologies of 7 tiers 64 are ranked" in one.text for one in answer.warnings)


def test_draws_of_three_tiers_move_every_deviation() -> None:
    answer = planner.recommend(tiers="3/4/5", heterogeneity="0.5:2/1/0.5:2", settings={"plan.draws": 256})
    assert answer.recommend.uncertainty is not None
    assert {"delta1", "delta3"} <= {drawn.name for drawn in answer.recommend.uncertainty.inputs.drawn}
    assert answer.recommend.uncertainty.constants.of == 0
    assert math.isclose(sum(s.value for s in answer.recommend.uncertainty.inputs.p_best.values()), 1, abs_tol=1e-9)


def test_bounds_of_two_tiers_are_refused_with_the_way_out() -> None:
    answer = planner.recommend(tiers="4/5/20", predictor="bound", **FAST)
    assert all(row.rounds == row.rounds_guaranteed for row in answer.ranking)
    with pytest.raises(ScenarioError, match=r"is of two tiers, and this tree has 3\. Use hflbounds\.exact"):
        planner.recommend(tiers="4/5/20", settings={"plan.bounds": "zhou2026.thm1"})


EXAMPLE = Path(__file__).parents[3] / "examples" / "regions.toml"


@pytest.fixture(scope="module")
def regions() -> Recommendation:
    """The whole answer: fixtures of a file come before what its tests leave out."""
    return recommend(load(EXAMPLE))


def test_the_example_says_nothing_of_two_tiers(regions: Recommendation) -> None:
    said = str(regions)
    ratio = regions.row("fedavg").time_seconds / regions.row("star-star-star").time_seconds
    assert f"{ratio:.2g}" == "0.68"  # as README shows
    advice = (
        "Without servers in between FedAvg takes 0.68x the time if clients' links reach the top, 1.8x over "
        "servers' links."
    )
    assert advice in " ".join(said.split())
    for word in ("two tiers", "group server", "bounds ,"):
        assert word not in said
    assert [row.id for row in regions.rows if row.baseline] == ["fedavg", "sfl"]
    assert regions.row("fedavg").ratio < 1 < regions.row("sfl").ratio
    assert {row.bound_id for row in regions.ranking} == {None}  # none is on a loss


DATA = EXAMPLE.parents[1] / "planner" / "data"


def factor_of_three_tiers() -> float:
    """Within which nine of ten measured ratios of two topologies were predicted, for whoever was told least."""
    with (DATA / "three_tiers_record.csv").open() as file:
        return max(float(row["factor"]) for row in csv.DictReader(file) if row["record"] == "loss_images")


def factor_on_record() -> float:
    """The same of two tiers, from the file of the record."""
    with (DATA / "record_loss.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name.startswith("error_spectrum_")]
    off = sorted(abs(float(r[a]) - float(r[b])) for r in rows for a, b in itertools.combinations(names, 2))
    return math.exp(off[math.ceil(0.9 * len(off)) - 1])


def within(answer: Recommendation, factor: float) -> set[str]:
    """The topologies that take less than so many times the least time."""
    least = min(row.time_seconds for row in answer.ranking)
    return {row.id for row in answer.ranking if row.time_seconds < factor * least}


def test_a_lead_within_the_errors_of_three_tiers_names_no_winner(regions: Recommendation) -> None:
    factor = factor_of_three_tiers()
    level = within(regions, factor)
    assert 1 < len(level) < len(regions.ranking)
    assert (regions.verdict.status, set(regions.verdict.best)) == ("toss-up", level)
    assert f"A lead of less than {factor:.2g}x is a toss-up." in " ".join(str(regions).split())


@pytest.mark.parametrize(("fading", "told"), [(None, "profile"), (0.3, "fading")])
def test_evidence_is_of_those_who_knew_as_much_of_fading(fading: float | None, told: str) -> None:
    (one,) = planner.recommend(tiers="4/5/6", heterogeneity="1/1/1", fading=fading).evidence
    with (DATA / "three_tiers_record.csv").open() as file:
        (row,) = (r for r in csv.DictReader(file) if (r["record"], r["told"]) == ("loss_images", told))
    assert (one.right, one.of) == (int(row["right"]), int(row["rows"]))


def test_a_lead_within_the_errors_of_two_tiers_names_no_winner_of_four() -> None:
    """No run on record had four tiers."""
    answer = planner.recommend(tiers="3/4/5/2", objective="time", link_sharing="per-client", **FAST)
    factor = factor_on_record()
    assert (answer.verdict.status, set(answer.verdict.best)) == ("toss-up", within(answer, factor))
    assert within(answer, factor) > within(answer, factor_of_three_tiers())
    assert f"a lead of less than {factor:.2g}x is a toss-up" in " ".join(str(answer).split())


def test_a_lead_beyond_the_errors_of_two_tiers_names_one() -> None:
    answer = planner.recommend(tiers="9000/9000/9000", objective="time", link_sharing="per-client", **FAST)
    times = sorted(row.time_seconds for row in answer.ranking)
    assert times[1] > factor_on_record() * times[0]
    assert (answer.verdict.status, len(answer.verdict.best)) == ("best", 1)
    assert answer.verdict.confidence is None


def test_guarantees_need_no_record() -> None:
    answer = planner.recommend(
        tiers="4/3/5", predictor="bound", metric="gradient", target="10%", objective="rounds", **FAST
    )
    assert answer.verdict.status == "best"
    assert not any("toss-up" in one.text for one in answer.warnings)


def test_one_tier_is_compared_with_the_other_pattern_and_not_with_itself() -> None:
    answer = planner.recommend(tiers="star:6", heterogeneity="1", **FAST)
    assert [row.id for row in answer.rows] == ["star", "sfl"]


def test_tuning_the_example_says_whose_passes_are_chosen() -> None:
    said = tuned(load(EXAMPLE), Wanted(local_steps="5", group_rounds="1:2")).details["tried"]
    assert any(s.startswith("P3 are the passes of the lowest tier") for s in said)
    assert sum(s.startswith("Measured with two tiers") for s in said) == 2
    assert not any("bounds ," in s for s in said)


@pytest.mark.parametrize("target", [1.5, 1.8])
def test_a_lead_is_told_by_the_whole_rounds_that_are_printed(target: float) -> None:
    """2 rounds against 1 were 1.9x, and fractions of them over the 2.1x below which a lead is a toss-up."""
    answer = planner.recommend(tiers="4/5/20", heterogeneity="0.4/0.6/1.5", target=target, local_steps=4, **FAST)
    first, second = (row.time_seconds for row in answer.rows[:2])
    assert first is not None and second is not None
    assert (len(answer.recommended) > 1) == (second / first < 2.1)
    assert (target == 1.5) == (len(answer.recommended) > 1)
