"""MNIST and Fashion-MNIST: four IDX files, compressed or not."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path

import numpy as np

from validation.datasets import Bytes, Dataset, damaged, dataset, found, verified

CLOTHES = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
BLOCK = 1 << 20  # bytes read at a time
FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
FASHION = "https://github.com/zalandoresearch/fashion-mnist (data/fashion)"
MD5 = {  # of the .gz files, in the order of FILES
    MNIST: (
        "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "d53e105ee54ea40749a09fcbcd1e9432",
        "9fb629c4189551a2d022fa330f9573f3",
        "ec29112dd5afa0611ce80d1b7f02629c",
    ),
    FASHION: (
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "25c81989df183df01b3e8a0aad5dffbe",
        "bef4ecab320f06d8554ea6380940ec79",
        "bb300cfdad3c16e7a12a480ee83cd310",
    ),
}


def mnist(path: str, *, verify: bool = True) -> Dataset:
    """Handwritten digits: 60,000 and 10,000 images of 28 x 28.

    Args:
        path: folder of the four files.
        verify: whether compressed files must have the published checksums.

    Raises:
        ValidationError: if a file is not there, or damaged.
    """
    return _read(Path(path), "MNIST", tuple("0123456789"), MNIST, verify)


def fashion_mnist(path: str, *, verify: bool = True) -> Dataset:
    """Clothes: as many images as `mnist` and of the same size; arguments and errors are the same."""
    return _read(Path(path), "Fashion-MNIST", CLOTHES, FASHION, verify)


def _read(folder: Path, title: str, classes: tuple[str, ...], where: str, verify: bool) -> Dataset:
    parts = []
    for name, published in zip(FILES, MD5[where], strict=True):
        file = found(folder, (f"{name}.gz", name, name.replace("-idx", ".idx")), title, where)
        verified(file, published if file.suffix == ".gz" else None, where, verify)
        parts.append((file, read_idx(file, 3 if "images" in name else 1)))
    pairs = []
    for (pictures, images), (names, labels) in (parts[:2], parts[2:]):
        if len(images) != len(labels):
            raise damaged(names, f"it has {len(labels)} labels for the {len(images)} images of {pictures.name}")
        if labels.max() >= len(classes):
            raise damaged(names, f"it has the label {labels.max()}, and {title} has {len(classes)}")
        pairs.append((images[:, None], labels.astype(np.int64)))
    return dataset(title, classes, *pairs)


def read_idx(path: Path, dimensions: int) -> Bytes:
    """An IDX file of bytes.

    Raises:
        ValidationError: if it is of another kind, cut short, too long, or empty.
    """
    header = 4 * (1 + dimensions)
    try:
        opened = gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # noqa: SIM115
        with opened as file:
            head = file.read(header)
            if len(head) < header:
                raise damaged(path, f"it ends within its header of {header} bytes")
            magic, *shape = (int(number) for number in np.frombuffer(head, ">u4"))
            if magic != 0x800 + dimensions:
                raise damaged(path, f"it begins with {magic:#010x} and not with {0x800 + dimensions:#010x}")
            size = math.prod(shape)
            if size == 0:
                raise damaged(path, f"its header says {' x '.join(map(str, shape))}: it is empty")
            body = bytearray()
            while len(body) <= size and (block := file.read(BLOCK)):  # never as much as a header claims
                body += block
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, str(error)) from None
    if len(body) != size:
        told = "more" if len(body) > size else f"{len(body)}"
        raise damaged(path, f"its header says {' x '.join(map(str, shape))} bytes and it has {told}")
    return np.frombuffer(body, np.uint8).reshape(shape)
