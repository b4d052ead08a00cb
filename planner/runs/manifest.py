"""A run as a value: the scenario as it was told, what it was run with, the files it read, and its answer.

A manifest is enough to run again, and to see whether the same comes out. Paths in it are those that were written, so it
is run in the folder it was made in.
"""

from __future__ import annotations

import hashlib
import json
import platform
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from planner.decide.recommendation import Recommendation
from planner.errors import NoAnswerError, ScenarioError
from planner.io import json_documents as documents
from planner.io.parts import Part, Rule, field
from planner.io.version import version
from planner.scenario.fields import leaves, put, read
from planner.scenario.resolve import Scenario, Spoken, give_way, load

SCHEMA = "hfl-plan/manifest/1"
FILES = (".csv", ".json")  # what a value of a scenario may name
Hash = Annotated[str, Rule(pattern="^[0-9a-f]{64}$")]
Name = Annotated[str, Rule(max_length=4096)]


class Input(Part):
    """A file that was read."""

    path: Name
    key: Name = field("of the scenario; config for a scenario file, which `scenario` has whole")
    sha256: Hash


class Software(Part):
    """What ran."""

    hfl_plan: Name = field(key="hfl-plan")
    python: Name
    numpy: Name
    platform: Name


class Manifest(Part):
    """A run of ``recommend``."""

    schema_: Literal["hfl-plan/manifest/1"] = field(default="hfl-plan/manifest/1", key="schema")
    software: Software
    seed: int
    scenario: dict[str, Any] = field("tables and keys of a scenario file, as they were told")
    inputs: tuple[Input, ...]
    answer: dict[str, Any] = field("what recommend --json prints")
    answer_sha256: Hash
    sha256: Hash = field("of all else here, as JSON with sorted keys and without spaces")

    def text(self) -> str:
        """As a file."""
        return json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n"


def told(config: Path | None, spoken: Spoken) -> dict[str, Any]:
    """The tables and keys of a scenario, from a file and options that have been read without complaint."""
    table = read(config)[0] if config else {}
    give_way(table, spoken)
    for path, (option, value) in spoken.items():
        put(table, path, value, option)
    return table


def make(config: Path | None, spoken: Spoken, answer: Recommendation) -> Manifest:
    """The manifest of a run: of a scenario file, options by key of the scenario, and the answer.

    Raises:
        ScenarioError: for a scenario that JSON cannot hold.
        NoAnswerError: if a file that was read cannot be read again.
    """
    scenario = told(config, spoken)
    inputs = [("config", config)] if config else []
    inputs += [(key, Path(value.strip())) for key, value in leaves(scenario) if _names_a_file(key, value)]
    document = answer.to_json()
    parts: dict[str, Any] = {
        "schema": SCHEMA,
        "software": software(),
        "seed": answer.recommend.seed,
        "scenario": scenario,
        "inputs": [{"path": str(path), "key": key, "sha256": hash_of_file(path)} for key, path in inputs],
        "answer": document,
        "answer_sha256": hash_of(document),
    }
    try:
        return documents.fitted(Manifest, {**parts, "sha256": hash_of(parts)})
    except (TypeError, ValueError):  # a date, for one, which TOML has and JSON has not
        raise ScenarioError("--save: the scenario has values that JSON cannot hold. Leave out --save.") from None


def software() -> dict[str, str]:
    """What runs now."""
    return {
        "hfl-plan": version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
    }


def open_manifest(path: Path) -> Manifest:
    """Read a manifest and see that it is as it was written.

    Raises:
        ScenarioError: for a file that is no manifest.
        NoAnswerError: for one that was edited.
    """
    document = documents.read(path)
    documents.of_schema(path, document, [SCHEMA])
    manifest = documents.checked(path, Manifest, document)
    parts = {key: value for key, value in document.items() if key != "sha256"}
    for name, said, is_now in (
        ("answer", manifest.answer_sha256, hash_of(document["answer"])),
        ("manifest", manifest.sha256, hash_of(parts)),
    ):
        if said != is_now:
            raise NoAnswerError(
                f"{path}: the {name} was edited: its sha256 is {is_now[:12]}..., and {said[:12]}... is written there. "
                "Make it anew with `hfl-plan recommend --save`."
            )
    return manifest


def scenario_of(manifest: Manifest, path: Path) -> Scenario:
    """Read the scenario of a manifest again; ``path``, where it was read, is for errors.

    Raises:
        ScenarioError: where this version, or a file that has changed, does not take it.
    """
    return load(None, {key: (f"{path}: {key}", value) for key, value in leaves(manifest.scenario)})


def changed_inputs(manifest: Manifest) -> dict[str, str]:
    """The files that are not what they were: ``changed`` or ``missing``, by path."""
    found = {}
    for file in manifest.inputs:
        try:
            if hash_of_file(Path(file.path)) != file.sha256:
                found[file.path] = "changed"
        except NoAnswerError:
            found[file.path] = "missing"
    return found


def hash_of(document: Any) -> str:
    """Of its canonical text."""
    return hashlib.sha256(documents.canonical(document).encode()).hexdigest()


def hash_of_file(path: Path) -> str:
    """Of its bytes.

    Raises:
        NoAnswerError: if it cannot be read.
    """
    try:
        if path.exists() and not path.is_file():
            raise ScenarioError(f"{path}: is no file that a scenario can be read from. Check the manifest.")
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no such name"
        raise NoAnswerError(f"{path}: cannot be read ({reason}).") from None


def _names_a_file(key: str, value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return key == "problem.pilot" or (key == "problem.heterogeneity" and value.strip().lower().endswith(FILES))
