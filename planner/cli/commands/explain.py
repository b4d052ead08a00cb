"""``hfl-plan explain``: what the code of a message means."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from planner.cli.completion import codes
from planner.cli.output import Result


def explain(
    code: Annotated[
        str | None, Argument(metavar="[CODE]", help="code of a message, such as E012", autocompletion=codes)
    ] = None,
) -> Result:
    """Explain the code of a message, or list all codes.

    Examples:
        hfl-plan explain E012
        hfl-plan explain
    """
    from planner.report.answers.explain import explained, listed

    return Result(listed() if code is None else explained(code))
