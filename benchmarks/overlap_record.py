"""What overlap buys in runs, against what the planner's bound says of it.

    python benchmarks/overlap_record.py --out planner/data/overlap_record.csv

The setting is that of the claims about overlap (`validation.claims.hhfl_setting`): convex losses with exact constants,
57 clients, three servers, 500 local steps with falling rates, the best for each coverage. A row has the loss above its
minimum without overlap over that with it (`gain`, with the ends of its 95 % interval over paired seeds), and the
planner's gain in rounds at the same constants (`bound`). Rows of the coverage `EVERY` compare HFL with HFL that goes to
the cloud after every edge round, after as many local steps. Rows that the file has already are kept: a run that is
killed goes on where the file ends. Needs torch.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from planner.data.coverage import read_layout
from planner.families.hhfl.calibration import EVERY
from planner.families.hhfl.model import Gaps, Schedules, Task, drift, gains, modes
from validation.claims.hhfl_setting import APART, PAPERS, problem, scores
from validation.experiment import measured
from validation.statistics import paired_ratio

COLUMNS = ("coverage", "E", "Ge", "zeta", "delta", "gain", "low", "high", "bound")  # deviations over sigma
GAPS = [(zeta, delta) for zeta in (0.0, 1.0) for delta in (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)]
ROUNDS = [(2, 5), (10, 5), (5, 2), (5, 10), (5, 20), (20, 2)]
CELLS = [
    *((PAPERS, 5, 5, *gaps) for gaps in GAPS),
    *((PAPERS, 5, 5, 3.0, delta) for delta in (0.0, 0.3, 1.0, 3.0)),
    *((PAPERS, E, Ge, 0.0, delta) for E, Ge in ROUNDS for delta in (0.0, 0.3, 1.0, 3.0)),
    *((f"ring:3,19,{shared}", 5, 5, 0.0, delta) for shared in (2, 10, 19) for delta in (0.3, 1.0, 3.0)),
    *((EVERY, 5, 5, zeta, delta) for zeta in (0.0, 1.0, 3.0) for delta in (0.0, 0.3, 1.0, 3.0, 10.0)),
    *((EVERY, E, Ge, 0.0, delta) for E, Ge in ROUNDS for delta in (0.0, 0.3, 1.0, 3.0)),
]
STEPS = 500


def run(plan: Generator[Sequence[Any], Any, Any]) -> Any:
    """Drive a plan of cells in this process."""
    try:
        cells = next(plan)
        while True:
            cells = plan.send({cell: measured(cell)[0] for cell in cells})
    except StopIteration as done:
        return done.value


def row(coverage: str, E: int, Ge: int, zeta: float, delta: float) -> dict[str, object]:
    """One setting, measured and predicted."""
    mu, smooth, gaps = 0.1, 1.0, Gaps(zeta, delta)
    task = Task(E, Ge, 1.0, mu, smooth, 5.0, (zeta**2 + delta**2) / (2 * mu))
    if coverage == EVERY:
        both = [run(scores(problem(zeta=zeta, delta=delta), (APART,), "quick", E=E, Ge=one))[APART] for one in (Ge, 1)]
        told = _gain_of_every(task, gaps)
    else:
        found = run(scores(problem(zeta=zeta, delta=delta), (coverage, APART), "quick", E=E, Ge=Ge))
        both = [found[APART], found[coverage]]
        told = float(gains([read_layout(coverage)], gaps, task, None, STEPS / (E * Ge), np.ones((1, 5)))[0, 0])
    ratio = paired_ratio(*(one.values.tolist() for one in both))
    numbers = {"gain": ratio.estimate, "low": ratio.low, "high": ratio.high, "bound": told}
    names = {"coverage": coverage, "E": E, "Ge": Ge, "zeta": zeta, "delta": delta}
    return {**names, **{name: f"{value:.4g}" for name, value in numbers.items()}}


def _gain_of_every(task: Task, gaps: Gaps) -> float:
    """Local steps of HFL over those with one edge round, to what HFL's bound reaches."""
    apart = read_layout(PAPERS).apart

    def schedules(one: Task) -> Schedules:
        return Schedules.of(drift(modes(apart, gaps), gaps.squares, one, one.sigma), 1 / len(apart.clients), one)

    goal = schedules(task).reached(float(STEPS))
    return float(STEPS / schedules(replace(task, Ge=1)).steps(goal))


def main() -> None:
    """Run what the file lacks."""
    parser = argparse.ArgumentParser(description="What overlap buys in runs, against what the bound says of it.")
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    done = set()
    if out.exists():
        with out.open(newline="") as file:
            done = {tuple(line[name] for name in COLUMNS[:5]) for line in csv.DictReader(file)}
    else:
        out.write_text(",".join(COLUMNS) + "\n")
    for cell in CELLS:
        if tuple(map(str, cell)) in done:
            continue
        found = row(*cell)
        with out.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(found)
        sys.stderr.write(f"{found}\n")


if __name__ == "__main__":
    main()
