"""The page of an answer: verdict, table, what it assumes, what changes it, evidence, question, next; and its details.

Every command's page has these parts in this order, within 25 lines of 80 columns. Numbers are marked: ``~`` predicted,
``?`` assumed, ``[ ]`` an interval; numbers that were given are plain.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner.decide.recommendation import SHARING
from planner.decide.single_tier import BY_GROUP, SINGLE, unserved
from planner.errors import ScenarioError
from planner.io.answers import Answer, Assumption, Evidence, KnownValue, NextStep, Quantity, Sensitivity, Told, Verdict
from planner.io.listings import Listing
from planner.io.text import suggest
from planner.io.wording import CASES, duration, in_terms_of, input_words, join, places, target_option, times, title, two
from planner.report.document import (
    COLUMNS,
    Amount,
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Heading,
    Section,
    Sentences,
    Table,
    typed,
)
from planner.report.render.table import first_that_fits
from planner.scenario.units import format_amount, format_break_even

LEGEND = {"~": "~ predicted", "?": "? assumed", "[": "[ ] 80 % interval", "=": "= toss-up"}
LEGEND |= {"-": "x-x: own to servers' links", BY_GROUP: f"{BY_GROUP}: group after group"}
TIED = "="  # after how many times the best one takes of a toss-up that the verdict does not name
OWN_LEVEL = "% interval"  # in the name of a column that says it
SCALE = "Rounds"  # a fact of how far they may be off as a whole
BEGUN = "rounds begun"  # a column, where rounds that break begin again
ROWS = 15  # of a long table on a page
ALL = "all"  # sections
PROVENANCE = "provenance"  # where every value comes from, assumptions included
WARNINGS = "warnings"  # a section of every answer, also of one that has none
LINES = {
    **dict.fromkeys(("assumptions", "assumed"), PROVENANCE),
    **{"evidence": "record", "changes": "break-even", "confidence": "uncertainty"},
}
"""Sections by the words of a page that send there."""
EMPTY = (Sentences(""), Sentences("", "dim"), Sentences("", "bold"), Facts(()))
NAMED = 6  # letters of a symbol
LONGEST = 100  # letters of a warning on a page
NAMES = 34  # letters of cases in one line
SPELT = 3  # topologies of a toss-up that a change names at most
ALONE = " alone"  # of a toss-up
SEARCHED = "searched"  # how the source of a count begins that a search found: it is kept where other inputs move
MEANS = {  # settings whose names say too little, or not how to choose them
    ("tiers", "1"): "--tiers 1 (clients send to the top)",
    ("tiers", "2"): "--tiers 2 (with servers)",
    ("cost", "diluted"): "--cost diluted (split rates)",
}
OPTIONS = {  # and how others are written
    "cost": "--cost {}",
    "order": "--order {}",
    "availability.detect": "--set availability.detect='{}'",
    "client_link.hop": "--set network.client_link.hop={}",
    "server_link.hop": "--set network.server_link.hop={}",
    "server_link.sharing": "--set network.server_link.sharing={}",
}
MOST, LESS = 130, 36  # letters of all assumptions on a page, and on a short one
RECORD = (Column("right", "number"), *typed("share", "regret, median", "one of ten"))
PLAIN = ("...", "planner.")  # begins what is no word of a shell


def page(
    answer: Answer,
    table: Table | Sequence[Block],
    sections: Iterable[Section] = (),
    *,
    label: Callable[[Verdict], str] | None = None,
    facts: Iterable[tuple[str, str]] = (),
    without: Container[str] = (),
    kind: str = "Answer",
    short: bool = False,
) -> Document:
    """Lay an answer out, around its table or several blocks in place of one.

    A table alone is indented. Sections are details that ``--explain`` shows; ``label`` names a case of the verdict, by
    default in words. Facts are lines of the command's own between table and changes; ``without`` are shared ones that
    say what the table says. ``kind`` is what the answer is where the scenario has no title. A ``short`` page has fewer
    assumptions and changes, as where the verdict has cases.
    """
    body: list[Block] = [Sentences(answer.verdict.text, "bold")]
    if answer.verdict.cases:
        body.append(Facts(tuple(_cases(answer, label)), indent=2, strong=False))
    body.append(Sentences(f"\n{target}" if (target := in_words(answer)) else ""))
    body += [replace(table, indent=2, apart=False)] if isinstance(table, Table) else table
    facts = tuple(facts)
    own = [fact for fact in facts if fact[0] == "Changes"]  # have their place
    few = short or bool(answer.verdict.cases)
    moved = (*assumed(answer, few), *changes(answer, few, short), *own)
    shared = [fact for fact in (*moved, *warned(answer), *evidence(answer), *steps(answer)) if fact[0] not in without]
    body.append(Facts((*(fact for fact in facts if fact not in own), *shared)))
    body.append(Sentences("   ".join(filter(None, (legend(body), _letters(answer, body)))), "dim"))
    return _laid(answer, body, (*sections, _provenance(answer)), kind)


def _amount(name: str, known: KnownValue) -> str:
    """A value of the scenario; a target as it can be typed."""
    if name == "target" and isinstance(known.value, float):
        return target_option(known.value).partition(" ")[2]
    return format_amount(known.value, known.unit)


def _provenance(answer: Answer) -> Section:
    """Where every value of the scenario comes from."""
    columns = (Column("key"), Column("value", "number"), Column("origin"), Column("source"))
    valued = {name: known for name, known in answer.scenario.items() if known.value is not None}
    rows = tuple(
        (name, known.reading or _amount(name, known), known.origin, known.source) for name, known in valued.items()
    )
    beside = tuple(  # what is assumed in words, and is no value of the scenario
        (input_words(one.key), one.value, "default", one.effect)
        for one in answer.assumptions
        if isinstance(one.value, str) and one.key not in valued
    )
    table = Table(columns, (*rows, *beside), label="Values of the scenario")
    return Section(PROVENANCE, "Provenance of each value", (table,) if rows else ())


def _laid(
    answer: Answer,
    blocks: Iterable[Block],
    sections: Iterable[Section],
    kind: str,
    lines: Sequence[Mapping[str, Any]] | None = None,
) -> Document:
    """Leave out what is empty."""
    shown, found = tuple(b for b in blocks if b not in EMPTY), tuple(one for one in sections if one.blocks)
    return Document(answer, shown, kind, found, lines)


def brief(
    answer: Listing,
    body: Table | Sequence[Block] = (),
    *,
    whole: Table | None = None,
    facts: Iterable[tuple[str, str]] = (),
    shorter: Iterable[Iterable[tuple[str, str]]] = (),
    sections: Iterable[Section] = (),
    records: Sequence[Mapping[str, Any]] | None = None,
    kind: str,
) -> Listing:
    """Lay out an answer that chooses no topology, and let it keep its page.

    Of a table as the body, which is indented, the first rows are shown, and ``--explain rows`` shows all, or the
    ``whole`` table where cells of the body are shortened. Facts are lines between the body and warnings, or shorter
    ones, of which the first that fit a page are taken; records, by default the rows, are for a spreadsheet.
    """
    details, more = [*sections], []
    if isinstance(body, Table):
        left, body = len(body.rows) - ROWS, replace(body, indent=2, apart=False)
        full = [f"{left} more rows"] * (left > 0) + ["all cells in full"] * (whole is not None)
        more = [("More", f"{' and '.join(full)}: --explain rows")] * bool(full)
        details.insert(0, Section("rows", kind, (body if whole is None else replace(whole, indent=2, apart=False),)))
        body = [replace(body, rows=body.rows[:ROWS])]
    details.append(Section.said(WARNINGS, "Warnings", (one.text for one in answer.warnings)))
    head, end = (Sentences(answer.verdict.text, "bold"), *body), (*warned(answer), *steps(answer))
    facts_of = (Facts((*more, *some, *end)) for some in (tuple(facts), *shorter))
    pages = (_laid(answer, (*head, one), details, kind, records) for one in facts_of)
    return answer.keeping(page=first_that_fits(pages))


def told(answer: Told, table: Table | Sequence[Block], *, kind: str, **parts: Any) -> Document:
    """Lay out an answer whose details are sentences; ``parts`` are as of `page`."""
    sections = (Section.said(id_, id_.capitalize(), texts) for id_, texts in answer.details.items())
    return page(answer, table, [*parts.pop("sections", ()), *sections], kind=kind, **parts)


def selected(document: Document, section: str = "", *, quiet: bool = False, asked_by: str = "--explain") -> Document:
    """Return a page, its verdict alone (with its cases), all details, or one section of them."""
    known = {one.id: one for one in document.sections}
    if section not in known and LINES.get(section.lower()) in known:
        section = LINES[section.lower()]
    known.setdefault(WARNINGS, Section.said(WARNINGS, "Warnings", ("None.",)))
    if section and section != ALL and section not in known:
        words = [ALL, *known, *(word for word, id_ in LINES.items() if id_ in known)]
        names = f"Give one of {', '.join(words)}. {suggest(section, words)}".rstrip()
        raise ScenarioError(f"{asked_by}: {section!a:.40} is no section. {names}", code="E020")
    if quiet:
        return replace(document, blocks=document.blocks[: 2 if document.answer.verdict.cases else 1], sections=())
    if not section:
        return document
    shown = document.sections if section == ALL else (known[section],)
    blocks: list[Block] = list(document.blocks) if section == ALL else []
    for one in shown:
        blocks += [Heading(one.heading), *one.blocks]
    return replace(document, blocks=tuple(blocks), sections=())


def in_words(answer: Answer) -> str:
    """Say what all rows are to reach; rounds that nobody gave have a ``?``."""
    target = answer.target
    if target is None or not target.defined_by:
        return ""
    assumed = "R" in answer.scenario and answer.scenario["R"].origin == "default"
    said = re.sub(r"(?<=\d) rounds\b", "? rounds", target.defined_by) if assumed else target.defined_by
    if len(said) > COLUMNS - len("Target: "):
        said = re.sub(r"that (\S+) reaches after\b", r"of \1 after", said)
    return f"Target: {said}"


def _cases(answer: Answer, label: Callable[[Verdict], str] | None) -> Iterator[tuple[str, str]]:
    """A line for each case, for a case of cases a line for each of these; one for those that say the same."""
    said: dict[tuple[str, frozenset[str]], dict[str, str]] = {}  # a text may leave out which topologies it counts
    for name, case in _named(answer.verdict.cases, label):
        if not case.cases:
            alike = case.text.replace(" fewer than ", " less than ")  # of rounds, and of traffic
            said.setdefault((alike, frozenset(case.best)), {})[name] = case.text
    for (text, _), texts in said.items():
        first, *_ = names = [*texts]
        joined, text = names[:1], text if len(names) > 1 else texts[first]
        for name in names[1:]:
            longer = f"{joined[-1]}, {name}"
            joined = [*joined[:-1], longer] if len(longer) <= NAMES else [*joined, name]
        yield from ((one, text) for one in joined)
    yield from _baselines(answer, label)


def _named(cases: Sequence[Verdict], label: Callable[[Verdict], str] | None) -> Iterator[tuple[str, Verdict]]:
    """Every case and every case of a case, with its name."""
    for case in cases:
        name = CASES.get(case.value, case.value) if label is None else label(case)
        yield name, case
        yield from ((f"{name}, {inner}", one) for inner, one in _named(case.cases, label))


def _baselines(answer: Answer, label: Callable[[Verdict], str] | None) -> Iterator[tuple[str, str]]:
    """Say in which cases a baseline takes less than the best row: ``0.75x (time, own links)``.

    The line of one tier begins with the advice to use it, but where the links of servers take more.
    """
    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for where, case in _named(answer.verdict.cases, label):
        if (one := case.baseline) is None or (one.id in SINGLE and not one.advised and one.through is None):
            continue  # one tier that takes as much
        name, why, of = one.title, "", ""
        lead = f"{'try' if one.within_error else 'use'} it: " if one.advised else ""
        if one.id not in SINGLE:
            name, lead, of = "no waiting", f"{one.title.partition(',')[0]} ", " the best's"
        elif one.through is not None:
            why = f"; {times(one.through)} via servers"
        found.setdefault(name, {}).setdefault(lead, []).append((f"{times(one.ratio)}{of}", f"{where}{why}"))
    for name, said in found.items():
        yield name, "; ".join(f"{lead}{', '.join(_joined(each))}" for lead, each in said.items())


def _joined(ratios: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Ratios with where they are, those of own and of shared links in one: ``0.6x, 0.9x (time, own, shared)``."""
    own, shared = CASES.values()
    left = list(ratios)
    while left:
        ratio, where = left.pop(0)
        if left and where.endswith(own) and left[0][1] == where.removesuffix(own) + shared:
            other, _ = left.pop(0)
            ratio, where = f"{ratio}, {other}", f"{where.removesuffix(' links')}, {shared.removesuffix(' links')}"
        yield f"{ratio} ({where})"


