"""HHFL: the coverage's operator, the published constants, and this project's bounds, against numbers and runs."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hflbounds import get
from hflbounds.audit.checks import Verdict
from hflbounds.catalog import liu2026, own_hhfl
from hflbounds.core.bound import Bound
from hflbounds.core.functions import geometric
from hflbounds.coverage import Coverage, ring
from hflbounds.derive import Result
from hflbounds.derive.liu2026 import LINES
from hflbounds.errors import ConditionError, DomainError

BOUNDS = [b for module in (liu2026, own_hhfl) for b in vars(module).values() if isinstance(b, Bound)]
POINTS = list(csv.DictReader((Path(__file__).parents[2] / "data" / "hhfl_points.csv").read_text().splitlines()))
TWO_LEVELS = {"zeta": 0.5, "delta": 1.0}


def test_all_are_found_and_pass_the_audit(verdicts_of: Callable[[Iterable[Bound]], list[Verdict]]) -> None:
    ids = {b.id for b in BOUNDS}
    published = {"lemma1", "cor1", "lemma3", "lemma4", "cor2", "x", "z", "z-printed", "thm1", "thm1-printed"}
    published |= {"computing-time", "transmission-time", "overall-time"}
    own = {"hhfl-drift", "hhfl-any-coverage", "hhfl-spectral", "hhfl-two-level"}
    assert ids == {f"liu2026.{name}" for name in published} | {f"hflbounds.{name}" for name in own}
    verdicts = verdicts_of(BOUNDS)
    assert [v for v in verdicts if v.failure] == []
    assert {v.subject for v in verdicts} >= ids | {f"liu2026.H{n}" for n in range(1, 14)}


def test_every_line_of_the_proofs_is_as_recorded(results: Mapping[str, Result]) -> None:
    mine = [results[line.id] for line in LINES]
    assert [r.line.id for r in mine if not r.as_recorded] == []
    broken = {r.line.erratum: r.finding.witness for r in mine if r.finding.verdict == "fails"}
    assert broken.keys() == {"liu2026.H1", "liu2026.H2", "liu2026.H8"}
    assert broken["liu2026.H2"]["left"] > broken["liu2026.H2"]["right"]
    assert broken["liu2026.H8"]["squared ratio"] == pytest.approx(4.84)


# ---------------------------------------------------------------- points computed apart from this code
def scenario(point: dict[str, str]) -> dict[str, Any]:
    n = {name: float(value) for name, value in point.items()}
    beta = n["bm"] / n["mu"]
    return {
        "N": int(n["N"]),
        "M": int(n["m"]),
        "E": int(n["E"]),
        "Ge": int(n["Ge"]),
        "sigma": math.sqrt(n["sigma2"]),
        "L": n["L"],
        "mu": n["mu"],
        "Gamma": n["Gamma"],
        "H": math.sqrt(n["H2"]),
        "beta_lr": beta,
        "alpha": max(n["E"], 4 * n["L"] * beta),
        "Delta0": n["Delta0"],
        "t": n["t"],
    }


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point["point"])
def test_points_of_the_sheet(point: dict[str, str]) -> None:
    values = scenario(point)
    covered = ring(values["N"], values["M"], int(point["o"]))
    wanted = {name: pytest.approx(float(value), rel=1e-9) for name, value in point.items()}
    squared = values["H"] ** 2
    assert get("liu2026.lemma3")(**values, eta=1.0) / squared == wanted["lemma3_coef"]
    assert get("liu2026.x")(**values) == wanted["X"]
    assert get("liu2026.z-printed")(**values) == wanted["Z_printed"]
    assert get("liu2026.z")(**values) == wanted["Z"]
    assert get("liu2026.thm1")(**values) == wanted["bound"]
    assert Coverage.of(covered).lambda2 == wanted["lambda2"]
    assert get("hflbounds.hhfl-spectral")(**values, coverage=covered) == wanted["bound_topo"]
    reached = get("hflbounds.hhfl-drift")(**values, coverage=covered, eta=1.0)
    assert get("liu2026.lemma4")(**values) + 6 * values["L"] * values["Gamma"] + 2 * reached == wanted["X_topo"]
    rho = 1 + (values["Ge"] * values["E"] - 1) / values["alpha"]
    assert math.sqrt(reached / squared) / rho == wanted["c"]


def test_there_are_ten_points_and_the_worked_instance() -> None:
    assert len(POINTS) >= 10
    values = {"N": 5, "M": 10, "E": 5, "Ge": 5, "L": 1, "mu": 0.1, "sigma": 1, "beta_lr": 20, "alpha": 80, "t": 25000}
    values |= {"Gamma": 1.5 / 0.2, "H": math.sqrt(2.5), "Delta0": 40}
    for overlapping, wanted in ((0, 39.2), (3, 25.5), (10, 9.64)):
        found = get("hflbounds.hhfl-spectral")(**values, coverage=ring(5, 10, overlapping))
        assert found == pytest.approx(wanted, abs=0.05 if wanted > 10 else 0.005)


# ---------------------------------------------------------------- the operator of a coverage
def random_coverage(rng: np.random.Generator, weighted: bool = False) -> tuple[np.ndarray, np.ndarray]:
    clients, servers = int(rng.integers(2, 13)), int(rng.integers(1, 6))
    links = rng.random((clients, servers)) < rng.uniform(0.1, 0.9)
    links[np.arange(clients), rng.integers(0, servers, clients)] = True
    links = links[:, links.any(axis=0)].astype(float)
    if weighted:
        links *= rng.uniform(0.1, 1, links.shape)
        links /= links.sum(axis=1, keepdims=True)
    return links, rng.dirichlet(np.ones(clients))


def edge_round_by_loops(links: np.ndarray, p: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(9), (10) and (7) with sums over sets; ``links`` may hold weights."""
    clients, servers = links.shape
    weight = [{n: links[i, n] / sum(links[i]) for n in range(servers) if links[i, n]} for i in range(clients)]
    server = []
    for n in range(servers):
        members = [j for j in range(clients) if n in weight[j]]
        server.append(sum(p[j] * weight[j][n] * w[j] for j in members) / sum(p[j] * weight[j][n] for j in members))
    return np.array([sum(weight[i][n] * server[n] for n in weight[i]) for i in range(clients)])


