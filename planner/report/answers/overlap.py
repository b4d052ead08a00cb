"""What ``hfl-plan overlap`` shows: whether several servers for a client are worth it, and which links are not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from planner.data.coverage import Layout
from planner.families.hhfl import model
from planner.families.hhfl.calibration import LAYOUT
from planner.families.hhfl.question import CLAIMS, DRAWS, FACTOR, Answer, in_words
from planner.io.answers import NextStep, Quantity, Sensitivity, Status, Target, Told, Verdict
from planner.io.csv_rows import csv_text
from planner.io.parts import field
from planner.io.wording import counted, percent, shortened, times
from planner.report.document import Column, Document, Table
from planner.report.families import CLOCK, WORST, Method, guess, parts
from planner.report.page import cell, change, count, duration, size, told

SHOWN = 6  # links that are listed in text
LONGEST = 30  # letters of a coverage that a command is given
UPLOADS = {"each": "every server is sent to apart", "once": "all servers of a client hear one upload"}
OPTION = (
    *("links", "lambda2", "parts", "gap_erased", "gap_passed_on", "drift", "beta", "alpha", "local_steps"),
    *("bound_rounds", "rounds", "seconds", "bytes", "airtime_seconds", "seconds_per_round"),
)


class Attached(Method):
    """One way to attach the clients."""

    links: int
    airtime_seconds: Quantity


class Overlap(Told):
    """What ``hfl-plan overlap`` answers."""

    schema: Literal["hfl-plan/overlap/2"] = "hfl-plan/overlap/2"
    rows: tuple[Attached, ...]
    overlap: dict[str, Any] = field("coverage, options, break-even, gain, and links to drop")


def answered(found: Answer) -> Overlap:
    """Say whether the overlap is worth it, and which links are not."""
    question = found.question
    changes = tuple(_changes(found))
    options = [("hfl", "HFL", found.apart), ("hhfl", "HHFL", found.hybrid)]
    options += [("thinned", "HHFL, links dropped", found.kept)] * bool(found.dropped)
    defined = f"the loss that HFL reaches after {question.rounds:,.0f} rounds" if question.target is None else ""
    return Overlap(
        **parts(
            question.scenario,
            CLAIMS,
            ("E", "Ge", "sigma", "zeta", "delta", "mu", "L", "A", *CLOCK),
            _warnings(found),
            {
                "verdict": _reasons(found),
                **({"break-even": [change(one, {"hfl": "HFL", "hhfl": "HHFL"}) for one in changes]} if changes else {}),
                "links": _drops(found),
                "basis": _basis(found),
            },
        ),
        objective=question.objective,
        metric="loss",
        target=Target(
            value=found.target,
            metric="loss gap",
            defined_by=f"{defined or f'a loss gap of {found.target:.3g}'}; {WORST}",
        ),
        verdict=_verdict(found),
        rows=tuple(
            Attached(
                id=id_,
                title=title,
                links=option.links,
                rounds=guess(option.rounds),
                time_seconds=guess(option.seconds),
                traffic_bytes=guess(option.bytes),
                airtime_seconds=Quantity(option.airtime_seconds),
            )
            for id_, title, option in options
        ),
        overlap=_data(found),
        sensitivity=changes,
        next=tuple(_next(found)),
    )


def _next(found: Answer) -> Iterator[NextStep]:
    """Ask for what decides and nobody gave: heterogeneity, then how often edges exchange, then convexity; then race."""
    known, why = found.question.scenario.known, "what decides"
    if "race first" in (found.verdict, found.also[1]):
        yield raced(found.question.layout, found.question.task.E, found.question.task.Ge)
    if {known["zeta"].origin, known["delta"].origin} & {"default"}:
        yield NextStep(argv=("...", "--heterogeneity", "zeta=NUMBER,delta=NUMBER"), why=why)
    elif known["Ge"].origin == "default":
        yield NextStep(argv=("...", "--edge-rounds", "NUMBER", "--local-steps", "NUMBER"), why=why)
    elif known["mu"].origin == "default":
        yield NextStep(argv=("...", "--strong-convexity", "NUMBER"), why="how curved the losses are at least")
    if "race first" not in (found.verdict, found.also[1]):
        yield raced(found.question.layout, found.question.task.E, found.question.task.Ge)


def raced(layout: Layout, local_steps: int, edge_rounds: int) -> NextStep:
    """Name the race of a coverage at its own steps: at those of `pilot` HHFL is Star-Star."""
    coverage = layout.source if len(layout.source) <= LONGEST else "FILE.csv"
    race = ("hfl-plan", "pilot", "HOOK.py", "--systems", "trees,hhfl", "--coverage", coverage)
    steps = ("--local-steps", str(local_steps), "--group-rounds", str(edge_rounds), "-o", "pilot.json")
    return NextStep(argv=race + steps, why="measures overlap on your own model and data")


def _verdict(found: Answer) -> Verdict:
    ratios = {
        "airtime": found.hybrid.airtime_seconds / found.apart.airtime_seconds,
        "time": found.hybrid.seconds / found.apart.seconds,
        "traffic": found.hybrid.bytes / found.apart.bytes,
    }
    aim = found.question.objective
    ratio = Quantity(ratios[aim])
    if found.verdict == "nothing to weigh":
        return Verdict(status="best", best=("hfl",), text="No client hears two servers: nothing to decide.")
    if found.verdict == "cannot tell":
        text = f"Toss-up for {aim}: HHFL takes {times(ratio)} of HFL's {aim}."
        return Verdict(status="toss-up", best=("hhfl", "hfl"), ratio=ratio, text=text)
    known, (other, by_other) = found.question.scenario.known, found.also
    said, also = in_words(found.verdict), in_words(by_other).removeprefix("a ")
    text = f"{said} for {aim} ({times(ratio)}), {also} for {other} ({times(ratios[other])})"
    text = f"P{text[1:]}" if found.verdict == "race first" else f"By the bound, {text}"
    text += ": race it before you build it." if "race first" in (found.verdict, by_other) else "."
    if found.verdict == "not worth it":
        return Verdict(status="not-worth-it", best=("hfl",), ratio=ratio, text=text)
    if known["Ge"].origin == "default":
        text += f" That is with Ge = {found.question.task.Ge}; with Ge = 1, which `recommend` assumes, it never is."
    status: Status = "race-first" if found.verdict == "race first" else "best"
    return Verdict(status=status, best=("hhfl",), ratio=ratio, text=text)


def _changes(found: Answer) -> Iterator[Sensitivity]:
    """The gap between servers, the local steps and the edge rounds from which it is the other way round."""
    question, flip = found.question, found.flip
    gap, gain = question.unevenness, found.gain.expected
    if flip is not None and gap > flip:
        yield Sensitivity(parameter="delta/sigma", now=gap, break_even=flip, best_beyond=("hfl",), method="searched")
    other = "hfl" if gain > found.break_even[question.objective] else "hhfl"
    for name, value in sorted(found.flips.items(), reverse=True):
        now = getattr(question.task, name)
        yield Sensitivity(parameter=name, now=now, break_even=value, best_beyond=(other,), method="searched")


def document(answer: Overlap) -> Document:
    """Lay the answer out."""
    columns = (
        Column("method"),
        *(Column(name, "number") for name in ("links", "airtime", "time", "rounds", "traffic")),
    )
    rows = tuple(
        (
            row.title,
            f"{row.links:,}",
            cell(duration, row.airtime_seconds),
            cell(duration, row.time_seconds),
            f"{row.rounds:.3g}" if row.rounds and row.rounds.origin == "measured" else cell(count, row.rounds),
            cell(size, row.traffic_bytes),
        )
        for row in answer.rows
    )
    gain = answer.overlap["gain"]
    needed = answer.overlap["break_even"]["objective"]
    expected, low, high = (f"{gain[end]:.3g}" for end in ("expected", "low", "high"))
    measured = answer.overlap.get("measured")
    by = f"predicted {expected}x (95 % by runs alone: " if measured is None else f"measured {expected}x (80 %: "
    said = f"{needed:.3g}x fewer rounds; {by}{low} to {high})"
    share = gain["p_above_break_even"]
    if share is not None:
        said += f"; above it in {percent(min(max(share, 0.01), 0.99))} of draws of what is assumed"
    facts = [("Break-even", said), *[("Measured", measured)] * (measured is not None)]
    return told(answer, Table(columns, rows, indent=2, apart=False), kind="Overlapping servers", facts=facts)


def links_as_csv(layout: Layout) -> str:
    """Write the links in a form that is read again."""
    links = np.argwhere(layout.links).tolist()
    rows = ((layout.clients[i], layout.servers[n], f"{layout.airtime[i, n]:.12g}") for i, n in links)
    return csv_text([("client", "server", "airtime"), *rows])


def _data(answer: Answer) -> dict[str, Any]:
    question, layout, apart, hybrid = answer.question, answer.question.layout, answer.apart, answer.hybrid
    return {
        "coverage": layout.source,
        "clients": len(layout.clients),
        "servers": len(layout.servers),
        "links": hybrid.links,
        "overlapping_clients": int((layout.links.sum(axis=1) > 1).sum()),
        "homes": "given" if layout.home_given else "derived",
        "verdict": answer.verdict,
        "reasons": list(answer.reasons),
        "break_even": {
            "links_per_client": hybrid.links / len(layout.clients),
            "airtime": answer.break_even["airtime"],
            "objective": answer.break_even[question.objective],
        },
        "gain": {
            **asdict(answer.gain),
            "runs": [asdict(run) for run in answer.runs],
            "worth_from_delta_over_sigma": answer.flip,
            "p_above_break_even": answer.probability,
            "draws": 0 if answer.probability is None else DRAWS,
        },
        "drift": {
            "two_levels": hybrid.drift / apart.drift if apart.drift else None,
            "second_eigenvalue": 1 / model.spectral_ratio(question.task, apart.lambda2, hybrid.lambda2),
        },
        "bound": model.BOUND,
        "options": {
            name: {part: getattr(option, part) for part in OPTION}
            | {"spectrum": [value._asdict() for value in option.spectrum]}
            for name, option in (("hfl", apart), ("hhfl", hybrid), ("thinned", answer.kept))
        },
        "drop": [
            asdict(step) | {"client": layout.clients[step.client], "server": layout.servers[step.server]}
            for step in answer.thinned.path
        ],
        "drop_search": {"tried": answer.thinned.tried, "complete": answer.thinned.complete, "best": answer.dropped},
    }


# ---------------------------------------------------------------- sentences


def _reasons(answer: Answer) -> Iterator[str]:
    layout, hybrid, clients = answer.question.layout, answer.hybrid, len(answer.question.layout.clients)
    yield f"{in_words(answer.verdict).capitalize()}. {answer.reasons[0]}"
    yield from answer.reasons[1:]
    links = (
        f"{counted(hybrid.links, 'link')} for {counted(clients, 'client')} of {counted(len(layout.servers), 'server')}"
    )
    ratio, airtime = hybrid.links / clients, answer.break_even["airtime"]
    weighed = f", by airtime as given at {airtime:.3g}" if abs(airtime / ratio - 1) > 1e-9 else ""
    yield f"{links}: break-even at {ratio:.3g} times fewer rounds{weighed}."
    if answer.probability is not None and answer.verdict != "nothing to weigh":
        yield (
            f"The gain exceeds the cost of overlap in {percent(answer.probability)} of {DRAWS} draws of the "
            f"assumptions (sigma, gaps, mu, A by up to a factor {FACTOR:g})."
        )
    slower = hybrid.seconds / answer.apart.seconds
    if answer.verdict in ("worth it", "race first") and answer.question.objective != "time" and slower > 1:
        why = "clients send to their servers one after the other, and those with most of them set the pace"
        if answer.question.cost.network.client_link.sharing == "per-server":
            why = "the busiest server sets the pace"
        yield (
            f"By time it is not: HHFL takes {slower:.2f} times as long, as {why}. "
            "Add --objective time to decide by time."
        )
    if answer.flip is not None:
        yield f"It is worth it from delta/sigma of about {answer.flip:.2g}, all else as it is."


def _drops(answer: Answer) -> list[str]:
    path, best, layout, hybrid = answer.thinned.path, answer.dropped, answer.question.layout, answer.hybrid
    if not path:
        return []
    said, shown = [], min(max(best, 3), SHOWN)
    if answer.verdict == "not worth it":
        said.append(f"All {len(path)} that are not a client's home: that is HFL. In the order of this search:")
        shown = 3
    for step in path[:shown]:
        rounds, airtime = step.local_steps / hybrid.local_steps, step.airtime_seconds / hybrid.airtime_seconds
        link = f"{shortened(layout.clients[step.client])} from {shortened(layout.servers[step.server])}"
        said.append(f"{link}: rounds {_change(rounds)}, airtime {_change(airtime)} against all links")
    if len(path) > len(said):
        said.append(f"--json lists all {len(path)}, in the order in which they go, each the cheapest of those left.")
    least = f"out the first {best}: {_change(answer.kept.airtime_seconds / hybrid.airtime_seconds)}"
    said.append(f"Airtime to the target is least with{least if best else ' all links'}.")
    looked = f"Looked at: {answer.thinned.tried:,} removals, one link at a time"
    if not answer.thinned.complete:
        looked += "; the network is too large for all of them, so that only some were tried at each step"
    return [*said, f"{looked}."]


def _change(ratio: float) -> str:
    return f"{round(ratio - 1, 3) + 0.0:+.1%}"  # and not -0.0 %


def _warnings(answer: Answer) -> list[str]:
    question = answer.question
    said = list(question.warnings)
    if answer.target > (A := question.task.A):
        said.append(
            f"The target, {answer.target:.3g}, exceeds the loss gap at the start, A = {A:g}: read ratios alone. The "
            f"bound is far above what runs reach. HHFL needs {times(answer.gain.expected)} fewer rounds to it, and "
            f"{times(answer.gain_below)} fewer to A/10. For counts give a --target below A."
        )
    if question.cost.network.client_link.sharing == "per-client" and answer.verdict != "nothing to weigh":
        said.append(
            "The rates are taken to be each client's own. If the clients of a server share them, --link-sharing "
            "per-server, the busiest server sets the pace."
        )
    return said


def _basis(answer: Answer) -> list[str]:
    question, task = answer.question, answer.question.task
    known_gaps = question.gaps.points is not None
    where = "label shares" if known_gaps else "gaps that point in all directions alike, exact means"
    homes = "as given" if question.layout.home_given else "each the least loaded of its client's servers"
    ratio = model.spectral_ratio(task, answer.apart.lambda2, answer.hybrid.lambda2)
    drifts = f"HFL {ratio:.3g} times HHFL" if math.isfinite(ratio) else "HHFL has none"
    said = [
        f"Bound: {model.BOUND} (own, explicit constants) with the whole spectrum, at the best falling rates of each. "
        f"It is an upper bound on the loss of strongly convex problems. E = {task.E}, Ge = {task.Ge}.",
        f"Drift by the second eigenvalue alone ({model.DRIFT}): {drifts}; the gaps of the "
        f"clients are from {where}. Homes in HFL: {homes}.",
        f"Airtime: {UPLOADS[question.cost.upload]}, and every client's download is its own.",
    ]
    if told := question.scenario.assumed(("E", "Ge", "sigma", "zeta", "delta", "mu", "L", "A")):
        said.append(f"Not given, so assumed: {told}.")
    if answer.verdict != "nothing to weigh":
        runs = "; ".join(
            f"{run.gain:.2f} [{run.low:.2f}, {run.high:.2f}] where the bound says {run.bound:.2f}, at delta/sigma = "
            f"{run.delta:g}"
            for run in answer.runs
        )
        first = answer.runs[0]
        said.append(
            f"Rounds are the bound's, its gain raised to the power that runs have at E = {first.E}, Ge = {first.Ge}, "
            f"zeta/sigma = {first.zeta:g}: {runs}. These are 95 % intervals of losses after 500 local steps of convex "
            f"problems on {LAYOUT} (planner/data/overlap_record.csv). Other coverages and problems may differ."
        )
    return said
