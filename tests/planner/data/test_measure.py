"""From label counts to deviations: unbiased, covered by their intervals, and what `recommend` makes of them."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from documents import own
from test_cli import ROOT, loaded

import planner
from planner.cli import refusals
from planner.data import grouping, grouping_rules, label_shift, resampling
from planner.data.dirichlet import concentrations, digamma
from planner.data.heterogeneity import parse
from planner.data.label_counts import LabelCounts, read_counts
from planner.data.label_shift import Counts, Weighting, measure, nested_spread, noise, weights
from planner.data.profile import Profile, from_counts, read_profile
from planner.errors import ScenarioError
from planner.io.json_documents import schema_of
from planner.report.answers import measure as answer

pytestmark = pytest.mark.usefixtures("unflipped", "few_draws")  # no test here looks at what would change an answer
UNDRAWN = ("--set", "plan.draws=0")  # nor these at what is not known


def deviations(table: LabelCounts, weighting: Weighting = "groups", counts: Counts = "sample") -> tuple[float, ...]:
    """Root mean square of every tier, top first."""
    variances = noise(table.counts) if counts == "sample" else np.zeros(len(table.clients))
    found = nested_spread(table.shares(), variances, table.parents, weights(table, weighting))
    return tuple(math.sqrt(square) for square in found.net)


def table(counts: np.ndarray, group_of: np.ndarray) -> LabelCounts:
    clients, labels = counts.shape
    return LabelCounts(
        source="counts.csv",
        clients=tuple(f"c{i:03}" for i in range(clients)),
        labels=tuple(f"label {y}" for y in range(labels)),
        counts=np.asarray(counts, dtype=float),
        groups=tuple(f"site {g}" for g in range(int(group_of.max()) + 1)),
        group_of=group_of,
        lines=tuple(range(2, clients + 2)),
    )


def write(folder: Path, found: LabelCounts, name: str = "counts.csv") -> Path:
    file = folder / name
    rows = [["client", "group", *found.labels]]
    rows += [
        [c, found.groups[g], *(str(int(n)) for n in row)]
        for c, g, row in zip(found.clients, found.group_of, found.counts, strict=True)
    ]
    file.write_text("\n".join(",".join(row) for row in rows) + "\n")
    return file


def fleet(rng: np.random.Generator, groups: int, clients: int, labels: int, intra: float, inter: float) -> np.ndarray:
    """True label shares, groups by clients by labels."""
    centres = rng.dirichlet(np.full(labels, inter), groups)
    return np.array([rng.dirichlet(np.maximum(labels * intra * c, 1e-9), clients) for c in centres])


def by_definition(shares: np.ndarray, gram: np.ndarray | None = None) -> tuple[float, float]:
    """Both squared deviations of groups of one size, as the assumptions of zhou2026 read."""
    gram = np.eye(shares.shape[-1]) if gram is None else gram
    group = [sum(clients) / len(clients) for clients in shares]
    whole = sum(group) / len(group)
    zeta2 = [np.mean([(p - g) @ gram @ (p - g) for p in clients]) for clients, g in zip(shares, group, strict=True)]
    return float(np.mean(zeta2)), float(np.mean([(g - whole) @ gram @ (g - whole) for g in group]))


def exact(shares: np.ndarray) -> LabelCounts:
    """Counts with exactly these shares."""
    groups, clients, labels = shares.shape
    return table(shares.reshape(-1, labels) * 1e9, np.repeat(np.arange(groups), clients))


def test_two_clients_by_hand() -> None:
    # Shares (1, 0), (0, 1) and (1, 0), (1, 0): means (1/2, 1/2), (1, 0), and (3/4, 1/4) overall.
    counts = np.array([[4, 0], [0, 4], [2, 0], [6, 0]])
    found = measure(table(counts, np.array([0, 0, 1, 1])), counts="all")
    assert found.zeta2.value == pytest.approx(1 / 4, rel=1e-14)  # (1/2 + 1/2 + 0 + 0) / 4
    assert found.delta2.value == pytest.approx(1 / 8, rel=1e-14)  # (1/16 + 1/16 + 1/16 + 1/16) / 2
    assert found.ratio.value == pytest.approx(2, rel=1e-14)


def test_definitions_with_and_without_gram() -> None:
    rng = np.random.default_rng(0)
    shares = fleet(rng, 4, 5, 6, 0.5, 1)
    a = rng.normal(size=(6, 8))
    for gram in (None, a @ a.T):
        found = measure(exact(shares), gram=gram, counts="all")
        assert (found.zeta2.value, found.delta2.value) == pytest.approx(by_definition(shares, gram), rel=1e-10)


def test_gradients_of_a_mixture_have_the_deviations_the_counts_say() -> None:
    # A quadratic loss for each label, F_y = |x - c_y|^2 / 2: class gradients x - c_y, Gram their inner products.
    rng = np.random.default_rng(1)
    shares, centres, x = fleet(rng, 5, 4, 3, 1, 1), rng.normal(size=(3, 7)), rng.normal(size=7)
    gradients = shares @ (x - centres)
    group = gradients.mean(axis=1)
    zeta2 = ((gradients - group[:, None]) ** 2).sum(axis=-1).mean()
    delta2 = ((group - group.mean(axis=0)) ** 2).sum(axis=-1).mean()
    gram = (x - centres) @ (x - centres).T
    found = measure(exact(shares), gram=gram, counts="all")
    assert (found.zeta2.value, found.delta2.value) == pytest.approx((zeta2, delta2), rel=1e-10)


def test_the_noise_is_unbiased_and_taken_out_of_any_weighting() -> None:
    rng = np.random.default_rng(2)
    shares = fleet(rng, 3, 4, 5, 0.5, 1).reshape(12, 5)
    group_of = np.array([0] * 2 + [1] * 6 + [2] * 4)
    sizes = rng.integers(2, 30, 12)
    for weighting in label_shift.WEIGHTINGS:
        drawn = []
        for _ in range(1000):
            found = table(rng.multinomial(sizes, shares), group_of)
            one = nested_spread(found.shares(), noise(found.counts), found.parents, weights(found, weighting))
            drawn.append([one.zeta2 - one.noises[1], one.delta2 - one.noises[0], one.zeta2])
            assert one.parts[1].sum() == pytest.approx(one.zeta2 - one.noises[1])
            assert one.parts[0].sum() == pytest.approx(one.delta2 - one.noises[0])
        truth = nested_spread(shares, np.zeros(12), found.parents, weights(found, weighting))
        mean, error = np.mean(drawn, axis=0), np.std(drawn, axis=0) / math.sqrt(1000)
        assert abs(mean[0] - truth.zeta2) < 4 * error[0]
        assert abs(mean[1] - truth.delta2) < 4 * error[1]
        assert mean[2] - truth.zeta2 > 20 * error[2]  # what stands uncorrected is far off


def nested(rng: np.random.Generator, depth: int, counts: str = "wide") -> tuple[str, list[tuple[str, ...]], np.ndarray]:
    """A table of a random tree, its paths, and its counts."""

    def below(path: tuple[str, ...], left: int) -> list[tuple[str, ...]]:
        names = ["ab"[: 1 + rng.integers(2)], *"xyz"][: 1 + rng.integers(1, 4)]
        return [path] if not left else [found for name in names for found in below((*path, name), left - 1)]

    paths = [(*path[:-1], "/".join(path)) for path in below((), depth)]
    numbers = rng.integers(1, 30, (len(paths), 3))
    header = [f"tier {i}" for i in range(1, depth)] + ["client", "cat", "dog", "eel"]
    rows = [[*path, *map(str, row)] for path, row in zip(paths, numbers.tolist(), strict=True)]
    order = rng.permutation(len(rows))
    return "\n".join(",".join(row) for row in [header, *(rows[i] for i in order)]) + "\n", paths, numbers


def exactly(paths: list[tuple[str, ...]], points: list[list[Fraction]], depth: int) -> tuple[list[Fraction], Fraction]:
    """The squared deviation of every tier in fractions, each node's mean over its children; and that of clients."""

    def mean(of: list[list[Fraction]]) -> list[Fraction]:
        return [sum(column, Fraction(0)) / len(of) for column in zip(*of, strict=True)]

    def far(a: list[Fraction], b: list[Fraction]) -> Fraction:
        return sum(((x - y) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0))

    nodes = dict(zip(paths, points, strict=True))
    tiers = [dict(nodes)]
    for t in range(depth - 1, -1, -1):
        inner: dict[tuple[str, ...], list[list[Fraction]]] = {}
        for path, point in tiers[0].items():
            inner.setdefault(path[:t], []).append(point)
        tiers.insert(0, {path: mean(children) for path, children in inner.items()})
    mass: dict[tuple[str, ...], Fraction] = {(): Fraction(1)}
    found = []
    for t in range(depth):
        children = [path[:t] for path in tiers[t + 1]]
        mass |= {path: mass[path[:t]] / children.count(path[:t]) for path in tiers[t + 1]}
        found.append(
            sum((mass[path] * far(point, tiers[t][path[:t]]) for path, point in tiers[t + 1].items()), Fraction(0))
        )
    return found, sum((mass[path] * far(point, tiers[0][()]) for path, point in nodes.items()), Fraction(0))


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_each_tier_has_its_deviation_and_they_sum_to_that_of_clients(tmp_path: Path, depth: int, seed: int) -> None:
    text, paths, numbers = nested(np.random.default_rng([depth, seed]), depth)
    file = tmp_path / "nested.csv"
    file.write_text(text)
    read = read_counts(file)
    points = [[Fraction(n, sum(row)) for n in row] for row in numbers.tolist()]
    wanted, everything = exactly(paths, points, depth)
    found = deviations(read, counts="all")
    assert sum(wanted) == everything
    assert [d**2 for d in found] == pytest.approx([float(square) for square in wanted], rel=1e-12, abs=1e-15)
    measured = measure(read, counts="all")
    assert [tier.value for tier in measured.tiers] == pytest.approx([d**2 for d in found], rel=1e-12, abs=1e-15)
    for weighting in ("clients", "samples"):
        mass = read.counts.sum(axis=1) if weighting == "samples" else np.ones(len(read.clients))
        shares = read.shares()
        variance = mass @ ((shares - mass @ shares / mass.sum()) ** 2).sum(axis=1) / mass.sum()
        assert sum(d**2 for d in deviations(read, counts="all", weighting=weighting)) == pytest.approx(
            variance, rel=1e-12
        )


