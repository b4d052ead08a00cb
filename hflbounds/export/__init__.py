"""Bounds for other programs: one file per format; a format is there because its file is.

Each file has ``render(statements, style)``, which returns the text, ``TAKES``, the parts of a `Style` that it heeds,
and ``SUFFIX`` of the files that it is for.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache

from hflbounds.core.bound import Bound
from hflbounds.errors import FormatError
from hflbounds.typeset.statement import Statement, Style

__all__ = ["Statement", "Style", "formats", "render", "suffixes", "takes"]


@cache
def formats() -> tuple[str, ...]:
    """The names of the formats."""
    return tuple(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))


def suffixes() -> dict[str, str]:
    """Map the suffixes of files to their formats."""
    return {importlib.import_module(f"{__name__}.{name}").SUFFIX: name for name in formats()}


def takes(name: str) -> frozenset[str]:
    """The parts of a `Style` that a format heeds."""
    return frozenset(importlib.import_module(f"{__name__}.{name}").TAKES)


def render(name: str, bounds: Bound | Iterable[Bound], style: Style | None = None) -> str:
    """Bounds in one format.

    Args:
        name: one of `formats`.
        bounds: one or more.
        style: letters, numbers and layout; a format heeds what it `takes`.

    Raises:
        FormatError: for a format that there is not, or a label for several bounds.
        TypeError, DomainError, ConditionError: as of calling the bounds with the style's values.

    >>> from hflbounds import get
    >>> print(render("mathtext", get("zhou2026.cor1.ring-ring")).splitlines()[0])
    # zhou2026.cor1.ring-ring: ring-ring, fixed order, full participation, rate at the tuned step
    """
    if name not in formats():
        raise FormatError(f"{name!r} is not one of {', '.join(formats())}")
    style = style or Style()
    chosen = (bounds,) if isinstance(bounds, Bound) else tuple(bounds)
    if style.label is not None and len(chosen) != 1:
        raise FormatError(f"one label cannot name {len(chosen)} equations; without it each has its own id")
    module = importlib.import_module(f"{__name__}.{name}")
    heeded = Style(**{option: getattr(style, option) for option in module.TAKES})
    text: str = module.render([Statement(bound, heeded) for bound in chosen], heeded)
    return text
