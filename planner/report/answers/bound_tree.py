"""The theorem for trees of any depth as ``hfl-plan bounds`` is asked for it: of all trees, of patterns, of a tree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hflbounds import Bound, catalogue, recursion
from hflbounds.errors import DomainError
from hflbounds.exact import LAWS, Draws, Law, lettered_bound, tree_bound
from hflbounds.recursion import tex
from hflbounds.topology import Order, Topology, TopologyError
from planner.errors import ScenarioError
from planner.io.listings import Listing, listing
from planner.report.answers import bound_options as options
from planner.report.answers.bound_options import formula, plain, said
from planner.report.document import Column, Section, Sentences, Table
from planner.report.page import brief

ANY = "any"  # in place of tiers: the statement for all trees
SHAPE = ("passes", "drawn", "order", "draws")
SUFFIXES = {".tex": "latex", ".md": "markdown", ".py": "python", ".txt": "text"}


def split(option: str, text: str | None, depth: int) -> list[str] | None:
    """One word for each tier, top first; None where the option was not given."""
    if text is None:
        return None
    parts = text.replace(" ", "").split("/")
    if len(parts) != depth:
        raise ScenarioError(f"{option}: {len(parts)} numbers for {depth} tiers. Give one for each, top first.")
    return parts


def sized(tiers: str, shape: Mapping[str, str | None], order: str = "fixed") -> Topology:
    """The tree of ``--tiers ring:4/star:5``, ``--passes``, ``--drawn`` and ``--order``.

    Raises:
        ScenarioError: for what is no tree, or has no sizes.
    """
    made = parsed(tiers)
    if any(tier.size is None for tier in made.tiers):
        raise ScenarioError(f"--tiers: {tiers!a:.60} lacks sizes. Write ring:2/star:2.")
    try:
        given = {name: split(f"--{name}", shape.get(name), made.depth) for name in ("passes", "drawn")}
        if wrong := [one for said in given.values() for one in said or () if not one.isdecimal()]:
            raise ScenarioError(f"--passes, --drawn: {wrong[0]!a:.40} is not a whole number.", code="E022")
        whole = {name: None if said is None else [int(one) for one in said] for name, said in given.items()}
        sizes, chosen = [tier.taking_part for tier in made.tiers], cast(Order, shape.get("order") or order)
        return made.sized(sizes, passes=whole["passes"], drawn=whole["drawn"], order=chosen)
    except TopologyError as error:
        raise ScenarioError(f"--tiers: {error}") from None


def parsed(tiers: str) -> Topology:
    """The patterns of ``--tiers``, with those sizes that it has."""
    if re.fullmatch(r"[\d/\s]+", tiers):
        raise ScenarioError(f"--tiers: {tiers!a:.60} has sizes without patterns. Write ring:2/star:2.")
    try:
        return Topology.parse(tiers)
    except TopologyError as error:
        raise ScenarioError(f"--tiers: {error}") from None


def stated(tiers: str, shape: Mapping[str, str | None], values: Mapping[str, Any]) -> tuple[Bound, dict[str, Any]]:
    """The bound of patterns in letters, or of a tree with its numbers put in, and the values that are left for it."""
    options.known("--order", shape.get("order"), ("fixed", "random"))
    options.known("--draws", shape.get("draws"), ("common", "fresh"))
    if ":" not in tiers:
        return _lettered(tiers, shape), dict(values)
    K = values.get("K")
    if not isinstance(K, int | float) or int(K) != K:
        raise ScenarioError("--set: a tree with sizes also needs K, a whole number. Write --set K=10.", code="E003")
    tree = sized(tiers, shape)
    try:
        bound = tree_bound(tree, K=int(K), draws=cast(Draws, shape.get("draws") or "common"))
    except DomainError as error:
        raise ScenarioError(f"--set: {error}") from None
    return bound, {name: value for name, value in values.items() if name != "K"}


def _lettered(tiers: str, shape: Mapping[str, str | None]) -> Bound:
    for name in ("passes", "drawn"):
        if shape.get(name) is not None:
            raise ScenarioError(
                f"--{name}: without sizes these are letters. Leave it out, or write --tiers ring:4/star:5."
                + " Letters for a part of the children: --draws common." * (name == "drawn")
            )
    if shape.get("draws") == "fresh":
        raise ScenarioError("--draws: fresh needs sizes: --tiers ring:4/star:5 --drawn 2/3. Or write common.")
    law: Law = "partial" if shape.get("draws") else "random" if shape.get("order") == "random" else "fixed"
    topology = parsed(tiers)
    known = catalogue().get(f"hflbounds.{LAWS[law][0]}.{topology.id}")
    return known or lettered_bound(topology, law)


def refuse_shape(shape: Mapping[str, str | None], but: str) -> None:
    """Refuse what belongs to a tree where none is asked for."""
    if stray := [name for name in SHAPE if shape.get(name) is not None]:
        raise ScenarioError(f"--{stray[0]}: {but}")


def recursive() -> Listing:
    """The statement for all trees."""
    sections: list[Section] = []
    data: list[dict[str, Any]] = []
    for part in recursion.parts():
        lines = [{"left": tex(line.left), "right": tex(line.right), "when": line.when} for line in part.lines]
        rows = tuple((formula(f"{line['left']} = {line['right']}"), said(line["when"])) for line in lines)
        table = Table((Column("line"), Column("for")), rows, indent=2, apart=False)
        sections.append(Section(f"part-{len(sections) + 1}", plain(part.title), (table,)))
        data.append({"title": part.title, "lines": lines})
    rows_ = [{"part": part["title"], **line} for part in data for line in part["lines"]]
    own = {"title": recursion.title(), "parts": data, "result": recursion.result()}
    answer = listing("bounds-show-any", f"{recursion.title()}.", own, rows_, next=["... --explain"])
    about, dot, rest = plain(recursion.SAID).partition(". ")
    sections.append(Section.said("about", "What is meant", (rest,)))
    shown = [Sentences(formula(recursion.result())), Sentences(f"{about}{dot}".rstrip())]
    parts = tuple((one.id, one.heading) for one in sections)
    return brief(answer, shown, facts=parts, sections=sections, kind="Bound")


def recursive_in(form: str, asked: Sequence[str]) -> str:
    """The statement for all trees in a format.

    Raises:
        ScenarioError: for a format that it does not have, and for options that mean nothing here.
    """
    options.known("--format", form, SUFFIXES.values())
    if asked:
        raise ScenarioError(f"{asked[0]}: the statement for all trees does not take it. Leave it out.")
    return recursion.render(form)
