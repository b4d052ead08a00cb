"""What `validation.estimate` measures: losses of clients in groups, as functions of one vector of parameters.

Any loss that torch can differentiate will do. `Partitioned` makes the losses of a module on data that clients hold.
"""

from __future__ import annotations

import math
import random
import traceback
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from validation.engine import ValidationError

PIECE = 2048  # samples in memory at a time
CLASSES = 1000  # most labels for which inner products of class gradients are wanted
LossFunction = Callable[[Tensor, Tensor], Tensor]
Tree = tuple[tuple[tuple[int, ...], ...], ...]
"""The children of every node, by tier, top first; those of the last tier are clients."""
Square = TypeVar("Square", float, "np.ndarray[Any, Any]")


class Losses(Protocol):
    """Losses of clients in groups."""

    @property
    def groups(self) -> Sequence[int]:
        """Group of every client: 0, 1 ... in any order, none without clients."""

    def start(self) -> Tensor:
        """The first parameters, shape (dim,)."""

    def pieces(self, client: int, x: Tensor) -> Iterator[Tensor]:
        """Numbers whose sum is the client's loss on all its data, made one at a time to save memory."""

    def batch(self, client: int, x: Tensor, dice: torch.Generator) -> Tensor:
        """The loss on a mini-batch that is drawn with ``dice``; its expectation is the client's loss."""


@runtime_checkable
class Nested(Losses, Protocol):
    """Losses of clients whose groups are in groups."""

    @property
    def above(self) -> Sequence[Sequence[int]]:
        """Of every tier above the groups, top first, the ancestor of every group there: 0, 1 ... in any order."""


@runtime_checkable
class Labelled(Losses, Protocol):
    """Losses of clients whose samples have labels."""

    @property
    def labels(self) -> Sequence[str]:
        """Names of the labels that occur."""

    def label_counts(self) -> Tensor:
        """Samples of each label that each client has, shape (clients, labels)."""

    def label_pieces(self, label: int, x: Tensor) -> Iterator[Tensor]:
        """Numbers whose sum is the mean loss of all samples with a label, whoever holds them."""


@runtime_checkable
class Joint(Losses, Protocol):
    """Losses of clients whose mini-batches can be taken together."""

    def batches(self, clients: Sequence[int], x: Tensor, dice: Sequence[torch.Generator]) -> Iterator[Tensor]:
        """Numbers whose sum is the mean of ``batch`` over these clients, each with its own ``dice``."""


