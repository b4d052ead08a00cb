"""Overlap helps where the servers' data differ."""

from __future__ import annotations

from validation.claims import Claim, Plan, Size
from validation.claims.hhfl_setting import APART, BOUND, PAPERS, against, problem
from validation.statistics import by_ratio


def _plan(size: Size) -> Plan:
    deltas = (0.3, 1.0, 3.0) if size == "quick" else (0.1, 0.3, 1.0, 3.0, 10.0)
    what = {f"delta/sigma = {delta:g}": problem(delta=delta) for delta in deltas}
    return against(what, PAPERS, APART, size, by_ratio)


CLAIMS = (
    Claim(
        id="hhfl-edge-heterogeneity",
        source="liu2026, Remark 5 and Section V-B2; the printed constants are the same with and without overlap",
        statement="Where the servers' data differ, HHFL ends at a smaller loss than HFL after as many local steps.",
        prediction=f"{BOUND}, with the levels of either coverage",
        quantity="loss above its minimum after the same number of local steps",
        plan=_plan,
        metric="loss",
    ),
)
