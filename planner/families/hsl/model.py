"""Rounds, time and traffic of protocols for learning without a trusted cloud.

Hubs and spokes, Epidemic Learning and a server are priced by one theorem with one set of constants, which knows a
protocol by two numbers: the mixing factor and the mean deviation (docs/theory/hsl-mixing.md, Theorem 3;
`sharma2025.thm4-4`, `devos2023.el-local`, `devos2023.el-oracle`). Nothing is ranked by the mixing factor alone. Hubs
are machines, or roles, beside the nodes; a round has one local step of every node, as in the theorem.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hflbounds import get
from hflbounds.mixing import HubSpoke, Oracle, Push
from planner.scenario.fields import Objective
from planner.scenario.network import Compute, Link

Floats = NDArray[np.float64]
Law = HubSpoke | Oracle | Push

BUDGETS = ("n_h", "b_hs", "b_hh", "b_sh")
HUBS = "sharma2025.thm4-4"
LOCAL = "devos2023.el-local"
ORACLE = "devos2023.el-oracle"
MAX_EXACT = 1_000  # nodes of gossip up to which exact expectations are computed
MAX_DRAWN = 64  # nodes up to which the spectral gap is drawn
TERMS = ("start", "noise", "consensus_drift")  # of the theorem, of 1/T to the powers 1, 1/2 and 2/3


@dataclass(frozen=True)
class Budgets:
    """A configuration of hubs and spokes."""

    n_h: int  # number of hubs
    b_hs: int  # nodes that each hub averages
    b_hh: int  # other hubs that each hub sends to
    b_sh: int  # hubs that each node averages

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
class Learning:
    """What the theorem needs beside the mixing."""

    n: int  # number of nodes
    L: float  # L, A, sigma: smoothness, gap of the loss at the start, standard deviation of a gradient
    A: float
    sigma: float
    H: float  # Root mean square gap of the nodes' gradients to their mean

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
    """What a round costs by the clock and in traffic."""

    node: Link  # node, hub: links, whose rates are everybody's own
    hub: Link
    compute: Compute  # time of a local step
    model_bytes: float  # size of one model

    def hubs(self, n: int, b: Mapping[str, Any]) -> Floats:
        """Seconds of a round of hubs and spokes, for configurations in arrays.

        The three stages follow one another, and in each the busiest machine sets the pace. Where draws decide how
        much a machine has to carry, it is the median of the busiest.
        """
        n_h, b_hs, b_hh, b_sh = (np.asarray(b[name], dtype=np.float64) for name in BUDGETS)
        collect = self._stage(b_hs, self.hub.down, busiest(n, n_h, b_hs / n), self.node.up, self.node.latency)
        others = np.maximum(n_h - 1, 1)
        gossip = self._stage(b_hh, self.hub.up, busiest(n_h, n_h - 1, b_hh / others), self.hub.down, self.hub.latency)
        pull = self._stage(b_sh, self.node.down, busiest(n_h, n, b_sh / n_h), self.hub.up, self.node.latency)
        return np.asarray(self.compute.step_time + collect + np.where(b_hh > 0, gossip, 0) + pull)

    def gossip(self, n: int, s: Any, *, regular: bool) -> Floats:
        """Seconds of a round in which every node sends to s others."""
        heard = s if regular else busiest(n, n - 1, s / (n - 1))
        return self.compute.step_time + self._stage(s, self.node.up, heard, self.node.down, self.node.latency)

    def server(self, n: int) -> float:
        """Seconds of a round of a server, over a hub's link, that averages all nodes."""
        up = self._stage(n, self.hub.down, 1, self.node.up, self.node.latency)
        down = self._stage(n, self.hub.up, 1, self.node.down, self.node.latency)
        return float(self.compute.step_time + up + down)

    def _stage(self, a: Any, rate_a: float, b: Any, rate_b: float, latency: float) -> Floats:
        bits = 8 * self.model_bytes
        return np.asarray(np.maximum(bits * np.asarray(a) / rate_a, bits * np.asarray(b) / rate_b) + latency)


