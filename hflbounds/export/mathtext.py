"""For titles and labels of matplotlib: its subset of LaTeX, one formula a line, each below a comment with its id."""

from __future__ import annotations

from collections.abc import Sequence

from hflbounds.typeset import markup, wording
from hflbounds.typeset.statement import Statement, Style

SUFFIX = ".txt"
TAKES = ("notation", "letters", "values", "aligned")


def render(statements: Sequence[Statement], style: Style) -> str:
    """Formulas between dollars; those typeset apart, and the conditions, on lines of their own."""
    out = []
    for statement in statements:
        bound = statement.bound
        out.append(f"# {wording.line(bound.id)}: {wording.line(bound.title)}")
        terms = list(statement.terms.values())
        lines = terms if style.aligned else [" ".join(statement.lines(float("inf")))]
        for i, line in enumerate(lines):
            begins = f"{statement.left} {statement.sign} " if i == 0 else "" if line.startswith("-") else "+ "
            out.append(f"${markup.mathtext(begins + line)}$")
        out += [f"${markup.mathtext(f'{name} = {tex}')}$" for name, tex in statement.definitions]
        out += [f"${markup.mathtext(condition)}$" for condition in statement.conditions]
    return "\n".join(out) + "\n"
