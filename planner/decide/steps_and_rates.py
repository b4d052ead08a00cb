"""Choose topology, local steps K and group rounds P to one target, and learning rates to start a search at."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, get_args

from hflbounds.topology import tier_symbols
from planner.decide import participation, tuning
from planner.decide.advice import about_compression, ask_policy, ask_sharing, assumptions, race, turns
from planner.decide.explain import about_footprint, at_most, known_values, target_of
from planner.decide.recommendation import SHARING
from planner.decide.settings import ON_FAILURE, POLICY, asks_policy
from planner.decide.single_tier import beside, called
from planner.decide.tuned import MOST_SAID, SPENT, Plan, Rates, Searched, Start, Tuned
from planner.decide.tuning import Aim, Budget, Choice
from planner.decide.uncertainty.draws import agreement
from planner.decide.verdict import (
    DOUBT,
    LEVEL,
    algorithms,
    on_sharing,
    one_tier,
    over_links,
    sharing_is_open,
    standing,
)
from planner.errors import NoAnswerError, PlannerError, ScenarioError
from planner.io.answers import Caution, NextStep, Quantity, Verdict
from planner.io.parts import finite
from planner.io.text import topology_id
from planner.io.wording import LISTED, counted, duration, join, names_or, percent, target_option, times, title
from planner.predict.evidence import orderings, predictor_record
from planner.predict.evidence.claims import verdicts
from planner.predict.participation import begun
from planner.predict.predictors import guaranteed
from planner.predict.question import Question, ask, check_footprint, with_default_order
from planner.predict.statements import StepsOnRecord
from planner.scenario.fields import CLOCKED, FOOTPRINT
from planner.scenario.footprint import MORE
from planner.scenario.resolve import Known, Scenario
from planner.scenario.sections import with_rates
from planner.scenario.units import parse_duration, parse_size

MOST = 20_000  # choices that are looked at
EVERY = 64  # numbers of a range of K or P that are all tried,
MANY = 600  # where no more pairs come of them
EITHER = "Runs that changed K or P alone suggest"
MORE_STEPS = "1:64"  # local steps to try beyond those that measured runs had
LESS = 0.05  # of what decides: a step beyond measured runs that saves less is not pointed at, and no more is given up
FEW = 2  # rounds to a target, of which whole ones say too little
# settings that nobody gave, with what is assumed and what may be: each as a change is called
OTHER_WORDS = {SHARING: (SHARING, "per-client", "per-server"), POLICY: (ON_FAILURE, "fail", "skip")}
OVER = " (over the budget)"
WORTH = 0.5  # of time times traffic: a choice that takes less is pointed at beside the one within a budget


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be tried and spent, as written; None for what was not said."""

    local_steps: str | None = None  # values of K
    group_rounds: str | None = None  # values of P
    topology: str | None = None  # the only one to try
    within: str | None = None  # time that may be spent
    traffic: str | None = None  # traffic that may be caused
    objective: str | None = None  # what is to be least
    limits: tuple[str, ...] = ()  # what may be spent, by the units

    def budget(self) -> Budget:
        """What may be spent.

        Raises:
            ScenarioError: For what is no budget, or one that is given twice.
        """
        found = tuning.budget_of(self.limits)
        limits = dict(found.limits)
        for option, aim, given in (("--within", "time", self.within), ("--traffic", "traffic", self.traffic)):
            if given is not None and aim in limits:
                raise ScenarioError(f"{option}: --budget has a limit of the same. Give one of the two.")
        if self.within is not None:
            if {*_aims(self.within)} - {"time"}:
                way = f"Give --budget {self.within}, which takes any unit and may be repeated."
                raise ScenarioError(f"--within: {self.within!a:.40} is no time. {way}", code="E023")
            limits["time"] = float(parse_duration(self.within, field="--within", positive=True))
        if self.traffic is not None:
            limits["traffic"] = float(parse_size(self.traffic, field="--traffic"))
        return Budget.of(limits, found.currency)


def _aims(text: str) -> Iterable[Aim]:
    """What a budget is of, by its unit; nothing where it is none."""
    with suppress(PlannerError):
        return tuning.budget_of((text,)).limits
    return ()


