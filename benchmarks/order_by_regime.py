"""From which inter-group heterogeneity on does the order of the bounds, ring top first, stop being measured?

The upper bounds put Ring-Star before Star-Star, Ring-Ring before Star-Ring and Star-Ring before Star-Star at
every setting. This experiment measures the three ratios on problems small enough to run thousands of times:
10 groups of 10 clients, one group round, two local steps, fixed order, 30 global rounds. The score is the
theorem's own left-hand side, the mean of ||grad F||^2 over x^(0)..x^(29). Each topology runs at its own best
effective learning rate, found on one shared grid with seeds that are not scored.

    python benchmarks/order_by_regime.py --out planner/data/order_by_regime.csv

Every seed is a problem of its own (tilts, curvatures, start) and a stream of mini-batch noise; all topologies
and all rates see the same ones, so ratios are taken seed by seed. Units: the noise sigma = 1 and the
smoothness of F is L = 1.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from validation.reference import Settings, Topology, global_round

Floats = npt.NDArray[np.float64]

TOPOLOGIES: tuple[Topology, ...] = ("star-star", "star-ring", "ring-star", "ring-ring")
PAIRS: tuple[tuple[Topology, Topology], ...] = (
    ("ring-star", "star-star"),
    ("ring-ring", "star-ring"),
    ("star-ring", "star-star"),
)
G, M, K, R = 10, 10, 2, 30  # P = 1
DIMENSION = 10
CURVATURES = np.geomspace(0.05, 1.0, DIMENSION)  # of F in its coordinates
BEND = 0.4  # relative spread of curvature between groups and between clients, once zeta, delta reach sigma
RIPPLE = 0.3  # of the log-cosh family: not convex for any, one stationary point for any below 0.98
FAMILIES = ("quadratic", "log-cosh")
STARTS = {"near": 1.0, "far": 3.0}  # root mean square distance from the minimum, per coordinate
DELTAS = (0.0, 0.1, 0.3, 1.0, 3.0)
ZETAS = (0.0, 1.0)
GRID: Floats = np.array([0.05 * 1.1**i for i in range(81)])  # L eta_eff, from 0.05 to 102
COARSE = 5  # the grid is searched at every fifth rate first, a factor of 1.6, and then at every one
TIE = 0.02


@dataclass(frozen=True)
class Problems:
    """One problem per seed, and the noise of every gradient it will ever be asked for.

    Client (g, m) has the gradient ``c grad F(x) + t + noise``, coordinate by coordinate; bends c average to 1
    and tilts t to 0, and F has its minimum at 0. Without inter-group heterogeneity groups are identical, and
    without intra-group heterogeneity so are the clients of a group.

    Attributes:
        family: which F.
        bend: c, shape (seeds, groups, clients, dimension).
        tilt: t, same shape; between groups its root mean square is delta, within a group it is zeta.
        noise: shape (rounds, local steps, seeds, groups, clients, dimension); its mean square is 1.
        start: x^(0), shape (seeds, dimension).
    """

    family: str
    bend: Floats
    tilt: Floats
    noise: Floats
    start: Floats

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        family: str,
        *,
        delta: float,
        zeta: float,
        distance: float,
        seeds: int,
        shape: tuple[int, int, int, int] = (R, K, G, M),
    ) -> Problems:
        """Draws problems; every array is drawn whatever delta and zeta are, so they share their seeds."""
        rounds, steps, groups, clients = shape

        def zero_sum(draw: Floats) -> Floats:
            return np.asarray(draw - draw.mean(axis=-2, keepdims=True))

        def unit(draw: Floats) -> Floats:
            """Scaled, seed by seed, to root mean square 1."""
            mean_square = (draw**2).sum(axis=-1).mean(axis=tuple(range(1, draw.ndim - 1)))
            return np.asarray(draw / np.sqrt(mean_square).reshape(-1, *[1] * (draw.ndim - 1)))

        by_group, by_client = (seeds, groups, DIMENSION), (seeds, groups, clients, DIMENSION)
        tilt_group = delta * unit(zero_sum(rng.normal(size=by_group)))
        tilt_client = zeta * unit(zero_sum(rng.normal(size=by_client)))
        bend_group = BEND * min(1.0, delta) * zero_sum(rng.uniform(-1, 1, size=by_group))
        bend_client = BEND * min(1.0, zeta) * zero_sum(rng.uniform(-1, 1, size=by_client))
        return cls(
            family,
            bend=1 + bend_group[:, :, None] + bend_client,
            tilt=tilt_group[:, :, None] + tilt_client,
            noise=rng.normal(size=(rounds, steps, *by_client)) / math.sqrt(DIMENSION),
            start=distance * rng.normal(size=(seeds, DIMENSION)),
        )

    def full_gradient(self, x: Floats) -> Floats:
        """The gradient of F at points of shape (..., dimension); its Lipschitz constant is 1."""
        if self.family == "quadratic":
            return np.asarray(CURVATURES * x)
        return np.asarray(CURVATURES * (np.tanh(x) + RIPPLE * np.sin(2 * x)) / (1 + 2 * RIPPLE))

    def inter_group_at_start(self) -> float:
        """The root mean square over seeds of the inter-group heterogeneity at x^(0), bends included."""
        gradient = self.full_gradient(self.start)
        groups = self.bend.mean(axis=2) * gradient[:, None] + self.tilt.mean(axis=2)
        return math.sqrt(((groups - gradient[:, None]) ** 2).sum(axis=-1).mean())


def squared_gradients(topology: Topology, problems: Problems, rates: Floats) -> Floats:
    """||grad F||^2 at x^(0)..x^(R), all rates and seeds at once: shape (R + 1, rates, seeds).

    A star takes all its members in one block, a ring takes them one by one; a block ends with its average.
    `check_against_reference` holds this to the literal algorithms.
    """
    top, low = topology.split("-")
    rounds, steps, seeds, groups, clients, _ = problems.noise.shape
    group_blocks = _blocks(groups, ring=top == "ring")
    client_blocks = _blocks(clients, ring=low == "ring")
    eta = (rates / (steps * len(group_blocks) * len(client_blocks))).reshape(-1, 1, 1, 1, 1)
    x = np.broadcast_to(problems.start, (len(rates), seeds, DIMENSION))
    squared = [(problems.full_gradient(x) ** 2).sum(axis=-1)]
    for r in range(rounds):
        for g in group_blocks:
            group_model = np.repeat(x[:, :, None], g.stop - g.start, axis=2)
            for m in client_blocks:
                local = np.repeat(group_model[:, :, :, None], m.stop - m.start, axis=3)
                for k in range(steps):
                    tilt = problems.tilt[:, g, m] + problems.noise[r, k][:, g, m]
                    local = local - eta * (problems.bend[:, g, m] * problems.full_gradient(local) + tilt)
                group_model = local.mean(axis=3)
            x = group_model.mean(axis=2)
        squared.append((problems.full_gradient(x) ** 2).sum(axis=-1))
    return np.stack(squared)


def _blocks(n: int, *, ring: bool) -> list[slice]:
    return [slice(i, i + 1) for i in range(n)] if ring else [slice(0, n)]


def scores(topology: Topology, problems: Problems, rates: Floats) -> tuple[Floats, Floats]:
    """Means of ||grad F||^2 over x^(0)..x^(R-1) and over x^(1)..x^(R), each (rates, seeds); inf: diverged."""
    with np.errstate(over="ignore", invalid="ignore"):
        squared = squared_gradients(topology, problems, rates)
        both = squared[:-1].mean(axis=0), squared[1:].mean(axis=0)
    first, without_start = (np.where(np.isfinite(mean), mean, np.inf) for mean in both)
    return first, without_start


def tuned_rate(topology: Topology, problems: Problems) -> float:
    """The best rate of the shared grid on these seeds.

    Raises:
        RuntimeError: it is the first or the last rate of the grid.
    """
    tried = np.arange(0, len(GRID), COARSE)
    while True:
        mean = scores(topology, problems, GRID[tried])[0].mean(axis=1)
        best = int(tried[mean.argmin()])
        if best in (0, len(GRID) - 1):
            raise RuntimeError(f"{topology}: the best rate {GRID[best]:g} is at the end of the grid")
        # Stop once both neighbours were tried, else look at every rate around the best one so far.
        if best - 1 in tried and best + 1 in tried:
            return float(GRID[best])
        tried = np.arange(max(0, best - COARSE), min(len(GRID), best + COARSE + 1))


def paired_ratio(numerator: Floats, denominator: Floats) -> tuple[float, float, float]:
    """The geometric mean of the seeds' ratios and its 95 % Student interval; nan if a run diverged."""
    logs = np.log(numerator) - np.log(denominator)
    if not np.isfinite(logs).all():
        return math.nan, math.nan, math.nan
    half_width = _student_975(len(logs) - 1) * logs.std(ddof=1) / math.sqrt(len(logs))
    ratio, low, high = np.exp(logs.mean() + np.array([0.0, -half_width, half_width]))
    return float(ratio), float(low), float(high)


