"""``hfl-plan async``: the options of its own. What it shows is in `planner.report.answers.async_`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from planner.cli.output import Result

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario


def async_(  # reason: one parameter for every option
    scenario: Scenario,
    region_times: Annotated[
        str | None, Option(help="time of a task in each region, transfers included: 10s,12s,80s")
    ] = None,
    slowdowns: Annotated[
        str | None, Option(help="factors on a region's own time by the scenario; one slow region: 1,1,8")
    ] = None,
    speed_ratio: Annotated[
        str | None, Option(help="last region's time over the first's, each slower than the one before: 8")
    ] = None,
    jitter: Annotated[float, Option(help="standard deviation of the logarithm of a task's time", min=0, max=3)] = 0.0,
    buffers: Annotated[str | None, Option(help="buffer sizes to try: 1,2,5 or 1:8 [all]")] = None,
    sub_rounds: Annotated[str | None, Option(help="rounds inside a region to try with the best buffer: 1,2,4")] = None,
    max_staleness: Annotated[int | None, Option(help="largest staleness of an update, in global steps", min=0)] = None,
    alpha: Annotated[float | None, Option(help="coefficient of FedDyn, for the check of the printed theorem")] = None,
) -> Result:
    """Choose a buffer for updates of regions unlike in speed.

    Regions are the groups of the scenario; options mean what they mean for `recommend`.

    Examples:
        hfl-plan async --config examples/phones.toml --speed-ratio 8
        hfl-plan async -G 4 -M 5 --region-times 10s,12s,15s,80s
    """
    from planner.families.hga.question import Settings, solve

    settings = Settings(region_times, slowdowns, speed_ratio, jitter, buffers, sub_rounds, max_staleness, alpha)
    from planner.report.answers import async_ as answers

    return Result(answers.answered(solve(scenario, settings)))
