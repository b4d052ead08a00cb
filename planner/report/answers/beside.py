"""What other families say of a fleet, beside a recommendation: numbers of other quantities, with the reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner.decide.recommendation import Family, Recommendation
from planner.errors import ScenarioError
from planner.scenario.resolve import Scenario

FLEET = (
    "fleet.clients",
    "fleet.groups",
    "fleet.clients_per_group",
    "fleet.groups_per_round",
    "fleet.clients_per_round",
)
LEFT_OUT = ("problem.target", "fleet.order", "plan.objective")  # a target of one quantity is none of another
Spoken = Mapping[str, tuple[str, Any]]


def beside(
    answer: Recommendation,
    scenario: Scenario,
    config: Path | None,
    said: Spoken,
    *,
    coverage: str | None,
    edges: str | None,
    region_times: str | None,
) -> Recommendation:
    """The answer, with the families that were told what they need.

    Args:
        answer: of the scenario.
        scenario: what was asked.
        config: its file.
        said: its options.
        coverage: file or layout of who hears whom, for HHFL.
        edges: of a round in all, for HSL without a trusted cloud.
        region_times: of a task of each group, for HGA-FL.

    Raises:
        ScenarioError: where what is told contradicts the fleet.
        NoAnswerError: where a family has no answer.
    """
    if scenario.divisions:
        raise ScenarioError("--coverage, --edges, --region-times: give --groups too, as they are about a fixed fleet.")
    other = {key: value for key, value in said.items() if key not in (*FLEET, *LEFT_OUT)}
    told = {}
    if coverage is not None:
        told["hhfl"] = _overlap(coverage, scenario, config, dict(other))
    if edges is not None:
        told["hsl"] = _hubs(edges, scenario, config, dict(other))
    if region_times is not None:
        told["hga-fl"] = _async(region_times, scenario)
    families = tuple(told.get(family.id) or family for family in answer.families)
    warnings = list(answer.warnings)
    if region_times is not None:
        warnings.append("The times of the regions are HGA-FL's alone: the topologies are timed by --step-time.")
    return answer.model_copy(update={"families": families, "warnings": tuple(warnings)})


def _overlap(coverage: str, scenario: Scenario, config: Path | None, said: dict[str, tuple[str, Any]]) -> Family:
    from planner.data.coverage import read_layout
    from planner.report.answers import overlap as overlap_answers

    clients, servers = read_layout(coverage).links.shape
    groups, fleet = scenario.number("G"), scenario.number("G") * scenario.number("M")
    if servers != groups or clients != fleet:
        raise ScenarioError(
            f"--coverage: {coverage!s:.80} has {clients} clients and {servers} servers, and the scenario "
            f"{fleet:.0f} clients in {groups:.0f} groups. Make them agree, or ask `hfl-plan overlap` alone."
        )
    said["fleet.local_steps"] = ("-K", f"{scenario.number('K'):.0f}")
    said["fleet.group_rounds"] = ("-P", f"{scenario.number('P'):.0f}")
    text = overlap_answers.answered(
        coverage,
        config,
        said,
        convexity=None,
        target=None,
        upload="each",
        objective={"time": "time", "bytes": "bytes"}.get(scenario.objective, "airtime"),
        output=None,
        force=False,
        json=True,
        width=100,
        color=False,
    )
    found = json.loads(text)
    plain, row = found["options"]["hfl"], found["options"]["hhfl"]
    return Family(
        id="hhfl",
        title="HHFL (overlapping servers)",
        comparable=False,
        **_amounts(row),
        why=f"{found['verdict']} against one server for each client, which takes {plain['rounds']:,} rounds to the "
        "same loss: a bound on the loss of strongly convex problems, not on the gradient",
        command="hfl-plan overlap",
    )


def _hubs(edges: str, scenario: Scenario, config: Path | None, said: dict[str, tuple[str, Any]]) -> Family:
    from planner.report.answers import hubs as hubs_answers

    names = ("nodes", "edges", "per_node", "per_hub", "hub_count", "b_hs", "b_hh", "b_sh")
    own = dict.fromkeys(names) | {"nodes": f"{scenario.number('G') * scenario.number('M'):.0f}", "edges": edges}
    found = json.loads(hubs_answers.answered(own, config, said, json=True, width=100, color=False))
    best = found["best"]
    return Family(
        id="hsl",
        title="HSL (hubs, no trusted cloud)",
        comparable=False,
        **_amounts(best),
        why=f"{best['budgets']}: to the mean squared gradient of the nodes' mean model by a reconstructed theorem, and "
        f"its own target ({found['target']:.3g})",
        command="hfl-plan hubs",
    )


def _async(region_times: str, scenario: Scenario) -> Family:
    from planner.report.answers import asynchronous as async_answers

    text = async_answers.answered(
        scenario,
        region_times=region_times,
        slowdowns=None,
        speed_ratio=None,
        jitter=0.0,
        buffers=None,
        sub_rounds=None,
        most_stale=None,
        alpha=None,
        as_json=True,
        width=100,
        color=False,
    )
    found = json.loads(text)
    reached = {row["K_buf"]: row for row in found["buffers"] if row["steps"] is not None}
    row = reached.get(found["recommended_by_theorem"])
    why = f"its bound has a floor from heterogeneity, and its own target ({found['target']['value']:.3g})"
    why += ", which is below it" if row is None else ""
    return Family(
        id="hga-fl",
        title="HGA-FL (asynchronous regions)",
        comparable=False,
        **({} if row is None else _amounts({**row, "rounds": row["steps"]})),
        why=why if row is None else f"buffer of {row['K_buf']} of {found['regions']}, steps of the top server; {why}",
        command="hfl-plan async",
    )


def _amounts(row: Mapping[str, Any]) -> dict[str, Any]:
    rounds = row["rounds"]
    return {"rounds": None if rounds is None else round(rounds), "seconds": row["seconds"], "bytes": row["bytes"]}
