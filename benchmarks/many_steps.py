"""Powers of many local steps in a round: what `planner.predict.many_steps` makes of predictions.

    python benchmarks/many_steps.py           # a table of what they gain, each family of problems left out in turn
    python benchmarks/many_steps.py --write   # planner/data/many_steps.csv, of all of them

A family is a data set with one seed of its split and first model, as in `real_record.py`, whose settings of over 12
local steps in a round these are (`of_many_steps`). The power of stars alone is how far what 48 local steps gain over
12 is predicted too large, in logarithms over that of 4: in the median over problems whose data are alike, and over
those that differ. Beside it that of another topology is how far its rounds, relative to those of stars alone, are
predicted too small, over the logarithm of the steps in 12: `SHARE` of the median over the settings of a kind. The
form, a power or a constant, and the share, of 0.5, 0.75 and 1, were chosen by such tables.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import real_record
from real_record import Curves, crossing, profile_of

from planner.predict import many_steps
from planner.predict.evidence import predictor_record
from planner.predict.predictors.spectrum import PREDICTOR
from planner.predict.question import Question, ask

SHARE = 0.75
DRAWS = 40  # times per round of each topology
AFTER = (18, 46)  # rounds of Star-Star with 2 local steps, whose loss is the target of gains
FADES = (False, True)
STARS, *OTHERS = real_record.TOPOLOGIES
DIFFERS = {"iid": (0, 0), "intra": (0, 1), "inter": (1, 0), "both": (1, 1)}  # groups, clients
NONE: many_steps.Powers = {(fades, t): np.zeros((2, 2)) for fades in FADES for t in real_record.TOPOLOGIES}


class With(type(PREDICTOR)):  # type: ignore[misc]
    """The predictor with other powers."""

    def __init__(self, powers: many_steps.Powers) -> None:
        self.powers = powers  # type: ignore[misc]


def unseen(curves: Curves) -> With:
    """The predictor that knows nothing of a setting's family."""
    return With(powers(family(curves)))


def family(curves: Curves) -> str:
    """What has a split and a first model in common."""
    return f"{curves.told['data']}-{curves.told['seed']}"


TELLS: dict[str, Callable[[Curves], dict[str, str] | None]] = {
    "profile": profile_of,
    "profile with fading": partial(profile_of, fades=True),
    "label counts": real_record.labels_of,
    "kind of split alone": real_record.kind_of,
}


def asked(
    curves: Curves, after: int, metric: str, told: Mapping[str, str] | None, powers: many_steps.Powers
) -> Question:
    """The question of one row."""
    return replace(ask(real_record.scenario(curves, after, metric, "spectrum", told or {})), predictor=With(powers))


@cache
def gains(fades: bool) -> tuple[tuple[str, str, float], ...]:
    """Family, split, and as a power how far what 48 local steps gain over 12 is predicted too large for stars alone."""
    problems: dict[str, dict[int, Curves]] = {}
    for one in real_record.settings(real_record.ROOT / "measured_steps.csv"):
        problems.setdefault(family(one), {})[int(one.told["K"])] = one
    found = []
    for by_steps, after in itertools.product(problems.values(), AFTER):
        few, target = by_steps[2], float(np.interp(after, by_steps[2].rounds, by_steps[2].reached("loss", STARS)))
        runs = {K: crossing(one.rounds, one.reached("loss", STARS), target) for K, one in by_steps.items()}
        if not 1 < runs[48] < by_steps[48].rounds[-1]:
            continue
        question = asked(few, after, "loss", profile_of(few, fades=fades), NONE)
        goal, values = question.goal(), question.values
        said = {K: float(question.predictor.rounds_to(question, STARS, goal, {**values, "K": K})) for K in (12, 48)}
        off = math.log(said[12] / said[48] * runs[48] / runs[12]) / math.log(4)
        found.append((family(few), few.told["scheme"], off))
    return tuple(found)


