"""``hfl-plan validate``: the options of its four commands. What they do is in `planner.report.answers.validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.options import Json
from planner.cli.output import write

app = typer.Typer(
    name="validate",
    help="Run the algorithms and see which predictions hold; needs torch (hfl-plan[validation]).",
    no_args_is_help=True,
    rich_markup_mode=None,
)

StoreFile = Annotated[Path, typer.Option("--store", help="File of the results; shared and resumable.")]
Workers = Annotated[int, typer.Option("--workers", help="Processes.", min=1)]
Engine = Annotated[str, typer.Option("--engine", help="local, or ray for a cluster.")]
Device = Annotated[str, typer.Option("--device", help="cpu, or cuda for a GPU.")]
HERE = Path("hfl-plan-runs.db")


@app.command("list")
def list_() -> None:
    """Every claim: what it says, where it is made, and what predicts it."""
    from planner.report.answers import validate as validate_answers

    write(validate_answers.listed())


@app.command()
def run(
    claims: Annotated[list[str] | None, typer.Argument(metavar="CLAIM", help="Which claims; by default all.")] = None,
    quick: Annotated[bool, typer.Option("--quick/--full", help="A few minutes, or about an hour.")] = True,
    store: StoreFile = HERE,
    workers: Workers = 1,
    engine: Engine = "local",
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Run claims to their verdicts: holds, fails, or cannot tell."""
    from planner.report.answers import validate as validate_answers

    write(validate_answers.run(claims or [], "quick" if quick else "full", store, workers, engine, json, device))


@app.command()
def resume(
    store: StoreFile = HERE,
    workers: Workers = 1,
    engine: Engine = "local",
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Go on where an interrupted run ended."""
    from planner.report.answers import validate as validate_answers

    write(validate_answers.resume(store, workers, engine, json, device))


@app.command()
def report(
    store: StoreFile = HERE,
    json: Json = False,
    pictures: Annotated[
        Path | None, typer.Option("--pictures", help="Folder for a plot of every claim: SVG, PNG and CSV.")
    ] = None,
) -> None:
    """What the results say, without running anything."""
    from planner.report.answers import validate as validate_answers

    write(validate_answers.report(store, json, pictures))
