"""A user's own module on the data of their own clients, many models at once.

Networks of dense layers and ReLU, and of 3x3 convolutions before them, are recognised and run as `validation.networks`
has them, compiled where that can be; any other module by `torch.func.vmap`, and one that vmap cannot batch model by
model. Mini-batches are those of `validation.problems.images`: by seed, time and client alone.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from hflbounds.topology import Children, branches
from validation import hook as hooks
from validation.client_losses import PIECE, Partitioned, partitioned, paths, seeded
from validation.engine import Parameters, ValidationError, device_of, generator
from validation.estimate import curvature
from validation.networks import SIDE, Network
from validation.partitions import Partition
from validation.problems.images import Images, Sampled
from validation.problems.modules import ROOM, gradients

CHOSEN, TESTED, STEEP = 60, 61, 62  # what a generator is for
PRODUCTS = 12  # with the Hessian, of a first guess at rates
Sizes = tuple[tuple[int, ...], ...]
Weights = Literal["samples", "equal"]
CLOSE = 1e-3  # relative difference of gradients with and without vmap, which both round


@dataclass(frozen=True, eq=False)
class Supplied:
    """What a user gives: losses of clients, who sits where in the tree, and samples for a test.

    Attributes:
        losses: of all clients.
        sizes: children of every node above each tier, top first; those of the last are clients.
        clients: in the order of the tree.
        weights: what clients count by, ``samples`` or ``equal``.
        tested: inputs and labels of the test; None where there are none.
        digest: of all numbers.
    """

    losses: Partitioned
    sizes: Sizes
    clients: tuple[int, ...]
    weights: Weights
    tested: tuple[Tensor, Tensor] | None
    digest: str

    @property
    def depth(self) -> int:
        """Tiers of the tree."""
        return len(self.sizes)

    @property
    def tree(self) -> tuple[int, ...]:
        """Children of a node of every tier, top first; of the largest where they differ."""
        return tuple(map(max, self.sizes))

    @property
    def samples(self) -> tuple[int, ...]:
        """Of the clients, in the order of the tree."""
        return tuple(len(self.losses.inputs[c]) for c in self.clients)

    @property
    def counted(self) -> tuple[int, ...] | None:
        """What each client counts, up to a common factor; None where all count alike."""
        return self.samples if self.weights == "samples" and len(set(self.samples)) > 1 else None

    @property
    def children(self) -> tuple[Children, ...] | None:
        """The children of every node, top first; None where nodes are alike."""
        found = branches(self.sizes, self.counted)
        return None if all(tier.alike for tier in found) else found


_held: dict[str, Supplied] = {}


def supplied(
    model: object,
    clients: object,
    loss: Any = None,
    test: object = None,
    *,
    batch: int = 32,
    weights: Weights = "equal",
) -> Supplied:
    """Check what a user gives, and seat the clients.

    Args:
        model: as of `validation.client_losses.partitioned`.
        clients: the same; a group may be a tuple of names, top first, for trees of more tiers.
        loss: the same.
        test: inputs and labels; None for none.
        batch: samples of a mini-batch.
        weights: what clients count by in means and in the loss, ``samples`` or ``equal``.

    Raises:
        ValidationError: naming what is wrong.
    """
    rows = list(clients) if isinstance(clients, list | tuple) else clients
    losses = partitioned(model, rows, loss, batch=batch)
    sizes, seated = arranged([row[0] for row in rows])  # type: ignore[attr-defined]  # `partitioned` has seen some
    shapes = {tuple(losses.inputs[c].shape[1:]) for c in seated}
    if len(shapes) > 1 or len({tuple(losses.targets[c].shape[1:]) for c in seated}) > 1:
        raise ValidationError("samples of different clients differ in shape. Pad them to one shape.")
    tested = None if test is None else _tested(losses, test)
    bare = Supplied(losses, sizes, seated, weights, tested, "")
    made = replace(bare, digest=_digest(bare))
    _held[made.digest] = made
    return made


def arranged(groups: Sequence[object]) -> tuple[Sizes, tuple[int, ...]]:
    """Seat clients in a tree, groups in the order in which they first come.

    Args:
        groups: of every client, a name or a tuple of names, top first.

    Returns:
        children of every node above each tier, top first; and the clients in the order of the tree.

    Raises:
        ValidationError: if tuples differ in length.
    """
    keyed = paths(groups)
    order = {name: i for i, name in enumerate(dict.fromkeys(path[: n + 1] for path in keyed for n in range(len(path))))}
    seated = sorted(range(len(keyed)), key=lambda c: [order[keyed[c][: n + 1]] for n in range(len(keyed[c]))])
    tiers = [[keyed[c][:n] for c in seated] for n in range(len(keyed[0]) + 1)]
    tiers.append([(*keyed[c], str(c)) for c in seated])
    sizes = []
    for above, below in pairwise(tiers):
        children: dict[object, set[object]] = {}
        for node, child in zip(above, below, strict=True):
            children.setdefault(node, set()).add(child)
        sizes.append(tuple(map(len, children.values())))
    return tuple(sizes), tuple(seated)


def hook(
    *,
    path: str,
    digest: str,
    batch: int,
    measured: int,
    hook_seed: int,
    weights: Weights = "equal",
    device: str = "cpu",
) -> Sampled:
    """The problem of a hook: the one that this process has made already, or made from the file.

    Args:
        path: of the hook; empty where it is a model of this process alone.
        digest: of all numbers, which must be those of the hook.
        batch: samples of a local step.
        measured: at most so many training samples, and as many for the test, are measured on.
        hook_seed: what the hook is seeded with.
        weights: as of `supplied`.
        device: ``cpu`` or ``cuda``.

    Raises:
        ValidationError: if the hook is not what it was, or fails.
    """
    if digest not in _held and path:
        try:
            with hooks.running(Path(path)):
                seeded(hook_seed)
                given = hooks.run(Path(path), hooks.source(Path(path)))
                test = None if given.test is None else given.test()
                supplied(given.model, given.clients, given.loss, test, batch=batch, weights=weights)
        except hooks.HookError as error:
            raise ValidationError(str(error)) from None
    if digest not in _held:
        where = f"{path} gives other numbers than before" if path else "the model is not in this process"
        raise ValidationError(f"{where}. Seed whatever it draws, and start again.")
    return problem(_held[digest], measured, device_of(device))


MAKERS = {"hook": hook}


def problem(given: Supplied, measured: int, device: torch.device | None = None) -> Sampled:
    """What the engine trains.

    Args:
        given: what the user gave.
        measured: at most so many training samples, the same share of each client, and as many for the test.
        device: where.
    """
    where = device or torch.device("cpu")
    losses = given.losses
    ends = np.cumsum([0, *given.samples])
    numbers = tuple(np.arange(a, b) for a, b in pairwise(ends))
    groups = np.arange(given.sizes[0][0])
    for below in given.sizes[1:]:
        groups = np.repeat(groups, below)
    split = Partition(numbers, tuple(groups.tolist()))
    inputs, targets = (
        torch.cat([part[c] for c in given.clients]).to(where) for part in (losses.inputs, losses.targets)
    )
    rows, weights = _scored(numbers, measured, given.counted)
    tested, truth = given.tested or (inputs[:0], targets[:0])
    if len(tested) > measured:
        chosen = torch.randperm(len(tested), generator=generator(0, TESTED))[:measured]
        tested, truth = tested[chosen], truth[chosen]
    shared: dict[str, Any] = {
        "split": split, "batch": losses.size, "rows": rows.to(where), "worth": weights.to(where, losses.start().dtype),
        "tested": tested.to(where), "truth": truth.to(where),
    }  # fmt: skip
    known = recognised(losses, inputs, targets)
    if known is not None:
        network, first = known
        return Recognised(
            network=network,
            first=tuple(part.to(where) for part in first),
            pixels=_flat(network, inputs),
            labels=functional.one_hot(targets, network.labels).to(inputs.dtype),
            **{**shared, "tested": _flat(network, shared["tested"])},
        )
    trained = {name: part for name, part in losses.module.named_parameters() if part.requires_grad}
    made = Module(
        first=tuple(part.detach()[None].to(where, copy=True) for part in trained.values()),
        names=tuple(trained),
        module=losses.module.to(where),
        loss=losses.loss,
        inputs=inputs,
        targets=targets,
        room=ROOM[where.type],
        **shared,
    )
    return made


def steepness(given: Supplied, measured: int) -> float | None:
    """The largest curvature of the clients' mean loss at the start, roughly; None where torch cannot say.

    Args:
        given: what the user gave.
        measured: as of `problem`.
    """
    losses, each = given.losses, max(1, measured // len(given.clients))
    inputs = torch.cat([losses.inputs[c][:each] for c in given.clients])
    targets = torch.cat([losses.targets[c][:each] for c in given.clients])
    pooled = replace(losses, groups=(0,), above=(), inputs=(inputs,), targets=(targets,))
    try:
        found = curvature(pooled, 0, losses.start(), dice=generator(0, STEEP), most=PRODUCTS).estimate
    except ValidationError:
        return None
    return found if 0 < found < math.inf else None


def _scored(numbers: Sequence[Any], measured: int, counted: Sequence[int] | None) -> tuple[Tensor, Tensor]:
    """Training samples that are measured, the same number of each client as far as it has them, and their weights."""
    each = max(1, measured // len(numbers))
    counts = [1] * len(numbers) if counted is None else counted
    rows, weights = [], []
    for client, (held, count) in enumerate(zip(numbers, counts, strict=True)):
        chosen = torch.randperm(len(held), generator=generator(0, CHOSEN, client))[:each]
        rows.append(torch.from_numpy(held)[chosen])
        weights.append(torch.full((len(chosen),), count / (len(chosen) * sum(counts)), dtype=torch.float64))
    return torch.cat(rows), torch.cat(weights)


def _measured(spent: Tensor, shares: Tensor, wrong: Tensor | None) -> dict[str, Tensor]:
    """``loss``, and ``error`` where there is a test; of models whose loss is no number neither is one."""
    loss = (spent * shares).sum(-1)
    if wrong is None:
        return {"loss": loss}
    return {"loss": loss, "error": torch.where(torch.isfinite(loss), wrong.to(loss.dtype), torch.inf)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Recognised(Images):
    """A network that `validation.networks` knows.

    Attributes:
        rows: training samples that are measured.
        worth: their weights in the loss.
    """

    rows: Tensor
    worth: Tensor

    def measure(self, models: Parameters) -> Mapping[str, Tensor]:
        """``loss`` in training, and ``error`` in the test."""
        scores = self.network.scores(models, self._seen[0])
        spent = scores.logsumexp(1) - scores.gather(1, self._seen[1].expand(len(scores), 1, -1))[:, 0]
        wrong = None
        if len(self.truth):
            wrong = (self.network.scores(models, self.tested).argmax(1) != self.truth).to(spent.dtype).mean(1)
        return _measured(spent, self.worth, wrong)

    @cached_property
    def _seen(self) -> tuple[Tensor, Tensor]:
        return self.pixels[self.rows], self.numbers[self.rows][None, None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Module(Sampled):
    """Any module.

    Attributes:
        module: in evaluation mode.
        names: of the parameters that are trained, in the order of ``first``.
        loss: of outputs and targets, a mean over samples.
        inputs: all clients' samples one after the other.
        targets: the same.
        rows: training samples that are measured.
        worth: their weights in the loss.
        tested: inputs of the test; none where there is none.
        truth: labels of the test.
        room: bytes for the models that advance together.
    """

    module: nn.Module
    names: tuple[str, ...]
    loss: Callable[[Tensor, Tensor], Tensor]
    inputs: Tensor
    targets: Tensor
    rows: Tensor
    worth: Tensor
    tested: Tensor
    truth: Tensor
    room: int

    @property
    def numbers_per_model(self) -> int:
        """Parameters that are trained."""
        return sum(int(part.numel()) for part in self.first)

    def _outputs(self, weights: Parameters, samples: Tensor) -> Tensor:
        out: Tensor = functional_call(self.module, dict(zip(self.names, weights, strict=True)), (samples,))
        return out

    def _spent(self, weights: Parameters, samples: Tensor, targets: Tensor) -> Tensor:
        return self.loss(self._outputs(weights, samples), targets)

    @cached_property
    def batched(self) -> bool:
        """Whether vmap gives the gradients that models have one by one."""
        models = tuple(torch.cat([part, part * 1.01]) for part in self.first)
        rows = torch.arange(min(2, len(self.inputs))).expand(2, -1)
        try:
            together = gradients(self._spent, models, self.inputs[rows], self.targets[rows])
        except Exception:  # whatever vmap cannot do, it says in its own ways
            return False
        alone = self._alone(models, rows)
        scale = max(float(part.abs().max()) for part in alone) or 1.0
        return all(float((a - b).abs().max()) <= CLOSE * scale for a, b in zip(together, alone, strict=True))

    @cached_property
    def _active(self) -> int:
        """Numbers that the layers give for one sample."""
        seen: list[int] = []

        def count(_module: nn.Module, _inputs: object, out: object) -> None:
            seen.append(out.numel() if isinstance(out, Tensor) else 0)

        handles = [part.register_forward_hook(count) for part in self.module.modules() if not list(part.children())]
        with torch.no_grad():
            self._outputs(tuple(part[0] for part in self.first), self.inputs[:1])
        for handle in handles:
            handle.remove()
        return sum(seen) + int(self.inputs[0].numel())

    def _parts(self, models: int) -> Iterator[slice]:
        """So many models at a time as there is room for."""
        each = self.first[0].element_size() * (3 * self.numbers_per_model + 3 * self.batch * self._active)
        width = max(1, self.room // each)
        return (slice(begin, begin + width) for begin in range(0, models, width))

    def _alone(self, models: Parameters, rows: Tensor) -> Parameters:
        """Gradients, model by model."""
        found = []
        for own, chosen in zip(zip(*(part.unbind(0) for part in models), strict=True), rows, strict=True):
            with torch.enable_grad():
                leaves = tuple(part.detach().requires_grad_() for part in own)
                spent = self._spent(leaves, self.inputs[chosen], self.targets[chosen])
                found.append(torch.autograd.grad(spent, leaves, allow_unused=True, materialize_grads=True))
        return tuple(torch.stack(some) for some in zip(*found, strict=True))

    def _slopes(self, models: Parameters, rows: Tensor) -> Parameters:
        """Gradients on one mini-batch each; rows are of shape (models, samples)."""
        if not self.batched:
            return self._alone(models, rows)
        return gradients(self._spent, models, self.inputs[rows], self.targets[rows])

    def local_steps(
        self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, rates: Tensor, steps: int
    ) -> Parameters:
        """Stochastic gradient descent, in place."""
        rows = draws[seeds, clients]
        for part in self._parts(len(rows)):
            weights = tuple(weight[part] for weight in models)
            for step in range(steps):
                for weight, slope in zip(weights, self._slopes(weights, rows[part, step]), strict=True):
                    weight.addcmul_(slope, rates[part].view(-1, *[1] * (slope.ndim - 1)), value=-1)
        return models

    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, step: int) -> Parameters:
        """Stochastic gradients of one local step."""
        rows = draws[seeds, clients, step]
        parts = [self._slopes(tuple(weight[part] for weight in models), rows[part]) for part in self._parts(len(rows))]
        return tuple(torch.cat(some) for some in zip(*parts, strict=True))

    def measure(self, models: Parameters) -> Mapping[str, Tensor]:
        """``loss`` in training, and ``error`` in the test."""
        seen = [self._measure_one(own) for own in zip(*(part.unbind(0) for part in models), strict=True)]
        return {name: torch.stack([one[name] for one in seen]) for name in seen[0]}

    def _measure_one(self, own: Parameters) -> dict[str, Tensor]:
        """The loss is a mean over samples, so that those of equal weight are taken together."""
        loss = self.worth.new_zeros(())
        for rows, weight in self._pieces:
            loss = loss + weight * self._spent(own, self.inputs[rows], self.targets[rows])
        right = None
        if len(self.truth):
            parts = zip(self.tested.split(self._each), self.truth.split(self._each), strict=True)
            hits = [(self._outputs(own, samples).argmax(1) == truth).sum() for samples, truth in parts]
            right = 1 - torch.stack(hits).sum().to(loss.dtype) / len(self.truth)
        return _measured(loss, self.worth.new_ones(()), right)

    @cached_property
    def _each(self) -> int:
        """Samples that are measured at a time."""
        found: int = self.room // (self.first[0].element_size() * self._active)
        return max(1, found)

    @cached_property
    def _pieces(self) -> list[tuple[Tensor, float]]:
        """Samples of equal weight, so many at a time as there is room for, and the weight of their mean loss."""
        found = []
        for value in self.worth.unique():
            chosen = self.rows[self.worth == value]
            found += [(some, float(value) * len(some)) for some in chosen.split(self._each)]
        return found


# ---------------------------------------------------------------- what is known of a module


def recognised(losses: Partitioned, inputs: Tensor, targets: Tensor) -> tuple[Network, Parameters] | None:
    """The network that a module is, and its weights as that has them; None where it is none of them.

    Known are sequences of blocks of a padded 3x3 convolution, ReLU and 2x2 max-pooling, then dense layers with ReLU
    between them, all with biases and all trained, under cross-entropy.
    """
    if losses.loss is not functional.cross_entropy or targets.ndim != 1 or not isinstance(losses.module, nn.Sequential):
        return None
    layers = [layer for layer in losses.module if not isinstance(layer, nn.Identity | nn.Dropout)]
    convolutions: list[nn.Conv2d] = []
    while len(layers) > 2 and isinstance(layers[0], nn.Conv2d):
        if not _block(*layers[:3]):
            return None
        convolutions.append(layers[0])
        layers = layers[3:]
    if layers and isinstance(layers[0], nn.Flatten) and (layers[0].start_dim, layers[0].end_dim) == (1, -1):
        layers = layers[1:]
    elif convolutions or inputs.ndim != 2:
        return None
    dense = layers[::2]
    if not dense or not all(type(one) is nn.Linear and one.bias is not None for one in dense):
        return None
    if len(layers) != 2 * len(dense) - 1 or not all(type(one) is nn.ReLU for one in layers[1::2]):
        return None
    learned = [*convolutions, *dense]
    if (
        not all(part.requires_grad for one in learned for part in one.parameters())
        or inputs.dtype != dense[0].weight.dtype
    ):
        return None
    image = tuple(inputs.shape[1:]) if convolutions else (1, 1, math.prod(inputs.shape[1:]))
    labels = dense[-1].out_features
    if len(image) != 3 or not 0 <= int(targets.min()) <= int(targets.max()) < labels:
        return None
    try:
        network = Network(
            image=image,
            channels=tuple(one.out_channels for one in convolutions),
            hidden=tuple(one.out_features for one in dense[:-1]),
            labels=labels,
        )
    except ValidationError:
        return None
    weights = [torch.cat([one.weight.detach().flatten(1), one.bias.detach()[:, None]], 1)[None] for one in learned]
    between = range(len(convolutions), len(learned) - 1)
    first = tuple(one.mT.contiguous() if i in between else one for i, one in enumerate(weights))
    return (network, first) if [tuple(one.shape[1:]) for one in first] == list(network.shapes) else None


def _block(convolution: nn.Conv2d, second: nn.Module, third: nn.Module) -> bool:
    """Whether layers are a block that networks know; ReLU and max-pooling may change places."""
    pools = [one for one in (second, third) if isinstance(one, nn.MaxPool2d)]
    plain = (
        type(convolution) is nn.Conv2d
        and convolution.kernel_size == (SIDE, SIDE)
        and convolution.padding == (1, 1)
        and convolution.padding_mode == "zeros"
        and (convolution.stride, convolution.dilation, convolution.groups) == ((1, 1), (1, 1), 1)
        and convolution.bias is not None
    )
    halves = len(pools) == 1 and all(number in (2, (2, 2)) for number in (pools[0].kernel_size, pools[0].stride))
    whole = halves and (pools[0].padding, pools[0].dilation, pools[0].ceil_mode) == (0, 1, False)
    return plain and whole and any(type(one) is nn.ReLU for one in (second, third))


def _flat(network: Network, inputs: Tensor) -> Tensor:
    """Samples as rows, with a last column of ones where the network needs it."""
    rows = inputs.flatten(1)
    return torch.cat([rows, rows.new_ones(len(rows), 1)], 1) if network.ones else rows.contiguous()


# ---------------------------------------------------------------- what is checked


def _tested(losses: Partitioned, test: object) -> tuple[Tensor, Tensor]:
    """Inputs and labels of the test.

    Raises:
        ValidationError: if they are no samples with labels, or the model cannot classify them.
    """
    if not isinstance(test, list | tuple) or len(test) != 2:
        raise ValidationError("the test is not (X, y). Return inputs and labels.")
    try:
        held = partitioned(losses.module, [("test", *test)], losses.loss, batch=losses.size)
        inputs, truth = held.inputs[0], held.targets[0]
        with torch.no_grad():
            outputs = losses.module(inputs[:2])
    except ValidationError as error:
        raise ValidationError(f"the test: {str(error).removeprefix('client 0: ')}") from None
    if truth.is_floating_point() or truth.ndim != 1 or not isinstance(outputs, Tensor) or outputs.ndim != 2:
        raise ValidationError("the test: accuracy needs whole numbers as labels, and one output a label. Leave it out.")
    with torch.no_grad():
        lost = torch.cat([losses.module(some).isnan().any(1) for some in inputs.split(PIECE)]).nonzero()
    if len(lost):
        raise ValidationError(
            f"the test: the model's outputs for sample {int(lost[0])} are nan, which is no label. Check its data and "
            "the model, or leave the test out."
        )
    return inputs, truth


def _digest(given: Supplied) -> str:
    """Of all that decides a run, but for the code of the model and the loss, which their first values stand for."""
    losses, tested = given.losses, given.tested
    tree = given.tree if given.children is None else (given.sizes, given.weights)
    made = hashlib.sha256(repr((tree, given.clients, losses.size, str(losses.module))).encode())
    parts = [losses.start(), *losses.inputs, *losses.targets, *(tested or ())]
    with torch.no_grad():
        parts += [torch.stack(list(losses.pieces(c, losses.start()))).sum() for c in given.clients]
    for part in parts:
        made.update(f"{part.dtype}{tuple(part.shape)}".encode())
        made.update(part.detach().cpu().contiguous().numpy().tobytes())
    return made.hexdigest()