@cache
def slopes(fades: bool) -> tuple[tuple[str, str, tuple[float, ...]], ...]:
    """Family, kind of split, and of each other topology how far its ratio is predicted too small, as a power."""
    found = []
    for one, after in itertools.product(real_record.of_many_steps(), real_record.TARGETS):
        if after > one.rounds[-1]:
            continue
        question = asked(one, after, "loss", profile_of(one, fades=fades), NONE)
        goal, values, runs = question.goal(), question.values, one.rounds_to("loss", after)
        said = {t: float(question.predictor.rounds_to(question, t, goal, values)) for t in runs}
        over = math.log(int(one.told["P"]) * int(one.told["K"]) / many_steps.FROM)
        off = tuple(math.log(runs[t] / runs[STARS] * said[STARS] / said[t]) / over for t in OTHERS)
        kind = tuple(DIFFERS)[int(predictor_record.kind(values))]
        found.append((family(one), kind, off))
    return tuple(found)


@cache
def powers(without: str = "") -> many_steps.Powers:
    """Of all families but one."""
    found = {key: each.copy() for key, each in NONE.items()}
    for fades in FADES:
        for kind, place in DIFFERS.items():
            own = [off for name, split, off in gains(fades) if name != without and (split == "iid") == (kind == "iid")]
            found[fades, STARS][place] = np.median(own)
            beside = np.array([off for name, split, off in slopes(fades) if name != without and split == kind])
            for topology, power in zip(OTHERS, SHARE * np.median(beside, axis=0), strict=True):
                found[fades, topology][place] = power
    return found


def judged(metric: str, tell: str, plain: bool) -> Iterator[tuple[float, float, list[float]]]:
    """Regret by rounds, mean regret by time, and how far ratios are off, of every row."""
    quantity = {name: key for key, name in real_record.METRIC.items()}[metric]
    rng = np.random.default_rng(0)
    for one, after in itertools.product(real_record.of_many_steps(), real_record.TARGETS):
        if after > one.rounds[-1] or (told := TELLS[tell](one)) is None:
            continue
        question = asked(one, after, metric, told, NONE if plain else powers(family(one)))
        runs, said = one.rounds_to(quantity, after), question.rounds()
        measured, predicted = (np.log([float(of[t]) for t in real_record.TOPOLOGIES]) for of in (runs, said))
        regret = np.expm1(measured[predicted.argmin()] - measured.min())
        seconds = rng.normal(0, 1, (DRAWS, len(measured)))
        clock, named = measured + seconds, (predicted + seconds).argmin(1)
        by_time = np.expm1(clock[np.arange(DRAWS), named] - clock.min(1))
        ratios = np.abs((measured - measured[0]) - (predicted - predicted[0]))[1:]
        yield float(regret), float(by_time.mean()), ratios.tolist()


def main() -> None:
    """Print the table, or write the powers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="print nothing, and write what predictions take")
    if parser.parse_args().write:
        rows = [
            {
                "fading": int(fades), "topology": topology, "groups_differ": groups, "clients_differ": clients,
                "power": f"{each[groups, clients]:.3f}",
            }
            for (fades, topology), each in powers().items()
            for groups, clients in DIFFERS.values()
        ]  # fmt: skip
        real_record.written(Path(many_steps.__file__).parents[1] / "data" / many_steps.FILE, rows)
        return
    for tell, metric, plain in itertools.product(TELLS, ("loss", "accuracy"), (True, False)):
        rounds, times, ratios = zip(*judged(metric, tell, plain), strict=True)
        right = np.mean(np.array(rounds) <= real_record.RIGHT)
        off = math.exp(np.median(np.concatenate(ratios)))
        said = (tell, metric, "none" if plain else "of others")
        print(
            f"| {' | '.join(said)} | {len(rounds)} | {right:.0%} | {np.mean(rounds):.0%} | {np.mean(times):.0%} "
            f"| x{off:.2f} |"
        )


if __name__ == "__main__":
    main()
