"""A ring: the model passes from child to child, and the node takes what the last one returns."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hflbounds.topology.maps import Array, Composition, LinearMap
from hflbounds.topology.patterns import Model, Pattern, mean_square, sine


class Ring(Pattern):
    """The children one after the other on the same model."""

    id = "ring"
    title = "Ring"
    letter = "R"
    meaning = "the model passed from {child} to {child}"
    rank = 1
    ordered = True
    by_share = False

    def chain(self, children: Any) -> Any:
        """All of them."""
        return children

    def side_by_side(self, children: Any) -> Any:
        """One."""
        return 1

    def fixed_gap(self, children: Any, chain: Any) -> Any:
        """Largest partial sums of gaps that add up to zero follow a sine: the inverse least eigenvalue of a path."""
        return chain**2 / (4 * sine(children) ** 2) - (chain**2 - 1) / 6

    def drawn_gap(self, children: Any, drawn: Any, chain: Any) -> tuple[Any, Any]:
        """Weights of a draw without replacement: ``E |sum w v|^2 = (n sum w^2 - (sum w)^2)/(n - 1)``."""
        position = mean_square(drawn * chain)
        if drawn == children:
            return (children * chain**2 + 1) / 6, position
        squares = (drawn - 1) * chain**2 / 2 + mean_square(chain)
        return (children * squares - position) / (children - 1), position

    def compose(self, call: LinearMap, children: int) -> Composition:
        """Product of the maps: call i of n enters with the weight ``factor^(n - i)``."""
        return call.repeated(children)

    def mean(self, calls: Sequence[LinearMap], shares: Array) -> LinearMap:
        """The geometric mean of the sizes; it turns a deviation round where all calls do."""
        log_size = np.asarray(sum(share * one.log_size for share, one in zip(shares, calls, strict=True)))
        negative = np.all([np.signbit(one.factor) for one in calls], axis=0)
        return LinearMap(np.where(negative, -1.0, 1.0) * np.exp(log_size), log_size)

    def lean(self, mean: LinearMap, call: LinearMap, children: int) -> tuple[Any, Any]:
        """Those after it are of the others, whose mean map differs from that of all by its own."""
        if children == 1:
            return 1.0, 1.0
        known = np.isfinite(call.log_size)
        log_size = mean.log_size + np.where(known, mean.log_size - call.log_size, 0.0) / (children - 1)
        others = LinearMap(np.copysign(np.exp(log_size), mean.factor), log_size)
        usual, own = mean.repeated(children), others.repeated(children)
        return own.total / usual.total, own.squares / usual.squares

    def uneven(self, call: LinearMap, children: int) -> tuple[Array, Array]:
        """Weights are the powers of the factor; the last child's is 1."""
        return call.spread(children), np.ones_like(call.factor)

    def go(
        self,
        model: Model,
        children: Sequence[int],
        call: Callable[[int, int, Model], Model],
        mean: Callable[[Sequence[Model]], Model],
    ) -> Model:
        """Each child from what the one before it made."""
        for place, child in enumerate(children):
            model = call(child, place, model)
        return model


PATTERN = Ring()
