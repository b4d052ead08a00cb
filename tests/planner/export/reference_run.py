"""What the literal reference makes of an exported project as it is generated: other code, sample by sample."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np

from hflbounds.topology import Topology
from validation.reference import tree_round


def loaded(file: Path) -> ModuleType:
    """A module from a file."""
    spec = importlib.util.spec_from_file_location(f"exported_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def literal_gradient(x: np.ndarray, features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Of the mean cross-entropy of softmax regression: sample by sample, class by class; the last row is the bias."""
    found = np.zeros_like(x)
    for sample, label in zip(features, labels, strict=True):
        scores = [float(sum(sample * x[:-1, c]) + x[-1, c]) for c in range(3)]
        for c in range(3):
            error = 1 / sum(np.exp(other - scores[c]) for other in scores) - (c == label)
            found[:, c] += error * np.append(sample, 1.0) / len(labels)
    return found


def reference(folder: Path, rounds: int) -> np.ndarray:
    """The model after some rounds: weights, and the bias below them."""
    task, hierarchy = (loaded(next(folder.rglob(name))) for name in ("task.py", "hierarchy.py"))
    file = next(folder.rglob("plan.toml"))
    table, made = tomllib.loads(file.read_text()), hierarchy.read_plan(file)
    samples = [task.data(name) for name in table["clients"]]
    sizes, drawn, passes = ([tier[key] for tier in table["tiers"]] for key in ("size", "drawn", "passes"))
    tree = Topology.parse(table["predicted"]["topology"]).sized(sizes, drawn=drawn, passes=passes)
    x = np.zeros((9, 3))
    for number in range(rounds):

        def gradient(place: tuple, moment: tuple, k: int, x: np.ndarray, number: int = number) -> np.ndarray:
            client = int(np.ravel_multi_index(place, sizes))
            draw = np.random.default_rng((table["seed"], client, number, *moment))
            batch = [draw.integers(0, 60, size=10) for _ in range(k + 1)][-1]
            return literal_gradient(x, samples[client][0][batch], samples[client][1][batch])

        def order(place: tuple, moment: tuple, number: int = number) -> list[int]:
            node = made.root
            for i in place:
                node = node.children[i]
            first = [child.place[-1] for child in hierarchy.taking_part(made, node, number)]
            return first + [i for i in range(sizes[len(place)]) if i not in first]

        x = tree_round(x, tree, table["local_steps"], table["rate"], gradient, order=order)
    return x


def model_of(folder: Path) -> np.ndarray:
    """The model that a run has left."""
    with np.load(folder / "model.npz") as model:
        return np.vstack([model["arr_0"], model["arr_1"][None]])
