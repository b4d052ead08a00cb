"""What ``hfl-plan recommend`` says, as a page and its details."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product

from planner.decide.explain import SHORT, term
from planner.decide.nearest import TOSSED
from planner.decide.parameters import CLOCK, LINK
from planner.decide.recommendation import SHARING, Corrected, Division, Drawn, InCase, Other, Recommendation, Row
from planner.decide.uncertainty.distributions import FACTOR
from planner.decide.verdict import TOLD
from planner.io.answers import KnownValue, Quantity, Sensitivity, Verdict
from planner.io.wording import (
    CASES,
    LISTED,
    capital,
    counted,
    duration,
    in_terms_of,
    join,
    join_with_limit,
    percent,
    times,
    title,
    two,
)
from planner.predict.participation import OWN_BOUNDS
from planner.predict.predictors import guaranteed
from planner.predict.statements import ScaleOnRecord
from planner.report.document import (
    COLUMNS,
    Amount,
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Section,
    Sentences,
    Table,
    numeric,
    thinned,
    typed,
)
from planner.report.page import AMOUNTS, BEGUN, RECORD, SCALE, TIED, about, change_in, count, page, record
from planner.report.render.table import first_that_fits
from planner.scenario.fields import CHOICES
from planner.scenario.footprint import MORE
from planner.scenario.sections import BY_LOSS
from planner.scenario.units import format_amount

OF_FOOTPRINT = {str(name): (key, write) for name, (key, _, write) in MORE.items()}
SHOWN_AS = {**AMOUNTS, BEGUN: ("participation", count), **OF_FOOTPRINT}
NAMED = {"money": "your currency"}  # columns, so short that intervals of ratios fit beside them
UNDER = {BEGUN: "begun"}  # columns below a heading of their own
SHOWN, LEAST = 6, 3  # topologies on the page: at most, and where it has many other lines
RANGED = 2  # of the best, whose times between the ends of ranges are said; one in each of several cases
Wide = tuple[str | None, bool]
WIDTHS: tuple[Wide, ...] = ((", ", True), (",", True), (",", False), (None, True))
"""How wide a table is: what stands between the ends of an interval, None for no intervals; and whether with traffic."""
NO_END = "no end]"  # of an interval
MEASURED = "Measured"  # a fact of what a profile or a pilot says
METHODS = "Methods"  # a fact of those that were asked for and have no row
RANGES = "Ranges"  # a fact of times between the ends of ranges
REPLACED = "Replaced"  # a fact of values of a file that options or a search took the place of
OTHERS = (METHODS, RANGES, SCALE, REPLACED)
LAST = ((MEASURED, *OTHERS), OTHERS, (METHODS, SCALE), (REPLACED,), ())  # what is left of facts where room is short
UNNAMED = re.compile(r"or \d+ others?\b")  # in a verdict that names some of a toss-up alone
TYING = re.compile(r" \([\d, toand]+ tie\)")  # in a verdict, of counts
FEWER = (2, 1)  # topologies that a case of a toss-up names at most, where a page has no room for their rows
DIVISIONS = 12  # lines of a table of divisions for people; csv and json have all
WHOLE = (Column("rounds", "count"), Column("time", "duration"), Column("traffic", "size"))


def document(answer: Recommendation) -> Document:
    """Lay a recommendation out, with as many topologies as leave a page its lines.

    Where there are too many, the first that goes is who leads beyond a toss-up; of a few topologies then words, and
    columns.
    """
    sections, facts = tuple(_sections(answer)), tuple(_facts(answer))
    changes = [answer.sensitivity]
    if any(one.toss_up is not None for one in answer.sensitivity):
        each = ((one, one.toss_up or one.break_even) for one in answer.sensitivity)
        changes.append(
            tuple(one if at == one.break_even else one.replaced(break_even=at, last=None) for one, at in each)
        )
    few = len(answer.ranking) <= LEAST + 1

    def laid(
        shown: int,
        widths: Sequence[Wide],
        about: Sequence[tuple[str, str]],
        ties: bool = True,
        named: int = LISTED,
        said: tuple[tuple[Sensitivity, ...], bool] = (changes[-1], True),
    ) -> Document:
        moved, short = said
        told = answer.replaced(verdict=_naming(answer.verdict, named), sensitivity=moved)
        table = _table(told, shown, widths, full=named < LISTED, ties=ties)
        made = page(told, table, sections, facts=about, kind="Recommendation", short=short)
        return replace(made, answer=answer)

    numbers = (SHOWN,) if few else range(SHOWN, LEAST - 1, -1)
    widths = [WIDTHS[i:] for i in range(len(WIDTHS))]
    least = ((numbers[-1], widths[-1], [fact for fact in facts if fact[0] in last]) for last in LAST)
    marks = (True, False) if UNNAMED.search(_said(answer)) else (True,)
    words = [*((moved, False) for moved in changes), *[(changes[-1], True)] * few]
    whole = product(marks, product(numbers, widths, (facts,)), words)
    pages = (laid(*how, ties, said=said) for ties, how, said in whole)
    shorter = (laid(*how, ties) for how, ties in product(least, marks))
    fewer = (laid(shown, widths[-1], (), True, named) for named in FEWER for shown in numbers)
    return first_that_fits(chain(pages, shorter, fewer))


def _table(answer: Recommendation, most: int, widths: Sequence[Wide], *, full: bool, ties: bool) -> list[Block]:
    """Topologies and baselines: time in each case, how many times the best, rounds and traffic.

    On a ``full`` page nothing says why one ties that takes more than one that does not. Those of a toss-up are marked,
    where the verdict names some of them alone and ``ties`` says so.
    """
    tables = (_rows(answer, most, *wide, ties=ties) for wide in widths)
    there, shown = {row.id for row in _trees(answer, most)}, next(tables)
    left = [row for row in answer.ranking if row.id not in there]
    while shown.width() > COLUMNS and (narrower := next(tables, None)):
        shown = narrower
    later = len(_later(answer))
    tied = 0 if answer.verdict.cases or not _tied(answer) else sum(row.tie == 1 for row in left)
    also = f" ({tied} of the toss-up)" * (tied > 0)
    more = [f"{counted(len(left), 'more topology')}{also}"] * bool(left) + [f"{later} more that raced"] * (later > 0)
    notes = [f"{' and '.join(more)}: --explain table"] * bool(more)
    if "traffic" not in {column.name for column in shown.columns} and answer.verdict.on == SHARING:
        notes.append("Traffic, which links do not change: --explain table")
    if any(NO_END in cell for row in shown.texts() for cell in row):
        notes.append("no end: in a tenth of the draws or more the target is not reached")
    marked = any("[" in cell for row in shown.texts() for cell in row)
    if marked and _just_above_one(answer):
        within = answer.recommend.resolution
        notes.append(f"{percent(within)} is a tie: an interval that begins below {1 + within:g} makes a toss-up")
    if marked and any(row.rounds == 1.0 and row.ratio and row.ratio == row.ratio.low for row in answer.ranking):
        notes.append("Nothing takes less than one round: an interval may begin at its ratio")
    if not marked and not full and _skips(answer):
        notes.append("A toss-up is by intervals, not by ratios alone: --explain table")
    return [shown, *(Sentences(note, "dim") for note in notes)]


def _just_above_one(answer: Recommendation) -> bool:
    """Whether the interval of a topology that ties for the best does not hold 1, and lies within the resolution."""
    shown: Iterator[Row | InCase] = chain(answer.ranking, *(row.cases for row in answer.ranking))
    lows = [one.ratio.low for one in shown if one.tie == 1 and one.ratio is not None and one.ratio.low is not None]
    return any(1 < low <= 1 + answer.recommend.resolution for low in lows)


def _skips(answer: Recommendation) -> bool:
    """Whether a topology that ties for the best takes more than one that does not, in one of the cases shown."""
    for value in answer.open_cases:
        best = _best(answer, value)
        ratios = {r.id: one.ratio for r in answer.ranking for one in r.cases if one.value == value and one.ratio}
        last = max((float(ratios[id_]) for id_ in best), default=0.0)
        if any(ratio < last for id_, ratio in ratios.items() if id_ not in best):
            return True
    return False


def _best(answer: Recommendation, case: str) -> tuple[str, ...]:
    """What is best in a case of how links are shared, else in all."""
    whole = next((one for one in answer.verdict.cases if one.on == SHARING), answer.verdict)
    return next((one.best for one in whole.cases if one.value == case), whole.best)


def _rows(answer: Recommendation, most: int, between: str | None, whole: bool = True, *, ties: bool = True) -> Table:
    """What decides and its ratio to the best come first, for own and for shared links where that is open.

    ``between`` stands between the ends of an interval; None for no intervals. The last amount is left out of a table
    of both links by time that is not ``whole``.
    """
    later, marked = _later(answer), _tied(answer) if ties and UNNAMED.search(_said(answer)) else frozenset()
    shown = [*_trees(answer, most), *(row for row in answer.rows if row.baseline and row.id not in later)]
    cases = answer.open_cases
    rounds = BEGUN if any((row.p_complete or 1.0) < 1 for row in shown) else "rounds"  # those that break begin again
    decides = "time" if cases else rounds if answer.objective == "rounds" else answer.objective
    others = [name for name in ("time", rounds, "traffic") if name != decides]
    others = others if whole or answer.verdict.on != SHARING else others[:-1]  # where traffic is no objective
    heads = [decides, "vs best"] * max(len(cases), 1) + others
    columns = (
        Column(NAMED.get(name, name), "text" if name == "vs best" else "number")
        for name in (name if not cases else UNDER.get(name, name) for name in heads)
    )
    cells = (
        (row.title, *_by_case(row, decides, cases, between, marked), *(_amount(row, name) for name in others))
        for row in shown
    )
    return Table(
        (Column("topology"), *columns),
        tuple(cells),
        label="Topologies, best first",
        best=frozenset(i for i, row in enumerate(shown) if row.id in answer.verdict.best),
        spared=(others[-1], "vs best"),
        indent=0 if cases else 2,
        apart=False,
        above=_above(answer, cases, "rounds" if BEGUN in heads else ""),
    )


def _trees(answer: Recommendation, most: int) -> list[Row]:
    """The first and the runner-up in each case, those that the verdict names, then those that tie, and so many in all.

    What is named for being the same algorithm as another needs no row.
    """
    verdicts, said = _verdicts(answer), re.sub(r"[^.;]*same algorithm[^.;]*[.;]?", "", _said(answer))
    first = {id_ for one in verdicts for id_ in (*one.best[:1], *[one.runner_up] * (one.status == "best"))}
    known = [row.id for row in answer.ranking if row.id in first or title(row.id) in said]
    ties = {row.id for row in answer.ranking if 1 in (row.tie, *(one.tie for one in row.cases))}
    others = sorted((row.id for row in answer.ranking if row.id not in known), key=lambda id_: id_ not in ties)
    others = others[: max(most - len(known), 0)]
    return [row for row in answer.ranking if row.id in known or row.id in others]


def _verdicts(answer: Recommendation) -> list[Verdict]:
    """The verdict, and that of each case."""
    return [answer.verdict, *(one for case in answer.verdict.cases for one in (case.cases or (case,)))]


def _said(answer: Recommendation) -> str:
    """What the verdict and its cases say."""
    return ". ".join(one.text for one in _verdicts(answer))


def _naming(verdict: Verdict, most: int) -> Verdict:
    """The verdict with the first topology and the number of others in each case that is a toss-up of more.

    Where fewer are named than lists have, counts that tie with those taken are left to the details too.
    """
    first, *others = verdict.best or ("",)
    told = sum(title(id_) in verdict.text for id_ in verdict.best)
    if verdict.value and verdict.status == "toss-up" and most < told and len(others) > 1:
        return verdict.replaced(text=f"toss-up, {title(first)} or {counted(len(others), 'other')}")
    text = TYING.sub("", verdict.text) if most < LISTED else verdict.text
    return verdict.replaced(text=text, cases=tuple(_naming(case, most) for case in verdict.cases))


def _later(answer: Recommendation) -> set[str]:
    """Ids of systems that raced by their servers' clock, but for the quickest: these have a time and no rounds."""
    raced = [row for row in answer.rows if row.baseline and row.rounds is None and row.time_seconds is not None]
    return {row.id for row in sorted(raced, key=lambda row: float(row.time_seconds or 0.0))[1:]}


