"""The page of worst cases has what its scripts report, and a small attack finds no violation."""

from __future__ import annotations

import json
from pathlib import Path

import attack
import pytest
import worst_cases

PAGE = (Path(__file__).parents[2] / "docs" / "evidence" / "worst-cases.md").read_text(encoding="utf-8")


def test_the_page_has_the_agreement() -> None:
    assert worst_cases.report() in PAGE


def test_the_agreement_is_what_is_asked_for() -> None:
    """At least 60 cells; 95 % of the pairs and 90 % of the first places."""
    known = {one.question: one for one in worst_cases.cases()}
    found = worst_cases.agreement(list(worst_cases.cells()), "this theorem", known)
    assert found.cells >= 60
    assert found.right >= 0.95 * found.pairs
    assert found.first >= 0.9 * found.cells
    assert len(found.misses) == found.pairs - found.right


def test_the_page_has_the_attack_and_the_attack_found_no_violation() -> None:
    record = json.loads(attack.RECORD.read_text(encoding="utf-8"))
    assert attack.report(record) in PAGE
    assert record["searches"] >= 10_000
    assert all(row[kind]["largest"] <= 1 + 1e-9 for row in record["rows"] for kind in attack.KINDS)


@pytest.mark.slow
@pytest.mark.parametrize("law", attack.LAWS)
def test_a_small_attack_finds_no_violation(law: attack.Law, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attack, "TREES", 1)
    row = attack.row(7, "ring-star", law)
    assert all(0 < row[kind]["largest"] <= 1 + 1e-9 for kind in attack.KINDS)
