"""Every change of the answer along one input, with what vouches that none was missed.

The answer at a value of an input is the set of topologies within the resolution of the best, or nobody where the target
is not reached. Of four methods to follow an input, the first that applies is taken:

* ``solved``: the seconds of a round are affine in a rate's inverse, a latency, a step time and a size, between known
  bends, and rounds do not depend on these. With stragglers that share a link, and where devices stay away, they are
  convex in it, as means of the longest of such times, so that three points on a line show a line. Every crossing of two
  totals, and of one with the edge of another's ties, is the root of a linear equation; between two neighbouring roots
  nothing changes.
* ``counted``: every whole number of the range is looked at.
* ``enclosed``: where totals only rise, or only fall, their values at both ends of an interval enclose those inside. An
  interval is settled if the enclosures already decide who ties and who does not; else it is halved, down to `FINE`.
  What is not settled then is no wider than `Line.unseen`, so a change that lasts longer cannot hide.
* ``looked at``: where nothing is known of the totals, a grid, made finer where the nearest changes are. A change that
  comes and goes between two points is missed, and ``unseen`` is the distance of two points.

`nearest` is the same with little effort, for every answer of ``recommend``: roots near by, else a few values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hflbounds.evaluate.compare import SAME
from planner.cost.round import CostError
from planner.decide.parameters import (
    LARGEST_DRAWN,
    Input,
    Perturbed,
    as_run,
    is_drawn,
    is_quick,
    size_drawn,
    straight_line,
)
from planner.io.parts import Part, field
from planner.predict.question import Question
from planner.scenario.fields import CLOCKED, LARGEST_COUNT, Objective

Array = NDArray[np.float64]
Truths = NDArray[np.bool_]
Method = Literal["solved", "counted", "enclosed", "looked at"]

REACH = 1e3  # an input is followed from 1/REACH to REACH times its value,
REACH_OF_COUNTS = 1e2  # and a count less far,
COUNTED = 20_000  # over so many whole numbers at most
FINE = 1e-3  # relative; narrower intervals are not looked into,
START = 64  # intervals on either side to begin with
BUDGET = 2_500  # values of an input looked at, where a value costs microseconds,
BUDGET_DRAWN = 120  # and where compute times are drawn for it
NEAR = 20  # whole numbers near the present one that are all looked at, where each takes its time,
FLEETING = 1.05  # a factor within which a change is passed over where a pilot's curves take it back
FAR = 12  # and values over the whole range
GRID = 1_500  # points on either side where nothing encloses what is between them,
GRID_DRAWN = 24  # and where compute times are drawn, or who comes is worked out for each
NOBODY = frozenset({""})  # who comes first where the target is not reached
NEAR_ZERO = 1e-6  # of the scale: the first value looked at above 0


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard the nearest change is looked for."""

    sections: int = 16  # into which an interval with a change is cut
    drawn_sections: int = 2  # the same where compute times are drawn: a draw costs more than the steps it spares
    finest: float = 1e-6  # relative width at which that ends
    nobody: bool = True  # whether a target that is not reached counts as a change


THOROUGH, QUICK = Effort(), Effort(12, 12, 1e-5, nobody=False)
SCANNED = 64  # points on either side that are looked at quickly, as many as `along` begins with,
SCANNED_DEARLY = 16  # of counts, and where compute times are drawn or who comes is worked out for each,
SCANNED_SLOWLY = 5  # and of counts, where each takes milliseconds:
HALVES = 2  # then an interval with a change is cut into so many


class Stretch(Part):
    """A stretch of an input over which topologies stay best, until others take less, and then by the resolution."""

    low: float | int
    high: float | int
    topologies: tuple[str, ...] = field("empty where the target is not reached")


class Line(Part):
    """How one input was followed, and which topologies are best along it."""

    parameter: str
    now: float | int
    unit: str
    low: float | int = field("the range: from")
    high: float | int = field("the range: to")
    method: Method = field("how the range was followed")
    unseen: float = field("relative width of the widest interval in which a change could hide")
    note: str = field("why it was only looked at, where it was")
    stretches: tuple[Stretch, ...] = field("over the whole range, upwards")


