"""For a terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from planner.decide.recommendation import Recommendation
from planner.report.render import _rows

TEXTS = ("", "topology", "held back by", "first in")  # columns; the others are of numbers
SPARED = ("eta_eff", "time/round", "first in", "held back by", "eta", "zeta", "delta", "traffic")
STYLES = {"Warnings": "yellow", "What it stands on": "dim"}
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
    kept = _fitting(_rows.COLUMNS, rows, console.width)
    best = [row.tie == 1 for row in answer.ranking]
    console.print(_table(_rows.COLUMNS, rows, best, kept))
    for found in _rows.searched(answer):
        console.print()
        console.print(Text(found.heading, style="bold"))
        kept = _fitting(found.columns, found.lines, console.width)
        console.print(_table(found.columns, found.lines, found.best, kept))
        if found.rest:
            console.print(Text(found.rest, style="dim"))
    for heading, sentences in _rows.sections(answer):
        console.print()
        console.print(Text(heading, style="bold"))
        for sentence in sentences:
            console.print(Padding(Text(sentence, style=STYLES.get(heading, "")), (0, 0, 0, 2)))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    best: Sequence[bool],
    kept: Sequence[int],
) -> Table:
    """The columns that are kept; the best lines bold, numbers to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for i in kept:
        table.add_column(columns[i], justify="left" if columns[i] in TEXTS else "right", no_wrap=True)
    for row, bold in zip(rows, best, strict=True):
        table.add_row(*(Text(row[i]) for i in kept), style="bold" if bold else "")
    return table


def _fitting(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns that fit: whole columns go, the least needed first, never digits."""
    widths = [max(len(text) for text in column) + 2 for column in zip(columns, *rows, strict=True)]
    kept = list(range(len(widths)))
    for column in SPARED:
        if column in columns and sum(widths[i] for i in kept) > width:
            kept.remove(columns.index(column))
    return kept
