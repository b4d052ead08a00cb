"""Options that every command shares, and those that say a scenario, made from the table of its fields.

A command is a function of its own options that returns its answer::

    def flip(scenario: Scenario, parameter: Annotated[str, Option("--parameter")] = "M") -> Result: ...

`completed` adds to it the options of the output (``--format --json --output --force --quiet --explain``) and, if its
first parameter is named ``scenario``, every option of the table of fields; it then gets the scenario read. A first
parameter named ``said`` gets what was said instead, to be read on demand. A parameter named ``asked`` gets how the
answer is asked for. An option of the command's own takes the place of the same spelling.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer import Argument, Option
from typer.models import OptionInfo

from planner.cli import completion
from planner.cli.output import Answered, Asked, Result, emit, told, write
from planner.io.progress import progress

if TYPE_CHECKING:
    from planner.scenario.fields import Field
    from planner.scenario.resolve import Scenario

Spoken = Mapping[str, tuple[str, Any]]  # by key of a scenario: the option, and what was written

BESIDE: Mapping[str, Any] = {  # options that say a scenario, and are no field
    "config": Annotated[
        Path | None,
        Option("--config", "-c", metavar="FILE", help="scenario in TOML; options override it", rich_help_panel="Fleet"),
    ],
    "settings": Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="KEY=VALUE",
            help="any key of a scenario: --set network.server_link.up=1Gbit/s",
            rich_help_panel="Answer",
        ),
    ],
    "zeta": Annotated[str | None, Option("--zeta", hidden=True)],
    "delta": Annotated[str | None, Option("--delta", hidden=True)],
}

OUTPUT: Mapping[str, Any] = {  # options of every answer
    "output": Annotated[str | None, Option("--output", "-o", metavar="FILE", help="{files}; - is stdout")],
    "form": Annotated[
        str | None,
        Option(
            "--format",
            "-f",
            metavar="NAME",
            help="table, json, csv, markdown, html or latex",
            autocompletion=completion.formats,
        ),
    ],
    "json": Annotated[bool, Option("--json", "-j", help="the same as --format json")],
    "explain": Annotated[
        str | None, Option("--explain", metavar="[SECTION]", help="all details, or those of one section")
    ],
    "quiet": Annotated[bool, Option("--quiet", "-q", help="the verdict alone, without notes; json and csv have all")],
    "force": Annotated[bool, Option("--force", help="overwrite files that exist")],
    "report": Annotated[
        str | None,
        Option("--report", metavar="FILE", help="report to send: one .html file with pictures, without network"),
    ],
}

LETTER = len("--G")  # letters of an option that has a longer name beside it
WRITTEN = "hfl-plan.written"  # where a context has the names of options as they were written
Seed = Annotated[
    int, Option("--seed", metavar="N", help="seed of every random draw", min=0, max=2**31, rich_help_panel="Answer")
]
CountsFile = Annotated[Path, Argument(metavar="COUNTS.csv", help="client,group,<label>... or client,group,label,count")]
Gram = Annotated[
    Path | None,
    Option("--gram", metavar="FILE", help="CSV of inner products of class gradients, as `estimate --gram` writes it"),
]
PictureFile = Annotated[
    Path, Option("--output", "-o", help="picture: .svg .pdf or .png; its numbers go beside it as CSV")
]
OverwriteBoth = Annotated[bool, Option("--force", help="overwrite both files")]
SkipEmpty = Annotated[bool, Option("--skip-empty", help="leave out clients without samples")]
FAMILY = (  # keys of a scenario that other families of algorithms read too
    *("problem.heterogeneity", "problem.sigma", "problem.smoothness", "problem.initial_gap", "problem.rounds"),
    *(f"network.client_link.{name}" for name in ("preset", "up", "down", "latency")),
    *("network.server_link.preset", "model.size", "compute.step_time", "plan.seed"),
)


def named(words: Iterable[str]) -> frozenset[str]:
    """Return the names of options in a command line; those of a letter have a longer one beside them."""
    return frozenset(word.partition("=")[0] for word in words if word.startswith("--") and len(word) > LETTER)


@dataclass(frozen=True, slots=True)
class Declared:
    """What a command says of its shared options."""

    only: Collection[str] = ()  # keys of a scenario that it has options for; all if empty
    without: Collection[str] = ()  # keys that it has no option for, and names of `BESIDE`
    # by key, other spellings and help, and the default where it is another
    reworded: Mapping[str, tuple[str, str] | tuple[str, str, str]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # by suffix, what ``--output`` writes as well, in words
    of_scenario: bool = False  # whether a scenario is all that it answers: its answer repeats and draws what was said


_DECLARED: dict[Answered, Declared] = {}


@dataclass(frozen=True, slots=True)
class Said:
    """What a command line says of a scenario."""

    config: Path | None  # the scenario file, if any
    options: Spoken  # by key, the option and what was written

    def scenario(self, instead: Mapping[str, Any] | None = None, source: str = "") -> Scenario:
        """Read the scenario; by key, values ``instead`` of those of options, which ``source`` says."""
        from planner.families.scenario import load
        from planner.scenario.fields import FIELDS

        named = {field.key: field.options[0] for field in FIELDS if field.options}
        other = {key: (source or named[key], value) for key, value in (instead or {}).items() if value is not None}
        return load(self.config, {**self.options, **other})

    def toml(self) -> str:
        """Write what was said as a scenario file; "" where nothing was, or TOML cannot hold it."""
        from planner.io.toml_text import toml
        from planner.runs.manifest import told

        if self.config is None and not self.options:
            return ""
        plain = {
            key: (option, int(text) if str(text).isdecimal() else text) for key, (option, text) in self.options.items()
        }
        try:
            return toml({"schema_version": 1, **told(self.config, plain)})
        except TypeError:
            return ""


def declare(**said: Any) -> Callable[[Answered], Answered]:
    """Say which shared options a command has; see `Declared`."""

    def with_it(command: Answered) -> Answered:
        _DECLARED[command] = Declared(**said)
        return command

    return with_it


@dataclass(frozen=True, slots=True)
class Shape:
    """What a command takes: its own parameters, and those that it shares with others."""

    first: str  # name of the parameter that a scenario goes to: ``scenario``, ``said`` or ""
    own: list[inspect.Parameter]  # parameters of its own, with their options
    fields: Mapping[str, tuple[Field, tuple[str, ...], str]]  # by parameter: field, spellings that are left, help
    shared: Mapping[str, Any]  # options of the scenario and of the output
    takes_asked: bool  # whether it is told how the answer is asked for
    returned: str  # what its annotation says first of what it answers: ``Result``, ``str`` or ``None``
    declared: Declared  # what it says of shared options

    @classmethod
    def of(cls, command: Answered) -> Shape:
        """Read what a command takes."""
        declared = _DECLARED.get(command, Declared())
        first = next(iter(inspect.signature(command).parameters), "")
        of_scenario = first in ("scenario", "said")
        own = _own_parameters(command, of_scenario)
        taken = {name for parameter in own for name in spellings(parameter.annotation)}
        fields = _fields(declared, taken) if of_scenario else {}
        shared = {name: one for name, one in BESIDE.items() if of_scenario and name not in declared.without}
        shared |= {name: _option(*one) for name, one in fields.items()}
        returned = str(command.__annotations__.get("return")).split(" |")[0]
        shared |= {
            name: _in_output(annotation, declared)
            for name, annotation in OUTPUT.items()
            if not taken & set(spellings(annotation)) and (name != "report" or returned not in ("str", "None"))
        }
        takes_asked = "asked" in inspect.signature(command).parameters
        return cls(first if of_scenario else "", own, fields, shared, takes_asked, returned, declared)

    def said(self, given: Mapping[str, Any], written: Collection[str] = ()) -> Said:
        """Return what the options of a command line say of a scenario, of which ``given`` has the values by parameter.

        An option is named as it was ``written``, else by its first name.
        """
        options = {
            field.key: (next((word for word in left if word in written), left[0]), given[name])
            for name, (field, left, _) in self.fields.items()
            if given[name] is not None
        }
        return Said(given.get("config"), _spoken(given, options))

    def answered(self, command: Answered, subject: Any, arguments: Mapping[str, Any], asked: Asked) -> Any:
        """Call the command with its arguments, after the scenario or what was said of it where it takes one."""
        beside = {"asked": asked} if self.takes_asked else {}
        answer = command(*[subject] * bool(self.first), **arguments, **beside)
        return replace(answer, scenario=subject) if self.first == "scenario" and isinstance(answer, Result) else answer


def completed(command: Answered) -> Callable[..., None]:
    """Give a command the shared options beside its own, and write what it answers; once, however often it is asked."""
    command = getattr(command, "command", command)
    shape = Shape.of(command)

    def run(call: Any = None, **given: Any) -> None:
        asked = _asked({name: given[name] for name in shape.shared}).checked(shape.declared.files)
        arguments = {parameter.name: given[parameter.name] for parameter in shape.own}
        told = shape.said(given, call.meta[WRITTEN]) if shape.first else None
        subject = told.scenario() if told is not None and shape.first == "scenario" else told
        _show(shape.answered(command, subject, arguments, asked), asked, told)

    call = inspect.Parameter("call", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [call] if shape.first else []
    parameters += [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in shape.own]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=unsaid(annotation), annotation=annotation)
        for name, annotation in shape.shared.items()
    ]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.command, run.said = command, shape.said  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def unsaid(annotation: Any) -> bool | None:
    """Return what a shared option is where it is not given."""
    return False if get_args(annotation)[0] is bool else None


def _show(answer: Any, asked: Asked, said: Said | None) -> None:
    progress("")  # of the work that is done
    if isinstance(answer, str) and asked.file is not None:
        from planner.io import atomic

        atomic.write(asked.file, answer, asked.force)
        told(f"wrote {asked.file}")
    elif isinstance(answer, str):
        write(answer)
    elif isinstance(answer, Result):
        emit(answer, asked, said.toml() if said is not None and asked.reports else "")
        if answer.code:
            raise typer.Exit(answer.code)


def _asked(given: Mapping[str, Any]) -> Asked:
    form, json = given.get("form"), given.get("json", False)
    if json and form not in (None, "json"):
        raise typer.BadParameter(f"--format: {form} contradicts --json. Give one of the two.")
    rest = {name: given[name] for name in ("output", "force", "quiet", "explain", "report") if name in given}
    return Asked("json" if json else form, **rest)


def _in_output(annotation: Any, declared: Declared) -> Any:
    """Put an option into the panel of the output; that of files says which there are."""
    kind, option = get_args(annotation)
    files = [f"{suffix} ({what})" for suffix, what in declared.files.items()]
    others = [suffix for suffix in (".html", ".json", ".csv", ".md", ".tex", ".txt") if suffix not in declared.files]
    made = copy(option)
    made.help = (option.help or "").format(files=" ".join([*files, *others]))
    made.rich_help_panel = "Answer" if option.default == "--explain" else "Output"
    return Annotated[kind, made]


def _fields(declared: Declared, taken: set[str]) -> dict[str, tuple[Field, tuple[str, ...], str]]:
    """The fields of a scenario that a command has options for: spellings that are left, and help."""
    from planner.scenario.fields import FIELDS

    found = {}
    for one in FIELDS:
        if one.key not in declared.without and (not declared.only or one.key in declared.only):
            spellings, text, *default = declared.reworded.get(one.key, (one.spellings, one.help))
            if left := tuple(name for name in spellings.split() if name not in taken):
                told = replace(one, default=default[0]) if default else one
                found[one.key.replace(".", "_")] = told, left, text
    return found


def _option(one: Field, spellings: tuple[str, ...], words: str) -> Any:
    made = Option(
        *spellings,
        metavar=one.kind.word,
        help=f"{words} [{one.default}]" if one.default else words,
        rich_help_panel=one.panel,
        autocompletion=completion.of_words(one.kind.schema.get("enum", ())),
    )
    return Annotated[str | None, made]


def _spoken(given: Mapping[str, Any], options: Spoken) -> Spoken:
    """Add what ``--set`` says to the options."""
    if given.get("zeta") is not None or given.get("delta") is not None:
        raise typer.BadParameter(
            "--zeta, --delta: zeta is INTRA-group here and in zhou2026, but INTER-group in zhou2025, "
            "so it is not taken bare. Write --heterogeneity zeta=0.5,delta=2 (zeta intra-group, delta inter-group)."
        )
    said: dict[str, tuple[str, Any]] = {}
    for setting in given.get("settings") or []:
        path, sign, value = setting.partition("=")
        if not sign or not path:
            from planner.scenario.fields import FIELDS

            example = next((f"{one.key}={one.kind.word}" for one in FIELDS if one.key == path), "network.tiers=1")
            raise typer.BadParameter(f"--set: {setting!a:.60} is not key=value. Write --set {example}.")
        if path.strip() in said:
            raise typer.BadParameter(f"--set: {path.strip()} is set twice. Set it once.")
        said[path.strip()] = (f"--set {path.strip()}", value.strip())
    for path in said.keys() & options.keys():
        raise typer.BadParameter(f"--set: {path} is also given by {options[path][0]}. Give one of the two.")
    return {**said, **options}


def _own_parameters(command: Answered, of_scenario: bool) -> list[inspect.Parameter]:
    written = {name: value for name, value in command.__annotations__.items() if name != "return"}
    hints = get_type_hints(
        SimpleNamespace(__annotations__=written), vars(sys.modules[command.__module__]), {"Scenario": Any}, True
    )
    parameters = list(inspect.signature(command).parameters.values())[of_scenario:]
    return [p.replace(annotation=_spelled(p.name, hints[p.name])) for p in parameters if p.name != "asked"]


def _spelled(name: str, annotation: Any) -> Any:
    """Spell an option that names nothing as its parameter."""
    parts = get_args(annotation)
    if spellings(annotation) or not parts or not isinstance(parts[-1], OptionInfo):
        return annotation
    option = copy(parts[-1])
    option.default = f"--{name.replace('_', '-')}"
    return Annotated[parts[0], option]


def spellings(annotation: Any) -> tuple[str, ...]:
    """List the names of an option, the first first; none for an argument."""
    option = next((part for part in get_args(annotation) if hasattr(part, "param_decls")), None)
    if option is None:
        return ()
    # In an annotation an option's first name stands where its default would be.
    return tuple(name for name in (option.default, *(option.param_decls or ())) if isinstance(name, str))
