"""Results of runs: SQLite, one row per (run, quantity, round), whole cells or nothing, shared by processes.

A cell is claimed in one transaction, run, and written with all its rows in another. A process that is killed loses
the cell it was running and nothing else; its claim expires when its heartbeat does. Two processes on one store never
run one cell twice.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from validation.engine import Trace, ValidationError
from validation.experiment import Cell, Effort, cell_of, measured

SCHEMA = 2
PATIENCE = 30.0  # seconds without a heartbeat after which a claim is taken over
TABLES = """
CREATE TABLE cells (
    hash TEXT PRIMARY KEY,
    description TEXT NOT NULL,
    added REAL NOT NULL,
    owner TEXT,
    heartbeat REAL,
    finished REAL,
    seconds REAL,
    threads INTEGER,
    failure TEXT
) WITHOUT ROWID;
CREATE TABLE notes (
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE results (
    hash TEXT NOT NULL REFERENCES cells (hash),
    run INTEGER NOT NULL,
    quantity TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('value', 'average')),
    round INTEGER NOT NULL,
    number REAL,
    PRIMARY KEY (hash, run, quantity, kind, round)
) WITHOUT ROWID;
"""
NEWER = (  # what each schema adds to the one before, from the second on
    """
ALTER TABLE cells ADD COLUMN processor_seconds REAL;
ALTER TABLE cells ADD COLUMN device TEXT;
ALTER TABLE cells ADD COLUMN torch TEXT;
ALTER TABLE cells ADD COLUMN processor TEXT;
CREATE INDEX unfinished ON cells (added, hash) WHERE finished IS NULL;
""",
)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where cells were run; what an older store does not say is None.

    Attributes:
        device: as of `Effort`.
        threads: as of `Effort`.
        torch: as of `Effort`.
        processor: as of `Effort`.
        cells: how many.
        seconds: that they took by the clock, added up.
        processor_seconds: that they took on all processors, added up.
    """

    device: str | None
    threads: int | None
    torch: str | None
    processor: str | None
    cells: int
    seconds: float
    processor_seconds: float | None


