"""What ``hfl-plan bounds list|show|export`` answers, from ids and options."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, get_args

from hflbounds import catalogue
from hflbounds.core.bound import Bound, Status
from hflbounds.core.evaluation import bind
from hflbounds.export import Statement, Style, formats, render, takes
from hflbounds.export.json import describe
from hflbounds.finding import nearest, search
from hflbounds.typeset import markup, wording
from hflbounds.typeset.statement import CONSTANTS, said_status, words
from planner.errors import NoAnswerError, ScenarioError
from planner.io.answers import listed as document_of
from planner.io.wording import shortened
from planner.report.answers import bound_options as options
from planner.report.answers import bound_tree
from planner.report.answers.bound_options import formula, plain, said
from planner.report.document import Block, Column, Document, Items, Paragraph, Section, Sentences, Table
from planner.report.page import brief

SHOW_SCHEMA = "hfl-plan/bound/1"
QUANTITY = 24  # letters of a bounded quantity in a list
FILTERS = "--search, --paper, --status, --metric"


def listed(asked: str, paper: str | None, status: str | None, metric: str | None) -> Document:
    """The bounds of the catalogue that fit, one a line.

    Args:
        asked: words that must all occur; "" for any bound.
        paper: key of the paper.
        status: as of `Bound.status`.
        metric: id of what is bounded.

    Raises:
        ScenarioError: for a paper, status or metric that does not occur.
        NoAnswerError: if nothing fits.
    """
    bounds = tuple(catalogue().values())
    options.known("--paper", paper, (b.source.paper.key for b in bounds))
    options.known("--status", status, get_args(Status))
    options.known("--metric", metric, (b.bounds.id for b in bounds))
    found = search(asked, paper=paper, status=status, metric=metric)
    if not found:
        if asked.strip() and not search(asked):
            raise NoAnswerError(f"no bound has all of {asked!a:.80}. {nearest(asked)}")
        raise NoAnswerError(f"no bound of the catalogue is all of that. Leave out one of {FILTERS}.")
    rows = [(b.id, b.status, b.constants, shortened(b.bounds.id.replace("-", " "), QUANTITY)) for b in found]
    entries = [
        {
            **{"id": b.id, "status": b.status, "constants": b.constants, "metric": b.bounds.id},
            **{"title": plain(b.title), "kind": b.kind, "paper": b.source.paper.key, "needs": list(b.needs)},
        }
        for b in found
    ]
    table = Table(tuple(map(Column, ("id", "status", "constants", "bounded quantity"))), tuple(rows), indent=2)
    records = tuple({**entry, "needs": " ".join(entry["needs"])} for entry in entries)
    titles = Section("titles", "Titles", tuple(Sentences(f"{b.id}: {said(b.title)}", indent=2) for b in found))
    verdict = f"{len(found)} of {len(bounds)} bounds."
    facts = [("Next", "hfl-plan bounds show ID    ... --search WORDS")]
    data = document_of("bounds-list", verdict, {"of": len(bounds)}, entries)
    return brief(verdict, table, data, facts=facts, sections=[titles], records=records, kind="Bounds")


# ---------------------------------------------------------------- show


def shown(
    bound_id: str | None,
    settings: Sequence[str],
    notation: str,
    *,
    tiers: str | None = None,
    shape: Mapping[str, str | None] = MappingProxyType({}),
) -> Document:
    """One bound in full, with its value where numbers are given.

    Args:
        bound_id: of the catalogue; None where tiers are given.
        settings: ``--set``.
        notation: of letters.
        tiers: of a tree of any depth in place of an id: with sizes, without, or ``any`` for the statement for all.
        shape: ``--passes``, ``--drawn``, ``--order``, ``--draws`` of that tree.

    Raises:
        UnknownBoundError: if there is none, naming the nearest.
        ScenarioError: for settings that are no numbers of its quantities, or not all it needs.
        NoAnswerError: where the bound does not apply.
    """
    if (bound_id is None) == (tiers is None):
        raise ScenarioError("bounds show: name a bound, or a tree with --tiers ring/star/ring, and not both.")
    values = options.numbers(settings)
    if tiers == bound_tree.ANY:
        bound_tree.refuse_shape(shape, "the statement is for all trees. Leave it out, or name tiers.")
        if values:
            raise ScenarioError("--set: the statement is for all trees. Name tiers: --tiers ring:4/star:5.")
        return bound_tree.recursive()
    if tiers is not None:
        bound, values = bound_tree.stated(tiers, shape, values)
    else:
        bound_tree.refuse_shape(shape, "is of a tree. Name it with --tiers ring:4/star:5, or leave it out.")
        bound = options.bound_named(str(bound_id))
    options.heeded(values, (bound,))
    tuned: dict[str, Any] | None = None
    with options.refusals():
        if values:
            values, tuned = _completed(bound, values)
        statement = Statement(bound, Style(notation=options.notation(notation), values=values))
        value = statement.value
    why = None
    if value is not None and value.total is None:
        why = "the value is beyond float64; log10 is its decimal logarithm"
    step = None if tuned is None else {name: n if math.isfinite(n) else None for name, n in tuned.items()}
    data = {"schema": SHOW_SCHEMA, **describe(statement), "tuned": step, "why": why}
    terms = {} if value is None else value.terms
    records = tuple(
        {"id": bound.id, "term": name, "formula": str(term), "value": terms.get(name)}
        for name, term in bound.terms.items()
    )
    return Document(bound.id, tuple(_page(statement, tuned)), data, records, kind="Bound")


def _completed(bound: Bound, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The values with the step that makes the bound smallest, where the step alone is missing."""
    known = bound.complete(values)
    lacking = [name for name in bound.needs if known.get(name) is None]
    bind(bound.id, [name for name in bound.needs if name not in lacking], known)  # what is given comes first
    missing = [name for name in lacking if name not in map(str, bound.free)]  # these follow from the step
    if lacking and not missing:
        bound(**values)  # there is none: the condition that fails is what is refused
    if missing != ["eta_eff"]:
        if needed := [name for name in missing if name != "eta_eff" or bound.chain is None]:
            raise ScenarioError(f"--set: {bound.id} also needs {', '.join(needed)}.")
        return values, None
    best = bound.tuned(**values)
    if best.eta_eff is None:
        return values, None
    step = {"eta_eff": float(best.eta_eff), "eta": float(best.eta), "cap_binds": bool(best.cap_binds)}
    return {**values, "eta_eff": step["eta_eff"]}, step


