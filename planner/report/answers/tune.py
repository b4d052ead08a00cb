"""What ``hfl-plan tune`` answers: choices of topology, K and P to one target, and learning rates to start at."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from hflbounds.topology import Topology, tier_symbols
from planner.decide import participation, tuning
from planner.decide.tuning import Aim, Budget, Choice, Rate
from planner.errors import NoAnswerError, ScenarioError
from planner.io.wording import counted, title
from planner.predict.evidence.claims import Verdict, verdicts
from planner.predict.predictors import guaranteed
from planner.predict.question import Question, ask, with_default_order
from planner.report.document import Block, Column, Document, Items, Note, Paragraph, Table
from planner.report.origins import assumed, known
from planner.scenario.resolve import Scenario
from planner.scenario.units import format_duration, format_size, parse_duration, parse_size

SCHEMA = "hfl-plan/tune/1"
MOST = 20_000  # choices that are looked at
SHOWN = 12  # rows of the front in a table
FRONT = (
    Column("topology"),
    Column("P", "count"),
    Column("K", "count"),
    Column("rounds", "count"),
    Column("time", "duration"),
    Column("traffic", "size"),
    Column("eta_eff", "number"),
    Column("eta", "number"),
)
SHOWN_OF_FRONT = ("P", "K", "rounds", "seconds", "bytes", "eta_eff", "eta")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be tried and spent, as written; None for what was not said.

    Attributes:
        local_steps: Values of K.
        group_rounds: Values of P.
        topology: The only one to try.
        within: Time that may be spent.
        traffic: Traffic that may be caused.
        objective: What is to be least.
    """

    local_steps: str | None = None
    group_rounds: str | None = None
    topology: str | None = None
    within: str | None = None
    traffic: str | None = None
    objective: str | None = None

    def budget(self) -> Budget:
        """What may be spent."""
        return Budget(
            math.inf if self.within is None else float(parse_duration(self.within, field="--within", positive=True)),
            math.inf if self.traffic is None else float(parse_size(self.traffic, field="--traffic")),
        )


@dataclass(frozen=True, slots=True)
class _Tried:
    """What was tried."""

    among: list[str]
    steps: list[int]
    exchanges: list[int]

    def choices(self, question: Question) -> list[Choice]:
        return tuning.choices(question, self.exchanges, self.steps, self.among)


def tuned(scenario: Scenario, wanted: Wanted) -> Document:
    """Find the front of time and traffic over topology, K and P, and the choice that the budget leaves.

    Args:
        scenario: With the K and P that define a target that is not given.
        wanted: What is to be tried and spent.

    Raises:
        ScenarioError: For options that cannot be meant.
        NoAnswerError: If nothing reaches the target within the budget.
    """
    if scenario.pilot is not None:
        raise ScenarioError(
            "--pilot: it measured one number of local steps, and tune compares many. Leave it out, or run "
            "`hfl-plan pilot` with each and compare what `hfl-plan recommend --pilot` says."
        )
    if scenario.divisions:
        raise ScenarioError(
            "--clients: tune needs the groups. Give --groups and --clients-per-group; `hfl-plan recommend --clients` "
            "searches for them."
        )
    scenario = with_default_order(scenario)
    asked = ask(scenario)
    participation.check(asked)
    tried, budget = _tried(asked, wanted), wanted.budget()
    question = tuning.with_one_target(asked)
    found = tried.choices(question)
    if not found:
        raise NoAnswerError(
            f"no topology, P and K tried reaches the target {question.target:.4g}"
            + (f" within {question.horizon:,.0f} rounds. Allow more, or give" if question.horizon else ". Give")
            + " a looser --target."
        )
    aim = _aim(wanted.objective, scenario, limited=wanted.within is not None and wanted.traffic is None)
    best = tuning.front(found)
    chosen = tuning.recommended(best, aim, budget, scenario.resolution)
    present = tuning.choices(question, [_passes(asked)], [int(asked.values["K"])], tried.among)
    allowed = [choice for choice in present if budget.overrun(choice) <= 1]
    return document(
        {
            "schema": SCHEMA,
            "title": scenario.title,
            "scenario": known(scenario),
            "predictor": question.predictor.id,
            "rounds_are": f"those {question.predictor.says}",
            "bounds": question.family,
            "cap": question.cap,
            "target": {"value": question.target, "metric": question.quantity.words, "defined_by": _defined(asked)},
            "tried": {"topologies": tried.among, "K": tried.steps, "P": tried.exchanges, "reached": len(found)},
            "aim": aim,
            "budget": {
                name: limit if math.isfinite(limit) else None
                for name, limit in (("seconds", budget.seconds), ("bytes", budget.bytes))
            },
            "resolution": scenario.resolution,
            "front": [
                {
                    **_shown(choice, tuning.rate(question, choice)),
                    "tie": tie,
                    "within_budget": budget.overrun(choice) <= 1,
                }
                for choice, tie in zip(best, tuning.tie_numbers(best, scenario.resolution), strict=True)
            ],
            "recommended": _shown(chosen, tuning.rate(question, chosen)),
            "present": _shown(min(allowed or present, key=lambda c: c.amount(aim)), None) if present else None,
            "alike": [_shown(c, None) for c in tuning.alike(found, chosen, budget, scenario.resolution)],
            "rates": _rates(question, chosen, tried.among),
            "evidence": [verdict.as_json() for verdict in verdicts("raw-rates", "group-rounds")],
            "warnings": [
                *scenario.warnings,
                *participation.about(question, scenario, [chosen.topology]),
                *_cautions(scenario, len(found), chosen, tried),
            ],
        },
        scenario,
    )


