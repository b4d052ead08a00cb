"""What one model takes from one place to another [s], where others travel at the same time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.network.underlay import Floats, Indices, Linked, Underlay


@dataclass(frozen=True, eq=False)
class Transfers:
    """Transfers of one model over a network.

    A hop from i to j takes ``latency + max(out M / up(i), into M / down(j), M * seconds per bit on the way)``, where i
    sends ``out`` models at the same time and j receives ``into`` (Marfoq and others, NeurIPS 2020, eq. (3), without the
    local steps).
    """

    network: Underlay  # over which
    bits: float  # of a model

    def hops(self, rows: Indices, columns: Indices, out: float | Floats = 1, into: float | Floats = 1) -> Floats:
        """Seconds from each of some places to each of others; 0 from a place to itself.

        Each row sends ``out`` models at the same time, and each column receives ``into``.
        """
        latency, per_bit = self.network.between(rows, columns)
        sent = np.broadcast_to(np.asarray(out, dtype=np.float64), (len(rows),)) / self.network.up[rows]
        got = np.broadcast_to(np.asarray(into, dtype=np.float64), (len(columns),)) / self.network.down[columns]
        apart = np.asarray(rows)[:, None] != np.asarray(columns)[None, :]
        slowest = np.maximum(np.maximum(sent[:, None], got[None, :]), per_bit)
        return np.asarray(np.where(apart, latency + self.bits * slowest, 0.0))

    def from_server(self, server: int, children: Indices, beside: int = 0) -> Floats:
        """Seconds of each download where a server sends to all children at the same time.

        They share the links on which they meet, and the access of the server's place, there also with so many transfers
        ``beside`` them.
        """
        alone = self.hops(np.array([server]), children, out=max(1, away(server, children) + beside))[0]
        return np.asarray(np.maximum(alone, self._crowded(server, children, down=True)))

    def to_server(self, server: int, children: Indices, beside: int = 0) -> Floats:
        """Seconds of each upload where all children send to a server at the same time."""
        alone = self.hops(children, np.array([server]), into=max(1, away(server, children) + beside))[:, 0]
        return np.asarray(np.maximum(alone, self._crowded(server, children, down=False)))

    def _crowded(self, server: int, children: Indices, *, down: bool) -> Floats:
        """Seconds of transfers that share links, if each link is shared equally until its last transfer is done.

        That is the time of the slowest exactly, and at least that of every other: a link with n transfers cannot be
        done with them before ``n M / rate``, and max-min fair sharing gives none less than its share of some link.
        """
        if not isinstance(self.network, Linked) or self.network.stored:
            return np.zeros(len(children))
        latency, per_bit = self.network.crowded(server, tuple(np.asarray(children).tolist()), down)
        return np.asarray(np.where(np.asarray(children) == server, 0.0, latency + self.bits * per_bit))


def away(server: int, children: Indices) -> int:
    """Children elsewhere: what stays at the server's place uses no access."""
    return int(np.count_nonzero(np.asarray(children) != server))
