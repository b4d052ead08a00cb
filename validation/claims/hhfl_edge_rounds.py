"""The gain of overlap grows with the edge rounds between two cloud rounds."""

from __future__ import annotations

from validation.claims import Claim, Plan, Size
from validation.claims.hhfl_setting import BOUND, growth, problem
from validation.statistics import by_ratio


def _plan(size: Size) -> Plan:
    counts = (2, 5, 10) if size == "quick" else (1, 2, 5, 10, 20)
    return growth(problem(delta=1.0), [{"E": 5, "Ge": Ge} for Ge in counts], size, by_ratio)


CLAIMS = (
    Claim(
        id="hhfl-edge-rounds",
        source="liu2026, Remark 5; hflbounds, docs/theory/hhfl-overlap.md, Section 6",
        statement="The advantage of HHFL grows with the edge rounds between two cloud rounds.",
        prediction=f"{BOUND}, the ratio with overlap to without at one Ge over that at a smaller Ge",
        quantity="loss above its minimum after the same number of local steps, HHFL over HFL, at one Ge over a smaller",
        plan=_plan,
        metric="loss",
    ),
)
