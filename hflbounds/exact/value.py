"""The bound of a tree as a number, at a step or at the best one; arrays broadcast."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hflbounds.core.evaluation import run
from hflbounds.core.functions import FOR_ARRAYS, least_weight
from hflbounds.errors import ConditionError, DomainError
from hflbounds.evaluate.tuning import STEEP, sign_change
from hflbounds.exact.sums import Draws, ExactSums, exact_sums
from hflbounds.topology import Topology

Array = npt.NDArray[np.float64]


def exact_bound(  # reason: the numbers of the theorem, by the letters that users give them
    topology: Topology,
    *,
    K: int,
    R: Any,
    L: Any,
    A: Any,
    sigma: Any,
    deltas: Sequence[Any],
    eta_eff: Any = None,
    draws: Draws = "common",
) -> Any:
    """Bound the mean squared gradient over a run, at a step or at the best one.

    Args:
        topology: With sizes.
        K: Local steps of a client.
        R: Global rounds, 1 or more.
        L: Smoothness of the clients' losses.
        A: Initial optimality gap.
        sigma: Standard deviation of a stochastic gradient.
        deltas: Heterogeneity between the children of a node, one for each tier, top first: the root mean square over
            all nodes of the tier, and where a sample of it is drawn below a ring in fixed order, over those below each
            child of that ring.
        eta_eff: Effective learning rate; None for the one that makes the bound least.
        draws: See `exact_sums`.

    Returns:
        A float, or an array where arguments are; they broadcast.

    Raises:
        DomainError: If a number is out of its domain, or there are more or fewer deltas than tiers.
        ConditionError: If the step is too large for the theorem.

    Source: docs/theory/any-depth.md, (1), least over its free weight.
    """
    topology = Topology.of(topology)
    sums = exact_sums(topology, K, draws)
    if len(deltas) != topology.depth:
        raise DomainError(f"deltas: {len(deltas)} numbers for {topology.depth} tiers. Give one for each, top first.")
    given = {"R": R, "L": L, "A": A, "sigma": sigma} | {f"deltas[{i}]": one for i, one in enumerate(deltas)}
    told = {name: _number(name, value) for name, value in given.items()}
    step = None if eta_eff is None else _number("eta_eff", eta_eff)
    many = any(isinstance(value, np.ndarray) for value in (*told.values(), step))
    parts = _pieces(sums, told)
    if step is None:
        return _least(sums, parts) if many else _least_of_one(sums, parts)
    v = step * told["L"]
    inside = np.asarray((v > 0) & (v < sums.largest))
    if not inside.all():
        raise ConditionError(
            f"eta_eff: L eta_eff = {float(np.asarray(v)[~inside].flat[0]):.4g} is not above 0 and below "
            f"{sums.largest:.4g}, where the theorem ends for this tree. Take a smaller step."
        )
    return _at(sums, parts, v, many)


def _number(name: str, given: Any) -> Any:
    """A float, or an array of them, in its domain."""
    least = {"R": 1.0, "L": 1e-300}.get(name, 0.0)
    value: Any
    if type(given) in (int, float):
        value = float(given)
        good = least <= value < math.inf
    else:
        value = np.asarray(given, dtype=float)
        good = bool(np.all((value >= least) & np.isfinite(value)))
        value = value if np.ndim(value) else float(value)
    if not good:
        shown = np.asarray(given).ravel()[:3].tolist()
        raise DomainError(f"{name}: {shown} has a number that is not finite and {least:g} or more. Change it.")
    return value


Pieces: TypeAlias = tuple[
    Any, Any, Any, Any
]  # start term, variance, drift and correlated drift, of which a step makes the bound


def _pieces(sums: ExactSums, told: Mapping[str, Any]) -> Pieces:
    drift = root = correlated = variance = 0.0
    for i, (omega, start, mixed) in enumerate(zip(sums.omega, sums.start, sums.correlated, strict=True)):
        delta = told[f"deltas[{i}]"]
        part = math.sqrt(omega) * delta
        if mixed:
            root = root + part
            drift, correlated = root**2, correlated + part
        else:
            drift = drift + part**2
            root = drift**0.5
        variance = variance + start * delta**2
    noise = told["sigma"] ** 2
    return 2 * told["A"] * told["L"] / told["R"], noise / sums.N + variance, sums.nu * noise + drift, correlated


def _at(sums: ExactSums, pieces: Pieces, v: Any, many: bool) -> Any:
    """The bound at steps ``v = L eta_eff``, least over the free weight."""
    _, a, b, c = _weighed(sums, pieces, v, many)
    return ((b + (b * b + a * c) ** 0.5) / a) ** 2


def _weighed(sums: ExactSums, pieces: Pieces, v: Any, many: bool) -> tuple[Any, Any, Any, Any]:
    """The best weight, and a, b, c of the theorem there."""
    start, variance, drift, correlated = pieces
    g = (v / (1 - sums.chi * v)) ** 2
    f, noisy, drifting = g * sums.phi, v * variance, g * drift
    begin = start / v
    unit = begin + noisy + drifting + 1e-250
    shares = drifting / unit, noisy / unit, begin / unit
    if many:
        with np.errstate(all="ignore"):
            weight = FOR_ARRAYS["least_weight"](v, f, np.sqrt(g / unit) * correlated, *shares)
    else:
        weight = least_weight(v, f, math.sqrt(g / unit) * correlated, *shares)
    kappa = (1 - v) / weight + v
    a, b = 2 - v - (1 - v) * weight - kappa * f, kappa * g * math.sqrt(sums.phi) * correlated
    c = begin + noisy * (1 + weight * v / (1 - v)) + kappa * drifting
    return weight, a, b, c


RATIO = (math.sqrt(5) - 1) / 2


def _least_of_one(sums: ExactSums, pieces: Pieces) -> float:
    """The least bound over steps: a grid of their logarithms, then golden sections around its best point."""
    top = math.log(sums.largest) + math.log1p(-1e-12)

    def at(log_step: float) -> float:
        return float(_at(sums, pieces, math.exp(min(log_step, top)), many=False))

    best = min((top - k for k in range(31)), key=at)
    low, high = best - 1, min(best + 1, top)
    left, right = high - RATIO * (high - low), low + RATIO * (high - low)
    here, there = at(left), at(right)
    for _ in range(38):
        if here > there:
            low, left, here = left, right, there
            right = low + RATIO * (high - low)
            there = at(right)
        else:
            high, right, there = right, left, here
            left = high - RATIO * (high - low)
            here = at(left)
    return min(here, there)


def _least(sums: ExactSums, pieces: Pieces) -> Array:
    """The same over arrays, in blocks, where the slope along the step changes its sign."""

    def block(*parts: Any) -> tuple[Any]:
        given: Any = tuple(np.broadcast_arrays(*parts))
        cap = np.full(given[0].shape, sums.largest * (1 - 1e-12))
        step, _ = sign_change(lambda v: _slope(sums, given, v), cap)
        return (_at(sums, given, step, many=True),)

    with np.errstate(all="ignore"):
        found = run(block, list(pieces), 1)[0]
    return np.asarray(np.where(np.asarray(pieces[0]) > 0, found, 0.0))  # without a gap to close the best step is 0


def _slope(sums: ExactSums, pieces: Pieces, v: Any) -> Any:
    """A positive multiple of the bound's slope along the step, at the best weight, where it need not be followed."""
    start, variance, drift, correlated = pieces
    weight, a, b, c = _weighed(sums, pieces, v, many=True)
    x = (b + np.sqrt(b * b + a * c)) / a
    g = (v / (1 - sums.chi * v)) ** 2
    kappa, falls = (1 - v) / weight + v, 1 - 1 / weight
    rise = falls * g + 2 * kappa * g * (1 / v + sums.chi / (1 - sums.chi * v))
    slope_a = weight - 1 - sums.phi * rise
    slope_c = variance * (1 + weight * v / (1 - v) * (1 + 1 / (1 - v))) + rise * drift - start / v**2
    slope = v * (slope_c + 2 * math.sqrt(sums.phi) * correlated * rise * x - slope_a * x * x) / (x * (a * x - b))
    return np.where(np.isfinite(slope), slope, STEEP)
