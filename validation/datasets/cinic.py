"""CINIC-10: folders of PNG files, one for each part and class, or the archive that holds them."""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from hflbounds.extras import install
from validation.datasets import CLASSES, Bytes, Dataset, damaged, dataset, found, verified
from validation.engine import ValidationError

TITLE = "CINIC-10"
ARCHIVE = "CINIC-10.tar.gz"
MD5 = "6ee4d0c996905fe93221de577967a372"
WHERE = "https://datashare.ed.ac.uk/handle/10283/3192"
PARTS = ("train", "valid", "test")
SIDE = 32
MOST = 1 << 20  # bytes of one picture


def cinic10(path: str, *, valid: bool = False, verify: bool = True) -> Dataset:
    """Pictures from CIFAR-10 and ImageNet: three parts of 90,000 images of 32 x 32 in three colours.

    Args:
        path: folder of the archive, or of the folders ``train``, ``valid`` and ``test``.
        valid: whether the part for validation joins the training samples.
        verify: whether the archive must have the published checksum; there is none for single pictures.

    Raises:
        ValidationError: if a folder or a class is not there or empty, a picture is damaged, or Pillow is not installed.
    """
    folder = Path(path)
    wanted = ("train", "valid", "test") if valid else ("train", "test")
    if all((folder / part).is_dir() for part in wanted):
        pictures = _folders(folder, wanted)
    else:
        missing = next(part for part in wanted if not (folder / part).is_dir())
        if not (folder / ARCHIVE).is_file():
            raise ValidationError(
                f"{TITLE}: neither the folder {folder / missing} nor {folder / ARCHIVE} is there. Nothing is "
                f"downloaded: get {ARCHIVE} from {WHERE} and put it into {folder}."
            )
        pictures = _archive(verified(found(folder, (ARCHIVE,), TITLE, WHERE), MD5, WHERE, verify), wanted)
    held: dict[str, list[tuple[int, str, Bytes]]] = {part: [] for part in wanted}
    for part, kind, name, told in pictures:
        held[part].append((CLASSES.index(kind), name, _decoded(f"{folder}: {part}/{kind}/{name}", told)))
    for part, some in held.items():
        if absent := set(range(len(CLASSES))) - {label for label, _, _ in some}:
            raise damaged(folder, f"{part}/{CLASSES[min(absent)]} has no picture")
        some.sort(key=lambda one: one[:2])  # so that folders and archives give one order
    shown = held["train"] + held.get("valid", [])
    return dataset(TITLE, CLASSES, _stacked(shown), _stacked(held["test"]))


def _stacked(some: list[tuple[int, str, Bytes]]) -> tuple[Bytes, NDArray[np.int64]]:
    return np.stack([image for _, _, image in some]), np.array([label for label, _, _ in some], np.int64)


def _folders(folder: Path, wanted: tuple[str, ...]) -> Iterator[tuple[str, str, str, bytes]]:
    for part in wanted:
        for kind in CLASSES:
            for file in (folder / part / kind).glob("*.png"):
                try:
                    with file.open("rb") as opened:
                        yield part, kind, file.name, opened.read(MOST)
                except OSError as error:
                    raise ValidationError(f"{file} cannot be read: {error}.") from None


def _archive(archive: Path, wanted: tuple[str, ...]) -> Iterator[tuple[str, str, str, bytes]]:
    try:
        with tarfile.open(archive, "r|gz") as members:
            for member in members:
                place = PurePosixPath(member.name)
                if not member.isfile() or place.suffix != ".png" or len(place.parts) < 3:
                    continue
                part, kind, name = place.parts[-3:]
                if part in wanted and kind in CLASSES and (file := members.extractfile(member)):
                    yield part, kind, name, file.read(MOST)
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise damaged(archive, str(error)) from None


def _decoded(name: str, told: bytes) -> Bytes:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise ValidationError(f"{TITLE} is read with Pillow, which is not installed: {install('plots')}.") from None
    try:
        with Image.open(io.BytesIO(told), formats=["PNG"]) as picture:
            if picture.size != (SIDE, SIDE):  # before anything is decoded
                raise damaged(name, f"it is {picture.width} x {picture.height} and not {SIDE} x {SIDE}")
            return np.asarray(picture.convert("RGB")).transpose(2, 0, 1)
    except (
        UnidentifiedImageError,
        Image.DecompressionBombError,
        OSError,
        SyntaxError,
        ValueError,
        zlib.error,
    ) as error:
        raise damaged(name, f"no PNG picture ({type(error).__name__})") from None
