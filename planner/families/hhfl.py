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

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Literal

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
BETAS = 1 + np.geomspace(1e-3, 1, 40)  # beta mu: above 1 for the theorem, and more than 2 never pays
LAYOUT = "triangle:14,4,1"  # of the runs that the bound is held to
LEAST = 0.01  # delta/sigma that counts as none
TELLING = 0.02  # logarithm of a gain below which a bound says that there is none
LONGEST = 1e15  # cloud rounds; more than that is never reached
MOST_STEPS = 400  # links that are dropped one by one
MOST_TRIED = 200_000  # removals that are evaluated, in all
BATCH = 2_000

Upload = Literal["each", "once"]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Gaps:
    """How far the clients' gradients are from each other.

    Attributes:
        zeta, delta: root mean square gaps within and between the clients of home servers.
        points: the clients' gradients less their mean, where they are known (then both gaps are theirs); else the
            gaps are taken to point in all directions alike, and energies are exact means over directions.
    """

    zeta: float
    delta: float
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
        """What energies are multiplied by: zeta^2 and delta^2, or 1 and 0 where gradients are known."""
        return np.array([self.zeta**2, self.delta**2] if self.points is None else [1.0, 0.0])


@dataclass(frozen=True)
class Task:
    """What is trained, in the terms of the theorem.

    Attributes:
        E: local steps in an edge round.
        Ge: edge rounds in a cloud round.
        sigma: standard deviation of a stochastic gradient.
        mu, L: strong convexity and smoothness of the losses.
        A: loss above its minimum at the start.
        Gamma: F* less the mean of the clients' own minima.
    """

    E: int
    Ge: int
    sigma: float
    mu: float
    L: float
    A: float
    Gamma: float

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
    """What an edge round does to the disagreement of gradients; arrays may be stacked along leading axes.

    Attributes:
        passed: eigenvalues, largest first, one for each server.
        energy: of shape (..., 2, servers): of gaps within and between homes, each of size 1 (or of known gradients).
        erased: of shape (..., 2): what is left of them along eigenvectors of eigenvalue 0.
    """

    passed: Floats
    energy: Floats
    erased: Floats

    @property
    def lambda2(self) -> Floats:
        """The second eigenvalue."""
        return self.passed[..., 1] if self.passed.shape[-1] > 1 else np.zeros(self.passed.shape[:-1])


def modes(layout: Layout, gaps: Gaps) -> Modes:
    """Of one layout."""
    moments = _Moments.of(layout.links, layout.home, gaps)
    return moments.modes(moments.loads, moments.products, moments.sums)


@dataclass(frozen=True, eq=False)
class _Moments:
    """What energies and eigenvalues follow from, on the side of the servers.

    Attributes:
        loads: of shape (servers,), shares of the clients.
        products: ``A' P A`` of the weights A and the shares P.
        sums: ``A' P x``, of shape (servers, columns): of gradients x, or of indicators of the homes.
        columns: x itself, of shape (clients, columns).
        homes: shares of the homes; none where gradients are known.
        total: sizes that energies add up to.
    """

    loads: Floats
    products: Floats
    sums: Floats
    columns: Floats
    homes: Floats
    total: Floats
    clients: int

    @classmethod
    def of(cls, links: Mask, home: NDArray[np.int64], gaps: Gaps) -> _Moments:
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

    def modes(self, loads: Floats, products: Floats, sums: Floats) -> Modes:
        """For moments of this kind, perhaps stacked."""
        used = loads > ERASED  # a server without clients takes no part
        root = np.where(used, 1 / np.sqrt(np.where(used, loads, 1)), 0)
        scale = root[..., :, None] * root[..., None, :]
        values, vectors = np.linalg.eigh(products * scale)
        values, vectors = np.clip(values[..., ::-1], 0, 1), vectors[..., ::-1]
        crosses = (cross * scale for cross in self._crosses(loads, products, sums))
        found = [np.einsum("...nk,...nm,...mk->...k", vectors, cross, vectors) for cross in crosses]
        kept = values > ERASED
        energy = np.where(kept[..., None, :], np.stack(found, -2), 0) / np.where(kept, values, 1)[..., None, :]
        energy = np.maximum(energy, 0)
        return Modes(np.where(kept, values, 0), energy, np.maximum(self.total - energy.sum(-1), 0))

    def _crosses(self, loads: Floats, products: Floats, sums: Floats) -> tuple[Floats, Floats]:
        """``A' P C P A`` for the covariances C between clients of gaps of size 1."""
        if not self.homes.size:
            known = sums @ np.swapaxes(sums, -1, -2)
            return known, np.zeros_like(known)
        grouped = (sums / self.homes) @ np.swapaxes(sums, -1, -2)
        inside = (products - grouped) / max(self.clients - len(self.homes), 1)
        between = (grouped - loads[..., :, None] * loads[..., None, :]) / max(len(self.homes) - 1, 1)
        return inside, between


