"""What decides a round: the links, servers and clients that it waits for, and what twice as fast would save."""

from __future__ import annotations

from collections.abc import Sequence

from planner.decide.bottlenecks import waits
from planner.decide.rank import recommend
from planner.errors import NoAnswerError
from planner.families.sited.timed import Timing, waited
from planner.io.answers import Waiting
from planner.io.wording import join, percent, title
from planner.plot import COLUMN, PALETTE, Drawing, Picture, figure, plain, posed, style, swatch
from planner.plot.lettering import heading, in_short
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration

MOST = 8  # bars
LETTERS = 26  # of a name
LITTLE = 0.01  # of a round: what saves less needs no bar
ALIKE = 0.01  # relative difference of what two parts save that decides nothing


def of_scenario(scenario: Scenario) -> Picture:
    """The picture of a scenario: what a round of its best topology waits for.

    Raises:
        NoAnswerError: If no topology reaches the target, or no part alone makes the round shorter.
    """
    scenario, question = posed(scenario)
    best = recommend(scenario, details=False).recommended[0]
    seconds = question.of_a_round(best).seconds
    on_places = isinstance(scenario.network.timer, Timing)
    found = waited(scenario, best)[0] if on_places else waits(question, scenario, best)
    if not found:
        raise NoAnswerError("nothing alone decides the round: several parts are equally slow.")
    alike = [one.what for one in found if one.saves > found[0].saves * (1 - ALIKE)]
    much = f"twice as fast saves {percent(found[0].saves)} of a round"
    message = f"{title(best)} waits most for the {alike[0]}: {much}"
    if len(alike) == 2:
        message = f"{title(best)} waits most for {join(alike)}: each {much}"
    if len(alike) > 2:
        message = f"{title(best)} waits for {len(alike)} parts alike: each {much}"
    drawn, rows = draw(found, message, f"a round of {format_duration(seconds)}; {in_short(scenario)}")
    told = "; ".join(f"{one.what} ({one.now}) {percent(one.saves)}" for one in found[:3])
    return drawn, rows, f"A round of {title(best)} is shorter, with one of these twice as fast, by: {told}."


@style()
def draw(found: Sequence[Waiting], message: str, about: str = "") -> Drawing:
    """Draw a bar for each part: the share of a round that twice as fast saves, on the share that any speed saves."""
    shown = [one for one in found[:MOST] if one.most > LITTLE] or list(found[:1])
    drawn, axes = figure(COLUMN, 1.35 + 0.34 * len(shown))
    wide = max(one.most for one in shown)
    for place, one in enumerate(shown):
        axes.barh(place, 100 * one.most, height=0.66, facecolor="#D9E4EE")
        axes.barh(place, 100 * one.saves, height=0.66, facecolor=PALETTE[0][0])
    names = [f"{plain(one.what, LETTERS)}\n{one.now} \N{RIGHTWARDS ARROW} {one.twice}" for one in shown]
    axes.set_yticks(range(len(shown)), names, size=6.5)
    axes.set(ylim=(len(shown) - 0.4, -0.6), xlim=(0, 103 * wide))
    axes.set_xlabel("share of a round saved [%]")
    axes.grid(axis="y", visible=False)
    keys = [swatch(PALETTE[0][0], "", "twice as fast"), swatch("#D9E4EE", "", "as fast as can be")]
    drawn.legend(handles=keys, loc="outside lower center", ncols=2)
    heading(drawn, message, about)
    return drawn, [one.to_json() for one in found]
