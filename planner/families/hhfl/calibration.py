"""How much of the bound's gain runs have: settings of ``benchmarks/overlap_record.py``, measured and predicted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from planner.data.coverage import Floats
from planner.predict.evidence import table

LAYOUT = "triangle:14,4,1"  # of the runs that the bound is held to
EVERY = "HFL, Ge = 1"  # in place of a coverage: of HFL that goes to the cloud after every edge round
LEAST_DELTA = 0.01  # delta/sigma that counts as none
NEAR = 4  # power of distances; of 1 to 4 the one that foretold settings left out best, by about as much as the nearest
AT = 1e-6  # a distance that counts as none
NORMAL = 1.96  # standard deviations of an interval of 95 %
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
    kinds = {"coverage": str, "E": int, "Ge": int}
    rows = table("overlap_record.csv")
    return tuple(Run(**{name: kinds.get(name, float)(x) for name, x in row.items()}) for row in rows)


@dataclass(frozen=True, eq=False)
class GainCalibration:
    """The gain of runs against that of the bound by delta/sigma, at the E, Ge and zeta/sigma that were run and between.

    Between settings powers are means, weighted by inverse distances to the power `NEAR`; how the powers of these
    settings differ is part of the interval.
    """

    settings: tuple[tuple[Run, ...], ...]  # runs of each by delta, smallest first; the nearest setting first
    shares: Floats  # weight of each setting
    extrapolation: float  # factor by which E and Ge of the nearest are off, both together

    @classmethod
    def near(cls, E: int, Ge: int, zeta: float, coverage: str = LAYOUT) -> GainCalibration:
        """Weigh the settings that were run, by default of the layout that most were; ``zeta`` over sigma."""
        known: dict[tuple[float, ...], list[Run]] = {}
        for run in record():
            if run.coverage == coverage:
                ratios = run.E / E, run.Ge / Ge, (1 + run.zeta) / (1 + zeta)
                away = tuple(abs(math.log(ratio)) for ratio in ratios)
                known.setdefault(away, []).append(run)
        order = sorted(known, key=lambda away: (sum(away), away))
        weights = np.maximum([sum(away) for away in order], AT) ** -NEAR
        settings = tuple(tuple(sorted(known[away], key=lambda run: run.delta)) for away in order)
        return cls(settings, weights / weights.sum(), math.exp(min(sum(away[:2]) for away in order)))

    @property
    def runs(self) -> tuple[Run, ...]:
        """Those of the nearest setting."""
        return self.settings[0]

    def power(self, delta: Any, gain: Literal["gain", "low", "high"] = "gain") -> Floats:
        """The power to take the bound's gain to, at delta over sigma, or an end of its 95 % interval."""
        each = self._powers(delta, "gain")
        mean = np.tensordot(self.shares, each, 1)
        if gain == "gain":
            return np.asarray(mean)
        own = np.tensordot(self.shares, self._powers(delta, gain) - each, 1)
        apart = NORMAL * np.sqrt(np.tensordot(self.shares, (each - mean) ** 2, 1))
        return np.asarray(mean + np.hypot(own, apart) * (1 if gain == "high" else -1))

    def _powers(self, delta: Any, gain: str) -> Floats:
        """Of every setting; between runs linear in the logarithm of delta."""
        at = np.log(np.maximum(delta, LEAST_DELTA))
        lines = (
            ([math.log(max(run.delta, LEAST_DELTA)) for run in runs], [run.power(getattr(run, gain)) for run in runs])
            for runs in self.settings
        )
        return np.stack([np.interp(at, *line) for line in lines])

    def neighbours(self, delta: float) -> tuple[Run, ...]:
        """The runs of the nearest setting on either side."""
        below = [run for run in self.runs if run.delta <= delta][-1:]
        above = [run for run in self.runs if run.delta >= delta][:1]
        return tuple(dict.fromkeys([*below, *above]))
