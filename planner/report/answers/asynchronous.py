"""What ``hfl-plan async`` shows: buffers by the clock, what is proved of each, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from hflbounds import get
from planner.families.hga.model import THEOREM, printed_limits
from planner.families.hga.question import Answer, Buffer, constants, late
from planner.predict.evidence.claims import beginning
from planner.report.document import Block, Cell, Column, Document, Items, Paragraph, Table
from planner.report.origins import assumed, known
from planner.scenario.units import format_duration, format_size

SCHEMA = "hfl-plan/async/1"
PRINTED = "xie2024.thm1"
PAPERS_ALPHA = 2.0  # the largest that xie2024 recommends, Appendix H; erratum xie2024.G18
OTHER_RULES = (  # what the first two of them amount to
    "The servers of FedBuff and CA2FL did better than HGA-FL's rule wherever speeds were unequal or the buffer held "
    "more than one update: try them first. No bound for them is in the catalogue."
)
TOTALS = (Column("steps", "count"), Column("time", "duration"), Column("traffic", "size"))
COLUMNS = (
    Column("buffer"),
    Column("time/step", "duration"),
    *(Column(name, "number") for name in ("updates/h", "waiting", "late mean", "most", "slowest's", "floor")),
    *TOTALS,
)
RECORD = (
    *("K_buf", "seconds_per_step", "updates_per_second", "idle", "simulated_steps", "bytes_per_step", "floor"),
    *("steps", "seconds", "bytes", "eta_g", "eta_sub"),
)
SPARED = ("late mean", "waiting", "slowest's", "floor", "updates/h")


def document(answer: Answer) -> Document:
    """Say what waiting and every buffer take, by the clock and by what is proved."""
    data = _data(answer)
    records = tuple({key: row[key] for key in RECORD} for row in data["buffers"])
    return Document(answer.scenario.title, tuple(_blocks(answer)), data, records, "Buffers for slow regions")


def _data(answer: Answer) -> dict[str, Any]:
    scenario, settings, question = answer.scenario, answer.settings, answer.question
    inside = answer.inside
    return {
        "schema": SCHEMA,
        "title": scenario.title,
        "scenario": known(scenario),
        "regions": answer.regions,
        "region_times": {
            "seconds": list(answer.times),
            "origin": "derived" if settings.region_times is None else "given",
            "jitter": settings.jitter,
            "seed": scenario.seed,
        },
        "target": {
            "value": question.target,
            "metric": "mean squared gradient at the server's models",
            "defined_by": answer.defined_by or "given",
        },
        "constants": constants(question),
        "theorem": THEOREM,
        "max_staleness": settings.max_staleness,
        "buffers": [_buffer(buffer) for buffer in answer.buffers],
        "recommended_by_theorem": None if answer.proved is None else answer.proved.size,
        "recommended_by_clock": None if answer.timed is None else answer.timed.size,
        "sub_rounds": None
        if inside is None
        else [
            {"R_sub": rounds, "seconds_per_step": b.seconds_per_step}
            | {"steps": b.steps, "seconds": b.seconds, "bytes": b.bytes}
            for rounds, b in inside.items()
        ],
        "printed_theorem": _printed(answer),
        "evidence": [verdict.as_json() for verdict in beginning("hga-")],
        "warnings": _warnings(answer),
    }


def _buffer(buffer: Buffer) -> dict[str, Any]:
    pace, reach = buffer.pace, asdict(buffer.reach)
    if not reach["why"]:
        del reach["why"]
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
        **reach,
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


def _warnings(answer: Answer) -> list[str]:
    """The scenario's; where all times are given, what is assumed about links and steps matters no more."""
    scenario, question = answer.scenario, answer.question
    said = list(scenario.warnings)
    if answer.settings.region_times is not None:
        said = [text for text in said if not text.startswith("Time and traffic stand on")]
        if scenario.known["model_size"].origin == "default":
            size = format_size(scenario.number("model_size"))
            said.append(f"Traffic stands on a model of {size}, which nobody gave.")
    if question.values["K"] > 1:
        said.append(
            "The theorem takes each round inside a region for one gradient step of its clients' mean, whatever K is "
            f"(here {question.values['K']:g}): FedDyn's and other local steps are not analysed."
        )
    if question.values["zeta"]:
        said.append(
            "Heterogeneity between the clients of a region (zeta) does not enter the theorem; delta is taken for its "
            "sigma_g, which must bound each region's distance everywhere."
        )
    if scenario.availability is not None:
        said.append("Who stays away is not counted here: tasks always arrive.")
    link = scenario.network.server_link
    if link is not None and link.sharing == "per-server":
        said.append("The server's link is shared, and the clock gives every region all of it: waiting may be longer.")
    silent = sorted({region for buffer in answer.buffers for region in buffer.pace.silent})
    if silent:
        said.append(
            f"Regions that delivered nothing while the clock ran: {', '.join(str(j + 1) for j in silent)}. Staleness "
            "there is larger than what is shown, and the theorem is not asked."
        )
    return said


# ---------------------------------------------------------------- for people


