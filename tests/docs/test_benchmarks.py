"""Programs that pages name can be started."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
APART = {"bench_jax": "jax"}  # what is no dependency


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_every_benchmark_can_be_imported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    if name in APART:
        pytest.skip(f"needs {APART[name]}")
    monkeypatch.syspath_prepend(str(FOLDER))
    assert importlib.import_module(name).__doc__
