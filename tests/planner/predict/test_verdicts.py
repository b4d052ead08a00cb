"""The verdicts that commands quote are those of the page."""

from __future__ import annotations

import re
from pathlib import Path

from planner.predict.evidence import claims as verdicts

PAGE = (Path(__file__).parents[3] / "docs" / "validation.md").read_text()
CELL = re.compile(r"(holds|fails|cannot tell): (\d+) / (\d+) / (\d+)|not run")


def rows() -> dict[str, list[str]]:
    """The cells of the table, by claim."""
    lines = re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \|$", PAGE, flags=re.MULTILINE)
    return {claim: rest.split(" | ") for claim, rest in lines}


def test_every_verdict_is_that_of_the_page() -> None:
    table = rows()
    assert len(table) > 35
    for claim, (statement, quick, full) in table.items():
        found = verdicts.verdicts(claim)[0]
        assert found.statement == statement
        assert CELL.fullmatch(quick) and CELL.fullmatch(full)
        cell = CELL.fullmatch(quick if full == "not run" else full)
        assert cell is not None
        assert (found.verdict, found.holds, found.fails, found.open) == (cell[1], *(int(n) for n in cell.groups()[1:]))
        assert found.size == ("quick" if full == "not run" else "full")


def test_verdicts_are_judged_by_their_counts() -> None:
    for verdict in verdicts.beginning(""):
        if verdict.fails:
            assert verdict.verdict in ("fails", "cannot tell")  # agreement of orders is judged in all, not row by row
        else:
            assert verdict.verdict == ("holds" if verdict.holds else "cannot tell")


def test_families_of_claims() -> None:
    assert {v.claim for v in verdicts.beginning("hga-")} >= {"hga-rules", "hga-repaired", "hga-theorem"}
    assert str(verdicts.verdicts("hga-theorem")[0]).startswith("hga-theorem fails (")
