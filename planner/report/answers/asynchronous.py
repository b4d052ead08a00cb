"""What ``hfl-plan async`` answers: buffers by the clock, what is proved of each, and what is not."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hflbounds import get
from planner.decide import tuning
from planner.errors import NoAnswerError, ScenarioError
from planner.families import hga as asynchrony
from planner.families.hga import Pace, Reach
from planner.io.wording import title
from planner.predict.evidence.claims import Verdict, beginning
from planner.predict.question import Question, ask
from planner.report import pages
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration, format_size, parse_duration

SCHEMA = "hfl-plan/async/1"
PRINTED = "xie2024.thm1"
MOST_REGIONS = 200
ALL_BUFFERS = 12  # up to as many regions every buffer is tried
FACTORS = (1e-6, 1e6)  # how many times as slow a region may be
PAPERS_ALPHA = 2.0  # the largest that xie2024 recommends, Appendix H; erratum xie2024.G18
OTHER_RULES = (  # what the first two of them amount to
    "The servers of FedBuff and CA2FL did better than HGA-FL's rule wherever speeds were unequal or the buffer held "
    "more than one update: try them first. No bound for them is in the catalogue."
)
SPARED = ("late mean", "waiting", "slowest's", "floor", "updates/h")


def answered(
    scenario: Scenario,
    *,
    region_times: str | None,
    slowdowns: str | None,
    speed_ratio: str | None,
    jitter: float,
    buffers: str | None,
    sub_rounds: str | None,
    most_stale: int | None,
    alpha: float | None,
    as_json: bool,
    width: int,
    color: bool,
) -> str:
    """Every buffer by the clock, and the steps that a proved bound needs to the target.

    Args:
        scenario: its groups are the regions, its group rounds the rounds inside a region.
        region_times: of a task of each region, as written.
        slowdowns: against the scenario's time of a task, as written.
        speed_ratio: of the last region's time to the first's, as written.
        jitter: standard deviation of the logarithm of a task's time.
        buffers: sizes to try, as written; None for all, or some of many.
        sub_rounds: rounds inside a region to try with the buffer found, as written.
        most_stale: global steps that an update may be late; None for any.
        alpha: FedDyn's coefficient.
        as_json: whether the answer is a JSON document.
        width: of the terminal.
        color: whether it shows colours.

    Raises:
        ScenarioError: for options that cannot be meant.
        NoAnswerError: if no buffer keeps the staleness, or the start meets the target.
    """
    asked = _regional(scenario)
    question = tuning.with_one_target(asked)
    M = int(question.values["G"])
    times, origin = _times(question, M, region_times, slowdowns, speed_ratio)
    some = range(1, M + 1) if M <= ALL_BUFFERS else {*(n for n in tuning.LADDER if n < M), M}
    sizes = pages.whole_numbers("--buffers", buffers, some)
    if sizes[-1] > M:
        raise ScenarioError(f"--buffers: {sizes[-1]} exceeds the {M} regions. Give at most {M}.")
    if alpha is not None and not 0 < alpha < math.inf:
        raise ScenarioError(f"--alpha: {alpha!r} is not a number above 0. Write --alpha 2.")
    if sub_rounds is not None and region_times is not None:
        raise ScenarioError(
            "--sub-rounds: how long other tasks take does not follow from --region-times. Give --slowdowns instead."
        )
    duration = asynchrony.durations(times, jitter, scenario.seed)
    rows = [_row(question, asynchrony.pace(duration, M, size)) for size in sizes]
    allowed = [
        r for r in rows if most_stale is None or (r["staleness"]["most"] <= most_stale and not r["silent_regions"])
    ]
    if not allowed:
        least = min(rows, key=lambda r: (bool(r["silent_regions"]), r["staleness"]["most"]))
        raise NoAnswerError(
            f"--max-staleness: no buffer tried keeps updates within {most_stale} global steps: the nearest, "
            f"{least['K_buf']} of {M}, is {_most(least)} late. Allow more, or try larger buffers; "
            f"one of all {M} is never late."
        )
    reached = [r for r in allowed if r["steps"] is not None]
    proved = min(reached, key=lambda r: (r["seconds"], -r["K_buf"]), default=None)
    timed = None if most_stale is None else max(allowed, key=lambda r: (r["updates_per_second"], r["K_buf"]))
    document = {
        "schema": SCHEMA,
        "title": scenario.title,
        "scenario": pages.known(scenario),
        "regions": M,
        "region_times": {"seconds": times, "origin": origin, "jitter": jitter, "seed": scenario.seed},
        "target": {
            "value": question.target,
            "metric": "mean squared gradient at the server's models",
            "defined_by": "given"
            if asked.target is not None
            else f"what the bound of the synchronous {title(asked.reference)} reaches in {asked.horizon:,.0f} rounds",
        },
        "constants": _constants(question),
        "theorem": asynchrony.THEOREM,
        "max_staleness": most_stale,
        "buffers": rows,
        "recommended_by_theorem": None if proved is None else proved["K_buf"],
        "recommended_by_clock": None if timed is None else timed["K_buf"],
        "sub_rounds": None if proved is None or region_times is not None else _inside(question, proved, sub_rounds),
        "printed_theorem": _verdict(question, rows, alpha),
        "evidence": [verdict.as_json() for verdict in beginning("hga-")],
        "warnings": [*_of_scenario(scenario, region_times is not None), *_cautions(scenario, question, rows)],
    }
    return pages.as_json(document) if as_json else _page(document, scenario, width, color)


def _regional(scenario: Scenario) -> Question:
    """The question, where groups can be regions that work on their own.

    Raises:
        ScenarioError: where they cannot.
    """
    if scenario.divisions:
        raise ScenarioError("--clients: async needs the regions. Give --groups and --clients-per-group.")
    if scenario.partial:
        raise ScenarioError(
            "--groups-per-round, --clients-per-round: here every region and client works. Leave them out."
        )
    if scenario.network.tiers != 2:
        raise ScenarioError("--tiers: without a server in each region there is nothing asynchronous. Leave it out.")
    # A typical number of rounds and a worst-case number of steps have no target in common: both are of bounds here.
    question = ask(replace(scenario, predictor="bound", metric="gradient"))
    if not 2 <= question.values["G"] <= MOST_REGIONS:
        raise ScenarioError(f"--groups: {question.values['G']:g} is not a number of regions from 2 to {MOST_REGIONS}.")
    return question


def _times(
    question: Question, M: int, region_times: str | None, slowdowns: str | None, speed_ratio: str | None
) -> tuple[list[float], str]:
    """Seconds of a task of each region, and who says so."""
    given = [
        name
        for name, text in (("--region-times", region_times), ("--slowdowns", slowdowns), ("--speed-ratio", speed_ratio))
        if text is not None
    ]
    if len(given) != 1:
        said = "how slow are the regions?" if not given else f"{' and '.join(given)} say the same."
        raise ScenarioError(f"{said} Give one of --region-times 10s,12s,80s, --slowdowns 1,1.2,8 and --speed-ratio 8.")
    if region_times is not None:
        parts = _parts("--region-times", region_times, M)
        return [float(parse_duration(p, field="--region-times", positive=True)) for p in parts], "given"
    base = _task(question)[0]
    if base <= 0:
        raise ScenarioError("--step-time: a task of no time has no clock. Give a time above 0, or --region-times.")
    if slowdowns is not None:
        return [base * _factor("--slowdowns", p) for p in _parts("--slowdowns", slowdowns, M)], "derived"
    ratio = _factor("--speed-ratio", speed_ratio or "")
    return [base * ratio ** (j / (M - 1)) for j in range(M)], "derived"


def _parts(option: str, text: str, M: int) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != M:
        raise ScenarioError(f"{option}: {len(parts)} numbers for {M} regions (--groups). Give one each.")
    return parts


def _factor(option: str, text: str) -> float:
    try:
        value = float(text) if re.fullmatch(r"[0-9.eE+-]{1,40}", text) else math.nan
    except ValueError:
        value = math.nan
    if not FACTORS[0] <= value <= FACTORS[1]:
        low, high = FACTORS
        raise ScenarioError(f"{option}: {text!a:.40} is not a number from {low:g} to {high:g}. Write {option} 8.")
    return value


def _task(question: Question, rounds: int | None = None) -> tuple[float, float]:
    """Seconds and bytes of one region's task by the scenario's network, with other rounds inside where said."""
    cost = question.of_a_round("star-star", S1=1, P=question.values["P"] if rounds is None else rounds)
    return cost.seconds, cost.bytes


def _constants(question: Question, rounds: float | None = None) -> dict[str, float]:
    """What the theorem needs but the buffer: its letters for the scenario's quantities."""
    v = question.values
    return {
        "L": v["L"],
        "A": v["A"],
        "M": v["G"],
        "R_sub": v["P"] if rounds is None else rounds,
        "sigma_s": v["sigma"] / math.sqrt(v["M"]),
        "sigma_g": v["delta"],
    }


