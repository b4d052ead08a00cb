"""What is not known exactly: a middle times a random factor, independent of the others, for each input.

The factor lies between limits that the user gave, has the error that a file states, or is log-uniform within `FACTOR`
either way where nothing was given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from planner.decide.parameters import CLOCK, deviations, of_clock, with_clock
from planner.decide.uncertainty import parts
from planner.decide.uncertainty.lattice import FloatArray
from planner.io.intervals import Spread
from planner.predict.question import Question
from planner.scenario.fields import CLOCKED, FOOTPRINT, Objective
from planner.scenario.resolve import Scenario

Kind = Literal["given", "measured", "assumed"]
FACTOR = 3.0  # a number that nobody gave is taken to be known within this factor, either way


@dataclass(frozen=True)
class Column:
    """One independent random factor."""

    name: str  # of what is not known
    kind: Kind  # who says how far
    spread: Spread  # of the factor
    moves: Mapping[str, float]  # quantities of the scenario, with the power of the factor that multiplies each
    middle: float  # of what is named
    unit: str = ""  # of ``middle``

    @property
    def of_clock(self) -> bool:
        """Whether it changes what a round costs, and not how many there are."""
        return all(name in CLOCK or name in parts.NAMES or "." in name for name in self.moves)

    def logs(self, cube: FloatArray) -> FloatArray:
        """Logarithms of the factor at probabilities."""
        if self.spread.kind == "log-uniform":
            return self.spread.width * (2 * cube - 1)
        normal = NormalDist().inv_cdf
        return self.spread.width * np.array([normal(u) for u in np.clip(cube, 1e-12, 1 - 1e-12).tolist()])


def columns(question: Question, scenario: Scenario, objective: Objective) -> tuple[Column, ...]:
    """What is drawn for a scenario, in the order in which results list it.

    Nothing that leaves the ranking as it is: `L` and `A` where neither has limits enter as their product, and the
    model's size cannot change an order by bytes. What the clock stands on is drawn where the clock decides; numbers of
    a preset that the user chose are taken as given, and with random compute times those that nobody gave stay. What
    devices, links and the grid take is drawn between the ends of its range, where that decides.
    """
    known, values = scenario.known, question.values
    found: list[Column] = []

    def own(name: str, value: float, unit: str = "", *, assume: bool = True) -> None:
        of = known[name]
        if of.spread is not None:
            kind: Kind = "given" if of.origin == "given" else "measured"
            found.append(Column(name, kind, of.spread, {name: 1.0}, value, unit))
        elif assume and not of.sure:
            found.append(Column(name, seen(name), _anything(), {name: 1.0}, value, unit))

    def seen(*names: str) -> Kind:
        return "assumed" if any(known[name].origin != "estimated" for name in names) else "measured"

    def clock() -> None:
        exact = not timed(question)
        for name, value, unit in of_clock(question) if objective in CLOCKED else ():
            if value > 0:
                own(name, value, unit, assume=exact and known[name].origin == "default")
        for name, one in parts.ranges(question, objective).items() if objective in FOOTPRINT else ():
            kind: Kind = "given" if known[name].origin == "given" else "measured"
            spread, middle = Spread("log-uniform", math.log(one.high / one.low) / 2), math.sqrt(one.low * one.high)
            scale = float(known[name].value or 0.0) / one.value
            found.append(Column(name, kind, spread, {name: 1.0}, middle * scale, known[name].unit))

    if question.predictor.measured:  # constants are in what was measured
        clock()
        return tuple(found)
    own_tiers = tuple(deviations(question))
    two = len(own_tiers) == 2 and all(values[name] > 0 for name in own_tiers)
    together = _deviations_together(scenario, *own_tiers) if two else ()
    found += together
    for name in () if together else own_tiers:
        if values[name] > 0:
            own(name, values[name])
    if values["sigma"] > 0:
        own("sigma", values["sigma"])
    if known["L"].spread is None and known["A"].spread is None:
        if not (known["L"].sure and known["A"].sure):
            found.append(Column("L A", seen("L", "A"), _anything(), {"A": 1.0}, values["L"] * values["A"]))
    else:
        own("A", values["A"])
        own("L", values["L"])
    if question.target is not None:
        own("target", question.target, assume=False)
    clock()
    return tuple(found)


def _anything() -> Spread:
    return Spread("log-uniform", math.log(FACTOR))


def _deviations_together(scenario: Scenario, low: str, top: str) -> tuple[Column, ...]:
    """One factor on both deviations, and one on their ratio, where a file or a division says how they compare."""
    known, error = scenario.known[low], scenario.ratio_error
    divided = scenario.grouping in ("random", "chosen")
    alone = known.sure if known.spread is None else not divided
    if error is None or alone:
        return ()
    kind: Kind = "assumed" if known.spread is None else "given"
    both = Column(f"{low} and {top}", kind, known.spread or _anything(), {low: 1.0, top: 1.0}, 1.0, "times")
    if error == 0:
        return (both,)
    ratio = scenario.number(low) / scenario.number(top)
    apart = Column(f"{low} / {top}", "measured", Spread("lognormal", error), {low: 0.5, top: -0.5}, ratio)
    return (both, apart)


def timed(question: Question) -> bool:
    """Whether compute times are random, so that every change of the clock draws them anew."""
    return question.compute.straggler.cv > 0


def given_ranges(question: Question, scenario: Scenario) -> dict[str, float]:
    """How far ranges of the clock that were given reach from their middles, on the scale of the logarithm."""
    told = {name: scenario.known[name] for name, value, _ in of_clock(question) if value > 0}
    return {name: one.spread.reach for name, one in told.items() if one.spread and one.origin == "given"}


def at_ends(question: Question, scenario: Scenario) -> tuple[Question, ...]:
    """Ask at the quick and at the slow ends of all ranges of the clock that were given; nothing where none was."""
    reach = given_ranges(question, scenario)
    slower = {name: -by if name.endswith((".up", ".down")) else by for name, by in reach.items()}
    values = {name: value for name, value, _ in of_clock(question)}
    return tuple(
        with_clock(question, {name: values[name] * math.exp(end * by) for name, by in slower.items()})
        for end in (-1, 1)
        if slower
    )