def test_the_noise_is_taken_out_of_every_tier() -> None:
    rng = np.random.default_rng(5)
    group_of, above = np.repeat(np.arange(6), 3), np.array([0, 0, 0, 1, 1, 1])
    shares = rng.dirichlet(np.full(4, 1.0), 18)
    names = replace(table(shares * 10**6, group_of), above=(above,), tiers=("region", "edge", "client"))
    truth = nested_spread(shares, np.zeros(18), names.parents, weights(names, "groups")).squares
    drawn = []
    for _ in range(800):
        counts = rng.multinomial(8, shares).astype(float)
        found = nested_spread(counts / 8, noise(counts), names.parents, weights(names, "groups"))
        drawn.append([square - part for square, part in zip(found.squares, found.noises, strict=True)])
        assert [part.sum() for part in found.parts] == pytest.approx(drawn[-1])
    error = np.std(drawn, axis=0) / math.sqrt(len(drawn))
    assert (np.abs(np.mean(drawn, axis=0) - truth) < 4 * error).all()
    seen = measure(replace(names, counts=rng.multinomial(200, shares).astype(float)), draws=200)
    for tier, wanted in zip(seen.tiers, truth, strict=True):
        assert tier.low < wanted < tier.high


def test_nested_groups_give_a_deviation_for_each_tier_of_a_file(tmp_path: Path) -> None:
    text, _, _ = nested(np.random.default_rng(3), 3)
    file = tmp_path / "nested.csv"
    file.write_text(text)
    said = parse(str(file))
    read = read_counts(file)
    scale = 4 * 2.0 / math.sqrt(1 - 1 / 3)  # one label stands four sigma from an even mixture
    assert said.deviations_of_tiers(2.0) == pytest.approx([scale * d for d in deviations(read)])
    profile = tmp_path / "profile.json"
    profile.write_text(from_counts(read, measure(read, draws=50), length=3.0).text())
    again = parse(str(profile))
    assert again.deviations_of_tiers(2.0) == pytest.approx([3 * d for d in deviations(read)], rel=1e-4)
    assert math.prod(again.measured.children) == pytest.approx(len(read.clients), rel=1e-4)
    assert parse("both").deviations_of_tiers(1.0) == ()