# ---------------------------------------------------------------- from gaps to rounds


def passed_on(E: int, Ge: int, eigenvalues: Any) -> Floats:
    """``c`` of the module: how many steps' disagreement is there at the end of a cloud round."""
    return np.asarray((E - 1) + E * FOR_ARRAYS["geometric"](eigenvalues, float(Ge - 1)))


def drift(found: Modes, squares: Any, task: Task, sigma: Any) -> Floats:
    """The drift of the module over the learning rate; ``squares`` of shape (..., 2) multiply the energies."""
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

    half: Floats
    beta: Floats
    alpha: Floats
    Z: Floats

    @classmethod
    def of(cls, drifts: Any, p2: float, task: Task, **changes: Any) -> Schedules:
        """For drifts of any shape; sigma, mu, A and Gamma may be arrays of that shape too."""
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
        low, high = np.broadcast_arrays(4 * task.L * beta, kappa * (fixed + spread) / start)
        # kappa X(alpha) - start alpha falls; it is above 0 at kappa X(infinity)/start, and below at a larger one
        low = np.maximum(low, high)
        high = low.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            while (above := kappa * (fixed + spread * (1 + first / high) ** 2) > start * high).any():
                high = np.where(above, 2 * high, high)
            for _ in range(60):
                middle = np.sqrt(low * high)
                above = kappa * (fixed + spread * (1 + first / middle) ** 2) > start * middle
                low, high = np.where(above, middle, low), np.where(above, high, middle)
            z = np.maximum(kappa * (fixed + spread * (1 + first / high) ** 2), start * high)
        return cls(np.asarray(task.L / 2), np.broadcast_to(beta, z.shape), high, z)

    def steps(self, target: Any) -> Floats:
        """Local steps until the bound meets a target; 0 where it does at the start."""
        wanted = np.asarray(target)[..., None]
        return np.asarray(np.maximum(self.half * self.Z / wanted - self.alpha, 0).min(-1))

    def reached(self, steps: Any) -> Floats:
        """The bound after so many local steps."""
        with np.errstate(invalid="ignore"):  # where Z is beyond every number
            return np.asarray((self.half * self.Z / (np.asarray(steps)[..., None] + self.alpha)).min(-1))

    def best(self, target: float) -> tuple[float, float]:
        """``beta`` and ``alpha`` of the fewest steps, for a single case."""
        i = int(np.argmin(self.half * self.Z / target - self.alpha))
        return float(self.beta[..., i]), float(self.alpha[..., i])


# ---------------------------------------------------------------- what a cloud round costs


