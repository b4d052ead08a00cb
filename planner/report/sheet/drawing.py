"""Pictures inside a report: SVG that keeps to its content-security policy, follows dark and light, and says what it is.

matplotlib writes style attributes, which the policy forbids; they become presentation attributes, which a style sheet
can also repaint. Ids get the picture's name in front, as several pictures share a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from planner.errors import PlannerError

if TYPE_CHECKING:
    from planner.plot import Draw

STYLE = re.compile(r' style="([^"]*)"')
ID = re.compile(r'\bid="([^"]*)"')
REFERENCE = re.compile(r'(xlink:href="#|url\(#)([^")]*)')
NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
UNSEEN = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", re.DOTALL)
OPENING = re.compile(r"<svg [^>]*?viewBox=\"([^\"]*)\"[^>]*>")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture."""

    id: str  # what the ids in it begin with
    place: str  # section of the report: answer or changes
    svg: str  # an element
    says: str  # what it shows, in words
    csv: str  # its numbers


def pictures(wanted: Iterable[tuple[str, str, Draw]]) -> Iterator[Picture]:
    """Draw pictures, and leave out those that the answer has no numbers for.

    Raises:
        NoAnswerError: If matplotlib is not installed.
    """
    from planner import plot

    with plot.style():
        pass
    for id_, place, draw in wanted:
        try:
            figure, rows, says = draw()
        except PlannerError:  # such as fewer than two topologies that reach the target
            continue
        svg = inline(plot.content(figure, "svg").decode(), id_, says)
        yield Picture(id_, place, svg, says, plot.table(rows))


def inline(svg: str, id_: str, says: str) -> str:
    """Make an element of a file of SVG as matplotlib writes it: ids begin with ``id_``, and it says what it is."""
    text = UNSEEN.sub("", svg)
    text = STYLE.sub(lambda found: _attributes(found[1]), text)
    text = ID.sub(lambda found: f'id="{id_}-{found[1]}"', text)
    text = REFERENCE.sub(lambda found: f"{found[1]}{id_}-{found[2]}", text)
    opening = f'<svg {NAMESPACES} viewBox="{{}}" role="img" aria-label="{escape(says)}">'
    text = OPENING.sub(lambda found: opening.format(found[1]), text, count=1)
    return re.sub(r">\s+<", "><", text).strip()


def _attributes(style: str) -> str:
    """Write declarations as presentation attributes."""
    declared = (one.partition(":") for one in style.split(";"))
    return "".join(f' {name.strip()}="{value.strip()}"' for name, colon, value in declared if colon)
