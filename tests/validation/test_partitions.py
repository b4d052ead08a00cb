"""Partitions: exact sizes, nothing dealt twice, and the heterogeneity that each scheme promises."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from validation.engine import ValidationError
from validation.partitions import SCHEMES, Partition, partition

EVEN = np.repeat(np.arange(10), 600)
ODD = np.random.default_rng(5).choice(7, 2345, p=[0.4, 0.2, 0.15, 0.1, 0.08, 0.05, 0.02])
FINITE: dict[str, dict[str, Any]] = {"dirichlet": {"inter": 0.3, "intra": 0.2}}


def spread(made: Partition, labels: Any, G: int) -> tuple[float, float]:
    """Mean squared distances of label shares: of clients to their group, and of groups to the mean."""
    counts = made.counts(labels)
    shares = (counts / counts.sum(1, keepdims=True)).reshape(G, -1, counts.shape[1])
    groups = shares.mean(1)
    within = ((shares - groups[:, None]) ** 2).sum(2).mean()
    return float(within), float(((groups - groups.mean(0)) ** 2).sum(1).mean())


@pytest.mark.parametrize("labels", [EVEN, ODD], ids=["even", "odd"])
@pytest.mark.parametrize(("G", "M"), [(10, 10), (3, 19), (1, 4), (5, 1)])
@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_nothing_is_dealt_twice_and_sizes_are_exact(scheme: str, G: int, M: int, labels: Any) -> None:
    made = partition(scheme, labels, G, M, seed=3, **FINITE.get(scheme, {}))
    dealt = np.concatenate(made.samples)
    assert len(made.samples) == G * M
    assert made.groups == tuple(g for g in range(G) for _ in range(M))
    assert len(set(dealt.tolist())) == len(dealt)
    assert dealt.min() >= 0 and dealt.max() < len(labels)
    if scheme == "lda":
        assert sum(made.sizes) == len(labels) and min(made.sizes) >= 1
    else:
        assert len(set(made.sizes)) == 1
    if scheme not in ("lda", "pathological", "long-tailed"):
        assert made.sizes[0] == len(labels) // (G * M)


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_a_seed_is_a_partition(scheme: str) -> None:
    one, same, other = (partition(scheme, EVEN, 3, 4, seed=seed, **FINITE.get(scheme, {})) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one.samples, same.samples, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one.samples, other.samples, strict=True))


def test_the_four_schemes_are_heterogeneous_where_they_say() -> None:
    """60 samples a client: uniform deals spread by about (1 - 1/10)/60 = 0.015, Dirichlet ones by tenths."""
    seen = {
        name: np.mean([spread(partition(name, EVEN, 10, 10, seed=s), EVEN, 10) for s in range(3)], axis=0)
        for name in ("iid", "intra", "inter", "both")
    }
    low, high = 0.03, 0.25
    assert seen["iid"][0] < low and seen["iid"][1] < low / 10
    assert seen["intra"][0] > high and seen["intra"][1] < low / 10
    assert seen["inter"][0] < low and seen["inter"][1] > high
    assert seen["both"][0] > high
    assert low < seen["both"][1] < 0.15  # of ten independent clients: about a tenth of theirs


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3, 1.0, 10.0])
def test_shares_are_as_far_from_even_as_dirichlet_ones(alpha: float) -> None:
    """A symmetric Dirichlet vector of C labels has E |p - 1/C|^2 = (1 - 1/C)/(C alpha + 1)."""
    found = np.mean([spread(partition("both", EVEN, 1, 100, seed=s, alpha=alpha), EVEN, 1)[0] for s in range(5)])
    wanted = 0.9 / (10 * alpha + 1)
    assert found == pytest.approx(wanted, rel=0.25, abs=0.02)


@pytest.mark.parametrize("tier", range(3))
def test_labels_of_three_tiers_differ_where_they_are_drawn(tier: int) -> None:
    """By squared distances to the parent's shares, tier by tier; against groups of a parent's part of the data."""
    n, seen, alone = (4, 3, 5), [], []
    for seed in range(12):
        made = partition("dirichlet", EVEN, 12, 5, seed=seed, regions=4, **{("between", "inter", "intra")[tier]: 0.2})
        counts = made.counts(EVEN)
        own, squares = (counts / counts.sum(1, keepdims=True)).reshape(*n, 10), []
        while own.ndim > 1:
            parents = own.mean(-2)
            squares.append(((own - parents[..., None, :]) ** 2).sum(-1).mean())
            own = parents
        seen.append(squares[::-1])
        assert set(made.sizes) == {100} and len(set(np.concatenate(made.samples).tolist())) == 6000
        part = np.repeat(np.arange(10), 600 // math.prod(n[:tier]))
        alone.append(spread(partition("inter", part, n[tier], 1, alpha=0.2, seed=100 + seed), part, n[tier])[1])
    found = np.mean(seen, axis=0)
    assert found[tier] == pytest.approx(np.mean(alone), rel=0.2)
    assert all(found[other] < 0.02 for other in range(3) if other != tier)


def test_groups_that_do_not_divide_by_regions_are_refused() -> None:
    for regions in (0, 5):
        with pytest.raises(ValidationError, match="12 groups do not divide"):
            partition("dirichlet", EVEN, 12, 5, regions=regions)


def test_a_small_concentration_is_one_label_and_a_large_one_is_even() -> None:
    for seed in range(5):  # ten clients that want one label of ten each, and some the same one
        one = partition("intra", EVEN, 1, 10, alpha=1e-3, seed=seed).counts(EVEN)
        assert (one.max(1) / one.sum(1)).mean() > 0.9
    even = partition("dirichlet", EVEN, 10, 10, intra=1e9, inter=1e9).counts(EVEN)
    assert even.max() - even.min() <= 2


def test_pathological_clients_hold_few_labels_equally_and_groups_lack_some() -> None:
    for kinds, missing in ((2, 0), (6, 0), (2, 3), (2, 4), (1, 8), (2, 8)):
        made = partition("pathological", EVEN, 3, 19, seed=1, kinds=kinds, missing=missing)
        counts = made.counts(EVEN)
        each = counts.max()
        assert set(np.unique(counts)) == {0, each}
        assert ((counts > 0).sum(1) == kinds).all()
        holders = (counts > 0).reshape(3, 19, 10).sum(1)
        lacking = holders == 0
        assert (lacking.sum(1) >= missing).all()
        if missing and kinds * 19 >= 10:
            assert (lacking.sum(1) == missing).all()
            assert len({tuple(row) for row in lacking.tolist()}) == 3
        for row in holders:
            assert row[row > 0].max() - row[row > 0].min() <= 1


def test_pathological_groups_are_alike_where_labels_divide() -> None:
    counts = partition("pathological", EVEN, 4, 20, kinds=2).counts(EVEN).reshape(4, 20, 10).sum(1)
    assert (counts == counts[0, 0]).all()
    assert partition("pathological", EVEN, 4, 20, kinds=2, size=10).sizes == (10,) * 80


def test_lda_is_uneven_and_gives_everyone_something() -> None:
    made = partition("lda", EVEN, 5, 10, alpha=0.02, least=7)
    assert min(made.sizes) == 7
    assert max(made.sizes) > 10 * 7
    assert sum(made.sizes) == len(EVEN)
    even = partition("lda", EVEN, 5, 10, alpha=1e9)
    assert max(even.sizes) - min(even.sizes) <= 10


def test_long_tails_have_one_label_on_top_and_the_rest_even() -> None:
    made = partition("long-tailed", EVEN, 5, 4, size=200)
    counts = np.sort(made.counts(EVEN), axis=1)
    assert (counts[:, -1] == 180).all()
    assert (counts[:, :-1].max(1) - counts[:, :-1].min(1) <= 1).all()
    assert made.sizes == (200,) * 20
    tops = np.bincount(made.counts(EVEN).argmax(1), minlength=10)
    assert (tops == 2).all()


def test_the_table_is_csv_with_the_counts() -> None:
    made = partition("lda", ODD, 2, 3, alpha=0.5)
    rows = list(csv.reader(io.StringIO(made.table(ODD))))
    assert rows[0] == ["client", "group", *map(str, range(7))]
    assert [row[:2] for row in rows[1:]] == [[str(c + 1), str(c // 3 + 1)] for c in range(6)]
    for client, row in enumerate(rows[1:]):
        held = ODD[made.samples[client]]
        assert [int(x) for x in row[2:]] == [int((held == label).sum()) for label in range(7)]
    assert made.table(ODD, "abcdefg").splitlines()[0] == "client,group,a,b,c,d,e,f,g"


@pytest.mark.parametrize(
    ("scheme", "G", "M", "options", "told"),
    [
        ("iid", 40, 200, {}, "6000 samples are too few for 40 x 200 clients"),
        ("iid", 0, 3, {}, "give at least 1 of everything"),
        ("intra", 2, 3, {"alpha": 0.0}, "intra = 0.0 is not a concentration"),
        ("inter", 2, 3, {"alpha": math.nan}, "inter = nan is not a concentration"),
        ("lda", 2, 3, {"alpha": -1.0}, "alpha = -1.0 is not a concentration"),
        ("lda", 2, 3, {"least": 1001}, "6000 samples are too few for 2 x 3 clients with 1001 each"),
        ("pathological", 2, 3, {"kinds": 11}, "kinds = 11 labels for each client, and a group has 10"),
        ("pathological", 2, 3, {"kinds": 8, "missing": 3}, "a group has 7"),
        ("pathological", 2, 3, {"missing": 10}, "leaves a group none"),
        ("pathological", 10, 10, {"size": 62}, "a multiple of 2, at most 60"),
        ("pathological", 10, 10, {"size": 7}, "a multiple of 2"),
        ("long-tailed", 10, 10, {"size": 61}, "are too few"),
        ("long-tailed", 1, 4, {"size": 1000}, "need more samples of some label"),
        ("long-tailed", 2, 3, {"share": 0.0}, "share = 0.0"),
        ("iid", 2, 3, {"alpha": 1.0}, "the partition 'iid' has no option 'alpha'"),
        ("random", 2, 3, {}, "no partition is called 'random': iid, "),
    ],
)
def test_what_cannot_be_made_is_refused(scheme: str, G: int, M: int, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        partition(scheme, EVEN, G, M, **options)


def test_labels_that_are_none_are_refused() -> None:
    for labels in ([0.5, 1.0], [[0, 1]], [-1, 0]):
        with pytest.raises(ValidationError, match="whole numbers from 0"):
            partition("iid", labels, 1, 1)
    with pytest.raises(ValidationError, match="needs two labels"):
        partition("long-tailed", [0, 0, 0], 1, 1)
