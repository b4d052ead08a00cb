"""Label counts laid on a data set that is at hand: who holds how much of which label is the user's, samples are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from validation.engine import UnknownChoiceError, ValidationError, generator
from validation.problems.images import digits
from validation.problems.real import fashion

DEALT, FIRST = 63, 64  # what a generator is for
HELD_BACK = 0.15  # of the samples, for the test
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Laid:
    """Counts on a data set.

    Attributes:
        module: a perceptron of one hidden layer, where training starts.
        clients: samples and labels of every client.
        test: samples that no client has, of the labels that occur.
        share: of each client's samples that there are here, on average.
    """

    module: nn.Module
    clients: tuple[tuple[Tensor, Tensor], ...]
    test: tuple[Tensor, Tensor]
    share: float


SOURCES: Mapping[str, tuple[Callable[[], tuple[Tensor, Tensor]], int]] = {
    "digits": (digits, 32),
    "fashion-mnist": (partial(fashion, 70000, 14), 48),
}
"""By name, what gives samples and labels, and the hidden units that go with them."""


def laid(name: str, counts: Counts, classes: Sequence[int] | None = None, *, seed: int = 0) -> Laid:
    """Deal the samples of a data set by a table of label counts, scaled down where it has not as many.

    Args:
        name: of the data set.
        counts: samples of each label that each client has, shape (clients, labels).
        classes: the class of the data set that stands for each label; by default 0, 1 ... in order.
        seed: of the deal and the first model.

    Raises:
        ValidationError: if there is no such data set, it is not installed, or has fewer labels.
    """
    if name not in SOURCES:
        raise UnknownChoiceError(f"no data set is called {name!r:.40}. Known are {', '.join(SOURCES)}.")
    source, hidden = SOURCES[name]
    samples, truth = source()
    kinds, chosen = int(truth.max()) + 1, list(range(counts.shape[1]) if classes is None else classes)
    if len(chosen) > kinds or not all(0 <= kind < kinds for kind in chosen):
        raise ValidationError(
            f"the table has {len(chosen)} labels, and {name} those from 0 to {kinds - 1}: merge some, or take another."
        )
    order = torch.randperm(len(truth), generator=generator(seed, DEALT))
    back = int(HELD_BACK * len(truth))
    kept, dealt = order[:back], order[back:]
    pools = [dealt[truth[dealt] == kind].numpy() for kind in chosen]
    numbers = scaled(counts, [len(pool) for pool in pools])
    ends = numbers.cumsum(0)
    clients = []
    for row, end in zip(numbers, ends, strict=True):
        held = [pool[b - n : b] for pool, n, b in zip(pools, row.tolist(), end.tolist(), strict=True)]
        labels = [np.full(n, label) for label, n in enumerate(row.tolist())]
        clients.append((samples[np.concatenate(held)].float(), torch.from_numpy(np.concatenate(labels))))
    label_of = torch.full((kinds,), -1)
    label_of[chosen] = torch.arange(len(chosen))
    shown = kept[label_of[truth[kept]] >= 0]
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(generator(seed, FIRST).initial_seed())
        module = nn.Sequential(nn.Linear(samples.shape[1], hidden), nn.ReLU(), nn.Linear(hidden, len(chosen)))
    share = float(numbers.sum() / counts.sum())
    return Laid(module, tuple(clients), (samples[shown].float(), label_of[truth[shown]]), share)


def scaled(counts: Counts, there: Sequence[int]) -> Counts:
    """The same counts where there are enough of every label, else all by one factor, and everybody at least 1.

    Raises:
        ValidationError: if there are more clients than samples for them.
    """
    totals = counts.sum(0)
    factor = min([1.0, *(many / total for many, total in zip(there, totals, strict=True) if total)])
    for _ in range(200):
        out: Any = np.floor(counts * factor + 0.5).astype(np.int64)
        empty = np.flatnonzero(out.sum(1) == 0)
        out[empty, counts[empty].argmax(1)] = 1
        if (out.sum(0) <= np.asarray(there)).all():
            return np.asarray(out)
        factor *= 0.97
    raise ValidationError(f"{len(counts)} clients are too many for the samples of this data set: take a larger one.")
