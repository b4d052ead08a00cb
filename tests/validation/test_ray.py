"""Cells on a real local Ray give what they give here."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
ray = pytest.importorskip("ray")

from validation import sweep  # noqa: E402
from validation.engine import ValidationError  # noqa: E402
from validation.experiment import Cell, part  # noqa: E402
from validation.store import Store, work  # noqa: E402
from validation.sweep import _on_ray, run_apart  # noqa: E402

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]  # Ray's own warnings are not ours


def cell(topology: str = "ring-ring", seed: int = 1, **options: Any) -> Cell:
    problem = part("controlled", G=2, M=2, dim=3, delta=0.5)
    algorithm = part("two-tier", topology=topology, G=2, M=2, **options)
    return Cell(problem, algorithm, (0.05, 0.1), (seed, seed + 1), 4, (0, 2, 4), every_round=True)


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


def test_a_cluster_of_nodes_shares_the_work_and_survives_the_death_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three nodes of one processor each, as Ray's own tests start them; one is killed while its cells run."""
    from ray.cluster_utils import Cluster

    ray.shutdown()
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    diary = tmp_path / "diary"
    diary.mkdir()

    def noted(description: dict[str, Any], *where: Any) -> Any:
        node = ray.get_runtime_context().get_node_id()
        name = f"{node}.{uuid.uuid4().hex}"
        (diary / f"{name}.begun").touch()
        time.sleep(60 if (diary / f"{node}.stuck").exists() else 0.1)  # the cell that is under way when its node dies
        result = run_apart(description, *where)
        (diary / f"{name}.ended").touch()
        return result

    def nodes(suffix: str) -> list[str]:
        return [path.name.partition(".")[0] for path in diary.glob(f"*.{suffix}")]

    cells = [cell(topology, seed=seed) for topology in ("ring-ring", "star-ring", "star-star") for seed in range(8)]
    machine = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        others = [machine.add_node(num_cpus=1) for _ in range(2)]
        machine.wait_for_nodes()
        monkeypatch.setenv("RAY_ADDRESS", machine.address)
        monkeypatch.setattr(sweep, "run_apart", noted)
        victim = others[0]
        killed: list[int] = []

        def report() -> None:
            if not killed and victim.node_id in nodes("ended") and len(nodes("ended")) >= 6:
                (diary / f"{victim.node_id}.stuck").touch()
                time.sleep(0.5)
                while nodes("begun").count(victim.node_id) == nodes("ended").count(victim.node_id):
                    time.sleep(0.01)
                killed.append(nodes("ended").count(victim.node_id))
                machine.remove_node(victim, allow_graceful=False)

        with Store(tmp_path / "ray.db") as there, Store(tmp_path / "here.db") as here:
            there.add(cells)
            _on_ray(there, cells, 3, report)
            assert there.counts() == {"finished": len(cells), "running": 0, "waiting": 0}
            threads = torch.get_num_threads()
            torch.set_num_threads(1)  # as on Ray
            here.add(cells)
            assert work(here, cells) == len(cells)
            torch.set_num_threads(threads)
            assert all(same(here.get(one), there.get(one)) for one in cells)
    finally:
        ray.shutdown()
        machine.shutdown()
    assert killed and len(set(nodes("ended"))) == 3  # all three worked before one was killed
    assert nodes("begun").count(victim.node_id) > nodes("ended").count(victim.node_id)  # in the middle of a cell
    assert len(nodes("ended")) >= len(cells)


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