def _above(answer: Recommendation, cases: Sequence[str], then: str) -> tuple[tuple[int, str], ...]:
    """Name the cases above their columns, ``then`` what follows; or whose links a table is of that has one of two."""
    if cases:
        return (*((1 + 2 * i, f"{CASES[case]}?") for i, case in enumerate(cases)), (1 + 2 * len(cases), then))
    if answer.verdict.on != SHARING:
        return ()
    groups, clients, *steps = (answer.scenario[name].value for name in ("G", "M", *answer.recommend.choices))
    counts = [f"{symbol} = {count}" for symbol, count in zip(answer.recommend.choices, steps, strict=True)]
    sizes = [f"{groups} x {clients}"] if len(answer.recommend.divisions) > 1 or not counts else []
    return ((1, ", ".join([CASES["per-client"], *sizes, *counts])),)


def _by_case(
    row: Row, decides: str, cases: Sequence[str], between: str | None, marked: Container[str]
) -> Iterator[Cell]:
    """The amount that decides, and how many times that of the best it is, in every case.

    Those of a toss-up are marked, in the cases that are to be ``marked``; what a single tier takes over links of
    servers too is left to the verdict where columns are narrow.
    """
    known = [
        (row.replaced(time_seconds=one.time_seconds), one.ratio, one.through, one.value, one.tie)
        for one in row.cases
        if one.value in cases
    ]
    for one, ratio, most, case, tie in known or [(row, row.ratio, row.through, "", row.tie)]:
        yield _amount(one, decides)
        if most is not None and ratio is not None and between == ", ":
            yield f"{times(ratio)}-{times(most)}"
        else:
            yield _times_best(ratio, between, TIED * (case in marked and tie == 1))


