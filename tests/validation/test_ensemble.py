"""Ensembles of problems: constants by a dense evaluation, steps by the literal algorithm; and surrogates."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from hflbounds.topology import two_tier
from hflbounds.topology.tree import Order
from planner.errors import NoAnswerError
from planner.predict.predictors import surrogate, typical, watched
from planner.predict.question import Question, ask
from planner.scenario.resolve import load
from validation.ensemble import FAMILIES, Ensemble, _drawn, ensemble, rounds_to, squared_gradients, squared_gradients_of
from validation.reference import TOPOLOGIES, Settings, global_round

Array = npt.NDArray[np.float64]
BEND: dict[str, Any] = {
    "quadratic": lambda u: 0.0 * u,
    "log-cosh": lambda u: 1 - 2 / (np.exp(np.minimum(2 * u, 500)) + 1),
    "cosine": lambda u: np.sin(u),
    "pseudo-huber": lambda u: np.sign(u) / np.sqrt(1 + 1 / np.maximum(u * u, 1e-300)),
}
POINTS = np.linspace(-14, 14, 2801)  # 25 times as fine as the grid of the module, and wider


def gradients(made: Ensemble, x: Array) -> Array:
    """Of every client, coordinate by coordinate, at points of shape (points, problems, 1, 1, dim)."""
    h, a = (part.astype(float)[:, None, None] for part in (made.h, made.a))
    return np.asarray(h * x + a * BEND[made.family](x - made.p) + made.v)


def suprema(made: Ensemble) -> tuple[Array, Array, Array]:
    """The largest second derivative of any client, zeta and delta, of each problem."""
    at = gradients(made, POINTS[:, None, None, None, None])
    steepest = np.diff(at, axis=0).max((0, 2, 3, 4)) / (POINTS[1] - POINTS[0])
    groups = at.mean(3, keepdims=True)
    within = ((at - groups) ** 2).mean((2, 3)).max(0).sum(1)
    between = ((groups - groups.mean(2, keepdims=True)) ** 2).mean((2, 3)).max(0).sum(1)
    return steepest, np.sqrt(within), np.sqrt(between)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("zeta", "delta"), [(0.7, 0.4), (0.0, 1.5), (2.0, 0.0), (0.0, 0.0), (0.05, 5.0)])
def test_problems_have_the_constants_they_are_made_with(family: Any, zeta: float, delta: float) -> None:
    made = ensemble(family, G=3, M=4, L=2.5, A=1.7, zeta=zeta, delta=delta, problems=5, seed=4)
    L, within, between = suprema(made)
    np.testing.assert_allclose(L, 2.5, rtol=1e-3)
    for found, wanted in ((within, zeta), (between, delta)):
        if wanted == 0:
            assert (found < 1e-6).all()  # single precision
        else:
            assert (found > wanted * (1 - 1e-5)).all()
            assert (found < wanted * 1.01).all()  # suprema are taken on a grid
    assert made.sigma == 1.0
    assert (made.h.max(1) + made.a.max(1) == pytest.approx(2.5)) and (made.h > 0).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_start_is_as_high_above_the_minimum_as_the_gap(family: Any) -> None:
    """The minimum by bisecting the slope, the height by integrating it along a straight line."""
    made = ensemble(family, G=3, M=2, L=0.5, A=3.0, zeta=0.5, delta=0.8, flattest=0.01, tail=1.0, problems=6, seed=1)

    def slope(x: Array) -> Array:
        return np.asarray(gradients(made, x[..., None, None, :]).mean((-3, -2)))

    low, high = np.full(made.x0.shape, -1e4), np.full(made.x0.shape, 1e4)
    for _ in range(80):
        middle = (low + high) / 2
        rising = slope(middle) > 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    way = made.x0 - low
    along = (np.arange(4000)[:, None, None] + 0.5) / 4000
    height = (slope(low + along * way).mean(0) * way).sum(1)
    np.testing.assert_allclose(height, 3.0, rtol=1e-4)
    np.testing.assert_allclose(made.mean_gradient(made.x0), slope(made.x0.astype(float)), atol=1e-5)


def test_the_start_is_farther_out_where_it_is_flatter() -> None:
    """Squared distances go as the curvature to the minus ``tail``: a slope in logarithms."""
    for tail in (0.0, 1.5):
        made = ensemble("quadratic", G=1, M=1, flattest=0.003, tail=tail, problems=3000, seed=0)
        ratio = np.log(made.x0[:, 1:].astype(float) ** 2 / made.x0[:, :1] ** 2).ravel()
        steep = np.log(made.h[:, 1:].astype(float)).ravel()
        assert np.polyfit(steep, ratio, 1)[0] == pytest.approx(-tail, abs=0.06)  # four standard errors


# --- steps --------------------------------------------------------------------------------------------------------


def literal(made: Ensemble, plan: Settings, rate: float, rounds: int, problem: int, orders: Any = None) -> list[float]:
    """Squared gradients by Algorithms 1-4, in double precision and without noise."""
    top, low = plan.topology.split("-")
    S1, S2 = plan.S1 or plan.G, plan.S2 or plan.M
    chain = plan.P * plan.K * (S1 if top == "ring" else 1) * (S2 if low == "ring" else 1)
    h, a, p, v = (part[problem].astype(float) for part in (made.h, made.a, made.p, made.v))

    def gradient(g: int, turn: int, m: int, k: int, x: Array) -> Array:
        return np.asarray(h * x + a * BEND[made.family](x - p[g, m]) + v[g, m])

    x, found = made.x0[problem].astype(float), []
    for r in range(rounds + 1):
        mean = np.mean([gradient(g, 0, m, 0, x) for g in range(plan.G) for m in range(plan.M)], 0)
        found.append(float(mean @ mean))
        groups, clients = orders(r) if orders else (None, None)
        x = global_round(x, plan, rate / chain, gradient, group_order=groups, client_order=clients)
    return found


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("family", FAMILIES)
def test_runs_take_the_steps_of_the_literal_algorithm(topology: Any, family: Any) -> None:
    G, M = (3, 2) if family in ("quadratic", "cosine") else (2, 3)
    made = ensemble(family, G=G, M=M, sigma=0.0, zeta=0.6, delta=0.9, problems=2, seed=3)
    rates = np.array([0.2, 1.1])
    found = squared_gradients(made, two_tier(topology, G=G, M=M, P=2), rates, 4, K=2)
    assert found.shape == (5, 2, 2)
    for j, problem in np.ndindex(2, 2):
        wanted = literal(made, Settings(topology, G, M, 2, 2), rates[j], 4, problem)
        np.testing.assert_allclose(found[:, j, problem], wanted, rtol=2e-4)


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize(("S1", "S2"), [(3, 3), (2, 3), (3, 1), (2, 2)])
def test_whoever_is_drawn_runs_in_the_order_drawn(topology: Any, S1: int, S2: int) -> None:
    """The same orders in the literal algorithm; clients keep theirs through the group rounds of a round."""
    G = M = 3
    made = ensemble("log-cosh", G=G, M=M, sigma=0.0, zeta=0.6, delta=0.9, problems=2, seed=3)
    tree = two_tier(topology, G=G, M=M, P=2, S1=S1, S2=S2, order="random")
    found = squared_gradients(made, tree, np.array([0.7]), 3, K=1, seed=9)

    def orders(problem: int) -> Any:
        def of_round(r: int) -> tuple[list[int], Any]:
            who = _drawn(np.random.default_rng([9, 2, r]), 2, tree)[problem].reshape(S1, S2)
            groups = [int(g) for g in who[:, 0] // M]
            clients = {g: [int(c) for c in row % M] for g, row in zip(groups, who, strict=True)}
            missing = [g for g in range(G) if g not in groups]
            return groups + missing, lambda g, p: clients[g] + [m for m in range(M) if m not in clients[g]]

        return of_round

    for problem in range(2):
        wanted = literal(made, Settings(topology, G, M, 2, 1, S1, S2), 0.7, 3, problem, orders(problem))
        np.testing.assert_allclose(found[:, 0, problem], wanted, rtol=2e-4)


def test_draws_are_without_repetition_and_everyone_is_as_likely_at_every_place() -> None:
    problems, G, M, S1, S2 = 6000, 4, 3, 3, 2
    tree = two_tier("star-star", G=G, M=M, S1=S1, S2=S2)
    who = _drawn(np.random.default_rng(0), problems, tree).reshape(problems, S1, S2)
    groups = who // M
    assert (groups == groups[:, :, :1]).all()  # the clients of a block are of one group
    assert all(len(set(row)) == S1 for row in groups[:, :, 0])
    assert all(len(set(row)) == S1 * S2 for row in who.reshape(problems, -1))
    for i, j in np.ndindex(S1, S2):
        counts = np.bincount(who[:, i, j], minlength=G * M)
        assert np.abs(counts / problems - 1 / (G * M)).max() < 5 * math.sqrt(1 / (G * M) / problems)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_noise_has_the_deviation_that_was_asked_for(topology: Any) -> None:
    """After one round of four clients on quadratics: a mean of draws in stars, a geometric sum of them in rings."""
    sigma, rate = 3.0, 0.8
    made = ensemble("quadratic", G=2, M=2, A=0.5, sigma=sigma, problems=1500, seed=5)
    found = squared_gradients(made, two_tier(topology, G=2, M=2), np.array([rate]), 1)[1, 0].mean()
    top, low = topology.split("-")
    eta = rate / ((2 if top == "ring" else 1) * (2 if low == "ring" else 1))
    h, x0 = made.h.astype(float), made.x0.astype(float)
    left = 1 - eta * h
    inner, alpha = ((1 + left**2), left**2) if low == "ring" else (0.5 * np.ones_like(h), left)
    outer, whole = ((1 + alpha**2), alpha**2) if top == "ring" else (0.5 * np.ones_like(h), alpha)
    noise = eta**2 * sigma**2 / h.shape[1] * (h**2 * inner * outer).sum(1).mean()
    start = ((h * whole * x0) ** 2).sum(1).mean()
    assert found == pytest.approx(start + noise, rel=0.03)
    assert noise > 0.2 * start  # so that a wrong deviation shows


def test_the_same_seed_makes_the_same_and_another_seed_another() -> None:
    def run(seed: int, topology: Any = "ring-ring", G: int = 3, M: int = 2) -> Array:
        made = ensemble("cosine", G=G, M=M, zeta=0.5 * (M > 1), delta=0.5 * (G > 1), problems=3, seed=seed)
        tree = two_tier(topology, G=G, M=M, P=2, order="random")
        return squared_gradients(made, tree, np.array([0.5]), 5, seed=seed)

    np.testing.assert_array_equal(run(1), run(1))
    assert (run(1)[1:] != run(2)[1:]).all()
    np.testing.assert_array_equal(run(1, "star-ring", G=1), run(1, "ring-ring", G=1))  # one algorithm, one noise
    np.testing.assert_array_equal(run(1, "ring-star", M=1), run(1, "ring-ring", M=1))


def test_a_run_that_diverged_stays_infinite() -> None:
    made = ensemble("quadratic", G=2, M=2, problems=2)
    told: list[int] = []
    found = squared_gradients(made, two_tier("star-star", G=2, M=2), np.array([0.5, 1e5]), 30, progress=told.append)
    assert told == list(range(1, 31))
    assert np.isfinite(found[:, 0]).all()
    assert np.isinf(found[-1, 1]).all()
    first = np.isinf(found[:, 1, 0]).argmax()
    assert np.isinf(found[first:, 1, 0]).all() and np.isfinite(found[:first, 1, 0]).all()


@pytest.mark.parametrize("order", ["fixed", "random"])
def test_ensembles_run_together_number_for_number(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any families, in one array or in several: what each of them gives alone."""
    tree = two_tier("star-ring", G=3, M=4, S2=3, P=2, order=order)
    shape: dict[str, Any] = {"G": 3, "M": 4, "sigma": 0.7, "zeta": 0.5, "delta": 0.8, "problems": 2}
    made = [ensemble(family, **shape, seed=seed) for family in FAMILIES for seed in (1, 2)]
    rates = np.array([0.3, 2.0, 60.0])
    alone = [squared_gradients(one, tree, rates, 5, K=2, seed=9) for one in made]
    for count, together in ((1, 8), (3, 2), (8, 3), (8, 8)):
        monkeypatch.setattr("validation.ensemble.TOGETHER", together * rates.size * 2 * 3 * 8)
        found = squared_gradients_of(made[:count], tree, rates, 5, K=2, seed=9)
        np.testing.assert_array_equal(found, alone[:count])
    with pytest.raises(ValueError, match="one shape and one noise"):
        squared_gradients_of([made[0], dataclasses.replace(made[1], sigma=0.1)], tree, rates, 5)