@dataclass(frozen=True)
class Airtime:
    """What carries the models.

    Attributes:
        network, compute: as of every plan; stragglers are not looked at.
        model_bytes: of one model.
        upload: ``each``: a client sends to every one of its servers apart; ``once``: all of them hear one transmission.
    """

    network: Network
    compute: Compute
    model_bytes: float
    upload: Upload = "each"

    def _sent(self, airtime: Floats) -> Floats:
        """Plain transfers of every client's upload, of shape (clients,)."""
        return np.asarray(airtime.sum(axis=1) if self.upload == "each" else airtime.max(axis=1))

    def of_a_round(self, layout: Layout, Ge: int) -> float:
        """Seconds during which a client's link is in use in a cloud round, summed over all transmissions."""
        link, bits = self.network.client_link, 8 * self.model_bytes
        return float(Ge * bits * (self._sent(layout.airtime).sum() / link.up + layout.airtime.sum() / link.down))

    def seconds(self, layout: Layout, E: int, Ge: int) -> float:
        """Of a cloud round: edge rounds one after the other, all servers at the same time.

        A client has one radio. Where rates are its own, the busiest client sets the pace of an exchange. Where they
        are its server's, no two transfers of one client or of one server go on at once, and the shortest schedule
        takes as long as the busiest of all clients and servers (an open shop with interruptions).
        """
        link, bits = self.network.client_link, 8 * self.model_bytes
        down = float(layout.airtime.sum(axis=1).max())
        up = float(self._sent(layout.airtime).max())
        if link.sharing == "per-server":
            channel = float(layout.airtime.sum(axis=0).max())
            up, down = max(up, channel), max(down, channel)
        edge = E * self.compute.step_time + bits * (up / link.up + down / link.down) + 2 * link.latency
        return Ge * edge + self._cloud(int(layout.links.any(axis=0).sum()))

    def _cloud(self, servers: int) -> float:
        link = self.network.server_link
        if link is None or self.network.tiers == 1:
            return self.compute.aggregation_time
        sharers = servers if link.sharing == "per-server" else 1
        bits = 8 * self.model_bytes * sharers
        return bits / link.up + bits / link.down + 2 * link.latency + self.compute.aggregation_time

    def bytes(self, layout: Layout, Ge: int) -> float:
        """Traffic of a cloud round: a model over every link in both directions, and to and from the cloud."""
        links = int(layout.links.sum())
        uploads = links if self.upload == "each" else len(layout.clients)
        servers = int(layout.links.any(axis=0).sum())
        top = 0 if self.network.server_link is None or self.network.tiers == 1 else 2 * servers
        return self.model_bytes * (Ge * (links + uploads) + top)


# ---------------------------------------------------------------- the answer


@dataclass(frozen=True, eq=False)
class Option:
    """One way to attach the clients, to the common target.

    Attributes:
        layout: who is attached to whom.
        lambda2: second eigenvalue of an edge round.
        spectrum: eigenvalues that are not 0, with how often each occurs.
        parts: connected parts.
        gaps: what an edge round erases of the gradients' disagreement, and what it passes on (root mean squares).
        drift: of the module, over the learning rate.
        steps: local steps, by the catalogue's bound at its best schedule; after `expected`, as runs let expect.
        beta, alpha: of that schedule.
        bound_rounds: cloud rounds, by the bound.
        rounds: cloud rounds of ``steps``.
        seconds, bytes, airtime: of those; airtime in seconds of transmission.
        seconds_per_round: of one.
    """

    layout: Layout
    lambda2: float
    spectrum: tuple[tuple[float, int], ...]
    parts: int
    gaps: tuple[float, float]
    drift: float
    steps: float
    beta: float
    alpha: float
    bound_rounds: int
    rounds: int
    seconds: float
    bytes: float
    airtime: float
    seconds_per_round: float


def reached_apart(layout: Layout, gaps: Gaps, task: Task, rounds: float) -> float:
    """The loss above its minimum that HFL's bound reaches after so many cloud rounds."""
    alone = layout.apart()
    found = drift(modes(alone, gaps), gaps.squares, task, task.sigma)
    reached = float(Schedules.of(found, 1 / len(layout.clients), task).reached(rounds * task.E * task.Ge))
    return reached * (1 + 1e-9)  # or rounding could cost it a round more


