"""What a round waits for, what a better link or machine would buy, and what leaving a client out would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from planner.io.answers import Waiting, Without
from planner.network.hops import Transfers
from planner.network.sites import Sites
from planner.network.trees import Layout, Leg, Round, round_of
from planner.network.underlay import Cities, Linked, Underlay
from planner.scenario.units import format_duration, format_rate

NO_LIMIT: Final = 1e6  # times as fast: so fast that something else decides
Part = tuple[str, tuple[int, ...]]  # a kind, which is the name of its numbers, and the client or the places
LARGEST: Final = 200  # clients of which each is left out in turn; of more, those that the round waits for


def upgrades(
    sites: Sites, transfers: Transfers, patterns: Sequence[str], layout: Layout, passes: int = 1
) -> list[Waiting]:
    """What a round waits for and would be shorter without, by what twice as fast saves; servers and orders stay."""
    now = round_of(sites, transfers, patterns, layout, passes)
    found = []
    for part, seconds in _used(transfers.network, now).items():
        words = _in_words(sites, transfers.network, part)
        if words is None:
            continue
        saved = []
        for speed in (2.0, NO_LIMIT):
            fleet, faster = _sped(sites, transfers, part, speed)
            saved.append(1 - round_of(fleet, faster, patterns, layout, passes).seconds / now.seconds)
        if saved[1] > 1e-9:
            what, rate, doubled = words
            share = seconds / now.seconds
            found.append(Waiting(what=what, now=rate, twice=doubled, waits=share, saves=saved[0], most=saved[1]))
    return sorted(found, key=lambda one: (-one.saves, -one.most, one.what))


def left_out(
    sites: Sites, transfers: Transfers, patterns: Sequence[str], layout: Layout, passes: int = 1
) -> list[Without]:
    """Rounds without each of the clients, the most saving first; nothing else moves.

    Of more than `LARGEST` clients only those that the round waits for are left out.
    """
    if len(sites.clients) == 1:
        return []
    now = round_of(sites, transfers, patterns, layout, passes)
    waited = {leg.client for leg in now.legs if leg.client is not None}
    some = range(len(sites.clients)) if len(sites.clients) <= LARGEST else sorted(waited)[:LARGEST]
    found = []
    for client in some:
        smaller = _layout_without(sites, layout, client)
        seconds = round_of(sites.without(client), transfers, patterns, smaller, passes).seconds
        share = float(sites.samples[client] / max(sites.samples.sum(), 1e-300))
        found.append(Without(client=sites.clients[client], saves=1 - seconds / now.seconds, samples=share))
    return sorted(found, key=lambda one: (-one.saves, one.samples, one.client))


def _used(network: Underlay, now: Round) -> dict[Part, float]:
    """Everything that the round waits for, with how long [s]."""
    used: dict[Part, float] = {}
    for leg in now.legs:
        parts: list[Part] = []
        if leg.client is not None:
            parts = [("work", (leg.client,))]
        elif leg.a != leg.b:
            parts = [("up", (leg.a,)), ("down", (leg.b,)), *(("bandwidth", ends) for ends in _way(network, leg))]
        for part in parts:
            used[part] = used.get(part, 0.0) + leg.seconds * leg.times
    return used


def _way(network: Underlay, leg: Leg) -> list[tuple[int, ...]]:
    """What a transfer goes over, by the ends of each; cities share one rate."""
    if isinstance(network, Linked):
        return [tuple(sorted(network.ends[link].tolist())) for link in network.links_between(leg.a, leg.b)]
    return [() if isinstance(network, Cities) else (leg.a, leg.b)]


def _where(network: Underlay, part: Part) -> Any:
    """Where the numbers of a part are in those of its kind: a link of two directions has two."""
    kind, at = part
    if kind == "bandwidth" and isinstance(network, Linked):
        return (np.sort(network.ends, axis=1) == np.array(at)).all(axis=1)
    return at


def _in_words(sites: Sites, network: Underlay, part: Part) -> tuple[str, str, str] | None:
    """What a part is called, its speed, and twice that; None for access without a limit, or work that takes nothing."""
    kind, at = part
    if kind == "work":
        seconds = float(sites.work[at])
        name = f"local steps of {sites.clients[at[0]]}"
        return (name, format_duration(seconds), format_duration(seconds / 2)) if seconds > 0 else None
    places = [network.places[i] for i in at]
    if kind != "bandwidth":
        name = f"{kind}link of {places[0]}"
    elif isinstance(network, Cities):
        name = "ways between all places"
    else:
        name = f"{'link' if isinstance(network, Linked) else 'way from'} {places[0]} to {places[1]}"
    rate = float(np.min(np.asarray(getattr(network, kind))[_where(network, part)]))
    return (name, format_rate(rate), format_rate(2 * rate)) if np.isfinite(rate) else None


def _sped(sites: Sites, transfers: Transfers, part: Part, speed: float) -> tuple[Sites, Transfers]:
    """The fleet and the network in which a part is so many times as fast; ways stay as they are."""
    network, (kind, at) = transfers.network, part
    if kind == "work":
        work = sites.work.copy()
        work[at] /= speed
        return replace(sites, work=work), transfers
    rates: Any = np.array(getattr(network, kind))
    rates[_where(network, part)] *= speed
    return sites, replace(transfers, network=replace(network, **{kind: rates}))


def _layout_without(sites: Sites, layout: Layout, client: int) -> Layout:
    """The same layout without a client, its group's server too if it was alone."""
    orders = [order[order != client] - (order[order != client] > client) for order in layout.orders]
    if layout.group_servers is None or all(len(order) for order in orders):
        return replace(layout, orders=tuple(orders))
    gone = int(sites.group[client])
    group_order = layout.group_order[layout.group_order != gone]
    ends, left = np.delete(layout.group_servers, gone), tuple(order for g, order in enumerate(orders) if g != gone)
    return Layout(layout.server, ends, left, group_order - (group_order > gone))