@pytest.mark.parametrize("topology", ["star-star", "ring-star", "ring-ring"])
def test_runs_end_where_their_targets_are_met(topology: str) -> None:
    """What is left out changes no count of rounds: some targets are met early, some late, one never."""
    tree = two_tier(topology, G=2, M=3)
    made = [ensemble(family, G=2, M=3, zeta=0.5, delta=0.5, problems=2) for family in FAMILIES]
    rates, told = np.array([0.3, 2.0, 60.0]), []
    whole = squared_gradients_of(made, tree, rates, 20, K=2, seed=9)
    means = [squared[:-1].mean(-1).cumsum(0) / np.arange(1, 21)[:, None] for squared in whole]
    for after in (1, 5, 12, None):
        targets = [0.0 if after is None else float(mean[after - 1].min()) for mean in means]
        short = squared_gradients_of(made, tree, rates, 20, K=2, seed=9, until=targets, progress=told.append)
        assert told[-1] == pytest.approx(1.0)
        for squared, every, target in zip(short, whole, targets, strict=True):
            np.testing.assert_array_equal(*(rounds_to(one, np.array([target]))[0] for one in (squared, every)))
            left_out = np.isinf(squared) & np.isfinite(every)
            assert left_out[-1].any() == (after is not None)
            assert (squared == every)[~left_out].all()


