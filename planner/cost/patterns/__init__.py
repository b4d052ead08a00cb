"""What a pass of a pattern costs: one file each, found by scanning this folder."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.cost.chances import Outcome, Stay, Steps, Turn
from planner.cost.wires import Call, Done, Server, Transfers, Wire
from planner.scenario.network import Link

FloatArray = NDArray[np.float64]
Ints = NDArray[np.int64]


class Crowd(NamedTuple):
    """Children of many nodes, joined where a pass need not tell them apart; rows node by node."""

    node: Ints  # whose children
    link: Ints  # their link, by number
    following: Ints  # that of the child after
    last: NDArray[np.bool_]  # whether they are the last of their node
    number: Ints  # of turns that are alike, one after the other
    pace: FloatArray  # work of all these turns


class Schedule(ABC):
    """The schedule and the traffic of one pass of one pattern."""

    id: ClassVar[str]  # of the pattern
    pools: ClassVar[bool]  # whether such tiers are one larger tier where nothing travels between them
    joins: ClassVar[np.ufunc]  # makes the duration of a pass of those of its children's turns

    @abstractmethod
    def models(self, asked: float, came: float, ended: float, link: Link | None) -> float:
        """Count the models that the links of a pass carry, by the children asked, those that came, and passes ended.

        What is compressed counts as the part of a model that it is.
        """

    @abstractmethod
    def on_air(self, n: int, wire: Wire) -> float:
        """Device-seconds that the children of a node send and receive in a pass, each transfer at the full rate."""

    @abstractmethod
    def outcome(self, n: int, p: float, need: int) -> Outcome:
        """Find what becomes of a pass of n that come with probability p each, if ``need`` are a quorum."""

    @abstractmethod
    def steps(self, n: int, turn: Turn, ends: float, passed: float, waits: bool) -> Steps:
        """Divide a pass of n clients that is not broken with probability ``passed`` into steps.

        ``ends`` is what it takes beyond its turns [s]; with ``waits`` those who do not come are left out.
        """

    @abstractmethod
    def expects(self, n: int, transfers: Transfers, stay: Stay, asked: float, ended: float) -> float:
        """Mean duration of a pass of n nodes that may stay away [s], of which ``asked`` are asked and ``ended`` end."""

    @abstractmethod
    def transfers(self, wire: Wire, sharers: int) -> Transfers:
        """Time on the links when all children move in step, ``sharers`` transfers sharing what is shared."""

    @abstractmethod
    def turns(self, own: Wire, following: Wire, last: NDArray[np.bool_], sharers: Any) -> FloatArray:
        """Time on the links of every child's turn, with all that a pass takes on them, where wires differ.

        Wires are each child's ``own``, and those of the child ``following``, which is the first after the last.
        """

    @abstractmethod
    def crowd(self, node: Ints, link: Ints, pace: FloatArray) -> Crowd:
        """Join children that a pass need not tell apart, given their nodes in order, their links and work."""

    def over(self, times: FloatArray, starts: Ints) -> FloatArray:
        """Reduce durations of turns, those of each node beginning at one of the ``starts``, to those of passes."""
        return np.asarray(self.joins.reduceat(times, starts))

    def digest(self, times: FloatArray, together: bool) -> FloatArray:
        """Reduce the children's durations on the last axis to what a pass (``together``: `meet`) needs of them.

        Without ``together``: one number, which is in proportion to the durations, and grows by a pass's turns times
        what all of them grow by.
        """
        return np.asarray(self.joins.reduce(times, axis=-1))

    def condense(self, digest: FloatArray) -> FloatArray:
        """Leave out of a digest what decides no pass."""
        return digest

    def meet(self, digest: FloatArray, scale: float, wire: Wire, sharers: int) -> FloatArray:
        """Duration of a pass [s] whose transfers begin in step and then share a rate with each other.

        The durations are ``scale`` times those of the digest.
        """
        raise NotImplementedError(f"{self.id!r} does not say how transfers that begin together share a rate.")

    @abstractmethod
    def play(self, channel: Server, children: Sequence[Call], at: float, done: Done) -> None:
        """Begin a pass at some time [s], event by event."""


@cache
def schedules() -> Mapping[str, Schedule]:
    """Every declared schedule, by the id of its pattern."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    return MappingProxyType({one.SCHEDULE.id: one.SCHEDULE for one in modules})
