"""How predictors, guarantees, habits and pilots do on the scenarios of the record, and on those of other kinds.

    python benchmarks/predictor_record.py --kinds      # writes docs/evidence/kinds_record.csv

*In family* are the rows of `measured_losses.csv` (by loss) and `measured_orders_kept.csv` (by squared gradient), whose
problems are made as `typical` and `spectrum` see the world; *in family, one problem* those of `measured_in_family.csv`,
whose pilots are there too; *in family, kept* those of `measured_in_family_kept.csv`, run after `spectrum` was chosen
on all the others; *out of family* those of `measured_kinds.csv`. Each way to
name a topology gives an order, and most also rounds relative to Star-Star's, over which the median factor off is taken
(where the run met the target). Predictors have the constants, or the kind of heterogeneity alone. Regret is as in
`predictor_record.py`. Intervals are 95 % quantiles over resampled scenarios.

A pilot of 5 or 8 rounds names the topology of the fewest rounds to the loss that Star-Star has after as many rounds as
are asked for, or at the horizon where these are more; a topology that is not there by then is given the square of the
horizon over the rounds in which Star-Star had its loss. *Lowest loss* names the one of the lowest loss at the horizon.
*And spectrum* multiplies the pilot's ratio at the horizon with what `spectrum` predicts for the target over what it
predicts at the horizon.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tilt_record
from measured_kinds import PILOT, reached
from predictor_record import ordered, question, write

from hflbounds.topology import all_topologies
from planner.predict.evidence import predictor_record as record
from planner.predict.predictors import predictors

ROOT = Path(__file__).resolve().parents[1]
EVIDENCE = ROOT / "docs" / "evidence"
NAMED = tuple(all_topologies(2))
FIRST, HORIZONS = "star-star", (5, PILOT)
Row = Mapping[str, str]
Rounds = Mapping[str, float]


@dataclass(frozen=True)
class Told:
    """What a way to name a topology says of a row: its first choice, and rounds of each where it has any."""

    first: str
    rounds: Rounds | None = None

    @classmethod
    def of(cls, rounds: Rounds) -> Told:
        """The one of the fewest rounds; of equal ones the first."""
        return cls(min(rounds, key=lambda t: rounds[t]), rounds)


def predicted(row: Row, predictor: str, goal: str, kind: str | None = None) -> Told:
    """What a predictor says with the constants, or with the kind of heterogeneity alone."""
    metric = row["quantity"] if row["quantity"] in predictors()[predictor].metrics else "gradient"
    return Told.of(ordered(question(row, predictor, metric, goal, kind)))


def guarantee(row: Row, placement: str) -> Told:
    """The topology of the least bound over losses that differ by a tilt."""
    value_of, told = tilt_record.worst(row["quantity"], placement), tilt_record.constants([{**row, "L": 1}])
    values = {t: float(value_of(tilt_record.tree(t, row), int(row["K"]), told)[0]) for t in NAMED}
    return Told(min(values, key=lambda t: values[t]))


def kind(row: Row) -> str:
    """Of heterogeneity."""
    named = {(False, False): "iid", (True, False): "intra", (False, True): "inter", (True, True): "both"}
    return row.get("heterogeneity") or named[float(row["zeta"]) > 0, float(row["delta"]) > 0]


@dataclass(frozen=True)
class Piloted:
    """The curves of a pilot of one scenario.

    Attributes:
        curves: the lowest loss so far after 0, 1, ... rounds, by topology.
        lowest: the smoothed loss after a round, by topology.
    """

    curves: Mapping[str, Any]
    lowest: Mapping[str, Any]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Piloted:
        """From the rows of its topologies."""
        lowest = {r["topology"]: np.array([float(r[f"after_{i}"]) for i in range(PILOT + 1)]) for r in rows}
        return cls({t: np.minimum.accumulate(curve) for t, curve in lowest.items()}, lowest)

    def first(self, horizon: int) -> str:
        """The topology of the lowest loss there."""
        return min(self.lowest, key=lambda t: float(self.lowest[t][horizon]))

    def rounds(self, horizon: int) -> dict[str, float]:
        """Of each to what Star-Star has at the horizon."""
        level, found = float(self.curves[FIRST][horizon]), {}
        for topology, curve in self.curves.items():
            found[topology] = reached(curve[: horizon + 1], level)
            if math.isinf(found[topology]):
                found[topology] = horizon**2 / reached(self.curves[FIRST][: horizon + 1], float(curve[horizon]))
        return found

    def alone(self, row: Row, horizon: int) -> Told:
        """What the pilot says by itself."""
        return Told.of(self.rounds(min(horizon, int(row["reference"]))))

    def joined(self, row: Row, horizon: int, weight: float = 1.0) -> Told:
        """With what `spectrum` says of the way from the horizon to the target, to some power."""
        seen = self.rounds(horizon)
        if int(row["reference"]) <= horizon:
            return self.alone(row, horizon)
        here, there = (
            predicted({**row, "reference": str(r)}, "spectrum", "rounds").rounds or {}
            for r in (horizon, row["reference"])
        )
        return Told.of({t: seen[t] * (there[t] / there[FIRST] / (here[t] / here[FIRST])) ** weight for t in NAMED})


def ways(pilots: Mapping[tuple[str, str], Piloted], quantity: str) -> dict[str, Callable[[Row], Told]]:
    """Every way to name a topology."""
    goal = "rounds" if quantity == "loss" else "target"
    found: dict[str, Callable[[Row], Told]] = {
        "spectrum, rounds given": lambda row: predicted(row, "spectrum", "rounds"),
        "spectrum, target given": lambda row: predicted(row, "spectrum", "target"),
        "typical": lambda row: predicted(row, "typical", goal),
        "bound": lambda row: predicted(row, "bound", goal),
        "tilt guarantee, worst order": lambda row: guarantee(row, "worst"),
        "tilt guarantee, shuffled once": lambda row: guarantee(row, "shuffled"),
        "spectrum, class only": lambda row: predicted(row, "spectrum", "rounds", kind(row)),
        "typical, class only": lambda row: predicted(row, "typical", "rounds", kind(row)),
    }
    found |= {f"always {t.title()}": lambda row, t=t: Told(t) for t in NAMED}
    if not pilots:
        return found
    found["another run"] = lambda row: Told.of({t: min(float(row[f"again_{t}"]), float(row["rounds"])) for t in NAMED})
    if quantity == "gradient":
        return found
    for seeds, horizon in itertools.product(sorted({seeds for _, seeds in pilots}), HORIZONS):
        name = f"pilot of {horizon} rounds" + (f", {seeds} seeds" if seeds != "1" else "")
        found |= {
            name: lambda row, h=horizon, s=seeds: pilots[row["scenario"], s].alone(row, h),
            f"{name}, lowest loss": lambda row, h=horizon, s=seeds: Told(pilots[row["scenario"], s].first(h)),
            f"{name}, and spectrum": lambda row, h=horizon, s=seeds: pilots[row["scenario"], s].joined(row, h),
        }
    return found


def counted(rows: Sequence[Row], way: Callable[[Row], Told]) -> list[tuple[float, list[float]]]:
    """Of each row the regret, and the logarithms of how far off rounds relative to Star-Star's are."""
    found = []
    for row in rows:
        runs = {t: min(float(row[t]), float(row["rounds"])) for t in NAMED}
        told = way(row)
        off = []
        if told.rounds is not None:
            met = [t for t in NAMED if t != FIRST and all(math.isfinite(float(row[one])) for one in (t, FIRST))]
            with np.errstate(divide="ignore", invalid="ignore"):  # 0 where the start is thought to meet the target
                shares = [np.float64(told.rounds[t]) / told.rounds[FIRST] / (runs[t] / runs[FIRST]) for t in met]
            off = [abs(math.log(share)) if 0 < share < math.inf else math.inf for share in shares]
        found.append((runs[told.first] / min(runs.values()) - 1, off))
    return found