def test_measure_says_each_tier_of_nested_groups_in_any_format(plan, tmp_path: Path) -> None:
    text, _, _ = nested(np.random.default_rng(3), 3)
    file = tmp_path / "nested.csv"
    file.write_text(text)
    found = own(plan("measure", str(file), "--counts-are", "all", "--weighting", "groups", "--json")[1])
    assert [tier["tier"] for tier in found["tiers"]] == ["tier 1", "tier 2", "client"]
    wanted = [d**2 for d in deviations(read_counts(file), counts="all")]
    assert [tier["squared"]["value"] for tier in found["tiers"]] == pytest.approx(wanted)
    assert found["ratio"]["value"] is None
    assert found["scale"]["zeta"] is None
    lines = plan("measure", str(file), "--counts-are", "all", "--weighting", "groups", "--format", "csv")[
        1
    ].splitlines()
    assert [[*line.split(",")[:2], f"{float(line.split(',')[2]):.4g}"] for line in lines[1:]] == [
        [f"delta{i}", tier, f"{square:.4g}"]
        for i, (tier, square) in enumerate(zip(("tier 1", "tier 2", "client"), wanted, strict=True), 1)
    ]
    assert plan("measure", str(file), "--groups-are", "chosen")[0] == 2


def test_nested_groups_that_cannot_be_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "nested.csv"
    file.write_text("region,edge,client,a,b\nn,e,c,1,2\nn,f,d,1,2\ns,e,c,1,2\n")
    with pytest.raises(ScenarioError, match=r"nested.csv:4:1: client 'c' is in region 's' here, and in 'n' on line 2"):
        read_counts(file)
    file.write_text("region,edge,client,a,b\nn,e,c,1,2\nn,f,d,1,2\ns,e,g,1,2\n")
    read = read_counts(file)
    assert read.groups == ("n/e", "n/f", "s/e")
    assert [parents.tolist() for parents in read.parents] == [[0, 0], [0, 0, 1], [0, 1, 2]]


def test_with_a_gram_matrix_the_noise_is_unbiased_too() -> None:
    rng = np.random.default_rng(3)
    a, shares = rng.normal(size=(4, 4)), rng.dirichlet(np.ones(4))
    gram = a @ a.T
    counts = rng.multinomial(7, shares, size=40_000).astype(float)
    error = counts / 7 - shares
    wanted = np.einsum("ij,jk,ik->i", error, gram, error)
    found = noise(counts, gram)
    assert abs(found.mean() - wanted.mean()) < 4 * math.hypot(found.std(), wanted.std()) / 200


@pytest.mark.parametrize(
    ("groups", "clients", "labels", "samples", "intra", "inter"),
    [
        (6, 8, 5, 40, 0.5, 1),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in ((8, 10, 10, 20, 2, 10), (4, 5, 10, 100, 1, 1))),
    ],
)
def test_intervals_cover_at_their_rate(
    groups: int, clients: int, labels: int, samples: int, intra: float, inter: float
) -> None:
    rng = np.random.default_rng(4)
    shares = fleet(rng, groups, clients, labels, intra, inter)
    zeta2, delta2 = by_definition(shares)
    truth = (zeta2, delta2, zeta2 / delta2)
    group_of = np.repeat(np.arange(groups), clients)
    hits, times = np.zeros(3), 120
    for seed in range(times):
        counts = np.random.default_rng(seed).multinomial(samples, shares.reshape(-1, labels))
        found = measure(table(counts, group_of), draws=200, seed=seed)
        for k, (interval, value) in enumerate(zip((found.zeta2, found.delta2, found.ratio), truth, strict=True)):
            hits[k] += interval.low <= value <= interval.high
    # 95 % of 120 within four standard errors of a binomial share
    assert (np.abs(hits / times - 0.95) < 4 * math.sqrt(0.95 * 0.05 / times)).all(), hits / times


@pytest.mark.parametrize(
    ("samples", "clients", "groups", "spread_"),
    [(100, 100, 5, 0.5), pytest.param(30, 120, 6, 1.0, marks=pytest.mark.slow)],
)
def test_groups_chosen_by_the_counts_are_not_believed(samples: int, clients: int, groups: int, spread_: float) -> None:
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.full(10, spread_), clients)
    true, found, naive, covered = [], [], [], []
    for seed in range(4):
        counts = np.random.default_rng(seed).multinomial(samples, shares).astype(float)
        problem, _ = grouping_rules.pose(
            counts / samples, np.ones(clients), groups, clients // groups, clients // groups
        )
        group_of = grouping.solve(problem, restarts=1).group_of
        said = measure(table(counts, group_of), chosen=True, draws=200)
        true.append(by_definition(shares[np.argsort(group_of, kind="stable")].reshape(groups, -1, 10)))
        found.append((said.zeta2.value, said.delta2.value))
        naive.append(measure(table(counts, group_of), chosen=False, draws=2).delta2.value)
        covered.append(said.delta2.low <= true[-1][1] <= said.delta2.high)
    assert np.mean(found, axis=0) == pytest.approx(np.mean(true, axis=0), rel=0.1)
    assert np.mean(naive) < 0.2 * np.mean(true, axis=0)[1]
    assert np.mean(covered) >= 0.75


