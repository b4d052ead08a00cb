"""A fleet of 400 clients on three tiers, in the engine and literally, in all eight topologies."""

from __future__ import annotations

import pytest

from hflbounds.topology import Topology, all_topologies

pytest.importorskip("torch")

from literal_trees import check_engine

SIZES, PASSES = (4, 5, 20), (1, 1, 2)  # regions, edge servers, phones; a server goes through its phones twice


@pytest.mark.parametrize("topology", all_topologies(3).values(), ids=str)
def test_the_engine_runs_the_fleet_literally(topology: Topology) -> None:
    check_engine(topology.sized(SIZES, passes=PASSES), K=1, rounds=2)


@pytest.mark.parametrize("topology", all_topologies(3).values(), ids=str)
def test_so_it_does_where_some_are_drawn_in_random_order(topology: Topology) -> None:
    tree = topology.sized(SIZES, drawn=(None, 3, 4), passes=PASSES, order="random")
    check_engine(tree, K=2, rounds=3)
