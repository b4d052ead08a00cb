"""Running the cells that claims ask for: in this process, in several, or on a Ray cluster, through one store.

Workers share nothing but the store: each claims a cell, runs it and writes it. Killing any of them, or all, loses the
cells in flight; running again goes on where the store ends.
"""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch

from validation.claims import Claim, Judgement, Size, Traces, drive
from validation.engine import ValidationError
from validation.experiment import Cell
from validation.store import Store, work

Engine = Literal["local", "ray"]
Progress = Callable[[int, int, float], object]  # cells finished, cells known so far, seconds per cell


def run(
    chosen: Sequence[Claim],
    size: Size,
    store: Path,
    *,
    workers: int = 1,
    engine: Engine = "local",
    progress: Progress | None = None,
) -> dict[str, Judgement]:
    """Run claims to their judgements; what the store has is not run again.

    Args:
        chosen: the claims.
        size: quick or full.
        store: file of the results.
        workers: processes.
        engine: ``local`` processes, or ``ray`` for its scheduler.
        progress: called as cells are finished.

    Raises:
        ValidationError: if the store cannot be used, ``workers`` is not a count, or Ray is not installed.
    """
    if workers < 1:
        raise ValidationError(f"{workers} workers cannot run anything: give at least 1.")
    if engine not in ("local", "ray"):
        raise ValidationError(f"no engine is called {engine!r}: local or ray.")
    with Store(store) as open_store, _workers(store, workers if engine == "local" else 1) as alive:

        def execute(cells: Sequence[Cell]) -> Traces:
            missing = [cell for cell in cells if open_store.get(cell) is None]
            open_store.add(missing)
            begun = time.monotonic()

            def report() -> None:
                if progress is not None:
                    done = len(missing) - len(_unfinished(open_store, missing))
                    progress(done, len(missing), (time.monotonic() - begun) / done if done else math.nan)

            if missing and engine == "ray":
                _on_ray(open_store, missing, workers, report)
            while waiting := _unfinished(open_store, missing):
                alive()
                if workers > 1 or work(open_store, waiting, progress=lambda cell, seconds: report(), limit=1) == 0:
                    time.sleep(0.05)  # other processes have them in hand
                    report()
            return {cell: _trace(open_store, cell) for cell in cells}

        return drive(chosen, size, execute)


def _unfinished(store: Store, cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if not store.finished(cell)]


def judge(chosen: Sequence[Claim], size: Size, store: Path) -> dict[str, Judgement]:
    """The judgements that a store supports, claim by claim; claims with cells still to run are left out.

    Raises:
        ValidationError: if the store is not there or cannot be used.
    """
    if not store.exists():
        raise ValidationError(f"{store} does not exist. `hfl-plan validate run` makes it.")
    judged: dict[str, Judgement] = {}
    with Store(store) as open_store:

        def execute(cells: Sequence[Cell]) -> Traces:
            return {cell: _trace(open_store, cell) for cell in cells}

        for claim in chosen:
            try:
                judged |= drive([claim], size, execute)
            except _MissingError:
                continue
    return judged


class _MissingError(ValidationError):
    """A cell has not been run."""


def _trace(store: Store, cell: Cell) -> Any:
    trace = store.get(cell)
    if trace is None:
        raise _MissingError("a cell has not been run yet: `hfl-plan validate resume` runs what is missing.")
    return trace


@contextmanager
def _workers(path: Path, count: int) -> Iterator[Callable[[], None]]:
    """Processes that run whatever the store has waiting; gives a function that raises if one of them has failed."""
    if count == 1:
        yield lambda: None
        return
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    started = [context.Process(target=_worker, args=(str(path), stop), daemon=True) for _ in range(count)]
    for process in started:
        process.start()

    def alive() -> None:
        if failed := [process.exitcode for process in started if process.exitcode]:
            raise ValidationError(
                f"{len(failed)} of {count} workers ended with code {failed[0]}. With one worker the error is shown."
            )

    try:
        yield alive
    finally:
        stop.set()
        for process in started:
            process.join(timeout=5)
            if process.is_alive():
                process.terminate()
                process.join()


def _worker(path: str, stop: Any) -> None:
    torch.set_num_threads(1)
    with Store(Path(path)) as store:
        while not stop.is_set():
            if work(store, limit=1) == 0:
                stop.wait(0.05)


def _on_ray(store: Store, cells: list[Cell], workers: int, report: Callable[[], None]) -> None:
    try:
        import ray
    except ImportError:
        raise ValidationError("Ray is not installed. Install hfl-plan[ray], or use --engine local.") from None
    began = not ray.is_initialized()
    if began:
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        remote = ray.remote(num_cpus=1, max_retries=3)(run_apart)
        waiting = {remote.remote(cell.described()): cell for cell in cells}
        while waiting:
            (ready, *_), _ = ray.wait(list(waiting), num_returns=1)
            trace, seconds = ray.get(ready)
            store.put(waiting.pop(ready), trace, seconds)
            report()
    finally:
        if began:
            ray.shutdown()


def run_apart(description: dict[str, Any]) -> tuple[Any, float]:
    """Run one cell somewhere else, with one thread, and return its trace and the seconds it took."""
    from validation.experiment import cell_of

    torch.set_num_threads(1)
    begun = time.monotonic()
    trace = cell_of(description).run()
    return trace, time.monotonic() - begun
