"""What is installed: versions, for answers and manifests, and what other packages declare for this one.

`importlib.metadata` takes long to import, so it is asked where the names of folders do not say.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any


@cache
def version(package: str = "hfl-plan") -> str:
    """Return the version, or ``0+unknown`` where the package is not installed."""
    stem = package.replace("-", "_") + "-"
    for folder in _folders():
        if folder.name.startswith(stem) and folder.suffix == ".dist-info":
            return folder.name[len(stem) : -len(folder.suffix)]
    from importlib import metadata  # takes long

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "0+unknown"


def entry_points(group: str) -> Iterable[Any]:
    """Return what packages declare for a group of entry points."""
    if not any(map(os.path.isfile, sys.path)) and not any(_declares(folder, group) for folder in _folders()):
        return ()
    from importlib import metadata  # takes long

    return metadata.entry_points(group=group)


def _declares(folder: Path, group: str) -> bool:
    with suppress(OSError):
        return group.encode() in (folder / "entry_points.txt").read_bytes()
    return False


def _folders() -> Iterator[Path]:
    """The folders in which installed packages are described."""
    for place in sys.path:
        with suppress(OSError):
            yield from (here for here in Path(place).iterdir() if here.suffix in (".dist-info", ".egg-info"))
