"""Staleness hurts HGA-FL."""

from __future__ import annotations

from itertools import product

from validation.claims import Claim, Judgement, Plan, Row, Size, overall, row
from validation.claims.hga_setting import PROBLEMS, QUANTITY, clients, hga, noted, predicted, protocol, scenario
from validation.tuning import tuned


def _plan(size: Size) -> Plan:
    rows: list[Row] = []
    how = protocol(size)
    ratios = (1.0, 3.0, 10.0) if size == "quick" else (1.0, 3.0, 10.0, 30.0)
    for seed, K in product(PROBLEMS[size], (3,) if size == "quick" else (1, 3, 6)):
        problem = clients(seed)
        algorithms = {f"{ratio:g}": hga(size, K_buf=K, speed_ratio=ratio) for ratio in ratios}
        known = {name: scenario(problem, algorithm, how.scoring, how.rounds) for name, algorithm in algorithms.items()}
        scores = yield from tuned(problem, algorithms, how)
        for slower in list(algorithms)[1:]:
            pair = f"speeds 1:1 / 1:{slower}", scores["1"].values, scores[slower].values
            late = f"delays up to {known['1']['Gamma_max']:g} and {known[slower]['Gamma_max']:g}"
            rows.append(row(f"problem {seed}, K = {K}, {late}", *pair, predicted(known["1"], known[slower])))
    return Judgement(overall(rows), tuple(rows), noted(rows))


CLAIMS = (
    Claim(
        id="hga-staleness",
        source="xie2024, Appendix H, effect of staleness",
        statement="HGA-FL does no better where updates come later: where sub-centers differ more in speed.",
        prediction="xie2024.thm1 at its best steps and the delays that the runs have; hflbounds.hga-repaired agrees",
        quantity=QUANTITY,
        plan=_plan,
    ),
)
