"""How much of each heterogeneity term is reached alone (docs/theory/any-depth.md, section 10): kinked losses, run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from kinks import Kinked, signs

from hflbounds.exact import exact_sums
from hflbounds.topology import Tier, Topology, two_tier

TREES = [
    (two_tier("star-star", G=2, M=2), 2, 0),
    (two_tier("ring-star", G=3, M=2), 1, 0),
    (two_tier("star-ring", G=2, M=2, P=2, order="random"), 1, 1),
    (two_tier("ring-ring", G=2, M=2, order="random"), 1, 0),
    (Topology((Tier("star", 2), Tier("ring", 2, order="random"), Tier("star", 2))), 1, 1),
]


@pytest.mark.parametrize(("tree", "K", "tier"), TREES, ids=lambda one: str(one))
def test_a_run_reaches_its_part_of_the_term(tree: Topology, K: int, tier: int) -> None:
    """At a step of 0.02: within a tenth of the limit, which the run approaches as the root of the step's root."""
    case = Kinked(tree, K, tier)
    reached = case.run(0.02, 6_000, 0.05, np.random.default_rng(1))
    assert 0.8 * case.limit() < reached < 1.05 * case.limit()


@pytest.mark.parametrize("pattern", ["star", "ring"])
@pytest.mark.parametrize("order", ["fixed", "random"])
def test_limits_are_four_ninths_or_more(pattern: str, order: str) -> None:
    """The limit is held against the theorem's own sum, which random rings and stars attain."""
    for n in range(2, 7):
        for K in (1, 2, 3, 7):
            tree = Topology((Tier(pattern, n, order=order),))  # type: ignore[arg-type]
            omega = exact_sums(tree, K).omega[0]
            if omega == 0:
                continue
            case = Kinked(tree, K, 0)
            _, square = case.spread(signs(n))
            attained = pattern == "star" or order == "random"
            assert square == pytest.approx(omega * tree.local_steps(K) ** 2, rel=1e-12) or (
                not attained and square < omega * tree.local_steps(K) ** 2
            )
            assert case.limit() >= 4 / 9 - 1e-12


def test_two_values_have_the_mean_that_is_said() -> None:
    for n in range(2, 9):
        h = signs(n)
        assert h.sum() == pytest.approx(0, abs=1e-12)
        assert (h**2).mean() == pytest.approx(1)
        assert np.abs(h).mean() == pytest.approx(1 if n % 2 == 0 else math.sqrt(n * n - 1) / n)
