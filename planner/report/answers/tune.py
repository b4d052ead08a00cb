"""What ``hfl-plan tune`` answers: choices of topology, K and P to one target, and learning rates to start at."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from planner.decide import tuning
from planner.decide.tuning import Aim, Budget, Choice, Rate
from planner.errors import NoAnswerError, ScenarioError
from planner.io.wording import title
from planner.predict import participation as attendance
from planner.predict.evidence.claims import Verdict, verdicts
from planner.predict.predictors import guaranteed
from planner.predict.question import Question, with_default_order
from planner.report import pages
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration, format_size, parse_duration, parse_size

SCHEMA = "hfl-plan/tune/1"
MOST = 20_000  # choices that are looked at
SHOWN = 12  # rows of the front in a table


def tuned(
    scenario: Scenario,
    *,
    local_steps: str | None,
    group_rounds: str | None,
    topology: str | None,
    within: str | None,
    traffic: str | None,
    objective: str | None,
    as_json: bool,
    width: int,
    color: bool,
) -> str:
    """The front of time and traffic over topology, K and P, and the choice that the budget leaves.

    Args:
        scenario: with the K and P that define a target that is not given.
        local_steps: values of K to try, as written; None for the default range.
        group_rounds: the same of P.
        topology: the only one to try; None for all.
        within: time that may be spent, as written.
        traffic: traffic that may be caused, as written.
        objective: what is to be least, as written.
        as_json: whether the answer is a JSON document.
        width: of the terminal.
        color: whether it shows colours.

    Raises:
        ScenarioError: for options that cannot be meant.
        NoAnswerError: if nothing reaches the target within the budget.
    """
    if scenario.divisions:
        raise ScenarioError(
            "--clients: tune needs the groups. Give --groups and --clients-per-group; `hfl-plan recommend --clients` "
            "searches for them."
        )
    scenario = with_default_order(scenario)
    asked = attendance.ask(scenario)
    attendance.check(asked)
    now = {name: int(asked.values[name]) for name in ("P", "K")}
    steps = pages.whole_numbers("--local-steps", local_steps, {*tuning.LADDER, now["K"]})
    exchanges = pages.whole_numbers("--group-rounds", group_rounds, {*tuning.GROUP_ROUNDS, now["P"]})
    among = list(asked.topologies) if topology is None else [_topology(topology, list(asked.topologies))]
    if len(steps) * len(exchanges) * len(among) > MOST:
        raise ScenarioError(
            f"--local-steps: {len(steps)} values with {len(exchanges)} of --group-rounds are more than {MOST:,} "
            "choices. Give fewer, such as 1:64."
        )
    budget = Budget(
        float("inf") if within is None else float(parse_duration(within, field="--within", positive=True)),
        float("inf") if traffic is None else float(parse_size(traffic, field="--traffic")),
    )
    aim = _aim(objective, scenario, limited=within is not None and traffic is None)
    question = tuning.with_one_target(asked)
    found = tuning.choices(question, exchanges, steps, among)
    if not found:
        raise NoAnswerError(
            f"no topology, P and K tried reaches the target {question.target:.4g}"
            + (f" within {question.horizon:,.0f} rounds. Allow more, or give" if question.horizon else ". Give")
            + " a looser --target."
        )
    best = tuning.front(found)
    chosen = tuning.recommended(best, aim, budget, scenario.resolution)
    near = tuning.alike(found, chosen, budget, scenario.resolution)
    rates = [tuning.rate(question, choice) for choice in best]
    present = tuning.choices(question, [now["P"]], [now["K"]], among)
    allowed = [choice for choice in present if budget.overrun(choice) <= 1]
    document = {
        "schema": SCHEMA,
        "title": scenario.title,
        "scenario": pages.known(scenario),
        "predictor": question.predictor.id,
        "rounds_are": f"those {question.predictor.says}",
        "bounds": question.family,
        "cap": question.cap,
        "target": {"value": question.target, "metric": "mean squared gradient norm", "defined_by": _defined(asked)},
        "tried": {"topologies": among, "K": steps, "P": exchanges, "reached": len(found)},
        "aim": aim,
        "budget": {
            "seconds": None if within is None else budget.seconds,
            "bytes": None if traffic is None else budget.bytes,
        },
        "resolution": scenario.resolution,
        "front": [
            {**_shown(choice, one), "tie": tie, "within_budget": budget.overrun(choice) <= 1}
            for choice, one, tie in zip(best, rates, tuning.tie_numbers(best, scenario.resolution), strict=True)
        ],
        "recommended": _shown(chosen, tuning.rate(question, chosen)),
        "present": _shown(min(allowed or present, key=lambda c: c.amount(aim)), None) if present else None,
        "alike": [_shown(choice, None) for choice in near],
        "rates": _rates(question, chosen, among),
        "evidence": [verdict.as_json() for verdict in verdicts("raw-rates", "group-rounds")],
        "warnings": [
            *scenario.warnings,
            *attendance.about(question, scenario, [chosen.topology]),
            *_cautions(scenario, found, chosen, exchanges, steps, among),
        ],
    }
    return pages.as_json(document) if as_json else _page(document, scenario, width, color)


def _topology(name: str, known: Sequence[str]) -> str:
    if name not in known:
        near = difflib.get_close_matches(name.lower().replace("_", "-"), known, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ScenarioError(f"--topology: {name!a:.40} is not one of {', '.join(known)}.{hint}")
    return name


def _aim(objective: str | None, scenario: Scenario, *, limited: bool) -> Aim:
    """What is to be least: what was asked for, else what has no limit, else time unless the scenario says bytes."""
    if objective is None:
        return "bytes" if limited or scenario.objective == "bytes" else "time"
    for aim in get_args(Aim):
        if objective == aim:
            return aim  # type: ignore[no-any-return]
    hint = " Rounds of different K and P are of different length." if objective == "rounds" else ""
    raise ScenarioError(f"--objective: {objective!a:.40} is not time or bytes.{hint}")


def _defined(asked: Question) -> str:
    if asked.target is not None:
        return "given"
    P, K = (asked.values[n] for n in ("P", "K"))
    return f"what {title(asked.reference)} reaches in {asked.horizon:,.0f} rounds of P = {P:g}, K = {K:g}"


def _shown(choice: Choice, rate: Rate | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "topology": choice.topology,
        "P": choice.P,
        "K": choice.K,
        "rounds": int(choice.rounds),
        "seconds": choice.seconds,
        "bytes": choice.bytes,
        "seconds_per_round": choice.seconds_per_round,
        "bytes_per_round": choice.bytes_per_round,
    }
    if rate is not None:
        told |= {"eta_eff": rate.eta_eff, "eta": rate.eta, "bound_id": rate.bound}
        told |= {"eta_eff_of_bound": rate.bound_eta_eff, "eta_of_bound": rate.bound_eta}
        told |= {"why": rate.why} if rate.why else {}
    return told


def _rates(question: Question, chosen: Choice, among: Iterable[str]) -> dict[str, Any] | None:
    """Where to start a search: effective rates that are common to all topologies, and each one's raw rates."""
    chains: dict[str, float] = {}
    rates: dict[str, Rate | None] = {}
    for topology in among:
        chain = tuning.chain_length(question, chosen, topology)
        if chain is None:
            return None
        chains[topology] = chain
        same = tuning.choices(question, [chosen.P], [chosen.K], [topology])
        rates[topology] = tuning.rate(question, same[0]) if same else None
    told = [rate.eta_eff for rate in rates.values() if rate is not None]
    L, shortest = question.values["L"], min(chains.values())
    # A bound is tuned where it is proved; what works best is usually above that.
    least_top = tuning.TYPICAL / L if question.predictor.guarantees else 0.0
    grid = tuning.search_grid(told, least_top, most=tuning.STABLE / L * shortest)
    if not grid:
        return None
    return {
        "P": chosen.P,
        "K": chosen.K,
        "eta_eff": grid,
        "topologies": {
            topology: {
                "ratio": shortest / chain,
                "chain": chain,
                "eta_eff_predicted": None if (rate := rates[topology]) is None else rate.eta_eff,
                "eta_predicted": None if rate is None else rate.eta,
                "eta_of_bound": None if rate is None else rate.bound_eta,
                "eta": [eta / chain for eta in grid],
            }
            for topology, chain in chains.items()
        },
    }


