"""Mini-batch least squares whose clients' inputs have unequal covariances and whose targets have unequal weights.

A client's inputs are ``a = D_c Q z`` for standard normal z: a common turned spectrum, stretched along each coordinate
by a factor of its own. Its targets are ``a (w + w_c)`` and noise. Losses are half the mean squared residual, so that
Hessians differ from client to client, and noise is that of the samples drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from validation.engine import Parameters, generator
from validation.problems.vectors import MADE, Vectors, counted, deviations, picked


@dataclass(frozen=True, kw_only=True, eq=False)
class LeastSquares(Vectors):
    """Samples of clients.

    Attributes:
        inputs: shape (clients, samples, dim).
        targets: shape (clients, samples).
        batch: samples of a local step, drawn with replacement.
    """

    inputs: Tensor
    targets: Tensor
    batch: int

    def losses(self, x: Tensor) -> Tensor:
        """Half the mean squared residual of every client."""
        return (torch.einsum("csd,...d->...cs", self.inputs, x) - self.targets).square().mean(-1) / 2

    def slopes(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The mean loss and its gradient, from the mean covariance."""
        whole, aside, rest = self._means
        slope = x @ whole - aside
        return ((slope - aside) * x).sum(-1) / 2 + rest, slope

    @cached_property
    def _means(self) -> tuple[Tensor, Tensor, Tensor]:
        """Over all samples: of ``a a'``, of ``a y``, and of half the square of y."""
        count = self.targets.numel()
        whole = torch.einsum("csd,cse->de", self.inputs, self.inputs) / count
        return whole, torch.einsum("csd,cs->d", self.inputs, self.targets) / count, self.targets.square().mean() / 2

    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> Tensor:
        """Numbers of samples, shape (seeds, clients, steps, batch)."""
        return picked(seeds, time, self.targets.shape[1], self.clients, steps, self.batch)

    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, step: int) -> Parameters:
        """Of half the mean squared residual of a batch each."""
        (x,) = models
        who, rows = clients[:, None], draws[seeds, clients, step]
        inputs = self.inputs[who, rows]
        off = torch.einsum("mbd,md->mb", inputs, x) - self.targets[who, rows]
        return (torch.einsum("mbd,mb->md", inputs, off) / self.batch,)


def least_squares(  # reason: a description is flat, one keyword for each option
    *,
    G: int,
    M: int,
    dim: int = 12,
    samples: int = 24,
    batch: int = 2,
    flattest: float = 0.01,
    stretch: float = 0.4,
    intra: float = 0.0,
    inter: float = 0.0,
    residual: float = 0.3,
    seed: int = 0,
) -> LeastSquares:
    """Least squares with clients of unequal covariance.

    Args:
        G: groups.
        M: clients in each group.
        dim: numbers of an input.
        samples: of each client.
        batch: samples of a local step.
        flattest: least variance of the common inputs, over the largest.
        stretch: how much the logarithm of a client's scale along a coordinate differs, per unit of intra and inter.
        intra: how far the weights of the clients of a group differ.
        inter: how far those of groups differ.
        residual: standard deviation of what no weight explains.
        seed: of all that is made.

    Raises:
        ValidationError: if a number is out of range.
    """
    counted(G=G, M=M, dim=dim, samples=samples, batch=batch)
    made = generator(seed, MADE, 1)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=made, dtype=torch.float64)

    spread = flattest ** (torch.arange(dim, dtype=torch.float64) / max(dim - 1, 1) / 2)
    turn = torch.linalg.qr(normal(dim, dim)).Q
    scales = torch.exp(deviations(made, G, M, dim, intra=stretch * intra, inter=stretch * inter))
    inputs = (normal(G * M, samples, dim) * spread) @ turn.T * scales[:, None]
    weights = normal(dim) + deviations(made, G, M, dim, intra=intra, inter=inter)
    targets = torch.einsum("csd,cd->cs", inputs, weights) + residual * normal(G * M, samples)
    return LeastSquares(G=G, M=M, x0=torch.zeros(dim, dtype=torch.float64), inputs=inputs, targets=targets, batch=batch)


MAKERS = {"least-squares": least_squares}
