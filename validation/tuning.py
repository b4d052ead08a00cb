"""Learning rates chosen fairly: one shared grid of effective steps, refined; tuning seeds apart from scoring seeds.

Each algorithm gets the same budget: a coarse grid of factor 4, then factor 2, then the chosen factor, around its own
best so far. The best rate must lie inside the grid, or the grid is widened; only then are fresh seeds scored.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from validation.engine import Trace, ValidationError
from validation.experiment import Cell, Part
from validation.statistics import best_rate

Traces = Mapping[Cell, Trace]


@dataclass(frozen=True, kw_only=True, slots=True)
class Protocol:
    """How rates are chosen and what is scored.

    Attributes:
        quantity: name of what a problem measures; smaller is better.
        averaged: whether its average over rounds is meant (the left-hand side of the theorems) or its last value.
        rounds: global rounds.
        start: middle of the grid of effective steps.
        tuning: seeds to choose on.
        scoring: other seeds to compare on.
        factors: between neighbouring rates, stage by stage.
        reach: how many rates to each side of the middle in the first stage.
        widest: how many times the first grid may be moved.
    """

    quantity: str
    averaged: bool
    rounds: int
    start: float
    tuning: tuple[int, ...]
    scoring: tuple[int, ...]
    factors: tuple[float, ...] = (4.0, 2.0, 2**0.5)
    reach: int = 3
    widest: int = 4

    def __post_init__(self) -> None:
        if set(self.tuning) & set(self.scoring):
            raise ValidationError("tuning and scoring seeds overlap: choose on some, compare on others.")


@dataclass(frozen=True, slots=True)
class Score:
    """An algorithm at its best rate.

    Attributes:
        rate: effective learning rate chosen.
        values: on the scoring seeds, in their order.
        tried: how many rates were tried.
    """

    rate: float
    values: NDArray[np.float64]
    tried: int


def cell(problem: Part, algorithm: Part, protocol: Protocol, rates: Sequence[float], seeds: Sequence[int]) -> Cell:
    """Every rate with every seed, rates outermost."""
    return Cell(
        problem,
        algorithm,
        tuple(rate for rate in rates for _ in seeds),
        tuple(seed for _ in rates for seed in seeds),
        protocol.rounds,
        (protocol.rounds,),
        protocol.averaged,
    )


def read(trace: Trace, protocol: Protocol, rates: int) -> NDArray[np.float64]:
    """The quantity, of shape (rates, seeds)."""
    source = trace.averages if protocol.averaged else trace.values
    return np.asarray(source[protocol.quantity][:, -1].tolist()).reshape(rates, -1)


def tuned(
    problem: Part, algorithms: Mapping[str, Part], protocol: Protocol
) -> Generator[Sequence[Cell], Traces, dict[str, Score]]:
    """Choose each algorithm's rate and score it there; a stage of a claim's plan.

    Raises:
        ValidationError: if a best rate stays at the end of the grid however far that is moved.
    """
    seen: dict[str, dict[float, NDArray[np.float64]]] = {name: {} for name in algorithms}
    ladder = [round(power, 9) for power in _powers(protocol.factors[0], protocol.reach)]
    wanted = dict.fromkeys(algorithms, ladder)
    stage = dict.fromkeys(algorithms, 0)
    moved = dict.fromkeys(algorithms, 0)
    while wanted:
        cells = {
            name: cell(problem, algorithms[name], protocol, [protocol.start * x for x in rates], protocol.tuning)
            for name, rates in wanted.items()
        }
        traces = yield tuple(cells.values())
        following: dict[str, list[float]] = {}
        for name, rates in wanted.items():
            values = read(traces[cells[name]], protocol, len(rates))
            seen[name].update(zip(rates, values, strict=True))
            known = sorted(seen[name])
            best = best_rate(known, np.array([seen[name][x] for x in known]))
            if not best.inside:
                moved[name] += 1
                if moved[name] > protocol.widest:
                    raise ValidationError(f"{name}: the best rate {best.rate:g} stays at the end of the grid.")
                step = protocol.factors[0] if best.index else 1 / protocol.factors[0]
                following[name] = [round(best.rate * step**i, 9) for i in range(1, protocol.reach)]
                continue
            stage[name] += 1
            if stage[name] < len(protocol.factors):
                factor = protocol.factors[stage[name]]
                near = (round(best.rate * x, 9) for x in (1 / factor, factor))
                following[name] = [x for x in near if x not in seen[name]]
        wanted = {name: rates for name, rates in following.items() if rates}
    chosen = {}
    for name in algorithms:
        known = sorted(seen[name])
        chosen[name] = best_rate(known, np.array([seen[name][x] for x in known])).rate
    last = {
        name: cell(problem, part, protocol, [protocol.start * chosen[name]], protocol.scoring)
        for name, part in algorithms.items()
    }
    traces = yield tuple(last.values())
    return {
        name: Score(protocol.start * chosen[name], read(traces[last[name]], protocol, 1)[0], len(seen[name]))
        for name in algorithms
    }


def _powers(factor: float, reach: int) -> list[float]:
    return [factor**i for i in range(-reach, reach + 1)]
