"""Nodes that each train a model and mix it with others: what all decentralised algorithms share.

A round is K local steps at every node, then one or more stages in which models are replaced by weighted means of
models. The stages are row-stochastic matrices, drawn afresh by seed and round alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hflbounds.errors import DomainError
from hflbounds.mixing import Array, Mixing
from validation.engine import Moment, Parameters, Problem, ValidationError, average, generator

GOSSIP = 30  # what a generator is for


class Nodes(NamedTuple):
    """The models of all nodes, and what the last round of mixing did to them.

    Attributes:
        models: one per node of every run, shape (runs * nodes, ...).
        before: mean squared distance of the nodes' models from their mean, before mixing; shape (runs,).
        after: the same after mixing.
        move: squared distance by which mixing moved the mean.
    """

    models: Parameters
    before: Tensor
    after: Tensor
    move: Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Gossip(ABC):
    """Local steps at every node, then mixing; a subclass says who mixes with whom.

    Attributes:
        K: local steps of a node in a round.
        judged: what is measured: the problem at the ``mean`` of the models, or at each of the ``nodes``, averaged.

    Raises:
        ValidationError: if K is no count, ``judged`` is neither, or there is no such law of mixing.
    """

    K: int = 1
    judged: str = "mean"

    def __post_init__(self) -> None:
        at_least_one("K", self.K)
        if self.judged not in ("mean", "nodes"):
            raise ValidationError(f"judged = {self.judged!r} is neither 'mean' nor 'nodes'.")
        try:
            self.law()
        except DomainError as error:
            raise ValidationError(f"{error}.") from None

    @abstractmethod
    def law(self) -> Mixing:
        """Of the matrices; fails where an option is out of its range."""

    @property
    def nodes(self) -> int:
        """How many models are trained."""
        return self.law().nodes

    @property
    def weights(self) -> int:
        """Numbers in all matrices of a round, for planning memory."""
        return self.nodes**2

    def stages(self, rng: np.random.Generator) -> Sequence[Array]:
        """The matrices of one round, in the order in which they are applied."""
        return (self.law().sample(rng),)

    def time(self, moment: Moment) -> tuple[int, ...]:
        """What a draw depends on besides the seed: the round."""
        return (moment.index,)

    def start(self, problem: Problem, runs: int) -> Nodes:
        """Equal models.

        Raises:
            ValidationError: if the problem has another number of clients.
        """
        same_number(problem, self.nodes, "nodes")
        first = problem.start()
        models = tuple(part.expand(runs * self.nodes, *part.shape[1:]).clone() for part in first)
        none = first[0].new_zeros(runs)
        return Nodes(models, none, none, none)

    def round(self, state: Nodes, problem: Problem, moment: Moment) -> Nodes:
        """Local steps, then every stage."""
        n, runs = self.nodes, len(moment.rates)
        clients = torch.arange(n, device=moment.rates.device).repeat(runs)
        seed_at, rates = moment.seed_at.repeat_interleave(n), moment.rates.repeat_interleave(n)
        drawn = problem.draws(moment.seeds, (moment.index, 0), self.K)
        models = problem.local_steps(state.models, clients, seed_at, drawn, rates, self.K)
        mean = average(models, n)
        before = distance(models, mean)
        for matrices in self._drawn(moment):
            models = mix(models, matrices)
        moved = average(models, n)
        return Nodes(models, before, distance(models, moved), distance(moved, mean))

    def iterate(self, state: Nodes) -> Parameters:
        """The mean models."""
        return average(state.models, self.nodes)

    def measure(self, state: Nodes, problem: Problem) -> Mapping[str, Tensor]:
        """The problem's quantities where they are judged, and the distances of the last round of mixing.

        These are ``consensus_before``, ``consensus_after`` and ``mean_move``; 0 before the first round.
        """
        if self.judged == "mean":
            told = dict(problem.measure(self.iterate(state)))
        else:
            told = {name: v.view(-1, self.nodes).mean(1) for name, v in problem.measure(state.models).items()}
        return told | {"consensus_before": state.before, "consensus_after": state.after, "mean_move": state.move}

    def models(self, problem: Problem) -> int:
        """One per node, and the room that the matrices take."""
        return self.nodes + -(-self.weights // (3 * problem.numbers_per_model))

    def local_steps_per_round(self) -> float:
        """K."""
        return self.K

    def _drawn(self, moment: Moment) -> list[Tensor]:
        """For every stage the matrices of all runs, shape (runs, rows, columns)."""
        by_seed = [self.stages(numpy_generator(seed, *self.time(moment))) for seed in moment.seeds]
        stacked = [torch.from_numpy(np.stack(stage)).to(moment.rates) for stage in zip(*by_seed, strict=True)]
        return [stage[moment.seed_at] for stage in stacked]


def mix(models: Parameters, matrices: Tensor) -> Parameters:
    """Weighted sums of the models of each run: (runs * columns, ...) to (runs * rows, ...).

    Args:
        models: those of one run are neighbours.
        matrices: of shape (rows, columns), the same for all runs, or (runs, rows, columns).
    """
    columns = matrices.shape[-1]
    return tuple(
        torch.matmul(matrices, part.reshape(-1, columns, part[0].numel())).reshape(-1, *part.shape[1:])
        for part in models
    )


def distance(models: Parameters, means: Parameters, weights: Tensor | None = None) -> Tensor:
    """Mean squared distance of the models of each run from a point of that run, shape (runs,).

    Args:
        models: those of one run are neighbours.
        means: one per run.
        weights: of the models of a run in that mean; equal if not given.
    """
    runs = len(means[0])
    parts = (
        (part.reshape(runs, -1, mean[0].numel()) - mean.reshape(runs, 1, -1)).square().sum(2)
        for part, mean in zip(models, means, strict=True)
    )
    squares = torch.stack(list(parts)).sum(0)
    return squares.mean(1) if weights is None else squares @ weights


def numpy_generator(seed: int, *time: int) -> np.random.Generator:
    """What a seed draws at this time comes from here."""
    key = torch.randint(2**63 - 1, (), generator=generator(seed, GOSSIP, *time))
    return np.random.default_rng(int(key))


def shares(text: str, clients: int) -> Array:
    """The clients' shares in the loss, from an option: ``equal``, or numbers ``2,1,1`` up to a common factor.

    Raises:
        ValidationError: for anything else.
    """
    if text == "equal":
        return np.full(clients, 1 / clients)
    try:
        found = np.array([float(number) for number in text.split(",")])
    except ValueError:
        found = np.empty(0)
    if not (found.size and np.isfinite(found).all() and (found >= 0).all() and found.sum() > 0):
        raise ValidationError(f"weights = {text!r}: give 'equal', or numbers of at least 0 as in '2,1,1'.")
    if len(found) != clients:
        raise ValidationError(f"weights = {text!r} are {len(found)} numbers for {clients} clients: give one for each.")
    return np.asarray(found / found.sum())


def at_least_one(name: str, number: int) -> None:
    """Check a count.

    Raises:
        ValidationError: if it is none.
    """
    if number < 1:
        raise ValidationError(f"{name} = {number} is not a count: give at least 1.")


def same_number(problem: Problem, number: int, what: str) -> None:
    """Check that an algorithm fits a problem.

    Raises:
        ValidationError: if it is made for another number of clients.
    """
    if problem.clients != number:
        raise ValidationError(f"the problem has {problem.clients} clients, and the algorithm {number} {what}.")
