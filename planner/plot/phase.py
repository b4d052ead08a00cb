"""A phase diagram: the best topology over two inputs, its lead, and where the theorem says nothing."""

from __future__ import annotations

import math
from collections import Counter
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from planner.decide.phase_diagram import OUTSIDE, Axis, Phase, source
from planner.io.wording import names, one_of, percent, title
from planner.plot import FAINT, INK, PAGE, PALETTE, Drawing, Floats, Look, figure, looks, style
from planner.plot.lettering import halo, heading, within
from planner.scenario.units import format_amount

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLEAR = 0.5  # ahead by so much is the full colour
PALEST = 0.22  # share of the colour where two tie
OUTSIDE_HATCH, TIE_HATCH, PAPER = "////", "....", "#FFFFFF"
NEAR = 0.12  # of an axis: names nearer to the scenario stand above it
OTHERS = Look("others", FAINT, "", "", "")  # than those of most cells, where more are best than a picture tells apart
NAMED = 0.02  # of all cells; smaller regions have no name in them
MEANING = {
    "G": "groups G",
    "M": "clients per group M",
    "P": "group rounds P",
    "K": "local steps K",
    "S1": "groups drawn S1",
    "S2": "clients drawn S2",
    "zeta": "intra-group deviation zeta",
    "delta": "inter-group deviation delta",
    "zeta/sigma": "intra-group deviation, zeta / sigma",
    "delta/sigma": "inter-group deviation, delta / sigma",
    "sigma": "gradient noise sigma",
    "R": "rounds R",
    "target": "target",
}


@style()
def draw(found: Phase) -> Drawing:
    """The diagram and its numbers."""
    from matplotlib.colors import to_rgb

    drawn, axes = figure(0.7 * PAGE, 0.62 * PAGE)
    axes.grid(visible=False)
    across, up = _edges(found.x), _edges(found.y)
    shown = [t for t in found.among if any(t in row for row in found.first)]
    seen = Counter(t for row in found.tied for tied in row for t in tied)
    kept = [t for t, _ in seen.most_common(len(PALETTE) - (len(seen) > len(PALETTE)))]
    look = dict.fromkeys(seen, OTHERS) | looks([t for t in found.among if t in kept])
    rgb = np.ones((len(found.y.values), len(found.x.values), 3))
    for i, row in enumerate(found.tied):
        for j, tied in enumerate(row):
            if tied:
                margin = 0.0 if len(tied) > 1 else found.margin[i][j]
                rgb[i, j] = np.mean([_shade(np.array(to_rgb(look[t].color)), margin) for t in tied], axis=0)
    axes.pcolormesh(across, up, rgb, shading="flat", rasterized=False, linewidth=0)
    outside = np.array([[bool(reason) for reason in row] for row in found.outside])
    _hatched(axes, outside, across, up)
    ties = np.array([[len(tied) > 1 for tied in row] for row in found.tied]) & ~outside
    _hatched(axes, ties, across, up, TIE_HATCH)
    _borders(axes, found, across, up)
    _sizes(axes, found, across, up)
    if across[0] <= found.x.now <= across[-1] and up[0] <= found.y.now <= up[-1]:
        cross: Any = {"marker": "P", "markersize": 8, "color": INK, "markeredgecolor": PAPER}
        axes.plot([found.x.now], [found.y.now], linestyle="", **cross, zorder=6)
        below: Any = {"xytext": (0, -7), "textcoords": "offset points", "ha": "center", "va": "top", "fontsize": 6.5}
        axes.annotate("you are here", (found.x.now, found.y.now), **below, zorder=7, path_effects=halo())
    for axis, side, ends in ((found.x, "x", across), (found.y, "y", up)):
        _scale(axes, axis, side, ends)
    named = [_name(axes, found, tied) for tied in sorted({tied for row in found.tied for tied in row if tied})]
    drawn.draw_without_rendering()  # once for all, as it takes most of the time
    for name in filter(None, named):
        if not within(name.get_window_extent(), axes.get_window_extent()):
            name.remove()  # the legend says whose the colour is
    i, j = (int(np.abs(np.log(np.asarray(a.values) / a.now)).argmin()) for a in (found.y, found.x))
    where = [t for t in shown if t in found.tied[i][j]]  # first in the cell nearest to the scenario
    heading(
        drawn,
        f"{one_of(where) if where else 'No topology'} is best here by {found.objective}"
        if len(shown) > 1
        else f"{names(shown) or 'No topology'} is best everywhere here",
        f"{found.title + '; ' if found.title else ''}{source(found)}; paler where the lead is smaller",
    )
    _legend(drawn, found, shown, look, any_tied=bool(ties.any()), any_outside=bool(outside.any()))
    return drawn, found.rows()


