"""LaTeX tables (booktabs), for a paper."""

from __future__ import annotations

from collections.abc import Iterator

from hflbounds.typeset.wording import LATEX, line
from planner.report.document import Document, Facts, Figure, Table, Typeset

SPECIAL = {letter: tex for letter, tex in LATEX.items() if letter not in '|"`'}  # which its fonts have
HEADS = {
    "eta_eff": r"$\tilde\eta$",
    **{name: rf"$\{name}$" for name in ("eta", "zeta", "delta")},
    **{letter: f"${letter}$" for letter in "GMPK"},
    **{f"S{tier}": f"$S_{tier}$" for tier in (1, 2)},
}
WIDE = 100  # columns of a figure
SUFFIX = ".tex"


def render(document: Document, *, width: int, color: bool) -> str:
    r"""A ``table`` float for each table, and all that is said beside as comments; needs ``\usepackage{booktabs}``."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Document) -> Iterator[str]:
    texts = [block.text for block in document.blocks if not isinstance(block, Facts | Table | Figure)]
    captioned = texts[0] if texts and document.table.rows and not document.table.heading else ""
    said: list[str] = []  # below the float that it is about
    for block in document.blocks:
        if isinstance(block, Table):
            if not block.detail:
                shown = block.heading or (captioned if block == document.table else block.label)
                yield from _float(block, f"{escape(document.name)}: {escape(shown)}")
                yield from said
                said = []
        elif isinstance(block, Figure):
            lines = ("".join(text for text, _ in line) for line in block.lines(WIDE))
            yield from (r"\begin{verbatim}", *lines, r"\end{verbatim}")
        elif isinstance(block, Facts):
            said += (f"% {line(f'{label}: {text}'.removeprefix(': '))}" for label, text in block.entries)
        elif block.text != captioned:
            said.append(f"% {line(block.text)}")
    yield from said


def _float(table: Table, caption: str) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"  \centering"
    yield rf"  \caption{{{caption}}}"
    yield rf"  \begin{{tabular}}{{{''.join('r' if column.right else 'l' for column in table.columns)}}}"
    yield r"    \toprule"
    yield rf"    {' & '.join(HEADS.get(name, escape(name)) for name in table.headings())} \\"
    yield r"    \midrule"
    yield from (rf"    {' & '.join(map(escape, row))} \\" for row in table.texts())
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"


def escape(text: str) -> str:
    """Text that LaTeX shows as it is, or its own LaTeX where it has some."""
    return text.latex if isinstance(text, Typeset) else "".join(SPECIAL.get(letter, letter) for letter in text)