@dataclass(frozen=True)
class _Search:
    """What is tried, and what is asked of it."""

    scenario: Scenario
    asked: Question  # as the scenario has it
    question: Question  # with its target as a number
    wanted: Wanted
    budget: Budget
    error: float  # of a predicted ratio of rounds; 1 for none
    among: list[str]
    steps: list[int]
    exchanges: list[int]
    most: float  # local steps of a client in a round, where K or P is not as wanted
    beyond: list[tuple[int, int]]  # P and K a step beyond what measured runs had, where K or P is open

    @cached_property
    def aim(self) -> Aim:
        """What is to be least: what was asked for, else traffic where time is limited, else what the scenario says."""
        objective, limits = self.wanted.objective, self.budget.limits
        if objective is None:
            told: Aim = "time" if self.scenario.objective == "rounds" else self.scenario.objective
            return "traffic" if "time" in limits and "traffic" not in limits else told
        for aim in get_args(Aim):
            if objective == aim:
                return aim  # type: ignore[no-any-return]
        hint = " Give time or traffic: rounds of different K and P differ in length." if objective == "rounds" else ""
        raise ScenarioError(f"--objective: {objective!a:.40} is not one of {', '.join(get_args(Aim))}.{hint}")

    @property
    def weighed(self) -> tuple[Aim, ...]:
        """What choices are compared in."""
        return tuning.weighed(self.aim, self.budget)

    def choices(self) -> list[Choice]:
        """Those that reach the target."""
        return tuning.choices(self.question, self.exchanges, self.steps, self.among, self.most)

    def at(self, choice: Choice) -> Question:
        """What `recommend` is asked at a choice."""
        if (_passes(self.asked), self.asked.values["K"]) == (choice.P, choice.K):  # what is drawn moves the target
            return self.asked
        return tuning.with_steps(self.question, choice.P, choice.K)

    def number(self) -> int:
        """How many choices are tried."""
        return len(self.among) * sum(p * k <= self.most or 1 in (p, k) for p in self.exchanges for k in self.steps)

    def least(self, among: Iterable[Choice]) -> Choice | None:
        """The choice within the budget that takes the least; None where none is."""
        return min(filter(self.budget.allows, among), key=lambda one: one.amount(self.aim), default=None)

    def recommended(self, found: Iterable[Choice], best: Sequence[Choice], *, way: str = "") -> Choice:
        """The choice of a front that the budget leaves; see `tuning.recommended`.

        One with more local steps in a round than measured runs had gives way to one of all that were found with no
        more, where that is within the predictor's error.
        """
        aim, budget, resolution = self.aim, self.budget, self.scenario.resolution
        chosen, most = tuning.recommended(best, aim, budget, resolution, way=way), tuning.on_record(self.question)
        measured = [one for one in found if most >= one.P * one.K and budget.allows(one)]
        if most < chosen.P * chosen.K and measured:
            checked = tuning.recommended(tuning.front(dict.fromkeys(measured), self.weighed), aim, budget, resolution)
            chosen = checked if checked.amount(aim) <= self.error * chosen.amount(aim) else chosen
        return chosen

    def thrifty(self, chosen: Choice, found: Iterable[Choice], given: Choice | None, near: float = 1 + LESS) -> Choice:
        """Of choices ``near`` one in what is to be least, the one that saves most of time or traffic beside it.

        It has the least product of both, less than `WORTH` of that of the choice, and without a budget the same
        topology. It takes at most ``near`` times what is to be least, also by runs on record that moved K or P alone,
        where `_ties` asks these; where that is infinite, any within the budget will do. It is no farther from
        measured runs.
        """
        if self.aim not in ("time", "traffic"):
            return chosen
        most = max(tuning.on_record(self.question), chosen.P * chosen.K)
        limits, least = self.budget.limits, WORTH * chosen.both
        measured = (c for c in found if most >= c.P * c.K and (limits or c.topology == chosen.topology))
        among = [c for c in filter(self.budget.allows, measured) if c.both < least]
        among.sort(key=lambda one: one.both)
        return next((one for one in among if math.isinf(near) or self._ties(one, chosen, given, near)), chosen)

    def surest(self, chosen: Choice, found: Iterable[Choice], given: Choice) -> Choice:
        """Of what ties with a choice of the same topology, the one whose runs on record all gained, and the most.

        It is the choice itself where none of its runs lost, or none that ties has such a record.
        """

        def least(one: Choice) -> float | None:
            shares = _on_record(_saved_on_record(self.asked, self.scenario, given, one), given, one, self.aim)
            return None if shares is None else shares[0]

        own, near = least(chosen), chosen.amount(self.aim) * (1 + self.scenario.resolution)
        if own is None or own >= 0:
            return chosen
        among = (c for c in filter(self.budget.allows, found) if c.topology == chosen.topology)
        sure = ((gain, -c.both, c) for c in among if c.amount(self.aim) <= near and (gain := least(c) or 0.0) > 0)
        return max(sure, key=lambda one: one[:2], default=(own, 0.0, chosen))[2]

    def _ties(self, one: Choice, other: Choice, given: Choice | None, near: float) -> bool:
        """Whether a choice takes no more than another, up to ``near``, in predictions and in any of the runs on record.

        In the median of these it saves something of what the present choice takes.
        """
        near = min(near, self.error)
        if one.amount(self.aim) > near * other.amount(self.aim):
            return False
        for before, most in ((other, near), (given, 1.0)):
            saved = _saved_on_record(self.asked, self.scenario, before, one)
            if before is not None and saved is not None and (saved.change or before is not other):
                runs = saved.high if before is other else saved.median
                if one.amount(self.aim) / before.amount(self.aim) * saved.predicted / runs > most:
                    return False
        return True


