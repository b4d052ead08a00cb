"""Cycle times by all circuits and by simulation; matchings, trees and mixing by their definitions."""

from __future__ import annotations

from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.network import overlays
from planner.network.hops import Transfers
from planner.network.matcha import matcha, matching_decomposition
from planner.network.overlays import cycle_time
from planner.network.presets import preset
from planner.network.tours import shortest_tour
from planner.network.underlay import Pairs


def random_weights(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, n)) < 0.5, rng.integers(1, 20, (n, n)).astype(float), -np.inf)


def by_all_circuits(weights: np.ndarray) -> float:
    n, best = len(weights), -np.inf
    for size in range(1, n + 1):
        for some in combinations(range(n), size):
            for rest in permutations(some[1:]):
                circuit = (some[0], *rest)
                mean = sum(weights[a, b] for a, b in zip(circuit, (*rest, some[0]), strict=True)) / size
                best = max(best, mean)
    return best


@given(st.integers(1, 5), st.integers(0, 10**6))
def test_the_cycle_time_is_the_largest_mean_of_all_circuits(n: int, seed: int) -> None:
    weights = random_weights(n, seed)
    expected = by_all_circuits(weights)
    found = cycle_time(weights)
    assert found == expected or found == pytest.approx(expected, rel=1e-12)


