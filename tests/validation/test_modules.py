"""Gradients of many modules at once against a plain loop over single ones, and the batches against those of images."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402

from validation.algorithms.two_tier import two_tier  # noqa: E402
from validation.datasets import Dataset, idx  # noqa: E402
from validation.engine import ValidationError, simulate, spread  # noqa: E402
from validation.experiment import Cell, cell_of, make_problem, part  # noqa: E402
from validation.models import MODELS  # noqa: E402
from validation.problems import images, modules  # noqa: E402

G, M, K, BATCH = 2, 3, 2, 4
SHAPES = {
    "resnet18": (3, 8, 8),
    "resnet10": (1, 8, 8),
    "vgg9": (3, 8, 8),
    "vgg11-style": (3, 8, 8),
    "cnn-mnist": (1, 16, 16),
}
SMALL: dict[str, dict[str, int]] = {"resnet18": {"width": 3}, "resnet10": {"width": 3}, "mlp": {"hidden": 7}}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small products are no faster on several threads, and far slower where cores are shared."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def drawn(shape: tuple[int, ...], samples: int = 60, labels: int = 3) -> Dataset:
    """Random bytes with labels in turn."""
    dice = np.random.default_rng(len(shape) * samples)

    def some(count: int) -> tuple[Any, Any]:
        return torch.from_numpy(dice.integers(0, 256, (count, *shape), np.uint8)), torch.arange(count) % labels

    (x, y), (z, t) = some(samples), some(20)
    return Dataset(name="drawn", classes=tuple("abc"[:labels]), shown=x, labels=y, tested=z, truth=t)


def made(name: str, **options: Any) -> tuple[Dataset, modules.Modules]:
    data = drawn((9,) if name == "mlp" else SHAPES.get(name, (1, 8, 8)))
    return data, modules.problem(
        data, name, G=G, M=M, batch=BATCH, dtype=torch.float64, **{**SMALL.get(name, {}), **options}
    )


def alone(data: Dataset, problem: modules.Modules, weights: list[Any], rows: Any) -> list[Any]:
    """Gradients of one model on one mini-batch, by autograd on a copy of the module, without `torch.func`."""
    module = copy.deepcopy(problem.module).double()
    for own, weight in zip(module.parameters(), weights, strict=True):
        own.requires_grad_(True)
        own.data.copy_(weight)
    x = data.shown.numpy().astype(float)
    if x.ndim == 4:
        x = (x - x.mean((0, 2, 3), keepdims=True)) / x.std((0, 2, 3), keepdims=True)
    functional.cross_entropy(module(torch.from_numpy(x[rows.numpy()])), data.labels[rows]).backward()
    return [own.grad for own in module.parameters()]


def apart(problem: modules.Modules, models: int) -> Any:
    """Models that differ from the first iterate and from each other."""
    dice = torch.Generator().manual_seed(1)
    return tuple(
        w + 0.05 * torch.randn(w.shape, generator=dice, dtype=w.dtype) for w in spread(problem.start(), models)
    )


def close(one: Any, other: Any) -> bool:
    return bool(torch.allclose(one, other, rtol=1e-9, atol=1e-12))


@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_many_models_are_those_of_a_plain_loop(name: str) -> None:
    data, problem = made(name)
    seeds = [5, 6]
    draws = problem.draws(seeds, (0, 0), K)
    clients, at = torch.tensor([0, 4, 4, 5]), torch.tensor([0, 0, 1, 1])
    weights = apart(problem, len(clients))
    before = tuple(w.clone() for w in weights)
    found = problem.gradients(weights, clients, at, draws, 1)
    assert all(torch.equal(w, b) for w, b in zip(weights, before, strict=True))
    for i in range(len(clients)):
        rows = draws[at[i], clients[i], 1]
        for got, wanted in zip(found, alone(data, problem, [w[i] for w in weights], rows), strict=True):
            assert close(got[i], wanted)


@pytest.mark.parametrize("clip", [None, 0.3])
def test_local_steps_are_those_of_a_plain_loop(clip: float | None) -> None:
    data, problem = made("cnn-mnist", clip=clip)
    draws = problem.draws([5, 6], (3, 1), K)
    clients, at, rates = torch.tensor([1, 2, 3]), torch.tensor([1, 0, 1]), torch.tensor([0.1, 0.5, 1.0]).double()
    weights = apart(problem, 3)
    wanted = [[w[i].clone() for w in weights] for i in range(3)]
    clipped = 0
    for i in range(3):
        for k in range(K):
            slopes = alone(data, problem, wanted[i], draws[at[i], clients[i], k])
            norm = torch.cat([slope.flatten() for slope in slopes]).norm()
            factor = min(1.0, clip / norm) if clip else 1.0
            clipped += factor < 1
            wanted[i] = [w - rates[i] * factor * slope for w, slope in zip(wanted[i], slopes, strict=True)]
    assert clipped == (2 * 3 if clip else 0)
    found = problem.local_steps(weights, clients, at, draws, rates, K)
    for i in range(3):
        assert all(close(got[i], want) for got, want in zip(found, wanted[i], strict=True))


def test_room_for_one_model_or_for_all_gives_the_same() -> None:
    _, problem = made("cnn-mnist")
    draws = problem.draws([1], (0,), K)
    rates = torch.full((6,), 0.1, dtype=torch.float64)
    out = []
    for room in (1, 1 << 30):
        small = dataclasses.replace(problem, room=room)
        assert len(list(small._parts(6, BATCH))) == (6 if room == 1 else 1)
        out.append(small.local_steps(apart(small, 6), torch.arange(6), torch.zeros(6).long(), draws, rates, K))
        small.measure(out[-1])
    assert all(torch.allclose(a, b, rtol=1e-12, atol=1e-14) for a, b in zip(*out, strict=True))


def test_active_counts_what_layers_give() -> None:
    _, problem = made("cnn-mnist")  # 16 x 16: 12, 6, 2, 1
    assert problem.active == 10 * 144 + 2 * 10 * 36 + 20 * 4 + 2 * 20 + 20 + 2 * 50 + 3


def test_batches_are_those_of_images() -> None:
    data, problem = made("mlp", partitioned="both", alpha=0.5, seed=4)
    other = images.Images(
        network=images.Network(image=(1, 3, 3)),
        first=problem.first,
        pixels=data.shown.double(),
        labels=functional.one_hot(data.labels).double(),
        tested=data.tested.double(),
        truth=data.truth,
        split=problem.split,
        batch=BATCH,
    )
    draws = problem.draws([7, 8], (2, 1), K)
    assert draws.shape == (2, G * M, K, BATCH)
    assert torch.equal(draws, other.draws([7, 8], (2, 1), K))
    for client, held in enumerate(problem.split.samples):
        assert set(draws[:, client].flatten().tolist()) <= set(held.tolist())
    assert not torch.equal(draws, problem.draws([7, 8], (2, 2), K))


def test_loss_is_the_mean_of_the_clients_means_and_error_that_of_the_test() -> None:
    data, problem = made("mlp", partitioned="both", alpha=0.3)
    weights = apart(problem, 2)
    found = problem.measure(weights)
    for i in range(2):
        a, b, c, d = (w[i] for w in weights)

        def scores(x: Any, a: Any = a, b: Any = b, c: Any = c, d: Any = d) -> Any:
            return torch.relu(x.double() @ a.T + b) @ c.T + d

        means = []
        for held in problem.split.samples:
            p = torch.softmax(scores(data.shown[held]), 1)
            means.append(-torch.log(p[torch.arange(len(held)), data.labels[held]]).mean())
        assert found["loss"][i].item() == pytest.approx(torch.stack(means).mean().item(), rel=1e-10)
        wrong = (scores(data.tested).argmax(1) != data.truth).double().mean()
        assert found["error"][i].item() == pytest.approx(wrong.item(), abs=1e-12)


def test_loss_on_some_samples_is_the_mean_over_them() -> None:
    _, problem = made("mlp", measured=10)
    rows, weights = problem._scored
    assert len(set(rows.tolist())) == 10
    assert weights.tolist() == pytest.approx([0.1] * 10)
    with pytest.raises(ValidationError, match="measured = 61"):
        made("mlp", measured=61)


def test_a_diverged_model_ranks_last() -> None:
    _, problem = made("mlp")
    weights = tuple(torch.full_like(w, torch.inf) for w in problem.start())
    seen = problem.measure(weights)
    assert not torch.isfinite(seen["loss"]).any()
    assert torch.isinf(seen["error"]).all()


def test_single_precision_and_the_engine_train_it() -> None:
    data = drawn((1, 16, 16), samples=60)
    problem = modules.problem(data, "cnn-mnist", G=G, M=M, batch=10)
    assert {w.dtype for w in problem.start()} == {torch.float32}
    algorithm = two_tier(topology="ring-ring", G=G, M=M, K=5)
    trace = simulate(problem, algorithm, [0.05, 0.0], [1, 1], 6, at=(0, 6))
    first, last = trace.values["loss"].T.tolist()
    assert last[0] < 0.7 * first[0]
    assert last[1] == first[1]


def write_mnist(folder: Path) -> None:
    for name in idx.FILES:
        count = 60 if name.startswith("train") else 20
        shape = (count, 28, 28) if "images" in name else (count,)
        body = np.random.default_rng(1).integers(0, 10, shape, np.uint8).tobytes()
        header = bytes([0, 0, 8, len(shape)]) + b"".join(side.to_bytes(4, "big") for side in shape)
        (folder / name).write_bytes(header + body)


def test_a_cell_on_files_is_described_and_run(tmp_path: Path) -> None:
    write_mnist(tmp_path)
    problem = part("files-mnist-logistic", path=str(tmp_path), G=G, M=M, batch=5, partitioned="both", alpha=0.5)
    algorithm = part("two-tier", topology="star-star", G=G, M=M)
    cell = Cell(problem, algorithm, (0.01,), (1,), 2, (0, 2))
    assert cell_of(json.loads(json.dumps(cell.described()))).hash == cell.hash
    trace = cell.run()
    assert torch.isfinite(trace.values["loss"]).all()
    assert make_problem(problem).numbers_per_model == 7850


def test_what_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="is not there"):
        make_problem(part("files-sst2-mlp", path=str(tmp_path), G=1, M=1))
    for options, why in (
        ({"batch": 0}, "batch = 0"),
        ({"clip": 0.0}, "clip = 0"),
        ({"clip": float("nan")}, "clip = nan"),
        ({"depth": 3}, "no option 'depth'"),
    ):
        with pytest.raises(ValidationError, match=why):
            modules.problem(drawn((9,)), "mlp", G=1, M=1, **options)
    with pytest.raises(ValidationError, match="no model is called"):
        modules.problem(drawn((9,)), "mpl", G=1, M=1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValidationError, match="cuda"):
        modules.problem(drawn((9,)), "mlp", G=1, M=1, device="cuda")


def test_every_maker_has_a_reader_and_a_model() -> None:
    for name, maker in modules.MAKERS.items():
        assert name.split("-")[0] == "files"
        assert maker.args[1] in MODELS
