"""What is left to learn against hours: which topology is ahead at which time, with what is known of rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.errors import NoAnswerError
from planner.io.wording import title
from planner.plot import COLUMN, FAINT, INK, Drawing, Floats, Picture, figure, looks, posed, round_ticks, style
from planner.plot.front import SECONDS
from planner.plot.lettering import heading, in_short, name_points
from planner.predict.evidence import predictor_record as record
from planner.predict.question import ceil_rounds
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration

POINTS = 40
DRAWS = 4096
ENDS = (0.1, 0.9)  # of the interval
MOST = 8  # topologies
BELOW = 10.0  # the target, as far as is shown


@dataclass(frozen=True)
class Curve:
    """One topology."""

    seconds: Floats  # after some numbers of rounds
    value: Floats  # what is left of the quantity there
    early: float  # factor on the seconds, lower end of the middle 80 % of the predictor's errors; 1 without a record
    late: float  # the upper end
    needed: float  # seconds to the target, in whole rounds


def of_scenario(scenario: Scenario) -> Picture:
    """The picture of a scenario: the predicted quantity of every topology against time, with 80 % intervals.

    Raises:
        NoAnswerError: If no topology reaches the target, or a round takes no time.
    """
    scenario, question = posed(scenario)
    goal, rounds = float(question.goal()), {t: float(n) for t, n in question.rounds().items()}
    per_round = {t: question.of_a_round(t).seconds for t in question.topologies}
    needed = {t: ceil_rounds(n) * per_round[t] for t, n in rounds.items() if np.isfinite(n)}
    best = sorted(needed, key=lambda t: needed[t])[:MOST]
    if not best or not all(per_round[t] > 0 for t in best):
        raise NoAnswerError(
            "no topology reaches the target in a time above zero. Give a looser --target, or links.", code="N003"
        )
    factors = dict.fromkeys(best, (1.0, 1.0))
    on_record = record.of(question)
    if on_record is not None:
        errors = record.errors(question, np.random.default_rng(question.seed), DRAWS)
        ends = np.exp(np.quantile(errors, ENDS, axis=1) - np.median(errors, axis=1))  # centred, as answers draw them
        factors = {t: (float(ends[0, i]), float(ends[1, i])) for i, t in enumerate(question.topologies) if t in best}
    longest = 1.5 * max(needed[t] for t in best[:4])
    curves = {}
    for topology in best:
        last = max(min(longest / per_round[topology], question.allowed), 2.0)
        at = np.unique(np.rint(np.geomspace(1, last, POINTS)))
        value = [float(question.predictor.reached(question, topology, r, question.values)) for r in at]
        curves[topology] = Curve(at * per_round[topology], np.array(value), *factors[topology], needed[topology])
    first = best[0]
    message = f"{title(first)} is first at the target, after {format_duration(needed[first])}"
    drawn, rows = draw(curves, goal, question.quantity.words, message, in_short(scenario))
    said = "; ".join(f"{title(t)} after {format_duration(needed[t])}" for t in best)
    band = "with 80 % intervals of the predictor's errors nearby" if on_record else "without intervals: no record"
    return drawn, rows, f"Predicted {question.quantity.words} against time, {band}. At the target: {said}."


@style()
def draw(curves: Mapping[str, Curve], target: float, quantity: str, message: str, about: str = "") -> Drawing:
    """Draw curves with bands, the target, and a name where each curve meets it."""
    drawn, axes = figure(COLUMN, 2.9)
    seen = looks(list(curves))
    for topology, curve in curves.items():
        look, band = seen[topology], {"linewidth": 0, "alpha": 0.18}
        axes.fill_betweenx(
            curve.value, curve.seconds * curve.early, curve.seconds * curve.late, color=look.color, **band
        )
        axes.plot(curve.seconds, curve.value, color=look.color, linestyle=look.line)
        axes.plot([curve.needed], [target], color=look.color, marker=look.marker, linestyle="", zorder=5)
    axes.axhline(target, color=FAINT, linewidth=0.8)
    seconds = np.concatenate([c.seconds for c in curves.values()])
    values = np.concatenate([c.value for c in curves.values()])
    axes.set(xscale="log", yscale="log", xlabel="time", ylabel=f"{quantity} left")
    axes.set_xlim(min(c.seconds[0] for c in curves.values()), max(c.needed for c in curves.values()) * 4)
    axes.set_ylim(target / BELOW, float(values.max()) * 1.2)
    round_ticks(axes.xaxis, format_duration, SECONDS)
    round_ticks(axes.yaxis, "{:g}".format)
    axes.text(float(seconds.min()), target, " target", va="top", ha="left", size=6.5, color=FAINT)
    heading(drawn, message, about)
    lines = [(c.seconds, c.value) for c in curves.values()] + [(axes.get_xlim(), (target, target))]
    name_points(axes, [(c.needed, target, seen[t].title, INK) for t, c in curves.items()], lines)
    rows: list[dict[str, Any]] = []
    for topology, curve in curves.items():
        for second, value in zip(curve.seconds.tolist(), curve.value.tolist(), strict=True):
            ends = {"early": second * curve.early, "late": second * curve.late}
            rows.append({"topology": topology, "seconds": second, "value": value, **ends, "target": target})
    return drawn, rows
