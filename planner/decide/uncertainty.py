"""How sure the answer is: what it was told is drawn, and other proofs are asked.

What is not known exactly is a middle times a random factor, independent of the others: between limits that the user
gave, by an error that a file states, or, where nobody gave the number, log-uniformly within `FACTOR` either way. The
factors come from a randomly shifted rank-1 lattice, `SHIFTS` shifts of one lattice, so that every average has a
standard error from as many independent blocks. Three numbers come of the draws: the share in which a topology is
first, the regret of following the recommendation, and the total Sobol index of each input for the log margin.

None of it says that the bound predicts well. That is another kind of uncertainty, and so is the choice of constants in
a proof, for which `constant_sets` asks every proved family of bounds that is about this scenario.

Sources: I. H. Sloan and S. Joe, Lattice Methods for Multiple Integration (1994), for shifted lattices and the
component-by-component construction; M. J. W. Jansen, Comput. Phys. Commun. 117 (1999), for the estimator of total
indices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hflbounds import family
from hflbounds.evaluate.compare import SAME, ties
from planner.decide.confidence import FACTOR
from planner.decide.recommendation import (
    Alone,
    ConstantSet,
    ConstantUncertainty,
    Drawn,
    Estimate,
    Index,
    InputUncertainty,
    Regret,
    Uncertainty,
)
from planner.io.intervals import Spread
from planner.predict.evidence import predictor_record as record
from planner.predict.question import Question, ask
from planner.predict.statements import ModelUncertainty
from planner.scenario.fields import Objective
from planner.scenario.resolve import Scenario

FloatArray = NDArray[np.float64]
Kind = Literal["given", "measured", "assumed"]
Model = Callable[[np.random.Generator, int], FloatArray]
"""Draws of the logarithm of (real rounds) / (predicted rounds): (generator, number) -> (topologies, number)."""

SHIFTS = 16  # independent blocks of draws
DRAWS_OF_ERRORS = 1024  # with errors of the predictor drawn too
BASE = 512  # draws that the indices start from
DRAWS_TIMED = 128  # at most, where each draw times rounds with random compute times
DRAWS_ATTENDED = 1024  # at most, where each draw asks for the rounds of those who come as well
AT_ONCE = 1024  # draws whose rounds are predicted at once: more leave the cache, fewer cost overhead
STEPS = 9  # values of an input that is moved alone
LARGEST_MARGIN = math.log(10)  # beyond it a margin counts as this, also where one side never gets there
T_15 = 2.131449545559323  # Student's 97.5 % quantile, SHIFTS - 1 degrees of freedom
ROUNDS = ("zeta", "delta", "sigma", "A", "L", "target")  # what rounds depend on; the clock depends on the others
LINK = ("up", "down", "latency")
ADMISSIBLE = {  # families of bounds whose every topology is proved, by who takes part and the order of rings
    "fixed": ("hflbounds.sharp", "zhou2026.thm1", "zhou2026.thm1-proof", "zhou2026.cor1"),
    "random": ("hflbounds.sharp-shuffle", "zhou2026.shuffle", "zhou2026.shuffle-proof", "zhou2026.shuffle-rate"),
    "partial": ("hflbounds.sharp-partial", "zhou2026.thm2", "zhou2026.thm2-proof", "zhou2026.cor2"),
}  # a list, because looking through the whole catalogue takes longer than an answer
LITTLE = 0.05  # an index below it does not matter
SURE = 0.99


@dataclass(frozen=True)
class Column:
    """One independent random factor.

    Attributes:
        name: of what is not known.
        kind: who says how far.
        spread: of the factor.
        moves: quantities of the scenario, with the power of the factor that multiplies each.
        middle: of what is named.
        unit: of ``middle``.
    """

    name: str
    kind: Kind
    spread: Spread
    moves: Mapping[str, float]
    middle: float
    unit: str = ""

    @property
    def of_clock(self) -> bool:
        """Whether it changes what a round costs, and not how many there are."""
        return not self.moves.keys() & set(ROUNDS)

    def logs(self, cube: FloatArray) -> FloatArray:
        """Logarithms of the factor at probabilities."""
        if self.spread.kind == "log-uniform":
            return self.spread.width * (2 * cube - 1)
        normal = NormalDist().inv_cdf
        return self.spread.width * np.array([normal(u) for u in np.clip(cube, 1e-12, 1 - 1e-12).tolist()])


@dataclass(frozen=True)
class Draws:
    """What every topology takes in every draw.

    Attributes:
        columns: what was drawn.
        logs: logarithms of the factors, shape (columns, draws).
        totals: of the objective, in the order of the question's topologies, shape (topologies, draws).
        topologies: their names.
    """

    columns: tuple[Column, ...]
    logs: FloatArray
    totals: FloatArray
    topologies: tuple[str, ...]

    def same_as(self, topology: str) -> tuple[str, ...]:
        """This topology, and those that take the same in every draw."""
        own = self.totals[self.topologies.index(topology)]
        equal = np.isclose(self.totals, own, rtol=SAME, atol=0).all(axis=1)
        return tuple(t for t, same in zip(self.topologies, equal, strict=True) if same)


# ---------------------------------------------------------------- what is not known


def columns(question: Question, scenario: Scenario, objective: Objective) -> tuple[Column, ...]:
    """What is drawn for a scenario, in the order in which results list it.

    Nothing that leaves the ranking as it is: `L` and `A` where neither has limits enter as their product, and the
    model's size cannot change an order by bytes. What the clock stands on is drawn where the clock decides; numbers of
    a preset that the user chose are taken as given, and with random compute times those that nobody gave stay.
    """
    known, values = scenario.known, question.values
    found: list[Column] = []

    def own(name: str, value: float, unit: str = "", *, assume: bool = True) -> None:
        of = known[name]
        if of.spread is not None:
            kind: Kind = "given" if of.origin == "given" else "measured"
            found.append(Column(name, kind, of.spread, {name: 1.0}, value, unit))
        elif assume and not of.sure:
            found.append(Column(name, "assumed", _anything(), {name: 1.0}, value, unit))

    together = _deviations_together(scenario) if values["zeta"] > 0 and values["delta"] > 0 else ()
    found += together
    for name in () if together else ("zeta", "delta"):
        if values[name] > 0:
            own(name, values[name])
    if values["sigma"] > 0:
        own("sigma", values["sigma"])
    if known["L"].spread is None and known["A"].spread is None:
        if not (known["L"].sure and known["A"].sure):
            found.append(Column("L A", "assumed", _anything(), {"A": 1.0}, values["L"] * values["A"]))
    else:
        own("A", values["A"])
        own("L", values["L"])
    if question.target is not None:
        own("target", question.target, assume=False)
    if objective != "time":
        return tuple(found)
    exact = not _timed(question)
    for name, value, unit in _of_clock(question):
        if value > 0:
            own(name, value, unit, assume=exact and known[name].origin == "default")
    return tuple(found)


def _anything() -> Spread:
    return Spread("log-uniform", math.log(FACTOR))


def _deviations_together(scenario: Scenario) -> tuple[Column, ...]:
    """One factor on both deviations, and one on their ratio, where a file or a division says how they compare."""
    known, error = scenario.known["zeta"], scenario.ratio_error
    divided = scenario.grouping in ("random", "chosen")
    alone = known.sure if known.spread is None else not divided
    if error is None or alone:
        return ()
    kind: Kind = "assumed" if known.spread is None else "given"
    both = Column("zeta and delta", kind, known.spread or _anything(), {"zeta": 1.0, "delta": 1.0}, 1.0, "times")
    if error == 0:
        return (both,)
    ratio = scenario.number("zeta") / scenario.number("delta")
    apart = Column("zeta / delta", "measured", Spread("lognormal", error), {"zeta": 0.5, "delta": -0.5}, ratio)
    return (both, apart)


def _timed(question: Question) -> bool:
    """Whether compute times are random, so that every change of the clock draws them anew."""
    return question.compute.straggler.cv > 0


def _of_clock(question: Question) -> list[tuple[str, float, str]]:
    """What the seconds of a round depend on: names in the scenario, values, units."""
    found = [
        ("model_size", question.model_bytes, "bytes"),
        ("step_time", question.compute.step_time, "s"),
    ]
    for tier, link in question.network.named.items():
        found += [(f"{tier}.{part}", getattr(link, part), "s" if part == "latency" else "bit/s") for part in LINK]
    return found


# ---------------------------------------------------------------- draws


@lru_cache(maxsize=16)
def generating_vector(points: int, dimensions: int) -> tuple[int, ...]:
    """Of a rank-1 lattice, component by component: each minimises the worst-case error with those before it.

    The error is that of randomly shifted lattices in a Sobolev space of functions with square-integrable mixed first
    derivatives, where component ``j`` has the weight ``1/j``.

    Args:
        points: a power of two, 4 or more.
        dimensions: how many components.
    """
    candidates = np.arange(1, points // 2, 2)  # z and -z make the same lattice
    fractions = np.outer(np.arange(points), candidates) % points / points
    kernel = fractions * (fractions - 1) + 1 / 6  # the second Bernoulli polynomial
    product = np.ones(points)
    vector = []
    for j in range(1, dimensions + 1):
        factors = 1 + kernel / j
        errors = product @ factors
        best = int(np.argmin(np.round(errors / errors.min(), 9)))  # equal errors differ by what a processor rounds
        product *= factors[:, best]
        vector.append(int(candidates[best]))
    return tuple(vector)


def cube(rng: np.random.Generator, dimensions: int, draws: int) -> FloatArray:
    """Points of the unit cube in `SHIFTS` blocks, each the same lattice shifted and folded; (dimensions, draws).

    Args:
        rng: of the shifts.
        dimensions: how many.
        draws: a power of two times `SHIFTS`.
    """
    points = draws // SHIFTS
    vector = np.array(generating_vector(points, dimensions))
    lattice = np.outer(vector, np.arange(points)) % points / points
    shifted = (lattice[:, None, :] + rng.random((dimensions, SHIFTS, 1))) % 1
    return np.asarray((1 - np.abs(2 * shifted - 1)).reshape(dimensions, draws))


class Totals:
    """The objective of every topology at many values of the columns."""

    def __init__(self, question: Question, drawn: Sequence[Column], objective: Objective) -> None:
        """Keep the question.

        Args:
            question: what was asked.
            drawn: its columns.
            objective: of the totals.
        """
        self.question, self.columns, self.objective = question, tuple(drawn), objective
        self.law = _Affine.of(question) if objective == "time" and any(c.of_clock for c in drawn) else None

    @property
    def slow(self) -> bool:
        """Whether every draw needs a round to be timed for itself."""
        return self.law is None and self.objective == "time" and any(c.of_clock for c in self.columns)

    def __call__(self, logs: FloatArray) -> FloatArray:
        """Shape (topologies, draws) for factors of shape (columns, draws)."""
        return self.rounds(logs) * self.prices(logs)

    def rounds(self, logs: FloatArray) -> FloatArray:
        """Rounds to the target; (topologies, draws)."""
        parts = [self._rounds(logs[:, i : i + AT_ONCE]) for i in range(0, logs.shape[1], AT_ONCE)]
        return np.concatenate(parts, axis=1)

    def _rounds(self, logs: FloatArray) -> FloatArray:
        question = self.question
        changes = {
            name: question.values[name] * np.exp(log)
            for name in ROUNDS[:-1]
            if (log := self._log(name, logs)) is not None
        }
        log = self._log("target", logs)
        if log is not None and question.target is not None:
            share = None if question.share is None else question.share * np.exp(log)
            question = question.varied(target=question.target * np.exp(log), share=share)
        found = question.rounds(**changes)
        return np.stack([np.broadcast_to(found[t], logs.shape[1:]) for t in self.question.topologies]).astype(float)

    def prices(self, logs: FloatArray) -> FloatArray:
        """What one round adds to the objective; (topologies, draws), or (topologies, 1) where that is all the same."""
        question = self.question
        moved = {
            name: value * np.exp(log)
            for name, value, _ in _of_clock(question)
            if (log := self._log(name, logs)) is not None
        }
        if not moved:
            return np.array([[question.price(t, self.objective)] for t in question.topologies])
        if self.law is not None:
            return self.law.seconds(moved, logs.shape[1])
        each = [{name: float(value[i]) for name, value in moved.items()} for i in range(logs.shape[1])]
        questions = [_with_clock(question, changes) for changes in each]
        return np.array([[q.price(t, self.objective) for q in questions] for t in question.topologies])

    def _log(self, name: str, logs: FloatArray) -> FloatArray | None:
        parts = [c.moves[name] * logs[i] for i, c in enumerate(self.columns) if name in c.moves]
        return np.asarray(sum(parts[1:], parts[0])) if parts else None


def _with_clock(question: Question, changes: Mapping[str, float]) -> Question:
    """The same with other numbers of the clock."""
    network = question.network
    for tier in network.named:
        parts = {p: changes[f"{tier}.{p}"] for p in LINK if f"{tier}.{p}" in changes}
        if parts:
            network = network.with_link(tier, **parts)
    compute = replace(question.compute, step_time=changes.get("step_time", question.compute.step_time))
    return question.varied(
        network=network, compute=compute, model_bytes=changes.get("model_size", question.model_bytes)
    )


@dataclass(frozen=True)
class _Affine:
    """Seconds of a round as a linear form, with its coefficients found by asking.

    Without stragglers a round lasts a sum of: a constant, multiples of the step time and of each latency, and for each
    link multiples of the time up, the time down, and the longer of the two (a direct hop).

    Attributes:
        question: with its numbers of the clock.
        coefficients: shape (topologies, features).
    """

    question: Question
    coefficients: FloatArray

    @classmethod
    def of(cls, question: Question) -> _Affine | None:
        """The form, or None where the clock follows no such one: it is asked at three more places."""
        if _timed(question):
            return None
        now = {name: value for name, value, _ in _of_clock(question)}
        size = 8 * now["model_size"]
        # At unit latency and step time, and rates that send the model in one second, everything counts alike.
        unit = {name: size if name.endswith(("up", "down")) else 1.0 for name in now} | {
            "model_size": now["model_size"]
        }
        half = {name: value / 2 if value == size else 2 * value for name, value in unit.items() if name != "model_size"}
        probes = [unit, {**unit, **half}]
        probes += [{**unit, name: value} for name, value in half.items()]
        for tier in question.network.named:
            probes.append({**unit, **{f"{tier}.{part}": half[f"{tier}.{part}"] for part in ("up", "down")}})
        form = cls(question, np.zeros((0, 0)))
        features = form._features({name: np.array([p[name] for p in probes]) for name in now}, len(probes))
        seconds = _seconds(question, probes)
        coefficients: Any = np.linalg.lstsq(features.T, seconds.T, rcond=None)[0].T
        form = cls(question, coefficients)
        checks = [
            {name: value * (1.0 + by * (i % 3 - 1)) for i, (name, value) in enumerate(now.items())}
            for by in (0.0, 0.5, -0.7)
        ]
        told = form.seconds({name: np.array([c[name] for c in checks]) for name in now}, len(checks))
        return form if np.allclose(told, _seconds(question, checks), rtol=1e-9, atol=0) else None

    def seconds(self, moved: Mapping[str, FloatArray], draws: int) -> FloatArray:
        """Of a round; (topologies, draws)."""
        return self.coefficients @ self._features(moved, draws)

    def _features(self, moved: Mapping[str, FloatArray], draws: int) -> FloatArray:
        at = {name: moved.get(name, np.array(value)) for name, value, _ in _of_clock(self.question)}
        rows = [np.ones(draws), at["step_time"]]
        for tier in self.question.network.named:
            up, down = (8 * at["model_size"] / at[f"{tier}.{part}"] for part in ("up", "down"))
            rows += [at[f"{tier}.latency"], up, down, np.maximum(up, down)]
        return np.stack([np.broadcast_to(row, draws) for row in rows])


def _seconds(question: Question, places: Sequence[Mapping[str, float]]) -> FloatArray:
    questions = [_with_clock(question, place) for place in places]
    return np.array([[q.of_a_round(t).seconds for q in questions] for t in question.topologies])


def draws(
    question: Question,
    scenario: Scenario,
    objective: Objective,
    model: Model | None = None,
    *,
    number: int | None = None,
) -> Draws:
    """What every topology takes, in draws of what is not known exactly.

    Args:
        question: what was asked; its seed fixes the draws.
        scenario: says what is known how far.
        objective: of the totals.
        model: draws of how far rounds are from those predicted, which multiply them; None for none.
        number: of draws, a power of two from 64; None for the scenario's, or fewer where each is slow.
    """
    drawn = columns(question, scenario, objective)
    totals = Totals(question, drawn, objective)
    rng = np.random.default_rng(question.seed)
    if not drawn and model is None:
        logs = np.zeros((0, 1))
    else:
        most = DRAWS_TIMED if totals.slow else DRAWS_ATTENDED if question.availability is not None else scenario.draws
        number = number or min(scenario.draws, most)
        logs = _logs(drawn, cube(rng, len(drawn), number))
    found = totals(logs)
    if model is not None:
        found = found * np.exp(model(rng, logs.shape[1]))
    return Draws(drawn, logs, found, tuple(question.topologies))


def _logs(drawn: Sequence[Column], at: FloatArray) -> FloatArray:
    return np.stack([c.logs(u) for c, u in zip(drawn, at, strict=True)]) if drawn else np.zeros((0, at.shape[1]))


# ---------------------------------------------------------------- what the draws say


def p_best(found: Draws, tolerance: float = SAME) -> dict[str, Estimate]:
    """Share of draws in which no other topology is better, relatively, than by a tolerance; ties count for everyone."""
    least = found.totals.min(axis=0)
    best = np.isfinite(least) & (found.totals <= least * (1 + tolerance))
    return {t: _mean(best[i].astype(float)) for i, t in enumerate(found.topologies)}


def regret(found: Draws, topology: str) -> Regret:
    """Relative excess of a topology's total over the least of each draw, over draws in which there is one."""
    own, least = found.totals[found.topologies.index(topology)], found.totals.min(axis=0)
    answered = np.isfinite(least)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(own <= least * (1 + SAME), 0.0, own / least - 1)
    excess = np.where(answered, excess, 0.0)
    lost = float(np.mean(np.isinf(excess)))
    high = float(np.quantile(excess, 0.9, method="higher"))
    p90 = None
    if math.isfinite(high):
        blocks = [np.quantile(block, 0.9, method="lower") for block in _blocks(excess)]
        finite = [float(b) for b in blocks if math.isfinite(b)]
        p90 = Estimate(value=high, error=float(np.std(finite, ddof=1)) / math.sqrt(len(finite)) if finite[1:] else 0.0)
    return Regret(of=topology, mean=None if lost else _mean(excess, floor=False), p90=p90, lost=lost)


