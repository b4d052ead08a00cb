"""Quadratics whose curvatures fall as a power, and whose tilts, start and noise lie along the curvature or against it.

All clients share the diagonal Hessian ``h_j = j^-decay`` and differ by a tilt. The squared size of what differs in
coordinate j goes as ``h_j`` to some power: above 0 clients differ most where the loss is steep, below 0 where it is
flat. The record of `validation.ensemble` has tilts that know nothing of the curvature.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from validation.engine import Parameters, generator
from validation.problems.vectors import MADE, Vectors, counted, deviations, normal


@dataclass(frozen=True, kw_only=True, eq=False)
class PowerLaw(Vectors):
    """Curvatures and tilts.

    Attributes:
        h: shape (dim,).
        v: tilts, shape (clients, dim).
        noise: standard deviations of a stochastic gradient, coordinate by coordinate, shape (dim,).
    """

    h: Tensor
    v: Tensor
    noise: Tensor

    def losses(self, x: Tensor) -> Tensor:
        """Of every client."""
        return (self.h * x.square()).sum(-1, keepdim=True) / 2 + x @ self.v.T

    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> Tensor:
        """Noise of shape (seeds, clients, steps, dim)."""
        return normal(seeds, time, self.clients, steps, len(self.h)) * self.noise

    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, step: int) -> Parameters:
        """The client's gradient and noise."""
        return (torch.addcmul(draws[seeds, clients, step], self.h, models[0]).add_(self.v[clients]),)

    def near(self) -> Iterable[Tensor]:
        """The minimum itself."""
        yield -self.v.mean(0) / self.h


def power_law(  # reason: a description is flat, one keyword for each option
    *,
    G: int,
    M: int,
    dim: int = 30,
    decay: float = 1.2,
    along: float = 0.0,
    begun: float = 0.0,
    noisy: float = 0.0,
    sigma: float = 1.0,
    intra: float = 0.0,
    inter: float = 0.0,
    seed: int = 0,
) -> PowerLaw:
    """Quadratics with a spectrum that falls as a power; the mean loss at the start is 1 above its minimum.

    Args:
        G: groups.
        M: clients in each group.
        dim: of the model.
        decay: power with which curvatures fall.
        along: power of the curvature with which the squared tilts go.
        begun: power of the curvature with which each coordinate's share of the loss at the start goes.
        noisy: power of the curvature with which the squared noise goes.
        sigma: root mean squared norm of the noise of a stochastic gradient.
        intra: root mean square gap of client gradients to their group's: zeta.
        inter: root mean square gap of group gradients to the mean: delta.
        seed: of all that is made.

    Raises:
        ValidationError: if a number is out of range.
    """
    counted(G=G, M=M, dim=dim)
    made = generator(seed, MADE, 5)
    h = torch.arange(1, dim + 1, dtype=torch.float64) ** -decay

    def shares(power: float) -> Tensor:
        return h**power / (h**power).sum()

    way = torch.randn(dim, generator=made, dtype=torch.float64) * shares(begun).sqrt()
    x0 = way * (2 / h).sqrt() / way.norm()
    tilts = torch.zeros(G * M, dim, dtype=torch.float64)
    for one, other in ((intra, 0.0), (0.0, inter)):
        what = deviations(made, G, M, dim, intra=one, inter=other) * shares(along).sqrt()
        if one + other:
            tilts = tilts + (one + other) * what / what.square().sum(1).mean().sqrt()
    return PowerLaw(G=G, M=M, x0=x0, h=h, v=tilts, noise=sigma * shares(noisy).sqrt())


MAKERS = {"power-law": power_law}
