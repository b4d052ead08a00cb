"""How many rounds one curve takes to where another is: what ratios of a pilot are.

A curve has a number after 0, 1, 2 ... rounds, smaller is better, and never rises: what was once reached counts. In
between, logarithms are interpolated linearly (the numbers themselves where some are not above 0), so that a topology
that passes another's level within its first round is told apart from one that just gets there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SAME = 1e-12  # logarithms that differ by less are one: a level that a curve had is read back from its logarithm
STILL = 0.1  # the pace of a curve whose end tells none
LOWEST = 1e-12  # of a curve that is continued
KEPT = 256  # curves whose logarithms are kept: those of one pilot are asked for again and again
FURTHEST = 100  # times the rounds that raced; docs/real-data.md has orders change between 20 and 200
Curve = Sequence[float] | NDArray[np.float64]


def never_rising(curve: Curve) -> NDArray[np.float64]:
    """The best so far, round by round."""
    return np.minimum.accumulate(np.asarray(curve, dtype=np.float64))


def kept(curve: Curve) -> NDArray[np.float64]:
    """The best so far, but no better than at the end; that alone where the end is no gain."""
    best = never_rising(curve)
    return np.maximum(best, curve[-1]) if curve[-1] < curve[0] else best


def value_at(curve: Curve, rounds: float) -> float:
    """What a curve has after so many rounds, which need not be whole; at most as many as it has."""
    scaled, least = _scaled(tuple(curve))
    found = float(np.interp(rounds, range(len(scaled)), scaled))
    return math.exp(found) if least > 0 else found


def crossing(curve: Curve, level: float) -> float:
    """Rounds after which a curve is first at a level or below it; infinite if it never is.

    >>> crossing([8.0, 2.0, 2.0, 1.0], 4.0)
    0.5
    """
    scaled, least = _scaled(tuple(curve))
    if level <= 0 < least:
        return math.inf
    goal = math.log(level) if least > 0 else level
    below = scaled <= goal + SAME * (least > 0)
    r = int(below.argmax())
    if not below[r]:
        return math.inf
    if r == 0:
        return 0.0
    before, after = float(scaled[r - 1]), float(scaled[r])
    return float(r) if not math.isfinite(before) else r - 1 + min(1.0, (before - goal) / (before - after))


def pace(curve: Curve) -> float:
    """How fast a curve still falls at its end: minus its power of the rounds, from half of them on.

    A curve that stands still, or is not above 0, has `STILL`.
    """
    last = len(curve) - 1
    half = max(1, last // 2)
    before, after = value_at(curve, half), curve[-1]
    return math.log(before / after) / math.log(last / half) if before > after > 0 and half < last else STILL


def rounds_like(reference: Curve, curve: Curve, rounds: float, times: Curve | None = None) -> float:
    """Rounds in which a curve has what the reference has after so many.

    A curve that does not get there so far is taken to go on at the pace it has: where in all its rounds ``h`` it has
    what the reference first has after ``m``, its ratio is ``h / m``. Infinite where it has gained nothing.

    Neither rises anywhere, and both are over the same rounds; or the curve is over ``times``, and so is the answer.
    """
    level = value_at(reference, rounds)
    found = crossing(curve, level)
    if math.isfinite(found):
        return found if times is None else float(np.interp(found, range(len(times)), times))
    last = len(curve) - 1 if times is None else float(times[-1])
    gained = crossing(reference, float(curve[-1]))
    return math.inf if gained == 0 else min(rounds, crossing(reference, level)) * last / gained


@dataclass(frozen=True)
class Continued:
    """The curve of a reference, and how it goes on."""

    raced: Curve  # its own
    # from the start on; beyond the rounds that raced as topologies had it that were quicker, slowed down by their
    # ratios at its end
    curve: tuple[float, ...]
    pace: float  # minus the power of the rounds at which it falls from there on, that of the quickest

    def rounds_to(self, level: float) -> float:
        """Rounds to a level, infinite to one that is not above 0 and was not met."""
        found = crossing(self.curve, level)
        if math.isfinite(found) or level <= 0:
            return found
        with np.errstate(over="ignore"):  # close to where it stands still no number of rounds is enough
            return float((len(self.curve) - 1) * np.float64(max(self.curve[-1], LOWEST) / level) ** (1 / self.pace))

    def value_at(self, rounds: float) -> float:
        """What it has after so many rounds."""
        last = len(self.curve) - 1
        if rounds <= last:
            return value_at(self.curve, rounds)
        return float(max(self.curve[-1], LOWEST) * (rounds / last) ** -self.pace)

    def rounds_of(self, curve: Curve, level: float) -> float:
        """Rounds of another curve of the race to a level: where it was there, else by its ratio where it ends."""
        like = self.rounds_to(level)
        if like <= (len(self.raced) - 1) * (1 + 1e-9):
            return rounds_like(self.raced, curve, like)
        own, per_round = crossing(curve, level), self.per_round(curve)
        return own if math.isfinite(own) else like / per_round if 0 < per_round < math.inf else math.inf

    def per_round(self, curve: Curve) -> float:
        """Rounds of the reference for one of another curve of the race, where that ends; 0 where it has no gain."""
        last, end = len(self.raced) - 1, float(curve[-1])
        return 1.0 if end == self.raced[-1] else self.rounds_to(end) / last


def ratio(reference: Curve, curve: Curve) -> float:
    """Rounds of a curve over those of the reference, at the end of both."""
    last = len(reference) - 1
    return rounds_like(reference, curve, last) / (rounds_like(reference, reference, last) or last)


def continued(reference: Curve, others: Iterable[Curve]) -> Continued:
    """Continue a curve by the others that raced, of which some came further in as many rounds.

    On runs of real data this told the rounds of the reference nearer than its own curve, continued as a power
    (docs/evidence/real-rounds.md).
    """
    last = len(reference) - 1
    ahead = [(number, curve) for curve in others if 0 < (number := ratio(reference, curve)) < 1]
    least, quickest = min(ahead, key=lambda pair: pair[0], default=(1.0, reference))
    found = [*map(float, reference)]
    for n in range(last + 1, int(last * min(1 / least, FURTHEST)) + 1):
        there = [value_at(curve, n * number) for number, curve in ahead if n * number <= last * (1 + 1e-9)]
        found.append(min(found[-1], math.exp(sum(math.log(max(one, LOWEST)) for one in there) / len(there))))
    return Continued(reference, tuple(found), pace(quickest))


@lru_cache(maxsize=KEPT)
def _scaled(curve: tuple[float, ...]) -> tuple[NDArray[np.float64], float]:
    """The logarithms of a curve, or itself where some are not above 0; and the least of it."""
    values = np.asarray(curve, dtype=np.float64)
    return np.log(values) if values.min() > 0 else values, float(values.min())
