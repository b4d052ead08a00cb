"""A race of topologies on one problem: rates by successive halving, then fresh noise at each topology's best.

Rates start on one grid of effective rates for all. Each rung runs those that are left for four times as many rounds and
keeps the better half; a grid grows while its best rate is at its end, and is refined around it at the last rung. Rungs
before the last go by a guide, the loss, as accuracy after a few rounds may be best where nothing was learned. The
topologies are then compared on seeds that no rate was chosen with. A budget of time takes rounds first, then seeds.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from validation.claims import Traces
from validation.engine import Problem, ValidationError
from validation.experiment import Cell, Part

Curve = NDArray[np.float64]
REST = 4  # from one rung to the next: rounds grow by so much
KEPT = 3  # rates, at least, that are left on every rung
BESIDE = 4  # rates that are run to the end beside those that are left: neighbours of the best, and between
WIDEST = 6  # times that a grid may grow
WINDOW = 3  # rounds that a curve is smoothed over
SMALLER = 3  # times that a rate is made smaller for fresh seeds
LITTLE = 0.01  # of what there is at the start
NEAR = 1e-9  # relative; times that differ by less are one


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What races.

    Attributes:
        problem: what is trained.
        trees: by id, the algorithm and how many local steps its round chains.
        quantity: what is to get small.
        guide: by what rates are dropped before the last rung.
        rounds: global rounds.
        tuning: seeds that rates are chosen with.
        final: other seeds, that topologies are compared on.
        rates: the first grid, effective, at least two.
        within: seconds that it may take; None for as long as it needs.
        workers: processes at work.
        updates: when the models of those that do not advance round by round change, in rounds, and up to all of them.

    Raises:
        ValidationError: if seeds overlap, or a number is out of range.
    """

    problem: Part
    trees: Mapping[str, tuple[Part, float]]
    quantity: str
    guide: str
    rounds: int
    tuning: tuple[int, ...]
    final: tuple[int, ...]
    rates: Mapping[str, tuple[float, ...]]
    within: float | None = None
    workers: int = 1
    updates: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if set(self.tuning) & set(self.final):
            raise ValidationError("tuning and final seeds overlap: choose on some, compare on others.")
        if self.rounds < 1 or not self.tuning or not self.final:
            raise ValidationError("a race needs at least 1 round, and a seed to tune and one to compare on.")
        if any(len(rates) < 2 or min(rates) <= 0 for rates in self.rates.values()):
            raise ValidationError("a grid needs at least 2 rates above 0.")
        if short := [name for name in self.updates if not self.steps(name, 1)]:
            raise ValidationError(f"{short[0]} never steps within one round.")

    def steps(self, name: str, rounds: int) -> int:
        """How often a model changes in so many rounds."""
        return bisect_right(self.updates[name], rounds * (1 + NEAR)) if name in self.updates else rounds


