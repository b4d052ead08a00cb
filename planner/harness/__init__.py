"""The one door to `validation`: what runs algorithms is asked here, and answers in the planner's own words.

Nothing of `validation` that needs torch is imported before it is used.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

from planner.errors import NoAnswerError


def need(command: str, *modules: str) -> None:
    """Refuse to go on where something that a command needs is not installed.

    Raises:
        NoAnswerError: With the way out.
    """
    if any(importlib.util.find_spec(module) is None for module in modules):
        raise NoAnswerError(f"{command}: {' or '.join(modules)} is not installed. Install hfl-plan[validation].")


@contextmanager
def refusals(where: str = "") -> Iterator[None]:
    """Pass on what `validation` refuses as no answer.

    Args:
        where: Opens the message.

    Raises:
        NoAnswerError: For every refusal.
    """
    from validation.engine import ValidationError

    try:
        yield
    except ValidationError as error:
        raise NoAnswerError(f"{where}{error}") from None
