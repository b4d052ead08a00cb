"""One bound for every tree: any depth, each tier a star or a ring, in fixed or random order, whole or sampled.

Statement and proof: docs/theory/any-depth.md. `exact_sums` is what the theorem needs of a tree (sums.py),
`exact_bound` the number (value.py); `lettered_bound` and `tree_bound` state it, of letters for the catalogue and of a
given tree's own numbers (trees.py), with the formula of statement.py.

>>> from hflbounds.topology import Tier, Topology
>>> tree = Topology((Tier("star", size=7), Tier("star", size=5, passes=2)))
>>> [round(one, 4) for one in exact_sums(tree, K=3).omega]
[0.2546, 0.0463]
>>> round(exact_bound(tree, K=3, R=100, L=1, A=2.6, sigma=1, deltas=(1, 0.5), eta_eff=0.05), 4)
0.5585
"""

from hflbounds.exact.statement import PAPER, Labels, Weighed, declared, weighed
from hflbounds.exact.sums import Draws, ExactSums, Level, compose, exact_sums
from hflbounds.exact.trees import LAWS, Law, lettered_bound, tree_bound
from hflbounds.exact.value import exact_bound

__all__ = [
    "LAWS",
    "PAPER",
    "Draws",
    "ExactSums",
    "Labels",
    "Law",
    "Level",
    "Weighed",
    "compose",
    "declared",
    "exact_bound",
    "exact_sums",
    "lettered_bound",
    "tree_bound",
    "weighed",
]
