"""Loss and accuracy of all eight topologies of three tiers on real data, and what predictions make of them.

    python benchmarks/three_tiers.py --store tiers.db      # runs what is missing, and writes all curves
    python benchmarks/three_tiers.py --profiles            # measures the constants of every setting
    python benchmarks/three_tiers.py                       # prints what predictors and pilots make of the curves
    python benchmarks/three_tiers.py --by scheme           # a table for each place where labels differ
    python benchmarks/three_tiers.py --record              # what answers say: planner/data/three_tiers_record.csv

Runs as those of `measured_curves.py`, judged as by `real_record.py`; but regions of servers of clients, with labels
that differ at the top (Dirichlet 0.1 between regions), in the middle (between the servers of a region), at the bottom
(between the clients of a server), everywhere (0.3 at each tier) or nowhere. A profile is that of `hfl-plan estimate`.
All settings were defined before the first was run; they judge, and nothing was chosen on them.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import measured_curves
import numpy as np
import real_record
import torch
from measured_profiles import losses
from real_record import METRIC, RIGHT, ROOT, TARGETS, Curves, Said

from planner.data import heterogeneity
from planner.predict.predictors import predictors
from planner.predict.question import Question, ask
from planner.scenario.resolve import load
from validation.estimate import FOLLOWING, estimate
from validation.experiment import Part, make_problem, part
from validation.problems.images import Images
from validation.store import Store

CURVES, PROFILES = ROOT / "three_tiers.csv", ROOT / "three_tiers_profiles.csv"
RECORD = ROOT.parents[1] / "planner" / "data" / "three_tiers_record.csv"
TOPOLOGIES = tuple("-".join(some) for some in itertools.product(("star", "ring"), repeat=3))
TIERS = ("top", "middle", "bottom")
DATA = (("fashion", 48), ("letter", 48), ("mnist5k", 48), ("penbased", 48), ("fashion", 0))
FLEETS = (  # sizes, passes and local steps
    ("3/4/5", "1/2/1", 1),
    ("2/3/10", "1/1/1", 5),
    ("4/4/4", "1/1/2", 2),
    ("5/2/8", "1/1/1", 3),
)
SCHEMES = {  # concentrations between regions, between the servers of a region, between the clients of a server
    "top": {"between": 0.1},
    "middle": {"inter": 0.1},
    "bottom": {"intra": 0.1},
    "everywhere": {"between": 0.3, "inter": 0.3, "intra": 0.3},
    "nowhere": {},
}
KINDS = {"top": "inter", "bottom": "intra", "everywhere": "both", "nowhere": "iid"}  # presets; the middle has none


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One fleet of three tiers, one split of one data set, one model.

    Attributes:
        data: of `validation.problems.real`.
        hidden: width of the hidden layer, 0 for softmax regression.
        scheme: of `SCHEMES`.
        sizes: children of a node of each tier, top first.
        passes: of each tier.
        K: local steps.
        seed: of the split and the first iterate.
        rounds: that are run.
    """

    data: str
    hidden: int
    scheme: str
    sizes: str
    passes: str
    K: int
    seed: int
    rounds: int = 100

    @property
    def problem(self) -> Part:
        """The problem of its cells."""
        samples, test = measured_curves.SIZES.get(self.data, (15000, 3000))
        regions, servers, clients = map(int, self.sizes.split("/"))
        return part(
            "real", data=self.data, samples=samples, test=test, hidden=self.hidden, G=regions * servers, M=clients,
            regions=regions, partitioned="dirichlet", seed=self.seed, **SCHEMES[self.scheme],
        )  # fmt: skip

    def algorithm(self, topology: str) -> Part:
        """One topology of its fleet."""
        return part("tree", topology=topology.replace("-", "/"), sizes=self.sizes, passes=self.passes, K=self.K)

    @property
    def moments(self) -> tuple[int, ...]:
        """After how many rounds to measure."""
        return measured_curves.moments(self.rounds)

    @property
    def told(self) -> dict[str, object]:
        """What its rows say of it."""
        return {name: getattr(self, name) for name in ("data", "hidden", "scheme", "sizes", "passes", "K", "seed")}


def settings() -> Iterator[Setting]:
    """In blocks of five that each have every data set, and labels that differ in every way, once."""
    for block, (i, (data, hidden)) in itertools.product(range(3), enumerate(DATA)):
        sizes, passes, K = FLEETS[(i + 2 * block) % len(FLEETS)]
        scheme = tuple(SCHEMES)[(i + block) % len(SCHEMES)]
        yield Setting(data=data, hidden=hidden, scheme=scheme, sizes=sizes, passes=passes, K=K, seed=61 + 5 * block + i)


