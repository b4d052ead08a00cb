"""What a pilot measured: the metric of every topology against rounds, with the span of its seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from planner.data.pilot import Pilot
from planner.errors import ScenarioError
from planner.io.wording import counted, names, title
from planner.plot import COLUMN, INK, Picture, figure, looks, plain, style
from planner.plot.lettering import heading, name_ends
from planner.scenario.resolve import Scenario

MOST = 8  # topologies
LOST = 0.3  # of the loss at the start, or of what it falls by: nothing is drawn so much above the start
STATUS = {
    "best": "{best} is first after {rounds}",
    "toss-up": "Toss-up after {rounds}: {best}",
    "too-short": "{best} leads after {rounds}, too few to tell",
    "constant": "No topology has gained anything after {rounds}",
    "no-progress": "No topology has gained anything after {rounds}",
    "diverged": "Every topology has diverged",
}


def of_scenario(scenario: Scenario) -> Picture:
    """The picture of a scenario's pilot.

    Raises:
        ScenarioError: If the scenario has none, or its topologies were not compared.
    """
    pilot = scenario.pilot
    if pilot is None:
        raise ScenarioError("race: draws what a pilot measured. Give --pilot pilot.json, a file of `hfl-plan pilot`.")
    if not pilot.rounds:
        raise ScenarioError("race: the topologies of this pilot were not compared. Give one with --rounds 8 or more.")
    return draw(pilot)


@style()
def draw(pilot: Pilot) -> Picture:
    """Draw the curves of a pilot: the mean over seeds, and from the least to the most."""
    drawn, axes = figure(COLUMN, 2.7)
    runners = [one for one in pilot.topologies if getattr(one, pilot.metric)][:MOST]
    seen = looks([one.id for one in runners])
    rows: list[dict[str, Any]] = []
    every = [x for one in runners for run in getattr(one, pilot.metric) for x in run if x is not None]
    start, least = pilot.start, min(every, default=pilot.start)  # a loss of the user's own may be below 0
    highest = start + LOST * max(abs(start), start - least)
    ends = []
    for one in runners:
        found = np.array([[np.nan if x is None else x for x in run] for run in getattr(one, pilot.metric)], dtype=float)
        kept = ~np.isnan(found).any(axis=0)
        at, mean = np.arange(found.shape[1])[kept], found[:, kept].mean(axis=0)
        low, high, look = found[:, kept].min(axis=0), found[:, kept].max(axis=0), seen[one.id]
        axes.fill_between(at, low, high, color=look.color, alpha=0.2, linewidth=0)
        axes.plot(at, mean, color=look.color, linestyle=look.line, marker=look.marker, markevery=max(len(at) // 6, 1))
        here = np.flatnonzero(mean <= highest)[-1] if pilot.metric == "loss" else -1
        ends.append((float(at[here]), float(mean[here]), look.title, INK))
        rows += [
            {"topology": one.id, "rounds": int(r), "mean": float(m), "low": float(a), "high": float(b)}
            for r, m, a, b in zip(at, mean, low, high, strict=True)
        ]
    word = "training loss" if pilot.metric == "loss" else "accuracy"
    axes.set(xlabel="global rounds", ylabel=word, xlim=(0, pilot.rounds * 1.3))
    if pilot.metric == "loss" and axes.get_ylim()[1] > highest:  # a topology that diverges leaves the picture
        axes.set_ylim(least - 0.05 * (highest - least), highest)
    axes.locator_params(axis="x", integer=True, nbins=6)
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= pilot.rounds])  # beyond them are names
    best = names(pilot.verdict.best) if pilot.verdict.best else ""
    message = STATUS[pilot.verdict.status].format(best=best, rounds=counted(pilot.rounds, "round"))
    if pilot.verdict.status == "best" and pilot.verdict.since:
        message += f", and has led since round {pilot.verdict.since}"
    seeds = counted(len(pilot.seeds.compared), "seed")
    fleet = f"{pilot.fleet.shape} clients, K = {pilot.fleet.local_steps}"
    heading(drawn, message, f"pilot of {plain(pilot.problem.name)}; {fleet}; {seeds}")
    name_ends(axes, ends)
    last = "; ".join(f"{title(one.id)} {end[1]:.3g}" for one, end in zip(runners, ends, strict=True))
    said = f"{word.capitalize()} measured against rounds, mean and span of {seeds}. {message}."
    return drawn, rows, f"{said} After the last round alone: {last}."
