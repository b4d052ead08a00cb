"""Predicted against measured: what a run of an exported project took, and what that says of the scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Literal

from planner.cost.round import RoundSpec, round_cost
from planner.cost.spec import levels
from planner.decide.rank import recommend
from planner.errors import NoAnswerError, ScenarioError
from planner.export.plan import plan_id
from planner.export.targets import Target, targets
from planner.io.json_documents import loaded
from planner.io.parts import Part, field
from planner.predict.question import ask, with_default_order
from planner.scenario.resolve import Scenario

SETTLED = 3  # rounds from which the first, in which libraries and data are loaded, is left out


class Round(Part):
    """One global round."""

    seconds: float
    bytes: float
    calls: int
    work_seconds: float = field("of local steps, over all calls")
    call_seconds: float = field("until answers were there, over all calls")
    over_network: bool = field("whether every model went to another machine and back", default=False)
    metric: float


class Measured(Part):
    """The file measured.json."""

    schema_: Literal["hfl-plan/measured/1"] = field(default="hfl-plan/measured/1", key="schema")
    plan: str
    target: str
    sample: bool = field("whether it ran the task that an exported project comes with", default=False)
    rounds: tuple[Round, ...]

    @property
    def settled(self) -> tuple[Round, ...]:
        """Rounds that are averaged: without the first, in which much is loaded, where there are three or more."""
        return self.rounds[1:] if len(self.rounds) >= SETTLED else self.rounds

    def mean(self, name: str) -> float:
        """Return the mean of a number over the settled rounds."""
        return fmean(float(getattr(one, name)) for one in self.settled)

    def per_call(self, name: str) -> float:
        """Return a number of a call, in the mean over all of the settled rounds."""
        return self.mean(name) / self.mean("calls")

    @property
    def over_network(self) -> bool:
        """Whether every model crossed a network, so that times of calls say something of links."""
        return all(one.over_network for one in self.rounds)


class Against(Part):
    """One number, predicted and measured."""

    name: str
    unit: str
    predicted: float
    measured: float
    corrected: float = field("predicted with the corrections")


class Correction(Part):
    """What the run says of a key of the scenario."""

    key: str
    was: float
    now: float
    unit: str
    setting: str = field("for --set")


class Comparison(Part):
    """A run beside what was predicted of it."""

    plan: str
    target: str
    topology: str
    rounds: int = field("that were run")
    rounds_predicted: int | None = field("to the scenario's target")
    predicted_to: str = field("the scenario's target, in words")
    metric_first: float = field("after the first of them")
    metric: float = field("after the last of them")
    rows: tuple[Against, ...]
    sample: bool = field("whether it ran the task that a project comes with, which corrects nothing")
    corrections: tuple[Correction, ...]
    best: tuple[str, ...] = field("as planned")
    best_corrected: tuple[str, ...] = field("on the planned network, with the corrections")
    notes: tuple[str, ...]


def read_measured(path: Path) -> Measured:
    """Read measured.json.

    Raises:
        ScenarioError: If it holds something else, or no round.
    """
    found = loaded(path, Measured)
    if found.target not in targets():
        raise ScenarioError(
            f"{path}: the target {found.target!a:.40} is not one of {', '.join(targets())}.", code="E020"
        )
    if not found.rounds:
        raise ScenarioError(f"{path}: no round has ended yet. Let the project run.")
    sends = targets()[found.target].network is not None
    for number, one in enumerate(found.rounds, 1):
        for name, least in (("seconds", 0), ("work_seconds", 0), ("call_seconds", 0), ("bytes", sends), ("calls", 1)):
            if (value := getattr(one, name)) < least:
                raise ScenarioError(f"{path}: round {number}: {name} is {value:g}. Measure again.")
    return found


def compare(scenario: Scenario, path: Path) -> Comparison:
    """Compare what was measured with what the scenario predicts, and correct the scenario by it.

    Step time and, where models are sent, their size are corrected; so is the client's link where all clients ran on
    other machines: latency is kept, and the rates are scaled together, unless a call took less than the latency alone.

    Raises:
        ScenarioError: If the file is of another plan.
        NoAnswerError: If nothing can be predicted.
    """
    measured = read_measured(path)
    target, scenario = targets()[measured.target], with_default_order(scenario)
    question, answer = ask(scenario), recommend(scenario, details=False)
    known = {plan_id(question.sized(t), int(question.values["K"])): t for t in question.topologies}
    if measured.plan not in known:
        raise ScenarioError(
            f"{path}: it was measured with another plan ({measured.plan}). Give the scenario that was exported, with "
            "the same counts and local steps."
        )
    topology = known[measured.plan]
    row = answer.row(topology)
    spec = target.run(question.round_spec(topology))
    corrections = () if measured.sample else tuple(_corrections(spec, measured, target))
    after = _corrected(scenario, corrections)
    spec_after = target.run(ask(after).round_spec(topology))
    costs = [round_cost(one) for one in (spec, spec_after)]
    parts = [("time of a round", "s", "seconds"), ("traffic of a round", "bytes", "bytes")] if target.network else []
    before, then = (one.compute.step_time for one in (spec, spec_after))
    rows = [
        *((name, unit, getattr(costs[0], x), measured.mean(x), getattr(costs[1], x)) for name, unit, x in parts),
        ("time of a local step", "s", before, measured.per_call("work_seconds") / spec.K, then),
    ]
    try:
        best = recommend(after, details=False).recommended
    except NoAnswerError:
        best = ()
    return Comparison.made_of(
        measured,
        topology=topology,
        rounds=len(measured.rounds),
        rounds_predicted=None if row.rounds is None else int(row.rounds),
        predicted_to="" if answer.target is None else answer.target.defined_by,
        metric_first=measured.rounds[0].metric,
        metric=measured.rounds[-1].metric,
        rows=tuple(
            Against(name=name, unit=unit, predicted=predicted, measured=taken, corrected=corrected)
            for name, unit, predicted, taken, corrected in rows
        ),
        corrections=corrections,
        best=answer.recommended,
        best_corrected=best,
        notes=() if measured.sample else tuple(_notes(measured, target, spec)),
    )


def _corrections(spec: RoundSpec, measured: Measured, target: Target) -> Iterator[Correction]:
    """What the run says of step time, model size and the client's link; not of what a list has."""

    def one(key: str, was: float, now: float, unit: str, setting: str) -> Correction:
        return Correction(key=key, was=was, now=now, unit=unit, setting=f"{key}={setting}")

    listed = spec.members
    step = measured.per_call("work_seconds") / spec.K
    if listed is None or listed.pace is None:
        yield one("compute.step_time", spec.compute.step_time, step, "s", f"{step:.6g}s")
    if target.network is None:
        return
    size = measured.per_call("bytes") / 2
    yield one("model.size", spec.model_bytes, size, "bytes", f"{size:.6g}B")
    if not measured.over_network:
        return
    if listed is not None and (listed.link_of is not None or spec.network.client_link.sharing == "per-server"):
        return
    link, sharers = spec.network.client_link, levels(spec)[-1].sharers
    way = max(measured.per_call("call_seconds") - measured.per_call("work_seconds"), 1e-9)
    latency = min(link.latency, way / 4)
    if latency < link.latency:
        yield one("network.client_link.latency", link.latency, latency, "s", f"{latency:.6g}s")
    scale = (way - 2 * latency) / (8 * size * sharers * (1 / link.up + 1 / link.down))
    for name, rate in (("up", link.up), ("down", link.down)):
        now = rate / scale
        yield one(f"network.client_link.{name}", rate, now, "bit/s", f"{now:.6g}bit/s")


