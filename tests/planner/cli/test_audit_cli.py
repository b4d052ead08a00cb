"""``hfl-plan audit``: the rows add up, and what is misspelt is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest
from test_cli import run

from hflbounds import catalogue
from hflbounds.audit import report


def test_json_is_one_document_and_the_tally_adds_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = run(
        "audit", "--paper", "liu2026", "--only", "fails", "--json", capsys=capsys, monkeypatch=monkeypatch
    )
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert document["schema"] == "hfl-plan/audit/2"
    assert document["audit"]["as_recorded"] is True
    assert {row["verdict"] for row in document["rows"]} == {"fails"}
    assert document["audit"]["tally"]["liu2026"]["fails"] == len(document["rows"])
    assert {row["paper"] for row in document["rows"]} == {"liu2026"}


def test_the_table_shows_what_was_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = run("audit", "--paper", "devos2023", capsys=capsys, monkeypatch=monkeypatch)
    assert (code, err) == (0, "")
    assert "devos2023.el-local " in out
    assert "zhou2026" not in out


def test_a_bound_that_an_erratum_marks_does_not_simply_hold(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """zhou2025.D2 refutes Theorem 1 of star-star as printed, and its row said "holds"."""
    whole = report.rows
    monkeypatch.setattr(report, "rows", cache(lambda paper=None: tuple(whole(paper))))
    words = ("audit", "--paper", "zhou2025", "--only", "holds")
    code, out, _ = run(*words, "--explain", "bound", capsys=capsys, monkeypatch=monkeypatch)
    said = " ".join(out.split())
    assert code == 0
    assert "zhou2025.thm1.star-star, holds where checked; as printed: see zhou2025.D2:" in said
    assert "zhou2025.thm1.star-ring, holds: Theorem 1" in said  # proved as printed
    page = run(*words, capsys=capsys, monkeypatch=monkeypatch)[1]
    ours = [bound for bound in catalogue().values() if bound.id.startswith("zhou2025.")]
    marked = {bound.id for bound in ours if bound.status == "refuted" or bound.breaks}
    assert {"zhou2025.thm1.star-star", "zhou2025.cor1.star-star"} < marked  # refuted; and no longer so in a limit
    assert f"hold ({len(marked)} only where checked: see their errata)" in " ".join(page.split())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--paper", "zhou2027"], "no paper is called 'zhou2027'; known are"),
        (["--only", "failing"], "--only: 'failing' is not one of all, holds"),
    ],
)
def test_what_is_misspelt_is_refused(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = run("audit", *arguments, capsys=capsys, monkeypatch=monkeypatch)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) <= 2


def test_a_row_that_is_not_as_recorded_makes_the_command_fail(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = report.rows

    def doctored(paper: str | None = None) -> list[report.Row]:
        first, *others = real(paper)
        return [replace(first, as_recorded=False), *others]

    monkeypatch.setattr(report, "rows", doctored)
    code, out, _ = run("audit", "--paper", "devos2023", "--only", "wrong", capsys=capsys, monkeypatch=monkeypatch)
    assert code == 1
    assert "NOT AS RECORDED" in out
    assert "1 of 6 rows are NOT AS RECORDED" in out
