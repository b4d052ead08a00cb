"""``hfl-plan audit``: the table of everything that is checked, and whether it is what the catalogue records."""

from __future__ import annotations

from dataclasses import asdict

from hflbounds.audit import report as ledger
from planner.io.listings import Listing, listing
from planner.io.progress import progress
from planner.io.text import one_of
from planner.report.answers.bound_options import plain
from planner.report.document import Column, Section, Table
from planner.report.page import brief

ONLY = ("all", "holds", "constant", "fails", "unknown", "notes", "wrong")
VERDICTS = {
    "holds": "holds",
    "constant": "holds up to a constant",
    "fails": "fails",
    "unknown": "cannot tell",
    "notes": "note",
}
TITLES = {
    "line": "Lines of derivations",
    "erratum": "What is printed otherwise than it is proved",
    "bound": "Bounds, each against the checks it owes",
    "family": "Families of four topologies",
}


def run(paper: str | None, only: str) -> tuple[Listing, int]:
    """Check everything, and show the rows of `ONLY` that are asked for; progress goes to stderr.

    The second result is how many rows are not as the catalogue records them.

    Raises:
        UnknownBoundError: If no paper has this key.
    """
    one_of(only, ONLY, "--only")
    found, total = [], ledger.size(paper)
    for count, row in enumerate(ledger.rows(paper), 1):
        progress(f"{min(count, total)} of {total}: {row.id[:60]}")
        found.append(row)
    wrong = [row for row in found if not row.as_recorded]
    shown = wrong if only == "wrong" else [row for row in found if only == "all" or row.verdict == VERDICTS[only]]
    return _document(found, shown), len(wrong)


def _document(found: list[ledger.Row], shown: list[ledger.Row]) -> Listing:
    """The verdict, rows that are wrong first, and all rows with their reasons behind ``--explain``."""
    tally = ledger.tally(found)
    wrong = sum(not row.as_recorded for row in found)
    of = {verdict: sum(counts.get(verdict, 0) for counts in tally.values()) for verdict in VERDICTS.values()}
    marked = sum(row.erratum is not None for row in found if row.verdict == "holds")
    only = f" ({marked} only where checked: see their errata)" * (marked > 0)
    told = f"{of['holds']} hold{only}, {of['holds up to a constant']} up to a constant, {of['fails']} fail, "
    told += f"{of['cannot tell']} unknown, {of['note']} notes"
    verdict = f"{len(found) - wrong} of {len(found)} rows come out as recorded: {told}."
    if wrong:
        verdict = f"{wrong} of {len(found)} rows are NOT AS RECORDED ({told})."
    own = {"as_recorded": not wrong, "tally": tally}
    every = [{"kind": row.kind, "paper": row.paper} | asdict(row) for row in shown]
    answer = listing("audit", verdict, own, every)
    rows = sorted(shown, key=lambda row: row.as_recorded)
    cells = tuple((row.id, _found(row) + ("" if row.as_recorded else "  NOT AS RECORDED")) for row in rows)
    sections = (
        Section.said(kind, title, (_sentence(row) for row in shown if row.kind == kind))
        for kind, title in TITLES.items()
    )
    facts = [("Note", "a row that fails is what the paper prints; its erratum says so")] * bool(of["fails"])
    table = Table((Column("row"), Column("verdict")), cells)
    return brief(answer, table, facts=facts, sections=sections, kind="Audit")


def _found(row: ledger.Row) -> str:
    """The verdict; of what passes the checks though an erratum says that it is wrong as printed, which."""
    marked = row.verdict == "holds" and row.erratum is not None
    return row.verdict + f" where checked; as printed: see {row.erratum}" * marked


def _sentence(row: ledger.Row) -> str:
    detail = f" {plain(row.detail)}" if row.verdict != "holds" or not row.as_recorded else ""
    return f"{row.id}, {_found(row)}: {plain(f'{row.place}: {row.claim}')}.{detail}"
