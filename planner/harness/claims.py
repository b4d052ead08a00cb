"""Claims of the papers, run to their verdicts, and what a store of runs says of them."""

from __future__ import annotations

import json
import math
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.errors import NoAnswerError, ScenarioError
from planner.harness import need, refusals, stoppable
from planner.io.progress import progress
from planner.io.wording import counted

if TYPE_CHECKING:
    from validation.claims import Claim, Judgement
    from validation.claims import Row as Told
    from validation.metrics import Metric

    Found = Mapping[Metric, Judgement]


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison inside a claim."""

    setting: str  # what was run, in words
    compared: str  # what is divided by what
    measure: str  # ``ratio``, or ``tau`` for an order
    value: float  # value, low, high: the number and its interval; infinite or no number where runs diverged
    low: float
    high: float
    pairs: int  # of runs
    predicted: str  # what was, in a word or two
    verdict: str  # ``holds``, ``fails`` or ``cannot tell``
    margin: float  # how far from no difference still counts as none
    found: str = ""  # what runs say of a ratio: ``smaller``, ``larger``, ``tie`` or ``cannot tell``; empty for an order


@dataclass(frozen=True, slots=True)
class Judged:
    """What runs say of a claim by one metric."""

    metric: str  # ``gradient``, ``loss``, ``accuracy``, or ``distance`` between models
    verdict: str | None  # none where it is not finished, or there is none
    note: str  # what a reader must know
    rows: tuple[Row, ...] = ()  # the comparisons, the same by every metric
    opposite: int = 0  # how many of them go the other way than by the claim's own metric, both beyond doubt


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim and what runs say of it."""

    id: str  # id, source, statement, prediction, quantity: as of the claim
    source: str
    statement: str
    prediction: str
    quantity: str
    verdict: str | None = None  # none where it is not finished
    note: str = "not finished"  # what a reader must know
    rows: tuple[Row, ...] = ()  # the comparisons
    metric: str = "gradient"  # what its own quantity is one of: by it are the verdict, the note and the rows above
    alone: str = ""  # why it is judged by no other
    others: tuple[Judged, ...] = ()  # the same by the other metrics

    @property
    def by(self) -> tuple[Judged, ...]:
        """Every metric, its own first."""
        return (Judged(self.metric, self.verdict, self.note, self.rows), *self.others)


@dataclass(frozen=True, slots=True)
class Validation:
    """What a store says of claims."""

    findings: tuple[Finding, ...]  # one per claim
    machines: tuple[Mapping[str, Any], ...]  # where cells of the store were run, the most first
    told: str  # closing words


def listed() -> tuple[Finding, ...]:
    """Every claim, none of them tried; without torch, from the list that ``benchmarks/claims_listed.py`` keeps."""
    text = resources.files("planner.data").joinpath("claims_listed.json").read_text(encoding="utf-8")
    return tuple(
        Finding(**{**said, "others": tuple(_judged(metric, None) for metric in said["others"])})
        for said in json.loads(text)
    )


def run(names: Sequence[str], size: str, store: Path, *, memory: float | None = None, **how: Any) -> Validation:
    """Run claims, or all, to their verdicts; what the store has is not run again.

    Size is ``quick`` or ``full``; ``memory`` the GiB that the models of one run may take, half of what is free where it
    is None. ``how`` has ``workers``, processes; ``engine``, ``local`` or ``ray``; ``device``, ``cpu`` or ``cuda``;
    ``local_steps``, ``auto``, ``torch`` or ``compiled``.

    Raises:
        NoAnswerError: If the runs cannot be made.
        SystemExit: If it is told to end.
        KeyboardInterrupt: If it is interrupted.
    """
    chosen = _claims(names)
    from validation.store import Store
    from validation.sweep import possible
    from validation.sweep import run as sweep

    begun, size_of_one = time.monotonic(), None if memory is None else memory * 2**30
    settings: dict[str, Any] = {"workers": 1, "engine": "local", "device": "cpu", "local_steps": None} | how
    with refusals():
        possible(**settings)
        with stoppable(f"`hfl-plan validate resume --store {shlex.quote(str(store))}` goes on"):
            with Store(store) as there:
                there.ask([claim.id for claim in chosen], size)  # type: ignore[arg-type]
            judged = sweep(chosen, size, store, memory=size_of_one, progress=_progress, **settings)  # type: ignore[arg-type]
        told = f"{counted(len(judged), 'claim')}, {size}, in {time.monotonic() - begun:.0f} s; results in {store}."
        return _validation(chosen, judged, store, told)


def resume(store: Path, **how: Any) -> Validation:
    """Go on with what a store was made for; ``how`` is as of `run`.

    Raises:
        NoAnswerError: If the store is not there or says nothing of what it was made for.
    """
    names, size = _asked(store)
    return run(names, size, store, **how)


