"""What ``hfl-plan bounds list|show|export`` answers, from ids and options."""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, get_args

from hflbounds import catalogue
from hflbounds.core.bound import Bound, Status
from hflbounds.core.evaluation import bind
from hflbounds.export import Statement, Style, formats, render, suffixes, takes
from hflbounds.export.json import describe
from hflbounds.finding import alike, is_without_convexity, nearest, search
from hflbounds.typeset import markup, wording
from hflbounds.typeset.statement import CONSTANTS, STATUS, Value, said_status, words
from planner.errors import NoAnswerError, ScenarioError
from planner.io.listings import Listing, listing
from planner.io.wording import counted, join, join_with_limit, shortened
from planner.report.answers import bound_options as options
from planner.report.answers import bound_tree
from planner.report.answers.bound_options import formula, plain, said
from planner.report.document import COLUMNS, Block, Column, Facts, Section, Sentences, Table, numeric, typed
from planner.report.page import ROWS, brief

BOUNDED = 70  # letters of what is bounded, on a page
WHERE, PARTS = 3, 80  # parts of a formula on a page, and their letters
CONDITIONS = 100  # letters of all conditions on a page
LETTERS = 5  # of quantities on a page
QUANTITY = 24  # letters of a bounded quantity in a list
ALIKE = 2  # families of bounds with other constants that are named
QUANTITIES = 3  # bounded quantities that are named where they are no column
KINDS = ("explicit", "hidden")  # of constants
FILTERS = "--search, --paper, --status, --metric"
FIRST = {"hflbounds.exact": "numbers (exact sums)", "hflbounds.sharp": "a paper (a shorter formula)"}
ID = 34  # letters of an id beside which a line has room for a bounded quantity


def listed(asked: str, paper: str | None, status: str | None, metric: str | None) -> Listing:
    """List the bounds of the catalogue that fit, one a line; ``asked`` are words that must all occur.

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
            deeper = " Those of other depths: `hfl-plan bounds show --tiers star/ring/star`." * ("tier" in asked)
            raise NoAnswerError(f"no bound has all of {asked!a:.80}. {nearest(asked)}{deeper}")
        raise NoAnswerError(f"no bound of the catalogue is all of that. Leave out one of {FILTERS}.")
    rows = [(b.id, b.status, b.constants, shortened(b.bounds.id.replace("-", " "), QUANTITY)) for b in found]
    entries = [
        {
            **{"id": b.id, "status": b.status, "constants": b.constants, "metric": b.bounds.id},
            **{"title": plain(b.title), "kind": b.kind, "paper": b.source.paper.key, "needs": list(b.needs)},
        }
        for b in found
    ]
    whole = Table(typed("text", "id", "status", "constants", "bounded quantity"), tuple(rows))
    quantities, facts, short = Counter(row[3] for row in rows), [], None
    if len(quantities) == 1 or max(len(b.id) for b in found[:ROWS]) > ID:
        short = Table(whole.columns[:3], tuple(row[:3] for row in rows))
        most = [f"{one} ({times:,})" for one, times in quantities.most_common()]
        facts = [("Bounded", join_with_limit(most, QUANTITIES))]
    titles = Section.said("titles", "Titles", (f"{b.id}: {said(b.title)}" for b in found))
    begin = [*_begin([b.id for b in found])]
    verdict = f"{len(found)} of {len(bounds)} bounds.{f' Begin with {join(begin)}.' if begin else ''}"
    meant = {b.status: STATUS[b.status].removeprefix(b.status).lstrip(":, ") for b in found[:ROWS]}
    facts.append(("Status", "; ".join(f"{one}: {text}" for one, text in meant.items())))
    if any(b.constants == "hidden" for b in found[:ROWS]):
        facts.append(("Constants", f"hidden: {CONSTANTS['hidden']}"))
    following = ("hfl-plan bounds show ID", "... --search WORDS")
    answer = listing("bounds-list", verdict, {"of": len(bounds)}, entries, next=following)
    whole_too = whole if short and len(quantities) > 1 else None
    return brief(answer, short or whole, whole=whole_too, facts=facts, sections=[titles], kind="Bounds")


def _begin(found: Sequence[str]) -> Iterator[str]:
    """Name those of a list to begin with, where it has others beside them."""
    for family, whom in FIRST.items():
        ids = [id_ for id_ in found if id_.startswith(f"{family}.")]
        if ids and not all(id_.startswith(family) for id_ in found):
            yield f"{ids[0] if len(ids) == 1 else f'--search {family}'} for {whom}"


def shown(
    bound_id: str | None,
    settings: Sequence[str],
    notation: str,
    *,
    tiers: str | None = None,
    shape: Mapping[str, str | None] = MappingProxyType({}),
) -> Listing:
    """Show one bound, or that of a tree, whole, with its value where numbers are given.

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
    if value is not None:
        chosen = {name: statement.numbers[name] for name in statement.chosen if name not in values}
        tuned = {**(tuned or {}), **chosen} or None
    why = None
    if value is not None and value.total is None:
        why = "the value is beyond float64; log10 is its decimal logarithm"
    step = None if tuned is None else {name: n if math.isfinite(n) else None for name, n in tuned.items()}
    terms = {} if value is None else value.terms
    rows = [{"term": name, "formula": str(term), "value": terms.get(name)} for name, term in bound.terms.items()]
    own = {**describe(statement), "tuned": step, "why": why}
    in_letters = bound.id if tiers is None else "..." if ":" in tiers or any(shape.values()) else f"--tiers {tiers}"
    return _page(statement, own, rows, tuned, in_letters if values else "...")


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
            raise options.lacking(bound.id, needed, (bound,), values)
        return values, None
    best = bound.tuned(**values)
    if best.eta_eff is None:
        return values, None
    step = {"eta_eff": float(best.eta_eff), "eta": float(best.eta), "cap_binds": bool(best.cap_binds)}
    return {**values, "eta_eff": step["eta_eff"]}, step


