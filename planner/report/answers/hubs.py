"""What ``hfl-plan hubs`` shows: how many hubs, which budgets, and what else the same edges would buy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from planner.families.hsl import model
from planner.families.hsl.model import Protocol
from planner.families.hsl.question import PRICE, Answer
from planner.families.hsl.search import MAX_CASES
from planner.io.answers import NextStep, Quantity, Told, Verdict
from planner.io.parts import field
from planner.io.wording import counted, percent, times
from planner.predict.evidence.claims import verdicts
from planner.report.document import Column, Document, Table, numeric
from planner.report.families import CLOCK, Method, amounts, parts, target
from planner.report.page import AMOUNTS, told
from planner.report.page import amounts as written
from planner.scenario.units import format_duration, format_size

SHOWN = 8  # numbers of hubs that are listed in text
LEARNED = ("H", "sigma", "L", "A")  # symbols that the theorem takes, and nobody may have given
LINKS = (  # whose: what nobody may have given, and how to give it
    ("nodes", "client_link.up", "--uplink", "RATE"),
    ("nodes", "client_link.down", "--downlink", "RATE"),
    ("hubs", "server_link.up", "--hub-link", "wan|datacenter|broadband"),
)
NEAR = 0.05  # relative difference of a protocol without hubs below which nothing is decided
OFF = 1.31  # by which EL-Local took more over hubs in runs than their bounds say, at most: 2.15 / 1.64 in docs/hubs.md


class Communication(Method):
    """One protocol at these limits."""

    edges: float = field("models sent in a round")
    models_of_a_node: float = field("models that a node sends and receives in a round, in the mean")
    models_of_a_hub: float | None = None
    round_seconds: float
    mixing_factor: float
    mean_deviation_bound: float


class Hubs(Told):
    """What ``hfl-plan hubs`` answers."""

    schema: Literal["hfl-plan/hubs/2"] = "hfl-plan/hubs/2"
    rows: tuple[Communication, ...]
    hubs: dict[str, Any] = field("budgets, limits, failure of a hub, and the best for each number of hubs")


def answered(found: Answer) -> Hubs:
    """Say how many hubs and which budgets, with what else the same edges would buy."""
    question = found.question
    scenario, rows = question.scenario, _rows(found)
    by_time = scenario.objective == "time"
    derived = scenario.known["target"].origin == "derived"
    server = f"the guarantee for one trusted server after {scenario.number('R'):,.0f} rounds" if derived else ""
    details = {"protocols": _sentences, "numbers": _numbers, "failure": _failure, "basis": _basis}
    shared = parts(
        scenario,
        "hsl-",
        # links decide by time, then how much nodes differ
        ("per_hub", *((*CLOCK[:4], *LEARNED[:2], *CLOCK[4:], *LEARNED[2:]) if by_time else (*LEARNED, *CLOCK))),
        _warnings(found),
        {section: say(found) for section, say in details.items()},
    )
    verdict, ahead = _verdict(found, rows), ""
    if (local := _local(found)) is not None and "el-local" in verdict.best and _is_against_runs(found):
        [runs] = verdicts("hsl-nodes")
        edges = f"here {found.hubs.edges:,.0f} against {local.edges:,.0f}"
        won = f"in {runs.holds} of {runs.of} equal-edge runs ({edges})"
        ahead = f"judged by the nodes' own models, hubs beat EL-Local {won}"
    return Hubs(
        **shared | {"evidence": tuple(one.replaced(weak=ahead) for one in shared["evidence"])},
        objective=scenario.objective,
        metric="gradient",
        target=target(question.setting.target, "mean squared gradient", server),
        verdict=verdict,
        rows=rows,
        hubs=_data(found),
        next=tuple(_next(found, verdict, race=bool(ahead))),
    )


def _next(found: Answer, verdict: Verdict, race: bool) -> Iterator[NextStep]:
    """Ask for an assumed limit and for links where they decide, and race."""
    scenario = found.question.scenario
    if found.unlimited is not None and _beside(found, found.unlimited)["ratio"] < 1 - NEAR:
        yield NextStep(argv=("--per-hub", "NUMBER"), why="How many models may a hub handle in a round?", asks=True)
    unknown = [link for link in LINKS if scenario.known[link[1]].origin == "default"]
    if unknown and scenario.objective == "time":
        whose = " and ".join(dict.fromkeys(one for one, *_ in unknown))
        argv = tuple(word for *_, option, how in unknown for word in (option, how))
        yield NextStep(argv=argv, why=f"How fast are the links of {whose}?", asks=True)
    local = _local(found) if verdict.best == ("el-local",) else None
    edges = f"{(local or found.hubs).edges:.0f}"
    argv = ("hfl-plan", "pilot", "HOOK.py", "--systems", "trees,hsl,gossip", "--edges", edges)
    why = ", where runs and the bound disagree" * race
    yield NextStep(argv=argv, why=f"measures hubs and gossip at as many edges{why}")


def _beside(found: Answer, other: Answer) -> dict[str, Any]:
    """What another limit for a hub makes of the answer: its best, and what that takes over the best with this limit."""
    aim, _ = AMOUNTS[found.question.scenario.objective]
    taken = []
    for one in (found, other):
        rows = _rows(one)
        best = _verdict(one, rows).best
        taken.append(next(getattr(row, aim) for row in rows if row.id == best[0]))
    per_hub = other.question.limits.per_hub
    return {"per_hub": per_hub, "best": best, "hubs": asdict(other.budgets), "ratio": taken[1] / taken[0]}


def _changes(answer: Hubs) -> Iterator[str]:
    """Say what would be the best at half the load of a hub, without the limit that was assumed, or by another model."""
    limits = {"half_load": "half the load of a hub (--per-hub {:g})", "unlimited": "a hub without a limit"}
    for key, words in limits.items():
        other = answer.hubs[key]
        if other is None or (tuple(other["best"]) == answer.verdict.best == ("el-local",)):
            continue
        hubs = counted(other["hubs"]["n_h"], "hub")
        which = " or ".join(hubs if "hub" in id_ else "EL-Local" for id_ in other["best"])
        which += " (a toss-up)" * (len(other["best"]) > 1)
        takes = f"{times(other['ratio'])} the best's {answer.objective}"
        yield f"{words.format(other['per_hub'])} -> {which}, at {takes}"
    used = answer.hubs["best"]["mean_deviation"]
    local = next((one["mean_deviation"] for one in answer.hubs["others"] if one["protocol"] == "EL-Local"), None)
    if answer.verdict.best != ("el-local",) and local is not None and used is not None and local < used:
        [faster] = verdicts("hsl-mean")
        runs = f"faster in {faster.holds} of {faster.of} runs"
        yield f"judged by the nodes' mean model, not their own -> EL-Local ({runs})"


def _rows(found: Answer) -> tuple[Communication, ...]:
    hubs = _row(found.hubs, counted(found.budgets.n_h, "hub"))
    sent = (f"to {counted(int(one.models_of_a_node / 2), 'other')}" for one in found.others[:-1])
    named = zip(found.others, (*sent, "trusted"), strict=True)  # the last is a server
    return (hubs, *(_row(one, f"{one.protocol}, {how}") for one, how in named))


def _row(one: Protocol, name: str) -> Communication:
    return Communication.made_of(
        one,
        id=one.protocol.lower().replace(" ", "-"),
        title=name,
        **amounts(one.rounds, one),
        round_seconds=one.seconds_per_round,
    )


def _is_against_runs(found: Answer) -> bool:
    """Whether EL-Local needs fewer rounds by the bounds, where runs at equal edges found that it needs more."""
    local = _local(found)
    return local is not None and local.rounds < found.hubs.rounds


def _verdict(found: Answer, rows: Sequence[Communication]) -> Verdict:
    """Weigh hubs against what needs no coordinator, and say what one that is trusted would allow."""
    budgets, n, aim = found.budgets, found.question.setting.learning.n, found.question.scenario.objective
    hubs, drawn = counted(budgets.n_h, "hub"), ""
    taken = {one.protocol: getattr(one, PRICE[aim]) / getattr(found.hubs, PRICE[aim]) for one in found.others}
    # infinite where they need more
    ratio, oracle, server = (taken.get(name, math.inf) for name in ("EL-Local", "EL-Oracle", "FedAvg"))
    if oracle < min(ratio, 1 + NEAR):
        tie = f", a tie within {percent(NEAR)}" if oracle > 1 - NEAR else ""
        drawn = f" With a trusted coordinator, EL-Oracle takes {times(oracle)} the hubs' {aim}{tie}."
    local = _local(found)
    if local is not None and ratio < 1 + NEAR:
        other = next(row for row in rows if row.id == "el-local")
        more = f"{times(local.bytes / found.hubs.bytes)} the traffic"
        if ratio > 1 / OFF:
            traffic = f" and {more}" if aim != "traffic" else ""
            error = ", within the bounds' error," * (ratio <= 1 - NEAR)
            with_ = f"{times(ratio)} the {aim}{error if traffic else error[:-1]}{traffic}"
            text = f"Toss-up for {aim}: {hubs}, or EL-Local with {with_}.{drawn}"
            return Verdict(status="toss-up", best=(rows[0].id, other.id), ratio=Quantity(ratio), text=text)
        at = f", for {more}" if aim != "traffic" and local.bytes > found.hubs.bytes * (1 + NEAR) else ""
        takes = f"takes {times(ratio)} the {aim} of {hubs}{at}"
        if _is_against_runs(found):
            but = "but runs at equal edges found otherwise"
            text = f"Race EL-Local against hubs first: by the bounds it {takes}, {but}.{drawn}"
            return Verdict(status="race-first", best=(other.id,), ratio=Quantity(ratio), text=text)
        text = f"Use EL-Local in place of hubs: each node sends to others that it draws. It {takes}.{drawn}"
        return Verdict(status="not-worth-it", best=(other.id,), ratio=Quantity(ratio), text=text)
    each = "all" if budgets.b_hs == n else f"{budgets.b_hs:,} of"
    text = f"Use {counted(budgets.n_h, 'hub')} for {aim}: each averages {each} {n:,} nodes."
    if budgets.b_hs == n:
        text += " Each is then a server: limit that with --per-hub."
    least, most = found.ties
    if least < most:
        text += f" {least:,} to {most:,} hubs tie."
    if server < 1 - NEAR:
        text += f" With a server that all trust, FedAvg takes {times(server)} the {aim}."
    return Verdict(status="best", best=(rows[0].id,), text=text + drawn)


def document(answer: Hubs) -> Document:
    """Lay the answer out."""
    columns = (Column("protocol"), *numeric("rounds", "time", "traffic", "models per hub"))
    rows = tuple(
        (row.title, *written(row), None)
        if row.models_of_a_hub is None
        else (f"{row.title}, link shared", *written(row), f"{row.models_of_a_hub:,.0f}")
        for row in answer.rows
    )
    best = answer.hubs["best"]
    budgets = (
        f"each averages {counted(best['b_hs'], 'node')} (b_hs), sends to "
        f"{counted(best['b_hh'], 'other hub')} (b_hh); each node averages {counted(best['b_sh'], 'hub')} (b_sh)"
    )
    if answer.verdict.best == ("el-local",):
        sent = next(int(row.models_of_a_node / 2) for row in answer.rows if row.id == "el-local")
        budgets = f"each node sends to {counted(sent, 'other')} (s)"
    changes = "; ".join(_changes(answer))
    facts = [("Budgets", budgets), *[("Changes", changes)] * bool(changes)]
    return told(answer, Table(columns, rows), kind="Hubs without a trusted cloud", facts=facts)


def _data(answer: Answer) -> dict[str, Any]:
    question, found = answer.question, answer.found
    scenario = question.scenario
    by_factor, rounds = found.by_factor
    return {
        "nodes": question.setting.learning.n,
        "limits": asdict(question.limits),
        "best": asdict(answer.budgets) | asdict(answer.hubs),
        "ties": {"resolution": scenario.resolution, "least": answer.ties[0], "most": answer.ties[1]},
        "better_without_hubs": None if answer.better is None else answer.better.protocol,
        "others": [asdict(one) for one in answer.others],
        "half_load": None if answer.halved is None else _beside(answer, answer.halved),
        "unlimited": None if answer.unlimited is None else _beside(answer, answer.unlimited),
        "without_a_hub": None if answer.failed is None else asdict(answer.failed),
        "by_mixing_factor_alone": asdict(by_factor) | {"rounds": rounds},
        "by_hubs": [asdict(found.budgets(i)) | _totals(answer, i) for i in range(len(found.best["n_h"]))],
        "search": {"tried": found.tried, "exhaustive": found.exhaustive},
    }


def _totals(answer: Answer, i: int) -> dict[str, float]:
    """Rounds, seconds and bytes of a configuration."""
    rounds, seconds, edges = (float(answer.found.best[name][i]) for name in ("rounds", "seconds", "edges"))
    size = answer.question.setting.wires.model_bytes
    return {"rounds": rounds, "seconds": rounds * seconds, "bytes": rounds * edges * size}


def _sentences(answer: Answer) -> Iterator[str]:
    best, budgets, scenario = answer.hubs, answer.budgets, answer.question.scenario
    if budgets.b_hs == answer.question.setting.learning.n:
        servers = "one server" if budgets.n_h == 1 else f"{budgets.n_h} servers"
        yield (
            f"Each hub hears every node: that is {servers}, and each handles {best.models_of_a_hub:,.0f} models a "
            "round. --per-hub limits that."
        )
    least, most = answer.ties
    if least < most:
        yield f"{least:,} to {most:,} hubs are within {percent(scenario.resolution)} of it by {scenario.objective}."
    if (local := _local(answer)) is not None:
        more = (local.rounds / best.rounds, local.seconds / best.seconds, local.bytes / best.bytes)
        yield (
            f"EL-Local with {local.edges:,.0f} edges against {best.edges:,.0f} needs {more[0]:.3g} times the rounds, "
            f"{more[1]:.3g} times the time and {more[2]:.3g} times the traffic."
        )
        by_order = local.order_rounds / best.order_rounds
        if (by_order - 1) * (more[0] - 1) < 0:
            yield (
                f"The constants of the theorem decide this: with all of them 1 it needs {by_order:.3g} times the "
                "rounds."
            )
    by_factor, rounds = answer.found.by_factor
    if rounds > best.rounds * (1 + scenario.resolution):
        yield (
            f"The smallest mixing factor ({by_factor}) would take {rounds / best.rounds:.3g} times the rounds: it does "
            "not see how far a round moves the mean."
        )
    yield from answer.left_out


def _local(answer: Answer) -> Protocol | None:
    return next((one for one in answer.others if one.protocol == "EL-Local"), None)


def _numbers(answer: Answer) -> Iterator[str]:
    """The best budgets for some numbers of hubs: for that of the best, and some on either side of it."""
    found, count = answer.found, len(answer.found.best["n_h"])
    some = np.round(np.geomspace(1, count, SHOWN)).astype(int) - 1 if count > SHOWN else np.arange(count)
    for i in sorted({found.first, *some.tolist()}):
        totals = _totals(answer, i)
        taken = f"{format_duration(totals['seconds'])}, {format_size(totals['bytes'])}"
        yield f"{found.budgets(i)}: {totals['rounds']:,.0f} rounds, {taken}"


def _failure(answer: Answer) -> Iterator[str]:
    failed, best = answer.failed, answer.hubs
    if failed is None:
        yield "It was the only one: nothing is mixed until it is back."
        return
    yield (
        f"{failed.budgets}: {failed.rounds:,.0f} rounds, {failed.rounds / best.rounds:.3g} times as many; mixing "
        f"factor {best.mixing_factor:.3g} becomes {failed.mixing_factor:.3g}, mean deviation "
        f"{best.mean_deviation_bound:.3g} becomes {failed.mean_deviation_bound:.3g} (as the bound counts them)."
    )
    handled = f"{failed.models_of_a_hub or 0:,.1f} models a round in place of {best.models_of_a_hub or 0:,.1f}"
    yield f"A hub that is left handles {handled}."
    if failed.mixing_factor >= 1:
        yield "The models need not come together then."


def _warnings(answer: Answer) -> Iterator[str]:
    yield from answer.question.warnings
    hubs, nodes = answer.budgets.n_h, answer.question.setting.learning.n
    if hubs > nodes:
        yield f"{hubs:,} hubs for {nodes:,} nodes: a hub is a machine beside the nodes, without data of its own."
    if not answer.found.exhaustive:
        yield (
            f"There are more configurations than {MAX_CASES:,}: a grid of {answer.found.tried:,} was tried (all "
            "numbers to 32, tenths above), then the neighbours of the best. A better one may lie between."
        )
    elif not answer.found.every:
        best = "; all with the best number of hubs" * answer.found.alone
        yield (
            "Not every number of nodes per hub was tried. All up to 8 were, then 11, 17, 25 and so on, and the most "
            f"that fits{best}. A better one may lie between."
        )
    if any(one.mean_deviation is None for one in (answer.hubs, *answer.others)):
        yield f"Exact mean deviations are computed up to {model.MAX_EXACT:,} machines; kappa is the bound's here."


def _basis(answer: Answer) -> Iterator[str]:
    best, local = answer.hubs, _local(answer)
    yield (
        "The nodes of a hub or a server share its one link, where their models wait for each other. Where each has its "
        "own, `hfl-plan recommend --link-sharing per-client` has FedAvg."
    )
    yield (
        f"Bounds: {model.HUBS}, {model.LOCAL}, {model.ORACLE} (reconstructed; explicit constants, the same for all "
        "rows). They bound the mean squared gradient at the nodes' own models, at the best step, with one local step "
        "a round. A server is gossip in which all hear all."
    )
    yield f"Looked at: {answer.found.tried:,} configurations, by the bound and never by beta alone."
    yield (
        "Loads per node and hub: models sent and received in a round, in the mean over draws. Also: beta is the mixing "
        "factor, kappa the exact mean deviation."
    )
    if local is not None and local.mean_deviation and best.mean_deviation is not None:
        yield (
            "All rows are about the nodes' own models. If the mean of the models is what is used in the end, the mean "
            f"deviation decides: {best.mean_deviation:.2g} here and {local.mean_deviation:.2g} with EL-Local. The two "
            "are not ranked in one list; measured runs agree with both."
        )
    if local is not None:
        yield (
            f"With all constants 1 (the order forms) EL-Local needs {local.order_rounds / best.order_rounds:.3g} times "
            f"the rounds of the hubs; with those of the theorem, {local.rounds / best.rounds:.3g}."
        )
    drawn = [(one.protocol, gap) for one in (best, *answer.others) if (gap := one.spectral_gap) is not None]
    if drawn:
        gaps = ", ".join(f"{name} {gap.value:.2g} [{gap.low:.2g}, {gap.high:.2g}]" for name, gap in drawn)
        yield f"Spectral gap of a draw (20 draws, 99 %), not to be ranked by: {gaps}."
    if told := answer.question.scenario.assumed(LEARNED):
        yield f"Not given, so assumed: {told}."
