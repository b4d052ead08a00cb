"""Star-Star, Star-Ring, Ring-Star and Ring-Ring: Algorithms 1-4 of zhou2026, Appendix A.1, and their sampling.

`validation.reference` is the literal transcription that this file is tested against.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from hflbounds.catalog.zhou2026 import paper
from validation.engine import Moment, Parameters, Problem, ValidationError, average, spread
from validation.reference import Topology

SOURCE = paper.at("Appendix A.1, Algorithms 1-4; Sections 2.2 and 3 for order and sampling")
GROUPS, CLIENTS = 1, 2  # what a generator is for


@dataclass(frozen=True, kw_only=True, slots=True)
class TwoTier:
    """One hierarchy, in the letters of the paper.

    Attributes:
        topology: top tier first.
        G: groups.
        M: clients in each group.
        P: group rounds in a global round.
        K: local steps of a client in a group round.
        S1: groups drawn in each global round; None for all.
        S2: clients drawn of each of them; None for all.
        order: of rings, ``fixed`` or ``random``: drawn afresh each global round. Sampling draws its own order.

    Raises:
        ValidationError: if a count is out of range.
    """

    topology: Topology
    G: int
    M: int
    P: int = 1
    K: int = 1
    S1: int | None = None
    S2: int | None = None
    order: str = "fixed"

    def __post_init__(self) -> None:
        for name, number in (("G", self.G), ("M", self.M), ("P", self.P), ("K", self.K)):
            if number < 1:
                raise ValidationError(f"{name} = {number} is not a count: give at least 1.")
        for name, part, whole in (("S1", self.S1, self.G), ("S2", self.S2, self.M)):
            if part is not None and not 1 <= part <= whole:
                raise ValidationError(f"{name} = {part} is not between 1 and {whole}.")
        if self.order not in ("fixed", "random"):
            raise ValidationError(f"order = {self.order!r} is neither 'fixed' nor 'random'.")

    @property
    def groups(self) -> int:
        """Groups that take part in a round."""
        return self.S1 or self.G

    @property
    def members(self) -> int:
        """Clients of each of them that take part."""
        return self.S2 or self.M

    def local_steps_per_round(self) -> int:
        """``eta_eff / eta``."""
        top = self.groups if self.topology.startswith("ring") else 1
        low = self.members if self.topology.endswith("ring") else 1
        return top * self.P * low * self.K

    def models(self, problem: Problem) -> int:
        """Models of one run that are trained at once."""
        top = 1 if self.topology.startswith("ring") else self.groups
        return top * (1 if self.topology.endswith("ring") else self.members)

    def start(self, problem: Problem, runs: int) -> Parameters:
        """One global model per run.

        Raises:
            ValidationError: if the problem has another number of clients.
        """
        if problem.clients != self.G * self.M:
            raise ValidationError(f"the problem has {problem.clients} clients, and G M = {self.G * self.M}.")
        return tuple(part.expand(runs, *part.shape[1:]).clone() for part in problem.start())

    def iterate(self, state: Parameters) -> Parameters:
        """The global models."""
        return state

    def round(self, state: Parameters, problem: Problem, moment: Moment) -> Parameters:
        """Lines 2-14 of Algorithms 1-4."""
        clients = self._clients(moment)  # (runs, groups, members)
        draws = [problem.draws(moment.seeds, (moment.index, p), self.K) for p in range(self.P)]
        if self.topology.startswith("ring"):
            for g in range(self.groups):
                state = self._group_rounds(state, problem, moment, draws, clients[:, g : g + 1])
            return state
        return average(self._group_rounds(spread(state, self.groups), problem, moment, draws, clients), self.groups)

    def _group_rounds(
        self, models: Parameters, problem: Problem, moment: Moment, draws: list[object], clients: Tensor
    ) -> Parameters:
        """P rounds of groups that work side by side: ``clients`` has the shape (runs, groups, members)."""
        _, side, members = clients.shape
        ring = self.topology.endswith("ring")
        wide = side if ring else side * members
        rates, seed_at = moment.rates.repeat_interleave(wide), moment.seed_at.repeat_interleave(wide)
        for drawn in draws:
            if ring:
                for m in range(members):
                    turn = clients[:, :, m].reshape(-1)
                    models = problem.local_steps(models, turn, seed_at, drawn, rates, self.K)
            else:
                models = spread(models, members)
                models = problem.local_steps(models, clients.reshape(-1), seed_at, drawn, rates, self.K)
                models = average(models, members)
        return models

    def _clients(self, moment: Moment) -> Tensor:
        """Who takes part, in which order, as numbers of clients of shape (runs, groups, members)."""
        device = moment.rates.device
        runs = len(moment.rates)
        drawn = self.order == "random" or self.S1 is not None or self.S2 is not None
        if not drawn:
            every = torch.arange(self.G * self.M, device=device).view(1, self.G, self.M)
            return every.expand(runs, -1, -1)
        groups = moment.orders(GROUPS, lambda g: torch.randperm(self.G, generator=g))[:, : self.groups]
        orders = moment.orders(
            CLIENTS, lambda g: torch.stack([torch.randperm(self.M, generator=g) for _ in range(self.G)])
        )
        if self.order == "fixed":  # only what is drawn is drawn; who is drawn keeps the fixed order where all take part
            groups = groups if self.S1 is not None else torch.arange(self.G, device=device).expand(runs, -1)
            orders = orders if self.S2 is not None else torch.arange(self.M, device=device).expand(runs, self.G, -1)
        chosen = torch.gather(orders, 1, groups[:, :, None].expand(-1, -1, self.M))[:, :, : self.members]
        return groups[:, :, None] * self.M + chosen


MAKERS = {"two-tier": TwoTier}
