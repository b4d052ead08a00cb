"""How many hubs, and which budgets, for learning without a trusted cloud: a search under two limits at once.

Hubs and spokes, Epidemic Learning and a server are priced by one theorem with one set of constants, which knows a
protocol by two numbers: the mixing factor and the mean deviation (docs/theory/hsl-mixing.md, Theorem 3;
`sharma2025.thm4-4`, `devos2023.el-local`, `devos2023.el-oracle`). Nothing is ranked by the mixing factor alone. Hubs
are machines, or roles, beside the nodes; a round has one local step of every node, as in the theorem.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hflbounds import get
from hflbounds.mixing import HubSpoke, Oracle, Push
from planner.errors import NoAnswerError, ScenarioError
from planner.scenario.network import Compute, Link

Floats = NDArray[np.float64]
Objective = Literal["rounds", "time", "bytes"]

HUBS = "sharma2025.thm4-4"
LOCAL = "devos2023.el-local"
ORACLE = "devos2023.el-oracle"
MOST_NODES = 10_000
LONGEST = 1e15  # rounds; more than that is never reached
MOST_CASES = 2_000_000  # configurations that are evaluated before the grid is thinned
BLOCK = 200_000  # configurations at a time
MOST_EXACT = 1_000  # nodes of gossip up to which exact expectations are computed
MOST_DRAWN = 64  # nodes up to which the spectral gap is drawn
_SHARES = np.unique([*range(1, 9), *np.floor(1.5 ** np.arange(24)).astype(int)])  # of nodes that a hub averages
EXPONENTS = {"start": 1.0, "noise": 0.5, "consensus_drift": 2 / 3}  # of 1/T in the terms of the theorem


@dataclass(frozen=True)
class Budgets:
    """A configuration of hubs and spokes.

    Attributes:
        n_h: hubs.
        b_hs: nodes that each hub averages.
        b_hh: other hubs that each hub sends to.
        b_sh: hubs that each node averages.
    """

    n_h: int
    b_hs: int
    b_hh: int
    b_sh: int

    def edges(self, n: int) -> int:
        """Models sent in a round of n nodes."""
        return self.n_h * (self.b_hs + self.b_hh) + n * self.b_sh

    def without_a_hub(self) -> Budgets | None:
        """The same after a hub has failed, its partners choosing among those left; None if it was the only one."""
        left = self.n_h - 1
        if not left:
            return None
        return replace(self, n_h=left, b_hh=min(self.b_hh, left - 1), b_sh=min(self.b_sh, left))

    def __str__(self) -> str:
        return f"n_h = {self.n_h}, b_hs = {self.b_hs}, b_hh = {self.b_hh}, b_sh = {self.b_sh}"


@dataclass(frozen=True)
class Limits:
    """What a round may cost.

    Attributes:
        edges: models sent in all; None for no limit.
        per_node: models that a node sends and receives, in the mean over draws; None for no limit.
        per_hub: the same for a hub.
        hubs: least and most of them.
        fixed: budgets that are not searched, by name.
    """

    edges: int | None = None
    per_node: float | None = None
    per_hub: float | None = None
    hubs: tuple[int, int] = (2, MOST_NODES)
    fixed: Mapping[str, int] | None = None

    def of(self, name: str) -> int | None:
        """A budget that is not searched."""
        return (self.fixed or {}).get(name)


@dataclass(frozen=True)
class Learning:
    """What the theorem needs beside the mixing.

    Attributes:
        n: nodes.
        L, A, sigma: smoothness, gap of the loss at the start, standard deviation of a gradient.
        H: root mean square gap of the nodes' gradients to their mean.
    """

    n: int
    L: float
    A: float
    sigma: float
    H: float

    @property
    def values(self) -> dict[str, float]:
        """By the names of the vocabulary."""
        return {"n_s": self.n, "L": self.L, "A": self.A, "sigma": self.sigma, "H": self.H}

    @property
    def first_bound(self) -> float:
        """``2 L A``, which bounds the squared gradient at the start."""
        return 2 * self.L * self.A


@dataclass(frozen=True)
class Wires:
    """What a round costs by the clock and in traffic.

    Attributes:
        node, hub: links; rates are everybody's own.
        compute: of a local step.
        model_bytes: of one model.
    """

    node: Link
    hub: Link
    compute: Compute
    model_bytes: float

    def hubs(self, n: int, b: Mapping[str, Any]) -> Floats:
        """Seconds of a round of hubs and spokes, for configurations in arrays.

        The three stages follow one another, and in each the busiest machine sets the pace. Where draws decide how
        much a machine has to carry, it is the median of the busiest.
        """
        n_h, b_hs, b_hh, b_sh = (np.asarray(b[name], dtype=np.float64) for name in ("n_h", "b_hs", "b_hh", "b_sh"))
        collect = self._stage(b_hs, self.hub.down, busiest(n, n_h, b_hs / n), self.node.up, self.node.latency)
        others = np.maximum(n_h - 1, 1)
        gossip = self._stage(b_hh, self.hub.up, busiest(n_h, n_h - 1, b_hh / others), self.hub.down, self.hub.latency)
        pull = self._stage(b_sh, self.node.down, busiest(n_h, n, b_sh / n_h), self.hub.up, self.node.latency)
        return np.asarray(self.compute.step_time + collect + np.where(b_hh > 0, gossip, 0) + pull)

    def gossip(self, n: int, s: int, *, regular: bool) -> float:
        """Seconds of a round in which every node sends to s others."""
        heard = float(s) if regular else float(busiest(n, n - 1, s / (n - 1)))
        return self.compute.step_time + float(
            self._stage(s, self.node.up, heard, self.node.down, self.node.latency if s else 0.0)
        )

    def server(self, n: int) -> float:
        """Seconds of a round of a server, over a hub's link, that averages all nodes."""
        up = self._stage(n, self.hub.down, 1, self.node.up, self.node.latency)
        down = self._stage(n, self.hub.up, 1, self.node.down, self.node.latency)
        return float(self.compute.step_time + up + down)

    def _stage(self, a: Any, rate_a: float, b: Any, rate_b: float, latency: float) -> Floats:
        bits = 8 * self.model_bytes
        return np.asarray(np.maximum(bits * np.asarray(a) / rate_a, bits * np.asarray(b) / rate_b) + latency)


