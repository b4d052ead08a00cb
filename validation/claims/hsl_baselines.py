"""Hubs and Spokes Learning against the decentralised baselines at equal edges, and against FedAvg."""

from __future__ import annotations

from validation.claims import Claim, Judgement, Plan, Row, Size, overall
from validation.claims.hsl_setting import ROUNDS, SCORING, Hubs, problem_of
from validation.experiment import part
from validation.statistics import Prediction, judge, paired_ratio
from validation.tuning import Protocol, tuned

SIDE = 6  # of the torus
HUBS = Hubs(SIDE**2, 6, 9, 3, 2)  # 144 edges, as many as the torus has
OTHERS = {
    "torus": part("torus", rows=SIDE, columns=SIDE, judged="nodes"),
    "Erdos-Renyi": part("erdos-renyi", n=SIDE**2, probability=4 / (SIDE**2 - 1), judged="nodes"),
    "EL-Oracle": part("el-oracle", n=SIDE**2, s=4, judged="nodes"),
    "FedAvg": part("fedavg", clients=SIDE**2),
}
PREDICTED: dict[str, Prediction] = {
    "torus": "smaller",
    "Erdos-Renyi": "smaller",
    "EL-Oracle": "smaller",
    "FedAvg": "larger",
}


def _plan(size: Size) -> Plan:
    rows = []
    for delta in (1.0,) if size == "quick" else (0.0, 1.0, 3.0):
        protocol = Protocol(
            quantity="gradient",
            averaged=True,
            rounds=ROUNDS[size],
            start=0.5,
            tuning=tuple(range(1000, 1006)),
            scoring=tuple(range(SCORING[size])),
            reach=2,
        )
        algorithms = {"HSL": HUBS.algorithm("nodes"), **OTHERS}
        found = yield from tuned(problem_of(SIDE**2, delta), algorithms, protocol)
        for name, told in PREDICTED.items():
            ratio = paired_ratio(found["HSL"].values.tolist(), found[name].values.tolist())
            rows.append(Row(f"delta/sigma = {delta:g}", f"{HUBS} / {name}", ratio, told, judge(ratio, told)))
    return Judgement(overall(rows), tuple(rows), f"FedAvg has {2 * SIDE**2} edges, the others {HUBS.edges}.")


CLAIMS = (
    Claim(
        id="hsl-baselines",
        source="sharma2025, Section 5 and Figure 4",
        statement="At equal edges HSL is faster than a torus, a random graph and EL-Oracle; FedAvg is faster yet.",
        prediction="smaller than the first three, larger than FedAvg",
        quantity="squared gradient, mean over nodes and rounds",
        plan=_plan,
    ),
)
