"""How ``hfl-plan tune`` lays out its answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from hflbounds.topology import Topology
from planner.decide.tuned import MOST_SAID, SPENT, Plan, Tuned
from planner.io.wording import counted, join, percent, times
from planner.predict.predictors import guaranteed
from planner.report.document import Cell, Column, Document, Section, Table, numeric, thinned
from planner.report.page import BEGUN, SCALE, amounts, cell, count, evidence, told
from planner.report.render.table import first_that_fits
from planner.scenario.footprint import MORE, Amount

SHOWN, FEWEST = 6, 3  # rows of the front on a page: at most, and where it has many other lines
LISTED = 40  # and in its section
LESS = 0.05  # relative difference that a page points out
FAR = 1.5  # times what the recommended choice takes: from there on a toss-up has its interval
PASSES = 2  # the place of the column of passes, which a page leaves out where all are 1
RATES = ("rate, effective", "rate, raw", "rate, effective, bound", "rate, raw, bound")


def document(answer: Tuned) -> Document:
    """Lay choices out, as many as leave a page its lines, with what a section says too where there is room."""
    named = min(len(_named(answer)), SHOWN)
    ways = (*((n, False) for n in range(3)), *((n, True) for n in range(2, 8)))
    pages = [(most, *way) for way in ways for most in range(SHOWN, FEWEST - 1, -1)]
    pages.sort(key=lambda page: page[0] < named)  # what the verdict names goes before what a section says too
    return first_that_fits(_laid(answer, *page) for page in pages)


def _laid(answer: Tuned, most: int, left_out: int, short: bool) -> Document:
    """The present choice, the recommended one, and others of the front, up to so many."""
    chosen = next(row for row in answer.rows if row.recommended)
    rows = _page_rows(answer, chosen, most)
    notes = [(_note(answer, row, chosen, left_out),) for row in rows]
    table = _table(answer, rows, (Column(""),), notes, label="Choices to one target")
    if all(row.group_rounds == 1 for row in rows):
        table = table.of([i for i in range(len(table.columns)) if i != PASSES])
    table = replace(table, best=frozenset(i for i, row in enumerate(rows) if row.recommended))
    left = min(len(answer.rows), LISTED) - len(rows)
    more = [("More", f"{counted(left, 'choice')} of the front: --explain front")] * (left > 0 and left_out < 3)
    facts = (*more, *_facts(answer, chosen, left_out))
    without = ("Evidence", *["Warning"] * (left_out > 5))
    own = {"facts": facts, "without": without, "sections": [_front(answer)], "short": short}
    return told(answer, table, kind="Steps and rates", **own)


def _table(
    answer: Tuned, plans: Sequence[Plan], last: Sequence[Column], cells: Iterable[Sequence[Cell]], label: str
) -> Table:
    """Choices with their amounts, and last columns of each table's own, whose cells are given by row."""
    more = _more(answer)
    counts = (Column("K", "count"), Column(answer.tune.passes, "count"))
    rounds = BEGUN if any(row.rounds_begun not in (None, row.rounds) for row in answer.rows) else "rounds"
    columns = (Column("topology"), *counts, *numeric("time", "traffic", rounds, *more), *last)
    rows = []
    for row, own in zip(plans, cells, strict=True):
        others = (cell(MORE[aim][2], getattr(row, MORE[aim][0])) for aim in more)
        begun = cell(count, row.rounds_begun if rounds == BEGUN else row.rounds)
        spent = (*amounts(row, ("time", "traffic")), begun, *others)
        rows.append((row.title, row.local_steps, row.group_rounds, *spent, *own))
    return Table(columns, tuple(rows), label=label, indent=2, apart=False)


def _more(answer: Tuned) -> list[Amount]:
    """What is weighed beside time and traffic."""
    return [aim for aim, (_, budget, _) in MORE.items() if aim == answer.objective or getattr(answer.tune, budget)]


def _page_rows(answer: Tuned, chosen: Plan, most: int) -> list[Plan]:
    """The present and the recommended choice, others that the verdict names, and of each tie one that saves something.

    Up to so many.
    """
    first = _named(answer)[:most]
    by_tie = {row.tie: row for row in reversed(answer.rows) if row.tie is not None}
    taken = {row.tie for row in first}
    run = max(answer.tune.most_steps_on_record or math.inf, *(row.steps_in_a_round for row in first))
    others = [row for _, row in sorted(by_tie.items()) if row.tie not in taken and _note(answer, row, chosen)]
    others = [row for row in others if row.steps_in_a_round <= run]  # what was never checked is in the section
    return [*first, *(others[i] for i in thinned(len(others), most - len(first)))]


def _named(answer: Tuned) -> list[Plan]:
    """The present and the recommended choice, and others that the verdict names."""
    order = ("given", "recommended", "beside", "toss_up")
    return list({row.id: row for mark in order for row in answer.rows if getattr(row, mark)}.values())


def _whose(answer: Tuned, *, short: bool) -> str:
    """Which of K and P of the present choice were assumed, or that none was; by name if not short."""
    names = ("K", answer.tune.passes)
    assumed = [name for name in names if name in answer.scenario and answer.scenario[name].origin == "default"]
    if len(assumed) == 1:
        return f"{assumed[0]} assumed"
    return f"{'' if short else ' and '.join(names) + ' '}as {'assumed' if assumed else 'given'}"


