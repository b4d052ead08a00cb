"""Loss and accuracy of every topology on real data, round by round: what predictions by loss are judged on.

    python benchmarks/measured_curves.py --store curves.db               # runs what is missing
    python benchmarks/measured_curves.py --store curves.db --role design,kept  # a part of it
    python benchmarks/measured_curves.py --store curves.db --write docs/evidence/measured_curves.csv  # of what there is
    python benchmarks/measured_curves.py --store steps.db --role steps,steps2 --write docs/evidence/measured_steps.csv
    python benchmarks/measured_curves.py --store steps.db --role passes --write docs/evidence/measured_passes.csv

Fashion-MNIST averaged to 14 x 14 pixels, letters and 5,000 digits of MNIST; softmax regression, a perceptron with 48
hidden units, a small convolutional network on all 28 x 28 pixels; the four schemes of zhou2026, Appendix B.1 (Dirichlet
0.1). Every topology runs at raw rates a factor 1.8 apart, two noise seeds each, and the grid is extended until no best
rate, by training loss or test error, early or late, is at its end; ``--noise 2`` then runs one seed more of the same.
Measured are the training loss of the global model on all training samples and its error on the test samples.

Settings have a role: ``design``, on which a predictor is chosen; ``second``, which after a first look decided what
curvature a profile gives; ``kept``, which judges it: other fleets, other seeds, other data; ``kept2``, run after a
later choice to judge that one; ``kept3``, of which each has a split and a first model of its own; ``kept4``, mostly
of groups that differ, half of them data that a network fits, which judges what is said of such data; ``kept5``,
which judges how much less rings gain than is predicted; and ``long``, of
200 rounds or 2,000, three noise seeds, more group rounds and networks with convolutions, which judges answers that
draw errors of all others. ``conv`` are small convolutional networks alone, which judge what is said of them. Each
problem of ``steps`` and ``steps2`` is run with 2, 4 and 12 local steps: what is said of steps is chosen on the first,
and the second judges it. ``passes`` are the same problems with 2 local steps and more group rounds, which judge what is
said of these. Written are, for each topology, quantity and noise seed, the smoothed least over rates at some
rounds and the rate that has it: what `benchmarks/real_record.py` reads.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from hflbounds.topology import all_topologies
from validation.engine import Trace
from validation.experiment import Cell, Part, make_algorithm, make_problem, part
from validation.store import Store, work

RATES = tuple(0.02 * 1.8**i for i in range(8))  # raw; extended by the same factor
FURTHER, MOST = 2, 5  # rates more where the best is at an end, and how often
NOISE = (0, 1)  # seeds, unless a setting has others
WRITTEN = (*range(1, 31), 36, 46, 60, 80, 98, 120, 200, 400, 800, 1400, 2000)
RATED = (4, 7, 18, 46, 98)  # rounds at which the best rate is written
TOPOLOGIES = tuple(all_topologies(2))
SCHEMES = ("iid", "intra", "inter", "both")
USUAL = ("design", "second", "kept", "kept2", "kept3", "kept4", "kept5", "long", "many", "conv")  # unless told
ROLES = (*USUAL, "steps", "steps2", "passes")
STEPS = {2: 80, 4: 80, 12: 80, 48: 40}  # local steps of one problem, and the rounds that are run with them
PASSES = {4: 80, 12: 60}  # the same of group rounds, with 2 local steps
SIZES = {  # samples; of them for the test
    "fashion": (20000, 4000), "mnist5k": (5000, 1000), "texture": (5500, 1000), "optdigits": (5600, 1000),
    "satimage": (6400, 1200), "channels": (10000, 2000), "conv": (5000, 1000),
}  # fmt: skip
NESTED = {"partitioned": "dirichlet", "inter": 0.3, "intra": 0.3}  # clients within groups that differ themselves


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One fleet, one split of one data set, one model.

    Attributes:
        role: of `ROLES`.
        data: of `validation.problems.real`.
        hidden: width of the hidden layer, 0 for softmax regression.
        scheme: of the split; ``nested`` is `NESTED`.
        fleet: G, M, P, K.
        seed: of the split and the first iterate.
        rounds: that are run.
        drawn: groups and clients of each that take part, None for all.
        order: of rings.
        channels: of the first convolution, 0 for a network without any.
        noise: seeds, which decide how far the grid goes.
    """

    role: str
    data: str
    hidden: int
    scheme: str
    fleet: tuple[int, int, int, int]
    seed: int
    rounds: int = 100
    drawn: tuple[int, int] | None = None
    order: str = "fixed"
    channels: int = 0
    noise: tuple[int, ...] = NOISE

    @property
    def problem(self) -> Part:
        """The problem of its cells."""
        samples, test = SIZES.get(self.data, (15000, 3000))
        G, M, *_ = self.fleet
        split: dict[str, int | float | str] = {"partitioned": self.scheme, "seed": self.seed}
        if self.scheme == "nested":
            split |= NESTED
        if self.channels:
            samples, test = SIZES.get(self.role, SIZES["channels"])
            return part(
                "real", data=self.data, samples=samples, test=test, side=28, channels=self.channels, G=G, M=M, **split,
            )  # fmt: skip
        return part("real", data=self.data, samples=samples, test=test, hidden=self.hidden, G=G, M=M, **split)

    def algorithm(self, topology: str) -> Part:
        """One topology of its fleet."""
        G, M, P, K = self.fleet
        extra: dict[str, int | str] = {"order": self.order} if self.order != "fixed" else {}
        if self.drawn:
            extra |= {"S1": self.drawn[0], "S2": self.drawn[1]}
        return part("two-tier", topology=topology, G=G, M=M, P=P, K=K, **extra)

    @property
    def moments(self) -> tuple[int, ...]:
        """After how many rounds to measure."""
        return moments(self.rounds)

    @property
    def told(self) -> dict[str, object]:
        """What its rows say of it."""
        G, M, P, K = self.fleet
        S1, S2 = self.drawn or (G, M)
        return {
            "role": self.role, "data": self.data, "hidden": self.hidden, "channels": self.channels,
            "scheme": self.scheme, "G": G, "M": M, "P": P, "K": K, "S1": S1, "S2": S2, "order": self.order,
            "seed": self.seed,
        }  # fmt: skip