def _tied(answer: Recommendation) -> frozenset[str]:
    """The cases in which several topologies tie for the first place; "" where there are no cases."""
    ties = [one.value for row in answer.ranking for one in row.cases if one.tie == 1]
    ties += ["" for row in answer.ranking if row.tie == 1]
    return frozenset(value for value in ties if ties.count(value) > 1)


def _times_best(ratio: Quantity | None, between: str | None = ", ", mark: str = "") -> Cell:
    """How many times the best: ``250x [46, 1,300]``, and ``250x [46,1300]`` where no space tells the ends apart."""
    if ratio is None:
        return None
    text = times(float(ratio) if between is None else ratio)
    text = ",".join(end.replace(",", "") for end in text.split(", ")) if between == "," else text
    return Amount(text + mark, ratio)


def _amount(row: Row, name: str) -> Cell:
    """An amount with its mark: two digits where it is predicted."""
    key, write = SHOWN_AS[name]
    number: float | None = getattr(row.participation, "rounds_begun", None) if name == BEGUN else getattr(row, key)
    if number is None or name in ("time", "rounds", BEGUN):
        return None if number is None else about(write(number), number)
    digits, blank, unit = write(number).partition(" ")
    return Amount(f"~{two(float(digits.replace(',', '')))}{blank}{unit}", number)


