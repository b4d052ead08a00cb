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
