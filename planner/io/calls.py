"""Calls of the functions of `planner` as text, by which a report says how to make its answer again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

LONGEST = 2000  # letters of a value that is written out


def call(name: str, placed: Iterable[Any] = (), given: Mapping[str, Any] | None = None) -> str:
    """Write a call; what is no plain value stands for itself in capitals.

    >>> call("recommend", ["phones.toml"], {"G": 4, "sigma": (0.5, 2), "uplink": None, "details": True})
    "planner.recommend('phones.toml', G=4, sigma=(0.5, 2), details=True)"
    """
    said = [
        *map(_said, placed),
        *(f"{key}={_said(value)}" for key, value in (given or {}).items() if value is not None),
    ]
    return f"planner.{name}({', '.join(said)})"


def plain(value: Any) -> Any:
    """Return a number of numpy as Python's, and anything else as it is."""
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


def _said(value: Any) -> str:
    if made := getattr(value, "call", ""):  # an answer, or a scenario, has its own
        return str(made)
    value, text = plain(value), ""
    if isinstance(value, Path):
        text = repr(str(value))
    elif isinstance(value, Mapping):
        text = f"{{{', '.join(f'{key!r}: {_said(inner)}' for key, inner in value.items())}}}"
    elif isinstance(value, list):
        text = f"[{', '.join(map(_said, value))}]"
    elif type(value) is tuple:
        text = f"({', '.join(map(_said, value))}{',' * (len(value) == 1)})"
    elif value is None or isinstance(value, bool | int | float | str | range):
        text = repr(value)
    return text if 0 < len(text) <= LONGEST else type(value).__name__.upper()
