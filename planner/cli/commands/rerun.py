"""``hfl-plan rerun``: options. The answer is in `planner.report.answers.rerun`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.options import Format, Json
from planner.cli.output import NO_ANSWER, chosen_format, show, write


def rerun(
    manifest: Annotated[Path, typer.Argument(metavar="RUN.json", help="Made by recommend --save.")],
    check: Annotated[bool, typer.Option("--check", help="Say whether the answer is the same; exit 1 if not.")] = False,
    form: Format = None,
    json: Json = False,
) -> None:
    """Answer again what was answered before, or check that the same comes out, bit for bit.

    The files that the run read are looked for where they were named, from the folder you are in; those that have
    changed are named.
    """
    from planner.report.answers import rerun as rerun_answers

    if check:
        if form is not None:
            raise typer.BadParameter("--format: --check prints no answer. Give one of the two.")
        text, same = rerun_answers.checked(manifest, as_json=json)
        write(text)
        if not same:
            raise typer.Exit(NO_ANSWER)
        return
    form = chosen_format(form, json)
    answer, notes = rerun_answers.again(manifest)
    for note in notes:
        typer.echo(f"hfl-plan: {note}", err=True)
    from planner.report.answers.recommend import document

    show(document(answer), form)
