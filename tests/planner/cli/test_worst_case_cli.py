"""``hfl-plan bounds worst-case`` as a user meets it."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest
from documents import own
from test_cli import run

from hflbounds import catalogue
from hflbounds.extras import install
from hflbounds.worst.compared import comparable
from hflbounds.worst.stored import cases

CELL = [word for one in ("K=1", "R=2", "A=0.01", "eta_eff=0.3") for word in ("--set", one)]
needs_solver = pytest.mark.skipif(find_spec("clarabel") is None, reason="the conic solver is an extra")


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    return lambda *words: run("bounds", "worst-case", *words, capsys=capsys, monkeypatch=monkeypatch)


def test_a_bound_alone_lists_its_stored_cases(plan) -> None:
    code, out, err = plan("hflbounds.exact.ring-ring", "--json")
    assert (code, err) == (0, "")
    answer = own(out)
    fixed = [
        one
        for one in cases()
        if one.question.topology.id == "ring-ring" and one.question.topology.tiers[0].order == "fixed"
    ]
    assert sorted(one["worst_case"] for one in answer["rows"]) == sorted(one.value for one in fixed)
    assert all(0 < one["ratio"] < 1.0001 for one in answer["rows"])


@needs_solver
def test_a_case_is_solved_beside_its_bound(plan) -> None:
    deviations = ["--set", "delta=1", "--set", "zeta=1", "--set", "G=2", "--set", "M=2"]
    code, out, _ = plan("hflbounds.exact.ring-star", *CELL, *deviations, "--json")
    answer = own(out)
    assert code == 0
    assert [one["bound"] for one in answer["rows"]][1] == "hflbounds.exact.ring-star"
    same = plan("--tiers", "ring:2/star:2", "--deltas", "1/1", *CELL, "--json")
    assert own(same[1])["value"] == answer["value"]


@needs_solver
def test_the_examples_of_a_refusal_are_solved_at_once_and_every_bound_allows_them(plan) -> None:
    """The step is below every cap; the sizes are the least with two groups, two clients each and two rounds."""
    asked = plan("hflbounds.exact.star-star", "--set", "G=2")[2].partition("examples: ")[2].split()
    assert {"--set", "M=2", "R=2", "delta=1", "zeta=1"} < {*asked}
    given = {name: float(number) for name, _, number in (word.partition("=") for word in [*asked[1::2], "G=2"])}
    covered = [bound for bound in catalogue().values() if comparable(bound)]
    assert covered
    assert not any(bound.violations(**given, P=1, L=1, sigma=0, lam=0.5) for bound in covered)
    code, out, _ = plan("hflbounds.exact.star-star", "--set", "G=2", *asked, "--json")
    assert code == 0
    assert own(out)["gradients"] < 50
    assert 0 < own(out)["rows"][1]["ratio"] < 1


@needs_solver
@pytest.mark.parametrize(
    ("A", "L", "said"), [("1e300", "1", "beyond the solver's"), ("0.01", "1e-30", "could be proved")]
)
def test_numbers_that_are_too_far_apart_for_the_solver_are_no_answer(plan, A: str, L: str, said: str) -> None:
    """With L = 1e-30 no gradient is larger than 2 L A = 2e-32, which the solver cannot tell from 0."""
    numbers = [word for one in ("K=1", "R=1", f"A={A}", f"L={L}", "eta_eff=0.1") for word in ("--set", one)]
    code, out, err = plan("--tiers", "star:2/star:2", "--deltas", "1e300/1" if L == "1" else "1/1", *numbers)
    assert (code, out) == (1, "")
    assert said in err and "Take L = 1" in err


def test_without_the_solver_the_refusal_is_that_of_packages(plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    code, out, err = plan("--tiers", "ring:2/star:2", "--deltas", "1/1", *CELL)
    assert (code, out) == (1, "")
    assert err.startswith("no answer[N004]: ") and install("certificates") in err


@needs_solver
def test_a_bound_that_says_nothing_at_a_step_is_named_with_its_reason(plan) -> None:
    far = [word if word != "eta_eff=0.3" else "eta_eff=1.5" for word in CELL]
    code, out, err = plan("--tiers", "ring:2/star:2", *far, "--deltas", "1/1")
    assert (code, err) == (0, "")
    assert "Bounds at this step" not in out
    assert "Warning" in out
    whole = plan("--tiers", "ring:2/star:2", *far, "--deltas", "1/1", "--explain", "warnings")[1]
    assert "L eta_eff = 1.5 is not above 0 and below 1" in " ".join(whole.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([*CELL], "name a bound, or a tree"),
        (["--tiers", "ring/star:2", *CELL], "lacks sizes"),
        (["--tiers", "2/2", *CELL], "has sizes without patterns"),
        (["--tiers", "ring:2/star:2", *CELL, "--deltas", "1/1", "--set", "sigma=1"], "worst cases are without noise"),
        (
            ["--tiers", "ring:2/star:2", *CELL, "--deltas", "1/1", "--set", "zeta=1"],
            "has no use for zeta. Leave",
        ),
        (["--tiers", "ring:2/star:2", *CELL, "--deltas", "1/1", "--set", "G=2"], "has no use for G. --tiers and its"),
        (["--tiers", "ring:2/moon:2", *CELL], "is not a pattern"),
        (["--tiers", "ring:0/star:2", *CELL, "--deltas", "1/1"], "1 or more"),
        (["--tiers", "ring:2/star:2/star:2", *CELL], "needs the heterogeneity of each tier. Write --deltas 1/1/1"),
        ([], "name a bound, or a tree"),
        (["hflbounds.exact.ring-ring", "--tiers", "ring:2/star:2", *CELL, "--deltas", "1/1"], "another topology"),
        (["hflbounds.exact.ring-star", "--tiers", "ring:2/star:2", *CELL, "--passes", "2/1"], "another topology"),
        (["hflbounds.exact-random.ring-star", "--order", "fixed", *CELL], "another topology, order"),
        (["hflbounds.exact.ring-star", "--passes", "2/1", *CELL], "--passes: it is of --tiers"),
        (["hflbounds.exact.ring-star", "--order", "random"], "Add numbers"),
        (["--tiers", "ring:2/star:2", *CELL, "--deltas", "1"], "1 numbers for 2 tiers"),
        (["--tiers", "ring:2/star:2", *CELL, "--deltas", "1/x"], "--deltas"),
        (["--tiers", "ring:2/star:2", *CELL, "--deltas", "1/1", "--drawn", "3/1"], "more than its size"),
        (["--tiers", "ring:2/star:2", *CELL, "--deltas", "1/1", "--draws", "odd"], "--draws"),
        (["--tiers", "ring:9/star:9", *CELL, "--deltas", "1/1"], "Take fewer rounds"),
        (["--tiers", "ring:2/star:2", "--set", "K=1"], "needs R, A, eta_eff, delta, zeta"),
        (["hflbounds.exact.ring-star", *CELL], "also needs G, M, delta, zeta"),
        (["zhou2026.thm1.ring-star"], "no upper bound"),
        (["--tiers", "ring:9999999/star:2", *CELL, "--deltas", "1/1"], "Take fewer rounds"),
        (["--tiers", "ring:2/star:2", *CELL, "--deltas", "1/1", "--passes", "9999999/1"], "Take fewer rounds"),
        (["--tiers", "ring:2/star:2", *CELL, "--deltas", "½/1"], "is not a list of numbers, such as 1/0.5"),
    ],
)
def test_refusals(plan, words: list[str], said: str) -> None:
    code, out, err = plan(*words)
    assert (code, out) == (2, "")
    assert said in err.replace("\n  help: ", ". ")
