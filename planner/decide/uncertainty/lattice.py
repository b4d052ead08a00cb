"""Points that fill a cube evenly: a rank-1 lattice under random shifts, each a block with its own estimate.

Sources: I. H. Sloan and S. Joe, Lattice Methods for Multiple Integration (1994), for shifted lattices and the
component-by-component construction.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
SHIFTS = 16  # independent blocks of draws


@lru_cache(maxsize=16)
def generating_vector(points: int, dimensions: int) -> tuple[int, ...]:
    """Of a rank-1 lattice, component by component: each minimises the worst-case error with those before it.

    The error is that of randomly shifted lattices in a Sobolev space of functions with square-integrable mixed first
    derivatives, where component ``j`` has the weight ``1/j``.

    The number of points is a power of two, 4 or more.
    """
    candidates = np.arange(1, points // 2, 2)  # z and -z make the same lattice
    fractions = np.outer(np.arange(points), candidates) % points / points
    kernel = fractions * (fractions - 1) + 1 / 6  # the second Bernoulli polynomial
    product = np.ones(points)
    vector = []
    for j in range(1, dimensions + 1):
        factors = 1 + kernel / j
        errors = product @ factors
        best = int(np.argmin(np.round(errors / errors.min(), 9)))  # equal errors differ by what a processor rounds
        product *= factors[:, best]
        vector.append(int(candidates[best]))
    return tuple(vector)


def cube(rng: np.random.Generator, dimensions: int, draws: int) -> FloatArray:
    """Points of the unit cube in `SHIFTS` blocks, each the same lattice shifted and folded; (dimensions, draws).

    The number of draws is a power of two times `SHIFTS`.
    """
    points = draws // SHIFTS
    vector = np.array(generating_vector(points, dimensions))
    lattice = np.outer(vector, np.arange(points)) % points / points
    shifted = (lattice[:, None, :] + rng.random((dimensions, SHIFTS, 1))) % 1
    return np.asarray((1 - np.abs(2 * shifted - 1)).reshape(dimensions, draws))


def blocks(values: FloatArray) -> FloatArray:
    """The values of each block; (blocks, draws of one)."""
    return values.reshape(SHIFTS, -1) if values.size >= SHIFTS else values.reshape(1, -1)