def busiest(machines: Any, draws: Any, share: Any) -> Floats:
    """Compute the median of the largest of independent binomial counts, one for each machine; exact up to means of 64.

    Each count stands on some draws, of which a share counts; above, it is by the normal law.
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


def rounds(bound: str, target: float, learning: Learning, **mixing: Any) -> Floats:
    """Find the first round at which the theorem's bound meets a target, for arrays of configurations."""
    terms = get(bound).split(**learning.values, T=1, **mixing)
    start, noise, drift = (terms[name] for name in TERMS)
    return first_round(start, noise, drift, target)


def first_round(start: Any, noise: Any, drift: Any, target: float) -> Floats:
    """Find the first round T at which ``start / T + noise / T^(1/2) + drift / T^(2/3)`` meets a target, for arrays.

    With ``u = T^(-1/6)`` the sum is ``a u^6 + b u^3 + c u^4``, convex and growing, so Newton's steps from above fall to
    the root.
    """
    a, b, c = np.broadcast_arrays(*(np.asarray(one, dtype=np.float64) for one in (start, noise, drift)))
    with np.errstate(divide="ignore", over="ignore"):
        u = np.minimum(np.minimum((target / a) ** (1 / 6), (target / b) ** (1 / 3)), (target / c) ** 0.25)
    for _ in range(60):
        step = (a * u**6 + b * u**3 + c * u**4 - target) / (6 * a * u**5 + 3 * b * u**2 + 4 * c * u**3)
        u = u - step
        if np.all(np.abs(step) <= 1e-15 * u):
            break
    with np.errstate(over="ignore"):
        return np.asarray(np.ceil(u**-6.0 * (1 - 1e-12)))


def rounds_of_gossip(learning: Learning, beta: float, target: float, step: float | None = None) -> float:
    """Rounds of gossip over an overlay until the theorem's bound meets a target, infinite where beta is 1.

    Theorem 3 with a mixing that keeps the mean (kappa = 0), whose consensus ratio is ``beta``, the largest expected
    share of the distance to the mean that a round leaves; a server is beta = 0. The target is a mean squared gradient
    over rounds and nodes. ``step`` is ``lambda`` of the largest step, ``1 / (lambda L)``; by default the least that the
    proof allows at this beta.
    """
    if beta >= 1:
        return math.inf
    c = beta * (1 + 3 * beta) / (1 - beta) ** 2
    largest = max(2.0, math.sqrt(20 * c)) if step is None else step
    spread = learning.sigma**2 + learning.H**2
    start = 4 * largest * learning.L * learning.A
    noise = 8 * math.sqrt(learning.L * learning.A * learning.sigma**2 / learning.n)
    drift = 8 * (10 * c * learning.L**2 * learning.A**2 * spread) ** (1 / 3)
    return float(first_round(start, noise, drift, target))


def reached_by_server(learning: Learning, horizon: float) -> float:
    """Evaluate the bound after so many rounds of a server that averages everybody: gossip in which all hear all."""
    return float(get(ORACLE)(**learning.values, T=horizon, s=learning.n - 1))


