"""One forest plot per claim, as SVG and PNG with the numbers beside them as CSV. The one door to matplotlib."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from textwrap import fill
from typing import Any

from planner.errors import NoAnswerError
from planner.harness.claims import Finding, Row
from planner.io.atomic import write
from planner.io.csv_rows import csv_text
from planner.plot import BAND, FAINT, GRID, style

# Okabe and Ito's colours, and a shape for each, so that neither colour nor shape is needed alone.
LOOKS = {"holds": ("#0072B2", "o"), "fails": ("#D55E00", "X"), "cannot tell": ("#767676", "D")}
MIDDLE = 4.2  # inches
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
        with style():
            import matplotlib

            folder.mkdir(parents=True, exist_ok=True)
            matplotlib.rcdefaults()  # these have letters of their own size
            matplotlib.rcParams.update({"svg.hashsalt": "hfl-plan", "font.size": 9.0})
            for picture in pictures:
                for end, whole in _files(picture).items():
                    written.append(folder / f"{picture.id}.{end}")
                    write(written[-1], whole, force=True, option="--pictures")
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoAnswerError(f"--pictures: {folder} cannot be written: {reason}. Name another folder.") from None
    return written


def _files(picture: Finding) -> dict[str, bytes]:
    figure = _figure(picture)
    svg, png = io.BytesIO(), io.BytesIO()
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": "hfl-plan"})
    figure.savefig(png, format="png", dpi=150, metadata={"Software": None})
    table = csv_text([[field.name for field in fields(Row)], *map(astuple, picture.rows)])
    return {"svg": svg.getvalue(), "png": png.getvalue(), "csv": table.encode()}


def _figure(picture: Finding) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    panels = {m: [line for line in picture.rows if line.measure == m] for m in AXES}
    panels = {measure: lines for measure, lines in panels.items() if lines}
    tall = {measure: len(lines) + len({line.setting for line in lines}) for measure, lines in panels.items()}
    settings, names = ([getattr(line, part) for line in picture.rows] for part in ("setting", "compared"))
    left = 0.35 + max(_wide(settings, 9, "bold"), _wide(names, 9))
    right = 0.35 + _wide([_said(line) for line in picture.rows], 8)
    width = left + MIDDLE + right
    statement = fill(picture.statement, int(14.5 * width))
    head, foot, row = 0.66 + 0.16 * statement.count("\n"), 0.72, 0.215
    height = head + sum(row * n + foot for n in tall.values())
    figure = Figure(figsize=(width, height))
    figure.text(0.15 / width, 1 - 0.15 / height, f"{picture.id}: {picture.verdict}", size=12, weight="bold", va="top")
    figure.text(0.15 / width, 1 - 0.40 / height, statement, size=9, va="top", color=FAINT)
    top = height - head
    for measure, lines in panels.items():
        tall_here = row * tall[measure]
        box = (left / width, (top - tall_here) / height, (width - left - right) / width, tall_here / height)
        _panel(figure.add_axes(box), measure, lines)
        top -= tall_here + foot
    shown = [verdict for verdict in LOOKS if any(line.verdict == verdict for line in picture.rows)]
    keys = [Line2D([], [], color=LOOKS[v][0], marker=LOOKS[v][1], linewidth=1.4, markersize=6, label=v) for v in shown]
    where = ((width - 0.15) / width, 1 - 0.08 / height)
    figure.legend(handles=keys, loc="upper right", bbox_to_anchor=where, ncols=3, frameon=False, borderaxespad=0)
    return figure


def _wide(texts: Sequence[str], size: float, weight: str = "normal") -> float:
    """How wide the widest of them is, in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(weight=weight)
    widths = (float(TextPath((0, 0), text, size=size, prop=font).get_extents().width) for text in texts)
    return max(widths, default=0) / 72


def _panel(axes: Any, measure: str, lines: Sequence[Row]) -> None:
    neutral = 1.0 if measure == "ratio" else 0.0
    low, high = _limits(measure, lines)
    if measure == "ratio":
        axes.set_xscale("log")
    axes.set_xlim(low, high)
    _ticks(axes, measure, low, high)
    at = 0
    left: Any = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center"}
    for place, line in enumerate(lines):
        if place == 0 or line.setting != lines[place - 1].setting:
            axes.text(-0.02, at, line.setting, **left, weight="bold")
            at += 1
        _line(axes, at, line, low, high)
        at += 1
    axes.axvspan(neutral - lines[0].margin, neutral + lines[0].margin, color=BAND, zorder=0, linewidth=0)
    axes.axvline(neutral, color="black", linewidth=0.8, zorder=1)
    axes.set_ylim(at - 0.4, -0.6)
    axes.set_yticks([])
    axes.grid(axis="x", color=GRID, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel(f"{AXES[measure]}\nshaded: too near to {neutral:g} to be a difference", size=8, color=FAINT)


def _line(axes: Any, at: int, line: Row, low: float, high: float) -> None:
    color, marker = LOOKS[line.verdict]
    beside: Any = {"transform": axes.get_yaxis_transform(), "va": "center"}
    axes.text(-0.02, at, line.compared, **beside, ha="right")
    axes.text(1.02, at, _said(line), **beside, ha="left", size=8, color=FAINT)
    if math.isnan(line.value):
        axes.text(0.5, at, "both diverged", **beside, ha="center", size=8, color=color, backgroundcolor="w")
        return
    if line.low < high and line.high > low:
        axes.plot([max(line.low, low), min(line.high, high)], [at, at], color=color, linewidth=1.4, zorder=3)
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


def _ticks(axes: Any, measure: str, low: float, high: float) -> None:
    """Plain numbers, a handful, 1 among them."""
    if measure == "tau":
        axes.set_xticks([-1, -0.5, 0, 0.5, 1])
        return
    from matplotlib.ticker import FixedLocator, NullLocator

    for ticks in _ladders(low, high):
        if len(ticks) >= 4:
            break
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{x:g}" for x in ticks])


def _ladders(low: float, high: float) -> Iterator[list[float]]:
    """Round numbers from low to high, on ever finer ladders: first of decades, then of equal steps."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
    for digits in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        yield [x for x in (digit * 10.0**power for power in decades for digit in digits) if low <= x <= high]
    for step in (0.2, 0.1, 0.05, 0.02, 0.01, 0.005):
        yield [round(i * step, 3) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
