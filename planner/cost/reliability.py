r"""What a global round is worth where devices do not always come: survival, who takes part, seconds and bytes.

Every client is asked once in every group round, and completes its turn (model in, K local steps, model out) with one
probability, independently of all others; every group server is asked once in a global round. A star averages those who
come, and needs one of them or a quorum. What a ring does where a device does not come is the policy:

* ``fail``: a ring needs every turn. A pass that breaks is lost, with the group's work in this global round; where the
  top tier is a ring the global round is lost with it, and is begun again from the model before.
* ``skip``: a device that does not come is given up after some time, and the one before it hands its model on.
* ``timeout``: the same, and a device that takes longer than the timeout is given up too, however good its work.

A round begun is completed with probability p, independently of the last, so 1/p of them are begun for each that is
completed, and by Wald's identity each costs E[D]/p seconds if one that is begun takes D, broken ones included. The
same holds for bytes. These are exact for the model above without stragglers; where compute times are random, turns
enter with their mean, and a star with the mean of its slowest client.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hflbounds.topology import two_tier
from planner.cost.spec import RoundSpec, levels
from planner.cost.wires import Transfers
from planner.scenario.availability import PATIENCE, Availability
from planner.scenario.network import Straggler

__all__ = ["LEAST", "Attendance", "at_least", "attend", "everyone", "mean_if_at_least", "needed"]

FloatArray = NDArray[np.float64]

LEAST: Final = 0.01
"""The smallest survival of a global round with which a plan is a plan: at most 100 begun for one completed."""

_GRID: Final = 800  # points at which a distribution of compute times is looked at
_LONG_STAY: Final = 64  # group rounds beyond which a star's lost group is taken to stay to the end


@dataclass(frozen=True, slots=True)
class Attendance:
    """What becomes of a global round of one topology.

    Attributes:
        survival: Probability that a round begun is completed.
        client: Probability that a client that is asked completes its turn in time.
        cut_off: Part of those who would complete it that come too late.
        timeout: Longest turn waited for [s], where there is one.
        shortest: Of a client's turn, the transfers and the least work [s].
        group: Probability that a group completes its part.
        groups, clients: Expected groups in a completed round, and clients in each group round of those.
        slower: Seconds per completed round over those of a round to which everyone comes.
        client_traffic, server_traffic: The same for the bytes on the links of each tier.
    """

    survival: float
    client: float
    cut_off: float
    timeout: float | None
    shortest: float
    group: float
    groups: float
    clients: float
    slower: float
    client_traffic: float
    server_traffic: float

    @property
    def feasible(self) -> bool:
        """Whether a round survives often enough to plan with."""
        return self.survival >= LEAST


@lru_cache(maxsize=8192)
def attend(spec: RoundSpec, availability: Availability) -> Attendance:
    """What becomes of a global round.

    Args:
        spec: The round, of those who are asked.
        availability: Who comes.
    """
    topology, network, compute = spec.topology.id, spec.network, spec.compute
    G, M = (tier.taking_part for tier in spec.topology.tiers)
    P, K = spec.topology.tiers[1].passes, spec.K
    if network.tiers == 1:  # there are no group servers that could stay away
        availability = replace(availability, server=1.0)
    star_top = G == 1 or topology.startswith("star")  # one endpoint alone is neither star nor ring
    star_low = M == 1 or topology.endswith("star")
    same = f"{'star' if star_top else 'ring'}-{'star' if star_low else 'ring'}"
    top, low = (level.transfers for level in levels(replace(spec, topology=two_tier(same, G=G, M=M, P=P))))
    work = K * compute.step_time
    turn = _turn(low.turn, work, compute.straggler, M if star_low else 1, star_low, availability)
    shape = _Shape(G, M, P, star_top, star_low, low, top, compute.aggregation_time)
    waits = availability.policy != "fail"
    if turn.client <= 0 or availability.server <= 0:
        return _nothing(turn, 0.0)

    stay = _stay(shape, turn, waits, 1 if waits else needed(availability.quorum, M))
    q, need = availability.server * stay.survival, 1 if waits else needed(availability.quorum, G)
    finish = _any(G, q) if waits else at_least(G, q, need) if star_top else q**G
    if finish == 0:
        return _nothing(turn, q)
    groups = mean_if_at_least(G, q, need) if waits or star_top else float(G)
    full = _turn(low.turn, work, compute.straggler, M if star_low else 1, star_low, Availability())
    seconds = _seconds(shape, turn, waits, stay, availability.server, q, finish)
    at_best = _seconds(shape, full, False, _stay(shape, full, False, 1), 1.0, 1.0, 1.0)
    asked = float(G) if waits or star_top else _reached(G, q)
    direct_low = not star_low and network.client_link.hop == "direct"
    direct_top = not star_top and network.server_link is not None and network.server_link.hop == "direct"
    on_clients = asked * availability.server * stay.reached * (stay.asked + (stay.ended if direct_low else stay.came))
    on_servers = asked + (finish if direct_top else asked * q)
    return Attendance(
        survival=finish,
        client=turn.client,
        cut_off=turn.cut_off,
        timeout=turn.timeout,
        shortest=turn.shortest,
        group=q,
        groups=groups,
        clients=stay.clients,
        slower=seconds / at_best / finish,
        client_traffic=on_clients / (G * P * (M + (1 if direct_low else M))) / finish,
        server_traffic=on_servers / (G + (1 if direct_top else G)) / finish,
    )


def everyone(groups: float, clients: float) -> Attendance:
    """Of rounds to which so many groups of so many clients always come."""
    return Attendance(1.0, 1.0, 0.0, None, 0.0, 1.0, groups, clients, 1.0, 1.0, 1.0)


# ---------------------------------------------------------------------------------------------------------
# Probabilities


def needed(quorum: float | None, endpoints: int) -> int:
    """How many endpoints of a star a quorum is; one where there is none."""
    return 1 if quorum is None else max(1, math.ceil(quorum * endpoints - 1e-9))


def at_least(n: int, p: float, k: int) -> float:
    """P(X >= k) for X binomial of n and p."""
    if k <= 1:
        return 1.0 if k <= 0 else _any(n, p)
    if p == 1:
        return 1.0
    if k > n * p:
        return min(1.0, _tail(n, p, k))
    return 1.0 - min(1.0, _tail(n, 1 - p, n - k + 1))


def mean_if_at_least(n: int, p: float, k: int) -> float:
    """E[X | X >= k] for X binomial of n and p: ``n p P(Y >= k - 1)/P(X >= k)`` with Y of one trial less."""
    whole = at_least(n, p, k)
    return n * p * at_least(n - 1, p, k - 1) / whole if whole > 0 else float(k)


def _tail(n: int, p: float, k: int) -> float:
    """Upper tail from k, above the mean: the first term in logarithms, the others by their ratios."""
    first = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p)
    first += (n - k) * math.log1p(-p) if k < n else 0.0
    j = np.arange(k, n, dtype=np.float64)
    ratios = (n - j) / (j + 1) * (p / (1 - p))
    return float(math.exp(first) * (1.0 + np.cumprod(ratios).sum()))


def _any(n: int, p: float) -> float:
    """Probability that at least one of n comes."""
    return 1.0 if p == 1 else -math.expm1(n * math.log1p(-p))


def _reached(n: int, p: float) -> float:
    """Expected turns begun in a pass of n that ends where one does not come: ``1 + p + ... + p^(n-1)``."""
    return float(n) if p == 1 else -math.expm1(n * math.log(p)) / (1 - p) if p > 0 else 1.0


def _binomial(n: int, p: float) -> tuple[FloatArray, FloatArray]:
    """Numbers and their probabilities, those beyond some 12 standard deviations left out."""
    if p in (0.0, 1.0):
        return np.array([n * p]), np.ones(1)
    middle, reach = math.floor((n + 1) * p), 40 + math.ceil(12 * math.sqrt(n * p * (1 - p)))
    low, high = max(0, middle - reach), min(n, middle + reach)
    middle = min(middle, n)
    odds = math.log(p) - math.log1p(-p)
    up = np.arange(middle, high, dtype=np.float64)
    down = np.arange(middle, low, -1, dtype=np.float64)
    above = np.cumsum(np.log((n - up) / (up + 1)) + odds)
    below = np.cumsum(np.log(down / (n - down + 1)) - odds)[::-1]
    weights = np.exp(np.concatenate([below, [0.0], above]))
    return np.arange(low, high + 1, dtype=np.float64), weights / weights.sum()


# ---------------------------------------------------------------------------------------------------------
# One client's turn


class _Turn(NamedTuple):
    """A client's turn under a policy.

    Attributes:
        client: Probability that it is completed, in time.
        completed: Mean duration of one that is [s].
        missed: Time that one that is not costs [s].
        all_in: Mean time until the last client of a star has come, where all do [s].
        cut_off: Probability that a client that would complete is too late.
        timeout: Longest turn waited for [s].
        shortest: Least time that a turn can take [s].
    """

    client: float
    completed: float
    missed: float
    all_in: float
    cut_off: float
    timeout: float | None
    shortest: float


def _turn(transfer: float, work: float, straggler: Straggler, n: int, star: bool, availability: Availability) -> _Turn:
    """A turn of ``transfer`` seconds on the links and ``work`` seconds in the mean, in a star of n or in a ring."""
    mean = transfer + work
    lasting = 1.0 if availability.mtbf is None else math.exp(-mean / availability.mtbf)
    client = availability.client * lasting
    random = _varies(straggler) and work > 0
    if availability.policy != "timeout":
        missed = PATIENCE * mean if availability.detect is None else availability.detect
        slowest = _slowest_client(straggler, n) if random and star else 1.0
        shortest = transfer + work * (_least(straggler) if random else 1.0)
        return _Turn(client, mean, missed, transfer + work * slowest, 0.0, None, shortest)
    if not random:
        timeout = mean if availability.timeout is None else availability.timeout
        late = timeout < mean
        return _Turn(0.0 if late else client, mean, timeout, mean, float(late), timeout, mean)
    least = _least(straggler)
    x, share = _quantiles(straggler)
    at = None
    if availability.timeout is not None:
        given = (availability.timeout - transfer) / work
        if given <= least:
            return _Turn(0.0, mean, availability.timeout, mean, 1.0, availability.timeout, transfer + work * least)
        at = int(np.searchsorted(x, given))
        x, share = np.insert(x, at, given), np.insert(share, at, _share_within(straggler, given))
    in_time = client * share
    waited = transfer + work * x
    # E[min(X, x)] is the integral of the upper tail up to x, of a turn and of the last of a star of n.
    lacks_one = 1 - in_time**n if star else 1 - in_time
    spent = transfer + work * _integral(x, lacks_one)
    if at is None:
        at = int(np.argmin(spent[1:] / in_time[1:])) + 1
    all_come, timeout = float(in_time[at]) ** n, float(waited[at])
    completed = transfer + work * float(x[at] - _integral(x, share)[at] / share[at])
    all_in = timeout if all_come < 1e-9 else (float(spent[at]) - (1 - all_come) * timeout) / all_come
    return _Turn(
        client=float(in_time[at]),
        completed=completed,
        missed=timeout,
        all_in=min(max(all_in, completed), timeout) if star else completed,
        cut_off=1 - float(share[at]),
        timeout=timeout,
        shortest=transfer + work * least,
    )


def _varies(straggler: Straggler) -> bool:
    return straggler.kind != "none" and straggler.cv > 0


def _least(straggler: Straggler) -> float:
    """The smallest factor on a mean compute time."""
    return 1 - straggler.cv if straggler.kind == "exponential" else 0.0


def _share_within(straggler: Straggler, x: float) -> float:
    """Probability of a factor of at most x, which is above the least."""
    if straggler.kind == "exponential":
        return -math.expm1(-(x - _least(straggler)) / straggler.cv)
    spread = math.sqrt(math.log1p(straggler.cv**2))
    return NormalDist().cdf(math.log(x) / spread + spread / 2)


@lru_cache(maxsize=64)
def _quantiles(straggler: Straggler) -> tuple[FloatArray, FloatArray]:
    """Factors, ascending, and the probabilities not to exceed them; dense where both tails are."""
    if straggler.kind == "exponential":
        v = np.arange(_GRID) / _GRID
        share = 1 - (1 - v) ** 4
        return _least(straggler) - straggler.cv * 4 * np.log1p(-v), share
    z = np.linspace(-7.0, 7.0, _GRID)
    spread = math.sqrt(math.log1p(straggler.cv**2))
    share = np.array([NormalDist().cdf(float(one)) for one in z])
    return np.exp(spread * z - spread**2 / 2), share


def _integral(x: FloatArray, y: FloatArray) -> FloatArray:
    """Of y from 0 up to each x: y is its first value before the first x."""
    steps = np.diff(x) * (y[1:] + y[:-1]) / 2
    return np.asarray(x[0] * y[0] + np.concatenate([[0.0], np.cumsum(steps)]))


@lru_cache(maxsize=1024)
def _slowest_client(straggler: Straggler, n: int) -> float:
    """Mean of the largest of n factors."""
    x, share = _quantiles(straggler)
    return float(_integral(x, 1 - share**n)[-1])


# ---------------------------------------------------------------------------------------------------------
# A group's stay, and the round


def _nothing(turn: _Turn, q: float) -> Attendance:
    """Of rounds that are never completed."""
    client = max(turn.client, 0.0)
    return Attendance(0.0, client, turn.cut_off, turn.timeout, turn.shortest, q, 0.0, 0.0, math.inf, math.inf, math.inf)


class _Shape(NamedTuple):
    """Counts, tiers and their transfers, and a group server's own work [s]."""

    G: int
    M: int
    P: int
    star_top: bool
    star_low: bool
    low: Transfers
    top: Transfers
    aggregation: float


