"""Training of any module of `validation.models` on any data set that is split between clients.

Gradients come by `torch.func.vmap`, for many models at once as far as memory goes: the road for models whose gradients
nobody has written. Mini-batches are those of `validation.problems.images`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn import functional

from validation.datasets import Dataset
from validation.datasets.cifar import cifar10
from validation.datasets.cinic import cinic10
from validation.datasets.idx import fashion_mnist, mnist
from validation.datasets.sst import sst2
from validation.engine import Parameters, ValidationError, device_of, generator
from validation.models import MODELS, model
from validation.partitions import partition
from validation.problems.images import START, Sampled

MEASURED = 24  # what a generator is for
ROOM = {"cpu": 1 << 27, "cuda": 1 << 33}  # bytes of weights, gradients and activations that are in use at a time


def gradients(loss: Callable[..., Tensor], models: Parameters, *samples: Tensor) -> Parameters:
    """Differentiate the loss of every model on its own samples; all have the models along their first axis.

    Those of the sum are those of each, as no model is in another's loss. `torch.func.grad` has them as well, but
    imports torch's compiler when it is first called, which takes seconds.
    """
    with torch.enable_grad():
        leaves = tuple(part.detach().requires_grad_() for part in models)
        spent = vmap(loss)(leaves, *samples)
        found: Parameters = torch.autograd.grad(spent.sum(), leaves, allow_unused=True, materialize_grads=True)
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Modules(Sampled):
    """A module and the clients' samples.

    Attributes:
        module: what is trained; its own parameters are never used.
        shown: training samples, as bytes.
        labels: their labels, as numbers.
        tested: test samples, as bytes.
        truth: their labels.
        mean: what is subtracted from a sample.
        spread: what a sample is divided by then.
        measured: training samples whose loss is measured; None for all.
        clip: largest norm of a gradient; None for no clipping.
        room: bytes for the models that advance together.
    """

    module: nn.Module
    shown: Tensor
    labels: Tensor
    tested: Tensor
    truth: Tensor
    mean: Tensor
    spread: Tensor
    measured: Tensor | None = None
    clip: float | None = None
    room: int = 1 << 27

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the parameters, in the order of `start`."""
        return tuple(name for name, _ in self.module.named_parameters())

    @property
    def numbers_per_model(self) -> int:
        """Parameters."""
        return sum(part.numel() for part in self.first)

    @cached_property
    def active(self) -> int:
        """Numbers that the layers give for one sample."""
        seen: list[int] = []

        def count(_module: nn.Module, _inputs: object, out: Tensor) -> None:
            seen.append(out.numel())

        hooks = [part.register_forward_hook(count) for part in self.module.modules() if not list(part.children())]
        with torch.no_grad():
            self._logits(tuple(part[0] for part in self.first), self._prepared(self.shown[:1]))
        for hook in hooks:
            hook.remove()
        return sum(seen)

    def _parts(self, models: int, batch: int) -> Iterator[slice]:
        """So many models at a time as there is room for."""
        each = self.first[0].element_size() * (3 * self.numbers_per_model + 3 * batch * self.active)
        width = max(1, self.room // each)
        return (slice(begin, begin + width) for begin in range(0, models, width))

    def _prepared(self, samples: Tensor) -> Tensor:
        return samples.to(self.mean.dtype).sub_(self.mean).div_(self.spread)

    def _logits(self, weights: Parameters, samples: Tensor) -> Tensor:
        out: Tensor = functional_call(self.module, dict(zip(self.names, weights, strict=True)), (samples,))
        return out

    def _slopes(self, weights: Parameters, rows: Tensor) -> Parameters:
        """Gradients on one mini-batch each, clipped; rows are of shape (models, samples)."""

        def loss(own: Parameters, samples: Tensor, truth: Tensor) -> Tensor:
            return functional.cross_entropy(self._logits(own, samples), truth)

        slopes = gradients(loss, weights, self._prepared(self.shown[rows]), self.labels[rows])
        if self.clip is not None:
            norm = torch.stack([slope.flatten(1).square().sum(1) for slope in slopes]).sum(0).sqrt()
            factor = (self.clip / norm).clamp(max=1)
            slopes = tuple(slope * _beside(factor, slope) for slope in slopes)
        return slopes

    def local_steps(
        self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, rates: Tensor, steps: int
    ) -> Parameters:
        """Stochastic gradient descent, in place."""
        rows = draws[seeds, clients]
        for part in self._parts(len(rows), self.batch):
            weights = tuple(weight[part] for weight in models)
            for step in range(steps):
                for weight, slope in zip(weights, self._slopes(weights, rows[part, step]), strict=True):
                    weight.addcmul_(slope, _beside(rates[part], slope), value=-1)
        return models

    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, step: int) -> Parameters:
        """Stochastic gradients of one local step."""
        rows = draws[seeds, clients, step]
        parts = [
            self._slopes(tuple(weight[part] for weight in models), rows[part])
            for part in self._parts(len(rows), self.batch)
        ]
        return tuple(torch.cat(some) for some in zip(*parts, strict=True))

    def measure(self, models: Parameters) -> Mapping[str, Tensor]:
        """``loss`` in training and ``error`` in the test."""
        seen: list[tuple[Tensor, Tensor]] = []
        rows, weights = self._scored
        each = max(1, self.room // (self.first[0].element_size() * self.active))
        for own in zip(*(part.unbind(0) for part in models), strict=True):
            loss = weights.new_zeros(())
            for some, weight in zip(rows.split(each), weights.split(each), strict=True):
                spent = functional.cross_entropy(
                    self._logits(own, self._prepared(self.shown[some])), self.labels[some], reduction="none"
                )
                loss += (spent * weight).sum()
            right = weights.new_zeros(())
            for samples, truth in zip(self.tested.split(each), self.truth.split(each), strict=True):
                right += (self._logits(own, self._prepared(samples)).argmax(1) == truth).sum()
            wrong = 1 - right / len(self.truth)
            seen.append((loss, torch.where(torch.isfinite(loss), wrong, torch.inf)))
        loss, error = (torch.stack(some) for some in zip(*seen, strict=True))
        return {"loss": loss, "error": error}

    @cached_property
    def _scored(self) -> tuple[Tensor, Tensor]:
        """Training samples that are measured, and their weights in the loss."""
        weights = self.weights(len(self.shown))
        rows = weights.nonzero()[:, 0] if self.measured is None else self.measured
        chosen = weights[rows]
        return rows, chosen / chosen.sum()


def _beside(numbers: Tensor, models: Tensor) -> Tensor:
    """One number for each model, to multiply it with."""
    return numbers.view(-1, *[1] * (models.ndim - 1))


def problem(  # reason: a description is flat, one keyword for each option
    data: Dataset,
    name: str,
    *,
    G: int,
    M: int,
    partitioned: str = "iid",
    batch: int = 20,
    clip: float | None = None,
    measured: int | None = None,
    seed: int = 0,
    device: str = "cpu",
    dtype: torch.dtype = torch.float32,
    **options: Any,
) -> Modules:
    """A model of `validation.models` on a data set that is split between clients.

    Args:
        data: samples.
        name: of the model.
        G: groups.
        M: clients in each group.
        partitioned: name of a scheme of `validation.partitions`.
        batch: samples of a local step, drawn with replacement.
        clip: largest norm of a gradient.
        measured: how many training samples, at random, the loss is measured on; by default all that clients hold.
        seed: of the partition, of the first iterate and of the samples that are measured.
        device: ``cpu`` or ``cuda``.
        dtype: of all numbers.
        options: of the model and of the partition.

    Raises:
        ValidationError: if the partition or the model cannot be made, or there is no such device.
    """
    if batch < 1:
        raise ValidationError(f"batch = {batch}: a step needs at least 1 sample.")
    if clip is not None and not clip > 0:
        raise ValidationError(f"clip = {clip}: a norm that is allowed is above 0. Leave it out for no clipping.")
    where = device_of(device)
    own = _taken(MODELS.get(name, model), options)
    split = partition(partitioned, data.labels.numpy(), G, M, seed=seed, **options)
    made = model(name, data.shape, len(data.classes), seed=generator(seed, START).initial_seed(), **own)
    rows = None
    if measured is not None:
        held = torch.cat([torch.from_numpy(some) for some in split.samples])
        if not 1 <= measured <= len(held):
            raise ValidationError(f"measured = {measured}: clients hold {len(held)} samples. Give 1 to {len(held)}.")
        rows = held[torch.randperm(len(held), generator=generator(seed, MEASURED))[:measured]].to(where)
    mean, spread = (part.to(where, dtype) for part in data.scale())
    return Modules(
        first=tuple(part.detach()[None].to(where, dtype, copy=True) for part in made.parameters()),
        split=split,
        batch=batch,
        module=made.requires_grad_(False).eval(),
        shown=data.shown.to(where),
        labels=data.labels.to(where),
        tested=data.tested.to(where),
        truth=data.truth.to(where),
        mean=mean,
        spread=spread,
        measured=rows,
        clip=clip,
        room=ROOM[where.type],
    )


def files(read: Callable[..., Dataset], name: str, *, path: str, **options: Any) -> Modules:
    """A model on published files.

    Args:
        read: reads the data set.
        name: of the model.
        path: folder of the files.
        options: of the data set, and of `problem`.

    Raises:
        ValidationError: if a file is not there or damaged, or the problem cannot be made.
    """
    own = _taken(read, options)
    return problem(read(str(Path(path).expanduser()), **own), name, **options)


def _taken(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options that a function names as keywords, taken out of the others."""
    named = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    return {name: options.pop(name) for name in named if name in options}


MAKERS = {
    "files-mnist-logistic": partial(files, mnist, "logistic"),
    "files-mnist-cnn": partial(files, mnist, "cnn-mnist"),
    "files-fashion-resnet10": partial(files, fashion_mnist, "resnet10"),
    "files-fashion-cnn": partial(files, fashion_mnist, "cnn-two"),
    "files-cifar10-resnet18": partial(files, cifar10, "resnet18"),
    "files-cifar10-vgg9": partial(files, cifar10, "vgg9"),
    "files-cifar10-vgg11-style": partial(files, cifar10, "vgg11-style"),
    "files-cifar10-cnn": partial(files, cifar10, "cnn-cifar"),
    "files-cinic10-resnet18": partial(files, cinic10, "resnet18"),
    "files-sst2-mlp": partial(files, sst2, "mlp"),
}
