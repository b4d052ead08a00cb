"""The bound for trees of any depth: reference points, and its sums by running the algorithm in exact fractions."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import mpmath
import numpy as np
import pytest

from hflbounds import ConditionError, DomainError, families, get
from hflbounds.core import functions
from hflbounds.exact import exact_bound, exact_sums, tree_bound
from hflbounds.topology import Tier, Topology, all_topologies, two_tier

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


TWO = [p for p in POINTS if p["tiers"].count("|") == 1 and p["tiers"].split(":")[2] == "1" and p["draws"] == "common"]


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point["id"])
def test_reference_points_as_statements_and_over_arrays(point: dict[str, str]) -> None:
    tree, K, draws = tree_of(point["tiers"]), int(point["K"]), point["draws"]
    given = {name: float(point[name]) for name in ("R", "L", "A", "sigma")}
    deltas = [float(x) for x in point["deltas"].split(";")]
    bound = tree_bound(tree, K=K, draws=draws)  # type: ignore[arg-type]
    gaps = {f"delta{i}": one for i, one in enumerate(deltas, 1)}
    step = float(point["eta_eff"])
    assert bound(**given, **gaps, eta_eff=step) == pytest.approx(float(point["bound"]), rel=1e-9)
    at_one = bound(**given, **gaps, eta_eff=step, lam=1)
    assert at_one == pytest.approx(float(point["bound_lambda_1"]), rel=1e-9)
    best = bound.tuned(**given, **gaps)
    assert best.value == pytest.approx(float(point["tuned_bound"]), rel=1e-9)
    assert sum(best.split.values()) == pytest.approx(best.value, rel=1e-12)
    rounds = bound.rounds_to(best.value, **{n: x for n, x in given.items() if n != "R"}, **gaps)
    assert rounds in (given["R"], given["R"] + 1)  # the value is rounded
    many = exact_bound(tree, K=K, **{**given, "R": np.array([given["R"]] * 2)}, deltas=deltas, draws=draws)  # type: ignore[arg-type]
    assert many == pytest.approx(float(point["tuned_bound"]), rel=1e-9)


@pytest.mark.parametrize("point", TWO, ids=lambda point: point["id"])
def test_reference_points_of_two_tiers_in_the_catalogue(point: dict[str, str]) -> None:
    top, low = tree_of(point["tiers"]).tiers
    law = "partial" if top.sampled or low.sampled else "fixed"
    if law == "fixed" and any(t.order == "random" and t.pattern.ordered and t.taking_part > 1 for t in (top, low)):
        law = "random"
    label = {"fixed": "exact", "random": "exact-random", "partial": "exact-partial"}[law]
    bound = get(f"hflbounds.{label}.{top.pattern.id}-{low.pattern.id}")
    given = {name: float(point[name]) for name in ("R", "L", "A", "sigma")}
    delta, zeta = (float(x) for x in point["deltas"].split(";"))
    numbers = {"G": top.size, "M": low.size, "P": low.passes, "K": int(point["K"]), "delta": delta, "zeta": zeta}
    numbers |= {"S1": top.taking_part, "S2": low.taking_part}
    assert bound(**given, **numbers, eta_eff=float(point["eta_eff"])) == pytest.approx(float(point["bound"]), rel=1e-9)
    assert bound.tuned(**given, **numbers).value == pytest.approx(float(point["tuned_bound"]), rel=1e-9)


def test_most_points_of_two_tiers_are_looked_at() -> None:
    assert len(TWO) >= 4


@pytest.mark.parametrize("law", ["fixed", "random", "partial"])
@pytest.mark.parametrize("topology", list(all_topologies(2)))
def test_the_catalogue_is_the_tree_with_letters(topology: str, law: str) -> None:
    """With one child too, where a quotient of the formula is 0/0."""
    rng = Random(f"{topology} {law}")
    label = {"fixed": "exact", "random": "exact-random", "partial": "exact-partial"}[law]
    for _ in range(12):
        G, M, P, K = (rng.choice([1, 2, 3, 7]) for _ in range(4))
        drawn = (rng.randint(1, G), rng.randint(1, M)) if law == "partial" else (None, None)
        order = "fixed" if law == "fixed" else "random"
        tree = two_tier(topology, G=G, M=M, P=P, S1=drawn[0], S2=drawn[1], order=order)  # type: ignore[arg-type]
        given = {"R": rng.randint(1, 500), "L": rng.uniform(0.2, 5), "A": rng.uniform(0.1, 9), "sigma": rng.random()}
        delta, zeta = rng.uniform(0, 3), rng.uniform(0, 3)
        step = rng.uniform(0.01, 0.8) / given["L"]
        letters = {**given, "G": G, "M": M, "P": P, "K": K, "delta": delta, "zeta": zeta}
        letters |= {"S1": drawn[0] or G, "S2": drawn[1] or M}
        bound = get(f"hflbounds.{label}.{topology}")
        wanted = exact_bound(tree, K=K, **given, deltas=(delta, zeta), eta_eff=step)
        assert bound(**letters, eta_eff=step) == pytest.approx(wanted, rel=1e-10)
        as_array = bound(**{**letters, "sigma": np.array([given["sigma"]])}, eta_eff=step)
        assert as_array[0] == pytest.approx(wanted, rel=1e-10)
        tuned = exact_bound(tree, K=K, **given, deltas=(delta, zeta))
        assert bound.tuned(**letters).value == pytest.approx(tuned, rel=1e-9)


# ---------------------------------------------------------------- the free weight


def at_weight(weight: Any, v: float, f: float, q: float, d: float, e: float) -> Any:
    """The theorem in units of its start term, typed from the statement, in the precision in force."""
    kappa = (1 - v) / weight + v
    a, b = 2 - v - (1 - v) * weight - kappa * f, kappa * mpmath.sqrt(f) * q
    c = 1 + e * (1 + weight * v / (1 - v)) + kappa * d
    return ((b + mpmath.sqrt(b * b + a * c)) / a) ** 2 if a > 0 else mpmath.inf


def test_no_weight_is_better_than_the_least() -> None:
    """Golden sections in 30 digits over the logarithm of the weight; it never exceeds 1."""
    rng = Random(5)
    with mpmath.workdps(30):
        for _ in range(40):
            v = rng.random() * 10 ** rng.uniform(-4, 0)
            f = min(v * v * rng.uniform(0.1, 0.34) / (1 - 0.63 * v) ** 2, 0.98)
            q = rng.choice([0.0, 10 ** rng.uniform(-3, 2)])
            d, e = q * q + 10 ** rng.uniform(-5, 4), 10 ** rng.uniform(-5, 3)
            numbers = tuple(map(mpmath.mpf, (v, f, q, d, e)))
            low, high = mpmath.mpf(-45), mpmath.mpf(0.5)
            ratio = (mpmath.sqrt(5) - 1) / 2
            middle = mpmath.log(f) / 2  # at which the bound is finite
            for _ in range(64):  # to 1e-11 of the logarithm; near its least the bound is a parabola
                left, right = high - ratio * (high - low), low + ratio * (high - low)
                one, two = (at_weight(mpmath.exp(x), *numbers) for x in (left, right))
                down = middle < right if one == two == mpmath.inf else one <= two
                low, high = (low, right) if down else (left, high)
            least = at_weight(mpmath.exp((low + high) / 2), *numbers)
            assert high < 1e-9
            for found in (
                functions.least_weight(v, f, q, d, e, 1.0),
                float(functions.FOR_ARRAYS["least_weight"](*(np.array([x]) for x in (v, f, q, d, e, 1.0)))[0]),
            ):
                assert float(at_weight(mpmath.mpf(found), *numbers) / least - 1) < 1e-12


def test_every_weight_gives_a_bound_and_none_a_smaller_one() -> None:
    given = {"G": 4, "M": 3, "P": 2, "K": 5, "R": 40, "L": 2.0, "A": 1.5, "sigma": 1.0, "zeta": 0.7, "delta": 1.3}
    for bound in (b for law in ("exact", "exact-random") for b in families()[f"hflbounds.{law}"]):
        least = bound(**given, eta_eff=0.2)
        at = bound(**given, eta_eff=0.2, lam=np.linspace(0.2, 1, 50))
        assert np.all(at >= least * (1 - 1e-12))
        assert bound.settled is not bound
        assert bound.settle({"lam": 1.0}) is bound
        assert bound.applies(**given, eta_eff=0.2) is True
        assert not bound.applies(**given, eta_eff=0.2, lam=1e-4)
        with pytest.raises(ConditionError, match="lam <= 1"):
            bound(**given, eta_eff=0.2, lam=1.5)
        with pytest.raises(ConditionError, match="eta_eff <"):
            bound(**given, eta_eff=0.5)


# ---------------------------------------------------------------- the algorithm, literally, with exact weights
class Sample:
    """A local step: its path of (child, place, pass) from the root, and the weights of all steps before it."""

    def __init__(self, path: tuple[tuple[int, int, int], ...], before: dict[int, Fraction]) -> None:
        self.path, self.before = path, before


def literal(
    tree: Topology, K: int, orders: dict[tuple[object, ...], tuple[int, ...]]
) -> tuple[list[Sample], dict[int, Fraction]]:
    """A round of the listings on models that are sums of gradients: which step enters which model, and the result."""
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

    result = call(0, (), {})
    return samples, result


def run(tree: Topology, K: int, orders: dict[tuple[object, ...], tuple[int, ...]]) -> list[Sample]:
    return literal(tree, K, orders)[0]


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


def test_the_rate_of_section_2_is_above_the_bound() -> None:
    """With the numbers behind its O: up to v = 1/2, at the free weight 1/2."""
    rng = Random(12)
    for _ in range(200):
        depth, K = rng.randint(1, 3), rng.randint(1, 6)
        sizes = [rng.randint(1, 5) for _ in range(depth)]
        tiers = [
            Tier(rng.choice(["star", "ring"]), n, rng.randint(1, n), rng.randint(1, 3), rng.choice(["fixed", "random"]))
            for n in sizes
        ]
        tree, deltas = Topology(tuple(tiers)), [rng.choice([0.0, 0.3, 2.0]) for _ in range(depth)]
        sums, v, A, R, sigma = exact_sums(tree, K), rng.uniform(1e-3, 0.5), 10 ** rng.uniform(-2, 2), 100, rng.random()
        assert 1.5 - v / 2 - 2 * (2 - v) * (v / (1 - sums.chi * v)) ** 2 * sums.phi > 0.7
        h = 0.0
        for omega, delta, fixed in zip(sums.omega, deltas, sums.correlated, strict=True):
            part = math.sqrt(omega) * delta
            h = h + part if fixed else math.hypot(h, part)
        xi = sigma**2 / sums.N + sum(c * d**2 for c, d in zip(sums.start, deltas, strict=True))
        drift = sums.nu * sigma**2 + 2 * h**2
        rate = (2 * A / (v * R) + 1.5 * v * xi + 2 * 2.16 * v**2 * drift) / 0.7
        assert exact_bound(tree, K=K, R=R, L=1, A=A, sigma=sigma, deltas=deltas, eta_eff=v) <= rate


def test_arguments_broadcast() -> None:
    tree = Topology((Tier("ring", 3), Tier("star", 4)))
    sigma, step = np.array([0.5, 1.0, 2.0])[:, None], np.array([0.05, 0.2])
    found = exact_bound(tree, K=2, **{**GIVEN, "sigma": sigma}, deltas=(0.5, 1.0), eta_eff=step)
    assert found.shape == (3, 2)
    for i, j in itertools.product(range(3), range(2)):
        alone = exact_bound(tree, K=2, **{**GIVEN, "sigma": sigma[i, 0]}, deltas=(0.5, 1.0), eta_eff=step[j])
        assert found[i, j] == pytest.approx(alone, rel=1e-12)


def test_one_child_among_others_in_an_array() -> None:
    """Where a round is one step, nothing drifts, beside elements in which rings do."""
    given = {**GIVEN, "M": 5, "P": 1, "K": 1, "zeta": 0.3, "delta": np.array([0.0, 0.2, 0.2])}
    groups = np.array([1, 1, 4])
    bound = get("hflbounds.exact.ring-star")
    for i, found in enumerate(bound.tuned(**given, G=groups).value):
        alone = {**given, "delta": given["delta"][i]}
        assert found == pytest.approx(bound.tuned(**alone, G=groups[i]).value, rel=1e-10)


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