def priced(layout: Layout, gaps: Gaps, task: Task, target: float, cost: Airtime) -> Option:
    """Rounds, seconds, bytes and airtime to a target; the rounds are those of the catalogue's bound.

    Raises:
        NoAnswerError: if they are too many.
    """
    used = layout.links.any(axis=0)
    cover, found = Coverage.of(layout.links[:, used].astype(float)), modes(layout, gaps)
    clients = len(layout.clients)
    total = float(drift(found, gaps.squares, task, task.sigma))
    beta, alpha = Schedules.of(total, 1 / clients, task).best(target)
    energy = (gaps.squares[:, None] * found.energy).sum(0)
    erased = float((gaps.squares * found.erased).sum())
    rates = passed_on(task.E, task.Ge, found.passed)
    last = float(passed_on(task.E, task.Ge, cover.lambda2))
    # one gap that the second eigenvalue would pass on as much of as all of them pass on of theirs
    between = math.sqrt(float((rates**2 * energy).sum())) / last if last else 0.0
    steps = get(BOUND).rounds_to(
        target,
        E=task.E,
        Ge=task.Ge,
        sigma=task.sigma,
        mu=task.mu,
        L=task.L,
        Gamma=task.Gamma,
        Delta0=task.Delta0,
        p2=cover.p2,
        lambda2=cover.lambda2,
        zeta=math.sqrt(erased),
        delta=between,
        beta_lr=beta,
        alpha=alpha,
    )
    if not steps <= LONGEST * task.E * task.Ge:
        raise NoAnswerError(
            f"--target: {target:.4g} takes more than {LONGEST:g} cloud rounds by the bound. Give a larger one."
        )
    rounds = _cloud_rounds(float(steps), task)
    counted = np.unique(np.round(cover.spectrum[cover.spectrum > ERASED], 12), return_counts=True)
    seconds = cost.seconds(layout, task.E, task.Ge)
    return Option(
        layout=layout,
        lambda2=cover.lambda2,
        spectrum=tuple(zip(counted[0][::-1].tolist(), counted[1][::-1].tolist(), strict=True)),
        parts=cover.parts,
        gaps=(math.sqrt(erased), math.sqrt(float(energy.sum()))),
        drift=total,
        steps=float(steps),
        beta=beta,
        alpha=alpha,
        bound_rounds=rounds,
        rounds=rounds,
        seconds=rounds * seconds,
        bytes=rounds * cost.bytes(layout, task.Ge),
        airtime=rounds * cost.of_a_round(layout, task.Ge),
        seconds_per_round=seconds,
    )


def expected(option: Option, apart: Option, faith: float, task: Task, cost: Airtime) -> Option:
    """An option whose gain over HFL is that of the bound to the power of ``faith``, as in runs."""
    steps = apart.steps * (option.steps / apart.steps) ** faith
    rounds = _cloud_rounds(steps, task)
    return replace(
        option,
        steps=steps,
        rounds=rounds,
        seconds=rounds * option.seconds_per_round,
        bytes=rounds * cost.bytes(option.layout, task.Ge),
        airtime=rounds * cost.of_a_round(option.layout, task.Ge),
    )


def _cloud_rounds(steps: float, task: Task) -> int:
    return math.ceil(steps / (task.E * task.Ge) * (1 - 1e-9))


def spectral_ratio(task: Task, hfl: float, hhfl: float) -> float:
    """The catalogue's `DRIFT` of HFL over that of HHFL, which knows one gap and the second eigenvalues alone.

    With one local step, an edge round that averages everybody leaves no drift: infinity where only HHFL's does, and 1
    where both do, the limit as the drift of a longer edge round vanishes.
    """
    known = {"E": task.E, "Ge": task.Ge, "H": 1.0, "eta": 1.0, "alpha": 1.0}
    above, below = (float(get(DRIFT)(**known, lambda2=value)) for value in (hfl, hhfl))
    return above / below if below else math.inf if above else 1.0


def gains(
    layout: Layout,
    gaps: Gaps,
    task: Task,
    target: float | None,
    rounds: float,
    factors: Floats,
) -> Floats:
    """Rounds of HFL over those of HHFL where sigma, both gaps, mu and A are multiplied by factors.

    Args:
        layout: of HHFL.
        gaps: at factors of 1.
        task: at factors of 1.
        target: loss above its minimum; None for what HFL's bound reaches in ``rounds`` cloud rounds.
        rounds: see there.
        factors: of shape (draws, 5), for sigma, zeta, delta, mu and A.

    Returns:
        of shape (draws,); NaN where the target is met at the start.
    """
    sigma, zeta, delta, mu, A = factors.T
    pairs = (zeta, delta) if gaps.points is None else (zeta, zeta)
    squares = gaps.squares * np.stack([part**2 for part in pairs], -1)
    mu = np.minimum(task.mu * mu, task.L)
    whole = (gaps.zeta * pairs[0]) ** 2 + (gaps.delta * pairs[1]) ** 2
    least = (gaps.zeta**2 + gaps.delta**2) / (2 * task.mu)
    known = {
        "sigma": task.sigma * sigma,
        "mu": mu,
        "A": task.A * A,
        "Gamma": task.Gamma * whole / (2 * mu) / least if least else np.zeros_like(mu),
    }
    found = []
    for one in (layout.apart(), layout):
        drifts = drift(modes(one, gaps), squares, task, known["sigma"])
        found.append(Schedules.of(drifts, 1 / len(layout.clients), task, **known))
    goal = found[0].reached(rounds * task.E * task.Ge) if target is None else np.full(len(factors), target)
    apart, together = (schedule.steps(goal) for schedule in found)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(together > 0, apart / together, np.nan)