def _tried(asked: Question, wanted: Wanted) -> _Tried:
    steps = tuning.whole_numbers("--local-steps", wanted.local_steps, {*tuning.LADDER, int(asked.values["K"])})
    usual = {*tuning.GROUP_ROUNDS, _passes(asked)} if asked.symbols[-1].passes else {1}
    exchanges = tuning.whole_numbers("--group-rounds", wanted.group_rounds, usual)
    every = list(asked.topologies)
    among = every if wanted.topology is None else [_topology(wanted.topology, every)]
    if len(steps) * len(exchanges) * len(among) > MOST:
        raise ScenarioError(
            f"--local-steps: {len(steps)} values with {len(exchanges)} of --group-rounds are more than {MOST:,} "
            "choices. Give fewer, such as 1:64."
        )
    return _Tried(among, steps, exchanges)


def _topology(name: str, known: Sequence[str]) -> str:
    if name not in known:
        near = difflib.get_close_matches(name.lower().replace("_", "-"), known, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ScenarioError(f"--topology: {name!a:.40} is not one of {', '.join(known)}.{hint}")
    return name


def _aim(objective: str | None, scenario: Scenario, *, limited: bool) -> Aim:
    """What is to be least: what was asked for, else what has no limit, else time unless the scenario says bytes."""
    if objective is None:
        return "traffic" if limited or scenario.objective == "traffic" else "time"
    for aim in get_args(Aim):
        if objective == aim:
            return aim  # type: ignore[no-any-return]
    hint = " Rounds of different K and P are of different length." if objective == "rounds" else ""
    raise ScenarioError(f"--objective: {objective!a:.40} is not time or traffic.{hint}")


def _passes(asked: Question) -> int:
    """Passes of the lowest tier in the scenario."""
    passes = asked.symbols[-1].passes
    return int(asked.values[passes]) if passes else 1


def _defined(asked: Question) -> str:
    if asked.target is not None:
        return "given"
    P, K = _passes(asked), asked.values["K"]
    return f"what {title(asked.reference)} reaches in {asked.horizon:,.0f} rounds of P = {P}, K = {K:g}"


def _shown(choice: Choice, rate: Rate | None) -> dict[str, Any]:
    told: dict[str, Any] = {**asdict(choice), "rounds": int(choice.rounds)}
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


def _cautions(scenario: Scenario, reached: int, chosen: Choice, tried: _Tried) -> list[str]:
    said = []
    for name, values in (("K", tried.steps), ("P", tried.exchanges)):
        value = getattr(chosen, name)
        if len(values) > 1 and value in (values[0], values[-1]) and value > 1:
            option = {"K": "--local-steps", "P": "--group-rounds"}[name]
            said.append(f"{name} = {value} is at the edge of what was tried; {option} widens it.")
    lost = len(tried.exchanges) * len(tried.steps) * len(tried.among) - reached
    if lost:
        said.append(f"Left out, as the target is not reached: {counted(lost, 'choice')}.")
    if scenario.known["L"].origin == "default":
        L = scenario.number("L")
        said.append(f"L was not given: learning rates are for L = {L:g}, as of networks on images. They scale as 1/L.")
    return said


def document(told: dict[str, Any], scenario: Scenario) -> Document:
    """Say what was found."""
    return Document(told["title"], tuple(_blocks(told, scenario)), told, tuple(_records(told)), "Steps and rates")


def _blocks(d: dict[str, Any], scenario: Scenario) -> Iterator[Block]:
    chosen, target, now = d["recommended"], d["target"], d["present"]
    spent = [f"{'time' if k == 'seconds' else 'traffic'}" for k, v in d["budget"].items() if v is not None]
    limit = f" within the {' and '.join(spent)} allowed" if spent else ""
    least = "time" if d["aim"] == "time" else "traffic"
    yield Paragraph(f"{_named(chosen)}: the least {least}{limit}, {_took(chosen)}.", "bold")
    yield Paragraph(
        f"Every choice is taken to one target, a {target['metric']} of {target['value']:.4g}: {target['defined_by']}."
    )
    if now is not None and not _same(now, chosen):
        yield Paragraph(
            f"With P = {now['P']}, K = {now['K']} of the scenario it would be {title(now['topology'])}: {_took(now)}."
        )
    if d["alike"]:
        yield Paragraph(f"Within {d['resolution']:.0%} of it in both: {_alike(d['alike'])}.")
    shown, rest = _rows(d["front"], chosen)
    yield Table(
        FRONT,
        tuple((title(row["topology"]), *(row[name] for name in SHOWN_OF_FRONT)) for row in shown),
        label="Front of time and traffic, the fastest first",
        best=frozenset(i for i, row in enumerate(shown) if _same(row, chosen)),
        spared=("eta_eff", "eta", "rounds"),
    )
    if rest:
        yield Note(f"{rest} more on the front; --json has all of them.")
    yield Items("Learning rates to start a search at", tuple(_about_rates(d["rates"], d["front"], d["predictor"])))
    yield Items("Warnings", tuple(d["warnings"]), "warning")
    yield Items("What it stands on", tuple(_basis(d, scenario)), "dim")


def _basis(d: dict[str, Any], scenario: Scenario) -> Iterator[str]:
    tiers = tier_symbols(Topology.parse(d["recommended"]["topology"]).depth)
    tried = d["tried"]
    proved = f", bounds {d['bounds']}, step cap {d['cap']}" if d["bounds"] else ""
    measured = "Measured" if len(tiers) == 2 else "Measured with two tiers"
    missing = assumed(scenario, ("L", "A", "sigma", *(tier.deviation for tier in reversed(tiers))))
    yield f"Rounds are {d['rounds_are']}."
    yield (
        f"Front of time and traffic over {len(tried['topologies'])} topologies, K in {_list(tried['K'])} and P in "
        f"{_list(tried['P'])}; predictor {d['predictor']}{proved}; a round is timed by its {scenario.cost}."
    )
    if len(tiers) > 2:
        yield f"P is {tiers[-1].passes}, the passes of the lowest tier; the tiers above keep theirs."
    if missing:
        yield f"Not given, so assumed: {missing}."
    yield from (f"{measured} (docs/validation.md), {Verdict(**row)}" for row in d["evidence"])
    yield (
        f"The target is on the {d['target']['metric']}, not on accuracy. Between topologies the predicted order is not "
        "always the measured one: `hfl-plan recommend` says where."
    )


def _records(d: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for row in d["front"]:
        yield {"why": "", **row, "recommended": _same(row, d["recommended"])}


def _named(row: dict[str, Any]) -> str:
    return f"{title(row['topology'])} with P = {row['P']}, K = {row['K']}"


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
