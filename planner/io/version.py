"""The version of the installed package, for answers and manifests."""

from __future__ import annotations

from functools import cache
from importlib import metadata


@cache
def version() -> str:
    """Return the version, or ``0+unknown`` where the package is not installed."""
    try:
        return metadata.version("hfl-plan")
    except metadata.PackageNotFoundError:
        return "0+unknown"
