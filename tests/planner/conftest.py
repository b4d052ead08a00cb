"""Answers are shown by what `planner` registers; tests that make them below it ask for that too."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import astuple
from functools import cache
from importlib import import_module
from typing import Any

import pytest

import planner
from planner.data import grouping
from planner.data.grouping_rules import Indices, Problem
from planner.decide import nearest, sensitivity
from planner.io import json_documents
from planner.scenario import sections

planner.Recommendation  # noqa: B018 - asking for it registers

# Schemas follow from the classes alone: of each kind of document it is worked out once in a run, and not in every test.
json_documents.schema_of = cache(json_documents.schema_of)  # type: ignore[assignment]  # it is called alike


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Run the command in this process: exit code, stdout and stderr."""
    from test_cli import run

    return lambda *words: run(*words, capsys=capsys, monkeypatch=monkeypatch)


@pytest.fixture
def unturned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of `overlap` come without the numbers at which it is the other way round: most of their time."""
    monkeypatch.setattr("planner.families.hhfl.question._flip", lambda *_: None)
    monkeypatch.setattr("planner.families.hhfl.question._flips", lambda *_: {})


@pytest.fixture
def untossed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes that `flip` finds come without where a toss-up begins and ends, which takes most of its time."""
    monkeypatch.setattr("planner.decide.sensitivity._with_toss_up", lambda row, *_: row)
    monkeypatch.setattr("planner.decide.sensitivity._turned_toss_up", lambda *_: ())


@pytest.fixture
def nearest_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes that `recommend` finds come without where a toss-up begins before them: half of what they take."""
    monkeypatch.setattr("planner.decide.nearest._with_toss_ups", lambda here, looked, found: iter(found))


@pytest.fixture
def moved_alone(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`recommend` and `flip` look for changes along those inputs alone whose names begin so."""
    every = nearest.inputs

    def of(*begin: str) -> None:
        found = lambda *asked: {name: each for name, each in every(*asked).items() if name.startswith(begin)}  # noqa: E731
        for module in (nearest, sensitivity):
            monkeypatch.setattr(module, "inputs", found)

    return of


@pytest.fixture
def set_alone(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`recommend` and `flip` look for changes by other words of those settings alone."""
    every = nearest.other_words

    def of(*names: str) -> None:
        found = lambda *asked: (one for one in every(*asked) if one[0] in names)  # noqa: E731
        for module in (nearest, sensitivity):
            monkeypatch.setattr(module, "other_words", found)

    return of


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports come without their pictures, which take most of their time."""
    monkeypatch.setattr("planner.report.sheet.drawing.pictures", lambda _: ())


@pytest.fixture
def settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else would change an answer is looked for among words alone: numbers take most of the time."""
    monkeypatch.setattr("planner.decide.sensitivity._followed", lambda *_: ([], {}))
    monkeypatch.setattr("planner.decide.nearest.inputs", lambda *_: {})


@pytest.fixture
def unrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of answers come without the rates that the model predicts, which are half of an answer without details."""
    monkeypatch.setattr("planner.predict.predictors.spectrum._Spectrum.rate", lambda *_: None)


@pytest.fixture
def all_draws() -> None:
    """In a file with `few_draws` this test has as many as an answer has by itself: with few another one comes out."""


@pytest.fixture
def no_draws() -> None:
    """In a file with `few_draws` what is not known is not drawn in this test, as no part of it hangs on that."""


@pytest.fixture
def few_draws(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not known is drawn 256 times, where no test is of how often: 4096 times take most of an answer's time."""
    if "all_draws" not in request.fixturenames:
        whole = sections.Scenario
        most = 0 if "no_draws" in request.fixturenames else 256
        monkeypatch.setattr(
            sections, "Scenario", lambda **parts: whole(**parts | {"draws": min(parts.get("draws", most), most)})
        )


@pytest.fixture
def all_points() -> None:
    """In a file with `few_points` this test follows an input at as many values as a change is looked for by itself."""


@pytest.fixture
def few_points(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an input is looked at value by value, a fifth as many are: no test is of how close together they are."""
    if "all_points" not in request.fixturenames:
        monkeypatch.setattr("planner.decide.breakpoints.GRID", 300)


@pytest.fixture
def all_steps() -> None:
    """In a file with `few_steps` this test searches as many K and P as `tune` does by itself."""


@pytest.fixture
def few_steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tune` searches every second or third of its usual K and P, where no test is of which these are."""
    if "all_steps" not in request.fixturenames:
        monkeypatch.setattr("planner.decide.tuning.LADDER", (1, 2, 4, 12, 32, 48, 64, 128))


@pytest.fixture
def asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that ask one question for one form of its answer after the other work the answer out once."""

    def once(work_out: Callable[..., Any]) -> Callable[..., Any]:
        kept: dict[bytes, Any] = {}

        def answer(asked: Any, *more: Any, **how: Any) -> Any:
            words = [one for one in (*more, *how.items()) if not callable(one)]
            key = pickle.dumps((asked, words))
            if key not in kept:
                kept[key] = work_out(asked, *more, **how)
            return kept[key]

        return answer

    for name in (
        *("decide.rank.recommend", "decide.sensitivity.flip", "decide.steps_and_rates.tuned"),
        *("decide.phase_diagram.phase", "report.answers.measure.measured"),
        *("families.hhfl.question.solve", "families.hsl.question.solve", "families.hga.question.solve"),
    ):
        module, function = f"planner.{name}".rsplit(".", 1)
        monkeypatch.setattr(f"{module}.{function}", once(getattr(import_module(module), function)))


@pytest.fixture(scope="module")
def searched_once() -> Iterator[None]:
    """Commands make each search for groups, which takes most of their time, once in a file of tests.

    It begins from one grouping, unless a number is asked for: how good groups are is tested of `solve` itself.
    """
    kept: dict[bytes, Indices] = {}
    solve = grouping.solve

    def once(problem: Problem, seed: int = 0, restarts: int | None = None, start: Any = None) -> grouping.State:
        asked = pickle.dumps((astuple(problem), seed, restarts, start))
        if asked not in kept:
            kept[asked] = solve(problem, seed, restarts or 1, start).group_of
        return grouping.State(problem, kept[asked])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "solve", once)
        yield
