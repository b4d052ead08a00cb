"""A loss that is not convex and is flat where training starts: robust regression from far away.

The loss of a client is a weighted mean over directions of half ``log(1 + u^2)``, where u is how far the model is from
the client's centre along the direction. Far out, slopes fall with the distance and curvatures are negative, and what
clients differ by is hardly felt; it grows while the model learns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from validation.engine import Parameters, generator
from validation.problems.vectors import MADE, Vectors, counted, deviations, normal


@dataclass(frozen=True, kw_only=True, eq=False)
class FlatStart(Vectors):
    """Directions and centres.

    Attributes:
        directions: common to all, shape (directions, dim).
        weights: of the directions, shape (directions,).
        centres: of clients along the directions, shape (clients, directions).
        sigma: root mean squared norm of the noise of a stochastic gradient.
    """

    directions: Tensor
    weights: Tensor
    centres: Tensor
    sigma: float

    def losses(self, x: Tensor) -> Tensor:
        """Of every client."""
        off = (x @ self.directions.T)[..., None, :] - self.centres
        return (torch.log1p(off.square()) * self.weights).sum(-1) / 2

    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> Tensor:
        """Noise of shape (seeds, clients, steps, dim)."""
        return normal(seeds, time, self.clients, steps, len(self.x0)) * (self.sigma / math.sqrt(len(self.x0)))

    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, step: int) -> Parameters:
        """The client's gradient and noise."""
        off = models[0] @ self.directions.T - self.centres[clients]
        pull = off / (1 + off.square()) * self.weights
        return (pull @ self.directions + draws[seeds, clients, step],)

    def near(self) -> Iterable[Tensor]:
        """Where the mean of the centres would be met best."""
        yield torch.linalg.lstsq(self.directions, self.centres.mean(0)[:, None]).solution[:, 0]


def flat_start(  # reason: a description is flat, one keyword for each option
    *,
    G: int,
    M: int,
    dim: int = 10,
    directions: int = 30,
    far: float = 6.0,
    flattest: float = 0.03,
    sigma: float = 0.3,
    intra: float = 0.0,
    inter: float = 0.0,
    seed: int = 0,
) -> FlatStart:
    """Robust regression from a far start.

    Args:
        G: groups.
        M: clients in each group.
        dim: of the model.
        directions: in which clients see it.
        far: root mean square distance of the start along the directions, where slopes begin to fall at 1.
        flattest: least weight of a direction, over the largest.
        sigma: root mean squared norm of the noise of a stochastic gradient, over the weight of all directions.
        intra: root mean square distance of the centres of the clients of a group.
        inter: the same of groups.
        seed: of all that is made.

    Raises:
        ValidationError: if a number is out of range.
    """
    counted(G=G, M=M, dim=dim, directions=directions)
    made = generator(seed, MADE, 3)
    ways = torch.randn(directions, dim, generator=made, dtype=torch.float64)
    ways = ways / ways.norm(dim=1, keepdim=True)
    weights = flattest ** torch.rand(directions, generator=made, dtype=torch.float64)
    way = torch.randn(dim, generator=made, dtype=torch.float64)
    x0 = far * way / (ways @ way).square().mean().sqrt()
    centres = deviations(made, G, M, directions, intra=intra, inter=inter)
    return FlatStart(G=G, M=M, x0=x0, directions=ways, weights=weights / weights.sum(), centres=centres, sigma=sigma)


MAKERS = {"flat-start": flat_start}
