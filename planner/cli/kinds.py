"""What a file is that was given in the place of another, and what it is for."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from planner.errors import PlannerError
from planner.io.wording import join

LONGEST = 1 << 16  # bytes of a header that are looked at
LIKE = 0.8  # of a heading to one that it is taken for misspelt
NAMED = re.compile(r"(?<![^\s'\"])[^\s'\":]+\.(?:toml|json|csv|py)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file."""

    words: str
    options: tuple[str, ...] = ()  # that take it, in commands that have the first
    readers: tuple[str, ...] = ()  # commands that take it by place

    def taken(self, name: str, options: Collection[str]) -> str:
        """Write the option that takes the file, with what it needs beside; "" where none of these does."""
        beside = " --proxy digits" * (self is COUNTS and "--proxy" in options)
        return next((f"{one} {name}{beside}" for one in self.options[:1] if one in options), "")

    def way(self, name: str, options: Collection[str]) -> str:
        """Say what the file is, and which of the options of a command take it, or else which commands."""
        said = f"{name} is {self.words}"
        if option := self.taken(name, options):
            return f"{said}: {option}"
        commands = [f"`hfl-plan recommend {one} {name}`" for one in self.options[:1]]
        commands += [f"`hfl-plan {one}`" for one in self.readers]
        return f"{said}, for {join(commands)}." if commands else f"{said}, which no command reads."


DATA = ("--data", "-H", "--heterogeneity")
SCENARIO = Kind("a scenario", ("--config", "-c"), ("compare", "export"))
SCHEMAS = {  # kinds of JSON, by schema
    "hfl-plan/recommend/2": Kind("an answer of `recommend`", (), ("compare", "export")),
    "hfl-plan/manifest/1": Kind("a kept run", (), ("rerun", "compare", "export")),
    "hfl-plan/measured/1": Kind("the run of an exported project", (), ("compare",)),
    "hfl-plan/profile/1": Kind("a profile", DATA[::-1]),
    "hfl-plan/pilot/1": Kind("a pilot", ("--pilot",)),
}
COUNTS = Kind("a table of label counts", DATA, ("measure", "group"))
FLEET = Kind("a list of clients", ("--fleet", "--sites"))
COVERAGE = Kind("a table of who reaches which server", ("--coverage",), ("overlap",))
GRAM = Kind("a table of inner products", ("--gram",), ("measure",))
HOOK = Kind("a hook", (), ("estimate", "pilot"))
NETWORK = Kind("a network", ("--network",), ("network",))


def of(path: Path) -> Kind | None:
    """Return what a file is; None where that is not known."""
    try:
        if path.suffix.lower() == ".csv":
            return _of_header(path)
        if path.suffix.lower() == ".py":
            return HOOK if path.is_file() else None
        if path.suffix.lower() == ".json":
            return _of_schema(path)
        with path.open("rb") as stream:
            return SCENARIO if tomllib.load(stream) else None
    except (OSError, ValueError, PlannerError):
        return None


def named(fact: str) -> Iterator[tuple[str, Kind]]:
    """Yield the files that a refusal names, with what they are."""
    for name in NAMED.findall(fact):
        if (kind := of(Path(name))) is not None:
            yield name, kind


def _of_schema(path: Path) -> Kind | None:
    from planner.io import json_documents

    schema = str(json_documents.read(path).get("schema"))
    answer = re.fullmatch(r"hfl-plan/([a-z-]+)/\d+", schema)
    return SCHEMAS.get(schema) or (Kind(f"an answer of `{answer[1]}`") if answer else None)


def _of_header(path: Path) -> Kind | None:
    from planner.data.fleet import COLUMNS
    from planner.io.csv_rows import separator_of

    with path.open("rb") as stream:
        line = stream.readline(LONGEST).decode("utf-8-sig")
        if not stream.read(1):
            return None  # a header alone, with which no kind is read
    first, *rest = (word.strip().lower() for word in line.split(separator_of(line)))
    if {"client", "group"} <= {first, *rest}:  # in any order
        rest = [word for word in (first, *rest) if word != "client"]
        own = {"node", *COLUMNS}  # one of which no table of counts has, whatever else there is
        misspelt = any(difflib.get_close_matches(word, COLUMNS, cutoff=LIKE) for word in rest)
        return FLEET if misspelt or {*rest} <= {"group"} | own or {*rest} & own - {"samples"} else COUNTS
    if first == "client" and rest == ["server"]:
        return COVERAGE
    if (first, rest[:1]) == ("a", ["b"]) or first in ("latency_ms", "distance_km", "bandwidth_mbit"):
        return NETWORK
    return GRAM if first == "label" else None
