"""From what a user knows to a ranked, explained, honest choice of topology.

>>> import planner
>>> plan = planner.recommend(G=10, M=10, heterogeneity="inter", predictor="bound")
>>> plan.ranking[0].topology
'ring-ring'

`planner.load_scenario` reads a scenario once, `planner.Recommendation` is what comes out: a value that can be saved,
loaded and compared. Whatever is refused is a `planner.PlannerError`. Importing this imports next to nothing.
"""

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.api import load_scenario as load_scenario
    from planner.api import recommend as recommend
    from planner.decide.recommendation import Recommendation as Recommendation
    from planner.errors import NoAnswerError as NoAnswerError
    from planner.errors import PlannerError as PlannerError
    from planner.errors import ScenarioError as ScenarioError
    from planner.scenario.resolve import Scenario as Scenario

_PLACES = {  # where what stands here is, by its name
    "NoAnswerError": "errors",
    "PlannerError": "errors",
    "Recommendation": "decide.recommendation",
    "Scenario": "scenario.resolve",
    "ScenarioError": "errors",
    "load_scenario": "api",
    "recommend": "api",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for."""
    if name in _PLACES:
        return getattr(importlib.import_module(f"planner.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'planner' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})


@cache
def version() -> str:
    """The version of this package, as installed."""
    from importlib import metadata

    try:
        return metadata.version("hfl-plan")
    except metadata.PackageNotFoundError:
        return "0+unknown"
