"""The property of the house: for every declared pattern all parts tell the same story of a tree.

Local steps, chain, transfers, who waits for whom, prediction and execution, each from its own part, are held to
the literal listing of the algorithm, which is run here on exact fractions. A pattern that lacks a part fails by name.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import pytest

from hflbounds.exact import exact_sums
from hflbounds.topology import LinearMap, Tier, Topology, patterns
from planner.cost.patterns import schedules
from planner.cost.round import round_cost
from planner.cost.spec import RoundSpec
from planner.scenario.network import Compute, Link, Network
from validation.patterns import execution
from validation.reference import tree_round

LINK = Link(up=8e6, down=16e6, latency=0.01, sharing="per-client", hop="direct")
RELAYED = Link(up=8e6, down=16e6, latency=0.01, sharing="per-client", hop="relayed")
MODEL = 1e6  # bytes


def random_tree(dice: random.Random, depth: int) -> Topology:
    """Return a tree of any patterns, sizes, draws and passes, with at most 300 local steps of K = 1 in a round."""
    while True:
        tiers = []
        for _ in range(depth):
            size = dice.randint(1, 4)
            drawn = dice.choice([None, dice.randint(1, size)])
            tiers.append(Tier(dice.choice(list(patterns())), size, drawn, dice.choice([1, 1, 2])))
        tree = Topology(tuple(tiers))
        if tree.work(1) <= 300:
            return tree


TREES = [Topology((Tier(name, 3), Tier(other, 2))) for name in patterns() for other in patterns()]
TREES += [random_tree(random.Random(f"{depth} {i}"), depth) for depth in (1, 2, 3, 4) for i in range(8)]
every_tree = pytest.mark.parametrize("tree", TREES, ids=lambda tree: f"{tree.id}-{tree.work(1)}")


def literal(tree: Topology, K: int) -> tuple[dict[int, Fraction], list[dict[int, Fraction]]]:
    """Run a round on sums of gradients: the weights of all steps in the result, and of those before each step."""
    before: list[dict[int, Fraction]] = []

    class Sum(dict[int, Fraction]):
        def __add__(self, other: Any) -> Sum:
            return Sum({i: self.get(i, Fraction(0)) + other.get(i, Fraction(0)) for i in {*self, *other}})

        def __sub__(self, other: Any) -> Sum:
            return self + -1 * other

        def __rmul__(self, number: Any) -> Sum:
            return Sum({i: number * w for i, w in self.items()})

        def __truediv__(self, number: int) -> Sum:
            return Sum({i: w / number for i, w in self.items()})

    def gradient(place: Any, moment: Any, k: int, x: Sum) -> Sum:
        before.append({i: -w for i, w in x.items()})
        return Sum({len(before) - 1: Fraction(1)})

    end = tree_round(Sum(), tree, K, Fraction(1), gradient)
    return {i: -w for i, w in end.items()}, before


def spec(tree: Topology, K: int, links: tuple[Link | None, ...], step: float, model: float = MODEL) -> RoundSpec:
    return RoundSpec(tree, K, Network(links=links), Compute(step_time=step), model)


# ---------------------------------------------------------------- every pattern has every part
@pytest.mark.parametrize("name", patterns())
def test_a_pattern_has_every_part(name: str) -> None:
    assert name in schedules(), f"{name}: no schedule; declare one in planner/cost/patterns"
    assert execution(patterns()[name]).pattern == name
    call = LinearMap(np.array([0.5]), np.log([0.5]))
    for children in (1, 2, 5):
        assert patterns()[name].chain(children) * patterns()[name].side_by_side(children) >= 1
        assert np.isfinite(patterns()[name].compose(call, children).total).all()
        assert patterns()[name].fixed_gap(max(2, children), 3) >= 0


@pytest.mark.parametrize("name", patterns())
def test_one_child_is_the_same_in_every_pattern(name: str) -> None:
    tree = Topology((Tier(name, 1, passes=2),))
    first = tree.same_algorithm()
    assert literal(tree, 2) == literal(first, 2)
    one, other = (round_cost(spec(t, 2, (LINK,), 0.5)) for t in (tree, first))
    assert (one.seconds, one.bytes) == pytest.approx((other.seconds, other.bytes))


# ---------------------------------------------------------------- local steps and chain
@every_tree
@pytest.mark.parametrize("K", [1, 2])
def test_local_steps_and_the_chain(tree: Topology, K: int) -> None:
    end, before = literal(tree, K)
    sums = exact_sums(tree, K)
    assert len(before) == tree.work(K) == sums.N
    assert sum(end.values()) == tree.local_steps(K) == sums.T
    assert set(end.values()) == {Fraction(sums.T, sums.N)}
    assert max(sum(weights.values()) for weights in before) == tree.local_steps(K) - 1


# ---------------------------------------------------------------- who waits for whom
def dependencies(before: list[dict[int, Fraction]]) -> int:
    """Longest chain of steps in which each needs the one before it."""
    longest: list[int] = []
    for weights in before:
        longest.append(1 + max((longest[i] for i, w in weights.items() if w), default=0))
    return max(longest)


@every_tree
@pytest.mark.parametrize("K", [1, 2])
def test_a_round_without_links_lasts_as_long_as_its_longest_chain(tree: Topology, K: int) -> None:
    _, before = literal(tree, K)
    found = round_cost(spec(tree, K, (None,) * tree.depth, 0.25)).seconds
    assert found == pytest.approx(0.25 * dependencies(before), rel=1e-12)


# ---------------------------------------------------------------- transfers
class Counting:
    """The links below one machine: counts traversals, and lets time stand still."""

    def __init__(self, relayed: bool) -> None:
        self.relayed, self.carried = relayed, 0

    def down(self, at: float, then: Callable[[float], None], models: int = 1) -> None:
        self.carried += models
        then(at)

    def up(self, at: float, then: Callable[[float], None]) -> None:
        self.carried += 1
        then(at)

    def hop(self, at: float, then: Callable[[float], None]) -> None:
        self.carried += 2 if self.relayed else 1
        then(at)


def calls_of(tree: Topology) -> Counter[int]:
    """How often the literal listing makes a pass of each tier's nodes."""
    passes: Counter[int] = Counter()

    def order(place: tuple[int, ...], moment: tuple[int, ...]) -> None:
        passes[len(place)] += 1

    tree_round(0.0, tree, 1, 1.0, lambda *_: 0.0, order=order)
    return passes


