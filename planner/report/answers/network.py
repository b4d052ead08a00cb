"""What ``hfl-plan network`` shows: places, orders, overlays, what a round waits for, groups by both aims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from planner.decide.explain import known_values
from planner.families.sited.answer import Grouping, Ordered, Plan, Tree, Waits, close, undecided
from planner.families.sited.question import USED, Question
from planner.io.csv_rows import csv_text
from planner.io.listings import Listing, listing
from planner.io.wording import capital, counted, duration, join, join_with_limit, percent, shortened, two
from planner.network.sites import Sites
from planner.network.trees import Layout
from planner.report.document import Cell, Column, Section, Table, typed
from planner.report.families import defaults, uncounted
from planner.report.page import assumed, brief, cell, count, shortened_to
from planner.scenario.units import format_duration

LEAST = 0.005  # share below which nothing is gained
SHOWN = 12  # rows of all tables on a page
NAMED = 6  # topologies of a toss-up that are named: all trees of up to two tiers
TREES = (*typed("text", "topology", "server"), *typed("duration", "round", "as given"), Column("saves", "share"))
TREES += (Column("rounds", "count"), Column("time", "duration"))


def places(question: Question, found: list[Tree], asks: str = "... --layout placed.csv") -> Listing:
    """Say where servers stand best, for every tree; ``asks`` is the next command, or empty."""
    best = found[0]
    table = _table(TREES, (_tree(question, one) for one in found), "trees")
    if best.given is None:
        table = table.of((0, 1, 2, 5, 6))
    data = [
        {
            "id": "-".join(one.patterns),
            "rounds": one.rounds,
            "seconds_per_round": one.best.round.seconds,
            "seconds_per_round_given": one.given,
            "saves": one.saves,
            "time_seconds": one.total,
            "tour_gap": float(one.best.gap),
            "exact": one.best.exact,
            "servers_as_good": [question.network.places[place] for place in one.as_good.tolist()],
            **_layout_data(question, one.best.layout),
        }
        for one in found
    ]
    level = undecided(question, found)
    said = _placed(question, found, level)
    named = ["-".join(one.patterns) for one in level]
    return _document(question, "place", said, data, [table], best=named, next=[asks] * bool(asks))


def _placed(question: Question, found: list[Tree], level: list[Tree]) -> str:
    best, names = found[0], question.network.places
    where, others = names[best.best.layout.server], best.as_good.tolist()
    if len(others) == 1:
        where += f" or {names[others[0]]}"
    elif others:
        every = len(others) == len(names) - 1
        where += " or any other place" if every else f" or {len(others)} places as good"
    begin = f"Toss-up for time: {_any_of(one.title for one in level)}. First:" if len(level) > 1 else "Least time:"
    said = f"{begin} {best.title} with the server at {where}, {format_duration(best.best.round.seconds)} a round"
    if best.saves is None or best.given is None:
        return f"{said}."
    kept = f"as given, server at {question.network.places[question.server or 0]} ({format_duration(best.given)})"
    if best.saves < LEAST:
        return f"{said}; {kept} it is as good."
    also = ", with other orders of rings" if (question.server or 0) in (best.best.layout.server, *others) else ""
    return f"{said}: {percent(best.saves)} less than {kept}{also}."


def _any_of(titles: Iterable[str]) -> str:
    named = [title.partition(",")[0] for title in titles]
    return f"any of {len(named)} topologies" if len(named) > NAMED else f"{', '.join(named[:-1])} or {named[-1]}"


def _tree(question: Question, one: Tree) -> tuple[Cell, ...]:
    layout, seconds = one.best.layout, one.best.round.seconds
    others, whole = len(one.as_good), len(question.network.places)
    more = f" or {'any' if others == whole - 1 else f'{others} more'}" if others else ""
    where = shortened(question.network.places[layout.server], 24 - len(more)) + more
    return (one.title, where, seconds, one.given, one.saves, cell(count, one.rounds), cell(duration, one.total))


def _layout_data(question: Question, layout: Layout) -> dict[str, Any]:
    sites, names = question.sites, question.network.places
    ends = layout.group_servers
    return {
        "server": names[layout.server],
        "group_servers": None
        if ends is None
        else {name: names[end] for name, end in zip(sites.groups, ends.tolist(), strict=True)},
        "group_order": None if ends is None else [sites.groups[g] for g in layout.group_order.tolist()],
        "orders": [[sites.clients[i] for i in order.tolist()] for order in layout.orders],
    }


def layout_as_csv(question: Question, tree: Tree) -> str:
    """Write a placement as a fleet that is read again: clients of a group in the order of their ring."""
    sites, places = question.sites, question.network.places
    steps = sites.work / question.scenario.number("K")
    own = not np.allclose(steps, question.step, rtol=1e-12, atol=0)
    rows = (
        (
            sites.clients[i], sites.groups[int(sites.group[i])], places[int(sites.at[i])], f"{sites.samples[i]:.12g}",
            *([f"{steps[i]:.12g}s"] * own),
        )
        for order in tree.best.layout.orders
        for i in order.tolist()
    )  # fmt: skip
    return csv_text([("client", "group", "node", "samples", *(["step_time"] * own)), *rows])


def orders(question: Question, found: list[Ordered]) -> Listing:
    """Say in which order rings run best, and what the order given costs."""
    given, best = sum(one.seconds_given for one in found), sum(one.seconds_best for one in found)
    gap = max(one.gap for one in found)
    sure = "No order is shorter" if gap <= 1e-9 else f"No order is over {percent(gap, 1)} shorter"
    saves = 1 - best / given if given > 0 else 0.0
    said = f"The best orders take {percent(saves)} off the way of the rings. {sure}."
    if saves < LEAST:
        said = f"Keep the orders as listed: they are as short as the best. {sure}."
    lengths = (Column("clients", "count"), *typed("duration", "as listed", "best"))
    columns = (*typed("text", "ring", "server"), *lengths, *typed("text", "within", "order"))
    rows = tuple(
        (
            one.ring, shortened(one.server, 20), len(one.order), one.seconds_given, one.seconds_best,
            "exact" if one.gap <= 1e-9 else f"{percent(one.gap, 1)}", join_with_limit(one.order, 2),
        )
        for one in found
    )  # fmt: skip
    learning = (
        "A fixed order may matter for learning: what comes last weighs more. Rounds here are those of any order; "
        "`--order random` draws one each round, and the way is then longer."
    )
    data = [asdict(one) for one in found]
    return _document(question, "order", said, data, [_table(columns, rows, "rings")], learning)


def waits(question: Question, found: Waits) -> Listing:
    """Say what decides a round, what a better one would buy, and what leaving a client out would."""
    shares = typed("share", "in use", "saves", "at most")
    columns = (*typed("text", "what the round waits for", "now", "twice"), *shares)
    rows = ((u.what, u.now, u.twice, u.waits, _percent(u.saves), _percent(u.most)) for u in found.upgrades)
    tables = [_table(columns, rows, "upgrades")]
    if worth := [one for one in found.left_out if one.saves > 0.001]:
        left = (Column("without client"), *typed("share", "saves", "samples lost"))
        saved = ((one.client, _percent(one.saves), _percent(one.samples)) for one in worth)
        tables.append(_table(left, saved, "clients left out"))
    upgrades = [
        {"what": u.what, "now": u.now, "twice": u.twice, "in_use": u.waits, "saves": u.saves, "at_most": u.most}
        for u in found.upgrades
    ]
    own = {
        "id": "-".join(found.tree.patterns),
        "seconds_per_round": found.seconds,
        "by_group_seconds": found.by_group,
        "left_out": [one.to_json() for one in found.left_out],
        **_layout_data(question, found.layout),
    }
    notes = ["Routes, servers and orders stay as they are; a better link may also draw new routes to it."]
    if len(found.level) > 1:
        notes.insert(
            0, f"By time it is a toss-up, {_any_of(one.title for one in found.level)}; --tiers asks about one of them."
        )
    return _document(question, "links", _decides(question, found), upgrades, tables, *notes, **own)


def _percent(share: float) -> str:
    return percent(share, 0 if share >= 0.0095 or share < 5e-5 else 2)


def _decides(question: Question, found: Waits) -> str:
    where = question.network.places[found.layout.server]
    said = f"{found.tree.title}, server at {where}: {format_duration(found.seconds)} a round."
    if not found.upgrades:
        return f"{said} Nothing alone would shorten it."
    first = found.upgrades[0]
    return f"{said} {capital(first.what)} from {first.now} to {first.twice}: -{_percent(first.saves)} per round."


def plans(question: Question, found: list[Plan]) -> Listing:
    """Compare trees and overlays for gossip."""
    server = next(one for one in found if one.name == "FedAvg, 1 tier")
    columns = (
        Column("plan"), Column("round", "duration"), Column("rounds", left=True), Column("time", left=True),
        Column("pays below"), Column("models", "count"), Column("mixing", "number"),
    )  # fmt: skip
    rows = tuple(_plan(one, server) for one in found)
    quickest = min(found, key=lambda one: one.seconds)
    best, *level = (one for one in found if one.level)
    ratio = "" if best is server else f", {best.time / server.time:.2g}x that of a server that averages all"
    lead = f"Least expected time: {best.name}{ratio}."
    if level:
        lead = f"Toss-up for time: {_any_of(one.name for one in (best, *level))}."
    said = (
        f"{lead} The shortest round is that of {quickest.name}, {server.seconds / quickest.seconds:.3g}x shorter than "
        "the server's."
    )
    data = [
        {
            "plan": one.name, "seconds_per_round": one.seconds, "rounds_ratio": one.rounds, "rounds_by": one.by,
            "time_ratio": one.time / server.time, "pays_below_rounds_ratio": server.seconds / one.seconds,
            "models_per_round": one.models, "consensus_ratio": one.consensus_ratio, "tour_gap": float(one.gap),
        }
        for one in found
    ]  # fmt: skip
    notes = [
        "Rounds and time are over those of FedAvg. Of trees they are predicted; of overlays they lie between 1x, where "
        'mixing costs nothing, and what the theorem guarantees. An overlay pays if its rounds stay below "pays below".',
        "Mixing: share of the squared distance to the mean model that a round leaves.",
    ]
    return _document(question, "overlays", said, data, [_table(columns, rows, "plans")], *notes)


def _plan(one: Plan, server: Plan) -> tuple[Cell, ...]:
    ratio = server.seconds / one.seconds
    if one.by != "theorem":
        shown = f"~{one.rounds:.2g}x", f"~{one.time / server.time:.2g}x"
    else:
        shown = f"1-{two(one.rounds)}x", f"{1 / ratio:.2g}-{two(one.time / server.time)}x"
    return (one.name, one.seconds, *shown, f"{ratio:.3g}x", round(one.models), one.consensus_ratio)


def groupings(question: Question, found: list[Grouping]) -> Listing:
    """Show groups on the front of heterogeneity and time."""
    present = next(one for one in found if one.kind == "present")
    best = found[0]
    gain = 1 - best.best.total / present.best.total
    said = f"New groups take {percent(gain)} off the time to the target, with {best.best.title}."
    if best is present or gain < 0.01:
        said = f"Not worth regrouping: {present.best.title} in the present groups is as fast as any."
    elif close(question, best.best, present.best):
        said = f"Toss-up of new and present groups: {said[0].lower()}{said[1:-1]}, less than predictions can tell."
    columns = (
        Column("groups"), Column("delta^2", "number"), Column("topology"), Column("round", "duration"),
        Column("rounds", "count"), Column("time", "duration"),
    )  # fmt: skip
    rows = tuple(
        (
            one.kind, one.delta2, best.title, best.best.round.seconds, cell(count, best.rounds),
            cell(duration, best.total),
        )
        for one in found for best in [one.best]
    )  # fmt: skip
    data = [
        {
            "kind": one.kind, "delta2": one.delta2, "rounds": one.best.rounds,
            "seconds_per_round": one.best.best.round.seconds, "time_seconds": one.best.total,
            "id": "-".join(one.best.patterns),
            "group_of": {
                client: question.sites.groups[int(g)]
                for client, g in zip(question.sites.clients, one.group_of, strict=True)
            },
        }
        for one in found
    ]  # fmt: skip
    note = (
        "Each row is at its best placement. The first rows have the most similar groups, the last ones clients near "
        "their server. Column delta^2: squared deviation of label shares between groups."
    )
    return _document(question, "groups", said, data, [_table(columns, rows, "groupings")], note)


def _document(
    question: Question,
    section: str,
    text: str,
    found: Sequence[Mapping[str, Any]],
    tables: Sequence[Table],
    *notes: str,
    best: Sequence[str] = (),
    next: Sequence[str] = (),
    **own: Any,
) -> Listing:
    """Put what all sections say around what one says."""
    network, sites = question.network, question.sites
    own |= {"section": section, "name": network.name, "places": len(network.places), "notes": list(network.notes)}
    own |= {"clients": len(sites.clients), "groups": len(sites.groups) if question.grouped else 0}
    used = [name for name in USED if section != "groups" or name not in ("zeta", "delta")]  # groups: by label counts
    values = {name: one for name, one in known_values(question.scenario).items() if name in used}
    told = defaults(question.scenario, used)
    status = "measured" if not best else "best" if len(best) == 1 else "toss-up"
    answer = listing(
        "network", text, own, found, scenario=values, assumptions=told, next=next, status=status, best=best
    )
    most = SHOWN // len(tables)
    longer = [one for one in tables if len(one.rows) > most]
    whole = [Section(f"table-{i}", one.label, (replace(one, label=""),)) for i, one in enumerate(longer, 1)]
    said = (*uncounted(question.scenario), *notes, *_basis(question))
    whole.append(Section.said("notes", "Notes", said))
    shown = [replace(one, rows=one.rows[:most], apart=i > 0) for i, one in enumerate(tables)]
    left = sum(len(one.rows[most:]) for one in tables)
    facts = [("More", f"{counted(left, 'row')}: --explain")] * (left > 0)
    if section == "place" and not question.grouped:
        facts.append(("Fleet", f"{_fleet(sites)} without groups; others: --fleet FLEET.csv (client,group,node)"))
    facts += [*assumed(answer), *shortened_to("Notes", said)]
    return brief(answer, shown, facts=facts, sections=whole, kind="A fleet on a network")


def _table(columns: Sequence[Column], rows: Iterable[tuple[Cell, ...]], label: str) -> Table:
    return Table(tuple(columns), tuple(rows), label=label.capitalize(), apart=False, indent=2)


def _basis(question: Question) -> Iterator[str]:
    network, sites = question.network, question.sites
    yield from question.simplified
    if len(network.notes) > 1:
        yield " ".join(network.notes[::-1])  # access comes last there, and a round waits for it most
    groups = f" in {counted(len(sites.groups), 'group')}" if question.grouped else ""
    notes = join(list(network.notes)) if len(network.notes) == 1 else ""
    yield f"{network.name}: {_fleet(sites)}{groups}. {notes}".rstrip()


def _fleet(sites: Sites) -> str:
    return f"{counted(len(sites.clients), 'client')} at {counted(len(np.unique(sites.at)), 'place')}"
