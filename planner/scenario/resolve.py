"""Scenarios from files, options and keywords: a file and options in, a frozen scenario out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.errors import ScenarioError
from planner.io import frames
from planner.io.answers import Answer
from planner.scenario.fields import CHOICES, FIELDS, Span, keywords, leaves, put, read
from planner.scenario.keywords import hint
from planner.scenario.sections import resolve_fleet
from planner.scenario.values import Known, Origin, Scenario
from planner.scenario.written import COUNTS, SHORT, Written, read_written

__all__ = [
    "Known", "Origin", "Scenario", "Spoken", "arguments", "file_of", "from_keywords", "instead_of", "load", "resolve",
    "spoken",
]  # fmt: skip


SITED = ("source", "sites", "access", "bandwidth")  # keys of ``[network]`` that place clients on one
TARGETS = {"problem.target", "problem.target_loss", "problem.target_accuracy"}
OF_TITLES = ("fleet.list", *(f"fleet.{key}" for key in COUNTS))  # what a title may be about
DEFINES_ONE = "problem.rounds"  # where there is no other target
Spoken = Mapping[str, tuple[str, Any]]  # by key of a scenario: what said it, and what was written
Config = str | Path | Mapping[str, Any] | None
Load = Callable[[Path | None, Spoken], Scenario]


def load(file: Path | None = None, options: Spoken | None = None, *, sited: bool = False) -> Scenario:
    """A scenario from a TOML file, from options, or from both; options win.

    Options are by path in the file (``fleet.groups``): the name of the option, and what was written. Where rounds are
    ``sited``, the caller times them on the network that the file places clients on (`SITED`).
    """
    table, shown = read(file) if file else ({}, lambda path: path)
    said_by: dict[str, str] = {}
    said = options or {}
    give_way(table, said)
    of_file = _counts_of(table)
    if _sized(said) and (of_one := [path for path in said if path.startswith("fleet.tiers.")]):
        sizes, by = said["network.tiers"][1], said["network.tiers"][0]
        if twice := next((path for path in of_one if path.endswith(".count")), None):
            raise ScenarioError(f"{said[twice][0]}: {by} says the sizes. Give one of the two.", code="E002")
        if isinstance(fleet := table.setdefault("fleet", {}), dict):
            fleet.setdefault("tiers", [{} for _ in str(sizes).split("/")])
    for path, (option, value) in said.items():
        for other, before in said_by.items():
            if path == other or path.startswith(other + ".") or other.startswith(path + "."):
                raise ScenarioError(
                    f"{option}: {before} says the same or part of it. Give one of the two.", code="E002"
                )
        said_by[path] = option
        put(table, path, value, option)

    def name(path: str) -> str:
        if path in said_by:
            return said_by[path]
        outer = (option for known, option in said_by.items() if path.startswith(known + "."))
        return next(outer, shown(path))

    if isinstance(network := table.get("network"), dict):
        there = [f"network.{key}" for key in SITED if network.pop(key, None) is not None]
        if there and not sited:
            raise ScenarioError(
                f"{name(there[0])}: rounds on a network are timed by recommend, flip and tune. Leave the network out "
                "here, with all that is said of it; `hfl-plan export` takes what those choose with --topology."
            )
    _take_clients_alone(table, name)
    other_sizes = not sited and "title" not in said and (_sized(said) or any(key in said for key in OF_TITLES))
    if other_sizes and isinstance(title := table.get("title"), str):
        table["title"] = f"{title} (sizes by options)"
    found = resolve(read_written(table, name))
    return replace(found, replaced=_kept(of_file, found))


def give_way(table: dict[str, Any], said: Spoken) -> None:
    """Take out of a file's table what options say in other keys."""
    by_list = "fleet.list" in said or isinstance(said.get("fleet.groups", ("", None))[1], list)
    if (by_list or _sized(said)) and isinstance(fleet := table.get("fleet"), dict):
        for key in (*COUNTS, "list") if by_list else COUNTS:  # options win
            fleet.pop(key, None)
        tiers = fleet.get("tiers")
        for tier in tiers if by_list and isinstance(tiers, list) else ():  # their links stay
            if isinstance(tier, dict):
                tier.pop("count", None)
    before = {key for key, _ in leaves(table)}
    if isinstance(problem := table.get("problem"), dict) and (targets := TARGETS & said.keys()):
        gone = TARGETS - targets
        if not TARGETS & before:  # beside a target rounds are a limit, and stay
            gone |= {DEFINES_ONE} - said.keys()
        for key in gone:
            problem.pop(key.removeprefix("problem."), None)


