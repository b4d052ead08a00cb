"""``hfl-plan``: parse, call one function, print. A command is imported when it is called."""

from __future__ import annotations

import atexit
import gc
import importlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

os.environ.setdefault("TYPER_USE_RICH", "0")  # help is plain text, and importing rich takes long
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for them reads what every package declares
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # products are small here, and numpy's threads take long to start

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

from planner.cli import commands, output, pages, refusals

# What typer raises for a wrong command line, whichever copy of click it stands on.
CommandError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
GROUPS = {  # commands in the order in which people meet them, under headings of the first page; others come after
    "Start": ("init", "recommend"),
    "Data": ("measure", "estimate", "pilot"),
    "Choose": ("group", "tune", "flip", "network"),
    "Variants": ("overlap", "hubs", "async"),
    "Use": ("compare", "serve", "picture", "export"),
    "Theory": ("bounds", "audit", "validate"),
    "Also": ("rerun", "schema", "explain", "help"),
}
PATH = tuple(name for names in GROUPS.values() for name in names)
WHOLE = "hfl-plan.whole"  # says that every option is asked for


class Commands(Mapping[str, Any]):
    """The commands of `planner.cli.commands`, by name; each is imported when it is asked for."""

    def __init__(self) -> None:
        found = {info.name.rstrip("_"): info.name for info in pkgutil.iter_modules(commands.__path__)}
        self._modules = {
            name: found[name] for name in sorted(found, key=lambda name: ((*PATH, name).index(name), name))
        }

    def declared(self, name: str) -> Any:
        """Import the function of a command, or the typer of several."""
        module = importlib.import_module(f"{commands.__name__}.{self._modules[name]}")
        return getattr(module, "app", None) or getattr(module, self._modules[name])

    def help(self, name: str) -> str:
        """Say in one line what a command does."""
        one = self.declared(name)
        text = one.info.help if isinstance(one, typer.Typer) else inspect.getdoc(one)
        return (text or "").partition("\n")[0]

    def __getitem__(self, name: str) -> Any:
        return _made(name, self.declared(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


@cache
def _made(name: str, declared: Any) -> Any:
    """Make the command, or the group of commands, that a module declares; once a process."""
    from planner.cli.options import completed

    if isinstance(declared, typer.Typer):
        for command in declared.registered_commands:
            command.callback, command.cls = completed(command.callback), Command  # type: ignore[arg-type]
        declared.info.cls = Group
        return typer.main.get_command(declared)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=Command)(completed(declared))
    return typer.main.get_command(alone)


class AsTheyAre:
    """Makes nothing of a text, or of what is not given: for either, typer imports pydantic."""

    def get_params(self, ctx: Any) -> list[Any]:
        """List arguments and options, which take texts as they are."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of a command, or of a group
        for parameter in parameters:
            if not isinstance(parameter.process_value, partial):
                parameter.process_value = partial(_processed, parameter, parameter.process_value)
        return parameters


class Command(AsTheyAre, TyperCommand):
    """A command that lists its options under the headings of their panels, after its examples."""

    def make_parser(self, ctx: Any) -> Any:
        """Refuse one option under two names, of which click takes the last without a word; say which value it takes."""
        parser: Any = super().make_parser(ctx)
        parsed = parser.parse_args

        def parse(args: list[str]) -> Any:
            said = list(args)  # which the parser empties
            try:
                found, rest, order = parsed(args=args)
            except CommandError as error:
                error.ctx = error.ctx or ctx  # whose help is to be named
                raise
            for option in {p for p in order if not getattr(p, "multiple", True) and order.count(p) > 1}:
                _said_again(list(_given(said, option)), quiet=bool(found.get("quiet")))
            return found, rest, order

        parser.parse_args = parse
        return parser

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Let ``--explain`` stand alone, which asks for all sections, and ``--help`` before ``all``."""
        from planner.cli.options import WRITTEN, named

        ctx.meta[WRITTEN] = named(args)
        if args[-2:] in (["--help", "all"], ["-h", "all"]):
            ctx.meta[WHOLE] = True
            args = args[:-1]
        return super().parse_args(ctx, ["--explain=all" if alone(args, i) else word for i, word in enumerate(args)])

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page of the command."""
        formatter.write(pages.command(self, ctx, formatter.width, whole=ctx.meta.get(WHOLE, False)))


def _given(args: list[str], option: Any) -> Iterator[tuple[str, str]]:
    """The names and values with which an option stands in a command line; flags have no values."""
    for word, following in zip(args, [*args[1:], ""], strict=True):
        long = word.startswith("--")
        name, sign, value = word.partition("=") if long else (word[:2], word[2:], word[2:])
        if name in option.opts:
            yield name, "" if option.is_flag else value if sign else following


def _said_again(given: list[tuple[str, str]], *, quiet: bool) -> None:
    """Refuse two names of one option, and say which of two values holds: *Next* adds options to a command line."""
    from planner.errors import ScenarioError

    if not given:  # a flag that stands behind another, as in -fq
        return
    names, values = (list(dict.fromkeys(column)) for column in zip(*given, strict=True))
    first = names[0]
    if len(names) > 1:
        raise ScenarioError(
            f"{first}: {names[1]} says the same. Give one of the two: {names[1]} in place of {first}, or {first} "
            "alone.",
            code="E002",
        )
    if len(values) > 1 and not quiet:
        output.told(f"{first} {given[-1][1]!a:.60} takes the place of {given[0][1]!a:.60}.")


def alone(args: list[str], i: int) -> bool:
    """Whether an option that takes a section stands without one."""
    following = args[i + 1] if i + 1 < len(args) else "-"
    return args[i] == "--explain" and following.startswith("-")


def _processed(parameter: Any, usual: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    many = parameter.multiple or parameter.nargs != 1
    if value is None and not parameter.required:
        found: Any = () if many else None
    elif isinstance(value, str) and not many and kind is str:
        found = value
    elif isinstance(value, str) and parameter.name == "config" and os.access(value, os.R_OK):
        found = Path(value)
    else:
        return usual(context, value)
    return found if parameter.callback is None else parameter.callback(context, parameter, found)


class Group(AsTheyAre, TyperGroup):
    """Several commands of one name; named alone it shows its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Let a group named alone ask for its help."""
        return super().parse_args(ctx, args or ["--help"] * (not self.invoke_without_command))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what the group is about, and its commands."""
        rows = [(name, (self.commands[name].help or "").partition("\n")[0]) for name in self.commands]
        formatter.write(pages.index(self.help or "", ctx.command_path, {"Commands": rows}, formatter.width))


class Lazy(Group):
    """The group of all commands, which imports a command when it is called, and lists them by their first lines."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = self.found = Commands()  # type: ignore[assignment]  # none is added to them

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what the program is about, examples, and the commands."""
        *listed, also = GROUPS
        panels = {panel: [(name, self.found.help(name)) for name in GROUPS[panel]] for panel in listed}
        others = ", ".join([*GROUPS[also], *(name for name in self.found if name not in PATH)])
        formatter.write(pages.index(inspect.getdoc(root) or "", "hfl-plan", panels, formatter.width, others))


app = typer.Typer(
    name="hfl-plan",
    cls=Lazy,
    no_args_is_help=False,
    invoke_without_command=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context, version: Annotated[bool, Option("--version", help="print the version and stop")] = False
) -> None:
    """Choose a topology for hierarchical federated learning before you train.

    Examples:
        hfl-plan init --example hospitals
        hfl-plan recommend -G 10 -M 10 --uplink 20Mbit/s
    """
    if version:
        from planner.io.version import version as number

        output.write(f"hfl-plan {number()}\n")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        output.write(ctx.get_help() + "\n")


def main() -> None:
    """Run the command line; every refusal has a code, a fact and a way out, on stderr."""
    gc.set_threshold(50_000)  # to look for garbage at every 700 objects took a tenth of an answer's time
    atexit.register(gc.freeze)  # a process that ends need not look for garbage
    try:
        code = app(standalone_mode=False) or 0
    except typer.Exit as stop:
        code = stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        code = output.INTERRUPTED
    except CommandError as error:
        code = refusals.of_command_line(error)
    except BrokenPipeError:
        output.let_go()  # the reader has gone: say nothing
        code = 0
    except Exception as error:
        if os.environ.get("HFL_PLAN_DEBUG", "0") not in ("", "0"):
            import traceback

            traceback.print_exc()
        code = refusals.of(error, Commands().get(next(iter(sys.argv[1:]), "")))
    sys.exit(code)
