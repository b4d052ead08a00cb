"""What ``hfl-plan async`` shows: buffers by the clock, what is proved of each, and what is not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import compress, product
from pathlib import Path
from statistics import median
from typing import Any, Literal

import numpy as np

from hflbounds import get
from planner.decide.clocked import FASTER, Clocked
from planner.families.hga.model import THEOREM, printed_limits
from planner.families.hga.question import Answer, Buffer, constants, late, some_buffers
from planner.io.answers import Evidence, NextStep, Quantity, Told, Verdict
from planner.io.parts import field
from planner.io.wording import counted, duration, join, join_with_limit, percent, times
from planner.predict.evidence.claims import verdicts
from planner.report.document import Column, Document, Table, numeric
from planner.report.families import CLOCK, Method, amounts, guess, parts, target
from planner.report.page import cell, count, told
from planner.report.render.table import first_that_fits
from planner.scenario.fields import FIELDS
from planner.scenario.sections import LINK, warnings_where_used
from planner.scenario.units import format_duration, format_size

SHOWN = 5  # buffers on the page
LONGEST = 30  # letters of slowdowns that a command is given
LATE = 5  # updates that a model is late, at most, where that is limited
EACH = 5  # regions of which each is named
LEARNED = ("L", "A", "sigma", "delta")  # symbols that the theorem takes, and nobody may have given
OF_THE_BOUND = frozenset(f"problem.{key}" for key in ("heterogeneity", "sigma", "smoothness", "initial_gap"))
"""Keys of a scenario that the bound takes, whatever a pilot ran with."""
OF_TASKS = {"step_time", "straggler", "client_link", "server_link"}  # symbols that times by the scenario stand on
OF_TASKS |= {f"{link}.{part}" for link in ("client_link", "server_link") for part in LINK}
PRINTED = "xie2024.thm1"
PAPERS_ALPHA = 2.0  # the largest that xie2024 recommends, Appendix H; erratum xie2024.G18
BOUNDED, RUN = 2, 16  # regions of the runs that judge the bound, and most regions of any: validation/claims/hga_*.py
FAR_APART = 2.0  # slowest region over the others' median, above which the race of docs/asynchrony.md is named
RATIO = 4.0  # the same in that race, by time
BUFFERED, MIXED = {1: 0.17, 2: 0.22, 3: 0.56}, 0.38  # time over waiting's there: FedBuff by quarters, and FedAsync
RACED = "with a region 4x the others' median{here} {they} took {ratios} synchronous time in one race."
ALIKE = "Regions are equally fast: not waiting gains nothing."
OTHER_RULES = (  # what the first two of them amount to
    "FedBuff and CA2FL did better than HGA-FL wherever speeds were unequal or the buffer held more than one update. "
    "Try them first. No bound for them is in the catalogue."
)


class Buffered(Method):
    """A buffer size, by the clock and by the theorem."""

    buffer: int = field("updates of a global step")
    group_rounds: int = field("rounds inside a region before it sends")
    step_seconds: float
    staleness_mean: float
    staleness_most: int
    idle: float = field("share of time that regions wait")
    steps: Quantity | None = field("global steps by the theorem; null without a guarantee")
    best_by_bound: bool = field("whether it takes least by the theorem, of those within the staleness")


class Asynchronous(Told):
    """What ``hfl-plan async`` answers."""

    schema: Literal["hfl-plan/async/2"] = "hfl-plan/async/2"
    rows: tuple[Buffered, ...]
    asynchronous: dict[str, Any] = field("times, buffers, rounds inside a region, and the printed theorem", key="async")


def answered(found: Answer) -> Asynchronous:
    """Say what waiting and every buffer take, by the clock and by what is proved."""
    shared = parts(
        found.scenario,
        "hga-",
        (*LEARNED, *(CLOCK if found.settings.region_times is None else ("model_size",))),
        _warnings(found),
        {
            "buffers": _buffers(found),
            "inside": (f"{counted(n, 'round')} inside a region: {_totals(b)}" for n, b in (found.inside or {}).items()),
            "theorem": _about_printed(found),
            "others": (OTHER_RULES,),
            "basis": _basis(found),
        },
    )
    return Asynchronous(
        **shared | {"evidence": _evidence(found, shared["evidence"])},
        objective="time",
        metric="gradient",
        target=target(found.question.target, "mean squared gradient", found.defined_by, "worst case"),
        verdict=_verdict(found),
        rows=tuple(_rows(found)),
        asynchronous=_data(found),
        next=tuple(_next(found)),
    )


def _evidence(found: Answer, claims: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Say which runs judged the bound, and that none judged times by it."""
    [held] = verdicts("hga-repaired")
    of, judged = held.holds + held.fails + held.open, "but your pilot judged" if _of_the_pilot(found) else "judged its"
    weak = f"the bound held in {held.holds} of {of} settings of {BOUNDED} regions; no run {judged} times"
    if found.regions > RUN:
        weak += f", and none had {found.regions} regions, {RUN} at most"
    return tuple(one.replaced(weak=weak) for one in claims)


