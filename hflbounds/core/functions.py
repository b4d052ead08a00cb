"""Functions that formulas may name beyond arithmetic: for floats and for arrays.

Each is pure arithmetic on its own arguments, with no other part of this package inside but private functions of this
module, so that `hflbounds.export.python` can print it into a file that stands alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from typing import Any

import numpy as np


def choose(condition: Any, then: Any, otherwise: Any) -> Any:
    """``then`` where the condition holds, else ``otherwise``, for numbers."""
    return then if condition else otherwise


def overlap(n: float, b: float) -> float:
    """Expected overlap of the averages that two different nodes form when each of n nodes sends to b others.

    Node i averages its own vector and those it received, with equal weights ``w_ik``; this is the expectation of
    ``sum_k w_ik w_jk`` for i != j. Each sender draws its b receivers without replacement among the n - 1 others.

    Args:
        n: nodes, at least 2.
        b: receivers of each sender, from 0 to n - 1.

    Returns:
        the expectation; 0 for fewer than two nodes or for b = 0.
    """
    n, b = round(n), round(b)
    if n < 2 or b < 1:
        return 0.0
    if b >= n - 1:  # everybody averages everything
        return 1 / n
    # 1/(1 + d) is the integral of x**d over [0, 1], so the expectation is an integral of a polynomial in x and y,
    # of degree at most n in each, which Gauss and Legendre's rule with this many nodes integrates exactly.
    rule = _nodes(n // 2 + 1)
    to_one = b / (n - 1)
    both = to_one * (b - 1) / (n - 2) if n > 2 else 0.0  # one of the n - 2 others reaches i and j
    only = to_one - both
    none = 1 - both - 2 * only
    total = 0.0
    for x, weight_x in rule:
        from_j = 1 - to_one + to_one * x
        for y, weight_y in rule:
            other = both * x * y + only * (x + y) + none
            through_i = 2 * to_one * y * from_j * other ** (n - 2)  # k = i, and k = j alike
            through_others = 0.0
            if n > 2:
                through_others = (n - 2) * both * x * y * other ** (n - 3) * from_j * (1 - to_one + to_one * y)
            total += weight_x * weight_y * (through_i + through_others)
    return total


@lru_cache(maxsize=64)
def _nodes(count: int) -> list[tuple[float, float]]:
    """Places in [0, 1] and weights of Gauss and Legendre's rule."""
    rule = []
    for i in range(count):
        z = math.cos(math.pi * (i + 0.75) / (count + 0.5))
        for _ in range(100):
            p, before = 1.0, 0.0
            for k in range(1, count + 1):
                p, before = ((2 * k - 1) * z * p - (k - 1) * before) / k, p
            slope = count * (z * p - before) / (z * z - 1)
            z, last = z - p / slope, z
            if abs(z - last) < 1e-15:
                break
        rule.append(((1 + z) / 2, 1 / ((1 - z * z) * slope * slope)))
    return rule


def geometric(x: float, n: float) -> float:
    """``x + x**2 + ... + x**n``, to rounding for every x from 0 to 1; near 1 the usual quotient is not.

    Args:
        x: at least 0.
        n: how many powers; none are 0.

    Returns:
        the sum; n itself at x = 1.
    """
    n = round(n)
    if n < 1 or x <= 0:
        return 0.0
    if x == 1:
        return float(n)
    logarithm = math.log(x) if x < 0.5 else math.log1p(x - 1)
    return x * math.expm1(n * logarithm) / (x - 1)


def ceiling(x: float) -> float:
    """The smallest whole number that is at least x."""
    return float(math.ceil(x))


def sine(n: float) -> float:
    """``sin(pi/(2 n))``: a right angle divided by n.

    Args:
        n: 1 or more.

    Returns:
        the sine.
    """
    return math.sin(math.pi / (2 * n))


