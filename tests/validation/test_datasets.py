"""Loaders against small files that the tests write byte by byte in the published formats."""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from validation import datasets  # noqa: E402
from validation.datasets import CLASSES, cifar, cinic, idx, sst  # noqa: E402
from validation.engine import ValidationError  # noqa: E402

DICE = np.random.default_rng(5)
SHOWN, TESTED = 30, 12


def idx_bytes(shape: tuple[int, ...], body: bytes) -> bytes:
    return bytes([0, 0, 8, len(shape)]) + b"".join(struct.pack(">I", side) for side in shape) + body


def write_idx(folder: Path, zipped: bool = True, names: tuple[str, ...] = idx.FILES) -> dict[str, Any]:
    """The four files, and what is in them."""
    held: dict[str, Any] = {}
    for name, count in zip(names, (SHOWN, SHOWN, TESTED, TESTED), strict=True):
        if "images" in name:
            held[name] = DICE.integers(0, 256, (count, 28, 28), np.uint8)
        else:
            held[name] = (np.arange(count) % 10).astype(np.uint8)
        told = idx_bytes(held[name].shape, held[name].tobytes())
        (folder / (name + ".gz" * zipped)).write_bytes(gzip.compress(told) if zipped else told)
    return held


@pytest.mark.parametrize("read", [idx.mnist, idx.fashion_mnist])
@pytest.mark.parametrize("zipped", [True, False])
def test_idx_files_come_back_pixel_by_pixel(tmp_path: Path, read: Callable[..., Any], zipped: bool) -> None:
    held = write_idx(tmp_path, zipped)
    data = read(str(tmp_path), verify=False)
    images, labels, tested, truth = (held[name] for name in idx.FILES)
    assert data.shown.dtype == torch.uint8
    assert data.shape == (1, 28, 28)
    assert np.array_equal(data.shown[:, 0].numpy(), images)
    assert np.array_equal(data.tested[:, 0].numpy(), tested)
    assert data.labels.tolist() == labels.tolist()
    assert data.truth.tolist() == truth.tolist()
    assert len(data.classes) == 10


def test_names_with_a_dot_are_read_too(tmp_path: Path) -> None:
    write_idx(tmp_path, False, tuple(name.replace("-idx", ".idx") for name in idx.FILES))
    assert len(idx.mnist(str(tmp_path)).shown) == SHOWN  # not compressed: there is no published checksum


def test_scale_is_the_mean_and_deviation_of_each_channel(tmp_path: Path) -> None:
    write_cifar(tmp_path)
    data = cifar.cifar10(str(tmp_path))
    mean, spread = data.scale()
    wanted = data.shown.numpy().astype(float)
    assert mean.shape == spread.shape == (3, 1, 1)
    for channel in range(3):
        assert float(mean[channel]) == pytest.approx(wanted[:, channel].mean(), rel=1e-6)
        assert float(spread[channel]) == pytest.approx(wanted[:, channel].std(), rel=1e-6)


def test_a_file_that_is_not_the_published_one_is_refused_and_can_be_allowed(tmp_path: Path) -> None:
    write_idx(tmp_path)
    told = hashlib.md5((tmp_path / f"{idx.FILES[0]}.gz").read_bytes()).hexdigest()  # noqa: S324
    with pytest.raises(ValidationError, match="f68b3c2dcbeaaa9fbdd348bbdeb94873") as error:
        idx.mnist(str(tmp_path))
    assert told in str(error.value)
    assert "verify=False" in str(error.value)
    assert idx.mnist(str(tmp_path), verify=False).name == "MNIST"


def test_a_file_with_the_published_checksum_passes(tmp_path: Path) -> None:
    file = tmp_path / "one"
    file.write_bytes(b"abc")
    assert datasets.verified(file, "900150983cd24fb0d6963f7d28e17f72", "nowhere", True) == file  # RFC 1321, A.5


@pytest.mark.parametrize("missing", idx.FILES)
def test_a_missing_idx_file_is_named_with_its_place(tmp_path: Path, missing: str) -> None:
    write_idx(tmp_path)
    (tmp_path / f"{missing}.gz").unlink()
    with pytest.raises(ValidationError, match="Nothing is downloaded") as error:
        idx.mnist(str(tmp_path), verify=False)
    assert str(tmp_path / f"{missing}.gz") in str(error.value)
    assert "https://" in str(error.value)


