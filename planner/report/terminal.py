"""A document where somebody looks: as wide as the terminal is, in bold and in colours.

rich does it, whose import takes as long as a fifth of the answer; `planner.report.render.table` does without it
where nobody looks.
"""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from planner.report.document import Block, Document, Facts, Figure, Heading, Table

STYLES = {"warning": "yellow"}


def render(document: Document, *, width: int, color: bool = True) -> str:
    """Write the blocks for a terminal of this width."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=max(40, width),
        force_terminal=color,
        no_color=not color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    if document.title:
        console.print(Text(document.title, style="bold"))
    for block in document.blocks:
        _show(block, console)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _show(block: Block, console: Console) -> None:
    if isinstance(block, Table):
        if not block.detail:
            if block.apart:
                _show_heading(block.heading, console)
            block = _fitting(block, console.width - block.indent)
            if block.above:
                cells = zip(*([c.name for c in block.columns], *block.texts()), strict=True)
                console.print(
                    Text(" " * block.indent + block.headings_above([max(map(len, c)) for c in cells]), style="dim")
                )
            console.print(Padding(_grid(block), (0, 0, 0, block.indent)))
    elif isinstance(block, Figure):
        for line in block.lines(console.width):
            console.print(Text.assemble(*line))
    elif isinstance(block, Facts):
        if block.apart and block.entries:
            console.print()
        for label, text in block.lines():
            console.print(Text.assemble((label, "dim" if block.strong else ""), text), soft_wrap=True)
    elif isinstance(block, Heading):
        _show_heading(block.text, console)
    else:
        for text in block.lines():
            console.print(Text(text, style=STYLES.get(block.style, block.style)), soft_wrap=True)


def _show_heading(text: str, console: Console) -> None:
    console.print()
    if text:
        console.print(Text(text, style="bold"))


def _fitting(table: Table, width: int) -> Table:
    """The columns that fit: whole columns go, the least needed first, all of a name together, never digits."""
    names = [column.name for column in table.columns]
    widths = [max(map(len, texts)) + 2 for texts in zip(names, *table.texts(), strict=True)]
    kept = list(range(len(names)))
    for name in table.spared:
        if sum(widths[i] for i in kept) > width:
            kept = [i for i in kept if names[i] != name]
    return replace(table.of(kept), above=tuple((sum(i < place for i in kept), text) for place, text in table.above))


def _grid(table: Table) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in table.columns:
        grid.add_column(column.name, justify="right" if column.right else "left", no_wrap=not column.wraps)
    for number, row in enumerate(table.texts()):
        grid.add_row(*map(Text, row), style="bold" if number in table.best else "")
    return grid
