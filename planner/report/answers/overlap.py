"""What ``hfl-plan overlap`` shows: whether several servers for a client are worth it, and which links are not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any, Literal

import numpy as np

from planner.data.coverage import Layout
from planner.decide.explain import WORST
from planner.families.hhfl import model
from planner.families.hhfl.calibration import LAYOUT
from planner.families.hhfl.model import PRICE
from planner.families.hhfl.question import CLAIMS, DRAWS, FACTOR, Answer, Best, Question, in_words
from planner.families.hhfl.question import Verdict as Answered
from planner.io.answers import Assumption, NextStep, Quantity, Sensitivity, Status, Told, Verdict
from planner.io.csv_rows import csv_text
from planner.io.parts import field
from planner.io.wording import capital, counted, duration, percent, shortened, times
from planner.predict.evidence.claims import evidence
from planner.report.document import Column, Document, Table, numeric
from planner.report.families import CLOCK, Method, amounts, parts, target
from planner.report.page import AMOUNTS, cell, change, told
from planner.report.render.table import first_that_fits

SHOWN = 6  # links that are listed in text
LONGEST = 30  # letters of a coverage that a command is given
LEARNED = ("E", "Ge", "sigma", "zeta", "delta", "mu", "L", "A")  # symbols that the bound takes
KEPT = "kept.csv"  # of a command that writes the links to keep
MORE = 1.05  # times what the best takes now: from there on it is said of a count that it takes more
LEAST = 0.01  # of a share of draws that is stated, and of one that is not
UNSURE = 0.05  # of a share of draws: with less, and with less left, what is assumed decides nothing
RATIOS = "ratios to HFL"
RACE = "measures overlap on your own model and data; the hook's clients in the order of the coverage, server by server"
UPLOADS = {"each": "every server is sent to apart", "once": "all servers of a client hear one upload"}
HOMES = (Assumption(key="homes", value="balanced", effect="each client's one server in HFL: a column home says it"),)
IN_WORDS = {"hfl": "HFL (home)", "hhfl": "HHFL (all)"}  # servers of a client
OPTION = (
    *("links", "lambda2", "parts", "gap_erased", "gap_passed_on", "drift", "beta", "alpha", "local_steps"),
    *("bound_rounds", "rounds", "seconds", "bytes", "airtime_seconds", "seconds_per_round"),
)


class Attached(Method):
    """One way to attach the clients."""

    links: int
    airtime_seconds: Quantity


class Turn(Sensitivity):
    """A number from which it is the other way round."""

    verdict: str = field("what the answer is there; empty where that was not looked at", default="")
    takes: Quantity | None = field("what HFL takes there over the best now, to the same target", default=None)
    objective: str = field("that it takes it of", default="")

    @property
    def more(self) -> str:
        """Say that it is open there, and that it takes more."""
        leads = " (toss-up)" if self.verdict == "cannot tell" else ""
        more = self.takes is not None and self.takes > MORE
        return f"{leads}, at {times(self.takes)} today's least {self.objective}" if more else leads


class Overlap(Told):
    """What ``hfl-plan overlap`` answers."""

    schema: Literal["hfl-plan/overlap/2"] = "hfl-plan/overlap/2"
    rows: tuple[Attached, ...]
    sensitivity: tuple[Turn, ...] = ()
    overlap: dict[str, Any] = field("coverage, options, break-even, gain, and links to drop")


def answered(found: Answer) -> Overlap:
    """Say whether the overlap is worth it, and which links are not."""
    question = found.question
    changes = tuple(_changes(found))
    options = [("hfl", "HFL", found.apart), ("hhfl", "HHFL", found.hybrid)]
    if found.best.dropped:
        options.append(("thinned", f"HHFL, {counted(found.best.dropped, 'link')} dropped", found.best.weighed))
    if _differs(found):
        title = f"HHFL, {found.also.dropped} dropped for {found.also.objective}"
        options.append((f"thinned-{found.also.objective}", title, found.also.weighed))
    if found.every is not None and (once := _every(found)) and once["verdict"]:
        options.append(("hfl-every", "HFL, Ge = 1", found.every))
    defined = (
        f"the loss that HFL reaches after {counted(int(question.rounds), 'round')}" if question.target is None else ""
    )
    shared = parts(
        question.scenario,
        CLAIMS,
        (*LEARNED, *CLOCK),
        _warnings(found),
        {
            "verdict": _reasons(found),
            **({"break-even": [change(one, {"hfl": "HFL", "hhfl": "HHFL"}) for one in changes]} if changes else {}),
            "links": _drops(found),
            "basis": _basis(found),
        },
    )
    return Overlap(
        **shared | {"assumptions": (*HOMES * question.layout.homes_open, *shared["assumptions"])},
        objective=question.objective,
        metric="loss",
        target=target(found.target, "loss gap", defined, RATIOS if _met(found) else WORST),
        verdict=_verdict(found),
        rows=tuple(
            Attached(
                id=id_,
                title=title,
                links=option.links,
                **amounts(option.rounds, option),
                airtime_seconds=Quantity(option.airtime_seconds),
            )
            for id_, title, option in options
        ),
        overlap=_data(found),
        sensitivity=changes,
        next=tuple(_next(found)),
    )


def _met(found: Answer) -> bool:
    """Whether the target exceeds the loss gap at the start, so that counts to it mean nothing."""
    return found.target > found.question.task.A


def _differs(found: Answer) -> bool:
    """Whether other links are dropped for the other objective."""
    ours, others = (one.weighed.layout.links for one in (found.best, found.also))
    return bool(found.also.dropped) and not np.array_equal(ours, others)


def _next(found: Answer) -> Iterator[NextStep]:
    """Ask for what decides and nobody gave: heterogeneity, then how often edges exchange, then convexity; then race."""
    known = found.question.scenario.known
    why, asked = "", tuple[str, ...]()
    predicted = [one for one in (found.best, found.also) if one.verdict == "race first"]
    if {known["zeta"].origin, known["delta"].origin} & {"default"}:
        why, asked = "How much do clients and servers differ?", ("--heterogeneity", "zeta=NUMBER,delta=NUMBER")
    elif known["Ge"].origin == "default":
        why, asked = "How often do edges exchange?", ("--edge-rounds", "NUMBER")
    elif known["mu"].origin == "default":
        why, asked = "How curved are the losses at least?", ("--strong-convexity", "NUMBER")
    race = list(_race(found.question, (*predicted, found.best)[0]))
    ask = [NextStep(argv=asked, why=why, asks=True)] * bool(asked)
    yield from [*race, *ask] if predicted else [*ask, *race]


def _race(question: Question, best: Best) -> Iterator[NextStep]:
    """Race what is weighed; without some links, or server by server, from a file that is written first."""
    layout = best.weighed.layout
    if best.dropped or (_mixed(question) and np.array_equal(layout.links, best.kept.layout.links)):
        objective = ("--objective", best.objective) if best.objective != question.objective else ()
        yield NextStep(argv=("...", *objective, "--output", KEPT), why="writes the links that the race takes")
        layout = replace(layout, source=KEPT)
    yield raced(layout, question.task.E, question.task.Ge)


def _mixed(question: Question) -> bool:
    """Whether the clients are in another order than server by server, which a race refuses."""
    return bool((np.diff(question.layout.as_listed.home) < 0).any())


def raced(layout: Layout, local_steps: int, edge_rounds: int) -> NextStep:
    """Name the race of a coverage at its own steps: at those of `pilot` HHFL is Star-Star."""
    coverage = layout.source if len(layout.source) <= LONGEST else "FILE.csv"
    race = ("hfl-plan", "pilot", "HOOK.py", "--systems", "trees,hhfl", "--coverage", coverage)
    steps = ("--local-steps", str(local_steps), "--group-rounds", str(edge_rounds), "-o", "pilot.json")
    return NextStep(argv=race + steps, why=RACE)


def _ratio(found: Answer, best: Best) -> Quantity:
    """What the best use of overlap takes over HFL."""
    price = PRICE[best.objective]
    return Quantity(getattr(best.weighed, price) / getattr(found.apart, price))


def _every(found: Answer) -> dict[str, Any] | None:
    """What HFL with Ge = 1 takes over HFL, by whose rounds, and what is said of it where overlap may be worth it."""
    asked, best, every = found.question, found.best, found.every
    if every is None:
        return None
    own, apart, weighed = (float(getattr(one, PRICE[best.objective])) for one in (every, found.apart, best.weighed))
    over, error, rounds = own / min(apart, weighed), asked.error or 1.0, every.rounds / found.apart.rounds
    by, verdict = "by the bound, as runs of strongly convex losses correct it", ""
    if asked.trees is not None and asked.error is not None:
        by = f"as {asked.trees.predictor.id} predicts of Star-Star with P = 1 and P = {asked.task.Ge}"
    if best.verdict != "not worth it" and max(own / apart, over / error) * (1 + asked.scenario.resolution) < 1:
        verdict = "toss-up" if over * error >= 1 else "try first"
    known = {"ratio": own / apart, "rounds": rounds, "break_even": rounds / over, "error": asked.error}
    return {**known, "by": by, "verdict": verdict}


def _verdict(found: Answer) -> Verdict:
    best, aim = found.best, found.question.objective
    own, ratio = "thinned" if best.dropped else "hhfl", _ratio(found, best)
    if best.verdict == "nothing to weigh":
        return Verdict(status="best", best=("hfl",), text="No client hears two servers: nothing to decide.")
    every, once = "", _every(found) or {"verdict": ""}
    if once["verdict"]:
        takes = f"{times(once['ratio'])} the {aim}{' by the bound' * (once['error'] is None)}"
        then = "a toss-up with overlap" if once["verdict"] == "toss-up" else "overlap loses then"
        every = f"Try HFL with Ge = 1 first: {takes}; {then}. At Ge = {found.question.task.Ge}: "
    text, also = (f"for {one.objective} ({times(_ratio(found, one))}{one.without})" for one in (best, found.also))
    text = both(best.verdict, text, found.also.verdict, also)
    predicted = "race first" in (best.verdict, found.also.verdict)
    text = f"by the bound and runs, {text}" if best.verdict in ("worth it", "not worth it") else text
    text = f"{every}{text}" if every else capital(text)
    held = "".join(f", as {one.right} of {one.of} such predictions held" for one in evidence(CLAIMS))
    text += f": race it before building it{held}." if predicted else "."
    if best.verdict == "cannot tell":
        return Verdict(status="toss-up", best=(own, "hfl"), ratio=ratio, text=text)
    if best.verdict == "not worth it":
        return Verdict(status="not-worth-it", best=("hfl",), ratio=ratio, text=text)
    if not every and found.question.scenario.known["Ge"].origin == "default":
        with_ = f"with Ge = {found.question.task.Ge} edge rounds"
        text += f" That is {with_}; with Ge = 1, which `recommend` assumes, it never is."
    status: Status = "race-first" if best.verdict == "race first" else "best"
    return Verdict(status=status, best=(own,), ratio=ratio, text=text)


def both(own: Answered, by_own: str, other: Answered, by_other: str) -> str:
    """Say what is true by the objective and by another, each with its words."""
    said, also = (in_words(one).removeprefix("a ") for one in (own, other))
    return f"{said} {by_own} and {by_other}" if said == also else f"{said} {by_own}, {also} {by_other}"


def _changes(found: Answer) -> Iterator[Turn]:
    """The gap between servers, the local steps and the edge rounds from which it is the other way round."""
    question, flip = found.question, found.flip
    gap, best = question.unevenness, found.best
    if flip is not None and gap > flip.at and best.leads:
        turn = Turn(parameter="delta/sigma", now=gap, break_even=flip.at, best_beyond=("hfl",), method="searched")
        yield turn.replaced(verdict=flip.below)
    other = "hfl" if best.leads else "hhfl"
    for name, one in sorted(found.flips.items(), reverse=True):
        at: int | str = one.at
        if one.last is not None:  # beyond it the present one leads again
            at = f"{one.at} alone" if one.last == one.at else "{} to {}".format(*sorted((one.at, one.last)))
        now = getattr(question.task, name)
        turn = Turn(parameter=name, now=now, break_even=at, best_beyond=(other,), method="searched")
        turn = turn.replaced(verdict=one.verdict)
        yield turn if one.takes is None else turn.replaced(takes=Quantity(one.takes), objective=best.objective)


def document(answer: Overlap) -> Document:
    """Lay the answer out."""
    columns = (Column("method"), *numeric("links", "airtime", "time", "rounds", "traffic"))
    rows = tuple((IN_WORDS.get(row.id, row.title), f"{row.links:,}", *_cells(answer, row)) for row in answer.rows)
    gain = answer.overlap["gain"]
    needed = answer.overlap["break_even"]["objective"]
    expected, low, high = (f"{gain[end]:.3g}" for end in ("expected", "low", "high"))
    measured = answer.overlap.get("measured")
    by = f"predicted {expected}x (95 %, seeds alone: " if measured is None else f"measured {expected}x (80 %: "
    said = f"{needed:.3g}x fewer rounds, by {answer.objective}; {by}{low} to {high})"
    share = gain["p_above_break_even"]
    if share is not None and UNSURE < share < 1 - UNSURE:
        said += f"; above it in {_share(share)} of drawn assumptions"
    if gain["low"] > needed and (ratio := answer.verdict.ratio) is not None and ratio >= 1:
        said += "; lost in whole rounds, of which the target takes too few"
    facts = [("Break-even", said), *[("Measured", measured)] * (measured is not None)]
    table = Table(columns, rows)
    pages = (told(answer, table, kind="Overlapping servers", facts=facts, short=short) for short in (False, True))
    return first_that_fits(pages)


def _cells(answer: Overlap, row: Attached) -> Iterator[str]:
    """What a way takes: amounts, or ratios to HFL where the target is met at the start."""
    hfl = answer.rows[0]
    for key, write in (("airtime_seconds", duration), *(AMOUNTS[name] for name in ("time", "rounds", "traffic"))):
        amount = getattr(row, key)
        if answer.overlap.get("met_at_start"):
            yield "1x" if row is hfl else cell(times, Quantity(amount / getattr(hfl, key)))
        else:
            measured = key == "rounds" and amount is not None and amount.origin == "measured"
            yield f"{amount:.3g}" if measured else cell(write, amount)


def _share(share: float) -> str:
    """A share of draws in words, of which no draw proves all or none."""
    return percent(min(max(share, LEAST), 1 - LEAST))


def links_as_csv(layout: Layout) -> str:
    """Write links and homes in a form that is read again, in the order of the input but server by server.

    Where airtimes differ there is a row for each link.
    """
    layout = layout.as_listed
    homes, order = [layout.servers[n] for n in layout.home], layout.home.argsort(kind="stable").tolist()
    if {*layout.airtime.flat} <= {0.0, 1.0} and not {"client", "server", "home"} & {*layout.servers}:
        rows = ((layout.clients[i], *layout.links[i].astype(int).tolist(), homes[i]) for i in order)
        return csv_text([("client", *layout.servers, "home"), *rows])
    links = ((i, n) for i in order for n in np.flatnonzero(layout.links[i]).tolist())
    pairs = ((layout.clients[i], layout.servers[n], f"{layout.airtime[i, n]:.12g}", homes[i]) for i, n in links)
    return csv_text([("client", "server", "airtime", "home"), *pairs])


def _data(answer: Answer) -> dict[str, Any]:
    question, best, apart, hybrid = answer.question, answer.best, answer.apart, answer.hybrid
    layout, weighed = question.layout, best.weighed
    return {
        "coverage": layout.source,
        "clients": len(layout.clients),
        "servers": len(layout.servers),
        "links": hybrid.links,
        "overlapping_clients": int((layout.links.sum(axis=1) > 1).sum()),
        "homes": "given" if layout.home_given else "derived",
        "met_at_start": _met(answer),
        "verdict": best.verdict,
        "reasons": list(best.reasons),
        "weighed_links": weighed.links,
        "break_even": {
            "links_per_client": weighed.links / len(layout.clients),
            "airtime": best.break_even["airtime"],
            "objective": best.break_even[question.objective],
        },
        "gain": {
            **asdict(best.gain),
            "runs": [asdict(run) for run in answer.runs],
            "worth_from_delta_over_sigma": None if answer.flip is None else answer.flip.at,
            "p_above_break_even": best.probability,
            "draws": 0 if best.probability is None else DRAWS,
        },
        "also": {
            "objective": answer.also.objective,
            "verdict": answer.also.verdict,
            "ratio": float(_ratio(answer, answer.also)),
            "weighed_links": answer.also.weighed.links,
        },
        "every": _every(answer),
        "drift": {
            "two_levels": weighed.drift / apart.drift if apart.drift else None,
            "second_eigenvalue": 1 / model.spectral_ratio(question.task, apart.lambda2, weighed.lambda2),
        },
        "bound": model.BOUND,
        "options": {
            name: {part: getattr(option, part) for part in OPTION}
            | {"spectrum": [value._asdict() for value in option.spectrum]}
            for name, option in (("hfl", apart), ("hhfl", hybrid), ("thinned", best.kept))
        },
        "drop": [
            asdict(step) | {"client": layout.clients[step.client], "server": layout.servers[step.server]}
            for step in best.thinned.path
        ],
        "drop_search": {
            "tried": best.thinned.tried,
            "complete": best.thinned.complete,
            "best": hybrid.links - best.kept.links,
        },
    }


def _reasons(answer: Answer) -> Iterator[str]:
    best, also, layout = answer.best, answer.also, answer.question.layout
    clients, weighed = len(layout.clients), best.weighed.links
    yield f"{best.said.capitalize()}. {best.reasons[0]}"
    yield from best.reasons[1:]
    links = f"{counted(weighed, 'link')} for {counted(clients, 'client')} of {counted(len(layout.servers), 'server')}"
    ratio, airtime = weighed / clients, best.break_even["airtime"]
    by_airtime = f", by airtime as given at {airtime:.3g}" if abs(airtime / ratio - 1) > 1e-9 else ""
    yield f"{links}: break-even at {ratio:.3g} times fewer rounds{by_airtime}."
    if best.probability is not None and best.verdict != "nothing to weigh":
        yield (
            f"The gain exceeds the cost of overlap in {_share(best.probability)} of {DRAWS} draws of the "
            f"assumptions (sigma, gaps, mu, A by up to a factor {FACTOR:g})."
        )
    if best.verdict in ("worth it", "race first") and (also.objective, also.verdict) == ("time", "not worth it"):
        why = "clients send to their servers one after the other, and those with most of them set the pace"
        if answer.question.cost.network.client_link.sharing == "per-server":
            why = "the busiest server sets the pace"
        yield (
            f"By time it is not, and no link dropped makes it so: with all HHFL takes {_ratio(answer, also):.2f} times "
            f"as long, as {why}."
        )
    elif _differs(answer):
        yield f"For {also.objective} it is best{also.without}. Add --objective {also.objective} for the list."
    if once := _every(answer):
        error = f" (error {once['error']:.2g}x)" if once["error"] else ""
        yield (
            f"HFL with Ge = 1 takes {once['rounds']:.3g} times the cloud rounds of HFL, {once['by']}{error}. With less "
            f"than {once['break_even']:.3g} times it takes less {best.objective} than "
            f"{'overlap' if best.leads else 'HFL'}."
        )
    if answer.flip is not None:
        yield f"HHFL takes less from delta/sigma of about {answer.flip.at:.2g}, all else as it is."


def _drops(answer: Answer) -> list[str]:
    best, layout, hybrid = answer.best, answer.question.layout, answer.hybrid
    path, aim, price = best.thinned.path, best.objective, PRICE[best.objective]
    if not path:
        return []
    said, shown = [], min(max(best.dropped, 3), SHOWN)
    if best.verdict == "not worth it":
        said.append(f"All {len(path)} that are not a client's home: that is HFL. In the order of this search:")
        shown = 3
    for step in path[:shown]:
        rounds, taken = step.local_steps / hybrid.local_steps, getattr(step, price) / getattr(hybrid, price)
        link = f"{shortened(layout.clients[step.client])} from {shortened(layout.servers[step.server])}"
        said.append(f"{link}: rounds {_change(rounds)}, {aim} {_change(taken)} against all links")
    if len(path) > len(said):
        said.append(f"--json lists all {len(path)}, in the order in which they go, each the cheapest of those left.")
    dropped = hybrid.links - best.kept.links
    saves = f"least without the first {dropped}: {_change(getattr(best.kept, price) / getattr(hybrid, price))}"
    none = f"at most {percent(answer.question.scenario.resolution)} less with any of them dropped"
    said.append(f"{aim.capitalize()} to the target is {saves if dropped else none}.")
    looked = f"Looked at: {best.thinned.tried:,} removals, one link at a time"
    if not best.thinned.complete:
        looked += "; the network is too large for all of them, so that only some were tried at each step"
    return [*said, f"{looked}."]


def _change(ratio: float) -> str:
    return f"{round(ratio - 1, 3) + 0.0:+.1%}"  # and not -0.0 %


def _warnings(answer: Answer) -> Iterator[str]:
    question = answer.question
    yield from question.warnings
    if _met(answer):
        yield (
            f"HFL's bound exceeds the loss at the start: only ratios count. It is {answer.target:.3g}, and A is "
            f"{question.task.A:g}; runs reach far less than it allows. "
            f"HHFL{answer.best.without} needs {times(answer.best.gain.expected)} fewer rounds to it, and "
            f"{times(answer.gain_below)} fewer to A/10. For counts give a --target below A."
        )
    if question.cost.network.client_link.sharing == "per-client" and answer.best.verdict != "nothing to weigh":
        yield (
            "The rates are taken to be each client's own. If the clients of a server share them, --link-sharing "
            "per-server, the busiest server sets the pace."
        )
    if answer.best.verdict != "nothing to weigh" and _mixed(question):
        yield (
            "The race takes clients server by server: those of the coverage are in another order, which it refuses. "
            "Sort its rows by home, as --output writes them, the columns of servers and the hook's clients alike."
        )


def _basis(answer: Answer) -> Iterator[str]:
    question, task = answer.question, answer.question.task
    known_gaps = question.gaps.points is not None
    where = "label shares" if known_gaps else "gaps that point in all directions alike, exact means"
    homes = "as given" if question.layout.home_given else "balanced, then those of least airtime"
    ratio = model.spectral_ratio(task, answer.apart.lambda2, answer.best.weighed.lambda2)
    drifts = f"HFL {ratio:.3g} times HHFL" if math.isfinite(ratio) else "HHFL has none"
    yield (
        f"Bound: {model.BOUND} (own, explicit constants) with the whole spectrum, at the best falling rates of each. "
        f"It is an upper bound on the loss of strongly convex problems. E = {task.E}, Ge = {task.Ge}."
    )
    yield (
        f"Drift by the second eigenvalue alone ({model.DRIFT}): {drifts}; the gaps of the "
        f"clients are from {where}. Homes in HFL: {homes}."
    )
    yield f"Airtime: {UPLOADS[question.cost.upload]}, and every client's download is its own."
    if told := question.scenario.assumed(LEARNED):
        yield f"Not given, so assumed: {told}."
    if answer.best.verdict != "nothing to weigh":
        runs = "; ".join(
            f"{run.gain:.2f} [{run.low:.2f}, {run.high:.2f}] where the bound says {run.bound:.2f}, at delta/sigma = "
            f"{run.delta:g}"
            for run in answer.runs
        )
        first = answer.runs[0]
        yield (
            f"Rounds are the bound's, its gain raised to the power that runs have at about E = {task.E}, "
            f"Ge = {task.Ge}. The nearest are at E = {first.E}, Ge = {first.Ge}, zeta/sigma = {first.zeta:g}: {runs}. "
            f"These are 95 % intervals of losses after 500 local steps of convex problems on {LAYOUT} "
            "(planner/data/overlap_record.csv). Other coverages and problems may differ."
        )