def says(found: Phase) -> str:
    """The diagram in words."""
    cells = [first for row in found.first for first in row]
    shares = {t: cells.count(t) / len(cells) for t in found.among if t in cells}
    parts = ", ".join(f"{title(t)} in {percent(share)} of the cells" for t, share in shares.items())
    ends = " and ".join(
        f"{a.words} from {format_amount(a.values[0], a.unit)} to {format_amount(a.values[-1], a.unit)}"
        for a in (found.x, found.y)
    )
    return f"Best topology by {found.objective} over {ends}: {parts}."


def _shade(color: Floats, margin: float | None) -> Floats:
    """Paler where the first is less far ahead; None, where no other reaches the target, is far."""
    share = 1.0 if margin is None else PALEST + (1 - PALEST) * math.sqrt(min(margin / CLEAR, 1.0))
    return np.asarray(1 - share * (1 - color))


def _edges(axis: Axis) -> Floats:
    """Of the cells: halfway between values by their logarithms."""
    values = np.log(np.asarray(axis.values))
    middles = (values[:-1] + values[1:]) / 2
    return np.asarray(np.exp([2 * values[0] - middles[0], *middles, 2 * values[-1] - middles[-1]]))


def _hatched(axes: Any, cells: NDArray[np.bool_], across: Floats, up: Floats, hatch: str = OUTSIDE_HATCH) -> None:
    """Hatch cells, run by run."""
    from matplotlib.patches import Rectangle

    for i, row in enumerate(cells):
        turns = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(int)))
        for left, right in turns.reshape(-1, 2):
            corner, size = (across[left], up[i]), (across[right] - across[left], up[i + 1] - up[i])
            hatched: Any = {"fill": False, "hatch": hatch, "linewidth": 0, "edgecolor": FAINT}
            axes.add_patch(Rectangle(corner, *size, **hatched, zorder=2))


def _borders(axes: Any, found: Phase, across: Floats, up: Floats) -> None:
    """A line between neighbours in which others tie for the first place."""
    from matplotlib.collections import LineCollection

    lines = []
    for i, row in enumerate(found.tied):
        for j, tied in enumerate(row):
            if j and row[j - 1] != tied:
                lines.append([(across[j], up[i]), (across[j], up[i + 1])])
            if i and found.tied[i - 1][j] != tied:
                lines.append([(across[j], up[i]), (across[j + 1], up[i])])
    axes.add_collection(LineCollection(lines, colors=INK, linewidths=0.9, zorder=4), autolim=False)


