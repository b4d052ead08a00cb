"""The bound against rounds: of every topology, and which share each of its terms has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from planner.decide.explain import SHORT
from planner.errors import ScenarioError
from planner.io.wording import title
from planner.plot import COLUMN, FAINT, Rows, figure, looks, panel_letter, posed, shares_up, style, swatch
from planner.predict.question import MAX_ROUNDS, Question
from planner.scenario.resolve import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
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


def of_scenario(scenario: Scenario) -> tuple[Figure, Rows, str]:
    """The picture of a scenario: its figure, its numbers, and what it shows in words.

    Raises:
        ScenarioError: for a tree that no bound of the catalogue is about.
    """
    if scenario.depth != 2:
        raise ScenarioError(
            f"bounds of the catalogue are of two tiers, and this tree has {scenario.depth}. Draw front, tornado or "
            "diagram."
        )
    _, question = posed(replace(scenario, predictor="bound"))
    goal = float(question.goal())
    needed = {t: float(n) for t, n in question.rounds().items()}
    longest = max((n for n in needed.values() if np.isfinite(n)), default=1e3)
    rounds = np.unique(np.rint(np.geomspace(1, min(max(longest, 10.0) * BEYOND, MAX_ROUNDS), POINTS)))
    curves = {topology: Curve(_terms(question, topology, rounds), needed[topology]) for topology in question.bounds}
    drawn, rows = draw(rounds, curves, goal)
    ends = ", ".join(f"{title(t)} after {n:,.0f} rounds" for t, n in needed.items() if np.isfinite(n))
    says = (
        f"Tuned bounds on the mean squared gradient against rounds, both logarithmic; the target {goal:.3g} is met by "
        f"{ends}. Below, for each topology, the share of every term of its bound."
    )
    return drawn, rows, says


@style()
def draw(rounds: Floats, curves: Mapping[str, Curve], target: float) -> tuple[Figure, Rows]:
    """Draw the bounds at these rounds above, and below a panel for each topology with the shares of its terms."""
    from matplotlib.lines import Line2D

    down = -(-len(curves) // 2)
    drawn, _ = figure(COLUMN, 2.6 + 1.2 * down, across=0)
    grid = drawn.add_gridspec(1 + down, 2, height_ratios=[1.6, *[1.0] * down])
    top = drawn.add_subplot(grid[0, :])
    panels = [drawn.add_subplot(grid[1 + i // 2, i % 2]) for i in range(len(curves))]
    seen = looks(list(curves))
    for topology, curve in curves.items():
        look = seen[topology]
        top.plot(rounds, curve.value, color=look.color, linestyle=look.line, marker=look.marker, markevery=MARKED)
        if np.isfinite(curve.needed) and curve.needed >= 1:
            top.plot([curve.needed], [target], color=look.color, marker=look.marker, clip_on=False, zorder=5)
    top.axhline(target, color=FAINT, linewidth=0.8)
    top.text(rounds[0], target, " target", va="top", size=7, color=FAINT)
    top.set(xscale="log", yscale="log", xlim=(rounds[0], rounds[-1]), ylabel="bound on mean\nsquared gradient")
    lines = [Line2D([], [], color=k.color, linestyle=k.line, marker=k.marker, label=k.title) for k in seen.values()]
    top.legend(handles=lines, loc="upper right")
    panel_letter(top, "a")

    ever = {name for curve in curves.values() for name, values in curve.terms.items() if np.any(values > 0)}
    names = [name for name in dict.fromkeys(n for c in curves.values() for n in c.terms) if name in ever]
    shown = dict.fromkeys(SHORT.get(name, name) for name in names)
    of_terms = looks(list(shown))
    for panel, (letter, (topology, curve)) in zip(panels, zip("bcdefghi", curves.items(), strict=False), strict=False):
        whole = curve.value
        base = np.zeros_like(whole)
        for term, look in of_terms.items():
            alike = [values for name, values in curve.terms.items() if SHORT.get(name, name) == term]
            share = np.sum(alike, axis=0) / np.where(whole > 0, whole, 1.0) if alike else np.zeros_like(whole)
            area: Any = {"facecolor": look.color, "edgecolor": "white", "hatch": look.hatch, "linewidth": 0.0}
            panel.fill_between(rounds, base, base + share, **area)
            base = base + share
        if np.isfinite(curve.needed) and curve.needed >= 1:
            panel.axvline(curve.needed, color="black", linewidth=1.0)
        panel.set(xscale="log", xlim=(rounds[0], rounds[-1]))
        shares_up(panel)
        panel.set_title(seen[topology].title)
        panel_letter(panel, letter)
    for panel in panels[-2:]:
        panel.set_xlabel("global rounds")
    keys = [swatch(look.color, look.hatch, look.title) for look in of_terms.values()]
    drawn.legend(handles=keys, loc="outside lower center", ncols=3, title="terms of the bound", title_fontsize=7)
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