@pytest.mark.parametrize("seed", range(40))
def test_the_operator_is_an_edge_round(seed: int) -> None:
    rng = np.random.default_rng(seed)
    links, p = random_coverage(rng, weighted=seed % 2 == 1)
    known = Coverage.of(links, 7 * p)  # shares up to a common factor
    columns = [edge_round_by_loops(links, p, e) for e in np.eye(len(p))]
    assert known.operator == pytest.approx(np.array(columns).T, abs=1e-14)
    assert known.operator.sum(axis=1) == pytest.approx(np.ones(len(p)), abs=1e-14)  # Lemma 2
    assert known.shares @ known.operator == pytest.approx(known.shares, abs=1e-14)
    assert known.p2 == pytest.approx(sum(p**2))
    eigenvalues = np.linalg.eigvals(known.operator)
    assert np.abs(eigenvalues.imag).max() < 1e-7
    assert known.spectrum == pytest.approx(np.sort(eigenvalues.real)[::-1], abs=1e-7)
    assert ((known.spectrum >= 0) & (known.spectrum <= 1)).all()
    assert known.spectrum.sum() == pytest.approx(np.trace(known.operator))
    scaled = np.sqrt(p)[:, None] * (known.operator - p) / np.sqrt(p)
    assert known.lambda2 == pytest.approx(np.linalg.norm(scaled, 2), abs=1e-12)  # the norm off the mean, in <.,.>_p
    assert scaled == pytest.approx(scaled.T, abs=1e-13)  # self-adjoint there


@pytest.mark.parametrize("seed", range(20))
def test_energies_add_up_and_shrink_by_the_eigenvalues(seed: int) -> None:
    rng = np.random.default_rng(seed)
    links, p = random_coverage(rng)
    known = Coverage.of(links, p)
    gradients = rng.normal(size=(len(p), 3))
    energies = known.energies(gradients)
    assert energies.sum() == pytest.approx(p @ (gradients**2).sum(axis=1))
    after = known.energies(known.operator @ gradients)
    assert after == pytest.approx(known.spectrum**2 * energies, abs=1e-12)
    centred = gradients - p @ gradients
    within, between = known.levels(gradients)
    assert within + between == pytest.approx(p @ (centred**2).sum(axis=1))


def test_levels_are_inside_and_between_servers_without_overlap() -> None:
    rng = np.random.default_rng(5)
    home = np.repeat(np.eye(3), 4, axis=0)
    p, gradients = rng.dirichlet(np.ones(12)), rng.normal(size=12)
    of_server = np.array([np.average(gradients[home[:, n] == 1], weights=p[home[:, n] == 1]) for n in range(3)])
    within, between = Coverage.of(home, p).levels(gradients)
    assert within == pytest.approx(p @ (gradients - home @ of_server) ** 2)
    assert between == pytest.approx(p @ (home @ of_server - p @ gradients) ** 2)


