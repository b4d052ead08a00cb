"""Many problems of one kind at once: what a topology needs to a target on problems whose constants are a scenario's.

Client c has the gradient ``h x + a phi(x - p_c) + v_c``, coordinate by coordinate. The families differ in ``phi``; the
spread of the centres ``p`` makes clients differ in curvature, the tilts ``v`` in their gradients everywhere. Tilts are
scaled until ``zeta`` and ``delta`` are what they are to be: suprema over points, taken coordinate by coordinate on a
grid, because everything is separable. The start is as far out as the initial gap says.

All problems of an ensemble, all learning rates and all clients that work side by side advance as one array. Noise
depends on the seed, the round and the place in it alone, so topologies and rates are paired. Any tree of clients can be
run; the tests hold its steps to `validation.reference`. Needs numpy alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from hflbounds.topology import Topology
from validation.patterns import execution

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Family = Literal["quadratic", "log-cosh", "cosine", "pseudo-huber"]
FAMILIES: tuple[Family, ...] = get_args(Family)
WEIGHT = {"quadratic": 0.0, "log-cosh": 0.6, "cosine": 0.4, "pseudo-huber": 0.95}  # of phi in the smoothness
SHARE = 0.5  # of the heterogeneity, at most, that is in the centres
TOGETHER = 1 << 16  # numbers in an array of models: more leave the cache, fewer cost overhead
DIVERGED = 1e12  # squared gradient, over those of the start, the tilts and the noise: above it a run does not come back
GRID = np.linspace(-12.0, 12.0, 97)  # of points, in units of the length over which phi bends


def _none(u: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    return np.zeros_like(u)


def _pseudo_huber(u: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    return np.asarray(u / np.sqrt(1 + u * u))


def _log_cosh(u: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    return np.asarray(np.abs(u) + np.log1p(np.exp(-2 * np.abs(u))) - math.log(2))


def _mean(x: npt.NDArray[Any], axes: int = 2) -> npt.NDArray[Any]:
    """The mean over the axes before the last, to the bit that of numpy, which takes five times as long."""
    sums = np.einsum("...gmd->...d" if axes == 2 else "...md->...d", x)
    return np.asarray(sums / x.dtype.type(math.prod(x.shape[-1 - axes : -1])))


Function = Callable[[npt.NDArray[np.floating]], npt.NDArray[np.floating]]
PHI: Mapping[str, tuple[Function, Function]] = {  # and what it is the slope of
    "quadratic": (_none, _none),
    "log-cosh": (np.tanh, _log_cosh),
    "cosine": (np.sin, lambda u: 1 - np.cos(u)),
    "pseudo-huber": (_pseudo_huber, lambda u: np.sqrt(1 + u * u) - 1),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Ensemble:
    """Problems of one family with the same constants; `ensemble` makes them.

    Attributes:
        family: which ``phi``.
        h: curvature of the shared quadratic, shape (problems, dim).
        a: weight of ``phi``, the same shape.
        p: centres, shape (problems, G, M, dim).
        v: tilts, the same shape.
        x0: the first iterates, shape (problems, dim).
        sigma: standard deviation of a stochastic gradient.
    """

    family: Family
    h: Array
    a: Array
    p: Array
    v: Array
    x0: Array
    sigma: float

    @cached_property
    def bent(self) -> bool:
        """Whether ``phi`` has any weight."""
        return bool(self.a.any())

    @cached_property
    def mean_tilt(self) -> Array:
        """The mean of the tilts, shape (problems, dim)."""
        return np.asarray(self.v.mean((1, 2)))

    def mean_gradient(self, x: Array) -> Array:
        """The gradient of the mean loss at points of shape (..., problems, dim)."""
        phi = PHI[self.family][0]
        whole = self.h * x + self.mean_tilt
        if self.bent:
            clients = math.prod(self.p.shape[1:3])
            own = np.repeat(x[..., None, :], clients, axis=-2)  # numpy is slow where it broadcasts over rows of few
            own -= self.p.reshape(len(self.p), clients, -1)
            whole = whole + self.a * _mean(phi(own.reshape(*x.shape[:-1], *self.p.shape[1:])))
        return np.asarray(whole, dtype=np.float32)


def ensemble(  # reason: one keyword for each constant of the theorems
    family: Family,
    *,
    G: int,
    M: int,
    L: float = 1.0,
    A: float = 1.0,
    sigma: float = 1.0,
    zeta: float = 0.0,
    delta: float = 0.0,
    flattest: float = 0.03,
    tail: float = 0.0,
    problems: int = 8,
    dim: int = 8,
    seed: int = 0,
) -> Ensemble:
    """Problems with these constants, of shape and meaning as in the theorems.

    Args:
        family: which.
        G: groups.
        M: clients in each group.
        L: smoothness of every client's loss.
        A: gap of the first iterate's loss to the minimum.
        sigma: root mean squared norm of the noise of a stochastic gradient.
        zeta: supremum of the root mean square gap of client gradients to their group's.
        delta: the same of group gradients to the mean gradient.
        flattest: curvature of the flattest coordinate, as a share of the steepest's.
        tail: how far the start is out in flat coordinates: its distance there is curvature to the minus half of this.
        problems: how many.
        dim: dimension.
        seed: of all that is drawn.
    """
    phi = PHI[family][0]
    rng = np.random.default_rng([seed, 1])
    steep = np.exp(rng.uniform(math.log(flattest), 0, (problems, dim)))
    steep[:, 0] = 1
    a, h = WEIGHT[family] * L * steep, (1 - WEIGHT[family]) * L * steep

    def centred(draw: Floats, axis: int) -> Floats:
        return np.asarray(draw - draw.mean(axis, keepdims=True))

    # Clients of every group are spread alike, so that without a spread of the groups these have one mean gradient.
    apart = centred(rng.normal(size=(problems, G, 1, dim)), 1) * (delta > 0)
    inside = centred(rng.normal(size=(problems, 1, M, dim)), 2) * (zeta > 0)
    tilt_apart = centred(rng.normal(size=(problems, G, 1, dim)), 1)
    tilt_inside = centred(rng.normal(size=(problems, G, M, dim)), 2)
    spread = np.ones((problems, 1, 1, 1))
    if a.any():
        for _ in range(60):  # until what the centres do is no more than their share
            p = spread * (apart + inside)
            between, within = (_own(gap).max(1).sum(1) for gap in _of_centres(phi, a, p))
            over = (between > (SHARE * delta) ** 2 + 1e-30) & (delta > 0)
            over |= (within > (SHARE * zeta) ** 2 + 1e-30) & (zeta > 0)
            if not over.any():
                break
            spread = np.where(over[:, None, None, None], spread * 0.7, spread)
    p = spread * (apart + inside) if a.any() else np.zeros((problems, G, M, dim))
    between, within = _gaps(phi, a, p, tilt_apart, tilt_inside)
    v = (
        _scale(between, delta)[:, None, None, None] * tilt_apart
        + _scale(within, zeta)[:, None, None, None] * tilt_inside
    )
    x0 = _start(family, h, a, p, v, A, rng.normal(size=(problems, dim)) * steep ** (-tail / 2))
    single = {
        name: np.asarray(part, dtype=np.float32) for name, part in {"h": h, "a": a, "p": p, "v": v, "x0": x0}.items()
    }
    return Ensemble(family=family, sigma=sigma, **single)


def _of_centres(phi: Function, a: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Gaps of groups to all, and of clients to their group, without tilts: shape (problems, points, G, M, dim)."""
    if a.any():
        at = a[:, None, None, None] * phi(GRID[:, None, None, None] - p[:, None])
    else:
        at = np.zeros((len(p), 1, *p.shape[1:]))
    groups = _mean(at, 1)[:, :, :, None]
    return groups - _mean(groups)[:, :, None, None], at - groups


