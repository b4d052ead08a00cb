"""What all tests share."""

import gc
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import settings

from hflbounds import Bound, catalogue, derive
from hflbounds.audit import report
from hflbounds.audit.checks import Verdict, audit

# Several workers share the cores: threads that wait for one another there take most of the time of the tests on torch.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Many tests start the command in a process of its own, and each would compile the whole package again; and to compile
# the tests again, with what their assertions say, takes half of the time of collecting them, in every worker.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What is collected stays: to look through all of it again and again for garbage took a third of the collection.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from here on, as seldom as the command does, and not among what was collected."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


# A machine with other load takes as long as it takes: no example may fail by the clock on the wall.
settings.register_profile("thorough", deadline=None)  # pytest --hypothesis-profile=thorough
settings.register_profile("every run", deadline=None, max_examples=50)
settings.load_profile("every run")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Keep the tests of a file together, as they share fixtures, and let who is done take from others."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getvalue("dist") == "load" else None


def once(temporary: pytest.TempPathFactory, name: str, make: Callable[[], Any]) -> Any:
    """What is made, by the first worker of a run that asks; others wait for it and read it from the run's folder."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return make()
    try:
        import fcntl  # reason: not on every system
    except ImportError:
        return make()
    kept = temporary.getbasetemp().parent / f"{name}.pickle"  # the folder of a worker is in that of the run
    with kept.with_suffix(".lock").open("w") as lock:  # which is given back even by a worker that is killed
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            half = kept.with_suffix(".half")
            half.write_bytes(pickle.dumps(make()))
            half.replace(kept)
    return pickle.loads(kept.read_bytes())  # noqa: S301 - written above


# What the audit finds: several files look at parts of it, and all of it takes seconds.
@pytest.fixture(scope="session")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Verdict, ...]:
    """Every check of every bound, erratum and family."""
    found: tuple[Verdict, ...] = once(tmp_path_factory, "verdicts", lambda: tuple(audit(catalogue().values())))
    return found


@pytest.fixture(scope="session")
def verdicts_of(verdicts: tuple[Verdict, ...]) -> Callable[[Iterable[Bound]], list[Verdict]]:
    """Those on some bounds, their errata and their families."""

    def part(bounds: Iterable[Bound]) -> list[Verdict]:
        subjects = {name for bound in bounds for name in (bound.id, bound.family, *(e.id for e in bound.errata))}
        return [verdict for verdict in verdicts if verdict.subject in subjects]

    return part


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, derive.Result]:
    """What was found of every line, by its id."""

    def findings() -> dict[str, derive.Finding]:
        return {result.line.id: result.finding for result in derive.check(derive.lines())}

    found = once(tmp_path_factory, "findings", findings)
    return {line.id: derive.Result(line, found[line.id]) for line in derive.lines()}


@pytest.fixture
def unflipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers come without the search for what would change them, which takes most of their time."""
    monkeypatch.setattr("planner.decide.rank.nearest_flips", lambda *_: ((), ""))


@pytest.fixture
def found_once(
    verdicts: tuple[Verdict, ...], results: Mapping[str, derive.Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of all checks is made of these: lines and bounds are not checked again."""

    def found(bounds: Iterable[Bound], with_errata: bool) -> Iterator[Verdict]:
        assert [*bounds] == [*catalogue().values()]
        return (verdict for verdict in verdicts if with_errata or verdict.check != "erratum")

    monkeypatch.setattr(derive, "check", lambda lines: (results[line.id] for line in lines))
    monkeypatch.setattr(report.audit, "audit", found)