def _known(amount: Quantity | None, write: Callable[[float], str]) -> Cell:
    """An amount, and from where to where it reaches by its sources."""
    if amount is None:
        return None
    low, high = (None if one is None else write(one).partition(" ") for one in (amount.low, amount.high))
    ends = ""
    if low and high:  # the unit once, where it is that of both
        ends = f" ({''.join(low)} to {''.join(high)})" if low[2] != high[2] else f" ({low[0]}-{high[0]})"
    return Amount(f"~{write(amount)}{ends}", amount)


def _facts(answer: Recommendation) -> Iterator[tuple[str, str]]:
    sizes = [int(known.value or 0) for name, known in answer.scenario.items() if re.fullmatch(r"n\d", name)]
    if len(sizes) > 2 and "weights" not in answer.scenario:  # a list has its clients, and sizes of it are means
        yield "Clients", f"{math.prod(sizes):,}: {' x '.join(map('{:,}'.format, sizes))}"
    measured = [
        f"{_whose(name, known)} = {format_amount(float(f'{known.value:.3g}'), known.unit)}"
        for name, known in answer.scenario.items()
        if known.origin == "estimated" and isinstance(known.value, int | float)
    ]
    if measured:
        yield MEASURED, ", ".join(measured)
    if ranged := _between_ends(answer):
        yield RANGES, ranged
    if answer.recommend.scale is not None:
        yield SCALE, answer.recommend.scale.in_words(_so(answer, answer.recommend.scale))
    if answer.recommend.in_place_of:
        yield REPLACED, answer.recommend.in_place_of
    if answer.recommend.predictor == "pilot" and answer.recommend.notes:
        yield MEASURED, " ".join((answer.recommend.notes[0], *of_the_pilot(answer.scenario)))
    known: dict[str, list[str]] = {}
    for one in answer.recommend.others:
        if one.rounds_from != "not run":
            how = "not run, bounds alone" if one.rounds_from == "another quantity" else "raced, not timed"
            known.setdefault(how, []).append(one.title.partition(" (")[0].partition(",")[0])
    if known:
        said = "; ".join(f"{', '.join(names)}: {how}" for how, names in known.items())
        yield METHODS, f"{said} (--explain methods)"


def _so(answer: Recommendation, scale: ScaleOnRecord) -> str:
    """What the first takes where rounds may be so far off that its time says little."""
    first = answer.ranking[0]
    if answer.open_cases or first.time_seconds is None or not scale.wide:
        return ""
    end = "or more" if scale.high is None else f"to {duration(first.time_seconds * scale.high)}"
    return f", so {first.title} {duration(first.time_seconds * scale.low)} {end}"


def _between_ends(answer: Recommendation) -> str:
    """Say what the best take between the ends of ranges of links and compute that were given."""
    said = []
    for value in answer.open_cases or ("",):
        for row in map(answer.row, _best(answer, value)[: 1 if value else RANGED]):
            time = next((one.time for one in row.cases if value and one.value == value), row.time_seconds)
            if time is not None and time.low is not None and time.high is not None:
                where = f" ({CASES[value]})" if value else ""
                said.append(f"{row.title} {duration(time.low)} to {duration(time.high)}{where}")
    ranges = [
        answer.words(name)
        for name, known in answer.scenario.items()
        if known.origin == "given" and ", log" in known.reading and (name in CLOCK or name.rpartition(".")[2] in LINK)
    ]
    return f"over {join(ranges)}: {join(said)}" if said else ""


