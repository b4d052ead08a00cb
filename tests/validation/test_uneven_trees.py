"""Weighted runs on unequal groups: the engine against the literal reference, and that against trees run by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from plain_uneven import leaves, nested_sizes, run

from hflbounds.topology import Topology, branches, patterns
from validation.algorithms.tree import Tree, tree
from validation.engine import Moment, ValidationError, simulate
from validation.problems.least_squares import least_squares
from validation.reference import tree_round

NODES: list[tuple[Any, tuple[int, ...]]] = [
    ([[5, 1], [2, 2, 7], [3]], (1, 2)),
    ([[5, 1], [2, 2, 7]], (1, 1)),
    ([[[1, 2], [4]], [[3, 3, 3], [1], [5, 1]]], (1, 2, 1)),
    ([3, 1, 1, 9], (1,)),
]
CASES = [
    (node, words, passes)
    for node, passes in NODES
    for words in [
        "/".join(w) for w in np.array(np.meshgrid(*[list(patterns())] * len(passes))).T.reshape(-1, len(passes))
    ]
]
every_tree = pytest.mark.parametrize(("node", "words", "passes"), CASES)


def made(node: Any, words: str, passes: tuple[int, ...], **how: Any) -> Topology:
    children = branches(nested_sizes(node), leaves(node))
    return Topology.parse(words).sized([1] * len(passes), passes=passes, children=children, **how)


def number(node: Any, place: tuple[int, ...]) -> int:
    before = 0
    for child in place:
        before += sum(len(leaves(one)) for one in node[:child])
        node = node[child]
    return before


@every_tree
def test_the_reference_is_the_tree_run_by_hand(node: Any, words: str, passes: tuple[int, ...]) -> None:
    """On losses (h x^2/2 - t x) of each client, by floats against fractions."""
    count = len(leaves(node))
    h, t = [Fraction(3 + i, 17) for i in range(count)], [Fraction(i * i - 5, 3) for i in range(count)]
    eta = Fraction(1, 4)

    def fractions(one: Any) -> Any:
        return [fractions(child) for child in one] if isinstance(one, list) else Fraction(one)

    def local(c: int, x: Fraction) -> Fraction:
        for _ in range(2):
            x = x - eta * (h[c] * x - t[c])
        return x

    expected = run(fractions(node), words.split("/"), passes, Fraction(2), local)
    found = tree_round(
        2.0, made(node, words, passes), 2, 0.25,
        lambda place, moment, k, x: float(h[number(node, place)]) * x - float(t[number(node, place)]),
    )  # fmt: skip
    assert found == pytest.approx(float(expected), rel=1e-13)


def exact(node: Any) -> Any:
    """A problem whose mini-batches have one sample, and its one sample of every client."""
    problem = least_squares(G=1, M=len(leaves(node)), samples=1, batch=1, dim=5, intra=0.7, seed=3)
    return problem, problem.inputs[:, 0], problem.targets[:, 0]


@pytest.mark.parametrize(
    ("node", "words", "passes", "how"),
    [  # every tree in one of the ways, or two
        pytest.param(*case, how, marks=pytest.mark.slow if (i + j) % 2 else ())
        for i, case in enumerate(CASES)
        for j, how in enumerate(({}, {"order": "random"}, {"drawn": True}))
    ],
)
def test_the_engine_is_the_reference(node: Any, words: str, passes: tuple[int, ...], how: dict[str, Any]) -> None:
    drawn = [2] * len(passes) if how.get("drawn") else None
    tree = made(node, words, passes, drawn=None, **({"order": "random"} if how else {}))
    if drawn:
        most = [int(tier.children.sizes.max()) for tier in tree.tiers if tier.children is not None]
        tree = made(node, words, passes, drawn=[min(2, n) for n in most], order="random")
    problem, inputs, targets = exact(node)
    algorithm, rates, seeds = Tree(topology=tree, K=2), [0.05, 0.2, 0.05], [7, 7, 8]
    for run_, (rate, seed) in enumerate(zip(rates, seeds, strict=True)):
        state = algorithm.start(problem, 1)
        x = state[0][0].numpy().copy()
        moments = [
            Moment(r, (seed,), torch.zeros(1, dtype=torch.int64), torch.tensor([rate], dtype=torch.float64))
            for r in range(3)
        ]
        for moment in moments:
            orders = drawn_orders(tree, moment)

            def gradient(place: Any, moment_: Any, k: int, x: Any) -> Any:
                c = number(node, place)
                return inputs[c].numpy() * float(inputs[c].numpy() @ x - float(targets[c]))

            x = tree_round(x, tree, 2, rate, gradient, order=lambda place, _, o=orders: o.get(place))
        for moment in moments:
            state = algorithm.round(state, problem, moment)
        assert np.abs(state[0][0].numpy() - x).max() < 1e-10, run_


def drawn_orders(tree: Topology, moment: Moment) -> dict[tuple[int, ...], list[int]]:
    """The orders of every node of a round, from the documented generators: one stream a tier, node after node."""
    found: dict[tuple[int, ...], list[int]] = {}
    places: list[tuple[int, ...]] = [()]
    for level, tier in enumerate(tree.tiers):
        made_ = moment.generator(moment.seeds[0], 3 - tree.depth + level)
        children = tier.children
        assert children is not None
        below = []
        for place, size in zip(places, children.sizes.tolist(), strict=True):
            order = torch.randperm(size, generator=made_).tolist()
            if tier.order == "random" or tier.drawn is not None:
                found[place] = order
            below += [(*place, c) for c in range(size)]
        places = below
    return found


def test_equal_groups_by_list_run_as_by_their_numbers() -> None:
    ways: tuple[dict[str, Any], ...] = ({}, {"order": "random"}, {"order": "random", "drawn": (2, 3)})
    for i, words in enumerate(("star/ring", "ring/star", "star/star", "ring/ring")):
        how = ways[i % 3]
        plain = Topology.parse(words).sized((3, 4), passes=(1, 2), **how)
        listed = plain.sized((3, 4), children=branches([[3], [4] * 3]), **how)
        problem = least_squares(G=3, M=4, samples=6, batch=2, intra=0.5, inter=0.5)
        traces = [
            simulate(problem, Tree(topology=tree, K=2), [0.05, 0.1], [1, 2], 2, at=[1, 2]) for tree in (plain, listed)
        ]
        for name, values in traces[0].values.items():
            assert torch.allclose(values, traces[1].values[name], rtol=1e-10, atol=0)


def test_a_tree_in_words_is_the_tree_of_its_lists() -> None:
    told = tree(topology="ring/star", sizes="3/2,3,1", weights="5,1,2,2,7,3", passes="1/2", drawn="2/2", order="random")
    meant = made([[5, 1], [2, 2, 7], [3]], "ring/star", (1, 2), drawn=[2, 2], order="random")
    assert told.topology == meant
    assert tree(topology="star/star", sizes="2/3").topology == Topology.parse("star/star").sized((2, 3))


@pytest.mark.parametrize(
    ("sizes", "weights", "match"),
    [
        ("3/2,3", None, "tier 2 needs a size of 1 or more for each of the 3 nodes"),
        ("3/2,3,0", None, "tier 2 needs a size of 1 or more"),
        ("2/1,2", "1,2", "3 clients need as many weights above 0"),
        ("2/1,2", "1,2,-1", "3 clients need as many weights above 0"),
        ("2/1,x", None, "are whole numbers"),
        ("2/1,2", "1,2,x", "weights are numbers"),
    ],
)
def test_words_of_no_tree_are_refused(sizes: str, weights: str | None, match: str) -> None:
    with pytest.raises(ValidationError, match=match):
        tree(topology="star/star", sizes=sizes, weights=weights)
