"""What a grouping of clients must keep: sizes, and pairs that stay together or apart; as a problem that is solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from planner.errors import NoAnswerError
from planner.io.csv_rows import Floats, Indices


@dataclass(frozen=True)
class Problem:
    """Units to place: clients, or clients that must stay together."""

    points: Floats  # distances of units from the whole, each times its weight
    mass: Floats  # weight of every unit
    size: Indices  # clients of every unit
    groups: int  # how many there are
    least: Indices  # least, most: clients of every group
    most: Indices
    apart: dict[int, set[int]] = field(default_factory=dict)  # by unit, the units that may not share its group
    costs: Floats | None = None  # units by groups; None without
    price: float = 0.0  # of a unit of cost, in the objective

    @property
    def kinds(self) -> Indices:
        """A number of every group, the same of groups with the same sizes allowed."""
        bounds = np.stack([self.least, self.most], axis=1)
        return np.unique(bounds, axis=0, return_inverse=True)[1].reshape(-1)

    @property
    def span(self) -> str:
        """Sizes of groups in words."""
        return " to ".join(dict.fromkeys(str(int(end)) for end in (self.least.min(), self.most.max())))

    @property
    def whole(self) -> float:
        """Weight of all."""
        return float(self.mass.sum())

    @cached_property
    def spread(self) -> float:
        """What a unit adds to the squared deviation in a group of its own, in the mean."""
        alone = (self.points**2 / self.mass[:, None]).sum() / self.whole
        return float(alone / len(self.mass))


def units_of(clients: int, together: Sequence[tuple[int, int]]) -> Indices:
    """Every client's unit, where pairs of clients stay together."""
    parent = list(range(clients))

    def top(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in together:
        parent[max(top(a), top(b))] = min(top(a), top(b))
    _, unit = np.unique([top(i) for i in range(clients)], return_inverse=True)
    return unit.astype(np.int64)


def pose(  # reason: one parameter for every rule of a grouping
    points: Floats,
    mass: Floats,
    groups: int,
    least: int | Sequence[int],
    most: int | Sequence[int],
    *,
    together: Sequence[tuple[int, int]] = (),
    apart: Sequence[tuple[int, int]] = (),
    costs: Floats | None = None,
    price: float = 0.0,
    names: Sequence[str] = (),
) -> tuple[Problem, Indices]:
    """The problem for clients, and every client's unit.

    Squared distances of points are those of gradients; ``mass`` is the weight of every client. Least and most clients
    are of a group, or of every group. Pairs share a group or must not; costs, clients by groups, have a price in units
    of the squared deviation.

    Raises:
        NoAnswerError: where the rules contradict each other.
    """
    clients = len(points)
    named = names or [str(i) for i in range(clients)]
    if groups > clients:
        raise NoAnswerError(f"{clients} clients cannot fill {groups} groups. Ask for at most {clients}.", code="N006")
    few, many = (np.broadcast_to(np.asarray(part, dtype=np.int64), groups).copy() for part in (least, most))
    if few.sum() > clients or many.sum() < clients:
        raise NoAnswerError(
            f"{groups} groups of {few.min()} to {many.max()} hold {few.sum()} to {many.sum()} clients, and there are "
            f"{clients}. Change --groups, --sizes, --min-size or --max-size.",
            code="N006",
        )
    unit = units_of(clients, together)
    count = int(unit.max()) + 1
    size = np.bincount(unit, minlength=count)
    if size.max() > many.max():
        first = named[int(np.flatnonzero(unit == size.argmax())[0])]
        raise NoAnswerError(
            f"the must pairs keep {int(size.max())} clients together, {first!a:.60} among them, and a group holds "
            f"at most {many.max()}. Drop a pair, or allow larger groups.",
            code="N006",
        )
    avoid: dict[int, set[int]] = {}
    for a, b in apart:
        u, v = int(unit[a]), int(unit[b])
        if u == v:
            raise NoAnswerError(
                f"{named[a]!a:.60} and {named[b]!a:.60} must share a group by the must pairs, and cannot by a cannot "
                "pair. Drop one of them.",
                code="N006",
            )
        avoid.setdefault(u, set()).add(v)
        avoid.setdefault(v, set()).add(u)
    clique = _clique(avoid)
    if len(clique) > groups:
        members = ", ".join(ascii(named[int(np.flatnonzero(unit == u)[0])])[:40] for u in clique[:4])
        raise NoAnswerError(
            f"{len(clique)} clients are all to be apart from each other ({members} ...), and there are {groups} "
            "groups. Allow more groups, or drop a cannot pair.",
            code="N006",
        )
    whole = mass @ points / mass.sum()
    moved = np.zeros((count, points.shape[1]))
    np.add.at(moved, unit, (points - whole) * mass[:, None])
    unit_costs = None
    if costs is not None:
        unit_costs = np.zeros((count, groups))
        np.add.at(unit_costs, unit, costs)
    weight = np.bincount(unit, weights=mass, minlength=count).astype(np.float64)
    return Problem(moved, weight, size, groups, few, many, avoid, unit_costs, price), unit


def _clique(avoid: dict[int, set[int]]) -> list[int]:
    """A large set of units that all avoid each other, found greedily."""
    best: list[int] = []
    for first in sorted(avoid, key=lambda u: -len(avoid[u]))[:50]:
        clique, candidates = [first], set(avoid[first])
        while candidates:
            following = max(sorted(candidates), key=lambda u: len(avoid[u] & candidates))
            clique.append(following)
            candidates &= avoid[following]
        best = max(best, clique, key=len)
    return best


def renamed(present: Indices, found: Indices, kinds: Indices) -> Indices:
    """The found grouping with its groups numbered such that, greedily, most clients stay where they are.

    Only groups of one kind may exchange their numbers.
    """
    groups = len(kinds)
    overlap = np.zeros((groups, groups), dtype=np.int64)
    np.add.at(overlap, (found, present), 1)
    number = np.full(groups, -1, dtype=np.int64)
    taken = np.zeros(groups, dtype=bool)
    for flat in np.argsort(-overlap, axis=None, kind="stable"):
        new, old = divmod(int(flat), groups)
        if number[new] < 0 and not taken[old] and kinds[new] == kinds[old]:
            number[new], taken[old] = old, True
    return number[found]
