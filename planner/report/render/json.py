"""One JSON document, for a program."""

from __future__ import annotations

import json

from planner.report.document import Document

SUFFIX = ".json"


def render(document: Document, *, width: int, color: bool) -> str:
    """Indented JSON without NaN and infinity."""
    return json.dumps(document.answer.to_json(), indent=2, allow_nan=False) + "\n"
