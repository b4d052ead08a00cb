"""More overlap, more gain."""

from __future__ import annotations

from itertools import pairwise

from validation.claims import Claim, Judgement, Plan, Size, overall, row
from validation.claims.hhfl_setting import APART, BOUND, bound, problem, scores
from validation.statistics import by_ratio, paired_ratio


def _plan(size: Size) -> Plan:
    counts = (0, 2, 5, 10, 19) if size == "quick" else (0, 1, 2, 3, 5, 7, 10, 14, 19)
    rows = []
    for delta in (1.0,) if size == "quick" else (0.3, 1.0, 3.0):
        what, names = problem(delta=delta), [f"ring:3,19,{count}" for count in counts]
        found = yield from scores(what, names, size)
        for less, more in pairwise(names):
            told = by_ratio(bound(what, more, size) / bound(what, less, size))
            pair = f"{more} / {less}", found[more].values, found[less].values
            rows.append(row(f"delta/sigma = {delta:g}", *pair, told))
        whole = paired_ratio(found[names[-1]].values, found[APART].values)
        note = f"All clients under two servers against none, delta/sigma = {delta:g}: {whole}."
    return Judgement(overall(rows), tuple(rows), note)


CLAIMS = (
    Claim(
        id="hhfl-overlap",
        source="liu2026, Section V-B3; hflbounds, docs/theory/hhfl-overlap.md",
        statement="Around a ring of three servers, the more clients two servers share, the smaller the loss.",
        prediction=f"{BOUND}, with the second eigenvalue and the levels of each coverage",
        quantity="loss above its minimum after the same number of local steps",
        plan=_plan,
        metric="loss",
    ),
)
