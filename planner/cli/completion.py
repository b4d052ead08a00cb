"""Values that a shell completes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module


def of_words(words: Iterable[object]) -> Callable[[str], list[str]] | None:
    """Complete one of several words; None where there are none."""
    known = [str(word) for word in words]
    return (lambda incomplete: [word for word in known if word.startswith(incomplete)]) if known else None


def _of(module: str, *functions: str) -> Callable[[str], list[str]]:
    """Complete what functions of a module list, by name; it is imported when it is asked."""

    def complete(incomplete: str) -> list[str]:
        listed = [getattr(import_module(module), function)() for function in functions]
        names = [str(getattr(one, "id", one)) for each in listed for one in each]
        return [name for name in names if name.lower().startswith(incomplete.lower())]

    return complete


formats = _of("planner.report.render", "formats")
bounds = _of("hflbounds", "families", "catalogue")
pictures = _of("planner.plot.draw", "kinds")
claims = _of("planner.harness.claims", "listed")
codes = _of("planner.io.codes", "read")