def _whose(name: str, known: KnownValue) -> str:
    """A measured constant; of L whose it is, as a profile has two that differ by far."""
    if name != "L":
        return name
    return "L of the mean loss" if known.source.startswith(BY_LOSS["L"]) else "largest L of a client"


def of_the_pilot(scenario: Mapping[str, KnownValue]) -> Iterator[str]:
    """What is the pilot's and need not be that of the training that is planned."""
    known = {"R": ("target", "--rounds"), "model_size": ("model size", "--model-size")}
    if taken := [known[name] for name in known if "the pilot" in scenario[name].source]:
        whats, options = (join(part) for part in zip(*taken, strict=True))
        yield f"The {whats} {'are' if len(taken) > 1 else 'is'} the pilot's: give {options} for your training."


def _sections(answer: Recommendation) -> Iterator[Section]:
    """Every section of ``--explain`` of its own, in its order."""
    cautions = (Sentences(f"{one.text} {one.help}".strip(), "warning", 2) for one in answer.warnings)
    for id_, heading, blocks in (
        ("table", "All numbers", _numbers(answer)),
        ("target", "Target and rounds", _target(answer)),
        ("footprint", "Energy, carbon and money", _footprint(answer)),
        ("counts", "Counts that were searched", _counts(answer)),
        ("links", "What a round waits for", _links(answer)),
        ("terms", "Dominant term of each bound", _terms(answer)),
        ("uncertainty", "Uncertainty", _uncertainty(answer)),
        ("sensitivity", "Sensitivity of the lead", _sensitivity(answer)),
        ("break-even", "Break-even points", _break_even(answer)),
        ("guarantees", "Guarantees", _guarantees(answer)),
        ("rates", "Learning rates", _rates(answer)),
        ("methods", "Other methods", _methods(answer)),
        ("record", "Record of the predictor", _record(answer)),
        ("warnings", "Warnings", cautions),
    ):
        yield Section(id_, heading, tuple(blocks))


def _numbers(answer: Recommendation) -> Iterator[Block]:
    own, *others = answer.open_cases or ("",)  # columns have the first of how links may be shared
    tied = _tied(answer)
    columns = (
        Column("topology"),
        Column("rank"),
        *WHOLE,
        Column("time/round", "duration"),
        Column("vs best"),
        *(one for case in others for one in (Column(f"time, {CASES[case]}", "duration"), Column("vs best"))),
    )
    rows = [
        (
            row.title,
            "-" if row.baseline else f"{row.rank}",
            None if row.rounds is None else int(row.rounds),
            row.time_seconds,
            row.traffic_bytes,
            row.round_seconds,
            _times_best(row.ratio, mark=TIED * (own in tied and row.tie == 1)),
            *(
                cell
                for one in row.cases
                if one.value in others
                for cell in (one.time_seconds, _times_best(one.ratio, mark=TIED * (one.value in tied and one.tie == 1)))
            ),
        )
        for row in answer.rows
    ]
    best = frozenset(i for i, row in enumerate(answer.rows) if row.tie == 1)
    yield Table(columns, tuple(rows), label="All topologies and baselines", best=best)
    if tied:
        yield Sentences("= is a toss-up, [ ] an 80 % interval.")
    if why := {row.id: row.why for row in answer.rows if row.why and not row.baseline}:
        yield Facts(tuple((title(id_), text) for id_, text in why.items()))


def _links(answer: Recommendation) -> Iterator[Block]:
    here = answer.recommend.network
    waits = answer.recommend.waits if here is None else here.waits
    if not waits:
        return
    if here is not None:
        ends = ", ".join(f"{group} at {place}" for group, place in here.group_servers.items())
        yield Facts(
            (("Servers", f"top at {here.server}" + (f"; {ends}" if ends else "")), ("Filled in", " ".join(here.notes)))
        )
    columns = (*typed("text", "in use", "now", "twice"), *typed("share", "for", "saves", "at most"))
    rows = tuple((one.what, one.now, one.twice, one.waits, one.saves, one.most) for one in waits[:12])
    best = answer.recommended[0] if here is None else here.topology
    yield Table(columns, rows, label=f"What a round of {title(best)} waits for")
    if here is None:
        return
    left = (Column("without client"), *typed("share", "saves", "samples lost"))
    yield Table(left, tuple((one.client, one.saves, one.samples) for one in here.without[:12]))