def _blocks(values: FloatArray) -> FloatArray:
    return values.reshape(SHIFTS, -1) if values.size >= SHIFTS else values.reshape(1, -1)


def _mean(values: FloatArray, *, floor: bool = True) -> Estimate:
    """A mean, and its error from the blocks; a share cannot be known better than to one draw."""
    if values.size == 1:
        return Estimate(value=float(values[0]), error=0.0)
    error = float(_blocks(values).mean(axis=1).std(ddof=1)) / math.sqrt(SHIFTS)
    return Estimate(value=float(values.mean()), error=max(error, 1 / values.size if floor else 0.0))


def margins(totals: FloatArray, leaders: Sequence[int]) -> FloatArray:
    """Log of the best other total over the leaders' own, within `LARGEST_MARGIN`; 0 where neither gets there."""
    others = [i for i in range(len(totals)) if i not in leaders]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(totals[others].min(axis=0)) - np.log(totals[list(leaders)].min(axis=0))
    return np.clip(np.where(np.isnan(found), 0.0, found), -LARGEST_MARGIN, LARGEST_MARGIN)


def total_indices(base: FloatArray, changed: FloatArray) -> list[Index] | None:
    """Share of a variance that goes where one input is fixed, its interactions included: Jansen's estimator.

    The intervals are from a jackknife over the blocks: from 0 to 1 where all that varies is in one block.

    Args:
        base: values of a function at draws; shape (draws,).
        changed: at the same draws, with one input drawn again; shape (inputs, draws).

    Returns:
        One for each input, or None where the function does not vary.
    """
    squares = np.stack([_blocks((base - row) ** 2 / 2).mean(axis=1) for row in changed])
    everything = np.concatenate([base[None], changed])
    means = np.stack([_blocks(row).mean(axis=1) for row in everything]).mean(axis=0)
    powers = np.stack([_blocks(row**2).mean(axis=1) for row in everything]).mean(axis=0)

    def indices(keep: Any) -> FloatArray | None:
        power = float(powers[keep].mean())
        variance = power - means[keep].mean() ** 2
        return None if variance <= 1e-12 * max(1.0, power) else np.asarray(squares[:, keep].mean(axis=1) / variance)

    values = indices(slice(None))
    if values is None:
        return None
    number = len(means)
    left_out = [indices(np.arange(number) != b) for b in range(number)]
    known = [found for found in left_out if found is not None]
    errors = np.sqrt((number - 1) / number * ((known - np.mean(known, axis=0)) ** 2).sum(axis=0))
    if len(known) < number:
        errors = np.full(len(values), np.inf)
    return [
        Index(value=float(min(v, 1.0)), low=float(np.clip(v - T_15 * e, 0, 1)), high=float(np.clip(v + T_15 * e, 0, 1)))
        for v, e in zip(values, errors, strict=True)
    ]


