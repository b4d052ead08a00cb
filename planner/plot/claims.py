"""One forest plot per claim, as SVG and PNG with the numbers beside them as CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from planner.errors import NoAnswerError
from planner.harness.claims import Finding, Row
from planner.io.atomic import write
from planner.io.csv_rows import csv_text
from planner.plot import BAND, FAINT, INK, content, figure, round_ticks, style
from planner.plot.lettering import heading

# Okabe and Ito's colours, and a shape for each, so that neither colour nor shape is needed alone.
LOOKS = {"holds": ("#0072B2", "o"), "fails": ("#D55E00", "X"), "cannot tell": ("#767676", "D")}
MIDDLE, LINE, LETTER = 4.2, 0.2, 0.062  # inches: of the axes across, of a line down, of a letter across
WIDEST = 1e3  # ratios beyond this, or their inverses, are arrows at the edge
AXES = {  # panels in this order
    "tau": "Kendall's tau: 1 is the same order, 0 is guessing, -1 the opposite order",
    "ratio": "ratio, logarithmic; left of 1 what stands before the stroke is smaller",
}


def draw(pictures: Sequence[Finding], folder: Path) -> list[Path]:
    """Write pictures and their data into a folder, which is made; return the files in the order of the pictures.

    Raises:
        NoAnswerError: if matplotlib is not installed, or the folder cannot be written.
    """
    written: list[Path] = []
    try:
        with style():  # says what is missing before the folder is made
            folder.mkdir(parents=True, exist_ok=True)
        for picture in pictures:
            drawn = _figure(picture)
            table = csv_text([[field.name for field in fields(Row)], *map(astuple, picture.rows)])
            files = {kind: content(drawn, kind, picture.statement) for kind in ("svg", "png")} | {"csv": table.encode()}
            for end, whole in files.items():
                written.append(folder / f"{picture.id}.{end}")
                write(written[-1], whole, force=True, option="--pictures")
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoAnswerError(f"--pictures: {folder} cannot be written: {reason}. Name another folder.") from None
    return written


@style()
def _figure(picture: Finding) -> Any:
    from matplotlib.lines import Line2D

    panels = {m: [line for line in picture.rows if line.measure == m] for m in AXES}
    panels = {measure: lines for measure, lines in panels.items() if lines}
    tall = [LINE * (len(lines) + len({line.setting for line in lines})) for lines in panels.values()]
    names = max((len(text) for line in picture.rows for text in (line.setting, line.compared)), default=0)
    width = MIDDLE + LETTER * (names + max((len(_said(line)) for line in picture.rows), default=0))
    drawn, _ = figure(width, 1.0 + sum(tall) + 0.5 * len(tall), across=0)
    grid = drawn.add_gridspec(max(len(panels), 1), 1, height_ratios=tall or None)
    for place, (measure, lines) in enumerate(panels.items()):
        _panel(drawn.add_subplot(grid[place]), measure, lines)
    shown = [verdict for verdict in LOOKS if any(line.verdict == verdict for line in picture.rows)]
    keys = [Line2D([], [], color=LOOKS[v][0], marker=LOOKS[v][1], label=v) for v in shown]
    drawn.legend(handles=keys, loc="outside lower center", ncols=3)
    heading(drawn, f"{picture.id}: {picture.verdict}", picture.statement)
    return drawn


def _panel(axes: Any, measure: str, lines: Sequence[Row]) -> None:
    neutral = 1.0 if measure == "ratio" else 0.0
    low, high = _limits(measure, lines)
    axes.set(xscale="log" if measure == "ratio" else "linear", xlim=(low, high), yticks=[])
    if measure == "ratio":
        round_ticks(axes.xaxis, "{:g}".format)
    else:
        axes.set_xticks((-1, -0.5, 0, 0.5, 1))
    at, beside = 0, {"transform": axes.get_yaxis_transform(), "va": "center"}  # across by shares, down by lines
    for place, line in enumerate(lines):
        if place == 0 or line.setting != lines[place - 1].setting:
            axes.text(-0.02, at, line.setting, **beside, ha="right", weight="bold")
            at += 1
        _line(axes, at, line, low, high, beside)
        at += 1
    axes.axvspan(neutral - lines[0].margin, neutral + lines[0].margin, color=BAND, zorder=0, linewidth=0)
    axes.axvline(neutral, color=INK, linewidth=0.8, zorder=1)
    axes.set_ylim(at - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"{AXES[measure]}\nshaded: too near to {neutral:g} to be a difference", size=7, color=FAINT)


def _line(axes: Any, at: int, line: Row, low: float, high: float, beside: Mapping[str, Any]) -> None:
    color, marker = LOOKS[line.verdict]
    axes.text(-0.02, at, line.compared, **beside, ha="right")
    axes.text(1.02, at, _said(line), **beside, ha="left", size=7, color=FAINT)
    if math.isnan(line.value):
        axes.text(0.5, at, "both diverged", **beside, ha="center", size=7, color=color, backgroundcolor="w")
        return
    if line.low < high and line.high > low:
        axes.plot([max(line.low, low), min(line.high, high)], [at, at], color=color, zorder=3)
    for beyond, edge, arrow in ((line.low < low, low, "<"), (line.high > high, high, ">")):
        if beyond:
            axes.plot([edge], [at], marker=arrow, color=color, markersize=6, zorder=3, clip_on=False)
    if low <= line.value <= high:
        axes.plot([line.value], [at], marker=marker, color=color, markersize=6, markeredgewidth=0.5, zorder=4)


def _said(line: Row) -> str:
    """The number, its interval, which a mark may hide, and what was predicted."""
    if math.isnan(line.value) or math.isinf(line.value):
        return f"diverged; predicted: {line.predicted}"
    return f"{_short(line.value)} [{_short(line.low)}, {_short(line.high)}]; predicted: {line.predicted}"


def _short(number: float) -> str:
    return f"{number:.3f}" if 0.1 <= abs(number) < 10 else f"{number:.3g}"


def _limits(measure: str, lines: Sequence[Row]) -> tuple[float, float]:
    if measure == "tau":
        return -1.05, 1.05
    ends = [x for line in lines for x in (line.low, line.value, line.high) if 1 / WIDEST <= x <= WIDEST]
    ends += [1 - 1.5 * lines[0].margin, 1 + 1.5 * lines[0].margin]
    low, high = math.log(min(ends)), math.log(max(ends))
    room = 0.05 * (high - low)
    return math.exp(low - room), math.exp(high + room)
