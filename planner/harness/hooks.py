"""Hooks, the files in which users name a model and data, run on this side of the door."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from planner.errors import ScenarioError

if TYPE_CHECKING:
    from validation.hook import Hook


class Handed(NamedTuple):
    """What a program hands over in place of a hook."""

    model: Any  # where training starts
    clients: Any  # ``(group, X, y)`` of every client
    loss: Callable[[Any, Any], Any] | None  # of outputs and targets; None for the usual one
    test: tuple[Any, Any] | None  # inputs and labels that nobody trains on; None where there are none


@contextmanager
def refused() -> Iterator[None]:
    """Pass on what is no hook as misuse.

    Raises:
        ScenarioError: For every file that is none, or fails.
    """
    from validation.hook import HookError

    try:
        yield
    except HookError as error:
        code = "E030" if "cannot be read" in str(error) else None
        raise ScenarioError(str(error), code=code) from None


def run(hook: Path, text: bytes, seed: int) -> Hook:
    """Run a hook with everything seeded that it may draw from."""
    from validation import hook as hooks
    from validation.client_losses import seeded

    seeded(seed)
    return hooks.run(hook, text)
