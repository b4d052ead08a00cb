"""Chances of how many come: binomial tails and means, and what a node's part of a round is made of."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_LONG: Final = 64  # steps beyond which a part that is lost is taken to stay to the end, where steps may be late too


def needed(quorum: float | None, endpoints: int) -> int:
    """How many of the endpoints a quorum is; one where there is none."""
    return 1 if quorum is None else max(1, math.ceil(quorum * endpoints - 1e-9))


def at_least(n: int, p: float, k: int) -> float:
    """P(X >= k) for X binomial of n and p."""
    if k <= 1:
        return 1.0 if k <= 0 else at_least_one(n, p)
    if p in (0, 1):
        return float(p)
    if k > n * p:
        return min(1.0, _tail(n, p, k))
    return 1.0 - min(1.0, _tail(n, 1 - p, n - k + 1))


def mean_if_at_least(n: int, p: float, k: int) -> float:
    """E[X | X >= k] for X binomial of n and p: ``n p P(Y >= k - 1)/P(X >= k)`` with Y of one trial less."""
    whole = at_least(n, p, k)
    return n * p * at_least(n - 1, p, k - 1) / whole if whole > 0 else float(k)


def _tail(n: int, p: float, k: int) -> float:
    """Upper tail from k, above the mean: the first term in logarithms, the others by their ratios."""
    first = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p)
    first += (n - k) * math.log1p(-p) if k < n else 0.0
    j = np.arange(k, n, dtype=np.float64)
    ratios = (n - j) / (j + 1) * (p / (1 - p))
    return float(math.exp(first) * (1.0 + np.cumprod(ratios).sum()))


def at_least_one(n: int, p: float) -> float:
    """Probability that at least one of n comes."""
    return 1.0 if p == 1 else -math.expm1(n * math.log1p(-p))


def reached(n: int, p: float) -> float:
    """Expected turns begun in a pass of n that ends where one does not come: ``1 + p + ... + p^(n-1)``."""
    return float(n) if p == 1 else -math.expm1(n * math.log(p)) / (1 - p) if p > 0 else 1.0


def binomial(n: int, p: float) -> tuple[FloatArray, FloatArray]:
    """Numbers and their probabilities, those beyond some 12 standard deviations left out."""
    if p in (0.0, 1.0):
        return np.array([n * p]), np.ones(1)
    middle, reach = math.floor((n + 1) * p), 40 + math.ceil(12 * math.sqrt(n * p * (1 - p)))
    low, high = max(0, middle - reach), min(n, middle + reach)
    middle = min(middle, n)
    odds = math.log(p) - math.log1p(-p)
    up = np.arange(middle, high, dtype=np.float64)
    down = np.arange(middle, low, -1, dtype=np.float64)
    above = np.cumsum(np.log((n - up) / (up + 1)) + odds)
    below = np.cumsum(np.log(down / (n - down + 1)) - odds)[::-1]
    weights = np.exp(np.concatenate([below, [0.0], above]))
    return np.arange(low, high + 1, dtype=np.float64), weights / weights.sum()


class Outcome(NamedTuple):
    """What becomes of a pass of children that come or do not."""

    passed: float  # probability that it does not break
    asked: float  # children that are asked, in expectation
    come: float  # that take part in a pass that does not break, in expectation


class Turn(NamedTuple):
    """A client's turn under a policy."""

    client: float  # probability that it is completed, in time
    completed: float  # mean duration of one that is [s]
    missed: float  # time that one that is not costs [s]
    all_in: float  # mean time until the last of those who work side by side has come, where all do [s]
    cut_off: float  # probability that a client that would complete is too late
    timeout: float | None  # longest turn waited for [s]
    shortest: float  # least time that a turn can take [s]


class Steps(NamedTuple):
    """The steps of a pass, each of which is prompt, late, or the last, as it breaks the call."""

    each: int  # number in a pass
    prompt: float  # probability
    late: float  # probability
    lasts: float  # duration of a step that is prompt [s]
    waits: float  # and of one that is not [s]
    ends: float  # what a pass that is completed takes beyond its steps [s]

    def mean(self, passes: int) -> float:
        """Mean duration [s] of a call of so many passes."""
        goes_on = self.prompt + self.late
        steps = reached(self.each * passes, goes_on) * (self.prompt * self.lasts + (1 - self.prompt) * self.waits)
        whole = goes_on**self.each
        return steps + self.ends * reached(passes, whole) * whole

    def durations(self, passes: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Durations of a call of so many passes [s] and their probabilities, in parts."""
        steps, goes_on = self.each * passes, self.prompt + self.late
        if goes_on >= 1 or (self.late > 0 and steps > _LONG):
            late, weights = binomial(steps, 1 - self.prompt)
            yield (steps - late) * self.lasts + late * self.waits + passes * self.ends, weights
        elif self.late <= 0:
            yield np.array([steps * self.lasts + passes * self.ends]), np.array([self.prompt**steps])
            before = np.arange(min(steps, math.ceil(40 / -math.log(self.prompt)) + 1), dtype=np.float64)
            spent = before * self.lasts + np.floor(before / self.each) * self.ends + self.waits
            yield spent, self.prompt**before * (1 - self.prompt)
        else:
            for done in range(steps + 1):  # after fewer than all of them one more has broken
                late, weights = binomial(done, min(1.0, self.late / goes_on))
                whole, broken = (done - late) * self.lasts + late * self.waits, done < steps
                yield whole + self.waits * broken, weights * goes_on**done * ((1 - goes_on) if broken else 1.0)


class Stay(NamedTuple):
    """A node's part of a round."""

    server: float  # probability that its server is there
    missed: float  # time until one that is not is given up [s]
    steps: Steps  # of its passes
    passes: int  # if all goes well

    @property
    def mean(self) -> float:
        """Mean duration without the links above [s], if the server is there."""
        return self.steps.mean(self.passes)

    def slowest(self, n: int) -> float:
        """Mean duration of the longest of n [s]."""
        values, weights = (np.concatenate(parts) for parts in zip(*self.steps.durations(self.passes), strict=True))
        values, weights = np.append(values, self.missed), np.append(self.server * weights, 1 - self.server)
        order = np.argsort(values, kind="stable")
        values, share = values[order], np.cumsum(weights[order])
        return float(values[-1] - np.sum(np.diff(values) * (share[:-1] / share[-1]) ** n))
