"""Comma-separated lines in SI units, for a spreadsheet or a script."""

from __future__ import annotations

import csv
import io

from planner.report.document import Cell, Document

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would run
SUFFIX = ".csv"


def render(document: Document, *, width: int, color: bool) -> str:
    """A header and the records of the document, or the rows of its first table; nothing known leaves a cell empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if document.records:
        writer.writerow(document.records[0])
        writer.writerows([_cell(value) for value in record.values()] for record in document.records)
    else:
        writer.writerow(column.name for column in document.table.columns)
        writer.writerows([_cell(cell) for cell in row] for row in document.table.rows)
    return stream.getvalue()


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
