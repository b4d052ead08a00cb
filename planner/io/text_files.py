"""Reading files that somebody else wrote: never more of them than they may be long."""

from __future__ import annotations

from pathlib import Path

from planner.errors import ScenarioError
from planner.io import frames


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
