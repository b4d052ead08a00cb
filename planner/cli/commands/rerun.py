"""``hfl-plan rerun``: options. The answer is in `planner.report.answers.rerun`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from planner.cli.options import Format, Json
from planner.cli.output import NO_ANSWER, chosen_format, show, write


def rerun(
    manifest: Annotated[Path, Argument(metavar="RUN.json", help="Made by recommend --save.")],
    check: Annotated[bool, Option("--check", help="Say whether the answer is the same; exit 1 if not.")] = False,
    tolerance: Annotated[
        float, Option("--tolerance", help="Relative difference of numbers that count as the same.", min=0, max=1)
    ] = 1e-9,
    form: Format = None,
    json: Json = False,
) -> None:
    """Answer again what was answered before, or check that the same comes out.

    Numbers that differ by less than a relative --tolerance count as the same; 0 asks for the same bits. Another
    processor, Python or numpy may round differently in the last digits.

    The files that the run read are looked for where they were named, from the folder you are in; those that have
    changed are named.
    """
    from planner.report.answers import rerun as rerun_answers

    if check:
        if form is not None:
            raise typer.BadParameter("--format: --check prints no answer. Give one of the two.")
        from planner.runs.check import check as again

        found = again(manifest, tolerance)
        write(rerun_answers.checked(found, as_json=json))
        if not found.same:
            raise typer.Exit(NO_ANSWER)
        return
    form = chosen_format(form, json)
    answer, notes = rerun_answers.again(manifest)
    for note in notes:
        typer.echo(f"hfl-plan: {note}", err=True)
    from planner.report.answers.recommend import document

    show(document(answer), form)
