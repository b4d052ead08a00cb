"""What ``hfl-plan pilot`` answers: a race of topologies on the user's own model and data."""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from planner.data.label_counts import read_counts
from planner.data.pilot import Beside, Interval, Pilot, Runner, Target
from planner.decide.clocked import BUFFER
from planner.decide.race import TIE, judged, pilot_of_counts
from planner.errors import ScenarioError
from planner.harness.hooks import Handed
from planner.harness.pilot import Wanted, on_hook, on_model
from planner.io.atomic import place
from planner.io.listings import Listing, listing
from planner.io.progress import progress
from planner.io.text import one_of
from planner.io.wording import counted, join, names, names_or, percent, times, title
from planner.predict.pilot import way_out
from planner.report.document import COLUMNS, Block, Column, Section, Sentences, Table, numeric
from planner.report.page import brief, legend, shortened_to

MOST = {"rounds": 10**5, "seeds": 64, "rates": 33}
FEWEST_RATES, RATES = 2, 7
BEST = {"accuracy": 1.0}  # of a metric that has one
NEAR = 1e-4  # relative; times that differ by less are one
LATER = 10  # times the rounds of a race: nothing is known of what comes then
MORE = 4  # times the rounds or the budget of a race that did not suffice
PLAIN = (1e-7, 1e7)  # numbers that are written without a power of ten
LEAST = 60.0  # seconds of a budget that is advised


def rates(text: str | None) -> int | tuple[float, ...]:
    """Read how many rates the first grid has, or which raw ones; None for the usual number."""
    if text is None:
        return RATES
    if text.strip().isdecimal():
        many = int(text)
        if not FEWEST_RATES <= many <= MOST["rates"]:
            raise ScenarioError(f"--rates: {many} is not from {FEWEST_RATES} to {MOST['rates']}.")
        return many
    try:
        given = tuple(sorted({float(part) for part in text.split(",")}))
    except ValueError:
        given = ()
    if not FEWEST_RATES <= len(given) <= MOST["rates"] or not all(0 < rate < 1e30 for rate in given):
        raise ScenarioError(f"--rates: {text!a:.60} is no count, such as 9, and no list of raw rates, such as 0.1,0.3.")
    return given


def counts(text: str | None, option: str) -> tuple[int, ...]:
    """Read whole numbers, top tier first, such as 5/10; none for None."""
    parts = [] if text is None else text.split("/")
    if not all(part.strip().isdecimal() and 1 <= int(part) <= 10**6 for part in parts):
        raise ScenarioError(f"{option}: {text!a:.40} are no counts, top tier first, such as 5/10.")
    return tuple(int(part) for part in parts)


def checked(wanted: Wanted) -> Wanted:
    """Refuse what cannot be meant."""
    for name, number, usual in (("rounds", wanted.rounds, 8), ("seeds", wanted.seeds, 3)):
        if not 1 <= number <= MOST[name]:
            raise ScenarioError(f"--{name}: {number} is not from 1 to {MOST[name]:,}. Write --{name} {usual}.")
    one_of(wanted.metric, ("loss", "accuracy"), "--metric")
    one_of(wanted.order, ("fixed", "random"), "--order")
    one_of(wanted.weights, ("equal", "samples"), "--weights")
    return wanted


@dataclass(frozen=True, slots=True)
class Counts:
    """Label counts to be laid on a data set."""

    file: Path  # the table
    proxy: str  # name of the data set


def given(hook: Path | Handed | None, data: Path | None, proxy: str | None) -> Path | Handed | Counts:
    """Read what a race is on: a hook, what is handed over in its place, or label counts and a proxy."""
    if hook is not None and data is None and proxy is None:
        return hook
    if hook is None and data is not None and proxy is not None:
        return Counts(data, proxy)
    raise ScenarioError(
        "name a HOOK.py with your model and data, or label counts and a data set to lay them on: "
        "--data COUNTS.csv --proxy digits."
    )


def piloted(
    on: Path | Handed | Counts, wanted: Wanted, file: Path | None, left_out: Sequence[str], *, force: bool, **how: Any
) -> tuple[Listing, str]:
    """Race, and say what was measured, and which systems were left out; and the pilot.

    ``file`` is where the pilot goes, None for nowhere, and ``force`` whether to overwrite it; ``how`` is as of
    `planner.harness.pilot.on_model`.

    Raises:
        NoAnswerError: If nothing can be raced, or the pilot cannot be written.
    """
    wanted, store = checked(wanted), None
    if file is not None:
        target, _ = place(file, force)
        store = target.with_name(f"{target.name}.runs")

    def tell(what: str, leader: str | None) -> None:
        ahead = f"; {title(leader)} leads" if leader is not None else ""
        progress(f"pilot: {what}{ahead} ...")

    if isinstance(on, Counts):
        pilot = pilot_of_counts(read_counts(on.file), on.proxy, wanted, store, tell, **how)
    elif isinstance(on, Path):
        pilot = judged(on.name, *on_hook(on, wanted, store, tell, **how), wanted)
    else:
        pilot = judged("your model", *on_model(*on, wanted, store, tell, **how), wanted)
    return document(pilot, file, wanted.within, left_out), pilot.text()


