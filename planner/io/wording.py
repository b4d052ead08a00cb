"""Lists and names in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hflbounds.topology import Topology


def join(words: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def title(topology: str) -> str:
    """The name of a topology, by its id."""
    return Topology.parse(topology).title


def names(topologies: Iterable[str]) -> str:
    """The names of topologies, by their ids, joined."""
    return join([title(topology) for topology in topologies])
