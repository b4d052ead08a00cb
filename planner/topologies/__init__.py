"""One file per family of candidates; whatever `Topology` a file here declares is a candidate."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

Shape = Literal["star", "ring"]


@dataclass(frozen=True, slots=True)
class Topology:
    """A way of passing models between servers and clients.

    Attributes:
        id: as in the ids of bounds.
        title: as people write it.
        top: how the groups meet, in parallel or one after the other.
        low: how the clients of a group meet.
        meaning: in one line.
    """

    id: str
    title: str
    top: Shape
    low: Shape
    meaning: str


@cache
def topologies() -> Mapping[str, Topology]:
    """Every candidate, by id, in the order of the files and of their declarations."""
    found: dict[str, Topology] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for value in vars(module).values():
            if isinstance(value, Topology):
                found[value.id] = value
    return MappingProxyType(found)
