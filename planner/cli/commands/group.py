"""``hfl-plan group``: options. The answer is in `planner.report.answers.group`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Option

from planner.cli.options import CountsFile, Gram, Said, Seed, SkipEmpty, declare
from planner.cli.output import Result


@declare(
    without=("fleet.clients", "fleet.groups", "fleet.clients_per_group", "fleet.list", "problem.heterogeneity"),
    files={".csv": "the counts in the new groups"},
)
def group(  # reason: one parameter for every option
    said: Said,
    counts: CountsFile,
    groups: Annotated[
        int | None, Option("--groups", "--G", "-G", help="number of groups [as in the file]", min=1)
    ] = None,
    sizes: Annotated[
        str | None, Option(help="sizes: present (as in the file), a list 4,7,20, or bounds LOW:HIGH [equal]")
    ] = None,
    least: Annotated[int | None, Option("--min-size", help="fewest clients of a group", min=1)] = None,
    most: Annotated[int | None, Option("--max-size", help="most clients of a group", min=1)] = None,
    free: Annotated[bool, Option("--free", help="allow groups of any size")] = False,
    pairs: Annotated[Path | None, Option(help="CSV client,other,rule: must or cannot share a group")] = None,
    cost: Annotated[
        Path | None, Option(help="CSV client,<server>... or client,server,cost; one group per server")
    ] = None,
    cost_weight: Annotated[str | None, Option(help="deviation delta^2 that one unit of mean cost is worth")] = None,
    weighting: Annotated[str, Option(help="equal weight of: clients or samples")] = "clients",
    gram: Gram = None,
    moves: Annotated[int | None, Option(help="most moves and swaps from the present groups", min=0)] = None,
    restarts: Annotated[int | None, Option(help="number of searches", min=1, max=10**6)] = None,
    skip_empty: SkipEmpty = False,
    seed: Seed = 0,
) -> Result:
    """Group clients so that groups differ little.

    The answer says what the new groups gain, and lists the moves.

    Examples:
        hfl-plan group examples/hospitals.csv
        hfl-plan group examples/hospitals.csv --moves 7 --output regrouped.csv
    """
    from planner.decide.groups import Wanted
    from planner.report.answers.group import grouped
    from planner.report.sheet.gallery import of_counts

    wanted = Wanted(
        groups, least, most, free, pairs, cost, cost_weight, weighting, gram, moves, restarts, skip_empty, seed, sizes
    )
    read = partial(said.scenario, source=str(counts))
    document, counts_regrouped = grouped(read, counts, wanted, said.config)
    return Result(document, {".csv": counts_regrouped}, pictures=of_counts(counts, counts_regrouped))
