"""Trees of any depth: the engine and the ensembles against the literal recursion, and who waits for whom by sets."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from hflbounds.topology import LinearMap, Pattern, Tier, Topology, all_topologies, patterns
from validation import reference
from validation.ensemble import FAMILIES, _drawn, ensemble, squared_gradients
from validation.patterns import execution
from validation.reference import Path, tree_round

pytest.importorskip("torch")

from literal_trees import check_engine, number

from validation.algorithms.tree import tree
from validation.algorithms.two_tier import two_tier
from validation.engine import ValidationError
from validation.experiment import make_algorithm, part


def random_tree(dice: random.Random, depth: int, most: int = 3) -> Topology:
    """Any patterns, sizes, draws, passes and orders, of at most about a hundred clients."""

    def tier() -> Tier:
        size = dice.randint(1, most)
        drawn = dice.choice([None, dice.randint(1, size)])
        return Tier(dice.choice(list(patterns())), size, drawn, dice.randint(1, 2), dice.choice(["fixed", "random"]))

    return Topology(tuple(tier() for _ in range(depth)))


TREES = [random_tree(random.Random(f"{depth} {i}"), depth) for depth in (1, 2, 3, 4) for i in range(8)]
NAMED = [pytest.param(one, id=f"{i}-{one.id}") for i, one in enumerate(TREES)]


@pytest.mark.parametrize("one", NAMED)
def test_the_engine_takes_the_steps_of_the_literal_recursion(one: Topology) -> None:
    check_engine(one, K=2, rounds=2)


@pytest.mark.parametrize("one", NAMED)
def test_ensembles_take_the_steps_of_the_literal_recursion(one: Topology) -> None:
    """Without noise, in single precision; the clients of the tree are those of the ensemble, group by group."""
    family = FAMILIES[one.clients % len(FAMILIES)]
    made = ensemble(family, G=1, M=one.clients, sigma=0.0, zeta=0.6 * (one.clients > 1), problems=2, seed=3)
    bend = {"quadratic": np.zeros_like, "log-cosh": np.tanh, "cosine": np.sin}.get(
        family, lambda u: u / np.sqrt(1 + u * u)
    )
    found = squared_gradients(made, one, np.array([0.7]), 3, K=2, seed=9)
    for problem in range(2):
        h, a, p, v = (part[problem].astype(float) for part in (made.h, made.a, made.p, made.v))

        def at(c: int, x: Any, h: Any = h, a: Any = a, p: Any = p, v: Any = v) -> Any:
            return h * x + a * bend(x - p[0, c]) + v[0, c]

        x, wanted = made.x0[problem].astype(float), []
        drawn = any(tier.sampled or tier.order == "random" for tier in one.tiers)
        for r in range(4):
            mean = np.mean([at(c, x) for c in range(one.clients)], 0)
            wanted.append(float(mean @ mean))
            who = _drawn(np.random.default_rng([9, 2, r]), 2, one)[problem]

            def order(place: Path, moment: Path, who: Any = who) -> list[int] | None:
                below = prod(tier.size or 0 for tier in one.tiers[len(place) + 1 :])
                size = one.tiers[len(place)].size or 0
                children = dict.fromkeys(int(c) // below for c in who)  # in the order in which they take part
                mine = [child % size for child in children if child // size == number(place, one)]
                return mine + [child for child in range(size) if child not in mine]

            rate = 0.7 / one.local_steps(2)
            step = partial(tree_round, x, one, 2, rate, lambda place, moment, k, x: at(number(place, one), x))
            x = step(order=order if drawn else None)
        np.testing.assert_allclose(found[:, 0, problem], wanted, rtol=5e-4)


# --- who waits for whom -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """A point that only knows which local steps are in it, each with those that it followed."""

    steps: frozenset[tuple[Any, ...]]

    def __add__(self, other: Known) -> Known:
        return Known(self.steps | other.steps)

    def __sub__(self, other: Known) -> Known:
        return Known(self.steps | other.steps)

    def __rmul__(self, eta: object) -> Known:
        return self

    def __truediv__(self, number: object) -> Known:
        return self


@pytest.mark.parametrize("one", NAMED)
def test_steps_follow_each_other_as_the_chains_say(one: Topology) -> None:
    """A step's depth is one more than that of the deepest it knows of: K chains to a client, chains() to every node."""
    K = 2
    depth: dict[tuple[Any, ...], int] = {}
    first: dict[tuple[Path, Path], int] = {}
    taken: dict[tuple[Path, Path], set[tuple[Any, ...]]] = {}

    def gradient(place: Path, moment: Path, k: int, x: Known) -> Known:
        step = (place, moment, k)
        assert step not in depth
        before = max((depth[other] for other in x.steps), default=0)
        depth[step] = before + 1
        for level in range(one.depth + 1):  # every call of every node above, told by where and when
            call = (place[:level], moment[:level])
            first[call] = min(first.get(call, before), before)
            taken.setdefault(call, set()).add(step)
        return Known(frozenset({step}))

    end = tree_round(Known(frozenset()), one, K, 1, gradient)
    assert end.steps == set(depth)
    assert len(depth) == one.work(K)
    assert max(depth.values()) == one.local_steps(K)
    chains = one.chains(K)
    for (place, moment), steps in taken.items():
        assert max(depth[step] for step in steps) - first[place, moment] == chains[len(place)]
        assert len(steps) == one.work(K) // prod(t.passes * t.taking_part for t in one.tiers[: len(place)])
    # A step follows the steps of all siblings before it in a ring, and of none in a star: one number says when it is.
    for (place, moment, k), when in depth.items():
        wanted = k + 1
        for level, (tier, child, again) in enumerate(zip(one.tiers, place, moment, strict=True)):
            position = child if tier.pattern.ordered else 0  # in the fixed order children take part as numbered
            wanted += (again * tier.pattern.chain(tier.taking_part) + position) * chains[level + 1]
        assert when == wanted


