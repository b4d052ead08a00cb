"""Races of curves that are known in closed form: which rate is chosen, on which seeds, and what a budget takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from validation.engine import Trace, ValidationError  # noqa: E402
from validation.experiment import Cell, part  # noqa: E402
from validation.race import Lane, Plan, race, rungs, smoothed  # noqa: E402

Loss = Callable[[str, float, int, int], float]


class Track:
    """Runs cells by a formula, and keeps them."""

    def __init__(self, loss: Loss, cost: float = 0.0, **more: Loss) -> None:
        self.loss, self.cost, self.cells = loss, cost, []  # type: ignore[var-annotated]
        self.measured = {"loss": loss, **more}

    def execute(self, cells: Sequence[Cell]) -> dict[Cell, Trace]:
        self.cells += cells
        out = {}
        for cell in cells:
            name = dict(cell.algorithm.options)["topology"]
            found = {
                of: torch.tensor(
                    [
                        [curve(str(name), rate, seed, r) for r in cell.at]
                        for rate, seed in zip(cell.rates, cell.seeds, strict=True)
                    ],
                    dtype=torch.float64,
                )
                for of, curve in self.measured.items()
            }
            out[cell] = Trace(cell.at, found, {})
        return out

    def seconds(self, cells: Sequence[Cell]) -> float:
        return sum(self.cost * len(cell.rates) * cell.rounds for cell in cells)


GRID = tuple(4.0**i for i in range(-3, 4))


def plan(**more: Any) -> Plan:
    names = more.pop("names", ("star/star", "ring/ring"))
    told: dict[str, Any] = {
        "problem": part("hook", path="", digest="0"),
        "trees": {name: (part("tree", topology=name, sizes="2/2"), 4) for name in names},
        "quantity": "loss",
        "guide": "loss",
        "rounds": 8,
        "tuning": (0,),
        "final": (1, 2),
        "rates": dict.fromkeys(names, GRID),
    }
    return Plan(**told | more)


def nested(best: float) -> Loss:
    """A curve for every rate, none of which cross: the slower the further a rate is from the best."""
    return lambda name, rate, seed, r: math.exp(-r / (1 + abs(math.log(rate / best))))


@pytest.mark.parametrize("rounds", [2, 8, 18, 40])
@pytest.mark.parametrize("best", [1e-6, 0.02, 0.3, 1.0, 2.5, 50.0, 1e5])
def test_halving_chooses_what_a_full_run_of_all_rates_would(best: float, rounds: int) -> None:
    track, asked = Track(nested(best)), plan(rounds=rounds)
    raced = race(asked, track.execute, track.seconds)
    for name, lane in raced.lanes.items():
        ends = {rate: track.loss(name, rate, 0, rounds) for rate in lane.tried}  # no curves cross, smoothed or not
        assert lane.rate == min(ends, key=lambda rate: ends[rate])
        assert lane.inside
        assert 0.5 * best <= (lane.rate or 0) <= 2 * best
        left, right = (r for r in sorted(lane.tried) if rounds in lane.tried[r] and r != lane.rate), lane.scores(rounds)
        assert any(rate < lane.rate for rate in left)  # type: ignore[operator]
        assert any(rate > lane.rate for rate in right)  # type: ignore[operator]


def test_halving_stops_bad_rates_early() -> None:
    track = Track(nested(1.0))
    raced = race(plan(rounds=32), track.execute, track.seconds)
    lane = raced.lanes["star/star"]
    run = [max(runs) for runs in lane.tried.values()]
    assert sum(most == 32 for most in run) < len(run) == 9  # the grid, and two rates closer to the best
    assert max(lane.tried[GRID[0]]) == 2


def test_rates_are_chosen_on_other_seeds_than_topologies_are_compared_on() -> None:
    track = Track(lambda name, rate, seed, r: math.exp(-r / (1 + abs(math.log(rate))) + seed))
    raced = race(plan(), track.execute, track.seconds)
    for name in ("star/star", "ring/ring"):
        *tuned, last = [c for c in track.cells if dict(c.algorithm.options)["topology"] == name]
        assert {seed for cell in tuned for seed in cell.seeds} == {0}
        assert last.seeds == (1, 2)
        assert set(last.rates) == {raced.lanes[name].rate}
    with pytest.raises(ValidationError, match="overlap"):
        plan(final=(0, 1))


def test_diverging_rates_are_left_and_all_of_them_is_said() -> None:
    track = Track(lambda name, rate, seed, r: math.inf if rate > 0.1 and r else math.exp(-rate * r))
    raced = race(plan(), track.execute, track.seconds)
    assert raced.lanes["star/star"].rate == pytest.approx(0.0625)
    track = Track(lambda name, rate, seed, r: math.inf if r else 1.0)
    raced = race(plan(), track.execute, track.seconds)
    assert [lane.rate for lane in raced.lanes.values()] == [None, None]
    assert min(raced.lanes["star/star"].tried) < 1e-6  # it looked for smaller ones


@pytest.mark.parametrize("rounds", [2, 8, 32])
def test_rates_are_not_dropped_by_an_accuracy_that_is_best_where_nothing_was_learned(rounds: int) -> None:
    """After two rounds a test error was below its start only at rates that moved nothing, and these were chosen."""

    def error(name: str, rate: float, seed: int, r: int) -> float:
        if rate < 0.1 or not r:
            return 0.88  # as at the start
        return 0.92 if r < 4 else 0.9 * nested(1.0)(name, rate, seed, r)

    track = Track(nested(1.0), error=error)
    raced = race(plan(rounds=rounds, quantity="error"), track.execute, track.seconds)
    assert {lane.rate for lane in raced.lanes.values()} == {1.0}
    assert raced.lanes["star/star"].curves["error"][:, -1].max() < (0.01 if rounds > 2 else 0.95)


def test_a_rate_that_other_seeds_lose_is_made_smaller() -> None:
    """A rate of one seed ended at 68,000 with another, was reported as the best, and planned with."""

    def loss(name: str, rate: float, seed: int, r: int) -> float:
        lost = seed == 2 and rate > {"star/star": 0.6, "ring/ring": 0.1}[name] and r > 3
        return 1e4 if lost else nested(1.0)(name, rate, seed, r)

    track = Track(loss)
    raced = race(plan(), track.execute, track.seconds)
    star, ring = raced.lanes.values()
    assert (star.unstable, star.rate) == ((1.0,), 0.5)
    assert (ring.unstable, ring.rate) == ((1.0, 0.5, 0.25), 0.0625)
    for lane in raced.lanes.values():
        assert lane.curves["loss"][:, -1].max() < 1
        assert lane.rate in lane.scores(8)  # of the seed of the rates too
    steady = race(plan(), Track(nested(1.0)).execute, track.seconds)
    assert {lane.unstable for lane in steady.lanes.values()} == {()}


def test_a_constant_metric_does_not_grow_a_grid() -> None:
    track = Track(lambda name, rate, seed, r: 1.0)
    raced = race(plan(), track.execute, track.seconds)
    assert set(GRID) <= set(raced.lanes["star/star"].tried) <= {*GRID, *(2 * rate for rate in GRID)}


@pytest.mark.parametrize(
    ("within", "rounds", "cuts"),
    [(1e9, 18, []), (220.0, 8, ["rounds"]), (60.0, 2, ["rounds"]), (5.0, 0, ["rounds", "race"])],
)
def test_a_budget_takes_rounds_first_and_says_so(within: float, rounds: int, cuts: list[str]) -> None:
    track = Track(nested(1.0), cost=1.0)
    raced = race(plan(rounds=18, within=within), track.execute, track.seconds)
    assert raced.rounds >= rounds
    assert raced.rounds < 18 or not cuts
    assert [cut.what for cut in raced.cut][: len(cuts)] == cuts
    assert bool(raced.seeds) is ("race" not in cuts)
    assert raced.seconds == track.seconds(track.cells) <= within
    assert [cut.done for cut in raced.cut if cut.what == "rounds"] == [raced.rounds] * ("rounds" in cuts)


@pytest.mark.parametrize(("rounds", "within", "run"), [(1, None, 1), (2, None, 2), (3, None, 3), (18, 60.0, 2)])
def test_a_rate_is_judged_by_its_last_round(rounds: int, within: float | None, run: int) -> None:
    track = Track(nested(1.0), cost=1.0)
    raced = race(plan(rounds=rounds, within=within), track.execute, track.seconds)
    lane = raced.lanes["star/star"]
    assert (raced.rounds, lane.scores(run)[1.0]) == (run, pytest.approx(track.loss("star/star", 1.0, 0, run)))


def test_a_curve_is_smoothed_over_neighbours_and_never_with_the_start() -> None:
    assert smoothed(np.array([9.0, 8, 4, 2, 8])).tolist() == pytest.approx([9, 8, 4, 4, 8])
    assert smoothed(np.array([9.0, 3, 6, 0, 1])).tolist() == pytest.approx([9, 3, 3, 7 / 3, 1])  # no logarithm
    steep = 8.0 ** -np.arange(6)  # it was below itself after the first round, and above after the last
    assert smoothed(steep).tolist() == pytest.approx(steep.tolist())
    assert smoothed(np.array([[9.0, 3]])).tolist() == [[9, 3]]
    assert rungs(8) == [2, 8]
    assert rungs(18) == [2, 5, 18]
    assert rungs(1) == [1]


def test_curves_by_time_are_smoothed_over_as_much_time_as_rounds() -> None:
    curve = np.array([9.0, 8, 4, 6, 2, 1, 3])
    at = np.array([0, 0.5, 1.0, 1.5, 2.5, 2.5, 4.0])
    # as far before as after, without the start: 0.5 to 1.5, 0.5 to 2.5, twice 1.5 to 3.5
    expected = [9, 8, (8 * 4 * 6) ** (1 / 3), (8 * 4 * 6 * 2) ** (1 / 5), (6 * 2) ** (1 / 3), (6 * 2) ** (1 / 3), 3]
    assert smoothed(curve, at).tolist() == pytest.approx(expected)
    assert Lane(times=at).score(curve[:4]) == 6
    assert smoothed(curve, np.array([0, 0.5, 1.0, 1.5, 2.0, 2.5, 4.0]), 1).tolist() == curve.tolist()
    whole = np.arange(7.0)
    assert smoothed(curve, whole).tolist() == smoothed(curve).tolist()


def test_a_server_that_steps_by_a_clock_runs_for_as_long_as_the_others() -> None:
    track = Track(nested(1.0))
    times = tuple(0.25 * k for k in range(1, 33))
    asked = plan(updates={"ring/ring": times})
    raced = race(asked, track.execute, track.seconds)
    lane = raced.lanes["ring/ring"]
    assert lane.curves["loss"].shape == (2, 33)
    assert raced.lanes["star/star"].curves["loss"].shape == (2, 9)
    assert {(len(curve), rounds) for runs in lane.tried.values() for rounds, curve in runs.items()} == {(9, 2), (33, 8)}
    with pytest.raises(ValidationError, match="never steps within one round"):
        plan(updates={"ring/ring": (1.5, 3.0)})
