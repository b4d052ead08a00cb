"""``hfl-plan tune``: the options of its own. The answer is `planner.decide.steps_and_rates`'s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from planner.cli.output import Result

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario


def tune(  # reason: one parameter for every option
    scenario: Scenario,
    local_steps: Annotated[
        str | None, Option("--local-steps", "--K", "-K", help="local steps to try: 5 (then yours), or 1,2,5, or 1:64")
    ] = None,
    group_rounds: Annotated[
        str | None, Option("--group-rounds", "--P", "-P", help="group rounds to try: 1 (then yours), or 1,2,4, or 1:16")
    ] = None,
    topology: Annotated[str | None, Option(help="topology: star-star, star-ring, ring-star, ring-ring [all]")] = None,
    within: Annotated[str | None, Option(help="time budget: 10h")] = None,
    traffic: Annotated[str | None, Option(help="traffic budget: 50GB")] = None,
    budget: Annotated[
        list[str] | None, Option(help="budget, by its unit: 2h, 50GB, 20kWh, 5kgCO2e or 100USD; may be repeated")
    ] = None,
    objective: Annotated[
        str | None, Option(help="objective: time, traffic, energy, carbon or money [what has no budget, or time]")
    ] = None,
) -> Result:
    """Choose local steps K and group rounds P to a target.

    All choices are compared at one target: the given one, or what the scenario's own K and P reach. One number to try
    is the scenario's own where that has none.

    Examples:
        hfl-plan tune --config examples/hospitals.toml
        hfl-plan tune -G 10 -M 10 --within 10h
    """
    from planner.decide.steps_and_rates import Wanted, tuned

    limits = tuple(budget or ())
    return Result(tuned(scenario, Wanted(local_steps, group_rounds, topology, within, traffic, objective, limits)))
