"""What ``hfl-plan validate`` answers: every claim with its verdict and the numbers behind it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner.harness.claims import Finding, Judged, Row, Validation
from planner.io.listings import Listing, listing
from planner.io.parts import finite
from planner.io.wording import counted
from planner.report.document import Block, Column, Section, Sentences, Table, typed
from planner.report.page import brief

VERDICTS = ("holds", "fails", "cannot tell")
SHOWN = 8  # numbers on a page
SENTENCE = 48  # letters of a statement in the list


def listed(findings: Sequence[Finding]) -> Listing:
    """List every claim: statement, place, prediction, and what judges it."""
    sections = []
    for one in findings:
        others = " and ".join(other.metric for other in one.others)
        also = f"By {others} too, where its runs measure that" if others else f"By nothing else: {one.alone}"
        sentences = (
            one.statement,
            f"Where: {one.source}.",
            f"Predicted by: {one.prediction}.",
            f"Judged by: {one.quantity}. {also}.",
        )
        sections.append(Section.said(one.id, one.id, sentences))
    whole = Table((Column("claim"), Column("statement")), tuple((one.id, one.statement) for one in findings))
    short = ((one.id, textwrap.shorten(one.statement, SENTENCE, placeholder=" ...")) for one in findings)
    following = ("... --explain CLAIM", "hfl-plan validate run CLAIM")
    rows = map(_data, findings)
    answer = listing("validate-list", f"{counted(len(findings), 'claim')}.", None, rows, next=following)
    return brief(answer, replace(whole, rows=tuple(short)), whole=whole, sections=sections, kind="Claims")


def document(found: Validation) -> Listing:
    """Report the verdict of every claim; its comparisons by every metric are behind ``--explain``."""
    judged = [one for one in found.findings if one.verdict is not None]
    rows = []
    sections = []
    for one in found.findings:
        counts = Counter(row.verdict for row in one.rows)
        rows.append((one.id, one.verdict or "not run", *(counts[v] if one.verdict else None for v in VERDICTS)))
        blocks: list[Block] = [Sentences(_verdicts(one), indent=2)]
        if one.verdict is not None:
            remarks = (f"By {other.metric}: {_remark(other, one.metric)}" for other in one.others)
            texts = (one.statement, one.note, *remarks)
            blocks += [*(Sentences(text, indent=2) for text in texts), _table(one)]
        sections.append(Section(one.id, one.id, tuple(blocks)))
    columns = (*typed("text", "claim", "verdict"), *typed("count", "for", "against", "undecided"))
    table = Table(columns, tuple(sorted(rows, key=lambda row: row[1] == "not run")))
    facts = [("Runs" if not i else "", text) for i, text in enumerate((*map(_where, found.machines), found.told))]
    lines = ((one.id, by.metric, row) for one in found.findings for by in one.by for row in by.rows)
    records = tuple({"claim": claim, "metric": metric, **_row(row)} for claim, metric, row in lines)
    metrics = dict.fromkeys(by.metric for one in found.findings for by in one.by if by.verdict is not None)
    said = "; by ".join(_count(metric, found.findings) for metric in metrics)
    verdict = f"By {said}." if judged else "No claim was run."
    following = ("hfl-plan validate report ... --explain CLAIM", "hfl-plan validate list")
    own = {"machines": list(found.machines)}
    answer = listing("validate", verdict, own, map(_data, found.findings), next=following)
    return brief(answer, table, facts=facts, sections=sections, records=records, kind="Claims")


def _verdicts(one: Finding) -> str:
    """The verdict by every metric that has one."""
    if one.verdict is None:
        return one.note
    return ", ".join(f"{by.verdict} by {by.metric}" for by in one.by if by.verdict is not None)


def _remark(other: Judged, own: str) -> str:
    """Where the order by this metric is another one than by the claim's own; its note where nothing was judged."""
    if other.verdict is None:
        return other.note if other.note.endswith(".") else f"{other.note}."
    turned = f"{other.opposite} of {len(other.rows)} comparisons go" if other.opposite else "no comparison goes"
    return f"{turned} the other way than by {own}. {other.note}"


def _table(one: Finding) -> Table:
    """The comparisons, a column for each metric."""
    by = [judged for judged in one.by if judged.verdict is not None]
    names = ("setting", "compared", "predicted", *(f"by {judged.metric}" for judged in by))
    rows = tuple(
        (
            *(same[0].setting, same[0].compared, same[0].predicted),
            *(f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}] {row.verdict}" for row in same),
        )
        for same in zip(*(judged.rows for judged in by), strict=True)
    )
    return Table(typed("text", *names), rows, label=one.id, indent=4)


def _count(metric: str, findings: Sequence[Finding]) -> str:
    verdicts = Counter(by.verdict for one in findings for by in one.by if by.metric == metric)
    holds, fails = verdicts["holds"], verdicts["fails"]
    said = f"{metric} {counted(holds, 'claim')} hold{'s' * (holds == 1)}, {fails} fail{'s' * (fails == 1)}, "
    return f"{said}{verdicts['cannot tell']} cannot be told"


def _where(machine: Mapping[str, Any]) -> str:
    """Where some of a store's cells were run, in a line; an older store does not say."""
    said = f"{machine['cells']} cells of the store took {machine['seconds']:.0f} s"
    if machine["processor_seconds"] is not None:
        said += f" ({machine['processor_seconds']:.0f} s of processors)"
    if machine["device"] is not None:
        said += " on {device}, PyTorch {torch}, threads: {threads}, {processor}".format(**machine)
    if machine["local_steps"] is not None:
        said += ", local steps compiled" if machine["local_steps"] == "compiled" else ", local steps in torch"
    return f"{said}."


def _data(one: Finding) -> dict[str, Any]:
    words = ("id", "source", "statement", "prediction", "quantity", "metric", "verdict", "note")
    return {
        **{name: getattr(one, name) for name in words},
        "rows": [_row(row) for row in one.rows],
        "alone": one.alone,
        "by": {
            by.metric: {name: getattr(by, name) for name in ("verdict", "note", "opposite")}
            | {"rows": [_row(row) for row in by.rows]}
            for by in one.by
        },
    }


def _row(row: Row) -> dict[str, Any]:
    numbers = {"ratio": row.value, "low": row.low, "high": row.high}
    return {
        **{name: getattr(row, name) for name in ("setting", "compared", "measure")},
        **{name: finite(value) for name, value in numbers.items()},
        **{name: getattr(row, name) for name in ("pairs", "found", "predicted", "verdict")},
    }


def numbers(lines: Sequence[Mapping[str, Any]], store: str) -> Listing:
    """Say how many numbers a store has, with all of them as records; the first are shown."""
    cells = len({line["cell"] for line in lines})
    names = ("cell", "algorithm", "rate", "seed", "round", "quantity", "number")
    rows = tuple(tuple(line[name] for name in names) for line in lines[:SHOWN])
    rates = ("rate", "number")
    table = Table(tuple(Column(n, "number" if n in rates else "text") for n in names), rows, indent=2)
    facts = [("Columns", "one line for each run, round and quantity; empty numbers diverged")]
    following = ("... --output results.csv", "... --output results.parquet")
    verdict = f"{counted(len(lines), 'number')} of {counted(cells, 'finished cell')}."
    answer = listing("validate-export", verdict, {"store": store}, lines, next=following)
    return brief(answer, [table], facts=facts, kind="Results")
