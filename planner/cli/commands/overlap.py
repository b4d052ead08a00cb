"""``hfl-plan overlap``: options. The answer is in `planner.report.answers.overlap`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from planner.cli.options import FAMILY, Force, Format, Json, Said, of_scenario
from planner.cli.output import chosen_format, show, write


@of_scenario(
    only=(*FAMILY, "fleet.local_steps", "fleet.group_rounds", "network.client_link.sharing"),
    reworded={
        "fleet.local_steps": ("--local-steps --E -E", "Local steps between edge rounds."),
        "fleet.group_rounds": ("--edge-rounds --Ge", "Edge rounds between cloud rounds."),
        "problem.rounds": ("--rounds --R -R", "Cloud rounds of HFL that define the target."),
    },
)
def overlap(  # reason: one parameter for every option
    said: Said,
    coverage: Annotated[
        str,
        Argument(
            metavar="COVERAGE",
            help="CSV: client,<server>... of 0 and 1, or client,server[,airtime]; perhaps home. Or ring:3,19,4; "
            "triangle:14,4,1; 110;011.",
        ),
    ],
    convexity: Annotated[
        str | None, Option("--strong-convexity", "--mu", help="Of the losses; L/10 if not given.")
    ] = None,
    target: Annotated[
        str | None, Option("--target", help="Loss above its minimum, or a share of it at the start: 1%.")
    ] = None,
    upload: Annotated[
        str, Option("--upload", help="each: to every server apart; once: all servers hear one transmission.")
    ] = "each",
    objective: Annotated[
        str, Option("--objective", "-o", help="What has to be worth it: airtime, time or bytes.")
    ] = "airtime",
    output: Annotated[
        Path | None, Option("--output", help="CSV of the links to keep, for `hfl-plan overlap` again.")
    ] = None,
    force: Force = False,
    form: Format = None,
    json: Json = False,
) -> None:
    """My cells overlap: is it worth the airtime to attach clients to several servers (HHFL)? Which links to drop?"""
    from planner.families.hhfl.question import pose, solve
    from planner.io import atomic
    from planner.report.answers import overlap as answers

    form = chosen_format(form, json)
    if output is not None:
        atomic.place(output, force)
    answer = solve(
        pose(
            coverage, said.config, said.options, convexity=convexity, target=target, upload=upload, objective=objective
        )
    )
    if output is not None:
        atomic.write(output, answers.links_as_csv(answer.kept.layout), force)
    show(answers.document(answer), form)
    if output is not None and form == "table":
        write(f"\nLinks to keep: {output}\n")