def judged(
    where: str, rows: Sequence[Row], pilots: Mapping[tuple[str, str], Piloted], groups: Sequence[str]
) -> Iterator[dict[str, object]]:
    """How each way does on all rows, and on the rows that have something in common."""
    for quantity in dict.fromkeys(row["quantity"] for row in rows):
        mine = [row for row in rows if row["quantity"] == quantity]
        for name, way in ways(pilots, quantity).items():
            found = counted(mine, way)
            for group in ("all", *groups):
                for value in dict.fromkeys(row.get(group, "all") for row in mine):
                    at = [i for i, row in enumerate(mine) if group == "all" or row[group] == value]
                    yield {"where": where, "quantity": quantity, "by": group, "group": value, "way": name} | summary(
                        [mine[i]["scenario"] for i in at], [found[i] for i in at]
                    )


def summary(scenarios: Sequence[str], found: Sequence[tuple[float, list[float]]]) -> dict[str, object]:
    """Shares and quantiles, with intervals over resampled scenarios."""
    regret = np.array([one for one, _ in found])
    off = np.concatenate([np.array(one) for _, one in found])
    names, which = np.unique(scenarios, return_inverse=True)
    drawn = np.random.default_rng(0).integers(len(names), size=(2000, len(names)))
    rows_of = np.bincount(which)[drawn].sum(1)
    right, mean = (
        np.quantile(np.bincount(which, each)[drawn].sum(1) / rows_of, (0.025, 0.975))
        for each in ((regret <= record.RIGHT).astype(float), regret)
    )
    return {
        "rows": len(regret), "scenarios": len(names), "right": f"{(regret <= record.RIGHT).mean():.3f}",
        "right_low": f"{right[0]:.3f}", "right_high": f"{right[1]:.3f}", "regret_median": f"{np.median(regret):.3f}",
        "regret_p90": f"{np.quantile(regret, 0.9):.3f}", "regret_mean": f"{regret.mean():.3f}",
        "mean_low": f"{mean[0]:.3f}", "mean_high": f"{mean[1]:.3f}",
        "ratio_off": f"{math.exp(np.median(off)):.2f}" if len(off) else "",
    }  # fmt: skip


