"""What `hfl-plan estimate` needs to know of a model and its data: scikit-learn's digits, 16 clients in 4 groups.

Label shares differ between the clients of a group (Dirichlet, 0.3 per label), and groups are mixtures of those.
Try:  hfl-plan estimate examples/digits_hook.py --rate 0.5
"""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

GROUPS, CLIENTS = 4, 4
CONCENTRATION = 0.3  # per label; smaller is less alike


def model() -> nn.Module:
    """The start of training, the same every time."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))


def clients() -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Group, samples and labels of every client; each sample has one owner."""
    pixels, labels = load_digits(return_X_y=True)
    pixels = (pixels / 16).astype(np.float32)
    dice = np.random.default_rng(0)
    owner = np.empty(len(labels), dtype=int)
    for label in range(10):
        shares = dice.dirichlet(np.full(GROUPS * CLIENTS, CONCENTRATION))
        owner[labels == label] = dice.choice(GROUPS * CLIENTS, size=(labels == label).sum(), p=shares)
    held = [owner == c for c in range(GROUPS * CLIENTS)]
    return [(f"group {c // CLIENTS}", pixels[mine], labels[mine]) for c, mine in enumerate(held) if mine.any()]


# Optional: the loss of outputs and targets, a mean over samples. Without it, cross-entropy where targets are whole
# numbers, and the mean squared error elsewhere.
#
# def loss(outputs, targets):
#     return nn.functional.cross_entropy(outputs, targets, label_smoothing=0.1)


# Optional: samples that no client holds, on which `hfl-plan pilot --metric accuracy` measures. Keep some of the digits
# out of `clients` for it.
#
# def test():
#     return pixels[kept_out], labels[kept_out]