def explained(
    question: Question, drawn: Sequence[Column], objective: Objective, first: Sequence[str], model: Model | None = None
) -> list[Index] | None:
    """Total indices of the log margin of the best other topology over the first.

    Args:
        question: what was asked.
        drawn: its columns.
        objective: of the margin.
        first: the first topology, and those that always take the same.
        model: as of `draws`; it is then one more input, the last.

    Returns:
        One for each column, or None where the margin does not vary or every draw is slow.
    """
    totals = Totals(question, drawn, objective)
    if totals.slow or (not drawn and model is None):
        return None
    rng = np.random.default_rng([question.seed, 1])
    points = cube(rng, 2 * len(drawn), BASE) if drawn else np.zeros((0, BASE))
    logs, again = _logs(drawn, points[: len(drawn)]), _logs(drawn, points[len(drawn) :])
    noise, noise_again = (0.0, 0.0) if model is None else (model(rng, BASE), model(rng, BASE))
    redrawn = []
    for i in range(len(drawn)):
        changed = logs.copy()
        changed[i] = again[i]
        redrawn.append(changed)
    counted = [i for i, c in enumerate(drawn) if not c.of_clock]
    rounds = np.split(totals.rounds(np.hstack([logs, *(redrawn[i] for i in counted)])), len(counted) + 1, axis=1)
    prices = totals.prices(logs)
    leaders = [tuple(question.topologies).index(t) for t in first]
    base = margins(rounds[0] * prices * np.exp(noise), leaders)
    changes = []
    for i, column in enumerate(drawn):
        here = rounds[0] if column.of_clock else rounds[1 + counted.index(i)]
        there = totals.prices(redrawn[i]) if column.of_clock else prices
        changes.append(margins(here * there * np.exp(noise), leaders))
    if model is not None:
        changes.append(margins(rounds[0] * prices * np.exp(noise_again), leaders))
    return total_indices(base, np.stack(changes))


