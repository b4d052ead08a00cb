"""The four algorithms of hierarchical federated learning as printed: slow, literal, exact in any number type.

Source: zhou2026 (camera-ready), Appendix A.1, Algorithms 1-4. The four listings differ in lines 3, 6, 11 and
14 only, so here they are one loop and two questions: is the top tier a ring, is the low tier a ring? Read it
beside the paper; the line numbers in `global_round` are those of the listings.

Nothing here knows what a point is. Points may be floats, numpy arrays, or vectors of `fractions.Fraction`:
with ``x = 0`` and the unit vectors as gradients, the algorithm itself says with which exact weight every
gradient enters every iterate. Speed is no aim: this is what a faster engine is checked against.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, cast, get_args

Topology = Literal["star-star", "star-ring", "ring-star", "ring-ring"]


class _Vector(Protocol):
    """What a point must be able to do: make linear combinations of points."""

    def __add__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...


Point = TypeVar("Point", bound=_Vector)


@dataclass(frozen=True, slots=True)
class Settings:
    """One hierarchy, in the letters of the paper.

    Attributes:
        topology: top tier first: ``"ring-star"`` is a ring of groups, each of them a star of clients.
        G: groups.
        M: clients in each group.
        P: group rounds in a global round.
        K: local steps of a client in a group round.
        S1: groups that take part, the first of the group order; None for all.
        S2: clients of each group that take part, the first of its client order; None for all.

    Raises:
        ValueError: the topology is none of the four, or a count is not in its range.
    """

    topology: Topology
    G: int
    M: int
    P: int
    K: int
    S1: int | None = None
    S2: int | None = None

    def __post_init__(self) -> None:
        if self.topology not in get_args(Topology):
            raise ValueError(f"topology {self.topology!r} is none of {', '.join(get_args(Topology))}")
        if min(self.G, self.M, self.P, self.K) < 1:
            raise ValueError(f"G, M, P and K are counts of at least 1, not {self.G, self.M, self.P, self.K}")
        for name, part, whole in (("S1", self.S1, self.G), ("S2", self.S2, self.M)):
            if part is not None and not 1 <= part <= whole:
                raise ValueError(f"{name} = {part} is not between 1 and {whole}")


def global_round(
    x: Point,
    settings: Settings,
    eta: Any,
    gradient: Callable[[int, int, int, int, Point], Point],
    *,
    group_order: Sequence[int] | None = None,
    client_order: Callable[[int, int], Sequence[int]] | None = None,
    visit: Callable[[int, int, int, int, Point], object] | None = None,
) -> Point:
    """One global round, from x^(r) to x^(r+1): lines 2-14 of Algorithms 1-4.

    Line 1, the loop over r, is the caller's, who also draws fresh mini-batches and, for random order, fresh
    permutations in every round. Groups, clients, group rounds and local steps all count from 0; the paper
    counts groups and clients from 1.

    Args:
        x: the global model x^(r).
        settings: the hierarchy.
        eta: the raw learning rate of a local step, in length^2 per loss (not the effective one).
        gradient: ``gradient(g, p, m, k, x)`` is the stochastic gradient of client m of group g at the point
            x, in loss per length. It is called once per local step, in the order of the listings.
        group_order: permutation of ``range(G)``; None for the fixed order 0, 1, ... Where the top tier is a
            star, all it can decide is which S1 groups take part.
        client_order: ``client_order(g, p)`` is the permutation of ``range(M)`` that group g uses in group
            round p; None for the fixed order. Let it ignore p for one permutation per global round.
        visit: told every local iterate ``(g, p, m, k, x_{g,p,m,k})`` for k < K, just before its gradient is
            taken: the points whose distances from x^(r) are the drift.

    Returns:
        The global model x^(r+1). The point x is not changed.

    Raises:
        ValueError: an order is not a permutation.

    Source: zhou2026 (camera-ready), Appendix A.1, Algorithms 1-4; partial participation: Appendix F.

    >>> pull_to_one = lambda g, p, m, k, x: x - 1.0
    >>> global_round(0.0, Settings("star-star", G=2, M=2, P=1, K=1), 0.5, pull_to_one)
    0.5
    >>> global_round(0.0, Settings("ring-ring", G=2, M=2, P=1, K=1), 0.5, pull_to_one)
    0.9375
    """
    top, low = settings.topology.split("-")
    groups = _permutation(group_order, settings.G)[: settings.S1]
    group_models: list[Point] = []
    for g in groups:  # line 2
        x_g = group_models[-1] if top == "ring" and group_models else x  # 3
        for p in range(settings.P):  # 4
            clients = _permutation(client_order and client_order(g, p), settings.M)[: settings.S2]
            local_models: list[Point] = []
            for m in clients:  # 5
                x_m = local_models[-1] if low == "ring" and local_models else x_g  # 6
                for k in range(settings.K):  # 7
                    if visit is not None:
                        visit(g, p, m, k, x_m)
                    x_m = x_m - eta * gradient(g, p, m, k, x_m)  # 8
                local_models.append(x_m)  # 9, 10
            x_g = local_models[-1] if low == "ring" else _average(local_models)  # 11
        group_models.append(x_g)  # 12, 13
    return group_models[-1] if top == "ring" else _average(group_models)  # 14


def _permutation(order: Sequence[int] | None, n: int) -> Sequence[int]:
    if order is None:
        return range(n)
    if sorted(order) != list(range(n)):
        raise ValueError(f"an order must be a permutation of 0..{n - 1}, not {list(order)}")
    return order


def _average(points: Sequence[Point]) -> Point:
    return cast(Point, sum(points[1:], start=points[0]) / len(points))
