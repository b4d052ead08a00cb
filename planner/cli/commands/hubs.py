"""``hfl-plan hubs``: options. The answer is in `planner.report.answers.hubs`."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from planner.cli.options import FAMILY, Format, Json, Said, of_scenario
from planner.cli.output import chosen_format, show


@of_scenario(
    only=(*FAMILY, "problem.target", "plan.objective"),
    reworded={
        "problem.heterogeneity": (
            "--heterogeneity -H",
            "Of all nodes: iid, inter, both; zeta=0.5,delta=2 (their squares add up); counts.csv; profile.json.",
        ),
        "problem.rounds": ("--rounds --R -R", "Rounds of a server (FedAvg) that define the target."),
        "problem.target": ("--target", "Squared gradient norm to reach, or a share of its first bound: 1%."),
        "network.server_link.preset": ("--hub-link", "Preset for hubs: wan, lan ..."),
    },
)
def hubs(  # reason: one parameter for every option
    said: Said,
    nodes: Annotated[str | None, Option("--nodes", "-n", help="Nodes that learn; of a scenario, its clients.")] = None,
    edges: Annotated[str | None, Option("--edges", help="Most models that a round may send in all.")] = None,
    per_node: Annotated[
        str | None, Option("--per-node", help="Most models that a node may send and receive in a round.")
    ] = None,
    per_hub: Annotated[
        str | None, Option("--per-hub", help="The same for a hub; as --per-node if only that is given.")
    ] = None,
    hub_count: Annotated[
        str | None,
        Option(
            "--hubs",
            help="How many to look at: 5, or 1:20; by default from 2, as one is a server, to as many as nodes.",
        ),
    ] = None,
    b_hs: Annotated[str | None, Option("--b-hs", help="Nodes that a hub averages; searched if not given.")] = None,
    b_hh: Annotated[str | None, Option("--b-hh", help="Other hubs that a hub sends to; searched if not given.")] = None,
    b_sh: Annotated[str | None, Option("--b-sh", help="Hubs that a node averages; searched if not given.")] = None,
    form: Format = None,
    json: Json = False,
) -> None:
    """No trusted cloud: how many hubs, and which budgets, under limits in all and for each machine?"""
    own = {"nodes": nodes, "edges": edges, "per_node": per_node, "per_hub": per_hub, "hub_count": hub_count}
    own |= {"b_hs": b_hs, "b_hh": b_hh, "b_sh": b_sh}
    chosen = chosen_format(form, json)
    from planner.families.hsl.question import pose, solve
    from planner.report.answers import hubs as answers

    show(answers.document(solve(pose(own, said.config, said.options))), chosen)
