"""Is it worth the airtime to attach clients to several edge servers (HHFL) and not to one (HFL)?

Both are priced by the same bound with explicit constants, `hflbounds.hhfl-two-level` (docs/theory/hhfl-overlap.md,
Theorem 3) in the resolution of its Section 5: every eigenvector of the coverage's edge round keeps its own part of the
gradients' disagreement. With ``lambda_k`` the eigenvalues, ``e_k`` the energy of the gradients along them, ``e_0`` what
an edge round erases, and ``c(x) = E - 1 + E (x + ... + x^(Ge - 1))``,

    drift = sqrt((E - 1)^2 e_0 + sum_k c(lambda_k)^2 e_k) + sqrt(c(lambda_2^2)) sigma

and the step error is ``X = sigma^2 sum_i p_i^2 + 6 L Gamma + 2 rho^2 drift^2`` with ``rho = 1 + (Ge E - 1)/alpha``. The
schedule ``beta/(t + alpha)`` is the best for each coverage. Every client counts the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hflbounds import get
from hflbounds.core.functions import FOR_ARRAYS
from hflbounds.coverage import Coverage
from planner.data.coverage import Floats, Layout
from planner.errors import NoAnswerError
from planner.scenario.network import Compute, Network

BOUND = "hflbounds.hhfl-two-level"
DRIFT = "hflbounds.hhfl-drift"
ERASED = 1e-12  # eigenvalues below this are zeros that were rounded
NEWTON = 7  # steps to a root; six give it to the last digit
BETAS = 1 + np.geomspace(1e-3, 1, 40)  # beta mu: above 1 for the theorem, and more than 2 never pays
MAX_ROUNDS = 1e15  # cloud rounds; more than that is never reached

Upload = Literal["each", "once"]
Objective = Literal["airtime", "time", "traffic"]
PRICE: Mapping[Objective, str] = {"airtime": "airtime_seconds", "time": "seconds", "traffic": "bytes"}  # of an `Option`
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Gaps:
    """How far the clients' gradients are from each other."""

    zeta: float  # zeta, delta: root mean square gaps within and between the clients of home servers
    delta: float
    # gradients of the clients less their mean, where they are known (then both gaps are theirs); else the gaps are
    # taken to point in all directions alike, and energies are exact means over directions
    points: Floats | None = None

    @classmethod
    def of_points(cls, points: Floats, home: NDArray[np.int64]) -> Gaps:
        """The gaps that gradients have."""
        centred = points - points.mean(axis=0)
        counts = np.bincount(home)
        means = np.zeros((len(counts), centred.shape[1]))
        np.add.at(means, home, centred)
        between = (means / np.maximum(counts, 1)[:, None])[home]
        square = [float((part**2).sum() / len(centred)) for part in (centred - between, between)]
        return cls(math.sqrt(square[0]), math.sqrt(square[1]), centred)

    @property
    def squares(self) -> Floats:
        """Factors of energies: zeta^2 and delta^2, or 1 and 0 where gradients are known."""
        return np.array([self.zeta**2, self.delta**2] if self.points is None else [1.0, 0.0])


@dataclass(frozen=True)
class Task:
    """What is trained, in the terms of the theorem."""

    E: int  # local steps in an edge round
    Ge: int  # edge rounds in a cloud round
    sigma: float  # standard deviation of a stochastic gradient
    mu: float  # mu, L: strong convexity and smoothness of the losses
    L: float
    A: float  # loss above its minimum at the start
    Gamma: float  # F* less the mean of the clients' own minima

    @property
    def Delta0(self) -> float:
        """The most that the squared distance to the optimum can be at the start: strong convexity, ``2 A/mu``."""
        return 2 * self.A / self.mu

    @property
    def first_bound(self) -> float:
        """The most that the loss above its minimum can be at the start, by smoothness: ``L Delta0/2``."""
        return self.L * self.Delta0 / 2


@dataclass(frozen=True, eq=False)
class Modes:
    """What an edge round does to the disagreement of gradients; arrays may be stacked along leading axes."""

    passed: Floats  # eigenvalues, largest first, one for each server
    # energies, of shape (..., 2, servers), of gaps within and between homes, each of size 1 (or of known gradients)
    energy: Floats
    erased: Floats  # rest of them, of shape (..., 2), along eigenvectors of eigenvalue 0

    @property
    def lambda2(self) -> Floats:
        """The second eigenvalue."""
        return self.passed[..., 1] if self.passed.shape[-1] > 1 else np.zeros(self.passed.shape[:-1])


