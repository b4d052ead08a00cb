"""The store: resumable after ``kill -9``, shared without doing work twice, and clear about what it cannot read."""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from validation.engine import ValidationError  # noqa: E402
from validation.experiment import Cell, Effort, measured, part, processor  # noqa: E402
from validation.store import Store, gone, here, work  # noqa: E402
from validation.sweep import HERE, _worker  # noqa: E402


def cells(count: int, rounds: int = 2) -> list[Cell]:
    problem = part("controlled", G=2, M=2, zeta=0.5, seed=1)
    algorithm = part("two-tier", topology="ring-star", G=2, M=2, K=2)
    return [
        Cell(problem, algorithm, (0.1, 0.2), (seed, seed), rounds, (1, rounds), every_round=True)
        for seed in range(count)
    ]


EFFORT = Effort(0.5, 0.4, "cpu", 1, "2.0", "a processor")


def table(path: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as db:
        return db.execute(
            "SELECT hash, run, quantity, kind, round, number FROM results ORDER BY 1, 2, 3, 4, 5"
        ).fetchall()


def test_what_is_put_is_got(tmp_path: Path) -> None:
    (cell,) = cells(1)
    with Store(tmp_path / "runs.db") as store:
        assert store.get(cell) is None
        trace = cell.run()
        store.put(cell, trace, EFFORT)
        found = store.get(cell)
        assert found is not None
        assert found.rounds == trace.rounds
        for mine, theirs in ((found.values, trace.values), (found.averages, trace.averages)):
            assert mine.keys() == theirs.keys()
            assert all(torch.equal(mine[name], theirs[name]) for name in mine)
        store.put(cell, trace, EFFORT)
        assert len(table(tmp_path / "runs.db")) == 2 * 2 * 2 * 2


def test_the_time_of_some_is_that_of_the_finished_among_them(tmp_path: Path) -> None:
    some = cells(3)
    with Store(tmp_path / "runs.db") as store:
        store.add(some)
        assert store.seconds(some) == 0
        for cell in some[:2]:
            store.put(cell, cell.run(), EFFORT)
        assert [store.seconds(some[:n]) for n in range(4)] == [0, 0.5, 1, 1]


def test_every_number_of_the_finished_is_told(tmp_path: Path) -> None:
    path, (done, waiting) = tmp_path / "runs.db", cells(2)
    with Store(path) as store:
        store.put(done, done.run(), EFFORT)
        store.add([waiting])
        told = [(cell.hash, *others) for cell, *others in store.numbers()]
    assert sorted(told) == sorted(table(path))
    assert {name for name, *_ in told} == {done.hash}


@pytest.mark.parametrize("change", ["number = 'x'", "run = 2", "run = -1"])
def test_numbers_that_were_altered_are_refused(tmp_path: Path, change: str) -> None:
    path, (done,) = tmp_path / "runs.db", cells(1)
    with Store(path) as store:
        store.put(done, done.run(), EFFORT)
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE results SET {change} WHERE run = 1 AND round = 1")  # noqa: S608 - written above
    with Store(path) as store, pytest.raises(ValidationError, match=f"results of cell {done.hash:.12}.* as a number"):
        list(store.numbers())


def test_a_result_that_cannot_be_kept_leaves_nothing_behind(tmp_path: Path) -> None:
    """Two numbers of one round: the first is written, the second refused, and the store goes on without either."""
    (cell,) = cells(1)
    with Store(tmp_path / "runs.db") as store:
        trace = cell.run()
        with pytest.raises(ValidationError, match=r"store of results: UNIQUE constraint failed: results\.hash"):
            store.put(cell, replace(trace, rounds=(1, 1)), EFFORT)
        assert table(tmp_path / "runs.db") == []
        store.put(cell, trace, EFFORT)
        assert len(table(tmp_path / "runs.db")) == 2 * 2 * 2 * 2


def test_divergence_is_kept_as_infinity(tmp_path: Path) -> None:
    problem = part("controlled", G=1, M=2, seed=1)
    cell = Cell(problem, part("two-tier", topology="star-star", G=1, M=2), (1e300, 0.1), (0, 0), 9, (9,))
    with Store(tmp_path / "runs.db") as store:
        store.put(cell, cell.run(), EFFORT)
        found = store.get(cell)
    assert found is not None
    assert torch.isinf(found.values["gradient"][0, 0])
    assert torch.isfinite(found.values["gradient"][1, 0])


def test_two_on_one_store_share_the_work(tmp_path: Path) -> None:
    wanted = cells(6)
    with Store(tmp_path / "runs.db") as one, Store(tmp_path / "runs.db") as two:
        one.add(wanted)
        first, second = one.claim(), two.claim()
        assert first is not None
        assert second is not None
        assert first != second
        one.release(first)
        two.release(second)
        assert work(one, limit=2) + work(two) == 6
        assert work(one) == work(two) == 0
        assert one.counts() == {"finished": 6, "running": 0, "waiting": 0}


def test_a_claim_expires_with_its_heartbeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that is set: after the patience and not before, counted from the last beat."""
    wanted, clock = cells(1), [1000.0]
    monkeypatch.setattr("validation.store.time.time", lambda: clock[0])
    with Store(tmp_path / "runs.db", patience=8) as lost, Store(tmp_path / "runs.db", patience=8) as next_one:
        lost.add(wanted)
        assert lost.claim() == wanted[0]
        clock[0] += 6
        assert next_one.claim() is None
        lost.beat(wanted[0])
        for _ in range(2):
            clock[0] += 4
            assert next_one.claim() is None
            assert next_one.counts() == {"finished": 0, "running": 1, "waiting": 0}
        clock[0] += 0.5
        assert next_one.counts() == {"finished": 0, "running": 0, "waiting": 1}
        assert next_one.claim() == wanted[0]
        lost.beat(wanted[0])  # no longer its own
        clock[0] += 8.5
        assert lost.claim() == wanted[0]


def test_a_cell_that_runs_for_long_is_left_to_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that is set, another store tries to take it before every beat."""
    path, (wanted,), clock, enough = tmp_path / "runs.db", cells(1), [1000.0], threading.Event()
    taken: list[Cell | None] = []

    class Watched(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            assert timeout is not None
            clock[0] += timeout
            with Store(path, patience=8) as other:
                taken.append(other.claim())
            if len(taken) == 7:
                enough.set()
            return enough.is_set()

    def long(cell: Cell) -> object:
        assert enough.wait(60)
        return measured(cell)

    monkeypatch.setattr("validation.store.time.time", lambda: clock[0])
    monkeypatch.setattr("validation.store.threading", SimpleNamespace(Event=Watched, Thread=threading.Thread))
    monkeypatch.setattr("validation.store.measured", long)
    with Store(path, patience=8) as store:
        store.add([wanted])
        assert work(store) == 1
    assert taken == [None] * 7


def test_what_is_wanted_is_written_alike_by_both_ways_and_known_until_it_is_there(tmp_path: Path) -> None:
    done, waiting, strange = cells(3)
    texts = []
    for name in ("noted.db", "put.db"):
        with Store(tmp_path / name) as store:
            if name == "noted.db":
                store.add([done])
            store.put(done, done.run(), EFFORT)
            store.add([waiting])
            assert store.unfinished([waiting, strange, done]) == [waiting]
        with sqlite3.connect(tmp_path / name) as db:
            texts.append(db.execute("SELECT description FROM cells ORDER BY hash").fetchall())
    assert texts[0] == texts[1]


def test_a_cell_that_fails_is_given_back(tmp_path: Path) -> None:
    wrong = Cell(part("controlled", G=2, M=2), part("two-tier", topology="star-star", G=3, M=2), (0.1,), (0,), 1, (1,))
    with Store(tmp_path / "runs.db") as store:
        store.add([wrong])
        with pytest.raises(ValidationError, match="the problem has 4 clients"):
            work(store)
        assert store.counts()["waiting"] == 1


def worker(path: Path, ready: Any) -> None:
    torch.set_num_threads(1)
    with Store(path, patience=0.5) as store:
        ready.send(True)
        work(store)


def kill_again_and_again(path: Path, kills: int, rounds: int, seed: int) -> None:
    """Start a worker, kill it at a random moment, and so on; the last one may finish."""
    wait, copies = torch.Generator().manual_seed(seed), multiprocessing.get_context("fork")
    for _ in range(kills):
        told, ready = copies.Pipe(duplex=False)
        process = copies.Process(
            target=worker, args=(path, ready)
        )  # a copy, as a new one takes seconds to import torch
        process.start()
        assert told.recv()
        time.sleep(0.4 * float(torch.rand(1, generator=wait)))
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        with sqlite3.connect(path) as db:  # whole cells or nothing
            halves = db.execute(
                "SELECT c.hash, count(r.run) FROM cells c LEFT JOIN results r USING (hash) GROUP BY c.hash "
                "HAVING (c.finished IS NULL) = (count(r.run) > 0)"
            ).fetchall()
            assert halves == []
    time.sleep(0.6)
    with Store(path, patience=0.5) as store:
        work(store)


def test_a_claim_of_a_process_that_is_gone_is_taken_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store writes the number of its process: here that of one that has ended, which need not import torch."""
    path, (wanted,) = tmp_path / "runs.db", cells(1)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with monkeypatch.context() as patch:
        patch.setattr("validation.store.os.getpid", lambda: ended.pid)
        left = Store(path)
    left.add([wanted])
    assert left.claim() == wanted
    with Store(path) as store:
        assert store.counts() == {"finished": 0, "running": 0, "waiting": 1}
        assert store.claim() == wanted
        assert store.counts()["running"] == 1
        assert Store(path).claim() is None  # this process is not gone


@pytest.mark.parametrize("where", ["elsewhere/pid:[1]", ""])
def test_of_another_machine_nothing_is_known_but_the_heartbeat(where: str) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert gone(f"{ended.pid}-a@{here()}")
    assert not gone(f"{ended.pid}-a@{where}")
    assert not gone(f"{os.getpid()}-a@{here()}")
    for strange in (f"@{here()}", f"x-a@{here()}", f"{10**30}-a@{here()}", "1-a"):
        assert not gone(strange)


def test_to_ask_whether_a_process_is_gone_does_nothing_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr("validation.store.os.kill", lambda *asked: sent.append(asked))
    assert not gone(f"{os.getpid()}-a@{here()}")
    assert sent == [(os.getpid(), 0)]  # a signal of 0 is none


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no copies of processes here")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
@pytest.mark.parametrize(("kills", "count"), [(1, 4), pytest.param(25, 300, marks=pytest.mark.slow)])
def test_kills_lose_nothing_but_the_cells_in_flight(tmp_path: Path, kills: int, count: int) -> None:
    wanted = cells(count, rounds=120)
    paths = tmp_path / "killed.db", tmp_path / "calm.db"
    for path in paths:
        with Store(path) as store:
            store.add(wanted)
    kill_again_and_again(paths[0], kills, 120, seed=kills)
    with Store(paths[1]) as store:
        work(store)
    assert table(paths[0]) == table(paths[1])
    with Store(paths[0]) as store:
        assert store.counts() == {"finished": len(wanted), "running": 0, "waiting": 0}


WORKERS = """
import sys, time
from pathlib import Path
from validation.sweep import HERE, _workers
with _workers(Path(sys.argv[1]), 2, HERE):
    print("started", flush=True)
    time.sleep(600)
"""


def test_a_worker_runs_cells_until_whoever_started_it_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, alive, signals = tmp_path / "runs.db", iter((True, True, False)), (signal.SIGINT, signal.SIGTERM)
    with Store(path) as store:
        store.add(cells(3))
    parent = SimpleNamespace(is_alive=lambda: next(alive))
    monkeypatch.setattr("validation.sweep.multiprocessing.parent_process", lambda: parent)
    before, threads = [signal.getsignal(one) for one in signals], torch.get_num_threads()
    try:
        _worker(str(path), threading.Event(), HERE, True)
    finally:
        torch.set_num_threads(threads)
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)
    with Store(path) as store:
        assert store.counts() == {"finished": 2, "running": 0, "waiting": 1}


@pytest.mark.slow  # three processes import torch
def test_workers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    running = subprocess.Popen([sys.executable, "-c", WORKERS, str(tmp_path / "runs.db")], stdout=subprocess.PIPE)
    assert running.stdout is not None and running.stdout.readline() == b"started\n"
    running.kill()
    assert running.communicate(timeout=120) == (b"", None)  # at the end of a pipe that the workers hold, too


def test_what_is_not_a_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, and long enough to be looked at: " * 30)
    with pytest.raises(ValidationError, match="cannot be used as a store"):
        Store(text)
    assert text.read_text().startswith("not a database")
    with pytest.raises(ValidationError, match="is a folder"):
        Store(tmp_path)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (x)")
    if Path("/proc").is_dir():
        with pytest.raises(ValidationError, match="Name one in a folder that can be written"):
            Store(Path("/proc/runs.db"))
    with pytest.raises(ValidationError, match="of something else"):
        Store(other)


OLDER = """
CREATE TABLE cells (
    hash TEXT PRIMARY KEY, description TEXT NOT NULL, added REAL NOT NULL, owner TEXT, heartbeat REAL, finished REAL,
    seconds REAL, threads INTEGER, failure TEXT
) WITHOUT ROWID;
CREATE TABLE notes (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE results (
    hash TEXT NOT NULL REFERENCES cells (hash), run INTEGER NOT NULL, quantity TEXT NOT NULL, kind TEXT NOT NULL,
    round INTEGER NOT NULL, number REAL, PRIMARY KEY (hash, run, quantity, kind, round)
) WITHOUT ROWID;
PRAGMA user_version = 1;
"""


def test_a_store_of_the_first_schema_is_read_and_goes_on(tmp_path: Path) -> None:
    done, waiting = cells(2)
    path = tmp_path / "older.db"
    with sqlite3.connect(path) as db:
        db.executescript(OLDER)
        for cell, finished in ((done, 3.0), (waiting, None)):
            row = (cell.hash, json.dumps(cell.described()), 1.0, finished, 2.5 if finished else None)
            db.execute("INSERT INTO cells (hash, description, added, finished, seconds) VALUES (?, ?, ?, ?, ?)", row)
        for run, r in ((0, 1), (0, 2), (1, 1), (1, 2)):
            db.execute("INSERT INTO results VALUES (?, ?, 'gradient', 'value', ?, 0.25)", (done.hash, run, r))
    with Store(path) as store:
        found = store.get(done)
        assert found is not None
        assert float(found.values["gradient"][0, 1]) == 0.25
        assert work(store) == 1
        assert store.counts() == {"finished": 2, "running": 0, "waiting": 0}
        now, before = sorted(store.machines(), key=lambda machine: machine.seconds)
    assert (before.cells, before.seconds, before.device, before.processor) == (1, 2.5, None, None)
    assert (now.cells, now.device, now.torch) == (1, "cpu", torch.__version__)
    with Store(path) as store, sqlite3.connect(path) as db:  # and once only
        assert len(store.machines()) == 2
        assert db.execute("PRAGMA user_version").fetchone() == (3,)


def test_where_a_cell_was_run_is_kept_with_it(tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    with Store(tmp_path / "runs.db") as store:
        store.add(cells(3, rounds=40))  # longer than a tick of the processor clock
        for count in (1, 2, 2):
            torch.set_num_threads(count)
            work(store, limit=1)
        torch.set_num_threads(threads)
        two, one = store.machines()
    assert (two.threads, two.cells, one.threads, one.cells) == (2, 2, 1, 1)
    for machine in (one, two):
        assert (machine.device, machine.torch, machine.processor) == ("cpu", torch.__version__, processor())
        assert machine.seconds > 0
        assert machine.processor_seconds is not None
        assert 0 < machine.processor_seconds < 4 * machine.seconds + 0.1
    told = Path("/proc/cpuinfo")
    assert processor() in (told.read_text() if told.exists() else platform.processor() + platform.machine())


def test_a_newer_and_a_damaged_store_are_refused(tmp_path: Path) -> None:
    newer = tmp_path / "newer.db"
    Store(newer).close()
    with sqlite3.connect(newer) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(ValidationError, match="newer version"):
        Store(newer)
    cut = tmp_path / "cut.db"
    with Store(cut) as store:
        store.add(cells(200))
        work(store, limit=60)
        store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with cut.open("r+b") as file:
        file.truncate(cut.stat().st_size // 2)
    with pytest.raises(ValidationError, match=r"damaged|cannot be used"):
        Store(cut)


ALTERED = [  # what is done to a store of two cells, one finished, and what is said of it
    ("UPDATE results SET number = 'much' WHERE run = 1 AND round = 2", "'[a-z]+' has 'much' as a number"),
    ("UPDATE results SET number = NULL", "'[a-z]+' has None as a number"),
    ("UPDATE results SET round = 999999 WHERE round = 2", "'[a-z]+' has other runs or rounds than it"),
    ("UPDATE results SET run = -1 WHERE run = 1", "'[a-z]+' has other runs or rounds than it"),
    ("DELETE FROM results WHERE run = 1", "'[a-z]+' has other runs or rounds than it"),
    ("UPDATE results SET quantity = 'gradients' WHERE quantity = 'gradient'", "have no 'gradient'"),
    ("DELETE FROM results", "have no 'gradient'"),
    ("UPDATE cells SET description = 'x'", "the description of cell .* cannot be read"),
    ("UPDATE cells SET description = '[]'", "the description of cell .* cannot be read"),
    ("UPDATE cells SET description = '{\"version\": 1}'", "the description of cell .* cannot be read"),
    (
        "UPDATE cells SET description = replace(description, '0.1', '0.3')",
        "the description of cell .* is that of",
    ),
    ("UPDATE notes SET text = 'x' WHERE name = 'claims'", "the note 'claims', 'x', is no list of claims"),
    ("UPDATE notes SET text = '[1]' WHERE name = 'claims'", "the note 'claims', '\\[1\\]', is no list of claims"),
    ("UPDATE notes SET text = '[\"a\", 1]' WHERE name = 'claims'", "the note 'claims', .* is no list of claims"),
    ("UPDATE notes SET text = 'giant' WHERE name = 'size'", "the note 'size', 'giant', is neither quick nor full"),
    ("DELETE FROM notes", "does not say what it was made for"),
]


@pytest.mark.parametrize(("change", "told"), ALTERED)
def test_altered_content_is_refused_with_its_place_and_the_way_out(tmp_path: Path, change: str, told: str) -> None:
    path, (done, waiting) = tmp_path / "runs.db", cells(2)

    def read() -> None:
        with Store(path) as store:
            store.asked()
            trace = store.get(done)
            assert trace is not None
            assert trace.values["gradient"].shape == (2, 2)
            claimed = store.claim()
            assert claimed == waiting
            store.release(claimed)

    with Store(path) as store:
        store.ask(["raw-rates"], "quick")
        assert store.asked() == (["raw-rates"], "quick")
        store.put(done, done.run(), EFFORT)
        store.add([waiting])
    read()
    with sqlite3.connect(path) as db:
        db.execute(change)
    with pytest.raises(ValidationError, match=told) as refusal:
        read()
    said = str(refusal.value)
    assert said.startswith(str(path))
    assert ("run --store" if "note" in told or "say" in told else "Move the file away") in said
    assert "\n" not in said


def test_a_file_with_damaged_bytes_is_refused_in_one_line(tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    with Store(whole) as store:
        store.add(cells(60))
        work(store, limit=40)
        store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content, refused = whole.read_bytes(), 0
    for seed in range(12):
        dice, path = random.Random(seed), tmp_path / f"damaged{seed}.db"
        damaged = bytearray(content)
        for _ in range(400):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        path.write_bytes(damaged)
        try:
            with Store(path) as store:
                for cell in cells(60):
                    store.get(cell)
                work(store, limit=1)
                store.machines()
        except ValidationError as error:
            refused += 1
            assert str(path) in str(error)
            assert "\n" not in str(error)
            assert len(str(error)) < 300 + len(str(path))
    assert refused == 12
