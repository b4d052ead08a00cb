"""Rounds by tables of coefficients: what is left is linear in a problem's constants, and least at the best rate.

On quadratics the mean squared gradient, or the loss, after so many rounds at one rate is a sum of ``L A``, ``sigma^2``
and the square of every deviation, each times a coefficient that the fleet decides. So many coefficients for each number
of rounds and each rate make a table for a fleet, and every question about its constants is a look at the lower envelope
of the table. Which coefficients these are is a matter of the predictor.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hflbounds.topology import Topology, tier_symbols
from planner.predict.predictors.base import Predictor

if TYPE_CHECKING:
    from planner.predict.question import Question

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.intp]
ROUNDS = 1.5 ** np.arange(87)  # 1 to 1.4e15; between them logarithms are interpolated
USUAL = 17  # where a search for rounds begins, with one local step in a round: 985
STEEP = 0.75  # the power of local steps in a round as which rounds fall, about
POINTED = 4  # steps of it that follow where rows point
FEW = 8  # constants of one row up to which each goes with a copy of it
SMALL = 32  # constants and rows that take no grouping
AT_ONCE = 256  # constants whose envelope is looked up at once: so small a product takes one thread, fewer cost overhead
TOGETHER = 8  # fleets asked at once: predictors keep the maps of a few more, half a megabyte each
FADED = 0.01  # what is left of the square of a deviation where heterogeneity fades


@dataclass(frozen=True)
class Fleet(ABC):
    """What decides how a round maps the model, apart from the learning rate; it keeps what it worked out."""

    topology: Topology  # with the numbers of its tiers; who is drawn runs in the order drawn
    K: int  # local steps of a client each time it takes part
    fade: float = 0.0  # how far, in logarithms, from heterogeneity that stays to heterogeneity that fades

    @property
    @abstractmethod
    def rates(self) -> Array:
        """Effective rates times L at which runs do not diverge."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, float]:
        """How many rates a table has, and the coefficient of ``L A`` at a rate of 0."""

    @abstractmethod
    def coefficients(self, rounds: float) -> Array:
        """Of ``L A`` and the squares of all other `constants`, for any number of rounds, at all `rates`."""

    @property
    def constants(self) -> tuple[str, ...]:
        """Symbols of the constants that the coefficients go with; see `constants_of`."""
        return constants_of(self.topology.depth)

    @cached_property
    def rows(self) -> dict[int, Array]:
        """What `row` has worked out."""
        return {}

    @cached_property
    def ended(self) -> list[float]:
        """The `Points.near` of the first search, where one was; it is where the next one begins."""
        return []

    def row(self, number: int) -> Array:
        """The `coefficients` after R rounds, R the so manieth of `ROUNDS`, at a rate of 0 and at those of the table.

        Where runs diverge that of ``L A`` is infinite.
        """
        if (known := self.rows.get(number)) is not None:
            return known
        rates, still = self.shape
        moving = self.coefficients(float(ROUNDS[number]))
        found = np.zeros((len(moving), 1 + rates))
        found[0, 0] = still
        found[0, 1 + moving.shape[1] :] = np.inf
        found[:, 1 : 1 + moving.shape[1]] = moving
        self.rows[number] = found
        return found

    def reached(self, rounds: Any, constants: Mapping[str, Any]) -> Array:
        """What is left at the best effective rate after ``rounds``, which broadcast with the constants."""
        units, wanted, shape = _units(self, constants, rounds)
        return Points([self], np.zeros(len(wanted), dtype=np.intp), units).reached(wanted).reshape(shape)

    def rounds_to(self, target: Any, constants: Mapping[str, Any]) -> Array:
        """Rounds, not rounded, until that is at most a target, which broadcasts; ``inf`` beyond `ROUNDS`."""
        units, goals, shape = _units(self, constants, target)
        return Points([self], np.zeros(len(goals), dtype=np.intp), units).rounds_to(goals).reshape(shape)

    def best_rate(self, rounds: float, constants: Mapping[str, float]) -> float:
        """The effective rate at which least is left, of those of the table.

        Of one round a mean over iterates has the start alone, which no rate moves; then it is the rate for two.
        """
        units, _, _ = _units(self, constants, rounds)
        return float(self.rates[int((units @ self.coefficients(max(rounds, 2.0))).argmin())] / constants["L"])


