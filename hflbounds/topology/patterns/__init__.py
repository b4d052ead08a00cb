"""Patterns in which the children of a node work: one file each, found by scanning this folder.

A pattern declares its algebra here, its schedule and traffic in `planner.cost.patterns`, and its execution in
`validation.patterns`; ``tests/test_house.py`` checks for every declared pattern that these agree.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, singledispatch
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from hflbounds.topology.maps import Array, Composition, LinearMap

Model = TypeVar("Model")


class Pattern(ABC):
    """The way in which the children of one node take part in one pass. Every pattern of one child is the same.

    Attributes:
        id: Word in ids, scenarios and options.
        title: Name in prose.
        letter: Capital letter in tables of trees.
        meaning: What the children do, in a few words, with ``{child}`` or ``{children}`` where their name stands.
        rank: Place among the patterns; the first stands for all of them where a node has one child.
        ordered: Whether the order of the children matters.
        by_share: Whether children count by their shares where these differ; else each counts alike.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    letter: ClassVar[str]
    meaning: ClassVar[str]
    rank: ClassVar[int]
    ordered: ClassVar[bool]
    by_share: ClassVar[bool]

    @abstractmethod
    def chain(self, children: Any) -> Any:
        """Count the children whose local steps one pass chains one after the other."""

    @abstractmethod
    def side_by_side(self, children: Any) -> Any:
        """Count the children that work at the same time."""

    def earlier(self, children: Any) -> Any:
        """Mean number of children whose calls precede a child's in a pass."""
        return (self.chain(children) - 1) * Fraction(1, 2)

    @abstractmethod
    def fixed_gap(self, children: Any, chain: Any) -> Any:
        """Bound the mean square of the children's gaps summed up to a step, all in a fixed order.

        The numbers may be whole numbers, fractions or formulas; so may those of the other sums.

        Args:
            children: Children of the node, all of which take part.
            chain: Local steps that one call of a child chains.

        Returns:
            The sharp constant before the mean square of the gaps, which add up to zero.

        Source: docs/theory/any-depth.md, section 4.
        """

    @abstractmethod
    def drawn_gap(self, children: Any, drawn: Any, chain: Any) -> tuple[Any, Any]:
        """Give the same sum for a draw in uniformly random order: its mean square, and that of the whole draw's mean.

        Args:
            children: Children of the node, 2 or more.
            drawn: Those that take part.
            chain: Local steps that one call of a child chains.

        Returns:
            Constants before the mean square of the gaps: of the sum in the current pass, and of the step's position.

        Source: docs/theory/any-depth.md, section 4.
        """

    @abstractmethod
    def compose(self, call: LinearMap, children: int) -> Composition:
        """Compose the children's calls, each a ``call``, into one pass."""

    @abstractmethod
    def mean(self, calls: Sequence[LinearMap], shares: Array) -> LinearMap:
        """Find the call of which as many make the same pass as children whose calls differ, given the share of each."""

    @abstractmethod
    def lean(self, mean: LinearMap, call: LinearMap, children: int) -> tuple[Any, Any]:
        """Weigh a child at a random place against one whose call is the `mean`: in the mean, and in the mean square."""

    @abstractmethod
    def uneven(self, call: LinearMap, children: int) -> tuple[Array, Array]:
        """Say how unevenly what each call adds enters the result of one pass.

        Args:
            call: Of a child; of a size below 1.
            children: Those that take part.

        Returns:
            The sum of the squared deviations of the weights from their mean, and the largest square of a weight.
        """

    @abstractmethod
    def go(
        self,
        model: Model,
        children: Sequence[int],
        call: Callable[[int, int, Model], Model],
        mean: Callable[[Sequence[Model]], Model],
    ) -> Model:
        """Make one pass.

        Args:
            model: What the node starts from, of any kind.
            children: Those that take part, in their order.
            call: What a child, at its place in the pass, makes of a model.
            mean: Of models.
        """

    def __repr__(self) -> str:
        return f"<pattern {self.id}>"

    def __reduce__(self) -> tuple[Callable[[str], Pattern], tuple[str]]:
        """Stay the one object of its id in another process, so that topologies compare."""
        return pattern, (self.id,)


def mean_square(count: Any) -> Any:
    """Mean of ``j^2`` over ``j = 0 .. count - 1``."""
    return (count - 1) * (2 * count - 1) / 6


@singledispatch
def sine(parts: Any) -> Any:
    """Sine of a right angle divided by ``parts``; formulas have their own."""
    return math.sin(math.pi / (2 * parts))


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