def _own(gap: Floats) -> Floats:
    """Mean squares of gaps over clients, shape (problems, points, dim)."""
    return np.asarray(np.einsum("pngmd,pngmd->pnd", gap, gap) / (gap.shape[2] * gap.shape[3]))


def _gaps(phi: Function, a: Floats, p: Floats, tilt_apart: Floats, tilt_inside: Floats) -> tuple[Floats, Floats]:
    """Coefficients of the mean squared gaps in the tilts' size: shape (3, problems, points, dim), constant first."""
    between, within = _of_centres(phi, a, p)

    def coefficients(gap: Floats, tilt: Floats) -> Floats:
        clients, squares = gap.shape[2] * gap.shape[3], _mean(tilt * tilt)[:, None]
        own = _own(gap)
        both = 2 * (np.einsum("pngmd,pgmd->pnd", gap, np.broadcast_to(tilt, (len(gap), *gap.shape[2:]))) / clients)
        return np.stack([own, both, np.broadcast_to(squares, own.shape)])

    return coefficients(between, tilt_apart), coefficients(within, tilt_inside)


def _largest(gap: Floats, size: float | Floats) -> Floats:
    """Suprema of the mean squared gap with tilts of a size, shape (problems,)."""
    size = np.asarray(size, dtype=float).reshape(-1, 1, 1)
    return np.asarray((gap[0] + size * gap[1] + size**2 * gap[2]).max(1).sum(1))


