"""A LaTeX table (booktabs), for a paper."""

from __future__ import annotations

from collections.abc import Sequence

from planner.decide.recommendation import Recommendation
from planner.report.render import _rows

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
HEADS = {
    "eta_eff": r"$\tilde\eta$",
    "eta": r"$\eta$",
    "zeta": r"$\zeta$",
    "delta": r"$\delta$",
    **{letter: f"${letter}$" for letter in "GMPK"},
    "S1": "$S_1$",
    "S2": "$S_2$",
}


def render(answer: Recommendation, *, width: int, color: bool) -> str:
    r"""A ``table`` float, and one for each table of a search; needs ``\usepackage{booktabs}``."""
    caption = f"{escape(answer.title or 'Topologies')}: {escape(answer.explanation[0])}"
    notes = [*answer.warnings, *_rows.how_sure(answer), *_rows.basis(answer)]
    lines = table(caption, "ll" + "r" * 6 + "ll", _rows.COLUMNS, [_rows.cells(row) for row in answer.ranking], notes)
    for found in _rows.searched(answer):
        named = f"{escape(answer.title or 'Search')}: {escape(found.heading)}"
        numbers = "r" * (len(found.columns) - 5)  # all but the mark, the topology, and what it takes
        lines += table(named, f"l{numbers}lrrr", found.columns, found.lines, [found.rest] if found.rest else [])
    return "\n".join(lines) + "\n"


def table(
    caption: str, alignment: str, columns: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]
) -> list[str]:
    """The lines of a float; notes are comments in it."""
    return [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{caption}}}",
        rf"  \begin{{tabular}}{{{alignment}}}",
        r"    \toprule",
        rf"    {' & '.join(HEADS.get(column, escape(column)) for column in columns)} \\",
        r"    \midrule",
        *(rf"    {' & '.join(map(escape, row))} \\" for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        *(f"  % {comment(sentence)}" for sentence in notes),
        r"\end{table}",
    ]


def escape(text: str) -> str:
    """Text that LaTeX shows as it is."""
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def comment(text: str) -> str:
    """Text on one line, so that it stays a comment."""
    return " ".join(text.split())