@pytest.mark.parametrize(
    ("groups", "clients", "labels", "samples", "chosen", "weighting"),
    [  # every fleet by one weighting
        pytest.param(*fleet, weighting, marks=pytest.mark.slow if (i + j) % 2 or fleet[1] == 60 else ())
        for i, fleet in enumerate(
            [(5, 8, 4, 30, False), (4, 60, 10, 50, False), (3, 40, 10, 5, False), (6, 30, 10, 40, True)]
        )
        for j, weighting in enumerate(("groups", "samples"))
    ],
)
def test_sums_over_groups_give_the_intervals_of_counts_drawn_one_by_one(
    monkeypatch: pytest.MonkeyPatch, groups: int, clients: int, labels: int, samples: int, chosen: bool, weighting: str
) -> None:
    rng = np.random.default_rng(groups)
    shares = fleet(rng, groups, clients, labels, 0.5, 2).reshape(-1, labels)
    sizes = rng.integers(samples // 2, 2 * samples, groups * clients)
    counts = table(rng.multinomial(sizes, shares).astype(float), np.repeat(np.arange(groups), clients))
    monkeypatch.setattr(label_shift, "DRAWS", (40, 4000))
    literal = measure(counts, weighting=weighting, chosen=chosen, draws=4000)
    monkeypatch.setattr(label_shift, "LITERAL", 0)
    sums = measure(counts, weighting=weighting, chosen=chosen, draws=4000)
    assert literal.draws == sums.draws == 4000
    for name in ("zeta2", "delta2", "ratio"):
        one, other = getattr(literal, name), getattr(sums, name)
        assert other.value == one.value
        # A 2.5 % quantile of 4000 draws has an error of 1.1 % of the interval, the difference of two 1.5 %: four of it.
        assert abs(other.low - one.low) < 0.06 * (one.high - one.low), name
        assert abs(other.high - one.high) < 0.06 * (one.high - one.low), name


def test_the_moments_of_a_group_are_those_of_every_sample_that_can_be_drawn() -> None:
    points, sizes = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]), np.array([3.0, 1.0])
    within, weight = np.array([0.6, 0.4]), 0.25
    mean, spread = resampling.moments(points, np.arange(2), sizes, within, weight)
    each = []
    for p, n in zip(points, (3, 1), strict=True):
        counted = [c for c in itertools.product(range(n + 1), repeat=3) if sum(c) == n]
        chances = [
            math.factorial(n) * math.prod(q**k / math.factorial(k) for q, k in zip(p, c, strict=True)) for c in counted
        ]
        each.append(list(zip(chances, np.array(counted) / n, strict=True)))
    values, weights_ = [], []
    for (chance, first), (other, second) in itertools.product(*each):
        q = np.stack([first, second])
        length = (q**2).sum(axis=1)
        noise_of = np.array([(1 - length[0]) / 2, 0.0])  # of one sample nothing is known
        clients = weight * (within * (length - (1 - within) * noise_of)).sum()
        values.append([*(within @ q), clients, weight * (1 - weight) * (within**2 * noise_of).sum()])
        weights_.append(chance * other)
    exact_mean = np.average(values, axis=0, weights=weights_)
    np.testing.assert_allclose(mean, exact_mean, rtol=1e-12)
    wanted = np.cov(np.transpose(values), aweights=weights_, ddof=0)
    np.testing.assert_allclose(spread @ spread.T, wanted, atol=1e-9)


def test_tables_of_many_counts_are_measured_by_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    counts = rng.multinomial(20, rng.dirichlet(np.ones(10), 2100)).astype(float)
    drawn: list[int] = []
    by_sums = resampling.draw
    monkeypatch.setattr(resampling, "draw", lambda *given: (drawn.append(given[5]), by_sums(*given))[1])
    assert measure(table(counts, np.arange(2100) % 7)).draws == 1000
    assert measure(table(counts, np.arange(2100) % 700), draws=2).draws == 2  # groups of three are drawn literally
    assert drawn == [1000]


def test_given_groups_are_not_taken_for_chosen_ones() -> None:
    for seed in range(100):
        rng = np.random.default_rng(seed)
        counts = rng.multinomial(50, np.tile(rng.dirichlet(np.ones(10)), (40, 1)))  # all alike: the hardest case
        assert not measure(table(counts, np.repeat(np.arange(8), 5)), draws=2).chosen


def test_unequal_lengths_bound_the_ratio() -> None:
    rng = np.random.default_rng(5)
    shares = fleet(rng, 4, 6, 5, 0.5, 1)
    low, high = measure(exact(shares), counts="all").lengths
    seen = []
    for lengths in rng.uniform(1, label_shift.LENGTHS, (300, 5)):
        zeta2, delta2 = by_definition(shares, np.diag(lengths**2))
        seen.append(zeta2 / delta2)
        assert low * (1 - 1e-9) <= seen[-1] <= high * (1 + 1e-9)
    corners = [
        by_definition(shares, np.diag(np.where([(k >> y) & 1 for y in range(5)], label_shift.LENGTHS**2, 1.0)))
        for k in range(32)
    ]
    ratios = [z / d for z, d in corners]
    assert (low, high) == pytest.approx((min(ratios), max(ratios)), rel=1e-9)


# ---------------------------------------------------------------- concentrations


def test_digamma_against_mpmath() -> None:
    import mpmath

    for x in (1e-8, 1e-3, 0.1, 1.0, 1.4616321449683623, 2.5, 7.0, 30.0, 1e4, 1e9):
        wanted = float(mpmath.digamma(mpmath.mpf(x)))
        assert digamma(np.array(x)) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("intra", "inter", "samples"),
    [*(pytest.param(*one, marks=pytest.mark.slow) for one in ((0.1, 0.3, 100), (1, 1, 100))), (20, 5, 50)],
)
def test_concentrations_are_found_again(intra: float, inter: float, samples: int) -> None:
    found, covered = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        shares = fleet(rng, 12, 25, 10, intra, inter).reshape(-1, 10)
        counts = rng.multinomial(samples, shares).astype(float)
        within, between = concentrations(counts, np.repeat(np.arange(12), 25))
        found.append((math.log(within.value / intra), math.log(between.value / inter)))
        covered.append((within.low < intra < within.high, between.low < inter < between.high))
    assert np.abs(np.mean(found, axis=0)).max() < 0.15
    assert np.mean(covered, axis=0).min() >= 0.75


def test_the_adjustment_takes_out_what_few_clients_do() -> None:
    plain, adjusted = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        counts = rng.multinomial(100, fleet(rng, 30, 4, 5, 1, 1).reshape(-1, 5)).astype(float)
        group_of = np.repeat(np.arange(30), 4)
        plain.append(concentrations(counts, group_of, adjusted=False)[0].value)
        adjusted.append(concentrations(counts, group_of)[0].value)
    assert np.median(plain) > 1.3
    assert np.median(adjusted) == pytest.approx(1, rel=0.15)


def test_concentrations_at_the_ends() -> None:
    single = np.eye(3)[[0, 1, 2, 0, 0, 1, 1, 2]] * 9
    group_of = np.repeat([0, 1], 4)
    assert concentrations(single, group_of)[0].value == 0
    alike = np.tile([10.0, 20.0, 30.0], (8, 1))
    within, between = concentrations(alike, group_of)
    assert within.value == between.value == math.inf
    assert concentrations(single, np.arange(8))[0] is None
    assert concentrations(single, np.zeros(8, dtype=int))[1] is None


# ---------------------------------------------------------------- the command


@pytest.fixture
def counts() -> LabelCounts:
    rng = np.random.default_rng(6)
    return table(rng.multinomial(80, fleet(rng, 5, 6, 4, 0.5, 1).reshape(-1, 4)), np.repeat(np.arange(5), 6))