def _student_975(freedom: int) -> float:
    """Cornish-Fisher expansion of the 97.5 % quantile: within 0.001 from 7 degrees of freedom on."""
    z, v = 1.959964, float(freedom)
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


def verdict(ratio: float, low: float, high: float) -> str:
    """What the interval says about the topology with one more ring.

    An interval that contains 1 and reaches beyond 2 % decides nothing; otherwise 2 % or less is a tie.
    """
    if math.isnan(ratio):
        return "diverged"
    if low <= 1 <= high and (low < 1 - TIE or high > 1 + TIE):
        return "cannot tell"
    if abs(ratio - 1) <= TIE:
        return "tie"
    return "ring better" if ratio < 1 else "ring worse"


def literal_squared_gradients(topology: Topology, problems: Problems, rate: float) -> list[float]:
    """What `squared_gradients` computes, for the first seed, by the algorithms as printed."""
    _, steps, _, groups, clients, _ = problems.noise.shape
    settings = Settings(topology, groups, clients, P=1, K=steps)
    top, low = topology.split("-")
    chain = steps * (groups if top == "ring" else 1) * (clients if low == "ring" else 1)
    x = problems.start[0]
    squared = [float((problems.full_gradient(x) ** 2).sum())]
    for noise in problems.noise[:, :, 0]:

        def gradient(g: int, p: int, m: int, k: int, y: Floats, noise: Floats = noise) -> Floats:
            tilt = problems.tilt[0, g, m] + noise[k, g, m]
            return np.asarray(problems.bend[0, g, m] * problems.full_gradient(y) + tilt)

        x = global_round(x, settings, rate / chain, gradient)
        squared.append(float((problems.full_gradient(x) ** 2).sum()))
    return squared


