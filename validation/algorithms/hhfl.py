"""Hybrid hierarchical federated learning: liu2026, Algorithm 1; with one server for each client, Hier-FAVG."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hflbounds.catalog.liu2026 import paper
from hflbounds.coverage import Array, Coverage, ring, triangle
from hflbounds.errors import DomainError
from validation.engine import Moment, Parameters, Problem, ValidationError, spread
from validation.mixing import at_least_one, distance, mix, same_number, shares

SOURCE = paper.at("Section III-B, Algorithm 1; Section II-B for one server for each client")
WAY = (
    "give 'ring:SERVERS,CLIENTS,OVERLAPPING', 'triangle:ALONE,PAIRS,TRIPLES', or rows of 0 and 1 as in '110;011', "
    "a row for each client"
)


class Global(NamedTuple):
    """The global models, shape (runs, ...), and how far apart the clients were before the last cloud aggregation.

    Attributes:
        models: one per run.
        drift: weighted mean squared distance of the clients' models from their mean, shape (runs,).
    """

    models: Parameters
    drift: Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class HHFL:
    """Clients average the models of all their servers, and servers those of all their clients.

    Attributes:
        coverage: who is attached to whom, as `rows` reads it.
        E: local steps between edge aggregations.
        Ge: edge aggregations in a global round; the last one is followed by the cloud's.
        weights: shares of the clients in the loss, ``equal`` or as in ``2,1,1``; problems measure equal ones.
        alpha: of the schedule ``eta_t = beta/(t + alpha)`` over local steps t, where the rate of a run is the first,
            ``beta/alpha``; None for a constant rate.

    Raises:
        ValidationError: if a count is out of range, or the coverage or the weights are none.
    """

    coverage: str
    E: int = 1
    Ge: int = 1
    weights: str = "equal"
    alpha: float | None = None

    def __post_init__(self) -> None:
        at_least_one("E", self.E)
        at_least_one("Ge", self.Ge)
        if self.alpha is not None and not 0 < self.alpha < float("inf"):
            raise ValidationError(f"alpha = {self.alpha} must be a finite number above 0, or None for a constant rate.")
        covered(self.coverage, self.weights)

    @property
    def clients(self) -> int:
        """How many."""
        return len(covered(self.coverage, self.weights).shares)

    def start(self, problem: Problem, runs: int) -> Global:
        """One global model per run.

        Raises:
            ValidationError: if the problem has another number of clients.
        """
        same_number(problem, self.clients, "clients")
        first = problem.start()
        return Global(tuple(part.expand(runs, *part.shape[1:]).clone() for part in first), first[0].new_zeros(runs))

    def iterate(self, state: Global) -> Parameters:
        """The global models."""
        return state.models

    def measure(self, state: Global, problem: Problem) -> Mapping[str, Tensor]:
        """The problem's quantities of the global model, and ``drift``; 0 before the first round."""
        return {**problem.measure(state.models), "drift": state.drift}

    def models(self, problem: Problem) -> int:
        """One for each client."""
        return self.clients

    def local_steps_per_round(self) -> int:
        """Those of a client."""
        return self.Ge * self.E

    def round(self, state: Global, problem: Problem, moment: Moment) -> Global:
        """``Ge E`` steps of the listing, from one cloud aggregation to the next."""
        known = covered(self.coverage, self.weights)
        to_clients, p, load = (
            torch.from_numpy(a.copy()).to(moment.rates) for a in (known.weights, known.shares, known.loads)
        )
        to_servers = (to_clients * p[:, None] / load).T
        models = spread(state.models, self.clients)
        for edge in range(self.Ge):
            models = self._train(models, problem, moment, edge)
            if edge < self.Ge - 1:
                models = mix(mix(models, to_servers), to_clients)
        whole = mix(mix(models, to_servers), load[None])
        return Global(whole, distance(models, whole, p))

    def _train(self, models: Parameters, problem: Problem, moment: Moment, edge: int) -> Parameters:
        """E local steps of every client."""
        n, runs = self.clients, len(moment.rates)
        clients = torch.arange(n, device=moment.rates.device).repeat(runs)
        seed_at, rates = moment.seed_at.repeat_interleave(n), moment.rates.repeat_interleave(n)
        time = (moment.index, edge)
        if self.alpha is None:
            draws = problem.draws(moment.seeds, time, self.E)
            return problem.local_steps(models, clients, seed_at, draws, rates, self.E)
        before = (moment.index * self.Ge + edge) * self.E
        for e in range(self.E):
            draws = problem.draws(moment.seeds, (*time, e), 1)
            falling = rates * (self.alpha / (before + e + self.alpha))
            models = problem.local_steps(models, clients, seed_at, draws, falling, 1)
        return models


@cache
def covered(coverage: str, weights: str = "equal") -> Coverage:
    """The coverage of two options.

    Raises:
        ValidationError: if either cannot be read, or a client or a server is left alone.
    """
    links = rows(coverage)
    try:
        return Coverage.of(links, shares(weights, len(links)))
    except DomainError as error:
        raise ValidationError(f"coverage = {coverage!r}: {error}.") from None


def rows(text: str) -> Array:
    """A coverage from an option.

    Args:
        text: ``ring:3,19,5``: three servers, each the home of 19 clients, five of which the next server covers too;
            ``triangle:14,4,1``: as of `hflbounds.coverage.triangle`; or a row of 0 and 1 for each client, ``110;011``.

    Returns:
        0/1 array of shape (clients, servers), clients numbered server by server.

    Raises:
        ValidationError: if it is neither.
    """
    wrong = f"coverage = {text!r} cannot be read: {WAY}."
    if match := re.fullmatch(r"(ring|triangle):(\d+),(\d+),(\d+)", text):
        try:
            return (ring if match[1] == "ring" else triangle)(*map(int, match.groups()[1:]))
        except DomainError as error:
            raise ValidationError(f"coverage = {text!r}: {error}.") from None
    lines = text.split(";")
    if not all(re.fullmatch("[01]+", line) for line in lines) or len({len(line) for line in lines}) > 1:
        raise ValidationError(wrong)
    return np.array([[float(digit) for digit in line] for line in lines])


def hier_favg(G: int, M: int, E: int = 1, Ge: int = 1, weights: str = "equal", alpha: float | None = None) -> HHFL:
    """Hierarchical FL without overlap: G servers with M clients each; the other options are those of `HHFL`.

    Raises:
        ValidationError: as of `HHFL`.
    """
    return HHFL(coverage=f"ring:{G},{M},0", E=E, Ge=Ge, weights=weights, alpha=alpha)


MAKERS: Mapping[str, Callable[..., HHFL]] = {"hhfl": HHFL, "hier-favg": hier_favg}
