"""The rounds after which a convergence bound guarantees the target, at the step that makes the bound smallest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner.predict.predictors.base import Predictor

if TYPE_CHECKING:
    from planner.predict.question import Question


class _Bound(Predictor):
    id = "bound"
    says = "after which the bound guarantees the target"
    guarantees = True
    monotone = True
    cheap = True

    def reached(self, question: Question, topology: str, rounds: Any, values: Mapping[str, Any]) -> Any:
        told = {**question.of_bounds(topology, values), "R": rounds}
        return question.bounds[topology].tuned(cap=question.cap, **told).value

    def rounds_to(self, question: Question, topology: str, target: Any, values: Mapping[str, Any]) -> Any:
        return question.bounds[topology].rounds_to(target, cap=question.cap, **question.of_bounds(topology, values))

    def rate(self, question: Question, topology: str, rounds: float) -> float | None:
        tuned = question.best_bound(topology, rounds)
        return None if tuned is None or tuned.eta_eff is None else float(tuned.eta_eff)


PREDICTOR = _Bound()
