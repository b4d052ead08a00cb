"""Mixing operators, HSL and Epidemic Learning: reference values, exact counting, sampling, limits, bad input."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction as Q
from math import comb
from pathlib import Path

import numpy as np
import pytest

from hflbounds import Bound, ConditionError, DomainError, catalogue, get
from hflbounds.audit.checks import Verdict, audit
from hflbounds.core.expression import mul
from hflbounds.core.functions import overlap
from hflbounds.derive import Result
from hflbounds.derive.sharma2025 import LINES
from hflbounds.mixing import (
    ErdosRenyi,
    FedAvg,
    Fixed,
    HubSpoke,
    Mixing,
    Oracle,
    Pull,
    Push,
    Torus,
    edge_round,
    gap,
    spread,
)

DATA = Path(__file__).parents[1] / "data"
HSL = list(csv.DictReader((DATA / "hsl_points.csv").read_text().splitlines()))
BASELINES = list(csv.DictReader((DATA / "baselines_points.csv").read_text().splitlines()))
BUDGETS = ("n_s", "n_h", "b_hs", "b_hh", "b_sh")
PROBLEM = {"L": 1, "A": 1, "sigma": 1, "H": 1, "T": 1000}  # of the reference values
MINE = tuple(
    b
    for b in catalogue().values()
    if b.id.startswith(("sharma2025.", "devos2023.", "hflbounds.hsl", "hflbounds.push", "hflbounds.gossip"))
)


def agrees(value: float, text: str) -> bool:
    """To the ten digits of the reference; a zero is a zero."""
    wanted = float(text)
    return value == 0 if wanted == 0 else abs(value / wanted - 1) < 1e-9


# ------------------------------------------------------------------------------------ reference values
def test_the_tables_are_all_there() -> None:
    assert len(HSL) == 10
    assert len(BASELINES) == 6
    assert len(MINE) == 24


@pytest.mark.parametrize("row", HSL, ids=lambda row: row["point"])
def test_hsl_against_the_reference(row: dict[str, str]) -> None:
    budgets = {name: int(row[name]) for name in BUDGETS}
    for label, column in (("beta-hs", "beta_hs"), ("beta-hh", "beta_hh"), ("beta-sh", "beta_sh")):
        assert agrees(get(f"sharma2025.{label}")(**budgets), row[column]), column
    for label in ("beta", "kappa"):
        assert agrees(get(f"sharma2025.{label}")(**budgets), row[label]), label
    exact = get("hflbounds.hsl-exact").split(**budgets)
    mixing = HubSpoke(**budgets)
    assert mixing.edges == float(row["edges"])
    for name, measured in (
        ("consensus_distance", mixing.consensus_ratio()),
        ("mean_deviation", mixing.mean_deviation()),
    ):
        assert agrees(exact[name], row[f"exact_{name}"]), name
        assert measured.exact
        assert (measured.value, measured.low, measured.high) == (exact[name],) * 3
    assert agrees(get("sharma2025.thm4-4")(**budgets, **PROBLEM), row["rate"])
    assert agrees(get("sharma2025.thm4-4-order")(**budgets, **PROBLEM), row["order"])


@pytest.mark.parametrize("row", BASELINES, ids=lambda row: f"{row['system']}-{row['s']}")
def test_baselines_against_the_reference(row: dict[str, str]) -> None:
    n, system = int(row["n"]), row["system"]
    nodes = {"n_s": n, "s": int(row["s"])} if row["s"] else {"n_s": n}
    mixing: Mixing
    if system == "ELL":
        mixing = Push(n, nodes["s"])
        assert agrees(get("devos2023.beta-local")(**nodes), row["beta"])
        assert agrees(get("hflbounds.push-exact")(**nodes), row["beta"])
        assert agrees(get("hflbounds.push-exact").split(**nodes)["mean_deviation"], row["kappa_exact"])
        bounds = get("devos2023.el-local"), get("devos2023.el-local-order")
    elif system == "EL-Oracle":
        mixing = Oracle(n, nodes["s"])
        assert agrees(get("devos2023.beta-oracle")(**nodes), row["beta"])
        bounds = get("devos2023.el-oracle"), get("devos2023.el-oracle-order")
    elif system == "FedAvg":
        mixing = FedAvg(n)
        nodes |= {"n_h": 1, "b_hs": n, "b_hh": 0, "b_sh": 1}  # one hub that hears everybody
        bounds = get("sharma2025.thm4-4"), get("sharma2025.thm4-4-order")
    else:
        mixing = Torus(10, 10)
        nodes |= {"beta_mix": mixing.consensus_ratio().value, "kappa": 0}
        bounds = get("hflbounds.gossip"), get("hflbounds.gossip-order")
    assert agrees(mixing.consensus_ratio().value + mixing.mean_deviation().value, row["beta"])
    assert agrees(mixing.mean_deviation().value, row["kappa_exact"])
    assert agrees(bounds[0](**nodes, **PROBLEM), row["rate"])
    assert agrees(bounds[1](**nodes, **PROBLEM), row["order"])


def test_the_torus_may_not_take_a_twentieth() -> None:
    """C(lambda^2) is about 140: the theorem's cap belongs to factors below 1 - 1/e."""
    beta = Torus(10, 10).consensus_ratio().value
    assert beta * (1 + 3 * beta) / (1 - beta) ** 2 == pytest.approx(140.6, abs=0.1)
    nodes = {"n_s": 100, "beta_mix": beta, "eta": 1 / 20, **PROBLEM}
    assert not get("sharma2025.lemma-a4").applies(**nodes)
    assert get("sharma2025.lemma-a4").applies(**nodes | {"eta": 1 / 54})


