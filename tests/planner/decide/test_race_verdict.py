"""Who is first in a race whose curves are given, and what is said of a rate that other seeds lose."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from planner.data.pilot import Interval
from planner.decide.race import _Board
from planner.report.answers.pilot import _shown, _verdicts
from validation.race import Lane, window_for

START = 1.0
NEXT = "Rounds differ in time: `recommend` (Next) ranks by it."


def board(rounds: int = 6, power: float = 1.0, **ends: list[float]) -> Any:
    """Of seeds that fall to these ends by a power of the rounds, by topology; the first chose the rates too."""
    lanes = {}
    for name, each in ends.items():
        curves = START + np.outer(np.array(each) - START, np.linspace(0, 1, rounds + 1) ** power)
        lanes[name.replace("_", "-")] = Lane(
            {0.8: {rounds: curves[0]}}, 0.8, curves={"loss": curves}, window=window_for(rounds)
        )
    trees = {name: SimpleNamespace(effective_steps=lambda K: 4) for name in lanes}
    course = SimpleNamespace(trees=trees, beside=(), start=START, alike=dict.fromkeys(trees, ()))
    raced = SimpleNamespace(lanes=lanes, rounds=rounds, seeds=(1, 2, 3, 4))
    return _Board(course, raced, SimpleNamespace(metric="loss", local_steps=2))  # type: ignore[arg-type]


def verdicts(found: Any) -> str:
    """What the page says of a race."""
    told = {"verdict": found.verdict(), "topologies": [found.runner(name) for name in found.curves]}
    pilot: Any = SimpleNamespace(rounds=6, metric="loss", start=START, targets=(), beside=(), **told)
    return " ".join(_verdicts(pilot))


def test_a_tree_that_some_seeds_lose_ties_with_nobody() -> None:
    """Its mean had an interval from below 0 to a thousand, in which every other lies."""
    found = board(star_star=[0.260, 0.262, 0.261, 0.263], ring_star=[300.0, 0.9, 0.1, 0.05], ring_ring=[0.052] * 4)
    assert (found.verdict().status, found.verdict().best) == ("best", ["ring-ring"])
    (said,) = found.unstable()
    assert said.startswith("Ring-Star ended above its start with 1 of 4 seeds at its best rate, 0.2: it is not stable.")


def test_trees_whose_seeds_all_gain_tie_as_before() -> None:
    found = board(star_star=[0.06, 0.05, 0.07, 0.06], ring_ring=[0.05, 0.06, 0.06, 0.05])
    assert (found.verdict().status, found.verdict().best) == ("toss-up", ["ring-ring", "star-star"])
    assert not list(found.unstable())


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 8])
def test_the_reference_takes_all_rounds_to_its_own_last_loss(rounds: int) -> None:
    """Two rounds were smoothed into one number, which it had after the first: half of the rounds that it took."""
    found = board(rounds, star_star=[0.4, 0.5], ring_ring=[0.2, 0.3])
    *_, last = found.targets()
    assert last.rounds["star-star"] == last.reference_rounds == rounds
    assert last.ratios["star-star"].value == 1
    assert rounds > 2 or last.value == pytest.approx(0.425)  # half of the first, half of both


def test_the_interval_of_a_ratio_has_the_seed_of_the_rates_and_is_no_narrower_than_those_on_record() -> None:
    """It was that of a mean over fresh seeds, about the ratio of another seed: one in three held the next pilot's."""

    def curve(end: float) -> np.ndarray:
        """By a geometric mean of three, all but the first and the last round."""
        logs = np.log([1 - r / 6 * (1 - end) for r in range(7)])
        return np.exp([*logs[:2], *((logs[1:-3] + logs[2:-2] + logs[3:-1]) / 3), (logs[4:].sum()) / 3, logs[-1]])

    def rounds(seeds: np.ndarray) -> float:
        """To where Star-Star ends, between two rounds by logarithms."""
        return float(np.interp(-np.log(0.5), -np.log(seeds), range(7)))

    *_, last = board(star_star=[0.5, 0.5], ring_ring=[0.3, 0.4], star_ring=[0.45, 0.45]).targets()
    mean = (curve(0.3) + (curve(0.3) + curve(0.4)) / 2) / 2  # half of the seed of the rates, half of the fresh ones
    off = np.log([rounds(curve(end)) / rounds(mean) for end in (0.3, 0.4, 0.3)])  # rates were chosen with the first
    half = 1.8856 * np.sqrt(off @ off / 2 * (1 + 1 / 3))  # Student's, 80 %, two degrees of freedom
    found = last.ratios["ring-ring"]
    assert found.value == pytest.approx(rounds(mean) / 6, rel=1e-6)
    assert np.log([found.low, found.high]) == pytest.approx(np.log(found.value) + np.array([-half, half]), abs=1e-5)
    alike = last.ratios["star-ring"]
    assert np.log(alike.high / alike.value) == pytest.approx(1.2816 * 0.083 * np.sqrt(1.5))  # docs/pilot.md
    assert last.ratios["star-star"].high == 1


