"""Markdown with formulas between dollars, as GitHub, Jupyter and Pandoc read them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hflbounds.typeset import wording
from hflbounds.typeset.statement import CONSTANTS, Statement, Style, number, power_of_ten, said_status, words

SUFFIX = ".md"
TAKES = ("notation", "letters", "values", "aligned")


def render(statements: Sequence[Statement], style: Style) -> str:
    """A section for each bound."""
    return "\n".join(_bound(statement, style) for statement in statements)


def _bound(statement: Statement, style: Style) -> str:
    bound = statement.bound
    out = [
        f"## {_said(wording.capital(bound.title))}",
        "",
        f"`{_code(bound.id)}`: {_said(statement.prose(str(bound.source)))}. "
        f"Status: {wording.markdown(said_status(bound))}; {CONSTANTS[bound.constants]}.",
        "",
        *_display(statement, style),
    ]
    lists: list[tuple[str, list[str]]] = [
        ("with", [f"${name} = {_safe(tex)}$" for name, tex in statement.definitions]),
        ("if", [f"${_safe(condition)}$" for condition in statement.conditions]),
        ("where", [f"${_safe(tex)}${_given(statement, name)}: {_said(m)}" for name, tex, m in statement.symbols]),
        ("and", [f"${_safe(tex)}$: {wording.markdown(meaning)}" for tex, meaning in statement.functions]),
        ("under", [_said(assumption) for assumption in statement.assumptions]),
    ]
    for heading, items in lists:
        if items:
            out += ["", heading, "", *(f"- {item}" for item in items)]
    value = None if statement.valued is None else statement.valued.value
    if value is not None:
        total = number(value.total) if value.total is not None else power_of_ten(value.log10 or 0)
        step = f", least at ${', '.join(least)}$" if (least := statement.least_at.values()) else ""
        out += ["", f"At these numbers the right-hand side is ${total}${step}:", ""]
        out += [f"- {wording.markdown(words(name))}: ${number(term)}$" for name, term in value.terms.items()]
    notes = statement.errata(grave=True)
    if notes:
        out += ["", "Printed otherwise", ""]
        out += [
            f"- {_said(statement.prose(e.place))} prints {_said(printed)}; supported is {_said(proved)}. "
            f"{_said(wording.capital(statement.prose(e.because)))}"
            for e, printed, proved in notes
        ]
    return "\n".join(out) + "\n"


def _display(statement: Statement, style: Style) -> list[str]:
    left = f"{statement.left} {statement.sign}"
    if not style.aligned:
        return ["$$", _safe(f"{left} {' '.join(statement.lines(float('inf')))}"), "$$"]
    rows = []
    for i, (name, tex) in enumerate(statement.terms.items()):
        side = f"{left} {tex}" if i == 0 else rf"\qquad {{}} {tex if tex.startswith('-') else f'+ {tex}'}"
        rows.append(rf"& {_safe(side)} && \text{{({wording.latex(words(name))})}}")
    return ["$$", r"\begin{aligned}", " \\\\\n".join(rows), r"\end{aligned}", "$$"]


def _said(text: str) -> str:
    return wording.sentence(text, wording.markdown, lambda tex: f"${_safe(tex)}$")


def _safe(tex: str) -> str:
    """A formula in which nothing can be taken for a tag of HTML."""
    return tex.replace("<", r"\lt ").replace(">", r"\gt ")


def _given(statement: Statement, name: str) -> str:
    return f" $= {number(statement.numbers[name])}$" if name in statement.numbers else ""


def _code(text: str) -> str:
    return re.sub(r"[`<>&$]", "", wording.line(text))
