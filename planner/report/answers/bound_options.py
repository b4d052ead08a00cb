"""Ids, numbers and letters of bounds as the command line has them, and sentences as documents have them."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast, get_args

from hflbounds import catalogue, families
from hflbounds.core.bound import Bound, Notation
from hflbounds.core.quantities import ABOUT, ARRAYS
from hflbounds.errors import ComparisonError, ConditionError, DomainError, FormatError, UnknownBoundError
from hflbounds.exact import LAWS
from hflbounds.typeset import markup, wording
from hflbounds.typeset.statement import letter
from planner.errors import NoAnswerError, ScenarioError
from planner.io.text import suggest
from planner.report.document import Typeset

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?")
LACKED = re.compile(r"(?:^|[;,] )(\w+)")  # names of quantities, each with its meaning or without
COUNTS, REALS = (10, 2, 1, 100, 1000), (0.5, 2, 0.1, 10, 100, 0.01, 0.001, 1000)  # examples, the plainest first
TRIES = 5000  # of examples
EMPTY: Mapping[str, Any] = MappingProxyType({})
FEW = 3  # quantities that are missing and named in the next command
LONGEST = 100_000  # characters of an array on the command line


def known(option: str, given: str | None, choices: Iterable[str]) -> None:
    """Refuse what is none of some words; None is none of them, and fine."""
    each = list(dict.fromkeys(choices))
    if given is not None and given not in each:
        hint = suggest(given, each) or f"Write one of {', '.join(each)}."
        raise ScenarioError(f"{option}: {given!a:.60} does not occur. {hint}")


def bounds_named(ids: Sequence[str]) -> tuple[Bound, ...]:
    """The bounds of ids and families, each once.

    Raises:
        UnknownBoundError: for an id that there is not, naming the nearest.
    """
    groups = families()
    found: dict[str, Bound] = {}
    for name in ids:
        for bound in groups[name] if name in groups else (bound_named(name),):
            found[bound.id] = bound
    return tuple(found.values())


def bound_named(name: str) -> Bound:
    """The bound of an id.

    Raises:
        ScenarioError: for a family, with its members.
        UnknownBoundError: for anything else, naming the nearest.
    """
    every, groups = catalogue(), families()
    if name in every:
        return every[name]
    if name in groups:
        raise ScenarioError(f"{name} is a family of bounds. Name one of {', '.join(b.id for b in groups[name])}.")
    alike = {other.casefold(): other for other in [*groups, *every]}
    wanted = name.strip().casefold()
    near = [wanted] if wanted in alike else [other for other in alike if wanted and other.startswith(f"{wanted}.")]
    near = near or difflib.get_close_matches(wanted, alike)
    family, _, tree = wanted.rpartition(".")
    if family in {f"hflbounds.{label}" for label, _ in LAWS.values()} and re.fullmatch(
        r"(star|ring)(-(star|ring)){2,}|star|ring", tree
    ):
        raise UnknownBoundError(f"{name} is the bound of a tree. Write --tiers {tree.replace('-', '/')} in its place.")
    hint = f"did you mean {' or '.join(alike[other] for other in near[:4])}?" if near else "see `hfl-plan bounds list`."
    raise UnknownBoundError(f"no bound is called {name!a:.80}; {hint}")


def letters(given: Sequence[str], bounds: Sequence[Bound]) -> dict[str, str]:
    """LaTeX by the names of quantities, where each is a letter and stands in one of the bounds."""
    found: dict[str, str] = {}
    for text in given:
        name, tex = _pair("--letter", text)
        if name not in ABOUT:
            raise ScenarioError(f"--letter: no quantity is called {name!a:.40}. {suggest(name, ABOUT)}".rstrip())
        if name in found:
            raise ScenarioError(f"--letter: {name} is given twice. Give it once.", code="E002")
        if not any(name in bound.needs for bound in bounds):
            raise ScenarioError(f"--letter: {name} stands in none of these bounds. Leave it out.")
        try:
            letter(tex, name)
        except FormatError as error:
            raise ScenarioError(f"--letter: {error}.") from None
        found[name] = tex
    return found


def notation(given: str) -> Notation:
    """Which letters are asked for."""
    known("--notation", given, get_args(Notation))
    return cast(Notation, given)


def numbers(settings: Sequence[str]) -> dict[str, Any]:
    """Numbers by name; arrays in JSON where a quantity is made of one."""
    found: dict[str, Any] = {}
    for setting in settings:
        name, text = _pair("--set", setting)
        if name not in ABOUT and name not in ARRAYS:
            near = _of_letter(name, ABOUT) or difflib.get_close_matches(name, [*ABOUT, *ARRAYS], cutoff=0.5)
            hint = f"Did you mean {' or '.join(near)}? " if near else ""
            way = "`hfl-plan bounds show ID --explain letters` lists those of a bound."
            raise ScenarioError(f"--set: no quantity is called {name!r:.40}. {hint}{way}")
        if name in found:
            raise ScenarioError(f"--set: {name} is set twice. Set it once.", code="E002")
        found[name] = _array(name, text) if name in ARRAYS else _number(name, text)
    return found


def _of_letter(letter: str, names: Iterable[str], bounds: Sequence[Bound] = ()) -> list[str]:
    """Quantities that a formula, or the paper of a bound, writes as this letter; else those that begin with it."""
    texs = [(name, ABOUT[name].latex) for name in names]
    texs += [(name, tex) for bound in bounds for name, tex in bound.source.paper.notation.items() if name in names]
    found = [name for name, tex in texs if markup.unicode(tex) == markup.unicode(letter)]
    return found or [name for name in names if name.startswith(f"{letter}_")]


def lacking(what: str, names: Sequence[str], *numbers: Any) -> ScenarioError:
    """Say which quantities are missing, and how to give them; ``numbers`` are those of `to_paste`."""
    return ScenarioError(f"--set: {what} also needs {', '.join(names)}. {to_paste(names, *numbers)}", code="E003")


def to_paste(
    names: Sequence[str], bounds: Sequence[Bound] = (), values: Mapping[str, Any] = EMPTY, over: str | None = None
) -> str:
    """A line that gives quantities, with numbers at which the bounds apply where a few tries find some."""
    tied = {s.name for bound in bounds for condition in bound.requires for s in condition.symbols}
    tied |= {n for bound in bounds for name in bound.needs if (most := ABOUT[name].at_most) for n in (name, most)}
    plain = {name: _examples(name)[0] for name in (*names, *([over] if over is not None else []))}
    tries = (  # with as few as will do that are not plain
        plain | dict(zip(changed, numbers, strict=True))
        for count in range(len(plain) + 1)
        for changed in itertools.combinations([name for name in plain if name in tied], count)
        for numbers in itertools.product(*(_examples(name)[1:] for name in changed))
    )
    some = itertools.islice(tries, TRIES)
    found = next((one for one in some if all(_applies(bound, {**values, **one}) for bound in bounds)), plain)
    return examples(names, found)


def examples(names: Sequence[str], found: Mapping[str, float]) -> str:
    """A line that gives quantities these numbers."""
    return f"Add numbers of your own in place of these examples: {' '.join(f'--set {n}={found[n]}' for n in names)}"


def _applies(bound: Bound, values: Mapping[str, Any]) -> bool:
    """Whether a bound says something at some numbers, at its best step where none is among them."""
    if bound.chain is None or "eta_eff" in values or "eta_eff" not in bound.needs:
        return not bound.violations(**values)
    with contextlib.suppress(ConditionError, DomainError):
        bound.tuned(**values)
        return True
    return False


def following(names: Sequence[str]) -> list[str]:
    """The next command where a value needs quantities: all of them where they are few."""
    few = [f"--set {name}=NUMBER" for name in names] if len(names) <= FEW else ["--set NAME=N ..."]
    return [" ".join(("...", *few))] if names else []


def heeded(values: Mapping[str, Any], bounds: Sequence[Bound]) -> None:
    """Refuse numbers that no bound has a use for."""
    useful: set[str] = set()
    for bound in bounds:
        names = {*bound.needs, *(s.name for formula in bound.defaults.values() for s in formula.symbols)}
        names |= set() if bound.chain is None else {s.name for s in bound.chain.symbols}
        names |= set() if bound.prepare is None else {*ARRAYS}
        limited = names & values.keys()
        useful |= names | {limit for name in limited if (limit := ABOUT[name].at_most if name in ABOUT else None)}
    for name in values:
        if name not in useful:
            said = f"{bounds[0].id} does" if len(bounds) == 1 else "these bounds do"
            first = bounds[0]
            alike = [
                other.id
                for other in catalogue().values()
                if (other.topology, other.bounds, other.source.paper)
                == (first.topology, first.bounds, first.source.paper)
                and {*first.needs, name} <= {*other.needs}
            ]
            meant = _of_letter(name, dict.fromkeys(n for bound in bounds for n in bound.needs), bounds)
            way = " or ".join(f"{other} ({ABOUT[other].meaning})" for other in meant)
            way = f"Did you mean {way}?" if meant else "Leave it out."
            way = f"Leave it out, or take {' or '.join(alike[:2])}." if alike else way
            raise ScenarioError(f"--set: {said} not have {name} ({ARRAYS.get(name) or ABOUT[name].meaning}). {way}")


@contextlib.contextmanager
def refusals(
    moves: str = "", over: str | None = None, bounds: Sequence[Bound] = (), values: Mapping[str, Any] = EMPTY
) -> Iterator[None]:
    """What bounds raise for numbers, or for the quantity that option ``moves`` names, as what the command line says."""
    try:
        yield
    except ConditionError as error:
        raise NoAnswerError(f"{error}.", code="N005") from None
    except ComparisonError as error:
        raise ScenarioError(f"{str(error).rstrip('.')}.", code="E042") from None
    except (TypeError, OverflowError) as error:
        fact, needs, lacked = str(error).rstrip(".").partition(" also needs ")
        if needs:
            names = [name for name in re.findall(LACKED, lacked) if name in ABOUT]
            raise ScenarioError(
                f"--set: {fact}{needs}{lacked}. {to_paste(names, bounds, values, over)}", code="E003"
            ) from None
        option = moves if moves and f"{over!r} stands in none" in str(error) else "--set"
        raise ScenarioError(f"{option}: {str(error).rstrip('.')}.") from None


def plain(text: str) -> str:
    """A sentence with its formulas in letters that a terminal has."""
    return wording.sentence(text, wording.line, markup.unicode)


def said(text: str) -> Typeset:
    """A sentence with formulas between dollars, for people and for LaTeX."""
    return Typeset(plain(text), wording.sentence(text, wording.latex, lambda tex: f"${tex}$"))


def formula(tex: str, before: str = "") -> Typeset:
    """A formula for people and for LaTeX, after a sign such as ``+``."""
    return Typeset(f"{before}{markup.unicode(tex)}", f"${before}{tex}$")


def _pair(option: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not sign or not name or not value:
        raise ScenarioError(f"{option}: {text!a:.60} is not name=value.")
    return name, value


def _number(name: str, text: str) -> float:
    if not NUMBER.fullmatch(text) or math.isinf(number := float(text)):
        raise ScenarioError(f"--set: {name}={text!a:.40} is not a finite number. Write {name}={_examples(name)[0]}.")
    return number


def _examples(name: str) -> Sequence[float]:
    """Numbers that a quantity can have, the plainest first."""
    domain = ABOUT[name].domain
    return COUNTS if domain in ("count", "whole") else [x for x in REALS if domain != "share" or x < 1]


def _array(name: str, text: str) -> list[Any]:
    try:
        found = json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        found = None
    rows = found if isinstance(found, list) and found else [None]
    flat: list[Any] = [part for row in rows for part in (row if isinstance(row, list) else [row])]
    if not all(type(part) in (int, float) and math.isfinite(part) for part in flat):
        raise ScenarioError(f"--set: {name} is an array in JSON, {ARRAYS[name]}. Write {name}=[[1,0],[1,1]].")
    return rows
