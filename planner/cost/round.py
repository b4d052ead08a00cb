"""Seconds and bytes of one global round of a two-tier topology.

One global round is P group rounds in every group, each of K local steps per client, and one exchange with
the top server. Three ways to time it:

* ``formula``: ``T_inter + P * T_intra`` with the entries of the table, every transfer at the full rate
  (zhou2026, camera-ready version, Appendix A.2, eq. (24), Table 3);
* ``diluted``: the same with the rate of a star tier divided by the number of endpoints that talk to its
  server (same place, "Bandwidth Constraints and Practical Latency");
* ``schedule``: the discrete synchronous schedule of the same round, with sharing where the network says
  ``per-server``. Where nothing is shared and the top is a star, (24) is only an upper bound of it: it adds
  the slowest group of the top tier to the slowest group of every group round, and these need not be the same
  group. Where a rate is shared, (24) does not see it.

The paper has neither latency nor a relayed hop; all three methods here add one latency per hop, and take a
ring's hop to be what the link says.

Without stragglers all groups move in step, the schedule has a closed form, and the answer is exact and
takes no memory at any G and M. (In step is the slowest way for relayed rings to share one server: all
upload, then all download. Out of step the two directions overlap, so that there stragglers may shorten the
round.) With stragglers it is an average over draws of compute times that are the
same for every topology and every change of a parameter (common random numbers), with its standard error.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from hflbounds.topology import Topology, tier_symbols
from planner.errors import PlannerError
from planner.scenario.network import Compute, Link, Network, Straggler

__all__ = ["CostError", "Method", "RoundCost", "RoundSpec", "Transfers", "round_cost", "round_draws", "transfers"]

Method = Literal["schedule", "formula", "diluted"]
FloatArray = NDArray[np.float64]

_LARGEST_COUNT: Final = 10**12  # G, M, P, K: products stay far inside double precision's range
_LARGEST_MODEL: Final = 1e24  # [bytes]
_TARGET_SAMPLES: Final = 100_000  # compute times drawn in all, when that gives enough draws
_FEWEST_DRAWS: Final = 8  # a standard error from fewer is no error bar
_LARGEST_DRAW: Final = 20_000_000  # compute times in one draw: 160 MB
_CACHED_SAMPLES: Final = 1_000_000  # draws that are kept between calls: 8 MB each
_EVENT_SAMPLES: Final = 4_000  # compute times drawn in all where the schedule is played event by event
_LARGEST_EVENT_DRAW: Final = 100_000


class CostError(PlannerError, ValueError):
    """A round that cannot be timed; the message names the argument, the fact and the way out."""


@dataclass(frozen=True)
class RoundSpec:
    """One global round, as it is to be timed.

    Attributes:
        topology: With the sizes of its tiers; of those drawn and of the rest, only those drawn take part.
        K: Local steps per client and pass of its server.
        network: Who talks to whom, and how fast; one link per tier.
        compute: How long the work takes.
        model_bytes: Size of what one transfer carries [bytes].
        method: ``schedule``, ``formula`` or ``diluted``; see the module.
        seed: Seed of the draws of compute times.

    Raises:
        CostError: If a number is out of range, or the network has other tiers than the topology.
    """

    topology: Topology
    K: int
    network: Network
    compute: Compute
    model_bytes: float
    method: Method = "schedule"
    seed: int = 0

    def __post_init__(self) -> None:
        tiers = self.topology.tiers
        for tier, symbols in zip(tiers, tier_symbols(len(tiers)), strict=True):
            if tier.size is None and tier.drawn is None:
                raise CostError(f"{symbols.size}: the number was not given. Give every tier its size.")
            for name, count in ((symbols.size, tier.taking_part), (symbols.passes or "passes", tier.passes)):
                _count(name, count)
        _count("K", self.K)
        if len(self.network.links) != len(tiers):
            raise CostError(
                f"network: {len(self.network.links)} links do not fit {len(tiers)} tiers. Give one link per tier, "
                "None where nothing travels."
            )
        size = self.model_bytes
        number = isinstance(size, int | float) and not isinstance(size, bool)
        if not (number and 0 < size <= _LARGEST_MODEL):
            raise CostError(f"model_bytes: {size!r} is not a number of bytes above 0, up to {_LARGEST_MODEL:g}.")
        if self.method not in get_args(Method):
            raise CostError(f"method: {self.method!r} is not one of {', '.join(get_args(Method))}.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise CostError(f"seed: {self.seed!r} is not a whole number, 0 or more.")


def _count(name: str, count: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _LARGEST_COUNT:
        raise CostError(f"{name}: {count!r} is not a whole number from 1 to {_LARGEST_COUNT:g}.")


@dataclass(frozen=True, slots=True)
class RoundCost:
    """What one global round costs.

    Attributes:
        seconds: Duration of the round [s]; with stragglers its mean over the draws.
        bytes: Traffic [bytes], every traversal of a link counted.
        bytes_by_tier: The parts of ``bytes`` on the links of every tier, top first [bytes].
        standard_error: Standard error of ``seconds`` [s]; 0 where it is exact.
        draws: Number of draws behind ``seconds``; 0 where it is exact.
        topology: The topology, top tier first.
        method: How it was timed.
    """

    seconds: float
    bytes: float
    bytes_by_tier: tuple[float, ...]
    standard_error: float
    draws: int
    topology: str
    method: str


def round_cost(spec: RoundSpec) -> RoundCost:
    """Time and traffic of one global round.

    Raises:
        CostError: If stragglers are asked for at a size that cannot be drawn, or the round is too long for a number.
    """
    old = _old(spec)
    client_bytes, server_bytes = _traffic(old["topology"], old["G"], old["M"], old["P"], spec.network, spec.model_bytes)
    traffic = client_bytes + server_bytes
    if _random(spec.compute):
        times = _sampled(**old, seed=spec.seed)
        seconds, draws = float(times.mean()), times.size
        error = float(times.std(ddof=1)) / math.sqrt(draws)
    else:
        seconds, error, draws = _exact(**old), 0.0, 0
    if not math.isfinite(seconds):
        raise CostError(
            "network: the round would last longer than any number of seconds that can be written. "
            "Check the rates, the step time and the counts."
        )
    return RoundCost(seconds, traffic, (server_bytes, client_bytes), error, draws, spec.topology.id, spec.method)


def round_draws(spec: RoundSpec) -> FloatArray:
    """Durations of the round [s], one per draw of the compute times; shape (draws,).

    Entry i of two calls with the same counts, straggler and seed belongs to the same compute times, whatever the
    patterns and the network, so that differences may be taken entry by entry, over the shorter of the two where their
    lengths differ. Without stragglers there is one entry, and it is exact.

    Raises:
        CostError: As :func:`round_cost`.
    """
    if not _random(spec.compute):
        return np.array([_exact(**_old(spec))])
    return _sampled(**_old(spec), seed=spec.seed)


class Transfers(NamedTuple):
    """Time on the links of one tier, without the work between the transfers.

    Attributes:
        turn: What one endpoint's turn takes [s]: in a star down and up, in a ring one hop.
        ends: What the first download and the last upload of a ring take beyond a hop [s]; 0 for a star.
    """

    turn: float
    ends: float


def transfers(spec: RoundSpec) -> tuple[Transfers, ...]:
    """The transfers of every tier, top first, when all move in step; see :func:`round_cost`."""
    old = _old(spec)
    topology, G, M, network, model_bytes = (old[n] for n in ("topology", "G", "M", "network", "model_bytes"))
    method = spec.method
    star_top, star_low = _tiers(topology)
    low_sharers, top_sharers = _sharers(topology, G, M, network, method)

    def of(tier: _Tier, star: bool, sharers: int) -> Transfers:
        exchange = tier.exchange(sharers)
        hop = sharers * tier.hop + tier.hop_latency
        return Transfers(exchange, 0.0) if star else Transfers(hop, exchange - hop)

    low, top = _tier(network.client_link, model_bytes), _top(network, model_bytes)
    return of(top, star_top, top_sharers), of(low, star_low, low_sharers)


# ---------------------------------------------------------------------------------------------------------
# Arguments


def _old(spec: RoundSpec) -> dict[str, Any]:
    """The numbers of two tiers."""
    if spec.topology.depth != 2:
        raise CostError(f"topology: {spec.topology.id} has not two tiers.")
    top, low = spec.topology.tiers
    return {
        "topology": spec.topology.id,
        "G": top.taking_part,
        "M": low.taking_part,
        "P": low.passes,
        "K": spec.K,
        "network": spec.network,
        "compute": spec.compute,
        "model_bytes": spec.model_bytes,
        "method": spec.method,
    }


def _random(compute: Compute) -> bool:
    """Whether compute times vary at all."""
    return compute.straggler.kind != "none" and compute.straggler.cv > 0 and compute.step_time > 0


def _tiers(topology: str) -> tuple[bool, bool]:
    """Whether the top tier and the low tier are stars."""
    return topology.startswith("star"), topology.endswith("star")


# ---------------------------------------------------------------------------------------------------------
# Traffic


def _traffic(topology: str, G: int, M: int, P: int, network: Network, model_bytes: float) -> tuple[float, float]:
    """Bytes on the client links and on the server links.

    A star of n carries 2n models; a ring of n carries n + 1 with direct hops, 2n with relayed ones.
    """
    star_top, star_low = _tiers(topology)
    low = P * G * _traversals(star_low, M, network.client_link)
    # With one tier a "group server" is the top server itself: nothing travels between the two.
    top = 0 if network.server_link is None or network.tiers == 1 else _traversals(star_top, G, network.server_link)
    return float(low) * model_bytes, float(top) * model_bytes


def _traversals(star: bool, endpoints: int, link: Link) -> int:
    return endpoints + 1 if link.hop == "direct" and not star else 2 * endpoints


# ---------------------------------------------------------------------------------------------------------
# One tier


class _Tier(NamedTuple):
    """Times of one tier for one model; ``sharers`` transfers go on at once on what is shared.

    Attributes:
        down: Server to endpoint at the full rate [s], without latency.
        up: Endpoint to server at the full rate [s], without latency.
        hop: Endpoint to endpoint in a ring at the full rate [s], without latency.
        latency: Of one traversal [s].
        hop_latency: Of one hop of a ring [s].
        relayed: Whether a hop goes up to the server and down again.
    """

    down: float
    up: float
    hop: float
    latency: float
    hop_latency: float
    relayed: bool

    def exchange(self, sharers: int) -> float:
        """Down and up [s] when ``sharers`` transfers share the rates."""
        return sharers * (self.down + self.up) + 2 * self.latency

    def around(self, endpoints: int, sharers: int) -> float:
        """Down, every hop of a ring of ``endpoints``, and up [s], when ``sharers`` rings share the rates."""
        return self.exchange(sharers) + (endpoints - 1) * (sharers * self.hop + self.hop_latency)


_FREE: Final = _Tier(0.0, 0.0, 0.0, 0.0, 0.0, relayed=False)


def _tier(link: Link, model_bytes: float) -> _Tier:
    bits = 8.0 * model_bytes
    down, up = bits / link.down, bits / link.up
    if link.hop == "direct":
        return _Tier(down, up, max(down, up), link.latency, link.latency, relayed=False)
    return _Tier(down, up, up + down, link.latency, 2 * link.latency, relayed=True)


def _top(network: Network, model_bytes: float) -> _Tier:
    if network.tiers == 1 or network.server_link is None:
        return _FREE
    return _tier(network.server_link, model_bytes)


def _sharers(topology: str, G: int, M: int, network: Network, method: str) -> tuple[int, int]:
    """Transfers that share a client-link rate and a server-link rate when all groups move in step."""
    star_top, star_low = _tiers(topology)
    low = M if star_low else 1
    if network.tiers == 1 and star_top:
        low *= G  # the groups work at the same time, and their server is one and the same
    top = G if star_top else 1
    if method == "formula":
        return 1, 1
    if method == "diluted":
        return low, top
    shared_top = network.server_link is not None and network.server_link.sharing == "per-server"
    return low if network.client_link.sharing == "per-server" else 1, top if shared_top else 1


# ---------------------------------------------------------------------------------------------------------
# No stragglers


def _exact(
    topology: str,
    G: int,
    M: int,
    P: int,
    K: int,
    network: Network,
    compute: Compute,
    model_bytes: float,
    method: str,
) -> float:
    """Closed form: equal groups of equal clients move in step, so that every method is one expression.

    Transfers that start together share a rate equally and end together, ``sharers`` times later.
    """
    star_top, star_low = _tiers(topology)
    low_sharers, top_sharers = _sharers(topology, G, M, network, method)
    low, top = _tier(network.client_link, model_bytes), _top(network, model_bytes)
    work = K * compute.step_time
    group_round = low.exchange(low_sharers) + work if star_low else low.around(M, low_sharers) + M * work
    if star_top:
        return top.exchange(top_sharers) + compute.aggregation_time + P * group_round
    return top.around(G, top_sharers) + G * (compute.aggregation_time + P * group_round)


# ---------------------------------------------------------------------------------------------------------
# Stragglers: the draws


class _Draws:
    """Factors on the compute times, and the summaries of them that costs need.

    Attributes:
        factors: Shape (draws, P, G, M) [-].
    """

    def __init__(self, factors: FloatArray) -> None:
        factors.flags.writeable = False  # shared between calls
        self.factors = factors

    @cached_property
    def largest(self) -> FloatArray:
        """Largest factor of each group and group round; shape (draws, P, G)."""
        return np.asarray(self.factors.max(axis=-1))

    @cached_property
    def total(self) -> FloatArray:
        """Sum of the factors of each group and group round; shape (draws, P, G)."""
        return np.asarray(self.factors.sum(axis=-1))

    @cached_property
    def ascending(self) -> FloatArray:
        """Factors in the order in which a group's clients finish; shape (draws, P, G, M)."""
        return np.sort(self.factors, axis=-1)


