"""Statements for a tree: of letters for its patterns, and of its own numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Literal

from hflbounds.core.assumptions import NOISE, Assumption
from hflbounds.core.bound import Bound
from hflbounds.core.expression import Symbol, as_expr
from hflbounds.core.quantities import SYMBOLS, A, K, L, R, eta_eff, sigma
from hflbounds.exact.statement import Labels, declared, weighed
from hflbounds.exact.sums import Draws, Level, compose, exact_sums
from hflbounds.topology import Tier, Topology, tier_symbols

Law = Literal["fixed", "random", "partial"]
LAWS: Mapping[Law, tuple[str, str]] = MappingProxyType(
    {  # the label of its bounds, and what it is in words
        "fixed": ("exact", "fixed order, full participation"),
        "random": ("exact-random", "random order, full participation"),
        "partial": ("exact-partial", "partial participation, any joint law of the draws"),
    }
)


@cache
def lettered_bound(topology: Topology, law: Law = "fixed") -> Bound:
    """State the theorem for patterns whose numbers are letters, those of `hflbounds.topology.tier_symbols`.

    With two tiers these are the bounds of the catalogue, under the assumptions of one tier more or less.

    Args:
        topology: Patterns; sizes do not matter.
        law: Whether all take part, in fixed or in random order, or a draw on every tier, in the order drawn.

    Source: docs/theory/any-depth.md, section 2.
    """
    letters = tier_symbols(topology.depth)
    sizes, drawn, gaps = (tuple(SYMBOLS[getattr(t, n)] for t in letters) for n in ("size", "drawn", "deviation"))
    passes = tuple(SYMBOLS[t.passes] if t.passes else 1 for t in letters)
    parts = drawn if law == "partial" else sizes
    numbers = zip(topology.patterns, sizes, parts, passes, strict=True)
    sums = compose([Level(*each, fixed=law == "fixed") for each in numbers], K)
    tiers = range(1, topology.depth + 1)
    labels = Labels(tuple(f"drift_{i}" for i in tiers), tuple(f"sampling_{i}" for i in tiers), gaps)
    right = weighed(sums, labels)
    if law == "partial":  # of those drawn that are in no vocabulary of two tiers
        fits = tuple(part <= size for part, size in zip(parts, sizes, strict=True))
        right = replace(right, requires=(*right.requires, *fits))
    label, said = LAWS[law]
    plain = Topology(tuple(Tier(pattern) for pattern in topology.patterns))
    counts = tuple(x for x in (*sizes, *passes, K, *(drawn if law == "partial" else ())) if isinstance(x, Symbol))
    return declared(
        id=f"hflbounds.{label}.{plain.id}",
        title=f"{plain.id}, {said}, exact sums",
        place=f"Theorem, {plain.id}, {said}",
        right=right,
        chain=sums.T,
        assumes=(SMOOTH_CLIENTS, NOISE, _gaps(gaps), _rounds(law, counts)),
        grows_with=(A, L, sigma, *gaps),
        shrinks_with=(R,),
    )


def _rounds(law: Law, counts: tuple[Symbol, ...]) -> Assumption:
    how = {
        "fixed": "all children of every node take part in each of its passes, rings in one fixed order",
        "random": "all children of every node take part in each of its passes, rings in an order drawn afresh",
        "partial": "in each pass a uniform set of the children takes part, in uniform order given all sets; draws of "
        "different passes may depend on each other in any way",
    }
    names = {"fixed": "full participation, fixed order", "random": "full participation, random order"}
    said = rf"$R$ global rounds of $K$ local steps at one constant learning rate: {how[law]}"
    return Assumption(names.get(law, "partial participation, uniform draws"), said, (R, eta_eff, *counts))


def tree_bound(topology: Topology, *, K: int, draws: Draws = "common") -> Bound:
    """State the theorem for a given tree, as a bound with its numbers put in: to evaluate, tune and export.

    Args:
        topology: With sizes.
        K: Local steps of a client.
        draws: See `exact_sums`.

    Raises:
        TopologyError: If a size was not given.
        DomainError: If ``K`` or ``draws`` is out of its domain.

    Source: docs/theory/any-depth.md, section 2.

    >>> from hflbounds.topology import Topology
    >>> bound = tree_bound(Topology.parse("ring/star/ring").sized((3, 4, 5)), K=2)
    >>> round(bound.tuned(R=100, L=1, A=2, sigma=1, delta1=1, delta2=0.5, delta3=0.5).value, 6)
    0.157139
    """
    exact_sums(topology, K, draws)  # checks its arguments
    sums = compose([Level.of(tier, Fraction) for tier in topology.tiers], Fraction(K), draws)
    tiers = range(1, topology.depth + 1)
    letters = tuple(SYMBOLS[f"delta{i}"] for i in tiers)
    labels = Labels(tuple(f"drift_{i}" for i in tiers), tuple(f"sampling_{i}" for i in tiers), letters)
    return declared(
        id=f"hflbounds.exact.{topology.id}",
        title=f"{topology.title}: {_described(topology, K)}",
        place="section 2, with the numbers of this tree",
        right=weighed(sums, labels),
        chain=as_expr(sums.T),
        assumes=(SMOOTH_CLIENTS, NOISE, _gaps(letters, _exposed(topology)), _protocol(topology, K, draws)),
        grows_with=(A, L, sigma, *letters),
        shrinks_with=(R,),
    )


SMOOTH_CLIENTS = Assumption("smooth", r"every client loss is $L$-smooth, and $F$ is bounded below", (L, A))


def _gaps(letters: Sequence[Symbol], exposed: bool = False) -> Assumption:
    said = (
        r"the squared distance between the gradient of a child's loss and its parent's, averaged over all nodes of "
        r"tier $l$, is at most $\delta_l^2$ at every global iterate; the loss of a node is the mean of its children's"
    )
    if exposed:
        said += (
            "; for a tier that is sampled below a ring in fixed order, averaged over those below each of its children"
        )
    return Assumption("heterogeneity", said, tuple(letters))


def _exposed(topology: Topology) -> bool:
    """Whether a draw is made below a fixed order, in which what some nodes draw stays longer than what others do."""
    fixed = [not t.sampled and t.order == "fixed" and t.pattern.ordered and t.taking_part > 1 for t in topology.tiers]
    return any(tier.sampled and any(fixed[:place]) for place, tier in enumerate(topology.tiers))


def _protocol(topology: Topology, K: int, draws: Draws) -> Assumption:
    law = "independent of each other" if draws == "fresh" else "of any joint law"
    drawn = f", draws of different passes {law}" if topology.drawn else ""
    said = rf"$R$ global rounds at one constant learning rate: {_described(topology, K)}{drawn}"
    return Assumption("rounds", said, (R, eta_eff))


def _described(topology: Topology, K: int) -> str:
    """The tiers of a tree with their numbers, in words."""
    words = []
    for tier in topology.tiers:
        said = f"{tier.pattern.id} of {tier.size if tier.size is not None else tier.taking_part}"
        if tier.sampled:
            said += f", {tier.drawn} drawn"
        elif tier.pattern.ordered:
            said += f" in {tier.order} order"
        words.append(said + (f", {tier.passes} passes" if tier.passes > 1 else ""))
    return "; ".join(words) + f"; {K} local step{'s' * (K > 1)}"
