"""``hfl-plan async``: the options of its own. What it shows is in `planner.report.answers.asynchronous`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from planner.cli.options import Format, Json
from planner.cli.output import chosen_format, show

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario


def async_(  # reason: one parameter for every option
    scenario: Scenario,
    region_times: Annotated[
        str | None, Option("--region-times", help="Time of a task of each region, transfers included: 10s,12s,80s.")
    ] = None,
    slowdowns: Annotated[
        str | None, Option("--slowdowns", help="Or how many times the scenario's time of a task each takes: 1,1.2,8.")
    ] = None,
    speed_ratio: Annotated[
        str | None, Option("--speed-ratio", help="Or the last region's over the first's, in equal ratios: 8.")
    ] = None,
    jitter: Annotated[
        float, Option("--jitter", help="Standard deviation of the logarithm of a task's time.", min=0, max=3)
    ] = 0.0,
    buffers: Annotated[
        str | None, Option("--buffers", help="Updates of a global step to try: 1,2,5, or 1:8; else all.")
    ] = None,
    sub_rounds: Annotated[
        str | None, Option("--sub-rounds", help="Rounds inside a region to try with the buffer found: 1,2,4.")
    ] = None,
    max_staleness: Annotated[
        int | None, Option("--max-staleness", help="Global steps that an update may be late.", min=0)
    ] = None,
    alpha: Annotated[
        float | None, Option("--alpha", help="FedDyn's coefficient, for the verdict on the printed theorem.")
    ] = None,
    form: Format = None,
    json: Json = False,
) -> None:
    """Slow regions: a buffer for asynchronous updates or waiting for all, by the clock and by what is proved.

    Regions are the scenario's groups: --groups, --clients-per-group, --group-rounds (rounds inside a region),
    --server-link and the others mean what they mean for `recommend`.
    """
    from planner.families.hga.question import Settings, solve
    from planner.report.answers import asynchronous

    chosen = chosen_format(form, json)
    settings = Settings(region_times, slowdowns, speed_ratio, jitter, buffers, sub_rounds, max_staleness, alpha)
    show(asynchronous.document(solve(scenario, settings)), chosen)
