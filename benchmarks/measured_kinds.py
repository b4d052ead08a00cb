"""Measured rounds of every topology on problems of kinds that no predictor was built from, and what short pilots saw.

    python benchmarks/measured_kinds.py      # writes measured_kinds.csv and pilots_of_kinds.csv of docs/evidence

Scenarios go in turn through six families of `validation.problems` and four kinds of heterogeneity; sizes, steps, order,
participation and the options of the family are drawn as `scenario` says. A scenario is one problem. Its constants are
those of `validation.estimate`, exact but for sigma: the largest at the start and after 10, 30 and 100 local steps of
Star-Star at a quarter of 1/L. Rows are in units in which L, so found, is 1.

Every topology is run at rates 1.5 apart, the grid growing while a best rate is at its end, with several noise seeds:
more where fleets are small. For each target the rate that meets it first, by a margin, is run again with half
again as many seeds of their own, and that is what counts; what the rate had on the noise that chose it is in
``again_*``. Targets are what Star-Star has after 6, 18 and 45 rounds: by ``loss``, the loss of the last model above its
least value, a mean over noise seeds and a geometric mean over a few rounds; by ``gradient``, the mean over rounds of
the squared norm, as in the theorems. Targets that are not below the start, or below a millionth of it, are left out,
and so are rows in which a best rate is still at an end of its grid.

A pilot has noise of its own, one seed or four, 8 rounds, and the same kind of grid. For each round it keeps the lowest
loss of any rate, a mean over that round and up to two before it.

Rows of a scenario are appended together, so that a run that is killed goes on where the files end.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from validation.algorithms.tree import Tree
from validation.algorithms.two_tier import two_tier
from validation.engine import simulate
from validation.experiment import make_problem, part
from validation.problems.vectors import Vectors
from validation.reference import TOPOLOGIES

Floats = npt.NDArray[np.float64]
SIZES = ((2, 2), (2, 10), (2, 50), (3, 3), (3, 8), (4, 25), (5, 5), (5, 20), (8, 4), (10, 10), (20, 5))
STEPS = ((1, 1), (1, 2), (1, 5), (1, 10), (2, 2), (2, 5), (4, 1), (4, 3), (10, 1))  # P, K
LONGEST_CHAIN = 160  # local steps in a round of a ring
HETEROGENEITY = ("iid", "intra", "inter", "both")
ROUNDS, REFERENCES, PILOT = 90, (6, 18, 45), 8
PILOTS = {1: range(300, 301), 4: range(300, 304)}  # noise seeds
FIRST, APART, RATES = 0.3, 1.5, 16  # the least effective rate times L, their ratio, and how many: up to 131
MORE, MOST = 4, 32  # by how many rates grids grow, and how far
MARGIN = 0.97  # a rate is chosen that meets this share of the target, so that it meets the target on other noise
LEAST = 1e-6  # of the quantity at the start: targets below are nobody's
MOMENTS, STRIDE = (0, 10, 30, 100), 5  # local steps before constants are measured, and between averagings
CONSTANTS = ("L", "mean_L", "sigma", "zeta", "delta")
COLUMNS = (
    "scenario", "family", "heterogeneity", "quantity", "G", "M", "P", "K", "S1", "S2", "order", "A", "sigma", "zeta",
    "delta", "initial", "rounds", "reference", "target", *TOPOLOGIES, *(f"again_{t}" for t in TOPOLOGIES),
    *(f"rate_{t}" for t in TOPOLOGIES), "mean_L", *(f"{c}_{at}" for c in CONSTANTS for at in ("start", "end")), "made",
)  # fmt: skip
PILOT_COLUMNS = ("scenario", "seeds", "topology", "rate_5", "rate_8", *(f"after_{r}" for r in range(PILOT + 1)))
Draw = Callable[[np.random.Generator], dict[str, Any]]


def within(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return round(float(np.exp(rng.uniform(math.log(low), math.log(high)))), 4)


def one_of(rng: np.random.Generator, *values: Any) -> Any:
    """One of these."""
    return values[int(rng.integers(len(values)))]


FAMILIES: Mapping[str, tuple[float, Draw]] = {  # the largest deviation, and the other options
    "least-squares": (1.5, lambda rng: {
        "batch": one_of(rng, 1, 2, 4, 8), "flattest": one_of(rng, 0.1, 0.01, 0.001), "residual": within(rng, 0.1, 1),
    }),
    "factorisation": (1.5, lambda rng: {
        "batch": one_of(rng, 2, 6, 20), "rank": one_of(rng, 1, 2, 3), "small": within(rng, 0.05, 0.4),
    }),
    "flat-start": (1.5, lambda rng: {
        "far": within(rng, 3, 10), "flattest": one_of(rng, 0.3, 0.03), "sigma": within(rng, 0.03, 1),
    }),
    "student": (0.6, lambda rng: {"batch": one_of(rng, 1, 2, 4), "residual": within(rng, 0.05, 0.5)}),
    "power-law": (4.0, lambda rng: {
        "decay": one_of(rng, 0.7, 1.2, 2.0), "along": one_of(rng, -1.0, 0.0, 1.0), "noisy": one_of(rng, 0.0, 1.0),
        "begun": one_of(rng, -0.5, 0.0, 0.5), "sigma": within(rng, 0.2, 6),
    }),
    "multiplicative": (1.5, lambda rng: {
        "share": within(rng, 0.5, 4), "flattest": one_of(rng, 0.1, 0.01), "far": within(rng, 1, 4),
    }),
}  # fmt: skip


def scenario(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Who takes part, and the options of the problem."""
    rng = np.random.default_rng([17, number])
    family = tuple(FAMILIES)[number % len(FAMILIES)]
    kind = HETEROGENEITY[number // len(FAMILIES) % len(HETEROGENEITY)]
    while True:
        (G, M), (P, K) = one_of(rng, *SIZES), one_of(rng, *STEPS)
        if G * M * P * K <= LONGEST_CHAIN:
            break
    drawn = rng.choice(["fixed", "random", "partial"], p=[0.6, 0.2, 0.2])
    S1, S2 = G, M
    if drawn == "partial":
        S1, S2 = (int(rng.integers(max(2, n // 4), n + 1)) for n in (G, M))
    largest, options = FAMILIES[family]
    made = options(rng) | {
        name: within(rng, largest / 15, largest) if kind in (name, "both") else 0.0 for name in ("intra", "inter")
    }
    fleet = {"G": G, "M": M, "P": P, "K": K, "S1": S1, "S2": S2, "order": "fixed" if drawn == "fixed" else "random"}
    return {"family": family, "heterogeneity": kind, **fleet}, made


def noises(clients: int) -> tuple[range, range]:
    """Noise seeds that choose rates, and those that count: fewer where a round costs more."""
    count = min(max(300 // clients, 6), 12)
    return range(100, 100 + count), range(200, 200 + count * 3 // 2)


def along(problem: Vectors) -> list[dict[str, float]]:
    """The constants at the `MOMENTS` of a run of Star-Star with full gradients."""
    models, found = problem.x0.expand(problem.clients, -1), []
    for step in range(MOMENTS[-1] + 1):
        if step % STRIDE == 0:
            models = models.mean(0).expand(problem.clients, -1)
        if step in MOMENTS:
            found.append(problem.constants_at(models[0].clone()))
        models = models - problem.own_gradients(models) / (4 * found[0]["L"])
    return found


def smoothed(losses: Floats) -> Floats:
    """Geometric means over a round and as many before it as after it: one, and one more for every ten rounds.

    The start is part of none, and near the end windows are as wide as they can be.
    """
    logs, last = np.log(np.maximum(losses, 1e-300)), len(losses) - 1
    out = logs.copy()
    for r in range(2, last):
        wide = min(1 + r // 10, r - 1, last - r)
        out[r] = logs[r - wide : r + wide + 1].mean(0)
    return np.exp(out)


def trailing(losses: Floats) -> Floats:
    """Means over a round and up to two before it, the start apart."""
    return np.stack([losses[min(r, max(1, r - 2)) : r + 1].mean(0) for r in range(len(losses))])


def curves(
    problem: Vectors, tree: Tree, rates: Sequence[float], seeds: Iterable[int], rounds: int
) -> dict[str, Floats]:
    """Means over the seeds after each round, shape (rounds + 1, rates): the loss, and the mean squared gradient."""
    seeds = list(seeds)
    raw = [rate / tree.local_steps_per_round() for rate in rates for _ in seeds]
    trace = simulate(problem, tree, raw, seeds * len(rates), rounds, at=range(rounds + 1), every_round=True)
    found = {"loss": trace.values["gap"], "gradient": trace.averages["gradient"]}
    return {name: each.view(len(rates), len(seeds), -1).mean(1).T.numpy() for name, each in found.items()}


def reached(curve: Floats, target: float) -> float:
    """The first round, interpolated, at which a curve is at the target."""
    below = np.flatnonzero(curve <= target)
    if not len(below):
        return math.inf
    r = int(below[0])
    if not r or not math.isfinite(curve[r - 1]):
        return float(r)
    return r - 1 + float((curve[r - 1] - target) / (curve[r - 1] - curve[r]))


def best(curve: Floats, target: float) -> int:
    """The rate that is at the target first; where none is, the one that is nearest to it in the end."""
    first = [reached(column, target) for column in curve.T]
    at = int(np.argmin(first))
    return at if math.isfinite(first[at]) else int(np.argmin(curve[-1]))


class Explored:
    """Curves of one topology at the rates of a grid that grows until no best one is at its end."""

    def __init__(self, run: Callable[[Sequence[float]], dict[str, Floats]], unit: float):
        self.run, self.unit = run, unit
        self.rates = [FIRST / unit * APART**i for i in range(RATES)]
        self.seen = run(self.rates)

    def grown(self, wanted: Callable[[dict[str, Floats]], Iterable[int]]) -> list[int]:
        """The places of the best rates, as ``wanted`` finds them in the curves."""
        while True:
            at = list(wanted(self.seen))
            low, high = 0 in at, len(self.rates) - 1 in at
            if not (low or high) or len(self.rates) >= MOST:
                return at
            for end, grows in ((0, low), (-1, high)):
                if grows:
                    self._add([self.rates[end] * APART ** (i if end else -i) for i in range(1, MORE + 1)])

    def _add(self, rates: list[float]) -> None:
        more = self.run(rates)
        self.rates += rates
        order = np.argsort(self.rates)
        self.rates = [self.rates[i] for i in order]
        self.seen = {name: np.concatenate([old, more[name]], 1)[:, order] for name, old in self.seen.items()}


QUANTITIES = ("loss", "gradient")
Run = Callable[[str, Sequence[float], Sequence[int], int], dict[str, Floats]]  # topology, rates, seeds, rounds
Ran = tuple[list[dict[str, Any]], list[dict[str, Any]]]  # rows of a scenario, and its pilots
Table = tuple[Path, Sequence[str]]  # a file and its columns
SMOOTH: Mapping[str, Callable[[Floats], Floats]] = {"loss": smoothed, "gradient": lambda curve: curve}


def measured(run: Run, clients: int, unit: float, quantities: Sequence[str] = QUANTITIES) -> list[dict[str, Any]]:
    """Rounds of every topology to every target, on the noise that chose the rates and on fresh noise."""
    keys = [(quantity, r) for quantity in quantities for r in REFERENCES]
    goals: dict[str, dict[tuple[str, int], float]] = {"again": {}, "fresh": {}}
    rounds: dict[str, dict[tuple[str, int], dict[str, float]]] = {one: {key: {} for key in keys} for one in goals}
    rates: dict[tuple[str, int], dict[str, float]] = {key: {} for key in keys}
    ends: set[tuple[str, int]] = set()
    tuning, counting = noises(clients)
    for topology in TOPOLOGIES:
        explored = Explored(lambda some, topology=topology: _smooth(run(topology, some, tuning, ROUNDS)), unit)

        def chosen(seen: dict[str, Floats], topology: str = topology) -> list[int]:
            if topology == "star-star":
                return [int(np.argmin(seen[quantity][r])) for quantity, r in keys]
            return [best(seen[quantity], MARGIN * goals["again"][quantity, r]) for quantity, r in keys]

        at = explored.grown(chosen)
        ends |= {key for key, i in zip(keys, at, strict=True) if i in (0, len(explored.rates) - 1)}
        some = sorted(set(at))
        fresh = _smooth(run(topology, [explored.rates[i] for i in some], counting, ROUNDS))
        for key, i in zip(keys, at, strict=True):
            quantity, r = key
            rates[key][topology] = explored.rates[i] * unit
            for one, curve in (("again", explored.seen[quantity][:, i]), ("fresh", fresh[quantity][:, some.index(i)])):
                if topology == "star-star":
                    goals[one][key] = float(curve[r])
                rounds[one][key][topology] = reached(curve, goals[one][key])
    return [
        {"quantity": quantity, "reference": r, "target": goals["fresh"][quantity, r], **rounds["fresh"][quantity, r]}
        | {f"again_{t}": n for t, n in rounds["again"][quantity, r].items()}
        | {f"rate_{t}": n for t, n in rates[quantity, r].items()}
        for quantity, r in keys
        if (quantity, r) not in ends
    ]


def _smooth(seen: dict[str, Floats]) -> dict[str, Floats]:
    return {quantity: SMOOTH[quantity](curve) for quantity, curve in seen.items()}


def piloted(run: Run, unit: float) -> list[dict[str, Any]]:
    """The lowest smoothed loss of each topology after each round of a pilot, and the rates that had it."""
    found = []
    for count, seeds in PILOTS.items():
        for topology in TOPOLOGIES:
            explored = Explored(
                lambda some, topology=topology, seeds=seeds: {
                    "loss": trailing(run(topology, some, seeds, PILOT)["loss"])
                },
                unit,
            )
            at = explored.grown(lambda seen: [int(np.argmin(seen["loss"][r])) for r in (5, PILOT)])
            least = explored.seen["loss"].min(1) / unit
            found.append(
                {"seeds": count, "topology": topology, **{f"after_{r}": x for r, x in enumerate(least)}}
                | {f"rate_{r}": explored.rates[i] * unit for r, i in zip((5, PILOT), at, strict=True)}
            )
    return found


def ran(number: int) -> Ran:
    """Rows of a scenario, and its pilots."""
    told, made = scenario(number)
    problem: Any = make_problem(part(told["family"], G=told["G"], M=told["M"], seed=number, **made))
    path = along(problem)
    largest = {name: max(point[name] for point in path) for name in CONSTANTS}
    unit = largest["L"]
    drawn = {one: told[one] if told[one] < told[of] else None for one, of in (("S1", "G"), ("S2", "M"))}
    fleet = {name: told[name] for name in ("G", "M", "P", "K", "order")} | drawn
    trees = {topology: two_tier(topology=topology, **fleet) for topology in TOPOLOGIES}
    loss, slope = problem.slopes(problem.x0[None])
    gap, initial = float(loss[0]) - problem.lowest, float(slope.square().sum())
    common = {"scenario": f"17-{number}", **told, "rounds": ROUNDS, "A": gap / unit, "mean_L": largest["mean_L"] / unit}
    common |= {name: largest[name] / unit for name in ("sigma", "zeta", "delta")}
    common |= {f"{c}_{at}": point[c] / unit for c in CONSTANTS for at, point in (("start", path[0]), ("end", path[-1]))}
    common["made"] = " ".join(f"{name}={value}" for name, value in made.items())
    rows = []

    def run(topology: str, *how: Any) -> dict[str, Floats]:
        return curves(problem, trees[topology], *how)

    for row in measured(run, problem.clients, unit):
        squared = row["quantity"] == "gradient"
        row["target"] /= unit**2 if squared else unit
        first = initial / unit**2 if squared else gap / unit
        if LEAST * first <= row["target"] < first:
            rows.append(common | row | {"initial": first})
    return rows, [{"scenario": common["scenario"], **row} for row in piloted(run, unit)]


def append(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Add rows to a table, which gets its head where it is new."""
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        writer.writerows([{k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows])


def complete(scenarios: int, name: str, of: Callable[[int], Ran], table: Table, pilots: Table) -> None:
    """Run the scenarios that two tables lack, one after the other; the second says which are there."""
    done = set()
    if pilots[0].exists():
        with pilots[0].open(encoding="utf-8", newline="") as file:
            done = {row["scenario"] for row in csv.DictReader(file)}
    for number in range(scenarios):
        if f"{name}-{number}" in done:
            continue
        for one, rows in zip((table, pilots), of(number), strict=True):
            append(*one, rows)
        passed = time.process_time()
        print(f"scenario {number + 1} of {scenarios}, {passed:.0f} s of a processor", file=sys.stderr)


def main() -> None:
    """Run what the files lack."""
    here = Path(__file__).resolve().parents[1] / "docs" / "evidence"
    parser = argparse.ArgumentParser(description="Measured rounds on problems of other kinds, and pilots.")
    parser.add_argument("--scenarios", type=int, default=72)
    parser.add_argument("--out", type=Path, default=here / "measured_kinds.csv")
    parser.add_argument("--pilots", type=Path, default=here / "pilots_of_kinds.csv")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # of losses that go to zero
    complete(options.scenarios, "17", ran, (options.out, COLUMNS), (options.pilots, PILOT_COLUMNS))


if __name__ == "__main__":
    main()
