"""Constants of a torch model and partitioned data, measured along a short run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from planner.harness import refusals

if TYPE_CHECKING:
    from validation.client_losses import Partitioned
    from validation.estimate import Estimated
    from validation.statistics import Interval

__all__ = ["Estimated", "Interval", "Partitioned", "measured", "seed_torch"]


def seed_torch(seed: int) -> None:
    """Seed what a user's own code may draw from."""
    from validation.client_losses import seeded

    seeded(seed)


def measured(
    where: str, model: Any, clients: Any, loss: Callable[..., Any] | None, *, batch: int, **how: Any
) -> tuple[Partitioned, Estimated]:
    """Measure the constants of a model on the data of clients.

    Args:
        where: Opens the message of a refusal.
        model: A torch module.
        clients: Triples of a group, inputs and targets.
        loss: Of outputs and targets; None for the usual one.
        batch: Samples of a mini-batch.
        how: As of `validation.estimate.estimate`.

    Raises:
        NoAnswerError: If nothing can be measured.
    """
    from validation.client_losses import partitioned
    from validation.estimate import estimate

    with refusals(f"{where}: "):
        losses = partitioned(model, clients, loss, batch=batch)
        return losses, estimate(losses, nonnegative=loss is None, **how)