def modes(layout: Layout, gaps: Gaps) -> Modes:
    """Find the modes of one layout, which keeps them: only where gradients are known do they depend on the gaps."""
    key = "modes" if gaps.points is None else gaps
    if (found := layout.known.get(key)) is None:
        found = layout.known[key] = Moments.of(layout.links, layout.home, gaps).modes()
    return found


@dataclass(frozen=True, eq=False)
class Moments:
    """What energies and eigenvalues follow from, on the side of the servers; the first three may be stacked."""

    loads: Floats  # shares of the clients, of shape (servers,)
    products: Floats  # ``A' P A`` of the weights A and the shares P
    sums: Floats  # ``A' P x``, of shape (servers, columns), of gradients x, or of indicators of the homes
    columns: Floats  # x itself, of shape (clients, columns)
    homes: Floats  # shares of the homes; none where gradients are known
    total: Floats  # sizes that energies add up to
    clients: int  # number of the clients

    @classmethod
    def of(cls, links: Mask, home: NDArray[np.int64], gaps: Gaps) -> Moments:
        """Sum up the links of a layout."""
        clients = len(links)
        weights = links / links.sum(axis=1, keepdims=True)
        if gaps.points is None:
            used, places = np.unique(home, return_inverse=True)
            columns = np.eye(len(used))[places]
            homes = columns.mean(axis=0)
            total = np.array([float(len(used) < clients), float(len(used) > 1)])
        else:
            columns, homes = gaps.points, np.zeros(0)
            total = np.array([float((gaps.points**2).sum() / clients), 0.0])
        shared = weights.T / clients
        return cls(weights.mean(axis=0), shared @ weights, shared @ columns, columns, homes, total, clients)

    def modes(self) -> Modes:
        """Find the modes."""
        used = self.loads > ERASED  # a server without clients takes no part
        root = np.where(used, 1 / np.sqrt(np.where(used, self.loads, 1)), 0)
        scale = root[..., :, None] * root[..., None, :]
        values, vectors = np.linalg.eigh(self.products * scale)
        values, vectors = np.clip(values[..., ::-1], 0, 1), vectors[..., ::-1]
        crosses = (cross * scale for cross in self._crosses())
        found = [np.einsum("...nk,...nm,...mk->...k", vectors, cross, vectors) for cross in crosses]
        kept = values > ERASED
        energy = np.where(kept[..., None, :], np.stack(found, -2), 0) / np.where(kept, values, 1)[..., None, :]
        energy = np.maximum(energy, 0)
        return Modes(np.where(kept, values, 0), energy, np.maximum(self.total - energy.sum(-1), 0))

    def _crosses(self) -> tuple[Floats, Floats]:
        """``A' P C P A`` for the covariances C between clients of gaps of size 1."""
        loads, sums = self.loads, self.sums
        if not self.homes.size:
            known = sums @ np.swapaxes(sums, -1, -2)
            return known, np.zeros_like(known)
        grouped = (sums / self.homes) @ np.swapaxes(sums, -1, -2)
        inside = (self.products - grouped) / max(self.clients - len(self.homes), 1)
        between = (grouped - loads[..., :, None] * loads[..., None, :]) / max(len(self.homes) - 1, 1)
        return inside, between


def passed_on(E: int, Ge: int, eigenvalues: Any) -> Floats:
    """Count the steps whose disagreement is there at the end of a cloud round: ``c`` of the module."""
    return np.asarray((E - 1) + E * FOR_ARRAYS["geometric"](eigenvalues, float(Ge - 1)))


def drift(found: Modes, squares: Any, task: Task, sigma: Any) -> Floats:
    """Compute the drift of the module over the learning rate; ``squares`` of shape (..., 2) multiply the energies."""
    squares = np.asarray(squares)
    energy = (squares[..., None] * found.energy).sum(-2)
    rates = passed_on(task.E, task.Ge, found.passed)
    gaps = (task.E - 1) ** 2 * (squares * found.erased).sum(-1) + (rates**2 * energy).sum(-1)
    return np.asarray(np.sqrt(gaps) + np.sqrt(passed_on(task.E, task.Ge, found.lambda2**2)) * sigma)


