"""The best topology over two inputs at once: a grid, the margin in every cell, and where the theorem says nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from planner.cost.round import CostError, RoundCost
from planner.decide.breakpoints import answers
from planner.decide.parameters import (
    Array,
    Input,
    Perturbed,
    as_run,
    as_typed,
    fixed,
    in_sigmas,
    input_named,
    inputs,
    is_drawn,
    is_quick,
    is_too_large,
    moved_by,
)
from planner.decide.recommendation import SHARING
from planner.decide.sensitivity import SPAN, posed
from planner.decide.settings import is_open
from planner.errors import ScenarioError
from planner.io.answers import Kept
from planner.io.parts import Part, field
from planner.io.text import NUMBER
from planner.io.version import version
from planner.io.wording import CASES, input_words
from planner.predict.predictors import guaranteed
from planner.predict.question import Question, ceil_rounds
from planner.scenario.fields import CLOCKED, LARGEST_COUNT, PROBABILITY, Objective
from planner.scenario.resolve import Scenario
from planner.scenario.units import parse_duration, parse_rate, parse_size

CELLS = 33  # along each axis
CELLS_SLOW = 17  # where every cell needs a model or an attendance of its own
CELLS_DRAWN = 9  # where compute times are drawn for every cell
AT_ONCE = 128  # cells with counts of their own that are asked together; a predictor keeps the fleets of so many
LEAST_COUNT = 30  # counts go at least so far
PARSE: dict[str, Callable[..., Any]] = {
    "bit/s": parse_rate, "bytes": parse_size, "s": parse_duration, "%": PROBABILITY.read,
}  # fmt: skip

Outside = Literal["", "not reached", "met at the start", "says nothing", "step"]
OUTSIDE: dict[Outside, str] = {
    "not reached": "no topology reaches the target",
    "met at the start": "the target is met before the first round",
    "says nothing": "the target's bound is still above 2 L A, which holds before the first round",
    "step": "the best learning rate exceeds what the theorem allows",
}


class Axis(Part):
    """One of the two inputs."""

    parameter: str
    unit: str
    values: tuple[float, ...]
    now: float = field("in the scenario")
    name: str = field("its words, with the names of tiers", default="")

    @property
    def words(self) -> str:
        """The input for people."""
        return self.name or input_words(self.parameter)


class Phase(Kept):
    """The best topology in every cell; rows go with ``y``, upwards, columns with ``x``."""

    schema: Literal["hfl-plan/phase/1"] = "hfl-plan/phase/1"
    version: str
    title: str
    objective: Objective
    bounds: str
    predictor: str = field("whose rounds are meant")
    resolution: float
    among: tuple[str, ...]
    sharing: str = field("how clients share their link, where that is assumed and links count; else empty", default="")
    x: Axis
    y: Axis
    first: tuple[tuple[str | None, ...], ...]
    tied: tuple[tuple[tuple[str, ...], ...], ...] = field("all within the resolution of the first")
    margin: tuple[tuple[float | None, ...], ...] = field("relative excess of the second over the first")
    outside: tuple[tuple[Outside, ...], ...] = field("why a cell is outside what is known")
    rounds: tuple[tuple[int | None, ...], ...] = field("of the first")
    seconds: tuple[tuple[float | None, ...], ...]
    bytes: tuple[tuple[float | None, ...], ...]

    def rows(self) -> list[dict[str, object]]:
        """One row a cell, as for a CSV."""
        return [
            {
                self.x.parameter: x,
                self.y.parameter: y,
                "first": self.first[i][j],
                "tied": " ".join(self.tied[i][j]),
                **{name: getattr(self, name)[i][j] for name in ("margin", "outside", "rounds", "seconds", "bytes")},
            }
            for i, y in enumerate(self.y.values)
            for j, x in enumerate(self.x.values)
        ]


def source(found: Phase) -> str:
    """Whose rounds these are, and how links are taken to be shared, in short."""
    rounds = found.bounds if guaranteed(found.predictor) else f"{found.predictor} model"
    return f"{rounds}, {CASES[found.sharing]} assumed" if found.sharing else rounds


def phase(scenario: Scenario, asked: str, among: Sequence[str] = (), cells: int | None = None) -> Phase:
    """The diagram of two inputs, all else fixed.

    ``asked`` are two names, each perhaps with a range: ``G=1:50,uplink=1Mbit/s:1Gbit/s``. With ``among`` other
    topologies than these do not compete.
    """
    scenario, question, competing = posed(scenario, among)
    objective = scenario.objective
    sides = _sides(question, objective, asked)
    timed = objective in CLOCKED and is_drawn(question) and any(each.timed or each.whole for each, _ in sides)
    slow = question.partly_available or (not is_quick(question) and all(each.whole for each, _ in sides))
    count = cells or (CELLS_DRAWN if timed else CELLS_SLOW if slow else CELLS)
    if timed and is_too_large(question):
        raise ScenarioError(
            "--map: the fleet is too large to draw its compute times for every cell. Give --straggler none.",
            code="E004",
        )
    (across, x), (up, y) = axes = [(each, _values(each, span, count)) for each, span in sides]
    grid = _Grid(question, objective, competing, axes)
    totals, rounds, costs = grid.totals()
    tied = answers(totals.reshape(len(competing), -1), scenario.resolution).reshape(totals.shape)
    ordered = np.sort(totals, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        margin = np.where(ordered[0] > 0, ordered[1] / ordered[0] - 1, 0.0)
    winner = totals.argmin(axis=0)
    outside = grid.outside(totals, rounds, tied)
    shape = (len(y), len(x))

    def table(cell: Any) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(cell(i, j) for j in range(shape[1])) for i in range(shape[0]))

    def reached(i: int, j: int) -> bool:
        return math.isfinite(totals[winner[i, j], i, j])

    def spent(i: int, j: int, part: str) -> float | None:
        cost = costs[i][j][winner[i, j]] if reached(i, j) else None
        return float(ceil_rounds(rounds[winner[i, j], i, j]) * getattr(cost, part)) if cost else None

    return Phase(
        version=version(),
        title=scenario.title,
        objective=objective,
        bounds=question.family,
        predictor=question.predictor.id,
        resolution=scenario.resolution,
        among=competing,
        sharing=str(scenario.known[SHARING].value) if objective in CLOCKED and is_open(SHARING, scenario) else "",
        x=_axis(across, x, scenario),
        y=_axis(up, y, scenario),
        first=table(lambda i, j: competing[winner[i, j]] if reached(i, j) else None),
        tied=table(lambda i, j: tuple(t for t, ties in zip(competing, tied[:, i, j], strict=True) if ties)),
        margin=table(lambda i, j: float(margin[i, j]) if math.isfinite(margin[i, j]) else None),
        outside=table(lambda i, j: outside[i][j]),
        rounds=table(lambda i, j: ceil_rounds(rounds[winner[i, j], i, j]) if reached(i, j) else None),
        seconds=table(lambda i, j: spent(i, j, "seconds")),
        bytes=table(lambda i, j: spent(i, j, "bytes")),
    )


def _axis(each: Input, values: Array, scenario: Scenario) -> Axis:
    whole, name = tuple(float(v) for v in values), input_words(each.name, scenario.tier_names)
    return Axis(parameter=each.name, unit=each.unit, values=whole, now=float(each.value), name=name)


class _Grid:
    """Two inputs moved at once."""

    def __init__(
        self, question: Question, objective: Objective, among: Sequence[str], axes: Sequence[tuple[Input, Array]]
    ) -> None:
        self.question, self.objective, self.among = question, objective, among
        (across, x), (up, y) = axes
        self.shape = (len(y), len(x))
        self.clock = [(each, at) for each, at in ((up, y), (across, x))]
        moved = Perturbed(question)
        # A deviation in units of sigma waits until sigma is moved.
        sides = sorted(((across, x[None, :]), (up, y[:, None])), key=lambda side: "/" in side[0].name)
        for each, at in sides:
            if not each.timed:
                moved = each.apply(moved, at)
        self.moved = moved
        self.goals_matter = moved.question.target is None and not moved.question.hidden
        self.goals: Array | None = None  # in every cell, once rounds are known
        self.known: dict[tuple[int, ...], list[RoundCost | None]] = {}  # costs, by what moves them of y and x

    def totals(self) -> tuple[Array, Array, list[list[list[RoundCost | None]]]]:
        """Objective and rounds, shape (topologies, y, x), and what one round costs by y, x and topology."""
        rounds = self.rounds()
        costs = [[self.costs(i, j) for j in range(self.shape[1])] for i in range(self.shape[0])]
        prices = np.array([[[self.price(cost) for cost in cell] for cell in row] for row in costs]).transpose(2, 0, 1)
        with np.errstate(invalid="ignore"):
            totals = as_run(rounds) * prices
        return np.where(np.isfinite(totals), totals, np.inf), rounds, costs

    def blocks(self) -> Iterator[tuple[Perturbed, tuple[int, int]]]:
        """All cells, or some rows of them at a time where every cell has other counts; with the shape of these rows."""
        high, wide = self.shape
        (up, _), (across, _) = self.clock
        if is_quick(self.question) or not (up.whole and across.whole):
            yield self.moved, self.shape
            return
        rows = max(1, AT_ONCE // wide)
        changes = {name: np.broadcast_to(value, self.shape) for name, value in self.moved.changes.items()}
        for first in range(0, high, rows):
            some = {name: value[first : first + rows] for name, value in changes.items()}
            yield Perturbed(self.moved.question, some), (min(rows, high - first), wide)

    def rounds(self) -> Array:
        """Of every topology; shape (topologies, y, x)."""
        (up, y), (across, x) = self.clock
        if not (self.question.partly_available and (up.timed or across.timed)):
            parts, goals = [], []
            for moved, shape in self.blocks():
                found = moved.rounds()
                parts.append(np.stack([np.broadcast_to(found[t], shape) for t in self.among]))
                if self.goals_matter:  # while the predictor keeps what these cells need
                    goals.append(np.broadcast_to(moved.question.goal(**moved.changes), shape))
            self.goals = np.concatenate(goals) if goals else None
            return np.concatenate(parts, axis=1).astype(np.float64)
        cells = np.empty((len(self.among), *self.shape))  # the clock decides who comes, cell by cell
        for i, j in np.ndindex(*self.shape):
            there = across.apply(up.apply(Perturbed(self.question), float(y[i])), float(x[j])).rounds()
            cells[:, i, j] = [float(there[t]) for t in self.among]
        return cells

    def costs(self, *cell: int) -> list[RoundCost | None]:
        """What a round of each topology costs in a cell; None where it cannot be timed."""
        key = tuple(place if each.timed or each.whole else 0 for (each, _), place in zip(self.clock, cell, strict=True))
        if key not in self.known:
            there = Perturbed(self.question)
            for (each, at), place in zip(self.clock, cell, strict=True):
                there = each.apply(there, float(at[place])) if each.timed else there
            values = self.moved.values
            counts = {n: float(np.broadcast_to(values[n], self.shape)[cell]) for n in self.moved.counts}
            try:
                self.known[key] = [there.question.of_a_round(t, **counts) for t in self.among]
            except CostError:
                self.known[key] = [None] * len(self.among)
        return self.known[key]

    def price(self, cost: RoundCost | None) -> float:
        if cost is None:
            return 1.0 if self.objective == "rounds" else math.inf
        return cost.amount(self.objective)

    def outside(self, totals: Array, rounds: Array, tied: NDArray[np.bool_]) -> list[list[Outside]]:
        """Why each cell is outside what the theorem says; empty where it is inside."""
        question, moved = self.moved.question, self.moved
        nowhere = ~np.isfinite(totals.min(axis=0))
        met = rounds.max(axis=0) == 0
        mute: Any = False
        if self.goals_matter:
            goals = question.goal(**moved.changes) if self.goals is None else self.goals
            mute = goals >= question.first(moved.values)
        beyond = np.zeros(self.shape, dtype=bool)
        for k, topology in enumerate(self.among if question.predictor.guarantees else ()):
            beyond |= tied[k] & self.beyond(topology, rounds[k]) & ~nowhere & ~met
        mute = np.broadcast_to(mute, self.shape)
        reasons: dict[Outside, Any] = {"not reached": nowhere, "met at the start": met, "says nothing": mute}
        reasons["step"] = beyond
        found: list[list[Outside]] = np.select(list(reasons.values()), list(reasons), "").tolist()
        return found

    def beyond(self, topology: str, rounds: Array) -> NDArray[np.bool_]:
        """Where the learning rate a bound is tuned at exceeds the step condition its theorem prints."""
        question = self.moved.question
        bound = question.bounds[topology]
        run = np.where(np.isfinite(rounds), np.maximum(rounds, 1.0), 1.0)
        values = {
            **question.of_bounds(topology, self.moved.values),
            "R": run if question.horizon is None else question.horizon,
        }
        tuned = bound.tuned(cap=question.cap, **values)
        if tuned.eta_eff is None:
            return np.zeros(self.shape, dtype=bool)
        finite = np.broadcast_to(np.isfinite(tuned.eta_eff), self.shape)
        step = np.where(np.isfinite(tuned.eta_eff), tuned.eta_eff, 1.0)
        return np.asarray(finite & ~np.broadcast_to(bound.applies(**values, eta_eff=step), self.shape))


def _sides(question: Question, objective: Objective, asked: str) -> list[tuple[Input, str]]:
    """The two inputs, and the range written for each."""
    found, timed = inputs(question, objective), inputs(question, "time")
    every = {**found, **in_sigmas(question)}
    known, held = {**every, **timed}, fixed(question, every)
    parts = [part.strip() for part in asked.split(",")]
    if len(parts) != 2:
        one = input_named(parts[0].partition("=")[0], known, "--map") if len(parts) == 1 else "client_link.up"
        other = "client_link.up" if one == "model_size" else "model_size"
        raise ScenarioError(f"--map: {asked!a:.60} is not two inputs. Write --map G,M or --map {one},{other}.")
    axes = []
    for part in parts:
        name, _, span = part.partition("=")
        name = input_named(name, known, "--map")
        if name not in every:
            raise ScenarioError(
                f"--map: {input_words(name)} changes no order by {objective}. Ask with --objective time."
            )
        if name in held:
            raise ScenarioError(f"--map: {input_words(name)} stays, as {held[name]}. Name another input.")
        axes.append((as_typed(every[name], question.metric), span.strip()))
    across, upwards = (each.name for each, _ in axes)
    if set(moved_by(across)) & set(moved_by(upwards)):
        raise ScenarioError(f"--map: {across} and {upwards}: one number is on both axes. Name two inputs.")
    return axes


def _values(each: Input, span: str, cells: int) -> Array:
    """The values along one axis: evenly by their logarithms, whole where the input counts."""
    if span:
        low, high = _span(each, span)
    elif each.whole:
        low, high = each.least, min(each.most, max(LEAST_COUNT, 4 * each.value))
    else:
        middle = each.value or each.scale
        low, high = max(each.least, middle / SPAN), min(each.most, middle * SPAN)
    if each.whole and high - low < cells:
        return np.arange(low, high + 1)
    values = np.geomspace(low, high, cells)
    if each.whole and not span:  # the scenario has a cell of its own
        values[np.abs(np.log(values / each.value)).argmin()] = each.value
    return np.unique(np.round(values)) if each.whole or each.name == "R" else values


def _span(each: Input, text: str) -> tuple[float, float]:
    """A range such as ``1:50`` or ``1Mbit/s:1Gbit/s``."""
    field = f"--map: {each.name}"
    ends = [end.strip() for end in text.split(":")]
    if len(ends) != 2:
        raise ScenarioError(f"{field}: {text!a:.40} is not a range. Write it as from:to.", code="E024")
    if each.unit:
        low, high = (float(PARSE[each.unit](end, field=field)) for end in ends)
    else:
        low, high = (_plain(end, field) for end in ends)
    if each.whole and not (low.is_integer() and high.is_integer()):
        raise ScenarioError(f"{field}: {text!a:.40} counts things. Give whole numbers.", code="E022")
    most = min(each.most, LARGEST_COUNT if each.whole else 1e100)
    if not max(each.least, 1e-100) <= low < high <= most:
        raise ScenarioError(
            f"{field}: {text!a:.40} must rise from {each.least or '1e-100'} or more to {most:g} or less."
        )
    return low, high


def _plain(text: str, field: str) -> float:
    if not NUMBER.fullmatch(text):
        raise ScenarioError(f"{field}: {text!a:.40} is not a number. Write such as 0.1:10.", code="E021")
    return float(text)
