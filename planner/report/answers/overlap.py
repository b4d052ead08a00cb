"""What ``hfl-plan overlap`` answers: text from a coverage and a scenario."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from planner.data.coverage import Floats, Layout, read_layout
from planner.data.label_counts import NUMBER, read_counts
from planner.errors import NoAnswerError, ScenarioError
from planner.families import hhfl as overlap
from planner.families.hhfl import Airtime, Faith, Gaps, Option, Run, Task, Thinned
from planner.io.atomic import write
from planner.predict.evidence.claims import beginning
from planner.report.pages import Page, as_json, known
from planner.scenario.fields import read
from planner.scenario.resolve import Known, Scenario, load
from planner.scenario.units import format_duration, format_size

SCHEMA = "hfl-plan/overlap/1"
FLEET = ("fleet.clients", "fleet.groups", "fleet.clients_per_group")
OBJECTIVES = ("airtime", "time", "bytes")
WORDS = {"airtime": "airtime", "time": "time", "bytes": "traffic"}
DRAWS = 256
FACTOR = 3.0  # what nobody gave may be this many times more, or less
SURE = 0.8  # share of draws in which a verdict holds
FAR = 4.0  # factor in E and Ge, both together, from which runs say nothing
SHOWN = 6  # links that are listed in text
UPLOADS = {"each": "every server is sent to apart", "once": "all servers of a client hear one upload"}
Verdict = Literal["worth it", "not worth it", "cannot tell", "nothing to weigh"]
Spoken = dict[str, tuple[str, Any]]


@dataclass(frozen=True, eq=False)
class Asked:
    """A coverage, what is trained on it, and where every number comes from.

    Attributes:
        layout: of HHFL.
        gaps, task, cost: as of `planner.families.hhfl`.
        target: loss above its minimum; None for what HFL's bound reaches in ``rounds`` cloud rounds.
        rounds: see there.
        scenario: the rest, with origins.
        warnings: about the input.
    """

    layout: Layout
    gaps: Gaps
    task: Task
    cost: Airtime
    target: float | None
    rounds: float
    scenario: Scenario
    warnings: tuple[str, ...]


def answered(
    coverage: str,
    config: Path | None,
    said: Spoken,
    *,
    convexity: str | None,
    target: str | None,
    upload: str,
    objective: str,
    output: Path | None,
    force: bool,
    json: bool,
    width: int,
    color: bool,
) -> str:
    """Whether the overlap of a coverage is worth it, and which links are not.

    Raises:
        ScenarioError: for options and files that cannot be meant.
        NoAnswerError: where the target is met at the start, or the output cannot be written.
    """
    for option, given, choices in (("--upload", upload, ("each", "once")), ("--objective", objective, OBJECTIVES)):
        if given not in choices:
            raise ScenarioError(f"{option}: {given!a:.40} is not one of {', '.join(choices)}. Write one of them.")
    if output is not None and not force and output.exists():
        raise ScenarioError(f"--output: {str(output)!a:.120} exists. Add --force to overwrite it.")
    asked = _ask(coverage, config, said, convexity, target, cast(overlap.Upload, upload))
    answer = _answer(asked, objective)
    if output is not None:
        write(output, _pairs(answer.kept.layout), force)
    return (
        as_json(_document(asked, answer, objective)) if json else _page(asked, answer, objective, output, width, color)
    )


# ---------------------------------------------------------------- the question


def _ask(
    coverage: str, config: Path | None, said: Spoken, convexity: str | None, target: str | None, upload: overlap.Upload
) -> Asked:
    layout = read_layout(coverage)
    clients, servers = layout.links.shape
    table = read(config)[0] if config is not None else {}
    if target is not None and "problem.rounds" in said:
        raise ScenarioError("--target: --rounds says the target already, as what HFL reaches. Give one of the two.")
    for key in FLEET:
        if key in said:
            raise ScenarioError(
                f"{said[key][0]}: the coverage has {servers} servers and {clients} clients already. Leave it out."
            )
    _agree(table, config, coverage, clients, servers)
    counts = _label_counts(said, table)
    by_default = _defaults(said, table)
    each = max(clients // servers, 1)
    said |= {key: ("COVERAGE", value) for key, value in zip(FLEET, (servers * each, servers, each), strict=True)}
    scenario = load(config, said)
    numbers = {name: value for name, value in scenario.known.items() if name not in ("G", "M", "S1", "S2", "order")}
    warnings = [*layout.warnings, *scenario.warnings]
    if counts is None:
        zeta, delta = scenario.number("zeta"), scenario.number("delta")
        homes = len(np.unique(layout.home))
        gaps = Gaps(zeta if homes < clients else 0.0, delta if homes > 1 else 0.0)
    else:
        gaps = Gaps.of_points(_points(layout, counts, scenario.number("sigma"), warnings), layout.home)
        note = f"{counts}: label shares, one-label client = 1 sigma"
        numbers["zeta"], numbers["delta"] = (Known(x, "derived", note=note) for x in (gaps.zeta, gaps.delta))
    smoothness, gap = scenario.number("L"), scenario.number("A")
    mu = smoothness / 10 if convexity is None else _number("--strong-convexity", convexity)
    if mu > smoothness:
        raise ScenarioError(
            f"--strong-convexity: {mu:g} exceeds the smoothness L = {smoothness:g}, and no loss curves more than it is "
            "smooth. Give less, or a larger --smoothness."
        )
    gamma = (gaps.zeta**2 + gaps.delta**2) / (2 * mu)
    goal = None if target is None else _target(target, gap)
    numbers |= {
        "N": Known(servers, "given", note="servers with clients"),
        "mu": Known(mu, "default", note="L/10") if convexity is None else Known(mu, "given"),
        "Gamma": Known(gamma, "derived", note="(zeta^2 + delta^2)/(2 mu), the most it can be"),
        "Delta0": Known(2 * gap / mu, "derived", note="2 A/mu, the most it can be"),
        "target": Known(goal, "derived" if goal is None else "given", note="loss above its minimum"),
    }
    if goal is not None:
        numbers["R"] = Known(None, "derived", note="each coverage's own rounds to the target")
    for name, key, symbol in (("E", "fleet.local_steps", "K"), ("Ge", "fleet.group_rounds", "P")):
        made = numbers.pop(symbol)
        numbers[name] = replace(made, origin="default", note="as in liu2026, Section V") if key in by_default else made
    task = Task(
        E=int(numbers["E"].value or 1),
        Ge=int(numbers["Ge"].value or 1),
        sigma=scenario.number("sigma"),
        mu=mu,
        L=smoothness,
        A=gap,
        Gamma=gamma,
    )
    if scenario.compute.straggler.kind != "none":
        warnings.append("Stragglers are not looked at here: the time is that of clients at their mean.")
    cost = Airtime(scenario.network, scenario.compute, scenario.number("model_size"), upload)
    horizon = float(scenario.known["R"].value or 0)
    return Asked(layout, gaps, task, cost, goal, horizon, replace(scenario, known=numbers), tuple(warnings))


def _defaults(said: Spoken, table: Mapping[str, Any]) -> set[str]:
    """Fill in the steps and rounds that nobody gave; which these are."""
    fleet = table.get("fleet")
    written = fleet if isinstance(fleet, dict) else {}
    if "fleet.group_rounds" in said:
        said["fleet.group_rounds"] = ("--edge-rounds", said["fleet.group_rounds"][1])
    missing = {f"fleet.{key}" for key in ("local_steps", "group_rounds") if key not in written} - said.keys()
    said |= dict.fromkeys(missing, ("by default", 5))
    return missing


def _agree(table: Mapping[str, Any], config: Path | None, coverage: str, clients: int, servers: int) -> None:
    """A scenario file and the coverage must be about the same fleet."""
    fleet = table.get("fleet")
    if not isinstance(fleet, dict):
        return
    groups, each, whole = (fleet.get(key) for key in ("groups", "clients_per_group", "clients"))
    for key, said, found in (
        ("groups", groups, servers),
        ("clients", whole, clients),
        ("clients_per_group", each, clients / servers if groups in (None, servers) else None),
    ):
        if isinstance(said, int) and found is not None and said != found:
            noun = "servers" if key == "groups" else "clients" if key == "clients" else "clients to a server"
            raise ScenarioError(
                f"{config}: fleet.{key} = {said} contradicts {coverage!a:.60}, which has {found:g} {noun}. "
                "Remove it from the file, or give another coverage."
            )


def _label_counts(said: Spoken, table: Mapping[str, Any]) -> Path | None:
    """The file of label counts, where heterogeneity is one; the scenario is then told that there is none."""
    problem = table.get("problem")
    written = problem.get("heterogeneity") if isinstance(problem, dict) else None
    option, given = said.get("problem.heterogeneity", ("problem.heterogeneity", written))
    if not isinstance(given, str) or not given.strip().lower().endswith(".csv"):
        return None
    said["problem.heterogeneity"] = (option, "iid")
    return Path(given.strip())


def _points(layout: Layout, counts: Path, sigma: float, warnings: list[str]) -> Floats:
    """Gradients by label shares: orthogonal for different labels, a one-label client one sigma from an even mixture."""
    table = read_counts(counts, grouped=False)
    index = {client: i for i, client in enumerate(table.clients)}
    for client in layout.clients:
        if client not in index:
            raise ScenarioError(
                f"{counts}: client {client!a:.60} of {layout.source} has no label counts. Add its line, or use its id."
            )
    if len(table.clients) > len(layout.clients):
        warnings.append(f"{len(table.clients) - len(layout.clients)} clients of {counts} are not in the coverage.")
    labels = int((table.counts > 0).any(axis=0).sum())
    warnings.extend(table.warnings)
    warnings.append(
        "Label counts do not say how large the gaps are: a client with a single label is taken to stand "
        f"sigma = {sigma:g} from an even mixture."
    )
    shares = table.shares()[[index[client] for client in layout.clients]]
    return shares * ((sigma or 1.0) / math.sqrt(1 - 1 / labels))


def _number(option: str, text: str) -> float:
    value = float(text) if NUMBER.fullmatch(text.strip()) else math.nan
    if not 1e-50 <= value <= 1e50:
        raise ScenarioError(f"{option}: {text!a:.40} is not a number from 1e-50 to 1e50. Write {option} 0.1.")
    return value


def _target(text: str, gap: float) -> float:
    share = re.fullmatch(r"\s*([^%]*)%\s*", text)
    return _number("--target", share[1]) / 100 * gap if share else _number("--target", text)


# ---------------------------------------------------------------- the answer


@dataclass(frozen=True, eq=False)
class Answer:
    """Both ways to attach the clients, and the best in between.

    Attributes:
        goal: loss above its minimum that all are asked for.
        apart, hybrid: HFL and HHFL, as runs let expect.
        thinned: links of HHFL dropped one by one, and ``kept`` the best layout on that way.
        told: rounds of HFL over those of HHFL, by the bound.
        gain: the same as runs let expect, and the ends of its interval.
        runs: these runs.
        needed: what a round of HHFL costs, in rounds of HFL, by the objective; ``airtime`` the same by airtime.
        sure: share of draws in which the gain is above what is needed; None where everything was given.
        flip: the gap between servers over sigma from which overlap is worth it.
        verdict, reasons: in words.
    """

    goal: float
    apart: Option
    hybrid: Option
    thinned: Thinned
    kept: Option
    told: float
    gain: tuple[float, float, float]
    runs: tuple[Run, ...]
    needed: float
    airtime: float
    sure: float | None
    flip: float | None
    verdict: Verdict
    reasons: tuple[str, ...]


def _answer(asked: Asked, objective: str) -> Answer:
    layout, gaps, task, cost = asked.layout, asked.gaps, asked.task, asked.cost
    alone = layout.apart()
    goal = asked.target if asked.target is not None else overlap.reached_apart(layout, gaps, task, asked.rounds)
    if not goal < task.first_bound * (1 - 1e-12):
        said = f"where the bound is L A/mu = {task.first_bound:.4g}"
        if asked.target is None:
            raise NoAnswerError(
                f"--rounds: after {asked.rounds:,.0f} cloud rounds HFL's bound is no lower than at the start, {said}: "
                "there is no target to compare at. Give more rounds."
            )
        raise NoAnswerError(f"--target: {goal:.4g} is met before the first round, {said}. Give a smaller one.")
    apart, hybrid = (overlap.priced(one, gaps, task, goal, cost) for one in (alone, layout))
    faith, uneven = _faith(asked), _uneven(asked)
    power = float(faith.of(uneven))
    found = overlap.thin(layout, gaps, task, goal, cost, power)
    hybrid = overlap.expected(hybrid, apart, power, task, cost)
    totals = [hybrid.airtime, *(step.airtime for step in found.path)]
    best = min(range(len(totals)), key=lambda k: (totals[k], k))
    kept = hybrid
    if best:
        fewer = overlap.priced(overlap.thinned(layout, found.path[:best]), gaps, task, goal, cost)
        kept = overlap.expected(fewer, apart, power, task, cost)
    told = float(overlap.gains(layout, gaps, task, asked.target, asked.rounds, np.ones((1, 5)))[0])
    ends = sorted(told ** float(faith.of(uneven, end)) for end in ("low", "high"))
    airtime = cost.of_a_round(layout, task.Ge) / cost.of_a_round(alone, task.Ge)
    price = {
        "airtime": airtime,
        "time": hybrid.seconds_per_round / apart.seconds_per_round,
        "bytes": cost.bytes(layout, task.Ge) / cost.bytes(alone, task.Ge),
    }
    gain = (told**power, ends[0], ends[1])
    sure = _sure(asked, faith, price[objective])
    verdict, reasons = _verdict(asked, objective, told, gain, price[objective], sure, hybrid, faith)
    return Answer(
        goal=goal,
        apart=apart,
        hybrid=hybrid,
        thinned=found,
        kept=kept,
        told=told,
        gain=gain,
        runs=faith.around(uneven),
        needed=price[objective],
        airtime=airtime,
        sure=sure,
        flip=_flip(asked, faith, price[objective]) if verdict != "nothing to weigh" else None,
        verdict=verdict,
        reasons=tuple(reasons),
    )


def _uneven(asked: Asked) -> float:
    """The gap between servers over sigma; without noise, more than was ever run."""
    return asked.gaps.delta / asked.task.sigma if asked.task.sigma else (math.inf if asked.gaps.delta else 0.0)


def _faith(asked: Asked) -> Faith:
    task = asked.task
    return Faith.nearest(task.E, task.Ge, asked.gaps.zeta / task.sigma if task.sigma else 0.0)


def _sure(asked: Asked, faith: Faith, needed: float) -> float | None:
    """Share of draws in which the gain that runs let expect is above what is needed."""
    names = ("sigma", "zeta", "delta", "mu", "A")
    free = np.array([asked.scenario.known[name].origin != "given" for name in names])
    if not free.any():
        return None
    rng = np.random.default_rng(asked.scenario.seed)
    factors = np.where(free, FACTOR ** rng.uniform(-1, 1, (DRAWS, len(names))), 1.0)
    told = overlap.gains(asked.layout, asked.gaps, asked.task, asked.target, asked.rounds, factors)
    gap = factors[:, 1] if asked.gaps.points is not None else factors[:, 2]
    found = told ** faith.of(_uneven(asked) * gap / factors[:, 0])
    known = found[np.isfinite(found)]
    return float((known > needed).mean()) if len(known) else None


def _verdict(
    asked: Asked,
    objective: str,
    told: float,
    gain: tuple[float, float, float],
    needed: float,
    sure: float | None,
    hybrid: Option,
    faith: Faith,
) -> tuple[Verdict, list[str]]:
    layout, resolution = asked.layout, asked.scenario.resolution
    if len(layout.servers) == 1:
        return "nothing to weigh", ["There is one server: nothing overlaps, and an edge round is a cloud round."]
    if layout.links.sum() == len(layout.clients):
        return "nothing to weigh", ["Every client has one server: this is HFL already."]
    more = f"{abs(needed - 1):.0%} {'more' if needed >= 1 else 'less'} {WORDS[objective]} a round"
    expect = f"in runs like this a bound of {told:.2f} means {gain[0]:.2f} [{gain[1]:.2f}, {gain[2]:.2f}]"
    reasons = []
    if asked.task.Ge == 1:
        reasons.append(
            "With one edge round between cloud rounds every edge round is a cloud round: overlap changes nothing, and "
            f"costs {more}."
        )
    elif asked.gaps.delta == 0:
        reasons.append(
            f"The servers' data are alike (delta = 0): HFL needs about {gain[0]:.2f} times the rounds of HHFL, and "
            f"HHFL costs {more}."
        )
        reasons.append(f"The bound's own gain is noise averaged over more servers: {expect}.")
    else:
        reasons.append(f"HFL needs about {gain[0]:.2f} times the rounds of HHFL, which costs {more}: {expect}.")
    if hybrid.parts > 1:
        reasons.append(
            f"The coverage falls into {hybrid.parts} parts that no client connects: what they disagree about waits for "
            "the cloud with overlap as without (the second eigenvalue is 1). A client that joins two parts is worth "
            "more than any other link."
        )
    if gain[1] > needed * (1 + resolution) and (sure is None or sure >= SURE):
        if faith.far <= FAR:
            return "worth it", reasons
        near = faith.runs[0]
        reasons.append(
            f"The nearest runs, E = {near.E} and Ge = {near.Ge}, are too far from E = {asked.task.E} and Ge = "
            f"{asked.task.Ge} to hold the bound to them."
        )
        return "cannot tell", reasons
    if gain[2] < needed / (1 + resolution) and (sure is None or sure <= 1 - SURE):
        return "not worth it", reasons
    if gain[1] <= needed * (1 + resolution) and gain[2] >= needed / (1 + resolution):
        reasons.append(f"The interval holds the break-even of {needed:.2f}.")
    else:
        reasons.append("What nobody gave decides: say --heterogeneity zeta=...,delta=... and --sigma, or measure them.")
    return "cannot tell", reasons


def _flip(asked: Asked, faith: Faith, needed: float) -> float | None:
    """The gap between servers over sigma from which overlap is worth it, all else as it is; None without one."""
    task, layout = asked.task, asked.layout
    if not task.sigma or asked.gaps.points is not None or len(np.unique(layout.home)) == 1 or task.Ge == 1:
        return None
    at = np.geomspace(overlap.LEAST, 100, 161)
    factors = np.ones((len(at), 5))
    factors[:, 2] = at
    gaps = Gaps(asked.gaps.zeta, task.sigma)
    gamma = (gaps.zeta**2 + gaps.delta**2) / (2 * task.mu)
    told = overlap.gains(layout, gaps, replace(task, Gamma=gamma), asked.target, asked.rounds, factors)
    above = told ** faith.of(at) > needed
    if above.all() or not above.any():
        return None
    return float(at[int(np.argmax(above))]) if not above[0] else None


# ---------------------------------------------------------------- JSON and CSV


def _document(asked: Asked, answer: Answer, objective: str) -> dict[str, Any]:
    layout, task = asked.layout, asked.task
    path = answer.thinned.path
    return {
        "schema": SCHEMA,
        "coverage": layout.source,
        "scenario": known(asked.scenario),
        "clients": len(layout.clients),
        "servers": len(layout.servers),
        "links": int(layout.links.sum()),
        "overlapping_clients": int((layout.links.sum(axis=1) > 1).sum()),
        "homes": "given" if layout.home_given else "derived",
        "objective": objective,
        "verdict": answer.verdict,
        "reasons": list(answer.reasons),
        "break_even": {
            "links_per_client": float(layout.links.sum() / len(layout.clients)),
            "airtime": answer.airtime,
            "objective": answer.needed,
        },
        "gain": {
            "bound": answer.told,
            "expected": answer.gain[0],
            "low": answer.gain[1],
            "high": answer.gain[2],
            "runs": [asdict(run) for run in answer.runs],
            "worth_from_delta_over_sigma": answer.flip,
            "p_above_break_even": answer.sure,
            "draws": DRAWS if answer.sure is not None else 0,
        },
        "drift": {
            "two_levels": answer.hybrid.drift / answer.apart.drift if answer.apart.drift else None,
            "second_eigenvalue": 1 / overlap.spectral_ratio(task, answer.apart.lambda2, answer.hybrid.lambda2),
        },
        "target": answer.goal,
        "bound": overlap.BOUND,
        "options": {
            "hfl": _option(answer.apart),
            "hhfl": _option(answer.hybrid),
            "thinned": _option(answer.kept),
        },
        "drop": [_dropped(layout, step) for step in path],
        "drop_search": {
            "tried": answer.thinned.tried,
            "complete": answer.thinned.complete,
            "best": int(layout.links.sum() - answer.kept.layout.links.sum()),
        },
        "record": [verdict.as_json() for verdict in beginning("hhfl-")],
        "warnings": _warnings(asked, answer),
    }


def _option(option: Option) -> dict[str, Any]:
    return {
        "links": int(option.layout.links.sum()),
        "lambda2": option.lambda2,
        "spectrum": [{"eigenvalue": value, "times": count} for value, count in option.spectrum],
        "parts": option.parts,
        "gap_erased": option.gaps[0],
        "gap_passed_on": option.gaps[1],
        "drift": option.drift,
        "beta": option.beta,
        "alpha": option.alpha,
        "local_steps": option.steps,
        "bound_rounds": option.bound_rounds,
        "rounds": option.rounds,
        "seconds": option.seconds,
        "bytes": option.bytes,
        "airtime_seconds": option.airtime,
        "seconds_per_round": option.seconds_per_round,
    }


def _dropped(layout: Layout, step: overlap.Dropped) -> dict[str, Any]:
    return {
        "client": layout.clients[step.client],
        "server": layout.servers[step.server],
        "links": step.links,
        "local_steps": step.steps,
        "airtime_seconds": step.airtime,
    }


def _pairs(layout: Layout) -> str:
    """The links in a form that is read again."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["client", "server", "airtime"])
    for i, n in np.argwhere(layout.links).tolist():
        writer.writerow([layout.clients[i], layout.servers[n], f"{layout.airtime[i, n]:.12g}"])
    return out.getvalue()