def test_separate_servers_and_servers_for_all_are_the_two_ends() -> None:
    rng = np.random.default_rng(1)
    for servers, clients in ((2, 1), (3, 7), (10, 30), (40, 3)):
        p = rng.dirichlet(np.ones(servers * clients))
        assert Coverage.of(ring(servers, clients, 0), p).lambda2 == 1.0  # HFL
        assert Coverage.of(np.ones((servers * clients, servers)), p).lambda2 == 0.0
    assert Coverage.of(np.ones((5, 1))).lambda2 == 0.0  # one server
    assert Coverage.of([[1, 1]]).lambda2 == 0.0  # one client
    pairs = np.kron(np.eye(2), np.ones((3, 2)))  # two connected halves
    assert (Coverage.of(pairs).spectrum == [1, 1, 0, 0, 0, 0]).all()
    nearly = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    for bridge in (1e-3, 1e-9, 1e-300):
        p = np.array([(1 - bridge) / 2, (1 - bridge) / 2, bridge])
        assert Coverage.of(nearly, p).lambda2 == pytest.approx(1 - bridge, abs=1e-15)  # 1 - q/(4 * 1/2 * 1/2)
    assert Coverage.of(nearly, [1, 1, 0]).lambda2 == 1.0  # a bridge without a share carries nothing


def test_the_layout_of_the_paper() -> None:
    alone, pairs = np.repeat(np.eye(3), 14, axis=0), np.repeat(1 - np.eye(3), 4, axis=0)
    links = np.concatenate([alone, pairs, np.ones((3, 3))])
    known = Coverage.of(links)
    assert links.shape == (57, 3)
    assert (links.sum(axis=0) == 25).all()
    assert (links.sum(axis=1) > 1).sum() == 15
    assert known.resources == pytest.approx(75 / 57, rel=1e-14)
    assert known.lambda2 == pytest.approx(45 / 57, rel=1e-14)
    c = 4 + 5 * sum((45 / 57) ** k for k in range(1, 5))
    assert c == pytest.approx(15.47, abs=5e-3)
    assert (24 / c) ** 2 == pytest.approx(2.41, abs=5e-3)
    drift = get("hflbounds.hhfl-drift")
    values = {"E": 5, "Ge": 5, "H": 1, "eta": 1, "alpha": 60}
    ratio = drift(**values, coverage=ring(3, 19, 0)) / drift(**values, coverage=links)
    assert ratio == pytest.approx((24 / c) ** 2, rel=1e-12)


@pytest.mark.parametrize("seed", range(200))
def test_where_more_overlap_never_hurts(seed: int) -> None:
    """Two servers, or clients under one server or all: widening one client's coverage does not raise lambda2."""
    rng = np.random.default_rng(seed)
    servers = 2 if seed % 2 else int(rng.integers(2, 6))
    clients = int(rng.integers(servers, 12))
    links = np.eye(servers)[np.r_[np.arange(servers), rng.integers(0, servers, clients - servers)]]
    links[rng.random(clients) < 0.4] = 1
    links[:servers] = np.eye(servers)
    p = rng.dirichlet(np.ones(clients))
    before = Coverage.of(links, p).lambda2
    links[int(rng.choice(np.flatnonzero(links.sum(axis=1) == 1)))] = 1
    after = Coverage.of(links, p).lambda2
    assert after <= before + 1e-12
    assert after < 1  # some client links all servers


def test_one_more_link_can_hurt() -> None:
    """The counterexample to monotonicity link by link, and the drift it really causes."""
    before = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 1, 0]])
    after = before + np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]])
    p = np.array([0.4485, 0.0298, 0.4384, 0.0833])
    values = [Coverage.of(links, p).lambda2 for links in (before, after)]
    assert values == pytest.approx([0.351, 0.480], abs=1e-3)
    worst = [worst_drift(links, p, 5, 5) for links in (before, after)]
    bounds = [(4 + 5 * sum(v**k for k in range(1, 5))) ** 2 for v in values]
    assert bounds == pytest.approx([44.4, 70.1], abs=0.1)
    assert worst[1] == pytest.approx(bounds[1], rel=1e-9)
    assert worst[0] <= bounds[0]


def worst_drift(links: np.ndarray, p: np.ndarray, local: int, edge: int) -> float:
    """Peak drift over the squared step, of gradients that stay the second eigenvector all along."""
    vectors = np.linalg.eig(Coverage.of(links, p).operator)
    slow = vectors.eigenvectors[:, np.argsort(vectors.eigenvalues.real)[-2]].real
    slow = slow / math.sqrt(p @ slow**2)
    w, peak = np.zeros(len(p)), 0.0
    for t in range(1, local * edge):
        w = w - slow
        if t % local == 0:
            w = edge_round_by_loops(links.astype(float), p, w)
        peak = max(peak, p @ (w - p @ w) ** 2)
    return float(peak)


