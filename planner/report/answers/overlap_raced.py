"""What ``hfl-plan overlap --pilot`` shows: whether several servers for a client were worth it in a race."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.decide.explain import target_of
from planner.families.hhfl.model import Objective
from planner.families.hhfl.question import CLAIMS
from planner.families.hhfl.raced import HHFL, Raced
from planner.io.answers import NextStep, NumberOrigin, Quantity, Status, Verdict
from planner.io.wording import times
from planner.report.answers.overlap import Attached, Overlap, both, raced
from planner.report.answers.recommend import of_the_pilot
from planner.report.families import CLOCK, parts

LEVEL = 0.8  # of intervals over seeds
STATUS: Mapping[str, tuple[Status, tuple[str, ...]]] = {
    "worth it": ("best", ("hhfl",)),
    "not worth it": ("not-worth-it", ("hfl",)),
    "cannot tell": ("toss-up", ("hhfl", "hfl")),
}
EDGE_ROUNDS = 5  # at which to race what raced with one, where HHFL is Star-Star


def answered(found: Raced) -> Overlap:
    """Say whether the overlap was worth it."""
    question, scenario, (E, Ge) = found.question, found.scenario, found.steps
    notes = question.predictor.notes(question)
    shared = parts(
        scenario,
        CLAIMS,
        CLOCK,
        (*scenario.warnings, *found.layout.warnings, *question.predictor.cautions(question)),
        {"verdict": _reasons(found), "basis": notes},
    )
    return Overlap(
        **shared | {"evidence": ()},
        objective=found.objective,
        metric="accuracy" if question.metric == "accuracy" else "loss",
        target=target_of(question, scenario.known["target"]),
        verdict=_verdict(found),
        rows=tuple(_rows(found)),
        overlap=_data(
            found, " ".join((*_run_as(found), notes[0], f"E = {E}, Ge = {Ge}.", *of_the_pilot(shared["scenario"])))
        ),
        next=tuple(_next(found)),
    )


def _rows(found: Raced) -> Iterator[Attached]:
    E, Ge = found.steps
    whence = _whence(found)
    for id_, title, layout in (("hfl", "HFL", found.layout.apart), ("hhfl", "HHFL", found.layout)):
        rounds, cost = found.rounds[id_], found.cost
        yield Attached(
            id=id_,
            title=title,
            links=int(layout.links.sum()),
            rounds=Quantity(rounds, "given" if id_ == "hfl" and found.question.target is None else whence),
            time_seconds=Quantity(rounds * cost.seconds(layout, E, Ge)),
            traffic_bytes=Quantity(rounds * cost.bytes(layout, Ge)),
            airtime_seconds=Quantity(rounds * cost.of_a_round(layout, Ge)),
        )


def _run_as(found: Raced) -> Iterator[str]:
    """Say where homes are others than without the pilot, and what else may take less."""
    if found.steps[1] > 1:
        yield "HFL with Ge = 1, which may take less, did not race: this page without --pilot weighs it."
    for id_, rounds in found.parts.items():
        if found.rounds[id_] > rounds * (1 + found.scenario.resolution):
            yield f"The {rounds:.3g} rounds of {id_.upper()} are run as {found.rounds[id_]}."
    if found.regrouped:
        yield "Homes are the pilot's groups; without it, others."


def _whence(found: Raced) -> NumberOrigin:
    """Measured where the pilot went as far as the target."""
    return "measured" if found.question.predictor.raced(found.question, HHFL) else "predicted"


def _ratio(found: Raced, objective: Objective) -> Quantity:
    """What HHFL takes of HFL's, with its interval."""
    gain, low, high = found.gain
    needed = found.break_even[objective]
    ends = (needed / high, needed / low) if high > low else (None, None)
    return Quantity(needed / gain, _whence(found), ends[0], ends[1], LEVEL if high > low else None)


def _verdict(found: Raced) -> Verdict:
    aim = found.objective
    other: Objective = "time" if aim != "time" else "airtime"
    own = found.verdict(aim)
    ratio = _ratio(found, aim)
    by_own, by_other = f"for {aim} ({times(ratio)})", f"for {other} ({times(_ratio(found, other))})"
    text = f"In your pilot, {both(own, by_own, found.verdict(other), by_other)}."
    if found.steps[1] == 1:
        text += " With one edge round between cloud rounds HHFL is Star-Star."
    status, best = STATUS[own]
    return Verdict(status=status, best=best, ratio=ratio, text=text)


def _reasons(found: Raced) -> Iterator[str]:
    gain, low, high = found.gain
    needed = found.break_even[found.objective]
    yield f"HFL took {gain:.3g} [{low:.3g}, {high:.3g}] times the rounds of HHFL, 80 % over seeds."
    yield f"A round of HHFL takes {needed:.3g} times the {found.objective} of one of HFL, which is the break-even."
    yield (
        "HFL is Star-Star of the pilot, with the clients of a group at its server. Airtime, time and traffic of a "
        "round are those of the links here; no bound and no constant of the losses is in the answer."
    )


def _data(found: Raced, measured: str) -> dict[str, Any]:
    gain, low, high = found.gain
    E, Ge = found.steps
    return {
        "coverage": found.layout.source,
        "clients": len(found.layout.clients),
        "servers": len(found.layout.servers),
        "links": int(found.layout.links.sum()),
        "homes": "given",
        "local_steps": E,
        "edge_rounds": Ge,
        "verdict": found.verdict(found.objective),
        "break_even": {**found.break_even, "objective": found.break_even[found.objective]},
        "gain": {"expected": gain, "low": low, "high": high, "level": LEVEL, "p_above_break_even": None},
        "measured": measured,
    }


def _next(found: Raced) -> Iterator[NextStep]:
    """Race where something can be won, or with more seeds where these leave it open."""
    E, Ge = found.steps
    if Ge == 1:
        yield raced(found.layout, E, EDGE_ROUNDS)
    elif found.verdict(found.objective) == "cannot tell":
        seeds = len(found.scenario.pilot.seeds.compared) if found.scenario.pilot else 1
        step = raced(found.layout, E, Ge)
        yield step.replaced(argv=(*step.argv, "--seeds", str(min(4 * seeds, 64))), why="narrows what seeds leave open")
    yield NextStep(argv=("...", "--explain"), why="assumptions and the record")