def tuned(scenario: Scenario, wanted: Wanted) -> Tuned:  # reason: one field of the answer after the other
    """Find the front of time and traffic over topology, K and P, and the choice that the budget leaves.

    K and P of the scenario define a target that is not given.

    Raises:
        NoAnswerError: If nothing reaches the target within the budget.
    """
    tuning.without_pilot(scenario, "tune", wanted.budget())
    if scenario.divisions:
        raise ScenarioError(
            f"tune: {scenario.searched} searched, and tune compares choices of K and P itself. {scenario.settled_by}"
        )
    scenario = _told(with_default_order(scenario), wanted)
    asked = ask(scenario)
    participation.check(asked)
    search = _search(asked, scenario, wanted)
    question, budget = search.question, search.budget
    for one in search.weighed:
        check_footprint(question, one, "--objective" if one == search.aim else "--budget")
    found = search.choices()
    if not found:
        raise NoAnswerError(
            f"no topology, P and K tried reaches the target {question.target:.4g}"
            + (f" within {question.horizon:,.0f} rounds. Allow more, or give" if question.horizon else ". Give")
            + " a looser --target.",
            code="N003",
        )
    aim, weighed, error = search.aim, search.weighed, search.error
    present = tuning.choices(question, [_passes(asked)], [int(asked.values["K"])], search.among)
    every = (*found, *present)
    best = tuning.front(dict.fromkeys(every), weighed)
    way = "" if any(map(budget.allows, best)) else f"{_one_tier_within(search, best)}{_more_steps(search)}"
    least = search.recommended(every, best, way=way)
    own_aim = replace(search, budget=Budget()).aim  # a budget moves no baseline
    given = min(present, key=lambda one: one.amount(own_aim), default=None)
    better = search.thrifty(least, every, given)
    if given is not None and _worth_it(search, given, better) == better:
        better = search.surest(better, every, given)
    saved = _saved_on_record(asked, scenario, given, better)
    shares = _on_record(saved, given, better, aim)
    allowed = given is not None and budget.allows(given)
    in_vain = allowed and shares is not None and shares[1] <= 0
    chosen = better
    if given is not None and allowed:
        chosen = given if in_vain else _worth_it(search, given, better)
    at = search.at(chosen)
    ties = dict(zip(best, tuning.tie_numbers(best, scenario.resolution, weighed), strict=True))
    tied = _tied(search, every, chosen, given) if len(search.among) > 1 else {}
    if chosen == given and chosen != better and not in_vain:  # what is named beside the present choice
        better = min((better, *tied), key=lambda one: one.amount(aim))
    near = math.inf if budget.limits else error
    other = least if chosen == better != least else search.thrifty(chosen, every, given, near)
    beside = None if other == chosen else other
    untold = [] if given is None else _untold(search, chosen, given)
    marks: dict[str, Collection[Choice | None]]
    tossed = [*tied, *[given] * (aim in untold)]
    marks = {"given": [given], "recommended": [chosen], "toss_up": tossed, "beside": [beside]}
    rows = [
        _plan(
            search, one, tie=ties.get(one), ratio=tied.get(one), **{mark: one in those for mark, those in marks.items()}
        )
        for one in dict.fromkeys((given, *tied, chosen, beside, *best))
        if one is not None
    ]
    rates = _rates(question, chosen, search.among)
    rates = rates and rates.replaced(on_record=orderings.of_rates(asked, scenario))
    own, otherwise = _undecided(rows), _otherwise(search)
    shared, there = SHARING in otherwise, otherwise.get(SHARING)
    depends = shared and _sharing_decides(search, chosen, own, there)
    warnings = [
        *about_footprint(question, *weighed),
        *scenario.warnings,
        *about_compression(question, scenario, chosen.topology, aim),
        *participation.about(at, scenario, [chosen.topology]),
        *_few_rounds(chosen),
        *_beyond_record(search, found, chosen, rows),
        *_cautions(search, len(found), chosen),
    ]
    alike = [] if in_vain else tuning.alike(found, chosen, budget, scenario.resolution, weighed)
    why = "" if in_vain else ", though within the predictor's error"
    first_of_all, record = search.least(best), tuning.on_record(question)
    passed_over = first_of_all is not None and first_of_all.P * first_of_all.K > record >= chosen.P * chosen.K
    most = f", of at most {predictor_record.most_steps(question):g} local steps in a round" if passed_over else ""
    first = "", False
    if given is not None and chosen == better:
        over = "" if budget.allows(given) else OVER
        first = _on_record_first(saved, shares, aim, f"{_beside(given, chosen)}{over}")
    verdict = _verdict(search, chosen, given, better, beside, (why, most, first), untold)
    others = [one.topology for one in tied if one.topology != chosen.topology]
    which = names_or(others) if 0 < len(others) <= LISTED else f"{len(others)} others"
    told = any(one is not None and (one.low or 0.0) > 1 + scenario.resolution for one in tied.values())
    which += f", as {DOUBT}" * told
    toss_up = f"{title(chosen.topology)} is a toss-up for {aim} with {which}." if others else ""
    apart = ["K"] * any(one.K != chosen.K for one in tied) + [chosen.passes] * any(one.P != chosen.P for one in tied)
    if apart:
        toss_up += f" Race each with its own {join(apart)}; Next has {title(chosen.topology)}'s."
    alone = "" if wanted.topology is not None else _one_tier(search, chosen)
    then = {name: _undecided(answer.rows) if answer else () for name, answer in otherwise.items()}
    differ = {name: beyond for name, beyond in then.items() if beyond != own[:1]}  # else it is the advice all the same
    changed = [one for name, beyond in differ.items() for one in turns(*OTHER_WORDS[name], own, beyond)]
    less = ""
    if in_vain and saved is not None:
        less = f"On record {saved.change} saved no {aim}." if saved.change else f"{EITHER} that no {aim} is saved."
    if alone and not depends and any(one.parameter == SHARING for one in changed):
        alone = f"Over own links {alone}"
    open_ = asks_policy(at, scenario, (chosen.topology,), changed, " with these K and P")
    ranks = chosen != given and not depends and wanted == Wanted(objective=wanted.objective)
    parts = (verdict.text, toss_up, less, alone, _may_exceed(search, chosen))
    verdict = verdict.replaced(text=" ".join(filter(None, parts)))
    return Tuned(
        command=("hfl-plan", "tune"),
        title=scenario.title,
        scenario=known_values(scenario, asked),
        objective=aim,
        metric=question.metric,
        target=target_of(asked, scenario.known["target"]).replaced(
            value=question.target, metric=question.quantity.words, defined_by=_defined(asked)
        ),
        verdict=_by_sharing(search, verdict, there) if depends else verdict,
        rows=tuple(rows),
        assumptions=assumptions(scenario, question, None, "the time of every choice" if shared else ""),
        warnings=tuple(Caution(text=text) for text in warnings),
        sensitivity=tuple(changed),
        evidence=tuple(orderings.records(at, scenario, predictor_record.of(at))),
        next=(
            *([ask_sharing(scenario)] if shared and aim in CLOCKED else ()),
            *([ask_policy(scenario, open_)] if open_ else ()),
            NextStep(argv=race(question, chosen.K, chosen.P), why="measures rounds and rates on your model and data"),
            *(_ranked(asked, chosen) if ranks else ()),
            NextStep(argv=("...", "--explain"), why="all details"),
        ),
        tune=Searched(
            predictor=question.predictor.id,
            bounds=question.family,
            cap=question.cap,
            resolution=scenario.resolution,
            topologies=tuple(search.among),
            local_steps=tuple(search.steps),
            group_rounds=tuple(search.exchanges),
            reached=len(found),
            budget_seconds=budget.limits.get("time"),
            budget_bytes=budget.limits.get("traffic"),
            **{name: budget.limits.get(aim) for aim, (_, name, _) in MORE.items()},
            alike=tuple(map(_id, alike)),
            error=error if error > 1 else None,
            near=predictor_record.of(asked) is not None,
            passes=tuning.passes(question),
            most_steps_on_record=finite(predictor_record.most_steps(question)),
            rates=rates,
            steps_on_record=saved,
            scale=orderings.of_scale(asked, scenario),
        ),
        details={
            "rates": tuple(_about_rates(rates, question.predictor.id, rows, chosen.steps)),
            "alike": tuple(_alike(alike)),
            "tried": tuple(_basis(search)),
            "warnings": tuple(warnings),
        },
    )


