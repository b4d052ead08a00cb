"""Whether the number of hubs that the planner finds is the best in runs, under limits in all and for a hub.

    python benchmarks/hub_counts.py

The setting is that of the claims about hubs (`validation.claims.hsl_setting`): 40 nodes with exact constants, 50
rounds, the best rate for each. For `hfl-plan hubs --nodes 40 --edges 160 --per-hub 30` the best budgets of some numbers
of hubs and EL-Local with 160 edges are run; a line has the squared gradient at the nodes over that of the planner's
best, with the ends of its 95 % interval over paired seeds, and what the bound says of it. Needs torch.
"""

from __future__ import annotations

import sys

from overlap_record import run

from planner.families.hsl.model import Learning, Setting, Wires, reached_by_server
from planner.families.hsl.search import Limits, search
from planner.scenario.network import PRESETS, Compute
from validation.claims.hsl_setting import Epidemic, Hubs, scenario, scores
from validation.statistics import paired_ratio

COUNTS = (2, 4, 6, 9, 15, 24, 40)


def main() -> None:
    """Run all, one heterogeneity after the other."""
    wires = Wires(PRESETS["broadband"].link, PRESETS["wan"].link, Compute(0.1), 1e6)
    for delta in (0.0, 1.0, 3.0):
        known = scenario(delta, "quick")
        learning = Learning(40, known["L"], known["A"], known["sigma"], delta)
        target = reached_by_server(learning, 1000)
        found = search(Setting(learning, wires, target), Limits(edges=160, per_hub=30, hubs=(2, 40)), "rounds")
        every = [found.budgets(i) for i in range(len(found.best["n_h"]))]
        best = found.budgets(found.first)
        shown = [b for b in every if b.n_h in COUNTS or b == best]
        what: list[Hubs | Epidemic] = [*(Hubs(40, b.n_h, b.b_hs, b.b_hh, b.b_sh) for b in shown), Epidemic(40, 4)]
        first = what[shown.index(best)]
        measured = run(scores(delta, what, "quick", "nodes"))
        for one in what:
            ratio = paired_ratio(measured[one].values.tolist(), measured[first].values.tolist())
            told = one.bound(known) / first.bound(known)
            sys.stdout.write(f"delta/sigma = {delta:g}  {one}: {ratio}, bound {told:.3f}\n")


if __name__ == "__main__":
    main()
