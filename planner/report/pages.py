"""What answers to some questions have in common: sentences, tables and lists, and what is read for them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from planner.report.document import Block, Column, Document, Items, Paragraph, Style, Table
from planner.report.render import render
from planner.scenario.resolve import Scenario


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
