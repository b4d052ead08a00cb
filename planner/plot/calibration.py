"""What was predicted against what was measured, with the intervals of the measurements where they have any."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from planner.io.wording import title
from planner.plot import BAND, COLUMN, FAINT, Drawing, Picture, figure, looks, posed, round_ticks, style
from planner.plot.lettering import heading
from planner.predict.evidence import predictor_record, table
from planner.predict.evidence.orderings import SETTING
from planner.predict.question import Question
from planner.scenario.resolve import Scenario

COLUMNS = ("of", "setting", "predicted", "measured", "low", "high")
ROUNDS = 30.0  # of the measured runs, docs/evidence
NEAR = 1.25  # factor within which a prediction agrees with a measurement that has no interval


@dataclass(frozen=True)
class Point:
    """A prediction and its measurement."""

    of: str  # what tells points apart by colour and marker
    setting: str  # where it was measured
    predicted: float
    measured: float  # on the same scale
    low: float  # lower end of the interval of `measured`; it itself where there is none
    high: float  # upper end

    @property
    def agrees(self) -> bool:
        """Whether the prediction is within the interval, or without one within a factor `NEAR`."""
        if self.low == self.high:
            return bool(self.measured / NEAR <= self.predicted <= self.measured * NEAR)
        return self.low <= self.predicted <= self.high


def of_scenario(scenario: Scenario) -> Picture:
    """For the predictor of a scenario: what it says of pairs of topologies, and what measured runs say, by its metric.

    By loss and accuracy: rounds to a loss, where the predictor has a record of them. Else: mean squared gradients.
    """
    _, question = posed(scenario)
    if question.metric != "gradient" and (points := list(_rounds_to_loss(question.predictor.id))):
        same, clear = sum((p.predicted < 1) == (p.measured < 1) for p in points), len(points)
        near = sum(p.agrees for p in points)
        about = f"predictor {question.predictor.id}, by loss; runs of problems with known constants, not of yours"
        says = (
            f"Rounds to a loss, relative to Star-Star's: by predictor {question.predictor.id} against measured. Shown "
            f"are {clear} comparisons from the record of problems with known constants; {near} predictions are within "
            f"a factor {NEAR:g}. In {same} the predicted order is the measured one."
        )
        message = f"By loss the predicted order is the measured one in {same} of {clear} pairs"
        labels = "ratio of rounds"
    else:
        _, question = posed(replace(scenario, metric="gradient"))
        points = _measured(question)
        same = sum((p.predicted < 1) == (p.high < 1) for p in points if p.predicted != 1 and not p.low <= 1 <= p.high)
        clear = sum(not p.low <= 1 <= p.high for p in points)
        message = f"The predicted order is the measured one in {same} of {clear} clear cases"
        about = (
            f"predictor {question.predictor.id}, by gradient; runs of pairs at G = M = 10, P = 1, K = 2, not of yours"
        )
        says = (
            "Ratio of the mean squared gradients of two topologies, the one with one more ring above: by predictor "
            f"{question.predictor.id} against measured, with 95 % intervals. Shown are {len(points)} pairs at "
            f"G = M = 10, P = 1, K = 2, {ROUNDS:g} rounds, fixed order, for every scenario. "
            f"Where the interval excludes 1, in {clear} pairs, {same} are on the predicted side."
        )
        labels = "ratio"
    drawn, rows = draw(points, f"predicted {labels}", f"measured {labels}", message, about, logarithmic=True)
    return drawn, rows, says


def of_rows(rows: Sequence[Mapping[str, Any]]) -> Picture:
    """The picture of a table with the columns `COLUMNS`."""
    points = [Point(**row) for row in rows]
    agree = sum(p.agrees for p in points)
    says = f"Predicted against measured: {agree} of {len(points)} predictions are within the interval measured."
    numbers = [x for p in points for x in (p.predicted, p.measured, p.low, p.high)]
    shares = min(numbers) >= 0 and max(numbers) <= 1
    wide = not shares and 0 < 3 * min(numbers) < max(numbers)
    message = f"{agree} of {len(points)} predictions are within the interval measured"
    return *draw(points, "predicted", "measured", message, logarithmic=wide), says


@style()
def draw(
    points: Sequence[Point], across: str, up: str, message: str = "", about: str = "", *, logarithmic: bool
) -> Drawing:
    """Draw the points with their intervals and the line on which prediction and measurement are equal.

    Filled are those whose prediction agrees. On logarithmic axes 1 is where two things are alike, and
    quarters that contradict are shaded.
    """
    drawn, axes = figure(COLUMN, 3.9 if message else 3.3)
    values = np.array([(p.predicted, p.measured, p.low, p.high) for p in points])
    least, most = float(values.min()), float(values.max())
    if logarithmic:
        low, high = least / 1.1, most * 1.1
        axes.set(xscale="log", yscale="log")
        for between, (bottom, top) in (((low, 1), (1, high)), ((1, high), (low, 1))):
            axes.fill_between(between, bottom, top, color=BAND, linewidth=0, zorder=0)
    else:
        room = 0.05 * (most - least or 1.0)
        low, high = least - room, most + room
    axes.plot((low, high), (low, high), color=FAINT, linewidth=0.8, zorder=1)
    for name, look in looks([p.of for p in points]).items():
        mine = [p for p in points if p.of == name]
        for p in mine:
            if p.low < p.high:  # a point of a thousand without an interval needs no line
                axes.plot((p.predicted, p.predicted), (p.low, p.high), color=look.color, linewidth=0.6, zorder=2)
        marks: Any = {"marker": look.marker, "color": look.color, "markersize": 4, "markeredgewidth": 0.7}
        for face, label in ((look.color, look.title), ("white", None)):
            of_face = [(p.predicted, p.measured) for p in mine if p.agrees == (label is not None)]
            across_up = np.reshape(of_face, (-1, 2)).T
            axes.plot(*across_up, linestyle="", **marks, markerfacecolor=face, zorder=3, label=label)
    axes.set(xlim=(low, high), ylim=(low, high), xlabel=across, ylabel=up)
    axes.set_aspect("equal")
    if logarithmic:
        round_ticks(axes.xaxis, "{:g}".format)
        round_ticks(axes.yaxis, "{:g}".format)
    where = f"a factor {NEAR:g}" if all(p.low == p.high for p in points) else "the interval"
    says = f"filled: prediction within {where}" + ("\ngrey: the predicted order is wrong" if logarithmic else "")
    drawn.legend(loc="outside lower center", ncols=2, title=says, title_fontsize=7)
    if message:
        heading(drawn, message, about)
    return drawn, [{**asdict(p), "agrees": p.agrees} for p in points]


def _measured(question: Question) -> list[Point]:
    """Every measured pair, and how the predictor of a question compares the two at the setting it was measured at."""
    found = []
    for row in table("order_by_regime.csv"):
        pair = row["ratio_of"].split(" / ")
        if not question.topologies.keys() >= set(pair):
            continue
        zeta, delta = float(row["zeta_over_sigma"]), float(row["delta_over_sigma"])
        values = {**SETTING, "L": 1.0, "A": 1.0, "sigma": 1.0, "zeta": zeta, "delta": delta}
        above, below = (float(question.predictor.reached(question, t, ROUNDS, values)) for t in pair)
        measured, low, high = (float(row[name]) for name in ("ratio", "ci95_low", "ci95_high"))
        where = f"{row['family']}, start {row['start']}, zeta/sigma = {zeta:g}, delta/sigma = {delta:g}"
        found.append(Point(" / ".join(map(title, pair)), where, above / below, measured, low, high))
    return found


def _rounds_to_loss(predictor: str) -> Iterator[Point]:
    """Rounds to a loss relative to Star-Star's, measured and predicted, of every row on record."""
    for row in table(predictor_record.file_of("loss")):
        for topology in ("star-ring", "ring-star", "ring-ring"):
            error = row.get(f"error_{predictor}_{topology}")
            if error is None:
                return
            measured = float(row[f"rounds_{topology}"]) / float(row["rounds_star-star"])
            where = f"scenario {row['scenario']}, {row['family']}, to Star-Star's loss after {row['reference']} rounds"
            of = f"{title(topology)} / {title('star-star')}"
            yield Point(of, where, measured / math.exp(float(error)), measured, measured, measured)