def document(pilot: Pilot, output: Path | None, within: float | None, left_out: Sequence[str]) -> Listing:
    """Say what a pilot measured in so many seconds, where it is written, and which systems did not race."""
    warnings, limits = tuple(_warnings(pilot)), tuple(_limits(pilot, left_out))
    again = "" if output is None else " --force; runs are kept"
    facts = [("Raced", _raced(pilot)), *shortened_to("Limits", limits, again)]
    later = _slower_buffers(pilot)
    table, page = _table(pilot, ()), _table(pilot, later)
    narrow = page if page.width() <= COLUMNS else page.of(range(len(page.columns) - 1))  # without ratios
    below = [f"{counted(len(later), 'more buffer')}: --explain rows."] * bool(later)
    if pilot.smoothing > 1 and pilot.targets:
        kind = pilot.metric.capitalize()
        below.append(
            f"{kind}: after the last round, over the seed that chose the rates and the others, half each. Rounds: to "
            "the target, at the rate that is best for them."
        )
    if any(one.at_nodes for one in pilot.beside):
        below.append("HSL and gossip have no global model: means over the nodes' own models.")
    if any(one.times for one in pilot.beside):
        below.append(_by_time(pilot))
    below += filter(None, [legend([narrow])])
    blocks: list[Block] = [narrow, *(Sentences(text, indent=2) for text in below)] if pilot.rounds else []
    rates = (
        f"{_name(one)}: {' to '.join(dict.fromkeys(f'{rate:.3g}' for rate in one.good_rates))}"
        for one in (*pilot.topologies, *pilot.beside)
        if one.good_rates
    )
    sections = (
        Section("rows", "The race", (table,) * bool(pilot.rounds)),
        Section.said("rates", "Good rates", rates),
        Section.said("limits", "Limits", limits),
    )
    shared = {"warnings": warnings, "next": _next(pilot, output, within), "metric": pilot.metric}
    shared |= {"status": pilot.verdict.status if pilot.verdict.status in ("best", "toss-up") else "measured"}
    text, own = " ".join(_verdicts(pilot)), pilot.to_json()
    answer = listing("pilot", text, own, _rows(pilot), best=pilot.verdict.best, **shared)
    return brief(answer, blocks, facts=facts, sections=sections, kind="Pilot")


def _rows(pilot: Pilot) -> Iterator[dict[str, Any]]:
    last = pilot.targets[-1] if pilot.targets else None
    for one in (*pilot.topologies, *pilot.beside):
        final = dict.fromkeys(("value", "low", "high")) if one.final is None else one.final.to_json()
        kept = {"id": one.id, "title": _name(one).removeprefix("- "), "beside": isinstance(one, Beside)}
        kept |= final | {"rate": one.rate, "rounds": last and last.of(one.id)[0]}
        if pilot.fleet.slowdowns is not None:
            time = None if last is None else last.times.get(one.id)
            kept["tasks"] = None if time is None else time.value
        yield kept


def _verdicts(pilot: Pilot) -> Iterator[str]:
    yield _verdict(pilot)
    if pilot.verdict.status in ("best", "toss-up"):
        yield "Rounds differ in time: `recommend` (Next) ranks by it."
    if pilot.verdict.ahead:
        ahead = join([one.title for one in pilot.beside if one.id in pilot.verdict.ahead])
        yield f"Ahead of all trees after as many rounds: {ahead}. Their rounds may take another time."
    yield from _without_waiting(pilot)


def _without_waiting(pilot: Pilot) -> Iterator[str]:
    """Say which server that does not wait is the quickest to the target, against the one of the reference that does."""
    last = pilot.targets[-1] if pilot.targets else None
    taken = {} if last is None else {name: found.value for name, found in last.times.items() if found is not None}
    raced = [one for one in pilot.beside if one.id in taken and one.id != "synchronous"]
    if last is None or not raced:
        return
    first, waits = min(raced, key=lambda one: taken[one.id]), _waited(pilot, last)
    yield (
        f"Without waiting, {first.title.replace(BUFFER, ' with buffer ')} is the quickest: {pilot.metric} "
        f"{last.value:.3g} in {times(taken[first.id] / waits)} the time of {title(pilot.reference)}, which waits."
    )