def alone(question: Question, drawn: Sequence[Column], objective: Objective, first: Sequence[str]) -> list[Alone]:
    """Each column from its low to its high, the others at their middle."""
    totals = Totals(question, drawn, objective)
    names = tuple(question.topologies)
    leaders = [names.index(t) for t in first]
    steps = 3 if totals.slow else STEPS
    logs = np.zeros((len(drawn), len(drawn), steps))
    for i, column in enumerate(drawn):
        logs[i, i] = column.spread.reach * np.linspace(-1, 1, steps)
    at = totals(logs.reshape(len(drawn), -1)).reshape(len(names), len(drawn), steps)
    found = []
    for i in range(len(drawn)):
        margin, here = margins(at[:, i], leaders), at[:, i]
        least = here.min(axis=0)
        firsts = [names[int(here[:, s].argmin())] if math.isfinite(least[s]) else None for s in (0, -1)]
        led = here[leaders].min(axis=0) <= least * (1 + SAME)
        found.append(
            Alone(
                margin_low=float(margin[0]),
                margin_high=float(margin[-1]),
                swing=float(margin.max() - margin.min()),
                first_low=firsts[0],
                first_high=firsts[1],
                changes=bool(np.any(~led & np.isfinite(least))),
            )
        )
    return found


# ---------------------------------------------------------------- constants of the analysis


