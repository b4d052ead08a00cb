"""From what a user knows to a ranked, explained, honest choice of topology.

>>> from planner.scenario import load
>>> from planner.recommend import recommend
>>> answer = recommend(load(options={"fleet.groups": ("G", 10), "fleet.clients_per_group": ("M", 10)}))
>>> answer.ranking[0].topology
'ring-ring'
"""

from functools import cache


@cache
def version() -> str:
    """The version of this package, as installed."""
    from importlib import metadata

    try:
        return metadata.version("hfl-plan")
    except metadata.PackageNotFoundError:
        return "0+unknown"
