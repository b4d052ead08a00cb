"""What ``hfl-plan hubs`` shows: how many hubs, which budgets, and what else the same edges would buy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from planner.families.hsl import model
from planner.families.hsl.model import Protocol
from planner.families.hsl.question import Answer
from planner.families.hsl.search import MAX_CASES
from planner.io.wording import counted
from planner.predict.evidence.claims import beginning
from planner.report.document import Block, Cell, Column, Document, Items, Paragraph, Table
from planner.report.origins import assumed, known
from planner.scenario.units import format_duration, format_size

SCHEMA = "hfl-plan/hubs/1"
SHOWN = 8  # numbers of hubs that are listed in text
TOTALS = (Column("rounds", "number"), Column("time", "duration"), Column("traffic", "size"))
COLUMNS = (
    Column("protocol"),
    *(Column(name, "number") for name in ("edges", "per node", "per hub")),
    *TOTALS,
    Column("time/round", "duration"),
    Column("beta", "number"),
    Column("kappa", "number"),
)
BY_HUBS = (Column("hubs"), *(Column(name, "number") for name in (*model.BUDGETS[1:], "edges")), *TOTALS)
SPARED = ("time/round", "beta", "kappa", "per node", "per hub", "edges")


def document(answer: Answer) -> Document:
    """Say how many hubs and which budgets, with what else the same edges would buy."""
    protocols = (asdict(one) for one in (answer.hubs, *answer.others))
    records = tuple({key: value for key, value in one.items() if key != "spectral_gap"} for one in protocols)
    return Document("", tuple(_blocks(answer)), _data(answer), records, "Hubs without a trusted cloud")


def _data(answer: Answer) -> dict[str, Any]:
    question, found = answer.question, answer.found
    scenario = question.scenario
    by_factor, rounds = found.by_factor
    return {
        "schema": SCHEMA,
        "scenario": known(scenario),
        "nodes": question.setting.learning.n,
        "limits": asdict(question.limits),
        "objective": question.scenario.objective,
        "target": question.setting.target,
        "best": asdict(answer.budgets) | asdict(answer.hubs),
        "ties": {"resolution": scenario.resolution, "least": answer.ties[0], "most": answer.ties[1]},
        "better_without_hubs": None if answer.better is None else answer.better.protocol,
        "others": [asdict(one) for one in answer.others],
        "without_a_hub": None if answer.failed is None else asdict(answer.failed),
        "by_mixing_factor_alone": asdict(by_factor) | {"rounds": rounds},
        "by_hubs": [asdict(found.budgets(i)) | _totals(answer, i) for i in range(len(found.best["n_h"]))],
        "search": {"tried": found.tried, "exhaustive": found.exhaustive},
        "record": [verdict.as_json() for verdict in beginning("hsl-")],
        "warnings": _warnings(answer),
    }


def _totals(answer: Answer, i: int) -> dict[str, float]:
    """Rounds, seconds and bytes of a configuration."""
    rounds, seconds, edges = (float(answer.found.best[name][i]) for name in ("rounds", "seconds", "edges"))
    size = answer.question.setting.wires.model_bytes
    return {"rounds": rounds, "seconds": rounds * seconds, "bytes": rounds * edges * size}


# ---------------------------------------------------------------- for people


def _blocks(answer: Answer) -> Iterator[Block]:
    found = answer.found
    for sentence in _verdict(answer):
        yield Paragraph(sentence, "bold")
    for sentence in _sentences(answer):
        yield Paragraph(sentence)
    rows = tuple(map(_cells, (answer.hubs, *answer.others)))
    yield Table(COLUMNS, rows, best=frozenset([0]), spared=SPARED)
    shown = _spread(len(found.best["n_h"]), found.first)
    if len(shown) > 1:
        best = frozenset([shown.index(found.first)])
        yield Table(BY_HUBS, tuple(_of_hubs(answer, i) for i in shown), best=best)
    yield Items("If a hub fails", tuple(_failure(answer)))
    yield Items("Warnings", tuple(_warnings(answer)), "warning")
    yield Items("What it stands on", tuple(_basis(answer)), "dim")


def _verdict(answer: Answer) -> Iterator[str]:
    best, budgets, n = answer.hubs, answer.budgets, answer.question.setting.learning.n
    if answer.better is not None:
        name = answer.better.protocol
        needs = " (which needs somebody who draws the graph)" if name == "EL-Oracle" else ""
        yield f"By {answer.question.scenario.objective} {name} does better without hubs{needs}."
    sends = f" and sends to {counted(budgets.b_hh, 'other')}" if budgets.b_hh else ""
    yield (
        f"{counted(budgets.n_h, 'hub')}: each averages {budgets.b_hs:,} of {n:,} nodes{sends}, and every node averages "
        f"{counted(budgets.b_sh, 'hub')}; {best.rounds:,.0f} rounds, {format_duration(best.seconds)} and "
        f"{format_size(best.bytes)} to the target."
    )


def _sentences(answer: Answer) -> list[str]:
    best, budgets, scenario = answer.hubs, answer.budgets, answer.question.scenario
    said = []
    if budgets.b_hs == answer.question.setting.learning.n:
        servers = "one server" if budgets.n_h == 1 else f"{budgets.n_h} servers"
        said.append(
            f"Each hub hears every node: that is {servers}, and each handles {best.models_of_a_hub:,.0f} models a "
            "round. --per-hub limits that."
        )
    least, most = answer.ties
    if least < most:
        said.append(f"{least:,} to {most:,} hubs are within {scenario.resolution:.0%} of it by {scenario.objective}.")
    if (local := _local(answer)) is not None:
        more = (local.rounds / best.rounds, local.seconds / best.seconds, local.bytes / best.bytes)
        said.append(
            f"EL-Local with {local.edges:,.0f} edges against {best.edges:,.0f} needs {more[0]:.3g} times the rounds, "
            f"{more[1]:.3g} times the time and {more[2]:.3g} times the traffic."
        )
        by_order = local.order_rounds / best.order_rounds
        if (by_order - 1) * (more[0] - 1) < 0:
            said.append(
                f"The constants of the theorem decide this: with all of them 1 it needs {by_order:.3g} times the "
                "rounds."
            )
    by_factor, rounds = answer.found.by_factor
    if rounds > best.rounds * (1 + scenario.resolution):
        said.append(
            f"The smallest mixing factor ({by_factor}) would take {rounds / best.rounds:.3g} times the rounds: it does "
            "not see how far a round moves the mean."
        )
    return [*said, *answer.left_out]


def _local(answer: Answer) -> Protocol | None:
    return next((one for one in answer.others if one.protocol == "EL-Local"), None)


def _cells(one: Protocol) -> tuple[Cell, ...]:
    return (
        f"{one.protocol}, {one.budgets}",
        f"{one.edges:,.0f}",
        one.models_of_a_node,
        None if one.models_of_a_hub is None else f"{one.models_of_a_hub:,.0f}",
        f"{one.rounds:,.0f}",
        one.seconds,
        one.bytes,
        one.seconds_per_round,
        one.mixing_factor,
        f"{one.mean_deviation_bound if one.mean_deviation is None else one.mean_deviation:.2g}",
    )


def _spread(count: int, first: int) -> list[int]:
    """Indices to show: the best, and some on either side of it."""
    if count <= SHOWN:
        return list(range(count))
    some = np.unique(np.round(np.geomspace(1, count, SHOWN)).astype(int) - 1)
    return sorted({first, *some.tolist()})


def _of_hubs(answer: Answer, i: int) -> tuple[Cell, ...]:
    best, totals = answer.found.best, _totals(answer, i)
    counts = (f"{best[name][i]:,.0f}" for name in (*model.BUDGETS, "edges", "rounds"))
    return (*counts, totals["seconds"], totals["bytes"])


def _failure(answer: Answer) -> list[str]:
    failed, best = answer.failed, answer.hubs
    if failed is None:
        return ["It was the only one: nothing is mixed until it is back."]
    said = [
        f"{failed.budgets}: {failed.rounds:,.0f} rounds, {failed.rounds / best.rounds:.3g} times as many; mixing "
        f"factor {best.mixing_factor:.3g} becomes {failed.mixing_factor:.3g}, mean deviation "
        f"{best.mean_deviation_bound:.3g} becomes {failed.mean_deviation_bound:.3g} (as the bound counts them).",
        f"A hub that is left handles {failed.models_of_a_hub or 0:,.1f} models a round in place of "
        f"{best.models_of_a_hub or 0:,.1f}.",
    ]
    if failed.mixing_factor >= 1:
        said.append("The models need not come together then.")
    return said


def _warnings(answer: Answer) -> list[str]:
    question = answer.question
    said = list(question.warnings)
    if not answer.found.exhaustive:
        said.append(
            f"There are more configurations than {MAX_CASES:,}: a grid of {answer.found.tried:,} was tried, all "
            "numbers to 32 and tenths above, and then the neighbours of the best. A better one may lie between."
        )
    elif question.scenario.objective != "rounds" and "b_hs" not in question.limits.fixed:
        said.append(
            "Nodes that a hub averages were tried at the most that fits, to 8, and on a grid of ratio 1.5 between."
        )
    if any(one.mean_deviation is None for one in (answer.hubs, *answer.others)):
        said.append(
            f"Exact mean deviations are computed up to {model.MAX_EXACT:,} machines; kappa is the bound's here."
        )
    return said


def _basis(answer: Answer) -> list[str]:
    best, local = answer.hubs, _local(answer)
    said = [
        f"Bounds: {model.HUBS}, {model.LOCAL}, {model.ORACLE} (reconstructed; explicit constants, the same for all "
        "rows): the mean squared gradient at the nodes' own models, at the best step, with one local step a round. A "
        "server is gossip in which all hear all.",
        f"Looked at: {answer.found.tried:,} configurations, by the bound and never by beta alone.",
        "Loads per node and hub are models sent and received in a round, in the mean over draws. beta is the mixing "
        "factor, kappa the exact mean deviation.",
    ]
    if local is not None and local.mean_deviation and best.mean_deviation is not None:
        said.append(
            "All rows are about the nodes' own models. If the mean of the models is what is used in the end, the mean "
            f"deviation decides: {best.mean_deviation:.2g} here and {local.mean_deviation:.2g} with EL-Local. The two "
            "are not ranked in one list; measured runs agree with both."
        )
    if local is not None:
        said.append(
            f"With all constants 1 (the order forms) EL-Local needs {local.order_rounds / best.order_rounds:.3g} times "
            f"the rounds of the hubs; with those of the theorem, {local.rounds / best.rounds:.3g}."
        )
    drawn = [(one.protocol, gap) for one in (best, *answer.others) if (gap := one.spectral_gap) is not None]
    if drawn:
        gaps = ", ".join(f"{name} {gap.value:.2g} [{gap.low:.2g}, {gap.high:.2g}]" for name, gap in drawn)
        said.append(f"Spectral gap of a draw (20 draws, 99 %), not to be ranked by: {gaps}.")
    if told := assumed(answer.question.scenario, ("sigma", "H", "L", "A")):
        said.append(f"Not given, so assumed: {told}.")
    said.append("Record of such predictions in runs (hfl-plan validate; docs/validation.md):")
    said.extend(f"  {verdict}" for verdict in beginning("hsl-"))
    return said
