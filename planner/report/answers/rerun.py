"""What ``hfl-plan rerun`` and ``hfl-plan diff`` answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from planner.decide.rank import recommend
from planner.decide.recommendation import Recommendation
from planner.io import json_documents as documents
from planner.runs import manifest
from planner.runs.check import Check
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


def checked(found: Check, *, as_json: bool) -> str:
    """Say whether the same answer came out, in words or JSON."""
    run, tolerance, differences = found.run, found.tolerance, found.differences
    rounded, largest = len(found.rounding), max((d.relative for d in found.rounding), default=0.0)
    software = {name: {"then": then, "now": now} for name, (then, now) in found.software.items()}
    if as_json:
        document = {
            "schema": RERUN,
            "same": found.same,
            "bit_for_bit": found.exact,
            "tolerance": tolerance,
            "differences": [{"at": d.at, "then": d.then, "now": d.now} for d in differences],
            "rounding": {"numbers": rounded, "largest_relative_difference": largest},
            "inputs": manifest.changed_inputs(run),
            "software": software,
        }
        return json.dumps(document, indent=2, allow_nan=False) + "\n"
    if found.exact:
        lines = [f"The answer is the same, bit for bit (sha256 {run.answer_sha256[:12]}...)."]
    elif found.same:
        apart = f": {_count(rounded, 'number')} rounded otherwise, by at most {largest:.1g}" if rounded else ""
        lines = [f"The answer is the same to a relative {tolerance:g}{apart}."]
    else:
        lines = [f"The answer is another: {_count(len(differences), 'difference')}."]
        lines += [f"  {d.at}: {_short(d.then)} then, {_short(d.now)} now" for d in differences[:NAMED]]
        lines += [f"  and {len(differences) - NAMED} more; --json has all"] if len(differences) > NAMED else []
    lines += _files(run)
    lines += [f"{name} was {versions['then']}, and is {versions['now']}." for name, versions in software.items()]
    return "\n".join(lines) + "\n"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


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
