"""Hierarchical federated learning as printed: slow, literal, exact in any number type, for trees of any depth.

Source: zhou2026 (camera-ready), Appendix A.1, Algorithms 1-4. The four listings differ in lines 3, 6, 11 and
14 only: from which model a child starts, and which model its parent takes. Both are what a pattern says in its file
of `validation.patterns` (``literal``), so here they are one node that calls its children, tier after tier. Read it
beside the paper; the line numbers are those of the listings, for groups where two stand together, then for clients.

Nothing here knows what a point is. Points may be floats, numpy arrays, or vectors of `fractions.Fraction`:
with ``x = 0`` and the unit vectors as gradients, the algorithm itself says with which exact weight every
gradient enters every iterate. Speed is no aim: this is what a faster engine is checked against.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hflbounds.topology import Topology, all_topologies, two_tier
from validation.patterns import Point, execution

TOPOLOGIES = tuple(all_topologies(2))
Path = tuple[int, ...]  # from the root down, one number for each tier


@dataclass(frozen=True, slots=True)
class Settings:
    """One hierarchy of two tiers, in the letters of the paper.

    Attributes:
        topology: top tier first: ``"ring-star"`` is a ring of groups, each of them a star of clients.
        G: groups.
        M: clients in each group.
        P: group rounds in a global round.
        K: local steps of a client in a group round.
        S1: groups that take part, the first of the group order; None for all.
        S2: clients of each group that take part, the first of its client order; None for all.

    Raises:
        ValueError: the topology is none of two tiers, or a count is not in its range.
    """

    topology: str
    G: int
    M: int
    P: int
    K: int
    S1: int | None = None
    S2: int | None = None

    def __post_init__(self) -> None:
        if self.topology not in TOPOLOGIES:
            raise ValueError(f"topology {self.topology!r} is none of {', '.join(TOPOLOGIES)}")
        if min(self.G, self.M, self.P, self.K) < 1:
            raise ValueError(f"G, M, P and K are counts of at least 1, not {self.G, self.M, self.P, self.K}")
        for name, part, whole in (("S1", self.S1, self.G), ("S2", self.S2, self.M)):
            if part is not None and not 1 <= part <= whole:
                raise ValueError(f"{name} = {part} is not between 1 and {whole}")

    @property
    def tree(self) -> Topology:
        """The same as tiers."""
        return two_tier(self.topology, G=self.G, M=self.M, P=self.P, S1=self.S1, S2=self.S2)


def tree_round(
    x: Point,
    tree: Topology,
    K: int,
    eta: Any,
    gradient: Callable[[Path, Path, int, Point], Point],
    *,
    order: Callable[[Path, Path], Sequence[int] | None] | None = None,
    visit: Callable[[Path, Path, int, Point], object] | None = None,
) -> Point:
    """One global round, from x^(r) to x^(r+1): lines 2-14 of Algorithms 1-4, for any tiers.

    Line 1, the loop over r, is the caller's, who also draws fresh mini-batches and, for random order, fresh
    permutations in every round. A place in the tree is a path: the child of the root, the child of that, and so on.
    A moment is a path too: the pass of the root, the pass of its child, and so on. All count from 0; the paper counts
    groups and clients from 1.

    Args:
        x: the global model x^(r).
        tree: the tiers with their sizes.
        K: local steps of a client.
        eta: the raw learning rate of a local step, in length^2 per loss (not the effective one).
        gradient: ``gradient(place, moment, k, x)`` is the stochastic gradient of a client at the point x, in loss
            per length. It is called once per local step, in the order of the listings.
        order: ``order(place, moment)`` is the permutation of its children that a node uses in a pass, whose first
            take part where some are drawn; None for the fixed order 0, 1, ...
        visit: told every local iterate ``(place, moment, k, x)`` for k < K, just before its gradient is taken.

    Returns:
        The global model x^(r+1). The point x is not changed.

    Raises:
        ValueError: an order is not a permutation.
    """

    def node(place: Path, moment: Path, x: Point) -> Point:
        if len(place) == tree.depth:
            for k in range(K):  # 7
                if visit is not None:
                    visit(place, moment, k, x)
                x = x - eta * gradient(place, moment, k, x)  # 8
            return x  # 9
        tier = tree.tiers[len(place)]
        size, weights = tier.size or tier.taking_part, None
        if tier.children is not None:
            mine = tier.children.below(_number(tree, place))
            size, weights = mine.stop - mine.start, tree.weights[len(place)][mine]
        for p in range(tier.passes):  # 4, for the tier of the clients
            now = (*moment, p)
            children = _permutation(order and order(place, now), size)[: tier.drawn]  # 2, 5
            counts = None if weights is None else weights[list(children)] / weights[list(children)].sum()

            def child(c: int, start: Point, now: Path = now) -> Point:
                return node((*place, c), now, start)

            x = execution(tier.pattern).literal(x, children, child, counts)  # 3 and 14 for groups, 6 and 11 for clients
        return x  # 12, 13

    return node((), (), x)


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
    """One global round of two tiers, in the letters of the paper: lines 2-14 of Algorithms 1-4.

    Args:
        x: the global model x^(r).
        settings: the hierarchy.
        eta: as of `tree_round`.
        gradient: ``gradient(g, p, m, k, x)`` is the stochastic gradient of client m of group g at local step k of
            group round p.
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

    def order(place: Path, moment: Path) -> Sequence[int] | None:
        if not place:
            return group_order
        return client_order and client_order(place[0], moment[1])

    def seen(place: Path, moment: Path, k: int, at: Point) -> None:
        if visit is not None:
            visit(place[0], moment[1], place[1], k, at)

    return tree_round(
        x,
        settings.tree,
        settings.K,
        eta,
        lambda place, moment, k, at: gradient(place[0], moment[1], place[1], k, at),
        order=order,
        visit=seen,
    )


def _number(tree: Topology, place: Path) -> int:
    """The number of a node in its tier, where nodes have different numbers of children."""
    number = 0
    for tier, child in zip(tree.tiers, place, strict=False):
        assert tier.children is not None, tree.id  # noqa: S101 - of trees whose nodes differ
        number = int(tier.children.starts[number]) + child
    return number


def _permutation(order: Sequence[int] | None, n: int) -> Sequence[int]:
    if order is None:
        return range(n)
    if sorted(order) != list(range(n)):
        raise ValueError(f"an order must be a permutation of 0..{n - 1}, not {list(order)}")
    return order
