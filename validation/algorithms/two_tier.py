"""Star-Star, Star-Ring, Ring-Star and Ring-Ring: the trees of two tiers, in the letters of zhou2026."""

from __future__ import annotations

from hflbounds.topology import Order, TopologyError
from hflbounds.topology import two_tier as tiers
from validation.algorithms.tree import Tree
from validation.engine import ValidationError
from validation.mixing import at_least_one


def two_tier(
    *,
    topology: str,
    G: int,
    M: int,
    P: int = 1,
    K: int = 1,
    S1: int | None = None,
    S2: int | None = None,
    order: Order = "fixed",
) -> Tree:
    """One hierarchy of two tiers.

    Args:
        topology: top tier first.
        G: groups.
        M: clients in each group.
        P: group rounds in a global round.
        K: local steps of a client in a group round.
        S1: groups drawn in each global round; None for all.
        S2: clients drawn of each of them; None for all.
        order: of rings, ``fixed`` or ``random``: drawn afresh each global round. Sampling draws its own order.

    Raises:
        ValidationError: if a count is out of range.
    """
    for name, number in (("G", G), ("M", M), ("P", P), ("K", K)):
        at_least_one(name, number)
    for name, part, whole in (("S1", S1, G), ("S2", S2, M)):
        if part is not None and not 1 <= part <= whole:
            raise ValidationError(f"{name} = {part} is not between 1 and {whole}.")
    try:
        return Tree(topology=tiers(topology, G=G, M=M, P=P, S1=S1, S2=S2, order=order), K=K)
    except TopologyError as error:
        raise ValidationError(str(error)) from None


MAKERS = {"two-tier": two_tier}
