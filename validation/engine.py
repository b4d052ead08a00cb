"""Stacked simulation: many independent runs of one algorithm advance together as batched tensors.

A run is a learning rate and a seed. Every model of every run is one slice of the same tensors, so that a local step
of a hundred clients in forty runs is a handful of batched operations; a ring is sequential only where the algorithm
is. What is random is drawn by seed, round and client alone, never by topology or rate: runs with one seed see the
same batches and the same noise, so that differences between algorithms and rates are paired.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

Parameters = tuple[Tensor, ...]  # each of shape (models, ...): slices with one index are one model


class ValidationError(Exception):
    """What was asked for cannot be run; the message names the thing, the fact and the way out."""


class UnknownChoiceError(ValidationError):
    """A word that is none of those that can be chosen."""


def one_of(text: str, choices: Sequence[str], where: str) -> str:
    """Read one of several words.

    Raises:
        UnknownChoiceError: if it is none of them, with the nearest.
    """
    if text in choices:
        return text
    near = difflib.get_close_matches(text, choices, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UnknownChoiceError(f"{where}: {text!r:.40} is not one of {', '.join(choices)}.{hint}")


class Problem(Protocol):
    """What is trained: clients with their data or their losses, and the quantities that are measured."""

    @property
    def clients(self) -> int:
        """How many clients; they are numbered group by group."""

    @property
    def numbers_per_model(self) -> int:
        """Parameters of one model, for planning memory."""

    def start(self) -> Parameters:
        """The first iterate: tensors of shape (1, ...)."""

    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> Any:
        """What is random in ``steps`` local steps of every client at this time, for each seed.

        Args:
            seeds: distinct seeds.
            time: round, and whatever else tells this moment from others.
            steps: local steps.

        Returns:
            an object that `local_steps` takes; it depends on nothing else.
        """

    def local_steps(
        self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Any, rates: Tensor, steps: int
    ) -> Parameters:
        """Models after ``steps`` local steps of stochastic gradient descent; may overwrite its argument.

        Args:
            models: tensors of shape (models, ...).
            clients: whose data each model is trained on, shape (models,).
            seeds: position in the list of seeds that ``draws`` was made with, shape (models,).
            draws: as of `draws`.
            rates: raw learning rate of each model, shape (models,).
            steps: local steps.
        """

    def measure(self, models: Parameters) -> Mapping[str, Tensor]:
        """Quantities of each model, of shape (models,); the same names every time."""


class Differentiable(Problem, Protocol):
    """A problem that gives gradients too, for algorithms whose local steps are not plain gradient descent."""

    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Any, step: int) -> Parameters:
        """Stochastic gradients at the models, which stay as they are.

        Args:
            models: tensors of shape (models, ...).
            clients: as of `Problem.local_steps`.
            seeds: as of `Problem.local_steps`.
            draws: as of `Problem.draws`.
            step: which of the local steps of ``draws``; `Problem.local_steps` takes them in order.
        """


class Chained(Protocol):
    """A problem that takes the local steps of several clients, one after the other, in one call."""

    def chain(
        self,
        models: Parameters,
        visits: Sequence[tuple[Tensor, Any]],
        seeds: Tensor,
        rates: Tensor,
        steps: int,
    ) -> Parameters:
        """Models after ``steps`` local steps on each of their clients; may overwrite its argument.

        Args:
            models: tensors of shape (models, ...).
            visits: the clients of each model and the draws, as `Problem.local_steps` takes them, in their order.
            seeds: as of `Problem.local_steps`.
            rates: as of `Problem.local_steps`.
            steps: local steps of each visit.
        """


class Algorithm(Protocol):
    """How models move between local steps: one file of `validation.algorithms` each."""

    def start(self, problem: Problem, runs: int) -> Any:
        """The state before the first round, for this many runs."""

    def round(self, state: Any, problem: Problem, moment: Moment) -> Any:
        """The state after one more global round; may overwrite its argument."""

    def iterate(self, state: Any) -> Parameters:
        """The model that is judged, one per run."""

    def models(self, problem: Problem) -> int:
        """How many models of one run are in memory at once, for planning."""

    def local_steps_per_round(self) -> float:
        """How many local steps one global round chains together: effective over raw learning rate."""


@runtime_checkable
class Measuring(Protocol):
    """An algorithm that says itself what is measured: at each of its nodes, or its own distances as well."""

    def measure(self, state: Any, problem: Problem) -> Mapping[str, Tensor]:
        """Quantities of each run, of shape (runs,); the same names every time."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A round of a chunk of runs.

    Attributes:
        index: of the round, from 0.
        seeds: distinct seeds of the chunk.
        seed_at: position in ``seeds`` of every run, shape (runs,).
        rates: raw learning rate of every run, shape (runs,).
    """

    index: int
    seeds: tuple[int, ...]
    seed_at: Tensor
    rates: Tensor

    def generator(self, seed: int, purpose: int) -> torch.Generator:
        """A generator that depends on the seed, the round and the purpose alone."""
        return generator(seed, purpose, self.index)

    def orders(self, purpose: int, draw: Callable[[torch.Generator], Tensor]) -> Tensor:
        """What each run's seed draws in this round, shape (runs, ...)."""
        drawn = torch.stack([draw(self.generator(seed, purpose)) for seed in self.seeds])
        return drawn.to(self.rates.device)[self.seed_at]


