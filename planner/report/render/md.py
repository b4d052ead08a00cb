"""Markdown, for an issue or a wiki."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planner.decide.recommendation import Recommendation
from planner.report.render import _rows


def render(answer: Recommendation, *, width: int, color: bool) -> str:
    """A heading, the sentences, the table and three lists."""
    lines = [f"# {escape(answer.title or 'Recommendation')}", ""]
    lines += [f"{escape(sentence)}\n" for sentence in answer.explanation]
    lines += table(_rows.COLUMNS, [_rows.cells(row) for row in answer.ranking])
    for found in _rows.searched(answer):
        lines += ["", f"## {found.heading}", "", *table(found.columns, found.lines)]
        lines += ["", found.rest] if found.rest else []
    for heading, sentences in _rows.sections(answer):
        lines += ["", f"## {heading}", "", *(f"- {escape(sentence)}" for sentence in sentences)]
        if heading == "How sure" and (drawn := _rows.drawn(answer)):
            lines += ["", *table(_rows.DRAWN, drawn)]
    return "\n".join(lines) + "\n"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Its lines."""
    head, *lines = ("| " + " | ".join(map(escape, row)) + " |" for row in (columns, *rows))
    return [head, "|---" * len(columns) + "|", *lines]


def escape(text: str) -> str:
    """Text that Markdown shows as it is, and that no renderer takes for HTML."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|#$~])", r"\\\1", text)
