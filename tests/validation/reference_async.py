"""Asynchronous servers over sub-centers, literally: one sub-center, one client, one step after the other.

Sources: xie2024, supplement, C.1 and (48) for HGA-FL's server, Algorithm 3 for a sub-center that averages, (25) for one
with FedDyn, Appendix G for the baselines; Algorithm 1 of xie2024 is in the main paper and was not read. FedBuff: Nguyen
et al., 2022; CA2FL: Wang et al., 2023; FedAsync: Xie et al., 2019; FedProx: Li et al., 2020; FedDyn: Acar et al., 2021.

Nothing here knows what a point is. Points may be floats, tensors, or `fractions.Fraction`: with fractions a cycle of
arrivals is an exact affine map, whose fixed point says where a rule settles. Speed is no aim: this is what
`validation.algorithms.asynchronous` is checked against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Gradient = Callable[[int, int, int, int, int, bool, Any], Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """One system, in the letters of `validation.algorithms.asynchronous.Asynchronous`.

    Attributes:
        above: hga-fl, fedbuff, ca2fl, fedasync or synchronous.
        below: avg, prox or dyn.
        M: sub-centers.
        N: clients of each.
        R_sub: rounds of a task.
        E: local steps.
        eta_g: the server's rate.
        eta: of a local step.
        alpha: FedDyn's coefficient.
        mu: FedProx's coefficient.
        damp: of the delay, what an update counts.
        filled: whether the first cache holds updates from the first model.
        ascending: HGA-FL only: Delta_j is the change of the model, as Algorithm 3 has it, and not minus the change.
    """

    above: str
    below: str
    M: int
    N: int
    R_sub: int
    E: int
    eta_g: Any
    eta: Any
    alpha: Any = 1
    mu: Any = 0
    damp: Callable[[int], Any] = lambda late: 1
    filled: bool = True
    ascending: bool = False


class Server:
    """A server and its sub-centers, before the first global step.

    Attributes:
        w: the server's model.
        began: the model that each sub-center works from.
        began_at: the number of that model.
        c: the cache.
        h: FedDyn's state of each sub-center.
        h_clients: FedDyn's state of each client.
    """

    def __init__(self, x: Any, settings: Settings, gradient: Gradient) -> None:
        """Start.

        Args:
            x: the first model.
            settings: the system.
            gradient: ``gradient(t, r, j, i, e, first, x)`` is the stochastic gradient of client i of sub-center j at x,
                in local step e of round r of the task that arrives at global step t, or that fills the first cache.
        """
        self.settings, self.gradient = settings, gradient
        many = range(settings.M)
        self.w, self.t = x, 0
        self.began, self.began_at = [x for _ in many], [0 for _ in many]
        self.h: list[Any] = [x - x for _ in many]
        self.h_clients: list[list[Any]] = [[x - x for _ in range(settings.N)] for _ in many]
        self.c: list[Any] = [x - x for _ in many]
        if settings.above in ("hga-fl", "ca2fl") and settings.filled:
            self.c = [self.began[j] - self.task(j, first=True) for j in many]

    def task(self, j: int, *, first: bool = False) -> Any:
        """The model of sub-center j after R_sub rounds from the model it received."""
        told = self.settings
        w = self.began[j]
        for r in range(told.R_sub):
            clients = []
            for i in range(told.N):  # in parallel
                x = w
                for e in range(told.E):
                    slope = self.gradient(self.t, r, j, i, e, first, x)
                    if told.below == "prox":
                        slope = slope + told.mu * (x - w)
                    if told.below == "dyn":
                        slope = slope - self.h_clients[j][i] + told.alpha * (x - w)
                    x = x - told.eta * slope
                clients.append(x)
            mean = sum(clients[1:], start=clients[0]) / told.N  # line 16 of Algorithm 3, clients of one size
            if told.below == "dyn":
                for i, x in enumerate(clients):
                    self.h_clients[j][i] = self.h_clients[j][i] - told.alpha * (x - w)
                self.h[j] = self.h[j] - told.alpha * (mean - w)
                mean = mean - self.h[j] / told.alpha  # (25)
            w = mean
        return w

    def step(self, arrived: Sequence[int]) -> Any:
        """The next model of the server, from a buffer of these sub-centers; they begin again from it."""
        told, K, M = self.settings, len(arrived), self.settings.M
        models = {j: self.task(j) for j in arrived}
        delta = {j: self.began[j] - models[j] for j in arrived}
        buffer = list(delta.values())
        total = sum(buffer[1:], start=buffer[0])
        match told.above:
            case "hga-fl":
                sign = -1 if told.ascending else 1
                for j in arrived:
                    self.c[j] = delta[j]
                cached = sum(self.c[1:], start=self.c[0]) / M
                calibration = K * cached - total  # K v^t of C.1
                self.w = self.w - sign * told.eta_g * (total / K) + sign * told.eta_g * (calibration / K)
            case "ca2fl":
                cached = sum(self.c[1:], start=self.c[0]) / M
                gaps = [delta[j] - self.c[j] for j in arrived]
                self.w = self.w - told.eta_g * (cached + sum(gaps[1:], start=gaps[0]) / K)
                for j in arrived:
                    self.c[j] = delta[j]
            case "fedbuff":
                damped = [told.damp(self.t - self.began_at[j]) * delta[j] for j in arrived]
                self.w = self.w - told.eta_g * (sum(damped[1:], start=damped[0]) / K)
            case "fedasync":
                (j,) = arrived
                share = told.eta_g * told.damp(self.t - self.began_at[j])
                self.w = (1 - share) * self.w + share * models[j]
            case "synchronous":
                self.w = self.w - told.eta_g * (total / K)
            case _:
                raise ValueError(f"{told.above!r} is no server")
        self.t += 1
        for j in arrived:
            self.began[j], self.began_at[j] = self.w, self.t
        return self.w


def arrivals(M: int, K: int, duration: Callable[[int, int], Any]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Who is in each buffer, and when it is full.

    Args:
        M: sub-centers.
        K: of a buffer.
        duration: ``duration(j, n)`` is how long the n-th task of sub-center j takes.
    """
    due = [duration(j, 0) for j in range(M)]
    done = [0] * M
    while True:
        buffer: list[int] = []
        while len(buffer) < K:
            working = [j for j in range(M) if j not in buffer]  # those in the buffer wait
            buffer.append(min(working, key=lambda j: (due[j], j)))
        now = due[buffer[-1]]
        yield tuple(buffer), now
        for j in buffer:
            done[j] += 1
            due[j] = now + duration(j, done[j])
