"""Problems whose constants are exact: L, sigma, zeta, delta and A are what they are said to be, not estimates.

Client c has the loss ``F_c(x) = sum_j h_j x_j^2/2 + a_cj log cosh(x_j) + v_cj x_j``. Everything is separable, so every
supremum that an assumption speaks of is a maximum over two or three numbers:

* the Hessian of a client is diagonal with entries between ``h_j`` and ``h_j + a_cj``, so ``L`` is the largest of them;
* the gap of two gradients is ``(a_cj - a_dj) tanh(x_j) + v_cj - v_dj``, which is linear in ``tanh(x_j)``, so the mean
  square of the gaps is largest as ``x_j`` goes to plus or minus infinity;
* the minimum of the mean loss is found coordinate by coordinate among the roots of its slope.

Clients differ in curvature, not in tilt alone: where all Hessians are equal, averaging commutes with every local step
and no experiment can see the topology.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from validation.engine import Parameters, ValidationError, device_of, generator

NOISE = 3  # what a generator is for
LOWEST = 0.05  # the smallest curvature of the shared quadratic, as a share of L


@dataclass(frozen=True, kw_only=True, eq=False)
class Controlled:
    """Losses and noise, with their constants; `controlled` makes one with given constants.

    Attributes:
        G: groups.
        M: clients in each group.
        h: curvature of the shared quadratic, shape (dim,), positive.
        a: weight of log cosh, shape (G, M, dim).
        v: tilt, shape (G, M, dim).
        x0: the first iterate, shape (dim,).
        sigma: standard deviation of a stochastic gradient: the root of the mean squared norm of its noise.
    """

    G: int
    M: int
    h: Tensor
    a: Tensor
    v: Tensor
    x0: Tensor
    sigma: float

    @property
    def clients(self) -> int:
        """Numbered group by group."""
        return self.G * self.M

    @property
    def numbers_per_model(self) -> int:
        """The dimension."""
        return len(self.h)

    @property
    def constants(self) -> dict[str, float]:
        """The constants of the assumptions, by the names of `hflbounds.core.quantities`."""
        ends = torch.cat([self.h.expand(self.clients, -1), self.h + self.a.flatten(0, 1)])
        return {
            "L": float(ends.abs().max()),
            "A": float(self.loss(self.x0[None])[0] - self.lowest),
            "sigma": self.sigma,
            "zeta": math.sqrt(spread_of(_within(self.a), _within(self.v))),
            "delta": math.sqrt(spread_of(_between(self.a), _between(self.v))),
        }

    @cached_property
    def lowest(self) -> float:
        """The smallest value of the mean loss."""
        return float(self._separate(self.minimum).sum())

    @cached_property
    def minimum(self) -> Tensor:
        """Where the mean loss is smallest, shape (dim,)."""
        a, v = self.a.mean((0, 1)), self.v.mean((0, 1))
        reach = (a.abs() + v.abs()) / self.h + 1.0
        grid = torch.linspace(-1, 1, 2001, dtype=self.h.dtype, device=self.h.device)[:, None] * reach  # (points, dim)

        slope = self.h * grid + a * torch.tanh(grid) + v
        crossing = (slope[:-1] <= 0) & (slope[1:] >= 0)  # where the slope rises through zero: a minimum
        h, a, v = (part.expand_as(crossing)[crossing] for part in (self.h, a, v))
        ends, low, high = grid[1:].clone(), grid[:-1][crossing], grid[1:][crossing]
        for _ in range(80):
            middle = (low + high) / 2
            rising = h * middle + a * torch.tanh(middle) + v >= 0
            low, high = torch.where(rising, low, middle), torch.where(rising, middle, high)
        ends[crossing] = high
        height = torch.where(crossing, self._separate(ends), torch.full_like(ends, math.inf))
        return ends.gather(0, height.argmin(0, keepdim=True))[0]

    def _separate(self, x: Tensor) -> Tensor:
        """The mean loss, coordinate by coordinate."""
        log_cosh = x.abs() + torch.log1p(torch.exp(-2 * x.abs())) - math.log(2)
        return self.h * x**2 / 2 + self.a.mean((0, 1)) * log_cosh + self.v.mean((0, 1)) * x

    def loss(self, x: Tensor) -> Tensor:
        """The mean loss at points of shape (models, dim)."""
        return self._separate(x).sum(1)

    def start(self) -> Parameters:
        """The first iterate."""
        return (self.x0[None],)

    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> Tensor:
        """Noise of shape (seeds, clients, steps, dim)."""
        shape = (self.clients, steps, len(self.h))
        if self.sigma == 0:
            return torch.zeros(1, dtype=self.h.dtype, device=self.h.device).expand(len(seeds), *shape)
        scale = self.sigma / math.sqrt(len(self.h))
        drawn = [torch.randn(shape, generator=generator(s, NOISE, *time), dtype=self.h.dtype) for s in seeds]
        return torch.stack(drawn).mul_(scale).to(self.h.device)

    def local_steps(
        self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, rates: Tensor, steps: int
    ) -> Parameters:
        """Stochastic gradient descent, in place."""
        (x,) = models
        a, v = self.a.flatten(0, 1)[clients], self.v.flatten(0, 1)[clients]
        noise = draws[seeds, clients]
        for k in range(steps):
            gradient = torch.tanh(x).mul_(a).add_(v).addcmul_(x, self.h).add_(noise[:, k])
            x.addcmul_(gradient, rates[:, None], value=-1)
        return (x,)

    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, step: int) -> Parameters:
        """Stochastic gradients of one local step."""
        (x,) = models
        a, v = self.a.flatten(0, 1)[clients], self.v.flatten(0, 1)[clients]
        return (torch.tanh(x).mul_(a).add_(v).addcmul_(x, self.h).add_(draws[seeds, clients, step]),)

    def measure(self, models: Parameters) -> Mapping[str, Tensor]:
        """``gradient``, the squared norm of the mean loss's gradient, and ``gap``, the loss above its minimum."""
        (x,) = models
        gradient = self.h * x + self.a.mean((0, 1)) * torch.tanh(x) + self.v.mean((0, 1))
        return {"gradient": gradient.square().sum(1), "gap": self.loss(x) - self.lowest}