def _next(found: Answer) -> Iterator[NextStep]:
    """Race other rules at these speeds, then limit staleness; what was done is not named again."""
    raced = _of_the_pilot(found)
    limited = found.settings.max_staleness is not None
    _, buffers = ("", "") if raced is None or limited else _not_raced(*raced[:2])
    if (_of_other_rules(found)[0] is None or buffers) and not _moot(found):
        if limited and (sizes := found.to_race or sorted(found.within)) != some_buffers(found.regions):
            buffers = ",".join(map(str, sizes))
        missing = ("--buffer", buffers) if buffers else ()
        ratio, given = found.settings.speed_ratio, found.settings.slowdowns
        own = ",".join(f"{one / min(found.times):.3g}" for one in found.times)
        each = own if given is None or found.question.members is not None else given
        if ratio is None and len(each) > LONGEST:
            ratio = f"{max(found.times) / min(found.times):.3g}"
        speeds = ("--slowdowns", each) if ratio is None else ("--speed-ratio", ratio)
        race = ("hfl-plan", "pilot", "HOOK.py", "--systems", "trees,hga", *speeds, *missing)
        yield NextStep(argv=race, why="races FedBuff, FedAsync and others, which the bound does not cover")
    most = max(LATE, min((late for late, _ in _late(found)), default=LATE))  # so that a smaller buffer is left
    late = (b for b in found.buffers if b.seconds is not None and b.pace.delay_most > most)
    if not limited and any(late):  # else no guarantee hangs on it
        yield NextStep(argv=("...", "--max-staleness", f"{most}"), why="the buffer with the most updates per second")


def _late(found: Answer) -> list[tuple[int, int]]:
    """How late updates are with buffers smaller than all regions, at most, and how large these are, below 0."""
    return [(b.pace.delay_most, -b.size) for b in found.buffers if b.size < found.regions and not b.pace.silent]


def _faster(found: Answer) -> tuple[int, Buffer] | None:
    """The rounds inside a region that take least with the buffer proved; None where the present ones take as much."""
    inside = {rounds: b for rounds, b in (found.inside or {}).items() if b.seconds}
    rounds = min(inside, key=lambda n: inside[n].seconds or 0.0, default=None)
    if rounds is None or found.proved is None:
        return None
    if (inside[rounds].seconds or 0.0) * (1 + found.scenario.resolution) > (found.proved.seconds or 0.0):
        return None
    return rounds, inside[rounds]


def _rows(found: Answer) -> Iterator[Buffered]:
    """Every buffer; before the recommended one the same with other rounds inside a region, where these take less."""
    M, now, faster = found.regions, int(found.question.values["P"]), _faster(found)
    for buffer in found.buffers:
        name, best = f"{buffer.size} (all)" if buffer.size == M else f"{buffer.size} of {M}", buffer is found.proved
        ways = [faster, (now, buffer)] if best and faster is not None else [(now, buffer)]
        for rounds, one in ways:
            yield Buffered(
                id=f"buffer-{buffer.size}" + f",P={rounds}" * (one is not buffer),
                title=name + f", P={rounds}" * (len(ways) > 1),
                buffer=buffer.size,
                group_rounds=rounds,
                **amounts(one.steps, one),
                steps=guess(one.steps),
                step_seconds=one.seconds_per_step,
                staleness_mean=one.pace.delay_mean,
                staleness_most=one.pace.delay_most,
                idle=one.pace.idle,
                best_by_bound=best and one is ways[0][1],
            )


