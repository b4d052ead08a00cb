"""A larger buffer helps HGA-FL, global step by global step."""

from __future__ import annotations

from itertools import product

from validation.claims import Claim, Judgement, Plan, Row, Size, overall, row
from validation.claims.hga_setting import PROBLEMS, QUANTITY, clients, hga, noted, predicted, protocol, scenario
from validation.tuning import tuned

BUFFERS = (1, 2, 4, 8)


def _plan(size: Size) -> Plan:
    rows: list[Row] = []
    how = protocol(size)
    for seed, ratio in product(PROBLEMS[size], (10.0,) if size == "quick" else (1.0, 3.0, 10.0)):
        problem = clients(seed)
        algorithms = {str(K): hga(size, K_buf=K, speed_ratio=ratio) for K in BUFFERS}
        known = {name: scenario(problem, algorithm, how.scoring, how.rounds) for name, algorithm in algorithms.items()}
        scores = yield from tuned(problem, algorithms, how)
        for small, large in zip(map(str, BUFFERS), map(str, BUFFERS[1:]), strict=False):
            pair = f"K = {large} / K = {small}", scores[large].values, scores[small].values
            rows.append(row(f"problem {seed}, speeds 1:{ratio:g}", *pair, predicted(known[large], known[small])))
    return Judgement(overall(rows), tuple(rows), noted(rows))


CLAIMS = (
    Claim(
        id="hga-buffer",
        source="xie2024, Appendix H, effects of diverse global asynchronous methods with buffer",
        statement="Per global step, HGA-FL with a larger buffer does no worse.",
        prediction="xie2024.thm1 at its best steps and the delays that the runs have; hflbounds.hga-repaired agrees",
        quantity=QUANTITY,
        plan=_plan,
    ),
)
