"""The commands of ``hfl-plan`` as Python functions, with the same keywords: `planner` offers them by name.

A function takes what its command takes: arguments by place, options by their long names with underscores, whatever
says a scenario as ``config``, ``settings`` and keywords. Signature and docstring are made from the options, so a
command and its function cannot differ. What reads a CSV file reads a data frame.
"""

from __future__ import annotations

import inspect
import json
import keyword as words_of_python
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Any, get_args

import typer

from planner.cli.app import Commands
from planner.cli.options import Said, Shape, spellings, unsaid
from planner.cli.output import Asked, Result, filed
from planner.decide.recommendation import Recommendation
from planner.errors import ScenarioError
from planner.families.scenario import load
from planner.harness.hooks import Handed
from planner.io import frames
from planner.io.answers import Answer
from planner.io.calls import call as call_of
from planner.io.calls import plain
from planner.io.frames import Frame
from planner.io.progress import progress
from planner.io.wording import counted
from planner.report import document as laid_out
from planner.report.pictures import Plot, of_recommendation
from planner.scenario.keywords import CONFIG, MISSING, SETTINGS, Keyword, hint, named, of_field, signed
from planner.scenario.resolve import Scenario, file_of, instead_of, spoken
from planner.scenario.resolve import arguments as arguments_of

if TYPE_CHECKING:
    from planner.report.sheet.gallery import Wanted

LEFT_OUT = frozenset({"help"})  # Python has its own
WRITTEN = frozenset({"output", "save", "layout", "pictures", "store"})  # paths of files that are written
Words = str | float | Sequence[str | float] | None
READ = frozenset({"coverage", "source"})  # texts that may name files, which are read
File = str | Path | Frame


def names() -> list[str]:
    """Return what `planner` has a function, or several of one name, for; Python's own words end with ``_``."""
    return [f"{name}_" if words_of_python.iskeyword(name) else name for name in Commands() if name not in LEFT_OUT]


def of(name: str) -> Any:
    """Return the function of a command, or the functions of several of one name."""
    said = name.rstrip("_")
    declared = Commands().declared(said)
    if not isinstance(declared, typer.Typer):
        return made(declared, name, (said,))
    found = {}
    for one in declared.registered_commands:
        word = one.name or one.callback.__name__  # type: ignore[union-attr]
        found[word.replace("-", "_")] = made(
            getattr(one.callback, "command", one.callback), word.replace("-", "_"), (said, word)
        )
    return Group(name, declared.info.help or "", found)


class Group(SimpleNamespace):
    """Several functions of one name, such as ``planner.bounds.show`` and ``planner.bounds.compare``."""

    def __init__(self, name: str, help: str, functions: Mapping[str, Any]) -> None:
        super().__init__(**functions)
        self.__doc__ = help
        self.__name__ = name

    def __repr__(self) -> str:
        return f"<planner.{self.__name__}: {', '.join(sorted(self.functions()))}>"

    def __dir__(self) -> list[str]:
        return sorted(self.functions())

    def functions(self) -> dict[str, Any]:
        """Return the functions by name."""
        return {name: value for name, value in vars(self).items() if callable(value)}


def made(command: Any, name: str, words: tuple[str, ...]) -> Callable[..., Any]:
    """Make a function of a command, as the command line has it under ``words``."""
    shape = Shape.of(command)
    known = keywords(shape)

    def function(*placed: Any, **given: Any) -> Any:
        call = call_of(".".join((*words[:-1], name)), placed, given)
        return _called(command, words, shape, known, bound(name, known, placed, given), call)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "planner"
    about, _, examples = (inspect.getdoc(command) or "").partition("\n\nExamples:")
    typed = [line.strip() for line in examples.splitlines() if line.strip().startswith("hfl-plan")]
    calls = [in_call(line, name, words, known) for line in typed]
    return signed(function, about, known, {"str": str, "None": None}.get(shape.returned, Answer), calls)


def keywords(shape: Shape) -> list[Keyword]:
    """Return the keywords of a command, those by place first."""
    found = [_own(one) for one in shape.own]
    if shape.first:
        found += [*[CONFIG] * ("config" in shape.shared), SETTINGS, *(of_field(*one) for one in shape.fields.values())]
    for parameter, annotation in shape.shared.items():
        if parameter in ("output", "report", "force"):
            kind, default = bool if parameter == "force" else str | Path | None, unsaid(annotation)
            text = get_args(annotation)[1].help.replace("; - is stdout", "")
            told = f"file of the answer, by suffix: {text}" if parameter == "output" else text
            found.append(Keyword(parameter, kind, default, told, parameter=parameter))
    return sorted(found, key=lambda one: not one.argument)


def options(name: str) -> list[Keyword]:
    """Return the keywords of a command that are not by place."""
    return [one for one in keywords(Shape.of(Commands().declared(name))) if not one.argument]