@cache
def constants_of(depth: int) -> tuple[str, ...]:
    """Symbols of the constants of a problem: L, A, sigma, and the deviation of every tier, from the lowest up."""
    return ("L", "A", "sigma", *(tier.deviation for tier in reversed(tier_symbols(depth))))


def _units(fleet: Fleet, constants: Mapping[str, Any], *others: Any) -> tuple[Array, Array, tuple[int, ...]]:
    """What the coefficients multiply, a row for each; another argument, shape (n,); and the shape of both."""
    told = [constants[name] for name in fleet.constants]
    L, A, *deviations, last = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (*told, *others)))
    units = np.stack((L * A, *(one**2 for one in deviations)), -1)
    return units.reshape(-1, units.shape[-1]), last.reshape(-1), last.shape


@dataclass(frozen=True)
class Points:
    """Constants at which envelopes are looked up."""

    fleets: Sequence[Fleet]  # those whose envelopes they are, with one number of tiers
    which: Counts  # the place of its fleet, for each; shape (n,)
    units: Array  # what the coefficients multiply, a row for each
    _known: dict[int, float] = field(default_factory=dict)  # heights of a single point, by row

    def some(self, places: npt.NDArray[np.bool_]) -> Points:
        """Those that are marked."""
        return Points(self.fleets, self.which[places], self.units[places])

    def heights(self, rows: Counts) -> Array:
        """The log of what is left at the best rate of some rows for each; shape (rows, n).

        Of a single point they are kept: who looks for rounds to several targets passes the same rows.
        """
        if len(self.units) > 1:
            return self._heights(rows)
        wanted = rows[:, 0].tolist()
        if new := [row for row in wanted if row not in self._known]:
            self._known.update(zip(new, self._heights(np.array(new)[:, None])[:, 0].tolist(), strict=True))
        return np.array([self._known[row] for row in wanted])[:, None]

    def _heights(self, rows: Counts) -> Array:
        faded = self.units * np.where(np.arange(self.units.shape[1]) < 2, 1.0, FADED)
        least = np.empty((2, *rows.shape))
        kinds = 2 if self.fade else 1  # where heterogeneity stays, what is left if it fades adds nothing
        numbered = self.which * len(ROUNDS) + rows
        groups = set(numbered.ravel().tolist())
        if rows.size <= max(SMALL, FEW * len(groups)):
            for some in (slice(i, i + AT_ONCE // FEW) for i in range(0, rows.shape[1], AT_ONCE // FEW)):
                here = numbered[:, some]
                each = [divmod(number, len(ROUNDS)) for number in here.ravel().tolist()]
                table = np.stack([self.fleets[fleet].row(number) for fleet, number in each])
                both = np.stack((self.units[some], faded[some]), 1)
                found = (both @ table.reshape(*here.shape, *table.shape[1:])).min(-1)
                least[..., some] = np.moveaxis(found, -1, 0)
        else:
            for group, one in itertools.product(groups, range(len(rows))):
                mine = np.flatnonzero(numbered[one] == group)
                found = self.fleets[group // len(ROUNDS)].row(group % len(ROUNDS))
                for places in (mine[i : i + AT_ONCE] for i in range(0, len(mine), AT_ONCE)):
                    for out, of in zip(least[:kinds], (self.units[places], faded[places]), strict=False):
                        out[one, places] = (_competing(found, of).T @ of.T).min(0)
        with np.errstate(divide="ignore", invalid="ignore"):  # without noise nothing may be left
            stays, *fades = np.log(least[:kinds])
            found = stays + self.fade * (fades[0] - stays) if fades else stays
        return np.asarray(np.where(np.isneginf(stays), stays, found))

    @property
    def fade(self) -> float:
        """How far heterogeneity fades, which is the same for all."""
        return self.fleets[0].fade

    def blocks(self) -> Iterator[tuple[npt.NDArray[np.bool_] | slice, Points]]:
        """Part the points into few fleets at a time, so that what these keep is there when it is asked for again."""
        if len(self.fleets) <= TOGETHER:
            yield slice(None), self
            return
        for start in range(0, len(self.fleets), TOGETHER):
            mine = (self.which >= start) & (self.which < start + TOGETHER)
            yield mine, Points(self.fleets[start : start + TOGETHER], self.which[mine] - start, self.units[mine])

    def reached(self, rounds: Array) -> Array:
        """What is left at the best rate after so many rounds; shape (n,)."""
        found = np.empty(len(rounds))
        for mine, block in self.blocks():
            found[mine] = block._reached(rounds[mine])
        return found

    def rounds_to(self, targets: Array, start: float = USUAL) -> Array:
        """Rounds, not rounded, until it is at most a target; ``inf`` beyond `ROUNDS`. For ``start`` see `near`."""
        found, starts = np.full(len(targets), np.inf), start - STEEP * self.steps[:, 0]
        for mine, block in self.blocks():
            found[mine] = block._rounds_to(targets[mine], _rows(starts[mine]))
            if len(self.fleets) > TOGETHER:
                starts = self._like(found)
        return found

    @cached_property
    def steps(self) -> Array:
        """Local steps in a round, one after the other, and K, both as the rows of as many rounds; shape (n, 2)."""
        each = [(fleet.topology.effective_steps(fleet.K), fleet.K) for fleet in self.fleets]
        return _places(np.array(each, float))[self.which]

    def near(self, rounds: Array) -> Iterator[float]:
        """Where others find their rounds if these are found here: the row for one local step in a round, about."""
        met = np.isfinite(rounds)
        if met.any():
            yield float(np.sort(_places(rounds[met]) + STEEP * self.steps[met, 0])[met.sum() // 2])

    def _like(self, found: Array) -> Array:
        """Where all find their rounds if some found these: at powers of both numbers of steps, as they differ there."""
        met = np.isfinite(found)
        if not met.any():
            return np.full(len(found), USUAL)
        steps, places = self.steps[met], _places(found[met]) + STEEP * self.steps[met, 0]
        powers = np.linalg.lstsq(steps - steps.mean(0), places - places.mean(), rcond=1e-6)[0]
        return np.asarray(places.mean() + (self.steps - steps.mean(0)) @ powers - STEEP * self.steps[:, 0])

    def _reached(self, rounds: Array) -> Array:
        place = np.clip(np.log(np.maximum(rounds, 1.0)) / np.log(ROUNDS[1]), 0, len(ROUNDS) - 1)
        left = np.minimum(place.astype(np.intp), len(ROUNDS) - 2)
        above, under = self.heights(np.stack((left, left + 1)))
        with np.errstate(invalid="ignore"):
            found = above + (place - left) * (under - above)
        return np.asarray(np.exp(np.where((place == left) | np.isneginf(above), above, found)))

    def _rounds_to(self, targets: Array, starts: Counts) -> Array:
        with np.errstate(divide="ignore"):
            goals = np.log(targets)
        # The envelope falls with the rounds, about as a power: go from a likely number of them to where the last two
        # rows point, not too far, and then bisect, to the first row that is below; interpolate its logarithm.
        last, count, step = len(ROUNDS) - 1, len(goals), 0
        first, ends = np.empty(count, dtype=np.intp), np.empty((2, count))  # the row, and the heights before and there
        low, high = np.zeros(count, dtype=np.intp), np.full(count, len(ROUNDS))  # where it can be
        above, under, guess = np.zeros(count), np.zeros(count), starts
        left, here, goal = np.arange(count), self, goals
        while len(left):
            before, after = here.heights(np.stack((guess - 1, guess)))
            sooner, later = (before <= goal) & (guess > low), ~(after <= goal) & (guess < high)
            high = np.where(sooner, guess - 1, np.where(later, high, guess))
            under = np.where(sooner, before, np.where(later, under, after))
            low = np.where(later, guess + 1, np.where(sooner, low, guess))
            above = np.where(later, after, np.where(sooner, above, before))
            if step < POINTED:
                with np.errstate(divide="ignore", invalid="ignore"):
                    ahead = np.ceil((after - goal) / (before - after))
                guess = guess + np.fmax(np.fmin(ahead, 4 << step), -4 << step).astype(np.intp)
            else:
                guess = (low + high) // 2
            guess = np.maximum(np.minimum(np.minimum(guess, high), last), np.maximum(low, 1))
            met = low >= high
            if met.any():
                first[left[met]], ends[0, left[met]], ends[1, left[met]] = high[met], above[met], under[met]
                kept = ~met
                left, here, goal, guess = left[kept], here.some(kept), goal[kept], guess[kept]
                low, high, above, under = low[kept], high[kept], above[kept], under[kept]
            step += 1
        above, under = ends
        with np.errstate(invalid="ignore"):
            share = np.clip((above - goals) / np.where(above > under, above - under, 1.0), 0.0, 1.0)
        found = ROUNDS[np.clip(first, 1, last) - 1] * ROUNDS[1] ** share
        return np.where(first > last, np.inf, np.where(first == 0, 1.0, found))


def _places(numbers: Array) -> Array:
    """Where numbers of rounds are among `ROUNDS`, which need not be whole."""
    return np.asarray(np.log(numbers) / np.log(ROUNDS[1]))


def _rows(places: Array) -> Counts:
    """The rows at or after these places, of those that have one before them."""
    return np.clip(np.ceil(places), 1, len(ROUNDS) - 1).astype(np.intp)


def _competing(found: Array, units: Array) -> Array:
    """The rates at which some of these units may have their least: those that one rate does not beat at all of them.

    A rate is beaten where its coefficients exceed those of the best rate for the mean of the units by more than any
    units between the least and the largest make up for.
    """
    low, high = units.min(0), units.max(0)
    best = int((units.mean(0) @ found).argmin())
    excess = found - found[:, best : best + 1]
    beaten = low @ np.maximum(excess, 0.0) + high @ np.minimum(excess, 0.0) > 0
    return found[:, ~beaten]


class EnvelopePredictor(Predictor):
    """A predictor whose rounds are read from a table for each fleet."""

    monotone = True

    @abstractmethod
    def _fleet(self, question: Question, topology: str, values: Mapping[str, Any]) -> Fleet:
        """Who takes part where the values of a question have these counts, with what it worked out before."""

    def _constants(self, question: Question, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values with the constants that rounds are predicted with."""
        return values

    def reached(self, question: Question, topology: str, rounds: Any, values: Mapping[str, Any]) -> Any:
        """What is left after so many rounds, at the best learning rate."""
        points, wanted, shape = self._points(topology, question, rounds, values)
        return points.reached(wanted).reshape(shape)[()]

    def rounds_to(self, question: Question, topology: str, target: Any, values: Mapping[str, Any]) -> Any:
        """Rounds after which that is at most the target."""
        points, wanted, shape = self._points(topology, question, target, values)
        one = self._fleet(question, topology, question.values)
        found = points.rounds_to(wanted, *one.ended)
        if not one.ended:
            one.ended.extend(points.near(found))
        return found.reshape(shape)[()]

    def rate(self, question: Question, topology: str, rounds: float) -> float | None:
        """The effective learning rate at which least is left after so many rounds, of those of the table."""
        constants = self._constants(question, question.values)
        return self._fleet(question, topology, question.values).best_rate(rounds, constants)

    def _points(
        self, topology: str, question: Question, wanted: Any, values: Mapping[str, Any]
    ) -> tuple[Points, Array, tuple[int, ...]]:
        """Every set of counts once as a fleet, with the constants that go with it; what is wanted; and the shape."""
        values = self._constants(question, values)
        names = self._fleet(question, topology, question.values).constants
        counts = question.counts
        if all(np.ndim(values[name]) == 0 for name in counts):
            one = self._fleet(question, topology, values)
            units, last, shape = _units(one, values, wanted)
            return Points([one], np.zeros(len(last), dtype=np.intp), units), last, shape
        told = [np.asarray(x, dtype=float) for x in (*(values[name] for name in (*counts, *names)), wanted)]
        shape = np.broadcast_shapes(*(one.shape for one in told))
        flat = np.stack([np.broadcast_to(one, shape).ravel() for one in told])
        places: dict[tuple[float, ...], int] = {}
        which = np.array(
            [places.setdefault(column, len(places)) for column in zip(*flat[: len(counts)].tolist(), strict=True)]
        )
        fleets = [self._fleet(question, topology, dict(zip(counts, column, strict=True))) for column in places]
        units, last, _ = _units(fleets[0], dict(zip(names, flat[len(counts) : -1], strict=True)), flat[-1])
        return Points(fleets, which, units), last, shape
