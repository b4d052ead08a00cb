"""Noise that shrinks with the gradient: every number of a stochastic gradient is off by a share of itself.

Client c has the loss ``sum_j h_cj log cosh(x_j - p_cj)``. A stochastic gradient is its gradient times ``1 + share n``,
number by number, n being standard normal. At the start noise is large; at the minimum only what clients differ by is
left of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from validation.engine import Parameters, generator
from validation.problems.vectors import MADE, Vectors, counted, deviations, normal


@dataclass(frozen=True, kw_only=True, eq=False)
class Multiplicative(Vectors):
    """Curvatures and centres.

    Attributes:
        h: shape (clients, dim).
        p: centres, shape (clients, dim).
        share: by which a number of a stochastic gradient is off, in the root mean square.
    """

    h: Tensor
    p: Tensor
    share: float

    def losses(self, x: Tensor) -> Tensor:
        """Of every client."""
        off = (x[..., None, :] - self.p).abs()
        return (self.h * (off + torch.log1p(torch.exp(-2 * off)) - math.log(2))).sum(-1)

    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> Tensor:
        """What gradients are multiplied with, shape (seeds, clients, steps, dim)."""
        return 1 + self.share * normal(seeds, time, self.clients, steps, len(self.x0))

    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, step: int) -> Parameters:
        """The client's gradient, each number times what was drawn for it."""
        slope = torch.tanh(models[0] - self.p[clients]).mul_(self.h[clients])
        return (slope.mul_(draws[seeds, clients, step]),)


def multiplicative(  # reason: a description is flat, one keyword for each option
    *,
    G: int,
    M: int,
    dim: int = 12,
    flattest: float = 0.02,
    share: float = 2.0,
    far: float = 2.0,
    stretch: float = 0.4,
    intra: float = 0.0,
    inter: float = 0.0,
    seed: int = 0,
) -> Multiplicative:
    """Log-cosh losses with noise in proportion to the gradient.

    Args:
        G: groups.
        M: clients in each group.
        dim: of the model.
        flattest: least mean curvature of a coordinate, over the largest, which is 1.
        share: by which a number of a stochastic gradient is off, in the root mean square.
        far: root mean square distance of the start from the mean centre in a coordinate.
        stretch: how much the logarithm of a client's curvature differs, per unit of intra and inter.
        intra: root mean square distance of the centres of the clients of a group.
        inter: the same of groups.
        seed: of all that is made.

    Raises:
        ValidationError: if a number is out of range.
    """
    counted(G=G, M=M, dim=dim)
    made = generator(seed, MADE, 6)
    common = flattest ** torch.rand(dim, generator=made, dtype=torch.float64)
    common[0] = 1
    h = common * torch.exp(deviations(made, G, M, dim, intra=stretch * intra, inter=stretch * inter))
    p = deviations(made, G, M, dim, intra=intra, inter=inter)
    x0 = far * torch.randn(dim, generator=made, dtype=torch.float64)
    return Multiplicative(G=G, M=M, x0=x0, h=h, p=p, share=share)


MAKERS = {"multiplicative": multiplicative}
