"""What compressed uploads cost in rounds: over those of whole uploads, each at its own best rate.

    python benchmarks/compressed_models.py

A literal loop on quadratics with the spectrum that predictions by loss have where noise does not depend on the model: 3
groups of 4 clients, 5 local steps, 64 coordinates that are no axes of the Hessian, 24 seeds side by side. Every client
sends what its local steps changed; a ring's next client starts from what the last one sent. ``8bit`` and so on round at
random between steps of the largest entry, without bias; ``top`` keeps the largest entries, and what it leaves out is
added to what the client sends next. Downloads are whole. The target is the loss that whole uploads reach after 40
rounds. Last measured: docs/evidence/compression.md, some minutes.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass, field

import numpy as np

from hflbounds.topology import all_topologies
from planner.predict.envelopes import Array
from planner.predict.predictors.spectrum import NARROW, Fleet

GROUPS, CLIENTS, STEPS, ROUNDS, MOST, SEEDS, EACH = 3, 4, 5, 40, 400, 24, 2
LEFT = {"whole": 0, "8bit": 8, "6bit": 6, "4bit": 4, "2bit": 2, "top-5%": 3}  # bits, or entries of 64
SPREAD = {"clients differ": (2.0, 0.5), "groups differ": (0.5, 2.0)}  # zeta and delta; sigma = A = L = 1
RATES = 2.0 ** np.arange(-3.5, 1, 0.5)  # of that which is predicted for whole uploads


@dataclass
class Runs:
    """Runs of one topology, side by side, that begin anew for every rate."""

    topology: str
    tilts: Array  # of clients, shape (seeds, groups, clients, coordinates)
    turned: Array  # orthogonal: the coordinates that are sent
    upload: str
    rate: float
    draw: np.random.Generator
    left: dict[tuple[int, int], Array] = field(default_factory=dict)

    def sent(self, moved: Array, client: tuple[int, int]) -> Array:
        """What arrives of what a client's steps changed."""
        size = LEFT[self.upload]
        if not size:
            return moved
        x = moved @ self.turned
        if self.upload.startswith("top"):
            x = x + self.left.get(client, 0.0)
            least = np.sort(np.abs(x), -1)[:, -size, None]
            kept = np.where(np.abs(x) >= least, x, 0.0)
            self.left[client] = x - kept
        else:
            step = np.abs(x).max(-1, keepdims=True) / (2 ** (size - 1) - 1) + 1e-300
            low = np.floor(x / step)
            kept = step * (low + (self.draw.random(x.shape) < x / step - low))
        return np.asarray(kept @ self.turned.T)

    def client(self, x: Array, group: int, member: int) -> Array:
        """Local steps, and the upload."""
        start, scale = x, 1 / np.sqrt(x.shape[-1])
        for _ in range(STEPS):
            gradient = SPECTRUM * x + self.tilts[:, group, member] + scale * self.draw.normal(size=x.shape)
            x = x - self.rate * gradient
        return start + self.sent(x - start, (group, member))

    def losses(self, target: float, most: int) -> list[float]:
        """The mean loss after every round, until it is at most a target, or so many have run."""
        above, below = self.topology.split("-")
        x, found = np.sqrt(2 * GAP / SPECTRUM) * self.draw.choice([-1.0, 1.0], size=(SEEDS, SPECTRUM.size)), []

        def group(x: Array, g: int) -> Array:
            if below == "star":
                return np.asarray(np.mean([self.client(x, g, m) for m in range(CLIENTS)], 0))
            for m in self.draw.permutation(CLIENTS):
                x = self.client(x, g, int(m))
            return x

        for _ in range(most):
            if above == "star":
                x = np.mean([group(x, g) for g in range(GROUPS)], 0)
            else:
                for g in self.draw.permutation(GROUPS):
                    x = group(x, int(g))
            found.append(float((SPECTRUM * x**2).sum(-1).mean() / 2))
            if not found[-1] < 1e3 or found[-1] <= target:
                break
        return found


SPECTRUM, GAP = np.repeat(NARROW.h, EACH), np.repeat(NARROW.of_gap, EACH) / EACH


def tilts(zeta: float, delta: float, draw: np.random.Generator) -> Array:
    """Deviations of clients and of groups with the mean squares asked for, and a mean of 0."""
    parts = [draw.normal(size=(SEEDS, GROUPS, n, SPECTRUM.size)) for n in (1, CLIENTS)]
    parts = [part - part.mean(axis, keepdims=True) for axis, part in zip((1, 2), parts, strict=True)]
    sizes = [np.sqrt((part**2).sum(-1, keepdims=True).mean((1, 2), keepdims=True)) for part in parts]
    return np.asarray(delta * parts[0] / sizes[0] + zeta * parts[1] / sizes[1])


def main() -> None:
    """Run all, one topology after the other."""
    for (kind, (zeta, delta)), topology in itertools.product(SPREAD.items(), all_topologies(2)):
        tree = all_topologies(2)[topology].sized((GROUPS, CLIENTS))
        fleet = Fleet(tree, STEPS)
        predicted = np.array([1, 1, zeta**2, delta**2]) @ fleet.coefficients(float(ROUNDS))
        usual = float(fleet.steps[predicted.argmin()])
        told, target = [], 0.0
        for upload in LEFT:
            best = float("inf")
            for rate in RATES * usual:
                draw = np.random.default_rng(0)
                runs = Runs(
                    topology,
                    tilts(zeta, delta, draw),
                    np.linalg.qr(draw.normal(size=(SPECTRUM.size,) * 2))[0],
                    upload,
                    float(rate),
                    draw,
                )
                if upload == "whole":
                    best = min(best, runs.losses(0.0, ROUNDS)[-1])
                else:
                    losses = runs.losses(target, int(min(best, MOST)))
                    best = min(best, len(losses) if losses[-1] <= target else float("inf"))
            if upload == "whole":
                target = best
            else:
                told.append(f"{upload} {best / ROUNDS:.2f}" if best < MOST else f"{upload} over {MOST // ROUNDS}")
        sys.stdout.write(f"{kind}, {topology}: {', '.join(told)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
