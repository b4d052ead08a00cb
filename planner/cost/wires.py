"""What one model takes on the links of one tier."""

from __future__ import annotations

from typing import Final, NamedTuple

from planner.scenario.network import Link


class Transfers(NamedTuple):
    """Time on the links of one tier, without the work between the transfers.

    Attributes:
        turn: Of one turn [s]; in a pass there are as many, one after the other, as the pattern chains children.
        ends: What a pass takes beyond its turns [s], such as the first download and the last upload of a ring.
    """

    turn: float
    ends: float


class Wire(NamedTuple):
    """Times of one tier for one model; ``sharers`` transfers go on at once on what is shared.

    Attributes:
        down: Server to endpoint at the full rate [s], without latency.
        up: Endpoint to server at the full rate [s], without latency.
        latency: Of one traversal [s].
        relayed: Whether a hop from endpoint to endpoint goes up to the server and down again.
    """

    down: float
    up: float
    latency: float
    relayed: bool

    def exchange(self, sharers: int) -> float:
        """Time down and up [s]."""
        return sharers * (self.down + self.up) + 2 * self.latency

    def hop(self, sharers: int) -> float:
        """Time from endpoint to endpoint [s]."""
        if self.relayed:
            return sharers * (self.up + self.down) + 2 * self.latency
        return sharers * max(self.down, self.up) + self.latency


FREE: Final = Wire(0.0, 0.0, 0.0, relayed=False)
"""Of a tier on which nothing travels."""


def wire(link: Link | None, model_bytes: float) -> Wire:
    """Time one model of ``model_bytes`` [bytes] on a link."""
    if link is None:
        return FREE
    bits = 8.0 * model_bytes
    return Wire(bits / link.down, bits / link.up, link.latency, link.hop == "relayed")
