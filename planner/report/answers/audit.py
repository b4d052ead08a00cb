"""``hfl-plan audit``: the table of everything that is checked, and whether it is what the catalogue records."""

from __future__ import annotations

import json
from dataclasses import asdict

from hflbounds.audit import report as ledger
from hflbounds.typeset.markup import unicode
from hflbounds.typeset.wording import sentence
from planner.errors import ScenarioError
from planner.io.progress import progress

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
SCHEMA = "hfl-plan/audit/1"


def run(paper: str | None, only: str, as_json: bool) -> tuple[str, int]:
    """Check everything; progress goes to stderr.

    Args:
        paper: Key of one paper, or None for all.
        only: Which rows to show, one of `ONLY`; everything is checked all the same.
        as_json: Whether the text is a JSON document.

    Returns:
        The text, and how many rows are not as the catalogue records them.

    Raises:
        ScenarioError: If ``only`` is none of these.
        UnknownBoundError: If no paper has this key.
    """
    if only not in ONLY:
        raise ScenarioError(f"--only: {only!a:.40} is not one of {', '.join(ONLY)}.")
    found, total = [], ledger.size(paper)
    for count, row in enumerate(ledger.rows(paper), 1):
        progress(f"{min(count, total)} of {total}: {row.id[:60]}")
        found.append(row)
    progress("")
    wrong = [row for row in found if not row.as_recorded]
    shown = wrong if only == "wrong" else [row for row in found if only == "all" or row.verdict == VERDICTS[only]]
    return _json(found, shown) if as_json else _table(found, shown), len(wrong)


def _json(found: list[ledger.Row], shown: list[ledger.Row]) -> str:
    document = {
        "schema": SCHEMA,
        "as_recorded": all(row.as_recorded for row in found),
        "tally": ledger.tally(found),
        "rows": [{"kind": row.kind, "paper": row.paper} | asdict(row) for row in shown],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _table(found: list[ledger.Row], shown: list[ledger.Row]) -> str:
    out: list[str] = []
    wide = max((len(row.id) for row in shown), default=0)
    for kind, title in TITLES.items():
        rows = [row for row in shown if row.kind == kind]
        if not rows:
            continue
        out += ["", title]
        for row in rows:
            sign = "" if row.as_recorded else "  NOT AS RECORDED"
            out.append(f"  {row.id:{wide}}  {row.verdict:22}  {_plain(f'{row.place}: {row.claim}')}{sign}")
            if row.verdict != "holds" or not row.as_recorded:
                out.append(f"  {'':{wide}}  {'':22}  {_plain(row.detail)}")
    out += ["", "Rows by verdict"]
    verdicts = list(VERDICTS.values())
    counts = ledger.tally(found)
    papers = max(map(len, counts), default=0)
    out.append(f"  {'':{papers}}  " + "  ".join(verdicts))
    for paper, of in counts.items():
        out.append(f"  {paper:{papers}}  " + "  ".join(f"{of.get(v, 0) or '':>{len(v)}}" for v in verdicts))
    wrong = sum(not row.as_recorded for row in found)
    out += ["", "What fails is what is printed, and an erratum says so; the exit code is about the record alone."]
    out.append(f"{len(found)} rows, {len(found) - wrong} as recorded" + (f", {wrong} NOT." if wrong else "."))
    return "\n".join(line.rstrip() for line in out).lstrip("\n") + "\n"


def _plain(words: str) -> str:
    """Prose with its formulas in letters that a terminal has."""
    return " ".join(sentence(words, str, unicode).split())
