"""The time of a round as a sum of transfers and work, where it is one: what a page can compute again by itself.

Where all nodes move in step, a round takes so many uploads, downloads and latencies of every link, and the work of so
many passes, one after the other. How many follows from the times of a few rounds with other links, and counts only if
it gives the times of further rounds to `EXACT`: a schedule that waits for whichever of two is slower has no such sum.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from planner.cost.round import round_cost
from planner.cost.spec import RoundSpec

EXACT = 1e-9  # relative error up to which a sum is the time of the schedule
CHECKS = 6  # further rounds that a sum has to give
PARTS = ("up", "down", "slower", "latency")  # of a link: an upload, a download, the longer of the two, a latency
WORK = "step_time"


def terms(spec: RoundSpec) -> dict[str, float] | None:
    """Write the time of a round as a sum; None where no such sum is exact.

    How often it takes each term: ``client_link.up``, ``.down``, ``.slower`` and ``.latency`` of every link, and
    ``step_time``. Transfers are those of the whole model at the full rate [s].
    """
    names = list(spec.network.named)
    if spec.compute.random or spec.members is not None or spec.network.timer is not None or not names:
        return None
    rng = np.random.default_rng(0)
    unknown = [f"{name}.{part}" for name in names for part in PARTS] + [WORK]
    # of an upload, a download and a latency of every link, and of a step [s]
    rows = rng.uniform(0.2, 1.0, (len(unknown) + CHECKS, 3 * len(names) + 1))
    times = np.array([_seconds(spec, names, row) for row in rows])
    table = np.array([_columns(row) for row in rows])
    solved = np.linalg.lstsq(table[:-CHECKS], times[:-CHECKS], rcond=None)[0]
    found = np.asarray(solved, dtype=np.float64).round(9)  # most are whole numbers
    if not np.allclose(table @ found, times, rtol=EXACT, atol=0):
        return None
    return {name: value for name, value in zip(unknown, found.tolist(), strict=True) if value}


def _columns(row: NDArray[np.float64]) -> list[float]:
    links = row[:-1].reshape(-1, 3)
    return [*chain.from_iterable((up, down, max(up, down), latency) for up, down, latency in links), row[-1]]


def _seconds(spec: RoundSpec, names: list[str], row: NDArray[np.float64]) -> float:
    network, bits = spec.network, 8 * spec.model_bytes
    for name, (up, down, latency) in zip(names, row[:-1].reshape(-1, 3), strict=True):
        network = network.with_link(name, up=bits / up, down=bits / down, latency=float(latency))
    compute = replace(spec.compute, step_time=float(row[-1]))
    return round_cost(replace(spec, network=network, compute=compute)).seconds
