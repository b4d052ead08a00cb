"""Children node by node: shares, weights, what a round counts; against trees run as nested lists."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from plain_uneven import chained, leaves, nested_sizes, run, whole

from hflbounds.topology import Children, Topology, TopologyError, branches, patterns

TREES: list[tuple[Any, tuple[int, ...]]] = [
    ([[5, 1], [2, 2, 7]], (1, 1)),
    ([[5, 1], [2, 2, 7], [3]], (1, 3)),
    ([[[1, 2], [4]], [[3, 3, 3], [1], [5, 1]]], (1, 2, 1)),
    ([3, 1, 1, 9], (1,)),
]


def made(node: Any, words: tuple[str, ...], passes: tuple[int, ...]) -> Topology:
    children = branches(nested_sizes(node), leaves(node))
    return Topology.parse("/".join(words)).sized([1] * len(words), passes=passes, children=children)


def every(depth: int) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [()]
    for _ in range(depth):
        found = [(*words, word) for words in found for word in patterns()]
    return found


CASES = [(node, words, passes) for node, passes in TREES for words in every(len(passes))]


@pytest.mark.parametrize(("node", "words", "passes"), CASES)
def test_a_round_counts_each_client_as_the_tree_run_by_hand_does(
    node: Any, words: tuple[str, ...], passes: tuple[int, ...]
) -> None:
    exact = [Fraction(one) for one in leaves(node)]

    def fractions(one: Any) -> Any:
        return [fractions(child) for child in one] if isinstance(one, list) else Fraction(one)

    tree, K = made(node, words, passes), 3
    added = [
        run(fractions(node), words, passes, Fraction(0), lambda c, x, of=of: x + K * (c == of))
        for of in range(len(exact))
    ]
    assert tree.effective_steps(K) == pytest.approx(float(sum(added)), rel=1e-13)
    assert tree.effective_steps(1) == pytest.approx(float(chained(fractions(node), words, passes)), rel=1e-13)
    assert tree.counted() == pytest.approx([float(one / sum(added)) for one in added], rel=1e-12)
    assert tree.meant() == pytest.approx([float(one / sum(exact)) for one in exact], rel=1e-13)
    assert tree.clients == len(exact)


def test_stars_count_what_the_loss_counts_and_rings_do_where_their_children_count_alike() -> None:
    node = [[5, 1], [2, 2, 7]]
    assert made(node, ("star", "star"), (1, 2)).counted() == pytest.approx([5 / 17, 1 / 17, 2 / 17, 2 / 17, 7 / 17])
    alike = [[4, 4], [4, 4, 4]]
    for words in (("star", "ring"), ("ring", "ring"), ("star", "star")):
        assert made(alike, words, (1, 1)).counted() == pytest.approx([0.2] * 5)
    assert made(alike, ("ring", "star"), (1, 1)).counted() == pytest.approx([1 / 4] * 2 + [1 / 6] * 3)


def test_equal_nodes_are_alike_and_have_the_numbers_of_the_short_form() -> None:
    short = Topology.parse("ring/star/ring").sized((3, 4, 2), passes=(1, 2, 3))
    listed = short.sized((1, 1, 1), children=branches([[3], [4] * 3, [2] * 12]))
    assert all(tier.children is not None and tier.children.alike for tier in listed.tiers)
    assert listed.effective_steps(5) == short.local_steps(5)
    assert (listed.clients, listed.work(5), listed.models) == (short.clients, short.work(5), short.models)


def test_children_compare_by_their_contents() -> None:
    one, other = branches([[2], [1, 3]], [1, 2, 3, 4]), branches([[2], [1, 3]], np.array([1, 2, 3, 4]))
    assert one == other and hash(one) == hash(other)
    assert one != branches([[2], [1, 3]], [1, 2, 3, 5])
    assert made([[5, 1], [2]], ("star", "ring"), (1, 1)) == made([[5, 1], [2]], ("star", "ring"), (1, 1))
    assert list(one[1].by_size())[1][1].tolist() == [[1, 2, 3]]
    assert whole([[5, 1], [2]]) == 8


@pytest.mark.parametrize(
    ("sizes", "weights", "said"),
    [
        ([[2], [1]], None, "tier 2"),
        ([[2], [1, 0]], None, "1 or more"),
        ([[2]], [1.0], "2 clients"),
        ([[2]], [1.0, 0.0], "above 0"),
        ([[2]], [1.0, float("nan")], "above 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(sizes: Any, weights: Any, said: str) -> None:
    with pytest.raises(TopologyError, match=said):
        branches(sizes, weights)


def test_trees_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TopologyError, match="do not add up"):
        Children(np.array([2]), np.array([0.5, 0.6]))
    tree = Topology.parse("star/ring")
    with pytest.raises(TopologyError, match="nodes above each tier"):
        tree.sized((2, 2), children=[*branches([[2]]), *branches([[3]])])
    with pytest.raises(TopologyError, match="nodes differ"):
        made([[5, 1], [2]], ("star", "ring"), (1, 1)).local_steps(2)
