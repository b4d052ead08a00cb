"""Overlap where the servers' data are alike: nothing to gain, and something to lose."""

from __future__ import annotations

from functools import partial

from validation.claims import Claim, Plan, Size
from validation.claims.hhfl_setting import APART, BOUND, PAPERS, Predict, against, problem
from validation.statistics import by_ratio


def _plan(size: Size, predict: Predict) -> Plan:
    what = {
        "zeta = 0, sigma = 1": problem(),
        "zeta = 1, sigma = 1": problem(zeta=1.0, curvature=0.01),
        "zeta = 1, sigma = 0.03": problem(zeta=1.0, sigma=0.03, curvature=0.01),
    }
    if size == "full":
        what |= {
            "zeta = 1, sigma = 0.1": problem(zeta=1.0, sigma=0.1, curvature=0.01),
            "zeta = 3, sigma = 0.03": problem(zeta=3.0, sigma=0.03, curvature=0.001),
        }
    return against(what, PAPERS, APART, size, predict)


QUANTITY = "loss above its minimum after the same number of local steps"
CLAIMS = (
    Claim(
        id="hhfl-alike-servers",
        source="liu2026, Section V-B1",
        statement="Where the servers' data are alike, HHFL and HFL are the same.",
        prediction="a tie, however much clients of one server differ",
        quantity=QUANTITY,
        plan=partial(_plan, predict=lambda ratio: "tie"),
        metric="loss",
    ),
    Claim(
        id="hhfl-alike-servers-bound",
        source="hflbounds, docs/theory/hhfl-overlap.md, Theorem 3",
        statement="Where the servers' data are alike, the bound with two levels tells whether overlap helps or harms.",
        prediction=f"{BOUND}: overlap averages noise, and unbalances servers that were alike",
        quantity=QUANTITY,
        plan=partial(_plan, predict=by_ratio),
        metric="loss",
    ),
)
