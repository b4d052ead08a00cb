"""What the papers predict, as claims that runs can refute: one file each, found by its being here.

A claim asks for cells, sees their traces, asks for more (finer rates, other seeds), and ends with a judgement. It is a
generator, so that all claims can be driven together, share cells, and resume from a store.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from validation.engine import Trace, ValidationError
from validation.experiment import Cell
from validation.statistics import Interval, Prediction, Verdict

Size = Literal["quick", "full"]
Traces = Mapping[Cell, Trace]
Execute = Callable[[Sequence[Cell]], Traces]


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison inside a claim.

    Attributes:
        setting: what was run, in words.
        compared: what is divided by what.
        ratio: of the quantity, smaller is better for what stands above.
        predicted: ``smaller``, ``larger``, ``tie`` or ``not larger``.
        verdict: whether the runs agree.
    """

    setting: str
    compared: str
    ratio: Interval
    predicted: Prediction
    verdict: Verdict


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


Plan = Generator[Sequence[Cell], Traces, Judgement]


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
    """

    id: str
    source: str
    statement: str
    prediction: str
    quantity: str
    plan: Callable[[Size], Plan]


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


def overall(rows: Iterable[Row]) -> Verdict:
    """The verdict of a claim from its rows."""
    verdicts = {row.verdict for row in rows}
    if "fails" in verdicts:
        return "fails"
    return "holds" if "holds" in verdicts else "cannot tell"


def drive(chosen: Sequence[Claim], size: Size, execute: Execute) -> dict[str, Judgement]:
    """Drive claims to their ends, stage by stage, all cells of a stage in one call.

    Args:
        chosen: the claims.
        size: quick or full.
        execute: runs cells, or finds their traces in a store.
    """
    plans = {claim.id: claim.plan(size) for claim in chosen}
    wanted = {name: next(plan) for name, plan in plans.items()}
    judged: dict[str, Judgement] = {}
    while wanted:
        cells = tuple(dict.fromkeys(cell for part in wanted.values() for cell in part))
        traces = execute(cells)
        asked: dict[str, Sequence[Cell]] = {}
        for name, part in wanted.items():
            try:
                asked[name] = plans[name].send({cell: traces[cell] for cell in part})
            except StopIteration as end:
                judged[name] = end.value
        wanted = asked
    return {claim.id: judged[claim.id] for claim in chosen}
