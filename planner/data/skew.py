"""Distances between label shares that other libraries call skew: Hellinger and Jensen-Shannon.

Of each tier, the distance of every child's label shares from those of its parent, in the mean over all children with
the weights of the deviations; a parent's shares are the weighted mean of its children's. Both are from 0 to 1: 0 for
equal shares, 1 for shares without a common label. They say nothing of gradients, so no bound takes them, and they are
of the counts as they stand: clients with few samples look more different than they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.data.label_counts import LabelCounts
from planner.data.label_shift import Floats, Indices, Weighting, weights


@dataclass(frozen=True, slots=True)
class Skew:
    """How much the children of a tier differ from their parents.

    Attributes:
        hellinger: Mean Hellinger distance.
        hellinger_most: The largest.
        jensen_shannon: Mean Jensen-Shannon distance, the square root of the divergence in bits.
        jensen_shannon_most: The largest.
    """

    hellinger: float
    hellinger_most: float
    jensen_shannon: float
    jensen_shannon_most: float


def skews(table: LabelCounts, weighting: Weighting) -> tuple[Skew, ...]:
    """Return the skew of every tier, top first.

    Args:
        table: Label counts of clients in groups.
        weighting: As of the deviations, one of `label_shift.WEIGHTINGS`.
    """
    parents, masses = table.parents, weights(table, weighting)
    of_nodes = [table.shares()]
    for parent, mass in zip(reversed(parents), reversed(masses), strict=True):
        above = np.zeros((int(parent.max()) + 1, len(table.labels)))
        np.add.at(above, parent, mass[:, None] * of_nodes[0])
        of_nodes.insert(0, above)
    found, weight = [], np.ones(1)
    for parent, mass, above, here in zip(parents, masses, of_nodes[:-1], of_nodes[1:], strict=True):
        weight = weight[parent] * mass
        found.append(_skew(here, above, parent, weight))
    return tuple(found)


def _skew(children: Floats, parents: Floats, parent: Indices, weight: Floats) -> Skew:
    whole = parents[parent]
    hellinger = np.sqrt(np.maximum(((np.sqrt(children) - np.sqrt(whole)) ** 2).sum(axis=1) / 2, 0.0))
    middle = (children + whole) / 2
    divergence = (_bits(children, middle) + _bits(whole, middle)) / 2
    shannon = np.sqrt(np.maximum(divergence, 0.0))
    return Skew(
        float(weight @ hellinger), float(hellinger.max()), float(weight @ shannon), float(shannon.max())
    )  # fmt: skip


def _bits(shares: Floats, of: Floats) -> Floats:
    """Relative entropy of each row, in bits; a label that does not occur adds nothing."""
    ratio = np.divide(shares, of, out=np.ones_like(shares), where=shares > 0)
    found: Floats = (shares * np.log2(ratio)).sum(axis=1)
    return found