def assumed(answer: Answer, short: bool = False) -> Iterator[tuple[str, str]]:
    """List what was not given, each with a ``?``: words of known effect, equal numbers, and the rates of one link."""
    words = [
        f"{answer.words(one.key)} {one.value}?"
        for one in answer.assumptions
        if one.effect and isinstance(one.value, str)
    ]
    alike: dict[tuple[str, bool, str], list[str]] = {}  # names that are words stand alone
    rates: dict[str, dict[str, str]] = {}
    for one in answer.assumptions:
        link, dot, part = one.key.partition(".")
        if part in ("up", "down"):
            rates.setdefault(link, {})[part] = amount(one)
        elif isinstance(one.value, int | float) and not dot:
            words_of, own = answer.words(one.key), isinstance(one.value, int)
            alike.setdefault((amount(one), own, words_of if len(words_of) > NAMED else ""), []).append(words_of)
    numbers = [
        f"{' = '.join(keys)}{' = ' if len(keys[-1]) <= NAMED else ' '}{value}?" for (value, *_), keys in alike.items()
    ]
    links = []
    for link, known in rates.items():
        which = answer.words(f"{link}.{'up' if 'up' in known else 'down'}")
        which = which.replace(" uplink", " link") if len(known) == 2 else which
        same = len(set(known.values())) == 1
        ends = [known["down"]] if same and "down" in known else [f"{rate} {part}" for part, rate in known.items()]
        links.append(f"{which} {', '.join(ends)}?")
    first = [one.key.partition(".")[2] for one in answer.assumptions[:1] if not one.effect]
    listed = first in (["up"], ["down"])  # first by the answer, which has no shares of a variance to sort by
    parts = [*words, *links, *numbers] if listed else [*words, *numbers, *links]
    if not parts:  # such as latencies, which are not named beside others
        parts = [f"{answer.words(one.key)} {amount(one)}?" for one in answer.assumptions if one.value is not None]
    if parts:
        yield "Assumed", _until(parts, LESS if short else MOST)


