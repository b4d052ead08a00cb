"""What ``hfl-plan picture`` does: two files, and the picture in words."""

from __future__ import annotations

import csv
import difflib
import importlib
import io
import json
import math
import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from planner import plot as pictures
from planner.data.label_counts import read_counts
from planner.errors import ScenarioError
from planner.scenario.resolve import Scenario

SCHEMA = "hfl-plan/picture/1"
LARGEST_FILE = 1 << 24  # bytes
LARGEST_TABLE = 10**5  # lines
WORDS = ("name", "of", "setting", "topology")  # columns that are no numbers
DOORS = ("of_scenario", "of_tables")
NAMES = {1: ("groups",), 2: ("before", "after")}  # of groupings, by how many files there are


def drawn(
    kind: str, scenario: Callable[[], Scenario], data: Sequence[Path], output: Path, force: bool, *, as_json: bool
) -> str:
    """Draw a picture, write it and its numbers, and say what it shows.

    Args:
        kind: of picture.
        scenario: reads the scenario, where one is needed.
        data: files to draw in its place.
        output: where to.
        force: whether to overwrite.
        as_json: whether to answer in JSON.

    Raises:
        ScenarioError: for a picture there is not, and for files and options that cannot be meant.
        NoAnswerError: if matplotlib is not installed, a file cannot be written, or the scenario has no answer.
    """
    module = _module(kind)
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
        figure, rows, says = module.of_rows(*_read(data[0], module.COLUMNS))
    else:
        figure, rows, says = module.of_scenario(scenario())
    picture, _ = pictures.save(figure, output, rows, says=says, force=force)
    if as_json:
        document = {"schema": SCHEMA, "kind": kind, "picture": str(picture), "data": str(numbers), "says": says}
        return json.dumps(document, indent=2) + "\n"
    return f"{says}\nWritten: {picture} and its numbers, {numbers}\n"


def kinds() -> dict[str, Any]:
    """Every picture that is drawn from a scenario or from files, and its module."""
    modules = {
        info.name: importlib.import_module(f"{pictures.__name__}.{info.name}")
        for info in pkgutil.iter_modules(pictures.__path__)
    }
    return {name: module for name, module in modules.items() if any(hasattr(module, door) for door in DOORS)}


def _module(kind: str) -> Any:
    known = kinds()
    if kind not in known:
        near = difflib.get_close_matches(kind, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(known)}."
        raise ScenarioError(f"{kind!a:.40} is not a kind of picture. {hint}")
    return known[kind]


def _read(path: Path, columns: Sequence[str]) -> tuple[list[dict[str, str]], dict[str, list[float]]]:
    """The lines of a CSV, and its columns of numbers.

    Raises:
        ScenarioError: naming the file, the line and the column.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(LARGEST_FILE + 1)
        if len(raw) > LARGEST_FILE:
            raise ScenarioError(f"{path}: is over {LARGEST_FILE >> 20} MiB, which no picture shows.")
        reader = csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True)
        rows = list(reader)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read ({error.strerror}). Check the path.") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from None
    except csv.Error as error:
        raise ScenarioError(f"{path}: is not CSV: {error!s:.100}.") from None
    missing = [name for name in columns if name not in (reader.fieldnames or ())]
    if missing:
        raise ScenarioError(f"{path}:1: has no column {missing[0]}. Needed are {', '.join(columns)}.")
    if not 0 < len(rows) <= LARGEST_TABLE:
        raise ScenarioError(f"{path}: has {len(rows):,} lines below its header, not 1 to {LARGEST_TABLE:,}.")
    numbers: dict[str, list[float]] = {name: [] for name in columns if name not in WORDS}
    for line, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise ScenarioError(f"{path}:{line}: has not as many fields as the header.")
        for name, values in numbers.items():
            values.append(_number(row[name], f"{path}:{line}:{name}"))
    return rows, numbers


def _number(text: str, where: str) -> float:
    try:
        value = float(text) if len(text) <= 40 else math.nan
    except ValueError:
        value = math.nan
    if not 1e-100 <= abs(value) <= 1e100 and value != 0:
        raise ScenarioError(f"{where}: {text!a:.40} is not a number from 1e-100 to 1e100, or 0.")
    return value
