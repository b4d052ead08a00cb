"""``hfl-plan schema``: JSON Schemas of answers, and of files that are kept."""

from __future__ import annotations

import importlib
import json
import textwrap
from typing import Annotated

from typer import Argument

from planner.cli import completion
from planner.errors import ScenarioError
from planner.io.json_documents import schema_of
from planner.io.listings import OWN, class_of
from planner.io.parts import Part
from planner.io.text import suggest

ANSWERS = {
    "recommend": "planner.decide.recommendation:Recommendation",
    "flip": "planner.decide.sensitivity:Flips",
    "tune": "planner.decide.tuned:Tuned",
    "measure": "planner.report.answers.measure:Measurement",
    "group": "planner.report.answers.group:Grouping",
    "overlap": "planner.report.answers.overlap:Overlap",
    "hubs": "planner.report.answers.hubs:Hubs",
    "async": "planner.report.answers.async_:Asynchronous",
    "compare": "planner.report.answers.compare:Compared",
}
FILES = {
    "scenario-file": "planner.scenario.schema:json_schema",
    "profile-file": "planner.data.profile:Profile",
    "pilot-file": "planner.data.pilot:Pilot",
    "map-file": "planner.decide.phase_diagram:Phase",
    "run-file": "planner.runs.manifest:Manifest",
    "measured-file": "planner.export.measured:Measured",
}
ALIASES = {"scenario": "scenario-file"}
OF = (*ANSWERS, *OWN, *FILES, *ALIASES)


def schema(
    of: Annotated[
        str | None,
        Argument(
            metavar="[NAME]",
            help="command, with dashes, such as bounds-show, or file, such as scenario-file [a list]",
            autocompletion=completion.of_words(OF),
        ),
    ] = None,
) -> str:
    """Print the JSON Schema of a command's answer or of a kept file, or list them.

    Examples:
        hfl-plan schema
        hfl-plan schema recommend
        hfl-plan schema scenario-file
    """
    if of is None:
        listed = (
            f"Answers  {', '.join((*ANSWERS, *OWN))}",
            f"Files    {', '.join(FILES)}",
            "Next     hfl-plan schema NAME",
        )
        told = (textwrap.fill(text, 80, subsequent_indent=" " * 9, break_on_hyphens=False) for text in listed)
        return "\n".join((*told, ""))
    if of not in OF:
        way = suggest(of, OF) or "`hfl-plan schema` lists them."
        raise ScenarioError(f"schema: {of!a:.60} is not the name of a schema. {way}", code="E020")
    name = ALIASES.get(of, of)
    if name in OWN:
        made = class_of(name)
    else:
        module, _, word = {**ANSWERS, **FILES}[name].partition(":")
        made = getattr(importlib.import_module(module), word)
    said = schema_of(made) if isinstance(made, type) and issubclass(made, Part) else made()
    return json.dumps(said, indent=2) + "\n"
