"""The scenario that the page holds: tables as in a file, with every tier in ``[[fleet.tiers]]`` and no file named.

What a page sends is written by whoever made the link, so nothing in it may name a file of this machine.
"""

from __future__ import annotations

import base64
import copy
import json
import shlex
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from hflbounds.topology import tier_symbols
from planner.data import heterogeneity
from planner.errors import ScenarioError
from planner.io.text import capped
from planner.io.toml_text import toml
from planner.io.wording import counted
from planner.scenario import resolve
from planner.scenario.fields import FIELDS, leaves
from planner.scenario.network import link_names
from planner.scenario.values import Scenario
from planner.scenario.written import SHORT

Tables = dict[str, Any]

LARGEST = 64 * 1024  # bytes of a scenario on the page
SLOW: Final = ("surrogate",)  # predictors that simulate
MOST_KEYS = 200
MOST_DEPTH = 6


def load(tables: Mapping[str, Any]) -> Scenario:
    """Read the scenario of a page.

    Raises:
        ScenarioError: For what is no scenario, names a file, or is too long a search for a page.
    """
    told = {key: value for key, value in leaves(tables) if value is not None}
    if len(told) > MOST_KEYS:
        raise ScenarioError(f"the scenario has {len(told)} keys, and none has over {MOST_KEYS}. Leave some out.")
    said = told.get("problem.heterogeneity")
    if isinstance(said, str) and said.strip().lower().endswith(heterogeneity.FILES):
        raise ScenarioError(
            f"problem.heterogeneity: {said!a:.60} is a file, and a page reads no files of this machine. "
            "Drop the label counts on the page, or use `hfl-plan recommend --config`.",
            code="E005",
        )
    if "fleet.list" in told:
        raise ScenarioError(
            "fleet.list: a page reads no list of clients. Use `hfl-plan recommend --config FILE` with the scenario.",
            code="E005",
        )
    if "problem.pilot" in told:
        raise ScenarioError("problem.pilot: a page reads no pilot. Use `hfl-plan recommend --pilot`.", code="E005")
    if told.get("plan.predictor") in SLOW:
        raise ScenarioError("plan.predictor: surrogate simulates for minutes. Use `hfl-plan recommend` for it.")
    scenario = resolve.load(None, {key: (key, value) for key, value in told.items()})
    if scenario.divisions or scenario.choices:
        raise ScenarioError(
            "fleet: a range of counts is a search. Give one number on the page, or use `hfl-plan recommend`.",
            code="E005",
        )
    if scenario.depth > MOST_DEPTH:
        raise ScenarioError(
            f"fleet.tiers: the page shows up to {MOST_DEPTH} tiers. Use `hfl-plan recommend`.", code="E005"
        )
    return scenario


def with_groups(tables: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Scenario]:
    """Return what reads the scenario of a page with other groups, which it is given by key.

    Raises:
        ScenarioError: For what is no scenario, or has other tiers than groups and their clients.
    """
    depth = load(tables).depth
    if depth != 2:
        raise ScenarioError(
            f"fleet.tiers: clients are put into one tier of groups, and the page has {counted(depth, 'tier')}. "
            f"{'Add one' if depth < 2 else 'Remove one, with its link'}, then group again."
        )
    own = ("fleet.groups", "fleet.clients_per_group", "problem.heterogeneity")
    found = copy.deepcopy(dict(tables))
    flat = _flat(found, found.get("fleet", {}).pop("tiers"))
    told = {key: value for key, value in leaves(flat) if value is not None and key not in own}
    return lambda instead: resolve.load(None, {key: (key, value) for key, value in {**told, **instead}.items()})


def from_toml(text: str) -> Tables:
    """Read a scenario file that was opened on the page, with its tiers where the page has them."""
    try:
        tables = tomllib.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise ScenarioError(
            f"the file is not TOML: {error!s:.200}. Choose a scenario of hfl-plan.", code="E031"
        ) from None
    except RecursionError:
        raise ScenarioError("the file is nested too deeply for a scenario. Choose another.", code="E004") from None
    scenario = load(tables)
    if scenario.listed is not None:
        raise ScenarioError(
            "fleet: the page has nodes of one size, and this fleet lists its own. Use `hfl-plan recommend --config "
            "FILE` with this file.",
            code="E005",
        )
    return with_tiers(tables, scenario)


