"""Ranking by the mixing factor alone: a hub that copies one spoke to all mixes perfectly, and learns from one spoke."""

from __future__ import annotations

import math
from typing import Literal

from validation.claims import Claim, Judgement, Plan, Size, overall
from validation.claims.hsl_setting import Epidemic, Hubs, compared, scenario, scores

COPY = Hubs(40, 1, 1, 0, 1)
QUICK = (
    (COPY, Epidemic(40, 1)),
    (COPY, Hubs(40, 4, 9, 1, 1)),
    (Hubs(40, 4, 9, 1, 1), Epidemic(40, 2)),  # for contrast: here both ways of ranking agree
)
FULL = (
    *QUICK,
    (COPY, Epidemic(40, 4)),
    (Hubs(40, 1, 3, 0, 1), Epidemic(40, 2)),
    (Hubs(100, 1, 1, 0, 1), Epidemic(100, 1)),
)


def _plan(size: Size, by: Literal["beta", "bound"]) -> Plan:
    rows = []
    for delta in (0.0, 1.0) if size == "quick" else (0.0, 1.0, 3.0):
        constants = scenario(delta, size)
        for above, below in QUICK if size == "quick" else FULL:
            if by == "beta":
                told = above.beta() / below.beta() if below.beta() else math.nan
            else:
                told = above.bound(constants, "-order") / below.bound(constants, "-order")
            found = yield from scores(delta, (above, below), size, "nodes")
            rows.append(compared(f"delta/sigma = {delta:g}", above, below, found, told))
    note = f"{COPY}: beta = {COPY.beta():.3g}, mean deviation {float(COPY.exact()['mean_deviation']):.3g}."
    return Judgement(overall(rows), tuple(rows), note)


QUANTITY = "squared gradient, mean over nodes and rounds: the left-hand side of the theorem"
CLAIMS = (
    Claim(
        id="hsl-ranked-by-beta",
        source="sharma2025, Section 4.2 and Figures 2 and 3",
        statement="Of two protocols the one with the smaller mixing factor trains faster.",
        prediction="sharma2025.beta and devos2023.beta-local",
        quantity=QUANTITY,
        plan=lambda size: _plan(size, "beta"),
    ),
    Claim(
        id="hsl-ranked-by-bound",
        source="sharma2025, Theorem 4.4; sharma2025.S1",
        statement="Of two protocols the one with the smaller bound, which counts the mean deviation, trains faster.",
        prediction="sharma2025.thm4-4-order and devos2023.el-local-order, with unit constants",
        quantity=QUANTITY,
        plan=lambda size: _plan(size, "bound"),
    ),
)
