"""What a round waits for, what a better link or machine would buy, and what leaving a client out would."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.network.hops import Transfers
from planner.network.sites import Sites
from planner.network.trees import Layout, Round, round_of
from planner.network.underlay import Cities, Indices, Linked, Pairs, Underlay
from planner.scenario.units import format_duration, format_rate

NO_LIMIT: Final = 1e6  # times as fast: so fast that something else decides
LARGEST: Final = 200  # clients of which each is left out in turn; of more, those that the round waits for


@dataclass(frozen=True)
class Upgrade:
    """Something that a round waits for, twice as fast."""

    what: str  # in words
    now: str  # now, twice: its rate or time now and then, in words
    twice: str
    waits: float  # share of the round in which it is in use by what the round waits for
    saves: float  # share of the round that twice as fast saves
    most: float  # share that any speed of it alone could save


@dataclass(frozen=True)
class LeftOut:
    """A round without a client."""

    client: str  # its name
    saves: float  # share of the round
    samples: float  # share of all samples that go with it


@dataclass(frozen=True)
class _Part:
    """A link, an access or a client, with the network and the fleet in which it is so many times as fast."""

    what: str
    now: str
    twice: str
    waits: float
    kind: str
    at: tuple[int, ...]


def upgrades(
    sites: Sites, transfers: Transfers, patterns: Sequence[str], layout: Layout, passes: int = 1
) -> list[Upgrade]:
    """What a round waits for and would be shorter without, by what twice as fast saves; servers and orders stay."""
    now = round_of(sites, transfers, patterns, layout, passes)
    found = []
    for part in _parts(sites, transfers, now):
        saved = []
        for speed in (2.0, NO_LIMIT):
            fleet, faster = _sped(sites, transfers, part, speed)
            saved.append(1 - round_of(fleet, faster, patterns, layout, passes).seconds / now.seconds)
        if saved[1] > 1e-9:
            found.append(Upgrade(part.what, part.now, part.twice, part.waits, *saved))
    return sorted(found, key=lambda one: (-one.saves, -one.most, one.what))


def left_out(
    sites: Sites, transfers: Transfers, patterns: Sequence[str], layout: Layout, passes: int = 1
) -> list[LeftOut]:
    """Rounds without each of the clients, the most saving first; nothing else moves.

    Of more than `LARGEST` clients only those that the round waits for are left out.
    """
    now = round_of(sites, transfers, patterns, layout, passes)
    waited = {leg.client for leg in now.legs if leg.client is not None}
    some = range(len(sites.clients)) if len(sites.clients) <= LARGEST else sorted(waited)[:LARGEST]
    found = []
    for client in some:
        smaller = _layout_without(sites, layout, client)
        if smaller is None:
            continue
        seconds = round_of(sites.without(client), transfers, patterns, smaller, passes).seconds
        share = float(sites.samples[client] / max(sites.samples.sum(), 1e-300))
        found.append(LeftOut(sites.clients[client], 1 - seconds / now.seconds, share))
    return sorted(found, key=lambda one: (-one.saves, one.samples, one.client))


def _parts(sites: Sites, transfers: Transfers, now: Round) -> Iterator[_Part]:
    """Everything that the round waits for, each once, with how long."""
    network = transfers.network
    used: dict[tuple[str, tuple[int, ...]], float] = {}

    def add(kind: str, at: tuple[int, ...], seconds: float) -> None:
        used[kind, at] = used.get((kind, at), 0.0) + seconds

    for leg in now.legs:
        whole = leg.seconds * leg.times
        if leg.client is not None:
            add("work", (leg.client,), whole)
        elif leg.a != leg.b:
            add("up", (leg.a,), whole)
            add("down", (leg.b,), whole)
            if isinstance(network, Linked):
                for link in network.links_between(leg.a, leg.b):
                    add("link", tuple(sorted(network.ends[link].tolist())), whole)
            else:  # cities share one rate
                add("pair", () if isinstance(network, Cities) else (leg.a, leg.b), whole)
    for (kind, at), seconds in used.items():
        named = _named(sites, network, kind, at)
        if named is not None:
            yield _Part(*named, seconds / now.seconds, kind, at)


def _named(sites: Sites, network: Underlay, kind: str, at: tuple[int, ...]) -> tuple[str, str, str] | None:
    """What a part is called, its speed, and twice that; None for access without a limit, or work that takes nothing."""
    places = network.places
    if kind == "work":
        seconds = float(sites.work[at[0]])
        name = f"local steps of {sites.clients[at[0]]}"
        return (name, format_duration(seconds), format_duration(seconds / 2)) if seconds > 0 else None
    if kind in ("up", "down"):
        rate = float(getattr(network, kind)[at[0]])
        name = f"{kind}link of {places[at[0]]}"
    elif isinstance(network, Linked):
        rates = network.bandwidth[_both_ways(network, at)]
        rate, name = float(rates.min()), f"link {places[at[0]]} to {places[at[1]]}"
    elif isinstance(network, Pairs):
        rate, name = float(network.bandwidth[at]), f"way from {places[at[0]]} to {places[at[1]]}"
    else:
        assert isinstance(network, Cities)  # noqa: S101 - there are three kinds
        rate, name = network.bandwidth, "ways between all places"
    return (name, format_rate(rate), format_rate(2 * rate)) if np.isfinite(rate) else None


def _both_ways(network: Linked, at: tuple[int, ...]) -> Indices:
    """The links between two places."""
    return np.flatnonzero((np.sort(network.ends, axis=1) == np.array(at)).all(axis=1))


def _sped(sites: Sites, transfers: Transfers, part: _Part, speed: float) -> tuple[Sites, Transfers]:
    """The fleet and the network in which a part is so many times as fast; ways stay as they are."""
    network, at = transfers.network, part.at
    if part.kind == "work":
        work = sites.work.copy()
        work[at[0]] /= speed
        return replace(sites, work=work), transfers
    if part.kind in ("up", "down"):
        rates = getattr(network, part.kind).copy()
        rates[at[0]] *= speed
        faster: Underlay = replace(network, up=rates) if part.kind == "up" else replace(network, down=rates)
    elif isinstance(network, Cities):
        faster = replace(network, bandwidth=network.bandwidth * speed)
    else:
        assert isinstance(network, Linked | Pairs)  # noqa: S101 - there are three kinds
        bandwidth = network.bandwidth.copy()
        bandwidth[_both_ways(network, at) if isinstance(network, Linked) else at] *= speed
        faster = replace(network, bandwidth=bandwidth)
    return sites, replace(transfers, network=faster)


def _layout_without(sites: Sites, layout: Layout, client: int) -> Layout | None:
    """The same layout without a client, its group's server too if it was alone; None if nobody is left."""
    if len(sites.clients) == 1:
        return None
    orders = [order[order != client] - (order[order != client] > client) for order in layout.orders]
    if layout.group_servers is None or all(len(order) for order in orders):
        return replace(layout, orders=tuple(orders))
    gone = int(sites.group[client])
    group_order = layout.group_order[layout.group_order != gone]
    return Layout(
        layout.server,
        np.delete(layout.group_servers, gone),
        tuple(order for g, order in enumerate(orders) if g != gone),
        group_order - (group_order > gone),
    )
