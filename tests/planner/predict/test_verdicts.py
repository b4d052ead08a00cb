"""The verdicts that commands quote are those of the pages."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from planner.predict.evidence import claims as verdicts

DOCS = Path(__file__).parents[3] / "docs"
PAGE, CLAIMS = (DOCS / "validation.md").read_text(), (DOCS / "evidence" / "claims.md").read_text()
CELL = re.compile(r"(holds|fails|cannot tell): (\d+)/(\d+)/(\d+)|not run")


METRICS = ("gradient", "loss", "accuracy")


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


def test_the_page_counts_its_verdicts_and_the_claims_that_fail_at_the_full_size_alone() -> None:
    table = rows()
    largest = Counter((quick if full == "not run" else full).partition(":")[0] for _, quick, full in table.values())
    text = " ".join(PAGE.split())
    assert f"{len(table)} claims are judged" in text
    assert f"{largest['holds']} hold, {largest['fails']} fail, and {largest['cannot tell']} cannot be told" in text
    turned = {name for name, (_, quick, full) in table.items() if quick[:5] == "holds" and full[:5] == "fails"}
    assert "Seven that hold in a small run fail in a larger one" in text
    assert len(turned) == 7
    named = CLAIMS.partition("**Seven claims")[2].partition("## By every metric")[0]
    leads = "".join(re.findall(r"^- (.*?):", named, flags=re.MULTILINE))
    assert set(re.findall(r"`(.*?)`", leads)) == turned


def test_verdicts_are_judged_by_their_counts() -> None:
    for verdict in verdicts.beginning(""):
        if verdict.fails:
            assert verdict.verdict in ("fails", "cannot tell")  # agreement of orders is judged in all, not row by row
        else:
            assert verdict.verdict == ("holds" if verdict.holds else "cannot tell")


def test_families_of_claims() -> None:
    assert {v.claim for v in verdicts.beginning("hga-")} >= {"hga-rules", "hga-repaired", "hga-theorem"}
    assert str(verdicts.verdicts("hga-theorem")[0]).startswith("hga-theorem fails: ")


def by_metric() -> dict[tuple[str, str], list[str]]:
    """The cells of the second table, by claim and size."""
    table = CLAIMS.partition("| claim, size |")[2]
    lines = re.findall(r"^\| ([a-z0-9-]+), (quick|full) \| (.*) \|$", table, flags=re.MULTILINE)
    return {(claim, size): rest.split(" | ") for claim, size, rest in lines}


def test_the_table_by_metric_is_the_record_and_its_own_column_is_the_other_table() -> None:
    table, first = by_metric(), rows()
    assert len([claim for claim, size in table if size == "quick"]) == len(first) - 5  # of distances, and of bounds
    for (claim, size), (*cells, _) in table.items():
        own = [cell.strip("*") for cell in cells if cell.startswith("**")]
        assert own == [first[claim][1 if size == "quick" else 2]]
        shown = {metric: cell.strip("*").partition(":")[0] for metric, cell in zip(METRICS, cells, strict=True)}
        found = verdicts.verdicts(claim)[0]
        if found.by_size == size:
            assert found.by == {metric: verdict for metric, verdict in shown.items() if verdict != "-"}
        for cell in cells:
            if match := CELL.fullmatch(cell.strip("*")):
                assert match[2] != "0" or match[1] != "holds" or claim.startswith("order-")


def test_a_verdict_that_another_metric_does_not_share_is_said_with_it() -> None:
    (order,) = verdicts.verdicts("random-order")
    assert order.by["gradient"] == "holds"
    assert order.by["loss"] == "fails"
    assert f"by loss fails at {order.by_size} size" in str(order)
    assert "by " not in str(verdicts.verdicts("hsl-nodes")[0]).partition(")")[0]