def test_a_run_that_diverged_costs_no_more_than_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sines of large numbers take twenty times as long: none is asked for in the rounds after it diverged."""
    largest: list[float] = []

    def sine(u: npt.NDArray[Any]) -> npt.NDArray[Any]:
        largest.append(float(np.abs(u).max()))
        return np.asarray(np.sin(u))

    monkeypatch.setattr("validation.ensemble.PHI", {"cosine": (sine, lambda u: 1 - np.cos(u))})
    made = ensemble("cosine", G=2, M=2, problems=2)
    found = squared_gradients(made, two_tier("star-star", G=2, M=2), np.array([0.5, 200.0]), 30)
    assert np.isinf(found[-1, 1]).all() and np.isfinite(found[:, 0]).all()
    assert max(largest) < 1e9 and max(largest[-10:]) < 1e3


def test_rounds_to_a_target_by_hand() -> None:
    """Means over the iterates so far: 8, 6, 4, 3 at one rate, 8, 5, 5, 5 at the other; the last iterate is unused."""
    first = [8.0, 4.0, 0.0, 0.0, 99.0]
    second = [8.0, 2.0, 5.0, 5.0, 99.0]
    squared = np.stack([first, second], 1)[:, :, None] * np.array([0.5, 1.5])  # of two problems, with these as means
    rounds, rate = rounds_to(squared, np.array([9.0, 8.0, 6.5, 5.0, 4.5, 3.0, 2.9]))
    np.testing.assert_allclose(rounds, [1, 1, 1.5, 2, 2.75, 4, np.inf])
    assert rate[2:6].tolist() == [1, 1, 0, 0]
    squared[2:, 1] = np.inf  # the second diverges after it met some targets
    np.testing.assert_allclose(rounds_to(squared, np.array([6.5, 5.0, 3.0]))[0], [1.5, 2, 4])


# --- the surrogate ------------------------------------------------------------------------------------------------


def question(**given: object) -> Question:
    told: dict[str, object] = {
        "fleet.groups": 3, "fleet.clients_per_group": 3, "fleet.local_steps": 2, "problem.initial_gap": 1,
        "problem.smoothness": 1,
        "problem.sigma": 0.5, "problem.heterogeneity": "zeta=0.2,delta=2", "problem.rounds": 20,
        "plan.predictor": "surrogate",
    }  # fmt: skip
    told |= {key.replace("__", "."): value for key, value in given.items()}
    return ask(load(options={key: (key, value) for key, value in told.items()}))


def test_a_surrogate_takes_what_runs_take() -> None:
    """Directly, with other seeds: the mean log of the rounds to what Star-Star reaches in 36, if 60 are enough."""
    asked, shares = question(problem__rounds=36), []
    with watched(shares.append):
        found = {t: float(n) for t, n in asked.rounds().items()}
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert len(shares) >= 4 * len(FAMILIES) * len(surrogate.KINDS)
    assert found["star-star"] == pytest.approx(36, rel=1e-6)
    logs: dict[str, list[float]] = {t: [] for t in TOPOLOGIES}
    rates = np.geomspace(0.1, 40, 22)
    for family in FAMILIES:
        for flattest, tail in surrogate.KINDS:
            made = ensemble(
                family, G=3, M=3, sigma=0.5, zeta=0.2, delta=2.0, flattest=flattest, tail=tail, problems=8, seed=77
            )
            runs = {t: squared_gradients(made, two_tier(t, G=3, M=3), rates, 60, K=2, seed=78) for t in TOPOLOGIES}
            target = np.nanmin(np.mean(runs["star-star"][:36].mean(-1), axis=0))
            for t, squared in runs.items():
                logs[t].append(math.log(rounds_to(squared, np.array([target]))[0][0] / 36))
    typically = dataclasses.replace(asked, predictor=typical.PREDICTOR).rounds()
    assert math.log(found["star-ring"] / 36) == pytest.approx(np.mean(logs["star-ring"]), abs=0.08)
    assert abs(math.log(typically["star-ring"] / 36) - np.mean(logs["star-ring"])) > 0.12  # so that a correction shows
    for ring in ("ring-star", "ring-ring"):  # delta is large: no run got there, which is no reason to expect less
        assert math.inf in logs[ring]
        assert found[ring] >= max(60, typically[ring]) * (1 - 1e-9)


def test_another_order_of_rings_runs_on_the_same_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(family: Any, **told: Any) -> Ensemble:
        made.append(family)
        return ensemble(family, **told)

    monkeypatch.setattr("planner.harness.ensemble.ensemble", counted)
    for order in ("fixed", "random"):
        question(fleet__order=order, problem__initial_gap=1.25, problem__rounds=5).rounds()
    assert len(made) == len(FAMILIES) * len(surrogate.KINDS)


def test_star_star_is_the_unit_of_the_corrections() -> None:
    asked = question()
    constants = tuple((name, float(asked.values[name])) for name in ("L", "A", "sigma", "zeta", "delta"))
    trees = (asked.sized("star-star"), asked.sized("ring-ring"))
    factors = surrogate.corrections(trees, 2, constants, 3)
    assert factors[0] == pytest.approx(1.0, rel=1e-6)
    assert factors == surrogate.corrections.__wrapped__(trees, 2, constants, 3)


def test_a_round_that_is_too_long_is_refused_with_its_length() -> None:
    with pytest.raises(NoAnswerError, match=r"has 30,000 local steps .* at most 1,500 are simulated"):
        question(fleet__groups=100, fleet__clients_per_group=100, fleet__local_steps=3).rounds()