class _Stay(NamedTuple):
    """A group's part of a global round.

    Attributes:
        survival: Probability that it is completed.
        enough: Probability that enough clients come to a group round for the stay to go on.
        clients: Expected clients in each of its group rounds, if it is.
        reached: Expected group rounds begun.
        asked, came, ended: Expected clients asked and come, and passes ended, in a group round begun.
        seconds: Mean duration of a group round begun [s].
    """

    survival: float
    enough: float
    clients: float
    reached: float
    asked: float
    came: float
    ended: float
    seconds: float


def _stay(shape: _Shape, turn: _Turn, waits: bool, need: int) -> _Stay:
    M, P, p = shape.M, shape.P, turn.client
    all_come = p**M
    if shape.star_low:
        enough = at_least(M, p, need)
        asked = float(M)
        seconds = all_come * turn.all_in + (1 - all_come) * _with_one_missing(shape, turn)
    else:
        enough = all_come
        asked = float(M) if waits else _reached(M, p)
        seconds = asked * (p * turn.completed + (1 - p) * turn.missed)
        seconds += shape.low.ends * (1.0 if waits else all_come)
    if waits:
        survival = _any(M * P, p)
        return _Stay(survival, 1.0, M * p / survival, float(P), asked, asked * p, _any(M, p), seconds)
    clients = mean_if_at_least(M, p, need) if shape.star_low else float(M)
    return _Stay(enough**P, enough, clients, _reached(P, enough), asked, asked * p, all_come, seconds)


