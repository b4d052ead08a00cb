"""Hubs and Spokes Learning against Epidemic Learning on handwritten digits, nodes of two labels each."""

from __future__ import annotations

from typing import Literal

from validation.claims import Claim, Judgement, Plan, Size, overall, row
from validation.claims.hsl_setting import Epidemic, Hubs
from validation.experiment import Part, part
from validation.statistics import Prediction, by_ratio
from validation.tuning import Protocol, tuned

PAIRS = ((Hubs(40, 5, 12, 4, 2), Epidemic(40, 4)), (Hubs(40, 4, 9, 1, 1), Epidemic(40, 2)))
K = 3  # local steps, as in the paper's first experiment


def _plan(size: Size, judged: Literal["nodes", "mean"]) -> Plan:
    rows, rates = [], []
    for network in ("digits-logistic",) if size == "quick" else ("digits-logistic", "digits-mlp"):
        problem = part(network, G=1, M=40, partitioned="pathological", kinds=2)
        protocol = Protocol(
            quantity="loss",
            averaged=False,
            rounds=20 if size == "quick" else 40,
            start=4.0,
            tuning=tuple(range(1000, 1006)),
            scoring=tuple(range(8 if size == "quick" else 24)),
            reach=1,
        )
        for hubs, epidemic in PAIRS:
            found = yield from tuned(problem, {str(one): _trained(one, judged) for one in (hubs, epidemic)}, protocol)
            rates.append(", ".join(f"{score.rate:.3g}" for score in found.values()))
            moves = float(hubs.exact()["mean_deviation"] / epidemic.exact()["mean_deviation"])
            told: Prediction = "smaller" if judged == "nodes" else by_ratio(moves)
            pair = f"{hubs} / {epidemic}", found[str(hubs)].values, found[str(epidemic)].values
            rows.append(row(network, *pair, told))
    note = f"Holds in {sum(one.verdict == 'holds' for one in rows)} of {len(rows)} comparisons."
    return Judgement(overall(rows), tuple(rows), f"{note} Effective rates: {'; '.join(rates)}.")


def _trained(what: Hubs | Epidemic, judged: str) -> Part:
    made = what.algorithm(judged)
    return part(made.name, **dict(made.options), K=K)


CLAIMS = (
    Claim(
        id="hsl-digits-nodes",
        source="sharma2025, Section 5",
        statement="At equal edges the nodes' own models are better with HSL than with EL-Local.",
        prediction="smaller",
        quantity="training loss of all data, mean over nodes, after the last round",
        plan=lambda size: _plan(size, "nodes"),
        metric="loss",
    ),
    Claim(
        id="hsl-digits-mean",
        source="hflbounds, docs/theory/hsl-mixing.md; sharma2025.S1",
        statement="At equal edges the mean of the models is worse with HSL than with EL-Local.",
        prediction="mean_deviation of hflbounds.hsl-exact and hflbounds.push-exact: the larger, the worse",
        quantity="training loss of the mean model after the last round",
        plan=lambda size: _plan(size, "mean"),
        metric="loss",
    ),
)
