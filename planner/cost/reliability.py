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
same holds for bytes. These are exact for the model above without stragglers, for one tier and for two; where compute
times are random, turns of a ring enter with their mean, and a pass of a star with what it takes where everyone comes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np

from hflbounds.topology import Tier, Topology
from planner.cost.chances import FloatArray, Outcome, Stay, Turn, at_least_one, mean_if_at_least, needed, reached
from planner.cost.spec import CostError, Level, RoundSpec, levels
from planner.cost.stragglers import mean_duration
from planner.scenario.availability import Availability
from planner.scenario.network import NOTHING, Network, Straggler

LEAST: Final = 0.01
"""The smallest survival of a global round with which a plan is a plan: at most 100 begun for one completed."""

_GRID: Final = 800  # points at which a distribution of compute times is looked at


@dataclass(frozen=True, slots=True)
class Attendance:
    """What becomes of a global round of one topology."""

    survival: float  # probability that a round begun is completed
    client: float  # probability that a client that is asked completes its turn in time
    cut_off: float  # part of those who would complete it that come too late
    timeout: float | None  # longest turn waited for [s], where there is one
    shortest: float  # of a client's turn, the transfers and the least work [s]
    group: float  # probability that a group completes its part
    groups: float  # expected in a completed round
    clients: float  # expected in each group round of those
    lasts: float  # seconds of a round begun, by groups of one size
    usual: float  # the same of a round to which everyone comes
    # bytes per completed round over those of a round to which everyone comes, on the links of each tier, top first
    traffic: tuple[float, ...]

    @property
    def slower(self) -> float:
        """Seconds per completed round over those of a round to which everyone comes."""
        return self.lasts / self.usual / self.survival if self.survival > 0 else math.inf

    @property
    def feasible(self) -> bool:
        """Whether a round survives often enough to plan with."""
        return self.survival >= LEAST


@lru_cache(maxsize=8192)
def attend(spec: RoundSpec, availability: Availability) -> Attendance:
    """What becomes of a global round of those who are asked.

    Raises:
        CostError: If there are more than two tiers, or several passes of the top tier.
    """
    tiers, links = spec.topology.tiers, spec.network.links
    if len(tiers) == 1:  # one group of everybody
        group = Topology((Tier(tiers[0].pattern, 1), *tiers))
        there = attend(replace(spec, topology=group, network=Network((None, *links))), availability)
        return replace(there, traffic=there.traffic[1:])
    if len(tiers) > 2 or tiers[0].passes > 1:
        deep = f"at most two tiers, and this fleet has {len(tiers)}"
        raise CostError(
            f"availability: it is counted for {deep if len(tiers) > 2 else 'one pass of the upper tier'}. Leave it out,"
            f" as --availability 100% does. Or ask about the servers that wait for devices: "
            f"--groups {math.prod(t.size or 1 for t in tiers[:-1])} --clients-per-group {tiers[-1].size} in place of "
            "this file or these sizes. With a file its links, model and times are lost: give them too."
        )
    if links[0] in (None, NOTHING):  # there are no group servers that could stay away
        availability = replace(availability, server=1.0)
    alike = replace(spec, topology=spec.topology.same_algorithm())  # one endpoint alone is neither star nor ring
    top, low = levels(alike)
    work, straggler = spec.work, spec.compute.straggler
    turn, alone = (
        _turn(low.transfers.turn, work, straggler, low.active, one) for one in (availability, Availability())
    )
    waits, p = availability.policy != "fail", turn.client  # for nobody, or for those who do not come
    if p <= 0 or availability.server <= 0:
        return _nothing(turn, 0.0)

    def outcome(level: Level, p: float) -> Outcome:
        if waits:
            return Outcome(at_least_one(level.n, p), float(level.n), mean_if_at_least(level.n, p, 1))
        return level.schedule.outcome(level.n, p, needed(availability.quorum, level.n))

    def stay(turn: Turn, server: float, passed: float, waits: bool) -> Stay:
        steps = low.schedule.steps(low.n, turn, low.transfers.ends, passed, waits)
        return Stay(server, turn.missed, steps, low.passes)

    in_pass = outcome(low, p)
    survival = at_least_one(low.n * low.passes, p) if waits else in_pass.passed**low.passes
    q = availability.server * survival
    groups = outcome(top, q)
    if groups.passed == 0:
        return _nothing(turn, q)

    def undisturbed(turn: Turn) -> float:
        return top.schedule.expects(top.n, top.transfers, stay(turn, 1.0, 1.0, False), float(top.n), 1.0)

    if low.active > 1 and straggler.varies and work > 0:  # of passes to which all come; waits stay as told
        early = (undisturbed(alone) - mean_duration(alike)[0]) / (top.turns * low.passes)
        turn, alone = (one._replace(all_in=max(one.all_in - early, one.shortest)) for one in (turn, alone))
    began = 1.0 if waits else in_pass.passed
    stays = stay(turn, availability.server, began, waits)
    seconds = top.schedule.expects(top.n, top.transfers, stays, groups.asked, 1.0 if waits else groups.passed)
    passes = groups.asked * availability.server * reached(low.passes, began)
    on_clients = passes * low.schedule.models(in_pass.asked, in_pass.asked * p, in_pass.passed, links[1])
    on_servers = top.schedule.models(groups.asked, groups.asked * q, groups.passed, links[0])
    return Attendance(
        survival=groups.passed,
        client=p,
        cut_off=turn.cut_off,
        timeout=turn.timeout,
        shortest=turn.shortest,
        group=q,
        groups=groups.come,
        clients=low.n * p / survival if waits else in_pass.come,
        lasts=seconds,
        usual=undisturbed(alone),
        traffic=(
            on_servers / top.schedule.models(top.n, top.n, 1, links[0]) / groups.passed,
            on_clients / (top.n * low.passes * low.schedule.models(low.n, low.n, 1, links[1])) / groups.passed,
        ),
    )