def constant_sets(scenario: Scenario, topology: str, target: float | None) -> ConstantUncertainty:
    """The order of topologies under every admissible family of bounds, each with its own target where none was given.

    Args:
        scenario: what was asked.
        topology: whose first places are counted.
        target: squared gradient to be reached; None where none was given.
    """
    sets = []
    for family_id in ADMISSIBLE["partial" if scenario.partial else scenario.order]:
        stepless = next(iter(family(family_id))).chain is None
        cap = None if stepless else scenario.cap
        question = ask(replace(scenario, bounds=family_id, cap=cap, predictor="bound", metric="gradient"))
        if target is not None:  # a share of the start is one of the predictor's, and the sets are asked for the same
            question = question.varied(target=target, share=None)
        totals = {
            t: float(n) * question.price(t, scenario.objective)
            for t, n in question.rounds().items()
            if math.isfinite(float(n))
        }
        order = sorted(totals, key=lambda t: totals[t])
        numbers = ties([totals[t] for t in order], scenario.resolution)
        first = tuple(t for t, number in zip(order, numbers, strict=True) if number == 1)
        constants = question.constants
        sets.append(
            ConstantSet(bounds=family_id, constants=constants, cap=question.cap, first=first, order=tuple(order))
        )
    return ConstantUncertainty(
        sets=tuple(sets),
        topology=topology,
        first_in=sum(topology in s.first for s in sets),
        of=sum(bool(s.first) for s in sets),
    )


