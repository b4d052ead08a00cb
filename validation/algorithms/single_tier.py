"""One tier: FedAvg, whose clients work side by side, and sequential federated learning, whose clients take turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from hflbounds.catalog.liu2026 import paper
from hflbounds.catalog.related import li2023
from validation.algorithms.two_tier import CLIENTS
from validation.engine import Moment, Parameters, Problem, ValidationError, average, spread
from validation.mixing import at_least_one, mix, same_number, shares

SOURCE = paper.at("Section II-A, eqs. (1)-(2)")
SOURCE_SEQUENTIAL = li2023.at("sequential federated learning, as compared with in zhou2026, Appendix B.2")


@dataclass(frozen=True, kw_only=True, slots=True)
class _SingleTier:
    """A server and its clients.

    Attributes:
        clients: how many.
        K: local steps of a client in a round.
        S: clients drawn in each round; None for all.
    """

    clients: int
    K: int = 1
    S: int | None = None

    def __post_init__(self) -> None:
        at_least_one("clients", self.clients)
        at_least_one("K", self.K)
        if self.S is not None and not 1 <= self.S <= self.clients:
            raise ValidationError(f"S = {self.S} is not between 1 and {self.clients}.")

    @property
    def members(self) -> int:
        """Clients that take part in a round."""
        return self.S or self.clients

    def start(self, problem: Problem, runs: int) -> Parameters:
        """One global model per run.

        Raises:
            ValidationError: if the problem has another number of clients.
        """
        same_number(problem, self.clients, "clients")
        return tuple(part.expand(runs, *part.shape[1:]).clone() for part in problem.start())

    def iterate(self, state: Parameters) -> Parameters:
        """The global models."""
        return state

    def turns(self, moment: Moment, drawn: bool) -> Tensor:
        """Who takes part, shape (runs, members): as drawn, or everybody in the fixed order."""
        if not drawn:
            return torch.arange(self.clients, device=moment.rates.device).expand(len(moment.rates), -1)
        order = moment.orders(CLIENTS, lambda g: torch.randperm(self.clients, generator=g))
        return order[:, : self.members]


@dataclass(frozen=True, kw_only=True, slots=True)
class FedAvg(_SingleTier):
    """Clients work side by side from the global model, and the server averages what comes back.

    Attributes:
        weights: shares of the clients in the average, ``equal`` or as in ``2,1,1``.

    Raises:
        ValidationError: if a count is out of range, or both clients are drawn and weights are not equal.
    """

    weights: str = "equal"

    def __post_init__(self) -> None:
        _SingleTier.__post_init__(self)
        shares(self.weights, self.clients)
        if self.S is not None and self.weights != "equal":
            raise ValidationError(f"S = {self.S} clients are drawn, and weights = {self.weights!r}: give one of them.")

    def models(self, problem: Problem) -> int:
        """Models of one run that are trained at once."""
        return self.members

    def local_steps_per_round(self) -> int:
        """K."""
        return self.K

    def round(self, state: Parameters, problem: Problem, moment: Moment) -> Parameters:
        """Steps 1-3 of the section."""
        clients, wide = self.turns(moment, drawn=self.S is not None), self.members
        rates, seed_at = moment.rates.repeat_interleave(wide), moment.seed_at.repeat_interleave(wide)
        draws = problem.draws(moment.seeds, (moment.index, 0), self.K)
        models = problem.local_steps(spread(state, wide), clients.reshape(-1), seed_at, draws, rates, self.K)
        if self.weights == "equal":
            return average(models, wide)
        return mix(models, torch.from_numpy(shares(self.weights, self.clients)).to(rates)[None])


@dataclass(frozen=True, kw_only=True, slots=True)
class Sequential(_SingleTier):
    """The model goes from client to client.

    Attributes:
        order: ``fixed``, or ``random``: drawn afresh in each round. Sampling draws its own order.

    Raises:
        ValidationError: if a count is out of range, or the order is neither.
    """

    order: str = "fixed"

    def __post_init__(self) -> None:
        _SingleTier.__post_init__(self)
        if self.order not in ("fixed", "random"):
            raise ValidationError(f"order = {self.order!r} is neither 'fixed' nor 'random'.")

    def models(self, problem: Problem) -> int:
        """One at a time."""
        return 1

    def local_steps_per_round(self) -> int:
        """Those of all clients, one after the other."""
        return self.members * self.K

    def round(self, state: Parameters, problem: Problem, moment: Moment) -> Parameters:
        """Every client once."""
        clients = self.turns(moment, drawn=self.order == "random" or self.S is not None)
        draws = problem.draws(moment.seeds, (moment.index, 0), self.K)
        for turn in clients.T:
            state = problem.local_steps(state, turn, moment.seed_at, draws, moment.rates, self.K)
        return state


MAKERS: Mapping[str, type] = {"fedavg": FedAvg, "sequential": Sequential}
