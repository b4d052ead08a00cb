"""How good predictions were where they could be checked: records that ship with the package, and how they are read."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """Rows of a CSV file of ``planner/data``, by the names of its columns."""
    with resources.files("planner").joinpath("data", name).open(encoding="utf-8") as stream:
        return tuple(csv.DictReader(stream))


def rows_of(name: str, **asked: str) -> list[dict[str, str]]:
    """Rows of such a file that have these values, by the names of their columns."""
    return [row for row in table(name) if asked.items() <= row.items()]