def _ranked(asked: Question, chosen: Choice) -> Iterator[NextStep]:
    """Rank topologies at the choice, to the target of the present one, where that can be asked for."""
    if asked.target is None and asked.metric == "accuracy":
        return
    own = [int(asked.values[tier.passes]) for tier in asked.symbols if tier.passes]
    each = [*own[:-1], chosen.P][: len(own)]
    P = ("-P", "/".join(map(str, each))) if each != own else ()
    target = () if asked.target is not None else target_option(float(asked.goal())).split()
    argv = ("hfl-plan", "recommend", "...", "-K", str(chosen.K), *P, *target)
    yield NextStep(argv=argv, why="ranks topologies at that choice, to the same target")


def _one_tier_within(search: _Search, best: Sequence[Choice]) -> str:
    """Say that one tier keeps to a budget, which no choice does."""
    near, limits = min(best, key=search.budget.overrun), search.budget.limits
    at = tuning.with_steps(search.question, near.P, near.K)
    for one in beside(at) if search.wanted.topology is None else ():
        if all(one.amount(aim, at.network) <= limit for aim, limit in limits.items()):
            takes = join([tuning.WRITE[aim](one.amount(aim, at.network)) for aim in limits])
            way = "".join(f": `{' '.join(step.argv)}`" for step in _ranked(search.asked, near))
            return f" Without servers in between {called(one.title)} takes {takes}, with as many local steps{way}."
    return ""


def _more_steps(search: _Search) -> str:
    """Say that more local steps than were measured keep to a budget, where nobody chose them."""
    if search.wanted.local_steps is not None:
        return ""
    more = replace(search, steps=tuning.whole_numbers("--local-steps", MORE_STEPS, ()))
    if not any(map(search.budget.allows, more.choices())):
        return ""
    most = f"{predictor_record.most_steps(search.question):g}"
    return f" Or try more local steps than the {most} that measured runs had: --local-steps {MORE_STEPS}."


def _otherwise(search: _Search) -> dict[str, Tuned | None]:
    """What is answered with another word for settings that nobody gave; None where the budget allows nothing."""
    scenario, asked = search.scenario, search.asked
    now = {name: scenario.known[name] for name in (SHARING, POLICY) if name in scenario.known}
    given = {name: replace(known, origin="given") for name, known in now.items()}  # so that none is asked about there
    told = replace(scenario, known={**scenario.known, **given})
    moved: dict[str, Scenario] = {}
    if sharing_is_open(search.question, scenario):
        moved[SHARING] = told.with_link(sharing="per-server")
    comes, policy = scenario.availability, now.get(POLICY)
    if comes is not None and asked.partly_available and policy is not None and policy.origin == "default":
        moved[POLICY] = replace(told, availability=replace(comes, policy="skip", quorum=None))
    found: dict[str, Tuned | None] = dict.fromkeys(moved)
    for name, there in moved.items():
        with suppress(NoAnswerError):
            found[name] = tuned(there, search.wanted)
    return found


def _undecided(rows: Iterable[Plan]) -> tuple[str, ...]:
    """The topology that is recommended, and those that it is a toss-up with."""
    level = sorted((row for row in rows if row.recommended or row.toss_up), key=lambda row: not row.recommended)
    return tuple(dict.fromkeys(row.topology for row in level))


def _sharing_decides(search: _Search, chosen: Choice, own: Collection[str], there: Tuned | None) -> bool:
    """Whether another choice is advised over shared links: of a topology that is no part of one toss-up with it.

    Or of that topology, where the choice takes more there than the other by over the predictor's error. ``own`` are
    the topologies that cannot be told apart over own links, ``there`` is what is answered for shared ones.
    """
    best = next((row for row in there.rows if row.recommended), None) if there else None
    if there is None or best is None or best.topology != chosen.topology:
        return there is None or set(own) != set(_undecided(there.rows))
    question = search.question.varied(network=search.scenario.with_link(sharing="per-server").network)
    most = max(search.error, 1 + search.scenario.resolution) * getattr(best, SPENT[search.aim])
    same = tuning.choices(question, [chosen.P], [chosen.K], [chosen.topology])
    return all(one.amount(search.aim) > most for one in same)


def _by_sharing(search: _Search, own: Verdict, there: Tuned | None) -> Verdict:
    """The verdict where how links are shared decides: what was found for own links, and for shared ones in short."""
    shared = there.verdict if there else Verdict(status="unreachable", text=f"nothing tried keeps to {search.budget}.")
    write = duration if search.aim == "time" else tuning.WRITE[search.aim]
    taken = [float(getattr(row, SPENT[search.aim])) for row in (there.rows if there else ()) if row.recommended]
    brief = ": ~".join([shared.text.partition(":")[0].rstrip("."), *map(write, taken)]) + "."
    cases = tuple(
        one.replaced(value=value, text=text.removeprefix("Use "))
        for value, one, text in (("per-client", own, own.text), ("per-server", shared, brief))
    )
    return Verdict(status="depends", on=SHARING, cases=cases, text=on_sharing(search.asked, search.scenario))


