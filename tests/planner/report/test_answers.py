"""Every answer that is a document is one in every format of the folder."""

from __future__ import annotations

import csv
import io
import json

import pytest
from test_cli import run

from planner.report.render import formats

QUESTIONS = {
    "flip": ["flip", "-G4", "-M5", "-H", "inter", "--objective=rounds", "-p", "sigma", "-p", "K"],
    "map": ["flip", "-G", "4", "-M", "3", "-H", "both", "--predictor", "bound", "--map", "G,M", "--cells", "4"],
    "tune": ["tune", "-G", "4", "-M", "3", "-H", "both", "--predictor", "bound", "--K", "1,4", "--P", "1,2"],
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_format_answers(
    question: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(*words: str) -> str:
        code, out, err = run(*QUESTIONS[question], *words, capsys=capsys, monkeypatch=monkeypatch)
        assert (code, err) == (0, "")
        return out

    found = {form: plan("--format", form) for form in formats()}
    assert found["table"] == plan()
    document, short = (json.loads(text) for text in (found["json"], plan("--json")))
    assert {**document, "command": ()} == {**short, "command": ()}
    assert len(set(found.values())) == len(found)
    rows = list(csv.DictReader(io.StringIO(found["csv"])))
    axes = document.get("flip_map", {"x": {"values": ()}, "y": {"values": ()}})
    wanted = {
        "flip": len(document.get("rows", [])),
        "map": len(axes["x"]["values"]) * len(axes["y"]["values"]),
        "tune": len(document.get("rows", [])),
    }
    assert len(rows) == wanted[question] > 0
    assert found["html"].count("<section") == found["html"].count("</section>") == 1
    assert found["markdown"].startswith("# ")
    code, _, err = run(*QUESTIONS[question], "--json", "--format", "markdown", capsys=capsys, monkeypatch=monkeypatch)
    assert code == 2
    assert "contradicts --json" in err