def _own(parameter: inspect.Parameter) -> Keyword:
    declared, option = get_args(parameter.annotation)
    argument = isinstance(option, typer.models.ArgumentInfo)
    longs = [name.partition("/")[0] for name in spellings(parameter.annotation) if name.startswith("--")]
    name, *aliases = [parameter.name] if argument else map(named, longs)
    kind = _type(declared, name, isinstance(parameter.default, str))
    told = str(option.help or "").format(files="")
    return Keyword(name, kind, parameter.default, told, tuple(aliases), argument, parameter.name, declared, option)


def _parts(declared: Any) -> set[Any]:
    """The kinds of a union, or the one that there is."""
    return set(get_args(declared)) if isinstance(declared, UnionType) else {declared}


def _type(declared: Any, name: str, worded: bool) -> Any:
    """What a keyword takes, by what its option takes."""
    parts = _parts(declared)
    empty = None if type(None) in parts else Any
    if parts & {bool, int, float}:
        return declared
    if list[Path] in parts:
        found: Any = Sequence[File] | File
    elif list[str] in parts:
        found = Mapping[str, Any] | Sequence[str] | str if name == "settings" else Sequence[str] | str
    elif Path in parts:
        found = str | Path if name in WRITTEN else File
    elif worded:
        return str
    elif empty is None:
        found = Words
    else:
        found = File if name in READ else str
    return found if empty is Any else found | None


