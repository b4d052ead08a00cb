"""``hfl-plan help``: the page of a command."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer import Argument


def help(
    words: Annotated[
        list[str] | None, Argument(metavar="[COMMAND]", help="a command, or two: recommend, or bounds show")
    ] = None,
    context: typer.Context = None,  # type: ignore[assignment]  # typer gives it
) -> str:
    """Show what a command does, with examples.

    Examples:
        hfl-plan help recommend
        hfl-plan help bounds show
    """
    found: Any = context.find_root()
    for word in words or []:
        command = found.command.get_command(found, word) if hasattr(found.command, "get_command") else None
        if command is None:
            found.command.resolve_command(found, [word])  # refuses it
        found = type(found)(command, parent=found, info_name=word)
    return f"{found.get_help()}\n"
