"""A star: all children download, work side by side, and upload."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.cost.chances import Outcome, Stay, Steps, Turn, at_least, mean_if_at_least
from planner.cost.patterns import Crowd, FloatArray, Ints, Schedule
from planner.cost.wires import Call, Done, Server, Transfers, Wire
from planner.scenario.network import Link

_FEW = 64  # children of which a digest is not condensed


class Star(Schedule):
    """Download, work and upload, all children at the same time."""

    id = "star"
    pools = True
    joins = np.maximum

    def models(self, asked: float, came: float, ended: float, link: Link | None) -> float:
        """One down, and one up of those who come."""
        return asked + came if link is None else asked * link.payload_down + came * link.payload_up

    def on_air(self, n: int, wire: Wire) -> float:
        """Each is there for its own."""
        return n * (wire.down + wire.up)

    def outcome(self, n: int, p: float, need: int) -> Outcome:
        """All are asked, and a quorum is enough."""
        return Outcome(at_least(n, p, need), float(n), mean_if_at_least(n, p, need))

    def steps(self, n: int, turn: Turn, ends: float, passed: float, waits: bool) -> Steps:
        """One, which is late where one does not come; a client alone is not waited for beside others."""
        late = turn.missed if n == 1 else max(turn.all_in, turn.missed)
        prompt = turn.client**n
        return Steps(1, prompt, passed - prompt, turn.all_in, late, ends)

    def expects(self, n: int, transfers: Transfers, stay: Stay, asked: float, ended: float) -> float:
        """The longest stay."""
        return transfers.turn + stay.slowest(n)

    def transfers(self, wire: Wire, sharers: int) -> Transfers:
        """Down and up."""
        return Transfers(wire.exchange(sharers), 0.0)

    def turns(self, own: Wire, following: Wire, last: NDArray[np.bool_], sharers: Any) -> FloatArray:
        """Down and up, each at its own rate."""
        return np.asarray(own.exchange(sharers))

    def crowd(self, node: Ints, link: Ints, pace: FloatArray) -> Crowd:
        """The slowest on each link."""
        keys, of = np.unique(np.stack([node, link]), axis=1, return_inverse=True)
        slowest = np.zeros(keys.shape[1])
        np.maximum.at(slowest, of.reshape(-1), pace)
        one = np.ones(keys.shape[1], dtype=np.int64)
        return Crowd(keys[0], keys[1], keys[1], one == 1, one, slowest)

    def digest(self, times: FloatArray, together: bool) -> FloatArray:
        """The slowest; or all in the order in which they finish, and how many then have not sent."""
        if not together:
            return super().digest(times, together)
        unsent = np.arange(times.shape[-1], 0, -1, dtype=np.float64)
        return np.stack([np.sort(times, axis=-1), np.broadcast_to(unsent, times.shape)], axis=-2)

    def condense(self, digest: FloatArray) -> FloatArray:
        """A point below the line between its neighbours has the largest sum under no weights of time and number."""
        while digest.shape[-1] > _FEW:
            before, here, after = digest[..., :-2], digest[..., 1:-1], digest[..., 2:]
            (x, y), (across, down) = (np.moveaxis(end - before, -2, 0) for end in (here, after))
            stays = np.ones(digest.shape[:-2] + digest.shape[-1:], dtype=bool)
            stays[..., 1:-1] = y * across > down * x
            count = stays.sum(axis=-1, keepdims=True)
            if count.max() == digest.shape[-1]:
                break
            order = np.argsort(~stays, axis=-1, kind="stable")[..., : count.max()]
            last = np.take_along_axis(order, count - 1, axis=-1)
            order = np.where(np.arange(order.shape[-1]) < count, order, last)
            digest = np.take_along_axis(digest, order[..., None, :], axis=-1)
        return digest

    def meet(self, digest: FloatArray, scale: float, wire: Wire, sharers: int) -> FloatArray:
        """Downloads end together, and uploads share the rate as they come."""
        ready = sharers * wire.down + wire.latency
        return np.asarray(ready + makespan(digest, scale, wire.up) + wire.latency)

    def play(self, channel: Server, children: Sequence[Call], at: float, done: Done) -> None:
        """Done when the last upload is."""
        returned: list[float] = []

        def back(at: float) -> None:
            returned.append(at)
            if len(returned) == len(children):
                done(max(returned))

        def work(at: float) -> None:
            for child in children:
                child(at, lambda end: channel.up(end, back))

        channel.down(at, work, len(children))


def makespan(digest: FloatArray, scale: float, transfer: float) -> FloatArray:
    """End of equal transfers that share one rate [s], from their release times and how many then have not begun.

    The times are ``scale`` times those of the digest, and ``transfer`` is S/r, one transfer at the full rate [s].
    Equals max over j of c_(j) + (n - j + 1) S/r. Proof: a busy link finishes one model's worth of bits every
    S/r seconds, so its last busy period, begun by the release of some j with j, ..., n still to send, ends at
    that j's value; and no j gives more, as the n - j + 1 transfers released from c_(j) on start after it.
    """
    return np.asarray((scale * digest[..., 0, :] + transfer * digest[..., 1, :]).max(axis=-1))


SCHEDULE = Star()
