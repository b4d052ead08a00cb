"""A ring: the model passes from child to child, and the node takes what the last one returns."""

from hflbounds.topology.maps import Composition, LinearMap
from hflbounds.topology.patterns import Pattern


class Ring(Pattern):
    """The children one after the other on the same model."""

    id = "ring"
    title = "Ring"
    letter = "R"
    meaning = "the model passed from {child} to {child}"
    rank = 1
    ordered = True

    def chain(self, children: int) -> int:
        """All of them."""
        return children

    def compose(self, call: LinearMap, children: int) -> Composition:
        """Product of the maps: call i of n enters with the weight ``factor^(n - i)``."""
        return call.repeated(children)


PATTERN = Ring()
