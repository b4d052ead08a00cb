"""Fashion-MNIST on 100 clients in 10 groups that differ (Dirichlet, 0.1 per label), and a perceptron.

The files come with Debian's package: apt-get install dataset-fashion-mnist
Try:  hfl-plan pilot examples/fashion_hook.py
"""

import gzip
from pathlib import Path

import numpy as np
import torch
from torch import nn

FOLDER = Path("/usr/share/datasets/fashion-mnist")
FILES = "images-idx3-ubyte", "labels-idx1-ubyte"
GROUPS, CLIENTS = 10, 10


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Pictures with mean about 0, and their labels."""
    images, truth = (gzip.decompress((FOLDER / f"{name}-{file}.gz").read_bytes()) for file in FILES)
    pixels, labels = np.frombuffer(images, np.uint8, offset=16), np.frombuffer(truth, np.uint8, offset=8)
    return pixels.reshape(-1, 784).astype(np.float32) / 255 - 0.2860, labels.astype(np.int64)


def model() -> nn.Module:
    """The start of training, the same every time."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))


def clients() -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Group, samples and labels of every client: labels differ between groups, and clients of one are alike."""
    pixels, labels = read("train")
    dice = np.random.default_rng(0)
    group = np.empty(len(labels), dtype=int)
    for label in range(10):
        group[labels == label] = dice.choice(
            GROUPS, size=(labels == label).sum(), p=dice.dirichlet(np.full(GROUPS, 0.1))
        )
    rows = []
    for g in range(GROUPS):
        mine = dice.permutation(np.flatnonzero(group == g))
        rows += [(f"group {g}", pixels[part], labels[part]) for part in np.array_split(mine, CLIENTS)]
    return rows


def test() -> tuple[np.ndarray, np.ndarray]:
    """What no client trains on."""
    return read("t10k")