def _nothing(turn: Turn, q: float) -> Attendance:
    """Of rounds that are never completed."""
    client = max(turn.client, 0.0)
    never = (math.inf, math.inf)
    return Attendance(0.0, client, turn.cut_off, turn.timeout, turn.shortest, q, 0.0, 0.0, math.inf, 1.0, never)


def everyone(groups: float, clients: float) -> Attendance:
    """Of rounds to which so many groups of so many clients always come."""
    return Attendance(1.0, 1.0, 0.0, None, 0.0, 1.0, groups, clients, 1.0, 1.0, (1.0, 1.0))


# ---------------------------------------------------------------------------------------------------------
# One client's turn


def _turn(transfer: float, work: float, straggler: Straggler, active: int, availability: Availability) -> Turn:
    """A turn of ``transfer`` seconds on the links and ``work`` seconds in the mean; so many at the same time."""
    mean = transfer + work
    lasting = 1.0 if availability.mtbf is None else math.exp(-mean / availability.mtbf)
    client = availability.client * lasting
    random = straggler.varies and work > 0
    if availability.policy != "timeout":
        missed = availability.patience * mean if availability.detect is None else availability.detect
        slowest = _slowest_client(straggler, active) if random and active > 1 else 1.0
        shortest = transfer + work * (_least(straggler) if random else 1.0)
        return Turn(client, mean, missed, transfer + work * slowest, 0.0, None, shortest)
    if not random:
        timeout = mean if availability.timeout is None else availability.timeout
        late = timeout < mean
        return Turn(0.0 if late else client, mean, timeout, mean, float(late), timeout, mean)
    least = _least(straggler)
    x, share = _quantiles(straggler)
    at = None
    if availability.timeout is not None:
        given = (availability.timeout - transfer) / work
        if given <= least:
            return Turn(0.0, mean, availability.timeout, mean, 1.0, availability.timeout, transfer + work * least)
        at = int(np.searchsorted(x, given))
        x, share = np.insert(x, at, given), np.insert(share, at, _share_within(straggler, given))
    in_time = client * share
    waited = transfer + work * x
    # E[min(X, x)] is the integral of the upper tail up to x, of a turn and of the last of those at the same time.
    spent = transfer + work * _integral(x, 1 - in_time**active)
    if at is None:
        at = int(np.argmin(spent[1:] / in_time[1:])) + 1
    all_come, timeout = float(in_time[at]) ** active, float(waited[at])
    completed = transfer + work * float(x[at] - _integral(x, share)[at] / share[at])
    all_in = timeout if all_come < 1e-9 else (float(spent[at]) - (1 - all_come) * timeout) / all_come
    return Turn(
        client=float(in_time[at]),
        completed=completed,
        missed=timeout,
        all_in=min(max(all_in, completed), timeout),
        cut_off=1 - float(share[at]),
        timeout=timeout,
        shortest=transfer + work * least,
    )


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