def busiest(machines: Any, draws: Any, share: Any) -> Floats:
    """Median of the largest of independent binomial counts, one for each machine.

    Args:
        machines: how many counts.
        draws: that each stands on.
        share: probability that a draw counts.

    Returns:
        whole numbers, exact up to means of 64, by the normal law above.
    """
    k, m, p = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(machines, draws, share))
    shape = k.shape
    k, m, p = k.reshape(-1), m.reshape(-1), np.clip(p.reshape(-1), 0, 1)
    found = np.where(p >= 1, m, 0.0)
    level = np.log(0.5) / np.maximum(k, 1)  # of the logarithm of one count's distribution function
    large = (m * p > 64) & (p < 1)
    if large.any():
        quantile = {value: NormalDist().inv_cdf(math.exp(value)) for value in np.unique(level[large]).tolist()}
        z = np.array([quantile[value] for value in level[large].tolist()])
        mean = m[large] * p[large]
        found[large] = np.minimum(np.ceil(mean + z * np.sqrt(mean * (1 - p[large]))), m[large])
    open_ = np.flatnonzero(~large & (p > 0) & (p < 1) & (m > 0))
    mass = m[open_] * np.log1p(-p[open_])  # of counts of 0
    below = mass.copy()
    count = 0
    while open_.size:
        done = (below >= level[open_]) | (count >= m[open_])
        found[open_[done]] = count
        open_, mass, below = open_[~done], mass[~done], below[~done]
        chance = (m[open_] - count) / (count + 1) * p[open_] / (1 - p[open_])
        mass = mass + np.log(chance)
        below = np.logaddexp(below, mass)
        count += 1
    return found.reshape(shape)


