"""Which local steps K, group rounds P and learning rates: what each choice takes to one common target.

Every choice of topology, K and P gets the rounds after which it meets one target, as the predictor has it, and what
these rounds take. A target that moved with K or P would compare choices that end at different places. Of all choices
those remain of which none is better in time and traffic, and in what else is to be least or has a budget.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from operator import le
from typing import Any, Literal, get_args

import numpy as np

from planner.cost.round import RoundCost
from planner.errors import NoAnswerError, ScenarioError
from planner.io.parts import finite
from planner.io.wording import counted, join, times, title
from planner.predict.evidence import predictor_record
from planner.predict.question import Question, ask, ceil_rounds, check_footprint, with_default_order
from planner.scenario.fields import LARGEST_COUNT
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration, format_energy, format_mass, format_size, parse

Aim = Literal["time", "traffic", "energy", "carbon", "money"]
"""What may be least, or have a budget: seconds, bytes, joules, kg CO2e, and money in the currency of the prices."""
WRITE: Mapping[Aim, Callable[[float], str]] = {
    "time": format_duration,
    "traffic": format_size,
    "energy": format_energy,
    "carbon": format_mass,
    "money": "{:,.4g} (your currency)".format,
}
LIMITS: tuple[tuple[str, Aim, str], ...] = (  # what a unit is like, what it is of, and the dimension that is read
    (r"(?is).*co2e", "carbon", "mass"),
    (r"[kM]?J|[kM]?Wh", "energy", "energy"),
    (r"(?is).*(b|bytes?)", "traffic", "size"),
    (r"(?s)[smhd].*", "time", "duration"),
)

LONGEST_TEXT = 1_000  # letters of a list
LADDER = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
MOST_GROUP_ROUNDS = 16  # without a record
TYPICAL = 2.0  # eta_eff L: the upper end of what mostly was best where it was searched for by running
STABLE = 2.0  # eta L: above it a local step moves away from the minimum where the curvature is L
LONGEST_GRID = 9  # rates of one topology; of more every second is searched


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to run, and what it takes to the target."""

    topology: str  # id, top tier first
    P: int  # group rounds in a global round
    K: int  # local steps in a group round
    rounds: float  # global rounds, whole
    cost: RoundCost = field(compare=False)  # of one
    passes: str = field(default="P", compare=False)  # what P is called in its scenario
    needed: float = field(default=math.nan, compare=False)  # rounds as predicted, which need not be whole

    @property
    def steps(self) -> str:
        """K and P in words."""
        return f"K = {self.K}, {self.passes} = {self.P}"

    @property
    def both(self) -> float:
        """Time times traffic."""
        return self.amount("time") * self.amount("traffic")

    def amount(self, aim: Aim) -> float:
        """Seconds, bytes or what else all rounds take; infinite where nothing is known of it."""
        return self.rounds * self.cost.amount(aim)