def _page(statement: Statement, tuned: Mapping[str, Any] | None) -> Iterator[Block]:
    bound, value = statement.bound, statement.value
    letters = Statement(bound, Style(notation=statement.style.notation))  # with the numbers beside them
    yield Paragraph(plain(wording.capital(bound.title)))
    yield Paragraph(plain(letters.prose(str(bound.source))))
    yield Paragraph(
        f"{wording.capital(bound.kind)}. {wording.capital(said_status(bound))}; {CONSTANTS[bound.constants]}."
    )
    yield _terms(letters, {} if value is None else value.terms)
    where = [f"with {markup.unicode(f'{name} = {tex}')}" for name, tex in letters.definitions]
    where += [f"if {markup.unicode(condition)}" for condition in letters.conditions]
    yield from (Paragraph(f"  {line}") for line in where)
    if value is not None:
        yield from _value(bound, value.total, value.log10, tuned)
    yield Items("Bounded", (plain(letters.bounded),))
    columns = [Column("name"), Column("letter"), Column("meaning", wraps=True)]
    rows: list[tuple[Any, ...]] = [(name, formula(tex), said(what)) for name, tex, what in letters.symbols]
    if statement.numbers:
        columns.insert(2, Column("value", "number"))
        given = {name: f"{number:.6g}" for name, number in statement.numbers.items()}
        rows = [(*row[:2], given.get(row[0]), row[2]) for row in rows]
    yield Table(tuple(columns), tuple(rows), "Quantities", indent=2)
    yield from (Paragraph(f"  {markup.unicode(tex)}: {plain(meaning)}") for tex, meaning in letters.functions)
    yield Items("Hypotheses", tuple(plain(assumed) for assumed in letters.assumptions))
    notes = (
        f"{e.id} ({e.gravity}), {plain(letters.prose(e.place))}: printed {plain(printed)}; supported {plain(proved)}. "
        f"{plain(wording.capital(letters.prose(e.because))).rstrip('.')}."
        for e, printed, proved in statement.errata()
    )
    yield Items("Printed otherwise", tuple(notes))


