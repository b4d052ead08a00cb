"""``hfl-plan export``: options. The project is `planner.export.project`'s."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from planner.cli.options import Said
from planner.cli.output import Asked, Result


def export(  # reason: one parameter for every option
    said: Said,
    source: Annotated[
        Path | None, Argument(metavar="[SCENARIO.toml|ANSWER.json]", help="scenario, or answer of `recommend`")
    ] = None,
    to: Annotated[str, Option(help="framework: python, flower, nvflare or nvflare-collab")] = "python",
    topology: Annotated[str | None, Option(help="topology [the best]")] = None,
    rate: Annotated[
        float | None, Option(help="learning rate of a local step [predicted, or the pilot's]", min=0)
    ] = None,
    groups: Annotated[
        Path | None, Option("--groups-file", help="CSV group,client with names [the file of label counts]")
    ] = None,
    output: Annotated[Path | None, Option("--output", "-o", metavar="DIR", help="new folder [required]")] = None,
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> Result:
    """Export a project that runs a plan on your own task.

    It has the loop, the plan and a task to replace by yours. The plan is priced again for what runs it, as Flower and
    NVFlare send every model through one server.

    Examples:
        hfl-plan export examples/hospitals.toml --to flower --output job
    """
    if output is None:
        raise typer.BadParameter("--output: is missing. Name a new folder: -o my-project")
    left = asked.explain is not None and output.is_dir() and any(output.iterdir())  # what was written is explained
    from planner.cli.saved import asked_of
    from planner.report.answers.export import document, exported

    scenario, told, answer = asked_of(source, said)
    project = exported(scenario, told, to, topology, rate, groups, output, answer, left=left)
    return Result(document(project, left=left))
