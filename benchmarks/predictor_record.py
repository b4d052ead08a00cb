"""What each predictor made of the measured scenarios: its first choice, what that cost, and how far it was off.

    python benchmarks/predictor_record.py      # writes record_, digits_ and metric_record.csv in planner/data
    python benchmarks/predictor_record.py --judge planner/data/measured_orders_kept.csv
    python benchmarks/predictor_record.py --kinds      # in family and out of family: see `benchmarks/kinds_record.py`

Reads what `benchmarks/measured_orders.py` and, by loss, `benchmarks/measured_losses.py` measured. The first choice is
that of answers: of topologies predicted to take equally many rounds, as where each needs one, that with less left by
then. Regret is in rounds: those of the topology that the predictor puts first over the fewest, less 1. A topology that
did not reach the target in the rounds that were run counts as if it had needed all of them, so that regrets of such
choices are at least what is written. ``--judge`` prints medians and quantiles by family, and writes nothing. Whether
probabilities are true is a matter of `benchmarks/confidence_record.py`.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from planner.decide.verdict import in_order
from planner.predict.evidence import predictor_record as record
from planner.predict.predictors import predictors
from planner.predict.question import Question, ask
from planner.scenario.resolve import load
from validation.statistics import tau_b

COUNTS = ("G", "M", "P", "K", "S1", "S2")
CONSTANTS = ("A", "sigma", "zeta", "delta")
PREDICTORS = ("typical", "bound", "spectrum")
TOPOLOGIES = ("star-star", "star-ring", "ring-star", "ring-ring")
ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "planner" / "data"
MEASURED = {  # by metric, what every predictor is judged by
    "loss": ROOT / "docs" / "evidence" / "measured_losses.csv",
    "gradient": DATA / "measured_orders_kept.csv",
}


def question(
    row: Mapping[str, str],
    predictor: str,
    metric: str = "gradient",
    goal: str = "target",
    kind: str | None = None,
) -> Question:
    """The question whose answer a row measured, its target as a number or as what Star-Star has after the reference.

    Constants are the row's, and noise does not depend on the model, as in these problems; or, where a kind of
    heterogeneity is named, its preset and defaults for all else.
    """
    options = {
        "fleet.groups": row["G"], "fleet.clients_per_group": row["M"], "fleet.group_rounds": row["P"],
        "fleet.local_steps": row["K"],
        f"problem.{goal}": row["target" if goal == "target" else "reference"],
        "plan.predictor": predictor, "plan.metric": metric,
    }  # fmt: skip
    if kind is None:
        options |= {"problem.initial_gap": row["A"], "problem.smoothness": "1", "problem.sigma": row["sigma"]}
        options["problem.curvature_scatter"] = "0"
        options["problem.heterogeneity"] = f"zeta={row['zeta']},delta={row['delta']}"
    else:
        options["problem.heterogeneity"] = kind
    if (row["S1"], row["S2"]) != (row["G"], row["M"]):
        options |= {"fleet.groups_per_round": row["S1"], "fleet.clients_per_round": row["S2"]}
    else:
        options["fleet.order"] = row["order"]
    return ask(load(options={key: (key, value) for key, value in options.items()}))


def ordered(asked: Question) -> dict[str, float]:
    """Rounds of every topology in the order of answers: of those that take equally many, the least left comes first."""
    rounds = {t: float(n) for t, n in asked.rounds().items()}
    return in_order(asked, rounds, {t: 1.0 for t, n in rounds.items() if n < math.inf}) | rounds


def measured(row: Mapping[str, str]) -> dict[str, float]:
    """Rounds by topology, at most those that were run."""
    return {t: min(float(row[t]), float(row["rounds"])) for t in TOPOLOGIES}


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a file of measured orders, without repetitions."""
    with path.open(encoding="utf-8", newline="") as file:
        return list({(r["scenario"], r["family"], r["reference"]): r for r in csv.DictReader(file)}.values())


