"""How often each guarantee, and each prediction, names the best of four topologies in the measured scenarios.

    python benchmarks/tilt_record.py      # writes docs/evidence/tilt_record.csv; minutes on one core

Rows: ``planner/data/measured_orders_kept.csv`` (rounds until the mean squared gradient meets a target, at each
topology's best rate; constants known), with ``--all`` also ``measured_orders.csv``; ``measured_losses.csv`` beside the
table (the same by loss, from ``benchmarks/measured_losses.py``); and ``measured_digits.csv`` (rounds until the mean
squared gradient, the training loss or the test error meets a target; only the preset's constants are known). The
topology named is that of the least value after the rounds that Star-Star took (column ``reference``), each at its own
best step; for ``typical``, which knows the squared gradient alone, that of the fewest predicted rounds by it. Right is
a regret of at most 2 %: rounds of the topology named over the fewest, less 1; a topology that did not reach the target
in the rounds that were run counts with all of them.

By loss, bounds on losses that differ by a tilt take a least curvature of 1e-4 L, as a bound in A needs one; nothing was
chosen on these rows.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hflbounds import tilt_tuned
from hflbounds.exact import exact_bound
from hflbounds.tilted import Measure, accumulated, affine_round, log_uniform, mean_over
from hflbounds.topology import Topology, all_topologies, two_tier
from planner.predict.evidence import predictor_record as record
from planner.predict.question import ask
from planner.scenario.resolve import load

Array = npt.NDArray[np.float64]
Row = Mapping[str, Any]
ROOT = Path(__file__).resolve().parents[1]
CONSTANTS = ("L", "A", "sigma", "zeta", "delta")
FLEET = ("G", "M", "P", "K", "S1", "S2", "order")
NEAR = 1e-4  # least curvature over the largest, by loss
STEPS = np.geomspace(1e-7, 1.98, 160)  # times L, for the mean over a spectrum


def tree(topology: str, row: Row) -> Topology:
    """The topology with the fleet of a row."""
    counts = {name: int(row[name]) for name in ("G", "M", "P")}
    drawn = {one: int(row[one]) if int(row[one]) < int(row[of]) else None for one, of in (("S1", "G"), ("S2", "M"))}
    return two_tier(topology, **counts, S1=drawn["S1"], S2=drawn["S2"], order=row["order"])


def constants(rows: Sequence[Row]) -> dict[str, Array]:
    """Of some rows as arrays, and their rounds."""
    return {name: np.array([float(row[name]) for row in rows]) for name in (*CONSTANTS, "reference")}


def worst(measure: Measure, placement: str) -> Callable[[Topology, int, dict[str, Array]], Array]:
    """The bound over losses that differ by a tilt, at its best step."""

    def value(topology: Topology, K: int, told: dict[str, Array]) -> Array:
        start = {"A": told["A"], "mu": 0.0 if measure == "gradient" else NEAR * told["L"]}
        tuned = tilt_tuned(
            topology, K=K, R=told["reference"], L=told["L"], sigma=told["sigma"],
            deltas=(told["delta"], told["zeta"]), measure=measure, placement=placement, **start,
        )  # fmt: skip
        return np.asarray(tuned.value)

    return value


def mean(measure: Measure) -> Callable[[Topology, int, dict[str, Array]], Array]:
    """The mean over a log-uniform spectrum, at its best step of a grid."""

    def value(topology: Topology, K: int, told: dict[str, Array]) -> Array:
        found, h = np.empty(len(told["L"])), log_uniform()
        one = affine_round(topology, K, h * STEPS[:, None], "shuffled")
        for rounds in np.unique(told["reference"]):
            mine = told["reference"] == rounds
            table = mean_over(h, accumulated(one, rounds, measure), STEPS, measure)
            units = np.stack([told[name] ** (1 if name == "A" else 2) for name in ("A", "sigma", "delta", "zeta")])
            units = units / told["L"] ** np.array([[0], [1], [1], [1]])  # the gradient's are L times as large
            found[mine] = (units[:, mine].T @ table).min(-1)
        return found

    return value


def exact(topology: Topology, K: int, told: dict[str, Array]) -> Array:
    """The theorem with exact sums, tuned."""
    return np.asarray(
        exact_bound(
            topology, K=K, R=told["reference"], L=told["L"], A=told["A"], sigma=told["sigma"],
            deltas=(told["delta"], told["zeta"]),
        )
    )  # fmt: skip


FORMS: dict[str, Callable[[Topology, int, dict[str, Array]], Array]] = {
    "exact theorem, gradient": exact,
    "tilt, worst order, loss": worst("loss", "worst"),
    "tilt, worst order, gradient": worst("gradient", "worst"),
    "tilt, shuffled once, loss": worst("loss", "shuffled"),
    "tilt, shuffled once, gradient": worst("gradient", "shuffled"),
    "mean over a spectrum, loss": mean("loss"),
    "mean over a spectrum, gradient": mean("gradient"),
}


def named(rows: Sequence[Row]) -> list[dict[str, str]]:
    """For each row the topology that each form puts first."""
    found: list[dict[str, str]] = [{} for _ in rows]
    fleets: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(rows):
        fleets.setdefault(tuple(str(row[name]) for name in FLEET), []).append(i)
    for places in fleets.values():
        mine = [rows[i] for i in places]
        told, K = constants(mine), int(mine[0]["K"])
        for form, value_of in FORMS.items():
            values = {t: value_of(tree(t, mine[0]), K, told) for t in all_topologies(2)}
            for k, i in enumerate(places):
                found[i][form] = min((float(value[k]), t) for t, value in values.items())[1]
    for i, row in enumerate(rows):
        found[i]["typical, by gradient"] = row["typical"]
        found[i]["always Ring-Ring"] = "ring-ring"
    return found


def typical(options: Mapping[str, str]) -> tuple[str, Mapping[str, Any]]:
    """What `typical` puts first, and the values of the question."""
    asked = ask(load(options={key: (key, value) for key, value in options.items()}))
    predicted = {t: float(n) for t, n in asked.rounds().items()}
    return min(predicted, key=lambda t: predicted[t]), asked.values


def orders(path: Path, quantity: str = "gradient") -> list[dict[str, Any]]:
    """Rows of measured orders, with constants and what `typical` says.

    By loss it is asked for what Star-Star has of the squared gradient after the reference.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list({(r["scenario"], r["family"], r["reference"]): r for r in csv.DictReader(file)}.values())
    found: list[dict[str, Any]] = []
    for row in rows:
        options = {
            "fleet.groups": row["G"], "fleet.clients_per_group": row["M"], "fleet.group_rounds": row["P"],
            "fleet.local_steps": row["K"], "problem.initial_gap": row["A"], "problem.smoothness": "1",
            "problem.sigma": row["sigma"], "problem.heterogeneity": f"zeta={row['zeta']},delta={row['delta']}",
            "plan.predictor": "typical", "plan.metric": "gradient",
        }  # fmt: skip
        goal = "target" if quantity == "gradient" else "rounds"
        options[f"problem.{goal}"] = row["target" if quantity == "gradient" else "reference"]
        if (row["S1"], row["S2"]) != (row["G"], row["M"]):
            options |= {"fleet.groups_per_round": row["S1"], "fleet.clients_per_round": row["S2"]}
        else:
            options["fleet.order"] = row["order"]
        found.append({**row, "L": 1, "quantity": quantity, "typical": typical(options)[0]})
    return found


