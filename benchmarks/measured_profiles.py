"""What `hfl-plan estimate` measures of every setting of `measured_curves.py`.

    python benchmarks/measured_profiles.py --out profiles.jsonl      # one JSON line per setting; goes on where it was
    python benchmarks/measured_profiles.py --out profiles.jsonl --write docs/evidence/measured_profiles.csv
    python benchmarks/measured_profiles.py --late      # writes how deviations and losses fall beside what lacks it
    python benchmarks/measured_profiles.py --labels    # writes the label shares of every problem beside its constants
    python benchmarks/measured_profiles.py --medians   # of the design settings, by kind of split: what presets are from

Constants are measured at four points of a short run of Star-Star, as by default. Networks with convolutions are left
out but for the smaller ones of ``conv``. Written are the largest constant of a run and their mean; of the curvature of
the mean loss the geometric mean; and the powers of the steps as which deviations and the loss fall late in a longer
run.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measured_curves import NESTED, ROLES, SCHEMES, Setting, settings
from torch import nn
from torch.nn import functional

from validation.client_losses import Partitioned
from validation.estimate import FOLLOWING, descend, estimate
from validation.experiment import make_problem
from validation.problems.images import Images

LATE = ("fading", "decay")  # measured by descent that goes on
SHARES = ("labels", "zeta of shares", "delta of shares")
PROBLEM = ("data", "hidden", "channels", "scheme", "G", "M", "seed")
WRITTEN = Path(__file__).resolve().parents[1] / "docs" / "evidence" / "measured_profiles.csv"


def losses(images: Images) -> Partitioned:
    """The clients' losses of a problem, as `estimate` wants them, from the same first iterate."""
    network = images.network
    layers: list[nn.Module] = []
    for plane, channels in zip(network.planes, network.channels, strict=False):
        layers += [nn.Conv2d(plane[0], channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Flatten()] if network.channels else []
    for inner, outer in itertools.pairwise(network.widths):
        layers += [nn.Linear(inner, outer), nn.ReLU()]
    module = nn.Sequential(*layers[:-1]).double()
    learned = [one for one in layers if isinstance(one, nn.Conv2d | nn.Linear)]
    for layer, weight in zip(learned, images.first, strict=True):
        told = weight[0].double()  # (outputs, inputs and ones) or its transpose
        told = told if told.shape[0] == len(layer.weight) else told.T
        layer.weight.data, layer.bias.data = told[:, :-1].reshape(layer.weight.shape), told[:, -1].contiguous()
    pixels, truth = images.pixels[:, :-1] if network.ones else images.pixels, images.labels.argmax(1)
    pixels = pixels.double() if network.ones else pixels.double().reshape(-1, *network.image)
    held = [torch.from_numpy(one) for one in images.split.samples]
    return Partitioned(
        module, tuple(images.split.groups), tuple(pixels[one] for one in held), tuple(truth[one] for one in held),
        functional.cross_entropy, images.batch, tuple(map(str, range(network.labels))),
    )  # fmt: skip


def profile(setting: Setting) -> dict[str, Any]:
    """The constants of one setting."""
    images = make_problem(setting.problem)
    if not isinstance(images, Images):
        raise TypeError(f"{setting} is no problem of images")
    told = losses(images)
    found = estimate(told, follow=FOLLOWING, nonnegative=True, seed=1000 + setting.seed)
    points = [
        {"step": one.step, "loss": one.loss}
        | {n: one.of(n).estimate for n in ("L", "curvature", "sigma", "zeta", "delta", "gradient")}
        for one in found.points
    ]
    return {"A": found.A.estimate, "rate": found.rate, "points": points, **asdict(found.followed)}


def write(source: Path, path: Path) -> None:
    """Write constants, a row for each problem; others that are written stay."""
    rows: list[dict[str, str]] = []
    for line in source.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        told = {"channels": 0, "hidden": 0, **found["problem"]["options"]}
        row = {name: told["partitioned" if name == "scheme" else name] for name in PROBLEM}
        row["scheme"] = "nested" if told["partitioned"] == NESTED["partitioned"] else row["scheme"]
        row |= {"A": f"{found['A']:.4g}", "loss": f"{found['points'][0]['loss']:.4g}"}
        for name in ("L", "sigma", "zeta", "delta"):
            seen = [point[name] for point in found["points"]]
            row |= {f"{name} largest": f"{max(seen):.4g}", f"{name} mean": f"{sum(seen) / len(seen):.4g}"}
        bent = [math.log(point["curvature"]) for point in found["points"]]
        rows.append(row | {"curvature": f"{math.exp(sum(bent) / len(bent)):.4g}"})
        rows[-1] |= {name: f"{found[name]:.3g}" for name in LATE if found.get(name) is not None}
    new = {_key(row) for row in rows}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if _key(row) not in new] + rows
    _written(rows, path)