def _id(choice: Choice) -> str:
    return f"{choice.topology},K={choice.K},P={choice.P}"


def _plan(search: _Search, one: Choice, **marks: Any) -> Plan:
    """One choice as a row, with its marks: tie, given, recommended, toss_up."""
    absent, steps = search.question.availability is not None, tuning.steps(search.question, one.P, one.K)
    more = {name: Quantity(one.amount(aim)) for aim, (name, _, _) in MORE.items() if math.isfinite(one.amount(aim))}
    return Plan(
        id=_id(one),
        topology=one.topology,
        title=title(one.topology),
        local_steps=one.K,
        group_rounds=one.P,
        rounds=Quantity(one.rounds),
        rounds_begun=Quantity(one.rounds * begun(search.question, one.topology, **steps)) if absent else None,
        time_seconds=Quantity(one.amount("time")),
        traffic_bytes=Quantity(one.amount("traffic")),
        round_seconds=one.cost.seconds,
        round_bytes=one.cost.bytes,
        steps_in_a_round=tuning.steps_in_a_round(search.question, one.P, one.K),
        within_budget=search.budget.allows(one),
        **marks | asdict(tuning.rate(search.question, one)) | more,
    )


def _tied(
    search: _Search, found: Iterable[Choice], chosen: Choice, given: Choice | None
) -> dict[Choice, Quantity | None]:
    """What cannot be told from the choice, with it, best first: each topology at its own best K and P in the budget.

    As `recommend` judges topologies at K and P of the choice, by what each takes at its own; with how many times that
    of the choice, where this is the first.
    """
    by: dict[str, list[Choice]] = {}
    for one in filter(search.budget.allows, found):
        by.setdefault(one.topology, []).append(one)
    within = {chosen.topology: chosen}
    for topology, mine in by.items():
        best = tuning.front(dict.fromkeys(mine), search.weighed)
        least = search.recommended(mine, best)
        within.setdefault(topology, search.thrifty(least, mine, given))
    at, aim = search.at(chosen), search.aim
    prices = {t: one.amount(aim) / one.rounds for t, one in within.items()}
    here = standing(at, search.scenario, aim, {t: one.needed for t, one in within.items()}, prices)
    each = algorithms(at, here.best)
    if len(each) < 2 or chosen.topology not in here.best:
        return {}
    return {within[one]: here.ratio(one) if each[0] == chosen.topology != one else None for one in each}


def _untold(search: _Search, chosen: Choice, given: Choice) -> list[Aim]:
    """Of what is weighed, that in which the present choice, of another topology, cannot be told from what beats it."""
    if given.topology == chosen.topology or not search.budget.allows(given):
        return []
    found, at = [], search.at(chosen)
    for aim in search.weighed:
        amounts = {one.topology: one.amount(aim) for one in (chosen, given)}
        ends = agreement(at, search.scenario, aim, amounts).interval(given.topology, chosen.topology, LEVEL)
        if ends is not None and ends[0] <= 1 + search.scenario.resolution:
            found.append(aim)
    return found


def _one_tier(search: _Search, chosen: Choice) -> str:
    """Say where one tier takes less than the choice, with as many local steps in a round, within the budget."""
    at = tuning.with_steps(search.question, chosen.P, chosen.K)
    within = []
    reaching = [one for one in beside(at) if math.isfinite(one.rounds)]
    for one in reaching:
        over = ((over_links(at, aim, one, 1.0), limit) for aim, limit in search.budget.limits.items())
        if all(max(found.ratio, found.through or 0.0) <= limit for found, limit in over):  # also over servers' links
            within.append(one)
    return one_tier(at, search.scenario, search.aim, chosen.amount(search.aim), [chosen.topology], within)


def _saved_on_record(
    question: Question, scenario: Scenario, given: Choice | None, better: Choice
) -> StepsOnRecord | None:
    """What other K and P than the present ones saved on record, where the topology stays."""
    if given is None or given.topology != better.topology or not better.rounds:
        return None
    plans = [{"K": one.K, "P": one.P} for one in (given, better)]
    saved = given.rounds / better.rounds
    return orderings.of_steps(question, scenario, better.topology, (plans[0], plans[1]), saved)


def _on_record(
    saved: StepsOnRecord | None, given: Choice | None, better: Choice, aim: Aim
) -> tuple[float, float] | None:
    """The shares of the objective that other K and P saved in runs, at least and at most; None without a record."""
    if saved is None or given is None or given == better or not better.amount(aim):
        return None
    predicted = given.amount(aim) / better.amount(aim)
    low, high = (1 - saved.predicted / (predicted * end) for end in (saved.low, saved.high))
    return low, high


def _on_record_first(
    saved: StepsOnRecord | None, shares: tuple[float, float] | None, aim: Aim, than: str
) -> tuple[str, bool]:
    """Say what other K and P took of the objective on record, where that may be a loss or is less than is predicted.

    Empty elsewhere; and whether it may be a loss.
    """
    if saved is None or shares is None or (saved.high > saved.predicted and shares[0] > 0):
        return "", False
    low, high = (0.0 if abs(share) < 0.005 else share for share in shares)  # less than a percent is none
    much = f"{100 * low:.0f} to {percent(high)} less" if low >= 0 else f"{percent(-low)} more to {percent(high)} less"
    much = much if high > 0 else f"{abs(100 * high):.0f} to {percent(-low)} more"
    where = "in runs on record" if saved.change else f"as {EITHER[0].lower()}{EITHER[1:]}"
    return f"{much} {aim} than {than} {where}", low < 0