def _factors(rng: np.random.Generator, shape: tuple[int, ...], straggler: Straggler) -> FloatArray:
    """Unit draws, scaled: the same unit draws at every coefficient of variation."""
    if straggler.kind == "exponential":
        factors = rng.standard_exponential(shape)
        factors *= straggler.cv
        factors += 1.0 - straggler.cv
        return factors
    variance = math.log1p(straggler.cv**2)  # of the log, for a factor of mean 1
    factors = rng.standard_normal(shape)
    factors *= math.sqrt(variance)
    factors -= 0.5 * variance
    np.exp(factors, out=factors)
    return factors


@lru_cache(maxsize=16)
def _kept(G: int, M: int, P: int, straggler: Straggler, seed: int) -> _Draws:
    """All draws at once, kept for the next topology and the next change of a parameter."""
    draws = max(_FEWEST_DRAWS, round(_TARGET_SAMPLES / (G * M * P)))
    return _Draws(_factors(np.random.default_rng(seed), (draws, P, G, M), straggler))


def _blocks(G: int, M: int, P: int, straggler: Straggler, seed: int) -> Iterator[_Draws]:
    """The draws in blocks: one block where it is small enough to keep, else one draw at a time.

    Raises:
        CostError: If one draw is too large.
    """
    size = G * M * P
    if size > _LARGEST_DRAW:
        raise CostError(
            f"compute.straggler: G*M*P = {size} compute times are too many to draw, at most "
            f"{_LARGEST_DRAW:g}. Use the straggler kind none, or time fewer groups or group rounds."
        )
    if _FEWEST_DRAWS * size <= _CACHED_SAMPLES:
        yield _kept(G, M, P, straggler, seed)
        return
    rng = np.random.default_rng(seed)
    for _ in range(_FEWEST_DRAWS):
        yield _Draws(_factors(rng, (1, P, G, M), straggler))