def _blocks(answer: Answer) -> Iterator[Block]:
    for i, sentence in enumerate(_verdict(answer)):
        yield Paragraph(sentence, "" if i else "bold")
    best = [i for i, buffer in enumerate(answer.buffers) if buffer in (answer.proved, answer.timed)]
    yield Table(COLUMNS, tuple(map(_row, answer.buffers)), best=frozenset(best), spared=SPARED)
    spread = f"{format_duration(min(answer.times))} to {format_duration(max(answer.times))}"
    yield Paragraph(
        f"Tasks take {spread}; late: global steps since an update's region began; slowest's: its share of all updates, "
        f"{1 / answer.regions:.1%} where all count the same; a dash where the bound never meets the target.",
        "dim",
    )
    if answer.inside and answer.proved:
        least = min(b.seconds for b in answer.inside.values() if b.seconds is not None)
        columns = (Column(f"rounds inside, buffer {answer.proved.size}"), Column("time/step", "duration"), *TOTALS)
        rows = tuple((str(r), b.seconds_per_step, b.steps, b.seconds, b.bytes) for r, b in answer.inside.items())
        best = [i for i, b in enumerate(answer.inside.values()) if b.seconds == least]
        yield Table(columns, rows, best=frozenset(best))
    yield Items("The theorem as printed", tuple(_about_printed(answer)))
    yield Items("Measured, not proved (docs/validation.md)", (OTHER_RULES, *map(str, beginning("hga-"))))
    yield Items("Warnings", tuple(_warnings(answer)), "warning")
    yield Items("What it stands on", tuple(_basis(answer)), "dim")


def _row(buffer: Buffer) -> tuple[Cell, ...]:
    pace, regions = buffer.pace, len(buffer.pace.shares)
    return (
        f"{buffer.size} of {regions}" + (", all" if buffer.size == regions else ""),
        buffer.seconds_per_step,
        f"{3600 * pace.updates_per_second:,.4g}",
        f"{pace.idle:.0%}",
        f"{pace.delay_mean:.2g}",
        pace.latest,
        f"{min(pace.shares):.1%}",
        buffer.reach.floor,
        buffer.steps,
        buffer.seconds,
        buffer.bytes,
    )


def _totals(buffer: Buffer) -> str:
    cells = zip(TOTALS, (buffer.steps, buffer.seconds, buffer.bytes), strict=True)
    return "{} steps, {}, {}".format(*(column.text(cell) for column, cell in cells))


def _verdict(answer: Answer) -> list[str]:
    proved, timed, M, target = answer.proved, answer.timed, answer.regions, answer.question.target
    said = []
    if proved is None:
        said.append(f"No buffer tried has a proof of reaching {target:.4g}: the theorem gives no answer.")
    else:
        who = f"Wait for all {M} regions" if proved.size == M else f"A buffer of {proved.size} of {M} regions"
        alone = [b.size for b in answer.buffers if b.steps is not None] == [M]
        only = " The others' bound stays above the target, which does not say that they do." if alone else ""
        said.append(
            f"{who}: the least time to a mean squared gradient of {target:.4g} by {THEOREM}, {_totals(proved)}.{only}"
        )
        inside = {rounds: b.seconds for rounds, b in (answer.inside or {}).items() if b.seconds}
        rounds = min(inside, key=inside.__getitem__, default=None)
        if answer.inside and rounds is not None and inside[rounds] < (proved.seconds or 0.0):
            said.append(f"With {rounds} rounds inside a region it takes {_totals(answer.inside[rounds])}.")
    if timed is None:
        said.append(
            "By the clock alone smaller buffers step sooner and are staler: --max-staleness says how stale may be."
        )
    else:
        said.append(
            f"By the clock alone, with updates at most {answer.settings.max_staleness} steps late: a buffer of "
            f"{timed.size} of {M}, {3600 * timed.pace.updates_per_second:,.4g} updates an hour, a step each "
            f"{format_duration(timed.seconds_per_step)}. That counts updates, not what they gain."
        )
    return said


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
        f"{THEOREM} with sigma_s = {c['sigma_s']:.3g} (sigma over the root of a region's clients), sigma_g = "
        f"{c['sigma_g']:.3g} (delta), R_sub = {c['R_sub']:g} and tuned learning rates. It charges every step with the "
        "clock's largest delay, so it is pessimistic where most updates are fresh; measured over bound was 0.02 to "
        "0.46 (docs/theory/hga-repaired.md)."
    )
    yield (
        "Its floor 8 (M - K_buf)/K_buf sigma_g^2 is for any arrivals; where all regions arrive equally often it is "
        "pessimistic, and where they do not the server does settle elsewhere than at the optimum."
    )
    jitter = f"jitter {settings.jitter:g}, seed {scenario.seed}" if settings.jitter else "without jitter"
    yield (
        f"The clock: {min(b.pace.steps for b in answer.buffers):,} steps or more of each buffer, {jitter}."
        " Delays are the largest seen, not the largest possible. A buffer of all is the synchronous server."
    )
    if told := assumed(scenario, ("L", "A", "sigma", "delta")):
        yield f"Not given, so assumed: {told}."