# ------------------------------------------------------------------------------------ counted in fractions
def averages(rows: int, n: int, b: int) -> Iterator[list[dict[int, Q]]]:
    for picks in itertools.product(itertools.combinations(range(n), b), repeat=rows):
        yield [dict.fromkeys(pick, Q(1, b)) for pick in picks]


def pushes(n: int, b: int) -> Iterator[list[dict[int, Q]]]:
    choices = [itertools.combinations([i for i in range(n) if i != k], b) for k in range(n)]
    for sent in itertools.product(*choices):
        heard = [[i, *(k for k in range(n) if i in sent[k])] for i in range(n)]
        yield [dict.fromkeys(nodes, Q(1, len(nodes))) for nodes in heard]


def mixed(weights: list[dict[int, Q]], x: list[Q]) -> list[Q]:
    return [sum((w * x[k] for k, w in row.items()), Q(0)) for row in weights]


def mean(x: list[Q]) -> Q:
    return sum(x, Q(0)) / len(x)


def distance(x: list[Q]) -> Q:
    return sum(((v - mean(x)) ** 2 for v in x), Q(0)) / len(x)


MODELS = [Q(3), Q(-1), Q(1, 2), Q(7, 3), Q(-5)]


@pytest.mark.parametrize(
    "budgets", [(3, 2, 2, 1, 1), (4, 2, 1, 1, 2), (3, 3, 1, 1, 1), (3, 3, 2, 2, 1), (4, 2, 3, 0, 1), (4, 1, 2, 0, 1)]
)
def test_a_round_counted_over_every_draw(budgets: tuple[int, ...]) -> None:
    """Odd models, every draw of every stage, exact: distance after the round, and the average's move."""
    n_s, n_h, b_hs, b_hh, b_sh = budgets
    x = MODELS[:n_s]
    found = []
    for collect in averages(n_h, n_s, b_hs):
        hubs = mixed(collect, x)
        for gossip in pushes(n_h, b_hh):
            after = mixed(gossip, hubs)
            for pull in averages(n_s, n_h, b_sh):
                y = mixed(pull, after)
                found.append((distance(y), (mean(y) - mean(x)) ** 2))
    left, moved = (sum(part, Q(0)) / len(found) / distance(x) for part in zip(*found, strict=True))
    ours = get("hflbounds.hsl-exact").split(**dict(zip(BUDGETS, budgets, strict=True)))
    assert ours["consensus_distance"] == pytest.approx(float(left), rel=1e-13, abs=0)
    assert ours["mean_deviation"] == pytest.approx(float(moved), rel=1e-13, abs=0)


