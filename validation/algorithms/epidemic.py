"""Epidemic Learning: every node sends its model to s others, and averages its own with what it receives."""

from __future__ import annotations

from dataclasses import dataclass

from hflbounds.catalog.devos2023 import paper
from hflbounds.mixing import Oracle, Push
from validation.mixing import Gossip

SOURCE = paper.at("EL-Local and EL-Oracle, as described in sharma2025, Section 2")


@dataclass(frozen=True, kw_only=True, slots=True)
class Local(Gossip):
    """EL-Local: receivers are drawn by each sender for itself, so that in-degrees vary.

    Attributes:
        n: nodes.
        s: others that each sends to.

    Raises:
        ValidationError: if there are fewer others.
    """

    n: int
    s: int

    def law(self) -> Push | Oracle:
        """The law of a round's matrix."""
        return Push(self.n, self.s)


@dataclass(frozen=True, kw_only=True, slots=True)
class Regular(Local):
    """EL-Oracle: a graph in which everybody sends to s others and receives from s others."""

    def law(self) -> Push | Oracle:
        """The law of a round's matrix."""
        return Oracle(self.n, self.s)


MAKERS = {"el-local": Local, "el-oracle": Regular}