def read(path: Path, **more: str) -> list[dict[str, str]]:
    """Rows of a table, without repetitions."""
    with path.open(encoding="utf-8", newline="") as file:
        told = [{**row, **more} for row in csv.DictReader(file)]
    return list({(r["scenario"], r["family"], r["quantity"], r["reference"]): r for r in told}.values())


def piloted(path: Path) -> dict[tuple[str, str], Piloted]:
    """Pilots by scenario and number of seeds."""
    rows: dict[tuple[str, str], list[Row]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault((row["scenario"], row["seeds"]), []).append(row)
    return {key: Piloted.of(some) for key, some in rows.items()}


def write_record(path: Path = EVIDENCE / "kinds_record.csv") -> None:
    """Judge in family and out of family."""
    data = ROOT / "planner" / "data"
    record_rows = read(EVIDENCE / "measured_losses.csv", quantity="loss")
    record_rows += read(data / "measured_orders_kept.csv", quantity="gradient")
    told = list(
        judged("in family", [{**row, "heterogeneity": kind(row)} for row in record_rows], {}, ("heterogeneity",))
    )
    told += judged(
        "in family, one problem",
        [{**row, "heterogeneity": kind(row)} for row in read(EVIDENCE / "measured_in_family.csv")],
        piloted(EVIDENCE / "pilots_in_family.csv"),
        ("family", "heterogeneity", "reference"),
    )
    kept = [{**row, "heterogeneity": kind(row)} for row in read(EVIDENCE / "measured_in_family_kept.csv")]
    told += judged("in family, kept", kept, {}, ("heterogeneity", "reference"))
    told += judged(
        "out of family",
        read(EVIDENCE / "measured_kinds.csv"),
        piloted(EVIDENCE / "pilots_of_kinds.csv"),
        ("family", "heterogeneity", "reference"),
    )
    write(path, told)