@dataclass(frozen=True, eq=False)
class Partitioned:
    """A module's losses on the data of clients; `partitioned` makes and checks one.

    Attributes:
        module: in evaluation mode: no dropout, batch normalisation with the statistics that it has.
        groups: group of every client.
        inputs: of every client.
        targets: of every client.
        loss: of outputs and targets, a mean over samples.
        size: samples of a mini-batch, drawn with replacement.
        labels: names of the labels; empty where targets are no labels.
        above: of every tier above the groups, top first, the ancestor of every group there.
    """

    module: nn.Module
    groups: tuple[int, ...]
    inputs: tuple[Tensor, ...]
    targets: tuple[Tensor, ...]
    loss: LossFunction
    size: int
    labels: tuple[str, ...]
    above: tuple[tuple[int, ...], ...] = ()

    def start(self) -> Tensor:
        """The module's own parameters, those that are trained."""
        return torch.cat([part.detach().reshape(-1) for _, part in self._trained()])

    def pieces(self, client: int, x: Tensor) -> Iterator[Tensor]:
        """The loss on all data of a client, by parts."""
        yield from self._parts(self.inputs[client], self.targets[client], x)

    def batch(self, client: int, x: Tensor, dice: torch.Generator) -> Tensor:
        """The loss on samples that are drawn with replacement."""
        inputs, targets = self.inputs[client], self.targets[client]
        rows = torch.randint(len(inputs), (self.size,), generator=dice).to(inputs.device)
        return self._loss(inputs[rows], targets[rows], x)

    def batches(self, clients: Sequence[int], x: Tensor, dice: Sequence[torch.Generator]) -> Iterator[Tensor]:
        """The mean of `batch` over clients, in parts: a mean over samples, so that one call serves many clients."""
        every = [
            torch.randint(len(self.inputs[c]), (self.size,), generator=d) for c, d in zip(clients, dice, strict=True)
        ]
        most = max(1, PIECE // self.size)
        for begin in range(0, len(clients), most):
            some = list(zip(clients, every, strict=True))[begin : begin + most]
            inputs, targets = (
                torch.cat([of[c][r.to(x.device)] for c, r in some]) for of in (self.inputs, self.targets)
            )
            yield len(some) / len(clients) * self._loss(inputs, targets, x)

    def label_counts(self) -> Tensor:
        """Samples of each label that each client has."""
        values = [int(name) for name in self.labels]
        return torch.stack([torch.stack([(held == value).sum() for value in values]) for held in self.targets]).cpu()

    def label_pieces(self, label: int, x: Tensor) -> Iterator[Tensor]:
        """The mean loss of all samples with a label, client by client."""
        value = int(self.labels[label])
        rows = [(held == value).nonzero()[:, 0] for held in self.targets]
        whole = sum(map(len, rows))
        for inputs, targets, chosen in zip(self.inputs, self.targets, rows, strict=True):
            if len(chosen):
                share = len(chosen) / whole
                yield from (share * part for part in self._parts(inputs[chosen], targets[chosen], x))

    def by_chance(self, sigma2: float) -> tuple[float, ...]:
        """Expected squared deviations of clients whose data are samples of one distribution, by tier, top first.

        Args:
            sigma2: mean variance of a mini-batch gradient; clients are taken to have the same.
        """
        tree, found = tree_of(self), list[float]()
        noises = [sigma2 * self.size / max(len(held) - 1, 1) for held in self.inputs]
        for i, tier in reversed(list(enumerate(tree))):
            of = [[noises[child] for child in children] for children in tier]
            found.append(to_root([sum(own) / len(own) * (1 - 1 / len(own)) for own in of], tree[:i]))
            noises = [sum(own) / len(own) ** 2 for own in of]
        return tuple(reversed(found))

    def cautions(self) -> list[str]:
        """What of the module is not as it would be in training."""
        out = []
        parts = list(self.module.modules())
        if any(isinstance(part, nn.modules.batchnorm._BatchNorm) and part.track_running_stats for part in parts):
            out.append("Batch normalisation uses the statistics that the model came with; training would change them.")
        if any(isinstance(part, nn.modules.dropout._DropoutNd) and part.p > 0 for part in parts):
            out.append("Dropout is off; with it sigma is larger.")
        return out

    def _trained(self) -> list[tuple[str, nn.Parameter]]:
        return [(name, part) for name, part in self.module.named_parameters() if part.requires_grad]

    def _parts(self, inputs: Tensor, targets: Tensor, x: Tensor) -> Iterator[Tensor]:
        for begin in range(0, len(inputs), PIECE):
            some = slice(begin, begin + PIECE)
            yield len(inputs[some]) / len(inputs) * self._loss(inputs[some], targets[some], x)

    def _loss(self, inputs: Tensor, targets: Tensor, x: Tensor) -> Tensor:
        weights, begin = {}, 0
        for name, part in self._trained():
            weights[name] = x[begin : begin + part.numel()].view_as(part)
            begin += part.numel()
        return self.loss(functional_call(self.module, weights, (inputs,)), targets)


def partitioned(module: object, clients: object, loss: LossFunction | None = None, *, batch: int = 32) -> Partitioned:
    """The losses of a module on the data of clients.

    Args:
        module: an ``nn.Module`` with parameters.
        clients: a list of ``(group, inputs, targets)``; arrays or tensors with as many samples as targets. A group is a
            name, or a tuple of names, top first, where groups are in groups.
        loss: of outputs and targets, a mean over samples; by default cross-entropy where targets are whole numbers,
            and the mean squared error elsewhere.
        batch: samples of a mini-batch.

    Raises:
        ValidationError: naming what is wrong with the module, the client or the loss.
    """
    if not isinstance(module, nn.Module):
        raise ValidationError(f"the model is {_kind(module)}, not an nn.Module. Return the module itself.")
    trained = [part for part in module.parameters() if part.requires_grad]
    if not trained:
        raise ValidationError(
            "the model has no parameter that is trained. Return a module with requires_grad parameters."
        )
    if len({(part.dtype, part.device) for part in trained}) > 1:
        raise ValidationError("the model's parameters differ in dtype or device. Convert them to one: model.to(...).")
    if batch < 1:
        raise ValidationError(f"batch = {batch} must be at least 1.")
    rows = list(clients) if isinstance(clients, list | tuple) else None
    if not rows:
        raise ValidationError(f"clients are {_kind(clients)}; a list of (group, X, y), at least one, is needed.")
    groups, inputs, targets = list[object](), [], []
    for i, row in enumerate(rows):
        if isinstance(row, list | tuple) and len(row) != 3:
            there = f"{len(row)} item{'s' * (len(row) != 1)}"
            raise ValidationError(f"client {i} has {there}, and 3 are needed. Return (group, X, y) for each client.")
        if not isinstance(row, list | tuple):
            raise ValidationError(f"client {i} is {_kind(row)}, not (group, X, y).")
        group, x, y = row
        if not isinstance(group, Hashable) or isinstance(group, Tensor):
            raise ValidationError(f"client {i}: its group is {_kind(group)}. Name groups by text or whole numbers.")
        groups.append(group)
        inputs.append(_tensor(x, f"client {i}: X", trained[0]))
        targets.append(_tensor(y, f"client {i}: y", trained[0]))
        if len(inputs[-1]) != len(targets[-1]):
            raise ValidationError(
                f"client {i}: X has {len(inputs[-1])} samples and y has {len(targets[-1])}. Give one target a sample."
            )
        if not len(inputs[-1]):
            raise ValidationError(f"client {i} is empty: it has no samples. Leave it out.")
    whole = {held.is_floating_point() for held in targets}
    if len(whole) > 1:
        raise ValidationError("targets are whole numbers for some clients and not for others. Give all one dtype.")
    labelled = whole == {False} and all(held.ndim == 1 for held in targets)
    kinds = torch.cat([held.unique() for held in targets]).unique().tolist() if labelled else []
    if loss is None:
        loss = _squared if whole == {True} else functional.cross_entropy
    names = tuple(map(str, kinds)) if 2 <= len(kinds) <= CLASSES else ()
    own, above = _seats(paths(groups))
    made = Partitioned(module.eval(), own, tuple(inputs), tuple(targets), loss, batch, names, above)
    _checked(made)
    return made


def paths(groups: Sequence[object]) -> list[tuple[str, ...]]:
    """The names of the groups that every client is in, top first: of a tuple its parts.

    Raises:
        ValidationError: if they differ in number, or there are none.
    """
    found = [tuple(map(str, group)) if isinstance(group, list | tuple) else (str(group),) for group in groups]
    if len(set(map(len, found))) > 1 or not found[0]:
        raise ValidationError("groups are nested in tuples of different lengths. Name as many tiers for every client.")
    return found


def tree_of(losses: Losses) -> Tree:
    """Who is below whom, clients by their number and other nodes by that of their group or ancestor.

    Raises:
        ValidationError: if there are no clients, a node has no child, or one has two parents.
    """
    groups = tuple(losses.groups)
    if not groups or min(groups) < 0 or 0 in np.bincount(groups):
        raise ValidationError("a group is empty, or there are no clients. Number groups 0, 1 ... as they occur.")
    every = tuple(range(max(groups) + 1))
    ancestors = [(0,) * len(every), *(losses.above if isinstance(losses, Nested) else ()), every]
    found = []
    for over, own in pairwise(ancestors):
        parent = dict(zip(own, over, strict=False))
        if [parent.get(one) for one in own] != list(over) or sorted(parent) != list(range(len(parent))):
            raise ValidationError("groups are in no tree. Number the nodes of a tier 0, 1 ..., each below one parent.")
        found.append(_children([parent[node] for node in range(len(parent))]))
    return (*found, _children(groups))


def to_root(values: Sequence[Square], tree: Tree) -> Square:
    """The mean over the children of a node, tier by tier up to the root: of values of the lowest nodes."""
    for tier in reversed(tree):
        values = [sum(values[child] for child in children) / len(children) for children in tier]  # type: ignore[misc]
    return values[0]


def seeded(seed: int) -> None:
    """Seed what code may draw from without saying so, such as the first weights of a module."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def _children(parents: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    found: list[list[int]] = [[] for _ in range(max(parents) + 1)]
    for child, parent in enumerate(parents):
        found[parent].append(child)
    return tuple(map(tuple, found))


def _seats(found: Sequence[tuple[str, ...]]) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """The group of every client, and the ancestors of every group above it, numbered as they first occur."""
    numbers: list[dict[tuple[str, ...], int]] = [{} for _ in found[0]]
    for path in found:
        for depth, known in enumerate(numbers, start=1):
            known.setdefault(path[:depth], len(known))
    above = tuple(tuple(known[group[:i]] for group in numbers[-1]) for i, known in enumerate(numbers[:-1], start=1))
    return tuple(numbers[-1][path] for path in found), above


def _squared(outputs: Tensor, targets: Tensor) -> Tensor:
    """The mean squared error; shapes that differ are an error, not broadcast."""
    if outputs.shape != targets.shape:
        raise ValueError(f"outputs have shape {tuple(outputs.shape)} and targets {tuple(targets.shape)}")
    return functional.mse_loss(outputs, targets)


def _tensor(what: Any, name: str, like: Tensor) -> Tensor:
    try:
        made = what.detach() if isinstance(what, Tensor) else torch.from_numpy(np.array(what))
    except Exception as error:  # whatever an array-like object of the user's raises
        raise ValidationError(f"{name} is no array of numbers ({_first_line(error)}). Give numbers.") from None
    if made.ndim == 0:
        raise ValidationError(f"{name} is a single number, not an array with one row a sample.")
    return made.to(like.device, like.dtype if made.is_floating_point() else torch.long)


def _checked(losses: Partitioned) -> None:
    """Every client's loss can be computed and is one finite number, and the loss is a mean over samples."""
    x = losses.start().requires_grad_()
    if not all(bool(part.isfinite().all()) for part in x.detach().split(1 << 24)):
        raise ValidationError("the model's parameters are not finite before training. Check how it is made.")
    for client, (inputs, targets) in enumerate(zip(losses.inputs, losses.targets, strict=True)):
        try:
            seen = [losses._loss(inputs[rows], targets[rows], x) for rows in ([0], [-1], [0, -1])]
            with torch.no_grad():
                pieces = list(losses.pieces(client, x))
        except Exception as error:  # whatever the user's module or loss raises
            raise ValidationError(
                f"client {client}: the loss cannot be computed{_place(error)} ({_first_line(error)}). "
                f"{_way(losses, client, str(error))}"
            ) from None
        for found in seen:
            if not isinstance(found, Tensor) or found.shape != ():
                told = f"has shape {tuple(found.shape)}" if isinstance(found, Tensor) else f"is {_kind(found)}"
                raise ValidationError(f"client {client}: the loss {told}, not one number. Return a mean over samples.")
        if not seen[0].requires_grad:
            raise ValidationError(f"client {client}: the loss does not depend on the model's parameters. Check it.")
        if not math.isfinite(whole := sum(map(float, pieces))):
            raise ValidationError(
                f"client {client}: the loss is {whole} before training, not a finite number{_not_finite(inputs)}. "
                "Check its data and the model."
            )
        one, other, both = (float(found.detach()) for found in seen)
        mean = (one + other) / 2
        if abs(both - mean) > 1e-3 * (abs(one) + abs(other)):
            raise ValidationError(
                f"client {client}: the loss of two samples is {both:.6g} and their mean is {mean:.6g}. "
                "Return a mean over samples (not a sum, nothing that ties samples together)."
            )


def _not_finite(inputs: Tensor) -> str:
    """Name the first sample whose numbers are not all finite."""
    lost = (~inputs.isfinite()).flatten(1).any(1).nonzero()
    return f"; X of sample {int(lost[0])} is not finite" if len(lost) else ""


def _kind(what: object) -> str:
    if what is None:
        return "None"
    return f"an empty {type(what).__name__}" if what in ([], ()) else f"of type {type(what).__name__}"


def _place(error: BaseException) -> str:
    """Where the user's own code failed; nothing where an error is of torch alone."""
    ours = (*(str(Path(str(file)).parent) for file in (torch.__file__, traceback.__file__, __file__)), "<")
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(ours)]
    return f" at line {own[-1].lineno} of {Path(own[-1].filename).name}" if own else ""


def _way(losses: Partitioned, client: int, told: str) -> str:
    """What to do where a loss cannot be computed."""
    inputs, targets = losses.inputs[client], losses.targets[client]
    if losses.loss is functional.cross_entropy and told.startswith("Target"):
        outputs = losses.module(inputs[:1]).shape[1]
        here = f"here they are {targets.min()} to {targets.max()}"
        return f"Labels of a model with {outputs} outputs are 0 to {outputs - 1}, and {here}."
    if losses.loss is _squared and targets.ndim == 1:
        return "Give y the shape of the outputs, or labels as whole numbers, for which the loss is cross-entropy."
    return "Check the shapes of X, y and the model."


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0].partition('. ')[0]:.160}".rstrip(": ")
