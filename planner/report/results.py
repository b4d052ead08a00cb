"""What Python functions return where a command answers with a document: the same methods as answers have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner.io import atomic, frames
from planner.io.answers import Answer
from planner.report.document import Document
from planner.report.page import selected
from planner.report.pictures import Plot, of_counts, of_recommendation
from planner.report.render import render
from planner.report.sheet import report


class Page:
    """A document as a value: keys of its JSON are attributes.

    Attributes:
        document: Its blocks, records and data.
        plot: Draws its pictures.
    """

    def __init__(self, document: Document, plot: Plot | None = None) -> None:
        self.document = document
        self.plot = plot or Plot({})

    def __getattr__(self, name: str) -> Any:
        try:
            return self.document.data[name]
        except KeyError:
            raise AttributeError(f"this answer has no {name!r}; its keys are {', '.join(self.document.data)}") from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.document.data})

    def __repr__(self) -> str:
        """Return the kind of the answer, and its first sentence."""
        texts = (str(getattr(block, "text", "")) for block in self.document.blocks)
        first = next(filter(None, texts), "").splitlines()
        return f"{self.document.kind}({first[0] if first else self.document.title!r})"

    def __str__(self) -> str:
        """Return what a terminal shows, without colours."""
        return render("table", self.document)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return self.to_html() + self.plot.html()

    def to_json(self) -> Mapping[str, Any]:
        """Return the document that ``--json`` prints."""
        return self.document.data

    def to_frame(self, library: frames.Library | None = None) -> Any:
        """Return the rows as a data frame of pandas or polars, with the columns of ``--format csv``.

        Args:
            library: ``pandas`` or ``polars``; None for the one imported, else for the one installed.

        Raises:
            NoAnswerError: Where it is not installed.
        """
        if self.document.records:
            return frames.made(self.document.records, library)
        table = self.document.table
        names = [column.name for column in table.columns]
        return frames.made([dict(zip(names, row, strict=True)) for row in table.rows], library)

    def explain(self, section: str = "all") -> str:
        """Return what ``--explain`` prints: all details, or one section.

        Raises:
            ScenarioError: For a section that there is not; it names those there are.
        """
        return render("table", selected(self.document, section))

    def to_html(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the answer as HTML for a page, or write a whole report to a file if one is named.

        Raises:
            ScenarioError: If there is something already, or no folder to put it in.
            NoAnswerError: If it cannot be written.
        """
        if path is None:
            return render("html", self.document)
        text = report(self.document)
        atomic.write(path, text, force, "to_html")
        return text

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the answer as ``--json`` prints it; the file is there whole or not at all.

        Raises:
            ScenarioError: If there is something already, or no folder to put it in.
            NoAnswerError: If it cannot be written.
        """
        atomic.write(path, json.dumps(self.document.data, indent=2, allow_nan=False) + "\n", force, "save")


def pictured(answer: Answer | Page, command: str, subject: Any, arguments: Mapping[str, Any], files: Any) -> Any:
    """Give the answer of a command what draws it.

    Args:
        answer: Any.
        command: Its name.
        subject: The scenario, or what was said of it.
        arguments: Of the command.
        files: By suffix, what else it answers.
    """
    plot = None
    if command == "recommend" and not arguments.get("network"):
        plot = of_recommendation(subject.scenario)
    elif command in ("measure", "group"):
        plot = of_counts(arguments["counts"], files.get(".csv"))
    if isinstance(answer, Page):
        answer.plot = plot or answer.plot
        return answer
    return answer.plotted(plot) if plot is not None else answer
