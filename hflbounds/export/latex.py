r"""LaTeX for a paper: the inequality, its conditions, hypotheses and letters; or a whole document; or it alone.

A part of a document needs amsmath and amssymb, and cites the paper by its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hflbounds.core.bound import Paper
from hflbounds.errors import FormatError
from hflbounds.export import bibtex
from hflbounds.typeset import markup, wording
from hflbounds.typeset.statement import (
    CONSTANTS,
    LINE,
    Statement,
    Style,
    label_of,
    number,
    power_of_ten,
    said_status,
    words,
)

SUFFIX = ".tex"
TAKES = ("notation", "letters", "values", "aligned", "standalone", "macros", "label", "bare")
FOOTNOTES = 3  # more of them are a list
PREAMBLE = r"""\documentclass[a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage{amsmath,amssymb}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt plus 2pt}
\sloppy
\raggedbottom
\allowdisplaybreaks"""
BEGIN = r"\begin{document}"
NEEDS = "% Needs "


def render(statements: Sequence[Statement], style: Style) -> str:
    """Each bound as a paragraph with its equation."""
    papers = {s.bound.source.paper.citation: s.bound.source.paper for s in statements}
    out = [_macros(statements)] if style.macros else []
    if style.bare:
        if style.standalone:
            raise FormatError("an equation alone is no whole document; leave out one of standalone and bare")
        return _needing("\n".join([*out, *(_alone(statement, style) for statement in statements)]), "\n")
    out += [_bound(statement, style) for statement in statements]
    if style.standalone:
        begin = "\n".join([PREAMBLE, *_citations(papers.values()), BEGIN])
        return "\n\n".join([begin, *out, _references(papers.values()), r"\end{document}"]) + "\n"
    entries = "".join(bibtex.entry(paper) for paper in papers.values())
    out.append("\n".join(f"% {line}" for line in entries.splitlines()))
    return _needing("\n\n".join(out), "\n\n")


def _needing(text: str, gap: str) -> str:
    """The text after a line that says what it needs: an encoding only where a letter stands that others lack."""
    encoding = r"\usepackage[T1]{fontenc} and " if r"\textquotedbl" in text or max(text) >= "\u00a0" else ""
    return f"{NEEDS}{encoding}\\usepackage{{amsmath,amssymb}}.{gap}{text}\n"


def _macros(statements: Sequence[Statement]) -> str:
    lines: dict[str, str] = {}
    for statement in statements:
        for name, command, meaning in statement.symbols:
            lines.setdefault(
                command, rf"\providecommand{{{command}}}{{{statement.plain[name]}}} % {wording.line(meaning)}"
            )
    return "\n".join(lines.values())


def _bound(statement: Statement, style: Style) -> str:
    bound = statement.bound
    label = label_of(statement)
    place = _said(statement.prose(bound.source.place))
    cited = rf"\cite{{{bibtex.key(bound.source.paper)}}}, {place}"
    head = _said(wording.capital(bound.title))
    status = f"Status: {wording.latex(said_status(bound))}; {wording.latex(CONSTANTS[bound.constants])}."
    heading = (
        [rf"\subsection*{{{head}}}", rf"\texttt{{{wording.latex(bound.id)}}}; {cited}. {status}"]
        if style.standalone
        else [rf"% {wording.line(bound.id)}", rf"\paragraph{{{head}}} ({cited}). {status}"]
    )
    notes = _noted(statement)
    if len(notes) <= FOOTNOTES:
        heading[-1] += r"\textsuperscript{,}".join(rf"\footnote{{{note}}}" for note in notes)
    conditions = " and ".join(f"${condition}$" for condition in statement.conditions)
    lines = [*heading, f"If {conditions}, then" if conditions else "It holds that", *_equation(statement, style, label)]
    if statement.definitions:
        rows = []
        for name, parts in statement.definition_lines():
            first, *others = parts
            rows += [rf"  {name} &= {first}", *(rf"  &\qquad {part}" for part in others)]
        lines += ["with", r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"]
    if statement.numbers:
        lines += ["", _numbers(statement)]
    named = [*((tex, meaning) for _, tex, meaning in statement.symbols), *statement.functions]
    letters = "; ".join(f"${tex}$: {_said(meaning)}" for tex, meaning in named)
    lines += ["", rf"\emph{{Letters.}} {letters}."]
    assumed = " ".join(f"({i}) {_said(wording.capital(said))}." for i, said in enumerate(statement.assumptions, 1))
    lines += ["", rf"\emph{{Hypotheses.}} {assumed}", "", rf"\emph{{Bounded:}} {_said(statement.bounded)}."]
    if len(notes) > FOOTNOTES:
        items = (rf"  \item {note}" for note in notes)
        lines += ["", r"\emph{Printed otherwise.}", r"\begin{enumerate}", *items, r"\end{enumerate}"]
    return "\n".join(lines)


def _alone(statement: Statement, style: Style) -> str:
    """The equation environment and nothing else, with definitions and conditions on lines of their own in it."""
    head = "\n% ".join([wording.line(f"{statement.bound.id}: {statement.bound.source}"), *_valued(statement)])
    begin, *body, end = _equation(statement, style, label_of(statement))
    tail: list[str] = []
    for name, parts in statement.definition_lines(LINE - 6):
        first, *others = parts
        tail += [rf"  & \text{{{'and' if tail else 'with'} }} {name} = {first}", *(rf"  & \qquad {p}" for p in others)]
    tail += [rf"  & \text{{{'and' if i else 'if'} }} {condition}" for i, condition in enumerate(statement.conditions)]
    if not tail:
        return "\n".join([f"% {head}", begin, *body, end])
    if len(body) == 1:  # a line, as yet without an environment
        condition = statement.conditions[0] if len(tail) == 1 and statement.conditions else ""
        if condition and markup.width(body[0]) + markup.width(condition) < LINE - 8:
            return "\n".join([f"% {head}", begin, rf"{body[0]} \quad\text{{if }} {condition}", end])
        body = [r"\begin{split}", f"  & {body[0].strip()}", r"\end{split}"]
    *inner, last = body
    return "\n".join([f"% {head}", begin, *inner[:-1], f"{inner[-1]} \\\\", " \\\\\n".join(tail), last, end])


def _equation(statement: Statement, style: Style, label: str) -> list[str]:
    left, sign = statement.left, statement.sign
    begin = [r"\begin{equation}" + rf"\label{{{label}}}"]
    if style.aligned:
        value = statement.value
        alone = len(statement.terms) == 1 and markup.width(left) + markup.width(statement.lines()[0]) < LINE - 15
        rows = [] if alone else [rf"  & {left}"]
        for i, (name, tex) in enumerate(statement.terms.items()):
            signed = rf"{{}} - {tex[1:].lstrip()}" if tex.startswith("-") else rf"{{}} + {tex}"
            first = f"{left} {sign} {tex}" if alone else rf"\quad {sign} {tex}"
            side = first if i == 0 else rf"\qquad {signed}"
            amount = ""
            if value is not None and name in value.terms:
                amount = f": ${number(value.terms[name])}$"
            rows.append(rf"  & {side} && \text{{({wording.latex(words(name))}{amount})}}")
        return [*begin, r"\begin{aligned}", " \\\\\n".join(rows), r"\end{aligned}", r"\end{equation}"]
    whole = statement.lines()
    if len(whole) == 1 and markup.width(left) + markup.width(whole[0]) < LINE:
        return [*begin, f"  {left} {sign} {whole[0]}", r"\end{equation}"]
    rows = [rf"  & {left}", rf"  & \quad {sign} {whole[0]}", *(rf"  & \qquad {{}} {line}" for line in whole[1:])]
    return [*begin, r"\begin{split}", " \\\\\n".join(rows), r"\end{split}", r"\end{equation}"]


def _numbers(statement: Statement) -> str:
    letters, least = {name: tex for name, tex, _ in statement.symbols}, statement.least_at
    given = {name: value for name, value in statement.numbers.items() if name not in least}
    at = ", ".join(f"${letters[name]} = {number(value)}$" for name, value in given.items())
    there = statement.valued
    if there is None or there.value is None:
        return f"Here {at}."
    value = there.value
    if value.total is None:
        shown = "beyond all numbers" if value.log10 is None else f"${power_of_ten(value.log10)}$"
    else:
        shown = f"${number(value.total)}$"
    step = f", least at ${', '.join(least.values())}$" if least else ""
    return f"At {at} the right-hand side is {shown}{step}."


def _valued(statement: Statement) -> list[str]:
    """The value for a comment, with the step and letters that nobody gave and that make it least."""
    there = statement.valued
    if there is None or there.value is None:
        return []
    value = there.value
    if value.total is not None:
        shown = f"{value.total:.6g}"
    else:
        shown = "beyond float64" if value.log10 is None else f"10^{value.log10:.6g}"
    chosen = ", ".join(f"{name} = {there.numbers[name]:.6g}" for name in statement.least_at)
    return [f"The right-hand side is {shown}{f', least at {chosen}' if chosen else ''}."]


def _noted(statement: Statement) -> list[str]:
    """What is printed otherwise, a sentence or three for each erratum."""
    notes = []
    for erratum, printed, proved in statement.errata(grave=True):
        said = [
            f"{_said(wording.capital(statement.prose(erratum.place)))} prints: {_said(printed)}",
            f"Supported: {_said(proved)}",
            _said(wording.capital(statement.prose(erratum.because))),
        ]
        notes.append(" ".join(f"{part.rstrip('.')}." for part in said))
    return notes


def _said(text: str) -> str:
    return wording.sentence(text, wording.latex, _inline)


def _inline(tex: str) -> str:
    return f"${tex}$"


def _citations(papers: Iterable[Paper]) -> list[str]:
    """What LaTeX would know from a run before, so that one is enough."""
    known = "".join(rf"\@namedef{{b@{bibtex.key(paper)}}}{{{i}}}" for i, paper in enumerate(papers, 1))
    return [r"\makeatletter", rf"\AtBeginDocument{{{known}}}", r"\makeatother"]


def _references(papers: Iterable[Paper]) -> str:
    items = []
    for paper in papers:
        where = f" {wording.latex(bibtex.venue(paper))}," if bibtex.venue(paper) else ""
        by, title, version = map(wording.latex, (paper.authors.rstrip("."), paper.title, bibtex.version(paper)))
        said = f"{by}. {title}.{where} {paper.year}{f' ({version})' if version else ''}."
        items.append(rf"\bibitem{{{bibtex.key(paper)}}} {said}")
    return "\n".join([rf"\begin{{thebibliography}}{{{len(items)}}}", *items, r"\end{thebibliography}"])