def test_exact_weights_of_three_tiers() -> None:
    """A ring of two stars of two rings of two clients: each star halves what its rings add."""
    one = Topology.parse("ring/star/ring").sized((2, 2, 2))
    found = tree_round(Fraction(0), one, 1, Fraction(1), lambda place, moment, k, x: Fraction(-1))
    assert found == 4  # two groups in turn, the mean of rings of two steps each
    weights = {
        leaf: tree_round(
            Fraction(0), one, 1, Fraction(1), lambda place, moment, k, x, leaf=leaf: -Fraction(place == leaf)
        )
        for leaf in product(range(2), repeat=3)
    }
    assert set(weights.values()) == {Fraction(1, 2)}


# --- descriptions -------------------------------------------------------------------------------------------------


def test_the_topologies_of_the_paper_are_in_its_order() -> None:
    assert reference.TOPOLOGIES == ("star-star", "star-ring", "ring-star", "ring-ring")


@pytest.mark.parametrize("topology", all_topologies(2))
def test_two_tiers_are_the_tree_of_two_tiers(topology: str) -> None:
    words = tree(topology=topology, sizes="3/4", drawn="3/2", passes="1/2", K=5, order="random")
    assert words == two_tier(topology=topology, G=3, M=4, P=2, K=5, S1=3, S2=2, order="random")
    assert make_algorithm(part("tree", topology=topology, sizes="3/4", K=5)).local_steps_per_round() == (
        two_tier(topology=topology, G=3, M=4, K=5).local_steps_per_round()
    )


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ({"topology": "ring/stra", "sizes": "2/3"}, "'stra' is not a pattern.*Did you mean star"),
        ({"topology": "ring/star", "sizes": "2/3/4"}, "3 numbers for 2 tiers"),
        ({"topology": "ring/star", "sizes": "2/x"}, "whole numbers, top first"),
        ({"topology": "ring/star", "sizes": "2/3", "drawn": "3/3"}, "3 is more than its size, 2"),
        ({"topology": "ring/star", "sizes": "2/3", "K": 0}, "K = 0 is not a count"),
    ],
)
def test_words_that_describe_no_tree_are_refused(what: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        tree(**what)


def test_a_pattern_that_nobody_says_how_to_run_is_refused_by_name() -> None:
    class Exchange(type(next(iter(patterns().values())))):  # type: ignore[misc]
        id = "exchange"

    with pytest.raises(NotImplementedError, match=r"'exchange' cannot be run.*known are ring, star"):
        execution(Exchange())


@pytest.mark.parametrize("pattern", patterns().values(), ids=str)
def test_every_pattern_is_run_as_its_algebra_says(pattern: Pattern) -> None:
    """The longest chain of one pass, and what a pass of linear calls adds up to, by exact fractions."""
    factor, added = Fraction(2, 3), [Fraction(1), Fraction(5), Fraction(-2), Fraction(7)]

    def call(child: int, x: Fraction) -> Fraction:
        return factor * x + added[child]

    run: Callable[..., Fraction] = execution(pattern).literal
    zero = run(Fraction(0), range(4), call)
    map_ = pattern.compose(LinearMap(np.array([float(factor)]), np.log(np.array([float(factor)]))), 4)
    assert float(run(Fraction(1), range(4), call) - zero) == pytest.approx(map_.map.factor.item(), rel=1e-12)
    alone = [
        run(Fraction(0), range(4), lambda c, x, one=one: factor * x + Fraction(c == one)) for one in range(4)
    ]  # the weight with which each child enters
    assert float(sum(alone)) == pytest.approx(map_.total.item(), rel=1e-12)
    assert float(sum(w * w for w in alone)) == pytest.approx(map_.squares.item(), rel=1e-12)
