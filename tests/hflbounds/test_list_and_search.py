"""What a reader at a prompt sees of the catalogue: a table, a bound by its id, and names that mean something."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import hflbounds
from hflbounds import Bound, finding
from hflbounds.core.assumptions import Assumption
from hflbounds.finding import is_without_convexity


def test_a_search_shows_a_table_of_all_that_it_found() -> None:
    found = hflbounds.search("ring noise")
    assert isinstance(found, tuple)
    lines = repr(found).splitlines()
    assert lines[0] == f"{len(found)} bounds"
    assert lines[1].split() == ["id", "status", "constants", "bounded", "title"]
    assert [line.split()[0] for line in lines[2:-1]] == [bound.id for bound in found[:20]]
    assert lines[-1] == f"... and {len(found) - 20} more"
    assert max(map(len, lines)) <= 110
    assert repr(hflbounds.search("no such words")) == "0 bounds"


def test_a_notebook_shows_all_rows_escaped() -> None:
    found = hflbounds.list(paper="zhou2026")
    html = found._repr_html_()
    assert html.count("<tr>") == 1 + len(found) > 1
    assert all(f"<td>{bound.id}</td>" in html for bound in found)
    assert re.fullmatch(r"(?:[^<]|</?(?:table|caption|thead|tbody|tr|th|td)(?: scope=\"col\")?>)*", html)


def test_bounds_come_by_place_slice_and_id() -> None:
    found = hflbounds.list()
    assert found == tuple(hflbounds.catalogue().values())
    assert found["hflbounds.exact.star-star"] is hflbounds.get("hflbounds.exact.star-star")
    assert type(found[:3]) is type(found)
    assert isinstance(found[0], Bound)
    with pytest.raises(KeyError, match="no-such-id"):
        found["no-such-id"]
    assert [record["id"] for record in found.records()] == [bound.id for bound in found]


def test_tab_completion_shows_the_face_and_nothing_else() -> None:
    public = {name for name in dir(hflbounds) if not name.startswith("_")}
    assert public == {*hflbounds.__all__, "list"}
    assert all(hasattr(hflbounds, name) for name in public)


def test_theorems_come_before_lemmas_and_little_words_are_no_words_of_a_search() -> None:
    found = hflbounds.search("Ring-Star with partial participation")
    assert found == hflbounds.search("ring-star partial") and len(found) == 9
    kinds = [bound.kind for bound in found]
    assert kinds == sorted(kinds, key=["theorem", "rate", "lemma"].index) and len({*kinds}) == 3
    assert found[0].id == "zhou2026.thm2.ring-star"
    assert 0 < len(hflbounds.search("A")) < len(hflbounds.list()), "the initial gap, not an article"


def test_theorems_and_rates_are_found_as_guarantees() -> None:
    """README calls them so, and the search asked back: did you mean rate?"""
    assert {bound.kind for bound in hflbounds.search("guarantee")} == {"theorem", "rate"}
    assert {*hflbounds.search("theorem sharp star-ring")} <= {*hflbounds.search("convergence bound sharp star-ring")}


def test_guarantees_without_convexity_are_found_by_either_spelling() -> None:
    """It asked back: did you mean convex?"""
    found = hflbounds.search("nonconvex partial")
    assert {"zhou2026.thm2.star-star", "hflbounds.exact-partial.ring-ring"} <= {bound.id for bound in found}
    assert found == hflbounds.search("non-convex partial")
    for bound in found:
        assert bound.kind in ("theorem", "rate")
        assert not any("convex" in one.losses for one in bound.assumes)


def test_convexity_is_declared_and_no_word_of_an_id() -> None:
    bound = hflbounds.get("zhou2026.thm2.star-star")
    assert is_without_convexity(bound)
    for name, convex in (("convex by name", False), ("curved", True)):
        assumed = Assumption(name, "said so", convex=convex)
        assert is_without_convexity(replace(bound, assumes=(*bound.assumes, assumed))) == (not convex)
    every = {one for bound in hflbounds.catalogue().values() for one in bound.assumes}
    assert all(one.convex == ("convex" in one.losses) for one in every)


def test_a_bound_knows_the_same_guarantee_with_other_constants() -> None:
    """For the topology, quantity and participation of zhou2026, Theorem 2, read off the catalogue's page by hand."""
    known = {bound.id: bound for bound in hflbounds.list()}
    printed = known["zhou2026.thm2.star-ring"]
    others = {bound.id for bound in finding.alike(printed)}
    assert {"zhou2026.thm2-proof.star-ring", "hflbounds.exact-partial.star-ring"} <= others
    assert not {one for one in others if "thm1" in one or not one.endswith("star-ring")}
    assert finding.alike(known["karimireddy2020.scaffold"]) == ()
