"""What ``hfl-plan bounds`` answers: text from ids and options."""

from __future__ import annotations

import contextlib
import difflib
import json
import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast, get_args

from hflbounds import catalogue, families
from hflbounds.audit.checks import audit
from hflbounds.core.bound import Bound, Notation, Status
from hflbounds.core.evaluation import bind
from hflbounds.core.quantities import ABOUT, ARRAYS
from hflbounds.errors import ConditionError, FormatError, UnknownBoundError
from hflbounds.export import Statement, Style, formats, render, takes
from hflbounds.export.json import describe
from hflbounds.typeset import markup, wording
from hflbounds.typeset.statement import CONSTANTS, STATUS, letter, words
from planner.errors import NoAnswerError, ScenarioError
from planner.io.progress import progress
from planner.io.text import suggest

LIST_SCHEMA = "hfl-plan/bounds-list/1"
SHOW_SCHEMA = "hfl-plan/bound/1"
CHECK_SCHEMA = "hfl-plan/bounds-check/1"
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?")
LONGEST = 100_000  # characters of an array on the command line


# ---------------------------------------------------------------- list


def listed(paper: str | None, status: str | None, metric: str | None, as_json: bool) -> str:
    """The bounds of the catalogue that fit, one a line.

    Raises:
        ScenarioError: for a paper, status or metric that does not occur.
        NoAnswerError: if nothing fits.
    """
    bounds = tuple(catalogue().values())
    _one_of("--paper", paper, (b.source.paper.key for b in bounds))
    _one_of("--status", status, get_args(Status))
    _one_of("--metric", metric, (b.bounds.id for b in bounds))
    found = [
        bound
        for bound in bounds
        if paper in (None, bound.source.paper.key)
        and status in (None, bound.status)
        and metric in (None, bound.bounds.id)
    ]
    if not found:
        raise NoAnswerError("no bound of the catalogue is all of that. Leave out one of --paper, --status, --metric.")
    rows = [(b.id, b.status, b.constants, b.bounds.id, _plain(b.title)) for b in found]
    if as_json:
        keys = ("id", "status", "constants", "metric", "title")
        entries = [
            dict(zip(keys, row, strict=True)) | {"kind": b.kind, "paper": b.source.paper.key, "needs": list(b.needs)}
            for row, b in zip(rows, found, strict=True)
        ]
        return _json({"schema": LIST_SCHEMA, "bounds": entries})
    table = _columns([("id", "status", "constants", "bounds", "title"), *rows])
    return f"{table}\n{len(found)} of {len(bounds)} bounds. `hfl-plan bounds show ID` shows one.\n"


def _one_of(option: str, given: str | None, known: Iterable[str]) -> None:
    choices = list(dict.fromkeys(known))
    if given is not None and given not in choices:
        hint = suggest(given, choices) or f"Write one of {', '.join(choices)}."
        raise ScenarioError(f"{option}: {given!a:.60} does not occur. {hint}")


# ---------------------------------------------------------------- show


def shown(bound_id: str, settings: Sequence[str], notation: str, as_json: bool) -> str:
    """One bound in full, with its value where numbers are given.

    Raises:
        UnknownBoundError: if there is none, naming the nearest.
        ScenarioError: for settings that are no numbers of its quantities, or not all it needs.
        NoAnswerError: where the bound does not apply.
    """
    bound = _bound(bound_id)
    values = _settings(settings)
    tuned: dict[str, Any] | None = None
    with _refusals():
        if values:
            values, tuned = _completed(bound, values)
        statement = Statement(bound, Style(notation=_notation(notation), values=values))
        value = statement.value
    if as_json:
        why = None
        if value is not None and value.total is None:
            why = "the value is beyond float64; log10 is its decimal logarithm"
        step = None if tuned is None else {name: n if math.isfinite(n) else None for name, n in tuned.items()}
        return _json({"schema": SHOW_SCHEMA, **describe(statement), "tuned": step, "why": why})
    return _page(statement, tuned)