# ---------------------------------------------------------------- all of it


def assess(question: Question, scenario: Scenario, recommended: Sequence[str]) -> Uncertainty | None:
    """How sure the answer is; None where the scenario asks for no draws.

    Args:
        question: what was asked.
        scenario: says what is known how far, and how many draws to make.
        recommended: the first tie group, best first.
    """
    if not scenario.draws:
        return None
    objective = scenario.objective
    found = draws(question, scenario, objective)
    first = found.same_as(recommended[0])
    every = len(first) == len(found.topologies) or not found.columns
    indices = None if every else explained(question, found.columns, objective, first)
    moved = [None] * len(found.columns) if every else alone(question, found.columns, objective, first)
    drawn = tuple(
        Drawn(
            name=c.name,
            kind=c.kind,
            distribution=c.spread.kind,
            middle=c.middle,
            low=c.middle * math.exp(-c.spread.reach),
            high=c.middle * math.exp(c.spread.reach),
            unit=c.unit,
            explains=None if indices is None else indices[i],
            alone=moved[i],
        )
        for i, c in enumerate(found.columns)
    )
    shares = p_best(found)
    number = found.totals.shape[1]
    inputs = InputUncertainty(
        draws=number if found.columns else 0,
        drawn=drawn,
        p_best=shares,
        regret=regret(found, recommended[0]),
        unanswered=float(np.mean(~np.isfinite(found.totals.min(axis=0)))),
        said=(*_next(drawn, shares[recommended[0]], every=every), *_left_out(question, scenario, number)),
    )
    return Uncertainty(inputs=inputs, constants=constant_sets(scenario, recommended[0], question.target))


