"""Local steps in one compiled call: whole rounds of small networks, where a C++ compiler is found.

`validation.compiled.build` makes the library once for this compiler and processor. Without one the tensors of
`validation.networks` do the same work, and one line on stderr says why. Which of the two runs is no part of a cell:
they differ by rounding alone, and the store notes which it was.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol, cast, get_args

import numpy as np
import torch
from torch import Tensor

from validation.compiled.build import NoLibraryError, library
from validation.compiled.program import Program, Recorder
from validation.engine import Parameters, ValidationError, one_of
from validation.networks import Network

Choice = Literal["auto", "torch", "compiled"]
VARIABLE = "HFL_PLAN_LOCAL_STEPS"
_chosen: ContextVar[Choice | None] = ContextVar("chosen", default=None)
_used: ContextVar[set[str] | None] = ContextVar("used", default=None)
NAMES = {torch.float32: "run_float32", torch.float64: "run_float64"}


def _alone() -> Program:
    recorder = Recorder()
    start = recorder.start()
    return recorder.program(recorder.trained(0, start, start))


ALONE = _alone()  # one model, trained on one client


class Stack(NamedTuple):
    """What a program is run on.

    Attributes:
        models: of each run, tensors of shape (runs, ...).
        clients: by number in the program: of shape (numbers,) for all runs, or (runs, numbers).
        seeds: position of each run's seed in the draws.
        draws: by turn, samples of shape (seeds, clients, steps, batch).
        rates: raw learning rate of each run.
        steps: local steps, at most those drawn.
    """

    models: Parameters
    clients: Tensor
    seeds: Tensor
    draws: Sequence[Tensor]
    rates: Tensor
    steps: int


class Programmable(Protocol):
    """A problem whose models can be trained by programs."""

    @property
    def numbers_drawn(self) -> int:
        """Room that the draws of one local step of one client take, in numbers of a model."""

    def runner(self) -> Callable[[Program, Stack], Parameters] | None:
        """What runs programs, or None where there is no compiled path; it may overwrite the models."""


def runner_of(problem: object) -> Callable[[Program, Stack], Parameters] | None:
    """What runs programs for a problem, if anything does."""
    return cast(Programmable, problem).runner() if hasattr(problem, "runner") else None


def chosen() -> Choice:
    """What is asked for: by `choosing`, or else by the environment.

    Raises:
        ValidationError: if the variable holds something else.
    """
    return _chosen.get() or choice(os.environ.get(VARIABLE) or "auto", VARIABLE)


def choice(text: str, where: str) -> Choice:
    """A choice from words.

    Raises:
        UnknownChoiceError: if it is none, with the nearest.
    """
    return cast(Choice, one_of(text, get_args(Choice), where))


@contextmanager
def choosing(told: Choice | None) -> Iterator[None]:
    """Choose for a ``with`` block; None leaves it to the environment."""
    token = _chosen.set(told)
    try:
        yield
    finally:
        _chosen.reset(token)


@contextmanager
def watched() -> Iterator[set[str]]:
    """Collect what ran local steps inside a ``with`` block, for the record."""
    seen: set[str] = set()
    token = _used.set(seen)
    try:
        yield seen
    finally:
        _used.reset(token)


def note(what: str) -> None:
    """Say what ran local steps, to whoever watches."""
    seen = _used.get()
    if seen is not None:
        seen.add(what)


def found(like: Tensor) -> Any:
    """The library where models like this one are to be run by it, else None.

    Raises:
        ValidationError: if it is asked for and cannot be had.
    """
    told = chosen()
    if told == "torch" or like.device.type != "cpu" or like.dtype not in NAMES:
        if told == "compiled":
            raise ValidationError(
                f"compiled local steps are for float32 and float64 on the cpu, and these are {like.dtype} on "
                f"{like.device}: leave {VARIABLE} at auto."
            )
        return None
    try:
        return library()
    except NoLibraryError as error:
        if told == "compiled":
            raise ValidationError(f"{error} Leave {VARIABLE} at auto to run with torch.") from None
        _say(str(error))
        return None


def silence() -> None:
    """Leave it to another process to say why local steps are not compiled."""
    _silent.add(True)


_silent: set[bool] = set()


@cache
def _say(why: str) -> None:
    """One line for each reason."""
    if sys.stderr is not None and not _silent:
        sys.stderr.write(
            f"hfl-plan: local steps run with torch, which is slower: {why} {VARIABLE}=torch keeps silent.\n"
        )


def run(made: Any, network: Network, pixels: Tensor, labels: Tensor, program: Program, on: Stack) -> Parameters:
    """Run a program in place.

    Args:
        made: the library, as of `found`.
        network: what is trained.
        pixels: as of `Network.descend`.
        labels: of all samples, as numbers.
        program: what is done.
        on: to what; models may be overwritten.

    Returns:
        the models that are stored.

    Raises:
        ValidationError: if there is no memory.
    """
    models = tuple(part.contiguous() for part in on.models)
    rates, seeds, pixels = on.rates.contiguous(), on.seeds.contiguous(), pixels.contiguous()
    clients, draws = on.clients.contiguous(), [drawn.contiguous() for drawn in on.draws]
    pointers = (ctypes.c_void_p * len(models))(*(part.data_ptr() for part in models))
    turns = (ctypes.c_void_p * len(draws))(*(drawn.data_ptr() for drawn in draws))
    failed = getattr(made, NAMES[models[0].dtype])(
        _told(network).ctypes.data,
        program.code.ctypes.data,
        len(program.code),
        program.registers,
        len(rates),
        pointers,
        pointers,
        pixels.data_ptr(),
        pixels.shape[1],
        labels.data_ptr(),
        clients.data_ptr(),
        clients.shape[1] if clients.ndim == 2 else 0,
        turns,
        seeds.data_ptr(),
        draws[0].shape[1],
        draws[0].shape[2],
        on.steps,
        draws[0].shape[3],
        rates.data_ptr(),
    )
    if failed:
        raise ValidationError(f"there is no memory for {program.registers} models of {network.size} numbers.")
    note("compiled")
    return models


@cache
def _told(network: Network) -> Any:
    """A network in numbers."""
    dense = (*network.hidden, network.labels)
    return np.array([*network.image, len(network.channels), *network.channels, len(dense), *dense], dtype=np.int64)
