"""Classification of images that is split between clients: digits of scikit-learn, and drawn images of 28 x 28.

Every step of every client takes a mini-batch of its own samples, drawn with replacement by seed, time and client
alone: one batch for all topologies and learning rates. Clients weigh equally whatever their sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from hflbounds.extras import install
from validation import compiled
from validation.compiled import Stack
from validation.compiled.program import Program
from validation.engine import Parameters, ValidationError, device_of, generator
from validation.networks import Network
from validation.partitions import Partition, partition

START, BATCHES, SPLIT, DRAWN = 20, 21, 22, 23  # what a generator is for


@dataclass(frozen=True, kw_only=True, eq=False)
class Sampled:
    """Clients who hold samples, and draw the same mini-batches of them whatever is trained.

    Attributes:
        first: the first iterate.
        split: who holds which training samples.
        batch: samples of a local step.
    """

    first: Parameters
    split: Partition
    batch: int

    @property
    def clients(self) -> int:
        """Numbered group by group."""
        return len(self.split.samples)

    @cached_property
    def _held(self) -> tuple[Tensor, Tensor, Tensor]:
        """All clients' samples one after the other, how many each client has, and where each client's begin."""
        sizes = torch.tensor(self.split.sizes)[:, None, None]
        return torch.from_numpy(np.concatenate(self.split.samples)), sizes.float(), sizes.cumsum(0) - sizes

    def start(self) -> Parameters:
        """The first iterate."""
        return self.first

    def draws(self, seeds: Sequence[int], time: tuple[int, ...], steps: int) -> Tensor:
        """Numbers of samples, of shape (seeds, clients, steps, batch)."""
        samples, sizes, begins = self._held
        shape = (self.clients, steps, self.batch)
        drawn = torch.stack([torch.rand(shape, generator=generator(seed, BATCHES, *time)) for seed in seeds])
        place = drawn.mul_(sizes).long()  # below the size: the largest number drawn is 1 - 2^-24
        return samples.take(place.add_(begins)).to(self.first[0].device)

    def weights(self, samples: int) -> Tensor:
        """Of each training sample in the mean of the clients' mean losses, zero where nobody holds it."""
        out = torch.zeros(samples, dtype=self.first[0].dtype)
        for held in self.split.samples:
            out[torch.from_numpy(held)] = 1 / (len(held) * self.clients)
        return out.to(self.first[0].device)