def _next(drawn: Sequence[Drawn], share: Estimate, *, every: bool) -> list[str]:
    """What to measure next, in a sentence."""
    if not drawn:
        return ["Every number that the order depends on was given exactly, so nothing was drawn."]
    if every:
        return ["All topologies take the same, whatever these are."]
    known = [(d.name, d.explains) for d in drawn if d.explains is not None]
    if not known:
        moved = [(d.alone.swing, d.name, d.alone) for d in drawn if d.alone is not None]
        swing, name, ends = max(moved, key=lambda m: m[0])
        if swing > 1e-9:
            return [f"Moved alone, {name} changes the lead over the next topology most."]
        if ends.margin_low >= LARGEST_MARGIN:
            return [f"The next topology takes over {math.exp(LARGEST_MARGIN):.0f} times as much, whatever these are."]
        return ["Nothing that was drawn changes the lead over the next topology."]
    ordered = sorted(known, key=lambda item: -item[1].value)
    most = [ordered[0]]
    for item in ordered[1:3]:
        if sum(i.value for _, i in most) < 0.8 and item[1].value >= 0.1:
            most.append(item)
    little = [name for name, index in known if index.high <= LITTLE]
    parts = listed([f"{name} ({index.value:.0%})" for name, index in most])
    said = f"The lead over the next topology varies mostly with {parts}"
    if share.value < SURE:
        said += f": measure {'that' if len(most) == 1 else 'these'} first"
    if little:
        said += f"; with {few(little)} hardly at all (under {LITTLE:.0%})"
    if share.value >= SURE:
        said += ". Measuring would sharpen it, and not change the choice"
    return [f"{said}."]