@pytest.mark.parametrize("seed", range(10))
def test_the_drift_bound_is_reached(seed: int) -> None:
    rng = np.random.default_rng(seed)
    links, p = random_coverage(rng)
    if min(links.shape) < 2 or Coverage.of(links, p).lambda2 < 1e-6:
        links, p = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), rng.dirichlet(np.ones(3))
    local, edge = int(rng.integers(1, 6)), int(rng.integers(2, 6))
    bound = get("hflbounds.hhfl-drift")(
        E=local, Ge=edge, H=1, eta=1, alpha=1e15, coverage=links, weights=p
    )  # so large an offset makes a constant step
    assert worst_drift(links, p, local, edge) == pytest.approx(bound, rel=1e-9)


# ---------------------------------------------------------------- runs of the algorithm
def moments_of_a_run(seed: int) -> dict[str, Any]:
    """Quadratic clients with noise: mean and covariance of all models at every step, so every expectation is exact."""
    rng = np.random.default_rng(seed)
    links, p = random_coverage(rng)
    clients = len(p)
    local, edge, rounds = (int(rng.integers(1, 7)) for _ in range(3))
    curvature, optima = rng.uniform(0.3, 2.0, clients), rng.normal(0, 2, clients)
    if seed % 3 == 0:  # data that differ between servers only
        optima = links @ rng.normal(0, 2, links.shape[1]) / links.sum(axis=1)
    sigma = float(rng.choice([0.0, 1.0, 4.0]))
    mu, L = float(curvature.min()), float(curvature.max())
    beta = float(rng.uniform(1.1, 3)) / mu
    alpha = float(rng.uniform(1, 2)) * max(local, 4 * L * beta)
    optimum = p @ (curvature * optima) / (p @ curvature)
    start = float(optimum + rng.normal())
    edge_round = np.array([edge_round_by_loops(links, p, e) for e in np.eye(clients)]).T
    cloud_round, nothing = np.outer(np.ones(clients), p), np.eye(clients)
    off_mean = nothing - cloud_round
    known = Coverage.of(links, p)
    modes = np.linalg.svd(np.sqrt(p)[:, None] * known.weights / np.sqrt(known.loads))[0]
    passed_on = np.flatnonzero(known.spectrum > 0)[1:]
    project = (modes[:, passed_on] @ modes[:, passed_on].T) * np.sqrt(p) / np.sqrt(p)[:, None]
    mean, covariance = np.full(clients, start), np.zeros((clients, clients))

    def energy(matrix: np.ndarray, m: np.ndarray, c: np.ndarray) -> float:
        return float(p @ ((matrix @ m) ** 2 + np.diag(matrix @ c @ matrix.T)))

    steps: list[dict[str, float]] = []
    for t in range(rounds * local * edge + 1):
        gradient, spread = curvature * (mean - optima), np.outer(curvature, curvature) * covariance
        noisy = spread + sigma**2 * nothing
        steps.append(
            {
                "t": t,
                "eta": beta / (t + alpha),
                "drift": energy(off_mean, mean, covariance),
                "gap": float(p @ curvature / 2 * ((p @ mean - optimum) ** 2 + p @ covariance @ p)),
                "H_off": energy(off_mean, gradient, noisy),
                "H": float((gradient**2 + np.diag(noisy)).max()),
                "inter": energy(project, gradient, spread),
                "intra": energy(off_mean - project, gradient, spread),
            }
        )
        after = cloud_round if (t + 1) % (local * edge) == 0 else edge_round if (t + 1) % local == 0 else nothing
        eta = beta / (t + alpha)
        step = after * (1 - eta * curvature)
        mean = step @ mean + after @ (eta * curvature * optima)
        covariance = step @ covariance @ step.T + eta**2 * sigma**2 * after @ after.T
    return {
        "steps": steps,
        "coverage": links,
        "weights": p,
        "E": local,
        "Ge": edge,
        "sigma": sigma,
        "mu": mu,
        "L": L,
        "beta_lr": beta,
        "alpha": alpha,
        "Delta0": (start - optimum) ** 2,
        "Gamma": float(p @ (curvature / 2 * (optimum - optima) ** 2)),
    }


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(i, marks=pytest.mark.slow) for i in range(8, 80))])
def test_no_run_exceeds_a_bound(seed: int) -> None:
    values = moments_of_a_run(seed)
    steps = values.pop("steps")
    most = {name: max(step[name] for step in steps) for name in steps[0]}
    off_mean, norm = math.sqrt(most["H_off"]), math.sqrt(most["H"])
    two = {**values, "zeta": math.sqrt(most["intra"]), "delta": math.sqrt(most["inter"])}
    numbers = {**two, "lambda2": Coverage.of(values["coverage"], values["weights"]).lambda2}
    two_levels = (own_hhfl.rho * (own_hhfl.gaps + own_hhfl.noise)).value(numbers) ** 2
    slack = 1 + 1e-9
    for step in steps:
        at = {"t": step["t"]}
        drift = get("hflbounds.hhfl-drift")(**values, eta=step["eta"], H=off_mean)
        assert step["drift"] <= drift * slack + 1e-15
        assert step["drift"] <= step["eta"] ** 2 * two_levels * slack + 1e-15
        assert step["drift"] <= get("liu2026.lemma3")(**values, eta=step["eta"], H=norm) * slack + 1e-15
        spectral = get("hflbounds.hhfl-spectral")(**values, **at, H=off_mean)
        assert step["gap"] <= spectral * slack
        assert step["gap"] <= get("hflbounds.hhfl-two-level")(**two, **at) * slack
        assert spectral <= get("hflbounds.hhfl-any-coverage")(**values, **at, H=off_mean) * slack
        assert (
            get("hflbounds.hhfl-any-coverage")(**values, **at, H=norm)
            <= get("liu2026.thm1")(**values, **at, H=norm) * slack
        )


