"""What a grouping of clients does to the recommendation: the same question before and after, to one target.

Nothing of the fleet changes but the two deviations, of which the sum of squares stays. Before are the present groups,
or where there are none groups put together at random, in expectation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from hflbounds.evaluate.compare import ties
from planner.cost.round import CostError
from planner.data.heterogeneity import FromFile, Heterogeneity
from planner.decide.counts import with_one_target
from planner.decide.verdict import LEVEL, OBJECTIVES, standing
from planner.predict.evidence import predictor_record
from planner.predict.question import Question, ask, ceil_rounds, with_default_order
from planner.scenario.fields import Objective
from planner.scenario.resolve import Scenario

ALONG = 33  # groupings between the two at which the first place is looked at
Kind = Literal["present", "random", "resized", "new"]


@dataclass(frozen=True)
class Grouped:
    """The squared deviations of clients in groups."""

    kind: Kind  # which groups
    # zeta2, delta2: of gradients where ``absolute``, else of label shares; to expect of the clients themselves, without
    # the noise of counting
    zeta2: float
    delta2: float
    absolute: bool  # whether the scale is known
    labels: int  # that occur
    sizes: Sequence[int]  # clients of every group
    ends: Sequence[float | None] = (None, None)  # of the interval of zeta2 / delta2; None for none

    def heterogeneity(self, text: str) -> Heterogeneity:
        """As a scenario takes it; ``text`` is the name of the file."""
        measured = FromFile(
            zeta=math.sqrt(max(self.zeta2, 0.0)),
            delta=math.sqrt(max(self.delta2, 0.0)),
            absolute=self.absolute,
            labels=self.labels,
            groups=len(self.sizes),
            clients=(min(self.sizes), sum(self.sizes) / len(self.sizes), max(self.sizes)),
            ratio=(self.zeta2 / self.delta2 if self.delta2 > 0 else None, self.ends[0], self.ends[1]),
        )
        return Heterogeneity("file", text, measured=measured)


def effect(
    before: tuple[Kind, Scenario], after: tuple[Kind, Scenario], resized: Scenario | None = None
) -> dict[str, Any]:
    """Rounds, seconds and bytes of every topology with both groupings, who comes first, and where that changes.

    ``resized`` has the sizes of the new groups and the deviations of the present ones, where sizes change: what it
    takes to the same target says which part of a gain is due to sizes.

    Raises:
        NoAnswerError: where Star-Star's bound says nothing before, and no target was given.
    """
    asked = [with_default_order(one) for one in (before[1], after[1], resized) if one is not None]
    first, *others = with_one_target(asked)
    objective = first.objective
    target = first.known["target"]
    if target.origin == "derived":  # met where Star-Star stays as it is, though its last digit may differ there
        met = replace(target, value=first.number("target") * (1 + 1e-12))
        others = [replace(one, known={**one.known, "target": met}) for one in others]
    questions = ask(first), ask(others[0])
    parts = [_ranked(q, objective, first.resolution) for q in (*questions, *map(ask, others[1:]))]
    undecided = [_undecided(scenario) for scenario in asked[:2]]  # each to its own target, as `recommend` is asked
    goal, quantity = questions[0].goal(), questions[0].quantity.words
    changed = not set(parts[0]["recommended"]) & set(parts[1]["recommended"])
    return {
        "objective": objective,
        "target": {"value": goal, "origin": target.origin, "note": target.note, "quantity": quantity},
        "resolution": first.resolution,
        "error": max(predictor_record.pair_factor(q, LEVEL) for q in questions),
        "before": {"grouping": before[0], **_deviations(questions[0]), **parts[0], "toss_up": undecided[0]},
        "after": {"grouping": after[0], **_deviations(questions[1]), **parts[1], "toss_up": undecided[1]},
        "resized": {"grouping": "resized", **parts[2]} if resized is not None else None,
        "first_place_changes": changed,
        "changes_below_delta": change_of_leaders(questions, objective, parts[0]["recommended"]) if changed else None,
    }


def _undecided(scenario: Scenario) -> dict[str, list[str]]:
    """By objective the topologies of which `recommend` says a toss-up, best first; none where it tells them apart."""
    question, found = ask(scenario), dict[str, list[str]]()
    for objective in OBJECTIVES:
        try:
            best = standing(question, scenario, objective).best
        except CostError:
            best = ()
        found[objective] = list(best) if len(best) > 1 else []
    return found


def _deviations(question: Question) -> dict[str, float]:
    return {tier.deviation: float(question.values[tier.deviation]) for tier in reversed(question.symbols)}


def _ranked(question: Question, objective: Objective, resolution: float) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    totals: dict[str, float] = {}
    for topology, count in question.rounds().items():
        row: dict[str, Any] = {"topology": topology, "tie": None, "rounds": None, "seconds": None, "bytes": None}
        rows.append(row)
        if not math.isfinite(count):
            row["why"] = f"the target is not reached within {question.allowed:,.0f} rounds"
            continue
        try:
            cost = question.of_a_round(topology)
            totals[topology] = float(count * question.price(topology, objective))
        except CostError as error:
            row["why"] = str(error).rstrip(".")
            continue
        rounds = ceil_rounds(count)
        row |= {"rounds": rounds, "seconds": float(rounds * cost.seconds), "bytes": float(rounds * cost.bytes)}
    rows.sort(key=lambda row: totals.get(row["topology"], math.inf))
    for row, tie in zip(rows, ties(sorted(totals.values()), resolution), strict=False):
        row["tie"] = tie
    return {"recommended": [row["topology"] for row in rows if row["tie"] == 1], "ranking": rows}


def change_of_leaders(
    questions: tuple[Question, Question], objective: Objective, leaders: Sequence[str]
) -> float | None:
    """The inter-group deviation below which, on the way from the first grouping to the second, another leads.

    The first of `ALONG` deviations at which one does; None where none does.
    """
    low, top = (tier.deviation for tier in reversed(questions[0].symbols))
    delta, least = (question.values[top] for question in questions)
    if not leaders or not 0 < delta != least:
        return None
    total2 = questions[0].values[low] ** 2 + delta**2
    between = np.geomspace(delta, max(least, 1e-3 * delta), ALONG)
    inside = np.sqrt(np.maximum(total2 - between**2, 0.0))
    rounds: Mapping[str, Any] = questions[0].rounds(**{low: inside, top: between})
    totals = {topology: n * questions[0].price(topology, objective) for topology, n in rounds.items()}
    led = np.min([totals[t] for t in leaders], axis=0)
    others = [np.full(ALONG, np.inf), *(total for topology, total in totals.items() if topology not in leaders)]
    overtaken = np.flatnonzero(np.min(others, axis=0) < led)
    return float(between[overtaken[0]]) if len(overtaken) else None
