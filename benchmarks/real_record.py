"""What predictors and pilots make of the runs on real data: first choices, ratios of rounds, learning rates.

    python benchmarks/real_record.py                 # design settings: what a choice may be made on
    python benchmarks/real_record.py --role kept     # what judges it; also kept2 to kept4, long, or several
    python benchmarks/real_record.py --role kept --rows rows.csv   # and every row
    python benchmarks/real_record.py --role design,second,kept,kept2,kept3 --by fits   # a table for each kind
    python benchmarks/real_record.py --role kept --after 400,2000  # targets far away
    python benchmarks/real_record.py --role kept --one-sigma       # with other defaults; also --fading 0.2
    python benchmarks/real_record.py --role conv --other-constants # profiles with one constant changed
    python benchmarks/real_record.py --role design,second --gains  # gains over stars, and how far ratios are off
    python benchmarks/real_record.py --write   # of all that judge, what answers show: planner/data/real_record.csv
    python benchmarks/real_record.py --errors   # of all: record_loss_images.csv and the like
    python benchmarks/real_record.py --scale    # of those that judge: scale_record.csv, rounds to a loss that is given;
                                                # and of a pilot, beyond its last round: beyond_record.csv
    python benchmarks/real_record.py --role long --scale   # the same of others, printed

Reads ``docs/evidence/measured_curves.csv`` and ``measured_profiles.csv``. A row is a setting, a quantity (training
loss, test error) and a target: what Star-Star has after 6, 18 or 46 rounds at its best rate. Rounds are the first at
which a topology is there, at its own best rate, interpolated; where it never is, all that were run. Regret: rounds of
the topology named over the fewest, less 1; right: at most 2 %. Of topologies that are predicted to take equally many
rounds the one with less left by then is named.

Predictors are told the fleet and either the constants of a profile, or the kind of split alone. A pilot has seen the
curves of one noise seed up to a horizon, of which the last round is used for smoothing, and is judged by those of the
other. Intervals resample settings.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from predictor_record import ordered

from planner.data import heterogeneity
from planner.data.race_curves import continued, kept
from planner.predict.evidence import predictor_record
from planner.predict.evidence.orderings import REAL
from planner.predict.predictors import predictors, spectrum
from planner.predict.question import Question, ask
from planner.scenario.resolve import Scenario, load

Array = npt.NDArray[np.float64]
ROOT = Path(__file__).resolve().parents[1] / "docs" / "evidence"
DATA = ROOT.parents[1] / "planner" / "data"
SCALE, BEYOND = DATA / "scale_record.csv", DATA / "beyond_record.csv"
TOPOLOGIES = ("star-star", "star-ring", "ring-star", "ring-ring")
SETTING = ("role", "data", "hidden", "channels", "scheme", "G", "M", "P", "K", "S1", "S2", "order", "seed")
PROBLEM = ("data", "hidden", "channels", "scheme", "G", "M", "seed")  # what a profile is of
SCHEMES = ("iid", "intra", "inter", "both")
TARGETS = (6, 18, 46)  # rounds of Star-Star
HORIZONS = (5, 8, 19)  # of pilots
RIGHT = 0.02
FITTED, WITHIN = 0.05, 98  # a training loss that counts as 0, and after how many rounds
JUDGED = ("kept", "kept2", "kept3", "kept4")  # of which answers show how often first choices were right
MANY = ("many", "steps", "steps2")  # roles of settings with over `predictor_record.MANY_STEPS` local steps in a round
ANSWERED = ("design", "second", *JUDGED)  # of which answers draw errors
ROLES = (*ANSWERED, "kept5", "long", "many", "conv")
GROUPS_DIFFER = ("inter", "nested", "top", "middle", "everywhere")
LIKE = {"nested": "both"}  # kinds of split that answers tell apart no further
METRIC = {"loss": "loss", "error": "accuracy"}


@dataclass(frozen=True)
class Curves:
    """The runs of one setting.

    Attributes:
        told: of `SETTING`, or what else is told of it.
        rounds: at which there are values; the first is 0.
        best: by quantity and topology the least over rates, shape (noise seeds, rounds).
        rates: by quantity, topology and rounds the rate that has it, one for each noise seed.
    """

    told: Mapping[str, str]
    rounds: Array
    best: Mapping[tuple[str, str], Array]
    rates: Mapping[tuple[str, str, int], tuple[float, ...]]

    @property
    def topologies(self) -> tuple[str, ...]:
        """All that were run; the first is of stars alone."""
        return tuple(dict.fromkeys(topology for _, topology in self.best))

    def reached(self, quantity: str, topology: str, seeds: slice = slice(None)) -> Array:
        """The least so far, as a mean over noise seeds."""
        return np.minimum.accumulate(self.best[quantity, topology][seeds].mean(0))

    @property
    def fits(self) -> str:
        """Whether some topology brings the training loss to `FITTED` in `WITHIN` rounds, and whether groups differ."""
        least = min(float(np.interp(WITHIN, self.rounds, self.reached("loss", t))) for t in self.topologies)
        loss = "loss goes to 0" if least < FITTED else "loss stays above 0"
        return f"{loss}, groups {'differ' if self.told['scheme'] in GROUPS_DIFFER else 'alike'}"

    def rounds_to(self, quantity: str, after: int, seeds: slice = slice(None)) -> dict[str, float]:
        """Rounds of every topology to what stars alone have after so many."""
        target = np.interp(after, self.rounds, self.reached(quantity, self.topologies[0], seeds))
        return {t: crossing(self.rounds, self.reached(quantity, t, seeds), target) for t in self.topologies}


@dataclass(frozen=True)
class Said:
    """What a predictor says: rounds, and raw rates where it has any."""

    rounds: Mapping[str, float]
    first: str
    rates: Mapping[str, float] | None = None


def crossing(rounds: Array, reached: Array, target: float) -> float:
    """The first round, from 1 on and interpolated, at which a falling curve is at a target; the last where none is."""
    met = np.flatnonzero(reached[1:] <= target) + 1
    if not len(met):
        return float(rounds[-1])
    i = met[0]
    if i == 1:
        return float(rounds[1])
    share = (reached[i - 1] - target) / max(reached[i - 1] - reached[i], 1e-300)
    return float(rounds[i - 1] + share * (rounds[i] - rounds[i - 1]))


@cache
def settings(path: Path) -> tuple[Curves, ...]:
    """All settings of a file of curves, read once."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    moments = [name for name in rows[0] if name.isdigit()]
    told = list(rows[0])[: list(rows[0]).index("topology")]
    found = []
    for _, several in itertools.groupby(rows, lambda row: tuple(row[name] for name in told)):
        mine = list(several)
        here = [name for name in moments if mine[0][name]]
        best: dict[tuple[str, str], list[list[float]]] = {}
        rates: dict[tuple[str, str, int], list[float]] = {}
        for row in mine:
            best.setdefault((row["quantity"], row["topology"]), []).append([float(row[name]) for name in here])
            for name in row:
                if name.startswith("rate ") and row[name]:
                    rates.setdefault((row["quantity"], row["topology"], int(name[5:])), []).append(float(row[name]))
        found.append(
            Curves(
                {name: mine[0][name] for name in told}, np.array([float(name) for name in here]),
                {key: np.array(values) for key, values in best.items()}, {key: tuple(r) for key, r in rates.items()},
            )
        )  # fmt: skip
    return tuple(found)