def test_the_runs_reach_a_good_part_of_the_drift_bound() -> None:
    """So that the comparison above is with numbers of the same size: nothing is proved by a huge bound."""
    reached = []
    for seed in range(40):
        values = moments_of_a_run(seed)
        steps = values.pop("steps")
        off_mean = math.sqrt(max(step["H_off"] for step in steps))
        bound = get("hflbounds.hhfl-drift")
        reached += [max(s["drift"] / (bound(**values, eta=s["eta"], H=off_mean) or math.inf) for s in steps)]
    assert max(reached) > 0.5
    assert float(np.median(reached)) > 0.02


# ---------------------------------------------------------------- identities, range and bad input
SCENARIO: dict[str, Any] = {
    **{"N": 3, "M": 10, "E": 5, "Ge": 5, "L": 1, "mu": 0.1, "sigma": 1, "Gamma": 0.2, "H": 2},
    **{"beta_lr": 20, "alpha": 80, "Delta0": 1, "t": 1000},
}


def test_no_overlap_is_any_coverage_and_one_edge_round_is_fedavg() -> None:
    spectral, anywhere = get("hflbounds.hhfl-spectral"), get("hflbounds.hhfl-any-coverage")
    assert spectral(**SCENARIO, lambda2=1) == pytest.approx(anywhere(**SCENARIO), rel=1e-14)
    assert spectral(**SCENARIO, coverage=ring(3, 10, 0)) == pytest.approx(anywhere(**SCENARIO), rel=1e-14)
    one = {**SCENARIO, "Ge": 1}  # then edge rounds are cloud rounds, and the coverage does not matter
    assert spectral(**one, lambda2=1) == pytest.approx(spectral(**one, lambda2=0.3), rel=1e-14)
    drift = get("liu2026.x").split(**one)["drift"]
    assert drift == pytest.approx(8 * (5 - 1) ** 2 * 2**2)  # of FedAvg's analysis: 8 (E - 1)^2 H^2
    everything = spectral(**SCENARIO, coverage=np.ones((30, 3)))
    assert everything == pytest.approx(spectral(**SCENARIO, lambda2=0), rel=1e-14)


def test_shares_replace_equal_clients_everywhere() -> None:
    p = np.arange(1, 31) / 10
    known = Coverage.of(ring(3, 10, 5), p)
    for bound in BOUNDS:
        values = {**SCENARIO, "eta": 0.01, **TWO_LEVELS, "Delta_t": 1, "V_t": 1, "CD": 1, "T": 100}
        values |= {"cycles": 20, "hertz": 1e9, "bits": 1e6, "T_CES": 1, "T_ECS": 1}
        by_arrays = bound(**values, coverage=ring(3, 10, 5), weights=p)
        by_numbers = bound(**values, lambda2=known.lambda2, p2=known.p2)
        assert by_arrays == pytest.approx(by_numbers, rel=1e-14)
    assert get("liu2026.lemma4")(sigma=1, weights=p) == pytest.approx(known.p2)
    assert get("liu2026.lemma4")(sigma=1, N=3, M=10) == pytest.approx(1 / 30)


def test_noise_adds_up_in_squares_on_two_levels() -> None:
    """Without heterogeneity the drift is that of independent sums, and without noise that of the spectrum."""
    bound, values = get("hflbounds.hhfl-two-level"), {**SCENARIO, "Gamma": 0, "Delta0": 0, "Ge": 3, "E": 4}
    rho = 1 + 11 / 80
    scale = 20**2 / 1 / (2 * 1080)
    noise = 3 + 4 * (0.5**2 + 0.5**4)
    alone = bound(**values, zeta=0, delta=0, lambda2=0.5)
    assert alone == pytest.approx(scale * (1 / 30 + 2 * rho**2 * noise), rel=1e-13)
    without = bound(**{**values, "sigma": 0}, zeta=0.5, delta=1.5, lambda2=0.5)
    gaps = 3**2 * 0.5**2 + (3 + 4 * (0.5 + 0.25)) ** 2 * 1.5**2
    assert without == pytest.approx(scale * 2 * rho**2 * gaps, rel=1e-13)