def controlled(  # reason: one keyword for each constant of the theorems
    *,
    G: int,
    M: int,
    L: float = 1.0,
    A: float = 1.0,
    sigma: float = 1.0,
    zeta: float = 0.0,
    delta: float = 0.0,
    dim: int = 10,
    curvature: float = 0.5,
    nonconvex: bool = True,
    seed: int = 0,
    device: str = "cpu",
) -> Controlled:
    """A problem with exactly these constants.

    Args:
        G: groups.
        M: clients in each group.
        L: smoothness of every client's loss.
        A: gap of the first iterate's loss to the minimum.
        sigma: standard deviation of a stochastic gradient.
        zeta: supremum over points of the root mean square gap of client gradients to their group's.
        delta: the same of group gradients to the mean gradient.
        dim: dimension.
        curvature: which part of the heterogeneity, at most, is in curvature: from 0 to 1.
        nonconvex: whether the mean loss may have negative curvature.
        seed: of the problem; runs have seeds of their own.
        device: ``cpu`` or ``cuda``.

    Raises:
        ValidationError: if a constant is out of range, heterogeneity is asked for where nothing can differ, or there is
            no such device.
    """
    where = device_of(device)
    for name, value in {"L": L, "A": A}.items():
        if not (math.isfinite(value) and value > 0):
            raise ValidationError(f"{name} = {value} must be a finite number above 0.")
    for name, value in {"sigma": sigma, "zeta": zeta, "delta": delta}.items():
        if not (math.isfinite(value) and value >= 0):
            raise ValidationError(f"{name} = {value} must be a finite number, at least 0.")
    if min(G, M, dim) < 1:
        raise ValidationError(f"G = {G}, M = {M} and dim = {dim} must be at least 1.")
    if (delta and G < 2) or (zeta and M < 2):
        name, value, count = ("delta", delta, f"G = {G}") if delta and G < 2 else ("zeta", zeta, f"M = {M}")
        raise ValidationError(f"{name} = {value} with {count}: a single one differs from nothing. Set {name} to 0.")
    if not 0 <= curvature <= 1:
        raise ValidationError(f"curvature = {curvature} must be from 0 to 1.")
    made = generator(seed, G, M, dim)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=made, dtype=torch.float64)

    between = _split(_between(normal(G, 1, dim)), _between(normal(G, 1, dim)), delta, curvature, L / 4)
    within = _split(_within(normal(G, M, dim)), _within(normal(G, M, dim)), zeta, curvature, L / 4)
    share = torch.rand(dim, generator=made, dtype=torch.float64)
    mean = L / 4 * (share if not nonconvex else 1 - 3 * share)  # down to -L/2
    a = mean + between[0] + within[0]
    v = normal(dim) * L / 4 + between[1] + within[1]
    room = L - a.clamp(min=0).amax((0, 1))  # what the shared quadratic may add without exceeding L
    height = torch.rand(dim, generator=made, dtype=torch.float64)
    height[0] = 1
    h = LOWEST * L + (room - LOWEST * L) * height
    whole = Controlled(G=G, M=M, h=h, a=a.expand(G, M, dim), v=v.expand(G, M, dim), x0=h, sigma=sigma)
    best, way = whole.minimum, normal(dim)
    way = way / way.norm()

    def gap(distance: float) -> float:
        return float(whole.loss((best + distance * way)[None])[0]) - whole.lowest

    far = 1.0
    while gap(far) < A:
        far *= 2
    x0 = best + _solve(gap, A, far) * way
    parts = {"h": h, "a": whole.a.clone(), "v": whole.v.clone(), "x0": x0}
    return Controlled(G=G, M=M, sigma=sigma, **{name: part.to(where) for name, part in parts.items()})


def spread_of(a: Tensor, v: Tensor) -> float:
    """Supremum over points of the mean squared norm of ``a tanh(x) + v``, means over all but the last dimension."""
    ends = torch.stack([(v + a).square().mean((0, 1)), (v - a).square().mean((0, 1))])
    return float(ends.amax(0).sum())


def _between(what: Tensor) -> Tensor:
    groups = what.mean(1, keepdim=True)
    return groups - groups.mean(0, keepdim=True)


def _within(what: Tensor) -> Tensor:
    return what - what.mean(1, keepdim=True)


def _split(a: Tensor, v: Tensor, size: float, curvature: float, most: float) -> tuple[Tensor, Tensor]:
    """Curvatures and tilts along two directions with the root of `spread_of` equal to ``size``."""
    if size == 0:
        return torch.zeros_like(a), torch.zeros_like(v)
    none = torch.zeros_like(v)
    scale = min(most / float(a.abs().max()), math.sqrt(curvature / spread_of(a, none)) * size) if curvature else 0.0
    a = a * scale
    far = 2 * size / math.sqrt(spread_of(none, v)) + 1
    return a, v * _solve(lambda s: spread_of(a, s * v), size**2, far)


def _solve(function: Callable[[float], float], value: float, high: float) -> float:
    """Where a function that ends above a value first reaches it, by bisection to the last bit."""
    low = 0.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if function(middle) < value else (low, middle)
    return high


MAKERS = {"controlled": controlled}