def _reach(question: Question, buffer: int, staleness: dict[str, Any], rounds: float | None = None) -> Reach:
    late = {"K_buf": buffer, "Gamma_max": staleness["most"], "zeta_max": staleness["cache_most"]}
    assert question.target is not None  # noqa: S101 - see tuning.with_one_target
    return asynchrony.reach(question.target, {**_constants(question, rounds), **late})


def _row(question: Question, pace: Pace) -> dict[str, Any]:
    """One buffer: the clock, and what the theorem says at the clock's delays."""
    late = {"mean": pace.delay_mean, "most": pace.delay_most, "cache_most": pace.oldest_most}
    reach, task = _reach(question, pace.buffer, late), _task(question)[1]
    if pace.silent:
        reach = Reach(None, reach.floor, None, None, {}, "a region delivered nothing, so that its staleness is unknown")
    told: dict[str, Any] = {
        "K_buf": pace.buffer,
        "synchronous": pace.buffer == len(pace.shares),
        "seconds_per_step": pace.seconds_per_step,
        "updates_per_second": pace.updates_per_second,
        "idle": pace.idle,
        "staleness": {**late, "shares": {str(delay): share for delay, share in pace.delays.items()}},
        "region_shares": list(pace.shares),
        "silent_regions": list(pace.silent),
        "simulated_steps": pace.steps,
        "bytes_per_step": pace.buffer * task,
        "floor": reach.floor,
        "steps": reach.steps,
        "seconds": None if reach.steps is None else reach.steps * pace.seconds_per_step,
        "bytes": None if reach.steps is None else reach.steps * pace.buffer * task,
        "eta_g": reach.eta_g,
        "eta_sub": reach.eta_sub,
        "terms": dict(reach.terms),
    }
    return told | ({"why": reach.why} if reach.why else {})


