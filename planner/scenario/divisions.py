"""Divisions of clients into groups, where the number of groups is to be chosen: a scenario for each of them.

Regrouping moves heterogeneity and keeps its sum ``H^2 = zeta^2 + delta^2``, the mean squared distance of a client's
gradient from the whole's. For ``N`` clients put at random into ``G`` groups of ``M = N/G`` the mean of a group is
that of a sample drawn without replacement from a population of variance ``H^2``, so

    E delta^2 = H^2/M * (N - M)/(N - 1) = H^2 (G - 1)/(N - 1)        and        E zeta^2 = H^2 (N - G)/(N - 1),

the second because the sum stays. With groups of sizes ``n_g`` the first is ``sum_g n_g/N * H^2/n_g (N - n_g)/(N - 1)``
where every client counts the same, and so are both. Where label counts are known the groups are chosen instead, each
division by the search of `planner.data.grouping`, if that is cheap.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from planner.data import grouping, grouping_rules, heterogeneity, label_shift
from planner.data.heterogeneity import FromFile, Heterogeneity
from planner.data.label_counts import LabelCounts, read_counts
from planner.errors import ScenarioError
from planner.io.csv_rows import Indices
from planner.io.wording import percent
from planner.scenario.fields import CHOICES, Span
from planner.scenario.sections import resolve_fleet
from planner.scenario.values import Known, Origin, Regrouped, Scenario
from planner.scenario.written import Written

MOST = 48  # divisions that are searched; every N below 5040 has at most so many
FEW = 6  # divisions into groups of one size; where there are fewer, groups that differ by one client are searched too
SPARE = 0.05  # share of their places that may then stay empty, if all groups had the largest size
LARGEST_CHOSEN = 2_000  # clients up to which groups are chosen by label counts
Exact = TypeVar("Exact", float, Fraction)
Grouping = Literal["random", "chosen"]


def expected(total2: Exact, clients: int, groups: int) -> tuple[Exact, Exact]:
    """``(E zeta^2, E delta^2)`` over random divisions into groups.

    Groups are of one size; of any sizes where every client counts the same. ``total2`` is the sum of both.
    """
    others = max(clients - 1, 1)  # one client has nothing to differ from, and then both factors are 0
    return total2 * (clients - groups) / others, total2 * (groups - 1) / others


def divisors(number: int) -> list[int]:
    """All of them, in order."""
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return small + [number // d for d in reversed(small) if d * d != number]


def near_divisors(number: int) -> list[int]:
    """Numbers of groups of the same size up to one, in order.

    That is, where a part `SPARE` of the places at most stays empty if all groups have the largest size.
    """
    groups = np.arange(1, number + 1)
    return list(groups[groups * -(-number // groups) <= (1 + SPARE) * number].tolist())


def ungrouped(path: str) -> Heterogeneity:
    """What label counts say of clients without groups: all as one group; a column of groups is not looked at."""
    table = read_counts(Path(path), grouped=False)
    found = _spread(table, np.zeros(len(table.clients), dtype=np.int64))
    size = len(table.clients)
    measured = FromFile(
        zeta=math.sqrt(max(found.zeta2 - found.noises[1], 0.0)),
        delta=0.0,
        absolute=False,
        labels=int((table.counts > 0).any(axis=0).sum()),
        groups=1,
        clients=(size, size, size),
        ratio=(None, None, None),
        warnings=tuple(table.warnings),
    )
    return Heterogeneity("file", path, measured=measured)


def scenarios(written: Written) -> Scenario:
    """One scenario for every division that is searched; the first, with all of them and the ranges of other counts.

    Raises:
        ScenarioError: where no division fits what was given.
    """
    keys = {symbol: f"fleet.{key}" for symbol, key in CHOICES.items()}
    ranges = {symbol: span for symbol, key in keys.items() if isinstance(span := written.get(key), Span)}
    plain = written.changed({keys[symbol]: span.low for symbol, span in ranges.items()})
    if written.get("fleet.clients") is not None and written.get("fleet.clients_per_group") is None:
        found = _divisions(plain)
        if _as_one(written):
            found = [replace(found[0], grouping="given" if ranges else None)]
            if not ranges:
                return found[0]
    else:
        found = [replace(resolve_fleet(plain), grouping="given")]
        for symbol, whole in (("S1", "G"), ("S2", "M")):
            there = found[0].number(whole)
            if symbol in ranges and ranges[symbol].high > there:
                raise ScenarioError(
                    f"{written.name(keys[symbol])}: {symbol} = {ranges[symbol].high} exceeds the {there} there "
                    f"are. Search up to {there}.",
                    code="E004",
                )
    found = [replace(s, objective_open=False) for s in found]  # a search is by one
    choices = {symbol: (span.low, span.high) for symbol, span in ranges.items()}
    return replace(found[0], divisions=tuple(found), choices=choices)


def _as_one(written: Written) -> bool:
    """Whether nobody needs groups: there are no group servers, and no groups were given."""
    return written.get("network.tiers") == 1 and written.get("fleet.groups") is None


def _divisions(written: Written) -> list[Scenario]:
    """A scenario for every number of groups, the fewest first."""
    clients: int = written.get("fleet.clients")
    form: Heterogeneity | None = written.get("problem.heterogeneity")
    measured = form.measured if form is not None else None
    if form is not None and measured is not None and round(measured.groups * measured.clients[1]) != clients:
        there = round(measured.groups * measured.clients[1])
        raise ScenarioError(
            f"{written.name('fleet.clients')}: {clients} contradicts the {there} client{'s' * (there != 1)} of "
            f"{form.text}. Write {there}.",
            code="E002",
        )
    counts, warnings = _searched(written, clients)
    total2, said, about = _total(written, clients)
    counted = form is not None and measured is not None and form.text.lower().endswith(".csv") and not _as_one(written)
    table = read_counts(Path(form.text), grouped=False) if form is not None and counted else None
    if table is not None and clients > LARGEST_CHOSEN:
        about.append(
            f"Groups are taken at random: choosing them for more than {LARGEST_CHOSEN:,} clients takes long. "
            "`hfl-plan group` does it for one number of groups."
        )
        table = None
    seed = written.get("plan.seed") or 0
    found = []
    for groups in counts:
        kind: Grouping = "random" if table is None else "chosen"
        zeta2, delta2 = expected(total2, clients, groups) if table is None else _chosen(table, groups, seed)
        if table is not None:
            scale2 = total2 / max(measured.zeta**2, 1e-300) if measured is not None else 1.0
            zeta2, delta2 = zeta2 * scale2, delta2 * scale2
        how = f"{clients} clients into {groups_of(clients, groups)} " + (
            "at random, in expectation" if kind == "random" else "chosen by their label counts"
        )
        origin: Origin = "default" if form is None else "given" if form.form == "numbers" else "derived"
        spread = form.spread if form is not None else None  # of one factor on both
        deviations = {
            symbol: Known(math.sqrt(square), origin, note=f"{how}; {said}", spread=spread)
            for symbol, square in (("zeta", zeta2), ("delta", delta2))
        }
        regrouped = Regrouped(groups, round(clients / groups), -(-clients // groups), deviations, kind)
        scenario = resolve_fleet(written, regrouped)
        known = {**scenario.known, "clients": Known(clients, "given", note="N = G M; G is searched")}
        if _as_one(written):
            known = {**scenario.known, "G": Known(groups, "derived", note="all as one, without group servers")}
        found.append(replace(scenario, known=known, warnings=(*about, *warnings, *scenario.warnings)))
    everyone = [s for s in found if not s.partial]
    if everyone and len(everyone) < len(found):  # the two are about different theorems, and orders of rings
        found = [s for s in found if s.partial]
    return found


def groups_of(clients: int, groups: int) -> str:
    """Say how many groups of how many clients these are."""
    least, more = divmod(clients, groups)
    size = f"{least:,}" if not more else f"{least:,} or {least + 1:,}"
    return f"{groups:,} group{'s' * (groups > 1)} of {size}"


def _searched(written: Written, clients: int) -> tuple[list[int], list[str]]:
    """Numbers of groups to look at, and what to say about the others."""
    drawn, of_each = written.of_tiers("drawn")
    groups = written.get("fleet.groups")
    allowed = groups if isinstance(groups, Span) else Span(1, 1 if _as_one(written) else clients)
    least, most = max(drawn or 1, allowed.low), min(clients // (of_each or 1), allowed.high)
    whole = divisors(clients)
    fitting = [g for g in whole if least <= g <= most]
    warnings = []
    if len(whole) < FEW or not fitting:
        near = [g for g in near_divisors(clients) if least <= g <= most]
        if len(near) > len(fitting):
            warnings.append(
                f"{clients} clients divide into groups of one size in {len(fitting) or 'no'} "
                f"way{'s' * (len(fitting) > 1)} that fit{'s' * (len(fitting) < 2)}. So groups that differ by one "
                f"client are searched too, if they fill {percent(1 - SPARE)} of the places of equal ones. For them the "
                "bounds take the mean size, rounded. Time and traffic take all groups to be as large as the largest, "
                "except of FedAvg and sequential learning, which have none."
            )
        if len(near) > MOST:
            near = sorted({near[i] for i in np.searchsorted(near, np.geomspace(near[0], near[-1], MOST) - 1e-9)})
            warnings.append(f"Of these, {len(near)} are searched, so a neighbour of the best may be better.")
        fitting = near
    if not fitting:
        asked = " and ".join(f"{s} = {n}" for s, n in (("S1", drawn), ("S2", of_each)) if n is not None)
        span = f"from {allowed.low} to {allowed.high} groups" if isinstance(groups, Span) else ""
        raise ScenarioError(
            f"{written.name('fleet.clients')}: no division of {clients} clients into groups of one size, or nearly so, "
            f"has room for {' with '.join(part for part in (span, asked) if part)}. "
            f"{'Draw fewer' if asked else 'Allow other numbers'}, or give --groups and --clients-per-group."
        )
    if len(fitting) > MOST:
        places = np.unique(np.round(np.linspace(0, len(fitting) - 1, MOST)).astype(int))
        warnings.append(
            f"{clients} clients divide into groups of one size in {len(fitting)} ways; {len(places)} of them are "
            "searched, so a neighbour of the best may be better."
        )
        fitting = [fitting[i] for i in places]
    return fitting, warnings


def _total(written: Written, clients: int) -> tuple[float, str, list[str]]:
    """``H^2``, what it stands on, and what to say about it."""
    form: Heterogeneity | None = written.get("problem.heterogeneity")
    sigma: float | None = written.get("problem.sigma")
    measured = form.measured if form is not None else None
    if sigma is None:
        sigma = (measured.constants if measured is not None else {}).get("sigma", heterogeneity.PROBLEM["sigma"])
    warnings = list(measured.warnings) if measured is not None else []
    if form is None:
        form = Heterogeneity("preset", "both")
    elif form.text in ("intra", "inter") and not _as_one(written):
        warnings.append(
            "Where groups are free, intra and inter say much the same: the division decides how much of "
            "zeta^2 + delta^2 is intra-group."
        )
    if form.form == "dirichlet":
        zeta, delta = form.deviations(sigma, clients, 1)
        said = f"{form.text}, every client drawn around shares of its own"
    else:
        zeta, delta = form.deviations(sigma, 1, clients)
        said = form.text
        if measured is not None and not measured.absolute:
            warnings.append(
                f"Label counts do not say how large the deviations are: {heterogeneity.assumed_scale(sigma)}."
            )
    total2 = zeta**2 + delta**2
    return total2, f"zeta^2 + delta^2 = {total2:.4g} ({said}) stays", warnings


def _spread(table: LabelCounts, group_of: Indices) -> label_shift.Spread:
    return label_shift.spread(table.shares(), label_shift.noise(table.counts), group_of, np.ones(len(group_of)))


def _chosen(table: LabelCounts, groups: int, seed: int) -> tuple[float, float]:
    """Both squared deviations to expect where the groups are chosen by the counts, in units of label shares."""
    clients = len(table.clients)
    least, most = clients // groups, -(-clients // groups)
    problem, unit = grouping_rules.pose(table.shares(), np.ones(clients), groups, least, most, names=table.clients)
    found = grouping.solve(problem, seed, restarts=1)
    return _spread(table, found.group_of[unit]).if_chosen()
