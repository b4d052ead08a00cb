"""HGA-FL and the servers it is compared with: FedBuff, CA2FL, FedAsync, and the synchronous mean.

An update is minus the change of a sub-center's model during its task. With H the buffer of K sub-centers, c the cache
of every sub-center's last update, and s the damping of an update that began tau global steps ago, a global step takes
eta_g times this from the server's model w:

* HGA-FL:      2/K sum_H Delta_j - 1/M sum_j c_j, with what arrived in the cache already;
* FedBuff:     1/K sum_H s Delta_j;
* CA2FL:       1/M sum_j c_j + 1/K sum_H (Delta_j - c_j), with the cache before the arrivals;
* FedAsync:    s (w - w_j), where w_j is the model that arrives: a mean of models, and K = 1;
* synchronous: 1/M sum_j Delta_j, everybody from the same model.

HGA-FL's is C.1 and (48) of the supplement of xie2024; Algorithm 1 itself is in the main paper. Its Delta_j is minus the
change of the model: with the sign of Algorithm 3, line 17, the server would ascend. Whether the cache takes the
arrivals before or after the step is not said; before, a full buffer is the synchronous mean.

`reference_async` of the tests is the literal transcription that this file is tested against.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from hflbounds.catalog.xie2024 import paper
from validation.algorithms.asynchronous_clock import Clock, Schedule
from validation.algorithms.sub_centers import Below, Inside, States
from validation.engine import Moment, Parameters, Problem, ValidationError

SOURCE = paper.at("C.1 and (48); Algorithm 3; Appendix G for the baselines")
NEAR = 1e-9  # relative; sums of durations that differ by less are one time
FIRST = 1  # tells the tasks that fill the first cache from those of the first arrivals
Above = Literal["hga-fl", "fedbuff", "ca2fl", "fedasync", "synchronous"]
Cache = Literal["first", "zero"]


@dataclass(slots=True)
class State:
    """One server per run.

    Attributes:
        model: the server's, tensors of shape (runs, ...).
        began: the model that each sub-center is working from, tensors of shape (runs, M, ...).
        cache: the last update of each, of the same shapes; empty where the rule has none.
        inside: FedDyn's states, or None.
        clocks: one for each seed, or one for all.
    """

    model: Parameters
    began: Parameters
    cache: Parameters
    inside: States | None
    clocks: dict[int, Clock] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asynchronous:
    """An asynchronous server over sub-centers; one round of the engine is one of its global steps.

    Attributes:
        above: the server's rule.
        M: sub-centers.
        N: clients of each; client i of sub-center j is number j N + i of the problem.
        K_buf: sub-centers in a buffer; M for the synchronous server and 1 for FedAsync, which need not be told.
        R_sub: rounds of a task inside a sub-center.
        E: local steps of a client in such a round.
        below: ``avg``, ``prox`` or ``dyn``; with ``avg`` and E = 1 a round is a plain stochastic gradient step.
        eta_g: the server's rate.
        eta: rate of a local step; then the rate of a run multiplies ``eta_g``. None where the rate of a run is that of
            a local step.
        alpha: FedDyn's coefficient.
        mu: FedProx's coefficient.
        speed_ratio: how many times as long the tasks of the last sub-center take as those of the first.
        slowdowns: how long the tasks of each sub-center take, such as ``1,1,2,5``; in place of ``speed_ratio``.
        jitter: standard deviation of the logarithm of a task's duration; 0 for fixed durations.
        damping: an update that began tau steps ago counts (1 + tau)^-damping times; FedBuff and FedAsync only.
        cache: ``first``, updates of tasks from the first model, done before the clock starts (they move FedDyn's states
            on); or ``zero``.

    Raises:
        ValidationError: if an option is out of range or means nothing for the rule.
    """

    above: Above
    M: int
    N: int
    K_buf: int | None = None
    R_sub: int = 1
    E: int = 1
    below: Below = "avg"
    eta_g: float = 1.0
    eta: float | None = None
    alpha: float = 2.0
    mu: float = 2.0
    speed_ratio: float = 1.0
    slowdowns: str | None = None
    jitter: float = 0.0
    damping: float = 0.0
    cache: Cache = "first"

    def __post_init__(self) -> None:
        if self.above not in get_args(Above):
            raise ValidationError(f"above = {self.above!r} is none of {', '.join(get_args(Above))}.")
        if self.cache not in get_args(Cache):
            raise ValidationError(f"cache = {self.cache!r} is none of {', '.join(get_args(Cache))}.")
        for name, number in (("M", self.M), ("N", self.N), ("R_sub", self.R_sub), ("E", self.E)):
            if number < 1:
                raise ValidationError(f"{name} = {number} is not a count: give at least 1.")
        only = {"synchronous": self.M, "fedasync": 1}.get(self.above)
        if self.K_buf is None and only is None:
            raise ValidationError(f"{self.above} has a buffer: give K_buf, from 1 to M = {self.M}.")
        if self.K_buf is not None and only not in (None, self.K_buf):
            raise ValidationError(f"K_buf = {self.K_buf}, and {self.above} has {only}: leave it out.")
        if not 1 <= self.buffer <= self.M:
            raise ValidationError(f"K_buf = {self.K_buf} is not between 1 and M = {self.M}.")
        if not self.speed_ratio >= 1:
            raise ValidationError(f"speed_ratio = {self.speed_ratio} must be at least 1: the first is the fastest.")
        if self.slowdowns is not None:
            if self.speed_ratio != 1:
                raise ValidationError("slowdowns and speed_ratio say the same: leave one out.")
            if len(self.durations) != self.M or not all(0 < each < math.inf for each in self.durations):
                raise ValidationError(f"slowdowns = {self.slowdowns!r}: give M = {self.M} numbers above 0.")
        for name, value in (("eta_g", self.eta_g), ("jitter", self.jitter), ("damping", self.damping)):
            if not value >= 0:
                raise ValidationError(f"{name} = {value} must be at least 0.")
        if self.eta is not None and not self.eta >= 0:
            raise ValidationError(f"eta = {self.eta} must be at least 0, or None.")
        if self.damping and self.above not in ("fedbuff", "fedasync"):
            raise ValidationError(f"damping = {self.damping}, and {self.above} damps nothing: leave it out.")
        _ = self.inside  # checks its own options

    @property
    def buffer(self) -> int:
        """Arrivals of a global step."""
        return {"synchronous": self.M, "fedasync": 1}[self.above] if self.K_buf is None else self.K_buf

    @property
    def durations(self) -> tuple[float, ...]:
        """How long the tasks of each sub-center take, where that was told of each.

        Raises:
            ValidationError: if they are no numbers.
        """
        try:
            return () if self.slowdowns is None else tuple(map(float, self.slowdowns.split(",")))
        except ValueError:
            raise ValidationError(f"slowdowns = {self.slowdowns!r} are no numbers: write 1,1,2,5.") from None

    @property
    def inside(self) -> Inside:
        """How sub-centers work."""
        return Inside(below=self.below, N=self.N, R_sub=self.R_sub, E=self.E, alpha=self.alpha, mu=self.mu)

    def clock(self, seed: int) -> Clock:
        """The clock of runs with this seed, before the first global step."""
        return Clock(self.M, self.buffer, self.speed_ratio, self.jitter, seed, self.durations)

    def schedule(self, seed: int, steps: int) -> Schedule:
        """Who arrives when in the runs with this seed, and how late; delays as they are, not a bound on them."""
        clock = self.clock(seed)
        return Schedule(tuple(clock.step() for _ in range(steps)))

    def updates(self, rounds: int) -> tuple[float, ...]:
        """When the server steps in as long as a server that waits for all takes for so many rounds, in such rounds.

        Raises:
            ValidationError: if tasks do not always take the same time.
        """
        if self.jitter:
            raise ValidationError(f"jitter = {self.jitter}: every seed has its own times. Leave it out.")
        clock, found = self.clock(0), [0.0]
        slowest = max(map(clock.mean, range(self.M)))
        while found[-1] <= rounds * (1 + NEAR):
            found.append(clock.step().time / slowest)
        return tuple(found[1:-1])

    def local_steps_per_round(self) -> int:
        """Local steps of a task, one after the other; 1 where the rate is the server's."""
        return self.R_sub * self.E if self.eta is None else 1

    def models(self, problem: Problem) -> int:
        """Models of one run in memory: those in training, and what is remembered of every sub-center and client."""
        cached = self.M if self.above in ("hga-fl", "ca2fl") else 0
        remembered = self.M * (self.N + 1) if self.below == "dyn" else 0
        return self.buffer * self.N + self.M + cached + remembered

    def start(self, problem: Problem, runs: int) -> State:
        """Every sub-center about to work from the first model.

        Raises:
            ValidationError: if the problem has another number of clients, or lacks gradients that are needed.
        """
        if problem.clients != self.M * self.N:
            raise ValidationError(f"the problem has {problem.clients} clients, and M N = {self.M * self.N}.")
        model = tuple(part.expand(runs, *part.shape[1:]).clone() for part in problem.start())
        began = tuple(part[:, None].repeat(1, self.M, *(1,) * (part.ndim - 1)) for part in model)
        cached = self.above in ("hga-fl", "ca2fl")
        cache = tuple(torch.zeros_like(part) for part in began) if cached else ()
        return State(model, began, cache, self.inside.start(problem, runs, self.M))

    def iterate(self, state: State) -> Parameters:
        """The server's models."""
        return state.model

    def round(self, state: State, problem: Problem, moment: Moment) -> State:
        """One global step: K_buf arrivals, and the server's rule."""
        device, server = moment.rates.device, moment.rates.new_full((len(moment.rates),), self.eta_g)
        if self.eta is not None:
            server = server * moment.rates
            moment = replace(moment, rates=torch.full_like(moment.rates, self.eta))
        if moment.index == 0:
            state.clocks = {seed: self.clock(seed) for seed in (moment.seeds if self.jitter else moment.seeds[:1])}
            if state.cache and self.cache == "first":
                everybody = torch.arange(self.M, device=device).expand(len(moment.rates), -1)
                state.cache = self._updates(state, problem, moment, everybody, (FIRST,))[0]
        steps = [clock.step() for clock in state.clocks.values()]
        at = moment.seed_at if self.jitter else torch.zeros_like(moment.seed_at)
        who = torch.tensor([step.who for step in steps], device=device)[at]  # (runs, K)
        late = torch.tensor([step.delays for step in steps], device=device)[at]
        row = torch.arange(len(who), device=device)[:, None]
        updates, after = self._updates(state, problem, moment, who, ())
        weight = (1 + late).to(moment.rates.dtype) ** -self.damping if self.damping else None
        model = []
        for k, (old, new) in enumerate(zip(state.model, updates, strict=True)):
            direction = self._direction(state, k, row, who, weight, new, after[k])
            model.append(old - direction.mul_(server.view(-1, *(1,) * (old.ndim - 1))))
            state.began[k][row, who] = model[-1][:, None].expand_as(new)
        state.model = tuple(model)
        return state

    def _updates(
        self, state: State, problem: Problem, moment: Moment, who: Tensor, again: tuple[int, ...]
    ) -> tuple[Parameters, Parameters]:
        """Minus the change of the models of these sub-centers, and the models after it: (runs, who, ...)."""
        row = torch.arange(len(who), device=who.device)[:, None]
        begin = tuple(part[row, who] for part in state.began)
        models = tuple(part.flatten(0, 1).clone() for part in begin)
        after = self.inside.work(models, state.inside, problem, moment, who, again)
        after = tuple(part.view_as(old) for part, old in zip(after, begin, strict=True))
        return tuple(old - new for old, new in zip(begin, after, strict=True)), after

    def _direction(
        self, state: State, k: int, row: Tensor, who: Tensor, weight: Tensor | None, new: Tensor, after: Tensor
    ) -> Tensor:
        """What the server moves against, for one of the tensors; brings the cache up to date."""
        if self.above == "hga-fl":
            state.cache[k][row, who] = new
            return 2 * new.mean(1) - state.cache[k].mean(1)
        if self.above == "ca2fl":
            cache = state.cache[k]
            direction = cache.mean(1) + (new - cache[row, who]).mean(1)
            cache[row, who] = new
            return direction
        if self.above == "fedasync":
            new = state.model[k][:, None] - after
        if weight is not None:
            new = new * weight.view(*who.shape, *(1,) * (new.ndim - 2))
        return new.mean(1)


MAKERS: Mapping[str, Callable[..., Any]] = {
    "hga-fl": partial(Asynchronous, above="hga-fl", below="dyn"),
    **{name: partial(Asynchronous, above=name) for name in ("fedbuff", "ca2fl", "fedasync", "synchronous")},
}
