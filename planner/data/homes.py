"""Homes of clients where nobody says them: as even as the links allow, and of these with the least airtime."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from planner.io.csv_rows import Floats, Indices

UNIT = 1e6  # parts of a plain transfer that airtimes are rounded to, so that sums are exact
FAR = 2**61  # of a server that no move reaches; twice it is a number yet
MOST = 300_000_000  # numbers that the exact search may look at: some 10 s


def by_name(names: Sequence[str]) -> Indices:
    """Return the order of names, in which ``c2`` is before ``c10``."""

    def key(i: int) -> tuple[list[tuple[int, str]], str]:
        parts = re.split("([0-9]+)", names[i])
        numbers = (part.lstrip("0") for part in parts)
        told = [(len(x), x) if k % 2 else (0, part) for k, (part, x) in enumerate(zip(parts, numbers, strict=True))]
        return told, names[i]

    return np.array(sorted(range(len(names)), key=key), dtype=np.int64)


def balanced(airtime: Floats) -> tuple[Indices, bool]:
    """Choose a home for every client, and say whether it is the best choice.

    Loads of servers have the least sum of squares, with which every other measure of evenness is least too; of all such
    choices it is one with the least airtime, to a millionth of a plain transfer. Clients, those with the fewest servers
    first, take the shortest of all paths to a server on which others make room: a flow of least cost. In networks
    that are too large for this nobody makes room.
    """
    links = airtime > 0
    clients, servers = links.shape
    degree = links.sum(axis=1)
    home = np.where(degree == 1, links.argmax(axis=1), -1)
    load = np.bincount(home[home >= 0], minlength=servers)
    free = np.flatnonzero(degree > 1)
    free = free[np.argsort(degree[free], kind="stable")]
    exact = len(free) * (clients + 3 * servers**2) <= MOST
    places = _Places(np.rint(airtime * UNIT).astype(np.int64), home, load)
    for i in free.tolist():
        places.put(i, room=exact)
    return home, exact


class _Places:
    """Homes of the clients so far, and the cheapest client to move from each server to each other."""

    def __init__(self, cost: Indices, home: Indices, load: Indices) -> None:
        self.cost, self.home, self.load = cost, home, load
        servers = len(load)
        self.move = np.full((servers, servers), FAR)
        self.who = np.zeros((servers, servers), dtype=np.int64)

    def put(self, i: int, *, room: bool) -> None:
        """Find a home for one client more; with ``room`` others may move."""
        own = self.cost[i] > 0
        far = np.where(own, self.cost[i], FAR)
        before = np.full(len(far), -1)
        for _ in range(len(far) * room):
            via = np.where(far < FAR, far, FAR)[:, None] + self.move
            nearest = via.argmin(axis=0)
            least = via[nearest, np.arange(len(far))]
            nearer = (least < far) & (far[nearest] < FAR) & (self.move[nearest, np.arange(len(far))] < FAR)
            if not nearer.any():
                break
            far, before = np.where(nearer, least, far), np.where(nearer, nearest, before)
        reached = np.flatnonzero(far < FAR)
        at = int(reached[np.lexsort((before[reached] >= 0, far[reached], self.load[reached]))[0]])
        self.load[at] += 1
        changed = [at]
        while before[at] >= 0:
            came = int(before[at])
            self.home[self.who[came, at]] = at
            at = came
            changed.append(at)
        self.home[i] = at
        if room:
            for server in changed:
                members = np.flatnonzero(self.home == server)
                costs = self.cost[members]
                more = np.where(costs > 0, costs - costs[:, [server]], FAR)
                more[:, server] = FAR
                first = more.argmin(axis=0)
                self.move[server], self.who[server] = more[first, np.arange(len(first))], members[first]