def of_roles(path: Path, roles: Sequence[str]) -> list[Curves]:
    """Those settings of a file of curves that have one of these roles."""
    return [one for one in settings(path) if one.told["role"] in roles]


def of_many_steps() -> list[Curves]:
    """All settings in which a client has over `predictor_record.MANY_STEPS` local steps in a round."""
    every = (one for name in ("curves", "steps") for one in of_roles(ROOT / f"measured_{name}.csv", MANY))
    return [one for one in every if int(one.told["P"]) * int(one.told["K"]) > predictor_record.MANY_STEPS]


@cache
def profiles(path: Path) -> dict[tuple[str, ...], dict[str, float]]:
    """What was estimated of each problem."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            tuple(row[name] for name in PROBLEM): {k: float(v) for k, v in row.items() if k not in PROBLEM and v}
            for row in csv.DictReader(file)
        }


# ---------------------------------------------------------------- what is said


def scenario(curves: Curves, after: int, metric: str, predictor: str, constants: Mapping[str, str]) -> Scenario:
    """The scenario of one row."""
    told = curves.told
    options = {
        "fleet.groups": told["G"], "fleet.clients_per_group": told["M"], "fleet.group_rounds": told["P"],
        "fleet.local_steps": told["K"], "problem.rounds": str(after), "plan.predictor": predictor,
        "plan.metric": metric, **constants,
    }  # fmt: skip
    if (told["S1"], told["S2"]) != (told["G"], told["M"]):
        options |= {"fleet.groups_per_round": told["S1"], "fleet.clients_per_round": told["S2"]}
    else:
        options["fleet.order"] = told["order"]
    return load(options={key: (key, value) for key, value in options.items()})


def asked(curves: Curves, after: int, metric: str, predictor: str, constants: Mapping[str, str]) -> Question:
    """The question of one row; with many local steps in a round, of a predictor that knows nothing of its family."""
    question = ask(scenario(curves, after, metric, predictor, constants))
    if predictor != "spectrum" or not predictor_record.of_many_steps(question):
        return question
    import many_steps  # which imports this module

    return replace(question, predictor=many_steps.unseen(curves))


def predicted(question: Question) -> Said:
    """Of a predictor; of equal rounds that with less left by then is first."""
    rounds = ordered(question)
    finite = [t for t in question.topologies if rounds[t] < math.inf]
    rates = {t: question.predictor.rate(question, t, max(rounds[t], 1.0)) for t in finite}
    raw = {t: rate / question.chain(t) for t, rate in rates.items() if rate is not None}
    return Said(rounds, next(iter(rounds)), raw)


def profile_of(
    curves: Curves,
    smoothness: str = "curvature",
    gap: str = "loss",
    scatter: float = 1.25,
    deviations: str = "largest",
    fades: bool = False,
    decays: bool = False,
) -> dict[str, str] | None:
    """What a profile tells: which curvature and deviations, how far the loss can fall, scatter, how they and it fall.

    None where there is none.
    """
    found = profiles(ROOT / "measured_profiles.csv").get(tuple(curves.told[name] for name in PROBLEM))
    if found is None:
        return None
    return {
        "problem.smoothness": f"{found.get(smoothness, smoothness)}",
        "problem.sigma": f"{found[f'sigma {deviations}']}",
        "problem.initial_gap": f"{found[gap]}", "problem.curvature_scatter": f"{scatter}",
        "problem.heterogeneity": f"zeta={found[f'zeta {deviations}']},delta={found[f'delta {deviations}']}",
        **({"problem.fading": f"{found['fading']}"} if fades and "fading" in found else {}),
        **({"problem.decay": f"{found['decay']}"} if decays and "decay" in found else {}),
    }  # fmt: skip


def labels_of(curves: Curves) -> dict[str, str] | None:
    """What label counts tell: the deviations of their shares, times how far one label stands; None without them."""
    found = profiles(ROOT / "measured_profiles.csv").get(tuple(curves.told[name] for name in PROBLEM))
    if found is None:
        return None
    unit = heterogeneity.one_label(heterogeneity.PROBLEM["sigma"], int(found["labels"]))
    told = ",".join(f"{name}={unit * found[f'{name} of shares']}" for name in ("zeta", "delta"))
    return {"problem.heterogeneity": told}


def kind_of(curves: Curves, fading: str | None = None) -> dict[str, str] | None:
    """The kind of split, and one fading for all where one is assumed; None where it has no preset."""
    if curves.told["scheme"] not in SCHEMES:
        return None
    return {"problem.heterogeneity": curves.told["scheme"]} | ({"problem.fading": fading} if fading else {})


def by(predictor: str, tell: Callable[[Curves], dict[str, str] | None]) -> Callable[[Curves, str, int], Said | None]:
    """A predictor that is told so much."""

    def say(curves: Curves, quantity: str, after: int) -> Said | None:
        metric = METRIC[quantity] if METRIC[quantity] in predictors()[predictor].metrics else "gradient"
        constants = tell(curves)
        return None if constants is None else predicted(asked(curves, after, metric, predictor, constants))

    return say


def always(topology: str) -> Callable[[Curves, str, int], Said | None]:
    """The same topology, whatever is asked."""
    return lambda curves, quantity, after: Said({}, topology)


def by_pilot(horizon: int, *, own: bool = False) -> Callable[[Curves, str, int], Said | None]:
    """A pilot of the first noise seed: rounds to what Star-Star has there, beyond its horizon as answers continue them.

    It races by loss, or by the quantity that it is judged by if that is its ``own``, as `hfl-plan pilot --metric` does.
    """

    def say(curves: Curves, quantity: str, after: int) -> Said | None:
        raced = quantity if own else "loss"
        last = horizon - 1
        each = {t: kept(curves.reached(raced, t, slice(0, 1))[:horizon]) for t in curves.topologies}
        stars = continued(each[curves.topologies[0]], each.values())
        found = {t: max(stars.rounds_of(one, stars.value_at(after)), 1e-3) for t, one in each.items()}
        rates = {t: curves.rates[raced, t, last][0] for t in found}
        return Said(found, min(found, key=lambda t: found[t]), rates)

    return say


# ---------------------------------------------------------------- how right it is


def judged(
    all_curves: Sequence[Curves],
    say: Callable[[Curves, str, int], Said | None],
    seeds: slice = slice(None),
    targets: Sequence[int] = TARGETS,
) -> Iterator[dict[str, object]]:
    """A row for each setting, quantity and target that is answered."""
    for curves in all_curves:
        for quantity, after in itertools.product(METRIC, targets):
            if after > curves.rounds[-1] or (said := say(curves, quantity, after)) is None:
                continue
            rounds = curves.rounds_to(quantity, after, seeds)
            stars, *others = curves.topologies
            ratios = [
                abs(math.log(said.rounds[t] / said.rounds[stars] * rounds[stars] / rounds[t]))
                for t in others
                if said.rounds and 1 < rounds[t] < curves.rounds[-1] and said.rounds[t] < math.inf
            ]
            known = {t: curves.rates.get((quantity, t, after), ())[seeds] for t in others}
            rates = [
                math.log(said.rates[t] / float(np.exp(np.mean(np.log(some)))))
                for t, some in known.items()
                if said.rates and t in said.rates and some
            ]
            yield {
                **curves.told, "setting": "|".join(curves.told.values()), "quantity": quantity, "reference": after,
                "fits": curves.fits, **rounds,
                "named": said.first, "regret": rounds[said.first] / min(rounds.values()) - 1,
                "ratios": ratios, "rates": rates,
            }  # fmt: skip


def summary(rows: Sequence[Mapping[str, object]]) -> str:
    """Right with its interval, quantiles of the regret, how far ratios and rates are off."""
    regret = np.array([float(str(row["regret"])) for row in rows])
    _, setting = np.unique([str(row["setting"]) for row in rows], return_inverse=True)
    counted, correct = np.bincount(setting), np.bincount(setting, regret <= RIGHT)
    drawn = np.random.default_rng(0).integers(len(counted), size=(2000, len(counted)))
    low, high = np.quantile(correct[drawn].sum(1) / counted[drawn].sum(1), (0.025, 0.975))
    ratios, rates = (np.concatenate([np.array(row[name], dtype=float) for row in rows]) for name in ("ratios", "rates"))
    said = f"| {len(rows)} | {(regret <= RIGHT).mean():.0%} [{low:.0%}, {high:.0%}] "
    said += f"| {np.quantile(regret, 0.9):.0%} | {regret.mean():.1%} | "
    said += f"x{np.exp(np.median(ratios)):.2f} | " if len(ratios) else "- | "
    return said + (f"{(np.abs(rates) <= math.log(2)).mean():.0%} |" if len(rates) else "- |")


LARGEST = partial(profile_of, smoothness="L largest", gap="A", scatter=0)
CONTESTANTS: dict[str, tuple[Callable[[Curves, str, int], Said | None], slice]] = {
    "`spectrum`, profile": (by("spectrum", profile_of), slice(None)),
    "`spectrum`, profile with fading": (by("spectrum", partial(profile_of, fades=True)), slice(None)),
    "`spectrum`, profile, no scatter": (by("spectrum", partial(profile_of, scatter=0)), slice(None)),
    "`spectrum`, profile, L of clients, no scatter": (by("spectrum", LARGEST), slice(None)),
    "`typical`, profile": (by("typical", LARGEST), slice(None)),
    "`spectrum`, label counts": (by("spectrum", labels_of), slice(None)),
    "`spectrum`, kind of split alone": (by("spectrum", kind_of), slice(None)),
    "`typical`, kind of split alone": (by("typical", kind_of), slice(None)),
    **{f"pilot of {h} rounds, fresh noise": (by_pilot(h), slice(1, 2)) for h in HORIZONS},
    "pilot of 8 rounds by the same metric, fresh noise": (by_pilot(8, own=True), slice(1, 2)),
    **{f"always {t}": (always(t), slice(None)) for t in TOPOLOGIES},
}


OTHER_CONSTANTS = {
    f"`spectrum`, profile{' with fading' * fades}, {name}": (
        by("spectrum", partial(profile_of, fades=fades, **other)),
        slice(None),
    )
    for fades in (False, True)
    for name, other in {"L = 10": {"smoothness": "10"}, "mean deviations": {"deviations": "mean"}}.items()
}
"""Profiles with the curvature of the presets, or with the mean of deviations along a run in place of the largest."""


TOLD = {"profile": "profile", "fading": "profile with fading", "labels": "label counts", "kind": "kind of split alone"}
"""What a predictor is told, and what that is called in `CONTESTANTS`."""
ANSWERS = {told: ("spectrum", f"`spectrum`, {name}") for told, name in TOLD.items()}
ANSWERS["pilot"] = ("pilot", "pilot of 8 rounds by the same metric, fresh noise")
"""Which predictor answers with what it is told, and what that is called there."""


def rates_on_record(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many rates of topologies with a ring were said, and how many within a factor 2 of the best."""
    off = [abs(rate) for row in rows for rate in row["rates"]]
    return {"rates": len(off), "rates_near": sum(rate <= math.log(2) for rate in off)}


