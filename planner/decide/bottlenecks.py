"""What a round waits for, link by link and client by client, and what one twice as fast would save."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from planner.decide.parameters import of_clock, with_clock
from planner.decide.recommendation import Recommendation
from planner.io.answers import Waiting
from planner.io.wording import input_words
from planner.network.bottlenecks import NO_LIMIT
from planner.predict.question import Question, ask, with_default_order
from planner.scenario.members import Members
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_amount, format_duration, format_rate

LARGEST: Final = 200  # listed clients that are looked at one by one
NUDGE: Final = 1e-4  # of a speed: what a round waits for now is the slope there
NOTHING: Final = 1e-9  # share of a round that rounding may save
Faster = Callable[[float], Question]


def waits(question: Question, scenario: Scenario, topology: str) -> list[Waiting]:
    """List what a round would be shorter without, by what twice as fast saves.

    Not of a question on a network of places, whose links `planner.families.sited.timed` knows by name.
    """
    found = []
    now = question.of_a_round(topology).seconds
    for what, (rate, doubled), faster in _parts(question, scenario):

        def saved(speed: float, faster: Faster = faster) -> float:
            return 1 - faster(speed).of_a_round(topology).seconds / now

        most = saved(NO_LIMIT)
        if most > NOTHING:
            slope = saved(1 + NUDGE) / (1 - 1 / (1 + NUDGE))
            share = min(max(slope, 0.0), 1.0)
            found.append(Waiting(what=what, now=rate, twice=doubled, waits=share, saves=saved(2.0), most=most))
    return sorted(found, key=lambda one: (-one.saves, -one.most, one.what))


def with_waits(answer: Recommendation, scenario: Scenario) -> Recommendation:
    """Say beside a recommendation without a network of places what the round of its best topology waits for."""
    whole = with_default_order(scenario)
    found = waits(ask(whole), whole, answer.recommended[0])
    return answer.replaced(recommend=answer.recommend.replaced(waits=tuple(found)))


def _parts(question: Question, scenario: Scenario) -> Iterator[tuple[str, tuple[str, str], Faster]]:
    """Everything that may be sped up: its name, itself now and twice as fast in words, and the question then."""
    members, tiers = question.members, scenario.names if scenario.depth != 2 else ()

    def faster(name: str, now: float, unit: str, speed: float) -> Question:
        return with_clock(question, {name: now / speed if unit == "s" else now * speed})

    for name, now, unit in of_clock(question):
        if now and name != "model_size":
            what = "local steps of all clients" if name == "step_time" else input_words(name, tiers)
            words = format_amount(now, unit), format_amount(now / 2 if unit == "s" else 2 * now, unit)
            yield what, words, partial(faster, name, now, unit)
    if members is not None and scenario.listed is not None and len(scenario.listed.clients) <= LARGEST:
        yield from _of_clients(question, members, scenario.listed.clients)


def _of_clients(
    question: Question, members: Members, clients: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, str], Faster]]:
    """The local steps of every listed client, and the rates of the links that some have of their own."""
    step = question.compute.step_time
    pace = np.ones(len(clients)) if members.pace is None else members.pace

    def with_pace(client: int, speed: float) -> Question:
        return question.varied(
            members=replace(members, pace=np.where(np.arange(len(pace)) == client, pace / speed, pace))
        )

    def with_rate(client: int, part: str, speed: float) -> Question:
        assert members.link_of is not None  # noqa: S101 - asked of listed links alone
        link = members.links[members.link_of[client]]
        faster = replace(link, **{part: getattr(link, part) * speed})
        link_of = np.where(np.arange(len(pace)) == client, len(members.links), members.link_of)
        return question.varied(members=replace(members, links=(*members.links, faster), link_of=link_of))

    for client, name in enumerate(clients):
        own = step * float(pace[client])
        if own:
            words = format_duration(own), format_duration(own / 2)
            yield f"local steps of {name}", words, partial(with_pace, client)
        if members.link_of is None or members.link_of[client] < 0:
            continue
        for part in ("up", "down"):
            rate = getattr(members.links[members.link_of[client]], part)
            words = format_rate(rate), format_rate(2 * rate)
            yield f"{part}link of {name}", words, partial(with_rate, client, part)
