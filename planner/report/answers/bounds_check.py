"""What ``hfl-plan bounds check`` answers: a verdict for every check that bounds owe."""

from __future__ import annotations

from collections.abc import Sequence

from hflbounds import catalogue
from hflbounds.audit.checks import audit
from planner.errors import ScenarioError
from planner.io.listings import Listing, listing
from planner.io.progress import progress
from planner.io.wording import counted
from planner.report.answers import bound_options as options
from planner.report.document import Table, typed
from planner.report.page import brief


def checked(ids: Sequence[str], paper: str | None) -> tuple[Listing, int]:
    """A verdict for every check of the bounds named, of a paper's, or of all; progress goes to stderr.

    The second result is how many checks failed.

    Raises:
        UnknownBoundError, ScenarioError: for ids and papers that there are not, or both at once.
    """
    if ids and paper is not None:
        raise ScenarioError("bounds check: name ids, or --paper, and not both.")
    bounds = options.bounds_named(ids) if ids else tuple(catalogue().values())
    options.known("--paper", paper, (b.source.paper.key for b in bounds))
    chosen = [bound for bound in bounds if paper in (None, bound.source.paper.key)]
    found = []
    for verdict in audit(chosen):
        found.append(verdict)
        progress(f"{len(found)}: {verdict.subject[:40]:40} {verdict.check[:25]}")
    failed = sum(bool(verdict.failure) for verdict in found)
    rows = [
        {"subject": v.subject, "check": v.check, "passed": not v.failure, "facts": v.facts, "failure": v.failure}
        for v in found
    ]
    tally = f"{counted(len(found), 'check')} of {counted(len(chosen), 'bound')}, " + (
        f"{failed} failed." if failed else "all passed."
    )
    answer = listing("bounds-check", tally, {"failed": failed, "bounds": len(chosen)}, rows)
    cells = [(v.subject, v.check, "fails" if v.failure else "passes", v.failure or f"{v.facts} facts") for v in found]
    ordered = tuple(sorted(cells, key=lambda row: row[2]))  # failures first
    table = Table(typed("text", "of", "check", "verdict", "found"), ordered)
    return brief(answer, table, kind="Checks of bounds"), failed
