"""A student of teachers: one hidden layer of tanh learns what a layer of the same kind says of random inputs.

Clients differ in their teachers and in where their inputs lie. The loss is half the mean squared difference and a small
multiple of the squared norm of the student, without which the least loss lies far out. A local step sees some samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from validation.engine import Parameters, generator
from validation.problems.vectors import MADE, Vectors, counted, deviations, picked


@dataclass(frozen=True, kw_only=True, eq=False)
class Student(Vectors):
    """Samples of clients; parameters are the hidden weights, unit by unit, and the weights of the units after them.

    Attributes:
        inputs: shape (clients, samples, width).
        targets: shape (clients, samples).
        hidden: units.
        batch: samples of a local step, drawn with replacement.
        decay: weight of half the squared norm of the parameters.
        teacher: parameters of the mean teacher.
    """

    inputs: Tensor
    targets: Tensor
    hidden: int
    batch: int
    decay: float
    teacher: Tensor

    def losses(self, x: Tensor) -> Tensor:
        """Half the mean squared difference of every client, and the decay."""
        said = _said(x[..., None, :], self.inputs, self.hidden)
        return (said - self.targets).square().mean(-1) / 2 + self.decay / 2 * x.square().sum(-1, keepdim=True)

    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> Tensor:
        """Numbers of samples, shape (seeds, clients, steps, batch)."""
        return picked(seeds, time, self.targets.shape[1], self.clients, steps, self.batch)

    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, step: int) -> Parameters:
        """Of half the mean squared difference of a batch each, and of the decay."""
        (x,) = models
        who, rows = clients[:, None], draws[seeds, clients, step]
        inputs = self.inputs[who, rows]
        units, out = _split(x, self.hidden)
        active = torch.tanh(inputs @ units.mT)  # (models, batch, hidden)
        off = ((active @ out[..., None])[..., 0] - self.targets[who, rows]) / self.batch
        back = off[..., None] * out[:, None] * (1 - active.square())
        slope = torch.cat([(back.mT @ inputs).flatten(1), (active * off[..., None]).sum(1)], 1)
        return (slope.add_(x, alpha=self.decay),)

    def near(self) -> Iterable[Tensor]:
        """The mean teacher."""
        yield self.teacher


def _split(x: Tensor, hidden: int) -> tuple[Tensor, Tensor]:
    """Hidden weights, shape (..., hidden, width), and those of the units, shape (..., hidden)."""
    return x[..., :-hidden].unflatten(-1, (hidden, -1)), x[..., -hidden:]


def _said(x: Tensor, inputs: Tensor, hidden: int) -> Tensor:
    """What a student says: parameters (..., clients or 1, dim), inputs (clients, samples, width) to (..., samples)."""
    units, out = _split(x, hidden)
    return (torch.tanh(inputs @ units.mT) @ out[..., None])[..., 0]


def student(  # reason: a description is flat, one keyword for each option
    *,
    G: int,
    M: int,
    width: int = 6,
    hidden: int = 4,
    samples: int = 12,
    batch: int = 2,
    decay: float = 0.01,
    intra: float = 0.0,
    inter: float = 0.0,
    residual: float = 0.1,
    seed: int = 0,
) -> Student:
    """A student of clients' teachers.

    Args:
        G: groups.
        M: clients in each group.
        width: numbers of an input.
        hidden: units of the student and of the teachers.
        samples: of each client.
        batch: samples of a local step.
        decay: weight of half the squared norm of the parameters.
        intra: root mean square weight by which teachers of the clients of a group differ, and means of their inputs.
        inter: the same of groups.
        residual: standard deviation of what no teacher says.
        seed: of all that is made.

    Raises:
        ValidationError: if a number is out of range.
    """
    counted(G=G, M=M, width=width, hidden=hidden, samples=samples, batch=batch)
    made = generator(seed, MADE, 4)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=made, dtype=torch.float64)

    dim = hidden * (width + 1)
    teacher = normal(dim) * torch.cat([torch.full((hidden * width,), width**-0.5), torch.ones(hidden)])
    teachers = teacher + deviations(made, G, M, dim, intra=intra, inter=inter)
    moved = deviations(made, G, M, 1, width, intra=intra, inter=inter)
    inputs = normal(G * M, samples, width) + moved
    targets = _said(teachers, inputs, hidden) + residual * normal(G * M, samples)
    return Student(
        G=G, M=M, x0=0.3 * normal(dim), inputs=inputs, targets=targets, hidden=hidden, batch=batch, decay=decay,
        teacher=teacher,
    )  # fmt: skip


MAKERS = {"student": student}