def amount(one: Assumption) -> str:
    """Write the value of an assumption; a number without a unit to three digits, a count whole."""
    plain = isinstance(one.value, float) and not one.unit
    return f"{one.value:.3g}" if plain else format_amount(one.value, one.unit)


def _until(parts: Sequence[str], most: int) -> str:
    """Join as many as fit into so many letters, at least the first, and say how many are left."""
    kept: list[str] = []
    for part in parts:
        if kept and len(", ".join([*kept, part])) > most:
            return f"{', '.join(kept)}, {len(parts) - len(kept)} more: --explain"
        kept.append(part)
    return ", ".join(kept)


def changes(answer: Answer, few: bool, short: bool) -> Iterator[tuple[str, str]]:
    """List the nearest break-even points: one of few, and in fewest words on a short page."""
    most = 1 if few else 2
    decided = {one.on for one in (answer.verdict, *answer.verdict.cases)}
    known = [one for one in answer.sensitivity if one.break_even is not None and one.parameter not in decided]
    words = {one.key for one in answer.assumptions if one.effect and isinstance(one.value, str)}  # nobody chose them
    known.sort(key=lambda one: one.parameter not in words)
    if found := list(_in_words(answer, known)):
        left = f"; {len(found) - most} more" * (len(found) > most)
        left += f": --explain{' break-even' * (not few)}" * (bool(left) and not short)
        at = [f"{key} = {known.value}" for key, known in answer.scenario.items() if known.source.startswith(SEARCHED)]
        said = f"at {', '.join(at)}{_held(answer)}: " * bool(at) + "; ".join(found[:most])
        own = "own: " if short else "own links: "  # followed from that case
        yield "Changes", f"{own * (SHARING in decided)}{said}{left}"