def check_against_reference() -> None:
    """Compares the fast steps with the literal algorithms on a small case of each topology and family.

    Raises:
        RuntimeError: they differ by more than rounding.
    """
    for family in FAMILIES:
        small = (3, 2, 2, 3)
        problems = Problems.draw(
            np.random.default_rng(0), family, delta=0.5, zeta=1.0, distance=1.0, seeds=1, shape=small
        )
        for topology in TOPOLOGIES:
            fast = squared_gradients(topology, problems, np.array([0.7]))[:, 0, 0]
            if not np.allclose(fast, literal_squared_gradients(topology, problems, 0.7), rtol=1e-12, atol=0):
                raise RuntimeError(f"{topology} on {family} is not the algorithm of validation.reference")


def rows(seeds: int, seed: int) -> Iterator[dict[str, object]]:
    """One row per scenario and pair."""
    scenarios = [(f, s, z, d) for f in FAMILIES for s in STARTS for z in ZETAS for d in DELTAS]
    began = time.monotonic()
    for done, (family, start, zeta, delta) in enumerate(scenarios, 1):
        tuning, scoring = (
            Problems.draw(
                np.random.default_rng([seed, phase]),
                family,
                delta=delta,
                zeta=zeta,
                distance=STARTS[start],
                seeds=seeds,
            )
            for phase in (0, 1)
        )
        rates = {topology: tuned_rate(topology, tuning) for topology in TOPOLOGIES}
        measured = {t: [s[0] for s in scores(t, scoring, np.array([rates[t]]))] for t in TOPOLOGIES}
        for one, other in PAIRS:
            ratio, low, high = paired_ratio(measured[one][0], measured[other][0])
            later, _, _ = paired_ratio(measured[one][1], measured[other][1])
            yield {
                "family": family,
                "start": start,
                "zeta_over_sigma": zeta,
                "delta_over_sigma": delta,
                "delta_over_sigma_at_start": f"{scoring.inter_group_at_start():.3f}",
                "ratio_of": f"{one} / {other}",
                "ratio": f"{ratio:.3f}",
                "ci95_low": f"{low:.3f}",
                "ci95_high": f"{high:.3f}",
                "verdict": verdict(ratio, low, high),
                "ratio_without_x0": f"{later:.3f}",
                "tuned_L_eta_eff": f"{rates[one]:.3g}",
                "tuned_L_eta_eff_of_other": f"{rates[other]:.3g}",
                "mean_squared_gradient": f"{measured[one][0].mean():.4g}",
                "mean_squared_gradient_of_other": f"{measured[other][0].mean():.4g}",
            }
        seconds = time.monotonic() - began
        print(f"\r{done}/{len(scenarios)} scenarios, {seconds:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def main() -> None:
    """Runs the experiment and writes one CSV file."""
    here = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description="Measured order of topologies by heterogeneity over noise.")
    parser.add_argument("--seeds", type=int, default=48, help="for tuning, and as many again for scoring; >= 8")
    parser.add_argument("--seed", type=int, default=0, help="root of all random numbers")
    parser.add_argument("--out", type=Path, default=here / "planner" / "data" / "order_by_regime.csv")
    options = parser.parse_args()
    if options.seeds < 8:
        parser.error("fewer than 8 seeds give no useful interval")
    check_against_reference()
    table = list(rows(options.seeds, options.seed))
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
