"""The linear part of what a call of a node does to one coordinate of the model, and what composing calls adds up to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LinearMap:
    """Multiplication by ``factor``, kept with the logarithm of its size, which stays exact where the factor is near 1.

    Attributes:
        factor: What a deviation is multiplied by, any shape; of a size other than 1.
        log_size: Logarithm of the absolute value of ``factor``, same shape.
    """

    factor: Array
    log_size: Array

    def repeated(self, times: int) -> Composition:
        """Apply the map ``times`` times, one after the other."""
        base, log_size = self.factor, self.log_size
        size = np.exp(times * log_size)
        odd = (base < 0) & (times % 2 == 1)
        one_less_power = np.where(odd, 1 + size, -np.expm1(times * log_size))
        one_less_base = np.where(base < 0, 1 - base, -np.expm1(log_size))
        total = one_less_power / one_less_base
        squares = np.expm1(2 * times * log_size) / np.expm1(2 * log_size)
        return Composition(LinearMap(np.where(odd, -size, size), times * log_size), total, squares)


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