def least_weight(v: float, f: float, q: float, d: float, e: float, s: float) -> float:
    """The free weight, from 0 to 1, at which the bound for trees of any depth is least (docs/theory/any-depth.md).

    Every positive weight gives a true bound, and at this one the bound is flat: an error of rounding costs nothing.

    Args:
        v: L eta_eff.
        f: g phi.
        q: sqrt(g) p; this and the next three in any one unit, the first in its root.
        d: g (nu sigma^2 + h^2).
        e: v Xi.
        s: The start term, 2 A/(eta_eff R).

    Returns:
        the weight, at least 1e-18: where nothing drifts the bound falls with it all the way to 0.
    """
    w = (1 - v) ** 2
    drift, noise, constant, shared = d, v * e, s + e, f
    y = share = 0.0
    for _ in range(2 if q > 0 else 1):  # first without the correlated part, then with it split at its best
        if y > 0:
            share = min(q / math.sqrt(f * y), (1 / f - 1) / 2)
            drift, shared = d + q * q / share, f * (1 + share)
        u, c = 2 - v - v * shared, constant + v * drift
        left, right = w * drift, shared * noise
        inner = (u * noise + w * c) * (u * drift + shared * c) + (left - right) ** 2
        y = (u * c + 2 * (left + right) + 2 * math.sqrt(inner)) / (u * u - 4 * w * shared)
    k = math.sqrt(f) * q
    weight = 1.0
    for _ in range(3 if q > 0 else 1):
        root = math.sqrt(y)
        weight = (1 - v) * math.sqrt((f * y + 2 * k * root + d) / (w * y + noise))
        weight = max(1e-18, min(weight, 1.0))
        if q > 0:  # the bound at this weight, which the next one lowers
            factor = (1 - v) / weight + v
            a, b = 2 - v - (1 - v) * weight - factor * f, factor * k
            c = constant + weight * noise / (1 - v) + factor * d
            y = ((b + math.sqrt(b * b + a * c)) / a) ** 2
    return weight


def _least_weights(v: Any, f: Any, q: Any, d: Any, e: Any, s: Any) -> Any:
    """As `least_weight`, for arrays; no number where the step is beyond the theorem."""
    with np.errstate(all="ignore"):
        return _weights_inside(v, f, q, d, e, s)


def _weights_inside(v: Any, f: Any, q: Any, d: Any, e: Any, s: Any) -> Any:
    w, noise, constant = (1 - v) ** 2, v * e, s + e

    def alone(f: Any, d: Any) -> Any:
        u, c = 2 - v - v * f, constant + v * d
        left, right = w * d, f * noise
        inner = (u * noise + w * c) * (u * d + f * c) + (left - right) ** 2
        return (u * c + 2 * (left + right) + 2 * np.sqrt(inner)) / (u * u - 4 * w * f)

    def best(y: Any, k: Any) -> Any:
        mixed = f * y + d if k is None else f * y + 2 * k * np.sqrt(y) + d
        return np.clip((1 - v) * np.sqrt(mixed / (w * y + noise)), 1e-18, 1.0)

    y = alone(f, d)
    if not np.any(q):
        return best(y, None)
    k = np.sqrt(f) * q
    some = np.maximum(f, 1e-300)  # 0 where a round is one step
    share = np.clip(q / np.sqrt(some * y), 1e-150, (1 / some - 1) / 2)
    weight = best(alone(f * (1 + share), d + q * q / share), k)
    for _ in range(2):
        factor = (1 - v) / weight + v
        a, b = 2 - v - (1 - v) * weight - factor * f, factor * k
        c = constant + weight * noise / (1 - v) + factor * d
        weight = best(((b + np.sqrt(b * b + a * c)) / a) ** 2, k)
    return weight


SCALAR: Mapping[str, Callable[..., Any]] = {
    "ceiling": ceiling,
    "geometric": geometric,
    "least_weight": least_weight,
    "overlap": overlap,
    "sine": sine,
}
REMEMBERED: Mapping[str, Callable[..., Any]] = {  # of counts, which come again
    **SCALAR,
    "overlap": lru_cache(maxsize=4096)(overlap),
}
FOR_FLOATS: Mapping[str, Callable[..., Any]] = {
    "sqrt": math.sqrt,
    "cbrt": math.cbrt,
    "maximum": max,
    "choose": choose,
    **REMEMBERED,
}
FOR_ARRAYS: Mapping[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "maximum": lambda *parts: reduce(np.maximum, parts),
    "choose": np.where,
    **{name: np.vectorize(function, otypes=[float]) for name, function in REMEMBERED.items()},
    "least_weight": _least_weights,
    "sine": lambda n: np.sin(np.pi / (2 * n)),
}
