"""Trees whose nodes differ as nested lists of what clients count, run one model at a time; written for tests alone.

``[[5, 1], [2, 2, 7]]`` are two groups, of two clients and of three. Numbers may be fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Node = Any  # a number, or a list of nodes


def whole(node: Node) -> Any:
    return sum(map(whole, node)) if isinstance(node, list) else node


def leaves(node: Node) -> list[Any]:
    return [leaf for child in node for leaf in leaves(child)] if isinstance(node, list) else [node]


def nested_sizes(node: Node) -> list[list[int]]:
    """Children of every node above each tier, top first."""
    found, level = [], [node]
    while isinstance(level[0], list):
        found.append([len(one) for one in level])
        level = [child for one in level for child in one]
    return found


def chained(node: Node, patterns: Sequence[str], passes: Sequence[int]) -> Any:
    """Local steps that a call chains, for one of a client."""
    if not isinstance(node, list):
        return 1
    below = [chained(child, patterns[1:], passes[1:]) for child in node]
    if patterns[0] == "ring":
        return passes[0] * sum(below)
    return passes[0] / sum(whole(child) / whole(node) / steps for child, steps in zip(node, below, strict=True))


def weights(node: Node, patterns: Sequence[str], passes: Sequence[int]) -> list[Any]:
    """What the children of a star count in its mean: what they are worth over the steps that they chain."""
    raw = [whole(child) / chained(child, patterns[1:], passes[1:]) for child in node]
    return [one / sum(raw) for one in raw]


def run(
    node: Node,
    patterns: Sequence[str],
    passes: Sequence[int],
    x: Any,
    local: Callable[[int, Any], Any],
    order: Callable[[tuple[int, int], int], Sequence[int]] = lambda node, n: range(n),
    first: int = 0,
) -> Any:
    """One call of a node; ``local`` trains a client by its number, ``order`` is that of a node's children."""
    if not isinstance(node, list):
        return local(first, x)
    starts = [first + sum(len(leaves(child)) for child in node[:i]) for i in range(len(node))]

    def child(i: int, x: Any) -> Any:
        return run(node[i], patterns[1:], passes[1:], x, local, order, starts[i])

    for _ in range(passes[0]):
        if patterns[0] == "ring":
            for i in order((len(passes), first), len(node)):
                x = child(i, x)
        else:
            x = sum(w * child(i, x) for i, w in enumerate(weights(node, patterns, passes)))
    return x