def write_late(path: Path = WRITTEN) -> None:
    """Write how deviations and the loss fall for every problem whose constants lack it, one after the other."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {_key(one): one for one in settings()}
    for row in rows:
        if row.get("decay"):
            continue
        setting = found[_key(row)]
        images = make_problem(setting.problem)
        if isinstance(images, Images):
            late = descend(losses(images), float(row["curvature"]), nonnegative=True, seed=1000 + setting.seed)
            row |= {name: f"{power:.3g}" for name, power in asdict(late).items() if power is not None}
            print(row, file=sys.stderr)
            _written(rows, path)


def _written(rows: list[dict[str, str]], path: Path) -> None:
    """Write rows, of which those that lack something have it empty."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, head, restval="", lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def shares(images: Images) -> dict[str, str]:
    """How many labels there are, and the deviations of clients' label shares within groups and between them."""
    labels, groups = images.labels.argmax(1).numpy(), np.array(images.split.groups)
    counts = np.array([np.bincount(labels[held], minlength=images.network.labels) for held in images.split.samples])
    of_clients = counts / counts.sum(1, keepdims=True)
    of_groups = np.array([of_clients[groups == group].mean(0) for group in np.unique(groups)])
    own = of_groups[np.unique(groups, return_inverse=True)[1]]
    zeta, delta = ((found**2).sum(1).mean() ** 0.5 for found in (of_clients - own, of_groups - of_groups.mean(0)))
    return dict(zip(SHARES, (f"{counts.shape[1]}", f"{zeta:.4g}", f"{delta:.4g}"), strict=True))


def write_shares(path: Path = WRITTEN) -> None:
    """Write the label shares of every problem whose constants are written."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    problems = {_key(one): one.problem for one in settings()}
    for row in rows:
        images = make_problem(problems[_key(row)])
        if isinstance(images, Images):
            row |= shares(images)
    _written(rows, path)


def _key(one: Setting | dict[str, str]) -> tuple[str, ...]:
    """Of `PROBLEM`."""
    if isinstance(one, dict):
        return tuple(one[name] for name in PROBLEM)
    return tuple(map(str, (one.data, one.hidden, one.channels, one.scheme, *one.fleet[:2], one.seed)))


def medians(path: Path = WRITTEN) -> Iterator[str]:
    """Medians over the problems of the design settings, of each kind of split and of all."""
    design = {_key(one) for one in settings() if one.role == "design"}
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if _key(row) in design]
    for scheme in (*SCHEMES, "all"):
        some = [row for row in rows if scheme in (row["scheme"], "all")]
        found = {
            f"{name} / sigma": statistics.median(float(row[f"{name} mean"]) / float(row["sigma mean"]) for row in some)
            for name in ("zeta", "delta")
        }
        found["one label / sigma"] = statistics.median(one_label(row) for row in some)
        found |= {n: statistics.median(float(row[n]) for row in some) for n in ("sigma mean", "curvature", "loss")}
        yield f"{scheme:5} {len(some):2} problems: " + ", ".join(f"{n} {x:.3f}" for n, x in found.items())


def one_label(row: dict[str, str]) -> float:
    """How many sigma a client with a single label would stand from an even mixture, if its gradients were as shares."""
    measured = math.hypot(float(row["zeta mean"]), float(row["delta mean"])) / float(row["sigma mean"])
    labels, *deviations = (float(row[name]) for name in SHARES)
    return measured / math.hypot(*deviations) * math.sqrt(1 - 1 / labels)


def main(arguments: list[str] | None = None) -> int:
    """Measure what the file lacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="where lines are kept")
    parser.add_argument("--write", type=Path, help="measure nothing, and write what there is")
    parser.add_argument("--role", choices=ROLES, help="only settings of this role")
    parser.add_argument("--medians", action="store_true", help="measure nothing, and print medians of what is written")
    parser.add_argument(
        "--late", action="store_true", help="measure only how deviations and the loss fall, where that is not known"
    )
    parser.add_argument("--labels", action="store_true", help="measure nothing, and write label shares too")
    given = parser.parse_args(arguments)
    if given.late:
        write_late()
        return 0
    if given.labels:
        write_shares()
        return 0
    if given.medians:
        print("\n".join(medians()))
        return 0
    if given.out is None:
        parser.error("--out: is missing")
    if given.write:
        write(given.out, given.write)
        return 0
    torch.set_num_threads(1)
    lines = given.out.read_text(encoding="utf-8").splitlines() if given.out.exists() else []
    known = {json.dumps(json.loads(line)["problem"], sort_keys=True) for line in lines}
    for setting in settings():
        problem = json.dumps(setting.problem.described(), sort_keys=True)
        left_out = setting.channels and setting.role != "conv"
        if problem in known or left_out or given.role not in (None, setting.role):
            continue
        known.add(problem)
        clock = time.process_time()
        line = json.dumps({"problem": setting.problem.described(), **profile(setting)})
        with given.out.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        print(f"{setting}: {time.process_time() - clock:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
