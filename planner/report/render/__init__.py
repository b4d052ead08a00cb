"""One file per output format; a format is there because its file is. Each has ``render``.

``render(recommendation, width, color)`` returns the text; formats without lines or colours ignore the last two.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from planner.decide.recommendation import Recommendation


@cache
def formats() -> tuple[str, ...]:
    """The names of the formats."""
    return tuple(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))


def render(name: str, recommendation: Recommendation, *, width: int = 100, color: bool = False) -> str:
    """The recommendation in one format."""
    module = importlib.import_module(f"{__name__}.{name}")
    text: str = module.render(recommendation, width=width, color=color)
    return text
