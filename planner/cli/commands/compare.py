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
        Path, Argument(metavar="SCENARIO.toml|RUN.json", help="what was exported: a scenario, or a run that was kept")
    ],
    run: Annotated[Path, Argument(metavar="measured.json", help="what the exported project wrote")],
) -> Document:
    """Compare a run of an exported project with its prediction, and correct the scenario.

    Examples:
        hfl-plan compare scenario.toml measured.json
    """
    from planner.report.answers.measured import compared, document

    return document(compared(said.config, said.options, scenario, run))
