"""How many hubs and which budgets, and what the same edges would buy otherwise: limits and a scenario in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner.data.label_counts import read_counts
from planner.errors import NoAnswerError, ScenarioError
from planner.families.framing import Frame, label_gradients
from planner.families.hsl.model import BUDGETS, Budgets, Learning, Protocol, Setting, Wires, reached_by_server
from planner.families.hsl.search import MAX_NODES, Limits, Search, search
from planner.io.text import count, number, span
from planner.scenario.fields import read_heterogeneity
from planner.scenario.resolve import Known, Scenario, Spoken

LARGEST = 10**9  # of a limit
UNUSED = ("G", "M", "P", "K", "S1", "S2", "zeta", "delta", "order", "tiers")
PRICE: Mapping[str, str] = {"rounds": "rounds", "time": "seconds", "traffic": "bytes"}


@dataclass(frozen=True, eq=False)
class Question:
    """Limits, what is learned, the scenario with the origin of every number, and sentences about the input."""

    setting: Setting
    limits: Limits
    scenario: Scenario
    warnings: tuple[str, ...]


def pose(own: Mapping[str, str | None], config: Path | None, said: Spoken) -> Question:
    """Read a question.

    ``own`` are limits as written: nodes, edges, per_node, per_hub, hub_count, b_hs, b_hh, b_sh; those that are not
    given may be missing.
    """
    frame = Frame(config, said)
    option, text, counts = frame.heterogeneity()
    nodes = _nodes(own.get("nodes"), frame.section("fleet"), counts)
    limits = _limits(own, nodes)
    check(nodes, limits)
    if {"problem.target", "problem.rounds"} <= said.keys():
        raise ScenarioError(
            "--target: --rounds says the target already, as what a server reaches. Give one of the two.", code="E002"
        )
    if text is not None:
        frame.said["problem.heterogeneity"] = (option, "iid")  # groups mean nothing here: it is read below
    if own.get("nodes") is None and "title" in frame.table:  # it is of these sizes
        frame.said.setdefault("title", ("title", frame.table["title"]))
    scenario = frame.scenario("--nodes", 2, max(nodes // 2, 2), "--nodes says how many there are")
    warnings = list(scenario.warnings)
    sigma = scenario.number("sigma")
    if text is None:
        gap = Known(math.hypot(scenario.number("zeta"), scenario.number("delta")), "default", note="both, as one")
    else:
        gap = _gap(option, text, counts, sigma, nodes, warnings)
    if scenario.compute.straggler.kind != "none":
        warnings.append("Stragglers are not looked at here: the time is that of nodes at their mean.")
    network = scenario.network
    wires = Wires(
        network.client_link, network.server_link or network.client_link, scenario.compute, scenario.number("model_size")
    )
    if "per-server" in (wires.node.sharing, wires.hub.sharing):
        warnings.append("Links that machines share are not looked at here: every rate is one machine's own.")
    learning = Learning(nodes, scenario.number("L"), scenario.number("A"), sigma, float(gap.value or 0.0))
    goal = scenario.known["target"]
    if goal.value is None:
        horizon = float(scenario.known["R"].value or 0)
        goal = Known(reached_by_server(learning, horizon), "derived", note="what a server reaches in R rounds")
    numbers = {name: value for name, value in scenario.known.items() if name not in UNUSED}
    numbers = {"n_s": Known(nodes, "given" if own.get("nodes") else "derived"), **numbers, "H": gap, "target": goal}
    if limits.per_hub is not None and own.get("per_hub") is None:
        numbers["per_hub"] = Known(limits.per_hub, "default", note="as that of a node")
    setting = Setting(learning, wires, float(goal.value or 0), scenario.seed)
    return Question(setting, limits, replace(scenario, known=numbers), tuple(warnings))


def _nodes(text: str | None, fleet: Mapping[str, Any], counts: Path | None) -> int:
    if text is not None:
        return count(text, "--nodes", least=0, most=LARGEST)
    whole, groups, each = (fleet.get(key) for key in ("clients", "groups", "clients_per_group"))
    if isinstance(whole, int):
        return whole
    if isinstance(groups, int) and isinstance(each, int):
        return groups * each
    if counts is not None:
        return len(read_counts(counts, grouped=False).clients)
    if fleet:
        raise ScenarioError(
            "--nodes: the scenario has no clients and no groups with clients_per_group, from which the number of nodes "
            "follows. Give --nodes 100 beside it."
        )
    raise ScenarioError("--nodes: how many nodes learn? Give --nodes 100, or a scenario with --config.")


def _limits(own: Mapping[str, str | None], nodes: int) -> Limits:
    least, most = 2, max(nodes, 2)
    if (text := own.get("hub_count")) is not None:
        least, most = span(text, "--hubs", least=0, most=LARGEST)
        if least < 1:
            raise ScenarioError(
                "--hubs: without hubs this is Epidemic Learning, which the answer compares with. Give at least 1."
            )
    per_node, per_hub = (
        None if (text := own.get(name)) is None else number(text, _option(name), least=1, most=LARGEST)
        for name in ("per_node", "per_hub")
    )
    fixed = {
        name: count(text, _option(name), least=0 if name == "b_hh" else 1, most=LARGEST)
        for name in BUDGETS[1:]
        if (text := own.get(name)) is not None
    }
    edges = None if (text := own.get("edges")) is None else count(text, "--edges", most=LARGEST)
    return Limits(edges, per_node, per_node if per_hub is None else per_hub, (least, most), fixed)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def check(n: int, limits: Limits) -> None:
    """Refuse what cannot be a search."""
    most, fixed = limits.hubs[1], limits.fixed
    b_hs, b_hh, b_sh = (fixed.get(name, 1) for name in BUDGETS[1:])
    for wrong, message in (
        (n < 2, f"--nodes: {n} node has no other to learn with. Give at least 2."),
        (n > MAX_NODES, f"--nodes: {n} nodes are more than the {MAX_NODES:,} that are searched. Give fewer."),
        (
            limits.edges is limits.per_node is limits.per_hub is None,
            "--edges: how much may a round send? Give --edges (models in all), --per-node or --per-hub (models that "
            "one sends and receives).",
        ),
        (b_hs > n, f"--b-hs: a hub cannot average {b_hs} of {n} nodes. Give at most {n}."),
        (
            "b_hh" in fixed and b_hh > most - 1,
            f"--b-hh: a hub cannot send to {b_hh} of {most - 1} others. Give at most {most - 1}, or more --hubs.",
        ),
        (
            "b_sh" in fixed and b_sh > most,
            f"--b-sh: a node cannot average {b_sh} of {most} hubs. Give at most {most}, or more --hubs.",
        ),
        (
            b_hh == 0 and most > 1,
            "--b-hh: with several hubs that never talk, models need not come together, and the theorem is silent. "
            "Give at least 1.",
        ),
    ):
        if wrong:
            raise ScenarioError(message)


def _gap(option: str, text: Any, counts: Path | None, sigma: float, nodes: int, warnings: list[str]) -> Known:
    """H of all nodes: what is within groups and between them, added up."""
    if counts is not None:
        table = read_counts(counts, grouped=False)
        if len(table.clients) != nodes:
            there = len(table.clients)
            raise ScenarioError(
                f"{option}: {counts} has {there} clients, and there are {nodes} nodes. Give --nodes {there}, or counts "
                f"of {nodes}."
            )
        points = label_gradients(table, sigma, "node", warnings)
        square = float(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean())
        return Known(math.sqrt(square), "derived", note=f"label shares of {counts}")
    said = read_heterogeneity(text, option)
    tiers = said.tiers or said.deviations_of_tiers(sigma)
    what = "all tiers together" if len(tiers) not in (0, 2) else "sqrt(zeta^2 + delta^2)"
    gap = math.hypot(*(tiers or said.deviations(sigma, nodes, 1)))
    return Known(gap, "given" if said.form == "numbers" else "derived", note=f"{said.text}: {what}")


@dataclass(frozen=True, eq=False)
class Answer:
    """The best configuration, and what it is compared with."""

    question: Question
    found: Search
    budgets: Budgets  # best configuration of the search ``found``
    hubs: Protocol  # hubs, others: protocols; the others at no more edges, and a server
    others: tuple[Protocol, ...]
    left_out: tuple[str, ...]  # protocols that do not fit, and why
    failed: Protocol | None  # best configuration after a hub has failed; None if it was the only one
    ties: tuple[int, int]  # least and most hubs within the resolution of the best
    better: Protocol | None  # best protocol without hubs and server that takes less by the objective; or None
    # the same where a hub handles half as many models; None where that was limited, or EL-Local takes less anyway
    halved: Answer | None = None
    unlimited: Answer | None = None  # the same where a hub has no limit; None where it has none, or it was given


def solve(question: Question) -> Answer:
    """Say how many hubs and which budgets, with what else the same edges would buy, and at another load of a hub.

    Raises:
        NoAnswerError: Where nothing fits into the limits, or the target is met at the start.
    """
    found = _solved(question)
    if "per_hub" in question.scenario.known:
        return replace(found, unlimited=_solved(replace(question, limits=replace(question.limits, per_hub=None))))
    limit, price = int((found.hubs.models_of_a_hub or 0) // 2), PRICE[question.scenario.objective]
    less = any(one.protocol == "EL-Local" and getattr(one, price) < getattr(found.hubs, price) for one in found.others)
    if question.limits.per_hub is not None or limit < 1 or less:
        return found
    try:
        halved = _solved(replace(question, limits=replace(question.limits, per_hub=limit)))
    except NoAnswerError:
        return found
    return replace(found, halved=halved)


def _solved(question: Question) -> Answer:
    """Say how many hubs and which budgets within the limits alone."""
    setting, limits = question.setting, question.limits
    target, first = setting.target, setting.learning.first_bound
    if target >= first:
        said = f"met at the start, where the squared gradient is at most 2 L A = {first:.4g}"
        if question.scenario.known["target"].origin == "derived":
            raise NoAnswerError(f"--rounds: what a server's bound reaches in them, {target:.4g}, is {said}. Give more.")
        raise NoAnswerError(f"--target: {target:.4g} is {said}. Give a smaller one.")
    objective, n = question.scenario.objective, setting.learning.n
    if objective not in PRICE:
        raise ScenarioError(f"--objective {objective}: is not known of hubs. Give --objective {', '.join(PRICE)}.")
    found = search(setting, limits, objective)
    budgets = found.budgets(found.first)
    best = setting.with_hubs(budgets)
    left_out = []
    s = min(int((limits.edges or best.edges) // n), n - 1)
    if limits.per_node is not None and 2 * s > limits.per_node:
        s = int(limits.per_node // 2)
        left_out.append(
            f"Epidemic Learning is held to s = {s} by the limit for a node, where each sends and receives s."
        )
    if not s:
        left_out.append("Epidemic Learning needs a model sent by every node, which the limits do not allow.")
    gossip = [setting.gossip("EL-Local", s, objective), setting.gossip("EL-Oracle", s, objective)] if s else []
    after = budgets.without_a_hub()
    near = found.best["total"] <= found.best["total"].min() * (1 + question.scenario.resolution)
    ties = found.best["n_h"][near]

    def price(one: Protocol) -> float:
        return float(getattr(one, PRICE[objective]))

    return Answer(
        question=question,
        found=found,
        budgets=budgets,
        hubs=best,
        others=(*gossip, setting.server()),
        left_out=tuple(left_out),
        failed=None if after is None else setting.with_hubs(after),
        ties=(int(ties.min()), int(ties.max())),
        better=min((one for one in gossip if price(one) < price(best)), key=price, default=None),
    )
