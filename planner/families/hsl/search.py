"""How many hubs, and which budgets: a search under limits in all, for each node and for each hub."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hflbounds import get
from planner.errors import NoAnswerError
from planner.families.hsl.model import BUDGETS, HUBS, Budgets, Floats, Setting, rounds
from planner.scenario.fields import Objective

Rows = NDArray[np.int64]

MAX_NODES = 10_000
MAX_ROUNDS = 1e15  # more than that is never reached
MAX_CASES = 2_000_000  # configurations that are evaluated before the grid is thinned
BLOCK = 200_000  # configurations at a time
CLOSE = 1.1  # times the least at most: of such numbers of hubs every number of nodes is tried
SHARES = np.unique([*range(1, 9), *np.floor(1.5 ** np.arange(24)).astype(int)])  # of nodes that a hub averages


@dataclass(frozen=True)
class Limits:
    """What a round may cost; None for no limit."""

    edges: int | None = None  # models sent in all
    # per_node, per_hub: models that a node, and a hub, sends and receives, in the mean over draws
    per_node: float | None = None
    per_hub: float | None = None
    hubs: tuple[int, int] = (2, MAX_NODES)  # least and most of them
    fixed: Mapping[str, int] = field(default_factory=dict)  # budgets that are not searched, by name


@dataclass(frozen=True, eq=False)
class Search:
    """Configurations within the limits."""

    # best configuration by the objective for each number of hubs that has one, as arrays by name: n_h, b_hs, b_hh,
    # b_sh, rounds, seconds (of a round), edges, total (the objective)
    best: Mapping[str, Floats]
    tried: int  # number of configurations that were evaluated
    exhaustive: bool  # whether that was all there are, but for numbers of nodes that a hub averages
    every: bool  # whether these too were all tried, where they matter
    alone: bool  # whether they were for numbers of hubs close to the best
    by_factor: tuple[Budgets, float]  # configuration with the smallest mixing factor, and its rounds

    @property
    def first(self) -> int:
        """Index of the best of all; of equals the one with fewest hubs."""
        return int(np.argmin(self.best["total"]))

    def budgets(self, i: int) -> Budgets:
        """The configuration at an index."""
        return Budgets(*(int(self.best[name][i]) for name in BUDGETS))


def search(setting: Setting, limits: Limits, objective: Objective) -> Search:
    """Find the best configuration for each number of hubs.

    More of ``b_hs`` lowers both the mixing factor and the mean deviation, so by rounds only the most that the limits
    allow is looked at; by time and traffic, fewer too. All numbers are tried if there are at most `MAX_CASES`; else
    numbers above 32 are taken from a grid of ratio 1.1, and the neighbours of the best are tried after it. Every
    ``b_hs`` is tried for a single number of hubs, and at last for those close to the best.

    Raises:
        NoAnswerError: If nothing fits into the limits, or not even the best is ever there.
    """
    space = _Space(setting, limits, objective)
    counts, exhaustive = space.counts()
    found: list[dict[str, Floats]] = []
    tried, least = 0, math.inf
    by_factor = (Budgets(1, 1, 0, 1), math.nan)
    for block in _blocks(space.cases(counts, thinned=not exhaustive)):
        rows = space.evaluated(block)
        factors = np.asarray(get("sharma2025.beta")(n_s=space.n, **{name: rows[name] for name in BUDGETS}))
        at = int(np.argmin(factors))
        if factors[at] < least:
            least, by_factor = float(factors[at]), (Budgets(*block[at].tolist()), float(rows["rounds"][at]))
        tried += len(block)
        found.append(_best_of_each(rows))
    if not found:
        raise NoAnswerError(space.nothing_fits())
    best = _best_of_each(_joined(found))
    if not best["rounds"].min() <= MAX_ROUNDS:
        raise NoAnswerError(f"--target: {setting.target:.4g} takes more than {MAX_ROUNDS:g} rounds. Give a larger one.")
    every = "b_hs" in limits.fixed or objective == "rounds" or bool(np.isin(range(1, space.n + 1), space.shares).all())
    near = [int(n_h) for n_h in best["n_h"][best["total"] <= best["total"].min() * CLOSE]]
    if (alone := space.few(*near)) and not every:
        ones = [(n_h, replace(space, limits=replace(limits, hubs=(n_h, n_h)))) for n_h in near]
        own = [one.evaluated(rows) for n_h, one in ones for rows in one.cases([n_h], thinned=False)]
        tried += sum(len(rows["n_h"]) for rows in own)
        best = _best_of_each(_joined([best, *own]))
    result = Search(best, tried, exhaustive, every, alone, by_factor)
    return result if exhaustive else space.refined(result)


@dataclass(frozen=True)
class _Space:
    """Configurations of a setting within limits, as rows of n_h, b_hs, b_hh, b_sh."""

    setting: Setting
    limits: Limits
    objective: Objective

    @property
    def n(self) -> int:
        return self.setting.learning.n

    @property
    def most(self) -> tuple[float, float, float]:
        """The most models in all, of a node and of a hub; infinite where there is no limit."""
        limits = self.limits.edges, self.limits.per_node, self.limits.per_hub
        edges, per_node, per_hub = (math.inf if limit is None else limit for limit in limits)
        return edges, per_node, per_hub

    @property
    def shares(self) -> Rows:
        """Numbers of nodes that a hub averages to try: all for a single number of hubs, as there are few of them."""
        least, most = self.limits.hubs
        return np.arange(1, self.n + 1) if least == most and self.few(least) else SHARES

    def few(self, *numbers: int) -> bool:
        """Whether all configurations of these numbers of hubs are few enough to be tried."""
        return sum(self.most_hh(n_h) * self.most_sh(n_h) for n_h in numbers) * self.n <= MAX_CASES

    def counts(self) -> tuple[list[int], bool]:
        """Numbers of hubs to try, and whether all configurations are few enough to be tried."""
        edges, per_node, _ = self.most
        least, most = self.limits.hubs
        by_edges = max((edges - self.n) / (1 if least == 1 else 2), 1)
        most = int(min(most, MAX_NODES, by_edges, (per_node - 1) * self.n))  # every hub averages a node or more
        size = sum(self.most_hh(n_h) * self.most_sh(n_h) for n_h in range(least, most + 1))
        size *= 1 if self.objective == "rounds" else len(self.shares)
        return _numbers(None, least, most, thinned=size > MAX_CASES).tolist(), size <= MAX_CASES

    def most_sh(self, n_h: int) -> int:
        """The most hubs that a node can average."""
        (edges, per_node, per_hub), n = self.most, self.n
        return max(int(min(n_h, (edges - 2 * n_h + (n_h == 1)) / n, per_node - n_h / n, (per_hub - 1) * n_h / n)), 0)

    def most_hh(self, n_h: int) -> int:
        """The most hubs that a hub can send to."""
        (edges, _, per_hub), n = self.most, self.n
        return max(int(min(n_h - 1, (edges - n) / n_h - 1, (per_hub - 1 - n / n_h) / 2)), 0)

    def room(self, n_h: int, b_hh: Any, b_sh: Any) -> Rows:
        """The largest ``b_hs`` within the limits; below 1 where there is none."""
        (edges, per_node, per_hub), n = self.most, self.n
        by_edges, by_node = (edges - n * b_sh) / n_h - b_hh, (per_node - b_sh) * n / n_h
        room = np.minimum(np.minimum(by_edges, by_node), per_hub - 2 * b_hh - n * b_sh / n_h)
        return np.asarray(np.floor(np.minimum(room, n) + 1e-9), dtype=np.int64)  # quotients may be whole numbers

    def cases(self, counts: list[int], *, thinned: bool) -> Iterator[Rows]:
        """Configurations within the limits, for one number of hubs after the other."""
        given = self.limits.fixed.get
        for n_h in counts:
            hh = _numbers(given("b_hh"), min(1, n_h - 1), self.most_hh(n_h), thinned)
            sh = _numbers(given("b_sh"), 1, self.most_sh(n_h), thinned)
            b_hh, b_sh = (part.reshape(-1) for part in np.meshgrid(hh, sh, indexing="ij"))
            room = self.room(n_h, b_hh, b_sh)
            if (b_hs := given("b_hs")) is not None:
                room = np.where(room >= b_hs, b_hs, 0)
            rows = np.stack([np.full_like(room, n_h), room, b_hh, b_sh], axis=1)[room >= 1]
            if self.objective != "rounds" and b_hs is None:
                shares = self.shares
                some = np.repeat(rows, len(shares), axis=0)  # also with less of b_hs, on a grid of ratio 1.5
                some[:, 1] = np.tile(shares, len(rows))
                rows = np.concatenate([rows, some[some[:, 1] < np.repeat(rows[:, 1], len(shares))]])
            if len(rows):
                yield rows

    def evaluated(self, rows: Rows) -> dict[str, Floats]:
        """Rounds and costs of configurations."""
        setting, n = self.setting, self.n
        named = dict(zip(BUDGETS, rows.T.astype(np.float64), strict=True))
        needed = rounds(HUBS, setting.target, setting.learning, **named)
        edges = named["n_h"] * (named["b_hs"] + named["b_hh"]) + n * named["b_sh"]
        seconds = setting.wires.hubs(n, named)
        price = {"rounds": np.ones_like(edges), "time": seconds, "traffic": edges}[self.objective]
        return {**named, "rounds": needed, "edges": edges, "seconds": seconds, "total": needed * price}

    def refined(self, found: Search) -> Search:
        """Try the neighbours of the best, until none is better."""
        for _ in range(100):
            rows = self.neighbours(found.budgets(found.first))
            if not len(rows):
                break
            best = _best_of_each(_joined([found.best, self.evaluated(rows)]))
            before, found = found, replace(found, best=best, tried=found.tried + len(rows))
            if best["total"].min() >= before.best["total"].min():
                break
        return found

    def neighbours(self, here: Budgets) -> Rows:
        """Configurations within the limits that differ by little in each budget."""
        near, given = (-2, -1, 0, 1, 2), self.limits.fixed.get
        least, most = self.limits.hubs
        rows = []
        for n_h in {here.n_h + d for d in (*near, -8, -4, 4, 8)}:
            if not max(least, 2) <= n_h <= most:
                continue
            around = {name: [here_ + d for d in near] for name, here_ in asdict(here).items()}
            around |= {name: [value] for name, value in self.limits.fixed.items()}
            for b_hh, b_sh in itertools.product(around["b_hh"], around["b_sh"]):
                if not (1 <= b_hh <= n_h - 1 and 1 <= b_sh <= n_h):
                    continue
                room = int(self.room(n_h, np.int64(b_hh), np.int64(b_sh)))
                some = around["b_hs"] if given("b_hs") is not None or self.objective != "rounds" else []
                wanted = {*some, *([room] if given("b_hs") is None else [])}
                rows += [(n_h, b_hs, b_hh, b_sh) for b_hs in wanted if 1 <= b_hs <= room]
        return np.array(rows, dtype=np.int64).reshape(-1, 4)

    def nothing_fits(self) -> str:
        """A sentence that says so, with the limits and what each has to be at least."""
        limits, n, (edges, per_node, _) = self.limits, self.n, self.most
        given = limits.fixed.get
        b_hs, b_sh = given("b_hs", 1), given("b_sh", 1)
        least = max(limits.hubs[0], given("b_hh", 0) + 1, b_sh)
        b_hh = given("b_hh", min(1, least - 1))
        few = Budgets(least, b_hs, b_hh, b_sh)
        hubs = min(limits.hubs[1], (edges - n * b_sh) / (b_hs + b_hh), (per_node - b_sh) * n / b_hs)  # the most
        needs = (
            ("edges", "models a round", few.edges(n)),
            ("per_node", "models a node", b_sh + least * b_hs / n),
            ("per_hub", "models a hub", b_hs + 2 * b_hh + n * b_sh / max(least, math.floor(hubs))),
        )
        said, allow = [], []
        for name, what, need in needs:
            if (limit := getattr(limits, name)) is None:
                continue
            said.append(f"{limit:g} {what} (the least is {_rounded_up(need):g})")
            if limit < need:
                allow.append(f"--{name.replace('_', '-')} {_rounded_up(need):g} or more")
        said += [f"{name} = {value}" for name, value in limits.fixed.items()]
        way = f"Allow {' and '.join(allow)}, or fix less." if allow else "Fix less."
        return f"no configuration of {least} or more hubs fits into {', '.join(said)}. {way}"


def _rounded_up(number: float) -> float:
    return math.ceil(number * 100 - 1e-9) / 100


def _numbers(given: int | None, least: int, most: int, thinned: bool) -> Rows:
    """The number that is given, where it fits; else all, or all up to 32, then in steps of a tenth, and the last."""
    if given is not None:
        return np.array([given] if least <= given <= most or given == least else [], dtype=np.int64)
    if not thinned:
        return np.arange(least, most + 1)
    found = list(range(least, min(most, 32) + 1))
    value = max(least, 32)
    while value < most:
        value = min(value + max(value // 10, 1), most)
        found.append(value)
    return np.unique(np.array(found, dtype=np.int64))


def _blocks(parts: Iterator[Rows]) -> Iterator[Rows]:
    waiting: list[Rows] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= BLOCK:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _joined(parts: Sequence[Mapping[str, Floats]]) -> dict[str, Floats]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _best_of_each(rows: Mapping[str, Floats]) -> dict[str, Floats]:
    """The best row of every number of hubs; of equals the one with fewest edges."""
    order = np.lexsort((rows["edges"], rows["total"], rows["n_h"]))
    first = order[np.flatnonzero(np.diff(rows["n_h"][order], prepend=-1))]
    return {name: values[first] for name, values in rows.items()}
