"""``hfl-plan schema``."""

from __future__ import annotations

import json

from planner.cli.output import write


def schema() -> None:
    """Print the JSON Schema of what `recommend --json` prints."""
    from planner.decide.recommendation import Recommendation

    write(json.dumps(Recommendation.model_json_schema(), indent=2) + "\n")
