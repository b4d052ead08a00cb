"""What ``hfl-plan explain`` answers."""

from __future__ import annotations

from planner.io import codes
from planner.report.document import Column, Document, Paragraph, Table

SCHEMA = "hfl-plan/explain/2"


def explained(code: str) -> Document:
    """Explain one code.

    Raises:
        ScenarioError: If there is no such code.
    """
    pairs = codes.explained(code)
    blocks = tuple(Paragraph(f"{heading:<9} {text}") for heading, text in pairs)
    data = {"schema": SCHEMA, "codes": [{"code": pairs[0][0], **codes.read()[pairs[0][0]]}]}
    return Document("", blocks, data, kind="Code of a message")


def listed() -> Document:
    """List all codes."""
    rows = tuple((code, row["title"]) for code, row in codes.read().items())
    data = {"schema": SCHEMA, "codes": [{"code": code, **row} for code, row in codes.read().items()]}
    return Document("", (Table((Column("code"), Column("title")), rows),), data, kind="Codes of messages")
