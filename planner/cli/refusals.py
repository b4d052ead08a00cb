"""Refusals on stderr: ``error[E012]: place: fact``, and ``help:`` with a way out."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path, PurePath
from shlex import quote
from typing import TYPE_CHECKING, Any

from planner.cli.output import MISUSE, NO_ANSWER, WIDTH
from planner.io.progress import progress

if TYPE_CHECKING:
    from planner.cli.kinds import Kind

THEORY = {  # codes of what `hflbounds` refuses, by the names of its errors
    "UnknownBoundError": "E040",
    "DomainError": "E041",
    "ComparisonError": "E042",
    "FormatError": "E043",
    "TopologyError": "E044",
    "ConditionError": "N005",
    "MissingExtraError": "N004",
}
MEANT = {  # commands and options that there are not, and what does their work
    "diff": "Use `hfl-plan compare A B`: it says which difference decides.",
    "search": "Use `hfl-plan bounds list --search 'WORDS'`.",
    "--upload": "Write --uplink.",
    "--download": "Write --downlink.",
    "--bandwidth": "Write --uplink and --downlink.",
    "--params": "Write --model-size 12Mparameters, which are 48MB.",
    "--parameters": "Write --model-size 12Mparameters, which are 48MB.",
    "--profile": "`hfl-plan recommend` and others take a profile as --heterogeneity profile.json.",
    **dict.fromkeys(
        ("--budget", "--within", "--traffic"),
        "`hfl-plan tune ... --within 10h` or --traffic 50GB chooses K and P; beside --pilot it says which --rounds of "
        "`hfl-plan recommend` are within it. `hfl-plan pilot` has --within for its own runs.",
    ),
}
KEYS = {  # options that there are not, and the keys of a scenario that say the same
    "--deadline": "availability.timeout=20s --on-failure timeout",
    "--timeout": "availability.timeout=20s --on-failure timeout",
}
SIZES = ("-G", "--G", "--groups", "-M", "--M", "--clients-per-group")
"""Options that there are not where something else says who takes part."""
CODE = re.compile(r"[EN]\d{3}")
OPTIONS = {  # options by the ending of a word that was given without one
    ".toml": ("--config", "A scenario"),
    ".csv": ("--heterogeneity", "A file of label counts"),
    ".json": ("--heterogeneity", "A profile"),
    "": ("--search", "What to search for"),
}
USAGE = {  # codes of wrong command lines, by the names of their errors
    "NoSuchOption": "E012",
    "MissingParameter": "E011",
    "BadOptionUsage": "E013",
    "BadArgumentUsage": "E014",
    "BadParameter": "E015",
}
LIMITS = {  # ways out from numbers beyond their limits, by what is said of them
    r"it is less than (\S+)": "Give {} or more.",
    r"it should be less than or equal to (\S+)": "Give {} or less.",
    r"it is no whole number": "Write a whole number.",
}
ANOTHER = ("E001", "E020", "E031", "E032", "E033", "E036")
"""Codes of refusals that a file of another kind may be behind."""
BESIDE = re.compile(r"(?P<file>.+?\.(toml|json))(:\d+)?: [^:]+: (?P<named>.+): cannot be read")
"""A scenario or a kept run, and a file in it that is not there."""
SAYS_NO_MORE = ("E001", "N001")  # codes whose explanation is that of many refusals, and points back to the line of help
NO_WAY = ("Mend it there.", "Check the path.", "")
"""Ways out that lead nowhere where a file is whole, and of another kind."""


def of(error: Exception, command: Any = None) -> int:
    """Say why a command has no answer, and return the exit code."""
    from hflbounds.errors import HflBoundsError
    from planner.errors import PlannerError, parted

    if isinstance(error, PlannerError):
        fact, help_ = error.parts
        help_ = _of_another_kind(fact, help_, command) if error.code in ANOTHER else help_
        if (there := BESIDE.match(fact)) and (folder := Path(there["file"]).parent).joinpath(there["named"]).exists():
            help_ = f"Paths are relative to the current folder: go to the file's with `cd {quote(str(folder))}`."
        if not help_ and error.code in SAYS_NO_MORE and command is not None:
            below = [word for word in sys.argv[2:3] if word in getattr(command, "commands", ())]
            help_ = f"`hfl-plan {' '.join([command.name, *below])} --help` shows what is expected."
        return refuse(error.code, fact, help_)
    if isinstance(error, HflBoundsError):
        code = next((THEORY[c.__name__] for c in type(error).__mro__ if c.__name__ in THEORY), "E001")
        return refuse(code, *parted(str(error).replace("; did you", ". Did you").replace("; see `", ". See `")))
    if isinstance(error, OSError):
        return refuse("N002", f"the answer could not be written: {error.strerror}", "Check the disk and the pipe.")
    fact = f"internal error, {type(error).__name__}: {error}".splitlines()[0]
    return refuse("N009", fact, "HFL_PLAN_DEBUG=1 shows where; please report it.")


def _of_another_kind(fact: str, help_: str, command: Any) -> str:
    """Say what the file is that was given in the place of another, and what takes it."""
    from planner.cli import kinds

    name, options = (command.name, _options(command)) if command is not None else ("", [])
    for file, kind in kinds.named(fact):
        if kind.taken(file, options) and file in _written(kind):
            return help_  # it is where such files belong
        if name not in kind.readers and not fact.startswith(kind.options or ("\0",)):
            if name == "compare" and kind.options:  # by place it takes what such a file is a part of
                way = f"Compare answers: `hfl-plan recommend {kind.options[0]} {file} --output answer.json`."
                return f"{file} is {kind.words}. {way}"
            way = kind.way(file, options)
            if kind.taken(file, options):
                places = [p.metavar or "" for p in command.params if p.param_type_name == "argument" and p.required]
                wanted = [vars(kinds).get(place.strip("[]")) for place in places]
                named = "".join(f", beside {place}" for place in places)
                return way + named + "".join(f", {one.words}" for one in wanted if isinstance(one, kinds.Kind))
            return way if help_ in NO_WAY else f"{way} {help_}"
    return help_


def _written(kind: Kind) -> Iterator[str]:
    """Files that the command line gives to options of a kind."""
    for before, word in pairwise(["", *sys.argv]):
        option, _, file = word.partition("=")
        if before in kind.options or option in kind.options:
            yield word if before in kind.options else file


def _options(command: Any) -> list[str]:
    below = getattr(command, "commands", {}).values()
    return [name for p in command.params for name in p.opts] + [name for one in below for name in _options(one)]


def of_command_line(error: Any) -> int:
    """Say what is wrong with the command line, and return the exit code."""
    from planner.cli import kinds
    from planner.errors import parted
    from planner.io.text import suggest

    kind = next((name for name in (c.__name__ for c in type(error).__mro__) if name in USAGE), "")
    code, where = USAGE.get(kind, "E010"), getattr(error, "ctx", None)
    path = where.command_path if where is not None else "hfl-plan"
    known = [name for p in where.command.get_params(where) for name in p.opts] if where is not None else []
    fact, help_ = parted(error.format_message().removeprefix("Invalid value: ").removeprefix("Invalid value for "))
    fact = fact.partition(", unable to parse")[0].replace("Input should be a valid integer", "it is no whole number")
    fact = fact.replace("Input should", "it should").replace("it should be greater than or equal to", "it is less than")
    fact = re.sub(r"^'(--[\w-]+)'(?: / '[^']+')+", r"\1", fact)  # of several names the first
    if kind == "NoSuchOption":
        fact = f"there is no option {error.option_name}"
        key = KEYS.get(error.option_name) if "--set" in known else None
        help_ = f"Write --set {key}." if key else MEANT.get(error.option_name, "")
        if error.option_name in SIZES and "--fleet" in known:
            help_ = "Groups are those of the column group of --fleet."
        elif error.option_name in SIZES:
            help_ = "Groups and clients are those of what is named: the hook, the label counts or the coverage."
        if error.option_name in ("--group-rounds", "-P", "--P") and "--edge-rounds" in known:
            help_ = "Here it is --edge-rounds."
        numbered = [name for name in known if re.fullmatch(rf"-{re.escape(error.option_name)}\d", name)]  # -S1
        near = f"Write {' or '.join(numbered)}, with two dashes." if numbered else suggest(error.option_name, known)
        keys = _keys(error.option_name) if "--set" in known else ""
        near = keys or near or f"`{path} --help` lists the options."
        help_ = help_ or _of_other_commands(error.option_name, where) or near
    elif code == "E010" and fact.startswith("No such command"):
        word = fact.partition("'")[2].rpartition("'")[0]
        fact = f"there is no command {word!a:.60}"
        near = suggest(word, where.command.commands if where is not None else ())
        of_code = f"`hfl-plan explain {word}` says what it means." if CODE.fullmatch(word) else ""
        help_ = of_code or MEANT.get(word) or near or f"`{path} --help` lists them."
    elif kind == "BadArgumentUsage" or fact.startswith("Got unexpected extra"):
        code = "E014"
        word = fact.partition(" (")[2].rpartition(")")[0]
        option, what = OPTIONS.get(PurePath(word.lower()).suffix, ("", ""))
        if found := next(kinds.named(word), None):
            help_ = found[1].way(word, known)
            if "--config" in known and not found[1].taken(word, known):
                help_ += " Here give the scenario: --config FILE.toml, or options."
        elif option in known and " " not in word:
            help_ = f"{what} is an option: {option} {word}"
        elif re.search(rf"--explain \S+ {re.escape(word)}", " ".join(sys.argv)):
            help_ = "--explain takes one section, or all."
        elif "..." in word.split():
            help_ = "In its place write your own options, such as --config FILE.toml."
    elif kind == "MissingParameter" and getattr(error.param, "help", None):
        help_ = f"Give {error.param.help}; `{path} --help` shows all."
    beyond = ((re.search(rule, fact), way) for rule, way in LIMITS.items())
    help_ = help_ or next((way.format(*there.groups()) for there, way in beyond if there), "")
    return refuse(code, fact, help_ or f"`{path} --help` shows what is expected.")


def _keys(option: str) -> str:
    """Say which keys of a scenario end as an option, where none of them has its own; empty where none does."""
    from planner.io.wording import join
    from planner.scenario.fields import FIELDS

    ends = [field for field in FIELDS if field.key.rpartition(".")[2] == option.lstrip("-").replace("-", "_")]
    if not ends or any(field.options for field in ends):
        return ""
    return f"It is a key of a scenario: --set {join([f'{field.key}={field.kind.word}' for field in ends], 'or --set')}."


def _of_other_commands(option: str, where: Any) -> str:
    """Say which commands have an option; empty where none has."""
    from planner.io.wording import join_with_limit

    found = [f"`{path}`" for path in _having(option, "hfl-plan", where.find_root().command)] if where else []
    return f"It is an option of {join_with_limit(found, 2)}." if found else ""


def _having(option: str, path: str, command: Any) -> Iterator[str]:
    """Paths of the commands that have an option themselves."""
    for name, one in getattr(command, "commands", {}).items():
        if any(option in p.opts for p in one.params):
            yield f"{path} {name}"
        yield from _having(option, f"{path} {name}", one)


def refuse(code: str, fact: str, help_: str) -> int:
    """Write a refusal to stderr, and return the exit code: 1 without an answer, 2 for misuse."""
    progress("")  # of the work that was refused
    answerless = code.startswith("N")
    lines = [
        *_wrapped(f"{'no answer' if answerless else 'error'}[{code}]: ", fact, indent=2),
        *_wrapped("  help: ", help_ or f"`hfl-plan explain {code}` says more.", indent=8),
    ]
    sys.stderr.write("\n".join(lines) + "\n")
    return NO_ANSWER if answerless else MISUSE


def _wrapped(head: str, text: str, *, indent: int) -> Iterator[str]:
    """Break a text into lines of a page on a terminal; what programs read keeps one line for the fact and the help."""
    if not (sys.stderr is not None and sys.stderr.isatty()):
        yield f"{head}{text}"
        return
    blanks = " " * indent
    for line in text.splitlines() or [""]:
        yield from textwrap.wrap(
            f"{head}{line}", WIDTH, subsequent_indent=blanks, break_long_words=False, break_on_hyphens=False
        )
        head = blanks
