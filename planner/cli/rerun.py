"""``hfl-plan rerun`` and ``hfl-plan diff``: options. The answers are in `planner.report.answers.rerun`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", "-j", help="One JSON document.")]


def rerun(
    manifest: Annotated[Path, typer.Argument(metavar="RUN.json", help="Made by recommend --save.")],
    check: Annotated[bool, typer.Option("--check", help="Say whether the answer is the same; exit 1 if not.")] = False,
    output: Annotated[
        str | None, typer.Option("--format", "-f", help="Of the answer: table, json, csv, md, html or latex.")
    ] = None,
    json: Json = False,
) -> None:
    """Answer again what was answered before, or check that the same comes out, bit for bit.

    The files that the run read are looked for where they were named, from the folder you are in; those that have
    changed are named.
    """
    from planner.cli import app as cli
    from planner.report.answers import rerun as rerun_answers

    if check:
        if output is not None:
            raise typer.BadParameter("--format: --check prints no answer. Give one of the two.")
        text, same = rerun_answers.checked(manifest, as_json=json)
        cli._print(text)
        if not same:
            raise typer.Exit(cli.NO_ANSWER)
        return
    if json and output not in (None, "json"):
        raise typer.BadParameter(f"--format: {output} contradicts --json. Give one of the two.")
    form = "json" if json else cli._format(output)
    answer, notes = rerun_answers.again(manifest)
    for note in notes:
        typer.echo(f"hfl-plan: {note}", err=True)
    from planner.report.render import render

    cli._print(render(form, answer, width=cli._width(), color=cli._color()))


def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE.json", help="A manifest, or what recommend --json prints.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER.json", help="The same.")],
    json: Json = False,
) -> None:
    """What changed from one answer to another: the scenario, the ranking, the recommendation, what would flip it."""
    from planner.cli import app as cli
    from planner.report.answers import rerun as rerun_answers

    cli._print(rerun_answers.compared(before, after, as_json=json))