def run(store: Store) -> None:
    """Run what the store lacks, and write all curves."""
    for setting, topology in itertools.product(settings(), TOPOLOGIES):
        clock = time.process_time()
        rates = sum(map(len, measured_curves.run(store, setting, topology)))
        print(f"{setting} {topology}: {rates} rates, {time.process_time() - clock:.0f} s", file=sys.stderr)
    measured_curves.write(
        [row for one in settings() for row in measured_curves.written(store, one, TOPOLOGIES)], CURVES
    )


# ---------------------------------------------------------------- what is known of a setting


def profile(setting: Setting) -> dict[str, object]:
    """What `estimate` says of it, and how far label shares differ in each tier."""
    images = make_problem(setting.problem)
    if not isinstance(images, Images):
        raise TypeError(f"{setting} is no problem of images")
    n = [int(size) for size in setting.sizes.split("/")]
    told = replace(losses(images), above=(tuple(server // n[1] for server in range(n[0] * n[1])),))
    seen = estimate(told, follow=FOLLOWING, nonnegative=True, seed=1000 + setting.seed)
    found = {
        "labels": images.network.labels,
        "L": seen.largest("L").estimate,
        "A": seen.A.estimate,
        "loss": seen.points[0].loss,
        "curvature": seen.typical("curvature").estimate,
        "sigma": seen.largest("sigma").estimate,
        **{tier: seen.largest(f"delta{i}").estimate for i, tier in enumerate(TIERS, 1)},
        **{f"{tier} of shares": one for tier, one in zip(TIERS, shares(images, n), strict=True)},
    }
    numbers = {name: f"{value:.4g}" for name, value in found.items()}
    return setting.told | numbers | {"fading": "" if seen.followed.fading is None else f"{seen.followed.fading:.3g}"}


def shares(images: Images, n: Sequence[int]) -> list[float]:
    """How far label shares are from their parents', root mean square of each tier, top first."""
    counts = images.split.counts(images.numbers.numpy()).astype(float)
    found, own = list[float](), (counts / counts.sum(1, keepdims=True)).reshape(*n, -1)
    for tier in reversed(range(3)):
        parents = own.mean(tier)
        found.insert(0, float(((own - parents[(..., None, slice(None))]) ** 2).sum(-1).mean() ** 0.5))
        own = parents
    return found


@cache
def profiles() -> dict[tuple[str, ...], dict[str, str]]:
    """What was measured of each setting."""
    with PROFILES.open(encoding="utf-8", newline="") as file:
        return {_key(row): row for row in csv.DictReader(file)}


def _key(told: Mapping[str, str]) -> tuple[str, ...]:
    return told["data"], told["hidden"], told["scheme"], told["sizes"], told["seed"]


def profile_of(curves: Curves) -> dict[str, str]:
    """What a profile tells."""
    found = profiles()[_key(curves.told)]
    return {
        "problem.smoothness": found["curvature"], "problem.sigma": found["sigma"],
        "problem.initial_gap": found["loss"], "problem.curvature_scatter": "1.25",
        "problem.heterogeneity": "/".join(found[tier] for tier in TIERS),
    }  # fmt: skip


def fading_of(curves: Curves) -> dict[str, str]:
    """What a profile tells, and how deviations fade."""
    return profile_of(curves) | {"problem.fading": profiles()[_key(curves.told)]["fading"]}


def largest_of(curves: Curves) -> dict[str, str]:
    """The same for a predictor that knows no curvature of the mean loss: the largest one of a client."""
    found = profiles()[_key(curves.told)]
    told = {"problem.smoothness": found["L"], "problem.initial_gap": found["A"], "problem.curvature_scatter": "0"}
    return profile_of(curves) | told


def labels_of(curves: Curves) -> dict[str, str]:
    """What label counts tell: the deviations of their shares, times how far one label stands."""
    found = profiles()[_key(curves.told)]
    unit = heterogeneity.one_label(heterogeneity.PROBLEM["sigma"], int(found["labels"]))
    return {"problem.heterogeneity": "/".join(f"{unit * float(found[f'{tier} of shares'])}" for tier in TIERS)}


def kind_of(curves: Curves) -> dict[str, str] | None:
    """The kind of split; None where it has no preset."""
    kind = KINDS.get(curves.told["scheme"])
    return None if kind is None else {"problem.heterogeneity": kind}


def asked(curves: Curves, after: int, metric: str, predictor: str, constants: Mapping[str, str]) -> Question:
    """The question of one row."""
    told = curves.told
    tiers = [
        {"count": int(size), "passes": int(passes)}
        for size, passes in zip(told["sizes"].split("/"), told["passes"].split("/"), strict=True)
    ]
    tiers[0].pop("passes")
    options = {
        "fleet.tiers": tiers, "fleet.local_steps": told["K"], "problem.rounds": str(after),
        "plan.predictor": predictor, "plan.metric": metric, **constants,
    }  # fmt: skip
    return ask(load(options={key: (key, value) for key, value in options.items()}))


def by(predictor: str, tell: Callable[[Curves], dict[str, str] | None]) -> Callable[[Curves, str, int], Said | None]:
    """A predictor that is told so much."""

    def say(curves: Curves, quantity: str, after: int) -> Said | None:
        metric = METRIC[quantity] if METRIC[quantity] in predictors()[predictor].metrics else "gradient"
        constants = tell(curves)
        return None if constants is None else real_record.predicted(asked(curves, after, metric, predictor, constants))

    return say


CONTESTANTS: dict[str, tuple[Callable[[Curves, str, int], Said | None], slice]] = {
    "`spectrum`, profile": (by("spectrum", profile_of), slice(None)),
    "`spectrum`, profile with fading": (by("spectrum", fading_of), slice(None)),
    "`spectrum`, label counts": (by("spectrum", labels_of), slice(None)),
    "`spectrum`, kind of split alone": (by("spectrum", kind_of), slice(None)),
    "`typical`, profile": (by("typical", largest_of), slice(None)),
    "pilot of 8 rounds, fresh noise": (real_record.by_pilot(8), slice(1, 2)),
    **{f"always {t}": (real_record.always(t), slice(None)) for t in TOPOLOGIES},
}


# ---------------------------------------------------------------- what answers say


def errors(curves: Curves, quantity: str, after: int, constants: Mapping[str, str] | None) -> list[float]:
    """Logarithms of measured over predicted ratios of each two topologies, with what is told; none without it."""
    if constants is None:
        return []
    one = asked(curves, after, METRIC[quantity], "spectrum", constants)
    runs, goal = curves.rounds_to(quantity, after), one.goal()
    off = [math.log(runs[t] / float(one.predictor.rounds_to(one, t, goal, one.values))) for t in runs]
    return [abs(a - b) for a, b in itertools.combinations(off, 2)]


def record(every: Sequence[Curves]) -> Iterator[dict[str, object]]:
    """How often first choices were right by what is told, and within which factor nine of ten ratios were."""
    sizes = np.array([one.told["sizes"].split("/") for one in every], dtype=int)
    tells = {"profile": profile_of, "fading": fading_of, "labels": labels_of, "kind": kind_of}
    for (quantity, metric), (told, tell) in itertools.product(METRIC.items(), tells.items()):
        rows = [row for row in real_record.judged(every, by("spectrum", tell)) if row["quantity"] == quantity]
        regret = np.array([float(str(row["regret"])) for row in rows])
        off = [error for one in every for after in TARGETS for error in errors(one, quantity, after, tell(one))]
        yield {
            "predictor": "spectrum", "record": f"{metric}_images", "tiers": 3, "told": told, "rows": len(rows),
            "settings": len({row["setting"] for row in rows}), "right": int((regret <= RIGHT).sum()),
            "regret_median": f"{np.median(regret):.3f}", "regret_p90": f"{np.quantile(regret, 0.9):.3f}",
            "regret_mean": f"{regret.mean():.3f}", "factor": f"{math.exp(np.quantile(off, 0.9)):.3g}",
            "largest": "/".join(map(str, sizes.max(0).tolist())), **real_record.rates_on_record(rows),
        }  # fmt: skip


def write(rows: Sequence[Mapping[str, object]], path: Path) -> None:
    """Write a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def main(arguments: list[str] | None = None) -> int:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, help="file of results; made, or gone on with")
    parser.add_argument("--profiles", action="store_true", help="measure the constants of every setting")
    parser.add_argument("--record", action="store_true", help="write what answers say")
    parser.add_argument("--by", choices=("scheme", "data", "sizes", "reference"), help="a table for each")
    parser.add_argument("--rows", type=Path, help="where to write every row")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if given.store:
        with Store(given.store) as store:
            run(store)
    elif given.profiles:
        write([profile(one) for one in settings()], PROFILES)
    elif given.record:
        write(list(record(real_record.settings(CURVES))), RECORD)
    else:
        real_record.print_tables(CONTESTANTS, real_record.settings(CURVES), TARGETS, given.by, given.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