# ---------------------------------------------------------------- what runs say of the bound


@dataclass(frozen=True)
class Run:
    """A setting of `benchmarks/overlap_record.py`, with what was measured and what the bound says.

    Attributes:
        coverage: 57 clients of three servers.
        E, Ge: local steps and edge rounds.
        zeta, delta: over sigma.
        gain: loss above its minimum without overlap over that with it, after as many local steps; where losses fall as
            one over the steps, this is also the gain in rounds.
        low, high: ends of its 95 % interval.
        bound: the gain that `gains` predicts.
    """

    coverage: str
    E: int
    Ge: int
    zeta: float
    delta: float
    gain: float
    low: float
    high: float
    bound: float

    def faith(self, gain: float) -> float:
        """The power of the bound's gain that a gain is; 1 where the bound says none."""
        told = math.log(self.bound)
        return math.log(gain) / told if abs(told) > TELLING else 1.0


@cache
def record() -> tuple[Run, ...]:
    """All of them."""
    text = resources.files("planner").joinpath("data/overlap_record.csv").read_text()
    kinds = {"coverage": str, "E": int, "Ge": int}
    return tuple(
        Run(**{name: kinds.get(name, float)(x) for name, x in row.items()}) for row in csv.DictReader(text.splitlines())
    )


@dataclass(frozen=True, eq=False)
class Faith:
    """How much of the bound's gain runs have, by delta/sigma, at the nearest E, Ge and zeta/sigma that were run.

    Attributes:
        runs: by delta, smallest first.
        far: factor by which E and Ge are off, both together.
    """

    runs: tuple[Run, ...]
    far: float

    @classmethod
    def nearest(cls, E: int, Ge: int, zeta: float) -> Faith:
        """The runs to look at, of the layout that most were made with; ``zeta`` over sigma."""
        known = [run for run in record() if run.coverage == LAYOUT]

        def far(run: Run) -> tuple[float, float]:
            return abs(math.log(run.E / E)) + abs(math.log(run.Ge / Ge)), abs(math.log((1 + run.zeta) / (1 + zeta)))

        best = min(map(far, known))
        runs = sorted((run for run in known if far(run) == best), key=lambda run: run.delta)
        return cls(tuple(runs), math.exp(best[0]))

    def of(self, delta: Any, gain: Literal["gain", "low", "high"] = "gain") -> Floats:
        """The power to take the bound's gain to, at delta over sigma; linear in its logarithm between runs."""
        at = np.log([max(run.delta, LEAST) for run in self.runs])
        found = [run.faith(getattr(run, gain)) for run in self.runs]
        return np.asarray(np.interp(np.log(np.maximum(delta, LEAST)), at, found))

    def around(self, delta: float) -> tuple[Run, ...]:
        """The runs on either side."""
        below = [run for run in self.runs if run.delta <= delta][-1:]
        above = [run for run in self.runs if run.delta >= delta][:1]
        return tuple(dict.fromkeys([*below, *above]))


# ---------------------------------------------------------------- which links to drop


@dataclass(frozen=True)
class Dropped:
    """One link less.

    Attributes:
        client, server: indices in the layout it began with.
        steps: local steps to the target without it and those before, as runs let expect.
        airtime: of all of them, in seconds of transmission.
        links: that are left.
    """

    client: int
    server: int
    steps: float
    airtime: float
    links: int


@dataclass(frozen=True, eq=False)
class Thinned:
    """Links dropped one by one.

    Attributes:
        path: in order.
        tried: removals that were evaluated.
        complete: whether every step looked at every link that may go, until none may.
    """

    path: tuple[Dropped, ...]
    tried: int
    complete: bool