def _held(answer: Answer, one: Sensitivity | None = None) -> str:
    """Give the target at which a count is followed, or found, where nobody gave that number, so that it can be tried.

    Of accuracy no number can be asked for. Groups that were found have deviations of their own.
    """
    target = answer.scenario.get("target") if answer.metric != "accuracy" else None
    searched = any(known.source.startswith(SEARCHED) for known in answer.scenario.values())
    held = searched if one is None else isinstance(one.break_even, int) and one.parameter != "R" and not searched
    if not held or target is None or target.value is None:
        return ""
    regrouped = searched and answer.scenario["G"].source.startswith(SEARCHED)
    zeta, delta = (float(answer.scenario[name].value or 0.0) if regrouped else 0.0 for name in ("zeta", "delta"))
    data = f" -H zeta={zeta:.4g},delta={delta:.4g}" if regrouped else ""
    each = {name: known.value for name, known in answer.scenario.items() if re.fullmatch(r"P\d", name)}
    if one is not None and one.parameter in each:  # no option is called by the tier
        data = f" -P {'/'.join(map(str, (each | {one.parameter: one.break_even}).values()))}"
    when = "with " * (one is not None)  # "at G = 2" says it already
    return f" ({when}{target_option(float(target.value))}{data})" if target.origin == "derived" else ""