def _sizes(axes: Any, found: Phase, across: Floats, up: Floats) -> None:
    """Over numbers and sizes of groups: those of as many clients as now."""
    if {found.x.parameter, found.y.parameter} != {"G", "M"}:
        return
    clients = found.x.now * found.y.now
    x = np.geomspace(across[0], across[-1], 200)
    y = clients / x
    inside = (y >= up[0]) & (y <= up[-1])
    axes.plot(x[inside], y[inside], color=INK, linestyle="--", linewidth=0.8, zorder=5)
    ends = np.flatnonzero(inside)
    if len(ends):
        k = ends[len(ends) // 4]
        at: Any = {"xytext": (3, 3), "textcoords": "offset points"}
        axes.annotate(f"G M = {clients:,.0f}", (x[k], y[k]), **at, fontsize=6.5, zorder=6, path_effects=halo())


def _name(axes: Any, found: Phase, tied: tuple[str, ...]) -> Any:
    """The best topology, in the cell of a region that is farthest from any other; None in a small one."""
    left = np.pad(np.array([[cell == tied for cell in row] for row in found.tied]), 1)
    if left.sum() < NAMED * left.size:
        return None
    while True:
        inner = left.copy()
        inner[1:-1, 1:-1] &= left[:-2, 1:-1] & left[2:, 1:-1] & left[1:-1, :-2] & left[1:-1, 2:]
        inner[[0, -1]] = inner[:, [0, -1]] = False
        if not inner.any():
            break
        left = inner
    cells = np.argwhere(left)
    i, j = cells[np.abs(cells - cells.mean(axis=0)).sum(axis=1).argmin()] - 1
    text = "all tie" if set(tied) == set(found.among) else "\n= ".join(title(t) for t in tied)
    size = 8 if len(tied) == 1 else 6
    look: Any = {"ha": "center", "va": "center", "fontsize": size, "weight": "bold", "path_effects": halo()}
    at = found.x.values[j], found.y.values[i]
    near = all(
        abs(math.log(x / a.now) / math.log(a.values[-1] / a.values[0])) < NEAR
        for x, a in zip(at, (found.x, found.y), strict=True)
    )
    if near:  # above the cross, which has its own words below
        look |= {"va": "bottom", "xytext": (0, 7), "textcoords": "offset points"}
        at = found.x.now, found.y.now
    return axes.annotate(text, at, **look, zorder=7)


def _scale(axes: Any, axis: Axis, side: str, ends: Floats) -> None:
    """Logarithmic, with ticks as people write them."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

    meaning = MEANING.get(axis.parameter, axis.words)
    axes.set(**{f"{side}scale": "log", f"{side}lim": (ends[0], ends[-1]), f"{side}label": meaning})
    drawn = getattr(axes, f"{side}axis")
    decades = math.log10(ends[-1] / ends[0])
    narrow = side == "x" and bool(axis.unit)  # labels with units are long
    steps = (1.0,) if decades > (1.5 if narrow else 4) else (1.0, 3.0) if decades > 2 else (1.0, 2.0, 5.0)
    ticks = [t for t in LogLocator(subs=steps).tick_values(ends[0], ends[-1]) if ends[0] <= t <= ends[-1]]
    drawn.set_major_locator(FixedLocator(ticks))
    drawn.set_minor_locator(FixedLocator([]))
    drawn.set_major_formatter(FuncFormatter(lambda value, _: format_amount(value, axis.unit)))
    drawn.set_minor_formatter(NullFormatter())


def _legend(drawn: Figure, found: Phase, shown: list[str], look: Any, *, any_tied: bool, any_outside: bool) -> None:
    from matplotlib.patches import Patch

    of = {OTHERS.title if look[t] is OTHERS else title(t): look[t].color for t in shown}
    keys: list[Any] = [Patch(facecolor=color, label=name) for name, color in of.items()]
    if any_tied:
        near = f"within {percent(found.resolution)}"
        keys.append(Patch(facecolor=PAPER, hatch=TIE_HATCH, edgecolor=FAINT, linewidth=0.5, label=near))
    if any_outside:
        present = {reason for row in found.outside for reason in row if reason}
        words = "\n".join(OUTSIDE[reason] for reason in OUTSIDE if reason in present)
        keys.append(Patch(facecolor=PAPER, hatch=OUTSIDE_HATCH, edgecolor=INK, linewidth=0.5, label=_folded(words)))
    among = names(found.among) if len(found.among) <= len(PALETTE) else f"{len(found.among)} topologies"
    drawn.legend(handles=keys, loc="outside right center", title=_folded(f"best of {among}", 22))


def _folded(text: str, width: int = 26) -> str:
    return "\n".join(fill(line, width) for line in text.splitlines())