def test_measure_says_the_ratio_and_that_the_scale_is_unknown(plan, tmp_path: Path, counts: LabelCounts) -> None:
    file = write(tmp_path, counts)
    code, out, err = plan("measure", str(file))
    assert (code, err) == (0, "")
    assert "Unknown  the absolute scale" in out
    known = planner.load_scenario(data=str(file)).known  # the page says what this takes, as an assumption
    taken = ", ".join(f"{name} = {known[name].value:.2g}?" for name in ("zeta", "delta"))
    assert f"recommend assumes {taken}" in " ".join(out.split()) and "? assumed" in out
    assert "30 clients, 4 labels, 2,400 samples" in out
    assert "within groups" in out
    code, out, err = plan("measure", str(file), "--json")
    assert (code, err) == (0, "")
    found = own(out)
    wanted = measure(counts)
    assert found["schema"] == "hfl-plan/measure/2"
    assert found["ratio"]["value"] == pytest.approx(wanted.ratio.value)
    assert found["ratio"]["low"] < found["ratio"]["value"] < found["ratio"]["high"]
    assert found["scale"] == {**found["scale"], "known": False, "zeta": None, "delta": None}
    assert plan("measure", str(file), "--json")[1] == out


def test_scale_and_gram_say_the_same(plan, tmp_path: Path, counts: LabelCounts) -> None:
    file = write(tmp_path, counts)
    gram = tmp_path / "gram.csv"
    rows = [[label, *("9" if a == b else "0" for b in counts.labels)] for a, label in enumerate(counts.labels)]
    rows = [[label, *("9" if label == other else "0" for other in counts.labels)] for label in counts.labels]
    gram.write_text("\n".join(",".join(r) for r in [["label", *counts.labels], *rows]) + "\n")
    scaled = own(plan("measure", str(file), "--scale", "3", "--json")[1])
    turned = own(plan("measure", str(file), "--gram", str(gram), "--json")[1])
    for name in ("zeta", "delta"):
        assert scaled["scale"][name] == pytest.approx(turned["scale"][name], rel=1e-9)
        assert scaled["scale"][name] == pytest.approx(3 * math.sqrt(scaled[f"{name}2"]["value"]), rel=1e-12)
    assert turned["unit"] == "gradients"


def test_a_measured_scale_goes_on_by_the_profile(plan, tmp_path: Path, counts: LabelCounts) -> None:
    file, profile = write(tmp_path, counts), tmp_path / "profile.json"
    words = ["measure", str(file), "--scale", "3"]
    assert [step["argv"] for step in json.loads(plan(*words, "--json")[1])["next"]] == [
        ["...", "--output", "profile.json"]
    ]
    told = json.loads(plan(*words, "--json", "--output", str(profile))[1])
    assert told["next"][0]["argv"] == ["hfl-plan", "recommend", "--data", str(profile)]
    scenario = json.loads(plan(*told["next"][0]["argv"][1:], "--json")[1])["scenario"]
    assert scenario["zeta"]["value"] == pytest.approx(told["measure"]["scale"]["zeta"], rel=1e-5)  # as a profile rounds


def test_what_is_next_has_the_sizes_of_groups_and_says_so_beside_a_profile(
    plan, tmp_path: Path, counts: LabelCounts
) -> None:
    file, profile = write(tmp_path, counts), tmp_path / "profile.json"
    for words, why in (([], "takes these deviations"), (["--output", str(profile)], "which profile.json has not")):
        told = json.loads(plan("measure", str(file), "--json", *words)[1])
        assert told["next"][0]["argv"][:4] == ["hfl-plan", "recommend", "--data", str(file)]
        assert why in told["next"][0]["why"]


def test_who_dominates(plan, tmp_path: Path) -> None:
    counts = np.array([[5, 5], [5, 5], [5, 5], [100, 0], [5, 5], [5, 5]])
    file = write(tmp_path, table(counts, np.array([0, 0, 1, 1, 2, 2])))
    found = own(plan("measure", str(file), "--counts-are", "all", "--json")[1])
    assert found["dominant_clients"][0]["share_of_zeta2"] == pytest.approx(0.5)
    assert {row["client"] for row in found["dominant_clients"]} == {"c002", "c003"}
    assert found["dominant_groups"][0]["group"] == "site 1"
    assert found["dominant_groups"][0]["share_of_delta2"] == pytest.approx(2 / 3)


def test_the_profile_tells_of_nobody_and_goes_back_in(plan, tmp_path: Path, counts: LabelCounts) -> None:
    import jsonschema

    file, profile = write(tmp_path, counts), tmp_path / "profile.json"
    assert plan("measure", str(file), "--output", str(profile))[0] == 0
    text = profile.read_text()
    jsonschema.validate(json.loads(text), schema_of(Profile))
    assert json.loads(text)["schema"] == "hfl-plan/profile/1"
    for secret in (*counts.clients, *counts.groups, *counts.labels, "counts.csv"):
        assert secret not in text
    code, _, err = plan("measure", str(file), "--output", str(profile))
    assert code == 2
    assert "--force" in err
    assert profile.read_text() == text
    assert plan("measure", str(file), "--output", str(profile), "--force")[0] == 0
    assert profile.read_text() == text
    from_counts = json.loads(plan("recommend", "--heterogeneity", str(file), "--json", *UNDRAWN)[1])["scenario"]
    from_profile = json.loads(plan("recommend", "--heterogeneity", str(profile), "--json", *UNDRAWN)[1])["scenario"]
    for name in ("G", "M", "zeta", "delta"):
        assert from_profile[name]["value"] == pytest.approx(from_counts[name]["value"], rel=1e-4)
    assert (from_counts["G"], from_counts["M"]) == (
        {"value": 5, "origin": "derived", "unit": "", "source": "counted in the file of heterogeneity", "reading": ""},
        {"value": 6, "origin": "derived", "unit": "", "source": "counted in the file of heterogeneity", "reading": ""},
    )
    assert from_counts["zeta"]["origin"] == "default"
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".part")] == []


def test_recommend_keeps_the_ratio_and_takes_the_scale_that_is_known(plan, tmp_path: Path, counts) -> None:
    file, profile = write(tmp_path, counts), tmp_path / "profile.json"
    ratio = measure(counts, draws=2).ratio.value
    code, out, err = plan("recommend", "--heterogeneity", str(file), "--sigma", "0.3", "--json")
    assert (code, err) == (0, "")
    answer = own(out)
    zeta, delta = (answer["scenario"][name]["value"] for name in ("zeta", "delta"))
    assert zeta**2 / delta**2 == pytest.approx(ratio, rel=1e-9)
    assert any("The scale is assumed" in warning for warning in answer["warnings"])
    plan("measure", str(file), "--scale", "2.5", "--output", str(profile))
    scenario = json.loads(plan("recommend", "--heterogeneity", str(profile), "--sigma", "0.3", "--json")[1])["scenario"]
    assert scenario["zeta"]["origin"] == "estimated"
    assert scenario["zeta"]["value"] == pytest.approx(2.5 * math.sqrt(measure(counts, draws=2).zeta2.value), rel=1e-4)


