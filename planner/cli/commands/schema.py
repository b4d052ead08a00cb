"""``hfl-plan schema``: JSON Schemas of answers and of scenario files."""

from __future__ import annotations

import json
from typing import Annotated

from typer import Argument

from planner.cli import completion
from planner.io.text import one_of

OF = ("recommend", "scenario", "pilot")


def schema(
    of: Annotated[
        str,
        Argument(
            metavar="[NAME]",
            help=f"what it describes: {', '.join(OF)} [recommend]",
            autocompletion=completion.of_words(OF),
        ),
    ] = "recommend",
) -> str:
    """Print the JSON Schema of a command's answer, or of scenario files.

    Examples:
        hfl-plan schema recommend
        hfl-plan schema scenario
    """
    if one_of(of, OF, "schema") == "pilot":
        from planner.data.pilot import Pilot

        found = Pilot.model_json_schema()
    elif of == "scenario":
        from planner.scenario.schema import json_schema

        found = json_schema()
    else:
        from planner.decide.recommendation import Recommendation
        from planner.io.json_documents import schema_of

        found = schema_of(Recommendation)
    return json.dumps(found, indent=2) + "\n"
