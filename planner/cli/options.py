"""Options of the command line that say a scenario, made from the table of its fields.

A command takes a scenario first, and then options of its own::

    def flip(scenario: Scenario, parameter: Annotated[str, Option("--parameter")] = "M") -> None: ...

It then has every option of the table beside these, and gets the scenario read. A first parameter named ``said`` gets
what was said instead, to be read on demand. An option of the command's own takes the place of the same spelling: a
command with ``--output/-o`` has ``--objective`` without ``-o``. `of_scenario` leaves options out, or words them anew.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer import Argument, Option

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario

Command = Callable[..., None]
Spoken = dict[str, tuple[str, Any]]
"""By key of a scenario: the option, and what was written."""

BESIDE: Mapping[str, Any] = {
    "config": Annotated[Path | None, Option("--config", "-c", help="A scenario in TOML; options override it.")],
    "settings": Annotated[
        list[str] | None,
        Option("--set", metavar="KEY=VALUE", help="Any key of a scenario: --set network.server_link.up=1Gbit/s."),
    ],
    "zeta": Annotated[str | None, Option("--zeta", hidden=True)],
    "delta": Annotated[str | None, Option("--delta", hidden=True)],
}
"""Options that say a scenario, and are no field."""


FAMILY = (
    *("problem.heterogeneity", "problem.sigma", "problem.smoothness", "problem.initial_gap", "problem.rounds"),
    *(f"network.client_link.{name}" for name in ("preset", "up", "down", "latency")),
    *("network.server_link.preset", "model.size", "compute.step_time", "plan.seed"),
)
"""Keys of a scenario that other families of algorithms read too."""

_DECLARED: dict[Command, tuple[Collection[str], Collection[str], Mapping[str, tuple[str, str]]]] = {}


@dataclass(frozen=True, slots=True)
class Said:
    """What a command line says of a scenario.

    Attributes:
        config: The scenario file, if any.
        options: By key, the option and what was written.
    """

    config: Path | None
    options: Spoken

    def scenario(self, instead: Mapping[str, Any] | None = None) -> Scenario:
        """Read the scenario.

        Args:
            instead: Values that take the place of options, by key.

        Raises:
            ScenarioError: If there is none that says this.
        """
        from planner.scenario.fields import FIELDS
        from planner.scenario.resolve import load

        named = {field.key: field.options[0] for field in FIELDS if field.options}
        other = {key: (named[key], value) for key, value in (instead or {}).items() if value is not None}
        return load(self.config, {**self.options, **other})


def of_scenario(
    only: Collection[str] = (), without: Collection[str] = (), reworded: Mapping[str, tuple[str, str]] | None = None
) -> Callable[[Command], Command]:
    """Declare which options of a scenario a command has.

    Args:
        only: Keys that it has options for; all if empty.
        without: Keys that it has no option for.
        reworded: By key, the spellings and the help of an option that has others here.
    """

    def declare(command: Command) -> Command:
        _DECLARED[command] = only, without, reworded or {}
        return command

    return declare


def with_scenario(command: Command) -> Command:
    """Give a command the options of a scenario beside its own, if its first parameter is a scenario."""
    first = next(iter(inspect.signature(command).parameters), "")
    if first not in ("scenario", "said"):
        return command
    from planner.scenario.fields import FIELDS

    only, without, reworded = _DECLARED.get(command, ((), (), {}))
    own = _own_parameters(command)
    taken = {name for parameter in own for name in _spellings(parameter.annotation)}
    fields = {}
    for field in FIELDS:
        if field.key not in without and (not only or field.key in only):
            spellings, text = reworded.get(field.key, (field.spellings, field.sentence))
            left = tuple(name for name in spellings.split() if name not in taken)
            if left:
                fields[field.key.replace(".", "_")] = field, left, text
    annotations: dict[str, Any] = {
        name: Annotated[str | None, Option(*left, help=text, rich_help_panel=field.panel)]
        for name, (field, left, text) in fields.items()
    }

    def run(**given: Any) -> None:
        options = {
            field.key: (left[0], given[name]) for name, (field, left, _) in fields.items() if given[name] is not None
        }
        said = Said(given["config"], _spoken(given, options))
        what = said.scenario() if first == "scenario" else said
        command(what, **{parameter.name: given[parameter.name] for parameter in own})

    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in {**BESIDE, **annotations}.items()
    ]
    signature = inspect.Signature([*(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own), *shared])
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


def _spoken(given: Mapping[str, Any], options: Spoken) -> Spoken:
    """Add what ``--set`` says to the options.

    Raises:
        typer.BadParameter: If they contradict each other.
    """
    if given.get("zeta") is not None or given.get("delta") is not None:
        raise typer.BadParameter(
            "--zeta, --delta: zeta is INTRA-group here and in zhou2026, but INTER-group in zhou2025, "
            "so it is not taken bare. Write --heterogeneity zeta=0.5,delta=2 (zeta intra-group, delta inter-group)."
        )
    said: dict[str, tuple[str, Any]] = {}
    for setting in given.get("settings") or []:
        path, sign, value = setting.partition("=")
        if not sign or not path:
            raise typer.BadParameter(f"--set: {setting!a:.60} is not key=value. Write --set network.tiers=1.")
        if path.strip() in said:
            raise typer.BadParameter(f"--set: {path.strip()} is set twice. Set it once.")
        said[path.strip()] = (f"--set {path.strip()}", value.strip())
    for path in said.keys() & options.keys():
        raise typer.BadParameter(f"--set: {path} is also given by {options[path][0]}. Give one of the two.")
    return {**said, **options}


def _own_parameters(command: Callable[..., None]) -> list[inspect.Parameter]:
    hints = get_type_hints(command, include_extras=True, localns={"Scenario": Any})
    return [p.replace(annotation=hints[p.name]) for p in list(inspect.signature(command).parameters.values())[1:]]


def _spellings(annotation: Any) -> tuple[str, ...]:
    """List the names of an option, the first first; none for an argument."""
    option = next((part for part in get_args(annotation) if hasattr(part, "param_decls")), None)
    if option is None:
        return ()
    # In an annotation an option's first name stands where its default would be.
    return tuple(name for name in (option.default, *(option.param_decls or ())) if isinstance(name, str))


Format = Annotated[str | None, Option("--format", "-f", help="table, json, csv, md, html or latex.")]
Json = Annotated[bool, Option("--json", "-j", help="One JSON document.")]
Force = Annotated[bool, Option("--force", help="Overwrite the output.")]
Seed = Annotated[int, Option("--seed", help="Of every random draw.", min=0, max=2**31)]
CountsFile = Annotated[
    Path, Argument(metavar="COUNTS.csv", help="client,group,<label>... or client,group,label,count.")
]
Gram = Annotated[Path | None, Option("--gram", help="CSV of inner products of class gradients: label,<label>...")]
SkipEmpty = Annotated[bool, Option("--skip-empty", help="Leave out clients without samples.")]
