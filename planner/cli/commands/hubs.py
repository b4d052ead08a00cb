"""``hfl-plan hubs``: options. The answer is in `planner.report.answers.hubs`."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from planner.cli.options import FAMILY, Said, declare
from planner.cli.output import Result


@declare(
    only=(*FAMILY, "problem.target", "plan.objective"),
    reworded={
        "problem.heterogeneity": (
            "--heterogeneity -H",
            "heterogeneity of all nodes: iid, inter, both; zeta=0.5,delta=2; counts.csv",
        ),
        "problem.rounds": ("--rounds --R -R", "rounds of one server (FedAvg) that define the target"),
        "problem.target": ("--target", "squared gradient norm to reach, or a share of its first bound: 1%"),
        "network.server_link.preset": ("--hub-link", "preset for hubs: wan, lan ..."),
        "plan.objective": ("--objective", "objective: time, rounds or traffic", "time"),
    },
)
def hubs(  # reason: one parameter for every option
    said: Said,
    nodes: Annotated[str | None, Option("--nodes", "-n", help="nodes that learn [the clients of the scenario]")] = None,
    edges: Annotated[str | None, Option(help="most models sent in a round, in total")] = None,
    per_node: Annotated[str | None, Option(help="most models a node sends and receives in a round")] = None,
    per_hub: Annotated[str | None, Option(help="the same limit for a hub [as --per-node]")] = None,
    hub_count: Annotated[
        str | None, Option("--hubs", help="numbers of hubs to try: 5, or 1:20 [2 to the number of nodes]")
    ] = None,
    b_hs: Annotated[str | None, Option(help="nodes that a hub averages [searched]")] = None,
    b_hh: Annotated[str | None, Option(help="other hubs that a hub sends to [searched]")] = None,
    b_sh: Annotated[str | None, Option(help="hubs that a node averages [searched]")] = None,
) -> Result:
    """Choose hubs and their budgets where no cloud is trusted.

    Examples:
        hfl-plan hubs --nodes 32 --edges 128
        hfl-plan hubs --nodes 32 --edges 128 --per-hub 20
    """
    own = {"nodes": nodes, "edges": edges, "per_node": per_node, "per_hub": per_hub, "hub_count": hub_count}
    own |= {"b_hs": b_hs, "b_hh": b_hh, "b_sh": b_sh}
    from planner.families.hsl.question import pose, solve
    from planner.report.answers import hubs as answers

    return Result(answers.answered(solve(pose(own, said.config, said.options))))
