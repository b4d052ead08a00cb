"""Texts in a picture: the message and the scenario above it, and names beside points that cover nothing."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hflbounds.topology import tier_symbols
from planner.io.wording import counted
from planner.plot import FAINT, Floats, plain
from planner.scenario.units import format_rate, format_size
from planner.scenario.values import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Name = tuple[float, float, str, str]  # across, up, the name and its colour
MESSAGE, ABOUT = 8.0, 6.5  # points; names have the size of the latter
WIDE: Final = 0.65  # of a letter, over its size; narrower in the mean
LINE: Final = 1.25  # from one line to the next, over the size
MISTAKEN: Final = 60  # points of lines that a name may cover before it stands nearer to another's point
AWAY: Final = 5.0  # points from a point to its name
SIDES: Final = (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1), (2, 3), (2, -3), (-2, 3), (-2, -3)


def heading(drawn: Figure, message: str, about: str = "") -> None:
    """Write the message of a picture above it, bold, and what it is about below in small letters."""
    width, height = drawn.get_size_inches() * 72
    first = _lines(message, width / (WIDE * MESSAGE))
    below = _lines(about, width / (0.56 * ABOUT))
    room = "\n" * round(len(below) * ABOUT / MESSAGE + 0.35) if below else ""
    # Where no height is given, the layout puts the message its own padding below the edge, and makes room for it.
    top = 1 - 3 / height
    drawn.suptitle(
        "\n".join(first) + room, x=4 / width, ha="left", size=MESSAGE, weight="bold", linespacing=LINE - 0.05
    )
    if below:
        under = top - (len(first) * LINE * MESSAGE + 1) / height
        text = drawn.text(4 / width, under, "\n".join(below), ha="left", va="top", size=ABOUT, color=FAINT)
        text.set_in_layout(False)  # the message has made room for it


def in_short(scenario: Scenario, *, steps: bool = True) -> str:
    """Say a scenario in a line: title, sizes, model, links, and local steps where they are not what is compared."""
    known = scenario.known
    counts = [(int(known[tier.size].value or 0),) for tier in tier_symbols(scenario.depth)]
    if scenario.members is not None:
        counts = [tuple(sorted(set(tier.sizes.tolist()))) for tier in scenario.members.children]
    sizes = ""
    for each, name in zip(counts, scenario.names, strict=True):
        joint = "" if not sizes else " x " if len(each) == 1 else " of "
        most = nodes(each[-1], plain(name, 16))
        sizes += f"{joint}{f'{each[0]:,} to ' if len(each) > 1 else ''}{most}"
    links = [
        f"{plain(name, 16)} link {format_rate(link.up)} up{', shared' * (link.sharing == 'per-server')}"
        for name, link in zip(scenario.names, scenario.network.links, strict=True)
        if link is not None
    ]
    said = [sizes, *reversed(links), format_size(scenario.number("model_size"))]
    said += [f"K = {known['K'].value}"] * steps
    return "; ".join([plain(scenario.title, 60), *said] if scenario.title else said)


def nodes(number: int, name: str) -> str:
    """``4 regions``; nodes without a name of their own are ``4 of tier 1``."""
    return f"{number:,} of {name}" if name[-1:].isdigit() else counted(number, name)


def name_points(axes: Any, points: Sequence[Name], lines: Sequence[Any] = ()) -> None:
    """Write names beside points, where they cover no other name and no point; one that fits nowhere is left out.

    Of the sides that are free, a name takes the one where it covers least of the lines, pairs of numbers across and up.
    Nothing may change limits, scales and layout of the axes afterwards.
    """
    from matplotlib.transforms import Bbox

    drawn = axes.figure
    drawn.draw_without_rendering()  # fixes the layout
    drawn.set_layout_engine("none")
    inside = axes.get_window_extent()
    per_point = drawn.dpi / 72
    at = np.reshape(axes.transData.transform([(x, y) for x, y, *_ in points]), (-1, 2))
    marks = [Bbox.from_bounds(x - 3 * per_point, y - 3 * per_point, 6 * per_point, 6 * per_point) for x, y in at]
    drawn_lines = [_dense(axes.transData.transform(np.column_stack(one)), 2 * per_point) for one in lines]
    ink = np.concatenate([np.empty((0, 2)), *drawn_lines])
    taken = marks + [text.get_window_extent() for text in axes.texts]
    for k, point in enumerate(points):
        best, least = None, math.inf
        for dx, dy in SIDES:
            sides = ("center", "left", "right")[np.sign(dx)], ("center", "bottom", "top")[np.sign(dy)]
            text = _write(axes, point, (dx * AWAY, dy * AWAY), sides, led=bool(dx and dy))
            box = _letters(text)
            free = within(box, inside) and not any(box.overlaps(other) for other in taken)
            covered = int(((ink > (box.x0, box.y0)) & (ink < (box.x1, box.y1))).all(axis=1).sum())
            outside = np.maximum(np.maximum((box.x0, box.y0) - at, at - (box.x1, box.y1)), 0.0)
            covered += MISTAKEN * int(np.argmin(np.hypot(*outside.T)) != k)
            if not free or covered >= least:
                text.remove()
                continue
            if best is not None:
                best.remove()
            best, least = text, covered
            if not covered:
                break
        if best is not None:
            taken.append(_letters(best))


def name_ends(axes: Any, ends: Sequence[Name]) -> None:
    """Write names to the right of the ends of lines, one below the other; a thin line leads to one that had to move."""
    drawn = axes.figure
    drawn.draw_without_rendering()  # fixes the layout
    drawn.set_layout_engine("none")
    per_point = drawn.dpi / 72
    inside, apart = axes.get_window_extent(), 1.3 * ABOUT * per_point
    at = {end: axes.transData.transform(end[:2]) for end in sorted(ends, key=lambda end: -end[1])}
    top = inside.y1
    places: list[float] = []
    for _, y in at.values():
        top = min(float(y), top) if not places else min(float(y), places[-1] - apart)
        places.append(top)
    floor = inside.y0 + apart / 2
    for k in reversed(range(len(places))):  # up again where the last would stand below the axes
        places[k] = max(places[k], floor)
        floor = places[k] + apart
    right = max((float(x) for x, _ in at.values()), default=0.0)
    for (end, (x, y)), place in zip(at.items(), places, strict=True):
        moved = abs(place - y) > 1 or right - x > apart
        beside = (right - x) / per_point + AWAY * (2 if moved else 1), (place - y) / per_point
        _write(axes, end, beside, ("left", "center"), led=moved)


def within(box: Any, frame: Any) -> bool:
    """Whether a box is inside another."""
    return bool(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1)


def _letters(text: Any) -> Any:
    """Return the box of a text without the line from it."""
    from matplotlib.text import Text

    text.get_window_extent()  # puts the text where it belongs
    return Text.get_window_extent(text)


def _write(axes: Any, name: Name, away: tuple[float, float], sides: tuple[str, str], *, led: bool) -> Any:
    """Write a name so many points away from what it names, and a thin line between them where it is ``led`` there."""
    x, y, text, color = name
    line = {"arrowstyle": "-", "linewidth": 0.5, "color": FAINT, "shrinkA": 0, "shrinkB": 3}
    look = {"ha": sides[0], "va": sides[1], "size": ABOUT, "color": color, "path_effects": halo()}
    return axes.annotate(
        text, (x, y), xytext=away, textcoords="offset points", arrowprops=line if led else None, **look
    )


def halo() -> list[Any]:
    """Return what keeps letters legible over lines and areas: an edge in the colour of the paper."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.2, foreground="white")]


def _dense(line: Floats, step: float) -> Floats:
    """Put points on a line, so far apart at most; what is not finite is left out."""
    line = line[np.isfinite(line).all(axis=1)]
    if len(line) < 2:
        return line
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    places = np.linspace(0.0, along[-1], int(along[-1] / step) + 2)
    return np.column_stack([np.interp(places, along, line[:, k]) for k in (0, 1)])


def _lines(text: str, letters: float) -> list[str]:
    """Break a text into lines, and never between a number and its unit."""
    return textwrap.wrap(re.sub(r"(?<=\d) (?=[A-Za-z%])", "\N{NO-BREAK SPACE}", text), max(int(letters), 10))