def _terms(letters: Statement, amounts: Mapping[str, float]) -> Table:
    rows = []
    for i, (name, tex) in enumerate(letters.terms.items()):
        negative = tex.startswith("-")
        side = formula(tex) if i == 0 else formula(tex[negative:].lstrip(), "- " if negative else "+ ")
        amount = [f"{amounts[name]:.6g}"] if amounts else []
        rows.append((side, words(name), *amount))
    columns = (Column("right-hand side"), Column("term"), *[Column("value", "number")] * bool(amounts))
    return Table(columns, tuple(rows), formula(f"{letters.left} {letters.sign}"), indent=2)


def _value(
    bound: Bound, total: float | None, log10: float | None, tuned: Mapping[str, Any] | None
) -> Iterator[Paragraph]:
    logarithm = "" if log10 is None else f", 10^{log10:.6g}"
    amount = f"beyond float64{logarithm}" if total is None else f"{total:.6g}"
    hidden = "" if bound.constants == "explicit" else ", up to a factor that is not stated"
    yield Paragraph(f"Value: {amount}{hidden}", "bold")
    if tuned is not None:
        binds = ", where the cap of the statement binds" if tuned["cap_binds"] else ""
        step = f"eta_eff = {tuned['eta_eff']:.6g}, raw eta = {tuned['eta']:.6g}"
        yield Paragraph(f"Step: none given, so the best: {step}{binds}")


# ---------------------------------------------------------------- export


def exported(
    ids: Sequence[str],
    everything: bool,
    form: str,
    settings: Sequence[str],
    letters: Sequence[str],
    *,
    notation: str,
    tiers: str | None = None,
    shape: Mapping[str, str | None] = MappingProxyType({}),
    **asked: Any,
) -> str:
    """Bounds in a format, or the bound of a tree as of `shown`; ``asked`` are other fields of `Style`.

    Raises:
        UnknownBoundError: for an id that there is not, naming the nearest.
        ScenarioError: for options that cannot be meant.
        NoAnswerError: where numbers are given for which a bound does not apply.
    """
    if bool(ids) + everything + (tiers is not None) != 1:
        raise ScenarioError("bounds export: name one or more ids, or --all, or --tiers, and not two of these.")
    if tiers == bound_tree.ANY:
        bound_tree.refuse_shape(shape, "the statement is for all trees. Leave it out, or name tiers.")
        stray = {"--set": settings, "--letter": letters, "--notation": notation != "common"}
        stray |= {f"--{name}": used for name, used in asked.items()}
        return bound_tree.recursive_in(form, [name for name, used in stray.items() if used])
    options.known("--format", form, formats())
    values = options.numbers(settings)
    if tiers is not None:
        bound, values = bound_tree.stated(tiers, shape, values)
        bounds: tuple[Bound, ...] = (bound,)
    else:
        bound_tree.refuse_shape(shape, "is of a tree. Name it with --tiers ring:4/star:5, or leave it out.")
        bounds = tuple(catalogue().values()) if everything else options.bounds_named(ids)
    options.heeded(values, bounds)
    given = {"notation": notation != "common", "letters": bool(letters), "values": bool(values)} | asked
    spelled = {"letters": "--letter", "values": "--set"}
    for name in (n for n, used in given.items() if used not in (False, None) and n not in takes(form)):
        able = ", ".join(other for other in formats() if name in takes(other))
        raise ScenarioError(f"{spelled.get(name, f'--{name}')}: {form} does not heed it; {able} would.")
    label = asked.get("label")
    if label is not None and not re.fullmatch(r"[A-Za-z0-9:._-]+", label):
        raise ScenarioError(f"--label: {label!a:.60} may have letters, digits and : . _ - only. Write eq:drift.")
    if asked.get("bare") and asked.get("standalone"):
        raise ScenarioError("--bare is an equation for a document, --standalone is a document. Leave out one of them.")
    style = Style(
        notation=options.notation(notation),
        letters=options.letters(letters, bounds),
        values=values,
        **asked,
    )
    with options.refusals():
        return render(form, bounds, style)