def test_constants_of_a_profile_are_used_where_none_are_given(plan, tmp_path: Path, counts) -> None:
    file, profile = write(tmp_path, counts), tmp_path / "profile.json"
    plan("measure", str(file), "--scale", "1", "--output", str(profile))
    document = json.loads(profile.read_text())
    document["constants"] = {"L": {"value": 7.0}, "sigma": {"value": 0.25, "low": 0.2, "high": 0.3}}
    profile.write_text(json.dumps(document))
    scenario = json.loads(plan("recommend", "--heterogeneity", str(profile), "--L", "3", "--json")[1])["scenario"]
    assert (scenario["L"]["value"], scenario["L"]["origin"]) == (3, "given")
    assert (scenario["sigma"]["value"], scenario["sigma"]["origin"]) == (0.25, "estimated")
    assert scenario["A"]["origin"] == "default"


def test_other_counts_of_groups_and_unequal_ones_are_said(plan, tmp_path: Path, counts: LabelCounts) -> None:
    file = write(tmp_path, counts)
    code, out, err = plan("recommend", "--heterogeneity", str(file), "--G", "9")
    assert (code, out) == (2, "")
    assert "has 5 groups of 6 clients, not 9 groups of 6 clients" in err
    assert plan("recommend", "--heterogeneity", str(file), "--G", "5", "--M", "6", *UNDRAWN)[0] == 0
    profile = tmp_path / "profile.json"
    plan("measure", str(file), "--output", str(profile))
    answer = own(plan("recommend", "--heterogeneity", str(profile), "--G", "9", "--json", *UNDRAWN)[1])
    assert answer["scenario"]["G"] == {"value": 9, "origin": "given", "unit": "", "source": "", "reading": ""}
    assert any("9 groups of 6 clients, with the deviations of 5 groups of 6" in one for one in answer["warnings"])
    profile.unlink()
    group_of = np.array([0] * 10 + [1] * 20)
    file = write(tmp_path, table(counts.counts, group_of))
    answer = own(plan("recommend", "--heterogeneity", str(file), "--json", *UNDRAWN)[1])
    assert (answer["scenario"]["M"]["value"], answer["scenario"]["weights"]["value"]) == (15, "equal")
    assert not any("10 to 20 clients" in warning for warning in answer["warnings"])  # they are taken as they are
    plan("measure", str(file), "--output", str(profile))
    answer = own(plan("recommend", "--heterogeneity", str(profile), "--json", *UNDRAWN)[1])
    assert any("10 to 20 clients" in warning for warning in answer["warnings"])
    _, out, _ = plan("measure", str(file))
    assert "10 to 20 clients" in out
    for weighting, other in (("clients", "groups"), ("groups", "clients")):
        _, out, _ = plan("measure", str(file), "--weighting", weighting, "--explain", "warnings")
        assert f"--weighting {other}" in out


@pytest.mark.parametrize("name", ["consortium_labels.csv", "hospitals.csv"])
def test_the_next_command_measures_with_the_same_weights(plan, name: str) -> None:
    """Unequal groups too: the ratio that measure says is that of what recommend takes."""
    found = json.loads(plan("measure", f"examples/{name}", "--json")[1])
    squared = {row["id"]: row["squared"]["value"] for row in found["rows"]}
    scenario = json.loads(plan(*found["next"][0]["argv"][1:], "--json")[1])["scenario"]
    ratio = (scenario["zeta"]["value"] / scenario["delta"]["value"]) ** 2
    assert ratio == pytest.approx(squared["zeta"] / squared["delta"], rel=1e-4)


def test_one_group_and_single_clients_answer(plan, tmp_path: Path, counts: LabelCounts) -> None:
    single = write(tmp_path, table(counts.counts, np.zeros(30, dtype=int)))
    code, out, _ = plan("measure", str(single))
    assert code == 0
    assert "Clients differ; all are in one group." in out
    found = own(plan("measure", str(single), "--json")[1])
    assert found["ratio"]["value"] is None
    assert found["delta2"]["value"] == 0
    assert plan("recommend", "--heterogeneity", str(single), "--json", *UNDRAWN)[0] == 0
    lone = write(tmp_path, table(counts.counts, np.arange(30)))
    found = own(plan("measure", str(lone), "--json")[1])
    assert found["zeta2"]["value"] == 0
    assert found["concentrations"]["intra"] is None
    assert plan("recommend", "--heterogeneity", str(lone), "--json", *UNDRAWN)[0] == 0


def test_equal_clients_and_single_samples_are_said(plan, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    file = write(tmp_path, table(np.tile([3, 4, 5], (6, 1)), np.repeat([0, 1], 3)))
    code, _, err = plan("measure", str(file))
    assert (code, err) == (0, "")
    file = write(tmp_path, table(rng.multinomial(1, [0.5, 0.5], 6), np.repeat([0, 1], 3)))
    assert "6 clients have one sample" in plan("measure", str(file))[1]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["measure", "no.csv"], "cannot be read"),
        (["measure", "{file}", "--weighting", "client"], "Did you mean clients?"),
        (["measure", "{file}", "--counts-are", "some"], "is not one of sample, all"),
        (["measure", "{file}", "--groups-are", "same"], "is not one of given, chosen"),
        (["measure", "{file}", "--scale", "0"], "--scale"),
        (["measure", "{file}", "--scale", "nan"], "--scale"),
        (["measure", "{file}", "--scale", "1", "--gram", "x.csv"], "Give one of the two"),
        (["measure", "{file}", "--gram", "x.csv"], "HOOK.py --gram x.csv` writes one"),
        (["measure", "{file}", "--output", "{file}"], "exists. Add --force"),
        (["measure", "{file}", "--output", "{file}/no/x.json"], "--output"),
        (["recommend", "--heterogeneity", "no.csv"], "--heterogeneity: no.csv: cannot be read"),
        (["recommend", "--heterogeneity", "no.json"], "--heterogeneity: no.json: cannot be read"),
    ],
)
def test_misuse(plan, tmp_path: Path, counts: LabelCounts, words: list[str], wanted: str) -> None:
    file = write(tmp_path, counts)
    before = file.read_text()
    code, out, err = plan(*(word.replace("{file}", str(file)) for word in words))
    assert (code != 0, out) == (True, "")
    assert wanted in err.replace("\n  help: ", ". ")
    assert len(err.strip().splitlines()) <= 2
    assert file.read_text() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["counts.csv"]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda d: d.update(schema="hfl-plan/profile/2"), "its schema is 'hfl-plan/profile/2'"),
        (lambda d: d.update(extra=1), "extra"),
        (lambda d: d["zeta2"].update(value=-1), "zeta2.value"),
        (lambda d: d["zeta2"].update(value=None), "need a value"),
        (lambda d: d["zeta2"].update(value="1"), "zeta2.value"),
        (lambda d: d["zeta2"].update(value=1e400), "Infinity is not a number of JSON. Write a profile with"),
        (lambda d: d.update(groups=0), "groups"),
        (lambda d: d.pop("labels"), "labels"),
    ],
)
def test_profiles_that_are_none(plan, tmp_path: Path, counts: LabelCounts, change, wanted: str) -> None:
    file, profile = write(tmp_path, counts), tmp_path / "profile.json"
    plan("measure", str(file), "--output", str(profile))
    document = json.loads(profile.read_text())
    change(document)
    profile.write_text(json.dumps(document))
    code, out, err = plan("recommend", "--heterogeneity", str(profile))
    assert (code, out) == (2, "")
    assert wanted in err.replace("\n  help: ", ". ")
    assert len(err.strip().splitlines()) <= 2


