"""The typical predictor on trees of one to four tiers, against every step of the rounds, written out.

An iterate is kept as its coefficients: of the start, of the tilt of every node, and of every draw of noise. All draws
of who takes part, and in which order, are enumerated, and the tilts of a node's children are in every order alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from hflbounds.topology import Tier, Topology
from planner.predict.envelopes import constants_of
from planner.predict.predictors.typical import CURVATURES, RATES, START, Fleet

Array = npt.NDArray[np.float64]
Path = tuple[int, ...]  # from the root down
Draw = dict[Path, tuple[int, ...]]  # the children of every inner node that take part, in order

TREES = {
    "a star of clients": ((Tier("star", 3, 2, order="random"),), 2),
    "a ring of clients": ((Tier("ring", 4),), 2),
    "a ring of clients, drawn": ((Tier("ring", 3, 2, order="random"),), 1),
    "two tiers": ((Tier("ring", 3), Tier("ring", 2, passes=2)), 2),
    "rings of three tiers": ((Tier("ring", 2), Tier("ring", 3, passes=2), Tier("ring", 2, passes=3)), 2),
    "a star in rings": ((Tier("ring", 3), Tier("star", 2, passes=3), Tier("ring", 2, passes=2)), 1),
    "rings in a star": ((Tier("star", 2), Tier("ring", 3, passes=2), Tier("star", 3)), 2),
    "some of each": ((Tier("star", 3, 2, order="random"), Tier("ring", 2, passes=2, order="random")), 2),
    "some above all": ((Tier("ring", 3, 2, order="random"), Tier("ring", 2, passes=2), Tier("ring", 2)), 1),
    "all above some": ((Tier("ring", 2), Tier("star", 2, passes=2), Tier("ring", 2, 1, order="random")), 1),
    "all above two": ((Tier("ring", 2), Tier("star", 2, passes=2), Tier("ring", 3, 2, order="random")), 1),
    "an order drawn between": ((Tier("ring", 2), Tier("ring", 3, passes=2, order="random"), Tier("ring", 2)), 1),
    "an only child": ((Tier("ring", 1), Tier("star", 3, 2, passes=2, order="random"), Tier("ring", 1, passes=2)), 2),
    "rings of four tiers": ((Tier("ring", 2), Tier("ring", 2, passes=2), Tier("ring", 2), Tier("ring", 2)), 1),
    "four tiers": (
        (Tier("ring", 2), Tier("star", 3, 2, order="random"), Tier("ring", 2, passes=2), Tier("star", 2, passes=2)),
        1,
    ),
}  # fmt: skip


def nodes(tiers: Sequence[Tier], depth: int) -> list[Path]:
    """All nodes of a depth."""
    return list(itertools.product(*(range(tier.size or 0) for tier in tiers[:depth])))


def draws(tiers: Sequence[Tier]) -> Iterator[Draw]:
    """Every way to draw children for all inner nodes, each as likely."""
    inner = [path for depth in range(len(tiers)) for path in nodes(tiers, depth)]
    ways = []
    for path in inner:
        tier = tiers[len(path)]
        every = range(tier.size or 0)
        chance = tier.taking_part < len(every) or (tier.order == "random" and tier.pattern.id == "ring")
        ordered = itertools.permutations if tier.pattern.id == "ring" else itertools.combinations
        ways.append(list(ordered(every, tier.taking_part)) if chance else [tuple(every)])
    for chosen in itertools.product(*ways):
        yield dict(zip(inner, chosen, strict=True))


def one_round(tiers: Sequence[Tier], K: int, eta: Array, draw: Draw) -> tuple[Array, Array, Array]:
    """Coefficients after a round: of the iterate before, of the tilt of every node, and of every draw of noise."""
    every = [path for depth in range(1, len(tiers) + 1) for path in nodes(tiers, depth)]
    place = {path: 1 + i for i, path in enumerate(every)}
    steps = K * int(np.prod([tier.passes * tier.taking_part for tier in tiers]))
    basis = np.eye(1 + len(every) + steps)[:, :, None, None]
    fresh = itertools.count(1 + len(every))

    def call(node: Path, x: Array) -> Array:
        if len(node) == len(tiers):
            for _ in range(K):
                tilts = sum(basis[place[node[:depth]]] for depth in range(1, len(node) + 1))
                x = x - eta * (CURVATURES * x + tilts + basis[next(fresh)])
            return x
        tier = tiers[len(node)]
        for _ in range(tier.passes):
            if tier.pattern.id == "ring":
                for child in draw[node]:
                    x = call((*node, child), x)
            else:
                x = np.mean([call((*node, child), x) for child in draw[node]], axis=0)
        return x

    found = call((), basis[0] * np.ones_like(eta * CURVATURES))
    return found[0], found[1 : 1 + len(every)], found[1 + len(every) :]


def spread(tiers: Sequence[Tier], depth: int) -> Array:
    """Covariance of the tilts of the nodes of a depth: mean 0 and mean square 1 among siblings, in any order."""
    every = nodes(tiers, depth)
    n = tiers[depth - 1].size or 0
    if n == 1:
        return np.zeros((len(every), len(every)))
    return np.array([[(n * (a == b) - 1) / (n - 1) if a[:-1] == b[:-1] else 0.0 for b in every] for a in every])


def means(tiers: Sequence[Tier], made: Sequence[tuple[Array, Array, Array]], rounds: int) -> Array:
    """Coefficients of the mean squared gradient over the iterates 0 to rounds - 1: shape (2 + depth, rates).

    ``made`` is of a round for everything that it may draw.
    """
    a, noise = made[0][0], (made[0][2] ** 2).sum(0)
    tilts = np.stack([one[1] for one in made])  # (draws, nodes, rates, curvatures)
    mean = tilts.mean(0)
    offsets = np.cumsum([0] + [len(nodes(tiers, depth)) for depth in range(1, len(tiers) + 1)])
    total = np.zeros((2 + len(tiers), *a.shape))
    for r in range(rounds):
        total[0] += a ** (2 * r) * START
        total[1] += noise * sum(a ** (2 * k) for k in range(r)) / len(CURVATURES)
        for depth in range(1, len(tiers) + 1):
            covariance = spread(tiers, depth)
            mine = slice(offsets[depth - 1], offsets[depth])
            alone = np.einsum("dirc,ij,djrc->rc", tilts[:, mine], covariance, tilts[:, mine]) / len(tilts)
            others = np.einsum("irc,ij,jrc->rc", mean[mine], covariance, mean[mine])  # two rounds draw independently
            pairs = [(i, k) for i in range(r) for k in range(r)]
            added = sum(a ** (i + k) * (alone if i == k else others) for i, k in pairs)
            total[1 + len(tiers) - depth + 1] += added / len(CURVATURES)  # the lowest tier first
    return np.asarray((CURVATURES**2 * total).sum(-1) / rounds)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "all above two" else ()) for name in TREES]
)
def test_every_depth_is_what_the_rounds_written_out_do(name: str) -> None:
    tiers, K = TREES[name]
    fleet = Fleet(Topology(tiers), K)
    at = [int(np.abs(np.log(RATES / rate)).argmin()) for rate in (0.02, 0.3, 0.9)]
    eta = (RATES[at] / fleet.topology.local_steps(K))[:, None]
    made = [one_round(tiers, K, eta, draw) for draw in draws(tiers)]
    for rounds in (1, 3):
        found = fleet.coefficients(float(rounds))[:, at]
        np.testing.assert_allclose(found, means(tiers, made, rounds), rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_tier_of_one_child_is_no_tier(place: int) -> None:
    """Its passes go to the tier below, or to the clients' steps where none of them averages."""
    two = (Tier("ring", 3), Tier("star", 4, 2, passes=2, order="random"))
    for pattern in ("star", "ring"):
        three = (*two[:place], Tier(pattern, 1), *two[place:])
        found, wanted = (Fleet(Topology(tiers), 3).coefficients(40.0) for tiers in (three, two))
        rows = [0, 1, *(2 + i for i in range(3) if i != 2 - place)]
        np.testing.assert_allclose(found[rows], wanted, rtol=1e-12)
        assert (found[2 + 2 - place] == 0).all()


def test_passes_of_a_star_of_one_are_steps() -> None:
    of: Callable[..., Any] = lambda passes, K: Fleet(  # noqa: E731
        Topology((Tier("ring", 5), Tier("star", 1, passes=passes))), K
    ).coefficients(30.0)
    np.testing.assert_allclose(of(3, 2), of(1, 6), rtol=1e-12)


def test_the_deepest_trees_have_finite_rounds() -> None:
    tiers = tuple(Tier(("ring", "star")[i % 2], 9, passes=2) for i in range(8))
    fleet = Fleet(Topology(tiers), 5, 0.5)
    constants = dict.fromkeys(constants_of(8), 1.0)
    rounds = fleet.rounds_to(np.array([1.0, 0.1, 0.01]), constants)
    assert np.isfinite(rounds).all()
    assert (np.diff(rounds) > 0).all()
