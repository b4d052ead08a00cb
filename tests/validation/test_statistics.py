"""Intervals cover at their stated rate, verdicts are three, and rank agreement is scipy's."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("torch")
scipy_stats = pytest.importorskip("scipy.stats")

from validation.engine import ValidationError  # noqa: E402
from validation.statistics import (  # noqa: E402
    Interval,
    best_rate,
    compare,
    judge,
    paired_ratio,
    pooled_kendall,
    regret,
    tau_b,
)


def test_an_interval_covers_at_its_stated_rate() -> None:
    """1,200 experiments of 6 pairs whose true geometric mean ratio is 1.3; 95 % is 1,140, give or take 8."""
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(1200):
        shared = rng.normal(size=6)
        a, b = np.exp(shared + math.log(1.3) + 0.2 * rng.normal(size=6)), np.exp(shared + 0.2 * rng.normal(size=6))
        found = paired_ratio(a, b)
        inside += found.low <= 1.3 <= found.high
    assert abs(inside - 1140) < 4 * math.sqrt(1200 * 0.95 * 0.05)


def test_pairing_narrows_the_interval() -> None:
    rng = np.random.default_rng(1)
    shared = 3 * rng.normal(size=20)
    a, b = np.exp(shared + 0.1 + 0.01 * rng.normal(size=20)), np.exp(shared)
    paired, crossed = paired_ratio(a, b), paired_ratio(a, rng.permutation(b))
    assert math.log(paired.high / paired.low) < 0.02 * math.log(crossed.high / crossed.low)
    assert compare(paired) == "larger"
    assert compare(crossed) == "cannot tell"


def test_divergence_is_counted_and_never_dropped() -> None:
    inf = math.inf
    assert compare(paired_ratio([inf, inf, 1.0, inf], [1.0] * 4)) == "larger"
    assert compare(paired_ratio([inf, 1.0, 1.0, 1.0], [1.0] * 4)) == "cannot tell"
    assert compare(paired_ratio([1.0] * 4, [inf, inf, 1.0, 1.0])) == "smaller"
    assert compare(paired_ratio([inf, 1.0], [1.0, inf])) == "cannot tell"


@pytest.mark.parametrize(
    ("interval", "found"),
    [
        ((0.9, 0.85, 0.95), "smaller"),
        ((1.2, 1.1, 1.3), "larger"),
        ((1.0, 0.985, 1.015), "tie"),
        ((0.995, 0.985, 0.999), "tie"),
        ((1.0, 0.9, 1.1), "cannot tell"),
    ],
)
def test_three_verdicts(interval: tuple[float, float, float], found: str) -> None:
    ratio = Interval(*interval, 5)
    assert compare(ratio) == found
    assert judge(ratio, "smaller") == {"smaller": "holds", "cannot tell": "cannot tell"}.get(found, "fails")
    assert judge(ratio, "not larger") == {"larger": "fails", "cannot tell": "cannot tell"}.get(found, "holds")
    assert judge(ratio, "tie") == {"tie": "holds", "cannot tell": "cannot tell"}.get(found, "fails")


def test_the_best_rate_is_the_smallest_mean_and_says_whether_it_is_inside() -> None:
    rates = [0.1, 0.2, 0.4, 0.8]
    values = np.array([[3.0, 3.0], [1.0, 2.0], [1.5, 2.0], [math.inf, 0.1]])
    best = best_rate(rates, values)
    assert (best.index, best.rate, best.inside) == (1, 0.2, True)
    assert best.value == pytest.approx(math.sqrt(2))
    assert not best_rate(rates[:2], values[:2]).inside
    with pytest.raises(ValidationError, match="every learning rate"):
        best_rate([1.0], np.array([[math.inf]]))
    with pytest.raises(ValidationError, match="do not fit"):
        best_rate([1.0], np.ones((2, 2)))


def test_tau_b_is_that_of_scipy() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        a, b = rng.integers(0, 4, 6), rng.integers(0, 4, 6)
        wanted, found = scipy_stats.kendalltau(a, b).statistic, tau_b(a, b)
        assert (math.isnan(wanted) and math.isnan(found)) or found == pytest.approx(wanted, abs=1e-12)


def test_rank_agreement_has_an_interval() -> None:
    rng = np.random.default_rng(3)
    clear = np.exp(np.arange(4)[:, None] + 0.01 * rng.normal(size=(4, 8)))
    found = pooled_kendall([[1, 2, 3, 4]], [clear])
    assert (found.estimate, found.low, found.high) == (1, 1, 1)
    vague = np.exp(0.01 * np.arange(4)[:, None] + rng.normal(size=(4, 8)))
    found = pooled_kendall([[1, 2, 3, 4]], [vague])
    assert found.low < 0.34
    assert found.high > found.low
    assert pooled_kendall([[1, 1, 1, 1]], [clear]).estimate == 0


def test_regret_is_a_ratio() -> None:
    assert regret([2.0, 3.0, 4.0], 1) == pytest.approx(0.5)
    assert regret([2.0, 3.0], 0) == 0


def test_what_is_not_paired_is_refused() -> None:
    with pytest.raises(ValidationError, match="at least two"):
        paired_ratio([1.0], [2.0])
    with pytest.raises(ValidationError, match="positive"):
        paired_ratio([1.0, 0.0], [2.0, 1.0])
