"""Keywords of Python functions: what they take, and how signatures and docstrings say it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from planner.io.answers import Answer
from planner.io.frames import Frame
from planner.io.text import suggest
from planner.scenario.fields import FIELDS, Field
from planner.scenario.values import Scenario

MISSING: Any = inspect.Parameter.empty
OF_WORDS: Mapping[str, Any] = {  # types, by the word that stands for a value in a help text; text where none is there
    "N": int | str | None,
    "NUMBER": float | str | None,
    "VALUE": float | str | None,
    "SHARE": float | str | None,
    "KIND": str | Path | Frame | Answer | Mapping[str, Any] | None,
    "FILE": str | Path | Frame | Answer | None,
}


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of a function."""

    name: str  # as it is written
    type: Any  # what it takes
    default: Any = None  # where nothing is given; `MISSING` where something has to be
    help: str = ""  # A noun phrase
    aliases: tuple[str, ...] = ()  # other names of it
    argument: bool = False  # whether it may be given by place
    parameter: str = ""  # of the command; "" for a field of a scenario
    declared: Any = None  # what the option of the command takes; None where it has none of its own
    option: Any = None  # declares its limits


CONFIG = Keyword(
    "config",
    str | Path | Mapping[str, Any] | Scenario | None,
    help="scenario: a TOML file, its tables, or one that was loaded",
    argument=True,
    parameter="config",
)
SETTINGS = Keyword(
    "settings",
    Mapping[str, Any] | None,
    help='any key of a scenario: {"network.server_link.up": "1Gbit/s"}',
    parameter="settings",
)


OF_SHELLS = {  # what Python has in the place of options
    "set": "Write settings={'plan.draws': 0}.",
    **dict.fromkeys(("json", "format"), "The answer has to_json(), to_frame() and to_html()."),
    "explain": "The answer has explain().",
    "quiet": "The answer has verdict.text.",
    **dict.fromkeys(("zeta", "delta"), "Write heterogeneity='zeta=0.5,delta=2'."),
}


def hint(word: str, known: Iterable[str]) -> str:
    """Say what to write in place of a keyword that there is not; "" where nothing is near."""
    return OF_SHELLS.get(word) or suggest(word, known)


def named(option: str) -> str:
    """Return the keyword of an option: ``--local-steps`` is ``local_steps``, and ``--set`` is ``settings``."""
    return "settings" if option == "--set" else option.lstrip("-").replace("-", "_")


def of_field(field: Field, spellings: Sequence[str], text: str) -> Keyword:
    """Return the keyword of a field of a scenario, by the spellings of its option."""
    longs = [named(name) for name in spellings if name.startswith("--")]
    choices = tuple(field.kind.schema.get("enum", ()))
    kind: Any = Literal[choices] | None if choices else OF_WORDS.get(field.kind.word, str | None)
    told = f"{text} [{field.default}]" if field.default else text
    return Keyword(longs[0], kind, None, told, tuple(longs[1:]))


def of_scenarios() -> list[Keyword]:
    """Return the keywords that say a scenario."""
    return [of_field(one, one.options, one.help) for one in FIELDS if one.options]


def expanded(function: Callable[..., Any], known: Sequence[Keyword]) -> Callable[..., Any]:
    """Give a function that passes ``**options`` on the keywords of these: in its signature and its docstring."""
    own = inspect.signature(function)
    parameters = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    function.__signature__ = own.replace(parameters=[*parameters, *_parameters(known)])  # type: ignore[attr-defined]
    before, _, after = (inspect.getdoc(function) or "").partition("    options: ")
    function.__doc__ = "\n".join([before.rstrip(), *map(described, known), after.partition("\n")[2]])
    return function


def signed(
    function: Callable[..., Any], about: str, known: Sequence[Keyword], returned: Any, examples: Iterable[str] = ()
) -> Callable[..., Any]:
    """Give a function the signature and the docstring of its keywords."""
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        _parameters(known), return_annotation=returned
    )
    lines = [in_python(about), "", "Args:", *map(described, known), "", "Returns:"]
    lines += ["    The answer: `str`, `to_frame`, `to_html`, `to_json`, `explain` and `save` show it.", "", "Raises:"]
    lines += ["    TypeError: For a keyword that there is not.", "    ScenarioError: For a value that is refused."]
    lines += ["    NoAnswerError: Where there is no answer."]
    calls = [f"    >>> {call}  # doctest: +SKIP" for call in examples]
    function.__doc__ = "\n".join([*lines, *(["", "Examples:", *calls] if calls else [])]) + "\n"
    return function


def parameter(one: Keyword) -> inspect.Parameter:
    """Return a keyword as a parameter of a signature."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if one.argument else inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(one.name, kind, default=one.default, annotation=one.type)


def _parameters(known: Iterable[Keyword]) -> list[inspect.Parameter]:
    """Return keywords as parameters, under all their names, of which the first alone may have to be given."""
    found = []
    for one in known:
        other = replace(one, default=None if one.default is MISSING else one.default)
        found += [parameter(one), *(parameter(replace(other, name=name)) for name in one.aliases)]
    return found


def described(one: Keyword) -> str:
    """Return the line of a keyword in a docstring."""
    other = f" ({', '.join(one.aliases)})" if one.aliases else ""
    text = in_python(one.help).rstrip(".")
    return f"    {one.name}{other}: {text[:1].upper()}{text[1:]}."


def in_python(text: str) -> str:
    """Write options as keywords: ``--local-steps`` as ``local_steps``."""
    return re.sub(r"(?<![\w-])--([a-z][a-z-]+)", lambda found: named(found.group(0)), text)
