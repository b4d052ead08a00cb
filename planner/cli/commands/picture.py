"""``hfl-plan picture``: the options. What it does is in `planner.plot.draw`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from planner.cli.options import Json, Said
from planner.cli.output import write


def picture(
    said: Said,
    kind: Annotated[str, Argument(metavar="KIND", help="bound, calibration, diagram, front, grouping or tornado.")],
    output: Annotated[
        Path, Option("--output", "-o", help="FILE.svg, .pdf or .png; the numbers go beside it, as FILE.csv.")
    ],
    data: Annotated[
        list[Path] | None,
        Option("--data", help="CSV to draw in place of a scenario; grouping: label counts before, and after."),
    ] = None,
    force: Annotated[bool, Option("--force", help="Overwrite both files.")] = False,
    json: Json = False,
) -> None:
    """Draw a picture of a scenario, for a paper or a slide, with its numbers beside it.

    bound: the bounds against rounds, term by term. calibration: predicted against measured. diagram: who talks to
    whom. front: time against traffic. grouping: label shares before and after. tornado: what each input does to the
    lead. (Who wins where is drawn by `flip --map`.) Needs matplotlib: pip install 'hfl-plan[plots]'.
    """
    from planner.plot.draw import drawn

    write(drawn(kind, said.scenario, data or [], output, force, as_json=json))
