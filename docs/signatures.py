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

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from planner.decide.recommendation import Recommendation
from planner.io.answers import Answer
from planner.io.frames import Frame
from planner.scenario.values import Scenario
from planner.serve.widget import WhatIf

Words = str | float | Sequence[str | float]
File = str | Path | Frame
Config = str | Path | Mapping[str, Any]
'''
SHORT = {
    "str | float | Sequence[str | float]": "Words",
    "str | Path | Frame | Answer | Mapping[str, Any]": "File | Answer | Mapping[str, Any]",
    "str | Path | Frame | Answer": "File | Answer",
    "str | Path | Frame | Mapping[str, Any]": "File | Mapping[str, Any]",
    "str | Path | Frame": "File",
    "str | Path | Mapping[str, Any]": "Config",
}
FACE = ("load_scenario", "recommend", "what_if")  # functions with keywords of scenarios that are no command
MOST = 30  # keywords of scenarios, from which on they are written together


def text() -> str:
    """Return the file."""
    fields = [of_field(one, one.options, one.help) for one in FIELDS if one.options]
    shared = {name: one for one in fields for name in (one.name, *one.aliases)}
    alone = {name for _, function in every() for name in own(function, shared)}
    others = {one.name for one in fields if alone & {one.name, *one.aliases}}
    lines = [HEAD, "class Common(TypedDict, total=False):", '    """Keywords that say one thing everywhere."""', ""]
    lines += [line for one in fields if one.name not in others for line in keys(one)]
    lines += ["", "class Options(Common, total=False):", '    """Keywords that say a scenario."""', ""]
    lines += [line for one in fields if one.name in others for line in keys(one)]
    for name in (*FACE, *sorted(set(functions.names()) - set(FACE))):
        found = getattr(planner, name)
        if isinstance(found, Group):
            lines += ["", f"class {name}:", f'    """{found.__doc__}"""', ""]
            for word, function in sorted(found.functions().items()):
                lines += ["    @staticmethod", *("    " + line for line in stub(word, function, shared, others))]
        else:
            lines += ["", *stub(name, found, shared, others)]
    return "\n".join(lines) + "\n"


def every() -> Iterator[tuple[str, Any]]:
    """Name every function, those of groups too."""
    for name in (*FACE, *sorted(set(functions.names()) - set(FACE))):
        found = getattr(planner, name)
        yield from found.functions().items() if isinstance(found, Group) else [(name, found)]


def keys(one: Keyword) -> Iterator[str]:
    """Write a keyword and its other names as keys of a typed mapping."""
    yield from (f"    {word}: {kind(one.type)}" for word in (one.name, *one.aliases))


def whole(function: Any, shared: dict[str, Keyword]) -> bool:
    """Return whether most keywords of scenarios are keywords of a function."""
    known = inspect.signature(function).parameters.values()
    together = {one.name for one in known if one.name in shared and one.annotation == shared[one.name].type}
    return len(together) > MOST or any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known)


def own(function: Any, shared: dict[str, Keyword]) -> set[str]:
    """Return the keywords that a function with most of those of scenarios takes in a form of its own."""
    known = inspect.signature(function).parameters.values()
    alone = {one.name for one in known if one.name not in shared or one.annotation != shared[one.name].type}
    return alone if whole(function, shared) else set()


def stub(name: str, function: Any, shared: dict[str, Keyword], others: set[str]) -> Iterator[str]:
    """Write a function; the keywords of scenarios together where it has most of them."""
    signature, alone = inspect.signature(function), own(function, shared)
    clash = any(alone & {one.name, *one.aliases} for one in shared.values())
    most = whole(function, shared)
    parts, keyword_only = [], False
    for one in signature.parameters.values():
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        listed = not most or one.name in alone or (clash and one.name in others)
        if listed and one.kind is not inspect.Parameter.VAR_KEYWORD:
            default = "" if one.default is inspect.Parameter.empty else " = ..."
            parts.append(f"{one.name}: {kind(one.annotation)}{default}")
    if parts and parts[-1] == "*":
        parts.pop()
    if most:
        parts.append(f"**options: Unpack[{'Common' if clash else 'Options'}]")
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
