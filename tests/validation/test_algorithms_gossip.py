"""One tier, overlapping coverage, hubs and spokes, and gossip: against the literal listings, by hand, and in limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from reference_gossip import (  # noqa: E402
    epidemic_mixing,
    fedavg_round,
    hhfl,
    hub_mixing,
    local_steps,
    sequential_round,
    torus_mixing,
)
from test_engine import Bumps  # noqa: E402

from hflbounds import get  # noqa: E402
from hflbounds.coverage import Coverage  # noqa: E402
from validation.algorithms.epidemic import Local, Regular  # noqa: E402
from validation.algorithms.gossip_static import Grid, RandomGraph  # noqa: E402
from validation.algorithms.hhfl import HHFL, rows  # noqa: E402
from validation.algorithms.hsl import HSL  # noqa: E402
from validation.algorithms.single_tier import fedavg, sequential  # noqa: E402
from validation.algorithms.tree import CLIENTS  # noqa: E402
from validation.algorithms.two_tier import two_tier  # noqa: E402
from validation.engine import Moment, ValidationError, average, generator, simulate  # noqa: E402
from validation.experiment import make_algorithm, part  # noqa: E402
from validation.mixing import Gossip, distance, mix, numpy_generator  # noqa: E402
from validation.problems.controlled import controlled  # noqa: E402

RUNS = ((0.3, 4), (0.05, 9), (0.3, 9))  # rates and seeds
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


def gradient_of(problem: Bumps, noise: Any) -> Callable[[int, int, Any], Any]:
    """The stochastic gradient of a client at one of its steps, with the draws of the engine."""
    return lambda i, k, x: problem.a[i] * torch.tanh(x - problem.b[i]) + noise[i, k]


def advance(algorithm: Any, problem: Any, runs: Sequence[tuple[float, int]], rounds: int) -> list[Any]:
    """The states of an algorithm after every round."""
    seeds = tuple(dict.fromkeys(seed for _, seed in runs))
    seed_at = torch.tensor([seeds.index(seed) for _, seed in runs])
    rates = torch.tensor([rate for rate, _ in runs], dtype=torch.float64)
    state, states = algorithm.start(problem, len(runs)), []
    for index in range(rounds):
        state = algorithm.round(state, problem, Moment(index, seeds, seed_at, rates))
        states.append(deepcopy(state))  # the next round may overwrite it
    return states


def last(algorithm: Any, problem: Any, rounds: int = 3) -> Any:
    """The judged iterates after some rounds, shape (runs, dim)."""
    state = advance(algorithm, problem, RUNS, rounds)[-1]
    return algorithm.iterate(state)[0]


# ------------------------------------------------------------------------------------------- against the listings
@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize(("S", "weights"), [(None, "equal"), (3, "equal"), (None, "3,1,0,2,1")])
def test_fedavg_is_that_of_the_listing(K: int, S: int | None, weights: str) -> None:
    problem, algorithm = Bumps(5), fedavg(clients=5, K=K, S=S, weights=weights)
    p = None if weights == "equal" else [3 / 7, 1 / 7, 0.0, 2 / 7, 1 / 7]
    found = last(algorithm, problem)
    for run, (rate, seed) in enumerate(RUNS):
        x = problem.start()[0][0].clone()
        for r in range(3):
            noise = problem.draws([seed], (r, 0), K)[0]
            order = torch.randperm(5, generator=generator(seed, CLIENTS, r)).tolist() if S else list(range(5))
            x = fedavg_round(x, order[:S], K, rate, gradient_of(problem, noise), p)
        assert torch.allclose(found[run], x, **CLOSE)


@pytest.mark.parametrize(
    ("S", "order"), [(None, "fixed"), (None, "random"), (None, "shuffled"), (2, "fixed"), (2, "shuffled")]
)
def test_sequential_learning_is_that_of_the_listing(S: int | None, order: str) -> None:
    problem, algorithm = Bumps(5), sequential(clients=5, K=2, S=S, order=order)
    found = last(algorithm, problem)
    for run, (rate, seed) in enumerate(RUNS):
        x = problem.start()[0][0].clone()
        for r in range(3):
            noise = problem.draws([seed], (r, 0), 2)[0]
            turns = list(range(5))
            if S or order != "fixed":
                drawn = r if S or order == "random" else 0
                turns = torch.randperm(5, generator=generator(seed, CLIENTS, drawn)).tolist()
            x = sequential_round(x, turns[:S], 2, rate, gradient_of(problem, noise))
        assert torch.allclose(found[run], x, **CLOSE)


COVERAGES: dict[str, list[set[int]]] = {
    "10;11;01": [{0}, {0, 1}, {1}],
    "100;110;010;111;001;011": [{0}, {0, 1}, {1}, {0, 1, 2}, {2}, {1, 2}],
    "ring:3,2,1": [{0, 1}, {0}, {1, 2}, {1}, {2, 0}, {2}],
    "triangle:1,2,1": [
        {0},
        {0, 1},
        {0, 2},
        {0, 1, 2},
        {1},
        {1, 2},
        {1, 0},
        {0, 1, 2},
        {2},
        {2, 0},
        {2, 1},
        {0, 1, 2},
    ],
    "ring:2,2,0": [{0}, {0}, {1}, {1}],
    "ring:1,3,1": [{0}, {0}, {0}],
    "11;11;11": [{0, 1}, {0, 1}, {0, 1}],
}


@pytest.mark.parametrize(
    ("coverage", "E", "Ge", "alpha", "equal"),
    [  # every coverage and number of steps with two of the four last
        pytest.param(coverage, *steps, alpha, equal, marks=pytest.mark.slow if (h + i + j + k) % 2 else ())
        for h, coverage in enumerate(COVERAGES)
        for i, steps in enumerate([(1, 1), (1, 3), (3, 1), (2, 3)])
        for j, alpha in enumerate((None, 4.0))
        for k, equal in enumerate((True, False))
    ],
)
def test_hhfl_is_algorithm_1(coverage: str, E: int, Ge: int, alpha: float | None, equal: bool) -> None:
    S = COVERAGES[coverage]
    n, rounds = len(S), 2
    given = [1] * n if equal else [1 + i % 3 for i in range(n)]
    weights = "equal" if equal else ",".join(map(str, given))
    problem = Bumps(n)
    algorithm = HHFL(coverage=coverage, E=E, Ge=Ge, weights=weights, alpha=alpha)
    found = advance(algorithm, problem, RUNS, rounds)[-1]
    for run, (rate, seed) in enumerate(RUNS):

        def gradient(i: int, t: int, x: Any, seed: int = seed) -> Any:
            r, rest = divmod(t, Ge * E)
            edge, e = divmod(rest, E)
            if alpha is None:
                noise = problem.draws([seed], (r, edge), E)[0][i, e]
            else:
                noise = problem.draws([seed], (r, edge, e), 1)[0][i, 0]
            return problem.a[i] * torch.tanh(x - problem.b[i]) + noise

        beta = None if alpha is None else rate * alpha

        def eta(t: int, rate: float = rate, beta: Any = beta) -> float:
            return rate if alpha is None else float(beta / (t + alpha))

        p = [float(x / sum(given)) for x in given]
        seen: dict[int, list[Any]] = {}
        x = hhfl(
            problem.start()[0][0],
            rounds * Ge * E,
            S,
            p,
            E,
            Ge,
            eta,
            gradient,
            lambda t, w, seen=seen: seen.update({t: w}),
        )
        assert torch.allclose(found.models[0][run], x, **CLOSE)
        # the drift: one plain step from the clients' models before the last one
        t = rounds * Ge * E - 1
        before = seen[t] if t else [problem.start()[0][0]] * n
        v = [w - eta(t) * gradient(i, t, w) for i, w in enumerate(before)]
        drift = sum(q * float((one - x).square().sum()) for q, one in zip(p, v, strict=True))
        assert float(found.drift[run]) == pytest.approx(drift, rel=1e-9)


def sets(matrix: Any) -> list[set[int]]:
    """Where the rows of a matrix are not 0."""
    return [set(np.flatnonzero(row).tolist()) for row in matrix]


def others(matrix: Any) -> list[set[int]]:
    """To whom each column sends: the rows where it is not 0, without its own."""
    return [found - {k} for k, found in enumerate(sets(matrix.T))]


def mixed_literally(algorithm: Gossip, half: list[Any], rng: np.random.Generator) -> list[Any]:
    """The listings, with what the laws of `hflbounds.mixing` draw: only who talks to whom is read from them."""
    if isinstance(algorithm, HSL):
        collect, gossip, pull = algorithm.law().stages(rng)
        collects, sends, asks = sets(collect), others(gossip), sets(pull)
        assert {len(x) for x in collects} == {algorithm.b_hs}
        assert {len(x) for x in sends} == {algorithm.b_hh}
        assert {len(x) for x in asks} == {algorithm.b_sh}
        return hub_mixing(half, collects, sends, asks)
    if isinstance(algorithm, Grid):
        return torus_mixing(half, algorithm.rows, algorithm.columns)
    matrix = algorithm.law().sample(rng)
    sends, hears = others(matrix), others(matrix.T)
    if isinstance(algorithm, Local):
        assert {len(x) for x in sends} == {algorithm.s}
    if isinstance(algorithm, Regular):
        assert {len(x) for x in hears} == {algorithm.s}
    if isinstance(algorithm, RandomGraph) and algorithm.symmetric:
        assert sends == hears
    return epidemic_mixing(half, sends)


GOSSIPS: list[Gossip] = [
    HSL(n_s=6, n_h=4, b_hs=2, b_hh=1, b_sh=2),
    HSL(n_s=6, n_h=3, b_hs=6, b_hh=2, b_sh=3, K=2),
    HSL(n_s=5, n_h=1, b_hs=2, b_hh=0, b_sh=1),
    HSL(n_s=4, n_h=5, b_hs=1, b_hh=3, b_sh=1),
    Local(n=6, s=2),
    Local(n=5, s=0, K=2),
    Local(n=4, s=3),
    Regular(n=6, s=2, K=2),
    Regular(n=5, s=4),
    Grid(rows=3, columns=4),
    Grid(rows=3, columns=3, K=2),
    RandomGraph(n=6, probability=0.4),
    RandomGraph(n=6, probability=0.4, symmetric=False),
    RandomGraph(n=6, probability=0.5, redrawn=False, K=2),
]


@pytest.mark.parametrize("algorithm", GOSSIPS, ids=repr)
def test_every_node_is_that_of_the_listing(algorithm: Gossip) -> None:
    n, rounds = algorithm.nodes, 3
    problem = Bumps(n)
    found = advance(algorithm, problem, RUNS, rounds)
    for run, (rate, seed) in enumerate(RUNS):
        x = [problem.start()[0][0].clone() for _ in range(n)]
        for r in range(rounds):
            noise = problem.draws([seed], (r, 0), algorithm.K)[0]
            half = local_steps(x, algorithm.K, rate, gradient_of(problem, noise))
            redrawn = not isinstance(algorithm, RandomGraph) or algorithm.redrawn
            x = mixed_literally(algorithm, half, numpy_generator(seed, *((r,) if redrawn else ())))
            middle, mean = sum(half) / n, sum(x) / n
            state = found[r]
            assert torch.allclose(algorithm.iterate(state)[0][run], mean, **CLOSE)
            for value, told in (
                (state.before, sum((one - middle).square().sum() for one in half) / n),
                (state.after, sum((one - mean).square().sum() for one in x) / n),
                (state.move, (mean - middle).square().sum()),
            ):
                assert float(value[run]) == pytest.approx(float(told), rel=1e-9, abs=1e-25)
        last_models = found[-1].models[0].view(len(RUNS), n, -1)[run]
        assert torch.allclose(last_models, torch.stack(x), **CLOSE)


# ---------------------------------------------------------------------------------------- by hand, in exact numbers
@dataclass
class Scales:
    """Clients with the loss ``c_i x^2/2`` in one dimension: a step at rate eta multiplies by ``1 - eta c_i``."""

    c: tuple[Fraction, ...]
    numbers_per_model: int = 1

    @property
    def clients(self) -> int:
        return len(self.c)

    def start(self) -> tuple[Any, ...]:
        return (torch.ones(1, 1, dtype=torch.float64),)

    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> None:
        return None

    def local_steps(self, models: Any, clients: Any, seeds: Any, draws: Any, rates: Any, steps: int) -> Any:
        c = torch.tensor([float(x) for x in self.c], dtype=torch.float64)[clients]
        return (models[0] * ((1 - rates * c) ** steps)[:, None],)

    def measure(self, models: Any) -> dict[str, Any]:
        return {"x": models[0][:, 0]}

    def gradient(self, i: int, k: int, x: Fraction) -> Fraction:
        return self.c[i] * x


HALF = Fraction(1, 2)


def engine_value(algorithm: Any, problem: Scales, rounds: int = 1) -> float:
    return float(simulate(problem, algorithm, [0.5], [0], rounds).values["x"][0, -1])


def test_one_tier_by_hand() -> None:
    """From 1 with rate 1/2, two steps: curvature 1 leaves 1/4, curvature 3/2 leaves 1/16."""
    problem = Scales((Fraction(1), Fraction(3, 2)))
    one = Fraction(1)
    for p, weights, expected in ((None, "equal", Fraction(5, 32)), ([one / 3, 2 * one / 3], "1,2", Fraction(1, 8))):
        assert fedavg_round(one, [0, 1], 2, HALF, problem.gradient, p) == expected
        assert engine_value(fedavg(clients=2, K=2, weights=weights), problem) == pytest.approx(
            float(expected), rel=1e-14
        )
    assert sequential_round(one, [0, 1], 2, HALF, problem.gradient) == Fraction(1, 64)
    assert engine_value(sequential(clients=2, K=2), problem) == pytest.approx(1 / 64, rel=1e-14)


@pytest.mark.parametrize(
    ("p", "clients", "whole"),
    [
        # v = 1/2, 0, -1/2. Loads 1/2, 1/2: servers 2/3 v_1 + 1/3 v_2 = 1/3 and -1/3; then v = 1/6, 0, 1/6.
        ([1, 1, 1], [Fraction(1, 3), Fraction(0), Fraction(-1, 3)], Fraction(1, 9)),
        # Loads 5/8, 3/8: servers 8/5 (1/2)(1/2) = 2/5 and 8/3 (1/4)(-1/2) = -1/3; then v = 1/5, 0, 1/6.
        ([2, 1, 1], [Fraction(2, 5), Fraction(1, 30), Fraction(-1, 3)], Fraction(17, 120)),
    ],
)
def test_two_servers_and_one_client_under_both_by_hand(p: list[int], clients: list[Fraction], whole: Fraction) -> None:
    problem = Scales((Fraction(1), Fraction(2), Fraction(3)))
    seen: list[list[Fraction]] = []
    exact = [Fraction(x, sum(p)) for x in p]
    found = hhfl(
        Fraction(1),
        2,
        [{0}, {0, 1}, {1}],
        exact,
        1,
        2,
        lambda t: HALF,
        problem.gradient,
        lambda t, w: seen.append(w),
    )
    assert found == whole
    assert seen[0] == clients
    algorithm = HHFL(coverage="10;11;01", Ge=2, weights=",".join(map(str, p)))
    assert engine_value(algorithm, problem) == pytest.approx(float(whole), rel=1e-14)


def test_gradients_enter_the_clients_with_these_weights() -> None:
    """Unit vectors as gradients: the middle client of two servers hears all three alike, the others two in 2 : 1."""
    units = [np.array([Fraction(i == j) for j in range(3)], dtype=object) for i in range(3)]
    seen: list[list[Any]] = []
    hhfl(
        0 * units[0],
        1,
        [{0}, {0, 1}, {1}],
        [Fraction(1, 3)] * 3,
        1,
        2,
        lambda t: Fraction(1),
        lambda i, t, w: -units[i],
        lambda t, w: seen.append(w),
    )
    third = Fraction(1, 3)
    assert [list(w) for w in seen[0]] == [[2 * third, third, 0], [third, third, third], [0, third, 2 * third]]


def test_the_schedule_by_hand() -> None:
    """alpha = 1: rates 1/2, 1/4, then over to the next round 1/6, 1/8; one client of curvature 1."""
    found = engine_value(HHFL(coverage="1", E=1, Ge=2, alpha=1.0), Scales((Fraction(1),)), rounds=2)
    assert found == pytest.approx(1 / 2 * 3 / 4 * 5 / 6 * 7 / 8, rel=1e-14)


def test_hubs_and_gossip_by_hand() -> None:
    """Hubs collect 3 and 12; the second hears the first: 15/2; the middle spoke asks both: 21/4."""
    x = [Fraction(0), Fraction(6), Fraction(12)]
    assert hub_mixing(x, [{0, 1}, {2}], [{1}, set()], [{0}, {0, 1}, {1}]) == [3, Fraction(21, 4), Fraction(15, 2)]
    assert epidemic_mixing(x, [{1, 2}, {0}, {0}]) == [6, 3, 6]
    grid = [Fraction(i) for i in range(9)]
    assert torus_mixing(grid, 3, 3)[0] == Fraction(0 + 1 + 2 + 3 + 6, 5)
    assert torus_mixing(grid, 3, 3)[5] == Fraction(5 + 3 + 4 + 2 + 8, 5)
    with pytest.raises(ValueError, match="node 1 sends to itself"):
        epidemic_mixing(x, [{1}, {1}, set()])


def test_engine_on_a_grid_by_hand() -> None:
    """After a step from 1 at rate 1/2 node i has 1 - i/2; node 0 averages 0, 1, 2, 3, 6."""
    problem = Scales(tuple(Fraction(i) for i in range(9)))
    (state,) = advance(Grid(rows=3, columns=3), problem, [(0.5, 0)], 1)
    assert float(state.models[0][0, 0]) == pytest.approx(1 - Fraction(12, 5) / 2, rel=1e-14)


def test_one_hub_that_hears_one_spoke_copies_it_to_all() -> None:
    problem = Scales((Fraction(1), Fraction(2)))
    algorithm = HSL(n_s=2, n_h=1, b_hs=1, b_hh=0, b_sh=1)
    (state,) = advance(algorithm, problem, [(0.5, seed) for seed in range(20)], 1)
    models = state.models[0].view(20, 2)
    assert torch.equal(models[:, 0], models[:, 1])
    assert {float(x) for x in models[:, 0]} == {0.5, 0.0}
    assert torch.equal(state.after, torch.zeros(20, dtype=torch.float64))
    assert torch.allclose(state.move, torch.full((20,), 1 / 16, dtype=torch.float64))


# ------------------------------------------------------------------------------------------------------------ limits
def same(one: Any, other: Any, problem: Any) -> bool:
    return bool(torch.allclose(last(one, problem), last(other, problem), **CLOSE))


@pytest.mark.parametrize(("G", "M", "E", "Ge"), [(3, 4, 2, 3), (1, 5, 2, 2), (4, 1, 1, 2)])
def test_one_server_for_each_client_is_hier_favg_is_star_star(G: int, M: int, E: int, Ge: int) -> None:
    hier = two_tier(topology="star-star", G=G, M=M, P=Ge, K=E)
    assert same(HHFL(coverage=f"ring:{G},{M},0", E=E, Ge=Ge), hier, Bumps(G * M))
    assert same(make_algorithm(part("hier-favg", G=G, M=M, E=E, Ge=Ge)), hier, Bumps(G * M))


@pytest.mark.parametrize("coverage", COVERAGES)
@pytest.mark.parametrize("weights", ["equal", "given"])
def test_one_edge_round_is_fedavg_whatever_the_coverage(coverage: str, weights: str) -> None:
    n = len(COVERAGES[coverage])
    given = weights if weights == "equal" else ",".join(str(1 + i % 3) for i in range(n))
    assert same(HHFL(coverage=coverage, E=3, weights=given), fedavg(clients=n, K=3, weights=given), Bumps(n))


@pytest.mark.parametrize("coverage", ["11;11;11;11", "1;1;1;1"])
def test_all_servers_for_all_clients_is_one_server(coverage: str) -> None:
    one = two_tier(topology="star-star", G=1, M=4, P=3, K=2)
    assert same(HHFL(coverage=coverage, E=2, Ge=3), one, Bumps(4))
    assert not same(HHFL(coverage="10;10;01;01", E=2, Ge=3), one, Bumps(4))


@pytest.mark.parametrize(("G", "M"), [(3, 2), (1, 6), (6, 1)])
def test_one_tier_is_two_tiers_with_one_group_round(G: int, M: int) -> None:
    problem = Bumps(6)
    assert same(fedavg(clients=6, K=2), two_tier(topology="star-star", G=G, M=M, K=2), problem)
    assert same(sequential(clients=6, K=2), two_tier(topology="ring-ring", G=G, M=M, K=2), problem)


def test_sampling_and_random_order_are_those_of_a_single_group() -> None:
    problem = Bumps(6)
    assert same(fedavg(clients=6, S=2), two_tier(topology="star-star", G=1, M=6, S2=2), problem)
    ring = {"topology": "star-ring", "G": 1, "M": 6}
    assert same(sequential(clients=6, S=2), two_tier(**ring, S2=2), problem)  # type: ignore[arg-type]
    assert same(sequential(clients=6, order="random"), two_tier(**ring, order="random"), problem)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "algorithm",
    [
        HSL(n_s=6, n_h=3, b_hs=6, b_hh=1, b_sh=2, K=2),
        HSL(n_s=6, n_h=1, b_hs=6, b_hh=0, b_sh=1, K=2),
        Local(n=6, s=5, K=2),
        Regular(n=6, s=5, K=2),
        RandomGraph(n=6, probability=1.0, K=2),
    ],
    ids=repr,
)
def test_full_mixing_is_fedavg_at_every_node(algorithm: Gossip) -> None:
    problem = Bumps(6)
    assert same(algorithm, fedavg(clients=6, K=2), problem)
    state = advance(algorithm, problem, RUNS, 2)[-1]
    assert torch.all(state.after < 1e-25)
    assert torch.all(state.before > 1e-6)


def test_full_mixing_after_one_step_is_mini_batch_sgd() -> None:
    problem = Bumps(6)
    found = last(Local(n=6, s=5), problem)
    for run, (rate, seed) in enumerate(RUNS):
        x = problem.start()[0][0].clone()
        for r in range(3):
            gradient = gradient_of(problem, problem.draws([seed], (r, 0), 1)[0])
            x = x - rate * sum(gradient(i, 0, x) for i in range(6)) / 6
        assert torch.allclose(found[run], x, **CLOSE)


def test_no_mixing_leaves_every_node_alone() -> None:
    problem = Bumps(6)
    assert same(Local(n=6, s=0), RandomGraph(n=6, probability=0.0), problem)
    state = advance(Regular(n=6, s=0), problem, RUNS, 2)[-1]
    assert torch.equal(state.before, state.after)
    assert torch.all(state.move < 1e-30)


def test_as_many_hubs_as_spokes_each_its_own_is_epidemic_learning() -> None:
    rng = np.random.default_rng(3)
    x = [Fraction(int(value), 7) for value in rng.integers(-50, 50, 5)]
    own = [{i} for i in range(5)]
    for _ in range(20):
        sends = [set(rng.permutation([j for j in range(5) if j != i])[:2].tolist()) for i in range(5)]
        assert hub_mixing(x, own, sends, own) == epidemic_mixing(x, sends)


def test_regular_graphs_keep_the_mean_and_others_do_not() -> None:
    problem = Bumps(6)
    for still in (Regular(n=6, s=2), Grid(rows=2 + 1, columns=4), Regular(n=6, s=3)):
        assert torch.all(advance(still, Bumps(still.nodes), RUNS, 2)[-1].move < 1e-28)
    for moving in (Local(n=6, s=2), HSL(n_s=6, n_h=3, b_hs=2, b_hh=1, b_sh=1), RandomGraph(n=6, probability=0.4)):
        assert torch.all(advance(moving, problem, RUNS, 2)[-1].move > 1e-8)


# ------------------------------------------------------------------------------------------------ what is measured
def test_what_is_judged_is_the_mean_model_or_every_node() -> None:
    problem = controlled(G=6, M=1, sigma=0.5, delta=0.5)
    rates, seeds = [0.1, 0.2], [3, 5]
    options = {"n_s": 6, "n_h": 3, "b_hs": 2, "b_hh": 1, "b_sh": 1}
    runs = list(zip(rates, seeds, strict=True))
    for judged in ("mean", "nodes"):
        algorithm = HSL(**options, judged=judged)
        state = advance(algorithm, problem, runs, 3)[-1]
        trace = simulate(problem, algorithm, rates, seeds, 3, at=[0, 3], every_round=True)
        each = problem.measure(state.models)["gradient"].view(2, 6).mean(1)
        mean = problem.measure((state.models[0].view(2, 6, -1).mean(1),))["gradient"]
        assert not torch.allclose(each, mean)
        assert torch.allclose(trace.values["gradient"][:, 1], each if judged == "nodes" else mean)
        assert torch.equal(trace.values["consensus_before"][:, 1], state.before)
        assert torch.equal(trace.values["consensus_after"][:, 1], state.after)
        assert torch.equal(trace.values["mean_move"][:, 1], state.move)
        assert torch.all(trace.values["mean_move"][:, 0] == 0)
        assert torch.isfinite(trace.averages["mean_move"]).all()


def test_runs_do_not_depend_on_their_company() -> None:
    for algorithm in (*GOSSIPS[:5], GOSSIPS[-1], HHFL(coverage="10;11;01", E=2, Ge=2)):
        problem = Bumps(algorithm.nodes if isinstance(algorithm, Gossip) else 3)
        rates, seeds = [0.1, 0.2, 0.3], [1, 2, 1]
        together = simulate(problem, algorithm, rates, seeds, 2)
        for run in range(3):
            alone = simulate(problem, algorithm, rates[run : run + 1], seeds[run : run + 1], 2)
            for name, value in together.values.items():
                assert torch.allclose(value[run], alone.values[name][0], rtol=1e-13, atol=1e-28)


def test_models_of_several_tensors_are_mixed_as_one_vector() -> None:
    made = generator(1)
    whole = torch.randn(2 * 3, 7, generator=made, dtype=torch.float64)
    parts = (whole[:, :4].reshape(6, 2, 2), whole[:, 4:6], whole[:, 6])
    matrices = torch.rand(2, 5, 3, generator=made, dtype=torch.float64)
    for weights in (matrices, matrices[0]):
        (expected,) = mix((whole,), weights)
        found = mix(parts, weights)
        assert [part.shape for part in found] == [(10, 2, 2), (10, 2), (10,)]
        assert torch.allclose(torch.cat([part.reshape(10, -1) for part in found], 1), expected, **CLOSE)
        for run in range(2):
            one = weights if weights.ndim == 2 else weights[run]
            rows_of_run = [
                sum(float(w) * x for w, x in zip(row, whole[3 * run : 3 * run + 3], strict=True)) for row in one
            ]
            assert torch.allclose(expected[5 * run : 5 * run + 5], torch.stack(rows_of_run), **CLOSE)
    means = average(parts, 3)
    for weights in (None, torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)):
        found_distance = distance(parts, means, weights)
        squares = (whole.view(2, 3, 7) - whole.view(2, 3, 7).mean(1, keepdim=True)).square().sum(2)
        assert torch.allclose(found_distance, squares.mean(1) if weights is None else squares[:, :2].mean(1), **CLOSE)


def test_the_papers_layout_as_an_option() -> None:
    """liu2026, Section V-A: 57 clients, of which each server reaches 25: 14 alone, 8 with another, 3 with both."""
    links = rows("triangle:14,4,1")
    assert links.shape == (57, 3)
    homes = links.reshape(3, 19, 3)
    for server in range(3):
        reached = links[links[:, server] == 1].sum(1)
        assert [int((reached == n).sum()) for n in (1, 2, 3)] == [14, 8, 3]
        assert (homes[server][:, server] == 1).all()
        for other in {0, 1, 2} - {server}:  # of the four that two servers reach, each is home to two
            assert ((homes[server].sum(1) == 2) & (homes[server][:, other] == 1)).sum() == 2
    assert Coverage.of(links).lambda2 == pytest.approx(45 / 57)
    assert Coverage.of(links).resources == pytest.approx(75 / 57)
    assert rows("triangle:4,0,0").sum(1).tolist() == [1] * 12
    for pairs in (1, 2, 3, 5):
        found = rows(f"triangle:1,{pairs},0")
        assert [int((found[:, pair].sum(1) == 2).sum()) for pair in ((0, 1), (1, 2), (0, 2))] == [pairs] * 3


def test_a_theorem_about_hubs_and_spokes_holds_in_runs() -> None:
    """Mean squared gradient at the spokes, constants exact, at the largest step that the theorem allows and below."""
    budgets = {"n_s": 12, "n_h": 3, "b_hs": 4, "b_hh": 1, "b_sh": 1}
    for delta, eta in ((0.0, 0.05), (1.0, 0.01), (1.0, 0.05)):
        problem = controlled(G=12, M=1, sigma=1.0, delta=delta, A=2.0, seed=3)
        seeds, rounds = list(range(12)), 40
        algorithm = HSL(**budgets, judged="nodes")
        trace = simulate(problem, algorithm, [eta] * 12, seeds, rounds, every_round=True)
        measured = float(trace.averages["gradient"].mean())
        told = problem.constants
        bound = get("sharma2025.thm4-4-step")(
            **budgets, T=rounds, eta=eta, H=told["delta"], A=told["A"], sigma=told["sigma"], L=told["L"]
        )
        assert 0 < measured < bound


# ----------------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("fedavg", {"clients": 0}, "clients = 0 is not a count"),
        ("fedavg", {"clients": 3, "S": 4}, "S = 4 is not between 1 and 3"),
        ("fedavg", {"clients": 3, "weights": "1,2"}, "2 numbers for 3 clients"),
        ("fedavg", {"clients": 3, "weights": "1,2,x"}, "give 'equal', or numbers"),
        ("fedavg", {"clients": 2, "weights": "0,0"}, "give 'equal', or numbers"),
        ("fedavg", {"clients": 2, "S": 1, "weights": "1,2"}, "give one of them"),
        ("sequential", {"clients": 3, "order": "sorted"}, "'sorted' is not one of fixed, random"),
        ("hhfl", {"coverage": "ring:3,4"}, "cannot be read"),
        ("hhfl", {"coverage": "__import__('os')"}, "cannot be read"),
        ("hhfl", {"coverage": "10;1"}, "cannot be read"),
        ("hhfl", {"coverage": "ring:3,4,5"}, "5 of 4 clients of 3 servers cannot overlap"),
        ("hhfl", {"coverage": "triangle:0,0,0"}, "no clients"),
        ("hhfl", {"coverage": "ring:3,4,3,2"}, "cannot be read"),
        ("hhfl", {"coverage": "ring:0,4,0"}, "cannot overlap"),
        ("hhfl", {"coverage": "10;00"}, "attached to no server"),
        ("hhfl", {"coverage": "100;010"}, "the server has no client"),
        ("hhfl", {"coverage": "1", "E": 0}, "E = 0 is not a count"),
        ("hhfl", {"coverage": "1", "alpha": 0.0}, "alpha = 0.0 must be"),
        ("hsl", {"n_s": 4, "n_h": 2, "b_hs": 5, "b_hh": 1, "b_sh": 1}, "b_hs must be a whole number from 1 to 4"),
        ("hsl", {"n_s": 4, "n_h": 0, "b_hs": 1, "b_hh": 0, "b_sh": 1}, "use Push or Pull|Epidemic"),
        ("el-local", {"n": 4, "s": 4}, "s must be a whole number from 0 to 3"),
        ("el-oracle", {"n": 4, "s": 1, "K": 0}, "K = 0 is not a count"),
        ("el-local", {"n": 4, "s": 1, "judged": "median"}, "neither 'mean' nor 'nodes'"),
        ("torus", {"rows": 2, "columns": 4}, "rows must be a whole number at least 3"),
        ("erdos-renyi", {"n": 4, "probability": 1.5}, "number from 0 to 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(name: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        make_algorithm(part(name, **options))


@pytest.mark.parametrize("name", ["fedavg", "sequential", "hhfl", "hsl", "el-local", "torus"])
def test_another_number_of_clients_is_refused(name: str) -> None:
    options: dict[str, dict[str, Any]] = {
        "fedavg": {"clients": 9},
        "sequential": {"clients": 9},
        "hhfl": {"coverage": "ring:3,3,1"},
        "hsl": {"n_s": 9, "n_h": 2, "b_hs": 2, "b_hh": 1, "b_sh": 1},
        "el-local": {"n": 9, "s": 2},
        "torus": {"rows": 3, "columns": 3},
    }
    with pytest.raises(ValidationError, match="the problem has 4 clients, and the algorithm 9"):
        simulate(Bumps(4), make_algorithm(part(name, **options[name])), [0.1], [0], 1)
