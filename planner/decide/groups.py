"""Clients to be put into groups: what is asked for, the problem that it poses, its solution and the moves to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from planner.data import grouping, grouping_rules, label_shift
from planner.data.label_counts import LabelCounts, read_costs, read_counts, read_gram, read_pairs
from planner.data.label_shift import Floats, Indices
from planner.errors import NoAnswerError, ScenarioError
from planner.io import text

LARGEST_SIZE = 10**6  # clients of a group


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
        """The price of a unit of mean cost."""
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
        """A size for each group; None where they are not listed."""
        if self.sizes is None or self.sizes.strip() == "present" or ":" in self.sizes:
            return None
        return tuple(_whole(part) for part in self.sizes.split(","))

    def bounds(self, table: LabelCounts, named: Sequence[str]) -> tuple[int | list[int], int | list[int]]:
        """Least and most clients of a group, or of every group, in the order of their names."""
        clients, count = len(table.clients), len(named)
        if (listed := self.listed) is not None:
            if len(listed) != count or sum(listed) != clients:
                raise ScenarioError(
                    f"--sizes: {len(listed)} groups of {sum(listed)} clients in all, and {table.source} has {clients} "
                    f"clients for {count}. Make them agree.",
                    code="E002",
                )
            by_line = table.group_of[np.argsort(table.lines, kind="stable")] if table.groups else ()
            first = dict.fromkeys(table.groups[g] for g in by_line)
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
class Task:
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
    def of(cls, path: Path, wanted: Wanted) -> Task:
        """Read the files that options name.

        Raises:
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
                f"--groups: how many? {path} has no column 'group' to take the number from. Give it, "
                f"such as --groups {round(clients**0.5)}."
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
        if start is not None and wanted.moves is None and not grouping.is_quickly_descended(problem):
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
        apart = self.points - np.average(self.points, axis=0, weights=self.mass)
        rounding = grouping.STILL * float(self.mass @ (apart**2).sum(axis=1))  # of groups that are all alike
        if walked is not None and walked.value() <= found.value() * (1 + grouping.STILL) + rounding:
            return walked.group_of[self.unit], made
        chosen = found.group_of[self.unit]
        if self.present is not None and self.costs is None:
            chosen = grouping_rules.renamed(self.present, chosen, self.problem.kinds)
        return chosen, made

    def summary(self, group_of: Indices, *, chosen: bool = True) -> dict[str, Any]:
        """Both squared deviations of a grouping, what to expect of the clients themselves, and its mean cost.

        Of a grouping that was not chosen by the counts that is what `measure` says.
        """
        found = label_shift.spread(self.points, self.variances, group_of, self.mass)
        zeta2, delta2 = found.if_chosen() if chosen else reversed(found.net)
        return {
            "zeta2": found.zeta2,
            "delta2": found.delta2,
            "zeta2_expected": zeta2,
            "delta2_expected": delta2,
            "cost": None if self.costs is None else float(self.costs[np.arange(len(group_of)), group_of].mean()),
        }

    def front(self, wanted: Wanted) -> list[dict[str, Any]] | None:
        """Deviation and cost of groupings of which none is better in both; None without costs."""
        if self.costs is None:
            return None
        states = grouping.front(self.problem, wanted.seed, wanted.restarts)
        found = (self.summary(state.group_of[self.unit]) for state in states)
        return [{"delta2": summary["delta2"], "cost": summary["cost"]} for summary in found]

    def moved(self, made: Sequence[grouping.Step], before: float) -> list[dict[str, Any]]:
        """Name the moves of steps from the present groups, with the share of the gain and the deviation left after."""
        if self.start is None:
            return []
        members: dict[int, list[str]] = {}
        for client, u in zip(self.table.clients, self.unit.tolist(), strict=True):
            members.setdefault(u, []).append(client)
        at = self.start.copy()
        out, gained = [], 0.0
        whole = sum(step.gain for step in made) or 1.0
        for step in made:
            gained += step.gain
            moves = [
                {"clients": members[u], "from": self.names[int(at[u])], "to": self.names[g]} for u, g in step.moves
            ]
            for u, g in step.moves:
                at[u] = g
            out.append(
                {"moves": moves, "gain": step.gain, "gained_share": gained / whole, "left": max(before - gained, 0.0)}
            )
        return out


def _whole(text_: str) -> int:
    """Read the size of a group."""
    if not (text_.strip().isdecimal() and 1 <= int(text_) <= LARGEST_SIZE):
        raise ScenarioError(
            f"--sizes: {text_!a:.40} is no size of a group. Write present, a list 4,7,20, or bounds LOW:HIGH."
        )
    return int(text_)


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
        now = " to ".join(dict.fromkeys(str(end) for end in (sizes.min(), sizes.max())))
        return None, f"they have {now} clients, and new ones {problem.span}: --sizes present keeps theirs"
    if any(present[a] != present[b] for a, b in rules["must"]):
        return None, "a must pair is apart"
    if any(present[a] == present[b] for a, b in rules["cannot"]):
        return None, "a cannot pair is together"
    by_unit = np.zeros(len(problem.size), dtype=np.int64)
    by_unit[unit] = present
    return by_unit, ""