def few(names: Sequence[str], most: int = 4) -> str:
    """The first of them, and how many more."""
    left = len(names) - most
    return listed(names) if left <= 1 else f"{', '.join(names[:most])} and {left} more"


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _left_out(question: Question, scenario: Scenario, number: int) -> list[str]:
    """What was not drawn, and why."""
    said = []
    if 1 < number < scenario.draws:
        why = "times a round anew" if number <= DRAWS_TIMED else "reckons with who comes"
        said.append(f"{number:,} draws instead of {scenario.draws:,}: each {why}.")
    if scenario.objective == "time" and _timed(question):
        guessed = [n for n, value, _ in _of_clock(question) if value > 0 and scenario.known[n].origin == "default"]
        if guessed:
            said.append(f"Compute times are random, so {few(guessed)}, which nobody gave, stayed as assumed.")
    return said


def agreement(
    question: Question, scenario: Scenario, totals: Mapping[str, float]
) -> tuple[ModelUncertainty | None, float]:
    """The record of the predictor near a question, and the relative difference below which topologies tie.

    The record has the shares of draws, of inputs and of errors like those measured, in which each topology is right:
    first, or so near that the record counts it as that.

    Args:
        question: what was asked.
        scenario: says what is known how far, and which difference still ties.
        totals: the objective of every topology that reaches the target.
    """
    near = record.of(question)
    if near is None:
        return None, scenario.resolution
    model = partial(record.errors, question)
    if scenario.draws:
        found = draws(question, scenario, scenario.objective, model, number=min(scenario.draws, DRAWS_OF_ERRORS))
    else:
        base = np.array([[totals.get(t, math.inf)] for t in question.topologies])
        errors = model(np.random.default_rng(question.seed), DRAWS_OF_ERRORS)
        found = Draws((), np.zeros((0, DRAWS_OF_ERRORS)), base * np.exp(errors), tuple(question.topologies))
    near = near.model_copy(update={"p_best": {t: share.value for t, share in p_best(found, record.RIGHT).items()}})
    return near, max(scenario.resolution, record.widened(near, dict(sorted(totals.items(), key=lambda item: item[1]))))
