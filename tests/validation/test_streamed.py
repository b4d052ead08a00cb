"""Means that are taken block by block, and chains of clients in one call, against the same all at once."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")

from literal_trees import Bumps, literal  # noqa: E402

from hflbounds.topology import Tier, Topology  # noqa: E402
from validation import compiled, streamed  # noqa: E402
from validation.algorithms.tree import Tree  # noqa: E402
from validation.engine import chunk, simulate  # noqa: E402
from validation.problems.images import MAKERS  # noqa: E402

TREES = [
    Topology((Tier("star", 11),)),
    Topology((Tier("star", 9, 7), Tier("star", 5, passes=2))),
    Topology((Tier("ring", 3), Tier("star", 8))),
    Topology((Tier("star", 7), Tier("ring", 3, 2, passes=2))),
    Topology((Tier("star", 3), Tier("ring", 2, order="random"), Tier("star", 7))),
]


@pytest.mark.parametrize(
    ("tree", "models"),
    [  # every tree with two or three of the numbers, some of which fill no block
        pytest.param(tree, models, id=f"{tree.id}-{models}", marks=pytest.mark.slow if (i + j) % 2 else ())
        for i, tree in enumerate(TREES)
        for j, models in enumerate((1, 2, 3, 5, 16))
    ],
)
def test_means_in_blocks_are_those_of_the_listings(
    tree: Topology, models: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rates and seeds of every run go with its models, whatever the size of a block."""
    problem = Bumps(tree.clients)
    monkeypatch.setattr(streamed, "BLOCK", models * problem.dim * 8)
    runs = [(0.3, 1), (0.1, 4), (0.3, 4)]
    found = simulate(problem, Tree(topology=tree, K=2), [rate for rate, _ in runs], [seed for _, seed in runs], 2)
    for i, (rate, seed) in enumerate(runs):
        wanted = literal(problem, tree, 2, rate, seed, 2)
        ends = torch.stack([found.values[f"x{j}"][i, -1] for j in range(problem.dim)])
        assert torch.allclose(ends, wanted, rtol=1e-12, atol=1e-13)


def test_blocks_do_not_depend_on_the_runs_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, algorithm = Bumps(55), Tree(topology=Topology((Tier("star", 5), Tier("star", 11))), K=2)
    monkeypatch.setattr(streamed, "BLOCK", 4 * problem.dim * 8)
    together = simulate(problem, algorithm, [0.3, 0.1, 0.2], [1, 2, 1], 3)
    for i, (rate, seed) in enumerate(zip([0.3, 0.1, 0.2], [1, 2, 1], strict=True)):
        alone = simulate(problem, algorithm, [rate], [seed], 3)
        for name, values in together.values.items():
            assert torch.equal(values[[i]], alone.values[name])


def test_no_more_models_are_made_than_fit_into_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    class Watched(Bumps):
        def local_steps(self, models: Any, *rest: Any) -> Any:
            seen.append(len(models[0]))
            return super().local_steps(models, *rest)

    problem = Watched(600)
    monkeypatch.setattr(streamed, "BLOCK", 50 * problem.dim * 8)
    simulate(problem, Tree(topology=Topology((Tier("star", 6), Tier("star", 100)))), [0.3], [1], 1)
    assert max(seen) == 50
    assert sum(seen) == 600


@pytest.mark.parametrize("told", ["torch", "auto"])
def test_what_a_hundred_thousand_clients_take_is_little(told: Any) -> None:
    """Of models alone: 184 MB were 10,000 of them. Planning asks for no run, so that only 10 clients have data."""
    problem = MAKERS["digits-mlp"](G=2, M=5)

    class Many:
        clients, batch = 100_000, 20
        numbers_per_model = problem.numbers_per_model

        def start(self) -> Any:
            return problem.start()

    tree = Tree(topology=Topology((Tier("star", 100), Tier("star", 1000))), K=2)
    with compiled.choosing(told):
        assert chunk(Many(), tree, 1, 1 << 23, most=2.0**30) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("maker", ["digits-logistic", "digits-mlp", "digits-cnn"])
def test_a_chain_of_clients_is_one_client_after_the_other(maker: str) -> None:
    """One model and several, fewer steps than were drawn, and more than are gathered together."""
    problem = MAKERS[maker](G=1, M=6, dtype=torch.float64)
    draws = [problem.draws([3, 4], (0, turn), 5) for turn in range(2)]
    for count in (1, 3):
        seeds, rates = torch.tensor([1, 0, 1])[:count], torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64)[:count]
        visits = [(torch.tensor([c, (c + 1) % 6, 5 - c])[:count], draws[c % 2]) for c in range(6)]
        begin = tuple(part.repeat_interleave(count, 0) for part in problem.first)
        found = problem.chain(tuple(part.clone() for part in begin), visits, seeds, rates, 4)
        with compiled.choosing("torch"):
            models = tuple(part.clone() for part in begin)
            for clients, drawn in visits:
                models = problem.local_steps(models, clients, seeds, drawn, rates, 4)
        for one, other in zip(found, models, strict=True):
            assert torch.allclose(one, other, rtol=1e-11, atol=1e-13)
            assert float((one - begin[0][0].mean()).abs().max()) > 0


MANY = """
import sys
from functools import partial
import torch
from validation import compiled
from validation.algorithms.two_tier import two_tier
from validation.engine import simulate
from validation.problems.images import drawn, problem
torch.set_num_threads(1)
made = problem(partial(drawn, 400_100, 8), image=(1, 8, 8), hidden=(64,), test=100, G=100, M=1000)
with compiled.choosing(sys.argv[1]):
    simulate(made, two_tier(topology="star-star", G=100, M=1000, K=2), [0.1], [1], 1)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.parametrize("told", ["torch", "auto"])
def test_a_hundred_thousand_clients_run_under_a_gibibyte(told: str) -> None:
    """The whole process, with its data; kilobytes as Linux counts them, from which `ru_maxrss` has its parent's too."""
    done = subprocess.run([sys.executable, "-c", MANY, told], capture_output=True, text=True, check=True, timeout=900)
    print(done.stdout)
    assert int(done.stdout) < 2**20
