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

    @cached_property
    def one_less(self) -> Array:
        """One less the factor."""
        return np.where(self.factor > 0, -np.expm1(self.log_size), 1 - self.factor)

    @cached_property
    def one_less_square(self) -> Array:
        """One less the square of the factor."""
        return np.asarray(-np.expm1(2 * self.log_size))

    def repeated(self, times: int) -> Composition:
        """Apply the map ``times`` times, one after the other."""
        if times == 1:
            once = np.ones_like(self.factor)
            return Composition(self, once, once)
        base, log_size = self.factor, self.log_size
        size = np.exp(times * log_size)
        odd = (base < 0) & (times % 2 == 1)
        one_less_power = np.where(odd, 1 + size, -np.expm1(times * log_size))
        total = one_less_power / self.one_less
        squares = -np.expm1(2 * times * log_size) / self.one_less_square
        return Composition(LinearMap(np.where(odd, -size, size), times * log_size), total, squares)

    def spread(self, times: int) -> Array:
        """Sum of the squared deviations of the powers 0 to ``times - 1`` of the factor from their mean.

        Exact where the factor is near 1 and the powers differ little: for ``factor = exp(-2 y)`` and ``n`` powers it is
        ``total^2/n ((n y) coth(n y) - y coth(y))/(y coth(y))``.
        """
        powers = self.repeated(times)
        near = (self.factor > 0) & (self.log_size > -1)
        half = np.where(near, -self.log_size / 2, 0.25)
        one, all_ = _coth_less_one(half), _coth_less_one(times * half)
        uneven = np.where(near, (all_ - one) / (1 + one), times * powers.squares / powers.total**2 - 1)
        return np.asarray(np.maximum(uneven, 0.0) * powers.total**2 / times)


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
    """``z coth(z) - 1``, by its power series where ``z`` is small."""
    square = np.minimum(np.abs(z), 0.3) ** 2
    series = square * (
        1 / 3 - square * (1 / 45 - square * (2 / 945 - square * (1 / 4725 - square * (2 / 93555 - square / 462479))))
    )
    large = np.maximum(np.abs(z), 0.3)
    return np.where(np.abs(z) < 0.3, series, large / np.tanh(large) - 1)