def _waited(pilot: Pilot, target: Target) -> float:
    """Tasks of the reference to a target, which it may have reached before its last round."""
    return (target.of(pilot.reference)[0] or target.reference_rounds) * _slowest(pilot)


def _slowest(pilot: Pilot) -> float:
    """How many times as long as one of slowdown 1 the slowest region takes."""
    return max(pilot.fleet.slowdowns or [1.0])


def _verdict(pilot: Pilot) -> str:
    found, rounds = pilot.verdict, counted(pilot.rounds, "round")
    kind = pilot.metric
    if found.status == "best":
        since = "" if found.since == pilot.rounds else f", and has been since round {found.since}"
        return f"{names(found.best)} is first by {kind} after {rounds}{since}."
    if found.status == "toss-up":
        first, other = map(title, found.best[:2])
        lead = f" {first} leads {other} by {_shown(found.lead, 2)}" if found.lead else ""
        longer = (
            f"; {other} takes {_shown(found.ratio, 2)} times the rounds to where {first} ends" if found.ratio else ""
        )
        return f"Toss-up by {kind} after {rounds}: {names_or(found.best)}.{lead}{longer}{'.' * bool(lead)}{_why(pilot)}"
    if found.status == "too-short":
        ahead = f" {names(found.best)} was in front when it was stopped." if found.best else ""
        return f"It cannot be told yet: the budget ended before the topologies could be compared.{ahead}"
    if found.status == "constant" and pilot.start == BEST.get(kind):
        return f"Nothing to choose: the {kind} is {pilot.start:.4g} before training already, and none is better."
    if found.status == "constant":
        return f"Nothing to choose: the {kind} stayed at {pilot.start:.4g} whatever was trained."
    if found.status == "no-progress":
        return f"No topology came past the start, {kind} {pilot.start:.4g}, at any rate in {rounds}."
    return "No topology has a rate at which runs stay finite."


def _why(pilot: Pilot) -> str:
    """Say why the first of a toss-up does not lead where both intervals say so, and who is left out in between."""
    found, said = pilot.verdict, ""
    ties = ((found.lead, 0.0), (found.ratio, 1.0))
    ranked = _best_first(pilot, pilot.topologies)
    if found.lead and all(one is None or one.low is None or one.low > tie for one, tie in ties):
        said = " The lead may be chance on the seeds that chose no rate."
        if (end := ranked[0].final) and pilot.start and found.lead.value <= TIE * abs(end.value - pilot.start):
            said = f" The lead is under {percent(TIE)} of the way from the start."
    order = [one.id for one in ranked]
    if between := [one for one in order[: order.index(found.best[-1])] if one not in found.best]:
        first, last = title(found.best[0]), title(found.best[-1])
        said += f" Ahead of {last} but told apart from {first}, as seeds differ less there: {names(between)}."
    return said


def _raced(pilot: Pilot) -> str:
    fleet = pilot.fleet
    part = "" if fleet.drawn == fleet.sizes else f", {' x '.join(map(str, fleet.drawn))} drawn each round"
    passes = "" if set(fleet.passes) == {1} else f", passes {'/'.join(map(str, fleet.passes))}"
    proxy = " as a proxy" if pilot.problem.proxy else ""
    model = f"{pilot.problem.name}{proxy}: {counted(pilot.problem.parameters, 'parameter')}"
    steps = f"{counted(fleet.local_steps, 'local step')} of {fleet.batch}"
    return f"{model}, {_clients(pilot)}{part}{passes}, {steps}; {pilot.metric} {pilot.start:.4g} at the start."


def _clients(pilot: Pilot) -> str:
    """Say who races, and what clients count by where nodes differ."""
    fleet = pilot.fleet
    if fleet.children is None:
        return f"clients {fleet.shape}"
    by = "weights equal" if fleet.samples is None else "weights by samples"
    return f"{counted(pilot.problem.clients, 'client')} ({fleet.shape}), {by}"


def _slower_buffers(pilot: Pilot) -> set[str]:
    """Ids of servers that raced with several buffers, but for the quickest of each rule."""
    times = pilot.targets[-1].times if pilot.targets else {}
    taken = {name: math.inf if found is None else found.value for name, found in times.items()}
    raced = [one for one in pilot.beside if one.id in taken and BUFFER in one.title]
    best: dict[str, str] = {}
    for one in sorted(raced, key=lambda one: taken[one.id]):
        best.setdefault(one.title.partition(BUFFER)[0], one.id)
    return {one.id for one in raced} - set(best.values())