def write(path: Path, curves: Sequence[Curves]) -> None:
    """Write how often first choices are right and rates near the best, by what is told and by kind of split."""
    found: list[dict[str, Any]] = []
    for told, (_, name) in ANSWERS.items():
        say, seeds = CONTESTANTS[name]
        found += [{"told": told, **row} for row in judged(curves, say, seeds)]
    lines = []
    for (quantity, metric), told, scheme in itertools.product(METRIC.items(), ANSWERS, ("all", *SCHEMES)):
        mine = [
            row
            for row in found
            if (row["quantity"], row["told"]) == (quantity, told)
            and scheme in ("all", LIKE.get(str(row["scheme"]), row["scheme"]))
        ]
        regret = np.array([float(str(row["regret"])) for row in mine])
        lines.append({
            "predictor": ANSWERS[told][0], "metric": metric, "told": told, "scheme": scheme, "rows": len(mine),
            "settings": len({row["setting"] for row in mine}),
            "right": int((regret <= RIGHT).sum()), "regret_median": f"{np.median(regret):.3f}",
            "regret_p90": f"{np.quantile(regret, 0.9):.3f}", "regret_mean": f"{regret.mean():.3f}",
            **rates_on_record(mine),
        })  # fmt: skip
    written(path, lines)


def written(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows that have the same names."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def errors(curves: Curves, quantity: str, after: int, *, fades: bool = False) -> dict[str, object] | None:
    """A row of the record that answers draw errors from: `spectrum` with a profile, and what was measured.

    A family is a data set with one seed: of those what is common to a split and a first model is left out together.
    """
    told = curves.told
    constants = profile_of(curves, fades=fades)
    if constants is None or after > curves.rounds[-1]:
        return None
    asked_ = asked(curves, after, METRIC[quantity], "spectrum", constants)
    goal, values = float(asked_.goal()), asked_.values
    runs = curves.rounds_to(quantity, after)
    exact = {t: float(asked_.predictor.rounds_to(asked_, t, goal, values)) for t in TOPOLOGIES}
    off = {t: math.log(runs[t] / exact[t]) for t in TOPOLOGIES}
    first = next(iter(ordered(asked_)))
    return {
        "scenario": "-".join(told[name] for name in SETTING[1:]),
        "family": f"{told['data']}-{told['seed']}", "reference": after,
        **{name: told[name] for name in ("G", "M", "P", "K", "S1", "S2", "order")},
        **{name: f"{values[name]:.4g}" for name in ("L", "A", "sigma", "zeta", "delta")}, "target": f"{goal:.4g}",
        "regret_spectrum": f"{runs[first] / min(runs.values()) - 1:.4f}",
        **{f"error_spectrum_{t}": f"{off[t] - off['star-star']:.4f}" for t in TOPOLOGIES},
        **{f"rounds_{t}": f"{n:.4g}" for t, n in runs.items()},
    }  # fmt: skip


def write_errors(curves: Sequence[Curves], many: str = "") -> None:
    """Write the errors of every row, a file for each metric, with how deviations fade and without."""
    for (quantity, metric), fades in itertools.product(METRIC.items(), (False, True)):
        every = (errors(one, quantity, after, fades=fades) for one in curves for after in TARGETS)
        rows = [row for row in every if row is not None]
        name = predictor_record.FADING if fades else predictor_record.IMAGES
        written(DATA / predictor_record.file_of(f"{metric}{name}{many}"), rows)


TELLS: dict[str, Callable[[Curves], dict[str, str] | None]] = {
    "profile": profile_of, "fading": partial(profile_of, fades=True), "labels": labels_of, "kind": kind_of,
}  # fmt: skip
POWERS = np.arange(0.5, 1.005, 0.01)


class _Plain(type(spectrum.PREDICTOR)):  # type: ignore[misc]
    """The predictor as its model has it."""

    gained: Mapping[str, float] = {}


def gains(curves: Sequence[Curves], quantity: str, tells: Sequence[str]) -> Array:
    """Rounds of every topology but stars that were reached: as the model has them, of stars, and measured; (rows, 3).

    Of few local steps, as what is made of many is worked out beside.
    """
    found: list[tuple[float, float, float]] = []
    for one, after, told in itertools.product(curves, TARGETS, tells):
        if after > one.rounds[-1] or (constants := TELLS[told](one)) is None:
            continue
        question = ask(scenario(one, after, METRIC[quantity], "spectrum", constants))
        if predictor_record.of_many_steps(question):
            continue
        said = {t: float(n) for t, n in replace(question, predictor=_Plain()).rounds().items()}
        runs, stars = one.rounds_to(quantity, after), one.topologies[0]
        found += [
            (said[t], said[stars], n)
            for t, n in runs.items()
            if t != stars and n < one.rounds[-1] and said[t] < math.inf
        ]
    return np.array(found).reshape(-1, 3)


def print_gains(curves: Sequence[Curves]) -> None:
    """Print the power with which rounds are least off, in the mean of logarithms, and that with the one in use."""
    for quantity, metric in METRIC.items():
        parts = {told: gains(curves, quantity, [told]) for told in TELLS}
        for told, part in {**parts, "all": np.concatenate([*parts.values()])}.items():
            said, stars, runs = part.T
            off = [np.log(runs / spectrum.gaining(said, stars, power)) for power in POWERS]
            best = POWERS[int(np.argmin([np.abs(one).mean() for one in off]))]
            used = np.log(runs / spectrum.gaining(said, stars, spectrum.GAINED[metric]))
            plain = np.log(runs / said)
            print(
                f"| {told} | {metric} | {len(runs)} | {best:.2f} "
                f"| {' | '.join(f'x{np.exp(np.median(one)):.2f}' for one in (plain, used))} "
                f"| {' | '.join(f'x{np.exp(np.median(np.abs(one))):.2f}' for one in (plain, used))} |"
            )


SCALED = {
    "decay": partial(profile_of, fades=True, decays=True), "profile": partial(profile_of, fades=True),
    "labels": labels_of, "kind": kind_of,
}  # fmt: skip
"""What tells how many rounds a loss takes, a profile with how the loss falls first."""


def scales(curves: Curves, tell: Callable[[Curves], dict[str, str] | None]) -> Iterator[dict[str, object]]:
    """Rounds to what Star-Star has after some, given as a loss, over those predicted; a row for each topology."""
    for after in TARGETS:
        if after > curves.rounds[-1] or (constants := tell(curves)) is None:
            continue
        rounds, stars = curves.rounds_to("loss", after), curves.topologies[0]
        loss = float(np.interp(after, curves.rounds, curves.reached("loss", stars)))
        to_loss = asked(curves, after, "loss", "spectrum", {**constants, "problem.target": f"{loss}"})
        predicted = replace(to_loss, horizon=None).rounds()
        for topology, measured in rounds.items():
            if 1 < measured < curves.rounds[-1]:
                said = {t: max(float(predicted[t]), 1.0) for t in (topology, stars)}
                off = measured / said[topology]
                yield {**curves.told, "topology": topology, "reference": after, "off": off, "said": said[stars]}


def scale_rows(curves: Sequence[Curves]) -> list[dict[str, object]]:
    """Quantiles of how far rounds to a loss are off, by what is told: of all, and where Star-Star is said to take few.

    Parts of fewer than `FEWEST` rows are left out.
    """
    found = []
    for told, tell in SCALED.items():
        rows = [row for one in curves for row in scales(one, tell)]
        off, said = (np.array([float(str(row[name])) for row in rows]) for name in ("off", "said"))
        for least, most in ((0.0, math.inf), *itertools.pairwise((0.0, *PARTED))):
            part = off[(least < said) & (said <= most)]
            if len(part) < FEWEST:
                continue
            low, median, high = np.quantile(part, (0.1, 0.5, 0.9))
            found.append({
                "predictor": "spectrum", "metric": "loss", "told": told, "over": f"{least:g}", "until": f"{most:g}",
                "rows": len(part), "settings": len(curves),
                "low": f"{low:.3g}", "median": f"{median:.3g}", "high": f"{high:.3g}",
            })  # fmt: skip
    return found


PARTED, FEWEST = (3.0, 12.0), 10  # few rounds predicted of Star-Star, at which rows are parted; rows of a part
FAR = (1, 2, 4, 8)  # times the rounds of a pilot
RACED, LONGER = (4, 8, 16), 3  # rounds of a pilot; a run counts that went on so many times as far as is said


def further(curves: Curves, quantity: str, length: int, far: int) -> Iterator[float]:
    """Rounds of Star-Star over those that the first rounds of all topologies tell, with other noise.

    Where they tell ``far`` times as many as the ``length`` that raced; infinite where it was over `LONGER` times that.
    """
    seeds = [np.minimum.accumulate(one) for one in curves.best[quantity, curves.topologies[0]]]
    for seed, other in enumerate(seeds[1:] + seeds[:1]):
        curve, *others = (kept(curves.best[quantity, topology][seed][: length + 1]) for topology in curves.topologies)
        said = far * length
        target = continued(curve, others).value_at(said)
        if curves.rounds[-1] >= LONGER * said and curve[-1] > 0:
            off = crossing(curves.rounds, other, target) / said if other[-1] <= target else math.inf
            yield off if off <= LONGER else math.inf


def further_rows(curves: Sequence[Curves]) -> list[dict[str, object]]:
    """Quantiles of how far rounds beyond a pilot's last are off, by how many times further they are."""
    found = []
    for (quantity, metric), length, far in itertools.product(METRIC.items(), RACED, FAR):
        off = [list(further(one, quantity, length, far)) for one in curves]
        rows, settings = list(itertools.chain(*off)), sum(map(bool, off))
        if rows:
            ends = np.quantile(rows, (0.1, 0.5, 0.9), method="inverted_cdf")
            low, median, high = (f"{one:.3g}" for one in ends)
            found.append({
                "metric": metric, "raced": length, "times": far, "rows": len(rows), "settings": settings,
                "low": low, "median": median, "high": high,
            })  # fmt: skip
    return found


def print_tables(
    contestants: Mapping[str, tuple[Callable[[Curves, str, int], Said | None], slice]],
    chosen: Sequence[Curves],
    targets: Sequence[int],
    by: str | None,
    path: Path | None,
) -> None:
    """Print a line for each contestant and quantity, of every part apart where ``by`` says which; write every row."""
    everything = []
    for name, (say, seeds) in contestants.items():
        rows = list(judged(chosen, say, seeds, targets))
        everything += [{"by": name, **row} for row in rows]
        for quantity in METRIC:
            mine = [row for row in rows if row["quantity"] == quantity]
            for part in sorted({str(row[by]) for row in mine}) if by else [""]:
                some = [row for row in mine if not by or str(row[by]) == part]
                if some:
                    print(f"| {name} | {METRIC[quantity]}{', ' * bool(part)}{part} {summary(some)}")
    if path:
        written(path, everything)


def main(arguments: list[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--role", help=f"{', '.join(ROLES)}, or several with commas")
    parser.add_argument("--curves", type=Path, default=ROOT / "measured_curves.csv")
    parser.add_argument("--after", default=",".join(map(str, TARGETS)), help="targets: rounds of Star-Star")
    parser.add_argument("--by", choices=("scheme", "data", "reference", "order", "fits"), help="a table for each")
    parser.add_argument("--rows", type=Path, help="where to write every row")
    parser.add_argument("--write", action="store_true", help="print nothing, and write the record of those that judge")
    parser.add_argument("--one-sigma", action="store_true", help="with defaults of one sigma in place of measured ones")
    parser.add_argument("--other-constants", action="store_true", help="profiles alone, with one constant changed")
    parser.add_argument("--gains", action="store_true", help="how gains over stars are measured, of those predicted")
    parser.add_argument("--errors", action="store_true", help="print nothing, and write what answers draw errors from")
    parser.add_argument("--fading", help="for who knows the kind of split alone, in place of none")
    parser.add_argument("--scale", action="store_true", help="how far rounds to a loss are off; written without --role")
    given = parser.parse_args(arguments)
    if given.scale:
        lines = scale_rows(of_roles(given.curves, given.role.split(",") if given.role else JUDGED))
        beyond = further_rows(of_roles(given.curves, given.role.split(",") if given.role else (*JUDGED, "long")))
        if given.role:
            print("\n".join(f"| {' | '.join(map(str, line.values()))} |" for line in (*lines, *beyond)))
        else:
            written(SCALE, lines)
            written(BEYOND, beyond)
        return 0
    given.role = given.role or "design"
    if given.gains:
        print_gains(of_roles(given.curves, given.role.split(",")))
        return 0
    if given.errors:
        write_errors(of_roles(given.curves, ANSWERED))
        write_errors(of_many_steps(), predictor_record.MANY)
        return 0
    if given.one_sigma:
        heterogeneity.PRESETS = {"iid": (0.0, 0.0), "intra": (1.0, 0.0), "inter": (0.0, 1.0), "both": (1.0, 1.0)}
        heterogeneity.PROBLEM = {"sigma": 1.0, "L": 1.0, "scatter": 0.0, "A": 2.3}
        heterogeneity.ONE_LABEL = 1.0
    if given.write:
        write(DATA / REAL.format(""), of_roles(given.curves, JUDGED))
        write(DATA / REAL.format(predictor_record.MANY), of_many_steps())
        return 0
    chosen = of_roles(given.curves, given.role.split(","))
    print(f"{len(chosen)} settings, {given.role}")
    targets = [int(number) for number in given.after.split(",")]
    fades = {"`spectrum`, kind of split alone": (by("spectrum", partial(kind_of, fading=given.fading)), slice(None))}
    contestants = OTHER_CONSTANTS if given.other_constants else CONTESTANTS | fades
    print_tables(contestants, chosen, targets, given.by, given.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
