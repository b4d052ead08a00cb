"""A ring: each child starts where the one before it ended, and the node takes what the last one returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from validation.patterns import Call, Execution, Models, Point, Stack


class Ring(Execution):
    """The children one after the other."""

    pattern = "ring"

    def stacked(
        self, models: Models, children: Any, call: Call[Models], on: Stack[Models], weights: Any = None
    ) -> Models:
        """A call for the first child of every node, then for the second, and so on."""
        for turn in range(children.shape[-1]):
            models = call(models, children[:, turn])
        return models

    def literal(
        self,
        x: Point,
        children: Sequence[int],
        call: Callable[[int, Point], Point],
        weights: Sequence[Any] | None = None,
    ) -> Point:
        """Each child from what the one before it returned."""
        for child in children:
            x = call(child, x)
        return x


EXECUTION = Ring()