@dataclass(frozen=True, eq=False)
class Schedules:
    """The best ``beta/(t + alpha)`` by the bound ``L/2 max(kappa X, Delta0 alpha)/(t + alpha)``, for many cases.

    For every beta, both ``kappa X(alpha)`` falls and ``Delta0 alpha`` grows in alpha, so the best alpha, for any target
    below the first bound, is where they meet, or the least that the theorem allows. Arrays have the betas last.
    """

    half: float  # L/2
    beta: Floats
    alpha: Floats
    Z: Floats

    @classmethod
    def of(cls, drifts: Any, p2: float, task: Task, **changes: Any) -> Schedules:
        """Find them for drifts of any shape; sigma, mu, A and Gamma may be arrays of that shape too."""
        known = {
            n: np.asarray(changes.get(n, getattr(task, n)), dtype=np.float64)[..., None]
            for n in ("sigma", "mu", "A", "Gamma")
        }
        start = 2 * known["A"] / known["mu"]
        beta = BETAS / known["mu"]
        kappa = beta**2 / (BETAS - 1)
        fixed = p2 * known["sigma"] ** 2 + 6 * task.L * known["Gamma"]
        spread = 2 * np.asarray(drifts, dtype=np.float64)[..., None] ** 2
        first = float(task.Ge * task.E - 1)
        # kappa X(alpha) - start alpha is convex and falls, so that Newton's steps from where it is positive never pass
        # its root: from kappa X(infinity)/start, or from where the last term of the square alone is as large
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # without noise and drift the root is 0
            flat, steep = kappa * (fixed + spread) / start, kappa * spread * first**2 / start
            root = np.maximum(flat, np.cbrt(steep))
            for _ in range(NEWTON):
                one = 1 + first / root
                over = kappa * (fixed + spread * one**2) - start * root
                slope = start + 2 * kappa * spread * one * first / root**2
                further = root + over / slope
                root = np.where(further > root, further, root)
            alpha = np.maximum(4 * task.L * beta, root)
            z = np.maximum(kappa * (fixed + spread * (1 + first / alpha) ** 2), start * alpha)
        return cls(task.L / 2, np.broadcast_to(beta, z.shape), alpha, z)

    def steps(self, target: Any) -> Floats:
        """Count local steps until the bound meets a target; 0 where it does at the start."""
        wanted = np.asarray(target)[..., None]
        return np.asarray(np.maximum(self.half * self.Z / wanted - self.alpha, 0).min(-1))

    def reached(self, steps: Any) -> Floats:
        """Evaluate the bound after so many local steps."""
        with np.errstate(invalid="ignore"):  # where Z is beyond every number
            return np.asarray((self.half * self.Z / (np.asarray(steps)[..., None] + self.alpha)).min(-1))

    def best(self, target: float) -> tuple[float, float]:
        """``beta`` and ``alpha`` of the fewest steps, for a single case."""
        i = int(np.argmin(self.half * self.Z / target - self.alpha))
        return float(self.beta[..., i]), float(self.alpha[..., i])


@dataclass(frozen=True)
class Airtime:
    """What carries the models."""

    network: Network  # network, compute: links and step time, as of every plan; stragglers are not looked at
    compute: Compute
    model_bytes: float  # size of one model
    # ``each``: a client sends to every one of its servers apart; ``once``: all of them hear one transmission
    upload: Upload = "each"

    def sent(self, airtime: Floats) -> Floats:
        """Plain transfers of an upload, for the airtimes of a client's links in the last axis."""
        return np.asarray(airtime.sum(axis=-1) if self.upload == "each" else airtime.max(axis=-1))

    def exchange(self, up: float, down: float) -> float:
        """Seconds of so many plain transfers from clients and to them."""
        link = self.network.client_link
        return float(8 * self.model_bytes * (up / link.up + down / link.down))

    def of_a_round(self, layout: Layout, Ge: int) -> float:
        """Seconds during which a client's link is in use in a cloud round, summed over all transmissions."""
        return Ge * self.exchange(self.sent(layout.airtime).sum(), layout.airtime.sum())

    def seconds(self, layout: Layout, E: int, Ge: int) -> float:
        """Seconds of a cloud round: edge rounds one after the other, all servers at the same time.

        A client has one radio. Where rates are its own, the busiest client sets the pace of an exchange. Where they
        are its server's, no two transfers of one client or of one server go on at once, and the shortest schedule
        takes as long as the busiest of all clients and servers (an open shop with interruptions).
        """
        up, down, _ = self.pace(layout.airtime)
        edge = E * self.compute.step_time + self.exchange(up, down) + 2 * self.network.client_link.latency
        link = self.network.links[0]
        if link is None:
            return Ge * edge
        servers = int(layout.links.any(axis=0).sum()) if link.sharing == "per-server" else 1
        bits = 8 * self.model_bytes * servers
        return Ge * edge + (bits / link.up + bits / link.down + 2 * link.latency)

    def pace(self, airtime: Floats) -> tuple[float, float, Mask]:
        """Plain transfers of an exchange up and down, and the links of the clients and servers that set its pace."""
        of_clients, of_servers = (self.sent(airtime), airtime.sum(axis=1)), airtime.sum(axis=0)
        if self.network.client_link.sharing != "per-server":
            of_servers = np.zeros_like(of_servers)
        up, down = (max(float(each.max()), float(of_servers.max())) for each in of_clients)
        busy = [each >= most * (1 - 1e-12) for each, most in zip(of_clients, (up, down), strict=True)]
        servers = of_servers >= min(up, down) * (1 - 1e-12)
        return up, down, (airtime > 0) & ((busy[0] | busy[1])[:, None] | servers)

    def bytes(self, layout: Layout, Ge: int) -> float:
        """Traffic of a cloud round: a model over every link in both directions, and to and from the cloud."""
        links = int(layout.links.sum())
        uploads = links if self.upload == "each" else len(layout.clients)
        top = 0 if self.network.links[0] is None else 2 * int(layout.links.any(axis=0).sum())
        return self.model_bytes * (Ge * (links + uploads) + top)

    def break_even(self, layout: Layout, E: int, Ge: int) -> dict[Objective, float]:
        """Divide what a cloud round takes by what it takes without overlap, by every objective."""
        alone = layout.apart
        return {
            "airtime": self.of_a_round(layout, Ge) / self.of_a_round(alone, Ge),
            "time": self.seconds(layout, E, Ge) / self.seconds(alone, E, Ge),
            "traffic": self.bytes(layout, Ge) / self.bytes(alone, Ge),
        }


