"""What `hfl-plan flip` answers, as data: how far every input is from another answer, and what comes first beyond."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from hflbounds.errors import HflBoundsError
from hflbounds.evaluate.compare import crossings
from planner.cost.round import CostError
from planner.decide import breakpoints as changes
from planner.decide import participation, toss_up
from planner.decide.advice import UNASKED, ask_sharing, assumptions
from planner.decide.breakpoints import FINE, Line
from planner.decide.explain import known_values, target_of
from planner.decide.nearest import WAYS, Way
from planner.decide.parameters import (
    NICKNAMES,
    Input,
    Perturbed,
    deviations,
    fixed,
    input_named,
    inputs,
    is_quick,
    is_too_large,
    moved_by,
)
from planner.decide.recommendation import SHARING
from planner.decide.settings import Setting, costs, is_assumed, is_open, other_words, with_other_words
from planner.decide.single_tier import beside, unserved
from planner.decide.uncertainty.distributions import FACTOR
from planner.decide.verdict import ON_PROXY, Standing, algorithms, one_tier, standing
from planner.errors import NoAnswerError, ScenarioError
from planner.io.answers import Answer, Caution, NextStep, Quantity, Sensitivity, Verdict
from planner.io.parts import Part, field
from planner.io.text import topology_id
from planner.io.version import version
from planner.io.wording import LISTED, in_terms_of, input_words, join, names, one_of, times, title
from planner.predict.question import Question, ask, with_default_order
from planner.scenario.fields import CLOCKED, CostMethod, Objective
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_break_even

CLOSE = 10.0  # a factor within which a number is changed sooner than a setting
SPAN = 30.0  # a map goes from 1/SPAN to SPAN times a value, where no range was given
Progress = Callable[[str], None]


class Change(Part):
    """The nearest change along one input on one side, or by another word for a setting; all else fixed."""

    id: str = field("the parameter, and the side or the word")
    parameter: str
    now: float | int | str
    unit: str = ""
    break_even: float | int | str = field(
        "the first value at which a topology outside the first tie is best, or one of a toss-up alone"
    )
    best_beyond: tuple[str, ...] = field("empty where the target is not reached")
    method: Way
    assumed: bool = field("whether `now` was not given", default=False)
    before: float | int | None = field(
        "the last value seen without the change; `break_even` where it is solved", default=None
    )
    distance: float | None = field("ln(break_even / now), negative below; null from or to 0", default=None)
    clear: float | int | None = field("from where on none of the first tie is within the resolution", default=None)
    toss_up: float | int | None = field(
        "from where on `recommend` names a toss-up, before the break-even; null where that is not before", default=None
    )
    beaten: float | int | None = field(
        "from where on, beyond the break-even, none of the first tie is in a toss-up of `recommend` any more",
        default=None,
    )
    crossing: float | None = field("where the two bounds are equal at every step, in closed form", default=None)
    rounds: Quantity | None = field("of the best beyond, there", default=None)
    time_seconds: Quantity | None = None
    traffic_bytes: Quantity | None = None
    alone: bool = field("whether a toss-up ends there, as one topology is named beyond it", default=False)
    last: float | int | None = field(
        "up to where that is so; null where it does not end among those looked at", default=None
    )

    @property
    def turned(self) -> float | None:
        """The distance of the toss-up before a break-even, where there is one; else that of the break-even."""
        return self.distance if self.toss_up is None else _apart(self.toss_up, self.now)

    @property
    def tossed(self) -> float | int | None:
        """The end of the toss-up about a break-even, of a count its last value; None where it was not seen to end."""
        if isinstance(self.beaten, int) and self.toss_up is not None:
            return self.beaten + (1 if self.beaten < self.toss_up else -1)
        return self.beaten


def _apart(at: float, now: float | str) -> float | None:
    """How far a value is from the present one, as the logarithm of the factor; None from or to 0."""
    return math.log(at / now) if not isinstance(now, str) and now > 0 and at > 0 else None


class Followed(Part):
    """How changes were looked for."""

    predictor: str = field("whose rounds are meant")
    bounds: str
    cost: CostMethod
    resolution: float
    seed: int
    among: tuple[str, ...] = field("the topologies that compete")
    first: tuple[str, ...] = field("the first tie now, from which changes are counted")
    lines: tuple[Line, ...]
    settings: tuple[Setting, ...]
    unmoved: dict[str, str] = field("inputs that were not followed, and why")
    held: tuple[str, ...] = field("counts, followed at the present target; empty where the target is a number")
    with_sigma: tuple[str, ...] = field("deviations that are multiples of sigma, and move with it")
    moving: tuple[str, ...] = field("facts of the problem, which move the target; empty where it is a number")


class Flips(Answer):
    """Every change of the answer, along every input.

    Attributes:
        rows: Changes: first what the verdict names, then settings that were not given, then the nearest first.
        flip: How they were looked for.
    """

    schema: Literal["hfl-plan/flip/2"] = "hfl-plan/flip/2"
    rows: tuple[Change, ...]
    flip: Followed

    def change(self, parameter: str, side: int) -> Change | None:
        """Return the nearest change of an input below (-1) or above (1) its value; None where there is none."""
        id_ = f"{parameter} {'above' if side > 0 else 'below'}"
        return next((row for row in self.rows if row.id == id_), None)


def flip(  # reason: one field of the answer after the other
    scenario: Scenario, among: Sequence[str] = (), only: Sequence[str] = (), progress: Progress = lambda _: None
) -> Flips:
    """Follow every input to every change of the answer.

    Topologies other than ``among`` do not compete, and inputs other than ``only`` are not followed, where these are
    given.

    Raises:
        ScenarioError: for a free number of groups, an unknown topology or input.
        NoAnswerError: if no topology reaches the target.
    """
    scenario, question, competing = posed(scenario, among)
    objective = scenario.objective
    here = standing(question, scenario, objective)
    resolution, first = scenario.resolution, here.undecided(competing)
    if not first:
        raise NoAnswerError(
            "no topology reaches the target, so there is no answer that could change. "
            "`hfl-plan recommend` says what it would take.",
            code="N003",
        )
    followed, unmoved = _followed(question, objective, only)
    facts = ("sigma", *deviations(question))
    walked = {}
    for each in followed:
        progress(each.name)
        walked[each.name] = changes.along(each, question, objective, competing, first, resolution)
    walks = [one for one in walked.values() if only or _says_more(one, walked)]
    found = [_change(side, one, here, first) for one in walks for side in (one.below, one.above) if side]
    unsaid = {SHARING} if is_open(SHARING, scenario) else ()  # which the first tie stands on, whatever is followed
    words = (word for word in other_words(question, scenario) if not only or word[0] in unsaid)
    settings = tuple(with_other_words(words, scenario, competing, first))
    found += [_turned(one, scenario) for one in settings if one.flips and one.parameter != "objective"]
    found = [_with_toss_up(row, walks, here, competing) for row in found]
    tossed = len(algorithms(question, first)) > 1
    sides = [(one.input, side) for one in walks for side in (-1, 1) if tossed or not (one.below, one.above)[side > 0]]
    for each, side in sides:
        progress(each.name)
        found += _turned_toss_up(each, side, here, competing)
    found.sort(key=lambda row: _nearness(row, scenario))
    lines = tuple(along.line for along in walks)
    every = len(competing) == len(question.topologies)
    told, named = _verdict(scenario, question, first, found, every=every)
    found.sort(key=lambda row: row.id not in named)
    if every and told.status != "depends":
        said = one_tier(question, scenario, objective, here.least, first, beside(question))
        told = told.replaced(text=f"{told.text} {said}".rstrip())
    if question.predictor.on_proxy:
        told = told.replaced(text=f"{told.text} {ON_PROXY}")
    return Flips(
        version=version(),
        command=("hfl-plan", "flip"),
        title=scenario.title,
        scenario=known_values(scenario, question),
        objective=objective,
        metric=question.metric,
        target=target_of(question, scenario.known["target"]),
        verdict=told,
        rows=tuple(found),
        assumptions=assumptions(scenario, question, None),
        warnings=tuple(Caution(text=text) for text in scenario.warnings),
        sensitivity=tuple(_sensitivities(found, lines)),
        next=tuple(_next(question, scenario, found, first)),
        flip=Followed(
            predictor=question.predictor.id,
            bounds=question.family,
            cost=scenario.cost,
            resolution=resolution,
            seed=scenario.seed,
            among=competing,
            first=first,
            lines=lines,
            settings=settings,
            unmoved=unmoved,
            held=tuple(each.name for each in followed if each.whole and question.target is None),
            with_sigma=question.in_sigmas,
            moving=tuple(each.name for each in followed if each.name in facts and question.target is None),
        ),
    )


def _verdict(
    scenario: Scenario, question: Question, best: tuple[str, ...], rows: Sequence[Change], *, every: bool
) -> tuple[Verdict, Sequence[str]]:
    """Which topology is best, whether an assumption that another plausible value turns decides, and the rows named."""
    by = f"{scenario.objective}{'' if every else ', of those that compete'}"
    # What leaves the first among the best, alone or in a toss-up, leaves it as good a choice.
    deciding = [row for row in rows if _decides(row) and best[0] not in row.best_beyond]
    if deciding:
        beyond = (t for row in deciding for t in row.best_beyond)
        both = tuple(dict.fromkeys((*best, *beyond)))
        unknown = list(dict.fromkeys(_unknown(row.parameter, deciding, scenario.tier_names) for row in deciding))
        verb = "decides" if len(unknown) == 1 else "decide"
        which = one_of(algorithms(question, both))
        text = f"{which[:1].upper()}{which[1:]} by {by}: {join(unknown)} {verb}."
        cases = tuple(_cases(question, deciding[0], best))
        return Verdict(status="depends", on=deciding[0].parameter, cases=cases, text=text), [row.id for row in deciding]
    each = algorithms(question, best)
    alone = len(each) == 1
    said = f"{title(best[0])} is best by {by}" if alone else f"Toss-up for {by}: {one_of(each)}"
    change = "no input followed puts another in front" if alone else "no number alone settles it"
    leading = _leading(best, rows, scenario) if rows else None
    if leading is not None:
        change = _in_words(question, best, leading, scenario.tier_names)
    status: Literal["best", "toss-up"] = "best" if alone else "toss-up"
    return Verdict(status=status, best=best, text=f"{said}; {change}."), [leading.id] if leading else []


def _leading(best: tuple[str, ...], rows: Sequence[Change], scenario: Scenario) -> Change:
    """The nearest change, or toss-up before one: a number close by, else a setting, one step away, else a number.

    What a preset says of how clients share their link, which nobody else said, comes before all.
    """
    if len(best) > 1:
        rows = [row for row in rows if row.alone or (row.method == "setting" and len(row.best_beyond) == 1)] or rows
    rows = [
        row.replaced(break_even=at, distance=row.turned, best_beyond=(*best, *row.best_beyond), last=row.tossed)
        if (at := row.toss_up) is not None
        else row
        for row in rows
    ]
    settings = [row for row in rows if row.method == "setting"]
    preset = [row for row in settings if is_open(row.parameter, scenario) and not row.assumed]
    numbers = [row for row in rows if row.distance is not None]
    nearest = min(numbers, key=lambda row: abs(row.distance or 0.0), default=None)
    if settings and (preset or nearest is None or abs(nearest.distance or 0.0) > math.log(CLOSE)):
        return min(preset or settings, key=lambda one: (set(best) <= set(one.best_beyond), not one.assumed))
    return nearest or rows[0]


def _in_words(question: Question, best: tuple[str, ...], row: Change, tiers: Sequence[str]) -> str:
    """Say what a change does."""
    row = in_terms_of(question.metric, row)
    if row.method == "setting":
        each = algorithms(question, row.best_beyond)
        which = names(each) if 0 < len(each) <= LISTED else f"{len(each)} topologies"
        makes = (
            f"makes {'it' if len(each) == 1 else 'a toss-up of'} {which}" if each else "puts the target out of reach"
        )
        if row.parameter == "tiers":
            makes = unserved(makes, row.parameter, row.break_even, question.values["P"])
            return f"{'leaving out' if row.break_even == '1' else 'adding'} group servers {makes}"
        if len(each) == 1 and len(best) > 1 and set(row.best_beyond) <= set(best):
            makes = f"settles it for {which}"
        return f"{input_words(row.parameter, tiers)} {row.break_even} {makes}"
    joint = " " if row.unit else " = "
    away = "" if row.distance is None else f", {times(math.exp(abs(row.distance)))} away"
    if row.alone or best[0] in row.best_beyond:
        above = float(row.break_even) > float(row.now)
        where = f"{'above' if above else 'below'} {_at(row)}"
        where = f"= {_at(row)} or {'more' if above else 'less'}" if isinstance(row.break_even, int) else where
        if row.last is not None:
            ends = dict.fromkeys(format_break_even(end, row.unit) for end in sorted((float(row.break_even), row.last)))
            where = f"{'of' if len(ends) > 1 else '='} {' to '.join(ends)}"
        what = input_words(row.parameter, tiers)
        s = "" if what.endswith("rates") else "s"
        does = f"settle{s} it for {names(row.best_beyond)}" if row.alone else f"make{s} it a toss-up"
        return f"{what} {where} {does}"
    return f"the nearest change is at {input_words(row.parameter, tiers)}{joint}{_at(row)}{away}"


def _at(row: Change) -> str:
    """Where a change is, with three digits."""
    return format_break_even(row.break_even, row.unit)


def _decides(row: Change) -> bool:
    """Whether an assumption turns the answer within what it is taken to be known by; counts are yours to choose."""
    if row.alone or not row.assumed or not row.best_beyond:
        return False
    if row.parameter in UNASKED or isinstance(row.break_even, int):
        return False
    away = None if row.beaten is None else _apart(row.beaten, row.now)  # who leads in a toss-up decides nothing
    return row.method == "setting" or (away is not None and abs(away) <= math.log(FACTOR))


def _unknown(parameter: str, deciding: Sequence[Change], tiers: Sequence[str]) -> str:
    """Name what decides; both rates of a link in one word."""
    link, _, part = parameter.partition(".")
    rates = {f"{link}.up", f"{link}.down"}
    both = part in ("up", "down") and rates <= {row.parameter for row in deciding}
    what = input_words(parameter, tiers)
    if not both:
        return what
    return what.replace(f" {part}link", " link") if tiers else link.replace("_", " ")


def _cases(question: Question, row: Change, best: tuple[str, ...]) -> Iterator[Verdict]:
    """What is best on either side of a change and of the toss-up about it."""
    now, beyond, leads = str(row.now), _at(row), ""
    if not isinstance(row.break_even, str):
        above, leads, beaten = row.break_even > float(row.now), " leads", row.beaten or row.break_even
        ends = (format_break_even(end, row.unit) for end in (row.toss_up or row.break_even, beaten))
        now, beyond = map(" ".join, zip(("below", "above") if above else ("above", "below"), ends, strict=True))
        if row.last is not None:
            beyond = " to ".join(format_break_even(end, row.unit) for end in sorted((beaten, row.last)))
    for value, topologies in ((now, best), (beyond, row.best_beyond)):
        each = algorithms(question, topologies)
        text = one_of(each) + leads * (topologies is not best) if len(each) == 1 else f"toss-up, {one_of(each)}"
        yield Verdict(value=value, status="best" if len(each) == 1 else "toss-up", best=topologies, text=text)


def _sensitivities(rows: Sequence[Change], lines: Sequence[Line]) -> Iterator[Sensitivity]:
    """The nearest change of each parameter, and then the parameters without one."""
    seen: set[str] = set()
    for row in rows:
        if row.parameter not in seen:
            seen.add(row.parameter)
            yield Sensitivity.made_of(row)
    for line in lines:
        if line.parameter not in seen:
            yield Sensitivity.made_of(line, method=WAYS[line.method])


def _next(question: Question, scenario: Scenario, rows: Sequence[Change], first: Sequence[str]) -> Iterator[NextStep]:
    """Ask what decides; a map of the two inputs with the nearest changes, and all details."""
    if any(_decides(row) and row.parameter == SHARING for row in rows):
        yield ask_sharing(scenario)
    short = {name: word for word, name in NICKNAMES.items()}
    free = question.members is None and not question.predictor.measured
    counts = [tier.size for tier in reversed(question.symbols) if free]
    near = [row for row in rows if row.distance is None or abs(row.distance) < math.log(SPAN)]  # a map shows it
    near = [row for row in near if row.method != "setting" and not {*row.best_beyond} & {*first}]  # no toss-up is on it
    numbers = [row.parameter for row in near if "/" not in row.parameter]
    numbers = [n for n in numbers if not n.startswith("absence.") and not n.endswith(".rate")]  # of no option
    links: dict[str, str] = {}
    for name in (*numbers, *counts):
        links.setdefault(name.rpartition(".")[0] or name, name)  # one number of a link
    axes = list(links.values())[:2]
    if numbers and len(axes) == 2:
        argv: tuple[str, ...] = ("...", "--map", ",".join(short.get(axis, axis) for axis in axes))
        argv += ("--output", "map.svg") * (importlib.util.find_spec("matplotlib") is not None)
        yield NextStep(argv=argv, why="draws which topology is best over both")
    yield NextStep(argv=("...", "--explain"), why="all details")


def posed(scenario: Scenario, among: Sequence[str]) -> tuple[Scenario, Question, tuple[str, ...]]:
    """The scenario with its order of rings, what it asks, and the topologies that compete: those of ``among``, or all.

    Raises:
        ScenarioError: where counts are yet to be searched for, for an unknown topology, or fewer than two.
        NoAnswerError: where no topology survives.
    """
    if scenario.divisions:
        raise ScenarioError(
            f"flip: {scenario.searched} searched, so there is no one answer to start from. {scenario.settled_by}"
        )
    scenario = with_default_order(scenario)
    question = ask(scenario)
    participation.check(question)
    named = [topology_id(name, question.topologies, "--among") for name in among]
    kept = tuple(t for t in question.topologies if t in named or not among)
    if len(kept) < 2:
        raise ScenarioError("--among: one topology has nothing to change places with. Name two or more.")
    return scenario, question, kept


def _followed(question: Question, objective: Objective, only: Sequence[str]) -> tuple[list[Input], dict[str, str]]:
    """The inputs to follow, and why others are not."""
    found, timed = inputs(question, objective), inputs(question, "time")
    every = {**found, **timed}
    only = [input_named(name, every, "--parameter") for name in only]
    unmoved = {}
    if objective not in CLOCKED and not question.partly_available:
        why = "changes no count of rounds" if objective == "rounds" else "changes no order of traffic"
        unmoved = {name: why for name in every if name not in found}
    if objective in CLOCKED and is_too_large(question):
        why = "the fleet is too large to draw its compute times again and again; ask with --straggler none"
        unmoved = {name: why for name, each in found.items() if each.timed or each.whole}
    unmoved |= fixed(question, found)
    kept = [each for name, each in found.items() if name not in unmoved and (not only or name in only)]
    return kept, {name: why for name, why in unmoved.items() if not only or name in only}


def _says_more(one: changes.Walked, walked: Mapping[str, changes.Walked]) -> bool:
    """Whether an input that moves two others at once changes the answer nearer than either; True for all others."""
    parts = [walked[name] for name in moved_by(one.input.name)]
    if parts != [one] and not (one.below or one.above):
        return len(one.line.stretches) > 1
    return parts == [one] or any(_away(one, side) < min(_away(part, side) for part in parts) - FINE for side in (-1, 1))


def _away(one: changes.Walked, side: int) -> float:
    """How far the nearest change of a rate is on a side, as the logarithm of the factor; infinite where none is."""
    change = one.above if side > 0 else one.below
    return abs(math.log(change.at / one.input.value)) if change else math.inf


def _along(each: Input, side: int, at: float | int, here: Standing, **own: Any) -> Change:
    """A change along an input on one side, at a value; ``own`` are its other fields."""
    return Change(
        id=f"{each.name} {'above' if side > 0 else 'below'}",
        parameter=each.name,
        now=each.number(each.value),
        unit=each.unit,
        break_even=at,
        assumed=is_assumed(each.name, here.scenario),
        distance=_apart(at, each.value),
        **own,
    )


def _change(change: changes.Change, found: changes.Walked, here: Standing, first: Sequence[str]) -> Change:
    each, method = found.input, found.line.method
    side = 1 if change.at > each.value else -1
    just = change.at * (1 + side * 1e-9) if method == "solved" else change.at
    return _along(
        each,
        side,
        each.number(change.at),
        here,
        best_beyond=change.to,
        method=WAYS[method],
        before=each.number(change.before),
        last=changes.last_of(found.line.stretches, each.number(change.at), side, change.to),
        clear=None if change.clear is None else each.number(change.clear),
        crossing=_crossing(each, change, here.question, here.objective, first),
        **costs(each.apply(Perturbed(here.question), just), next(iter(change.to), None)),
    )


def _crossing(
    each: Input, change: changes.Change, question: Question, objective: Objective, first: Sequence[str]
) -> float | None:
    """Where the bound of the first and that of the next are equal at every common step, between now and the change."""
    if objective != "rounds" or not is_quick(question) or each.name not in question.values:
        return None
    bound, other = question.bounds.get(first[0]), question.bounds.get(change.to[0]) if change.to else None
    if bound is None or other is None or (question.cap == "own" and question.hidden):  # then the caps differ too
        return None
    try:
        found = crossings(bound, other, each.name, **question.values)
    except HflBoundsError:  # their constants differ, or the difference is no polynomial
        return None
    low, high = sorted((each.value, change.at))
    return next((x for x in found if low <= x <= high), None)


def _with_toss_up(row: Change, followed: Sequence[changes.Walked], here: Standing, competing: Sequence[str]) -> Change:
    """A change with the values between which the best cannot be told from the next, as `recommend` judges it there."""
    along = next((one for one in followed if one.input.name == row.parameter), None)
    if along is None or isinstance(row.break_even, str) or not row.best_beyond:
        return row
    each, even, first = along.input, float(row.break_even), here.undecided(competing)
    told = toss_up.undecided_along(each, here, competing)
    beaten = toss_up.ends(told, each, along.ends[even > each.value], even, first)
    return row.replaced(toss_up=toss_up.begins(told, each, even, first), beaten=beaten)


def _turned_toss_up(each: Input, side: int, here: Standing, competing: tuple[str, ...]) -> Iterator[Change]:
    """Where one topology of a toss-up is named alone, on one side of an input, or where a toss-up begins."""
    question, objective = here.question, here.objective

    def leads(values: Sequence[float]) -> Sequence[float]:
        try:
            totals = np.sort(each.totals(question, objective, competing, np.array(values, dtype=float)), axis=0)
        except CostError:
            return [1.0] * len(values)
        with np.errstate(invalid="ignore"):
            return list(totals[1] / totals[0])

    told = toss_up.undecided_along(each, here, competing)
    found = toss_up.turned(told, each, leads, side, algorithms(question, here.undecided(competing)))
    if found is not None:
        at, last, topologies = found
        alone, spent = len(topologies) == 1, costs(each.apply(Perturbed(question), at), topologies[0])
        row = _along(each, side, at, here, best_beyond=topologies, alone=alone, last=last, method="sampled", **spent)
        yield row.replaced(id=f"{row.id}, {'alone' if alone else 'toss-up'}")


def _nearness(row: Change, scenario: Scenario) -> tuple[bool, bool, float, str]:
    """Settings first that were not given, then where a toss-up ends, then the nearest change.

    Where the input is 0 now, no ratio says how near.
    """
    near = math.inf if row.distance is None else abs(row.distance)
    return not (row.method == "setting" and is_open(row.parameter, scenario)), not row.alone, near, row.id


def _turned(one: Setting, scenario: Scenario) -> Change:
    """A setting as a change of the answer."""
    return Change.made_of(
        one,
        id=f"{one.parameter} {one.other}",
        break_even=one.other,
        best_beyond=one.best,
        method="setting",
        assumed=is_assumed(one.parameter, scenario),
    )
