"""Inside a sub-center: synchronous rounds of its clients, by averaging (S-Avg), FedProx (S-Prox) or FedDyn (S-Dyn).

S-Avg is Algorithm 3 of xie2024. With one local step it is what that paper's analysis has in (48): a round is one
stochastic gradient step on the sub-center's loss. All clients of a sub-center count alike.

FedDyn (Acar et al., 2021, Algorithm 1; (25) of xie2024): client i has a state h_i and the sub-center a state h, zero
at first and kept from task to task. From the sub-center's model w a client takes its local steps on
F_i(x) - <h_i, x> + alpha/2 |x - w|^2 to x_i; then h_i falls by alpha (x_i - w), h by the mean of that, and w becomes
the mean of the x_i less h/alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

import torch
from torch import Tensor

from validation.engine import Differentiable, Moment, Parameters, Problem, ValidationError, average, spread

Below = Literal["avg", "prox", "dyn"]


@dataclass(slots=True)
class States:
    """What FedDyn remembers.

    Attributes:
        clients: tensors of shape (runs, clients, ...).
        centers: tensors of shape (runs, sub-centers, ...).
    """

    clients: Parameters
    centers: Parameters


@dataclass(frozen=True, kw_only=True, slots=True)
class Inside:
    """How a sub-center works on its task.

    Attributes:
        below: ``avg``, ``prox`` or ``dyn``.
        N: clients of each sub-center.
        R_sub: rounds of a task.
        E: local steps of a client in a round.
        alpha: FedDyn's coefficient.
        mu: FedProx's coefficient.
    """

    below: Below
    N: int
    R_sub: int
    E: int
    alpha: float
    mu: float

    def __post_init__(self) -> None:
        if self.below not in get_args(Below):
            raise ValidationError(f"below = {self.below!r} is none of {', '.join(get_args(Below))}.")
        if not self.alpha > 0:
            raise ValidationError(f"alpha = {self.alpha} must be above 0: FedDyn divides by it.")
        if not self.mu >= 0:
            raise ValidationError(f"mu = {self.mu} must be at least 0.")

    def start(self, problem: Problem, runs: int, M: int) -> States | None:
        """FedDyn's states before anything, for M sub-centers; None where nothing is remembered.

        Raises:
            ValidationError: if the problem gives no gradients and they are needed.
        """
        if self.below != "avg" and not hasattr(problem, "gradients"):
            raise ValidationError(
                f"below = {self.below!r} needs gradients, and this problem gives local steps only: use 'avg'."
            )
        if self.below != "dyn":
            return None
        clients, centers = (
            tuple(torch.zeros(runs, count, *part.shape[1:], dtype=part.dtype, device=part.device) for part in first)
            for count, first in ((M * self.N, problem.start()), (M, problem.start()))
        )
        return States(clients, centers)

    def work(
        self,
        models: Parameters,
        states: States | None,
        problem: Problem,
        moment: Moment,
        who: Tensor,
        again: tuple[int, ...] = (),
    ) -> Parameters:
        """Models at the end of tasks.

        Args:
            models: where the tasks began, shape (runs * tasks, ...); may be overwritten.
            states: FedDyn's; they are moved on.
            problem: what is trained.
            moment: seeds and rates.
            who: the sub-center of each task, shape (runs, tasks), different ones in each run.
            again: what tells the randomness of these tasks from that of others in the same round.
        """
        runs, tasks = who.shape
        clients = (who[:, :, None] * self.N + torch.arange(self.N, device=who.device)).view(runs, -1)
        flat = clients.reshape(-1)
        seeds = moment.seed_at.repeat_interleave(tasks * self.N)
        rates = moment.rates.repeat_interleave(tasks * self.N)
        row = torch.arange(runs, device=who.device)[:, None]
        own = center = None
        if states is not None:
            own = tuple(part[row, clients].flatten(0, 1) for part in states.clients)
            center = tuple(part[row, who].flatten(0, 1) for part in states.centers)
        for r in range(self.R_sub):
            draws = problem.draws(moment.seeds, (moment.index, r, *again), self.E)
            begin = models
            models = spread(models, self.N)
            if self.below == "avg":
                models = average(problem.local_steps(models, flat, seeds, draws, rates, self.E), self.N)
                continue
            pull = self.alpha if self.below == "dyn" else self.mu
            anchor = spread(begin, self.N)
            for step in range(self.E):
                slope = cast(Differentiable, problem).gradients(models, flat, seeds, draws, step)
                for k, part in enumerate(models):
                    force = slope[k] + pull * (part - anchor[k])
                    if own is not None:
                        force -= own[k]
                    part.sub_(force.mul_(rates.view(-1, *(1,) * (part.ndim - 1))))
            if own is not None and center is not None:
                moved = tuple(part - old for part, old in zip(models, anchor, strict=True))
                for state, move in zip((*own, *center), (*moved, *average(moved, self.N)), strict=True):
                    state.sub_(move, alpha=self.alpha)
                mean = average(models, self.N)
                models = tuple(part - state / self.alpha for part, state in zip(mean, center, strict=True))
            else:
                models = average(models, self.N)
        if states is not None and own is not None and center is not None:
            for kept, new, at in ((states.clients, own, clients), (states.centers, center, who)):
                for part, value in zip(kept, new, strict=True):
                    part[row, at] = value.view(runs, at.shape[1], *value.shape[1:])
        return models
