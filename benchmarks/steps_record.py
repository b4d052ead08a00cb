"""What more local steps or group rounds save: rounds that runs took fewer of, beside what is predicted.

    python benchmarks/steps_record.py                                       # a table
    python benchmarks/steps_record.py --write planner/data/steps_record.csv   # what `hfl-plan tune` shows
    python benchmarks/steps_record.py --choices                             # how good choices of K and P are

Reads ``docs/evidence/measured_steps.csv`` and ``measured_passes.csv``, which `measured_curves.py` makes of its settings
``steps``, ``steps2`` and ``passes``, and ``measured_profiles.csv``. A problem was run with 2, 4, 12 and 48 local steps,
and with 4 and 12 group rounds of 2. A target is the training loss that Star-Star with one of 2 has after 18 or 46
rounds; a gain is the rounds of a topology with one of 2 to it over those with more, each at its own best rate, where
both are after the first round and within the run. How far a gain is off is the measured one over the predicted one, in
logarithms, over the logarithm of how many times as many steps there are. What is predicted for over 12 local steps in
a round knows nothing of the problem's family (`many_steps.unseen`).

A choice is the topology, P and K of those run that are predicted to take least time or traffic on a network, where only
the kind of split is known; its regret is what it took in whole rounds over the least that any took, less 1.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from many_steps import unseen
from real_record import (
    RIGHT,
    ROOT,
    SCHEMES,
    TOPOLOGIES,
    Curves,
    asked,
    crossing,
    kind_of,
    profile_of,
    settings,
    written,
)

import planner
from planner.predict.question import ask, ceil_rounds

FEWEST = 1, 2  # P and K that others are compared with
MORE = ((1, 12), (1, 48), (4, 2), (12, 2))  # that there is a record of
AFTER = (18, 46)  # rounds of Star-Star with the fewest
FILES = ("measured_steps.csv", "measured_passes.csv")
NETWORKS = (  # rate of clients, servers' link, size of the model, time of a step, whose a link is
    ("20Mbit/s", "lan", "5MB", "0.1s", "per-client"), ("100Mbit/s", "wan", "20MB", "50ms", "per-client"),
    ("5Mbit/s", "broadband", "1MB", "0.5s", "per-server"), ("50Mbit/s", "broadband", "1MB", "1s", "per-client"),
    ("10Mbit/s", "lan", "50MB", "20ms", "per-server"),
)  # fmt: skip
OBJECTIVES = ("time", "traffic")
Plan = tuple[int, int]  # P and K
TELLS = {"profile": partial(profile_of, fades=True), "kind": kind_of}


def problems() -> list[dict[Plan, Curves]]:
    """The curves of every problem, by P and K."""
    found: dict[tuple[str, ...], dict[Plan, Curves]] = {}
    for one in itertools.chain.from_iterable(settings(ROOT / name) for name in FILES):
        key = tuple(one.told[name] for name in ("data", "scheme", "seed"))
        found.setdefault(key, {})[int(one.told["P"]), int(one.told["K"])] = one
    return list(found.values())


def gains() -> Iterator[dict[str, object]]:
    """A row for every problem, target, topology, P and K, and for what is told."""
    for by_plan, after in itertools.product(problems(), AFTER):
        few = by_plan[FEWEST]
        target = float(np.interp(after, few.rounds, few.reached("loss", "star-star")))
        for topology in TOPOLOGIES:
            curves = ((plan, one.rounds, one.reached("loss", topology)) for plan, one in by_plan.items())
            rounds = {plan: crossing(at, reached, target) for plan, at, reached in curves}
            for plan, (told, tell) in itertools.product(sorted(rounds.keys() - {FEWEST}), TELLS.items()):
                if not (rounds[FEWEST] < few.rounds[-1] and 1 < rounds[plan] < by_plan[plan].rounds[-1]):
                    continue
                question = asked(few, after, "loss", "spectrum", tell(few) or {}).varied(predictor=unseen(few))
                goal, values = question.goal(), question.values
                few_, more = (
                    float(question.predictor.rounds_to(question, topology, goal, {**values, "P": P, "K": K}))
                    for P, K in (FEWEST, plan)
                )
                measured, predicted = rounds[FEWEST] / rounds[plan], few_ / more
                times = math.prod(plan) / math.prod(FEWEST)
                yield {
                    **few.told, "P": plan[0], "K": plan[1], "reference": after, "topology": topology, "told": told,
                    "measured": measured, "predicted": predicted,
                    "off": math.log(measured / predicted) / math.log(times),
                }  # fmt: skip


def record() -> list[dict[str, object]]:
    """Quantiles of how far gains are off, by P and K, what is told, kind of split and topology."""
    rows, found = list(gains()), []
    names = ("P", "K", "told", "scheme", "topology")
    for key in itertools.product(MORE, TELLS, SCHEMES, TOPOLOGIES):
        plan, told, scheme, topology = key
        mine = [row for row in rows if tuple(row[name] for name in names) == (*plan, *key[1:])]
        if not mine:  # the first round reached every target
            continue
        off, measured, predicted = (
            np.array([row[name] for row in mine], float) for name in ("off", "measured", "predicted")
        )
        low, median, high = np.quantile(off, (0.1, 0.5, 0.9))
        found.append({
            "predictor": "spectrum", "metric": "loss", "P": plan[0], "K": plan[1], "told": told, "scheme": scheme,
            "topology": topology,
            "rows": len(mine), "problems": len({(row["data"], row["seed"]) for row in mine}),
            "measured": f"{np.median(measured):.3g}", "predicted": f"{np.median(predicted):.3g}",
            "low": f"{low:.3g}", "median": f"{median:.3g}", "high": f"{high:.3g}",
        })  # fmt: skip
    return found


def choices() -> Iterator[tuple[str, str, str, float]]:
    """Kind of split, who chose, objective and regret, for every problem, target and network."""
    for by_plan, after in itertools.product(problems(), AFTER):
        few = by_plan[FEWEST]
        target = float(np.interp(after, few.rounds, few.reached("loss", "star-star")))
        question = asked(few, after, "loss", "spectrum", kind_of(few) or {}).varied(predictor=unseen(few))
        goal, values = question.goal(), question.values
        took, said = dict[tuple[str, Plan], float](), dict[tuple[str, Plan], float]()
        for one in itertools.product(TOPOLOGIES, by_plan):
            topology, (P, K) = one
            curves = by_plan[P, K]
            rounds = crossing(curves.rounds, curves.reached("loss", topology), target)
            took[one] = math.ceil(rounds) if rounds < curves.rounds[-1] else math.inf
            predicted = question.predictor.rounds_to(question, topology, goal, {**values, "P": P, "K": K})
            said[one] = ceil_rounds(float(predicted))
        for (rate, servers, size, step, sharing), objective in itertools.product(NETWORKS, OBJECTIVES):
            network = ask(planner.load_scenario(
                G=int(few.told["G"]), M=int(few.told["M"]), heterogeneity="both", server_link=servers, model_size=size,
                step_time=step, link_sharing=sharing, uplink=rate, downlink=rate,
            ))  # fmt: skip
            price = {one: network.price(one[0], objective, P=one[1][0], K=one[1][1]) for one in took}
            least = min(n * price[one] for one, n in took.items())
            stars = [one for one in took if one[0] == "star-star"]
            chosen = {"topology, K and P": list(took), "K and P of Star-Star": stars}
            for who, among in chosen.items():
                best = min(took[one] * price[one] for one in among)
                first = min(among, key=lambda one: said[one] * price[one])
                yield few.told["scheme"], who, objective, took[first] * price[first] / best - 1
            kept = min(((t, FEWEST) for t in TOPOLOGIES), key=lambda one: said[one] * price[one])
            yield few.told["scheme"], "topology, K = 2 and P = 1", objective, took[kept] * price[kept] / least - 1


def print_choices() -> None:
    """Print how many choices are right, and their regret."""
    rows = list(choices())
    all_who = dict.fromkeys(row[1] for row in rows)
    for who, objective, scheme in itertools.product(all_who, OBJECTIVES, (*SCHEMES, "all")):
        regret = [row[3] for row in rows if row[1:3] == (who, objective) and scheme in (row[0], "all")]
        right, high, mean = np.mean(np.array(regret) <= RIGHT), np.quantile(regret, 0.9), np.mean(regret)
        print(f"| {who} | {objective} | {scheme} | {len(regret)} | {right:.0%} | {high:.0%} | {mean:.0%} |")


def main(arguments: list[str] | None = None) -> int:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="print nothing, and write the record")
    parser.add_argument("--choices", action="store_true", help="print how good choices of topology, K and P are")
    given = parser.parse_args(arguments)
    if given.choices:
        print_choices()
        return 0
    rows = record()
    if given.write:
        written(given.write, rows)
        return 0
    print("\n".join(f"| {' | '.join(map(str, row.values()))} |" for row in rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
