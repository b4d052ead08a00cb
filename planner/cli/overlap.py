"""``hfl-plan overlap``: the options. What it answers is in `planner.report.answers.overlap`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Given = str | None
Config = Annotated[Path | None, typer.Option("--config", "-c", help="A scenario in TOML; options override it.")]
Sigma = Annotated[Given, typer.Option("--sigma", help="Standard deviation of a stochastic gradient.")]
Smoothness = Annotated[Given, typer.Option("--smoothness", "--L", help="Smoothness of the losses.")]
Gap = Annotated[Given, typer.Option("--initial-gap", "--A", help="F(x0) - F*.")]
ModelSize = Annotated[Given, typer.Option("--model-size", help="What one transfer carries: 45MB.")]
ClientLink = Annotated[Given, typer.Option("--client-link", help="Preset for clients: 5g, wifi, broadband ...")]
ServerLink = Annotated[Given, typer.Option("--server-link", help="Preset for servers: wan, lan ...")]
Uplink = Annotated[Given, typer.Option("--uplink", help="Rate from a client: 20Mbit/s.")]
Downlink = Annotated[Given, typer.Option("--downlink", help="Rate to a client: 100Mbit/s.")]
Latency = Annotated[Given, typer.Option("--latency", help="Of a client's link, one way: 20ms.")]
Sharing = Annotated[
    Given, typer.Option("--link-sharing", help="Whose the rate is: per-client, or per-server (shared).")
]
StepTime = Annotated[Given, typer.Option("--step-time", help="Mean time of a local step: 0.2s.")]
Seed = Annotated[Given, typer.Option("--seed", help="Of every random draw.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Any key of a scenario: --set network.server_link.up=1Gbit/s.")
]
Json = Annotated[bool, typer.Option("--json", "-j", help="One JSON document.")]


def overlap(
    coverage: Annotated[
        str,
        typer.Argument(
            metavar="COVERAGE",
            help="CSV: client,<server>... of 0 and 1, or client,server[,airtime]; perhaps home. Or ring:3,19,4; "
            "triangle:14,4,1; 110;011.",
        ),
    ],
    config: Config = None,
    local_steps: Annotated[
        Given, typer.Option("--local-steps", "--E", "-E", help="Local steps between edge rounds.")
    ] = None,
    group_rounds: Annotated[
        Given, typer.Option("--edge-rounds", "--Ge", help="Edge rounds between cloud rounds.")
    ] = None,
    heterogeneity: Annotated[
        Given,
        typer.Option(
            "--heterogeneity",
            "-H",
            help="iid, intra, inter, both; zeta=0.5,delta=2; dirichlet:intra=0.1,inter=0.3; counts.csv; profile.json.",
        ),
    ] = None,
    sigma: Sigma = None,
    smoothness: Smoothness = None,
    convexity: Annotated[
        Given, typer.Option("--strong-convexity", "--mu", help="Of the losses; L/10 if not given.")
    ] = None,
    gap: Gap = None,
    rounds: Annotated[
        Given, typer.Option("--rounds", "--R", "-R", help="Cloud rounds of HFL that define the target.")
    ] = None,
    target: Annotated[
        Given, typer.Option("--target", help="Loss above its minimum, or a share of it at the start: 1%.")
    ] = None,
    model_size: ModelSize = None,
    client_link: ClientLink = None,
    server_link: ServerLink = None,
    uplink: Uplink = None,
    downlink: Downlink = None,
    latency: Latency = None,
    sharing: Sharing = None,
    step_time: StepTime = None,
    upload: Annotated[
        str, typer.Option("--upload", help="each: to every server apart; once: all servers hear one transmission.")
    ] = "each",
    objective: Annotated[
        str, typer.Option("--objective", "-o", help="What has to be worth it: airtime, time or bytes.")
    ] = "airtime",
    output: Annotated[
        Path | None, typer.Option("--output", help="CSV of the links to keep, for `hfl-plan overlap` again.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
    seed: Seed = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """My cells overlap: is it worth the airtime to attach clients to several servers (HHFL)? Which links to drop?"""
    from planner.cli import app as cli
    from planner.cli.scenario_options import spoken
    from planner.report.answers import overlap as overlap_answers

    own = ("coverage", "config", "convexity", "target", "upload", "objective", "output", "force", "json")
    said = spoken({name: value for name, value in locals().items() if name not in own})
    text = overlap_answers.answered(
        coverage,
        config,
        said,
        convexity=convexity,
        target=target,
        upload=upload,
        objective=objective,
        output=output,
        force=force,
        json=json,
        width=cli._width(),
        color=cli._color(),
    )
    cli._print(text)