def _verdict(found: Answer) -> Verdict:
    proved, timed, M = found.proved, found.timed, found.regions
    if proved is None:
        text = "No buffer has a guarantee for this target."
        if timed is not None:
            text += f" Within that staleness a buffer of {timed.size} takes in the most updates per second."
        return Verdict(status="unreachable", text=text)
    by_clock = ""
    if timed is not None and timed.size != proved.size:
        less = "has no guarantee" if timed.seconds is None else "its guarantee comes later"
        by_clock = f" A buffer of {timed.size} takes in more updates per second, but {less}."
    who = f"wait for all {M} regions" if proved.size == M else f"use a buffer of {proved.size} of {M} regions"
    more, best, faster, takes = "", f"buffer-{proved.size}", _faster(found), proved.seconds
    if faster is not None and proved.seconds and faster[1].seconds:
        rounds, best, takes = faster[0], f"{best},P={faster[0]}", faster[1].seconds
        more = f", with {counted(rounds, 'group round')}: {times(proved.seconds / faster[1].seconds)} faster than now"
    rest = sorted((b.seconds, b.reach.bound) for b in found.buffers if b.seconds is not None and b.size != proved.size)
    ratio = Quantity(rest[0][0] / takes) if rest and takes else None
    than = "" if ratio is None else f"; the next best takes {times(ratio)}"
    others, said = _of_other_rules(found)
    text = f"By the bound, {who}{more}{than}.{by_clock}"
    if others is not None and others < FASTER:
        text = f"{said} The bound covers no such server: by it, {who}{more}."
        return Verdict(status="measured", ratio=Quantity(1 / others, "measured"), text=text)
    if others is None and _race_first(found):
        text = f"{said} Until then, by HGA-FL's bound, {who}{more}{than}.{by_clock}"
        return Verdict(status="race-first", best=(best,), ratio=ratio, text=text)
    return Verdict(status="best", best=(best,), ratio=ratio, text=f"{text} {said}".rstrip())


