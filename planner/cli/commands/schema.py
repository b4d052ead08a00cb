"""``hfl-plan schema``."""

from __future__ import annotations

import json
from typing import Annotated

from typer import Argument

from planner.cli.output import write
from planner.io.text import one_of

OF = ("recommendation", "scenario")


def schema(
    of: Annotated[
        str, Argument(metavar="[recommendation|scenario]", help="Of an answer, or of a scenario file.")
    ] = "recommendation",
) -> None:
    """Print the JSON Schema of what `recommend --json` prints, or of scenario files."""
    if one_of(of, OF, "schema") == "scenario":
        from planner.scenario.schema import json_schema

        found = json_schema()
    else:
        from planner.decide.recommendation import Recommendation

        found = Recommendation.model_json_schema()
    write(json.dumps(found, indent=2) + "\n")