def report(store: Path) -> Validation:
    """Read what a store supports, without running anything.

    It tells of the claims that were asked for last, and of any other that the store has all cells of.

    Raises:
        NoAnswerError: If the store is not there or cannot be read.
    """
    names, size = _asked(store)
    every = _claims(())
    from validation.sweep import judge

    with refusals():
        judged = judge(every, size, store)  # type: ignore[arg-type]
        chosen = [claim for claim in every if claim.id in judged or claim.id in names]
        done = sum(claim.metric in judged.get(claim.id, {}) for claim in chosen)
        whole = sum(judged.get(claim.id, {}).keys() == {claim.metric, *claim.others} for claim in chosen)
        told = f"{done} of {len(chosen)} claims are finished ({size})."
        if whole < done:
            told = f"{told[:-1]}, {whole} of them by every metric."
        if others := len({claim.id for claim in chosen} - {*names}):
            told += f" {others} of them, not asked for, had all their cells run by others."
        if whole < len(chosen):
            told += " `hfl-plan validate resume` runs the rest."
        return _validation(chosen, judged, store, told)


def numbers(store: Path) -> list[dict[str, Any]]:
    """Read every number of a store, a line each; what a cell runs is in columns ``problem_*`` and ``algorithm_*``.

    Raises:
        NoAnswerError: If the store is not there or cannot be read.
    """
    _asked(store)
    from validation.store import Store

    lines: list[dict[str, Any]] = []
    with refusals(), Store(store) as there:
        for cell, run, quantity, kind, after, number in there.numbers():
            names = cell.hash[:12], cell.problem.name, cell.algorithm.name
            what: dict[str, Any] = dict(zip(RAN, names, strict=True))
            what |= {f"problem_{name}": value for name, value in cell.problem.options}
            what |= {f"algorithm_{name}": value for name, value in cell.algorithm.options}
            what |= {"run": run, "rate": cell.rates[run], "seed": cell.seeds[run], "round": after}
            finite = math.isfinite(number)
            told = {"quantity": quantity, "kind": kind, "number": number if finite else None, "diverged": not finite}
            lines.append(what | told)
    settings = set[str]().union(*lines) - {*RAN, *MEASURED}
    return [{key: line.get(key) for key in (*RAN, *sorted(settings), *MEASURED)} for line in lines]


RAN = ("cell", "problem", "algorithm")  # columns of what was run, and of what was measured
MEASURED = ("run", "rate", "seed", "round", "quantity", "kind", "number", "diverged")


def _claims(names: Sequence[str]) -> list[Claim]:
    need("validate", "torch")
    from validation.claims import claims

    known = claims()
    for name in names:
        if name not in known:
            near = " or ".join(get_close_matches(name, known))
            raise ScenarioError(
                f"no claim is called {name!a:.60}{f'; perhaps {near}' if near else ''}. "
                "`hfl-plan validate list` has them all."
            )
    return [known[name] for name in names] if names else list(known.values())


def _asked(store: Path) -> tuple[list[str], str]:
    if not store.exists():
        raise NoAnswerError(f"{store} does not exist. `hfl-plan validate run` makes it.")
    need("validate", "torch")
    from validation.store import Store

    with refusals(), Store(store) as there:
        return there.asked()


def _progress(done: int, known: int, each: float) -> None:
    """Show cells done and the time that the rest of this stage will take."""
    left = "" if math.isnan(each) else f", about {each * (known - done):.0f} s left of this stage"
    progress("" if done == known else f"{done} of {known} cells{left}")


def _validation(chosen: Sequence[Claim], judged: Mapping[str, Found], store: Path, told: str) -> Validation:
    from validation.store import Store

    with Store(store) as there:
        machines = tuple(asdict(machine) for machine in there.machines())
    return Validation(tuple(_finding(claim, judged.get(claim.id, {})) for claim in chosen), machines, told)


def _finding(claim: Claim, found: Found) -> Finding:
    own = _judged(claim.metric, found.get(claim.metric))
    others = []
    for metric in claim.others:
        other = _judged(metric, found.get(metric))
        turned = (
            {one.found, two.found} == {"smaller", "larger"} for one, two in zip(own.rows, other.rows, strict=False)
        )
        others.append(replace(other, opposite=sum(turned)))
    told = (claim.id, claim.source, claim.statement, claim.prediction, claim.quantity)
    return Finding(*told, own.verdict, own.note, own.rows, claim.metric, claim.alone, tuple(others))


def _judged(metric: str, found: Judgement | None) -> Judged:
    if found is None:
        return Judged(metric, None, "not finished")
    return Judged(metric, found.verdict if found.rows else None, found.note, tuple(map(_row, found.rows)))


def _row(row: Told) -> Row:
    from validation.statistics import compare

    ratio = row.ratio
    numbers = ratio.estimate, ratio.low, ratio.high, ratio.count
    seen = compare(ratio, row.margin) if row.measure == "ratio" else ""
    return Row(row.setting, row.compared, row.measure, *numbers, row.predicted, row.verdict, row.margin, seen)
