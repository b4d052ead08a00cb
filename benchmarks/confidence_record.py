"""Whether probabilities are true: shares of draws of a predictor's errors against how often its choice was right.

    python benchmarks/confidence_record.py             # prints the table of docs/predictors.md
    python benchmarks/confidence_record.py --write     # and writes planner/data/calibration.csv, which answers use

For every row of a record (`record_METRIC.csv`, see `predictor_record.py`) errors are drawn from the nearest rows of
other families of problems: what was measured on quadratics is judged by what was learnt on others. The share of them
that leaves the first choice within 2 % of the best is what would be stated; a monotone table from shares to how often
they were right makes probabilities of them. When a family is judged its rows are not in that table either.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from planner.predict.evidence import predictor_record as record
from planner.predict.evidence import table

Array = npt.NDArray[np.float64]
DATA = Path(__file__).resolve().parents[1] / "planner" / "data"
TOPOLOGIES = ("star-star", "star-ring", "ring-star", "ring-ring")
AT = np.linspace(0, 1, 11)  # shares of the table
LEAST = 20  # rows that a step of the table averages
EDGES = (0.0, 0.3, 0.5, 0.7, 0.9, 1.01)


@dataclass(frozen=True)
class Judged:
    """First choices of a predictor by a metric, one number for each row of the record.

    Attributes:
        share: Of nearby errors of other families that leave the choice right.
        right: Whether it was.
        family, scenario: Of the problems.
    """

    share: Array
    right: npt.NDArray[np.bool_]
    family: npt.NDArray[np.str_]
    scenario: npt.NDArray[np.str_]


def judged(predictor: str, metric: str) -> Judged:
    """What errors of other families say of every row."""
    rows, known = table(record.file_of(metric)), record.record(metric)
    assert known is not None  # noqa: S101 - of those that were found
    errors = np.stack([known.errors[predictor][t] for t in TOPOLOGIES], -1)
    measured = np.log([[float(row[f"rounds_{t}"]) for t in TOPOLOGIES] for row in rows])
    predicted = measured - measured[:, :1] - errors
    family = np.array([row["family"] for row in rows])
    shares = np.empty(len(rows))
    for i, place in enumerate(known.places):
        distance = np.where(family != family[i], ((known.places - place) ** 2).sum(1), np.inf)
        drawn = predicted[i] + errors[np.argsort(distance, kind="stable")[: record.NEAREST]]
        first = predicted[i].argmin()
        shares[i] = (drawn[:, first] <= drawn.min(1) + np.log1p(record.RIGHT)).mean()
    right = known.regret[predictor] <= record.RIGHT
    return Judged(shares, right, family, np.array([row["scenario"] for row in rows]))


def fitted(share: Array, right: npt.NDArray[np.bool_]) -> Array:
    """How often shares of `AT` were right: means that never fall, by pooling neighbours that do."""
    order = np.argsort(share, kind="stable")
    blocks: list[list[float]] = []  # mean share, mean right, rows
    for part in np.array_split(order, max(1, len(order) // LEAST)):
        blocks.append([float(share[part].mean()), float(right[part].mean()), float(len(part))])
        while len(blocks) > 1 and blocks[-2][1] >= blocks[-1][1]:
            (a, b, m), (c, d, n) = blocks[-2:]
            blocks[-2:] = [[(m * a + n * c) / (m + n), (m * b + n * d) / (m + n), m + n]]
    stated, found, _ = zip(*blocks, strict=True)
    return np.asarray(np.interp(AT, stated, found))


def probabilities(one: Judged) -> Array:
    """Of every row, by a table of the other families."""
    found = np.empty(len(one.share))
    for family in np.unique(one.family):
        mine = one.family == family
        found[mine] = np.interp(one.share[mine], AT, fitted(one.share[~mine], one.right[~mine]))
    return np.minimum(found, record.CERTAIN)


def stated(one: Judged) -> Iterator[tuple[str, int, int, float, float, float, float]]:
    """Rows, scenarios, mean stated and right with its 95 % interval over scenarios, by what is stated."""
    sure, rng = probabilities(one), np.random.default_rng(0)
    for low, high in itertools.pairwise(EDGES):
        mine = (sure >= low) & (sure < high)
        if mine.any():
            names, which = np.unique(one.scenario[mine], return_inverse=True)
            rows_of, right_of = np.bincount(which), np.bincount(which, one.right[mine])
            drawn = rng.integers(len(names), size=(2000, len(names)))
            shares = right_of[drawn].sum(1) / rows_of[drawn].sum(1)
            ends = (float(np.quantile(shares, at)) for at in (0.025, 0.975))
            words = f"{low:.0%} to {min(high, record.CERTAIN):.0%}"
            yield words, int(mine.sum()), len(names), float(sure[mine].mean()), float(one.right[mine].mean()), *ends


def recorded() -> Iterator[tuple[str, str]]:
    """Every predictor and metric of which errors are on record."""
    for metric in ("loss", "accuracy", "gradient"):
        known = record.record(metric)
        for predictor in known.errors if known else ():
            yield predictor, metric


def main() -> None:
    """Print what is stated and what was right; write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines: list[tuple[str, str, str, str]] = []
    for predictor, metric in recorded():
        one = judged(predictor, metric)
        right = fitted(one.share, one.right)
        lines += [(predictor, metric, f"{a:.1f}", f"{b:.3f}") for a, b in zip(AT, right, strict=True)]
        for words, rows, scenarios, said, was, low, high in stated(one):
            sys.stdout.write(
                f"| `{predictor}`, {metric} | {words} | {rows:,} | {scenarios} | {said:.0%} | {was:.0%} "
                f"[{low:.0%}, {high:.0%}] |\n"
            )
    if options.write:
        with (DATA / record.CALIBRATION).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([("predictor", "metric", "stated", "right"), *lines])


if __name__ == "__main__":
    main()
