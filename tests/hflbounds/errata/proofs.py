"""Which erratum a test proves; `test_errata.py` asks that none is left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Test = TypeVar("Test", bound=Callable[..., object])
PROVED: set[str] = set()


def proves(*ids: str) -> Callable[[Test], Test]:
    """Mark a test as one that fails if these errata were wrong.

    Errata that differ in their topology only may be named once, by the id without it.
    """
    PROVED.update(ids)

    def keep(test: Test) -> Test:
        return test

    return keep