def _sized(said: Spoken) -> bool:
    """Whether tiers are said with their sizes."""
    tiers = str(said.get("network.tiers", ("", ""))[1])
    return not tiers.strip().isdigit() and any(letter.isdigit() for letter in tiers)


def _counts_of(table: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts of a file or table that options may replace by ranges, by letter."""
    said = dict(leaves(table))
    known = {symbol: said.get(f"fleet.{key}") for symbol, key in CHOICES.items()}
    return {symbol: n for symbol, n in known.items() if isinstance(n, int) and not isinstance(n, bool)}


def from_keywords(
    config: Config, settings: Mapping[str, Any], options: Mapping[str, Any], read_with: Load = load
) -> Scenario:
    """Read a scenario from a file or a table, and from values by key and by keyword, which win; also from frames.

    Raises:
        TypeError: For a keyword there is not, or one that says what another says.
    """
    with frames.held() as holder:
        file, said = spoken(config, settings, options, holder)
        return replace(instead_of(config, read_with(file, said)), asked=arguments(file, said))


def arguments(file: Path | None, said: Spoken) -> tuple[str, ...]:
    """Return the options of a command line that say the same; none where a value is a table or a data frame."""
    options = {one.key: one.options[0] for one in FIELDS if one.options}
    words = [] if file is None else ["--config", str(file)]
    for key, (_, value) in said.items():
        if isinstance(value, list) or (isinstance(value, str) and frames.content(Path(value)) is not None):
            return ()
        if key != "schema_version":  # a file's
            words += [options[key], str(value)] if key in options else ["--set", f"{key}={value}"]
    return tuple(words)


def instead_of(config: Any, found: Scenario) -> Scenario:
    """Keep the counts of a table that ranges took the place of, as `load` does those of a file."""
    return replace(found, replaced=_kept(_counts_of(config), found)) if isinstance(config, Mapping) else found


def _kept(counts: Mapping[str, int], found: Scenario) -> dict[str, int]:
    return {symbol: n for symbol, n in counts.items() if symbol in found.choices}


def spoken(
    config: Config,
    settings: Mapping[str, Any],
    options: Mapping[str, Any],
    holder: frames.Holder,
    named: Mapping[str, str] | None = None,
) -> tuple[Path | None, Spoken]:
    """Return the file, and what was said by key with the word that said it, as `load` reads both.

    ``named`` are keys by other words for options than those that are usual.

    Raises:
        TypeError: For a keyword there is not, or one that says what another says.
    """
    if not (config is None or isinstance(config, str | Path | Mapping)) or not isinstance(settings, Mapping):
        wrong = ("config", config) if isinstance(settings, Mapping) else ("settings", settings)
        raise TypeError(
            f"{wrong[0]}: {wrong[1]!a:.60} is no file and no table. Say sizes by name: groups=12, clients_per_group=25."
        )
    known = {**keywords(), **(named or {})}

    def plain(word: str, value: Any) -> Any:
        if isinstance(value, Answer):
            return file_of(value, word, holder)
        if hasattr(value, "to_frame"):
            raise TypeError(f"{word}: a {type(value).__name__} is one column. Give the data frame with all of them.")
        return holder.name(value, word) if frames.is_frame(value) else _of_python(value)

    said = {key: (f"settings[{key!r:.60}]", plain(key, value)) for key, value in settings.items()}
    for name, value in options.items():
        if name not in known:
            way = hint(name, known) or "See the options of `hfl-plan recommend --help`."
            raise TypeError(f"{name!a:.60} is not an option. {way}")
        if value is None:
            continue
        if known[name] in said:
            raise TypeError(f"{name}: {said[known[name]][0]} says the same. Give one of the two.")
        said[known[name]] = name, plain(name, value)
    if isinstance(config, Mapping):
        before: dict[str, Any] = {}
        for key, value in leaves(config):
            put(before, key, deepcopy(value) if isinstance(value, list) else value, "config")
        give_way(before, said)
        table = {key: (key, plain(key, value)) for key, value in leaves(before) if key not in said}
        return None, table | said
    return None if config is None else Path(config), said


def file_of(answer: Answer, word: str, holder: frames.Holder) -> str:
    """Return the name of what a command writes in place of an answer, such as a pilot or a profile."""
    if answer.file is None:
        raise TypeError(
            f"{word}: this {type(answer).__name__} stands for no file. Give the name of one, or what planner.pilot, "
            "planner.measure, planner.estimate or planner.group has just returned."
        )
    suffix, text = answer.file
    return holder.written(text, word, suffix, chosen=answer.chooses_groups)


def _of_python(value: Any) -> Any:
    """A value as a scenario file may have it: paths, ranges and limits as text, numpy's numbers as Python's."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, range) and value and value.step == 1:
        return f"{value[0]}:{value[-1]}"
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(end, int | float | str) for end in value):
        return f"{value[0]}:{value[1]}"
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


