"""What ``hfl-plan init`` answers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from planner.io.listings import Listing, listing
from planner.report.page import brief


def document(files: Sequence[str], scenario: str) -> Listing:
    """Say which files were written, and the next command."""
    following = [f"hfl-plan recommend --config {shlex.quote(scenario)}"]
    answer = listing("init", f"Wrote {' and '.join(files)}.", {"files": list(files)}, next=following)
    return brief(answer, kind="First scenario")
