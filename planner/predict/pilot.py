"""Questions that a pilot answers: its fleet must be theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hflbounds.topology import branches
from planner.data.race_curves import FURTHEST
from planner.errors import ScenarioError
from planner.io.wording import join, title
from planner.predict.predictors.piloted import NEAR, Piloted

if TYPE_CHECKING:
    from planner.data.pilot import Fleet, Pilot
    from planner.predict.question import Question

SAYS_NOTHING = {  # why, and the way out
    "too-short": (
        "its budget ended before anything could be told",
        "Give `hfl-plan pilot` more --within, or none: with --output it goes on from what is finished.",
    ),
    "constant": (
        "its metric never changed",
        "Check that the loss of the hook depends on the data, and run `hfl-plan pilot` again with --force.",
    ),
    "no-progress": (
        "no topology came past the start",
        "Run `hfl-plan pilot` with more --rounds or smaller --rates, which may gain something.",
    ),
    "diverged": (
        "no topology has a rate at which runs stay finite",
        "Run `hfl-plan pilot` with smaller --rates, or scale the inputs: that may keep runs finite.",
    ),
}
OF_ACCURACY = "Run `hfl-plan pilot` with --metric loss, which tells more than an accuracy that stays."


def way_out(pilot: Pilot) -> str:
    """Say what to do about a pilot that decides nothing; "" for one that does."""
    if (pilot.verdict.status, pilot.metric) == ("constant", "accuracy"):
        return OF_ACCURACY
    return SAYS_NOTHING.get(pilot.verdict.status, ("", ""))[1]


def piloted(question: Question, pilot: Pilot, metric: str | None) -> Question:
    """The question with the rounds of a pilot.

    Raises:
        ScenarioError: If the pilot says nothing, or is of another fleet, or by another metric.
    """
    if pilot.verdict.status in SAYS_NOTHING:
        told, _ = SAYS_NOTHING[pilot.verdict.status]
        raise ScenarioError(
            f"--pilot: it decides nothing, as {told}. {way_out(pilot)} Add --force to overwrite this file."
        )
    if metric is not None and metric != pilot.metric:
        raise ScenarioError(
            f"--metric {metric}: the pilot is by {pilot.metric}. Leave --metric out, or run `hfl-plan pilot ... "
            f"--metric {metric}`."
        )
    _same_fleet(question, pilot)
    slowdowns = tuple(pilot.fleet.slowdowns or ())
    if max(slowdowns, default=1.0) != min(slowdowns, default=1.0):
        _no_other_clock(question)
    known = {
        t: tree for t, tree in question.topologies.items() if (one := pilot.runner(t)) is not None and one.envelope
    }
    if pilot.reference not in known or pilot.reference != next(iter(known)) or not pilot.targets:
        raise ScenarioError(
            f"--pilot: {title(pilot.reference)}, which rounds are relative to, has no curve in it below the start. "
            "Run `hfl-plan pilot` again."
        )
    whose = Piloted(question.predictor, pilot, question.values)
    target = question.target
    if question.share is not None:
        target = question.share * float(whose.start(question.values, pilot.metric))
    found = replace(
        question, predictor=whose, metric=pilot.metric, topologies=known, bounds={}, cap="own", target=target,
        slowdowns=slowdowns,
    )  # fmt: skip
    if whose.extrapolated(found) > FURTHEST * (1 + NEAR):
        end = f"{pilot.targets[-1].value:.3g}"
        raise ScenarioError(
            f"--pilot: by its pace this target takes over {FURTHEST} times as many rounds: it seems out of reach. "
            f"{title(pilot.reference)} came to {pilot.metric} {end} in its "
            f"{pilot.rounds} rounds. Give a target nearer to {end}, or in its place --rounds "
            f"{FURTHEST * pilot.rounds} or fewer."
        )
    return found


def _no_other_clock(question: Question) -> None:
    """Refuse a pilot whose regions differ in speed where the scenario has another clock of its own."""
    if question.availability is not None or question.network.timer is not None:
        raise ScenarioError(
            "--pilot: its regions differ in speed, which is not timed with --availability or --network. Leave that "
            "out, or run `hfl-plan pilot` without --systems hga."
        )
    there = question.members
    if there is not None and (there.pace is not None or there.link_of is not None):
        raise ScenarioError(
            "--pilot: its regions differ in speed, and so do clients of the list. Leave step_time and link of the list "
            "out, or run `hfl-plan pilot` without --systems hga."
        )


def _same_nodes(question: Question, fleet: Fleet) -> None:
    """Refuse a pilot of other nodes than those of the list, of other weights, or of others drawn."""
    way = "Leave the counts or the list out to take the pilot's fleet, or run `hfl-plan pilot` on this one."
    if question.members is None:
        raise ScenarioError(f"--pilot: the pilot has nodes of unequal sizes or weights, and this fleet has not. {way}")
    listed, of_pilot = question.members.children, branches(fleet.nodes, fleet.samples)
    for tier, (here, there) in enumerate(zip(listed, of_pilot, strict=True), 1):
        if here.sizes.tolist() != there.sizes.tolist():
            raise ScenarioError(f"--pilot: its nodes of tier {tier} have other sizes than those of the list. {way}")
    for here, there in zip(listed, of_pilot, strict=True):
        if not np.allclose(here.shares, there.shares, rtol=1e-6, atol=0):
            by = "equal" if fleet.samples is None else "samples"
            raise ScenarioError(
                f"--pilot: its clients count otherwise than those of the list (--weights {by}). Give --weights {by} "
                "and the samples of the pilot, or run `hfl-plan pilot` on this fleet."
            )
    drawn = [tier.taking_part for tier in question.sized(question.reference).tiers]
    if drawn != fleet.drawn:
        told, asked = ("/".join(map(str, some)) for some in (fleet.drawn, drawn))
        raise ScenarioError(f"--pilot: it draws {told} children of a node, and here {asked} are drawn. {way}")


def _same_fleet(question: Question, pilot: Pilot) -> None:
    """Refuse a pilot of another fleet."""
    fleet, symbols, values = pilot.fleet, question.symbols, question.values
    if len(fleet.sizes) != question.depth:
        raise ScenarioError(
            f"--pilot: it is of {len(fleet.sizes)} tiers, and this fleet has {question.depth}. Give the pilot of this "
            "fleet."
        )
    there = [(one.passes, passes) for one, passes in zip(symbols, fleet.passes, strict=True) if one.passes]
    there += [("K", fleet.local_steps)]
    if question.members is None and fleet.children is None:
        pairs = [*zip(symbols, fleet.sizes, fleet.drawn, strict=True)]
        some = [(one.drawn, n) for one, size, n in pairs if n < size or values[one.drawn] < values[one.size]]
        there = [*((one.size, size) for one, size, _ in pairs), *some, *there]
    else:
        _same_nodes(question, fleet)
    if wrong := [(name, number) for name, number in there if values[name] != number]:
        way = "Leave the tiers out to take the pilot's fleet"
        if question.depth == 2 or wrong == [("K", fleet.local_steps)]:  # have options
            way = "Give " + " ".join(f"--{name} {number}" for name, number in wrong)
        raise ScenarioError(
            f"--pilot: it has {join([f'{name} = {number}' for name, number in wrong])}, and this fleet has "
            f"{join([f'{values[name]:g}' for name, _ in wrong])}. {way}, or run `hfl-plan pilot` on this fleet."
        )
    drawn = fleet.drawn != fleet.sizes
    if not drawn and fleet.order != question.order:
        raise ScenarioError(
            f"--pilot: its rings run in {fleet.order} order, and here in {question.order} order. Give --order "
            f"{fleet.order}, or run `hfl-plan pilot ... --order {question.order}`."
        )
