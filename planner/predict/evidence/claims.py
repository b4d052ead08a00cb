"""What runs said of the claims: the verdicts of `hfl-plan validate`, as they come with the package.

The file is written by ``benchmarks/claims_record.py`` from the reports of both sizes; docs/validation.md has the same
table, and says what the sizes are.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from planner.predict.evidence import table

FILE = "claims.csv"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim and what became of it, at the largest size it was run at."""

    claim: str
    statement: str
    verdict: str  # ``holds``, ``fails`` or ``cannot tell``
    holds: int  # how many of its comparisons do
    fails: int  # how many do not
    open: int  # how many cannot be told
    size: str  # ``full`` or ``quick``

    def __str__(self) -> str:
        """A line for people."""
        of = self.holds + self.fails + self.open
        return f"{self.claim} {self.verdict} ({self.holds} of {of}, {self.size} size): {self.statement}"

    def as_json(self) -> dict[str, Any]:
        """As data."""
        return asdict(self)


@cache
def _all() -> dict[str, Verdict]:
    found = {}
    for row in table(FILE):
        size = "full" if row["full"] else "quick"
        holds, fails, undecided = (int(row[f"{size}_{what}"]) for what in ("holds", "fails", "open"))
        found[row["claim"]] = Verdict(row["claim"], row["statement"], row[size], holds, fails, undecided, size)
    return found


def verdicts(*claims: str) -> list[Verdict]:
    """Those of some claims, in the order asked for."""
    return [_all()[claim] for claim in claims]


def beginning(with_: str) -> list[Verdict]:
    """Those of all claims whose id begins so."""
    return [verdict for claim, verdict in _all().items() if claim.startswith(with_)]
