"""Answers are shown by what `planner` registers; tests that make them below it ask for that too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import planner

planner.Recommendation  # noqa: B018 - asking for it registers


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Run the command in this process: exit code, stdout and stderr."""
    from test_cli import run

    return lambda *words: run(*words, capsys=capsys, monkeypatch=monkeypatch)
