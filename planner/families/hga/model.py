"""Slow regions: an asynchronous server with a buffer against the clock, and what a theorem says of it.

The clock: every region works on a task of its own, for as long as that takes. A region that has delivered waits until
the buffer is full; then the server steps, and the regions whose updates were used begin again from the new model. With
a buffer for all regions this is the synchronous server. Who arrives when depends on times alone, so the clock needs no
training to be run.

The theorem: `hflbounds.hga-repaired`, on the server of xie2024 (HGA-FL) with the delays that the clock had. Where the
buffer holds fewer than all, it has a floor that grows with the heterogeneity between regions.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from hflbounds import get

THEOREM = "hflbounds.hga-repaired"
MAX_STEPS = 1e15  # more than that is never reached
MIN_ARRIVALS = 6_000  # of a run of the clock
MAX_ARRIVALS = 60_000
DELIVERIES = 3  # of every region before the clock may stop
BLOCK = 256  # durations drawn at once
SPENT = 0.02  # share of the room below the target that the local learning rate may cost

Duration = Callable[[int, int], float]


@dataclass(frozen=True, slots=True)
class GlobalStep:
    """One step of the server."""

    regions: tuple[int, ...]  # regions in the buffer, in the order of arrival
    arrived: tuple[float, ...]  # times of arrival [s]
    delays: tuple[int, ...]  # global steps since each of them began, Gamma
    oldest: int  # global steps since the oldest update began that is still the newest of its region, zeta
    time: float  # time of the step [s]


@dataclass(frozen=True, slots=True)
class Pace:
    """What a buffer does to the clock."""

    buffer: int  # updates of a step, K_buf
    steps: int  # number of simulated steps
    seconds_per_step: float  # mean time of a step [s]
    idle: float  # share of the regions' time that is spent waiting for the buffer to fill
    delay_mean: float  # mean delay of an update, in global steps
    delay_most: int  # largest delay seen, Gamma_max
    oldest_most: int  # largest delay of what a cache holds, zeta_max
    delays: Mapping[int, float]  # share of updates by delay
    shares: tuple[float, ...]  # share of each region in all updates
    silent: tuple[int, ...]  # regions that delivered nothing while the clock ran

    @property
    def latest(self) -> str:
        """The largest delay in words: there may be larger ones where a region is silent."""
        return f"{self.delay_most}{'+' if self.silent else ''}"

    @property
    def updates_per_second(self) -> float:
        """Arrivals of all regions [1/s]."""
        return self.buffer / self.seconds_per_step


@dataclass(frozen=True, slots=True)
class Reach:
    """What the theorem says of a buffer."""

    steps: int | None  # global steps until the bound meets the target; None where it never does
    floor: float  # least value of the bound
    why: str = ""  # reason why there is no number of steps
    # eta_g, eta_sub: learning rates of the server and of a region's steps that it was tuned to
    eta_g: float | None = None
    eta_sub: float | None = None
    terms: Mapping[str, float] = field(default_factory=dict)  # terms of the bound there, after these steps
    bound: str = THEOREM  # id of the bound whose steps they are


def durations(times: Sequence[float], jitter: float, seed: int) -> Duration:
    """Say how long the n-th task of region j takes: the same under every size of the buffer.

    The times [s] are medians where there is jitter, the standard deviation of the logarithm of a duration; each region
    draws from a stream of its own.
    """
    if not jitter:
        return lambda region, task: times[region]
    streams = [np.random.default_rng([seed, region]) for region in range(len(times))]
    drawn: list[list[float]] = [[] for _ in times]

    def duration(region: int, task: int) -> float:
        while len(drawn[region]) <= task:
            block = np.exp(jitter * streams[region].standard_normal(BLOCK))
            drawn[region].extend((times[region] * block).tolist())
        return drawn[region][task]

    return duration


def clock(duration: Duration, regions: int, buffer: int) -> Iterator[GlobalStep]:
    """Simulate global steps without end; of two that arrive at one time the smaller number is first.

    There are ``regions`` (M), and a step takes ``buffer`` updates (K_buf), at most M.
    """
    due = [(duration(region, 0), region) for region in range(regions)]
    heapq.heapify(due)
    began, newest, tasks = [0] * regions, [0] * regions, [0] * regions
    for step in count():
        arrived = [heapq.heappop(due) for _ in range(buffer)]
        at, who = zip(*arrived, strict=True)
        for region in who:
            newest[region] = began[region]
        yield GlobalStep(who, at, tuple(step - began[region] for region in who), step - min(newest), at[-1])
        for region in who:
            began[region] = step + 1
            tasks[region] += 1
            heapq.heappush(due, (at[-1] + duration(region, tasks[region]), region))


def pace(duration: Duration, regions: int, buffer: int) -> Pace:
    """Run the clock until every region has delivered a few times, or it has run long enough."""
    counts, waited, time = [0] * regions, 0.0, 0.0
    by_delay: Counter[int] = Counter()
    oldest = steps = arrivals = 0
    for one in clock(duration, regions, buffer):
        steps, time, oldest = steps + 1, one.time, max(oldest, one.oldest)
        waited += sum(one.time - at for at in one.arrived)
        by_delay.update(one.delays)
        for region in one.regions:
            counts[region] += 1
        arrivals = steps * buffer
        if arrivals >= MAX_ARRIVALS or (arrivals >= MIN_ARRIVALS and min(counts) >= DELIVERIES):
            break
    return Pace(
        buffer=buffer,
        steps=steps,
        seconds_per_step=time / steps,
        idle=waited / (regions * time),
        delay_mean=sum(delay * times for delay, times in by_delay.items()) / arrivals,
        delay_most=max(by_delay),
        oldest_most=oldest,
        delays={delay: by_delay[delay] / arrivals for delay in sorted(by_delay)},
        shares=tuple(n / arrivals for n in counts),
        silent=tuple(region for region, n in enumerate(counts) if n == 0),
    )


def reach(target: float, known: Mapping[str, float]) -> Reach:
    """Count global steps until the theorem's bound meets a target, at learning rates that make them few.

    A global step moves ``a = eta_g eta_sub R_sub`` along its direction. For a vanishing ``eta_sub`` the bound is
    ``start / (a T) + floor + s a + c a**2``, whose best ``a`` for a target has a closed form; the local rate then is
    the one that costs at most `SPENT` of the room that is left. All numbers come from the catalogue's terms.

    The target is a mean squared gradient at the server's models; ``known`` are L, A, M, K_buf, R_sub, Gamma_max,
    zeta_max, sigma_s and sigma_g.
    """
    bound = get(THEOREM)
    L, M, K, R = (known[name] for name in ("L", "M", "K_buf", "R_sub"))
    zeta, delays = known["zeta_max"], 2 * known["Gamma_max"] ** 2 + known["zeta_max"] ** 2
    p, q = L * (1 + zeta), 12 * delays * L**2
    most = (1 - 1e-12) / (p + math.sqrt(p * p + 2 * q))  # where p a + q a^2 = 1/2, the first condition
    largest = 1 / (R * L * math.sqrt(360 * (2 * M / K + zeta + 1)))  # where the second condition ends

    def terms(a: float, rate: float, steps: float = 1.0) -> dict[str, float]:
        found = bound.split(**known, T=steps, eta_sub=rate, eta_g=a / (rate * R))
        return {name: float(term) for name, term in found.items()}

    slow = 1e-8 * largest
    at = terms(most, slow)
    slope, curve = (at["noise"] + at["cached_noise"]) / most, at["delayed_noise"] / most**2
    room = target - at["floor"]
    if room <= 0:
        return Reach(None, at["floor"], f"the floor {at['floor']:.3g} that the theorem leaves is above the target")
    pull = slope + math.hypot(slope, math.sqrt(3 * curve * room))
    a = min(most, room / pull) if pull > 0 else most
    left = room - slope * a - curve * a**2
    probe = terms(a, largest / 100)
    kept = terms(a, slow)["start"] / probe["start"]  # m, the share of the squared gradient that the drift leaves
    cost = (target * (1 - kept) + probe["drift"] * kept) / (largest / 100) ** 2
    rate = min(largest / 2, math.sqrt(SPENT * left / cost))
    last = terms(a, rate)
    start = last.pop("start")
    steps = start / (target - sum(last.values()))
    if not steps <= MAX_STEPS:
        return Reach(None, at["floor"], f"the theorem needs more than {MAX_STEPS:.0e} steps")
    whole = max(1, math.ceil(steps))
    return Reach(whole, at["floor"], "", a / (rate * R), rate, terms(a, rate, whole))


def printed_limits(known: Mapping[str, float]) -> dict[str, float]:
    """Evaluate the limits of Theorem 1 of xie2024 as printed: least ``alpha_dyn`` (67), largest ``eta_g`` (68)."""
    found: dict[str, float] = {}
    for condition in get("xie2024.thm1").requires:
        limit, name = float(condition.rhs.value(known)), str(condition.lhs)
        strictest = max if condition.op == ">=" else min
        found[name] = strictest(limit, found.get(name, limit))
    return found
