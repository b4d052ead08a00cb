"""``hfl-plan hubs``: the options. What it answers is in `planner.report.answers.hubs`."""

from __future__ import annotations

from typing import Annotated

import typer

from planner.cli.overlap import (
    ClientLink,
    Config,
    Downlink,
    Gap,
    Given,
    Json,
    Latency,
    ModelSize,
    Seed,
    Settings,
    Sigma,
    Smoothness,
    StepTime,
    Uplink,
)


def hubs(
    nodes: Annotated[Given, typer.Option("--nodes", "-n", help="Nodes that learn; of a scenario, its clients.")] = None,
    edges: Annotated[Given, typer.Option("--edges", help="Most models that a round may send in all.")] = None,
    per_node: Annotated[
        Given, typer.Option("--per-node", help="Most models that a node may send and receive in a round.")
    ] = None,
    per_hub: Annotated[
        Given, typer.Option("--per-hub", help="The same for a hub; as --per-node if only that is given.")
    ] = None,
    hub_count: Annotated[
        Given,
        typer.Option(
            "--hubs",
            help="How many to look at: 5, or 1:20; by default from 2, as one is a server, to as many as nodes.",
        ),
    ] = None,
    b_hs: Annotated[Given, typer.Option("--b-hs", help="Nodes that a hub averages; searched if not given.")] = None,
    b_hh: Annotated[
        Given, typer.Option("--b-hh", help="Other hubs that a hub sends to; searched if not given.")
    ] = None,
    b_sh: Annotated[Given, typer.Option("--b-sh", help="Hubs that a node averages; searched if not given.")] = None,
    config: Config = None,
    heterogeneity: Annotated[
        Given,
        typer.Option(
            "--heterogeneity",
            "-H",
            help="Of all nodes: iid, inter, both; zeta=0.5,delta=2 (their squares add up); counts.csv; profile.json.",
        ),
    ] = None,
    sigma: Sigma = None,
    smoothness: Smoothness = None,
    gap: Gap = None,
    rounds: Annotated[
        Given, typer.Option("--rounds", "--R", "-R", help="Rounds of a server (FedAvg) that define the target.")
    ] = None,
    target: Annotated[
        Given, typer.Option("--target", help="Squared gradient norm to reach, or a share of its first bound: 1%.")
    ] = None,
    model_size: ModelSize = None,
    client_link: ClientLink = None,
    server_link: Annotated[Given, typer.Option("--hub-link", help="Preset for hubs: wan, lan ...")] = None,
    uplink: Uplink = None,
    downlink: Downlink = None,
    latency: Latency = None,
    step_time: StepTime = None,
    objective: Annotated[Given, typer.Option("--objective", "-o", help="rounds, time or bytes.")] = None,
    seed: Seed = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """No trusted cloud: how many hubs, and which budgets, under limits in all and for each machine?"""
    from planner.cli import app as cli
    from planner.cli.scenario_options import spoken
    from planner.report.answers import hubs as hubs_answers

    own = ("nodes", "edges", "per_node", "per_hub", "hub_count", "b_hs", "b_hh", "b_sh", "config", "json")
    given = dict(locals())
    said = spoken({name: value for name, value in given.items() if name not in own})
    text = hubs_answers.answered(
        {name: given[name] for name in own if name not in ("config", "json")},
        config,
        said,
        json=json,
        width=cli._width(),
        color=cli._color(),
    )
    cli._print(text)
