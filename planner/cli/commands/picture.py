"""``hfl-plan picture``: the options. What it does is in `planner.plot.draw`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from planner.cli import completion
from planner.cli.options import OverwriteBoth, PictureFile, Said
from planner.cli.output import Result


def picture(
    said: Said,
    kind: Annotated[
        str,
        Argument(
            metavar="KIND",
            help="bound, calibration, diagram, forest, front, grouping, hours, links, race, tiers or tornado",
            autocompletion=completion.pictures,
        ),
    ],
    output: PictureFile,
    data: Annotated[
        list[Path] | None, Option(help="CSV to draw in place of a scenario; grouping: counts before and after")
    ] = None,
    force: OverwriteBoth = False,
) -> Result:
    """Draw a picture of a scenario, with its numbers beside it.

    bound: bounds against rounds, term by term. calibration: predicted against measured. diagram: links between
    devices. forest: every topology over the best. front: time against traffic. grouping: label shares before and after.
    hours: what is left to learn. links: what a round waits for. race: what a pilot measured. tiers: tree of the fleet.
    tornado: sensitivity of the lead. `flip --map` draws phase diagrams. Needs matplotlib (extra plots).

    Examples:
        hfl-plan picture tornado --config examples/phones.toml --output tornado.svg
    """
    from planner.plot.draw import drawn

    return Result(drawn(kind, said.scenario, data or [], output, force))