# ---------------------------------------------------------------------------------------------------------
# Stragglers: the round


@lru_cache(maxsize=256)  # one answer asks for the same round several times, and a played one takes a second
def _sampled(
    topology: str,
    G: int,
    M: int,
    P: int,
    K: int,
    network: Network,
    compute: Compute,
    model_bytes: float,
    method: str,
    seed: int,
) -> FloatArray:
    """Duration of the round [s] for every draw; shape (draws,)."""
    star_top, star_low = _tiers(topology)
    low_sharers, top_sharers = _sharers(topology, G, M, network, method)
    low, top = _tier(network.client_link, model_bytes), _top(network, model_bytes)
    work = K * compute.step_time
    shared_low = method == "schedule" and low_sharers > 1
    if shared_low and network.tiers == 1 and star_top and G > 1 and (P > 1 or not star_low):
        times = _played(star_low, G, M, P, work, low, compute.straggler, seed)
        return np.asarray(times + compute.aggregation_time)

    parts = []
    for draws in _blocks(G, M, P, compute.straggler, seed):
        if shared_low and network.tiers == 1 and star_top:
            # One group round of all clients at one server: one batch of downloads, one of uploads. (Or G is
            # 1, where this is the one group's own star.)
            pool = draws.factors.reshape(*draws.factors.shape[:2], 1, G * M)
            group_round = _star(_Draws(pool), work, low, low_sharers, shared=True)
        elif star_low:
            group_round = _star(draws, work, low, low_sharers, shared=shared_low)
        else:
            group_round = low.around(M, low_sharers) + work * draws.total
        parts.append(_combine(group_round, star_top, G, top, top_sharers, compute.aggregation_time, method))
    return np.concatenate(parts)


