"""``hfl-plan measure``: options. The answer is in `planner.report.answers.measure`."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from planner.cli.options import CountsFile, Gram, Seed, SkipEmpty, declare
from planner.cli.output import Asked, Result


@declare(files={".json": "the profile, aggregates only, for `recommend --data`"})
def measure(  # reason: one parameter for every option
    counts: CountsFile,
    gram: Gram = None,
    scale: Annotated[str | None, Option(help="length of a class gradient, if known and equal for all labels")] = None,
    weighting: Annotated[
        str | None, Option(help="equal weight of: groups (as in the theorems), clients or samples [clients]")
    ] = None,
    counts_are: Annotated[str, Option(help="counts are a sample of each client's data, or all")] = "sample",
    groups_are: Annotated[
        str | None, Option(help="groups were given, or chosen by these counts [as they look]")
    ] = None,
    skip_empty: SkipEmpty = False,
    seed: Seed = 0,
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> Result:
    """Measure from label counts how clients and groups differ.

    Examples:
        hfl-plan measure examples/hospitals.csv
        hfl-plan measure examples/hospitals.csv --output profile.json
    """
    from planner.report.answers.measure import Wanted, measured
    from planner.report.sheet.gallery import of_counts

    wanted = Wanted(gram, scale, weighting, counts_are, groups_are, skip_empty, seed)
    kept = asked.file if asked.file is not None and asked.file.suffix.lower() == ".json" else None
    document, profile = measured(counts, wanted, kept)
    return Result(document, {".json": profile}, pictures=of_counts(counts))
