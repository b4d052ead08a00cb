"""What other families say of a fleet, beside a recommendation: numbers of other quantities, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from planner.data.coverage import read_layout
from planner.decide.recommendation import Recommendation
from planner.errors import ScenarioError
from planner.families.hga import question as hga
from planner.families.hhfl import question as hhfl
from planner.families.hsl import question as hsl
from planner.scenario.resolve import Scenario

LEFT_OUT = {  # the fleet, which each family has its own way to say; a target of one quantity is none of another
    *("fleet.clients", "fleet.groups", "fleet.clients_per_group", "fleet.groups_per_round", "fleet.clients_per_round"),
    *("problem.target", "fleet.order", "plan.objective"),
}
Said = Mapping[str, tuple[str, Any]]


def compared(
    answer: Recommendation, scenario: Scenario, config: Path | None, said: Said, told: Mapping[str, str | None]
) -> Recommendation:
    """Answer for the families that were told what they need, beside the recommendation for a scenario.

    Args:
        answer: Recommendation.
        scenario: What was asked.
        config: Its file.
        said: Its options.
        told: ``coverage``, a file or layout for HHFL; ``edges`` of a round in all, for HSL; ``region_times`` of a task
            of each group, for HGA-FL; those of the others may be missing or None.

    Raises:
        ScenarioError: Where what is told contradicts the fleet.
        NoAnswerError: Where a family has no answer.
    """
    if scenario.divisions:
        raise ScenarioError("--coverage, --edges, --region-times: give --groups too, as they are about a fixed fleet.")
    own = {key: value for key, value in said.items() if key not in LEFT_OUT}
    families = {family.id: family for family in answer.families}
    for id_, option, asked in ASKED:
        if (text := told.get(option)) is not None:
            found = asked(text, scenario, config, own)
            families |= {id_: families[id_].model_copy(update=found)} if id_ in families else {}
    warnings = answer.warnings
    if told.get("region_times") is not None:
        warnings += ("The times of the regions are HGA-FL's alone: the topologies are timed by --step-time.",)
    return answer.model_copy(update={"families": tuple(families.values()), "warnings": warnings})


def _hhfl(coverage: str, scenario: Scenario, config: Path | None, said: Said) -> dict[str, Any]:
    groups, fleet = scenario.number("G"), scenario.number("G") * scenario.number("M")
    steps = {"fleet.local_steps": ("-K", "K"), "fleet.group_rounds": ("-P", "P")}
    said = {**said, **{key: (option, f"{scenario.number(name):.0f}") for key, (option, name) in steps.items()}}
    clients, servers = read_layout(coverage).links.shape
    if servers != groups or clients != fleet:
        raise ScenarioError(
            f"--coverage: {coverage!s:.80} has {clients} clients and {servers} servers, and the scenario "
            f"{fleet:.0f} clients in {groups:.0f} groups. Make them agree, or ask `hfl-plan overlap` alone."
        )
    objective = "airtime" if scenario.objective == "rounds" else scenario.objective
    found = hhfl.solve(hhfl.pose(coverage, config, said, objective=objective))
    why = (
        f"{found.verdict} against one server for each client, which takes {found.apart.rounds:,} rounds to the "
        "same loss: a bound on the loss of strongly convex problems, not on the gradient"
    )
    return _amounts(found.hybrid.rounds, found.hybrid, why)


def _hsl(edges: str, scenario: Scenario, config: Path | None, said: Said) -> dict[str, Any]:
    nodes = f"{scenario.number('G') * scenario.number('M'):.0f}"
    found = hsl.solve(hsl.pose({"nodes": nodes, "edges": edges}, config, said))
    why = (
        f"{found.hubs.budgets}: to the mean squared gradient of the nodes' mean model by a reconstructed theorem, and "
        f"its own target ({found.question.setting.target:.3g})"
    )
    return _amounts(found.hubs.rounds, found.hubs, why)


def _hga(region_times: str, scenario: Scenario, config: Path | None, said: Said) -> dict[str, Any]:
    found = hga.solve(scenario, hga.Settings(region_times))
    why = f"its bound has a floor from heterogeneity, and its own target ({found.question.target:.3g})"
    if (best := found.proved) is None:
        return {"why": f"{why}, which is below it"}
    return _amounts(best.steps, best, f"buffer of {best.size} of {found.regions}, steps of the top server; {why}")


def _amounts(rounds: float | None, row: Any, why: str) -> dict[str, Any]:
    count = None if rounds is None else round(rounds)
    return {"rounds": count, "seconds": row.seconds, "bytes": row.bytes, "why": why}


ASKED: tuple[tuple[str, str, Callable[[str, Scenario, Path | None, Said], dict[str, Any]]], ...] = (
    ("hhfl", "coverage", _hhfl),
    ("hsl", "edges", _hsl),
    ("hga-fl", "region_times", _hga),
)