def _star(draws: _Draws, work: float, low: _Tier, sharers: int, *, shared: bool) -> FloatArray:
    """Duration of every group round of a star low tier [s]; shape (draws, P, G)."""
    if not shared:
        return np.asarray(low.exchange(sharers) + work * draws.largest)
    # The downloads start together and end together; every client computes; the uploads share the rate.
    ready = sharers * low.down + low.latency
    return np.asarray(ready + _makespan(work * draws.ascending, low.up) + low.latency)


def _makespan(releases: FloatArray, transfer: float) -> FloatArray:
    """End of equal transfers that share one rate, from their ascending release times [s] on the last axis.

    Equals max over j of c_(j) + (n - j + 1) S/r. Proof: a busy link finishes one model's worth of bits every
    S/r seconds, so its last busy period, begun by the release of some j with j, ..., n still to send, ends at
    that j's value; and no j gives more, as the n - j + 1 transfers released from c_(j) on start after it.

    Args:
        releases: Release times c_(1) <= ... <= c_(n) [s]; shape (..., n).
        transfer: S/r, one transfer at the full rate [s].
    """
    behind = np.arange(releases.shape[-1], 0, -1, dtype=np.float64)
    return np.asarray((releases + transfer * behind).max(axis=-1))


def _combine(
    group_round: FloatArray,
    star_top: bool,
    G: int,
    top: _Tier,
    sharers: int,
    aggregation_time: float,
    method: str,
) -> FloatArray:
    """Duration of the round [s], shape (draws,), from that of every group round, shape (draws, P, G)."""
    if not star_top:
        # One group after the other: schedule and formula are the same sum.
        return np.asarray(top.around(G, sharers) + G * aggregation_time + group_round.sum(axis=(1, 2)))
    if method != "schedule":
        return np.asarray(top.exchange(sharers) + aggregation_time + group_round.max(axis=2).sum(axis=1))
    finished = group_round.sum(axis=1) + (sharers * top.down + top.latency + aggregation_time)
    if sharers > 1:
        return np.asarray(_makespan(np.sort(finished, axis=-1), top.up) + top.latency)
    return np.asarray(finished.max(axis=-1) + (top.up + top.latency))


