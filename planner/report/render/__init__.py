"""One file per output format; a format is there because its file is. Each has ``render`` and ``SUFFIX``.

``render(document, width, color)`` returns the text of any document, escaped as the format needs it; formats without
lines or colours ignore the last two.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from planner.report.document import Document


@cache
def formats() -> tuple[str, ...]:
    """Return the names of the formats."""
    return tuple(info.name for info in pkgutil.iter_modules(__path__))


@cache
def suffixes() -> dict[str, str]:
    """Map the suffixes of files to their formats."""
    return {importlib.import_module(f"{__name__}.{name}").SUFFIX: name for name in formats()}


def render(name: str, document: Document, *, width: int = 100, color: bool = False) -> str:
    """Render a document in a format, for so many columns, with colours where somebody looks."""
    text: str = importlib.import_module(f"{__name__}.{name}").render(document, width=width, color=color)
    return text
