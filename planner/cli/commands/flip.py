"""``hfl-plan flip``: options. The answers are in `planner.report.answers.flip`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from planner.cli.options import declare
from planner.cli.output import Asked, Result

if TYPE_CHECKING:
    from planner.plot import Picture
    from planner.scenario.resolve import Scenario


PICTURES = (".svg", ".pdf", ".png")


@declare(files=dict.fromkeys(PICTURES, "a map; its numbers go beside it as CSV"))
def flip(  # reason: one parameter for every option
    scenario: Scenario,
    parameter: Annotated[
        list[str] | None, Option("--parameter", "-p", help="input to follow: G, zeta, uplink; repeat for more")
    ] = None,
    among: Annotated[str | None, Option(help="topologies that compete: ring-star,star-ring")] = None,
    phase: Annotated[
        str | None, Option("--map", help="phase diagram over two inputs: G,M or uplink=1Mbit/s:1Gbit/s,M")
    ] = None,
    cells: Annotated[int | None, Option(help="cells of the map along each axis", min=2, max=201)] = None,
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> Result:
    """Find the break-even point of every parameter.

    Examples:
        hfl-plan flip -G 10 -M 10 --heterogeneity inter --objective time
        hfl-plan flip -G 10 -M 10 --map G,M
    """
    drawn = asked.file is not None and asked.file.suffix.lower() in PICTURES
    if phase is None and (cells is not None or drawn):
        raise typer.BadParameter("--cells, --output: are of a map. Give --map, such as --map G,M.")
    if phase is not None and parameter:
        raise typer.BadParameter("--parameter: a map has its own two inputs. Leave it out, or --map.")
    competing = tuple(among.split(",")) if among else ()

    if phase is None:
        from planner.decide.sensitivity import flip as every_change
        from planner.io.progress import progress
        from planner.io.wording import input_words

        def following(name: str) -> None:
            progress(f"following {input_words(name)} ...")

        return Result(every_change(scenario, competing, tuple(parameter or ()), following))
    if drawn and asked.file is not None:
        from planner import plot

        plot.checked(asked.file, asked.force)
    from planner.decide.phase_diagram import phase as map_of

    found = map_of(scenario, phase, competing, cells)

    def drawn_map() -> Picture:
        from planner.plot import phase as picture

        return *picture.draw(found), picture.says(found)

    def draw(path: Path) -> None:
        from planner import plot

        figure, rows, says = drawn_map()
        plot.save(figure, path, rows, says=says, force=asked.force)

    from planner.report.answers.flip import map_document

    files: dict[str, Any] = {**dict.fromkeys(PICTURES, draw), ".json": f"{json.dumps(found.to_json(), indent=2)}\n"}
    return Result(map_document(found), files, pictures=[("map", "answer", drawn_map)])