def _inside(question: Question, row: dict[str, Any], text: str | None) -> list[dict[str, Any]]:
    """Other rounds inside a region with one buffer; all times stretch alike, so that delays stay as they are."""
    now = int(question.values["P"])
    base = _task(question)[0]
    found = []
    for rounds in pages.whole_numbers("--sub-rounds", text, {1, 2, 4, 8, 16, now}):
        seconds, traffic = _task(question, rounds)
        reach = _reach(question, row["K_buf"], row["staleness"], rounds)
        per_step = row["seconds_per_step"] * seconds / base
        steps = reach.steps
        found.append(
            {
                "R_sub": rounds,
                "seconds_per_step": per_step,
                "steps": steps,
                "seconds": None if steps is None else steps * per_step,
                "bytes": None if steps is None else steps * row["K_buf"] * traffic,
            }
        )
    return found


def _verdict(question: Question, rows: Sequence[dict[str, Any]], alpha: float | None) -> dict[str, Any]:
    """Whether Theorem 1 of xie2024 as printed covers this, and why it is not used even where it does."""
    printed = get(PRINTED)
    constants = _constants(question)
    limits = [
        asynchrony.printed_limits(
            {**constants, "Gamma_max": row["staleness"]["most"], "zeta_max": row["staleness"]["cache_most"]}
        )
        for row in rows
    ]
    L, least = constants["L"], limits[0]["alpha_dyn"]
    asked = PAPERS_ALPHA if alpha is None else alpha
    return {
        "bound": PRINTED,
        "status": printed.status,
        "used": False,
        "refuted_by": [e.id for e in printed.errata if e.gravity == "refuted"],
        "four_minus_3L": 4 - 3 * L,
        "sign_holds": 4 - 3 * L >= 0,
        "alpha": {"value": asked, "origin": "paper" if alpha is None else "given", "least": least},
        "alpha_holds": asked >= least,
        "eta_g_most": {str(row["K_buf"]): limit["eta_g"] for row, limit in zip(rows, limits, strict=True)},
    }


