"""The linear part of what a call of a node does to one coordinate of the model, and what composing calls adds up to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearMap:
    """Multiplication by ``factor``, kept with the logarithm of its size, which stays exact where the factor is near 1.

    Attributes:
        factor: What a deviation is multiplied by, any shape; of a size other than 1.
        log_size: Logarithm of the absolute value of ``factor``, same shape.
    """

    factor: Array
    log_size: Array

    @classmethod
    def of_step(cls, step: Array) -> LinearMap:
        """Of a local step: ``step`` is the raw learning rate times the curvature, above 0."""
        return cls(1 - step, np.log1p(np.maximum(-step, step - 2)))

    @cached_property
    def gone(self) -> Array:
        """One less the size of the factor."""
        return np.asarray(-np.expm1(self.log_size))

    @cached_property
    def turned(self) -> npt.NDArray[np.bool_] | None:
        """Where the factor is negative; None where it is nowhere."""
        there = np.asarray(self.factor < 0)
        return there if there.any() else None

    @cached_property
    def one_less(self) -> Array:
        """One less the factor."""
        return self.gone if self.turned is None else np.where(self.turned, 2 - self.gone, self.gone)

    @cached_property
    def one_less_square(self) -> Array:
        """One less the square of the factor."""
        return np.asarray(self.gone * (2 - self.gone))

    @cached_property
    def repetitions(self) -> dict[int, Composition]:
        """The last that `repeated` has worked out."""
        return {}

    def repeated(self, times: int) -> Composition:
        """Apply the map ``times`` times, one after the other."""
        if times == 1:
            once = np.ones_like(self.factor)
            return Composition(self, once, once)
        if (known := self.repetitions.get(times)) is not None:
            return known
        log_size = times * self.log_size
        size = np.exp(log_size)
        if self.turned is None or times % 2 == 0:
            map_ = LinearMap(size, log_size)
            total = map_.gone / self.one_less
        else:
            map_ = LinearMap(np.where(self.turned, -size, size), log_size)
            total = np.where(self.turned, 1 + size, map_.gone) / self.one_less
        found = Composition(map_, total, map_.one_less_square / self.one_less_square)
        self.repetitions.clear()
        self.repetitions[times] = found
        return found

    def spread(self, times: int) -> Array:
        """Sum of the squared deviations of the powers 0 to ``times - 1`` of the factor from their mean.

        Exact where the factor is near 1 and the powers differ little: for ``factor = exp(-2 y)`` and ``n`` powers it is
        ``total^2/n ((n y) coth(n y) - y coth(y))/(y coth(y))``.
        """
        powers = self.repeated(times)
        near = (self.factor > 0) & (self.log_size > -1)
        half = np.where(near, self.log_size / -2, 0.25)
        one, all_, square = _coth_less_one(half), _coth_less_one(times * half), powers.total**2
        uneven = np.where(near, (all_ - one) / (1 + one), times * powers.squares / square - 1)
        return np.asarray(np.maximum(uneven, 0.0) * square / times)


@dataclass(frozen=True, slots=True)
class Composition:
    """Several calls of one map as one.

    Attributes:
        map: What they do together to a deviation.
        total: Sum of the weights with which what each call adds enters the result.
        squares: Sum of the squares of these weights.
    """

    map: LinearMap
    total: Array
    squares: Array


def _coth_less_one(z: Array) -> Array:
    """``z coth(z) - 1`` of numbers above 0, by its power series where they are small."""
    square = np.minimum(z, 0.3) ** 2
    series = square * (
        1 / 3 - square * (1 / 45 - square * (2 / 945 - square * (1 / 4725 - square * (2 / 93555 - square / 462479))))
    )
    large = np.maximum(z, 0.3)
    return np.where(z < 0.3, series, large / np.tanh(large) - 1)
