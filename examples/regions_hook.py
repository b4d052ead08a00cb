"""Groups within groups: scikit-learn's digits on 24 phones of 6 edge servers in 2 regions, and a small perceptron.

A group is a tuple, top tier first: ("region 0", "server 1"). Labels differ between regions, between the servers of a
region and between the phones of a server (Dirichlet, 1, 3 and 1 per label).
Try:  hfl-plan estimate examples/regions_hook.py
      hfl-plan pilot examples/regions_hook.py
"""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

TREE = ((2, 1.0), (3, 3.0), (4, 1.0))  # children of a node and their concentration per label, top tier first
TRAINED = 1500  # samples; the others are for the test


def model() -> nn.Module:
    """The start of training, the same every time."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10))


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Pixels and labels of all samples."""
    pixels, labels = load_digits(return_X_y=True)
    return (pixels / 16).astype(np.float32), labels


def shared(rows: np.ndarray, labels: np.ndarray, among: int, concentration: float, dice: np.random.Generator) -> list:
    """The samples of a node, dealt to its children label by label."""
    held = np.empty(len(rows), dtype=int)
    for label in range(10):
        mine = labels[rows] == label
        held[mine] = dice.choice(among, size=mine.sum(), p=dice.dirichlet(np.full(among, concentration)))
    return [rows[held == child] for child in range(among)]


def clients() -> list[tuple[tuple[str, str], np.ndarray, np.ndarray]]:
    """Region and server, samples and labels of every phone; each sample has one owner."""
    pixels, labels = digits()
    dice, found = np.random.default_rng(0), []
    for i, region in enumerate(shared(np.arange(TRAINED), labels, *TREE[0], dice)):
        for j, server in enumerate(shared(region, labels, *TREE[1], dice)):
            for own in shared(server, labels, *TREE[2], dice):
                found.append(((f"region {i}", f"server {j}"), pixels[own], labels[own]))
    return found


def test() -> tuple[np.ndarray, np.ndarray]:
    """What no client trains on."""
    pixels, labels = digits()
    return pixels[TRAINED:], labels[TRAINED:]
