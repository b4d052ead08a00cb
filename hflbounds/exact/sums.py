"""What the theorem needs of a tree: sums over the local steps of a round, kept exact, tier by tier.

Each pattern declares its own part, so that nothing here tells a star from a ring.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from math import prod
from typing import Any, Literal

from hflbounds.core.expression import Expr, choice
from hflbounds.errors import DomainError
from hflbounds.topology import Tier, Topology
from hflbounds.topology.patterns import Pattern, mean_square, sine

Draws = Literal["common", "fresh"]

HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Level:
    """The numbers of one tier: whole numbers, fractions, or formulas.

    Attributes:
        pattern: How the children of a node take part.
        size: Children of a node.
        drawn: Those that take part in a pass; equal to ``size`` where all do.
        passes: Passes of a call of the node.
        fixed: Whether the order is fixed; of a star with all its children it does not matter.
    """

    pattern: Pattern
    size: Any
    drawn: Any
    passes: Any
    fixed: bool

    @property
    def whole(self) -> bool:
        """Whether all children take part."""
        return bool(self.drawn == self.size)

    @property
    def chain(self) -> Any:
        """Calls of a child that one call of the node chains."""
        return self.passes * self.pattern.chain(self.drawn)

    @classmethod
    def of(cls, tier: Tier, number: Callable[[int], Any] = int) -> Level:
        """The numbers of a tier, each made a ``number``."""
        part = tier.taking_part
        size = part if tier.size is None else tier.size
        fixed = tier.order == "fixed" and not tier.sampled
        return cls(tier.pattern, number(size), number(part), number(tier.passes), fixed)


@dataclass(frozen=True, slots=True)
class ExactSums:
    """What the theorem needs of a tree, apart from the constants of the problem: numbers, or formulas.

    Attributes:
        T: Local steps that a round chains.
        N: Local steps of a round in all.
        chi: Norm of the weights of earlier steps, over ``T``.
        phi: Mean square of a step's position, over ``T^2``.
        nu: Drift by noise of unit variance, over ``T^2``.
        omega: Drift by each tier's gaps of unit size, over ``T^2``, top tier first.
        start: What each tier's draws of unit gaps add to the variance of a round's step, top tier first.
        correlated: Whether a tier's gaps may be correlated with those above: a ring in fixed order.
    """

    T: Any
    N: Any
    chi: Any
    phi: Any
    nu: Any
    omega: tuple[Any, ...]
    start: tuple[Any, ...]
    correlated: tuple[bool, ...]

    @property
    def largest(self) -> Any:
        """End of the theorem: ``L eta_eff`` is below it."""
        reach = self.phi**0.5 + self.chi
        return min(1.0, 1 / reach) if reach else 1.0


def compose(levels: Sequence[Level], K: Any, draws: Draws = "common") -> ExactSums:
    """Compose the sums over the tiers, top first.

    Args:
        levels: Their numbers; formulas where the sums are to be formulas.
        K: Local steps of a client.
        draws: See `exact_sums`.

    Source: docs/theory/any-depth.md, sections 2 to 4.
    """
    chains = [K]
    shares: list[Any] = [Fraction(1)]  # lambda, from the clients up: the weight of an earlier pass
    for level in reversed(levels):
        chains.insert(0, level.chain * chains[0])
        shares.insert(0, shares[0] / level.pattern.side_by_side(level.drawn))
    T, below = chains[0], chains[1:]
    nu = (K - 1) * HALF
    omega, start, correlated = [], [], []
    for place, (level, B) in enumerate(zip(levels, below, strict=True)):
        pattern, n, part = level.pattern, level.size, level.drawn
        nu += shares[place] * pattern.chain(part) * B * (level.passes - 1) * HALF
        nu += shares[place + 1] * B * pattern.earlier(part)
        beta = 0 if level.whole else _unless(n, 1, partial(_spread, n, part))
        if draws == "fresh":
            start.append(beta / (prod(above.passes * above.drawn for above in levels[:place]) * level.passes))
        else:
            start.append(beta)
        correlated.append(level.fixed and pattern.ordered and (isinstance(n, Expr) or n > 1))
        omega.append(_unless(n, 1, partial(_gap, levels, below, place, T, beta, draws)))
    chi = _unless(T, 1, lambda: 1 / (2 * T * sine(2 * T - 1)))
    work = K * prod(level.passes * level.drawn for level in levels)
    return ExactSums(T, work, chi, mean_square(T) / T**2, nu / T**2, tuple(omega), tuple(start), tuple(correlated))


def _spread(n: Any, part: Any) -> Any:
    """Mean square of the mean of gaps that are drawn without replacement, over that of the gaps."""
    return (n - part) / ((n - 1) * part)


def _gap(levels: Sequence[Level], below: Sequence[Any], place: int, T: Any, beta: Any, draws: Draws) -> Any:
    """Sum of a tier's gaps, over ``T^2``."""
    level, B = levels[place], below[place]
    if level.whole and (level.fixed or not level.pattern.ordered):
        return level.pattern.fixed_gap(level.size, B) / T**2
    inside, position = level.pattern.drawn_gap(level.size, level.drawn, B)
    if not level.whole:
        inside += beta * (mean_square(T) - position if draws == "common" else _fresh(levels, below, place))
    return inside / T**2


def _fresh(levels: Sequence[Level], below: Sequence[Any], place: int) -> Any:
    """Mean over the steps of the sum of squared weights of earlier, independent draws of a tier."""
    total: Any = 0
    for m, (level, B) in enumerate(zip(levels[: place + 1], below, strict=False)):
        sharing = prod(one.drawn * under.passes for one, under in pairwise(levels[m : place + 1]))
        total += (level.passes - 1) * HALF * (level.pattern.chain(level.drawn) * B) ** 2 / sharing
        if m < place:
            total += level.pattern.earlier(level.drawn) * level.drawn * B**2 / sharing
    return total


def _unless(number: Any, one: int, value: Callable[[], Any]) -> Any:
    """The value, and 0 where the number is 1."""
    if isinstance(number, Expr):
        found = value()
        return 0 if found == 0 else choice(number <= one, 0, found)
    return value() if number > one else 0


def exact_sums(topology: Topology, K: int, draws: Draws = "common") -> ExactSums:
    """Sum the weights of a round exactly.

    Args:
        topology: With sizes.
        K: Local steps of a client.
        draws: Law of the draws of one tier in different passes: ``common`` (any joint law, such as one draw for the
            round) or ``fresh`` (independent).

    Raises:
        TopologyError: If a size was not given.
        DomainError: If ``K`` or ``draws`` is out of its domain.

    Source: docs/theory/any-depth.md, sections 2 to 4.
    """
    if isinstance(K, bool) or not isinstance(K, int) or K < 1:
        raise DomainError(f"K = {K!r} is not a whole number, 1 or more. Give the local steps of a client.")
    if draws not in ("common", "fresh"):
        raise DomainError(f"draws = {draws!r} is not one of common, fresh. Common covers every law.")
    return _sums(Topology.of(topology), K, draws)


@lru_cache(maxsize=1024)
def _sums(topology: Topology, K: int, draws: Draws) -> ExactSums:
    found = compose([Level.of(tier) for tier in topology.tiers], K, draws)
    omega, start = tuple(map(float, found.omega)), tuple(map(float, found.start))
    chi, phi, nu = float(found.chi), float(found.phi), float(found.nu)
    return replace(found, chi=chi, phi=phi, nu=nu, omega=omega, start=start)
