"""What ``hfl-plan export`` answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner.decide.recommendation import Recommendation
from planner.export.plan import plan
from planner.export.project import Exported, export, target_of
from planner.io.listings import Listing, listing
from planner.io.wording import counted, title
from planner.report.document import Column, Table
from planner.report.page import brief
from planner.runs.check import unchanged
from planner.scenario.resolve import Scenario


def exported(  # reason: an option each
    scenario: Scenario,
    told: Mapping[str, Any],
    to: str,
    topology: str | None,
    rate: float | None,
    groups: Path | None,
    folder: Path,
    saved: Recommendation | None,
    *,
    left: bool = False,
) -> Exported:
    """Write the project of a scenario, whose tables were ``told``, if not ``left``; ``saved`` is the same now.

    Raises:
        NoAnswerError: If there is no answer, or the folder cannot be written.
    """
    target = target_of(to)
    counts = told.get("problem", {}).get("heterogeneity")
    named = scenario.listed is not None or groups is not None
    if not named and isinstance(counts, str) and counts.strip().lower().endswith(".csv"):
        groups = Path(counts.strip())
    made = plan(scenario, topology, rate, groups)
    if saved is not None:
        unchanged(saved, made.answer)
    return export(made, target, folder, told, left=left)


def document(answer: Exported, *, left: bool = False) -> Listing:
    """Say what was written, or would be were the folder not ``left``, its costs, and what differs from the plan."""
    run = f"run by {answer.target}{', own links' * answer.over_own_links}"
    known = [(name, one) for name, one in (("planned", answer.planned), (run, answer.priced)) if one is not None]
    columns = (Column(""), Column("time", "duration"), Column("traffic", "size"), Column("best topology"))
    rows = tuple((name, p.time_seconds, p.traffic_bytes, ", ".join(map(title, p.best))) for name, p in known)
    table = Table(columns, rows, label="Price of the plan", apart=False, indent=2)
    wrote = f"{answer.folder} exists and is left as it is" if left else f"Wrote {answer.folder}"
    text = (
        f"{wrote}: {title(answer.topology)} for {counted(answer.clients, 'client')}, "
        f"{counted(answer.rounds, 'round')}, rate {answer.rate:.3g} ({answer.rate_from})."
    )
    listed = [{"part": name, **price.to_json()} for name, price in known]
    task = next(name for name in answer.files if name.endswith("task.py"))
    facts = [("Next", f"its README.md has two commands; then replace the functions of {task}")]
    found = listing("export", text, answer.to_json(), listed, warnings=answer.notes)
    return brief(found, [table], facts=facts, kind="Export")
