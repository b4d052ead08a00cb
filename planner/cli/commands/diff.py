"""``hfl-plan diff``: options. The answer is in `planner.report.answers.rerun`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument

from planner.cli.output import Asked


def diff(
    before: Annotated[Path, Argument(metavar="BEFORE.json", help="saved run, or answer in JSON")],
    after: Annotated[Path, Argument(metavar="AFTER.json", help="the same, later")],
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> str:
    """Compare two saved answers: scenario, ranking, best topology, break-even points.

    Examples:
        hfl-plan diff before.json after.json
    """
    from planner.report.answers import rerun as rerun_answers

    return rerun_answers.compared(before, after, as_json=asked.form == "json")