def from_file(path: Path) -> Tables:
    """Read a scenario file of this machine, which the user named.

    Raises:
        ScenarioError: For what cannot be read, or is no scenario that a page shows.
    """
    raw = capped(path, LARGEST, ". Choose a scenario of hfl-plan.")
    try:
        return from_toml(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: is not UTF-8 text (byte {error.start}). Save it as UTF-8.", code="E031") from None
    except ScenarioError as error:
        raise ScenarioError(f"{path}: {error}") from None


def in_address(tables: Mapping[str, Any]) -> str:
    """Write a scenario as the part of the page's address that holds it."""
    text = json.dumps(tables, ensure_ascii=False, separators=(",", ":"))
    return "#s=" + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def with_tiers(tables: Mapping[str, Any], scenario: Scenario) -> Tables:
    """Write a scenario's groups, clients and their links as ``[[fleet.tiers]]``, where the page has them.

    Raises:
        ScenarioError: For groups without servers, and for named topologies, which no page shows.
    """
    found = copy.deepcopy(dict(tables))
    network = found.setdefault("network", {})
    if scenario.network.tiers != scenario.depth or scenario.topologies:
        raise ScenarioError(
            f"network.tiers: {network.get('tiers')!r:.40} is not shown by the page. Leave it out, or use "
            "`hfl-plan recommend --config`.",
            code="E005",
        )
    fleet = found.setdefault("fleet", {})
    if "tiers" not in fleet:
        named = zip(tier_symbols(scenario.depth), link_names(scenario.depth), scenario.names, strict=True)
        tiers: list[Tables] = []
        for symbols, link, name in named:
            tier: Tables = {"name": name, "count": scenario.known[symbols.size].value}
            for part, symbol in (("passes", symbols.passes), ("drawn", symbols.drawn)):
                if symbol and scenario.known[symbol].origin == "given":
                    tier[part] = scenario.known[symbol].value
            if isinstance(network.get(link), dict):
                tier["link"] = network.pop(link)
            tiers.append(tier)
        for tier_keys in SHORT:
            for key in tier_keys.values():
                fleet.pop(key.removeprefix("fleet."), None)
        fleet.pop("clients", None)
        fleet["tiers"] = tiers
    network.pop("tiers", None)
    if not network:
        del found["network"]
    found.pop("schema_version", None)
    return found


def command(tables: Mapping[str, Any]) -> str:
    """Write the command line that asks the same.

    Tiers of any depth are options as far as options can say them; else the command reads the saved file.
    """
    found: Tables = copy.deepcopy(dict(tables))
    fleet = found.get("fleet", {})
    tiers = fleet.pop("tiers", []) if isinstance(fleet, dict) else []
    parts: list[str] = []
    if len(tiers) == 2:
        found = _flat(found, tiers)
    elif tiers:
        if any(set(tier) - {"name", "count"} for tier in tiers):
            return "hfl-plan recommend --config scenario.toml"
        parts += ["--tiers", "/".join(str(tier["count"]) for tier in tiers)]
    named = {field.key: field.options[0] for field in FIELDS if field.options}
    named |= {"fleet.groups": "-G", "fleet.clients_per_group": "-M"}
    for key, value in leaves(found):
        if key not in ("title", "schema_version") and not isinstance(value, list | None):
            parts += [named[key], str(value)] if key in named else ["--set", f"{key}={value}"]
    return shlex.join(["hfl-plan", "recommend", *parts])


def written(tables: Mapping[str, Any]) -> str:
    """Write the scenario as a file."""
    return toml({"schema_version": 1, **tables})


def _flat(tables: Tables, tiers: list[Tables]) -> Tables:
    """Two tiers as groups and clients, which have options."""
    top, low = copy.deepcopy(tiers)
    fleet, network = tables.setdefault("fleet", {}), tables.setdefault("network", {})
    for part in ("count", "passes", "drawn"):
        for tier, keys in zip((top, low), SHORT, strict=True):
            if part in tier and keys[part]:
                fleet[keys[part].removeprefix("fleet.")] = tier[part]
    for tier, link in ((low, "client_link"), (top, "server_link")):
        if "link" in tier:
            network[link] = tier["link"]
    if "deviation" in top and "deviation" in low:
        said = f"zeta={low['deviation']},delta={top['deviation']}"
        tables.setdefault("problem", {})["heterogeneity"] = said
    return {"fleet": tables.pop("fleet"), **tables}
