"""What ``hfl-plan rerun`` and ``hfl-plan diff`` answer."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

from planner.decide.rank import recommend
from planner.decide.recommendation import Recommendation
from planner.io import json_documents as documents
from planner.runs import manifest
from planner.runs.difference import difference
from planner.runs.manifest import Manifest

RERUN, DIFF = "hfl-plan/rerun/1", "hfl-plan/diff/1"
NAMED = 5  # differences


def again(path: Path) -> tuple[Recommendation, list[str]]:
    """The answer of a manifest's scenario now, and what has changed around it.

    Raises:
        ScenarioError: for a file that is no manifest, or a scenario that can no longer be read.
        NoAnswerError: for a manifest that was edited, or where there is no answer now.
    """
    run = manifest.open_manifest(path)
    return recommend(manifest.scenario_of(run, path)), _files(run)


def checked(path: Path, *, as_json: bool) -> tuple[str, bool]:
    """Whether the same answer comes out, in words or JSON.

    Args:
        path: of a manifest.
        as_json: whether to answer in JSON.

    Raises:
        ScenarioError: for a file that is no manifest, or a scenario that can no longer be read.
        NoAnswerError: for a manifest that was edited, or where there is no answer now.
    """
    run = manifest.open_manifest(path)
    answer = recommend(manifest.scenario_of(run, path))
    now = answer.to_json()
    same = manifest.hash_of(now) == run.answer_sha256
    found = list(manifest.differences(run.answer, json.loads(json.dumps(now))))
    runs_now = manifest.software()
    other = {
        name: {"then": was, "now": runs_now[name]}
        for name, was in run.software.model_dump(mode="json").items()
        if was != runs_now[name]
    }
    if as_json:
        document = {
            "schema": RERUN,
            "same": same,
            "differences": [{"at": at, "then": then, "now": after} for at, then, after in found],
            "inputs": manifest.changed_inputs(run),
            "software": other,
        }
        return json.dumps(document, indent=2, allow_nan=False) + "\n", same
    lines = [f"The answer is the same, bit for bit (sha256 {run.answer_sha256[:12]}...)."]
    if not same:
        lines = [f"The answer is another: {len(found)} difference{'s' if len(found) > 1 else ''}."]
        lines += [f"  {at}: {_short(then)} then, {_short(after)} now" for at, then, after in islice(found, NAMED)]
        lines += [f"  and {len(found) - NAMED} more; --json has all"] if len(found) > NAMED else []
    lines += _files(run)
    lines += [f"{name} was {versions['then']}, and is {versions['now']}." for name, versions in other.items()]
    return "\n".join(lines) + "\n", same


def compared(before: Path, after: Path, *, as_json: bool) -> str:
    """What changed from one saved answer to another.

    Raises:
        ScenarioError: for a file that is neither a manifest nor an answer.
        NoAnswerError: for a manifest that was edited.
    """
    found = difference(_answer(before), _answer(after))
    if as_json:
        return json.dumps({"schema": DIFF, **found.to_json()}, indent=2, allow_nan=False) + "\n"
    return f"{found}\n"


def _answer(path: Path) -> Recommendation:
    document = documents.read(path)
    if documents.of_schema(path, document, [manifest.SCHEMA, Recommendation.schema_id()]) == manifest.SCHEMA:
        return documents.checked(path, Recommendation, manifest.open_manifest(path).answer, "answer")
    return documents.checked(path, Recommendation, document)


def _files(run: Manifest) -> list[str]:
    """The files that a run read and that are no longer the same, in words."""
    key = {file.path: file.key for file in run.inputs}
    return [
        f"{path} ({key[path]}) {'is missing' if state == 'missing' else 'has changed'} since."
        + (" The manifest has its scenario whole." if key[path] == "config" else "")
        for path, state in manifest.changed_inputs(run).items()
    ]


def _short(value: Any) -> str:
    shown = json.dumps(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