def _take_clients_alone(table: dict[str, Any], name: Callable[[str], str]) -> None:
    """Where the division into groups is free, label counts need no column of groups."""
    fleet, problem = table.get("fleet"), table.get("problem")
    if not isinstance(fleet, dict) or not isinstance(problem, dict):
        return
    said = problem.get("heterogeneity")
    if "clients" not in fleet or "clients_per_group" in fleet or ":" not in str(fleet.get("groups", ":")):
        return
    if isinstance(said, str) and said.strip().lower().endswith(".csv"):
        from planner.scenario import divisions

        try:
            problem["heterogeneity"] = divisions.ungrouped(said.strip())
        except ScenarioError as error:
            raise ScenarioError(f"{name('problem.heterogeneity')}: {error}") from None


def resolve(written: Written) -> Scenario:
    """Resolve defaults, derived numbers and origins for what was written; where counts are searched, for all of them.

    Raises:
        ScenarioError: If fields contradict each other, or one that has no default is missing.
    """
    if written.depth != 2:
        return resolve_fleet(written)
    in_all, groups, of_each = (written.get(f"fleet.{key}") for key in ("clients", "groups", "clients_per_group"))
    for key in ("groups", "clients_per_group"):
        if isinstance(written.get(f"fleet.{key}"), Span) and (in_all is None or of_each is not None):
            raise ScenarioError(
                f"{written.name(f'fleet.{key}')}: a range of groups is searched where only the clients in all are "
                "known. Give --clients beside it, and no --clients-per-group; or one number."
            )
    searched = in_all is not None and of_each is None and not isinstance(groups, int)
    if in_all is not None and not searched:
        count = groups or in_all // (of_each or 1)
        size = of_each or in_all // count
        if count * size != in_all:
            every = ((key, written.get(key)) for key in (tier["count"] for tier in SHORT))
            given = {written.name(key): number for key, number in every if number is not None}
            others = " and ".join(f"{name} {number}" for name, number in given.items())
            alone = written.name("fleet.clients")
            unit = groups or of_each or 1
            near = " or ".join(str(each * unit) for each in (in_all // unit, in_all // unit + 1) if each)
            way = f"Give {alone} {near}" if None in (groups, of_each) else f"Leave {alone} out"
            raise ScenarioError(
                f"{alone}: {in_all} clients contradict {others}: N = G M. "
                f"{way}, or give {alone} alone to search the number of groups.",
                code="E002",
            )
        written = written.changed({"fleet.groups": count, "fleet.clients_per_group": size})
    if searched or any(isinstance(written.get(f"fleet.{key}"), Span) for key in CHOICES.values()):
        from planner.scenario import divisions  # needs numpy, which most scenarios do without

        return divisions.scenarios(written)
    found = resolve_fleet(written)
    alone, of_groups = (written.name(f"fleet.{key}") for key in ("clients", "groups"))
    if None in (in_all, groups, of_each) or not alone.startswith("-") or of_groups.startswith("-"):
        return found
    kept = f"{alone} {in_all}: {groups} groups of {of_each} are in the file, so no other division is searched."
    return replace(found, warnings=(*found.warnings, kept))