def thin(layout: Layout, gaps: Gaps, task: Task, target: float, cost: Airtime, faith: float = 1.0) -> Thinned:
    """Drop links one by one, each the one that costs fewest local steps for the airtime it saves.

    Every client keeps its home, so that the way ends at HFL, and every step evaluates the bound of what would be left.
    Links of clients that differ in nothing are one case. ``faith`` is that of `expected`.
    """
    servers, clients = len(layout.servers), len(layout.clients)
    links = layout.links.copy()
    budget = int(MOST_TRIED / (1 + servers**3 / 600))
    steps = min(int(links.sum()) - clients, MOST_STEPS)
    each = max(budget // max(steps, 1), 1)
    twins = _twins(layout, gaps)
    path: list[Dropped] = []
    tried, complete = 0, steps == int(links.sum()) - clients

    def steps_of(found: Modes) -> Floats:
        return Schedules.of(drift(found, gaps.squares, task, task.sigma), 1 / clients, task).steps(target)

    apart = steps_of(modes(layout.apart(), gaps))
    now = float(apart * (steps_of(modes(layout, gaps)) / apart) ** faith)
    for _ in range(steps):
        cases = _cases(links, twins, layout)
        if len(cases) > each:
            cases = cases[np.linspace(0, len(cases) - 1, each).astype(int)]
            complete = False
        tried += len(cases)
        parts = np.array_split(cases, -(-len(cases) * servers**2 // (BATCH * 9)))
        bounds = np.concatenate([steps_of(_removed(links, layout.home, gaps, part)) for part in parts])
        after = apart * (bounds / apart) ** faith
        saved = np.array([_saved(layout, links, cost, i, n) for i, n in cases.tolist()])
        with np.errstate(divide="ignore"):
            price = np.where(saved > 0, (after - now) / np.where(saved > 0, saved, 1), np.inf)
        best = int(np.argmin(np.round(price / max(now, 1), 15)))
        i, n = cases[best].tolist()
        links[i, n] = False
        now = float(after[best])
        left = replace(layout, airtime=np.where(links, layout.airtime, 0))
        airtime = _cloud_rounds(now, task) * cost.of_a_round(left, task.Ge)
        path.append(Dropped(i, n, now, airtime, int(links.sum())))
    return Thinned(tuple(path), tried, complete)


def _twins(layout: Layout, gaps: Gaps) -> NDArray[np.int64]:
    """A number for every client, the same for those with the same home and gradient."""
    known = layout.home[:, None].astype(float)
    if gaps.points is not None:
        known = np.hstack([known, gaps.points])
    return np.unique(known, axis=0, return_inverse=True)[1].reshape(-1)


def _cases(links: Mask, twins: NDArray[np.int64], layout: Layout) -> NDArray[np.int64]:
    """Clients and servers of links that may go, one for each kind."""
    more = np.flatnonzero(links.sum(axis=1) > 1)
    kinds = np.hstack([twins[more, None].astype(float), np.where(links, layout.airtime, 0)[more]])
    first = np.sort(np.unique(kinds, axis=0, return_index=True)[1])
    found = [(i, n) for i in more[first] for n in np.flatnonzero(links[i]) if n != layout.home[i]]
    return np.array(found, dtype=np.int64)


def _removed(links: Mask, home: NDArray[np.int64], gaps: Gaps, cases: NDArray[np.int64]) -> Modes:
    """Modes without one link, for each case, by what it changes in the moments."""
    known = _Moments.of(links, home, gaps)
    i, n = cases.T
    before = links[i] / links[i].sum(axis=1, keepdims=True)
    after = links[i].copy()
    after[np.arange(len(i)), n] = False
    changed = after / after.sum(axis=1, keepdims=True)
    loads = known.loads + (changed - before) / known.clients
    products = known.products + _outer(changed, changed) / known.clients - _outer(before, before) / known.clients
    sums = known.sums + _outer(changed - before, known.columns[i]) / known.clients
    return known.modes(loads, products, sums)


def _outer(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[:, :, None] * b[:, None, :])


def _saved(layout: Layout, links: Mask, cost: Airtime, i: int, n: int) -> float:
    """Seconds of transmission of an exchange that a link takes."""
    link = cost.network.client_link
    now = np.where(links[i], layout.airtime[i], 0)
    rest = now.copy()
    rest[n] = 0
    heard = now.sum() - rest.sum() if cost.upload == "each" else now.max() - rest.max()
    return float(8 * cost.model_bytes * (heard / link.up + now[n] / link.down))


def thinned(layout: Layout, path: Sequence[Dropped]) -> Layout:
    """The layout without the links of a path."""
    gone = np.zeros(layout.airtime.shape, dtype=bool)
    for step in path:
        gone[step.client, step.server] = True
    return layout.without(gone)