@every_tree
@pytest.mark.parametrize("link", [LINK, RELAYED], ids=["direct", "relayed"])
def test_transfers_are_those_of_the_schedule_as_often_as_the_listing_makes_a_pass(tree: Topology, link: Link) -> None:
    passes = calls_of(tree)
    expected = []
    for level, tier in enumerate(tree.tiers):
        channel, ended = Counting(link.hop == "relayed"), list[float]()
        children = [lambda at, done: done(at)] * tier.taking_part
        schedules()[tier.pattern.id].play(channel, children, 0.0, ended.append)
        assert len(ended) == 1
        expected.append(passes[level] * channel.carried * MODEL)
    assert round_cost(spec(tree, 1, (link,) * tree.depth, 0.1)).bytes_by_tier == pytest.approx(expected)


# ---------------------------------------------------------------- prediction
@every_tree
@pytest.mark.parametrize("step", [0.1, 0.6, 1.5])
def test_composed_maps_are_what_the_listing_does_to_a_deviation(tree: Topology, step: float) -> None:
    K = 2
    found = LinearMap(np.array([1 - step]), np.log(np.abs([1 - step]))).repeated(K)
    for tier in reversed(tree.tiers):
        found = tier.pattern.compose(found.map, tier.taking_part).map.repeated(tier.passes)
    expected = tree_round(1.0, tree, K, step, lambda place, moment, k, x: x)
    assert found.map.factor == pytest.approx(expected, rel=1e-10, abs=1e-300)


# ---------------------------------------------------------------- execution
@every_tree
def test_the_engine_does_what_the_listing_says(tree: Topology) -> None:
    """Clients with their own linear gradients, in the stacked execution over numpy rows and in the listing."""
    if any(tier.sampled for tier in tree.tiers):
        tree = Topology(tuple(Tier(tier.pattern, tier.taking_part, None, tier.passes) for tier in tree.tiers))
    dice = np.random.default_rng(tree.work(1))
    slopes, tilts = dice.uniform(0.2, 0.9, tree.clients), dice.normal(size=tree.clients)
    sizes = [tier.taking_part for tier in tree.tiers]

    class Rows:
        @staticmethod
        def spread(models: Any, copies: int) -> Any:
            return np.repeat(models, copies)

        @staticmethod
        def average(models: Any, members: int) -> Any:
            return models.reshape(-1, members).mean(1)

    def call(level: int, models: Any, nodes: Any) -> Any:
        if level == tree.depth:
            return models - 0.3 * (slopes[nodes] * models - tilts[nodes])
        tier = tree.tiers[level]
        children = nodes[:, None] * sizes[level] + np.arange(sizes[level])
        for _ in range(tier.passes):
            models = execution(tier.pattern).stacked(models, children, lambda m, n: call(level + 1, m, n), Rows())  # type: ignore[arg-type]
        return models

    def gradient(place: tuple[int, ...], moment: Any, k: int, x: float) -> float:
        client = 0
        for child, size in zip(place, sizes, strict=True):
            client = client * size + child
        return float(slopes[client] * x - tilts[client])

    found = call(0, np.array([2.0]), np.zeros(1, dtype=int))
    assert found[0] == pytest.approx(tree_round(2.0, tree, 1, 0.3, gradient), rel=1e-10)


def test_the_trees_are_not_all_alike() -> None:
    assert {tree.depth for tree in TREES} == {1, 2, 3, 4}
    assert all(any(name == tier.pattern.id for tree in TREES for tier in tree.tiers) for name in patterns())
    assert sum(any(tier.sampled for tier in tree.tiers) for tree in TREES) >= 8
    assert all(prod(tier.taking_part for tier in tree.tiers) == tree.taking_part for tree in TREES)
    assert len({tree.work(1) for tree in TREES}) > 10
    assert all(above >= below for tree in TREES for above, below in pairwise(tree.chains(1)))