@dataclass(frozen=True, slots=True)
class Change:
    """The nearest value at which a topology outside the first tie comes first."""

    at: float
    # the nearest value to it that was seen to be still without the change; ``at`` itself where it is solved
    before: float
    to: tuple[str, ...]  # the topologies that come first there and are not of the first tie, the first first
    # from where on none of the first tie is within the resolution; None if that comes nowhere in the range
    clear: float | None
    last: float | None = None  # up to where that is so, where a pilot's curves take it back


@dataclass(frozen=True)
class Walked:
    """What was found along one input."""

    input: Input
    ends: tuple[float, float]  # of the range
    below: Change | None  # below, above: the nearest changes
    above: Change | None
    line: Line


@dataclass(frozen=True)
class _Seen:
    """Totals at values of an input, upwards; and between any two neighbours, whether all is known."""

    at: Array
    totals: Array  # shape (topologies, values). Where a line was solved, those just above each value
    method: Method = "looked at"
    why: str = ""  # why it was only looked at
    open: Array | tuple[()] = ()  # relative widths of the intervals in which a change could hide


def along(
    each: Input, question: Question, objective: Objective, among: Sequence[str], first: Sequence[str], resolution: float
) -> Walked:
    """Follow one input over its whole range.

    ``first`` tie for the first place now; ``resolution`` is the relative difference below which topologies tie.
    """
    walk = _Walk(each, question, objective, tuple(among), frozenset(first), max(resolution, SAME))
    seen = walk.seen(*walk.range())
    below, above = (walk.change(seen, side) for side in (-1, 1))
    low, high = float(seen.at[0]), float(seen.at[-1])
    line = Line(
        parameter=each.name,
        now=each.number(each.value),
        unit=each.unit,
        low=each.number(low),
        high=each.number(high),
        method=seen.method,
        unseen=float(max(seen.open, default=0.0)),
        note=seen.why,
        stretches=walk.stages(seen),
    )
    return Walked(each, (low, high), below, above, line)


def nearest(
    each: Input, question: Question, objective: Objective, first: Sequence[str], resolution: float | None = None
) -> Iterator[tuple[Change, Method]]:
    """Look on either side, quickly, for the nearest change and how it was found; one that comes and goes is missed.

    What is found of a number among a few values is followed with `along` where a resolution is given, so that both say
    the same, and what a pilot's curves take back at once is passed over; not where compute times are drawn, or bounds
    are solved for anew in every interval, which takes seconds.
    """
    walk = _Walk(each, question, objective, tuple(question.topologies), frozenset(first), 0.0, QUICK)
    drawn = is_drawn(question)
    dear = drawn or question.partly_available or each.whole or question.predictor.guarantees
    solved = walk.solved(*walk.range()) if each.value and each.timed else None
    seen = walk.scanned() if solved is None else solved
    line = None
    for side in (-1, 1):
        found = walk.change(seen, side)
        if not found:
            continue
        method: Method = "looked at" if solved is None else "solved"
        if solved is None and resolution is not None and not dear:
            line = line or along(each, question, objective, walk.among, first, resolution)
            again = line.above if side > 0 else line.below
            if again and question.predictor.measured:  # curves cross again and again
                again = _lasting(again, line.line.stretches[::side], side, first)
                if again is None:
                    continue
                found = replace(found, last=last_of(line.line.stretches, again.at, side, again.to))
            if again and again.to:
                method = line.line.method
                found = found if abs(again.at - found.at) <= FINE * found.at else replace(again, last=found.last)
        yield found, method


def last_of(stretches: Sequence[Stretch], at: float, side: int, to: Sequence[str]) -> float | int | None:
    """The far end of a change at a value on one side, beyond which none of those that came first there is best.

    None where there is none. Where another overtakes, the first may tie for a while yet: what lasts begins beyond that.
    """
    last: float | int | None = None
    for one in stretches[::side]:
        end = (one.low, one.high)[::side][1]
        if (end - at) * side < 0:
            continue
        if {*one.topologies} & {*to} or not (one.topologies or to):
            last = end
        elif last is not None:
            return last
    return None


