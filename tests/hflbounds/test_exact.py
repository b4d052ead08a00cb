"""The bound for trees of any depth: reference points, and its sums by running the algorithm in exact fractions."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest

from hflbounds import ConditionError, DomainError
from hflbounds.exact import exact_bound, exact_sums
from hflbounds.topology import Tier, Topology

POINTS = list(csv.DictReader((Path(__file__).parents[1] / "data" / "any_depth_points.csv").read_text().splitlines()))
LETTERS = {"S": "star", "R": "ring"}


def tree_of(text: str) -> Topology:
    tiers = []
    for tier in text.split("|"):
        letter, size, passes, drawn, order = tier.split(":")
        tiers.append(Tier(LETTERS[letter], int(size), int(drawn), int(passes), order))  # type: ignore[arg-type]
    return Topology(tuple(tiers))


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point["id"])
def test_reference_points(point: dict[str, str]) -> None:
    tree, K = tree_of(point["tiers"]), int(point["K"])
    sums = exact_sums(tree, K, point["draws"])  # type: ignore[arg-type]
    assert (int(point["T"]), int(point["N"])) == (sums.T, sums.N)
    assert [sums.chi, sums.phi, sums.nu] == pytest.approx([float(point[n]) for n in ("chi", "phi", "nu")], rel=1e-9)
    assert sums.omega == pytest.approx([float(x) for x in point["omega"].split(";")], rel=1e-9, abs=1e-15)
    assert sums.start == pytest.approx([float(x) for x in point["start_variance"].split(";")], rel=1e-9, abs=1e-15)
    given = {name: float(point[name]) for name in ("R", "L", "A", "sigma")}
    deltas = [float(x) for x in point["deltas"].split(";")]
    found = exact_bound(tree, K=K, **given, deltas=deltas, eta_eff=float(point["eta_eff"]), draws=point["draws"])  # type: ignore[arg-type]
    assert found == pytest.approx(float(point["bound"]), rel=1e-9)
    tuned = exact_bound(tree, K=K, **given, deltas=deltas, draws=point["draws"])  # type: ignore[arg-type]
    assert tuned == pytest.approx(float(point["tuned_bound"]), rel=1e-7)


# ---------------------------------------------------------------- the algorithm, literally, with exact weights
class Sample:
    """A local step: its path of (child, place, pass) from the root, and the weights of all steps before it."""

    def __init__(self, path: tuple[tuple[int, int, int], ...], before: dict[int, Fraction]) -> None:
        self.path, self.before = path, before


def run(tree: Topology, K: int, orders: dict[tuple[object, ...], tuple[int, ...]]) -> list[Sample]:
    """A round of the listings on models that are sums of gradients: which step enters which model, how much."""
    samples: list[Sample] = []

    def call(depth: int, path: tuple[tuple[int, int, int], ...], model: dict[int, Fraction]) -> dict[int, Fraction]:
        if depth == tree.depth:
            for _ in range(K):
                samples.append(Sample(path, model))
                model = {**model, len(samples) - 1: Fraction(1)}
            return model
        tier = tree.tiers[depth]
        for turn in range(tier.passes):
            children = orders[(*((child, place, p) for child, place, p in path), turn)]
            ends = []
            for place, child in enumerate(children):
                begin = ends[-1] if ends and tier.pattern.ordered else model
                ends.append(call(depth + 1, (*path, (child, place, turn)), begin))
            if tier.pattern.ordered:
                model = ends[-1]
            else:
                model = {
                    i: sum((end.get(i, Fraction(0)) for end in ends), Fraction(0)) / len(ends)
                    for i in set().union(*ends)
                }
        return model

    call(0, (), {})
    return samples


def nodes(tree: Topology, orders_of: Random | None, fixed: bool) -> dict[tuple[object, ...], tuple[int, ...]]:
    """An order for every pass of every node that may be visited."""
    found: dict[tuple[object, ...], tuple[int, ...]] = {}

    def visit(depth: int, path: tuple[object, ...]) -> None:
        if depth == tree.depth:
            return
        tier = tree.tiers[depth]
        for turn in range(tier.passes):
            everyone = list(range(tier.size or 1))
            if orders_of is not None and not fixed:
                orders_of.shuffle(everyone)
            found[(*path, turn)] = tuple(everyone[: tier.taking_part])
            for place, child in enumerate(found[(*path, turn)]):
                visit(depth + 1, (*path, (child, place, turn)))

    visit(0, ())
    return found


def trees(number: int, sampled: bool) -> Iterator[tuple[Topology, int]]:
    """Random trees of at most 120 local steps in a round."""
    rng = Random(20261122)
    found = 0
    while found < number:
        tiers = []
        for _ in range(rng.randint(1, 4)):
            size = rng.randint(1, 3)
            drawn = rng.randint(1, size) if sampled else size
            tiers.append(Tier(rng.choice(["star", "ring"]), size, drawn, rng.choice([1, 1, 2])))
        tree, K = Topology(tuple(tiers)), rng.choice([1, 2, 3])
        if tree.work(K) <= 120:
            found += 1
            yield tree, K


@pytest.mark.parametrize(("tree", "K"), list(trees(40, sampled=True)), ids=str)
def test_weights_positions_and_noise(tree: Topology, K: int) -> None:
    sums = exact_sums(tree, K)
    samples = run(tree, K, nodes(tree, Random(1), fixed=False))
    assert len(samples) == sums.N
    positions = [sum(s.before.values(), Fraction(0)) for s in samples]
    assert max(positions) == sums.T - 1
    squares = sum(w * w for s in samples for w in s.before.values())
    assert float(Fraction(squares) / len(samples)) / sums.T**2 == pytest.approx(sums.nu, rel=1e-12, abs=1e-15)
    assert float(sum(p * p for p in positions) / len(samples)) / sums.T**2 == pytest.approx(sums.phi, rel=1e-12)
    weights = np.zeros((len(samples), len(samples)))
    for row, sample in enumerate(samples):
        for column, weight in sample.before.items():
            weights[row, column] = weight
    assert np.linalg.norm(weights, 2) == pytest.approx(sums.chi * sums.T, rel=1e-9, abs=1e-12)


def drift(samples: list[Sample], tier: int, gaps: dict[tuple[int, ...], tuple[Fraction, ...]]) -> Fraction:
    """Mean over the steps of the squared sum of the earlier steps' gaps of a tier."""

    def gap(sample: Sample) -> tuple[Fraction, ...]:
        return gaps[tuple(child for child, _, _ in sample.path[: tier + 1])]

    total = Fraction(0)
    for sample in samples:
        vector = [sum((w * gap(samples[i])[d] for i, w in sample.before.items()), Fraction(0)) for d in range(2)]
        total += sum(x * x for x in vector)
    return total / len(samples)


