"""A star: the children start from the same model, side by side, and the node takes the mean of what they return."""

import numpy as np

from hflbounds.topology.maps import Composition, LinearMap
from hflbounds.topology.patterns import Pattern


class Star(Pattern):
    """All children from the same model, then the mean."""

    id = "star"
    title = "Star"
    letter = "S"
    meaning = "{child}s in parallel"
    rank = 0
    ordered = False

    def chain(self, children: int) -> int:
        """One: the children's steps do not follow each other."""
        return 1

    def compose(self, call: LinearMap, children: int) -> Composition:
        """Mean of equal maps: each call enters with the weight ``1/children``."""
        return Composition(call, np.ones(1), np.full(1, 1 / children))


PATTERN = Star()
