"""What every topology takes in draws of what is not known: the share in which each is first, and the regret."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hflbounds.evaluate.compare import SAME
from planner.cost.round import round_cost
from planner.decide.parameters import deviations, of_clock, with_clock
from planner.decide.recommendation import Estimate, Regret
from planner.decide.uncertainty import parts
from planner.decide.uncertainty.distributions import Column, columns, timed
from planner.decide.uncertainty.lattice import SHIFTS, FloatArray, blocks, cube
from planner.predict import memory, participation
from planner.predict.evidence import predictor_record as record
from planner.predict.question import Question
from planner.predict.statements import ModelUncertainty
from planner.scenario.fields import CLOCKED, FOOTPRINT, Objective
from planner.scenario.resolve import Scenario

Model = Callable[[np.random.Generator, int], FloatArray]
"""Draws of the logarithm of (real rounds) / (predicted rounds): (generator, number) -> (topologies, number)."""

DRAWS_WITH_ERRORS = 1024  # of inputs at most, where errors of the predictor are drawn too
ATTENDED_WITH_ERRORS = 256  # the same where devices may stay away, and each asks for the rounds of those who come
ERRORS = 8192  # of the predictor, several with each draw of inputs: they cost no prediction, and vary most
DRAWS_TIMED = 128  # at most, where each draw times rounds, as with random compute times
DRAWS_ATTENDED = 1024  # at most, where each draw asks for the rounds of those who come as well
HIGH = 0.9  # quantile of the regret that is shown; by sorting, as numpy's imports its masked arrays
FOURTHS = 4  # of a range: what a measurement leaves of it
AT_ONCE = 1024  # draws whose rounds are predicted at once: more leave the cache, fewer cost overhead


@dataclass(frozen=True)
class Draws:
    """What every topology takes in every draw."""

    columns: tuple[Column, ...]  # what was drawn
    logs: FloatArray  # logarithms of the factors, shape (columns, draws)
    totals: FloatArray  # of the objective, in the order of the question's topologies, shape (topologies, draws)
    topologies: tuple[str, ...]  # their names

    def same_as(self, topology: str) -> tuple[str, ...]:
        """This topology, and those that take the same in every draw."""
        own = self.totals[self.topologies.index(topology)]
        equal = np.isclose(self.totals, own, rtol=SAME, atol=0).all(axis=1)
        return tuple(t for t, same in zip(self.topologies, equal, strict=True) if same)

    def parts(self, column: int) -> Iterator[Draws]:
        """The draws by fourths of the range of one input."""
        for part in np.array_split(np.argsort(self.logs[column]), FOURTHS):
            yield replace(self, logs=self.logs[:, part], totals=self.totals[:, part])


class Totals:
    """The objective of every topology at many values of the columns."""

    def __init__(self, question: Question, drawn: Sequence[Column], objective: Objective) -> None:
        """Keep the question."""
        self.question, self.columns, self.objective = question, tuple(drawn), objective
        moved = {name for column in drawn for name in column.moves}
        ranges = parts.ranges(question, objective) if objective in FOOTPRINT else {}
        self.middles = {name: parts.middle(one) for name, one in ranges.items() if name in moved}
        self.timed = objective in CLOCKED and not moved.isdisjoint(name for name, *_ in of_clock(question))
        self.law = _Affine.of(question, objective, moved) if self.timed else None
        self.parts = parts.parted(question, objective) if self.middles and not self.slow else []
        self.laws = [_Affine.of(part.question, objective, moved) if self.timed else None for part in self.parts]
        if self.timed and None in self.laws:
            self.law, self.parts = None, []

    @property
    def slow(self) -> bool:
        """Whether every draw needs a round to be timed for itself."""
        return self.timed and self.law is None

    def __call__(self, logs: FloatArray) -> FloatArray:
        """Shape (topologies, draws) for factors of shape (columns, draws)."""
        return self.rounds(logs) * self.prices(logs)

    def rounds(self, logs: FloatArray) -> FloatArray:
        """Rounds to the target; (topologies, draws)."""
        parts = [self._rounds(logs[:, i : i + AT_ONCE]) for i in range(0, logs.shape[1], AT_ONCE)]
        return np.concatenate(parts, axis=1)

    def _rounds(self, logs: FloatArray) -> FloatArray:
        question = self.question
        names = (*deviations(question), "sigma", "A", "L")
        changes = self._moved({name: question.values[name] for name in names}, logs)
        log = self._log("target", logs)
        if log is not None and question.target is not None:
            share = None if question.share is None else question.share * np.exp(log)
            question = question.varied(target=question.target * np.exp(log), share=share)
        found = question.rounds(**changes)
        return np.stack([np.broadcast_to(found[t], logs.shape[1:]) for t in self.question.topologies]).astype(float)

    def prices(self, logs: FloatArray) -> FloatArray:
        """What one round adds to the objective; (topologies, draws), or (topologies, 1) where that is all the same."""
        question = self.question
        moved = self._moved({name: value for name, value, _ in of_clock(question)}, logs)
        rates = self._moved(self.middles, logs)
        if rates and not self.slow:
            one = np.ones(logs.shape[1])
            amounts = [
                math.prod((rates[name] for name in part.names if name in rates), start=one)
                * self._by_clock(part.question, law, moved, one.size)
                for part, law in zip(self.parts, self.laws, strict=True)
            ]
            return np.asarray(sum(amounts[1:], start=amounts[0]))
        if not rates:
            return self._by_clock(question, self.law, moved, logs.shape[1])
        found = []
        for i in range(logs.shape[1]):
            here = with_clock(question, {name: float(value[i]) for name, value in moved.items()})
            assert here.rates is not None  # noqa: S101 - `ask` refuses these objectives without
            here = here.varied(rates=parts.scaled(here.rates, {name: float(value[i]) for name, value in rates.items()}))
            found.append([here.price(t, self.objective) for t in question.topologies])
        return np.array(found).T

    def _by_clock(
        self, question: Question, law: _Affine | None, moved: Mapping[str, FloatArray], number: int
    ) -> FloatArray:
        """What one round adds, where nothing but the clock moves."""
        if not moved:
            return np.array([[question.price(t, self.objective)] for t in question.topologies])
        if law is not None:
            return law.seconds(moved, number)
        each = [{name: float(value[i]) for name, value in moved.items()} for i in range(number)]
        return _prices(question, self.objective, each)

    def _moved(self, values: Mapping[str, float], logs: FloatArray) -> dict[str, FloatArray]:
        """Those of some values that columns move, in every draw."""
        found = {name: self._log(name, logs) for name in values}
        return {name: values[name] * np.exp(log) for name, log in found.items() if log is not None}

    def _log(self, name: str, logs: FloatArray) -> FloatArray | None:
        parts = [c.moves[name] * logs[i] for i, c in enumerate(self.columns) if name in c.moves]
        return np.asarray(sum(parts[1:], parts[0])) if parts else None


@dataclass(frozen=True)
class _Affine:
    """What a round adds to the objective as linear forms in what moves, with their coefficients found by asking.

    Without stragglers a round lasts a sum of: a constant, multiples of the step time and of each latency, and for each
    link multiples of the time up, the time down, and the longer of the two (a direct hop). Energy, carbon and money are
    such sums too, with a multiple of the model's size. Where devices stay away from groups of several sizes a round
    lasts one such sum times a quotient of two.
    """

    question: Question  # with its numbers of the clock
    objective: Objective  # of the form
    names: tuple[str, ...]  # of the clock, that may move
    coefficients: FloatArray  # shape (forms, topologies, features); of three the third divides

    @classmethod
    def of(cls, question: Question, objective: Objective, moved: Collection[str]) -> _Affine | None:
        """The form, or None where the clock follows no such one; kept by what the price of a round depends on."""
        if timed(question):
            return None
        names = tuple(name for name, *_ in of_clock(question) if name in moved)
        key = memory.key_of_clock(question, objective)
        key = None if key is None else (key, names)
        if (known := memory.remembered(key)) is None:
            every = tuple(name for name, *_ in of_clock(question))  # its probes are the same whatever moves
            fits = (cls._fitted(question, objective, some) for some in dict.fromkeys((every, names)))
            found = next(filter(None, fits), None)
            known = {} if found is None else {"names": found.names, "coefficients": found.coefficients}
            memory.keep(key, known)
        return cls(question, objective, **known) if known else None

    @classmethod
    def _fitted(cls, question: Question, objective: Objective, names: tuple[str, ...]) -> _Affine | None:
        """Fit the form, and ask the clock at three more places."""
        size = 8 * question.model_bytes
        every = {name: value for name, value, _ in of_clock(question)}
        now = {name: value for name, value in every.items() if name in names}
        other = {f"{t}.{a}": f"{t}.{b}" for t in question.network.named for a, b in (("up", "down"), ("down", "up"))}
        rates = [name for name in now if name in other]
        # At unit latency and step time, and rates that send the model in one second, everything counts alike. Beside a
        # rate that stays, the one that moves takes as long, twice as long and half as long: either is the longer once.
        unit = {name: question.model_bytes if name == "model_size" else 1.0 for name in now}
        unit |= {name: size if other[name] in now else every[other[name]] for name in rates}
        half = {name: value / 2 if name in rates else 2 * value for name, value in unit.items()}
        probes = [unit, half, *({**unit, name: value} for name, value in half.items())]
        probes += [{**unit, name: 2 * unit[name]} for name in rates if other[name] not in now]
        for tier in question.network.named:
            probes.append({name: (half if name.startswith(f"{tier}.") else unit)[name] for name in now})
        key = memory.key_of_clock(with_clock(question, unit), objective)  # whatever now is, the probes are these
        key = None if key is None else (key, names, "probes")
        form = cls(question, objective, names, np.zeros((0, 0, 0)))
        if (known := memory.remembered(key)) is None:
            features = form._features({name: np.array([p[name] for p in probes]) for name in now}, len(probes))
            parts = _parts(question, objective, probes)
            coefficients: Any = np.linalg.lstsq(features.T, parts.reshape(-1, len(probes)).T, rcond=None)[0].T
            known = {"coefficients": coefficients.reshape(*parts.shape[:2], -1)}
            memory.keep(key, known)
        form = replace(form, coefficients=known["coefficients"])
        checks = [
            {name: value * (1.0 + by * (i % 3 - 1)) for i, (name, value) in enumerate(now.items())}
            for by in (0.0, 0.5, -0.7)
        ]
        told = form.seconds({name: np.array([c[name] for c in checks]) for name in now}, len(checks))
        asked = _prices(question, objective, checks)
        return form if np.allclose(told, asked, rtol=1e-9, atol=1e-12 * float(asked.max())) else None

    def seconds(self, moved: Mapping[str, FloatArray], draws: int) -> FloatArray:
        """Of a round; (topologies, draws)."""
        first, *quotient = self.coefficients @ self._features(moved, draws)
        return np.asarray(first * quotient[0] / quotient[1] if quotient else first)

    def _features(self, moved: Mapping[str, FloatArray], draws: int) -> FloatArray:
        at = {name: moved.get(name, np.array(value)) for name, value, _ in of_clock(self.question)}
        resized = "model_size" in self.names
        rows = [np.ones(draws), *(at[name] for name in self.names if name.endswith(("step_time", "latency")))]
        for tier in self.question.network.named:
            if resized or {f"{tier}.up", f"{tier}.down"} & {*self.names}:
                up, down = (8 * at["model_size"] / at[f"{tier}.{part}"] for part in ("up", "down"))
                rows += [up, down, np.maximum(up, down)]
        if resized:
            rows.append(at["model_size"] / self.question.model_bytes)
        return np.stack([np.broadcast_to(row, draws) for row in rows])


def _prices(question: Question, objective: Objective, places: Sequence[Mapping[str, float]]) -> FloatArray:
    questions = [with_clock(question, place) for place in places]
    return np.array([[q.price(t, objective) for q in questions] for t in question.topologies])


def _parts(question: Question, objective: Objective, places: Sequence[Mapping[str, float]]) -> FloatArray:
    """What a round adds, in forms that are linear: its price alone, or in three; shape (forms, topologies, places)."""
    if question.availability is None or question.members is None or objective != "time":
        return _prices(question, objective, places)[None]
    found = np.ones((3, len(question.topologies), len(places)))
    for i, place in enumerate(places):
        here = with_clock(question, place)
        for j, topology in enumerate(question.topologies):
            found[0, j, i] = round_cost(here.round_spec(topology)).seconds
            there = participation.attendance(here, topology)
            if there.feasible:
                found[1:, j, i] = there.lasts / there.survival, there.usual
    return found


def draws(
    question: Question,
    scenario: Scenario,
    objective: Objective,
    model: Model | None = None,
    *,
    number: int | None = None,
) -> Draws:
    """What every topology takes, in draws of what is not known exactly.

    ``model`` draws how far rounds are from those predicted, which multiplies them: `ERRORS` of them, several with each
    draw of inputs. The ``number`` of these is a power of two from 64; None for that of the scenario; fewer where each
    is slow. The seed of the question fixes them.
    """
    drawn = columns(question, scenario, objective)
    totals = Totals(question, drawn, objective)
    rng = np.random.default_rng(question.seed)
    if not drawn and model is None:
        logs = np.zeros((0, 1))
    else:
        most = DRAWS_TIMED if totals.slow else DRAWS_ATTENDED if question.availability is not None else scenario.draws
        number = number or min(scenario.draws, most)
        number = number if model is None else min(number, ERRORS)
        logs = logs_at(drawn, cube(rng, len(drawn), min(number, DRAWS_TIMED) if totals.slow else number))
    found = totals(logs)
    if model is not None:
        logs, found = (np.tile(one, ERRORS // logs.shape[1]) for one in (logs, found))
        found = found * np.exp(model(rng, ERRORS))
    return Draws(drawn, logs, found, tuple(question.topologies))


def logs_at(drawn: Sequence[Column], at: FloatArray) -> FloatArray:
    """Logarithms of the factors of all columns at points of the cube; (columns, draws)."""
    return np.stack([c.logs(u) for c, u in zip(drawn, at, strict=True)]) if drawn else np.zeros((0, at.shape[1]))


def p_best(found: Draws, tolerance: float = SAME) -> dict[str, Estimate]:
    """Share of draws in which no other topology is better, relatively, than by a tolerance; ties count for everyone."""
    least = found.totals.min(axis=0)
    best = np.isfinite(least) & (found.totals <= least * (1 + tolerance))
    return {t: mean(best[i].astype(float)) for i, t in enumerate(found.topologies)}


def regret(found: Draws, topology: str) -> Regret:
    """Relative excess of a topology's total over the least of each draw; none in a draw without an answer."""
    own, least = found.totals[found.topologies.index(topology)], found.totals.min(axis=0)
    answered = np.isfinite(least)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(own <= least * (1 + SAME), 0.0, own / least - 1)
    excess = np.where(answered, excess, 0.0)
    lost = float(np.mean(np.isinf(excess)))
    high = float(np.sort(excess)[math.ceil(HIGH * (excess.size - 1))])
    p90 = None
    if math.isfinite(high):
        ends = [float(np.sort(block)[math.floor(HIGH * (block.size - 1))]) for block in blocks(excess)]
        finite = [end for end in ends if math.isfinite(end)]
        p90 = Estimate(value=high, error=float(np.std(finite, ddof=1)) / math.sqrt(len(finite)) if finite[1:] else 0.0)
    return Regret(of=topology, mean=None if lost else mean(excess, floor=False), p90=p90, lost=lost)