def digits(path: Path) -> list[dict[str, object]]:
    """First choices on digits by who knows the scheme of the split alone: preset, and defaults for everything else."""
    metrics = {"mean_gradient": "gradient", "loss": "loss", "error": "accuracy"}
    found: dict[tuple[str, str, str], list[float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rounds = {t: min(float(row[t]), float(row["rounds"])) for t in TOPOLOGIES}
            for predictor in PREDICTORS:
                knows = predictors()[predictor].metrics
                metric = metrics[row["quantity"]] if metrics[row["quantity"]] in knows else "gradient"
                options = {
                    "fleet.groups": row["G"], "fleet.clients_per_group": row["M"], "fleet.group_rounds": row["P"],
                    "fleet.local_steps": row["K"], "problem.heterogeneity": row["scheme"],
                    "problem.rounds": row["reference"], "plan.predictor": predictor, "plan.metric": metric,
                }  # fmt: skip
                asked = ask(load(options={key: (key, value) for key, value in options.items()}))
                first = next(iter(ordered(asked)))
                key = (predictor, row["model"], row["quantity"])
                found.setdefault(key, []).append(rounds[first] / min(rounds.values()) - 1)
    return [
        {
            "predictor": predictor, "model": model, "quantity": quantity, "rows": len(regrets),
            "right": sum(regret <= record.RIGHT for regret in regrets),
            "regret_median": f"{np.median(regrets):.3f}", "regret_p90": f"{np.quantile(regrets, 0.9):.3f}",
            "regret_mean": f"{np.mean(regrets):.3f}",
        }
        for (predictor, model, quantity), regrets in sorted(found.items())
    ]  # fmt: skip


def judged(path: Path, predictors: Iterable[str] = PREDICTORS, metric: str = "gradient") -> Iterator[dict[str, object]]:
    """One row per measured row; by loss targets are given as rounds of Star-Star, as answers give them."""
    goal = "target" if metric == "gradient" else "rounds"
    for row in rows(path):
        found = measured(row)
        best = min(found.values())
        told: dict[str, object] = {name: row[name] for name in ("scenario", "family", "reference", *COUNTS)}
        told |= {"order": row["order"], "L": 1, **{name: row[name] for name in CONSTANTS}, "target": row["target"]}
        for predictor in predictors:
            asked = question(row, predictor, metric, goal)
            predicted = ordered(asked)
            first = next(iter(predicted))
            told[f"regret_{predictor}"] = f"{found[first] / best - 1:.4f}"
            told[f"tau_{predictor}"] = f"{tau_b([predicted[t] for t in found], list(found.values())):.3f}"
            if not asked.predictor.guarantees:
                told["target"] = row["target"] if goal == "target" else f"{float(asked.goal()):.6g}"
                at, v = float(asked.goal()), asked.values
                exact = {t: float(asked.predictor.rounds_to(asked, t, at, v)) for t in found}
                off = {t: math.log(found[t] / exact[t]) for t in found}
                told |= {f"error_{predictor}_{t}": f"{off[t] - off['star-star']:.4f}" for t in found}
        yield told | {f"rounds_{t}": f"{n:.5g}" for t, n in found.items()}


def by_metric(metric: str) -> list[dict[str, object]]:
    """First choices in the scenarios measured by a metric, constants known, by family; of predictors that know it.

    Each is asked for what Star-Star has after the reference, and for that as a number.
    """
    found: list[dict[str, object]] = []
    told = rows(MEASURED[metric])
    for name, each in predictors().items():
        if metric not in each.metrics or each.shows_progress:
            continue
        for goal in ("rounds", "target"):
            regrets, orders = [], []
            for row in told:
                runs = measured(row)
                predicted = ordered(question(row, name, metric, goal))
                first = next(iter(predicted))
                regrets.append(runs[first] / min(runs.values()) - 1)
                orders.append(tau_b([predicted[t] for t in runs], list(runs.values())))
            for family in ("all", *dict.fromkeys(row["family"] for row in told)):
                mine = np.array([family in ("all", row["family"]) for row in told])
                regret = np.array(regrets)[mine]
                found.append({
                    "predictor": name, "metric": metric, "goal": goal, "family": family, "rows": int(mine.sum()),
                    "right": int((regret <= record.RIGHT).sum()), "regret_median": f"{np.median(regret):.3f}",
                    "regret_p90": f"{np.quantile(regret, 0.9):.3f}", "largest": f"{regret.max():.2f}",
                    "regret_mean": f"{regret.mean():.3f}", "tau": f"{np.nanmean(np.array(orders)[mine]):.2f}",
                })  # fmt: skip
    return found


def write(path: Path, told: list[dict[str, object]]) -> None:
    """A table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(told[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(told)


def main() -> None:
    """Write the record, or judge kept measurements."""
    data = DATA
    parser = argparse.ArgumentParser(description="The record of each predictor in measured scenarios.")
    parser.add_argument("--judge", type=Path, help="measurements to judge by, which the record does not contain")
    parser.add_argument("--and-surrogate", action="store_true", help="with --judge: that predictor too, five minutes")
    parser.add_argument("--kinds", action="store_true", help="write docs/evidence/kinds_record.csv, and nothing else")
    options = parser.parse_args()
    if options.kinds:
        from kinds_record import write_record  # which asks the questions of this file

        write_record()
        return
    asked = (*PREDICTORS, *(["surrogate"] if options.and_surrogate else []))
    told = list(judged(options.judge or data / "measured_orders.csv", asked))
    if not options.judge:
        write(data / record.file_of("gradient"), told)
        write(data / record.file_of("loss"), list(judged(MEASURED["loss"], ("spectrum",), "loss")))
        write(data / "digits_record.csv", digits(data / "measured_digits.csv"))
        write(data / "metric_record.csv", [row for metric in MEASURED for row in by_metric(metric)])
    for predictor in asked:
        for family in ("all", *dict.fromkeys(r["family"] for r in told)):
            mine = [r for r in told if family in ("all", r["family"])]
            regret = np.array([float(str(r[f"regret_{predictor}"])) for r in mine])
            tau = np.nanmean([float(str(r[f"tau_{predictor}"])) for r in mine])
            right = (regret <= record.RIGHT).mean()
            sys.stdout.write(
                f"{predictor:8} {family:13} {len(mine):5} rows: right {right:.0%}, regret median "
                f"{np.median(regret):.3f}, 90 % {np.quantile(regret, 0.9):.3f}, largest {regret.max():.2f}, "
                f"mean {regret.mean():.3f}; tau {tau:.2f}\n"
            )


if __name__ == "__main__":
    main()