def _with_one_missing(shape: _Shape, turn: _Turn) -> float:
    """A star's group round to which not all come [s]; a client alone is not waited for beside others."""
    return turn.missed if shape.M == 1 else max(turn.all_in, turn.missed)


def _seconds(shape: _Shape, turn: _Turn, waits: bool, stay: _Stay, server: float, q: float, finish: float) -> float:
    """Expected seconds of a global round begun."""
    if not shape.star_top:
        asked = float(shape.G) if waits else _reached(shape.G, q)
        at_work = shape.top.turn + shape.aggregation + stay.reached * stay.seconds
        there = server * at_work + (1 - server) * turn.missed
        return asked * there + shape.top.ends * (1.0 if waits else finish)
    durations, weights = (np.concatenate(parts) for parts in zip(*_durations(shape, turn, waits, stay), strict=True))
    durations, weights = np.append(durations, turn.missed), np.append(server * weights, 1 - server)
    return shape.top.turn + shape.aggregation + _slowest(durations, weights, shape.G)


def _slowest(values: FloatArray, weights: FloatArray, n: int) -> float:
    """Mean of the largest of n independent draws."""
    order = np.argsort(values, kind="stable")
    values, share = values[order], np.cumsum(weights[order])
    return float(values[-1] - np.sum(np.diff(values) * (share[:-1] / share[-1]) ** n))


