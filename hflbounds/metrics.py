"""Left-hand sides: what a theorem bounds. Bounds on different metrics are never ranked together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """What is bounded.

    Attributes:
        id: permanent name.
        latex: how it is typeset.
        meaning: in words, with what it is not.
        dim: exponents of (loss, length).
    """

    id: str
    latex: str
    meaning: str
    dim: tuple[int, int]


MEAN_SQUARED_GRADIENT = Metric(
    "mean-squared-gradient",
    r"\frac1R\sum_{r=0}^{R-1}\mathbb{E}\|\nabla F(x^{(r)})\|^2",
    "squared gradient norm at a uniformly drawn global iterate x(0)..x(R-1); "
    "not the last iterate, not the loss, not the accuracy",
    (2, -2),
)