@dataclass(frozen=True, slots=True)
class Trace:
    """What was measured.

    Attributes:
        rounds: after how many rounds.
        values: by name of the quantity, of shape (runs, len(rounds)); infinite where a run has diverged.
        averages: the same quantities averaged over the rounds from 0 up to each of ``rounds``, that one excluded;
            only for quantities measured every round.
    """

    rounds: tuple[int, ...]
    values: Mapping[str, Tensor]
    averages: Mapping[str, Tensor]


def generator(seed: int, *purpose: int) -> torch.Generator:
    """A generator for one purpose: equal arguments give equal streams, others unrelated ones."""
    key = 0
    for number in (seed, *purpose):  # one at a time through the finaliser of splitmix64
        key = (key + 0x9E3779B97F4A7C15 + number) & 0xFFFFFFFFFFFFFFFF
        key = ((key ^ (key >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        key = ((key ^ (key >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        key ^= key >> 31
    return torch.Generator().manual_seed(key & 0x7FFFFFFFFFFFFFFF)


def simulate(  # reason: what is run, and how it is watched
    problem: Problem,
    algorithm: Algorithm,
    rates: Sequence[float],
    seeds: Sequence[int],
    rounds: int,
    *,
    at: Iterable[int] | None = None,
    every_round: bool = False,
    memory: int = 1 << 23,
    most: float | None = None,
    progress: Callable[[int], object] | None = None,
) -> Trace:
    """Run every (rate, seed) pair of two equally long lists, chunk by chunk.

    Args:
        problem: what is trained.
        algorithm: how.
        rates: raw learning rate of every run.
        seeds: seed of every run; runs with one seed are paired.
        rounds: global rounds.
        at: rounds after which to measure; by default the last.
        every_round: measure in every round, so that averages over rounds are known.
        memory: bytes that the models of one chunk should take; about the second-level caches, for speed.
        most: bytes that the models of one run may take, as of `chunk`.
        progress: called with the number of run-rounds done.

    Raises:
        ValidationError: if the lists differ in length, are empty, or a round is out of range.
    """
    if not rates or len(rates) != len(seeds):
        raise ValidationError(
            f"{len(rates)} rates and {len(seeds)} seeds are not one list of runs: give as many of each."
        )
    moments = tuple(sorted({rounds} if at is None else set(at)))
    if moments[0] < 0 or moments[-1] > rounds:
        raise ValidationError(f"rounds {moments[0]} to {moments[-1]} cannot be measured in a run of {rounds} rounds.")
    width = chunk(problem, algorithm, len(rates), memory, most)
    parts = []
    for begin in range(0, len(rates), width):
        part = slice(begin, begin + width)
        parts.append(_chunk(problem, algorithm, rates[part], seeds[part], rounds, moments, every_round, progress))
    names = parts[0][0].keys()
    values = {name: torch.cat([part[0][name] for part in parts]) for name in names}
    averages = {name: torch.cat([part[1][name] for part in parts]) for name in parts[0][1]}
    return Trace(moments, values, averages)


def chunk(problem: Problem, algorithm: Algorithm, runs: int, memory: int, most: float | None = None) -> int:
    """How many runs advance together: what fits into the memory, at least one, and no more than there are.

    Args:
        problem: what is trained.
        algorithm: how.
        runs: how many there are.
        memory: bytes that their models should take.
        most: bytes that the models of one run may take; by default half of what is free.

    Raises:
        ValidationError: if not even one run fits.
    """
    first = problem.start()[0]
    each = 3 * algorithm.models(problem) * problem.numbers_per_model * first.element_size()
    most = free_memory(first.device) / 2 if most is None else most
    if each > most:
        raise ValidationError(
            f"one run needs about {each / 2**30:.3g} GiB and {most / 2**30:.3g} are allowed, by default half of what "
            "is free: allow more with --memory, or take fewer clients, a smaller model, or a GPU (--device cuda)."
        )
    fits = max(1, int(memory // each))
    return math.ceil(runs / math.ceil(runs / fits))


def _chunk(
    problem: Problem,
    algorithm: Algorithm,
    rates: Sequence[float],
    seeds: Sequence[int],
    rounds: int,
    moments: Sequence[int],
    every_round: bool,
    progress: Callable[[int], object] | None,
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    first = problem.start()[0]
    distinct = tuple(dict.fromkeys(seeds))
    seed_at = torch.tensor([distinct.index(seed) for seed in seeds], device=first.device)
    rate = torch.tensor(rates, dtype=first.dtype, device=first.device)
    state = algorithm.start(problem, len(rates))
    seen: dict[str, list[Tensor]] = {}
    sums: dict[str, Tensor] = {}
    means: dict[str, list[Tensor]] = {}
    wanted = set(moments)
    with torch.no_grad():
        for index in range(rounds + 1):
            if every_round or index in wanted:
                told = (
                    algorithm.measure(state, problem)
                    if isinstance(algorithm, Measuring)
                    else problem.measure(algorithm.iterate(state))
                )
                now = {name: _finite(value) for name, value in told.items()}
                for name, value in now.items():
                    if index in wanted:
                        seen.setdefault(name, []).append(value)
                        if every_round:
                            mean = sums[name] / index if index else value
                            means.setdefault(name, []).append(mean)
                    if every_round:
                        sums[name] = sums.get(name, torch.zeros_like(value)) + value
            if index < rounds:
                state = algorithm.round(state, problem, Moment(index, distinct, seed_at, rate))
                if progress is not None:
                    progress(len(rates))
    return (
        {name: torch.stack(values, dim=1) for name, values in seen.items()},
        {name: torch.stack(values, dim=1) for name, values in means.items()},
    )


def _finite(value: Tensor) -> Tensor:
    """Infinity where a run has diverged: it ranks last, and is never dropped."""
    return torch.where(torch.isfinite(value), value, torch.full_like(value, math.inf))


def device_of(name: str) -> torch.device:
    """The device of this name.

    Raises:
        ValidationError: if there is none.
    """
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValidationError(f"no device is called {name!r}: cpu or cuda.") from None
    if device.type not in ("cpu", "cuda"):
        raise ValidationError(f"nothing runs on the device {name!r}: cpu or cuda.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ValidationError(f"the device {name!r} is asked for and PyTorch finds none here: use cpu.")
    return device


def free_memory(device: torch.device) -> float:
    """Bytes that can still be had: of a GPU, or of this machine and of the control group that this process is in."""
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0])
    found = math.inf
    with suppress(OSError, ValueError, AttributeError):
        found = float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()  # counts what caches would give back
        found = 1024.0 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1])
    group = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError):  # a limit of "max" is none
        limit, used = (int((group / name).read_text()) for name in ("memory.max", "memory.current"))
        found = min(found, float(limit - used))
    return found if math.isfinite(found) else float(1 << 31)


def spread(models: Parameters, copies: int) -> Parameters:
    """Every model ``copies`` times, next to itself: (models, ...) to (models * copies, ...)."""
    return tuple(part.repeat_interleave(copies, 0) for part in models)  # a copy even of one model: it is written to


def average(models: Parameters, members: int) -> Parameters:
    """Means of neighbours: (models * members, ...) to (models, ...)."""
    return tuple(part.view(-1, members, *part.shape[1:]).mean(1) for part in models)


def weighted(models: Parameters, weights: Tensor) -> Parameters:
    """Means of neighbours by weights of shape (nodes, members): (nodes * members, ...) to (nodes, ...)."""
    return tuple(
        (
            part.view(*weights.shape, *part.shape[1:]) * weights.to(part).view(*weights.shape, *[1] * (part.ndim - 1))
        ).sum(1)
        for part in models
    )
