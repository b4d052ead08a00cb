"""What ``hfl-plan picture`` does: two files, and the picture in words."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from planner import plot as pictures
from planner.data.label_counts import read_counts
from planner.errors import ScenarioError
from planner.io.csv_rows import CsvTable
from planner.io.listings import Listing, listing
from planner.io.text import suggest
from planner.scenario.resolve import Scenario

LARGEST_TABLE = 10**5  # lines
WORDS = ("name", "of", "setting", "topology")  # columns that are no numbers
DOORS = ("of_scenario", "of_tables")
NAMES = {1: ("groups",), 2: ("before", "after")}  # of groupings, by how many files there are


def drawn(kind: str, scenario: Callable[[], Scenario], data: Sequence[Path], output: Path, force: bool) -> Listing:
    """Draw a picture, of a scenario or of files, write it and its numbers, and say what it shows.

    Raises:
        ScenarioError: for a picture there is not, and for files and options that cannot be meant.
        NoAnswerError: if matplotlib is not installed, a file cannot be written, or the scenario has no answer.
    """
    known = kinds()
    if kind not in known:
        hint = suggest(kind, known) or f"Known are {', '.join(known)}."
        raise ScenarioError(f"{kind!a:.40} is not a kind of picture. {hint}")
    module = known[kind]
    pictures.checked(output, force)
    numbers = pictures.data_path(output)
    if any(numbers.resolve() == path.resolve() for path in data):
        raise ScenarioError(f"--output: {numbers} is what --data reads, and the numbers would go there. Name another.")
    if hasattr(module, "of_tables"):
        if len(data) not in NAMES:
            raise ScenarioError(f"--data: {kind} needs label counts: --data before.csv --data after.csv, or one file.")
        tables = [(name, read_counts(path)) for name, path in zip(NAMES[len(data)], data, strict=True)]
        figure, rows, says = module.of_tables(tables)
    elif data:
        if not hasattr(module, "of_rows"):
            raise ScenarioError(f"--data: {kind} is drawn from a scenario. Leave it out.")
        if len(data) > 1:
            raise ScenarioError(f"--data: {kind} takes one file.")
        figure, rows, says = module.of_rows(_read(data[0], module.COLUMNS))
    else:
        figure, rows, says = module.of_scenario(scenario())
    picture, _ = pictures.save(figure, output, rows, says=says, force=force)
    text = f"{says} Written: {picture} and its numbers, {numbers}"
    return listing("picture", text, {"kind": kind, "picture": str(picture), "data": str(numbers), "says": says}, rows)


def kinds() -> dict[str, Any]:
    """Every picture that is drawn from a scenario or from files, and its module."""
    modules = {
        info.name: importlib.import_module(f"{pictures.__name__}.{info.name}")
        for info in pkgutil.iter_modules(pictures.__path__)
    }
    return {name: module for name, module in modules.items() if any(hasattr(module, door) for door in DOORS)}


def _read(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The lines of a CSV, each with its words and numbers."""
    table = CsvTable(path)
    for name in columns:
        table.need(name, way_out=f"Needed are {', '.join(columns)}")
    found: list[dict[str, Any]] = []
    for row in table.rows("line"):
        if len(found) == LARGEST_TABLE:
            row.refuse("there are too many lines", f"Draw {LARGEST_TABLE:,} or fewer")
        numbers = {n: row.number(n, "a number of a picture", signed=True) for n in columns if n not in WORDS}
        found.append({name: numbers[name] if name in numbers else row[name] for name in columns})
    return found
