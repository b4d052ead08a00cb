"""What compressed models may cost in rounds before they stop paying: their break-even."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from planner.io.wording import title

if TYPE_CHECKING:
    from planner.predict.question import Question
    from planner.scenario.fields import Objective


def about_compression(question: Question, topology: str, objective: Objective) -> Iterator[str]:
    """Say by what factor compression may raise the rounds of a topology before it stops paying."""
    network = question.network
    if network.whole or objective == "rounds":
        return
    whole = question.varied(network=network.sent_whole()).price(topology, objective)
    packed = question.price(topology, objective)
    if 0 < packed < whole:  # nothing may cost anything
        rounds = f"the rounds of {title(topology)} {whole / packed:.2g} times as many"
        yield f"By {objective} compression pays until it makes {rounds}."