def _target(answer: Recommendation) -> Iterator[Block]:
    target = answer.target
    if target is not None and target.value is not None:
        value = f"a {target.metric} of {target.value:.3g}"
        said = target.defined_by if value in target.defined_by else f"{target.defined_by}; {value}"
        yield Sentences(f"Target: {said}.")
    whose, said = answer.recommend.predictor, "those after which the bound guarantees the target"
    if not guaranteed(whose):
        said = f"expected by the predictor {whose}; no guarantee"
    elif answer.recommend.constants == "hidden":
        said = "those of the bound up to a hidden constant. They are an order, and no guarantee"
    yield Sentences(f"Rounds: {said}.")
    yield from map(Sentences, answer.recommend.notes)


def _footprint(answer: Recommendation) -> Iterator[Block]:
    if all(getattr(row, name) is None for row in answer.rows for name, _ in OF_FOOTPRINT.values()):
        return
    amounts = OF_FOOTPRINT.values()
    rows = tuple(
        (row.title, *(_known(getattr(row, name), write) for name, write in amounts), ", ".join(row.left_out))
        for row in answer.rows
    )
    columns = (Column("topology"), *numeric(*OF_FOOTPRINT), Column("left out"))
    yield Table(columns, rows, label="Energy, carbon and money to the target, and what their sources allow")


def _counts(answer: Recommendation) -> Iterator[Block]:
    """What was searched: the best that was found with each number of groups, or value of a count."""
    for letter, rows in {"G": answer.recommend.divisions, **answer.recommend.choices}.items():
        if len(rows) > 1:
            yield from _searched(answer, letter, rows)


def _searched(answer: Recommendation, letter: str, rows: Sequence[Division]) -> Iterator[Block]:
    counts = {symbol: key for symbol, key in CHOICES.items() if symbol in answer.recommend.choices}
    key = CHOICES.get(letter, "groups")
    kept = set(range(len(rows)))
    if len(rows) > DIVISIONS:
        kept = {i for i, row in enumerate(rows) if row.tie == 1 or getattr(row, key) == answer.scenario[letter].value}
        kept.update(thinned(len(rows), DIVISIONS - 1))
    shown = [rows[i] for i in sorted(kept)]
    sizes = (*typed("count", "G", "M", *counts), *numeric("zeta", "delta"))
    columns = (Column(""), *sizes, Column("topology"), *WHOLE, Column(""))
    own = {key: answer.scenario[symbol].value for symbol, key in {"G": "groups", **counts}.items()}
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (
            "=" if row.tie == 1 else "",
            row.groups,
            row.clients_per_group,
            *(getattr(row, key) for key in counts.values()),
            row.zeta,
            row.delta,
            None if row.best is None else title(row.best),
            row.rounds,
            row.time_seconds,
            row.traffic_bytes,
            "<- taken" if all(getattr(row, key) == value for key, value in own.items()) else "",
        )
        for row in shown
    )
    heading = f"By {'number of groups' if letter == 'G' else letter}, the best that was tried of each"
    yield Table(columns, cells, heading, best=frozenset(i for i, row in enumerate(shown) if row.tie == 1))
    one_tier = [1 in (row.groups, row.clients_per_group) for row in rows if row.tie == 1]
    if letter == "G" and any(one_tier) and not all(one_tier):
        yield Sentences("One group, and groups of one client, are one tier, which the verdict leaves aside.", "dim")
    if left := len(rows) - len(shown):
        yield Sentences(f"{left} more, none better: --format json", "dim")


def _terms(answer: Recommendation) -> Iterator[Block]:
    entries = []
    for row in answer.ranking:
        if row.dominant_term and (whole := sum(row.terms.values())):
            share = row.terms[row.dominant_term] / whole
            cap = ", at the largest rate allowed" if row.cap_binds else ""
            entries.append((row.title, f"{term(row.dominant_term)}: {percent(share)} of its bound{cap}"))
    if entries:
        yield Facts(tuple(entries))
        parts = dict.fromkeys(name for row in answer.ranking for name in row.terms)  # bounds have not all the same
        columns = (Column("topology"), *numeric(*(SHORT.get(name, name) for name in parts)))
        rows: list[tuple[Cell, ...]] = [(row.title, *map(row.terms.get, parts)) for row in answer.ranking if row.terms]
        yield Table(columns, tuple(rows), label="Parts of each bound", detail=True)


