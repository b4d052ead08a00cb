"""What ``hfl-plan rerun`` answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from planner.decide.rank import recommend
from planner.decide.recommendation import Recommendation
from planner.io.listings import Listing, listing
from planner.io.wording import counted, shortened
from planner.report.document import Column, Table
from planner.report.page import brief
from planner.runs import manifest
from planner.runs.check import Check
from planner.runs.manifest import Manifest

LONGEST = 24  # letters of a value


def again(path: Path) -> tuple[Recommendation, list[str]]:
    """The answer of a manifest's scenario now, and what has changed around it.

    Raises:
        ScenarioError: for a file that is no manifest, or a scenario that can no longer be read.
        NoAnswerError: for a manifest that was edited, or where there is no answer now.
    """
    run = manifest.open_manifest(path)
    return recommend(manifest.scenario_of(run, path)), files_changed(run)


def checked(found: Check) -> Listing:
    """Say whether the same answer came out."""
    run, tolerance, differences = found.run, found.tolerance, found.differences
    rounded, largest = len(found.rounding), max((d.relative for d in found.rounding), default=0.0)
    apart = f": {counted(rounded, 'number')} rounded otherwise, by at most {largest:.1g}" if rounded else ""
    text = f"The answer is the same to a relative {tolerance:g}{apart}."
    if found.exact:
        text = f"The answer is the same, bit for bit (sha256 {run.answer_sha256[:12]}...)."
    elif not found.same:
        text = f"The answer is another: {counted(len(differences), 'difference')}."
    own = {
        **{"same": found.same, "bit_for_bit": found.exact, "tolerance": tolerance},
        "rounding": {"numbers": rounded, "largest_relative_difference": largest},
        "inputs": manifest.changed_inputs(run),
        "software": {name: {"then": then, "now": now} for name, (then, now) in found.software.items()},
    }
    changed = files_changed(run)
    changed += [f"{name} was {then}, and is {now}." for name, (then, now) in found.software.items()]
    rows = [{"at": d.at, "then": d.then, "now": d.now} for d in differences]
    cells = tuple((d.at, _short(d.then), _short(d.now)) for d in differences)
    table = Table((Column("place"), Column("then"), Column("now")), cells)
    return brief(listing("rerun", text, own, rows, warnings=changed), table if cells else (), kind="Check of a run")


def files_changed(run: Manifest) -> list[str]:
    """The files that a run read and that are no longer the same, in words."""
    key = {file.path: file.key for file in run.inputs}
    return [
        f"{path} ({key[path]}) {'is missing' if state == 'missing' else 'has changed'} since."
        + (" The manifest has its scenario whole." if key[path] == "config" else "")
        for path, state in manifest.changed_inputs(run).items()
    ]


def _short(value: Any) -> str:
    return shortened(json.dumps(value), LONGEST)
