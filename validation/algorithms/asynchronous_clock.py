"""Who arrives when: the event clock of an asynchronous server with a buffer.

Sub-centers work at the same time, each for as long as its task takes. One that has delivered waits for the buffer to
fill; then the server steps, and those whose updates were used begin again from the new model. So a buffer never holds
a sub-center twice, and the order of arrival depends on the seed alone: not on rates, noise or the server's rule. Every
global step takes the same number of arrivals, so runs with different orders still advance together.

The n-th task of a sub-center takes as long under every size of the buffer.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from dataclasses import dataclass, field

import torch

from validation.engine import generator

DURATIONS = 40  # what a generator is for
BLOCK = 256  # durations drawn at once


@dataclass(frozen=True, slots=True)
class Arrivals:
    """One global step.

    Attributes:
        who: sub-centers whose updates are in the buffer, in the order of arrival.
        delays: how many global steps ago each of them began, Gamma_j^t.
        oldest: how many global steps ago the oldest update began that the cache holds, these among them: the largest
            zeta_j^t.
        time: of the step, in durations of the fastest sub-center's task.
    """

    who: tuple[int, ...]
    delays: tuple[int, ...]
    oldest: int
    time: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """The first global steps of one seed.

    Attributes:
        steps: one by one.
    """

    steps: tuple[Arrivals, ...]

    @property
    def Gamma_max(self) -> int:
        """The largest delay in a buffer."""
        return max(delay for step in self.steps for delay in step.delays)

    @property
    def zeta_max(self) -> int:
        """The largest delay in the cache."""
        return max(step.oldest for step in self.steps)

    @property
    def time(self) -> float:
        """Of the last step."""
        return self.steps[-1].time

    def shares(self, M: int) -> tuple[float, ...]:
        """The share of each of M sub-centers in all arrivals, pi_j."""
        count = Counter(j for step in self.steps for j in step.who)
        return tuple(count[j] / count.total() for j in range(M))


@dataclass(slots=True)
class Clock:
    """Goes from one global step to the next.

    Attributes:
        M: sub-centers.
        K_buf: arrivals of a global step.
        speed_ratio: how many times as long the tasks of the last sub-center take as those of the first; the others
            lie between in equal ratios.
        jitter: standard deviation of the logarithm of a task's duration; 0 for tasks that always take the same time.
        seed: of the durations; without jitter all seeds have one order.
        slowdowns: how long the tasks of each sub-center take, in place of ``speed_ratio``; empty for that.
    """

    M: int
    K_buf: int
    speed_ratio: float
    jitter: float
    seed: int
    slowdowns: tuple[float, ...] = ()
    _due: list[tuple[float, int]] = field(init=False, default_factory=list)
    _began: list[int] = field(init=False)
    _cached: list[int] = field(init=False)
    _tasks: list[int] = field(init=False)
    _normal: list[list[float]] = field(init=False)
    _streams: list[torch.Generator] = field(init=False)
    _step: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._began, self._cached, self._tasks = [0] * self.M, [0] * self.M, [0] * self.M
        self._normal = [[] for _ in range(self.M)]
        self._streams = [generator(self.seed, DURATIONS, j) for j in range(self.M)] if self.jitter else []
        for j in range(self.M):
            heapq.heappush(self._due, (self._duration(j), j))

    def step(self) -> Arrivals:
        """The next global step; where two arrive at one time, the smaller number is first."""
        now, who = 0.0, []
        for _ in range(self.K_buf):
            now, j = heapq.heappop(self._due)
            who.append(j)
        delays = tuple(self._step - self._began[j] for j in who)
        for j in who:
            self._cached[j] = self._began[j]
        found = Arrivals(tuple(who), delays, self._step - min(self._cached), now)
        self._step += 1
        for j in who:
            self._began[j] = self._step
            heapq.heappush(self._due, (now + self._duration(j), j))
        return found

    def mean(self, j: int) -> float:
        """How long a task of this sub-center takes, its median where there is jitter."""
        if self.slowdowns:
            return self.slowdowns[j]
        return float(self.speed_ratio) ** (j / (self.M - 1)) if self.M > 1 else 1.0

    def _duration(self, j: int) -> float:
        mean = self.mean(j)
        if not self.jitter:
            return mean
        task = self._tasks[j]
        self._tasks[j] += 1
        if task % BLOCK == 0:
            self._normal[j] = torch.randn(BLOCK, generator=self._streams[j], dtype=torch.float64).tolist()
        return mean * math.exp(self.jitter * self._normal[j][task % BLOCK])
