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
from planner.data.label_shift import AT_ONCE, Floats, Indices, Weighting, nodes_of, weights


@dataclass(frozen=True, slots=True)
class Skew:
    """How much the children of a tier differ from their parents."""

    hellinger: float  # mean Hellinger distance
    hellinger_most: float  # the largest
    jensen_shannon: float  # mean Jensen-Shannon distance, the square root of the divergence in bits
    jensen_shannon_most: float  # the largest


def skews(table: LabelCounts, weighting: Weighting) -> tuple[Skew, ...]:
    """Return the skew of every tier, top first.

    The weighting is one of `label_shift.WEIGHTINGS`, as of the deviations.
    """
    parents, masses = table.parents, weights(table, weighting)
    of_nodes = nodes_of(table.shares(), parents, masses)
    found, weight = [], np.ones(1)
    for parent, mass, above, here in zip(parents, masses, of_nodes[:-1], of_nodes[1:], strict=True):
        weight = weight[parent] * mass
        found.append(_skew(here, above, parent, weight))
    return tuple(found)


def _skew(children: Floats, parents: Floats, parent: Indices, weight: Floats) -> Skew:
    hellinger, shannon = np.empty(len(children)), np.empty(len(children))
    for i in range(0, len(children), AT_ONCE):
        here, whole = children[i : i + AT_ONCE], parents[parent[i : i + AT_ONCE]]
        middle = (here + whole) / 2
        hellinger[i : i + AT_ONCE] = ((np.sqrt(here) - np.sqrt(whole)) ** 2).sum(axis=1) / 2
        shannon[i : i + AT_ONCE] = (_bits(here, middle) + _bits(whole, middle)) / 2
    hellinger, shannon = (np.sqrt(np.maximum(each, 0.0)) for each in (hellinger, shannon))
    return Skew(float(weight @ hellinger), float(hellinger.max()), float(weight @ shannon), float(shannon.max()))


def _bits(shares: Floats, of: Floats) -> Floats:
    """Relative entropy of each row, in bits; a label that does not occur adds nothing."""
    ratio = np.divide(shares, of, out=np.ones_like(shares), where=shares > 0)
    return np.asarray((shares * np.log2(ratio)).sum(axis=1))