class Store:
    """An open store; use it in a ``with`` block, one object per thread.

    Args:
        path: of the file; made if it is not there.
        patience: seconds without a heartbeat after which another process's claim is taken over.

    Raises:
        ValidationError: if the file is not a store, is damaged, or was written by a newer version.
    """

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self.path, self.patience = path, patience
        self.owner = f"{os.getpid()}-{secrets.token_hex(4)}"
        if path.is_dir():
            raise ValidationError(f"{path} is a folder. Name a file for the results.")
        if not path.parent.is_dir():
            raise ValidationError(f"the folder {path.parent} does not exist. Make it, or name another file.")
        try:
            self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._prepare()
        except sqlite3.DatabaseError as error:
            raise ValidationError(
                f"{path} cannot be used as a store of results: {error}. Move it away, or name another file."
            ) from None

    def _prepare(self) -> None:
        with self._transaction():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version > SCHEMA:
                raise ValidationError(
                    f"{self.path} was written by a newer version (schema {version}; this one knows {SCHEMA}). "
                    "Update hfl-plan, or name another file."
                )
            steps = NEWER[max(version, 1) - 1 :]
            if version == 0:
                if self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    raise ValidationError(f"{self.path} is a database of something else. Name another file.")
                steps = (TABLES, *steps)
            if steps:
                for statement in filter(str.strip, "".join(steps).split(";\n")):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {SCHEMA}")
        (state,) = self._db.execute("PRAGMA quick_check").fetchone()
        if state != "ok":
            raise ValidationError(f"{self.path} is damaged ({state}). Move it away and run again.")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def add(self, cells: Iterable[Cell]) -> None:
        """Note cells as wanted; those already there stay as they are."""
        rows = [(cell.hash, json.dumps(cell.described(), sort_keys=True), time.time()) for cell in cells]
        with self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO cells (hash, description, added) VALUES (?, ?, ?)", rows)

    def claim(self, among: Sequence[Cell] | None = None) -> Cell | None:
        """The next cell that nobody runs and nobody has finished, now claimed; None if there is none.

        Args:
            among: only these; by default any.
        """
        return self._claim(None if among is None else {cell.hash for cell in among})

    def _claim(self, chosen: Collection[str] | None) -> Cell | None:
        now = time.time()
        with self._transaction():
            free = self._db.execute(
                "SELECT hash, description FROM cells "
                "WHERE finished IS NULL AND (owner IS NULL OR heartbeat < ?) ORDER BY added, hash",
                (now - self.patience,),
            )
            for name, description in free:
                if chosen is None or name in chosen:
                    self._db.execute(
                        "UPDATE cells SET owner = ?, heartbeat = ? WHERE hash = ?", (self.owner, now, name)
                    )
                    return cell_of(json.loads(description))
        return None

    def beat(self, cell: Cell) -> None:
        """Say that a claimed cell is still being run."""
        with self._transaction():
            self._db.execute(
                "UPDATE cells SET heartbeat = ? WHERE hash = ? AND owner = ?", (time.time(), cell.hash, self.owner)
            )

    def release(self, cell: Cell) -> None:
        """Give a claim back."""
        with self._transaction():
            self._db.execute(
                "UPDATE cells SET owner = NULL WHERE hash = ? AND owner = ? AND finished IS NULL",
                (cell.hash, self.owner),
            )

    def put(self, cell: Cell, trace: Trace, effort: Effort) -> None:
        """Keep a cell's trace, all of it or nothing; a cell that is there already stays as it is.

        Args:
            cell: what was run.
            trace: its result.
            effort: what it took, and where.
        """
        rows = []
        for kind, table in (("value", trace.values), ("average", trace.averages)):
            for quantity, numbers in table.items():
                for run, line in enumerate(numbers.tolist()):
                    rows += [(cell.hash, run, quantity, kind, r, x) for r, x in zip(trace.rounds, line, strict=True)]
        with self._transaction():
            self._db.execute(
                "INSERT OR IGNORE INTO cells (hash, description, added) VALUES (?, ?, ?)",
                (cell.hash, json.dumps(cell.described(), sort_keys=True), time.time()),
            )
            (finished,) = self._db.execute("SELECT finished FROM cells WHERE hash = ?", (cell.hash,)).fetchone()
            if finished is None:
                self._db.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)", rows)
                self._db.execute(
                    "UPDATE cells SET finished = :now, owner = :owner, seconds = :seconds, "
                    "processor_seconds = :processor_seconds, device = :device, threads = :threads, torch = :torch, "
                    "processor = :processor WHERE hash = :hash",
                    {"now": time.time(), "owner": self.owner, "hash": cell.hash, **asdict(effort)},
                )

    def finished(self, cell: Cell) -> bool:
        """Whether a cell's results are here."""
        found = self._db.execute("SELECT finished FROM cells WHERE hash = ?", (cell.hash,)).fetchone()
        return found is not None and found[0] is not None

    def unfinished(self, among: Sequence[Cell]) -> list[Cell]:
        """Those of these cells that are noted here and have no results yet."""
        rest = {name for (name,) in self._db.execute("SELECT hash FROM cells WHERE finished IS NULL")}
        return [cell for cell in among if cell.hash in rest]

    def get(self, cell: Cell) -> Trace | None:
        """A cell's trace, or None if it is not finished."""
        if not self.finished(cell):
            return None
        rounds = tuple(sorted(set(cell.at)))
        tables: dict[str, dict[str, torch.Tensor]] = {"value": {}, "average": {}}
        place = {r: i for i, r in enumerate(rounds)}
        shape = (len(cell.rates), len(rounds))
        for run, quantity, kind, r, number in self._db.execute(
            "SELECT run, quantity, kind, round, number FROM results WHERE hash = ?", (cell.hash,)
        ):
            table = tables[kind]
            if quantity not in table:
                table[quantity] = torch.full(shape, float("nan"), dtype=torch.float64)
            table[quantity][run, place[r]] = number
        return Trace(rounds, tables["value"], tables["average"])

    def note(self, name: str, text: str) -> None:
        """Keep a line of text under a name, in place of what was there."""
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, text))

    def noted(self, name: str) -> str | None:
        """What was kept under a name."""
        found = self._db.execute("SELECT text FROM notes WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def machines(self) -> list[Machine]:
        """Where the finished cells were run, the most cells first."""
        rows = self._db.execute(
            "SELECT device, threads, torch, processor, count(*), sum(seconds), sum(processor_seconds) FROM cells "
            "WHERE finished IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 1, 2, 3, 4"
        )
        return [Machine(*row) for row in rows]

    def counts(self) -> dict[str, int]:
        """How many cells are finished, running and waiting."""
        done, running, waiting = self._db.execute(
            "SELECT count(finished), "
            "count(*) FILTER (WHERE finished IS NULL AND owner IS NOT NULL AND heartbeat >= ?), "
            "count(*) FILTER (WHERE finished IS NULL AND (owner IS NULL OR heartbeat < ?)) FROM cells",
            (time.time() - self.patience,) * 2,
        ).fetchone()
        return {"finished": done, "running": running, "waiting": waiting}


def work(
    store: Store,
    among: Sequence[Cell] | None = None,
    progress: Callable[[Cell, float], object] | None = None,
    limit: int | None = None,
) -> int:
    """Run cells that are waiting until none is left, and return how many were run.

    Args:
        store: where they are noted, and their results go.
        among: only these cells.
        progress: called with every finished cell and its seconds.
        limit: stop after so many.
    """
    chosen = None if among is None else {cell.hash for cell in among}
    done = 0
    while limit is None or done < limit:
        cell = store._claim(chosen)
        if cell is None:
            break
        try:
            with _heartbeat(store, cell):
                trace, effort = measured(cell)
        except BaseException:
            store.release(cell)
            raise
        store.put(cell, trace, effort)
        done += 1
        if progress is not None:
            progress(cell, effort.seconds)
    return done


@contextmanager
def _heartbeat(store: Store, cell: Cell) -> Iterator[None]:
    """Beat from a thread of its own while a cell runs, if it runs for long."""
    stop = threading.Event()

    def beat() -> None:
        if stop.wait(store.patience / 4):
            return
        with Store(store.path, store.patience) as own:
            own.owner = store.owner
            own.beat(cell)
            while not stop.wait(store.patience / 4):
                own.beat(cell)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
