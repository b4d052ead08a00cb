"""``hfl-plan measure`` and ``hfl-plan group``: options. The answers are in `measure_answers` and `group_answers`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario

Table = Annotated[
    Path, typer.Argument(metavar="COUNTS.csv", help="client,group,<label>... or client,group,label,count.")
]
Json = Annotated[bool, typer.Option("--json", "-j", help="One JSON document.")]
Seed = Annotated[int, typer.Option("--seed", help="Of every random draw.", min=0, max=2**31)]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output.")]
Gram = Annotated[Path | None, typer.Option("--gram", help="CSV of inner products of class gradients: label,<label>...")]
SkipEmpty = Annotated[bool, typer.Option("--skip-empty", help="Leave out clients without samples.")]


def _print(text: str) -> None:
    from planner.cli import app as cli

    cli._print(text)


def measure(
    counts: Table,
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
    _print(text)


def group(
    scenario: Callable[..., Scenario],
    counts: Table,
    groups: Annotated[int | None, typer.Option("--groups", "--G", "-G", help="How many groups.", min=1)] = None,
    least: Annotated[int | None, typer.Option("--min-size", help="Least clients of a group.", min=1)] = None,
    most: Annotated[int | None, typer.Option("--max-size", help="Most clients of a group.", min=1)] = None,
    free: Annotated[bool, typer.Option("--free", help="Groups of any size.")] = False,
    pairs: Annotated[
        Path | None, typer.Option("--pairs", help="CSV client,other,rule: must or cannot share a group.")
    ] = None,
    cost: Annotated[
        Path | None, typer.Option("--cost", help="CSV client,<server>... or client,server,cost; a group each server.")
    ] = None,
    cost_weight: Annotated[
        str | None, typer.Option("--cost-weight", help="Inter-group deviation that one unit of mean cost is worth.")
    ] = None,
    weighting: Annotated[
        str, typer.Option("--weighting", help="What counts the same: clients, or samples.")
    ] = "clients",
    gram: Gram = None,
    moves: Annotated[
        int | None, typer.Option("--moves", help="At most this many moves and swaps from the present groups.", min=0)
    ] = None,
    restarts: Annotated[int | None, typer.Option("--restarts", help="Searches.", min=1, max=10**6)] = None,
    skip_empty: SkipEmpty = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="CSV of the counts in the new groups.")] = None,
    force: Force = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Put clients into groups that are alike: the least inter-group heterogeneity, the way there, what it buys."""
    from planner.report.answers import group as group_answers

    text = group_answers.grouped(
        scenario,
        counts,
        groups,
        (least, most, free),
        pairs,
        cost,
        cost_weight,
        weighting,
        gram,
        moves,
        restarts,
        skip_empty,
        output,
        force,
        seed,
        as_json=json,
    )
    _print(text)