def test_values_beyond_float64_are_refused_and_have_logarithms() -> None:
    mpmath.mp.dps = 30
    values = {**SCENARIO, "Ge": 600}
    longest = (600 * 5 - 1) + 25 * 599
    coefficient = mpmath.mpf(4) ** 600 * (600 * 5 + 600 - 2) * longest * 4
    x = mpmath.mpf(1) / 30 + mpmath.mpf("1.2") + 2 * coefficient
    wanted = {
        "lemma3": coefficient / 100,
        "x": x,
        "z": 400 * x,
        "z-printed": 400 * x / 3,
        "thm1": 200 * x / 1080,
        "thm1-printed": 200 * x / 3 / 1080,
    }
    for name, value in wanted.items():
        bound = get(f"liu2026.{name}")
        with pytest.raises(ConditionError, match=r"\.log10"):
            bound(**values, eta=0.1)
        with pytest.raises(ConditionError, match=r"\.log10"):
            bound(**{**values, "H": np.array([2.0, 3.0])}, eta=0.1)
        assert bound.log10(**values, eta=0.1) == pytest.approx(float(mpmath.log10(value)), rel=1e-12)
        small = {**SCENARIO, "eta": 0.1}
        assert 10 ** bound.log10(**small) == pytest.approx(bound(**small), rel=1e-12)
    ours = 200 * (1 / 30 + 1.2 + 2 * (1 + 2999 / 80) ** 2 * 2999**2 * 4) / 1080  # no power of G stands here
    assert get("hflbounds.hhfl-any-coverage")(**values) == pytest.approx(ours, rel=1e-12)


def test_the_conditions_are_those_of_the_theorem() -> None:
    bound = get("liu2026.thm1")
    for change, told in (
        ({"beta_lr": 10}, "beta_lr"),
        ({"alpha": 79}, "alpha >= 4"),
        ({"alpha": 81, "E": 82}, "alpha >= E"),
    ):
        with pytest.raises(ConditionError, match=told):
            bound(**{**SCENARIO, **change})
    with pytest.raises(DomainError, match="mu"):
        bound(**{**SCENARIO, "mu": 2, "alpha": 200})
    assert get("hflbounds.hhfl-any-coverage").applies(**{**SCENARIO, "alpha": 81, "E": 82})


@given(x=st.floats(0, 1), n=st.integers(0, 400))
@settings(deadline=None, max_examples=150)
def test_geometric_sums_are_right_to_rounding(x: float, n: int) -> None:
    mpmath.mp.dps = 40
    wanted = mpmath.fsum(mpmath.mpf(x) ** k for k in range(1, n + 1))
    assert geometric(x, n) == pytest.approx(float(wanted), rel=1e-14, abs=1e-300)


@pytest.mark.parametrize("x", [1.0, 1 - 2**-53, 1 - 1e-12, 1 - 1e-9, 1 - 1e-6, 0.5, 0.5 - 2**-54, 1e-200, 5e-324, 0.0])
def test_geometric_sums_near_their_ends(x: float) -> None:
    mpmath.mp.dps = 60
    for n in (1, 2, 7, 1000):
        wanted = mpmath.fsum(mpmath.mpf(x) ** k for k in range(1, n + 1))
        assert geometric(x, n) == pytest.approx(float(wanted), rel=5e-15, abs=5e-324)


def test_a_sweep_is_as_good_as_single_calls() -> None:
    rng = np.random.default_rng(3)
    sweep = {"lambda2": rng.random(50), "Ge": rng.integers(1, 9, 50).astype(float), "t": rng.integers(1, 1e6, 50)}
    for bound in (get(f"hflbounds.hhfl-{name}") for name in ("drift", "any-coverage", "spectral", "two-level")):
        values = {**SCENARIO, **TWO_LEVELS, "eta": 0.1}
        together = np.broadcast_to(bound(**{**values, **sweep}), 50)
        alone = [bound(**{**values, **{name: float(v[i]) for name, v in sweep.items()}}) for i in range(50)]
        assert together == pytest.approx(np.array(alone), rel=1e-13)
    with pytest.raises(DomainError, match="lambda2"):
        get("hflbounds.hhfl-spectral")(**SCENARIO, lambda2=np.array([0.5, 1.5]))


