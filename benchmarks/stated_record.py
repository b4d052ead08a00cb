"""What answers state on rows of real data, beside how often the topology they name was right.

    python benchmarks/stated_record.py --role kept   # settings that the record of errors contains
    python benchmarks/stated_record.py --role long --after 6,18,46,120   # settings that it does not contain
    python benchmarks/stated_record.py --digits      # presets on scikit-learn's digits, which it does not contain

The probability is that of an answer by rounds: errors of the predictor and of what is not known of the inputs are
drawn, as in `planner.decide.uncertainty`. Told are a profile, label counts or the kind of split alone. Rows are those
of `real_record.py`, and of `planner/data/measured_digits.csv`. Brier: mean squared distance of what is stated to 1
where the topology was right, to 0 where it was not.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from predictor_record import ordered
from real_record import METRIC, RIGHT, ROLES, ROOT, TARGETS, kind_of, labels_of, profile_of, scenario, settings

from planner.decide.uncertainty.draws import agreement
from planner.predict.question import ask
from planner.scenario.resolve import Scenario, load

TELL = {
    "profile": profile_of,
    "profile with fading": partial(profile_of, fades=True),
    "label counts": labels_of,
    "kind of split alone": kind_of,
}
DIGITS = Path(__file__).resolve().parents[1] / "planner" / "data" / "measured_digits.csv"
QUANTITIES = {"loss": "loss", "error": "accuracy"}
SURE = 0.9
Row = tuple[str, str, float, float]  # what is told, metric, stated, regret


def stated(asked: Scenario, rounds: Mapping[str, float]) -> tuple[float, float] | None:
    """The probability that an answer states, and the regret of what it names; None where it states none."""
    question = ask(asked)
    totals = {t: n for t, n in ordered(question).items() if math.isfinite(n)}
    sure = agreement(question, asked, "rounds", totals).probability
    if sure is None:
        return None
    return sure, rounds[next(iter(totals))] / min(rounds.values()) - 1


def on_curves(role: str, targets: Sequence[int]) -> Iterator[Row]:
    """Rows of the settings of a role."""
    mine = [one for one in settings(ROOT / "measured_curves.csv") if one.told["role"] == role]
    for curves, after, (told, tell) in itertools.product(mine, targets, TELL.items()):
        constants = tell(curves)
        if constants is None or after > curves.rounds[-1]:
            continue
        for quantity, metric in METRIC.items():
            asked = scenario(curves, after, metric, "spectrum", constants)
            if found := stated(asked, curves.rounds_to(quantity, after)):
                yield told, metric, *found


def on_digits() -> Iterator[Row]:
    """Rows of the digits, the kind of split alone known."""
    with DIGITS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["quantity"] in QUANTITIES]
    for row in rows:
        options = {
            "fleet.groups": row["G"], "fleet.clients_per_group": row["M"], "fleet.group_rounds": row["P"],
            "fleet.local_steps": row["K"], "problem.heterogeneity": row["scheme"],
            "problem.rounds": row["reference"], "plan.metric": QUANTITIES[row["quantity"]],
        }  # fmt: skip
        rounds = {t: min(float(row[t]), float(row["rounds"])) for t in row if t.count("-") == 1 and "ring" in t}
        rounds["star-star"] = min(float(row["star-star"]), float(row["rounds"]))
        asked = load(options={key: (key, value) for key, value in options.items()})
        if found := stated(asked, rounds):
            yield f"kind of split alone, {row['model']}", QUANTITIES[row["quantity"]], *found


def main() -> None:
    """Print a line for what is told and each metric."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--role", choices=ROLES, default="kept4")
    parser.add_argument("--after", default=",".join(map(str, TARGETS)), help="targets: rounds of Star-Star")
    parser.add_argument("--digits", action="store_true", help="presets on digits in place of a role")
    options = parser.parse_args()
    targets = [int(number) for number in options.after.split(",")]
    rows = list(on_digits() if options.digits else on_curves(options.role, targets))
    for told, metric in dict.fromkeys(row[:2] for row in rows):
        sure, regret = np.array([row[2:] for row in rows if row[:2] == (told, metric)]).T
        right, high = regret <= RIGHT, sure > SURE
        above = f"{right[high].mean():.0%} of {high.sum()}" if high.any() else "-"
        sys.stdout.write(
            f"| {told} | {metric} | {len(sure)} | {sure.mean():.0%} | {right.mean():.0%} | {above} "
            f"| {((sure - right) ** 2).mean():.3f} |\n"
        )


if __name__ == "__main__":
    main()
