"""What ``hfl-plan group`` answers: groups that are alike, the way there from the present ones, and what they buy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from planner.data import grouping, grouping_rules, label_shift
from planner.data.label_counts import LabelCounts, read_costs, read_counts, read_gram, read_pairs
from planner.data.label_shift import Floats, Indices
from planner.decide import regrouping
from planner.decide.advice import ask_sharing, assumptions, sharing_assumed, sharing_turns
from planner.decide.recommendation import SHARING
from planner.decide.verdict import sharing_is_open
from planner.errors import NoAnswerError, ScenarioError
from planner.io import text
from planner.io.answers import Caution, NextStep, Objective, Quantity, Target, Told, Verdict
from planner.io.csv_rows import csv_text
from planner.io.parts import Part, field
from planner.io.wording import counted, input_words, join, names_or, percent, shortened, times, title
from planner.predict.question import ask
from planner.report.document import Column, Document, Kind, Table
from planner.report.page import cell, count, duration, size, told
from planner.scenario import divisions
from planner.scenario.fields import read
from planner.scenario.units import format_amount

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario

LARGEST_SIZE = 10**6  # clients of a group
SHOWN = 5  # moves that are listed in text
AMOUNTS: Mapping[Objective, str] = {"time": "seconds", "traffic": "bytes", "rounds": "rounds"}
SAME = "none"  # gain


class Gain(Part):
    """The best topology before and after regrouping, by one objective."""

    id: str = field("objective")
    before: tuple[str, ...] = field("best topologies in the present groups, or in random ones")
    before_amount: Quantity | None
    after: tuple[str, ...]
    after_amount: Quantity | None
    gain: float | None = field("share of the amount that regrouping saves")


class Grouping(Told):
    """What ``hfl-plan group`` answers."""

    schema: Literal["hfl-plan/group/2"] = "hfl-plan/group/2"
    rows: tuple[Gain, ...]
    group: dict[str, Any] = field("deviations, assignment, moves and effect of the new groups")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What groups are asked for; None for what was not said."""

    groups: int | None = None  # how many
    least: int | None = None  # clients of a group
    most: int | None = None  # clients of a group
    free: bool = False  # whether groups may have any size
    pairs: Path | None = None  # file of rules
    cost: Path | None = None  # file of costs
    cost_weight: str | None = None  # deviation that a unit of mean cost is worth, as written
    weighting: str = "clients"  # ``clients`` or ``samples``
    gram: Path | None = None  # file of inner products of class gradients
    moves: int | None = None  # at most so many from the present groups
    restarts: int | None = None  # searches
    skip_empty: bool = False  # whether to leave out clients without samples
    seed: int = 0  # of the search
    sizes: str | None = None  # ``present``, a size for each group, or bounds, as written

    def checked(self) -> float:
        """The price of a unit of mean cost.

        Raises:
            ScenarioError: for options that cannot be meant.
        """
        text.one_of(self.weighting, ("clients", "samples"), "--weighting")
        if self.free and (self.least, self.most) != (None, None):
            raise ScenarioError(
                "--free: groups of any size have no --min-size or --max-size. Leave one out.", code="E002"
            )
        if self.sizes is not None and (self.free or (self.least, self.most) != (None, None)):
            raise ScenarioError(
                "--sizes: says what --min-size, --max-size and --free say. Leave these out.", code="E002"
            )
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ScenarioError(f"--min-size: {self.least} exceeds --max-size {self.most}. Exchange them.", code="E004")
        if self.cost_weight is not None and self.cost is None:
            raise ScenarioError("--cost-weight: there is no --cost to weigh. Give --cost FILE.")
        return (
            0.0 if self.cost_weight is None else text.number(self.cost_weight, "--cost-weight", least=1e-50, most=1e50)
        )

    @property
    def listed(self) -> tuple[int, ...] | None:
        """A size for each group; None where they are not listed.

        Raises:
            ScenarioError: for text that says no sizes.
        """
        if self.sizes is None or self.sizes.strip() == "present" or ":" in self.sizes:
            return None
        return tuple(_whole(part) for part in self.sizes.split(","))

    def bounds(self, table: LabelCounts, named: Sequence[str]) -> tuple[int | list[int], int | list[int]]:
        """Least and most clients of a group, or of every group, in the order of their names.

        Raises:
            ScenarioError: for sizes that cannot be meant.
        """
        clients, count = len(table.clients), len(named)
        if (listed := self.listed) is not None:
            if len(listed) != count or sum(listed) != clients:
                raise ScenarioError(
                    f"--sizes: {len(listed)} groups of {sum(listed)} clients in all, and {table.source} has {clients} "
                    f"clients for {count}. Make them agree.",
                    code="E002",
                )
            first = dict.fromkeys(table.groups[g] for g in table.group_of[np.argsort(table.lines, kind="stable")])
            order = [named.index(name) for name in first] if set(first) == set(named) else range(count)
            sizes = [0] * count
            for place, size_ in zip(order, listed, strict=True):
                sizes[place] = size_
            return sizes, sizes
        if self.sizes is not None and ":" in self.sizes:
            low, high = (_whole(part) for part in self.sizes.split(":", 1))
            if low > high:
                raise ScenarioError(f"--sizes: {low} exceeds {high}. Write {high}:{low}.", code="E004")
            return low, high
        if self.sizes is not None:
            if len(table.groups) != count or set(table.groups) != set(named):
                raise ScenarioError(
                    f"--sizes present: {table.source} has {len(table.groups)} groups, and {count} are asked for. "
                    f"Write a size for each, or bounds such as {max(clients // count - 1, 1)}:{clients // count + 2}.",
                    code="E002",
                )
            there = dict(zip(table.groups, table.sizes.tolist(), strict=True))
            return [there[name] for name in named], [there[name] for name in named]
        low = 1 if self.free or self.most is not None else clients // count
        high = clients if self.free or self.least is not None else -(-clients // count)
        return self.least if self.least is not None else low, self.most if self.most is not None else high


@dataclass(frozen=True)
class _Task:
    """The clients to be grouped, and the problem that they pose."""

    table: LabelCounts  # their label counts
    absolute: bool  # whether points are of gradients
    points: Floats  # and mass, variances: of clients
    mass: Floats
    variances: Floats
    costs: Floats | None  # clients by groups; None without
    problem: grouping_rules.Problem  # and unit: as `grouping_rules.pose` has them
    unit: Indices
    names: tuple[str, ...]  # of groups
    present: Indices | None  # the present group of every client; None where it is none of them
    start: Indices | None  # and broken: the same by unit, where it keeps the rules; else what it breaks
    broken: str

    @classmethod
    def of(cls, path: Path, wanted: Wanted) -> _Task:
        """Read the files that options name.

        Raises:
            ScenarioError: for options and files that cannot be meant.
            NoAnswerError: where the rules contradict each other.
        """
        price = wanted.checked()
        table = read_counts(path, grouped=False, skip_empty=wanted.skip_empty)
        clients = len(table.clients)
        servers, costs = read_costs(wanted.cost, table.clients) if wanted.cost is not None else ((), None)
        if servers and wanted.groups not in (None, len(servers)):
            raise ScenarioError(
                f"--groups: {wanted.groups} contradicts the {len(servers)} servers of {wanted.cost}, a group each. "
                "Leave it out.",
                code="E002",
            )
        count = len(servers) or wanted.groups or len(wanted.listed or table.groups)
        if not count:
            raise ScenarioError(
                f"--groups: how many? {path} has no column 'group' to take the number from. Give --groups 12."
            )
        if count > clients:
            raise NoAnswerError(
                f"{clients} clients cannot fill {count} groups. Ask for at most {clients}.", code="N006"
            )
        named, present = _present(table, servers, count)
        if wanted.moves is not None and present is None:
            raise ScenarioError(
                f"--moves: moves start from present groups, and {path} has none of the {count} groups asked for. "
                "Leave --moves out."
            )
        rules = read_pairs(wanted.pairs, table.clients) if wanted.pairs is not None else {"must": [], "cannot": []}
        gram = None if wanted.gram is None else read_gram(wanted.gram, table.labels)
        points = table.shares() if gram is None else table.shares() @ label_shift.root(gram)
        mass = table.counts.sum(axis=1) if wanted.weighting == "samples" else np.ones(clients)
        least, most = wanted.bounds(table, named)
        problem, unit = grouping_rules.pose(
            points, mass, count, least, most, together=rules["must"], apart=rules["cannot"], costs=costs, price=price,
            names=table.clients,
        )  # fmt: skip
        start, broken = _start(problem, unit, present, rules)
        if start is not None and len(problem.size) * count > grouping.STEEPEST and wanted.moves is None:
            start, broken = None, "too large for a list; --moves 100 makes one"
        if wanted.moves is not None and start is None:
            raise NoAnswerError(
                f"--moves: the present groups break the rules ({broken}), so single moves cannot start from them. "
                "Leave --moves out."
            )
        variances = label_shift.noise(table.counts, gram)
        return cls(
            table, gram is not None, points, mass, variances, costs, problem, unit, named, present, start, broken
        )

    def solved(self, wanted: Wanted) -> tuple[Indices, list[grouping.Step]]:
        """The new group of every client, and the steps of steepest descent from the present ones."""
        made, walked = [], None
        if self.start is not None:
            walked = grouping.State(self.problem, self.start)
            made = grouping.descent(walked, wanted.moves)
        if walked is not None and wanted.moves is not None:
            return walked.group_of[self.unit], made
        found = grouping.solve(self.problem, wanted.seed, wanted.restarts)
        if walked is not None and walked.value() <= found.value() * (1 + grouping.STILL):
            return walked.group_of[self.unit], made
        chosen = found.group_of[self.unit]
        if self.present is not None and self.costs is None:
            chosen = grouping_rules.renamed(self.present, chosen, self.problem.kinds)
        return chosen, made

    def summary(self, group_of: Indices) -> dict[str, Any]:
        """Both squared deviations of a grouping, what to expect of the clients themselves, and its mean cost."""
        found = label_shift.spread(self.points, self.variances, group_of, self.mass)
        return {
            "zeta2": found.zeta2,
            "delta2": found.delta2,
            "delta2_expected": found.if_chosen()[1],
            "cost": None if self.costs is None else float(self.costs[np.arange(len(group_of)), group_of].mean()),
        }

    def front(self, wanted: Wanted) -> list[dict[str, Any]] | None:
        """Deviation and cost of groupings of which none is better in both; None without costs."""
        if self.costs is None:
            return None
        states = grouping.front(self.problem, wanted.seed, wanted.restarts)
        found = (self.summary(state.group_of[self.unit]) for state in states)
        return [{"delta2": summary["delta2"], "cost": summary["cost"]} for summary in found]


def _whole(text_: str) -> int:
    """Read the size of a group."""
    if not (text_.strip().isdecimal() and 1 <= int(text_) <= LARGEST_SIZE):
        raise ScenarioError(
            f"--sizes: {text_!a:.40} is no size of a group. Write present, a list 4,7,20, or bounds LOW:HIGH."
        )
    return int(text_)


def grouped(
    scenario: Callable[..., Scenario], path: Path, wanted: Wanted, config: Path | None = None
) -> tuple[Grouping, str]:
    """Find a grouping with the least inter-group deviation, the way there from the present one, and what it buys.

    The second result is the file of the counts in the new groups; these take the place of the fleet and the
    heterogeneity of ``config``.

    Raises:
        ScenarioError: for options and files that cannot be meant.
        NoAnswerError: where no grouping keeps the rules.
    """
    task = _Task.of(path, wanted)
    chosen, made = task.solved(wanted)
    present, problem, table = task.present, task.problem, task.table
    after, before = task.summary(chosen), None if present is None else task.summary(present)
    bought, about, unknown = _effect(scenario, path, task, chosen, wanted.seed)
    steps = _steps(made, task.unit, table, task.names, task.start, before["delta2"] if before else 0.0)
    data = {
        "file": str(path),
        "clients": len(table.clients),
        "groups": problem.groups,
        "sizes": {"least": int(problem.least.min()), "most": int(problem.most.max())},
        "size_of": dict(zip(task.names, np.bincount(chosen, minlength=problem.groups).tolist(), strict=True)),
        "weighting": wanted.weighting,
        "unit": "gradients" if task.absolute else "label shares",
        "before": before,
        "after": after,
        "assignment": {c: task.names[g] for c, g in zip(table.clients, chosen.tolist(), strict=True)},
        "moved": None if present is None else int((chosen != present).sum()),
        "moves": steps,
        "most_moves": wanted.moves,
        "moves_from_present": None if task.start is None else len(steps),
        "effect": bought,
        "front": task.front(wanted),
    }
    cautions = (
        *_replaced(path, config), *table.warnings, *_cautions(task, after), *about, *_formulas(table, task.names)
    )  # fmt: skip
    return _answer(path, data, cautions, unknown), _regrouped(table, [task.names[g] for g in chosen])


def _effect(
    read: Callable[..., Scenario], path: Path, task: _Task, chosen: Indices, seed: int
) -> tuple[dict[str, Any] | None, list[str], dict[str, Any]]:
    """What the new groups do to the recommendation, and warnings about that; none where there is no answer.

    The third has the answer's fields about sharing of links, where it is unknown.
    """
    count, table = task.problem.groups, task.table

    def of(kind: regrouping.Kind, group_of: Indices) -> regrouping.Grouped:
        sizes = np.bincount(group_of, minlength=count)
        found = label_shift.spread(task.points, task.variances, group_of, np.ones(len(group_of)))
        net = found.zeta2 - found.noises[1], found.delta2 - found.noises[0]
        zeta2, delta2 = found.if_chosen() if kind == "new" or net[1] < 0 else net
        if kind == "random":
            zeta2, delta2 = divisions.expected(max(sum(net), 0.0), len(group_of), count)
        labels = int((table.counts > 0).any(axis=0).sum())
        return regrouping.Grouped(kind, zeta2, delta2, task.absolute, labels, sizes.tolist())

    def posed(grouped: regrouping.Grouped) -> Scenario:
        groups = [{"clients": int(one)} for one in grouped.sizes]
        fleet = {"fleet.groups": groups, "fleet.weights": "equal"}  # as the deviations are measured
        return read(fleet | {"problem.heterogeneity": grouped.heterogeneity(str(path)), "plan.seed": seed})

    before = of("present", task.present) if task.present is not None else of("random", chosen)
    after = of("new", chosen)
    scenarios = posed(before), posed(after)
    if any(s.divisions for s in scenarios):
        return None, ["The effect on the recommendation is of one plan: give numbers in place of ranges to see it."], {}
    try:
        found = regrouping.effect((before.kind, scenarios[0]), (after.kind, scenarios[1]))
    except NoAnswerError as error:
        return None, [f"The effect on the recommendation is not known: {error}"], {}
    return found, list(scenarios[1].warnings), _unknown(scenarios, (before.kind, after.kind), found)


def _unknown(
    scenarios: tuple[Scenario, Scenario], kinds: tuple[regrouping.Kind, regrouping.Kind], found: dict[str, Any]
) -> dict[str, Any]:
    """The answer's fields about sharing of links: assumption, question, and whether it changes what is best."""
    after = scenarios[1]
    known = assumptions(after, ask(after), None)
    if not sharing_is_open(ask(after), after):
        return {"assumptions": known}
    shared = [one.with_link(sharing="per-server") for one in scenarios]
    other = regrouping.effect((kinds[0], shared[0]), (kinds[1], shared[1]))
    own, beyond = (_gain("time", one).after for one in (found, other))
    return {
        "assumptions": (sharing_assumed(after, "the row by time"), *(one for one in known if one.key != SHARING)),
        "sensitivity": sharing_turns(after, own[0], beyond[:1]) if own else (),
        "next": (ask_sharing(after),),
    }


def _present(table: LabelCounts, servers: Sequence[str], count: int) -> tuple[tuple[str, ...], Indices | None]:
    """Names of the groups, and the present one of every client where it is one of them."""
    if servers:
        number = {name: j for j, name in enumerate(servers)}
        if table.groups and set(table.groups) <= set(servers):
            return tuple(servers), np.array([number[table.groups[g]] for g in table.group_of], dtype=np.int64)
        return tuple(servers), None
    if len(table.groups) == count:
        return table.groups, table.group_of
    return tuple(f"g{i + 1}" for i in range(count)), None


def _start(
    problem: grouping_rules.Problem, unit: Indices, present: Indices | None, rules: Mapping[str, list[tuple[int, int]]]
) -> tuple[Indices | None, str]:
    """The present grouping by unit, where it keeps the rules; else what it breaks."""
    if present is None:
        return None, ""
    sizes = np.bincount(present, minlength=problem.groups)
    if (sizes < problem.least).any() or (sizes > problem.most).any():
        return None, f"sizes are {sizes.min()} to {sizes.max()}, and {problem.span} are asked for"
    if any(present[a] != present[b] for a, b in rules["must"]):
        return None, "a must pair is apart"
    if any(present[a] == present[b] for a, b in rules["cannot"]):
        return None, "a cannot pair is together"
    by_unit = np.zeros(len(problem.size), dtype=np.int64)
    by_unit[unit] = present
    return by_unit, ""


def _steps(
    made: Sequence[grouping.Step],
    unit: Indices,
    table: LabelCounts,
    names: Sequence[str],
    start: Indices | None,
    before: float,
) -> list[dict[str, Any]]:
    if start is None:
        return []
    members: dict[int, list[str]] = {}
    for client, u in zip(table.clients, unit.tolist(), strict=True):
        members.setdefault(u, []).append(client)
    at = start.copy()
    out, gained = [], 0.0
    whole = sum(step.gain for step in made) or 1.0
    for step in made:
        gained += step.gain
        moves = [{"clients": members[u], "from": names[int(at[u])], "to": names[g]} for u, g in step.moves]
        for u, g in step.moves:
            at[u] = g
        out.append(
            {"moves": moves, "gain": step.gain, "gained_share": gained / whole, "left": max(before - gained, 0.0)}
        )
    return out


def _cautions(task: _Task, after: Mapping[str, Any]) -> list[str]:
    out = []
    if after["delta2_expected"] > 1.1 * after["delta2"]:
        out.append(
            "The counts are a sample, and regrouping fits their noise too. For the clients themselves expect delta^2 "
            f"near {after['delta2_expected']:.2g}. `hfl-plan measure --groups-are chosen` takes that into account."
        )
    if task.present is not None and task.start is None:
        out.append(f"No list of moves from the present groups: {task.broken}.")
    if task.problem.most.max() > task.problem.least.min():
        out.append(
            "Groups may differ in size: every client (or sample) counts the same here, while the theorems let every "
            "group count the same."
        )
    return out


def _replaced(path: Path, config: Path | None) -> list[str]:
    """Say what of a scenario file the counts take the place of."""
    file = read(config)[0] if config is not None else {}
    there = {"fleet": ("groups", "clients", "clients_per_group", "tiers", "list"), "problem": ("heterogeneity",)}
    found = [key for name, keys in there.items() for key in keys if key in (file.get(name) or {})]
    return [f"{config}: {join(found)} {'is' if len(found) == 1 else 'are'} those of {path} here."] if found else []


def _formulas(table: LabelCounts, names: Sequence[str]) -> list[str]:
    """What a spreadsheet may make of names that are written as they are, so that they can be read again."""
    if not any(name.startswith(("=", "+", "-", "@")) for name in (*table.clients, *table.labels, *names)):
        return []
    return ["Some names start with =, +, - or @: a spreadsheet may take them for formulas. Import them as text."]


def _regrouped(table: LabelCounts, group_of: Sequence[str]) -> str:
    columns = np.argsort(table.columns)
    counts = table.counts[:, columns].astype(np.int64).tolist()
    lines = np.argsort(table.lines, kind="stable").tolist()
    rows = ((table.clients[i], group_of[i], *counts[i]) for i in lines)
    return csv_text([("client", "group", *(table.labels[j] for j in columns)), *rows])


# ---------------------------------------------------------------- the answer


def _answer(path: Path, data: Mapping[str, Any], cautions: Sequence[str], unknown: Mapping[str, Any]) -> Grouping:
    effect = data["effect"]
    rows = tuple(_gain(objective, effect) for objective in AMOUNTS) if effect else ()
    target = effect and effect["target"]
    few = _enough(data) if data["moves"] and len(data["moves"]) > 1 else None
    moves, why = ((), "") if few is None else (("--moves", str(few)), "gives 90 % of the gain, and ")
    following = [NextStep(argv=("...", *moves, "--output", "regrouped.csv"), why=f"{why}writes the counts")]
    assumed = unknown.get("assumptions", ())
    if any(one.unit for one in assumed):
        following.append(NextStep(argv=("...", "--config", "SCENARIO.toml"), why="your links, model and plan"))
    return Grouping(
        objective=effect["objective"] if effect else "",
        target=target and Target(value=target["value"], metric=target["quantity"], defined_by=_defined(target)),
        verdict=_verdict(data, rows if effect and effect["objective"] in AMOUNTS else ()),
        rows=rows,
        group=dict(data),
        warnings=tuple(Caution(text=text) for text in cautions),
        details={
            **dict(_details(data, cautions)),
            "assumed": tuple(f"{input_words(one.key)}: {format_amount(one.value, one.unit)}." for one in assumed),
        },
        next=(*unknown.get("next", ()), *following),
        assumptions=assumed,
        sensitivity=unknown.get("sensitivity", ()),
    )


def _enough(data: Mapping[str, Any]) -> int | None:
    """How many moves give 90 % of the gain; None where there are none, or where they were limited."""
    if not data["moves"] or data["most_moves"] is not None:
        return None
    return next(i for i, step in enumerate(data["moves"], 1) if step["gained_share"] >= 0.9 - 1e-12)


def _defined(target: Mapping[str, Any]) -> str:
    if target["origin"] == "derived":
        return f"{target['note']}, before"
    return f"a {target['quantity']} of {target['value']:.3g}"


def _gain(objective: Objective, effect: Mapping[str, Any]) -> Gain:
    """The least amount before and after, over all topologies."""
    key = AMOUNTS[objective]
    found = []
    for part in (effect["before"], effect["after"]):
        amounts = {row["topology"]: row[key] for row in part["ranking"] if row[key] is not None}
        least = min(amounts.values(), default=None)
        best = tuple(name for name, amount in amounts.items() if least is not None and amount <= least)
        found.append((best, None if least is None else Quantity(least)))
    (before, was), (after, now) = found
    gain = None if was is None or now is None or not was else 1 - now / was
    return Gain(id=objective, before=before, before_amount=was, after=after, after_amount=now, gain=gain)


def _verdict(data: Mapping[str, Any], rows: Sequence[Gain]) -> Verdict:
    if not rows:
        factor = data["before"]["delta2"] / max(data["after"]["delta2"], 1e-14) if data["before"] else None
        text = "The new groups differ as little as can be."
        if factor is not None:
            text = (
                f"The new groups differ {factor:.2g} times less (delta^2)."
                if factor < 1e12
                else "The new groups are alike."
            )
        return Verdict(status="measured", text=text)
    effect = data["effect"]
    asked = next(row for row in rows if row.id == effect["objective"])
    if not asked.before and asked.after:
        text = f"Worth regrouping: {names_or(asked.after)} then reaches the target, which no topology did before."
        return Verdict(status="best", best=asked.after, text=text)
    if asked.gain is None:
        return Verdict(status="unreachable", text="No topology reaches the target, before or after.")
    less = {"time": "less time", "traffic": "less traffic", "rounds": "fewer rounds"}[asked.id]
    if effect["resolution"] < asked.gain < 1 - 1 / effect["error"]:
        off = f"the predictor's error, {times(effect['error'])}"
        gain = times(1 / (1 - asked.gain))
        text = f"Toss-up for {asked.id}: a gain of {gain}, with {names_or(asked.after)}, is below {off}."
        return Verdict(status="toss-up", best=tuple(dict.fromkeys((*asked.before, *asked.after))), text=text)
    if asked.gain > effect["resolution"]:
        text = f"Worth regrouping for {asked.id}: {percent(asked.gain)} {less}, with {names_or(asked.after)}."
        return Verdict(status="best", best=asked.after, text=text)
    stays = f"{names_or(asked.after)} stays best" if set(asked.before) & set(asked.after) else "the best changes"
    same = (
        "at the same cost" if abs(asked.gain) <= effect["resolution"] else f"and {percent(-asked.gain)} more is needed"
    )
    text = f"Not worth regrouping for {asked.id}: {stays}, {same}."
    return Verdict(status="not-worth-it", best=asked.before, text=text)


def document(answer: Grouping) -> Document:
    """Lay a grouping out."""
    shown = {"time": duration, "traffic": size, "rounds": count}

    def cells(row: Gain) -> Iterator[str]:
        for best, amount in ((row.before, row.before_amount), (row.after, row.after_amount)):
            yield names_or(best) if len(best) == 1 else f"tie of {len(best)}" if best else "none"
            yield cell(shown[row.id], amount)
        yield "-" if row.gain is None else SAME if abs(row.gain) < 0.005 else f"{percent(row.gain)}"

    columns = (Column("best by"), Column("before"), Column("", "number"), Column("after"), Column("", "number"),
               Column("gain", "number"))  # fmt: skip
    table = Table(columns, tuple((row.id, *cells(row)) for row in answer.rows), indent=2, apart=False)
    return told(answer, table if answer.rows else (), kind="Groups", facts=facts(answer.group))


def facts(d: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say how large the new groups are, how they differ, and how many moves lead there, each with its label."""
    sizes, before, after = d["size_of"].values(), d["before"], d["after"]
    of = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    yield "Groups", f"{counted(d['clients'], 'client')} in {counted(d['groups'], 'group')} of {of}"
    if before is None:
        if d["effect"]:
            yield "Before", f"{counted(d['groups'], 'random group')}, as the file does not have these groups"
        yield "Measured", f"between groups delta^2 {after['delta2']:.2g}; within zeta^2 {after['zeta2']:.2g}"
    else:
        pairs = (
            (word, before[key], after[key])
            for word, key in (("between groups delta^2", "delta2"), ("within zeta^2", "zeta2"))
        )
        changed = "; ".join(f"{word} {was:.2g} -> {now:.2g}" for word, was, now in pairs)
        yield "Measured", f"{changed}, with the sampling noise that `measure` takes off"
    if d["moves"]:
        most = _enough(d)
        share = "" if most is None else "; the first gives 90 %" if most == 1 else f"; the first {most} give 90 %"
        moves = "1 move or swap" if len(d["moves"]) == 1 else f"{len(d['moves'])} moves and swaps"
        yield "Moves", f"{moves}, {d['moved']} of {counted(d['clients'], 'client')}{share}"


def _details(d: Mapping[str, Any], cautions: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Sentences of ``--explain``, by section."""
    effect = d["effect"]
    if effect:
        then = {row["topology"]: row for row in effect["after"]["ranking"]}
        kinds: tuple[tuple[str, Kind], ...] = (("rounds", "count"), ("seconds", "duration"), ("bytes", "size"))
        yield (
            "topologies",
            tuple(
                f"{title(row['topology'])}: "
                + ", ".join(
                    f"{Column('', kind).text(row[key])} -> {Column('', kind).text(then[row['topology']][key])}"
                    for key, kind in kinds
                )
                for row in effect["before"]["ranking"]
            ),
        )
        where = effect["changes_below_delta"]
        if where is not None:
            yield "break-even", (f"The best topology changes where delta falls below about {where:.2g}.",)
    yield "moves", tuple(map(_said, d["moves"] or ()))
    if d["front"]:
        yield "front", tuple(f"delta^2 {p['delta2']:.4g} at mean cost {p['cost']:.4g}" for p in d["front"])
    yield "warnings", tuple(cautions)


def _said(step: Mapping[str, Any]) -> str:
    moved = " and ".join(
        f"{', '.join(map(shortened, move['clients'][:3]))}{' ...' if len(move['clients']) > 3 else ''} "
        f"from {shortened(move['from'])} to {shortened(move['to'])}"
        for move in step["moves"]
    )
    return f"{moved}: {percent(step['gained_share'])}"
