"""``hfl-plan group``: options. The answer is in `planner.report.answers.group`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from planner.cli.options import CountsFile, Force, Format, Gram, Json, Said, Seed, SkipEmpty, of_scenario
from planner.cli.output import chosen_format, show


@of_scenario(without=("fleet.clients", "fleet.groups", "fleet.clients_per_group", "problem.heterogeneity"))
def group(  # reason: one parameter for every option
    said: Said,
    counts: CountsFile,
    groups: Annotated[int | None, Option("--groups", "--G", "-G", help="How many groups.", min=1)] = None,
    least: Annotated[int | None, Option("--min-size", help="Least clients of a group.", min=1)] = None,
    most: Annotated[int | None, Option("--max-size", help="Most clients of a group.", min=1)] = None,
    free: Annotated[bool, Option("--free", help="Groups of any size.")] = False,
    pairs: Annotated[
        Path | None, Option("--pairs", help="CSV client,other,rule: must or cannot share a group.")
    ] = None,
    cost: Annotated[
        Path | None, Option("--cost", help="CSV client,<server>... or client,server,cost; a group each server.")
    ] = None,
    cost_weight: Annotated[
        str | None, Option("--cost-weight", help="Inter-group deviation that one unit of mean cost is worth.")
    ] = None,
    weighting: Annotated[str, Option("--weighting", help="What counts the same: clients, or samples.")] = "clients",
    gram: Gram = None,
    moves: Annotated[
        int | None, Option("--moves", help="At most this many moves and swaps from the present groups.", min=0)
    ] = None,
    restarts: Annotated[int | None, Option("--restarts", help="Searches.", min=1, max=10**6)] = None,
    skip_empty: SkipEmpty = False,
    output: Annotated[Path | None, Option("--output", "-o", help="CSV of the counts in the new groups.")] = None,
    force: Force = False,
    seed: Seed = 0,
    form: Format = None,
    json: Json = False,
) -> None:
    """Put clients into groups that are alike: the least inter-group heterogeneity, the way there, what it buys."""
    form = chosen_format(form, json)
    from planner.report.answers.group import Wanted, grouped

    wanted = Wanted(
        groups, least, most, free, pairs, cost, cost_weight, weighting, gram, moves, restarts, skip_empty, seed
    )
    show(grouped(said.scenario, counts, wanted, output, force=force), form)
