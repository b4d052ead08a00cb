"""Cells on a real local Ray give what they give here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
ray = pytest.importorskip("ray")

from validation.engine import ValidationError  # noqa: E402
from validation.experiment import Cell, part  # noqa: E402
from validation.store import Store, work  # noqa: E402
from validation.sweep import _on_ray, run_apart  # noqa: E402

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]  # Ray's own warnings are not ours


def cell(topology: str = "ring-ring", **options: Any) -> Cell:
    problem = part("controlled", G=2, M=2, dim=3, delta=0.5)
    algorithm = part("two-tier", topology=topology, G=2, M=2, **options)
    return Cell(problem, algorithm, (0.05, 0.1), (1, 2), 4, (0, 2, 4), every_round=True)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()


def same(one: Any, other: Any) -> bool:
    return one.rounds == other.rounds and all(
        a.keys() == b.keys() and all(torch.equal(a[name].double(), b[name].double()) for name in a)
        for a, b in ((one.values, other.values), (one.averages, other.averages))
    )


def test_two_cells_on_ray_are_those_of_the_local_engine(tmp_path: Path, cluster: None) -> None:
    cells = [cell("ring-ring"), cell("star-star")]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as on Ray
    with Store(tmp_path / "here.db") as here, Store(tmp_path / "ray.db") as there:
        here.add(cells)
        assert work(here, cells) == 2
        there.add(cells)
        told: list[int] = []
        _on_ray(there, cells, 2, lambda: told.append(there.counts()["finished"]))
        assert told[-1] == 2
        for one in cells:
            assert same(here.get(one), there.get(one))
    torch.set_num_threads(threads)
    assert ray.is_initialized()  # it was there before, and stays


def test_cells_that_others_have_in_hand_are_not_run_twice(tmp_path: Path, cluster: None) -> None:
    cells = [cell("ring-ring"), cell("star-star")]
    with Store(tmp_path / "a.db") as other, Store(tmp_path / "a.db") as store:
        other.add(cells)
        held = other.claim()
        assert held is not None
        trace, effort = run_apart(held.described())
        told: list[int] = []

        def report() -> None:
            told.append(1)
            other.put(held, trace, effort)  # the other process finishes after the first cell of this one

        _on_ray(store, cells, 2, report)
        rows = dict(store._db.execute("SELECT hash, owner FROM cells").fetchall())
        (mine,) = (one for one in cells if one != held)
        assert rows == {held.hash: other.owner, mine.hash: store.owner}
        assert told


def test_what_a_cell_raises_is_raised_and_its_claim_given_back(tmp_path: Path, cluster: None) -> None:
    wrong = Cell(part("controlled", G=2, M=2, L=-1.0), cell().algorithm, (0.1,), (1,), 1, (1,))
    with Store(tmp_path / "a.db") as store:
        store.add([wrong])
        with pytest.raises(ValidationError, match=r"^L = -1\.0 must be a finite number above 0\.$"):
            _on_ray(store, [wrong], 1, lambda: None)
        assert store.counts() == {"finished": 0, "running": 0, "waiting": 1}


def test_an_address_where_no_cluster_is_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with (
        Store(tmp_path / "a.db") as store,
        pytest.raises(ValidationError, match=r"no Ray cluster answers at 127\.0\.0\.1:1"),
    ):
        _on_ray(store, [cell()], 1, lambda: None)


def test_a_ray_that_was_not_there_is_started_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", "local")
    with Store(tmp_path / "a.db") as store:
        store.add([cell()])
        _on_ray(store, [cell()], 1, lambda: None)
        assert store.finished(cell())
    assert not ray.is_initialized()