def moments(rounds: int) -> tuple[int, ...]:
    """After how many of so many rounds to measure: each of the first 30, then ever fewer."""
    later = np.arange(30, 100, 2), np.arange(100, 200, 4), np.arange(200, rounds + 1, 40)
    every = [*range(1, 31), *np.concatenate(later).tolist(), rounds]
    return tuple(sorted({int(r) for r in every if r <= rounds}))


def settings() -> tuple[Setting, ...]:
    """All of them, in the order of running."""
    out = [
        Setting(role="design", data="fashion", hidden=hidden, scheme=scheme, fleet=fleet, seed=0)
        for fleet in ((10, 10, 1, 2), (5, 20, 2, 1), (20, 5, 1, 5))
        for hidden, scheme in itertools.product((48, 0), SCHEMES)
    ]
    kept = [
        ("fashion", ((4, 10, 2, 3), (25, 4, 1, 2)), (48, 0), 1),
        ("letter", ((10, 10, 1, 4),), (48, 0), 2),
        ("fashion", ((8, 8, 1, 10), (3, 30, 5, 1)), (48,), 3),
        ("mnist5k", ((6, 10, 1, 3),), (48, 0), 4),
        ("letter", ((5, 12, 3, 2),), (48,), 5),
    ]
    for data, fleets, widths, seed in kept:
        out += [
            Setting(
                role="second" if seed < 3 else "kept", data=data, hidden=hidden, scheme=scheme, fleet=fleet, seed=seed
            )
            for fleet, hidden, scheme in itertools.product(fleets, widths, SCHEMES)
        ]
    for role, fleet, seed in (
        ("design", (10, 10, 1, 2), 0),
        ("second", (4, 10, 2, 3), 1),
    ):  # as above, but for the order
        out += [
            Setting(role=role, data="fashion", hidden=48, scheme=scheme, fleet=fleet, seed=seed, order="random")
            for scheme in SCHEMES
        ]
    fleet = (10, 10, 1, 2)
    out += [
        Setting(role="kept", data="fashion", hidden=48, scheme=scheme, fleet=fleet, seed=7, drawn=(5, 5))
        for scheme in SCHEMES
    ]
    # In an order that does not matter, so that what there is of it is a fair part; what takes longest comes last.
    out = [out[i] for i in np.random.default_rng(0).permutation(len(out))]
    out += [
        Setting(role="kept", data="fashion", hidden=0, channels=4, scheme=scheme, fleet=fleet, seed=9, rounds=40)
        for scheme in SCHEMES
    ]
    out += [
        Setting(role="kept", data="fashion", hidden=hidden, scheme="inter", fleet=fleet, seed=8, rounds=2000)
        for hidden in (48, 0)
    ]
    later = (
        ("fashion", (6, 16, 1, 3), 48, 11),
        ("fashion", (16, 5, 1, 4), 0, 12),
        ("penbased", (12, 6, 2, 2), 48, 13),
        ("mnist5k", (5, 10, 2, 4), 48, 14),
    )
    out += [
        Setting(role="kept2", data=data, hidden=hidden, scheme=scheme, fleet=fleet, seed=seed)
        for scheme in ("both", "nested", "inter", "intra")
        for data, fleet, hidden, seed in later
    ]
    return (
        *out, *judging(), *judging_fits(), *judging_longer(), *judging_steps(), *convolutions(), *steps(),
        *judging_gains(), *passes(),
    )  # fmt: skip


