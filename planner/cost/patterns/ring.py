"""A ring: the model goes down to the first child, from child to child, and up from the last."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.cost.chances import Outcome, Stay, Steps, Turn, reached
from planner.cost.patterns import Crowd, FloatArray, Ints, Schedule
from planner.cost.wires import Call, Done, Server, Transfers, Wire
from planner.scenario.network import Link


class Ring(Schedule):
    """One child after the other."""

    id = "ring"
    pools = False
    joins = np.add

    def models(self, asked: float, came: float, ended: float, link: Link | None) -> float:
        """One to each that is asked, and one up at the end; a relayed hop is two traversals."""
        if link is None or link.hop == "relayed":
            down, up = (1.0, 1.0) if link is None else (link.payload_down, link.payload_up)
            return asked * down + came * up
        return link.payload_down + (asked - 1 + ended) * link.payload_up

    def on_air(self, n: int, wire: Wire) -> float:
        """A direct hop keeps two busy, until the slower of the two directions is done."""
        if wire.relayed:
            return n * (wire.down + wire.up)
        return wire.down + wire.up + (n - 1) * 2 * wire.across

    def outcome(self, n: int, p: float, need: int) -> Outcome:
        """It breaks at the first that does not come."""
        return Outcome(p**n, reached(n, p), float(n))

    def steps(self, n: int, turn: Turn, ends: float, passed: float, waits: bool) -> Steps:
        """One for each turn."""
        return Steps(n, turn.client, 1 - turn.client if waits else 0.0, turn.completed, turn.missed, ends)

    def expects(self, n: int, transfers: Transfers, stay: Stay, asked: float, ended: float) -> float:
        """One stay after the other."""
        there = stay.server * (transfers.turn + stay.mean) + (1 - stay.server) * stay.missed
        return asked * there + transfers.ends * ended

    def transfers(self, wire: Wire, sharers: int) -> Transfers:
        """A hop each; the first download and the last upload are one more."""
        hop = wire.hop(sharers)
        return Transfers(hop, wire.exchange(sharers) - hop)

    def turns(self, own: Wire, following: Wire, last: NDArray[np.bool_], sharers: Any) -> FloatArray:
        """A hop to the next, at the slower end's rate; the last upload and the first download are as a relayed one."""
        delay = own.latency + following.latency
        direct = ~(np.asarray(own.relayed) | following.relayed | last)
        hop = sharers * np.maximum(own.up, following.down * following.packed) + delay / 2
        return np.asarray(np.where(direct, hop, sharers * (own.up + following.down) + delay))

    def crowd(self, node: Ints, link: Ints, pace: FloatArray) -> Crowd:
        """Those with one link before one link."""
        ends = np.append(np.flatnonzero(np.diff(node)), len(node) - 1)
        following, last = np.roll(link, -1), np.zeros(len(node), dtype=np.int64)
        following[ends], last[ends] = link[np.append(0, ends[:-1] + 1)], 1
        keys, of, count = np.unique(
            np.stack([node, link, following, last]), axis=1, return_inverse=True, return_counts=True
        )
        work = np.asarray(np.bincount(of.reshape(-1), weights=pace), dtype=np.float64)
        return Crowd(keys[0], keys[1], keys[2], keys[3] == 1, count, work)

    def play(self, channel: Server, children: Sequence[Call], at: float, done: Done) -> None:
        """Done when the last child's upload is."""

        def turn(i: int, at: float) -> None:
            if i + 1 < len(children):
                children[i](at, lambda end: channel.hop(end, lambda there: turn(i + 1, there)))
            else:
                children[i](at, lambda end: channel.up(end, done))

        channel.down(at, lambda there: turn(0, there))


SCHEDULE = Ring()
