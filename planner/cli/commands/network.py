"""``hfl-plan network``: options. The answers are in `planner.report.answers.network`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from planner.cli import completion
from planner.cli.options import Said, declare
from planner.cli.output import Asked, Result

ACTIONS = ("place", "order", "links", "overlays", "groups")


def _known(action: str) -> str:
    """Refuse an unknown word, on the command line before a network is missed."""
    from planner.io.text import one_of

    return str(one_of(action, ACTIONS, "WHAT"))


@declare(
    only=(
        *(f"problem.{name}" for name in ("heterogeneity", "sigma", "smoothness", "initial_gap", "rounds", "metric")),
        *("fleet.local_steps", "fleet.group_rounds", "model.size", "compute.step_time", "plan.seed"),
    )
)
def network(  # reason: one parameter for every option
    said: Said,
    action: Annotated[
        str,
        Argument(
            metavar="WHAT",
            help="place, order, links, overlays or groups",
            autocompletion=completion.of_words(ACTIONS),
            callback=_known,
        ),
    ],
    source: Annotated[
        str,
        Argument(
            metavar="NETWORK",
            help="CSV a,b,latency_ms,bandwidth_mbit; matrix latency_ms,<place>...; node,lat,lon; .gml; .graphml; "
            "or gaia, aws-na, geant, exodus, ebone",
        ),
    ],
    fleet: Annotated[Path | None, Option(help="CSV client,group,node,samples,step_time [one client per place]")] = None,
    server: Annotated[str | None, Option(help="current place of the top server")] = None,
    group_servers: Annotated[Path | None, Option(help="CSV group,node: current places of group servers")] = None,
    tiers: Annotated[str | None, Option(help="topology, such as star/ring or star [all]")] = None,
    bandwidth: Annotated[str | None, Option(help="bandwidth of links without one: 1Gbit/s")] = None,
    latency_model: Annotated[str | None, Option(help="latency from distance [0.0085ms/km+4ms]")] = None,
    up: Annotated[str | None, Option(help="uplink of places without their own")] = None,
    down: Annotated[str | None, Option(help="downlink of places without their own")] = None,
    bandwidths: Annotated[Path | None, Option(help="matrix bandwidth_mbit,<place>...")] = None,
    access: Annotated[Path | None, Option(help="CSV node,up_mbit,down_mbit")] = None,
    fill: Annotated[str | None, Option(help="detour: route unmeasured pairs over other places")] = None,
    routing: Annotated[
        str, Option(help="routing: direct, or stored (each place receives the whole model first)")
    ] = "direct",
    counts: Annotated[Path | None, Option(help="label counts of the clients, for groups: client,<label>...")] = None,
    layout: Annotated[
        Path | None, Option(help="file for the fleet in its best order, for place; --fleet reads it")
    ] = None,
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> Result:
    """Place servers and rings, find bottlenecks of a network.

    Examples:
        hfl-plan network place geant
        hfl-plan network order exodus
    """
    from planner.families.sited import answer
    from planner.families.sited.question import Wanted, pose
    from planner.io import atomic
    from planner.report.answers import network as answers

    section = _known(action)
    if layout is not None:
        atomic.place(layout, asked.force, "--layout")
    wanted = Wanted(
        source, bandwidths, access, fleet, server, group_servers, tiers, bandwidth, latency_model, up, down, fill,
        routing,
    )  # fmt: skip
    question = pose(wanted, said.config, said.options)
    if section == "place":
        trees, following = answer.trees(question), "... --layout placed.csv"
        if layout is not None:
            atomic.write(layout, answers.layout_as_csv(question, trees[0]), asked.force, "--layout")
            words = {"--network": source, "--sites": layout, "--config": said.config, "--access": access}
            words |= {"--uplink": up, "--downlink": down, "--bandwidth": bandwidth, **dict(said.options.values())}
            given = (word for one in words.items() if one[1] is not None for word in map(str, one))
            following = shlex.join(["hfl-plan", "recommend", *given])
            if not question.grouped or any((bandwidths, latency_model, fill, routing != "direct")):
                following = ""  # recommend takes trees of groups, and links as they are listed
        document = answers.places(question, trees, following)
    elif section == "order":
        document = answers.orders(question, answer.orders(question))
    elif section == "links":
        document = answers.waits(question, answer.waits(question))
    elif section == "overlays":
        document = answers.plans(question, answer.plans(question))
    else:
        document = answers.groupings(question, answer.regrouped(question, counts, said.config, said.options))
    return Result(document)