def judging() -> Iterator[Setting]:
    """The settings ``kept3``, in blocks of five that each have every data set and every fleet once."""
    data = (("fashion", 48), ("penbased", 48), ("mnist5k", 48), ("texture", 48), ("fashion", 0))
    fleets = ((7, 12, 1, 4), (12, 8, 2, 1), (9, 9, 1, 5), (4, 15, 3, 2), (14, 4, 2, 3))
    for block, (i, (name, hidden)) in itertools.product(range(3), enumerate(data)):
        scheme = ("nested", "inter", "intra", "both")[(i + block) % 4]
        fleet, seed = fleets[(2 * i + block) % 5], 21 + 5 * block + i
        yield Setting(role="kept3", data=name, hidden=hidden, scheme=scheme, fleet=fleet, seed=seed)


def judging_fits() -> Iterator[Setting]:
    """The settings ``kept4``, three for each data set and model: groups differ in most, every other can be fitted."""
    data = ("penbased", "fashion", "texture", "satimage", "mnist5k", "letter", "optdigits", "fashion")
    fleets = ((8, 12, 1, 3), (5, 16, 2, 2), (15, 6, 1, 4), (10, 7, 3, 1), (6, 9, 1, 6))
    for block, (i, name) in itertools.product(range(3), enumerate(data)):
        scheme = ("inter", "nested", ("both", "inter", "intra", "nested")[i // 2])[(block + i) % 3]
        hidden = 0 if i == 7 else 48
        fleet, seed = fleets[(2 * block + i) % 5], 41 + 8 * block + i
        yield Setting(role="kept4", data=name, hidden=hidden, scheme=scheme, fleet=fleet, seed=seed)


def judging_gains() -> Iterator[Setting]:
    """The settings ``kept5``, in blocks of four that each have every data set, split and fleet once."""
    data = (("fashion", 48), ("letter", 48), ("optdigits", 48), ("fashion", 0))
    fleets = ((9, 7, 1, 3), (5, 9, 2, 2), (12, 5, 1, 6), (7, 6, 3, 1))
    for block, (i, (name, hidden)) in itertools.product(range(4), enumerate(data)):
        scheme, fleet = ("inter", "intra", "nested", "both")[(i + block) % 4], fleets[(2 * block + i) % 4]
        yield Setting(role="kept5", data=name, hidden=hidden, scheme=scheme, fleet=fleet, seed=201 + 4 * block + i)


def judging_longer() -> Iterator[Setting]:
    """The settings ``long``, in blocks of four that each have every model and split once; two runs after one.

    Networks with convolutions take a fleet, rounds and seeds for which a topology takes minutes of one core.
    """
    models = (("fashion", 48, 0), ("letter", 48, 0), ("mnist5k", 0, 0), ("fashion", 0, 4))
    fleets = ((6, 5, 5, 2), (5, 4, 10, 2), (4, 8, 8, 1), (8, 5, 3, 4))
    for block, (i, (data, hidden, channels)) in itertools.product(range(4), enumerate(models)):
        scheme, fleet = ("inter", "intra", "nested", "both")[(i + block) % 4], fleets[(block - i) % 4]
        yield Setting(
            role="long", data=data, hidden=hidden, channels=channels, scheme=scheme,
            fleet=(5, 4, 2, 2) if channels else fleet, seed=71 + 4 * block + i, rounds=80 if channels else 200,
            noise=NOISE if channels else (0, 1, 2),
        )  # fmt: skip
        if (block, i) in ((0, 3), (1, 3)):
            yield Setting(
                role="long", data=("fashion", "letter")[block], hidden=48, scheme="inter", fleet=(5, 4, 1, 2),
                seed=91 + block, rounds=2000, noise=(0, 1, 2),
            )  # fmt: skip


def judging_steps() -> Iterator[Setting]:
    """The settings ``many``, in blocks of four that each have every model, split and fleet once; then two even ones."""
    models = (("fashion", 48), ("letter", 48), ("mnist5k", 0), ("penbased", 48))
    fleets = ((5, 6, 1, 20), (6, 4, 2, 15), (4, 5, 1, 50), (8, 4, 5, 10))
    for block, (i, (data, hidden)) in itertools.product(range(4), enumerate(models)):
        scheme, fleet = ("intra", "inter", "nested", "both")[(i + block) % 4], fleets[(2 * block - i) % 4]
        yield Setting(
            role="many", data=data, hidden=hidden, scheme=scheme, fleet=fleet, seed=121 + 4 * block + i, rounds=60,
        )  # fmt: skip
    for seed, (data, fleet) in enumerate((("letter", (8, 4, 5, 10)), ("fashion", (4, 5, 1, 50))), 137):
        yield Setting(role="many", data=data, hidden=48, scheme="iid", fleet=fleet, seed=seed, rounds=60)


def convolutions() -> Iterator[Setting]:
    """The settings ``conv``, in blocks of four that each have every split and fleet once: networks of 4,266 weights."""
    fleets = ((6, 5, 1, 4), (4, 6, 2, 3), (5, 4, 1, 10), (8, 4, 2, 2))
    for block, i in itertools.product(range(2), range(4)):
        yield Setting(
            role="conv", data=("fashion", "mnist5k")[(block + i) % 2], hidden=0, channels=4,
            scheme=("inter", "intra", "nested", "both")[i], fleet=fleets[(block - i) % 4], seed=151 + 4 * block + i,
            rounds=60,
        )  # fmt: skip


def steps() -> Iterator[Setting]:
    """The settings ``steps`` and ``steps2``: every data set twice in each, with another split and another model."""
    data = ("fashion", "letter", "mnist5k", "penbased")
    for half, block, (i, name) in itertools.product(range(2), range(2), enumerate(data)):
        scheme, fleet = ("intra", "iid", "both", "inter")[(i + 2 * block + half) % 4], ((5, 4), (4, 6))[half]
        for K, rounds in STEPS.items():
            yield Setting(
                role=("steps", "steps2")[half], data=name, hidden=48, scheme=scheme, fleet=(*fleet, 1, K),
                seed=101 + 8 * half + 4 * block + i, rounds=rounds,
            )  # fmt: skip


def passes() -> Iterator[Setting]:
    """The settings ``passes``: the problems of ``steps`` and ``steps2`` with more group rounds of 2 local steps."""
    for one, (P, rounds) in itertools.product(steps(), PASSES.items()):
        G, M, _, K = one.fleet
        if min(STEPS) == K:
            yield replace(one, role="passes", fleet=(G, M, P, K), rounds=rounds)


def cell(setting: Setting, topology: str, rates: tuple[float, ...], seeds: tuple[int, ...] | None = None) -> Cell:
    """All rates and noise seeds of one topology, its own unless others are named."""
    noise, algorithm = seeds or setting.noise, setting.algorithm(topology)
    chain = make_algorithm(algorithm).local_steps_per_round()
    return Cell(
        setting.problem,
        algorithm,
        tuple(rate * chain for rate in rates for _ in noise),
        noise * len(rates),
        setting.rounds,
        setting.moments,
    )


def run(store: Store, setting: Setting, topology: str) -> dict[tuple[float, ...], Trace]:
    """Run one topology of a setting until its best rates are inside the grid; gives the cells by their rates."""
    done: dict[float, Mapping[str, NDArray[np.float64]]] = {}
    cells: dict[tuple[float, ...], Trace] = {}
    wanted = RATES
    for _ in range(MOST):
        cells[wanted] = trace = _trace(store, cell(setting, topology, wanted))
        done |= _means(trace, wanted, len(setting.noise))
        wanted = missing(done, setting)
        if not wanted:
            break
    return cells


def _means(trace: Trace, rates: tuple[float, ...], seeds: int) -> dict[float, Mapping[str, NDArray[np.float64]]]:
    """Means over the noise seeds, by rate and quantity."""
    of = {name: np.array(values.tolist()).reshape(len(rates), seeds, -1) for name, values in trace.values.items()}
    return {rate: {name: values[i].mean(0) for name, values in of.items()} for i, rate in enumerate(rates)}


def _trace(store: Store, one: Cell) -> Trace:
    store.add([one])
    if not store.finished(one):
        work(store, [one])
    trace = store.get(one)
    if trace is None:
        raise RuntimeError(f"{one} was run, and the store has no trace of it")
    return trace


def missing(done: Mapping[float, Mapping[str, NDArray[np.float64]]], setting: Setting) -> tuple[float, ...]:
    """Rates beyond an end of the grid at which some quantity is best at some moment."""
    rates = sorted(done)
    places = [setting.moments.index(r) for r in (5, 10, 20, 30, 60) if r <= setting.rounds] + [len(setting.moments) - 1]
    best = {
        min(rates, key=lambda rate: (np.nan_to_num(done[rate][name][max(0, p - 2) : p + 1].mean(), nan=np.inf), rate))
        for name in ("loss", "error")
        for p in places
    }
    below = [rates[0] / 1.8**i for i in range(FURTHER, 0, -1)] if rates[0] in best else []
    above = [rates[-1] * 1.8**i for i in range(1, FURTHER + 1)] if rates[-1] in best else []
    return (*below, *above)


def smoothed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over three neighbouring moments, two at the ends; infinite where a run has diverged."""
    safe = np.where(np.isfinite(values), values, 1e30)
    padded = np.concatenate([safe[..., :1], safe, safe[..., -1:]], -1)
    means = (padded[..., :-2] + padded[..., 1:-1] + padded[..., 2:]) / 3
    return np.where(means < 1e20, means, np.inf)


def written(store: Store, setting: Setting, topologies: tuple[str, ...] = TOPOLOGIES) -> Iterator[dict[str, object]]:
    """A row for each topology, quantity and noise seed of a setting; nothing where not all of it was run."""
    traces = {topology: _known(store, setting, topology) for topology in topologies}
    if not all(traces.values()):
        return
    problem = make_problem(setting.problem)
    start = problem.measure(problem.start())
    kept = [i for i, r in enumerate(setting.moments) if r in WRITTEN]
    for topology, cells in traces.items():
        rates = [rate for one in cells for rate in one]
        for quantity in ("loss", "error"):
            of_seed = [
                np.concatenate(
                    [np.array(t.values[quantity].tolist())[at :: len(setting.noise)] for t in cells.values()]
                )
                for at in range(len(setting.noise))
            ]
            for seed, values in zip(setting.noise, of_seed, strict=True):
                curves = smoothed(values)
                best = {setting.moments[i]: f"{rates[curves[:, i].argmin()]:.4g}" for i in kept}
                yield {
                    **setting.told, "topology": topology, "quantity": quantity, "noise": seed,
                    **{f"rate {r}": best.get(r, "") for r in RATED},
                    "0": f"{float(start[quantity][0]):.4g}",
                    **{str(setting.moments[i]): f"{curves[:, i].min():.4g}" for i in kept},
                }  # fmt: skip


def _known(store: Store, setting: Setting, topology: str) -> dict[tuple[float, ...], Trace]:
    """What was run of one topology by its rates, if all of it was."""
    done: dict[float, Mapping[str, NDArray[np.float64]]] = {}
    cells: dict[tuple[float, ...], Trace] = {}
    wanted = RATES
    for _ in range(MOST):
        one = cell(setting, topology, wanted)
        store.add([one])
        if not store.finished(one) or (trace := store.get(one)) is None:
            return {}
        cells[wanted] = trace
        done |= _means(trace, wanted, len(setting.noise))
        wanted = missing(done, setting)
        if not wanted:
            break
    return cells


def write(rows: Sequence[Mapping[str, object]], path: Path) -> None:
    """Write what `written` gives."""
    head = [name for name in rows[0] if not name.isdigit()] + ["0", *map(str, WRITTEN)]
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, head, restval="", lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def main(arguments: list[str] | None = None) -> int:
    """Run what the store lacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="file of the results; made, or gone on with")
    parser.add_argument("--role", default=",".join(USUAL), help=f"settings, of {', '.join(ROLES)}")
    parser.add_argument("--noise", type=int, help="then one run more of everything, with this seed")
    parser.add_argument("--within", type=float, default=float("inf"), help="minutes after which no more is begun")
    parser.add_argument("--write", type=Path, help="run nothing, and write what there is")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    begun = time.monotonic()
    chosen = [one for one in settings() if one.role in given.role.split(",")]
    with Store(given.store) as store:
        if given.write:
            write([row for setting in chosen for row in written(store, setting)], given.write)
            return 0
        for number, (setting, topology) in enumerate(_all(chosen), 1):
            if time.monotonic() - begun > 60 * given.within:
                break
            clock = time.process_time()
            rates = tuple(sorted(rate for one in run(store, setting, topology) for rate in one))
            if given.noise is not None:
                _trace(store, cell(setting, topology, rates, (given.noise,)))
            spent = time.process_time() - clock
            print(
                f"{number}/{4 * len(chosen)} {setting} {topology}: {len(rates)} rates, {spent:.0f} s", file=sys.stderr
            )
    return 0


def _all(chosen: list[Setting]) -> Iterator[tuple[Setting, str]]:
    yield from itertools.product(chosen, TOPOLOGIES)


if __name__ == "__main__":
    sys.exit(main())