def _page(statement: Statement, own: Any, rows: Any, tuned: Mapping[str, Any] | None, asked: str) -> Listing:
    """What is bounded by what, on a page; letters, hypotheses and misprints behind ``--explain``.

    ``asked`` is what is exported next, in letters, as papers have it.
    """
    bound, value = statement.bound, statement.value
    letters = Statement(bound, Style(notation=statement.style.notation))  # with the numbers beside them
    text = f"{plain(wording.capital(bound.title))}{'.' if value is None else f': {_value(bound, value)}.'}"
    settings = {str(name) for name in bound.free if str(name) not in statement.numbers}
    lacking = [name for name in bound.needs if name not in statement.numbers and name not in settings]
    following = options.following(lacking)
    answer = listing(
        "bounds-show", text, own, rows, title=bound.id, next=[*following, f"hfl-plan bounds export {asked}"]
    )
    where = [(f"with {markup.unicode(name)}", markup.unicode(tex)) for name, tex in letters.definitions]
    where += [(markup.unicode(tex), plain(meaning)) for tex, meaning in letters.functions]
    conditions = "; ".join(markup.unicode(condition) for condition in letters.conditions)
    if len(conditions) > CONDITIONS:
        where.append(("if", conditions))
        conditions = f"{counted(len(letters.conditions), 'condition')}: --explain where"
    few = len(where) <= WHERE and sum(len(name) + len(text) for name, text in where) <= PARTS
    misprints = [
        f"{e.id} ({e.gravity}), {plain(letters.prose(e.place))}: printed {plain(printed)}; supported {plain(proved)}. "
        f"{plain(wording.capital(letters.prose(e.because))).rstrip('.')}."
        for e, printed, proved in statement.errata()
    ]
    graves = Counter(e.gravity for e, *_ in statement.errata())
    all_of_them = f"; a value needs {len(lacking)} of them" if value is None and len(lacking) > options.FEW else ""
    needed = ", ".join(one.losses or one.id for one in bound.assumes)
    errata = ", ".join(f"{gravity} {count}" for gravity, count in graves.items())
    step = "Step" if tuned is None or "eta_eff" in tuned else "Free"
    facts = [
        *(where if few else [("with", f"{len(where)} parts of these terms: --explain where")]),
        ("if", conditions),
        (step, "" if tuned is None else _step(tuned)),
        ("Source", plain(letters.prose(str(bound.source)))),
        ("Status", f"{bound.kind}, {said_status(bound)}; {CONSTANTS[bound.constants]}"),
        ("Bounded", textwrap.shorten(plain(letters.bounded).partition(";")[0], BOUNDED, placeholder=" ...")),
        ("Needs", needed + "; no convexity" * (bool(needed) and is_without_convexity(bound))),
        ("Also", _others(bound)),
        ("Errata", f"{errata}: --explain misprints" if errata else ""),
        ("Letters", f"{join_with_limit(list(bound.needs), LETTERS)}{all_of_them}: --explain letters"),
    ]
    given = {name: f"{number:.6g}" for name, number in statement.numbers.items()}
    named = tuple(
        (name, f"{markup.unicode(tex)}{f' = {given[name]}' if name in given else ''}: {plain(what)}")
        for name, tex, what in letters.symbols
    )
    sections = [
        Section("where", "Parts of the formula", (Facts(tuple(where), indent=2, strong=False),) * bool(where)),
        Section.said("bounded", "Bounded", (plain(letters.bounded),)),
        Section("letters", "Quantities", (Facts(named, indent=2, strong=False),)),
        Section.said("hypotheses", "Hypotheses", map(plain, letters.assumptions)),
        Section.said("misprints", "Printed otherwise", misprints),
    ]
    body = _terms(letters, {} if value is None else value.terms)
    shown = [fact for fact in facts if fact[1]]
    fewer = [fact for fact in shown if fact[0] != "Also"]
    counts = {"Needs": f"{counted(len(bound.assumes), 'assumption')}: --explain hypotheses"}
    parts = [(name, counts.get(name, text)) for name, text in fewer]
    least = [fact for fact in parts if fact[0] != "Bounded"]  # a section says it
    return brief(answer, body, facts=shown, shorter=(fewer, parts, least), sections=sections, kind="Bound")


