"""Which input the lead varies with: total Sobol indices of the log margin, and each input moved alone.

Source: M. J. W. Jansen, Comput. Phys. Commun. 117 (1999), for the estimator of total indices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hflbounds.evaluate.compare import SAME
from planner.decide.recommendation import Alone, Index
from planner.decide.uncertainty.draws import Totals, logs_at
from planner.decide.uncertainty.lattice import FloatArray, blocks, cube

BASE = 512  # draws that the indices start from
STEPS = 9  # values of an input that is moved alone
LARGEST_MARGIN = math.log(10)  # beyond it a margin counts as this, also where one side never gets there
T_15 = 2.131449545559323  # Student's 97.5 % quantile, one degree of freedom less than there are blocks


def margins(totals: FloatArray, leaders: Sequence[int]) -> FloatArray:
    """Log of the best other total over the leaders' own, within `LARGEST_MARGIN`; 0 where neither gets there."""
    others = [i for i in range(len(totals)) if i not in leaders]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(totals[others].min(axis=0)) - np.log(totals[list(leaders)].min(axis=0))
    return np.clip(np.where(np.isnan(found), 0.0, found), -LARGEST_MARGIN, LARGEST_MARGIN)


def total_indices(base: FloatArray, changed: FloatArray) -> list[Index] | None:
    """Share of a variance that goes where one input is fixed, its interactions included: Jansen's estimator.

    The intervals are from a jackknife over the blocks: from 0 to 1 where all that varies is in one block. ``base`` are
    values of a function at draws, ``changed``, of shape (inputs, draws), those with one input drawn again. None where
    the function does not vary.
    """
    squares = np.stack([blocks((base - row) ** 2 / 2).mean(axis=1) for row in changed])
    everything = np.concatenate([base[None], changed])
    means = np.stack([blocks(row).mean(axis=1) for row in everything]).mean(axis=0)
    powers = np.stack([blocks(row**2).mean(axis=1) for row in everything]).mean(axis=0)

    def indices(keep: Any) -> FloatArray | None:
        power = float(powers[keep].mean())
        variance = power - means[keep].mean() ** 2
        return None if variance <= 1e-12 * max(1.0, power) else np.asarray(squares[:, keep].mean(axis=1) / variance)

    values = indices(slice(None))
    if values is None:
        return None
    number = len(means)
    left_out = [indices(np.arange(number) != b) for b in range(number)]
    known = [found for found in left_out if found is not None]
    errors = np.sqrt((number - 1) / number * ((known - np.mean(known, axis=0)) ** 2).sum(axis=0))
    if len(known) < number:
        errors = np.full(len(values), np.inf)
    return [
        Index(value=float(min(v, 1.0)), low=float(np.clip(v - T_15 * e, 0, 1)), high=float(np.clip(v + T_15 * e, 0, 1)))
        for v, e in zip(values, errors, strict=True)
    ]


def explained(totals: Totals, first: Sequence[str]) -> list[Index] | None:
    """Indices of the log margin of the best other topology over the first; None where it stays or draws are slow.

    ``first`` are the first topology and those that always take the same.
    """
    question, drawn = totals.question, totals.columns
    if totals.slow or not drawn:
        return None
    rng = np.random.default_rng([question.seed, 1])
    points = cube(rng, 2 * len(drawn), BASE)
    logs, again = logs_at(drawn, points[: len(drawn)]), logs_at(drawn, points[len(drawn) :])
    place = np.arange(len(drawn))[:, None]
    redrawn = [np.where(place == i, again, logs) for i in range(len(drawn))]
    counted = [i for i, c in enumerate(drawn) if not c.of_clock]
    rounds = np.split(totals.rounds(np.hstack([logs, *(redrawn[i] for i in counted)])), len(counted) + 1, axis=1)
    prices = totals.prices(logs)
    leaders = [tuple(question.topologies).index(t) for t in first]
    base = margins(rounds[0] * prices, leaders)
    changes = []
    for i, column in enumerate(drawn):
        here = rounds[0] if column.of_clock else rounds[1 + counted.index(i)]
        there = totals.prices(redrawn[i]) if column.of_clock else prices
        changes.append(margins(here * there, leaders))
    return total_indices(base, np.stack(changes))


def alone(totals: Totals, first: Sequence[str]) -> list[Alone]:
    """Each column from its low to its high, the others at their middle."""
    drawn, names = totals.columns, tuple(totals.question.topologies)
    leaders = [names.index(t) for t in first]
    steps = 3 if totals.slow else STEPS
    logs = np.zeros((len(drawn), len(drawn), steps))
    for i, column in enumerate(drawn):
        logs[i, i] = column.spread.reach * np.linspace(-1, 1, steps)
    at = totals(logs.reshape(len(drawn), -1)).reshape(len(names), len(drawn), steps)
    found = []
    for i in range(len(drawn)):
        margin, here = margins(at[:, i], leaders), at[:, i]
        least = here.min(axis=0)
        firsts = [names[int(here[:, s].argmin())] if math.isfinite(least[s]) else None for s in (0, -1)]
        led = here[leaders].min(axis=0) <= least * (1 + SAME)
        found.append(
            Alone(
                margin_low=float(margin[0]),
                margin_high=float(margin[-1]),
                swing=float(margin.max() - margin.min()),
                first_low=firsts[0],
                first_high=firsts[1],
                changes=bool(np.any(~led & np.isfinite(least))),
            )
        )
    return found
