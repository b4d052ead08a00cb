"""What answers to some questions have in common: sentences, tables and lists, and what is read for them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from planner.decide.tuning import LADDER
from planner.errors import ScenarioError
from planner.report.document import Block, Column, Document, Items, Paragraph, Style, Table
from planner.report.render import render
from planner.scenario.fields import LARGEST_COUNT
from planner.scenario.resolve import Scenario

LONGEST_TEXT = 1_000  # letters of a list


class Page:
    """A page that grows from the top."""

    def __init__(self, width: int, color: bool) -> None:
        self._blocks: list[Block] = []
        self._width, self._color = width, color

    def say(self, text: str, style: Style = "") -> None:
        """A sentence on lines of its own."""
        self._blocks.append(Paragraph(text, style))

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        bold: Collection[int] = (),
        spared: Sequence[str] = (),
    ) -> None:
        """A table after an empty line, its first column in words and the others in numbers."""
        typed = tuple(Column(name, "number" if i else "text") for i, name in enumerate(columns))
        self._blocks.append(Table(typed, tuple(map(tuple, rows)), best=frozenset(bold), spared=tuple(spared)))

    def list(self, heading: str, sentences: Iterable[str], style: str = "") -> None:
        """Indented sentences below a heading; nothing where there are none."""
        self._blocks.append(Items(heading, tuple(sentences), "warning" if style == "yellow" else style))  # type: ignore[arg-type]

    def text(self) -> str:
        """All of it, without blanks at line ends."""
        return render("table", Document("", tuple(self._blocks), {}), width=self._width, color=self._color)


def known(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Every number and word of a scenario with its origin; empty units, notes and readings are left out."""
    return {
        name: {
            "value": value.value,
            "origin": value.origin,
            **{key: said for key in ("unit", "note", "reading") if (said := getattr(value, key))},
        }
        for name, value in scenario.known.items()
    }


def assumed(scenario: Scenario, names: Iterable[str]) -> str:
    """``name = value`` for those of the names that nobody gave; "" where all were."""
    told = [f"{n} = {scenario.known[n].value:.4g}" for n in names if scenario.known[n].origin == "default"]
    return ", ".join(told)


def as_json(document: Mapping[str, Any]) -> str:
    """One document; numbers that are not finite are refused."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def whole_numbers(option: str, text: str | None, default: Iterable[int]) -> list[int]:
    """The numbers that ``5``, ``1,2,5`` and ``1:64`` mean; a range has its ends and small numbers and powers between.

    Args:
        option: it opens the message of a refusal.
        text: what was written; None for the default.
        default: numbers.

    Raises:
        ScenarioError: for anything else.
    """
    if text is None:
        return sorted(default)
    found: set[int] = set()
    for part in text.split(",") if len(text) <= LONGEST_TEXT else [text]:
        match = re.fullmatch(r"\s*([0-9]{1,7})\s*(?::\s*([0-9]{1,7})\s*)?", part)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= low <= high <= LARGEST_COUNT:
            raise ScenarioError(
                f"{option}: {part.strip()!a:.40} is not a whole number from 1 to {LARGEST_COUNT}, or a range of them. "
                "Write 5, or 1,2,5, or 1:64."
            )
        doubled = [2**i for i in range(21)]
        found |= {low, high, *(n for n in (*LADDER, *doubled) if low < n < high)}
    return sorted(found)
