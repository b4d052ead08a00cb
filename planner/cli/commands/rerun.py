"""``hfl-plan rerun``: options. The answer is in `planner.report.answers.rerun`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from planner.cli.output import NO_ANSWER, Result, told


def rerun(
    manifest: Annotated[Path, Argument(metavar="RUN.json", help="run saved by `recommend --save`")],
    check: Annotated[bool, Option("--check", help="check that the answer is the same; exit code 1 if not")] = False,
    tolerance: Annotated[
        float, Option(help="relative difference up to which numbers count as the same", min=0, max=1)
    ] = 1e-9,
) -> Result:
    """Repeat a saved run, or check that its answer is the same.

    Numbers that differ by less than a relative --tolerance count as the same; 0 asks for the same bits. Another
    processor, Python or numpy may round differently. Input files are read from the places that the run names,
    relative to your folder.

    Examples:
        hfl-plan rerun run.json --check
    """
    from planner.report.answers import rerun as rerun_answers

    if check:
        from planner.runs.check import check as again

        found = again(manifest, tolerance)
        return Result(rerun_answers.checked(found), code=0 if found.same else NO_ANSWER)
    answer, notes = rerun_answers.again(manifest)
    for note in notes:
        told(note)
    return Result(answer)
