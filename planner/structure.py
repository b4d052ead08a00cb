"""How many groups, where only the number of clients is known: every division of the fleet, under one target.

Regrouping moves heterogeneity and keeps its sum ``H^2 = zeta^2 + delta^2``, the mean squared distance of a client's
gradient from the whole's. For ``N`` clients put at random into ``G`` groups of ``M = N/G`` the mean of a group is
that of a sample drawn without replacement from a population of variance ``H^2``, so

    E delta^2 = H^2/M * (N - M)/(N - 1) = H^2 (G - 1)/(N - 1)        and        E zeta^2 = H^2 (N - G)/(N - 1),

the second because the sum stays. Where label counts are known the groups are chosen instead, each division by the
search of `planner.grouping`, if that is cheap. The target must not move with the division either: where none is
given, it is what Star-Star reaches in the coarsest division that is searched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from hflbounds.compare import ties
from planner import grouping, label_shift
from planner.cost import CostError
from planner.errors import NoAnswerError, ScenarioError
from planner.explain import title
from planner.heterogeneity import FromFile, Heterogeneity
from planner.labels import LabelCounts, read_counts
from planner.prediction import Question, ask, first_bound, settled
from planner.recommendation import Division, Recommendation
from planner.scenario import Known, Origin, Regrouped, Scenario, resolve_groups
from planner.scenario_file import ScenarioFile

MOST = 48  # divisions that are searched; every N below 5040 has at most so many
LARGEST_CHOSEN = 2_000  # clients up to which groups are chosen by label counts
Exact = TypeVar("Exact", float, Fraction)
Grouping = Literal["random", "chosen"]


def expected(total2: Exact, clients: int, groups: int) -> tuple[Exact, Exact]:
    """``(E zeta^2, E delta^2)`` over random divisions into groups of one size.

    Args:
        total2: ``zeta^2 + delta^2``.
        clients: how many, N.
        groups: a divisor of N.
    """
    others = max(clients - 1, 1)  # one client has nothing to differ from, and then both factors are 0
    return total2 * (clients - groups) / others, total2 * (groups - 1) / others


def divisors(number: int) -> list[int]:
    """All of them, in order."""
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return small + [number // d for d in reversed(small) if d * d != number]


# ---------------------------------------------------------------- from a file to scenarios


def ungrouped(path: str) -> Heterogeneity:
    """What label counts say of clients without groups: all as one group; a column of groups is not looked at."""
    table = _without_groups(Path(path))
    found = _spread(table, np.zeros(len(table.clients), dtype=np.int64), 1)
    size = len(table.clients)
    measured = FromFile(
        zeta=math.sqrt(max(found.zeta2 - found.zeta2_noise, 0.0)),
        delta=0.0,
        absolute=False,
        labels=int((table.counts > 0).any(axis=0).sum()),
        groups=1,
        clients=(size, size, size),
        ratio=(None, None, None),
        warnings=tuple(table.warnings),
    )
    return Heterogeneity("file", path, measured=measured)


def scenarios(written: ScenarioFile, name: Callable[[str], str]) -> Scenario:
    """One scenario for every division that is searched; the first, with all of them as its `divisions`.

    Raises:
        ScenarioError: where no division fits what was given.
    """
    fleet, clients = written.fleet, written.fleet.clients
    assert clients is not None  # noqa: S101 - what brought us here
    form = written.problem.heterogeneity
    measured = form.measured if form is not None else None
    if measured is not None and round(measured.groups * measured.clients[1]) != clients:
        counted = round(measured.groups * measured.clients[1])
        raise ScenarioError(
            f"{name('fleet.clients')}: {clients} contradicts the {counted} clients of {form.text}. Write {counted}."
        )
    least, most = fleet.groups_per_round or 1, clients // (fleet.clients_per_round or 1)
    counts, warnings = _searched(clients, least, most, fleet.groups_per_round, fleet.clients_per_round, name)
    total2, said, about = _total(written, clients)
    table = _without_groups(Path(form.text)) if form is not None and _is_counts(form) else None
    if table is not None and clients > LARGEST_CHOSEN:
        about.append(
            f"Groups are taken at random: choosing them for more than {LARGEST_CHOSEN:,} clients takes long. "
            "`hfl-plan group` does it for one number of groups."
        )
        table = None
    seed = written.plan.seed or 0
    found = []
    for groups in counts:
        kind: Grouping = "random" if table is None else "chosen"
        zeta2, delta2 = expected(total2, clients, groups) if table is None else _chosen(table, groups, seed)
        if table is not None:
            scale2 = total2 / max(measured.zeta**2, 1e-300) if measured is not None else 1.0
            zeta2, delta2 = zeta2 * scale2, delta2 * scale2
        how = f"{clients} clients into {groups} groups " + (
            "at random, in expectation" if kind == "random" else "chosen by their label counts"
        )
        origin: Origin = "default" if form is None else "given" if form.form == "numbers" else "derived"
        regrouped = Regrouped(
            groups, clients // groups, math.sqrt(zeta2), math.sqrt(delta2), origin, f"{how}; {said}", kind
        )
        scenario = resolve_groups(written, name, regrouped)
        known = {**scenario.known, "clients": Known(clients, "given", note="N = G M; G is searched")}
        found.append(replace(scenario, known=known, warnings=(*about, *warnings, *scenario.warnings)))
    everyone = [s for s in found if not s.partial]
    if everyone and len(everyone) < len(found):  # the two are about different theorems, and orders of rings
        found = [s for s in found if s.partial]
    return replace(found[0], divisions=tuple(found))


def _searched(
    clients: int, least: int, most: int, drawn: int | None, of_each: int | None, name: Callable[[str], str]
) -> tuple[list[int], list[str]]:
    """Numbers of groups to look at, and what to say about the others."""
    whole = divisors(clients)
    fitting = [g for g in whole if least <= g <= most]
    if not fitting:
        asked = " and ".join(f"{s} = {n}" for s, n in (("S1", drawn), ("S2", of_each)) if n is not None)
        raise ScenarioError(
            f"{name('fleet.clients')}: no division of {clients} clients into groups of one size has room for {asked}. "
            "Draw fewer, or give --groups and --clients-per-group."
        )
    warnings = []
    if len(whole) == 2 and clients > 3:
        warnings.append(
            f"{clients} is prime: only one group of all, and groups of one client, are of one size. "
            f"Ask about {clients - 1} or {clients + 1} clients for a choice."
        )
    if len(fitting) > MOST:
        places = np.unique(np.round(np.linspace(0, len(fitting) - 1, MOST)).astype(int))
        warnings.append(
            f"{clients} clients divide into groups of one size in {len(fitting)} ways; {len(places)} of them are "
            "searched, so a neighbour of the best may be better."
        )
        fitting = [fitting[i] for i in places]
    return fitting, warnings


def _total(written: ScenarioFile, clients: int) -> tuple[float, str, list[str]]:
    """``H^2``, what it stands on, and what to say about it."""
    form, sigma = written.problem.heterogeneity, written.problem.sigma
    measured = form.measured if form is not None else None
    if sigma is None:
        sigma = float(measured.constants.get("sigma", 1.0)) if measured is not None else 1.0
    warnings = list(measured.warnings) if measured is not None else []
    if form is None:
        form = Heterogeneity("preset", "both")
        warnings.append(
            "Heterogeneity was not given, and it decides the answer: zeta^2 + delta^2 = 2 sigma^2 is assumed. "
            "Say --heterogeneity iid, inter or both, give numbers, or label counts."
        )
    elif form.text in ("intra", "inter"):
        warnings.append(
            "Where groups are free, intra and inter say the same, zeta^2 + delta^2 = sigma^2: the division decides "
            "how much of it is intra-group."
        )
    if form.form == "dirichlet":
        zeta, delta = form.deviations(sigma, clients, 1)
        said = f"{form.text}, every client drawn around shares of its own"
    else:
        zeta, delta = form.deviations(sigma, 1, clients)
        said = form.text
        if measured is not None and not measured.absolute:
            warnings.append(
                f"Label counts do not say how large the deviations are: a client with a single label is taken to stand "
                f"sigma = {sigma:g} from an even mixture."
            )
    total2 = zeta**2 + delta**2
    return total2, f"zeta^2 + delta^2 = {total2:.4g} ({said}) stays", warnings


def _is_counts(form: Heterogeneity) -> bool:
    return form.measured is not None and form.text.lower().endswith(".csv")


def _without_groups(path: Path) -> LabelCounts:
    return read_counts(path, grouped=False)


def _spread(table: LabelCounts, group_of: grouping.Indices, groups: int) -> label_shift.Spread:
    size = np.bincount(group_of, minlength=groups)
    within, between = 1 / size[group_of], np.full(groups, 1 / groups)
    return label_shift.spread(table.shares(), label_shift.noise(table.counts), group_of, within, between)


def _chosen(table: LabelCounts, groups: int, seed: int) -> tuple[float, float]:
    """Both squared deviations to expect where the groups are chosen by the counts, in units of label shares."""
    clients = len(table.clients)
    size = clients // groups
    problem, unit = grouping.pose(table.shares(), np.ones(clients), groups, size, size, names=table.clients)
    found = grouping.solve(problem, seed, restarts=1)
    return _spread(table, found.group_of[unit], groups).if_chosen()


# ---------------------------------------------------------------- from scenarios to an answer


@dataclass(frozen=True)
class _Priced:
    """A division with what its topologies take, and the best of them."""

    scenario: Scenario
    totals: dict[str, float]
    total: float
    row: Division


def best(scenario: Scenario, recommend: Callable[[Scenario], Recommendation]) -> Recommendation:
    """The answer for the best division, with all that were searched.

    Args:
        scenario: with its `divisions`.
        recommend: makes the answer for one.

    Raises:
        ScenarioError: as for one division.
        NoAnswerError: where no division reaches the target.
    """
    common = _with_one_target([settled(s) for s in scenario.divisions])
    priced = [_price(s) for s in common]
    if all(math.isinf(p.total) for p in priced):
        return recommend(common[0])  # which says why
    order = sorted((p for p in priced if math.isfinite(p.total)), key=lambda p: p.total)  # the fewest groups first
    numbers = ties([p.total for p in order], scenario.resolution)
    tie = {id(p): number for p, number in zip(order, numbers, strict=True)}
    rows = [p.row.model_copy(update={"tie": tie.get(id(p), max(numbers) + 1)}) for p in priced]
    answer = recommend(order[0].scenario)
    known = order[0].scenario.known
    said = dict.fromkeys(f"G = {r.groups}: {r.why}." for r in rows if r.why)
    if "star-star" in {p.row.topology for p in order} and known["P"].value == 1 and not order[0].scenario.partial:
        said[
            "With P = 1 Star-Star is one algorithm, however clients are grouped: where its rounds differ between "
            "divisions, that is the bound's doing, and only its seconds and bytes are the division's."
        ] = None
    first, *others = answer.explanation
    kept = tuple(flip for flip in answer.flips if flip.parameter not in ("G", "M"))
    return answer.model_copy(
        update={
            "explanation": (first, _sentence(order, [p for p in order if tie[id(p)] == 1], len(priced)), *others),
            "flips": kept,
            "flips_searched": answer.flips_searched.replace("G, M, ", ""),
            "divisions": tuple(rows),
            "warnings": (*answer.warnings, *said),
        }
    )


def _with_one_target(found: Sequence[Scenario]) -> list[Scenario]:
    """The scenarios under one target: the user's, or what Star-Star reaches in the coarsest division."""
    question = ask(found[0])
    if question.target is not None:
        return list(found)
    goal, first = float(question.goal()), float(first_bound(question.values))
    groups, horizon = found[0].known["G"].value, found[0].known["R"]
    if goal >= first:
        raise NoAnswerError(
            f"after {horizon.value:,} rounds the bound on Star-Star ({goal:.3g}) is still above 2 L A = {first:.3g}, "
            "which holds before the first: it says nothing yet. Give more --rounds, or a --target."
        )
    whose = "one group" if groups == 1 else f"{groups} groups"
    change = {
        "target": Known(goal, "derived", note=f"what Star-Star's bound in {whose} reaches in {horizon.value} rounds"),
        "R": Known(None, "derived", note="each topology's own rounds to the target"),
    }
    return [replace(s, known={**s.known, **change}) for s in found]


