"""What compressed models may cost in rounds before they stop paying: their break-even."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from planner.decide.verdict import sharing_is_open
from planner.io.wording import title

if TYPE_CHECKING:
    from planner.predict.question import Question
    from planner.scenario.fields import Objective
    from planner.scenario.resolve import Scenario


def about_compression(question: Question, scenario: Scenario, topology: str, objective: Objective) -> Iterator[str]:
    """Say by what factor compression may raise the rounds of a topology before it stops paying."""
    network = question.network
    if network.whole or objective == "rounds":
        return
    whole = question.varied(network=network.sent_whole()).price(topology, objective)
    packed = question.price(topology, objective)
    if 0 < packed < whole:  # nothing may cost anything
        rounds = f"the rounds of {title(topology)} {whole / packed:.2g} times as many"
        own = ", with own links," if objective != "traffic" and sharing_is_open(question, scenario) else ""
        yield f"By {objective}{own} compression pays until it makes {rounds}."
