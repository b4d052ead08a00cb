"""Losses of one vector of parameters, on all data of a client, that automatic differentiation can follow.

What they have in common: local steps from stochastic gradients, the mean loss and its gradient, its least value, and
the constants of the assumptions at a point. Gradients of local steps are written out by each kind, and batched.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from validation.engine import Parameters, ValidationError, generator

MADE, NOISE, CURVED, PATH = 60, 61, 62, 63  # what a generator is for
EVALUATIONS = 400  # stochastic gradients of a point, over all clients, as in `validation.estimate`
CURVES = 4  # clients whose curvature is measured, as there
SEARCH = 300  # iterations of the search for the least loss, from each start


@dataclass(frozen=True, kw_only=True, eq=False)
class Vectors(ABC):
    """Clients in groups, and their losses.

    Attributes:
        G: groups.
        M: clients in each group; clients are numbered group by group.
        x0: the first iterate, shape (dim,).
    """

    G: int
    M: int
    x0: Tensor

    @property
    def clients(self) -> int:
        """Numbered group by group."""
        return self.G * self.M

    @property
    def numbers_per_model(self) -> int:
        """The dimension."""
        return len(self.x0)

    @abstractmethod
    def losses(self, x: Tensor) -> Tensor:
        """The loss of every client on all its data: points (..., dim) to (..., clients)."""

    @abstractmethod
    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> Tensor:
        """What is random in local steps, shape (seeds, clients, steps, ...)."""

    @abstractmethod
    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, step: int) -> Parameters:
        """Stochastic gradients of one local step."""

    def start(self) -> Parameters:
        """The first iterate."""
        return (self.x0[None],)

    def local_steps(
        self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, rates: Tensor, steps: int
    ) -> Parameters:
        """Stochastic gradient descent, in place."""
        (x,) = models
        for step in range(steps):
            (slope,) = self.gradients(models, clients, seeds, draws, step)
            x.addcmul_(slope, rates[:, None], value=-1)
        return models

    def slopes(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The mean loss at points (models, dim), and its gradient, by automatic differentiation."""
        with torch.enable_grad():
            at = x.detach().requires_grad_()
            loss = self.losses(at).mean(-1)
            (slope,) = torch.autograd.grad(loss.sum(), at)
        return loss.detach(), slope

    def own_gradients(self, x: Tensor) -> Tensor:
        """The gradient of every client's loss at a point of its own: shape (clients, dim), as that of the points."""
        with torch.enable_grad():
            at = x.detach().clone().requires_grad_()
            (slope,) = torch.autograd.grad(self.losses(at).diagonal().sum(), at)
        return slope

    def measure(self, models: Parameters) -> Mapping[str, Tensor]:
        """``gradient``, the squared norm of the mean loss's gradient, and ``gap``, the loss above its least value."""
        loss, slope = self.slopes(models[0])
        return {"gradient": slope.square().sum(-1), "gap": loss - self.lowest}

    @cached_property
    def lowest(self) -> float:
        """The least value of the mean loss that was found: exact up to rounding where it is convex."""
        return min(float(self.slopes(found[None])[0]) for found in self.minima)

    @cached_property
    def minima(self) -> tuple[Tensor, ...]:
        """Where searches for the least loss ended, of which one begins at the start."""
        return tuple(self._descended(point) for point in (self.x0, *self.near()))

    def near(self) -> Iterable[Tensor]:
        """Points from which a search for the least loss may begin, apart from the start."""
        return ()

    def _descended(self, point: Tensor) -> Tensor:
        at = point.clone().requires_grad_()
        search = torch.optim.LBFGS(
            [at], max_iter=SEARCH, tolerance_grad=1e-11, tolerance_change=0.0, history_size=30,
            line_search_fn="strong_wolfe",
        )  # fmt: skip

        def again() -> Tensor:
            search.zero_grad()
            loss = self.losses(at).mean()
            loss.backward()
            return loss

        with torch.enable_grad():
            search.step(again)
        return at.detach()

    def constants_at(self, x: Tensor, seed: int = 0) -> dict[str, float]:
        """The constants of the assumptions at a point, shape (dim,), as `validation.estimate` defines them.

        ``L`` is the largest absolute curvature of some clients' losses, ``mean_L`` that of the mean loss; ``sigma`` is
        a mean over stochastic gradients drawn with the seed, all else is exact.
        """
        own = self.own_gradients(x.expand(self.clients, -1))
        groups = own.view(self.G, self.M, -1).mean(1)
        chosen = torch.randperm(self.clients, generator=generator(seed, CURVED))[:CURVES]

        def some(point: Tensor) -> Tensor:
            own = self.losses(point)
            return torch.cat([own[chosen], own.mean()[None]])

        curves = torch.func.jacrev(torch.func.jacrev(some))(x)
        ends = torch.linalg.eigvalsh(curves).abs().amax(-1)
        return {
            "L": float(ends[:-1].max()),
            "mean_L": float(ends[-1]),
            "sigma": math.sqrt(self._noise(x, own, seed)),
            "zeta": float((own.view(self.G, self.M, -1) - groups[:, None]).square().sum(-1).mean().sqrt()),
            "delta": float((groups - groups.mean(0)).square().sum(-1).mean().sqrt()),
        }

    def _noise(self, x: Tensor, own: Tensor, seed: int) -> float:
        """The mean squared distance of stochastic gradients to their client's gradient."""
        each = max(2, math.ceil(EVALUATIONS / self.clients))
        everyone, drawn = torch.arange(self.clients), self.draws([seed], (PATH,), each)
        models, first = (x.expand(self.clients, -1),), torch.zeros(self.clients, dtype=torch.long)
        apart = [
            (self.gradients(models, everyone, first, drawn, step)[0] - own).square().sum(-1) for step in range(each)
        ]
        return float(torch.stack(apart).mean())


