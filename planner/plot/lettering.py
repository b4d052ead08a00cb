"""Texts in a picture: the message and the scenario above it, and names beside points that cover nothing."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from hflbounds.topology import tier_symbols
from planner.io.wording import counted
from planner.plot import FAINT, plain
from planner.scenario.units import format_rate, format_size
from planner.scenario.values import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MESSAGE, ABOUT = 8.0, 6.5  # points
WIDE: Final = 0.65  # of a letter, over its size; narrower in the mean
LINE: Final = 1.25  # from one line to the next, over the size
AWAY: Final = 5.0  # points from a point to its name


def heading(drawn: Figure, message: str, about: str = "") -> None:
    """Write the message of a picture above it, bold, and what it is about below in small letters.

    Args:
        drawn: Whose layout makes room for both.
        message: A sentence.
        about: The scenario, as `in_short` writes it.
    """
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


def in_short(scenario: Scenario) -> str:
    """Say a scenario in a line: title, sizes, model, links and steps."""
    known = scenario.known
    symbols = tier_symbols(scenario.depth)
    sizes = " x ".join(
        nodes(int(known[tier.size].value or 0), plain(name, 16))
        for tier, name in zip(symbols, scenario.names, strict=True)
    )
    links = [
        f"{plain(name, 16)} link {format_rate(link.up)} up{', shared' * (link.sharing == 'per-server')}"
        for name, link in zip(scenario.names, scenario.network.links, strict=True)
        if link is not None
    ]
    steps = f"K = {known['K'].value}"
    said = [sizes, *reversed(links), format_size(scenario.number("model_size")), steps]
    return "; ".join([plain(scenario.title, 60), *said] if scenario.title else said)


def nodes(number: int, name: str) -> str:
    """``4 regions``; nodes without a name of their own are ``4 of tier 1``."""
    return f"{number:,} of {name}" if name[-1:].isdigit() else counted(number, name)


def name_points(
    axes: Any,
    points: Sequence[tuple[float, float, str, str]],
    size: float = 7.0,
    others: Sequence[tuple[float, float]] = (),
) -> None:
    """Write names beside points, where they cover no other name and no point; one that fits nowhere is left out.

    Args:
        axes: With its limits and scales set; nothing may change the layout afterwards.
        points: Across, up, name and colour.
        size: Of the letters, in points.
        others: Points without names that stay free too.
    """
    from matplotlib.transforms import Bbox

    drawn = axes.figure
    drawn.draw_without_rendering()  # fixes the layout
    drawn.set_layout_engine("none")
    inside = axes.get_window_extent()
    per_point = drawn.dpi / 72
    marks = [
        Bbox.from_bounds(x - 3 * per_point, y - 3 * per_point, 6 * per_point, 6 * per_point)
        for x, y in axes.transData.transform([(x, y) for x, y, *_ in points] + [tuple(one) for one in others])
    ]
    taken = marks + [text.get_window_extent() for text in axes.texts]
    for x, y, name, color in points:
        for dx, dy, ha, va in _SIDES:
            text = axes.annotate(
                name,
                (x, y),
                xytext=(dx * AWAY, dy * AWAY),
                textcoords="offset points",
                ha=ha,
                va=va,
                size=size,
                color=color,
            )
            box = text.get_window_extent()
            if (
                inside.x0 <= box.x0
                and box.x1 <= inside.x1
                and inside.y0 <= box.y0
                and box.y1 <= inside.y1
                and not any(box.overlaps(other) for other in taken)
            ):
                taken.append(box)
                break
            text.remove()


_SIDES: Final = (
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
    (1, 1, "left", "bottom"),
    (1, -1, "left", "top"),
    (-1, 1, "right", "bottom"),
    (-1, -1, "right", "top"),
    (2, 3, "left", "bottom"),
    (2, -3, "left", "top"),
    (-2, 3, "right", "bottom"),
    (-2, -3, "right", "top"),
)


def _lines(text: str, letters: float) -> list[str]:
    """Break a text into lines, and never between a number and its unit."""
    return textwrap.wrap(re.sub(r"(?<=\d) (?=[A-Za-z%])", "\N{NO-BREAK SPACE}", text), max(int(letters), 10))