def _cautions(
    scenario: Scenario,
    found: Sequence[Choice],
    chosen: Choice,
    exchanges: Sequence[int],
    steps: Sequence[int],
    among: Sequence[str],
) -> list[str]:
    said = []
    for name, values in (("K", steps), ("P", exchanges)):
        value = getattr(chosen, name)
        if len(values) > 1 and value in (values[0], values[-1]) and value > 1:
            option = {"K": "--local-steps", "P": "--group-rounds"}[name]
            said.append(f"{name} = {value} is at the edge of what was tried; {option} widens it.")
    lost = len(exchanges) * len(steps) * len(among) - len(found)
    if lost:
        said.append(f"{lost} choices do not reach the target and are left out.")
    if scenario.known["L"].origin == "default":
        said.append("L was not given: learning rates are in units of 1/L, with L = 1 assumed. Scale them by your 1/L.")
    return said


def _page(document: dict[str, Any], scenario: Scenario, width: int, color: bool) -> str:
    d, page = document, pages.Page(width, color)
    chosen = d["recommended"]
    if d["title"]:
        page.say(d["title"], "bold")
    spent = [f"{'time' if k == 'seconds' else 'traffic'}" for k, v in d["budget"].items() if v is not None]
    limit = f" within the {' and '.join(spent)} allowed" if spent else ""
    page.say(
        f"{title(chosen['topology'])} with P = {chosen['P']}, K = {chosen['K']}: the least "
        f"{'time' if d['aim'] == 'time' else 'traffic'}{limit}, {_took(chosen)}.",
        "bold",
    )
    target = d["target"]
    page.say(
        f"Every choice is taken to one target, a mean squared gradient of {target['value']:.4g}: "
        f"{target['defined_by']}."
    )
    now = d["present"]
    if now is not None and not _same(now, chosen):
        page.say(
            f"With P = {now['P']}, K = {now['K']} of the scenario it would be {title(now['topology'])}: {_took(now)}."
        )
    if d["alike"]:
        page.say(f"Within {d['resolution']:.0%} of it in both: {_alike(d['alike'])}.")
    shown, rest = _rows(d["front"], chosen)
    page.table(
        ("topology", "P", "K", "rounds", "time", "traffic", "eta_eff", "eta"),
        [
            (
                title(row["topology"]),
                str(row["P"]),
                str(row["K"]),
                f"{row['rounds']:,}",
                format_duration(row["seconds"]),
                format_size(row["bytes"]),
                "-" if row["eta_eff"] is None else f"{row['eta_eff']:.3g}",
                "-" if row["eta"] is None else f"{row['eta']:.3g}",
            )
            for row in shown
        ],
        bold=[i for i, row in enumerate(shown) if _same(row, chosen)],
        spared=("eta_eff", "eta", "rounds"),
    )
    if rest:
        page.say(f"{rest} more on the front; --json has all of them.", "dim")
    page.list("Learning rates to start a search at", _about_rates(d["rates"], d["front"], d["predictor"]))
    page.list("Warnings", d["warnings"], "yellow")
    tried = d["tried"]
    standing = [
        f"Rounds are {d['rounds_are']}.",
        f"Front of time and traffic over {len(tried['topologies'])} topologies, K in {_list(tried['K'])} and P in "
        f"{_list(tried['P'])}; predictor {d['predictor']}, bounds {d['bounds']}, step cap {d['cap']}; a round is timed "
        f"by its {scenario.cost}.",
        f"Not given, so assumed: {pages.assumed(scenario, ('L', 'A', 'sigma', 'zeta', 'delta'))}.",
        *(f"Measured (docs/validation.md), {Verdict(**row)}" for row in d["evidence"]),
        "The target is on the mean squared gradient, not on accuracy. Between topologies the predicted order is not "
        "always the measured one: `hfl-plan recommend` says where.",
    ]
    page.list("What it stands on", [line for line in standing if not line.endswith(": .")], "dim")
    return page.text()


