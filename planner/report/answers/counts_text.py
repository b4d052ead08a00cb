"""What the answers of ``hfl-plan measure`` and ``hfl-plan group`` share: options read, and text written."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from planner.errors import ScenarioError


def one_of(option: str, given: str, known: Sequence[str]) -> None:
    """Refuse a word that is none of those known.

    Raises:
        ScenarioError: with the nearest one.
    """
    if given not in known:
        near = difflib.get_close_matches(given, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Write one of {', '.join(known)}."
        raise ScenarioError(f"{option}: {given!a:.60} is not one of {', '.join(known)}. {hint}")


def positive(option: str, text: str) -> float:
    """A number that an option gave as text.

    Raises:
        ScenarioError: where it is none, or is not positive.
    """
    good = re.fullmatch(r"[0-9.]{1,40}([eE][+-]?[0-9]{1,3})?", text.strip())
    try:
        value = float(text) if good else math.nan
    except ValueError:
        value = math.nan
    if not 1e-50 <= value <= 1e50:
        raise ScenarioError(f"{option}: {text!a:.40} is not a number from 1e-50 to 1e50. Write {option} 0.5.")
    return value


def finite(number: Any) -> Any:
    """The number, or None where there is none that JSON knows."""
    return float(number) if number is not None and math.isfinite(number) else None


def counted(number: int, noun: str) -> str:
    """``1 group``, ``2 groups``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def short(name: str) -> str:
    """A name that is cut where it is long."""
    return name if len(name) <= 40 else name[:37] + "..."


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with texts below each other."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.ljust(w) for text, w in zip(row, wide, strict=True)).rstrip() for row in rows]


def caveats(warnings: Sequence[str]) -> list[str]:
    """The lines of a list of warnings; none where there are none."""
    return ["Warnings", *(f"  {text}" for text in warnings)] if warnings else []


def document_text(document: Mapping[str, Any]) -> str:
    """JSON."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"