def digits(path: Path) -> list[dict[str, Any]]:
    """Rows of digits, with the constants of a preset."""
    found: list[dict[str, Any]] = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            options = {
                "fleet.groups": row["G"], "fleet.clients_per_group": row["M"], "fleet.group_rounds": row["P"],
                "fleet.local_steps": row["K"], "problem.heterogeneity": row["scheme"],
                "problem.rounds": row["reference"], "plan.predictor": "typical", "plan.metric": "gradient",
            }  # fmt: skip
            first, values = typical(options)
            told = {name: float(values[name]) for name in CONSTANTS}
            found.append({**row, **told, "S1": row["G"], "S2": row["M"], "order": "fixed", "typical": first})
    return found


def regret(row: Row, topology: str) -> float:
    """Rounds of the topology named over the fewest, less 1."""
    rounds = {t: min(float(row[t]), float(row["rounds"])) for t in all_topologies(2)}
    return rounds[topology] / min(rounds.values()) - 1


def main() -> None:
    """Write the table and print it."""
    data = ROOT / "planner" / "data"
    parser = argparse.ArgumentParser(description="Which topology each guarantee names in the measured scenarios.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "evidence" / "tilt_record.csv")
    parser.add_argument("--all", action="store_true", help="measured_orders.csv too; three times as long")
    options = parser.parse_args()
    table = []
    sources = [
        ("measured_digits", digits(data / "measured_digits.csv")),
        ("measured_orders_kept", orders(data / "measured_orders_kept.csv")),
        ("measured_losses", orders(ROOT / "docs" / "evidence" / "measured_losses.csv", "loss")),
    ]
    if options.all:
        sources.append(("measured_orders", orders(data / "measured_orders.csv")))
    for source, rows in sources:
        firsts = named(rows)
        for quantity in dict.fromkeys(row["quantity"] for row in rows):
            mine = [i for i, row in enumerate(rows) if row["quantity"] == quantity]
            for form in firsts[0]:
                found = np.array([regret(rows[i], firsts[i][form]) for i in mine])
                table.append({
                    "rows_of": source, "quantity": quantity, "form": form, "rows": len(mine),
                    "right": f"{(found <= record.RIGHT).mean():.3f}", "regret_median": f"{np.median(found):.3f}",
                    "regret_p90": f"{np.quantile(found, 0.9):.3f}", "regret_mean": f"{found.mean():.3f}",
                })  # fmt: skip
                sys.stdout.write(", ".join(map(str, table[-1].values())) + "\n")
                sys.stdout.flush()
    with options.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