@pytest.mark.parametrize("text", ["", "[1", "[]", "3", "[" * 100_000, "\x00", '{"schema": NaN}', '{"schema": 1e999}'])
def test_json_that_is_no_profile(plan, tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    code, out, err = plan("recommend", "--heterogeneity", str(file))
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) <= 2


def test_a_profile_round_trips(tmp_path: Path, counts: LabelCounts) -> None:
    from planner.data.profile import from_counts

    profile = from_counts(counts, measure(counts, draws=50), concentrations(counts.counts, counts.group_of))
    file = tmp_path / "p.json"
    file.write_text(profile.text())
    assert read_profile(file).text() == profile.text()
    assert any(
        "few" in warning
        for warning in from_counts(table(counts.counts, np.repeat([0, 1], 15)), measure(counts, draws=2)).warnings
    )


def test_parse_reads_files_without_torch_or_scipy(tmp_path: Path, counts: LabelCounts) -> None:
    file = write(tmp_path, counts)
    assert parse(str(file)).measured.groups == 5
    modules = loaded("measure", str(file), "--json")
    assert not modules & {"sympy", "torch", "scipy", "matplotlib", "pandas"}


# ---------------------------------------------------------------- against gradients


def _network_gradients(parts: list[tuple[np.ndarray, np.ndarray]], seed: int, steps: int) -> np.ndarray:
    """Full gradients of a small network on every part, after steps on all of them."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(64, 32)) / 8, rng.normal(size=(32, 10)) / 10

    def gradient(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        hidden = np.tanh(x @ first)
        score = np.exp(hidden @ second)
        error = score / score.sum(axis=1, keepdims=True)
        error[np.arange(len(y)), y] -= 1
        return x.T @ ((error @ second.T) * (1 - hidden**2)) / len(y), hidden.T @ error / len(y)

    everything = tuple(np.concatenate([part[k] for part in parts]) for k in (0, 1))
    for _ in range(steps):
        a, b = gradient(*everything)
        first, second = first - a, second - b
    return np.array([np.concatenate([g.ravel() for g in gradient(*part)]) for part in parts])


def _digits() -> tuple[np.ndarray, np.ndarray]:
    datasets = pytest.importorskip("sklearn.datasets")
    x, y = datasets.load_digits(return_X_y=True)
    return x / 16, y


@pytest.mark.parametrize(
    ("intra", "inter"), [*(pytest.param(*one, marks=pytest.mark.slow) for one in ((0.1, 10), (0.3, 1))), (0.1, 0.3)]
)
def test_counts_say_the_ratio_of_gradients_at_the_start_and_with_gram_in_training(intra: float, inter: float) -> None:
    x, y = _digits()
    rng = np.random.default_rng(0)
    counts = np.array([rng.multinomial(150, p / p.sum()) for p in fleet(rng, 6, 8, 10, intra, inter).reshape(-1, 10)])
    chosen = [np.concatenate([rng.choice(np.flatnonzero(y == k), n) for k, n in enumerate(row)]) for row in counts]
    parts, classes = [(x[i], y[i]) for i in chosen], [(x[y == k], y[y == k]) for k in range(10)]
    found = table(counts, np.repeat(np.arange(6), 8))
    start = by_definition(_network_gradients(parts, 0, 0).reshape(6, 8, -1))
    assert measure(found, counts="all").ratio.value == pytest.approx(start[0] / start[1], rel=0.1)
    later = _network_gradients(parts + classes, 0, 20)
    after = by_definition(later[:48].reshape(6, 8, -1))
    by_class = later[48:]
    with_gram = measure(found, counts="all", gram=by_class @ by_class.T)
    assert with_gram.ratio.value == pytest.approx(after[0] / after[1], rel=0.1)
    assert (with_gram.zeta2.value, with_gram.delta2.value) == pytest.approx(after, rel=0.1)


def test_feature_shift_is_what_counts_do_not_see() -> None:
    x, y = _digits()
    rng = np.random.default_rng(0)
    parts = []
    for group in range(4):  # the same labels everywhere, pictures turned by a quarter from group to group
        turned = np.rot90(x.reshape(-1, 8, 8), group, axes=(1, 2)).reshape(-1, 64)
        for _ in range(4):
            i = np.concatenate([rng.choice(np.flatnonzero(y == k), 30) for k in range(10)])
            parts.append((turned[i], y[i]))
    found = measure(table(np.full((16, 10), 30), np.repeat(np.arange(4), 4)), counts="all")
    zeta2, delta2 = by_definition(_network_gradients(parts, 0, 20).reshape(4, 4, -1))
    assert found.delta2.value < 1e-12
    assert delta2 > 5 * zeta2


def test_draws_keep_the_ratio_that_a_file_says(tmp_path: Path, counts: LabelCounts) -> None:
    from planner.decide.uncertainty.distributions import columns
    from planner.predict.question import ask
    from planner.scenario.resolve import load

    file = write(tmp_path, counts)
    scenario = load(None, {"problem.heterogeneity": ("--heterogeneity", str(file))})
    found = measure(counts)  # an answer draws as often, where a table is this small
    wanted = math.log(found.ratio.high / found.ratio.low) / (2 * 1.96) / 2
    assert scenario.ratio_error == pytest.approx(wanted, rel=1e-3)
    drawn = columns(ask(scenario), scenario, "rounds")
    (ratio,) = (column for column in drawn if column.kind == "measured")
    assert ratio.spread.width == pytest.approx(wanted, rel=1e-3)
    assert ratio.middle == pytest.approx(math.sqrt(found.ratio.value))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["a,x,1,2,3", "b,x,4,0,4", "c,y,2,2,4"], "remove a column of totals"),
        (["a,x,1,2,0", "b,x,4,0,1", "all,all,5,2,1"], "remove a row of totals"),
        (["a,North,1,2,0", "b,north,4,0,1", "c,y,5,2,2"], "differ in capitals alone"),
        (["a,x,1,2,0", "b,x,4,0,1", "c,y,5,3,1"], ""),
    ],
)
def test_what_a_spreadsheet_leaves_is_warned_of(tmp_path: Path, rows: list[str], said: str) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("client,group,cat,dog,cow\n" + "\n".join(rows) + "\n")
    warnings = read_counts(file).warnings
    assert bool(warnings) == bool(said)
    assert all(said in warning for warning in warnings)


def test_a_long_measurement_says_how_far_it_is(plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is doing, in order; and the line is cleared, also where the file is refused, in Python too."""
    path, shown = tmp_path / "counts.csv", list[str]()
    path.write_text("client,group,x,y\na,g,3,1\nb,g,1,4\nc,h,2,2\nd,h,5,1\n", encoding="utf-8")
    monkeypatch.setattr("planner.report.answers.measure.progress", shown.append)
    monkeypatch.setattr("planner.cli.options.progress", shown.append)
    assert plan("measure", str(path))[0] == 0
    assert [text.partition(" ")[0] for text in shown] == ["reading", "drawing", "fitting", ""]
    path.write_text("client,group,x,y\na,g,3,-1\n", encoding="utf-8")
    monkeypatch.setattr("planner.cli.functions.progress", shown.append)
    with pytest.raises(ScenarioError):
        planner.measure(path)
    assert shown[-2:] == ["reading counts.csv", ""]
    monkeypatch.setattr("planner.cli.refusals.progress", shown.append)
    refusals.of(ScenarioError("counts.csv: -1"))
    assert shown[-2:] == ["", ""]


