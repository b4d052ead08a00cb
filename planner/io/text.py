"""Words and numbers that users write, in options and in files, read with one voice.

Every refusal is a `ScenarioError` that names the field, the value, the rule and, where there is one, the way out.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from planner.errors import ScenarioError
from planner.io import frames

NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
"""A decimal number; float() alone would also read nan, inf, 1_0 and digits of other scripts."""
LONGEST: Final = 40  # characters of a number


def suggest(word: object, known: Iterable[str]) -> str:
    """Return the known word that is nearest, as the sentence ``Did you mean time?``, or an empty text."""
    written = {one.lower(): one for one in known}
    near = difflib.get_close_matches(str(word)[:LONGEST].lower(), written, n=1)
    return f"Did you mean {written[near[0]]}?" if near else ""


def one_of(value: object, choices: Sequence[str], field: str) -> str:
    """Read one of several words.

    Raises:
        ScenarioError: If it is none of them; with the nearest, if one is near.
    """
    if isinstance(value, str) and value in choices:
        return value
    raise ScenarioError(
        f"{field}: {value!a:.60} is not one of {', '.join(choices)}. {suggest(value, choices) or 'Give one of them.'}",
        code="E020",
    )


def topology_id(word: str, known: Iterable[str], field: str) -> str:
    """Read the id of a topology, which may be written as its title, ``Ring-Star``, or as ``ring/star``.

    Raises:
        ScenarioError: If it is none of those known.
    """
    return one_of(word.strip().lower().replace("/", "-"), [*known], field)


def number(value: object, field: str, *, least: float = 1e-100, most: float = 1e100, zero: bool = False) -> float:
    """Read a positive number, or with ``zero`` also 0.

    Raises:
        ScenarioError: If it is no number from ``least`` to ``most``.
    """
    found = math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = math.inf if abs(value) > 1e300 else float(value)
    elif isinstance(value, str) and len(value) <= LONGEST and NUMBER.fullmatch(value.strip()):
        found = float(value)
    if least <= found <= most or (zero and found == 0 and math.copysign(1, found) > 0):
        return found
    rule = f"{'0, or ' * zero}a number from {least:g} to {most:g}"
    limit = f"{least:g} or more" if found < least else f"{most:g} or less" if found > most else "digits, as in 2e-3"
    raise ScenarioError(f"{field}: {value!r:.40} is not {rule}. Give {limit}.", code="E021")


def count(value: object, field: str, *, least: int = 1, most: int = 10**6) -> int:
    """Read a whole number.

    Raises:
        ScenarioError: If it is none from ``least`` to ``most``; with its usual notation, if it has one.
    """
    rule = f"a whole number from {least} to {most}"
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,20}", value.strip()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        try:
            meant = float(value) if isinstance(value, str | float) else math.nan
        except ValueError:
            meant = math.nan
        whole = least <= meant <= most and meant == math.floor(meant)
        hint = f"Write {int(meant)}." if whole else f"Give one such as {min(max(least, 2), most)}."
        raise ScenarioError(f"{field}: {value!r:.40} is not {rule}. {hint}", code="E022")
    if value < least:
        raise ScenarioError(f"{field}: {value} is not {rule}. Give {least} or more.", code="E022")
    if value > most:
        raise ScenarioError(f"{field}: that is not {rule}. Give {most} or less.", code="E022")
    return value


def span(value: object, field: str, *, least: int = 1, most: int = 10**6) -> tuple[int, int]:
    """Read a whole number, or a range of them such as ``1:8``, as its two ends.

    Raises:
        ScenarioError: If it is neither, or starts above its end.
    """
    if dashed := re.fullmatch(r"\s*([0-9]{1,20})\s*(?:-|\.\.+|to)\s*([0-9]{1,20})\s*", str(value)):
        raise ScenarioError(
            f"{field}: {value!r:.40} is not a whole number. Write {dashed[1]}:{dashed[2]} for a range.", code="E024"
        )
    if re.fullmatch(r"\s*[0-9]{1,2}(\s*,\s*[0-9]{1,2})+\s*", str(value)):
        each = sorted(map(int, str(value).split(",")))
        raise ScenarioError(
            f"{field}: {value!r:.40} is a list. Write {each[0]}:{each[-1]} to try all between, or one number.",
            code="E024",
        )
    if not isinstance(value, str) or ":" not in value:
        one = count(value, field, least=least, most=most)
        return one, one
    ends = re.fullmatch(r"\s*([0-9]{1,20})\s*:\s*([0-9]{1,20})\s*", value)
    if ends is None:
        raise ScenarioError(
            f"{field}: {value!r:.40} is not a range of whole numbers from {least} to {most}. Write 1:8.", code="E024"
        )
    low, high = (count(end, field, least=least, most=most) for end in ends.groups())
    if low > high:
        raise ScenarioError(f"{field}: {value!r:.40} starts above its end. Write {high}:{low}.", code="E024")
    return low, high


def capped(path: Path, largest: int, too_large: str) -> bytes:
    """Read the bytes of a file, or of a frame that stands for one; ``too_large`` is the way out if there are more.

    Raises:
        ScenarioError: If it cannot be read, or is larger.
    """
    try:
        raw = frames.content(path)
        if raw is None:
            with path.open("rb") as stream:
                raw = stream.read(largest + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no such name"
        raise ScenarioError(f"{path}: cannot be read ({reason}). Check the path.", code="E030") from None
    if len(raw) > largest:
        raise ScenarioError(f"{path}: is over {largest >> 20} MiB{too_large}", code="E037")
    return raw
