"""Predictors of rounds: one file each, found by scanning this folder, or declared by other packages.

A predictor answers two questions about a topology: what its mean squared gradient, or another quantity, is after so
many rounds, and after how many rounds it is at a target. A bound answers with a guarantee, a model with what is
typical. To add one, write a subclass of `planner.predict.predictors.base.Predictor` and make an instance of it
``PREDICTOR`` in a file here, or name it by an entry point of the group ``hfl_plan.predictors`` in another package. See
docs/predictors.md.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from planner.errors import ScenarioError
from planner.io.text import one_of
from planner.io.version import entry_points
from planner.predict.evidence import rows_of
from planner.predict.predictors.base import SQUARED_GRADIENT, Predictor, Quantity, report_progress, watched
from planner.scenario.fields import METRIC, Metric

__all__ = [
    "GROUP", "SQUARED_GRADIENT", "Predictor", "Quantity", "best", "chosen", "guaranteed", "predictor", "predictors",
    "report_progress", "watched",
]  # fmt: skip

GROUP = "hfl_plan.predictors"  # of entry points, each an instance
RECORD = "metric_record.csv"  # how often each was right, by metric; written by benchmarks/predictor_record.py


@cache
def predictors() -> Mapping[str, Predictor]:
    """Every predictor, by id, those of this folder first.

    Raises:
        ScenarioError: If two have one id.
    """
    found: dict[str, Predictor] = {}
    for one in _declared():
        if one.id in found:
            raise ScenarioError(f"predictor {one.id}: two are called so. Remove one, or give it another id.")
        found[one.id] = one
    return MappingProxyType(found)


def predictor(name: str) -> Predictor:
    """Look a predictor up by its id."""
    return predictors()[one_of(name, tuple(predictors()), "--predictor")]


@cache
def best(metric: Metric) -> Predictor:
    """The predictor that was right most often by a metric, of those that know it; docs/predictors.md has the record."""
    knowing = {name: one for name, one in predictors().items() if metric in one.metrics}
    right = dict.fromkeys(knowing, 0.0)
    for row in rows_of(RECORD, metric=metric, goal="rounds", family="all"):
        if row["predictor"] in right:
            right[row["predictor"]] = int(row["right"]) / int(row["rows"])
    return knowing[max(right, key=lambda name: right[name])]


def chosen(name: str | None, metric: Metric | None) -> tuple[Predictor, Metric]:
    """Whose rounds are meant, and by which metric, where a user named one, both or neither.

    Raises:
        ScenarioError: If there is no such predictor, or it does not know the metric.
    """
    if name is None:
        return best(metric or METRIC), metric or METRIC
    found = predictor(name)
    if metric is None:
        return found, METRIC if METRIC in found.metrics else found.metrics[0]  # type: ignore[return-value]
    if metric not in found.metrics:
        raise ScenarioError(
            f"--metric {metric}: the predictor {name} knows {' and '.join(found.metrics)} alone. "
            "Leave --predictor, --bounds and --cap out, or the metric."
        )
    return found, metric


def guaranteed(name: str) -> bool:
    """Whether a theorem stands behind the rounds of the predictor of this id; False for one that is not here."""
    found = predictors().get(name)
    return found is not None and found.guarantees


def _declared() -> Iterator[Predictor]:
    for info in pkgutil.iter_modules(__path__):
        made = getattr(importlib.import_module(f"{__name__}.{info.name}"), "PREDICTOR", None)
        if made is not None:
            yield made
    for entry in entry_points(group=GROUP):
        yield entry.load()