def _in_words(answer: Answer, known: Sequence[Sensitivity]) -> Iterator[str]:
    """Say each change, in one where both rates of a link have the same: ``server uplink or downlink below ...``."""
    every = [change_in(answer, one) for one in known]
    for one, said in zip(known, every, strict=True):
        link, _, part = one.parameter.rpartition(".")
        if (other := {"up": "down", "down": "up"}.get(part)) is not None:
            own, of_other = answer.words(one.parameter), answer.words(f"{link}.{other}")
            if said.replace(own, of_other, 1) in every:
                if part == "down":
                    continue
                said = said.replace(own, f"{own} or {of_other.rpartition(' ')[2]}", 1)
        yield said + _held(answer, one)


def change_in(answer: Answer, one: Sensitivity) -> str:
    """Say one break-even point of an answer, with the names of its rows and tiers."""
    rows = (row.__dict__ for row in answer.rows if not isinstance(row, Mapping))  # those of a listing have no titles
    titles = {row["id"]: row.get("title", "") for row in rows if "id" in row}
    first = answer.verdict
    while first.cases:  # changes are followed from the first
        first = first.cases[0]
    one, parameter = in_terms_of(answer.metric, one), one.parameter
    ends = places(one)
    link, dot, both = one.parameter.rpartition(".rate")
    rates = {answer.scenario[f"{link}.{way}"].value for way in ("up", "down")} if dot and not both else ()
    if len(rates) > 1 and "now" in ends:  # one factor for two numbers
        one = one.replaced(unit="x", **{name: at / ends["now"] for name, at in ends.items()})

    def words(name: str) -> str:
        own, known = answer.words(name), answer.scenario.get(name)
        if known is not None and known.origin == "derived" and isinstance(known.value, int | float):  # on no page
            return f"{own} (now {format_amount(float(f'{known.value:.3g}'), known.unit)})"
        return own

    return unserved_in(answer, change(one, titles, first.best, words), parameter, one.break_even)


def unserved_in(answer: Answer, text: str, parameter: str, other: object) -> str:
    """Add what topologies of an answer are where a change leaves group servers out."""
    return unserved(text, parameter, other, answer.scenario["P"].value if "P" in answer.scenario else None)


