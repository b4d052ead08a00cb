"""What ``hfl-plan compare`` answers about a run of an exported project."""

from __future__ import annotations

from planner.export.measured import Comparison
from planner.io.listings import Listing, listing
from planner.io.wording import counted, names, title
from planner.report.document import Cell, Column, Table, typed
from planner.report.page import brief
from planner.scenario.units import format_amount


def document(answer: Comparison) -> Listing:
    """Say predicted against measured, what to correct, and whether the recommendation stays."""
    same = set(answer.best) == set(answer.best_corrected)
    turned = same and answer.best != answer.best_corrected  # of a toss-up
    leads = f", now led by {title(answer.best_corrected[0])}" if turned else ""
    verdict = f"The recommendation stays {names(answer.best)}{leads}."
    if not same:
        now = names(answer.best_corrected) if answer.best_corrected else "none: no topology reaches the target"
        verdict = f"The recommendation changes from {names(answer.best)} to {now}."
    if answer.sample:
        verdict = "Nothing to correct: task.py is still the sample. Put in your model and data, and run again."
    ran = (
        f"{title(answer.topology)}, run by {answer.target} for {counted(answer.rounds, 'round')}"
        + (f" of {answer.rounds_predicted:,} predicted" if answer.rounds_predicted else "")
        + f"; its metric went from {answer.metric_first:.4g} to {answer.metric:.4g}."
    )
    target = (
        f"{answer.predicted_to}. The metric of task.py is your own, so whether and when it was met is yours to say."
    )
    rows: list[tuple[Cell, ...]] = [
        (
            row.name,
            *(format_amount(value, row.unit) for value in (row.predicted, row.measured, row.corrected)),
            row.measured / row.predicted if row.predicted else None,
        )
        for row in answer.rows
    ]
    columns = (Column(""), *typed("duration", "predicted", "measured", "corrected"), Column("ratio", "number"))
    table = Table(columns, tuple(rows), label="Predicted against measured", apart=False, indent=2)
    settings = [f"--set {one.setting}  (was {format_amount(one.was, one.unit)})" for one in answer.corrections]
    facts = [("Run", ran), ("Target", target), *(("Correct" if not i else "", text) for i, text in enumerate(settings))]
    own = answer.to_json()
    shared = {"rows": own.pop("rows"), "warnings": own.pop("notes")}
    if answer.sample:
        facts[1:] = [("Next", "replace the functions of task.py, and delete its line SAMPLE = True")]
    found = listing("compare-measured", verdict, own, best=answer.best_corrected, **shared)
    return brief(found, [] if answer.sample else [table], facts=facts, kind="Comparison")