def normal(seeds: Sequence[int], time: tuple[int, ...], *shape: int) -> Tensor:
    """Standard normal numbers by seed and time alone, shape (seeds, ...)."""
    drawn = [torch.randn(shape, generator=generator(s, NOISE, *time), dtype=torch.float64) for s in seeds]
    return torch.stack(drawn)


def picked(seeds: Sequence[int], time: tuple[int, ...], of: int, *shape: int) -> Tensor:
    """Whole numbers below ``of`` by seed and time alone, shape (seeds, ...)."""
    return torch.stack([torch.randint(of, shape, generator=generator(s, NOISE, *time)) for s in seeds])


def deviations(made: torch.Generator, G: int, M: int, *shape: int, intra: float, inter: float) -> Tensor:
    """What clients differ by: shape (clients, ...), of mean 0.

    Groups differ with root mean square ``inter`` per number, the clients of a group with ``intra``.

    Raises:
        ValidationError: if a size is negative, or asked for where nothing can differ.
    """
    for name, size, count, letter in (("intra", intra, M, "M"), ("inter", inter, G, "G")):
        if size < 0 or not math.isfinite(size):
            raise ValidationError(f"{name} = {size} must be a finite number, at least 0.")
        if size and count < 2:
            raise ValidationError(f"{name} = {size} with {letter} = {count}: a single one differs from nothing.")
    within = torch.randn(G, M, *shape, generator=made, dtype=torch.float64)
    between = torch.randn(G, 1, *shape, generator=made, dtype=torch.float64)
    within, between = within - within.mean(1, keepdim=True), between - between.mean(0, keepdim=True)
    return (intra * _unit(within) + inter * _unit(between)).flatten(0, 1)


def _unit(what: Tensor) -> Tensor:
    size = what.square().mean().sqrt()
    return what / size if size > 0 else what


def counted(**counts: Any) -> None:
    """Refuse what is not a whole number above 0.

    Raises:
        ValidationError: if one is not.
    """
    for name, value in counts.items():
        if value != int(value) or value < 1:
            raise ValidationError(f"{name} = {value} must be a whole number, at least 1.")
