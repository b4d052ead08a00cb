"""The links of one tier: what one model takes on them, and how a round that is played event by event uses them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from typing import Final, NamedTuple

from planner.scenario.network import Link


class Transfers(NamedTuple):
    """Time on the links of one tier, without the work between the transfers."""

    turn: float  # of one turn [s]; in a pass there are as many, one after the other, as the pattern chains children
    ends: float  # what a pass takes beyond its turns [s], such as the first download and the last upload of a ring


class Wire(NamedTuple):
    """Times of one tier for one model; ``sharers`` transfers go on at once on what is shared."""

    down: float  # server to endpoint at the full rate [s], without latency
    up: float  # endpoint to server at the full rate [s], without latency
    latency: float  # of one traversal [s]
    relayed: bool  # whether a hop from endpoint to endpoint goes up to the server and down again
    packed: float = 1.0  # bytes of a direct hop over those of a download

    def exchange(self, sharers: int) -> float:
        """Time down and up [s]."""
        return sharers * (self.down + self.up) + 2 * self.latency

    def hop(self, sharers: int) -> float:
        """Time from endpoint to endpoint [s]."""
        return self.exchange(sharers) if self.relayed else sharers * self.across + self.latency

    @property
    def across(self) -> float:
        """A direct hop at the full rates [s], without latency."""
        return max(self.down * self.packed, self.up)


FREE: Final = Wire(0.0, 0.0, 0.0, relayed=False)
"""Of a tier on which nothing travels."""


def wire(link: Link | None, model_bytes: float) -> Wire:
    """Time one model of ``model_bytes`` [bytes] on a link."""
    if link is None:
        return FREE
    bits, relayed = 8.0 * model_bytes, link.hop == "relayed"
    down, up = bits * link.payload_down / link.down, bits * link.payload_up / link.up
    return Wire(down, up, link.latency, relayed, link.payload_up / link.payload_down)


# ---------------------------------------------------------------------------------------------------------
# Event by event

Done = Callable[[float], None]  # what follows at some time [s]
Call = Callable[[float, Done], None]  # begins at some time, and says when it is done

_DOWN, _UP, _HOP = range(3)


class Server:
    """One machine's rates down and up, divided equally among the transfers that use them at the moment.

    A direct hop uses both and goes at the smaller share. All transfers of a kind then advance at one speed, so each
    kind is a queue in order of arrival with a clock of its own: "models sent per transfer so far". A transfer that
    starts at clock v ends at clock v + 1, and nothing has to be updated when the number of transfers changes.
    """

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.timers: list[tuple[float, int, int, int, Done]] = []  # when, order, kind, models, what follows
        self.order = 0

    def down(self, at: float, then: Done, models: int = 1) -> None:
        """Send models, which move as one."""
        self._send(at, _DOWN, models, then)

    def up(self, at: float, then: Done) -> None:
        """Send a model to the server."""
        self._send(at, _UP, 1, then)

    def hop(self, at: float, then: Done) -> None:
        """Send a model from endpoint to endpoint, through the server where it is relayed."""
        if self.wire.relayed:
            self.up(at, partial(self.down, then=then))
        else:
            self._send(at, _HOP, 1, then)

    def _send(self, at: float, kind: int, models: int, then: Done) -> None:
        self.order += 1
        heappush(self.timers, (at, self.order, kind, models, then))

    def run(self) -> None:
        """Play until nothing is under way."""
        queues: list[deque[tuple[float, int, Done]]] = [deque(), deque(), deque()]  # clock at the end, models
        clocks, under_way, timers, now = [0.0, 0.0, 0.0], [0, 0, 0], self.timers, 0.0
        down_rate, up_rate, latency, _, packed = self.wire
        while True:
            downs, ups, hops = under_way
            down, up = down_rate * (downs + hops), up_rate * (ups + hops)
            across = down * packed
            busy = [
                (kind, pace)  # seconds per model
                for kind, pace in ((_DOWN, down), (_UP, up), (_HOP, across if across > up else up))
                if under_way[kind]
            ]
            soonest, which = math.inf, -1
            for kind, pace in busy:
                wait = (queues[kind][0][0] - clocks[kind]) * pace
                if wait < soonest:
                    soonest, which = wait, kind
            timed = bool(timers) and timers[0][0] <= now + soonest
            if not timed and which < 0:
                return
            step = timers[0][0] - now if timed else soonest
            for kind, pace in busy:
                clocks[kind] += step / pace
            if timed:
                now, _, kind, models, then = heappop(timers)
                queues[kind].append((clocks[kind] + 1.0, models, then))
                under_way[kind] += models
            else:
                now += step
                clocks[which], models, then = queues[which].popleft()  # its clock is exact here
                under_way[which] -= models
                then(now + latency)


class AtOnce(Server):
    """Links on which nothing travels."""

    def __init__(self) -> None:
        super().__init__(FREE)

    def _send(self, at: float, kind: int, models: int, then: Done) -> None:
        then(at)
