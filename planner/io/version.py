"""The versions of installed packages, for answers and manifests."""

from __future__ import annotations

from functools import cache
from importlib import metadata


@cache
def version(package: str = "hfl-plan") -> str:
    """Return the version, or ``0+unknown`` where the package is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "0+unknown"