def mean(values: FloatArray, *, floor: bool = True) -> Estimate:
    """A mean, and its error from the blocks; a share cannot be known better than to one draw."""
    if values.size == 1:
        return Estimate(value=float(values[0]), error=0.0)
    error = float(blocks(values).mean(axis=1).std(ddof=1)) / math.sqrt(SHIFTS)
    return Estimate(value=float(values.mean()), error=max(error, 1 / values.size if floor else 0.0))


class Agreement(NamedTuple):
    """What is known of how well topologies are told apart."""

    model: ModelUncertainty | None  # record of the predictor near the question
    probability: float | None  # that the first is within 2 % of the best
    found: Draws | None  # draws of inputs and of errors like those measured, centred

    def missed(self, topology: str) -> float:
        """Share of draws in which a topology does not reach the target; 0 without draws."""
        if self.found is None:
            return 0.0
        return float(np.isinf(self.found.totals[self.found.topologies.index(topology)]).mean())

    def interval(self, topology: str, first: str, level: float) -> tuple[float, float] | None:
        """Where the total of a topology over that of another lies in this share of draws; None if it is not known.

        In a draw in which the other does not reach the target it is over the least that any takes, so that what takes
        far more than those that reach it is no candidate for that.
        """
        if self.found is None:
            return None
        ratios = _ratios(self.found, topology, first, or_least=True)
        outside = math.floor((1 - level) / 2 * (ratios.size - 1))
        ends = (outside, ratios.size - 1 - outside)
        low, high = np.partition(ratios, ends)[[*ends]].tolist()
        return low, high


