"""The best topology and the others with intervals: how sure the order is, in one glance."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from planner.decide.uncertainty.draws import draws
from planner.decide.verdict import LEVEL, standing
from planner.errors import NoAnswerError
from planner.io.wording import names, title, two
from planner.plot import COLUMN, FAINT, Drawing, Picture, figure, looks, posed, round_ticks, style
from planner.plot.lettering import heading, in_short
from planner.predict.evidence.predictor_record import unproven_factor
from planner.scenario.resolve import Scenario

DRAWS = 1024
MOST = 16  # topologies


@dataclass(frozen=True)
class Ratio:
    """The objective of a topology over that of the best."""

    topology: str  # its id
    value: float  # in whole rounds, as they are run
    low: float  # and high: ends of the middle 80 % of the draws
    high: float


def of_scenario(scenario: Scenario) -> Picture:
    """The picture of a scenario: every topology's objective over that of the best, with 80 % intervals.

    Drawn are the inputs that are not known exactly, and the predictor's errors in the measured scenarios most like it.

    Raises:
        NoAnswerError: If fewer than two topologies reach the target.
    """
    scenario, question = posed(scenario)
    here = standing(question, scenario, scenario.objective)
    reached = here.totals
    if len(reached) < 2 or not min(reached.values()):
        raise NoAnswerError("fewer than two topologies reach the target after a round or more, so no ratio is there.")
    best = next(iter(reached))
    found = here.judged.found or draws(question, scenario, scenario.objective, number=DRAWS)
    mine, error = found.totals[found.topologies.index(best)], unproven_factor(question)
    ratios, recorded = [], False
    for topology in list(reached)[:MOST]:
        with np.errstate(invalid="ignore"):
            drawn = found.totals[found.topologies.index(topology)] / mine
        low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="nearest")
        stated = here.ratio(topology)
        assert stated is not None  # noqa: S101 - the first takes more than nothing
        if stated.low is not None and stated.high is not None:
            low, high, recorded = stated.low, stated.high, True
        elif topology != best:  # of such trees no errors are on record, but how far nine of ten ratios were off
            low, high = min(low, stated / error), max(high, stated * error)
        ratios.append(Ratio(topology, float(stated), float(low), float(high)))
    what = scenario.objective
    first = here.best
    open_ = [one.topology for one in ratios[1:] if one.low <= 1 and one.topology not in first]
    if len(first) > 1:
        message = f"Toss-up by {what}: {names(first)}"
    elif open_:
        message = f"{title(best)} is best by {what}, but {names(open_)} may be"
    else:
        message = f"{title(best)} is best by {what} throughout the intervals"
    figure_, rows = draw(ratios, f"{what} over that of {title(best)}", message, in_short(scenario))
    highs = [two(r.high) if np.isfinite(r.high) else "no end" for r in ratios]
    ends = [f"[{two(r.low)}, {high}]" for r, high in zip(ratios, highs, strict=True)]
    said = "; ".join(f"{title(r.topology)} {two(r.value)}x {both}" for r, both in zip(ratios, ends, strict=True))
    band = "with 80 % intervals"
    if error > 1 and not recorded:
        band = f"within the {two(error)}x in which nine of ten ratios of such predictions were"
    return figure_, rows, f"{what.capitalize()} over that of {title(best)}, {band}: {said}."


@style()
def draw(ratios: list[Ratio], axis: str, message: str, about: str = "") -> Drawing:
    """Draw one line for each ratio, the first on top, on a logarithmic axis."""
    drawn, axes = figure(COLUMN, 1.25 + 0.24 * len(ratios))
    seen = looks([ratio.topology for ratio in ratios[:8]])
    ends = [x for r in ratios for x in (r.low, r.value, r.high) if np.isfinite(x)] + [1.0]
    widest = max(ends)
    for place, ratio in enumerate(ratios):
        look = seen.get(ratio.topology)
        color = look.color if look else FAINT
        high = ratio.high if np.isfinite(ratio.high) else widest
        axes.plot([ratio.low, high], [place, place], color=color, linewidth=2.2, solid_capstyle="butt")
        axes.plot([ratio.value], [place], linestyle="", marker=look.marker if look else "o", color=color, markersize=6)
    axes.axvline(1.0, color="black", linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(ratios)), [title(r.topology) for r in ratios])
    axes.set(xscale="log", ylim=(len(ratios) - 0.5, -0.5), xlabel=axis)
    axes.set_xlim(min(ends) / 1.3, widest * 1.3)
    round_ticks(axes.xaxis, "{:g}x".format)
    axes.grid(axis="y", visible=False)
    heading(drawn, message, about)
    return drawn, [asdict(ratio) for ratio in ratios]