def test_the_cycle_time_is_what_a_round_takes_in_the_long_run() -> None:
    rng = np.random.default_rng(0)
    weights = np.where(rng.random((9, 9)) < 0.4, rng.random((9, 9)), -np.inf)
    weights[np.arange(9), (np.arange(9) + 1) % 9] = rng.random(9)  # in one piece
    begin = np.zeros(9)
    at_1000 = None
    for step in range(5000):
        begin = (begin[:, None] + weights).max(axis=0)
        at_1000 = begin if step == 999 else at_1000
    assert (begin - at_1000).max() / 4000 == pytest.approx(cycle_time(weights), rel=1e-3)


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_matchings_have_every_link_once_and_are_few(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    links = np.triu(rng.random((n, n)) < rng.random(), 1)
    links |= links.T
    if not links.any():
        return
    found = matching_decomposition(links)
    assert (found.sum(axis=0) == links).all()
    assert (found.sum(axis=1) <= 1).all()  # no two links of a matching meet
    assert (found == np.moveaxis(found, 1, 2)).all()
    assert len(found) <= links.sum(axis=0).max() + 1  # Vizing


@pytest.mark.parametrize("name", ["gaia", *(pytest.param(name, marks=pytest.mark.slow) for name in ("geant", "ebone"))])
def test_matcha_has_the_most_connectivity_that_the_budget_allows(name: str) -> None:
    """On a path of 3 both links are a matching; by symmetry half each. Others by a bound from duality."""
    path = np.zeros((3, 3), dtype=bool)
    path[0, 1] = path[1, 0] = path[1, 2] = path[2, 1] = True
    found = matcha(path, 0.5)
    assert found.chances == pytest.approx([0.5, 0.5], abs=1e-3)
    assert found.connectivity == pytest.approx(0.5, rel=1e-5)  # half of the path's
    network = preset(name)
    found = matcha(overlays.joined(Transfers(network, 1e6), np.arange(len(network.places))), 0.5)
    assert found.chances.sum() == pytest.approx(len(found.matchings) / 2, abs=1e-6)
    assert ((found.chances >= 0) & (found.chances <= 1)).all()
    assert found.connectivity <= found.bound * (1 + 1e-9)
    assert found.connectivity > 0.999 * found.bound


def test_the_mixing_of_matcha_is_that_of_its_draws() -> None:
    rng = np.random.default_rng(0)
    ring = np.roll(np.eye(5, dtype=bool), 1, axis=1)
    found = matcha(ring | ring.T, 0.5)
    laplacians = np.array([np.diag(m.sum(axis=1)) - m for m in found.matchings.astype(float)])
    active = rng.random((20_000, len(laplacians))) < found.chances
    least = np.inf
    for a in np.linspace(0.1, 0.9, 33):  # weights of a link
        drawn = np.eye(5) - a * np.einsum("dk,kij->dij", active, laplacians)
        square = np.einsum("dki,dkj->ij", drawn, drawn) / len(drawn)
        least = min(least, np.linalg.eigvalsh(square - 0.2)[-1])
    assert found.consensus_ratio == pytest.approx(least, rel=0.02)


@given(st.integers(2, 10), st.integers(0, 10**6))
def test_spanning_trees_are_least_and_keep_their_limit(n: int, seed: int) -> None:
    costs = np.random.default_rng(seed).random((n, n))
    costs = costs + costs.T
    tree = overlays.spanning_tree(costs)
    expected = nx.minimum_spanning_tree(nx.from_numpy_array(costs * (1 - np.eye(n)))).size(weight="weight")
    assert (tree * costs).sum() / 2 == pytest.approx(expected, rel=1e-12)
    path = overlays.path_in_cube(tree)
    steps = dict(nx.all_pairs_shortest_path_length(nx.from_numpy_array(tree.astype(int))))
    assert nx.is_connected(nx.from_numpy_array(path.astype(int)))
    assert path.sum() == 2 * (n - 1)
    assert path.sum(axis=0).max() <= 2
    assert all(steps[a][b] <= 3 for a, b in np.argwhere(path).tolist())
    if n > 2:
        limited = overlays.spanning_tree(costs, 2)
        assert limited.sum(axis=0).max() <= 2
        assert nx.is_connected(nx.from_numpy_array(limited.astype(int)))


def test_weights_keep_the_mean_and_rings_mix_as_their_spectrum_says() -> None:
    n = 9
    ring = np.roll(np.eye(n, dtype=bool), 1, axis=1)
    directed = overlays.weights(ring)
    assert np.sort(np.abs(np.linalg.eigvals(directed)))[-2] == pytest.approx(np.cos(np.pi / n), rel=1e-9)
    both = overlays.weights(ring | ring.T)
    assert np.sort(np.abs(np.linalg.eigvalsh(both)))[-2] == pytest.approx((1 + 2 * np.cos(2 * np.pi / n)) / 3, rel=1e-9)
    for matrix in (
        directed,
        both,
        overlays.weights(overlays.spanning_tree(np.add.outer(np.arange(n), np.arange(n)) + 1.0)),
    ):
        assert (matrix >= -1e-15).all()
        assert matrix.sum(axis=0) == pytest.approx(np.ones(n))
        assert matrix.sum(axis=1) == pytest.approx(np.ones(n))
    with pytest.raises(ValueError, match="rings"):
        overlays.weights(np.triu(np.ones((4, 4), dtype=bool), 1))


@settings(max_examples=20)
@given(st.integers(2, 6), st.integers(0, 10**6))
def test_a_ring_takes_what_links_that_carry_one_model_at_a_time_allow(n: int, seed: int) -> None:
    """By the circuit alone a slow uplink counted as the n-th part of its time, with n models on it at once."""
    rng = np.random.default_rng(seed)
    latency, bandwidth = rng.random((n, n)) * (1 - np.eye(n)), np.full((n, n), np.inf)
    up, down = 10.0 ** rng.uniform(5, 7, n), 10.0 ** rng.uniform(5, 7, n)
    places = tuple(map(str, range(n)))
    network = Pairs(name="drawn", places=places, up=up, down=down, latency=latency, bandwidth=bandwidth)
    transfers, nodes, work = Transfers(network, 1e6), np.arange(n), rng.random(n)
    tour = shortest_tour(work[:, None] + transfers.hops(nodes, nodes), seed=0).order
    follows = dict(zip(tour, (*tour[1:], tour[0]), strict=True))
    busy = {i: 1e6 / min(up[i], down[j]) for i, j in follows.items()}
    ready, free, ends = np.zeros(n), np.zeros(n), []
    for _ in range(3000):  # literal: a round begins when one's own work and the model before are there
        done, heard = ready + work, np.empty(n)
        for i, j in follows.items():
            begin = max(done[i], free[i])
            free[i] = begin + busy[i]
            heard[j] = free[i] + latency[i, j]
        ready = np.maximum(done, heard)
        ends.append(ready.max())
    expected = (ends[-1] - ends[999]) / 2000
    assert overlays.ring(transfers, nodes, work).cycle == pytest.approx(expected, rel=5e-3)
