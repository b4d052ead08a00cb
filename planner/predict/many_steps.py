"""How much less a round is worth where clients take many local steps, than it is to clients that share their curvature.

Such clients do not drift apart, and predicted rounds fall nearly as steps grow. On record they fall less, and a ring
through clients or groups that differ loses less to each of them than is predicted. From `FROM` local steps of a client
in a global round on, rounds of a tree of one or two tiers are those predicted times a power of the steps over `FROM`,
before a power of what they gain over stars is taken.
The powers are of stars alone, where data are alike and where they differ, and beside theirs of every other topology,
where clients in a group differ, groups do, both or neither; between these they are interpolated. They come from runs
on real data (``planner/data/many_steps.csv``, written by ``benchmarks/many_steps.py``, which also says how they do on
problems that they are not from).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hflbounds.topology import all_topologies
from planner.data.heterogeneity import DIFFER
from planner.predict.evidence import table

if TYPE_CHECKING:
    from planner.predict.question import Question

Array = npt.NDArray[np.float64]
Powers = Mapping[tuple[bool, str], Array]
"""By whether it is known how deviations fade, and topology: where groups are alike and differ (rows), and clients."""

FILE = "many_steps.csv"
FROM, UNTIL = 12.0, 50.0  # more were not run, and change nothing more
WIDTH = 3.0  # times or over an edge of `DIFFER`, between which alike turns into different
STARS, *_, RINGS = all_topologies(2)


@cache
def powers() -> Powers:
    """Those that come with the package."""
    found: dict[tuple[bool, str], Array] = {}
    for row in table(FILE):
        each = found.setdefault((row["fading"] == "1", row["topology"]), np.zeros((2, 2)))
        each[int(row["groups_differ"]), int(row["clients_differ"])] = float(row["power"])
    return found


def many(question: Question, values: Mapping[str, Any]) -> bool:
    """Whether a client takes so many local steps in a round that it makes a difference."""
    return len(question.symbols) <= len(DIFFER) and bool(np.any(_steps(question, values) > FROM))


def worth(question: Question, topology: str, values: Mapping[str, Any], known: Powers | None = None) -> Any:
    """How many of the rounds that are predicted one round is worth; 1 for few local steps."""
    if not many(question, values):
        return 1.0
    tiers = question.symbols
    told, fades = powers() if known is None else known, question.fading is not None
    *above, clients = (np.asarray(values[tier.deviation], dtype=float) for tier in tiers)
    groups = above[0] if above else np.zeros(())
    of_stars = told[fades, STARS]
    power = of_stars[0, 0] + _differ(np.hypot(clients, groups), values, DIFFER[0]) * (of_stars[1, 1] - of_stars[0, 0])
    alone = [np.asarray(values[tier.drawn]) == 1 for tier in tiers]  # of one child the pattern does not matter
    patterns = question.topologies[topology].patterns
    rings = [pattern.ordered & ~one for pattern, one in zip(patterns, alone, strict=True)]
    if _any(rings).any():
        named = topology if topology in all_topologies(2) else RINGS  # a ring alone is one of rings
        own, chain = (_at(told[fades, t], clients, groups, values) for t in (named, RINGS))
        power = power + np.where(_any(rings), np.where(_any(alone), chain, own), 0.0)
    return np.clip(_steps(question, values) / FROM, 1.0, UNTIL / FROM) ** -power


def _steps(question: Question, values: Mapping[str, Any]) -> Array:
    """Local steps of a client in a global round."""
    passes = math.prod(values[tier.passes] for tier in question.symbols if tier.passes)
    return np.asarray(passes * values["K"], dtype=float)


def _any(of_tiers: Sequence[npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_]:
    """Whether it is so of any tier."""
    return np.asarray(np.any(np.broadcast_arrays(*of_tiers), axis=0))


def _at(corners: Array, clients: Array, groups: Array, values: Mapping[str, Any]) -> Array:
    """The power where clients and groups differ so much."""
    u, v = _differ(clients, values, DIFFER[0]), _differ(groups, values, DIFFER[1])
    alike, differ = (row[0] + u * (row[1] - row[0]) for row in corners)
    return np.asarray(alike + v * (differ - alike))


def _differ(deviation: Any, values: Mapping[str, Any], edge: float) -> Array:
    """How far children differ, from 0 to 1, by the ratio of their deviation to the noise."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(np.asarray(deviation, dtype=float) / np.asarray(values["sigma"], dtype=float) / edge)
    return np.asarray(np.clip(np.nan_to_num(0.5 + ratio / (2 * math.log(WIDTH)), nan=0.0), 0.0, 1.0))