@pytest.mark.parametrize(("n", "b"), [(n, b) for n in (2, 3, 4) for b in range(1, n)] + [(5, 1), (5, 3), (5, 4)])
def test_push_gossip_counted_over_every_draw(n: int, b: int) -> None:
    x = MODELS[:n]
    rounds = [mixed(weights, x) for weights in pushes(n, b)]
    about = sum((sum((v - mean(x)) ** 2 for v in y) / n for y in rounds), Q(0)) / len(rounds) / distance(x)
    moved = sum(((mean(y) - mean(x)) ** 2 for y in rounds), Q(0)) / len(rounds) / distance(x)
    found = get("hflbounds.push-exact").split(n_s=n, s=b)
    assert get("devos2023.beta-local")(n_s=n, s=b) == pytest.approx(float(about), rel=1e-13, abs=0)
    assert found["mean_deviation"] == pytest.approx(float(moved), abs=1e-14)
    assert found["consensus_distance"] == pytest.approx(float(about - moved), rel=1e-13, abs=0)


def exact_overlap(n: int, b: int) -> Q:
    """By summing over the numbers of senders that reach both of two nodes, one of them, and neither."""
    to_one = Q(b, n - 1)
    both = to_one * Q(b - 1, n - 2)
    only = to_one - both
    none = 1 - both - 2 * only
    total = Q(0)
    for shared in range(n - 1):
        for i in range(n - 1 - shared):
            for j in range(n - 1 - shared - i):
                rest = n - 2 - shared - i - j
                ways = comb(n - 2, shared) * comb(n - 2 - shared, i) * comb(n - 2 - shared - i, j)
                chance = ways * both**shared * only ** (i + j) * none**rest
                for i_hears_j, j_hears_i in itertools.product((0, 1), repeat=2):
                    p = (to_one if i_hears_j else 1 - to_one) * (to_one if j_hears_i else 1 - to_one)
                    sizes = (1 + shared + i + i_hears_j) * (1 + shared + j + j_hears_i)
                    total += chance * p * Q(shared + i_hears_j + j_hears_i, sizes)
    return total


@pytest.mark.parametrize(("n", "b"), [(6, 2), (9, 4), (12, 1), (12, 10), (15, 7)])
def test_the_overlap_integral_is_the_trinomial_sum(n: int, b: int) -> None:
    assert overlap(n, b) == pytest.approx(float(exact_overlap(n, b)), rel=1e-13)


def test_graphs_of_independent_links_counted() -> None:
    """Every one of the 64 directed graphs on three nodes, with its probability."""
    p, n, x = Q(1, 3), 3, MODELS[:3]
    links = [(i, k) for i in range(n) for k in range(n) if i != k]
    left = moved = Q(0)
    for there in itertools.product((False, True), repeat=len(links)):
        heard = [[i, *(k for (j, k), on in zip(links, there, strict=True) if on and i == j)] for i in range(n)]
        y = mixed([dict.fromkeys(nodes, Q(1, len(nodes))) for nodes in heard], x)
        chance = p ** sum(there) * (1 - p) ** (len(links) - sum(there))
        left += chance * distance(y) / distance(x)
        moved += chance * (mean(y) - mean(x)) ** 2 / distance(x)
    ours = ErdosRenyi(3, 1 / 3)
    assert ours.consensus_ratio().value == pytest.approx(float(left), rel=1e-13)
    assert ours.mean_deviation().value == pytest.approx(float(moved), rel=1e-13)


# ------------------------------------------------------------------------------------ sampled
LAWS: tuple[Mixing, ...] = (
    HubSpoke(20, 4, 5, 1, 1),
    HubSpoke(30, 6, 3, 2, 3),
    HubSpoke(12, 1, 4, 0, 1),
    Push(15, 1),
    Push(15, 4),
    Pull(15, 3),
    Oracle(15, 3),
    ErdosRenyi(15, 0.2),
    FedAvg(15, 4),
    FedAvg(15),
    Torus(3, 5),
)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_samples_are_averages_and_estimates_hold_the_exact_value(law: Mixing) -> None:
    rng = np.random.default_rng(20)
    matrix = law.sample(rng)
    assert matrix.shape == (law.nodes, law.nodes)
    assert (matrix >= 0).all()
    assert matrix.sum(axis=1) == pytest.approx(np.ones(law.nodes), abs=1e-12)
    if isinstance(law, Torus):  # one fixed matrix: the number given is of the worst models, not of the mean
        return
    for ours, estimate in zip((law.consensus_ratio(), law.mean_deviation()), law.estimate(rng, 800), strict=True):
        assert ours.exact
        assert not estimate.exact
        assert estimate.draws == 800
        assert estimate.low - 1e-12 <= ours.value <= estimate.high + 1e-12


