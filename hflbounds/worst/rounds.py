"""Rounds of a tree written out: every model is the start less a weighted sum of gradients, with rational weights.

Where chance decides who takes part or in which order, every outcome is followed, with its probability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, permutations

from hflbounds.errors import DomainError
from hflbounds.exact import Draws
from hflbounds.topology import Tier, Topology

Model = Mapping[int, Fraction]  # weight of each gradient in the sum that was subtracted from the start
Draw = tuple[int, ...]


@dataclass(slots=True)
class Rounds:
    """Points at which clients' losses are read in some rounds.

    Attributes:
        points: Models, each as weights of gradients; the first is the start.
        gradients: Client and point of every gradient.
        starts: For every round, and for the end of the last, the possible models there: point and probability.
    """

    points: list[Model] = field(default_factory=list)
    gradients: list[tuple[int, int]] = field(default_factory=list)
    starts: list[list[tuple[int, Fraction]]] = field(default_factory=list)
    _number: dict[frozenset[tuple[int, Fraction]], int] = field(default_factory=dict)
    _read: dict[tuple[int, int], int] = field(default_factory=dict)

    def point(self, model: Model) -> int:
        """Number of a model; equal models are one point."""
        key = frozenset(model.items())
        if key not in self._number:
            self._number[key] = len(self.points)
            self.points.append(dict(model))
        return self._number[key]

    def gradient(self, client: int, model: Model) -> int:
        """Number of a client's gradient at a model."""
        key = client, self.point(model)
        if key not in self._read:
            self._read[key] = len(self.gradients)
            self.gradients.append(key)
        return self._read[key]

    def number(self, model: Model) -> int | None:
        """Number of a model that is a point; None for any other."""
        return self._number.get(frozenset(model.items()))

    def known(self, client: int, model: Model) -> int | None:
        """Number of a client's gradient at a model; None where it is not read."""
        point = self.number(model)
        return None if point is None else self._read.get((client, point))


class _UndrawnError(Exception):
    """A pass came up whose draw is not yet decided."""

    def __init__(self, key: object, tier: Tier) -> None:
        self.key, self.tier = key, tier


def written_out(topology: Topology, K: int, R: int, draws: Draws = "common", most: int | None = None) -> Rounds:
    """Follow ``R`` rounds, and read every client at the start of each and at the end of the last.

    Args:
        topology: With sizes. Children of a tier in fixed order run in the order of their numbers.
        K: Local steps of a client.
        R: Global rounds.
        draws: ``common``: one draw of a tier for all its nodes and passes in a round; ``fresh``: one for each pass.
        most: Gradients beyond which to give up; None for any number.

    Raises:
        DomainError: If there are more gradients than ``most``, or ``K`` or ``R`` is not 1 or more.
    """
    for name, value in (("K", K), ("R", R)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise DomainError(f"{name} = {value!r} is not a whole number, 1 or more.")
    found = Rounds()
    if most is not None:  # every client and every step of a chain reads a gradient of its own
        _limit(max(topology.clients, R * topology.local_steps(K)), most)
    now: dict[int, Fraction] = {found.point({}): Fraction(1)}
    for _ in range(R):
        _read(found, topology, now)
        after: dict[int, Fraction] = {}
        for point, chance in now.items():
            for model, share in _outcomes(found, topology, K, found.points[point], draws, most):
                end = found.point(model)
                after[end] = after.get(end, Fraction(0)) + chance * share
        now = after
    _read(found, topology, now)
    if most is not None:
        _limit(len(found.gradients), most)
    return found


def _read(found: Rounds, topology: Topology, now: Mapping[int, Fraction]) -> None:
    for point in now:
        for client in range(topology.clients):
            found.gradient(client, found.points[point])
    found.starts.append(list(now.items()))


def _limit(gradients: int, most: int) -> None:
    if gradients > most:
        raise DomainError(
            f"worst case: more than {most} gradients are read in these rounds. Take fewer rounds, local steps, passes "
            "or clients, or a fixed order."
        )


def _outcomes(
    found: Rounds, topology: Topology, K: int, start: Model, draws: Draws, most: int | None
) -> list[tuple[Model, Fraction]]:
    """Models at the end of a round from one start, with their probabilities: draws are decided as they come up."""
    ends = []
    open_: list[tuple[dict[object, Draw], Fraction]] = [({}, Fraction(1))]
    while open_:
        decided, chance = open_.pop()
        try:
            ends.append((_round(found, topology, K, start, decided, draws == "fresh"), chance))
        except _UndrawnError as undrawn:
            options = _options(undrawn.tier)
            open_ += [({**decided, undrawn.key: one}, chance / len(options)) for one in reversed(options)]
        if most is not None:
            _limit(len(found.gradients), most)
    return ends


def _options(tier: Tier) -> list[Draw]:
    everyone, count = range(tier.size or tier.taking_part), tier.taking_part
    return list(permutations(everyone, count) if tier.pattern.ordered else combinations(everyone, count))


def _round(
    found: Rounds, topology: Topology, K: int, start: Model, decided: Mapping[object, Draw], fresh: bool
) -> Model:
    """One round of the listing, for draws that are decided.

    Raises:
        _UndrawnError: If it needs one that is not.
    """

    def call(depth: int, node: int, calls: tuple[int, ...], model: Model) -> Model:
        if depth == topology.depth:
            for _ in range(K):
                step = found.gradient(node, model)
                model = {**model, step: model.get(step, Fraction(0)) + 1}
            return model
        tier = topology.tiers[depth]
        size = tier.size or tier.taking_part
        for turn in range(tier.passes):
            children: Draw = tuple(range(size))
            if tier.sampled or (tier.order == "random" and tier.pattern.ordered):
                key = (depth, *calls, turn) if fresh else depth
                if key not in decided:
                    raise _UndrawnError(key, tier)
                children = decided[key]

            def child(one: int, place: int, begin: Model, turn: int = turn) -> Model:
                return call(depth + 1, node * size + one, (*calls, turn, place), begin)

            model = tier.pattern.go(model, children, child, _mean)
        return model

    return call(0, 0, (), start)


def _mean(models: Sequence[Model]) -> Model:
    total: dict[int, Fraction] = {}
    for model in models:
        for gradient, weight in model.items():
            total[gradient] = total.get(gradient, Fraction(0)) + weight
    return {gradient: weight / len(models) for gradient, weight in total.items()}