def _worth_it(search: _Search, given: Choice, better: Choice) -> Choice:
    """What is advised: ``better`` where it saves more than the predictor's error of something, else the present choice.

    Nor is this kept where it has more local steps in a round than measured runs had, and ``better`` has not, and takes
    no more in all.
    """
    error, weighed, most = search.error, search.weighed, tuning.on_record(search.question)
    if given.P * given.K > most >= better.P * better.K and all(better.amount(a) <= given.amount(a) for a in weighed):
        return better
    return better if error <= 1 or any(given.amount(a) > error * better.amount(a) for a in weighed) else given


def _verdict(
    search: _Search,
    chosen: Choice,
    given: Choice | None,
    better: Choice,
    cheaper: Choice | None,
    said: tuple[str, str, tuple[str, bool]],
    untold: Collection[Aim],
) -> Verdict:
    """Say what to use, what it saves of what the present K and P take, and what else comes near.

    ``better`` is what is predicted to take the least, or about as much with far less beside it; ``cheaper`` is the
    other of these two, or saves most for a little more. ``said`` is why the
    choice is another than the better one, of which choices it takes the least, where not of all, and what runs on
    record took of the present choice with whether that may be a loss. In what is ``untold`` the choice saves no more
    than the predictor's error.
    """
    aim, budget, (why, of_these, (record, loss)) = search.aim, search.budget, said
    quicker = cheaper is not None and cheaper.amount(aim) < chosen.amount(aim)
    parts, ratio, runner_up = [], None, ""
    within = f"Within {budget},{'' if quicker else f' for the least {aim}{of_these},'} " if budget.limits else ""
    use, keep = (f"{within}use", f"{within}keep") if within else ("Use", "Keep")
    if given is None:
        parts.append(f"{use} {_named(chosen)}{'' if budget.limits or quicker else f': the least {aim}{of_these}'}.")
    elif given == chosen != better:
        changes = _changes(search, better, given)
        parts.append(f"{keep} {_named(chosen)}: {_beside(better, given)} would take {changes}{why}.")
        if better.amount(aim) > 0:
            ratio, runner_up = Quantity(given.amount(aim) / better.amount(aim)), _id(better)
    elif given == chosen:
        parts.append(f"{keep} {_named(chosen)}{'' if quicker else f': no choice tried takes less {aim}'}.")
    else:
        than = _beside(given, chosen) + ("" if budget.allows(given) else OVER)
        changes, sure = _changes(search, chosen, given), _beside_the_aim(search, chosen, given, untold)
        saves, differs = _against(changes, than), not _changed(search, chosen, given, aim).startswith("as much")
        if differs and (sure or aim in untold):
            own, *others = (_changed(search, chosen, given, one) for one in (aim, *(sure or [tuning.beside(aim)])))
            saves = f"{own}, though within the predictor's error, and {_against(join(others), than)}"
        if record:
            saves = f"{record}; {changes} predicted"
        use = use.replace("use", "try").replace("Use", "Try") if loss else use
        parts.append(f"{use} {_named(chosen)}: {saves}.")
        if budget.allows(given) and chosen.amount(aim) > 0:
            ratio, runner_up = Quantity(given.amount(aim) / chosen.amount(aim)), _id(given)
    if cheaper is not None and cheaper != better:
        other = tuning.beside(aim)
        now, more = (times(cheaper.amount(one) / chosen.amount(one)) for one in (other, aim))
        close = ", within the predictor's error" * (quicker or not budget.limits)
        saved, cost = f"{now} the {other}", f"{more} the {aim}{close}"
        saved, cost = (cost, saved) if quicker else (saved, cost)
        parts.append(f"{_named(cheaper)} takes {saved}, for {cost}.")
    return Verdict(
        status="not-worth-it" if given == chosen else "best",
        best=(_id(chosen),),
        runner_up=runner_up,
        ratio=ratio,
        text=" ".join(filter(None, parts)),
    )


def _beside_the_aim(search: _Search, chosen: Choice, given: Choice | None, untold: Collection[Aim]) -> list[Aim]:
    """What else a choice saves more of than the predictor's error, where of the aim it does not; empty for nothing."""
    if given is None or given == chosen or not search.budget.allows(given):
        return []
    saved = {aim: given.amount(aim) / chosen.amount(aim) for aim in search.weighed if chosen.amount(aim) > 0}
    beyond = [aim for aim, ratio in saved.items() if ratio > search.error and aim not in untold]
    return [] if search.aim in beyond else beyond


def _may_exceed(search: _Search, chosen: Choice) -> str:
    """Say of a choice that is nearer to a limit than the predictor's error that it may exceed it."""
    share = search.budget.overrun(chosen)
    if not 1 / search.error < share <= 1:
        return ""
    return f"Predicted to take {percent(min(share, MOST_SAID))} of the budget, it may exceed it."


def _changes(search: _Search, now: Choice, before: Choice) -> str:
    """Say what a choice takes less or more than another, of what is to be least and of time or traffic."""
    return ", ".join(_changed(search, now, before, one) for one in (search.aim, tuning.beside(search.aim)))


def _against(changes: str, than: str) -> str:
    """Say what changes are against, as the last of them wants it: ``as much time as``, ``2x the time of``."""
    last = changes.rpartition(", ")[2]
    return f"{changes} {'as' if last.startswith('as much') else 'of' if 'x the ' in last else 'than'} {than}"


def _changed(search: _Search, now: Choice, before: Choice, aim: Aim) -> str:
    return _change(now.amount(aim), before.amount(aim), aim, search.scenario.resolution)


def _change(now: float, before: float, what: str, resolution: float) -> str:
    """Say ``8 % less time``, or how many times as much."""
    if abs(now - before) <= resolution * before:
        return f"as much {what}"
    if now < before:
        return f"{percent(min(1 - now / before, MOST_SAID))} less {what}"
    if now < 2 * before:
        return f"{percent(min(now / before - 1, MOST_SAID))} more {what}"
    return f"{times(now / before)} the {what}"


