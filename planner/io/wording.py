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


def join_with_limit(words: Sequence[str], most: int = 4) -> str:
    """The first of them, joined, and how many more there are."""
    left = len(words) - most
    return join(words) if left <= 1 else f"{', '.join(words[:most])} and {left} more"


def counted(number: int, noun: str) -> str:
    """``1 group``, ``2 groups``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def shortened(name: str, most: int = 40) -> str:
    """A name that is cut where it is long."""
    return name if len(name) <= most else name[: most - 3] + "..."
