"""Where the numbers of an answer come from, in words."""

from __future__ import annotations

from collections.abc import Iterable

from planner.scenario.resolve import Scenario


def assumed(scenario: Scenario, names: Iterable[str]) -> str:
    """``name = value`` for those of the names that nobody gave; "" where all were."""
    told = [f"{n} = {scenario.known[n].value:.4g}" for n in names if scenario.known[n].origin == "default"]
    return ", ".join(told)
