"""``hfl-plan estimate``: the options. What it does is in `planner.report.answers.estimate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from planner.cli.options import Json
from planner.cli.output import write


def estimate(  # reason: one parameter for every option
    hook: Annotated[
        Path,
        Argument(
            metavar="HOOK.py",
            help="Python file with model() and clients(), perhaps loss(outputs, targets). It is RUN, with your rights: "
            "name only files that you trust.",
        ),
    ],
    steps: Annotated[int, Option("--steps", help="Local steps of each client in the run.", min=0)] = 100,
    rate: Annotated[
        float | None, Option("--rate", help="Raw learning rate; by default a quarter of 1/L at the start.")
    ] = None,
    batch: Annotated[int, Option("--batch", help="Samples of a mini-batch; sigma is of these.", min=1)] = 32,
    local_steps: Annotated[int, Option("--local-steps", help="Between two averagings.", min=1)] = 5,
    points: Annotated[int, Option("--points", help="Of the run, at which is measured.", min=1)] = 4,
    gradients: Annotated[
        str, Option("--gradients", help="Of clients: full, on all data; or batches, with the noise taken out.")
    ] = "full",
    batches: Annotated[
        int | None, Option("--batches", help="Mini-batches of each client at each point.", min=2)
    ] = None,
    curved: Annotated[int, Option("--curvature-clients", help="Clients whose curvature is measured.", min=1)] = 4,
    output: Annotated[
        Path | None, Option("--output", "-o", help="PROFILE.json: aggregates only, for others and `recommend`.")
    ] = None,
    gram: Annotated[
        Path | None, Option("--gram", help="CSV of inner products of class gradients, for `measure --gram`.")
    ] = None,
    force: Annotated[bool, Option("--force", help="Overwrite the outputs.")] = False,
    seed: Annotated[int, Option("--seed", help="Of every random draw.", min=0, max=2**31)] = 0,
    json: Json = False,
) -> None:
    """From a torch model and partitioned data: L, sigma, zeta, delta and A along a short run, with intervals.

    HOOK.py is imported and run, as `python HOOK.py` would; nothing is unpickled. It has model(), which returns an
    nn.Module, and clients(), which returns a list of (group, X, y); examples/digits_hook.py is one. Needs torch
    (hfl-plan[validation]).
    """
    from planner.report.answers.estimate import Wanted, estimated

    wanted = Wanted(steps, rate, batch, local_steps, points, gradients, batches, curved, seed)
    write(estimated(hook, wanted, output, gram, force=force, as_json=json))
