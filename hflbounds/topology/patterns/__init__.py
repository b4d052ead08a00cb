"""Patterns in which the children of a node work: one file each, found by scanning this folder.

A pattern declares its algebra here, its schedule and traffic in `planner.cost.round.patterns`, and its execution in
`validation.patterns`; ``tests/test_house.py`` checks for every declared pattern that these agree.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import ClassVar

from hflbounds.topology.maps import Composition, LinearMap


class Pattern(ABC):
    """The way in which the children of one node take part in one pass. Every pattern of one child is the same.

    Attributes:
        id: Word in ids, scenarios and options.
        title: Name in prose.
        letter: Capital letter in tables of trees.
        meaning: What the children do, in a few words, with ``{child}`` where their name stands.
        rank: Place among the patterns; the first stands for all of them where a node has one child.
        ordered: Whether the order of the children matters.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    letter: ClassVar[str]
    meaning: ClassVar[str]
    rank: ClassVar[int]
    ordered: ClassVar[bool]

    @abstractmethod
    def chain(self, children: int) -> int:
        """Count the children whose local steps one pass chains one after the other."""

    def side_by_side(self, children: int) -> int:
        """Count the children that work at the same time."""
        return children // self.chain(children)

    @abstractmethod
    def compose(self, call: LinearMap, children: int) -> Composition:
        """Compose the children's calls, each a ``call``, into one pass."""

    def __repr__(self) -> str:
        return f"<pattern {self.id}>"

    def __reduce__(self) -> tuple[Callable[[str], Pattern], tuple[str]]:
        """Stay the one object of its id in another process, so that topologies compare."""
        return pattern, (self.id,)


@cache
def patterns() -> Mapping[str, Pattern]:
    """Every declared pattern, by id, in the order of their ranks."""
    found = []
    for info in pkgutil.iter_modules(__path__):
        declared = getattr(importlib.import_module(f"{__name__}.{info.name}"), "PATTERN", None)
        if declared is not None:
            found.append(declared)
    return MappingProxyType({one.id: one for one in sorted(found, key=lambda one: one.rank)})


def pattern(name: str) -> Pattern:
    """Look a pattern up by its id.

    Raises:
        KeyError: If no pattern has it.
    """
    return patterns()[name]
