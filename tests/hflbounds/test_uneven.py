"""Rounds of trees whose nodes differ: against the short form, and against trees run by hand in every order."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from plain_uneven import leaves, nested_sizes, run, whole

from hflbounds.errors import DomainError
from hflbounds.tilted import affine_round, coefficients
from hflbounds.topology import Topology, branches

STEP = np.array([0.02, 0.3, 0.9])


def made(node: Any, words: str, passes: tuple[int, ...]) -> Topology:
    children = branches(nested_sizes(node), leaves(node))
    return Topology.parse(words).sized([1] * len(passes), passes=passes, children=children)


def tilts(node: Any, level: int) -> np.ndarray:
    """Unit tilts of a tier by client: columns are independent draws of unit variance, rows clients."""
    clients = len(leaves(node))
    columns: list[np.ndarray] = []

    def visit(one: Any, depth: int, first: int, mass: float) -> float:
        """Add the columns below a node, and return what centring leaves of their variance."""
        if not isinstance(one, list):
            return 0.0
        starts = [first + sum(len(leaves(c)) for c in one[:i]) for i in range(len(one) + 1)]
        if depth < level:
            return sum(visit(c, depth + 1, starts[i], mass * whole(c) / whole(one)) for i, c in enumerate(one))
        share = [whole(c) / whole(one) for c in one]
        for i in range(len(one)):
            column = np.zeros(clients)
            for j in range(len(one)):
                column[starts[j] : starts[j + 1]] = (i == j) - share[i]
            columns.append(column)
        return float(mass * (1 - sum(p * p for p in share)))

    left = visit(node, 0, 0, 1.0)
    return np.array(columns).T / np.sqrt(left) if left > 0 else np.zeros((clients, 1))


def by_hand(node: Any, words: str, passes: tuple[int, ...], K: int, step: float) -> tuple[float, float, list[float]]:
    """The map, unit noise, and unit heterogeneity of every tier, in the mean over orders of every ring."""
    patterns, clients = tuple(words.split("/")), len(leaves(node))
    nodes: dict[tuple[int, int], int] = {}  # rings, by tiers below and first client
    run(node, patterns, passes, 0.0, lambda c, x: x, lambda at, n: range(nodes.setdefault(at, n)))
    keys = list(nodes)
    orders = product(*(permutations(range(nodes[at])) for at in keys))
    maps, noise, gaps, count = 0.0, 0.0, np.zeros(len(patterns)), 0
    loads = [tilts(node, level) for level in range(len(patterns))]
    for chosen in orders:
        of = dict(zip(keys, chosen, strict=True))
        calls = [0]

        def local(c: int, x: Any, calls: list[int] = calls) -> Any:
            for _ in range(K):
                x = (1 - step) * x
                x = x.copy()
                x[1 + c] += 1
                x[1 + clients + calls[0]] += 1
                calls[0] += 1
            return x

        start = np.zeros(1 + clients + 400)
        start[0] = 1
        end = run(node, patterns, passes, start, local, lambda at, n, of=of: of[at])
        maps += end[0]
        noise += float((end[1 + clients :] ** 2).sum())
        gaps += [float(((end[1 : 1 + clients] @ load) ** 2).sum()) for load in loads]
        count += 1
    return maps / count, noise / count, list(gaps / count)


EXACT = [
    ([[5, 1], [2, 2, 7]], "star/star", (1, 2), 2),
    ([[5, 1], [2, 2, 7], [3]], "star/ring", (1, 1), 2),
    ([[5, 1], [2, 2, 7], [3]], "star/ring", (1, 2), 1),
    ([[5, 1], [2, 2, 7], [3]], "ring/star", (1, 2), 2),
    ([[5, 1], [2, 2]], "ring/ring", (1, 1), 2),
    ([[[1, 2], [4]], [[3, 3], [1]]], "star/ring/star", (1, 1, 2), 1),
    ([3, 1, 1, 9], "ring", (1,), 2),
]


@pytest.mark.parametrize(("node", "words", "passes", "K"), EXACT)
def test_a_round_is_that_of_the_tree_run_by_hand(node: Any, words: str, passes: tuple[int, ...], K: int) -> None:
    found = affine_round(made(node, words, passes), K, STEP, "shuffled")
    for i, step in enumerate(STEP.tolist()):
        map_, noise, gaps = by_hand(node, words, passes, K, step)
        assert found.map.factor[i] == pytest.approx(map_, rel=1e-10)
        assert found.noise[i] == pytest.approx(noise, rel=1e-10)
        assert [tier.both[i] for tier in found.tiers] == pytest.approx(gaps, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("words", ["ring/ring", "ring/ring/star"])
def test_rings_of_children_whose_maps_differ_are_near_the_tree_run_by_hand(words: str) -> None:
    node = [[5, 1], [2, 2, 7], [3]] if words == "ring/ring" else [[[1, 2], [4]], [[3, 3, 3]]]
    passes = (1,) * (words.count("/") + 1)
    found = affine_round(made(node, words, passes), 1, np.array([0.001, 0.01, 0.1]), "shuffled")
    for i, (step, near) in enumerate([(0.001, 3e-4), (0.01, 3e-3), (0.1, 0.1)]):
        map_, noise, gaps = by_hand(node, words, passes, 1, step)
        assert found.map.factor[i] == pytest.approx(map_, rel=1e-12)
        assert found.noise[i] == pytest.approx(noise, rel=near)
        assert [tier.both[i] for tier in found.tiers] == pytest.approx(gaps, rel=near)


@pytest.mark.parametrize("words", ["star/star", "star/ring", "ring/star", "ring/ring", "ring/star/ring"])
@pytest.mark.parametrize(("drawn", "order"), [(False, "fixed"), (False, "random"), (True, "random")])
def test_equal_nodes_have_the_round_of_the_short_form(words: str, drawn: bool, order: Any) -> None:
    depth, step = words.count("/") + 1, np.geomspace(1e-9, 1.9, 40)
    sizes, some = (3, 4, 2)[:depth], (2, 3, 1)[:depth] if drawn else None
    short = Topology.parse(words).sized(sizes, passes=(1, 2, 3)[:depth], drawn=some, order=order)
    children = branches([[3], [4] * 3, [2] * 12][:depth])
    listed = short.sized(sizes, drawn=some, children=children)
    one, other = (affine_round(tree, 2, step, "shuffled") for tree in (short, listed))
    assert other.map.log_size == pytest.approx(one.map.log_size, rel=1e-11)
    assert other.noise == pytest.approx(one.noise, rel=1e-11)
    for a, b in zip(one.tiers, other.tiers, strict=True):
        assert b.both == pytest.approx(a.both, rel=1e-9)
        assert np.all(np.abs(b.kept - a.kept) <= 1e-9 * a.kept + 1e-11 * a.both)


def test_what_rings_miscount_stays_however_small_the_learning_rate() -> None:
    told = {"K": 1, "step": np.array([1e-6]), "placement": "shuffled"}
    off = affine_round(made([[9, 1], [1, 1]], "star/ring", (1, 1)), **told)
    right = affine_round(made([[1, 1], [1, 1]], "star/ring", (1, 1)), **told)
    assert off.tiers[1].kept[0] > 1e-2
    assert right.tiers[1].kept[0] < 1e-10


def test_what_is_miscounted_is_the_distance_of_the_shares_that_a_ring_takes() -> None:
    """Groups of 6, 3 and 1: a ring of stars takes a third of each, and order and local steps are nothing at no rate."""
    share = np.array([0.6, 0.3, 0.1])
    tree = made([[1] * 6, [1] * 3, [1]], "ring/star", (1, 1))
    found = affine_round(tree, 1, np.array([1e-7]), "shuffled")
    inside = 3.0  # sum of the weights of a round's gradients: the optimum moves by the offset over so much
    left = ((1 / 3 - share) ** 2).sum() / (1 - (share**2).sum())
    assert found.miscounted[0] / inside**2 == pytest.approx([left], rel=1e-5)
    for words in ("star/star", "star/ring"):
        told = affine_round(made([[1] * 6, [1] * 3, [1]], words, (1, 1)), 1, np.array([1e-7]), "shuffled")
        assert told.miscounted[0] == pytest.approx([0.0], abs=1e-9)


def test_many_kinds_of_groups_are_merged_to_within_a_twentieth() -> None:
    dice = np.random.default_rng(5)
    sizes = dice.integers(1, 90, 120)
    children = branches([[120], sizes], dice.integers(1, 50, int(sizes.sum())))
    for words in ("star/ring", "ring/ring", "star/star", "ring/star"):
        tree = Topology.parse(words).sized((1, 1), children=children)
        merged = affine_round(tree, 1, np.array([1e-4, 1e-3]), "shuffled")
        with pytest.MonkeyPatch.context() as patched:
            from hflbounds import uneven

            patched.setattr(uneven, "MOST", 10_000)
            uneven.families.cache_clear()
            full = affine_round(tree, 1, np.array([1e-4, 1e-3]), "shuffled")
            uneven.families.cache_clear()
        assert merged.map.log_size == pytest.approx(full.map.log_size, rel=0.01)
        assert merged.noise == pytest.approx(full.noise, rel=0.01)
        for a, b in zip(merged.tiers, full.tiers, strict=True):
            assert a.both == pytest.approx(b.both, rel=0.05, abs=1e-25)


def test_the_worst_placement_is_of_equal_nodes() -> None:
    with pytest.raises(DomainError, match="shuffled"):
        affine_round(made([[5, 1], [2]], "star/ring", (1, 1)), 1, 0.1)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ([[5, 1], [2, 2, 7], [3]], "ring/ring"),
        ([[1] * 5, [1], [1, 1]], "ring/ring"),
        ([[[1, 2], [4]], [[3] * 3]], "ring/ring/star"),
    ],
)
@pytest.mark.parametrize(("K", "step"), [(1, 0.1), (1, 0.3), (1, 0.6), (2, 0.5), (2, 0.9)])
def test_rings_of_unequal_children_are_near_the_tree_run_by_hand_at_any_step(
    node: Any, words: str, K: int, step: float
) -> None:
    """Where little is left of a model after a child, the children before the last count next to nothing."""
    passes = (1,) * (words.count("/") + 1)
    found = affine_round(made(node, words, passes), K, np.array([step]), "shuffled")
    map_, noise, gaps = by_hand(node, words, passes, K, step)
    assert found.map.factor[0] == pytest.approx(map_, rel=1e-9)
    assert found.noise[0] == pytest.approx(noise, rel=0.06)
    assert [tier.both[0] for tier in found.tiers] == pytest.approx(gaps, rel=0.25, abs=1e-12)


@pytest.mark.parametrize("words", ["star/star/ring", "ring/star/ring", "star/ring/ring"])
def test_what_is_left_of_a_coordinate_may_be_too_little_for_a_float(words: str) -> None:
    """160 steps at nearly 1 leave less than floats can say; a star of stars that count alike is one star."""
    step = np.array([0.97, 0.999, 1.001, 1.03])
    tree = Topology.parse(words).sized((1, 1, 1), children=branches([[2], [3, 2], [20] * 5]))
    found = affine_round(tree, 8, step, "shuffled")
    table = coefficients(tree, K=8, R=np.array([[1.0], [50.0]]), step=step, placement="shuffled")
    assert np.isfinite(table).all()
    if words == "star/star/ring":
        flat = Topology.parse("star/ring").sized((5, 20))
        one = affine_round(flat, 8, step, "shuffled")
        np.testing.assert_allclose(found.map.log_size, one.map.log_size, rtol=1e-12)
        np.testing.assert_allclose(found.noise, one.noise, rtol=1e-12)
        np.testing.assert_allclose(found.tiers[-1].both, one.tiers[-1].both, rtol=1e-12)
