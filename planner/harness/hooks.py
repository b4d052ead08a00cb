"""Hooks, in which users name a model and data, run on this side of the door; and constants measured with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from planner.errors import ScenarioError
from planner.harness import need, refusals

if TYPE_CHECKING:
    from validation.client_losses import Partitioned as Partitioned
    from validation.estimate import Estimated as Estimated
    from validation.hook import Hook
    from validation.statistics import Interval as Interval


class Handed(NamedTuple):
    """What a program hands over in place of a hook."""

    model: Any  # where training starts
    clients: Any  # ``(group, X, y)`` of every client
    loss: Callable[[Any, Any], Any] | None  # of outputs and targets; None for the usual one
    test: tuple[Any, Any] | None  # inputs and labels that nobody trains on; None where there are none


@contextmanager
def opened(hook: Path, command: str, seed: int) -> Iterator[Hook]:
    """Run a hook for a command, with everything seeded that it may draw from, and pass on what is none as misuse.

    Raises:
        ScenarioError: For every file that is no hook, or fails.
        NoAnswerError: If torch is not installed.
    """
    from validation import hook as hooks

    try:
        text = hooks.source(hook)
        need(command, "torch", "scipy")
        with hooks.running(hook):
            from validation.client_losses import seeded

            seeded(seed)
            yield hooks.run(hook, text)
    except hooks.HookError as error:
        code = "E030" if "cannot be read" in str(error) else None
        raise ScenarioError(str(error), code=code) from None


def measured(hook: Path | Handed, *, batch: int, seed: int, **how: Any) -> tuple[Partitioned, Estimated]:
    """Measure the constants of the model and the data of a hook, or of what is handed over in its place.

    Raises:
        ScenarioError: For a file that is no hook.
        NoAnswerError: If nothing can be measured.
    """
    if isinstance(hook, Handed):  # what opens a hook asks for these itself, after the file
        need("estimate", "torch", "scipy")
    where = "" if isinstance(hook, Handed) else f"{hook}: "
    with nullcontext(hook) if isinstance(hook, Handed) else opened(hook, "estimate", seed) as given, refusals(where):
        from validation.client_losses import partitioned
        from validation.estimate import estimate

        losses = partitioned(given.model, given.clients, given.loss, batch=batch)
        return losses, estimate(losses, nonnegative=given.loss is None, seed=seed, **how)
