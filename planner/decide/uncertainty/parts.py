"""Energy, carbon and money as sums of parts, each of which grows with some numbers of devices, links and the grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from planner.predict.question import Question
from planner.scenario.fields import Objective
from planner.scenario.footprint import Coefficient, Rates

NAMES: Final = ("training_power", "idle_power", "radio_power", "carbon", "device_hour", "kwh")  # beside those of links


class Part(NamedTuple):
    """A part of an objective."""

    names: tuple[str, ...]  # of the numbers that multiply it
    question: Question  # in which it is the whole of the objective


def parted(question: Question, objective: Objective) -> list[Part]:
    """Take an objective apart, such that it is the sum of its parts."""
    rates = question.rates
    assert rates is not None  # noqa: S101 - `ask` refuses these objectives without
    # others than these add nothing; what is not known stays so, as the time on air counts by it
    others = {names: {name: 0.0 for name in rates if name not in names} for names in _products(question, objective)}
    return [Part(names, question.varied(rates=scaled(rates, without))) for names, without in others.items()]


def ranges(question: Question, objective: Objective) -> dict[str, Coefficient]:
    """The numbers with a range that an order by the objective may depend on: none that multiplies every part."""
    if question.rates is None:
        return {}
    known, products = question.rates, list(_products(question, objective))
    shared = set(products[0]).intersection(*products) if products else set()
    told = dict.fromkeys(name for names in products for name in names if name not in shared)
    return {name: known[name] for name in told if 0 < known[name].low < known[name].high}


def middle(one: Coefficient) -> float:
    """The middle of a range over its number."""
    return math.sqrt(one.low * one.high) / one.value


def scaled(rates: Rates, factors: Mapping[str, float]) -> Rates:
    """The same with some numbers multiplied."""
    return {name: one.times(factors.get(name, 1.0)) for name, one in rates.items()}


def _products(question: Question, objective: Objective) -> Iterator[tuple[str, ...]]:
    """The numbers that multiply each part."""
    assert question.rates is not None  # noqa: S101 - as above
    known = question.rates
    powers, energies, prices = (
        [name for name in known if name.endswith(end)] for end in ("_power", ".energy", ".price")
    )
    if objective == "money":
        yield from ((name,) for name in ("device_hour", *prices) if name in known)
        yield from (("kwh", name) for name in powers if "kwh" in known)
    else:
        grid = ("carbon",) if objective == "carbon" else ()
        yield from ((*grid, name) for name in (*powers, *energies))
