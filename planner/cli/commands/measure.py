"""``hfl-plan measure``: options. The answer is in `planner.report.answers.measure`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from planner.cli.options import CountsFile, Force, Format, Gram, Json, Seed, SkipEmpty
from planner.cli.output import chosen_format, show


def measure(  # reason: one parameter for every option
    counts: CountsFile,
    gram: Gram = None,
    scale: Annotated[
        str | None, Option("--scale", help="Length of a class gradient, where one is known for all labels.")
    ] = None,
    weighting: Annotated[
        str, Option("--weighting", help="What counts the same: groups (as in the theorems), clients or samples.")
    ] = "groups",
    counts_are: Annotated[str, Option("--counts-are", help="sample of what clients have, or all of it.")] = "sample",
    groups_are: Annotated[
        str | None, Option("--groups-are", help="given, or chosen by these counts; else as they look.")
    ] = None,
    skip_empty: SkipEmpty = False,
    output: Annotated[
        Path | None, Option("--output", "-o", help="PROFILE.json: aggregates only, for others and `recommend`.")
    ] = None,
    force: Force = False,
    seed: Seed = 0,
    form: Format = None,
    json: Json = False,
) -> None:
    """From label counts: how much of the heterogeneity is within groups, and how much between them."""
    form = chosen_format(form, json)
    from planner.report.answers.measure import Wanted, measured

    wanted = Wanted(gram, scale, weighting, counts_are, groups_are, skip_empty, seed)
    show(measured(counts, wanted, output, force=force), form)
