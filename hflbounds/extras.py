"""Extras: packages that some functions need and the base install leaves out."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAME = "hfl-plan"


def install(extra: str) -> str:
    """Return the command that installs an extra from where this was installed: a clone, a URL, or the package index."""
    folder = Path(sys.executable).parent
    if Path(shutil.which("pip") or "").parent == folder:
        pip = "pip"
    else:
        pip = _shown(folder / "pip") if (folder / "pip").exists() else f"{_shown(Path(sys.executable))} -m pip"
    url, system = _origin()
    if url.startswith("file:"):
        return f"{pip} install '{_shown(Path(unquote(urlsplit(url).path)))}[{extra}]'"
    return f"{pip} install '{NAME}[{extra}]{f' @ {system}{url}' if url else ''}'"


def _origin() -> tuple[str, str]:
    """Where this was installed from, and the prefix of its version control; empty for the package index (PEP 610)."""
    from importlib import metadata  # takes long

    try:
        said = json.loads(metadata.distribution(NAME).read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:
        said = {}
    return said.get("url", ""), f"{said['vcs_info']['vcs']}+" if "vcs_info" in said else ""


def _shown(path: Path) -> str:
    """A path from the working directory, where it is in it."""
    here = Path.cwd()
    return os.path.relpath(path, here) if path.is_relative_to(here) else str(path)
