"""HGA-FL's server against FedBuff's and CA2FL's, over the same sub-centers with FedDyn."""

from __future__ import annotations

from itertools import product

from validation.claims import Claim, Judgement, Plan, Row, Size, overall, row
from validation.claims.hga_setting import PROBLEMS, QUANTITY, clients, hga, noted, protocol
from validation.tuning import tuned

OTHERS = ("fedbuff", "ca2fl")


def _plan(size: Size) -> Plan:
    rows: list[Row] = []
    how = protocol(size)
    for seed, K, ratio in product(PROBLEMS[size], (3,) if size == "quick" else (1, 3, 6), (1.0, 10.0)):
        algorithms = {name: hga(size, name, K_buf=K, speed_ratio=ratio) for name in ("hga-fl", *OTHERS)}
        scores = yield from tuned(clients(seed), algorithms, how)
        setting, own = f"problem {seed}, K = {K} of 8, speeds 1:{ratio:g}", scores["hga-fl"].values
        rows += [row(setting, f"hga-fl / {other}", own, scores[other].values, "not larger") for other in OTHERS]
    return Judgement(overall(rows), tuple(rows), noted(rows))


CLAIMS = (
    Claim(
        id="hga-rules",
        source="xie2024, Appendix H, effects of diverse global asynchronous methods with buffer",
        statement="Over the same sub-centers, HGA-FL's server does no worse than those of FedBuff and CA2FL.",
        prediction="the paper's tables; the server's rule is that of C.1 and (48), for Algorithm 1 was not read",
        quantity=QUANTITY,
        plan=_plan,
    ),
)