IMAGES, LABELS = idx.FILES[:2]
DAMAGES: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "another magic number": (IMAGES, lambda told: b"\x89PNG" + told[4:], "0x89504e47"),
    "labels for images": (IMAGES, lambda told: idx_bytes((3,), b"abc"), "ends within|0x00000801"),
    "floats": (IMAGES, lambda told: told[:2] + b"\x0d" + told[3:], "0x00000d03"),
    "cut short": (IMAGES, lambda told: told[:-1], f"has {SHOWN * 784 - 1}"),
    "too long": (IMAGES, lambda told: told + b"x", "has more"),
    "cut within the header": (IMAGES, lambda told: told[:11], "header of 16"),
    "empty file": (IMAGES, lambda told: b"", "header of 16"),
    "no image": (IMAGES, lambda told: idx_bytes((0, 28, 28), b""), "it is empty"),
    "a huge header": (IMAGES, lambda told: idx_bytes((2**32 - 1, 28, 28), told[16:]), f"has {SHOWN * 784}"),
    "other sides": (IMAGES, lambda told: idx_bytes((SHOWN, 14, 56), told[16:]), "1 x 14 x 56.*1 x 28 x 28"),
    "fewer labels": (LABELS, lambda told: idx_bytes((SHOWN - 1,), told[8:-1]), f"{SHOWN - 1} labels"),
    "a label above 9": (LABELS, lambda told: told[:-1] + b"\x0a", "label 10"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("zipped", [True, False])
def test_damaged_idx_files_are_refused(tmp_path: Path, damage: str, zipped: bool) -> None:
    write_idx(tmp_path, zipped)
    name, change, told = DAMAGES[damage]
    file = tmp_path / (name + ".gz" * zipped)
    body = change(gzip.decompress(file.read_bytes()) if zipped else file.read_bytes())
    file.write_bytes(gzip.compress(body) if zipped else body)
    with pytest.raises(ValidationError, match=told):
        idx.mnist(str(tmp_path), verify=False)


@pytest.mark.parametrize("cut", [0, 5, 200, -4])
def test_a_gzip_file_that_is_cut_is_refused(tmp_path: Path, cut: int) -> None:
    write_idx(tmp_path)
    file = tmp_path / f"{IMAGES}.gz"
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(ValidationError, match="damaged"):
        idx.mnist(str(tmp_path), verify=False)


def test_a_gzip_file_with_a_changed_byte_is_refused(tmp_path: Path) -> None:
    write_idx(tmp_path)
    file = tmp_path / f"{IMAGES}.gz"
    told = bytearray(file.read_bytes())
    told[len(told) // 2] ^= 0xFF
    file.write_bytes(told)
    with pytest.raises(ValidationError, match="damaged"):
        idx.mnist(str(tmp_path), verify=False)


def write_cifar(folder: Path, each: int = 7) -> dict[str, bytes]:
    held = {}
    for name in cifar.FILES:
        pixels = DICE.integers(0, 256, (each, 3072), np.uint8)
        held[name] = b"".join(bytes([i % 10]) + image.tobytes() for i, image in enumerate(pixels))
        (folder / name).write_bytes(held[name])
    return held


def pack(archive: Path, held: dict[str, bytes], inside: str) -> None:
    with tarfile.open(archive, "w:gz") as members:
        for name, told in held.items():
            member = tarfile.TarInfo(f"{inside}/{name}")
            member.size = len(told)
            members.addfile(member, io.BytesIO(told))


def test_cifar_records_are_a_label_and_three_planes(tmp_path: Path) -> None:
    held = write_cifar(tmp_path)
    data = cifar.cifar10(str(tmp_path))
    assert (len(data.shown), len(data.tested), data.shape) == (35, 7, (3, 32, 32))
    record = held["data_batch_2.bin"][3 * 3073 : 4 * 3073]
    assert data.labels[7 + 3] == record[0] == 3
    assert data.shown[7 + 3, 2, 5, 9] == record[1 + 2 * 1024 + 5 * 32 + 9]  # the blue plane, row by row
    assert data.tested[6].numpy().tobytes() == held["test_batch.bin"][6 * 3073 + 1 :]


def test_cifar_is_read_from_its_folder_and_from_its_archive(tmp_path: Path) -> None:
    inner = tmp_path / "a" / cifar.INSIDE
    inner.mkdir(parents=True)
    held = write_cifar(inner)
    (tmp_path / "b").mkdir()
    pack(tmp_path / "b" / cifar.ARCHIVE, {"readme.html": b"x", **held}, cifar.INSIDE)
    one = cifar.cifar10(str(tmp_path / "a"))
    two = cifar.cifar10(str(tmp_path / "b"), verify=False)
    assert torch.equal(one.shown, two.shown)
    assert torch.equal(one.truth, two.truth)
    with pytest.raises(ValidationError, match=cifar.MD5):
        cifar.cifar10(str(tmp_path / "b"))


def test_missing_cifar_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"cifar-10-binary\.tar\.gz is not there.*Nothing is downloaded"):
        cifar.cifar10(str(tmp_path))
    write_cifar(tmp_path)
    (tmp_path / "data_batch_4.bin").unlink()
    with pytest.raises(ValidationError, match=r"data_batch_4\.bin is not there"):
        cifar.cifar10(str(tmp_path))


def test_damaged_cifar_files_are_refused(tmp_path: Path) -> None:
    held = write_cifar(tmp_path)
    file = tmp_path / "data_batch_3.bin"
    for told, why in (
        (held[file.name][:-1], "not a whole number of records"),
        (b"", "not a whole number of records"),
        (held[file.name][:3073] + b"\x0a" + held[file.name][3074:], "record 1 has the label 10"),
    ):
        file.write_bytes(told)
        with pytest.raises(ValidationError, match=why):
            cifar.cifar10(str(tmp_path))
    with pytest.raises(ValidationError, match=r"data_batch_3\.bin"):
        cifar.cifar10(str(tmp_path))


def test_damaged_cifar_archives_are_refused(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    held = write_cifar(tmp_path / "made")
    archive = tmp_path / cifar.ARCHIVE
    del held["data_batch_5.bin"]
    pack(archive, held, cifar.INSIDE)
    with pytest.raises(ValidationError, match=r"does not hold data_batch_5\.bin"):
        cifar.cifar10(str(tmp_path), verify=False)
    for told in (archive.read_bytes()[:3000], b"", b"no archive at all", b"\x80\x04\x95pickle"):
        archive.write_bytes(told)
        with pytest.raises(ValidationError, match="damaged"):
            cifar.cifar10(str(tmp_path), verify=False)


def png(pixels: Any, mode: str = "RGB") -> bytes:
    image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    image.fromarray(pixels).convert(mode).save(out, "PNG")
    return out.getvalue()


def write_cinic(folder: Path, parts: tuple[str, ...] = cinic.PARTS, each: int = 2) -> dict[str, Any]:
    held = {}
    for part in parts:
        for kind in CLASSES:
            (folder / part / kind).mkdir(parents=True)
            for i in range(each):
                pixels = DICE.integers(0, 256, (32, 32, 3), np.uint8)
                name = f"{part}/{kind}/{'cifar10-train' if i else 'n0153'}-{i}.png"
                (folder / name).write_bytes(png(pixels))
                held[name] = pixels
    return held


def test_cinic_folders_come_back_pixel_by_pixel(tmp_path: Path) -> None:
    held = write_cinic(tmp_path)
    data = cinic.cinic10(str(tmp_path))
    assert data.shown.shape == data.tested.shape == (20, 3, 32, 32)
    assert data.labels.tolist() == [i // 2 for i in range(20)]
    wanted = held["train/cat/cifar10-train-1.png"]  # c comes before n
    assert np.array_equal(data.shown[6].permute(1, 2, 0).numpy(), wanted)
    joined = cinic.cinic10(str(tmp_path), valid=True)
    assert len(joined.shown) == 40
    assert torch.equal(joined.shown[:20], data.shown)
    assert np.array_equal(joined.shown[39].permute(1, 2, 0).numpy(), held["valid/truck/n0153-0.png"])


def test_cinic_is_read_from_its_archive_in_the_same_order(tmp_path: Path) -> None:
    held = write_cinic(tmp_path / "a")
    (tmp_path / "b").mkdir()
    files = {name: (tmp_path / "a" / name).read_bytes() for name in reversed(held)}
    pack(tmp_path / "b" / cinic.ARCHIVE, {"README.md": b"x", **files}, ".")
    one, two = cinic.cinic10(str(tmp_path / "a")), cinic.cinic10(str(tmp_path / "b"), verify=False)
    assert torch.equal(one.shown, two.shown)
    assert torch.equal(one.tested, two.tested)
    with pytest.raises(ValidationError, match=cinic.MD5):
        cinic.cinic10(str(tmp_path / "b"))


def test_grey_pictures_of_cinic_have_three_equal_channels(tmp_path: Path) -> None:
    write_cinic(tmp_path)
    (tmp_path / "train/bird/aaa.png").write_bytes(png(np.full((32, 32), 77, np.uint8), "L"))
    assert bool((cinic.cinic10(str(tmp_path)).shown[4] == 77).all())


def test_missing_and_damaged_pictures_of_cinic_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"train.*CINIC-10\.tar\.gz is there.*Nothing is downloaded"):
        cinic.cinic10(str(tmp_path))
    write_cinic(tmp_path, ("train", "test"))
    with pytest.raises(ValidationError, match="valid"):
        cinic.cinic10(str(tmp_path), valid=True)
    file = tmp_path / "test/deer/n0153-0.png"
    whole = file.read_bytes()
    for told, why in (
        (whole[:200], "no PNG picture"),
        (b"", "no PNG picture"),
        (b"GIF89a" + whole, "no PNG picture"),
        (png(np.zeros((16, 32, 3), np.uint8)), "32 x 16"),
    ):
        file.write_bytes(told)
        with pytest.raises(ValidationError, match=rf"test/deer/n0153-0\.png.*{why}"):
            cinic.cinic10(str(tmp_path))
    for file in (tmp_path / "test/deer").iterdir():
        file.unlink()
    with pytest.raises(ValidationError, match="test/deer has no picture"):
        cinic.cinic10(str(tmp_path))


TRAIN = "sentence\tlabel\nhide new secretions from the parental units \t0\na a a smile\u2028of a film \t1\n\t1\n"
DEV = "sentence\tlabel\nit 's a charming journey . \t1\n"


def write_sst(folder: Path, train: str = TRAIN, dev: str = DEV) -> None:
    (folder / "train.tsv").write_text(train, newline="\n")
    (folder / "dev.tsv").write_text(dev, newline="\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sst_sentences_are_counts_of_hashed_words(tmp_path: Path, end: str) -> None:
    write_sst(tmp_path, TRAIN.replace("\n", end), DEV.removesuffix("\n"))
    data = sst.sst2(str(tmp_path), features=4096, verify=False)
    assert data.labels.tolist() == [0, 1, 1]
    assert data.truth.tolist() == [1]
    assert data.shape == (4096,)
    assert data.shown.sum(1).tolist() == [7, 7, 0]  # words, however they are hashed
    assert data.shown[1, 0xE8B7BE43 % 4096] == 4  # the CRC-32 of "a" is e8b7be43
    assert sst.place("a", 10**12) == 0xE8B7BE43
    assert data.scale()[0].tolist() == [0]


def test_counts_of_words_do_not_wrap(tmp_path: Path) -> None:
    write_sst(tmp_path, "sentence\tlabel\n" + "a " * 300 + "\t1\n")
    assert int(sst.sst2(str(tmp_path), features=5, verify=False).shown.max()) == 255


def test_sst_is_read_from_its_folder_and_from_its_archive(tmp_path: Path) -> None:
    (tmp_path / "a" / "SST-2").mkdir(parents=True)
    write_sst(tmp_path / "a" / "SST-2")
    (tmp_path / "b").mkdir()
    with zipfile.ZipFile(tmp_path / "b" / sst.ARCHIVE, "w") as archive:
        archive.writestr("SST-2/train.tsv", TRAIN)
        archive.writestr("SST-2/dev.tsv", DEV)
    one, two = (sst.sst2(str(tmp_path / name), verify=False) for name in "ab")
    assert torch.equal(one.shown, two.shown)
    for name, published in (("a", sst.MD5["train.tsv"]), ("b", sst.MD5[sst.ARCHIVE])):
        with pytest.raises(ValidationError, match=published):
            sst.sst2(str(tmp_path / name))


@pytest.mark.parametrize(
    ("train", "why"),
    [
        ("", "its first line"),
        ("index\tsentence\n0\tgood film\n", "its first line"),
        ("sentence\tlabel\n", "no sentence"),
        ("sentence\tlabel\ngood film \t1\nbad fi", "line 3"),
        ("sentence\tlabel\ngood film \t2\n", "line 2"),
        ("sentence\tlabel\ngood\tfilm \t1\n", "line 2"),
        ("sentence\tlabel\ngood film \t1\n\n", "line 3"),
    ],
)
def test_damaged_sst_files_are_refused(tmp_path: Path, train: str, why: str) -> None:
    write_sst(tmp_path, train)
    with pytest.raises(ValidationError, match=rf"train\.tsv is damaged.*{why}"):
        sst.sst2(str(tmp_path), verify=False)


def test_missing_and_broken_sst_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"train\.tsv is not there.*SST-2\.zip"):
        sst.sst2(str(tmp_path))
    archive = tmp_path / sst.ARCHIVE
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("SST-2/train.tsv", TRAIN)
    with pytest.raises(ValidationError, match=r"does not hold SST-2/dev\.tsv"):
        sst.sst2(str(tmp_path), verify=False)
    archive.write_bytes(archive.read_bytes()[:50])
    with pytest.raises(ValidationError, match="damaged"):
        sst.sst2(str(tmp_path), verify=False)
    write_sst(tmp_path)
    (tmp_path / "dev.tsv").write_bytes(b"sentence\tlabel\ncaf\xe9 \t1\n")
    with pytest.raises(ValidationError, match="not UTF-8"):
        sst.sst2(str(tmp_path), verify=False)
    with pytest.raises(ValidationError, match="features = 0"):
        sst.sst2(str(tmp_path), features=0)
