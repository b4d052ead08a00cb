"""SST-2 as GLUE gives it: sentences with a sentiment, as counts of hashed words."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from validation.datasets import Bytes, Dataset, damaged, dataset, found, verified
from validation.engine import ValidationError

TITLE = "SST-2"
ARCHIVE = "SST-2.zip"
WHERE = "https://dl.fbaipublicfiles.com/glue/data/SST-2.zip"
MD5 = {
    ARCHIVE: "9f81648d4199384278b86e315dac217c",
    "train.tsv": "da409a0a939379ed32a470bc0f7fe99a",
    "dev.tsv": "268856b487b2a31a28c0a93daaff7288",
}
HEADER = ["sentence", "label"]
MOST = 1 << 28  # bytes of one file that are read from an archive


def sst2(path: str, *, features: int = 2048, verify: bool = True) -> Dataset:
    """Phrases of film reviews: 67,349 for training and 872 for the test, negative or positive.

    The test is GLUE's development set: the labels of its test set are not published. Words are what blanks separate,
    as GLUE has them; each counts at the place that its CRC-32 gives, so that no vocabulary is made from the data.

    Args:
        path: folder of the archive, of the folder ``SST-2`` that comes out of it, or of ``train.tsv`` and ``dev.tsv``.
        features: places for words.
        verify: whether files must have the published checksums.

    Raises:
        ValidationError: if a file is not there, or damaged.
    """
    if features < 1:
        raise ValidationError(f"features = {features}: words need at least 1 place.")
    folder = Path(path)
    inner = folder / "SST-2" if (folder / "SST-2").is_dir() else folder
    if (folder / ARCHIVE).is_file() and not (inner / "train.tsv").is_file():
        archive = verified(folder / ARCHIVE, MD5[ARCHIVE], WHERE, verify)
        texts = [(f"{archive}: {name}", _unpacked(archive, name)) for name in ("train.tsv", "dev.tsv")]
    else:
        texts = []
        for name in ("train.tsv", "dev.tsv"):
            file = verified(found(inner, (name,), TITLE, f"inside {WHERE}"), MD5[name], WHERE, verify)
            texts.append((str(file), file.read_bytes()))
    shown, tested = (_counted(name, told, features) for name, told in texts)
    return dataset(TITLE, ("negative", "positive"), shown, tested)


def _unpacked(archive: Path, name: str) -> bytes:
    try:
        with zipfile.ZipFile(archive) as members:
            member = members.getinfo(f"SST-2/{name}")
            if member.file_size > MOST:
                raise damaged(archive, f"{name} is said to have {member.file_size} bytes")
            return members.read(member)
    except KeyError:
        raise damaged(archive, f"it does not hold SST-2/{name}") from None
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error) as error:
        raise damaged(archive, str(error)) from None


def _counted(name: str, told: bytes, features: int) -> tuple[Bytes, NDArray[np.int64]]:
    try:
        lines = told.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise damaged(name, f"byte {error.start} is not UTF-8") from None
    if lines[0].rstrip("\r").split("\t") != HEADER:
        raise damaged(name, f"its first line is {lines[0]!a:.60} and not 'sentence', a tab and 'label'")
    if len(lines) < 2:
        raise damaged(name, "it has no sentence")
    labels, cells = np.empty(len(lines) - 1, np.int64), []
    for row, line in enumerate(lines[1:]):
        sentence, tab, label = line.rstrip("\r").partition("\t")
        if not tab or label not in ("0", "1"):
            raise damaged(name, f"line {row + 2} is not a sentence, a tab and 0 or 1")
        labels[row] = int(label)
        cells += [row * features + place(word, features) for word in sentence.split()]
    counts = np.zeros(len(labels) * features, np.uint8)
    where, times = np.unique(np.array(cells, np.int64), return_counts=True)
    counts[where] = np.minimum(times, 255)
    return counts.reshape(-1, features), labels


def place(word: str, features: int) -> int:
    """Where a word counts."""
    return zlib.crc32(word.encode()) % features