class Eigenvalue(NamedTuple):
    """An eigenvalue of an edge round, and how often it occurs."""

    eigenvalue: float
    times: int


@dataclass(frozen=True, eq=False)
class Option:
    """One way to attach the clients, to the common target."""

    layout: Layout  # clients, servers and their links
    lambda2: float  # second eigenvalue of an edge round
    spectrum: tuple[Eigenvalue, ...]  # eigenvalues that are not 0
    parts: int  # number of connected parts
    # gap_erased, gap_passed_on: what an edge round does to the gradients' disagreement (root mean squares)
    gap_erased: float
    gap_passed_on: float
    drift: float  # drift of the module, over the learning rate
    beta: float  # beta, alpha: best schedule by the catalogue's bound
    alpha: float
    bound_rounds: int  # cloud rounds by the bound
    local_steps: float  # local steps to the target, by the bound or as runs let expect
    round_steps: int  # round_steps, seconds_per_round, round_bytes, round_airtime: cost of a cloud round
    seconds_per_round: float
    round_bytes: float
    round_airtime: float

    @property
    def links(self) -> int:
        """Number of links."""
        return int(self.layout.links.sum())

    @property
    def rounds(self) -> int:
        """Cloud rounds to the target."""
        return cloud_rounds(self.local_steps, self.round_steps)

    @property
    def seconds(self) -> float:
        """Time to the target [s]."""
        return self.rounds * self.seconds_per_round

    @property
    def bytes(self) -> float:
        """Traffic to the target."""
        return self.rounds * self.round_bytes

    @property
    def airtime_seconds(self) -> float:
        """Transmission to the target [s]."""
        return self.rounds * self.round_airtime

    def expected(self, apart: Option, power: float) -> Option:
        """The option whose gain over HFL is that of the bound to a power, as in runs."""
        return replace(self, local_steps=apart.local_steps * (self.local_steps / apart.local_steps) ** power)


def cloud_rounds(steps: float, round_steps: int) -> int:
    """Count the cloud rounds of so many local steps."""
    return math.ceil(steps / round_steps * (1 - 1e-9))


def reached_apart(layout: Layout, gaps: Gaps, task: Task, rounds: float) -> float:
    """Evaluate the loss above its minimum that HFL's bound reaches after so many cloud rounds."""
    found = drift(modes(layout.apart, gaps), gaps.squares, task, task.sigma)
    reached = float(Schedules.of(found, 1 / len(layout.clients), task).reached(rounds * task.E * task.Ge))
    return reached * (1 + 1e-9)  # or rounding could cost it a round more


