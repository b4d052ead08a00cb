"""Answers are shown by what `planner` registers; tests that make them below it ask for that too."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import astuple
from typing import Any

import pytest

import planner
from planner.data import grouping
from planner.data.grouping_rules import Indices, Problem

planner.Recommendation  # noqa: B018 - asking for it registers


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Run the command in this process: exit code, stdout and stderr."""
    from test_cli import run

    return lambda *words: run(*words, capsys=capsys, monkeypatch=monkeypatch)


@pytest.fixture(scope="module")
def searched_once() -> Iterator[None]:
    """Commands make each search for groups, which takes most of their time, once in a file of tests.

    It begins from few groupings, unless a number is asked for: how good groups are is tested of `solve` itself.
    """
    kept: dict[bytes, Indices] = {}
    solve = grouping.solve

    def once(problem: Problem, seed: int = 0, restarts: int | None = None, start: Any = None) -> grouping.State:
        asked = pickle.dumps((astuple(problem), seed, restarts, start))
        if asked not in kept:
            kept[asked] = solve(problem, seed, restarts or 3, start).group_of
        return grouping.State(problem, kept[asked])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "solve", once)
        yield
