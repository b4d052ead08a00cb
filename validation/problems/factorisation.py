"""Matrix factorisation from a small start: a saddle is left before anything is learned.

Clients hold matrices ``T_c`` near a common one of low rank. The loss of factors U and V is half the mean squared entry
of ``U V' - T_c``; a local step sees some entries, drawn with replacement. Near the start, where both factors are small,
the gradient is small and so is its noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from validation.engine import Parameters, generator
from validation.problems.vectors import MADE, Vectors, counted, deviations, picked


@dataclass(frozen=True, kw_only=True, eq=False)
class Factorisation(Vectors):
    """Matrices of clients; parameters are U, row by row, and V after it.

    Attributes:
        matrices: shape (clients, height, width).
        rank: of the factors.
        batch: entries of a local step, drawn with replacement.
    """

    matrices: Tensor
    rank: int
    batch: int

    def factors(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """U and V at points (..., dim): shapes (..., height, rank) and (..., width, rank)."""
        _, height, width = self.matrices.shape
        u, v = x[..., : height * self.rank], x[..., height * self.rank :]
        return u.reshape(*x.shape[:-1], height, self.rank), v.reshape(*x.shape[:-1], width, self.rank)

    def losses(self, x: Tensor) -> Tensor:
        """Half the mean squared entry of what is left."""
        u, v = self.factors(x)
        return ((u @ v.mT)[..., None, :, :] - self.matrices).square().mean((-1, -2)) / 2

    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> Tensor:
        """How often each entry is drawn, shape (seeds, clients, steps, height, width)."""
        _, height, width = self.matrices.shape
        places = picked(seeds, time, height * width, self.clients, steps, self.batch)
        counts = torch.zeros(*places.shape[:-1], height * width, dtype=self.matrices.dtype)
        counts.scatter_add_(-1, places, torch.ones_like(places, dtype=counts.dtype))
        return counts.unflatten(-1, (height, width))

    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, step: int) -> Parameters:
        """Of half the mean square of the entries drawn."""
        u, v = self.factors(models[0])
        off = (u @ v.mT - self.matrices[clients]) * draws[seeds, clients, step] / self.batch
        return (torch.cat([(off @ v).flatten(1), (off.mT @ u).flatten(1)], 1),)

    def near(self) -> Iterable[Tensor]:
        """The best factors of the mean matrix, by its singular values."""
        left, values, right = torch.linalg.svd(self.matrices.mean(0), full_matrices=False)
        half = values[: self.rank].sqrt()
        yield torch.cat([(left[:, : self.rank] * half).flatten(), (right[: self.rank].mT * half).flatten()])


def factorisation(  # reason: a description is flat, one keyword for each option
    *,
    G: int,
    M: int,
    height: int = 7,
    width: int = 6,
    rank: int = 2,
    batch: int = 6,
    small: float = 0.2,
    intra: float = 0.0,
    inter: float = 0.0,
    seed: int = 0,
) -> Factorisation:
    """Factorisation of clients' matrices from a small start.

    Args:
        G: groups.
        M: clients in each group.
        height: rows of a matrix.
        width: columns of a matrix.
        rank: of the factors, and of the matrix that clients have in common.
        batch: entries of a local step.
        small: standard deviation of the factors at the start; the common matrix has entries of mean square 1.
        intra: root mean square entry by which matrices of the clients of a group differ.
        inter: the same of groups.
        seed: of all that is made.

    Raises:
        ValidationError: if a number is out of range.
    """
    counted(G=G, M=M, height=height, width=width, rank=rank, batch=batch)
    made = generator(seed, MADE, 2)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=made, dtype=torch.float64)

    strength = 2.0 ** -torch.arange(rank, dtype=torch.float64)
    common = (normal(height, rank) * strength) @ normal(width, rank).T
    common = common / common.square().mean().sqrt()
    matrices = common + deviations(made, G, M, height, width, intra=intra, inter=inter)
    return Factorisation(
        G=G, M=M, x0=small * normal((height + width) * rank), matrices=matrices, rank=rank, batch=batch
    )


MAKERS = {"factorisation": factorisation}
