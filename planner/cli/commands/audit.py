"""``hfl-plan audit``: options. The answer is in `planner.report.answers.audit`."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from planner.cli.output import NO_ANSWER, Result


def audit(
    paper: Annotated[str | None, Option(help="paper: zhou2026, liu2026 ...")] = None,
    only: Annotated[str, Option(help="rows to list: all, holds, constant, fails, unknown, notes, wrong")] = "all",
) -> Result:
    """Check every bound, line of a derivation and erratum.

    Examples:
        hfl-plan audit --paper devos2023
    """
    from planner.report.answers import audit as answers

    document, wrong = answers.run(paper, only)
    return Result(document, code=NO_ANSWER if wrong else 0)
