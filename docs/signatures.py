"""Write planner/signatures.pyi: for type checkers and editors, what `planner` makes of its commands when it is asked.

Run ``python docs/signatures.py`` after a change of an option; tests say when it is out of step.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import planner
from planner.cli import functions
from planner.cli.functions import Group
from planner.scenario.fields import FIELDS
from planner.scenario.keywords import Keyword, of_field

FILE = Path(__file__).parents[1] / "planner" / "signatures.pyi"
HEAD = '''"""What type checkers and editors read of the functions of `planner`; written by docs/signatures.py."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from planner.decide.recommendation import Recommendation
from planner.io.answers import Answer
from planner.io.frames import Frame
from planner.report.results import Page
from planner.scenario.values import Scenario

Words = str | float | Sequence[str | float]
File = str | Path | Frame
Config = str | Path | Mapping[str, Any]
'''
SHORT = {
    "str | float | Sequence[str | float]": "Words",
    "str | Path | Frame | Mapping[str, Any]": "File | Mapping[str, Any]",
    "str | Path | Frame": "File",
    "str | Path | Mapping[str, Any]": "Config",
}
MOST = 30  # keywords of scenarios, from which on they are written together


def text() -> str:
    """Return the file."""
    fields = [of_field(one, one.options, one.help) for one in FIELDS if one.options]
    lines = [HEAD, "class Options(TypedDict, total=False):", '    """Keywords that say a scenario."""', ""]
    lines += [f"    {word}: {kind(one.type)}" for one in fields for word in (one.name, *one.aliases)]
    shared = {one.name: one for one in fields}
    for name in ("load_scenario", "recommend", *sorted(set(functions.names()) - {"recommend", "pilot"})):
        found = getattr(planner, name)
        if isinstance(found, Group):
            lines += ["", f"class {name}:", f'    """{found.__doc__}"""', ""]
            for word, function in sorted(found.functions().items()):
                lines += ["    @staticmethod", *("    " + line for line in stub(word, function, shared))]
        else:
            lines += ["", *stub(name, found, shared)]
    return "\n".join(lines) + "\n"


def stub(name: str, function: Any, shared: dict[str, Keyword]) -> Iterator[str]:
    """Write a function; the keywords of scenarios together where it has most of them."""
    signature = inspect.signature(function)
    known = list(signature.parameters.values())
    together = {one.name for one in known if one.name in shared and one.annotation == shared[one.name].type}
    whole = len(together) > MOST or any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known)
    parts, keyword_only = [], False
    for one in known:
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        if not (whole and one.name in together):
            default = "" if one.default is inspect.Parameter.empty else " = ..."
            parts.append(f"{one.name}: {kind(one.annotation)}{default}")
    if parts and parts[-1] == "*":
        parts.pop()
    if whole:
        parts.append("**options: Unpack[Options]")
    returned = signature.return_annotation
    yield f"def {name}({', '.join(parts)}) -> {kind(returned)}: ..."


def kind(annotation: Any) -> str:
    """Write a type as source."""
    if annotation is None or annotation is type(None):
        return "None"
    said = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    said = re.sub(r"Optional\[(Literal\[[^\]]*\])\]", r"\1 | None", said)
    said = re.sub(r"(?:[a-z_]+\.)+(?=[A-Z])", "", said).replace("typing.", "").replace("NoneType", "None")
    for whole, short in SHORT.items():
        said = said.replace(whole, short)
    return said


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
