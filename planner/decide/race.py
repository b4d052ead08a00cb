"""What a race says: who is first and since when, rounds relative to the reference, and how sure its seeds make it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from planner.data import pilot as data
from planner.data.label_counts import LabelCounts
from planner.data.pilot import Pilot
from planner.data.race_curves import kept, never_rising, rounds_like, value_at
from planner.harness.pilot import Course, Racer, Tell, Wanted, on_proxy, student
from planner.io.parts import finite
from planner.io.version import version
from planner.io.wording import names, percent
from planner.predict.predictors.piloted import NORMAL, between

if TYPE_CHECKING:
    from planner.harness.pilot import Lane, Raced

Curves = NDArray[np.float64]
LEVEL = 0.8  # of intervals
NEAR = 1e-9  # relative; times that differ by less are one
EARLY = 2  # rounds of a target, up to which fresh seeds count as they ran: what one seed says of rates is noise there
TIE = 0.01  # of the way from the start to the leader: less is no lead
GOOD = 0.05  # of that way: rates that lose less are good ones


def pilot_of_counts(
    table: LabelCounts, proxy: str, wanted: Wanted, store: Path | None, tell: Tell, **how: Any
) -> Pilot:
    """Race on label counts laid on a data set that is at hand, labels matched by number.

    Labels that are whole numbers stand for themselves, others for 0, 1 ... in the order of the file.

    Raises:
        NoAnswerError: If the data set is not there, or nothing can be raced.
    """
    places = np.argsort(table.columns) if table.columns else np.arange(len(table.labels))
    names = [table.labels[j] for j in places]
    classes = [int(name) for name in names] if all(name.isdecimal() for name in names) else None
    counts = np.asarray(np.rint(table.counts[:, places]), dtype=np.int64)
    groups = [tuple(table.groups[g].split("/")) for g in table.group_of.tolist()]
    course, raced = on_proxy(proxy, counts, groups, classes, wanted, store, tell, **how)
    return judged(f"{Path(table.source).name} on {proxy}", course, raced, wanted, proxy=True)


def judged(name: str, course: Course, raced: Raced, wanted: Wanted, *, proxy: bool = False) -> Pilot:
    """Say what a race measured."""
    board, uneven = _Board(course, raced, wanted), next(iter(course.trees.values())).uneven
    return Pilot(
        software=data.Software(hfl_plan=version(), torch=version("torch")),
        problem=data.Problem.made_of(course, name=name[:200], proxy=proxy),
        fleet=data.Fleet(
            sizes=list(map(max, course.sizes)), drawn=list(course.drawn), passes=list(course.passes),
            local_steps=wanted.local_steps, batch=wanted.batch, order=wanted.order,
            children=[list(tier) for tier in course.sizes] if uneven else None,
            samples=None if course.counted is None else list(course.counted),
            slowdowns=next((list(racer.slowdowns) for racer, _ in course.beside if racer.slowdowns), None),
        ),
        metric=wanted.metric,
        rounds=board.rounds,
        smoothing=raced.lanes[board.reference].window,
        level=LEVEL,
        seeds=data.Seeds(asked=wanted.seed, tuning=list(raced.tuning), compared=list(raced.seeds)),
        start=board.shown(course.start),
        reference=board.reference,
        topologies=[board.runner(one) for one in course.trees],
        beside=tuple(board.beside(racer, chain) for racer, chain in course.beside),
        targets=board.targets(),
        verdict=board.verdict(),
        cut=list(map(data.Cut.made_of, raced.cut)),
        notes=[*course.notes, *_misplaced(course), *board.unstable()],
    )  # fmt: skip


class _Board:
    """Curves of a race, smaller is better, and what they say."""

    def __init__(self, course: Course, raced: Raced, wanted: Wanted) -> None:
        self.course, self.raced, self.wanted = course, raced, wanted
        self.quantity = "loss" if wanted.metric == "loss" else "error"
        self.reference = next(iter(course.trees))
        self.rounds = raced.rounds if raced.seeds else 0
        self.every: Mapping[str, Curves] = {
            name: lane.smoothed(lane.curves[self.quantity]) for name, lane in raced.lanes.items() if lane.curves
        }
        self.curves = {name: self.every[name] for name in course.trees if name in self.every}
        self.others = {one.id: self.every[one.id] for one, _ in course.beside if one.id in self.every}
        # of the numbers of the curves of servers that do not wait, in tasks of a region of slowdown 1
        self.times: Mapping[str, Curves] = {
            one.id: self._until(one.id) * max(one.slowdowns) for one, _ in course.beside if one.slowdowns
        }

    def _until(self, name: str) -> Curves:
        """Times of the numbers of a curve up to the last round, in rounds."""
        times = self.raced.lanes[name].times
        assert times is not None  # noqa: S101 - of servers that step by a clock alone
        return times[times <= self.rounds * (1 + NEAR)]

    def shown(self, value: float) -> float:
        """As the metric has it, which for accuracy is larger where it is better."""
        return 1 - value if self.wanted.metric == "accuracy" else value

    def runner(self, name: str) -> data.Runner:
        chain = self.course.trees[name].effective_steps(self.wanted.local_steps)
        return data.Runner(id=name, alike=list(self.course.alike[name]), **self._ran(name, chain))

    def beside(self, racer: Racer, chain: float) -> data.Beside:
        """A system that is no tree."""
        times = self.times[racer.id].tolist() if racer.slowdowns and self.rounds else []
        return data.Beside.made_of(
            racer, alike=[], options=dict(racer.options), times=times, **self._ran(racer.id, chain)
        )

    def _ran(self, name: str, chain: float) -> dict[str, Any]:
        lane = self.raced.lanes[name]
        raw, curves = lane.curves, self.every.get(name)
        return {
            "chain": chain,
            "rate": None if lane.rate is None else lane.rate / chain,
            "good_rates": self._good(lane, chain),
            "inside": lane.inside,
            "tried": [
                data.Tried(rate=rate / chain, rounds=rounds, value=finite(self.shown(lane.score(curve))))
                for rate, runs in sorted(lane.tried.items())
                for rounds, curve in sorted(runs.items())
            ],
            "loss": _listed(raw["loss"]) if raw else [],
            "accuracy": _listed(1 - raw["error"]) if "error" in raw else [],
            "envelope": [] if curves is None else [self.shown(value) for value in self.envelope(name).tolist()],
            "final": None if curves is None else self._final(name),
            "rates": [] if curves is None or name in self.times else (self._tuned(name)[2] / chain).tolist(),
        }

    def _final(self, name: str) -> data.Interval | None:
        """What it ends with; its spread is that of all seeds, the one that rates were chosen with among them."""
        ends = self.every[name][:, -1]
        if not np.isfinite(ends).all():
            return None
        mean, n = float(self._mean(name)[-1]), len(ends)
        if name in self.times:
            half = _half(ends) if n > 1 else math.inf
        else:
            half = _half_of_both(ends, self._tuned(name)[1][-1])
        if not math.isfinite(half):
            return data.Interval(value=self.shown(mean))
        least, most = 0.0 if ends.min() >= 0 else -math.inf, 1.0 if self.quantity == "error" else math.inf
        low, high = sorted((self.shown(max(mean - half, least)), self.shown(min(mean + half, most))))
        return data.Interval(value=self.shown(mean), low=low, high=high)

    def _good(self, lane: Lane, chain: float) -> tuple[float, float] | None:
        """The raw rates around the best that lose little of the way from the start, as far as they were run."""
        if lane.rate is None or not self.raced.rounds:
            return None
        found = {r: end for r, end in lane.scores(self.raced.rounds).items() if r not in lane.unstable}
        allowed = found[lane.rate] + GOOD * max(0.0, self.course.start - found[lane.rate])
        known = sorted(found)
        low = high = known.index(lane.rate)
        while low and found[known[low - 1]] <= allowed:
            low -= 1
        while high < len(known) - 1 and found[known[high + 1]] <= allowed:
            high += 1
        return known[low] / chain, known[high] / chain

    def envelope(self, name: str) -> Curves:
        """What it has after 0, 1 ... rounds, the best so far; of the reference no better than it ends."""
        found = self._mean(name)
        return kept(found) if name == self.reference else never_rising(found)

    def _mean(self, name: str) -> Curves:
        """What it has after 0, 1 ... rounds: half by the seed that rates were chosen with, and half by fresh ones.

        On these another rate than the best one counts by how much better it was on that seed. Of a server that does not
        wait, whose loss swings with whose update came last, it is how it does against the reference on fresh seeds.
        """
        own: Curves = self.every[name].mean(0)
        if name not in self.times:
            best, at_rate, _ = self._tuned(name)
            return (best + _moved(own, at_rate, best)) / 2
        if self.reference not in self.curves:
            return own
        usual, there = self._mean(self.reference), self.curves[self.reference].mean(0)
        to, of = (np.array([value_at(curve, r) for r in self._until(name).tolist()]) for curve in (usual, there))
        return _moved(own, of, to)

    def _as_tuned(self, name: str) -> Curves:
        """The curves of fresh seeds, each round by how much better the best rate for it was on the first seed."""
        if name in self.times:
            return self.every[name]
        best, at_rate, _ = self._tuned(name)
        return _moved(self.every[name], at_rate, best)

    def _tuned(self, name: str) -> tuple[Curves, Curves, Curves]:
        """On the seed that rates were chosen with the least over all rates, what the best has, and which had the least.

        The rates are effective ones; of equal ones it is the one that is best at the end.
        """
        lane = self.raced.lanes[name]
        assert lane.rate is not None  # noqa: S101 - without one it has no curves
        at_rate = lane.smoothed(lane.tried[lane.rate][self.rounds])
        best, rates = at_rate.copy(), np.full(len(at_rate), lane.rate)
        held = {rate: runs for rate, runs in lane.tried.items() if rate < min(lane.unstable, default=math.inf)}
        for rate, curve in ((rate, curve) for rate, runs in held.items() for curve in runs.values()):
            many = min(len(curve), len(best))
            with np.errstate(invalid="ignore"):
                own, there = lane.smoothed(curve)[:many], best[:many].copy()
                best[:many] = np.fmin(there, own)
            rates[:many][best[:many] != there] = rate
        return best, at_rate, rates

    def targets(self) -> list[data.Target]:
        """What the reference has after all of the rounds, a half, a quarter, and so on down to one."""
        if self.reference not in self.curves:
            return []
        of = self.envelope(self.reference)
        out = []
        for n in sorted({round(self.rounds / 2**k) for k in range(self.rounds.bit_length())} - {0}):
            if not of[n] < self.course.start:
                continue
            told: list[dict[str, Any]] = []
            by_rounds = {name: curves for name, curves in self.others.items() if name not in self.times}
            for among in (self.curves, by_rounds):
                rounds = {name: rounds_like(of, self.envelope(name), n) for name in among}
                told.append({name: finite(found) for name, found in rounds.items()})
                there = rounds_like(of, of, n)  # before them where it stands still, as with others
                told.append({name: self._with_seeds(name, found / there, n) for name, found in rounds.items()})
            value = self.shown(float(of[n]))
            named = dict(zip(("rounds", "ratios", "beside", "beside_ratios"), told, strict=True))
            clocks = {name: own for name, own in self.times.items() if name in self.others}
            then = {name: rounds_like(of, self.envelope(name), n, own) for name, own in clocks.items()}
            times = {name: self._with_seeds(name, found, n) for name, found in then.items()}
            out.append(data.Target(reference_rounds=n, value=value, times=times, **named))
        return out

    def _with_seeds(self, name: str, value: float, n: int, reference: str = "") -> data.Interval | None:
        """With an interval for one training with other noise and rates chosen with it.

        Single seeds tell it, the one that rates were chosen with beside the fresh ones; it is no narrower than ratios
        on record differ between seeds.
        """
        if not math.isfinite(value):
            return None
        reference = reference or self.reference
        if name == reference:
            return data.Interval(value=value, low=value, high=value)
        times = self.times.get(name)
        fresh = self._as_tuned if n > EARLY else self.every.__getitem__
        of = (*(self.curves[reference] if times is not None else fresh(reference)), self._tuned(reference)[0])
        own = (*fresh(name), self._tuned(name)[times is not None])
        each = []
        for usual, curve in zip(map(kept, of), map(never_rising, own), strict=True):
            per = 1.0 if times is not None else rounds_like(usual, usual, n) or math.nan  # without any gain
            each.append(rounds_like(usual, curve, n, times) / per)
        if not all(0 < ratio < math.inf for ratio in each):
            return data.Interval(value=value)
        off = np.log(each) - math.log(value)
        seeds = len(off) - 1
        half = student(LEVEL, seeds) * math.sqrt(float(off @ off) / seeds * (1 + 1 / len(off)))
        half = max(half, NORMAL * between(self.wanted.metric, seeds))
        return data.Interval(value=value, low=value * math.exp(-half), high=value * math.exp(half))

    # ------------------------------------------------------------ who is first

    def verdict(self) -> data.Verdict:
        """Who is first, and since which round."""
        raced, start = self.raced, self.course.start
        if not raced.seeds:
            return self._too_short()
        fine = {name: curves for name, curves in self.curves.items() if np.isfinite(curves).all()}
        if not fine:
            return data.Verdict(status="diverged", best=[])
        means = {name: curves.mean(0) for name, curves in fine.items()}
        order = sorted(means, key=lambda name: means[name][-1])
        first = order[0]
        if not means[first][-1] < start:
            lanes = [raced.lanes[name] for name in self.course.trees]
            tried = [curve for lane in lanes for runs in lane.tried.values() for curve in runs.values()]
            still = all(np.ptp(curve[np.isfinite(curve)]) == 0 for curve in (*tried, *fine.values()))
            still = still or (self.quantity == "error" and start == 0)  # nothing is left to be gained
            return data.Verdict(status="constant" if still else "no-progress", best=[])
        level = [
            name
            for name in order
            if name == first
            or not (self.lost(name) or (self._leads(fine[first], fine[name]) and self._sooner(first, name)))
        ]
        waiting = {name: own for name, own in self.others.items() if name not in self.times}  # after as many rounds
        beside = {name: own for name, own in waiting.items() if np.isfinite(own).all()}
        ahead = tuple(name for name, own in beside.items() if self._leads(own, fine[first]))
        if len(level) > 1:
            level.sort(key=lambda name: float(self._mean(name)[-1]))  # as the table has them
            lead, ratio = self._lead(*level[:2]), self._longer(*level[:2])
            return data.Verdict(status="toss-up", best=level, ahead=ahead, lead=lead, ratio=ratio)
        others = np.stack([means[name] for name in order[1:]]) if order[1:] else np.full((1, self.rounds + 1), math.inf)
        behind = np.flatnonzero(means[first][1:] >= others[:, 1:].min(0))
        since = int(behind[-1]) + 2 if len(behind) else 1
        return data.Verdict(status="best", best=[first], since=since, ahead=ahead)

    def lost(self, name: str) -> int:
        """With how many of the seeds that topologies are compared on it ends above the start, or is no number."""
        ends = self.curves[name][:, -1]
        return int(np.count_nonzero(~(ends <= self.course.start)))

    def unstable(self) -> Iterator[str]:
        """Name the trees whose best rate does not hold for other seeds than it was chosen on."""
        for name, curves in self.curves.items():
            seeds, lane = self.lost(name), self.raced.lanes[name]
            chain = self.course.trees[name].effective_steps(self.wanted.local_steps)
            if lane.unstable:
                yield (
                    f"{names([name])} ended above its start with other seeds at rate {max(lane.unstable) / chain:.3g}, "
                    f"the best of one seed, so it ran at {(lane.rate or 0) / chain:.3g}."
                )
            if 0 < seeds < len(curves) and lane.rate is not None:
                yield (
                    f"{names([name])} ended above its start with {seeds} of {len(curves)} seeds at its best rate, "
                    f"{lane.rate / chain:.3g}: it is not stable. Use a smaller one, or race with smaller --rates."
                )

    def _leads(self, first: Curves, other: Curves) -> bool:
        """Whether it is ahead by more than a trifle, with all that seeds leave open."""
        ahead = other[:, -1] - first[:, -1]
        way = self.course.start - float(first[:, -1].mean())
        mean = float(ahead.mean())
        return mean > TIE * way and (len(ahead) < 2 or mean > _half(ahead))  # one seed leaves nothing open

    def _lead(self, first: str, name: str) -> data.Interval:
        """How much more another tree ends with, over all seeds as ends are."""
        value = float(self._mean(name)[-1] - self._mean(first)[-1])
        fresh = self.curves[name][:, -1] - self.curves[first][:, -1]
        half = _half_of_both(fresh, self._tuned(name)[1][-1] - self._tuned(first)[1][-1])
        return data.Interval(value=value, low=value - half, high=value + half)

    def _sooner(self, first: str, name: str) -> bool:
        """Whether that ratio is above 1 with all of its interval, or the other never comes there."""
        found = self._longer(first, name)
        return found is None or found.low is None or found.low > 1

    def _longer(self, first: str, name: str) -> data.Interval | None:
        """How many times the rounds another tree needs to where the first ends, with what another pilot leaves open."""
        of, own = kept(self._mean(first)), never_rising(self._mean(name))
        ratio = rounds_like(of, own, self.rounds) / (rounds_like(of, of, self.rounds) or math.nan)
        return self._with_seeds(name, ratio, self.rounds, first)

    def _too_short(self) -> data.Verdict:
        best: dict[str, float] = {}
        if self.raced.rounds:
            scores = {name: self.raced.lanes[name].scores(self.raced.rounds) for name in self.course.trees}
            best = {name: min(found.values()) for name, found in scores.items() if found}
        leader = min(best, key=lambda name: best[name], default=None)
        alone = [leader] if leader is not None and math.isfinite(best[leader]) else []
        return data.Verdict(status="too-short", best=alone)


def _moved(own: Curves, of: Curves, to: Curves) -> Curves:
    """A curve as much above another one as it is above the first; infinite where neither is a number."""
    with np.errstate(invalid="ignore", divide="ignore"):  # seeds that diverged
        found = own * to / of if min(own.min(), to.min()) > 0 else own + to - of
    return np.where(np.isnan(found), math.inf, found)


def _half(values: Curves) -> float:
    """Half the interval of a mean, from the spread of at least two values."""
    return student(LEVEL, len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))


def _half_of_both(fresh: Curves, tuned: float) -> float:
    """Half the interval of a mean of one seed, which rates were chosen with, and of the mean of fresh ones."""
    n = len(fresh)
    return student(LEVEL, n) * float(np.std([*fresh, tuned], ddof=1)) * math.sqrt(1 + 1 / n) / 2


def _listed(curves: Curves) -> list[list[float | None]]:
    return [[finite(value) for value in curve] for curve in curves.tolist()]


def _misplaced(course: Course) -> list[str]:
    """Name the trees that lower another mean of the clients' losses than the one that is measured."""
    off = {name: tree.misplaced() for name, tree in course.trees.items() if tree.uneven}
    wrong = {name: share for name, share in off.items() if share}
    if not wrong:
        return []
    return [
        f"{names(list(wrong))}: a ring counts its children alike, and the clients do not count so: up to "
        f"{percent(max(wrong.values()))} of the weight is misplaced. That is in the curves."
    ]
