"""What a plan costs where it is run: the target's network in place of the planned one."""

from __future__ import annotations

from planner.decide.rank import recommend
from planner.decide.recommendation import Recommendation
from planner.export.plan import Plan
from planner.export.targets import Target
from planner.io.parts import Part, field


class Price(Part):
    """Time and traffic of the exported topology, and what would be best, on one network."""

    best: tuple[str, ...] = field("topologies that tie for the first place there")
    rank: int = field("of the exported topology there")
    time_seconds: float | None
    traffic_bytes: float | None
    round_seconds: float | None
    round_bytes: float | None


def prices(plan: Plan, target: Target) -> tuple[Price, Price | None]:
    """Price a plan as it was planned, and as a target runs it; None where the target sends nothing."""
    planned = _price(plan.answer, plan.row.id)
    if target.network is None:
        return planned, None
    return planned, _price(recommend(target.run(plan.scenario), details=False), plan.row.id)


def _price(answer: Recommendation, topology: str) -> Price:
    row = answer.row(topology)
    numbers = ("time_seconds", "traffic_bytes", "round_seconds", "round_bytes")
    known = {name: None if (number := getattr(row, name)) is None else float(number) for name in numbers}
    return Price(best=answer.recommended, rank=row.rank, **known)