def _completed(bound: Bound, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The values with the step that makes the bound smallest, where the step alone is missing."""
    known = bound.complete(values)
    missing = [name for name in bound.needs if known.get(name) is None]
    bind(bound.id, [name for name in bound.needs if name not in missing], known)  # what is given comes first
    if missing != ["eta_eff"]:
        if needed := [name for name in missing if name != "eta_eff" or bound.chain is None]:
            raise ScenarioError(f"--set: {bound.id} also needs {', '.join(needed)}.")
        return values, None
    best = bound.tuned(**values)
    if best.eta_eff is None:
        return values, None
    step = {"eta_eff": float(best.eta_eff), "eta": float(best.eta), "cap_binds": bool(best.cap_binds)}
    return {**values, "eta_eff": step["eta_eff"]}, step


def _page(statement: Statement, tuned: Mapping[str, Any] | None) -> str:
    bound, value = statement.bound, statement.value
    amounts = {} if value is None else {name: f"{term:.6g}" for name, term in value.terms.items()}
    plain = Statement(bound, Style(notation=statement.style.notation))  # letters, with the numbers beside them
    sign = markup.unicode(plain.sign)
    rows = []
    for i, (name, tex) in enumerate(plain.terms.items()):
        text = markup.unicode(tex)
        side = text if i == 0 else f"- {text.removeprefix('−')}" if text.startswith("−") else f"+ {text}"
        rows.append((f"{'  ' if i == 0 else ''}{side}", words(name), amounts.get(name, "")))
    out = [bound.id, _plain(wording.capital(bound.title)), _plain(plain.prose(str(bound.source)))]
    out.append(f"{wording.capital(bound.kind)}. {wording.capital(STATUS[bound.status])}; {CONSTANTS[bound.constants]}.")
    out += ["", f"  {markup.unicode(plain.left)} {sign}", _indented(_columns(rows), 4)]
    out += [f"  with {markup.unicode(f'{name} = {tex}')}" for name, tex in plain.definitions]
    out += [f"  if {markup.unicode(condition)}" for condition in plain.conditions]
    if value is not None:
        out.append("")
        if value.total is None:
            shown = "beyond float64" + ("" if value.log10 is None else f", 10^{value.log10:.6g}")
        else:
            shown = f"{value.total:.6g}"
        out.append(f"Value: {shown}" + ("" if bound.constants == "explicit" else ", up to a factor that is not stated"))
        if tuned is not None:
            binds = ", where the cap of the statement binds" if tuned["cap_binds"] else ""
            out.append(
                f"Step: none given, so the best: eta_eff = {tuned['eta_eff']:.6g}, raw eta = {tuned['eta']:.6g}{binds}"
            )
    out += ["", "Bounded", *_bullets([_plain(plain.bounded)])]
    numbers = {name: f"= {number:.6g}" for name, number in statement.numbers.items()}
    letters = [(name, markup.unicode(tex), numbers.get(name, ""), _plain(what)) for name, tex, what in plain.symbols]
    out += ["", "Quantities", _indented(_columns(letters), 2)]
    out += [f"  {markup.unicode(tex)}: {_plain(meaning)}" for tex, meaning in plain.functions]
    out += ["", "Hypotheses", *_bullets([_plain(said) for said in plain.assumptions])]
    notes = statement.errata()
    if notes:
        said = [
            f"{e.id} ({e.gravity}), {_plain(plain.prose(e.place))}: "
            f"printed {_plain(printed)}; supported {_plain(proved)}. "
            f"{_plain(wording.capital(plain.prose(e.because))).rstrip('.')}."
            for e, printed, proved in notes
        ]
        out += ["", "Printed otherwise", *_bullets(said)]
    return "\n".join(line.rstrip() for line in "\n".join(out).splitlines()) + "\n"


def _bullets(items: Iterable[str]) -> list[str]:
    return [textwrap.fill(item, 110, initial_indent="  - ", subsequent_indent="    ") for item in items]


# ---------------------------------------------------------------- export


def exported(
    ids: Sequence[str],
    everything: bool,
    form: str,
    settings: Sequence[str],
    letters: Sequence[str],
    *,
    notation: str,
    **asked: Any,
) -> str:
    """Bounds in a format; ``asked`` are other fields of `Style`.

    Raises:
        UnknownBoundError: for an id that there is not, naming the nearest.
        ScenarioError: for options that cannot be meant.
        NoAnswerError: where numbers are given for which a bound does not apply.
    """
    _one_of("--format", form, formats())
    if bool(ids) == everything:
        raise ScenarioError("bounds export: name one or more ids, or --all, and not both.")
    bounds = tuple(catalogue().values()) if everything else _named(ids)
    given = {"notation": notation != "common", "letters": bool(letters), "values": bool(settings)} | asked
    options = {"letters": "--letter", "values": "--set"}
    for name in (n for n, used in given.items() if used not in (False, None) and n not in takes(form)):
        able = ", ".join(other for other in formats() if name in takes(other))
        raise ScenarioError(f"{options.get(name, f'--{name}')}: {form} does not heed it; {able} would.")
    label = asked.get("label")
    if label is not None and not re.fullmatch(r"[A-Za-z0-9:._-]+", label):
        raise ScenarioError(f"--label: {label!a:.60} may have letters, digits and : . _ - only. Write eq:drift.")
    if asked.get("bare") and asked.get("standalone"):
        raise ScenarioError("--bare is an equation for a document, --standalone is a document. Leave out one of them.")
    style = Style(notation=_notation(notation), letters=_letters(letters, bounds), values=_settings(settings), **asked)
    with _refusals():
        return render(form, bounds, style)


def checked(ids: Sequence[str], paper: str | None, as_json: bool) -> tuple[str, int]:
    """A verdict for every check of the bounds named, of a paper's, or of all; progress goes to stderr.

    Returns:
        the text, and how many checks failed.

    Raises:
        UnknownBoundError, ScenarioError: for ids and papers that there are not, or both at once.
    """
    if ids and paper is not None:
        raise ScenarioError("bounds check: name ids, or --paper, and not both.")
    bounds = _named(ids) if ids else tuple(catalogue().values())
    _one_of("--paper", paper, (b.source.paper.key for b in bounds))
    chosen = [bound for bound in bounds if paper in (None, bound.source.paper.key)]
    found = []
    for verdict in audit(chosen):
        found.append(verdict)
        progress(f"{len(found)}: {verdict.subject[:40]:40} {verdict.check[:25]}")
    progress("")
    failed = [verdict for verdict in found if verdict.failure]
    if as_json:
        rows = [
            {"subject": v.subject, "check": v.check, "passed": not v.failure, "facts": v.facts, "failure": v.failure}
            for v in found
        ]
        return _json({"schema": CHECK_SCHEMA, "failed": len(failed), "verdicts": rows}), len(failed)
    bodies = [(v.subject, v.check, "fails" if v.failure else "passes", v.failure or f"{v.facts} facts") for v in found]
    tally = f"{len(found)} checks of {len(chosen)} bounds, " + (f"{len(failed)} failed." if failed else "all passed.")
    return f"{_columns([('of', 'check', 'verdict', 'found'), *bodies])}\n{tally}\n", len(failed)


# ---------------------------------------------------------------- what they share


def _named(ids: Sequence[str]) -> tuple[Bound, ...]:
    """The bounds of ids and families, each once."""
    known = families()
    found: dict[str, Bound] = {}
    for name in ids:
        for bound in known[name] if name in known else (_bound(name),):
            found[bound.id] = bound
    return tuple(found.values())


def _bound(name: str) -> Bound:
    """The bound of an id.

    Raises:
        ScenarioError: for a family, with its members.
        UnknownBoundError: for anything else, naming the nearest.
    """
    known, groups = catalogue(), families()
    if name in known:
        return known[name]
    if name in groups:
        raise ScenarioError(f"{name} is a family of bounds. Name one of {', '.join(b.id for b in groups[name])}.")
    alike = {other.casefold(): other for other in [*groups, *known]}
    wanted = name.strip().casefold()
    near = [wanted] if wanted in alike else [other for other in alike if wanted and other.startswith(f"{wanted}.")]
    near = near or difflib.get_close_matches(wanted, alike)
    hint = f"did you mean {' or '.join(alike[other] for other in near[:4])}?" if near else "see `hfl-plan bounds list`."
    raise UnknownBoundError(f"no bound is called {name!a:.80}; {hint}")


def _letters(given: Sequence[str], bounds: Sequence[Bound]) -> dict[str, str]:
    """LaTeX by the names of quantities, where each is a letter and stands in one of the bounds.

    Raises:
        ScenarioError: for anything else.
    """
    found: dict[str, str] = {}
    for text in given:
        name, tex = _pair("--letter", text)
        if name not in ABOUT:
            raise ScenarioError(f"--letter: no quantity is called {name!a:.40}. {suggest(name, ABOUT)}".rstrip())
        if name in found:
            raise ScenarioError(f"--letter: {name} is given twice. Give it once.")
        if not any(name in bound.needs for bound in bounds):
            raise ScenarioError(f"--letter: {name} stands in none of these bounds. Leave it out.")
        try:
            letter(tex, name)
        except FormatError as error:
            raise ScenarioError(f"--letter: {error}.") from None
        found[name] = tex
    return found


def _notation(given: str) -> Notation:
    _one_of("--notation", given, get_args(Notation))
    return cast(Notation, given)


def _pair(option: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not sign or not name or not value:
        raise ScenarioError(f"{option}: {text!a:.60} is not name=value.")
    return name, value


def _settings(settings: Sequence[str]) -> dict[str, Any]:
    """Numbers by name; arrays in JSON where a quantity is made of one.

    Raises:
        ScenarioError: for anything else.
    """
    found: dict[str, Any] = {}
    for setting in settings:
        name, text = _pair("--set", setting)
        if name not in ABOUT and name not in ARRAYS:
            hint = suggest(name, [*ABOUT, *ARRAYS]) or f"Known are {', '.join([*ABOUT, *ARRAYS])}."
            raise ScenarioError(f"--set: no quantity is called {name!a:.40}. {hint}")
        if name in found:
            raise ScenarioError(f"--set: {name} is set twice. Set it once.")
        found[name] = _array(name, text) if name in ARRAYS else _number(name, text)
    return found


def _number(name: str, text: str) -> float:
    if not NUMBER.fullmatch(text) or math.isinf(number := float(text)):
        raise ScenarioError(f"--set: {name}={text!a:.40} is not a finite number. Write {name}=0.5.")
    return number


def _array(name: str, text: str) -> list[Any]:
    try:
        found = json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        found = None
    rows = found if isinstance(found, list) and found else [None]
    flat: list[Any] = [part for row in rows for part in (row if isinstance(row, list) else [row])]
    if not all(type(part) in (int, float) and math.isfinite(part) for part in flat):
        raise ScenarioError(f"--set: {name} is an array in JSON, {ARRAYS[name]}. Write {name}=[[1,0],[1,1]].")
    return rows


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """What bounds raise for numbers, as what the command line says."""
    try:
        yield
    except ConditionError as error:
        raise NoAnswerError(f"{error}.") from None
    except (TypeError, OverflowError) as error:
        raise ScenarioError(f"--set: {error}.") from None


def _plain(text: str) -> str:
    return wording.sentence(text, wording.line, markup.unicode)


def _columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows below each other; the last column is not padded."""

    def wide(text: str) -> int:
        return sum(not unicodedata.combining(letter) for letter in text)

    widths = [max(map(wide, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(text + " " * (w - wide(text)) for text, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _indented(text: str, by: int) -> str:
    return textwrap.indent(text.rstrip("\n"), " " * by)


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, allow_nan=False) + "\n"
