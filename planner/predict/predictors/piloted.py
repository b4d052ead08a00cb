"""Rounds that a pilot measured on the user's own model and data, and what is made of them further on.

A topology takes as many rounds as its measured curve does to where the reference's is after the rounds asked about.
Where the reference did not come that far, its curve goes on as those had it that did; where the topology itself did
not, the ratio where its curve ends is kept: on runs of real data that were not the pilot's, growing it as a predictor
does named the best topology less often, and so did the ratio at the end of the reference. Constants of the losses
change nothing, as they were in what was measured. Other counts, which only searches ask about, move the rounds as the
predictor beneath has it. `planner.predict.pilot` makes one of these for a question; it has no id of its own among the
predictors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from planner.data.pilot import Beside
from planner.data.race_curves import FURTHEST, Continued, continued, rounds_like, value_at
from planner.io.wording import counted, names, percent, title
from planner.predict.predictors.base import Predictor, Quantity

if TYPE_CHECKING:
    from planner.data.pilot import Pilot, Runner
    from planner.predict.question import Question

MISSED = 1.0  # standard deviation of the logarithm of rounds that a seed did not tell: a factor e
NORMAL = 1.2816  # of an 80 % interval: half of it in standard deviations
# standard deviation of the logarithm of a ratio over noise seeds, each with rates of its own: of real data, between two
# of which 80 % of ratios differ by less than 1.16 times by loss and 1.28 times by accuracy
BETWEEN = {"loss": 0.083, "accuracy": 0.138}
WIDENING = 0.33  # standard deviation of the logarithm of a ratio, more for every threefold of the pilot's rounds
LITTLE = 1.05  # times the rounds that raced: so little further is not warned of
NEAR = 1e-4  # relative; a curve is known to seven digits, and crosses a level at fewer
MIXED = (
    "In an order that mixes groups, as it is predicted without a pilot, `hfl-plan pilot ... --systems trees,one-tier` "
    "races it now."
)


def between(metric: str, seeds: int) -> float:
    """Standard deviation of the logarithm of a ratio in one training, about that of so many seeds, on record."""
    return BETWEEN[metric] * math.sqrt(1 + 1 / max(seeds, 1))


class Piloted(Predictor):
    """Rounds of a pilot.

    Other counts are asked of ``base``; ``own`` are the values of the question that the pilot was measured for.
    """

    id = "pilot"
    says = "that a pilot measured"
    metrics = ("loss", "accuracy")
    measured = True

    def __init__(self, base: Predictor, pilot: Pilot, own: Mapping[str, float]) -> None:
        self.base, self.pilot, self.own = base, pilot, dict(own)
        self.on_proxy, self.furthest = pilot.problem.proxy, float(FURTHEST * pilot.rounds)
        self._lacks = pilot.metric == "accuracy"  # whether curves are of what is lacking to 1
        first = self._cost(pilot.start)
        words, reached = ("test error", "test accuracy") if self._lacks else ("training loss", "training loss")
        found = Quantity(words, lambda values: first, f"{first:.4g}", reached)
        self.quantities = {pilot.metric: found}  # type: ignore[misc]  # of this one alone

    def reached(self, question: Question, topology: str, rounds: Any, values: Mapping[str, Any]) -> Any:
        """What the curve has after so many rounds."""
        return self._each(rounds, lambda n: self._value(topology, n))

    def rounds_to(self, question: Question, topology: str, target: Any, values: Mapping[str, Any]) -> Any:
        """Rounds after which the curve is at the target."""
        found = self._each(target, lambda goal: self._rounds(topology, goal))
        moved = self._moved(question, values)
        return found * self._factor(question, topology, target, values) if moved else found

    def beside(self, question: Question, system: str) -> float | None:
        """Rounds of a system that raced beside the trees, or is one of them, where the counts are the pilot's."""
        own = self._runner(system)
        if isinstance(own, Beside) and own.times:
            return None  # its server does not wait
        runner = None if self._moved(question, question.values) else self._own(system)
        return None if runner is None else self._rounds(runner, float(question.goal()))

    def raced(self, question: Question, system: str) -> bool:
        """Whether the target lies within the pilot's curve of this system, and of the reference where that tells it."""
        own, goal = self._runner(system), float(question.goal())
        like = self._like(goal)
        told = question.target is not None or not self._beyond(like)
        if own is None or not told or self._moved(question, question.values):
            return False
        if isinstance(own, Beside) and own.times:
            return self._tasks(own, like) <= own.times[-1] * (1 + NEAR)
        return not self._beyond(self._rounds(system, goal))

    def extrapolated(self, question: Question) -> float:
        """Rounds of the reference to the target over those that raced."""
        return self._like(float(question.goal())) / self.pilot.rounds

    def stalled(self, question: Question) -> str:
        """Say since when the reference got no better, if for half of its rounds, where nothing was at the target."""
        pilot, curve = self.pilot, self._curve(self.pilot.reference)
        since, told = curve.index(curve[-1]), [one.id for one in (*pilot.topologies, *pilot.beside)]
        if question.target is None or 2 * since > pilot.rounds or not self._beyond(self._like(float(question.goal()))):
            return ""
        moved = f"{pilot.metric} has not {'risen' if self._lacks else 'fallen'}"
        said = f"{title(pilot.reference)}'s {moved} since round {since} of {pilot.rounds}"
        return "" if any(self.raced(question, system) for system in told) else said

    def pair_factor(self, question: Question, one: str, other: str) -> float:
        """That of two of the `errors`; FedAvg and sequential learning have those of the tree that they are."""
        rounds, pair = self._like(float(question.goal())), [self._own(one) or one, self._own(other) or other]
        raced = [self.raced(question, system) for system in pair]
        if all(raced) or not self._beyond(rounds):
            return 1.0
        spreads = [self.spread(system, rounds, raced=its) for system, its in zip(pair, raced, strict=True)]
        return math.exp(NORMAL * math.hypot(*spreads, self._further(rounds) * any(raced)))

    def _beyond(self, rounds: float) -> bool:
        return rounds > self.pilot.rounds * (1 + 1e-9)

    def by_group(self) -> bool:
        """Whether sequential learning raced group by group, or its rounds are those of the tree that does so."""
        own = self._runner("sfl")
        return min(self.pilot.fleet.sizes) > 1 and (not isinstance(own, Beside) or own.by_group)

    def clocked(self, question: Question) -> tuple[tuple[str, str, float, float], ...]:
        """Servers that do not wait, with the time to the target in tasks of a region, and what was delivered then."""
        if self._moved(question, question.values):
            return ()
        like, found = self._like(float(question.goal())), []
        for one in self.pilot.beside:
            if not one.times or not one.envelope:
                continue
            tasks = self._tasks(one, like)
            step = int(np.searchsorted(one.times, tasks * (1 - NEAR)))  # a whole one, as trees take whole rounds
            if step < len(one.times):
                tasks, steps = one.times[step], float(step)
            else:
                steps = (len(one.times) - 1) * tasks / one.times[-1]
            found.append((one.id, one.title, tasks, one.deliveries * steps))
        return tuple(found)

    def untimed(self, question: Question) -> tuple[tuple[str, str, float], ...]:
        """HSL and gossip, which have no global model; their cost model has one local step a round."""
        found = [(one.id, one.title, self.beside(question, one.id)) for one in self.pilot.beside if one.at_nodes]
        return tuple((id_, name, n) for id_, name, n in found if n is not None and math.isfinite(n))

    def _tasks(self, one: Beside, like: float) -> float:
        """Time to where the reference is after so many rounds, in tasks of a region of slowdown 1."""
        if not math.isfinite(like):
            return math.inf
        last = min(like, float(self.pilot.rounds))
        found = rounds_like(self._curve(self.pilot.reference), self._curve(one.id), last, one.times)
        return found * like / last if last else 0.0

    def _own(self, system: str) -> str | None:
        """The runner whose rounds a system has."""
        return system if self._runner(system) is not None else self._by_another_name(system)

    def _by_another_name(self, system: str) -> str | None:
        """The tree that a single tier is: without group rounds and draws, averages of averages and chains of chains."""
        fleet, pattern = self.pilot.fleet, {"fedavg": "star", "sfl": "ring"}.get(system)
        if pattern is None or set(fleet.passes) != {1} or fleet.drawn != fleet.sizes:
            return None
        if pattern == "ring" and fleet.order != "fixed":
            return None
        tree = "-".join([pattern] * len(fleet.sizes))
        return tree if self._runner(tree) is not None else None

    def rate(self, question: Question, topology: str, rounds: float) -> float | None:
        """The effective rate that was best after so many rounds of the pilot, and beyond them at its end."""
        runner = self._runner(topology)
        if runner is None or runner.rate is None:
            return None
        return ([*runner.rates, runner.rate][min(math.ceil(rounds), len(runner.rates))]) * runner.chain

    def spread(self, topology: str, rounds: float, *, raced: bool = False) -> float:
        """Standard deviation of the logarithm of rounds relative to the reference's, also of a system beside.

        Seeds tell it at the target of the pilot whose rounds of the reference are the nearest, those to when it was
        first met; ratios beyond the pilot add to it where the topology itself did not come that far.
        """
        runner = self._runner(topology)
        if runner is None or runner.id == self.pilot.reference:
            return 0.0
        compared = len(self.pilot.seeds.compared)
        seeds = between(self.pilot.metric, compared)
        ends = [(self._like(self._cost(one.value)) or 1.0, one) for one in reversed(self.pilot.targets)]
        near = min(ends, key=lambda pair: abs(math.log(pair[0] / (rounds or 1.0))))[1]
        if (there := near.of(runner.id)[1]) is not None and there.high is not None and there.value > 0:
            seeds = max(seeds, math.log(there.high / there.value) / NORMAL)  # earlier pilots have their seeds' alone
        elif there is not None and compared > 1:  # some seed was never there
            seeds = MISSED
        return seeds if raced else math.hypot(seeds, self._further(rounds))

    def _further(self, rounds: float) -> float:
        """Standard deviation of the logarithm of rounds by how far beyond the pilot they are."""
        return WIDENING * math.log(max(rounds / self.pilot.rounds, 1.0), 3)

    def errors(self, question: Question) -> Callable[[np.random.Generator, int], Any]:
        """Draws of the logarithms of how far rounds are off: lognormal, by seeds and by rounds beyond the pilot.

        Where some came to the target and the reference did not, its rounds are as uncertain, and with them all others.
        """
        rounds = self._like(float(question.goal()))
        raced = {topology: self.raced(question, topology) for topology in question.topologies}
        spreads = np.array([[self.spread(topology, rounds, raced=one)] for topology, one in raced.items()])
        common = np.array([[self._further(rounds) * (any(raced.values()) and not one)] for one in raced.values()])

        def draw(rng: np.random.Generator, number: int) -> Any:
            own = spreads * rng.standard_normal((len(spreads), number))
            return own + common * rng.standard_normal(number) if common.any() else own

        return draw

    def notes(self, question: Question) -> tuple[str, ...]:
        """What the rounds stand on, and which systems have those of another."""
        pilot = self.pilot
        seeds = counted(len(pilot.seeds.compared), "seed")
        proxy = ", a proxy: your label counts on other data" if pilot.problem.proxy else ""
        said = [
            f"Rounds are relative to {title(pilot.reference)}'s as a pilot measured them by {pilot.metric}: "
            f"{pilot.rounds} rounds of {pilot.problem.name}{proxy}, {seeds}.",
            *self.cautions(question),
        ]
        for system, name in (("fedavg", "FedAvg"), ("sfl", "Sequential")):
            moved = self._moved(question, question.values)
            tree = None if self._runner(system) or moved else self._by_another_name(system)
            apart = system == "sfl" and self.by_group()
            if tree is not None:
                same = "the same group by group" if apart else "the same algorithm here"
                said.append(f"{name} did not race: its rounds are those of {title(tree)}, {same}.")
            elif apart and self._runner(system):
                said.append(f"{name} raced group by group.")
            if apart and (tree is not None or self._runner(system)):
                said.append(MIXED)
        others = [(one.title, self.beside(question, one.id)) for one in pilot.beside if one.family != "one-tier"]
        raced = [f"{name} {rounds:.3g}" for name, rounds in others if rounds is not None and math.isfinite(rounds)]
        if raced:
            said.append(
                f"Beside the trees the pilot raced, in rounds to the same {pilot.metric}: {'; '.join(raced)}. Of these "
                "HHFL is timed where --coverage is that of the pilot; a round of the others is not timed here."
            )
        return tuple(said)

    def cautions(self, question: Question) -> tuple[str, ...]:
        """How far beyond the pilot the rounds are, else who ended it on the wrong side of the target."""
        goal = float(question.goal())
        last, rounds, side = self.pilot.rounds, self._like(goal), "below" if self._lacks else "above"
        if not self._beyond(rounds):
            ends = {t: one.final.value for t in question.topologies if (one := self._runner(t)) and one.final}
            lost = [t for t, end in ends.items() if self._cost(end) > self._cost(self.pilot.start)]
            own = {self.pilot.reference} if rounds > last - 1 else set()  # the target is where it ended
            others = [t for t in ends if t not in {*lost, *own} and self._left(t, goal)]
            unstable = (
                f"ended the pilot {side} the start with some seeds: the rate of one seed is not stable "
                "there. Race smaller --rates before you use it."
            )
            left = (
                f"reached the target in the pilot and ended {side} it: rounds are to when it was first "
                "met. Keep the best model, or race more rounds or seeds."
            )
            return tuple(f"{names(who)} {said}" for who, said in ((lost, unstable), (others, left)) if who)
        if rounds < LITTLE * last:
            return ()
        far = math.expm1(self._further(rounds))
        marked = " marked ~" * any(self.raced(question, topology) for topology in question.topologies)
        if question.target is not None and self._lacks:
            marked += ", if accuracy gets there at all,"
        longer = "" if self.stalled(question) else f"; `hfl-plan pilot ... --rounds {math.ceil(rounds)}` sees that far"
        return (
            f"Rounds{marked} are extrapolated {rounds / last:.3g}-fold beyond the pilot's {last} rounds, adding an "
            f"error of about {percent(far)}. That is of their ratios, each as it was where its curve ends{longer}.",
        )

    def _cost(self, value: float) -> float:
        return 1 - value if self._lacks else value

    def _runner(self, topology: str) -> Runner | None:
        found = self.pilot.runner(topology)
        return found if found is not None and found.envelope else None

    @lru_cache(maxsize=64)  # noqa: B019 - there are few of these, and they last as long as their question
    def _curve(self, topology: str) -> tuple[float, ...]:
        runner = self._runner(topology)
        return () if runner is None else tuple(map(self._cost, runner.envelope))

    def _left(self, topology: str, goal: float) -> bool:
        """Whether the mean over seeds was at a target and above it at the end; False where seeds diverged."""
        seeds = np.array(getattr(self._runner(topology), self.pilot.metric), dtype=float)  # NaN for what is no number
        after = [self._cost(value) for value in seeds[:, 1:].mean(axis=0).tolist()] if seeds.size else []
        return bool(after) and min(after) <= goal < after[-1]

    @cached_property
    def _reference(self) -> Continued:
        trees = (self._curve(one.id) for one in self.pilot.topologies if one.envelope)
        return continued(self._curve(self.pilot.reference), trees)

    @lru_cache(maxsize=64)  # noqa: B019 - as above
    def _like(self, goal: float) -> float:
        """Rounds of the reference to a value, also beyond the pilot."""
        return self._reference.rounds_to(goal)

    def _value(self, topology: str, rounds: float) -> float:
        if self._runner(topology) is None:
            return math.inf
        if rounds <= self.pilot.rounds:
            return value_at(self._curve(topology), rounds)
        return self._reference.value_at(rounds * self._reference.per_round(self._curve(topology)))  # as where it ends

    def _rounds(self, topology: str, goal: float) -> float:
        """Rounds to a value."""
        if self._runner(topology) is None or not math.isfinite(self._like(goal)):
            return math.inf
        return self._reference.rounds_of(self._curve(topology), goal)

    @staticmethod
    def _each(wanted: Any, of: Callable[[float], float]) -> Any:
        """The same of every number, each worked out once."""
        numbers, places = np.unique(np.asarray(wanted, dtype=float), return_inverse=True)
        found = np.array([of(float(number)) for number in numbers])
        return found[places].reshape(np.shape(wanted))[()]

    def _moved(self, question: Question, values: Mapping[str, Any]) -> bool:
        """Whether counts are others than the pilot's."""
        return any(np.any(np.asarray(values[name]) != self.own.get(name)) for name in question.counts)

    def _factor(self, question: Question, topology: str, target: Any, values: Mapping[str, Any]) -> Any:
        """Rounds with these counts over rounds with those of the pilot, as the predictor beneath has them."""
        here = {**self.own, **{name: values[name] for name in question.counts}}
        like = self._each(target, self._like)
        goal = self.base.reached(question, self.pilot.reference, np.maximum(like, 1.0), self.own)
        with np.errstate(all="ignore"):
            there, own = (self.base.rounds_to(question, topology, goal, counts) for counts in (here, self.own))
            return there / own
