"""A star: every child starts from the node's model, and the node takes the mean of what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from validation.patterns import Call, Execution, Models, Point, Stack, Weighted


class Star(Execution):
    """The children side by side."""

    pattern = "star"

    def stacked(
        self, models: Models, children: Any, call: Call[Models], on: Stack[Models], weights: Any = None
    ) -> Models:
        """One call for all children."""
        count = children.shape[-1]
        returned = call(on.spread(models, count), children.reshape(-1))
        return (
            on.average(returned, count) if weights is None else cast(Weighted[Models], on).weighted(returned, weights)
        )

    def literal(
        self,
        x: Point,
        children: Sequence[int],
        call: Callable[[int, Point], Point],
        weights: Sequence[Any] | None = None,
    ) -> Point:
        """Each child from ``x``; the sum of what they return over their number, or by weights."""
        returned = [call(child, x) for child in children]
        if weights is not None:
            by_weight = [weight * one for weight, one in zip(weights, returned, strict=True)]
            return cast(Point, sum(by_weight[1:], start=by_weight[0]))
        return cast(Point, sum(returned[1:], start=returned[0]) / len(returned))


EXECUTION = Star()
