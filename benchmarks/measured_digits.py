"""Rounds to a target of every topology on real digits: the family of problems that no predictor was made for.

    python benchmarks/measured_digits.py --curves digits.jsonl

Logistic regression and a perceptron 64-64-10 on scikit-learn's digits, 100 clients in two divisions, split in the four
schemes of zhou2026, Appendix B.1. Every topology runs at every rate of one shared grid, four seeds each, 80 rounds.
Raw curves go to ``--curves``, one JSON line per topology, so that a run that is killed goes on there; about 25 minutes
on one core. From them ``planner/data/measured_digits.csv``: the rounds, at the best rate, until the mean over seeds is
where Star-Star is after 6, 17 and 45 rounds, in the training loss, the test error and, for logistic regression, the
mean squared gradient over the rounds.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from validation.engine import simulate
from validation.experiment import make_algorithm, make_problem, part
from validation.reference import TOPOLOGIES

MODELS = {"digits-logistic": 0.05 * 1.6 ** np.arange(15), "digits-mlp": 0.2 * 1.6 ** np.arange(15)}  # and their rates
DIVISIONS = ((10, 10), (4, 25))
SCHEMES = ("iid", "intra", "inter", "both")
P, K, ROUNDS, SEEDS = 1, 2, 80, (0, 1, 2, 3)
AT = sorted({round(float(x)) for x in np.geomspace(1, ROUNDS, 24)})
REFERENCES = (6, 17, 45)


def curves(model: str, G: int, M: int, scheme: str, topology: str) -> dict[str, Any]:
    """Means over seeds of what is measured, by name: shape (rates, moments)."""
    rates = MODELS[model]
    algorithm = make_algorithm(part("two-tier", topology=topology, G=G, M=M, P=P, K=K))
    chain = algorithm.local_steps_per_round()
    trace = simulate(
        make_problem(part(model, G=G, M=M, partitioned=scheme, seed=1)),
        algorithm,
        [float(rate / chain) for rate in rates for _ in SEEDS],
        [seed for _ in rates for seed in SEEDS],
        ROUNDS,
        at=AT,
        every_round=model == "digits-logistic",
    )
    named = dict(trace.values) | {f"mean_{name}": value for name, value in trace.averages.items()}
    return {name: value.reshape(len(rates), len(SEEDS), -1).mean(1).tolist() for name, value in named.items()}


def rounds_to(curve: np.ndarray, target: float) -> float:
    """The first round, between moments in logarithms, at which any rate is at a target; infinite if none is."""
    found = math.inf
    for values in curve:
        below = np.flatnonzero(values <= target)
        if not len(below):
            continue
        at = int(below[0])
        if at == 0:
            return float(AT[0])
        share = (values[at - 1] - target) / (values[at - 1] - values[at])
        found = min(found, math.exp(math.log(AT[at - 1]) + share * math.log(AT[at] / AT[at - 1])))
    return found


def table(known: dict[tuple[object, ...], dict[str, Any]]) -> Iterator[dict[str, object]]:
    """One row per model, division, scheme, quantity and target."""
    for model in MODELS:
        for G, M in DIVISIONS:
            for scheme in SCHEMES:
                found = {t: known[model, G, M, scheme, t] for t in TOPOLOGIES}
                for quantity in ("mean_gradient", "loss", "error"):
                    if quantity not in found["star-star"]:
                        continue
                    measured = {t: np.array(found[t][quantity], dtype=float) for t in TOPOLOGIES}
                    best = np.nanmin(measured["star-star"], axis=0)
                    for reference in REFERENCES:
                        at = min(range(len(AT)), key=lambda i: abs(AT[i] - reference))
                        rounds = {t: f"{rounds_to(measured[t], best[at]):.5g}" for t in TOPOLOGIES}
                        yield {
                            "model": model, "G": G, "M": M, "P": P, "K": K, "scheme": scheme, "quantity": quantity,
                            "reference": AT[at], "target": f"{best[at]:.5g}", "rounds": ROUNDS, **rounds,
                        }  # fmt: skip


def main() -> None:
    """Run what the curves lack, and write the table."""
    here = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description="Rounds to a target of every topology on digits.")
    parser.add_argument("--curves", type=Path, required=True, help="file of the raw curves")
    parser.add_argument("--out", type=Path, default=here / "planner" / "data" / "measured_digits.csv")
    options = parser.parse_args()
    known: dict[tuple[object, ...], dict[str, Any]] = {}
    if options.curves.exists():
        for line in options.curves.read_text(encoding="utf-8").splitlines():
            read = json.loads(line)
            known[read["model"], read["G"], read["M"], read["scheme"], read["topology"]] = read
    todo = [
        (model, G, M, scheme, t) for model in MODELS for G, M in DIVISIONS for scheme in SCHEMES for t in TOPOLOGIES
    ]
    began = time.monotonic()
    with options.curves.open("a", encoding="utf-8") as file:
        for number, key in enumerate(todo, 1):
            if key not in known:
                names = dict(zip(("model", "G", "M", "scheme", "topology"), key, strict=True))
                known[key] = names | curves(*key)
                file.write(json.dumps(known[key]).replace("Infinity", "1e999") + "\n")
                file.flush()
            sys.stderr.write(f"\r{number} of {len(todo)}, {time.monotonic() - began:.0f} s")
    sys.stderr.write("\n")
    with options.out.open("w", encoding="utf-8", newline="") as file:
        rows = list(table(known))
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