def _uncertainty(answer: Recommendation) -> Iterator[Block]:
    found = answer.recommend.uncertainty
    if found is None:
        return
    inputs, model = found.inputs, found.model
    first = title(inputs.regret.of)
    if answer.open_cases:
        here, there = answer.open_cases
        own, shared = CASES[here], CASES[there]
        yield Sentences(f"This is for {own}. Link sharing decides, and is not drawn: --link-sharing {there}: {shared}.")
    if model is not None:
        like = "nearest to yours" if model.like else "nearest to yours, though none is close,"
        sure = ""
        if model.probability is not None:
            sure = f"With the predictor's errors: {first} is within 2 % of the best with probability "
            sure += f"{percent(model.probability)}. "
        yield Sentences(
            f"{sure}In the {model.scenarios} measured cases {like} the first choice was "
            f"right in {model.right}. Regret in rounds: {percent(model.regret_median)} in the median, "
            f"{percent(model.regret_p90)} in one of ten."
        )
    if answer.verdict.confidence is not None or model is not None:
        yield Sentences(
            f"One topology is named if its probability of being within 2 % of the best is at least {percent(TOLD)}. "
            f"Also, every other ratio to it must have its 80 % interval above {1 + answer.recommend.resolution:g}. "
            "Else the answer is the set of those not told apart."
        )
    if inputs.draws:
        share = min(inputs.p_best[inputs.regret.of].value, 0.99)
        alone = "Inputs alone, as if the predictor had no errors"
        yield Sentences(f"{alone}: {first} is best in {percent(share)} of {inputs.draws:,} draws.")
        yield Sentences(f"Drawn: {'; '.join(_limits(inputs.drawn, answer.words))}.")
        regret = inputs.regret
        if regret.mean is not None:
            high = f", {percent(regret.p90.value, 1)} in one of ten draws" if regret.p90 else ""
            yield Sentences(f"Expected regret over the draws: {percent(regret.mean.value, 1)}{high}.")
        if inputs.unanswered:
            yield Sentences(f"No topology reaches the target in {percent(inputs.unanswered, 1)} of the draws.")
    yield from map(Sentences, inputs.said)


def _limits(drawn: Sequence[Drawn], words: Callable[[str], str]) -> list[str]:
    limits, assumed = [], [words(d.name) for d in drawn if d.kind == "assumed"]
    for d in drawn:
        if d.kind != "assumed":
            low, high = (format_amount(float(f"{value:.3g}"), d.unit) for value in (d.low, d.high))
            limits.append(f"{words(d.name)} {low} to {high}{' (90 %)' * (d.distribution == 'lognormal')}")
    if assumed:
        limits.append(f"{join_with_limit(assumed)} within a factor {FACTOR:g} either way, as assumptions")
    return limits


def _sensitivity(answer: Recommendation) -> Iterator[Block]:
    """Each input that is not known exactly, with its total Sobol index and the lead at both ends."""
    inputs = answer.recommend.uncertainty.inputs.drawn if answer.recommend.uncertainty else ()
    moves = (Column("Sobol, total", "share"), *typed("text", "lead at low", "lead at high"))
    columns = (*typed("text", "input", "known"), *numeric("low", "middle", "high"), *moves)
    rows: list[tuple[Cell, ...]] = []
    for d in sorted(inputs, key=lambda d: -d.explains.value if d.explains else 0.0):
        ends = [(d.alone.margin_low, d.alone.first_low), (d.alone.margin_high, d.alone.first_high)] if d.alone else []
        moved = [f"{math.exp(margin):.3g}x, {title(first) if first else 'no topology'}" for margin, first in ends]
        amounts = [format_amount(float(f"{value:.3g}"), d.unit) for value in (d.low, d.middle, d.high)]
        share = None if d.explains is None else d.explains.value
        rows.append((answer.words(d.name), d.kind, *amounts, share, *(moved or (None, None))))
    if rows:
        yield Table(columns, tuple(rows), label="Inputs that are not known exactly")


def _break_even(answer: Recommendation) -> Iterator[Block]:
    found = [one for one in answer.sensitivity if one.break_even is not None]
    columns = (Column("change"), Column("now", "number"), Column("method"))
    typed = [(change_in(answer, one), in_terms_of(answer.metric, one)) for one in found]
    if rows := tuple((said, format_amount(one.now, one.unit), one.method) for said, one in typed):
        yield Table(columns, rows, label="Break-even points, nearest first")
    if any(one.toss_up is not None for one in found):
        yield Sentences(
            f"Where a toss-up begins is said of the {TOSSED} nearest of these. `hfl-plan flip` has it of all, and of "
            "numbers that put no other topology in front."
        )
    if any(one.method == "sampled" for one in found):
        yield Sentences("Sampled: a change between two samples may be missed.")
    if even := _of_a_round(answer):
        yield Sentences(even)
    if answer.recommend.flips_searched:
        yield Sentences(f"Searched: {answer.recommend.flips_searched}.")