def _price(scenario: Scenario) -> _Priced:
    question, objective = ask(scenario), scenario.objective
    rounds = {t: float(n) for t, n in question.rounds().items()}
    totals: dict[str, float] = {}
    why = ""
    for topology, count in rounds.items():
        if math.isinf(count):
            continue
        try:
            totals[topology] = count * question.price(topology, objective)
        except CostError as error:
            why = str(error).rstrip(".")
    if not totals and not why:
        why = f"no topology reaches the target within {question.allowed:,.0f} rounds"
    leader = min(totals, key=lambda t: totals[t]) if totals else None
    total = totals[leader] if leader else math.inf
    return _Priced(scenario, totals, total, _row(question, scenario, leader, rounds, why))


def _row(question: Question, scenario: Scenario, leader: str | None, rounds: dict[str, float], why: str) -> Division:
    numbers: dict[str, Any] = {"rounds": None, "seconds": None, "bytes": None}
    if leader is not None:
        numbers["rounds"] = int(rounds[leader])
        try:
            cost = question.of_a_round(leader)
            numbers |= {"seconds": rounds[leader] * cost.seconds, "bytes": rounds[leader] * cost.bytes}
        except CostError as error:
            why = str(error).rstrip(".")
    assert scenario.grouping is not None  # noqa: S101 - by construction
    return Division(
        groups=int(question.values["G"]),
        clients_per_group=int(question.values["M"]),
        zeta=question.values["zeta"],
        delta=question.values["delta"],
        grouping=scenario.grouping,
        topology=leader,
        tie=0,
        why=why,
        **{key: None if n is None or not math.isfinite(n) else n for key, n in numbers.items()},
    )


