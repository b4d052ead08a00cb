"""``hfl-plan measure``: options. The answer is in `planner.report.answers.measure`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.options import CountsFile, Force, Gram, Json, Seed, SkipEmpty
from planner.cli.output import write


def measure(
    counts: CountsFile,
    gram: Gram = None,
    scale: Annotated[
        str | None, typer.Option("--scale", help="Length of a class gradient, where one is known for all labels.")
    ] = None,
    weighting: Annotated[
        str, typer.Option("--weighting", help="What counts the same: groups (as in the theorems), clients or samples.")
    ] = "groups",
    counts_are: Annotated[
        str, typer.Option("--counts-are", help="sample of what clients have, or all of it.")
    ] = "sample",
    groups_are: Annotated[
        str | None, typer.Option("--groups-are", help="given, or chosen by these counts; else as they look.")
    ] = None,
    skip_empty: SkipEmpty = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="PROFILE.json: aggregates only, for others and `recommend`.")
    ] = None,
    force: Force = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """From label counts: how much of the heterogeneity is within groups, and how much between them."""
    from planner.report.answers import measure as measure_answers

    text = measure_answers.measured(
        counts, gram, scale, weighting, counts_are, groups_are, skip_empty, output, force, seed, as_json=json
    )
    write(text)
