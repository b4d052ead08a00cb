"""``hfl-plan validate``: the options of its four commands. `planner.harness.claims` runs them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from planner.cli import completion
from planner.cli.options import declare
from planner.cli.output import Asked, Result
from planner.errors import NoAnswerError

app = typer.Typer(name="validate", help="Run the algorithms to see which predictions hold.", rich_markup_mode=None)

StoreFile = Annotated[Path, Option("--store", help="file of the results, shared and resumable")]
Workers = Annotated[int, Option("--workers", help="processes", min=1)]
Engine = Annotated[str, Option("--engine", help="engine: local, or ray for a cluster")]
Device = Annotated[str, Option("--device", help="device: cpu, or cuda for a GPU")]
Memory = Annotated[
    float | None, Option("--memory", help="memory for the models of one run, in GiB [half of what is free]", min=0)
]
LocalSteps = Annotated[str | None, Option("--local-steps", help="local steps of networks: auto, torch or compiled")]
HERE = Path("hfl-plan-runs.db")


@app.command("list")
def list_() -> Result:
    """List every claim: statement, source and prediction.

    Examples:
        hfl-plan validate list
    """
    from planner.harness import claims
    from planner.report.answers import validate as answers

    return Result(answers.listed(claims.listed()))


@app.command()
def run(  # reason: an option each
    claims: Annotated[
        list[str] | None, Argument(metavar="[CLAIM]", help="claims to run [all]", autocompletion=completion.claims)
    ] = None,
    quick: Annotated[bool, Option("--quick/--full", help="a few minutes, or about an hour")] = True,
    store: StoreFile = HERE,
    workers: Workers = 1,
    engine: Engine = "local",
    device: Device = "cpu",
    memory: Memory = None,
    local_steps: LocalSteps = None,
) -> Result:
    """Run claims to their verdicts: holds, fails, or undecided.

    Examples:
        hfl-plan validate run raw-rates
    """
    from planner.harness import claims as harness
    from planner.report.answers import validate as answers

    size = "quick" if quick else "full"
    how = {"workers": workers, "engine": engine, "device": device, "local_steps": local_steps}
    return Result(answers.document(harness.run(claims or [], size, store, memory=memory, **how)))


@app.command()
def resume(  # reason: an option each
    store: StoreFile = HERE,
    workers: Workers = 1,
    engine: Engine = "local",
    device: Device = "cpu",
    memory: Memory = None,
    local_steps: LocalSteps = None,
) -> Result:
    """Continue an interrupted run.

    Examples:
        hfl-plan validate resume
    """
    from planner.harness import claims
    from planner.report.answers import validate as answers

    how = {"workers": workers, "engine": engine, "device": device, "local_steps": local_steps}
    return Result(answers.document(claims.resume(store, memory=memory, **how)))


@app.command()
def report(
    store: StoreFile = HERE,
    pictures: Annotated[Path | None, Option(help="folder for one plot per claim: SVG, PNG and CSV")] = None,
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> Result:
    """Report the verdicts of finished runs.

    Examples:
        hfl-plan validate report
    """
    from dataclasses import replace

    from planner.harness import claims
    from planner.plot.claims import draw
    from planner.report.answers import validate as answers

    found = claims.report(store)
    if asked.explain in {one.id for one in claims.listed()} - {one.id for one in found.findings}:
        way = f"Run `hfl-plan validate run {asked.explain} --store {shlex.quote(str(store))}`."
        raise NoAnswerError(f"--explain: the claim {asked.explain} was not run. {way}")
    if pictures is not None:
        files = draw([one for one in found.findings if one.verdict is not None], pictures)
        found = replace(found, told=f"{found.told} {len(files)} files are in {pictures}.")
    return Result(answers.document(found))


@app.command()
@declare(files={".parquet": "the numbers; needs polars, or pandas with pyarrow"})
def export(store: StoreFile = HERE) -> Result:
    """Export every number of finished runs, one a line, for a spreadsheet or a data frame.

    With --output results.csv or results.parquet all of them; the page shows the first.

    Examples:
        hfl-plan validate export --output results.csv
        hfl-plan validate export --store runs.db --output results.parquet
    """
    from planner.harness import claims
    from planner.io import atomic, frames
    from planner.report.answers import validate as answers

    lines = claims.numbers(store)

    def parquet(path: Path) -> None:
        atomic.write(path, frames.parquet(lines), force=True)  # whether it may be was asked before

    return Result(answers.numbers(lines, str(store)), {".parquet": parquet})