def _note(answer: Tuned, row: Plan, chosen: Plan, left_out: int = 1) -> str:
    """Why a row is shown, in fewer words on a fuller page; empty for a choice of the front that saves too little.

    Those of a toss-up that are far apart have their interval.
    """
    if row.recommended:
        which = "<- own links" if answer.verdict.status == "depends" else "<- recommended"
        return f"{which}, {_whose(answer, short=left_out > 4)}" if row.given else which
    if row.given:
        return _whose(answer, short=left_out > 4) + ", over the budget" * (not row.within_budget)
    if not row.within_budget:
        return "over the budget"
    if left_out > 2 and row.toss_up:
        return "toss-up"
    less = [
        f"{percent(min(1 - own / best, MOST_SAID))} less {what}"
        for what in ("time", "traffic", *_more(answer))
        for own, best in [(getattr(row, SPENT[what]), getattr(chosen, SPENT[what]))]
        if own is not None and best and own < best * (1 - LESS)
    ]
    far = not left_out and row.ratio is not None and row.ratio.low is not None and row.ratio > FAR
    return ", ".join([f"toss-up, {times(row.ratio)}" if far else "toss-up"] * row.toss_up + less)


def _facts(answer: Tuned, chosen: Plan, left_out: int) -> Iterator[tuple[str, str]]:
    """Lines of a page: all, or ever fewer and shorter ones, what is alike first and what was tried last."""
    tried = (("K", "local_steps", answer.tune.local_steps), ("P", "group_rounds", answer.tune.group_rounds))
    given = {name for name, known in answer.scenario.items() if known.origin == "given"}
    held = [(name, key, numbers[0]) for name, key, numbers in tried if len(numbers) == 1 and name in given]
    if held and left_out < 7:
        alone = join([f"{name} = {only}" for name, _, only in held])
        ways = " ".join(f"--set fleet.{key}={only}" for _, key, only in held)
        yield "Tried", f"{alone} alone: {ways} to compare others"
    if answer.tune.alike and not left_out:
        others = counted(len(answer.tune.alike), "other choice")
        within = percent(answer.tune.resolution)
        yield "Alike", f"{others}, no more time or traffic within {within}: --explain alike"
    rates = answer.tune.rates
    if rates is not None and left_out < 4:
        raw, L = rates.topologies[chosen.topology].rates, answer.scenario["L"]
        unit = "/L?" if L.origin == "default" else ""
        low, high = (rate * (float(L.value or 1) if unit else 1.0) for rate in (min(raw), max(raw)))
        known = rates.on_record.in_words() if rates.on_record else "how near to the best they are is not on record"
        rings = any(not pattern.by_share for pattern in Topology.of(chosen.topology).patterns)
        known = f"; {known}" * (rings or not rates.on_record)  # the record is of rings
        also = " (--explain rates)" if left_out else known
        yield "Rates", f"search {low:.2g}{unit} to {high:.2g}{unit} for {chosen.title}{also}"
    elif rates is None and chosen.why:
        yield "Rates", f"none: {chosen.why}"
    if answer.tune.scale is not None:
        yield SCALE, answer.tune.scale.in_words()
    told = _evidence(answer)
    told = told if left_out < 2 else told.partition(";")[0]
    yield "Evidence", told if left_out < 5 else told.partition(" (")[0]
    if left_out > 5 and answer.warnings:
        yield "Warning", "--explain warnings"


def _evidence(answer: Tuned) -> str:
    """Compare what is saved with the predictor's error; no better than how often topologies were ranked right."""
    error, most = answer.tune.error, answer.tune.most_steps_on_record
    ratio = next(iter(answer.verdict.cases), answer.verdict).ratio  # the rows are of the first case
    if guaranteed(answer.tune.predictor):
        return "worst cases by theorem; typical runs take fewer rounds, and may rank otherwise"
    compared = [row.steps_in_a_round for row in answer.rows if row.recommended or row.given]
    if most is not None and max(compared) > most:
        return f"weak: no measured run had {max(compared):,} local steps of a client in a round, {most:g} at most"
    if error is None:
        return "none: no record of this predictor covers these choices"
    if not answer.tune.near:
        return f"none near these choices: a gain of less than {times(error)} is a toss-up"
    ranked = next((text for _, text in evidence(answer)), "") if len(answer.tune.topologies) > 1 else ""
    weak = ranked.startswith("weak")
    if (saved := answer.tune.steps_on_record) is not None:
        # without a ratio no other choice keeps to the budget, and rounds alone are compared
        holds = (ratio or saved.predicted) * saved.low / saved.predicted > 1 + answer.tune.resolution
        grade = f"{ranked};" if holds and weak else "fair:" if holds else "weak:"
        return f"{grade} {saved.in_words()}"
    off = f"the predictor's error, {times(error)} in the median"
    if ratio is None:
        return ranked or f"none for one topology alone: ratios of rounds are off by {times(error)} in the median"
    if ratio < error:
        return f"weak: {times(max(ratio, 1 / ratio))} is below {off}"
    if any(row.given and row.toss_up for row in answer.rows):
        return f"weak: {times(ratio)} between these topologies is within the predictor's error"
    return ranked if weak else f"fair: {times(ratio)} exceeds {off}"


def _front(answer: Tuned) -> Section:
    plans = answer.rows[:LISTED]
    rates = ((row.rate_predicted, row.rate_predicted_raw, row.rate_bound, row.rate_bound_raw) for row in plans)
    table = _table(answer, plans, numeric(*RATES), rates, label="Front of time and traffic")
    return Section("front", "Pareto front of time and traffic, after the present choice and any toss-up", (table,))
