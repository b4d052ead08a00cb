"""CIFAR-10 in its binary version: the archive, or the files in it."""

from __future__ import annotations

import tarfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from validation.datasets import CLASSES, Bytes, Dataset, damaged, dataset, found, verified
from validation.engine import ValidationError

TITLE = "CIFAR-10"
ARCHIVE = "cifar-10-binary.tar.gz"
INSIDE = "cifar-10-batches-bin"
MD5 = "c32a1d4ab5d03f1284b67883e8d87530"
WHERE = "https://www.cs.toronto.edu/~kriz/cifar.html (the binary version)"
FILES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")
SHAPE = (3, 32, 32)
RECORD = 1 + 3 * 32 * 32  # a label, then the red, green and blue planes
MOST = 1 << 30  # bytes of one file that are read from an archive


def cifar10(path: str, *, verify: bool = True) -> Dataset:
    """Small pictures: 50,000 and 10,000 images of 32 x 32 in three colours.

    Args:
        path: folder of the archive, of the folder that comes out of it, or of the files.
        verify: whether the archive must have the published checksum; there is none for the files in it.

    Raises:
        ValidationError: if a file is not there, or damaged.
    """
    folder = Path(path)
    if (folder / ARCHIVE).is_file():
        archive = verified(folder / ARCHIVE, MD5, WHERE, verify)
        held = _unpacked(archive)
        for name in FILES:
            if name not in held:
                raise damaged(archive, f"it does not hold {name}")
        parts = [records(f"{archive}: {name}", held[name]) for name in FILES]
    else:
        if (folder / INSIDE).is_dir():
            folder = folder / INSIDE
        elif not any((folder / name).is_file() for name in FILES):
            found(folder, (ARCHIVE, *FILES[:1]), TITLE, WHERE)
        parts = [_records(found(folder, (name,), TITLE, f"{ARCHIVE} from {WHERE}")) for name in FILES]
    *shown, tested = parts
    images, labels = (np.concatenate(some) for some in zip(*shown, strict=True))
    return dataset(TITLE, CLASSES, (images, labels), tested)


def _unpacked(archive: Path) -> dict[str, bytes]:
    """The files wanted, by name, without writing anything."""
    held = {}
    try:
        with tarfile.open(archive, "r|gz") as members:
            for member in members:
                name = Path(member.name).name
                if name in FILES and member.isfile():
                    if member.size > MOST:
                        raise damaged(archive, f"{name} is said to have {member.size} bytes")
                    file = members.extractfile(member)
                    held[name] = file.read() if file else b""
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise damaged(archive, str(error)) from None
    return held


def _records(path: Path) -> tuple[Bytes, NDArray[np.int64]]:
    try:
        return records(path, path.read_bytes())
    except OSError as error:
        raise ValidationError(f"{path} cannot be read: {error}.") from None


def records(path: Path | str, told: bytes) -> tuple[Bytes, NDArray[np.int64]]:
    """Images and labels of one file.

    Raises:
        ValidationError: if it is not a whole number of records, is empty, or has a label above 9.
    """
    if not told or len(told) % RECORD:
        raise damaged(path, f"{len(told)} bytes are not a whole number of records of {RECORD} bytes")
    table = np.frombuffer(told, np.uint8).reshape(-1, RECORD)
    labels = table[:, 0].astype(np.int64)
    if labels.max() >= len(CLASSES):
        raise damaged(path, f"record {int(labels.argmax())} has the label {labels.max()}, and there are 10")
    return table[:, 1:].reshape(-1, *SHAPE), labels
