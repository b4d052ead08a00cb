"""A fragment of HTML that stands alone, for a notebook or a page: it loads nothing and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from planner.decide.recommendation import Recommendation
from planner.report.render import _rows

CELL = "padding:0.1em 0.7em;text-align:"
NUMBERS = range(2, 8)  # columns of the ranking
FIRST = " font-weight:bold;"


def render(answer: Recommendation, *, width: int, color: bool) -> str:
    """A section with a heading, the sentences, the tables with captions and named columns, and the lists."""
    return "\n".join(_lines(answer)) + "\n"


def _lines(answer: Recommendation) -> Iterator[str]:
    heading = escape(answer.title or "Recommendation")
    yield f'<section lang="en" aria-label="{heading}" style="max-width:60em">'
    yield f"<h3>{heading}</h3>"
    yield from (f"<p>{escape(sentence)}</p>" for sentence in answer.explanation)
    first = [row.tie == 1 for row in answer.ranking]
    yield from _table("Topologies, best first", _rows.COLUMNS, [_rows.cells(r) for r in answer.ranking], first, NUMBERS)
    for found in _rows.searched(answer):
        yield from _table(found.heading, found.columns, found.lines, found.best, range(1, len(found.columns)))
        if found.rest:
            yield f"<p>{escape(found.rest)}</p>"
    if drawn := _rows.drawn(answer):
        yield from _table("What is not known exactly", _rows.DRAWN, drawn, [False] * len(drawn), range(2, 5))
    for title, sentences in _rows.sections(answer):
        unfolded = " open" if title == "Warnings" else ""
        yield f"<details{unfolded}><summary>{title}</summary><ul>"
        yield from (f"<li>{escape(sentence)}</li>" for sentence in sentences)
        yield "</ul></details>"
    yield "</section>"


def _table(
    caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], first: Sequence[bool], numbers: Sequence[int]
) -> Iterator[str]:
    """A table; the rows that come first are bold, and say so by the tie or the rank in them."""
    sides = ["right" if i in numbers else "left" for i in range(len(columns))]
    yield f'<table style="border-collapse:collapse"><caption style="text-align:left">{escape(caption)}</caption>'
    heads = [f'<th scope="col" style="{CELL}{side}">{escape(c)}</th>' for c, side in zip(columns, sides, strict=True)]
    yield f"<thead><tr>{''.join(heads)}</tr></thead>"
    yield "<tbody>"
    for row, bold in zip(rows, first, strict=True):
        style = FIRST if bold else ""
        cells = [f'<td style="{CELL}{side};{style}">{escape(text)}</td>' for text, side in zip(row, sides, strict=True)]
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"
