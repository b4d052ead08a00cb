"""How much of the bound's gain runs have: settings of ``benchmarks/overlap_record.py``, measured and predicted."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

import numpy as np

from planner.data.coverage import Floats

LAYOUT = "triangle:14,4,1"  # of the runs that the bound is held to
EVERY = "HFL, Ge = 1"  # in place of a coverage: of HFL that goes to the cloud after every edge round
LEAST_DELTA = 0.01  # delta/sigma that counts as none
LEAST_GAIN = 0.02  # logarithm of a gain below which a bound says that there is none


@dataclass(frozen=True)
class Run:
    """A setting that was run, with what was measured and what the bound says."""

    coverage: str  # layout of 57 clients of three servers, or `EVERY`
    E: int  # E, Ge: local steps and edge rounds
    Ge: int
    zeta: float  # zeta, delta: gaps over sigma
    delta: float
    # loss above its minimum without overlap over that with it, after as many local steps; where losses fall as one over
    # the steps, this is also the gain in rounds
    gain: float
    low: float  # low, high: ends of its 95 % interval
    high: float
    bound: float  # gain that the bound predicts

    def power(self, gain: float) -> float:
        """The power of the bound's gain that a gain is; 1 where the bound says none."""
        predicted = math.log(self.bound)
        return math.log(gain) / predicted if abs(predicted) > LEAST_GAIN else 1.0


@cache
def record() -> tuple[Run, ...]:
    """Read all runs."""
    text = resources.files("planner").joinpath("data/overlap_record.csv").read_text()
    kinds = {"coverage": str, "E": int, "Ge": int}
    return tuple(
        Run(**{name: kinds.get(name, float)(x) for name, x in row.items()}) for row in csv.DictReader(text.splitlines())
    )


@dataclass(frozen=True, eq=False)
class GainCalibration:
    """The gain of runs against that of the bound, by delta/sigma, at the nearest E, Ge and zeta/sigma that were run."""

    runs: tuple[Run, ...]  # runs by delta, smallest first
    extrapolation: float  # factor by which E and Ge are off, both together

    @classmethod
    def nearest(cls, E: int, Ge: int, zeta: float, coverage: str = LAYOUT) -> GainCalibration:
        """Find the runs to look at, by default of the layout that most were made with; ``zeta`` over sigma."""
        known = [run for run in record() if run.coverage == coverage]

        def distance(run: Run) -> tuple[float, float]:
            return abs(math.log(run.E / E)) + abs(math.log(run.Ge / Ge)), abs(math.log((1 + run.zeta) / (1 + zeta)))

        least = min(map(distance, known))
        runs = sorted((run for run in known if distance(run) == least), key=lambda run: run.delta)
        return cls(tuple(runs), math.exp(least[0]))

    def power(self, delta: Any, gain: Literal["gain", "low", "high"] = "gain") -> Floats:
        """The power to take the bound's gain to, at delta over sigma; linear in its logarithm between runs."""
        at = np.log([max(run.delta, LEAST_DELTA) for run in self.runs])
        found = [run.power(getattr(run, gain)) for run in self.runs]
        return np.asarray(np.interp(np.log(np.maximum(delta, LEAST_DELTA)), at, found))

    def neighbours(self, delta: float) -> tuple[Run, ...]:
        """The runs on either side."""
        below = [run for run in self.runs if run.delta <= delta][-1:]
        above = [run for run in self.runs if run.delta >= delta][:1]
        return tuple(dict.fromkeys([*below, *above]))