def _lasting(found: Change, stretches: Sequence[Stretch], side: int, first: Sequence[str]) -> Change | None:
    """The change on one side, or the next after which none of the first tie leads again at once; None without one."""
    starts, to = math.nan, found.to
    for one in stretches:
        near, far = (float(end) for end in (one.low, one.high)[::side])
        if (far - found.at) * side <= 0:
            continue
        if {*one.topologies} & {*first}:
            starts = math.nan
            continue
        if math.isnan(starts):
            starts, to = near, one.topologies
        if min(far, starts) * FLEETING <= max(far, starts):
            nearest = abs(starts - found.at) <= FINE * found.at
            return found if nearest else replace(found, at=starts, before=starts, to=to, clear=None)
    return None if math.isnan(starts) else replace(found, at=starts, before=starts, to=to, clear=None)


def last_true(so: Callable[[float], bool], each: Input, far: float, width: float, near: float | None = None) -> float:
    """The value of an input at which something ends that is so at ``near``, or now, and is not at ``far``.

    To a relative width, or the next whole number; from 0, or to it, no ratio gets small, and a little of the scale is
    as good as at once.
    """
    near = each.value if near is None else near
    least = 0.0 if near and far else NEAR_ZERO * each.scale
    while abs(far - near) > (1.0 if each.whole else max(width * max(near, far), least)):
        between = math.sqrt(near * far) if near and far else (near + far) / 2
        if each.whole:
            between = min(max(round(between), min(near, far) + 1), max(near, far) - 1)
        near, far = (between, far) if so(between) else (near, between)
    return far


def _distinct(values: Array) -> Array:
    """Each value once, in order; `numpy.unique` imports masked arrays, which take a fortieth of a first answer."""
    return np.array(sorted({*values.tolist()}))


def answers(totals: Array, resolution: float) -> Truths:
    """Which topologies tie for the first place: shape (topologies, values), all false where none has a finite total."""
    best = totals.min(axis=0)
    return np.asarray((totals <= best * (1 + resolution)) & np.isfinite(best))