def change(
    one: Sensitivity, names: Mapping[str, str], best: Sequence[str] = (), words: Callable[[str], str] = input_words
) -> str:
    """Say one break-even point.

    ``server uplink below 90 Mbit/s -> toss-up, 40 Mbit/s -> Star-Ring leads``, ``K = 20 -> Ring-Star leads``, or
    ``--cost formula -> Star-Star alone`` where a setting settles a toss-up.
    """
    which = [names.get(id_) or title(id_) for id_ in one.best_beyond]
    several = f"any of {len(which)} topologies" if len(which) > SPELT else which and join(which, "or")
    beyond = f"-> {several or 'target not reached'}"
    what, even, now = words(one.parameter), one.break_even, one.now
    if isinstance(even, str) or even is None or isinstance(now, str) or now is None:
        settles = len(best) > len(which) == 1 and set(one.best_beyond) < set(best) and one.parameter != "tiers"
        said = MEANS.get((one.parameter, str(even))) or OPTIONS.get(one.parameter, what + " {}").format(even)
        return f"{said} {beyond}{ALONE * settles}{one.more}"
    leads = f"{beyond} {'leads' if len(which) == 1 else 'lead'}" if which else beyond
    # farther away from a count the present best may lead again
    side = "=" if isinstance(even, int) else "above" if even > now else "below"
    at, tossed = (None if x is None else format_break_even(x, one.unit) for x in (even, one.toss_up))
    ends = () if one.last is None or not isinstance(even, float) else sorted((even, one.last))
    until = " to ".join(dict.fromkeys(format_break_even(x, one.unit) for x in ends))
    if tossed and one.toss_up == one.break_even:  # there is no more of it, or no room
        return f"{what} {f'of {until}' if until else f'{side} {tossed}'} -> toss-up"
    before = f"{tossed} -> toss-up, " if tossed and tossed != at else ""
    if until:
        return f"{what} {f'{side} {before}' if before else 'of '}{until} {leads}{one.more}"
    return f"{what} {side} {before}{at} {leads}{one.more}"


def warned(answer: Answer) -> Iterator[tuple[str, str]]:
    """State the first warning in a sentence, and how many more there are."""
    if answer.warnings:
        first, left = answer.warnings[0], len(answer.warnings) - 1
        sentence, dot, rest = first.text.partition(". ")
        if len(sentence) > LONGEST:
            sentence, dot, rest = _clauses(sentence), "", sentence
        others = f"{left} more: " if left else ""
        more = f" ({others}--explain warnings)" if rest or left else ""
        yield "Warning", f"{sentence}{dot.strip()}{more}"


def _clauses(sentence: str) -> str:
    """Cut a long sentence where a part of it ends, of which half a sentence is the best, else between two words."""
    for mark in (r"[;:] ", r", | \("):
        ends = [match.start() for match in re.finditer(mark, sentence[:LONGEST])]
        if ends and ends[-1] > LONGEST / 3:
            return f"{sentence[: ends[-1]]} ..."
    return textwrap.shorten(sentence, LONGEST, placeholder=" ...")


def shortened_to(label: str, sentences: Sequence[str], beside: str = "") -> list[tuple[str, str]]:
    """Name the first of several sentences, and the section that has the others."""
    more = f" ({len(sentences) - 1} more: --explain {label.lower()}{'s' * (not label.endswith('s'))}{beside})"
    return [(label, f"{sentences[0]}{more if len(sentences) > 1 else ''}")] if sentences else []


def evidence(answer: Answer) -> Iterator[tuple[str, str]]:
    """Say how often predictions like this were right; they are at most fair where none is close, or as far."""
    if not answer.evidence:
        return
    first = next((one for one in answer.evidence if one.nearest), answer.evidence[0])
    if first.weak:
        yield "Evidence", f"weak: {first.weak}"
        return
    level: str = "fair" if (first.far or first.until) and first.level == "good" else first.level
    where = f"{first.of} near cases" if first.nearest else f"{first.of} ({first.dataset})"
    where = f"{first.of} cases, none close" if first.far else where
    by = f"by rounds{f' (up to {first.until})' if first.until else ''} " if first.nearest else ""
    yield "Evidence", f"{level}: {by}right in {first.right} of {where}"


def record(one: Evidence) -> tuple[Cell, ...]:
    """Write how often first choices were right and what it cost to follow them, for the columns of `RECORD`."""
    return f"{one.right} of {one.of}", one.regret_median, one.regret_p90


