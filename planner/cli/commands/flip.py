"""``hfl-plan flip``: options. The answers are in `planner.report.answers.flip`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from planner.cli.options import Force, Format, Json
from planner.cli.output import chosen_format, show

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario


def flip(  # reason: one parameter for every option
    scenario: Scenario,
    parameter: Annotated[
        list[str] | None, Option("--parameter", "-p", help="Only this input: G, zeta, uplink ... Repeat for more.")
    ] = None,
    among: Annotated[str | None, Option("--among", help="Only these topologies compete: ring-star,star-ring.")] = None,
    phase: Annotated[
        str | None,
        Option("--map", help="Who comes first over two inputs: G,M; zeta/sigma,delta/sigma; uplink=1Mbit/s:1Gbit/s,M."),
    ] = None,
    cells: Annotated[int | None, Option("--cells", help="Of a map, along each axis.", min=2, max=201)] = None,
    output: Annotated[
        Path | None, Option("--output", help="MAP.svg, .pdf or .png; its numbers go beside it as CSV.")
    ] = None,
    force: Force = False,
    form: Format = None,
    json: Json = False,
) -> None:
    """Where the answer changes along every input, how far that is, and who comes first beyond it."""
    if phase is None and (cells is not None or output is not None):
        raise typer.BadParameter("--cells, --output: are of a map. Give --map, such as --map G,M.")
    if phase is not None and parameter:
        raise typer.BadParameter("--parameter: a map has its own two inputs. Leave it out, or --map.")
    competing = tuple(name.strip() for name in among.split(",")) if among else ()
    form = chosen_format(form, json)
    from planner.report.answers import flip as flip_answers

    if phase is None:
        from planner.decide.sensitivity import flip as every_change
        from planner.decide.sensitivity import name_of
        from planner.io.progress import progress

        def told(name: str) -> None:
            progress(f"following {name_of(name)} ...")

        answer = every_change(scenario, competing, tuple(parameter or ()), told)
        progress("")
        show(flip_answers.document(answer), form)
        return
    if output is not None:
        from planner import plot

        plot.checked(output, force)
    from planner.decide.phase_diagram import phase as map_of

    found = map_of(scenario, phase, competing, cells)
    if output is not None:
        from planner.plot import phase as picture

        drawn, rows = picture.draw(found)
        for path in plot.save(drawn, output, rows, says=picture.says(found), force=force):
            typer.echo(f"hfl-plan: wrote {path}", err=True)
    show(flip_answers.map_document(found), form)
