"""Running the cells that claims ask for: in this process, in several, or on a Ray cluster, through one store.

Workers share nothing but the store: each claims a cell, runs it and writes it. Killing any of them, or all, loses the
cells in flight; running again goes on where the store ends.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch

from hflbounds.extras import install
from validation import compiled
from validation.claims import Claim, Judgement, Size, Traces, drive
from validation.engine import Trace, ValidationError, device_of, free_memory, one_of
from validation.experiment import Cell, Effort, cell_of, measured, on
from validation.metrics import METRICS, Metric
from validation.store import Store, work

Engine = Literal["local", "ray"]
Judged = dict[str, dict[Metric, Judgement]]  # by the id of a claim: its own metric first
Progress = Callable[[int, int, float], object]  # cells finished, cells known so far, seconds per cell


class Where(NamedTuple):
    """How cells are run, which is no part of them; as of `validation.experiment.on`."""

    device: str = "cpu"
    memory: float | None = None
    local_steps: compiled.Choice | None = None


HERE = Where()


class How(NamedTuple):
    """By which processes cells are run.

    Attributes:
        workers: processes.
        engine: ``local`` processes, or ``ray`` for its scheduler.
        where: how each of them runs cells.
    """

    workers: int = 1
    engine: Engine = "local"
    where: Where = HERE


def run(  # reason: what is run, and how
    chosen: Sequence[Claim],
    size: Size,
    store: Path,
    *,
    workers: int = 1,
    engine: Engine = "local",
    device: str = "cpu",
    memory: float | None = None,
    local_steps: compiled.Choice | None = None,
    progress: Progress | None = None,
) -> Judged:
    """Run claims to their judgements by every metric; what the store has is not run again.

    Args:
        chosen: the claims.
        size: quick or full.
        store: file of the results.
        workers: processes.
        engine: ``local`` processes, or ``ray`` for its scheduler.
        device: ``cpu`` or ``cuda``: where cells are run, which is no part of them.
        memory: bytes that the models of one run may take; by default half of what is free, shared by the workers.
        local_steps: ``auto``, ``torch`` or ``compiled``; by default what the environment says.
        progress: called as cells are finished.

    Raises:
        ValidationError: if the store cannot be used, ``workers`` is not a count, Ray is not installed, or there is no
            such device.
    """
    possible(workers, engine, device, local_steps)
    how = How(workers, engine, Where(device, memory, local_steps or compiled.chosen()))
    with executing(store, how, progress) as execute:
        own = drive(chosen, size, execute)
        judged: Judged = {claim.id: {claim.metric: own[claim.id]} for claim in chosen}
        for metric in METRICS:
            others = [claim for claim in chosen if metric in claim.others]
            for name, found in drive(others, size, execute, metric).items():
                judged[name][metric] = found
        return judged


@contextmanager
def executing(store: Path, how: How, progress: Progress | None = None) -> Iterator[Callable[[Sequence[Cell]], Traces]]:
    """What runs cells to their traces, inside a ``with`` block; what the store has is not run again.

    Args:
        store: file of the results.
        how: by which processes, and where.
        progress: called as cells are finished.

    Raises:
        ValidationError: if the store cannot be used, or Ray is not installed.
    """
    workers, engine, where = how
    if where.memory is None and workers > 1 and engine == "local":
        where = where._replace(memory=free_memory(device_of(where.device)) / 2 / workers)
    count = workers if engine == "local" else 1
    with Store(store) as open_store, _workers(store, count, where) as alive:

        def execute(cells: Sequence[Cell]) -> Traces:
            missing = [cell for cell in cells if not open_store.finished(cell)]
            open_store.add(missing)
            begun = time.monotonic()

            def report(*_: object) -> None:
                if progress is not None:
                    done = len(missing) - len(open_store.unfinished(missing))
                    progress(done, len(missing), (time.monotonic() - begun) / done if done else math.nan)

            if missing and engine == "ray":
                _on_ray(open_store, missing, workers, report, where)
            while waiting := open_store.unfinished(missing):
                alive()
                with on(*where):
                    done = 0 if workers > 1 else work(open_store, waiting, report)
                if not done:
                    time.sleep(0.05)  # other processes have them in hand
                    report()
            return {cell: _trace(open_store, cell) for cell in cells}

        yield execute


@contextmanager
def one_thread() -> Iterator[None]:
    """Small models run best with one thread, and give the same numbers whatever else the machine does."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def possible(workers: int, engine: str, device: str, local_steps: str | None = None) -> None:
    """Refuse what cannot be run, before a store is opened.

    Raises:
        ValidationError: if ``workers`` is not a count, or there is no such engine, device or way of local steps.
    """
    if local_steps is not None:
        compiled.choice(local_steps, "--local-steps")
    if workers < 1:
        raise ValidationError(f"{workers} workers cannot run anything: give at least 1.")
    one_of(engine, ("local", "ray"), "--engine")
    if engine == "local":
        device_of(device)


