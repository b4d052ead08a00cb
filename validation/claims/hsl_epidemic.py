"""Hubs and Spokes Learning against Epidemic Learning at equal edges: at the nodes, and at their mean."""

from __future__ import annotations

from typing import Literal

from validation.claims import Claim, Judgement, Plan, Size, overall
from validation.claims.hsl_setting import Epidemic, Hubs, compared, scenario, scores

QUICK = ((Hubs(40, 5, 12, 4, 2), Epidemic(40, 4)), (Hubs(40, 4, 9, 1, 1), Epidemic(40, 2)))
FULL = (*QUICK, (Hubs(100, 10, 15, 5, 2), Epidemic(100, 4)), (Hubs(40, 8, 5, 5, 2), Epidemic(40, 4)))


def _plan(size: Size, judged: Literal["nodes", "mean"]) -> Plan:
    rows, rates = [], []
    for delta in (0.0, 3.0) if size == "quick" else (0.0, 1.0, 3.0):
        for hubs, epidemic in QUICK if size == "quick" else FULL:
            if judged == "nodes":
                told = hubs.bound(scenario(delta, size)) / epidemic.bound(scenario(delta, size))
            else:
                told = float(hubs.exact()["mean_deviation"] / epidemic.exact()["mean_deviation"])
            found = yield from scores(delta, (hubs, epidemic), size, judged)
            rows.append(compared(f"delta/sigma = {delta:g}", hubs, epidemic, found, told))
            rates.append(f"{found[hubs].rate:.3g} and {found[epidemic].rate:.3g}")
    return Judgement(overall(rows), tuple(rows), f"Rates of HSL and EL-Local: {'; '.join(rates)}.")


CLAIMS = (
    Claim(
        id="hsl-nodes",
        source="sharma2025, Section 5 and Theorem 4.4",
        statement="At equal edges HSL trains the nodes' models faster than EL-Local.",
        prediction="sharma2025.thm4-4 and devos2023.el-local, each at its tuned step",
        quantity="squared gradient, mean over nodes and rounds: the left-hand side of the theorem",
        plan=lambda size: _plan(size, "nodes"),
    ),
    Claim(
        id="hsl-mean",
        source="hflbounds, docs/theory/hsl-mixing.md; sharma2025.S1",
        statement="At equal edges HSL trains the mean model slower than EL-Local: its mixing moves the mean more.",
        prediction="mean_deviation of hflbounds.hsl-exact and hflbounds.push-exact: the larger, the slower",
        quantity="squared gradient at the mean model, mean over rounds",
        plan=lambda size: _plan(size, "mean"),
    ),
)
