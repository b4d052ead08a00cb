"""Tours against all permutations, bounds, and tours that others find."""

from __future__ import annotations

from itertools import pairwise, permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.network import tours
from planner.network.hops import Transfers
from planner.network.presets import preset
from planner.network.tours import one_tree_bound, shortest_tour, tour_length


def by_all_orders(costs: np.ndarray) -> float:
    n = len(costs)
    return min(sum(costs[a, b] for a, b in zip((0, *o), (*o, 0), strict=True)) for o in permutations(range(1, n)))


@given(st.integers(1, 7), st.integers(0, 10**6), st.booleans())
def test_few_places_are_solved_exactly_also_where_ways_differ(n: int, seed: int, symmetric: bool) -> None:
    costs = np.random.default_rng(seed).random((n, n))
    costs = (costs + costs.T if symmetric else costs) * (1 - np.eye(n))
    tour = shortest_tour(costs)
    assert sorted(tour.order) == list(range(n))
    assert tour.order[0] == 0
    assert tour.length == pytest.approx(by_all_orders(costs) if n > 1 else 0.0, rel=1e-12)
    assert tour.gap <= 1e-9


@pytest.mark.parametrize("n", [8, 10, 12])
@pytest.mark.parametrize("seed", range(3))
def test_the_search_finds_what_the_dynamic_programme_proves(n: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    at = np.random.default_rng(seed).random((n, 2))
    apart = np.linalg.norm(at[:, None] - at[None], axis=-1)
    ways = np.random.default_rng(seed).random((n, n))  # of which none has to do with another, nor with the way back
    exact = [shortest_tour(costs).length for costs in (apart, ways)]
    monkeypatch.setattr(tours, "EXACT", 3)
    found = [shortest_tour(costs) for costs in (apart, ways)]
    assert found[0].length == pytest.approx(exact[0], rel=1e-9)
    assert exact[1] * (1 - 1e-9) <= found[1].length <= 1.1 * exact[1]
    assert all(one.bound <= length * (1 + 1e-12) for one, length in zip(found, exact, strict=True))


def test_twelve_places_on_a_circle_are_visited_in_turn() -> None:
    angle = 2 * np.pi * np.arange(12) / 12
    at = np.stack([np.cos(angle), np.sin(angle)], axis=1)[(order := np.random.default_rng(1).permutation(12))]
    tour = shortest_tour(np.linalg.norm(at[:, None] - at[None], axis=-1))
    assert tour.length == pytest.approx(12 * 2 * np.sin(np.pi / 12), rel=1e-12)
    steps = np.diff(order[list(tour.order)]) % 12
    assert set(steps.tolist()) in ({1}, {11})


@given(st.integers(4, 7), st.integers(0, 10**6))
def test_the_bound_is_below_every_tour(n: int, seed: int) -> None:
    costs = np.random.default_rng(seed).random((n, n))
    costs = costs + costs.T
    best = by_all_orders(costs)
    assert one_tree_bound(costs, best) <= best * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_moves_change_a_tour_by_what_they_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 15))
    costs, order = rng.random((n, n)), rng.permutation(n)
    improved = tours._improved(costs, order)
    assert sorted(improved.tolist()) == list(range(n))
    assert tour_length(costs, improved) < tour_length(costs, order)
    # Nothing that one reversal or one insertion can do is left: tried one by one.
    length = tour_length(costs, improved)
    for i in range(1, n):
        for j in range(i + 1, n + 1):
            turned = np.concatenate([improved[:i], improved[i:j][::-1], improved[j:]])
            assert tour_length(costs, turned) >= length - 1e-9
            if j - i <= 3:
                rest, segment = np.delete(improved, np.s_[i:j]), improved[i:j]
                for k in range(1, len(rest) + 1):
                    assert tour_length(costs, np.concatenate([rest[:k], segment, rest[k:]])) >= length - 1e-9


@pytest.mark.slow
def test_eighty_seven_routers_are_within_two_percent_of_the_best_known() -> None:
    hops = Transfers(preset("ebone"), 19_269_416).hops(np.arange(87), np.arange(87))
    tour = shortest_tour(hops)
    longer = shortest_tour(hops, kicks=1000, climbs=500)
    assert tour.length <= 1.02 * longer.length
    assert longer.bound <= longer.length
    christofides = nx.approximation.christofides(nx.from_numpy_array(hops))
    assert tour.length < sum(hops[a, b] for a, b in pairwise(christofides))
    assert tour.gap < 0.05
