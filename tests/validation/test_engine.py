"""The stacked engine and the four topologies against the literal listings, iterate by iterate."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from literal_trees import Bumps  # noqa: E402

from validation.algorithms.tree import CLIENTS  # noqa: E402
from validation.algorithms.two_tier import two_tier  # noqa: E402
from validation.engine import ValidationError, average, chunk, free_memory, generator, simulate, spread  # noqa: E402
from validation.reference import TOPOLOGIES, Settings, global_round  # noqa: E402

GROUPS = CLIENTS - 1


def literal(problem: Bumps, settings: dict[str, Any], rate: float, seed: int, rounds: int, order: str) -> Any:
    """The listings, with the same draws."""
    told = Settings(**settings)
    G, M = told.G, told.M
    x = problem.start()[0][0].clone()
    for r in range(rounds):
        noise = [problem.draws([seed], (r, p), told.K)[0] for p in range(told.P)]
        groups, clients = list(range(G)), [list(range(M))] * G
        if order == "random" or told.S1 is not None:
            groups = torch.randperm(G, generator=generator(seed, GROUPS, r)).tolist()
        if order == "random" or told.S2 is not None:
            made = generator(seed, CLIENTS, r)
            clients = [torch.randperm(M, generator=made).tolist() for _ in range(G)]

        def gradient(g: int, p: int, m: int, k: int, x: Any, noise: list[Any] = noise) -> Any:
            c = g * M + m
            return problem.a[c] * torch.tanh(x - problem.b[c]) + noise[p][c, k]

        x = global_round(
            x,
            told,
            rate,
            gradient,
            group_order=groups,
            client_order=lambda g, p, clients=clients: clients[g],  # type: ignore[misc]
        )
    return x


SHAPES = [
    {"G": 3, "M": 4, "P": 2, "K": 2},
    {"G": 1, "M": 5, "P": 1, "K": 3},
    {"G": 4, "M": 1, "P": 3, "K": 1},
    {"G": 4, "M": 3, "P": 2, "K": 1, "S1": 2, "S2": 2},
    {"G": 4, "M": 3, "P": 1, "K": 2, "S2": 1},
    {"G": 3, "M": 3, "P": 1, "K": 2, "S1": 2},
]


@pytest.mark.parametrize(
    ("topology", "shape", "order"),
    [  # every topology of every shape in one of the orders
        pytest.param(topology, shape, order, marks=pytest.mark.slow if (i + j + k) % 2 else ())
        for i, topology in enumerate(TOPOLOGIES)
        for j, shape in enumerate(SHAPES)
        for k, order in enumerate(("fixed", "random"))
    ],
)
def test_every_iterate_is_that_of_the_listing(topology: str, shape: dict[str, int], order: str) -> None:
    problem = Bumps(shape["G"] * shape["M"])
    algorithm = two_tier(topology=topology, order=order, **shape)  # type: ignore[arg-type]
    rates, seeds = [0.3, 0.05, 0.3], [4, 9, 9]
    trace = simulate(problem, algorithm, rates, seeds, 3, at=[1, 3])
    for run, (rate, seed) in enumerate(zip(rates, seeds, strict=True)):
        for column, rounds in enumerate(trace.rounds):
            wanted = literal(problem, {"topology": topology, **shape}, rate, seed, rounds, order)
            found = torch.stack([trace.values[f"x{j}"][run, column] for j in range(problem.dim)])
            assert torch.allclose(found, wanted, rtol=1e-12, atol=1e-13)


def test_one_run_at_a_time_all_at_once_and_in_chunks_are_the_same() -> None:
    problem = Bumps(12)
    algorithm = two_tier(topology="star-star", G=3, M=4, P=2, K=2, order="random")
    rates, seeds = [0.1, 0.2, 0.3, 0.1, 0.2], [1, 1, 2, 3, 3]
    together = simulate(problem, algorithm, rates, seeds, 2, every_round=True)
    one = 3 * algorithm.models(problem) * problem.numbers_per_model * 8
    assert chunk(problem, algorithm, 5, 2 * one) == 2
    for memory in (one, 2 * one):
        apart = simulate(problem, algorithm, rates, seeds, 2, every_round=True, memory=memory)
        for name, value in together.values.items():
            assert torch.equal(value, apart.values[name])
            assert torch.equal(together.averages[name], apart.averages[name])


def test_averages_are_over_the_rounds_before() -> None:
    problem = Bumps(4)
    algorithm = two_tier(topology="ring-ring", G=2, M=2)
    trace = simulate(problem, algorithm, [0.2], [0], 4, at=range(5), every_round=True)
    for name, value in trace.values.items():
        for last in range(1, 5):
            assert trace.averages[name][0, last].item() == pytest.approx(value[0, :last].mean().item(), rel=1e-12)


@pytest.mark.parametrize("order", ["fixed", "random"])
def test_limits_in_which_two_topologies_are_one_algorithm(order: str) -> None:
    def last(topology: str, G: int, M: int) -> Any:
        algorithm = two_tier(topology=topology, G=G, M=M, P=2, K=2, order=order)  # type: ignore[arg-type]
        return torch.stack(list(simulate(Bumps(G * M), algorithm, [0.2], [5], 3).values.values()))

    close = {"rtol": 1e-13, "atol": 1e-14}
    assert torch.allclose(last("star-star", 1, 6), last("ring-star", 1, 6), **close)
    assert torch.allclose(last("star-ring", 1, 6), last("ring-ring", 1, 6), **close)
    assert torch.allclose(last("star-star", 6, 1), last("star-ring", 6, 1), **close)
    assert torch.allclose(last("ring-star", 6, 1), last("ring-ring", 6, 1), **close)
    assert not torch.allclose(last("star-star", 2, 3), last("ring-star", 2, 3), rtol=1e-6)


def test_a_run_that_diverges_is_infinite_and_kept() -> None:
    class Unstable(Bumps):
        def measure(self, models: Any) -> Mapping[str, Any]:
            return {"size": torch.exp(models[0].square().sum(1) * 1e3)}

    trace = simulate(Unstable(2), two_tier(topology="star-star", G=2, M=1), [1e-6, 1e3], [0, 0], 3)
    assert torch.isfinite(trace.values["size"][0]).all()
    assert torch.isinf(trace.values["size"][1]).all()


def test_equal_keys_give_equal_streams_and_others_do_not() -> None:
    streams = {key: tuple(torch.rand(4, generator=generator(*key)).tolist()) for key in product(range(4), repeat=3)}
    assert len(set(streams.values())) == len(streams)
    assert torch.equal(torch.rand(4, generator=generator(3, 1)), torch.rand(4, generator=generator(3, 1)))


def test_spread_copies_and_average_undoes_it() -> None:
    models = (torch.arange(6.0).view(2, 3),)
    wide = spread(models, 3)
    wide[0][0] += 1
    assert torch.equal(models[0], torch.arange(6.0).view(2, 3))
    (one,) = spread((torch.zeros(1, 2),), 4)
    one[0] += 1
    assert torch.equal(one, torch.tensor([[1.0, 1.0], [0, 0], [0, 0], [0, 0]]))
    assert torch.equal(average(spread(models, 3), 3)[0], models[0])


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ({"G": 0, "M": 2}, "G = 0 is not a count"),
        ({"G": 2, "M": 2, "S1": 3}, "S1 = 3 is not between 1 and 2"),
        ({"G": 2, "M": 2, "order": "sorted"}, "'sorted' is not one of fixed, random"),
    ],
)
def test_settings_that_make_no_sense_are_refused(what: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        two_tier(topology="ring-ring", **what)


def test_runs_that_cannot_be_run_are_refused() -> None:
    problem, algorithm = Bumps(4), two_tier(topology="ring-ring", G=2, M=2)
    with pytest.raises(ValidationError, match="2 rates and 1 seeds"):
        simulate(problem, algorithm, [0.1, 0.2], [1], 3)
    with pytest.raises(ValidationError, match="rounds 0 to 9"):
        simulate(problem, algorithm, [0.1], [1], 3, at=[0, 9])
    with pytest.raises(ValidationError, match="the problem has 4 clients, and the algorithm 6"):
        simulate(problem, two_tier(topology="ring-ring", G=2, M=3), [0.1], [1], 3)
    with pytest.raises(ValidationError, match=r"needs about .* GiB and 0 are allowed.*--memory"):
        chunk(problem, algorithm, 1, 0, most=0)


def test_what_one_run_may_take_is_half_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred groups and a block of clients, of 10,000 numbers in double precision, three times over."""
    problem, algorithm = Bumps(1), two_tier(topology="star-star", G=100, M=100)
    problem.numbers_per_model = 10_000
    need = 3 * (100 + 2**26 // 80_000) * 80_000  # the models of groups, and 64 MiB of those of clients
    for free, fits in ((2 * need, True), (2 * need - 2, False)):
        monkeypatch.setattr("validation.engine.free_memory", lambda device, free=free: free)
        if fits:
            assert chunk(problem, algorithm, 5, 1 << 23) == 1
            continue
        with pytest.raises(ValidationError, match=r"needs about 0\.21 GiB and 0\.21 are allowed, by default half"):
            chunk(problem, algorithm, 5, 1 << 23)
        assert chunk(problem, algorithm, 5, 1 << 23, most=need) == 1  # as --memory says


def test_free_memory_is_what_the_machine_and_its_group_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"/proc/meminfo": "MemTotal: 99 kB\nMemAvailable:   3000 kB\n"}

    def read(self: pathlib.Path, *_: object, **__: object) -> str:
        if str(self) not in files:
            raise FileNotFoundError(str(self))
        return files[str(self)]

    monkeypatch.setattr(pathlib.Path, "read_text", read)
    cpu = torch.device("cpu")
    assert free_memory(cpu) == 3000 * 1024
    files["/sys/fs/cgroup/memory.current"] = "1000\n"
    for limit, wanted in (("max", 3000 * 1024), ("5000", 4000), ("99999999999", 3000 * 1024)):
        files["/sys/fs/cgroup/memory.max"] = f"{limit}\n"
        assert free_memory(cpu) == wanted
    files.clear()
    assert free_memory(cpu) > 0
