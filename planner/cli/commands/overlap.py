"""``hfl-plan overlap``: options. The answer is in `planner.report.answers.overlap`."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from planner.cli.options import FAMILY, Said, declare
from planner.cli.output import Result


@declare(
    files={".csv": "the links to keep"},
    only=(*FAMILY, "problem.pilot", "fleet.local_steps", "fleet.group_rounds", "network.client_link.sharing"),
    reworded={
        "fleet.local_steps": ("--local-steps --E -E", "local steps between edge rounds", "5"),
        "fleet.group_rounds": ("--edge-rounds --Ge", "edge rounds between cloud rounds", "5"),
        "problem.rounds": ("--rounds --R -R", "cloud rounds of HFL that define the target"),
    },
)
def overlap(  # reason: one parameter for every option
    said: Said,
    coverage: Annotated[
        str,
        Argument(
            metavar="COVERAGE",
            help="CSV client,<server>... of 0 and 1, or client,server[,airtime]; or ring:3,19,4 or "
            "triangle:14,4,1 or 110;011",
        ),
    ],
    convexity: Annotated[
        str | None, Option("--strong-convexity", "--mu", help="strong convexity of the losses [L/10]")
    ] = None,
    target: Annotated[str | None, Option(help="loss above its minimum, or a share of that at the start: 1%")] = None,
    upload: Annotated[str, Option(help="upload: each (one per server) or once (all servers hear it)")] = "each",
    objective: Annotated[str, Option(help="objective: airtime, time or traffic")] = "airtime",
) -> Result:
    """Decide if clients should use several servers (HHFL).

    Examples:
        hfl-plan overlap examples/coverage57.csv
        hfl-plan overlap ring:3,19,4 --objective time
    """
    from planner.errors import ScenarioError
    from planner.families.hhfl import raced
    from planner.families.hhfl.question import pose, solve
    from planner.report.answers import overlap as answers
    from planner.report.answers import overlap_raced

    if raced.is_asked(said.config, said.options):
        for option, given in (("--target", target), ("--strong-convexity", convexity)):
            if given is not None:
                raise ScenarioError(f"{option}: is of the bound. With --pilot give --rounds, or leave it out.")
        found = raced.solve(coverage, said.config, said.options, upload=upload, objective=objective)
        return Result(overlap_raced.answered(found), {".csv": answers.links_as_csv(found.layout)})
    answer = solve(
        pose(
            coverage, said.config, said.options, convexity=convexity, target=target, upload=upload, objective=objective
        )
    )
    return Result(answers.answered(answer), {".csv": answers.links_as_csv(answer.best.kept.layout)})
