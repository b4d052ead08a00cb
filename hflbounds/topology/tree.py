"""Tiers and topologies: which pattern the children of each node work in, how many there are, and how many take part."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from math import prod
from typing import Any, Final, Literal

import numpy as np

from hflbounds.topology.children import Children, Floats, TopologyError
from hflbounds.topology.patterns import Pattern, patterns

Order = Literal["fixed", "random"]
MOST_TIERS: Final = 8
ROUNDING: Final = 1e-6  # of what the largest client counts
_SEPARATOR: Final = re.compile(r"[/,|>\s_-]+")
_SIZE: Final = re.compile(r"[0-9]{1,9}")


def plural(noun: str) -> str:
    """Write a noun for more than one; one that ends so already stays.

    >>> plural("edge server"), plural("city"), plural("phones"), plural("branch")
    ('edge servers', 'cities', 'phones', 'branches')
    """
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    if re.search(r"(ss|us|x|ch|sh)$", noun):
        return f"{noun}es"
    return noun if noun.endswith("s") else f"{noun}s"


@dataclass(frozen=True)
class Tier:
    """One tier of a tree: how the children of each of its nodes take part.

    Attributes:
        pattern: How the children work, or its id, such as ``star`` or ``ring``.
        size: Children of each node, of the largest where they differ; None where it is to be given later.
        drawn: Children that take part in a pass; None for all.
        passes: How often the node goes through its children before it answers its own parent.
        order: Of the children, where the pattern is ordered: ``fixed``, or ``random``, drawn for each global round.
            Children that are drawn run in the order drawn.
        children: Node by node, where nodes or what children count differ: then a star takes the mean by
            `Topology.weights`, of those who take part, and a node with fewer children than are drawn takes all. None
            where all are alike.

    Raises:
        TopologyError: If a number is not a count, or more children are drawn than there are.
    """

    pattern: Pattern
    size: int | None = None
    drawn: int | None = None
    passes: int = 1
    order: Order = "fixed"
    children: Children | None = None

    def __init__(
        self,
        pattern: Pattern | str,
        size: int | None = None,
        drawn: int | None = None,
        passes: int = 1,
        order: Order = "fixed",
        children: Children | None = None,
    ) -> None:
        object.__setattr__(self, "pattern", _pattern(pattern) if isinstance(pattern, str) else pattern)
        object.__setattr__(self, "children", children)
        if children is not None:
            size = int(children.sizes.max())
        for name, value in (("size", size), ("drawn", drawn), ("passes", passes)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise TopologyError(f"tier {name}: {value!r} is not a whole number, 1 or more.")
            object.__setattr__(self, name, value)
        if drawn is not None and size is not None and drawn > size:
            raise TopologyError(f"tier drawn: {drawn} is more than its size, {size}.")
        if order not in ("fixed", "random"):
            raise TopologyError(f"tier order: {order!r} is not one of fixed, random.")
        object.__setattr__(self, "order", order)

    @property
    def taking_part(self) -> int:
        """Children in a pass.

        Raises:
            TopologyError: If the size was not given.
        """
        count = self.drawn if self.drawn is not None else self.size
        if count is None:
            raise TopologyError(f"tier {self.pattern.id}: its size was not given.")
        return count

    @property
    def sampled(self) -> bool:
        """Whether fewer children than there are take part in a pass."""
        return self.drawn is not None and self.drawn != self.size

    @property
    def chain(self) -> int:
        """Calls of a child that one call of the node chains one after the other."""
        return int(self.passes * self.pattern.chain(self.taking_part))


@dataclass(frozen=True)
class Topology:
    """A tree of tiers, top first; the children of the last are clients.

    Attributes:
        tiers: At least one.

    Raises:
        TopologyError: If there are no tiers, or too many.
    """

    tiers: tuple[Tier, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.tiers) <= MOST_TIERS:
            raise TopologyError(f"topology: {len(self.tiers)} tiers are not 1 to {MOST_TIERS}.")
        if self.uneven:
            nodes = 1
            for tier in self.tiers:
                if tier.children is None or len(tier.children.sizes) != nodes:
                    raise TopologyError(f"topology: children of the {nodes} nodes above each tier are needed, or none.")
                nodes = len(tier.children.shares)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Worked out once, as answers look up what they know of a tree thousands of times."""
        return hash(self.tiers)

    @classmethod
    def parse(cls, text: str) -> Topology:
        """Read patterns in words, top first, separated by ``/``, ``-``, ``,`` or spaces, each with its size or not.

        A size is written behind its pattern, ``ring:4/star:5``; those that are not written are given later.

        Raises:
            TopologyError: If a word is no pattern, or a size no whole number, 1 or more.
        """
        words = [word.partition(":") for word in _SEPARATOR.split(text.strip().lower()) if word]
        if wrong := [size for _, colon, size in words if colon and not _SIZE.fullmatch(size)]:
            raise TopologyError(f"topology: the size {wrong[0]!a:.40} is not a whole number. Write ring:4/star:5.")
        return cls(tuple(Tier(word, int(size) if colon else None) for word, colon, size in words))

    @classmethod
    def of(cls, topology: Topology | str) -> Topology:
        """Return a topology as it is, and parse a word."""
        return topology if isinstance(topology, Topology) else cls.parse(topology)

    @cached_property
    def id(self) -> str:
        """Pattern ids, top first, joined by ``-``."""
        return "-".join(tier.pattern.id for tier in self.tiers)

    @cached_property
    def title(self) -> str:
        """Pattern names, top first, joined by ``-``."""
        return "-".join(tier.pattern.title for tier in self.tiers)

    @property
    def depth(self) -> int:
        """Number of tiers."""
        return len(self.tiers)

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The pattern of every tier, top first."""
        return tuple(tier.pattern for tier in self.tiers)

    def meaning(self, *children: str) -> str:
        """Say what the children of every tier do, given their names, top first, such as ``group``, ``client``."""
        pairs = zip(self.patterns, children, strict=True)
        return ", ".join(one.meaning.format(child=name, children=plural(name)) for one, name in pairs)

    @property
    def uneven(self) -> bool:
        """Whether children are said node by node, because nodes or what children count differ."""
        return any(tier.children is not None for tier in self.tiers)

    @property
    def clients(self) -> int:
        """Clients in all."""
        if (last := self.tiers[-1].children) is not None:
            return len(last.shares)
        return prod(tier.size if tier.size is not None else tier.taking_part for tier in self.tiers)

    @property
    def taking_part(self) -> int:
        """Clients that take part in one pass of every tier; where nodes differ, in the mean over draws, rounded."""
        if self.uneven:
            return max(round(float(self._present[-1].sum())), 1)
        return prod(tier.taking_part for tier in self.tiers)

    @property
    def drawn(self) -> bool:
        """Whether chance decides who takes part, or in which order."""
        return any(tier.sampled or (tier.order == "random" and tier.pattern.ordered) for tier in self.tiers)

    def sized(
        self,
        sizes: Sequence[int],
        *,
        drawn: Sequence[int | None] | None = None,
        passes: Sequence[int] | None = None,
        order: Order | None = None,
        children: Sequence[Children] | None = None,
    ) -> Topology:
        """Give every tier its numbers, top first; what is left out stays as it is.

        Where ``children`` of every node are given, the sizes are the largest of these.

        Raises:
            TopologyError: If there are more or fewer numbers than tiers.
        """
        for name, given in (("sizes", sizes), ("drawn", drawn), ("passes", passes), ("children", children)):
            if given is not None and len(given) != self.depth:
                raise TopologyError(f"{name}: {len(given)} numbers for {self.depth} tiers.")
        return Topology(
            tuple(
                Tier(
                    tier.pattern,
                    sizes[i],
                    tier.drawn if drawn is None else drawn[i],
                    tier.passes if passes is None else passes[i],
                    order or tier.order,
                    None if children is None else children[i],
                )
                for i, tier in enumerate(self.tiers)
            )
        )

    def chains(self, K: int) -> tuple[int, ...]:
        """Local steps that one call of a node chains, from the root (all of a round) down to a client (``K``).

        Raises:
            TopologyError: If nodes of one tier differ.
        """
        if self.uneven:
            raise TopologyError("topology: nodes differ, so that one number does not say what each chains.")
        found = [K]
        for tier in reversed(self.tiers):
            found.append(tier.chain * found[-1])
        return tuple(reversed(found))

    def local_steps(self, K: int) -> int:
        """Local steps that a global round chains: the effective over the raw learning rate.

        Raises:
            TopologyError: If nodes of one tier differ; `effective_steps` is for all trees.
        """
        return self.chains(K)[0]

    def effective_steps(self, K: int) -> float:
        """The effective over the raw learning rate: `local_steps`; where nodes differ, a mean by what they count."""
        if self.uneven:
            return float(K * prod(tier.passes for tier in self.tiers) * self._added.sum())
        return self.local_steps(K)

    @cached_property
    def weights(self) -> tuple[Floats, ...]:
        """What every child counts in a mean of its node's children, for each tier, top first; shape (children,).

        Its share over the local steps that it chains, so that what moved further does not count more for it; adding up
        to 1 for every node. Of trees whose nodes differ alone.
        """
        chains, found = np.ones(self.clients), list[Floats]()
        for tier in reversed(self.tiers):
            assert tier.children is not None, self.id  # noqa: S101 - as documented
            children = tier.children
            pace = np.add.reduceat(children.shares / chains, children.starts)
            found.append(children.shares / chains / pace[children.parents])
            if tier.pattern.by_share:
                chains = tier.passes / pace
            else:
                there = children.sizes if tier.drawn is None else np.minimum(children.sizes, tier.drawn)
                chains = tier.passes * np.add.reduceat(chains, children.starts) * there / children.sizes
        return tuple(reversed(found))

    def counted(self) -> Floats:
        """What the local steps of each client add to a round at small learning rates, as shares, shape (clients,).

        A ring counts its children alike: where their shares differ, a round lowers another mean of the clients' losses
        than the one that the shares say (`meant`). Of trees whose nodes differ alone.
        """
        return np.asarray(self._added / self._added.sum())

    def meant(self) -> Floats:
        """What each client counts for the loss of the whole, by the shares of every tier; shape (clients,)."""
        meant = np.ones(1)
        for tier in self.tiers:
            assert tier.children is not None, self.id  # noqa: S101 - of trees whose nodes differ
            meant = meant[tier.children.parents] * tier.children.shares
        return meant

    def misplaced(self) -> float:
        """Share of the weight that a round has at other clients than `meant`; 0 where that is rounding.

        Of trees whose nodes differ alone.
        """
        apart = np.abs(self.counted() - self.meant())
        return float(apart.sum() / 2) if apart.max() > ROUNDING * self.meant().max() else 0.0

    @cached_property
    def _present(self) -> tuple[Floats, ...]:
        """Probability that each node of a tier takes part in one pass of every tier, top first."""
        found = [np.ones(1)]
        for tier in self.tiers:
            assert tier.children is not None, self.id  # noqa: S101 - of trees whose nodes differ
            sizes = tier.children.sizes
            there = sizes if tier.drawn is None else np.minimum(sizes, tier.drawn)
            found.append((found[-1] * there / sizes)[tier.children.parents])
        return tuple(found[1:])

    def presence(self, tier: int) -> Floats:
        """Probability that each node above a tier takes part in one pass of every tier above; shape (nodes,)."""
        return self._present[tier - 1] if tier else np.ones(1)

    @cached_property
    def _added(self) -> Floats:
        """Weights of the clients' calls in one pass of every tier, in the mean over who is drawn."""
        added = np.ones(1)
        for tier, weights in zip(self.tiers, self.weights, strict=True):
            assert tier.children is not None, self.id  # noqa: S101 - of trees whose nodes differ
            sizes, parents = tier.children.sizes, tier.children.parents
            there = sizes if tier.drawn is None else np.minimum(sizes, tier.drawn)
            added = added[parents] * (weights if tier.pattern.by_share else (there / sizes)[parents])
        return added

    def work(self, K: int) -> int:
        """Local steps of all clients in a global round; where nodes differ, in the mean over draws, rounded."""
        if self.uneven:
            return K * prod(tier.passes for tier in self.tiers) * self.taking_part
        return K * prod(tier.passes * tier.taking_part for tier in self.tiers)

    @property
    def side_by_side(self) -> tuple[int, ...]:
        """Models that are trained at the same time below one node, from the root down to a client (1)."""
        found = [1]
        for tier in reversed(self.tiers):
            found.append(tier.pattern.side_by_side(tier.taking_part) * found[-1])
        return tuple(reversed(found))

    @property
    def models(self) -> int:
        """Models that are trained at the same time."""
        return self.side_by_side[0]

    def same_algorithm(self) -> Topology:
        """Replace the pattern of every tier in which one child takes part by the first pattern.

        Two topologies of the same numbers run the same algorithm where this is the same for both.
        """
        first = next(iter(patterns().values()))
        return Topology(tuple(replace_pattern(tier, first) if tier.taking_part == 1 else tier for tier in self.tiers))

    def __str__(self) -> str:
        return self.title


