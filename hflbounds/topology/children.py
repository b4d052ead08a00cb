"""How many children every node above a tier has, and what each of them counts: trees whose nodes are not alike."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hflbounds.errors import HflBoundsError

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class TopologyError(HflBoundsError, ValueError):
    """A tree that cannot be meant; the message names the tier, the fact and the way out."""


@dataclass(frozen=True, eq=False)
class Children:
    """The children of every node above one tier, node by node; equal contents compare equal.

    Attributes:
        sizes: Children of each node, shape (nodes,).
        shares: What each child counts for its node's loss, adding up to 1 for every node; shape (children,).

    Raises:
        TopologyError: If a node has no child, or a share is not above 0.
    """

    sizes: Ints
    shares: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", np.ascontiguousarray(self.sizes, dtype=np.int64))
        object.__setattr__(self, "shares", np.ascontiguousarray(self.shares, dtype=np.float64))
        if not len(self.sizes) or self.sizes.min() < 1 or self.sizes.sum() != len(self.shares):
            raise TopologyError("children: every node needs one child or more, and every child one share.")
        whole = np.add.reduceat(self.shares, self.starts)
        if not (self.shares > 0).all() or not np.allclose(whole, 1, rtol=0, atol=1e-9):
            raise TopologyError("children: the shares of a node's children are not above 0, or do not add up to 1.")
        self.sizes.flags.writeable = self.shares.flags.writeable = False

    @cached_property
    def starts(self) -> Ints:
        """The place of every node's first child."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)

    @cached_property
    def parents(self) -> Ints:
        """The node of every child."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def concentration(self) -> Floats:
        """Sum of the squared shares of every node's children: one over their number where they count alike."""
        return np.asarray(np.add.reduceat(self.shares**2, self.starts))

    @property
    def alike(self) -> bool:
        """Whether all nodes have as many children, which all count the same."""
        few, many = self.sizes.min(), self.sizes.max()
        return bool(few == many and np.allclose(self.shares * few, 1, rtol=1e-13, atol=0))

    def by_size(self) -> Iterator[tuple[Ints, Ints]]:
        """Nodes with equally many children: their numbers, and those of their children, shape (nodes, children)."""
        for size in np.unique(self.sizes):
            nodes = np.flatnonzero(self.sizes == size)
            yield nodes, self.starts[nodes][:, None] + np.arange(size)

    def below(self, number: int) -> slice:
        """The places of the children of a node, by its number."""
        first = int(self.starts[number])
        return slice(first, first + int(self.sizes[number]))

    @cached_property
    def digest(self) -> bytes:
        """Of the contents."""
        return hashlib.blake2b(self.sizes.tobytes() + self.shares.tobytes(), digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Children) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def branches(sizes: Sequence[npt.ArrayLike], weights: npt.ArrayLike | None = None) -> tuple[Children, ...]:
    """Describe every tier of a tree whose nodes differ, top first.

    Args:
        sizes: Children of every node above each tier, top first; the first is of the root alone.
        weights: Of the clients, such as their samples; a node counts as much as all clients below it. None for
            clients that count alike.

    Raises:
        TopologyError: If the numbers of nodes do not fit, or a weight is not above 0.

    >>> [tier.shares.tolist() for tier in branches([[2], [1, 3]])]
    [[0.25, 0.75], [1.0, 0.3333333333333333, 0.3333333333333333, 0.3333333333333333]]
    """
    counts = [np.asarray(one, dtype=np.int64) for one in sizes]
    nodes = 1
    for tier, count in enumerate(counts, 1):
        if count.shape != (nodes,) or (count < 1).any():
            raise TopologyError(f"children: tier {tier} needs a size of 1 or more for each of the {nodes} nodes above.")
        nodes = int(count.sum())
    mass = np.ones(nodes) if weights is None else np.asarray(weights, dtype=np.float64)
    if mass.shape != (nodes,) or not (np.isfinite(mass) & (mass > 0)).all():
        raise TopologyError(f"children: {nodes} clients need as many weights above 0.")
    found: list[Children] = []
    for count in reversed(counts):
        whole = np.add.reduceat(mass, np.cumsum(count) - count)
        found.append(Children(count, mass / np.repeat(whole, count)))
        mass = whole
    return tuple(reversed(found))