def _took(row: dict[str, Any]) -> str:
    return f"{row['rounds']:,} rounds, {format_duration(row['seconds'])}, {format_size(row['bytes'])}"


def _rows(front: Sequence[dict[str, Any]], chosen: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """One row of each tie, at most so many, spread over the front; the chosen one among them."""
    by_tie: dict[int, dict[str, Any]] = {}
    for row in front:
        if row["tie"] not in by_tie or _same(row, chosen):
            by_tie[row["tie"]] = row
    rows = list(by_tie.values())
    if len(rows) > SHOWN:
        spread = {round(i * (len(rows) - 1) / (SHOWN - 1)) for i in range(SHOWN)}
        rows = [row for i, row in enumerate(rows) if i in spread or _same(row, chosen)]
    return rows, len(front) - len(rows)


def _same(row: dict[str, Any], chosen: dict[str, Any]) -> bool:
    return all(row[name] == chosen[name] for name in ("topology", "P", "K"))


def _alike(rows: Sequence[dict[str, Any]]) -> str:
    by: dict[tuple[str, int], list[int]] = {}
    for row in rows:
        by.setdefault((row["topology"], row["P"]), []).append(row["K"])
    return "; ".join(f"{title(t)} with P = {p}, K = {_list(sorted(ks))}" for (t, p), ks in by.items())


def _list(numbers: Sequence[int]) -> str:
    return (
        ", ".join(map(str, numbers)) if len(numbers) <= 8 else f"{numbers[0]} to {numbers[-1]} ({len(numbers)} values)"
    )


def _about_rates(rates: dict[str, Any] | None, front: Sequence[dict[str, Any]], predictor: str) -> list[str]:
    if rates is None:
        return [f"None: {front[0]['why']}."]
    said = [f"At P = {rates['P']}, K = {rates['K']}; effective rates {_numbers(rates['eta_eff'])}, and raw rates"]
    for topology, of in rates["topologies"].items():
        told = [
            f"{whose} {of[name]:.3g}"
            for whose, name in (("predicted", "eta_predicted"), ("of the bound", "eta_of_bound"))
            if of[name] is not None and not (guaranteed(predictor) and name == "eta_predicted")
        ]
        said.append(f"  {title(topology)}: {_numbers(of['eta'])}" + (f" ({', '.join(told)})" if told else ""))
    ratios = " : ".join(f"{of['ratio']:.3g}" for of in rates["topologies"].values())
    if len(rates["topologies"]) > 1:
        said.append(
            f"Raw rates of equal reach are as {ratios}. Equal raw rates are an unfair comparison: a ring takes the "
            "steps of its members one after the other, so the same raw rate moves it further."
        )
    said.append(
        "A bound is tuned where it is proved, which is usually below what works best: searched by running with P = 1, "
        "K = 2, the best eta_eff L was 0.2 to 18, mostly 0.7 to 2. Where the best of a search is at an end of the "
        "grid, extend it."
    )
    return said


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)
