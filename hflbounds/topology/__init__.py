"""Topologies as data: a tree of tiers, each a star or a ring, top tier first.

>>> from hflbounds.topology import Tier, Topology
>>> tree = Topology((Tier("star", size=12, drawn=3), Tier("ring", size=25, passes=2)))
>>> tree.id, tree.title, tree.depth, tree.local_steps(K=5)
('star-ring', 'Star-Ring', 2, 250)
>>> Topology.parse("ring/star/ring").id
'ring-star-ring'

A topology knows no pattern by name: what a star or a ring does is declared once, in its file of
`hflbounds.topology.patterns`, and composed over the tiers here, by the costs, the predictors and the harness.
"""

from hflbounds.topology.children import Children, TopologyError, branches
from hflbounds.topology.maps import Composition, LinearMap
from hflbounds.topology.patterns import Pattern, pattern, patterns
from hflbounds.topology.tree import (
    Order,
    Tier,
    TierSymbols,
    Topology,
    all_topologies,
    plural,
    tier_symbols,
    two_tier,
)

__all__ = [
    "Children",
    "Composition",
    "LinearMap",
    "Order",
    "Pattern",
    "Tier",
    "TierSymbols",
    "Topology",
    "TopologyError",
    "all_topologies",
    "branches",
    "pattern",
    "patterns",
    "plural",
    "tier_symbols",
    "two_tier",
]
