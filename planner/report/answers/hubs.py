"""What ``hfl-plan hubs`` answers: text from limits and a scenario."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from planner.data import heterogeneity
from planner.data.label_counts import NUMBER, read_counts
from planner.errors import NoAnswerError, ScenarioError
from planner.families import hsl as hubs
from planner.families.hsl import Budgets, Learning, Limits, Protocol, Search, Wires
from planner.predict.evidence.claims import beginning
from planner.report.pages import Page, as_json, known
from planner.scenario.fields import read
from planner.scenario.resolve import Known, Scenario, load
from planner.scenario.units import format_duration, format_size

SCHEMA = "hfl-plan/hubs/1"
FLEET = ("fleet.clients", "fleet.groups", "fleet.clients_per_group")
LARGEST = 10**9  # of a limit
SHOWN = 8  # numbers of hubs that are listed in text
COLUMNS = (
    "protocol",
    "edges",
    "per node",
    "per hub",
    "rounds",
    "time",
    "traffic",
    "time/round",
    "beta",
    "kappa",
)
SPARED = ("time/round", "beta", "kappa", "per node", "per hub", "edges")
Spoken = dict[str, tuple[str, Any]]


@dataclass(frozen=True, eq=False)
class Asked:
    """Limits, what is learned, and where every number comes from.

    Attributes:
        learning, limits, wires: as of `planner.families.hsl`.
        target: squared gradient norm.
        scenario: the rest, with origins.
        warnings: about the input.
    """

    learning: Learning
    limits: Limits
    wires: Wires
    target: float
    scenario: Scenario
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Answer:
    """The best configuration, and what it is compared with.

    Attributes:
        found: the search.
        budgets: the best.
        hubs, others: protocols; the others at as many edges, and a server.
        left_out: protocols that do not fit, and why.
        failed: the best after a hub has failed; None if it was the only one.
        ties: numbers of hubs within the resolution of the best.
        better: a protocol without hubs and server that takes less by the objective, the best of those; or none.
    """

    found: Search
    budgets: Budgets
    hubs: Protocol
    others: tuple[Protocol, ...]
    left_out: tuple[str, ...]
    failed: Protocol | None
    ties: tuple[int, int]
    better: Protocol | None


def answered(
    own: Mapping[str, str | None], config: Path | None, said: Spoken, *, json: bool, width: int, color: bool
) -> str:
    """How many hubs and which budgets, with what else the same edges would buy.

    Raises:
        ScenarioError: for options and files that cannot be meant.
        NoAnswerError: where nothing fits into the limits, or the target is met at the start.
    """
    asked = _ask(own, config, said)
    answer = _answer(asked)
    return as_json(_document(asked, answer)) if json else _page(asked, answer, width, color)


# ---------------------------------------------------------------- the question


def _ask(own: Mapping[str, str | None], config: Path | None, said: Spoken) -> Asked:
    table = read(config)[0] if config is not None else {}
    nodes = _nodes(own["nodes"], table)
    limits = _limits(own, nodes)
    hubs.check(nodes, limits)
    if {"problem.target", "problem.rounds"} <= said.keys():
        raise ScenarioError(
            "--target: --rounds says the target already, as what a server reaches. Give one of the two."
        )
    for key in FLEET:
        if key in said:
            raise ScenarioError(f"{said[key][0]}: --nodes says how many there are. Leave it out.")
    problem = table.get("problem")
    written = problem.get("heterogeneity") if isinstance(problem, dict) else None
    option, text = said.get("problem.heterogeneity", ("problem.heterogeneity", written))
    if text is not None:
        said["problem.heterogeneity"] = (option, "iid")  # groups mean nothing here: it is read below
    half = max(nodes // 2, 2)
    said |= {key: ("--nodes", value) for key, value in zip(FLEET, (2 * half, 2, half), strict=True)}
    scenario = load(config, said)
    warnings = list(scenario.warnings)
    sigma = scenario.number("sigma")
    if text is None:
        gap = Known(math.hypot(scenario.number("zeta"), scenario.number("delta")), "default", note="both, as one")
    else:
        gap = _gap(option, text, sigma, nodes, warnings)
    if scenario.compute.straggler.kind != "none":
        warnings.append("Stragglers are not looked at here: the time is that of nodes at their mean.")
    for tier in (scenario.network.client_link, scenario.network.server_link):
        if tier is not None and tier.sharing == "per-server":
            warnings.append("Links that machines share are not looked at here: every rate is one machine's own.")
            break
    learning = Learning(nodes, scenario.number("L"), scenario.number("A"), sigma, float(gap.value or 0.0))
    goal = scenario.known["target"]
    if goal.value is None:
        horizon = float(scenario.known["R"].value or 0)
        goal = Known(hubs.reached_by_server(learning, horizon), "derived", note="what a server reaches in R rounds")
    dropped = ("G", "M", "P", "K", "S1", "S2", "zeta", "delta", "order", "tiers")
    numbers = {name: value for name, value in scenario.known.items() if name not in dropped}
    numbers = {"n_s": Known(nodes, "given" if own["nodes"] else "derived"), **numbers, "H": gap, "target": goal}
    network = scenario.network
    wires = Wires(
        network.client_link,
        network.server_link or network.client_link,
        scenario.compute,
        scenario.number("model_size"),
    )
    return Asked(learning, limits, wires, float(goal.value or 0), replace(scenario, known=numbers), tuple(warnings))


def _nodes(text: str | None, table: Mapping[str, Any]) -> int:
    if text is not None:
        return _whole("--nodes", text, 0)
    fleet = table.get("fleet")
    if isinstance(fleet, dict):
        whole, groups, each = (fleet.get(key) for key in ("clients", "groups", "clients_per_group"))
        if isinstance(whole, int):
            return whole
        if isinstance(groups, int) and isinstance(each, int):
            return groups * each
    raise ScenarioError("--nodes: how many nodes learn? Give --nodes 100, or a scenario with --config.")


def _limits(own: Mapping[str, str | None], nodes: int) -> Limits:
    least, most = 2, max(nodes, 2)
    if (text := own["hub_count"]) is not None:
        low, colon, high = text.partition(":")
        least = _whole("--hubs", low, 0)
        most = _whole("--hubs", high, 0) if colon else least
        if least < 1:
            raise ScenarioError(
                "--hubs: without hubs this is Epidemic Learning, which the answer compares with. Give at least 1."
            )
    per_node = None if own["per_node"] is None else _amount("--per-node", own["per_node"])
    per_hub = per_node if own["per_hub"] is None else _amount("--per-hub", own["per_hub"])
    fixed = {
        name: _whole(f"--{name.replace('_', '-')}", text, 0 if name == "b_hh" else 1)
        for name in ("b_hs", "b_hh", "b_sh")
        if (text := own[name]) is not None
    }
    edges = None if own["edges"] is None else _whole("--edges", own["edges"], 1)
    return Limits(edges, per_node, per_hub, (least, most), fixed)


def _whole(option: str, text: str, least: int) -> int:
    value = int(text) if re.fullmatch(r"\s*[0-9]{1,10}\s*", text) else -1
    if not least <= value <= LARGEST:
        hint = ""
        if NUMBER.fullmatch(text.strip()) and least <= float(text) <= LARGEST and float(text) == int(float(text)):
            hint = f" Write {int(float(text))}."
        raise ScenarioError(f"{option}: {text!a:.40} is not a whole number from {least} to {LARGEST:,}.{hint}")
    return value


def _amount(option: str, text: str) -> float:
    value = float(text) if NUMBER.fullmatch(text.strip()) else math.nan
    if not 1 <= value <= LARGEST:
        raise ScenarioError(f"{option}: {text!a:.40} is not a number of models from 1 to {LARGEST:,}. Write 10.")
    return value


def _gap(option: str, text: Any, sigma: float, nodes: int, warnings: list[str]) -> Known:
    """H of all nodes: what is within groups and between them, added up."""
    if isinstance(text, str) and text.strip().lower().endswith(".csv"):
        path = Path(text.strip())
        table = read_counts(path, grouped=False)
        if len(table.clients) != nodes:
            raise ScenarioError(f"{option}: {path} has {len(table.clients)} clients, and there are {nodes} nodes.")
        labels = int((table.counts > 0).any(axis=0).sum())
        shares = table.shares()
        square = float(((shares - shares.mean(axis=0)) ** 2).sum(axis=1).mean())
        warnings.append(
            "Label counts do not say how large the gaps are: a node with a single label is taken to stand "
            f"sigma = {sigma:g} from an even mixture."
        )
        return Known((sigma or 1.0) * math.sqrt(square / (1 - 1 / labels)), "derived", note=f"label shares of {path}")
    try:
        form = heterogeneity.parse(text)
    except ScenarioError as error:
        raise ScenarioError(f"{option}: {error}") from None
    said = math.hypot(*form.deviations(sigma, nodes, 1))
    return Known(said, "given" if form.form == "numbers" else "derived", note=f"{form.text}: sqrt(zeta^2 + delta^2)")


# ---------------------------------------------------------------- the answer


def _answer(asked: Asked) -> Answer:
    learning, limits, wires, target = asked.learning, asked.limits, asked.wires, asked.target
    if not target < learning.first_bound:
        said = f"at most 2 L A = {learning.first_bound:.4g}"
        if asked.scenario.known["target"].origin == "derived":
            raise NoAnswerError(
                f"--rounds: what a server's bound reaches in them, {target:.4g}, is met at the start, where the "
                f"squared gradient is {said}. Give more."
            )
        raise NoAnswerError(
            f"--target: {target:.4g} is met at the start, where the squared gradient is {said}. Give a smaller one."
        )
    seed = asked.scenario.seed
    found = hubs.search(learning, limits, wires, target, asked.scenario.objective)
    budgets = found.budgets(found.first)
    best = hubs.with_hubs(budgets, learning, wires, target, seed)
    others, left_out = [], []
    s = min(int((limits.edges or best.edges) // learning.n), learning.n - 1)
    if limits.per_node is not None and 2 * s > limits.per_node:
        s = int(limits.per_node // 2)
        left_out.append(
            f"Epidemic Learning is held to s = {s} by the limit for a node, where each sends and receives s."
        )
    if s:
        others = [hubs.gossip(name, s, learning, wires, target, seed) for name in ("EL-Local", "EL-Oracle")]
    else:
        left_out.append("Epidemic Learning needs a model sent by every node, which the limits do not allow.")
    others.append(hubs.server(learning, wires, target))
    after = budgets.without_a_hub()
    failed = None if after is None else hubs.with_hubs(after, learning, wires, target, seed)
    near = found.best["total"] <= found.best["total"].min() * (1 + asked.scenario.resolution)
    ties = found.best["n_h"][near]
    price = {"rounds": "rounds", "time": "seconds", "bytes": "bytes"}[asked.scenario.objective]
    peers = [one for one in others if one.hub is None and getattr(one, price) < getattr(best, price)]
    better = min(peers, key=lambda one: float(getattr(one, price))) if peers else None
    span = (int(ties.min()), int(ties.max()))
    return Answer(found, budgets, best, tuple(others), tuple(left_out), failed, span, better)


# ---------------------------------------------------------------- JSON


def _document(asked: Asked, answer: Answer) -> dict[str, Any]:
    limits, found = asked.limits, answer.found
    by_factor, rounds = found.by_factor
    return {
        "schema": SCHEMA,
        "scenario": known(asked.scenario),
        "nodes": asked.learning.n,
        "limits": {
            "edges": limits.edges,
            "per_node": limits.per_node,
            "per_hub": limits.per_hub,
            "hubs": list(limits.hubs),
            "fixed": dict(limits.fixed or {}),
        },
        "objective": asked.scenario.objective,
        "target": asked.target,
        "best": {**_budgets(answer.budgets), **_protocol(answer.hubs)},
        "ties": {"resolution": asked.scenario.resolution, "least": answer.ties[0], "most": answer.ties[1]},
        "better_without_hubs": None if answer.better is None else answer.better.name,
        "others": [_protocol(one) for one in answer.others],
        "without_a_hub": None if answer.failed is None else _protocol(answer.failed),
        "by_mixing_factor_alone": {**_budgets(by_factor), "rounds": rounds},
        "by_hubs": [
            {
                **_budgets(found.budgets(i)),
                "rounds": float(found.best["rounds"][i]),
                "seconds": float(found.best["rounds"][i] * found.best["seconds"][i]),
                "bytes": float(found.best["rounds"][i] * found.best["edges"][i] * asked.wires.model_bytes),
            }
            for i in range(len(found.best["n_h"]))
        ],
        "search": {"tried": found.tried, "exhaustive": found.exhaustive},
        "record": [verdict.as_json() for verdict in beginning("hsl-")],
        "warnings": _warnings(asked, answer),
    }


def _budgets(budgets: Budgets) -> dict[str, int]:
    return {name: getattr(budgets, name) for name in ("n_h", "b_hs", "b_hh", "b_sh")}


def _protocol(one: Protocol) -> dict[str, Any]:
    return {
        "protocol": one.name,
        "budgets": one.what,
        "bound_id": one.bound,
        "edges": one.edges,
        "models_of_a_node": one.node,
        "models_of_a_hub": one.hub,
        "mixing_factor": one.factor,
        "mean_deviation_bound": one.kappa,
        "consensus_ratio": one.ratio,
        "mean_deviation": one.move,
        "spectral_gap": None if one.gap is None else dict(zip(("value", "low", "high"), one.gap, strict=True)),
        "rounds": one.rounds,
        "seconds": one.seconds,
        "bytes": one.bytes,
        "seconds_per_round": one.seconds_per_round,
        "order_rounds": one.order_rounds,
    }


# ---------------------------------------------------------------- for a terminal


def _page(asked: Asked, answer: Answer, width: int, color: bool) -> str:
    best, budgets, n = answer.hubs, answer.budgets, asked.learning.n
    page = Page(width, color)
    if answer.better is not None:
        needs = " (which needs somebody who draws the graph)" if answer.better.name == "EL-Oracle" else ""
        page.say(f"By {asked.scenario.objective} {answer.better.name} does better without hubs{needs}.", "bold")
    sends = f" and sends to {budgets.b_hh} other{'s' * (budgets.b_hh != 1)}" if budgets.b_hh else ""
    page.say(
        f"{_hubs(budgets.n_h)}: each averages {budgets.b_hs:,} of {n:,} nodes{sends}, and every node averages "
        f"{_hubs(budgets.b_sh)}; {best.rounds:,.0f} rounds, {format_duration(best.seconds)} and "
        f"{format_size(best.bytes)} to the target.",
        "bold",
    )
    for sentence in _sentences(asked, answer):
        page.say(sentence)
    rows = [best, *answer.others]
    page.table(COLUMNS, [_cells(one) for one in rows], bold=(0,), spared=SPARED)
    found = answer.found
    shown = _spread(len(found.best["n_h"]), found.first)
    if len(shown) > 1:
        page.table(
            ("hubs", "b_hs", "b_hh", "b_sh", "edges", "rounds", "time", "traffic"),
            [_of_hubs(asked, found, i) for i in shown],
            bold=(shown.index(found.first),),
        )
    page.list("If a hub fails", _failure(answer))
    page.list("Warnings", _warnings(asked, answer), "yellow")
    page.list("What it stands on", _basis(asked, answer), "dim")
    return page.text()


def _hubs(count: int) -> str:
    return f"{count:,} hub{'s' * (count != 1)}"


def _sentences(asked: Asked, answer: Answer) -> list[str]:
    best, n = answer.hubs, asked.learning.n
    said = []
    if answer.budgets.b_hs == n:
        servers = "one server" if answer.budgets.n_h == 1 else f"{answer.budgets.n_h} servers"
        said.append(
            f"Each hub hears every node: that is {servers}, and each handles {best.hub:,.0f} models a round. --per-hub "
            "limits that."
        )
    least, most = answer.ties
    if least < most:
        said.append(
            f"{least:,} to {most:,} hubs are within {asked.scenario.resolution:.0%} of it by "
            f"{asked.scenario.objective}."
        )
    for one in answer.others:
        if one.name == "EL-Local":
            more = (one.rounds / best.rounds, one.seconds / best.seconds, one.bytes / best.bytes)
            said.append(
                f"EL-Local with {one.edges:,.0f} edges against {best.edges:,.0f} needs {more[0]:.3g} times the rounds, "
                f"{more[1]:.3g} times the time and {more[2]:.3g} times the traffic."
            )
            by_order = one.order_rounds / best.order_rounds
            if (by_order - 1) * (more[0] - 1) < 0:
                said.append(
                    f"The constants of the theorem decide this: with all of them 1 it needs {by_order:.3g} times the "
                    "rounds."
                )
    by_factor, rounds = answer.found.by_factor
    if rounds > best.rounds * (1 + asked.scenario.resolution):
        said.append(
            f"The smallest mixing factor ({by_factor}) would take {rounds / best.rounds:.3g} times the rounds: it does "
            "not see how far a round moves the mean."
        )
    said.extend(answer.left_out)
    return said


def _cells(one: Protocol) -> tuple[str, ...]:
    return (
        f"{one.name}, {one.what}",
        f"{one.edges:,.0f}",
        f"{one.node:.3g}",
        "-" if one.hub is None else f"{one.hub:,.0f}",
        f"{one.rounds:,.0f}",
        format_duration(one.seconds),
        format_size(one.bytes),
        format_duration(one.seconds_per_round),
        f"{one.factor:.3g}",
        f"{one.kappa if one.move is None else one.move:.2g}",
    )


def _spread(count: int, first: int) -> list[int]:
    """Indices to show: the best, and some on either side of it."""
    if count <= SHOWN:
        return list(range(count))
    some = np.unique(np.round(np.geomspace(1, count, SHOWN)).astype(int) - 1)
    return sorted({first, *some.tolist()})


def _of_hubs(asked: Asked, found: Search, i: int) -> tuple[str, ...]:
    best, budgets = found.best, found.budgets(i)
    rounds, edges = float(best["rounds"][i]), float(best["edges"][i])
    return (
        f"{budgets.n_h:,}",
        f"{budgets.b_hs:,}",
        f"{budgets.b_hh:,}",
        f"{budgets.b_sh:,}",
        f"{edges:,.0f}",
        f"{rounds:,.0f}",
        format_duration(rounds * float(best["seconds"][i])),
        format_size(rounds * edges * asked.wires.model_bytes),
    )


def _failure(answer: Answer) -> list[str]:
    failed, best = answer.failed, answer.hubs
    if failed is None:
        return ["It was the only one: nothing is mixed until it is back."]
    said = [
        f"{failed.what}: {failed.rounds:,.0f} rounds, {failed.rounds / best.rounds:.3g} times as many; mixing factor "
        f"{best.factor:.3g} becomes {failed.factor:.3g}, mean deviation {best.kappa:.3g} becomes {failed.kappa:.3g} "
        "(as the bound counts them).",
        f"A hub that is left handles {failed.hub or 0:,.1f} models a round in place of {best.hub or 0:,.1f}.",
    ]
    if failed.factor >= 1:
        said.append("The models need not come together then.")
    return said


def _warnings(asked: Asked, answer: Answer) -> list[str]:
    said = list(asked.warnings)
    if not answer.found.exhaustive:
        said.append(
            f"There are more configurations than {hubs.MOST_CASES:,}: a grid of {answer.found.tried:,} was tried, all "
            "numbers to 32 and tenths above, and then the neighbours of the best. A better one may lie between."
        )
    elif asked.scenario.objective != "rounds" and "b_hs" not in (asked.limits.fixed or {}):
        said.append(
            "Nodes that a hub averages were tried at the most that fits, to 8, and on a grid of ratio 1.5 between."
        )
    if any(one.move is None for one in (answer.hubs, *answer.others)):
        said.append(
            f"Exact mean deviations are computed up to {hubs.MOST_EXACT:,} machines; kappa is the bound's here."
        )
    return said


def _basis(asked: Asked, answer: Answer) -> list[str]:
    scenario, best = asked.scenario, answer.hubs
    said = [
        f"Bounds: {hubs.HUBS}, {hubs.LOCAL}, {hubs.ORACLE} (reconstructed; explicit constants, the same for all rows): "
        "the mean squared gradient at the nodes' own models, at the best step, with one local step a round. A server "
        "is gossip in which all hear all.",
        f"Looked at: {answer.found.tried:,} configurations, by the bound and never by beta alone.",
        "Loads per node and hub are models sent and received in a round, in the mean over draws. beta is the mixing "
        "factor, kappa the exact mean deviation.",
    ]
    local = next((one for one in answer.others if one.name == "EL-Local"), None)
    if local is not None and local.move and best.move is not None:
        said.append(
            "All rows are about the nodes' own models. If the mean of the models is what is used in the end, the mean "
            f"deviation decides: {best.move:.2g} here and {local.move:.2g} with EL-Local. The two are not ranked in "
            "one list; measured runs agree with both."
        )
    if local is not None:
        said.append(
            f"With all constants 1 (the order forms) EL-Local needs {local.order_rounds / best.order_rounds:.3g} times "
            f"the rounds of the hubs; with those of the theorem, {local.rounds / best.rounds:.3g}."
        )
    drawn = [(one.name, one.gap) for one in (best, *answer.others) if one.gap is not None]
    gaps = [f"{name} {value:.2g} [{low:.2g}, {high:.2g}]" for name, (value, low, high) in drawn]
    if gaps:
        said.append(f"Spectral gap of a draw (20 draws, 99 %), not to be ranked by: {', '.join(gaps)}.")
    assumed = ", ".join(
        f"{name} = {scenario.known[name].value:.4g}"
        for name in ("sigma", "H", "L", "A")
        if scenario.known[name].origin == "default"
    )
    if assumed:
        said.append(f"Not given, so assumed: {assumed}.")
    said.append("Record of such predictions in runs (hfl-plan validate; docs/validation.md):")
    said.extend(f"  {verdict}" for verdict in beginning("hsl-"))
    return said