def priced(layout: Layout, gaps: Gaps, task: Task, target: float, cost: Airtime) -> Option:
    """Count rounds, seconds, bytes and airtime to a target; the rounds are those of the catalogue's bound.

    Raises:
        NoAnswerError: If they are too many.
    """
    cover, found = Coverage.of(layout.links[:, layout.links.any(axis=0)].astype(float)), modes(layout, gaps)
    total = float(drift(found, gaps.squares, task, task.sigma))
    beta, alpha = Schedules.of(total, 1 / len(layout.clients), task).best(target)
    energy = (gaps.squares[:, None] * found.energy).sum(0)
    erased = math.sqrt(float((gaps.squares * found.erased).sum()))
    rates = passed_on(task.E, task.Ge, found.passed)
    last = float(passed_on(task.E, task.Ge, cover.lambda2))
    # one gap that the second eigenvalue would pass on as much of as all of them pass on of theirs
    between = math.sqrt(float((rates**2 * energy).sum())) / last if last else 0.0
    known = {name: getattr(task, name) for name in ("E", "Ge", "sigma", "mu", "L", "Gamma", "Delta0")}
    known |= {"p2": cover.p2, "lambda2": cover.lambda2, "zeta": erased, "delta": between}
    steps = get(BOUND).rounds_to(target, **known, beta_lr=beta, alpha=alpha)
    round_steps = task.E * task.Ge
    if not steps <= MAX_ROUNDS * round_steps:
        raise NoAnswerError(
            f"--target: {target:.4g} takes more than {MAX_ROUNDS:g} cloud rounds by the bound. Give a larger one."
        )
    values, counts = np.unique(np.round(cover.spectrum[cover.spectrum > ERASED], 12), return_counts=True)
    return Option(
        layout=layout,
        lambda2=cover.lambda2,
        spectrum=tuple(map(Eigenvalue, values[::-1].tolist(), counts[::-1].tolist())),
        parts=cover.parts,
        gap_erased=erased,
        gap_passed_on=math.sqrt(float(energy.sum())),
        drift=total,
        beta=beta,
        alpha=alpha,
        bound_rounds=cloud_rounds(float(steps), round_steps),
        local_steps=float(steps),
        round_steps=round_steps,
        seconds_per_round=cost.seconds(layout, task.E, task.Ge),
        round_bytes=cost.bytes(layout, task.Ge),
        round_airtime=cost.of_a_round(layout, task.Ge),
    )


def spectral_ratio(task: Task, hfl: float, hhfl: float) -> float:
    """Divide the catalogue's `DRIFT` of HFL by that of HHFL, which knows one gap and the second eigenvalues alone.

    With one local step, an edge round that averages everybody leaves no drift: infinity where only HHFL's does, and 1
    where both do, the limit as the drift of a longer edge round vanishes.
    """
    known = {"E": task.E, "Ge": task.Ge, "H": 1.0, "eta": 1.0, "alpha": 1.0}
    above, below = (float(get(DRIFT)(**known, lambda2=value)) for value in (hfl, hhfl))
    return above / below if below else math.inf if above else 1.0


def gains(
    layouts: Sequence[Layout], gaps: Gaps, task: Task, target: float | None, rounds: float, factors: Floats
) -> Floats:
    """Divide rounds of HFL by those of HHFL where sigma, zeta, delta, mu and A are multiplied by factors.

    Layouts have the same homes. Factors are of shape (draws, 5), in that order; gains of shape (layouts, draws). The
    target is a loss above its minimum; None for what HFL's bound reaches in ``rounds`` cloud rounds. NaN where it is
    met at the start.
    """
    sigma, zeta, delta, mu, A = factors.T
    if gaps.points is not None:
        delta = zeta
    squares = gaps.squares * np.stack([zeta**2, delta**2], -1)
    mu = np.minimum(task.mu * mu, task.L)
    whole = (gaps.zeta * zeta) ** 2 + (gaps.delta * delta) ** 2
    least = (gaps.zeta**2 + gaps.delta**2) / (2 * task.mu)
    gamma = task.Gamma * whole / (2 * mu) / least if least else np.zeros_like(mu)
    known = {"sigma": task.sigma * sigma, "mu": mu, "A": task.A * A, "Gamma": gamma}
    drifts = [drift(modes(one, gaps), squares, task, known["sigma"]) for one in (layouts[0].apart, *layouts)]
    found = Schedules.of(np.array(drifts), 1 / len(layouts[0].clients), task, **known)
    goal = found.reached(rounds * task.E * task.Ge)[0] if target is None else np.full(len(factors), target)
    steps = found.steps(goal)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(steps[1:] > 0, steps[0] / steps[1:], np.nan)
