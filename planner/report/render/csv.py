"""Comma-separated lines in SI units, for a spreadsheet or a script."""

from __future__ import annotations

from planner.io.csv_rows import FORMULA, csv_text
from planner.report.document import Cell, Document

SUFFIX = ".csv"


def render(document: Document, *, width: int, color: bool) -> str:
    """A header and the records of the document, or the rows of its first table; nothing known leaves a cell empty."""
    if records := document.answer.records():
        return csv_text([records[0], *(map(_cell, record.values()) for record in records)])
    table = document.table
    return csv_text([[column.name for column in table.columns], *(map(_cell, row) for row in table.rows)])


def _cell(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return "" if cell is None else cell
    return f"'{cell}" if cell.startswith(FORMULA) and not _is_number(cell) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