def _scale(gap: Floats, deviation: float) -> Floats:
    """The size of tilts at which the supremum is the square of a deviation."""
    low, high = np.zeros(gap.shape[1]), np.full(gap.shape[1], 1.0)
    if deviation == 0:
        return low
    while (short := _largest(gap, high) < deviation**2).any():
        high = np.where(short, 2 * high, high)
    for _ in range(50):
        middle = (low + high) / 2
        short = _largest(gap, middle) < deviation**2
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high


def _start(family: Family, h: Floats, a: Floats, p: Floats, v: Floats, A: float, way: Floats) -> Floats:
    """Points at which the mean loss is A above its minimum, along one way from there."""
    phi, slope_of = PHI[family]
    mean_v = v.mean((1, 2))
    around = p.mean((1, 2))
    reach = np.abs(p - around[:, None, None]).max((1, 2)) + (a + np.abs(mean_v)) / h + 1

    def loss(x: Floats) -> Floats:  # (points, problems, dim), coordinate by coordinate
        return np.asarray(h * x * x / 2 + a * _mean(slope_of(x[:, :, None, None] - p)) + mean_v * x)

    def slope(x: Floats) -> Floats:
        return np.asarray(h * x + a * _mean(phi(x[:, None, None] - p)) + mean_v)

    points = around + np.linspace(-1, 1, 161)[:, None, None] * reach
    heights = loss(points)
    best = np.take_along_axis(points, heights.argmin(0)[None], 0)[0]
    step = reach / 80
    low, high = best - step, best + step
    for _ in range(40):
        middle = (low + high) / 2
        rising = slope(middle) >= 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    best = high
    lowest = loss(best[None])[0].sum(1)
    way = way / np.linalg.norm(way, axis=1, keepdims=True)
    near, far = np.zeros(len(h)), np.ones(len(h))

    def gap(distance: Floats) -> Floats:
        return np.asarray(loss((best + distance[:, None] * way)[None])[0].sum(1) - lowest)

    while (short := gap(far) < A).any():
        far = np.where(short, 2 * far, far)
    for _ in range(50):
        middle = (near + far) / 2
        short = gap(middle) < A
        near, far = np.where(short, middle, near), np.where(short, far, middle)
    return np.asarray(best + far[:, None] * way)


def squared_gradients(
    made: Ensemble,
    topology: Topology,
    rates: Floats,
    rounds: int,
    *,
    K: int = 1,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
) -> Floats:
    """Squared norms of the mean gradient at the iterates 0, ..., rounds; infinite once a run has diverged.

    Args:
        made: the problems.
        topology: the tiers with their sizes, of any depth; what is drawn runs in the order drawn.
        rates: effective learning rates.
        rounds: global rounds.
        K: local steps of a client each time it takes part.
        seed: of noise, orders and draws.
        progress: called with the number of rounds done.

    Returns:
        shape (rounds + 1, rates, problems).

    Raises:
        ValueError: if the tree has another number of clients than the problems.
    """
    told = None if progress is None else lambda share: progress(round(share * rounds))
    return squared_gradients_of([made], topology, rates, rounds, K=K, seed=seed, progress=told)[0]


