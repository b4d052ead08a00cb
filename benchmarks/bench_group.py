"""What grouping buys, and what it costs: against random groups, groups of similar clients, and the exact optimum.

    python benchmarks/bench_group.py [--json] [--small 60] [--large]

Ratios are of squared inter-group deviations of the same clients. Targets are printed beside them and judged by the
reader; times are of a machine that may be shared. Similar clients are grouped as clustering would: k-means with
groups of one size, clients going to the nearest centre with room, the clearest cases first.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.data import grouping, grouping_rules

Floats = NDArray[np.float64]
Row = dict[str, Any]
SPREADS = (0.1, 1.0)  # Dirichlet concentrations per label


def clients(count: int, labels: int, spread: float, seed: int) -> Floats:
    """Label shares."""
    return np.random.default_rng([seed, count, labels]).dirichlet(np.full(labels, spread), count)


def deviation(points: Floats, group_of: NDArray[np.int64], groups: int) -> float:
    """For groups of one size."""
    means = np.array([points[group_of == g].mean(axis=0) for g in range(groups)])
    return float(((means - points.mean(axis=0)) ** 2).sum(axis=1).mean())


def similar(points: Floats, groups: int, seed: int, rounds: int = 15) -> NDArray[np.int64]:
    """Balanced k-means."""
    rng = np.random.default_rng(seed)
    count = len(points)
    centres = points[rng.choice(count, groups, replace=False)]
    group_of = np.zeros(count, dtype=np.int64)
    for _ in range(rounds):
        distance = ((points[:, None] - centres) ** 2).sum(axis=-1)
        ordered = np.sort(distance, axis=1)
        room = np.full(groups, count // groups)
        for i in np.argsort(ordered[:, 0] - ordered[:, 1]):
            g = int(np.where(room > 0, distance[i], np.inf).argmin())
            group_of[i] = g
            room[g] -= 1
        centres = np.array([points[group_of == g].mean(axis=0) for g in range(groups)])
    return group_of


def exact(points: Floats, groups: int) -> float:
    """The least deviation over all groupings into groups of one size, by enumeration with a bound."""
    count = len(points)
    size = count // groups
    apart = points - points.mean(axis=0)
    best = np.inf

    def rest(left: tuple[int, ...], so_far: float) -> None:
        nonlocal best
        if so_far >= best:
            return
        if not left:
            best = so_far
            return
        for others in itertools.combinations(left[1:], size - 1):
            total = apart[left[0]] + apart[list(others)].sum(axis=0)
            rest(tuple(i for i in left[1:] if i not in others), so_far + float(total @ total) / size / count)

    rest(tuple(range(count)), 0.0)
    return float(best)


def timed(points: Floats, groups: int, seed: int = 0, restarts: int | None = None) -> tuple[float, float]:
    """The deviation found, and seconds."""
    start = time.perf_counter()
    size = len(points) // groups
    problem, _ = grouping_rules.pose(points, np.ones(len(points)), groups, size, size)
    found = grouping.solve(problem, seed, restarts).deviation()
    return found, time.perf_counter() - start


def against_exact(cases: int) -> Row:
    """Many small fleets."""
    ratios, seconds = [], []
    shapes = ((8, 2), (9, 3), (12, 3), (12, 4), (12, 6), (14, 2))
    for k in range(cases):
        count, groups = shapes[k % len(shapes)]
        points = clients(count, (3, 5, 10)[k % 3], SPREADS[k // 3 % 2], k)
        found, took = timed(points, groups, seed=k)
        wanted = exact(points, groups)
        ratios.append(found / wanted if wanted > 1e-15 else 1.0 + (found > 1e-14))
        seconds.append(took)
    return {
        "what": f"exact optimum, {cases} fleets of 8 to 14 clients",
        "worst": max(ratios),
        "mean": float(np.mean(ratios)),
        "target": "worst <= 1.05",
        "seconds": float(np.median(seconds)),
    }


def fleets() -> list[Row]:
    """300 clients."""
    out: list[Row] = []
    for spread in SPREADS:
        points, groups = clients(300, 10, spread, 0), 12
        rng = np.random.default_rng(0)
        blocks = np.repeat(np.arange(groups), 25)
        at_random = float(np.mean([deviation(points, rng.permutation(blocks), groups) for _ in range(50)]))
        alike = float(np.mean([deviation(points, similar(points, groups, seed), groups) for seed in range(5)]))
        found, took = timed(points, groups)
        out.append(
            {
                "what": f"300 clients, 12 groups, 10 labels, Dirichlet {spread}",
                "found": found,
                "random": at_random,
                "random_over_found": at_random / found,
                "similar": alike,
                "similar_over_found": alike / found,
                "seconds": took,
                "target": "below 1 s",
            }
        )
    return out


def large(groups: int) -> Row:
    """100,000 clients, 100 labels."""
    points = clients(100_000, 100, 0.1, 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found, took = timed(points, groups)
    rng = np.random.default_rng(0)
    at_random = deviation(points, rng.permutation(np.repeat(np.arange(groups), 100_000 // groups)), groups)
    return {
        "what": f"100,000 clients, {groups} groups, 100 labels",
        "found": found,
        "random": at_random,
        "random_over_found": at_random / found,
        "seconds": took,
        "MiB_above_the_data": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
        "target": "minutes, bounded memory",
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--small", type=int, default=60, help="fleets that are also solved exactly")
    parser.add_argument("--large", action="store_true", help="100,000 clients too: minutes")
    options = parser.parse_args()
    rows = [against_exact(options.small), *fleets()]
    if options.large:
        rows += [large(1000), large(100)]
    if options.json:
        json.dump(rows, sys.stdout, indent=1)
        return
    for row in rows:
        print(row["what"])
        for name, value in row.items():
            if name != "what":
                print(f"  {name:20} {value if isinstance(value, str) else f'{value:.4g}'}")


if __name__ == "__main__":
    main()
