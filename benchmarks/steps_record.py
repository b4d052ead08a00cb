"""What more local steps save: rounds that runs took fewer of, beside what is predicted.

    python benchmarks/steps_record.py                                       # a table
    python benchmarks/steps_record.py --write planner/data/steps_record.csv   # what `hfl-plan tune` shows

Reads ``docs/evidence/measured_steps.csv``, which `measured_curves.py` makes of its settings ``steps`` and ``steps2``,
and ``measured_profiles.csv``. A problem was run with 2, 4, 12 and 48 local steps. A target is the training loss that
Star-Star with 2 has after 18 or 46 rounds; a gain is the rounds of a topology with 2 local steps to it over those with
more, each at its own best rate, where both are after the first round and within the run. How far a gain is off is the
measured one over the predicted one, in logarithms, over the logarithm of how many times as many steps there are. What
is predicted for over 12 local steps knows nothing of the problem's family (`many_steps.unseen`).
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
from real_record import ROOT, SCHEMES, TOPOLOGIES, Curves, asked, crossing, kind_of, profile_of, settings, written

FEWEST = 2  # local steps that others are compared with
MORE = (12, 48)  # that there is a record of
AFTER = (18, 46)  # rounds of Star-Star with them
TELLS = {"profile": partial(profile_of, fades=True), "kind": kind_of}


def gains(path: Path = ROOT / "measured_steps.csv") -> Iterator[dict[str, object]]:
    """A row for every problem, target, topology and number of steps, and for what is told."""
    problems: dict[tuple[str, ...], dict[int, Curves]] = {}
    for one in settings(path):
        key = tuple(one.told[name] for name in ("role", "data", "scheme", "seed"))
        problems.setdefault(key, {})[int(one.told["K"])] = one
    for by_steps, after in itertools.product(problems.values(), AFTER):
        few = by_steps[FEWEST]
        target = float(np.interp(after, few.rounds, few.reached("loss", "star-star")))
        for topology in TOPOLOGIES:
            rounds = {K: crossing(one.rounds, one.reached("loss", topology), target) for K, one in by_steps.items()}
            for K, (told, tell) in itertools.product(sorted(rounds.keys() - {FEWEST}), TELLS.items()):
                if not (rounds[FEWEST] < few.rounds[-1] and 1 < rounds[K] < by_steps[K].rounds[-1]):
                    continue
                question = asked(few, after, "loss", "spectrum", tell(few) or {}).varied(predictor=unseen(few))
                goal, values = question.goal(), question.values
                few_, more = (
                    float(question.predictor.rounds_to(question, topology, goal, {**values, "K": steps}))
                    for steps in (FEWEST, K)
                )
                measured, predicted = rounds[FEWEST] / rounds[K], few_ / more
                yield {
                    **few.told, "K": K, "reference": after, "topology": topology, "told": told, "measured": measured,
                    "predicted": predicted, "off": math.log(measured / predicted) / math.log(K / FEWEST),
                }  # fmt: skip


def record() -> list[dict[str, object]]:
    """Quantiles of how far gains with more steps are off, by how many, what is told, kind of split and topology."""
    rows, found = list(gains()), []
    names = ("K", "told", "scheme", "topology")
    for key in itertools.product(MORE, TELLS, SCHEMES, TOPOLOGIES):
        mine = [row for row in rows if tuple(row[name] for name in names) == key]
        steps, told, scheme, topology = key
        off, measured, predicted = (
            np.array([row[name] for row in mine], float) for name in ("off", "measured", "predicted")
        )
        low, median, high = np.quantile(off, (0.1, 0.5, 0.9))
        found.append({
            "predictor": "spectrum", "metric": "loss", "K": steps, "told": told, "scheme": scheme, "topology": topology,
            "rows": len(mine), "problems": len({(row["data"], row["seed"]) for row in mine}),
            "measured": f"{np.median(measured):.3g}", "predicted": f"{np.median(predicted):.3g}",
            "low": f"{low:.3g}", "median": f"{median:.3g}", "high": f"{high:.3g}",
        })  # fmt: skip
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="print nothing, and write the record")
    given = parser.parse_args(arguments)
    rows = record()
    if given.write:
        written(given.write, rows)
        return 0
    print("\n".join(f"| {' | '.join(map(str, row.values()))} |" for row in rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