GOOD = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
BAD_COVERAGES: list[tuple[Any, str]] = [
    ([[1, 0], [0, 0], [0, 1]], r"row 1 \(from 0\): the client is attached to no server"),
    ([[1, 0, 1], [1, 0, 0]], r"column 1 \(from 0\): the server has no client"),
    ([1, 0, 1], r"shape \(3,\)"),
    (np.ones((2, 2, 2)), r"shape \(2, 2, 2\)"),
    (np.ones((0, 3)), "at least one client"),
    ([[1, -1], [0, 1]], "row 0, column 1"),
    ([[1, 0], [np.nan, 1]], "row 1, column 0"),
    ([[1, 0], [np.inf, 1]], "row 1, column 0"),
    ([[0.5, 0.4], [0, 1]], "row 0.*sum to 0.9"),
    ([[2, 0], [0, 1]], "row 0.*sum to 2"),
    ([[1, 0], [1]], "different lengths"),
    ([["a", "b"]], "numbers"),
]
BAD_WEIGHTS: list[tuple[Any, str]] = [
    ([1, 1], r"shape \(2,\); give 3 numbers"),
    ([[1, 1, 1]], r"shape \(1, 3\)"),
    ([0, 0, 0], "sum to 0"),
    ([1, -1, 1], "row 1"),
    ([1, np.nan, 1], "row 1"),
    ([1, 1, np.inf], "row 2"),
    (["a", "b", "c"], "numbers"),
]


@pytest.mark.parametrize(("coverage", "told"), BAD_COVERAGES)
def test_what_is_no_coverage_is_refused_with_its_place(coverage: Any, told: str) -> None:
    with pytest.raises(DomainError, match=told):
        Coverage.of(coverage)
    with pytest.raises(DomainError, match=told):
        get("hflbounds.hhfl-spectral")(**SCENARIO, coverage=coverage)


@pytest.mark.parametrize(("weights", "told"), BAD_WEIGHTS)
def test_what_are_no_shares_is_refused_with_its_place(weights: Any, told: str) -> None:
    with pytest.raises(DomainError, match=told):
        Coverage.of(GOOD, weights)
    with pytest.raises(DomainError, match=told):
        get("hflbounds.hhfl-spectral")(**SCENARIO, coverage=GOOD, weights=weights)


def test_more_bad_input() -> None:
    with pytest.raises(DomainError, match=r"column 1 .*only clients of weight 0"):
        Coverage.of([[1, 0], [0, 1]], [1, 0])
    with pytest.raises(DomainError, match="cannot overlap"):
        ring(3, 10, 11)
    for bad in ([1, 2], np.ones((3, 2, 2)), np.ones((4, 2))):
        with pytest.raises(DomainError, match="one row for each of 3"):
            Coverage.of(GOOD).energies(bad)
        with pytest.raises(DomainError, match="one row for each of 3"):
            Coverage.of(GOOD).levels(bad)
    with pytest.raises(DomainError, match="gradients, row 1"):
        Coverage.of(GOOD).energies([1, np.nan, 0])
    with pytest.raises(DomainError, match=r"lambda2 = 0\.5 is given"):
        get("hflbounds.hhfl-spectral")(**SCENARIO, coverage=GOOD, lambda2=0.5)
    with pytest.raises(DomainError, match="one number for each client"):
        get("liu2026.lemma4")(sigma=1, weights=3)
    with pytest.raises(TypeError, match="lambda2"):
        get("hflbounds.hhfl-spectral")(**SCENARIO)


def test_noise_that_differs_between_clients_is_the_sum_that_is_printed() -> None:
    """Lemma 4 prints the sum of p_i^2 sigma_i^2, and X of Corollary 2 and Theorem 1 have it."""
    shares, sigmas = np.array([0.2, 0.3, 0.5]), np.array([3.0, 0.0, 1.0])
    printed = 0.2**2 * 9 + 0.5**2 * 1
    assert get("liu2026.lemma4")(sigmas=sigmas, weights=shares) == pytest.approx(printed, rel=1e-14)
    run = {"E": 3, "Ge": 2, "L": 1.0, "Gamma": 0.5, "H": 0.25}
    given = {"sigmas": sigmas, "weights": shares}
    assert get("liu2026.x").split(**run, **given)["noise"] == pytest.approx(printed, rel=1e-14)
    more = {"mu": 0.5, "beta_lr": 5.0, "alpha": 25.0, "t": 100, "Delta0": 1.0, "lambda2": 0.5}
    one = {"sigma": math.sqrt(printed / 0.38), "p2": 0.38}
    for name in ("liu2026.thm1", "hflbounds.hhfl-spectral", "hflbounds.hhfl-any-coverage"):
        assert get(name)(**run, **more, **given) == pytest.approx(get(name)(**run, **more, **one), rel=1e-14)
    # Between the clients noise counts by p_i and not by p_i^2, so there the largest is taken.
    levels = get("hflbounds.hhfl-two-level")
    largest = levels(**run, **more, **TWO_LEVELS, sigma=3.0, p2=0.38)
    assert levels(**run, **more, **TWO_LEVELS, **given) == pytest.approx(largest, rel=1e-14)
    assert get("liu2026.lemma4")(sigmas=[2.0, 2.0]) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sigmas": [1.0, -1.0]}, r"sigmas, row 1 .*: -1 is no standard deviation"),
        ({"sigmas": [1.0, 2.0], "weights": [1, 1, 1]}, r"sigmas have the shape \(2,\); give one number for each of 3"),
        ({"sigmas": [[1.0, 2.0]]}, r"sigmas have the shape \(1, 2\); give one number for each of 2"),
        ({"sigmas": [1.0, 2.0], "sigma": 1.0}, r"sigma = 1.0 is given, and 1.58114 follows"),
        ({"sigmas": [1.0, float("nan")]}, r"sigmas, row 1 .* is no finite number"),
    ],
)
def test_noise_that_is_none_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DomainError, match=said):
        get("liu2026.lemma4")(**given)


