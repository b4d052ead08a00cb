"""For a terminal."""

from __future__ import annotations

import io

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from planner.recommendation import Recommendation
from planner.reports import _rows

NUMBERS = range(2, 8)
SPARED = ("eta_eff", "time/round", "first in", "held back by", "eta", "traffic")
PLAIN = 10_000  # columns; where nobody looks, nothing is wrapped


def render(answer: Recommendation, *, width: int, color: bool) -> str:
    """The answer for a terminal of this width; in a pipe (no colour asked for) lines are never wrapped."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=max(40, width) if color else PLAIN,
        force_terminal=color,
        no_color=not color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    if answer.title:
        console.print(Text(answer.title, style="bold"))
    for i, sentence in enumerate(answer.explanation):
        console.print(Text(sentence, style="bold" if i == 0 else ""))
    console.print()
    rows = [_rows.cells(row) for row in answer.ranking]
    kept = _fitting(rows, console.width)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for i in kept:
        table.add_column(_rows.COLUMNS[i], justify="right" if i in NUMBERS else "left", no_wrap=True)
    for row, texts in zip(answer.ranking, rows, strict=True):
        table.add_row(*(Text(texts[i]) for i in kept), style="bold" if row.tie == 1 else "")
    console.print(table)
    _list(console, "What would change it", _rows.flips(answer), "")
    _list(console, "Warnings", answer.warnings, "yellow")
    _list(console, "What it stands on", _rows.basis(answer), "dim")
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _fitting(rows: list[tuple[str, ...]], width: int) -> list[int]:
    """The columns that fit: whole columns go, the least needed first, never digits."""
    widths = [max(len(text) for text in column) + 2 for column in zip(_rows.COLUMNS, *rows, strict=True)]
    kept = list(range(len(widths)))
    for column in SPARED:
        if sum(widths[i] for i in kept) > width:
            kept.remove(_rows.COLUMNS.index(column))
    return kept


def _list(console: Console, heading: str, sentences: tuple[str, ...] | list[str], style: str) -> None:
    if not sentences:
        return
    console.print()
    console.print(Text(heading, style="bold"))
    for sentence in sentences:
        console.print(Padding(Text(sentence, style=style), (0, 0, 0, 2)))
