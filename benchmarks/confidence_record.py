"""Whether probabilities are true: shares of draws of a predictor's errors against how often its choice was right.

    python benchmarks/confidence_record.py             # prints the tables of docs/evidence/confidence.md
    python benchmarks/confidence_record.py --write     # and writes planner/data/calibration.csv, which answers use

For every row of a record (`record_METRIC.csv`, see `predictor_record.py`) errors are drawn from the nearest rows of
other families of problems and the same kind of heterogeneity: what was measured on quadratics is judged by what was
learnt on others. On real data (`record_METRIC_images.csv` and `record_METRIC_images_fading.csv`, see `real_record.py`)
a family is a data set with one seed of its split and first model. As in answers, errors are centred: the median of each
ratio to the first choice is the predicted one. The share of them that leaves the first choice within 2 % of the best is
what would be stated; a monotone table from shares to how often they were right makes probabilities of them. When a
family is judged its rows are not in that table either. Rows are judged by rounds, and by time: there a round of each
topology takes a time of its own, drawn from a lognormal distribution whose logarithm has the standard deviation
`SPREAD`, and known exactly.

Pilots (`pilot`) are those of 8 rounds and one noise seed of `real_record.py`, judged by the other seed. Their errors
are drawn as in answers, lognormal and wider beyond their last round; the part of the seeds, which an answer has from
several, is what other families of problems were off by within it. No more than the share of draws is stated.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import real_record

from planner.decide.verdict import LEVEL, TOLD
from planner.predict.evidence import predictor_record as record
from planner.predict.evidence import table
from planner.predict.predictors.piloted import WIDENING

Array = npt.NDArray[np.float64]
DATA = Path(__file__).resolve().parents[1] / "planner" / "data"
TOPOLOGIES = ("star-star", "star-ring", "ring-star", "ring-ring")
AT = np.linspace(0, 1, 11)  # shares of the table
SAME = 1e-3  # logarithms of rounds that are the same, from errors and rounds as they are written
LEAST = 40  # rows that a step of the table averages
SPREAD = 1.0
EDGES = (0.0, 0.3, 0.5, 0.7, 0.9, 1.01)
HORIZON, DRAWS = 8, 2000  # rounds of a pilot; of its errors
KIND = {"iid": 0, "intra": 1, "inter": 2, "both": 3, "nested": 3}
MEDIAN = 0.6745  # of the absolute value of a standard normal


@dataclass(frozen=True)
class Judged:
    """First choices of a predictor by a metric, one number for each row of the record.

    Attributes:
        share: Of nearby errors of other families that leave the choice right.
        right: Whether it was.
        most: What is stated at most: by rounds, the share of those nearby rows in which the choice was right; of pilots
            ``share``.
        family, scenario: Of the problems.
        low: Ratio of another topology to the first choice, the 10 % quantile of its draws; the least of the three.
        kind: Which data differ, as of `predictor_record.kind`.
    """

    share: Array
    right: npt.NDArray[np.bool_]
    most: Array
    family: npt.NDArray[np.str_]
    scenario: npt.NDArray[np.str_]
    low: Array
    kind: npt.NDArray[np.int_]


def judged(predictor: str, name: str, by: record.By) -> Judged:
    """What errors of other families, or a pilot's own, say of every row of a record, by rounds or by time."""
    if predictor == "pilot":
        return _pilots(name, by)
    rows, known = table(record.file_of(name)), record.record(name)
    assert known is not None  # noqa: S101 - of those that were found
    errors = np.stack([known.errors[predictor][t] for t in TOPOLOGIES], -1)
    measured = np.log([[float(row[f"rounds_{t}"]) for t in TOPOLOGIES] for row in rows])
    predicted = measured - measured[:, :1] - errors
    regret = known.regret[predictor]
    right, first = regret <= record.RIGHT, _first(predicted, measured, regret)
    if by == "time":
        seconds = np.random.default_rng(0).normal(0, SPREAD, predicted.shape)
        predicted, measured = predicted + seconds, measured + seconds
        first = predicted.argmin(1)
        mine = measured[np.arange(len(rows)), first]
        right = mine <= measured.min(1) + np.log1p(record.RIGHT)
    family = np.array([row["family"] for row in rows])
    shares, low, most = np.empty(len(rows)), np.empty(len(rows)), np.full(len(rows), record.CERTAIN)
    for i, place in enumerate(known.places):
        near, _ = known.nearest(place, int(known.kinds[i]), family != family[i])
        off = errors[near] - errors[near][:, [first[i]]]
        lead = predicted[i] - predicted[i].min() + off - np.sort(off, axis=0)[len(off) // 2]
        if by == "rounds":
            most[i] = (known.regret[predictor][near] <= record.RIGHT).mean()
        others = np.delete(np.sort(lead, axis=0), first[i], 1)
        low[i] = np.exp(others[math.floor((1 - LEVEL) / 2 * (len(lead) - 1))].min())
        shares[i] = (lead.min(1) >= -np.log1p(record.RIGHT)).mean()
    return Judged(shares, right, most, family, np.array([row["scenario"] for row in rows]), low, known.kinds)


def _pilots(name: str, by: record.By) -> Judged:
    """The same of pilots in all settings on real data, or in those with many local steps in a round."""
    say, every, metric = real_record.by_pilot(HORIZON, own=True), [], name.removesuffix(record.MANY)
    few = real_record.of_roles(real_record.ROOT / "measured_curves.csv", real_record.ANSWERED)
    for one in few if name == metric else real_record.of_many_steps():
        for quantity, target in itertools.product(real_record.METRIC, real_record.TARGETS):
            if real_record.METRIC[quantity] == metric and target <= one.rounds[-1]:
                said, runs = say(one, quantity, target), one.rounds_to(quantity, target, slice(1, 2))
                assert said is not None  # noqa: S101 - a pilot names one always
                both = [[of[t] / of["star-star"] for t in TOPOLOGIES] for of in (said.rounds, runs)]
                every.append((one.told, target, *np.log(both)))
    told, reference, ahead, found = zip(*every, strict=True)
    predicted, measured, after = np.array(ahead), np.array(found), np.array(reference)
    errors = np.abs(measured - predicted)[:, 1:]
    if by == "time":
        seconds = np.random.default_rng(0).normal(0, SPREAD, predicted.shape)
        predicted, measured = predicted + seconds, measured + seconds
    at, first = np.arange(len(every)), predicted.argmin(1)
    right = measured[at, first] <= measured.min(1) + np.log1p(record.RIGHT)
    family = np.array([f"{one['data']}-{one['seed']}" for one in told])
    shares, low, rng = np.empty(len(every)), np.empty(len(every)), np.random.default_rng(0)
    for i in at:
        seeds = np.median(errors[(family != family[i]) & (after <= HORIZON)]) / MEDIAN
        spread = math.hypot(seeds, WIDENING * math.log(max(after[i] / HORIZON, 1.0), 3))
        drawn = predicted[i] + np.where(np.arange(4) > 0, spread, 0.0) * rng.standard_normal((DRAWS, 4))
        lead = drawn - drawn[:, [first[i]]]
        shares[i] = (lead.min(1) >= -np.log1p(record.RIGHT)).mean()
        others = np.delete(np.sort(lead, axis=0), first[i], 1)
        low[i] = np.exp(others[math.floor((1 - LEVEL) / 2 * (DRAWS - 1))].min())
    scenario = np.array(["-".join(one[name] for name in real_record.SETTING[1:]) for one in told])
    kind = np.array([KIND[one["scheme"]] for one in told])
    return Judged(shares, right, shares, family, scenario, low, kind)


def _first(predicted: Array, measured: Array, regret: Array) -> npt.NDArray[np.intp]:
    """The topology of the fewest predicted rounds; of equally many that which has the regret on record."""
    level = predicted < predicted.min(1, keepdims=True) + SAME
    off = np.abs(np.expm1(measured - measured.min(1, keepdims=True)) - regret[:, None])
    return np.asarray(np.where(level, off, np.inf).argmin(1))


def fitted(share: Array, right: npt.NDArray[np.bool_]) -> Array:
    """How often shares of `AT` were right: means that never fall, by pooling neighbours that do.

    By the rule of succession, (right + 1) / (rows + 2): rows that were all right make nothing certain.
    """
    order = np.argsort(share, kind="stable")
    blocks: list[list[float]] = []  # mean share, mean right, rows
    for part in np.array_split(order, max(1, len(order) // LEAST)):
        blocks.append([float(share[part].mean()), (right[part].sum() + 1) / (len(part) + 2), float(len(part))])
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
    return np.minimum(found, one.most)


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
            left, right = (float(np.quantile(shares, at)) for at in (0.025, 0.975))
            words = f"{low:.0%} to {min(high, record.CERTAIN):.0%}"
            yield (
                words,
                int(mine.sum()),
                len(names),
                float(sure[mine].mean()),
                float(one.right[mine].mean()),
                left,
                right,
            )


def by_kind(one: Judged) -> Iterator[tuple[str, int, int, float, float]]:
    """Rows, scenarios, mean stated and right, by which data differ."""
    sure = probabilities(one)
    for kind, words in enumerate(("neither", "clients", "groups", "both")):
        mine = one.kind == kind
        scenarios = len(np.unique(one.scenario[mine]))
        yield words, int(mine.sum()), scenarios, float(sure[mine].mean()), float(one.right[mine].mean())


def by_verdict(one: Judged) -> Iterator[tuple[str, int, int, float]]:
    """Rows, scenarios, and how often the first choice was right, where it would be named alone and where not."""
    named = (one.low > 1 + record.RIGHT) & (probabilities(one) >= TOLD)
    for words, mine in (("one is named", named), ("toss-up", ~named)):
        if not mine.any():
            continue
        yield words, int(mine.sum()), len(np.unique(one.scenario[mine])), float(one.right[mine].mean())


def recorded() -> Iterator[tuple[str, str, record.By]]:
    """Every predictor and record that has errors of it, and pilots, by rounds and by time."""
    kinds = (f"{kind}{many}" for many in ("", record.MANY) for kind in (record.IMAGES, record.FADING))
    of_images = [f"{metric}{kind}" for kind in kinds for metric in record.BY_LOSS]
    for name in ("loss", *of_images, "gradient"):
        known = record.record(name)
        for predictor in known.errors if known else ():
            yield predictor, name, "rounds"
            yield predictor, name, "time"
    for many in ("", record.MANY):
        for metric in record.BY_LOSS:
            yield "pilot", f"{metric}{many}", "rounds"
            yield "pilot", f"{metric}{many}", "time"


def main() -> None:
    """Print what is stated and what was right; write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines: list[tuple[str, str, str, str, str]] = []
    kinds: list[str] = []
    verdicts: list[str] = []
    for predictor, metric, by in recorded():
        one = judged(predictor, metric, by)
        right = fitted(one.share, one.right)
        lines += [(predictor, metric, by, f"{a:.1f}", f"{b:.3f}") for a, b in zip(AT, right, strict=True)]
        for words, rows, scenarios, said, was, low, high in stated(one):
            sys.stdout.write(
                f"| `{predictor}`, {metric}, {by} | {words} | {rows:,} | {scenarios} | {said:.0%} | {was:.0%} "
                f"[{low:.0%}, {high:.0%}] |\n"
            )
        for words, rows, scenarios, said, was in by_kind(one):
            kinds.append(
                f"| `{predictor}`, {metric}, {by} | {words} | {rows:,} | {scenarios} | {said:.0%} | {was:.0%} |\n"
            )
        for words, rows, scenarios, was in by_verdict(one):
            verdicts.append(f"| `{predictor}`, {metric}, {by} | {words} | {rows:,} | {scenarios} | {was:.0%} |\n")
    sys.stdout.writelines([*kinds, *verdicts])
    if options.write:
        with (DATA / record.CALIBRATION).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([("predictor", "metric", "by", "stated", "right"), *lines])


if __name__ == "__main__":
    main()
