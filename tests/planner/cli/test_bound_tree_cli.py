"""``hfl-plan bounds show|export --tiers``: the theorem for all trees, for patterns, and for one tree."""

from __future__ import annotations

from typing import Any

import pytest
from documents import own
from test_cli import run

from hflbounds import Tier, Topology, exact_bound, get, recursion
from hflbounds.export import formats
from hflbounds.export import json as json_format
from planner.report.render import formats as document_formats

GIVEN = {"R": 100, "L": 1.5, "A": 2, "sigma": 0.8}
DELTAS = {"delta1": 1, "delta2": 0.5, "delta3": 0.4}


def said(**numbers: float) -> list[str]:
    return [word for name, value in numbers.items() for word in ("--set", f"{name}={value}")]


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    return lambda *words: run("bounds", *words, capsys=capsys, monkeypatch=monkeypatch)


TREES: list[tuple[list[str], Topology, str]] = [
    (
        ["--tiers", "ring:4/star:5/ring:7"],
        Topology((Tier("ring", 4), Tier("star", 5), Tier("ring", 7))),
        "common",
    ),
    (
        ["--tiers", "ring:4/star:5/ring:7", "--order", "random", "--passes", "1/2/3"],
        Topology((Tier("ring", 4, order="random"), Tier("star", 5, passes=2), Tier("ring", 7, None, 3, "random"))),
        "common",
    ),
    (
        ["--tiers", "star:4/star:5/ring:7", "--drawn", "2/5/3", "--draws", "fresh", "--passes", "1/2/1"],
        Topology((Tier("star", 4, 2), Tier("star", 5, 5, 2), Tier("ring", 7, 3))),
        "fresh",
    ),
]


@pytest.mark.parametrize(("words", "tree", "draws"), TREES)
def test_a_tree_has_the_value_of_its_bound(plan, words: list[str], tree: Topology, draws: Any) -> None:
    deltas = tuple(DELTAS.values())
    for step, numbers in ((None, GIVEN), (0.1, GIVEN | {"eta_eff": 0.1})):
        code, out, err = plan("show", *words, *said(K=3, **numbers, **DELTAS), "--json")
        assert (code, err) == (0, "")
        found = own(out)["value"]
        assert found == pytest.approx(exact_bound(tree, K=3, **GIVEN, deltas=deltas, eta_eff=step, draws=draws), 1e-9)


@pytest.mark.parametrize(("words", "tree", "draws"), TREES)
def test_exports_of_a_tree_are_its_bound(plan, words: list[str], tree: Topology, draws: Any) -> None:
    wanted = exact_bound(tree, K=3, **GIVEN, deltas=tuple(DELTAS.values()), eta_eff=0.1, draws=draws)
    texts = {}
    for form in formats():
        code, texts[form], err = plan("export", *words, "--set", "K=3", "--format", form)
        assert (code, err) == (0, "")
    scope: dict[str, Any] = {}
    exec(compile(texts["python"], "exported", "exec"), scope)  # noqa: S102 - our own text
    (name,) = (n for n in scope if n.startswith("hflbounds_") and not n.endswith("_terms"))
    assert scope[name](**GIVEN, **DELTAS, eta_eff=0.1) == pytest.approx(wanted, rel=1e-9)
    (read,) = json_format.read(texts["json"]).values()
    numbers = {**GIVEN, **DELTAS, "eta_eff": 0.1}
    numbers["lam"] = read.defaults["lam"].value(numbers)
    assert sum(term.value(numbers) for term in read.terms.values()) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("law", "label"), [([], ""), (["--order", "random"], "-random"), (["--draws", "common"], "-partial")]
)
def test_patterns_alone_are_stated_in_letters(plan, law: list[str], label: str) -> None:
    code, out, err = plan("show", "--tiers", "ring/star/ring", *law, "--json")
    assert (code, err) == (0, "")
    document = own(out)
    assert document["id"] == f"hflbounds.exact{label}.ring-star-ring"
    assert {"n1", "n2", "n3", "P2", "P3", "delta1", "delta3"} <= {*document["quantities"]}
    _, two, _ = plan("show", "--tiers", "ring/star", *law)
    assert two == plan("show", f"hflbounds.exact{label}.ring-star")[1]


def test_the_statement_for_all_trees(plan) -> None:
    for form in ("latex", "markdown", "python", "text"):
        assert plan("export", "--tiers", "any", "--format", form) == (0, recursion.render(form), "")
    for form in document_formats():
        code, out, err = plan("show", "--tiers", "any", "--format", form)
        assert (code, err, bool(out)) == (0, "", True)
    document = own(plan("show", "--tiers", "any", "--json")[1])
    assert document["schema"] == "hfl-plan/bounds-show-any/2"
    assert sum(len(part["lines"]) for part in document["parts"]) == sum(len(p.lines) for p in recursion.parts())


@pytest.mark.parametrize(
    ("words", "said_so"),
    [
        (["show"], "name a bound, or a tree"),
        (["show", "hflbounds.sharp.ring-star", "--tiers", "any"], "not both"),
        (["show", "hflbounds.sharp.ring-star", "--passes", "1/2"], "--passes: is of a tree"),
        (["show", "--tiers", "rung/star"], "Did you mean ring?"),
        (["show", "--tiers", "ring/star", "--drawn", "1/2"], "--drawn: without sizes these are letters"),
        (["show", "--tiers", "ring/star", "--draws", "fresh"], "--draws: fresh needs sizes"),
        (["show", "--tiers", "ring:3/star:4"], "also needs K"),
        (["show", "--tiers", "ring:3/star:4", "--set", "K=2.5"], "K, a whole number"),
        (["show", "--tiers", "ring:3/star", "--set", "K=2"], "lacks sizes"),
        (["show", "--tiers", "2/2"], "--tiers: '2/2' has sizes without patterns. Write ring:2/star:2."),
        (["show", "--tiers", "ring:3/star:4", "--set", "K=2", "--set", "zeta=1"], "does not have zeta"),
        (["show", "--tiers", "ring:3/star:0", "--set", "K=2"], "tier size: 0"),
        (["show", "--tiers", "ring:3/star:4", "--drawn", "4/4", "--set", "K=2"], "more than its size"),
        (["show", "--tiers", "ring:3/star:4", "--drawn", "3", "--set", "K=2"], "1 numbers for 2 tiers"),
        (["show", "--tiers", "ring:3/star:4", "--order", "any", "--set", "K=2"], "--order"),
        (["show", "--tiers", "any", "--set", "K=2"], "--set: the statement is for all trees"),
        (["show", "--tiers", "any", "--order", "fixed"], "--order: the statement is for all trees"),
        (["export", "--tiers", "any", "--format", "html"], "--format"),
        (["export", "--tiers", "any", "--bare"], "--bare: the statement for all trees"),
        (["export", "--all", "--tiers", "ring/star"], "not two of these"),
        (["export", "--all", "--drawn", "2/3"], "--drawn: is of a tree"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_refused_in_a_line(plan, words: list[str], said_so: str) -> None:
    code, out, err = plan(*words)
    assert (code, out) == (2, "")
    assert said_so in err.replace("\n  help: ", ". ")
    assert len(err.strip().splitlines()) <= 2


def test_a_free_weight_is_not_asked_for(plan) -> None:
    numbers = GIVEN | {"G": 4, "M": 5, "P": 1, "K": 10, "zeta": 1, "delta": 0.5}
    code, out, _ = plan("show", "hflbounds.exact.ring-star", *said(**numbers), "--json")
    assert code == 0
    assert own(out)["value"] == pytest.approx(get("hflbounds.exact.ring-star").tuned(**numbers).value)