# ---------------------------------------------------------------- for a terminal


def _page(asked: Asked, answer: Answer, objective: str, output: Path | None, width: int, color: bool) -> str:
    layout = asked.layout
    links, clients = int(layout.links.sum()), len(layout.clients)
    page = Page(width, color)
    page.say(f"{_first(answer.verdict)}. {answer.reasons[0]}", "bold")
    for reason in answer.reasons[1:]:
        page.say(reason)
    counted = f"{_many(links, 'link')} for {_many(clients, 'client')} of {_many(len(layout.servers), 'server')}"
    uneven = abs(answer.airtime * clients / links - 1) > 1e-9
    weighed = f", by airtime as given at {answer.airtime:.3g}" if uneven else ""
    page.say(f"{counted}: break-even at {links / clients:.3g} times fewer rounds{weighed}.")
    if answer.sure is not None and answer.verdict != "nothing to weigh":
        page.say(
            f"The gain is above what overlap costs in {answer.sure:.0%} of {DRAWS} draws of what nobody gave "
            f"(sigma, gaps, mu, A by up to a factor {FACTOR:g})."
        )
    slower = answer.hybrid.seconds / answer.apart.seconds
    if answer.verdict == "worth it" and objective != "time" and slower > 1:
        page.say(
            f"By the clock it is not: HHFL takes {slower:.2f} times as long, as {_pace(asked)}. --objective time asks "
            "about that."
        )
    if answer.flip is not None:
        page.say(f"It is worth it from delta/sigma of about {answer.flip:.2g}, all else as it is.")
    rows = [("HFL, one server each", answer.apart), ("HHFL, all links", answer.hybrid)]
    best = links - int(answer.kept.layout.links.sum())
    if best:
        rows.append((f"HHFL less {best} links", answer.kept))
    page.table(
        ("", "links", "lambda2", "drift", "bound's rounds", "rounds", "time", "traffic", "airtime"),
        [_cells(name, option, answer.apart.drift) for name, option in rows],
        spared=("drift", "lambda2", "bound's rounds"),
    )
    page.list("Links to drop", _drops(asked, answer, best))
    page.list("Warnings", _warnings(asked, answer), "yellow")
    page.list("What it stands on", _basis(asked, answer), "dim")
    text = page.text()
    return text if output is None else f"{text}\nLinks to keep: {output}\n"


