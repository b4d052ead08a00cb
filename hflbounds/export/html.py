"""HTML that loads nothing: formulas in MathML, which browsers show; KaTeX takes over where a page has it."""

from __future__ import annotations

import html
from collections.abc import Sequence

from hflbounds.typeset import markup, wording
from hflbounds.typeset.statement import CONSTANTS, Statement, Style, number, power_of_ten, said_status, words

SUFFIX = ".html"
TAKES = ("notation", "letters", "values", "aligned", "standalone")
HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Convergence bounds</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
.formula { overflow-x: auto; padding: .3rem 0; }
table { border-collapse: collapse; }
td { padding: .15rem .8rem .15rem 0; vertical-align: top; }
section { border-top: 1px solid #ccc; margin-top: 2rem; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee; } }
</style>
</head>
<body>
"""
# Only where somebody has put KaTeX on the page; without it the MathML stays.
TAIL = """<script>
if (window.katex) document.querySelectorAll("[data-tex]").forEach(function (e) {
  katex.render(e.dataset.tex, e, { displayMode: e.classList.contains("formula"), throwOnError: false });
});
</script>
</body>
</html>
"""


def render(statements: Sequence[Statement], style: Style) -> str:
    """A section for each bound; a whole page with ``standalone``."""
    text = "\n".join(_bound(statement, style) for statement in statements)
    return f"{HEAD}{text}\n{TAIL}" if style.standalone else f"{text}\n"


def inline(tex: str) -> str:
    """A formula in a line of text."""
    return f'<span data-tex="{html.escape(tex)}">{markup.mathml(tex)}</span>'


def display(tex: str) -> str:
    """A formula on lines of its own."""
    return f'<div class="formula" data-tex="{html.escape(tex)}">{markup.mathml(tex, display=True)}</div>'


def _said(text: str) -> str:
    return wording.sentence(text, wording.html, inline)


def _bound(statement: Statement, style: Style) -> str:
    bound = statement.bound
    out = [
        f'<section id="{wording.html(bound.id)}">',
        f"<h2>{_said(wording.capital(bound.title))}</h2>",
        f"<p><code>{wording.html(bound.id)}</code>: {_said(statement.prose(str(bound.source)))}. "
        f"Status: {wording.html(said_status(bound))}; {CONSTANTS[bound.constants]}.</p>",
    ]
    if style.aligned:
        value = statement.value
        rows = []
        for i, (name, tex) in enumerate(statement.terms.items()):
            side = f"{statement.left} {statement.sign} {tex}" if i == 0 else tex if tex.startswith("-") else f"+ {tex}"
            amount = f"{value.terms[name]:.6g}" if value is not None and value.terms else ""
            rows.append(f"<tr><td>{inline(side)}</td><td>{wording.html(words(name))}</td><td>{amount}</td></tr>")
        out += ["<table>", *rows, "</table>"]
    else:
        out.append(display(f"{statement.left} {statement.sign} {' '.join(statement.lines(float('inf')))}"))
    out += [f"<p>with {inline(f'{name} = {tex}')}</p>" for name, tex in statement.definitions]
    if statement.conditions:
        out.append(f"<p>if {' and '.join(inline(condition) for condition in statement.conditions)}</p>")
    out.append(f"<p>Bounded: {_said(statement.bounded)}.</p>")
    out.append("<table>")
    for name, tex, meaning in statement.symbols:
        given = f"{statement.numbers[name]:.6g}" if name in statement.numbers else ""
        out.append(f"<tr><td>{inline(tex)}</td><td>{_said(meaning)}</td><td>{given}</td></tr>")
    out += [f"<tr><td>{inline(t)}</td><td>{wording.html(m)}</td><td></td></tr>" for t, m in statement.functions]
    out.append("</table>")
    value = None if statement.valued is None else statement.valued.value
    if value is not None:
        total = number(value.total) if value.total is not None else power_of_ten(value.log10 or 0)
        step = f", least at {inline(', '.join(least))}" if (least := statement.least_at.values()) else ""
        out.append(f"<p>At these numbers the right-hand side is {inline(total)}{step}.</p>")
    out += [
        "<ul>",
        *(f"<li>{_said(wording.capital(said))}</li>" for said in statement.assumptions),
        "</ul>",
    ]
    notes = statement.errata(grave=True)
    if notes:
        out += ["<p>Printed otherwise:</p>", "<ul>"]
        out += [
            f"<li>{_said(statement.prose(e.place))} prints {_said(printed)}; supported is {_said(proved)}. "
            f"{_said(wording.capital(statement.prose(e.because)))}</li>"
            for e, printed, proved in notes
        ]
        out.append("</ul>")
    out.append("</section>")
    return "\n".join(out)
