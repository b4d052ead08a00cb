"""``hfl-plan estimate``: the options. What it does is in `planner.report.answers.estimate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from planner.cli.options import declare
from planner.cli.output import Asked, Result


@declare(files={".json": "the profile, aggregates only, for `recommend --heterogeneity`"})
def estimate(  # reason: one parameter for every option
    hook: Annotated[
        Path,
        Argument(
            metavar="HOOK.py",
            help="Python file with model() and clients(), perhaps loss(outputs, targets); it is RUN with your rights: "
            "name only files that you trust",
        ),
    ],
    steps: Annotated[int, Option(help="local steps of each client in the run", min=0)] = 100,
    rate: Annotated[float | None, Option(help="raw learning rate [a quarter of 1/L at the start]")] = None,
    batch: Annotated[int, Option(help="samples of a mini-batch, which sigma belongs to", min=1)] = 32,
    local_steps: Annotated[int, Option(help="local steps between two averagings", min=1)] = 5,
    points: Annotated[int, Option(help="number of measurement points", min=1)] = 4,
    gradients: Annotated[
        str, Option(help="client gradients: full, on all data, or batches, with the noise taken out")
    ] = "full",
    batches: Annotated[int | None, Option(help="mini-batches of each client at each point", min=2)] = None,
    curved: Annotated[int, Option("--curvature-clients", help="clients whose curvature is measured", min=1)] = 4,
    follow: Annotated[
        int,
        Option(
            help="steps of a longer run of the mean loss, which says how deviations fade late in training; 0: none",
            min=0,
        ),
    ] = 400,
    gram: Annotated[
        Path | None, Option(help="file for inner products of class gradients, for `measure --gram`")
    ] = None,
    seed: Annotated[int, Option(help="seed of every random draw", min=0, max=2**31)] = 0,
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> Result:
    """Estimate L, sigma, zeta, delta and A from model and data.

    HOOK.py is imported and RUN, as `python HOOK.py` would; nothing is unpickled. It has model(), which returns an
    nn.Module, and clients(), which returns a list of (group, X, y). Groups that are tuples, ("north", "ward 3"), make
    trees of more tiers, whose deviations are delta1, delta2 ... Needs torch (extra validation).

    Examples:
        hfl-plan estimate examples/digits_hook.py --output profile.json
    """
    from planner.errors import ScenarioError
    from planner.report.answers.estimate import estimated

    if gram is not None and gram == asked.file:
        raise ScenarioError("--gram: is the file of --output. Name another.")
    document, profile = estimated(
        hook, gram, force=asked.force, output=asked.file, steps=steps, rate=rate, batch=batch, local_steps=local_steps,
        points=points, gradients=gradients, batches=batches, curved=curved, follow=follow, seed=seed,
    )  # fmt: skip
    return Result(document, {".json": profile})
