"""The nearest break-even point of every input, found quickly: what every answer of ``recommend`` shows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from planner.decide import breakpoints, toss_up
from planner.decide.breakpoints import FINE, Method
from planner.decide.parameters import Input, counts_drawn, fixed, inputs, is_quick, is_too_large, moved_by, ratios
from planner.decide.settings import is_open, other_words, with_other_words
from planner.decide.verdict import Standing
from planner.io.answers import Sensitivity
from planner.io.wording import title
from planner.predict.question import Question
from planner.scenario.fields import CLOCKED, Objective

Way = Literal["exact", "searched", "sampled", "setting"]
WAYS: dict[Method, Way] = {"solved": "exact", "counted": "exact", "enclosed": "searched", "looked at": "sampled"}
NARROWED = 1e3  # by which what a range that was given leaves open comes before what is beyond
TOSSED = 3  # nearest changes of numbers of which it is said where a toss-up begins: a page names fewer
MANY = 8  # topologies of a deep tree that break-even points are looked for among: the best ones, and the reference


def nearest_flips(here: Standing) -> tuple[tuple[Sensitivity, ...], str]:
    """Find the nearest flip below and above for every input, quickly, nearest first; and say what was looked at.

    Settings that were not given come before all numbers, and those that were after them. Of the nearest numbers it is
    said where the best becomes a toss-up.
    """
    question, scenario, objective, first = here.question, here.scenario, here.objective, here.best
    if objective == "rounds" and (least := _least_by_proof(question)) in first:
        return (), f"with these constants and one cap for all, {title(least)}'s bound is never the larger, by proof"
    if objective in CLOCKED and is_too_large(question):
        return (), "not looked at: the fleet is too large to draw its compute times again and again"
    few, among = _nearest(question, objective)
    every, of_pilot = inputs(few, objective), question.predictor.measured
    left_out = {*ratios(question), *counts_drawn(question), *fixed(few, every)}  # `flip` follows the first two
    looked = {name: each for name, each in every.items() if name not in left_out and (of_pilot or name != "R")}
    looked = {} if set(first) == set(question.topologies) else looked  # no number puts another in front
    leading = [t for t in first if t in few.topologies]
    found: list[tuple[float, Sensitivity]] = []
    near: dict[tuple[str, bool], float] = {}
    for name, each in looked.items():
        spread = scenario.known[name].spread if name in scenario.known else None
        given = spread is not None and scenario.known[name].origin == "given"
        # a range that was given and turns the order settles a toss-up where it is narrowed
        for before in (leading[:1], leading) if given and len(leading) > 1 else (leading,):
            for change, method in breakpoints.nearest(each, few, objective, before, scenario.resolution):
                now, at, way = each.number(each.value), each.number(change.at), WAYS[method]
                to = change.to[:1]
                away = abs(math.log(at / now)) if now and at else math.inf
                flip = Sensitivity(parameter=name, now=now, unit=each.unit, break_even=at, best_beyond=to, method=way)
                flip = flip.replaced(last=change.last)
                inside = set(to) <= set(leading)
                # whole rounds, in which rows are told, may have another first than rounds that no step parts
                if not inside or (spread is not None and 0 < away < spread.reach):
                    found.append((away - NARROWED * inside, flip))
                if not inside:
                    near[name, at > now] = away
    found = [pair for pair in found if pair[0] < 0 or _says_most(pair[1], near)]
    words = (one for one in other_words(question, scenario) if one[0] != "objective")
    for one in with_other_words(words, scenario, tuple(question.topologies), first):
        if one.flips and one.best:
            flip = Sensitivity(
                parameter=one.parameter, now=one.now, break_even=one.other, best_beyond=one.best, method="setting"
            )
            # what makes a toss-up of the best and others leaves the best as good a choice, and comes last
            open_ = is_open(one.parameter, scenario) and not set(first) <= set(one.best)
            found.append((-1.0 if open_ else math.inf, flip))
    found.sort(key=lambda pair: pair[0])
    far = f"by up to a factor {breakpoints.REACH:g} (counts {breakpoints.REACH_OF_COUNTS:g}; from 0 what is 0)"
    held = ", counts at the present target" if question.target is None and not of_pilot else ""
    told = sorted(_with_toss_ups(here, looked, found), key=lambda pair: pair[0])
    flips = tuple(flip for _, flip in told)
    numbers = f"one input at a time{held}, {far}{among}: {', '.join(looked)}"
    return flips, numbers if looked else "settings alone, as all topologies tie"


def _says_most(one: Sensitivity, near: Mapping[tuple[str, bool], float]) -> bool:
    """Whether a change is shown beside those of the same link; ``near`` has how far each is, by its side.

    Of both rates at once, as a faster line moves them, where that is nearer than of either alone, and then instead.
    """
    rate = f"{one.parameter.rpartition('.')[0]}.rate"
    side = _is_above(one)
    alone = min(near.get((part, side), math.inf) for part in moved_by(rate))
    both = near.get((rate, side), math.inf) < alone - FINE
    return both if one.parameter == rate else not both or one.parameter not in moved_by(rate)


def _is_above(one: Sensitivity) -> bool:
    at, now = one.break_even, one.now
    return isinstance(at, (int, float)) and isinstance(now, (int, float)) and at > now


def _with_toss_ups(
    here: Standing, looked: Mapping[str, Input], found: Sequence[tuple[float, Sensitivity]]
) -> Iterator[tuple[float, Sensitivity]]:
    """Changes with where a toss-up begins before them, of the nearest numbers where one look takes milliseconds.

    And where one begins that no break-even follows, where a pilot's whole rounds make one here and there. With how far
    the first of both is.
    """
    alone = not here.question.partly_available and len(here.best) == 1
    left = TOSSED * alone
    for away, flip in found:
        each, even = looked.get(flip.parameter), flip.break_even
        if left and each is not None and flip.best_beyond and isinstance(even, (int, float)):
            left -= 1
            told = toss_up.undecided_along(each, here, here.totals)
            begins = toss_up.begins(told, each, float(even), here.best)
            flip = flip.replaced(toss_up=begins)
            away = abs(math.log(begins / each.value)) if begins and each.value else away
        yield away, flip
    still = [each for each in looked.values() if each.looks and alone]
    seen = {(one.parameter, _is_above(one)) for _, one in found}
    for each, side in ((each, side) for each in still for side in (-1, 1) if (each.name, side > 0) not in seen):
        told = toss_up.undecided_along(each, here, here.totals)
        turned = toss_up.turned(told, each, lambda values: values, side, here.best)  # whatever the leads are
        if turned is not None:
            at, last, best = turned
            flip = Sensitivity(parameter=each.name, now=each.value, unit=each.unit, break_even=at, best_beyond=best)
            yield abs(math.log(at / each.value)), flip.replaced(toss_up=at, last=last, method="sampled")


def _nearest(question: Question, objective: Objective) -> tuple[Question, str]:
    """The question with the best topologies alone where there are many; and words that say so."""
    if len(question.topologies) <= MANY:
        return question, ""
    rounds = question.rounds()
    order = sorted(question.topologies, key=lambda t: float(rounds[t]) * question.price(t, objective))
    kept = {*order[:MANY], question.reference}
    few = {t: tree for t, tree in question.topologies.items() if t in kept}
    return replace(question, topologies=few), f", among the best {MANY} of {len(order)} topologies"


def _least_by_proof(question: Question) -> str:
    """The topology whose bound is never the larger, where all bounds share their constants and their cap; else ""."""
    bound = next(iter(question.bounds.values()), None)
    if not is_quick(question) or bound is None or bound.chain is None or len(question.symbols) != 2:
        return ""
    shared = (bound.status == "own" or bound.constants == "hidden") and "order" not in bound.breaks
    if not shared or (question.cap == "own" and bound.constants != "explicit"):
        return ""
    return next((t for t, tree in question.topologies.items() if all(p.ordered for p in tree.patterns)), "")
