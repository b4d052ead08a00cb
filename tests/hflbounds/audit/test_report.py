"""The table of all checks: everything is as recorded, and nothing is left out."""

from __future__ import annotations

import pytest

from hflbounds import catalogue, derive
from hflbounds.audit import report
from hflbounds.registry import errata


@pytest.fixture
def everything(found_once: None) -> list[report.Row]:
    """All rows."""
    return list(report.rows())


def test_everything_is_as_recorded(everything: list[report.Row]) -> None:
    assert [row for row in everything if not row.as_recorded] == []


def test_nothing_is_left_out(everything: list[report.Row]) -> None:
    ids = {kind: [row.id for row in everything if row.kind == kind] for kind in ("line", "erratum", "bound", "family")}
    assert ids["line"] == [line.id for line in derive.lines()]
    assert ids["erratum"] == [erratum.id for erratum in errata()]
    assert ids["bound"] == list(catalogue())
    assert len(ids["line"]) + len(ids["erratum"]) + len(ids["bound"]) == report.size()


def test_a_failing_line_names_an_erratum_and_a_witness(everything: list[report.Row]) -> None:
    known = {erratum.id for erratum in errata()}
    failing = [row for row in everything if row.kind == "line" and row.verdict == "fails"]
    for row in failing:
        assert row.erratum in known, row.id
        assert "Witness" in row.detail