# ---------------------------------------------------------------------------------------------------------
# Stragglers, one shared server, groups out of step: no closed form, the schedule is played event by event

_DOWN, _UP, _HOP = range(3)


def _played(
    star_low: bool, G: int, M: int, P: int, work: float, low: _Tier, straggler: Straggler, seed: int
) -> FloatArray:
    """Duration of the round [s], shape (draws,), when all groups share the client link of one server.

    The groups run their group rounds independently of one another and meet only in the link's two rates.
    Rings that meet so are chaotic: rounding may move a single draw by a part in a thousand, which leaves the
    average alone. Elsewhere a draw is good to a dozen digits.

    Raises:
        CostError: If one draw has too many events.
    """
    size = G * M * P
    if size > _LARGEST_EVENT_DRAW:
        raise CostError(
            "network: with one tier, a per-server client_link and stragglers, G*M*P is at most "
            f"{_LARGEST_EVENT_DRAW}, not {size}. Use method='diluted', an upper bound, or no stragglers."
        )
    # The first of the draws that every other schedule uses.
    times = work * _kept(G, M, P, straggler, seed).factors[: max(_FEWEST_DRAWS, _EVENT_SAMPLES // size)]
    if star_low:
        times = np.sort(times, axis=-1)  # in the order in which a group's clients finish
    return np.array([_play(star_low, one.tolist(), low) for one in times])


def _play(star_low: bool, times: list[list[list[float]]], low: _Tier) -> float:
    """End of one draw [s]; ``times`` [s] has the shape (P, G, M), ascending on the last axis for a star.

    Every rate is divided equally among the transfers that use it at the moment; a direct hop uses both and
    goes at the smaller share. All transfers of a kind then advance at one speed, so each kind is a queue in
    order of arrival with a clock of its own: "models sent per transfer so far". A transfer that starts at
    clock v ends at clock v + 1, and nothing has to be updated when the number of transfers changes.
    """
    rounds, groups, clients = len(times), len(times[0]), len(times[0][0])
    down_work, up_work, latency, relayed = low.down, low.up, low.latency, low.relayed
    queues: tuple[deque[tuple[float, int]], ...] = (deque(), deque(), deque())  # (clock at the end, group)
    clocks = [0.0, 0.0, 0.0]
    weight = clients if star_low else 1  # a star's downloads are M transfers that move as one
    downs = ups = hops = 0
    timers: list[tuple[float, int, int]] = [(0.0, g, _DOWN) for g in range(groups)]  # (when, group, kind)
    turn = [0] * groups  # group round under way
    place = [0] * groups  # star: clients that have started to upload; ring: client whose turn it is
    sent = [0] * groups  # star: uploads done in this group round
    begun = [0.0] * groups  # star: when the clients began to compute
    now = end = 0.0

    while True:
        # Seconds until the first transfer of each kind ends, at the present speeds.
        soonest, which = math.inf, -1
        if downs:
            pace_down = down_work * (downs + hops)  # seconds per model
            soonest, which = (queues[_DOWN][0][0] - clocks[_DOWN]) * pace_down, _DOWN
        if ups:
            pace_up = up_work * (ups + hops)
            wait = (queues[_UP][0][0] - clocks[_UP]) * pace_up
            if wait < soonest:
                soonest, which = wait, _UP
        if hops:
            pace_hop = max(down_work * (downs + hops), up_work * (ups + hops))
            wait = (queues[_HOP][0][0] - clocks[_HOP]) * pace_hop
            if wait < soonest:
                soonest, which = wait, _HOP
        timed = bool(timers) and timers[0][0] <= now + soonest
        if timed:
            step = timers[0][0] - now
        elif which >= 0:
            step = soonest
        else:
            return end
        if downs:
            clocks[_DOWN] += step / pace_down
        if ups:
            clocks[_UP] += step / pace_up
        if hops:
            clocks[_HOP] += step / pace_hop
        now += step

        if timed:  # a transfer starts
            now, g, kind = heappop(timers)
            queues[kind].append((clocks[kind] + 1.0, g))
            if kind == _DOWN:
                downs += weight
            elif kind == _HOP:
                hops += 1
            else:
                ups += 1
                if star_low:
                    place[g] += 1
                    if place[g] < clients:  # the group's next client to finish
                        heappush(timers, (begun[g] + times[turn[g]][g][place[g]], g, _UP))
            continue

        clocks[which], g = queues[which].popleft()  # a transfer ends; its clock is exact here
        arrived = now + latency
        if which == _DOWN:
            downs -= weight
        elif which == _UP:
            ups -= 1
        else:
            hops -= 1
        if star_low:
            if which == _DOWN:
                place[g] = sent[g] = 0
                begun[g] = arrived
                heappush(timers, (arrived + times[turn[g]][g][0], g, _UP))
                continue
            sent[g] += 1
            over = sent[g] == clients
        elif which == _UP:
            over = place[g] == clients
            if not over:  # relayed: the server passes the model on
                heappush(timers, (arrived, g, _DOWN))
        else:  # a client has the model: it computes and passes it on
            over = False
            finished = arrived + times[turn[g]][g][place[g]]
            place[g] += 1
            last = place[g] == clients
            heappush(timers, (finished, g, _UP if last or relayed else _HOP))
        if over:
            turn[g] += 1
            place[g] = 0
            end = max(end, arrived)
            if turn[g] < rounds:
                heappush(timers, (arrived, g, _DOWN))