def judge(chosen: Sequence[Claim], size: Size, store: Path) -> Judged:
    """The judgements that a store supports, claim by claim; what has cells still to run is left out.

    Raises:
        ValidationError: if the store is not there or cannot be used.
    """
    if not store.exists():
        raise ValidationError(f"{store} does not exist. `hfl-plan validate run` makes it.")
    judged: Judged = {}
    with Store(store) as open_store:

        def execute(cells: Sequence[Cell]) -> Traces:
            return {cell: _trace(open_store, cell) for cell in cells}

        for claim in chosen:
            with suppress(_MissingError):  # its own metric is run first
                for metric in (claim.metric, *claim.others):
                    judged.setdefault(claim.id, {})[metric] = drive([claim], size, execute, metric)[claim.id]
    return judged


class _MissingError(ValidationError):
    """A cell has not been run."""


def _trace(store: Store, cell: Cell) -> Any:
    trace = store.get(cell)
    if trace is None:
        raise _MissingError("a cell has not been run yet: `hfl-plan validate resume` runs what is missing.")
    return trace


@contextmanager
def _workers(path: Path, count: int, where: Where) -> Iterator[Callable[[], None]]:
    """Processes that run whatever the store has waiting; gives a function that raises if one of them has failed."""
    if count == 1:
        yield lambda: None
        return
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    told = ((str(path), stop, where, i == 0) for i in range(count))
    started = [context.Process(target=_worker, args=one, daemon=True) for one in told]
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


def _worker(path: str, stop: Any, where: Where, says: bool) -> None:
    """Run cells until told to stop, or whoever started it is gone; ended from outside, it gives its claim back.

    One worker speaks for all.
    """
    parent = multiprocessing.parent_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts all; the one that started this ends it
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    torch.set_num_threads(1)
    if not says:
        compiled.silence()
    with Store(Path(path)) as store, on(*where):
        while not stop.is_set() and parent is not None and parent.is_alive():  # a killed one tells nobody to stop
            if work(store, limit=1) == 0:
                stop.wait(0.05)


def _on_ray(
    store: Store,
    cells: Sequence[Cell],
    workers: int,
    report: Callable[[], None],
    where: Where = HERE,
) -> None:
    """Run cells until all are finished, here or by another process on the store; claims are this process's."""
    try:
        import ray
    except ImportError:
        raise ValidationError(f"Ray is not installed. Run {install('ray')}, or use --engine local.") from None
    began = not ray.is_initialized()
    if began:
        _join(ray, workers)
    flying: dict[Any, Cell] = {}
    try:
        if where.device != "cpu" and not ray.cluster_resources().get("GPU"):
            raise ValidationError(f"the device {where.device!r} is asked for and Ray has no GPU here: use cpu.")
        remote = ray.remote(num_cpus=1, num_gpus=0 if where.device == "cpu" else 1, max_retries=3)(run_apart)
        while waiting := store.unfinished(cells):
            # enough to keep every processor busy, also those of machines that join or leave meanwhile
            ahead = max(1, 2 * int(ray.cluster_resources().get("CPU", workers)))
            while len(flying) < ahead and (cell := store.claim(waiting)) is not None:
                flying[remote.remote(cell.described(), *where)] = cell
            if not flying:
                time.sleep(0.05)  # other processes have them in hand
                continue
            ready, _ = ray.wait(list(flying), num_returns=1, timeout=store.patience / 4)
            for done in ready:
                trace, effort = ray.get(done)
                store.put(flying.pop(done), trace, effort)
            for cell in flying.values():
                store.beat(cell)
            report()
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None  # what the cell raised, as it would be raised here
    except ray.exceptions.RayError as error:
        raise ValidationError(f"Ray could not run a cell: {error}. With --engine local it may be clearer.") from None
    finally:
        for cell in flying.values():
            store.release(cell)
        if began:
            ray.shutdown()


def _join(ray: Any, workers: int) -> None:
    """Connect to the cluster of ``RAY_ADDRESS``, or to one that runs here, or start one with so many processors."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = os.environ.get("RAY_ADDRESS")
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    try:
        if host and port.isdigit():
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()  # Ray waits for minutes
        if address != "local":
            ray.init(address=address or "auto", log_to_driver=False)
            return
    except OSError as error:  # a ConnectionError is one
        if address:
            raise ValidationError(
                f"no Ray cluster answers at {address}: {error}. Start it, or unset RAY_ADDRESS."
            ) from None
    ray.init(address="local", num_cpus=workers, include_dashboard=False, log_to_driver=False)


def run_apart(
    description: dict[str, Any],
    device: str = "cpu",
    memory: float | None = None,
    local_steps: compiled.Choice | None = None,
) -> tuple[Trace, Effort]:
    """Run one cell somewhere else, with one thread, and return its trace and what it took."""
    torch.set_num_threads(1)
    with on(device, memory, local_steps):
        return measured(cell_of(description))