@dataclass(frozen=True)
class Gap:
    """Spectral gap of a draw, in the mean, with its 99 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Protocol:
    """A protocol at the common target."""

    protocol: str  # name as people write it
    budgets: str  # budgets in words
    bound_id: str  # id of the bound
    edges: float  # models sent in a round
    # models_of_a_node, models_of_a_hub: models that a node, and a hub or server, sends and receives in a round, in the
    # mean; None where there is none
    models_of_a_node: float
    models_of_a_hub: float | None
    # mixing_factor, mean_deviation_bound: two numbers by which the bound knows the protocol, beta and kappa
    mixing_factor: float
    mean_deviation_bound: float
    # consensus_ratio, mean_deviation: exact values; None where there are too many nodes for them
    consensus_ratio: float | None
    mean_deviation: float | None
    spectral_gap: Gap | None  # spectral gap of a draw; None for many nodes
    rounds: float  # rounds, seconds, bytes: rounds, time and traffic to the target
    seconds: float
    bytes: float
    seconds_per_round: float  # time of a round [s]
    # rounds by the order form, all constants 1, to what a server reaches by it as it meets the target
    order_rounds: float


@dataclass(frozen=True)
class Setting:
    """What all protocols of one answer have in common: the target is a squared gradient, the seed of spectral gaps."""

    learning: Learning
    wires: Wires
    target: float
    seed: int = 0

    def with_hubs(self, budgets: Budgets) -> Protocol:
        """Price hubs and spokes."""
        n, named = self.learning.n, asdict(budgets)
        return self._priced(
            HUBS,
            named,
            HubSpoke(n_s=n, **named),
            float(self.wires.hubs(n, named)),
            exact=budgets.n_h <= MAX_EXACT,
            protocol="hubs and spokes",
            budgets=str(budgets),
            edges=budgets.edges(n),
            models_of_a_node=budgets.b_sh + budgets.n_h * budgets.b_hs / n,
            models_of_a_hub=budgets.b_hs + 2 * budgets.b_hh + n * budgets.b_sh / budgets.n_h,
            mixing_factor=float(get("sharma2025.beta")(n_s=n, **named)),
            mean_deviation_bound=float(get("sharma2025.kappa")(n_s=n, **named)),
        )

    def gossip(self, name: Literal["EL-Local", "EL-Oracle"], most: int, objective: Objective) -> Protocol:
        """Price Epidemic Learning: every node sends to s others, at most so many, by which the objective is least."""
        n, regular = self.learning.n, name == "EL-Oracle"
        sent = np.arange(1, most + 1)
        seconds = self.wires.gossip(n, sent, regular=regular)
        price = {"rounds": np.ones(most), "time": seconds, "traffic": sent}[objective]
        at = int(np.argmin(price * rounds(ORACLE if regular else LOCAL, self.target, self.learning, s=sent)))
        s = at + 1
        factor = float(get(f"devos2023.beta-{'oracle' if regular else 'local'}")(n_s=n, s=s))
        return self._priced(
            ORACLE if regular else LOCAL,
            {"s": s},
            Oracle(n, s) if regular else Push(n, s),
            float(seconds[at]),
            exact=regular or n <= MAX_EXACT,
            protocol=name,
            budgets=f"s = {s}",
            edges=n * s,
            models_of_a_node=2.0 * s,
            models_of_a_hub=None,
            mixing_factor=factor,
            mean_deviation_bound=0.0 if regular else factor / n,
        )

    def server(self) -> Protocol:
        """Price FedAvg, a server that averages everybody and tells everybody: gossip in which all hear all."""
        n = self.learning.n
        found = self._priced(
            ORACLE,
            {"s": n - 1},
            None,
            self.wires.server(n),
            protocol="FedAvg",
            budgets="a server that all trust",
            edges=2.0 * n,
            models_of_a_node=2.0,
            models_of_a_hub=2.0 * n,
            mixing_factor=0.0,
            mean_deviation_bound=0.0,
        )
        return replace(found, consensus_ratio=0.0, mean_deviation=0.0, spectral_gap=Gap(1, 1, 1))

    def _priced(
        self, bound: str, mixing: Mapping[str, int], law: Law | None, seconds: float, exact: bool = True, **own: Any
    ) -> Protocol:
        needed = float(rounds(bound, self.target, self.learning, **mixing))
        return Protocol(
            **own,
            bound_id=bound,
            consensus_ratio=law.consensus_ratio().value if law and exact else None,
            mean_deviation=law.mean_deviation().value if law and exact else None,
            spectral_gap=self._gap(law) if law else None,
            rounds=needed,
            seconds=needed * seconds,
            bytes=needed * own["edges"] * self.wires.model_bytes,
            seconds_per_round=seconds,
            order_rounds=self._by_order(bound, mixing) if law else needed,
        )

    def _by_order(self, bound: str, mixing: Mapping[str, int]) -> float:
        """Rounds by the order form to what a server's reaches as it meets the target by the explicit one."""
        everybody = self.learning.n - 1
        horizon = float(rounds(ORACLE, self.target, self.learning, s=everybody))
        reached = float(get(f"{ORACLE}-order")(**self.learning.values, T=horizon, s=everybody))
        return float(rounds(f"{bound}-order", reached, self.learning, **mixing))

    def _gap(self, law: Law) -> Gap | None:
        if self.learning.n > MAX_DRAWN:
            return None
        found = law.spectral_gap(np.random.default_rng(self.seed), draws=20)
        return Gap(found.value, found.low, found.high)
