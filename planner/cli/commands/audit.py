"""``hfl-plan audit``: options. The answer is in `planner.report.answers.audit`."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from planner.cli.options import Json
from planner.cli.output import NO_ANSWER, write


def audit(
    paper: Annotated[str | None, Option("--paper", help="Only this paper's: zhou2026, liu2026 ...")] = None,
    only: Annotated[
        str, Option("--only", help="Rows to show: all, holds, constant, fails, unknown, notes, wrong.")
    ] = "all",
    json: Json = False,
) -> None:
    """Check every bound, every line of the derivations and every erratum, and print what was found."""
    from planner.report.answers import audit as answers

    text, wrong = answers.run(paper, only, json)
    write(text)
    if wrong:
        raise typer.Exit(NO_ANSWER)
