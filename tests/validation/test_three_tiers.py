"""A fleet of 400 clients on three tiers, in the engine and literally, in all eight topologies."""

from __future__ import annotations

from pathlib import Path

import pytest

from hflbounds.topology import Topology, all_topologies, tier_symbols

pytest.importorskip("torch")

from literal_trees import check_engine

from planner.scenario.resolve import load

EXAMPLE = load(Path(__file__).parents[2] / "examples" / "regions.toml")
SIZES = tuple(int(EXAMPLE.number(tier.size)) for tier in tier_symbols(3))
PASSES = tuple(int(EXAMPLE.number(tier.passes)) if tier.passes else 1 for tier in tier_symbols(3))


def test_the_example_is_of_400_phones_that_a_server_goes_through_twice() -> None:
    assert (SIZES, PASSES, EXAMPLE.names) == ((4, 5, 20), (1, 1, 2), ("region", "edge server", "phone"))


@pytest.mark.parametrize(
    "topology",
    [  # every second is each pattern on each tier
        pytest.param(topology, id=str(topology), marks=pytest.mark.slow if name.count("ring") % 2 else ())
        for name, topology in all_topologies(3).items()
    ],
)
def test_the_engine_runs_the_fleet_literally(topology: Topology) -> None:
    check_engine(topology.sized(SIZES, passes=PASSES), K=1, rounds=2)


@pytest.mark.parametrize("topology", all_topologies(3).values(), ids=str)
def test_so_it_does_where_some_are_drawn_in_random_order(topology: Topology) -> None:
    tree = topology.sized(SIZES, drawn=(None, 3, 4), passes=PASSES, order="random")
    check_engine(tree, K=2, rounds=3)