def test_a_law_without_closed_form_is_estimated() -> None:
    law = ErdosRenyi(12, 0.3, symmetric=True)
    found = law.consensus_ratio(np.random.default_rng(1), draws=800)
    again = law.consensus_ratio(np.random.default_rng(2), draws=3200)
    assert (found.draws, again.draws) == (800, 3200)
    assert found.low < again.value < found.high
    assert again.high - again.low < 0.7 * (found.high - found.low)  # half, as the root of four
    assert "S1" in found.warning
    with pytest.raises(DomainError, match="seeded numpy Generator"):
        law.mean_deviation()


def test_a_seed_gives_the_same_matrix() -> None:
    for law in LAWS:
        first, second = (law.sample(np.random.default_rng(5)) for _ in range(2))
        assert (first == second).all()


def test_random_models_see_what_the_traces_say() -> None:
    """The average over directions of one matrix is that of Gaussian models."""
    rng = np.random.default_rng(3)
    matrix = HubSpoke(12, 3, 4, 1, 2).sample(rng)
    x = rng.standard_normal((12, 40000))
    x -= x.mean(axis=0)
    y = matrix @ x
    before = (x**2).sum()
    assert ((y - y.mean(axis=0)) ** 2).sum() / before == pytest.approx(spread(matrix)[0], rel=0.02)
    assert 12 * (y.mean(axis=0) ** 2).sum() / before == pytest.approx(spread(matrix)[1], rel=0.02)


def test_warnings_say_what_not_to_rank_by() -> None:
    hsl = HubSpoke(20, 4, 5, 1, 1)
    assert "S1" in hsl.consensus_ratio().warning
    assert not hsl.mean_deviation().warning
    assert "S6" in hsl.spectral_gap(np.random.default_rng(0), draws=5).warning
    assert not Oracle(20, 3).consensus_ratio().warning  # the average stays, so the ratio says all
    assert not Torus(4, 4).spectral_gap().warning


