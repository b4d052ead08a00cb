"""``hfl-plan diff``: options. The answer is in `planner.report.answers.rerun`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument

from planner.cli.options import Json
from planner.cli.output import write


def diff(
    before: Annotated[Path, Argument(metavar="BEFORE.json", help="A manifest, or what recommend --json prints.")],
    after: Annotated[Path, Argument(metavar="AFTER.json", help="The same.")],
    json: Json = False,
) -> None:
    """What changed from one answer to another: the scenario, the ranking, the recommendation, what would flip it."""
    from planner.report.answers import rerun as rerun_answers

    write(rerun_answers.compared(before, after, as_json=json))
