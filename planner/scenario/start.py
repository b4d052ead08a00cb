"""A first scenario: six questions, or an example, and a TOML file with a comment on every line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Final

from planner.errors import ScenarioError
from planner.io.text import one_of
from planner.io.toml_text import toml
from planner.scenario.fields import FIELDS, put

EXAMPLES: Final = {name: f"{name.replace('-', '_')}.toml" for name in ("phones", "hospitals", "cell-site", "regions")}
FLEET: Final = re.compile(r"\s*([0-9]{1,7})\s*(?:x|X|\*|by|,|\s)\s*([0-9]{1,7})\s*")
ONE_NUMBER: Final = re.compile(r"[0-9]*\.?[0-9]+", re.ASCII)
KINDS: Final = {
    **{"none": "iid", "clients": "intra", "groups": "inter", "both": "both"},
    **{kind: kind for kind in ("iid", "intra", "inter")},  # as --heterogeneity has them
}
SHARED: Final = {
    **{"y": "per-server", "yes": "per-server", "n": "per-client", "no": "per-client", "unknown": None},
    **{sharing: sharing for sharing in ("per-client", "per-server")},  # as --link-sharing has them
}
AIMS: Final = ("time", "traffic", "rounds")


@dataclass(frozen=True, slots=True)
class Question:
    """A question."""

    text: str  # what is asked
    usual: str  # the answer where nothing is written
    read: Callable[[str], Mapping[str, Any]]  # reads an answer as values by key; None for a value that stays open

    def unanswered(self) -> dict[str, Any]:
        """Return what nothing written gives: values that stay open, and the usual answer where there has to be one."""
        return {key: None if key in OPEN else value for key, value in self.read(self.usual).items()}


def checked(key: str, value: str) -> str:
    """Return a value that a scenario can have at a key."""
    next(field for field in FIELDS if field.key == key).read(value, key)
    return value


def _fleet(answer: str) -> dict[str, Any]:
    found = FLEET.fullmatch(answer)
    if found is None:
        raise ScenarioError(
            f"groups x clients: {answer!a:.40} is not two whole numbers. Write 12 x 25. For other fleets begin again "
            "with --data counts.csv or --fleet fleet.csv, which say who is in which group, or with --tiers 5/3/8.",
            code="E022",
        )
    counts = {"fleet.groups": int(found[1]), "fleet.clients_per_group": int(found[2])}
    for key, number in counts.items():
        checked(key, str(number))
    return counts


def _quantity(key: str, answer: str) -> dict[str, Any]:
    return {key: checked(key, answer)}


def _shared(answer: str) -> dict[str, Any]:
    return {"network.client_link.sharing": SHARED[one_of(answer.lower(), tuple(SHARED), "shared")]}


def _data(answer: str) -> dict[str, Any]:
    if ONE_NUMBER.fullmatch(answer):
        way = f"Write none, clients, groups, both, a file such as counts.csv, or one for each tier: {answer:.40}/1."
        raise ScenarioError(f"data: {answer:.40} is one number, and every tier has its own. {way}", code="E022")
    if not answer.isalpha():  # a file, or numbers as --heterogeneity has them
        return {"problem.heterogeneity": checked("problem.heterogeneity", answer)}
    return {"problem.heterogeneity": KINDS[one_of(answer.lower(), tuple(KINDS), "data")]}


def _aim(answer: str) -> dict[str, Any]:
    try:
        return {"plan.objective": one_of(answer.lower(), AIMS, "objective")}
    except ScenarioError as error:
        raise ScenarioError(f"{error} Energy, carbon and money need rates: --objective. Accuracy: --metric.") from None


QUESTIONS: Final = (
    Question("Which data differ: none, clients, groups, both, or a counts file?", "both", _data),
    Question("Groups x clients per group?", "10 x 10", _fleet),
    Question("Model size or number of parameters?", "44.7MB", partial(_quantity, "model.size")),
    Question("Client uplink?", "20Mbit/s", partial(_quantity, "network.client_link.up")),
    Question("Is the uplink shared within a group? [y/n/unknown]", "unknown", _shared),
    Question("What matters most: time, traffic, rounds?", "time", _aim),
)
COMMENTS: Final = {  # of values that are asked for or assumed; those of others are the help of their options
    "fleet.groups": "groups, each with a server",
    "fleet.clients_per_group": "clients of each group",
    "fleet.local_steps": "local steps of a client between two averagings",
    "fleet.group_rounds": "group rounds in a global round",
    "model.size": "one transfer of the model; 4 bytes per parameter in single precision",
    "network.client_link.up": "client to server; the preset broadband says the rest of the link",
    "network.client_link.sharing": "per-client: each client has this rate; per-server: the group shares it",
    "network.server_link.preset": "group server to the cloud",
    "compute.step_time": "mean time of a local step: measure yours",
    "problem.heterogeneity": "data that differ: iid, intra (clients), inter (groups), both, or a file of label counts",
    "plan.objective": "what to minimise: time, traffic or rounds; with rates also energy, carbon or money",
}
OPEN: Final = {  # what is assumed where the answer is open: values behind a comment sign
    "model.size": "44.7MB",
    "network.client_link.up": "20Mbit/s",
    "network.client_link.sharing": "per-client",
    "problem.heterogeneity": "both",
    "plan.objective": "time",
}
REST: Final = {  # what else is assumed, and worth a look
    "fleet.local_steps": "2",
    "fleet.group_rounds": "1",
    "compute.step_time": "0.1s",
    "network.server_link.preset": "wan",
}


def written(values: Mapping[str, Any]) -> str:
    """Write a scenario with a comment on every line.

    Values are by key; None for one that stays open.
    """
    assumed = {**OPEN, **REST}
    tables: dict[str, list[str]] = {"": ["schema_version = 1"]}
    for field in FIELDS:
        key, (table, _, name) = field.key, field.key.rpartition(".")
        if key not in values and key not in REST:
            continue
        value = values.get(key)
        told, sign = (assumed[key], "# ") if value is None else (value, "")
        line = toml({name: told if field.kind.schema.get("type") == "string" else _number(told)}).strip()
        tables.setdefault(table, []).append(f"{f'{sign}{line}':<26} # {COMMENTS.get(key, field.help)}")
    lines = [
        "#:schema scenario.schema.json",
        "# `hfl-plan schema scenario > scenario.schema.json` lets an editor check and complete this file.",
        "# What stands behind # is assumed: take the sign away where you know the value.",
        "# So is a fleet of 10 x 10 where none was given.",
    ]
    for table, rows in tables.items():
        lines += [*([f"\n[{table}]"] if table else []), *rows]
    return "\n".join(lines) + "\n" + _of_tiers(values)


def _of_tiers(values: Mapping[str, Any]) -> str:
    """Write what was said of tiers, whose sizes are those of ``network.tiers``; empty for nothing."""
    said = {key: value for key, value in values.items() if key.startswith("fleet.tiers.")}
    table: dict[str, Any] = {"fleet": {"tiers": [{} for _ in str(values.get("network.tiers")).split("/")]}}
    for key, value in said.items():
        put(table, key, _number(value), key)
    return "\n# tiers, top first\n" + toml(table) if said else ""


def _number(told: Any) -> Any:
    """A whole number as such; all else as it was told."""
    return int(told) if str(told).isdecimal() else told


def example(name: str) -> dict[str, str]:
    """Return the files of an example, by name."""
    one_of(name, tuple(EXAMPLES), "--example")
    folder = resources.files("planner") / "examples"  # in a wheel
    at = Path(str(folder)) if folder.is_dir() else Path(__file__).parents[2] / "examples"
    text = (at / EXAMPLES[name]).read_text(encoding="utf-8")
    files = {EXAMPLES[name]: text.replace("--config examples/", "--config ")}
    for other in sorted(set(re.findall(r'"(?:examples/)?([a-z0-9_]+\.csv)', text))):
        files[other] = (at / other).read_text(encoding="utf-8")
    return files