@dataclass(frozen=True, slots=True)
class Rate:
    """Learning rates of a choice, as `Plan` names them."""

    rate_predicted: float | None = None  # effective, as the predictor has it; None where it names none
    rate_predicted_raw: float | None = None
    bound_id: str = ""  # of the bound that is tuned beside it
    rate_bound: float | None = None  # where that bound is smallest after the rounds; None where it is nowhere
    rate_bound_raw: float | None = None
    why: str = ""  # why there is none


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent: at most so much, and any amount of what has no limit."""

    limits: Mapping[Aim, float] = field(default_factory=dict)
    currency: str = ""  # of money, as it was typed

    @classmethod
    def of(cls, limits: Mapping[Aim, float], currency: str = "") -> Budget:
        """Take limits in any order."""
        return cls({aim: limits[aim] for aim in get_args(Aim) if aim in limits}, currency)

    def overrun(self, choice: Choice) -> float:
        """How many times a choice takes what may be spent; at most 1 where it is within."""
        return max((choice.amount(aim) / limit for aim, limit in self.limits.items()), default=0.0)

    def allows(self, choice: Choice) -> bool:
        """Whether a choice takes no more than may be spent."""
        return self.overrun(choice) <= 1

    def __str__(self) -> str:
        """Its parts in words."""
        said = join([WRITE[aim](limit) for aim, limit in self.limits.items()])
        return said.replace("(your currency)", self.currency or "(your currency)") or "any time and traffic"


def budget_of(texts: Iterable[str]) -> Budget:
    """Read what may be spent, each with the unit that says of what: ``2h 50GB 20kWh 5kgCO2e 100USD``.

    Money has the code of its currency, which is to be that of the prices.

    Raises:
        ScenarioError: For another unit, no number above 0, or two limits of one kind.
    """
    found: dict[Aim, float] = {}
    currency = ""
    for text in texts:
        aim, limit = _limit(text)
        if not limit > 0:
            raise ScenarioError(f"--budget: {text!a:.40} leaves nothing to spend. Give more than 0.")
        if aim in found:
            raise ScenarioError(f"--budget: {text!a:.40} is a second limit of the same. Give one of the two.")
        found[aim] = limit
        currency = text.strip()[-3:] if aim == "money" else currency
    return Budget.of(found, currency)


def _limit(text: str) -> tuple[Aim, float]:
    unit = re.sub(r"^[\s\d.,e+-]+(?=[A-Za-z])", "", text.strip()) if len(text) <= LONGEST_TEXT else ""
    if re.fullmatch(r"[A-Z]{3}", unit):
        with suppress(ValueError):
            amount = float(text.strip().removesuffix(unit).replace(",", ""))
            if math.isfinite(amount):
                return "money", amount
        raise ScenarioError(f"--budget: {text!a:.40} is no amount of money. Write 100USD.")
    for like, aim, dimension in LIMITS:
        if re.fullmatch(like, unit):
            return aim, float(parse(text, dimension, field="--budget", positive=True))
    raise ScenarioError(f"--budget: {text!a:.40} has no unit of a budget. Write 2h, 50GB, 20kWh, 5kgCO2e or 100USD.")


def with_one_target(question: Question) -> Question:
    """The same question with its target as a number, so that it stays where it is whatever K and P are.

    A limit on rounds remains where it was given beside a target; a horizon that only defined the target does not.

    Raises:
        NoAnswerError: if the start meets the target.
    """
    goal, start = float(question.goal()), float(question.first())
    if goal >= start:
        raise NoAnswerError(
            f"the target {goal:.4g} is met before the first round, for {question.quantity.first_in_words} = "
            f"{start:.4g} bounds it there. "
            "Give a smaller --target, or more --rounds to define one."
        )
    return question.varied(target=goal, share=None, horizon=None if question.target is None else question.horizon)


def without_pilot(scenario: Scenario, what: str, budget: Budget | None = None) -> None:
    """Refuse a pilot, which is of one K and P; ``what`` compares many, within a ``budget``.

    Raises:
        ScenarioError: if there is one.
    """
    if scenario.pilot is not None:
        each = "Leave it out, or run `hfl-plan pilot` with each and compare what `hfl-plan recommend --pilot` says."
        way = _within(scenario, budget) if budget is not None and budget.limits else each
        raise ScenarioError(f"--pilot: it measured one K and P, and {what} compares many. {way}")


def _within(scenario: Scenario, budget: Budget) -> str:
    """Say how `recommend` ranks by a pilot within a budget: by what the reference reaches in the rounds that are."""
    question = ask(with_default_order(scenario))
    if question.target is not None:
        each = "has what every topology takes to the target"
        return f"`hfl-plan recommend` with the same options, and without those of the budget, {each}."
    for one in budget.limits:
        check_footprint(question, one, "--budget")
    cost = question.of_a_round(question.reference)
    rounds, aim = min((limit / cost.amount(aim), aim) for aim, limit in budget.limits.items())
    n, star = math.floor(rounds), title(question.reference)
    if n < 1:
        return f"Allow more: a round of {star} takes {WRITE[aim](cost.amount(aim))}."
    first, far = "", n / question.predictor.furthest
    if far > 1 and scenario.pilot is not None:
        first = f"`hfl-plan pilot ... --rounds {math.ceil(far * scenario.pilot.rounds)}` and then "
    return (
        f"Run {first}`hfl-plan recommend ... --rounds {n} --objective {aim}`, the rounds of {star} within {budget}: "
        f"what takes less {join(list(budget.limits))} there gets further within it."
    )


def steps(question: Question, group_rounds: Any, local_steps: Any) -> dict[str, Any]:
    """P and K by their symbols; P are the passes of the lowest tier, which a single tier has not."""
    passes = question.symbols[-1].passes
    return {**({passes: group_rounds} if passes else {}), "K": local_steps}


def with_steps(question: Question, group_rounds: int, local_steps: int) -> Question:
    """The same question with other P and K."""
    return question.varied(values={**question.values, **steps(question, group_rounds, local_steps)})


def passes(question: Question) -> str:
    """The symbol of the passes of the lowest tier: P, or that of its tier in deeper trees."""
    return question.symbols[-1].passes or "P"


def steps_in_a_round(question: Question, group_rounds: int, local_steps: int) -> int:
    """Local steps of a client that takes part throughout a global round: K times the passes of all tiers."""
    return predictor_record.steps_in_a_round(question, **steps(question, group_rounds, local_steps))


def on_record(question: Question) -> float:
    """P K, as far as measured runs went; at least 1, and infinite for a predictor that needs no record."""
    return max(1.0, predictor_record.most_steps(question) / steps_in_a_round(question, 1, 1))


def usual(question: Question) -> tuple[list[int], list[int]]:
    """Values of P and of K to try where none are given: no further than runs on record went."""
    most = on_record(question)
    several = question.symbols[-1].passes is not None
    P = [n for n in LADDER if n <= min(most, MOST_GROUP_ROUNDS if several else 1)]
    return P, [n for n in LADDER if n <= most]


def a_step_beyond(
    question: Question, group_rounds: Sequence[int] | None, local_steps: Sequence[int] | None
) -> list[tuple[int, int]]:
    """Pairs of P and K, of those given or of the usual ladder, that are next above what runs on record went to."""
    most = on_record(question)
    exchanges = group_rounds or [n for n in LADDER if n <= (MOST_GROUP_ROUNDS if question.symbols[-1].passes else 1)]
    pairs = ((p, next((k for k in local_steps or LADDER if p * k > most), None)) for p in exchanges)
    return [(p, k) for p, k in pairs if k is not None]


def choices(
    question: Question,
    group_rounds: Iterable[int],
    local_steps: Iterable[int],
    among: Iterable[str],
    most: float = math.inf,
) -> list[Choice]:
    """Every choice that reaches the target.

    What has P K above ``most`` is left out, except where P or K is 1, for which the values alone say how far to go.
    """
    every = product(sorted(set(group_rounds)), sorted(set(local_steps)))
    pairs = [(p, k) for p, k in every if p * k <= most or 1 in (p, k)]
    P, K = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    rounds = question.rounds(**steps(question, P, K))
    found = []
    for topology in among:
        for (p, k), count in zip(pairs, np.broadcast_to(rounds[topology], P.shape).tolist(), strict=True):
            if not math.isfinite(count):
                continue
            cost = question.of_a_round(topology, **steps(question, p, k))
            one = Choice(topology, p, k, ceil_rounds(count), cost, passes(question), count)
            if math.isfinite(one.both):
                found.append(one)
    return found


def weighed(aim: Aim, budget: Budget) -> tuple[Aim, ...]:
    """What choices are compared in: time and traffic, and what else is to be least or has a budget."""
    return tuple(dict.fromkeys(("time", "traffic", aim, *budget.limits)))


def beside(aim: Aim) -> Aim:
    """What choices are told by beside what is to be least: traffic, or time."""
    return "traffic" if aim == "time" else "time"


def front(found: Iterable[Choice], weighed: Sequence[Aim] = ("time", "traffic")) -> list[Choice]:
    """The choices than which none is better in something weighed and no worse in the rest, the fastest first.

    Choices with the same amounts are all kept.
    """
    kept: list[tuple[tuple[float, ...], Choice]] = []
    for choice in sorted(found, key=lambda one: [one.amount(aim) for aim in weighed]):  # only earlier ones beat it
        own = tuple(choice.amount(aim) for aim in weighed)
        if not any(other != own and all(map(le, other, own)) for other, _ in reversed(kept)):
            kept.append((own, choice))
    return [choice for _, choice in kept]


def recommended(best: Sequence[Choice], aim: Aim, budget: Budget, resolution: float, *, way: str = "") -> Choice:
    """The choice with the least of the aim within the budget; of those that tie in it, the least time times traffic.

    Where the aim is one of these, the least of the other.

    ``best`` is a front: what is not on it is beaten within any budget by something that is. A ``way`` to more choices
    is named where none is within it.

    Raises:
        NoAnswerError: if nothing is within the budget; it names the nearest.
    """
    within = [choice for choice in best if budget.allows(choice)]
    if not within:
        near = min(best, key=budget.overrun)
        shown, over = weighed("time", budget), budget.overrun(near)
        raise NoAnswerError(
            f"no topology, P and K tried reaches the target within {budget}: the nearest, {described(near)}, takes "
            f"{counted(int(near.rounds), 'round')}, {join([WRITE[one](near.amount(one)) for one in shown])}, "
            f"{times(over) if over > 1.1 else f'{over:.4g}x'} the budget. Allow more, or give a looser "
            f"--target.{way}",
            code="N003",
        )
    least = min(choice.amount(aim) for choice in within)
    others = [one for one in get_args(Aim)[:2] if one != aim]  # of time and traffic
    tied = [choice for choice in within if choice.amount(aim) <= least * (1 + resolution)]
    return min(tied, key=lambda choice: (math.prod([choice.amount(other) for other in others]), choice.amount(aim)))


def alike(
    found: Iterable[Choice], chosen: Choice, budget: Budget, resolution: float, weighed: Sequence[Aim]
) -> list[Choice]:
    """The other choices within the budget that take at most as much in all that is weighed, up to the resolution."""
    most = 1 + resolution
    return [
        choice
        for choice in found
        if choice != chosen
        and all(choice.amount(aim) <= chosen.amount(aim) * most for aim in weighed)
        and budget.allows(choice)
    ]


def tie_numbers(best: Sequence[Choice], resolution: float, weighed: Sequence[Aim] = ("time", "traffic")) -> list[int]:
    """For a front, the fastest first: choices of one number differ by less than the resolution in all weighed."""
    numbers: list[int] = []
    first: Choice | None = None
    for choice in best:
        near = first is not None and all(
            max(choice.amount(aim), first.amount(aim)) <= min(choice.amount(aim), first.amount(aim)) * (1 + resolution)
            for aim in weighed
        )
        if not near:
            first = choice
        numbers.append(numbers[-1] if near else (numbers[-1] if numbers else 0) + 1)
    return numbers


def rate(question: Question, choice: Choice) -> Rate:
    """The learning rates that the predictor and the bound name for a choice and its rounds."""
    at = with_steps(question, choice.P, choice.K)
    rounds, chain = max(1.0, choice.rounds), chain_length(question, choice, choice.topology)
    tuned = at.best_bound(choice.topology, rounds)
    named = at.predictor.rate(at, choice.topology, rounds)
    predicted = finite(named)
    proved, why = finite(tuned.eta_eff if tuned else None), ""
    if chain is None:
        why = "this bound is a rate at a step already chosen, and names no learning rate"
    elif named is None:
        why = f"the predictor {at.predictor.id} names no learning rate"
    elif predicted is None:
        why = "without noise, heterogeneity and cap any learning rate is too small; choose one"
    return Rate(
        rate_predicted=None if chain is None else predicted,
        rate_predicted_raw=None if chain is None or predicted is None else predicted / chain,
        bound_id=tuned.bound.id if tuned else "",
        rate_bound=proved,
        rate_bound_raw=None if chain is None or proved is None else proved / chain,
        why=why,
    )


def search_grid(rates: Iterable[float | None], least_top: float = 0.0, most: float = math.inf) -> list[float]:
    """Effective learning rates to start a search at: by factors of 2, from half the smallest to twice the largest.

    Rates are effective, those of all topologies, as a comparison is fair on one grid; it reaches ``least_top`` in any
    case.
    """
    told = [eta for eta in rates if eta is not None]
    if not told:
        return []
    low, high = min(told) / 2, max(2 * max(told), least_top)
    octaves = math.ceil(math.log2(high / low) - 1e-9)
    return [eta for i in range(octaves + 1) if (eta := low * 2**i) <= most]


def chain_length(question: Question, choice: Choice, topology: str) -> float | None:
    """``eta_eff / eta`` of a topology with the P and K of a choice; None for a bound that names no step."""
    bound = question.bounds.get(topology)
    at = with_steps(question, choice.P, choice.K)
    return None if bound is not None and bound.chain is None else float(at.chain(topology))


def described(choice: Choice) -> str:
    """Topology, P and K in words."""
    return f"{choice.topology.title()} with {choice.passes} = {choice.P}, K = {choice.K}"


def whole_numbers(option: str, text: str | None, default: Iterable[int], whole: int = 0) -> list[int]:
    """Read ``5``, ``1,2,5`` and ``1:64``; a range of over so many has its ends and small numbers and powers between."""
    if text is None:
        return sorted(default)
    found: set[int] = set()
    for part in text.split(",") if len(text) <= LONGEST_TEXT else [text]:
        match = re.fullmatch(r"\s*([0-9]{1,7})\s*(?::\s*([0-9]{1,7})\s*)?", part)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= low <= high <= LARGEST_COUNT:
            way = "Write 5, or 1,2,5, or 1:64, the smaller end first."
            if "/" in part:
                way = "Write those of the lowest tier, and --set fleet.tiers.2.passes=3 for the second."
            raise ScenarioError(
                f"{option}: {part.strip()!a:.40} is not a whole number from 1 to {LARGEST_COUNT}, or a range of them. "
                f"{way}"
            )
        doubled = [2**i for i in range(21)]
        between = (*LADDER, *doubled) if high - low >= whole else range(low, high)
        found |= {low, high, *(n for n in between if low < n < high)}
    return sorted(found)
