"""What local steps between edge rounds do to the gain of overlap."""

from __future__ import annotations

from functools import partial

from validation.claims import Claim, Plan, Size
from validation.claims.hhfl_setting import BOUND, Predict, growth, problem
from validation.statistics import by_ratio


def _plan(size: Size, predict: Predict) -> Plan:
    counts = (2, 5, 10) if size == "quick" else (1, 2, 5, 10, 20)
    return growth(problem(delta=1.0), [{"E": E, "Ge": 5} for E in counts], size, predict)


QUANTITY = (
    "loss above its minimum after the same number of local steps, HHFL over HFL, at one E over that at a smaller E"
)
CLAIMS = (
    Claim(
        id="hhfl-local-steps",
        source="liu2026, Remark 5",
        statement="The advantage of HHFL grows with E.",
        prediction="smaller; no printed statement depends on the coverage, so none of the catalogue predicts it",
        quantity=QUANTITY,
        plan=partial(_plan, predict=lambda ratio: "smaller"),
        metric="loss",
    ),
    Claim(
        id="hhfl-local-steps-bound",
        source="hflbounds, docs/theory/hhfl-overlap.md, Sections 5 and 6",
        statement="The advantage of HHFL hardly depends on E: drift grows with E with and without overlap.",
        prediction=f"{BOUND}, the ratio with overlap to without at one E over that at another",
        quantity=QUANTITY,
        plan=partial(_plan, predict=by_ratio),
        metric="loss",
    ),
)