def test_fixed_matrices_have_the_worst_models_numbers() -> None:
    torus = Torus(4, 6)
    fixed = Fixed(torus.sample(np.random.default_rng(0)))
    for ours, theirs in (
        (torus.consensus_ratio(), fixed.consensus_ratio()),
        (torus.mean_deviation(), fixed.mean_deviation()),
        (torus.spectral_gap(), fixed.spectral_gap()),
    ):
        assert theirs.value == pytest.approx(ours.value, abs=1e-12)
    assert torus.edges == fixed.edges == 4 * 24
    # one that moves the average: everybody copies node 0, whose distance can be all of the consensus distance
    copy = Fixed(np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert copy.consensus_ratio().value == 0
    assert copy.mean_deviation().value == pytest.approx(1.0)


def test_an_edge_round_is_a_mixing_operator() -> None:
    """Two servers, one client in common: eigenvalues 1, 2/3 and 0."""
    shared = edge_round([[1, 0], [1, 1], [0, 1]])
    assert shared.consensus_ratio().value == pytest.approx(4 / 9)
    assert shared.mean_deviation().value == 0
    assert gap(shared.weights) == pytest.approx(1 / 3)


# ------------------------------------------------------------------------------------ limits
def test_hubs_gossip_as_epidemic_learning_does() -> None:
    for n, b in ((5, 1), (10, 3), (20, 19)):
        assert get("sharma2025.beta-hh")(n_h=n, b_hh=b) == get("devos2023.beta-local")(n_s=n, s=b)


def test_without_hubs_the_theorem_is_that_of_epidemic_learning() -> None:
    """The factors of EL-Local and EL-Oracle, put into the theorem for any gossip."""
    nodes = {"n_s": 60, "s": 3, **PROBLEM}
    for label, kappa in (("local", 1 / 60), ("oracle", 0.0)):
        factor = get(f"devos2023.beta-{label}")(**nodes)
        gossip = {**nodes, "beta_mix": factor, "kappa": kappa * factor}
        explicit = get(f"devos2023.el-{label}").split(**nodes)
        general = get("hflbounds.gossip").split(**gossip)
        for name in ("noise", "consensus_drift"):
            assert explicit[name] == pytest.approx(general[name], rel=1e-12)
        assert general["start"] <= explicit["start"]
        order = get("hflbounds.gossip-order")(**gossip)
        assert get(f"devos2023.el-{label}-order")(**nodes) == pytest.approx(order, rel=1e-12)


def test_everybody_to_everybody_mixes_completely_and_exactly() -> None:
    for n in range(2, 121):
        assert get("devos2023.beta-local")(n_s=n, s=n - 1) == pytest.approx(0, abs=1e-16)
        assert get("devos2023.beta-oracle")(n_s=n, s=n - 1) == 0
        for law in (Push(n, n - 1), Pull(n, n - 1), Oracle(n, n - 1), ErdosRenyi(n, 1)):
            assert (law.consensus_ratio().value, law.mean_deviation().value) == (0, 0)
        full = get("hflbounds.hsl-exact").split(n_s=120, n_h=n, b_hs=7, b_hh=n - 1, b_sh=min(n, 3))
        assert full["consensus_distance"] == 0
        assert full["mean_deviation"] == pytest.approx((1 / 7 - 1 / 120) * 120 / 119 / n, rel=1e-12)


def test_nothing_is_ever_negative() -> None:
    hubs, b_hh, b_sh, b_hs = (a.ravel() for a in np.mgrid[1:13, 0:12, 1:13, 1:10:4])
    possible = (b_hh < hubs) & (b_sh <= hubs)
    budgets = {"n_s": 9, "n_h": hubs, "b_hs": b_hs, "b_hh": b_hh, "b_sh": b_sh}
    budgets = {name: np.broadcast_to(v, hubs.shape)[possible] for name, v in budgets.items()}
    exact = get("hflbounds.hsl-exact").split(**budgets)
    product = get("sharma2025.beta")(**budgets)
    sums = get("sharma2025.kappa")(**budgets)
    for value in (*exact.values(), product, sums):
        assert (value >= 0).all()
    assert (exact["consensus_distance"] <= product * (1 + 1e-12)).all()
    assert (exact["mean_deviation"] <= sums * (1 + 1e-12)).all()


def test_one_hub_is_federated_averaging() -> None:
    for drawn in (1, 7, 30):
        hub, server = HubSpoke(30, 1, drawn, 0, 1), FedAvg(30, drawn)
        assert hub.edges == server.edges
        assert hub.consensus_ratio().value == server.consensus_ratio().value == 0
        assert hub.mean_deviation().value == pytest.approx(server.mean_deviation().value, rel=1e-12)
    one = {"n_s": 30, "n_h": 1, "b_hs": 30, "b_hh": 0, "b_sh": 1}
    for label in ("beta-hh", "beta-sh", "beta", "kappa", "thm4-4", "thm4-4-order"):
        assert np.isfinite(get(f"sharma2025.{label}")(**one, **PROBLEM))
        assert get(f"sharma2025.{label}").applies(**one, **PROBLEM)


def test_silent_hubs_have_the_factor_one_and_no_theorem() -> None:
    silent = {"n_s": 30, "n_h": 3, "b_hs": 1, "b_hh": 0, "b_sh": 1}
    assert get("sharma2025.beta-hh")(**silent) == 1
    assert get("sharma2025.beta")(**silent) == 1  # and nothing is contracted, which 1/(20 L) takes for granted
    with pytest.raises(ConditionError, match="b_hh"):
        get("sharma2025.thm4-4")(**silent, **PROBLEM)
    with pytest.raises(ConditionError, match="b_hh <= n_h - 1"):
        get("sharma2025.beta")(**silent | {"b_hh": 3})


def test_heterogeneity_may_be_given_by_groups() -> None:
    budgets = {"n_s": 100, "n_h": 10, "b_hs": 15, "b_hh": 5, "b_sh": 2}
    problem = {name: value for name, value in PROBLEM.items() if name != "H"}
    for label in ("thm4-4", "thm4-4-order"):
        bound = get(f"sharma2025.{label}")
        assert bound(**budgets, **problem, zeta=3, delta=4) == bound(**budgets, **problem, H=5)


# ------------------------------------------------------------------------------------ the bounds
def test_the_audit_passes(verdicts_of: Callable[[Iterable[Bound]], list[Verdict]]) -> None:
    verdicts = verdicts_of(MINE)
    assert not [v for v in verdicts if v.failure]
    assert {v.subject for v in verdicts} >= {b.id for b in MINE}


@pytest.mark.parametrize("bound", MINE, ids=lambda b: b.id)
def test_the_audit_sees_a_wrong_number(bound: Bound) -> None:
    for name, term in bound.terms.items():
        wrong = replace(bound, terms={**bound.terms, name: mul(Q(11, 10), term)})
        assert [v for v in audit([wrong]) if v.failure], name


def test_every_line_of_the_derivation_is_as_recorded(results: Mapping[str, Result]) -> None:
    mine = [results[line.id] for line in LINES]
    assert len(mine) >= 20
    assert not [r.line.id for r in mine if not r.as_recorded]


def test_the_theorem_and_its_lemmas_hold_in_a_run() -> None:
    """Quadratics of different curvature, HSL at the theorem's step: models, gradients and the final bound."""
    budgets = {"n_s": 12, "n_h": 3, "b_hs": 4, "b_hh": 1, "b_sh": 1}
    rng = np.random.default_rng(7)
    runs, rounds, dim = 40, 150, 3
    curvature = rng.uniform(0.8, 1.0, (12, 1))  # L = 1
    centers = rng.standard_normal((12, dim))
    best = (curvature * centers).sum(axis=0) / curvature.sum()
    law = HubSpoke(**budgets)
    step, noise = 1 / 20, 0.7
    x = np.tile(best + 1.0, (runs, 12, 1))
    start = 0.5 * curvature.mean() * dim
    seen, spreads, gradients, gaps = [], [], [], []
    for _ in range(rounds):
        local = curvature * (x - centers)
        whole = (curvature.mean()) * (x - best)
        seen.append((whole**2).sum(axis=2).mean())
        gaps.append(((local - curvature.mean() * (x - best)) ** 2).sum(axis=2).mean(axis=1).max())
        spreads.append(2 * ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean())
        g = local + noise * rng.standard_normal(x.shape) / np.sqrt(dim)
        gradients.append(2 * ((g - g.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean())
        x = np.stack([law.sample(rng) @ half for half in x - step * g])
    # Heterogeneity over the region visited; at other points it is not needed.
    problem = {"L": 1.0, "A": start, "sigma": noise, "H": float(np.sqrt(max(gaps))), "T": rounds, "eta": step}
    beta = get("sharma2025.beta")(**budgets)
    assert max(spreads) <= get("sharma2025.lemma-a4")(beta_mix=beta, **problem)
    assert max(gradients) <= get("sharma2025.lemma-a4-gradients")(beta_mix=beta, **problem)
    bound = get("sharma2025.thm4-4-step")(**budgets, **problem)
    assert 0.01 * bound < np.mean(seen) <= bound


# ------------------------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: HubSpoke(10, 0, 1, 0, 1), "n_h.*Epidemic Learning"),
        (lambda: HubSpoke(10, 3, 11, 1, 1), "b_hs must be a whole number from 1 to 10, not 11; a hub averages"),
        (lambda: HubSpoke(10, 3, 2, 3, 1), "b_hh must be a whole number from 0 to 2, not 3"),
        (lambda: HubSpoke(10, 3, 2, 1, 4), "b_sh must be a whole number from 1 to 3, not 4"),
        (lambda: HubSpoke(10.5, 3, 2, 1, 1), "n_s must be a whole number at least 1, not 10.5"),  # type: ignore[arg-type]
        (lambda: Push(10, 10), "s must be a whole number from 0 to 9, not 10"),
        (lambda: Oracle(True, 0), "n must be a whole number"),
        (lambda: Pull(0, 0), "n must be a whole number at least 1"),
        (lambda: ErdosRenyi(5, 1.5), "probability is 1.5; give a number from 0 to 1"),
        (lambda: ErdosRenyi(5, float("nan")), "probability is nan"),
        (lambda: FedAvg(5, 6), "sampled must be a whole number from 1 to 5"),
        (lambda: Torus(2, 5), "rows must be a whole number at least 3, not 2; in fewer"),
        (lambda: Fixed(np.ones((2, 3))), "shape \\(2, 3\\); give a square array"),
        (lambda: Fixed(np.array([[0.5, 0.6], [0.5, 0.5]])), "row 0 .* sums to 1.1, not to 1"),
        (lambda: Fixed(np.array([[1.5, -0.5], [0.5, 0.5]])), "negative or not finite"),
        (lambda: Push(5, 1).spectral_gap(np.random.default_rng(0), draws=1), "draws must be a whole number at least 2"),
        (lambda: Push(5, 1).estimate(None), "seeded numpy Generator"),
    ],
)
def test_bad_input_names_the_thing_the_fact_and_the_way_out(make: object, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        make()  # type: ignore[operator]
