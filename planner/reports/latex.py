"""A LaTeX table (booktabs), for a paper."""

from __future__ import annotations

from planner.recommendation import Recommendation
from planner.reports import _rows

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
HEADS = {"eta_eff": r"$\tilde\eta$", "eta": r"$\eta$"}


def render(answer: Recommendation, *, width: int, color: bool) -> str:
    r"""A ``table`` float; needs ``\usepackage{booktabs}``."""
    heads = " & ".join(HEADS.get(column, escape(column)) for column in _rows.COLUMNS)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escape(answer.title or 'Topologies')}: {escape(answer.explanation[0])}}}",
        rf"  \begin{{tabular}}{{ll{'r' * 6}ll}}",
        r"    \toprule",
        rf"    {heads} \\",
        r"    \midrule",
        *(rf"    {' & '.join(map(escape, _rows.cells(row)))} \\" for row in answer.ranking),
        r"    \bottomrule",
        r"  \end{tabular}",
        *(f"  % {comment(sentence)}" for sentence in (*answer.warnings, *_rows.basis(answer))),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text that LaTeX shows as it is."""
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def comment(text: str) -> str:
    """Text on one line, so that it stays a comment."""
    return " ".join(text.split())
