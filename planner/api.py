"""The planner for programs and notebooks: the same scenarios, answers and refusals as the command line.

>>> import planner
>>> plan = planner.recommend(G=10, M=10, heterogeneity="inter", predictor="bound")
>>> plan.recommended
('ring-ring', 'ring-star')
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from planner.decide.recommendation import Recommendation
from planner.report.render import render
from planner.runs.difference import difference
from planner.scenario.resolve import Scenario, load

# What notebooks want of an answer, from the layers above it.
Recommendation.shown = staticmethod(lambda answer, form: render(form, answer))
Recommendation.compared = staticmethod(difference)

Config = str | Path | Mapping[str, Any]


def load_scenario(config: Config | None = None, settings: Mapping[str, Any] | None = None, **options: Any) -> Scenario:
    """A scenario from a file, a table or options; options win.

    Args:
        config: a TOML file, or the tables of one: ``{"fleet": {"groups": 10}}``.
        settings: any key of a scenario: ``{"network.server_link.up": "1Gbit/s"}``.
        options: the long options of ``hfl-plan recommend`` with underscores, or their letters: ``groups=10`` or
            ``G=10``, ``uplink="20Mbit/s"``. None is as if it was not given.

    Raises:
        TypeError: for an option there is not.
        ScenarioError: for what is no scenario.
    """
    spoken: dict[str, tuple[str, Any]] = {}
    for key, value in (settings or {}).items():
        spoken[key] = (f"settings[{key!r:.60}]", _plain(value))
    for name, value in options.items():
        if name not in _keys():
            near = difflib.get_close_matches(name, _keys(), n=1)
            hint = f"Did you mean {near[0]}?" if near else "See the options of `hfl-plan recommend --help`."
            raise TypeError(f"{name!a:.60} is not an option. {hint}")
        key = _keys()[name]
        if value is None:
            continue
        if key in spoken:
            raise TypeError(f"{name}: {spoken[key][0]} says the same. Give one of the two.")
        spoken[key] = (name, _plain(value))
    if isinstance(config, Mapping):
        tables = {key: (key, value) for key, value in _leaves(config) if key not in spoken}
        return load(None, tables | spoken)
    return load(None if config is None else Path(config), spoken)


def recommend(
    config: Config | Scenario | None = None, settings: Mapping[str, Any] | None = None, **options: Any
) -> Recommendation:
    """Rank the topologies for a scenario: what ``hfl-plan recommend`` answers, as a value.

    Args:
        config: a scenario, a TOML file, or the tables of one.
        settings: see `load_scenario`.
        options: see `load_scenario`.

    Raises:
        TypeError: for an option there is not, or options beside a scenario that is made already.
        ScenarioError: for what is no scenario.
        NoAnswerError: if no topology reaches the target.
    """
    from planner.decide.rank import recommend as answer

    if isinstance(config, Scenario):
        if settings or options:
            raise TypeError("a scenario takes no options. Make it anew with planner.load_scenario(...).")
        return answer(config)
    return answer(load_scenario(config, settings, **options))


@cache
def _keys() -> dict[str, str]:
    """The key of a scenario, by every name that its option has."""
    from planner.cli.scenario_options import keys

    return {spelling.lstrip("-").replace("-", "_"): key for spelling, key in keys().items()}


def _plain(value: Any) -> Any:
    """A value as a scenario file may have it: paths as text, numpy's numbers as Python's."""
    if isinstance(value, Path):
        return str(value)
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


def _leaves(table: Mapping[str, Any], at: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        path = f"{at}.{key}" if at else str(key)
        found += _leaves(value, path) if isinstance(value, Mapping) else [(path, _plain(value))]
    return found
