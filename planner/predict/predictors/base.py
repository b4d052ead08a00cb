"""What every predictor says of itself, and what the planner asks it."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from planner.errors import NoAnswerError

if TYPE_CHECKING:
    from planner.predict.question import Question

_progress: ContextVar[Callable[[float], object] | None] = ContextVar("progress", default=None)


@dataclass(frozen=True)
class Quantity:
    """What a target is a number of; docs/predictors.md defines the three metrics."""

    words: str  # its name, after "a"
    # the most that it can be before the first round, of the values of a problem
    first: Callable[[Mapping[str, Any]], Any]
    first_in_words: str  # that as a formula
    reached: str  # what the reference has reached where it set the target, after "the"
    note: str = ""  # what is to be known of it where a target is named; "" for nothing


SQUARED_GRADIENT = Quantity(
    "mean squared gradient", lambda values: 2 * values["L"] * values["A"], "2 L A", "mean squared gradient"
)
LOSS = Quantity("loss gap", lambda values: values["A"], "A", "training loss")
ACCURACY = replace(
    LOSS,
    reached="test accuracy",
    note="Accuracy is predicted by training loss: rounds to it are those to the loss that goes with it.",
)

USUAL: Mapping[str, Quantity] = {"gradient": SQUARED_GRADIENT, "loss": LOSS, "accuracy": ACCURACY}  # by metric


class Predictor(ABC):
    """Rounds of a topology, and what it reaches in them.

    Values and what is wanted may be arrays that broadcast. An answer of fewer dimensions than they have together is
    broadcast to them, so a predictor may leave out what it does not depend on.
    """

    id: ClassVar[str]  # word of ``--predictor``
    says: ClassVar[str]  # what its rounds are, in a few words, after "rounds"
    metrics: ClassVar[tuple[str, ...]] = ("gradient",)  # what it can predict about
    # what targets are numbers of, by metric, where they are another than is usual
    quantities: ClassVar[Mapping[str, Quantity]] = {}
    # whether a theorem stands behind its rounds, so that it needs a bound of each topology
    guarantees: ClassVar[bool] = False
    # whether rounds never fall as sigma or a deviation grows, but for those that `monotone_in` says do, nor grow with
    # the target
    monotone: ClassVar[bool] = False
    cheap: ClassVar[bool] = False  # whether a count of rounds costs microseconds
    # whether it runs something for each question, which takes seconds and says nothing of others
    shows_progress: ClassVar[bool] = False
    # whether its rounds were measured in the fleet of the question, so that constants change nothing
    measured: ClassVar[bool] = False
    on_proxy = False  # whether that was on other data than those of the fleet
    furthest = math.inf  # rounds of the reference beyond which it is not asked
    # whether counts of those who take part may lie between whole numbers, and stand for rounds of both in that share
    mixes: ClassVar[bool] = False

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in ("reached", "rounds_to"):
            if name in cls.__dict__:
                setattr(cls, name, _broadcasting(cls.__dict__[name]))

    def quantity(self, metric: str) -> Quantity:
        """What a target is a number of, for a metric."""
        return self.quantities.get(metric, USUAL[metric])

    def start(self, values: Mapping[str, Any], metric: str = "gradient") -> Any:
        """The quantity before the first round, which a share of it is of; the largest that it can be."""
        return self.quantity(metric).first(values)

    @abstractmethod
    def reached(self, question: Question, topology: str, rounds: Any, values: Mapping[str, Any]) -> Any:
        """The quantity of the question's metric after so many rounds, at the best learning rate."""

    @abstractmethod
    def rounds_to(self, question: Question, topology: str, target: Any, values: Mapping[str, Any]) -> Any:
        """Rounds after which it is at most the target, which need not be whole; infinite where there are none."""

    def on_record(self, question: Question, target: Any, values: Mapping[str, Any]) -> Any:
        """The target as records have it, which were made without how the loss falls."""
        return target

    def rate(self, question: Question, topology: str, rounds: float) -> float | None:
        """Best effective learning rate for so many rounds, where to start a search; None if it names none."""
        return None

    def errors(self, question: Question) -> Callable[[np.random.Generator, int], Any] | None:
        """Draws of the logarithms of how far rounds are off, of shape (topologies, draws); None where it knows none."""
        return None

    def beside(self, question: Question, system: str) -> float | None:
        """Rounds to the target that a system which is no tree was measured to take; None where it was not."""
        return None

    def clocked(self, question: Question) -> tuple[tuple[str, str, float, float], ...]:
        """Systems without rounds that were measured: id, title, and tasks of a region and deliveries to the target."""
        return ()

    def untimed(self, question: Question) -> tuple[tuple[str, str, float], ...]:
        """Systems that were measured, and whose rounds have no time: id, title, rounds to the target."""
        return ()

    def raced(self, question: Question, system: str) -> bool:
        """Whether a system, or a tree, was run itself to the target: no other's rounds, and none beyond the runs."""
        return False

    def extrapolated(self, question: Question) -> float:
        """How many times further than what was measured the target is; at most 1 where nothing is extrapolated."""
        return 1.0

    def stalled(self, question: Question) -> str:
        """Say that what was measured levelled off before the target; empty where it did not, or was at it."""
        return ""

    def pair_factor(self, question: Question, one: str, other: str) -> float:
        """Factor within which 80 % of ratios of rounds of two systems are, beyond what was measured; 1 where none."""
        return 1.0

    def by_group(self) -> bool:
        """Whether sequential learning was measured group by group, and not in an order that mixes groups."""
        return False

    def monotone_in(self, question: Question, changed: Collection[str]) -> bool:
        """Whether rounds never fall as these values grow."""
        return self.monotone

    def notes(self, question: Question) -> tuple[str, ...]:
        """What is to be known of these rounds, in sentences."""
        return ()

    def cautions(self, question: Question) -> tuple[str, ...]:
        """Those of them that a page must not leave out."""
        return ()


Method = Callable[[Predictor, Any, str, Any, Mapping[str, Any]], Any]


def _broadcasting(method: Method) -> Method:
    @functools.wraps(method)
    def broadcast(self: Predictor, question: Question, topology: str, wanted: Any, values: Mapping[str, Any]) -> Any:
        try:
            found = method(self, question, topology, wanted, values)
        except LookupError as error:
            raise NoAnswerError(
                f"--predictor: {self.id} failed for {topology} ({type(error).__name__}: {error}). Leave it out, or ask "
                "for the topologies that it knows."
            ) from error
        shape = np.broadcast_shapes(np.shape(found), np.shape(wanted), *(np.shape(value) for value in values.values()))
        return found if np.shape(found) == shape else np.broadcast_to(found, shape)

    return broadcast


@contextmanager
def watched(progress: Callable[[float], object]) -> Iterator[None]:
    """Tell of progress inside a ``with`` block: the part that is done, from 0 to 1."""
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


def report_progress(done: float) -> None:
    """Tell whoever watches which part is done, from 0 to 1."""
    progress = _progress.get()
    if progress is not None:
        progress(done)
