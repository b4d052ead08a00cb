"""``hfl-plan schema``: JSON Schemas of answers and of scenario files."""

from __future__ import annotations

import importlib
import json
from typing import Annotated

from typer import Argument

from planner.cli import completion
from planner.io.text import one_of

ANSWERS = {
    "recommend": "planner.decide.recommendation:Recommendation",
    "flip": "planner.decide.sensitivity:Flips",
    "tune": "planner.report.answers.tune:Tuned",
    "measure": "planner.report.answers.measure:Measurement",
    "group": "planner.report.answers.group:Grouping",
    "overlap": "planner.report.answers.overlap:Overlap",
    "hubs": "planner.report.answers.hubs:Hubs",
    "async": "planner.report.answers.async_:Asynchronous",
}
OF = (*ANSWERS, "scenario", "pilot")


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
        from planner.io.json_documents import schema_of

        module, _, name = ANSWERS[of].partition(":")
        found = schema_of(getattr(importlib.import_module(module), name))
    return json.dumps(found, indent=2) + "\n"