def _sentence(order: Sequence[_Priced], level: Sequence[_Priced], searched: int) -> str:
    first = order[0].row
    known = order[0].scenario.known
    drawn = [s for s in ("S1", "S2") if known[s].origin == "given"]
    stay = ", ".join(f"{s} = {known[s].value}" for s in ("P", "K", *drawn))
    clients = first.groups * first.clients_per_group
    said = f"{first.groups:,} groups of {first.clients_per_group:,}"
    if first.groups == 1:
        said = "one group of all"
    elif first.clients_per_group == 1:
        said = "a group for every client"
    kind = "chosen by label counts" if first.grouping == "chosen" else "put together at random"
    if searched == 1:
        found = f"The only division of {clients:,} client{'s' * (clients > 1)} that fits is {said}"
    elif order[0].total == 0:
        found = f"Any of {searched} divisions of {clients:,} clients will do"
    else:
        found = f"Of {searched} divisions of {clients:,} clients, {kind}, the best is {said}"
    others = sorted((p.row for p in level[1:]), key=lambda row: row.groups)
    if others and order[0].total > 0:
        near = ", ".join(f"{r.groups} ({title(r.topology or '')})" for r in others[:6])
        more = f" and {len(others) - 6} more" if len(others) > 6 else ""
        found += f"; as good within the resolution: G = {near}{more}"
    elif len(order) > 1 and order[0].total > 0:
        second = order[1]
        found += (
            f"; the next, G = {second.row.groups} with {title(second.row.topology or '')}, takes "
            f"{second.total / order[0].total:.3g} times as much"
        )
    target = known["target"]
    common = f" The common target is {target.note}." if target.origin == "derived" else ""
    own = f" Each topology at its own best: {_own_best(order)}." if searched > 1 and order[0].total > 0 else ""
    return f"{found}.{own} {stay} stay as they are.{common}"


def _own_best(order: Sequence[_Priced]) -> str:
    """The number of groups at which each topology takes least; the fewest of those that are equal."""
    by_groups = sorted(order, key=lambda p: p.row.groups)
    leads: dict[str, _Priced] = {}
    for priced in by_groups:
        for topology, total in priced.totals.items():
            if topology not in leads or total < leads[topology].totals[topology]:
                leads[topology] = priced
    return ", ".join(f"{title(t)} G = {p.row.groups}" for t, p in leads.items())
