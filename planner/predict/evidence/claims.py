"""What runs said of the claims: the verdicts of `hfl-plan validate`, as they come with the package.

The files are written by ``benchmarks/claims_record.py`` from the reports of both sizes; docs/validation.md has the same
tables, and says what the sizes are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from planner.io.answers import Evidence
from planner.predict.evidence import rows_of, table

FILE, BY_METRIC = "claims.csv", "claims_by_metric.csv"


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
    by: dict[str, str]  # by metric, its own first, what became of it at the size that all metrics were run at
    by_size: str  # which that is

    @property
    def of(self) -> int:
        """How many comparisons it has."""
        return self.holds + self.fails + self.open

    def __str__(self) -> str:
        """A line for people."""
        own = next(iter(self.by.values()), "")
        turned = [f"by {metric} {verdict}" for metric, verdict in self.by.items() if verdict != own]
        also = f"; {' and '.join(turned)} at {self.by_size} size" if turned else ""
        agree = f"{self.holds} of {self.of} comparisons agree ({self.size} size{also})"
        return f"{self.claim} {self.verdict}: {agree}. {self.statement}"


@cache
def _all() -> dict[str, Verdict]:
    found: dict[str, Verdict] = {}
    by: dict[str, dict[str, dict[str, str]]] = {}
    for size in ("quick", "full"):  # the larger one counts
        for line in sorted(rows_of(BY_METRIC, size=size), key=lambda line: not line["own"]):
            by.setdefault(line["claim"], {}).setdefault(size, {})[line["metric"]] = line["verdict"]
    for row in table(FILE):
        size = "full" if row["full"] else "quick"
        holds, fails, undecided = (int(row[f"{size}_{what}"]) for what in ("holds", "fails", "open"))
        by_size, verdicts = next(reversed(by.get(row["claim"], {"": {}}).items()))
        known = row["claim"], row["statement"], row[size], holds, fails, undecided, size
        found[row["claim"]] = Verdict(*known, verdicts, by_size)
    return found


def verdicts(*claims: str) -> list[Verdict]:
    """Those of some claims, in the order asked for."""
    return [_all()[claim] for claim in claims]


def evidence(with_: str) -> tuple[Evidence, ...]:
    """How many of those claims hold; nothing where there are none."""
    record = beginning(with_)
    right = sum(one.verdict == "holds" for one in record)
    return (Evidence(dataset="claims about such predictions", right=right, of=len(record)),) if record else ()


def beginning(with_: str) -> list[Verdict]:
    """Those of all claims whose id begins so."""
    return [verdict for claim, verdict in _all().items() if claim.startswith(with_)]