def test_what_sampling_explains_is_not_said_to_differ(plan, tmp_path: Path) -> None:
    """It read that groups differ about as much as clients, and named one with 363 % of what was measured."""
    rng = np.random.default_rng(3)
    rows = [f"g{i // 5},c{i}," + ",".join(map(str, rng.multinomial(60, [0.3, 0.3, 0.4]))) for i in range(20)]
    file = tmp_path / "even.csv"
    file.write_text("group,client,a,b,c\n" + "\n".join(rows) + "\n")
    code, out, _ = plan("measure", str(file))
    assert code == 0 and out.count("[0, ") == 2
    assert out.startswith("The counts show no difference that sampling alone does not explain.")
    assert "Unusual" not in out
    assert json.loads(plan("measure", str(file), "--json")[1])["verdict"]["best"] == []
    different = plan("measure", "examples/hospitals.csv")[1]
    assert "Unusual" in different and "no difference" not in different
    apart = [
        f"g{g},c{g}{i}," + ",".join(map(str, rng.multinomial(60, shares)))
        for g, shares in enumerate(([0.7, 0.2, 0.1], *[[0.2, 0.4, 0.4]] * 5))
        for i in range(3)
    ]
    file.write_text("group,client,a,b,c\n" + "\n".join(apart) + "\n")
    said = plan("measure", str(file))[1]  # only groups are shown to differ: no client is unusual
    assert said.count("[0, ") == 2 and "Unusual  group g0: a, " in said and "Unusual  client" not in said


@pytest.mark.usefixtures("searched_once")
def test_nobody_is_unusual_where_all_differ_alike(plan, tmp_path: Path) -> None:
    """The first of thirty clients with the same share of the deviation was called unusual, with 3 % of it."""
    file = tmp_path / "alike.csv"
    rows = [f"g{i % 5},c{i}," + ",".join("240" if k == i // 5 else "2" for k in range(6)) for i in range(30)]
    file.write_text("group,client,a,b,c,d,e,f\n" + "\n".join(rows) + "\n")
    assert "Unusual" not in plan("measure", str(file))[1]
    code, page, _ = plan("group", str(file), "--groups", "5", "--output", str(tmp_path / "same.csv"))
    assert code == 0 and "delta^2 0 -> 0;" in " ".join(page.split())
    kept = [line.split(",")[:2] for line in (tmp_path / "same.csv").read_text().splitlines()]
    assert sorted(kept[1:]) == sorted([f"c{i}", f"g{i % 5}"] for i in range(30))  # nobody moves where nothing is gained


def test_groups_that_were_chosen_go_on_with_the_profile(tmp_path: Path) -> None:
    """The counts alone do not say that groups were chosen by them; docs/measuring.md says to take the profile."""
    counts, profile = ROOT / "examples" / "hospitals.csv", tmp_path / "chosen.json"
    for words, output, wanted in (
        ({"groups_are": "chosen"}, profile, ("hfl-plan", "recommend", "--data", str(profile))),
        ({"groups_are": "chosen"}, None, ("...", "--output", "profile.json")),
        ({"groups_are": "given"}, None, ("hfl-plan", "recommend", "--data", str(counts))),
    ):
        found = answer.measured(counts, answer.Wanted(**words), output)[0]
        assert found.next[0].argv == wanted


@pytest.mark.parametrize(("apart", "little"), [(200, True), (2000, False)])
def test_it_says_where_nobody_differs_much(tmp_path: Path, apart: int, little: bool) -> None:
    """Groups differed "more than the clients inside one" where an even split takes as many rounds.

    A client of one of two labels is taken to stand 4 sigma from an even mixture, so that a group 2 % from it stands
    0.16 sigma: less than 0.31, the geometric mean of the presets iid and both.
    """
    rows = [[5000 + sign * (apart + c), 5000 - sign * (apart + c)] for sign in (1, -1) for c in (0, 60, 120)]
    file = write(tmp_path, table(np.array(rows), np.repeat([0, 1], 3)))
    assert ("all differ little, as with -H iid" in planner.measure(file).verdict.text) is little
    even = planner.recommend(groups=2, clients_per_group=3, heterogeneity="iid")
    rounds = planner.recommend(data=file).row("star-ring").rounds
    assert not little or rounds == pytest.approx(even.row("star-ring").rounds, rel=0.1)