def _pace(asked: Asked) -> str:
    if asked.cost.network.client_link.sharing == "per-server":
        return "the busiest server sets the pace"
    return "clients send to their servers one after the other, and those with most of them set the pace"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _first(verdict: Verdict) -> str:
    return verdict[0].upper() + verdict[1:]


def _cells(name: str, option: Option, drift: float) -> tuple[str, ...]:
    return (
        name,
        f"{int(option.layout.links.sum()):,}",
        f"{option.lambda2:.4g}",
        f"{option.drift / drift:.3g}" if drift else "-",
        f"{option.bound_rounds:,}",
        f"{option.rounds:,}",
        format_duration(option.seconds),
        format_size(option.bytes),
        format_duration(option.airtime),
    )


def _drops(asked: Asked, answer: Answer, best: int) -> list[str]:
    path = answer.thinned.path
    if not path:
        return []
    layout, hybrid = asked.layout, answer.hybrid
    said = []
    if answer.verdict == "not worth it":
        said.append(f"All {len(path)} that are not a client's home: that is HFL. In the order of this search:")
    shown = 3 if answer.verdict == "not worth it" else min(max(best, 3), SHOWN)
    for step in path[:shown]:
        rounds, airtime = _more(step.steps / hybrid.steps), _more(step.airtime / hybrid.airtime)
        link = f"{_name(layout.clients[step.client])} from {_name(layout.servers[step.server])}"
        said.append(f"{link}: rounds {rounds}, airtime {airtime} against all links")
    if len(path) > len(said):
        said.append(f"--json lists all {len(path)}, in the order in which they go, each the cheapest of those left.")
    least = (
        "Airtime to the target is least with all links."
        if not best
        else (
            f"Airtime to the target is least without the first {best}: {_more(answer.kept.airtime / hybrid.airtime)}."
        )
    )
    looked = f"Looked at: {answer.thinned.tried:,} removals, one link at a time"
    if not answer.thinned.complete:
        looked += "; the network is too large for all of them, so that only some were tried at each step"
    return [*said, least, f"{looked}."]