def steps(answer: Answer) -> Iterator[tuple[str, str]]:
    """Ask what is unknown, and name the next commands."""
    if asked := [one for one in answer.next if one.asks]:
        yield "Ask", f"{asked[0].why}   {as_typed(asked[0])}"
    if named := [one for one in answer.next if not one.asks][:2]:
        other = any(one.argv[0] != "..." for one in named)
        this = f"hfl-plan {answer.schema.split('/')[1].replace('-', ' ')} ..." if other else "..."
        yield "Next", "    ".join(as_typed(one, this) for one in named)


def as_typed(one: NextStep, this: str = "...") -> str:
    """Write a command as it is typed, ``this`` for the answer's own; the choices of a question stay as they are."""
    first, *rest = (word if one.asks or word.startswith(PLAIN) else shlex.quote(word) for word in one.argv)
    return " ".join((this if first == "..." else first, *rest))


def _texts(blocks: Sequence[Block]) -> Iterator[str]:
    """What a page says, but for the names of columns and what is to be typed."""
    for block in blocks:
        if isinstance(block, Table):
            yield from (cell for row in block.texts() for cell in row)
        elif isinstance(block, Facts):
            yield from (text for label, text in block.entries if label not in ("Ask", "Next"))
        elif isinstance(block, Sentences):
            yield block.text


def _letters(answer: Answer, blocks: Sequence[Block]) -> str:
    """Explain the letters of tiers that a page has, where there are more than two, and those of edge rounds."""
    if "n1" not in answer.scenario:
        return "Ge: edge rounds, E: local steps" if "Ge" in answer.scenario else ""
    columns = (column.name for block in blocks if isinstance(block, Table) for column in block.columns)
    used = dict.fromkeys(re.findall(r"\b(?:n|S|P|delta)\d\b", "\n".join((*_texts(blocks), *columns))))
    if not used or not answer.tier_names:
        return "".join(f"{one}: {one[:-1]} of tier {one[-1]} from the top" for one in list(used)[:1])
    return ", ".join(f"{letter}: {answer.words(letter)}" for letter in used)


def legend(blocks: Sequence[Block]) -> str:
    """Explain the marks that a page has."""
    whole = "\n".join(_texts(blocks))
    named = any(OWN_LEVEL in column.name for block in blocks if isinstance(block, Table) for column in block.columns)
    guessed = any(label == "Assumed" for one in blocks if isinstance(one, Facts) for label, _ in one.entries)
    before = (part for part in whole.split("?")[:-1] if part)  # a mark is behind a number, and ends no question
    guessed = guessed or any(part[-1].isalnum() and not part.split()[-1].isalpha() for part in before)
    tied = re.search(rf"(x|\]){TIED}$", whole, re.MULTILINE) is not None
    shown = {"~": "~" in whole, "?": guessed, "[": "[" in whole and not named, "=": tied}
    shown |= {"-": re.search(r"x-\d", whole) is not None, BY_GROUP: BY_GROUP in whole}
    return "   ".join(words for mark, words in LEGEND.items() if shown[mark])


def about(text: str, number: float | None) -> str:
    """Mark a cell as predicted, unless its number was given or measured."""
    given = isinstance(number, Quantity) and number.origin in ("given", "measured")
    return text if number is None else Amount(text if given else f"~{text}", number)


def cell(write: Callable[[float], str], number: float | None) -> str:
    """Write a number with its mark, or a dash where there is none."""
    return "-" if number is None else about(write(number), number)


def amounts(row: Any, names: Iterable[str] = ("rounds", "time", "traffic")) -> tuple[str, ...]:
    """Write amounts of a row, of those in `AMOUNTS`."""
    return tuple(cell(write, getattr(row, key)) for key, write in map(AMOUNTS.__getitem__, names))


def size(amount: float) -> str:
    """Write an amount of data with two digits: ``28 TB``."""
    return format_amount(float(f"{amount:.2g}"), "bytes")


def count(number: float) -> str:
    """Write a predicted count with two digits, and a small or given one in full."""
    exact = number < 10 or (isinstance(number, Quantity) and number.origin == "given")
    return f"{number:,.0f}" if exact else two(number)


AMOUNTS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "time": ("time_seconds", duration),
    "rounds": ("rounds", count),
    "traffic": ("traffic_bytes", size),
}
"""Fields of a row by what they are called, and what writes them."""