def squared_gradients_of(
    made: Sequence[Ensemble],
    topology: Topology,
    rates: Floats,
    rounds: int,
    *,
    K: int = 1,
    seed: int = 0,
    until: Sequence[float] | None = None,
    progress: Callable[[float], object] | None = None,
) -> list[Floats]:
    """`squared_gradients` of several ensembles of one shape and noise, number for number what each has alone.

    As many as keep an array of all models small advance together.

    Args:
        made: the problems, by ensemble.
        topology: as of `squared_gradients`.
        rates: effective learning rates.
        rounds: global rounds.
        K: local steps of a client each time it takes part.
        seed: of noise, orders and draws, which ensembles have in common.
        until: targets of `rounds_to`, by ensemble. What they need is run, and what is left out is infinite.
        progress: called with the part that is done, from 0 to 1.

    Raises:
        ValueError: if ensembles differ in shape or noise, or the tree has another number of clients.
    """
    if len({(one.p.shape, one.sigma) for one in made}) > 1:
        raise ValueError("ensembles that are run together have one shape and one noise")
    problems, groups, members, dim = made[0].p.shape
    if topology.clients != groups * members:
        raise ValueError(f"the problems have {groups * members} clients, and the tree has {topology.clients}")
    models = math.prod(tier.pattern.side_by_side(tier.taking_part) for tier in topology.tiers)
    together = max(1, TOGETHER // (len(rates) * problems * models * dim))
    found: list[Floats] = []
    for first in range(0, len(made), together):
        some = made[first : first + together]
        told = None if progress is None else partial(_tell, progress, first / len(made), len(some) / len(made) / rounds)
        targets = None if until is None else np.array(until[first : first + together])[:, None]
        found += _squared_gradients(some, topology, rates, rounds, K=K, seed=seed, targets=targets, progress=told)
    return found


def _tell(progress: Callable[[float], object], before: float, each: float, done: int) -> None:
    progress(before + each * done)


def _squared_gradients(
    made: Sequence[Ensemble],
    topology: Topology,
    rates: Floats,
    rounds: int,
    *,
    K: int,
    seed: int,
    targets: Floats | None,
    progress: Callable[[int], object] | None,
) -> list[Floats]:
    count, dim = made[0].x0.shape
    whole = _Joined.of(made)
    places = {one: slice(i * count, (i + 1) * count) for i, one in enumerate(made)}
    drawn = any(tier.sampled or tier.order == "random" for tier in topology.tiers)
    eta = (rates / topology.local_steps(K)).astype(np.float32)[:, None, None, None]
    scale = np.float32(made[0].sigma / math.sqrt(dim))
    turns = math.prod(tier.passes for tier in topology.tiers)
    x = np.broadcast_to(np.concatenate([one.x0 for one in made]), (len(rates), len(made) * count, dim))
    squared = [np.empty((rounds + 1, len(rates), count)) for _ in made]
    gone = np.zeros(x.shape[:2], dtype=bool)
    most: npt.NDArray[Any] = np.zeros(0)
    sums: npt.NDArray[Any] = np.zeros((len(made), len(rates)))
    with np.errstate(over="ignore", invalid="ignore"):
        for r in range(rounds + 1):
            for out, (one, place) in zip(squared, places.items(), strict=True):
                out[r] = np.square(one.mean_gradient(x[:, place]), dtype=np.float64).sum(-1)
            now = np.concatenate([out[r] for out in squared], axis=1)
            if r == 0:
                most = DIVERGED * (now + made[0].sigma ** 2 + np.square(whole.v).sum(-1).mean(-1))
            gone |= ~(now <= most)
            if gone.any():  # at 0, as the sine of large numbers takes twenty times as long
                x = np.where(gone[..., None], np.float32(0), x)
                for out, place in zip(squared, places.values(), strict=True):
                    out[r][gone[:, place]] = np.inf
            sums += [out[r].mean(-1) for out in squared]
            there = targets is not None and bool((sums <= (r + 1) * targets).any(1).all())
            if r == rounds or there:  # the first rate that is there needs the fewest rounds
                for out in squared:
                    out[r + 1 :] = np.inf
                if progress is not None and r < rounds:
                    progress(rounds)
                break
            p, v = whole.p, whole.v
            if drawn:
                who = _drawn(np.random.default_rng([seed, 2, r]), count, topology)
                who = np.concatenate([who] * len(made))
                p, v = (np.take_along_axis(part, who[..., None], 1) for part in (p, v))
            rng = np.random.Generator(np.random.SFC64([seed, 3, r]))
            noise = rng.standard_normal((turns, K, count, topology.taking_part, dim), dtype=np.float32)
            noise *= scale
            noise = np.concatenate([noise] * len(made), 2) if len(made) > 1 else noise
            noise += v
            round_ = _Round(whole, topology, eta, p, noise)
            x = round_.call(0, 0, x[:, :, None], np.zeros(1, dtype=np.intp))[:, :, 0]
            if progress is not None:
                progress(r + 1)
    return squared


@dataclass(frozen=True, slots=True)
class _Joined:
    """Ensembles side by side.

    Attributes:
        h, a: as of `Ensemble`, shape (problems, 1, dim).
        p, v: as of `Ensemble`, by client, shape (problems, clients, dim).
        bends: where there is a ``phi``: which problems, and which function.
    """

    h: Array
    a: Array
    p: Array
    v: Array
    bends: tuple[tuple[slice, Function], ...]

    @classmethod
    def of(cls, made: Sequence[Ensemble]) -> _Joined:
        count, dim = made[0].x0.shape
        h, a = (np.concatenate(parts)[:, None] for parts in ([one.h for one in made], [one.a for one in made]))
        p, v = (
            np.concatenate([part.reshape(count, -1, dim) for part in parts])
            for parts in ([one.p for one in made], [one.v for one in made])
        )
        bends: list[tuple[slice, Function]] = []
        for i, one in enumerate(made):
            phi, first = PHI[one.family][0], i * count
            if not one.bent:
                continue
            if bends and bends[-1][1] is phi and bends[-1][0].stop == first:
                first = bends.pop()[0].start
            bends.append((slice(first, (i + 1) * count), phi))
        return cls(h, a, p, v, tuple(bends))


@dataclass(frozen=True, slots=True)
class _Round:
    """A global round of all problems at all rates, from tier to tier.

    Attributes:
        made: the problems, perhaps of several ensembles.
        topology: the tiers.
        eta: raw learning rates, shape (rates, 1, 1, 1).
        p: centres of those that take part, place by place, shape (problems, places, dim).
        noise: with the tilts of the same, shape (turns, local steps, problems, places, dim).
    """

    made: _Joined
    topology: Topology
    eta: Array
    p: Array
    noise: Array

    def call(self, level: int, turn: int, models: Array, places: Places) -> Array:
        """Run nodes of one tier that work side by side: models of shape (rates, problems, nodes, dim)."""
        if level == self.topology.depth:
            return self._local_steps(models, self.noise[turn].take(places, 2), places)
        tier = self.topology.tiers[level]
        children = places[:, None] * tier.taking_part + np.arange(tier.taking_part)
        for again in range(tier.passes):
            below = partial(self.call, level + 1, turn * tier.passes + again)
            models = execution(tier.pattern).stacked(models, children, below, self)
        return models

    def _local_steps(self, models: Array, noise: Array, places: Places) -> Array:
        centres = self.p.take(places, 1)
        # one number for each model, as numpy is slow where it broadcasts over rows of few
        h, a = (np.repeat(part, models.shape[2], axis=1) for part in (self.made.h, self.made.a))
        bends = [(part, phi, centres[part], a[part]) for part, phi in self.made.bends]
        for step in noise:
            gradient = models * h
            gradient += step
            for part, phi, centre, a in bends:
                bend = phi(models[:, part] - centre)
                bend *= a
                gradient[:, part] += bend
            gradient *= self.eta
            models = np.subtract(models, gradient, out=gradient)
        return models

    def spread(self, models: Array, copies: int) -> Array:
        """Every model so many times, next to itself."""
        return np.repeat(models, copies, axis=2)

    def average(self, models: Array, members: int) -> Array:
        """Means of so many neighbours."""
        rates, problems, _, dim = models.shape
        return _mean(models.reshape(rates, problems, -1, members, dim), 1)


def _drawn(rng: np.random.Generator, problems: int, topology: Topology) -> Places:
    """Who takes part in a round, in which order: numbers of clients, shape (problems, places)."""
    nodes: Places = np.zeros((problems, 1), dtype=np.intp)
    for tier in topology.tiers:
        size = tier.size or tier.taking_part
        orders = rng.permuted(np.broadcast_to(np.arange(size), (*nodes.shape, size)), axis=2)[:, :, : tier.taking_part]
        nodes = (nodes[:, :, None] * size + orders).reshape(problems, -1)
    return nodes


def rounds_to(squared: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """After how many rounds the mean squared gradient over the rounds so far is at a target, at the best rate.

    The mean is over the iterates 0 to R - 1, as in the theorems, and over the problems; between two rounds it is
    interpolated.

    Args:
        squared: as of `squared_gradients`.
        targets: shape (targets,).

    Returns:
        rounds, infinite where none was enough, and the place of the best rate; both of shape (targets,).
    """
    rounds = squared.shape[0] - 1
    mean = np.cumsum(squared[:-1].mean(-1), axis=0) / np.arange(1, rounds + 1)[:, None]  # (R - 1, rates)
    mean = np.where(np.isnan(mean), np.inf, mean)
    found = np.full((len(targets), mean.shape[1]), np.inf)
    for i, target in enumerate(targets):
        below = mean <= target
        reached = below.any(0)
        first = below.argmax(0)
        for j in np.flatnonzero(reached):
            at = first[j]
            found[i, j] = 1.0 if at == 0 else at + 1 - (target - mean[at, j]) / (mean[at - 1, j] - mean[at, j])
    return found.min(1), found.argmin(1).astype(float)
