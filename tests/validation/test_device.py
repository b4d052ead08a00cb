"""The device is a way to run a cell and no part of it; one that is not there is refused before anything is run."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from typer.testing import CliRunner  # noqa: E402

from planner.cli.app import app  # noqa: E402
from validation import experiment  # noqa: E402
from validation.engine import ValidationError, device_of, simulate  # noqa: E402
from validation.experiment import Cell, make_problem, on, part  # noqa: E402
from validation.problems.controlled import controlled  # noqa: E402
from validation.sweep import run  # noqa: E402

CONTROLLED = part("controlled", G=2, M=2, dim=3, delta=0.5)
CELL = Cell(CONTROLLED, part("two-tier", topology="ring-ring", G=2, M=2), (0.05,), (1,), 2, (2,))
no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


@no_gpu
def test_a_gpu_that_is_not_there_is_refused_everywhere(tmp_path: Path) -> None:
    told = "'cuda' is asked for and PyTorch finds none"
    with pytest.raises(ValidationError, match=told), on("cuda"):
        pytest.fail("no such block is entered")
    with pytest.raises(ValidationError, match=told):
        controlled(G=1, M=1, device="cuda")
    with pytest.raises(ValidationError, match=told):
        run([], "quick", tmp_path / "a.db", device="cuda")
    assert not (tmp_path / "a.db").exists()


@no_gpu
def test_the_command_says_that_there_is_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(app, ["validate", "run", "ring-top", "--device", "cuda"])
    assert told.exit_code != 0
    assert "'cuda' is asked for and PyTorch finds none" in str(told.exception) + told.output


@pytest.mark.parametrize("name", ["tpu", "", "mps", "meta", "cuda:x"])
def test_other_devices_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="cpu or cuda"):
        device_of(name)


def test_makers_are_told_the_device_and_the_cell_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    def named(device: str = "cpu", **options: Any) -> Any:
        seen.append({"device": device, **options})
        return controlled(G=2, M=2)

    def alone(G: int = 2) -> Any:
        return controlled(G=G, M=2)

    monkeypatch.setattr(experiment, "device_of", lambda name: name)  # no GPU is touched
    monkeypatch.setattr(experiment, "_makers", lambda folder: {"named": named, "alone": alone})
    before = CELL.hash
    with on("cuda"):
        make_problem(part("named", seed=3))
        make_problem(part("named", seed=4, device="cpu"))
        assert CELL.hash == before
        with pytest.raises(ValidationError, match="'alone' runs on the cpu alone"):
            make_problem(part("alone", G=2))
    make_problem(part("named", seed=5))
    assert make_problem(part("alone", G=2)).clients == 4
    assert seen == [{"device": "cuda", "seed": 3}, {"device": "cpu", "seed": 4}, {"device": "cpu", "seed": 5}]
    assert "device" not in str(CELL.described())


CPU_ALONE = {"factorisation", "flat-start", "least-squares", "multiplicative", "power-law", "student"}
"""Small problems that predictors are judged on; elsewhere they are refused by name, as above."""


@pytest.mark.parametrize("name", sorted(experiment._makers(experiment.problems)))
def test_every_problem_takes_a_device_or_is_known_to_take_none(name: str) -> None:
    maker = experiment._maker(experiment.problems, "problem", name)
    takes = bool({"device", "options"} & inspect.signature(maker).parameters.keys())
    assert takes == (name not in CPU_ALONE)


def test_a_block_ends_its_device() -> None:
    with on("cpu"):
        first = make_problem(CONTROLLED)
    assert make_problem(CONTROLLED) is first


@gpu
def test_a_gpu_gives_what_the_cpu_gives() -> None:
    here = CELL.run()
    with on("cuda"):
        assert make_problem(CONTROLLED).start()[0].is_cuda
        there = CELL.run()
    for name, value in here.values.items():
        assert torch.allclose(value, there.values[name].cpu(), rtol=1e-9)


@gpu
def test_constants_on_a_gpu_are_those_on_the_cpu() -> None:
    one, other = (controlled(G=2, M=3, zeta=1.0, delta=0.5, device=device) for device in ("cpu", "cuda"))
    for name, value in one.constants.items():
        assert other.constants[name] == pytest.approx(value, rel=1e-10)
    trace = simulate(other, experiment.make_algorithm(CELL.algorithm), [0.1], [1], 1)
    assert torch.isfinite(trace.values["gap"]).all()
