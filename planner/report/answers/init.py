"""What ``hfl-plan init`` answers."""

from __future__ import annotations

from collections.abc import Sequence

from planner.report.document import Document, Paragraph


def document(files: Sequence[str], scenario: str) -> Document:
    """Say which files were written, and the next command."""
    following = f"hfl-plan recommend --config {scenario}"
    blocks = (Paragraph(f"Wrote {' and '.join(files)}."), Paragraph(f"Next      {following}"))
    data = {"schema": "hfl-plan/init/2", "files": list(files), "next": [following]}
    return Document("", blocks, data, kind="First scenario")
