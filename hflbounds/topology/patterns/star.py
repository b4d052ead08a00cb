"""A star: the children start from the same model, side by side, and the node takes the mean of what they return."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hflbounds.topology.maps import Array, Composition, LinearMap
from hflbounds.topology.patterns import Model, Pattern, mean_square

NOTHING = -1e300  # in place of the logarithm of 0


class Star(Pattern):
    """All children from the same model, then the mean."""

    id = "star"
    title = "Star"
    letter = "S"
    meaning = "{children} in parallel"
    rank = 0
    ordered = False
    by_share = True

    def chain(self, children: Any) -> Any:
        """One: the children's steps do not follow each other."""
        return 1

    def side_by_side(self, children: Any) -> Any:
        """All of them."""
        return children

    def fixed_gap(self, children: Any, chain: Any) -> Any:
        """Complete passes cancel; within a call the gap of one child is added up: the mean of ``j^2``, attained."""
        return mean_square(chain)

    def drawn_gap(self, children: Any, drawn: Any, chain: Any) -> tuple[Any, Any]:
        """Both are the mean of ``j^2`` over the steps of one child."""
        return mean_square(chain), mean_square(chain)

    def compose(self, call: LinearMap, children: int) -> Composition:
        """Mean of equal maps: each call enters with the weight ``1/children``."""
        return Composition(call, np.ones(1), np.full(1, 1 / children))

    def mean(self, calls: Sequence[LinearMap], shares: Array) -> LinearMap:
        """The arithmetic mean."""
        # A factor too small for a float is a zero that keeps its sign.
        logs, signs = np.array([one.log_size for one in calls]), np.copysign(1.0, [one.factor for one in calls])
        weights = np.asarray(shares).reshape(-1, *[1] * (logs.ndim - 1))
        top = np.maximum(logs.max(axis=0), NOTHING)
        sum_ = (weights * signs * np.exp(logs - top)).sum(axis=0)
        log_size = top + np.log(np.abs(sum_))
        near = (signs > 0).all(axis=0) & (log_size > -0.5)  # where digits would be lost
        log_size = np.where(near, np.log1p((weights * np.expm1(np.where(near, logs, 0.0))).sum(axis=0)), log_size)
        return LinearMap(np.sign(sum_) * np.exp(log_size), log_size)

    def lean(self, mean: LinearMap, call: LinearMap, children: int) -> tuple[Any, Any]:
        """The same."""
        return 1.0, 1.0

    def uneven(self, call: LinearMap, children: int) -> tuple[Array, Array]:
        """All weights are equal."""
        return np.zeros(1), np.full(1, 1 / children**2)

    def go(
        self,
        model: Model,
        children: Sequence[int],
        call: Callable[[int, int, Model], Model],
        mean: Callable[[Sequence[Model]], Model],
    ) -> Model:
        """The mean of what the children make of the same model."""
        return mean([call(child, place, model) for place, child in enumerate(children)])


PATTERN = Star()
