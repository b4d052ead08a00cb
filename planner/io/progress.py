"""A line on stderr that says how far long work has come, on a terminal alone."""

from __future__ import annotations

import sys


def progress(text: str) -> None:
    """Show a text in place of the last one; an empty one clears the line."""
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