def _corrected(scenario: Scenario, found: Iterable[Correction]) -> Scenario:
    """The scenario with what was measured."""
    known, network, compute = dict(scenario.known), scenario.network, scenario.compute
    symbols = {"compute.step_time": "step_time", "model.size": "model_size"}
    for one in found:
        symbol = symbols.get(one.key, one.key.removeprefix("network."))
        known[symbol] = replace(known[symbol], value=one.now, origin="estimated", note="measured in a run", spread=None)
        name, _, part = symbol.partition(".")
        if part:
            network = network.with_link(name, **{part: one.now})
        elif name == "step_time":
            compute = replace(compute, step_time=one.now)
    return replace(scenario, known=known, network=network, compute=compute)


def _notes(measured: Measured, target: Target, spec: RoundSpec) -> Iterator[str]:
    if target.network is None:
        yield "Nothing was sent in this run, so it says nothing of links and of the size of the model."
    elif not measured.over_network:
        yield "Links stay as they are: not every model of this run is known to have crossed your network."
    if (listed := spec.members) is not None and (listed.pace is not None or listed.link_of is not None):
        yield "Step times and links that the list has client by client stay as they are."
    if spec.compute.random:
        yield "A run says the mean step time; the spread between clients stays as it was given."
    if len(measured.rounds) < SETTLED:
        yield "The first round often takes longer: run three or more."
