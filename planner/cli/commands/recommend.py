"""``hfl-plan recommend``: options of its own. The answer is `planner.decide.rank`'s."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from planner.cli.options import Format, Said
from planner.cli.output import chosen_format, show


def recommend(
    said: Said,
    coverage: Annotated[
        str | None, Option("--coverage", help="Who hears whom (file or layout): HHFL is shown beside.")
    ] = None,
    edges: Annotated[
        str | None, Option("--edges", help="Of a round in all, without a trusted cloud: HSL is shown beside.")
    ] = None,
    region_times: Annotated[
        str | None, Option("--region-times", help="Of each group, 10s,12s,80s: HGA-FL is shown beside.")
    ] = None,
    form: Format = None,
    json: Annotated[bool, Option("--json", "-j", help="The same as --format json.")] = False,
    save: Annotated[
        Path | None, Option("--save", help="RUN.json: the scenario, the software and the answer, for `rerun`.")
    ] = None,
    force: Annotated[bool, Option("--force", help="Overwrite what --save names.")] = False,
) -> None:
    """Rank topologies of stars and rings: rounds, time and traffic to a target, and how sure."""
    form = chosen_format(form, json)
    told = {"coverage": coverage, "edges": edges, "region_times": region_times}
    if save is not None and any(told.values()):
        raise typer.BadParameter("--save: a run that is kept is of the scenario alone. Leave the other families out.")
    scenario = said.scenario()
    from planner.decide.rank import recommend as answer
    from planner.io.progress import progress
    from planner.predict.predictors import watched
    from planner.report.answers.recommend import document

    if save is not None:
        from planner.io import atomic
        from planner.runs import manifest

        atomic.place(save, force, "--save")
    with watched(lambda done: progress(f"simulating: {done:.0%}")):
        found = answer(scenario)
    progress("")
    if save is not None:
        atomic.write(save, manifest.make(said.config, said.options, found).text(), force, "--save")
    if any(told.values()):
        from planner.families.comparison import compared

        found = compared(found, scenario, said.config, said.options, told)
    show(document(found), form)