def _name(name: str) -> str:
    return name if len(name) <= 40 else name[:37] + "..."


def _more(ratio: float) -> str:
    return f"{round(ratio - 1, 3) + 0.0:+.1%}"  # and not -0.0 %


def _warnings(asked: Asked, answer: Answer) -> list[str]:
    said = list(asked.warnings)
    if answer.goal > asked.task.A:
        said.append(
            f"The target, {answer.goal:.4g}, lies above the loss gap at the start, A = {asked.task.A:g}: the bound is "
            "far above what runs reach, so read rounds as ratios and not as counts."
        )
    if asked.cost.network.client_link.sharing == "per-client" and answer.verdict != "nothing to weigh":
        said.append(
            "The rates are taken to be each client's own. If the clients of a server share them, --link-sharing "
            "per-server, the busiest server sets the pace."
        )
    return said


def _basis(asked: Asked, answer: Answer) -> list[str]:
    scenario, task = asked.scenario, asked.task
    where = "label shares" if asked.gaps.points is not None else "gaps that point in all directions alike, exact means"
    homes = "as given" if asked.layout.home_given else "each the least loaded of its client's servers"
    assumed = ", ".join(
        f"{name} = {scenario.known[name].value:.4g}"
        for name in ("E", "Ge", "sigma", "zeta", "delta", "mu", "L", "A")
        if scenario.known[name].origin == "default"
    )
    said = [
        f"Bound: {overlap.BOUND} (own, explicit constants) with the whole spectrum, at the best falling rates of each; "
        f"it is about the loss of strongly convex problems, and an upper bound. E = {task.E}, Ge = {task.Ge}.",
        f"Drift by the second eigenvalue alone ({overlap.DRIFT}): {_drifts(asked, answer)}; the gaps of the "
        f"clients stand on {where}. Homes in HFL: {homes}.",
        f"Airtime: {UPLOADS[asked.cost.upload]}, and every client's download is its own.",
    ]
    if assumed:
        said.append(f"Not given, so assumed: {assumed}.")
    if answer.verdict != "nothing to weigh":
        runs = "; ".join(
            f"{run.gain:.2f} [{run.low:.2f}, {run.high:.2f}] where the bound says {run.bound:.2f}, at delta/sigma = "
            f"{run.delta:g}"
            for run in answer.runs
        )
        first = answer.runs[0]
        said.append(
            f"Rounds are the bound's, its gain taken to the power that runs have at E = {first.E}, Ge = {first.Ge}, "
            f"zeta/sigma = {first.zeta:g}: {runs} (95 % intervals; losses after 500 local steps of convex problems on "
            f"{overlap.LAYOUT}, planner/data/overlap_record.csv). Other coverages and problems may differ."
        )
    said.append("Record of claims about overlap (hfl-plan validate; docs/validation.md):")
    said.extend(f"  {verdict}" for verdict in beginning("hhfl-"))
    return said


def _drifts(asked: Asked, answer: Answer) -> str:
    ratio = overlap.spectral_ratio(asked.task, answer.apart.lambda2, answer.hybrid.lambda2)
    return f"HFL {ratio:.3g} times HHFL" if math.isfinite(ratio) else "HHFL has none"
