"""A line on stderr that says how far long work has come, on a terminal alone."""

from __future__ import annotations

import sys

_last = ""


def progress(text: str) -> None:
    """Show a text in place of the last one; an empty one clears the line, if there is one."""
    global _last
    if (text or _last) and sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
        _last = text
