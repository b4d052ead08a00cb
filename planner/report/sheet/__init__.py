"""A report: an answer as one file of HTML that asks nothing of any network, for those who use no terminal.

It is made from the `Document` that a terminal shows: verdict, table, what it assumes and what each value would change,
pictures, evidence, next steps, every section of ``--explain``, and at the end what makes it again. Its content-security
policy allows the one style and the one script in it, by their hashes, and nothing else; what a user wrote is escaped.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from importlib import resources

from planner.decide.counts import taken
from planner.errors import NoAnswerError
from planner.io.answers import Answer
from planner.io.version import version
from planner.io.wording import capital
from planner.plot.lettering import in_short
from planner.report import blocks
from planner.report.document import Block, Column, Document, Facts, Figure, Sentences, Table
from planner.report.page import RECORD, amount, as_typed, change_in, evidence, record
from planner.report.render import render
from planner.report.sheet import drawing, gallery, sliders
from planner.scenario.values import Scenario

LARGEST = 300_000  # bytes of a table that the file holds for download
OWN = ("Assumed", "Changes", "Warning", "Evidence", "Ask", "Next")  # facts that have a section here
MAP = "map"


def report(
    document: Document,
    *,
    scenario: Scenario | None = None,
    pictures: Iterable[gallery.Wanted] = (),
    toml: str = "",
    command: Sequence[str] = (),
) -> str:
    """Write the report of an answer, with its pictures where matplotlib is installed.

    ``pictures`` are others than those of the scenario and of the rows: id, place and what draws each. ``toml`` is the
    scenario as it was told, and ``command`` what asks for the answer.
    """
    answer, found = document.answer, tuple[drawing.Picture, ...]()
    if scenario is not None:
        scenario = taken(scenario, answer.scenario)
    with suppress(NoAnswerError):  # matplotlib is not installed
        found = tuple(drawing.pictures([*gallery.of_answer(answer, scenario), *pictures]))
    about = "" if scenario is None or scenario.divisions else in_short(scenario)
    seed = None if scenario is None else scenario.seed
    moved = tuple(sliders.html(answer, scenario))
    return sheet(document, Beside(found, about, toml, command, seed, sliders=moved))


@dataclass(frozen=True, slots=True)
class Beside:
    """What a report has beside the answer."""

    pictures: Sequence[drawing.Picture] = ()  # in their order
    about: str = ""  # the scenario in a sentence
    scenario: str = ""  # the scenario as TOML; "" where the command reads none
    command: Sequence[str] = ()  # arguments that ask for the answer
    seed: int | None = None  # of every random draw; None where there is none
    sliders: Sequence[str] = ()  # lines of HTML that the script of the report moves


def sheet(document: Document, beside: Beside | None = None) -> str:
    """Write a report."""
    known = beside or Beside()
    style, script = _text("style.css"), _text("script.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    title = escape(document.name)
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f'<meta name="generator" content="hfl-plan {escape(version())}">',
            f"<title>{title}</title>",
            f"<style>{style}</style>\n</head>\n<body>\n<main>",
            *_body(document, known),
            f"</main>\n<script>{script}</script>\n</body>\n</html>\n",
        )
    )


def _body(document: Document, beside: Beside) -> Iterator[str]:
    first, *rest = document.blocks or (Sentences(""),)
    answer = document.answer
    yield f"<header><h1>{escape(document.name)}</h1>"
    day = f"{document.kind}, {_today()}" if answer.title else _today()
    yield f'<p class="note">{escape("; ".join(filter(None, (day, beside.about))))}</p>'
    yield f'<p class="verdict">{escape(first.text)}</p></header>' if isinstance(first, Sentences) else "</header>"
    shown = [first, *rest] if not isinstance(first, Sentences) else rest
    known = {section.id: section.heading for section in document.sections}
    yield '<section aria-label="Answer">'
    if any(one.id == MAP for one in beside.pictures):
        shown = [block for block in shown if not isinstance(block, Figure)]  # it is drawn below
    yield from blocks.html(_without_own(shown), document.kind, known)
    yield from _figures(beside.pictures, "answer")
    yield "</section>"
    yield from beside.sliders
    cautions = (escape(f"{one.text} {one.help}".strip()) for one in answer.warnings)
    for heading, inner in (
        ("Warnings", _listed(cautions, ' class="warning"')),
        ("What this assumes", _assumed(answer)),
        ("What changes it", (*_changes(answer), *_figures(beside.pictures, "changes"))),
        ("Evidence", _evidence(answer)),
        ("Next steps", _next(answer)),
    ):
        if lines := list(inner):
            yield f"<section><h2>{heading}</h2>"
            yield from lines
            yield "</section>"
    if document.sections:
        yield "<section><h2>Details</h2>"
        for section in document.sections:
            yield f'<details id="{escape(section.id)}"><summary>{escape(section.heading)}</summary>'
            yield from blocks.html(section.blocks, section.heading, known, level=3)
            yield "</details>"
        yield "</section>"
    yield from _again(document, beside)


def _without_own(shown: Sequence[Block]) -> Iterator[Block]:
    """Leave out facts that the report has in full below."""
    for block in shown:
        if not isinstance(block, Facts):
            yield block
        elif left := tuple((label, text) for label, text in block.entries if label not in OWN):
            yield replace(block, entries=left)


def _figures(pictures: Sequence[drawing.Picture], place: str) -> Iterator[str]:
    if found := [one for one in pictures if one.place == place]:
        yield '<div class="pictures">'
        for one in found:
            data = _download(f"{one.id}.csv", one.csv, "numbers")
            yield f"<figure>{one.svg}<figcaption>{escape(one.says)} {data}</figcaption></figure>"
        yield "</div>"


def _listed(elements: Iterable[str], kind: str = "") -> Iterator[str]:
    """Elements of HTML as a list."""
    lines = [f"<li>{one}</li>" for one in elements]
    yield from (f"<ul{kind}>", *lines, "</ul>") if lines else ()


def _assumed(answer: Answer) -> Iterator[str]:
    """Each value that was not given, where it comes from, and what another would change."""
    rows = []
    for one in answer.assumptions:
        known = answer.scenario.get(one.key)
        origin = "" if known is None else known.source or known.origin
        mine = [s for s in answer.sensitivity if s.parameter == one.key or s.parameter.startswith(f"{one.key}.")]
        effects = (one.effect, *(change_in(answer, s) for s in mine if s.break_even is not None))
        rows.append((answer.words(one.key), amount(one), origin, "; ".join(filter(None, effects))))
    columns = (Column("value"), Column("assumed", "number"), Column("origin"), Column("what it would change"))
    filled = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    if rows:
        yield from blocks.html([Table(columns, tuple(rows), label="Values that were not given").of(filled)])


def _changes(answer: Answer) -> Iterator[str]:
    """Break-even points, and the share of the lead's variance of each input."""
    yield from _listed(escape(change_in(answer, one)) for one in answer.sensitivity if one.break_even is not None)
    shares = sorted((one for one in answer.sensitivity if one.sobol_total), key=lambda one: -(one.sobol_total or 0.0))
    if shares:
        text = ", ".join(f"{answer.words(one.parameter)} {one.sobol_total:.0%}" for one in shares)
        yield from blocks.html([Sentences(f"Sensitivity of the lead, of its variance: {text}.")])