@pytest.mark.parametrize(
    ("ends", "metric", "low", "high"),
    [
        # mean a + (b - a) / 4; 80 % of Student's distribution with two degrees of freedom make 2 / 3 of the difference
        ([0.1, 0.5], "loss", 0.0, 0.4667),
        ([0.4, 0.5], "loss", 0.3583, 0.4917),
        ([-0.1, 0.3], "loss", -0.2667, 0.2667),  # of a hook whose loss can be negative
        ([0.0, 0.2], "error", 0.8167, 1.0),
        ([0.9, 0.5], "error", 0.0, 0.4667),
    ],
)
def test_an_interval_ends_where_a_metric_does(ends: list[float], metric: str, low: float, high: float) -> None:
    found = board(2, star_star=ends)
    found.quantity, found.wanted.metric = metric, "accuracy" if metric == "error" else "loss"
    final = found._final("star-star")
    assert (final.low, final.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_the_rate_of_every_round_is_that_of_its_number() -> None:
    """Rounds were those of a rate that is good early, beside the one that is best at the end."""
    found = board(star_star=[0.4, 0.5])
    lane = found.raced.lanes["star-star"]
    lane.tried[1.6] = {2: np.array([1.0, 0.7, 0.6])}  # below 0.9 and 0.8 there, and not run further
    assert found.runner("star-star").rates == [0.2, 0.4, 0.4, 0.2, 0.2, 0.2, 0.2]  # raw: a round chains 4 steps


def test_a_lead_within_what_another_pilot_would_differ_by_is_a_toss_up() -> None:
    """Two pilots alike but for the seed called one of two rings first each, by a loss that four seeds told apart."""
    near = board(star_star=[0.9] * 4, ring_ring=[0.500, 0.501, 0.502, 0.500], ring_star=[0.520, 0.521, 0.522, 0.520])
    assert near._leads(near.curves["ring-ring"], near.curves["ring-star"])
    found = near.verdict()
    assert (found.status, found.best) == ("toss-up", ["ring-ring", "ring-star"])
    assert found.lead.value == pytest.approx(0.02) and found.lead.low > 0  # 0.5208 - 0.5008, told apart by the seeds
    assert found.ratio.low < 1 < found.ratio.value < 1.1
    said = "Ring-Ring leads Ring-Star by 0.02 [0.02, 0.02]; Ring-Star takes 1 [0.93, 1.2] times the rounds to where "
    said += "Ring-Ring ends."
    assert verdicts(near) == f"Toss-up by loss after 6 rounds: Ring-Ring or Ring-Star. {said} {NEXT}"
    far = board(star_star=[0.9] * 4, ring_ring=[0.500, 0.501, 0.502, 0.500], ring_star=[0.620, 0.621, 0.622, 0.620])
    assert (far.verdict().status, far.verdict().best) == ("best", ["ring-ring"])


def test_a_toss_up_has_the_order_and_the_lead_of_the_table() -> None:
    """Fresh seeds alone named Ring-Ring first, by 0.015, and the table had Star-Star 0.0425 before it."""
    found = board(star_star=[0.20, 0.25, 0.27, 0.24], ring_ring=[0.30, 0.20, 0.20, 0.20])
    told, ends = found.verdict(), {name: found.runner(name).final for name in found.curves}
    assert (told.status, told.best) == ("toss-up", ["star-star", "ring-ring"])
    assert told.lead.value == pytest.approx(0.0425) == ends["ring-ring"].value - ends["star-star"].value
    # seeds differ by 0.1, -0.05, -0.07, -0.04, and the first once more as it chose rates: Student's with 4 degrees
    assert told.lead.low == pytest.approx(0.0425 - 1.5332 * 0.08468 * 1.25**0.5 / 2, abs=1e-5)


def test_a_toss_up_says_why_where_its_intervals_exclude_a_tie_and_who_is_between() -> None:
    """Both excluded one, and nothing said why it was one; or the last tied, and one ahead of it did not."""
    found = board(power=0.05, star_star=[0.5040, 0.5042, 0.5041, 0.5043], ring_ring=[0.5] * 4)
    said = verdicts(found)
    assert found.verdict().lead.low > 0.0039 and found.verdict().ratio.low > 1
    assert f"The lead is under 1 % of the way from the start. {NEXT}" in said  # 0.004 of 0.5
    found = board(power=0.005, star_star=[0.54, 0.505, 0.505, 0.5005], ring_ring=[0.5] * 4)
    assert f"The lead may be chance on the seeds that chose no rate. {NEXT}" in verdicts(found)
    apart = board(star_star=[0.3] * 4, ring_ring=[0.42] * 4, ring_star=[0.44, 0.2, 0.36, 0.76])
    assert apart.verdict().best == ["star-star", "ring-star"]
    assert "Ahead of Ring-Star but told apart from Star-Star, as seeds differ less there: Ring-Ring." in verdicts(apart)


@pytest.mark.parametrize(
    ("number", "said"), [(-9.7e-6, "-0.0000097"), (123.4, "120"), (0.0, "0"), (-3e-17, "-3e-17"), (0.0102, "0.01")]
)
def test_differences_have_plain_digits(number: float, said: str) -> None:
    assert _shown(Interval(value=number), 2) == said


def test_rates_that_other_seeds_lose_count_in_no_round_and_are_named() -> None:
    found = board(star_star=[0.4, 0.5], ring_ring=[0.2, 0.3])
    lane = found.raced.lanes["ring-ring"]
    lane.tried[1.6] = {6: np.linspace(START, 0.01, 7)}  # better on the seed that rates were chosen with
    lost = found.envelope("ring-ring")[-1]
    lane.unstable = (1.6,)
    assert found.envelope("ring-ring")[-1] == pytest.approx(0.225)  # half of the first, half of both
    assert lost < 0.2
    assert set(found.runner("ring-ring").rates) == {0.2} and found.runner("ring-ring").good_rates == (0.2, 0.2)
    (said,) = found.unstable()
    assert (
        said == "Ring-Ring ended above its start with other seeds at rate 0.4, the best of one seed, so it ran at 0.2."
    )


def test_fresh_seeds_count_at_the_best_rate_for_a_round_beyond_the_first_two() -> None:
    """Their rate is that of the end: an early target had intervals as wide as the rates differ there."""

    def widths(*, quick: bool) -> dict[int, float]:
        found = board(8, star_star=[0.4, 0.4, 0.4, 0.4], ring_ring=[0.2, 0.2, 0.2, 0.2])
        early = np.array([1.0, 0.6, 0.5, 0.45, 0.4, 0.38, 0.36, 0.34, 0.32])  # better than the other rate up to round 6
        if quick:
            found.raced.lanes["ring-ring"].tried[1.6] = {8: early}
        ratios = {target.reference_rounds: target.ratios["ring-ring"] for target in found.targets()}
        return {n: float(np.log(ratio.high / ratio.value)) for n, ratio in ratios.items()}

    usual, moved = widths(quick=False), widths(quick=True)
    assert set(usual) == {1, 2, 4, 8}
    assert moved[4] == pytest.approx(usual[4]) == pytest.approx(usual[8])  # the least on record, as seeds are alike
    assert moved[1] > 1.5 * usual[1] and moved[2] > 1.5 * usual[2]  # where one seed says little of rates
