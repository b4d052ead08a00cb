"""Any tree of tiers: each node runs its children as its pattern says, down to the local steps of clients.

Algorithms 1-4 of zhou2026, Appendix A.1, are the trees of two tiers. `validation.reference` is the literal
transcription that this file is tested against.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from hflbounds.catalog.zhou2026 import paper
from hflbounds.topology import Order, Topology, TopologyError
from validation import engine
from validation.engine import Moment, Parameters, Problem, ValidationError
from validation.mixing import at_least_one, same_number
from validation.patterns import execution

SOURCE = paper.at("Appendix A.1, Algorithms 1-4; Sections 2.2 and 3 for order and sampling")
CLIENTS = 2  # what a generator is for: the order of clients; one less for each tier above


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    """A tree of any depth.

    Attributes:
        topology: the tiers with their sizes, top first. Who is drawn, and a random order, is drawn once for every node
            in each global round.
        K: local steps of a client each time it takes part.

    Raises:
        ValidationError: if K is not a count.
    """

    topology: Topology
    K: int = 1

    def __post_init__(self) -> None:
        at_least_one("K", self.K)

    def local_steps_per_round(self) -> int:
        """``eta_eff / eta``."""
        return self.topology.local_steps(self.K)

    def models(self, problem: Problem) -> int:
        """Models of one run that are trained at once."""
        return self.topology.models

    def start(self, problem: Problem, runs: int) -> Parameters:
        """One global model per run.

        Raises:
            ValidationError: if the problem has another number of clients.
        """
        same_number(problem, self.topology.clients, "clients")
        return tuple(part.expand(runs, *part.shape[1:]).clone() for part in problem.start())

    def iterate(self, state: Parameters) -> Parameters:
        """The global models."""
        return state

    def round(self, state: Parameters, problem: Problem, moment: Moment) -> Parameters:
        """Lines 2-14 of Algorithms 1-4."""
        roots = torch.zeros(len(moment.rates), dtype=torch.int64, device=moment.rates.device)
        return _Round(self.topology, self.K, problem, moment).call(0, 0, state, roots)


class _Round:
    """One global round: what is drawn in it, and the recursion over tiers."""

    def __init__(self, topology: Topology, K: int, problem: Problem, moment: Moment) -> None:
        self.tiers, self.K, self.problem, self.moment = topology.tiers, K, problem, moment
        self._draws: dict[int, object] = {}
        self._wide: dict[int, tuple[Tensor, Tensor, Tensor]] = {}
        self._orders: list[Tensor | None] = []
        nodes = 1
        for level, tier in enumerate(self.tiers):
            size = tier.size or tier.taking_part
            drawn = tier.order == "random" or tier.drawn is not None  # else the children keep the fixed order
            purpose = CLIENTS + 1 - len(self.tiers) + level
            self._orders.append(self._drawn(purpose, nodes, size)[:, :, : tier.taking_part] if drawn else None)
            nodes *= size

    def _drawn(self, purpose: int, nodes: int, size: int) -> Tensor:
        """An order for every node of a tier, shape (runs, nodes, size)."""
        return self.moment.orders(
            purpose, lambda made: torch.stack([torch.randperm(size, generator=made) for _ in range(nodes)])
        )

    def call(self, level: int, turn: int, models: Parameters, nodes: Tensor) -> Parameters:
        """Run nodes of one tier that work side by side.

        Args:
            level: 0 for the root, and the number of tiers for clients.
            turn: which of the times that these nodes are called in this round; what is drawn in it depends on it.
            models: one per node.
            nodes: numbers of the nodes within their tier, as many in each run, shape (runs * side by side,).
        """
        if level == len(self.tiers):
            if turn not in self._draws:
                self._draws[turn] = self.problem.draws(self.moment.seeds, (self.moment.index, turn), self.K)
            rates, seed_at, _ = self._of(len(nodes))
            return self.problem.local_steps(models, nodes, seed_at, self._draws[turn], rates, self.K)
        tier, run = self.tiers[level], execution(self.tiers[level].pattern)
        children = self._children(level, nodes)
        for p in range(tier.passes):
            models = run.stacked(models, children, partial(self.call, level + 1, turn * tier.passes + p), engine)
        return models

    def _children(self, level: int, nodes: Tensor) -> Tensor:
        """The children of nodes that take part, in their order, shape (nodes, children)."""
        size = self.tiers[level].size or self.tiers[level].taking_part
        order = self._orders[level]
        if order is None:
            return nodes[:, None] * size + torch.arange(size, device=nodes.device)
        return nodes[:, None] * size + order[self._of(len(nodes))[2], nodes]

    def _of(self, wide: int) -> tuple[Tensor, Tensor, Tensor]:
        """Rates, positions of seeds, and runs, of as many models or nodes."""
        if wide not in self._wide:
            rates, seed_at = self.moment.rates, self.moment.seed_at
            each = (rates, seed_at, torch.arange(len(rates), device=rates.device))
            self._wide[wide] = tuple(part.repeat_interleave(wide // len(rates)) for part in each)
        return self._wide[wide]


def tree(
    *,
    topology: str,
    sizes: str,
    K: int = 1,
    drawn: str | None = None,
    passes: str | None = None,
    order: Order = "fixed",
) -> Tree:
    """Describe a tree by words.

    Args:
        topology: patterns, top first, as in ``ring/star/ring``.
        sizes: children of a node of each tier, as in ``4/5/20``.
        K: local steps of a client.
        drawn: children that take part; None for all.
        passes: of each tier; None for one.
        order: of rings, ``fixed`` or ``random``.

    Raises:
        ValidationError: if the words do not describe a tree.
    """
    try:
        numbers = [None if text is None else [int(one) for one in text.split("/")] for text in (sizes, drawn, passes)]
        given = Topology.parse(topology).sized(numbers[0] or (), drawn=numbers[1], passes=numbers[2], order=order)
    except TopologyError as error:
        raise ValidationError(str(error)) from None
    except ValueError:
        raise ValidationError("sizes, drawn and passes are whole numbers, top first, as in 4/5/20.") from None
    return Tree(topology=given, K=K)


MAKERS = {"tree": tree}