@dataclass(frozen=True)
class _Walk:
    """One input, one question."""

    each: Input
    question: Question
    objective: Objective
    among: tuple[str, ...]
    first: frozenset[str]
    resolution: float
    effort: Effort = THOROUGH

    def seen(self, low: float, high: float) -> _Seen:
        """Follow the input by the first method that applies."""
        each = self.each
        drawn = self.objective in CLOCKED and is_drawn(self.question) and (each.timed or each.whole)
        if each.whole:
            return self.counted(low, high, drawn)
        if each.timed and (solved := self.solved(low, high)) is not None:
            return solved
        if not (why := self.unenclosed()):
            if (enclosed := self.enclosed(low, high, drawn)) is not None:
                return enclosed
            why = "the totals do not only rise or only fall"
        at = self.spread(low, high, GRID_DRAWN if drawn or self.question.partly_available else GRID)
        return replace(self.refined(at, self.totals(at)), why=why, open=_widths(at))

    def range(self) -> tuple[float, float]:
        """From where to where the input is followed."""
        now, each = self.each.value, self.each
        if not each.whole:
            reach = (now / REACH, now * REACH) if now else (0.0, each.scale * REACH)
            return max(each.least, reach[0]), min(each.most, reach[1])
        if now * REACH_OF_COUNTS <= COUNTED:
            return each.least, min(each.most, now * REACH_OF_COUNTS)
        low = max(each.least, now - COUNTED // 2)
        return low, min(each.most, low + COUNTED - 1)

    def totals(self, at: Array) -> Array:
        """Totals at values; ``inf`` where a round cannot be timed."""
        try:
            found = self.each.totals(self.question, self.objective, self.among, at)
        except CostError:
            if len(at) == 1:
                return np.full((len(self.among), 1), np.inf)
            return np.concatenate([self.totals(at[i : i + 1]) for i in range(len(at))], axis=1)
        return np.where(np.isfinite(found), found, np.inf)

    # ---------------------------------------------------------------- methods
    def solved(self, low: float, high: float) -> _Seen | None:
        """All roots of the differences of totals; None where totals are not affine in the power after all."""
        now, power = self.each.value, self.each.power
        if not power:
            return None
        ends = _distinct(np.array([low, *(b for b in self.each.bends if low < b < high), high]))
        at, totals = [low], []
        for left, right in itertools.pairwise(ends):
            three = np.array([left, left + 0.382 * (right - left), right])
            here = self.totals(three)
            finite: Truths = np.asarray(np.isfinite(here).all(axis=1))
            if not np.array_equal(finite, np.isfinite(here).any(axis=1)):
                return None
            fitted = straight_line(three**power, np.where(finite[:, None], here, 0.0))
            if fitted is None:
                return None
            base, slope = fitted
            roots = self.roots(base[finite], slope[finite])
            inside = _distinct(roots[(roots > 0) | (power > 0)] ** (1.0 / power))
            marks = np.concatenate([[left], inside[(inside > left) & (inside < right)], [right]])
            middles: Array = (marks[:-1] + marks[1:]) / 2
            between = base[:, None] + slope[:, None] * middles**power
            totals.append(np.where(finite[:, None], between, np.inf))
            at.extend(marks[1:])
        # The totals of the stretch above each mark; the last mark has those of the stretch below it.
        whole = np.concatenate([*totals, totals[-1][:, -1:]], axis=1)
        place = int(np.searchsorted(at, now, side="right"))
        marks = np.insert(np.array(at), place, now)
        return _Seen(marks, np.insert(whole, place, whole[:, max(place - 1, 0)], axis=1), "solved")

    def scanned(self) -> _Seen:
        """A few values on both sides, all at once, with those near the first at which another topology leads."""
        at = np.concatenate([self.few(-1), [self.each.value], self.few(1)])
        totals = self.totals(at)
        for side in (-1, 1):
            at, totals = self.narrowed(at, totals, self.overtaken, side)
        return _Seen(at, totals)

    def few(self, side: int) -> Array:
        """Values on one side at which a quick look is taken, upwards."""
        now, whole, ends = self.each.value, self.each.whole, self.range()
        dear = whole or self.question.partly_available or is_drawn(self.question)
        count = SCANNED_SLOWLY if whole and not is_quick(self.question) else SCANNED_DEARLY if dear else SCANNED
        reach = REACH_OF_COUNTS**side if whole else ends[side > 0] / (now or math.inf)
        at = now * reach ** (np.arange(1, count + 1) / count)
        if now == 0:
            at = self.each.scale * np.geomspace(1 / REACH, REACH, count) if side > 0 else np.zeros(0)
            at = at[at <= self.each.most]
        if whole:
            at = _distinct(np.clip(np.round(at), 1, LARGEST_COUNT))
            at = at[(at - now) * side > 0]
            if is_drawn(self.question):
                at = at[at / now * size_drawn(self.question) <= 10 * LARGEST_DRAWN]
        return np.sort(at)

    def roots(self, base: Array, slope: Array) -> Array:
        """Where one line meets another, or the edge of its ties."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = [
                (factor * base[j] - base[i]) / (slope[i] - factor * slope[j])
                for i in range(len(base))
                for j in range(len(base))
                for factor in {1.0, 1 + self.resolution}
                if i != j
            ]
        return np.array([x for x in found if np.isfinite(x) and x >= 0])

    def counted(self, low: float, high: float, drawn: bool) -> _Seen:
        """Every whole number; or all those near, and a few of those far, where each takes its time."""
        every = np.arange(round(low), round(high) + 1, dtype=np.float64)
        now = self.each.value
        if drawn:
            size = size_drawn(self.question) / now
            every = every[(every * size <= 10 * LARGEST_DRAWN) | (every <= now)]
        near = every[(every <= max(2 * now, NEAR)) & (np.abs(every - now) <= NEAR / 2 if now > NEAR else True)]
        few = np.round(np.geomspace(every[0], every[-1], FAR))
        at = _distinct(np.concatenate([near, few, [now]]))
        if len(at) == len(every) or (is_quick(self.question) and not drawn):
            return _Seen(every, self.totals(every), "counted")
        why = f"beyond every whole number from {near[0]:.0f} to {near[-1]:.0f}"
        return replace(self.beyond(self.refined(at, self.totals(at))), why=why, open=_widths(at)[np.diff(at) > 1])

    def beyond(self, seen: _Seen) -> _Seen:
        """Look at every whole number for a while beyond the nearest changes, where whole rounds may turn them back."""
        ends = [(found.at, side) for side in (-1, 1) if (found := self.change(seen, side))]
        more = {start + side * i for start, side in ends for i in range(1, NEAR + 1)} - {*seen.at.tolist()}
        new = np.array(sorted(value for value in more if seen.at[0] < value < seen.at[-1]))
        if not len(new):
            return seen
        at, totals = _merged([(seen.at, seen.totals), (new, self.totals(new))])
        return replace(seen, at=at, totals=totals)

    def unenclosed(self) -> str:
        """Why totals at both ends of an interval say nothing about those inside; empty where they do."""
        moved = self.each.apply(Perturbed(self.question), self.each.value).changes
        if not self.question.predictor.monotone_in(self.question, moved):
            return "the predictor need not rise or fall with it"
        if self.question.partly_available:
            return "what those who stay away cost is an approximation that need not rise or fall with it"
        return ""

    def enclosed(self, low: float, high: float, drawn: bool) -> _Seen | None:
        """Halve what the enclosures leave undecided; None where totals both rise and fall."""
        at = self.spread(low, high, START // 10 if drawn else START)
        totals = self.totals(at)
        settled = np.zeros(len(at) - 1, dtype=bool)
        new = np.arange(len(settled))  # intervals yet to be judged
        budget = BUDGET_DRAWN if drawn else BUDGET
        while True:
            settled[new] = self.settles(at, totals, new)
            wide = at[1:] > at[:-1] * (1 + FINE)
            split = np.flatnonzero(~settled & wide)
            if not len(split) or len(at) + len(split) > budget:
                break
            middles = _middle(at[split], at[split + 1])
            totals = np.insert(totals, split + 1, self.totals(middles), axis=1)
            at, settled = np.insert(at, split + 1, middles), np.insert(settled, split + 1, False)
            halves = split + np.arange(len(split))  # the first of each two
            new = np.sort(np.concatenate([halves, halves + 1]))
        if not self.each.coupled and not self.is_monotone(totals):
            return None
        return replace(self.refined(at, totals), method="enclosed", open=_widths(at)[~settled])

    def settles(self, at: Array, totals: Array, which: NDArray[np.intp]) -> Truths:
        """Whether the enclosures of some intervals decide who ties for the first place all along each."""
        if self.each.coupled:
            lower, upper = self.by_quantity(at[which], at[which + 1])
        else:
            ends = totals[:, which], totals[:, which + 1]
            lower, upper = np.minimum(*ends), np.maximum(*ends)
        decided = np.ones(len(which), dtype=bool)
        for i in range(len(self.among)):
            others = [j for j in range(len(self.among)) if j != i]
            if not others:
                continue
            inside = (upper[i] <= (1 + self.resolution) * lower[others].min(axis=0)) & np.isfinite(upper[i])
            outside = (lower[i] > (1 + self.resolution) * upper[others].min(axis=0)) | np.isposinf(lower[i])
            decided &= inside | outside
        return decided

    def by_quantity(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Totals below and above all those inside intervals, by what each quantity does to them alone.

        Bounds rise with sigma and the deviations. So do the rounds to a target, and one that follows from a bound rises
        too, which makes rounds fewer: the least are those of the easiest values at the highest target.
        """
        start, floating = Perturbed(self.question), self.question.target is None
        ends = [self.each.apply(start, x).changes for x in (low, high)]
        easy, hard = ({n: pick(ends[0][n], ends[1][n]) for n in ends[0]} for pick in (np.minimum, np.maximum))
        asked = {"lower": self.question, "upper": self.question}
        if floating:
            goals = {"lower": self.question.goal(**hard), "upper": self.question.goal(**easy)}
            asked = {which: replace(self.question, target=g, share=None, horizon=None) for which, g in goals.items()}
        found = []
        for which, values in (("lower", easy), ("upper", hard)):
            rounds = asked[which].rounds(**values)
            prices = np.array([[self.question.price(t, self.objective)] for t in self.among])
            found.append(as_run(np.stack([np.broadcast_to(rounds[t], low.shape) for t in self.among])) * prices)
        if floating:  # a target that the start meets counts as met only where it was given
            met = np.broadcast_to(goals["upper"] >= self.question.first({**self.question.values, **easy}), low.shape)
            found[1] = np.where(met, np.inf, found[1])
        return found[0], found[1]

    def is_monotone(self, totals: Array) -> bool:
        """Whether each total only rises or only falls, as far as it was seen."""
        with np.errstate(invalid="ignore"):
            steps = np.diff(np.where(np.isfinite(totals), totals, 1e300), axis=1)
        room = SAME * np.minimum(totals[:, 1:], 1e300)
        return all(bool(np.all(up >= -r) or np.all(up <= r)) for up, r in zip(steps, room, strict=True))

    def spread(self, low: float, high: float, intervals: int) -> Array:
        """Values on either side of the present one, evenly by their logarithms."""
        now = self.each.value
        if now == 0:
            return np.concatenate([[0.0], np.geomspace(self.each.scale * NEAR_ZERO, high, 2 * intervals)])
        below, above = np.geomspace(low, now, intervals + 1), np.geomspace(now, high, intervals + 1)
        return _distinct(np.concatenate([below[:-1], [now], above[1:]]))

    def refined(self, at: Array, totals: Array) -> _Seen:
        """Bring the nearest changes on both sides near by section."""
        for event in (self.overtaken, self.left_behind):
            for side in (-1, 1):
                at, totals = self.narrowed(at, totals, event, side)
        return _Seen(at, totals)

    def narrowed(self, at: Array, totals: Array, event: Callable[[Array], Truths], side: int) -> tuple[Array, Array]:
        """Cut up the first interval on one side at whose far end something is so, until it is narrow."""
        now = int(np.searchsorted(at, self.each.value))
        outward = np.arange(now, len(at)) if side > 0 else np.arange(now, -1, -1)
        there = np.flatnonzero(event(totals[:, outward]))
        if not len(there) or there[0] == 0:
            return at, totals
        inner, outer = float(at[outward[there[0] - 1]]), float(at[outward[there[0]]])
        found = [(at, totals)]
        while abs(outer - inner) > (1 if self.each.whole else self.effort.finest * min(inner, outer)):
            between = self.between(inner, outer)
            if not len(between):
                break
            found.append((between, self.totals(between)))
            so = event(found[-1][1])
            k = int(so.argmax()) if so.any() else len(between)
            inner, outer = ([inner, *between][k], [*between, outer][k])
        return _merged(found)

    def between(self, inner: float, outer: float) -> Array:
        """A few values between two, from the one to the other."""
        drawn = is_drawn(self.question) and (self.each.timed or self.each.whole)
        slow = self.each.whole and not is_quick(self.question)
        parts = HALVES if slow else self.effort.drawn_sections if drawn else self.effort.sections
        if self.each.whole:
            some = _distinct(np.round(np.linspace(inner, outer, parts + 1)))[1:-1]
            return some if inner < outer else some[::-1]
        if min(inner, outer) == 0:
            if max(inner, outer) <= NEAR_ZERO**2 * self.each.scale:
                return np.zeros(0)  # as good as at once
            return np.array([_middle(min(inner, outer), max(inner, outer))])
        return np.geomspace(inner, outer, parts + 1)[1:-1]

    # ---------------------------------------------------------------- what was seen
    def overtaken(self, totals: Array) -> Truths:
        """Where a topology outside the first tie comes first, or nobody reaches the target."""
        leads = np.array([t in self.first for t in self.among])
        best = totals[leads].min(axis=0, initial=np.inf)
        other = totals[~leads].min(axis=0, initial=np.inf)
        return np.asarray((other < best * (1 - SAME)) | (self.effort.nobody & np.isposinf(totals.min(axis=0))))

    def left_behind(self, totals: Array) -> Truths:
        """Where none of the first tie is within the resolution of the best."""
        leads = np.array([t in self.first for t in self.among])
        return np.asarray(~answers(totals, self.resolution)[leads].any(axis=0))

    def outward(self, seen: _Seen, side: int) -> tuple[Array, Array]:
        """Values from the present one outwards, and the totals from each on to the next."""
        now = int(np.searchsorted(seen.at, self.each.value))
        if side > 0:
            return seen.at[now:], seen.totals[:, now:]
        if seen.method == "solved":
            return seen.at[now:0:-1], seen.totals[:, now - 1 :: -1] if now else seen.totals[:, :0]
        return seen.at[now::-1], seen.totals[:, now::-1]

    def change(self, seen: _Seen, side: int) -> Change | None:
        """The nearest change on one side."""
        at, totals = self.outward(seen, side)
        there = np.flatnonzero(self.overtaken(totals))
        if not len(there):
            return None
        k = there[0]
        gone = np.flatnonzero(self.left_behind(totals))
        return Change(
            at=float(at[k]),
            before=float(at[k] if seen.method == "solved" else at[max(k - 1, 0)]),
            to=self.newcomers(totals[:, k]),
            clear=float(at[gone[0]]) if len(gone) else None,
        )

    def newcomers(self, totals: Array) -> tuple[str, ...]:
        """Those outside the first tie that tie for the first place here, the first first."""
        tied = answers(totals[:, None], self.resolution)[:, 0]
        order = np.argsort(totals, kind="stable")
        return tuple(self.among[i] for i in order if tied[i] and self.among[i] not in self.first)

    def stages(self, seen: _Seen) -> tuple[Stretch, ...]:
        """The fewest topologies that stay best, one after the other, seen from now."""
        below, above = (self.stretches(seen, side) for side in (-1, 1))
        (far_below, _, left), (_, far_above, right) = below[-1], above[0]
        if left & right:
            below[-1:], above = [(far_below, far_above, left & right)], above[1:]
        kept = [(low, high, keys) for low, high, keys in (*below, *above) if low < high or self.each.whole]
        now, step = self.each.value, float(self.each.whole)  # counts: an end belongs to the stretch farther out
        upwards, downwards = (math.ceil, math.floor) if self.each.name == "R" else (self.each.number,) * 2
        return tuple(
            Stretch(
                low=upwards(low + step * (k > 0 and low <= now)),
                high=downwards(high - step * (k < len(kept) - 1 and high > now)),
                topologies=tuple(t for t in self.among if t in keys),
            )
            for k, (low, high, keys) in enumerate(kept)
        )

    def stretches(self, seen: _Seen, side: int) -> list[tuple[float, float, frozenset[str]]]:
        """Ends upwards of stretches on one side, each as long as one topology or nobody stays among those that tie.

        Where others follow, one ends at the value from which on they take less.
        """
        at, totals = self.outward(seen, side)
        if not len(at):
            return [(self.each.value, self.each.value, self.first)]
        places: list[int] = []
        keys: list[frozenset[str]] = []
        for k, ties in enumerate(answers(totals, self.resolution).T):
            here = frozenset(itertools.compress(self.among, ties)) or NOBODY
            if keys and keys[-1] & here:
                keys[-1] &= here
            else:
                places.append(k)
                keys.append(here)
        least = [totals[[t in key for t in self.among]].min(axis=0, initial=np.inf) for key in keys]
        for i, (before, after) in enumerate(itertools.pairwise(least), 1):
            while places[i] - 1 > places[i - 1] and after[places[i] - 1] < before[places[i] - 1]:
                places[i] -= 1
        starts = [float(at[k]) for k in places]
        ends = [*starts[1:], float(seen.at[-1] if side > 0 else seen.at[0])]
        if side > 0:
            return list(zip(starts, ends, keys, strict=True))
        return list(zip(ends, starts, keys, strict=True))[::-1]


def _merged(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Values and their totals of several parts, upwards."""
    at, totals = np.concatenate([x for x, _ in parts]), np.concatenate([t for _, t in parts], axis=1)
    order = np.argsort(at)
    return at[order], totals[:, order]


def _widths(at: Array) -> Array:
    """Of the intervals, relative to their lower ends; 1 from 0."""
    return np.where(at[:-1] > 0, at[1:] / np.where(at[:-1] > 0, at[:-1], 1.0) - 1, 1.0)


def _middle(low: Any, high: Any) -> Any:
    """Halfway by the logarithm; from 0 a thousandth of the way."""
    return np.where(np.asarray(low) > 0, np.sqrt(low) * np.sqrt(high), np.asarray(high) / 1e3)[()]
