"""Predictors of rounds: one file each, found by scanning this folder.

A predictor answers two questions about a topology: what its mean squared gradient is after so many rounds, and after
how many rounds it is at a target. A bound answers with a guarantee, a model with what is typical. Each has a record of
how often its first choice was the best in measured runs, and of what following it cost; see docs/predictors.md.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from planner.predict.question import Question


class Predictor(Protocol):
    """What a topology needs, in a question whose values may be arrays.

    Attributes:
        id: as in ``--predictor``.
        says: what its rounds are, in a few words.
        monotone: whether rounds never fall as sigma, zeta or delta grow, nor grow with the target.
        metrics: what it can predict about; a target is a squared gradient for all of them.
    """

    id: str
    says: str
    monotone: bool
    metrics: tuple[str, ...]

    def start(self, values: Mapping[str, Any]) -> Any:
        """The mean squared gradient before the first round, which a share of it is of."""

    def reached(self, question: Question, topology: str, rounds: Any, values: Mapping[str, Any]) -> Any:
        """The mean squared gradient over so many rounds, at the best learning rate."""

    def rounds_to(self, question: Question, topology: str, target: Any, values: Mapping[str, Any]) -> Any:
        """The first whole number of rounds at which it is at most the target; infinite where there is none."""

    def rate(self, question: Question, topology: str, rounds: float) -> float | None:
        """The best effective learning rate for so many rounds: where to start a search; None if it names none."""


@cache
def predictors() -> Mapping[str, Predictor]:
    """Every predictor, by id."""
    found: dict[str, Predictor] = {}
    for info in pkgutil.iter_modules(__path__):
        made = getattr(importlib.import_module(f"{__name__}.{info.name}"), "PREDICTOR", None)
        if made is not None:
            found[made.id] = made
    return MappingProxyType(found)
