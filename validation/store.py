"""Results of runs: SQLite, one row per (run, quantity, round), whole cells or nothing, shared by processes.

A cell is claimed in one transaction, run, and written with all its rows in another. A process that is killed loses
the cell it was running and nothing else; its claim expires at once where it is seen to be gone, and with its heartbeat
elsewhere. Two processes on one store never run one cell twice. What a file holds is checked as it is read.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn, get_args

import torch

from validation.claims import Size
from validation.engine import Trace, ValidationError
from validation.experiment import Cell, Effort, cell_of, measured

SCHEMA = 3
BROKEN = (sqlite3.DatabaseError, UnicodeError)  # what sqlite3 raises for damaged bytes: its own words may be, too
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
    "ALTER TABLE cells ADD COLUMN local_steps TEXT;\n",
)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where cells were run; what an older store does not say is None.

    Attributes:
        device: as of `Effort`.
        threads: as of `Effort`.
        torch: as of `Effort`.
        processor: as of `Effort`.
        local_steps: as of `Effort`.
        cells: how many.
        seconds: that they took by the clock, added up.
        processor_seconds: that they took on all processors, added up.
    """

    device: str | None
    threads: int | None
    torch: str | None
    processor: str | None
    local_steps: str | None
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
        self.owner = f"{os.getpid()}-{secrets.token_hex(4)}@{here()}"
        if path.is_dir():
            raise ValidationError(f"{path} is a folder. Name a file for the results.")
        if not path.parent.is_dir():
            raise ValidationError(f"the folder {path.parent} does not exist. Make it, or name another file.")
        try:
            self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.create_function("gone", 1, gone)
            self._prepare()
        except BROKEN as error:
            self._refuse(error)

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
        ((state, *_), *_) = self._rows("PRAGMA quick_check(1)")
        if state != "ok":
            raise ValidationError(f"{self.path} is damaged ({_line(state)}). Move it away and run again.")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:  # SQLite ends it itself where the disk is full
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except BROKEN as error:
            self._refuse(error)

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """What a query finds.

        Raises:
            ValidationError: if the file is damaged where it is read.
        """
        try:
            return self._db.execute(query, values).fetchall()
        except BROKEN as error:
            self._refuse(error)

    def _refuse(self, error: Exception) -> NoReturn:
        way = "Move it away, or name another file" if self.path.exists() else "Name one in a folder that can be written"
        raise ValidationError(f"{self.path} cannot be used as a store of results: {_line(error)}. {way}.") from None

    def _altered(self, place: str, fact: str) -> NoReturn:
        raise ValidationError(f"{self.path}: {place} {fact}, so it was altered. Move the file away and run again.")

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
            free = self._rows(
                "SELECT hash, description FROM cells WHERE finished IS NULL "
                "AND (owner IS NULL OR heartbeat < ? OR gone(owner)) ORDER BY added, hash",
                (now - self.patience,),
            )
            for name, description in free:
                if chosen is None or name in chosen:
                    self._db.execute(
                        "UPDATE cells SET owner = ?, heartbeat = ? WHERE hash = ?", (self.owner, now, name)
                    )
                    return self._described(name, description)
        return None

    def _described(self, name: str, description: object) -> Cell:
        """A cell from its description, which must be the one that its name is a hash of."""
        try:
            cell = cell_of(json.loads(str(description)))
        except (ValueError, LookupError, TypeError, AttributeError):
            self._altered(f"the description of cell {name!a:.14}", "cannot be read")
        if cell.hash != name:
            self._altered(f"the description of cell {name!a:.14}", "is that of another cell")
        return cell

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
                    "processor = :processor, local_steps = :local_steps WHERE hash = :hash",
                    {"now": time.time(), "owner": self.owner, "hash": cell.hash, **asdict(effort)},
                )

    def finished(self, cell: Cell) -> bool:
        """Whether a cell's results are here."""
        return bool(self._rows("SELECT 1 FROM cells WHERE hash = ? AND finished IS NOT NULL", (cell.hash,)))

    def unfinished(self, among: Sequence[Cell]) -> list[Cell]:
        """Those of these cells that are noted here and have no results yet."""
        rest = {name for (name,) in self._rows("SELECT hash FROM cells WHERE finished IS NULL")}
        return [cell for cell in among if cell.hash in rest]

    def get(self, cell: Cell) -> Trace | None:
        """A cell's trace, or None if it is not finished.

        Raises:
            ValidationError: if what is kept is not what a run of it gives.
        """
        if not self.finished(cell):
            return None
        rounds = tuple(sorted(set(cell.at)))
        found: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
        for run, quantity, kind, r, number in self._rows(
            "SELECT run, quantity, kind, round, number FROM results WHERE hash = ?", (cell.hash,)
        ):
            if not isinstance(number, float | int):
                self._altered(f"results of cell {cell.hash:.12}, {quantity!a:.40}", f"has {number!a:.40} as a number")
            found.setdefault((kind, quantity), {})[run, r] = number
        places = [(run, r) for run in range(len(cell.rates)) for r in rounds]
        tables: dict[str, dict[str, torch.Tensor]] = {
            "value": _Quantities(self, cell),
            "average": _Quantities(self, cell),
        }
        for (kind, quantity), numbers in found.items():
            if numbers.keys() != set(places):
                self._altered(f"results of cell {cell.hash:.12}, {quantity!a:.40}", "has other runs or rounds than it")
            line = torch.tensor([numbers[place] for place in places], dtype=torch.float64)
            tables[kind][quantity] = line.view(len(cell.rates), len(rounds))
        return Trace(rounds, tables["value"], tables["average"])

    def note(self, name: str, text: str) -> None:
        """Keep a line of text under a name, in place of what was there."""
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, text))

    def noted(self, name: str) -> str | None:
        """What was kept under a name."""
        found = self._rows("SELECT text FROM notes WHERE name = ?", (name,))
        return str(found[0][0]) if found else None

    def ask(self, claims: Sequence[str], size: Size) -> None:
        """Note which claims the store is for now, and their size."""
        self.note("claims", json.dumps(list(claims)))
        self.note("size", size)

    def asked(self) -> tuple[list[str], Size]:
        """Which claims were asked for last, and their size.

        Raises:
            ValidationError: if it does not say so, or not in these words.
        """
        again = f"`hfl-plan validate run --store {self.path}` writes it again."
        names, size = self.noted("claims"), self.noted("size")
        if names is None or size is None:
            raise ValidationError(f"{self.path} does not say what it was made for. {again}")
        try:
            read = json.loads(names)
        except ValueError:
            read = None
        if not isinstance(read, list) or not all(isinstance(name, str) for name in read):
            raise ValidationError(f"{self.path}: the note 'claims', {names!a:.40}, is no list of claims. {again}")
        for known in get_args(Size):
            if size == known:
                return read, known
        raise ValidationError(f"{self.path}: the note 'size', {size!a:.40}, is neither quick nor full. {again}")

    def seconds(self, among: Iterable[Cell]) -> float:
        """What these cells took by the clock, added up; of those that are not finished nothing is known."""
        found = dict(self._rows("SELECT hash, seconds FROM cells WHERE finished IS NOT NULL"))
        return sum(float(found.get(cell.hash) or 0.0) for cell in among)

    def numbers(self) -> Iterator[tuple[Cell, int, str, str, int, float]]:
        """Every number of the finished cells: cell, run, quantity, kind, round, number; in the order they were wanted.

        Raises:
            ValidationError: if the file was altered, or is damaged where it is read.
        """
        for name, description in self._rows(
            "SELECT hash, description FROM cells WHERE finished IS NOT NULL ORDER BY added, hash"
        ):
            cell = self._described(name, description)
            for run, quantity, kind, r, number in self._rows(
                "SELECT run, quantity, kind, round, number FROM results WHERE hash = ? "
                "ORDER BY kind DESC, quantity, run, round",
                (name,),
            ):
                if not isinstance(number, float | int) or not 0 <= run < len(cell.rates):
                    self._altered(f"results of cell {name:.12}, {quantity!a:.40}", f"has {number!a:.40} as a number")
                yield cell, run, quantity, kind, r, number

    def machines(self) -> list[Machine]:
        """Where the finished cells were run, the most cells first."""
        rows = self._rows(
            "SELECT device, threads, torch, processor, local_steps, count(*), total(seconds), sum(processor_seconds) "
            "FROM cells WHERE finished IS NOT NULL GROUP BY 1, 2, 3, 4, 5 ORDER BY 6 DESC, 1, 2, 3, 4, 5"
        )
        return [Machine(*row) for row in rows]

    def counts(self) -> dict[str, int]:
        """How many cells are finished, running and waiting."""
        ((done, waiting, known),) = self._rows(
            "SELECT count(finished), count(*) FILTER (WHERE finished IS NULL AND "
            "(owner IS NULL OR heartbeat < ? OR gone(owner))), count(*) FROM cells",
            (time.time() - self.patience,),
        )
        return {"finished": done, "running": known - done - waiting, "waiting": waiting}


class _Quantities(dict[str, torch.Tensor]):
    """Tables of a cell by quantity; one that is not there was taken away, as every run measures the same."""

    def __init__(self, store: Store, cell: Cell) -> None:
        super().__init__()
        self._store, self._cell = store, cell

    def __missing__(self, quantity: str) -> NoReturn:
        self._store._altered(f"results of cell {self._cell.hash:.12}", f"have no {quantity!a:.40}")


def here() -> str:
    """Where processes can be looked up by number: this machine, and on it this space of processes."""
    space = ""
    with suppress(OSError):
        space = str(Path("/proc/self/ns/pid").readlink())
    return f"{socket.gethostname()}/{space}"


def gone(owner: str) -> bool:
    """Whether the process of a claim is known to have ended; of another machine's nothing is known."""
    process, _, where = str(owner).partition("@")
    number = process.partition("-")[0]
    if where != here() or not number.isdecimal() or os.name != "posix":
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _line(text: object) -> str:
    """What another program says, in one line of a length that can be read."""
    return " ".join(str(text).replace("*** in database main ***", "").split())[:160]


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