def _table(pilot: Pilot, without: Collection[str]) -> Table:
    last = pilot.targets[-1] if pilot.targets else None
    rows = _best_first(pilot, pilot.topologies)
    besides = _best_first(pilot, [one for one in pilot.beside if one.id not in without])
    other = "accuracy" if pilot.metric == "loss" else "loss"
    shows = any(getattr(one, other) for one in rows)
    cells = [_row(pilot, one, other if shows else None, last) for one in (*rows, *besides)]
    name, *numbers = cells[0]  # of columns, the same in every row
    best = frozenset(i for i, one in enumerate(rows) if one.id in pilot.verdict.best)
    table = tuple(tuple(row.values()) for row in cells)
    return Table((Column(name), *numeric(*numbers)), table, indent=2, best=best, label="The race", apart=False)


def _best_first(pilot: Pilot, some: Iterable[Runner]) -> list[Runner]:
    better = -1.0 if pilot.metric == "accuracy" else 1.0
    return sorted(some, key=lambda one: (one.final is None, better * one.final.value if one.final else 0.0))


def _name(one: Runner) -> str:
    return f"- {one.title}" if isinstance(one, Beside) else title(one.id)


def _row(pilot: Pilot, one: Runner, other: str | None, last: Target | None) -> dict[str, str | None]:
    """Cells by the names of their columns."""
    cells = {"topology": _name(one), pilot.metric: None if one.final is None else _shown(one.final)}
    if other is not None:
        ends = [curve[-1] for curve in getattr(one, other)]
        whole = [end for end in ends if end is not None]
        cells[other] = f"{sum(whole) / len(whole):.3g}" if whole and len(whole) == len(ends) else None
    cells["rate"] = None if one.rate is None else f"{one.rate:.3g}"
    if last is not None:
        rounds, ratio = last.of(one.id)
        predicted = "~" * (rounds is not None and rounds > pilot.rounds * (1 + NEAR))
        cells[f"rounds to {last.value:.3g}"] = None if rounds is None else f"{predicted}{rounds:.3g}"
        if last.times:
            cells["tasks"] = _tasks(pilot, one, last)
        cells[f"over {title(pilot.reference)}'s"] = None if ratio is None else _shown(ratio, 2)
    return cells


def _tasks(pilot: Pilot, one: Runner, last: Target) -> str | None:
    """The time to the target, in tasks of a region; of a tree whose round is one of the synchronous server alone."""
    found = last.times.get(one.id)
    if one.id == pilot.reference:
        return f"{_waited(pilot, last):.3g}"
    end = one.times[-1] if isinstance(one, Beside) and one.times else 0.0
    return None if found is None else f"{found.value:.3g}" if found.value <= end * (1 + NEAR) else f"~{found.value:.3g}"


def _by_time(pilot: Pilot) -> str:
    """What the curves of servers that do not wait are over."""
    slowest = _slowest(pilot)
    slow = f"{times(slowest)} as slow as one of slowdown 1" if slowest > 1 else "as fast as all others"
    return (
        f"HGA-FL and its baselines have no rounds: they ran for as long as {counted(pilot.rounds, 'round')} of "
        f"{title(pilot.reference)}, which waits for the slowest region ({slow}). Tasks: the time to the target, in "
        "tasks of a region of slowdown 1. `recommend --pilot` has seconds, of whole rounds and steps of a server."
    )


def _shown(number: Interval, digits: int = 3) -> str:
    said = [_plain(n, digits) for n in (number.value, number.low, number.high) if n is not None]
    return said[0] if len(said) < 3 else f"{said[0]} [{said[1]}, {said[2]}]"


def _plain(number: float, digits: int) -> str:
    """A number with so many digits, without a power of ten where that is not long."""
    said = f"{number:.{digits}g}"
    return f"{Decimal(said):f}" if PLAIN[0] <= abs(number) < PLAIN[1] else said


