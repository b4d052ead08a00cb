"""Markdown, for an issue or a wiki."""

from __future__ import annotations

import re

from planner.report.document import Block, Document, Facts, Figure, Heading, Table

WIDE = 200  # columns of a figure
SUFFIX = ".md"


def render(document: Document, *, width: int, color: bool) -> str:
    """A heading, and the blocks in their order."""
    parts = [f"# {escape(document.name)}"]
    for block in document.blocks:
        parts += _parts(block)
    return "\n\n".join(parts) + "\n"


def _parts(block: Block) -> list[str]:
    """Its parts, which an empty line divides."""
    if isinstance(block, Table):
        heading = [f"## {escape(block.heading)}"] if block.heading else []
        lines = ["| " + " | ".join(map(escape, row)) + " |" for row in [block.headings(), *block.texts()]]
        lines.insert(1, "|" + "".join("---:|" if column.right else "---|" for column in block.columns))
        return [*heading, "\n".join(lines)]
    if isinstance(block, Figure):
        return ["\n".join(["```text", *("".join(text for text, _ in line) for line in block.lines(WIDE)), "```"])]
    if isinstance(block, Facts):
        named = [(f"**{escape(label)}**" if label else "", escape(text)) for label, text in block.entries]
        return ["\n".join(f"- {label} {text}" if label else f"  {text}" for label, text in named)] * bool(named)
    return [("## " if isinstance(block, Heading) else "") + escape(block.text)]


def escape(text: str) -> str:
    """Text that Markdown shows as it is, and that no renderer takes for HTML."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|#$~])", r"\\\1", text)
