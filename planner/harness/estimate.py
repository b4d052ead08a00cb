"""Constants of a torch model and partitioned data, measured along a short run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.harness import refusals
from planner.harness.hooks import opened

if TYPE_CHECKING:
    from validation.client_losses import Partitioned
    from validation.estimate import Estimated
    from validation.statistics import Interval

__all__ = ["Estimated", "Interval", "Partitioned", "measured"]


def measured(hook: Path, *, batch: int, seed: int, **how: Any) -> tuple[Partitioned, Estimated]:
    """Measure the constants of the model and the data of a hook.

    Raises:
        ScenarioError: For a file that is no hook.
        NoAnswerError: If nothing can be measured.
    """
    with opened(hook, "estimate", seed) as given, refusals(f"{hook}: "):
        from validation.client_losses import partitioned
        from validation.estimate import estimate

        losses = partitioned(given.model, given.clients, given.loss, batch=batch)
        return losses, estimate(losses, nonnegative=given.loss is None, seed=seed, **how)