def bound(name: str, known: Sequence[Keyword], placed: Sequence[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Say what was given, by keyword.

    Raises:
        TypeError: For a keyword that there is not, or that comes twice, or is missing.
    """
    by_place = [one.name for one in known if one.argument]
    if len(placed) > len(by_place):
        what = f" ({known[0].help.partition(';')[0]})" if len(by_place) == 1 else ""
        raise TypeError(
            f"{name}() takes at most {counted(len(by_place), 'argument')} by place: {', '.join(by_place)}{what}"
        )
    aliases = {word: one.name for one in known for word in (one.name, *one.aliases)}
    found = dict(zip(by_place, placed, strict=False))
    for word, value in given.items():
        if word not in aliases:
            raise TypeError(f"{name}(): {word!a:.60} is not an option. {hint(word, aliases)}".rstrip())
        if aliases[word] in found:
            raise TypeError(f"{name}(): {aliases[word]} is given twice. Give it once.")
        found[aliases[word]] = value
    for one in known:
        if one.default is MISSING and one.name not in found:
            raise TypeError(f"{name}(): {one.name} is missing: {one.help}")
    return found


def _called(
    command: Any, words: tuple[str, ...], shape: Shape, known: Sequence[Keyword], given: Mapping[str, Any], call: str
) -> Any:
    """Call a command as the command line does, and return what it answers; ``call`` is how it was asked for."""
    with frames.held() as holder:
        files = {
            name: str(given[name])
            for name in ("output", "report")
            if name in shape.shared and given.get(name) is not None
        }
        asked = Asked(**files, force=bool(given.get("force")), quiet=True).checked(shape.declared.files)
        arguments = {
            one.parameter: _read(one, given.get(one.name, one.default), holder)
            for one in known
            if one.declared is not None
        }
        subject: Any = _subject(shape, known, given, holder) if shape.first else None
        try:
            result = shape.answered(command, subject, arguments, asked)
        except typer.BadParameter as error:
            raise ScenarioError(error.message) from None
        finally:
            progress("")
        if not isinstance(result, Result):
            return result
        written = ((suffix, text) for suffix, text in result.files.items() if isinstance(text, str))
        found: Any = result.answer
        if shape.declared.of_scenario:
            said = (
                subject.loaded.asked if isinstance(subject, Loaded) else arguments_of(subject.config, subject.options)
            )
            own = [(spellings(one.annotation)[0], arguments[one.name]) for one in shape.own if one.name != "save"]
            beside = [str(word) for pair in own if pair[1] is not None for word in pair]
            found = found.replaced(command=("hfl-plan", *words, *said, *beside) if said else found.command)
        found = found.keeping(call=call, file=next(written, None))
        if files:
            toml = subject.toml() if isinstance(subject, Said) else ""
            filed(result, laid_out(found), asked, toml, ("hfl-plan", *words))
        if shape.declared.of_scenario:
            return found.keeping(plot=of_recommendation(subject.scenario))
        return found.keeping(plot=_pictures(found, result.scenario, result.pictures))


def _pictures(answer: Answer, scenario: Scenario | None, own: Iterable[Wanted]) -> Plot | None:
    """The pictures that a report of the answer has, the first shown where none is named; None where there is none."""
    from planner.report.sheet import gallery

    wanted = [*own, *gallery.of_answer(answer, scenario)]
    if answer.schema.startswith(gallery.FLIP):  # what changes is its answer
        wanted.sort(key=lambda one: one[1] != "changes")
    return Plot({name: draw for name, _, draw in wanted}) if wanted else None


def _subject(shape: Shape, known: Sequence[Keyword], given: Mapping[str, Any], holder: frames.Holder) -> Any:
    """The scenario of a command, or what was said of it."""
    of_fields = {one.name for one in known if not one.parameter}
    options = {name: value for name, value in given.items() if name in of_fields and value is not None}
    config, settings = given.get("config"), given.get("settings") or {}
    if isinstance(config, Scenario):
        if options or settings:
            raise TypeError("a scenario takes no options. Make it anew with planner.load_scenario(...).")
        return config if shape.first == "scenario" else Loaded(None, {}, config)
    own = {named(word): one.key for one, words, _ in shape.fields.values() for word in words}  # names of this command's
    file, said = spoken(config, settings, options, holder, own)
    return instead_of(config, load(file, said)) if shape.first == "scenario" else Said(file, said)


@dataclass(frozen=True, slots=True)
class Loaded(Said):
    """A scenario in place of what was said of one."""

    loaded: Scenario

    def scenario(self, instead: Mapping[str, Any] | None = None, source: str = "") -> Scenario:
        """Return the scenario.

        Raises:
            ScenarioError: Where it has to be read with other values.
        """
        if instead:
            raise ScenarioError("config: this function changes the scenario. Give its file or its tables.")
        return self.loaded


def _read(one: Keyword, value: Any, holder: frames.Holder) -> Any:
    """Turn a value into what the option's own text would be read as."""
    parts = _parts(one.declared)
    if value is None or value is MISSING:
        return None
    if bool in parts:
        if not isinstance(value, bool):
            raise TypeError(f"{one.name}: {value!a:.60} is not True or False")
        return value
    if parts & {int, float}:
        return _number(one, plain(value), whole=int in parts)
    if frames.is_frame(value):
        value = holder.name(value, one.name)
    if isinstance(value, Answer | Scenario) and Path in parts:
        value = _held(value, one.name, holder)
    if list[Path] in parts:
        many = [value] if isinstance(value, str | Path) else value
        return [Path(holder.name(inner, one.name) if frames.is_frame(inner) else inner) for inner in many]
    if list[str] in parts:
        pairs = [f"{key}={_word(inner)}" for key, inner in value.items()] if isinstance(value, Mapping) else value
        return [pairs] if isinstance(pairs, str) else list(map(_word, pairs))
    if Path in parts:
        if isinstance(value, Handed):
            return value
        if not isinstance(value, str | os.PathLike):
            raise TypeError(f"{one.name}: a {type(value).__name__} is no name of a file")
        return Path(value)
    return ",".join(map(_word, value)) if isinstance(value, Iterable) and not isinstance(value, str) else _word(value)


def _held(value: Answer | Scenario, word: str, holder: frames.Holder) -> str:
    """Return the name of the file that an answer stands for: what its command writes, or of `recommend` itself."""
    if isinstance(value, Scenario):
        from planner.decide.rank import recommend  # takes long, and few ask for it

        value = recommend(value, details=False).replaced(command=("hfl-plan", "recommend", *value.asked))
    if isinstance(value, Recommendation):
        return holder.written(json.dumps(value.to_json()), word, ".json")
    return file_of(value, word, holder)


def _number(one: Keyword, value: Any, *, whole: bool) -> Any:
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise TypeError(f"{one.name}: {value!a:.60} is not a {'whole ' * whole}number")
    low, high = getattr(one.option, "min", None), getattr(one.option, "max", None)
    if (low is not None and value < low) or (high is not None and value > high) or value != value:
        limits = " and ".join(f"{word} {n}" for word, n in (("at least", low), ("at most", high)) if n is not None)
        raise ScenarioError(f"{one.name}: {value} is out of range. Give a number of {limits}.")
    return value


def _word(value: Any) -> str:
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float | Path):
        raise TypeError(f"{value!a:.60} is no text and no number")
    return str(value)


def in_call(line: str, name: str, words: tuple[str, ...], known: Sequence[Keyword]) -> str:
    """Write a command line as a call: ``hfl-plan flip -G 10`` as ``planner.flip(groups=10)``."""
    command = Commands()[words[0]]
    for word in words[1:]:
        command = command.commands[word]
    context = command.context_class(command, info_name=words[-1])
    found, _, order = command.make_parser(context).parse_args(shlex.split(line)[1 + len(words) :])
    by_word = {word: one for one in known for word in (one.name, *one.aliases)}
    placed, given = [], []
    for parameter in dict.fromkeys(order):
        longs = [named(option) for option in getattr(parameter, "opts", ()) if option.startswith("--")]
        one = next((by_word[word] for word in (*longs, parameter.name) if word in by_word), None)
        value = found.get(parameter.name)
        if one is None or value in (None, (), []):
            continue
        by_place = one.argument and one.name != "config"
        placed += [_said(value)] * by_place
        given += [f"{one.name}={_said(value)}"] * (not by_place)
    return f"planner.{'.'.join((*words[:-1], name))}({', '.join(placed + given)})"


def _said(value: Any) -> str:
    """Write a value of a command line in Python."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_said, value))}]"
    return str(value) if not isinstance(value, str) or re.fullmatch(r"[1-9]\d*|0", value) else f'"{value}"'