@dataclass
class Lane:
    """One topology of a race.

    Attributes:
        tried: by effective rate and rounds, the quantity after 0, 1 ... rounds, a mean over the tuning seeds.
        rate: the best effective rate; None where nothing was chosen.
        inside: whether it lies inside the rates that were tried as far.
        curves: by measured name, at that rate and on fresh seeds, of shape (seeds, rounds + 1); empty where not run.
        times: of the numbers of its curves, in rounds; None where they are after 0, 1 ... rounds.
        window: rounds that its curves are smoothed over.
        guided: as `tried`, of the guide.
        unstable: rates with which a fresh seed ended above its start, though the tuning seeds did not.
    """

    tried: dict[float, dict[int, Curve]] = field(default_factory=dict)
    rate: float | None = None
    inside: bool = False
    curves: Mapping[str, Curve] = field(default_factory=dict)
    times: Curve | None = None
    window: int = WINDOW
    guided: dict[float, dict[int, Curve]] = field(default_factory=dict)
    unstable: tuple[float, ...] = ()

    def smoothed(self, curve: Curve) -> Curve:
        """Smooth one of its curves, of shape (..., numbers)."""
        return smoothed(curve, self.times, self.window)

    def score(self, curve: Curve) -> float:
        """What one of its curves has at its end, smoothed."""
        return float(self.smoothed(curve)[-1])

    def scores(self, rounds: int, *, guide: bool = False) -> dict[float, float]:
        """By rate, what it has after so many rounds, or its guide, smoothed; only of rates that were run so far."""
        known = self.guided if guide else self.tried
        return {rate: self.score(runs[rounds]) for rate, runs in sorted(known.items()) if rounds in runs}

    def lost(self, rate: float) -> bool:
        """Whether runs at a rate have diverged, on any rung."""
        return any(not np.isfinite(curve).all() for curve in self.tried.get(rate, {}).values())

    def best(self, rounds: int, *, guide: bool = False) -> float | None:
        """The best rate at so many rounds, the middle one of those that tie; None where all have diverged.

        By the guide too where none is `LITTLE` of the way from the start, as chance then is what tells rates apart.
        """
        found = self.scores(rounds, guide=guide)
        least = min(found.values(), default=math.inf)
        start = max((runs[rounds][0] for runs in self.tried.values() if rounds in runs), default=math.inf)
        if not guide and least > start - LITTLE * abs(start):
            return self.best(rounds, guide=True)
        alike = [rate for rate, value in found.items() if value == least]
        return alike[len(alike) // 2] if math.isfinite(least) else None


@dataclass(frozen=True)
class Cut:
    """What a budget took.

    Attributes:
        what: of a race.
        wanted: how many were asked for.
        done: how many were run.
    """

    what: Literal["rounds", "seeds", "refinement", "race"]
    wanted: int
    done: int


@dataclass(frozen=True)
class Raced:
    """What came out.

    Attributes:
        lanes: by id.
        rounds: of the last rung that was run; 0 where there was none.
        tuning: seeds that rates were chosen with.
        seeds: that topologies were compared on.
        cut: what the budget took.
        seconds: that the cells took, by the clock and added up over processes.
    """

    lanes: Mapping[str, Lane]
    rounds: int
    tuning: tuple[int, ...]
    seeds: tuple[int, ...]
    cut: tuple[Cut, ...]
    seconds: float


def started(problem: Problem) -> dict[str, float]:
    """What a problem has before the first round."""
    with torch.no_grad():
        return {name: float(value[0]) for name, value in problem.measure(problem.start()).items()}


def window_for(rounds: int) -> int:
    """Rounds that curves of a race are smoothed over: 1 where more would make one number of all its rounds."""
    return WINDOW if rounds >= WINDOW else 1


def smoothed(curve: Curve, times: Curve | None = None, window: int = WINDOW) -> Curve:
    """Geometric means over a round and as many before it as after it; plain ones where some are not above 0.

    The start is part of none, and the first and the last round stay as they are: a curve that falls steeply would be
    below itself at the first, and above at the last. With ``times`` of the numbers, in rounds, it is over what lies as
    near in time.
    """
    out, half = np.array(curve, dtype=np.float64), window // 2
    last = curve.shape[-1] - 1
    at = np.arange(last + 1.0) if times is None else times[: last + 1]
    for r in range(1, last + 1):
        reach = min(half, at[r] - at[1], at[last] - at[r]) * (1 + NEAR)
        low, high = np.searchsorted(at, at[r] - reach), np.searchsorted(at, at[r] + reach, "right")
        near = curve[..., max(1, low) : high]
        if near.shape[-1] > 1:
            above = near.min(-1, keepdims=True) > 0
            geometric = np.exp(np.log(np.where(above, near, 1.0)).mean(-1))
            out[..., r] = np.where(above[..., 0], geometric, near.mean(-1))
    return out


def rungs(rounds: int) -> list[int]:
    """Rounds of every rung, the last first asked for."""
    found = [rounds]
    while math.ceil(found[0] / REST) >= 2:
        found.insert(0, math.ceil(found[0] / REST))
    return found


def race(
    plan: Plan,
    execute: Callable[[Sequence[Cell]], Traces],
    seconds: Callable[[Sequence[Cell]], float],
    tell: Callable[[str, str | None], object] = lambda what, leader: None,
) -> Raced:
    """Run a race.

    Args:
        plan: what races.
        execute: runs cells.
        seconds: what finished cells took by the clock, added up; decisions that the budget makes stand on this alone,
            so that a race that is taken up again makes the same ones.
        tell: told what is being done, and which id is in front.
    """
    return _Race(plan, execute, seconds, tell).run()


class _Race:
    def __init__(
        self,
        plan: Plan,
        execute: Callable[[Sequence[Cell]], Traces],
        seconds: Callable[[Sequence[Cell]], float],
        tell: Callable[[str, str | None], object],
    ) -> None:
        self.plan, self.execute, self.seconds, self.tell = plan, execute, seconds, tell
        when = {name: np.array((0.0, *times)) for name, times in plan.updates.items()}
        self.lanes = {name: Lane(times=when.get(name), window=window_for(plan.rounds)) for name in plan.trees}
        self.pace = dict.fromkeys(plan.trees, 0.0)  # seconds of a round of a run
        self.done: list[Cell] = []
        self.cut: list[Cut] = []
        self.rounds = 0

    def run(self) -> Raced:
        plan = self.plan
        self._probe()
        goal, rung = plan.rounds, self._first_rung()
        while rung:
            self._tune({name: self._left(name) for name in plan.trees}, rung, f"rates, {rung} rounds")
            self._grow(rung)
            self.rounds = rung
            goal = self._affordable(goal)
            for lane in self.lanes.values():
                lane.window = window_for(goal)
            if rung == goal:
                self._bracket(rung)
                self._refine(rung)
                break
            rung = min(each for each in rungs(goal) if each > rung)
        seeds = self._compare() if self.rounds else ()
        if self.rounds < plan.rounds or not seeds:
            self.cut.insert(0, Cut("rounds", plan.rounds, self.rounds if seeds else 0))
        if not seeds:
            self.cut.append(Cut("race", plan.rounds, 0))
        return Raced(self.lanes, self.rounds, plan.tuning, seeds, tuple(self.cut), self.seconds(self.done))

    # ------------------------------------------------------------ stages

    def _probe(self) -> None:
        """Where time is short, a round of every topology at the smallest rates, which says what a round takes."""
        if self.plan.within is None:
            return
        for count in (1, 2):  # what happens once, such as compiling, is in the first
            if self._spare() < 0.5 * self.plan.within or not self._fits(dict.fromkeys(self.plan.trees, count)):
                return
            some = {name: sorted(self.plan.rates[name])[:count] for name in self.plan.trees}
            self._cells(some, self.plan.tuning, 1, "what a round takes")

    def _first_rung(self) -> int:
        """Rounds of the first rung, fewer where time is short; 0 where not even one round fits."""
        rung = rungs(self.plan.rounds)[0]
        while rung and not self._fits({name: len(rates) * rung for name, rates in self.plan.rates.items()}, rung):
            rung -= 1
        return rung

    def _left(self, name: str) -> list[float]:
        """Rates for the next rung: the better half of those of the last one."""
        lane = self.lanes[name]
        if not self.rounds:
            return sorted(self.plan.rates[name])
        found = lane.scores(self.rounds, guide=True)
        ranked = sorted(found, key=lambda rate: found[rate])
        return sorted(rate for rate in ranked[: max(KEPT, math.ceil(len(ranked) / 2))] if math.isfinite(found[rate]))

    def _tune(self, rates: Mapping[str, Sequence[float]], rounds: int, what: str) -> None:
        wanted = {
            name: tuple(rate for rate in some if rounds not in self.lanes[name].tried.get(rate, {}))
            for name, some in rates.items()
        }
        found = self._cells({name: some for name, some in wanted.items() if some}, self.plan.tuning, rounds, what)
        for name, curves in found.items():
            lane = self.lanes[name]
            for of, kept in ((self.plan.quantity, lane.tried), (self.plan.guide, lane.guided)):
                runs = curves[of].reshape(len(wanted[name]), len(self.plan.tuning), -1).mean(1)
                for rate, curve in zip(wanted[name], runs, strict=True):
                    kept.setdefault(rate, {})[rounds] = curve

    def _grow(self, rounds: int) -> None:
        """Add rates beyond the best while it is at an end of all that was tried."""
        for _ in range(WIDEST):
            beyond = {name: self._beyond(name, rounds, 2, guide=True) for name in self.plan.trees}
            beyond = {name: rates for name, rates in beyond.items() if rates}
            if not beyond or not self._fits({name: len(rates) * rounds for name, rates in beyond.items()}, rounds):
                return
            self._tune(beyond, rounds, "rates beyond the grid")

    def _beyond(self, name: str, rounds: int, count: int, *, guide: bool = False) -> list[float]:
        """Rates past the end that the best is at; none where it is inside, or nothing changes with the rate."""
        lane = self.lanes[name]
        known, found = sorted(lane.tried), lane.scores(rounds, guide=guide)
        best = lane.best(rounds, guide=guide)
        if best is None or best == known[0]:
            if best is not None and len(set(found.values())) == 1:
                return []
            factor, at = known[0] / known[1], known[0]
        elif best == known[-1]:
            factor, at = known[-1] / known[-2], known[-1]
        else:
            return []
        return sorted(_near(at * factor ** (i + 1)) for i in range(count))

    def _bracket(self, rounds: int) -> None:
        """Run the neighbours of the best rate as far as it, and those beyond the end where it is there."""
        for _ in range(2 * WIDEST):
            wanted = {name: self._unsure(name, rounds) for name in self.plan.trees}
            wanted = {name: rates for name, rates in wanted.items() if rates}
            if not wanted or not self._fits({name: len(rates) * rounds for name, rates in wanted.items()}, rounds):
                break
            self._tune(wanted, rounds, "rates beside the best")
        for name, lane in self.lanes.items():
            lane.rate = lane.best(rounds)
            lane.inside = lane.rate is not None and not self._unsure(name, rounds)

    def _unsure(self, name: str, rounds: int) -> list[float]:
        """Neighbours of the best rate that were not run as far as it."""
        lane, known = self.lanes[name], sorted(self.lanes[name].tried)
        best = lane.best(rounds)
        if best is None:
            return []
        at = known.index(best)
        if at in (0, len(known) - 1):
            return self._beyond(name, rounds, 1)
        return [
            rate for rate in (known[at - 1], known[at + 1]) if rounds not in lane.tried[rate] and not lane.lost(rate)
        ]

    def _refine(self, rounds: int) -> None:
        """Try rates half way to the neighbours of the best."""
        wanted: dict[str, list[float]] = {}
        for name, lane in self.lanes.items():
            known = sorted(lane.tried)
            if lane.rate is None or not lane.inside or len(known) < 3:
                continue
            at = known.index(lane.rate)
            pairs = ((lane.rate, known[i]) for i in (at - 1, at + 1) if 0 <= i < len(known))
            wanted[name] = [_near(math.sqrt(a * b)) for a, b in pairs]
        if not wanted:
            return
        spare = {name: len(self.plan.final) * rounds for name in self.plan.trees}
        cost = {name: len(wanted.get(name, ())) * rounds + spare[name] for name in self.plan.trees}
        if not self._fits(cost):
            self.cut.append(Cut("refinement", 1, 0))
            return
        self._tune(wanted, rounds, "rates closer to the best")
        for name in wanted:
            self.lanes[name].rate = self.lanes[name].best(rounds)

    def _compare(self) -> tuple[int, ...]:
        """Every topology at its best rate, on fresh seeds."""
        plan, rounds = self.plan, self.rounds
        chosen = {name: (lane.rate,) for name, lane in self.lanes.items() if lane.rate is not None}
        if not chosen:
            return plan.final
        seeds = plan.final
        while seeds and not self._fits({name: len(seeds) * rounds for name in chosen}):
            seeds = seeds[:-1]
        if len(seeds) < len(plan.final):
            self.cut.append(Cut("seeds", len(plan.final), len(seeds)))
        if seeds:
            for name, curves in self._cells(chosen, seeds, rounds, "fresh noise").items():
                self.lanes[name].curves = curves
            self._steady(seeds, rounds)
        return seeds

    def _steady(self, seeds: Sequence[int], rounds: int) -> None:
        """Take the next smaller rate where a fresh seed ends above its start, as that of one seed may be too large."""
        for _ in range(SMALLER):
            wanted = {name: self._smaller(lane) for name, lane in self.lanes.items() if self._loses(lane, rounds)}
            if not wanted or not self._fits({name: (len(seeds) + 1) * rounds for name in wanted}):
                return
            self._tune({name: (rate,) for name, rate in wanted.items()}, rounds, "smaller rates")
            found = self._cells({name: (rate,) for name, rate in wanted.items()}, seeds, rounds, "fresh noise")
            for name, rate in wanted.items():
                lane = self.lanes[name]
                lane.unstable, lane.rate, lane.curves = (*lane.unstable, lane.rate or rate), rate, found[name]

    def _loses(self, lane: Lane, rounds: int) -> bool:
        """Whether a seed ends above its start at a rate with which the tuning seeds did not."""
        if lane.rate is None or not lane.curves:
            return False
        own, fresh = lane.tried[lane.rate][rounds], lane.curves[self.plan.quantity]
        return bool(own[-1] < own[0]) and not bool(np.all(fresh[:, -1] <= fresh[:, 0]))

    @staticmethod
    def _smaller(lane: Lane) -> float:
        assert lane.rate is not None  # noqa: S101 - of lanes that have one
        return max((rate for rate in lane.tried if rate < lane.rate), default=_near(lane.rate / 2))

    # ------------------------------------------------------------ cells and time

    def _cells(
        self, rates: Mapping[str, Sequence[float]], seeds: Sequence[int], rounds: int, what: str
    ) -> dict[str, dict[str, Curve]]:
        """Run every rate of every topology with every seed, rates outermost; curves have shape (runs, rounds + 1)."""
        self.tell(what, self._leader())
        cells = {
            name: Cell(
                self.plan.problem,
                self.plan.trees[name][0],
                tuple(rate for rate in some for _ in seeds),
                tuple(seed for _ in some for seed in seeds),
                self.plan.steps(name, rounds),
                tuple(range(self.plan.steps(name, rounds) + 1)),
            )
            for name, some in rates.items()
        }
        traces = self.execute(list(cells.values()))
        for name, cell in cells.items():
            self.done.append(cell)
            self.pace[name] = self.seconds([cell]) / (len(cell.rates) * rounds)
        return {
            name: {key: np.asarray(values.tolist(), dtype=np.float64) for key, values in traces[cell].values.items()}
            for name, cell in cells.items()
        }

    def _leader(self) -> str | None:
        """Who is in front at the last rung."""
        if not self.rounds:
            return None
        found = {name: min(lane.scores(self.rounds).values(), default=math.inf) for name, lane in self.lanes.items()}
        first = min(found, key=lambda name: found[name])
        return first if math.isfinite(found[first]) else None

    def _spare(self) -> float:
        if self.plan.within is None:
            return math.inf
        return self.plan.within - self.seconds(self.done) / self.plan.workers

    def _fits(self, runs: Mapping[str, float], kept: int = 0) -> bool:
        """Whether so many rounds of runs of each topology fit into what is left of the time, less some for them all."""
        needed = sum(self.pace[name] * many for name, many in runs.items()) + kept * sum(self.pace.values())
        return needed / self.plan.workers <= self._spare()

    def _affordable(self, goal: int) -> int:
        """The most rounds, up to a goal, to which the rest of a race should fit; those of this rung at least."""
        tuning, final = len(self.plan.tuning), len(self.plan.final)

        def needs(rounds: int) -> dict[str, float]:
            more = [rung for rung in rungs(rounds) if rung > self.rounds]
            found = {}
            for name in self.plan.trees:
                runs = float(sum(len(self._left(name)) * rung for rung in more))
                found[name] = tuning * (runs + BESIDE * rounds) + final * rounds
            return found

        while goal > self.rounds and not self._fits(needs(goal)):
            goal -= 1
        return goal


def _near(rate: float) -> float:
    """The same to nine digits, so that a rate reached by two ways is one rate."""
    return float(f"{rate:.9g}")
