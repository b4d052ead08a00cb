"""One tier, overlapping coverage, hubs and spokes, and gossip: literal, slow, exact in any number type.

A companion of `validation.reference`: points may be floats, numpy arrays, torch tensors, or vectors of
`fractions.Fraction`, and weights are whatever the caller's shares are. Nothing is shared with the fast engine, no
matrix is formed, and what is random is an argument: sets of who sends to whom, read beside the sources.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from validation.patterns import Point

Gradient = Callable[[int, int, Point], Point]  # of a client, at a step, at a point


def fedavg_round(
    x: Point,
    clients: Sequence[int],
    K: int,
    eta: Any,
    gradient: Gradient[Point],
    p: Sequence[Any] | None = None,
) -> Point:
    """One round of FedAvg.

    Args:
        x: the global model.
        clients: those that take part.
        K: local steps.
        eta: learning rate.
        gradient: ``gradient(i, k, x)`` is the stochastic gradient of client i at its local step k.
        p: shares in the average, of those that take part; equal if not given.

    Source: liu2026, Section II-A, steps 1-3, eqs. (1) and (2).
    """
    returned = []
    for i in clients:
        w = x  # 1
        for k in range(K):  # 2
            w = w - eta * gradient(i, k, w)
        returned.append(w)
    if p is None:
        return _mean(returned)
    total: Point = _sum([share * w for share, w in zip(p, returned, strict=True)])  # 3
    return total


def sequential_round(x: Point, order: Sequence[int], K: int, eta: Any, gradient: Gradient[Point]) -> Point:
    """One round of sequential federated learning: each client starts where the one before it ended.

    Args:
        x: the global model.
        order: the clients, in turn.
        K: local steps.
        eta: learning rate.
        gradient: ``gradient(i, k, x)``.

    Source: li2023, as compared with in zhou2026, Appendix B.2; the ring of a single group there (Algorithm 2).
    """
    for i in order:
        for k in range(K):
            x = x - eta * gradient(i, k, x)
    return x


def hhfl(  # reason: the letters of the listing
    w0: Point,
    T: int,
    S: Sequence[Collection[int]],
    p: Sequence[Any],
    E: int,
    G: int,
    eta: Callable[[int], Any],
    gradient: Gradient[Point],
    visit: Callable[[int, list[Point]], object] | None = None,
) -> Point:
    """Hybrid hierarchical federated learning, line by line.

    Args:
        w0: the first parameter.
        T: training steps.
        S: the servers of each client.
        p: the clients' shares in the data.
        E: local steps between edge aggregations.
        G: edge aggregations between cloud aggregations.
        eta: the learning rate of step t.
        gradient: ``gradient(i, t, w)`` is the stochastic gradient of client i at step t.
        visit: told the clients' models ``(t + 1, [w_1, ..., w_K])`` after every step.

    Returns:
        the final global parameter.

    Source: liu2026, Section III-B, Algorithm 1, with eq. (10).

    >>> towards = lambda i, t, w: w - (0.0, 1.0, 1.0)[i]
    >>> hhfl(0.5, 1, [{0}, {0, 1}, {1}], [0.25, 0.5, 0.25], 1, 1, lambda t: 1.0, towards)
    0.75
    """
    K, N = len(S), 1 + max(n for servers in S for n in servers)
    C = [[i for i in range(K) if n in S[i]] for n in range(N)]
    load = [_sum([p[i] / len(S[i]) for i in C[n]]) for n in range(N)]  # eq. (10)
    w: list[Point] = [w0 for _ in range(K)]  # line 3
    for t in range(T):  # 4
        v = [w[i] - eta(t) * gradient(i, t, w[i]) for i in range(K)]  # 5-7
        if (t + 1) % E != 0:  # 8
            w = v  # 9-11
        if (t + 1) % E == 0:  # 13
            server = [_sum([1 / load[n] * p[i] / len(S[i]) * v[i] for i in C[n]]) for n in range(N)]  # 14-16
            if (t + 1) % (G * E) == 0:  # 17
                whole = _sum([load[n] * server[n] for n in range(N)])  # 18
                server = [whole for _ in range(N)]  # 19-21
            w = [_mean([server[n] for n in S[i]]) for i in range(K)]  # 23-25
        if visit is not None:
            visit(t + 1, list(w))
    edges: list[Point] = [_sum([1 / load[n] * p[i] / len(S[i]) * w[i] for i in C[n]]) for n in range(N)]
    final: Point = _sum([load[n] * edges[n] for n in range(N)])  # 28
    return final


def local_steps(x: Sequence[Point], K: int, eta: Any, gradient: Gradient[Point]) -> list[Point]:
    """What every node does before it mixes: ``x_i^t`` to ``x_i^{t+1/2}``.

    Source: sharma2025, Section 2, before eq. (1), and Section 3.
    """
    half = []
    for i, model in enumerate(x):
        for k in range(K):
            model = model - eta * gradient(i, k, model)
        half.append(model)
    return half


def epidemic_mixing(x: Sequence[Point], sends: Sequence[Collection[int]]) -> list[Point]:
    """Every node averages its own model with those it receives.

    Args:
        x: the models after the local steps.
        sends: to whom each node sends, itself not among them.

    Raises:
        ValueError: if a node sends to itself.

    Source: sharma2025, Section 2, Epidemic Learning, and Section 3, step 2.

    >>> epidemic_mixing([0.0, 6.0, 12.0], [{1}, {2}, {1}])
    [0.0, 6.0, 9.0]
    """
    received: list[list[Point]] = [[] for _ in x]
    for sender, receivers in enumerate(sends):
        if sender in receivers:
            raise ValueError(f"node {sender} sends to itself")
        for receiver in receivers:
            received[receiver].append(x[sender])
    return [_mean([own, *heard]) for own, heard in zip(x, received, strict=True)]


def hub_mixing(
    x: Sequence[Point],
    collects: Sequence[Collection[int]],
    sends: Sequence[Collection[int]],
    asks: Sequence[Collection[int]],
) -> list[Point]:
    """The three stages of Hubs and Spokes Learning.

    Args:
        x: the spokes' models after the local steps.
        collects: the spokes whose models each hub requests.
        sends: the other hubs each hub sends to.
        asks: the hubs each spoke queries.

    Source: sharma2025, Section 3, steps 1-3.
    """
    hubs = [_mean([x[i] for i in spokes]) for spokes in collects]  # 1
    hubs = epidemic_mixing(hubs, sends)  # 2
    return [_mean([hubs[j] for j in queried]) for queried in asks]  # 3


def torus_mixing(x: Sequence[Point], rows: int, columns: int) -> list[Point]:
    """Every node of a grid whose ends meet averages itself and its four neighbours; numbered row by row.

    Source: sharma2025, Section 5, baselines.
    """

    def at(r: int, c: int) -> Point:
        return x[(r % rows) * columns + c % columns]

    return [
        _mean([at(r, c), at(r - 1, c), at(r + 1, c), at(r, c - 1), at(r, c + 1)])
        for r in range(rows)
        for c in range(columns)
    ]


def _sum(points: Sequence[Point]) -> Point:
    return sum(points[1:], start=points[0])


def _mean(points: Sequence[Point]) -> Point:
    mean: Point = _sum(points) / len(points)
    return mean
