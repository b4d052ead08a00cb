"""Any tree of tiers: each node runs its children as its pattern says, down to the local steps of clients.

Algorithms 1-4 of zhou2026, Appendix A.1, are the trees of two tiers. `validation.reference` is the literal
transcription that this file is tested against.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hflbounds.catalog.zhou2026 import paper
from hflbounds.topology import Order, Tier, Topology, TopologyError, branches
from validation import engine, patterns
from validation.compiled import Programmable, Stack, runner_of
from validation.compiled.program import Program, Recorder
from validation.engine import Moment, Parameters, Problem, ValidationError
from validation.mixing import at_least_one, same_number
from validation.patterns import execution
from validation.streamed import Streamed, Waiting, at_a_time

SOURCE = paper.at("Appendix A.1, Algorithms 1-4; Sections 2.2 and 3 for order and sampling")
CLIENTS = 2  # what a generator is for: the order of clients; one less for each tier above


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    """A tree of any depth.

    Attributes:
        topology: the tiers with their sizes, top first. Who is drawn, and a random order, is drawn once for every node
            in each global round.
        K: local steps of a client each time it takes part.
        redrawn: whether what is drawn is drawn again in each round; else once for the run.

    Raises:
        ValidationError: if K is not a count.
    """

    topology: Topology
    K: int = 1
    redrawn: bool = True

    def __post_init__(self) -> None:
        at_least_one("K", self.K)

    def local_steps_per_round(self) -> float:
        """``eta_eff / eta``."""
        return self.topology.effective_steps(self.K)

    def models(self, problem: Problem) -> int:
        """Models of one run that are held at once, and the room that its draws take."""
        if runner_of(problem) is None or self.topology.uneven:
            above = Topology(self.topology.tiers[:-1]).models if self.topology.depth > 1 else 1
            below = self.topology.models
            return (
                below
                if below == above
                else above + min(below, at_a_time(problem.numbers_per_model, problem.start()[0]))
            )
        drawn = _program(self.topology).turns * problem.clients * self.K * cast(Programmable, problem).numbers_drawn
        return 1 + -(-drawn // problem.numbers_per_model)  # runs share the registers

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
        drawing = moment if self.redrawn else replace(moment, index=0)
        return _Round(self.topology, self.K, problem, moment, drawing).run(state)


class _Round:
    """One global round: what is drawn in it, and how it is run."""

    def __init__(self, topology: Topology, K: int, problem: Problem, moment: Moment, drawing: Moment) -> None:
        self.tiers, self.K, self.problem, self.moment = topology.tiers, K, problem, moment
        self.topology, self.drawing = topology, drawing
        self._draws: dict[int, Any] = {}
        self._wide: dict[int, tuple[Tensor, Tensor, Tensor]] = {}
        self._orders: list[Tensor | None] = []
        nodes = 1
        if topology.uneven:
            self._orders = [self._uneven_orders(level, tier) for level, tier in enumerate(self.tiers)]
            return
        for level, tier in enumerate(self.tiers):
            size = tier.size or tier.taking_part
            drawn = tier.order == "random" or tier.drawn is not None  # else the children keep the fixed order
            purpose = CLIENTS + 1 - len(self.tiers) + level
            self._orders.append(self._drawn(purpose, nodes, size)[:, :, : tier.taking_part] if drawn else None)
            nodes *= size

    def _drawn(self, purpose: int, nodes: int, size: int) -> Tensor:
        """An order for every node of a tier, shape (runs, nodes, size)."""
        return self.drawing.orders(
            purpose, lambda made: torch.stack([torch.randperm(size, generator=made) for _ in range(nodes)])
        )

    def run(self, models: Parameters) -> Parameters:
        """The global models after it: as one program where the problem runs programs, else tier by tier."""
        if self.topology.uneven:
            return self._run_uneven(models)
        runner = runner_of(self.problem)
        if runner is None:
            roots = torch.zeros(len(models[0]), dtype=torch.int64, device=models[0].device)
            on = Streamed(self._trained, len(models[0]), self.problem.numbers_per_model)
            return on.made(_walk(self.tiers, Waiting(models), roots, self._children, on.trained, on))
        program = _program(self.topology)
        draws = [self._drawn_at(turn) for turn in range(program.turns)]
        moment = self.moment
        return runner(program, Stack(models, self._clients(), moment.seed_at, draws, moment.rates, self.K))

    def _uneven_orders(self, level: int, tier: Tier) -> Tensor | None:
        """An order for every node of a tier, one after the other, shape (runs, children)."""
        if tier.children is None or (tier.order != "random" and tier.drawn is None):
            return None
        sizes = tier.children.sizes.tolist()
        return self.drawing.orders(
            CLIENTS + 1 - len(self.tiers) + level,
            lambda made: torch.cat([torch.randperm(size, generator=made) for size in sizes]),
        )

    def _run_uneven(self, models: Parameters) -> Parameters:
        """A tree whose nodes differ: nodes of all runs with equally many children side by side, means by weights."""
        device, nodes_of = models[0].device, [1]
        for tier in self.tiers:
            assert tier.children is not None, self.topology.id  # noqa: S101 - of trees whose nodes differ
            nodes_of.append(len(tier.children.shares))

        def call(level: int, turn: int, models: Parameters, places: Tensor) -> Parameters:
            """Places count the nodes of a tier run after run."""
            run, node = places // nodes_of[level], places % nodes_of[level]
            if level == len(self.tiers):
                return self._trained(models, [(turn, node)], run)
            tier, order = self.tiers[level], self._orders[level]
            assert tier.children is not None, self.topology.id  # noqa: S101 - as above
            sizes, starts = (torch.tensor(part).to(device) for part in (tier.children.sizes, tier.children.starts))
            counts = torch.tensor(self.topology.weights[level]).to(device)
            for p in range(tier.passes):
                below = partial(call, level + 1, turn * tier.passes + p)
                out = tuple(torch.empty_like(part) for part in models)
                for size in sizes[node].unique().tolist():
                    at = (sizes[node] == size).nonzero()[:, 0]
                    first = starts[node[at]][:, None]
                    children = first + torch.arange(size, device=device)
                    if order is not None:
                        children = first + order.to(device)[run[at][:, None], children][:, : tier.drawn]
                    weights = counts[children] / counts[children].sum(1, keepdim=True)
                    some = tuple(part[at] for part in models)
                    placed = run[at][:, None] * nodes_of[level + 1] + children
                    made = execution(tier.pattern).stacked(some, placed, below, engine, weights)
                    for whole, part in zip(out, made, strict=True):
                        whole[at] = part
                models = out
            return models

        return call(0, 0, models, torch.arange(len(models[0]), device=device))

    def _clients(self) -> Tensor:
        """Clients by their number among those that take part, the same in every run or of shape (runs, numbers)."""
        fixed = _positions(self.topology)
        if all(order is None for order in self._orders):
            return torch.from_numpy(fixed[-1])
        runs = torch.arange(len(self.moment.rates))[:, None]
        nodes = torch.zeros(1, 1, dtype=torch.int64)
        for tier, at, order in zip(self.tiers, map(torch.from_numpy, fixed[:-1]), self._orders, strict=True):
            nodes = nodes * (tier.size or tier.taking_part) + (at if order is None else order[runs, nodes, at])
        return nodes.expand(len(runs), -1)

    def _drawn_at(self, turn: int) -> Any:
        """What is random in the local steps of this turn."""
        if turn not in self._draws:
            self._draws[turn] = self.problem.draws(self.moment.seeds, (self.moment.index, turn), self.K)
        return self._draws[turn]

    def _trained(self, models: Parameters, visits: list[tuple[int, Tensor]], runs: Tensor) -> Parameters:
        """Models after local steps on clients one after the other."""
        rates, seeds = self.moment.rates[runs], self.moment.seed_at[runs]
        told = [(clients, self._drawn_at(turn)) for turn, clients in visits]
        chain = getattr(self.problem, "chain", None)  # of `validation.engine.Chained`; to ask for the class is slow
        if chain is not None:
            out: Parameters = chain(models, told, seeds, rates, self.K)
            return out
        for clients, draws in told:
            models = self.problem.local_steps(models, clients, seeds, draws, rates, self.K)
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


def _walk(
    tiers: Sequence[Tier],
    models: Any,
    roots: Any,
    children: Callable[[int, Any], Any],
    trained: Callable[[int, Any, Any], Any],
    on: patterns.Stack[Any],
) -> Any:
    """Run nodes tier by tier, those of one tier side by side.

    Args:
        tiers: top first.
        models: one per root.
        roots: numbers of the nodes.
        children: those of nodes of a tier, given its number and theirs.
        trained: models after local steps, given the turn, the models and the clients. What is random depends on the
            turn: which of the times it is that these clients are called in this round.
        on: what can be done to models.
    """

    def call(level: int, turn: int, models: Any, nodes: Any) -> Any:
        if level == len(tiers):
            return trained(turn, models, nodes)
        tier, run = tiers[level], execution(tiers[level].pattern)
        below = children(level, nodes)
        for p in range(tier.passes):
            models = run.stacked(models, below, partial(call, level + 1, turn * tier.passes + p), on)
        return models

    return call(0, 0, models, roots)


@lru_cache(maxsize=16)
def _program(topology: Topology) -> Program:
    """A round of a run, with clients numbered among those that take part."""
    recorder, start = Recorder(), np.zeros(1, dtype=np.int64)

    def children(level: int, nodes: Any) -> Any:
        count = topology.tiers[level].taking_part
        return nodes[:, None] * count + np.arange(count)

    return recorder.program(_walk(topology.tiers, start, start, children, recorder.trained, recorder))


@lru_cache(maxsize=16)
def _positions(topology: Topology) -> tuple[NDArray[np.int64], ...]:
    """Of clients by number, among those that take part: their place in each tier, top first; then the numbers."""
    counts = [tier.taking_part for tier in topology.tiers]
    numbers = np.arange(math.prod(counts), dtype=np.int64)
    return (*(np.ascontiguousarray(place) for place in np.unravel_index(numbers, counts)), numbers)


def tree(
    *,
    topology: str,
    sizes: str,
    K: int = 1,
    drawn: str | None = None,
    passes: str | None = None,
    order: Order = "fixed",
    weights: str | None = None,
) -> Tree:
    """Describe a tree by words.

    Args:
        topology: patterns, top first, as in ``ring/star/ring``.
        sizes: children of a node of each tier, as in ``4/5/20``; of every node where they differ, as in ``3/4,7,20``.
        K: local steps of a client.
        drawn: children that take part; None for all.
        passes: of each tier; None for one.
        order: of rings, ``fixed`` or ``random``.
        weights: what each client counts, as in ``400,601,201``; None where all count alike.

    Raises:
        ValidationError: if the words do not describe a tree.
    """
    try:
        numbers = [None if text is None else [int(one) for one in text.split("/")] for text in (drawn, passes)]
        each = [[int(one) for one in tier.split(",")] for tier in sizes.split("/")]
        differ = weights is not None or any(len(tier) > 1 for tier in each)
        mass = None if weights is None else [float(one) for one in weights.split(",")]
        given = Topology.parse(topology).sized(
            [max(tier) for tier in each], drawn=numbers[0], passes=numbers[1], order=order,
            children=branches(_of_every_node(each), mass) if differ else None,
        )  # fmt: skip
    except TopologyError as error:
        raise ValidationError(str(error)) from None
    except ValueError:
        told = "sizes, drawn and passes are whole numbers, top first, as in 4/5/20, and weights are numbers."
        raise ValidationError(told) from None
    return Tree(topology=given, K=K)


def _of_every_node(sizes: Sequence[list[int]]) -> list[list[int]]:
    """The same where one number stands for all nodes of a tier."""
    found, nodes = list[list[int]](), 1
    for tier in sizes:
        found.append(tier if len(tier) > 1 else tier * nodes)
        nodes = sum(found[-1])
    return found


MAKERS = {"tree": tree}