def _ratios(found: Draws, topology: str, first: str, *, or_least: bool = False) -> FloatArray:
    """Totals of a topology over those of another; no numbers in draws in which neither is finite.

    With ``or_least`` they are over the least of all where the other is not finite.
    """
    own, other = (found.totals[found.topologies.index(t)] for t in (topology, first))
    if or_least:
        other = np.where(np.isfinite(other), other, found.totals.min(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(own / other)


def centred(found: Draws, totals: Mapping[str, float]) -> Draws:
    """Move draws such that the median of each ratio to the first is the predicted one.

    What is drawn says how far off a prediction may be, and not where: errors of the nearest measured cases lean to one
    side by chance of the cases, and on families that were left out the lean made predictions no better.
    """
    first = next(iter(totals))
    factors = np.ones((len(found.topologies), 1))
    for i, topology in enumerate(found.topologies):
        if topology == first:
            continue
        ratios = _ratios(found, topology, first)
        ratios = ratios[np.isfinite(ratios) & (ratios > 0)]
        if topology in totals and totals[first] > 0 and ratios.size:
            middle = ratios.size // 2
            factors[i] = totals[topology] / totals[first] / np.partition(ratios, middle)[middle]
    return replace(found, totals=found.totals * factors)


def agreement(question: Question, scenario: Scenario, objective: Objective, totals: Mapping[str, float]) -> Agreement:
    """The record of the predictor near a question, or a pilot's own errors, and what they leave open.

    The record has the shares of draws, of inputs and of errors like those measured, in which each topology is right:
    first, or so near that the record counts it as that.
    """
    near = record.of(question)
    model = partial(record.errors, question) if near is not None else question.predictor.errors(question)
    if model is None or not totals:
        return Agreement(None, None, None)
    if scenario.draws:
        most = DRAWS_WITH_ERRORS if question.availability is None else ATTENDED_WITH_ERRORS
        found = draws(question, scenario, objective, model, number=min(scenario.draws, most))
    else:
        base = np.array([[totals.get(t, math.inf)] for t in question.topologies])
        errors = model(np.random.default_rng(question.seed), ERRORS)
        found = Draws((), np.zeros((0, ERRORS)), base * np.exp(errors), tuple(question.topologies))
    found = centred(found, totals)
    shares = {t: share.value for t, share in p_best(found, record.RIGHT).items()}
    first = next(iter(totals))
    if near is None:
        return Agreement(None, round(record.calibrated_pilot(question, objective, shares[first]), 2), found)
    sure = round(record.calibrated(near, record.name_of(question), objective, shares[first]), 2)
    return Agreement(near.replaced(p_best=shares, probability=sure), sure, found)
