"""Markdown, for an issue or a wiki."""

from __future__ import annotations

import re

from planner.recommendation import Recommendation
from planner.reports import _rows


def render(answer: Recommendation, *, width: int, color: bool) -> str:
    """A heading, the sentences, the table and three lists."""
    lines = [f"# {escape(answer.title or 'Recommendation')}", ""]
    lines += [f"{escape(sentence)}\n" for sentence in answer.explanation]
    lines += ["| " + " | ".join(map(escape, _rows.COLUMNS)) + " |", "|---" * len(_rows.COLUMNS) + "|"]
    lines += ["| " + " | ".join(map(escape, _rows.cells(row))) + " |" for row in answer.ranking]
    for heading, sentences in (
        ("What would change it", _rows.flips(answer)),
        ("Warnings", answer.warnings),
        ("What it stands on", _rows.basis(answer)),
    ):
        if sentences:
            lines += ["", f"## {heading}", "", *(f"- {escape(sentence)}" for sentence in sentences)]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is, and that no renderer takes for HTML."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|#])", r"\\\1", text)
