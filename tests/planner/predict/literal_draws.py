"""Everything that a round of the literal algorithm may draw."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Any

Orders = tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]  # of the groups, and of the clients of each


def drawn_alike(topology: str, plan: Sequence[int]) -> Collection[Orders]:
    """One of those that the algorithm does the same for, which all are as many: a star has no order.

    ``plan`` is G, M, P, K, S1 and S2.
    """
    G, M, _, _, S1, S2 = plan
    top, low = (tuple if tier == "ring" else sorted for tier in topology.split("-"))
    found: dict[tuple[Any, ...], Orders] = {}
    for groups in itertools.permutations(range(G)):
        for clients in itertools.product(itertools.permutations(range(M)), repeat=G):
            found.setdefault(tuple(top((g, *low(clients[g][:S2])) for g in groups[:S1])), (groups, clients))
    return found.values()
