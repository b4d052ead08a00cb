"""``hfl-plan recommend``: options of its own. The answer is `planner.decide.rank`'s."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from planner.cli.options import Said, declare
from planner.cli.output import Asked, Result


@declare(of_scenario=True)
def recommend(  # reason: one parameter for every option
    said: Said,
    coverage: Annotated[str | None, Option(help="coverage (file or layout), to compare HHFL")] = None,
    edges: Annotated[str | None, Option(help="models sent in a round, in total, to compare HSL")] = None,
    region_times: Annotated[str | None, Option(help="task time of each group, 10s,12s,80s, to compare HGA-FL")] = None,
    save: Annotated[Path | None, Option(help="file for scenario, software and answer, for `rerun`")] = None,
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> Result:
    """Rank topologies by time, traffic or rounds to a target.

    Examples:
        hfl-plan recommend -G 10 -M 10 --uplink 20Mbit/s
        hfl-plan recommend --config examples/hospitals.toml
        hfl-plan recommend -G 10 -M 10 --report report.html
    """
    told = {"coverage": coverage, "edges": edges, "region_times": region_times}
    if save is not None and any(told.values()):
        raise typer.BadParameter("--save: a run that is kept is of the scenario alone. Leave the other families out.")
    scenario = said.scenario()
    timed = scenario.network.timer is not None
    if save is not None and timed:
        raise typer.BadParameter("--save: a run that is kept is of a scenario without --network. Leave one out.")
    from planner.decide.rank import recommend as answer
    from planner.io.progress import progress
    from planner.predict.predictors import watched

    if save is not None:
        from planner.io import atomic
        from planner.runs import manifest

        atomic.place(save, asked.force, "--save")
    from planner.io.wording import percent  # not for help: it brings hflbounds

    with watched(lambda done: progress(f"simulating: {percent(done)}")):
        found = answer(scenario)
    if timed:
        from planner.families.sited.timed import with_links

        found = with_links(found, scenario)
    if save is not None:
        atomic.write(save, manifest.make(said.config, said.options, found).text(), asked.force, "--save")
    if asked.explain in ("links", "all") and not (timed or scenario.divisions):  # no part of what is kept
        from planner.decide.bottlenecks import with_waits

        found = with_waits(found, scenario)
    if any(told.values()):
        from planner.families.comparison import compared

        found = compared(found, scenario, said.config, said.options, told)
    return Result(found, scenario=scenario)
