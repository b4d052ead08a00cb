"""By what claims are judged: the squared gradient of the theorems, the loss, and the test error.

A claim names its own metric. By another one its plan is run again as it stands, on traces in which every quantity is
that of the other metric: its rates are chosen by it, and its comparisons are of it.
"""

from __future__ import annotations

from typing import Literal

import torch

from validation.engine import Trace, ValidationError

Metric = Literal["gradient", "loss", "accuracy", "distance"]
METRICS: tuple[Metric, ...] = ("gradient", "loss", "accuracy")  # what any claim may be judged by
RECORDED = {"gradient": ("gradient",), "loss": ("gap", "loss"), "accuracy": ("error",)}  # the first that there is
LEAST = 1 / 900  # what no error at all counts as: a third of a test sample of the digits


class UnmeasuredError(ValidationError):
    """The runs do not have the quantity."""


def translated(trace: Trace, metric: Metric) -> Trace:
    """What a claim of another metric sees of a trace.

    Args:
        trace: as it was measured.
        metric: ``gradient``, the squared gradient, averaged over the rounds where that was measured, else of the last
            one; ``loss``, of the last one, above its minimum where that is known; ``accuracy``, the test error of the
            last one.

    Returns:
        a trace whose quantities are all this one, values and averages.

    Raises:
        UnmeasuredError: if the runs did not measure it.
    """
    tables = (trace.averages, trace.values) if metric == "gradient" else (trace.values,)
    known = [table[name] for table in tables for name in RECORDED[metric] if name in table]
    if not known:
        raise UnmeasuredError(f"its runs do not measure the {metric}.")
    found = known[0].clamp(min=LEAST) if metric == "accuracy" else known[0]
    every: dict[str, torch.Tensor] = {name: found for names in RECORDED.values() for name in names}
    return Trace(trace.rounds, every, every)
