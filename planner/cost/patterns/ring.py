"""A ring: the model goes down to the first child, from child to child, and up from the last."""

from collections.abc import Sequence

import numpy as np

from planner.cost.chances import Outcome, Stay, Steps, Turn, reached
from planner.cost.patterns import FloatArray, Schedule
from planner.cost.wires import Call, Done, Server, Transfers, Wire
from planner.scenario.network import Link


class Ring(Schedule):
    """One child after the other."""

    id = "ring"
    pools = False

    def models(self, asked: float, came: float, ended: float, link: Link | None) -> float:
        """One to each that is asked, and one up at the end; a relayed hop is two traversals."""
        return asked + (ended if link is not None and link.hop == "direct" else came)

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

    def digest(self, times: FloatArray, together: bool) -> FloatArray:
        """Their sum."""
        return np.asarray(times.sum(axis=-1))

    def play(self, channel: Server, children: Sequence[Call], at: float, done: Done) -> None:
        """Done when the last child's upload is."""

        def turn(i: int, at: float) -> None:
            if i + 1 < len(children):
                children[i](at, lambda end: channel.hop(end, lambda there: turn(i + 1, there)))
            else:
                children[i](at, lambda end: channel.up(end, done))

        channel.down(at, lambda there: turn(0, there))


SCHEDULE = Ring()
