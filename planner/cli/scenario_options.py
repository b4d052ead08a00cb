"""The options of ``recommend`` that say a scenario, for every command that asks about one.

A command takes the scenario first, and then options of its own::

    def flip(scenario: Scenario, parameter: Annotated[str, typer.Option("--parameter")] = "M") -> None: ...

and is registered in `planner.cli.app`, below ``recommend``, by one line::

    app.command("flip")(with_scenario(flip_command.flip))

It then has every option of ``recommend`` that says something about the scenario, and gets the scenario read. An option
of its own stands in the place of one of ``recommend`` with the same parameter name or the same spelling: a command with
``--output/-o`` has ``--objective`` without ``-o``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from copy import copy
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

if TYPE_CHECKING:
    from planner.scenario.resolve import Scenario

SCENARIO = "scenario"  # the parameter that a command takes the scenario by
BESIDE = ("config", "settings", "zeta", "delta")  # parameters of ``recommend`` that are no key, and say a scenario
Spoken = dict[str, tuple[str, Any]]


class At(str):
    """The key of a scenario file that an option stands for."""


def with_scenario(
    function: Callable[..., None], *, on_demand: bool = False, without: Collection[str] = ()
) -> Callable[..., None]:
    """A command that takes the options of a scenario beside its own.

    Args:
        function: takes the scenario as ``scenario``, and its own options by keyword.
        on_demand: give ``function`` a function that reads the scenario, for a command that may do without.
            Its keyword arguments take the place of options, by the names of the parameters of ``recommend``.
        without: parameters of ``recommend`` that the command has no option for.
    """
    own = _own_parameters(function)
    spelled = {name for parameter in own for name in _spellings(parameter.annotation)}
    names = {parameter.name for parameter in own}
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, whole in _hints().items()
        if name not in names and name not in without and (annotation := _without(whole, spelled)) is not None
    ]

    def command(**given: Any) -> None:
        of_scenario = {name: value for name, value in given.items() if name not in names}

        def read(**instead: Any) -> Scenario:
            return scenario_of({**of_scenario, **instead})

        said: Any = read if on_demand else read()
        function(scenario=said, **{name: given[name] for name in names})

    of_own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    signature = inspect.Signature([*of_own, *shared])
    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    command.__signature__ = signature  # type: ignore[attr-defined]
    return command


def scenario_of(given: Mapping[str, Any]) -> Scenario:
    """The scenario that options say.

    Args:
        given: by the names of the parameters of ``recommend``; others are passed over.

    Raises:
        typer.BadParameter: for options that contradict each other.
        ScenarioError: for what is no scenario.
    """
    from planner.scenario.resolve import load

    config: Path | None = given.get("config")
    return load(config, spoken(given))


def spoken(given: Mapping[str, Any]) -> Spoken:
    """By key of the scenario file: the name of the option and what was written, for every option used.

    Raises:
        typer.BadParameter: for options that contradict each other.
    """
    if given.get("zeta") is not None or given.get("delta") is not None:
        raise typer.BadParameter(
            "--zeta, --delta: zeta is INTRA-group here and in zhou2026, but INTER-group in zhou2025, "
            "so it is not taken bare. Write --heterogeneity zeta=0.5,delta=2 (zeta intra-group, delta inter-group)."
        )
    said: Spoken = {}
    for setting in given.get("settings") or []:
        path, sign, value = setting.partition("=")
        if not sign or not path:
            raise typer.BadParameter(f"--set: {setting!a:.60} is not key=value. Write --set network.tiers=1.")
        if path.strip() in said:
            raise typer.BadParameter(f"--set: {path.strip()} is set twice. Set it once.")
        said[path.strip()] = (f"--set {path.strip()}", value.strip())
    options: Spoken = {}
    for name, annotation in _hints().items():
        path = next((part for part in get_args(annotation) if isinstance(part, At)), None)
        if path is not None and given.get(name) is not None:
            options[str(path)] = (_spellings(annotation)[0], given[name])
    for path in said.keys() & options.keys():
        raise typer.BadParameter(f"--set: {path} is also given by {options[path][0]}. Give one of the two.")
    return said | options


def keys() -> dict[str, str]:
    """The key of a scenario file, by every long spelling of its option: ``--groups``, ``--G``."""
    found: dict[str, str] = {}
    for annotation in _hints().values():
        path = next((part for part in get_args(annotation) if isinstance(part, At)), None)
        if path is not None:
            found |= {name: str(path) for name in _spellings(annotation) if name.startswith("--")}
    return found


def _hints() -> dict[str, Any]:
    """The annotations of the parameters of ``recommend`` that say a scenario."""
    from planner.cli import app as cli  # which has read this module already

    hints = get_type_hints(cli.recommend, include_extras=True)
    return {
        name: annotation
        for name, annotation in hints.items()
        if name in BESIDE or any(isinstance(part, At) for part in get_args(annotation))
    }


def _own_parameters(function: Callable[..., None]) -> list[inspect.Parameter]:
    parameters = [p for name, p in inspect.signature(function).parameters.items() if name != SCENARIO]
    written = SimpleNamespace(__annotations__={p.name: p.annotation for p in parameters})
    hints = get_type_hints(written, globalns=inspect.unwrap(function).__globals__, include_extras=True)
    return [parameter.replace(annotation=hints[parameter.name]) for parameter in parameters]


def _option(annotation: Any) -> Any:
    return next((part for part in get_args(annotation) if hasattr(part, "param_decls")), None)


def _spellings(annotation: Any) -> tuple[str, ...]:
    """The names of an option, the first first; none for an argument."""
    option = _option(annotation)
    if option is None:
        return ()
    # In an annotation an option's first name stands where its default would be.
    return tuple(name for name in (option.default, *(option.param_decls or ())) if isinstance(name, str))


def _without(annotation: Any, taken: set[str]) -> Any:
    """An annotation without the spellings that are taken; None where that leaves none."""
    before = _spellings(annotation)
    left = tuple(name for name in before if name not in taken)
    if left == before or not left:
        return annotation if left else None
    option = copy(_option(annotation))
    option.default, option.param_decls = left[0], left[1:]
    kind, *metadata = get_args(annotation)
    return Annotated[(kind, *(option if part is _option(annotation) else part for part in metadata))]
