"""What Python functions return: answers with what draws them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.io.answers import Answer
from planner.report.pictures import of_counts, of_recommendation


def pictured(answer: Answer, command: str, subject: Any, arguments: Mapping[str, Any], files: Any) -> Answer:
    """Give the answer of a command what draws it; ``files`` is by suffix what else the command answers."""
    plot = None
    if command == "recommend" and not arguments.get("network"):
        plot = of_recommendation(subject.scenario)
    elif command in ("measure", "group"):
        plot = of_counts(arguments["counts"], files.get(".csv"))
    return answer.plotted(plot) if plot is not None else answer