# ---------------------------------------------------------------- rounds


def rounds(bound: str, target: float, learning: Learning, **mixing: Any) -> Floats:
    """The first round at which the theorem's bound meets a target, for arrays of configurations.

    With ``u = T^(-1/6)`` the bound is ``a u^6 + b u^3 + c u^4``, convex and growing, so Newton's steps from above fall
    to the root.
    """
    terms = get(bound).split(**learning.values, T=1, **mixing)
    a, b, c = (np.asarray(terms[name], dtype=np.float64) for name in EXPONENTS)
    a, b, c = np.broadcast_arrays(a, b, c)
    with np.errstate(divide="ignore", over="ignore"):
        u = np.minimum(np.minimum((target / a) ** (1 / 6), (target / b) ** (1 / 3)), (target / c) ** 0.25)
    for _ in range(60):
        step = (a * u**6 + b * u**3 + c * u**4 - target) / (6 * a * u**5 + 3 * b * u**2 + 4 * c * u**3)
        u = u - step
        if np.all(np.abs(step) <= 1e-15 * u):
            break
    with np.errstate(over="ignore"):
        return np.asarray(np.ceil(u**-6.0 * (1 - 1e-12)))


def reached_by_server(learning: Learning, horizon: float) -> float:
    """The bound after so many rounds of a server that averages everybody: gossip in which all hear all."""
    return float(get(ORACLE)(**learning.values, T=horizon, s=learning.n - 1))


# ---------------------------------------------------------------- the search


@dataclass(frozen=True, eq=False)
class Search:
    """Configurations within the limits.

    Attributes:
        best: of each number of hubs that has one, the best by the objective, as arrays by name: n_h, b_hs, b_hh, b_sh,
            rounds, seconds (of a round), edges, total (the objective).
        tried: configurations that were evaluated.
        exhaustive: whether that was all there are.
        by_factor: the configuration with the smallest mixing factor, and its rounds.
    """

    best: Mapping[str, Floats]
    tried: int
    exhaustive: bool
    by_factor: tuple[Budgets, float]

    @property
    def first(self) -> int:
        """Index of the best of all; of equals the one with fewest hubs."""
        return int(np.argmin(self.best["total"]))

    def budgets(self, i: int) -> Budgets:
        """A configuration."""
        return Budgets(*(int(self.best[name][i]) for name in ("n_h", "b_hs", "b_hh", "b_sh")))


def search(learning: Learning, limits: Limits, wires: Wires, target: float, objective: Objective) -> Search:
    """The best configuration for each number of hubs.

    More of ``b_hs`` lowers both the mixing factor and the mean deviation, so by rounds only the most that the limits
    allow is looked at; by time and bytes, fewer too. All numbers are tried if there are at most `MOST_CASES`; else
    numbers above 32 are taken from a grid of ratio 1.1, and the neighbours of the best are tried after it.

    Raises:
        NoAnswerError: if nothing fits into the limits, or not even the best is ever there.
    """
    counts, exhaustive = _counts(learning.n, limits, objective)
    found: list[dict[str, Floats]] = []
    tried = 0
    factor = (math.inf, Budgets(1, 1, 0, 1), math.nan)
    for block in _blocks(_cases(learning.n, limits, counts, objective, thinned=not exhaustive)):
        rows, best_factor = _evaluated(block, learning, wires, target, objective)
        tried += len(block)
        factor = min(factor, best_factor, key=lambda one: one[0])
        found.append(_best_of_each(rows))
    if not found:
        raise NoAnswerError(_nothing_fits(learning.n, limits))
    best = _best_of_each({name: np.concatenate([part[name] for part in found]) for name in found[0]})
    if not best["rounds"].min() <= LONGEST:
        raise NoAnswerError(f"--target: {target:.4g} takes more than {LONGEST:g} rounds. Give a larger one.")
    result = Search(best, tried, exhaustive, (factor[1], factor[2]))
    return result if exhaustive else _refined(result, learning, limits, wires, target, objective)


