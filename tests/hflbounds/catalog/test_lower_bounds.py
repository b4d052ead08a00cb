"""The theorem of docs/theory/lower-bounds.md: its instances run literally in exact fractions; upper bounds above it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction as Q
from itertools import product
from typing import Any

import numpy as np
import pytest

from hflbounds import catalogue, get
from hflbounds.core.bound import Bound
from hflbounds.errors import ComparisonError, ConditionError, DeclarationError
from hflbounds.evaluate.gap import gap, lower_bounds, unimprovable
from hflbounds.exact import exact_bound
from hflbounds.topology import Tier, Topology, all_topologies, patterns
from validation.reference import Path, tree_round

LOWER = tuple(bound for bound in catalogue().values() if bound.status == "lower" and bound.basis == "own")
DICE = random.Random(5)


def random_tree(depth: int, most: int = 3) -> Topology:
    names = list(patterns())
    return Topology(
        tuple(Tier(DICE.choice(names), DICE.randint(1, most), passes=DICE.randint(1, 2)) for _ in range(depth))
    )


TREES = [(random_tree(depth), DICE.randint(1, 3)) for depth in (1, 2, 3) for _ in range(8)]
CASES = [(tree, K, level) for tree, K in TREES for level in range(tree.depth) if tree.tiers[level].taking_part > 1]


def floor_of_a_tier(tree: Topology, K: int, level: int, v: Q, fixed: bool = True) -> Q:
    """D_l over delta_l^2, by the statement."""
    n, chains = tree.tiers[level].taking_part, tree.chains(K)
    B, T = chains[level + 1], chains[0]
    if not tree.tiers[level].pattern.ordered:
        return Q(1, 5) * (1 - Q(1, B)) ** 2 * (1 - Q(1, n)) * (v * B / T) ** 2
    return Q(1, 13) * (1 - Q(1, n * n)) * (v * n * B / T) ** 2 if fixed else Q(0)


def kink(n: int, B: int, step: Q) -> tuple[list[Q], Q, Q, Q]:
    """Tilts of n children, their mean square, the gradient that stays, and how far to the left gradients are taken."""
    left = n // 2 if n % 2 == 0 else (n + 1) // 2
    a, b = (Q(n - left), Q(left))
    s, p = (1 + step) ** B - 1, 1 - (1 - step) ** B
    g = left * a * (s - p) / (left * s + (n - left) * p)
    return (
        [a] * left + [-b] * (n - left),
        (left * a**2 + (n - left) * b**2) / n,
        g,
        (a - g) * ((1 + step) ** (B - 1) - 1),
    )


@pytest.mark.parametrize(("tree", "K", "level"), CASES, ids=[f"{i}-{c[0].id}-{c[2]}" for i, c in enumerate(CASES)])
@pytest.mark.parametrize("v", [Q(1), Q(1, 3), Q(1, 50)])
def test_an_instance_stands_still_where_the_gradient_is_as_large_as_the_theorem_says(
    tree: Topology, K: int, level: int, v: Q
) -> None:
    """One round of the literal recursion, with L = 1, from the fixed point."""
    step, n, B = v / tree.local_steps(K), tree.tiers[level].taking_part, tree.chains(K)[level + 1]
    slope: Callable[[Q], Q]
    if tree.tiers[level].pattern.ordered:
        c = (1 - step) ** B
        if c == 1:
            pytest.fail("no step at all")
        share = [c ** (n - 1 - i) * (1 - c) / (1 - c**n) for i in range(n)]
        tilts = [p - Q(1, n) for p in share]
        square = sum((t * t for t in tilts), start=Q(0)) / n
        at = -sum((p * t for p, t in zip(share, tilts, strict=True)), start=Q(0))
        g, slope = at, lambda x: x
        assert g * g == square * (n * sum(p * p for p in share) - 1)
        assert sum(share) == 1
    else:
        tilts, square, g, reach = kink(n, B, step)
        at, slope = Q(0), lambda x: (abs(x) if x >= -reach else 2 * reach + x) - g
        assert reach <= 2 * g
    assert sum(tilts) == 0

    def gradient(place: Path, moment: Path, k: int, x: Q) -> Q:
        return slope(x) + tilts[place[level]]

    assert tree_round(at, tree, K, step, gradient) == at
    assert slope(at) ** 2 == g * g
    assert g * g >= floor_of_a_tier(tree, K, level, v) * square


def test_the_curve_of_a_kink_is_above_its_fraction() -> None:
    """k >= (1 - 1/B) u/2/(1 + u^2/12), and the budget, for every length and many steps up to 1."""
    for B in range(1, 13):
        for step in (Q(1, 1000), Q(1, 40), Q(1, 7), Q(1, 3), Q(2, 3), Q(1)):
            s, p, u = (1 + step) ** B - 1, 1 - (1 - step) ** B, B * step
            k = (s - p) / (s + p)
            assert k >= (1 - Q(1, B)) * u / 2 / (1 + u**2 / 12)
            assert p * (1 + step) ** (B - 1) <= s


def test_many_steps_make_a_hyperbolic_tangent() -> None:
    B, u = 4000, 0.7
    s, p = math.expm1(B * math.log1p(u / B)), -math.expm1(B * math.log1p(-u / B))
    assert (s - p) / (s + p) == pytest.approx(math.tanh(u / 2), rel=1e-3)
    c, n = math.exp(-0.3), 5
    share = [c ** (n - 1 - i) * (1 - c) / (1 - c**n) for i in range(n)]
    assert n * sum(p * p for p in share) - 1 == pytest.approx(n * math.tanh(0.15) / math.tanh(0.75) - 1, rel=1e-12)


@pytest.mark.parametrize(("tree", "K"), [(t, K) for t, K in TREES if t.work(K) <= 60])
def test_noise_is_carried_through_a_round_as_the_theorem_says(tree: Topology, K: int) -> None:
    """The squared weights of all samples of a round, on x^2/2."""
    T, N, v = tree.local_steps(K), tree.work(K), Q(2, 3)
    step = v / T
    whole = [
        (p, m, k)
        for p in product(*(range(t.taking_part) for t in tree.tiers))
        for m in product(*(range(t.passes) for t in tree.tiers))
        for k in range(K)
    ]
    assert len(whole) == N

    def weight(one: tuple[Path, Path, int]) -> Q:
        """With which weight the noise of one sample enters."""
        return tree_round(Q(0), tree, K, step, lambda place, moment, k, x: x + ((place, moment, k) == one))

    weights = [weight(one) for one in whole]
    rest = tree_round(Q(1), tree, K, step, lambda place, moment, k, x: x)
    assert rest == (1 - step) ** T
    assert sum(w * w for w in weights) == v / (N * (2 - step)) * (1 - rest**2)


# --- the catalogue ------------------------------------------------------------------------------------------------


def scenario(rng: random.Random) -> dict[str, Any]:
    counts = {name: rng.randint(1, 6) for name in ("G", "M", "P", "K")} | {"R": rng.choice([1, 3, 30, 1000])}
    found = counts | {name: rng.uniform(0.1, 2) for name in ("sigma", "zeta", "delta", "L")}
    v = rng.choice([1.0, rng.random(), 10 ** rng.uniform(-4, 0)])
    found |= {"eta_eff": v / found["L"]}
    return found | {"A": 4 * (found["sigma"] ** 2 + found["zeta"] ** 2 + found["delta"] ** 2) / found["L"]}


def instance(topology: str, order: str, n: dict[str, Any]) -> float:
    """The exact mean over rounds of the product of the instances, with tilts at their full size."""
    tree = all_topologies(2)[topology].sized((n["G"], n["M"]), passes=(1, n["P"]))
    T, v = tree.local_steps(n["K"]), n["L"] * n["eta_eff"]
    step, kept = Q(v) / T, 0.0
    for level, gap_of in enumerate((n["delta"], n["zeta"])):
        count, B = tree.tiers[level].taking_part, tree.chains(n["K"])[level + 1]
        if count == 1:
            continue
        if not tree.tiers[level].pattern.ordered:
            _, square, g, _ = kink(count, B, step)
            kept += gap_of**2 * float(g * g / square)
        elif order == "fixed":
            c = float(1 - step) ** B
            kept += gap_of**2 * (count * (1 - c) * (1 + c**count) / ((1 + c) * (1 - c**count)) - 1)
    left = n["A"] - kept / (2 * n["L"])
    assert left >= 0
    mean = np.mean([float(1 - step) ** (2 * T * r) for r in range(n["R"])])
    ends = v * n["sigma"] ** 2 / (tree.work(n["K"]) * (2 - float(step)))
    return float(mean * 2 * n["L"] * left + (1 - mean) * ends + kept)


@pytest.mark.parametrize("bound", LOWER, ids=lambda b: b.id)
def test_the_whole_instance_is_above_the_theorem(bound: Bound) -> None:
    rng, order = random.Random(bound.id), "random" if "random" in bound.id else "fixed"
    ratios = []
    for _ in range(150):
        n = scenario(rng)
        if bound.applies(**n):
            ratios.append(instance(bound.topology or "", order, n) / bound(**n))
    assert len(ratios) > 100
    assert min(ratios) >= 1 - 1e-12
    assert min(ratios) < 1.1  # near: start and noise are all there is at small steps


def test_trees_of_any_depth_have_their_upper_bound_above() -> None:
    rng, seen = random.Random(2), []
    for depth in (1, 2, 3, 4):
        for _ in range(60):
            tree, K = random_tree(depth, 5), rng.randint(1, 4)
            if rng.random() < 0.5:
                tree = tree.sized([t.taking_part for t in tree.tiers], order="random")
            fixed = tree.tiers[0].order == "fixed"
            deltas = [rng.choice([0.0, rng.uniform(0, 2)]) for _ in tree.tiers]
            v, R, sigma = rng.choice([0.3, 0.05, 0.003]), rng.choice([1, 20, 2000]), rng.choice([0.0, 1.0])
            D = v * sigma**2 / (2 * tree.work(K)) + sum(
                float(floor_of_a_tier(tree, K, i, Q(v), fixed)) * d**2 for i, d in enumerate(deltas)
            )
            A = D / 2 * rng.choice([1.0, 10.0]) + 1e-9
            w = 2 * v * R / (1 + 2 * v * R)
            below = w * (A / (v * R) + D)
            above = float(exact_bound(tree, K=K, R=R, L=1, A=A, sigma=sigma, deltas=deltas, eta_eff=v))
            seen.append(above / below)
    assert min(seen) >= 1 - 1e-9
    assert min(seen) < 1.6
    assert float(np.median(seen)) < 6


# --- the status ---------------------------------------------------------------------------------------------------


def test_lower_bounds_are_typeset_from_below() -> None:
    assert r"\ge" in get("hflbounds.lower.ring-star").latex()
    assert r"\gtrsim" in get("arjevani2023.stochastic").latex()
    assert r"\le " not in get("hflbounds.lower.ring-star").latex().partition(r"\quad")[0]


def test_only_a_lower_bound_says_its_basis() -> None:
    from dataclasses import replace

    with pytest.raises(DeclarationError, match="says its basis"):
        replace(get("hflbounds.sharp.star-star"), status="lower")
    with pytest.raises(DeclarationError, match="says its basis"):
        replace(get("hflbounds.sharp.star-star"), basis="own")


def test_upper_over_lower_is_asked_of_what_it_is_about() -> None:
    values = {**dict.fromkeys(("G", "M", "P", "K"), 3), "R": 500, "L": 1, "A": 9, "sigma": 1, "zeta": 1, "delta": 1}
    upper, lower = get("hflbounds.sharp.star-ring"), get("hflbounds.lower.star-ring")
    assert lower_bounds(upper, catalogue().values()) == (lower,)
    assert lower_bounds(lower, catalogue().values()) == ()
    assert gap(upper, lower, **values) == upper.tuned(**values).value / lower.tuned(**values).value
    assert gap(upper, lower, **values, eta_eff=0.1) == upper(**values, eta_eff=0.1) / lower(**values, eta_eff=0.1)
    for other in ("hflbounds.lower.star-star", "hflbounds.lower-random.star-ring", "hflbounds.sharp.star-ring"):
        with pytest.raises(ComparisonError, match="is no lower bound for what"):
            gap(upper, get(other), **values)
    with pytest.raises(ConditionError, match="it requires"):
        lower(**values | {"A": 1e-9}, eta_eff=0.5)


@pytest.mark.parametrize("bound", [b for b in catalogue().values() if lower_bounds(b, catalogue().values())], ids=str)
def test_no_explicit_bound_is_more_than_twenty_times_a_lower_one(bound: Bound) -> None:
    """At the point that the pages are made at, both tuned: a figure of the pages, not a theorem."""
    values = {"G": 10, "M": 10, "P": 1, "K": 2, "R": 5000, "L": 1, "A": 2.3, "sigma": 1, "zeta": 0.5, "delta": 0.5}
    for lower in lower_bounds(bound, catalogue().values()):
        assert 1 <= gap(bound, lower, **values) < 20
        if bound.id.startswith("hflbounds.exact"):
            assert gap(bound, lower, **values) < 2.6
            assert gap(bound, lower, **values, eta_eff=0.01) < 1.05


def test_the_noise_of_every_rate_that_speaks_of_all_samples_cannot_be_improved_but_by_a_factor() -> None:
    found = {bound.id: unimprovable(bound, catalogue().values()) for bound in catalogue().values()}
    lower = get("arjevani2023.stochastic")
    for name in ("zhou2026.cor1.star-star", "zhou2026.cor1.ring-ring", "fang2024.mtgc"):
        assert found[name] == (("noise", lower),)
    assert not found["karimireddy2020.scaffold"]  # in the letters of one tier
    assert not found["wang2022.hsgd"]  # its row leaves out the powers of A
    assert not found["hflbounds.sharp.star-star"]
