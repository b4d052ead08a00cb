"""A fragment of HTML that stands alone, for a notebook or a page: it loads nothing and runs nothing."""

from __future__ import annotations

import re
from html import escape

from planner.report import blocks
from planner.report.document import Document

STYLES = {
    "n": "text-align:right",
    "best": "font-weight:bold",
    "bold": "font-weight:bold",
    "reverse": "font-weight:bold",
    "dim": "opacity:0.6",
    "warning": "color:#8a5300",
    **{color: f"color:{color}" for color in ("blue", "red", "green", "magenta", "cyan", "yellow")},
}
"""Styles of classes of a report, whose style sheet a fragment lacks; texts are escaped, and hold no such attribute."""
SUFFIX = ".html"


def render(document: Document, *, width: int, color: bool) -> str:
    """A section with a heading and the blocks in their order; tables have captions and named columns."""
    heading = escape(document.name)
    text = re.sub('<svg class="bar".*?</svg>', "", "\n".join(blocks.html(document.blocks, document.kind)))
    styles = {name: f' style="{style}"' for name, style in STYLES.items()}
    styled = re.sub(r' class="([a-z]*)"', lambda found: styles.get(found[1], ""), text)
    table = '<table style="border-spacing:0.7em 0.1em">'
    start = f'<section lang="en" aria-label="{heading}" style="max-width:60em">\n<h3>{heading}</h3>'
    return f"{start}\n{styled.replace('<table>', table)}\n</section>\n"