def test_lemma_1_on_quadratics_in_two_dimensions() -> None:
    """(22) and (23) against one local step of three clients with exact noise; Lemma 2 is what (23) adds."""
    rng = np.random.default_rng(5)
    largest = 0.0
    for _ in range(400):
        p = rng.dirichlet(np.ones(3))
        bent = [rng.uniform(0.2, 2.0, 2) for _ in range(3)]
        optima, w = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)) * rng.choice([0.1, 1.0, 5.0])
        mu, smooth = min(h.min() for h in bent), max(h.max() for h in bent)
        eta = rng.uniform(0.05, 1.0) / (4 * smooth)
        best = sum(q * h * o for q, h, o in zip(p, bent, optima, strict=True)) / sum(
            q * h for q, h in zip(p, bent, strict=True)
        )
        apart = sum(q * (h * (best - o) ** 2).sum() / 2 for q, h, o in zip(p, bent, optima, strict=True))
        centre = p @ w
        slope = sum(q * h * (x - o) for q, h, x, o in zip(p, bent, w, optima, strict=True))
        noise = rng.uniform(0, 2)
        after = ((centre - eta * slope - best) ** 2).sum() + eta**2 * noise
        values = {"eta": eta, "mu": mu, "L": smooth, "Gamma": apart, "V_t": noise}
        values |= {"Delta_t": ((centre - best) ** 2).sum(), "CD": float(p @ ((w - centre) ** 2).sum(axis=1))}
        bounds = [get(f"liu2026.{name}")(**values) for name in ("lemma1", "cor1")]
        assert bounds[0] == bounds[1]
        assert after <= bounds[0] * (1 + 1e-12)
        largest = max(largest, after / bounds[0])
    assert largest > 0.5
    with pytest.raises(ConditionError, match="eta"):
        get("liu2026.lemma1")(**values | {"eta": 0.26 / smooth})


def test_corollary_2_is_what_theorem_1_iterates() -> None:
    """From Delta_0, T steps of (26) at beta/(t + alpha) stay below Z/(t + alpha)."""
    run: dict[str, float] = {"E": 3, "Ge": 2, "L": 1.0, "Gamma": 0.5, "H": 0.25, "sigma": 1.0, "p2": 0.1, "mu": 0.5}
    schedule = {"beta_lr": 5.0, "alpha": 25.0, "Delta0": 1.0}
    constant, distance = get("liu2026.z")(**run, **schedule), 1.0
    for t in range(2_000):
        assert distance <= constant / (t + 25.0) * (1 + 1e-12)
        distance = get("liu2026.cor2")(**run, eta=5.0 / (t + 25.0), Delta_t=distance)
    assert distance > 0.5 * constant / 2_025.0


def test_times_count_rounds_that_are_begun() -> None:
    times = {"cycles": 20, "hertz": 1e9, "bits": 1e6, "T_CES": 10.0, "T_ECS": 1000.0, "E": 5, "Ge": 3}
    for steps, edge, cloud in ((1, 1, 1), (5, 1, 1), (6, 2, 1), (15, 3, 1), (16, 4, 2), (150, 30, 10)):
        parts = get("liu2026.overall-time").split(**times, T=steps)
        assert list(parts.values()) == pytest.approx([0.02 * steps, 10.0 * edge, 1000.0 * cloud], rel=1e-14)
        both = [get(f"liu2026.{name}-time")(**times, T=steps) for name in ("computing", "transmission")]
        assert sum(both) == pytest.approx(get("liu2026.overall-time")(**times, T=steps), rel=1e-14)
