"""Hubs and Spokes Learning against the decentralised baselines at equal edges, and against FedAvg."""

from __future__ import annotations

from validation.claims import Claim, Judgement, Plan, Size, overall, row
from validation.claims.hsl_setting import Hubs, problem_of, protocol
from validation.experiment import part
from validation.statistics import Prediction
from validation.tuning import tuned

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
        algorithms = {"HSL": HUBS.algorithm("nodes"), **OTHERS}
        found = yield from tuned(problem_of(SIDE**2, delta), algorithms, protocol(size))
        for name, told in PREDICTED.items():
            pair = f"{HUBS} / {name}", found["HSL"].values, found[name].values
            rows.append(row(f"delta/sigma = {delta:g}", *pair, told))
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
