"""The bound against rounds: of every topology, and which share each of its terms has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from planner.decide.explain import SHORT
from planner.errors import ScenarioError
from planner.io.wording import join, title
from planner.plot import INK, Drawing, Floats, Picture, figure, looks, of_shares, panel_letter, posed, style, swatch
from planner.plot.lettering import heading, in_short, name_ends
from planner.predict.question import MAX_ROUNDS, Question, ceil_rounds
from planner.scenario.resolve import Scenario

POINTS = 49
BEYOND = 10.0  # the longest of the rounds to the target, and this many times as far
MARKED = 8  # points between two markers


@dataclass(frozen=True)
class Curve:
    """The tuned bound of a topology after some numbers of rounds."""

    terms: Mapping[str, Floats]  # its parts, by name
    needed: float  # rounds to the target; ``inf`` where it is not reached

    @property
    def value(self) -> Floats:
        """The bound."""
        return np.asarray(np.sum([*self.terms.values()], axis=0))


def of_scenario(scenario: Scenario) -> Picture:
    """The picture of a scenario: its figure, its numbers, and what it shows in words.

    Raises:
        ScenarioError: for a tree that no bound of the catalogue is about.
    """
    if scenario.depth != 2:
        raise ScenarioError(
            f"bounds of the catalogue are of two tiers, and this tree has {scenario.depth}. Draw front, tornado or "
            "diagram.",
            code="E005",
        )
    _, question = posed(replace(scenario, predictor="bound"))
    goal = float(question.goal())
    needed = {t: float(n) for t, n in question.rounds().items()}
    longest = max((n for n in needed.values() if np.isfinite(n)), default=1e3)
    rounds = np.unique(np.rint(np.geomspace(1, min(max(longest, 10.0) * BEYOND, MAX_ROUNDS), POINTS)))
    curves = {topology: Curve(_terms(question, topology, rounds), needed[topology]) for topology in question.bounds}
    drawn, rows = draw(rounds, curves, goal, in_short(scenario))
    ends = ", ".join(f"{title(t)} after {n:,.0f} rounds" for t, n in needed.items() if np.isfinite(n))
    says = (
        f"Tuned bounds on the mean squared gradient, over the least of them, against rounds; the target {goal:.3g} is "
        f"met by {ends}. Below, for each topology, the share of every term of its bound at the target."
    )
    return drawn, rows, says


@style()
def draw(rounds: Floats, curves: Mapping[str, Curve], target: float, about: str = "") -> Drawing:
    """Draw bounds over the least of them, above; below, the shares of the terms of each at its rounds to the target."""
    drawn, (top, below) = figure(height=4.1, down=2)
    seen = looks(list(curves))
    least = np.min([curve.value for curve in curves.values()], axis=0)
    ends = []
    for topology, curve in curves.items():
        look, ratio = seen[topology], curve.value / least
        top.plot(rounds, ratio, color=look.color, linestyle=look.line, marker=look.marker, markevery=MARKED)
        ends.append((float(rounds[-1]), float(ratio[-1]), look.title, INK))
    highest = max(float((curve.value / least).max()) for curve in curves.values())
    top.set(xscale="log", xlim=(rounds[0], rounds[-1] * (rounds[-1] / rounds[0]) ** 0.35), xlabel="global rounds")
    top.set_xticks([10.0**n for n in range(int(np.log10(rounds[-1])) + 1)], minor=False)  # beyond are names
    top.minorticks_off()
    top.set(
        ylim=(1 - 0.08 * (highest - 1), 1 + 1.12 * max(highest - 1, 0.02)), ylabel="bound over the\nleast bound there"
    )
    panel_letter(top, "a")

    ever = {name for curve in curves.values() for name, values in curve.terms.items() if np.any(values > 0)}
    names = [name for name in dict.fromkeys(n for c in curves.values() for n in c.terms) if name in ever]
    of_terms = looks(list(dict.fromkeys(SHORT.get(name, name) for name in names)))
    for place, curve in enumerate(curves.values()):
        at = len(rounds) - 1
        if np.isfinite(curve.needed):
            at = int(np.argmin(np.abs(np.log(rounds / max(curve.needed, 1.0)))))
        base, whole = 0.0, float(curve.value[at]) or 1.0
        for term, look in of_terms.items():
            alike = [float(values[at]) for name, values in curve.terms.items() if SHORT.get(name, name) == term]
            area: Any = {"facecolor": look.color, "edgecolor": "white", "hatch": look.hatch, "linewidth": 0.0}
            below.barh(place, sum(alike) / whole, left=base, height=0.7, **area)
            base += sum(alike) / whole
    below.set_yticks(range(len(curves)), [seen[topology].title for topology in curves])
    below.set(ylim=(len(curves) - 0.5, -0.5), xlabel="share of every term at the target")
    of_shares(below, "x")
    panel_letter(below, "b")
    keys = [swatch(look.color, look.hatch, look.title) for look in of_terms.values()]
    drawn.legend(handles=keys, loc="outside lower center", ncols=2)
    reached = {t: c.needed for t, c in curves.items() if np.isfinite(c.needed)}
    fewest = min(map(ceil_rounds, reached.values()), default=None)
    first = [t for t, count in reached.items() if ceil_rounds(count) == fewest]
    message = "No guarantee meets the target"
    if first:
        has = "has" if len(first) == 1 else "have"
        message = f"{join([seen[t].title for t in first])} {has} the best guarantee at the target"
    heading(drawn, message, f"a guarantee, not the expected rounds; {about}".removesuffix("; "))
    name_ends(top, ends)
    rows = []
    for topology, curve in curves.items():
        for i, count in enumerate(rounds.tolist()):
            terms = {name: float(curve.terms[name][i]) if name in curve.terms else None for name in names}
            row = {"topology": topology, "rounds": count, "bound": float(curve.value[i]), **terms, "target": target}
            rows.append(row)
    return drawn, rows


def _terms(question: Question, topology: str, rounds: Floats) -> dict[str, Floats]:
    """The terms of the smallest tuned bound that holds for this topology's algorithm."""
    values = {**question.values, "R": rounds}
    tuned = [bound.tuned(cap=question.cap, **values) for bound in question.equivalent_bounds(topology)]
    best = np.argmin([np.broadcast_to(t.value, rounds.shape) for t in tuned], axis=0)
    names = dict.fromkeys(name for t in tuned for name in t.split)
    nothing = np.zeros_like(rounds)
    parts = {name: [np.broadcast_to(t.split.get(name, 0.0), rounds.shape) + nothing for t in tuned] for name in names}
    return {name: np.choose(best, values) for name, values in parts.items()}