def _of_a_round(answer: Recommendation) -> str:
    """How much longer a round of the topology with the fewest rounds may take."""
    known = [row for row in answer.ranking if row.rounds and row.time_seconds and row.round_seconds]
    if len(known) < 2:
        return ""
    few = min(known, key=lambda row: (row.rounds or 0, row.rank or 0))
    quick = min(known, key=lambda row: (row.time_seconds or 0, row.rank or 0))
    if few.id == quick.id or few.rounds == quick.rounds or not quick.round_seconds:
        return ""
    now = (few.round_seconds or 0.0) / quick.round_seconds
    even = (quick.rounds or 1.0) / (few.rounds or 1.0)
    return (
        f"A round of {few.title} takes {times(now)} the time of a {quick.title} round. Break-even: {times(even)}, as "
        f"{few.title} needs {counted(int(few.rounds or 0), 'round')} and {quick.title} {quick.rounds:,.0f}."
    )


def _guarantees(answer: Recommendation) -> Iterator[Block]:
    made = answer.recommend
    if not made.bounds:
        yield Sentences(f"None: the theorems bound the mean squared gradient, and the target is a {made.quantity}.")
        return
    hidden = " (constants hidden)" if made.constants == "hidden" else ""
    yield Sentences(f"Bounds: {made.bounds}{hidden}, step cap {made.cap}; a round is timed by its {made.cost}.")
    sure = [(row.title, f"{row.rounds_guaranteed:,.3g} rounds") for row in answer.ranking if row.rounds_guaranteed]
    if sure and made.constants == "explicit":
        order = ", every ring in an order drawn afresh" if made.bounds == OWN_BOUNDS["partial"] else ""
        yield Sentences(f"Worst case to the target{order}:")
        yield Facts(tuple(sure), indent=2)
    if found := made.uncertainty and made.uncertainty.constants.sets and made.uncertainty.constants:
        yield Sentences(
            f"{found.first_in} of {found.of} applicable theorems rank {title(found.topology)} first, or in a tie."
        )
    if guaranteed(made.predictor) and (beyond := [row.title for row in answer.ranking if row.beyond_own_cap]):
        yield Sentences(
            f"The learning rates of {join(beyond)} exceed the caps that the theorem prints. The order holds there too "
            "by hflbounds.sharp for full participation, and is an assumption for partial."
        )


def _rates(answer: Recommendation) -> Iterator[Block]:
    whence = "measured" if answer.recommend.predictor == "pilot" else "predicted"
    names = (f"effective, {whence}", "of a step", "effective, bound", "of a step, bound")
    columns = (Column("topology"), *numeric(*names))
    rows = [
        (row.title, row.rate_predicted, row.rate_predicted_raw, row.rate_bound, row.rate_bound_raw)
        for row in answer.ranking
    ]
    if any(cell is not None for row in rows for cell in row[1:]):
        yield Table(columns, tuple(rows), label="Learning rates")
        on_record = answer.recommend.rates_on_record
        known = on_record.in_words(whence) if on_record else "how near to the best such rates are is not on record"
        search = "Predicted rates are a place to start a search. `hfl-plan tune` prints a range to search."
        yield Sentences(f"{capital(known)}." + f" {search}" * (whence == "predicted"))


def _methods(answer: Recommendation) -> Iterator[Block]:
    entries = []
    for other in answer.recommend.others:
        asks = f" (`{' '.join(other.argv)}`)" if other.argv else ""
        numbers = "" if other.rounds is None else f"rounds, time, traffic: {_whole(other)}; "
        entries.append((other.title, f"{numbers}{other.why}{asks}"))
    yield Facts(tuple(entries))
    if answer.recommend.corrected is not None:
        yield Sentences(_gradient_correction(answer, answer.recommend.corrected))


def _whole(one: Other | Corrected) -> str:
    amounts = (one.rounds, one.time_seconds, one.traffic_bytes)
    return ", ".join(column.text(number) for column, number in zip(WHOLE, amounts, strict=True))


def _gradient_correction(answer: Recommendation, found: Corrected) -> str:
    """What one more vector in every transfer would buy."""
    own = next((row.rounds for row in answer.ranking if row.id == found.id), None)
    stars = f"{title(found.id)} with gradient correction (MTGC)"
    if own is not None and found.rounds >= own:
        return (
            f"{stars} sends one more vector in every transfer, and would save no rounds by this prediction. Runs with "
            "strongly different clients did gain (docs/validation.md, corrected-gains)."
        )
    return (
        f"{stars} sends one more vector in every transfer. At best: {_whole(found)}, as with clients that are alike. "
        f"It was neither run nor ranked; no deviation enters {found.bound_id}, an order up to a constant."
    )


def _record(answer: Recommendation) -> Iterator[Block]:
    if answer.evidence:
        rows = tuple((one.dataset, *record(one)) for one in answer.evidence)
        yield Table((Column("data set"), *RECORD), rows, label="Record of first choices")
        yield Facts(tuple((one.dataset, one.note) for one in answer.evidence if one.note))
