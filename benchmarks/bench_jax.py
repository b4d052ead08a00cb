"""How much faster local steps run than in JAX: ratios of the harness to JAX, on the perceptron W1 of bench_validation.

    python benchmarks/bench_jax.py [--repeats 5] [--topologies star-star,ring-ring] [--json]

JAX is what one would write there: a round is one compiled function, stars are mapped with ``vmap``, rings are a
``scan``, K steps are unrolled, and a sweep maps the round over its runs. Both sides begin with networks of one size,
see batches of the same size, and are called once a round; compiling is not in the times. The contestants take turns in
one process with one thread, and every ratio is of medians of processor times, as in bench_validation.py. Without JAX
(``pip install jax``, which nothing here needs) it says so and leaves.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

if __name__ == "__main__" and importlib.util.find_spec("jax") is None:
    sys.exit("JAX is not installed, so there is nothing to compare with: pip install jax")

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import jax
import torch
from bench_validation import PATHS, RATE, TOPOLOGIES, WORKLOADS, K, Plain, Row, stacked, timed
from jax import lax
from jax import numpy as jnp

from validation.problems.images import Images

Tree = Any


class Jax:
    """One topology of the perceptron, every client with as many samples as the one with fewest: shapes are fixed."""

    def __init__(self, made: Images, topology: str, groups: int, runs: Sequence[tuple[float, int]]) -> None:
        top, low = (side == "ring" for side in topology.split("-"))
        held = [samples.astype(np.int64) for samples in made.split.samples]
        samples = np.stack([one[: min(map(len, held))] for one in held]).reshape(groups, made.clients // groups, -1)
        pixels = made.pixels.numpy()[:, : made.network.widths[0]]
        data = jnp.asarray(pixels[samples]), jnp.asarray(made.labels.argmax(1).numpy()[samples])
        client = partial(_client, made.batch)

        def one_round(model: Tree, key: Tree, rate: Tree) -> Tree:
            keys = jax.random.split(key, samples.shape[:2])
            return _tier(top, partial(_tier, low, client), model, (*data, keys), rate)

        self.round = jax.jit(jax.vmap(one_round) if len(runs) > 1 else one_round)
        self.rates = jnp.asarray([rate for rate, _ in runs])
        self.keys = jax.vmap(jax.random.key)(jnp.asarray([seed for _, seed in runs]))
        widths = made.network.widths
        keys = jax.random.split(jax.random.key(0), len(widths) - 1)
        shapes = zip(keys, widths, widths[1:], strict=False)
        self.model: Tree = [(jax.random.normal(k, (a, b)) / a**0.5, jnp.zeros(b)) for k, a, b in shapes]
        if len(runs) > 1:
            self.model = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (len(runs), *leaf.shape)), self.model)
        else:
            self.rates, self.keys = self.rates[0], self.keys[0]

    def run(self, rounds: int) -> None:
        """So many global rounds."""
        for _ in range(rounds):
            self.model = self.round(self.model, self.keys, self.rates)
        jax.block_until_ready(self.model)


def _tier(ring: bool, member: Callable[..., Tree], model: Tree, data: Tree, rate: Tree) -> Tree:
    """One after the other, or side by side and averaged."""
    if ring:
        return lax.scan(lambda here, one: (member(here, one, rate), None), model, data)[0]
    return jax.tree.map(lambda leaf: leaf.mean(0), jax.vmap(member, (None, 0, None))(model, data, rate))


def _client(batch: int, model: Tree, data: Tree, rate: Tree) -> Tree:
    """K local steps."""
    pixels, labels, key = data
    for one in jax.random.split(key, K):
        chosen = jax.random.randint(one, (batch,), 0, len(pixels))
        slopes = jax.grad(_loss)(model, pixels[chosen], labels[chosen])
        model = jax.tree.map(lambda leaf, slope: leaf - rate * slope, model, slopes)
    return model


def _loss(model: Tree, pixels: Tree, labels: Tree) -> Tree:
    here = pixels
    for weights, biases in model[:-1]:
        here = jax.nn.relu(here @ weights + biases)
    logits = jax.nn.log_softmax(here @ model[-1][0] + model[-1][1])
    return -jnp.take_along_axis(logits, labels[:, None], 1).mean()


def row(topology: str, repeats: int) -> Row:
    """One topology: times faster than the plain loop, and than JAX."""
    told = WORKLOADS["W1"]
    made = told.make(G=told.G, M=told.M)
    kinds = {
        "one": ([(RATE, 0)], told.rounds),
        "sweep": ([(RATE * 1.1**rate, seed) for rate in range(told.sweep[0]) for seed in range(told.sweep[1])], 2),
    }
    plain = Plain(made, topology, told.G)
    rivals = {kind: Jax(made, topology, told.G, runs) for kind, (runs, _) in kinds.items()}
    seen: dict[str, list[float]] = {}
    for turn in range(repeats + 1):
        times = {"plain": timed(plain.round)}
        for kind, (runs, rounds) in kinds.items():
            times[f"jax_{kind}"] = timed(partial(rivals[kind].run, rounds)) / rounds / len(runs)
            for path in PATHS:
                times[f"{path}_{kind}"] = stacked(made, topology, told.G, runs, rounds, path)
        for name, seconds in times.items():
            if turn:  # the first warms up
                seen.setdefault(name, []).append(seconds)
    took = {name: statistics.median(column) for name, column in seen.items()}
    found: Row = {"topology": topology, "plain_ms": took["plain"] * 1e3}
    for kind in kinds:
        found[f"jax_{kind}"] = took["plain"] / took[f"jax_{kind}"]
        found |= {f"{path}_over_jax_{kind}": took[f"jax_{kind}"] / took[f"{path}_{kind}"] for path in PATHS}
    return found


def main() -> int:
    """Measure, and print a table or one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="of every timing; medians count")
    parser.add_argument("--topologies", default=",".join(TOPOLOGIES), help="which, separated by commas")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    options = parser.parse_args()
    topologies = options.topologies.split(",")
    if options.repeats < 1 or not set(topologies) <= set(TOPOLOGIES):
        parser.error("give at least 1 repeat, and two-tier topologies")
    torch.set_num_threads(1)
    if not options.json:
        columns = "".join(f"{name:>18}" for kind in ("one", "sweep") for name in (f"JAX, {kind}", "torch", "compiled"))
        print(f"JAX: times faster than the plain loop; torch, compiled: times faster than JAX\n{'':10}{columns}")
    rows = []
    for topology in topologies:
        rows.append(found := row(topology, options.repeats))
        if not options.json:
            numbers = [found[name] for name in found if name not in ("topology", "plain_ms")]
            print(f"{topology:<10}" + "".join(f"{number:18.2f}" for number in numbers), flush=True)
    if options.json:
        print(json.dumps({"schema": "hfl-plan/bench-jax/1", "about": {"jax": jax.__version__}, "rows": rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
