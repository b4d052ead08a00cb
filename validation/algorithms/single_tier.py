"""One tier: FedAvg, whose clients work side by side, and sequential federated learning, whose clients take turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch

from hflbounds.catalog.liu2026 import paper
from hflbounds.topology import Order, Tier, Topology, TopologyError
from validation.algorithms.tree import Tree
from validation.engine import Moment, Parameters, Problem, ValidationError, spread
from validation.mixing import at_least_one, mix, shares

SOURCE = paper.at("Section II-A, eqs. (1)-(2)")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Weighted(Tree):
    """A star of all clients, who count in the average by their shares."""

    weights: str

    def models(self, problem: Problem) -> int:
        """All that are trained side by side."""
        return self.topology.models

    def round(self, state: Parameters, problem: Problem, moment: Moment) -> Parameters:
        """Steps 1-3 of the section."""
        runs, count = len(moment.rates), self.topology.clients
        who = torch.arange(count, device=moment.rates.device).repeat(runs)
        rates, seed_at = moment.rates.repeat_interleave(count), moment.seed_at.repeat_interleave(count)
        draws = problem.draws(moment.seeds, (moment.index, 0), self.K)
        models = problem.local_steps(spread(state, count), who, seed_at, draws, rates, self.K)
        return mix(models, torch.from_numpy(shares(self.weights, count)).to(rates)[None])


def fedavg(*, clients: int, K: int = 1, S: int | None = None, weights: str = "equal") -> Tree:
    """Clients work side by side from the global model, and the server averages what comes back.

    Args:
        clients: how many.
        K: local steps of a client in a round.
        S: clients drawn in each round; None for all.
        weights: shares of the clients in the average, ``equal`` or as in ``2,1,1``.

    Raises:
        ValidationError: if a count is out of range, or both clients are drawn and weights are not equal.
    """
    star = _tier("star", clients, S, "fixed")
    shares(weights, clients)
    if weights == "equal":
        return Tree(topology=star, K=K)
    if S is not None:
        raise ValidationError(f"S = {S} clients are drawn, and weights = {weights!r}: give one of them.")
    return _Weighted(topology=star, K=K, weights=weights)


def sequential(
    *, clients: int, K: int = 1, S: int | None = None, order: Literal["fixed", "random", "shuffled"] = "fixed"
) -> Tree:
    """The model goes from client to client.

    Args:
        clients: as of `fedavg`.
        K: as of `fedavg`.
        S: as of `fedavg`.
        order: ``fixed``; ``random``, drawn afresh in each round; or ``shuffled``, drawn once for the run. Sampling
            draws its own order in each round.

    Raises:
        ValidationError: if a count is out of range, or the order is none of these.
    """
    once = order == "shuffled" and S is None
    return Tree(topology=_tier("ring", clients, S, "random" if order == "shuffled" else order), K=K, redrawn=not once)


def _tier(pattern: str, clients: int, S: int | None, order: Order) -> Topology:
    at_least_one("clients", clients)
    if S is not None and not 1 <= S <= clients:
        raise ValidationError(f"S = {S} is not between 1 and {clients}.")
    try:
        return Topology((Tier(pattern, clients, S, order=order),))
    except TopologyError as error:
        raise ValidationError(str(error)) from None


MAKERS: Mapping[str, Callable[..., Tree]] = {"fedavg": fedavg, "sequential": sequential}
