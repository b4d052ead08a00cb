"""Processor time of ring orders and of placement, as ratios to what else could be done.

    python benchmarks/bench_network.py [--turns 3]

Contestants take turns in one run, and of each the turn with the least processor time counts. A tour of the 87 routers
of ebone stands beside Christofides' of networkx; 10,000 clients in 100 groups stand beside 1,000 in 10.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping

import networkx as nx
import numpy as np

from planner.network.hops import Transfers
from planner.network.placement import best_layout
from planner.network.presets import preset
from planner.network.sites import Sites
from planner.network.tours import shortest_tour
from planner.network.underlay import LATENCY, Cities

UPDATE = 19_269_416  # bytes, as in the published table of overlays


def drawn(groups: int) -> tuple[Sites, Transfers]:
    """Draw groups of 100 clients all over Europe, each behind 20/100 Mbit/s."""
    rng, n = np.random.default_rng(0), 100 * groups
    at = np.stack([rng.uniform(35, 65, n), rng.uniform(-10, 30, n)], axis=1)
    places = tuple(map(str, range(n)))
    network = Cities(
        name="", places=places, up=np.full(n, 2e7), down=np.full(n, 1e8), at=at, bandwidth=1e9, model=LATENCY,
    )  # fmt: skip
    names = tuple(map(str, range(groups)))
    sites = Sites(places, np.arange(n), np.arange(n) // 100, names, np.ones(n), np.full(n, 0.2))
    return sites, Transfers(network, 1e6)


def main() -> None:
    """Print processor seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=3)
    turns = parser.parse_args().turns
    hops = Transfers(preset("ebone"), UPDATE).hops(np.arange(87), np.arange(87))
    graph = nx.from_numpy_array(hops)
    few, many = drawn(10), drawn(100)
    contestants: Mapping[str, Callable[[], object]] = {
        "tour of 87 routers": lambda: shortest_tour(hops),
        "  Christofides, networkx": lambda: nx.approximation.christofides(graph),
        "1,000 clients, 10 groups": lambda: best_layout(*few, ("star", "ring")),
        "10,000 clients, 100 groups": lambda: best_layout(*many, ("star", "ring")),
    }
    least = dict.fromkeys(contestants, float("inf"))
    for _ in range(turns):
        for name, run in contestants.items():
            begun = time.process_time()
            run()
            least[name] = min(least[name], time.process_time() - begun)
    for name, seconds in least.items():
        print(f"{name:28} {seconds:8.3f} s")
    tour, christofides, small, large = least.values()
    print(f"{'tour / Christofides':28} {tour / christofides:8.2f}")
    print(f"{'10,000 / 1,000 clients':28} {large / small:8.2f}")


if __name__ == "__main__":
    main()
