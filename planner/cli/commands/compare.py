"""``hfl-plan compare``: options. The answer is `planner.export.measured`'s."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from planner.cli.options import Said

if TYPE_CHECKING:
    from planner.report.document import Document


def compare(
    said: Said,
    scenario: Annotated[
        Path, Argument(metavar="SCENARIO.toml|ANSWER.json", help="what was exported: scenario, answer, or kept run")
    ],
    run: Annotated[Path, Argument(metavar="measured.json", help="what the exported project wrote")],
) -> Document:
    """Compare a run of an exported project with its prediction, and correct the scenario.

    Examples:
        hfl-plan compare scenario.toml measured.json
    """
    from planner.cli.saved import saved
    from planner.report.answers.measured import compared, document

    if (found := saved(scenario, said)) is None:
        return document(compared(said.config, said.options, scenario, run))
    told, answer = found
    return document(compared(told.config, told.options, None, run, answer))