def _counts(n: int, limits: Limits, objective: Objective) -> tuple[list[int], bool]:
    """Numbers of hubs to try, and whether all configurations are few enough to be tried."""
    least, most = limits.hubs
    if limits.edges is not None:
        most = min(most, max((limits.edges - n) // (1 if least == 1 else 2), 1))
    if limits.per_node is not None:
        most = min(most, int((limits.per_node - 1) * n))  # every hub averages a node or more
    most = min(most, MOST_NODES)
    every = range(least, most + 1)
    size = sum(_most_hh(n, n_h, limits) * _most_sh(n, n_h, limits) for n_h in every)
    size *= 1 if objective == "rounds" else len(_SHARES)
    return (list(every), True) if size <= MOST_CASES else (_grid(least, most), False)


def _most_sh(n: int, n_h: int, limits: Limits) -> int:
    most = n_h
    if limits.edges is not None:
        most = min(most, (limits.edges - 2 * n_h + (n_h == 1)) // n)
    if limits.per_node is not None:
        most = min(most, int(limits.per_node - n_h / n))
    if limits.per_hub is not None:
        most = min(most, int((limits.per_hub - 1) * n_h / n))
    return max(most, 0)


def _most_hh(n: int, n_h: int, limits: Limits) -> int:
    most = n_h - 1
    if limits.edges is not None:
        most = min(most, (limits.edges - n) // n_h - 1)
    if limits.per_hub is not None:
        most = min(most, int((limits.per_hub - 1 - n / n_h) / 2))
    return max(most, 0)


def _grid(least: int, most: int) -> list[int]:
    """All numbers up to 32, then in steps of a tenth, and the last."""
    found = list(range(least, min(most, 32) + 1))
    value = max(least, 32)
    while value < most:
        value = min(value + max(value // 10, 1), most)
        found.append(value)
    return sorted(set(found))


def _cases(
    n: int, limits: Limits, counts: list[int], objective: Objective, *, thinned: bool
) -> Iterator[NDArray[np.int64]]:
    """Configurations within the limits, for one number of hubs after the other: rows of n_h, b_hs, b_hh, b_sh."""
    for n_h in counts:
        hh = _numbers(limits.of("b_hh"), min(1, n_h - 1), _most_hh(n, n_h, limits), thinned)
        sh = _numbers(limits.of("b_sh"), 1, _most_sh(n, n_h, limits), thinned)
        b_hh, b_sh = (part.reshape(-1) for part in np.meshgrid(hh, sh, indexing="ij"))
        room = _room(n, n_h, b_hh, b_sh, limits)
        if (given := limits.of("b_hs")) is not None:
            room = np.where(room >= given, given, 0)
        rows = np.stack([np.full_like(room, n_h), room, b_hh, b_sh], axis=1)[room >= 1]
        if objective != "rounds" and given is None and len(rows):
            rows = _fewer(rows)
        if len(rows):
            yield rows


def _numbers(given: int | None, least: int, most: int, thinned: bool) -> NDArray[np.int64]:
    if given is not None:
        return np.array([given] if least <= given <= most or (given == least) else [], dtype=np.int64)
    return np.array(_grid(least, most) if thinned else range(least, most + 1), dtype=np.int64)


def _room(n: int, n_h: int, b_hh: Any, b_sh: Any, limits: Limits) -> NDArray[np.int64]:
    """The largest ``b_hs`` within the limits; below 1 where there is none."""
    room = np.full(np.broadcast(b_hh, b_sh).shape, n, dtype=np.int64)
    slack = 1e-9  # of quotients that are whole numbers
    if limits.edges is not None:
        room = np.minimum(room, (limits.edges - n * b_sh) // n_h - b_hh)
    if limits.per_node is not None:
        room = np.minimum(room, np.floor((limits.per_node - b_sh) * n / n_h + slack).astype(np.int64))
    if limits.per_hub is not None:
        room = np.minimum(room, np.floor(limits.per_hub - 2 * b_hh - n * b_sh / n_h + slack).astype(np.int64))
    return np.asarray(room)


def _fewer(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Also with less of ``b_hs``: all numbers up to 8, and a grid of ratio 1.5 up to the most."""
    some = np.repeat(rows, len(_SHARES), axis=0)
    some[:, 1] = np.tile(_SHARES, len(rows))
    kept = some[some[:, 1] < np.repeat(rows[:, 1], len(_SHARES))]
    return np.concatenate([rows, kept])


def _blocks(parts: Iterator[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    waiting: list[NDArray[np.int64]] = []
    size = 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= BLOCK:
            yield np.concatenate(waiting)
            waiting, size = [], 0
    if waiting:
        yield np.concatenate(waiting)


def _evaluated(
    rows: NDArray[np.int64], learning: Learning, wires: Wires, target: float, objective: Objective
) -> tuple[dict[str, Floats], tuple[float, Budgets, float]]:
    """Rounds and costs of configurations, and the one with the smallest mixing factor."""
    named = {name: rows[:, i].astype(np.float64) for i, name in enumerate(("n_h", "b_hs", "b_hh", "b_sh"))}
    needed = rounds(HUBS, target, learning, **named)
    edges = named["n_h"] * (named["b_hs"] + named["b_hh"]) + learning.n * named["b_sh"]
    seconds = wires.hubs(learning.n, named)
    price = {"rounds": np.ones_like(edges), "time": seconds, "bytes": edges}[objective]
    factors = get("sharma2025.beta")(n_s=learning.n, **named)
    least = int(np.argmin(factors))
    best = (float(np.asarray(factors)[least]), Budgets(*rows[least].tolist()), float(needed[least]))
    return {**named, "rounds": needed, "edges": edges, "seconds": seconds, "total": needed * price}, best


def _best_of_each(rows: dict[str, Floats]) -> dict[str, Floats]:
    """The best row of every number of hubs; of equals the one with fewest edges."""
    order = np.lexsort((rows["edges"], rows["total"], rows["n_h"]))
    first = order[np.flatnonzero(np.diff(rows["n_h"][order], prepend=-1))]
    return {name: values[first] for name, values in rows.items()}


def _refined(
    found: Search, learning: Learning, limits: Limits, wires: Wires, target: float, objective: Objective
) -> Search:
    """The neighbours of the best, until none is better."""
    best, tried = dict(found.best), found.tried
    for _ in range(100):
        at = Search(best, tried, False, found.by_factor)
        here = at.budgets(at.first)
        rows = _neighbours(here, learning.n, limits, objective)
        if not len(rows):
            return at
        near, _ = _evaluated(rows, learning, wires, target, objective)
        tried += len(rows)
        before = float(best["total"].min())
        best = _best_of_each({name: np.concatenate([best[name], near[name]]) for name in best})
        if float(best["total"].min()) >= before:
            break
    return Search(best, tried, False, found.by_factor)


def _neighbours(here: Budgets, n: int, limits: Limits, objective: Objective) -> NDArray[np.int64]:
    least, most = limits.hubs
    rows = []
    steps = (-2, -1, 0, 1, 2)
    for n_h in {here.n_h + d for d in (*steps, -8, -4, 4, 8)}:
        if not max(least, 2) <= n_h <= most:
            continue
        for b_hh in [given] if (given := limits.of("b_hh")) is not None else [here.b_hh + d for d in steps]:
            for b_sh in [given] if (given := limits.of("b_sh")) is not None else [here.b_sh + d for d in steps]:
                if not (1 <= b_hh <= n_h - 1 and 1 <= b_sh <= n_h):
                    continue
                room = int(_room(n, n_h, np.int64(b_hh), np.int64(b_sh), limits))
                given = limits.of("b_hs")
                wanted = [given] if given is not None else [room]
                if objective != "rounds" and given is None:
                    wanted += [here.b_hs + d for d in steps]
                rows += [(n_h, b_hs, b_hh, b_sh) for b_hs in set(wanted) if 1 <= b_hs <= room]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def _nothing_fits(n: int, limits: Limits) -> str:
    least = limits.hubs[0]
    small = Budgets(least, 1, min(1, least - 1), 1)
    said = [f"no configuration of {least} or more hubs fits into"]
    parts = []
    if limits.edges is not None:
        parts.append(f"{limits.edges} models a round (the least is {small.edges(n)})")
    if limits.per_node is not None:
        parts.append(f"{limits.per_node:g} models a node")
    if limits.per_hub is not None:
        parts.append(f"{limits.per_hub:g} models a hub")
    if limits.fixed:
        parts.append(", ".join(f"{name} = {value}" for name, value in limits.fixed.items()))
    return f"{' '.join(said)} {' and '.join(parts)}. Allow more, or fix less."


def check(n: int, limits: Limits) -> None:
    """Refuse what cannot be a search.

    Raises:
        ScenarioError: naming the limit.
    """
    if n < 2:
        raise ScenarioError(f"--nodes: {n} node has nobody to learn with. Give at least 2.")
    if n > MOST_NODES:
        raise ScenarioError(f"--nodes: {n} nodes are more than the {MOST_NODES:,} that are searched. Give fewer.")
    if limits.edges is None and limits.per_node is None and limits.per_hub is None:
        raise ScenarioError(
            "--edges: how much may a round send? Give --edges (models in all), --per-node or --per-hub (models that "
            "one sends and receives)."
        )
    least, most = limits.hubs
    fixed = limits.fixed or {}
    if (b := fixed.get("b_hs")) is not None and b > n:
        raise ScenarioError(f"--b-hs: a hub cannot average {b} of {n} nodes. Give at most {n}.")
    for name, spare, of in (
        ("b_hh", 1, "a hub cannot send to {} of {} others"),
        ("b_sh", 0, "a node cannot average {} of {} hubs"),
    ):
        b, there = fixed.get(name), most - spare
        if b is not None and b > there:
            fact = of.format(b, there)
            raise ScenarioError(f"--{name.replace('_', '-')}: {fact}. Give at most {there}, or more --hubs.")
    if fixed.get("b_hh") == 0 and most > 1:
        raise ScenarioError(
            "--b-hh: with several hubs that never talk, models need not come together, and the theorem is silent. "
            "Give at least 1."
        )
    if least > most:
        raise ScenarioError(f"--hubs: from {least} to {most} there is none. Exchange them.")


# ---------------------------------------------------------------- one protocol


@dataclass(frozen=True)
class Protocol:
    """A protocol at the common target.

    Attributes:
        name: as people write it.
        what: its budgets, in words.
        bound: id.
        edges: models sent in a round.
        node, hub: models that a node, and a hub or server, sends and receives in a round, in the mean; None where
            there is none.
        factor, kappa: mixing factor and mean deviation of the bound.
        ratio, move: exact consensus ratio and mean deviation; None where there are too many nodes for them.
        gap: spectral gap of a draw, in the mean, with its 99 % interval; None for many nodes.
        rounds, seconds, bytes: to the target; seconds_per_round of one.
        order_rounds: rounds by the order form, all constants 1, to what a server reaches by it as it meets the target.
    """

    name: str
    what: str
    bound: str
    edges: float
    node: float
    hub: float | None
    factor: float
    kappa: float
    ratio: float | None
    move: float | None
    gap: tuple[float, float, float] | None
    rounds: float
    seconds: float
    bytes: float
    seconds_per_round: float
    order_rounds: float


def with_hubs(budgets: Budgets, learning: Learning, wires: Wires, target: float, seed: int) -> Protocol:
    """Hubs and spokes."""
    n, named = learning.n, {name: getattr(budgets, name) for name in ("n_h", "b_hs", "b_hh", "b_sh")}
    law = HubSpoke(n_s=n, **named)
    exact = None if budgets.n_h > MOST_EXACT else law
    seconds = float(wires.hubs(n, named))
    needed = float(rounds(HUBS, target, learning, **named))
    return Protocol(
        name="hubs and spokes",
        what=str(budgets),
        bound=HUBS,
        edges=budgets.edges(n),
        node=budgets.b_sh + budgets.n_h * budgets.b_hs / n,
        hub=budgets.b_hs + 2 * budgets.b_hh + n * budgets.b_sh / budgets.n_h,
        factor=float(get("sharma2025.beta")(n_s=n, **named)),
        kappa=float(get("sharma2025.kappa")(n_s=n, **named)),
        ratio=None if exact is None else exact.consensus_ratio().value,
        move=None if exact is None else exact.mean_deviation().value,
        gap=_gap(law, n, seed),
        rounds=needed,
        seconds=needed * seconds,
        bytes=needed * budgets.edges(n) * wires.model_bytes,
        seconds_per_round=seconds,
        order_rounds=_by_order(HUBS, learning, target, **named),
    )


def gossip(
    name: Literal["EL-Local", "EL-Oracle"], s: int, learning: Learning, wires: Wires, target: float, seed: int
) -> Protocol:
    """Epidemic Learning: every node sends to s others."""
    n, regular = learning.n, name == "EL-Oracle"
    law = Oracle(n, s) if regular else Push(n, s)
    bound = ORACLE if regular else LOCAL
    factor = float(get(f"devos2023.beta-{'oracle' if regular else 'local'}")(n_s=n, s=s))
    exact = law if regular or n <= MOST_EXACT else None
    seconds = wires.gossip(n, s, regular=regular)
    needed = float(rounds(bound, target, learning, s=s))
    return Protocol(
        name=name,
        what=f"s = {s}",
        bound=bound,
        edges=n * s,
        node=2.0 * s,
        hub=None,
        factor=factor,
        kappa=0.0 if regular else factor / n,
        ratio=None if exact is None else exact.consensus_ratio().value,
        move=None if exact is None else exact.mean_deviation().value,
        gap=_gap(law, n, seed),
        rounds=needed,
        seconds=needed * seconds,
        bytes=needed * n * s * wires.model_bytes,
        seconds_per_round=seconds,
        order_rounds=_by_order(bound, learning, target, s=s),
    )


def server(learning: Learning, wires: Wires, target: float) -> Protocol:
    """FedAvg: a server averages everybody and tells everybody."""
    n = learning.n
    needed, seconds = float(rounds(ORACLE, target, learning, s=n - 1)), wires.server(n)
    return Protocol(
        name="FedAvg",
        what="a server that all trust",
        bound=ORACLE,
        edges=2.0 * n,
        node=2.0,
        hub=2.0 * n,
        factor=0.0,
        kappa=0.0,
        ratio=0.0,
        move=0.0,
        gap=(1.0, 1.0, 1.0),
        rounds=needed,
        seconds=needed * seconds,
        bytes=needed * 2 * n * wires.model_bytes,
        seconds_per_round=seconds,
        order_rounds=needed,
    )


def _by_order(bound: str, learning: Learning, target: float, **mixing: Any) -> float:
    """Rounds by the order form of a bound, to what a server's reaches when it meets the target by the explicit one."""
    everybody = learning.n - 1
    horizon = float(rounds(ORACLE, target, learning, s=everybody))
    reached = float(get(f"{ORACLE}-order")(**learning.values, T=horizon, s=everybody))
    return float(rounds(f"{bound}-order", reached, learning, **mixing))


def _gap(law: HubSpoke | Oracle | Push, n: int, seed: int) -> tuple[float, float, float] | None:
    if n > MOST_DRAWN:
        return None
    found = law.spectral_gap(np.random.default_rng(seed), draws=20)
    return found.value, found.low, found.high
