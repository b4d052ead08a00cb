"""Where the numbers of an answer come from, as data and in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from planner.scenario.resolve import Scenario


def known(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Every number and word of a scenario with its origin; empty units, notes and readings are left out."""
    return {
        name: {
            "value": value.value,
            "origin": value.origin,
            **{key: said for key in ("unit", "note", "reading") if (said := getattr(value, key))},
        }
        for name, value in scenario.known.items()
    }


def assumed(scenario: Scenario, names: Iterable[str]) -> str:
    """``name = value`` for those of the names that nobody gave; "" where all were."""
    told = [f"{n} = {scenario.known[n].value:.4g}" for n in names if scenario.known[n].origin == "default"]
    return ", ".join(told)
