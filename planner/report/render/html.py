"""A fragment of HTML that stands alone, for a notebook or a page: it loads nothing and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from planner.report.document import Block, Document, Facts, Figure, Heading, Items, Paragraph, Sentences, Table

CELL = "padding:0.1em 0.7em;text-align:"
BEST = ";font-weight:bold"
STYLES = {"reverse": "font-weight:bold", "dim": "opacity:0.5"}
WIDE = 200  # columns of a figure
SUFFIX = ".html"


def render(document: Document, *, width: int, color: bool) -> str:
    """A section with a heading and the blocks in their order; tables have captions and named columns."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Document) -> Iterator[str]:
    heading = escape(document.title or document.kind)
    yield f'<section lang="en" aria-label="{heading}" style="max-width:60em">'
    yield f"<h3>{heading}</h3>"
    for block in document.blocks:
        yield from _block(block)
    yield "</section>"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Figure):
        yield f'<pre role="img" aria-label="{escape(block.alternative)}">'
        for line in block.lines(WIDE):
            spans = ((escape(text), STYLES.get(style, style and f"color:{style}")) for text, style in line)
            yield "".join(f'<span style="{style}">{text}</span>' if style else text for text, style in spans)
        yield "</pre>"
    elif isinstance(block, Items):
        if block.sentences:
            unfolded = " open" if block.style == "warning" else ""
            yield f"<details{unfolded}><summary>{escape(block.heading)}</summary><ul>"
            yield from (f"<li>{escape(sentence)}</li>" for sentence in block.sentences)
            yield "</ul></details>"
    elif isinstance(block, Facts):
        if block.entries:
            yield '<dl style="display:grid;grid-template-columns:max-content auto;column-gap:1em">'
            for label, text in block.entries:
                yield f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>"
            yield "</dl>"
    elif isinstance(block, Heading):
        yield f"<h4>{escape(block.text)}</h4>"
    else:
        bold = ' style="font-weight:bold"' if isinstance(block, Paragraph | Sentences) and block.style == "bold" else ""
        yield f"<p{bold}>{escape(block.text)}</p>"


def _table(table: Table) -> Iterator[str]:
    """A table; the rows that come first are bold, and say so by the tie or the rank in them."""
    sides = ["right" if column.right else "left" for column in table.columns]
    caption = escape(table.heading or table.label)
    yield f'<table style="border-collapse:collapse"><caption style="text-align:left">{caption}</caption>'
    heads = zip(table.headings(), sides, strict=True)
    cells = [f'<th scope="col" style="{CELL}{side}">{escape(name)}</th>' for name, side in heads]
    yield f"<thead><tr>{''.join(cells)}</tr></thead>"
    yield "<tbody>"
    for i, row in enumerate(table.texts()):
        style = BEST if i in table.best else ""
        cells = [f'<td style="{CELL}{side}{style}">{escape(text)}</td>' for text, side in zip(row, sides, strict=True)]
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"
