"""Published data sets, read from local files in the formats they are published in: nothing is ever downloaded.

One file for each format. Files that are published with a checksum must have it; nothing is unpickled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from validation.engine import ValidationError

Bytes = NDArray[np.uint8]
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")  # of CIFAR-10


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """Samples as bytes, with the split into training and test that they are published with.

    Attributes:
        name: as in its papers.
        classes: names of the labels, in their order.
        shown: training samples: (samples, channels, height, width) of images, (samples, features) of counted words.
        labels: of the training samples, whole numbers from 0.
        tested: test samples.
        truth: labels of the test samples.
    """

    name: str
    classes: tuple[str, ...]
    shown: Tensor
    labels: Tensor
    tested: Tensor
    truth: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one sample."""
        return tuple(self.shown.shape[1:])

    def scale(self) -> tuple[Tensor, Tensor]:
        """What to subtract from a sample and what to divide it by, of shapes that fit it.

        Mean and standard deviation of each channel in training for images; counted words stay as they are.
        """
        if len(self.shape) == 1:
            return torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
        levels = torch.arange(256, dtype=torch.float64)
        counts = torch.stack([torch.bincount(plane.flatten(), minlength=256) for plane in self.shown.unbind(1)])
        share = counts.double() / counts.sum(1, keepdim=True)
        mean = share @ levels
        spread = ((levels - mean[:, None]).square() * share).sum(1).sqrt().clamp(min=1)
        return mean[:, None, None], spread[:, None, None]


def dataset(
    name: str, classes: tuple[str, ...], shown: tuple[Bytes, NDArray[np.int64]], tested: tuple[Bytes, NDArray[np.int64]]
) -> Dataset:
    """A data set of these samples and labels.

    Raises:
        ValidationError: if training and test samples differ in shape.
    """
    if shown[0].shape[1:] != tested[0].shape[1:]:
        raise ValidationError(
            f"{name}: training samples are of {_by(shown[0])} and test samples of {_by(tested[0])}: "
            "the files are not of one data set."
        )
    (x, y), (z, t) = ((torch.from_numpy(np.ascontiguousarray(a)), torch.from_numpy(b)) for a, b in (shown, tested))
    return Dataset(name=name, classes=classes, shown=x, labels=y, tested=z, truth=t)


def _by(samples: Bytes) -> str:
    return " x ".join(map(str, samples.shape[1:]))


def found(folder: Path, names: Iterable[str], title: str, where: str) -> Path:
    """The first of these files that is in the folder.

    Raises:
        ValidationError: if none is; it says where to get the first.
    """
    first, *others = names
    for name in (first, *others):
        if (folder / name).is_file():
            return folder / name
    also = f" (nor {', '.join(others)})" if others else ""
    raise ValidationError(
        f"{title}: {folder / first} is not there{also}. Nothing is downloaded: get {first} from {where} "
        f"and put it into {folder}."
    )


def verified(path: Path, published: str | None, where: str, verify: bool) -> Path:
    """The path of a file whose MD5 checksum is the published one; files without a published one pass.

    Raises:
        ValidationError: if it has another checksum, or cannot be read.
    """
    if published is None or not verify:
        return path
    try:
        with path.open("rb") as file:
            told = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    except OSError as error:
        raise ValidationError(f"{path} cannot be read: {error}.") from None
    if told != published:
        raise ValidationError(
            f"{path} has the MD5 checksum {told}, and the published file has {published}: it is damaged or another "
            f"file. Get it again from {where}, or give verify=False for a file of your own."
        )
    return path


def damaged(path: Path | str, fact: str) -> ValidationError:
    """The error for a file that is not what its format asks for."""
    return ValidationError(f"{path} is damaged or not of this format: {fact}. Get it again.")
