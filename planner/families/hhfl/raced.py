"""Is overlap worth it by what a pilot measured? Rounds of HHFL and of Star-Star, which is HFL, as they raced.

Rounds alone are the race's. What a round takes is that of the scenario's links, as where a bound counts the rounds.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

from planner.data.coverage import Layout, read_layout
from planner.data.pilot import Beside, Pilot
from planner.errors import NoAnswerError, ScenarioError
from planner.families.framing import Frame
from planner.families.hhfl.model import Airtime, Objective, Upload
from planner.families.hhfl.question import Verdict
from planner.families.raced import at_home, rows_of
from planner.families.scenario import load
from planner.io.text import one_of
from planner.predict.predictors.piloted import NORMAL, Piloted
from planner.predict.question import Question, ask, ceil_rounds, with_default_order
from planner.scenario.resolve import Scenario, Spoken

HFL, HHFL = "star-star", "hhfl"  # in a pilot


@dataclass(frozen=True, eq=False)
class Raced:
    """Both ways to attach the clients, to where one server for each client came."""

    scenario: Scenario
    question: Question  # about the trees that raced
    layout: Layout  # links of HHFL, with the groups that raced as homes
    regrouped: bool  # whether these are other homes than those of the coverage, which are asked about without a pilot
    cost: Airtime
    objective: Objective
    parts: Mapping[str, float]  # rounds of HFL and of HHFL, as the race measured them
    rounds: Mapping[str, int]  # the same, whole as they are run
    # whole rounds of HFL over those of HHFL, and the ends of an 80 % interval over seeds, which holds it in parts too
    gain: tuple[float, float, float]
    break_even: Mapping[Objective, float]  # cost of a round of HHFL in rounds of HFL, by every objective

    @property
    def steps(self) -> tuple[int, int]:
        """Local steps and edge rounds."""
        return int(self.question.values["K"]), int(self.question.values["P"])

    def verdict(self, objective: Objective) -> Verdict:
        """Say whether it is worth it by an objective: what seeds leave open, or a tie, cannot be told."""
        _, low, high = self.gain
        needed, tie = self.break_even[objective], 1 + self.scenario.resolution
        return "worth it" if low > needed * tie else "not worth it" if high < needed / tie else "cannot tell"


def is_asked(config: Path | None, said: Spoken) -> bool:
    """Whether a pilot is named, by an option or in the file."""
    return "problem.pilot" in said or "pilot" in Frame(config, said).section("problem")


def solve(coverage: str, config: Path | None, said: Spoken, *, upload: str, objective: str) -> Raced:
    """Say what a pilot measured of a coverage.

    Raises:
        ScenarioError: If HHFL did not race in it, or on another coverage, or with regions that differ in speed.
        NoAnswerError: If HHFL gained nothing there.
    """
    one_of(upload, get_args(Upload), "--upload")
    one_of(objective, get_args(Objective), "--objective")
    scenario = load(config, said)
    assert scenario.pilot is not None  # noqa: S101 - see `is_asked`
    if not all(link.whole for link in scenario.network.named.values()):
        raise ScenarioError("--payload: what compression saves is known of trees alone. Leave it out.", code="E005")
    layout, regrouped = _layout(coverage, scenario.pilot)
    fleet = scenario.pilot.fleet
    raced = {"fleet.local_steps": fleet.local_steps, "fleet.group_rounds": fleet.passes[-1]}
    for key in raced.keys() & said.keys():
        if str(said[key][1]).strip() != str(raced[key]):
            raise ScenarioError(
                f"{said[key][0]}: the pilot raced with {raced[key]}. Leave it out, or race this number."
            )
    question = ask(with_default_order(replace(scenario, availability=None)))
    cost = Airtime(scenario.network, scenario.compute, scenario.number("model_size"), cast(Upload, upload))
    E, Ge = int(question.values["K"]), int(question.values["P"])
    hfl, hhfl = float(question.rounds()[HFL]), question.predictor.beside(question, HHFL)
    if hhfl is None or not math.isfinite(hhfl):
        raise NoAnswerError("--pilot: HHFL came no nearer to the target in it. Run `hfl-plan pilot` with more rounds.")
    seeds = math.exp(NORMAL * cast(Piloted, question.predictor).spread(HHFL, hfl))
    rounds = {"hfl": ceil_rounds(hfl), "hhfl": ceil_rounds(hhfl)}
    least, most = sorted((hfl / hhfl, whole := rounds["hfl"] / rounds["hhfl"]))
    return Raced(
        scenario=scenario,
        question=question,
        layout=layout,
        regrouped=regrouped,
        cost=cost,
        objective=cast(Objective, objective),
        parts={"hfl": hfl, "hhfl": hhfl},
        rounds=rounds,
        gain=(whole, least / seeds, most * seeds),
        break_even=cost.break_even(layout, E, Ge),
    )


def _layout(coverage: str, pilot: Pilot) -> tuple[Layout, bool]:
    """The coverage as it raced, and whether its homes are others there."""
    fleet, found = pilot.fleet, read_layout(coverage)
    one = pilot.runner(HHFL)
    counts = f"--local-steps {fleet.local_steps} --group-rounds {fleet.passes[-1]}"
    named = shlex.quote(coverage)
    way = f"Race it: `hfl-plan pilot HOOK.py --systems trees,hhfl --coverage {named} {counts} -o pilot.json`."
    if not isinstance(one, Beside) or not one.envelope or len(fleet.sizes) != 2:
        raise ScenarioError(f"--pilot: HHFL did not race in it. {way}")
    if one.options.get("coverage") != rows_of(coverage):
        raise ScenarioError(f"--pilot: HHFL raced in it on another coverage than {found.source!s:.80}. {way}")
    if any(slower != 1 for slower in fleet.slowdowns or ()):
        raise ScenarioError(
            "--pilot: its regions differ in speed, which is not timed with HHFL. Race it without --systems hga."
        )
    groups = fleet.children[1] if fleet.children else [fleet.sizes[1]] * fleet.sizes[0]
    raced = at_home(found, groups)
    return raced, bool((raced.home != found.home).any())