def _of_other_rules(found: Answer) -> tuple[float | None, str]:
    """Time of the fastest server that does not wait over that of waiting, by a pilot at these speeds; and what to say.

    Without such a pilot there is no ratio, and servers are to be raced, if regions differ.
    """
    raced, elsewhere = _of_the_pilot(found), ""
    if raced is not None:
        best, waiting, takes, there = raced[0], raced[2], _takes(*raced, found), raced[2].question.slowdowns
        ratio = best.tasks / waiting.tasks
        here = [one / found.times[0] * there[0] for one in found.times]
        if all(math.isclose(a, b, rel_tol=0.1) for a, b in zip(here, there, strict=True)):
            advice = "Do not wait: in" if ratio < FASTER else "In"
            return ratio, f"{advice} your pilot {takes}"
        speeds = join([f"{one:.3g}" for one in there])
        elsewhere = f"pilot raced regions that take {speeds} times as long, which differ from these: there {takes}"
    if moot := _moot(found):
        return None, moot if found.proved is not None and found.proved.size == found.regions else ""
    mixed = 1 in found.within  # as FedAsync steps on each
    if not _race_first(found):
        rules, them = ("FedBuff or FedAsync", "them") if mixed else ("FedBuff", "it")
        if elsewhere:
            return None, f"Your {elsewhere} Race at these speeds too."
        return None, f"It covers no {rules}, which may be faster: race {them} (--systems hga)."
    sizes, apart = join([str(one) for one in found.to_race], "or"), times(_apart(found))
    means = f"means of {sizes} updates" if sizes != "1" else "each update added"
    race = f"Race FedBuff ({means}){' and FedAsync (each model mixed in)' * mixed} first: "
    quarters = [-(-found.regions * quarter // 4) in found.to_race for quarter in BUFFERED]
    took = sorted({*compress(BUFFERED.values(), quarters), *[MIXED] * mixed})
    ratios = " to ".join(f"{one}x" for one in dict.fromkeys((took[0], took[-1])))
    own, they = "" if apart == times(RATIO) else f" (here {apart})", "they" if len(took) > 1 else "it"
    return None, race + (f"your {elsewhere}" if elsewhere else RACED.format(here=own, they=they, ratios=ratios))


def _of_the_pilot(found: Answer) -> tuple[Clocked, list[Clocked], Clocked] | None:
    """The best server of a pilot that does not wait, its rule with each buffer, and the server that waits."""
    known = {one.id: one for one in found.raced if 0 < one.tasks < math.inf}
    waiting = known.pop("synchronous", None)
    if waiting is None or not known:
        return None
    best = min(known.values(), key=lambda one: one.tasks)
    return best, [one for one in known.values() if one.rule == best.rule], waiting


def _apart(found: Answer) -> float:
    """The slowest region's time over the median of the others': one fast region of many makes no other slow."""
    *others, slowest = sorted(found.times)
    return slowest / median(others)


def _race_first(found: Answer) -> bool:
    """Whether servers that do not wait are to be raced before the bound is followed, where no pilot raced them."""
    return bool(found.to_race) and _apart(found) > FAR_APART


def _moot(found: Answer) -> str:
    """Why no such server is worth a race: no region waits for another, or a limit leaves none; empty where one is."""
    if max(found.times) / min(found.times) <= 1 + found.scenario.resolution and not found.settings.jitter:
        return ALIKE
    late = _late(found)
    more = f"; {min(late)[0]} would allow one of {-min(late)[1]}" if late else ""
    return "" if found.within else f"--max-staleness {found.settings.max_staleness} leaves no smaller buffer{more}."


def _takes(best: Clocked, same: Sequence[Clocked], waiting: Clocked, found: Answer) -> str:
    """What the best server of a race takes, and the same with other buffers; or that none of them was raced."""
    ratio = {one.buffer: times(one.tasks / waiting.tasks) for one in same}
    said = f"takes {ratio.pop(best.buffer)} the time of waiting for all"
    if not best.buffer:
        return f"{best.rule} {said}."
    regions = len(waiting.question.slowdowns)
    others = "".join(f"; with {size}, {ratio[size]}" for size in sorted(ratio))
    said = f"{best.rule} with buffer {best.buffer} of {regions} {said}{others}."
    which, _ = _not_raced(best, same)
    return f"{said} {which} (Next)." if which and found.settings.max_staleness is None else said


def _not_raced(best: Clocked, same: Sequence[Clocked]) -> tuple[str, str]:
    """What was not raced beside the best buffer, and the buffers to race; empty where nothing is missing."""
    others, regions = [one.buffer for one in same if one is not best], len(best.question.slowdowns)
    if best.buffer and not others and regions > 2:
        return "It raced with no other buffer", ",".join(map(str, sorted({1, *some_buffers(regions)})))
    if others and 1 < best.buffer < min(others):
        return "No smaller one was raced", f"1:{best.buffer}"
    if others and max(others) < best.buffer < regions - 1:
        return "No larger one was raced", f"{best.buffer}:{regions - 1}"
    return "", ""


def document(answer: Asynchronous) -> Document:
    """Lay the answer out, in fewer words and with fewer rows where the page has too many."""
    return first_that_fits(_laid(answer, *how) for how in product(range(SHOWN, SHOWN - 3, -1), (False, True)))


def _laid(answer: Asynchronous, most: int, short: bool) -> Document:
    shown = list(answer.rows)
    if len(shown) > most + 1:  # as many lines as with a line that says how many are left out
        far, best = math.inf, [row.buffer for row in shown if row.best_by_bound]
        others = (row for row in shown if row.buffer not in best)
        following = min(others, key=lambda row: row.time_seconds or far)  # which the verdict has beside the best
        ends = {id(row) for row in shown if row.best_by_bound} | {id(following), id(shown[-1])}
        named = {size: at for at, size in enumerate(answer.asynchronous["named_buffers"])}
        shown.sort(key=lambda row: (id(row) not in ends, named.get(row.buffer, far), row.time_seconds or far))
        shown = sorted(shown[:most], key=lambda row: (-row.buffer, not row.best_by_bound))
    limited = answer.asynchronous["max_staleness"] is not None  # then that of the table is what is limited
    rows = tuple(
        (
            row.title,
            cell(duration, row.step_seconds),
            f"{row.staleness_most}" if limited else f"{row.staleness_mean:.2g}",
            cell(count, row.steps),
            cell(duration, row.time_seconds) if row.time_seconds is not None else "no guarantee",
            "<- bound" if row.best_by_bound else "",
        )
        for row in shown
    )
    measured = answer.asynchronous["measured"]
    time = "time by bound" if measured else "time"
    names = ("time per step", f"{'largest' if limited else 'mean'} staleness", "steps", time)
    table = Table((Column("buffer"), *numeric(*names), Column("")), rows)
    left = len(answer.rows) - len(shown)
    facts = [("Buffers", f"{left} more: --explain buffers")] * (left > 0)
    if measured:
        said = (f"{one['title']}: ~{duration(one['seconds'])}" for one in (measured[0], measured[-1]))
        facts.append(("Measured", f"to the target in your pilot, {'; '.join(said)}"))
    if source := (given := answer.asynchronous["region_times"])["source"]:
        facts.append(("Regions", _regions(given["seconds"], source)))
    if (apart := answer.asynchronous["race_first_from"]) and (status := answer.verdict.status) != "unreachable":
        below, turns = ("below", "the bound decides") if status == "race-first" else ("above", "race first")
        facts.append(("Changes", f"slowest region {below} {times(apart)} others' median -> {turns}"))
    return told(answer, table, kind="Buffers for slow regions", facts=facts, short=short or len(shown) > most)


def _data(answer: Answer) -> dict[str, Any]:
    scenario, settings, question = answer.scenario, answer.settings, answer.question
    inside, turns = answer.inside, answer.to_race and not _moot(answer)
    return {
        "regions": answer.regions,
        "region_times": {
            "seconds": list(answer.times),
            "origin": "derived" if settings.region_times is None else "given",
            "source": _source(answer),
            "jitter": settings.jitter,
            "seed": scenario.seed,
        },
        "constants": constants(question),
        "theorem": THEOREM,
        "measured": list(_measured(answer)),
        "max_staleness": settings.max_staleness,
        "buffers": [_buffer(buffer) for buffer in answer.buffers],
        "recommended_by_theorem": None if answer.proved is None else answer.proved.size,
        "race_first_from": FAR_APART if turns and _of_other_rules(answer)[0] is None else None,
        "recommended_by_clock": None if answer.timed is None else answer.timed.size,
        "sub_rounds": None
        if inside is None
        else [
            {"R_sub": rounds} | {name: getattr(b, name) for name in ("seconds_per_step", "steps", "seconds", "bytes")}
            for rounds, b in inside.items()
        ],
        "named_buffers": _named(answer),
        "printed_theorem": _printed(answer),
    }


def _measured(answer: Answer) -> Iterator[dict[str, Any]]:
    """What servers took in a pilot at these speeds, the fastest first; the one that waits last."""
    raced = _of_the_pilot(answer)
    if raced is None or _of_other_rules(answer)[0] is None:
        return
    known = sorted(answer.raced, key=lambda one: (one.waits, one.tasks))
    each = answer.times[0] / raced[2].question.slowdowns[0]  # of a task of slowdown 1
    yield from (
        {"id": one.id, "title": one.title, "buffer": one.buffer, "seconds": one.tasks * each}
        for one in known
        if 0 < one.tasks < math.inf
    )


def _named(answer: Answer) -> list[int]:
    """Buffers that the verdict may name, first those that took least in the pilot; else those to race."""
    by_clock = [] if answer.timed is None else [answer.timed.size]
    found = [one.buffer for one in sorted(answer.raced, key=lambda one: one.tasks) if one.buffer and not one.waits]
    return list(dict.fromkeys(by_clock + (found or answer.to_race * _race_first(answer))))


def _source(answer: Answer) -> str:
    """Where times of regions are from, in words; nothing where they were given."""
    by = [] if answer.scenario.listed is None else [Path(answer.scenario.listed.source).name]
    option = {"list": "", "pilot": "the slowdowns of the pilot"}.get(answer.times_from, answer.times_from)
    return "" if option == "--region-times" else f"by {join([*by, *([option] if option else [])])}"


def _regions(seconds: Sequence[float], source: str) -> str:
    """How long a task of each region takes; of many, the fastest and the slowest."""
    each = seconds if len(seconds) <= EACH else (min(seconds), max(seconds))
    said = [f"~{duration(one)}" for one in each]
    return f"a task takes {join(said) if len(seconds) <= EACH else ' to '.join(said)}, {source}"


def _buffer(buffer: Buffer) -> dict[str, Any]:
    pace = buffer.pace
    return {
        "K_buf": buffer.size,
        "synchronous": buffer.size == len(pace.shares),
        "seconds_per_step": buffer.seconds_per_step,
        "updates_per_second": pace.updates_per_second,
        "idle": pace.idle,
        "staleness": {
            "mean": pace.delay_mean,
            "most": pace.delay_most,
            "cache_most": pace.oldest_most,
            "shares": {str(delay): share for delay, share in pace.delays.items()},
        },
        "region_shares": list(pace.shares),
        "silent_regions": list(pace.silent),
        "simulated_steps": pace.steps,
        "bytes_per_step": buffer.bytes_per_step,
        "seconds": buffer.seconds,
        "bytes": buffer.bytes,
        **{name: value for name, value in asdict(buffer.reach).items() if name != "why" or value},
    }


def _printed(answer: Answer) -> dict[str, Any]:
    """Whether Theorem 1 of xie2024 as printed covers this, and why it is not used even where it does."""
    printed, known = get(PRINTED), constants(answer.question)
    limits = {str(buffer.size): printed_limits(known | late(buffer.pace)) for buffer in answer.buffers}
    given, least = answer.settings.alpha, next(iter(limits.values()))["alpha_dyn"]
    alpha = PAPERS_ALPHA if given is None else given
    return {
        "bound": PRINTED,
        "status": printed.status,
        "used": False,
        "refuted_by": [e.id for e in printed.errata if e.gravity == "refuted"],
        "four_minus_3L": 4 - 3 * known["L"],
        "sign_holds": 4 - 3 * known["L"] >= 0,
        "alpha": {"value": alpha, "origin": "paper" if given is None else "given", "least": least},
        "alpha_holds": alpha >= least,
        "eta_g_most": {size: limit["eta_g"] for size, limit in limits.items()},
    }


def _warnings(answer: Answer) -> Iterator[str]:
    """The scenario's; where all times are given, what is assumed about links and steps matters no more."""
    scenario, question = answer.scenario, answer.question
    timed = answer.settings.region_times is not None
    given = {name for name, one in scenario.known.items() if one.origin == "given"}
    beside = [(one.options or (one.key,))[0] for one in FIELDS if one.symbol in OF_TASKS and one.symbol in given]
    if timed and beside:
        no = join_with_limit(beside, 3)
        yield f"--region-times are whole tasks: nothing is timed by {no}. To count these, give --slowdowns instead."
    said = warnings_where_used(scenario, OF_THE_BOUND)
    yield from (one for one in said if not (timed and one.startswith("Time and traffic stand on")))
    if question.values["K"] > 1:
        whose = "all" if all(one.reach.bound == THEOREM for one in answer.buffers) else "smaller"
        yield (
            f"The bound of {whose} buffers takes a round inside a region for one gradient step, whatever K is (here "
            f"{question.values['K']:g}). FedDyn's and other local steps are not analysed."
        )
    if question.values["zeta"]:
        yield (
            "Heterogeneity between the clients of a region (zeta) does not enter that bound. Its sigma_g, here delta, "
            "must bound each region's distance everywhere."
        )
    if question.members is not None and np.ptp(question.members.children[0].shares) > 1e-9:
        yield (
            f"Regions count alike in a buffer, and by {scenario.listed.source if scenario.listed else 'the list'} they "
            "do not: the server lowers another mean of the losses."
        )
    link = scenario.network.server_link
    if link is not None and link.sharing == "per-server":
        yield "The server's link is shared, and the clock gives every region all of it: waiting may be longer."
    if silent := sorted({region for buffer in answer.buffers for region in buffer.pace.silent}):
        yield (
            f"Regions that delivered nothing while the clock ran: {', '.join(str(j + 1) for j in silent)}. Staleness "
            "there is larger than what is shown, and the theorem is not asked."
        )


def _buffers(answer: Answer) -> Iterator[str]:
    for buffer in answer.buffers:
        pace = buffer.pace
        yield (
            f"{buffer.size} of {len(pace.shares)}: {format_duration(buffer.seconds_per_step)} per step, "
            f"{3600 * pace.updates_per_second:,.4g} updates per hour; regions wait {percent(pace.idle)}; staleness "
            f"{pace.delay_mean:.2g} in the mean and {pace.latest} at most. Slowest region: "
            f"{percent(min(pace.shares), 1)} of updates. Total: {_totals(buffer)}"
        )


def _totals(buffer: Buffer) -> str:
    if buffer.steps is None:
        return "no guarantee"
    return f"{buffer.steps:,} steps, {format_duration(buffer.seconds or 0.0)}, {format_size(buffer.bytes or 0.0)}"


def _about_printed(answer: Answer) -> Iterator[str]:
    scenario, printed = answer.scenario, _printed(answer)
    L, alpha = scenario.number("L"), printed["alpha"]
    source = "the paper's largest" if alpha["origin"] == "paper" else "given"
    default = ", assumed" if scenario.known["L"].origin == "default" else ""
    sign = "holds" if printed["sign_holds"] else "fails: the printed bound may be negative"
    covered = "holds" if printed["alpha_holds"] else "fails: the theorem does not cover this"
    refuted = ", ".join(printed["refuted_by"])
    yield f"Theorem 1 of xie2024 is {printed['status']} and not used: {refuted} in docs/catalog/errata.md."
    yield f"Its second term needs 4 - 3 L >= 0: at L = {L:g}{default} it is {printed['four_minus_3L']:g}, which {sign}."
    yield f"Its (67) needs alpha >= {alpha['least']:.4g}: alpha = {alpha['value']:g} ({source}) {covered}."


def _basis(answer: Answer) -> Iterator[str]:
    scenario, settings, c = answer.scenario, answer.settings, constants(answer.question)
    yield f"The target: {answer.defined_by or 'given'}."
    yield (
        f"Steps are those of {THEOREM}. A buffer of all is the synchronous server, for which that of `recommend "
        "--predictor bound` holds too. The smaller number is shown."
    )
    if settings.region_times is not None and scenario.known["model_size"].origin == "default":
        yield f"Traffic in --json is for an assumed model of {format_size(scenario.number('model_size'))}."
    yield (
        f"{THEOREM} with sigma_s = {c['sigma_s']:.3g} (sigma over the root of a region's clients), sigma_g = "
        f"{c['sigma_g']:.3g} (delta), R_sub = {c['R_sub']:g} and tuned learning rates. It charges every step with the "
        "largest delay, so it is pessimistic where most updates are fresh. Measured over bound was 0.02 to "
        "0.46 (docs/theory/hga-repaired.md)."
    )
    yield (
        "Its floor 8 (M - K_buf)/K_buf sigma_g^2 is for any arrivals. Where all regions arrive equally often it is "
        "pessimistic; otherwise the server settles elsewhere than at the optimum."
    )
    jitter = f"jitter {settings.jitter:g}, seed {scenario.seed}" if settings.jitter else "without jitter"
    yield (
        f"The clock: {min(b.pace.steps for b in answer.buffers):,} steps or more of each buffer, {jitter}."
        " Delays are the largest seen, not the largest possible."
    )
    if told := scenario.assumed(LEARNED):
        yield f"Not given, so assumed: {told}."
