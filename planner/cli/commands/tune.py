"""``hfl-plan tune``: the options of its own. What it does is in `planner.report.answers.tune`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from planner.cli.options import Format, Json
from planner.cli.output import chosen_format, show

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario


def tune(  # reason: one parameter for every option
    scenario: Scenario,
    local_steps: Annotated[
        str | None, Option("--local-steps", "--K", "-K", help="Local steps to try: 5, or 1,2,5, or 1:64.")
    ] = None,
    group_rounds: Annotated[
        str | None, Option("--group-rounds", "--P", "-P", help="Group rounds to try: 1, or 1,2,4, or 1:16.")
    ] = None,
    topology: Annotated[
        str | None, Option("--topology", help="Only this one: star-star, star-ring, ring-star, ring-ring.")
    ] = None,
    within: Annotated[str | None, Option("--within", help="Time that may be spent: 10h.")] = None,
    traffic: Annotated[str | None, Option("--traffic", help="Traffic that may be caused: 50GB.")] = None,
    objective: Annotated[
        str | None,
        Option("--objective", "-o", help="What is to be least, time or bytes; else what has no limit, or time."),
    ] = None,
    form: Format = None,
    json: Json = False,
) -> None:
    """How many local steps K and group rounds P, and which learning rate: the front of time and traffic to a target.

    All choices are taken to one target: the given one, or what the scenario's own K and P (a file, --set) reach.
    """
    form = chosen_format(form, json)
    from planner.report.answers.tune import Wanted, tuned

    show(tuned(scenario, Wanted(local_steps, group_rounds, topology, within, traffic, objective)), form)