def _evidence(answer: Answer) -> Iterator[str]:
    rows = tuple(
        ("nearest measured cases" if one.nearest else one.dataset, *record(one), one.note)
        for one in sorted(answer.evidence, key=lambda one: not one.nearest)
    )
    columns = (Column("record"), *RECORD, Column("what was measured"))
    yield from blocks.html(Sentences(f"{capital(text)}.") for _, text in evidence(answer))
    if rows:
        yield from blocks.html([Table(columns, rows, label="How often first choices like this were right")])


def _next(answer: Answer) -> Iterator[str]:
    every = (one for one in answer.next if one.argv != ("...", "--explain"))  # that is all here
    steps = dict.fromkeys((as_typed(one), one.why) for one in every)
    yield from _listed(f"{escape(why)} <code>{escape(typed)}</code>" for typed, why in steps)


def _again(document: Document, beside: Beside) -> Iterator[str]:
    """What makes the answer again: scenario, command, seed, versions, rows."""
    yield "<section><h2>To make it again</h2>"
    if beside.scenario:
        yield f'<h3>Scenario</h3>\n<pre class="copy" tabindex="0">{escape(beside.scenario)}</pre>'
    entries = []
    answer = document.answer
    if answer.call:
        entries.append(("Call", answer.call))
    elif command := beside.command or answer.command:
        entries.append(("Command", shlex.join(command)))
    if beside.seed is not None:
        entries.append(("Seed", str(beside.seed)))
    entries += [("Version", f"hfl-plan {version()}"), ("Schema", answer.schema)]
    yield from blocks.html([Facts(tuple(entries))])
    rows = render("csv", document)
    if len(rows.encode()) <= LARGEST:
        yield f"<p>{_download('rows.csv', rows, 'Rows as CSV')}</p>"
    else:
        yield '<p class="note">The rows are too many for this file: add --format csv to the command.</p>'
    yield "</section>"


def _download(name: str, text: str, label: str) -> str:
    data = base64.b64encode(text.encode()).decode()
    return f'<a download="{escape(name)}" href="data:text/csv;charset=utf-8;base64,{data}">{escape(label)}</a>'


def _today() -> str:
    """The date, or that of SOURCE_DATE_EPOCH, by which a report is the same bytes again."""
    said = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.datetime.now(tz=datetime.UTC)
    day = datetime.datetime.fromtimestamp(int(said), tz=datetime.UTC) if said.isdigit() else now
    return f"{day.day} {day:%B %Y}"


@cache
def _text(name: str) -> str:
    return resources.files("planner.report.sheet").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