def _others(bound: Bound) -> str:
    """Name the same guarantee with other constants: explicit ones for values, hidden ones as papers print them."""
    others = sorted(alike(bound), key=lambda one: (one.status == "refuted", one.status != "own"))
    found = {kind: [one.id.rpartition(".")[0] for one in others if one.constants == kind] for kind in KINDS}
    return "; ".join(f"{kind} constants: {join_with_limit(ids, ALIKE)}" for kind, ids in found.items() if ids)


def _terms(letters: Statement, amounts: Mapping[str, float]) -> list[Block]:
    """Both sides, a term a line; beside their names where a table is too wide."""
    rows = []
    for i, (name, tex) in enumerate(letters.terms.items()):
        negative = tex.startswith("-")
        side = formula(tex) if i == 0 else formula(tex[negative:].lstrip(), "- " if negative else "+ ")
        amount = [f"{amounts[name]:.6g}"] if amounts else []
        rows.append((side, words(name), *amount))
    left = Sentences(formula(f"{letters.left} {letters.sign}"))
    columns = (Column("right-hand side"), Column("term"), *numeric(*["value"] * bool(amounts)))
    table = Table(columns, tuple(rows), label="terms", indent=2, apart=False)
    if table.width() <= COLUMNS:
        return [left, table]
    beside = tuple((": ".join(row[1:]), row[0]) for row in rows)
    return [left, Facts(beside, indent=2, strong=False)]


def _value(bound: Bound, value: Value) -> str:
    logarithm = "" if value.log10 is None else f", 10^{value.log10:.6g}"
    hidden = "" if bound.constants == "explicit" else ", up to a factor that is not stated"
    return f"{f'beyond float64{logarithm}' if value.total is None else f'{value.total:.6g}'}{hidden}"


def _step(tuned: Mapping[str, Any]) -> str:
    binds = ", where the cap of the statement binds" if tuned.get("cap_binds") else ""
    named = [(name.replace("eta", "raw eta") if name == "eta" else name, n) for name, n in tuned.items()]
    best = ", ".join(f"{name} = {n:.6g}" for name, n in named if name != "cap_binds")
    return f"none given, so the best: {best}{binds}"


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
        raise ScenarioError(f"{spelled.get(name, f'--{name}')}: {form} does not take it; {able} would.")
    label = asked.get("label")
    if label is not None and not re.fullmatch(r"[A-Za-z0-9:._-]+", label):
        raise ScenarioError(f"--label: {label!a:.60} may have letters, digits and : . _ - only. Write eq:drift.")
    if asked.get("bare") and asked.get("standalone"):
        raise ScenarioError("--bare is an equation for a document, --standalone is a document. Leave out one of them.")
    style = Style(notation=options.notation(notation), letters=options.letters(letters, bounds), values=values, **asked)
    with options.refusals():
        return render(form, bounds, style)


def format_of(output: str, tiers: str | None) -> str:
    """Read the format off the suffix of a file; LaTeX where it has none.

    Raises:
        ScenarioError: for a suffix of no format.
    """
    known, suffix = bound_tree.SUFFIXES if tiers == bound_tree.ANY else suffixes(), PurePath(output).suffix.lower()
    if suffix and suffix not in known:
        way = "Name a file such as bounds.tex, or add --format."
        raise ScenarioError(f"--output: {output!a:.80} does not end in one of {', '.join(known)}. {way}", code="E035")
    return known.get(suffix, "latex")
