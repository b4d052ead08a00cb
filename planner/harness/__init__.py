"""The one door to `validation`: what runs algorithms is asked here, and answers in the planner's own words.

Nothing of `validation` that needs torch is imported before it is used.
"""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from planner.errors import NoAnswerError, ScenarioError

TERMINATED = 128 + signal.SIGTERM  # exit code of a run that was told to end


def need(command: str, *modules: str) -> None:
    """Refuse to go on where something that a command needs is not installed.

    Raises:
        NoAnswerError: With the way out.
    """
    if any(importlib.util.find_spec(module) is None for module in modules):
        from hflbounds.extras import install

        raise NoAnswerError(
            f"{command}: {' or '.join(modules)} is not installed. Run {install('validation')}.", code="N004"
        )


@contextmanager
def refusals(where: str = "") -> Iterator[None]:
    """Pass on what `validation` refuses.

    ``where`` opens the message.

    Raises:
        NoAnswerError: For every other refusal.
    """
    from validation.engine import UnknownChoiceError, ValidationError

    try:
        yield
    except UnknownChoiceError as error:
        raise ScenarioError(f"{where}{error}") from None
    except ValidationError as error:
        raise NoAnswerError(f"{where}{error}") from None


@contextmanager
def stoppable(way: str) -> Iterator[None]:
    """Where a run is stopped, give its claims back and say how to go on; the exit code is that of the signal.

    ``way`` says how to go on; it is empty where nothing is kept.

    Raises:
        SystemExit: If it is told to end.
    """

    def end(number: int, frame: object) -> NoReturn:
        raise SystemExit(TERMINATED)

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:  # not the main thread: whoever is there looks after signals
        yield
        return
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if sys.stderr is not None and way:
            sys.stderr.write(f"hfl-plan: stopped; what is finished is kept. {way[:1].upper()}{way[1:]}.\n")
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
