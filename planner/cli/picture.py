"""``hfl-plan picture``: the options. What it does is in `planner.report.answers.picture`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario


def picture(
    scenario: Callable[[], Scenario],
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="bound, calibration, diagram, front, grouping or tornado.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="FILE.svg, .pdf or .png; the numbers go beside it, as FILE.csv.")
    ],
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", help="CSV to draw in place of a scenario; grouping: label counts before, and after."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite both files.")] = False,
    json: Annotated[bool, typer.Option("--json", "-j", help="One JSON document.")] = False,
) -> None:
    """Draw a picture of a scenario, for a paper or a slide, with its numbers beside it.

    bound: the bounds against rounds, term by term. calibration: predicted against measured. diagram: who talks to
    whom. front: time against traffic. grouping: label shares before and after. tornado: what each input does to the
    lead. (Who wins where is drawn by `flip --phase`.) Needs matplotlib: pip install 'hfl-plan[plots]'.
    """
    from planner.cli import app as cli
    from planner.report.answers import picture as picture_answers

    cli._print(picture_answers.drawn(kind, scenario, data or [], output, force, as_json=json))
