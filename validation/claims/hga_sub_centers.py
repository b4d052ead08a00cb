"""Fewer sub-centers serve the same clients better."""

from __future__ import annotations

from itertools import product

from validation.claims import Claim, Judgement, Plan, Row, Size, overall, row
from validation.claims.hga_setting import PROBLEMS, QUANTITY, hga, noted, predicted, protocol, scenario
from validation.experiment import part
from validation.tuning import tuned

MANY = (2, 4, 8, 16)
CLIENTS = 48


def _plan(size: Size) -> Plan:
    rows: list[Row] = []
    how = protocol(size)
    for seed, ratio in product(PROBLEMS[size], (10.0,) if size == "quick" else (1.0, 10.0)):
        problem = part("controlled", G=CLIENTS, M=1, sigma=1.0, delta=2.0, A=5.0, seed=seed)
        algorithms = {str(M): hga(size, M=M, N=CLIENTS // M, K_buf=M // 2, speed_ratio=ratio) for M in MANY}
        known = {name: scenario(problem, algorithm, how.scoring, how.rounds) for name, algorithm in algorithms.items()}
        scores = yield from tuned(problem, algorithms, how)
        for few, more in zip(map(str, MANY), map(str, MANY[1:]), strict=False):
            pair = f"M = {few} / M = {more}", scores[few].values, scores[more].values
            rows.append(row(f"problem {seed}, speeds 1:{ratio:g}", *pair, predicted(known[few], known[more])))
    return Judgement(overall(rows), tuple(rows), noted(rows))


CLAIMS = (
    Claim(
        id="hga-sub-centers",
        source="xie2024, Appendix H, effect of M and R",
        statement="With the same clients and a buffer of half the sub-centers, fewer sub-centers do no worse.",
        prediction="xie2024.thm1 at its best steps, with the constants and delays that each number of sub-centers has; "
        "at equal constants and delays it sees M/K only, which is 2 throughout",
        quantity=QUANTITY,
        plan=_plan,
    ),
)
