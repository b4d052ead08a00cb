"""Clients that can be told apart, and trees of them run literally with the draws of the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import torch

from hflbounds.topology import Topology
from validation.algorithms.tree import CLIENTS, Tree
from validation.engine import generator, simulate
from validation.reference import Path, tree_round


def number(place: Path, one: Topology) -> int:
    """Of a node within its tier."""
    found = 0
    for child, tier in zip(place, one.tiers, strict=False):
        found = found * (tier.size or 0) + child
    return found


def turn(moment: Path, one: Topology) -> int:
    found = 0
    for again, tier in zip(moment, one.tiers, strict=False):
        found = found * tier.passes + again
    return found


class Bumps:
    """Clients with different curvature and minimum, and noise that can be told apart: ``a_c tanh(x - b_c) + noise``."""

    def __init__(self, clients: int, dim: int = 3) -> None:
        made = generator(7, clients)
        self.clients, self.numbers_per_model, self.dim = clients, dim, dim
        self.a = 0.5 + torch.rand(clients, dim, generator=made, dtype=torch.float64)
        self.b = torch.randn(clients, dim, generator=made, dtype=torch.float64)

    def start(self) -> tuple[Any, ...]:
        return (torch.full((1, self.dim), 0.25, dtype=torch.float64),)

    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> Any:
        shape = (self.clients, steps, self.dim)
        return torch.stack([torch.randn(shape, generator=generator(s, 99, *time), dtype=torch.float64) for s in seeds])

    def local_steps(self, models: Any, clients: Any, seeds: Any, draws: Any, rates: Any, steps: int) -> Any:
        (x,) = models
        for k in range(steps):
            gradient = self.a[clients] * torch.tanh(x - self.b[clients]) + draws[seeds, clients, k]
            x.sub_(rates[:, None] * gradient)  # in place: a view of another model would be seen
        return (x,)

    def measure(self, models: Any) -> Mapping[str, Any]:
        return {f"x{j}": models[0][:, j] for j in range(self.dim)}


def literal(problem: Any, one: Topology, K: int, rate: float, seed: int, rounds: int) -> Any:
    """The literal recursion with the draws of the engine: one order per node and round, told from seed and tier."""
    x = problem.start()[0][0].clone()
    for r in range(rounds):
        orders, nodes = [], 1
        for level, tier in enumerate(one.tiers):
            made = generator(seed, CLIENTS - (one.depth - 1 - level), r)
            orders.append([torch.randperm(tier.size, generator=made).tolist() for _ in range(nodes)])
            nodes *= tier.size or 0
        noise = [problem.draws([seed], (r, t), K)[0] for t in range(prod(tier.passes for tier in one.tiers))]

        def gradient(place: Path, moment: Path, k: int, x: Any, noise: list[Any] = noise) -> Any:
            c = number(place, one)
            return problem.a[c] * torch.tanh(x - problem.b[c]) + noise[turn(moment, one)][c, k]

        def order(place: Path, moment: Path, orders: list[list[list[int]]] = orders) -> list[int] | None:
            tier = one.tiers[len(place)]
            drawn = tier.order == "random" or tier.drawn is not None
            return orders[len(place)][number(place, one)] if drawn else None

        x = tree_round(x, one, K, rate, gradient, order=order)
    return x


def check_engine(one: Topology, K: int, rounds: int) -> None:
    """Hold every iterate of the engine to the literal recursion, for three runs side by side."""
    problem, rates, seeds = Bumps(one.clients), [0.3, 0.05, 0.3], [4, 9, 9]
    trace = simulate(problem, Tree(topology=one, K=K), rates, seeds, rounds)
    found = torch.stack([trace.values[f"x{j}"][:, 0] for j in range(problem.dim)], 1)
    for run, (rate, seed) in enumerate(zip(rates, seeds, strict=True)):
        wanted = literal(problem, one, K, rate, seed, rounds)
        assert torch.allclose(found[run], wanted, rtol=1e-10, atol=1e-11)