def _told(scenario: Scenario, wanted: Wanted) -> Scenario:
    """Take one number to try as that of the scenario, which other choices are compared with, where that has none."""
    known = dict(scenario.known)
    passes = tier_symbols(scenario.depth)[-1].passes
    tried = (("K", "--local-steps", wanted.local_steps), (passes, "--group-rounds", wanted.group_rounds))
    for symbol, option, text in tried:
        numbers = tuning.whole_numbers(option, text, ())
        if symbol and len(numbers) == 1 and known[symbol].origin == "default":
            known[symbol] = Known.given(numbers[0])
    told = replace(scenario, known=known)
    return with_rates(told) if FOOTPRINT & {wanted.objective, *wanted.budget().limits} else told


def _search(asked: Question, scenario: Scenario, wanted: Wanted) -> _Search:
    most, (P, K) = tuning.on_record(asked), tuning.usual(asked)
    P, K = ([*few, own] if own <= most else few for few, own in ((P, _passes(asked)), (K, int(asked.values["K"]))))
    for whole in (EVERY, 0):
        steps = tuning.whole_numbers("--local-steps", wanted.local_steps, {*K}, whole)
        exchanges = tuning.whole_numbers("--group-rounds", wanted.group_rounds, {*P}, whole)
        if len(steps) * len(exchanges) <= MANY:
            break
    given = None if wanted.group_rounds is None else exchanges, None if wanted.local_steps is None else steps
    beyond = [] if all(given) else tuning.a_step_beyond(asked, *given)
    most = math.inf if all(given) else most
    every = list(asked.topologies)
    among = every if wanted.topology is None else [topology_id(wanted.topology, every, "--topology")]
    if len(steps) * len(exchanges) * len(among) > MOST:
        raise ScenarioError(
            f"--local-steps: {len(steps)} values with {len(exchanges)} of --group-rounds are more than {MOST:,} "
            "choices. Give fewer, such as 1:64."
        )
    budget, question = wanted.budget(), tuning.with_one_target(asked)
    error = predictor_record.pair_factor(asked, 0.5)
    return _Search(scenario, asked, question, wanted, budget, error, among, steps, exchanges, most, beyond)


def _passes(asked: Question) -> int:
    """Passes of the lowest tier in the scenario."""
    passes = asked.symbols[-1].passes
    return int(asked.values[passes]) if passes else 1


def _defined(asked: Question) -> str:
    if asked.target is not None:
        return f"a {asked.quantity.words} of {float(asked.goal()):.3g}{at_most(asked)}"
    P, K = _passes(asked), asked.values["K"]
    after, at = counted(int(asked.horizon or 0), "round"), f"K = {K:g}, {tuning.passes(asked)} = {P}"
    # accuracy is none to ask for
    goal = "" if asked.metric == "accuracy" else f" ({target_option(float(asked.goal()))})"
    return f"what {title(asked.reference)} reaches in {after} at {at}{goal}"


def _rates(question: Question, chosen: Choice, among: Iterable[str]) -> Rates | None:
    """Where to start a search: effective rates that are common to all topologies, and each one's raw rates."""
    chains: dict[str, float] = {}
    rates = {}
    for topology in among:
        chain = tuning.chain_length(question, chosen, topology)
        if chain is None:
            return None
        chains[topology] = chain
        same = tuning.choices(question, [chosen.P], [chosen.K], [topology])
        rates[topology] = tuning.rate(question, same[0]) if same else tuning.Rate()
    told = [rate.rate_predicted for rate in rates.values()]
    L, shortest = question.values["L"], min(chains.values())
    # A bound is tuned where it is proved; what works best is usually above that.
    least_top = tuning.TYPICAL / L if question.predictor.guarantees else 0.0
    most = {  # where local steps stay stable: of the shortest chain for all, farther where a prediction lies beyond
        topology: min(tuning.STABLE / L * chain, max(tuning.STABLE / L * shortest, 2 * (rate.rate_predicted or 0.0)))
        for (topology, chain), rate in zip(chains.items(), rates.values(), strict=True)
    }
    grid = tuning.search_grid(told, least_top, most=max(most.values()))
    if not grid:
        return None
    return Rates(
        local_steps=chosen.K,
        group_rounds=chosen.P,
        effective=tuple(grid),
        topologies={
            topology: Start(
                chain=chain,
                ratio=shortest / chain,
                rates=tuple(own[:: 1 + (len(own) > tuning.LONGEST_GRID)]),
                rate_predicted=rates[topology].rate_predicted,
                rate_predicted_raw=rates[topology].rate_predicted_raw,
                rate_bound_raw=rates[topology].rate_bound_raw,
            )
            for topology, chain in chains.items()
            for own in [[eta / chain for eta in grid if eta <= most[topology]]]
        },
    )