def replace_pattern(tier: Tier, pattern: Pattern) -> Tier:
    """Return the same tier with another pattern."""
    return replace(tier, pattern=pattern)


@cache
def all_topologies(depth: int) -> Mapping[str, Topology]:
    """Every topology of declared patterns of this depth, by id, without sizes; the first has the first pattern only."""
    found = (Topology(tuple(Tier(one) for one in chosen)) for chosen in product(patterns().values(), repeat=depth))
    return {topology.id: topology for topology in found}


def two_tier(
    topology: str | Topology,
    *,
    G: int,
    M: int,
    P: int = 1,
    S1: int | None = None,
    S2: int | None = None,
    order: Order = "fixed",
) -> Topology:
    """Give a topology of two tiers the numbers of the two-tier papers.

    Args:
        topology: Patterns, top first, such as ``star-ring``.
        G: Groups.
        M: Clients per group.
        P: Group rounds in a global round: passes of the lower tier.
        S1: Groups that take part; None for all.
        S2: Clients of each group that take part; None for all.
        order: Of the children of ordered patterns.
    """
    return Topology.of(topology).sized((G, M), drawn=(S1, S2), passes=(1, P), order=order)


@dataclass(frozen=True, slots=True)
class TierSymbols:
    """The letters of one tier's numbers in the shared vocabulary.

    Attributes:
        size: Of the children of each node.
        drawn: Of those that take part.
        passes: Of passes; None where it is 1.
        deviation: Of the heterogeneity between the children of a node.
    """

    size: str
    drawn: str
    passes: str | None
    deviation: str


@cache
def tier_symbols(depth: int) -> tuple[TierSymbols, ...]:
    """Letters of every tier, top first: those of the papers for two tiers, numbered ones for any other depth."""
    if depth == 2:
        return TierSymbols("G", "S1", None, "delta"), TierSymbols("M", "S2", "P", "zeta")
    return tuple(TierSymbols(f"n{i}", f"S{i}", f"P{i}" if i > 1 else None, f"delta{i}") for i in range(1, depth + 1))


def _pattern(word: str) -> Pattern:
    known: Mapping[str, Any] = patterns()
    if word in known:
        return known[word]  # type: ignore[no-any-return]
    close = difflib.get_close_matches(word.lower(), known, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    raise TopologyError(f"topology: {word!a:.40} is not a pattern. Known are {', '.join(known)}.{hint}")