def _warnings(pilot: Pilot) -> Iterator[str]:
    if way := way_out(pilot):  # first, as the page shows one of these
        yield way
    for cut in pilot.cut:
        if cut.what == "rounds" and cut.done:
            yield f"The budget allowed {cut.done} of {cut.wanted} rounds. Give more with --within."
        elif cut.what == "seeds":
            yield f"The budget allowed {counted(cut.done, 'seed')} of {cut.wanted} for the comparison."
        elif cut.what == "refinement":
            yield "The budget allowed no refinement of the rates: they are known within a factor of about 4."
    outside = [one.id for one in pilot.topologies if one.rate is not None and not one.inside]
    others = [one.title for one in pilot.beside if one.rate is None or not one.inside]
    if others and pilot.rounds:
        yield f"{join(others)}: no best rate inside those tried, so it may do better than shown."
    if outside and pilot.verdict.status not in ("constant", "no-progress"):
        yield f"The best rate of {names(outside)} is at the end of those tried. Give others with --rates."
    further = 1 if pilot.metric == "accuracy" else -1
    ends = [(one.id, one.final.value) for one in pilot.topologies if one.final is not None and pilot.start is not None]
    stuck = [id_ for id_, end in ends if end is not None and further * (end - pilot.start) <= 0]
    if stuck and pilot.verdict.status in ("best", "toss-up"):
        yield f"{names(stuck)} came no further than the start. Ask for more --rounds."
    lost = [one.id for one in pilot.topologies if pilot.rounds and one.final is None]
    if lost and pilot.verdict.status != "diverged":
        yield f"{names(lost)}: no run stayed finite with fresh noise. Ask for more --rates."
    yield from pilot.notes


def _limits(pilot: Pilot, left_out: Sequence[str]) -> Iterator[str]:
    seeds, rounds = len(pilot.seeds.compared), counted(pilot.rounds, "round")
    if pilot.rounds and pilot.problem.proxy:  # first, as the page shows one of these
        yield "A proxy: your label counts on other data. Your own data may be harder, and differ in more than labels."
    if pilot.rounds:
        say = "says" if pilot.rounds == 1 else "say"
        yield f"{rounds} {say} little of round {LATER * pilot.rounds:,}: leads of rings shrink, or turn, later on."
    if pilot.rounds and seeds > 1:
        yield (
            f"[ ] are {percent(pilot.level)} intervals over {seeds} seeds of the noise, on the same data and first "
            "model; rates were chosen with another seed. Those of ratios are for one training with other noise, and "
            "rates chosen with it."
        )
    elif pilot.rounds:
        yield (
            "One seed of the noise: intervals of ratios alone, and a lead of less than a hundredth of the way counts "
            "as none."
        )
    if left_out:
        yield f"Not run: {'; '.join(left_out)}."


def _next(pilot: Pilot, output: Path | None, within: float | None) -> Iterator[str]:
    """The same race with what it lacked, ``...`` for the options that were given; or what to do with the pilot."""
    if way_out(pilot):
        if changed := _changed(pilot, within):
            yield f"... {changed}{' --force' * (output is not None)}"
        return
    file = output if output is not None else "pilot.json"
    if output is None:
        yield "... --output pilot.json"
    options = f"{_fleet(pilot)} --pilot {shlex.quote(str(file))}".strip()
    yield f"hfl-plan recommend {options} --uplink 20Mbit/s"
    if pilot.fleet.slowdowns is not None:
        yield f"hfl-plan async {options} --uplink 20Mbit/s"


def _changed(pilot: Pilot, within: float | None) -> str:
    """The options with which a race that decided nothing may decide something; "" where none would help."""
    status = pilot.verdict.status
    if within is not None and (status == "too-short" or any(cut.what == "rounds" for cut in pilot.cut)):
        return f"--within {max(MORE * within, LEAST):g}s"
    if status == "constant":
        return "--metric loss" * (pilot.metric != "loss")
    if status == "no-progress":
        return f"--rounds {min(MORE * pilot.rounds, MOST['rounds'])}"
    if status != "diverged":
        return ""
    least = min((tried.rate for one in pilot.topologies for tried in one.tried), default=1e-3)
    return f"--rates {','.join(f'{least / 10**n:.1g}' for n in (3, 2, 1))}"


def _fleet(pilot: Pilot) -> str:
    """Options of a scenario with the fleet of a pilot; a fleet whose nodes differ is taken from the pilot."""
    fleet = pilot.fleet
    if fleet.children is not None:
        return ""
    if len(fleet.sizes) != 2:
        return f"--tiers {'/'.join(map(str, fleet.sizes))} --K {fleet.local_steps}"
    words = [f"--G {fleet.sizes[0]} --M {fleet.sizes[1]} --K {fleet.local_steps}"]
    words += [f"--P {fleet.passes[1]}"] * (fleet.passes[1] > 1)
    for option, size, drawn in zip(("--S1", "--S2"), fleet.sizes, fleet.drawn, strict=True):
        words += [f"{option} {drawn}"] * (drawn < size)
    words += ["--order random"] * (fleet.order == "random")
    return " ".join(words)
