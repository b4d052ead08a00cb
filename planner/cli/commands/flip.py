"""``hfl-plan flip``: options. The answers are in `planner.report.answers.flip`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.options import Force, Json
from planner.cli.output import color, width, write

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario


def flip(
    scenario: Scenario,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="Only this input: G, zeta, uplink ... Repeat for more."),
    ] = None,
    among: Annotated[
        str | None, typer.Option("--among", help="Only these topologies compete: ring-star,star-ring.")
    ] = None,
    phase: Annotated[
        str | None,
        typer.Option(
            "--map", help="Who comes first over two inputs: G,M; zeta/sigma,delta/sigma; uplink=1Mbit/s:1Gbit/s,M."
        ),
    ] = None,
    cells: Annotated[int | None, typer.Option("--cells", help="Of a map, along each axis.", min=2, max=201)] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="MAP.svg, .pdf or .png; its numbers go beside it as CSV.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Where the answer changes along every input, how far that is, and who comes first beyond it."""
    from planner.report.answers import flip as flip_answers

    if phase is None and (cells is not None or output is not None):
        raise typer.BadParameter("--cells, --output: are of a map. Give --map, such as --map G,M.")
    if phase is not None and parameter:
        raise typer.BadParameter("--parameter: a map has its own two inputs. Leave it out, or --map.")
    competing = tuple(name.strip() for name in among.split(",")) if among else ()
    look = flip_answers.Look(width=width(), color=color(), as_json=json)
    if phase is None:
        write(flip_answers.flips(scenario, competing, tuple(parameter or ()), look))
    else:
        write(flip_answers.mapped(scenario, competing, phase, cells, output, force, look))
