"""Bounds along one quantity: their values, and where their order changes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hflbounds.core.bound import Bound
from hflbounds.core.quantities import ABOUT, eta_eff
from hflbounds.errors import ConditionError, DomainError
from hflbounds.evaluate.compare import SAME
from hflbounds.evaluate.tuning import Cap

Floats = NDArray[np.float64]
Order = Literal["first", "second", "equal", "silent"]
POINTS = 401  # of a range that are looked at
ORDERS: Mapping[int, Order] = {-1: "first", 1: "second", 0: "equal", 2: "silent"}
LOGARITHMIC = 20.0  # the least quotient of the ends of a range that is looked at by factors


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a range of a quantity.

    Attributes:
        low: its lower end; the change of order before it, or the end of the range.
        high: its upper end.
        smaller: which of two bounds is the smaller one; or ``equal``, or ``silent`` where one of them says nothing.
    """

    low: float
    high: float
    smaller: Order


@dataclass(frozen=True, slots=True)
class Line:
    """A range of one quantity, and what is fixed.

    Attributes:
        over: name of the quantity.
        low: where it begins.
        high: where it ends.
        values: all other quantities, as numbers.
        tuned: whether each bound is at its own best step.
        cap: on that step, as of `Bound.tuned`.
    """

    over: str
    low: float
    high: float
    values: Mapping[str, float]
    tuned: bool
    cap: Cap = "own"

    @property
    def whole(self) -> bool:
        """Whether the quantity is a count."""
        return ABOUT[self.over].domain in ("count", "whole")

    @property
    def logarithmic(self) -> bool:
        """Whether the range is looked at by factors."""
        return self.low > 0 and self.high / self.low >= LOGARITHMIC

    def points(self, count: int = POINTS) -> Floats:
        """Values of the quantity, both ends among them; whole numbers of a count, each once."""
        spaced = np.geomspace if self.logarithmic else np.linspace
        found = spaced(self.low, self.high, count)
        found[0], found[-1] = self.low, self.high
        return np.unique(np.rint(found)) if self.whole else found

    def of(self, bound: Bound, points: Floats) -> Floats:
        """The bound at these values of the quantity; NaN where it says nothing.

        Raises:
            TypeError, DomainError: as of a call.
        """
        values = {**self.values, self.over: points}
        try:
            return self._at(bound, values, points.shape)
        except (ConditionError, DomainError):
            if points.size == 1:
                return np.full(points.shape, np.nan)
        return np.concatenate([self.of(bound, part) for part in np.array_split(points, 2)])

    def _at(self, bound: Bound, values: Mapping[str, Any], shape: tuple[int, ...]) -> Floats:
        steps = eta_eff in bound.symbols
        found = bound.tuned(cap=self.cap, **values).value if self.tuned and steps else bound(**values)
        return np.broadcast_to(np.asarray(found, dtype=np.float64), shape)

    def stretches(self, a: Bound, b: Bound) -> tuple[Stretch, ...]:
        """Which bound is the smaller one along the range, and where that changes.

        Changes are found between neighbours of `POINTS` values, to the last digit; two changes between two neighbours
        are not seen.

        Raises:
            TypeError, DomainError: as of a call.
        """
        points = self.points()
        signs = _signs(self.of(a, points), self.of(b, points))
        for i in range(1, len(signs) - 1):  # a value that is hit by chance is no stretch
            if signs[i] == 0 and signs[i - 1] != 0 and signs[i + 1] != 0:
                signs[i] = signs[i + 1]
        found: list[Stretch] = []
        start = float(points[0])
        for i in range(1, len(points)):
            if signs[i] != signs[i - 1]:
                at = self._change(a, b, float(points[i - 1]), float(points[i]), int(signs[i - 1]), int(signs[i]))
                found.append(Stretch(start, at, ORDERS[int(signs[i - 1])]))
                start = at
        return (*found, Stretch(start, float(points[-1]), ORDERS[int(signs[-1])]))

    def _change(self, a: Bound, b: Bound, low: float, high: float, before: int, after: int) -> float:
        """Where the order changes; of a count, the first whole number with the new one."""
        plain = {before, after} == {-1, 1}  # then the sign itself tells, with no tolerance

        def sign(x: float) -> int:
            at = np.array([x])
            return int(_signs(self.of(a, at), self.of(b, at), 0.0 if plain else SAME)[0])

        for _ in range(200):
            middle = math.sqrt(low * high) if self.logarithmic else (low + high) / 2
            middle = math.ceil(middle) if self.whole else middle  # below high, where another lies between
            if not low < middle < high:
                break
            if sign(middle) == before:
                low = middle
            else:
                high = middle
        return float(high)


def range_of(name: str, bounds: Sequence[Bound], values: Mapping[str, float]) -> tuple[float, float]:
    """The range of a quantity that is looked at where none is asked for: ten times its typical one, to either side."""
    about = ABOUT[name]
    low, high = about.typical
    if about.domain == "share":
        low, high = low / 10, 1.0
    elif about.domain not in ("count", "whole"):
        low, high = low / 10, high * 10
    if about.domain == "count":
        low = 1.0
    if about.at_most is not None and about.at_most in values:
        high = min(high, values[about.at_most])
    for other, of in ABOUT.items():
        if of.at_most == name and other in values and any(other in bound.needs for bound in bounds):
            low = max(low, values[other])
    return low, high


def _signs(a: Floats, b: Floats, slack: float = SAME) -> NDArray[np.int_]:
    """-1 where the first is smaller, 1 where the second is, 0 where they are one, 2 where one is no number."""
    with np.errstate(invalid="ignore"):
        difference = a - b
        alike = (np.abs(difference) <= slack * np.maximum(np.abs(a), np.abs(b))) | (a == b)
        found = np.where(alike, 0, np.where(difference < 0, -1, 1))
    return np.where(np.isnan(a) | np.isnan(b), 2, found)


def evaluated(bound: Bound, values: Mapping[str, float], tuned: bool, cap: Cap) -> float:
    """The bound at one point, at the step given or at its best one."""
    steps = eta_eff in bound.symbols
    return float(bound.tuned(cap=cap, **values).value if tuned and steps else bound(**values))


__all__ = ["POINTS", "Line", "Order", "Stretch", "evaluated", "range_of"]
