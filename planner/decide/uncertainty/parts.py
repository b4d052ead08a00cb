"""Energy, carbon and money as sums of parts, each of which grows with some numbers of devices, links and the grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from planner.predict.question import Question
from planner.scenario.fields import Objective
from planner.scenario.footprint import Coefficient, Rates
from planner.scenario.network import link_names

NAMES: Final = {"training_power": "training", "idle_power": "idle", "radio_power": "radio"} | {
    name: name for name in ("carbon", "device_hour", "kwh")
}  # of the scenario and of `Rates`, beside those of links


class Part(NamedTuple):
    """A part of an objective."""

    names: tuple[str, ...]  # of the numbers that multiply it
    question: Question  # in which it is the whole of the objective


def numbers(rates: Rates) -> dict[str, Coefficient]:
    """What is known, by symbol of the scenario."""
    links = link_names(len(rates.links))
    found = {name: getattr(rates, part) for name, part in NAMES.items()}
    found |= {f"{link}.energy": one for link, one in zip(links, rates.links, strict=True)}
    found |= {f"{link}.price": one for link, one in zip(links, rates.gigabytes, strict=True)}
    return {name: one for name, one in found.items() if one is not None}


def parted(question: Question, objective: Objective) -> list[Part]:
    """Take an objective apart, such that it is the sum of its parts."""
    assert question.rates is not None  # noqa: S101 - `ask` refuses these objectives without
    return [
        Part(names, question.varied(rates=_only(question.rates, names))) for names in _products(question, objective)
    ]


def ranges(question: Question, objective: Objective) -> dict[str, Coefficient]:
    """The numbers with a range that an order by the objective may depend on: none that multiplies every part."""
    if question.rates is None:
        return {}
    known, products = numbers(question.rates), list(_products(question, objective))
    shared = set(products[0]).intersection(*products) if products else set()
    told = dict.fromkeys(name for names in products for name in names if name not in shared)
    return {name: known[name] for name in told if 0 < known[name].low < known[name].high}


def middle(one: Coefficient) -> float:
    """The middle of a range over its number."""
    return math.sqrt(one.low * one.high) / one.value


def scaled(rates: Rates, factors: Mapping[str, float]) -> Rates:
    """The same with some numbers multiplied."""
    links = link_names(len(rates.links))

    def times(one: Coefficient | None, name: str) -> Coefficient | None:
        return one if one is None or name not in factors else one.times(factors[name])

    return replace(
        rates,
        **{part: times(getattr(rates, part), name) for name, part in NAMES.items()},
        links=tuple(times(one, f"{link}.energy") for link, one in zip(links, rates.links, strict=True)),
        gigabytes=tuple(times(one, f"{link}.price") for link, one in zip(links, rates.gigabytes, strict=True)),
    )


def _products(question: Question, objective: Objective) -> Iterator[tuple[str, ...]]:
    """The numbers that multiply each part."""
    assert question.rates is not None  # noqa: S101 - as above
    known = numbers(question.rates)
    powers, energies, prices = (
        [name for name in known if name.endswith(end)] for end in ("_power", ".energy", ".price")
    )
    if objective == "money":
        yield from ((name,) for name in ("device_hour", *prices) if name in known)
        yield from (("kwh", name) for name in powers if "kwh" in known)
    else:
        grid = ("carbon",) if objective == "carbon" else ()
        yield from ((*grid, name) for name in (*powers, *energies))


def _only(rates: Rates, names: tuple[str, ...]) -> Rates:
    """The rates without others than these: what is not known stays so, as the time on air counts by it."""
    return scaled(rates, {name: 0.0 for name in numbers(rates) if name not in names})
