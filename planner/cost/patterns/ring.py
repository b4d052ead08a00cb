"""A ring: the model goes down to the first child, from child to child, and up from the last."""

from collections.abc import Sequence

import numpy as np

from planner.cost.patterns import Call, Channel, Done, FloatArray, Schedule
from planner.cost.wires import Transfers, Wire
from planner.scenario.network import Link


class Ring(Schedule):
    """One child after the other."""

    id = "ring"
    pools = False

    def traversals(self, endpoints: int, link: Link) -> int:
        """Down, the hops, and up; a relayed hop is two traversals."""
        return endpoints + 1 if link.hop == "direct" else 2 * endpoints

    def transfers(self, wire: Wire, sharers: int) -> Transfers:
        """A hop each; the first download and the last upload are one more."""
        hop = wire.hop(sharers)
        return Transfers(hop, wire.exchange(sharers) - hop)

    def digest(self, times: FloatArray, together: bool) -> FloatArray:
        """Their sum."""
        return np.asarray(times.sum(axis=-1))

    def play(self, channel: Channel, children: Sequence[Call], at: float, done: Done) -> None:
        """Done when the last child's upload is."""

        def turn(i: int, at: float) -> None:
            if i + 1 < len(children):
                children[i](at, lambda end: channel.hop(end, lambda there: turn(i + 1, there)))
            else:
                children[i](at, lambda end: channel.up(end, done))

        channel.down(at, lambda there: turn(0, there))


SCHEDULE = Ring()
