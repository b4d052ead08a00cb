"""One JSON document, as the contract has it."""

from __future__ import annotations

import json

from planner.decide.recommendation import Recommendation


def render(answer: Recommendation, *, width: int, color: bool) -> str:
    """Indented JSON without NaN and infinity."""
    return json.dumps(answer.to_json(), indent=2, allow_nan=False) + "\n"