def _beyond_record(search: _Search, found: Sequence[Choice], chosen: Choice, rows: Sequence[Plan]) -> list[str]:
    """Say what the best on record takes where the choice goes beyond, else what a step beyond is predicted to save."""
    question, aim = search.question, search.aim
    most, none = tuning.on_record(question), orderings.none_had_more(question)
    if most < chosen.P * chosen.K:
        at = tuning.with_steps(question, chosen.P, chosen.K)
        within = search.least(c for c in found if most >= c.P * c.K)
        less = within and f"{times(within.amount(aim) / chosen.amount(aim))} the {aim}"
        checked = f"{_beside(within, chosen)} takes {less}" if within else ""
        return orderings.beyond_record(at, checked)
    beside = [c for p, k in search.beyond for c in tuning.choices(question, [p], [k], search.among)]
    best = search.least((*(c for c in found if most < c.P * c.K), *beside))
    if best is not None and best.amount(aim) < chosen.amount(aim) * (1 - LESS):
        less = _change(best.amount(aim), chosen.amount(aim), aim, 0.0)
        close = chosen.amount(aim) <= search.error * best.amount(aim)
        doubt = "is within the predictor's error, and " * close
        options = f"--local-steps 1:{best.K}" + (f" --group-rounds 1:{best.P}" if best.P > 1 else "")
        then = ", so that it is not advised" if close or best in found else f": {options} tries it"
        return [f"{none}. {_beside(best, chosen)} would take {less}. That {doubt}was never checked{then}."]
    if beyond := [row for row in rows if row.group_rounds * row.local_steps > most]:
        steps = f"K = {beyond[0].local_steps}, {chosen.passes} = {beyond[0].group_rounds} has"
        steps = f"{steps} {beyond[0].steps_in_a_round:,}"
        return [f"{none}. {steps}. What is predicted there was never checked: run it before you use it."]
    return []


def _few_rounds(chosen: Choice) -> list[str]:
    few = counted(int(chosen.rounds), "round")
    text = f"Training is predicted to take {few} in all, and whole rounds tell little there: race it first."
    return [text] * (chosen.rounds <= FEW)


def _cautions(search: _Search, reached: int, chosen: Choice) -> list[str]:
    question, scenario, said = search.question, search.scenario, []
    most, own = predictor_record.most_steps(question), tuning.steps_in_a_round(question, chosen.P, chosen.K)
    for name, values in (("K", search.steps), ("P", search.exchanges)):
        value = getattr(chosen, name)
        further = next((n for n in tuning.LADDER if n > value), 2 * value)
        fits = own // value * further <= most
        if len(values) > 1 and value in (values[0], values[-1]) and value > 1 and fits:
            option, called = {"K": ("--local-steps", "K"), "P": ("--group-rounds", chosen.passes)}[name]
            said.append(f"{called} = {value} is the end of what was tried: {option} widens it.")
    lost = search.number() - reached
    if lost:
        said.append(f"Left out, as the target is not reached: {counted(lost, 'choice')}.")
    if scenario.known["L"].origin == "default":
        L = scenario.number("L")
        said.append(f"L was not given: learning rates are for L = {L:g}, as of networks on images. They scale as 1/L.")
    return said


def _basis(search: _Search) -> Iterator[str]:
    question, scenario = search.question, search.scenario
    tiers = question.symbols
    proved = f", bounds {question.family}, step cap {question.cap}" if question.family else ""
    measured = "Measured" if len(tiers) == 2 else "Measured with two tiers"
    missing = scenario.assumed(("L", "A", "sigma", *(tier.deviation for tier in reversed(tiers))))
    yield f"Rounds are those {question.predictor.says}."
    yield (
        f"Tried: {counted(len(search.among), 'topology')}, K in {_list(search.steps)} "
        f"and {tuning.passes(question)} in {_list(search.exchanges)}; predictor {question.predictor.id}{proved}; "
        f"a round is timed by its {scenario.cost}."
    )
    if len(tiers) > 2:
        yield f"{tiers[-1].passes} are the passes of the lowest tier; the tiers above keep theirs."
    if missing:
        yield f"Not given, so assumed: {missing}."
    yield from (f"{measured} (docs/validation.md), {one}" for one in verdicts("raw-rates", "group-rounds"))
    yield f"The target is on the {question.quantity.words}. `hfl-plan recommend` has the record of topologies."


def _named(one: Choice) -> str:
    return f"{title(one.topology)} with {one.steps}"


def _beside(one: Choice, other: Choice) -> str:
    """K and P of a choice, and its topology where that is not the other's."""
    return one.steps if one.topology == other.topology else _named(one)


def _alike(found: Sequence[Choice]) -> Iterator[str]:
    if not found:
        yield "None: every other choice takes more of what is weighed."
    by: dict[tuple[str, str], list[int]] = {}
    for one in found:
        by.setdefault((one.topology, f"{one.passes} = {one.P}"), []).append(one.K)
    yield from (f"{title(t)} with {p}, K = {_list(sorted(ks))}." for (t, p), ks in by.items())


def _list(numbers: Sequence[int]) -> str:
    return (
        ", ".join(map(str, numbers)) if len(numbers) <= 8 else f"{numbers[0]} to {numbers[-1]} ({len(numbers)} values)"
    )


def _about_rates(rates: Rates | None, predictor: str, rows: Sequence[Plan], at: str) -> Iterator[str]:
    if rates is None:
        why = next((row.why for row in rows if row.why), "")
        yield f"None: {why}."
        return
    if rates.on_record is not None:
        recorded = rates.on_record.in_words()
        yield f"{recorded[0].upper()}{recorded[1:]}."
    yield f"At {at}: effective {_numbers(rates.effective)}. Raw rates:"
    for topology, of in rates.topologies.items():
        known = [("of the bound", of.rate_bound_raw)]
        known = known if guaranteed(predictor) else [("predicted", of.rate_predicted_raw), *known]
        said = [f"{whose} {rate:.3g}" for whose, rate in known if rate is not None]
        yield f"{title(topology)}: {_numbers(of.rates)}" + (f" ({', '.join(said)})" if said else "")
    ratios = " : ".join(f"{of.ratio:.3g}" for of in rates.topologies.values())
    if len(rates.topologies) > 1:
        yield (
            f"Ratio of learning rates at the same effective rate: {ratios}. Equal raw rates are an unfair comparison: "
            "a ring chains the steps of its members, so the same raw rate moves it further."
        )
    yield (
        "Bounds hold for small steps, usually below the best rate. Searched by running with P = 1, K = 2, the best "
        "effective rate times L was 0.2 to 18, mostly 0.7 to 2. Extend the grid where the best is at one of its ends."
    )


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)
