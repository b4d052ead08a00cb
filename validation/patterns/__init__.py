"""How the children of one node are run: one file for each pattern of `hflbounds.topology`, found by scanning.

A pattern is executed twice. ``stacked`` moves many models at once and serves the engine and the ensembles; ``literal``
moves one point of any number type from child to child and is what these are checked against. Needs no torch.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Protocol, TypeVar

from hflbounds.topology import Pattern

Models = TypeVar("Models")
Call = Callable[[Models, Any], Models]


class Vector(Protocol):
    """What a point must be able to do: make linear combinations of points."""

    def __add__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...


Point = TypeVar("Point", bound=Vector)


class Stack(Protocol[Models]):
    """What can be done to models that are stacked side by side."""

    def spread(self, models: Models, copies: int, /) -> Models:
        """Every model so many times, next to itself."""

    def average(self, models: Models, members: int, /) -> Models:
        """Means of so many neighbours."""


class Weighted(Stack[Models], Protocol[Models]):
    """The same, where members do not count alike."""

    def weighted(self, models: Models, weights: Any, /) -> Models:
        """Means of neighbours by weights, shape (nodes, members)."""


class Execution(ABC):
    """One pass of a node over the children that take part in it.

    Attributes:
        pattern: Id of the pattern.
    """

    pattern: ClassVar[str]

    @abstractmethod
    def stacked(
        self, models: Models, children: Any, call: Call[Models], on: Stack[Models], weights: Any = None
    ) -> Models:
        """Run a pass of many nodes at once.

        Args:
            models: One of each node, stacked.
            children: Numbers of the children of each node, in the order they take part in, shape (nodes, children).
            call: Runs children, given their models and numbers, both stacked.
            on: What can be done to stacked models.
            weights: Of the children in a mean, shape (nodes, children), where they do not count alike; ``on`` is then
                `Weighted`.
        """

    @abstractmethod
    def literal(
        self,
        x: Point,
        children: Sequence[int],
        call: Callable[[int, Point], Point],
        weights: Sequence[Any] | None = None,
    ) -> Point:
        """Run a pass of one node.

        Args:
            x: Its model.
            children: In their order.
            call: Runs one of them.
            weights: Of the children in a mean; None for all alike.
        """


@cache
def _executions() -> Mapping[str, Execution]:
    found = (importlib.import_module(f"{__name__}.{info.name}").EXECUTION for info in pkgutil.iter_modules(__path__))
    return {one.pattern: one for one in found}


def execution(pattern: Pattern) -> Execution:
    """Look up how a pattern is run.

    Raises:
        NotImplementedError: If no file here says how.
    """
    found = _executions().get(pattern.id)
    if found is None:
        raise NotImplementedError(
            f"the pattern {pattern.id!r} cannot be run: say how in a file of {__name__}; known are "
            f"{', '.join(sorted(_executions()))}."
        )
    return found