@dataclass(frozen=True, kw_only=True, eq=False)
class Images(Sampled):
    """A network and the clients' images.

    Attributes:
        network: what is trained.
        pixels: of every training sample, of shape (samples, inputs), with a last column of ones for dense layers.
        labels: one-hot, of shape (samples, labels).
        tested: pixels of the test samples.
        truth: labels of the test samples, as numbers.
    """

    network: Network
    pixels: Tensor
    labels: Tensor
    tested: Tensor
    truth: Tensor

    @property
    def numbers_per_model(self) -> int:
        """Weights and biases."""
        return self.network.size

    @cached_property
    def numbers(self) -> Tensor:
        """The labels of training samples."""
        return self.labels.argmax(1)

    @cached_property
    def shares(self) -> Tensor:
        """Weight of every training sample in the mean of the clients' mean losses."""
        return self.weights(len(self.pixels))

    def local_steps(
        self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, rates: Tensor, steps: int
    ) -> Parameters:
        """Stochastic gradient descent, in place."""
        if runner := self.runner():
            return runner(compiled.ALONE, Stack(models, clients[:, None], seeds, [draws], rates, steps))
        return self.chain(models, [(clients, draws)], seeds, rates, steps)

    def chain(
        self,
        models: Parameters,
        visits: Sequence[tuple[Tensor, Tensor]],
        seeds: Tensor,
        rates: Tensor,
        steps: int,
    ) -> Parameters:
        """Local steps of several clients, one after the other, with tensors."""
        compiled.note("torch")
        at = seeds * self.clients
        found = []
        for _, group in groupby(visits, lambda visit: id(visit[1])):  # neighbours with the same draws in one go
            some = list(group)
            draws, clients = some[0][1], torch.stack([one for one, _ in some])
            rows = draws.flatten(0, 1).index_select(0, (clients + at).view(-1))
            found.append(rows.view(*clients.shape, *rows.shape[1:])[:, :, :steps])  # (visits, models, steps, batch)
        rows = torch.cat(found).transpose(1, 2).flatten(0, 1)
        self.network.descend(models, self.pixels, self.labels, rows, rates)
        return models

    @property
    def numbers_drawn(self) -> int:
        """Samples of a local step, whole numbers of 8 bytes."""
        size: int = self.first[0].element_size()
        return self.batch * (8 // size)

    def runner(self) -> Callable[[Program, Stack], Parameters] | None:
        """Compiled local steps, where there are some for these numbers."""
        made = compiled.found(self.first[0])
        return None if made is None else partial(compiled.run, made, self.network, self.pixels, self.numbers)

    def gradients(self, models: Parameters, clients: Tensor, seeds: Tensor, draws: Tensor, step: int) -> Parameters:
        """Of the mean loss of one mini-batch each."""
        return self.network.slopes(models, self.pixels, self.labels, draws[seeds, clients, step])

    def measure(self, models: Parameters) -> Mapping[str, Tensor]:
        """``loss`` in training, ``error`` in the test, and for a convex loss the squared norm of its ``gradient``."""
        scores = self.network.scores(models, self.pixels)
        spent = scores.logsumexp(1) - (scores * self.labels.mT).sum(1)
        loss = (spent * self.shares).sum(1)
        wrong = (self.network.scores(models, self.tested).argmax(1) != self.truth).to(loss.dtype).mean(1)
        seen = {"loss": loss, "error": torch.where(torch.isfinite(loss), wrong, torch.full_like(wrong, torch.inf))}
        if len(self.network.shapes) == 1:
            slope = self.network.gradient(models, self.pixels, self.labels, self.shares)
            seen["gradient"] = slope.square().sum((1, 2))
        return seen


def problem(  # reason: a description is flat, one keyword for each option
    data: Callable[[], tuple[Tensor, Tensor]],
    *,
    image: tuple[int, int, int],
    channels: tuple[int, ...] = (),
    hidden: tuple[int, ...] = (),
    test: int,
    G: int,
    M: int,
    partitioned: str = "iid",
    batch: int = 20,
    seed: int = 0,
    device: str = "cpu",
    dtype: torch.dtype = torch.float32,
    **options: Any,
) -> Images:
    """A network on images that are split between clients.

    Args:
        data: gives pixels of shape (samples, inputs) and labels as numbers.
        image: channels, height, width.
        channels: of the convolutions.
        hidden: widths of the dense layers but the last.
        test: samples that are kept for the test, at random.
        G: groups.
        M: clients in each group.
        partitioned: name of a scheme of `validation.partitions`.
        batch: samples of a local step, drawn with replacement.
        seed: of the split into training and test, of the partition and of the first iterate.
        device: ``cpu`` or ``cuda``.
        dtype: of all numbers.
        options: of the partition.

    Raises:
        ValidationError: if the partition cannot be made, or there is no such device.
    """
    if batch < 1:
        raise ValidationError(f"batch = {batch}: a step needs at least 1 sample.")
    where = device_of(device)
    pixels, labels = data()
    network = Network(image=image, channels=channels, hidden=hidden, labels=int(labels.max()) + 1)
    order = torch.randperm(len(pixels), generator=generator(seed, SPLIT))
    pixels, labels = pixels[order].to(dtype), labels[order]
    if network.ones:
        pixels = torch.cat([pixels, torch.ones(len(pixels), 1, dtype=dtype)], 1)
    kept, shown = slice(test), slice(test, None)
    return Images(
        network=network,
        first=tuple(weight.to(where) for weight in network.start(generator(seed, START), dtype)),
        pixels=pixels[shown].contiguous().to(where),
        labels=functional.one_hot(labels[shown], network.labels).to(dtype).to(where),
        tested=pixels[kept].contiguous().to(where),
        truth=labels[kept].to(where),
        split=partition(partitioned, labels[shown].numpy(), G, M, seed=seed, **options),
        batch=batch,
    )


def digits() -> tuple[Tensor, Tensor]:
    """The 1,797 digits of 8 x 8 pixels that scikit-learn brings along, from 0 to 1.

    Raises:
        ValidationError: if scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise ValidationError(f"the digits come with scikit-learn: {install('validation')}.") from None
    found = load_digits()
    return torch.from_numpy(found.data / 16), torch.from_numpy(found.target.astype(np.int64))


def drawn(samples: int, side: int = 28, labels: int = 10, noise: float = 0.3) -> tuple[Tensor, Tensor]:
    """Images of ten smooth shapes, each moved by up to two pixels, in noise."""
    made = generator(DRAWN, samples)
    shapes = torch.randn(labels, 1, side // 4, side // 4, generator=made)
    shapes = functional.interpolate(shapes, size=(side, side), mode="bilinear", align_corners=False)[:, 0]
    truth = torch.arange(samples) % labels
    moves = torch.randint(-2, 3, (samples, 2), generator=made).tolist()
    out = noise * torch.randn(samples, side, side, generator=made)
    for i, (down, right) in enumerate(moves):
        out[i] += shapes[truth[i]].roll((down, right), (0, 1))
    return out.flatten(1), truth


def images_cnn(*, samples: int = 60, channels: int = 16, width: int = 60, G: int, M: int, **options: Any) -> Images:
    """Two convolutions and two dense layers on drawn images of 28 x 28, so many for each client, 1,000 for the test."""
    return problem(
        partial(drawn, samples * G * M + 1000),
        image=(1, 28, 28),
        channels=(channels, 2 * channels),
        hidden=(width,),
        test=1000,
        G=G,
        M=M,
        **options,
    )


def digits_mlp(*, hidden: int = 64, **options: Any) -> Images:
    """One hidden layer on the digits."""
    return problem(digits, image=(1, 8, 8), hidden=(hidden,), test=297, **options)


def digits_cnn(*, channels: int = 8, **options: Any) -> Images:
    """Two convolutions and one dense layer on the digits."""
    return problem(digits, image=(1, 8, 8), channels=(channels, 2 * channels), test=297, **options)


MAKERS = {
    "digits-logistic": partial(problem, digits, image=(1, 8, 8), test=297),
    "digits-mlp": digits_mlp,
    "digits-cnn": digits_cnn,
    "images-cnn": images_cnn,
}