def _of_scenario(scenario: Scenario, timed: bool) -> list[str]:
    """Its warnings; where all times are given, what nobody gave about links and steps matters no more."""
    if not timed:
        return list(scenario.warnings)
    said = [text for text in scenario.warnings if not text.startswith("Time and traffic stand on")]
    if scenario.known["model_size"].origin == "default":
        said.append(f"Traffic stands on a model of {format_size(scenario.number('model_size'))}, which nobody gave.")
    return said


def _cautions(scenario: Scenario, question: Question, rows: Sequence[dict[str, Any]]) -> list[str]:
    said = []
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
    late = sorted({j for row in rows for j in row["silent_regions"]})
    if late:
        said.append(
            f"Regions that delivered nothing while the clock ran: {', '.join(str(j + 1) for j in late)}. Staleness "
            "there is larger than what is shown, and the theorem is not asked."
        )
    return said


def _page(document: dict[str, Any], scenario: Scenario, width: int, color: bool) -> str:
    d, page = document, pages.Page(width, color)
    rows, M = d["buffers"], d["regions"]
    if d["title"]:
        page.say(d["title"], "bold")
    for i, sentence in enumerate(_answer(d)):
        page.say(sentence, "bold" if i == 0 else "")
    best = d["recommended_by_theorem"], d["recommended_by_clock"]
    page.table(
        (
            "buffer",
            "time/step",
            "updates/h",
            "waiting",
            "late mean",
            "most",
            "slowest's",
            "floor",
            "steps",
            "time",
            "traffic",
        ),
        [
            (
                f"{r['K_buf']} of {M}" + (", all" if r["synchronous"] else ""),
                format_duration(r["seconds_per_step"]),
                f"{3600 * r['updates_per_second']:,.4g}",
                f"{r['idle']:.0%}",
                f"{r['staleness']['mean']:.2g}",
                _most(r),
                f"{min(r['region_shares']):.1%}",
                f"{r['floor']:.3g}",
                *_totals(r),
            )
            for r in rows
        ],
        bold=[i for i, r in enumerate(rows) if r["K_buf"] in best],
        spared=SPARED,
    )
    times = d["region_times"]["seconds"]
    spread = f"{format_duration(min(times))} to {format_duration(max(times))}"
    page.say(
        f"Tasks take {spread}; late: global steps since an update's region began; slowest's: its share of all updates, "
        f"{1 / M:.1%} where all count the same; a dash where the bound never meets the target.",
        "dim",
    )
    if d["sub_rounds"]:
        least = min(r["seconds"] for r in d["sub_rounds"] if r["seconds"] is not None)
        page.table(
            (f"rounds inside, buffer {best[0]}", "time/step", "steps", "time", "traffic"),
            [(str(r["R_sub"]), format_duration(r["seconds_per_step"]), *_totals(r)) for r in d["sub_rounds"]],
            bold=[i for i, r in enumerate(d["sub_rounds"]) if r["seconds"] == least],
        )
    page.list("The theorem as printed", _about_printed(d["printed_theorem"], scenario))
    measured = [str(Verdict(**row)) for row in d["evidence"]]
    page.list("Measured, not proved (docs/validation.md)", [OTHER_RULES, *measured])
    page.list("Warnings", d["warnings"], "yellow")
    page.list("What it stands on", _standing(d, scenario), "dim")
    return page.text()


def _most(row: dict[str, Any]) -> str:
    return f"{row['staleness']['most']}" + ("+" if row["silent_regions"] else "")


def _totals(row: dict[str, Any]) -> tuple[str, str, str]:
    if row["steps"] is None:
        return "-", "-", "-"
    return f"{row['steps']:,}", format_duration(row["seconds"]), format_size(row["bytes"])


