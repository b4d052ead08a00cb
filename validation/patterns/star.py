"""A star: every child starts from the node's model, and the node takes the mean of what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from validation.patterns import Call, Execution, Models, Point, Stack


class Star(Execution):
    """The children side by side."""

    pattern = "star"

    def stacked(self, models: Models, children: Any, call: Call[Models], on: Stack[Models]) -> Models:
        """One call for all children."""
        count = children.shape[-1]
        return on.average(call(on.spread(models, count), children.reshape(-1)), count)

    def literal(self, x: Point, children: Sequence[int], call: Callable[[int, Point], Point]) -> Point:
        """Each child from ``x``; the sum of what they return over their number."""
        returned = [call(child, x) for child in children]
        return cast(Point, sum(returned[1:], start=returned[0]) / len(returned))


EXECUTION = Star()
