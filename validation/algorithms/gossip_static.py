"""The decentralised baselines: gossip on a torus, and on an Erdos-Renyi graph."""

from __future__ import annotations

from dataclasses import dataclass

from hflbounds.catalog.sharma2025 import paper
from hflbounds.mixing import ErdosRenyi, Torus
from validation.engine import Moment
from validation.mixing import Gossip

SOURCE = paper.at("Section 5, baselines")


@dataclass(frozen=True, kw_only=True, slots=True)
class Grid(Gossip):
    """A grid whose ends meet: every node averages itself and its four neighbours, in every round the same.

    Attributes:
        rows: of the grid.
        columns: of the grid; nodes are numbered row by row.

    Raises:
        ValidationError: if there are fewer than three of either.
    """

    rows: int
    columns: int

    def law(self) -> Torus:
        """The one matrix."""
        return Torus(self.rows, self.columns)


@dataclass(frozen=True, kw_only=True, slots=True)
class RandomGraph(Gossip):
    """Links are there with one probability, independently; a node averages its own model with those it hears.

    Attributes:
        n: nodes.
        probability: of each link.
        symmetric: whether a link goes both ways; if not, the two directions are drawn apart.
        redrawn: whether the graph is drawn afresh in every round, or once for each seed.

    Raises:
        ValidationError: if the probability is none.
    """

    n: int
    probability: float
    symmetric: bool = True
    redrawn: bool = True

    def law(self) -> ErdosRenyi:
        """The law of the matrix."""
        return ErdosRenyi(self.n, self.probability, self.symmetric)

    def time(self, moment: Moment) -> tuple[int, ...]:
        """The round, or nothing where the graph stays."""
        return (moment.index,) if self.redrawn else ()


MAKERS = {"torus": Grid, "erdos-renyi": RandomGraph}