def _answer(d: dict[str, Any]) -> list[str]:
    rows, M, target = {r["K_buf"]: r for r in d["buffers"]}, d["regions"], d["target"]["value"]
    proved, timed = d["recommended_by_theorem"], d["recommended_by_clock"]
    reached = [k for k, r in rows.items() if r["steps"] is not None]
    said = []
    if proved is None:
        said.append(f"No buffer tried has a proof of reaching {target:.4g}: the theorem gives no answer.")
    else:
        steps, time, traffic = _totals(rows[proved])
        who = f"Wait for all {M} regions" if proved == M else f"A buffer of {proved} of {M} regions"
        only = " The others' bound stays above the target, which does not say that they do." if reached == [M] else ""
        said.append(
            f"{who}: the least time to a mean squared gradient of {target:.4g} by {d['theorem']}, {steps} steps, "
            f"{time}, {traffic}.{only}"
        )
    inside = min((r for r in d["sub_rounds"] or () if r["steps"]), key=lambda r: float(r["seconds"]), default=None)
    if proved is not None and inside is not None and inside["seconds"] < rows[proved]["seconds"]:
        steps, time, traffic = _totals(inside)
        said.append(f"With {inside['R_sub']} rounds inside a region it takes {steps} steps, {time}, {traffic}.")
    if timed is None:
        said.append(
            "By the clock alone smaller buffers step sooner and are staler: --max-staleness says how stale may be."
        )
    else:
        row = rows[timed]
        said.append(
            f"By the clock alone, with updates at most {d['max_staleness']} steps late: a buffer of {timed} of {M}, "
            f"{3600 * row['updates_per_second']:,.4g} updates an hour, a step each "
            f"{format_duration(row['seconds_per_step'])}. That counts updates, not what they gain."
        )
    return said


def _about_printed(verdict: dict[str, Any], scenario: Scenario) -> list[str]:
    L, alpha = scenario.number("L"), verdict["alpha"]
    source = "the paper's largest" if alpha["origin"] == "paper" else "given"
    assumed = ", assumed" if scenario.known["L"].origin == "default" else ""
    refuted = ", ".join(verdict["refuted_by"])
    sign = "holds" if verdict["sign_holds"] else "fails: the printed bound may be negative"
    covered = "holds" if verdict["alpha_holds"] else "fails: the theorem does not cover this"
    return [
        f"Theorem 1 of xie2024 is {verdict['status']} and not used: {refuted} in docs/catalog/errata.md.",
        f"Its second term needs 4 - 3 L >= 0: at L = {L:g}{assumed} it is {verdict['four_minus_3L']:g}, which {sign}.",
        f"Its (67) needs alpha >= {alpha['least']:.4g}: alpha = {alpha['value']:g} ({source}) {covered}.",
    ]


def _standing(d: dict[str, Any], scenario: Scenario) -> list[str]:
    c, times = d["constants"], d["region_times"]
    said = [
        f"The target: {d['target']['defined_by']}.",
        f"{d['theorem']} with sigma_s = {c['sigma_s']:.3g} (sigma over the root of a region's clients), sigma_g = "
        f"{c['sigma_g']:.3g} (delta), R_sub = {c['R_sub']:g} and tuned learning rates. It charges every step with the "
        "clock's largest delay, so it is pessimistic where most updates are fresh; measured over bound was 0.02 to "
        "0.46 (docs/theory/hga-repaired.md).",
        "Its floor 8 (M - K_buf)/K_buf sigma_g^2 is for any arrivals; where all regions arrive equally often it is "
        "pessimistic, and where they do not the server does settle elsewhere than at the optimum.",
        f"The clock: {min(r['simulated_steps'] for r in d['buffers']):,} steps or more of each buffer"
        + (f", jitter {times['jitter']:g}, seed {times['seed']}." if times["jitter"] else ", without jitter.")
        + " Delays are the largest seen, not the largest possible. A buffer of all is the synchronous server.",
    ]
    assumed = pages.assumed(scenario, ("L", "A", "sigma", "delta"))
    return [*said, f"Not given, so assumed: {assumed}."] if assumed else said
