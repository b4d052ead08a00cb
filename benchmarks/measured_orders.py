"""Measured rounds to a target of every topology, in scenarios drawn over sizes, noise, heterogeneity and horizons.

    python benchmarks/measured_orders.py --seed 0 --scenarios 160
    python benchmarks/measured_orders.py --seed 2 --scenarios 40 --rounds 600 --references 120,300 --longest-chain 200
    python benchmarks/measured_orders.py --seed 1 --scenarios 60 --out planner/data/measured_orders_kept.csv

The first two make planner/data/measured_orders.csv, about 20 and 20 minutes on one core; the third makes what nothing
is chosen or fitted on. Each scenario is run on every family of `validation.ensemble`, problems whose constants are the
scenario's, with every topology at its own best learning rate of one shared grid. Problems are well or badly
conditioned, and start near or far out in flat directions. A target is what Star-Star reaches after some rounds; a
topology that needs more rounds than were run has ``inf``. One row per scenario, family and target is appended as soon
as it is known, so that a run that is killed goes on where the file ends: the same command again.

What the planner predicts for these scenarios is judged by ``benchmarks/predictor_record.py``.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import numpy as np

from hflbounds.topology import two_tier
from validation.ensemble import FAMILIES, ensemble, rounds_to, squared_gradients
from validation.reference import TOPOLOGIES

SIZES = ((10, 10), (5, 20), (20, 5), (3, 8), (4, 25), (12, 25), (2, 10), (8, 4), (30, 4), (3, 3), (6, 50), (2, 40))
STEPS = ((1, 1), (1, 2), (1, 5), (1, 10), (2, 2), (2, 5), (4, 1), (4, 3))  # P, K
RATES = 0.1 * 1.35 ** np.arange(24)  # effective, times L: 0.1 to 100
PROBLEMS = 10
GIVEN = ("G", "M", "P", "K", "S1", "S2", "order", "A", "sigma", "zeta", "delta", "flattest", "tail")
CONDITIONING = ((0.03, 0.0), (0.01, 1.0), (0.003, 1.5))
COLUMNS = ("scenario", "family", *GIVEN, "initial", "rounds", "reference", "target", *TOPOLOGIES)


def scenario(rng: np.random.Generator, longest_chain: int) -> dict[str, object]:
    """One scenario, with L = 1 and at most so many local steps in a round of a ring."""
    while True:
        G, M = SIZES[rng.integers(len(SIZES))]
        P, K = STEPS[rng.integers(len(STEPS))]
        chain = G * M * P * K
        if chain <= longest_chain:
            break
    sigma = float(np.exp(rng.uniform(np.log(0.1), np.log(6))))
    zeta, delta = (
        0.0 if rng.random() < 0.2 else sigma * float(np.exp(rng.uniform(np.log(0.1), np.log(5)))) for _ in range(2)
    )
    kind = rng.choice(["fixed", "random", "partial"], p=[0.6, 0.2, 0.2])
    S1, S2 = G, M
    if kind == "partial":
        S1, S2 = (int(rng.integers(max(1, n // 4), n + 1)) for n in (G, M))
    flattest, tail = CONDITIONING[rng.integers(len(CONDITIONING))]
    return {
        "G": G, "M": M, "P": P, "K": K, "S1": S1, "S2": S2,
        "order": "fixed" if kind == "fixed" else "random",
        "A": float(np.exp(rng.uniform(np.log(0.3), np.log(10)))),
        "sigma": sigma, "zeta": zeta, "delta": delta, "flattest": flattest, "tail": tail,
    }  # fmt: skip


def measured(
    told: dict[str, object], family: str, seed: int, rounds: int, references: tuple[int, ...]
) -> list[dict[str, object]]:
    """One row per target."""
    counts = {name: told[name] for name in ("G", "M", "P", "S1", "S2", "order")}
    shape = {name: told[name] for name in ("G", "M", "A", "sigma", "zeta", "delta", "flattest", "tail")}
    made = ensemble(family, **shape, problems=PROBLEMS, seed=seed)
    initial = float(np.square(made.mean_gradient(made.x0)).sum(-1).mean())
    found = {}
    targets = np.zeros(len(references))
    for topology in TOPOLOGIES:
        squared = squared_gradients(made, two_tier(topology, **counts), RATES, rounds, K=told["K"], seed=seed)
        if topology == "star-star":
            mean = np.cumsum(squared[:-1].mean(-1), axis=0) / np.arange(1, rounds + 1)[:, None]
            targets = np.array([np.nanmin(mean[r - 1]) for r in references])
        found[topology] = rounds_to(squared, targets)[0]
    return [
        {
            "family": family,
            **told,
            "initial": initial,
            "rounds": rounds,
            "reference": r,
            "target": targets[i],
            **{t: found[t][i] for t in TOPOLOGIES},
        }
        for i, r in enumerate(references)
    ]


def main() -> None:
    """Run what the file lacks."""
    here = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description="Measured rounds to a target of every topology.")
    parser.add_argument("--scenarios", type=int, default=160)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=90, help="that are run")
    parser.add_argument("--references", default="6,18,45", help="rounds of Star-Star at which targets are taken")
    parser.add_argument("--longest-chain", type=int, default=1500, help="local steps in a round of a ring")
    parser.add_argument("--out", type=Path, default=here / "planner" / "data" / "measured_orders.csv")
    options = parser.parse_args()
    references = tuple(int(r) for r in options.references.split(","))
    done = set()
    if options.out.exists():
        with options.out.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
            done = {(r["scenario"], r["family"]) for r in rows if r["reference"] == str(max(references))}
    began, total = time.monotonic(), 0
    with options.out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        for number in range(options.scenarios):
            told = scenario(np.random.default_rng([options.seed, number]), options.longest_chain)
            name = f"{options.seed}-{number}"
            for family in FAMILIES:
                if (name, family) in done:
                    continue
                for row in measured(told, family, number, options.rounds, references):
                    short = {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()}
                    writer.writerow({"scenario": name, **short})
                file.flush()
                total += 1
                passed = time.monotonic() - began
                print(f"\rscenario {number + 1} of {options.scenarios}, {passed:.0f} s", end="", file=sys.stderr)
    print(file=sys.stderr)


if __name__ == "__main__":
    main()
