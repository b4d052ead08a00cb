"""One bound for every tree: any depth, each tier a star or a ring, in fixed or random order, whole or sampled.

The sums of the proof are kept exact, tier by tier, as each pattern declares them, so that nothing here tells a
star from a ring. Statement and proof: docs/theory/any-depth.md.

>>> from hflbounds.topology import Tier, Topology
>>> tree = Topology((Tier("star", size=7), Tier("star", size=5, passes=2)))
>>> [round(one, 4) for one in exact_sums(tree, K=3).omega]
[0.2546, 0.0463]
>>> round(exact_bound(tree, K=3, R=100, L=1, A=2.6, sigma=1, deltas=(1, 0.5), eta_eff=0.05), 4)
0.5585
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hflbounds.errors import ConditionError, DomainError
from hflbounds.topology import Tier, Topology
from hflbounds.topology.patterns import mean_square

Draws = Literal["common", "fresh"]
Array = npt.NDArray[np.float64]

_SOLVE = 80  # bisections of a logarithm that spans hundreds: to the last bit


@dataclass(frozen=True, slots=True)
class ExactSums:
    """What the theorem needs of a tree, apart from the constants of the problem.

    Attributes:
        T: Local steps that a round chains.
        N: Local steps of a round in all.
        chi: Norm of the weights of earlier steps, over ``T``.
        phi: Mean square of a step's position, over ``T^2``.
        nu: Drift by noise of unit variance, over ``T^2``.
        omega: Drift by each tier's gaps of unit size, over ``T^2``, top tier first.
        start: What each tier's draws of unit gaps add to the variance of a round's step, top tier first.
        correlated: Whether a tier's gaps may be correlated with those above: a ring in fixed order.
    """

    T: int
    N: int
    chi: float
    phi: float
    nu: float
    omega: tuple[float, ...]
    start: tuple[float, ...]
    correlated: tuple[bool, ...]


def exact_sums(topology: Topology, K: int, draws: Draws = "common") -> ExactSums:
    """Sum the weights of a round exactly.

    Args:
        topology: With sizes.
        K: Local steps of a client.
        draws: Law of the draws of one tier in different passes: ``common`` (any joint law, such as one draw for the
            round) or ``fresh`` (independent).

    Raises:
        TopologyError: If a size was not given.
        DomainError: If ``K`` or ``draws`` is out of its domain.

    Source: docs/theory/any-depth.md, sections 2 to 4.
    """
    if isinstance(K, bool) or not isinstance(K, int) or K < 1:
        raise DomainError(f"K = {K!r} is not a whole number, 1 or more.")
    if draws not in ("common", "fresh"):
        raise DomainError(f"draws = {draws!r} is not one of common, fresh.")
    tiers, chains = topology.tiers, topology.chains(K)
    T, below = chains[0], chains[1:]
    parts = [tier.taking_part for tier in tiers]
    shares = [1.0]  # lambda, from the clients up: the weight of an earlier pass of a tier and all above the next
    for tier, part in zip(reversed(tiers), reversed(parts), strict=True):
        shares.insert(0, shares[0] / tier.pattern.side_by_side(part))
    nu = (K - 1) / 2
    omega, start, correlated = [], [], []
    for place, (tier, part, B) in enumerate(zip(tiers, parts, below, strict=True)):
        width = tier.pattern.chain(part) * B
        nu += shares[place] * width * (tier.passes - 1) / 2 + shares[place + 1] * B * tier.pattern.earlier(part)
        fixed = tier.order == "fixed" and not tier.sampled
        n = tier.size if tier.size is not None else part
        correlated.append(fixed and tier.pattern.ordered and n > 1)
        beta = (n - part) / ((n - 1) * part) if n > 1 else 0.0
        passes_above = prod(above.passes * parts[i] for i, above in enumerate(tiers[:place])) * tier.passes
        start.append(beta / (passes_above if draws == "fresh" else 1))
        if n == 1:
            omega.append(0.0)
        elif fixed:
            omega.append(tier.pattern.fixed_gap(n, B) / T**2)
        else:
            inside, position = tier.pattern.drawn_gap(n, part, B)
            earlier = mean_square(T) - position if draws == "common" else _fresh(tiers, parts, below, place)
            omega.append((inside + beta * earlier) / T**2)
    chi = 1 / (2 * T * math.sin(math.pi / (2 * (2 * T - 1)))) if T > 1 else 0.0
    phi = mean_square(T) / T**2
    return ExactSums(T, topology.work(K), chi, phi, nu / T**2, tuple(omega), tuple(start), tuple(correlated))


def _fresh(tiers: Sequence[Tier], parts: Sequence[int], below: Sequence[int], place: int) -> float:
    """Mean over the steps of the sum of squared weights of earlier, independent draws of a tier."""
    total = 0.0
    for m in range(place + 1):
        sharing = prod(parts[i] * tiers[i + 1].passes for i in range(m, place))
        pattern, part, B = tiers[m].pattern, parts[m], below[m]
        total += (tiers[m].passes - 1) / 2 * (pattern.chain(part) * B) ** 2 / sharing
        if m < place:
            total += pattern.earlier(part) * part * B**2 / sharing
    return total


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
        deltas: Heterogeneity between the children of a node, one for each tier, top first.
        eta_eff: Effective learning rate; None for the one that makes the bound least.
        draws: See `exact_sums`.

    Returns:
        A float, or an array where arguments are; they broadcast.

    Raises:
        DomainError: If a number is out of its domain, or there are more or fewer deltas than tiers.
        ConditionError: If the step is too large for the theorem.

    Source: docs/theory/any-depth.md, (1), least over its free weight.
    """
    sums = exact_sums(topology, K, draws)
    if len(deltas) != topology.depth:
        raise DomainError(f"deltas: {len(deltas)} numbers for {topology.depth} tiers. Give one for each, top first.")
    given = {"R": R, "L": L, "A": A, "sigma": sigma} | {f"deltas[{i}]": one for i, one in enumerate(deltas)}
    told = dict(zip(given, np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in given.values())), strict=True))
    for name, value in told.items():
        least = {"R": 1.0, "L": 1e-300}.get(name, 0.0)
        if not np.all((value >= least) & np.isfinite(value)):
            raise DomainError(f"{name}: {np.asarray(value).ravel()[:3]} has a number that is not {least:g} or more.")
    pieces = _pieces(sums, told)
    if eta_eff is None:
        return _plain(_least(sums, pieces, told))
    steps = np.asarray(eta_eff, dtype=float) * told["L"]
    allowed = (steps > 0) & (steps < 1) & (steps * (math.sqrt(sums.phi) + sums.chi) < 1)
    if not np.all(allowed):
        largest = min(1.0, 1 / (math.sqrt(sums.phi) + sums.chi) if sums.T > 1 else 1.0)
        raise ConditionError(
            f"eta_eff: L eta_eff = {float(steps[~allowed].flat[0]):.4g} is not above 0 and below {largest:.4g}, where "
            "the theorem ends. Take a smaller step."
        )
    return _plain(_at(sums, pieces, steps))


