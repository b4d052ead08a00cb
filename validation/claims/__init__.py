"""What the papers predict, as claims that runs can refute: one file each, found by its being here.

A claim asks for cells, sees their traces, asks for more (finer rates, other seeds), and ends with a judgement. It is a
generator, so that all claims can be driven together, share cells, and resume from a store.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeVar

from validation.engine import Trace, ValidationError
from validation.experiment import Cell
from validation.metrics import METRICS, Metric, UnmeasuredError, translated
from validation.statistics import MARGIN, Interval, Prediction, Values, Verdict, judge, paired_ratio

Size = Literal["quick", "full"]
Measure = Literal["ratio", "tau"]
Traces = Mapping[Cell, Trace]
Execute = Callable[[Sequence[Cell]], Traces]


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison inside a claim.

    Attributes:
        setting: what was run, in words.
        compared: what is divided by what.
        ratio: of the quantity, smaller is better for what stands above; Kendall's tau where ``measure`` says so.
        predicted: ``smaller``, ``larger``, ``tie``, ``not larger``, or ``agrees`` for a tau.
        verdict: whether the runs agree.
        measure: what the number is.
        margin: how far from no difference still counts as none.
    """

    setting: str
    compared: str
    ratio: Interval
    predicted: Prediction
    verdict: Verdict
    measure: Measure = "ratio"
    margin: float = MARGIN


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the runs say of a claim.

    Attributes:
        verdict: ``holds`` where every row that can be told agrees and at least one can; ``fails`` where one
            disagrees; ``cannot tell`` otherwise.
        rows: the comparisons.
        note: what a reader must know: where it holds and where not, at which rates.
    """

    verdict: Verdict
    rows: tuple[Row, ...]
    note: str


Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")
Steps = Generator[Sequence[Cell], Traces, Result]  # asks for cells, is sent their traces, ends with a result
Plan = Steps[Judgement]


@dataclass(frozen=True, slots=True)
class Claim:
    """A prediction and how it is tried.

    Attributes:
        id: permanent.
        source: where it is made.
        statement: the claim, in words.
        prediction: which statement of the catalogue predicts it, and what exactly it predicts.
        quantity: what is compared, fixed in advance.
        plan: starts a plan of this size.
        metric: what that quantity is one of.
        alone: why no other metric says anything of the claim; empty where others do.
    """

    id: str
    source: str
    statement: str
    prediction: str
    quantity: str
    plan: Callable[[Size], Plan]
    metric: Metric = "gradient"
    alone: str = ""

    @property
    def others(self) -> tuple[Metric, ...]:
        """By what else it is judged, where its runs measure that."""
        return () if self.alone else tuple(metric for metric in METRICS if metric != self.metric)

    def judged_by(self, metric: Metric, size: Size) -> Plan:
        """Start its plan with everything that it compares in another metric, rates chosen by it, too.

        Returns:
            the plan; it ends without rows, and with the reason as its note, where that cannot be done.
        """
        if metric == self.metric:
            return (yield from self.plan(size))
        plan, told = self.plan(size), None
        try:
            while True:
                cells = plan.send(told)  # type: ignore[arg-type]  # None starts a generator
                found = yield cells
                told = {cell: translated(found[cell], metric) for cell in cells}
        except StopIteration as end:
            judgement: Judgement = end.value
            return judgement
        except UnmeasuredError as error:
            return Judgement("cannot tell", (), f"Not measured: {error}")
        except ValidationError as error:
            return Judgement("cannot tell", (), f"Not judged: {error}")


@cache
def claims() -> Mapping[str, Claim]:
    """Every claim, by id, in the order of the files.

    Raises:
        ValidationError: if two share an id.
    """
    found: dict[str, Claim] = {}
    for info in pkgutil.iter_modules(__path__):
        for claim in getattr(importlib.import_module(f"{__name__}.{info.name}"), "CLAIMS", ()):
            if found.setdefault(claim.id, claim) is not claim:
                raise ValidationError(f"two claims are called {claim.id}.")
    return found


def row(setting: object, compared: str, above: Values, below: Values, told: Prediction, margin: float = MARGIN) -> Row:
    """One comparison of paired values, and its verdict."""
    ratio = paired_ratio(above, below)
    return Row(str(setting), compared, ratio, told, judge(ratio, told, margin), margin=margin)


def overall(rows: Iterable[Row]) -> Verdict:
    """The verdict of a claim from its rows."""
    verdicts = {row.verdict for row in rows}
    if "fails" in verdicts:
        return "fails"
    return "holds" if "holds" in verdicts else "cannot tell"


def drive(chosen: Sequence[Claim], size: Size, execute: Execute, metric: Metric | None = None) -> dict[str, Judgement]:
    """Drive claims to their ends, stage by stage, all cells of a stage in one call.

    Args:
        chosen: the claims.
        size: quick or full.
        execute: runs cells, or finds their traces in a store.
        metric: by which they are judged; None for each claim's own.
    """
    whole = together({claim.id: claim.judged_by(metric or claim.metric, size) for claim in chosen})
    try:
        cells = next(whole)
        while True:
            cells = whole.send(execute(cells))
    except StopIteration as end:
        judged: dict[str, Judgement] = end.value
        return judged


def together(plans: Mapping[Key, Steps[Result]]) -> Steps[dict[Key, Result]]:
    """Take plans side by side: one stage asks for what all of them want next."""
    results: dict[Key, Result] = {}
    traces: dict[Key, Traces | None] = dict.fromkeys(plans)
    while traces:
        wanted: dict[Key, Sequence[Cell]] = {}
        for key, seen in traces.items():
            try:
                wanted[key] = plans[key].send(seen)  # type: ignore[arg-type]  # None starts a generator
            except StopIteration as end:
                results[key] = end.value
        if not wanted:
            break
        found = yield tuple(dict.fromkeys(cell for cells in wanted.values() for cell in cells))
        traces = {key: {cell: found[cell] for cell in cells} for key, cells in wanted.items()}
    return {key: results[key] for key in plans}
