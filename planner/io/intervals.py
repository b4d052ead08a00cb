"""Numbers that are known within limits: ``0.2:1`` and ``2±0.5``, read where a single number is.

``low:high`` is drawn log-uniformly between its ends, and ``value±sd`` (also ``value+-sd``) from a lognormal whose
median is the value and whose logarithm has the standard deviation ``log(1 + sd/value)``, so that one standard
deviation up is ``value + sd``. Either is a middle times a random factor, and the middle (the geometric mean of the
ends, or the value) is the number wherever only one can be used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from planner.errors import ScenarioError

EDGE = 1.6448536269514722  # standard normal quantile at 95 %
_BARE = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")
_SIGNS = ("±", "+/-", "+-")


class SpreadError(ScenarioError):
    """Limits that cannot be; the message names the field, the fact and the way out."""

    kind = "E024"


@dataclass(frozen=True, slots=True)
class Spread:
    """How the random factor on a middle is distributed."""

    kind: Literal["log-uniform", "lognormal"]  # of the distribution
    width: float  # log-uniform: half of ``log(high / low)``; lognormal: the standard deviation of the logarithm

    @property
    def reach(self) -> float:
        """From the middle to the end, or for a lognormal to the 95 % quantile, on the scale of the logarithm."""
        return self.width if self.kind == "log-uniform" else EDGE * self.width


class Uncertain(float):
    """A number, how far it is known, and how it was read."""

    __slots__ = ("reading", "spread")
    reading: str
    spread: Spread

    def __new__(cls, value: float, spread: Spread, reading: str) -> Uncertain:
        """Make a number of its middle, the spread around it, and how it was read, in words."""
        self = super().__new__(cls, value)
        self.spread, self.reading = spread, reading
        return self


def read(value: object, one: Callable[[object], float], *, field: str) -> float:
    """Read a single number by ``one``, or an `Uncertain` one; ``field`` opens the message of a refusal.

    Raises:
        SpreadError: if the limits contradict each other, or include a zero, which no logarithm has.
    """
    if not isinstance(value, str):
        return one(value)
    sign = next((s for s in _SIGNS if s in value), ":" if ":" in value else None)
    if sign is None:
        return one(value)
    parts = [part.strip() for part in value.split(sign)]
    if len(parts) != 2 or not all(parts):
        raise SpreadError(f"{field}: {value!a:.60} is neither low:high nor value+-sd. Write 0.2:1 or 2+-0.5.")
    number = _BARE.match(parts[1])
    if number and _BARE.fullmatch(parts[0]):
        parts[0] += parts[1][number.end() :].strip()  # 20:50Mbit/s
    first, second = one(parts[0]), one(parts[1])
    shown = [getattr(n, "reading", "") or part for n, part in zip((first, second), parts, strict=True)]
    if first == 0 or second == 0:
        raise SpreadError(
            f"{field}: {value!a:.60} includes 0, which has no logarithm, and limits are drawn on that scale. "
            "Write numbers above 0, or one number."
        )
    if sign != ":":
        spread = Spread("lognormal", math.log1p(second / first))
        return Uncertain(first, spread, f"{shown[0]} +- {shown[1]}, lognormal")
    if first > second:
        raise SpreadError(f"{field}: {value!a:.60} goes from the larger to the smaller. Write {parts[1]}:{parts[0]}.")
    if first == second:
        return first
    spread = Spread("log-uniform", (math.log(second) - math.log(first)) / 2)
    return Uncertain(math.sqrt(first) * math.sqrt(second), spread, f"{shown[0]} to {shown[1]}, log-uniform")