def _plain(found: Array) -> float | Array:
    return found.item() if found.ndim == 0 else found


def _pieces(sums: ExactSums, told: dict[str, Array]) -> tuple[Array, Array, Array, Array]:
    """Start term, variance, drift and correlated drift, of which each step makes the bound."""
    drift, correlated, variance = (np.zeros_like(told["A"]) for _ in range(3))
    for i, (omega, start, mixed) in enumerate(zip(sums.omega, sums.start, sums.correlated, strict=True)):
        part = math.sqrt(omega) * told[f"deltas[{i}]"]
        drift = (np.sqrt(drift) + part) ** 2 if mixed else drift + part**2
        correlated = correlated + part * mixed
        variance = variance + start * told[f"deltas[{i}]"] ** 2
    noise = told["sigma"] ** 2
    return 2 * told["A"] * told["L"] / told["R"], noise / sums.N + variance, sums.nu * noise + drift, correlated


def _at(sums: ExactSums, pieces: tuple[Array, ...], v: Array) -> Array:
    """The bound at steps ``v = L eta_eff``, least over the free weight.

    With the weight at its best the inequality reads ``u X^2 - 2 w X - c >= 2 sqrt((X^2 (1 - v) + m) q(X))``, and the
    bound is the square of the least ``X`` from which on it holds.
    """
    start, variance, drift, correlated = pieces
    g = (v / (1 - sums.chi * v)) ** 2
    u = 2 - v - v * g * sums.phi
    w = v * g * math.sqrt(sums.phi) * correlated
    c = start / v + v * variance + v * g * drift
    shape = np.broadcast_shapes(np.shape(u), np.shape(c), np.shape(w))

    def holds(x: Array) -> Array:
        inner = sums.phi * x * x + 2 * math.sqrt(sums.phi) * correlated * x + drift
        mixed = np.sqrt((x * x * (1 - v) + v * v * variance / (1 - v)) * (1 - v) * g * inner)
        return np.asarray(u * x * x - 2 * w * x - c >= 2 * mixed)

    low = np.full(shape, -60.0)  # logarithms of X, relative to the root of c
    high = np.full(shape, 60.0)
    scale = np.sqrt(np.broadcast_to(np.maximum(c, 1e-300), shape))
    for _ in range(_SOLVE):
        middle = (low + high) / 2
        enough = holds(scale * np.exp(middle))
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.asarray((scale * np.exp(high)) ** 2)


def _least(sums: ExactSums, pieces: tuple[Array, ...], told: dict[str, Array]) -> Array:
    """The least bound over steps: a grid of their logarithms, then golden sections around its best point."""
    largest = min(1.0, 1 / (math.sqrt(sums.phi) + sums.chi) if sums.T > 1 else 1.0)
    top = math.log(largest) + math.log1p(-1e-12)
    grid = np.linspace(top - 30, top, 181)
    wide = tuple(np.asarray(part)[..., None] for part in pieces)
    best = _at(sums, wide, np.exp(grid)).argmin(-1)
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, len(grid) - 1)]
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        falls = _at(sums, pieces, np.exp(left)) > _at(sums, pieces, np.exp(right))
        low, high = np.where(falls, left, low), np.where(falls, high, right)
    return _at(sums, pieces, np.exp((low + high) / 2))