def _durations(shape: _Shape, turn: _Turn, waits: bool, stay: _Stay) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Durations of a group's stay [s] and their probabilities, in parts."""
    M, P, p = shape.M, shape.P, turn.client
    if shape.star_low:
        late = _with_one_missing(shape, turn)
        all_come, enough = p**M, stay.enough
        if enough == 1 or P > _LONG_STAY:
            missing, weights = _binomial(P, 1 - all_come)
            yield (P - missing) * turn.all_in + missing * late, weights
            return
        for before in range(P + 1):  # group rounds completed; after fewer than P one more has broken
            delayed, weights = _binomial(before, min(1.0, max(0.0, 1 - all_come / enough)))
            whole = (before - delayed) * turn.all_in + delayed * late
            broken = before < P
            yield whole + late * broken, weights * enough**before * ((1 - enough) if broken else 1.0)
    elif waits:
        came, weights = _binomial(M * P, p)
        yield came * turn.completed + (M * P - came) * turn.missed + P * shape.low.ends, weights
    else:
        yield np.array([P * (M * turn.completed + shape.low.ends)]), np.array([p ** (M * P)])
        if p < 1:
            most = min(M * P, math.ceil(40 / -math.log(p)) + 1)
            turns = np.arange(most, dtype=np.float64)
            spent = turns * turn.completed + np.floor(turns / M) * shape.low.ends + turn.missed
            yield spent, p**turns * (1 - p)