def drawn_gaps(tree: Topology, tier: int, rng: Random) -> dict[tuple[int, ...], tuple[Fraction, ...]]:
    """Gaps of every node's children, two-dimensional, that add up to zero, the same in all nodes of a tier."""
    n = tree.tiers[tier].size or 1
    raw = [[Fraction(rng.randint(-4, 4)) for _ in range(2)] for _ in range(n)]
    mean = [sum(x[d] for x in raw) / n for d in range(2)]
    centred = [tuple(x[d] - mean[d] for d in range(2)) for x in raw]
    above = itertools.product(*(range(one.size or 1) for one in tree.tiers[:tier]))
    return {(*path, child): centred[child] for path in above for child in range(n)}


@pytest.mark.parametrize(("tree", "K"), list(trees(25, sampled=False)), ids=str)
def test_gap_sums_in_fixed_order(tree: Topology, K: int) -> None:
    """Full stars by equality, fixed rings from below."""
    sums, rng = exact_sums(tree, K), Random(2)
    samples = run(tree, K, nodes(tree, None, fixed=True))
    for tier, one in enumerate(tree.tiers):
        gaps = drawn_gaps(tree, tier, rng)
        size = sum(sum(x * x for x in gap) for gap in gaps.values()) / len(gaps)
        found = float(drift(samples, tier, gaps))
        allowed = sums.omega[tier] * sums.T**2 * float(size)
        if one.pattern.ordered:
            assert found <= allowed * (1 + 1e-12) + 1e-15
        else:
            assert found == pytest.approx(allowed, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize("K", [1, 2, 5])
def test_a_sine_attains_the_sum_of_a_fixed_ring(n: int, K: int) -> None:
    places = np.sin(np.pi * np.arange(n + 1) / n)
    gaps = np.diff(places)
    tree = Topology((Tier("ring", n),))
    samples = run(tree, K, nodes(tree, None, fixed=True))
    found = np.mean([sum(float(w) * gaps[samples[i].path[0][0]] for i, w in s.before.items()) ** 2 for s in samples])
    assert found / np.mean(gaps**2) == pytest.approx(exact_sums(tree, K).omega[0] * (n * K) ** 2, rel=1e-10)


@pytest.mark.parametrize("pattern", ["star", "ring"])
@pytest.mark.parametrize(
    ("n", "drawn", "passes", "K"), [(3, 3, 1, 2), (3, 2, 1, 2), (4, 2, 1, 1), (3, 1, 1, 3), (3, 2, 2, 1)]
)
def test_gap_sums_of_draws_over_every_draw(pattern: str, n: int, drawn: int, passes: int, K: int) -> None:
    """One tier, fresh draws: every ordered draw of every pass, enumerated; equality, and the variance of the step."""
    tree = Topology((Tier(pattern, n, drawn, passes, "random"),))
    sums = exact_sums(tree, K, "fresh")
    gaps = drawn_gaps(tree, 0, Random(3))
    size = sum(sum(x * x for x in gap) for gap in gaps.values()) / len(gaps)
    choices = list(itertools.permutations(range(n), drawn))
    total, step, count = Fraction(0), Fraction(0), 0
    for chosen in itertools.product(choices, repeat=passes):
        samples = run(tree, K, {(turn,): order for turn, order in enumerate(chosen)})
        total += drift(samples, 0, gaps)
        mean = [sum(gaps[(s.path[0][0],)][d] for s in samples) / len(samples) for d in range(2)]
        step += sum(x * x for x in mean)
        count += 1
    assert float(total / count) == pytest.approx(sums.omega[0] * sums.T**2 * float(size), rel=1e-12)
    assert float(step / count) == pytest.approx(sums.start[0] * float(size), rel=1e-12, abs=1e-15)


# ---------------------------------------------------------------- consequences, and what is refused
GIVEN = {"R": 50, "L": 1.0, "A": 2.0, "sigma": 1.0}


def test_one_local_step_of_full_stars_is_minibatch_sgd() -> None:
    tree = Topology((Tier("star", 4), Tier("star", 5)))
    v = 0.3
    found = exact_bound(tree, K=1, **GIVEN, deltas=(3.0, 2.0), eta_eff=v)
    assert found == pytest.approx((2 * 2.0 / (v * 50) + v / 20) / (2 - v), rel=1e-9)


def test_a_tier_of_one_child_can_be_left_out() -> None:
    for place in range(3):
        tiers = [Tier("ring", 3), Tier("star", 4, 2)]
        plain = exact_bound(Topology(tuple(tiers)), K=2, **GIVEN, deltas=(0.5, 1.0))
        deltas = [0.5, 1.0]
        tiers.insert(place, Tier("ring", 1))
        deltas.insert(place, 7.0)
        assert exact_bound(Topology(tuple(tiers)), K=2, **GIVEN, deltas=deltas) == pytest.approx(plain, rel=1e-9)


def test_nested_full_stars_are_one_star() -> None:
    one = exact_bound(Topology((Tier("star", 12),)), K=4, **GIVEN, deltas=(math.hypot(0.6, 0.8),), eta_eff=0.1)
    two = exact_bound(Topology((Tier("star", 3), Tier("star", 4))), K=4, **GIVEN, deltas=(0.6, 0.8), eta_eff=0.1)
    assert two == pytest.approx(one, rel=1e-9)


def test_arguments_broadcast() -> None:
    tree = Topology((Tier("ring", 3), Tier("star", 4)))
    sigma, step = np.array([0.5, 1.0, 2.0])[:, None], np.array([0.05, 0.2])
    found = exact_bound(tree, K=2, **{**GIVEN, "sigma": sigma}, deltas=(0.5, 1.0), eta_eff=step)
    assert found.shape == (3, 2)
    for i, j in itertools.product(range(3), range(2)):
        alone = exact_bound(tree, K=2, **{**GIVEN, "sigma": sigma[i, 0]}, deltas=(0.5, 1.0), eta_eff=step[j])
        assert found[i, j] == pytest.approx(alone, rel=1e-12)


def test_what_is_refused() -> None:
    tree = Topology((Tier("ring", 3), Tier("star", 4)))
    with pytest.raises(DomainError, match="2 tiers"):
        exact_bound(tree, K=2, **GIVEN, deltas=(1.0,))
    with pytest.raises(DomainError, match="sigma"):
        exact_bound(tree, K=2, **{**GIVEN, "sigma": -1}, deltas=(1.0, 1.0))
    with pytest.raises(DomainError, match="K = 0"):
        exact_sums(tree, 0)
    with pytest.raises(DomainError, match="draws"):
        exact_sums(tree, 1, "other")  # type: ignore[arg-type]
    with pytest.raises(ConditionError, match="smaller step"):
        exact_bound(tree, K=2, **GIVEN, deltas=(1.0, 1.0), eta_eff=1.0)
